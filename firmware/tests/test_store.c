/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One-time keys and a store that fails: power cuts at every byte that is written, writes and reads
 * that report an error, bytes that do not stay, records that go bad. No index may serve twice.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "sunseal/lms.h"

#define N 24
#define P 26
#define W 8
#define H 5
#define LEAVES (1 << H)
#define SIGNATURE SUNSEAL_LMS_SIGNATURE_BYTES(N, P, H)
#define STORE SUNSEAL_LMS_STORE_BYTES(N, H)
#define CHAINS SUNSEAL_LMS_CHAINS_BYTES(N, P, W, 6)

static uint8_t memory[STORE];
static jmp_buf reboot;
/* Bytes that power is left for; negative for ever. */
static long fuel;
static int write_fails, read_fails, bits_stuck;
static uint8_t torn;

static unsigned failures, passed;

static void check(const char *what, int good) {
    passed += good != 0;
    if (!good) {
        failures++;
        fprintf(stderr, "test_store: %s\n", what);
    }
}

static int store_read(void *context, uint32_t offset, uint8_t *bytes, size_t count) {
    (void)context;
    if (offset > STORE || count > STORE - offset) {
        check("read outside the store", 0);
        return -1;
    }
    memcpy(bytes, memory + offset, count);
    return read_fails;
}

/* Power goes in the middle of a byte: what it holds then is anything. */
static int store_write(void *context, uint32_t offset, const uint8_t *bytes, size_t count) {
    (void)context;
    if (offset > STORE || count > STORE - offset) {
        check("written outside the store", 0);
        return -1;
    }
    if (write_fails) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (fuel == 0) {
            memory[offset + i] = torn;
            longjmp(reboot, 1);
        }
        fuel -= fuel > 0;
        memory[offset + i] = (uint8_t)(bytes[i] & ~bits_stuck);
    }
    return 0;
}

static const struct sunseal_store store = {store_read, store_write, NULL};
static struct sunseal_lms_key key = {
    SUNSEAL_LMS_SHA256_M24_H5, SUNSEAL_LMOTS_SHA256_N24_W8, {1, 2, 3}, {4, 5, 6}};
static uint8_t public_key[SUNSEAL_LMS_PUBLIC_BYTES(N)], signature[SIGNATURE];
static const uint8_t zeros[SIGNATURE];
/* What each index has signed: 0 nothing. */
static uint8_t signed_by[LEAVES];

static uint32_t index_of(const uint8_t *sig) {
    return (uint32_t)sig[0] << 24 | (uint32_t)sig[1] << 16 | (uint32_t)sig[2] << 8 | sig[3];
}

/* Sign the message that consists of one byte; remember what left. */
static int sign(uint8_t message, struct sunseal_lms_chains *chains) {
    int status = sunseal_lms_sign(signature, SIGNATURE, &key, &store, chains, &message, 1, NULL);
    if (status == SUNSEAL_OK) {
        uint32_t q = index_of(signature);
        check("the index is one of the tree", q < LEAVES);
        check("no index serves twice", signed_by[q] == 0);
        signed_by[q] = message;
        check("the signature is right", sunseal_lms_verify(public_key, sizeof public_key, signature,
                                                           SIGNATURE, &message, 1) == SUNSEAL_OK);
    } else {
        check("no signature with an error", memcmp(signature, zeros, SIGNATURE) == 0);
    }
    return status;
}

static uint8_t fresh[STORE], fresh_public[SUNSEAL_LMS_PUBLIC_BYTES(N)];

static void restart(void) {
    memcpy(memory, fresh, STORE);
    memcpy(public_key, fresh_public, sizeof public_key);
    memset(signed_by, 0, sizeof signed_by);
    fuel = -1;
    write_fails = read_fails = bits_stuck = 0;
}

/* A new tree, its generation cut at every 37th byte and resumed at the leaf where it was. */
static void generation(void) {
    memset(memory, 0xff, STORE);
    static volatile uint32_t q;
    static volatile unsigned cuts;
    for (q = 0; q < LEAVES;) {
        fuel = cuts % 2 ? -1 : 37;
        torn = (uint8_t)(cuts * 89);
        if (setjmp(reboot) != 0) {
            cuts++;
            continue;
        }
        check("a leaf", sunseal_lms_keygen_leaf(&key, &store, q) == SUNSEAL_OK);
        q++;
        cuts++;
    }
    fuel = -1;
    check("no index before the end", sunseal_lms_sign(signature, SIGNATURE, &key, &store, NULL, "x",
                                                      1, NULL) == SUNSEAL_ERR_STORE);
    check("the key", sunseal_lms_keygen_finish(public_key, &key, &store) == SUNSEAL_OK);
    memcpy(fresh, memory, STORE);
    memcpy(fresh_public, public_key, sizeof public_key);
    memset(memory, 0xff, STORE);
    check("the same in one go", sunseal_lms_keygen(public_key, &key, &store) == SUNSEAL_OK &&
                                    memcmp(memory, fresh, STORE) == 0 &&
                                    memcmp(public_key, fresh_public, sizeof public_key) == 0);
    sign(1, NULL);
    check("a store in use is not begun anew",
          sunseal_lms_keygen_finish(public_key, &key, &store) == SUNSEAL_ERR_INDEX_USED &&
              memcmp(public_key, zeros, sizeof public_key) == 0);
}

