// SPDX-License-Identifier: MIT OR Apache-2.0
//! ATmega128: the AVR core with flash, static memory, EEPROM and peripherals, its clock domains and sleep modes.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::avr::{self, Bus, Cpu, DATA_SPACE, Exit, Timing};
use sunseal_registers::atmega128 as at;
use sunseal_registers::atmega128::adc::ACD;
use sunseal_registers::atmega128::system::*;
use sunseal_registers::atmega128::timers::AS0;
use sunseal_trace::{ComponentId, Cycles, Observer, OperatingPoint, Picos, StateId};

use crate::accounts::{self, Event, Names};
use crate::blocks::avr::adc::{Adc, Need};
use crate::blocks::avr::eeprom::Eeprom;
use crate::blocks::avr::external::External;
use crate::blocks::avr::port::Port;
use crate::blocks::avr::selfprog::{NRWW, PAGE_BYTES, SelfProgramming, Work};
use crate::blocks::avr::spi::Spi;
use crate::blocks::avr::timer::{self, Prescaler, Timer};
use crate::blocks::avr::twi::Twi;
use crate::blocks::avr::usart::{self, Source, Usart};
use crate::blocks::avr::watchdog::Watchdog;
use crate::blocks::avr::{Clocks, Cx, Window};
use crate::blocks::follow::Follow;
use crate::clock::{Line, retune_together, splitmix64};
use crate::common::{Common, Drive, Exchange, OnBus, UartByte};
use crate::cores::by_cpu;
use crate::cores::msp430::Image;
use crate::device::{self, Device, DeviceError, us};
use crate::engine::{Chip, Ran};
use crate::families::Makes;
use crate::pin::{Held, Pin};
use crate::resets::ResetCause;
use crate::stop::Register;

const FLASH_BYTES: usize = 0x2_0000;
const RAM_START: u16 = 0x0100;
const RAM_BYTES: usize = 0x1000;
const EEPROM_START: u32 = 0x81_0000;
const EEPROM_BYTES: usize = 0x1000;
const FUSES_START: u32 = 0x82_0000;

const SERIALS: [&str; 4] = ["spi", "usart0", "usart1", "twi"];
const SPI: usize = 0;
const TWI: usize = 3;

accounts::vocabulary! {
    components
    FLASH "flash" IDLE, EEPROM "eeprom" IDLE, ADC "adc" OFF, WDT "wdt" OFF,
    TIMER_OSCILLATOR "timer_oscillator" OFF, BOD "bod" OFF, COMPARATOR "comparator" OFF;
}
accounts::vocabulary! {
    states
    ADC_NOISE_REDUCTION "adc_noise_reduction", POWER_DOWN "power_down", POWER_SAVE "power_save",
    STANDBY "standby", EXTENDED_STANDBY "extended_standby", WRITE "write", ERASE "erase";
}

/// What a device file of this family lists: all of it, as its modules lie at the same addresses on every chip.
pub(crate) fn makes() -> Makes {
    const BLOCKS: [(&str, &str); 25] = [
        ("registers", "register_file"),
        ("ports", "ports"),
        ("adc", "adc"),
        ("analog_comparator", "analog_comparator"),
        ("usart0", "usart"),
        ("spi", "spi"),
        ("eeprom", "eeprom"),
        ("sfior", "sfior"),
        ("watchdog", "watchdog"),
        ("timer2", "timer8"),
        ("timer1", "timer16"),
        ("timer0", "timer8_async"),
        ("mcu_control", "mcu_control"),
        ("timer_interrupts", "timer_interrupts"),
        ("external_interrupts", "external_interrupts"),
        ("rampz", "rampz"),
        ("xdiv", "xdiv"),
        ("stack_pointer", "stack_pointer"),
        ("sreg", "sreg"),
        ("self_programming", "self_programming"),
        ("external_memory", "external_memory"),
        ("osccal", "osccal"),
        ("twi", "twi"),
        ("timer3", "timer16"),
        ("usart1", "usart"),
    ];
    Makes::of((BLOCKS.to_vec(), VECTORS.to_vec()))
        .needs(&BLOCKS.map(|b| b.0))
        .core(&["reset"])
        .clocks(&["io", "adc", "asy", "wdt", "rc"])
        .states(NAMES.states)
}

