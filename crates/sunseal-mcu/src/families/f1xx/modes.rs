// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clock lines, operating point, low-power modes, and flash as the CPU sees it.

use std::ops::Range;

use super::*;

impl F1xx {
    // ---- clocks and modes

    /// SMCLK runs: not switched off by SCG1, or kept by a USART.
    pub(super) fn smclk_on(&self, mode: u32) -> bool {
        mode & sr::SCG1 == 0 || self.chip.blocks.usarts.iter().any(Block::requests_smclk)
    }

    /// LFXT1 runs: not switched off by OSCOFF, or MCLK comes from it.
    pub(super) fn aclk_on(&self, env: &Env, mode: u32) -> bool {
        mode & sr::OSCOFF == 0
            || (mode & sr::CPUOFF == 0
                && self.chip.blocks.clock.mclk(&self.facts, dco_at(env)).source == Source::Lfxt1)
    }

    pub(super) fn check_point(&self, env: &mut Env, cpu_on: bool, point: OperatingPoint) {
        env.common.illegal = None;
        if !cpu_on {
            return;
        }
        let (speed, vcc_v) = (&self.facts.speed, env.common.state.vcc_v);
        let mhz = f64::from(point.mclk_hz) / 1e6;
        if vcc_v < speed.vcc_low_v || vcc_v > env.common.dev.supply.vcc_max_v {
            env.common.illegal = Some(Fault::device(
                at::DCOCTL,
                format!(
                    "supply of {vcc_v:.3} V is outside {} to {} V, in which programs run (MCLK {mhz:.3} MHz)",
                    speed.vcc_low_v, env.common.dev.supply.vcc_max_v,
                ),
            ));
        } else {
            let max = speed.mclk_max_hz(vcc_v) / 1e6;
            env.common.illegal = env.common.too_fast((mhz, max), at::DCOCTL, || {
                let needs = speed.vcc_min_v(point.mclk_hz);
                format!(
                    "MCLK {mhz:.3} MHz exceeds the {max:.3} MHz that a supply of {vcc_v:.3} V allows; it needs {needs:.3} V, or a slower clock"
                )
            });
        }
    }

    /// MCLK starts again: at its next edge if its source ran on, after the DCO's start-up time if not.
    pub(super) fn wake(
        &mut self,
        env: &mut Env,
        old: u32,
        smclk_was_on: bool,
        now: Picos,
        cycles: Cycles,
    ) {
        let facts = Arc::clone(&self.facts);
        let at = dco_at(env);
        let tap = self.chip.blocks.clock.mclk(&facts, at);
        let ran_on = match tap.source {
            Source::Dco => {
                let feeds_smclk = self.chip.blocks.clock.smclk(&facts, at).source == Source::Dco;
                old & (sr::SCG0 | sr::SCG1) == 0 || (smclk_was_on && feeds_smclk)
            }
            Source::Lfxt1 | Source::Xt2 => true,
        };
        let start = if ran_on {
            let c = &mut self.chip.clocks;
            c.mclk.join(&c.smclk);
            c.mclk.resume(now, 0, cycles)
        } else {
            let start = now + us(facts.wake.dco_us);
            self.chip.clocks.mclk.restart(start, cycles);
            start
        };
        env.common.state.now_ps = start.0;
        self.update_clocks(env, start, cycles);
    }

    pub(super) fn note_faults(&mut self) {
        if self.chip.blocks.clock.has_fault() {
            self.chip.ifg1 |= OFIFG;
        }
    }

    pub(super) fn has_nmi(&self) -> bool {
        let c = &self.chip;
        c.ie1 & c.ifg1 & (OFIFG | NMIIFG) != 0
            || (c.ie1 & ACCVIE != 0 && c.blocks.flash.access_violation())
    }

    // ---- flash

    pub(super) fn flash_changed(&mut self, env: &mut Env, done: Vec<Range<u32>>) {
        if !self.chip.blocks.flash.is_busy() {
            self.hide_flash(env, false);
        }
        for range in done {
            env.code_changed(range.start & !1..range.end);
        }
    }

    msp430::hidden_flash!();

    pub(super) fn book_flash(&self, env: &mut Env, now: Picos, cycles: Cycles) {
        let state = match self.chip.blocks.flash.activity() {
            Activity::Idle => accounts::IDLE,
            Activity::Write => WRITE,
            Activity::Erase => ERASE,
        };
        env.common.accounts.set_state(FLASH, state, now, cycles, env.common.uncached);
    }
}
