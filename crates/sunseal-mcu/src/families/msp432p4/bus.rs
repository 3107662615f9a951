// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bus: plain accesses, registers, what is neither.

use super::*;
use crate::cores::armv7m::bit_band;
use crate::cores::armv7m::bus_reaches;

impl Soc {
    // ---- registers

    #[cold]
    pub(super) fn no_peripheral(&self, addr: u32) -> Fault {
        crate::blocks::no_block(&self.common.dev, addr)
    }

    /// A 16-bit register at an even address.
    pub(super) fn read_half(&mut self, addr: u32, mask: u32, at: Cycles) -> Result<u32, Fault> {
        let now = self.time_of(at);
        let Some(&(block, base)) = self.blocks.get(((addr - PERIPHERALS) / SLOT) as usize) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let mut effects = Effects::default();
        match block {
            Block::Timer(i) => {
                let t = &mut self.r.timers[usize::from(i)];
                t.read(off, 0xFFFF, &mut ctx!(self, effects, addr, at, now)).map(u32::from)
            }
            Block::Eusci(i) => {
                let u = &mut self.r.eusci[usize::from(i)];
                u.read(off, 0xFFFF, &mut ctx!(self, effects, addr, at, now)).map(u32::from)
            }
            Block::Aes => {
                // A read that sees the block done books its end when it was.
                if let Some(t) = self.r.aes.next_event().filter(|t| *t <= now) {
                    self.r.aes.event(t);
                    self.settle_effects(t, at);
                }
                let mut c = ctx!(self, effects, addr, at, now);
                self.r.aes.read(off, mask as u16, &mut c).map(u32::from)
            }
            Block::RefA => self.r.reference.read(off, &cx!(self, addr, at, now)),
            Block::Crc32 => self.r.crc.read(off, &cx!(self, addr, at, now)),
            Block::Rtc => self.r.rtc.read(off, &cx!(self, addr, at, now)),
            Block::Wdt => self.r.wdt.read(off, &cx!(self, addr, at, now)),
            Block::Dio => {
                let (i, off) = Self::port_at(off).ok_or_else(|| self.no_peripheral(addr))?;
                let p = &mut self.r.ports[i];
                p.read(off, 0xFFFF, &mut ctx!(self, effects, addr, at, now)).map(u32::from)
            }
            Block::Pmap => Ok(match off {
                0 => 0x96A5,
                2 => u32::from(self.pmap_control()),
                _ => {
                    let kept = self.r.pmap.get((off / 2) as usize);
                    u32::from(*kept.ok_or_else(|| self.no_peripheral(addr))?)
                }
            }),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    pub(super) fn pmap_control(&self) -> u16 {
        self.r.pmap[1] & 2 | u16::from(!self.r.pmap_unlocked)
    }

    pub(super) fn write_half(
        &mut self,
        addr: u32,
        value: u32,
        mask: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        let now = self.time_of(at);
        let Some(&(block, base)) = self.blocks.get(((addr - PERIPHERALS) / SLOT) as usize) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let mut effects = Effects::default();
        let (v, m) = (value as u16, mask as u16);
        match block {
            Block::Timer(i) => {
                let t = &mut self.r.timers[usize::from(i)];
                t.write(off, v, m, &mut ctx!(self, effects, addr, at, now))
            }
            Block::Eusci(i) => {
                let u = &mut self.r.eusci[usize::from(i)];
                u.write(off, v, m, &mut ctx!(self, effects, addr, at, now))
            }
            Block::Aes => self.r.aes.write(off, v, m, &mut ctx!(self, effects, addr, at, now)),
            Block::RefA => self.r.reference.write(off, value, mask, &mut cx!(self, addr, at, now)),
            Block::Crc32 => self.r.crc.write(off, value, mask, &mut cx!(self, addr, at, now)),
            Block::Rtc => self.r.rtc.write(off, value, mask, &mut cx!(self, addr, at, now)),
            Block::Wdt => {
                let hard = self.r.sysctl.watchdog_is_hard();
                self.r.wdt.write(off, value, mask, hard, &mut cx!(self, addr, at, now))
            }
            Block::Dio => {
                let (i, off) = Self::port_at(off).ok_or_else(|| self.no_peripheral(addr))?;
                self.r.ports[i].write(off, v, m, &mut ctx!(self, effects, addr, at, now))?;
                self.port_written(i, now, at);
                Ok(())
            }
            Block::Pmap => {
                match off {
                    0 => self.r.pmap_unlocked = v == 0x2D52,
                    _ if self.r.pmap_unlocked => {
                        let i = (off / 2) as usize;
                        let Some(kept) = self.r.pmap.get_mut(i) else {
                            return Err(self.no_peripheral(addr));
                        };
                        *kept = *kept & !m | v & m;
                    }
                    _ => self.common.state.lints.report(LintKind::LockedBits, addr, at),
                }
                Ok(())
            }
            _ => Err(self.no_peripheral(addr)),
        }
    }

    /// The pair of ports and the register's offset in it.
    pub(super) fn port_at(off: u32) -> Option<(usize, u32)> {
        match off >> 5 {
            i @ 0..=4 => Some((i as usize, off & 0x1E)),
            9 => Some((5, off & 0x1E)),
            _ => None,
        }
    }

    /// A 32-bit register at a multiple of four.
    pub(super) fn read_word(&mut self, addr: u32, at: Cycles) -> Result<u32, Fault> {
        let now = self.time_of(at);
        let trace = self.r.scs.trace_enabled();
        if addr >= SCS {
            let b = &self.facts.peripherals;
            let nmi = self.nmi_flags();
            return match addr {
                SCS..0xE000_F000 if self.common.dev.gap_at(addr).is_none() => {
                    let (off, scb, exception) = (addr - SCS, self.scb, self.exception);
                    let clock = self.r.lines.fclk;
                    self.r.scs.read(off, exception, &scb, &arm!(self, &clock, addr, at, now))
                }
                _ if addr & !0xFFF == b.rstctl => {
                    let off = addr - b.rstctl;
                    self.r.sysctl.read_rstctl(off, &cx!(self, addr, at, now))
                }
                _ if addr >= b.sysctl && addr < b.sysctl + 0x2000 => {
                    let off = addr - b.sysctl;
                    self.r.sysctl.read(off, nmi, &cx!(self, addr, at, now))
                }
                _ => Err(self.no_peripheral(addr)),
            };
        }
        if addr & !0xFFF == DWT {
            let clock = &self.r.lines.fclk;
            return self.r.dwt.read(addr - DWT, trace, &arm!(self, clock, addr, at, now));
        }
        let slot = (addr.wrapping_sub(PERIPHERALS) / SLOT) as usize;
        let Some(&(block, base)) = self.blocks.get(slot) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let c = cx!(self, addr, at, now);
        match block {
            Block::Timer32 => self.r.timer32.read(off, &c),
            Block::Dma => self.r.dma.read(off, &c),
            Block::Pcm => self.r.pcm.read(off, &c),
            Block::Cs => self.r.cs.read(off, &c),
            Block::Pss => self.r.pss.read(off, &c),
            Block::Flctl => self.r.flctl.read(off, &c),
            Block::Adc => self.r.adc.read(off, &c),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    pub(super) fn write_word(
        &mut self,
        addr: u32,
        value: u32,
        mask: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        let now = self.time_of(at);
        let trace = self.r.scs.trace_enabled();
        if addr >= SCS {
            let b = &self.facts.peripherals;
            return match addr {
                SCS..0xE000_F000 if self.common.dev.gap_at(addr).is_none() => {
                    let mut scb = self.scb;
                    let clock = self.r.lines.fclk;
                    let mut a = arm!(self, &clock, addr, at, now);
                    self.r.scs.write(addr - SCS, value, mask, &mut scb, &mut a)?;
                    if a.reset {
                        // RSTCTL knows SYSRESETREQ as hard reset source 0.
                        cx!(self, addr, at, now).reset(Class::Hard, 0);
                    }
                    self.scb = scb;
                    let after = self.r.scs.trace_enabled();
                    if after != trace {
                        self.r.dwt.trace_switched(after, at);
                    }
                    Ok(())
                }
                _ if addr & !0xFFF == b.rstctl => {
                    let off = addr - b.rstctl;
                    self.r.sysctl.write_rstctl(off, value, mask, &mut cx!(self, addr, at, now))
                }
                _ if addr >= b.sysctl && addr < b.sysctl + 0x2000 => {
                    let off = addr - b.sysctl;
                    self.r.sysctl.write(off, value, mask, &mut cx!(self, addr, at, now))
                }
                _ => Err(self.no_peripheral(addr)),
            };
        }
        if addr & !0xFFF == DWT {
            let clock = &self.r.lines.fclk;
            let a = arm!(self, clock, addr, at, now);
            return self.r.dwt.write(addr - DWT, value, mask, trace, &a);
        }
        let slot = (addr.wrapping_sub(PERIPHERALS) / SLOT) as usize;
        let Some(&(block, base)) = self.blocks.get(slot) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let mut c = cx!(self, addr, at, now);
        match block {
            Block::Timer32 => self.r.timer32.write(off, value, mask, &mut c),
            Block::Dma => self.r.dma.write(off, value, mask, &mut c),
            Block::Pcm => self.r.pcm.write(off, value, mask, &mut c),
            Block::Cs => self.r.cs.write(off, value, mask, &mut c),
            Block::Pss => self.r.pss.write(off, value, mask, &mut c),
            Block::Flctl => self.r.flctl.write(off, value, mask, &mut c),
            Block::Adc => self.r.adc.write(off, value, mask, &mut c),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    /// Whether the registers of `addr` are 16 bits wide.
    pub(super) fn is_half(addr: u32) -> bool {
        (PERIPHERALS..PERIPHERALS + 0xC000).contains(&addr)
    }

    pub(super) fn read_register(
        &mut self,
        addr: u32,
        width: Width,
        at: Cycles,
    ) -> Result<u32, Fault> {
        let value = if Self::is_half(addr) {
            match width {
                Width::W32 => {
                    let low = self.read_half(addr, 0xFFFF, at)?;
                    low | self.read_half(addr + 2, 0xFFFF, at)? << 16
                }
                Width::W16 => self.read_half(addr, 0xFFFF, at)?,
                Width::W8 => {
                    let shift = 8 * (addr & 1);
                    self.read_half(addr & !1, 0xFF << shift, at)? >> shift & 0xFF
                }
            }
        } else {
            let shift = 8 * (addr & 3);
            let bits = match width {
                Width::W8 => 0xFF,
                Width::W16 => 0xFFFF,
                Width::W32 => u32::MAX,
            };
            self.read_word(addr & !3, at)? >> shift & bits
        };
        // Reading may clear a flag, and with it the next event or an interrupt is another one.
        self.deadline = 0;
        let now = self.time_of(at);
        self.refresh(now, at);
        Ok(value)
    }

    pub(super) fn write_register(
        &mut self,
        addr: u32,
        width: Width,
        value: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        // Whatever it leads to is looked at behind this instruction.
        self.deadline = 0;
        if Self::is_half(addr) {
            match width {
                Width::W32 => {
                    self.write_half(addr, value & 0xFFFF, 0xFFFF, at)?;
                    self.write_half(addr + 2, value >> 16, 0xFFFF, at)?;
                }
                Width::W16 => self.write_half(addr, value & 0xFFFF, 0xFFFF, at)?,
                Width::W8 => {
                    let shift = 8 * (addr & 1);
                    self.write_half(addr & !1, (value & 0xFF) << shift, 0xFF << shift, at)?;
                }
            }
        } else {
            let shift = 8 * (addr & 3);
            let mask = match width {
                Width::W8 => 0xFF << shift,
                Width::W16 => 0xFFFF << shift,
                Width::W32 => u32::MAX,
            };
            self.write_word(addr & !3, value << shift, mask, at)?;
        }
        let now = self.time_of(at);
        self.settle_effects(now, at);
        Ok(())
    }

    // ---- accesses that are not plain

    #[cold]
    #[inline(never)]
    pub(super) fn read_slow(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        match addr >> 24 {
            0x00 if place(addr).is_some() => {
                if self.r.flctl.is_busy(addr) {
                    self.wait_for_flash(at);
                } else {
                    self.stall += self.r.flctl.loaded(addr);
                }
                if self.too_fast != [false; 2] && self.too_fast[self.bank(addr)] {
                    self.note_too_fast(addr);
                }
                Ok(self.peek(addr, width))
            }
            0x01 | 0x20 if place(addr).is_some() => Err(self.bank_is_off(addr)),
            0x22 | 0x23 | 0x42 | 0x43 => {
                let (byte, bit) = bit_band(addr);
                Ok(self.read(byte, Width::W8, at)? >> bit & 1)
            }
            0x40 | 0xE0 => self.read_register(addr, width, at),
            _ => Err(Fault::unmapped(addr)),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn write_slow(
        &mut self,
        addr: u32,
        width: Width,
        value: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        match addr >> 24 {
            0x00 if place(addr).is_some() => {
                let now = self.time_of(at);
                self.deadline = 0;
                let mut flctl = self.r.flctl.clone();
                flctl.store(width, value, &mut cx!(self, addr, at, now))?;
                self.r.flctl = flctl;
                self.settle_effects(now, at);
                Ok(())
            }
            0x02 if place(addr).is_some() => Err(Fault::read_only(addr)),
            0x01 | 0x20 if place(addr).is_some() => Err(self.bank_is_off(addr)),
            0x22 | 0x23 | 0x42 | 0x43 => {
                let (byte, bit) = bit_band(addr);
                let old = self.read(byte, Width::W8, at)?;
                self.write(byte, Width::W8, old & !(1 << bit) | (value & 1) << bit, at)
            }
            0x40 | 0xE0 => self.write_register(addr, width, value, at),
            _ => Err(Fault::unmapped(addr)),
        }
    }

    pub(super) fn bank(&self, addr: u32) -> usize {
        usize::from(addr & 0x3_FFFF >= self.facts.flash.bank_bytes)
    }

    /// A read of a bank that is being changed waits for the end.
    pub(super) fn wait_for_flash(&mut self, at: Cycles) {
        if let Some(end) = self.r.flctl.busy_until() {
            let tick = self.r.lines.base.mclk.tick_not_before(end);
            self.stall += tick.saturating_sub(at + self.stall);
        }
        self.deadline = 0;
    }

    pub(super) fn bank_is_off(&self, addr: u32) -> Fault {
        Fault::device(addr, "access to an SRAM bank that is off; set its bit in SYS_SRAM_BANKEN")
    }

    pub(super) fn peek(&self, addr: u32, width: Width) -> u32 {
        let Some(i) = place(addr) else { return 0 };
        let bytes = &self.memory[i as usize..];
        (0..width.bytes()).fold(0, |v, n| v | u32::from(bytes[n as usize]) << (8 * n))
    }
}

impl Bus for Soc {
    bus_reaches!();

    const WAITS: bool = true;

    #[inline]
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        match self.read_plain(addr, width, at) {
            Some(value) => Ok(value),
            None => self.read_slow(addr, width, at),
        }
    }

    #[inline]
    fn write(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        if self.write_plain(addr, width, value, at) {
            return Ok(());
        }
        self.write_slow(addr, width, value, at)
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u32> {
        let w = &self.windows[(addr >> 24) as usize];
        let off = addr & 0x00FF_FFFF;
        if off >= w.readable {
            return None;
        }
        let i = (w.base + off) as usize & (BYTES - 1);
        Some(match width {
            Width::W8 => u32::from(self.memory[i]),
            Width::W16 => {
                let i = i & !1;
                u32::from(u16::from_le_bytes([self.memory[i], self.memory[i + 1]]))
            }
            Width::W32 => {
                let i = i & !3;
                u32::from_le_bytes([
                    self.memory[i],
                    self.memory[i + 1],
                    self.memory[i + 2],
                    self.memory[i + 3],
                ])
            }
        })
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u32, _at: Cycles) -> bool {
        let w = &self.windows[(addr >> 24) as usize];
        let off = addr & 0x00FF_FFFF;
        if off >= w.writable {
            return false;
        }
        let i = (w.base + off) as usize & (BYTES - 1);
        let bytes = value.to_le_bytes();
        match width {
            Width::W8 => self.memory[i] = bytes[0],
            Width::W16 => {
                let i = i & !1;
                self.memory[i] = bytes[0];
                self.memory[i + 1] = bytes[1];
            }
            Width::W32 => {
                let i = i & !3;
                self.memory[i..i + 4].copy_from_slice(&bytes);
            }
        }
        true
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        let sram = matches!(addr >> 24, 0x01 | 0x20);
        if sram && addr & 0x00FF_FFFF >= self.windows[0x20].readable {
            return Err(Fault::not_code(addr));
        }
        let Some(i) = place(addr).map(|i| i as usize) else { return Err(Fault::not_code(addr)) };
        Ok(u16::from_le_bytes([self.memory[i], self.memory[i + 1]]))
    }

    #[inline(always)]
    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        if !self.waits || !is_flash(pc) {
            return 0;
        }
        self.fetched_slow(pc, bytes)
    }
}

impl Soc {
    #[inline(never)]
    pub(super) fn fetched_slow(&mut self, pc: u32, bytes: u32) -> Cycles {
        if self.too_fast[self.bank(pc)] {
            self.note_too_fast(pc);
        }
        if self.r.flctl.is_busy(pc) {
            // The run loop holds the CPU until the bank can be read.
            self.deadline = 0;
            return 0;
        }
        self.r.flctl.fetched(pc, bytes)
    }
}
