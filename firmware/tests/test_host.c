/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs cases on the host library. Each input line: operation algorithm expected input...; bytes
 * are hexadecimal, "-" is the empty string. test_host.py writes the lines from data/vectors.
 * Exit status: 0 if every case agrees, 1 if one differs, 2 if a line cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../crypto/src/ecdsa/ecdsa_internal.h"
#include "../crypto/src/field/field.h"
#include "../crypto/src/mp/mp.h"
#include "sunseal/ecdsa.h"
#include "sunseal/hmac.h"
#include "sunseal/random.h"
#include "sunseal/sha.h"

#define MAX_INPUTS 3
#define LINE_BYTES 2100000

struct bytes {
    uint8_t *data;
    size_t len;
};

static unsigned failures, passed;

static void check(const char *what, int good) {
    if (good) {
        passed++;
    } else {
        failures++;
        fprintf(stderr, "test_host: %s: wrong answer\n", what);
    }
}

static struct bytes parse(const char *text) {
    struct bytes out = {NULL, 0};
    size_t digits = strcmp(text, "-") == 0 ? 0 : strlen(text);
    out.data = malloc(digits / 2 + 1);
    for (size_t i = 0; i + 1 < digits; i += 2) {
        unsigned value;
        if (sscanf(text + i, "%2x", &value) != 1) {
            fprintf(stderr, "test_host: '%.20s' is not hexadecimal\n", text);
            exit(2);
        }
        out.data[out.len++] = (uint8_t)value;
    }
    return out;
}

static size_t digest(uint8_t *out, const char *algorithm, struct bytes message, size_t chunk) {
    struct sunseal_sha1 sha1;
    struct sunseal_sha256 sha256;
    int is_sha1 = strcmp(algorithm, "sha1") == 0;
    sunseal_sha1_init(&sha1);
    sunseal_sha256_init(&sha256);
    for (size_t at = 0; at < message.len; at += chunk) {
        size_t part = message.len - at < chunk ? message.len - at : chunk;
        if (is_sha1) {
            sunseal_sha1_update(&sha1, message.data + at, part);
        } else {
            sunseal_sha256_update(&sha256, message.data + at, part);
        }
    }
    if (is_sha1) {
        sunseal_sha1_final(&sha1, out);
        return SUNSEAL_SHA1_BYTES;
    }
    sunseal_sha256_final(&sha256, out);
    return SUNSEAL_SHA256_BYTES;
}

static size_t hmac(uint8_t *out, const char *algorithm, struct bytes key, struct bytes message) {
#define HMAC(hash_name, bytes)                                                                     \
    do {                                                                                           \
        struct sunseal_hmac_##hash_name h;                                                         \
        sunseal_hmac_##hash_name##_key(&h, key.data, key.len);                                     \
        sunseal_hmac_##hash_name##_begin(&h);                                                      \
        sunseal_##hash_name##_update(&h.hash, message.data, message.len);                          \
        sunseal_hmac_##hash_name##_end(&h, out);                                                   \
        return bytes;                                                                              \
    } while (0)
    if (strcmp(algorithm, "sha1") == 0)
        HMAC(sha1, SUNSEAL_SHA1_BYTES);
    HMAC(sha256, SUNSEAL_SHA256_BYTES);
}

