/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * CTR, CMAC and CCM over any cipher of 16-byte blocks: for all bytes, at lengths of text, data and
 * tag on each side of every edge (a block, two, a tag's and a nonce's limits), in one piece and in
 * two, in place or not, with a cipher that works or fails: every read and write lies inside of the
 * caller's buffers. A refused tag leaves no plaintext.
 *
 * sources: cipher/ctr.c cipher/ccm.c cipher/cmac.c cipher/block.c
 * sources: mp/mp_verdict.c
 * unwind: 300
 */
#include "cipher.h"
#include "sunseal/ccm.h"
#include "sunseal/cmac.h"
#include "sunseal/ctr.h"

static const uint8_t pieces[][2] = {{0, 1}, {15, 2}, {1, 15}, {16, 17}, {17, 15}, {33, 0}};
static const uint8_t edges[] = {0, 1, 15, 16, 17, 33};

void prove_ctr(void) {
    uint8_t a[52], b[52], c[52];
    for (uint8_t kind = 0; kind < 4; kind++) {
        struct sunseal_block cipher = cipher_of(1 + (kind & 1), kind == 3);
        for (uint8_t i = 1; i < sizeof pieces / sizeof *pieces; i += 2) {
            uint8_t first = pieces[i][0], second = pieces[i][1];
            uint8_t *in = LAST(a, first + second);
            uint8_t *out = kind == 1 ? in : LAST(b, first + second);
            struct sunseal_ctr ctr;
            sunseal_ctr_init(&ctr, &cipher, key_schedule, LAST(c, BLOCK));
            if (sunseal_ctr_update(&ctr, out, in, first) == SUNSEAL_OK) {
                sunseal_ctr_update(&ctr, out + first, in + first, second);
            }
        }
    }
}

void prove_cmac(void) {
    uint8_t a[52], b[52], c[52];
    struct sunseal_block cipher = cipher_of(1, false);
    for (uint8_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct sunseal_cmac cmac;
        sunseal_cmac_init(&cmac, &cipher, key_schedule);
        sunseal_cmac_update(&cmac, LAST(a, pieces[i][0]), pieces[i][0]);
        sunseal_cmac_update(&cmac, LAST(b, pieces[i][1]), pieces[i][1]);
        sunseal_cmac_final(&cmac, LAST(c, edges[i]), edges[i]);
    }
}

static void seal_and_open(const struct sunseal_block *cipher, size_t nonce_len, size_t aad_len,
                          size_t len, size_t tag_len) {
    uint8_t a[52], b[52], c[52], d[52], e[52], f[52];
    struct sunseal_ccm_public header = {LAST(a, nonce_len), nonce_len, LAST(b, aad_len), aad_len};
    uint8_t *text = LAST(c, len), *opened = LAST(d, len), *tag = LAST(e, tag_len);
    sunseal_ccm_seal(cipher, key_schedule, &header, text, text, len, tag, tag_len);
    uint8_t *forged = LAST(f, tag_len);
    if (sunseal_ccm_open(cipher, key_schedule, &header, opened, text, len, forged, tag_len) ==
        SUNSEAL_ERR_TAG) {
        for (size_t at = 0; at < len; at++) {
            ASSERT(opened[at] == 0);
        }
    }
}

void prove_ccm_texts(void) {
    struct sunseal_block cipher = cipher_of(1, false);
    for (uint8_t i = 0; i < sizeof edges; i++) {
        seal_and_open(&cipher, 13, 3, edges[i], 8);
    }
    cipher = cipher_of(1, true);
    seal_and_open(&cipher, 13, 3, 33, 8);
}

void prove_ccm_limits(void) {
    static const uint8_t data[] = {0, 13, 14, 15, 30, 31}, tags[] = {0, 2, 4, 5, 16, 18},
                         nonces[] = {0, 6, 7, 12, 13, 14};
    struct sunseal_block cipher = cipher_of(1, false);
    for (uint8_t i = 0; i < sizeof data; i++) {
        seal_and_open(&cipher, 13, data[i], 1, 16);
        seal_and_open(&cipher, 13, 1, 1, tags[i]);
        seal_and_open(&cipher, nonces[i], 1, 1, 4);
    }
}
