/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/coupon_kinds.h"

int sunseal_coupon_random_make(void *context, uint32_t sequence, void *payload) {
    const struct sunseal_coupon_entropy *source = context;
    (void)sequence;
    return source->read(source->context, payload);
}

int sunseal_coupon_random(struct sunseal_coupon_store *store, uint8_t pool, uint8_t out[32]) {
    uint32_t sequence;
    int status = sunseal_coupon_take(store, pool, out, &sequence);
    if (status == SUNSEAL_ERR_COUPON) {
        const struct sunseal_coupon_entropy *source = store->pools[pool].kind->context;
        status = source->read(source->context, out);
        return status == SUNSEAL_OK ? SUNSEAL_COUPON_MONOLITHIC : status;
    }
    return status;
}
