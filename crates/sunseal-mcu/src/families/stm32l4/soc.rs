// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chip around its core: clocks, interrupts, events, pins, resets.

use super::*;
use crate::blocks::st::adc::Adc;
use crate::blocks::st::i2c::I2c;
use crate::blocks::st::usart::Usart;

impl Soc {
    pub(super) fn now(&self) -> Picos {
        self.common.now()
    }

    /// Time of a CPU cycle.
    pub(super) fn time_of(&self, at: Cycles) -> Picos {
        self.r.lines.hclk.time_of(at)
    }

    pub(super) fn scramble_ram(&mut self, seed: u64, sram1: bool, sram2: bool) {
        let l = self.layout;
        for (which, at, bytes) in [(sram1, SRAM1_AT, l.sram1), (sram2, SRAM2_AT, l.sram2)] {
            let range = at as usize..(at + if which { bytes } else { 0 }) as usize;
            for (i, chunk) in self.memory.bytes[range].chunks_mut(8).enumerate() {
                let place = u64::from(at) + 8 * i as u64;
                let noise = splitmix64(seed ^ place << 20).to_le_bytes();
                chunk.copy_from_slice(&noise[..chunk.len()]);
            }
        }
    }

    /// Brings what plain accesses may touch in step with the flash's wait states.
    pub(super) fn map_memory(&mut self) {
        let l = self.layout;
        self.side.waits = self.r.blocks.flash[0].may_wait() || self.too_fast;
        let flash = Window {
            base: FLASH_AT,
            readable: if self.side.waits { 0 } else { l.flash },
            writable: 0,
        };
        let ram = |base: u32, bytes: u32| Window { base, readable: bytes, writable: bytes };
        let w = &mut self.memory.windows;
        (w[0x00], w[0x08]) = (flash, flash);
        w[(SRAM1_START >> 24) as usize] = ram(SRAM1_AT, l.sram1);
        w[(SRAM2_START >> 24) as usize] = ram(SRAM2_AT, l.sram2);
    }

    // ---- clocks and modes

    /// A frequency as the temperature and the supply have it.
    fn drifted(&self, which: Drifting, hz: u32) -> u32 {
        if hz == 0 { 0 } else { self.common.drifted(which, hz) }
    }

    fn sysclk_hz(&self, now: Picos) -> u32 {
        let (rcc, facts) = (&self.r.rcc, &self.facts);
        let hz = rcc.sysclk_hz(now, facts);
        let root = match rcc.system() {
            Source::Pll => rcc.pll_source(),
            source => Some(source),
        };
        match root {
            Some(Source::Msi) if !rcc.msi_is_locked(now) => self.drifted(Drifting::Dco, hz),
            Some(Source::Hsi) => self.drifted(Drifting::Refo, hz),
            _ => hz,
        }
    }

