/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_AES_TABLES_H
#define SUNSEAL_AES_TABLES_H

/*
 * A table that is looked up by secret bytes must lie in memory of one speed. Flash with buffers
 * (MSP432P401R) and FRAM with a cache (MSP430FR5994) are not: there it lies in SRAM.
 */
#if defined(__arm__) || defined(SUNSEAL_FRAM)
#define AES_TBOX __attribute__((section(".data.aes_t")))
#undef SUNSEAL_FLASH
#define SUNSEAL_FLASH __attribute__((section(".data.aes_s")))
#else
#include "../flash.h"
#define AES_TBOX const SUNSEAL_FLASH
#endif

#endif
