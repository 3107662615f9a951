/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Operations of the library, as a program would call them, of which it is known what can go ahead of `message`.
 */
#include <string.h>

#include "sunseal/aes.h"
#include "sunseal/ecdsa.h"
#include "sunseal/sha.h"

#define BLOCKS 4

volatile uint8_t message[16 * BLOCKS];
uint8_t key[16] = {1, 2, 3}, iv[16] = {9};
uint8_t d[32] = {0, 1}, entropy[32] = {0, 7};
uint8_t prefix[192] = {5, 6};
uint8_t result[64];
struct sunseal_aes128 schedule;
struct sunseal_ecdsa_p256_coupon coupon;
static struct sunseal_sha256 hash;

/* CBC: each block takes the one before, the first the message: the key schedule can go ahead, and no more. */
__attribute__((noinline)) void cbc(void) {
    (void)sunseal_aes128_sbox.set_key(&schedule, key);
    memcpy(result, iv, 16);
    for (uint8_t b = 0; b < BLOCKS; b++) {
        uint8_t *out = result + 16 * b;
        const uint8_t *before = b ? out - 16 : iv;
        for (uint8_t i = 0; i < 16; i++)
            out[i] = (uint8_t)(message[16 * b + i] ^ before[i]);
        (void)sunseal_aes128_sbox.encrypt(&schedule, out, out, 1);
    }
}

/* ECDSA in one call: (k^-1, r) can go ahead, and the product r d. */
__attribute__((noinline)) void ecdsa(void) {
    if (sunseal_ecdsa_p256_sign_offline(&coupon, entropy) != SUNSEAL_OK)
        return;
    (void)sunseal_ecdsa_p256_sign_online(result, &coupon, d, (const uint8_t *)message, 32);
}

/* SHA-256: the state behind the prefix of three blocks, 32 bytes, can go ahead. */
__attribute__((noinline)) void prefixed(void) {
    (void)sunseal_sha256_init(&hash);
    (void)sunseal_sha256_update(&hash, prefix, sizeof prefix);
    (void)sunseal_sha256_update(&hash, (const uint8_t *)message, sizeof message);
    (void)sunseal_sha256_final(&hash, result);
}

int main(void) {
    cbc();
    ecdsa();
    prefixed();
    for (;;) {
    }
}
