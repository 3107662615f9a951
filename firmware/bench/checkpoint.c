/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The same signature as in intermittent.c, whole, under checkpoints.
 */
#include "bench.h"
#include "sunseal/checkpoint.h"
#include "sunseal/ecdsa.h"
#include "sunseal/sha.h"

#define MESSAGE_BYTES 64
extern uint8_t bench_input[32 + SUNSEAL_ENTROPY_BYTES + MESSAGE_BYTES], bench_output[64];
SUNSEAL_NVM uint8_t bench_input[32 + SUNSEAL_ENTROPY_BYTES + MESSAGE_BYTES] = {0};
SUNSEAL_NVM uint8_t bench_output[64] = {0};

/* How many lives have begun the work; for whoever watches. */
extern volatile uint16_t bench_lives;
SUNSEAL_NVM volatile uint16_t bench_lives = 0;

/* Not zero behind the last step: out is what it will be. */
extern volatile uint16_t bench_done;
SUNSEAL_NVM volatile uint16_t bench_done = 0;

/* Where the tests cut, and look. */
void bench_finished(void);
__attribute__((noinline)) void bench_finished(void) {
    __asm__ volatile("");
}

/* The trigger's pin is low behind a start-up, and main raises it: nothing to restore. */
static const struct sunseal_checkpoint_config thresholds = {
    .save_below = SUNSEAL_SUPPLY_MV(2050),
    .resume_above = SUNSEAL_SUPPLY_MV(2300),
    .channel = SUNSEAL_SUPPLY,
};

#define SIGN_CHECKPOINT(curve, CURVE, hash, HASH)                                                  \
    uint8_t digest[SUNSEAL_##HASH##_BYTES];                                                        \
    const uint8_t *entropy = in + SUNSEAL_##CURVE##_PRIVATE_BYTES;                                 \
    bench_lives++;                                                                                 \
    int status = bench_done ? SUNSEAL_OK : sunseal_checkpoint_start(&thresholds);                  \
    if (status == SUNSEAL_OK && !bench_done) {                                                     \
        /* From here on no life begins at main. */                                                 \
        status = sunseal_checkpoint_now();                                                         \
    }                                                                                              \
    if (status == SUNSEAL_OK && !bench_done) {                                                     \
        sunseal_##hash(digest, entropy + SUNSEAL_ENTROPY_BYTES, MESSAGE_BYTES);                    \
        status = sunseal_ecdsa_##curve##_sign(out, in, digest, sizeof digest, entropy);            \
        sunseal_checkpoint_stop();                                                                 \
        bench_done = 1;                                                                            \
    }                                                                                              \
    sunseal_checkpoint_wipe();                                                                     \
    bench_finished();                                                                              \
    return (int16_t)status

WORKLOAD(ecdsa_secp160r1_sign_checkpoint) {
    SIGN_CHECKPOINT(secp160r1, SECP160R1, sha1, SHA1);
}
WORKLOAD(ecdsa_p256_sign_checkpoint) {
    SIGN_CHECKPOINT(p256, P256, sha256, SHA256);
}
