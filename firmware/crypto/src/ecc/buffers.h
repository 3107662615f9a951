/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BUFFERS_H
#define SUNSEAL_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

/* SUNSEAL_OK, or SUNSEAL_ERR_NULL where there is no output or no input with bytes in it, or
 * SUNSEAL_ERR_OVERLAP where the two share bytes. */
static inline int sunseal_buffers_check(const void *out, size_t out_len, const void *in,
                                        size_t in_len) {
    if (out == NULL || (in == NULL && in_len > 0)) {
        return SUNSEAL_ERR_NULL;
    }
    if ((uintptr_t)in - (uintptr_t)out < out_len || (uintptr_t)out - (uintptr_t)in < in_len) {
        return SUNSEAL_ERR_OVERLAP;
    }
    return SUNSEAL_OK;
}

#endif
