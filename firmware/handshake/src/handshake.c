/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/handshake.h"

#include <string.h>

#include "sunseal/hkdf.h"
#include "sunseal/hmac.h"
#include "sunseal/wipe.h"

enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, CLIENT_FINISHED = 3, SERVER_FINISHED = 4 };
/* What is due. */
enum { HELLO_DUE, EXCHANGE_DUE, DONE };

#define HEAD_BYTES 2
#define SECRET_BYTES_MAX 48
/* The session's, and that of the finished messages. */
#define KEYS_BYTES (SUNSEAL_HANDSHAKE_KEY_BYTES + 16)
#define BOUND (HEAD_BYTES + SUNSEAL_HANDSHAKE_SESSION_BYTES)

static const char LABEL[] = "sunseal handshake";
#define LABEL_BYTES (sizeof LABEL - 1)

static int length(size_t have, size_t want) {
    if (have < want)
        return SUNSEAL_HANDSHAKE_TRUNCATED;
    return have > want ? SUNSEAL_HANDSHAKE_TOO_LONG : SUNSEAL_OK;
}

int sunseal_handshake_begin(struct sunseal_handshake *session,
                            const struct sunseal_handshake_suite *suite, const uint8_t *certificate,
                            size_t certificate_len, const void *key) {
    if (session == NULL || suite == NULL || certificate == NULL || key == NULL)
        return SUNSEAL_ERR_NULL;
    if (certificate_len == 0)
        return SUNSEAL_HANDSHAKE_TRUNCATED;
    /* In front of its length: that of another curve has another. */
    if (certificate[0] != suite->number)
        return SUNSEAL_HANDSHAKE_WRONG_CURVE;
    int status = length(certificate_len, suite->certificate_bytes);
    if (status != SUNSEAL_OK)
        return status;
    sunseal_wipe(session, sizeof *session);
    session->suite = suite;
    session->certificate = certificate;
    session->key = key;
    session->state = HELLO_DUE;
    return SUNSEAL_OK;
}

int sunseal_handshake_hello(struct sunseal_handshake *session,
                            uint8_t answer[SUNSEAL_HANDSHAKE_HELLO_BYTES], const uint8_t *message,
                            size_t message_len, const uint8_t random[32]) {
    if (session == NULL || session->suite == NULL || answer == NULL || message == NULL ||
        random == NULL)
        return SUNSEAL_ERR_NULL;
    if (message_len < HEAD_BYTES)
        return SUNSEAL_HANDSHAKE_TRUNCATED;
    if (message[0] != CLIENT_HELLO)
        return SUNSEAL_HANDSHAKE_OUT_OF_ORDER;
    if (message[1] != session->suite->number)
        return SUNSEAL_HANDSHAKE_WRONG_SUITE;
    int status = length(message_len, SUNSEAL_HANDSHAKE_HELLO_BYTES);
    if (status != SUNSEAL_OK)
        return status;
    if (session->state == EXCHANGE_DUE)
        return SUNSEAL_HANDSHAKE_REPLAYED;
    /* The client's random of a session that is done is no random. */
    if (session->state == DONE &&
        memcmp(session->randoms, message + HEAD_BYTES, SUNSEAL_HANDSHAKE_RANDOM_BYTES) == 0)
        return SUNSEAL_HANDSHAKE_REPLAYED;

    memcpy(session->randoms, message + HEAD_BYTES, SUNSEAL_HANDSHAKE_RANDOM_BYTES);
    memcpy(session->randoms + SUNSEAL_HANDSHAKE_RANDOM_BYTES, random,
           SUNSEAL_HANDSHAKE_RANDOM_BYTES);
    sunseal_sha256_init(&session->transcript);
    sunseal_sha256_update(&session->transcript, message, SUNSEAL_HANDSHAKE_HELLO_BYTES);
    answer[0] = SERVER_HELLO;
    answer[1] = session->suite->number;
    memcpy(answer + HEAD_BYTES, session->randoms + SUNSEAL_HANDSHAKE_RANDOM_BYTES,
           SUNSEAL_HANDSHAKE_RANDOM_BYTES);
    sunseal_sha256_update(&session->transcript, answer, SUNSEAL_HANDSHAKE_HELLO_BYTES);
    sunseal_sha256_update(&session->transcript, session->certificate,
                          session->suite->certificate_bytes);
    session->state = EXCHANGE_DUE;
    return SUNSEAL_OK;
}

/* HMAC over side and the transcript's hash behind it, cut. */
static void finished(uint8_t out[SUNSEAL_HANDSHAKE_FINISHED_BYTES],
                     struct sunseal_hmac_sha256 *hmac, uint8_t text[1 + SUNSEAL_SHA256_BYTES],
                     uint8_t side) {
    uint8_t tag[SUNSEAL_SHA256_BYTES];
    text[0] = side;
    sunseal_hmac_sha256_begin(hmac);
    sunseal_hmac_sha256_update(hmac, text, 1 + SUNSEAL_SHA256_BYTES);
    sunseal_hmac_sha256_end(hmac, tag);
    memcpy(out, tag, SUNSEAL_HANDSHAKE_FINISHED_BYTES);
    sunseal_wipe(tag, sizeof tag);
}

