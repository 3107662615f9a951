// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYSCFG (RM0351 chapter 9): which port's pin is which line of EXTI.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::syscfg::*;

use super::{Block, Cx, Stm32, merge, only};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Syscfg {
    exticr: [u32; 4],
}

impl Syscfg {
    /// The number of the port whose pin `line` is EXTI's line of that number.
    pub fn port(&self, line: u32) -> usize {
        (self.exticr[(line / 4) as usize] >> (4 * (line % 4)) & 0xF) as usize
    }
}

impl Block<Stm32> for Syscfg {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            SYSCFG_MEMRMP => 0,
            SYSCFG_CFGR1 => 0x7C00_0001,
            SYSCFG_EXTICR1..=SYSCFG_EXTICR4 => self.exticr[(off / 4 - 2) as usize],
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            SYSCFG_MEMRMP => {
                let what = "only the flash is modelled at address 0 (SYSCFG_MEMRMP)";
                only(value & mask, 0, what, cx)?;
            }
            SYSCFG_CFGR1 => {}
            SYSCFG_EXTICR1..=SYSCFG_EXTICR4 => {
                let kept = &mut self.exticr[(off / 4 - 2) as usize];
                *kept = merge(*kept, value, mask) & 0xFFFF;
                cx.fx.pins = true;
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
