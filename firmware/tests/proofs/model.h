/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * crypto/src/buffers.h for the proofs that are not about it (buffers.c is): the same answers, by
 * the objects that pointers point into instead of addresses, which a proof leaves open. With
 * addresses each length behind a check would be unknown.
 */
#define sunseal_buffers_check sunseal_buffers_check_addresses
#include "buffers.h"
#undef sunseal_buffers_check

static inline int sunseal_buffers_check(const void *out, size_t out_len, const void *in,
                                        size_t in_len, bool in_place) {
    if ((out == NULL && out_len > 0) || (in == NULL && in_len > 0)) {
        return SUNSEAL_ERR_NULL;
    }
    if (out_len == 0 || in_len == 0 ||
        __CPROVER_POINTER_OBJECT(out) != __CPROVER_POINTER_OBJECT(in)) {
        return SUNSEAL_OK;
    }
    size_t o = __CPROVER_POINTER_OFFSET(out), i = __CPROVER_POINTER_OFFSET(in);
    bool both = i < o + out_len && o < i + in_len;
    return both && !(in_place && o == i) ? SUNSEAL_ERR_OVERLAP : SUNSEAL_OK;
}
