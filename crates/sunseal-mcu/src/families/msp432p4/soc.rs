// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chip around its core: clocks, interrupts, events, pins, resets.

use super::*;
use crate::blocks::dio_p4::ALL_PORTS;
use crate::device::Drifting;

impl Soc {
    pub(super) fn now(&self) -> Picos {
        self.common.now()
    }

    /// Time of a CPU cycle.
    pub(super) fn time_of(&self, at: Cycles) -> Picos {
        self.r.lines.base.mclk.time_of(at)
    }

    pub(super) fn scramble_ram(&mut self, seed: u64, banks: impl Fn(u32) -> bool) {
        let range = SRAM_AT as usize..(SRAM_AT + SRAM_BYTES) as usize;
        for (i, chunk) in self.memory.bytes[range].chunks_mut(8).enumerate() {
            if banks(8 * i as u32 / BANK_BYTES) {
                let noise = splitmix64(seed ^ (i as u64) << 20).to_le_bytes();
                chunk.copy_from_slice(&noise[..chunk.len()]);
            }
        }
    }

    /// Brings what plain accesses may touch in step with the controllers.
    pub(super) fn map(&mut self) {
        let f = &self.r.blocks.flctl[0];
        let flash = if f.may_wait() || self.too_fast != [false; 2] { 0 } else { flctl::MAIN_BYTES };
        let sram = (self.r.sysctl.banks().count_ones() * BANK_BYTES).min(SRAM_BYTES);
        self.memory.windows[0x00] = Window { base: 0, readable: flash, writable: 0 };
        self.memory.windows[0x01] = Window { base: SRAM_AT, readable: sram, writable: sram };
        self.memory.windows[0x02] = Window { base: ROM_AT, readable: ROM_BYTES, writable: 0 };
        self.memory.windows[0x20] = Window { base: SRAM_AT, readable: sram, writable: sram };
        self.side.waits = flash == 0;
    }

    // ---- clocks and modes

    pub(super) fn vlo_jitter(&self) -> Jitter {
        let c = &self.facts.clock;
        let period_ps = 1e12 / f64::from(c.vlo_hz);
        Jitter {
            seed: self.common.state.seed,
            sigma_ps: (period_ps * c.vlo_jitter.sigma_percent / 100.0).round() as u64,
        }
    }

    pub(super) fn line_for(&self, tap: Tap, on: bool) -> (u32, u32, Option<Jitter>) {
        let jitter = (tap.source == Source::Vlo).then(|| self.vlo_jitter());
        let hz = match tap.source {
            Source::Dco => self.common.drifted(Drifting::Dco, tap.hz),
            Source::Refo => self.common.drifted(Drifting::Refo, tap.hz),
            Source::Vlo => self.common.drifted(Drifting::Vlo, tap.hz),
            _ => tap.hz,
        };
        if on { (hz, tap.div, jitter) } else { (0, 1, None) }
    }

