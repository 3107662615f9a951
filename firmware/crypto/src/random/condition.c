/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "sunseal/random.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"

int sunseal_condition_sha256(uint8_t out[32], const uint8_t *samples, size_t samples_len) {
    return sunseal_sha256(out, samples, samples_len);
}

int sunseal_condition_xor_vartime(uint8_t *out, size_t out_len, const uint8_t *samples,
                                  size_t samples_len, uint8_t fold) {
    uint8_t gathered = 0, bits = 0;
    size_t done = 0;
    if (fold != 16 && fold != 32) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    SUNSEAL_REQUIRE_APART(out, out_len, samples, samples_len);
    for (; samples_len >= fold && done < out_len; samples_len -= fold) {
        uint8_t folded = 0;
        for (uint8_t i = 0; i < fold; i++) {
            folded ^= *samples++;
        }
        for (uint8_t pair = 0; pair < 4 && done < out_len; pair++) {
            if ((folded ^ (folded >> 1)) & 1) {
                gathered = (uint8_t)(gathered >> 1 | (folded & 1) << 7);
                if (++bits == 8) {
                    out[done++] = gathered;
                    bits = 0;
                }
            }
            folded >>= 2;
        }
    }
    if (done < out_len) {
        sunseal_wipe(out, out_len);
        return SUNSEAL_ERR_ENTROPY;
    }
    return SUNSEAL_OK;
}
