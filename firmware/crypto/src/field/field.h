/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_FIELD_H
#define SUNSEAL_FIELD(field)                                                                       \
    void sunseal_##field##_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);                 \
    void sunseal_##field##_sqr(uint16_t *r, const uint16_t *a);                                    \
    void sunseal_##field##_add(uint16_t *r, const uint16_t *a, const uint16_t *b);                 \
    void sunseal_##field##_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);

SUNSEAL_FIELD(fe160)
SUNSEAL_FIELD(fe224)
SUNSEAL_FIELD(fe256)
SUNSEAL_FIELD(fe25519)
void sunseal_fe160_half(uint16_t *r, const uint16_t *a);
void sunseal_fe224_half(uint16_t *r, const uint16_t *a);
void sunseal_fe256_half(uint16_t *r, const uint16_t *a);
/* r = 121665 a: the (486662 - 2) / 4 of RFC 7748 */
void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a);

#endif
