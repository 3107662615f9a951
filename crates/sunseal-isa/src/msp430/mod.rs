// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430 and MSP430X CPU: 20-bit registers and addresses, the whole instruction set.

mod access;
mod alu;
mod bus;
mod dataflow;
mod exec;
mod general;
mod insn;
mod op;
mod text;
mod timing;

use std::ops::Range;

use exec::{BREAKPOINT, FAULT, STATUS, Table};
use insn::MASK20;
pub use insn::{Condition, Insn, Mnemonic, Operand, Repeat, Size, decode, decode_for};
use op::Op;
pub use timing::{DaddOverflow, Family, Timing};

pub use bus::{Bus, FlatBus, PageKind, Width};
pub use dataflow::dataflow;

use crate::breakpoints::{Breakpoints, MARK};
use crate::processor::boxed;
use crate::{Access, Cycles, Fault, Flow, Observer};

const LIKELY: &[(u16, [u16; crate::threading::MOST])] = include!("likely.in");

/// One slot for each even address.
const SLOTS: usize = 1 << 19;

/// Number of the program counter, R0.
pub const PC: usize = 0;
/// Number of the stack pointer, R1.
pub const SP: usize = 1;
/// Number of the status register, R2.
pub const SR: usize = 2;

/// Bits of the status register.
pub mod sr {
    bits! { u32:
        C 0 "Carry.",
        Z 1 "Zero.",
        N 2 "Negative.",
        GIE 3 "General interrupt enable.",
        CPUOFF 4 "CPU off.",
        OSCOFF 5 "Oscillator off.",
        SCG0 6 "System clock generator 0 off.",
        SCG1 7 "System clock generator 1 off.",
        V 8 "Overflow.",
    }
    /// The bits whose change ends [`run`](super::Cpu::run) with [`Exit::Status`](super::Exit::Status).
    pub const STATUS: u32 = GIE | CPUOFF | OSCOFF | SCG0 | SCG1;
}

/// Why [`Cpu::run`] came back. Each time the program counter is at the next instruction to run, except
/// after a fault, where it is at the instruction that faulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Deadline,
    /// The last instruction changed GIE, CPUOFF, OSCOFF, SCG0 or SCG1.
    Status,
    /// A [breakpoint](Cpu::set_breakpoints) is at the program counter.
    Breakpoint,
    /// The instruction at the program counter cannot run. Cycles are those before it; memory may
    /// hold its first writes.
    Fault(Fault),
}

/// Everything that a snapshot of the core keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct State {
    /// R0 (PC) to R15, 20 bits each.
    pub r: [u32; 16],
    pub cycles: Cycles,
    /// How many of them ran code that is not [cacheable](Bus::cacheable).
    pub cycles_uncached: Cycles,
    /// Whether the next instruction runs before any interrupt.
    pub interrupt_shadow: bool,
}

/// The number of the handler that runs the instruction at `pc`: what `likely.in` is counted in.
///
/// # Errors
/// If there is no such instruction.
#[doc(hidden)]
pub fn handler(
    timing: &Timing,
    pc: u32,
    fetch: impl FnMut(u32) -> Result<u16, Fault>,
) -> Result<usize, Fault> {
    Ok(op::lower(&decode_for(timing.family, pc, fetch)?, pc, timing).kind())
}

/// Processor of the MSP430: its state and decoded program.
pub struct Cpu {
    /// R0 (PC) to R15, 20 bits each.
    pub r: [u32; 16],
    pub cycles: Cycles,
    /// How many of them ran code that is not [cacheable](Bus::cacheable): RAM, on most devices.
    pub cycles_uncached: Cycles,
    /// C, Z, N and V while the loop runs; between runs R2 has them.
    flags: alu::Flags,
    interrupt_shadow: bool,
    timing: Timing,
    /// The bits that registers and addresses have.
    mask: u32,
    /// Wait states of fetching the instruction that runs, already in `cycles`.
    fetch_waits: Cycles,
    /// Why the last handler returned [`FAULT`].
    fault: Option<Fault>,
    breakpoints: Breakpoints,
    /// Only one instruction is wanted, breakpoint or not.
    single: bool,
    /// Up to this cycle handlers follow each other.
    threaded_until: Cycles,
    /// [`Op`]s by half their address; zero is "not decoded". 8 MiB of address space, of which only
    /// touched pages exist.
    cache: Box<[[u64; 2]; SLOTS]>,
}

