// SPDX-License-Identifier: MIT OR Apache-2.0
//! The AVR CPU of the ATmega128: AVRe with multiplier, 16-bit program counter, ELPM.

mod access;
mod bus;
mod dataflow;
mod exec;
mod flags;
mod insn;
mod op;
mod text;
mod timing;

use std::ops::Range;

pub use bus::{Bus, DATA_SPACE, FlatBus};
pub use dataflow::dataflow;
use exec::{BREAK, BREAKPOINT, FAULT, SLEEP, STATUS, Table};
use flags::Flags;
use insn::PC_MASK;
pub use insn::{Insn, Mnemonic, Operand, Step, decode};
use op::Op;
pub use timing::Timing;

use crate::breakpoints::{Breakpoints, MARK};
use crate::processor::boxed;
use crate::{Access, Cycles, Fault, Flow, Observer, Width};

const LIKELY: &[(u16, [u16; crate::threading::MOST])] = include!("likely.in");

const SLOTS: usize = 1 << 16;

/// Cycles from the end of the interrupted instruction to the first of the vector (ATmega128 datasheet 2467X,
/// "Interrupt Response Time"); four more from sleep are the machine's.
const INTERRUPT_CYCLES: u32 = 4;

/// Bits of the status register, SREG.
pub mod sreg {
    bits! { u8:
        C 0 "Carry.",
        Z 1 "Zero.",
        N 2 "Negative.",
        V 3 "Two's complement overflow.",
        S 4 "Sign: N xor V.",
        H 5 "Half carry.",
        T 6 "Bit copy storage.",
        I 7 "Global interrupt enable.",
    }
}

/// The core's own registers in the I/O space.
pub mod io {
    /// Bit 0 is the highest bit of addresses of ELPM and SPM.
    pub const RAMPZ: u8 = 0x3B;
    /// Stack pointer, low byte.
    pub const SPL: u8 = 0x3D;
    /// Stack pointer, high byte.
    pub const SPH: u8 = 0x3E;
    /// I/O address of the status register.
    pub const SREG: u8 = 0x3F;
    /// Where the I/O space lies in the data space.
    pub const BASE: u16 = 0x20;
}

/// Why [`Cpu::run`] came back. Each time the program counter is at the next instruction to run, except after
/// a fault, where it is at the instruction that faulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Deadline,
    /// The last instruction set I, or was RETI.
    Status,
    /// The last instruction was SLEEP. Whether it does anything is the machine's question (MCUCR.SE).
    Sleep,
    /// The last instruction was BREAK, which does nothing without a debugger.
    Break,
    /// A [breakpoint](Cpu::set_breakpoints) is at the program counter.
    Breakpoint,
    /// The instruction at the program counter cannot run. Cycles are those before it.
    Fault(Fault),
}

/// Everything that a snapshot of the core keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct State {
    pub r: [u8; 32],
    /// Program counter, in words.
    pub pc: u16,
    pub sp: u16,
    /// I/O address of the status register.
    pub sreg: u8,
    pub rampz: u8,
    pub cycles: Cycles,
    /// Whether the next instruction runs before any interrupt.
    pub interrupt_shadow: bool,
}

/// The number of the handler that runs the instruction at `pc`, in words: what `likely.in` is counted in.
///
/// # Errors
/// If there is no such instruction.
#[doc(hidden)]
pub fn handler(pc: u32, mut fetch: impl FnMut(u32) -> Result<u16, Fault>) -> Result<usize, Fault> {
    Ok(op::lower(&decode(pc, &mut fetch)?, false).kind())
}

/// Processor of the AVR: its state and decoded program.
pub struct Cpu {
    pub r: [u8; 32],
    flags: Flags,
    /// I and T, as in SREG.
    control: u8,
    pub rampz: u8,
    /// Stack pointer: the next byte that a push writes.
    pub sp: u16,
    /// Program counter, in words.
    pub pc: u16,
    interrupt_shadow: bool,
    pub cycles: Cycles,
    timing: Timing,
    /// Why the last handler returned [`FAULT`].
    fault: Option<Fault>,
    breakpoints: Breakpoints,
    /// Only one instruction is wanted, breakpoint or not.
    single: bool,
    /// Up to this cycle handlers follow each other.
    threaded_until: Cycles,
    /// [`Op`]s by word address; zero is "not decoded".
    cache: Box<[u32; SLOTS]>,
}

impl Cpu {
    /// A CPU with all registers zero.
    #[must_use]
    pub fn new(timing: Timing) -> Self {
        Self {
            r: [0; 32],
            flags: Flags::of(0),
            control: 0,
            rampz: 0,
            sp: 0,
            pc: 0,
            interrupt_shadow: false,
            cycles: 0,
            timing,
            fault: None,
            breakpoints: Breakpoints::default(),
            single: false,
            threaded_until: 0,
            cache: boxed(0),
        }
    }

    /// Value that the status register has.
    #[must_use]
    pub fn sreg(&self) -> u8 {
        self.flags.bits() | self.control
    }

