/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sunseal_wipe as its header says it; the library's own writes through a volatile pointer. memcpy
 * and memset byte by byte: as whole blocks they would make a structure's other fields unknown. */
#include "proof.h"
#include "sunseal/wipe.h"

void sunseal_wipe(void *bytes, size_t count) {
    uint8_t *p = bytes;
    for (size_t i = 0; i < count; i++) {
        p[i] = 0;
    }
}

void *memcpy(void *to, const void *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
    return to;
}

void *memset(void *to, int byte, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ((uint8_t *)to)[i] = (uint8_t)byte;
    }
    return to;
}
