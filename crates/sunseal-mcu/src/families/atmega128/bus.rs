// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory and the bus.

use super::*;

impl Soc {
    // ---- memory

    pub(super) fn bytes(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        let (memory, start): (&[u8], u32) = match addr {
            0..0x2_0000 => (&self.flash, 0),
            0x80_0100..0x80_1100 => (&self.ram[..], DATA_SPACE + u32::from(RAM_START)),
            EEPROM_START..0x81_1000 => (&self.eeprom, EEPROM_START),
            FUSES_START..0x82_0004 => (&self.fuse_bytes, FUSES_START),
            _ => return None,
        };
        let at = (addr - start) as usize;
        memory.get(at..at + bytes)
    }

    pub(super) fn bytes_mut(&mut self, addr: u32) -> Option<&mut u8> {
        match addr {
            0..0x2_0000 => self.flash.get_mut(addr as usize),
            0x80_0100..0x80_1100 => self.ram.get_mut((addr & 0xFFFF) as usize - 0x100),
            EEPROM_START..0x81_1000 => self.eeprom.get_mut((addr - EEPROM_START) as usize),
            FUSES_START..0x82_0004 => self.fuse_bytes.get_mut((addr - FUSES_START) as usize),
            _ => None,
        }
    }

    /// Why flash at `addr` cannot be read now.
    pub(super) fn rww_busy(&self, addr: u32) -> Option<Fault> {
        (self.regs.spm.rww_busy && addr < NRWW).then(|| {
            Fault::device(
                addr,
                "the read-while-write section cannot be read while it is programmed; wait until SPMCSR.SPMEN is clear and set RWWSRE",
            )
        })
    }
}

impl Bus for Soc {
    fn read(&mut self, addr: u16, at: Cycles) -> Result<u8, Fault> {
        match self.read_plain(addr) {
            Some(value) => Ok(value),
            None => self.read_register(addr, at),
        }
    }

    fn write(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
        if self.write_plain(addr, value) {
            return Ok(());
        }
        self.write_register(addr, value, at)
    }

    #[inline(always)]
    fn read_plain(&self, addr: u16) -> Option<u8> {
        self.ram.get(usize::from(addr.wrapping_sub(RAM_START))).copied()
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u16, value: u8) -> bool {
        match self.ram.get_mut(usize::from(addr.wrapping_sub(RAM_START))) {
            Some(byte) => {
                *byte = value;
                true
            }
            None => false,
        }
    }

    fn fetch(&mut self, word_addr: u32) -> Result<u16, Fault> {
        let at = 2 * word_addr;
        if let Some(fault) = self.rww_busy(at) {
            return Err(fault);
        }
        match self.flash.get(at as usize..at as usize + 2) {
            Some(bytes) => Ok(u16::from_le_bytes([bytes[0], bytes[1]])),
            None => Err(Fault::not_code(at)),
        }
    }

    fn program_byte(&mut self, byte_addr: u32, at: Cycles) -> Result<u8, Fault> {
        // LPM reads in its third cycle; the window counts from the instruction.
        if self.regs.spm.reads_fuses(at.saturating_sub(2)) {
            let [low, high, extended, lock] = self.fuse_bytes;
            return Ok([low, lock, extended, high][byte_addr as usize & 3]);
        }
        if let Some(fault) = self.rww_busy(byte_addr) {
            return Err(fault);
        }
        self.flash.get(byte_addr as usize).copied().ok_or_else(|| Fault::unmapped(byte_addr))
    }

    fn spm(&mut self, pc: u32, byte_addr: u32, word: u16, at: Cycles) -> Result<(), Fault> {
        self.deadline = 0;
        // From the application section it does nothing (datasheet, "Boot Loader Support").
        if pc < 2 * u32::from(self.regs.boot_start()) || self.regs.eeprom.is_writing() {
            return Ok(());
        }
        let now = self.regs.clocks.cpu.time_of(at);
        let page_time = us(self.facts.flash.page_ms * 1e3);
        let was_busy = self.regs.spm.rww_busy;
        let begun = self.regs.spm.spm(byte_addr, word, at, now, page_time)?;
        if let Some(work) = begun {
            let (event, state) = match work {
                Work::Erase => (Event::FlashPageErase, ERASE),
                Work::Write => (Event::FlashPageWrite, WRITE),
            };
            self.common.accounts.count(event);
            self.set_state(FLASH, state, now, at);
        }
        if was_busy != self.regs.spm.rww_busy {
            self.changed.push(0..NRWW);
        }
        Ok(())
    }

    fn watchdog_reset(&mut self, at: Cycles) {
        let now = self.regs.clocks.cpu.time_of(at);
        let line = self.regs.clocks.wdt;
        self.regs.wdt.kick(&line, now);
        self.deadline = 0;
    }

    fn stall(&mut self) -> u32 {
        std::mem::take(&mut self.stall)
    }

    #[inline]
    fn deadline(&self) -> Cycles {
        self.deadline
    }
}
