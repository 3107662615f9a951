// SPDX-License-Identifier: MIT OR Apache-2.0
//! Low-power modes: how sleep begins, what it leaves running, how it ends, and which RAM it keeps.

use sunseal_registers::msp432p4::pcm::{LPM_INVALID_CLK_IFG, LPM_INVALID_TR_IFG};

use super::*;
use crate::blocks::wide::Half;

impl Soc {
    pub(super) fn fall_asleep(&mut self, cycles: Cycles, for_event: bool) {
        let now = self.now();
        let r = &mut self.r;
        let mut sleep = Sleep::Lpm0;
        if r.scs.sleep_deep() {
            let deep = r.blocks.pcm[0].deep();
            let clocks_asked = r.blocks.timers.iter().any(Half::requests_clock)
                || r.blocks.eusci.iter().any(Half::requests_clock)
                || r.blocks.adc[0].busy()
                || !r.blocks.wdt[0].held() && !r.blocks.wdt[0].low_frequency();
            if r.blocks.pcm[0].refuses(deep) {
                r.blocks.pcm[0].flag(LPM_INVALID_TR_IFG);
            } else if clocks_asked && !r.blocks.pcm[0].forces_entry() {
                r.blocks.pcm[0].flag(LPM_INVALID_CLK_IFG);
            } else {
                sleep = match deep {
                    Deep::Lpm3 if r.blocks.rtc[0].held() && r.blocks.wdt[0].held() => Sleep::Lpm4,
                    Deep::Lpm3 => Sleep::Lpm3,
                    Deep::Lpm35 => Sleep::Lpm35,
                    Deep::Lpm45 => Sleep::Lpm45,
                };
            }
        }
        r.sleep = Some(sleep);
        r.for_event = for_event;
        let mut start = now;
        if sleep != Sleep::Lpm0 {
            // The way down still costs what the CPU costs.
            start = now + us(self.facts.pcm.lpm3_entry_us);
            self.common.state.now_ps = start.0;
        }
        self.r.slept_from = self.r.lines.fclk.ticks_at(start);
        if matches!(sleep, Sleep::Lpm35 | Sleep::Lpm45) {
            let keep = sleep == Sleep::Lpm35;
            self.r.blocks.dio[0].lock(true);
            self.r.blocks.pcm[0].lock(keep);
            let seed = self.common.state.seed ^ start.0 as u64;
            self.scramble_ram(seed, |bank| !(keep && bank == 0));
        } else if sleep != Sleep::Lpm0 {
            let retained = self.r.sysctl.retained();
            let seed = self.common.state.seed ^ start.0 as u64;
            self.scramble_ram(seed, |bank| retained >> bank & 1 == 0);
        }
        self.update_clocks(start, cycles);
        self.refresh(start, cycles);
    }

    /// The CPU goes on: at an edge of its clock from LPM0, behind the wake-up time from deeper modes,
    /// by a reset from those that lose their registers.
    /// True if it starts at its vector.
    pub(super) fn wake(&mut self, cycles: Cycles) -> bool {
        let Some(sleep) = self.r.sleep.take() else { return false };
        let now = self.now();
        let p = &self.facts.pcm;
        let fclk = self.r.lines.fclk;
        let start = match sleep {
            Sleep::Lpm0 => {
                let trace = self.r.scs.trace_enabled();
                let slept = fclk.ticks_at(now).saturating_sub(self.r.slept_from);
                self.r.dwt.slept(trace, slept);
                let mclk = &mut self.r.lines.base.mclk;
                mclk.join(&fclk);
                mclk.resume(now, p.lpm0_wake_cycles.into(), cycles)
            }
            Sleep::Lpm3 | Sleep::Lpm4 => {
                let start = now + us(p.lpm3_wake_us);
                self.r.lines.base.mclk.restart(start, cycles);
                start
            }
            Sleep::Lpm35 | Sleep::Lpm45 => {
                let wait = if sleep == Sleep::Lpm35 { p.lpm35_wake_us } else { p.lpm45_wake_us };
                let start = now + us(wait);
                self.common.state.now_ps = start.0;
                let mut rtc = self.r.blocks.rtc[0].clone();
                rtc.wake();
                self.reset_with(Class::Por, 0, true, start, cycles);
                if sleep == Sleep::Lpm35 {
                    self.r.blocks.rtc[0] = rtc;
                }
                return true;
            }
        };
        self.common.state.now_ps = start.0;
        self.update_clocks(start, cycles);
        false
    }
}
