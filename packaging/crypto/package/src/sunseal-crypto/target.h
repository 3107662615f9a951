/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The target that a source is compiled for, told by the compiler's own macros and by a few defines.
 * Each source asks here whether it belongs to the target, so all of them can be given to any
 * compiler. What is wrong with a target is said once, by target.c.
 *
 *   SUNSEAL_MPY       MSP430: the hardware multiplier, 32, 16 or 0 (none)
 *   SUNSEAL_MPY_AT    MSP430: its first register: 0x0130 (1xx, 2xx, 4xx) or 0x04C0 (5xx, 6xx, FR)
 *   SUNSEAL_MSP430X   MSP430: 1 where the CPU is a 430X, 0 where it is the classic one
 *   SUNSEAL_FR5XX     MSP430FR5xx and FR6xx with the AES256 module: 1
 *   SUNSEAL_MSP432    MSP432P4xx, whose AES256 module is used: 1
 *   SUNSEAL_ENCRYPT_ONLY  1: AES, PRESENT and XTEA without decryption (CTR, CMAC, CCM need none)
 *   SUNSEAL_PORTABLE  1: a core without assembly here takes the C sources
 *
 * A chip named by -mmcu=msp430f1611, msp430f5438a, msp430fr5969, msp430fr5994 or msp430fr6989 needs
 * none of them; nor does an ATmega or a Cortex-M4.
 */
#ifndef SUNSEAL_TARGET_H
#define SUNSEAL_TARGET_H

/* --- MSP430 ------------------------------------------------------------------------------ */

#if defined(__MSP430__) || defined(MSP430)

#if defined(__MSP430F1611__) || defined(SUNSEAL_DEVICE_msp430f1611)
#define SUNSEAL_CHIP 1611
#define SUNSEAL_CHIP_MSP430X 0
#define SUNSEAL_CHIP_MPY 16
#define SUNSEAL_CHIP_MPY_AT 0x0130
#ifndef SUNSEAL_DEVICE_msp430f1611
#define SUNSEAL_DEVICE_msp430f1611 1
#endif
#elif defined(__MSP430F5438A__)
#define SUNSEAL_CHIP 5438
#define SUNSEAL_CHIP_MSP430X 1
#define SUNSEAL_CHIP_MPY 32
#define SUNSEAL_CHIP_MPY_AT 0x04C0
#elif defined(__MSP430FR5969__) || defined(__MSP430FR5994__) || defined(__MSP430FR6989__)
#define SUNSEAL_CHIP 5994
#define SUNSEAL_CHIP_MSP430X 1
#define SUNSEAL_CHIP_MPY 32
#define SUNSEAL_CHIP_MPY_AT 0x04C0
#ifndef SUNSEAL_FR5XX
#define SUNSEAL_FR5XX 1
#endif
#else
#define SUNSEAL_CHIP 0
#endif

#ifndef SUNSEAL_MSP430X
#if SUNSEAL_CHIP
#define SUNSEAL_MSP430X SUNSEAL_CHIP_MSP430X
#elif defined(__MSP430X__)
#define SUNSEAL_MSP430X 1
#elif !defined(__clang__)
#define SUNSEAL_MSP430X 0
#endif
#endif

#if !defined(SUNSEAL_MPY) && SUNSEAL_CHIP
#define SUNSEAL_MPY SUNSEAL_CHIP_MPY
#endif
#ifndef SUNSEAL_MPY_AT
#if SUNSEAL_CHIP
#define SUNSEAL_MPY_AT SUNSEAL_CHIP_MPY_AT
#elif defined(SUNSEAL_MPY) && SUNSEAL_MPY == 0
#define SUNSEAL_MPY_AT 0x04C0 /* nobody reads it */
#elif defined(SUNSEAL_MSP430X) && !SUNSEAL_MSP430X
#define SUNSEAL_MPY_AT 0x0130
#endif
#endif

