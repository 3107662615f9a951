/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * CTR, CMAC, CCM and ECB over any cipher: with every length up to a block and a part, every read
 * and write lies inside of the caller's buffers, in place or not, and a refused tag leaves no
 * plaintext.
 *
 * sources: cipher/ctr.c cipher/ccm.c cipher/cmac.c cipher/block.c
 * unwind: 21
 */
#include "cipher/cipher.h"
#include "proof.h"
#include "sunseal/ccm.h"
#include "sunseal/cmac.h"
#include "sunseal/ctr.h"

#define MOST 19

static uint8_t key_schedule[16];

static int engine(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    int answer;
    READS(schedule, sizeof key_schedule);
    READS(in, 16 * blocks);
    WRITES(out, 16 * blocks);
    ASSUME(answer <= 0);
    return answer;
}

static int set_key(void *schedule, const uint8_t *key) {
    int answer;
    READS(key, 16);
    WRITES(schedule, sizeof key_schedule);
    ASSUME(answer <= 0);
    return answer;
}

static struct sunseal_block any_cipher(void) {
    struct sunseal_block cipher = {.block_bytes = 16,
                                   .key_bytes = 16,
                                   .schedule_bytes = sizeof key_schedule,
                                   .set_key = set_key,
                                   .encrypt = engine,
                                   .decrypt = engine};
    _Bool pairs;
    cipher.together = pairs ? 2 : 1;
    return cipher;
}

static size_t any_length(void) {
    size_t len;
    ASSUME(len <= MOST);
    return len;
}

void prove_ctr(void) {
    struct sunseal_block cipher = any_cipher();
    size_t first = any_length(), second = any_length();
    uint8_t *in = buffer(first + second), *out;
    _Bool in_place;
    out = in_place ? in : buffer(first + second);
    struct sunseal_ctr ctr;
    if (sunseal_ctr_init(&ctr, &cipher, key_schedule, buffer(16)) == SUNSEAL_OK &&
        sunseal_ctr_update(&ctr, out, in, first) == SUNSEAL_OK) {
        sunseal_ctr_update(&ctr, out + first, in + first, second);
    }
}

void prove_cmac(void) {
    struct sunseal_block cipher = any_cipher();
    size_t first = any_length(), second = any_length(), tag_len;
    struct sunseal_cmac cmac;
    ASSUME(tag_len <= 20);
    if (sunseal_cmac_init(&cmac, &cipher, key_schedule) == SUNSEAL_OK) {
        sunseal_cmac_update(&cmac, buffer(first), first);
        sunseal_cmac_update(&cmac, buffer(second), second);
        sunseal_cmac_final(&cmac, buffer(tag_len), tag_len);
    }
}

static struct sunseal_ccm_public any_header(void) {
    struct sunseal_ccm_public header = {.nonce_len = any_length(), .aad_len = any_length()};
    header.nonce = buffer(header.nonce_len);
    header.aad = buffer(header.aad_len);
    return header;
}

void prove_ccm_seal(void) {
    struct sunseal_block cipher = any_cipher();
    struct sunseal_ccm_public header = any_header();
    size_t len = any_length(), tag_len;
    ASSUME(tag_len <= 20);
    sunseal_ccm_seal(&cipher, key_schedule, &header, buffer(len), buffer(len), len, buffer(tag_len),
                     tag_len);
}

void prove_ccm_open(void) {
    struct sunseal_block cipher = any_cipher();
    struct sunseal_ccm_public header = any_header();
    size_t len = any_length(), tag_len, at;
    ASSUME(tag_len <= 20);
    uint8_t *out = buffer(len);
    int answer = sunseal_ccm_open(&cipher, key_schedule, &header, out, buffer(len), len,
                                  buffer(tag_len), tag_len);
    ASSUME(at < len);
    ASSERT(answer != SUNSEAL_ERR_TAG || out[at] == 0);
}

void prove_ecb(void) {
    struct sunseal_block cipher = any_cipher();
    size_t len = any_length();
    uint8_t *in = buffer(len);
    _Bool in_place;
    int answer = sunseal_block_encrypt(&cipher, key_schedule, in_place ? in : buffer(len), in, len);
    ASSERT(len % 16 == 0 || answer == SUNSEAL_ERR_LENGTH);
}
