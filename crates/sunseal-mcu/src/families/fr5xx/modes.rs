// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clock lines, operating point, low-power modes and the ways out of them.

use sunseal_registers::msp430fr5xx::sfr::{NMIIFG, OFIFG};

use super::*;

impl Fr5xx {
    // ---- clocks

    pub(super) fn hz(&self, source: Source) -> u32 {
        let c = &self.facts.clock;
        let modosc = (c.modosc_mhz * 1e6).round() as u32;
        match source {
            Source::Lfxt => self.chip.blocks.cs.crystal_hz(0),
            Source::Vlo => c.vlo_hz,
            Source::LfMod => modosc / 128,
            Source::Mod => modosc,
            Source::Dco => (self.facts.dco.frequency_mhz[self.chip.blocks.cs.dco_setting()] * 1e6)
                .round() as u32,
            Source::Hfxt => self.chip.blocks.cs.crystal_hz(1),
        }
    }

    pub(super) fn jitter(&self, env: &Env, source: Source) -> Option<Jitter> {
        let j = &self.facts.jitter;
        let (percent, salt) = match source {
            Source::Vlo => (j.vlo_sigma_percent, 0),
            Source::Dco => (j.dco_sigma_percent, 1),
            _ => return None,
        };
        let sigma_ps = (1e12 / f64::from(self.hz(source)) * percent / 100.0).round() as u64;
        (sigma_ps != 0)
            .then_some(Jitter { seed: splitmix64(env.common.state.seed ^ salt), sigma_ps })
    }

    pub(super) fn line_for(&self, env: &Env, (source, div): (Source, u32)) -> Rate {
        let hz = match source {
            Source::Dco => env.common.drifted(Drifting::Dco, self.hz(source)),
            Source::Vlo => env.common.drifted(Drifting::Vlo, self.hz(source)),
            _ => self.hz(source),
        };
        (hz, div, self.jitter(env, source))
    }

    /// SMCLK runs: not switched off by SCG1, or asked for by a module.
    pub(super) fn smclk_on(&self, mode: u32) -> bool {
        let b = &self.chip.blocks;
        !b.cs.smclk_off() && (mode & sr::SCG1 == 0 || (b.cs.smclk_requests() && b.requests_smclk()))
    }

    pub(super) fn aclk_on(&self, mode: u32) -> bool {
        let b = &self.chip.blocks;
        mode & sr::OSCOFF == 0 || (b.cs.aclk_requests() && b.requests_aclk())
    }

    pub(super) fn cpu_state(&self, mode: u32, on: bool, smclk_on: bool, aclk_on: bool) -> StateId {
        match self.chip.deep {
            _ if !on => accounts::OFF,
            Some(Deep { rtc: true, .. }) => LPM35,
            Some(_) => LPM45,
            None => msp430::cpu_state(mode, on, smclk_on, aclk_on),
        }
    }

    pub(super) fn check_point(&mut self, env: &mut Env, cpu_on: bool, point: OperatingPoint) {
        env.common.illegal = None;
        if !cpu_on {
            return;
        }
        let l = &self.facts.limits;
        let (vcc_v, mhz) = (env.common.state.vcc_v, f64::from(point.mclk_hz) / 1e6);
        let access_hz = (self.facts.fram.access_max_mhz * 1e6) as u32;
        let paced_hz = point.mclk_hz.min((l.mclk_max_mhz * 1.005e6) as u32);
        let needed = FramController::needed(paced_hz, access_hz);
        let refuse = |addr, what: String| Some(Fault::device(addr, what));
        let clock = (mhz, l.mclk_max_mhz * 1.005);
        let too_fast = env.common.too_fast(clock, self.at.cs[0].base, || {
            let max = l.mclk_max_mhz;
            format!("MCLK {mhz:.3} MHz exceeds the {max} MHz of this part; divide it (DIVMx)")
        });
        if too_fast.is_some() {
            env.common.illegal = too_fast;
        } else if vcc_v < l.vcc_min_v || vcc_v > env.common.dev.supply.vcc_max_v {
            env.common.illegal = refuse(
                self.at.pmm[0].base,
                format!(
                    "supply of {vcc_v:.3} V is outside {} to {} V, which this part needs",
                    l.vcc_min_v, env.common.dev.supply.vcc_max_v
                ),
            );
        } else if self.chip.waits < needed {
            self.chip.blocks.fram.note_too_fast();
            env.common.illegal = refuse(
                self.at.fram[0].base,
                format!(
                    "MCLK {mhz:.3} MHz with {} wait states of FRAM, which needs {needed}; set NWAITS in FRCTL0 before raising the clock",
                    self.chip.waits
                ),
            );
        }
    }

