// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who looks on while instructions run.

use std::ops::Range;

use crate::Cycles;

/// How wide a memory access is, in bits, since each family's "word" is another. A 20-bit operand of an
/// MSP430X is two 16-bit accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    W8,
    W16,
    W32,
}

impl Width {
    /// Number of bytes that an access of this width moves.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::W8 => 1,
            Self::W16 => 2,
            Self::W32 => 4,
        }
    }
}

/// Which way a memory access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// From memory to the CPU.
    Read,
    /// From the CPU to memory.
    Write,
}

/// Where an instruction leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// To the instruction behind it (a jump not taken included).
    Next,
    /// Elsewhere, keeping no return address: jumps taken, branches, writes to the program counter.
    Jump,
    Call {
        target: u32,
    },
    /// Back from a subroutine.
    Return,
    /// Not an instruction: the CPU took an interrupt.
    Interrupt {
        /// The address the handler's address was read from.
        vector: u32,
    },
    /// Back from an interrupt handler.
    InterruptReturn,
}

/// Hears of each instruction and each data access. The constants remove what nobody listens to.
pub trait Observer {
    /// Whether [`instruction`](Self::instruction) is called.
    const INSTRUCTIONS: bool;
    /// Whether [`access`](Self::access) is called.
    const ACCESSES: bool;
    /// Whether [`result`](Self::result) is called.
    const RESULTS: bool = false;
    /// Whether a run loop is compiled for this very type, in the crate that runs it. It takes a while for
    /// all instruction sets and chips; others share one loop that calls them by a pointer.
    const OWN_LOOP: bool = false;
    /// Whether [`catch_up`](Self::catch_up) may have something to do.
    const LATE: bool = false;
    /// Whether [`ends`](Self::ends) may ever be true. Asked only of observers with a loop of their own.
    const ENDS: bool = false;
    /// Whether [`transfer`](Self::transfer) is called. Asked only of observers with a loop of their own.
    const TRANSFERS: bool = false;

    /// An instruction at `pc` has run in `cycles`; `sp` is the stack pointer behind it.
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow);

    /// The same; true leaves what is rare and long to [`catch_up`](Self::catch_up), which the core calls before
    /// anything else. So what is common needs no call, and a handler no stack.
    #[inline(always)]
    fn instruction_soon(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) -> bool {
        self.instruction(pc, sp, cycles, flow);
        false
    }

    /// The same, of one that made no data access: what accesses lead to need not be looked for.
    #[inline(always)]
    fn instruction_inside(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) -> bool {
        self.instruction_soon(pc, sp, cycles, flow)
    }

    /// Does what [`instruction_soon`](Self::instruction_soon) left, if it left something.
    fn catch_up(&mut self) {}

    /// Whether the run ends here, behind the instruction or the interrupt's entry that was told last.
    /// [`instruction_soon`](Self::instruction_soon) must have answered true of that instruction.
    #[inline(always)]
    fn ends(&self) -> bool {
        false
    }

    /// The instruction at `pc` moves `value` from or to `addr` in cycle `at`.
    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles);

    /// The instruction that runs puts `new` into register `register` (the core's numbering), which held
    /// `old`. Called before the [`instruction`](Self::instruction) it belongs to; not for the program
    /// counter, flags and stack pointer steps.
    fn result(&mut self, register: u8, old: u32, new: u32) {
        let _ = (register, old, new);
    }

    /// A DMA controller has moved the bytes at `from` to `to`, between two instructions.
    fn transfer(&mut self, from: Range<u32>, to: Range<u32>) {
        let _ = (from, to);
    }
}

