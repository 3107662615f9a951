// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the MSP430 families share: the CPU, one flat memory with a kind per page, sleep by status
//! register, maskable and unmaskable interrupts. A family brings its [`Peripherals`].

mod env;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::{self, Bus, Cpu, Exit, Timing, Width, sr};
use sunseal_trace::{Cycles, Observer, Picos};

use crate::accounts::{Event, Names};
use crate::blocks::mpy32::{self, Mpy32};
use crate::blocks::timer_a::TimerA;
use crate::blocks::{Effects, cause};
use crate::clock::{Line, splitmix64};
use crate::common::{Common, Drive};
use crate::cores::by_cpu;
use crate::device::{Device, RegionKind};
use crate::engine::{Chip, Ran};
use crate::lint::LintKind;
use crate::pin::Pin;
use crate::resets::ResetCause;
use crate::startup::{self, Cells};
use crate::stop::Register;
pub(crate) use env::{Env, Image};

pub(crate) const ADDRESS_SPACE: usize = 1 << 20;
const MASK: usize = ADDRESS_SPACE - 1;
/// FRAM goes back to a snapshot by pieces of this size.
const PAGE_BYTES: usize = 256;
/// Page flags: plain reads, plain writes, memory that the core keeps decoded.
pub(crate) const READ: u8 = 1;
pub(crate) const WRITE: u8 = 2;
pub(crate) const CODE: u8 = 4;
/// FRAM that may be read and written: accesses pass the chip's cache.
pub(crate) const FRAM_READ: u8 = 8;
pub(crate) const FRAM_WRITE: u8 = 16;
/// Where every MSP430 has the address of its first instruction.
pub(crate) const RESET_VECTOR: u32 = 0xFFFE;
/// The SR bits that decide clocks and sleep.
pub(crate) const MODE: u32 = sr::CPUOFF | sr::OSCOFF | sr::SCG0 | sr::SCG1;

/// What is to be written, and where.
#[derive(Clone, Copy)]
pub(crate) struct Store {
    pub addr: u32,
    pub width: Width,
    pub value: u16,
}

impl Store {
    /// The same to the even half of a word, with the bits that are written.
    pub fn masked(self) -> Masked {
        let (value, mask) = in_word(self.addr, self.width, self.value);
        Masked { addr: self.addr & !1, value, mask }
    }
}

/// Bits of a word that are to be written.
#[derive(Clone, Copy)]
pub(crate) struct Masked {
    pub addr: u32,
    pub value: u16,
    pub mask: u16,
}

/// The peripherals of a family.
pub(crate) trait Peripherals: Sized {
    /// What a snapshot keeps of them.
    type Registers: Clone + Serialize + DeserializeOwned;
    const NAMES: Names;
    const TIMING: Timing;
    /// See [`Chip::EVENTS_STAY`].
    const EVENTS_STAY: bool = false;
    /// See [`Chip::forget_ticks`] and [`Chip::remains`].
    fn forget_ticks(&mut self) {}
    fn remains(&self) -> Option<Vec<u8>> {
        None
    }
    /// Registers lie below this address.
    const PERIPHERALS_END: u32 = 0x1000;

