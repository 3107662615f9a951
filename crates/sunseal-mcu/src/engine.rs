// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run loop, the same for every chip: instructions up to the next event, events, sleep, supply.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Pointed, Silent, Width};

use crate::accounts::{Accounts, SavedAccounts};
use crate::clock::Line;
use crate::common::{Common, Drive, State};
use crate::device::{Device, RegionKind, us};
use crate::error::MachineError;
use crate::instruments::watch::{Watch, Watchpoints};
use crate::pin::Pin;
use crate::resets::{self, ResetCause, ResetWatch};
use crate::stop::{Register, Stop, Until};

/// A chip as the run loop sees it: a core with its memory and peripherals.
pub(crate) trait Chip: Sized {
    /// What a snapshot keeps, next to what [`Common`] has.
    type Saved: Clone + Serialize + DeserializeOwned;

    /// The chip just powered on, its memory erased, its core reset.
    fn new(dev: Arc<Device>) -> Self;
    fn common(&self) -> &Common;
    fn common_mut(&mut self) -> &mut Common;

    // ---- the core

    /// CPU cycles since the machine was made. They go on over resets and supply cuts.
    fn cycles(&self) -> Cycles;
    /// The CPU stood still until then.
    fn set_cycles(&mut self, cycles: Cycles);
    /// Its clock, whose ticks are its cycles.
    fn cpu_clock(&self) -> &Line;
    fn pc(&self) -> u32;
    fn sp(&self) -> u32;
    fn registers(&self) -> Vec<Register>;
    /// Whether there is such a register.
    fn set_register(&mut self, name: &str, value: u32) -> bool;
    /// Whether the CPU waits for an interrupt.
    fn sleeping(&self) -> bool;
    /// The CPU cannot run before then, whatever happens: a memory that it needs is busy.
    fn held_until(&mut self) -> Option<Picos>;
    /// One instruction must run before events and interrupts are looked at again.
    fn must_step(&self) -> bool;
    /// An exception's return is begun, not done: no instruction is next.
    fn returning(&self) -> bool {
        false
    }
    /// From now on runs end before instructions at these addresses.
    fn set_breakpoints(&mut self, addrs: &[u32]);
    fn is_breakpoint(&self, addr: u32) -> bool;
    /// Runs to `deadline` or a breakpoint, or one instruction; earlier, if something is to be looked at.
    fn run_cpu<O: Observer>(
        &mut self,
        deadline: Cycles,
        once: bool,
        observer: &mut O,
    ) -> Result<Ran, Fault>;
    /// Takes time, books and modes over from the CPU, behind [`run_cpu`](Self::run_cpu).
    fn after_cpu(&mut self);
    /// Takes the interrupt that is pending and enabled; true if the machine's state changed. If
    /// `stop_on_change` and waking up changed a booked state, answers true before the entry.
    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault>;

    // ---- events

