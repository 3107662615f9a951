/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "sunseal/coupon_kinds.h"
#include "sunseal/wipe.h"

static int key_pair(const struct sunseal_coupon_entropy *source, uint8_t *pair) {
    uint8_t entropy[SUNSEAL_ENTROPY_BYTES];
    int status = source->read(source->context, entropy);
    if (status == SUNSEAL_OK) {
        status = sunseal_ecdsa_p256_keygen(pair, pair + SUNSEAL_P256_PRIVATE_BYTES, entropy);
    }
    sunseal_wipe(entropy, sizeof entropy);
    return status;
}

int sunseal_coupon_ecdh_p256_make(void *context, uint32_t sequence, void *payload) {
    (void)sequence;
    return key_pair(context, payload);
}

int sunseal_coupon_ecdh_p256_agree(struct sunseal_coupon_store *store, uint8_t pool,
                                   uint8_t shared[SUNSEAL_ECDH_P256_BYTES],
                                   uint8_t q[SUNSEAL_P256_PUBLIC_BYTES],
                                   const uint8_t peer[SUNSEAL_P256_PUBLIC_BYTES], void *payload) {
    uint8_t *d = payload;
    uint32_t sequence;
    int status = sunseal_coupon_take(store, pool, payload, &sequence);
    const bool whole = status == SUNSEAL_ERR_COUPON;
    if (whole) {
        status = key_pair(store->pools[pool].kind->context, d);
    }
    if (status == SUNSEAL_OK) {
        status = sunseal_ecdh_p256(shared, d, peer);
    }
    if (status == SUNSEAL_OK) {
        memcpy(q, d + SUNSEAL_P256_PRIVATE_BYTES, SUNSEAL_P256_PUBLIC_BYTES);
    } else {
        memset(shared, 0, SUNSEAL_ECDH_P256_BYTES);
        memset(q, 0, SUNSEAL_P256_PUBLIC_BYTES);
    }
    sunseal_wipe(payload, SUNSEAL_COUPON_ECDH_P256_BYTES);
    return status == SUNSEAL_OK && whole ? SUNSEAL_COUPON_MONOLITHIC : status;
}
