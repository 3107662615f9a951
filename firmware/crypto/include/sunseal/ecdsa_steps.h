/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ECDSA_STEPS_H
#define SUNSEAL_ECDSA_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/ecdsa.h"
#include "sunseal/hmac.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Scalar multiplication and signature in steps
 * ============================================
 *
 * The same results as sunseal_ecdsa_<curve>_keygen and _sign, but whoever calls may stop between
 * any two steps: to answer a radio, to sleep, or because the supply fails. All that a step leaves
 * to the next lies in one structure without pointers. Copied bytewise to memory that survives and
 * back (sunseal/tasks.h), a computation goes on behind a power failure; a step that was cut short
 * is made again from the copy.
 *
 *   begin    checks and loads what is given; short
 *   step     SUNSEAL_PENDING while there is more to do, SUNSEAL_OK when finish may come
 *   finish   writes the result and wipes the structure; SUNSEAL_ERR_BUSY while there are steps left
 *            (then nothing changes)
 *
 * SUNSEAL_ERR_PARAMETERS from step and finish: the structure was never begun, or is damaged.
 * Other answers are those of sunseal/ecdsa.h.
 *
 * The structure is as secret as the private key: it holds the scalar, and for a signature the key.
 * A signature's hash and nonce are in it together, so that no nonce can meet a second hash,
 * whatever is cut and made again. Never let two copies run on with different entropy.
 *
 * Blinding: from the entropy the point gets random projective coordinates, so that a step that is
 * repeated (who controls the supply can make a node repeat one) does not repeat the values of an
 * earlier signature. The scalar itself is not masked: a mask would lie beside it, and a nonce
 * serves once.
 *
 * Constant-time as sunseal/ecdsa.h: the number of steps, and what each does, tell of no secret but
 * of nonce candidates that were thrown away.
 *
 *                                   secp160r1   P-224   P-256
 *   bytes of _scalarmul                    92     124     140
 *   bytes of _sign                        280     344     360
 *   steps of k G, at most                  28      40      44
 *   steps of a signature, at most         33+     45+     49+
 *   stack in bytes, at most               500     550     590
 *
 * +: two more for each nonce candidate that is refused, by the odds of sunseal/ecdsa.h. The whole
 * signature takes twice the stack.
 *
 * Cycles of each step: docs/reference/intermittent.md, measured.
 */

#define SUNSEAL_PENDING 1

/*
 * k G
 * ---
 * k is a big-endian scalar in [1, n-1] (else SUNSEAL_ERR_PRIVATE_KEY). q is the affine point, x and
 * y. finish is one field inversion long.
 */
struct sunseal_scalarmul_secp160r1 {
    uint32_t columns; /* left, and tables of the one under way */
    uint16_t x[10], y[10], z[10];
    uint16_t tables, flip, digits[11];
};
struct sunseal_scalarmul_p224 {
    uint32_t columns; /* left, and tables of the one under way */
    uint16_t x[14], y[14], z[14];
    uint16_t tables, flip, digits[15];
};
struct sunseal_scalarmul_p256 {
    uint32_t columns; /* left, and tables of the one under way */
    uint16_t x[16], y[16], z[16];
    uint16_t tables, flip, digits[17];
};

int sunseal_scalarmul_secp160r1_begin(struct sunseal_scalarmul_secp160r1 *s, const uint8_t k[21],
                                      const uint8_t entropy[32]);
int sunseal_scalarmul_secp160r1_step(struct sunseal_scalarmul_secp160r1 *s);
int sunseal_scalarmul_secp160r1_finish(struct sunseal_scalarmul_secp160r1 *s, uint8_t q[40]);
int sunseal_scalarmul_p224_begin(struct sunseal_scalarmul_p224 *s, const uint8_t k[28],
                                 const uint8_t entropy[32]);
int sunseal_scalarmul_p224_step(struct sunseal_scalarmul_p224 *s);
int sunseal_scalarmul_p224_finish(struct sunseal_scalarmul_p224 *s, uint8_t q[56]);
int sunseal_scalarmul_p256_begin(struct sunseal_scalarmul_p256 *s, const uint8_t k[32],
                                 const uint8_t entropy[32]);
int sunseal_scalarmul_p256_step(struct sunseal_scalarmul_p256 *s);
int sunseal_scalarmul_p256_finish(struct sunseal_scalarmul_p256 *s, uint8_t q[64]);

/*
 * Signature of a hash
 * -------------------
 * With the same key, hash and entropy the bytes of sunseal_ecdsa_<curve>_sign, and the same lengths
 * of a hash. finish is the short
 * part: s = (e + r d) / k with 1/k at hand.
 */
