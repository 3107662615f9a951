/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SLASE54, table "AES accelerator registers" */
#define AES256 0x09C0u
#include "aes256.inc"