/// That the interrupts of `device` have the numbers by which this family serves them.
pub(crate) fn check(device: &Device) -> Result<(), DeviceError> {
    for (number, name) in (1..).zip(VECTORS) {
        if device.interrupt(name) != Some(number) {
            return device.wrong(format!("interrupt `{name}` of this family is number {number}"));
        }
    }
    Ok(())
}

/// The blocks that let secrets through in another way than by not being followed.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    vec![("self_programming", Follow::Unseen)]
}

const NAMES: Names = Names {
    components: COMPONENTS,
    active: "active.flash",
    states: STATES,
    events: &[&[
        Event::EepromWrite,
        Event::EepromRead,
        Event::FlashPageErase,
        Event::FlashPageWrite,
        Event::AdcConversion,
        Event::SpiByte,
        Event::TwiByte,
        Event::Usart0Byte,
        Event::Usart1Byte,
    ]],
};

/// Sleep modes, as bits SM2:0 choose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Sleep {
    Idle,
    AdcNoiseReduction,
    PowerDown,
    PowerSave,
    Standby,
    ExtendedStandby,
}

impl Sleep {
    fn state(self) -> StateId {
        match self {
            Self::Idle => accounts::IDLE,
            Self::AdcNoiseReduction => ADC_NOISE_REDUCTION,
            Self::PowerDown => POWER_DOWN,
            Self::PowerSave => POWER_SAVE,
            Self::Standby => STANDBY,
            Self::ExtendedStandby => EXTENDED_STANDBY,
        }
    }

    /// Whether clk_ADC runs, and with it the oscillator.
    fn keeps_clock(self) -> bool {
        matches!(self, Self::Idle | Self::AdcNoiseReduction)
    }

    /// True where clk_ASY goes on running.
    fn keeps_asy(self) -> bool {
        !matches!(self, Self::PowerDown | Self::Standby)
    }
}

/// Timer 0's registers as the watch crystal's side gets them: written here, taken over there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Asynchronous {
    on: bool,
    /// TCCR0, OCR0, TCNT0, in the order of their busy flags: value and the tick that takes it over.
    pending: [Option<(u8, u64)>; 3],
    /// TCNT0 as it was before a sleep, which it still reads as until the next tick behind this one.
    stale: Option<(u16, u64)>,
}

const ASYNC_REGS: [timer::Reg; 3] = [timer::Reg::Tccrb, timer::Reg::OcrL(0), timer::Reg::TcntL];

/// Registers of the I/O space that belong to no block.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Registers {
    clocks: Clocks,
    timers: [Timer; 4],
    /// OCnx as their pins have them, by timer.
    shown: [u8; 4],
    prescaler_0: Prescaler,
    prescaler_321: Prescaler,
    asynchronous: Asynchronous,
    spi: Spi,
    twi: Twi,
    usarts: [Usart; 2],
    adc: Adc,
    eeprom: Eeprom,
    wdt: Watchdog,
    ports: [Port; 7],
    external: External,
    spm: SelfProgramming,
    mcucr: u8,
    ivce: Window,
    mcucsr: u8,
    sfior: u8,
    xdiv: u8,
    osccal: u8,
    acsr: u8,
    sleep: Option<Sleep>,
    /// Fuses in force: those of the last reset.
    fuses: [u8; 3],
    xtal_hz: u32,
    /// Crystal between TOSC1 and TOSC2.
    tosc_hz: u32,
    /// clk_CPU, also while it is at rest.
    cpu_hz: u32,
}

/// Why the chip starts anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    PowerOn,
    BrownOut,
    Watchdog,
}

/// Everything but the core: the core's bus.
pub(crate) struct Soc {
    common: Common,
    facts: Arc<device::Atmega128>,
    flash: Vec<u8>,
    ram: Box<[u8; RAM_BYTES]>,
    eeprom: Vec<u8>,
    fuse_bytes: [u8; 4],
    regs: Registers,
    deadline: Cycles,
    /// Flash that changed, in bytes.
    changed: Vec<Range<u32>>,
    reset: Option<Cause>,
    stall: u32,
    flash_image: Option<Image>,
    eeprom_image: Option<Image>,
}

