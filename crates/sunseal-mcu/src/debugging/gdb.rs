// SPDX-License-Identifier: MIT OR Apache-2.0
//! A debugger's remote target: GDB's serial protocol for any machine, over TCP.
//!
//! Breakpoints are addresses that the run loop watches, so they outlive resets, losses of supply and
//! programs that write their own flash. Where the supply goes away the session stays: the stop is reported as
//! `SIGPWR`, and `continue` lets the supply come back and the program start anew.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::net::{TcpListener, TcpStream};

use gdbstub::arch::{Arch, Registers};
use gdbstub::common::Signal;
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, SingleThreadStopReason};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps,
    SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};
use sunseal_isa::FaultKind;
use sunseal_trace::{Cycles, Picos, Silent};

use crate::elf::{Architecture, Elf};
use crate::watch::{Watch, Watchpoints};
use crate::{Machine, Stop, Until};

/// How a session behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How long the supply stays away once it is gone, before `continue` lets it come back.
    pub off: Picos,
    /// Seed of what memory holds after the first loss of supply; each further one takes the next.
    pub ram_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { off: Picos(1_000_000_000_000), ram_seed: 1 }
    }
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The debugger let go of the machine.
    Detached,
    /// The debugger killed the program.
    Killed,
    /// The connection is gone.
    Closed,
}

/// Waits for one debugger and serves it until it goes. The machine stays as it was left.
///
/// # Errors
/// If the listener fails, or the debugger does not keep to the protocol.
pub fn serve(
    machine: &mut Machine,
    elf: &Elf,
    listener: &TcpListener,
    options: &Options,
) -> io::Result<End> {
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    talk(machine, elf, Wire::new(stream), options)
}

/// A session from a record of what a debugger sent; answers what it would have got. It ends with the record.
#[must_use]
pub fn replay(machine: &mut Machine, elf: &Elf, sent: &[u8], options: &Options) -> Vec<u8> {
    let mut answers = Vec::new();
    let _ = talk(machine, elf, Record { sent, answers: &mut answers }, options);
    answers
}

fn talk<C: ConnectionExt<Error = io::Error>>(
    machine: &mut Machine,
    elf: &Elf,
    connection: C,
    options: &Options,
) -> io::Result<End> {
    let mut session = Session::new(machine, elf, options.clone());
    match GdbStub::new(connection).run_blocking::<Loop<'_, C>>(&mut session) {
        Ok(DisconnectReason::Kill) => Ok(End::Killed),
        Ok(_) => Ok(End::Detached),
        Err(e) if e.is_connection_error() => match e.into_connection_error() {
            Some((e, _)) if e.kind() != io::ErrorKind::UnexpectedEof => Err(e),
            _ => Ok(End::Closed),
        },
        Err(e) => {
            let what = format!("the debugger does not keep to GDB's protocol: {e}");
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        }
    }
}

// ---- connections

/// A socket with a buffer: the protocol is read byte by byte.
struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
    at: usize,
}

impl Wire {
    fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::new(), at: 0 }
    }

    /// Whether there are bytes; waits for some if `wait`.
    fn fill(&mut self, wait: bool) -> io::Result<bool> {
        if self.at < self.buffer.len() {
            return Ok(true);
        }
        self.stream.set_nonblocking(!wait)?;
        self.buffer.resize(4096, 0);
        let got = Read::read(&mut self.stream, &mut self.buffer);
        self.buffer.truncate(*got.as_ref().unwrap_or(&0));
        self.at = 0;
        match got {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && !wait => Ok(false),
            // A client that is gone is one that has ended.
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Err(e) => Err(e),
        }
    }
}

impl Connection for Wire {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        Connection::write_all(self, &[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        Write::write_all(&mut self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.stream)
    }
}

impl ConnectionExt for Wire {
    fn read(&mut self) -> io::Result<u8> {
        self.fill(true)?;
        self.at += 1;
        Ok(self.buffer[self.at - 1])
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.fill(false)?.then(|| self.buffer[self.at]))
    }
}

