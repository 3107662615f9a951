// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Cortex-M as the run loop sees a chip, whoever made what is around it.

use std::sync::Arc;

use sunseal_isa::Fault;
use sunseal_isa::thumb::{self, Cpu, Entry, Timing};
use sunseal_trace::{Cycles, Observer, Picos, Width};

use super::{Around, CortexM};
use crate::accounts;
use crate::clock::Line;
use crate::common::{Common, Drive};
use crate::cores::by_cpu;
use crate::device::Device;
use crate::engine::{Chip, Ran};
use crate::pin::Pin;
use crate::resets::ResetCause;
use crate::stop::Register;

impl<S: Around> CortexM<S> {
    fn now(&self) -> Picos {
        self.soc.common().now()
    }

    fn update_clocks(&mut self) {
        let (now, cycles) = (self.now(), self.cpu.cycles);
        self.soc.update_clocks(now, cycles);
    }

    /// Flash that is written half stays half, by noise of this moment.
    fn abort_flash(&mut self) {
        let seed = self.now().0 as u64 ^ self.cpu.cycles;
        self.soc.abort_flash(seed);
    }

    fn power_parts(&mut self, on: bool) {
        let (now, cycles) = (self.now(), self.cpu.cycles);
        let drives = self.soc.common_mut().power_parts(on, now, cycles);
        self.soc.drive(drives);
    }
}

impl<S: Around> Chip for CortexM<S> {
    by_cpu!();

    type Saved = S::Saved;

    fn new(dev: Arc<Device>) -> Self {
        let mut cpu = Cpu::new(dev.timed(Timing::CORTEX_M4, Timing::set));
        let soc = S::new(dev);
        cpu.basepri_mask = soc.priority_mask().into();
        let mut chip = Self { cpu, soc, returning: None };
        chip.soc.wake_ram(0);
        chip.reset();
        chip.settle();
        chip
    }

    fn common(&self) -> &Common {
        self.soc.common()
    }

    fn common_mut(&mut self) -> &mut Common {
        self.soc.common_mut()
    }

    fn cpu_clock(&self) -> &Line {
        self.soc.clock()
    }

    fn pc(&self) -> u32 {
        self.cpu.r[thumb::PC]
    }

    fn sp(&self) -> u32 {
        self.cpu.r[thumb::SP]
    }

    fn registers(&self) -> Vec<Register> {
        self.named_registers()
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        self.set_named_register(name, value)
    }

    fn sleeping(&self) -> bool {
        self.soc.asleep()
    }

    fn held_until(&mut self) -> Option<Picos> {
        if self.soc.asleep() {
            return None;
        }
        self.soc.code_busy_until(self.cpu.r[thumb::PC])
    }

    fn must_step(&self) -> bool {
        false
    }

    fn returning(&self) -> bool {
        self.returning.is_some()
    }

    fn after_cpu(&mut self) {
        self.catch_up();
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        let masks = self.masks();
        if self.soc.asleep() {
            let lost = self.soc.is_lost();
            let event =
                self.soc.for_event() && std::mem::take(&mut self.soc.scs_mut().event_register);
            // Behind SLEEPONEXIT there is no program to go on with: only an exception ends it.
            let wakes = if lost {
                self.soc.leaves_loss()
            } else if self.returning.is_some() {
                self.soc.scs_mut().next(masks).is_some()
            } else {
                event || self.soc.scs().wakes(masks)
            };
            if !wakes {
                return Ok(false);
            }
            if self.soc.wake(self.cpu.cycles) {
                self.start_at_vector();
            }
            if let Some(fault) = &self.soc.common().illegal {
                return Err(fault.clone().at_pc(self.pc()));
            }
            if lost || stop_on_change && self.soc.common().accounts.changed {
                return Ok(true);
            }
            if let (Some(exc_return), Some(next)) =
                (self.returning.take(), self.soc.scs_mut().next(masks))
            {
                // SLEEPONEXIT: the stack has stayed.
                return self.enter(next, Entry::TailChain(exc_return), observer).map(|()| true);
            }
        }
        if let Some(exc_return) = self.returning.take() {
            return self.exception_return(exc_return, observer).map(|()| true);
        }
        let Some(exception) = self.soc.scs_mut().next(masks) else { return Ok(false) };
        self.enter(exception, Entry::Fresh, observer)?;
        Ok(true)
    }