/// ATmega128 with core, blocks and clocks.
pub(crate) struct Avr {
    cpu: Cpu,
    soc: Soc,
}

macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr) => {{
        let now = $soc.regs.clocks.cpu.time_of($at);
        Cx {
            addr: $addr,
            at: $at,
            io: $soc.regs.clocks.io.ticks_at(now),
            now,
            clocks: &$soc.regs.clocks,
            lints: &mut $soc.common.state.lints,
            accounts: &mut $soc.common.accounts,
        }
    }};
}

mod bus;
mod chip;
mod map;
mod modes;
mod outputs;
mod registers;

use map::*;

impl Registers {
    fn new(facts: &device::Atmega128) -> Self {
        let stopped = Line::STOPPED;
        let fuses = [facts.fuses.low, facts.fuses.high, facts.fuses.extended];
        Self {
            clocks: Clocks { cpu: stopped, io: stopped, adc: stopped, asy: stopped, wdt: stopped },
            timers: std::array::from_fn(|i| Timer::new(i as u8)),
            shown: [0; 4],
            prescaler_0: Prescaler::default(),
            prescaler_321: Prescaler::default(),
            asynchronous: Asynchronous::default(),
            spi: Spi::default(),
            twi: Twi::default(),
            usarts: [Usart::new(), Usart::new()],
            adc: Adc::default(),
            eeprom: Eeprom::default(),
            wdt: Watchdog::default(),
            ports: Default::default(),
            external: External::default(),
            spm: SelfProgramming::new(),
            mcucr: 0,
            ivce: Window::default(),
            mcucsr: 0,
            sfior: 0,
            xdiv: 0,
            osccal: 0,
            acsr: 0,
            sleep: None,
            fuses,
            xtal_hz: 0,
            tosc_hz: facts.clock.tosc_hz,
            cpu_hz: 1_000_000,
        }
    }

    // ---- fuses

    fn cksel(&self) -> u8 {
        self.fuses[0] & 0xF
    }

    fn sut(&self) -> usize {
        usize::from(self.fuses[0] >> 4 & 3)
    }

    fn bod_level(&self, facts: &device::Atmega128) -> Option<f64> {
        let enabled = self.fuses[0] & 0x40 == 0;
        enabled.then(|| facts.bod.level_v[usize::from(self.fuses[0] & 0x80 == 0)])
    }

    /// Word address of the boot section.
    fn boot_start(&self) -> u16 {
        let words = 4096_u32 >> (self.fuses[1] >> 1 & 3);
        (0x1_0000 - words) as u16
    }

    fn reset_vector(&self) -> u16 {
        if self.fuses[1] & 1 == 0 { self.boot_start() } else { 0 }
    }

