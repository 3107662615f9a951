/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Conditioned entropy from the HAL's raw samples, with the health tests of NIST
 * SP 800-90B, section 4.4.
 */
#ifndef SUNSEAL_ENTROPY_H
#define SUNSEAL_ENTROPY_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"

#define ENTROPY_BYTES 32

#if defined(HAL_ENTROPY_SAMPLES_KEY)
#define ENTROPY_SAMPLES_KEY HAL_ENTROPY_SAMPLES_KEY
#elif defined(HAL_ENTROPY_SRAM)
/* Samples for a key: 2560 x 1/8 bit, as in sunseal/trng.h; a quarter more than the 256 bits that
 * come out. */
#define ENTROPY_SAMPLES_KEY 2560
#else
/* Samples for a key: 1024 x 1/2 bit, twice the 256 bits that come out. */
#define ENTROPY_SAMPLES_KEY 1024
#endif
/* Samples hashed into a nonce that is safe without them (RFC 6979, 3.6). */
#define ENTROPY_SAMPLES_NONCE 128

struct entropy_health {
    uint8_t last;
    uint16_t repeated;
    uint8_t window_first;
    uint16_t window_seen;
    uint16_t window_matches;
};

void entropy_health_start(struct entropy_health *health);
/* False when a sample makes a test fail. */
bool entropy_health_sample(struct entropy_health *health, uint8_t sample);

/* Takes `samples` raw samples (a multiple of 64) and hashes them; false, and
 * zeros, if the source is not healthy. */
bool entropy_take(uint8_t entropy[ENTROPY_BYTES], uint16_t samples);

#endif