/// What a debugger sent, and what it gets.
struct Record<'a> {
    sent: &'a [u8],
    answers: &'a mut Vec<u8>,
}

impl Connection for Record<'_> {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.answers.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ConnectionExt for Record<'_> {
    fn read(&mut self) -> io::Result<u8> {
        let (&first, rest) = self.sent.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.sent = rest;
        Ok(first)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        self.sent.first().map(|b| Some(*b)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

// ---- registers

/// Any of the instruction sets: addresses of 32 bits, registers as the debugger numbers them.
struct Any;

impl Arch for Any {
    type Usize = u32;
    type Registers = Raw;
    type BreakpointKind = usize;
    type RegId = ();
}

/// All registers in the debugger's order, little-endian.
#[derive(Clone, Debug, Default, PartialEq)]
struct Raw {
    pc: u32,
    bytes: Vec<u8>,
}

impl Registers for Raw {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.pc
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.bytes.iter().for_each(|b| write_byte(Some(*b)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.bytes = bytes.to_vec();
        Ok(())
    }
}

/// A register as the debugger knows it.
struct Field {
    name: String,
    register: String,
    bytes: usize,
    kind: &'static str,
}

fn field(name: &str, register: &str, bytes: usize, kind: &'static str) -> Field {
    Field { name: name.to_owned(), register: register.to_owned(), bytes, kind }
}

/// The registers in the order and widths of GDB's own description of each set (msp430-tdep.c: sixteen of 32
/// bits; avr-tdep.c: r0 to r31, SREG, SP, PC; arm-m-profile.xml and arm-vfpv2.xml).
fn fields(machine: &Machine, architecture: Architecture) -> Vec<Field> {
    let known = machine.registers();
    let own = |name: &str| known.iter().find(|r| r.name.eq_ignore_ascii_case(name));
    let has = |name: &str| own(name).is_some();
    let mut fields = match architecture {
        Architecture::Msp430 => known
            .iter()
            .map(|r| {
                let kind = if matches!(&*r.name, "PC" | "SP") { "data_ptr" } else { "uint32" };
                field(&r.name.to_lowercase(), &r.name, 4, kind)
            })
            .collect(),
        Architecture::Avr => {
            let mut list: Vec<Field> =
                (0..32).map(|n| field(&format!("r{n}"), &format!("R{n}"), 1, "uint8")).collect();
            list.push(field("SREG", "SREG", 1, "uint8"));
            list.push(field("SP", "SP", 2, "uint16"));
            list.push(field("PC", "PC", 4, "uint32"));
            list
        }
        Architecture::Arm => {
            let mut list: Vec<Field> =
                (0..13).map(|n| field(&format!("r{n}"), &format!("R{n}"), 4, "uint32")).collect();
            list.push(field("sp", "SP", 4, "data_ptr"));
            list.push(field("lr", "LR", 4, "uint32"));
            list.push(field("pc", "PC", 4, "code_ptr"));
            list.push(field("xpsr", "XPSR", 4, "uint32"));
            if has("S0") {
                for n in 0..16 {
                    // Two single-precision registers each.
                    list.push(field(&format!("d{n}"), &format!("S{}", 2 * n), 8, "ieee_double"));
                }
                list.push(field("fpscr", "FPSCR", 4, "uint32"));
            }
            for name in ["MSP", "PSP", "PRIMASK", "BASEPRI", "FAULTMASK", "CONTROL"] {
                if has(name) {
                    list.push(field(&name.to_lowercase(), name, 4, "uint32"));
                }
            }
            list
        }
    };
    // In the machine's own spelling.
    for f in &mut fields {
        if let Some(r) = own(&f.register) {
            f.register = r.name.clone().into_owned();
        }
    }
    fields
}

fn description(fields: &[Field], architecture: Architecture) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n",
    );
    let feature_of = |name: &str| match architecture {
        Architecture::Msp430 => "org.gnu.gdb.msp430.cpu",
        Architecture::Avr => "org.gnu.gdb.avr.cpu",
        Architecture::Arm => match name {
            "fpscr" => "org.gnu.gdb.arm.vfp",
            _ if name.starts_with('d') => "org.gnu.gdb.arm.vfp",
            "msp" | "psp" | "primask" | "basepri" | "faultmask" | "control" => {
                "org.gnu.gdb.arm.m-system"
            }
            _ => "org.gnu.gdb.arm.m-profile",
        },
    };
    match architecture {
        // Which of MSP430 and MSP430X it is the image says.
        Architecture::Msp430 => {}
        Architecture::Avr => xml.push_str("<architecture>avr</architecture>\n"),
        Architecture::Arm => xml.push_str("<architecture>arm</architecture>\n"),
    }
    let mut open = "";
    for (number, f) in fields.iter().enumerate() {
        let feature = feature_of(&f.name);
        if feature != open {
            if !open.is_empty() {
                xml.push_str("</feature>\n");
            }
            let _ = writeln!(xml, "<feature name=\"{feature}\">");
            open = feature;
        }
        let _ = writeln!(
            xml,
            "<reg name=\"{}\" bitsize=\"{}\" type=\"{}\" regnum=\"{number}\"/>",
            f.name,
            8 * f.bytes,
            f.kind
        );
    }
    xml.push_str("</feature>\n</target>\n");
    xml
}

// ---- the session

fn watch(addr: u32, bytes: u32, kind: WatchKind) -> Watch {
    let (reads, writes) = (kind != WatchKind::Write, kind != WatchKind::Read);
    Watch { addr, bytes, reads, writes }
}

fn kind(watch: Watch) -> WatchKind {
    match (watch.reads, watch.writes) {
        (true, true) => WatchKind::ReadWrite,
        (true, false) => WatchKind::Read,
        _ => WatchKind::Write,
    }
}

/// CPU cycles between two looks at the connection.
const SLICE_CYCLES: Cycles = 1_000_000;
/// Machine time between them, asleep.
const SLICE: Picos = Picos(1_000_000_000_000);

struct Session<'a> {
    machine: &'a mut Machine,
    elf: &'a Elf,
    options: Options,
    fields: Vec<Field>,
    xml: String,
    breakpoints: Vec<u32>,
    watches: Vec<Watch>,
    stepping: bool,
    /// CPU cycles when the program was let go.
    from: Cycles,
    losses: u64,
}

type Reason = SingleThreadStopReason<u32>;

impl<'a> Session<'a> {
    fn new(machine: &'a mut Machine, elf: &'a Elf, options: Options) -> Self {
        let fields = fields(machine, elf.architecture);
        let xml = description(&fields, elf.architecture);
        let from = machine.cycles();
        Self {
            machine,
            elf,
            options,
            fields,
            xml,
            breakpoints: Vec::new(),
            watches: Vec::new(),
            stepping: false,
            from,
            losses: 0,
        }
    }