    /// Frequency of the clock source, start-up cycles from power-down, and what a reset adds.
    fn source(&self, facts: &device::Atmega128) -> Result<(u32, u64, f64), &'static str> {
        let s = &facts.startup;
        let sut = self.sut();
        let crystal = || match self.xtal_hz {
            0 => Err(
                "the fuses (CKSEL) ask for a crystal or an external clock, and none is fitted to XTAL1; fit one of the board's frequency as `xtal`",
            ),
            hz => Ok(hz),
        };
        Ok(match self.cksel() {
            0 => (crystal()?, s.external_ck, s.external_reset_ms[sut]),
            n @ 1..=4 => {
                (facts.clock.rc_mhz[usize::from(n) - 1] * 1_000_000, s.rc_ck, s.rc_reset_ms[sut])
            }
            5..=8 => return Err("the external RC oscillator (CKSEL 5 to 8) is not modelled"),
            9 => (crystal()?, s.low_frequency_ck[sut], s.low_frequency_reset_ms[sut]),
            n => {
                let i = 4 * usize::from(n & 1) + sut;
                (crystal()?, s.crystal_ck[i], s.crystal_reset_ms[i])
            }
        })
    }

    fn divider(&self) -> u32 {
        if self.xdiv & XDIVEN != 0 { 129 - u32::from(self.xdiv & 0x7F) } else { 1 }
    }

    // ---- timers

    fn prescaler(&self, timer: usize) -> Prescaler {
        if timer == 0 { self.prescaler_0 } else { self.prescaler_321 }
    }

    fn timer_line(&self, timer: usize) -> &Line {
        if timer == 0 && self.asynchronous.on { &self.clocks.asy } else { &self.clocks.io }
    }

    /// Flags of asynchronous timer 0 come three CPU cycles late.
    fn flag_lag(&self, timer: usize) -> Picos {
        if timer == 0 && self.asynchronous.on {
            Picos::of_ticks(3, self.cpu_hz)
        } else {
            Picos::ZERO
        }
    }

    /// Brings a timer's flags to `now`.
    fn advance_timer(&mut self, i: usize, now: Picos) {
        if i == 0 && self.asynchronous.on {
            self.take_over(now);
        }
        let tick = self.timer_line(i).ticks_at(Picos(now.0.saturating_sub(self.flag_lag(i).0)));
        let prescaler = self.prescaler(i);
        self.timers[i].event(tick, prescaler);
    }

    /// Timer 0 takes over what was written for it and is due.
    fn take_over(&mut self, now: Picos) {
        let tick = self.clocks.asy.ticks_at(now);
        for (reg, pending) in ASYNC_REGS.into_iter().zip(&mut self.asynchronous.pending) {
            if let Some((value, at)) = pending.take_if(|(_, at)| *at <= tick) {
                self.timers[0].advance(at, self.prescaler_0);
                self.timers[0].write_checked(reg, value);
            }
        }
    }

    fn timer_event(&self, i: usize) -> Option<Picos> {
        let line = self.timer_line(i);
        let flag = self.timers[i].next_flag(self.prescaler(i));
        let flag = flag.map(|tick| Picos(line.time_of(tick).0.saturating_add(self.flag_lag(i).0)));
        let taken = self.asynchronous.pending.iter().flatten().map(|p| p.1).min();
        let taken = taken.filter(|_| i == 0 && self.asynchronous.on).map(|tick| line.time_of(tick));
        [flag, taken].into_iter().flatten().filter(|&t| t != Picos::MAX).min()
    }

    fn flags(&self, places: &FlagPlaces, of: impl Fn(&Timer) -> u8) -> u8 {
        places
            .iter()
            .filter(|(_, timer, flag)| of(&self.timers[*timer]) & flag != 0)
            .fold(0, |value, (bit, ..)| value | 1 << bit)
    }

    /// The flags at `now`.
    fn flags_at(&mut self, places: &FlagPlaces, now: Picos) -> u8 {
        (0..4).for_each(|i| self.advance_timer(i, now));
        self.flags(places, |t| t.flags)
    }

    // ---- interrupts

    /// Number of the pending, enabled interrupt of highest priority.
    fn pending(&self) -> Option<u8> {
        let timer = |range: Range<u8>| {
            TIMER_VECTORS.iter().filter(move |v| range.contains(&v.0)).find_map(|&(n, i, flag)| {
                let t = &self.timers[i];
                (t.flags & t.enabled & flag != 0).then_some(n)
            })
        };
        let external = self.external.pending();
        if external != 0 {
            return Some(INT0 + external.trailing_zeros() as u8);
        }
        let usart = |i: usize, first: u8| self.usarts[i].pending().map(|s| first + s as u8);
        timer(10..18)
            .or_else(|| self.spi.pending().then_some(SPI_STC))
            .or_else(|| usart(0, USART0_RX))
            .or_else(|| self.adc.pending().then_some(ADC_DONE))
            .or_else(|| self.eeprom.pending().then_some(EE_READY))
            .or_else(|| timer(25..31))
            .or_else(|| usart(1, USART1_RX))
            .or_else(|| self.twi.pending().then_some(TWI_DONE))
            .or_else(|| (self.spm.spmie && !self.spm.is_busy()).then_some(SPM_READY))
    }

    fn acknowledge(&mut self, n: u8) {
        match n {
            INT0..10 => self.external.clear(1 << (n - INT0)),
            SPI_STC => self.spi.acknowledge(),
            19..22 => self.usarts[0].acknowledge(source(n - USART0_RX)),
            ADC_DONE => self.adc.acknowledge(),
            31..34 => self.usarts[1].acknowledge(source(n - USART1_RX)),
            _ => {
                if let Some(&(_, i, flag)) = TIMER_VECTORS.iter().find(|v| v.0 == n) {
                    self.timers[i].flags &= !flag;
                }
            }
        }
    }

    /// Whether something inside may yet raise an enabled interrupt.
    fn may_interrupt(&self) -> bool {
        self.pending().is_some()
            || (0..4).any(|i| {
                self.timer_line(i).is_running() && self.timers[i].may_interrupt(self.prescaler(i))
            })
            || self.spi.may_interrupt()
            || self.twi.may_interrupt()
            || self.usarts.iter().any(Usart::may_interrupt)
            || self.adc.may_interrupt()
            || self.eeprom.may_interrupt()
            || self.spm.spmie
    }

    /// Whether a level from outside, or a part that clocks the SPI, may raise an enabled interrupt.
    fn pins_may_interrupt(&self) -> bool {
        self.external.eimsk != 0
            || self.timers.iter().any(|t| t.enabled & timer::ICF != 0)
            || self.spi.may_interrupt()
    }

    /// Levels that INT7:0 see.
    fn interrupt_levels(&self) -> u8 {
        self.ports[PORT_D].levels() & 0x0F | self.ports[PORT_E].levels() & 0xF0
    }
}