struct sunseal_ecdsa_secp160r1_sign {
    uint32_t phase;
    uint16_t d[12], e[12], k[12], r[12];
    union {
        struct {
            struct sunseal_hmac_sha1 hmac;
            uint8_t v[20];
            uint8_t entropy[32];
        } nonce;
        struct sunseal_scalarmul_secp160r1 point;
    } u;
};
struct sunseal_nonce_sha256 {
    struct sunseal_hmac_sha256 hmac;
    uint8_t v[32];
    uint8_t entropy[32];
};
struct sunseal_ecdsa_p224_sign {
    uint32_t phase;
    uint16_t d[14], e[14], k[14], r[14];
    union {
        struct sunseal_nonce_sha256 nonce;
        struct sunseal_scalarmul_p224 point;
    } u;
};
struct sunseal_ecdsa_p256_sign {
    uint32_t phase;
    uint16_t d[16], e[16], k[16], r[16];
    union {
        struct sunseal_nonce_sha256 nonce;
        struct sunseal_scalarmul_p256 point;
    } u;
};

int sunseal_ecdsa_secp160r1_sign_begin(struct sunseal_ecdsa_secp160r1_sign *s, const uint8_t d[21],
                                       const uint8_t *hash, size_t hash_len,
                                       const uint8_t added_entropy[32]);
int sunseal_ecdsa_secp160r1_sign_step(struct sunseal_ecdsa_secp160r1_sign *s);
int sunseal_ecdsa_secp160r1_sign_finish(struct sunseal_ecdsa_secp160r1_sign *s, uint8_t sig[42]);
int sunseal_ecdsa_p224_sign_begin(struct sunseal_ecdsa_p224_sign *s, const uint8_t d[28],
                                  const uint8_t *hash, size_t hash_len,
                                  const uint8_t added_entropy[32]);
int sunseal_ecdsa_p224_sign_step(struct sunseal_ecdsa_p224_sign *s);
int sunseal_ecdsa_p224_sign_finish(struct sunseal_ecdsa_p224_sign *s, uint8_t sig[56]);
int sunseal_ecdsa_p256_sign_begin(struct sunseal_ecdsa_p256_sign *s, const uint8_t d[32],
                                  const uint8_t *hash, size_t hash_len,
                                  const uint8_t added_entropy[32]);
int sunseal_ecdsa_p256_sign_step(struct sunseal_ecdsa_p256_sign *s);
int sunseal_ecdsa_p256_sign_finish(struct sunseal_ecdsa_p256_sign *s, uint8_t sig[64]);

/*
 * A coupon of a signature
 * -----------------------
 * With the same entropy the coupon of sunseal_ecdsa_<curve>_sign_offline. begin returns SUNSEAL_OK
 * or SUNSEAL_ERR_ENTROPY; step fills the coupon, wipes the structure and returns SUNSEAL_OK when it
 * is whole. The longest steps are the last two, an inversion each. Coordinates are not blinded: k
 * is of this coupon alone, and a step that is repeated repeats what was computed of it.
 */
struct sunseal_ecdsa_secp160r1_offline {
    uint32_t phase;
    uint16_t k[12];
    struct sunseal_scalarmul_secp160r1 point;
};
struct sunseal_ecdsa_p224_offline {
    uint32_t phase;
    uint16_t k[14];
    struct sunseal_scalarmul_p224 point;
};
struct sunseal_ecdsa_p256_offline {
    uint32_t phase;
    uint16_t k[16];
    struct sunseal_scalarmul_p256 point;
};

int sunseal_ecdsa_secp160r1_offline_begin(struct sunseal_ecdsa_secp160r1_offline *s,
                                          const uint8_t entropy[32]);
int sunseal_ecdsa_secp160r1_offline_step(struct sunseal_ecdsa_secp160r1_offline *s,
                                         struct sunseal_ecdsa_secp160r1_coupon *coupon);
int sunseal_ecdsa_p224_offline_begin(struct sunseal_ecdsa_p224_offline *s,
                                     const uint8_t entropy[32]);
int sunseal_ecdsa_p224_offline_step(struct sunseal_ecdsa_p224_offline *s,
                                    struct sunseal_ecdsa_p224_coupon *coupon);
int sunseal_ecdsa_p256_offline_begin(struct sunseal_ecdsa_p256_offline *s,
                                     const uint8_t entropy[32]);
int sunseal_ecdsa_p256_offline_step(struct sunseal_ecdsa_p256_offline *s,
                                    struct sunseal_ecdsa_p256_coupon *coupon);

#ifdef __cplusplus
}
#endif

#endif
