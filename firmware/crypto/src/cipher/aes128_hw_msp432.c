/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SLAS826, table "AES256 registers" */
#define AES256 0x40003C00u
#include "aes256.inc"
