// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chip as the engine drives it.

use super::*;
use crate::elf::AVR_DATA;

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedAvr {
    flash: Image,
    eeprom: Image,
    ram: Vec<u8>,
    fuse_bytes: [u8; 4],
    registers: Registers,
    core: avr::State,
}

impl Avr {
    fn start(&mut self, cause: Cause) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        self.soc.reset_registers(cause, now, cycles);
        self.cpu.reset();
        self.cpu.pc = self.soc.regs.reset_vector();
    }

    /// What a run's end leads to.
    fn act_on(&mut self, exit: Exit) -> Result<Ran, Fault> {
        match exit {
            Exit::Deadline if self.cpu.cycles < self.soc.deadline => Ok(Ran::On),
            Exit::Deadline | Exit::Status => Ok(Ran::Look),
            Exit::Breakpoint => Ok(Ran::Breakpoint),
            Exit::Sleep => {
                let now = self.soc.regs.clocks.cpu.time_of(self.cpu.cycles);
                self.soc.common.state.now_ps = now.0;
                self.soc.fall_asleep(now, self.cpu.cycles);
                Ok(Ran::Look)
            }
            // Without a debugger it does nothing.
            Exit::Break => Ok(Ran::Look),
            Exit::Fault(fault) => Err(fault),
        }
    }
}

impl Soc {
    fn set_deadline(&mut self, deadline: Cycles) {
        self.deadline = deadline;
    }
}

impl Chip for Avr {
    by_cpu!();

    type Saved = SavedAvr;

    fn new(dev: Arc<Device>) -> Self {
        let cpu = Cpu::new(dev.timed(Timing::AVRE, Timing::set));
        let mut chip = Self { cpu, soc: Soc::new(dev) };
        chip.start(Cause::PowerOn);
        chip.settle();
        chip
    }

    fn common(&self) -> &Common {
        &self.soc.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.soc.common
    }

    fn cpu_clock(&self) -> &Line {
        &self.soc.regs.clocks.cpu
    }

    fn pc(&self) -> u32 {
        2 * u32::from(self.cpu.pc)
    }

    fn sp(&self) -> u32 {
        DATA_SPACE | u32::from(self.cpu.sp)
    }

    fn registers(&self) -> Vec<Register> {
        const NAMES: [&str; 32] = [
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25",
            "r26", "r27", "r28", "r29", "r30", "r31",
        ];
        let register =
            |name: &'static str, bits, value| Register { name: name.into(), bits, value };
        let mut all: Vec<Register> =
            NAMES.iter().zip(self.cpu.r).map(|(name, r)| register(name, 8, r.into())).collect();
        all.push(register("SREG", 8, self.cpu.sreg().into()));
        all.push(register("SP", 16, self.cpu.sp.into()));
        all.push(register("PC", 32, self.pc()));
        all
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        match name {
            "SREG" => self.cpu.set_sreg(value as u8),
            "SP" => self.cpu.sp = value as u16,
            "PC" => self.cpu.pc = (value / 2) as u16,
            _ => {
                let number = name.strip_prefix('r').and_then(|n| n.parse::<usize>().ok());
                let Some(slot) = number.and_then(|n| self.cpu.r.get_mut(n)) else { return false };
                *slot = value as u8;
            }
        }
        true
    }

    fn sleeping(&self) -> bool {
        self.soc.regs.sleep.is_some()
    }

    fn held_until(&mut self) -> Option<Picos> {
        self.soc.regs.spm.halts_until()
    }

    fn must_step(&self) -> bool {
        self.cpu.interrupts_enabled() && !self.cpu.accepts_interrupts()
    }

    fn after_cpu(&mut self) {
        self.soc.common.state.now_ps = self.soc.regs.clocks.cpu.time_of(self.cpu.cycles).0;
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        if !self.cpu.accepts_interrupts() {
            return Ok(false);
        }
        let Some(number) = self.soc.regs.pending() else { return Ok(false) };
        if let Some(mode) = self.soc.regs.sleep {
            let now = self.soc.common.now();
            self.soc.wake(mode, now, self.cpu.cycles);
            self.cpu.cycles += self.soc.facts.startup.wake_extra_ck;
            self.after_cpu();
            if stop_on_change && self.soc.common.accounts.changed {
                // Awake from here on: who prices states must hear of it before the entry takes its cycles.
                return Ok(true);
            }
        }
        if let Some(fault) = &self.soc.common.illegal {
            return Err(fault.clone().at_pc(self.pc()));
        }
        let first = if self.soc.regs.mcucr & IVSEL != 0 { self.soc.regs.boot_start() } else { 0 };
        let vector = first + 2 * u16::from(number - 1);
        self.cpu.interrupt(&mut self.soc, observer, vector)?;
        self.soc.regs.acknowledge(number);
        self.after_cpu();
        Ok(true)
    }