/// Two observers of one run: both hear everything.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const INSTRUCTIONS: bool = A::INSTRUCTIONS || B::INSTRUCTIONS;
    const ACCESSES: bool = A::ACCESSES || B::ACCESSES;
    const RESULTS: bool = A::RESULTS || B::RESULTS;
    const OWN_LOOP: bool = A::OWN_LOOP && B::OWN_LOOP;
    const LATE: bool = A::LATE || B::LATE;
    const ENDS: bool = A::ENDS || B::ENDS;
    const TRANSFERS: bool = A::TRANSFERS || B::TRANSFERS;

    #[inline(always)]
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        if A::INSTRUCTIONS {
            self.0.instruction(pc, sp, cycles, flow);
        }
        if B::INSTRUCTIONS {
            self.1.instruction(pc, sp, cycles, flow);
        }
    }

    #[inline(always)]
    fn instruction_soon(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) -> bool {
        let first = A::INSTRUCTIONS && self.0.instruction_soon(pc, sp, cycles, flow);
        let second = B::INSTRUCTIONS && self.1.instruction_soon(pc, sp, cycles, flow);
        first || second
    }

    #[inline(always)]
    fn instruction_inside(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) -> bool {
        let first = A::INSTRUCTIONS && self.0.instruction_inside(pc, sp, cycles, flow);
        let second = B::INSTRUCTIONS && self.1.instruction_inside(pc, sp, cycles, flow);
        first || second
    }

    fn catch_up(&mut self) {
        if A::LATE {
            self.0.catch_up();
        }
        if B::LATE {
            self.1.catch_up();
        }
    }

    #[inline(always)]
    fn ends(&self) -> bool {
        A::ENDS && self.0.ends() || B::ENDS && self.1.ends()
    }

    #[inline(always)]
    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if A::ACCESSES {
            self.0.access(pc, addr, kind, width, value, at);
        }
        if B::ACCESSES {
            self.1.access(pc, addr, kind, width, value, at);
        }
    }

    #[inline(always)]
    fn result(&mut self, register: u8, old: u32, new: u32) {
        if A::RESULTS {
            self.0.result(register, old, new);
        }
        if B::RESULTS {
            self.1.result(register, old, new);
        }
    }

    fn transfer(&mut self, from: Range<u32>, to: Range<u32>) {
        if A::TRANSFERS {
            self.0.transfer(from.clone(), to.clone());
        }
        if B::TRANSFERS {
            self.1.transfer(from, to);
        }
    }
}

/// The calls of an [`Observer`] without its constants: what a pointer can point to.
trait Calls {
    /// See [`Observer::instruction`].
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow);
    /// See [`Observer::access`].
    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles);
    /// See [`Observer::result`].
    fn result(&mut self, register: u8, old: u32, new: u32);
}

impl<O: Observer> Calls for O {
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        Observer::instruction(self, pc, sp, cycles, flow);
    }

    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        Observer::access(self, pc, addr, kind, width, value, at);
    }

    fn result(&mut self, register: u8, old: u32, new: u32) {
        Observer::result(self, register, old, new);
    }
}

/// Any observer, by a pointer: one loop for all of them.
pub struct Pointed<'a> {
    calls: &'a mut dyn Calls,
    instructions: bool,
    accesses: bool,
    results: bool,
}

impl<'a> Pointed<'a> {
    /// Wraps an observer, to be called by a pointer.
    pub fn new<O: Observer>(observer: &'a mut O) -> Self {
        Self {
            calls: observer,
            instructions: O::INSTRUCTIONS,
            accesses: O::ACCESSES,
            results: O::RESULTS,
        }
    }
}

impl Observer for Pointed<'_> {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;
    const RESULTS: bool = true;

    #[inline(always)]
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        if self.instructions {
            self.calls.instruction(pc, sp, cycles, flow);
        }
    }

    #[inline(always)]
    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if self.accesses {
            self.calls.access(pc, addr, kind, width, value, at);
        }
    }

    #[inline(always)]
    fn result(&mut self, register: u8, old: u32, new: u32) {
        if self.results {
            self.calls.result(register, old, new);
        }
    }
}

/// Nobody looks on; costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    const INSTRUCTIONS: bool = false;
    const ACCESSES: bool = false;

    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}
