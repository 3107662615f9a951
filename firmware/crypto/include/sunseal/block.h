/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BLOCK_H
#define SUNSEAL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Block ciphers behind one interface
 * ==================================
 *
 * Every implementation of a cipher (table, bitsliced, accelerator, radio chip) is one
 * `struct sunseal_block`; the modes in ctr.h, ccm.h and cmac.h take any of them:
 *
 *   aes.h        sunseal_aes128 (the board's choice), _sbox, _tbox, _fixslice, _hw, _cc2420
 *   xtea.h       sunseal_xtea
 *   present.h    sunseal_present80, sunseal_present128, and both with _table
 *
 * A key schedule is memory of the caller's, of the type that the cipher's header gives, aligned to
 * SUNSEAL_SCHEDULE_ALIGN; wipe it with sunseal_wipe when the key is no longer needed.
 *
 * Buffers: in place (out == in) is allowed in every call that has an out and an in; buffers that
 * overlap in any other way are refused with SUNSEAL_ERR_OVERLAP. A null pointer to a buffer of
 * length 0 is allowed, any other is refused with SUNSEAL_ERR_NULL. Refused calls write nothing;
 * where an engine fails during a call, out is wiped.
 *
 * Timing: lengths are public. Whether a cipher is constant-time is said by its header.
 *
 * Stack in bytes, at most, with the return address: what the cipher's header states, and 40 more;
 * split phase 60 more.
 */

/* The largest of all schedules, for code that takes any cipher. */
#if defined(__AVR__) || defined(__MSP430__)
#define SUNSEAL_SCHEDULE_BYTES_MAX 352
#define SUNSEAL_SCHEDULE_ALIGN 2
#else
#define SUNSEAL_SCHEDULE_BYTES_MAX 512
#define SUNSEAL_SCHEDULE_ALIGN 8
#endif
#define SUNSEAL_BLOCK_BYTES_MAX 16

/* An implementation. The functions are not called directly: they check nothing. */
struct sunseal_block {
    uint8_t block_bytes;
    uint8_t key_bytes;
    uint16_t schedule_bytes;
    /* Blocks that are worked on together: a call with fewer costs as much. */
    uint8_t together;
    int (*set_key)(void *schedule, const uint8_t *key);
    int (*encrypt)(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
    /* NULL where there is none. */
    int (*decrypt)(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
    /* out = in ^ encryptions of counter, counter + 1, ..; NULL where encrypt is as good. */
    int (*ctr)(const void *schedule, uint8_t *out, const uint8_t *in, uint8_t *counter,
               size_t blocks);
};

/*
 * Electronic code book (SP 800-38A, section 6.1)
 * ----------------------------------------------
 * The raw block operation, for building other modes and for tests. Returns SUNSEAL_OK,
 * SUNSEAL_ERR_NULL, SUNSEAL_ERR_OVERLAP, SUNSEAL_ERR_LENGTH (len is no multiple of the block, or
 * key_len not the cipher's), SUNSEAL_ERR_UNSUPPORTED (a cipher that only encrypts) or what the
 * engine behind the cipher answers.
 */
int sunseal_block_set_key(const struct sunseal_block *cipher, void *schedule, const uint8_t *key,
                          size_t key_len);
int sunseal_block_encrypt(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                          const uint8_t *in, size_t len);
int sunseal_block_decrypt(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                          const uint8_t *in, size_t len);

/* The same with a key that is used once: 390 bytes (580 on Cortex-M4) more of stack. */
int sunseal_ecb_encrypt(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                        uint8_t *out, const uint8_t *in, size_t len);
int sunseal_ecb_decrypt(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                        uint8_t *out, const uint8_t *in, size_t len);

/*
 * Split phase
 * -----------
 * The interface of Rizvi et al. 2009, listing 1 (Crypt.nc): a command starts work and returns, an
 * event says that it is done; so software, an accelerator or an FPGA can stand behind the same
 * calls. What the report lacked is here: lengths are counted in bytes and checked, a second
 * command while one is pending is refused, and a session encrypts any number of messages.
 *
 *   set_key        starts loading a key; key_loaded fires when it is there
 *   encrypt_data   starts encrypting len bytes; data_encrypted fires when out is filled
 *   poll           goes on with what is pending; events fire only from here
 *   block_size, key_size
 *
 * key, in and out must stay until the event. The events may issue the next command. On an error
 * in data_encrypted, out is wiped.
 */
struct sunseal_crypt;

struct sunseal_crypt_events {
    void (*key_loaded)(struct sunseal_crypt *crypt, int error);
    void (*data_encrypted)(struct sunseal_crypt *crypt, int error);
};

/* What stands behind the interface. start_* begin (and may finish) the work and return an error
 * only where nothing was begun; step goes on with it and returns SUNSEAL_PENDING until it is done,
 * then SUNSEAL_OK or an error. */
struct sunseal_crypt_driver {
    uint8_t block_bytes;
    uint8_t key_bytes;
    int (*start_key)(void *engine, const uint8_t *key);
    int (*start_data)(void *engine, uint8_t *out, const uint8_t *in, size_t blocks);
    int (*step)(void *engine);
};

#define SUNSEAL_PENDING 1

/* Do not touch the fields. */
struct sunseal_crypt {
    const struct sunseal_crypt_driver *driver;
    void *engine;
    const struct sunseal_crypt_events *events;
    void *user; /* yours */
    uint8_t *out;
    size_t len;
    uint8_t pending;
    bool keyed;
};

void sunseal_crypt_init(struct sunseal_crypt *crypt, const struct sunseal_crypt_driver *driver,
                        void *engine, const struct sunseal_crypt_events *events);

/* Return SUNSEAL_OK (the event will fire), SUNSEAL_ERR_NULL, SUNSEAL_ERR_OVERLAP,
 * SUNSEAL_ERR_LENGTH, SUNSEAL_ERR_BUSY (something is pending), SUNSEAL_ERR_NO_KEY or what the
 * driver answers; then no event fires. */
int sunseal_crypt_set_key(struct sunseal_crypt *crypt, const uint8_t *key, size_t key_len);
int sunseal_crypt_encrypt_data(struct sunseal_crypt *crypt, uint8_t *out, size_t out_len,
                               const uint8_t *in, size_t in_len);

/* True while something is pending. */
bool sunseal_crypt_poll(struct sunseal_crypt *crypt);

uint8_t sunseal_crypt_block_size(const struct sunseal_crypt *crypt);
uint8_t sunseal_crypt_key_size(const struct sunseal_crypt *crypt);

/* Any `struct sunseal_block` as an engine: each step encrypts so many blocks as are worked on
 * together, so that a long message does not keep the node from its other tasks. */
struct sunseal_crypt_software {
    struct sunseal_crypt_driver driver;
    const struct sunseal_block *cipher;
    void *schedule;
    uint8_t *out;
    const uint8_t *in;
    size_t blocks;
};

/* Give &software->driver and software to sunseal_crypt_init. schedule belongs to the cipher. */
void sunseal_crypt_software_init(struct sunseal_crypt_software *software,
                                 const struct sunseal_block *cipher, void *schedule);

#ifdef __cplusplus
}
#endif

#endif
