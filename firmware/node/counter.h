/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node's monotonic counter in information flash (AVR: EEPROM), segments C and D.
 *
 * A segment holds a base (written as base and complement) and 60 words. A burnt
 * number is one word of them written to zero; the counter stands at base plus the
 * number of words that are no longer erased. A full segment is followed by the
 * other one, whose base is the number reached. Power may go at any write or
 * erase:
 *
 *   word half written     not 0xFFFF: burnt. 0xFFFF still: not burnt, and not
 *                         used yet either, since a number is burnt before use.
 *                         It may also read now so, now so: counter_open burns
 *                         one number, so that a doubtful word is never the last.
 *   base half written     base and complement disagree: the segment does not
 *                         count, the old one still does, full as it is. They may
 *                         also agree now and not later: counter_open writes a
 *                         segment anew that has no number burnt yet.
 *   erase half done       only the older segment is ever erased, always just
 *                         before its base is written; the newer has the higher
 *                         base and wins. An erase only sets bits, and of a base
 *                         and its complement no bit can be set without both
 *                         being 1: half erased is never a base.
 *
 * Flash that no longer takes what is written gives no number either: each burnt word is read back
 * and passed over if it is still erased, and nothing is burnt in a segment without a base.
 *
 * 60 numbers an erase and two segments: the 10,000 erases that the data sheet
 * guarantees (SLAS655, flash memory) last for 1.2 million numbers.
 */
#ifndef SUNSEAL_COUNTER_H
#define SUNSEAL_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTER_MAX UINT32_C(0xFFFFFFFF)

/* Whether no number can have been burnt: a new device, or one whose counter_create was cut short.
 */
bool counter_unused(void);

/* Starts the log and burns number 1. */
void counter_create(void);

/* Reads the log and burns one number; false if no segment holds a base. Call it,
 * or counter_create, once after each start. */
bool counter_open(void);

/* The last number burnt. */
uint32_t counter_now(void);

/* Burns the next number and returns it; 0 when there is none left, or the flash is worn out. */
uint32_t counter_burn(void);

#endif
