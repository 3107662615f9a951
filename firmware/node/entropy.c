/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Assessed entropy: H = 1/2 bit a sample. A VLO period is counted in some 850 to
 * 2500 periods of the DCO; its jitter of 0.1 % (assumed, no silicon at hand) is
 * about one count, where a normal distribution has more than one bit.
 */
#include "entropy.h"

#include <string.h>

#include "hal.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"

/* SP 800-90B 4.4.1: C = 1 + ceil(20 / H), false alarms 2^-20. */
#define REPETITION_CUTOFF 41
/* SP 800-90B 4.4.2: window 512 (not binary); smallest C with
 * P(binomial(512, 2^-H) >= C) <= 2^-20. */
#define PROPORTION_WINDOW 512
#define PROPORTION_CUTOFF 410

void entropy_health_start(struct entropy_health *health) {
    memset(health, 0, sizeof *health);
}

bool entropy_health_sample(struct entropy_health *health, uint8_t sample) {
    if (health->repeated != 0 && sample == health->last) {
        health->repeated++;
    } else {
        health->last = sample;
        health->repeated = 1;
    }
    if (health->window_seen == 0) {
        health->window_first = sample;
        health->window_matches = 0;
    }
    if (sample == health->window_first)
        health->window_matches++;
    health->window_seen++;
    if (health->window_seen == PROPORTION_WINDOW)
        health->window_seen = 0;
    return health->repeated < REPETITION_CUTOFF && health->window_matches < PROPORTION_CUTOFF;
}

#define CHUNK 64

bool entropy_take(uint8_t entropy[ENTROPY_BYTES], uint16_t samples) {
    struct sunseal_sha256 context;
    struct entropy_health health;
    uint8_t chunk[CHUNK];
    bool healthy = true;
    sunseal_sha256_init(&context);
    entropy_health_start(&health);
    for (uint16_t done = 0; done < samples; done += CHUNK) {
        hal_entropy_samples(chunk, CHUNK);
        for (uint8_t i = 0; i < CHUNK; i++)
            healthy &= entropy_health_sample(&health, chunk[i]);
        sunseal_sha256_update(&context, chunk, CHUNK);
    }
    sunseal_sha256_final(&context, entropy);
    sunseal_wipe(chunk, sizeof chunk);
    if (!healthy)
        sunseal_wipe(entropy, ENTROPY_BYTES);
    return healthy;
}