    /// The bit of the core by which no interrupt at all ends a sleep, where it is clear.
    fn interrupts_off(&self) -> Option<&'static str> {
        None
    }
    /// Whether anything inside the chip, or a part that is wired to it, may end the sleep.
    fn can_wake(&self) -> bool;
    /// Whether a level from outside may end it.
    fn pins_may_wake(&self) -> bool;
    /// True if the chip goes on with something that shows while the CPU sleeps for good: DMA moves bytes, a timer moves
    /// pins, a byte leaves a serial interface.
    fn works_on(&self) -> bool {
        false
    }
    fn next_event(&self) -> Option<Picos>;
    /// Whether the next event stays what it is while neither the CPU runs nor an interrupt is taken: no DMA begins.
    const EVENTS_STAY: bool = false;
    /// Carries out the events that are due, in order of their times. Answers when the next one is, if it knows.
    fn process_events(&mut self, now: Picos, cycles: Cycles) -> Option<Picos>;
    /// What changed code memory is forgotten by the core.
    fn settle(&mut self);
    /// Whether a reset waits to be carried out.
    fn reset_pending(&self) -> bool;
    /// Why, of the one that waits.
    fn reset_cause(&self) -> ResetCause;
    /// Carries it out, its start-up time included.
    fn carry_out_reset(&mut self);
    /// A reset as at power-on, with the supply on: memory keeps its contents.
    fn reset(&mut self);

    // ---- supply

    /// The supply voltage, at which the chip is powered, is now another: limits, and supervisors that let go.
    fn vcc_changed(&mut self);
    /// A supervisor of the running chip finds the supply too low: how long that must last.
    fn too_low(&self) -> Option<Picos>;
    /// It has lasted for so long: the supervisor holds the chip in reset.
    fn hold(&mut self);
    /// The supply is gone: what is written half stays half.
    fn power_off(&mut self);
    /// The supply is back: memory that forgets wakes with its pattern, the start-up time passes, reset.
    fn power_on(&mut self, ram_seed: u64);
    /// Static memory gets the pattern of another first power-up, while nothing has run yet.
    fn fill_ram(&mut self, seed: u64);
    /// An outside change of the chip's own facts (seed of oscillators): clocks anew.
    fn reclock(&mut self);

    // ---- memory and pins

    /// Bytes of memory, or none if they are not all memory.
    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]>;
    /// Changes memory of any kind, as a programmer would. The bytes are all memory.
    fn store(&mut self, addr: u32, bytes: &[u8]);
    /// Reads a peripheral's register of 1, 2 or 4 bytes as the CPU does, with all that follows from it; while the CPU
    /// sleeps, as of now, for which its clock, at rest, goes on: who looks puts the chip back.
    fn load(&mut self, addr: u32, bytes: u32) -> Result<u32, Fault>;
    fn pin_level(&self, pin: Pin) -> bool;
    fn drive(&mut self, drives: Vec<Drive>);
    /// Names of the serial interfaces; their places are their numbers.
    fn serials(&self) -> &[&'static str];
    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128);
    /// Wires ACLK to a capture input, where the chip has such timers.
    fn wire_aclk(&mut self, _timer: &str, _ccr: u8, _input: char) -> bool {
        false
    }
    /// Fits a crystal to an oscillator, where the chip has one of that name; 0 Hz takes it away.
    fn fit_crystal(&mut self, _oscillator: &str, _hz: u32) -> bool {
        false
    }
    fn cycles_from_ram(&self) -> Cycles {
        0
    }
    /// The clocks, at rest without supply, forget their ticks: from here on nothing tells one start from another.
    fn forget_ticks(&mut self) {}
    /// Registers of all blocks behind a start; none where the family cannot tell.
    fn remains(&self) -> Option<Vec<u8>> {
        None
    }

    fn save(&mut self) -> Self::Saved;
    /// As [`save`](Self::save), to go back to once from a few instructions on: what they do not change need not be copied.
    fn save_near(&mut self) -> Self::Saved {
        self.save()
    }
    /// There is no going back to what [`save_near`](Self::save_near) gave any more.
    fn forget_near(&mut self) {}
    fn restore(&mut self, saved: Self::Saved);
}

/// How a stretch of instructions ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// The CPU may go on as before: the deadline is not reached, nothing is to be looked at.
    On,
    /// It is reached, or something is.
    Look,
    /// A breakpoint is at the program counter.
    Breakpoint,
}

/// Longer than any instruction, interrupt entry and wait for memory together: so far in front of a cut the
/// run goes instruction by instruction.
const NEAR_CYCLES: Cycles = 160;
/// So far in front of a cut the run goes on in one stretch; an instruction that is longer makes it go back.
const CLOSE_CYCLES: Cycles = 12;

/// Where [`Engine::remains`] starts again, later than any run.
const START_PS: u128 = 1 << 80;
const START_CYCLES: Cycles = 1 << 50;

/// What the last instruction wrote, and when.
#[derive(Default)]
struct Writes(Vec<(u32, Width, u32, Cycles)>);

impl Observer for Writes {
    const INSTRUCTIONS: bool = false;
    const ACCESSES: bool = true;

    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if kind == Access::Write {
            self.0.push((addr, width, value, at));
        }
    }
}

/// A chip and its run loop.
pub(crate) struct Engine<C> {
    pub chip: C,
    pub lint_faults: bool,
    pub stack_low: Option<u32>,
    pub resets: u64,
    /// Whether they repeat themselves. No part of the machine's state: snapshots leave it out.
    pub reset_watch: ResetWatch,
    /// Found by the last housekeeping.
    next_event: Option<Picos>,
}

