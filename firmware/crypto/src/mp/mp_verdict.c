/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../verdict.h"

/* The compiler knows nothing of the value any more. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

/* Arm's loads take any address. */
#if defined(__arm__) && defined(__ARM_FEATURE_UNALIGNED)
typedef uint32_t chunk;

static inline chunk at(const uint8_t *bytes) {
    chunk value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return value;
}
#else
typedef uint8_t chunk;

static inline chunk at(const uint8_t *bytes) {
    return *bytes;
}
#endif

void sunseal_verdict_begin(struct sunseal_verdict *verdict) {
    verdict->differs = 0;
    verdict->agrees = SUNSEAL_VERDICT_AGREES;
    verdict->counted = 0;
    verdict->recounted = SIZE_MAX;
}

void sunseal_verdict_add(struct sunseal_verdict *verdict, const void *a, const void *b,
                         size_t len) {
    const uint8_t *volatile kept_a = a;
    const uint8_t *volatile kept_b = b;
    const volatile size_t kept_len = len;

    const uint8_t *x = a, *y = b, *end = x + len;
    chunk differs = 0;
    for (; (size_t)(end - x) >= sizeof(chunk); x += sizeof(chunk), y += sizeof(chunk)) {
        differs = (chunk)((at(x) ^ at(y)) | differs);
    }
    while (sizeof(chunk) > 1 && x != end) {
        differs = (chunk)((*x++ ^ *y++) | differs);
    }
    verdict->differs |= differs;
    verdict->counted += (size_t)(x - kept_a);

    const uint8_t *const first = kept_a;
    /* One string beside itself agrees with everything. */
    chunk agrees = first == kept_b ? 0 : (chunk)SUNSEAL_VERDICT_AGREES;
    x = first + kept_len;
    y = kept_b + kept_len;
    while ((size_t)(x - first) >= sizeof(chunk)) {
        x -= sizeof(chunk);
        y -= sizeof(chunk);
        agrees &= (chunk) ~(at(x) ^ at(y));
    }
    while (sizeof(chunk) > 1 && x != first) {
        agrees = (chunk)(~(chunk)(*--x ^ *--y) & agrees);
    }
    verdict->agrees &= agrees;
    verdict->recounted -= kept_len;
}

/* All ones where the number is not zero. */
static inline unsigned nonzero(size_t value) {
    return (unsigned)-(int)((value | (0 - value)) >> (8 * sizeof value - 1));
}

int sunseal_verdict_refuses(const struct sunseal_verdict *verdict) {
    return (verdict->differs | (verdict->agrees ^ SUNSEAL_VERDICT_AGREES)) != 0;
}

int sunseal_verdict_end(const struct sunseal_verdict *verdict, size_t total, int error) {
    size_t wrong = verdict->differs | (verdict->counted ^ total);
#ifdef __AVR__
    /* Four registers hold both halves, and no frame's pointer finds another answer. */
    unsigned answer = nonzero(wrong) & (unsigned)error;
    OPAQUE(answer);
#else
    volatile unsigned answer = nonzero(wrong) & (unsigned)error;
#endif
    /* Every error is negative: its highest bit alone is not the answer OK either. */
    wrong =
        (verdict->agrees ^ SUNSEAL_VERDICT_AGREES) | (~verdict->recounted ^ total) | (total == 0);
    unsigned second = nonzero(wrong) & ~(UINT_MAX >> 1);
    OPAQUE(second);
    SUNSEAL_RETURN((int)(answer | second));
}

int sunseal_verdict_same(const void *a, const void *b, size_t len, int error) {
    struct sunseal_verdict verdict;
    sunseal_verdict_begin(&verdict);
    sunseal_verdict_add(&verdict, a, b, len);
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, len, error));
}
