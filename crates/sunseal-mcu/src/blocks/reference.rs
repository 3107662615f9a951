// SPDX-License-Identifier: MIT OR Apache-2.0
//! REF, the shared voltage reference.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x5xx::r#ref::{REFMSTR, REFON, REFVSEL};

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;

const READ_ONLY: u16 = 0x0F00;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ref {
    ctl0: u16,
    /// REFVSEL as ADC12CTL0 asks for it while REFMSTR = 0, and whether it is on.
    pub adc: (bool, u8),
    on_since: Option<u128>,
}

impl Ref {
    pub fn new() -> Self {
        Self { ctl0: REFMSTR, adc: (false, 0), on_since: None }
    }

    /// Whether the generator runs, and its REFVSEL.
    pub fn output(&self) -> (bool, usize) {
        if self.ctl0 & REFMSTR != 0 {
            (self.ctl0 & REFON != 0, usize::from((self.ctl0 & REFVSEL) >> 4))
        } else {
            (self.adc.0, usize::from(self.adc.1))
        }
    }

    /// Notes since when the present output stands.
    pub fn update(&mut self, now_ps: u128, before: (bool, usize)) {
        let after = self.output();
        if before != after {
            self.on_since = after.0.then_some(now_ps);
        }
    }

    /// When the output was switched on or changed last, if it is on.
    pub fn on_since(&self) -> Option<u128> {
        self.on_since
    }
}

impl Block for Ref {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        // REFGENACT and REFBGACT follow the output.
        Ok(self.ctl0 | if self.output().0 { 0x0300 } else { 0 })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        let before = self.output();
        self.ctl0 = merge(self.ctl0, value, mask) & !READ_ONLY;
        self.update(cx.now.0, before);
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        *self = Self::new();
    }
}