    fn can_wake(&self) -> bool {
        let (masks, scs) = (self.masks(), self.soc.scs());
        scs.wakes(masks) || self.soc.for_event() && scs.event_register || self.soc.may_wake(masks)
    }

    fn pins_may_wake(&self) -> bool {
        self.soc.pins_may_wake(self.masks())
    }

    fn works_on(&self) -> bool {
        self.soc.works_on()
    }

    fn next_event(&self) -> Option<Picos> {
        self.soc.next_event()
    }

    fn process_events(&mut self, now: Picos, cycles: Cycles) -> Option<Picos> {
        while let Some(t) = self.soc.next_event() {
            if t > now || self.soc.common().pending_fault.is_some() {
                break;
            }
            self.soc.process(t, now, cycles);
            if self.soc.reset_pending() {
                break;
            }
        }
        // Levels from outside are looked at too.
        self.soc.refresh(now, cycles);
        None
    }

    fn settle(&mut self) {
        if self.soc.take_changed() {
            self.soc.code().into_iter().for_each(|range| self.cpu.invalidate(range));
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.reset_pending()
    }

    fn reset_cause(&self) -> ResetCause {
        self.soc.reset_cause()
    }

    fn carry_out_reset(&mut self) {
        if self.soc.reset_pending() {
            self.soc.carry_out_reset(self.cpu.cycles);
            self.start_at_vector();
        }
    }

    fn reset(&mut self) {
        self.abort_flash();
        let (now, cycles) = (self.now(), self.cpu.cycles);
        self.soc.power_on_reset(now, cycles);
        self.start_at_vector();
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.now(), self.cpu.cycles);
        if self.soc.supervisor_lets_go(now, cycles) {
            self.start_at_vector();
        }
        self.update_clocks();
    }

    fn too_low(&self) -> Option<Picos> {
        self.soc.too_low()
    }

    fn hold(&mut self) {
        self.soc.common_mut().state.held_in_reset = true;
        self.update_clocks();
    }

    fn power_off(&mut self) {
        self.abort_flash();
        self.soc.common_mut().state.powered = false;
        self.soc.end_sleep();
        let (now, cycles) = (self.now(), self.cpu.cycles);
        let common = self.soc.common_mut();
        for component in S::COMPONENTS {
            common.accounts.set_state(*component, accounts::OFF, now, cycles, common.uncached);
        }
        self.power_parts(false);
        self.update_clocks();
    }

    fn power_on(&mut self, ram_seed: u64) {
        self.soc.wake_ram(ram_seed);
        self.soc.forget();
        self.soc.common_mut().state.now_ps += self.soc.start_up().0;
        self.power_parts(true);
        self.reset();
    }

    fn fill_ram(&mut self, seed: u64) {
        self.soc.wake_ram(seed);
    }

    fn reclock(&mut self) {
        self.update_clocks();
    }

    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        self.soc.bytes(addr, bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        self.soc.put(addr, bytes);
        self.settle();
    }

    fn pin_level(&self, pin: Pin) -> bool {
        self.soc.pin_level(pin)
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        self.soc.drive(drives);
    }

    fn load(&mut self, addr: u32, bytes: u32) -> Result<u32, Fault> {
        let width = match bytes {
            1 => Width::W8,
            2 => Width::W16,
            _ => Width::W32,
        };
        if self.soc.asleep() {
            let (now, cycles) = (self.common().now(), self.cpu.cycles);
            self.soc.clock_mut().restart(now, cycles);
        }
        self.soc.read(addr, width, self.cpu.cycles)
    }

    fn serials(&self) -> &[&'static str] {
        S::SERIALS
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128) {
        self.soc.uart_in(serial, time, byte, bit_ps);
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        self.soc.wire_aclk(timer, ccr, input)
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.soc.fit_crystal(oscillator, hz)
    }

    fn cycles_from_ram(&self) -> Cycles {
        self.cpu.cycles_uncached
    }

    fn save(&mut self) -> Self::Saved {
        let core = self.save_core();
        self.soc.save(core)
    }

    fn restore(&mut self, saved: Self::Saved) {
        let core = self.soc.restore(saved);
        self.restore_core(&core);
        self.soc.map_memory();
        self.update_clocks();
    }
}