fn source(n: u8) -> Source {
    match n {
        0 => Source::Receive,
        1 => Source::Empty,
        _ => Source::Transmit,
    }
}

fn place(pin: Pin) -> (usize, u8) {
    (usize::from(pin.port.wrapping_sub(b'A')) % PORTS.len(), pin.mask())
}

fn is_driven_low(ports: &[Port; 7], pin: Pin) -> bool {
    let (i, mask) = place(pin);
    ports[i].ddr & mask != 0 && ports[i].out() & mask == 0
}

impl Soc {
    fn new(dev: Arc<Device>) -> Self {
        let facts = Arc::new(dev.atmega128().clone());
        let mut soc = Self {
            flash: vec![0xFF; FLASH_BYTES],
            ram: Box::new([0; RAM_BYTES]),
            eeprom: vec![0xFF; EEPROM_BYTES],
            fuse_bytes: [facts.fuses.low, facts.fuses.high, facts.fuses.extended, 0xFF],
            regs: Registers::new(&facts),
            deadline: 0,
            changed: Vec::new(),
            reset: None,
            stall: 0,
            flash_image: None,
            eeprom_image: None,
            common: Common::new(dev, &NAMES),
            facts,
        };
        soc.scramble_ram(0);
        soc
    }

    /// Fills static memory with a start-up pattern: never zeros, the same for the same seed.
    fn scramble_ram(&mut self, seed: u64) {
        for (i, chunk) in self.ram.chunks_mut(8).enumerate() {
            let noise = splitmix64(seed ^ (i as u64) << 20).to_le_bytes();
            chunk.copy_from_slice(&noise[..chunk.len()]);
        }
    }

    // ---- events

    fn next_event(&self) -> Option<Picos> {
        let r = &self.regs;
        let mut next = Picos::MAX;
        let mut sooner = |t: Option<Picos>| next = next.min(t.unwrap_or(Picos::MAX));
        (0..4).for_each(|i| sooner(r.timer_event(i)));
        sooner(r.spi.next_event());
        sooner(r.twi.next_event());
        r.usarts.iter().for_each(|u| sooner(u.next_event()));
        sooner(r.adc.next_event());
        sooner(r.eeprom.next_event());
        sooner(r.wdt.next_event(&r.clocks.wdt));
        sooner(r.spm.next_event());
        sooner(self.common.next_event());
        (next != Picos::MAX).then_some(next)
    }

