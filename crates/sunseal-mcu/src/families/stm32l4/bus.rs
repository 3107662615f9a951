// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bus: plain accesses, registers, what is neither.

use super::*;
use crate::cores::armv7m::bit_band;
use crate::cores::armv7m::bus_reaches;

/// What a block sees.
macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr, $now:expr) => {
        Cx {
            now: $now,
            at: $at,
            addr: $addr,
            dev: &$soc.facts,
            chip: &$soc.common.dev.name,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $soc.fx,
            seed: $soc.common.state.seed,
            backup_writable: $soc.r.pwr.backup_writable(),
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
        let at = self.map.partition_point(|m| m.base <= addr);
        let found = at.checked_sub(1).map(|i| &self.map[i]).filter(|m| addr - m.base < 0x400);
        let Some(m) = found.filter(|_| self.common.dev.gap_at(addr).is_none()) else {
            return Err(self.no_peripheral(addr));
        };
        match m.enable {
            Some(enable) if !self.r.rcc.enables(enable) => {
                Err(Self::no_clock(addr, m.name, enable))
            }
            _ => Ok((m.slot, addr - m.base)),
        }
    }

    fn read_word(&mut self, addr: u32, mask: u32, at: Cycles) -> Result<u32, Fault> {
        let now = self.time_of(at);
        if (SCS..SCS + 0x1000).contains(&addr) {
            if self.common.dev.gap_at(addr).is_some() {
                return Err(self.no_peripheral(addr));
            }
            let (scb, exception, clock) = (self.scb, self.exception, self.r.lines.fclk);
            let access = arm!(self, &clock, addr, at, now);
            return self.r.scs.read(addr - SCS, exception, &scb, &access);
        }
        if addr & !0xFFF == DWT {
            let (trace, clock) = (self.r.scs.trace_enabled(), &self.r.lines.fclk);
            return self.r.dwt.read(addr - DWT, trace, &arm!(self, clock, addr, at, now));
        }
        let (slot, off) = self.register_at(addr)?;
        match slot {
            Slot::rcc => self.r.rcc.read(off, &cx!(self, addr, at, now)),
            Slot::pwr => self.r.pwr.read(off, &cx!(self, addr, at, now)),
            _ => self.r.blocks.read(slot, off, mask, &mut cx!(self, addr, at, now)),
        }
    }

    fn write_word(&mut self, addr: u32, value: u32, mask: u32, at: Cycles) -> Result<(), Fault> {
        let now = self.time_of(at);
        let trace = self.r.scs.trace_enabled();
        if (SCS..SCS + 0x1000).contains(&addr) {
            if self.common.dev.gap_at(addr).is_some() {
                return Err(self.no_peripheral(addr));
            }
            let (mut scb, clock) = (self.scb, self.r.lines.fclk);
            let mut access = arm!(self, &clock, addr, at, now);
            self.r.scs.write(addr - SCS, value, mask, &mut scb, &mut access)?;
            if access.reset {
                self.fx.reset = Some(Cause::Software);
            }
            self.scb = scb;
            let after = self.r.scs.trace_enabled();
            if after != trace {
                self.r.dwt.trace_switched(after, at);
            }
            return Ok(());
        }
        if addr & !0xFFF == DWT {
            let clock = &self.r.lines.fclk;
            let access = arm!(self, clock, addr, at, now);
            return self.r.dwt.write(addr - DWT, value, mask, trace, &access);
        }
        let (slot, off) = self.register_at(addr)?;
        let mut c = cx!(self, addr, at, now);
        match slot {
            Slot::rcc => self.r.rcc.write(off, value, mask, &mut c),
            Slot::pwr => self.r.pwr.write(off, value, mask, &mut c),
            _ => self.r.blocks.write(slot, off, value, mask, &mut c),
        }
    }

    /// The bits of a word that an access of that width touches.
    fn lanes(addr: u32, width: Width) -> (u32, u32) {
        let shift = 8 * (addr & 3);
        let bits = match width {
            Width::W8 => 0xFF,
            Width::W16 => 0xFFFF,
            Width::W32 => u32::MAX,
        };
        (shift, bits)
    }

    fn read_register(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        let (shift, bits) = Self::lanes(addr, width);
        let value = self.read_word(addr & !3, bits << shift, at)? >> shift & bits;
        // Reading may clear a flag, and with it the next event or an interrupt is another one.
        self.deadline = 0;
        self.refresh();
        Ok(value)
    }

    fn write_register(
        &mut self,
        addr: u32,
        width: Width,
        value: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        // Whatever it leads to is looked at behind this instruction.
        self.deadline = 0;
        let (shift, bits) = Self::lanes(addr, width);
        self.write_word(addr & !3, (value & bits) << shift, bits << shift, at)?;
        let now = self.time_of(at);
        self.settle_effects(now, at);
        Ok(())
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
                self.stall += flash.art.loaded(offset);
            }
            if self.too_fast {
                self.note_too_fast(addr);
            }
            return Ok(self.memory.peek(offset, width));
        }
        match addr >> 24 {
            0x22 | 0x23 | 0x42 | 0x43 => {
                let (byte, bit) = bit_band(addr);
                Ok(self.read(byte, Width::W8, at)? >> bit & 1)
            }
            0x40..=0x5F | 0xE0 => self.read_register(addr, width, at),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        if let Some(offset) = self.layout.flash_offset(addr) {
            let now = self.time_of(at);
            self.deadline = 0;
            let mut c = cx!(self, addr, at, now);
            self.r.blocks.flash[0].store(offset, width, value, &mut c)?;
            self.settle_effects(now, at);
            return Ok(());
        }
        match addr >> 24 {
            0x22 | 0x23 | 0x42 | 0x43 => {
                let (byte, bit) = bit_band(addr);
                let old = self.read(byte, Width::W8, at)?;
                self.write(byte, Width::W8, old & !(1 << bit) | (value & 1) << bit, at)
            }
            0x40..=0x5F | 0xE0 => self.write_register(addr, width, value, at),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    /// A read of a bank that is being changed waits for the end.
    fn wait_for_flash(&mut self, at: Cycles) {
        if let Some(end) = self.r.blocks.flash[0].busy_until() {
            let tick = self.r.lines.hclk.tick_not_before(end);
            self.stall += tick.saturating_sub(at + self.stall);
        }
        self.deadline = 0;
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
            self.deadline = 0;
            return 0;
        }
        flash.art.fetched(offset, bytes, at)
    }
}

impl Bus for Soc {
    bus_reaches!();

    const WAITS: bool = true;

    #[inline]
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        match self.memory.read_plain(addr, width) {
            Some(value) => Ok(value),
            None => self.read_slow(addr, width, at),
        }
    }

    #[inline]
    fn write(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        if self.memory.write_plain(addr, width, value) {
            return Ok(());
        }
        self.write_slow(addr, width, value, at)
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u32> {
        self.memory.read_plain(addr, width)
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u32, _at: Cycles) -> bool {
        self.memory.write_plain(addr, width, value)
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        let place = self.layout.place(addr).ok_or_else(|| Fault::not_code(addr))?;
        Ok(self.memory.peek(place, Width::W16) as u16)
    }

    #[inline(always)]
    fn fetched_at(&mut self, pc: u32, bytes: u32, at: Cycles) -> Cycles {
        if !self.waits || !is_flash(pc) {
            return 0;
        }
        self.fetched_slow(pc, bytes, at)
    }
}
