/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../buffers.h"
#include "sunseal/random.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"

/* Bits that must go into a vetted function for 256 of full entropy (SP 800-90C, section 3.1). */
#define BITS_IN (256 + 64)
#define CHUNK 32

/* count samples through the health tests and, where there is one, the hash. */
static int take(const struct sunseal_source *source, struct sunseal_health *health,
                struct sunseal_sha256 *hash, uint16_t count) {
    uint8_t samples[CHUNK];
    int status = SUNSEAL_OK;
    while (count > 0 && status == SUNSEAL_OK) {
        uint8_t part = (uint8_t)(count < CHUNK ? (uint8_t)count : CHUNK);
        status = source->read(source->context, samples, part);
        for (uint8_t i = 0; i < part && status == SUNSEAL_OK; i++) {
            status = sunseal_health_sample(health, samples[i]);
        }
        if (hash != NULL) {
            sunseal_sha256_update(hash, samples, part);
        }
        count -= part;
    }
    sunseal_wipe(samples, sizeof samples);
    return status;
}

int sunseal_entropy(uint8_t entropy[32], const struct sunseal_source *source,
                    struct sunseal_health *health) {
    struct sunseal_sha256 hash;
    int status = SUNSEAL_OK;
    SUNSEAL_REQUIRE_APART(entropy, 32, source, sizeof *source);
    SUNSEAL_REQUIRE_APART(entropy, 32, health, sizeof *health);
    if (source->read == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (source->eighths == 0) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    if (health->failed) {
        status = SUNSEAL_ERR_HEALTH;
    } else if (!health->started) {
        sunseal_health_init(health, source->repetition_cutoff, source->proportion_cutoff);
        status = take(source, health, NULL, source->startup);
        health->started = status == SUNSEAL_OK;
    }
    sunseal_sha256_init(&hash);
    if (status == SUNSEAL_OK) {
        status = take(source, health, &hash,
                      (uint16_t)((8 * BITS_IN + source->eighths - 1) / source->eighths));
    }
    sunseal_sha256_final(&hash, entropy);
    if (status != SUNSEAL_OK) {
        sunseal_wipe(entropy, 32);
    }
    return status;
}

int sunseal_sram_read(void *context, uint8_t *samples, size_t count) {
    struct sunseal_sram_source *sram = context;
    SUNSEAL_REQUIRE_APART(samples, count, sram, sizeof *sram);
    SUNSEAL_REQUIRE_BYTES(sram->next, count);
    if (count > sram->left) {
        sunseal_wipe(samples, count);
        return SUNSEAL_ERR_ENTROPY;
    }
    for (size_t i = 0; i < count; i++) {
        samples[i] = *sram->next++;
    }
    sram->left -= (uint16_t)count;
    return SUNSEAL_OK;
}