    /// Changes the status register from outside. Whether an interrupt may be taken is known anew.
    pub fn set_sreg(&mut self, value: u8) {
        self.flags = Flags::of(value);
        self.control = value & (sreg::I | sreg::T);
        self.interrupt_shadow = false;
    }

    snapshots!({ r, pc, sp, rampz, cycles, interrupt_shadow } sreg set_sreg);

    /// As a reset leaves it: only what the manual says is reset. The register file keeps its contents.
    pub fn reset(&mut self) {
        self.pc = 0;
        self.sp = 0;
        self.rampz = 0;
        self.set_sreg(0);
    }

    /// Whether an interrupt may be taken now: I is set, and the last instruction is none behind which one
    /// more always runs (SEI, RETI). Where this is false and I set, [`step`](Self::step) once and ask again.
    #[must_use]
    pub fn accepts_interrupts(&self) -> bool {
        self.control & sreg::I != 0 && !self.interrupt_shadow
    }

    /// Whether I is set.
    #[must_use]
    pub fn interrupts_enabled(&self) -> bool {
        self.control & sreg::I != 0
    }

    runs! {
        /// Runs until the deadline or a breakpoint, or until an instruction sets I, sleeps, breaks or faults.
    }

    fn start(&mut self) -> Result<u32, Exit> {
        self.interrupt_shadow = false;
        Ok(self.pc.into())
    }

    fn rest(&mut self, pc: u32) -> Exit {
        self.pc = pc as u16;
        Exit::Deadline
    }

    #[inline(always)]
    fn ends(&self, next: u32) -> bool {
        next > PC_MASK
    }

    /// The instruction at `pc`, if it is to follow the last at once.
    #[inline(always)]
    fn upcoming<B: Bus>(&self, _: &B, pc: u32) -> Option<Op> {
        (self.cycles < self.threaded_until).then(|| Op(self.cache[pc as usize & (SLOTS - 1)]))
    }

    #[inline(always)]
    fn dispatch<B: Bus, O: Observer>(&mut self, bus: &mut B, observer: &mut O, pc: u32) -> u32 {
        let op = Op(self.cache[pc as usize & (SLOTS - 1)]);
        Table::<B, O>::HANDLERS[op.kind()](self, bus, observer, op, pc)
    }

    #[cold]
    fn halt<B: Bus>(&mut self, bus: &mut B, next: u32) -> Exit {
        self.pc = next as u16;
        if next & FAULT != 0 {
            let pc = next & PC_MASK;
            let fault = self.fault.take().expect("the handler that stopped left its reason");
            return Exit::Fault(fault.in_decoded(decode(pc, |addr| bus.fetch(addr))));
        }
        if next & SLEEP != 0 {
            Exit::Sleep
        } else if next & BREAK != 0 {
            Exit::Break
        } else if next & BREAKPOINT != 0 {
            Exit::Breakpoint
        } else {
            debug_assert!(next & STATUS != 0);
            Exit::Status
        }
    }

    /// Takes the interrupt whose vector is at word address `vector`: pushes the program counter, clears I,
    /// and spends the entry cycles. Whether it may be taken is the machine's question: see
    /// [`accepts_interrupts`](Self::accepts_interrupts).
    ///
    /// # Errors
    /// If the stack cannot be written.
    pub fn interrupt<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        vector: u16,
    ) -> Result<(), Fault> {
        let pc = u32::from(self.pc);
        exec::push_address(self, bus, observer, pc, self.pc, self.cycles + 2)
            .map_err(|fault| fault.at_pc(2 * pc))?;
        self.control &= !sreg::I;
        self.interrupt_shadow = false;
        self.pc = vector;
        self.cycles += Cycles::from(INTERRUPT_CYCLES);
        if O::INSTRUCTIONS {
            let flow = Flow::Interrupt { vector: 2 * u32::from(vector) };
            let sp = DATA_SPACE | u32::from(self.sp);
            observer.instruction(2 * pc, sp, INTERRUPT_CYCLES, flow);
        }
        Ok(())
    }

    /// Forgets decoded instructions that touch the bytes of `range` of the program space. Call it when flash
    /// changed.
    pub fn invalidate(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        // The word before may be a long instruction, or a skip over what is here.
        let first = ((range.start / 2).saturating_sub(1) as usize).min(SLOTS);
        let last = (range.end.div_ceil(2) as usize).min(SLOTS);
        self.cache[first..last].fill(0);
        self.mark(2 * first as u32..2 * last as u32);
    }

    fn unmark(&mut self, addr: u32) {
        if let Some(op) = self.cache.get_mut(addr as usize / 2) {
            *op = 0;
        }
    }

    /// Puts the marks of the breakpoints in `range` into the cache. An instruction's byte address is even.
    fn mark(&mut self, range: Range<u32>) {
        for &addr in self.breakpoints.within(range).iter().filter(|a| **a & 1 == 0) {
            if let Some(op) = self.cache.get_mut(addr as usize / 2) {
                *op = MARK;
            }
        }
    }
}
