// SPDX-License-Identifier: MIT OR Apache-2.0
//! The STM32L476RG as its tests name it.

use crate::arm_programs::Part;
pub use crate::arm_programs::{Program, Run};

pub const PART: &Part = &Part {
    device: "stm32l476rg",
    names: REGISTERS,
    flash: 0x0800_0000,
    stack_top: 0x2001_8000,
    vectors: 98,
    start_align: 32,
    begin: "",
    most_cycles: 50_000_000,
    crystals: &[("lse", 32_768)],
};

const REGISTERS: &str = "
.equ TIM2,      0x40000000
.equ RTC,       0x40002800
.equ IWDG,      0x40003000
.equ USART2,    0x40004400
.equ PWR_CR1,   0x40007000
.equ PWR_CR3,   0x40007008
.equ PWR_SR1,   0x40007010
.equ PWR_SR2,   0x40007014
.equ LPTIM1,    0x40007C00
.equ SYSCFG_EXTICR4, 0x40010014
.equ EXTI_IMR1, 0x40010400
.equ EXTI_RTSR1, 0x40010408
.equ EXTI_FTSR1, 0x4001040C
.equ EXTI_PR1,  0x40010414
.equ SPI1,      0x40013000
.equ RCC_CR,    0x40021000
.equ RCC_CFGR,  0x40021008
.equ RCC_PLLCFGR, 0x4002100C
.equ RCC_AHB2ENR, 0x4002104C
.equ RCC_APB1ENR1, 0x40021058
.equ RCC_APB2ENR, 0x40021060
.equ RCC_CCIPR, 0x40021088
.equ RCC_BDCR,  0x40021090
.equ RCC_CSR,   0x40021094
.equ FLASH_ACR, 0x40022000
.equ FLASH_KEYR, 0x40022008
.equ FLASH_SR,  0x40022010
.equ FLASH_CR,  0x40022014
.equ GPIOA,     0x48000000
.equ GPIOC,     0x48000800
.equ RNG,       0x50060800
.equ SCR,       0xE000ED10
.equ NVIC_ISER, 0xE000E100

@ PWR has its clock and the backup domain can be written; LSE runs, waited for at 100 kHz, and is the RTC's clock.
.macro lse
  put RCC_APB1ENR1, 0x10000000
  put PWR_CR1, 0x300
  put RCC_BDCR, 1
  put RCC_CR, 0x09
  until_set RCC_BDCR, 2
  put RCC_CR, 0x69
  put RCC_BDCR, 0x8101
.endm
";