/* Power goes at byte `at` of each second signature. */
static void cuts(void) {
    static volatile int at, seed, message;
    for (at = 0; at <= SUNSEAL_INDEX_BYTES; at++) {
        for (seed = 0; seed < 3; seed++) {
            restart();
            torn = (uint8_t[]){0x00, 0xff, 0x5a}[seed];
            for (message = 1; message <= 10; message++) {
                fuel = message % 2 ? -1 : at;
                if (setjmp(reboot) == 0) {
                    sign((uint8_t)message, NULL);
                } else {
                    check("cut where it was to be", message % 2 == 0);
                }
            }
            fuel = -1;
            uint32_t next;
            check("the store is readable after any cut",
                  sunseal_index_next(&next, &store, key.identifier) == SUNSEAL_OK && next >= 5 &&
                      next <= 10);
        }
    }
}

/* Two cuts, one behind the other, at any two bytes: what is left still knows what was signed. */
static void cuts_in_a_row(void) {
    static volatile int first, second, turn;
    for (first = 0; first < SUNSEAL_INDEX_BYTES; first++) {
        for (second = 0; second < SUNSEAL_INDEX_BYTES; second += 3) {
            restart();
            check("one", sign(1, NULL) == SUNSEAL_OK);
            torn = 0x5a;
            for (turn = 0; turn < 2; turn++) {
                fuel = turn == 0 ? first : second;
                if (setjmp(reboot) == 0) {
                    sign((uint8_t)(2 + turn), NULL);
                    check("the cut comes", 0);
                }
            }
            fuel = -1;
            check("a key that has signed is not begun anew",
                  sunseal_lms_keygen_finish(public_key, &key, &store) == SUNSEAL_ERR_INDEX_USED);
            memcpy(public_key, fresh_public, sizeof public_key);
            check("on after two cuts", sign(4, NULL) == SUNSEAL_OK);
        }
    }
}

/* The opening of the index is cut: it is done again. */
static void cut_at_the_end_of_generation(void) {
    static volatile int at;
    for (at = 0; at < SUNSEAL_INDEX_BYTES; at++) {
        restart();
        memset(memory, 0xff, SUNSEAL_INDEX_BYTES);
        fuel = at;
        if (setjmp(reboot) == 0) {
            sunseal_lms_keygen_finish(public_key, &key, &store);
            check("the cut comes", 0);
        }
        fuel = -1;
        check("the key all the same",
              sunseal_lms_keygen_finish(public_key, &key, &store) == SUNSEAL_OK &&
                  memcmp(public_key, fresh_public, sizeof public_key) == 0);
        check("and a signature", sign(1, NULL) == SUNSEAL_OK);
    }
}

/* Chains computed ahead for an index are of no other, and of no other key. */
static void ahead(void) {
    static uint8_t nodes[CHAINS];
    static const uint8_t wiped[CHAINS];
    struct sunseal_lms_chains chains = {.nodes = nodes, .nodes_len = CHAINS, .log2_every = 6};
    restart();
    check("chains", sunseal_lms_chains_fill(&chains, &key, &store) == SUNSEAL_OK);
    check("signed with them", sign(1, &chains) == SUNSEAL_OK && !chains.filled);
    check("and they are gone", memcmp(nodes, wiped, CHAINS) == 0);
    check("signed without", sign(2, &chains) == SUNSEAL_OK);
    check("chains again", sunseal_lms_chains_fill(&chains, &key, &store) == SUNSEAL_OK);
    check("signed past them", sign(3, NULL) == SUNSEAL_OK);
    check("old chains are not used", sign(4, &chains) == SUNSEAL_OK && chains.filled);
    restart();
    check("chains of one key", sunseal_lms_chains_fill(&chains, &key, &store) == SUNSEAL_OK);
    chains.identifier[15] ^= 1;
    check("are not another's", sign(5, &chains) == SUNSEAL_OK && chains.filled);
    chains.log2_every = W + 1;
    check("too far apart",
          sunseal_lms_chains_fill(&chains, &key, &store) == SUNSEAL_ERR_PARAMETERS);
}

