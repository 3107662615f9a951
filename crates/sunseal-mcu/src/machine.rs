// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine: a CPU on its chip, run until something of interest happens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::{self, Cpu, Exit, Timing, sr};
use sunseal_trace::{Cycles, Ledger, Observer, OperatingPoint, Picos, Vocabulary};

use crate::accounts;
use crate::device::{Device, RegionKind, us};
use crate::elf::{Elf, ElfError, Symbol};
use crate::lint::{Lint, LintKind};
use crate::peripherals::{ResetKind, cause};
use crate::pin::{Pin, PinEdge, SpiDevice};
use crate::soc::{AdcInput, Probe, SavedSoc, Soc, TIMERS, USCI, UartByte};

/// Until when to run. Everything that is set ends the run; with nothing set it ends when the machine
/// halts or faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Until {
    /// CPU cycles since power-on: stops at the first instruction boundary at or behind it.
    pub cycles: Option<Cycles>,
    /// Machine time: asleep, stops exactly there; awake, at the first instruction boundary.
    pub time: Option<Picos>,
    /// Addresses: stops before the instruction there runs (not at the first instruction of the run).
    pub pc: Vec<u32>,
    /// An output pin: stops behind the instruction that changes it.
    pub pin_edge: Option<Pin>,
    /// Stops when a component's state or the operating point has changed.
    pub state_change: bool,
}

impl Until {
    /// Until the machine halts or faults.
    #[must_use]
    pub fn halted() -> Self {
        Self::default()
    }

    /// Until `cycles` since power-on.
    #[must_use]
    pub fn cycles(cycles: Cycles) -> Self {
        Self { cycles: Some(cycles), ..Self::default() }
    }

    /// Until machine time `time`.
    #[must_use]
    pub fn time(time: Picos) -> Self {
        Self { time: Some(time), ..Self::default() }
    }

    /// Until the program counter is at `pc`.
    #[must_use]
    pub fn pc(pc: u32) -> Self {
        Self { pc: vec![pc], ..Self::default() }
    }

    /// Until `pin` changes.
    #[must_use]
    pub fn pin_edge(pin: Pin) -> Self {
        Self { pin_edge: Some(pin), ..Self::default() }
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The cycle limit.
    Cycles,
    /// The time limit.
    Time,
    /// The program counter is at this address.
    Pc(u32),
    /// The pin changed.
    Pin(PinEdge),
    /// The CPU is off and nothing inside the machine can wake it.
    Halted,
    /// A component's state or the operating point changed.
    StateChange,
    /// The program or its operating point broke a rule.
    Fault(Fault),
    /// The supply is too low: the machine is off or held in reset.
    BrownOut,
}

/// What a machine was asked that it cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// Unknown serial interface.
    #[error("`{0}` is no serial interface of this device; the known ones are usci_a0 to usci_b3")]
    NoUsci(String),
    /// Unknown timer or capture input.
    #[error("`{0}` is no capture input; write timer, block and input as in tb0, 6, B")]
    NoCapture(String),
    /// Memory that is not there.
    #[error("{bytes} bytes at {addr:#07x} are not all memory of {device}")]
    NoMemory {
        /// First address.
        addr: u32,
        /// How many.
        bytes: usize,
        /// The device.
        device: String,
    },
    /// Not a snapshot of such a machine.
    #[error(
        "the snapshot does not fit: {0}; restore it into a machine with the same device and the same parts attached"
    )]
    Snapshot(String),
    /// The image could not be used.
    #[error(transparent)]
    Elf(#[from] ElfError),
}

/// A microcontroller with its surroundings.
pub struct Machine {
    cpu: Cpu,
    soc: Soc,
    lint_faults: bool,
    stack_low: Option<u32>,
    nmi_sp: Option<u32>,
    resets: u64,
}

