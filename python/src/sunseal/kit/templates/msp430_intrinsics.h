/* Intrinsics of msp430-elf-gcc and TI's compiler, for clang, by the names that programs call. */
#ifndef SUNSEAL_MSP430_INTRINSICS_H
#define SUNSEAL_MSP430_INTRINSICS_H

#include <stdint.h>

#define __no_operation() __asm__ volatile("nop")
#define __even_in_range(value, most) (value)
#define __enable_interrupt() __asm__ volatile("nop\n\teint\n\tnop" : : : "memory")
#define __disable_interrupt() __asm__ volatile("dint\n\tnop" : : : "memory")

/* The status register, now. */
#define __bis_SR_register(bits) __asm__ volatile("nop\n\tbis.w %0, r2\n\tnop" : : "ri"((uint16_t)(bits)) : "memory")
#define __bic_SR_register(bits) __asm__ volatile("nop\n\tbic.w %0, r2\n\tnop" : : "ri"((uint16_t)(bits)) : "memory")

static inline __attribute__((always_inline, unused)) uint16_t __get_SR_register(void) {
    uint16_t bits;
    __asm__ volatile("mov.w r2, %0" : "=r"(bits));
    return bits;
}

#define __get_interrupt_state() __get_SR_register()
#define __set_interrupt_state(bits) __asm__ volatile("nop\n\tmov.w %0, r2\n\tnop" : : "ri"((uint16_t)(bits)) : "memory")
#define __get_SP_register() ((uint16_t)__builtin_frame_address(0))

#ifdef __clang__
/* The status register that a handler goes back to: the interrupt pushed it, the handler's first push is R4. */
#define SUNSEAL_SR_ON_EXIT (*(volatile uint16_t *)((char *)__builtin_frame_address(0) + 2))
#define __bis_SR_register_on_exit(bits) ((void)(SUNSEAL_SR_ON_EXIT |= (uint16_t)(bits)))
#define __bic_SR_register_on_exit(bits) ((void)(SUNSEAL_SR_ON_EXIT &= (uint16_t)~(bits)))
#define __get_SR_register_on_exit() SUNSEAL_SR_ON_EXIT

/* Cycles of MOV #value: the constant generator has some. */
#define SUNSEAL_MOV_CYCLES(value) \
    ((value) == 0 || (value) == 1 || (value) == 2 || (value) == 4 || (value) == 8 || (value) == 0xFFFF ? 1 : 2)

/* A loop of 3 cycles, of 4 where it counts 32 bits, and what is left. */
static inline __attribute__((always_inline, unused)) void __delay_cycles(const uint32_t cycles) {
    uint32_t left = cycles;
    if (left >= 3UL * 0x10000UL) {
        uint32_t rounds = (left - 4) / 4;
        uint16_t low = (uint16_t)(rounds - 1), high = (uint16_t)((rounds - 1) >> 16);
        left -= SUNSEAL_MOV_CYCLES(low) + SUNSEAL_MOV_CYCLES(high) + 4 * rounds;
        __asm__ volatile("mov.w %2, %0\n\tmov.w %3, %1\n1:\tsub.w #1, %0\n\tsubc.w #0, %1\n\tjc 1b"
                         : "=&r"(low), "=&r"(high)
                         : "i"((uint16_t)(rounds - 1)), "i"((uint16_t)((rounds - 1) >> 16)));
    } else if (left >= 5) {
        uint16_t rounds = (uint16_t)((left - 2) / 3);
        left -= SUNSEAL_MOV_CYCLES(rounds) + 3UL * rounds;
        __asm__ volatile("mov.w %1, %0\n1:\tsub.w #1, %0\n\tjnz 1b" : "=&r"(rounds) : "i"(rounds));
    }
    switch (left) {
    case 4: __no_operation(); /* fall through */
    case 3: __no_operation(); /* fall through */
    case 2: __no_operation(); /* fall through */
    case 1: __no_operation();
    }
}
#endif

#define __swap_bytes(word) __builtin_bswap16(word)

/* Registers of 20 bits, such as the DMA's addresses: MOVA @Rvalue, Rvalue; MOVA Rvalue, 0(Raddress). */
static inline __attribute__((always_inline, unused)) void __data20_write_long(uintptr_t address, uint32_t value) {
    register uintptr_t to __asm__("r13") = address;
    register const uint32_t *from __asm__("r14") = &value;
    __asm__ volatile(".word 0x0E0C, 0x0C7D, 0x0000" : : "r"(to), "r"(from) : "r12", "memory");
}
#define __data16_write_addr(address, value) __data20_write_long((uintptr_t)(address), (uint32_t)(value))

#define _NOP() __no_operation()
#define _EINT() __enable_interrupt()
#define _DINT() __disable_interrupt()
#define _BIS_SR(bits) __bis_SR_register(bits)
#define _BIC_SR(bits) __bic_SR_register(bits)
#define _BIS_SR_IRQ(bits) __bis_SR_register_on_exit(bits)
#define _BIC_SR_IRQ(bits) __bic_SR_register_on_exit(bits)
#define _bis_SR_register(bits) __bis_SR_register(bits)
#define _bic_SR_register(bits) __bic_SR_register(bits)
#define __low_power_mode_0() __bis_SR_register(LPM0_bits | GIE)
#define __low_power_mode_1() __bis_SR_register(LPM1_bits | GIE)
#define __low_power_mode_2() __bis_SR_register(LPM2_bits | GIE)
#define __low_power_mode_3() __bis_SR_register(LPM3_bits | GIE)
#define __low_power_mode_4() __bis_SR_register(LPM4_bits | GIE)
#define __low_power_mode_off_on_exit() __bic_SR_register_on_exit(LPM4_bits)
#define LPM0 __bis_SR_register(LPM0_bits)
#define LPM1 __bis_SR_register(LPM1_bits)
#define LPM2 __bis_SR_register(LPM2_bits)
#define LPM3 __bis_SR_register(LPM3_bits)
#define LPM4 __bis_SR_register(LPM4_bits)
#define LPM0_EXIT __bic_SR_register_on_exit(LPM0_bits)
#define LPM1_EXIT __bic_SR_register_on_exit(LPM1_bits)
#define LPM2_EXIT __bic_SR_register_on_exit(LPM2_bits)
#define LPM3_EXIT __bic_SR_register_on_exit(LPM3_bits)
#define LPM4_EXIT __bic_SR_register_on_exit(LPM4_bits)

#endif