    fn process_at(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        let mut counted = false;
        for i in 0..4 {
            if self.regs.timer_event(i).is_some_and(|e| e <= t) {
                self.regs.advance_timer(i, t);
                counted = true;
            }
        }
        if counted {
            self.follow_outputs(cycles);
            // What timer 0 has taken over late may connect its pin.
            self.give_pins(t, cycles);
        }
        if let Some(byte) = self.regs.spi.event(t) {
            self.spi_byte(byte, t, cycles);
        }
        let io = self.regs.clocks.io;
        if let Some(step) = self.regs.twi.event(t, &io) {
            if step != OnBus::Stop {
                self.common.accounts.count(Event::TwiByte);
            }
            let (answer, drives) = self.common.i2c(TWI, step, t, cycles);
            self.regs.twi.answered(step, answer);
            self.drive_all(drives, t);
        }
        for i in 0..2 {
            let clocked = self.regs.clocks.io.is_running();
            let io = self.regs.clocks.io;
            let frame = self.regs.usarts[i].frame_ticks();
            let sent = self.regs.usarts[i].event(t, &io, clocked);
            let base = DATA_SPACE | u32::from([at::UDR0, at::UDR1][i]);
            self.common.uart_slips(&mut self.regs.usarts[i].incoming, base, cycles);
            if let Some(byte) = sent {
                let start = io.time_of(io.ticks_at(t).saturating_sub(frame));
                let drives = self.common.sent(1 + i, byte, start..t, cycles);
                self.drive_all(drives, t);
                let event = [Event::Usart0Byte, Event::Usart1Byte][i];
                self.common.accounts.count(event);
                let usci = SERIALS[1 + i].to_owned();
                self.common.state.uart_log.push(UartByte {
                    time_ps: t.0,
                    usci,
                    byte,
                    bit_ps: self.regs.usarts[i].bit_ps(&io),
                });
            }
        }
        match self.regs.adc.event(t) {
            Some(Need::Sample { mux, reference }) => self.sample(mux, reference, t),
            Some(Need::End(end)) => {
                self.common.accounts.count(Event::AdcConversion);
                let line = self.regs.clocks.adc;
                self.regs.adc.finish(end, &line);
            }
            None => {}
        }
        if let Some((addr, byte)) = self.regs.eeprom.event(t) {
            self.eeprom[usize::from(addr) % EEPROM_BYTES] = byte;
            self.eeprom_image = None;
            self.set_state(EEPROM, accounts::IDLE, now, cycles);
        }
        if let Some(page) = self.regs.spm.event(t, &mut self.flash) {
            self.flash_changed(page..page + PAGE_BYTES);
            self.set_state(FLASH, accounts::IDLE, now, cycles);
        }
        if self.regs.wdt.next_event(&self.regs.clocks.wdt).is_some_and(|e| e <= t) {
            self.reset = Some(Cause::Watchdog);
        }
        if self.common.next_event().is_some_and(|e| e <= t) {
            let (drives, shifts) = self.common.events(t, now, cycles);
            for shift in shifts {
                let gave = self.shifted_in(shift.serial, shift.byte, t);
                self.common.shifted_out(&shift, t, gave);
            }
            self.drive_all(drives, t);
        }
    }

    fn spi_byte(&mut self, mosi: u8, t: Picos, cycles: Cycles) {
        self.common.accounts.count(Event::SpiByte);
        let addr = DATA_SPACE | u32::from(at::SPDR);
        let is_mode_0 = self.regs.spi.is_mode_0();
        let spi = Exchange { serial: SPI, mosi, is_mode_0, addr };
        let (miso, drives) = self.common.exchange(&spi, t, cycles);
        self.drive_all(drives, t);
        self.regs.spi.received(miso);
    }

    /// A part clocks a byte into the SPI slave, or has sent one to a USART.
    fn shifted_in(&mut self, serial: usize, byte: u8, t: Picos) -> u8 {
        if let Some(usart) = serial.checked_sub(1).and_then(|i| self.regs.usarts.get_mut(i)) {
            usart.uart_in(t, byte, 0);
            return 0xFF;
        }
        // SS, PB0, selects a slave while it is low.
        let selected = self.regs.ports[PORT_B].levels() & 1 == 0;
        if serial != SPI || !self.regs.spi.is_slave() || !selected {
            return 0xFF;
        }
        self.common.accounts.count(Event::SpiByte);
        self.deadline = 0;
        self.regs.spi.shifted_in(byte)
    }

