/* Names of Arm's core_cm4.h for programs: the core's registers by CMSIS's names, and its instructions. */
#ifndef SUNSEAL_CMSIS_CORE_H
#define SUNSEAL_CMSIS_CORE_H

#include <stdint.h>

#define __I volatile const
#define __O volatile
#define __IO volatile
#define __STATIC_INLINE static inline __attribute__((unused))

typedef struct {
    __IO uint32_t ISER[8], reserved0[24], ICER[8], reserved1[24], ISPR[8], reserved2[24], ICPR[8], reserved3[24], IABR[8],
        reserved4[56];
    __IO uint8_t IP[240];
} NVIC_Type;

typedef struct {
    __I uint32_t CPUID;
    __IO uint32_t ICSR, VTOR, AIRCR, SCR, CCR;
    __IO uint8_t SHP[12];
    __IO uint32_t SHCSR, CFSR, HFSR, DFSR, MMFAR, BFAR, AFSR;
    __I uint32_t PFR[2], DFR, ADR, MMFR[4], ISAR[5], reserved0[5];
    __IO uint32_t CPACR;
} SCB_Type;

typedef struct {
    __IO uint32_t CTRL, LOAD, VAL;
    __I uint32_t CALIB;
} SysTick_Type;

#define NVIC ((NVIC_Type *)0xE000E100UL)
#define SCB ((SCB_Type *)0xE000ED00UL)
#define SysTick ((SysTick_Type *)0xE000E010UL)
#define SysTick_CTRL_ENABLE_Msk 0x1UL
#define SysTick_CTRL_TICKINT_Msk 0x2UL
#define SysTick_CTRL_CLKSOURCE_Msk 0x4UL
#define SysTick_CTRL_COUNTFLAG_Msk 0x10000UL
#define SysTick_LOAD_RELOAD_Msk 0xFFFFFFUL
#define SCB_SCR_SLEEPONEXIT_Msk 0x2UL
#define SCB_SCR_SLEEPDEEP_Msk 0x4UL
#define SCB_SCR_SEVONPEND_Msk 0x10UL

#define __NOP() __asm__ volatile("nop")
#define __WFI() __asm__ volatile("wfi" : : : "memory")
#define __WFE() __asm__ volatile("wfe" : : : "memory")
#define __SEV() __asm__ volatile("sev")
#define __DSB() __asm__ volatile("dsb" : : : "memory")
#define __ISB() __asm__ volatile("isb" : : : "memory")
#define __DMB() __asm__ volatile("dmb" : : : "memory")
#define __enable_irq() __asm__ volatile("cpsie i" : : : "memory")
#define __disable_irq() __asm__ volatile("cpsid i" : : : "memory")

__STATIC_INLINE uint32_t __get_PRIMASK(void) {
    uint32_t mask;
    __asm__ volatile("mrs %0, primask" : "=r"(mask));
    return mask;
}
__STATIC_INLINE void __set_PRIMASK(uint32_t mask) { __asm__ volatile("msr primask, %0" : : "r"(mask) : "memory"); }
__STATIC_INLINE void NVIC_EnableIRQ(IRQn_Type n) { NVIC->ISER[(uint32_t)n >> 5] = 1UL << ((uint32_t)n & 31); }
__STATIC_INLINE void NVIC_DisableIRQ(IRQn_Type n) { NVIC->ICER[(uint32_t)n >> 5] = 1UL << ((uint32_t)n & 31); }
__STATIC_INLINE void NVIC_SetPendingIRQ(IRQn_Type n) { NVIC->ISPR[(uint32_t)n >> 5] = 1UL << ((uint32_t)n & 31); }
__STATIC_INLINE void NVIC_ClearPendingIRQ(IRQn_Type n) { NVIC->ICPR[(uint32_t)n >> 5] = 1UL << ((uint32_t)n & 31); }
__STATIC_INLINE void NVIC_SetPriority(IRQn_Type n, uint32_t priority) {
    if ((int32_t)n >= 0) NVIC->IP[n] = (uint8_t)(priority << 4);
    else SCB->SHP[((uint32_t)n & 15) - 4] = (uint8_t)(priority << 4);
}
__STATIC_INLINE void NVIC_SystemReset(void) {
    __DSB();
    SCB->AIRCR = 0x05FA0004UL;
    for (;;) {}
}
__STATIC_INLINE uint32_t SysTick_Config(uint32_t ticks) {
    if (ticks - 1 > SysTick_LOAD_RELOAD_Msk) return 1;
    SysTick->LOAD = ticks - 1;
    NVIC_SetPriority(SysTick_IRQn, 15);
    SysTick->VAL = 0;
    SysTick->CTRL = SysTick_CTRL_CLKSOURCE_Msk | SysTick_CTRL_TICKINT_Msk | SysTick_CTRL_ENABLE_Msk;
    return 0;
}

#define SET_BIT(reg, bit) ((reg) |= (bit))
#define CLEAR_BIT(reg, bit) ((reg) &= ~(bit))
#define READ_BIT(reg, bit) ((reg) & (bit))
#define WRITE_REG(reg, value) ((reg) = (value))
#define READ_REG(reg) ((reg))
#define MODIFY_REG(reg, clear, set) ((reg) = ((reg) & ~(clear)) | (set))

/* As it is after a reset; a program that changes the clock writes it. */
static uint32_t SystemCoreClock __attribute__((unused)) = 4000000;

#endif
