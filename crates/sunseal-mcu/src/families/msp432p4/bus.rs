// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bus: plain accesses, registers, what is neither.

use super::*;
use crate::cores::armv7m::{bit_band, bus_reaches, core_registers, lanes};

/// AIRCR.SYSRESETREQ among the sources of hard resets.
const SOURCE_SYSRESETREQ: u8 = 0;

impl Soc {
    core_registers!(|fx| fx.ask(Class::Hard, SOURCE_SYSRESETREQ));

    // ---- registers

    #[cold]
    fn no_peripheral(&self, addr: u32) -> Fault {
        crate::blocks::no_block(&self.common.dev, addr)
    }

    /// The block of a register and its offset there.
    fn register_at(&self, addr: u32) -> Result<(Slot, u32), Fault> {
        let found = self.map.at(addr).ok_or_else(|| self.no_peripheral(addr))?;
        Ok((found.slot, addr - found.base))
    }

    /// A register at a multiple of its width.
    fn read_one(&mut self, addr: u32, mask: u32, at: Cycles) -> Result<u32, Fault> {
        if let Some(read) = self.read_core(addr, at) {
            return read;
        }
        let (now, (slot, off)) = (self.time_of(at), self.register_at(addr)?);
        match slot {
            Slot::rstctl => self.r.sysctl.read_rstctl(off, &cx!(self, addr, at, now)),
            Slot::sysctl => {
                let nmi = self.nmi_flags();
                self.r.sysctl.read(off, nmi, &cx!(self, addr, at, now))
            }
            _ => {
                // A read that sees the AES block done books its end when it was.
                let aes = &mut self.r.blocks.aes[0].0;
                if let Some(t) = aes.next_event().filter(|t| slot == Slot::aes(0) && *t <= now) {
                    aes.event(t);
                    self.settle_effects(t, at);
                }
                let value = self.r.blocks.read(slot, off, mask, &mut cx!(self, addr, at, now));
                self.follow_outputs(at);
                value
            }
        }
    }

    fn write_one(&mut self, addr: u32, value: u32, mask: u32, at: Cycles) -> Result<(), Fault> {
        if let Some(written) = self.write_core(addr, value, mask, at) {
            return written;
        }
        let (now, (slot, off)) = (self.time_of(at), self.register_at(addr)?);
        let mut c = cx!(self, addr, at, now);
        match slot {
            Slot::rstctl => self.r.sysctl.write_rstctl(off, value, mask, &mut c)?,
            Slot::sysctl => self.r.sysctl.write(off, value, mask, &mut c)?,
            _ => self.r.blocks.write(slot, off, value, mask, &mut c)?,
        }
        self.ports_written(now, at);
        Ok(())
    }

    /// Bytes of the registers at `addr`.
    fn register_bytes(addr: u32) -> u32 {
        if (PERIPHERALS..PERIPHERALS + 0xC000).contains(&addr) { 2 } else { 4 }
    }

    // ---- accesses that are not plain

    #[cold]
    #[inline(never)]
    fn read_slow(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        match (addr >> 24, place(addr)) {
            (0x00, Some(place)) => {
                if self.r.blocks.flctl[0].is_busy(addr) {
                    self.wait_for_flash(at);
                } else {
                    self.side.stall += self.r.blocks.flctl[0].loaded(addr);
                }
                if self.too_fast != [false; 2] && self.too_fast[self.bank(addr)] {
                    self.note_too_fast(addr);
                }
                Ok(self.memory.peek(place, width))
            }
            (0x01 | 0x20, Some(_)) => Err(self.bank_is_off(addr)),
            (0x22 | 0x23 | 0x42 | 0x43, _) => self.read_bit(addr, at),
            (0x40 | 0xE0, _) => self.read_register(addr, width, at),
            _ => Err(Fault::unmapped(addr)),
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        match addr >> 24 {
            0x00 if place(addr).is_some() => {
                let now = self.time_of(at);
                self.side.deadline = 0;
                let mut c = cx!(self, addr, at, now);
                self.r.blocks.flctl[0].store(width, value, &mut c)?;
                self.settle_effects(now, at);
                Ok(())
            }
            0x02 if place(addr).is_some() => Err(Fault::read_only(addr)),
            0x01 | 0x20 if place(addr).is_some() => Err(self.bank_is_off(addr)),
            0x22 | 0x23 | 0x42 | 0x43 => self.write_bit(addr, value, at),
            0x40 | 0xE0 => self.write_register(addr, width, value, at),
            _ => Err(Fault::unmapped(addr)),
        }
    }

    fn bank(&self, addr: u32) -> usize {
        usize::from(addr & 0x3_FFFF >= self.facts.flash.bank_bytes)
    }

    /// A read of a bank that is being changed waits for the end.
    fn wait_for_flash(&mut self, at: Cycles) {
        if let Some(end) = self.r.blocks.flctl[0].busy_until() {
            let tick = self.r.lines.base.mclk.tick_not_before(end);
            self.side.stall += tick.saturating_sub(at + self.side.stall);
        }
        self.side.deadline = 0;
    }

    fn bank_is_off(&self, addr: u32) -> Fault {
        Fault::device(addr, "access to an SRAM bank that is off; set its bit in SYS_SRAM_BANKEN")
    }
}

impl Bus for Soc {
    bus_reaches!();

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        let sram = matches!(addr >> 24, 0x01 | 0x20);
        if sram && addr & 0x00FF_FFFF >= self.memory.windows[0x20].readable {
            return Err(Fault::not_code(addr));
        }
        let i = place(addr).ok_or_else(|| Fault::not_code(addr))?;
        Ok(self.memory.peek(i, Width::W16) as u16)
    }

    #[inline(always)]
    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        if !self.side.waits || !is_flash(pc) {
            return 0;
        }
        self.fetched_slow(pc, bytes)
    }
}

impl Soc {
    #[inline(never)]
    fn fetched_slow(&mut self, pc: u32, bytes: u32) -> Cycles {
        if self.too_fast[self.bank(pc)] {
            self.note_too_fast(pc);
        }
        if self.r.blocks.flctl[0].is_busy(pc) {
            // The run loop holds the CPU until the bank can be read.
            self.side.deadline = 0;
            return 0;
        }
        self.r.blocks.flctl[0].fetched(pc, bytes)
    }
}
