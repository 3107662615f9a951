// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the FR5994: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, Machine};

#[path = "../programs/mod.rs"]
mod programs;
pub use programs::*;

pub const CODE: u32 = 0x4400;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x2C00;
pub const DATA: u32 = 0x8000;
pub const INFO_D: u32 = 0x1800;

pub const SFRIE1: u32 = 0x100;
pub const SFRIFG1: u32 = 0x102;
pub const PMMCTL0: u32 = 0x120;
pub const PMMIFG: u32 = 0x12A;
pub const PM5CTL0: u32 = 0x130;
pub const FRCTL0: u32 = 0x140;
pub const GCCTL0: u32 = 0x144;
pub const GCCTL1: u32 = 0x146;
pub const CRCDI: u32 = 0x150;
pub const CRCINIRES: u32 = 0x154;
pub const WDTCTL: u32 = 0x15C;
pub const CSCTL0: u32 = 0x160;
pub const CSCTL1: u32 = 0x162;
pub const CSCTL2: u32 = 0x164;
pub const CSCTL3: u32 = 0x166;
pub const CSCTL4: u32 = 0x168;
pub const CSCTL5: u32 = 0x16A;
pub const SYSUNIV: u32 = 0x19A;
pub const SYSSNIV: u32 = 0x19C;
pub const SYSRSTIV: u32 = 0x19E;
pub const REFCTL0: u32 = 0x1B0;
pub const P1OUT: u32 = 0x202;
pub const P1DIR: u32 = 0x204;
pub const P2SEL0: u32 = 0x20B;
pub const P2SEL1: u32 = 0x20D;
pub const P1IV: u32 = 0x20E;
pub const PAIES: u32 = 0x218;
pub const PAIE: u32 = 0x21A;
pub const PAIFG: u32 = 0x21C;
pub const PCIE: u32 = 0x25A;
pub const PCIFG: u32 = 0x25C;
pub const P5IV: u32 = 0x24E;
pub const PJSEL0: u32 = 0x32A;
pub const TA0CTL: u32 = 0x340;
pub const TA0CCTL0: u32 = 0x342;
pub const TA0R: u32 = 0x350;
pub const TA0CCR0: u32 = 0x352;
pub const TA1CTL: u32 = 0x380;
pub const TA1CCTL0: u32 = 0x382;
pub const TA1CCR0: u32 = 0x392;
pub const TA2CTL: u32 = 0x400;
pub const TA2CCTL0: u32 = 0x402;
pub const TA2CCR0: u32 = 0x412;
pub const RTCCTL0: u32 = 0x4A0;
pub const RTCCTL13: u32 = 0x4A2;
pub const RTCPS1CTL: u32 = 0x4AA;
pub const RTCIV: u32 = 0x4AE;
pub const RTCTIM0: u32 = 0x4B0;
pub const RTCTIM1: u32 = 0x4B2;
pub const RTCDATE: u32 = 0x4B4;
pub const RTCYEAR: u32 = 0x4B6;
pub const RTCAMINHR: u32 = 0x4B8;
pub const DMACTL0: u32 = 0x500;
pub const DMACTL1: u32 = 0x502;
pub const DMACTL4: u32 = 0x508;
pub const DMAIV: u32 = 0x50E;
pub const DMA0CTL: u32 = 0x510;
pub const DMA0SA: u32 = 0x512;
pub const DMA0DA: u32 = 0x516;
pub const DMA0SZ: u32 = 0x51A;
pub const MPUCTL0: u32 = 0x5A0;
pub const MPUCTL1: u32 = 0x5A2;
pub const MPUSEGB2: u32 = 0x5A4;
pub const MPUSEGB1: u32 = 0x5A6;
pub const MPUSAM: u32 = 0x5A8;
pub const MPUIPC0: u32 = 0x5AA;
pub const UCA0CTLW0: u32 = 0x5C0;
pub const UCA0BRW: u32 = 0x5C6;
pub const UCA0MCTLW: u32 = 0x5C8;
pub const UCA0STATW: u32 = 0x5CA;
pub const UCA0RXBUF: u32 = 0x5CC;
pub const UCA0TXBUF: u32 = 0x5CE;
pub const UCA0IE: u32 = 0x5DA;
pub const UCA0IFG: u32 = 0x5DC;
pub const UCA0IV: u32 = 0x5DE;
pub const UCB0CTLW0: u32 = 0x640;
pub const UCB0BRW: u32 = 0x646;
pub const UCB0RXBUF: u32 = 0x64C;
pub const UCB0TXBUF: u32 = 0x64E;
pub const UCB0I2CSA: u32 = 0x660;
pub const UCB0IFG: u32 = 0x66C;
pub const ADC12CTL0: u32 = 0x800;
pub const ADC12CTL1: u32 = 0x802;
pub const ADC12CTL3: u32 = 0x806;
pub const ADC12LO: u32 = 0x808;
pub const ADC12HI: u32 = 0x80A;
pub const ADC12IFGR0: u32 = 0x80C;
pub const ADC12IFGR2: u32 = 0x810;
pub const ADC12IER0: u32 = 0x812;
pub const ADC12IV: u32 = 0x818;
pub const ADC12MCTL0: u32 = 0x820;
pub const ADC12MEM0: u32 = 0x860;
pub const CRC32DIW0: u32 = 0x980;
pub const CRC32DIRBW0: u32 = 0x986;
pub const CRC32INIRESW0: u32 = 0x988;
pub const CRC32INIRESW1: u32 = 0x98A;
pub const CRC32RESRW1: u32 = 0x98C;
pub const CRC32RESRW0: u32 = 0x98E;
pub const AESACTL0: u32 = 0x9C0;
pub const AESACTL1: u32 = 0x9C2;
pub const AESASTAT: u32 = 0x9C4;
pub const AESAKEY: u32 = 0x9C6;
pub const AESADIN: u32 = 0x9C8;
pub const AESADOUT: u32 = 0x9CA;
pub const AESAXDIN: u32 = 0x9CC;
pub const AESAXIN: u32 = 0x9CE;

