/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define FE(suffix) sunseal_fe160_##suffix
#define BYTES 20
#define ABSCISSA 1
#include "point_armv7em.inc"
