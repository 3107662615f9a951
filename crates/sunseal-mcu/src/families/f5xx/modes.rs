// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clock lines, operating point, low-power modes, and flash as the CPU sees it.

use std::ops::Range;

use sunseal_registers::msp430fr5xx::sfr::{NMIIFG, OFIFG};
use sunseal_registers::msp430x5xx::flash::ACCVIE;

use super::*;

impl F5xx {
    // ---- clocks and modes

    pub(super) fn line_for(&self, env: &Env, tap: Tap) -> Rate {
        let jitter = (tap.source == Source::Vlo).then(|| self.vlo_jitter(env));
        let drifting = match tap.source {
            Source::Vlo => Drifting::Vlo,
            // The FLL holds the DCO to REFO.
            Source::Refo | Source::Dco | Source::DcoDiv => Drifting::Refo,
        };
        (env.common.drifted(drifting, tap.hz), tap.div, jitter)
    }

    pub(super) fn vlo_jitter(&self, env: &Env) -> Jitter {
        let c = &self.facts.clock;
        let period_ps = 1e12 / f64::from(c.vlo_hz);
        Jitter {
            seed: env.common.state.seed,
            sigma_ps: (period_ps * c.vlo_jitter.sigma_percent / 100.0).round() as u64,
        }
    }

    /// SMCLK runs: not switched off by SCG1, or asked for by a module.
    pub(super) fn smclk_on(&self, mode: u32) -> bool {
        let b = &self.chip.blocks;
        !b.ucs.smclk_off()
            && (mode & sr::SCG1 == 0 || (b.ucs.smclk_requests() && b.requests_smclk()))
    }

    pub(super) fn aclk_on(&self, mode: u32) -> bool {
        let b = &self.chip.blocks;
        mode & sr::OSCOFF == 0 || (b.ucs.aclk_requests() && b.requests_aclk())
    }

    pub(super) fn check_point(&self, env: &mut Env, cpu_on: bool, point: OperatingPoint) {
        env.common.illegal = None;
        if !cpu_on {
            return;
        }
        let level = &self.facts.pmm.level[usize::from(point.vcore)];
        let vcc_v = env.common.state.vcc_v;
        let mhz = f64::from(point.mclk_hz) / 1e6;
        let clock = (mhz, f64::from(level.mclk_max_hz()) / 1e6);
        let too_fast = env.common.too_fast(clock, self.at.ucs[0].base, || {
            let (max, vcore) = (level.mclk_max_mhz, point.vcore);
            format!(
                "MCLK {mhz:.3} MHz exceeds the {max} MHz that core voltage level {vcore} allows at {vcc_v:.2} V; raise PMMCOREV before the clock"
            )
        });
        if too_fast.is_some() {
            env.common.illegal = too_fast;
        } else if vcc_v < level.vcc_min_v || vcc_v > env.common.dev.supply.vcc_max_v {
            env.common.illegal = Some(Fault::device(
                self.at.pmm[0].base,
                format!(
                    "supply of {vcc_v:.3} V is outside {} to {} V, which core voltage level {} needs (MCLK {:.3} MHz)",
                    level.vcc_min_v,
                    env.common.dev.supply.vcc_max_v,
                    point.vcore,
                    f64::from(point.mclk_hz) / 1e6
                ),
            ));
        }
    }

    /// MCLK starts again: at its next edge from LPM0 and LPM1 (or where a module kept SMCLK on), after
    /// the wake-up time from deeper modes.
    pub(super) fn wake(
        &mut self,
        env: &mut Env,
        from: u32,
        smclk_was_on: bool,
        now: Picos,
        cycles: Cycles,
    ) {
        let facts = Arc::clone(&self.facts);
        let tap = self.chip.blocks.ucs.mclk(&facts);
        let shallow = from & sr::SCG1 == 0 && from & sr::OSCOFF == 0;
        let start = if shallow || smclk_was_on {
            let c = &mut self.chip.clocks;
            c.mclk.join(&c.smclk);
            c.mclk.resume(now, facts.wake.lpm01_cycles.into(), cycles)
        } else {
            let w = &facts.wake;
            let mhz = f64::from(tap.hz / tap.div) / 1e6;
            let time_us = match self.chip.blocks.pmm.wakes_fast() {
                true if mhz >= w.fast_clock_threshold_mhz => w.fast_us,
                true => w.fast_slow_clock_us,
                false => w.slow_us,
            };
            let start = now + us(time_us);
            self.chip.clocks.mclk.restart(start, cycles);
            start
        };
        env.common.state.now_ps = start.0;
        self.update_clocks(env, start, cycles);
    }

    pub(super) fn note_faults(&mut self) {
        if std::mem::take(&mut self.fx.ofifg) || self.chip.blocks.ucs.has_faults() {
            self.chip.blocks.sfr.ifg1 |= OFIFG;
        }
    }

    pub(super) fn user_nmi(&self) -> Option<u16> {
        let c = &self.chip.blocks;
        let on = c.sfr.ie1 & c.sfr.ifg1;
        if on & NMIIFG != 0 {
            Some(2)
        } else if on & OFIFG != 0 {
            Some(4)
        } else if c.sfr.ie1 & ACCVIE != 0 && c.flash.access_violation() {
            Some(6)
        } else {
            None
        }
    }

    pub(super) fn flash_changed(&mut self, env: &mut Env, done: Vec<Range<u32>>) {
        self.hide_flash(env, false);
        for range in done {
            env.code_changed(range.start & !1..range.end);
        }
    }

    msp430::hidden_flash!();
}
