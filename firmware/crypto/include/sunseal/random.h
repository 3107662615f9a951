/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_RANDOM_H
#define SUNSEAL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/block.h"
#include "sunseal/error.h"

/*
 * Randomness: sources, health tests, conditioning, generator
 * ==========================================================
 *
 *   source       raw samples, one byte each: SRAM at start-up, or the period of a slow oscillator
 *                counted in periods of a fast one (Suslowicz 2017, section 4.3)
 *   health       SP 800-90B, section 4.4, on every sample
 *   condition    samples to bits (Suslowicz 2017, table 6)
 *   entropy      the three together: 32 bytes of full entropy, if the source gives what it claims
 *   hmac_drbg    SP 800-90A, section 10.1.2, over SHA-256: any number of bytes from these
 *
 * How much entropy a sample holds is an assumption about silicon that this library cannot check;
 * each source states it. The health tests only notice a source that breaks down.
 *
 * Every call returns SUNSEAL_ERR_NULL where a structure, a function of one, or a buffer with bytes
 * in it is missing, and SUNSEAL_ERR_OVERLAP where an output or a generator shares bytes with
 * another argument (condition_sha256's may); then nothing is written.
 *
 * Timing: constant-time in the data but where _vartime says otherwise.
 *
 * Stack in bytes, at most, with the return address: condition_sha256 440, condition_xor 70,
 * condition_cbc_mac 420 and the cipher's, entropy 500 and the source's, hmac_drbg 580.
 */

/*
 * Health tests
 * ------------
 * Cutoffs are those of SP 800-90B, sections 4.4.1 and 4.4.2, for false alarms of 2^-20 and a window
 * of 512 samples; SUNSEAL_HEALTH_* hold them for some assumed min-entropies of a sample, in eighths
 * of a bit. sample returns SUNSEAL_OK, or SUNSEAL_ERR_HEALTH from the failure on until init.
 */
#define SUNSEAL_HEALTH_WINDOW 512
/* 1/8, 1/2 and 1 bit a sample */
#define SUNSEAL_HEALTH_1_EIGHTH 161, 497
#define SUNSEAL_HEALTH_4_EIGHTHS 41, 410
#define SUNSEAL_HEALTH_8_EIGHTHS 21, 311

struct sunseal_health {
    uint16_t repetition_cutoff, proportion_cutoff;
    uint16_t repeated, seen, matches;
    uint8_t last, first, failed;
    uint8_t started; /* sunseal_entropy's: the start-up samples have passed */
};

int sunseal_health_init(struct sunseal_health *health, uint16_t repetition_cutoff,
                        uint16_t proportion_cutoff);
int sunseal_health_sample(struct sunseal_health *health, uint8_t sample);

/*
 * Conditioning
 * ------------
 * sha256: the hash of the samples (vetted, SP 800-90B, section 3.1.5.1).
 *
 * cbc_mac: CBC-MAC under a key that need not be secret (vetted, the same section, after ISO/IEC
 * 9797-1; fixed length only). samples_len is a multiple of the cipher's block, else
 * SUNSEAL_ERR_LENGTH; out is one block. Returns also what the cipher returns.
 *
 * xor: fold bytes (16 or 32, else SUNSEAL_ERR_PARAMETERS) become one by XOR, and of each two bits
 * of it, from the lowest on, 01 and 10 become 0 and 1, 00 and 11 nothing (Von Neumann). Returns
 * SUNSEAL_ERR_ENTROPY, and zeros, if out is not full at the end of the samples. Which pairs are
 * dropped shows in its time, what the others become does not. It is not vetted: the credit is the
 * source's, and no more than SP 800-90B, section 3.1.5.2, allows.
 */
int sunseal_condition_sha256(uint8_t out[32], const uint8_t *samples, size_t samples_len);
int sunseal_condition_cbc_mac(uint8_t *out, const struct sunseal_block *cipher, const uint8_t *key,
                              const uint8_t *samples, size_t samples_len);
int sunseal_condition_xor_vartime(uint8_t *out, size_t out_len, const uint8_t *samples,
                                  size_t samples_len, uint8_t fold);