    fn seconds(&self) -> f64 {
        self.machine.time().0 as f64 * 1e-12
    }

    fn let_go(&mut self, stepping: bool) {
        self.stepping = stepping;
        if !self.machine.is_powered() {
            self.supply_returns(self.options.off);
        }
        self.from = self.machine.cycles();
    }

    /// Off for that long, then on again.
    fn supply_returns(&mut self, off: Picos) {
        let back = Picos(self.machine.time().0.saturating_add(off.0));
        self.machine.run(&Until::time(back), &mut Silent);
        self.machine.power_on(self.options.ram_seed.wrapping_add(self.losses));
        self.losses += 1;
    }

    /// Runs for a while; why it stopped, if it did, with a sentence for the console.
    fn slice(&mut self) -> Option<(Reason, Option<String>)> {
        let (now, cycles) = (self.machine.time(), self.machine.cycles());
        // A step passes breakpoints.
        let (slice, pc) =
            if self.stepping { (1, Vec::new()) } else { (SLICE_CYCLES, self.breakpoints.clone()) };
        let until = Until {
            cycles: Some(cycles + slice),
            time: Some(Picos(now.0.saturating_add(SLICE.0))),
            pc,
            ..Until::default()
        };
        let mut watching = Watchpoints::new(&self.watches);
        let stop = if self.watches.is_empty() {
            self.machine.run(&until, &mut Silent)
        } else {
            self.machine.run_to_access(&until, &mut watching)
        };
        let moved = self.machine.cycles() != cycles;
        match stop {
            Stop::Fault(fault) => {
                let signal = match fault.kind() {
                    FaultKind::IllegalOpcode { .. } => Signal::SIGILL,
                    FaultKind::Misaligned | FaultKind::OddProgramCounter => Signal::SIGBUS,
                    FaultKind::Device(_) => Signal::SIGABRT,
                    _ => Signal::SIGSEGV,
                };
                return Some((Reason::Signal(signal), Some(self.elf.explain(&fault))));
            }
            Stop::BrownOut => {
                let text = format!(
                    "the supply is gone at {:.9} s; `continue` lets it come back {} s later",
                    self.seconds(),
                    self.options.off.0 as f64 * 1e-12
                );
                return Some((Reason::Signal(Signal::SIGPWR), Some(text)));
            }
            Stop::Halted => {
                let text = "the CPU is off and nothing inside the machine can wake it; drive a pin, \
                            reset it or cut its supply";
                return Some((Reason::Signal(Signal::SIGSTOP), Some(text.to_owned())));
            }
            Stop::Pc(_) => return Some((Reason::SwBreak(()), None)),
            Stop::Cycles | Stop::Time | Stop::StateChange | Stop::Pin(_) | Stop::Observer => {}
        }
        if let Some(hit) = watching.hit() {
            return Some((Reason::Watch { tid: (), kind: kind(hit), addr: hit.addr }, None));
        }
        if self.stepping && moved {
            return Some((Reason::DoneStep, None));
        }
        // A run does not stop at the address where it begins.
        if moved && self.breakpoints.contains(&self.machine.pc()) {
            return Some((Reason::SwBreak(()), None));
        }
        None
    }

