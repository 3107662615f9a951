/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"

const struct sunseal_block sunseal_present80 =
    SUNSEAL_PRESENT_BLOCK(10, sunseal_present, SUNSEAL_PRESENT_TOGETHER, sunseal_present80_set_key,
                          sunseal_present_encrypt, SUNSEAL_DECRYPTS(sunseal_present_decrypt));
