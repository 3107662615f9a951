// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a core sees of its machine.

use crate::processor::boxed;
use crate::{Cycles, Fault};

/// How wide an access of this CPU is: TI's byte and word. A 20-bit operand is two word accesses, low
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    Byte,
    Word,
}

impl Width {
    /// Number of bytes that an access of this size moves.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Word => 2,
        }
    }
}

impl From<Width> for crate::Width {
    fn from(width: Width) -> Self {
        match width {
            Width::Byte => Self::W8,
            Width::Word => Self::W16,
        }
    }
}

/// Memory and peripherals as the CPU sees them.
///
/// `at` is the number of MCLK cycles completed before the cycle in which the access happens: the
/// first cycle of an instruction that starts at cycle `c` is `at == c`, the write of an instruction
/// of `n` cycles happens `at == c + n - 1`.
pub trait Bus {
    /// Whether memory makes the CPU wait: then [`fetched`](Self::fetched) and [`stall`](Self::stall) are
    /// called. Where it is false they cost nothing.
    const WAITS: bool = false;

    /// Whether a plain store can change code that is kept decoded, as in FRAM: then the core forgets what a
    /// [`write`](Self::write) to a [cacheable](Self::cacheable) address touches. Such a bus answers false from
    /// [`write_plain`](Self::write_plain) for pages that instructions were [fetched](Self::fetch) from.
    /// Writes that are not the CPU's (DMA, a debugger) are the machine's to tell `Cpu::invalidate`.
    const STORES_CHANGE_CODE: bool = false;

    /// Wait states of fetching the instruction of `bytes` bytes at `pc`, called before its data accesses
    /// each time that it runs, decoded anew or not.
    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        let _ = (pc, bytes);
        0
    }

    /// Wait states of the data accesses since the last call. They lengthen the instruction; accesses behind them
    /// in the same instruction have an `at` without them.
    fn stall(&mut self) -> Cycles {
        0
    }

    /// Reads a byte (zero-extended) or a word.
    ///
    /// # Errors
    /// A fault ends the instruction; the core adds its program counter.
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault>;

    /// Writes a byte (the low one) or a word.
    ///
    /// # Errors
    /// A fault ends the instruction; the core adds its program counter.
    fn write(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault>;

    /// A read of plain memory: in bounds, without effect, and not to be told apart from [`read`](Self::read)
    /// except by its speed. `None`, which is always right, has the core call `read`. Words are at even
    /// addresses.
    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, at: Cycles) -> Option<u16> {
        let _ = (addr, width, at);
        None
    }

    /// A write to plain memory, or false, and nothing is written. Words are at even addresses.
    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> bool {
        let _ = (addr, width, value, at);
        false
    }

    /// The same for a word of a peripheral's register whose reading has no effect. Asked for addresses that
    /// are in the instruction.
    #[inline(always)]
    fn read_plain_register(&self, addr: u32, at: Cycles) -> Option<u16> {
        let _ = (addr, at);
        None
    }

    /// The same for one whose writing leads to nothing else.
    #[inline(always)]
    fn write_plain_register(&mut self, addr: u32, value: u16, at: Cycles) -> bool {
        let _ = (addr, value, at);
        false
    }

    /// One instruction word at an even address. Called when an instruction is decoded: every time
    /// where [`cacheable`](Self::cacheable) is false, once until invalidated where it is true.
    ///
    /// # Errors
    /// Where there is no code.
    fn fetch(&mut self, addr: u32) -> Result<u16, Fault>;

    /// Whether instructions at `addr` may be kept decoded until `Cpu::invalidate`: true for memory
    /// that plain stores cannot change. Cycles of other code are counted in `Cpu::cycles_uncached`.
    fn cacheable(&self, addr: u32) -> bool;

    /// Told before a PUSH, PUSHX, CALL or CALLA at `pc` reads an operand whose address is made of SP: it decrements SP
    /// too, and compilers, simulators and chips disagree on which comes first.
    fn stack_operand(&mut self, pc: u32, at: Cycles) {
        let _ = (pc, at);
    }

    /// The cycle at which [`run`](crate::msp430::Cpu::run) stops; checked before every instruction.
    /// An access may lower it (an event was rescheduled, an interrupt raised) to stop the loop
    /// behind the instruction that made it.
    fn deadline(&self) -> Cycles;
}

