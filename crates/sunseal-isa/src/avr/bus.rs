// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an AVR core sees of its machine: a data space of bytes and a program space of words.

use crate::processor::boxed;
use crate::{Cycles, Fault};

/// Where the data space lies in addresses that name both spaces, in faults and to observers: the
/// convention of GNU tools. Flash is at 0.
pub const DATA_SPACE: u32 = 0x80_0000;

/// Memory and peripherals as the CPU sees them. The register file, SPL, SPH, SREG and RAMPZ are the
/// core's own and never asked for here.
///
/// `at` is the number of CPU cycles completed before the cycle in which the access happens: IN and OUT
/// of an instruction that starts at cycle `c` are at `c`, a load or store of two cycles is at `c + 1`.
/// What a write changes shows from `at + 1` on.
pub trait Bus {
    /// Reads a byte of the data space.
    ///
    /// # Errors
    /// A fault ends the instruction; the core adds its program counter.
    fn read(&mut self, addr: u16, at: Cycles) -> Result<u8, Fault>;

    /// Writes a byte of the data space.
    ///
    /// # Errors
    /// A fault ends the instruction; the core adds its program counter.
    fn write(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault>;

    /// A read of plain memory, not to be told apart from [`read`](Self::read) except by its speed.
    /// `None`, which is always right, has the core look at its own registers and then call `read`.
    /// Always `None` below 0x60.
    #[inline(always)]
    fn read_plain(&self, addr: u16) -> Option<u8> {
        let _ = addr;
        None
    }

    /// A write to plain memory, or false, and nothing is written. Always false below 0x60.
    #[inline(always)]
    fn write_plain(&mut self, addr: u16, value: u8) -> bool {
        let _ = (addr, value);
        false
    }

    /// The instruction word at a word address. Called once until invalidated.
    ///
    /// # Errors
    /// Where there is no code.
    fn fetch(&mut self, word_addr: u32) -> Result<u16, Fault>;

    /// A byte of the program space, for LPM and ELPM.
    ///
    /// # Errors
    /// Where there is no flash, or it cannot be read now.
    fn program_byte(&mut self, byte_addr: u32, at: Cycles) -> Result<u8, Fault>;

    /// SPM at byte address `pc`, with the byte address in RAMPZ and Z and the word in R1:R0. What it does is the
    /// machine's.
    ///
    /// # Errors
    /// Where it cannot be done.
    fn spm(&mut self, pc: u32, byte_addr: u32, word: u16, at: Cycles) -> Result<(), Fault>;

    /// Restarts the watchdog, as instruction WDR does.
    fn watchdog_reset(&mut self, at: Cycles);

    /// How many cycles the CPU is halted behind the instruction whose [`write`](Self::write) was the
    /// last call (the EEPROM does that); asked once for each such write.
    #[inline(always)]
    fn stall(&mut self) -> u32 {
        0
    }

    /// The cycle at which [`run`](super::Cpu::run) stops; checked before every instruction. An access
    /// may lower it to stop the loop behind the instruction that made it.
    fn deadline(&self) -> Cycles;
}

/// Flash, static memory and registers that only remember, without a machine around them: the memory of
/// tests and benchmarks.
#[derive(Clone)]
pub struct FlatBus {
    flash: Box<[u16; Self::FLASH_WORDS]>,
    data: Box<[u8; 1 << 16]>,
    /// The last address of static memory, which begins at [`RAM_START`](Self::RAM_START).
    pub ram_end: u16,
    /// The cycle at which a run stops.
    pub deadline: Cycles,
    /// What SPM was asked for: address and word.
    pub spm: Vec<(u32, u16)>,
    /// How often WDR ran.
    pub watchdog_resets: u32,
}

impl FlatBus {
    /// Words of the program memory, 128 KB.
    pub const FLASH_WORDS: usize = 1 << 16;
    /// Behind the registers of an ATmega128.
    pub const RAM_START: u16 = 0x100;

    /// Erased flash, zeros in memory, no deadline.
    #[must_use]
    pub fn new() -> Self {
        Self {
            flash: boxed(0xFFFF),
            data: boxed(0),
            ram_end: 0x10FF,
            deadline: Cycles::MAX,
            spm: Vec::new(),
            watchdog_resets: 0,
        }
    }

    /// Stores words from word address `addr` on.
    pub fn load(&mut self, addr: u32, words: &[u16]) {
        self.flash[addr as usize..addr as usize + words.len()].copy_from_slice(words);
    }

    /// The data space. The first 32 bytes and the core's own registers are not kept here.
    #[must_use]
    pub fn data(&self) -> &[u8; 1 << 16] {
        &self.data
    }

    /// The data space, to change.
    pub fn data_mut(&mut self) -> &mut [u8; 1 << 16] {
        &mut self.data
    }

    /// Words of the program memory.
    #[must_use]
    pub fn flash(&self) -> &[u16; Self::FLASH_WORDS] {
        &self.flash
    }

    #[inline(always)]
    fn is_ram(&self, addr: u16) -> bool {
        addr >= Self::RAM_START && addr <= self.ram_end
    }
}

impl Default for FlatBus {
    fn default() -> Self {
        Self::new()
    }
}

impl Bus for FlatBus {
    fn read(&mut self, addr: u16, _: Cycles) -> Result<u8, Fault> {
        if addr > self.ram_end {
            return Err(Fault::unmapped(DATA_SPACE + u32::from(addr)));
        }
        Ok(self.data[usize::from(addr)])
    }

    fn write(&mut self, addr: u16, value: u8, _: Cycles) -> Result<(), Fault> {
        if addr > self.ram_end {
            return Err(Fault::unmapped(DATA_SPACE + u32::from(addr)));
        }
        self.data[usize::from(addr)] = value;
        Ok(())
    }

    #[inline(always)]
    fn read_plain(&self, addr: u16) -> Option<u8> {
        self.is_ram(addr).then(|| self.data[usize::from(addr)])
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u16, value: u8) -> bool {
        if !self.is_ram(addr) {
            return false;
        }
        self.data[usize::from(addr)] = value;
        true
    }

    fn fetch(&mut self, word_addr: u32) -> Result<u16, Fault> {
        match self.flash.get(word_addr as usize) {
            Some(&word) => Ok(word),
            None => Err(Fault::not_code(2 * word_addr)),
        }
    }

    fn program_byte(&mut self, byte_addr: u32, _: Cycles) -> Result<u8, Fault> {
        match self.flash.get(byte_addr as usize / 2) {
            Some(word) => Ok(word.to_le_bytes()[byte_addr as usize & 1]),
            None => Err(Fault::unmapped(byte_addr)),
        }
    }

    fn spm(&mut self, _: u32, byte_addr: u32, word: u16, _: Cycles) -> Result<(), Fault> {
        self.spm.push((byte_addr, word));
        Ok(())
    }

    fn watchdog_reset(&mut self, _: Cycles) {
        self.watchdog_resets += 1;
    }

    #[inline(always)]
    fn deadline(&self) -> Cycles {
        self.deadline
    }
}
