/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define BITS 2048
#include "rsa.inc"
