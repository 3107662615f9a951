/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Verification of hash-based signatures:
 *
 *   wots verify   in  public key[32] signature[67 * 32] message[..]   out nothing but the status
 *   lms verify    in  public key[48] signature[1380] message[..]      out nothing but the status
 *
 * wots hashes the message inside the marks, as ECDSA's workloads do.
 */
#include <stddef.h>

#include "bench.h"
#include "sunseal/lms.h"

#define WOTS_BYTES (32 + SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES)
#define LMS_SIGNATURE_BYTES SUNSEAL_LMS_SIGNATURE_BYTES(24, 51, 5)
#define LMS_BYTES (48 + LMS_SIGNATURE_BYTES)
#define INPUT_BYTES (WOTS_BYTES + 64)
BENCH_BUFFERS(INPUT_BYTES, 4);

WORKLOAD(wots_verify) {
    uint8_t digest[SUNSEAL_SHA256_BYTES];
    BENCH_LENGTH(WOTS_BYTES, INPUT_BYTES);
    sunseal_sha256(digest, in + WOTS_BYTES, in_len - (size_t)WOTS_BYTES);
    return (int16_t)sunseal_wots_sha256_verify(in, in + 32, digest);
}
WORKLOAD(lms_verify) {
    BENCH_LENGTH(LMS_BYTES, INPUT_BYTES);
    return (int16_t)sunseal_lms_verify(in, 48, in + 48, LMS_SIGNATURE_BYTES, in + LMS_BYTES,
                                       in_len - (size_t)LMS_BYTES);
}