/// What a 256-byte page of a [`FlatBus`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PageKind {
    /// Nothing: every access faults.
    #[default]
    Unmapped,
    /// Read, written and executed; decoded anew at every execution.
    Ram,
    /// Read and executed; a store faults.
    Code,
}

/// One flat megabyte with a kind per 256-byte page: the memory of tests and benchmarks, built the
/// way a machine builds its own, so that a benchmark pays what a machine pays.
#[derive(Clone)]
pub struct FlatBus {
    memory: Box<[u8; Self::BYTES]>,
    pages: Box<[PageKind; Self::PAGES]>,
    /// The cycle at which a run stops.
    pub deadline: Cycles,
}

impl FlatBus {
    /// The 20-bit address space.
    pub const BYTES: usize = 1 << 20;
    const PAGES: usize = Self::BYTES >> 8;

    /// An empty address space without a deadline.
    #[must_use]
    pub fn new() -> Self {
        Self { memory: boxed(0), pages: boxed(PageKind::Unmapped), deadline: Cycles::MAX }
    }

    /// Makes the pages that `range` touches `kind`.
    pub fn map(&mut self, range: std::ops::Range<u32>, kind: PageKind) {
        for page in range.start >> 8..range.end.div_ceil(256) {
            self.pages[page as usize] = kind;
        }
    }

    /// Stores words from `addr` on, whatever the pages are.
    pub fn load(&mut self, addr: u32, words: &[u16]) {
        for (i, word) in words.iter().enumerate() {
            let at = addr as usize + 2 * i;
            self.memory[at..at + 2].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// The bytes of the whole address space.
    #[must_use]
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.memory
    }

    /// The bytes of the whole address space, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8; Self::BYTES] {
        &mut self.memory
    }

    /// The word at an even address, whatever the page is.
    #[must_use]
    pub fn word(&self, addr: u32) -> u16 {
        let i = (addr as usize) & (Self::BYTES - 2);
        u16::from_le_bytes([self.memory[i], self.memory[i + 1]])
    }

    #[inline]
    fn page(&self, addr: u32) -> PageKind {
        self.pages[(addr >> 8) as usize & (Self::PAGES - 1)]
    }
}

impl Default for FlatBus {
    fn default() -> Self {
        Self::new()
    }
}

impl Bus for FlatBus {
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        self.read_plain(addr, width, at).ok_or_else(|| Fault::unmapped(addr))
    }

    fn write(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault> {
        if self.write_plain(addr, width, value, at) {
            return Ok(());
        }
        Err(match self.page(addr) {
            PageKind::Unmapped => Fault::unmapped(addr),
            _ => Fault::read_only(addr),
        })
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u16> {
        if self.page(addr) == PageKind::Unmapped {
            return None;
        }
        Some(match width {
            Width::Byte => u16::from(self.memory[addr as usize & (Self::BYTES - 1)]),
            Width::Word => self.word(addr),
        })
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u16, _at: Cycles) -> bool {
        if self.page(addr) != PageKind::Ram {
            return false;
        }
        match width {
            Width::Byte => self.memory[addr as usize & (Self::BYTES - 1)] = value as u8,
            Width::Word => {
                let i = (addr as usize) & (Self::BYTES - 2);
                [self.memory[i], self.memory[i + 1]] = value.to_le_bytes();
            }
        }
        true
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        if self.page(addr) == PageKind::Unmapped {
            return Err(Fault::not_code(addr));
        }
        Ok(self.word(addr))
    }

    fn cacheable(&self, addr: u32) -> bool {
        self.page(addr) == PageKind::Code
    }

    #[inline]
    fn deadline(&self) -> Cycles {
        self.deadline
    }
}
