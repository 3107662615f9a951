/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"

const struct sunseal_block sunseal_present128 = {.block_bytes = 8,
                                                 .key_bytes = 16,
                                                 .schedule_bytes = sizeof(struct sunseal_present),
#if defined(__AVR__) || defined(__MSP430__)
                                                 .together = 1,
#else
                                                 .together = 2,
#endif
                                                 .set_key = sunseal_present128_set_key,
                                                 .encrypt = sunseal_present_encrypt,
                                                 .decrypt = sunseal_present_decrypt,
                                                 .ctr = NULL};
