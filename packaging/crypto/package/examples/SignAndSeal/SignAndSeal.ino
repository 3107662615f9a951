// SPDX-License-Identifier: MIT OR Apache-2.0
// A message is sealed, and its hash signed with a key pair that is made of 32 bytes of entropy.
#include <sunseal.h>

uint8_t publicKey[64], signature[64], sealed[14], tag[16];
int status;

void setup() {
    // In earnest both come from a source of entropy: sunseal/random.h.
    uint8_t entropy[32] = {0x5e, 0xa1}, key[16] = {0}, nonce[13] = {0}, d[32], hash[32];
    const char message[] = "21.5 C at noon";

    sunseal_sha256(hash, message, 14);
    status = sunseal_ecdsa_p256_keygen(d, publicKey, entropy);
    status |= sunseal_ecdsa_p256_sign(signature, d, hash, sizeof hash, entropy);
    status |= sunseal_ecdsa_p256_verify(publicKey, signature, hash, sizeof hash);
    status |= sunseal_ccm_seal_once(&sunseal_aes128, key, sizeof key, nonce, sizeof nonce, NULL, 0, sealed,
                                    (const uint8_t *)message, 14, tag, sizeof tag);
    sunseal_wipe(d, sizeof d);
}

void loop() {
}
