// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who looks on while instructions run.

use crate::Cycles;

/// How wide a memory access is. A 20-bit operand is two word accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Word,
}

impl Width {
    /// Bytes moved.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Word => 2,
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
    /// Into a subroutine.
    Call {
        /// Its first instruction.
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

    /// An instruction at `pc` has run in `cycles`; `sp` is the stack pointer behind it.
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow);

    /// The instruction at `pc` moves `value` from or to `addr` in cycle `at`.
    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles);
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
