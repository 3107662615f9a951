// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waveforms: what pins, components and variables did, as a value change dump; and such a dump as stimulus.

mod dump;

use std::io::{self, BufRead};

use ::vcd::{Command, IdCode, Parser, Value};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Width};

pub use self::dump::Dump;
use self::dump::{Scope, Signal};
use crate::{Elf, Machine, MachineError, PORT_J, Pin, Stop, Until};

/// A variable in memory, or a peripheral's register as the CPU writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the dump.
    pub name: String,
    pub addr: u32,
    /// Its size: 1 to 8 bytes.
    pub bytes: u32,
}

/// Signals that are dumped: states, pins, symbols.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    /// Pins, whoever drives them; none for all that move.
    pub pins: Vec<Pin>,
    /// Every component's state, as a number with a name, and what parts tell of their inside.
    pub states: bool,
    /// Picoseconds, and not the coarsest time that keeps each two changes of a signal apart.
    pub exact: bool,
    /// Variables: each store by the CPU in its cycle, what else changes them at the next stop.
    pub variables: Vec<Variable>,
}

impl Probes {
    /// Adds a symbol of the image.
    ///
    /// # Errors
    /// If there is no such symbol, or it is not of 1 to 8 bytes.
    pub fn symbol(&mut self, elf: &Elf, name: &str) -> Result<(), VcdError> {
        let s = elf.symbol(name).map_err(MachineError::from)?;
        let bytes = if s.size_bytes == 0 { 2 } else { s.size_bytes };
        self.variable(Variable { name: name.to_owned(), addr: s.addr, bytes })
    }

    /// Adds a variable.
    ///
    /// # Errors
    /// If it is not of 1 to 8 bytes.
    pub fn variable(&mut self, variable: Variable) -> Result<(), VcdError> {
        if !(1..=8).contains(&variable.bytes) {
            return Err(VcdError::Size { name: variable.name, bytes: variable.bytes });
        }
        self.variables.push(variable);
        Ok(())
    }
}

/// What is wrong with a dump or with what is to be dumped.
#[derive(Debug, thiserror::Error)]
pub enum VcdError {
    #[error("the waveform cannot be written or read: {0}")]
    Io(#[from] io::Error),
    /// A variable that is too big.
    #[error(
        "`{name}` has {bytes} bytes; a signal of a waveform has 1 to 8, give a part of it by its address"
    )]
    Size { name: String, bytes: u32 },
    /// What cannot be asked of the machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("line {line} of the waveform is no VCD: {what}")]
    Syntax { line: u64, what: String },
    /// A signal that is asked for.
    #[error("the waveform has no signal `{name}`; it has {known}")]
    NoSignal {
        name: String,
        /// Some that it has.
        known: String,
    },
    /// A signal that no pin can follow.
    #[error("signal `{name}` has {bits} bits; a pin follows one of a single bit")]
    Wide { name: String, bits: u32 },
    /// A time that the machine cannot tell.
    #[error(
        "line {line} of the waveform: time {time} x {step_ps} ps is later than any machine lives; mind its $timescale"
    )]
    Late { line: u64, time: u64, step_ps: u64 },
}

/// A store to a variable: when, which, and what.
struct Store {
    at: Cycles,
    variable: usize,
    addr: u32,
    width: Width,
    value: u32,
}

/// Hears of stores to the variables besides another observer.
struct Stores<'a, O> {
    inner: &'a mut O,
    variables: &'a [Variable],
    stores: &'a mut Vec<Store>,
}

impl<O: Observer> Observer for Stores<'_, O> {
    const INSTRUCTIONS: bool = O::INSTRUCTIONS;
    const ACCESSES: bool = true;
    const RESULTS: bool = O::RESULTS;

    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        self.inner.instruction(pc, sp, cycles, flow);
    }

    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if O::ACCESSES {
            self.inner.access(pc, addr, kind, width, value, at);
        }
        if kind == Access::Write {
            for (variable, v) in self.variables.iter().enumerate() {
                if addr < v.addr + v.bytes && v.addr < addr + width.bytes() {
                    self.stores.push(Store { at, variable, addr, width, value });
                }
            }
        }
    }

    fn result(&mut self, register: u8, old: u32, new: u32) {
        self.inner.result(register, old, new);
    }
}

/// A change of one signal.
enum Change {
    Number(usize, u64),
    State(usize, String),
}

/// Takes down what changes while a machine runs.
pub struct Recorder {
    dump: Dump,
    probes: Probes,
    /// Numbers of the first signal of each kind.
    first_pin: usize,
    first_state: usize,
    first_variable: usize,
    components: Vec<String>,
    /// Index in the dump of each part's first signal.
    inside_of: Vec<usize>,
    /// Length of the pin log that is taken down.
    log: usize,
}