    fn sample(&mut self, mux: u8, reference: u8, t: Picos) {
        let ports = &self.regs.ports;
        let level = |pin: Pin| {
            let (i, mask) = place(pin);
            ports[i].levels() & mask != 0
        };
        let vcc_v = self.common.state.vcc_v;
        let volts = match mux {
            30 => Some(self.facts.adc.bandgap_v),
            31 => Some(0.0),
            channel => self.common.adc_volts(channel, t, &level),
        };
        let fault = |what: String| Some(Fault::device(DATA_SPACE | u32::from(at::ADMUX), what));
        let Some(volts) = volts else {
            self.common.pending_fault = fault(crate::common::no_voltage("ADC channel ", &[mux]));
            return;
        };
        let reference_v = match reference {
            // AREF as these boards wire it, or what is connected as channel 32.
            0 => self.common.adc_volts(32, t, &level).unwrap_or(vcc_v),
            1 => vcc_v,
            3 => self.facts.adc.internal_v,
            _ => {
                self.common.pending_fault =
                    fault("ADC reference 2 (REFS1:0 in ADMUX) is reserved".to_owned());
                return;
            }
        };
        self.regs.adc.hold(volts, reference_v);
    }

    fn flash_changed(&mut self, range: Range<u32>) {
        self.flash_image = None;
        self.changed.push(range);
    }

    // ---- pins

    /// Levels at port `i` have changed: interrupts, captures, the bus of the SPI.
    fn levels_changed(&mut self, i: usize, changed: u8, now: Picos) {
        let r = &mut self.regs;
        let clocked = r.clocks.io.is_running();
        if i == PORT_D || i == PORT_E {
            let levels = r.interrupt_levels();
            r.external.levels(levels, clocked);
        }
        let capture = match i {
            PORT_D => Some((1, 0x10)),
            PORT_E => Some((3, 0x80)),
            _ => None,
        };
        if let Some((timer, pin)) = capture.filter(|(_, pin)| clocked && changed & pin != 0) {
            let rising = r.ports[i].levels() & pin != 0;
            let tick = r.clocks.io.tick_not_before(now);
            r.timers[timer].capture_edge(rising, tick);
        }
        self.check_select();
    }

    /// SS is an input and low while the SPI is a master.
    fn check_select(&mut self) {
        let b = &self.regs.ports[PORT_B];
        if self.regs.spi.is_master() && b.ddr & 1 == 0 && b.levels() & 1 == 0 {
            self.regs.spi.lose_bus();
        }
    }

    fn drive_all(&mut self, drives: Vec<Drive>, now: Picos) {
        for (pin, level) in drives {
            let (i, mask) = place(pin);
            let io = self.regs.clocks.io.tick_not_before(now);
            let changed = self.regs.ports[i].change(io, |p| p.drive(mask, level));
            if changed != 0 {
                self.levels_changed(i, changed, now);
            }
            self.deadline = 0;
        }
    }

    /// PORTx or DDRx is written in cycle `at`.
    fn port_changed(&mut self, i: usize, at: Cycles, change: impl FnOnce(&mut Port)) {
        let now = self.regs.clocks.cpu.time_of(at + 1);
        self.port_changed_at(i, now, at + 1, change);
    }

    fn port_changed_at(
        &mut self,
        i: usize,
        now: Picos,
        cycles: Cycles,
        change: impl FnOnce(&mut Port),
    ) {
        let io = self.regs.clocks.io.ticks_at(now);
        let before = self.regs.ports[i].held();
        let changed = self.regs.ports[i].change(io, change);
        if changed != 0 {
            self.levels_changed(i, changed, now);
        }
        let outputs = changed & self.regs.ports[i].ddr;
        let levels = self.regs.ports[i].levels();
        let mut drives = Vec::new();
        for bit in (0..8).filter(|bit| outputs >> bit & 1 != 0) {
            let pin = Pin { port: b'A' + i as u8, bit };
            drives.extend(self.common.output(pin, levels >> bit & 1 != 0, now, cycles));
        }
        let ports = &self.regs.ports;
        drives.extend(self.common.select(|pin| is_driven_low(ports, pin), now, cycles));
        drives.extend(self.tell_held(i, before, now, cycles));
        self.drive_all(drives, now);
    }

