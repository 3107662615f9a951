// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers at their I/O addresses: what reads give and writes lead to.

use super::*;

impl Soc {
    // ---- registers

    pub(super) fn no_register(&self, addr: u16) -> Fault {
        let whole = DATA_SPACE | u32::from(addr);
        match self.common.dev.gap_at(whole) {
            Some(g) => {
                Fault::device(whole, format!("{}, which is not modelled: {}", g.name, g.why))
            }
            None => Fault::unmapped(whole),
        }
    }

    pub(super) fn usart_at(addr: u16) -> Option<(usize, usart::Reg)> {
        use usart::Reg::{A, B, C, UbrrH, UbrrL, Udr};
        Some(match addr {
            addr::UDR0 => (0, Udr),
            addr::UCSR0A => (0, A),
            addr::UCSR0B => (0, B),
            addr::UCSR0C => (0, C),
            addr::UBRR0L => (0, UbrrL),
            addr::UBRR0H => (0, UbrrH),
            addr::UDR1 => (1, Udr),
            addr::UCSR1A => (1, A),
            addr::UCSR1B => (1, B),
            addr::UCSR1C => (1, C),
            addr::UBRR1L => (1, UbrrL),
            addr::UBRR1H => (1, UbrrH),
            _ => return None,
        })
    }

    pub(super) fn port_at(addr: u16) -> Option<(usize, usize)> {
        PORTS.iter().enumerate().find_map(|(i, p)| Some((i, p.iter().position(|a| *a == addr)?)))
    }

    pub(super) fn read_register(&mut self, addr: u16, at: Cycles) -> Result<u8, Fault> {
        let now = self.regs.clocks.cpu.time_of(at);
        let io = self.regs.clocks.io.ticks_at(now);
        if let Some((i, reg)) = Self::port_at(addr) {
            let port = &self.regs.ports[i];
            return Ok(PORT_MASKS[i] & [port.pin(io), port.ddr, port.port][reg]);
        }
        if let Some((i, reg)) = timer_at(addr) {
            return Ok(self.read_timer(i, reg, now));
        }
        if let Some((i, reg)) = Self::usart_at(addr) {
            self.deadline = 0;
            return Ok(self.regs.usarts[i].read(reg));
        }
        let r = &mut self.regs;
        Ok(match addr {
            addr::ADCL => r.adc.adcl(),
            addr::ADCH => r.adc.adch(),
            addr::ADCSRA => r.adc.adcsra(),
            addr::ADMUX => r.adc.admux(),
            addr::ACSR => r.acsr,
            addr::SPCR => r.spi.spcr(),
            addr::SPSR => r.spi.read_spsr(),
            addr::SPDR => r.spi.read_spdr(),
            addr::TWBR => r.twi.twbr,
            addr::TWSR => r.twi.twsr(),
            addr::TWAR => r.twi.twar,
            addr::TWDR => r.twi.twdr(),
            addr::TWCR => r.twi.twcr(),
            addr::EECR => r.eeprom.eecr(at),
            addr::EEDR => r.eeprom.eedr,
            addr::EEARL => r.eeprom.eear as u8,
            addr::EEARH => (r.eeprom.eear >> 8) as u8,
            addr::SFIOR => r.sfior,
            addr::WDTCR => r.wdt.read(at),
            addr::ASSR => {
                r.advance_timer(0, now);
                let busy = r.asynchronous.pending.iter().enumerate();
                let busy = busy.filter(|(_, p)| p.is_some()).fold(0, |m, (i, _)| m | 1 << i);
                busy | if r.asynchronous.on { AS0 } else { 0 }
            }
            addr::MCUCSR => r.mcucsr,
            addr::MCUCR => r.mcucr | u8::from(r.ivce.is_open(at)),
            addr::TIFR | addr::ETIFR => {
                (0..4).for_each(|i| r.advance_timer(i, now));
                r.flags(if addr == addr::TIFR { TIFR_FLAGS } else { ETIFR_FLAGS }, |t| t.flags)
            }
            addr::TIMSK => r.flags(TIFR_FLAGS, |t| t.enabled),
            addr::ETIMSK => r.flags(ETIFR_FLAGS, |t| t.enabled),
            addr::EIFR => r.external.eifr(),
            addr::EIMSK => r.external.eimsk,
            addr::EICRB => r.external.eicrb,
            addr::EICRA => r.external.eicra,
            addr::XDIV => r.xdiv,
            addr::SPMCSR => r.spm.read(at),
            addr::XMCRA | addr::XMCRB => 0,
            addr::OSCCAL => r.osccal,
            _ => return Err(self.no_register(addr)),
        })
    }