impl Recorder {
    /// Begins with every signal's value now.
    ///
    /// # Errors
    /// If the machine has run for longer than a dump holds.
    pub fn new(machine: &Machine, mut probes: Probes) -> Result<Self, VcdError> {
        let mut dump = Dump::new(&machine.device().name, machine.time(), probes.exact)?;
        let optional = probes.pins.is_empty();
        if optional {
            probes.pins = pins(machine);
        }
        let first_pin = 0;
        for &pin in &probes.pins {
            let level = Some(u64::from(machine.pin(pin)));
            let mut signal = Signal::new(Scope::Pins, &pin.to_string(), 1, level);
            signal.optional = optional;
            dump.add(signal);
        }
        let (first_state, mut components) = (dump.signals.len(), Vec::new());
        for (component, state) in machine.states().into_iter().filter(|_| probes.states) {
            let value = Some(dump.state(state));
            dump.add(Signal::new(Scope::States, component, 1, value));
            components.push(component.to_owned());
        }
        let first_variable = dump.signals.len();
        for v in &probes.variables {
            let value = value_of(machine, v);
            dump.add(Signal::new(Scope::Variables, &v.name, 8 * v.bytes, value));
        }
        let mut inside_of = Vec::new();
        for (name, part) in machine.parts().filter(|_| probes.states) {
            inside_of.push(dump.signals.len());
            for s in part.signals() {
                let value = Some(low_bits(s.value, s.bits));
                dump.add(Signal::new(Scope::Part(name.to_owned()), &s.name, s.bits, value));
            }
        }
        let log = machine.pin_log().len();
        Ok(Self {
            dump,
            probes,
            first_pin,
            first_state,
            first_variable,
            components,
            inside_of,
            log,
        })
    }

    /// As [`Machine::run`], taking down what changes.
    ///
    /// # Errors
    /// If it has become longer than a dump holds.
    pub fn run<O: Observer>(
        &mut self,
        machine: &mut Machine,
        until: &Until,
        observer: &mut O,
    ) -> Result<Stop, VcdError> {
        let mut each = until.clone();
        each.state_change |= self.probes.states || !self.probes.variables.is_empty();
        self.poll(machine, Vec::new())?;
        loop {
            let (from_ps, from) = (machine.time().0, machine.cycles());
            let mut stores = Vec::new();
            let stop = if self.probes.variables.is_empty() {
                machine.run(&each, observer)
            } else {
                let variables = &self.probes.variables;
                let mut heard = Stores { inner: observer, variables, stores: &mut stores };
                machine.run(&each, &mut heard)
            };
            // Between two stops the clock is one: cycles are points on a line.
            let (to_ps, to) = (machine.time().0, machine.cycles());
            let time = |at: Cycles| {
                let part = (to_ps - from_ps) * u128::from((at + 1).clamp(from, to) - from);
                from_ps + part.checked_div(u128::from(to - from)).unwrap_or(0)
            };
            let mut changes = Vec::new();
            let known = &self.dump.signals[self.first_variable..];
            let count = self.probes.variables.len();
            let mut values: Vec<Option<u64>> = known[..count].iter().map(|s| s.value).collect();
            for s in stores {
                let i = s.variable;
                let value = merged(values[i].unwrap_or(0), &self.probes.variables[i], &s);
                if values[i].replace(value) != Some(value) {
                    changes.push((time(s.at), Change::Number(self.first_variable + i, value)));
                }
            }
            self.poll(machine, changes)?;
            if stop != Stop::StateChange || until.state_change {
                return Ok(stop);
            }
        }
    }

    /// Takes down everything that is different now: call it behind a change from outside, too.
    fn poll(&mut self, machine: &Machine, stores: Vec<(u128, Change)>) -> Result<(), VcdError> {
        let mut changes = stores;
        let log = machine.pin_log();
        for edge in &log[self.log.min(log.len())..] {
            if let Some(i) = self.probes.pins.iter().position(|p| *p == edge.pin) {
                let change = Change::Number(self.first_pin + i, u64::from(edge.level));
                changes.push((edge.time_ps, change));
            }
        }
        self.log = log.len();
        for ((_, part), first) in machine.parts().zip(&self.inside_of) {
            let told = part.changes(machine.time()).into_iter();
            changes.extend(told.map(|(at, i, value)| {
                let bits = self.dump.signals[first + i].bits;
                (at.0, Change::Number(first + i, low_bits(value, bits)))
            }));
        }
        changes.sort_by_key(|c| c.0);
        let now = machine.time().0;
        for (i, &pin) in self.probes.pins.iter().enumerate() {
            let level = u64::from(machine.pin(pin));
            changes.push((now, Change::Number(self.first_pin + i, level)));
        }
        for (i, v) in self.probes.variables.iter().enumerate() {
            if let Some(value) = value_of(machine, v) {
                changes.push((now, Change::Number(self.first_variable + i, value)));
            }
        }
        if self.probes.states {
            let states = machine.states();
            for (i, component) in self.components.iter().enumerate() {
                if let Some((_, state)) = states.iter().find(|(c, _)| c == component) {
                    changes.push((now, Change::State(self.first_state + i, (*state).to_owned())));
                }
            }
        }
        for (time_ps, change) in changes {
            match change {
                Change::Number(i, value) => self.dump.change(Picos(time_ps), i, value)?,
                Change::State(i, state) => {
                    let value = self.dump.state(&state);
                    self.dump.change(Picos(time_ps), i, value)?;
                }
            }
        }
        Ok(())
    }