    /// Tells the parts which pins of port `i` the chip holds in another way than `before`.
    fn tell_held(&mut self, i: usize, before: [Held; 8], now: Picos, cycles: Cycles) -> Vec<Drive> {
        let after = self.regs.ports[i].held();
        let mut drives = Vec::new();
        for bit in (0..8).filter(|bit| before[usize::from(*bit)] != after[usize::from(*bit)]) {
            let pin = Pin { port: b'A' + i as u8, bit };
            drives.extend(self.common.held(pin, after[usize::from(bit)], now, cycles));
        }
        drives
    }

    // ---- reset and supply

    fn reset_registers(&mut self, cause: Cause, now: Picos, cycles: Cycles) {
        self.regs.fuses.copy_from_slice(&self.fuse_bytes[..3]);
        let r = &mut self.regs;
        // A reset ends a sleep; clocks may have been at rest.
        r.sleep = None;
        r.asynchronous = Asynchronous::default();
        r.clocks.cpu.restart(now, cycles);
        r.clocks.cpu.join(&r.clocks.io);
        r.xdiv = 0;
        let aborted = r.spm.cut();
        let spm_was_busy = r.spm.rww_busy;
        r.spm = SelfProgramming::new();
        r.mcucr = 0;
        r.ivce.close();
        r.sfior = 0;
        r.acsr = 0;
        r.osccal = 0;
        r.spi.reset();
        r.twi.reset();
        r.usarts.iter_mut().for_each(Usart::reset);
        r.adc.reset();
        r.eeprom.reset();
        r.external.reset();
        r.mcucsr = match cause {
            Cause::PowerOn => PORF,
            Cause::BrownOut => r.mcucsr | BORF,
            Cause::Watchdog => r.mcucsr | WDRF,
        };
        if let Some(page) = aborted {
            self.half_done(page, now);
        }
        if spm_was_busy {
            self.changed.push(0..NRWW);
        }
        self.update_clocks(now, cycles);
        let r = &mut self.regs;
        let io = r.clocks.io.ticks_at(now);
        r.timers.iter_mut().for_each(|t| t.reset(io));
        r.shown = [0; 4];
        r.prescaler_0 = Prescaler { origin: io, held: false };
        r.prescaler_321 = r.prescaler_0;
        let always_on = r.fuses[2] & 1 == 0;
        let line = r.clocks.wdt;
        r.wdt.reset(always_on, &line, now);
        for i in 0..r.ports.len() {
            self.port_changed(i, cycles, Port::reset);
        }
        if self.common.state.powered {
            self.set_state(FLASH, accounts::IDLE, now, cycles);
        }
        self.reset = None;
        self.common.pending_fault = None;
        self.deadline = 0;
        self.update_clocks(now, cycles);
    }

    /// What a reset adds until the first instruction runs.
    fn reset_time(&self) -> Picos {
        let (hz, startup, ms) = self.regs.source(&self.facts).unwrap_or((1_000_000, 6, 65.0));
        us(ms * 1e3) + Picos::of_ticks(startup, hz.max(1))
    }

    /// A page whose erasure or writing was cut: some bits of the one, some of the other.
    fn half_done(&mut self, page: u32, now: Picos) {
        let bytes = &mut self.flash[page as usize..(page + PAGE_BYTES) as usize];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte |= splitmix64(now.0 as u64 ^ (i as u64) << 32) as u8;
        }
        self.flash_changed(page..page + PAGE_BYTES);
    }

    fn power_off(&mut self, now: Picos, cycles: Cycles) {
        if let Some(page) = self.regs.spm.cut() {
            self.half_done(page, now);
        }
        if let Some(addr) = self.regs.eeprom.cut() {
            self.eeprom[usize::from(addr) % EEPROM_BYTES] ^= splitmix64(now.0 as u64) as u8;
            self.eeprom_image = None;
        }
        for component in [FLASH, EEPROM] {
            self.set_state(component, accounts::OFF, now, cycles);
        }
        self.regs.sleep = None;
        self.update_clocks(now, cycles);
    }
}
