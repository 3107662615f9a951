/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "sunseal/ccm.h"
#include "sunseal/coupon_kinds.h"
#include "sunseal/wipe.h"
#include "verdict.h"

/* kind u16 || number u32 || zeros: once under the device's key, as a number is in its pool. */
static void nonce_of(uint8_t nonce[SUNSEAL_CCM_NONCE_BYTES_MAX],
                     const struct sunseal_coupon_sealed *seal, uint32_t sequence) {
    memset(nonce, 0, SUNSEAL_CCM_NONCE_BYTES_MAX);
    nonce[0] = (uint8_t)(seal->id >> 8);
    nonce[1] = (uint8_t)seal->id;
    for (uint8_t i = 0; i < 4; i++) {
        nonce[2 + i] = (uint8_t)(sequence >> (24 - 8 * i));
    }
}

int sunseal_coupon_sealed_make(void *context, uint32_t sequence, void *payload) {
    const struct sunseal_coupon_sealed *seal = context;
    uint8_t nonce[SUNSEAL_CCM_NONCE_BYTES_MAX], *bytes = payload;
    const struct sunseal_ccm_public header = {nonce, sizeof nonce, NULL, 0};
    int status = seal->make(seal->context, sequence, payload);
    if (status != SUNSEAL_OK) {
        return status;
    }
    nonce_of(nonce, seal, sequence);
    return sunseal_ccm_seal(seal->cipher, seal->schedule, &header, bytes, bytes, seal->bytes,
                            bytes + seal->bytes, SUNSEAL_COUPON_TAG_BYTES);
}

int sunseal_coupon_sealed_take(struct sunseal_coupon_store *store, uint8_t pool, void *payload,
                               uint32_t *sequence) {
    uint8_t nonce[SUNSEAL_CCM_NONCE_BYTES_MAX], *bytes = payload;
    const struct sunseal_ccm_public header = {nonce, sizeof nonce, NULL, 0};
    int status = SUNSEAL_ERR_FAULT;
    for (;;) {
        int taken = sunseal_coupon_take(store, pool, payload, sequence);
        if (taken != SUNSEAL_OK) {
            status = sunseal_refused(taken);
            break;
        }
        const struct sunseal_coupon_sealed *seal = store->pools[pool].kind->context;
        nonce_of(nonce, seal, *sequence);
        status = sunseal_ccm_open(seal->cipher, seal->schedule, &header, bytes, bytes, seal->bytes,
                                  bytes + seal->bytes, SUNSEAL_COUPON_TAG_BYTES);
        if (status != SUNSEAL_ERR_TAG) {
            break;
        }
        store->pools[pool].refused++;
    }
    if (status != SUNSEAL_OK) {
        *sequence = 0;
    }
    return status;
}
