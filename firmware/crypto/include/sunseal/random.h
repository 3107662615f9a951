/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_RANDOM_H
#define SUNSEAL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/block.h"
#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Randomness: sources, health tests, conditioning, generator
 * ==========================================================
 *
 *   source       raw samples, one byte each: SRAM at start-up, or the period of a slow oscillator
 *                counted in periods of a fast one (Suslowicz 2017, section 4.3)
 *   health       SP 800-90B, section 4.4, on every sample
 *   condition    samples to bits (Suslowicz 2017, table 6)
 *   entropy      the three together: 32 bytes of full entropy, if the source gives what it claims
 *   generate     the same with any of these conditionings, as one call that a coupon's source can
 * be hmac_drbg    SP 800-90A, section 10.1.2, over SHA-256: any number of bytes from these
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
 * condition_cbc_mac 420 and the cipher's, entropy 500 and the source's, generate_sha256 520,
 * generate_cbc_mac 480 and the cipher's, generate_xor 140, all three and the source's, hmac_drbg
 * 580.
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
 * read fills samples and returns 0, or an error; asked for none, it ends a series: what runs
 * between reads rests until the next. eighths: assumed min-entropy of a sample, in eighths of a
 * bit; the cutoffs belong to it. startup: samples that are tested and thrown away before the first
 * use (SP 800-90B, section 4.3, wants 1024 tested ones; a source that cannot be read twice, such as
 * SRAM, tests the ones it uses).
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
 * shifting, which steps the DCO down through SUNSEAL_JITTER_CLOCKS of its settings and back (two,
 * with and without its modulator, where an FLL or an MSP430F1611's tap holds it), another after
 * each `shift` samples. The period in which it changes is no sample: where it changes is the loop's
 * doing, and would pass every health test without any jitter. context is struct sunseal_jitter, all
 * zero but for shift. The timer runs on between reads, so that what the caller does meanwhile costs
 * no period; where edges were missed, the sample is the next whole period. A read of 0 samples, and
 * any error, stops it and puts the DCO back. On the MSP430F5438A and the MSP430FR5994; others have
 * no VLO, or no timer that captures it. Interrupts of the timer stay off; ACLK must be the VLO.
 */
#define SUNSEAL_JITTER_CLOCKS 4

struct sunseal_jitter {
    uint8_t shift;             /* 0: not at all */
    uint8_t runs, step, taken; /* the source's */
    uint16_t before, dco;
};

int sunseal_jitter_read(void *context, uint8_t *samples, size_t count);

/*
 * Generators
 * ----------
 * The seven of Suslowicz 2017, table 6, are a source and one of these; read and context of a
 * struct sunseal_coupon_entropy are a function and its generator:
 *
 *   sram_sha256                  sram     generate_sha256
 *   sram_aes, sram_swaes         sram     generate_cbc_mac, cipher = sunseal_aes128_hw, _sbox
 *   sram_xor16cvn, sram_xor32cvn sram     generate_xor, fold = 16, 32
 *   osc_noclksft                 jitter   generate_xor, fold = 32, low_bit, one_by_one
 *   osc_clksft                   jitter   the same, fold = shift = 16, series = 4
 *
 * Each gives 32 bytes, or zeros and an error: of entropy above; SUNSEAL_ERR_PARAMETERS also where
 * fold or cipher (AES-128) is none of these or series too large; SUNSEAL_ERR_ENTROPY where
 * Von Neumann leaves of 2040 folded bits less than 256. Every sample is tested before it is used.
 * A generator whose source failed its tests answers SUNSEAL_ERR_HEALTH until health is zero again.
 *
 *   sha256       sunseal_entropy with the generator's source: 320 bits in by the source's claim
 *   cbc_mac      two blocks, each of samples of its own that hold 128 + 64 bits by that claim,
 * under the key of SP 800-90A, section 10.3.2 xor_vartime  as condition_xor_vartime: by its time it
 * shows which bits Von Neumann drops, and it takes as many samples as that needs. No credit but the
 * source's: 16 bytes of SRAM hold 2 bits by its claim, and give 2 on average
 *
 * low_bit: of a sample of an oscillator only the lowest bit is folded, as the others hardly move;
 * eight folded bits go to Von Neumann as a byte, the first the lowest. one_by_one: samples are read
 * singly, so that the source is waited for as little as can be. series: after fold samples comes
 * the next of so many clocks (an oscillator that shifts), and each has health tests of its own,
 * else one that stands still would hide behind the shifting; 0 is 1.
 */
struct sunseal_generator {
    struct sunseal_source source;
    struct sunseal_health health[SUNSEAL_JITTER_CLOCKS];
    const struct sunseal_block *cipher;
    uint8_t fold, low_bit, one_by_one, series;
    uint8_t turn; /* the generator's */
};

int sunseal_generate_sha256(void *generator, uint8_t entropy[32]);
int sunseal_generate_cbc_mac(void *generator, uint8_t entropy[32]);
int sunseal_generate_xor_vartime(void *generator, uint8_t entropy[32]);

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

#ifdef __cplusplus
}
#endif

#endif
