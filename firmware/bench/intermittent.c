/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A signature that outlasts a failing supply as a program of tasks, on parts with FRAM, and the
 * steps alone, of which nothing survives. in, out and all else that must last lie in FRAM; main
 * runs again in every life. In and out: crypto/algorithms/ecdsa_steps.toml.
 */
#include "bench.h"
#include "sunseal/ecdsa_steps.h"
#include "sunseal/sha.h"
#include "sunseal/supply.h"
#include "sunseal/tasks.h"

#define MESSAGE_BYTES 64
extern uint8_t bench_input[32 + SUNSEAL_ENTROPY_BYTES + MESSAGE_BYTES], bench_output[64];
SUNSEAL_NVM uint8_t bench_input[32 + SUNSEAL_ENTROPY_BYTES + MESSAGE_BYTES] = {0};
SUNSEAL_NVM uint8_t bench_output[64] = {0};

/* Who measures writes it into the image. */
extern const volatile uint8_t bench_steps_per_commit;
const volatile uint8_t bench_steps_per_commit = 4;

/* How many lives have begun the work; for whoever watches. */
extern volatile uint16_t bench_lives;
SUNSEAL_NVM volatile uint16_t bench_lives = 0;

/* Not zero behind the last step: out is what it will be. */
extern volatile uint16_t bench_done;
SUNSEAL_NVM volatile uint16_t bench_done = 0;

static union {
    struct sunseal_ecdsa_secp160r1_sign secp160r1;
    struct sunseal_ecdsa_p256_sign p256;
} work;

SUNSEAL_CELL(cell_secp160r1, struct sunseal_ecdsa_secp160r1_sign);
SUNSEAL_CELL(cell_p256, struct sunseal_ecdsa_p256_sign);

/* Where the tests cut, and look. */
void bench_finished(void);
__attribute__((noinline)) void bench_finished(void) {
    __asm__ volatile("");
}

enum { BEGIN = 1, STEPS, FINISH };

#define TASKS(curve, CURVE, hash, HASH)                                                            \
    static uint8_t curve##_begin(void *shared) {                                                   \
        uint8_t digest[SUNSEAL_##HASH##_BYTES];                                                    \
        const uint8_t *entropy = bench_input + SUNSEAL_##CURVE##_PRIVATE_BYTES;                    \
        sunseal_##hash(digest, entropy + SUNSEAL_ENTROPY_BYTES, MESSAGE_BYTES);                    \
        return sunseal_ecdsa_##curve##_sign_begin(shared, bench_input, digest, sizeof digest,      \
                                                  entropy) == SUNSEAL_OK                           \
                   ? STEPS                                                                         \
                   : 0;                                                                            \
    }                                                                                              \
    static uint8_t curve##_steps(void *shared) {                                                   \
        int status = SUNSEAL_PENDING;                                                              \
        for (uint8_t i = bench_steps_per_commit; i > 0 && status == SUNSEAL_PENDING; i--) {        \
            status = sunseal_ecdsa_##curve##_sign_step(shared);                                    \
        }                                                                                          \
        return status == SUNSEAL_PENDING ? STEPS : status == SUNSEAL_OK ? FINISH : 0;              \
    }                                                                                              \
    static uint8_t curve##_finish(void *shared) {                                                  \
        sunseal_ecdsa_##curve##_sign_finish(shared, bench_output);                                 \
        return 0;                                                                                  \
    }                                                                                              \
    static sunseal_task *const curve##_tasks[] = {curve##_begin, curve##_steps, curve##_finish};   \
    static const struct sunseal_program curve##_program = {&cell_##curve, &work, curve##_tasks, 3}

TASKS(secp160r1, SECP160R1, sha1, SHA1);
TASKS(p256, P256, sha256, SHA256);

static int16_t run(const struct sunseal_program *program) {
    int status = SUNSEAL_OK;
    sunseal_supply_wait(SUNSEAL_SUPPLY, SUNSEAL_SUPPLY_MV(2300));
    bench_lives++;
    if (!bench_done) {
        status = sunseal_program_run(program);
    }
    if (status == SUNSEAL_OK) {
        bench_done = 1;
        sunseal_program_wipe(program);
    }
    bench_finished();
    return (int16_t)status;
}

WORKLOAD(ecdsa_secp160r1_sign_tasks) {
    return run(&secp160r1_program);
}
WORKLOAD(ecdsa_p256_sign_tasks) {
    return run(&p256_program);
}

#define SIGN_STEPS(curve)                                                                          \
    int status;                                                                                    \
    curve##_begin(&work);                                                                          \
    do {                                                                                           \
        status = sunseal_ecdsa_##curve##_sign_step(&work.curve);                                   \
    } while (status == SUNSEAL_PENDING);                                                           \
    return (int16_t)(status != SUNSEAL_OK ? status                                                 \
                                          : sunseal_ecdsa_##curve##_sign_finish(&work.curve, out))

WORKLOAD(ecdsa_secp160r1_sign_steps) {
    SIGN_STEPS(secp160r1);
}
WORKLOAD(ecdsa_p256_sign_steps) {
    SIGN_STEPS(p256);
}
