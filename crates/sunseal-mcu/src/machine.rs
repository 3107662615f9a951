// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine: a chip with its surroundings, run until something of interest happens.

use std::fmt;
use std::sync::Arc;

use sunseal_trace::{
    Cycles, Ledger, Observer, OperatingPoint, Picos, Pointed, Silent, StateId, Vocabulary,
};

use crate::accounts;
use crate::common::{Common, Probe, UartByte};
use crate::cores::msp430::Msp430;
use crate::device::{Device, Facts, RegionKind};
use crate::elf::{Architecture, Elf, ElfError, Symbol};
use crate::engine::{Chip, Engine, Saved};
use crate::error::MachineError;
use crate::families::{Avr, F1xx, F5xx, Fr5xx, Msp432, Stm32l4};
use crate::instruments::leakage::Leakage;
use crate::instruments::taint::Taint;
use crate::instruments::watch::Watchpoints;
use crate::lint::{Lint, LintKind};
use crate::pin::{Part, Pin, PinEdge, Wiring};
use crate::resets::ResetLoop;
use crate::startup::SramStartup;
use crate::stop::{Register, Stop, Until};

/// A microcontroller with its surroundings.
pub struct Machine {
    kind: Kind,
}

/// One run loop for each family.
enum Kind {
    Avr(Box<Engine<Avr>>),
    F1xx(Box<Engine<Msp430<F1xx>>>),
    F5xx(Box<Engine<Msp430<F5xx>>>),
    Fr5xx(Box<Engine<Msp430<Fr5xx>>>),
    Msp432(Box<Engine<Msp432>>),
    Stm32l4(Box<Engine<Stm32l4>>),
}

/// The same expression for whichever family it is.
macro_rules! dispatch {
    ($kind:expr, $engine:ident => $result:expr) => {
        match $kind {
            Kind::Avr($engine) => $result,
            Kind::F1xx($engine) => $result,
            Kind::F5xx($engine) => $result,
            Kind::Fr5xx($engine) => $result,
            Kind::Msp432($engine) => $result,
            Kind::Stm32l4($engine) => $result,
        }
    };
}

macro_rules! each {
    ($machine:expr, $engine:ident => $result:expr) => {
        dispatch!(&$machine.kind, $engine => $result)
    };
}

macro_rules! each_mut {
    ($machine:expr, $engine:ident => $result:expr) => {
        dispatch!(&mut $machine.kind, $engine => $result)
    };
}

mod decoded;
mod wired;

type SavedBy<C> = Saved<<C as Chip>::Saved>;

/// Everything that a machine is, to go back to; cheap to keep and clone: what plain stores do not change is shared.
#[derive(Clone)]
pub struct Snapshot {
    device: Arc<Device>,
    saved: AnySaved,
}

#[derive(Clone)]
enum AnySaved {
    Avr(Box<SavedBy<Avr>>),
    F1xx(Box<SavedBy<Msp430<F1xx>>>),
    F5xx(Box<SavedBy<Msp430<F5xx>>>),
    Fr5xx(Box<SavedBy<Msp430<Fr5xx>>>),
    Msp432(Box<SavedBy<Msp432>>),
    Stm32l4(Box<SavedBy<Stm32l4>>),
}

/// What a machine of each family is saved as.
macro_rules! saved_by {
    ($kind:expr, $engine:ident => $saved:expr) => {
        match $kind {
            Kind::Avr($engine) => AnySaved::Avr(Box::new($saved)),
            Kind::F1xx($engine) => AnySaved::F1xx(Box::new($saved)),
            Kind::F5xx($engine) => AnySaved::F5xx(Box::new($saved)),
            Kind::Fr5xx($engine) => AnySaved::Fr5xx(Box::new($saved)),
            Kind::Msp432($engine) => AnySaved::Msp432(Box::new($saved)),
            Kind::Stm32l4($engine) => AnySaved::Stm32l4(Box::new($saved)),
        }
    };
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("device", &self.device.name).finish_non_exhaustive()
    }
}

impl Snapshot {
    /// As bytes: the same machine gives the same ones.
    ///
    /// # Panics
    /// Never: all of it can be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.saved {
            AnySaved::Avr(s) => s.to_bytes(&self.device.name),
            AnySaved::F1xx(s) => s.to_bytes(&self.device.name),
            AnySaved::F5xx(s) => s.to_bytes(&self.device.name),
            AnySaved::Fr5xx(s) => s.to_bytes(&self.device.name),
            AnySaved::Msp432(s) => s.to_bytes(&self.device.name),
            AnySaved::Stm32l4(s) => s.to_bytes(&self.device.name),
        }
    }
}

