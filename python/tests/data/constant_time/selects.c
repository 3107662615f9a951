/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Known-good code over a secret, one case by -DCASE=n: no compiler may turn it into a leak, since the masks go through
 * a barrier, and no verdict may call it one.
 *
 * sunseal constant-time: --secret key
 */
#include <stdint.h>

uint8_t key[16] = {0xA5, 1, 2, 3, 0x80, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
volatile uint8_t seen[16] = {3, 1, 4, 1, 5, 9, 2, 6};
uint8_t other[16] = {7};
uint8_t result[16];
uint16_t words[2] = {1, 2};

/* What the compiler does not know it cannot turn into a condition. */
static inline uint8_t barrier8(uint8_t x) {
    __asm__ volatile("" : "+r"(x));
    return x;
}

static inline uint16_t barrier16(uint16_t x) {
    __asm__ volatile("" : "+r"(x));
    return x;
}

static inline uint8_t mask_of(uint8_t bit) { return barrier8((uint8_t)-(bit & 1)); }

__attribute__((noinline)) void test_case(void) {
#if CASE == 0 /* select one of two bytes */
    uint8_t m = mask_of(key[0]);
    result[0] = (uint8_t)((seen[0] & m) | (seen[1] & ~m));
#elif CASE == 1 /* conditional swap of arrays */
    uint8_t m = mask_of(key[1]);
    for (uint8_t i = 0; i < 16; i++) {
        uint8_t x = (uint8_t)((other[i] ^ result[i]) & m);
        other[i] ^= x;
        result[i] ^= x;
    }
#elif CASE == 2 /* comparison of a tag */
    uint8_t d = 0;
    for (uint8_t i = 0; i < 16; i++) d |= (uint8_t)(key[i] ^ seen[i]);
    result[0] = d;
#elif CASE == 3 /* all of a table is read, one entry kept */
    uint8_t r = 0;
    for (uint8_t i = 0; i < 16; i++) {
        uint16_t z = barrier16((uint16_t)(i ^ (key[2] & 15)));
        uint8_t m = barrier8((uint8_t)((uint16_t)(z - 1) >> 8));
        r |= (uint8_t)(seen[i] & m);
    }
    result[0] = r;
#elif CASE == 4 /* zero or not */
    uint16_t z = barrier16(key[3]);
    result[0] = (uint8_t)((uint16_t)(z - 1) >> 15);
#elif CASE == 5 /* smaller or not */
    uint16_t d = barrier16((uint16_t)((uint16_t)key[4] - (uint16_t)key[5]));
    result[0] = (uint8_t)(d >> 15);
#elif CASE == 6 /* conditional negation */
    uint8_t m = mask_of(key[6]);
    result[0] = (uint8_t)((seen[0] ^ m) - m);
#elif CASE == 7 /* a sum with carries */
    uint16_t c = 0;
    for (uint8_t i = 0; i < 16; i++) {
        c = (uint16_t)(c + key[i] + other[i]);
        result[i] = (uint8_t)c;
        c = (uint16_t)(c >> 8);
    }
#elif CASE == 8 /* a word selected */
    uint16_t m = barrier16((uint16_t)-(key[7] & 1));
    words[0] = (uint16_t)((words[0] & m) | (words[1] & ~m));
#elif CASE == 9 /* a copy under a condition */
    uint8_t m = mask_of(key[8]);
    for (uint8_t i = 0; i < 16; i++) result[i] = (uint8_t)(result[i] ^ ((result[i] ^ key[i]) & m));
#elif CASE == 10 /* exclusive or with a stream */
    for (uint8_t i = 0; i < 16; i++) result[i] = (uint8_t)(key[i] ^ seen[i & 7]);
#elif CASE == 11 && defined(__arm__) /* conditional moves */
    uint32_t a = key[9], b = seen[1], r = seen[2];
    __asm__("cmp %1, %2\n\tite eq\n\tmoveq %0, %2\n\tmvnne.w %0, %1" : "+r"(r) : "r"(a), "r"(b) : "cc");
    result[0] = (uint8_t)r;
#elif CASE == 11
    result[0] = (uint8_t)(key[9] + seen[1]);
#else
#error "CASE is 0 to 11"
#endif
}

int main(void) {
    test_case();
    return 0;
}
