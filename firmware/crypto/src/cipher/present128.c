/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"

const struct sunseal_block sunseal_present128 =
    SUNSEAL_PRESENT_BLOCK(16, sunseal_present, SUNSEAL_PRESENT_TOGETHER, sunseal_present128_set_key,
                          sunseal_present_encrypt, SUNSEAL_DECRYPTS(sunseal_present_decrypt));
