/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The test bench of Mane 2014, section 3.1: one operation between two edges of
 * the trigger pin. The host writes bench_input and bench_input_len after
 * loading, runs until the CPU stops for good, and reads bench_output and
 * bench_status. All four lie in .noinit: start-up leaves them alone.
 *
 * Layouts, big-endian byte strings; L = 20 and N = 21 for secp160r1, 32 and 32
 * for P-256:
 *
 *   keygen   in  entropy[32]                         out d[N] Qx[L] Qy[L]
 *   sign     in  d[N] added_entropy[32] message[..]  out r[N] s[N]
 *   verify   in  Qx[L] Qy[L] r[N] s[N] message[..]   out nothing but the status
 *   hash     in  message[..]                         out digest
 *   all      in  entropy[32] added_entropy[32]       out d[N] Qx[L] Qy[L] r[N] s[N]
 *                message[..]
 *
 * sign and verify hash the message inside the marks: SHA-1 for secp160r1 as in
 * the thesis, SHA-256 for P-256 and for the workloads ending in -sha256. all makes a key, signs and
 * verifies: the program whose flash and RAM stand beside the thesis's table 4.2.
 */
#ifndef SUNSEAL_BENCH_H
#define SUNSEAL_BENCH_H

#include <stdint.h>

#define BENCH_INPUT_BYTES 192
#define BENCH_OUTPUT_BYTES 192

extern uint8_t bench_input[BENCH_INPUT_BYTES];
extern uint8_t bench_output[BENCH_OUTPUT_BYTES];
extern uint16_t bench_input_len;

/* SUNSEAL_OK or SUNSEAL_ERR_*; BENCH_RUNNING until the operation ends. */
extern int16_t bench_status;
#define BENCH_RUNNING INT16_C(0x7FFF)
#define BENCH_ERR_INPUT INT16_C(0x7FFE) /* bench_input_len fits no layout */

#endif