    pub(super) fn read_timer(&mut self, i: usize, reg: timer::Reg, now: Picos) -> u8 {
        let r = &mut self.regs;
        r.advance_timer(i, now);
        if i == 0 && r.asynchronous.on {
            let tick = r.clocks.asy.ticks_at(now);
            if reg == timer::Reg::TcntL {
                if let Some((before, at)) = r.asynchronous.stale {
                    if tick <= at {
                        return before as u8;
                    }
                    r.asynchronous.stale = None;
                }
                return r.timers[0].value(tick, r.prescaler_0) as u8;
            }
            let place = ASYNC_REGS.iter().position(|a| *a == reg);
            if let Some((value, _)) = place.and_then(|p| r.asynchronous.pending[p]) {
                return value;
            }
        }
        r.timers[i].read(reg)
    }

    pub(super) fn write_register(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
        // Whatever it leads to is looked at behind this instruction.
        self.deadline = 0;
        if let Some((i, reg)) = Self::port_at(addr) {
            match reg {
                0 => {} // PINx is read-only
                1 => self.port_changed(i, at, |p| p.ddr = value & PORT_MASKS[i]),
                _ => self.port_changed(i, at, |p| p.port = value & PORT_MASKS[i]),
            }
            return Ok(());
        }
        let mut cx = cx!(self, addr, at);
        let (now, io) = (cx.now, cx.io);
        if let Some((i, reg)) = Self::usart_at(addr) {
            return self.regs.usarts[i].write(reg, value, &cx);
        }
        if timer_at(addr).is_some() {
            return self.write_timer(addr, value, at);
        }
        match addr {
            addr::ADCL | addr::ADCH => {}
            addr::ADCSRA => self.regs.adc.write_adcsra(value, &cx),
            addr::ADMUX => self.regs.adc.write_admux(value, &cx)?,
            addr::ACSR => {
                if value & 0x0C != 0 {
                    return Err(cx.refuse(
                        "interrupt and capture of the analog comparator (ACIE, ACIC) are not modelled",
                    ));
                }
                self.regs.acsr = value & 0xC3;
            }
            addr::SPCR => {
                self.regs.spi.write_spcr(value);
                self.check_select();
            }
            addr::SPSR => self.regs.spi.write_spsr(value),
            addr::SPDR => self.regs.spi.write_spdr(value, &cx),
            addr::TWBR => self.regs.twi.twbr = value,
            addr::TWSR => self.regs.twi.write_twsr(value),
            addr::TWAR => self.regs.twi.twar = value,
            addr::TWDR => self.regs.twi.write_twdr(value),
            addr::TWCR => self.regs.twi.write_twcr(value, &mut cx),
            addr::EECR | addr::EEDR | addr::EEARL | addr::EEARH => {
                self.write_eeprom(addr, value, at)?;
            }
            addr::SFIOR => self.write_sfior(value, io, at),
            addr::WDTCR => {
                let line = self.regs.clocks.wdt;
                self.regs.wdt.write(value, at, &line, now);
            }
            addr::ASSR => self.write_assr(value, now, at),
            addr::MCUCSR => {
                // Reset flags are cleared by writing zero.
                self.regs.mcucsr &= value | mcucsr::JTD;
                self.regs.mcucsr = self.regs.mcucsr & !mcucsr::JTD | value & mcucsr::JTD;
            }
            addr::MCUCR if value & mcucr::SRE != 0 => {
                return Err(cx.refuse("external memory (MCUCR.SRE) is not modelled"));
            }
            addr::MCUCR => self.regs.write_mcucr(value, at),
            addr::TIFR | addr::ETIFR | addr::TIMSK | addr::ETIMSK => {
                self.regs.write_timer_bits(addr, value, now);
            }
            addr::EIFR => self.regs.external.clear(value),
            addr::EIMSK => self.regs.external.eimsk = value,
            addr::EICRB => self.regs.external.eicrb = value,
            addr::EICRA => self.regs.external.eicra = value,
            addr::XDIV => self.write_xdiv(value, now, at),
            addr::SPMCSR => self.regs.spm.write(value, at),
            addr::XMCRA | addr::XMCRB => {
                if value != 0 {
                    return Err(cx.refuse("external memory (XMCRA, XMCRB) is not modelled"));
                }
            }
            addr::OSCCAL => self.regs.osccal = value,
            _ => return Err(self.no_register(addr)),
        }
        self.book_parts(now, at);
        Ok(())
    }