static void run(const char *line, const char *operation, const char *algorithm,
                struct bytes expected, const struct bytes *in) {
    uint8_t out[192] = {0};
    size_t out_len = 0;
    int small = strcmp(algorithm, "secp160r1") == 0;
    if (strcmp(operation, "digest") == 0) {
        for (size_t chunk = 1; chunk < 200; chunk += 21) {
            out_len = digest(out, algorithm, in[0], chunk);
            check(line, out_len == expected.len && memcmp(out, expected.data, out_len) == 0);
        }
        return;
    }
    if (strcmp(operation, "hmac") == 0) {
        out_len = hmac(out, algorithm, in[0], in[1]);
    } else if (strcmp(operation, "keygen") == 0) {
        if (small) {
            sunseal_ecdsa_secp160r1_keygen(out, out + 21, in[0].data);
            out_len = 61;
        } else {
            sunseal_ecdsa_p256_keygen(out, out + 32, in[0].data);
            out_len = 96;
        }
    } else if (strcmp(operation, "sign") == 0) {
        out_len = small ? 42 : 64;
        (small ? sunseal_ecdsa_secp160r1_sign_added : sunseal_ecdsa_p256_sign_added)(
            out, in[0].data, in[1].data, in[1].len, in[2].data, in[2].len);
    } else {
        int status = (small ? sunseal_ecdsa_secp160r1_verify : sunseal_ecdsa_p256_verify)(
            in[0].data, in[1].data, in[2].data, in[2].len);
        out[0] = status == SUNSEAL_OK;
        out_len = 1;
    }
    check(line, out_len == expected.len && memcmp(out, expected.data, out_len) == 0);
}

/* Bad keys and entropies: the named code, and no output. */
static void errors(void) {
    uint8_t zero[64] = {0}, ones[64], out[96], hash[32] = {1}, sig[64] = {0}, small[40] = {1};
    memset(ones, 0xff, sizeof ones);
    memset(out, 7, sizeof out);
    check("P-256 entropy 0 is refused",
          sunseal_ecdsa_p256_keygen(out, out + 32, zero) == SUNSEAL_ERR_ENTROPY &&
              memcmp(out, zero, 64) == 0);
    check("P-256 entropy above n is refused",
          sunseal_ecdsa_p256_keygen(out, out + 32, ones) == SUNSEAL_ERR_ENTROPY);
    check("secp160r1 entropy 0 is refused",
          sunseal_ecdsa_secp160r1_keygen(out, out + 21, zero) == SUNSEAL_ERR_ENTROPY);
    memset(out, 7, sizeof out);
    check("P-256 private key above n is refused",
          sunseal_ecdsa_p256_sign(out, ones, hash, 32, zero) == SUNSEAL_ERR_PRIVATE_KEY &&
              memcmp(out, zero, 64) == 0);
    check("secp160r1 private key 0 is refused",
          sunseal_ecdsa_secp160r1_sign(out, zero, hash, 32, zero) == SUNSEAL_ERR_PRIVATE_KEY);
    memset(out, 7, sizeof out);
    check("P-256 signature over the key is refused, and nothing is written",
          sunseal_ecdsa_p256_sign(out, out + 63, hash, 32, zero) == SUNSEAL_ERR_OVERLAP &&
              out[0] == 7 && memcmp(out, out + 1, sizeof out - 1) == 0);
    check("P-256 coordinates above p are refused",
          sunseal_ecdsa_p256_verify(ones, sig, hash, 32) == SUNSEAL_ERR_PUBLIC_KEY_RANGE);
    check("secp160r1 point off the curve is refused",
          sunseal_ecdsa_secp160r1_verify(small, sig, hash, 32) == SUNSEAL_ERR_PUBLIC_KEY);
}

