/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_VERDICT_H
#define SUNSEAL_VERDICT_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

/*
 * Whether bytes are the right ones, told so that no single fault (an instruction skipped, a branch
 * that goes the other way, two registers that become zero) makes wrong ones pass:
 *
 *   begin    nothing has been compared, which is no success
 *   add      compare two strings, forwards and again backwards from pointers kept in memory: what
 *            differs, what agrees, and how many bytes each pass has seen
 *   refuses  whether they differ: what to do about it, not what to answer
 *   end      SUNSEAL_OK or the error, of both passes; it is the last thing that a function calls
 *   same     all of it for two strings
 *
 * docs/reference/faults.md says what was disturbed, how often, and what is not covered.
 */
#ifdef __arm__
typedef uint32_t sunseal_verdict_bits;
#else
typedef uint8_t sunseal_verdict_bits;
#endif
#define SUNSEAL_VERDICT_AGREES ((sunseal_verdict_bits) ~(sunseal_verdict_bits)0)

struct sunseal_verdict {
    volatile sunseal_verdict_bits differs,
        agrees;                         /* 0 and all ones, where the bytes are the same */
    volatile size_t counted, recounted; /* bytes, and the complement of as many */
};

void sunseal_verdict_begin(struct sunseal_verdict *verdict);
/* No branch, address or count of cycles depends on the bytes. The lengths are the same number. */
void sunseal_verdict_add(struct sunseal_verdict *verdict, const void *a, const void *b, size_t len);
int sunseal_verdict_refuses(const struct sunseal_verdict *verdict);
int sunseal_verdict_end(const struct sunseal_verdict *verdict, size_t total, int error);
int sunseal_verdict_same(const void *a, const void *b, size_t len, int error);

/* Return of a function that ends in a verdict: after it lies a loop, so that a return that is
 * passed over does not run into the next function. On Arm a function's constants may lie between
 * the two; there the loop is where a branch would go that is never taken. */
#if defined(__arm__)
#define SUNSEAL_RETURN(answer)                                                                     \
    do {                                                                                           \
        int answered = (answer), never;                                                            \
        __asm__ volatile("mov %0, #0" : "=r"(never));                                              \
        if (__builtin_expect(never, 0)) {                                                          \
            for (;;) {                                                                             \
                __asm__ volatile("");                                                              \
            }                                                                                      \
        }                                                                                          \
        return answered;                                                                           \
    } while (0)
#elif defined(__AVR__) || defined(__MSP430__)
#ifdef __AVR__
#define SUNSEAL_LOOP "rjmp 1b"
#else
#define SUNSEAL_LOOP "jmp 1b"
#endif
#define SUNSEAL_RETURN(answer)                                                                     \
    do {                                                                                           \
        int answered = (answer);                                                                   \
        __asm__ volatile(".subsection 1\n1:\t" SUNSEAL_LOOP "\n\t.subsection 0" : "+r"(answered)); \
        return answered;                                                                           \
    } while (0)
#else
#define SUNSEAL_RETURN(answer) return (answer)
#endif

/* An error on its way out: never SUNSEAL_OK, though a fault led here. */
static inline int sunseal_refused(int error) {
    __asm__("" : "+r"(error));
    return error < 0 ? error : SUNSEAL_ERR_FAULT;
}

#endif
