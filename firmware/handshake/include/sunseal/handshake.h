/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_HANDSHAKE_H
#define SUNSEAL_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"
#include "sunseal/sha.h"

/*
 * Handshake with a server's certificate, the node's (server's) side
 * =================================================================
 *
 * The handshake whose server side Piotrowski 2006 prices in tables 1 and 2: hello, certificate, key
 * agreement, finished; the client is not authenticated. Bytes of each message and what keys are
 * made of: docs/reference/handshake.md.
 *
 *   begin    hold certificate and key to a suite
 *   hello    take the client's hello; give the server's, behind which the certificate is sent
 *   finish   take the client's key exchange and finished; give the server's finished and a key
 *
 * Each call takes one message whole and refuses it by name (SUNSEAL_HANDSHAKE_*), or answers what
 * the library does of a key or an argument (SUNSEAL_ERR_*). A message that is refused changes
 * nothing, but for one whose key exchange or finished is wrong: it ends the session, so that nobody
 * may guess twice; hello starts another.
 *
 * Timing: constant in key, secret and finished; whether a key exchange is well formed and whether
 * the finished is right may show. Stack in bytes, at most, with the return address, measured on an
 * MSP430F1611 and an ATmega128L:
 *
 *                   RSA-1024   secp160r1
 *   begin                 20          20
 *   hello                350         350
 *   finish               700        1380
 */

#define SUNSEAL_HANDSHAKE_RANDOM_BYTES 32
#define SUNSEAL_HANDSHAKE_SESSION_BYTES 8
#define SUNSEAL_HANDSHAKE_HELLO_BYTES 34
#define SUNSEAL_HANDSHAKE_FINISHED_BYTES 12
#define SUNSEAL_HANDSHAKE_ANSWER_BYTES 22
#define SUNSEAL_HANDSHAKE_KEY_BYTES 16
/* What of an RSA operation's randomness (rsa.h) a suite with RSA takes; ECC takes none. */
#define SUNSEAL_HANDSHAKE_BLINDING_BYTES 24

enum {
    /* The certificate is for a key of another algorithm, curve or size than the suite's. */
    SUNSEAL_HANDSHAKE_WRONG_CURVE = 1,
    /* The client asks for another suite. */
    SUNSEAL_HANDSHAKE_WRONG_SUITE = 2,
    /* The message is shorter than its kind. */
    SUNSEAL_HANDSHAKE_TRUNCATED = 3,
    /* The message is longer than its kind. */
    SUNSEAL_HANDSHAKE_TOO_LONG = 4,
    /* A message of this kind has been taken in this session. */
    SUNSEAL_HANDSHAKE_REPLAYED = 5,
    /* The message is of a kind that is not due, or of none. */
    SUNSEAL_HANDSHAKE_OUT_OF_ORDER = 6,
    /* The message belongs to another session, an earlier or a later one. */
    SUNSEAL_HANDSHAKE_WRONG_SESSION = 7,
    /* The key exchange is no point of the curve, or no ciphertext of this key. */
    SUNSEAL_HANDSHAKE_BAD_EXCHANGE = 8,
    /* The finished is not that of this session's messages and secret. */
    SUNSEAL_HANDSHAKE_BAD_FINISHED = 9
};

/* A suite: what its certificate is for, and how a secret is agreed on. Do not touch the fields. */
struct sunseal_handshake_suite {
    uint8_t number;
    uint8_t secret_bytes;
    uint16_t certificate_bytes;
    uint16_t exchange_bytes;
    int (*agree)(uint8_t *secret, const void *key, const uint8_t *exchange, const uint8_t *random);
};

/* RSA-1024: key is a struct sunseal_rsa1024_key. */
extern const struct sunseal_handshake_suite sunseal_handshake_rsa1024;
#define SUNSEAL_HANDSHAKE_RSA1024_CERTIFICATE_BYTES 265
#define SUNSEAL_HANDSHAKE_RSA1024_EXCHANGE_BYTES 150
/* secp160r1: key is d, 21 bytes. */
extern const struct sunseal_handshake_suite sunseal_handshake_secp160r1;
#define SUNSEAL_HANDSHAKE_SECP160R1_CERTIFICATE_BYTES 91
#define SUNSEAL_HANDSHAKE_SECP160R1_EXCHANGE_BYTES 62

/* A session. Certificate and key stay where they are. Do not touch the fields. */
struct sunseal_handshake {
    const struct sunseal_handshake_suite *suite;
    const uint8_t *certificate;
    const void *key;
    uint8_t state;
    uint8_t randoms[2 * SUNSEAL_HANDSHAKE_RANDOM_BYTES];
    struct sunseal_sha256 transcript;
};

/* Returns SUNSEAL_OK, SUNSEAL_ERR_NULL, SUNSEAL_HANDSHAKE_TRUNCATED, _TOO_LONG or _WRONG_CURVE. */
int sunseal_handshake_begin(struct sunseal_handshake *session,
                            const struct sunseal_handshake_suite *suite, const uint8_t *certificate,
                            size_t certificate_len, const void *key);

/*
 * random is 32 bytes of full entropy, new for each session. Also starts a new session where one
 * ended. While the client's key exchange is due, another hello is SUNSEAL_HANDSHAKE_REPLAYED: a
 * node that has waited long enough calls begin.
 */
int sunseal_handshake_hello(struct sunseal_handshake *session,
                            uint8_t answer[SUNSEAL_HANDSHAKE_HELLO_BYTES], const uint8_t *message,
                            size_t message_len, const uint8_t random[32]);

/* random is 24 bytes of full entropy, new for each call; NULL with ECC. key is the session's. */
int sunseal_handshake_finish(struct sunseal_handshake *session,
                             uint8_t answer[SUNSEAL_HANDSHAKE_ANSWER_BYTES],
                             uint8_t key[SUNSEAL_HANDSHAKE_KEY_BYTES], const uint8_t *message,
                             size_t message_len, const uint8_t random[24]);

#endif
