/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aes.h"

const struct sunseal_block sunseal_aes128 = SUNSEAL_AES128_HW;
