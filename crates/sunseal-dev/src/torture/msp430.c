/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What programs compiled by clang for the MSP430 call: its start, and the parts of the C library and of the compiler's
 * own that need no floating point. Slow and short; what is judged is the program.
 */
#include <stddef.h>
#include <stdint.h>

/* Not turned into calls of itself. */
#define PLAIN __attribute__((optnone, noinline, used))

int main();
void exit(int status);

PLAIN void body(void) {
    exit(main());
}

__attribute__((naked, section(".start"))) void _start(void) {
    __asm__("mov #0x8000, r1\n\tcall #body");
}

#define MULTIPLY(name, type) \
    PLAIN type name(type x, type y) { \
        type product = 0; \
        for (; y; y >>= 1, x += x) \
            if (y & 1) product += x; \
        return product; \
    }
MULTIPLY(__mspabi_mpyi, uint16_t)
MULTIPLY(__mspabi_mpyl, uint32_t)
MULTIPLY(mpyll, uint64_t)

/* Bit by bit; a divisor of 0 ends too. */
#define DIVIDE(type, stype, divu, remu, divi, remi) \
    PLAIN static type divu##_both(type n, type d, type *rest) { \
        type quotient = 0, r = 0; \
        for (unsigned i = 0; i < 8 * sizeof n; i++) { \
            const type carry = r >> (8 * sizeof n - 1); \
            r = r + r + (n >> (8 * sizeof n - 1)); \
            n += n; \
            quotient += quotient; \
            if (carry || r >= d) { \
                r -= d; \
                quotient++; \
            } \
        } \
        *rest = r; \
        return quotient; \
    } \
    PLAIN type divu(type n, type d) { \
        type rest; \
        return divu##_both(n, d, &rest); \
    } \
    PLAIN type remu(type n, type d) { \
        type rest; \
        divu##_both(n, d, &rest); \
        return rest; \
    } \
    PLAIN stype divi(stype n, stype d) { \
        type rest; \
        const type q = divu##_both(n < 0 ? -(type)n : (type)n, d < 0 ? -(type)d : (type)d, &rest); \
        return (stype)((n < 0) != (d < 0) ? -q : q); \
    } \
    PLAIN stype remi(stype n, stype d) { \
        type rest; \
        divu##_both(n < 0 ? -(type)n : (type)n, d < 0 ? -(type)d : (type)d, &rest); \
        return (stype)(n < 0 ? -rest : rest); \
    }
DIVIDE(uint16_t, int16_t, __mspabi_divu, __mspabi_remu, __mspabi_divi, __mspabi_remi)
DIVIDE(uint32_t, int32_t, __mspabi_divul, __mspabi_remul, __mspabi_divli, __mspabi_remli)
DIVIDE(uint64_t, int64_t, divull, remull, divlli, remlli)

/* SLAA534, 6.2: these take R8 to R11 and R12 to R15; C's second argument of 64 bits lies on the stack. */
#define LONG_LONG(name) \
    __attribute__((naked, used)) void __mspabi_##name(void) { \
        __asm__("push r15\n\tpush r14\n\tpush r13\n\tpush r12\n\t" \
                "mov r8, r12\n\tmov r9, r13\n\tmov r10, r14\n\tmov r11, r15\n\t" \
                "call #" #name "\n\tadd #8, r1\n\tret"); \
    }
LONG_LONG(mpyll)
LONG_LONG(divull)
LONG_LONG(remull)
LONG_LONG(divlli)
LONG_LONG(remlli)

#define SHIFT(name, type, step) \
    PLAIN type name(type x, int16_t by) { \
        for (; by > 0; by--) x step; \
        return x; \
    }
SHIFT(__mspabi_slli, uint16_t, += x)
SHIFT(__mspabi_srli, uint16_t, >>= 1)
SHIFT(__mspabi_srai, int16_t, >>= 1)
SHIFT(__mspabi_slll, uint32_t, += x)
SHIFT(__mspabi_srll, uint32_t, >>= 1)
SHIFT(__mspabi_sral, int32_t, >>= 1)

PLAIN void *memset(void *to, int byte, size_t bytes) {
    for (uint8_t *p = to; bytes--;) *p++ = (uint8_t)byte;
    return to;
}

PLAIN void *memmove(void *to, const void *from, size_t bytes) {
    uint8_t *p = to;
    const uint8_t *q = from;
    if (p <= q) {
        while (bytes--) *p++ = *q++;
    } else {
        while (bytes--) p[bytes] = q[bytes];
    }
    return to;
}

PLAIN void *memcpy(void *to, const void *from, size_t bytes) {
    return memmove(to, from, bytes);
}

PLAIN int memcmp(const void *a, const void *b, size_t bytes) {
    const uint8_t *p = a, *q = b;
    for (; bytes--; p++, q++)
        if (*p != *q) return *p - *q;
    return 0;
}

PLAIN size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

PLAIN int strncmp(const char *a, const char *b, size_t most) {
    for (; most--; a++, b++)
        if (*a != *b || !*a) return (uint8_t)*a - (uint8_t)*b;
    return 0;
}

PLAIN int strcmp(const char *a, const char *b) {
    return strncmp(a, b, (size_t)-1);
}

PLAIN char *strcpy(char *to, const char *from) {
    return memmove(to, from, strlen(from) + 1);
}

PLAIN char *strchr(const char *s, int c) {
    for (; *s != (char)c; s++)
        if (!*s) return 0;
    return (char *)s;
}

PLAIN void *malloc(size_t bytes) {
    static uint16_t heap[1024];
    static size_t used;
    const size_t words = (bytes + 1) / 2;
    if (words > sizeof heap / 2 - used) return 0;
    used += words;
    return heap + used - words;
}

PLAIN void *calloc(size_t count, size_t bytes) {
    void *p = malloc(count * bytes);
    return p ? memset(p, 0, count * bytes) : p;
}

PLAIN void free(void *p) {
    (void)p;
}
