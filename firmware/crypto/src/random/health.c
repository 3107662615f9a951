/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "../mp/mp.h"
#include "sunseal/random.h"

int sunseal_health_init(struct sunseal_health *health, uint16_t repetition_cutoff,
                        uint16_t proportion_cutoff) {
    SUNSEAL_REQUIRE_BYTES(health, sizeof *health);
    memset(health, 0, sizeof *health);
    health->repetition_cutoff = repetition_cutoff;
    health->proportion_cutoff = proportion_cutoff;
    return SUNSEAL_OK;
}

/* 1 where the two are the same, without a branch: samples are secrets. */
static uint8_t same(uint8_t a, uint8_t b) {
    return (uint8_t)((uint16_t)((a ^ b) - 1u) >> 15);
}

/* 1 where count has reached the cutoff; both below 2^15. */
static uint8_t reached(uint16_t count, uint16_t cutoff) {
    return (uint8_t)(((uint16_t)(count - cutoff) >> 15) ^ 1u);
}

int sunseal_health_sample(struct sunseal_health *health, uint8_t sample) {
    SUNSEAL_REQUIRE_BYTES(health, sizeof *health);
    /* Of no sample before the first there are 0, the same or not. */
    uint16_t goes_on = sunseal_mp_mask_low(same(sample, health->last));
    health->repeated = (uint16_t)((health->repeated & goes_on) + 1u);
    health->last = sample;
    if (health->seen == 0) {
        health->first = sample;
        health->matches = 0;
    }
    health->matches += same(sample, health->first);
    health->seen = (health->seen + 1) & (SUNSEAL_HEALTH_WINDOW - 1);
    int failed = reached(health->repeated, health->repetition_cutoff) |
                 reached(health->matches, health->proportion_cutoff);
    health->failed = (uint8_t)(health->failed | failed);
    return health->failed ? SUNSEAL_ERR_HEALTH : SUNSEAL_OK;
}
