// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the FR5994: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, Machine};

#[path = "../programs/mod.rs"]
mod programs;
pub use programs::*;
pub use sunseal_registers::msp430fr5994::*;

pub const CODE: u32 = 0x4400;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x2C00;
pub const DATA: u32 = 0x8000;
pub const INFO_D: u32 = 0x1800;

// Two registers of eight bits, or their halves, as one of sixteen.
pub const PAIES: u32 = 0x218;
pub const PAIE: u32 = 0x21A;
pub const PAIFG: u32 = 0x21C;
pub const PCIE: u32 = 0x25A;
pub const PCIFG: u32 = 0x25C;
pub const RTCTIM0: u32 = 0x4B0;
pub const RTCTIM1: u32 = 0x4B2;
pub const RTCDATE: u32 = 0x4B4;
pub const RTCAMINHR: u32 = 0x4B8;
pub const MPUIPC0: u32 = 0x5AA;

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