/*
 * Sources
 * -------
 * read fills samples and returns 0, or an error. eighths: assumed min-entropy of a sample, in
 * eighths of a bit; the cutoffs belong to it. startup: samples that are tested and thrown away
 * before the first use (SP 800-90B, section 4.3, wants 1024 tested ones; a source that cannot be
 * read twice, such as SRAM, tests the ones it uses).
 *
 * entropy hashes as many samples as hold 256 + 64 bits by that assumption (SP 800-90C's margin for
 * full entropy behind a vetted function). health is all zero before the first call, which begins
 * with the start-up samples; where read fails among them, the next call begins with them again.
 * Returns SUNSEAL_OK; or SUNSEAL_ERR_HEALTH (until health is zero again, and the source a new one),
 * SUNSEAL_ERR_PARAMETERS (eighths is 0) or what read returned, and zeros.
 */
struct sunseal_source {
    int (*read)(void *context, uint8_t *samples, size_t count);
    void *context;
    uint16_t repetition_cutoff, proportion_cutoff;
    uint16_t startup;
    uint8_t eighths;
};

int sunseal_entropy(uint8_t entropy[32], const struct sunseal_source *source,
                    struct sunseal_health *health);

/*
 * SRAM at start-up: bytes that no one has written since power came, each read once. Assumed: 1/8
 * bit a byte, below the 2 to 3 % of noisy cells that SRAM of this kind is reported with (Holcomb
 * 2009: 5 % of the bits of an MSP430F1232); no silicon was at hand. Runs dry with
 * SUNSEAL_ERR_ENTROPY. After a reset that kept the supply the bytes are not fresh: use it after a
 * power-on only.
 */
struct sunseal_sram_source {
    const uint8_t *next;
    uint16_t left;
};

int sunseal_sram_read(void *context, uint8_t *samples, size_t count);

/*
 * VLO against DCO: the low byte of a period of the VLO counted in periods of SMCLK, which the
 * caller has put on the DCO (after SLAA338). Assumed: 1/2 bit a sample without shifting, where a
 * period of 0.1 % jitter (assumed) is counted in 850 periods or more; no more is credited with
 * shifting, which changes the DCO's tap between two samples, and by it the phase. context is
 * struct sunseal_jitter. On the MSP430F5438A and the MSP430FR5994; others have no VLO, or no timer
 * that captures it. Interrupts of the timer stay off; ACLK must be the VLO.
 */
struct sunseal_jitter {
    uint8_t shift;
};

int sunseal_jitter_read(void *context, uint8_t *samples, size_t count);

/*
 * HMAC-DRBG
 * ---------
 * instantiate: entropy_len of at least 32 bytes of full entropy and a nonce of 16 (or 48 bytes of
 * entropy and no nonce, SP 800-90A, section 8.6.7), else SUNSEAL_ERR_LENGTH; reseed: at least 32.
 * generate: up to SUNSEAL_DRBG_MAX_BYTES a call; returns SUNSEAL_ERR_LENGTH above, or
 * SUNSEAL_ERR_NOT_SEEDED (zeros) where there is no seed or SUNSEAL_DRBG_MAX_REQUESTS calls have
 * been served since. The structure is a secret; wipe it at the end.
 */
#define SUNSEAL_DRBG_MAX_BYTES 4096
#define SUNSEAL_DRBG_MAX_REQUESTS 65536

struct sunseal_hmac_drbg {
    uint8_t key[32], value[32];
    uint32_t requests; /* since the seed, and 1; 0 without one */
};

int sunseal_hmac_drbg_instantiate(struct sunseal_hmac_drbg *drbg, const uint8_t *entropy,
                                  size_t entropy_len, const uint8_t *nonce, size_t nonce_len,
                                  const uint8_t *personalization, size_t personalization_len);
int sunseal_hmac_drbg_reseed(struct sunseal_hmac_drbg *drbg, const uint8_t *entropy,
                             size_t entropy_len, const uint8_t *additional, size_t additional_len);
int sunseal_hmac_drbg_generate(struct sunseal_hmac_drbg *drbg, uint8_t *out, size_t out_len,
                               const uint8_t *additional, size_t additional_len);

#endif
