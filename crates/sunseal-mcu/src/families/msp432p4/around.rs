// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a Cortex-M asks of the MSP432P4 around it.

use std::ops::Range;

use super::*;
use crate::cores::armv7m::reaches;
use crate::cores::armv7m::scs::Masks;

impl Around for Soc {
    type Saved = SavedMsp432;
    const COMPONENTS: &'static [ComponentId] = &[FLASH, ADC14, REF, AES];
    const SERIALS: &'static [&'static str] = &SERIALS;

    reaches!(base.mclk);

    fn new(dev: Arc<Device>) -> Self {
        let facts = Arc::new(dev.msp432().clone());
        let map = Map::of(&blocks::listed(), &dev);
        let mut net = Net::new(&dev, facts.pins.as_ref(), "adc14", PAIRS, unit);
        let mapper = &facts.port_mapper;
        for (signal, code) in &mapper.signals {
            let pins =
                mapper.ports.iter().flat_map(|&port| (0..8).map(move |bit| Pin { port, bit }));
            net.lead(pins, PAIRS, (1, Some(*code)), signal, unit);
        }
        let mut r = Registers {
            lines: Lines::default(),
            scs: Scs::new(&facts.nvic),
            dwt: Dwt::default(),
            sysctl: Sysctl::new(),
            blocks: Blocks::new(&facts),
            outputs: [0; 6],
            sleep: None,
            for_event: false,
            slept_from: 0,
        };
        net.tell(&mut r.blocks.timers);
        let mut soc = Self {
            net,
            common: Common::new(dev, &NAMES),
            memory: Memory::new(),
            map,
            r,
            fx: Fx::default(),
            side: Side::default(),
            too_fast: [false; 2],
            facts,
        };
        soc.write_tlv();
        soc
    }

    fn is_lost(&self) -> bool {
        matches!(self.r.sleep, Some(Sleep::Lpm35 | Sleep::Lpm45))
    }

    /// LPM3.5 ends by RTC or pins, LPM4.5 by pins.
    fn leaves_loss(&self) -> bool {
        let r = &self.r;
        let rtc = matches!(r.sleep, Some(Sleep::Lpm35)) && r.blocks.rtc[0].pending();
        rtc || r.blocks.dio[0].pending()
    }

    fn may_wake(&self, masks: Masks) -> bool {
        let r = &self.r;
        let b = &r.blocks;
        if !matches!(r.sleep, Some(Sleep::Lpm45))
            && b.wdt[0].resets()
            && b.wdt[0].due(&r.lines).is_some()
        {
            return true;
        }
        let on = |input: u32| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        let l = &r.lines;
        let pins = self.pins_may_wake(masks);
        self.systick_may_wake(masks)
            || b.may_ask(&self.map, l, on)
            || b.dma[0].is_on() && (b.dma[0].due(l).is_some() || self.dma_may_go_on())
            || pins
                && (self.common.next_event().is_some()
                    || b.eusci.iter().any(|u| u.due(l).is_some()))
    }

    fn works_on(&self) -> bool {
        let (b, lines) = (&self.r.blocks, &self.r.lines);
        let port = |i: usize| b.dio[0].pair(i);
        let pins = self.net.works_on(port, &b.timers, &|i, mask| b.pmap[0].code(i, mask));
        (b.dma[0].is_on() || pins) && self.own_event().is_some()
            || b.eusci.iter().any(|s| s.due(lines).is_some())
    }

    fn pins_may_wake(&self, masks: Masks) -> bool {
        let r = &self.r;
        let may = |input| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        (self.is_lost() || wide::any(&self.map.inputs(Slot::dio(0)), may))
            && r.blocks.dio[0].may_wake()
    }

    fn refresh(&mut self, now: Picos, cycles: Cycles) {
        Soc::refresh(self, now, cycles);
    }

    fn reset_cause(&self) -> ResetCause {
        match self.fx.reset {
            Some((Class::Soft | Class::Hard, wdt::SOURCE_TIMEOUT)) => ResetCause::Watchdog,
            Some((Class::Soft | Class::Hard, wdt::SOURCE_PASSWORD)) => ResetCause::Password,
            Some(_) => ResetCause::Software,
            None => ResetCause::Other,
        }
    }

    fn carry_out_reset(&mut self, cycles: Cycles) {
        let Some((class, source)) = self.fx.reset.take() else { return };
        if class >= Class::Reboot {
            // The boot code's time passes, booked as off.
            self.common.state.held_in_reset = true;
            Soc::update_clocks(self, self.now(), cycles);
            self.common.state.held_in_reset = false;
            self.common.state.now_ps += us(self.facts.pcm.reset_ms * 1e3).0;
        }
        let now = self.now();
        Soc::abort_flash(self, now.0 as u64 ^ cycles);
        self.reset_as(class, source, now, cycles);
    }

    fn power_on_reset(&mut self, now: Picos, cycles: Cycles) {
        self.reset_as(Class::Por, 0, now, cycles);
    }

    fn supervisor_lets_go(&mut self, now: Picos, cycles: Cycles) -> bool {
        let levels = &self.facts.svs.svsmh_falling_v;
        let least = self.r.blocks.pss[0].svsmh_level().map_or(0.0, |l| levels[l]);
        let state = &mut self.common.state;
        if !state.held_in_reset || state.vcc_v < least.max(self.facts.pcm.vcc_min_v) {
            return false;
        }
        state.held_in_reset = false;
        // SVSMH tripped: source 1 of the PSS.
        self.reset_as(Class::Por, 1, now, cycles);
        true
    }

    fn too_low(&self) -> Option<Picos> {
        let (r, svs) = (&self.r, &self.facts.svs);
        let asleep = !matches!(r.sleep, None | Some(Sleep::Lpm0));
        let delay_us = match asleep && r.blocks.pss[0].svsmh_low_power() {
            true => svs.delay_normal_us,
            false => svs.delay_full_performance_us,
        };
        let level = r.blocks.pss[0].svsmh_level()?;
        let common = &self.common;
        (common.runs() && common.state.vcc_v < svs.svsmh_falling_v[level]).then(|| us(delay_us))
    }

    fn start_up(&self) -> Picos {
        us(self.facts.pcm.reset_ms * 1e3)
    }

    fn forget(&mut self) {
        // A power-up is not the reset that keeps the causes of those before it.
        self.r.sysctl = Sysctl::new();
    }

    fn bytes(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        let i = place(addr)? as usize;
        self.memory.bytes.get(i..i + bytes)
    }

    fn put(&mut self, addr: u32, bytes: &[u8]) {
        if let Some(i) = place(addr).map(|i| i as usize) {
            let end = (i + bytes.len()).min(BYTES);
            self.memory.bytes[i..end].copy_from_slice(&bytes[..end - i]);
            self.side.changed = true;
            self.side.image = None;
        }
    }

    fn wake_ram(&mut self, seed: u64) {
        self.scramble_ram(seed, |_| true);
    }

    fn map_memory(&mut self) {
        self.map();
    }

    fn code_busy_until(&self, pc: u32) -> Option<Picos> {
        let end = self.r.blocks.flctl[0].busy_until()?;
        // A handler's vector and code may lie in the bank too; the core waits for them itself.
        (is_flash(pc) && self.r.blocks.flctl[0].is_busy(pc)).then_some(end)
    }

    fn code(&self) -> [Range<u32>; 2] {
        [0..flctl::INFO + flctl::INFO_BYTES, 0..0]
    }

    fn pin_level(&self, pin: Pin) -> bool {
        self.r.blocks.dio[0].level(pin)
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128) {
        self.r.blocks.eusci[serial].0.uart_in(time, byte, bit_ps);
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        let timer = TIMERS.iter().position(|n| *n == timer);
        let side = ['A', 'B'].iter().position(|n| *n == input);
        let (Some(timer), Some(side)) = (timer, side) else { return false };
        let block = self.r.blocks.timers[timer].0.aclk_inputs.get_mut(usize::from(ccr));
        block.is_some_and(|b| {
            b[side] = true;
            true
        })
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.r.blocks.cs[0].fit(oscillator, hz)
    }

    fn save(&mut self, core: SavedCore) -> Self::Saved {
        let memory = &self.memory.bytes;
        let flash = self
            .side
            .image
            .get_or_insert_with(|| Arc::new(memory[..SRAM_AT as usize].to_vec()))
            .clone();
        SavedMsp432 {
            flash: SharedBytes(flash),
            sram: memory[SRAM_AT as usize..(SRAM_AT + SRAM_BYTES) as usize].to_vec(),
            registers: self.r.clone(),
            stall: self.side.stall,
            core,
        }
    }

    fn restore(&mut self, s: Self::Saved) -> SavedCore {
        let same = self.side.image.as_ref().is_some_and(|i| Arc::ptr_eq(i, &s.flash.0));
        if !same {
            let n = s.flash.0.len().min(SRAM_AT as usize);
            self.memory.bytes[..n].copy_from_slice(&s.flash.0[..n]);
            self.side.image = Some(Arc::clone(&s.flash.0));
            self.side.changed = true;
        }
        let n = s.sram.len().min(SRAM_BYTES as usize);
        self.memory.bytes[SRAM_AT as usize..SRAM_AT as usize + n].copy_from_slice(&s.sram[..n]);
        self.r = s.registers;
        self.side.stall = s.stall;
        self.fx = Fx::default();
        s.core
    }

    fn word(&self, addr: u32) -> Option<u32> {
        place(addr).map(|i| self.memory.peek(i, Width::W32))
    }

    fn holds(&self, addr: u32) -> bool {
        place(addr).is_some()
    }

    fn process(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        self.process_at(t, cycles);
        if self.common.next_event().is_some_and(|e| e <= t) {
            let (drives, shifts) = self.common.events(t, now, cycles);
            for shift in shifts {
                let gave = self.r.blocks.eusci[shift.serial].0.slave_exchange(shift.byte);
                self.common.shifted_out(&shift, t, gave);
            }
            self.drive(drives);
            self.settle_effects(now, cycles);
        }
    }
}

/// A timer and its unit by their name in the device's data.
fn unit(name: &str) -> Option<net::Unit> {
    let (timer, ccr) = name.split_once('.')?;
    Some((TIMERS.iter().position(|n| *n == timer)?, ccr.parse().ok()?))
}

impl Soc {
    fn dma_may_go_on(&self) -> bool {
        let (b, l) = (&self.r.blocks, &self.r.lines);
        b.aes[0].0.busy()
            || b.adc[0].busy()
            || b.eusci.iter().any(|u| u.due(l).is_some())
            || b.timers.iter().any(|t| t.due(l).is_some())
    }
}