static void failing(void) {
    restart();
    check("one", sign(1, NULL) == SUNSEAL_OK);
    write_fails = 1;
    check("a write fails", sign(2, NULL) == SUNSEAL_ERR_STORE);
    write_fails = 0;
    read_fails = -1;
    check("a read fails", sign(3, NULL) == SUNSEAL_ERR_STORE);
    read_fails = 0;
    bits_stuck = 2;
    check("bits do not stay", sign(4, NULL) == SUNSEAL_ERR_STORE);
    bits_stuck = 0;
    check("it goes on", sign(5, NULL) == SUNSEAL_OK);
    /* Either record alone goes bad: the other knows as much. */
    for (int place = 0; place < SUNSEAL_INDEX_BYTES; place++) {
        restart();
        for (uint8_t message = 1; message < 4; message++) {
            check("three", sign(message, NULL) == SUNSEAL_OK);
        }
        memory[place] ^= 0x10;
        check("on after a bad record", sign(4, NULL) == SUNSEAL_OK);
    }
    memory[0] ^= 1;
    memory[SUNSEAL_INDEX_BYTES / 2] ^= 1;
    check("no record, no signature", sign(9, NULL) == SUNSEAL_ERR_STORE);
    restart();
    key.identifier[0] ^= 1;
    check("another key's store", sign(1, NULL) == SUNSEAL_ERR_STORE);
    key.identifier[0] ^= 1;
    for (unsigned message = 1; message <= LEAVES; message++) {
        check("all of them", sign((uint8_t)message, NULL) == SUNSEAL_OK);
    }
    check("none is left", sign(200, NULL) == SUNSEAL_ERR_EXHAUSTED);
    restart();
    check("signature too short", sunseal_lms_sign(signature, SIGNATURE - 1, &key, &store, NULL, "x",
                                                  1, NULL) == SUNSEAL_ERR_LENGTH);
    key.lms_type = SUNSEAL_LMS_SHA256_M32_H5;
    check("types that do not fit", sign(1, NULL) == SUNSEAL_ERR_PARAMETERS);
    key.lms_type = SUNSEAL_LMS_SHA256_M24_H5;
}

/* Winternitz and Lamport-Diffie keys with an index of the caller's. */
static void one_time(void) {
    static uint8_t sig[SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES];
    struct sunseal_ots_sha256_key one = {{9, 8, 7}, {1}};
    struct sunseal_lamport_sha256 lamport;
    uint8_t hash[32] = {3}, other[32] = {4}, wots[32], value[32];
    restart();
    memset(memory, 0, SUNSEAL_INDEX_BYTES);
    check("no record yet",
          sunseal_wots_sha256_sign(sig, &one, &store, 0, hash) == SUNSEAL_ERR_STORE);
    check("created", sunseal_index_create(&store, one.identifier) == SUNSEAL_OK);
    sunseal_wots_sha256_public_key(wots, &one, 3);
    check("signed", sunseal_wots_sha256_sign(sig, &one, &store, 3, hash) == SUNSEAL_OK &&
                        sunseal_wots_sha256_verify(wots, sig, hash) == SUNSEAL_OK);
    check("another hash", sunseal_wots_sha256_verify(wots, sig, other) == SUNSEAL_ERR_SIGNATURE);
    for (uint32_t index = 0; index <= 3; index++) {
        check("used, or passed by",
              sunseal_wots_sha256_sign(sig, &one, &store, index, other) == SUNSEAL_ERR_INDEX_USED &&
                  memcmp(sig, zeros, SIGNATURE) == 0);
    }
    check("used for the other scheme too",
          sunseal_lamport_sha256_begin(&lamport, &one, &store, 3, other) == SUNSEAL_ERR_INDEX_USED);
    check("nothing comes of it",
          sunseal_lamport_sha256_next(value, &lamport) == SUNSEAL_ERR_INDEX_USED &&
              memcmp(value, zeros, 32) == 0);
    check("the last index",
          sunseal_wots_sha256_sign(sig, &one, &store, UINT32_MAX, hash) == SUNSEAL_ERR_EXHAUSTED);
}

int main(void) {
    generation();
    cuts();
    cuts_in_a_row();
    cut_at_the_end_of_generation();
    ahead();
    failing();
    one_time();
    printf("test_store: %u checks agree, %u differ\n", passed, failures);
    return failures != 0;
}
