/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "sunseal/random.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"
#include "von_neumann.h"

int sunseal_condition_sha256(uint8_t out[32], const uint8_t *samples, size_t samples_len) {
    return sunseal_sha256(out, samples, samples_len);
}

int sunseal_condition_xor_vartime(uint8_t *out, size_t out_len, const uint8_t *samples,
                                  size_t samples_len, uint8_t fold) {
    struct sunseal_von_neumann to = {.out = out, .out_len = out_len};
    if (fold != 16 && fold != 32) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    SUNSEAL_REQUIRE_APART(out, out_len, samples, samples_len);
    for (; samples_len >= fold && to.done < out_len; samples_len -= fold) {
        uint8_t folded = 0;
        for (uint8_t i = 0; i < fold; i++) {
            folded ^= *samples++;
        }
        sunseal_von_neumann(&to, folded);
    }
    if (to.done < out_len) {
        sunseal_wipe(out, out_len);
        return SUNSEAL_ERR_ENTROPY;
    }
    return SUNSEAL_OK;
}
