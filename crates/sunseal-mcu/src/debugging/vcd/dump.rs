// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of signals as they were recorded, and the forms in which they are written: VCD and FST.

use std::io::{self, Seek, Write};

use ::vcd::{TimescaleUnit, Value, VarType, Writer};
use fst_writer::{
    FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalType, FstVarDirection, FstVarType,
};
use sunseal_trace::Picos;

use super::VcdError;

/// Power of ten of the coarsest tick in picoseconds: a microsecond.
const POWER_MAX: u32 = 6;

/// Scope of a signal below the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Pins,
    States,
    Variables,
    Part(String),
}

impl Scope {
    fn name(&self) -> &str {
        match self {
            Self::Pins => "pins",
            Self::States => "states",
            Self::Variables => "variables",
            Self::Part(name) => name,
        }
    }
}

/// A signal, and what is known of its changes.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub scope: Scope,
    pub name: String,
    /// Width in bits; of a state it is known at the end.
    pub bits: u32,
    /// True where it is left out if it never changed.
    pub optional: bool,
    /// Present value; none where it is not known.
    pub value: Option<u64>,
    first: Option<u64>,
    changed: bool,
    last_ps: u64,
}

impl Signal {
    pub fn new(scope: Scope, name: &str, bits: u32, value: Option<u64>) -> Self {
        let (changed, last_ps, optional) = (false, 0, false);
        Self { scope, name: word(name), bits, optional, value, first: value, changed, last_ps }
    }
}

/// Recorded signals and their changes.
#[derive(Debug)]
pub struct Dump {
    pub(super) device: String,
    pub(super) signals: Vec<Signal>,
    /// Names of states; a state's value is its place among them.
    pub(super) states: Vec<String>,
    /// Every change: time since the last one, signal, value, in groups of seven bits.
    changes: Vec<u8>,
    begin_ps: u64,
    now_ps: u64,
    end_ps: u64,
    /// Shortest time between two changes of one signal.
    least_ps: Option<u64>,
    exact: bool,
}

impl Dump {
    pub(super) fn new(device: &str, begin: Picos, exact: bool) -> Result<Self, VcdError> {
        let begin_ps = within(begin)?;
        Ok(Self {
            device: device.to_owned(),
            signals: Vec::new(),
            states: Vec::new(),
            changes: Vec::new(),
            begin_ps,
            now_ps: begin_ps,
            end_ps: begin_ps,
            least_ps: None,
            exact,
        })
    }

    /// Adds a signal and says its number.
    pub(super) fn add(&mut self, mut signal: Signal) -> usize {
        signal.last_ps = self.begin_ps;
        self.signals.push(signal);
        self.signals.len() - 1
    }

    /// Number of a state's name.
    pub(super) fn state(&mut self, name: &str) -> u64 {
        let found = self.states.iter().position(|known| known == name);
        let number = found.unwrap_or_else(|| {
            self.states.push(name.to_owned());
            self.states.len() - 1
        });
        number as u64
    }

    /// Takes a signal's value down, if it is another one.
    pub(super) fn change(&mut self, at: Picos, signal: usize, value: u64) -> Result<(), VcdError> {
        let known = &mut self.signals[signal];
        if known.value == Some(value) {
            return Ok(());
        }
        // A change that is noticed late is written where the dump has come to.
        let at = within(at)?.max(self.now_ps);
        let apart = at - known.last_ps;
        if apart > 0 {
            self.least_ps = Some(self.least_ps.map_or(apart, |least| least.min(apart)));
        }
        (known.value, known.changed, known.last_ps) = (Some(value), true, at);
        for number in [at - self.now_ps, signal as u64, value] {
            group(&mut self.changes, number);
        }
        self.now_ps = at;
        Ok(())
    }

    pub(super) fn ends(&mut self, at: Picos) -> Result<(), VcdError> {
        self.end_ps = within(at)?.max(self.now_ps);
        let bits = u64::BITS - (self.states.len().max(2) as u64 - 1).leading_zeros();
        for signal in self.signals.iter_mut().filter(|s| s.scope == Scope::States) {
            signal.bits = bits;
        }
        Ok(())
    }

    /// Names of the components' states: the value of a signal of a state is a place in this list.
    #[must_use]
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The power of ten of a tick in picoseconds: the coarsest that keeps each two changes of a signal apart, up to a
    /// microsecond, so that slow signals keep their lengths.
    fn power(&self) -> u32 {
        let least = self.least_ps.unwrap_or(u64::MAX).max(1);
        if self.exact { 0 } else { least.ilog10().min(POWER_MAX) }
    }

    /// Numbers of the signals that are written, those of one scope behind each other.
    fn written(&self) -> impl Iterator<Item = (usize, &Signal)> {
        self.signals.iter().enumerate().filter(|(_, s)| s.changed || !s.optional)
    }

    /// Hands each change on, in ticks; the beginning is none.
    fn each<E>(&self, mut change: impl FnMut(u64, usize, u64) -> Result<(), E>) -> Result<(), E> {
        let (tick, mut at, mut rest) = (10u64.pow(self.power()), self.begin_ps, &self.changes[..]);
        while !rest.is_empty() {
            at += ungroup(&mut rest);
            let (signal, value) = (ungroup(&mut rest) as usize, ungroup(&mut rest));
            change(at / tick, signal, value)?;
        }
        Ok(())
    }