impl Cpu {
    /// A CPU with all registers zero.
    #[must_use]
    pub fn new(timing: Timing) -> Self {
        Self {
            r: [0; 16],
            cycles: 0,
            cycles_uncached: 0,
            flags: alu::Flags::default(),
            interrupt_shadow: false,
            timing,
            mask: timing.family.mask(),
            fetch_waits: 0,
            fault: None,
            breakpoints: Breakpoints::default(),
            single: false,
            threaded_until: 0,
            cache: boxed([0; 2]),
        }
    }

    snapshots!({ r, cycles, cycles_uncached, interrupt_shadow });

    /// Whether a maskable interrupt may be taken now: GIE is set, and the instruction that set it is
    /// not the last one. The CPU always runs the instruction behind EINT first (SLAU445I 1.3.4.1,
    /// note): where this is false and GIE set, [`step`](Self::step) once and ask again.
    #[must_use]
    pub fn accepts_interrupts(&self) -> bool {
        self.r[SR] & sr::GIE != 0 && !self.interrupt_shadow
    }

    runs! {
        /// Runs until the deadline, a breakpoint, a status change or a fault. CPUOFF is not looked at: while it is set,
        /// the machine does not call this.
    }

    fn rest(&mut self, pc: u32) -> Exit {
        self.r[PC] = pc;
        self.flags_to_status();
        Exit::Deadline
    }

    #[inline(always)]
    fn ends(&self, next: u32) -> bool {
        next > MASK20
    }

    #[inline(always)]
    fn flags_to_status(&mut self) {
        self.r[SR] = self.flags.onto(self.r[SR]);
    }

    #[inline(always)]
    fn flags_from_status(&mut self) {
        self.flags = alu::Flags::of(self.r[SR]);
    }

    fn start(&mut self) -> Result<u32, Exit> {
        self.interrupt_shadow = false;
        let pc = self.r[PC] & self.mask;
        if pc & 1 != 0 {
            return Err(Exit::Fault(Fault::odd_program_counter(pc).at_pc(pc)));
        }
        self.r[3] = 0;
        self.flags_from_status();
        Ok(pc)
    }

    /// The instruction at `pc`, its words waited for if it is decoded.
    #[inline(always)]
    fn slot<B: Bus>(&mut self, bus: &mut B, pc: u32) -> Op {
        let [head, data] = self.cache[(pc >> 1) as usize & (SLOTS - 1)];
        let op = Op { head, data };
        if B::WAITS && head != 0 {
            self.await_fetch(bus, pc, op);
        }
        op
    }

    /// The instruction at `pc`, if it is to follow the last at once.
    #[inline(always)]
    fn upcoming<B: Bus>(&mut self, bus: &mut B, pc: u32) -> Option<Op> {
        // Where fetches wait, they may draw the deadline near.
        let until = self.threaded_until;
        let until = if B::WAITS { until.min(bus.deadline()) } else { until };
        (self.cycles < until).then(|| self.slot(bus, pc))
    }

    #[inline(always)]
    fn dispatch<B: Bus, O: Observer>(&mut self, bus: &mut B, observer: &mut O, pc: u32) -> u32 {
        let op = self.slot(bus, pc);
        let handlers = &Table::<B, O>::HANDLERS;
        handlers[op.kind()](self, bus, observer, op, pc)
    }

    /// Waits for the words of the instruction that is about to run.
    #[inline(always)]
    fn await_fetch<B: Bus>(&mut self, bus: &mut B, pc: u32, op: Op) {
        if B::WAITS {
            self.fetch_waits = bus.fetched(pc, op.next().wrapping_sub(pc) & self.mask);
            self.cycles += self.fetch_waits;
        }
    }

