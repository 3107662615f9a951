// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the Armv7E-M core sees of its machine.

use crate::processor::boxed;
use crate::{Cycles, Fault, Width};

/// Registers of the system control block that instructions and exceptions of the core itself depend
/// on. They belong to the machine, which lets programs read and write them; the core changes FPCCR
/// and FPCAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Scb {
    /// Vector table offset register.
    pub vtor: u32,
    /// Configuration and control register: see [`ccr`].
    pub ccr: u32,
    /// Coprocessor access control register; CP10 (bits 21:20) gives the floating-point unit.
    pub cpacr: u32,
    /// Floating-point context control register: see [`fpccr`].
    pub fpccr: u32,
    /// Floating-point context address register.
    pub fpcar: u32,
    /// Floating-point default status control register.
    pub fpdscr: u32,
}

impl Default for Scb {
    /// Values at reset of a Cortex-M4 (Armv7-M ARM B3.2; TRM r0p1 table 4-1): STKALIGN, ASPEN and LSPEN set.
    fn default() -> Self {
        Self {
            vtor: 0,
            ccr: ccr::STKALIGN,
            cpacr: 0,
            fpccr: fpccr::ASPEN | fpccr::LSPEN,
            fpcar: 0,
            fpdscr: 0,
        }
    }
}

/// Bits of the configuration and control register.
pub mod ccr {
    bits! { u32:
        NONBASETHRDENA 0 "An exception may return to Thread mode with others active.",
        USERSETMPEND 1 "Unprivileged programs may write STIR.",
        UNALIGN_TRP 3 "Unaligned word and halfword accesses trap.",
        DIV_0_TRP 4 "Division by zero traps.",
        BFHFNMIGN 8 "Precise data faults are ignored at priority -1 and -2.",
        STKALIGN 9 "Exception entry aligns the stack to eight bytes.",
    }
}

/// Bits of the floating-point context control register.
pub mod fpccr {
    bits! { u32:
        LSPACT 0 "Lazy state preservation is pending.",
        USER 1 "The privilege of the preserved context: unprivileged.",
        THREAD 3 "The mode it was allocated in: Thread.",
        HFRDY 4 "HardFault could have been pending then.",
        MMRDY 5 "MemManage could have been.",
        BFRDY 6 "BusFault could have been.",
        MONRDY 8 "DebugMonitor could have been.",
        LSPEN 30 "State is preserved lazily.",
        ASPEN 31 "CONTROL.FPCA is set by floating-point instructions.",
    }
}

/// Memory and peripherals as the CPU sees them.
///
/// Accesses are aligned: the core splits those that are not as the Cortex-M4 does (TRM r0p1, load/store
/// timings). `at` is the number of cycles completed before the cycle of the access: a load of two
/// cycles that starts at `c` reads at `c + 1`, a store into the write buffer writes at `c`.
pub trait Bus {
    /// Whether [`fetched_at`](Self::fetched_at) and [`stall`](Self::stall) are called.
    const WAITS: bool = false;

    /// Reads 8, 16 or 32 bits, zero-extended, at an aligned address.
    ///
    /// # Errors
    /// A fault ends the instruction; the core adds its program counter.
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault>;

    /// Writes the low 8, 16 or 32 bits at an aligned address.
    ///
    /// # Errors
    /// A fault ends the instruction; the core adds its program counter.
    fn write(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault>;

    /// A read of plain memory, or of a register that is as plain: in bounds, without effect, and not
    /// to be told apart from [`read`](Self::read) except by its speed. `None`, which is always right,
    /// has the core call `read`.
    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, at: Cycles) -> Option<u32> {
        let _ = (addr, width, at);
        None
    }

    /// A write to plain memory or to a register that leads to nothing else, or false, and nothing is
    /// written.
    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> bool {
        let _ = (addr, width, value, at);
        false
    }

    /// One instruction halfword at an even address. Called when an instruction is decoded: every time
    /// where [`cacheable`](Self::cacheable) is false, once until invalidated where it is true.
    ///
    /// # Errors
    /// Where there is no code.
    fn fetch(&mut self, addr: u32) -> Result<u16, Fault>;

    /// Whether instructions at `addr` may be kept decoded until `Cpu::invalidate`: true for memory
    /// that plain stores cannot change. Cycles of other code are counted in `Cpu::cycles_uncached`.
    fn cacheable(&self, addr: u32) -> bool;

