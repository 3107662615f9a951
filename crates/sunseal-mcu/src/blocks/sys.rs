// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYS: reset causes. The NMI vector registers are put together by the machine.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::sys::{
    SYSBERRIV, SYSBSLC, SYSCTL, SYSJMBC, SYSRIVECT, SYSRSTIV,
};

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sys {
    ctl: u16,
    bslc: u16,
    /// Bit n: reset cause 2 n is pending.
    causes: u32,
}

impl Sys {
    pub fn reset(&mut self) {
        self.ctl = 0;
        self.bslc = 0;
    }

    pub fn add_cause(&mut self, code: u8) {
        self.causes |= 1 << (code / 2);
    }
}

impl Block for Sys {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        match off {
            SYSCTL => Ok(self.ctl),
            SYSBSLC => Ok(self.bslc),
            SYSJMBC => Ok(0x000C),
            SYSBERRIV => Ok(0),
            SYSRSTIV => {
                let bit = self.causes.trailing_zeros();
                if bit == 32 {
                    return Ok(0);
                }
                self.causes &= !(1 << bit);
                Ok(2 * bit as u16)
            }
            _ => Err(cx.no_register()),
        }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        match off {
            SYSCTL => {
                let new = merge(self.ctl, value, mask);
                if new & SYSRIVECT != 0 {
                    return Err(cx.refuse("interrupt vectors in RAM (SYSRIVECT) are not modelled"));
                }
                self.ctl = new;
            }
            SYSBSLC => self.bslc = merge(self.bslc, value, mask),
            SYSRSTIV => self.causes = 0,
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, _: u64) {
        *self = Self::default();
    }
}