    #[cold]
    fn halt<B: Bus>(&mut self, bus: &mut B, next: u32) -> Exit {
        self.flags_to_status();
        let pc = next & MASK20;
        self.r[PC] = pc;
        if next & FAULT != 0 {
            if B::WAITS {
                self.cycles -= std::mem::take(&mut self.fetch_waits);
                bus.stall();
            }
            let fault = self.fault.take().expect("the handler that stopped left its reason");
            let insn = decode_for(self.timing.family, pc, |addr| bus.fetch(addr));
            return Exit::Fault(fault.in_decoded(insn));
        }
        if next & BREAKPOINT != 0 {
            return Exit::Breakpoint;
        }
        debug_assert!(next & STATUS != 0);
        Exit::Status
    }

    /// Takes the interrupt whose handler's address lies at `vector`: pushes PC and SR, clears SR
    /// except SCG0, and spends the entry cycles. Whether it may be taken is the machine's question:
    /// see [`accepts_interrupts`](Self::accepts_interrupts).
    ///
    /// # Errors
    /// If the stack or the vector cannot be accessed.
    pub fn interrupt<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        vector: u32,
    ) -> Result<(), Fault> {
        let pc = self.r[PC];
        let cycles = self.timing.interrupt_cycles();
        // The last two cycles fetch from the handler.
        let at = self.cycles + cycles - 4;
        let above = self.r[SP].wrapping_sub(2) & self.mask;
        let below = self.r[SP].wrapping_sub(4) & self.mask;
        // PC bits 19:16 travel in the stored status (SLAU445I 4.2); a 16-bit PC has none.
        let status = self.r[SR] & 0x1FF | (pc >> 16 & 0xF) << 12;
        let mut access = |addr: u32, kind, value: u32, at| {
            let done = match kind {
                Access::Read => bus.read(addr, Width::Word, at),
                Access::Write => {
                    bus.write(addr, Width::Word, value as u16, at).map(|()| value as u16)
                }
            };
            let value = done.map_err(|fault| fault.at_pc(pc))?;
            if O::ACCESSES {
                observer.access(pc, addr, kind, crate::Width::W16, value.into(), at);
            }
            Ok(u32::from(value))
        };
        access(above, Access::Write, pc & 0xFFFF, at)?;
        access(below, Access::Write, status, at + 1)?;
        let handler = access(vector, Access::Read, 0, at + 2)?;
        self.r[SP] = below;
        self.r[SR] &= sr::SCG0;
        self.r[PC] = handler;
        self.interrupt_shadow = false;
        let cycles = cycles + if B::WAITS { bus.stall() } else { 0 };
        self.cycles += cycles;
        if O::INSTRUCTIONS {
            observer.instruction(pc, below, cycles as u32, Flow::Interrupt { vector });
        }
        Ok(())
    }

    /// Forgets decoded instructions that touch `range`. Call it when code memory changed.
    pub fn invalidate(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        // An instruction has up to four words.
        let first = (range.start.saturating_sub(6) >> 1) as usize;
        let last = (range.end.div_ceil(2) as usize).min(SLOTS);
        if last.saturating_sub(first) > SLOTS / 4 {
            // Fresh pages cost less than clearing those never touched.
            self.cache = boxed([0; 2]);
            self.mark(0..u32::MAX);
        } else if first < last {
            self.cache[first..last].fill([0; 2]);
            self.mark(2 * first as u32..2 * last as u32);
        }
    }

    fn unmark(&mut self, addr: u32) {
        if addr <= MASK20 {
            self.cache[addr as usize >> 1] = [0; 2];
        }
    }

    /// Puts the marks of the breakpoints in `range` into the cache. The program counter is even.
    fn mark(&mut self, range: Range<u32>) {
        for &addr in self.breakpoints.within(range).iter().filter(|a| **a <= MASK20 && **a & 1 == 0)
        {
            self.cache[addr as usize >> 1] = [0, MARK.into()];
        }
    }
}
