/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "sunseal/ots.h"

static uint8_t *place(void *context, uint32_t offset, size_t count) {
    const struct sunseal_store_memory *memory = context;
    if (memory == NULL || memory->bytes == NULL) {
        return NULL;
    }
    return offset <= memory->count && count <= memory->count - offset ? memory->bytes + offset
                                                                      : NULL;
}

int sunseal_store_memory_read(void *context, uint32_t offset, uint8_t *bytes, size_t count) {
    const uint8_t *from = place(context, offset, count);
    if (from == NULL || bytes == NULL) {
        return -1;
    }
    memcpy(bytes, from, count);
    return 0;
}

int sunseal_store_memory_write(void *context, uint32_t offset, const uint8_t *bytes, size_t count) {
    uint8_t *to = place(context, offset, count);
    if (to == NULL || bytes == NULL) {
        return -1;
    }
    memcpy(to, bytes, count);
    return 0;
}
