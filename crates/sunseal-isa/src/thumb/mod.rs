// SPDX-License-Identifier: MIT OR Apache-2.0
//! Armv7E-M as the Cortex-M4F has it: Thumb-2, the DSP extension, the single-precision floating-point unit,
//! and the core's half of exceptions (stacking, banked stack pointers, lazy floating-point state).
//!
//! The nested vectored interrupt controller, SysTick, DWT and the system control space are the
//! machine's. It calls [`Cpu::run`] until an [`Exit`] is its business, and [`Cpu::enter`] and
//! [`Cpu::leave`] when it has decided about an exception.

mod alu;
mod bus;
mod dataflow;
mod exception;
mod execute;
mod fast;
mod float;
mod insn;
mod run;
mod text;
mod timing;

pub use bus::{Bus, FlatBus, Scb, ccr, fpccr};
pub use dataflow::dataflow;
pub use float::fpscr;
pub use insn::*;
pub use timing::Timing;

use crate::breakpoints::Breakpoints;
use crate::{Cycles, Fault};

const LIKELY: &[(u16, [u16; crate::threading::MOST])] = include!("likely.in");

/// Number of the stack pointer, R13.
pub const SP: usize = 13;
/// Number of the link register, R14.
pub const LR: usize = 14;
/// Number of the program counter, R15.
pub const PC: usize = 15;

/// Bits of the program status register.
pub mod psr {
    bits! { u32:
        N 31 "Negative.",
        Z 30 "Zero.",
        C 29 "Carry.",
        V 28 "Overflow.",
        Q 27 "Saturation happened.",
        T 24 "Thumb state.",
    }
    /// Greater-or-equal flags of parallel additions and subtractions.
    pub const GE: u32 = 0xF << 16;
    /// State of an IT block: bits 1:0 are at 26:25, bits 7:2 at 15:10.
    pub const IT: u32 = 0x0600_FC00;
    /// Number of the exception that runs; zero in Thread mode.
    pub const IPSR: u32 = 0x1FF;
    /// What a program sees as APSR.
    pub const APSR: u32 = N | Z | C | V | Q | GE;
}

/// Bits of the special register CONTROL.
pub mod control {
    bits! { u32:
        NPRIV 0 "Thread mode is unprivileged.",
        SPSEL 1 "Thread mode uses the process stack.",
        FPCA 2 "A floating-point context is active.",
    }
}

/// Which UsageFault an instruction raises: the bit of UFSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Usage {
    Undefined = 0,
    /// INVSTATE: a branch that leaves Thumb state.
    InvalidState = 1,
    /// INVPC: an impossible EXC_RETURN.
    InvalidPc = 2,
    /// NOCP: a coprocessor that is absent or not enabled in CPACR.
    NoCoprocessor = 3,
    /// UNALIGNED: an unaligned access where the instruction or CCR.UNALIGN_TRP forbids it.
    Unaligned = 8,
    /// DIVBYZERO: a division by zero with CCR.DIV_0_TRP.
    DivideByZero = 9,
}

impl Usage {
    /// The bit of the UsageFault status register, counted from the UFSR's bit 0 (CFSR bit 16).
    #[must_use]
    pub const fn ufsr(self) -> u32 {
        1 << self as u8
    }
}

/// What is accessed: the address, how much of it, and when.
type Place = (u32, crate::Width, Cycles);

/// Why [`Cpu::run`] came back. The program counter is at the next instruction to run, except where said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Deadline,
    /// A [breakpoint](Cpu::set_breakpoints) is at the program counter.
    Breakpoint,
    /// The last instruction changed PRIMASK, BASEPRI, FAULTMASK or CONTROL.
    Status,
    Wfi,
    Wfe,
    Sev,
    /// SVC with its number.
    Svc(u8),
    /// BKPT with its number; the program counter is at the BKPT, and it has cost nothing.
    Bkpt(u8),
    /// A branch to this EXC_RETURN in Handler mode. The program counter is not restored yet: answer with
    /// [`Cpu::leave`], or with [`Cpu::enter`] as [`Entry::TailChain`].
    Return(u32),
    /// The instruction at the program counter raises a UsageFault; it has done and cost nothing.
    Usage {
        cause: Usage,
        /// The address accessed, or the instruction's own.
        addr: u32,
    },
    /// The instruction at the program counter cannot run. Cycles are those before it; memory may
    /// hold its first writes.
    Fault(Fault),
}