/// What a snapshot keeps.
#[derive(Clone)]
pub(crate) struct Saved<S> {
    chip: S,
    accounts: Accounts,
    rest: Rest,
}

#[derive(Clone, Serialize, Deserialize)]
struct Rest {
    state: State,
    uncached: Cycles,
    parts: Vec<(String, Vec<u8>, bool)>,
    lint_faults: bool,
    stack_low: Option<u32>,
    resets: u64,
}

impl<C: Chip> Engine<C> {
    pub fn new(dev: Arc<Device>) -> Self {
        Self {
            chip: C::new(dev),
            lint_faults: false,
            stack_low: None,
            resets: 1,
            reset_watch: ResetWatch::new(),
            next_event: None,
        }
    }

    pub fn reset(&mut self) {
        self.resets += 1;
        self.reset_watch = ResetWatch::new();
        self.chip.reset();
        self.chip.settle();
    }

    /// Tells the watch for loops of resets about the one that waits.
    #[cold]
    fn note_reset(&mut self) {
        let (cause, pc, at) = (self.chip.reset_cause(), self.chip.pc(), self.chip.cycles());
        if !self.reset_watch.wants_memory() {
            return self.reset_watch.note_unseen(cause, pc, at);
        }
        let (mut ram, mut kept) = (0, 0);
        for region in &self.chip.common().dev.memory {
            let hash = match region.kind {
                RegionKind::Ram => &mut ram,
                RegionKind::Flash
                | RegionKind::InfoFlash
                | RegionKind::Fram
                | RegionKind::Eeprom => &mut kept,
                RegionKind::Peripheral | RegionKind::Bsl | RegionKind::Rom => continue,
            };
            let memory = self.chip.memory(region.start, region.size_bytes() as usize);
            *hash = resets::hash(*hash, memory.unwrap_or_default());
        }
        self.reset_watch.note(cause, pc, at, (ram, kept));
    }

    fn now(&self) -> Picos {
        self.chip.common().now()
    }

    fn set_now(&mut self, now: Picos) {
        self.chip.common_mut().state.now_ps = now.0;
    }

    // ---- running

    pub fn run<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Stop {
        self.chip.common_mut().moved = O::TRANSFERS.then(Vec::new);
        let stop = self.run_on(until, observer);
        self.tell_transfers(observer);
        stop
    }

    /// Tells what DMA controllers moved since the last time.
    fn tell_transfers<O: Observer>(&mut self, observer: &mut O) {
        if O::TRANSFERS {
            for (from, to) in self.chip.common_mut().moved.iter_mut().flat_map(|m| m.drain(..)) {
                observer.transfer(from, to);
            }
        }
    }

    fn run_on<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Stop {
        let common = self.chip.common_mut();
        common.watch = until.pin_edge;
        common.watched = None;
        common.accounts.changed = false;
        self.chip.set_breakpoints(&until.pc);
        // A run passes the place where it begins. Asleep it stands in front of no instruction yet.
        let mut first = !self.chip.sleeping();
        loop {
            if !self.chip.common().runs() {
                return self.off(until);
            }
            if self.chip.reset_pending() {
                self.resets += 1;
                self.note_reset();
                self.chip.carry_out_reset();
                self.chip.settle();
            }
            if let Some(stop) = self.housekeep(until) {
                return stop;
            }
            if self.chip.reset_pending() || !self.chip.common().runs() {
                continue;
            }
            // Before an interrupt that waits, so that the program counter is behind the instruction.
            if O::ENDS && observer.ends() && !self.chip.returning() {
                return Stop::Observer;
            }
            if let Some(end) = self.chip.held_until() {
                let stop = if self.chip.sleeping() {
                    // No handler can be fetched before the end.
                    self.sleep(until)
                } else {
                    self.hold(end, until)
                };
                if let Some(stop) = stop {
                    return self.at_place(stop, first);
                }
                continue;
            }
            self.chip.settle();
            self.tell_transfers(observer);
            match self.chip.take_interrupt(until.state_change, observer) {
                Ok(true) => {
                    self.watch_stack();
                    first = false;
                    continue;
                }
                Ok(false) => {}
                Err(_) if self.tripped_first() => continue,
                Err(fault) => return Stop::Fault(fault),
            }
            if self.chip.sleeping() {
                if let Some(stop) = self.sleep(until) {
                    return stop;
                }
                continue;
            }
            if until.cycles.is_some_and(|c| self.chip.cycles() >= c) {
                return self.at_place(Stop::Cycles, first);
            }
            if until.time.is_some_and(|t| self.now() >= t) {
                return self.at_place(Stop::Time, first);
            }
            self.tell_transfers(observer);
            if let Some(stop) = self.run_cpu(until, observer, &mut first) {
                return stop;
            }
        }
    }