    /// Ends with the machine as it stands; the dump is to be written.
    ///
    /// # Errors
    /// If it has become longer than a dump holds.
    pub fn finish(mut self, machine: &Machine) -> Result<Dump, VcdError> {
        self.poll(machine, Vec::new())?;
        self.dump.ends(machine.time())?;
        Ok(self.dump)
    }
}

/// All pins of a device.
fn pins(machine: &Machine) -> Vec<Pin> {
    let numbered = (1..=PORT_J).flat_map(|port| (0..8).map(move |bit| Pin::new(port, bit)));
    let lettered = (b'A'..=b'Z').flat_map(|port| (0..16).map(move |bit| Pin::new(port, bit)));
    let each = numbered.chain(lettered);
    each.filter(|pin| machine.device().pin(&pin.to_string()).is_ok()).collect()
}

fn low_bits(value: u64, width: u32) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

fn value_of(machine: &Machine, v: &Variable) -> Option<u64> {
    let bytes = machine.read_mem(v.addr, v.bytes as usize).ok()?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// `old` with the bytes of a store in their places.
fn merged(old: u64, v: &Variable, s: &Store) -> u64 {
    let mut value = old;
    for i in 0..s.width.bytes() {
        let at = (s.addr + i).wrapping_sub(v.addr);
        if at < v.bytes {
            let byte = u64::from(s.value >> (8 * i) & 0xFF);
            value = value & !(0xFF << (8 * at)) | byte << (8 * at);
        }
    }
    value
}

/// Pins driven from a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stimulus {
    /// Time, pin, level; `None` lets go of the pin.
    changes: Vec<(Picos, Pin, Option<bool>)>,
    next: usize,
}

impl Stimulus {
    /// These changes, by time.
    #[must_use]
    pub fn new(mut changes: Vec<(Picos, Pin, Option<bool>)>) -> Self {
        changes.sort_by_key(|c| c.0);
        Self { changes, next: 0 }
    }

    /// The changes of some signals of a dump, each given with the pin that it drives. A signal is named as in
    /// the dump, with or without the scopes above it (`top.pins.P1.0`). Times are machine times.
    ///
    /// # Errors
    /// If it is no dump, or lacks one of the signals.
    pub fn read(dump: impl BufRead, signals: &[(&str, Pin)]) -> Result<Self, VcdError> {
        let mut parser = Parser::new(dump);
        let mut read = Reading::of(signals);
        loop {
            let line = parser.line();
            match parser.next() {
                None => break,
                Some(Ok(command)) => read.command(command, line)?,
                Some(Err(e)) => return Err(unread(e, line)),
            }
        }
        for (i, (name, _)) in signals.iter().enumerate() {
            if !read.pins.iter().any(|(_, known)| *known == i) {
                let known = read.known;
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(VcdError::NoSignal { name: (*name).to_owned(), known });
            }
        }
        Ok(Self::new(read.changes))
    }

    /// When the next change is due.
    #[must_use]
    pub fn next_change(&self) -> Option<Picos> {
        self.changes.get(self.next).map(|c| c.0)
    }

    /// Drives the pins whose time has come.
    pub fn apply(&mut self, machine: &mut Machine) {
        while let Some(&(time, pin, level)) = self.changes.get(self.next) {
            if time > machine.time() {
                break;
            }
            machine.set_pin(pin, level);
            self.next += 1;
        }
    }

    /// As [`Machine::run`], driving the pins at their times: asleep, exactly there; awake, at the first
    /// instruction boundary.
    pub fn run<O: Observer>(
        &mut self,
        machine: &mut Machine,
        until: &Until,
        observer: &mut O,
    ) -> Stop {
        let run = |machine: &mut Machine, until: &Until| {
            Ok::<_, std::convert::Infallible>(machine.run(until, observer))
        };
        match self.steps(machine, until, run) {
            Ok(stop) => stop,
            Err(never) => match never {},
        }
    }