    fn interrupts_off(&self) -> Option<&'static str> {
        (!self.cpu.interrupts_enabled()).then_some("I in SREG")
    }

    fn can_wake(&self) -> bool {
        let r = &self.soc.regs;
        r.wdt.is_on()
            || self.cpu.interrupts_enabled()
                && (r.may_interrupt()
                    || self.soc.common.next_event().is_some() && r.pins_may_interrupt())
    }

    fn pins_may_wake(&self) -> bool {
        self.cpu.interrupts_enabled() && self.soc.regs.pins_may_interrupt()
    }

    fn works_on(&self) -> bool {
        let r = &self.soc.regs;
        let swings = |o: &(usize, usize, usize, u8)| {
            r.timer_line(o.0).is_running()
                && r.timers[o.0].swings(o.1, r.prescaler(o.0))
                && r.ports[o.2].ddr & o.3 != 0
        };
        outputs::OUTPUTS.iter().any(swings)
            || r.usarts.iter().any(|u| u.next_event().is_some())
            || r.spi.next_event().or(r.twi.next_event()).is_some()
    }

    fn next_event(&self) -> Option<Picos> {
        self.soc.next_event()
    }

    const EVENTS_STAY: bool = true;

    fn process_events(&mut self, now: Picos, cycles: Cycles) -> Option<Picos> {
        loop {
            let next = self.soc.next_event();
            let Some(t) = next.filter(|t| *t <= now) else { return next };
            if self.soc.common.pending_fault.is_some() {
                return next;
            }
            self.soc.process_at(t, now, cycles);
            if self.soc.reset.is_some() {
                return None;
            }
        }
    }

    fn settle(&mut self) {
        for range in self.soc.changed.drain(..) {
            self.cpu.invalidate(range);
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.reset.is_some()
    }

    fn reset_cause(&self) -> ResetCause {
        match self.soc.reset {
            Some(Cause::Watchdog) => ResetCause::Watchdog,
            _ => ResetCause::Other,
        }
    }

    fn carry_out_reset(&mut self) {
        let Some(cause) = self.soc.reset.take() else { return };
        // The start-up time passes, booked as off.
        let cycles = self.cpu.cycles;
        self.soc.common.state.held_in_reset = true;
        self.soc.update_clocks(self.soc.common.now(), cycles);
        self.soc.common.state.held_in_reset = false;
        self.soc.common.state.now_ps += self.soc.reset_time().0;
        self.start(cause);
    }

    fn reset(&mut self) {
        self.start(Cause::PowerOn);
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        let vcc_v = self.soc.common.state.vcc_v;
        let level = self.soc.regs.bod_level(&self.soc.facts);
        if self.soc.common.state.held_in_reset {
            let released = level.map_or(0.0, |l| l + self.soc.facts.bod.hysteresis_v);
            if vcc_v >= released {
                self.soc.common.state.held_in_reset = false;
                self.soc.common.state.now_ps += self.soc.reset_time().0;
                self.start(Cause::BrownOut);
                return;
            }
        }
        self.soc.update_clocks(now, cycles);
    }

    fn too_low(&self) -> Option<Picos> {
        let (common, facts) = (&self.soc.common, &self.soc.facts);
        let level = self.soc.regs.bod_level(facts)?;
        (common.runs() && common.state.vcc_v < level).then(|| us(facts.bod.delay_us))
    }

    fn hold(&mut self) {
        self.soc.common.state.held_in_reset = true;
        self.soc.update_clocks(self.soc.common.now(), self.cpu.cycles);
    }

    fn power_off(&mut self) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        self.soc.common.state.powered = false;
        self.soc.power_off(now, cycles);
        let drives = self.soc.common.power_parts(false, now, cycles);
        self.soc.drive_all(drives, now);
        self.cpu.reset();
        self.cpu.r = [0; 32];
    }

    fn power_on(&mut self, ram_seed: u64) {
        let cycles = self.cpu.cycles;
        self.soc.scramble_ram(ram_seed);
        // The register file is as random as memory.
        for (i, r) in self.cpu.r.iter_mut().enumerate() {
            *r = splitmix64(ram_seed ^ 0x5EED_0000 ^ i as u64) as u8;
        }
        self.soc.regs.fuses.copy_from_slice(&self.soc.fuse_bytes[..3]);
        // EEAR's start value is undefined (datasheet, EEARH and EEARL); no reset but this one changes it.
        self.soc.regs.eeprom.eear = splitmix64(ram_seed ^ 0x6565_6172) as u16 & 0x0FFF;
        // The parts have the supply while the chip starts.
        let now = self.soc.common.now();
        let drives = self.soc.common.power_parts(true, now, cycles);
        self.soc.drive_all(drives, now);
        self.soc.common.state.now_ps += self.soc.reset_time().0;
        let now = self.soc.common.now();
        for component in [FLASH, EEPROM] {
            self.soc.set_state(component, accounts::IDLE, now, cycles);
        }
        self.reset();
    }

    fn fill_ram(&mut self, seed: u64) {
        self.soc.scramble_ram(seed);
    }

    fn reclock(&mut self) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        self.soc.update_clocks(now, cycles);
    }

    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        self.soc.bytes(addr, bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            if let Some(place) = self.soc.bytes_mut(addr + i as u32) {
                *place = *byte;
            }
        }
        if (addr as usize) < FLASH_BYTES {
            self.soc.flash_changed(addr..addr + bytes.len() as u32);
        }
        self.soc.eeprom_image = None;
        self.settle();
    }

    fn load(&mut self, addr: u32, bytes: u32) -> Result<u32, Fault> {
        if self.soc.regs.sleep.is_some() {
            let (now, cycles) = (self.common().now(), self.cpu.cycles);
            self.soc.regs.clocks.cpu.restart(now, cycles);
        }
        (0..bytes).try_fold(0, |read, i| {
            let place = addr.wrapping_sub(AVR_DATA).wrapping_add(i);
            let place = u16::try_from(place).map_err(|_| Fault::unmapped(addr))?;
            // The core's own registers lie in the data space too (2467X, register summary).
            let byte = match place {
                0..=31 => self.cpu.r[usize::from(place)],
                at::SPL => self.cpu.sp as u8,
                at::SPH => (self.cpu.sp >> 8) as u8,
                at::SREG => self.cpu.sreg(),
                _ => self.soc.read(place, self.cpu.cycles)?,
            };
            Ok(read | u32::from(byte) << (8 * i))
        })
    }

    fn pin_level(&self, pin: Pin) -> bool {
        let (i, mask) = place(pin);
        self.soc.regs.ports[i].levels() & mask != 0
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        let now = self.soc.common.now();
        self.soc.drive_all(drives, now);
    }

    fn serials(&self) -> &[&'static str] {
        &SERIALS
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128) {
        if let Some(usart) = serial.checked_sub(1).and_then(|i| self.soc.regs.usarts.get_mut(i)) {
            usart.uart_in(time, byte, bit_ps);
        }
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        let fitted = match oscillator {
            "xtal" => &mut self.soc.regs.xtal_hz,
            "tosc" => &mut self.soc.regs.tosc_hz,
            _ => return false,
        };
        *fitted = hz;
        true
    }

    fn save(&mut self) -> SavedAvr {
        let soc = &mut self.soc;
        let image = |bytes: &Vec<u8>| Image(Arc::new(bytes.clone()));
        let flash = soc.flash_image.get_or_insert_with(|| image(&soc.flash)).clone();
        let eeprom = soc.eeprom_image.get_or_insert_with(|| image(&soc.eeprom)).clone();
        SavedAvr {
            flash,
            eeprom,
            ram: soc.ram.to_vec(),
            fuse_bytes: soc.fuse_bytes,
            registers: soc.regs.clone(),
            core: self.cpu.state(),
        }
    }

    fn restore(&mut self, s: SavedAvr) {
        let soc = &mut self.soc;
        let same = |kept: &Option<Image>, new: &Image| {
            kept.as_ref().is_some_and(|k| Arc::ptr_eq(&k.0, &new.0))
        };
        let rww_changed = soc.regs.spm.rww_busy != s.registers.spm.rww_busy;
        if !same(&soc.flash_image, &s.flash) {
            soc.flash.copy_from_slice(&s.flash.0);
            soc.flash_image = Some(s.flash);
            soc.changed.push(0..FLASH_BYTES as u32);
        } else if rww_changed {
            soc.changed.push(0..NRWW);
        }
        if !same(&soc.eeprom_image, &s.eeprom) {
            soc.eeprom.copy_from_slice(&s.eeprom.0);
            soc.eeprom_image = Some(s.eeprom);
        }
        soc.ram.copy_from_slice(&s.ram);
        soc.fuse_bytes = s.fuse_bytes;
        soc.regs = s.registers;
        soc.reset = None;
        soc.stall = 0;
        self.cpu.set_state(&s.core);
        let now = soc.common.now();
        soc.update_clocks(now, s.core.cycles);
    }
}