    fn new(env: &mut Env) -> Self;
    fn registers(&self) -> &Self::Registers;
    /// Names of the serial interfaces by their numbers.
    fn serials(&self) -> &[&'static str];
    /// Goes back to a snapshot; memory, books and time are there already.
    fn set_registers(&mut self, env: &mut Env, registers: Self::Registers);
    /// Whether FRAM is watched has changed.
    fn fram_watched(&mut self, _env: &mut Env) {}

    // ---- clocks and modes

    /// The line whose ticks are the CPU's cycles.
    fn mclk(&self) -> &Line;
    fn mclk_mut(&mut self) -> &mut Line;
    /// Brings the lines, the operating point and the CPU's state in step with registers and mode.
    fn update_clocks(&mut self, env: &mut Env, now: Picos, cycles: Cycles);
    /// `env.mode` was `old`; awake again, the wake-up time passes (`state.now_ps` moves on).
    fn mode_changed(&mut self, env: &mut Env, old: u32, now: Picos, cycles: Cycles);

    // ---- resets and supply

    /// As behind a brown-out reset.
    fn reset(&mut self, env: &mut Env, now: Picos, cycles: Cycles);
    /// What register accesses and events led to outside their block.
    fn effects(&self) -> &Effects;
    /// Carries out the pending reset, its start-up time included.
    fn carry_out_reset(&mut self, env: &mut Env, cycles: Cycles);
    /// The supply voltage changed; true if the chip was let go of and must be reset as by
    /// [`reset`](Self::reset), with the cause noted.
    fn vcc_changed(&mut self, env: &mut Env, now: Picos, cycles: Cycles) -> bool;
    /// The supervisor finds the supply too low: how long that must last.
    fn too_low(&self, env: &Env) -> Option<Picos>;
    /// Compares the supply with the supervisor's level.
    fn supervise(&mut self, env: &mut Env, now: Picos) {
        let too_low = self.too_low(env);
        env.common.svs_sees(now, too_low);
    }
    /// It has lasted for so long.
    fn hold(&mut self, env: &mut Env);
    fn power_off(&mut self, env: &mut Env, now: Picos, cycles: Cycles);
    /// Memory wakes, the start-up time passes. A reset follows.
    fn power_on(&mut self, env: &mut Env, ram_seed: u64, cycles: Cycles);

    // ---- interrupts and events

    /// The pending, enabled interrupt of highest priority: its vector, and whether GIE masks it.
    fn pending_interrupt(&self, env: &Env) -> Option<(u32, bool)>;
    /// The CPU took the interrupt at `vector`: flags of single sources clear themselves.
    fn acknowledge(&mut self, env: &mut Env, vector: u32);
    /// Whether anything but a maskable interrupt could end a sleep.
    fn unmaskable_possible(&self) -> bool;
    /// Whether the chip or a part may yet raise an interrupt that is enabled.
    fn maskable_possible(&self, env: &Env) -> bool;
    /// Whether an outside level could raise an interrupt.
    fn pins_may_wake(&self) -> bool;
    /// Passes on the chip's answer ([`Chip::works_on`]): a core has nothing that works by itself.
    fn works_on(&self) -> bool {
        false
    }
    /// The next event of the peripherals (those of parts are the caller's).
    fn next_event(&self) -> Option<Picos>;
    /// Carries out what is due at `t`.
    fn process_at(&mut self, env: &mut Env, t: Picos, now: Picos, cycles: Cycles);
    /// What accesses and events led to outside their peripheral.
    fn settle_effects(&mut self, env: &mut Env, now: Picos, cycles: Cycles);
    /// A memory that the CPU (at `pc`, or fetching a handler) needs is busy until then.
    fn held_until(&mut self, env: &mut Env, pc: u32, sleeping: bool) -> Option<Picos>;
    /// The CPU ran up to `cycles`: cycles that a DMA controller takes are added here.
    fn ran(&mut self, _env: &mut Env, _cycles: Cycles) {}

    // ---- the bus

    /// Reads a register. Words are at even addresses.
    fn read(&mut self, env: &mut Env, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault>;
    fn write(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault>;
    /// The hardware multiplier, and where it lies.
    fn mpy(&self) -> (&Mpy32, u32);
    fn mpy_mut(&mut self) -> &mut Mpy32;
    /// Bytes that its registers take.
    const MPY_BYTES: u32 = mpy32::MPY_BYTES;
    /// What each of its operations is booked as; none: as the multiplier says.
    const MPY_EVENT: Option<Event> = None;

    /// The multiplier's registers, as far as a word access leads to nothing else.
    #[inline(always)]
    fn read_plain_register(&self, addr: u32, at: Cycles) -> Option<u16> {
        let (mpy, base) = self.mpy();
        let off = addr.wrapping_sub(base);
        if off < Self::MPY_BYTES { mpy.read_fast(off, at) } else { None }
    }

    /// The same for a write; false where it leads to more, which a write by [`Self::write`] does then.
    #[inline(always)]
    fn write_plain_register(&mut self, env: &mut Env, addr: u32, value: u16, at: Cycles) -> bool {
        let off = addr.wrapping_sub(self.mpy().1);
        if off >= Self::MPY_BYTES {
            return false;
        }
        let Some(event) = self.mpy_mut().write_fast(off, value, at) else { return false };
        if let Some(event) = event {
            env.common.accounts.count(Self::MPY_EVENT.unwrap_or(event));
        }
        true
    }
    /// A store to memory that plain stores do not change.
    fn store(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault>;
    /// Whether the chip has FRAM: reads pass a cache and may wait, plain stores change code.
    const FRAM: bool = false;
    /// Wait states of fetching the instruction at `pc`.
    #[inline(always)]
    fn fetched(&mut self, _env: &mut Env, _pc: u32, _bytes: u32) -> Cycles {
        0
    }
    /// Wait states of the data accesses since the last call.
    #[inline(always)]
    fn stall(&mut self) -> Cycles {
        0
    }
    /// FRAM is read, or written, at `addr`.
    #[inline(always)]
    fn fram_read(&mut self, _addr: u32) {}
    #[inline(always)]
    fn fram_written(&mut self, _addr: u32) {}
    /// What memory that must not be read or executed gives instead.
    fn refused(&mut self, _env: &mut Env, _addr: u32) -> Option<u16> {
        None
    }
    /// Why memory at `addr` cannot be read now, if there is memory.
    fn unreadable(&self, _env: &Env, _addr: u32) -> Option<Fault> {
        None
    }

    // ---- pins and serial interfaces

    fn pin_level(&self, pin: Pin) -> bool;
    /// A level from outside, since `at`.
    fn drive(&mut self, pin: Pin, level: Option<bool>, at: Picos);
    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128);
    /// A byte that a part shifts into serial interface `serial`, which is its slave; answers the
    /// byte that was there.
    fn shifted_in(&mut self, _env: &mut Env, _serial: usize, _byte: u8) -> u8 {
        0xFF
    }
    /// The timer of this name.
    fn timer(&mut self, name: &str) -> Option<&mut TimerA>;
    /// Wires ACLK to a capture input; false if there is no such input.
    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        let timer = self.timer(timer).filter(|_| matches!(input, 'A' | 'B'));
        timer.is_some_and(|t| t.wire_aclk(ccr, input == 'B'))
    }
    /// Fits a crystal to an oscillator; 0 Hz takes it away. False if there is no such oscillator.
    fn fit_crystal(&mut self, _oscillator: &str, _hz: u32) -> bool {
        false
    }
}

/// A write to a register as one to the word that it lies in: the value in its half, and the mask of that half.
#[inline(always)]
fn in_word(addr: u32, width: Width, value: u16) -> (u16, u16) {
    let shift = 8 * (addr & 1);
    match width {
        Width::Word => (value, 0xFFFF),
        Width::Byte => ((value & 0xFF) << shift, 0xFF << shift),
    }
}

/// What a read of a register's word gives: the word, or the half that was asked for.
#[inline(always)]
pub(crate) fn of_word(addr: u32, width: Width, word: u16) -> u16 {
    match width {
        Width::Word => word,
        Width::Byte => word >> (8 * (addr & 1)) & 0xFF,
    }
}

/// The bus: memory and peripherals.
pub(crate) struct Soc<P> {
    pub env: Env,
    pub p: P,
}

/// A chip of one of the families.
pub(crate) struct Msp430<P> {
    cpu: Cpu,
    soc: Soc<P>,
    /// The stack pointer in the NMI handler that runs.
    nmi_sp: Option<u32>,
}

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedMsp430<R> {
    memory: Vec<Image>,
    registers: R,
    mode: u32,
    core: msp430::State,
    nmi_sp: Option<u32>,
}

impl<P: Peripherals> Msp430<P> {
    fn start_at_vector(&mut self) {
        self.nmi_sp = None;
        self.cpu.r = [0; 16];
        self.cpu.r[msp430::PC] = u32::from(self.soc.env.word(RESET_VECTOR));
    }

    fn saved(&mut self, near: bool) -> SavedMsp430<P::Registers> {
        SavedMsp430 {
            memory: self.soc.env.save_memory(near),
            registers: self.soc.p.registers().clone(),
            mode: self.soc.env.mode,
            core: self.cpu.state(),
            nmi_sp: self.nmi_sp,
        }
    }

    /// The CPU's status register changed.
    fn set_mode(&mut self, status: u32, now: Picos) {
        let env = &mut self.soc.env;
        let new = status & MODE;
        let old = std::mem::replace(&mut env.mode, new);
        if old != new {
            self.soc.p.mode_changed(env, old, now, self.cpu.cycles);
        }
    }

    fn drive_all(soc: &mut Soc<P>, drives: Vec<Drive>, at: Picos) {
        for (pin, level) in drives {
            soc.p.drive(pin, level, at);
            soc.env.deadline = 0;
        }
    }

    fn gie(&self) -> bool {
        self.cpu.r[msp430::SR] & sr::GIE != 0
    }
}

impl<P: Peripherals> Msp430<P> {
    /// What a run's end leads to.
    fn act_on(&self, exit: Exit) -> Result<Ran, Fault> {
        match exit {
            Exit::Fault(fault) => Err(fault),
            Exit::Deadline if self.cpu.cycles < self.soc.env.deadline => Ok(Ran::On),
            Exit::Deadline | Exit::Status => Ok(Ran::Look),
            Exit::Breakpoint => Ok(Ran::Breakpoint),
        }
    }
}

impl<P: Peripherals> Soc<P> {
    fn set_deadline(&mut self, deadline: Cycles) {
        self.env.deadline = deadline;
    }
}

impl<P: Peripherals> Chip for Msp430<P> {
    by_cpu!();

    type Saved = SavedMsp430<P::Registers>;

    fn new(dev: Arc<Device>) -> Self {
        let cpu = Cpu::new(dev.timed(P::TIMING, Timing::set));
        let mut env = Env::new(dev, &P::NAMES);
        let mut p = P::new(&mut env);
        env.scramble_ram(0);
        p.update_clocks(&mut env, Picos::ZERO, 0);
        let mut chip = Self { cpu, soc: Soc { env, p }, nmi_sp: None };
        chip.reset();
        chip.settle();
        chip
    }

    fn common(&self) -> &Common {
        &self.soc.env.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.soc.env.common
    }

    fn cpu_clock(&self) -> &Line {
        self.soc.p.mclk()
    }

    fn pc(&self) -> u32 {
        self.cpu.r[msp430::PC]
    }

    fn sp(&self) -> u32 {
        self.cpu.r[msp430::SP]
    }

    fn registers(&self) -> Vec<Register> {
        const NAMES: [&str; 16] = [
            "PC", "SP", "SR", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13",
            "R14", "R15",
        ];
        let bits = if P::TIMING.family == msp430::Family::Cpu { 16 } else { 20 };
        let each = NAMES.iter().zip(self.cpu.r);
        each.map(|(name, value)| Register { name: (*name).into(), bits, value }).collect()
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let i = match name {
            "PC" => Some(0),
            "SP" => Some(1),
            "SR" => Some(2),
            _ => name.strip_prefix('R').and_then(|n| n.parse().ok()).filter(|n| *n < 16),
        };
        let bits = if P::TIMING.family == msp430::Family::Cpu { 0xFFFF } else { 0xF_FFFF };
        i.is_some_and(|i: usize| {
            self.cpu.r[i] = value & bits;
            true
        })
    }

    fn sleeping(&self) -> bool {
        self.cpu.r[msp430::SR] & sr::CPUOFF != 0
    }

    fn held_until(&mut self) -> Option<Picos> {
        let (pc, sleeping) = (self.pc(), self.sleeping());
        self.soc.p.held_until(&mut self.soc.env, pc, sleeping)
    }

    fn must_step(&self) -> bool {
        // The instruction behind EINT runs before an interrupt that waits.
        !self.cpu.accepts_interrupts() && self.gie()
    }

    fn after_cpu(&mut self) {
        let Soc { env, p } = &mut self.soc;
        let cycles = self.cpu.cycles;
        env.common.uncached = self.cpu.cycles_uncached;
        p.ran(env, cycles);
        let now = p.mclk().time_of(cycles);
        env.common.state.now_ps = now.0;
        self.set_mode(self.cpu.r[msp430::SR], now);
        if self.nmi_sp.is_some_and(|sp| self.cpu.r[msp430::SP] > sp) {
            self.nmi_sp = None;
        }
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        let Some((vector, maskable)) = self.soc.p.pending_interrupt(&self.soc.env) else {
            return Ok(false);
        };
        if maskable {
            // A sleeping CPU has long run the instruction behind the one that set GIE.
            if !self.gie() || !(self.cpu.accepts_interrupts() || self.sleeping()) {
                return Ok(false);
            }
        } else if self.nmi_sp.is_some_and(|sp| self.cpu.r[msp430::SP] <= sp) {
            // One NMI at a time, until its RETI.
            return Ok(false);
        }
        let now = self.common().now();
        self.set_mode(self.cpu.r[msp430::SR] & sr::SCG0, now);
        if let Some(fault) = &self.common().illegal {
            return Err(fault.clone().at_pc(self.pc()));
        }
        if stop_on_change && self.common().accounts.changed {
            // Awake from here on: who prices states must hear of it before the entry takes its cycles.
            return Ok(true);
        }
        let handler = self.soc.env.word(vector);
        if matches!(handler, 0 | 0xFFFF) {
            let what = format!(
                "an interrupt has no handler: its vector at {vector:#06x} reads {handler:#06x}; link a \
                 handler for it, or do not enable it"
            );
            return Err(Fault::device(vector, what).at_pc(self.pc()));
        }
        self.cpu.interrupt(&mut self.soc, observer, vector)?;
        if !maskable {
            self.nmi_sp = Some(self.cpu.r[msp430::SP]);
        }
        self.soc.p.acknowledge(&mut self.soc.env, vector);
        self.after_cpu();
        Ok(true)
    }

    fn interrupts_off(&self) -> Option<&'static str> {
        (!self.gie()).then_some("GIE in SR")
    }

    fn can_wake(&self) -> bool {
        let Soc { env, p } = &self.soc;
        p.unmaskable_possible() || (self.gie() && p.maskable_possible(env))
    }

    fn pins_may_wake(&self) -> bool {
        self.gie() && self.soc.p.pins_may_wake()
    }

    fn works_on(&self) -> bool {
        self.soc.p.works_on()
    }

    fn next_event(&self) -> Option<Picos> {
        let own = self.soc.p.next_event();
        [own, self.common().next_event()].into_iter().flatten().min()
    }

    const EVENTS_STAY: bool = P::EVENTS_STAY;

    fn process_events(&mut self, now: Picos, cycles: Cycles) -> Option<Picos> {
        loop {
            let next = self.next_event();
            let Some(t) = next.filter(|t| *t <= now) else { return next };
            if self.common().pending_fault.is_some() {
                return next;
            }
            let soc = &mut self.soc;
            soc.p.process_at(&mut soc.env, t, now, cycles);
            if soc.env.common.next_event().is_some_and(|e| e <= t) {
                let (drives, shifts) = soc.env.common.events(t, now, cycles);
                for shift in shifts {
                    let gave = soc.p.shifted_in(&mut soc.env, shift.serial, shift.byte);
                    soc.env.common.shifted_out(&shift, t, gave);
                }
                Self::drive_all(soc, drives, t);
            }
            soc.p.settle_effects(&mut soc.env, now, cycles);
            if soc.p.effects().reset.is_some() {
                return None;
            }
        }
    }

    fn settle(&mut self) {
        for range in self.soc.env.changed.drain(..) {
            self.cpu.invalidate(range);
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.p.effects().reset.is_some()
    }

    fn reset_cause(&self) -> ResetCause {
        cause::of(self.soc.p.effects().reset.map_or(0, |(_, code)| code))
    }

    fn carry_out_reset(&mut self) {
        self.soc.p.carry_out_reset(&mut self.soc.env, self.cpu.cycles);
        self.start_at_vector();
    }

    fn reset(&mut self) {
        let (now, cycles) = (self.common().now(), self.cpu.cycles);
        self.soc.p.reset(&mut self.soc.env, now, cycles);
        self.start_at_vector();
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.common().now(), self.cpu.cycles);
        let Soc { env, p } = &mut self.soc;
        if p.vcc_changed(env, now, cycles) {
            self.start_at_vector();
        }
        self.soc.p.update_clocks(&mut self.soc.env, now, cycles);
    }

    fn too_low(&self) -> Option<Picos> {
        let Soc { env, p } = &self.soc;
        if env.common.runs() { p.too_low(env) } else { None }
    }

    fn hold(&mut self) {
        let (now, cycles) = (self.common().now(), self.cpu.cycles);
        let Soc { env, p } = &mut self.soc;
        p.hold(env);
        p.update_clocks(env, now, cycles);
    }

    fn power_off(&mut self) {
        let (now, cycles) = (self.common().now(), self.cpu.cycles);
        let soc = &mut self.soc;
        soc.env.common.state.powered = false;
        soc.p.power_off(&mut soc.env, now, cycles);
        let drives = soc.env.common.power_parts(false, now, cycles);
        Self::drive_all(soc, drives, now);
        soc.p.update_clocks(&mut soc.env, now, cycles);
        self.cpu.r = [0; 16];
    }

    fn power_on(&mut self, ram_seed: u64) {
        let cycles = self.cpu.cycles;
        let soc = &mut self.soc;
        soc.p.power_on(&mut soc.env, ram_seed, cycles);
        let now = soc.env.common.now();
        let drives = soc.env.common.power_parts(true, now, cycles);
        Self::drive_all(soc, drives, now);
        self.reset();
    }

    fn fill_ram(&mut self, seed: u64) {
        self.soc.env.scramble_ram(seed);
    }

    fn reclock(&mut self) {
        let (now, cycles) = (self.common().now(), self.cpu.cycles);
        self.soc.p.update_clocks(&mut self.soc.env, now, cycles);
    }

    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        self.soc.env.memory.get(addr as usize..addr as usize + bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        let start = addr as usize;
        self.soc.env.memory[start..start + bytes.len()].copy_from_slice(bytes);
        self.soc.env.code_changed(addr & !1..addr + bytes.len() as u32);
        self.settle();
    }

    fn load(&mut self, addr: u32, bytes: u32) -> Result<u32, Fault> {
        let (width, cycles) = (if bytes == 1 { Width::Byte } else { Width::Word }, self.cpu.cycles);
        if self.sleeping() {
            let now = self.common().now();
            self.soc.p.mclk_mut().restart(now, cycles);
        }
        let low = u32::from(self.soc.read(addr, width, cycles)?);
        let high = if bytes == 4 { self.soc.read(addr + 2, width, cycles)? } else { 0 };
        Ok(low | u32::from(high) << 16)
    }

    fn pin_level(&self, pin: Pin) -> bool {
        self.soc.p.pin_level(pin)
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        let now = self.common().now();
        Self::drive_all(&mut self.soc, drives, now);
    }

    fn serials(&self) -> &[&'static str] {
        self.soc.p.serials()
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128) {
        self.soc.p.uart_in(serial, time, byte, bit_ps);
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        self.soc.p.wire_aclk(timer, ccr, input)
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.soc.p.fit_crystal(oscillator, hz)
    }

    fn cycles_from_ram(&self) -> Cycles {
        self.cpu.cycles_uncached
    }

    fn forget_ticks(&mut self) {
        self.soc.p.forget_ticks();
    }

    fn remains(&self) -> Option<Vec<u8>> {
        self.soc.p.remains()
    }

    fn save(&mut self) -> Self::Saved {
        self.saved(false)
    }

    fn save_near(&mut self) -> Self::Saved {
        let saved = self.saved(P::FRAM);
        if P::FRAM {
            self.soc.env.near = Some(Vec::new());
            self.soc.p.fram_watched(&mut self.soc.env);
        }
        saved
    }

    fn forget_near(&mut self) {
        if self.soc.env.near.take().is_some() {
            self.soc.p.fram_watched(&mut self.soc.env);
        }
    }

    fn restore(&mut self, s: Self::Saved) {
        let Soc { env, p } = &mut self.soc;
        env.restore_memory(&s.memory);
        env.mode = s.mode;
        p.set_registers(env, s.registers);
        self.cpu.set_state(&s.core);
        let now = env.common.now();
        let ticks = p.mclk().ticks_at(now);
        p.update_clocks(env, now, ticks);
        self.nmi_sp = s.nmi_sp;
    }
}

impl<P: Peripherals> Soc<P> {
    #[cold]
    #[inline(never)]
    fn read_slow(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        if addr >= P::PERIPHERALS_END {
            if let Some(word) = self.p.refused(&mut self.env, addr) {
                return Ok(of_word(addr, width, word));
            }
            let busy = self.p.unreadable(&self.env, addr);
            return Err(busy.unwrap_or_else(|| Fault::unmapped(addr)));
        }
        self.p.read(&mut self.env, addr, width, at)
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault> {
        if addr < P::PERIPHERALS_END {
            return self.p.write(&mut self.env, Store { addr, width, value }, at);
        }
        self.p.store(&mut self.env, Store { addr, width, value }, at)
    }
}

impl<P: Peripherals> Bus for Soc<P> {
    const WAITS: bool = P::FRAM;
    const STORES_CHANGE_CODE: bool = P::FRAM;