    fn monitor(&mut self, line: &str) -> Result<String, String> {
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or("help");
        let number = |text: Option<&str>, what: &str| match text {
            None => Ok(None),
            Some(text) => match text.parse::<f64>() {
                Ok(n) if n.is_finite() && n >= 0.0 => Ok(Some(n)),
                _ => Err(format!("`{text}` is no {what}; give a number that is not negative")),
            },
        };
        let mut out = String::new();
        match command {
            "help" => out.push_str(
                "reset            reset with the supply on\n\
                 cut [SECONDS]    cut the supply; with SECONDS it comes back after them\n\
                 vcc [VOLTS]      show or set the supply voltage\n\
                 cycles           CPU cycles and machine time\n\
                 energy-ledger    cycles and time by component and state, and counted events\n\
                 states           every component's state\n\
                 lints            what the program did that fails on a chip\n",
            ),
            "reset" => {
                self.machine.reset();
                let _ = writeln!(out, "reset; next is {}", self.elf.describe(self.machine.pc()));
            }
            "cut" => {
                let off = number(words.next(), "time in seconds")?;
                out.push_str(&self.cut_supply(off)?);
            }
            "vcc" => {
                if let Some(volts) = number(words.next(), "voltage")? {
                    self.machine.set_vcc(volts);
                }
                let on = if self.machine.is_powered() { "on" } else { "off" };
                let _ = writeln!(out, "{} V, {on}", self.machine.vcc());
            }
            "cycles" => {
                let _ = writeln!(out, "{} cycles, {:.12} s", self.machine.cycles(), self.seconds());
            }
            "energy-ledger" => {
                self.write_ledger(&mut out);
            }
            "states" => {
                for (component, state) in self.machine.states() {
                    let _ = writeln!(out, "{component}: {state}");
                }
            }
            "lints" => {
                for lint in self.machine.lints() {
                    let _ = writeln!(out, "{}", lint.sentence(|at| self.elf.describe(at)));
                }
            }
            other => return Err(format!("`{other}` is no command; `monitor help` lists them")),
        }
        Ok(out)
    }

