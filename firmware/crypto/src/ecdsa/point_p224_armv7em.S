/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define FE(suffix) sunseal_fe224_##suffix
#define BYTES 28
#include "point_armv7em.inc"