    /// A limit that ends a run in front of a breakpoint is told as that: the next run begins there and passes it.
    fn at_place(&self, stop: Stop, first: bool) -> Stop {
        let pc = self.chip.pc();
        match stop {
            Stop::Cycles | Stop::Time
                if !first && !self.chip.sleeping() && self.chip.is_breakpoint(pc) =>
            {
                Stop::Pc(pc)
            }
            stop => stop,
        }
    }

    /// The next event of the chip, its parts and its supervisors.
    pub fn next_event(&self) -> Option<Picos> {
        let own = if C::EVENTS_STAY { self.next_event } else { self.chip.next_event() };
        own.into_iter().chain(self.chip.common().trip_at()).min()
    }

    /// The supply is off: time may still be asked to pass.
    fn off(&mut self, until: &Until) -> Stop {
        if let Some(t) = until.time {
            let next = |c: &Common| c.next_event().into_iter().chain(c.trip_at()).min();
            while let Some(e) = next(self.chip.common()).filter(|e| *e <= t) {
                self.set_now(self.now().max(e));
                let (now, cycles) = (self.now(), self.chip.cycles());
                let (drives, _) = self.chip.common_mut().events(now, now, cycles);
                self.chip.drive(drives);
                self.trip();
            }
            self.set_now(self.now().max(t));
        }
        Stop::BrownOut
    }

    /// Between instructions: events that are due, supervisors, faults, lints, watched pins and states.
    fn housekeep(&mut self, until: &Until) -> Option<Stop> {
        let (now, cycles) = (self.now(), self.chip.cycles());
        if let Some(t) = self.chip.common().trip_at().filter(|t| *t <= now) {
            self.chip.process_events(t, cycles);
            self.trip();
        }
        if self.chip.common().runs() {
            self.next_event = self.chip.process_events(now, cycles);
        }
        self.chip.settle();
        self.tripped_first();
        let pc = self.chip.pc();
        let lint_faults = self.lint_faults;
        let common = self.chip.common_mut();
        if !common.state.lints.pending.is_empty() {
            let first = common.state.lints.settle(pc);
            if let (true, Some((kind, addr))) = (lint_faults, first) {
                return Some(Stop::Fault(Fault::device(addr, kind.to_string()).at_pc(pc)));
            }
        }
        if let Some(fault) = common.pending_fault.take() {
            return Some(Stop::Fault(fault.at_pc(pc)));
        }
        if let Some(fault) = &common.illegal {
            return Some(Stop::Fault(fault.clone().at_pc(pc)));
        }
        if let Some(edge) = common.watched.take() {
            return Some(Stop::Pin(edge));
        }
        if std::mem::take(&mut common.accounts.changed) && until.state_change {
            return Some(Stop::StateChange);
        }
        None
    }

    fn hold(&mut self, end: Picos, until: &Until) -> Option<Stop> {
        let mut to = self.chip.common().trip_at().map_or(end, |t| t.min(end));
        let mut stop = None;
        if let Some(t) = until.time.filter(|t| *t < to) {
            (to, stop) = (t, Some(Stop::Time));
        }
        let (clock, done) = (self.chip.cpu_clock(), self.chip.cycles());
        let mut cycles = clock.tick_not_before(to).max(done);
        if let Some(c) = until.cycles.filter(|c| *c < cycles) {
            (cycles, stop) = (c.max(done), Some(Stop::Cycles));
        }
        let now = clock.time_of(cycles);
        self.chip.set_cycles(cycles);
        self.set_now(now);
        stop
    }