    /// Cuts the supply, for so long or until the program is let go on.
    fn cut_supply(&mut self, off_s: Option<f64>) -> Result<String, String> {
        let mut out = String::new();
        let off = match off_s.map(Picos::from_seconds) {
            Some(Some(off)) if self.machine.time().0 < TIME_MAX.0 && off.0 < TIME_MAX.0 => {
                Some(off)
            }
            Some(_) => return Err("that is longer than a machine lives".to_owned()),
            None => None,
        };
        self.machine.power_cut();
        if let Some(off) = off {
            self.supply_returns(off);
            let (off_s, next) = (off.0 as f64 * 1e-12, self.elf.describe(self.machine.pc()));
            let _ = writeln!(out, "the supply was away for {off_s} s; next is {next}");
        } else {
            out.push_str("the supply is gone; `continue` lets it come back\n");
        }
        Ok(out)
    }

    fn write_ledger(&self, out: &mut String) {
        let (ledger, v) = (self.machine.ledger(), self.machine.vocabulary());
        for (key, span) in ledger.spans() {
            let _ = writeln!(
                out,
                "{}.{} at {} Hz: {} cycles, {:.9} s",
                v.component_name(key.component),
                v.state_name(key.state),
                key.point.mclk_hz,
                span.cycles,
                span.time.0 as f64 * 1e-12
            );
        }
        for (event, count) in ledger.events() {
            let _ = writeln!(out, "{}: {count}", v.event_name(event));
        }
    }
}

impl Target for Session<'_> {
    type Arch = Any;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Any, Infallible> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadBase for Session<'_> {
    fn read_registers(&mut self, regs: &mut Raw) -> TargetResult<(), Self> {
        let known = self.machine.registers();
        let value = |name: &str| known.iter().find(|r| r.name == name).map_or(0, |r| r.value);
        regs.pc = self.machine.pc();
        regs.bytes.clear();
        for f in &self.fields {
            let mut bytes = value(&f.register).to_le_bytes().to_vec();
            if f.bytes == 8 {
                bytes.extend(value(&next_single(&f.register)).to_le_bytes());
            }
            regs.bytes.extend(&bytes[..f.bytes]);
        }
        Ok(())
    }

    fn write_registers(&mut self, regs: &Raw) -> TargetResult<(), Self> {
        let mut left = &regs.bytes[..];
        for f in &self.fields {
            let Some((own, rest)) = left.split_at_checked(f.bytes) else { break };
            left = rest;
            let value = |bytes: &[u8]| {
                bytes.iter().rev().fold(0, |value: u32, byte| value << 8 | u32::from(*byte))
            };
            let mut set = |name: &str, value| {
                // Unchanged ones stay untouched: to write some of them has effects.
                if self.machine.register(name).is_ok_and(|old| old != value) {
                    let _ = self.machine.set_register(name, value);
                }
            };
            if f.bytes == 8 {
                set(&f.register, value(&own[..4]));
                set(&next_single(&f.register), value(&own[4..]));
            } else {
                set(&f.register, value(own));
            }
        }
        Ok(())
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        if u64::from(start) + data.len() as u64 <= 1 << 32
            && let Ok(bytes) = self.machine.read_mem(start, data.len())
        {
            data.copy_from_slice(bytes);
            return Ok(data.len());
        }
        let bytes = data.len() as u32;
        if matches!(bytes, 1 | 2 | 4)
            && let Ok(value) = self.machine.register_value(start, bytes)
        {
            data.copy_from_slice(&value.to_le_bytes()[..data.len()]);
            return Ok(data.len());
        }
        // As much as there is.
        for (i, byte) in data.iter_mut().enumerate() {
            let addr = start.checked_add(i as u32);
            match addr.and_then(|addr| self.machine.read_mem(addr, 1).ok()) {
                Some(bytes) => *byte = bytes[0],
                None if i == 0 => return Err(TargetError::Errno(EFAULT)),
                None => return Ok(i),
            }
        }
        Ok(data.len())
    }