#[derive(Serialize, Deserialize)]
struct Snapshot {
    version: u16,
    soc: SavedSoc,
    r: [u32; 16],
    cycles: Cycles,
    cycles_uncached: Cycles,
    interrupt_shadow: bool,
    lint_faults: bool,
    stack_low: Option<u32>,
    nmi_sp: Option<u32>,
    resets: u64,
}

const SNAPSHOT_VERSION: u16 = 1;

impl Machine {
    /// A machine just powered on, with erased flash.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        let cpu = Cpu::new(Timing::CPUXV2).expect("a device's core was checked when it was read");
        let mut soc = Soc::new(Arc::new(device.clone()));
        soc.scramble_ram(0);
        let mut machine =
            Self { cpu, soc, lint_faults: false, stack_low: None, nmi_sp: None, resets: 0 };
        machine.reset_with(ResetKind::Bor, cause::BOR);
        machine
    }

    /// The device it is.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.soc.dev
    }

    /// Stores an image and resets. Bytes outside its segments stay as they are.
    ///
    /// # Errors
    /// If a segment lies where the device has no memory that holds a program.
    pub fn load(&mut self, elf: &Elf) -> Result<(), ElfError> {
        let dev = Arc::clone(&self.soc.dev);
        for s in elf.segments.iter().filter(|s| !s.data.is_empty()) {
            let last = s.load_addr as usize + s.data.len() - 1;
            let outside = |addr: u32, place: String| ElfError::Outside {
                addr,
                bytes: s.data.len() as u32,
                device: dev.name.clone(),
                place,
            };
            let mut addr = s.load_addr;
            while addr as usize <= last {
                match dev.region(addr) {
                    Some(r)
                        if matches!(
                            r.kind,
                            RegionKind::Flash | RegionKind::InfoFlash | RegionKind::Ram
                        ) =>
                    {
                        addr = r.end + 1;
                    }
                    Some(r) => return Err(outside(addr, r.name.clone())),
                    None => return Err(outside(addr, "nothing".to_owned())),
                }
            }
            self.store(s.load_addr, &s.data);
        }
        self.reset();
        Ok(())
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        let start = addr as usize;
        self.soc.memory[start..start + bytes.len()].copy_from_slice(bytes);
        self.cpu.invalidate(addr & !1..addr + bytes.len() as u32);
    }

    /// A brown-out reset with the supply on: RAM keeps its contents.
    pub fn reset(&mut self) {
        self.reset_with(ResetKind::Bor, cause::BOR);
    }

    fn reset_with(&mut self, kind: ResetKind, cause: u8) {
        self.resets += 1;
        self.nmi_sp = None;
        let now = self.time();
        // MCLK may have been at rest.
        self.soc.chip.clocks.mclk.restart(now, self.cpu.cycles);
        self.soc.reset(kind, cause, now, self.cpu.cycles);
        self.cpu.r = [0; 16];
        self.cpu.r[msp430::PC] = u32::from(self.soc.word(self.soc.dev.vectors.reset));
        self.drain_changes();
    }

    /// The chip's start-up time passes, booked as off.
    fn start_up(&mut self) {
        self.soc.chip.held_in_reset = true;
        self.soc.update_clocks(self.time(), self.cpu.cycles);
        self.soc.chip.held_in_reset = false;
        self.soc.chip.now_ps += us(self.soc.dev.wake.reset_ms * 1e3).0;
    }

    fn drain_changes(&mut self) {
        for range in self.soc.changed.drain(..) {
            self.cpu.invalidate(range);
        }
    }

    fn sleeping(&self) -> bool {
        self.cpu.r[msp430::SR] & sr::CPUOFF != 0
    }

    /// Machine time since it was made. It goes on over resets and supply cuts.
    #[must_use]
    pub fn time(&self) -> Picos {
        self.soc.now()
    }

    /// CPU cycles since it was made.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        self.cpu.cycles
    }

    /// CPU cycles since it was made that instructions from RAM took.
    #[must_use]
    pub fn cycles_from_ram(&self) -> Cycles {
        self.cpu.cycles_uncached
    }

    /// The present clocks (0 where at rest) and core voltage level.
    #[must_use]
    pub fn operating_point(&self) -> OperatingPoint {
        self.soc.accounts.point()
    }

    /// Every component with its present state.
    #[must_use]
    pub fn states(&self) -> Vec<(&str, &str)> {
        let v = &self.soc.accounts.vocabulary;
        self.soc
            .accounts
            .components()
            .map(|(c, s)| {
                let in_ram = c == accounts::CPU
                    && s == accounts::ACTIVE_FLASH
                    && self.soc.is_ram(self.cpu.r[msp430::PC]);
                let s = if in_ram { accounts::ACTIVE_RAM } else { s };
                (v.component_name(c), v.state_name(s))
            })
            .collect()
    }

    /// The present state of one component.
    #[must_use]
    pub fn state_of(&self, component: &str) -> Option<&str> {
        self.states().into_iter().find(|(c, _)| *c == component).map(|(_, s)| s).map(|s| {
            // The name outlives the list: it lies in the vocabulary.
            let v = &self.soc.accounts.vocabulary;
            v.state_name(v.find_state(s).expect("the state was just named"))
        })
    }

    /// Everything counted up to now.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.soc.accounts.ledger(self.time(), self.cpu.cycles, self.cpu.cycles_uncached)
    }

    /// The names that [`ledger`](Self::ledger) uses.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.soc.accounts.vocabulary
    }

    // ---- running

    /// Runs until something that `until` names happens, the machine halts, faults or loses its supply.
    pub fn run<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Stop {
        self.soc.watch = until.pin_edge;
        self.soc.watched = None;
        self.soc.accounts.changed = false;
        let mut first = true;
        loop {
            if !self.soc.chip.powered || self.soc.chip.held_in_reset {
                return self.off(until);
            }
            if let Some((kind, cause)) = self.soc.fx.reset.take() {
                if kind == ResetKind::Bor {
                    self.start_up();
                }
                self.reset_with(kind, cause);
            }
            if let Some(stop) = self.housekeep(until) {
                return stop;
            }
            if self.soc.fx.reset.is_some() {
                continue;
            }
            if let Some(end) = self.soc.chip.flash.busy_until() {
                if self.sleeping() {
                    // No handler can be fetched before the end.
                    if let Some(stop) = self.sleep(until) {
                        return stop;
                    }
                    continue;
                }
                if !self.soc.is_ram(self.cpu.r[msp430::PC]) {
                    // Flash cannot be read meanwhile: the CPU is held.
                    if let Some(stop) = self.hold(end, until) {
                        return stop;
                    }
                    continue;
                }
                self.soc.hide_flash(true);
                self.drain_changes();
            }
            match self.take_interrupt(until, observer) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(fault) => return Stop::Fault(fault),
            }
            if self.sleeping() {
                if let Some(stop) = self.sleep(until) {
                    return stop;
                }
                continue;
            }
            if until.cycles.is_some_and(|c| self.cpu.cycles >= c) {
                return Stop::Cycles;
            }
            if until.time.is_some_and(|t| self.time() >= t) {
                return Stop::Time;
            }
            if let Some(stop) = self.run_cpu(until, observer, &mut first) {
                return stop;
            }
        }
    }

    /// The supply is off: time may still be asked to pass.
    fn off(&mut self, until: &Until) -> Stop {
        if let Some(t) = until.time {
            while let Some(e) = self.device_event().filter(|e| *e <= t) {
                self.soc.chip.now_ps = self.soc.chip.now_ps.max(e.0);
                self.run_device_events();
            }
            self.soc.chip.now_ps = self.soc.chip.now_ps.max(t.0);
        }
        Stop::BrownOut
    }

    fn device_event(&self) -> Option<Picos> {
        self.soc.devices.iter().filter_map(|d| d.device.next_event()).min()
    }

    fn run_device_events(&mut self) {
        let now = self.time();
        for i in 0..self.soc.devices.len() {
            if self.soc.devices[i].device.next_event().is_some_and(|t| t <= now) {
                self.soc.devices[i].device.event(now);
                self.soc.sync_device(i, now, self.cpu.cycles);
            }
        }
    }

    /// Between instructions: events that are due, faults, lints, watched pins and states.
    fn housekeep(&mut self, until: &Until) -> Option<Stop> {
        let (now, cycles) = (self.time(), self.cpu.cycles);
        self.soc.process_events(now, cycles);
        self.drain_changes();
        let pc = self.cpu.r[msp430::PC];
        if !self.soc.chip.lints.pending.is_empty() {
            let first = self.soc.chip.lints.settle(pc);
            if let (true, Some((kind, addr))) = (self.lint_faults, first) {
                return Some(Stop::Fault(Fault::device(addr, kind.to_string()).at_pc(pc)));
            }
        }
        if let Some(fault) = self.soc.pending_fault.take() {
            return Some(Stop::Fault(fault.at_pc(pc)));
        }
        if let Some(fault) = &self.soc.illegal {
            return Some(Stop::Fault(fault.clone().at_pc(pc)));
        }
        if let Some(edge) = self.soc.watched.take() {
            return Some(Stop::Pin(edge));
        }
        if std::mem::take(&mut self.soc.accounts.changed) && until.state_change {
            return Some(Stop::StateChange);
        }
        None
    }

    fn hold(&mut self, end: Picos, until: &Until) -> Option<Stop> {
        let mut to = end;
        let mut stop = None;
        if let Some(t) = until.time.filter(|t| *t < to) {
            (to, stop) = (t, Some(Stop::Time));
        }
        let mclk = &self.soc.chip.clocks.mclk;
        let mut cycles = mclk.tick_not_before(to).max(self.cpu.cycles);
        if let Some(c) = until.cycles.filter(|c| *c < cycles) {
            (cycles, stop) = (c.max(self.cpu.cycles), Some(Stop::Cycles));
        }
        self.cpu.cycles = cycles;
        self.soc.chip.now_ps = mclk.time_of(cycles).0;
        stop
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        until: &Until,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        let Some((vector, maskable)) = self.soc.pending_interrupt() else { return Ok(false) };
        if maskable {
            // A sleeping CPU has long run the instruction behind the one that set GIE.
            let gie = self.cpu.r[msp430::SR] & sr::GIE != 0;
            if !gie || !(self.cpu.accepts_interrupts() || self.sleeping()) {
                return Ok(false);
            }
        } else if self.nmi_sp.is_some_and(|sp| self.cpu.r[msp430::SP] <= sp) {
            // One NMI at a time, until its RETI.
            return Ok(false);
        }
        let now = self.time();
        self.soc.set_mode(self.cpu.r[msp430::SR] & sr::SCG0, now, self.cpu.cycles);
        if let Some(fault) = &self.soc.illegal {
            return Err(fault.clone().at_pc(self.cpu.r[msp430::PC]));
        }
        if until.state_change && self.soc.accounts.changed {
            // Awake from here on: who prices states must hear of it before the entry takes its cycles.
            return Ok(true);
        }
        self.cpu.interrupt(&mut self.soc, observer, vector)?;
        if !maskable {
            self.nmi_sp = Some(self.cpu.r[msp430::SP]);
        }
        self.soc.acknowledge(vector);
        self.after_cpu();
        Ok(true)
    }

    /// Asleep: on to the next event or the limit.
    fn sleep(&mut self, until: &Until) -> Option<Stop> {
        let now = self.time();
        if until.time.is_some_and(|t| now >= t) {
            let gie = self.cpu.r[msp430::SR] & sr::GIE != 0;
            let wakes = self.can_wake() || (gie && self.soc.pins_may_wake());
            return Some(if wakes { Stop::Time } else { Stop::Halted });
        }
        let next = self.soc.next_event();
        let halted = !self.can_wake();
        if halted && until.time.is_none() {
            return Some(Stop::Halted);
        }
        match (next, until.time) {
            (Some(e), Some(t)) if e <= t => self.soc.chip.now_ps = e.0,
            (_, Some(t)) => self.soc.chip.now_ps = t.0,
            (Some(e), None) => self.soc.chip.now_ps = e.0,
            (None, None) => return Some(Stop::Halted),
        }
        None
    }

    /// Whether anything inside the machine may end the sleep.
    fn can_wake(&self) -> bool {
        let gie = self.cpu.r[msp430::SR] & sr::GIE != 0;
        self.soc.unmaskable_possible() || (gie && self.soc.maskable_possible())
    }

    fn run_cpu<O: Observer>(
        &mut self,
        until: &Until,
        observer: &mut O,
        first: &mut bool,
    ) -> Option<Stop> {
        let mclk = self.soc.chip.clocks.mclk;
        let mut deadline = until.cycles.unwrap_or(Cycles::MAX);
        for t in [self.soc.next_event(), until.time].into_iter().flatten() {
            deadline = deadline.min(mclk.tick_not_before(t));
        }
        self.soc.deadline = deadline;
        // The instruction behind EINT runs before an interrupt that waits.
        let shadow = !self.cpu.accepts_interrupts() && self.cpu.r[msp430::SR] & sr::GIE != 0;
        let mut stop = None;
        let exit = if shadow {
            self.cpu.step(&mut self.soc, observer)
        } else if until.pc.is_empty() {
            self.cpu.run(&mut self.soc, observer)
        } else {
            let mut exit = Exit::Deadline;
            while exit == Exit::Deadline && (self.cpu.cycles < self.soc.deadline || *first) {
                let pc = self.cpu.r[msp430::PC];
                if !*first && until.pc.contains(&pc) {
                    stop = Some(Stop::Pc(pc));
                    break;
                }
                *first = false;
                exit = self.cpu.step(&mut self.soc, observer);
            }
            exit
        };
        if stop.is_none() {
            *first = false;
        }
        self.after_cpu();
        match exit {
            Exit::Fault(fault) => Some(Stop::Fault(fault)),
            _ => stop,
        }
    }

    /// Takes time, books and modes over from the CPU.
    fn after_cpu(&mut self) {
        let cycles = self.cpu.cycles;
        let now = self.soc.chip.clocks.mclk.time_of(cycles);
        self.soc.uncached = self.cpu.cycles_uncached;
        self.soc.chip.now_ps = now.0;
        self.soc.set_mode(self.cpu.r[msp430::SR], now, cycles);
        if self.nmi_sp.is_some_and(|sp| self.cpu.r[msp430::SP] > sp) {
            self.nmi_sp = None;
        }
        let sp = self.cpu.r[msp430::SP];
        if let Some(low) = &mut self.stack_low {
            *low = (*low).min(sp);
        }
    }

    // ---- supply

    /// The supply voltage from now on. Below the brown-out level the machine loses its power; below
    /// the SVSH level it is held in reset; outside the limits of the present core voltage level and
    /// clock, the next run is a fault that names both.
    pub fn set_vcc(&mut self, vcc_v: f64) {
        self.soc.chip.vcc_v = vcc_v;
        if !self.soc.chip.powered {
            return;
        }
        let (now, cycles) = (self.time(), self.cpu.cycles);
        if vcc_v < self.soc.dev.supply.bor_falling_v {
            self.power_cut();
            return;
        }
        let svs = self.soc.chip.pmm.svsh_level();
        if self.soc.chip.held_in_reset {
            let release = svs.map_or(0.0, |l| self.soc.dev.svs.svsh_rising_v[l]);
            if vcc_v >= release {
                self.soc.chip.held_in_reset = false;
                self.reset_with(ResetKind::Por, cause::SVSH);
            }
        } else if svs.is_some_and(|l| vcc_v < self.soc.dev.svs.svsh_falling_v[l]) {
            self.soc.chip.held_in_reset = true;
            self.soc.chip.pmm.note_svsh();
        }
        self.soc.update_clocks(now, cycles);
    }

    /// The present supply voltage.
    #[must_use]
    pub fn vcc(&self) -> f64 {
        self.soc.chip.vcc_v
    }

    /// The supply goes away now. Flash keeps its contents, a write or an erase under way is left half
    /// done; RAM and registers are lost.
    pub fn power_cut(&mut self) {
        if !self.soc.chip.powered {
            return;
        }
        let (now, cycles) = (self.time(), self.cpu.cycles);
        let seed = now.0 ^ cycles;
        self.soc.power_off(now, cycles, seed);
        self.drain_changes();
        self.cpu.r = [0; 16];
    }

    /// The supply comes back: RAM wakes with a pattern made from `ram_seed`, never with zeros; the
    /// start-up time passes; the program starts at its reset vector. Below the level at which the
    /// brown-out circuit lets go ([`set_vcc`](Self::set_vcc) first) the machine stays off.
    pub fn power_on(&mut self, ram_seed: u64) {
        if self.soc.chip.vcc_v < self.soc.dev.supply.bor_rising_v {
            return;
        }
        self.soc.scramble_ram(ram_seed);
        let chip = &mut self.soc.chip;
        chip.powered = true;
        chip.held_in_reset = false;
        let wake = us(self.soc.dev.wake.reset_ms * 1e3);
        self.soc.chip.now_ps += wake.0;
        let now = self.time();
        for i in 0..self.soc.devices.len() {
            self.soc.devices[i].device.power(now, true);
            self.soc.sync_device(i, now, self.cpu.cycles);
        }
        let flash = accounts::FLASH;
        self.soc.accounts.set_state(
            flash,
            accounts::IDLE,
            now,
            self.cpu.cycles,
            self.cpu.cycles_uncached,
        );
        self.reset_with(ResetKind::Bor, cause::BOR);
    }

    /// Whether the supply is on.
    #[must_use]
    pub fn is_powered(&self) -> bool {
        self.soc.chip.powered
    }

    /// How many resets there have been, the one at power-on included.
    #[must_use]
    pub fn resets(&self) -> u64 {
        self.resets
    }

    // ---- memory and registers

    fn memory_at(&self, addr: u32, bytes: usize) -> Result<std::ops::Range<usize>, MachineError> {
        let end = addr as usize + bytes;
        let mut at = addr;
        while (at as usize) < end {
            match self.soc.dev.region(at) {
                Some(r) if r.kind != RegionKind::Peripheral => at = r.end + 1,
                _ => {
                    return Err(MachineError::NoMemory {
                        addr,
                        bytes,
                        device: self.soc.dev.name.clone(),
                    });
                }
            }
        }
        Ok(addr as usize..end)
    }

    /// Bytes of memory (not of peripherals).
    ///
    /// # Errors
    /// If they are not all memory.
    pub fn read_mem(&self, addr: u32, bytes: usize) -> Result<&[u8], MachineError> {
        Ok(&self.soc.memory[self.memory_at(addr, bytes)?])
    }

    /// Changes memory, flash too, as a programmer would.
    ///
    /// # Errors
    /// If the bytes would not all lie in memory.
    pub fn write_mem(&mut self, addr: u32, bytes: &[u8]) -> Result<(), MachineError> {
        self.memory_at(addr, bytes.len())?;
        self.store(addr, bytes);
        Ok(())
    }

    /// R0 (PC) to R15.
    #[must_use]
    pub fn regs(&self) -> &[u32; 16] {
        &self.cpu.r
    }

    /// R0 (PC) to R15, to change.
    pub fn regs_mut(&mut self) -> &mut [u32; 16] {
        &mut self.cpu.r
    }

    /// The bytes of a symbol.
    ///
    /// # Errors
    /// If there is no such symbol, or it does not lie in memory.
    pub fn read_symbol(&self, elf: &Elf, name: &str) -> Result<Vec<u8>, MachineError> {
        let s = elf.symbol(name)?;
        Ok(self.read_mem(s.addr, s.size_bytes as usize)?.to_vec())
    }

    /// Writes bytes at a symbol.
    ///
    /// # Errors
    /// If there is no such symbol, or the bytes do not fit into memory.
    pub fn write_symbol(
        &mut self,
        elf: &Elf,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), MachineError> {
        let Symbol { addr, .. } = *elf.symbol(name)?;
        self.write_mem(addr, bytes)
    }

    /// Watches the stack pointer at every stop of the run loop from now on. For every instruction,
    /// run with a [`StackWatch`](crate::profile::StackWatch).
    pub fn watch_stack(&mut self) {
        self.stack_low = Some(self.cpu.r[msp430::SP]);
    }

    /// The lowest stack pointer seen since [`watch_stack`](Self::watch_stack).
    #[must_use]
    pub fn stack_low(&self) -> Option<u32> {
        self.stack_low
    }

    // ---- slips

    /// What the program did that fails on a chip.
    #[must_use]
    pub fn lints(&self) -> Vec<Lint> {
        self.soc.chip.lints.list()
    }

    /// How often slips of one kind happened.
    #[must_use]
    pub fn lint_count(&self, kind: LintKind) -> u64 {
        self.lints().iter().filter(|l| l.kind == kind).map(|l| l.count).sum()
    }

    /// Forgets the slips so far.
    pub fn clear_lints(&mut self) {
        self.soc.chip.lints.clear();
    }

    /// Makes every slip a fault.
    pub fn fault_on_lints(&mut self, on: bool) {
        self.lint_faults = on;
    }

    // ---- pins and parts

    /// Output pins that changed, in order.
    #[must_use]
    pub fn pin_log(&self) -> &[PinEdge] {
        &self.soc.chip.pin_log
    }

    /// Takes the pin log away, leaving an empty one.
    pub fn take_pin_log(&mut self) -> Vec<PinEdge> {
        std::mem::take(&mut self.soc.chip.pin_log)
    }

    /// Whether the pin log is kept, as it is from the start. A run over days does better without.
    pub fn log_pins(&mut self, on: bool) {
        self.soc.log_pins = on;
    }

    /// The level at a pin.
    #[must_use]
    pub fn pin(&self, pin: Pin) -> bool {
        self.soc.pin_level(pin)
    }

    /// Drives a pin from outside, or lets go of it with `None`.
    pub fn set_pin(&mut self, pin: Pin, level: Option<bool>) {
        self.soc.drive(pin, level);
    }

    /// Connects a fixed voltage to an ADC12 channel.
    ///
    /// # Panics
    /// If there is no such channel (0 to 15).
    pub fn adc_volts(&mut self, channel: u8, volts: f64) {
        self.adc_input(channel, Box::new(move |_| volts));
    }

    /// Connects a voltage that is asked for whenever a sample ends.
    ///
    /// # Panics
    /// If there is no such channel (0 to 15).
    pub fn adc_input(&mut self, channel: u8, volts: Box<dyn Fn(&Probe<'_>) -> f64 + Send>) {
        let input: AdcInput = volts;
        self.soc.adc_inputs[usize::from(channel)] = Some(input);
    }

    /// Puts a device on a serial interface ("usci_b0"), selected while `cs` is driven low. It appears
    /// in the ledger as component `name`.
    ///
    /// # Errors
    /// If there is no such interface.
    pub fn attach_spi(
        &mut self,
        name: &str,
        usci: &str,
        cs: Pin,
        device: Box<dyn SpiDevice>,
    ) -> Result<(), MachineError> {
        let i = USCI
            .iter()
            .position(|n| *n == usci)
            .ok_or_else(|| MachineError::NoUsci(usci.to_owned()))?;
        self.soc.attach(name, i, cs, device, self.cpu.cycles);
        Ok(())
    }

    /// An attached device, by its name.
    #[must_use]
    pub fn spi_device(&mut self, name: &str) -> Option<&mut (dyn SpiDevice + 'static)> {
        self.soc.devices.iter_mut().find(|d| d.name == name).map(|d| &mut *d.device)
    }

    /// Call behind a change of an attached device from outside: takes over its pins and state.
    pub fn sync_devices(&mut self) {
        let now = self.time();
        for i in 0..self.soc.devices.len() {
            self.soc.sync_device(i, now, self.cpu.cycles);
        }
    }

    /// Wires ACLK (pin ACLK on the board) to a capture input that the chip does not feed itself.
    ///
    /// # Errors
    /// If there is no such input.
    pub fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> Result<(), MachineError> {
        let no = || MachineError::NoCapture(format!("{timer} {ccr} {input}"));
        let t = TIMERS.iter().position(|n| *n == timer).ok_or_else(no)?;
        let side = match input {
            'A' => 0,
            'B' => 1,
            _ => return Err(no()),
        };
        let block = self.soc.chip.timers[t].aclk_inputs.get_mut(usize::from(ccr)).ok_or_else(no)?;
        block[side] = true;
        Ok(())
    }

    /// Seed of the VLO's jitter.
    pub fn set_vlo_seed(&mut self, seed: u64) {
        self.soc.chip.vlo_seed = seed;
        self.soc.update_clocks(self.time(), self.cpu.cycles);
    }

    /// Bytes that left the UARTs.
    #[must_use]
    pub fn uart_log(&self) -> &[UartByte] {
        &self.soc.chip.uart_log
    }

    /// Takes the UART log away, leaving an empty one.
    pub fn take_uart_log(&mut self) -> Vec<UartByte> {
        std::mem::take(&mut self.soc.chip.uart_log)
    }

    /// A byte that a UART receives, its last bit ending at `time`.
    ///
    /// # Errors
    /// If there is no such interface.
    pub fn uart_in(&mut self, usci: &str, time: Picos, byte: u8) -> Result<(), MachineError> {
        let i = USCI
            .iter()
            .position(|n| *n == usci)
            .ok_or_else(|| MachineError::NoUsci(usci.to_owned()))?;
        self.soc.chip.usci[i].uart_in(time, byte);
        Ok(())
    }

    // ---- snapshots

    /// Everything that the machine is, as bytes. The same machine gives the same bytes.
    ///
    /// # Panics
    /// Never: all of it can be written.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let s = self.cpu.state();
        let snapshot = Snapshot {
            version: SNAPSHOT_VERSION,
            soc: self.soc.save(),
            r: s.r,
            cycles: s.cycles,
            cycles_uncached: s.cycles_uncached,
            interrupt_shadow: s.interrupt_shadow,
            lint_faults: self.lint_faults,
            stack_low: self.stack_low,
            nmi_sp: self.nmi_sp,
            resets: self.resets,
        };
        postcard::to_stdvec(&snapshot).expect("a snapshot can always be written")
    }

    /// Goes back to a snapshot. ADC inputs stay connected as they are.
    ///
    /// # Errors
    /// If the bytes are no snapshot of a machine like this one.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), MachineError> {
        let wrong = |what: &str| MachineError::Snapshot(what.to_owned());
        let s: Snapshot = postcard::from_bytes(bytes).map_err(|e| wrong(&e.to_string()))?;
        if s.version != SNAPSHOT_VERSION {
            return Err(wrong("it was made by another version"));
        }
        if s.soc.device != self.soc.dev.name {
            return Err(wrong("it is of another device"));
        }
        if !s.soc.devices.iter().map(|d| &d.0).eq(self.soc.devices.iter().map(|d| &d.name)) {
            return Err(wrong("other parts are attached"));
        }
        self.soc.restore(s.soc);
        self.cpu.set_state(&msp430::State {
            r: s.r,
            cycles: s.cycles,
            cycles_uncached: s.cycles_uncached,
            interrupt_shadow: s.interrupt_shadow,
        });
        self.lint_faults = s.lint_faults;
        self.stack_low = s.stack_low;
        self.nmi_sp = s.nmi_sp;
        self.resets = s.resets;
        self.drain_changes();
        Ok(())
    }
}
