// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bus: plain accesses, registers, what is neither.

use super::*;
use crate::cores::armv7m::{bit_band, bus_reaches, core_registers, lanes};

/// What a block sees.
macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr, $now:expr) => {
        Cx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &(),
            dev: &$soc.common.dev,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $soc.common.state.vcc_v,
            beside: Beside {
                seed: $soc.common.state.seed,
                backup_writable: $soc.r.pwr.backup_writable(),
            },
        }
    };
}

/// The enable registers by their offsets.
fn enable_register(offset: u32) -> &'static str {
    match offset {
        0x48 => "RCC_AHB1ENR",
        0x4C => "RCC_AHB2ENR",
        0x50 => "RCC_AHB3ENR",
        0x58 => "RCC_APB1ENR1",
        0x5C => "RCC_APB1ENR2",
        _ => "RCC_APB2ENR",
    }
}

impl Soc {
    core_registers!(|fx| fx.reset = Some(Cause::Software));

    #[cold]
    fn no_peripheral(&self, addr: u32) -> Fault {
        crate::blocks::no_block(&self.common.dev, addr)
    }

    #[cold]
    fn no_clock(addr: u32, block: &str, [offset, bit]: [u32; 2]) -> Fault {
        let (block, register) = (block.to_uppercase(), enable_register(offset));
        Fault::device(
            addr,
            format!("register of {block}, whose clock is off; set bit {bit} of {register} first"),
        )
    }

    /// The block of a register and its offset there; a block without a clock does not answer.
    fn register_at(&self, addr: u32) -> Result<(Slot, u32), Fault> {
        let found = self.map.at(addr).filter(|_| self.common.dev.gap_at(addr).is_none());
        let Some(m) = found else { return Err(self.no_peripheral(addr)) };
        match m.enable {
            Some(enable) if !self.r.rcc.enables(enable) => {
                Err(Self::no_clock(addr, m.name, enable))
            }
            _ => Ok((m.slot, addr - m.base)),
        }
    }

    fn read_one(&mut self, addr: u32, mask: u32, at: Cycles) -> Result<u32, Fault> {
        if let Some(read) = self.read_core(addr, at) {
            return read;
        }
        let (now, (slot, off)) = (self.time_of(at), self.register_at(addr)?);
        match slot {
            Slot::rcc => self.r.rcc.read(off, &cx!(self, addr, at, now)),
            Slot::pwr => self.r.pwr.read(off, &cx!(self, addr, at, now)),
            _ => self.r.blocks.read(slot, off, mask, &mut cx!(self, addr, at, now)),
        }
    }

    fn write_one(&mut self, addr: u32, value: u32, mask: u32, at: Cycles) -> Result<(), Fault> {
        if let Some(written) = self.write_core(addr, value, mask, at) {
            return written;
        }
        let (now, (slot, off)) = (self.time_of(at), self.register_at(addr)?);
        let mut c = cx!(self, addr, at, now);
        match slot {
            Slot::rcc => self.r.rcc.write(off, value, mask, &mut c),
            Slot::pwr => self.r.pwr.write(off, value, mask, &mut c),
            _ => self.r.blocks.write(slot, off, value, mask, &mut c),
        }
    }

    fn register_bytes(_: u32) -> u32 {
        4
    }

    // ---- accesses that are not plain

    #[cold]
    #[inline(never)]
    fn read_slow(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        if let Some(offset) = self.layout.flash_offset(addr) {
            let flash = &mut self.r.blocks.flash[0];
            if flash.is_busy(offset) {
                self.wait_for_flash(at);
            } else {
                self.side.stall += flash.art.loaded(offset);
            }
            if self.too_fast {
                self.note_too_fast(addr);
            }
            return Ok(self.memory.peek(offset, width));
        }
        match addr >> 24 {
            0x22 | 0x23 | 0x42 | 0x43 => self.read_bit(addr, at),
            0x40..=0x5F | 0xE0 => self.read_register(addr, width, at),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        if let Some(offset) = self.layout.flash_offset(addr) {
            let now = self.time_of(at);
            self.side.deadline = 0;
            let mut c = cx!(self, addr, at, now);
            self.r.blocks.flash[0].store(offset, width, value, &mut c)?;
            self.settle_effects(now, at);
            return Ok(());
        }
        match addr >> 24 {
            0x22 | 0x23 | 0x42 | 0x43 => self.write_bit(addr, value, at),
            0x40..=0x5F | 0xE0 => self.write_register(addr, width, value, at),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    /// A read of a bank that is being changed waits for the end.
    fn wait_for_flash(&mut self, at: Cycles) {
        if let Some(end) = self.r.blocks.flash[0].busy_until() {
            let tick = self.r.lines.hclk.tick_not_before(end);
            self.side.stall += tick.saturating_sub(at + self.side.stall);
        }
        self.side.deadline = 0;
    }

    #[inline(never)]
    fn fetched_slow(&mut self, pc: u32, bytes: u32, at: Cycles) -> Cycles {
        let Some(offset) = self.layout.flash_offset(pc) else { return 0 };
        if self.too_fast {
            self.note_too_fast(pc);
        }
        let flash = &mut self.r.blocks.flash[0];
        if flash.is_busy(offset) {
            // The run loop holds the CPU until the bank can be read.
            self.side.deadline = 0;
            return 0;
        }
        flash.art.fetched(offset, bytes, at)
    }
}

impl Bus for Soc {
    bus_reaches!();

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        let place = self.layout.place(addr).ok_or_else(|| Fault::not_code(addr))?;
        Ok(self.memory.peek(place, Width::W16) as u16)
    }

    #[inline(always)]
    fn fetched_at(&mut self, pc: u32, bytes: u32, at: Cycles) -> Cycles {
        if !self.side.waits || !is_flash(pc) {
            return 0;
        }
        self.fetched_slow(pc, bytes, at)
    }
}