/// How an exception is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// From a program: the context is stacked.
    Fresh,
    /// Straight behind another handler whose EXC_RETURN this is: the stack stays.
    TailChain(u32),
    /// A higher exception arrived while another was being stacked ([`Cpu::enter`] as fresh has just
    /// happened): only the vector is another.
    Late,
}

/// Everything that a snapshot of the core keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct State {
    /// R0 to R15; R13 is the stack pointer in use.
    pub r: [u32; 16],
    /// The stack pointer not in use.
    pub sp_other: u32,
    /// APSR, IPSR and EPSR.
    pub psr: u32,
    pub primask: u32,
    pub basepri: u32,
    pub faultmask: u32,
    pub control: u32,
    pub s: [u32; 32],
    /// Floating-point status and control.
    pub fpscr: u32,
    /// Whether the local exclusive monitor is in its exclusive state. It holds no address (TRM r0p1 3.8).
    pub exclusive: bool,
    pub cycles: Cycles,
    /// How many of them ran code that is not [cacheable](Bus::cacheable).
    pub cycles_uncached: Cycles,
    /// What the pipeline remembers of the instructions before.
    pub pipeline: Pipeline,
}

/// What the pipeline remembers of the instructions before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pipeline {
    /// Registers that the last instruction wrote, and how.
    pub recent: u32,
    /// Floating-point registers that the last instruction computed.
    pub float_result: u32,
    /// When a division of the floating-point unit ends.
    pub float_ready: Cycles,
}

/// The number of the handler that runs the instruction at `pc`: what `likely.in` is counted in.
///
/// # Errors
/// If there is no such instruction.
#[doc(hidden)]
pub fn handler(
    timing: &Timing,
    pc: u32,
    context: Context,
    fetch: impl FnMut(u32) -> Result<u16, Fault>,
) -> Result<usize, Undecoded> {
    Ok(fast::lower(&decode(pc, context, fetch)?, pc, timing, || 0).kind())
}

/// What `likely.in` counts instructions of an IT block as, as far as what is behind them goes: those that others of
/// the block follow, and the last.
#[doc(hidden)]
pub const IN_BLOCK: [usize; 2] = [fast::kind::IT as usize, fast::kind::IT_END as usize];

/// The CPU. Between calls the public fields are the registers; while instructions run, flags and the
/// program counter are elsewhere.
pub struct Cpu {
    /// R0 to R15; R13 is the stack pointer in use.
    pub r: [u32; 16],
    /// APSR, IPSR and EPSR.
    pub psr: u32,
    pub primask: u32,
    /// Bits 7:0, of which the machine says how many exist: see [`basepri_mask`](Self::basepri_mask).
    pub basepri: u32,
    pub faultmask: u32,
    pub control: u32,
    pub s: [u32; 32],
    /// Floating-point status and control.
    pub fpscr: u32,
    /// The priority bits that the device implements, at the top of the byte: what MSR BASEPRI keeps.
    pub basepri_mask: u32,
    pub cycles: Cycles,
    /// How many of them ran code that is not [cacheable](Bus::cacheable): RAM, on most devices.
    pub cycles_uncached: Cycles,
    /// The stack pointer not in use.
    sp_other: u32,
    /// The local exclusive monitor.
    exclusive: bool,
    timing: Timing,
    /// N, Z, C, V, Q and GE while the loop runs; between runs `psr` has them.
    flags: alu::Flags,
    /// ITSTATE, the place in an IT block, while `run` executes instructions; between runs `psr` has it.
    it: u8,
    recent: u32,
    float_result: u32,
    float_ready: Cycles,
    /// What `timing` says of loads and stores, as numbers.
    pair_gain: u32,
    store_gain: u32,
    address_cost: u32,
    store_wait: u32,
    /// What it says of unaligned 32-bit instructions.
    rows: [[u8; run::ROWS]; 2],
    /// Why the last handler ended the loop, and whether its instruction has not run.
    stop: Option<Exit>,
    failed: bool,
    /// Only one instruction is wanted, breakpoint or not.
    single: bool,
    /// Up to this cycle handlers follow each other.
    threaded_until: Cycles,
    breakpoints: Breakpoints,
    /// Decoded instructions of the region at hand, and of others.
    slots: run::Slots,
    region: u32,
    parked: Vec<(u32, run::Slots)>,
    blocks: run::Blocks,
    /// Decoded forms for the general handler, and one that must not be kept.
    insns: Vec<Insn>,
    passing: Option<Insn>,
}

