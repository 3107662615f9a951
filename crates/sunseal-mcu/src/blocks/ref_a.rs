// SPDX-License-Identifier: MIT OR Apache-2.0
//! REF_A, the shared reference of the FR5xx (SLAU367P, REF_A chapter).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::r#ref::{
    BGMODE, REFBGACT, REFBGOT, REFBGRDY, REFGENACT, REFGENBUSY, REFGENOT, REFGENRDY, REFON, REFVSEL,
};
use sunseal_trace::Picos;

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;

const STATUS: u16 = REFGENACT | REFBGACT | REFGENBUSY | BGMODE | REFGENRDY | REFBGRDY;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefA {
    ctl0: u16,
    settle_ps: u128,
    /// The ADC asks for it.
    wanted: bool,
    on_since: Option<u128>,
}

impl RefA {
    pub fn new(settle: Picos) -> Self {
        Self { ctl0: 0, settle_ps: settle.0, wanted: false, on_since: None }
    }

    pub fn reset(&mut self) {
        *self = Self::new(Picos(self.settle_ps));
    }

    pub fn is_on(&self) -> bool {
        self.ctl0 & (REFON | REFGENOT) != 0 || self.wanted
    }

    /// Output voltage that REFVSEL asks for, as its number.
    pub fn level(&self) -> usize {
        usize::from((self.ctl0 & REFVSEL) >> 4)
    }

    pub fn settled(&self, now: Picos) -> bool {
        self.on_since.is_some_and(|s| s + self.settle_ps <= now.0)
    }

    /// The ADC converts against it, or does no longer.
    pub fn want(&mut self, wanted: bool, now: Picos) {
        self.wanted = wanted;
        self.update(now);
    }

    fn update(&mut self, now: Picos) {
        match (self.is_on(), self.on_since) {
            (true, None) => self.on_since = Some(now.0),
            (false, _) => self.on_since = None,
            _ => {}
        }
    }
}

impl Block for RefA {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        let mut status = 0;
        if self.is_on() {
            status |= REFGENACT | REFBGACT | BGMODE;
            if self.settled(cx.now) {
                status |= REFGENRDY | REFBGRDY;
            }
        }
        if self.wanted {
            status |= REFGENBUSY;
        }
        Ok(self.ctl0 & !(REFGENOT | REFBGOT) | status)
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        let new = merge(self.ctl0, value, mask) & !STATUS;
        if self.wanted && (new ^ self.ctl0) & (REFVSEL | REFON) != 0 {
            cx.lint(crate::lint::LintKind::LockedBits);
            return Ok(());
        }
        if (new ^ self.ctl0) & REFVSEL != 0 {
            self.on_since = None;
        }
        self.ctl0 = new;
        self.update(cx.now);
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }
}