    /// EECR, or the EEPROM's address or data, is written.
    fn write_eeprom(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
        let mut cx = cx!(self, addr, at);
        let now = cx.now;
        match addr {
            addr::EECR => {
                let write_time = us(self.facts.eeprom.write_ms * 1e3);
                let busy = self.regs.spm.is_busy();
                let eeprom = &mut self.regs.eeprom;
                self.stall += eeprom.write_eecr(value, &self.eeprom, write_time, busy, &mut cx)?;
                if self.regs.eeprom.is_writing() {
                    self.set_state(EEPROM, WRITE, now, at);
                }
            }
            addr::EEDR | addr::EEARL | addr::EEARH if self.regs.eeprom.is_writing() => {
                return Err(cx.refuse(
                    "EEPROM address or data changed while a write is under way; wait until EECR.EEWE is clear",
                ));
            }
            addr::EEDR => self.regs.eeprom.eedr = value,
            addr::EEARL => {
                self.regs.eeprom.eear = self.regs.eeprom.eear & 0x0F00 | u16::from(value);
            }
            _ => {
                self.regs.eeprom.eear =
                    self.regs.eeprom.eear & 0x00FF | u16::from(value & 0x0F) << 8;
            }
        }
        Ok(())
    }

    /// ASSR is written: timer 0 changes its clock.
    fn write_assr(&mut self, value: u8, now: Picos, at: Cycles) {
        let r = &mut self.regs;
        (0..4).for_each(|i| r.advance_timer(i, now));
        let on = value & AS0 != 0;
        if on != r.asynchronous.on {
            // Registers of timer 0 may be corrupted by this (datasheet, ASSR); here they stay.
            let next = self.regs.clocks.cpu.time_of(at + 1);
            self.regs.asynchronous = Asynchronous { on, ..Asynchronous::default() };
            self.update_clocks(next, at + 1);
            let tick = self.regs.timer_line(0).ticks_at(next);
            self.regs.timers[0].move_to(tick);
            self.regs.prescaler_0.origin = tick;
        }
    }

    /// XDIV is written: the CPU's clock is divided.
    fn write_xdiv(&mut self, value: u8, now: Picos, at: Cycles) {
        (0..4).for_each(|i| self.regs.advance_timer(i, now));
        // XDIV6:0 cannot change while XDIVEN is set.
        let r = &mut self.regs;
        let locked = r.xdiv & value & XDIVEN != 0;
        r.xdiv = if locked { r.xdiv } else { value };
        let next = r.clocks.cpu.time_of(at + 1);
        self.update_clocks(next, at + 1);
    }

