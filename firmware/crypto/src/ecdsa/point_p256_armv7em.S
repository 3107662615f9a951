/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define FE(suffix) sunseal_fe256_##suffix
#define BYTES 32
#include "point_armv7em.inc"