    /// Asleep: on to the next event or the limit.
    fn sleep(&mut self, until: &Until) -> Option<Stop> {
        let now = self.now();
        if until.time.is_some_and(|t| now >= t) {
            let wakes = self.chip.can_wake() || self.chip.pins_may_wake() || self.chip.works_on();
            return Some(if wakes { Stop::Time } else { Stop::Halted });
        }
        let next = self.next_event();
        if !self.chip.can_wake() && until.time.is_none() && self.chip.common().trip_at().is_none() {
            return Some(Stop::Halted);
        }
        match (next, until.time) {
            (Some(e), Some(t)) if e <= t => self.set_now(e),
            (_, Some(t)) => self.set_now(t),
            (Some(e), None) => self.set_now(e),
            (None, None) => return Some(Stop::Halted),
        }
        None
    }

    fn run_cpu<O: Observer>(
        &mut self,
        until: &Until,
        observer: &mut O,
        first: &mut bool,
    ) -> Option<Stop> {
        let clock = *self.chip.cpu_clock();
        let mut deadline = until.cycles.unwrap_or(Cycles::MAX);
        for t in [self.next_event(), until.time].into_iter().flatten() {
            deadline = deadline.min(clock.tick_not_before(t));
        }
        let step = self.chip.must_step();
        // A breakpoint where the run begins is passed, and the core does that only when it steps.
        let here = self.chip.is_breakpoint(self.chip.pc());
        let mut done = if here && !*first {
            Ok(Ran::Breakpoint)
        } else {
            self.chip.run_cpu(deadline, step || here, observer)
        };
        let ends = O::ENDS && observer.ends();
        if here && *first && !step && !ends && done == Ok(Ran::On) {
            done = self.chip.run_cpu(deadline, false, observer);
        }
        *first = false;
        self.chip.after_cpu();
        self.watch_stack();
        match done {
            Err(_) if self.tripped_first() => None,
            Err(fault) => Some(Stop::Fault(fault)),
            Ok(Ran::Breakpoint) => Some(Stop::Pc(self.chip.pc())),
            Ok(Ran::On | Ran::Look) => None,
        }
    }

    /// Runs on and takes the supply away when the cycle or the time that `until` names has come, in the middle
    /// of an instruction too: what it wrote by then stays, what it would have written does not happen.
    pub fn run_to_cut(&mut self, until: &Until) -> Stop {
        let stop = self.run_to_cut_kept(until);
        self.chip.forget_near();
        stop
    }

    fn run_to_cut_kept(&mut self, until: &Until) -> Stop {
        // Gone back to from beyond the cut. One copy serves for all that touches memory alone, which is run again.
        let (mut kept, mut singly) = (None, false);
        loop {
            let (now, done) = (self.now(), self.chip.cycles());
            let gone_by = |now: Picos, cycles: Cycles| {
                until.cycles.is_some_and(|c| cycles > c) || until.time.is_some_and(|t| now > t)
            };
            let there = |now: Picos, cycles: Cycles| {
                until.cycles.is_some_and(|c| cycles >= c) || until.time.is_some_and(|t| now >= t)
            };
            if there(now, done) {
                self.chip.forget_near();
                self.power_cut();
                return Stop::BrownOut;
            }
            let asleep = self.chip.sleeping();
            let moment = self.cut_cycle(until, asleep);
            let [near, close] = [NEAR_CYCLES, CLOSE_CYCLES].map(|c| moment.saturating_sub(c));
            if !asleep && done < near {
                kept = None;
                self.chip.forget_near();
                match self.run(&Until { cycles: Some(near), ..until.clone() }, &mut Silent) {
                    Stop::Cycles | Stop::Time => continue,
                    other => return other,
                }
            }
            if asleep {
                kept = None;
            }
            let back = kept.get_or_insert_with(|| {
                let chip = self.chip.save_near();
                self.saved(chip)
            });
            let mut writes = Writes::default();
            let stretch = !asleep && !singly && done + 1 < close;
            let step =
                Until { cycles: Some(if stretch { close } else { done + 1 }), ..until.clone() };
            let (stop, outside) = if stretch {
                self.run_to_write(&step)
            } else {
                (self.run(&step, &mut Pointed::new(&mut writes)), false)
            };
            if gone_by(self.now(), self.chip.cycles()) {
                if stretch {
                    self.restore(back).expect("the engine's own snapshot");
                    (kept, singly) = (None, true);
                    continue;
                }
                if asleep && until.time.is_none() {
                    // Woken up: asleep there are no cycles to cut in, so it falls behind the interrupt's entry.
                    self.chip.forget_near();
                    self.power_cut();
                    return Stop::BrownOut;
                }
                // Memory that refuses a store (MPU, write protection) refuses it in front of the cut too.
                writes.0.retain(|&(addr, width, value, _)| {
                    let bytes = width.bytes() as usize;
                    let held = self.chip.memory(addr, bytes);
                    held.is_none_or(|held| held == &value.to_le_bytes()[..bytes])
                });
                self.restore(back).expect("the engine's own snapshot");
                if self.chip.cycles() < done {
                    let _ = self.run(&Until::cycles(done), &mut Silent);
                }
                self.cut_inside(until, &writes);
                return Stop::BrownOut;
            }
            match stop {
                Stop::Cycles | Stop::Time => {}
                Stop::Observer if outside => {}
                Stop::Fault(_) => return stop,
                _ if there(self.now(), self.chip.cycles()) => {}
                other => return other,
            }
            if outside || writes.0.iter().any(|w| !self.is_memory(w.0)) {
                kept = None;
            }
        }
    }

