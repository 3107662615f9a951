// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the machine: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, Machine};

use crate::asm::Arg::*;

#[path = "../programs/mod.rs"]
mod programs;
pub use programs::VECTOR_RESET;
pub use programs::*;
pub use sunseal_registers::msp430f5438a::*;

pub const CODE: u32 = 0x5C00;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x5C00;
pub const FLASH_DATA: u32 = 0x8000;
pub const INFO_D: u32 = 0x1800;

// Two registers of eight bits, or their halves, as one of sixteen.
pub const PAIES: u32 = 0x218;
pub const PAIE: u32 = 0x21A;
pub const PAIFG: u32 = 0x21C;
pub const UCA1ICTL: u32 = 0x61C;
pub const UCB0ICTL: u32 = 0x5FC;

/// What a program writes before anything else.
pub const HELD: &[(u32, u16)] = &[(WDTCTL, 0x5A80)];

pub fn machine() -> Machine {
    Machine::new(&Device::msp430f5438a())
}

impl Program {
    /// Does what leads to a reset, unless SYSRSTIV, which goes to R5, says that `cause` has been.
    pub fn until_cause(
        &mut self,
        cause: u32,
        act: impl FnOnce(&mut Self) -> &mut Self,
    ) -> &mut Self {
        self.op("MOV", Abs(SYSRSTIV), R(5)).op("CMP", Imm(cause), R(5));
        let again = self.ahead("JEQ");
        act(self);
        self.land(again)
    }
}