    /// Writes a value change dump.
    ///
    /// # Errors
    /// If it does not take it.
    pub fn write_vcd<W: Write>(&self, out: W) -> Result<(), VcdError> {
        let mut out = Writer::new(out);
        out.version(concat!("Sunseal ", env!("CARGO_PKG_VERSION")))?;
        let power = self.power();
        let units = [
            TimescaleUnit::PS,
            TimescaleUnit::NS,
            TimescaleUnit::US,
            TimescaleUnit::MS,
            TimescaleUnit::S,
        ];
        out.timescale(10u32.pow(power % 3), units[power as usize / 3])?;
        if !self.states.is_empty() {
            let named = self.states.iter().enumerate().map(|(i, name)| format!("{i} {name}"));
            out.comment(&format!("states: {}", named.collect::<Vec<_>>().join(", ")))?;
        }
        out.add_module(&word(&self.device))?;
        let mut ids = vec![None; self.signals.len()];
        let mut open: Option<&Scope> = None;
        for (i, signal) in self.written() {
            if open != Some(&signal.scope) {
                if open.is_some() {
                    out.upscope()?;
                }
                out.add_module(&word(signal.scope.name()))?;
                open = Some(&signal.scope);
            }
            let kind = if signal.scope == Scope::Pins { VarType::Wire } else { VarType::Reg };
            ids[i] = Some(out.add_var(kind, signal.bits, &signal.name, None)?);
        }
        if open.is_some() {
            out.upscope()?;
        }
        out.upscope()?;
        out.enddefinitions()?;
        let tick = 10u64.pow(power);
        let mut last = self.begin_ps / tick;
        out.timestamp(last)?;
        out.begin(::vcd::SimulationCommand::Dumpvars)?;
        for (i, signal) in self.written() {
            if let Some(id) = ids[i] {
                vcd_value(&mut out, id, signal.bits, signal.first)?;
            }
        }
        out.end()?;
        self.each(|at, i, value| {
            let Some(id) = ids[i] else { return Ok(()) };
            if at != last {
                out.timestamp(at)?;
                last = at;
            }
            vcd_value(&mut out, id, self.signals[i].bits, Some(value))
        })?;
        if self.end_ps / tick != last {
            out.timestamp(self.end_ps / tick)?;
        }
        out.flush()?;
        Ok(())
    }

    /// Writes an FST, the compressed form of GTKWave and Surfer.
    ///
    /// # Errors
    /// If it does not take it.
    pub fn write_fst<W: Write + Seek>(&self, out: W) -> Result<(), VcdError> {
        let power = self.power();
        let tick = 10u64.pow(power);
        let info = FstInfo {
            start_time: self.begin_ps / tick,
            timescale_exponent: power as i8 - 12,
            version: concat!("Sunseal ", env!("CARGO_PKG_VERSION")).to_owned(),
            date: String::new(),
            file_type: FstFileType::Verilog,
        };
        let mut head = FstHeaderWriter::new(out, &info).map_err(fst)?;
        head.scope(word(&self.device), "", FstScopeType::Module).map_err(fst)?;
        let mut ids = vec![None; self.signals.len()];
        let mut open: Option<&Scope> = None;
        for (i, signal) in self.written() {
            if open != Some(&signal.scope) {
                if open.is_some() {
                    head.up_scope().map_err(fst)?;
                }
                head.scope(word(signal.scope.name()), "", FstScopeType::Module).map_err(fst)?;
                open = Some(&signal.scope);
            }
            let pin = signal.scope == Scope::Pins;
            let kind = if pin { FstVarType::Wire } else { FstVarType::Reg };
            let of = FstSignalType::bit_vec(signal.bits);
            let id = head.var(&signal.name, of, kind, FstVarDirection::Implicit, None);
            ids[i] = Some(id.map_err(fst)?);
        }
        if open.is_some() {
            head.up_scope().map_err(fst)?;
        }
        head.up_scope().map_err(fst)?;
        let mut body = head.finish().map_err(fst)?;
        let mut last = self.begin_ps / tick;
        body.time_change(last).map_err(fst)?;
        for (i, signal) in self.written() {
            if let Some(id) = ids[i] {
                body.signal_change(id, &digits(signal.first, signal.bits)).map_err(fst)?;
            }
        }
        self.each(|at, i, value| {
            let Some(id) = ids[i] else { return Ok(()) };
            if at != last {
                body.time_change(at).map_err(fst)?;
                last = at;
            }
            body.signal_change(id, &digits(Some(value), self.signals[i].bits)).map_err(fst)
        })?;
        if self.end_ps / tick != last {
            body.time_change(self.end_ps / tick).map_err(fst)?;
        }
        body.finish().map_err(fst)?;
        Ok(())
    }
}

fn fst(e: fst_writer::FstWriteError) -> VcdError {
    VcdError::Io(io::Error::other(e))
}

fn within(at: Picos) -> Result<u64, VcdError> {
    let late = "a waveform in picoseconds holds 213 days; stop it before";
    u64::try_from(at.0).map_err(|_| VcdError::Io(io::Error::other(late)))
}

/// Names of a dump end at white space.
fn word(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    if text.is_empty() { "_".to_owned() } else { text }
}

fn vcd_value<W: Write>(
    out: &mut Writer<W>,
    id: ::vcd::IdCode,
    bits: u32,
    value: Option<u64>,
) -> Result<(), VcdError> {
    let bit = |i: u32| match value {
        Some(value) => Value::from(value >> i & 1 != 0),
        None => Value::X,
    };
    if bits == 1 {
        out.change_scalar(id, bit(0))?;
    } else {
        out.change_vector(id, (0..bits).rev().map(bit))?;
    }
    Ok(())
}

fn digits(value: Option<u64>, bits: u32) -> Vec<u8> {
    let digit = |i: u32| match value {
        Some(value) if value >> i & 1 != 0 => b'1',
        Some(_) => b'0',
        None => b'x',
    };
    (0..bits).rev().map(digit).collect()
}

fn group(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn ungroup(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, tail)) = rest.split_first() {
        *rest = tail;
        value |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    value
}
