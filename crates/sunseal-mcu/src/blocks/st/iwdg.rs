// SPDX-License-Identifier: MIT OR Apache-2.0
//! The independent watchdog (RM0351 chapter 36): a counter of LSI that only a reset stops.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::iwdg::{IWDG_KR, IWDG_PR, IWDG_RLR, IWDG_SR, IWDG_WINR};
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;
use crate::lint::LintKind;

const START: u32 = 0xCCCC;
const RELOAD: u32 = 0xAAAA;
const UNLOCK: u32 = 0x5555;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Iwdg {
    started: bool,
    unlocked: bool,
    pr: u32,
    rlr: u32,
    origin: u64,
    clock: Line,
}

impl Iwdg {
    pub fn new() -> Self {
        Self { rlr: 0xFFF, ..Self::default() }
    }

    /// Started, it keeps LSI on.
    pub fn is_started(&self) -> bool {
        self.started
    }

    fn reload(&mut self, now: Picos) {
        self.origin = self.clock.ticks_at(now);
    }
}

impl Block<Stm32> for Iwdg {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            IWDG_KR | IWDG_SR => 0,
            IWDG_PR => self.pr,
            IWDG_RLR => self.rlr,
            IWDG_WINR => 0xFFF,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            IWDG_KR => match value & mask & 0xFFFF {
                START => {
                    self.started = true;
                    self.unlocked = false;
                    cx.fx.clocks = true;
                    self.reload(cx.now);
                }
                RELOAD => {
                    self.unlocked = false;
                    self.reload(cx.now);
                }
                UNLOCK => self.unlocked = true,
                _ => self.unlocked = false,
            },
            IWDG_PR | IWDG_RLR | IWDG_WINR if !self.unlocked => cx.lint(LintKind::LockedBits),
            IWDG_PR => self.pr = (merge(self.pr, value, mask) & 7).min(6),
            IWDG_RLR => self.rlr = merge(self.rlr, value, mask) & 0xFFF,
            IWDG_WINR => {
                only(!value & mask & 0xFFF, 0, "the watchdog's window is not modelled", cx)?
            }
            IWDG_SR => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, now: Picos) {
        let gone = self.clock.ticks_at(now).saturating_sub(self.origin);
        self.clock = *clock;
        self.origin = self.clock.ticks_at(now).saturating_sub(gone);
    }

    fn due(&self, _: &()) -> Option<Picos> {
        let ticks = (4u64 << self.pr) * u64::from(self.rlr + 1);
        let end = self.clock.time_of(self.origin + ticks);
        (self.started && end != Picos::MAX).then_some(end)
    }
}
