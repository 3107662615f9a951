/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 16
#define HALF sunseal_fe256_half
#define P {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0, 0, 0, 0, 0, 0, 1, 0, 0xffff, 0xffff}
#include "half_c.inc"