    /// Cycle at which a cut comes, by the CPU's present clock; asleep only where a cycle is named.
    fn cut_cycle(&self, until: &Until, asleep: bool) -> Cycles {
        let named = until.cycles.unwrap_or(Cycles::MAX);
        let time = until.time.filter(|_| !asleep);
        time.map_or(named, |t| named.min(self.chip.cpu_clock().ticks_at(t)))
    }

    /// Runs on, at most to the first write to anything but RAM and FRAM, which a part may have heard of and no snapshot
    /// takes back; true if one was made.
    fn run_to_write(&mut self, until: &Until) -> (Stop, bool) {
        let mut memory: Vec<_> = self.chip.common().dev.memory.iter().collect();
        memory.retain(|r| self.is_memory(r.start));
        memory.sort_by_key(|r| r.start);
        let starts = std::iter::once(0).chain(memory.iter().map(|r| r.end.saturating_add(1)));
        let ends = memory.iter().map(|r| r.start).chain([u32::MAX]);
        let watches: Vec<_> = starts
            .zip(ends)
            .filter(|(addr, end)| addr < end)
            .map(|(addr, end)| Watch { addr, bytes: end - addr, reads: false, writes: true })
            .collect();
        let mut others = Watchpoints::new(&watches);
        let stop = self.run(until, &mut others);
        (stop, others.hit().is_some())
    }

    fn is_memory(&self, addr: u32) -> bool {
        let region = self.chip.common().dev.region(addr);
        region.is_some_and(|r| matches!(r.kind, RegionKind::Ram | RegionKind::Fram))
    }

    /// The supply goes away before the instruction here has ended, which would have made these writes.
    fn cut_inside(&mut self, until: &Until, writes: &Writes) {
        let clock = *self.chip.cpu_clock();
        let mut now = until.time.unwrap_or(Picos::MAX);
        if !self.chip.sleeping() {
            let done = until.time.map_or(Cycles::MAX, |t| clock.ticks_at(t));
            let cycles = until.cycles.map_or(done, |c| c.min(done));
            if cycles < done {
                now = clock.time_of(cycles);
            }
            now = now.max(self.now());
            for (addr, width, value, _) in writes.0.iter().filter(|w| w.3 < cycles) {
                // Registers lose what they got with the supply; flash is not written by a bus access alone.
                if self.is_memory(*addr) {
                    self.chip.store(*addr, &value.to_le_bytes()[..width.bytes() as usize]);
                }
            }
            self.chip.set_cycles(cycles.max(self.chip.cycles()));
        }
        self.set_now(now);
        self.chip.process_events(now, self.chip.cycles());
        self.power_cut();
    }

    fn watch_stack(&mut self) {
        if let Some(low) = &mut self.stack_low {
            *low = (*low).min(self.chip.sp());
        }
    }

    // ---- supply

