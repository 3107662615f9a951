/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * 256 random bits from each generator of Suslowicz 2017, table 6, nothing fed, and the raw samples
 * behind them (crypto/algorithms/random.toml).
 *
 * Those of SRAM are where the RAM holds them; a node's program wipes what it took. Those of
 * oscillators are written while the next period is waited for. In front of the marks ACLK comes
 * from the VLO, SMCLK from the DCO's 8 MHz; MCLK is the DCO where that shifts down to 4 MHz, else a
 * half of it: below 4 MHz a period of the VLO would pass while a sample is tested and folded.
 */
#include <stdbool.h>
#include <string.h>

#include "bench.h"
#include "board.h"
#include "sunseal/aes.h"
#include "sunseal/random.h"

#define SAMPLES_BYTES 5120
BENCH_BUFFERS(2, 32 + SAMPLES_BYTES);

static struct sunseal_generator generator;

/* ---- SRAM ------------------------------------------------------------------------------------ */

static struct sunseal_generator *sram(uint8_t *out) {
    static struct sunseal_sram_source source;
    source = (struct sunseal_sram_source){out + 32, SAMPLES_BYTES};
    generator = (struct sunseal_generator){
        .source = {sunseal_sram_read, &source, SUNSEAL_HEALTH_1_EIGHTH, 0, 1}};
    return &generator;
}

WORKLOAD(trng_sram_sha256_256bit) {
    return (int16_t)sunseal_generate_sha256(sram(out), out);
}

static int16_t cbc_mac(uint8_t *out, const struct sunseal_block *cipher) {
    sram(out)->cipher = cipher;
    return (int16_t)sunseal_generate_cbc_mac(&generator, out);
}

WORKLOAD(trng_sram_swaes_256bit) {
    return cbc_mac(out, &sunseal_aes128_sbox);
}
#if defined(SUNSEAL_FRAM) || defined(SUNSEAL_DEVICE_msp432p401r)
WORKLOAD(trng_sram_aes_256bit) {
    return cbc_mac(out, &sunseal_aes128_hw);
}

/* Two without health tests, to compare with a paper's that has none: memory that did not wake gives
 * a value all the same, so no node takes them. The first makes the blocks of the one above. The
 * second encrypts two blocks in all, as many as lie between the paper's two (Suslowicz 2017, tables
 * 3 and 7: 36,462 cycles more by an S-box that takes 17,618 more a block). */
#define BLOCK_BYTES 16
#define MAC_SAMPLES 1536
static const uint8_t public_key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

WORKLOAD(trng_sram_aes_untested_256bit) {
    const uint8_t *samples = out + 32;
    int status = SUNSEAL_OK;
    for (uint8_t half = 0; half < 2 && status == SUNSEAL_OK; half++) {
        status =
            sunseal_condition_cbc_mac(out, &sunseal_aes128_hw, public_key, samples, MAC_SAMPLES);
        out += BLOCK_BYTES;
        samples += MAC_SAMPLES;
    }
    return (int16_t)status;
}

WORKLOAD(trng_sram_aes_folded_256bit) {
    memset(out, 0, 32);
    for (const uint8_t *from = out + 32; from < out + 32 + SAMPLES_BYTES; from += 32) {
        for (uint8_t i = 0; i < 32; i++) {
            out[i] ^= from[i];
        }
    }
    uint8_t sealed[BLOCK_BYTES];
    int status = SUNSEAL_OK;
    for (uint8_t half = 0; half < 2 && status == SUNSEAL_OK; half++) {
        uint8_t *block = out + BLOCK_BYTES * half;
        status =
            sunseal_condition_cbc_mac(sealed, &sunseal_aes128_hw, public_key, block, BLOCK_BYTES);
        memcpy(block, sealed, BLOCK_BYTES);
    }
    return (int16_t)status;
}
#endif

static int16_t xor_folded(uint8_t *out, uint8_t fold) {
    sram(out)->fold = fold;
    return (int16_t)sunseal_generate_xor_vartime(&generator, out);
}

WORKLOAD(trng_sram_xor16cvn_256bit) {
    return xor_folded(out, 16);
}
WORKLOAD(trng_sram_xor32cvn_256bit) {
    return xor_folded(out, 32);
}

/* ---- oscillators ----------------------------------------------------------------------------- */

#if defined(SUNSEAL_FRAM)
/* sunseal_jitter_read, and a record of what it read. */
static struct {
    struct sunseal_jitter jitter;
    uint8_t *to, *end;
    uint8_t gathered, bits;
} source;

static int recorded(void *context, uint8_t *samples, size_t count) {
    (void)context;
    int status = sunseal_jitter_read(&source.jitter, samples, count);
    for (; count > 0; count--) {
        source.gathered >>= 1;
        if (*samples++ & 1) {
            source.gathered |= 0x80;
        }
        if (++source.bits == 8) {
            source.bits = 0;
            if (source.to < source.end) {
                *source.to++ = source.gathered;
            }
        }
    }
    return status;
}

/* DCO at 8 MHz: the settings below it are 7, 5.3 and 4 MHz (SLASE54, DCO). */
static int16_t clocks(uint16_t mclk_divider) {
    CSCTL0 = CSKEY;
    CSCTL1 = 6 << DCOFSEL_SHIFT;
    CSCTL2 = SELA__VLOCLK | SELS__DCOCLK | SELM__DCOCLK;
    CSCTL3 = mclk_divider;
    CSCTL0_H = 0;
    return SUNSEAL_OK;
}

static int16_t oscillators(uint8_t *out, uint8_t fold, bool shift) {
    memset(&source, 0, sizeof source);
    source.jitter.shift = shift ? fold : 0;
    source.to = out + 32;
    source.end = source.to + SAMPLES_BYTES;
    generator =
        (struct sunseal_generator){.source = {recorded, NULL, SUNSEAL_HEALTH_4_EIGHTHS, 1024, 4},
                                   .fold = fold,
                                   .low_bit = 1,
                                   .one_by_one = 1,
                                   .series = shift ? SUNSEAL_JITTER_CLOCKS : 1};
    return (int16_t)sunseal_generate_xor_vartime(&generator, out);
}

SETUP(trng_osc_clksft_256bit) {
    return clocks(0);
}
WORKLOAD(trng_osc_clksft_256bit) {
    return oscillators(out, 16, true);
}

SETUP(trng_osc_noclksft_256bit) {
    return clocks(DIVM__2);
}
WORKLOAD(trng_osc_noclksft_256bit) {
    return oscillators(out, 32, false);
}
#endif
