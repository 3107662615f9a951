// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers at their I/O addresses: what reads give and writes lead to.

use super::*;
use crate::lint::LintKind;

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
            at::UDR0 => (0, Udr),
            at::UCSR0A => (0, A),
            at::UCSR0B => (0, B),
            at::UCSR0C => (0, C),
            at::UBRR0L => (0, UbrrL),
            at::UBRR0H => (0, UbrrH),
            at::UDR1 => (1, Udr),
            at::UCSR1A => (1, A),
            at::UCSR1B => (1, B),
            at::UCSR1C => (1, C),
            at::UBRR1L => (1, UbrrL),
            at::UBRR1H => (1, UbrrH),
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
        self.read_own(addr, at, now)
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
                1 => {
                    self.port_changed(i, at, |p| p.ddr = value & PORT_MASKS[i]);
                    self.check_captures(at);
                }
                _ => {
                    self.port_changed(i, at, |p| p.port = value & PORT_MASKS[i]);
                    self.give_pins(self.regs.clocks.cpu.time_of(at + 1), at + 1);
                }
            }
            return Ok(());
        }
        if let Some((i, reg)) = Self::usart_at(addr) {
            return self.regs.usarts[i].write(reg, value, &cx!(self, addr, at));
        }
        if timer_at(addr).is_some() {
            self.write_timer(addr, value, at)?;
            self.follow_outputs(at + 1);
            self.give_pins(self.regs.clocks.cpu.time_of(at + 1), at + 1);
            return Ok(());
        }
        self.write_own(addr, value, at)?;
        self.follow_outputs(at + 1);
        self.check_captures(at);
        let now = self.regs.clocks.cpu.time_of(at);
        self.book_parts(now, at);
        Ok(())
    }

    fn write_eecr(&mut self, value: u8, at: Cycles) -> Result<(), Fault> {
        let mut cx = cx!(self, at::EECR, at);
        let now = cx.now;
        let write_time = us(self.facts.eeprom.write_ms * 1e3);
        let (eeprom, busy) = (&mut self.regs.eeprom, self.regs.spm.is_busy());
        self.stall += eeprom.write_eecr(value, &self.eeprom, write_time, busy, &mut cx)?;
        if eeprom.is_writing() {
            self.set_state(EEPROM, WRITE, now, at);
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
        let mut new = value & !IVCE;
        if !self.ivce.is_open(at) || value & IVCE != 0 {
            new = new & !IVSEL | self.mcucr & IVSEL;
        }
        if value & IVCE != 0 {
            self.ivce.open(at, 4);
        } else {
            self.ivce.close();
        }
        self.mcucr = new;
    }

    /// Flags of the timers are cleared by ones.
    fn clear_flags(&mut self, places: &FlagPlaces, value: u8, now: Picos) {
        (0..4).for_each(|i| self.advance_timer(i, now));
        for &(_, i, flag) in places.iter().filter(|p| value >> p.0 & 1 != 0) {
            self.timers[i].flags &= !flag;
        }
    }

    fn enable_timers(&mut self, places: &FlagPlaces, value: u8, now: Picos) {
        (0..4).for_each(|i| self.advance_timer(i, now));
        for &(bit, i, flag) in places {
            let enabled = &mut self.timers[i].enabled;
            *enabled = *enabled & !flag | if value >> bit & 1 != 0 { flag } else { 0 };
        }
    }
}

/// Registers by their names (datasheet, "Register Summary"): what each reads as, and what a write
/// leads to. Ports, timers and USARTs have tables of their own.
macro_rules! registers {
    (|$soc:ident, $r:ident, $cx:ident, $value:ident, $at:ident, $now:ident, $io:ident|
        $($name:ident: $read:expr, $write:expr;)*) => {
        impl Soc {
            fn read_own(&mut self, addr: u16, $at: Cycles, $now: Picos) -> Result<u8, Fault> {
                let $r = &mut self.regs;
                Ok(match addr {
                    $(at::$name => $read,)*
                    _ => return Err(self.no_register(addr)),
                })
            }

            fn write_own(&mut self, addr: u16, $value: u8, $at: Cycles) -> Result<(), Fault> {
                let $soc = self;
                #[allow(unused_mut)]
                let mut $cx = cx!($soc, addr, $at);
                let ($now, $io) = ($cx.now, $cx.io);
                match addr {
                    $(at::$name => $write,)*
                    _ => return Err($soc.no_register(addr)),
                }
                Ok(())
            }
        }
    };
}

