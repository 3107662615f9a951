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
        let memory: Box<[u8; BYTES]> =
            vec![0xFF; BYTES].into_boxed_slice().try_into().expect("the vector has as many bytes");
        let mut soc = Self {
            common: Common::new(dev, &NAMES),
            memory,
            windows: [Window::default(); 256],
            blocks: blocks(&facts.peripherals),
            r: Registers::new(&facts),
            scb: Scb::default(),
            fx: Fx::default(),
            deadline: 0,
            stall: 0,
            waits: false,
            too_fast: [false; 2],
            exception: 0,
            changed: false,
            image: None,
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
        let rtc = matches!(r.sleep, Some(Sleep::Lpm35)) && r.rtc.pending();
        rtc || r.ports[..3].iter().any(|p| p.asks(0) || p.asks(1))
    }

    fn may_wake(&self, masks: Masks) -> bool {
        let r = &self.r;
        if !matches!(r.sleep, Some(Sleep::Lpm45))
            && r.wdt.resets()
            && r.wdt.next_event(&r.lines).is_some()
        {
            return true;
        }
        let i = &self.facts.interrupts;
        let on = |input: u32| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        let l = &r.lines;
        let pins = self.pins_may_wake(masks);
        let timer = |n: usize, t: &TimerA| {
            let first = i.ta0_0 + 2 * n as u32;
            t.enabled() && (on(first) || on(first + 1)) && t.next_event(&l.base).is_some()
        };
        let serial = |n: usize, u: &Eusci| {
            (u.enabled() && on(i.eusci_a0 + n as u32) || pins) && u.next_event().is_some()
        };
        let timer32 = on(i.t32_int1) || on(i.t32_int2) || on(i.t32_intc);
        self.systick_may_wake(masks)
            || on(i.wdt_a) && r.wdt.next_event(l).is_some()
            || on(i.rtc_c) && r.rtc.enabled() && r.rtc.next_event(&l.bclk).is_some()
            || timer32 && r.timer32.enabled() && r.timer32.next_event(&l.fclk).is_some()
            || r.timers.iter().enumerate().any(|(n, t)| timer(n, t))
            || r.eusci.iter().enumerate().any(|(n, u)| serial(n, u))
            || on(i.adc14) && r.adc.enabled() && r.adc.busy()
            || on(i.aes256) && r.aes.enabled() && r.aes.busy()
            || on(i.flctl) && r.flctl.enabled() && r.flctl.busy_until().is_some()
            || on(i.pcm) && r.pcm.next_event().is_some()
            || r.dma.is_on() && (r.dma.next_event(&l.fclk).is_some() || self.dma_may_go_on())
            || pins && self.common.next_event().is_some()
    }

    fn pins_may_wake(&self, masks: Masks) -> bool {
        let r = &self.r;
        let port1 = self.facts.interrupts.port1;
        let may = |n| r.scs.may_wake(scs::IRQ0 + port1 + n, masks, r.for_event);
        (self.is_lost() || (0..6).any(may)) && r.ports[..3].iter().any(PortPair::may_wake)
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
        let least = self.r.pss.svsmh_level().map_or(0.0, |l| levels[l]);
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
        let delay_us = match asleep && r.pss.svsmh_low_power() {
            true => svs.delay_normal_us,
            false => svs.delay_full_performance_us,
        };
        let level = r.pss.svsmh_level()?;
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
        self.memory.get(i..i + bytes)
    }

    fn put(&mut self, addr: u32, bytes: &[u8]) {
        if let Some(i) = place(addr).map(|i| i as usize) {
            let end = (i + bytes.len()).min(BYTES);
            self.memory[i..end].copy_from_slice(&bytes[..end - i]);
            self.changed = true;
            self.image = None;
        }
    }

    fn wake_ram(&mut self, seed: u64) {
        self.scramble_ram(seed, |_| true);
    }

    fn map_memory(&mut self) {
        self.map();
    }

    fn code_busy_until(&self, pc: u32) -> Option<Picos> {
        let end = self.r.flctl.busy_until()?;
        // A handler's vector and code may lie in the bank too; the core waits for them itself.
        (is_flash(pc) && self.r.flctl.is_busy(pc)).then_some(end)
    }

    fn code(&self) -> [Range<u32>; 2] {
        [0..flctl::INFO + flctl::INFO_BYTES, 0..0]
    }

    fn pin_level(&self, pin: Pin) -> bool {
        level(&self.r.ports, pin)
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8) {
        self.r.eusci[serial].uart_in(time, byte);
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        let timer = TIMERS.iter().position(|n| *n == timer);
        let side = ['A', 'B'].iter().position(|n| *n == input);
        let (Some(timer), Some(side)) = (timer, side) else { return false };
        let block = self.r.timers[timer].aclk_inputs.get_mut(usize::from(ccr));
        block.is_some_and(|b| {
            b[side] = true;
            true
        })
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.r.cs.fit(oscillator, hz)
    }

    fn save(&mut self, core: SavedCore) -> Self::Saved {
        let memory = &self.memory;
        let flash =
            self.image.get_or_insert_with(|| Arc::new(memory[..SRAM_AT as usize].to_vec())).clone();
        SavedMsp432 {
            flash: SharedBytes(flash),
            sram: memory[SRAM_AT as usize..(SRAM_AT + SRAM_BYTES) as usize].to_vec(),
            registers: self.r.clone(),
            stall: self.stall,
            core,
        }
    }

    fn restore(&mut self, s: Self::Saved) -> SavedCore {
        let same = self.image.as_ref().is_some_and(|i| Arc::ptr_eq(i, &s.flash.0));
        if !same {
            let n = s.flash.0.len().min(SRAM_AT as usize);
            self.memory[..n].copy_from_slice(&s.flash.0[..n]);
            self.image = Some(Arc::clone(&s.flash.0));
            self.changed = true;
        }
        let n = s.sram.len().min(SRAM_BYTES as usize);
        self.memory[SRAM_AT as usize..SRAM_AT as usize + n].copy_from_slice(&s.sram[..n]);
        self.r = s.registers;
        self.stall = s.stall;
        self.fx = Fx::default();
        s.core
    }

    fn word(&self, addr: u32) -> Option<u32> {
        let i = place(addr)? as usize;
        let b = self.memory.get(i..i + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn holds(&self, addr: u32) -> bool {
        place(addr).is_some()
    }

    fn process(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        self.process_at(t, cycles);
        if self.common.next_event().is_some_and(|e| e <= t) {
            let (drives, shifts) = self.common.events(t, now, cycles);
            for shift in shifts {
                let gave = self.r.eusci[shift.serial].slave_exchange(shift.byte);
                self.common.shifted_out(&shift, t, gave);
            }
            self.drive(drives);
            self.settle_effects(now, cycles);
        }
    }
}

impl Soc {
    fn dma_may_go_on(&self) -> bool {
        let r = &self.r;
        r.aes.busy()
            || r.adc.busy()
            || r.eusci.iter().any(|u| u.next_event().is_some())
            || r.timers.iter().any(|t| t.next_event(&r.lines.base).is_some())
    }
}
