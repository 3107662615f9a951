/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ERROR_H
#define SUNSEAL_ERROR_H

/*
 * What a call of this library may answer. 0 is success; on any other answer every output
 * buffer of the call has been set to zero.
 */
enum {
    SUNSEAL_OK = 0,
    /* The signature does not belong to this key and hash, or r or s is not in [1, n-1]. */
    SUNSEAL_ERR_SIGNATURE = -1,
    /* The private key is not in [1, n-1]. */
    SUNSEAL_ERR_PRIVATE_KEY = -2,
    /* A coordinate of the public key is not below p, or the point is not on the curve. */
    SUNSEAL_ERR_PUBLIC_KEY = -3,
    /* The entropy gave no key in [1, n-1]: call again with fresh entropy (odds below 2^-31). */
    SUNSEAL_ERR_ENTROPY = -4,
    /* The tag is not that of this key and message. */
    SUNSEAL_ERR_TAG = -5,
    /* The tag has a length that the function does not take: cut too short, or too long. */
    SUNSEAL_ERR_TAG_LENGTH = -6,
    /* A length that the function does not take. */
    SUNSEAL_ERR_LENGTH = -7
};

#endif
