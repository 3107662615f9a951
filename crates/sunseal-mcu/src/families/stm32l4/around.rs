// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a Cortex-M asks of the STM32L4 around it.

use std::ops::Range;

use super::*;
use crate::cores::armv7m::reaches;
use crate::cores::armv7m::scs::Masks;

impl Around for Soc {
    type Saved = SavedStm32l4;
    const COMPONENTS: &'static [ComponentId] = &[FLASH, TIMER_OSCILLATOR, RNG, ADC];
    const SERIALS: &'static [&'static str] = &SERIALS;

    reaches!(hclk);

    fn new(dev: Arc<Device>) -> Self {
        let facts = Arc::new(dev.stm32l4().clone());
        let (layout, map) = (Layout::of(&dev), Map::of(&blocks::listed(), &dev));
        let r = Registers {
            lines: Lines::default(),
            scs: Scs::new(&facts.nvic),
            dwt: Dwt::default(),
            rcc: Rcc::new(0, 0),
            pwr: Pwr::new(),
            blocks: Blocks::new(&facts),
            outputs: [0; 8],
            sleep: None,
            for_event: false,
            slept_from: 0,
        };
        Self {
            requests: transfers::requests(&dev),
            common: Common::new(dev, &NAMES),
            memory: Memory::new(),
            layout,
            map,
            routes: outputs::routes(&facts),
            r,
            fx: Fx::default(),
            side: Side::default(),
            too_fast: false,
            facts,
        }
    }

    fn is_lost(&self) -> bool {
        self.r.sleep.is_some_and(Sleep::is_lost)
    }

    fn leaves_loss(&self) -> bool {
        self.leaves_standby().is_some()
    }

    fn may_wake(&self, masks: Masks) -> bool {
        let r = &self.r;
        if r.blocks.iwdg[0].due(&()).is_some() {
            return true;
        }
        let pins = self.pins_may_wake(masks);
        if r.sleep.is_some_and(Sleep::is_lost) {
            return self.leaves_standby().is_some()
                || r.pwr.internal_wakeup() && r.blocks.rtc[0].due(&()).is_some()
                || pins && self.common.next_event().is_some();
        }
        let on = |input: u32| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        let rtc_lines = 1 << exti::RTC_WAKEUP | 1 << exti::RTC_ALARM;
        let rtc = r.blocks.exti[0].armed() & rtc_lines != 0
            && (wide::any(&self.map.inputs(Slot::exti(0))[7..], on) || r.for_event)
            && r.blocks.rtc[0].due(&()).is_some();
        self.systick_may_wake(masks)
            || rtc
            || r.blocks.may_ask(&self.map, &(), on)
            || self.dma_is_on() && self.own_event().is_some()
            || pins && (self.common.next_event().is_some() || self.serials_busy())
    }

    fn works_on(&self) -> bool {
        self.serials_busy()
            || self.dma_is_on() && self.own_event().is_some()
            || self.timers_move_pins() && self.own_event().is_some()
    }

    fn pins_may_wake(&self, _masks: Masks) -> bool {
        let r = &self.r;
        if r.sleep.is_some_and(Sleep::is_lost) {
            return r.pwr.wakeup_pins().0 != 0;
        }
        r.blocks.exti[0].armed() & exti::PINS != 0
    }

    fn refresh(&mut self, now: Picos, cycles: Cycles) {
        Soc::refresh(self, now, cycles);
    }

    fn reset_cause(&self) -> ResetCause {
        match self.fx.reset {
            Some(Cause::Watchdog) => ResetCause::Watchdog,
            Some(Cause::Software) => ResetCause::Software,
            _ => ResetCause::Other,
        }
    }

    fn carry_out_reset(&mut self, cycles: Cycles) {
        let Some(cause) = self.fx.reset.take() else { return };
        let now = self.now();
        Soc::abort_flash(self, now.0 as u64 ^ cycles);
        self.reset_as(cause, now, cycles);
    }

    fn power_on_reset(&mut self, now: Picos, cycles: Cycles) {
        self.reset_as(Cause::Brownout, now, cycles);
    }

    fn start_up(&self) -> Picos {
        us(self.facts.power.power_on_us)
    }

    fn forget(&mut self) {
        Soc::forget(self);
    }

    fn bytes(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        let i = self.layout.place(addr)? as usize;
        self.memory.bytes.get(i..i + bytes)
    }

    fn put(&mut self, addr: u32, bytes: &[u8]) {
        if let Some(i) = self.layout.place(addr).map(|i| i as usize) {
            let end = (i + bytes.len()).min(BYTES);
            self.memory.bytes[i..end].copy_from_slice(&bytes[..end - i]);
            self.side.changed = true;
            self.side.image = None;
        }
    }

    fn wake_ram(&mut self, seed: u64) {
        self.scramble_ram(seed, true, true);
    }

    fn map_memory(&mut self) {
        Soc::map_memory(self);
    }

    fn code_busy_until(&self, pc: u32) -> Option<Picos> {
        let flash = &self.r.blocks.flash[0];
        let end = flash.busy_until()?;
        flash.is_busy(self.layout.flash_offset(pc)?).then_some(end)
    }

    fn code(&self) -> [Range<u32>; 2] {
        [0..self.layout.flash, FLASH_START..FLASH_START + self.layout.flash]
    }

    fn pin_level(&self, pin: Pin) -> bool {
        self.r.blocks.level(pin)
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128) {
        if let Some(usart) = self.r.blocks.usart.get_mut(serial) {
            usart.uart_in(time, byte, bit_ps);
            self.side.deadline = 0;
        }
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.r.rcc.fit(oscillator, hz)
    }

    fn save(&mut self, core: SavedCore) -> Self::Saved {
        let (bytes, layout) = (&self.memory.bytes, self.layout);
        let part = |at: u32, n: u32| bytes[at as usize..(at + n) as usize].to_vec();
        let flash =
            self.side.image.get_or_insert_with(|| Arc::new(part(FLASH_AT, layout.flash))).clone();
        SavedStm32l4 {
            flash: SharedBytes(flash),
            sram1: part(SRAM1_AT, layout.sram1),
            sram2: part(SRAM2_AT, layout.sram2),
            registers: self.r.clone(),
            stall: self.side.stall,
            core,
        }
    }

    fn restore(&mut self, s: Self::Saved) -> SavedCore {
        let mut put = |at: u32, from: &[u8]| {
            self.memory.bytes[at as usize..at as usize + from.len()].copy_from_slice(from);
        };
        if !self.side.image.as_ref().is_some_and(|i| Arc::ptr_eq(i, &s.flash.0)) {
            put(FLASH_AT, &s.flash.0);
            self.side.image = Some(Arc::clone(&s.flash.0));
            self.side.changed = true;
        }
        put(SRAM1_AT, &s.sram1);
        put(SRAM2_AT, &s.sram2);
        self.r = s.registers;
        self.side.stall = s.stall;
        self.fx = Fx::default();
        s.core
    }

    fn word(&self, addr: u32) -> Option<u32> {
        self.layout.place(addr).map(|i| self.memory.peek(i, Width::W32))
    }

    fn holds(&self, addr: u32) -> bool {
        self.layout.place(addr).is_some()
    }

    fn process(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        self.process_at(t, cycles);
        if self.common.next_event().is_some_and(|e| e <= t) {
            // No interface is a slave that a part could shift into.
            let (drives, _) = self.common.events(t, now, cycles);
            self.drive(drives);
            self.settle_effects(now, cycles);
        }
    }
}