    fn write_addrs(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        if u64::from(start) + data.len() as u64 > 1 << 32 {
            return Err(TargetError::Errno(EFAULT));
        }
        self.machine.write_mem(start, data).map_err(|_| TargetError::Errno(EFAULT))
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

/// Number of the error "Bad address" in GDB's file protocol.
const EFAULT: u8 = 14;

/// The single-precision register behind `S2n`.
fn next_single(name: &str) -> String {
    let (letter, number) = name.split_at(1);
    format!("{letter}{}", number.parse::<u32>().map_or(0, |n| n + 1))
}

impl SingleThreadResume for Session<'_> {
    fn resume(&mut self, _: Option<Signal>) -> Result<(), Infallible> {
        self.let_go(false);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for Session<'_> {
    fn step(&mut self, _: Option<Signal>) -> Result<(), Infallible> {
        self.let_go(true);
        Ok(())
    }
}

impl Breakpoints for Session<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Session<'_> {
    fn add_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        // The run loop looks at each of them before each instruction.
        if self.breakpoints.len() >= BREAKPOINTS_MAX {
            return Ok(false);
        }
        self.breakpoints.push(addr);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        let found = self.breakpoints.iter().position(|a| *a == addr);
        found.map(|i| self.breakpoints.swap_remove(i));
        Ok(found.is_some())
    }
}

const BREAKPOINTS_MAX: usize = 1024;
/// How long a supply may be away, and when at the latest: a century.
const TIME_MAX: Picos = Picos(36_525 * 86_400 * 1_000_000_000_000);

impl HwBreakpoint for Session<'_> {
    fn add_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(addr, kind)
    }

    fn remove_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(addr, kind)
    }
}

impl HwWatchpoint for Session<'_> {
    fn add_hw_watchpoint(
        &mut self,
        addr: u32,
        bytes: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        if self.watches.len() >= BREAKPOINTS_MAX {
            return Ok(false);
        }
        self.watches.push(watch(addr, bytes, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        addr: u32,
        bytes: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let found = self.watches.iter().position(|w| *w == watch(addr, bytes, kind));
        found.map(|i| self.watches.swap_remove(i));
        Ok(found.is_some())
    }
}

impl MonitorCmd for Session<'_> {
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Infallible> {
        let text = match self.monitor(&String::from_utf8_lossy(command)) {
            Ok(text) => text,
            Err(text) => text + "\n",
        };
        out.write_raw(text.as_bytes());
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Session<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let start = usize::try_from(offset).map_or(self.xml.len(), |o| o.min(self.xml.len()));
        let part = &self.xml.as_bytes()[start..];
        let part = &part[..part.len().min(length).min(buf.len())];
        buf[..part.len()].copy_from_slice(part);
        Ok(part.len())
    }
}

// ---- while it runs

struct Loop<'a, C>(PhantomData<(&'a (), C)>);

impl<'a, C: ConnectionExt<Error = io::Error>> BlockingEventLoop for Loop<'a, C> {
    type Target = Session<'a>;
    type Connection = C;
    type StopReason = Reason;

    fn wait_for_stop_reason(
        target: &mut Session<'a>,
        conn: &mut C,
    ) -> Result<Event<Reason>, WaitForStopReasonError<Infallible, io::Error>> {
        loop {
            if let Some((reason, text)) = target.slice() {
                if let Some(text) = text {
                    say(conn, &text).map_err(WaitForStopReasonError::Connection)?;
                }
                return Ok(Event::TargetStopped(reason));
            }
            if conn.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = conn.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(_: &mut Session<'a>) -> Result<Option<Reason>, Infallible> {
        Ok(Some(Reason::Signal(Signal::SIGINT)))
    }
}

/// A line on the debugger's console, which it shows while the program runs.
fn say<C: Connection<Error = io::Error>>(conn: &mut C, text: &str) -> io::Result<()> {
    let mut packet = String::from("O");
    for byte in text.bytes().chain(*b"\n") {
        let _ = write!(packet, "{byte:02x}");
    }
    let sum = packet.bytes().fold(0u8, u8::wrapping_add);
    conn.write_all(format!("${packet}#{sum:02x}").as_bytes())?;
    conn.flush()
}
