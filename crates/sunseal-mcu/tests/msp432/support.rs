// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP432P401R as its tests name it.

use crate::arm_programs::Part;
pub use crate::arm_programs::{KEPT, Program, Run, compile};

pub const PART: &Part = &Part {
    device: "msp432p401r",
    names: REGISTERS,
    flash: 0,
    stack_top: 0x2001_0000,
    vectors: 80,
    start_align: 16,
    // The watchdog is held.
    begin: "  puth WDTCTL, 0x5A84\n",
    most_cycles: 20_000_000,
    crystals: &[],
};

const REGISTERS: &str = "
.equ WDTCTL,        0x4000480C
.equ TA0,           0x40000000
.equ TA1,           0x40000400
.equ UCA0,          0x40001000
.equ UCB0,          0x40002000
.equ REFCTL0,       0x40003000
.equ AES,           0x40003C00
.equ CRC32,         0x40004000
.equ RTC,           0x40004400
.equ DIO,           0x40004C00
.equ P1OUT,         0x40004C02
.equ P1DIR,         0x40004C04
.equ PASEL0,        0x40004C0A
.equ P1IV,          0x40004C0E
.equ P1IES,         0x40004C18
.equ P1IE,          0x40004C1A
.equ P1IFG,         0x40004C1C
.equ PJSEL0,        0x40004D2A
.equ T32,           0x4000C000
.equ DMA_CH0_SRCCFG, 0x4000E010
.equ DMA_INT0_CLRFLG, 0x4000E114
.equ DMA_SW_CHTRIG, 0x4000E004
.equ DMA_CFG,       0x4000F004
.equ DMA_CTLBASE,   0x4000F008
.equ DMA_ENASET,    0x4000F028
.equ PCMCTL0,       0x40010000
.equ PCMCTL1,       0x40010004
.equ PCMIFG,        0x4001000C
.equ CSKEY,         0x40010400
.equ CSCTL0,        0x40010404
.equ CSCTL1,        0x40010408
.equ CSCTL2,        0x4001040C
.equ CSSTAT,        0x40010434
.equ CSIFG,         0x40010448
.equ CSCLRIFG,      0x40010450
.equ FLCTL,         0x40011000
.equ BANK0_RDCTL,   0x40011010
.equ BANK1_RDCTL,   0x40011014
.equ PRG_CTLSTAT,   0x40011050
.equ ERASE_CTLSTAT, 0x400110A0
.equ ERASE_SECTADDR, 0x400110A4
.equ BANK0_MAIN_WEPROT, 0x400110B4
.equ BANK1_MAIN_WEPROT, 0x400110C4
.equ FLCTL_IFG,     0x400110F0
.equ FLCTL_IE,      0x400110F4
.equ FLCTL_CLRIFG,  0x400110F8
.equ ADC14,         0x40012000
.equ RSTCTL,        0xE0042000
.equ SYS_SRAM_BANKEN, 0xE0043014
.equ SYS_SRAM_BANKRET, 0xE0043018
.equ DWT_CTRL,      0xE0001000
.equ DWT_CYCCNT,    0xE0001004
.equ DWT_EXCCNT,    0xE000100C
.equ SYST_CSR,      0xE000E010
.equ SYST_RVR,      0xE000E014
.equ SYST_CVR,      0xE000E018
.equ ISER0,         0xE000E100
.equ ISER1,         0xE000E104
.equ ISPR0,         0xE000E200
.equ ICPR0,         0xE000E280
.equ IPR,           0xE000E400
.equ ICSR,          0xE000ED04
.equ VTOR,          0xE000ED08
.equ AIRCR,         0xE000ED0C
.equ SCR,           0xE000ED10
.equ CCR,           0xE000ED14
.equ SHPR3,         0xE000ED20
.equ SHCSR,         0xE000ED24
.equ CFSR,          0xE000ED28
.equ HFSR,          0xE000ED2C
.equ BFAR,          0xE000ED38
.equ CPACR,         0xE000ED88
.equ DEMCR,         0xE000EDFC
.equ STIR,          0xE000EF00

";
