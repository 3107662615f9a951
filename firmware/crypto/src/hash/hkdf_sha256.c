/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/hkdf.h"

#include <string.h>

#include "../buffers.h"
#include "sunseal/hmac.h"
#include "sunseal/wipe.h"

int sunseal_hkdf_sha256_extract(uint8_t prk[32], const uint8_t *salt, size_t salt_len,
                                const uint8_t *ikm, size_t ikm_len) {
    /* No salt is a salt of zeros, and HMAC pads a short key with zeros. */
    return sunseal_hmac_sha256(prk, salt, salt_len, ikm, ikm_len);
}

int sunseal_hkdf_sha256_expand(uint8_t *okm, size_t okm_len, const uint8_t prk[32],
                               const uint8_t *info, size_t info_len) {
    struct sunseal_hmac_sha256 hmac;
    uint8_t block[SUNSEAL_SHA256_BYTES], counter = 0;
    if (okm_len > SUNSEAL_HKDF_SHA256_MAX_BYTES) {
        return SUNSEAL_ERR_LENGTH;
    }
    SUNSEAL_REQUIRE_APART(okm, okm_len, prk, SUNSEAL_HKDF_SHA256_PRK_BYTES);
    SUNSEAL_REQUIRE_APART(okm, okm_len, info, info_len);
    sunseal_hmac_sha256_key(&hmac, prk, SUNSEAL_HKDF_SHA256_PRK_BYTES);
    while (okm_len > 0) {
        size_t part = okm_len < sizeof block ? okm_len : sizeof block;
        sunseal_hmac_sha256_begin(&hmac);
        if (counter++ > 0) {
            sunseal_hmac_sha256_update(&hmac, block, sizeof block);
        }
        sunseal_hmac_sha256_update(&hmac, info, info_len);
        sunseal_hmac_sha256_update(&hmac, &counter, 1);
        sunseal_hmac_sha256_end(&hmac, block);
        memcpy(okm, block, part);
        okm += part;
        okm_len -= part;
    }
    sunseal_wipe(block, sizeof block);
    sunseal_wipe(&hmac, sizeof hmac);
    return SUNSEAL_OK;
}

int sunseal_hkdf_sha256(uint8_t *okm, size_t okm_len, const uint8_t *salt, size_t salt_len,
                        const uint8_t *ikm, size_t ikm_len, const uint8_t *info, size_t info_len) {
    uint8_t prk[SUNSEAL_HKDF_SHA256_PRK_BYTES];
    if (okm_len > SUNSEAL_HKDF_SHA256_MAX_BYTES) {
        return SUNSEAL_ERR_LENGTH;
    }
    SUNSEAL_REQUIRE_APART(okm, okm_len, salt, salt_len);
    SUNSEAL_REQUIRE_APART(okm, okm_len, ikm, ikm_len);
    sunseal_hkdf_sha256_extract(prk, salt, salt_len, ikm, ikm_len);
    int status = sunseal_hkdf_sha256_expand(okm, okm_len, prk, info, info_len);
    sunseal_wipe(prk, sizeof prk);
    return status;
}
