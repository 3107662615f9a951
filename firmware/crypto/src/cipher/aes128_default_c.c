/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aes.h"

/* A data cache must be expected: no tables. It cannot decrypt; no mode of this library does. */
const struct sunseal_block sunseal_aes128 = SUNSEAL_AES128_FIXSLICE;
