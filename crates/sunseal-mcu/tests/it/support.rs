// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the machine: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, Machine};

#[path = "../programs/mod.rs"]
mod programs;
pub use programs::*;

pub const CODE: u32 = 0x5C00;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x5C00;
pub const FLASH_DATA: u32 = 0x8000;
pub const INFO_D: u32 = 0x1800;

pub const SFRIE1: u32 = 0x100;
pub const SFRIFG1: u32 = 0x102;
pub const PMMCTL0: u32 = 0x120;
pub const SVSMHCTL: u32 = 0x124;
pub const SVSMLCTL: u32 = 0x126;
pub const PMMIFG: u32 = 0x12C;
pub const FCTL1: u32 = 0x140;
pub const FCTL3: u32 = 0x144;
pub const FCTL4: u32 = 0x146;
pub const CRCDI: u32 = 0x150;
pub const CRCINIRES: u32 = 0x154;
pub const WDTCTL: u32 = 0x15C;
pub const UCSCTL0: u32 = 0x160;
pub const UCSCTL1: u32 = 0x162;
pub const UCSCTL2: u32 = 0x164;
pub const UCSCTL3: u32 = 0x166;
pub const UCSCTL4: u32 = 0x168;
pub const UCSCTL7: u32 = 0x16E;
pub const SYSSNIV: u32 = 0x19C;
pub const SYSUNIV: u32 = 0x19A;
pub const SYSRSTIV: u32 = 0x19E;
pub const REFCTL0: u32 = 0x1B0;
pub const PAIN: u32 = 0x200;
pub const PAOUT: u32 = 0x202;
pub const PADIR: u32 = 0x204;
pub const PAREN: u32 = 0x206;
pub const PASEL: u32 = 0x20A;
pub const P1IV: u32 = 0x20E;
pub const PAIES: u32 = 0x218;
pub const PAIE: u32 = 0x21A;
pub const PAIFG: u32 = 0x21C;
pub const PBOUT: u32 = 0x222;
pub const PBDIR: u32 = 0x224;
pub const TA0CTL: u32 = 0x340;
pub const TA0CCTL0: u32 = 0x342;
pub const TA0CCTL1: u32 = 0x344;
pub const TA0R: u32 = 0x350;
pub const TA0CCR0: u32 = 0x352;
pub const TA0CCR1: u32 = 0x354;
pub const TA0IV: u32 = 0x36E;
pub const TB0CTL: u32 = 0x3C0;
pub const TB0CCTL6: u32 = 0x3CE;
pub const TB0CCR6: u32 = 0x3DE;
pub const TB0IV: u32 = 0x3EE;
pub const MPY: u32 = 0x4C0;
pub const MPYS: u32 = 0x4C2;
pub const MAC: u32 = 0x4C4;
pub const MACS: u32 = 0x4C6;
pub const OP2: u32 = 0x4C8;
pub const RESLO: u32 = 0x4CA;
pub const RESHI: u32 = 0x4CC;
pub const SUMEXT: u32 = 0x4CE;
pub const MPY32L: u32 = 0x4D0;
pub const MPY32H: u32 = 0x4D2;
pub const MPYS32L: u32 = 0x4D4;
pub const MPYS32H: u32 = 0x4D6;
pub const MAC32L: u32 = 0x4D8;
pub const MAC32H: u32 = 0x4DA;
pub const OP2L: u32 = 0x4E0;
pub const OP2H: u32 = 0x4E2;
pub const RES0: u32 = 0x4E4;
pub const MPY32CTL0: u32 = 0x4EC;
pub const UCA1CTLW0: u32 = 0x600;
pub const UCA1BRW: u32 = 0x606;
pub const UCA1MCTL: u32 = 0x608;
pub const UCA1RXBUF: u32 = 0x60C;
pub const UCA1TXBUF: u32 = 0x60E;
pub const UCA1ICTL: u32 = 0x61C;
pub const UCB0CTLW0: u32 = 0x5E0;
pub const UCB0BRW: u32 = 0x5E6;
pub const UCB0RXBUF: u32 = 0x5EC;
pub const UCB0TXBUF: u32 = 0x5EE;
pub const UCB0ICTL: u32 = 0x5FC;
pub const ADC12CTL0: u32 = 0x700;
pub const ADC12CTL1: u32 = 0x702;
pub const ADC12CTL2: u32 = 0x704;
pub const ADC12IFG: u32 = 0x70A;
pub const ADC12IE: u32 = 0x70C;
pub const ADC12IV: u32 = 0x70E;
pub const ADC12MCTL0: u32 = 0x710;
pub const ADC12MEM0: u32 = 0x720;

pub const VECTOR_SYSNMI: u32 = 0xFFFC;
pub const VECTOR_UNMI: u32 = 0xFFFA;
pub const VECTOR_TB0: u32 = 0xFFF6;
pub const VECTOR_WDT: u32 = 0xFFF4;
pub const VECTOR_USCI_B0: u32 = 0xFFF0;
pub const VECTOR_ADC12: u32 = 0xFFEE;
pub const VECTOR_TA0_CCR0: u32 = 0xFFEC;
pub const VECTOR_TA0: u32 = 0xFFEA;
pub const VECTOR_PORT1: u32 = 0xFFDE;
pub const VECTOR_USCI_A1: u32 = 0xFFDC;

/// What a program writes before anything else.
pub const HELD: &[(u32, u16)] = &[(WDTCTL, 0x5A80)];

pub fn machine() -> Machine {
    Machine::new(&Device::msp430f5438a())
}