impl Cpu {
    /// A CPU in Thread mode with all registers zero and T set. Reset is the machine's: it loads R13 and
    /// R15 from the vector table.
    #[must_use]
    pub fn new(timing: Timing) -> Self {
        Self {
            r: [0; 16],
            psr: psr::T,
            primask: 0,
            basepri: 0,
            faultmask: 0,
            control: 0,
            s: [0; 32],
            fpscr: 0,
            basepri_mask: 0xFF,
            cycles: 0,
            cycles_uncached: 0,
            sp_other: 0,
            exclusive: false,
            timing,
            flags: alu::Flags::default(),
            it: 0,
            recent: 0,
            float_result: 0,
            float_ready: 0,
            pair_gain: timing.pairs.into(),
            store_gain: (timing.pairs && timing.stores_pair).into(),
            address_cost: timing.address_stall.into(),
            store_wait: timing.load_waits_for_store.into(),
            rows: run::rows(&timing),
            stop: None,
            failed: false,
            single: false,
            threaded_until: 0,
            breakpoints: Breakpoints::default(),
            slots: run::empty_slots(),
            region: 0,
            parked: Vec::new(),
            blocks: run::empty_blocks(),
            insns: Vec::new(),
            passing: None,
        }
    }

    snapshots!({
        r, sp_other, psr, primask, basepri, faultmask, control, s, fpscr, exclusive, cycles, cycles_uncached
    } pipeline set_pipeline);

    fn pipeline(&self) -> Pipeline {
        let Self { recent, float_result, float_ready, .. } = *self;
        Pipeline { recent, float_result, float_ready }
    }

    fn set_pipeline(&mut self, pipeline: Pipeline) {
        let Pipeline { recent, float_result, float_ready } = pipeline;
        (self.recent, self.float_result, self.float_ready) = (recent, float_result, float_ready);
    }

    /// The number of the exception that runs; zero in Thread mode.
    #[must_use]
    pub fn exception(&self) -> u32 {
        self.psr & psr::IPSR
    }

    /// Whether the code that runs is privileged.
    #[must_use]
    pub fn privileged(&self) -> bool {
        self.exception() != 0 || self.control & control::NPRIV == 0
    }

    /// Whether R13 is the process stack pointer.
    fn on_process_stack(&self) -> bool {
        self.control & control::SPSEL != 0 && self.exception() == 0
    }

    /// The main stack pointer.
    #[must_use]
    pub fn msp(&self) -> u32 {
        if self.on_process_stack() { self.sp_other } else { self.r[SP] }
    }

    /// The process stack pointer.
    #[must_use]
    pub fn psp(&self) -> u32 {
        if self.on_process_stack() { self.r[SP] } else { self.sp_other }
    }

    /// Sets the main stack pointer.
    pub fn set_msp(&mut self, value: u32) {
        let active = !self.on_process_stack();
        *(if active { &mut self.r[SP] } else { &mut self.sp_other }) = value & !3;
    }

    /// Sets the process stack pointer.
    pub fn set_psp(&mut self, value: u32) {
        let active = self.on_process_stack();
        *(if active { &mut self.r[SP] } else { &mut self.sp_other }) = value & !3;
    }

    /// Changes the mode or CONTROL.SPSEL, with the stack pointers in their right places.
    fn switch(&mut self, change: impl FnOnce(&mut Self)) {
        let (msp, psp) = (self.msp(), self.psp());
        change(self);
        (self.r[SP], self.sp_other) = if self.on_process_stack() { (psp, msp) } else { (msp, psp) };
    }

    /// Whether an interrupt of priority `priority` (the byte of its priority register) may be taken as far
    /// as PRIMASK, FAULTMASK and BASEPRI are concerned. What runs already is the machine's question.
    #[must_use]
    pub fn accepts_interrupts(&self, priority: u32) -> bool {
        self.primask & 1 == 0
            && self.faultmask & 1 == 0
            && (self.basepri == 0 || priority < self.basepri)
    }
}
