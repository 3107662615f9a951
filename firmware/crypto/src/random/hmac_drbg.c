/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "sunseal/hmac.h"
#include "sunseal/random.h"
#include "sunseal/wipe.h"

#define ENTROPY_MIN 32
#define ENTROPY_AND_NONCE_MIN 48

struct input {
    const uint8_t *bytes;
    size_t count;
};

/* V = HMAC(K, V) under a key that is loaded */
static void step(struct sunseal_hmac_drbg *drbg, struct sunseal_hmac_sha256 *hmac) {
    sunseal_hmac_sha256_begin(hmac);
    sunseal_hmac_sha256_update(hmac, drbg->value, sizeof drbg->value);
    sunseal_hmac_sha256_end(hmac, drbg->value);
}

/* SP 800-90A, section 10.1.2.2; provided data are the inputs one after the other. */
static void update(struct sunseal_hmac_drbg *drbg, struct sunseal_hmac_sha256 *hmac,
                   const struct input *inputs, uint8_t count) {
    size_t provided = 0;
    for (uint8_t i = 0; i < count; i++) {
        provided |= inputs[i].count;
    }
    for (uint8_t round = 0; round < (provided ? 2 : 1); round++) {
        sunseal_hmac_sha256_key(hmac, drbg->key, sizeof drbg->key);
        sunseal_hmac_sha256_begin(hmac);
        sunseal_hmac_sha256_update(hmac, drbg->value, sizeof drbg->value);
        sunseal_hmac_sha256_update(hmac, &round, 1);
        for (uint8_t i = 0; i < count; i++) {
            sunseal_hmac_sha256_update(hmac, inputs[i].bytes, inputs[i].count);
        }
        sunseal_hmac_sha256_end(hmac, drbg->key);
        sunseal_hmac_sha256_key(hmac, drbg->key, sizeof drbg->key);
        step(drbg, hmac);
    }
}

int sunseal_hmac_drbg_instantiate(struct sunseal_hmac_drbg *drbg, const uint8_t *entropy,
                                  size_t entropy_len, const uint8_t *nonce, size_t nonce_len,
                                  const uint8_t *personalization, size_t personalization_len) {
    const struct input inputs[] = {
        {entropy, entropy_len}, {nonce, nonce_len}, {personalization, personalization_len}};
    struct sunseal_hmac_sha256 hmac;
    for (uint8_t i = 0; i < 3; i++) {
        SUNSEAL_REQUIRE_APART(drbg, sizeof *drbg, inputs[i].bytes, inputs[i].count);
    }
    if (entropy_len < ENTROPY_MIN || entropy_len + nonce_len < ENTROPY_AND_NONCE_MIN) {
        return SUNSEAL_ERR_LENGTH;
    }
    memset(drbg, 0, sizeof *drbg);
    memset(drbg->value, 1, sizeof drbg->value);
    update(drbg, &hmac, inputs, 3);
    drbg->requests = 1;
    sunseal_wipe(&hmac, sizeof hmac);
    return SUNSEAL_OK;
}

int sunseal_hmac_drbg_reseed(struct sunseal_hmac_drbg *drbg, const uint8_t *entropy,
                             size_t entropy_len, const uint8_t *additional, size_t additional_len) {
    const struct input inputs[] = {{entropy, entropy_len}, {additional, additional_len}};
    struct sunseal_hmac_sha256 hmac;
    SUNSEAL_REQUIRE_APART(drbg, sizeof *drbg, entropy, entropy_len);
    SUNSEAL_REQUIRE_APART(drbg, sizeof *drbg, additional, additional_len);
    if (entropy_len < ENTROPY_MIN) {
        return SUNSEAL_ERR_LENGTH;
    }
    if (drbg->requests == 0) {
        return SUNSEAL_ERR_NOT_SEEDED;
    }
    update(drbg, &hmac, inputs, 2);
    drbg->requests = 1;
    sunseal_wipe(&hmac, sizeof hmac);
    return SUNSEAL_OK;
}

int sunseal_hmac_drbg_generate(struct sunseal_hmac_drbg *drbg, uint8_t *out, size_t out_len,
                               const uint8_t *additional, size_t additional_len) {
    const struct input input = {additional, additional_len};
    struct sunseal_hmac_sha256 hmac;
    if (out_len > SUNSEAL_DRBG_MAX_BYTES) {
        return SUNSEAL_ERR_LENGTH;
    }
    SUNSEAL_REQUIRE_APART(out, out_len, drbg, sizeof *drbg);
    SUNSEAL_REQUIRE_APART(out, out_len, additional, additional_len);
    SUNSEAL_REQUIRE_APART(drbg, sizeof *drbg, additional, additional_len);
    memset(out, 0, out_len);
    if (drbg->requests == 0 || drbg->requests > SUNSEAL_DRBG_MAX_REQUESTS) {
        return SUNSEAL_ERR_NOT_SEEDED;
    }
    if (additional_len > 0) {
        update(drbg, &hmac, &input, 1);
    }
    sunseal_hmac_sha256_key(&hmac, drbg->key, sizeof drbg->key);
    while (out_len > 0) {
        size_t part = out_len < sizeof drbg->value ? out_len : sizeof drbg->value;
        step(drbg, &hmac);
        memcpy(out, drbg->value, part);
        out += part;
        out_len -= part;
    }
    update(drbg, &hmac, &input, 1);
    drbg->requests++;
    sunseal_wipe(&hmac, sizeof hmac);
    return SUNSEAL_OK;
}
