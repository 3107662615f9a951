/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the proofs share. Each function `prove_<what>` of a file here is one proof: CBMC runs it for
 * all values of everything that is not initialised. A file's head names the sources that it is
 * about (`sources:`) and the turns of a loop that suffice (`unwind:`; that they do is proved too).
 * tests/prove.py runs them.
 */
#ifndef SUNSEAL_PROOF_H
#define SUNSEAL_PROOF_H

#include <stddef.h>
#include <stdint.h>

void *malloc(size_t bytes);

#define ASSUME(what) __CPROVER_assume(what)
#define ASSERT(what) __CPROVER_assert(what, #what)

/* Exactly so many bytes, of any value; a byte before or behind is outside of the object. */
static inline uint8_t *buffer(size_t bytes) {
    uint8_t *p = malloc(bytes);
    ASSUME(p != NULL);
    return p;
}

/* A function that is not the proof's matter: it reads and writes what its contract lets it. */
#define READS(p, bytes) __CPROVER_assert(__CPROVER_r_ok(p, bytes), "reads inside of " #p)
#define WRITES(p, bytes)                                                                           \
    do {                                                                                           \
        __CPROVER_assert(__CPROVER_w_ok(p, bytes), "writes inside of " #p);                        \
        if ((bytes) > 0) {                                                                         \
            __CPROVER_havoc_slice(p, bytes);                                                       \
        }                                                                                          \
    } while (0)

#endif