    /// Brings the lines, the operating point and the CPU's state in step with the registers.
    pub(super) fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
        let on = self.common.runs();
        let awake = on && self.r.sleep.is_none();
        // Clocks go on in Sleep mode; in Stop modes only the slow ones.
        let fast = on && matches!(self.r.sleep, None | Some(Sleep::Light));
        let rcc = &self.r.rcc;
        let (ahb, apb1, apb2) = (rcc.ahb_divider(), rcc.apb_divider(1), rcc.apb_divider(2));
        let system = self.sysclk_hz(now);
        let facts = Arc::clone(&self.facts);
        let hsi = self.drifted(Drifting::Refo, rcc.hsi_hz(now, &facts));
        let (by_32, clk48) = (rcc.hse_for_rtc_hz(now, &facts), rcc.clk48_hz(now, &facts));
        let lsi_on = rcc.lsi_is_on() || self.r.blocks.iwdg[0].is_started();
        let lsi = if on && lsi_on { self.drifted(Drifting::Vlo, facts.clock.lsi_hz) } else { 0 };
        let lse = if on { rcc.lse_hz(now) } else { 0 };
        let nominal = rcc.sysclk_hz(now, &facts) / ahb;
        let common = &self.r.blocks.adc_common[0];
        let adc = match (common.of_hclk(), rcc.select(28)) {
            (Some(by), _) => (system, ahb * by),
            (None, 3) => (system, common.prescaler()),
            _ => (0, 1),
        };
        let of = |hz: u32| if fast { hz } else { 0 };
        let l = &mut self.r.lines;
        // HCLK's ticks are the CPU's cycles; while the CPU sleeps its line is put right at wake-up.
        let hclk = if awake { (system, ahb, None) } else { l.hclk.rate() };
        let divided = |div: u32| (of(system), div, None);
        retune_together(
            now,
            &mut [
                (&mut l.fclk, divided(ahb)),
                (&mut l.hclk, hclk),
                (&mut l.sysclk, divided(1)),
                (&mut l.pclk1, divided(ahb * apb1)),
                (&mut l.pclk2, divided(ahb * apb2)),
                // A timer's clock is twice its bus's where that is divided (RM0351 section 6.2.15).
                (&mut l.timers, divided(ahb * (apb1 / 2).max(1))),
                (&mut l.hsi, (of(hsi), 1, None)),
                (&mut l.adc, (of(adc.0), adc.1, None)),
            ],
        );
        l.hse_by_32.retune(now, of(by_32), 1, None);
        l.clk48.retune(now, of(clk48), 1, None);
        l.lse.retune(now, lse, 1, None);
        l.lsi.retune(now, lsi, 1, None);
        self.tell_clocks(now);
        let state = match self.r.sleep {
            _ if !on => accounts::OFF,
            None => accounts::ACTIVE,
            Some(Sleep::Light) => SLEEP,
            Some(Sleep::Deep(Deep::Stop0)) => STOP0,
            Some(Sleep::Deep(Deep::Stop1)) => STOP1,
            Some(Sleep::Deep(Deep::Stop2)) => STOP2,
            Some(Sleep::Deep(Deep::Standby)) => STANDBY,
            Some(Sleep::Deep(Deep::Shutdown)) => SHUTDOWN,
        };
        let l = &self.r.lines;
        let point = OperatingPoint {
            mclk_hz: if fast { system / ahb } else { 0 },
            smclk_hz: l.pclk1.freq_hz(),
            aclk_hz: l.lse.freq_hz().max(l.lsi.freq_hz()),
            vcore: self.level(),
        };
        let uncached = self.common.uncached;
        self.common.accounts.set_state(accounts::CPU, state, now, cycles, uncached);
        self.common.accounts.set_point(point, now, cycles, uncached);
        // What is set up may drift.
        self.check_point(awake, now, OperatingPoint { mclk_hz: nominal, ..point });
    }

    /// Tells every block its clock.
    fn tell_clocks(&mut self, now: Picos) {
        let (l, rcc) = (&self.r.lines, &self.r.rcc);
        let clock = |slot: Slot| match slot {
            Slot::tim(_) => l.timers,
            Slot::dma(_) => l.fclk,
            Slot::adc(_) => l.adc,
            Slot::i2c(i) => match rcc.select(12 + 2 * i as u32) {
                0 => l.pclk1,
                1 => l.sysclk,
                2 => l.hsi,
                _ => Line::STOPPED,
            },
            Slot::usart(i) => match rcc.select([0, 2, 4, 10][i]) {
                0 if i == 0 => l.pclk2,
                0 => l.pclk1,
                1 => l.sysclk,
                2 => l.hsi,
                _ => l.lse,
            },
            Slot::spi(0) => l.pclk2,
            Slot::spi(_) => l.pclk1,
            Slot::lptim(i) => match rcc.select(18 + 2 * i as u32) {
                0 => l.pclk1,
                1 => l.lsi,
                2 => l.hsi,
                _ => l.lse,
            },
            Slot::rtc(_) => match rcc.rtc_select() {
                1 => l.lse,
                2 => l.lsi,
                3 => l.hse_by_32,
                _ => Line::STOPPED,
            },
            Slot::iwdg(_) => l.lsi,
            Slot::rng(_) => l.clk48,
            _ => Line::STOPPED,
        };
        self.r.blocks.clocked(now, clock);
    }

    /// The level of the operating point: 0 Range 2, 1 Range 1, 2 the low-power run mode.
    pub(super) fn level(&self) -> u8 {
        if self.r.pwr.low_power_run() { 2 } else { u8::from(self.r.pwr.range_1()) }
    }

    fn check_point(&mut self, awake: bool, now: Picos, point: OperatingPoint) {
        self.common.illegal = None;
        let before = std::mem::take(&mut self.too_fast);
        if awake {
            let (p, most) = (&self.facts.power, self.common.dev.supply.vcc_max_v);
            let (vcc_v, mhz) = (self.common.state.vcc_v, f64::from(point.mclk_hz) / 1e6);
            let max = p.hclk_max_mhz[usize::from(point.vcore)];
            let vco = self.r.rcc.vco_mhz(now, &self.facts);
            let vco_max = self.facts.clock.vco_max_mhz[usize::from(self.r.pwr.range_1())];
            let mode = ["Range 2", "Range 1", "the low-power run mode"][usize::from(point.vcore)];
            let pwr = self.map.base(Slot::pwr);
            let illegal = |what: String| Some(Fault::device(pwr, what));
            let too_fast = self.common.too_fast((mhz, max * 1.0001), pwr, || {
                format!(
                    "HCLK of {mhz:.3} MHz exceeds the {max} MHz that {mode} allows; set PWR_CR1.VOS or clear LPR before the clock is raised"
                )
            });
            self.common.illegal = if too_fast.is_some() {
                too_fast
            } else if self.r.pwr.is_rising(now) && mhz > p.hclk_max_mhz[0] * 1.0001 {
                illegal(format!(
                    "HCLK of {mhz:.3} MHz while the regulator is on its way to Range 1; wait until PWR_SR2.VOSF is clear"
                ))
            } else if vco > vco_max * 1.0001 {
                illegal(format!(
                    "the PLL's VCO at {vco} MHz exceeds the {vco_max} MHz that {mode} allows"
                ))
            } else if vcc_v < p.vdd_min_v || vcc_v > most {
                let least = p.vdd_min_v;
                illegal(format!("supply of {vcc_v:.3} V is outside {least} to {most} V"))
            } else {
                None
            };
            let waits = self.r.blocks.flash[0].wait_states();
            let reach = self.facts.flash_max_mhz(self.r.pwr.range_1(), waits);
            // The clock itself is told of first.
            self.too_fast = self.common.illegal.is_none() && mhz.min(max) > reach * 1.0001;
        }
        if self.too_fast != before {
            self.map_memory();
        }
    }

    /// Flash was read faster than it can be.
    #[cold]
    pub(super) fn note_too_fast(&mut self, addr: u32) {
        let waits = self.r.blocks.flash[0].wait_states();
        let mhz = f64::from(self.r.lines.hclk.freq_hz()) / 1e6;
        let range_1 = self.r.pwr.range_1();
        let reach = self.facts.flash_max_mhz(range_1, waits);
        let range = if range_1 { 1 } else { 2 };
        self.common.pending_fault.get_or_insert_with(|| {
            Fault::device(
                addr,
                format!(
                    "flash is read at HCLK {mhz:.3} MHz with {waits} wait states, which allow {reach} MHz in Range {range}; raise FLASH_ACR.LATENCY before the clock"
                ),
            )
        });
        self.side.deadline = 0;
    }

    // ---- interrupts and events

    /// Behind whatever may have changed a flag or a level.
    pub(super) fn refresh(&mut self, now: Picos, _: Cycles) {
        self.serve(now);
        let b = &mut self.r.blocks;
        let mut lines = u32::from(b.rtc[0].wakeup()) << exti::RTC_WAKEUP
            | u32::from(b.rtc[0].alarm()) << exti::RTC_ALARM;
        for line in 0..16 {
            let port = b.syscfg[0].port(line);
            let levels = b.gpio.get(port).map_or(0, |p| p.inputs());
            lines |= u32::from(levels) & 1 << line;
        }
        b.exti[0].set_levels(lines);
        if std::mem::take(&mut b.exti[0].event) {
            self.r.scs.event_register = true;
        }
        // Stopped, a block whose own clock runs on asks only if EXTI lets it through.
        let stopped = matches!(self.r.sleep, Some(Sleep::Deep(_)));
        let through = [32, 33].map(|line| b.exti[0].lets_through(line));
        let wakes = b.exti[0].lets_through(31) && b.usart[3].wakes();
        let held = |slot: Slot| match slot {
            Slot::lptim(i) => stopped && !through[i],
            Slot::usart(3) => stopped && !wakes,
            _ => false,
        };
        self.r.scs.set_lines(b.levels(&self.map, held));
    }

    pub(super) fn own_event(&self) -> Option<Picos> {
        let (r, l) = (&self.r, &self.r.lines);
        let starts = r.rcc.next_event();
        let all = [r.scs.next_event(&l.fclk), starts, r.pwr.next_event(), r.blocks.due(&())];
        let busy = r.blocks.flash[0].busy_until();
        all.into_iter().chain([busy]).flatten().min()
    }

    /// Carries out what is due at `t`.
    pub(super) fn process_at(&mut self, t: Picos, cycles: Cycles) {
        let due = |e: Option<Picos>| e.is_some_and(|e| e <= t);
        let fclk = self.r.lines.fclk;
        if due(self.r.scs.next_event(&fclk)) {
            self.r.scs.event(&fclk, t);
        }
        self.r.rcc.event(t);
        self.r.pwr.event(t);
        // An oscillator that is ready by now may be somebody's clock.
        self.fx.clocks = true;
        if due(self.r.blocks.flash[0].busy_until()) {
            self.r.blocks.flash[0].event(&mut self.memory.bytes[..]);
            self.flash_changed();
        }
        for i in 0..USARTS {
            self.usart_event(i, t, cycles);
        }
        for i in 0..SPIS {
            self.spi_event(i, t, cycles);
            self.i2c_event(i, t, cycles);
            self.adc_event(i, t);
        }
        for unit in 0..2 {
            self.dma_event(unit, t, cycles);
        }
        if due(self.r.blocks.iwdg[0].due(&())) {
            self.fx.reset = Some(Cause::Watchdog);
            // It begins anew by the reset.
            self.r.blocks.iwdg[0] = crate::blocks::st::iwdg::Iwdg::new();
        }
        self.r.blocks.advance(&(), t);
        for i in 0..USARTS {
            let base = self.map.base(Slot::usart(i));
            self.common.uart_slips(&mut self.r.blocks.usart[i].coming, base, cycles);
        }
        self.settle_effects(t, cycles);
    }

    fn flash_changed(&mut self) {
        (self.side.changed, self.side.image, self.fx.memory) = (true, None, true);
    }

    pub(super) fn abort_flash(&mut self, seed: u64) {
        if self.r.blocks.flash[0].cut(&mut self.memory.bytes[..], seed) {
            self.flash_changed();
        }
    }

    fn usart_event(&mut self, i: usize, t: Picos, cycles: Cycles) {
        while let Some((byte, end)) = self.r.blocks.usart[i].sent(t) {
            self.common.accounts.count(SERIAL_BYTE[i]);
            let name = SERIALS[i].to_owned();
            let bit_ps = self.r.blocks.usart[i].bit_ps();
            self.common.state.uart_log.push(UartByte { time_ps: end.0, usci: name, byte, bit_ps });
            let drives = self.common.sent(i, byte, end..end, cycles);
            self.drive(drives);
        }
    }

    fn spi_event(&mut self, i: usize, t: Picos, cycles: Cycles) {
        while let Some((mosi, end)) = self.r.blocks.spi[i].shifted(t) {
            self.common.accounts.count(SERIAL_BYTE[USARTS + i]);
            let is_mode_0 = self.r.blocks.spi[i].is_mode_0();
            let addr = self.map.base(Slot::spi(i));
            let spi = Exchange { serial: USARTS + i, mosi, is_mode_0, addr };
            let (miso, drives) = self.common.exchange(&spi, end, cycles);
            self.drive(drives);
            self.r.blocks.spi[i].received(miso, end);
        }
    }

    /// A serial interface is on its way with something.
    pub(super) fn serials_busy(&self) -> bool {
        self.sending(USARTS)
    }

    /// The same of those whose clock a Stop mode takes away: LPUART1 goes on by LSE.
    pub(super) fn stopped_serials_busy(&self) -> bool {
        self.sending(if self.r.rcc.select(10) == 3 { USARTS - 1 } else { USARTS })
    }

    /// One of the first so many USARTs, an SPI or an I2C is on its way with something.
    fn sending(&self, usarts: usize) -> bool {
        let b = &self.r.blocks;
        b.usart[..usarts].iter().any(Usart::is_sending)
            || b.spi.iter().any(|s| s.due(&()).is_some())
            || b.i2c.iter().any(I2c::is_busy)
    }

    fn i2c_event(&mut self, i: usize, t: Picos, cycles: Cycles) {
        while let Some(step) = self.r.blocks.i2c[i].event(t) {
            if step != OnBus::Stop {
                self.common.accounts.count(SERIAL_BYTE[USARTS + SPIS + i]);
            }
            let (answer, drives) = self.common.i2c(USARTS + SPIS + i, step, t, cycles);
            self.drive(drives);
            self.r.blocks.i2c[i].answered(answer);
        }
    }

    /// What accesses and events led to outside their block.
    pub(super) fn settle_effects(&mut self, now: Picos, cycles: Cycles) {
        self.follow_outputs(cycles);
        if std::mem::take(&mut self.fx.backup_reset) {
            self.r.blocks.rtc[0] = crate::blocks::st::rtc::Rtc::new();
            self.fx.clocks = true;
        }
        if let Some((offset, bits)) = self.fx.blocks_reset.take() {
            self.reset_blocks(offset, bits, now, cycles);
        }
        if std::mem::take(&mut self.fx.memory) {
            self.map_memory();
        }
        if std::mem::take(&mut self.fx.clocks) {
            self.r.blocks.rtc[0].enable_if_changed(self.r.rcc.rtc_enabled(), now);
            self.update_clocks(now, cycles);
        }
        if std::mem::take(&mut self.fx.pins) {
            self.ports_written(now, cycles);
        }
        if self.common.state.powered {
            let on = |on: bool| if on { accounts::ON } else { accounts::OFF };
            let states = [
                (FLASH, self.r.blocks.flash[0].state(WRITE, ERASE)),
                (TIMER_OSCILLATOR, on(self.r.rcc.lse_is_on())),
                (RNG, on(self.r.blocks.rng[0].is_on())),
                (ADC, on(self.r.blocks.adc.iter().any(Adc::is_on))),
            ];
            let uncached = self.common.uncached;
            for (component, state) in states {
                self.common.accounts.set_state(component, state, now, cycles, uncached);
            }
        }
        self.refresh(now, cycles);
    }

    /// Resets the blocks whose enable bits, in the RCC enable register at `offset`, are among `bits`.
    fn reset_blocks(&mut self, offset: u32, bits: u32, now: Picos, cycles: Cycles) {
        let named = |[at, bit]: [u32; 2]| at == offset && bits >> bit & 1 != 0;
        for m in self.map.blocks.iter().filter(|m| m.enable.is_some_and(named)) {
            match m.slot {
                Slot::pwr => self.r.pwr.reset(),
                slot => self.r.blocks.reset_one(slot, &self.facts),
            }
        }
        (self.fx.clocks, self.fx.memory) = (true, true);
        self.ports_written(now, cycles);
    }

    // ---- pins

    pub(super) fn drive(&mut self, drives: Vec<Drive>) {
        for (pin, level) in drives {
            self.r.blocks.drive(pin, level);
            self.side.deadline = 0;
        }
    }

    /// Tells of outputs that are now others.
    pub(super) fn ports_written(&mut self, now: Picos, cycles: Cycles) {
        self.follow_outputs(cycles);
        self.give_pins(None);
        self.tell_ports(now, cycles);
    }

    pub(super) fn tell_ports(&mut self, now: Picos, cycles: Cycles) {
        let mut told = Vec::new();
        for i in 0..8 {
            let port = &self.r.blocks.gpio[i];
            let (outputs, letter) = (port.outputs(), port.letter());
            let changed = outputs ^ self.r.outputs[i];
            self.r.outputs[i] = outputs;
            for bit in (0..16).filter(|bit| changed >> bit & 1 != 0) {
                let high = outputs >> bit & 1 != 0;
                told.extend(self.common.output(Pin { port: letter, bit }, high, now, cycles));
            }
        }
        let blocks = &self.r.blocks;
        told.extend(self.common.select(|pin| blocks.drives_low(pin), now, cycles));
        self.drive(told);
    }

    // ---- resets

    pub(super) fn reset_as(&mut self, cause: Cause, now: Picos, cycles: Cycles) {
        self.fx = Fx::default();
        let facts = Arc::clone(&self.facts);
        self.r.sleep = None;
        self.r.for_event = false;
        self.side.scb = Scb::default();
        self.r.scs.reset();
        self.r.rcc.reset(cause);
        self.r.pwr.reset();
        self.r.blocks.reset(&facts);
        if cause == Cause::Brownout {
            self.r.dwt = Dwt::default();
        }
        self.common.pending_fault = None;
        // HCLK may have been at rest.
        self.r.lines.hclk.restart(now, cycles);
        self.r.lines.hclk.join(&self.r.lines.fclk);
        self.map_memory();
        self.update_clocks(now, cycles);
        self.fx.pins = true;
        self.settle_effects(now, cycles);
        self.side.deadline = 0;
    }

    /// The supply was gone, VBAT's too: what no reset sets is lost.
    pub(super) fn forget(&mut self) {
        let (lse, hse) = self.r.rcc.fitted();
        self.r.rcc = Rcc::new(lse, hse);
        self.r.pwr = Pwr::new();
        self.r.blocks.rtc[0] = crate::blocks::st::rtc::Rtc::new();
    }
}
