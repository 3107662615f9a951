/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_DECRYPTS_H
#define SUNSEAL_CIPHER_DECRYPTS_H

/* Decryption of a cipher as a member of its struct sunseal_block. A linker keeps what the structure
 * names, so a build whose programs only encrypt, as CTR, CMAC and CCM do in both directions, may
 * define SUNSEAL_ENCRYPT_ONLY as 1: there is none then, and sunseal_block_decrypt and
 * sunseal_ecb_decrypt answer SUNSEAL_ERR_UNSUPPORTED. */
#if defined(SUNSEAL_ENCRYPT_ONLY) && SUNSEAL_ENCRYPT_ONLY
#define SUNSEAL_DECRYPTS(function) NULL
#else
#define SUNSEAL_DECRYPTS(function) (function)
#endif

#endif