    /// The cycle at which [`run`](crate::thumb::Cpu::run) stops; checked before every instruction.
    /// An access may lower it (an event was rescheduled, an interrupt raised) to stop the loop
    /// behind the instruction that made it.
    fn deadline(&self) -> Cycles;

    /// The registers of the system control block that the core reads.
    fn scb(&self) -> &Scb;

    /// The same, to change.
    fn scb_mut(&mut self) -> &mut Scb;

    /// Wait states of fetching the instruction of `bytes` at `pc`; called for each instruction
    /// executed, in order, if [`WAITS`](Self::WAITS).
    #[inline(always)]
    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        let _ = (pc, bytes);
        0
    }

    /// The same, told the cycle at which the instruction began: for memory that reads ahead.
    #[inline(always)]
    fn fetched_at(&mut self, pc: u32, bytes: u32, at: Cycles) -> Cycles {
        let _ = at;
        self.fetched(pc, bytes)
    }

    /// Wait states of the data accesses since the last call; added to the instruction.
    #[inline(always)]
    fn stall(&mut self) -> Cycles {
        0
    }
}

/// Code at 0 and RAM at 0x2000_0000, a megabyte each: the memory of tests and benchmarks, built the way
/// a machine builds its own, so that a benchmark pays what a machine pays.
#[derive(Clone)]
pub struct FlatBus {
    code: Box<[u8; Self::BYTES]>,
    ram: Box<[u8; Self::BYTES]>,
    /// The cycle at which a run stops.
    pub deadline: Cycles,
    /// The system control block.
    pub scb: Scb,
}

impl FlatBus {
    /// Of the code, and of the RAM.
    pub const BYTES: usize = 1 << 20;
    /// Where the RAM begins.
    pub const RAM: u32 = 0x2000_0000;

    /// Memory of zeros without a deadline.
    #[must_use]
    pub fn new() -> Self {
        Self { code: boxed(0), ram: boxed(0), deadline: Cycles::MAX, scb: Scb::default() }
    }

    /// The code's bytes, to change; have the CPU forget what it decoded.
    pub fn code_mut(&mut self) -> &mut [u8; Self::BYTES] {
        &mut self.code
    }

    /// Bytes of the RAM, all of them.
    #[must_use]
    pub fn ram(&self) -> &[u8; Self::BYTES] {
        &self.ram
    }

    /// The RAM's bytes, to change.
    pub fn ram_mut(&mut self) -> &mut [u8; Self::BYTES] {
        &mut self.ram
    }
}

impl Default for FlatBus {
    fn default() -> Self {
        Self::new()
    }
}

impl Bus for FlatBus {
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        self.read_plain(addr, width, at).ok_or_else(|| Fault::unmapped(addr))
    }

    fn write(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        if self.write_plain(addr, width, value, at) {
            return Ok(());
        }
        Err(if addr >> 20 == 0 { Fault::read_only(addr) } else { Fault::unmapped(addr) })
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u32> {
        let memory = match addr >> 20 {
            0x200 => &self.ram,
            0 => &self.code,
            _ => return None,
        };
        let i = addr as usize & (Self::BYTES - 1);
        Some(match width {
            Width::W8 => u32::from(memory[i]),
            Width::W16 => {
                let i = i & !1;
                u32::from(u16::from_le_bytes([memory[i], memory[i + 1]]))
            }
            Width::W32 => {
                let i = i & !3;
                u32::from_le_bytes([memory[i], memory[i + 1], memory[i + 2], memory[i + 3]])
            }
        })
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u32, _at: Cycles) -> bool {
        if addr >> 20 != 0x200 {
            return false;
        }
        let i = addr as usize & (Self::BYTES - 1);
        let bytes = value.to_le_bytes();
        match width {
            Width::W8 => self.ram[i] = bytes[0],
            Width::W16 => {
                let i = i & !1;
                self.ram[i..i + 2].copy_from_slice(&bytes[..2]);
            }
            Width::W32 => {
                let i = i & !3;
                self.ram[i..i + 4].copy_from_slice(&bytes);
            }
        }
        true
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        match self.read_plain(addr, Width::W16, 0) {
            Some(value) => Ok(value as u16),
            None => Err(Fault::not_code(addr)),
        }
    }

    fn cacheable(&self, addr: u32) -> bool {
        addr >> 20 == 0
    }

    #[inline]
    fn deadline(&self) -> Cycles {
        self.deadline
    }

    #[inline]
    fn scb(&self) -> &Scb {
        &self.scb
    }

    #[inline]
    fn scb_mut(&mut self) -> &mut Scb {
        &mut self.scb
    }
}