    /// MCLK starts again after the wake-up time of the mode it was in.
    pub(super) fn wake(&mut self, env: &mut Env, from: u32, lpm: u16, now: Picos, cycles: Cycles) {
        let w = &self.facts.wake;
        let dco_us = 1e6 / f64::from(self.hz(Source::Dco));
        let mut time_us = match lpm {
            0 => w.lpm0_ns * 1e-3 + w.lpm0_dco_cycles * dco_us,
            1 | 2 => w.lpm12_us,
            _ => w.lpm34_us + w.lpm34_dco_cycles * dco_us,
        };
        env.common.accounts.count(WAKE_LPM[usize::from(lpm)]);
        if lpm == 0
            && from & sr::CPUOFF != 0
            && self.chip.fram_off
            && self.chip.blocks.fram.powered()
        {
            time_us += self.facts.fram.power_up_us;
            env.common.accounts.count(Event::FramPowerUp);
        }
        let c = &mut self.chip.clocks;
        // A module kept MCLK's source on: the CPU goes on at one of its edges.
        let start = if c.smclk.is_running()
            && self.chip.blocks.cs.mclk(now).0 == self.chip.blocks.cs.smclk(now).0
        {
            c.mclk.join(&c.smclk);
            c.mclk.resume_behind(now, us(time_us), cycles)
        } else {
            let start = now + us(time_us);
            c.mclk.restart(start, cycles);
            start
        };
        env.common.state.now_ps = start.0;
        self.update_clocks(env, start, cycles);
    }

    pub(super) fn note_faults(&mut self) {
        if std::mem::take(&mut self.fx.ofifg) || self.chip.blocks.cs.has_faults() {
            self.chip.blocks.sfr.ifg1 |= OFIFG;
        }
    }

    pub(super) fn user_nmi(&self) -> Option<u16> {
        let on = self.chip.blocks.sfr.ie1 & self.chip.blocks.sfr.ifg1;
        match () {
            () if on & NMIIFG != 0 => Some(2),
            () if on & OFIFG != 0 => Some(4),
            () => None,
        }
    }

    pub(super) fn system_nmi(&self) -> Option<u16> {
        let (fram, mpu) = (self.chip.blocks.fram.snmi(), self.chip.blocks.mpu.snmi());
        [fram, mpu].into_iter().flatten().min()
    }

    // ---- LPM3.5 and LPM4.5

    pub(super) fn go_deep(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        let rtc = self.chip.blocks.rtc.iter().any(Rtc::is_on)
            && self.chip.blocks.cs.lfxt_hz(now).is_some();
        self.lock_pins(env, true, false, now, cycles);
        self.chip.deep = Some(Deep { rtc, since_ps: now.0 });
        self.update_clocks(env, now, cycles);
        self.wake_if_asked();
    }

    /// Leaves LPM3.5 or LPM4.5 if an enabled interrupt of a pin or the RTC waits.
    pub(super) fn wake_if_asked(&mut self) {
        let Some(deep) = self.chip.deep else { return };
        let pins = self.chip.blocks.ports.iter().any(|p| p.asks(0) || p.asks(1));
        if pins || (deep.rtc && self.chip.blocks.rtc.iter().any(Rtc::pending)) {
            self.fx.reset = Some((ResetKind::Bor, cause::LPM5WU));
        }
    }

    /// The core's supply was gone in LPM3.5 or LPM4.5, and with it what no reset sets in its blocks. What has the supply
    /// of the pins stays: their latches and flags, causes of resets, LFXT, and with it in LPM3.5 the RTC (SLAU367P, PMM,
    /// LPM3.5 and LPM4.5).
    pub(super) fn wake_blocks(&mut self, deep: Deep, now: Picos) {
        let b = &mut self.chip.blocks;
        let kept = (b.ports.clone(), b.cs.clone(), b.pmm.clone(), b.sys.clone(), b.rtc.clone());
        b.forget(splitmix64(now.0 as u64));
        let rtc;
        (b.ports, b.cs, b.pmm, b.sys, rtc) = kept;
        if deep.rtc {
            b.rtc = rtc;
        }
    }

    pub(super) fn wake_ram(&mut self, env: &mut Env, off: Picos, noise: u64) {
        let startup = env.common.sram.unwrap_or_else(|| self.facts.sram.startup());
        let dev = Arc::clone(&env.common.dev);
        let device = env.common.state.seed;
        for r in dev.memory.iter().filter(|r| r.kind == RegionKind::Ram) {
            let memory = (&mut env.memory[r.start as usize..=r.end as usize], r.start);
            startup::wake(&mut env.cells, startup, memory, device, noise, off);
        }
    }
}
