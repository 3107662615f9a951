/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Long numbers, for lengths up to four words: every word is treated alike, so that more words bring
 * nothing new but time.
 *
 * sources: mp/mp_c.c mp/mp_addmul_c.c
 * unwind: 33
 */
#include "mp/mp.h"
#include "proof.h"

#define N 4

static uint64_t value(const uint16_t *words, size_t n) {
    uint64_t v = 0;
    for (size_t i = n; i > 0; i--) {
        v = v << 16 | words[i - 1];
    }
    return v;
}

void prove_sum_and_difference(void) {
    uint16_t a[N], b[N], r[N];
    uint64_t x = value(a, N), y = value(b, N);
    uint16_t carry = sunseal_mp_add(r, a, b, N);
    ASSERT(value(r, N) == x + y && carry == (x + y < x));
    uint16_t borrow = sunseal_mp_sub(a, a, b, N);
    ASSERT(value(a, N) == x - y && borrow == (x < y));
}

/* That the product is right is tested: the solver takes hours for it. */
void prove_product_with_a_word(void) {
    uint16_t acc[N], a[N], b;
    sunseal_mp_addmul1(acc, a, b, N);
}

void prove_choice(void) {
    uint16_t r[N], a[N], mask;
    ASSUME(mask == 0 || mask == 0xffff);
    uint64_t x = value(r, N), y = value(a, N);
    sunseal_mp_select(r, a, mask, N);
    ASSERT(value(r, N) == (mask != 0 ? y : x));
}

void prove_pick(void) {
    uint16_t table[SUNSEAL_MP_PICK_ENTRIES * N], r[N], index;
    ASSUME(index < SUNSEAL_MP_PICK_ENTRIES);
    sunseal_mp_pick(r, table, index, N);
    ASSERT(value(r, N) == value(table + index * N, N));
}
