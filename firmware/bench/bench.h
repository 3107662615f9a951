/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The test bench of Mane 2014, section 3.1: one operation between two edges of
 * the trigger pin. The host writes bench_input and bench_input_len after
 * loading, runs until the CPU stops for good, and reads bench_output and
 * bench_status. All four lie in .noinit: start-up leaves them alone.
 *
 * Workloads and the bytes of their input and output are described where their
 * algorithm is (crypto/algorithms, coupon/algorithms). A file of workloads has
 * buffers, and a WORKLOAD for each; `_` in a name is `-` in the workload's. Most
 * are generated from the descriptions (generate.py, into build/bench), the files
 * here are those that set up more than keys. oracle.py in
 * python/src/sunseal/measurement judges the answer. Numbers are as the library's
 * headers have them.
 */
#ifndef SUNSEAL_BENCH_H
#define SUNSEAL_BENCH_H

#include <stdint.h>

#include "flash.h"

extern uint16_t bench_input_len;

/* SUNSEAL_OK or SUNSEAL_ERR_*; BENCH_RUNNING until the operation ends. */
extern int16_t bench_status;
#define BENCH_RUNNING INT16_C(0x7FFF)
#define BENCH_ERR_INPUT INT16_C(0x7FFE) /* bench_input_len fits no layout */

/* The buffers of a file's workloads. duty_input is for duty.c: the input where it outlasts the
 * supply. */
#define BENCH_NOINIT __attribute__((section(".noinit"), used, aligned(4)))
#define BENCH_BUFFERS(input_bytes, output_bytes)                                                   \
    extern uint8_t bench_input[input_bytes], bench_output[output_bytes];                           \
    BENCH_NOINIT uint8_t bench_input[input_bytes];                                                 \
    BENCH_NOINIT uint8_t bench_output[output_bytes];                                               \
    extern const SUNSEAL_FLASH uint8_t duty_input[input_bytes];                                    \
    const SUNSEAL_FLASH uint8_t duty_input[input_bytes] = {0}

/* What runs between the marks; the library's status. SETUP of the same name, where there is one,
 * runs in front of them: key schedules, coupons, stores. */
#define WORKLOAD(name)                                                                             \
    int16_t bench_##name(const uint8_t *in, uint16_t in_len, uint8_t *out);                        \
    int16_t bench_##name(const uint8_t *in __attribute__((unused)),                                \
                         uint16_t in_len __attribute__((unused)),                                  \
                         uint8_t *out __attribute__((unused)))

#define SETUP(name) WORKLOAD(setup_##name)

/* Until a coprocessor that was just switched on is configured: awake on the bench, asleep in
 * duty.c.
 */
void bench_coprocessor_wait(void);

/* Refuses an input that fits no layout. */
#define BENCH_LENGTH(least, most)                                                                  \
    if ((uint16_t)(in_len - (least)) > (most) - (least))                                           \
    return BENCH_ERR_INPUT

#endif