impl Machine {
    /// A machine just powered on, its memory erased.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        let dev = Arc::new(device.clone());
        let kind = match device.facts {
            Facts::Atmega128(_) => Kind::Avr(Box::new(Engine::new(dev))),
            Facts::F1xx(_) => Kind::F1xx(Box::new(Engine::new(dev))),
            Facts::F5xx(_) => Kind::F5xx(Box::new(Engine::new(dev))),
            Facts::Fr5xx(_) => Kind::Fr5xx(Box::new(Engine::new(dev))),
            Facts::Msp432(_) => Kind::Msp432(Box::new(Engine::new(dev))),
            Facts::Stm32l4(_) => Kind::Stm32l4(Box::new(Engine::new(dev))),
        };
        Self { kind }
    }

    fn common(&self) -> &Common {
        each!(self, e => e.chip.common())
    }

    fn common_mut(&mut self) -> &mut Common {
        each_mut!(self, e => e.chip.common_mut())
    }

    /// The device it is.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.common().dev
    }

    /// Stores an image and resets. Bytes outside its segments stay as they are.
    ///
    /// # Errors
    /// If it is for another instruction set, or a segment lies where the device has no memory that holds
    /// a program.
    pub fn load(&mut self, elf: &Elf) -> Result<(), ElfError> {
        use RegionKind::{Eeprom, Flash, Fram, InfoFlash, Ram};
        let dev = Arc::clone(&self.common().dev);
        elf.fits(&dev.name, dev.architecture())?;
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
                    Some(r) if matches!(r.kind, Flash | InfoFlash | Fram | Ram | Eeprom) => {
                        let Some(next) = r.end.checked_add(1) else { break };
                        addr = next;
                    }
                    Some(r) => return Err(outside(addr, r.name.clone())),
                    None => return Err(outside(addr, "nothing".to_owned())),
                }
            }
            each_mut!(self, e => e.chip.store(s.load_addr, &s.data));
        }
        self.reset();
        Ok(())
    }

    /// A brown-out reset with the supply on: RAM keeps its contents.
    pub fn reset(&mut self) {
        each_mut!(self, e => e.reset());
    }

    /// Machine time since it was made. It goes on over resets and supply cuts.
    #[must_use]
    pub fn time(&self) -> Picos {
        self.common().now()
    }

    /// CPU cycles since it was made.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        each!(self, e => e.chip.cycles())
    }

    /// CPU cycles since it was made that instructions from RAM took.
    #[must_use]
    pub fn cycles_from_ram(&self) -> Cycles {
        each!(self, e => e.chip.cycles_from_ram())
    }

    /// Whether the program has come to an end in a loop of one jump, which no interrupt, reset or part can end.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let jump: [u8; 2] = match self.device().architecture() {
            Architecture::Msp430 => [0xFF, 0x3F],
            Architecture::Avr => [0xFF, 0xCF],
            Architecture::Arm => [0xFE, 0xE7],
        };
        let loops = self.read_mem(self.pc(), 2).is_ok_and(|bytes| bytes == jump);
        loops && !each!(self, e => e.chip.can_wake() || e.chip.sleeping())
    }

    /// Reason for which the sleep that the CPU is in cannot end, a clause; none where it is awake, or something may wake it.
    #[must_use]
    pub fn asleep_for_good(&self) -> Option<String> {
        let ends = each!(self, e => e.chip.can_wake() || e.chip.pins_may_wake());
        if ends || !each!(self, e => e.chip.sleeping()) {
            return None;
        }
        let mode = self.state_of("cpu").unwrap_or("sleep");
        Some(match each!(self, e => e.chip.interrupts_off()) {
            Some(bit) => format!(
                "the CPU sleeps ({mode}) with {bit} clear, so that no interrupt can wake it, only a reset or the supply"
            ),
            None => format!(
                "the CPU sleeps ({mode}) and nothing can wake it: no interrupt is enabled whose source can still come in this mode (a source that is not enabled, stopped, or without its clock)"
            ),
        })
    }

    /// The present clocks (0 where at rest) and core voltage level.
    #[must_use]
    pub fn operating_point(&self) -> OperatingPoint {
        self.common().accounts.point()
    }

    /// Every component with its present state.
    #[must_use]
    pub fn states(&self) -> Vec<(&str, &str)> {
        let a = &self.common().accounts;
        a.components()
            .map(|(c, s)| {
                let in_ram = c == accounts::CPU
                    && s == accounts::ACTIVE
                    && self.device().region(self.pc()).is_some_and(|r| r.kind == RegionKind::Ram);
                let s = if in_ram { accounts::ACTIVE_RAM } else { s };
                (a.vocabulary.component_name(c), a.vocabulary.state_name(s))
            })
            .collect()
    }

    /// The present states by their numbers in the vocabulary, in the order of the components; whether the CPU
    /// runs code from RAM is not told.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + '_ {
        self.common().accounts.components().map(|(_, s)| s)
    }

    /// The present state of one component.
    #[must_use]
    pub fn state_of(&self, component: &str) -> Option<&str> {
        self.states().into_iter().find(|(c, _)| *c == component).map(|(_, s)| s)
    }

    /// Everything counted up to now.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.common().accounts.ledger(self.time(), self.cycles(), self.cycles_from_ram())
    }

    /// The place of an event in [`event_counts`](Self::event_counts).
    #[must_use]
    pub fn event_place(event: &str) -> Option<usize> {
        accounts::Accounts::counted().position(|e| e == event)
    }

    /// How often each event has happened since the machine was made.
    #[must_use]
    pub fn event_counts(&self) -> &[u64] {
        self.common().accounts.counts()
    }

    /// The state that the CPU last passed within one event, for how long, once: an oscillator that starts
    /// before the CPU wakes. Runs that stop at changes of state see the states before and behind it only.
    pub fn take_passed(&mut self) -> Option<(StateId, Picos)> {
        self.common_mut().accounts.passed.take()
    }

    /// The names that [`ledger`](Self::ledger) uses.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.common().accounts.vocabulary
    }

    // ---- running

    /// Runs until something that `until` names happens, the machine halts, faults or loses its supply.
    pub fn run<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Stop {
        if O::OWN_LOOP {
            each_mut!(self, e => e.run(until, observer))
        } else if O::INSTRUCTIONS || O::ACCESSES || O::RESULTS {
            self.run_watched(until, &mut Pointed::new(observer))
        } else {
            self.run_unwatched(until)
        }
    }

    // `run` with these compiles a loop of its own for each chip, minutes of it, in whatever crate calls it. These
    // are not generic, so that it is done once, here.

    /// Runs as [`run`](Self::run), with marks followed.
    pub fn run_tainted(&mut self, until: &Until, taint: &mut Taint) -> Stop {
        self.run(until, taint)
    }

    /// Runs as [`run`](Self::run), to the first access that a watchpoint is for.
    pub fn run_to_access(&mut self, until: &Until, watchpoints: &mut Watchpoints) -> Stop {
        self.run(until, watchpoints)
    }

    /// Runs as [`run`](Self::run), with a sample for each cycle.
    pub fn run_sampled(&mut self, until: &Until, leakage: &mut Leakage<'_, u8>) -> Stop {
        self.run(until, leakage)
    }

    fn run_unwatched(&mut self, until: &Until) -> Stop {
        each_mut!(self, e => e.run(until, &mut Silent))
    }

    fn run_watched(&mut self, until: &Until, observer: &mut Pointed<'_>) -> Stop {
        each_mut!(self, e => e.run(until, observer))
    }

    /// Runs on and takes the supply away when the CPU cycle or the time that `until` names has come, in the
    /// middle of an instruction, an interrupt's entry or a DMA burst too: the words written by then stay in
    /// non-volatile memory (and in RAM, as long as that holds them), those after do not come. Answers
    /// [`Stop::BrownOut`]; anything else that `until` names ends the run before, with the supply on.
    pub fn run_to_cut(&mut self, until: &Until) -> Stop {
        each_mut!(self, e => e.run_to_cut(until))
    }

    // ---- supply

    /// The supply voltage from now on. Below the brown-out level the machine loses its power, below
    /// a supervisor's level it is held in reset: when that has lasted for the circuit's delay, and at once
    /// where no code could run. Outside what the present clock and core voltage level need, the next run is
    /// a fault that names both.
    pub fn set_vcc(&mut self, vcc_v: f64) {
        each_mut!(self, e => e.set_vcc(vcc_v));
    }

    /// Brown-out and supervisors act without the delays of the device's data, or (false) with them.
    pub fn supervise_at_once(&mut self, at_once: bool) {
        each_mut!(self, e => e.supervise_at_once(at_once));
    }

    /// The present supply voltage.
    #[must_use]
    pub fn vcc(&self) -> f64 {
        self.common().state.vcc_v
    }

    /// The chip's temperature from now on, which its oscillators follow; 25 degrees Celsius at first.
    pub fn set_temperature(&mut self, celsius: f64) {
        each_mut!(self, e => e.set_temperature(celsius));
    }

    /// The supply goes away now. Non-volatile memory keeps its contents, a write or an erase under way
    /// is left half done; RAM and registers are lost.
    pub fn power_cut(&mut self) {
        each_mut!(self, e => e.power_cut());
    }

    /// The supply comes back: RAM wakes with a pattern made from `ram_seed`, never with zeros, where the time since the
    /// cut was long enough for it to lose what it held (no time at all counts as long); the
    /// start-up time passes; the program starts at its reset vector. Below the level at which the
    /// brown-out circuit lets go ([`set_vcc`](Self::set_vcc) first) the machine stays off.
    pub fn power_on(&mut self, ram_seed: u64) {
        each_mut!(self, e => e.power_on(ram_seed));
    }

    /// What a loss of power here and now would leave of registers and parts, as bytes that are the same for every
    /// moment that leaves the same; none where the family cannot tell. Memory is left out.
    pub fn remains(&mut self) -> Option<Vec<u8>> {
        each_mut!(self, e => e.remains())
    }

    /// When something happens next in the chip or its parts that no instruction does.
    #[must_use]
    pub fn next_event(&self) -> Option<Picos> {
        each!(self, e => e.next_event())
    }

    /// How long RAM holds all it had without supply.
    #[must_use]
    pub fn ram_holds(&self) -> Picos {
        let own = match &self.device().facts {
            Facts::Fr5xx(f) => Some(f.sram.startup()),
            _ => None,
        };
        self.common().sram.or(own).map_or(Picos(0), |s| Picos(u128::from(s.decay_ps() / 2)))
    }

    /// Whether the supply is on.
    #[must_use]
    pub fn is_powered(&self) -> bool {
        self.common().state.powered
    }

    /// How many resets there have been, the one at power-on included.
    #[must_use]
    pub fn resets(&self) -> u64 {
        each!(self, e => e.resets)
    }

    /// How many words and bytes a DMA controller has moved.
    #[must_use]
    pub fn dma_moves(&self) -> u64 {
        self.common().dma_moves
    }

    /// The loop in which the program is reset again and again by itself, if the last resets were one.
    #[must_use]
    pub fn reset_loop(&self) -> Option<ResetLoop> {
        each!(self, e => e.reset_watch.found())
    }

    /// The last reset that the chip made itself, loop or not.
    #[must_use]
    pub fn last_reset(&self) -> Option<ResetLoop> {
        each!(self, e => e.reset_watch.last())
    }

    /// How often a supervisor found the supply too low and held the chip in reset.
    #[must_use]
    pub fn supervisor_resets(&self) -> u64 {
        self.common().state.supervisor_resets
    }

    // ---- memory and registers

    /// Bytes of memory (not of peripherals).
    ///
    /// # Errors
    /// If they are not all memory.
    pub fn read_mem(&self, addr: u32, bytes: usize) -> Result<&[u8], MachineError> {
        each!(self, e => e.read_mem(addr, bytes))
    }

    /// Changes memory, non-volatile too, as a programmer would.
    ///
    /// # Errors
    /// If the bytes would not all lie in memory.
    pub fn write_mem(&mut self, addr: u32, bytes: &[u8]) -> Result<(), MachineError> {
        each_mut!(self, e => e.write_mem(addr, bytes))
    }

    /// What the CPU would read from a peripheral's register of 1, 2 or 4 bytes now: nothing follows from this look at it.
    ///
    /// # Errors
    /// If the CPU could not read it, as where nothing is mapped.
    pub fn register_value(&mut self, addr: u32, bytes: u32) -> Result<u32, MachineError> {
        each_mut!(self, e => e.register_value(addr, bytes))
    }

    /// Address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u32 {
        each!(self, e => e.chip.pc())
    }

    /// Address that the stack pointer holds.
    #[must_use]
    pub fn sp(&self) -> u32 {
        each!(self, e => e.chip.sp())
    }

    /// The core's registers, in the order of their numbers.
    #[must_use]
    pub fn registers(&self) -> Vec<Register> {
        each!(self, e => e.chip.registers())
    }

    /// What one register holds.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn register(&self, name: &str) -> Result<u32, MachineError> {
        let found = self.registers().into_iter().find(|r| r.name == name);
        found.map(|r| r.value).ok_or_else(|| self.no_register(name))
    }

    /// Changes one register.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn set_register(&mut self, name: &str, value: u32) -> Result<(), MachineError> {
        if each_mut!(self, e => e.chip.set_register(name, value)) {
            Ok(())
        } else {
            Err(self.no_register(name))
        }
    }

    /// What the register of a number holds (its place in [`registers`](Self::registers)).
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn reg(&self, number: usize) -> u32 {
        self.registers()[number].value
    }

    /// Changes the register of a number.
    ///
    /// # Panics
    /// If there is none.
    pub fn set_reg(&mut self, number: usize, value: u32) {
        let name = self.registers()[number].name.clone();
        self.set_register(&name, value).expect("the core just named it");
    }

    fn no_register(&self, name: &str) -> MachineError {
        let known: Vec<_> = self.registers().into_iter().map(|r| r.name).collect();
        MachineError::NoRegister { name: name.to_owned(), known: known.join(", ") }
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

    /// Watches the stack pointer at each stop of a run; [`StackWatch`](crate::profile::StackWatch) does everywhere.
    pub fn watch_stack(&mut self) {
        let sp = self.sp();
        each_mut!(self, e => e.stack_low = Some(sp));
    }

    /// The lowest stack pointer seen since [`watch_stack`](Self::watch_stack).
    #[must_use]
    pub fn stack_low(&self) -> Option<u32> {
        each!(self, e => e.stack_low)
    }

    // ---- slips

    /// What the program did that fails on a chip.
    #[must_use]
    pub fn lints(&self) -> Vec<Lint> {
        self.common().state.lints.list()
    }

    /// How often slips of one kind happened.
    #[must_use]
    pub fn lint_count(&self, kind: LintKind) -> u64 {
        self.lints().iter().filter(|l| l.kind == kind).map(|l| l.count).sum()
    }

    /// Forgets the slips so far.
    pub fn clear_lints(&mut self) {
        self.common_mut().state.lints.clear();
    }

    /// Makes every slip a fault.
    pub fn fault_on_lints(&mut self, on: bool) {
        each_mut!(self, e => e.lint_faults = on);
    }

    // ---- pins and parts

    /// Everything that the machine is.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        let saved = saved_by!(&mut self.kind, e => e.save());
        Snapshot { device: Arc::clone(&self.common().dev), saved }
    }

    /// Goes back to a snapshot of a machine of the same device with the same parts. ADC inputs stay
    /// connected as they are.
    ///
    /// # Errors
    /// If it is a snapshot of another machine.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), MachineError> {
        if *snapshot.device != *self.common().dev {
            return Err(MachineError::Snapshot("it is of another device".to_owned()));
        }
        match (&mut self.kind, &snapshot.saved) {
            (Kind::Avr(e), AnySaved::Avr(s)) => e.restore(s),
            (Kind::F1xx(e), AnySaved::F1xx(s)) => e.restore(s),
            (Kind::F5xx(e), AnySaved::F5xx(s)) => e.restore(s),
            (Kind::Fr5xx(e), AnySaved::Fr5xx(s)) => e.restore(s),
            (Kind::Msp432(e), AnySaved::Msp432(s)) => e.restore(s),
            (Kind::Stm32l4(e), AnySaved::Stm32l4(s)) => e.restore(s),
            _ => Err(MachineError::Snapshot("it is of another device".to_owned())),
        }
    }

    /// Reads a snapshot of a machine like this one.
    ///
    /// # Errors
    /// If the bytes are none.
    pub fn read_snapshot(&self, bytes: &[u8]) -> Result<Snapshot, MachineError> {
        let common = self.common();
        let (name, books) = (&common.dev.name, &common.accounts);
        let saved = saved_by!(&self.kind, _e => Saved::from_bytes(bytes, name, books)?);
        Ok(Snapshot { device: Arc::clone(&common.dev), saved })
    }
}