registers! {
    |soc, r, cx, value, at, now, io|
    ADCL: r.adc.adcl(), {};
    ADCH: r.adc.adch(), {};
    ADCSRA: r.adc.adcsra(), soc.regs.adc.write_adcsra(value, &cx);
    ADMUX: r.adc.admux(), soc.regs.adc.write_admux(value, &cx)?;
    ACSR: r.acsr, match value & 0x0C {
        0 => soc.regs.acsr = value & 0xC3,
        _ => return Err(cx.refuse(
            "interrupt and capture of the analog comparator (ACIE, ACIC) are not modelled",
        )),
    };
    SPCR: r.spi.spcr(), {
        soc.regs.spi.write_spcr(value);
        soc.check_select();
    };
    SPSR: r.spi.read_spsr(), soc.regs.spi.write_spsr(value);
    SPDR: r.spi.read_spdr(), soc.regs.spi.write_spdr(value, &cx);
    EECR: r.eeprom.eecr(at), soc.write_eecr(value, at)?;
    EEDR: r.eeprom.eedr, soc.regs.eeprom.idle(&cx)?.eedr = value;
    EEARL: r.eeprom.eear as u8, {
        let eear = &mut soc.regs.eeprom.idle(&cx)?.eear;
        *eear = *eear & 0x0F00 | u16::from(value);
    };
    EEARH: (r.eeprom.eear >> 8) as u8, {
        let eear = &mut soc.regs.eeprom.idle(&cx)?.eear;
        *eear = *eear & 0x00FF | u16::from(value & 0x0F) << 8;
    };
    SFIOR: r.sfior, soc.write_sfior(value, io, at);
    WDTCR: r.wdt.read(at), {
        let line = soc.regs.clocks.wdt;
        soc.regs.wdt.write(value, at, &line, now);
    };
    ASSR: {
        r.advance_timer(0, now);
        let busy = r.asynchronous.pending.iter().enumerate();
        let busy = busy.filter(|(_, p)| p.is_some()).fold(0, |m, (i, _)| m | 1 << i);
        busy | if r.asynchronous.on { AS0 } else { 0 }
    }, soc.write_assr(value, now, at);
    // Reset flags are cleared by writing zero.
    MCUCSR: r.mcucsr, {
        let kept = soc.regs.mcucsr & value & !JTD;
        soc.regs.mcucsr = kept | value & JTD;
    };
    MCUCR: r.mcucr | u8::from(r.ivce.is_open(at)), match value & SRE {
        0 => soc.regs.write_mcucr(value, at),
        _ => return Err(cx.refuse("external memory (MCUCR.SRE) is not modelled")),
    };
    TIFR: r.flags_at(TIFR_FLAGS, now), soc.regs.clear_flags(TIFR_FLAGS, value, now);
    TIMSK: r.flags(TIFR_FLAGS, |t| t.enabled), soc.regs.enable_timers(TIFR_FLAGS, value, now);
    EIFR: r.external.eifr(), soc.regs.external.clear(value);
    EIMSK: r.external.eimsk, soc.regs.external.eimsk = value;
    EICRB: r.external.eicrb, soc.regs.external.eicrb = value;
    XDIV: r.xdiv, soc.write_xdiv(value, now, at);
    SPMCSR: r.spm.read(at), soc.regs.spm.write(value, at);
    EICRA: r.external.eicra, soc.regs.external.eicra = value;
    XMCRB: 0, no_external_memory(value, &cx)?;
    XMCRA: 0, no_external_memory(value, &cx)?;
    OSCCAL: r.osccal, soc.regs.osccal = value;
    TWBR: r.twi.twbr, soc.regs.twi.twbr = value;
    TWSR: r.twi.twsr(), soc.regs.twi.write_twsr(value);
    TWAR: r.twi.twar, soc.regs.twi.twar = value;
    TWDR: r.twi.twdr(), soc.regs.twi.write_twdr(value);
    TWCR: r.twi.twcr(), soc.regs.twi.write_twcr(value, &mut cx);
    ETIFR: r.flags_at(ETIFR_FLAGS, now), soc.regs.clear_flags(ETIFR_FLAGS, value, now);
    ETIMSK: r.flags(ETIFR_FLAGS, |t| t.enabled),
        soc.regs.enable_timers(ETIFR_FLAGS, value, now);
}

fn no_external_memory(value: u8, cx: &Cx<'_>) -> Result<(), Fault> {
    if value == 0 {
        return Ok(());
    }
    Err(cx.refuse("external memory (XMCRA, XMCRB) is not modelled"))
}
