/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_BLOCKS_H
#define SUNSEAL_CIPHER_BLOCKS_H

#include "sunseal/error.h"

/* A cipher's function for any number of blocks, by what is done with each: from in to out, under
 * the schedule of a type. */
#define SUNSEAL_BLOCKS(function, type, bytes, each)                                                \
    function(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {               \
        const struct type *cipher = schedule;                                                      \
        for (; blocks > 0; blocks--, out += (bytes), in += (bytes)) {                              \
            each;                                                                                  \
        }                                                                                          \
        return SUNSEAL_OK;                                                                         \
    }

#endif
