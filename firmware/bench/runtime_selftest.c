/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every helper of firmware/runtime against values that the compiler computed
 * itself: each expression stands twice, once over constants, which the compiler
 * folds, and once over volatile operands, which makes it call the helper. Then a
 * walk over pseudo-random operands, where division must undo multiplication.
 *
 * bench_status is 0, or the number of the first check that failed.
 * bench_output[0..1] holds the number of checks made, highest byte first.
 */
#include <string.h>

#include "bench.h"

BENCH_BUFFERS(2, 192);
BENCH_NOINIT uint16_t bench_input_len;
BENCH_NOINIT int16_t bench_status;

int main(void);

static int16_t checks;
static int16_t first_failure;

static void check(int ok) {
    checks++;
    if (!ok && first_failure == 0)
        first_failure = checks;
}

/* 16 bits without sign would become a signed int where that has 32. */
#define WIDE(type, x) _Generic((type)0, uint16_t: (unsigned)(type)(x), default: (type)(x))

#define BINARY(type, a, op, b)                                                                     \
    do {                                                                                           \
        volatile type va = (type)(a), vb = (type)(b);                                              \
        check((type)(WIDE(type, va) op WIDE(type, vb)) == (type)(WIDE(type, a) op WIDE(type, b))); \
    } while (0)
#define SHIFT(type, a, op, n)                                                                      \
    do {                                                                                           \
        volatile type va = (type)(a);                                                              \
        volatile uint16_t vn = (n);                                                                \
        check((type)(va op vn) == (type)((type)(a)op(n)));                                         \
    } while (0)

#define QUOTIENT(type, a, b)                                                                       \
    BINARY(type, a, /, b);                                                                         \
    BINARY(type, a, %, b)
#define ARITHMETIC(type, a, b)                                                                     \
    BINARY(type, a, *, b);                                                                         \
    QUOTIENT(type, a, b)
#define SHIFTS(type, a, n)                                                                         \
    SHIFT(type, a, <<, n);                                                                         \
    SHIFT(type, a, >>, n)

#ifdef __MSP430__
/* clang writes these three out, other compilers call them: so they are called by name. */
uint16_t __mspabi_slli(uint16_t a, uint16_t places);
int16_t __mspabi_srai(int16_t a, uint16_t places);
uint16_t __mspabi_srli(uint16_t a, uint16_t places);

static void named_shifts(void) {
    for (uint16_t places = 0; places < 16; places++) {
        check(__mspabi_slli(0xB5A7, places) == (uint16_t)(0xB5A7U << places));
        check(__mspabi_srli(0xB5A7, places) == 0xB5A7U >> places);
        check(__mspabi_srai(-19033, places) == (int16_t)(-19033 >> places));
    }
}

#else
static void named_shifts(void) {}
#endif

static void words(void) {
    ARITHMETIC(uint16_t, 0, 1);
    ARITHMETIC(uint16_t, 0xFFFF, 0xFFFF);
    ARITHMETIC(uint16_t, 0xFFFF, 1);
    ARITHMETIC(uint16_t, 0x8000, 0x8001);
    ARITHMETIC(uint16_t, 0xFEDC, 0x8000);
    ARITHMETIC(uint16_t, 54321, 123);
    QUOTIENT(int16_t, -32768, 3);
    QUOTIENT(int16_t, 32767, -1);
    QUOTIENT(int16_t, -12345, -67);
    QUOTIENT(int16_t, 12345, -67);
    QUOTIENT(int16_t, -5, 7);
    BINARY(int16_t, -123, *, 45);
    BINARY(int16_t, -123, *, -45);
    SHIFTS(uint16_t, 0xA5C3, 0);
    SHIFTS(uint16_t, 0xA5C3, 1);
    SHIFTS(uint16_t, 0xA5C3, 7);
    SHIFTS(uint16_t, 0xA5C3, 15);
    SHIFT(int16_t, -23456, >>, 0);
    SHIFT(int16_t, -23456, >>, 5);
    SHIFT(int16_t, -23456, >>, 15);
}

static void longs(void) {
    ARITHMETIC(uint32_t, 0, 1);
    ARITHMETIC(uint32_t, 0xFFFFFFFF, 0xFFFFFFFF);
    ARITHMETIC(uint32_t, 0xFFFFFFFF, 1);
    ARITHMETIC(uint32_t, 0x80000000, 0x80000001);
    ARITHMETIC(uint32_t, 0xFEDCBA98, 0x00010000);
    ARITHMETIC(uint32_t, 0xFEDCBA98, 0x0000FFFF);
    ARITHMETIC(uint32_t, 0x12345678, 0x9ABCDEF0);
    ARITHMETIC(uint32_t, 3000000019, 65521);
    QUOTIENT(int32_t, INT32_MIN, 3);
    QUOTIENT(int32_t, INT32_MAX, -1);
    QUOTIENT(int32_t, -123456789, -1001);
    QUOTIENT(int32_t, 123456789, -1001);
    QUOTIENT(int32_t, -5, 7);
    BINARY(int32_t, -12345, *, 6789);
    BINARY(int32_t, -12345, *, -6789);
    SHIFTS(uint32_t, 0xA5C3960F, 0);
    SHIFTS(uint32_t, 0xA5C3960F, 1);
    SHIFTS(uint32_t, 0xA5C3960F, 16);
    SHIFTS(uint32_t, 0xA5C3960F, 31);
    SHIFT(int32_t, -1234567890, >>, 0);
    SHIFT(int32_t, -1234567890, >>, 9);
    SHIFT(int32_t, -1234567890, >>, 31);
}

