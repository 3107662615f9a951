// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Data Watchpoint and Trace unit's counters (Armv7-M ARM, DDI0403, C1.8). Its comparators trap.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::armv7m::dwt::*;
use sunseal_trace::Cycles;

use super::{Access, merge};

/// Event counters of which an overflow would make a trace packet are enabled by bits 17 to 21; of these none is there.
const UNKNOWN: u32 = 1 << 17 | 1 << 20 | 1 << 21;
/// Four comparators, no trace packets.
const FIXED: u32 = 4 << 28 | 1 << 27;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dwt {
    ctrl: u32,
    /// CYCCNT while stopped; while running what it lacks to the CPU's cycles.
    cyccnt: u32,
    exccnt: u8,
    sleepcnt: u8,
}

impl Dwt {
    fn counts(&self, trace: bool) -> bool {
        trace && self.ctrl & CYCCNTENA != 0
    }

    fn cycles(&self, trace: bool, at: Cycles) -> u32 {
        if self.counts(trace) { (at as u32).wrapping_add(self.cyccnt) } else { self.cyccnt }
    }

    /// What starts or stops the counter: keeps its value.
    fn switch(&mut self, trace: (bool, bool), at: Cycles, change: impl FnOnce(&mut Self)) {
        let value = self.cycles(trace.0, at);
        change(self);
        self.cyccnt = if self.counts(trace.1) { value.wrapping_sub(at as u32) } else { value };
    }

    /// Follows a change of DEMCR.TRCENA, which starts and stops the counter.
    pub fn trace_switched(&mut self, on: bool, at: Cycles) {
        self.switch((!on, on), at, |_| {});
    }

    /// Cycles spent on entering or leaving an exception.
    pub fn exception(&mut self, trace: bool, cycles: Cycles) {
        if trace && self.ctrl & EXCEVTENA != 0 {
            self.exccnt = self.exccnt.wrapping_add(cycles as u8);
        }
    }

    /// Clock ticks spent asleep.
    pub fn slept(&mut self, trace: bool, ticks: u64) {
        if trace && self.ctrl & SLEEPEVTENA != 0 {
            self.sleepcnt = self.sleepcnt.wrapping_add(ticks as u8);
        }
    }

    pub fn read(&self, off: u32, trace: bool, cx: &Access<'_>) -> Result<u32, Fault> {
        Ok(match off {
            DWT_CTRL => self.ctrl | FIXED,
            DWT_CYCCNT => self.cycles(trace, cx.at),
            DWT_EXCCNT => u32::from(self.exccnt),
            DWT_SLEEPCNT => u32::from(self.sleepcnt),
            // Never enabled: see write.
            DWT_CPICNT | DWT_LSUCNT | DWT_FOLDCNT => 0,
            // No sample to give.
            DWT_PCSR => u32::MAX,
            _ => return Err(cx.refuse("comparators of the DWT are not modelled")),
        })
    }

    pub fn write(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        trace: bool,
        cx: &Access<'_>,
    ) -> Result<(), Fault> {
        match off {
            DWT_CTRL => {
                let new = merge(self.ctrl, value, mask) & 0x003F_1FFF;
                if new & UNKNOWN != 0 {
                    return Err(cx.refuse(
                        "DWT_CPICNT, DWT_LSUCNT and DWT_FOLDCNT are not modelled; CYCCNT, EXCCNT and SLEEPCNT are",
                    ));
                }
                self.switch((trace, trace), cx.at, |d| d.ctrl = new);
            }
            DWT_CYCCNT => {
                let now = if self.counts(trace) { cx.at as u32 } else { 0 };
                self.cyccnt = merge(self.cycles(trace, cx.at), value, mask).wrapping_sub(now);
            }
            DWT_EXCCNT => self.exccnt = (value & mask) as u8,
            DWT_SLEEPCNT => self.sleepcnt = (value & mask) as u8,
            DWT_CPICNT | DWT_LSUCNT | DWT_FOLDCNT | DWT_PCSR => {}
            _ => return Err(cx.refuse("comparators of the DWT are not modelled")),
        }
        Ok(())
    }
}
