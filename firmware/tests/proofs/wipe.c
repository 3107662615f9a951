/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sunseal_wipe as its header says it; the library's own writes through a volatile pointer. */
#include "proof.h"
#include "sunseal/wipe.h"

void sunseal_wipe(void *bytes, size_t count) {
    uint8_t *p = bytes;
    for (size_t i = 0; i < count; i++) {
        p[i] = 0;
    }
}
