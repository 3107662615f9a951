/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 10
#define HALF sunseal_fe160_half
#define P {0xffff, 0x7fff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff}
#include "half_c.inc"
