/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "field25519.h"

#include <string.h>

#include "field25519_tables.h"

void sunseal_fe25519_reduce(uint16_t *r) {
    sunseal_fe25519 t;
    /* 2^256 - 1 is 2 p + 37. */
    sunseal_mp_reduce_once(r, 0, field_p, t, 16);
    sunseal_mp_reduce_once(r, 0, field_p, t, 16);
    sunseal_wipe(t, sizeof t);
}

void sunseal_fe25519_invert(uint16_t *r, const uint16_t *a) {
    sunseal_fe25519 t;
    memcpy(t, a, sizeof t);
    sunseal_fe25519_reduce(t);
    sunseal_mp_invert(r, t, &field_p_modulus);
    sunseal_wipe(t, sizeof t);
}

uint16_t sunseal_fe25519_is_zero(const uint16_t *a) {
    sunseal_fe25519 t;
    memcpy(t, a, sizeof t);
    sunseal_fe25519_reduce(t);
    uint16_t zero = sunseal_mp_is_zero(t, 16);
    sunseal_wipe(t, sizeof t);
    return zero;
}

void sunseal_fe25519_from_bytes(uint16_t *r, const uint8_t bytes[32]) {
    for (uint8_t i = 0; i < 16; i++) {
        r[i] = (uint16_t)(bytes[2 * i] | (uint16_t)((uint16_t)bytes[2 * i + 1] << 8));
    }
}

void sunseal_fe25519_to_bytes(uint8_t bytes[32], const uint16_t *a) {
    sunseal_fe25519 t;
    memcpy(t, a, sizeof t);
    sunseal_fe25519_reduce(t);
    for (uint8_t i = 0; i < 16; i++) {
        bytes[2 * i] = (uint8_t)t[i];
        bytes[2 * i + 1] = (uint8_t)(t[i] >> 8);
    }
    sunseal_wipe(t, sizeof t);
}

void sunseal_fe25519_forget(void) {
    static const sunseal_fe25519 zero = {0};
    sunseal_fe25519 t;
    sunseal_fe25519_mul(t, zero, zero);
}
