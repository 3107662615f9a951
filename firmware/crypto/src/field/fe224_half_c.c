/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 14
#define HALF sunseal_fe224_half
#define P {1, 0, 0, 0, 0, 0, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff}
#include "half_c.inc"
