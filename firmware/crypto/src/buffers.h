/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BUFFERS_H
#define SUNSEAL_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

/* Whether an output and an input can be used together: SUNSEAL_OK, or SUNSEAL_ERR_NULL where one
 * with bytes in it is missing, or SUNSEAL_ERR_OVERLAP where the two share bytes and are not, with
 * in_place, at the same address. Of a buffer without bytes the address means nothing. */
static inline int sunseal_buffers_check(const void *out, size_t out_len, const void *in,
                                        size_t in_len, bool in_place) {
    uintptr_t o = (uintptr_t)out, i = (uintptr_t)in;
    if ((out == NULL && out_len > 0) || (in == NULL && in_len > 0)) {
        return SUNSEAL_ERR_NULL;
    }
    if (out_len > 0 && in_len > 0 && (i - o < out_len || o - i < in_len) && !(in_place && o == i)) {
        return SUNSEAL_ERR_OVERLAP;
    }
    return SUNSEAL_OK;
}

/* Return from the calling function where the two cannot be used together. */
#define SUNSEAL_REQUIRE(out, out_len, in, in_len, in_place)                                        \
    do {                                                                                           \
        int refused = sunseal_buffers_check(out, out_len, in, in_len, in_place);                   \
        if (refused != SUNSEAL_OK) {                                                               \
            return refused;                                                                        \
        }                                                                                          \
    } while (0)

#define SUNSEAL_REQUIRE_APART(out, out_len, in, in_len)                                            \
    SUNSEAL_REQUIRE(out, out_len, in, in_len, false)

/* A buffer that is only read, or that may overlap whatever else the function takes. */
#define SUNSEAL_REQUIRE_BYTES(bytes, count) SUNSEAL_REQUIRE(NULL, 0, bytes, count, false)

#endif
