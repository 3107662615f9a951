/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define BITS 1024
#include "rsa.inc"
