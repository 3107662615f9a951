/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node's key pair: the record `node_key` in information segment B (0x1900). A node without one
 * makes it at its first start; a programmer may write one instead. Offsets in
 * docs/reference/node.md.
 */
#ifndef SUNSEAL_KEY_H
#define SUNSEAL_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "suite.h"

#define KEY_MAGIC 0x594B /* "KY" in memory order */
#define KEY_OPEN 0xFFFF
#define KEY_ENROLLED 0x0000

/* Power may go while the record is written or erased, and a word at which it went may read now so,
 * now so. So behind the record stands a log: its last word says whether the record counts. As long
 * as the key is not enrolled, each start writes down what it read, before it acts on it, twice: the
 * first of the two may fall on the doubtful word, the second cannot. */
#define KEY_LOG_WORDS 12
#define KEY_COUNTS 0x0000
#define KEY_VOID 0x00FF

/* d and q have the curve's bytes and stand at the start of their fields; the rest is zero. */
struct node_key {
    uint16_t magic;              /*   0 KEY_MAGIC */
    uint16_t curve;              /*   2 bits of the field: 160 or 256 */
    uint8_t d[32];               /*   4 */
    uint8_t q[64];               /*  36 x, y */
    uint16_t crc;                /* 100 CRC-16 (crc16.h) of bytes 0 to 99 */
    uint16_t enrolled;           /* 102 KEY_OPEN, or KEY_ENROLLED once the server has the key */
    uint16_t log[KEY_LOG_WORDS]; /* 104 KEY_COUNTS, KEY_VOID or not yet written */
};

#define KEY_CURVE (SUITE_PUBLIC_BYTES * 4)

enum key_state {
    KEY_NONE,    /* nothing, or a record that was not finished */
    KEY_READY,   /* one to sign with */
    KEY_DAMAGED, /* an enrolled one that has changed since, or one of another curve */
};

/* Once after each start. */
enum key_state key_open(void);
bool key_enrolled(void);
const uint8_t *key_private(void);
const uint8_t *key_public(void);

/* Makes a key pair from the entropy source and stores it; false if the source is not healthy. */
bool key_generate(void);
void key_set_enrolled(void);

#endif
