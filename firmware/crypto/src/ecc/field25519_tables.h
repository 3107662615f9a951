/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* clang-format off */
/* Generated from RFC 8032, section 5.1, by `python3 firmware/crypto/gen_curves.py write`. Do not edit. */
/* Words are 16 bits, least significant first. */
#ifndef SUNSEAL_FIELD25519_TABLES_H
#define SUNSEAL_FIELD25519_TABLES_H

#include <stdint.h>

#include "../mp/mp.h"

static const uint16_t field_p[17] SUNSEAL_MP_ALIGNED = {
    0xffed, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
    0xffff, 0xffff, 0xffff, 0x7fff, 0x0000,
};
static const struct sunseal_mp_modulus field_p_modulus = {field_p, 0x35e5, 0, 16, 17, 43, 0x286bca1b};

#endif