    /// Brings the lines, the operating point and the CPU's state in step with the registers.
    pub(super) fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let on = self.common.runs();
        let awake = on && self.r.sleep.is_none();
        // Clocks go on in LPM0; in LPM3 only those of RTC and watchdog.
        let fast = on && matches!(self.r.sleep, None | Some(Sleep::Lpm0));
        let slow = on && !matches!(self.r.sleep, Some(Sleep::Lpm4 | Sleep::Lpm45));
        let cs = &self.r.blocks.cs[0];
        let tap = cs.mclk(now, &facts);
        let mclk = self.line_for(tap, true);
        let smclk = self.line_for(cs.smclk(now, &facts), fast);
        let hsmclk = self.line_for(cs.hsmclk(now, &facts), fast);
        let aclk = self.line_for(cs.aclk(now, &facts), fast);
        let bclk = self.line_for(cs.bclk(now, &facts), slow);
        let vlo = self.line_for(Tap { source: Source::Vlo, hz: facts.clock.vlo_hz, div: 1 }, slow);
        let mhz = |mhz: f64| if fast { (mhz * 1e6).round() as u32 } else { 0 };
        let (modosc, sysosc) = (mhz(facts.clock.modosc_mhz), mhz(facts.clock.sysosc_mhz));
        let l = &mut self.r.lines;
        let fclk = if fast { mclk } else { STILL };
        // MCLK's ticks are the CPU's cycles; while the CPU sleeps its line is put right at wake-up.
        let mclk_now = if awake { mclk } else { l.base.mclk.rate() };
        retune_together(
            now,
            &mut [
                (&mut l.fclk, fclk),
                (&mut l.base.mclk, mclk_now),
                (&mut l.base.smclk, smclk),
                (&mut l.hsmclk, hsmclk),
                (&mut l.base.aclk, aclk),
                (&mut l.bclk, bclk),
                (&mut l.base.vlo, vlo),
                (&mut l.base.modosc, (modosc, 1, None)),
                (&mut l.sysosc, (sysosc, 1, None)),
            ],
        );
        let state = match self.r.sleep {
            _ if !on => accounts::OFF,
            None => accounts::ACTIVE,
            Some(Sleep::Lpm0) => LPM0,
            Some(Sleep::Lpm3) => LPM3,
            Some(Sleep::Lpm4) => LPM4,
            Some(Sleep::Lpm35) => LPM35,
            Some(Sleep::Lpm45) => LPM45,
        };
        let point = OperatingPoint {
            mclk_hz: if fast { mclk.0 / mclk.1 } else { 0 },
            smclk_hz: self.r.lines.base.smclk.freq_hz(),
            aclk_hz: self.r.lines.base.aclk.freq_hz().max(self.r.lines.bclk.freq_hz()),
            vcore: self.level(),
        };
        let uncached = self.common.uncached;
        self.common.accounts.set_state(accounts::CPU, state, now, cycles, uncached);
        self.common.accounts.set_point(point, now, cycles, uncached);
        // What is set up may drift.
        self.check_point(awake, OperatingPoint { mclk_hz: tap.hz / tap.div, ..point });
    }

    /// The level of the operating point: core voltage 0 and 1 from the LDO, the same from the DC/DC
    /// regulator (2, 3), the same in the low-frequency mode (4, 5).
    pub(super) fn level(&self) -> u8 {
        let p = &self.r.blocks.pcm[0];
        p.vcore() + if p.dcdc() { 2 } else { 0 } + if p.low_frequency() { 4 } else { 0 }
    }

    pub(super) fn check_point(&mut self, awake: bool, point: OperatingPoint) {
        self.common.illegal = None;
        let before = self.too_fast;
        self.too_fast = [false; 2];
        if awake {
            let p = &self.facts.pcm;
            let vcore = self.r.blocks.pcm[0].vcore();
            let (vcc_v, mhz) = (self.common.state.vcc_v, f64::from(point.mclk_hz) / 1e6);
            let max = if self.r.blocks.pcm[0].low_frequency() {
                p.lf_max_khz / 1e3
            } else {
                p.mclk_max_mhz[usize::from(vcore)]
            };
            let vcc_min = if self.r.blocks.pcm[0].dcdc() { p.dcdc_vcc_min_v } else { p.vcc_min_v };
            // DCO frequencies are rounded.
            let base = self.map.base(Slot::cs(0));
            let too_fast = self.common.too_fast((mhz, max * 1.0001), base, || {
                format!(
                    "MCLK {mhz:.3} MHz exceeds the {max} MHz that the power mode allows (core voltage level {vcore}); request another by PCMCTL0.AMR before the clock"
                )
            });
            if too_fast.is_some() {
                self.common.illegal = too_fast;
            } else if vcc_v < vcc_min || vcc_v > self.common.dev.supply.vcc_max_v {
                let vcc_max = self.common.dev.supply.vcc_max_v;
                self.common.illegal = Some(Fault::device(
                    self.map.base(Slot::pcm(0)),
                    format!(
                        "supply of {vcc_v:.3} V is outside {vcc_min} to {vcc_max} V, which the power mode needs"
                    ),
                ));
            }
            for bank in 0..2 {
                let (waits, normal) = (
                    self.r.blocks.flctl[0].wait_states(bank),
                    self.r.blocks.flctl[0].normal_read(bank),
                );
                let reach = self.facts.flash_max_mhz(vcore, waits, normal);
                self.too_fast[bank] = mhz.min(max) > reach * 1.0001;
            }
        }
        if self.too_fast != before {
            self.map();
        }
    }

    /// A bank was read faster than it can be.
    #[cold]
    pub(super) fn note_too_fast(&mut self, addr: u32) {
        let bank = usize::from(addr & 0x3_FFFF >= self.facts.flash.bank_bytes);
        let waits = self.r.blocks.flctl[0].wait_states(bank);
        let mhz = f64::from(self.r.lines.base.mclk.freq_hz()) / 1e6;
        let reach = self.facts.flash_max_mhz(
            self.r.blocks.pcm[0].vcore(),
            waits,
            self.r.blocks.flctl[0].normal_read(bank),
        );
        self.common.pending_fault.get_or_insert_with(|| {
            Fault::device(
                addr,
                format!(
                    "flash bank {bank} is read at MCLK {mhz:.3} MHz with {waits} wait states, which allow {reach} MHz; raise FLCTL_BANK{bank}_RDCTL.WAIT before the clock"
                ),
            )
        });
        self.side.deadline = 0;
    }

    // ---- interrupts

    /// What the DMA channels are asked for.
    pub(super) fn dma_requests(&self) -> u32 {
        let r = &self.r;
        let mut requests = 0;
        for channel in 0..dma::CHANNELS {
            let source = r.blocks.dma[0].source(channel);
            let (n, receive) = (channel / 2, channel % 2 == 1);
            let serial = |u: &Eusci| if receive { u.rx_trigger() } else { u.tx_trigger() };
            // Sources 2 to 5: eUSCI_B in a rotation of their own (SLAS826H table 6-37).
            const B: [[usize; 4]; 4] = [[0, 3, 2, 1], [1, 0, 3, 2], [2, 1, 0, 3], [3, 2, 1, 0]];
            let on = match source {
                1 => serial(&r.blocks.eusci[n].0),
                2..=5 => serial(&r.blocks.eusci[4 + B[n][usize::from(source) - 2]].0),
                6 => r.blocks.timers[n].0.dma_flag(if receive { 2 } else { 0 }),
                7 => match channel {
                    0..=2 => r.blocks.aes[0].0.dma_trigger(channel as u8),
                    7 => r.blocks.adc[0].filled != 0,
                    _ => false,
                },
                _ => false,
            };
            requests |= u32::from(on) << channel;
        }
        requests
    }

    /// Behind whatever may have changed a flag.
    pub(super) fn refresh(&mut self, now: Picos, cycles: Cycles) {
        // What raises the NMI instead asks by no input.
        let sources = self.r.sysctl.nmi_sources();
        let held = |slot: Slot| match slot {
            Slot::cs(_) => sources & 1 != 0,
            Slot::pcm(_) => sources & 4 != 0,
            _ => false,
        };
        self.r.scs.set_lines(self.r.blocks.levels(&self.map, held));
        let nmi = self.nmi_flags() & sources;
        if nmi != 0 {
            self.r.scs.pend(scs::NMI);
        }
        if self.r.blocks.dma[0].is_on() {
            let requests = self.dma_requests();
            self.r.blocks.dma[0].set_lines(requests);
            self.with_dma(|dma, soc| {
                let c = &soc.facts.core_timing;
                let cost = (c.dma_control_cycles, c.dma_transfer_cycles);
                let clock = soc.r.lines.fclk;
                dma.start(&clock, now, cost, &mut DmaBus { soc, at: cycles, now });
            });
        }
    }

    pub(super) fn with_dma(&mut self, act: impl FnOnce(&mut Dma, &mut Self)) {
        let mut dma = std::mem::take(&mut self.r.blocks.dma[0]);
        act(&mut dma, self);
        self.r.blocks.dma[0] = dma;
    }

    pub(super) fn nmi_flags(&self) -> u32 {
        u32::from(self.r.blocks.cs[0].pending()) | u32::from(self.r.blocks.pcm[0].pending()) << 2
    }

    // ---- events

    pub(super) fn own_event(&self) -> Option<Picos> {
        let (r, l) = (&self.r, &self.r.lines);
        let all =
            [r.scs.next_event(&l.fclk), r.blocks.cs[0].next_event(self.now()), r.blocks.due(l)];
        all.into_iter().flatten().min()
    }

    /// Carries out what is due at `t`.
    pub(super) fn process_at(&mut self, t: Picos, cycles: Cycles) {
        let due = |e: Option<Picos>| e.is_some_and(|e| e <= t);
        let lines = self.r.lines.clone();
        if due(self.r.scs.next_event(&lines.fclk)) {
            self.r.scs.event(&lines.fclk, t);
        }
        if self.r.blocks.pcm[0].event(t) {
            self.fx.clocks = true;
        }
        if due(self.r.blocks.flctl[0].busy_until()) {
            self.r.blocks.flctl[0].event(&mut self.memory.bytes[..]);
            self.flash_changed();
        }
        if due(self.r.blocks.wdt[0].due(&lines)) {
            let base = self.map.base(Slot::wdt(0));
            self.r.blocks.wdt[0].event(&mut cx!(self, base, cycles, t));
        }
        self.r.blocks.advance(&lines, t);
        self.follow_outputs(cycles);
        for i in 0..SERIALS.len() {
            if due(self.r.blocks.eusci[i].due(&lines)) {
                self.eusci_event(i, t, cycles);
            }
        }
        if due(self.r.blocks.adc[0].due(&lines)) {
            self.adc_event(t, cycles);
        }
        if due(self.r.blocks.dma[0].due(&lines)) {
            self.with_dma(|dma, soc| {
                dma.event(&mut DmaBus { soc, at: cycles, now: t });
            });
        }
        self.settle_effects(t, cycles);
    }

    fn flash_changed(&mut self) {
        self.side.changed = true;
        self.side.image = None;
        self.fx.memory = true;
    }

    pub(super) fn eusci_event(&mut self, i: usize, t: Picos, cycles: Cycles) {
        let base = self.map.base(Slot::eusci(i));
        let mut c = cx!(self, base, cycles, t);
        self.r.blocks.eusci[i].with(&mut c, |eusci, cx| eusci.listen(cx));
        let done = self.r.blocks.eusci[i].0.event(t);
        self.common.uart_slips(self.r.blocks.eusci[i].0.incoming(), base, cycles);
        let Some(done) = done else { return };
        let which = Which { index: i, name: SERIALS[i], byte: eusci::BYTES[i], base };
        let eusci = &mut self.r.blocks.eusci[i].0;
        let drives = self.common.carry_out(eusci, which, done, (t, cycles));
        self.drive(drives);
        let mut c = cx!(self, base, cycles, t);
        if let Err(fault) = self.r.blocks.eusci[i].with(&mut c, |eusci, cx| eusci.go_on(cx)) {
            self.common.pending_fault = Some(fault);
        }
    }

    pub(super) fn adc_event(&mut self, t: Picos, cycles: Cycles) {
        let base = self.map.base(Slot::adc(0));
        let mut adc = self.r.blocks.adc[0].clone();
        if let Some(sample) = adc.take_sample(t) {
            self.common.accounts.count(Event::Adc14Conversion);
            let dio = &self.r.blocks.dio[0];
            let inside = match sample.inside {
                Some(Inside::HalfSupply) => Some(self.common.state.vcc_v / 2.0),
                Some(Inside::Temperature) => Some(self.facts.adc14.sensor_25c_mv * 1e-3),
                None => None,
            };
            let volts = inside.or_else(|| {
                self.common.adc_volts(sample.channel, sample.time, &|pin| dio.level(pin))
            });
            let reference = &self.facts.reference;
            let vref = match sample.reference {
                Reference::Supply => Some(self.common.state.vcc_v),
                Reference::RefA => {
                    let select = self.r.blocks.reference[0].level();
                    if !self.r.blocks.reference[0].settled(sample.time, reference.settle_us) {
                        self.common.state.lints.report(LintKind::ReferenceNotReady, base, cycles);
                    }
                    if self.common.state.vcc_v < reference.avcc_min_v[select] {
                        self.common.state.lints.report(LintKind::ReferenceSupply, base, cycles);
                    }
                    Some(reference.levels_v[select])
                }
                Reference::Outside => None,
            };
            match (volts, vref) {
                (Some(volts), Some(vref)) => {
                    let bits = adc.bits(&self.facts);
                    adc.hold(volts, vref, bits);
                }
                (None, _) => {
                    let what = crate::common::no_voltage("ADC14 channel A", &[sample.channel]);
                    self.common.pending_fault = Some(Fault::device(base, what));
                }
                (_, None) => {
                    let what = "external references of the ADC14 are not modelled; choose ADC14VRSEL 0 or 1";
                    self.common.pending_fault = Some(Fault::device(base, what));
                }
            }
        }
        if let Err(fault) = adc.event(t, &mut cx!(self, base, cycles, t)) {
            self.common.pending_fault = Some(fault);
        }
        self.r.blocks.adc[0] = adc;
    }

    /// What accesses and events led to outside their block.
    pub(super) fn settle_effects(&mut self, now: Picos, cycles: Cycles) {
        if std::mem::take(&mut self.fx.memory) {
            self.map();
        }
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(now, cycles);
        }
        let uncached = self.common.uncached;
        let on = |on: bool, rest: StateId| if on { accounts::ON } else { rest };
        let states = [
            (FLASH, self.r.blocks.flctl[0].state()),
            (ADC14, on(self.r.blocks.adc[0].busy(), accounts::OFF)),
            (REF, on(self.r.blocks.reference[0].is_on(), accounts::OFF)),
            (AES, on(self.r.blocks.aes[0].0.busy(), accounts::IDLE)),
        ];
        if self.common.state.powered {
            for (component, state) in states {
                self.common.accounts.set_state(component, state, now, cycles, uncached);
            }
        }
        self.refresh(now, cycles);
    }

    // ---- pins

    pub(super) fn drive(&mut self, drives: Vec<Drive>) {
        for (pin, level) in drives {
            self.r.blocks.dio[0].drive(pin, level);
            self.side.deadline = 0;
        }
    }

    /// Tells of outputs of the pairs of ports that were written.
    pub(super) fn ports_written(&mut self, now: Picos, cycles: Cycles) {
        self.follow_outputs(cycles);
        let (written, mapped) =
            (std::mem::take(&mut self.fx.pins), std::mem::take(&mut self.fx.mapped));
        if written == ALL_PORTS && !self.r.blocks.pcm[0].holds_pins() {
            self.r.blocks.dio[0].lock(false);
        }
        for i in (0..6).filter(|i| written >> i & 1 != 0) {
            self.port_written(i, mapped, now, cycles);
        }
    }

    /// Has edges of output units reach their pins.
    pub(super) fn follow_outputs(&mut self, cycles: Cycles) {
        if self.r.blocks.timers.iter().all(|t| t.0.edges.is_empty()) {
            return;
        }
        for (at, unit, level) in net::edges(&mut self.r.blocks.timers) {
            let b = &mut self.r.blocks;
            let mapper = |i: usize, mask: u16| b.pmap[0].code(i, mask);
            for i in self.net.moved(&mut b.dio[0].0, unit, level, &mapper) {
                self.port_moved(i, at, cycles);
            }
        }
    }

    fn port_written(&mut self, i: usize, mapped: bool, now: Picos, cycles: Cycles) {
        let base = self.map.base(Slot::dio(0));
        let b = &mut self.r.blocks;
        let port = &mut b.dio[0].0[i].0;
        if port.regiven() || mapped {
            let mapper = |i: usize, mask: u16| b.pmap[0].code(i, mask);
            let lints = &mut self.common.state.lints;
            self.net.written(i, port, &b.timers, &mapper, (lints, base, cycles));
        }
        self.port_moved(i, now, cycles);
        if i == PAIRS {
            let sel = self.r.blocks.dio[0].pair(PAIRS).primary();
            let facts = Arc::clone(&self.facts);
            self.r.blocks.cs[0].set_pins(sel & 3 == 3, sel & 0xC == 0xC, now, &facts);
            self.fx.clocks = true;
        }
    }

    fn port_moved(&mut self, i: usize, now: Picos, cycles: Cycles) {
        let outputs = self.r.blocks.dio[0].pair(i).outputs();
        let mut changed = outputs ^ self.r.outputs[i];
        self.r.outputs[i] = outputs;
        let mut drives = Vec::new();
        while changed != 0 {
            let bit = changed.trailing_zeros() as u8;
            changed &= changed - 1;
            let port = if i == PAIRS { PORT_J } else { 2 * i as u8 + 1 + bit / 8 };
            let high = outputs >> bit & 1 != 0;
            drives.extend(self.common.output(Pin { port, bit: bit % 8 }, high, now, cycles));
        }
        let dio = &self.r.blocks.dio[0];
        drives.extend(self.common.select(|pin| dio.drives_low(pin), now, cycles));
        self.drive(drives);
    }

    // ---- resets

    pub(super) fn reset_as(&mut self, class: Class, source: u8, now: Picos, cycles: Cycles) {
        self.reset_with(class, source, false, now, cycles);
    }

    /// Behind LPM3.5 and LPM4.5 the pins keep what they had.
    pub(super) fn reset_with(
        &mut self,
        class: Class,
        source: u8,
        keep_pins: bool,
        now: Picos,
        cycles: Cycles,
    ) {
        self.fx = Fx::default();
        // MCLK may have been at rest.
        self.r.lines.base.mclk.restart(now, cycles);
        self.r.lines.base.mclk.join(&self.r.lines.fclk);
        self.r.sleep = None;
        self.r.for_event = false;
        self.side.scb = Scb::default();
        self.r.scs.reset();
        self.r.sysctl.reset(class, source);
        self.r.blocks.reset(&Arc::clone(&self.facts), class, keep_pins);
        if class >= Class::Reboot {
            self.r.dwt = Dwt::default();
        }
        self.common.pending_fault = None;
        self.map();
        self.update_clocks(now, cycles);
        self.r.blocks.wdt[0].reset(&self.r.lines, now);
        (self.fx.pins, self.fx.mapped) = (ALL_PORTS, true);
        self.ports_written(now, cycles);
        self.settle_effects(now, cycles);
        self.side.deadline = 0;
    }

    pub(super) fn abort_flash(&mut self, seed: u64) {
        if self.r.blocks.flctl[0].cut(&mut self.memory.bytes[..], seed) {
            self.flash_changed();
        }
    }

    pub(super) fn write_tlv(&mut self) {
        let t = &self.facts.tlv;
        // Tags and lengths as SLAU356I chapter 2 has them: info, then clock system calibration.
        let words = [
            (0x00, 0x0000_0000),
            (0x04, 0x0000_000B),
            (0x08, 0x0000_0004),
            (0x0C, t.device_id),
            (0x10, t.hardware_revision),
            (0x14, t.boot_revision),
            (0x18, t.rom_revision),
            (0x30, 0x0000_0003),
            (0x34, 0x0000_0010),
            (0x40, t.dcoir_fcal_rsel04),
            (0x44, t.dcoir_fcal_rsel5),
            (0x50, (t.dcoir_constk_rsel04 as f32).to_bits()),
            (0x54, (t.dcoir_constk_rsel5 as f32).to_bits()),
        ];
        for (off, word) in words {
            if let Some(i) = place(TLV + off) {
                self.memory.bytes[i as usize..i as usize + 4]
                    .copy_from_slice(&u32::to_le_bytes(word));
            }
        }
    }
}

