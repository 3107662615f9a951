/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/coupon_kinds.h"
#include "sunseal/wipe.h"

int sunseal_coupon_ecdh_p256_make(void *context, uint32_t sequence, void *payload) {
    const struct sunseal_coupon_entropy *source = context;
    uint8_t entropy[SUNSEAL_ENTROPY_BYTES], *d = payload;
    (void)sequence;
    int status = source->read(source->context, entropy);
    if (status == SUNSEAL_OK) {
        status = sunseal_ecdsa_p256_keygen(d, d + SUNSEAL_P256_PRIVATE_BYTES, entropy);
    }
    sunseal_wipe(entropy, sizeof entropy);
    return status;
}
