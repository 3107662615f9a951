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

#define ASSUME(what) __CPROVER_assume(what)
#define ASSERT(what) __CPROVER_assert(what, #what)

/* The last so many bytes of an array of any content: one behind them is outside. */
#define LAST(array, bytes) ((array) + sizeof(array) - (bytes))

/* A function that is not the proof's matter touches what its contract lets it; what it writes is
 * anything already. */
#define READS(p, bytes) __CPROVER_assert(__CPROVER_r_ok(p, bytes), "reads inside of " #p)
#define MAY_WRITE(p, bytes) __CPROVER_assert(__CPROVER_w_ok(p, bytes), "writes inside of " #p)

#endif
