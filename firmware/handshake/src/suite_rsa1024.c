/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/handshake.h"
#include "sunseal/rsa.h"

static int agree(uint8_t *secret, const void *key, const uint8_t *exchange, const uint8_t *random) {
    return sunseal_rsa1024_decrypt_oaep(secret, 48, key, exchange, random);
}

const struct sunseal_handshake_suite sunseal_handshake_rsa1024 = {
    .number = 1,
    .secret_bytes = 48,
    .certificate_bytes = SUNSEAL_HANDSHAKE_RSA1024_CERTIFICATE_BYTES,
    .exchange_bytes = SUNSEAL_HANDSHAKE_RSA1024_EXCHANGE_BYTES,
    .agree = agree,
};
