// SPDX-License-Identifier: MIT OR Apache-2.0
//! REF_A, the shared reference (SLAU356I chapter 21).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::ref_a::{
    REFBGACT, REFBGRDY, REFGENACT, REFGENRDY, REFON, REFVSEL,
};
use sunseal_trace::Picos;

use super::wide::{Block, Cx, P4, merge16};
use crate::device::us;

const SETTABLE: u16 = 0x0C3B;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefA {
    ctl0: u16,
    /// Since when it has been on with its present level.
    since: u128,
}

impl RefA {
    pub fn is_on(&self) -> bool {
        self.ctl0 & REFON != 0
    }

    pub fn level(&self) -> usize {
        usize::from((self.ctl0 & REFVSEL) >> 4)
    }

    pub fn settled(&self, now: Picos, settle_us: f64) -> bool {
        self.is_on() && now.0 >= self.since + us(settle_us).0
    }
}

impl Block<P4> for RefA {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        let on = if self.is_on() { REFGENACT | REFBGACT } else { 0 };
        let ready = if self.settled(cx.now, cx.dev.msp432().reference.settle_us) {
            REFGENRDY | REFBGRDY
        } else {
            0
        };
        Ok(u32::from(self.ctl0 | on | ready))
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        let new = merge16(self.ctl0, value, mask) & SETTABLE;
        if (new ^ self.ctl0) & (REFON | REFVSEL) != 0 {
            self.since = cx.now.0;
        }
        self.ctl0 = new;
        Ok(())
    }
}
