// SPDX-License-Identifier: MIT OR Apache-2.0
//! Low-power modes: RM0351 section 5.3.

use super::*;

impl Soc {
    pub(super) fn fall_asleep(&mut self, cycles: Cycles, for_event: bool) {
        let now = self.now();
        let mut sleep = Sleep::Light;
        if self.r.scs.sleep_deep() {
            if self.r.blocks.exti[0].pending() != 0 {
                // The way into Stop is ignored (RM0351 p. 156).
                return;
            }
            sleep = Sleep::Deep(self.r.pwr.deep());
            if self.stopped_serials_busy() {
                self.common.pending_fault = Some(Fault::device(
                    self.map.base(Slot::pwr),
                    "a Stop mode is entered while a USART, SPI or I2C still sends, whose clock stops with it; wait for TC or the end of BSY first",
                ));
            }
        }
        self.r.sleep = Some(sleep);
        self.r.for_event = for_event;
        self.r.slept_from = self.r.lines.fclk.ticks_at(now);
        if let Sleep::Deep(deep @ (Deep::Standby | Deep::Shutdown)) = sleep {
            let keeps = deep == Deep::Standby && self.r.pwr.keeps_sram2();
            let seed = self.common.state.seed ^ now.0 as u64;
            self.scramble_ram(seed, true, !keeps);
        }
        self.update_clocks(now, cycles);
        self.refresh(now, cycles);
    }

    /// What ends Standby or Shutdown now: the RTC, wakeup pins.
    pub(super) fn leaves_standby(&self) -> Option<(bool, u32)> {
        /// WKUP1 to WKUP5 (data sheet, pin definitions).
        const PINS: [(u8, u8); 5] = [(b'A', 0), (b'C', 13), (b'E', 6), (b'A', 2), (b'C', 5)];
        let (on, low) = self.r.pwr.wakeup_pins();
        let at = |(port, bit): (u8, u8)| self.r.blocks.level(Pin { port, bit });
        let pins = (0..5).fold(0, |set, i| {
            let active = at(PINS[i]) != (low >> i & 1 != 0);
            set | u32::from(active && on >> i & 1 != 0) << i
        });
        let rtc = &self.r.blocks.rtc[0];
        let rtc = self.r.pwr.internal_wakeup() && (rtc.wakeup() || rtc.alarm());
        (rtc || pins != 0).then_some((rtc, pins))
    }

    /// The CPU goes on: at an edge of its clock from Sleep, behind the wake-up time from Stop, by a reset from Standby
    /// and Shutdown. True if it starts at its vector.
    pub(super) fn wake(&mut self, cycles: Cycles) -> bool {
        let now = self.now();
        let p = &self.facts.power;
        let deep = match self.r.sleep {
            None => return false,
            Some(Sleep::Light) => {
                self.r.sleep = None;
                let fclk = self.r.lines.fclk;
                let trace = self.r.scs.trace_enabled();
                let slept = fclk.ticks_at(now).saturating_sub(self.r.slept_from);
                self.r.dwt.slept(trace, slept);
                self.r.lines.hclk.join(&fclk);
                let start = self.r.lines.hclk.resume(now, p.sleep_wake_cycles.into(), cycles);
                self.go_on(start, cycles);
                return false;
            }
            Some(Sleep::Deep(deep)) => deep,
        };
        let wait = us(match deep {
            Deep::Stop0 => p.stop0_wake_us,
            Deep::Stop1 => p.stop1_wake_us,
            Deep::Stop2 => p.stop2_wake_us,
            Deep::Standby => p.standby_wake_us,
            Deep::Shutdown => p.shutdown_wake_us,
        });
        if matches!(deep, Deep::Standby | Deep::Shutdown) {
            let (rtc, pins) = self.leaves_standby().unwrap_or_default();
            let start = now + wait;
            self.common.state.now_ps = start.0;
            let flags = self.r.rcc.clone();
            self.reset_as(Cause::Brownout, start, cycles);
            // Not a reset of its own that RCC_CSR would tell.
            self.r.rcc.keep_causes(&flags);
            if deep == Deep::Shutdown {
                // A power-on reset, of which the backup domain alone knows nothing (RM0351 5.3.10).
                self.r.pwr = Pwr::new();
            }
            self.r.pwr.woken(deep == Deep::Standby, rtc, pins);
            return true;
        }
        // The oscillator starts within the wake-up time.
        self.r.sleep = None;
        self.r.rcc.stopped(now);
        self.r.lines.hclk.restart(now + wait, cycles);
        self.go_on(now + wait, cycles);
        false
    }

    fn go_on(&mut self, start: Picos, cycles: Cycles) {
        self.common.state.now_ps = start.0;
        self.update_clocks(start, cycles);
    }
}