    #[inline(always)]
    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        self.p.fetched(&mut self.env, pc, bytes)
    }

    #[inline(always)]
    fn stall(&mut self) -> Cycles {
        self.p.stall()
    }

    #[inline]
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        if P::FRAM && self.env.page(addr) & FRAM_READ != 0 {
            self.p.fram_read(addr);
            return Ok(self.env.load(addr, width));
        }
        if let Some(value) = self.read_plain(addr, width, at) {
            return Ok(value);
        }
        self.read_slow(addr, width, at)
    }

    #[inline]
    fn write(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault> {
        if P::FRAM && self.env.page(addr) & FRAM_WRITE != 0 {
            self.p.fram_written(addr);
            self.env.put(addr, width, value);
            return Ok(());
        }
        if self.write_plain(addr, width, value, at) {
            return Ok(());
        }
        self.write_slow(addr, width, value, at)
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u16> {
        (self.env.page(addr) & READ != 0).then(|| self.env.load(addr, width))
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u16, _at: Cycles) -> bool {
        if self.env.page(addr) & WRITE == 0 {
            return false;
        }
        self.env.put(addr, width, value);
        true
    }

    #[inline(always)]
    fn read_plain_register(&self, addr: u32, at: Cycles) -> Option<u16> {
        self.p.read_plain_register(addr, at)
    }

    #[inline(always)]
    fn write_plain_register(&mut self, addr: u32, value: u16, at: Cycles) -> bool {
        self.p.write_plain_register(&mut self.env, addr, value, at)
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        if self.env.page(addr) & (READ | CODE) == 0 {
            if let Some(word) = self.p.refused(&mut self.env, addr) {
                return Ok(word);
            }
            let busy = self.p.unreadable(&self.env, addr);
            return Err(busy.unwrap_or_else(|| Fault::not_code(addr)));
        }
        if self.env.page(addr) & (WRITE | CODE) == WRITE | CODE {
            // From now on it is kept decoded: stores take the way that makes the core forget it.
            self.env.pages[(addr >> 8) as usize & (MASK >> 8)] &= !WRITE;
        }
        Ok(self.env.word(addr))
    }

    fn cacheable(&self, addr: u32) -> bool {
        self.env.page(addr) & CODE != 0
    }

    #[cold]
    fn stack_operand(&mut self, pc: u32, at: Cycles) {
        self.env.common.state.lints.report(LintKind::StackOperand, pc, at);
        // The lint is settled behind this instruction.
        self.env.deadline = 0;
    }

    #[inline]
    fn deadline(&self) -> Cycles {
        self.env.deadline
    }
}
