/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Seeded leaks, one case by -DCASE=n: no compiler can take them away, and no verdict may miss one. The compiler sees
 * neither what `work` does nor what is volatile, so what a secret decides stays a branch, an address or a count.
 *
 * sunseal constant-time: --secret key
 */
#include <stdint.h>

uint8_t key[16] = {0xA5, 1, 2, 3, 0x80, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
volatile uint8_t seen[16] = {3, 1, 4, 1, 5, 9, 2, 6};
volatile uint8_t result[16];
volatile uint8_t table[256];
volatile uint16_t wide[256];
volatile uint8_t square[16][16];
volatile struct {
    uint8_t a, b, c;
} entries[16];
static const volatile uint8_t sbox[256] = {1, 2, 3};

__attribute__((noinline)) void work(uint8_t what) {
    result[0] = what;
    __asm__ volatile("");
}

__attribute__((noinline)) void other_work(uint8_t what) {
    result[1] = what;
    __asm__ volatile("");
}

__attribute__((noinline)) void deeper(uint8_t left) {
    result[2] = left;
    if (left) deeper((uint8_t)(left - 1));
    __asm__ volatile("");
}

static void (*const volatile handlers[2])(uint8_t) = {work, other_work};

__attribute__((noinline)) void test_case(void) {
#if CASE == 0 /* a branch on a bit */
    if (key[0] & 1) work(1);
#elif CASE == 1 /* a branch on equality */
    if (key[1] == seen[1]) work(1);
#elif CASE == 2 /* a choice of four */
    switch (key[0] & 3) {
    case 0: work(1); break;
    case 1: other_work(2); break;
    case 2: work(3); break;
    default: other_work(4);
    }
#elif CASE == 3 /* two conditions */
    if (key[2] > seen[0] && key[3] < seen[2]) work(1);
#elif CASE == 4 /* square and multiply */
    for (uint8_t i = 0; i < 8; i++) {
        work(i);
        if (key[0] >> i & 1) other_work(i);
    }
#elif CASE == 5 /* a comparison that ends early */
    for (uint8_t i = 0; i < 16; i++) {
        if (key[i] != seen[i]) {
            work(i);
            break;
        }
    }
#elif CASE == 6 /* a loop as long as a secret says */
    for (uint8_t i = 0; i < (key[5] & 7); i++) result[3] = i;
#elif CASE == 7 /* the length of a number */
    for (uint8_t k = key[6]; k; k >>= 1) result[4]++;
#elif CASE == 8 /* the length of a string */
    uint8_t n = 0;
    while (n < 16 && key[n]) work(n++);
#elif CASE == 9 /* a jump back */
    uint8_t k = key[7];
again:
    work(k);
    if (k--) goto again;
#elif CASE == 10 /* a function by its number */
    handlers[key[8] & 1](5);
#elif CASE == 11 /* one call or another */
    key[9] & 1 ? work(1) : other_work(1);
#elif CASE == 12 /* depth */
    deeper(key[10] & 3);
#elif CASE == 13 /* a table in RAM */
    result[0] = table[key[0]];
#elif CASE == 14 /* a table of words */
    result[0] = (uint8_t)wide[key[1]];
#elif CASE == 15 /* a look-up by a look-up */
    result[0] = table[table[key[2]]];
#elif CASE == 16 /* a store */
    result[key[3] & 15] = 1;
#elif CASE == 17 /* a pointer moved */
    volatile uint8_t *p = table;
    p += key[4];
    result[0] = *p;
#elif CASE == 18 /* a member of one of many */
    result[0] = entries[key[5] & 15].b;
#elif CASE == 19 /* a matrix */
    result[0] = square[key[6] & 15][seen[0] & 15];
#elif CASE == 20 /* a constant table */
    result[0] = sbox[key[7]];
#elif CASE == 21 /* a look-up by secret and message, as of a cipher's first round */
    for (uint8_t i = 0; i < 16; i++) result[i] = sbox[(uint8_t)(key[i] ^ seen[i])];
#elif CASE == 22 /* a quotient */
    result[0] = (uint8_t)((uint16_t)(seen[0] * 257u) / (uint16_t)(key[9] | 1));
#elif CASE == 23 /* a remainder */
    result[0] = (uint8_t)((uint16_t)(key[10] * 257u) % (uint16_t)(seen[1] | 1));
#elif CASE == 24 /* a step left out */
    for (uint8_t i = 0; i < 16; i++) {
        if (key[i] & 0x80) continue;
        work(i);
    }
#else
#error "CASE is 0 to 24"
#endif
}

int main(void) {
    test_case();
    return 0;
}
