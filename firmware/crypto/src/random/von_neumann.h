/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Von Neumann's extractor: of each two bits of a byte, from the lowest on, 01 and 10 become 0 and
 * 1, 00 and 11 nothing.
 */
#ifndef SUNSEAL_VON_NEUMANN_H
#define SUNSEAL_VON_NEUMANN_H

#include <stddef.h>
#include <stdint.h>

struct sunseal_von_neumann {
    uint8_t *out;
    size_t out_len, done; /* bytes */
    uint8_t gathered, bits;
};

static inline void sunseal_von_neumann(struct sunseal_von_neumann *to, uint8_t folded) {
    for (uint8_t pair = 0; pair < 4 && to->done < to->out_len; pair++) {
        if ((folded ^ (folded >> 1)) & 1) {
            to->gathered = (uint8_t)(to->gathered >> 1 | (folded & 1) << 7);
            if (++to->bits == 8) {
                to->out[to->done++] = to->gathered;
                to->bits = 0;
            }
        }
        folded >>= 2;
    }
}

#endif
