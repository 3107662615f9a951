/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Words with their CRC by the CRC32 module; what is zeroed in FRAM elsewhere is in flash here, so
 * that there is neither move nor zero. */
#include "chip.h"
#include "coupon.h"

uint16_t sunseal_nvm_check(const void *from, uint16_t words, uint16_t seed) {
    const uint16_t *at = from;
    CRC16INIRES = seed;
    while (words-- > 0) {
        CRC16DI = *at++;
    }
    return CRC16INIRES;
}

uint16_t sunseal_nvm_copy(void *to, const void *from, uint16_t words, uint16_t seed) {
    const uint16_t *in = from;
    uint16_t *out = to;
    CRC16INIRES = seed;
    while (words-- > 0) {
        uint16_t word = *in++;
        CRC16DI = word;
        *out++ = word;
    }
    return CRC16INIRES;
}

void sunseal_coupon_begin(uint16_t low, uint16_t high, uint16_t seed) {
    CRC16INIRES = seed;
    CRC16DI = low;
    CRC16DI = high;
}

uint16_t sunseal_coupon_copy(uint16_t *out, const uint16_t *from, uint16_t words) {
    return sunseal_nvm_copy(out, from, words, CRC16INIRES);
}

uint16_t sunseal_coupon_copy_xor(uint16_t *out, const uint16_t *in, const uint16_t *from,
                                 uint16_t words) {
    for (; words >= 2; words -= 2, from += 2, in += 2, out += 2) {
        uint32_t stream = sunseal_coupon_join(from[0], from[1]);
        CRC16DI = (uint16_t)stream;
        CRC16DI = (uint16_t)(stream >> 16);
        stream ^= sunseal_coupon_join(in[0], in[1]);
        out[0] = (uint16_t)stream;
        out[1] = (uint16_t)(stream >> 16);
    }
    if (words > 0) {
        CRC16DI = *from;
        *out = *in ^ *from;
    }
    return CRC16INIRES;
}