static void long_longs(void) {
    ARITHMETIC(uint64_t, 0, 1);
    ARITHMETIC(uint64_t, UINT64_MAX, UINT64_MAX);
    ARITHMETIC(uint64_t, UINT64_MAX, 1);
    ARITHMETIC(uint64_t, 0x8000000000000000, 0x8000000000000001);
    ARITHMETIC(uint64_t, 0xFEDCBA9876543210, 0x0000000100000000);
    ARITHMETIC(uint64_t, 0xFEDCBA9876543210, 0x00000000FFFFFFFF);
    ARITHMETIC(uint64_t, 0x0123456789ABCDEF, 0xFEDCBA9876543210);
    ARITHMETIC(uint64_t, 0xFEDCBA9876543210, 0x00010001);
    ARITHMETIC(uint64_t, 0xFEDCBA9876543210, 0x0001000100010001);
    QUOTIENT(int64_t, INT64_MIN, 3);
    QUOTIENT(int64_t, INT64_MAX, -1);
    QUOTIENT(int64_t, -1234567890123456789, -987654321);
    QUOTIENT(int64_t, 1234567890123456789, -987654321);
    QUOTIENT(int64_t, -5, 7);
    BINARY(int64_t, -123456789, *, 987654321);
    BINARY(int64_t, -123456789, *, -987654321);
    SHIFTS(uint64_t, 0xA5C3960FDEADBEEF, 0);
    SHIFTS(uint64_t, 0xA5C3960FDEADBEEF, 1);
    SHIFTS(uint64_t, 0xA5C3960FDEADBEEF, 33);
    SHIFTS(uint64_t, 0xA5C3960FDEADBEEF, 63);
    SHIFT(int64_t, -1234567890123456789, >>, 17);
}

/* xorshift of 32 bits (Marsaglia 2003, triple 13, 17, 5). */
static uint32_t random_state = 0x53554E53;

static uint32_t random32(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static void walk(void) {
    for (uint8_t i = 0; i < 32; i++) {
        uint32_t a = random32(), b = random32() >> (i & 31);
        uint16_t c = (uint16_t)a, d = (uint16_t)(b | 1);
        uint64_t e = (uint64_t)a << 32 | random32(), f = ((uint64_t)b << 16 | c) | 1;
        b |= 1;
        check((uint16_t)(c / d * d + c % d) == c && c % d < d);
        check(a / b * b + a % b == a && a % b < b);
        check(e / f * f + e % f == e && e % f < f);
        int32_t g = (int32_t)(a >> 1), h = -(int32_t)(b >> 1) - 1;
        check(g / h * h + g % h == g && -g / h * h + -g % h == -g);
        /* (x + y)^2 = x^2 + 2 x y + y^2 ties the widths to one another. */
        uint64_t x = a, y = b;
        check((x + y) * (x + y) == x * x + 2 * x * y + y * y);
        check((uint32_t)((uint64_t)a * b) == a * b);
        check((uint16_t)((uint32_t)c * d) == (uint16_t)(c * d));
    }
}

static void memory(void) {
    uint8_t *a = bench_output + 8, *b = bench_output + 72;
    /* All four alignments, odd and even lengths, none. */
    for (volatile uint16_t offset = 0; offset < 4; offset++) {
        for (volatile uint16_t n = 0; n < 20; n += 3) {
            uint16_t from = offset & 1, to = offset >> 1;
            for (uint16_t i = 0; i < 32; i++) {
                a[i] = (uint8_t)(i * 7 + 3);
                b[i] = 0xEE;
            }
            check(memcpy(b + to, a + from, n) == b + to);
            int same = 1;
            for (uint16_t i = 0; i < 32; i++) {
                uint8_t want = i < to || i >= to + n ? 0xEE : (uint8_t)((i - to + from) * 7 + 3);
                same &= b[i] == want;
            }
            check(same);
            check(memcmp(b + to, a + from, n) == 0);

            memset(b + 2, 0x5A, n);
            same = 1;
            for (uint16_t i = 2; i < 2 + n; i++)
                same &= b[i] == 0x5A;
            check(same && b[1] != 0x5A && b[2 + n] != 0x5A);

            /* Overlapping, both ways. */
            memmove(a + 3, a + from, n);
            same = 1;
            for (uint16_t i = 0; i < n; i++)
                same &= a[3 + i] == (uint8_t)((i + from) * 7 + 3);
            check(same);
            for (uint16_t i = 0; i < 32; i++)
                a[i] = (uint8_t)(i * 7 + 3);
            memmove(a + from, a + 3, n);
            same = 1;
            for (uint16_t i = 0; i < n; i++)
                same &= a[from + i] == (uint8_t)((i + 3) * 7 + 3);
            check(same);
        }
    }
    a[0] = 1;
    b[0] = 2;
    check(memcmp(a, b, 1) < 0 && memcmp(b, a, 1) > 0);
    a[0] = 0x80;
    b[0] = 0x7F;
    check(memcmp(a, b, 1) > 0);
}

int main(void) {
    bench_status = BENCH_RUNNING;
    named_shifts();
    words();
    longs();
    long_longs();
    walk();
    memory();
    bench_output[0] = (uint8_t)((uint16_t)checks >> 8);
    bench_output[1] = (uint8_t)checks;
    bench_status = first_failure;
    return 0;
}