/* (a + b)(a - b) = a^2 - b^2 */
#define DIFFERENCE_OF_SQUARES(field, p, n)                                                         \
    do {                                                                                           \
        sunseal_##field##_add(left, a, b);                                                         \
        sunseal_##field##_sub(t, a, b);                                                            \
        sunseal_##field##_mul(left, left, t);                                                      \
        sunseal_##field##_sqr(right, a);                                                           \
        sunseal_##field##_sqr(t, b);                                                               \
        sunseal_##field##_sub(right, right, t);                                                    \
        sunseal_##field##_sub(left, left, right);                                                  \
        sunseal_mp_reduce_once(left, 0, p, t, n);                                                  \
        check(#field " (a+b)(a-b) = a^2-b^2", sunseal_mp_is_zero(left, n) != 0);                   \
    } while (0)

/* Values between p and the top of the range, where a lost carry would show. */
static void field_edges(void) {
    static const uint16_t edges[] = {0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff};
    uint16_t a[16], b[16], left[16], right[16], t[16];
    uint32_t seed = 1;
    for (int round = 0; round < 4000; round++) {
        for (int i = 0; i < 16; i++) {
            seed = seed * 1664525u + 1013904223u;
            a[i] =
                round & 1 ? edges[(seed >> 16) % 6] : (uint16_t)(round % 3 ? 0xffff : seed >> 16);
            b[i] = edges[(seed >> 24) % 6];
        }
        static const uint16_t p160[10] = {0xffff, 0x7fff, 0xffff, 0xffff, 0xffff,
                                          0xffff, 0xffff, 0xffff, 0xffff, 0xffff};
        static const uint16_t p256[16] = {
            0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0, 0, 0, 0, 0, 0, 1, 0, 0xffff, 0xffff};
        DIFFERENCE_OF_SQUARES(fe160, p160, 10);
        DIFFERENCE_OF_SQUARES(fe256, p256, 16);
    }
}

/* A noise source that goes wrong at its n-th read. */
static int reads, fails_at, stuck;

static int noise(void *context, uint8_t *samples, size_t count) {
    static uint32_t state = 1;
    (void)context;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        samples[i] = stuck ? 7 : (uint8_t)(state >> 24);
    }
    return reads++ == fails_at ? SUNSEAL_ERR_ENTROPY : SUNSEAL_OK;
}

static void entropy(void) {
    static const uint8_t zeros[32];
    struct sunseal_source source = {noise, NULL, SUNSEAL_HEALTH_4_EIGHTHS, 1024, 4};
    struct sunseal_health health = {0};
    uint8_t first[32], second[32];
    fails_at = -1;
    check("entropy", sunseal_entropy(first, &source, &health) == SUNSEAL_OK);
    int with_startup = reads;
    check("and more", sunseal_entropy(second, &source, &health) == SUNSEAL_OK);
    check("of its own", memcmp(first, second, 32) != 0);
    int without = reads - with_startup;
    check("the start-up is read once", with_startup == without + 1024 / 32);
    memset(&health, 0, sizeof health);
    reads = 0;
    fails_at = 5;
    check("a read fails in the start-up",
          sunseal_entropy(first, &source, &health) == SUNSEAL_ERR_ENTROPY &&
              memcmp(first, zeros, 32) == 0);
    reads = 0;
    fails_at = -1;
    check("which begins anew",
          sunseal_entropy(first, &source, &health) == SUNSEAL_OK && reads == with_startup);
    stuck = 1;
    check("a source that sticks", sunseal_entropy(first, &source, &health) == SUNSEAL_ERR_HEALTH &&
                                      memcmp(first, zeros, 32) == 0);
    stuck = 0;
    check("is not believed again", sunseal_entropy(first, &source, &health) == SUNSEAL_ERR_HEALTH);
    source.eighths = 0;
    check("no entropy assumed", sunseal_entropy(first, &source, &health) == SUNSEAL_ERR_PARAMETERS);
}

int main(void) {
    char *line = malloc(LINE_BYTES);
    while (fgets(line, LINE_BYTES, stdin) != NULL) {
        char *field[3 + MAX_INPUTS] = {0};
        size_t count = 0;
        for (char *token = strtok(line, " \n"); token != NULL && count < 3 + MAX_INPUTS;
             token = strtok(NULL, " \n")) {
            field[count++] = token;
        }
        if (count < 4) {
            fprintf(stderr,
                    "test_host: a line has %zu fields, needs operation algorithm expected "
                    "input...\n",
                    count);
            return 2;
        }
        struct bytes expected = parse(field[2]), in[MAX_INPUTS] = {{0}};
        for (size_t i = 3; i < count; i++) {
            in[i - 3] = parse(field[i]);
        }
        run(field[0], field[0], field[1], expected, in);
        free(expected.data);
        for (size_t i = 0; i < MAX_INPUTS; i++) {
            free(in[i].data);
        }
    }
    free(line);
    errors();
    field_edges();
    entropy();
    printf("test_host: %u checks agree, %u differ\n", passed, failures);
    return failures != 0;
}
