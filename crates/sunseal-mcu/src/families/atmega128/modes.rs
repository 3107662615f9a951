// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clocks, operating point, sleep modes and the ways out of them.

use super::*;

impl Soc {
    // ---- clocks

    pub(super) fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
        let on = self.common.runs();
        let facts = Arc::clone(&self.facts);
        let r = &mut self.regs;
        let source = r.source(&facts);
        let (hz, div) = (source.map_or(1_000_000, |s| s.0), r.divider());
        let runs = |keeps: fn(Sleep) -> bool| on && r.sleep.is_none_or(keeps);
        let (adc_on, io_on, cpu_on) =
            (runs(Sleep::keeps_clock), runs(|s| s == Sleep::Idle), runs(|_| false));
        let asy_on = r.asynchronous.on && runs(Sleep::keeps_asy);
        let asy_hz = if asy_on { r.tosc_hz } else { 0 };
        r.cpu_hz = (hz / div).max(1);
        let l = &mut r.clocks;
        let at = |on: bool| (if on { hz } else { 0 }, div, None);
        // While the CPU sleeps its line is put right at wake-up.
        let cpu = if cpu_on { at(true) } else { l.cpu.rate() };
        retune_together(
            now,
            &mut [(&mut l.adc, at(adc_on)), (&mut l.io, at(io_on)), (&mut l.cpu, cpu)],
        );
        l.asy.retune(now, asy_hz, 1, None);
        // Its period lies on a line through the two supplies of the table.
        let w = &facts.watchdog;
        let slope = (w.timeout_5v_ms - w.timeout_3v_ms) / 2.0;
        let timeout_s = (w.timeout_3v_ms + slope * (self.common.state.vcc_v - 3.0)) * 1e-3;
        l.wdt.retune(now, if on { (16384.0 / timeout_s).round() as u32 } else { 0 }, 1, None);
        let state = match (on, r.sleep) {
            (false, _) => accounts::OFF,
            (true, None) => accounts::ACTIVE,
            (true, Some(sleep)) => sleep.state(),
        };
        let point = OperatingPoint {
            mclk_hz: if cpu_on { hz / div } else { 0 },
            smclk_hz: if io_on { hz / div } else { 0 },
            aclk_hz: asy_hz,
            vcore: 0,
        };
        self.set_state(accounts::CPU, state, now, cycles);
        self.common.accounts.set_point(point, now, cycles, 0);
        self.book_parts(now, cycles);
        self.check_point(cpu_on, point.mclk_hz, source.err());
    }

    pub(super) fn set_state(
        &mut self,
        component: ComponentId,
        state: StateId,
        now: Picos,
        cycles: Cycles,
    ) {
        self.common.accounts.set_state(component, state, now, cycles, 0);
    }

    /// States of what draws current beside the CPU.
    pub(super) fn book_parts(&mut self, now: Picos, cycles: Cycles) {
        let on = self.common.runs();
        let r = &self.regs;
        let switch = |is_on: bool| if on && is_on { accounts::ON } else { accounts::OFF };
        let awake = matches!(r.sleep, None | Some(Sleep::Idle));
        let states = [
            (ADC, switch(r.adc.is_on() && r.sleep.is_none_or(Sleep::keeps_clock))),
            (WDT, switch(r.wdt.is_on())),
            (TIMER_OSCILLATOR, switch(r.asynchronous.on && r.sleep.is_none_or(Sleep::keeps_asy))),
            (BOD, switch(r.bod_level(&self.facts).is_some())),
            (COMPARATOR, switch(awake && r.acsr & ACD == 0)),
        ];
        for (component, state) in states {
            self.set_state(component, state, now, cycles);
        }
    }

    pub(super) fn check_point(&mut self, cpu_on: bool, hz: u32, no_clock: Option<&'static str>) {
        self.common.illegal = None;
        if !cpu_on {
            return;
        }
        let speed = &self.facts.speed;
        let (vcc_v, vcc_max_v) = (self.common.state.vcc_v, self.common.dev.supply.vcc_max_v);
        let mhz = f64::from(hz) / 1e6;
        let why = if let Some(why) = no_clock {
            why.to_owned()
        } else if self.regs.fuses[2] & 2 == 0 {
            "the fuse M103C is programmed, and ATmega103 compatibility mode is not modelled; write 0xff to the extended fuses".to_owned()
        } else if vcc_v < speed.vcc_min_v || vcc_v > vcc_max_v {
            format!(
                "supply of {vcc_v:.3} V is outside {} to {vcc_max_v} V, which this part needs at {mhz:.4} MHz, and no brown-out detector holds it in reset",
                speed.vcc_min_v
            )
        } else {
            let max = speed.clock_max_mhz;
            self.common.illegal = self.common.too_fast((mhz, max), FUSES_START, || {
                format!(
                    "a clock of {mhz:.4} MHz exceeds the {max} MHz that this part allows at {vcc_v:.2} V; fit a slower crystal or divide it (XDIV)"
                )
            });
            return;
        };
        self.common.illegal = Some(Fault::device(FUSES_START, why));
    }

    /// The CPU slept since `mode` and is to run again: at the next edge of its clock, or when the oscillator has
    /// started.
    pub(super) fn wake(&mut self, mode: Sleep, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let (hz, startup, _) = self.regs.source(&facts).unwrap_or((1_000_000, 6, 0.0));
        let freq_hz = (hz / self.regs.divider()).max(1);
        let l = &mut self.regs.clocks;
        let start = if mode.keeps_clock() {
            l.cpu.join(&l.adc);
            l.cpu.resume(now, 0, cycles)
        } else {
            let powered_down = matches!(mode, Sleep::PowerDown | Sleep::PowerSave);
            let ticks = if powered_down { startup } else { facts.startup.standby_ck };
            let start = now + Picos::of_ticks(ticks, freq_hz);
            l.cpu.restart(start, cycles);
            start
        };
        if !mode.keeps_clock() {
            // Meanwhile the oscillator runs and nothing else: standby.
            self.set_state(accounts::CPU, STANDBY, now, cycles);
            self.common.accounts.passed = Some((STANDBY, start.since(now)));
        }
        if self.regs.asynchronous.on
            && let Some((_, tick)) = &mut self.regs.asynchronous.stale
        {
            *tick = self.regs.clocks.asy.ticks_at(start);
        }
        self.common.state.now_ps = start.0;
        self.regs.sleep = None;
        self.update_clocks(start, cycles);
    }

    pub(super) fn fall_asleep(&mut self, now: Picos, cycles: Cycles) {
        let r = &mut self.regs;
        if r.mcucr & SE == 0 {
            return;
        }
        let bit = |b: u8| u8::from(r.mcucr & b != 0);
        let mode = match bit(SM2) << 2 | bit(SM1) << 1 | bit(SM0) {
            0 => Sleep::Idle,
            1 => Sleep::AdcNoiseReduction,
            2 => Sleep::PowerDown,
            3 => Sleep::PowerSave,
            6 => Sleep::Standby,
            7 => Sleep::ExtendedStandby,
            n => {
                let why = format!("sleep mode {n} (SM2:0 in MCUCR) is reserved");
                self.common.pending_fault =
                    Some(Fault::device(DATA_SPACE | u32::from(at::MCUCR), why));
                return;
            }
        };
        (0..4).for_each(|i| r.advance_timer(i, now));
        if r.asynchronous.on && !mode.keeps_clock() {
            let tick = r.clocks.asy.ticks_at(now);
            r.asynchronous.stale = Some((r.timers[0].value(tick, r.prescaler_0), u64::MAX));
        }
        if mode == Sleep::AdcNoiseReduction {
            r.adc.sleep(now, &r.clocks.adc);
        } else if mode != Sleep::Idle {
            r.adc.stop();
        }
        r.sleep = Some(mode);
        self.update_clocks(now, cycles);
    }
}