    pub fn set_vcc(&mut self, vcc_v: f64) {
        self.chip.common_mut().state.vcc_v = vcc_v;
        if !self.chip.common().state.powered {
            return;
        }
        let common = self.chip.common_mut();
        let supply = &common.dev.supply;
        let too_low = (vcc_v < supply.bor_falling_v).then(|| us(supply.bor_delay_us));
        common.bor_sees(common.now(), too_low);
        let held = common.state.held_in_reset;
        self.chip.vcc_changed();
        self.resets += u64::from(held && !self.chip.common().state.held_in_reset);
        let too_low = self.chip.too_low();
        let common = self.chip.common_mut();
        common.svs_sees(common.now(), too_low);
        self.trip();
        self.chip.settle();
    }

    /// Carries out the resets that are due, and those that wait for their delays while no code could run: what
    /// a chip does outside its limits nobody knows.
    fn trip(&mut self) {
        let common = self.chip.common_mut();
        let (now, at_once) = (common.state.now_ps, common.illegal.is_some());
        let due = |t: Option<u128>| t.is_some_and(|t| at_once || t <= now);
        if due(common.state.bor_due_ps) {
            self.power_cut();
        } else if due(common.state.svs_due_ps) {
            common.state.svs_due_ps = None;
            // The program may have chosen another level meanwhile.
            if self.chip.too_low().is_some() {
                self.chip.hold();
                let state = &mut self.chip.common_mut().state;
                state.supervisor_resets += u64::from(state.held_in_reset);
            }
        }
    }

    /// Whether the fault that would come is a supply or a clock at which code cannot run, and a reset by the
    /// supervisors comes first.
    fn tripped_first(&mut self) -> bool {
        if self.chip.common().illegal.is_some() {
            self.trip();
        }
        !self.chip.common().runs()
    }

    /// Brown-out and supervisors act without their delays, or with them.
    pub fn supervise_at_once(&mut self, at_once: bool) {
        self.chip.common_mut().state.at_once = at_once;
    }

    pub fn set_temperature(&mut self, celsius: f64) {
        self.chip.common_mut().state.temperature_c = celsius;
        self.chip.reclock();
    }

    pub fn power_cut(&mut self) {
        if self.chip.common().state.powered {
            let state = &mut self.chip.common_mut().state;
            state.off_since_ps = state.now_ps;
            (state.bor_due_ps, state.svs_due_ps) = (None, None);
            self.chip.power_off();
            self.chip.settle();
        }
    }

    pub fn power_on(&mut self, ram_seed: u64) {
        let common = self.chip.common();
        if common.state.vcc_v < common.dev.supply.bor_rising_v {
            return;
        }
        self.resets += 1;
        self.reset_watch = ResetWatch::new();
        let common = self.chip.common_mut();
        common.state.powered = true;
        common.state.held_in_reset = false;
        (common.state.bor_due_ps, common.state.svs_due_ps) = (None, None);
        self.chip.power_on(ram_seed);
        self.chip.settle();
    }

    /// What a loss of power here and now would leave beside memory, as bytes that are the same for every moment
    /// that leaves the same; none where the family cannot tell.
    pub fn remains(&mut self) -> Option<Vec<u8>> {
        self.chip.remains()?;
        let here = self.save();
        self.power_cut();
        let common = self.chip.common_mut();
        common.state.now_ps = START_PS;
        // A moment without supply: what RAM holds is not asked for.
        common.state.off_since_ps = START_PS - 1;
        self.chip.set_cycles(START_CYCLES);
        self.chip.forget_ticks();
        self.power_on(0);
        let mut left = self.chip.remains();
        let parts = self.chip.common().parts_remain();
        left.iter_mut().for_each(|left| left.extend_from_slice(&parts));
        self.restore(&here).expect("the engine's own snapshot");
        left
    }

    // ---- memory

    fn no_memory(&self, addr: u32, bytes: usize) -> MachineError {
        MachineError::NoMemory { addr, bytes, device: self.chip.common().dev.name.clone() }
    }

    pub fn read_mem(&self, addr: u32, bytes: usize) -> Result<&[u8], MachineError> {
        self.check_memory(addr, bytes)?;
        self.chip.memory(addr, bytes).ok_or_else(|| self.no_memory(addr, bytes))
    }

