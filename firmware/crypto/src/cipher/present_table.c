/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../flash.h"
#include "present.h"
#include "present_table.h"
#include "present_inverse_table.h"

/*
 * Substitution and permutation in one look-up (Papagiannopoulos and Verstegen, "Speed and Size-
 * Optimized Implementations of the PRESENT Cipher for Tiny AVR Devices"): output bits b of all
 * S-boxes make up 16 bits of the result, two of them from each byte.
 */

static int set_key(void *schedule, const uint8_t *key, uint8_t key_bytes) {
    struct sunseal_present_table *present = schedule;
    sunseal_present_expand((sunseal_present_word(*)[4])present->round_keys, key, key_bytes);
    for (uint8_t round = 0; round < 32; round++) {
        uint16_t w[4];
        memcpy(w, present->round_keys[round], sizeof w);
        uint8_t *bytes = (uint8_t *)present->round_keys[round];
        for (uint8_t i = 0; i < 4; i++) {
            bytes[6 - 2 * i] = (uint8_t)(w[i] >> 8);
            bytes[7 - 2 * i] = (uint8_t)w[i];
        }
    }
    return SUNSEAL_OK;
}

static int set_key80(void *schedule, const uint8_t *key) {
    return set_key(schedule, key, 10);
}

static int set_key128(void *schedule, const uint8_t *key) {
    return set_key(schedule, key, 16);
}

/* Bytes are big-endian: byte 0 holds S-boxes 15 and 14. */
static void encrypt_block(const uint8_t (*key)[8], uint8_t *out, const uint8_t *in) {
    uint8_t s[8], t[8];
    for (uint8_t i = 0; i < 8; i++) {
        s[i] = in[i] ^ (*key)[i];
    }
    for (uint8_t round = 1; round < 32; round++) {
        key++;
        const SUNSEAL_FLASH uint8_t *table = present_spread;
        for (uint8_t i = 8; i > 0; i = (uint8_t)(i - 2), table += 256) {
            t[i - 1] = (uint8_t)((table[s[7]] & 0x03) | (table[s[6]] & 0x0c) |
                                 (table[s[5]] & 0x30) | (table[s[4]] & 0xc0)) ^
                       (*key)[i - 1];
            t[i - 2] = (uint8_t)((table[s[3]] & 0x03) | (table[s[2]] & 0x0c) |
                                 (table[s[1]] & 0x30) | (table[s[0]] & 0xc0)) ^
                       (*key)[i - 2];
        }
        for (uint8_t i = 0; i < 8; i++) {
            s[i] = t[i];
        }
    }
    for (uint8_t i = 0; i < 8; i++) {
        out[i] = s[i];
    }
}

static int encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_present_table *present = schedule;
    for (; blocks > 0; blocks--, out += 8, in += 8) {
        encrypt_block((const uint8_t(*)[8])present->round_keys, out, in);
    }
    return SUNSEAL_OK;
}

static void decrypt_block(const uint8_t (*key)[8], uint8_t *out, const uint8_t *in) {
    uint8_t s[8], t[8];
    key += 31;
    for (uint8_t i = 0; i < 8; i++) {
        s[i] = in[i] ^ (*key)[i];
    }
    for (uint8_t round = 1; round < 32; round++) {
        key--;
        /* Bit b of S-box j lies at 16b + j: two bits from each word go to byte j / 2. */
        for (uint8_t i = 0; i < 8; i++) {
            uint8_t byte = 0, at = (uint8_t)(7 - i);
            for (uint8_t b = 0; b < 4; b++) {
                uint8_t pair = s[7 - 2 * b - (at >> 2)] >> (2 * (at & 3)) & 3;
                byte = (uint8_t)((uint8_t)(((pair & 1) | (pair & 2) << 3) << b) | byte);
            }
            t[i] = present_inverse[byte] ^ (*key)[i];
        }
        for (uint8_t i = 0; i < 8; i++) {
            s[i] = t[i];
        }
    }
    for (uint8_t i = 0; i < 8; i++) {
        out[i] = s[i];
    }
}

static int decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_present_table *present = schedule;
    for (; blocks > 0; blocks--, out += 8, in += 8) {
        decrypt_block((const uint8_t(*)[8])present->round_keys, out, in);
    }
    return SUNSEAL_OK;
}

const struct sunseal_block sunseal_present80_table =
    SUNSEAL_PRESENT_BLOCK(10, sunseal_present_table, 1, set_key80, encrypt, decrypt);

const struct sunseal_block sunseal_present128_table =
    SUNSEAL_PRESENT_BLOCK(16, sunseal_present_table, 1, set_key128, encrypt, decrypt);
