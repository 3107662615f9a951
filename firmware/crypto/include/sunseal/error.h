/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ERROR_H
#define SUNSEAL_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a call of this library may answer. 0 is success. Arguments that are refused before any work
 * (_NULL, _OVERLAP, lengths, parameters) leave every buffer as it was; behind any other answer
 * every output of the call is zero.
 */
enum {
    SUNSEAL_OK = 0,
    /* The signature does not belong to this key and hash. */
    SUNSEAL_ERR_SIGNATURE = -1,
    /* The private key is not in [1, n-1]. */
    SUNSEAL_ERR_PRIVATE_KEY = -2,
    /* The public key is not on the curve. */
    SUNSEAL_ERR_PUBLIC_KEY = -3,
    /* The entropy gave no key in [1, n-1]: call again with fresh entropy (odds below 2^-31). */
    SUNSEAL_ERR_ENTROPY = -4,
    /* The tag is not that of this key and message. */
    SUNSEAL_ERR_TAG = -5,
    /* The tag has a length that the function does not take: cut too short, or too long. */
    SUNSEAL_ERR_TAG_LENGTH = -6,
    /* A length that the function does not take. */
    SUNSEAL_ERR_LENGTH = -7,
    /* r or s of the signature is not in [1, n-1]. */
    SUNSEAL_ERR_SIGNATURE_RANGE = -20,
    /* A coordinate of the public key is not below p. */
    SUNSEAL_ERR_PUBLIC_KEY_RANGE = -21,
    /* The public key, or what follows from it, is the point at infinity or of a small subgroup. */
    SUNSEAL_ERR_INFINITY = -22,
    /* The coupon has been used, or never filled. */
    SUNSEAL_ERR_COUPON = -23,
    /* A buffer with bytes in it is a null pointer. */
    SUNSEAL_ERR_NULL = -40,
    /* Two buffers overlap and are not the same. */
    SUNSEAL_ERR_OVERLAP = -41,
    /* The nonce has a length that the mode does not take. */
    SUNSEAL_ERR_NONCE_LENGTH = -42,
    /* The cipher has no such direction, or a block that the mode does not take. */
    SUNSEAL_ERR_UNSUPPORTED = -43,
    /* A command is pending; wait for its event. */
    SUNSEAL_ERR_BUSY = -44,
    /* No key has been loaded. */
    SUNSEAL_ERR_NO_KEY = -45,
    /* The hardware behind the cipher did not answer as it should. */
    SUNSEAL_ERR_ENGINE = -46,
    /* A number of an RSA key is zero. */
    SUNSEAL_ERR_RSA_ZERO = -60,
    /* An RSA modulus or prime has its top bit clear: it is shorter than the function's size. */
    SUNSEAL_ERR_RSA_SIZE = -61,
    /* An RSA modulus or prime is even. */
    SUNSEAL_ERR_RSA_EVEN = -62,
    /* A number to raise to a power is not below the RSA modulus. */
    SUNSEAL_ERR_RSA_RANGE = -63,
    /* The result of a private RSA operation does not lead back to its input: the key's numbers do
     * not belong together, or the computation was disturbed. */
    SUNSEAL_ERR_RSA_FAULT = -64,
    /* The ciphertext is none that this key and length could have. */
    SUNSEAL_ERR_DECRYPTION = -65,
    /* The one-time key with this index has signed already, or could have. */
    SUNSEAL_ERR_INDEX_USED = -80,
    /* Every one-time key has been used. */
    SUNSEAL_ERR_EXHAUSTED = -81,
    /* The store cannot be read or written, holds no record of this key, or does not read back. */
    SUNSEAL_ERR_STORE = -82,
    /* The signature is none of this key's parameters: length, types or index are not its. */
    SUNSEAL_ERR_SIGNATURE_FORMAT = -83,
    /* The public key has a length or type that the function does not take. */
    SUNSEAL_ERR_PUBLIC_KEY_FORMAT = -84,
    /* A set of parameters that the function does not take. */
    SUNSEAL_ERR_PARAMETERS = -85,
    /* A health test of the entropy source has failed: it gives nothing until it is started anew. */
    SUNSEAL_ERR_HEALTH = -86,
    /* The generator has no seed, or has served its number of requests: seed it. */
    SUNSEAL_ERR_NOT_SEEDED = -87,
    /* Flash has been erased as often as it is good for, or no longer takes what is written. */
    SUNSEAL_ERR_WORN = -88,
    /* A check led to where it cannot lead: the computation was disturbed. Nothing was verified. */
    SUNSEAL_ERR_FAULT = -89
};

#ifdef __cplusplus
}
#endif

#endif