pub const VECTOR_SYSNMI: u32 = 0xFFFC;
pub const VECTOR_ADC12: u32 = 0xFFEC;
pub const VECTOR_TA0_CCR0: u32 = 0xFFEA;
pub const VECTOR_DMA: u32 = 0xFFE4;
pub const VECTOR_PORT1: u32 = 0xFFDE;
pub const VECTOR_RTC: u32 = 0xFFCE;
pub const VECTOR_AES: u32 = 0xFFCC;
pub const VECTOR_PORT5: u32 = 0xFFC6;

/// What a program writes before anything else.
pub const HELD: &[(u32, u16)] = &[(WDTCTL, 0x5A80), (PM5CTL0, 0)];

pub fn machine() -> Machine {
    Machine::new(&Device::named("msp430fr5994").unwrap())
}

impl Program {
    /// MCLK = SMCLK = DCO at the given CSCTL1, undivided, with as many wait states.
    pub fn clocked(csctl1: u16, waits: u16) -> Self {
        let mut p = Self::new();
        p.set(FRCTL0, 0xA500 | waits << 4).set(CSCTL0, 0xA500).set(CSCTL3, 0).set(CSCTL1, csctl1);
        p
    }
}

pub fn events(m: &Machine, name: &str) -> u64 {
    let id = m.vocabulary().find_event(name).expect("the machine can report it");
    m.ledger().events().find(|(e, _)| *e == id).map_or(0, |(_, n)| n)
}

/// Time in a state, in picoseconds, summed over operating points.
pub fn time_in(m: &Machine, component: &str, state: &str) -> u128 {
    let (v, l) = (m.vocabulary(), m.ledger());
    l.spans()
        .filter(|(k, _)| {
            v.component_name(k.component) == component && v.state_name(k.state) == state
        })
        .map(|(_, s)| s.time.0)
        .sum()
}