/// Memory as the DMA controller sees it: all but the core's own registers.
struct DmaBus<'a> {
    soc: &'a mut Soc,
    at: Cycles,
    now: Picos,
}

impl DmaBus<'_> {
    /// The CPU's clock may stand: a cycle number at which it is now.
    fn cycle(&self) -> Cycles {
        let mclk = &self.soc.r.lines.base.mclk;
        mclk.ticks_at(self.now).max(self.at)
    }

    /// The controller tells of a bus error by DMA_ERRCLR alone.
    fn note_refused(&mut self, addr: u32, at: Cycles, refused: bool) {
        if refused {
            self.soc.common.state.lints.note(LintKind::DmaRefused, addr, at);
            self.soc.side.deadline = 0;
        }
    }
}

impl dma::Memory for DmaBus<'_> {
    fn read(&mut self, addr: u32, width: Width) -> Result<u32, Fault> {
        if addr >= 0xE000_0000 {
            return Err(Fault::unmapped(addr));
        }
        let at = self.cycle();
        let value = self.soc.read(addr, width, at);
        self.soc.side.stall = 0;
        self.note_refused(addr, at, value.is_err());
        value
    }

    fn write(&mut self, addr: u32, width: Width, value: u32) -> Result<(), Fault> {
        if addr >= 0xE000_0000 {
            return Err(Fault::unmapped(addr));
        }
        let at = self.cycle();
        let done = self.soc.write(addr, width, value, at);
        self.soc.side.stall = 0;
        self.note_refused(addr, at, done.is_err());
        done
    }

    fn moved(&mut self, from: u32, to: u32, width: Width) {
        self.soc.common.moved(from, to, width.bytes(), width.bytes());
    }
}
