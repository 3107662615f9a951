/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A user's program: a key pair, a signature that is verified, a changed hash that is not, a message
 * sealed and opened. It is C and C++. What it leaves in `outcome` is judged elsewhere, by another
 * implementation. */
#include <string.h>

#include "sunseal.h"

#ifdef __cplusplus
extern "C" {
#endif

struct outcome {
    uint8_t public_key[64], signature[64], sealed[24], tag[16];
    int8_t made, signed_, verified, refused, closed, opened, forged;
};
struct outcome outcome;
void finished(void); /* the board's */

#ifdef __cplusplus
}
#endif

static const uint8_t entropy[32] = {0x5e, 0xa1, 7, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t nonce[13] = {1, 3, 5, 7, 9};
static const uint8_t header[5] = {'n', 'o', 'd', 'e', '7'};
static const uint8_t message[24] = {'2', '1', '.', '5', ' ', 'C', ' ',
                                    'a', 't', ' ', 'n', 'o', 'o', 'n'};

int main(void) {
    uint8_t d[32], hash[32], open[24];

    sunseal_sha256(hash, message, sizeof message);
    outcome.made = (int8_t)sunseal_ecdsa_p256_keygen(d, outcome.public_key, entropy);
    outcome.signed_ =
        (int8_t)sunseal_ecdsa_p256_sign(outcome.signature, d, hash, sizeof hash, entropy);
    outcome.verified =
        (int8_t)sunseal_ecdsa_p256_verify(outcome.public_key, outcome.signature, hash, sizeof hash);
    hash[31] ^= 1;
    outcome.refused =
        (int8_t)sunseal_ecdsa_p256_verify(outcome.public_key, outcome.signature, hash, sizeof hash);

    outcome.closed = (int8_t)sunseal_ccm_seal_once(
        &sunseal_aes128, key, sizeof key, nonce, sizeof nonce, header, sizeof header,
        outcome.sealed, message, sizeof message, outcome.tag, sizeof outcome.tag);
    outcome.opened = (int8_t)sunseal_ccm_open_once(
        &sunseal_aes128, key, sizeof key, nonce, sizeof nonce, header, sizeof header, open,
        outcome.sealed, sizeof message, outcome.tag, sizeof outcome.tag);
    if (memcmp(open, message, sizeof message) != 0) {
        outcome.opened = 1;
    }
    outcome.tag[0] ^= 1;
    outcome.forged = (int8_t)sunseal_ccm_open_once(
        &sunseal_aes128, key, sizeof key, nonce, sizeof nonce, header, sizeof header, open,
        outcome.sealed, sizeof message, outcome.tag, sizeof outcome.tag);
    outcome.tag[0] ^= 1;
    sunseal_wipe(d, sizeof d);
    finished();
    return 0;
}