    pub fn write_mem(&mut self, addr: u32, bytes: &[u8]) -> Result<(), MachineError> {
        self.check_memory(addr, bytes.len())?;
        self.chip.store(addr, bytes);
        Ok(())
    }

    /// What the CPU would read from a peripheral's register of 1, 2 or 4 bytes now; the chip stays as it is.
    pub fn register_value(&mut self, addr: u32, bytes: u32) -> Result<u32, MachineError> {
        let chip = self.chip.save();
        let common = self.chip.common();
        let (accounts, state, uncached) =
            (common.accounts.clone(), common.state.clone(), common.uncached);
        let found = self.chip.load(addr, bytes);
        let common = self.chip.common_mut();
        (common.accounts, common.state, common.uncached) = (accounts, state, uncached);
        common.pending_fault = None;
        self.chip.restore(chip);
        self.chip.settle();
        found.map_err(|fault| MachineError::NoRegisterThere(fault.to_string()))
    }

    /// That the bytes all lie in memory (not in peripherals).
    fn check_memory(&self, addr: u32, bytes: usize) -> Result<(), MachineError> {
        let end = addr as usize + bytes;
        let mut at = addr;
        while (at as usize) < end {
            match self.chip.common().dev.region(at) {
                Some(r) if r.kind != RegionKind::Peripheral => match r.end.checked_add(1) {
                    Some(next) => at = next,
                    None => break,
                },
                _ => return Err(self.no_memory(addr, bytes)),
            }
        }
        Ok(())
    }

    // ---- snapshots

    pub fn save(&mut self) -> Saved<C::Saved> {
        let chip = self.chip.save();
        self.saved(chip)
    }

    fn saved(&self, chip: C::Saved) -> Saved<C::Saved> {
        let common = self.chip.common();
        let rest = Rest {
            state: common.state.clone(),
            uncached: common.uncached,
            parts: common.save_parts(),
            lint_faults: self.lint_faults,
            stack_low: self.stack_low,
            resets: self.resets,
        };
        Saved { chip, accounts: common.accounts.clone(), rest }
    }

    pub fn restore(&mut self, s: &Saved<C::Saved>) -> Result<(), MachineError> {
        let (rest, common) = (&s.rest, self.chip.common_mut());
        if !rest.parts.iter().map(|p| &p.0).eq(common.parts.iter().map(|a| &a.name)) {
            return Err(MachineError::Snapshot("other parts are attached".to_owned()));
        }
        common.accounts.clone_from(&s.accounts);
        common.state.clone_from(&rest.state);
        common.uncached = rest.uncached;
        common.restore_parts(&rest.parts);
        common.pending_fault = None;
        common.watched = None;
        self.lint_faults = rest.lint_faults;
        self.stack_low = rest.stack_low;
        self.resets = rest.resets;
        self.reset_watch = ResetWatch::new();
        self.chip.restore(s.chip.clone());
        self.chip.settle();
        Ok(())
    }
}

const VERSION: u16 = 9;

impl<S: Clone + Serialize + DeserializeOwned> Saved<S> {
    pub fn to_bytes(&self, device: &str) -> Vec<u8> {
        let written = (VERSION, device, &self.chip, self.accounts.save(), &self.rest);
        postcard::to_stdvec(&written).expect("a snapshot can always be written")
    }

    /// Reads a snapshot of a machine whose books are `accounts`.
    pub fn from_bytes(
        bytes: &[u8],
        device: &str,
        accounts: &Accounts,
    ) -> Result<Self, MachineError> {
        let wrong = |what: &str| MachineError::Snapshot(what.to_owned());
        // The head first: the rest of another device's snapshot has another shape.
        let ((version, name), _): ((u16, String), _) =
            postcard::take_from_bytes(bytes).map_err(|e| wrong(&e.to_string()))?;
        if version != VERSION {
            return Err(wrong("it was made by another version"));
        }
        if name != device {
            return Err(wrong("it is of another device"));
        }
        let (_, _, chip, books, rest): (u16, String, S, SavedAccounts, Rest) =
            postcard::from_bytes(bytes).map_err(|e| wrong(&e.to_string()))?;
        let mut accounts = accounts.clone();
        accounts.restore(&books);
        Ok(Self { chip, accounts, rest })
    }
}