#if defined(__MSP430X_LARGE__)
#define SUNSEAL_WRONG_LARGE 1
#elif SUNSEAL_CHIP == 1611 && defined(SUNSEAL_MSP430X) && SUNSEAL_MSP430X
#define SUNSEAL_WRONG_CHIP 1
#elif !defined(SUNSEAL_MSP430X)
#define SUNSEAL_WRONG_CPU 1
#elif !defined(SUNSEAL_MPY)
#define SUNSEAL_WRONG_MPY 1
#elif SUNSEAL_MPY != 32 && SUNSEAL_MPY != 16 && SUNSEAL_MPY != 0
#define SUNSEAL_WRONG_MPY 1
#elif !defined(SUNSEAL_MPY_AT)
#define SUNSEAL_WRONG_MPY_AT 1
#elif SUNSEAL_MPY_AT != 0x0130 && SUNSEAL_MPY_AT != 0x04C0
#define SUNSEAL_WRONG_MPY_AT 1
#elif SUNSEAL_MPY == 32 && SUNSEAL_MPY_AT != 0x04C0
#define SUNSEAL_WRONG_MPY32 1
#else
#define SUNSEAL_TARGET_KNOWN 1
#define SUNSEAL_TARGET_MSP430 1
#define SUNSEAL_TARGET_MSP430X SUNSEAL_MSP430X
#ifdef SUNSEAL_FR5XX
#define SUNSEAL_TARGET_FR5XX SUNSEAL_FR5XX
#endif
#if defined(SUNSEAL_FR5XX) && SUNSEAL_FR5XX && !defined(SUNSEAL_FRAM)
#define SUNSEAL_FRAM 1
#endif
#define SUNSEAL_TARGET_JITTER SUNSEAL_CHIP
#endif

/* clang-format off */
/* A 430X instruction. lld knows the relocations of a classic file alone, so for clang each of them
 * is switched on and off, and the file is assembled by `msp430-elf-as -mcpu=430`. */
#ifdef __ASSEMBLER__
#ifdef __clang__
#define SUNSEAL_430X(...) .cpu 430xv2 { __VA_ARGS__ { .cpu 430
#else
#define SUNSEAL_430X(...) __VA_ARGS__
#endif
#endif
/* clang-format on */

/* --- AVR --------------------------------------------------------------------------------- */

#elif defined(__AVR__)

#if __AVR_ARCH__ == 4 || __AVR_ARCH__ == 5 || __AVR_ARCH__ == 51 || __AVR_ARCH__ == 6
#define SUNSEAL_TARGET_KNOWN 1
#define SUNSEAL_TARGET_AVR 1
#else
#define SUNSEAL_WRONG_AVR 1
#endif

/* --- Cortex-M4 --------------------------------------------------------------------------- */

#elif defined(__ARM_ARCH_7EM__) && !defined(__ARMEB__)

#define SUNSEAL_TARGET_KNOWN 1
#define SUNSEAL_TARGET_ARMV7EM 1
#if defined(SUNSEAL_MSP432)
#define SUNSEAL_TARGET_MSP432 SUNSEAL_MSP432
#elif defined(__MSP432P401R__)
#define SUNSEAL_TARGET_MSP432 1
#endif

/* --- Everything else --------------------------------------------------------------------- */

#elif !defined(__GNUC__)
#define SUNSEAL_WRONG_COMPILER 1
#elif !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#define SUNSEAL_WRONG_ORDER 1
#elif defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define SUNSEAL_TARGET_KNOWN 1
#define SUNSEAL_TARGET_PORTABLE 1
#elif defined(SUNSEAL_PORTABLE)
#if SUNSEAL_PORTABLE
#define SUNSEAL_TARGET_KNOWN 1
#define SUNSEAL_TARGET_PORTABLE 1
#else
#define SUNSEAL_WRONG_CORE 1
#endif
#else
#define SUNSEAL_WRONG_CORE 1
#endif

#ifndef SUNSEAL_TARGET_KNOWN
#define SUNSEAL_TARGET_KNOWN 0
#endif
#ifndef SUNSEAL_TARGET_MSP430
#define SUNSEAL_TARGET_MSP430 0
#endif
#ifndef SUNSEAL_TARGET_MSP430X
#define SUNSEAL_TARGET_MSP430X 0
#endif
#ifndef SUNSEAL_TARGET_FR5XX
#define SUNSEAL_TARGET_FR5XX 0
#endif
#ifndef SUNSEAL_TARGET_JITTER
#define SUNSEAL_TARGET_JITTER 0
#endif
#ifndef SUNSEAL_TARGET_AVR
#define SUNSEAL_TARGET_AVR 0
#endif
#ifndef SUNSEAL_TARGET_ARMV7EM
#define SUNSEAL_TARGET_ARMV7EM 0
#endif
#ifndef SUNSEAL_TARGET_MSP432
#define SUNSEAL_TARGET_MSP432 0
#endif
#ifndef SUNSEAL_TARGET_PORTABLE
#define SUNSEAL_TARGET_PORTABLE 0
#endif

/* No function here takes or returns a floating-point number, so its objects fit programs of either
 * convention: Tag_ABI_VFP_args is 3 (Addenda to, and Errata in, the ABI for the Arm Architecture,
 * section 2.5). One archive serves soft, softfp and hard. */
/* clang-format off */
#if defined(__arm__) && SUNSEAL_TARGET_KNOWN
#ifdef __ASSEMBLER__
    .eabi_attribute 28, 3
#else
__asm__(".eabi_attribute 28, 3");
#endif
#endif
/* clang-format on */

#endif