    pub(super) fn write_sfior(&mut self, value: u8, io: u64, at: Cycles) {
        use sfior::{ACME, PSR0, PSR321, PUD, TSM};
        let now = self.regs.clocks.cpu.time_of(at);
        (0..4).for_each(|i| self.regs.advance_timer(i, now));
        let r = &mut self.regs;
        let held = value & TSM != 0;
        let asy = r.clocks.asy.ticks_at(now);
        let next_0 = if r.asynchronous.on { asy + 1 } else { io + 1 };
        for (bit, next, prescaler) in
            [(PSR0, next_0, &mut r.prescaler_0), (PSR321, io + 1, &mut r.prescaler_321)]
        {
            if value & bit != 0 || prescaler.held && !held {
                prescaler.origin = next;
            }
            prescaler.held = held && value & bit != 0;
        }
        for i in 0..4 {
            let tick = if i == 0 { next_0 } else { io + 1 };
            let prescaler = r.prescaler(i);
            if prescaler.origin == tick {
                r.timers[i].move_to(tick);
            }
        }
        r.sfior = value & (TSM | ACME | PUD) | if held { value & (PSR0 | PSR321) } else { 0 };
        let pull_up_disable = value & PUD != 0;
        for i in 0..r.ports.len() {
            let before = self.regs.ports[i].held();
            let changed =
                self.regs.ports[i].change(io + 1, |p| p.pull_up_disable = pull_up_disable);
            if changed != 0 {
                self.levels_changed(i, changed, now);
            }
            let drives = self.tell_held(i, before, now, at);
            self.drive_all(drives, now);
        }
    }

    pub(super) fn write_timer(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
        let Some((i, reg)) = timer_at(addr) else { return Err(self.no_register(addr)) };
        let now = self.regs.clocks.cpu.time_of(at);
        self.regs.advance_timer(i, now);
        let mut cx = cx!(self, addr, at);
        let (io, prescaler) = (cx.io, self.regs.prescaler(i));
        if i == 0 && self.regs.asynchronous.on {
            // Whether it can be taken over is said at once.
            let mut then = self.regs.timers[0].clone();
            then.write(reg, value, &mut cx)?;
            let tick = self.regs.clocks.asy.ticks_at(now);
            let Some(place) = ASYNC_REGS.iter().position(|a| *a == reg) else {
                return Err(self.no_register(addr));
            };
            if self.regs.asynchronous.pending[place].is_some() {
                cx.lint(LintKind::AsynchronousBusy);
            }
            self.regs.asynchronous.pending[place] = Some((value, tick + 2));
            return Ok(());
        }
        // The write shows from the next tick on, and so does what that tick did.
        self.regs.timers[i].advance(io + 1, prescaler);
        self.regs.timers[i].write(reg, value, &mut cx)
    }
}

impl Registers {
    /// MCUCR is written: IVSEL changes by the sequence of IVCE alone.
    fn write_mcucr(&mut self, value: u8, at: Cycles) {
        let mut new = value & !mcucr::IVCE;
        if !self.ivce.is_open(at) || value & mcucr::IVCE != 0 {
            new = new & !mcucr::IVSEL | self.mcucr & mcucr::IVSEL;
        }
        if value & mcucr::IVCE != 0 {
            self.ivce.open(at, 4);
        } else {
            self.ivce.close();
        }
        self.mcucr = new;
    }

    /// Flags of the timers are cleared by ones, or their interrupts enabled.
    fn write_timer_bits(&mut self, addr: u16, value: u8, now: Picos) {
        (0..4).for_each(|i| self.advance_timer(i, now));
        let places =
            if matches!(addr, addr::TIFR | addr::TIMSK) { TIFR_FLAGS } else { ETIFR_FLAGS };
        for &(bit, i, flag) in places {
            let (timer, is_set) = (&mut self.timers[i], value >> bit & 1 != 0);
            if matches!(addr, addr::TIFR | addr::ETIFR) {
                timer.flags &= if is_set { !flag } else { u8::MAX };
            } else {
                timer.enabled = timer.enabled & !flag | if is_set { flag } else { 0 };
            }
        }
    }
}
