/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Conditioning of raw samples and the generator behind it:
 *
 *   trng_sram 256bit          in  samples[2560], as SRAM at start-up holds them   out entropy[32]
 *   trng_sha256 condition     in  samples[512]                                    out bits[32]
 *   trng_aes condition        in  key[16] samples[512]                            out bits[16]
 *   trng_xor16, xor32 condition   in  samples[512]                                out bits[6],
 * bits[3] hmac_drbg generate        in  entropy[48]                                     out
 * bits[32]
 *
 * 256bit tests the health of each sample and hashes them all. The generator is
 * seeded in front of the marks.
 */
#include <stddef.h>

#include "bench.h"
#include "sunseal/aes.h"
#include "sunseal/random.h"

#define SAMPLES_BYTES 512
#define INPUT_BYTES 2560
BENCH_BUFFERS(INPUT_BYTES, 32);

WORKLOAD(trng_sram_256bit) {
    struct sunseal_sram_source sram = {in, in_len};
    const struct sunseal_source source = {sunseal_sram_read, &sram, SUNSEAL_HEALTH_1_EIGHTH, 0, 1};
    struct sunseal_health health;
    BENCH_LENGTH(INPUT_BYTES, INPUT_BYTES);
    sunseal_health_init(&health, SUNSEAL_HEALTH_1_EIGHTH);
    return (int16_t)sunseal_entropy(out, &source, &health);
}
WORKLOAD(trng_sha256_condition) {
    BENCH_LENGTH(SAMPLES_BYTES, SAMPLES_BYTES);
    sunseal_condition_sha256(out, in, SAMPLES_BYTES);
    return SUNSEAL_OK;
}
WORKLOAD(trng_aes_condition) {
    BENCH_LENGTH(16 + SAMPLES_BYTES, 16 + SAMPLES_BYTES);
    return (int16_t)sunseal_condition_cbc_mac(out, &sunseal_aes128, in, in + 16, SAMPLES_BYTES);
}
WORKLOAD(trng_xor16_condition) {
    BENCH_LENGTH(SAMPLES_BYTES, SAMPLES_BYTES);
    return (int16_t)sunseal_condition_xor_vartime(out, 6, in, SAMPLES_BYTES, 16);
}
WORKLOAD(trng_xor32_condition) {
    BENCH_LENGTH(SAMPLES_BYTES, SAMPLES_BYTES);
    return (int16_t)sunseal_condition_xor_vartime(out, 3, in, SAMPLES_BYTES, 32);
}

static struct sunseal_hmac_drbg drbg;

SETUP(hmac_drbg_generate) {
    BENCH_LENGTH(48, 48);
    return (int16_t)sunseal_hmac_drbg_instantiate(&drbg, in, 48, NULL, 0, NULL, 0);
}
WORKLOAD(hmac_drbg_generate) {
    return (int16_t)sunseal_hmac_drbg_generate(&drbg, out, 32, NULL, 0);
}
