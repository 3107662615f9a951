/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "../cipher/cipher.h"
#include "sunseal/random.h"
#include "sunseal/wipe.h"
#include "von_neumann.h"

#define ENTROPY_BYTES 32
#define BLOCK_BYTES 16
/* Bits that must go into a vetted function for 128 of full entropy (SP 800-90C, section 3.1). */
#define BLOCK_BITS_IN (128 + 64)
#define CHUNK 32
/* Folded bytes that Von Neumann gets for 256 bits: two times what bits without bias take. */
#define FOLDED_MAX 255

/* The CBC-MAC's key need not be secret: that of SP 800-90A, section 10.3.2, step 8. */
static const uint8_t mac_key[BLOCK_BYTES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* count samples, at most CHUNK, each through the health tests of its series. */
static int draw(struct sunseal_generator *generator, uint8_t *samples, uint8_t count) {
    const struct sunseal_source *source = &generator->source;
    struct sunseal_health *health = &generator->health[generator->turn];
    int status = source->read(source->context, samples, count);
    for (; count > 0 && status == SUNSEAL_OK; count--) {
        status = sunseal_health_sample(health, *samples++);
    }
    return status;
}

static void next_series(struct sunseal_generator *generator) {
    if (++generator->turn >= generator->series) {
        generator->turn = 0;
    }
}

static int begin(struct sunseal_generator *generator) {
    const struct sunseal_source *source = &generator->source;
    uint8_t sample;
    int status = SUNSEAL_OK;
    if (source->read == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (source->eighths == 0 || generator->series > SUNSEAL_JITTER_CLOCKS) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    for (uint8_t i = 0; i < SUNSEAL_JITTER_CLOCKS; i++) {
        if (generator->health[i].failed) {
            return SUNSEAL_ERR_HEALTH;
        }
    }
    generator->turn = 0;
    if (!generator->health[0].started) {
        for (uint8_t i = 0; i < SUNSEAL_JITTER_CLOCKS; i++) {
            sunseal_health_init(&generator->health[i], source->repetition_cutoff,
                                source->proportion_cutoff);
        }
        for (uint16_t i = 1; i <= source->startup && status == SUNSEAL_OK; i++) {
            status = draw(generator, &sample, 1);
            if (generator->fold != 0 && (i & (generator->fold - 1u)) == 0) {
                next_series(generator);
            }
        }
        generator->health[0].started = status == SUNSEAL_OK;
    }
    return status;
}

static int end(struct sunseal_generator *generator, uint8_t entropy[32], int status) {
    const struct sunseal_source *source = &generator->source;
    int rests = source->read(source->context, NULL, 0);
    status = status == SUNSEAL_OK ? rests : status;
    if (status != SUNSEAL_OK) {
        sunseal_wipe(entropy, ENTROPY_BYTES);
    }
    return status;
}

int sunseal_generate_sha256(void *context, uint8_t entropy[32]) {
    struct sunseal_generator *generator = context;
    SUNSEAL_REQUIRE_APART(entropy, ENTROPY_BYTES, generator, sizeof *generator);
    int status = sunseal_entropy(entropy, &generator->source, &generator->health[0]);
    return generator->source.read == NULL ? status : end(generator, entropy, status);
}

int sunseal_generate_cbc_mac(void *context, uint8_t entropy[32]) {
    struct sunseal_generator *generator = context;
    SUNSEAL_SCHEDULE_ONCE(schedule);
    uint8_t samples[BLOCK_BYTES];
    SUNSEAL_REQUIRE_APART(entropy, ENTROPY_BYTES, generator, sizeof *generator);
    const struct sunseal_block *cipher = generator->cipher;
    if (cipher == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (cipher->block_bytes != BLOCK_BYTES || cipher->key_bytes != BLOCK_BYTES) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    int status = begin(generator);
    if (status == SUNSEAL_ERR_NULL || status == SUNSEAL_ERR_PARAMETERS) {
        return status;
    }
    memset(entropy, 0, ENTROPY_BYTES);
    if (status == SUNSEAL_OK) {
        status = sunseal_block_set_key(cipher, schedule, mac_key, BLOCK_BYTES);
    }
    for (uint8_t *out = entropy; out < entropy + ENTROPY_BYTES; out += BLOCK_BYTES) {
        uint16_t blocks =
            (uint16_t)((8 * BLOCK_BITS_IN / BLOCK_BYTES + generator->source.eighths - 1) /
                       generator->source.eighths);
        for (; blocks > 0 && status == SUNSEAL_OK; blocks--) {
            status = draw(generator, samples, BLOCK_BYTES);
            for (uint8_t i = 0; i < BLOCK_BYTES; i++) {
                out[i] ^= samples[i];
            }
            if (status == SUNSEAL_OK) {
                status = sunseal_block_encrypt(cipher, schedule, out, out, BLOCK_BYTES);
            }
        }
    }
    sunseal_wipe(samples, sizeof samples);
    sunseal_wipe(schedule, sizeof schedule);
    return end(generator, entropy, status);
}

/* fold samples become one by XOR. */
static int folded(struct sunseal_generator *generator, uint8_t *samples, uint8_t *byte) {
    uint8_t chunk = generator->one_by_one ? 1 : generator->fold;
    int status = SUNSEAL_OK;
    *byte = 0;
    for (uint8_t left = generator->fold; left > 0 && status == SUNSEAL_OK;
         left = (uint8_t)(left - chunk)) {
        status = draw(generator, samples, chunk);
        for (uint8_t i = 0; i < chunk; i++) {
            *byte ^= samples[i];
        }
    }
    next_series(generator);
    return status;
}

int sunseal_generate_xor_vartime(void *context, uint8_t entropy[32]) {
    struct sunseal_generator *generator = context;
    uint8_t samples[CHUNK], byte = 0;
    struct sunseal_von_neumann to = {.out = entropy, .out_len = ENTROPY_BYTES};
    SUNSEAL_REQUIRE_APART(entropy, ENTROPY_BYTES, generator, sizeof *generator);
    if (generator->fold != 16 && generator->fold != 32) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    int status = begin(generator);
    if (status == SUNSEAL_ERR_NULL || status == SUNSEAL_ERR_PARAMETERS) {
        return status;
    }
    for (uint8_t bytes = 0; to.done < ENTROPY_BYTES && status == SUNSEAL_OK; bytes++) {
        if (bytes == FOLDED_MAX) {
            status = SUNSEAL_ERR_ENTROPY;
        } else if (generator->low_bit) {
            uint8_t gathered = 0;
            for (uint8_t bit = 0; bit < 8 && status == SUNSEAL_OK; bit++) {
                status = folded(generator, samples, &byte);
                gathered = (uint8_t)(gathered >> 1 | (byte & 1) << 7);
            }
            byte = gathered;
        } else {
            status = folded(generator, samples, &byte);
        }
        if (status == SUNSEAL_OK) {
            sunseal_von_neumann(&to, byte);
        }
    }
    sunseal_wipe(samples, sizeof samples);
    return end(generator, entropy, status);
}
