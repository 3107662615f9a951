/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "../flash.h"
#include "ascon.h"
#include "ascon_hash256_table.h"
#include "sunseal/wipe.h"

#define RATE 8

int sunseal_ascon_hash256_init(struct sunseal_ascon_hash256 *hash) {
    SUNSEAL_REQUIRE_BYTES(hash, sizeof *hash);
    memset(hash, 0, sizeof *hash);
#ifdef __AVR__
    /* Program memory is read by other instructions. */
    for (uint8_t i = 0; i < sizeof ascon_hash256_start; i++) {
        ((uint8_t *)&hash->state)[i] = ascon_hash256_start[i];
    }
#else
    sunseal_ascon_add(&hash->state, 0, ascon_hash256_start, 5);
#endif
    return SUNSEAL_OK;
}

int sunseal_ascon_hash256_update(struct sunseal_ascon_hash256 *hash, const void *data, size_t len) {
    const uint8_t *bytes = data;
    SUNSEAL_REQUIRE_APART(hash, sizeof *hash, data, len);
    while (len > 0) {
        size_t part = len;
        if (hash->used == 0 && len >= RATE) {
            part = len & ~(size_t)(RATE - 1);
            sunseal_ascon_absorb(&hash->state, bytes, len / RATE);
        } else {
            if (part > (size_t)(RATE - hash->used)) {
                part = (size_t)(RATE - hash->used);
            }
            memcpy(hash->block + hash->used, bytes, part);
            hash->used = (uint8_t)(hash->used + part);
            if (hash->used == RATE) {
                sunseal_ascon_absorb(&hash->state, hash->block, 1);
                hash->used = 0;
            }
        }
        bytes += part;
        len -= part;
    }
    return SUNSEAL_OK;
}

int sunseal_ascon_hash256_final(struct sunseal_ascon_hash256 *hash, uint8_t digest[32]) {
    SUNSEAL_REQUIRE_APART(digest, 32, hash, sizeof *hash);
    hash->block[hash->used] = 0x01;
    memset(hash->block + hash->used + 1, 0, (size_t)(RATE - 1 - hash->used));
    sunseal_ascon_add(&hash->state, 0, hash->block, 1);
    for (uint8_t i = 0; i < 32; i = (uint8_t)(i + RATE)) {
        sunseal_ascon_permute(&hash->state, 12);
        sunseal_ascon_get(digest + i, &hash->state, 0, 1);
    }
    sunseal_wipe(hash, sizeof *hash);
    return SUNSEAL_OK;
}

int sunseal_ascon_hash256(uint8_t digest[32], const void *data, size_t len) {
    struct sunseal_ascon_hash256 hash;
    SUNSEAL_REQUIRE_BYTES(digest, 32);
    SUNSEAL_REQUIRE_BYTES(data, len);
    sunseal_ascon_hash256_init(&hash);
    sunseal_ascon_hash256_update(&hash, data, len);
    return sunseal_ascon_hash256_final(&hash, digest);
}