static uint8_t differ(const uint8_t *a, const uint8_t *b, size_t count) {
    volatile uint8_t different = 0;
    for (size_t i = 0; i < count; i++)
        different = (uint8_t)(different | (a[i] ^ b[i]));
    return different;
}

/* Not inlined, as conclude: neither's buffers lie under the other's stack. */
__attribute__((noinline)) static int derive(const struct sunseal_handshake *session,
                                            uint8_t keys[KEYS_BYTES], const uint8_t *exchange,
                                            const uint8_t *random) {
    uint8_t secret[SECRET_BYTES_MAX];
    int status = session->suite->agree(secret, session->key, exchange, random);
    /* Extract and expand one behind the other take less stack than both in one call. */
    if (status == SUNSEAL_OK)
        status = sunseal_hkdf_sha256_extract(secret, session->randoms, sizeof session->randoms,
                                             secret, session->suite->secret_bytes);
    if (status == SUNSEAL_OK)
        status = sunseal_hkdf_sha256_expand(keys, KEYS_BYTES, secret, (const uint8_t *)LABEL,
                                            LABEL_BYTES);
    sunseal_wipe(secret, sizeof secret);
    return status;
}

/* Checks the client's finished behind the covered bytes of its message; gives the server's. */
__attribute__((noinline)) static int conclude(struct sunseal_handshake *session,
                                              uint8_t keys[KEYS_BYTES], const uint8_t *message,
                                              size_t covered_bytes, uint8_t *answer) {
    uint8_t text[1 + SUNSEAL_SHA256_BYTES], expected[SUNSEAL_HANDSHAKE_FINISHED_BYTES];
    struct sunseal_hmac_sha256 hmac;
    int status = SUNSEAL_HANDSHAKE_BAD_FINISHED;
    sunseal_sha256_update(&session->transcript, message, covered_bytes);
    sunseal_sha256_final(&session->transcript, text + 1);
    sunseal_hmac_sha256_key(&hmac, keys + SUNSEAL_HANDSHAKE_KEY_BYTES,
                            KEYS_BYTES - SUNSEAL_HANDSHAKE_KEY_BYTES);
    finished(expected, &hmac, text, CLIENT_FINISHED);
    if (!differ(expected, message + covered_bytes, sizeof expected)) {
        status = SUNSEAL_OK;
        answer[0] = SERVER_FINISHED;
        answer[1] = session->suite->number;
        memcpy(answer + HEAD_BYTES, session->randoms + SUNSEAL_HANDSHAKE_RANDOM_BYTES,
               SUNSEAL_HANDSHAKE_SESSION_BYTES);
        finished(answer + BOUND, &hmac, text, SERVER_FINISHED);
    }
    sunseal_wipe(expected, sizeof expected);
    sunseal_wipe(&hmac, sizeof hmac);
    return status;
}

/* Holds a message to what the session waits for: kind, suite, length, session. */
static int due(const struct sunseal_handshake *session, const uint8_t *message,
               size_t message_len) {
    if (message_len < HEAD_BYTES)
        return SUNSEAL_HANDSHAKE_TRUNCATED;
    if (message[0] == CLIENT_HELLO && session->state != HELLO_DUE)
        return SUNSEAL_HANDSHAKE_REPLAYED;
    if (message[0] != CLIENT_FINISHED || session->state == HELLO_DUE)
        return SUNSEAL_HANDSHAKE_OUT_OF_ORDER;
    if (message[1] != session->suite->number)
        return SUNSEAL_HANDSHAKE_WRONG_SUITE;
    int status = length(message_len, session->suite->exchange_bytes);
    if (status != SUNSEAL_OK)
        return status;
    if (memcmp(message + HEAD_BYTES, session->randoms + SUNSEAL_HANDSHAKE_RANDOM_BYTES,
               SUNSEAL_HANDSHAKE_SESSION_BYTES) != 0)
        return SUNSEAL_HANDSHAKE_WRONG_SESSION;
    return session->state == DONE ? SUNSEAL_HANDSHAKE_REPLAYED : SUNSEAL_OK;
}

int sunseal_handshake_finish(struct sunseal_handshake *session,
                             uint8_t answer[SUNSEAL_HANDSHAKE_ANSWER_BYTES],
                             uint8_t key[SUNSEAL_HANDSHAKE_KEY_BYTES], const uint8_t *message,
                             size_t message_len, const uint8_t random[24]) {
    if (session == NULL || session->suite == NULL || answer == NULL || key == NULL ||
        message == NULL)
        return SUNSEAL_ERR_NULL;
    int status = due(session, message, message_len);
    if (status != SUNSEAL_OK)
        return status;

    uint8_t keys[KEYS_BYTES];
    session->state = DONE;
    status = derive(session, keys, message + BOUND, random);
    if (status != SUNSEAL_OK) {
        status = SUNSEAL_HANDSHAKE_BAD_EXCHANGE;
    } else {
        status = conclude(session, keys, message, message_len - SUNSEAL_HANDSHAKE_FINISHED_BYTES,
                          answer);
        if (status == SUNSEAL_OK)
            memcpy(key, keys, SUNSEAL_HANDSHAKE_KEY_BYTES);
    }
    sunseal_wipe(keys, sizeof keys);
    return status;
}