    /// As [`run`](Self::run), writing a dump.
    ///
    /// # Errors
    /// If the dump does not take it.
    pub fn run_recorded<O: Observer>(
        &mut self,
        machine: &mut Machine,
        until: &Until,
        observer: &mut O,
        recorder: &mut Recorder,
    ) -> Result<Stop, VcdError> {
        self.steps(machine, until, |machine, until| recorder.run(machine, until, observer))
    }

    fn steps<E>(
        &mut self,
        machine: &mut Machine,
        until: &Until,
        mut run: impl FnMut(&mut Machine, &Until) -> Result<Stop, E>,
    ) -> Result<Stop, E> {
        loop {
            self.apply(machine);
            let mut step = until.clone();
            let next = self.next_change();
            step.time = match (until.time, next) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            let stop = run(machine, &step)?;
            let due = next.is_some_and(|t| machine.time() >= t);
            let own = matches!(stop, Stop::Time | Stop::Halted | Stop::BrownOut);
            if !(own && due) || until.time.is_some_and(|t| machine.time() >= t) {
                return Ok(stop);
            }
        }
    }
}

/// A dump as far as it is read.
struct Reading<'a> {
    signals: &'a [(&'a str, Pin)],
    scopes: Vec<String>,
    /// Codes of the asked signals, with their places among them.
    pins: Vec<(IdCode, usize)>,
    /// Others that it has, for a message.
    known: Vec<String>,
    step_fs: u128,
    now: Picos,
    changes: Vec<(Picos, Pin, Option<bool>)>,
}

impl<'a> Reading<'a> {
    fn of(signals: &'a [(&'a str, Pin)]) -> Self {
        Self {
            signals,
            scopes: Vec::new(),
            pins: Vec::new(),
            known: Vec::new(),
            step_fs: FS_PER_S,
            now: Picos::ZERO,
            changes: Vec::new(),
        }
    }

    fn command(&mut self, command: Command, line: u64) -> Result<(), VcdError> {
        match command {
            Command::Timescale(n, unit) => {
                self.step_fs = u128::from(n) * (FS_PER_S / u128::from(unit.divisor()));
            }
            Command::ScopeDef(_, name) if self.scopes.len() < DEPTH_MAX => self.scopes.push(name),
            Command::ScopeDef(..) => {
                let what = format!("scopes lie more than {DEPTH_MAX} deep");
                return Err(VcdError::Syntax { line, what });
            }
            Command::Upscope => {
                self.scopes.pop();
            }
            Command::VarDef(_, width, id, name, _) => {
                let asked = self.signals.iter().position(|(signal, _)| {
                    *signal == name || in_scope(signal, &self.scopes, &name)
                });
                match asked {
                    Some(_) if width != 1 => return Err(VcdError::Wide { name, bits: width }),
                    Some(i) => self.pins.push((id, i)),
                    None if self.known.len() < 8 => self.known.push(name),
                    None => {}
                }
            }
            Command::Timestamp(time) => {
                let Some(fs) = self.step_fs.checked_mul(time.into()) else {
                    let step_ps = (self.step_fs / 1000) as u64;
                    return Err(VcdError::Late { line, time, step_ps });
                };
                self.now = Picos(fs / 1000);
            }
            Command::ChangeScalar(id, value) => {
                let level = match value {
                    Value::V0 => Some(false),
                    Value::V1 => Some(true),
                    _ => None,
                };
                for (_, i) in self.pins.iter().filter(|(known, _)| *known == id) {
                    self.changes.push((self.now, self.signals[*i].1, level));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Why a dump cannot be read on, in this line.
fn unread(e: io::Error, line: u64) -> VcdError {
    match e.get_ref().and_then(|e| e.downcast_ref::<::vcd::ParseError>()) {
        Some(what) => VcdError::Syntax { line: what.line(), what: format!("{:?}", what.kind()) },
        None if e.kind() == io::ErrorKind::UnexpectedEof => {
            VcdError::Syntax { line, what: "it ends within a command".to_owned() }
        }
        None => VcdError::Io(e),
    }
}

/// Femtoseconds in a second.
const FS_PER_S: u128 = 1_000_000_000_000_000;
/// Scopes of a dump in each other, at most.
const DEPTH_MAX: usize = 256;

/// Whether `signal` is `name` with some of the scopes above it.
fn in_scope(signal: &str, scopes: &[String], name: &str) -> bool {
    let mut left = signal;
    let Some(rest) = left.strip_suffix(name) else { return false };
    left = rest;
    for scope in scopes.iter().rev() {
        let Some(rest) = left.strip_suffix('.').and_then(|l| l.strip_suffix(scope.as_str())) else {
            return false;
        };
        left = rest;
        if left.is_empty() {
            return true;
        }
    }
    false
}
