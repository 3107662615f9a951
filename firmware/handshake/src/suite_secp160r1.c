/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/ecdh.h"
#include "sunseal/handshake.h"

static int agree(uint8_t *secret, const void *key, const uint8_t *exchange,
                 const uint8_t *random __attribute__((unused))) {
    return sunseal_ecdh_secp160r1(secret, key, exchange);
}

const struct sunseal_handshake_suite sunseal_handshake_secp160r1 = {
    .number = 2,
    .secret_bytes = SUNSEAL_ECDH_SECP160R1_BYTES,
    .certificate_bytes = SUNSEAL_HANDSHAKE_SECP160R1_CERTIFICATE_BYTES,
    .exchange_bytes = SUNSEAL_HANDSHAKE_SECP160R1_EXCHANGE_BYTES,
    .agree = agree,
};
