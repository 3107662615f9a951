// SPDX-License-Identifier: MIT OR Apache-2.0
//! ATmega128: the AVR core with flash, static memory, EEPROM and peripherals, its clock domains and sleep modes.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::avr::{self, Bus, Cpu, DATA_SPACE, Exit, Timing};
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
use crate::clock::{Line, splitmix64};
use crate::common::{Common, Drive, OnBus, UartByte};
use crate::cores::msp430::Image;
use crate::device::{self, Device, us};
use crate::engine::{Chip, Ran};
use crate::instruments::lint::LintKind;
use crate::instruments::taint::Follow;
use crate::machine::Register;
use crate::pin::{Held, Pin};
use crate::resets::ResetCause;

const FLASH_BYTES: usize = 0x2_0000;
const RAM_START: u16 = 0x0100;
const RAM_BYTES: usize = 0x1000;
const EEPROM_START: u32 = 0x81_0000;
const EEPROM_BYTES: usize = 0x1000;
const FUSES_START: u32 = 0x82_0000;

const SERIALS: [&str; 4] = ["spi", "usart0", "usart1", "twi"];
const SPI: usize = 0;
const TWI: usize = 3;

const FLASH: ComponentId = ComponentId(1);
const EEPROM: ComponentId = ComponentId(2);
const ADC: ComponentId = ComponentId(3);
const WDT: ComponentId = ComponentId(4);
const TIMER_OSCILLATOR: ComponentId = ComponentId(5);
const BOD: ComponentId = ComponentId(6);
const COMPARATOR: ComponentId = ComponentId(7);
const ADC_NOISE_REDUCTION: StateId = StateId(5);
const POWER_DOWN: StateId = StateId(6);
const POWER_SAVE: StateId = StateId(7);
const STANDBY: StateId = StateId(8);
const EXTENDED_STANDBY: StateId = StateId(9);
const WRITE: StateId = StateId(10);
const ERASE: StateId = StateId(11);

/// The blocks that let secrets through in another way than by not being followed.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    vec![("self_programming", Follow::Unseen)]
}

const NAMES: Names = Names {
    components: &[
        ("cpu", accounts::OFF),
        ("flash", accounts::IDLE),
        ("eeprom", accounts::IDLE),
        ("adc", accounts::OFF),
        ("wdt", accounts::OFF),
        ("timer_oscillator", accounts::OFF),
        ("bod", accounts::OFF),
        ("comparator", accounts::OFF),
    ],
    states: &[
        "active.flash",
        "active.ram",
        "off",
        "idle",
        "on",
        "adc_noise_reduction",
        "power_down",
        "power_save",
        "standby",
        "extended_standby",
        "write",
        "erase",
    ],
    events: &[
        Event::EepromWrite,
        Event::EepromRead,
        Event::FlashPageErase,
        Event::FlashPageWrite,
        Event::AdcConversion,
        Event::SpiByte,
        Event::TwiByte,
        Event::Usart0Byte,
        Event::Usart1Byte,
    ],
};

/// Sleep modes: SM2:0.
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

    /// Whether clk_ASY runs.
    fn keeps_asy(self) -> bool {
        !matches!(self, Self::PowerDown | Self::Standby)
    }
}

/// Bits of registers that the chip itself keeps.
mod mcucr {
    pub const SRE: u8 = 1 << 7;
    pub const SE: u8 = 1 << 5;
    pub const SM1: u8 = 1 << 4;
    pub const SM0: u8 = 1 << 3;
    pub const SM2: u8 = 1 << 2;
    pub const IVSEL: u8 = 1 << 1;
    pub const IVCE: u8 = 1 << 0;
}
mod mcucsr {
    pub const JTD: u8 = 1 << 7;
    pub const WDRF: u8 = 1 << 3;
    pub const BORF: u8 = 1 << 2;
    pub const PORF: u8 = 1 << 0;
}
mod sfior {
    pub const TSM: u8 = 1 << 7;
    pub const ACME: u8 = 1 << 3;
    pub const PUD: u8 = 1 << 2;
    pub const PSR0: u8 = 1 << 1;
    pub const PSR321: u8 = 1 << 0;
}
const XDIVEN: u8 = 1 << 7;
const ACD: u8 = 1 << 7;
const AS0: u8 = 1 << 3;

/// Addresses in the data space (datasheet, "Register Summary").
mod addr {
    pub const ADCL: u16 = 0x24;
    pub const ADCH: u16 = 0x25;
    pub const ADCSRA: u16 = 0x26;
    pub const ADMUX: u16 = 0x27;
    pub const ACSR: u16 = 0x28;
    pub const UBRR0L: u16 = 0x29;
    pub const UCSR0B: u16 = 0x2A;
    pub const UCSR0A: u16 = 0x2B;
    pub const UDR0: u16 = 0x2C;
    pub const SPCR: u16 = 0x2D;
    pub const SPSR: u16 = 0x2E;
    pub const SPDR: u16 = 0x2F;
    pub const EECR: u16 = 0x3C;
    pub const EEDR: u16 = 0x3D;
    pub const EEARL: u16 = 0x3E;
    pub const EEARH: u16 = 0x3F;
    pub const SFIOR: u16 = 0x40;
    pub const WDTCR: u16 = 0x41;
    pub const ASSR: u16 = 0x50;
    pub const MCUCSR: u16 = 0x54;
    pub const MCUCR: u16 = 0x55;
    pub const TIFR: u16 = 0x56;
    pub const TIMSK: u16 = 0x57;
    pub const EIFR: u16 = 0x58;
    pub const EIMSK: u16 = 0x59;
    pub const EICRB: u16 = 0x5A;
    pub const XDIV: u16 = 0x5C;
    pub const SPMCSR: u16 = 0x68;
    pub const EICRA: u16 = 0x6A;
    pub const XMCRB: u16 = 0x6C;
    pub const XMCRA: u16 = 0x6D;
    pub const OSCCAL: u16 = 0x6F;
    pub const TWBR: u16 = 0x70;
    pub const TWSR: u16 = 0x71;
    pub const TWAR: u16 = 0x72;
    pub const TWDR: u16 = 0x73;
    pub const TWCR: u16 = 0x74;
    pub const ETIFR: u16 = 0x7C;
    pub const ETIMSK: u16 = 0x7D;
    pub const UBRR0H: u16 = 0x90;
    pub const UCSR0C: u16 = 0x95;
    pub const UBRR1H: u16 = 0x98;
    pub const UBRR1L: u16 = 0x99;
    pub const UCSR1B: u16 = 0x9A;
    pub const UCSR1A: u16 = 0x9B;
    pub const UDR1: u16 = 0x9C;
    pub const UCSR1C: u16 = 0x9D;
}

/// Ports in the order of their letters: addresses of PINx, DDRx, PORTx.
const PORTS: [[u16; 3]; 7] = [
    [0x39, 0x3A, 0x3B],
    [0x36, 0x37, 0x38],
    [0x33, 0x34, 0x35],
    [0x30, 0x31, 0x32],
    [0x21, 0x22, 0x23],
    [0x20, 0x61, 0x62],
    [0x63, 0x64, 0x65],
];
const PORT_B: usize = 1;
const PORT_D: usize = 3;
const PORT_E: usize = 4;
/// Port G has five pins.
const PORT_MASKS: [u8; 7] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F];

/// A timer and its register at an address.
fn timer_at(addr: u16) -> Option<(usize, timer::Reg)> {
    use timer::Reg::{IcrH, IcrL, OcrH, OcrL, Tccra, Tccrb, Tccrc, TcntH, TcntL};
    Some(match addr {
        0x51 => (0, OcrL(0)),
        0x52 => (0, TcntL),
        0x53 => (0, Tccrb),
        0x43 => (2, OcrL(0)),
        0x44 => (2, TcntL),
        0x45 => (2, Tccrb),
        0x46 => (1, IcrL),
        0x47 => (1, IcrH),
        0x48 => (1, OcrL(1)),
        0x49 => (1, OcrH(1)),
        0x4A => (1, OcrL(0)),
        0x4B => (1, OcrH(0)),
        0x4C => (1, TcntL),
        0x4D => (1, TcntH),
        0x4E => (1, Tccrb),
        0x4F => (1, Tccra),
        0x78 => (1, OcrL(2)),
        0x79 => (1, OcrH(2)),
        0x7A => (1, Tccrc),
        0x80 => (3, IcrL),
        0x81 => (3, IcrH),
        0x82 => (3, OcrL(2)),
        0x83 => (3, OcrH(2)),
        0x84 => (3, OcrL(1)),
        0x85 => (3, OcrH(1)),
        0x86 => (3, OcrL(0)),
        0x87 => (3, OcrH(0)),
        0x88 => (3, TcntL),
        0x89 => (3, TcntH),
        0x8A => (3, Tccrb),
        0x8B => (3, Tccra),
        0x8C => (3, Tccrc),
        _ => return None,
    })
}

/// Flags of TIFR and TIMSK (or ETIFR and ETIMSK): bit, timer, the timer's own flag.
type FlagPlaces = [(u8, usize, u8)];
const TIFR_FLAGS: &FlagPlaces = &[
    (7, 2, timer::OCFA),
    (6, 2, timer::TOV),
    (5, 1, timer::ICF),
    (4, 1, timer::OCFA),
    (3, 1, timer::OCFB),
    (2, 1, timer::TOV),
    (1, 0, timer::OCFA),
    (0, 0, timer::TOV),
];
const ETIFR_FLAGS: &FlagPlaces = &[
    (5, 3, timer::ICF),
    (4, 3, timer::OCFA),
    (3, 3, timer::OCFB),
    (2, 3, timer::TOV),
    (1, 3, timer::OCFC),
    (0, 1, timer::OCFC),
];

/// Interrupts of the timers: vector number, timer, flag.
const TIMER_VECTORS: [(u8, usize, u8); 14] = [
    (10, 2, timer::OCFA),
    (11, 2, timer::TOV),
    (12, 1, timer::ICF),
    (13, 1, timer::OCFA),
    (14, 1, timer::OCFB),
    (15, 1, timer::TOV),
    (16, 0, timer::OCFA),
    (17, 0, timer::TOV),
    (25, 1, timer::OCFC),
    (26, 3, timer::ICF),
    (27, 3, timer::OCFA),
    (28, 3, timer::OCFB),
    (29, 3, timer::OCFC),
    (30, 3, timer::TOV),
];
const INT0: u8 = 2;
const SPI_STC: u8 = 18;
const USART0_RX: u8 = 19;
const ADC_DONE: u8 = 22;
const EE_READY: u8 = 23;
const USART1_RX: u8 = 31;
const TWI_DONE: u8 = 34;
const SPM_READY: u8 = 35;

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

/// The registers.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Registers {
    clocks: Clocks,
    timers: [Timer; 4],
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

/// The chip.
pub(crate) struct Avr {
    cpu: Cpu,
    soc: Soc,
}

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedAvr {
    flash: Image,
    eeprom: Image,
    ram: Vec<u8>,
    fuse_bytes: [u8; 4],
    registers: Registers,
    r: [u8; 32],
    pc: u16,
    sp: u16,
    sreg: u8,
    rampz: u8,
    cycles: Cycles,
    interrupt_shadow: bool,
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

impl Registers {
    fn new(facts: &device::Atmega128) -> Self {
        let stopped = Line::STOPPED;
        let fuses = [facts.fuses.low, facts.fuses.high, facts.fuses.extended];
        Self {
            clocks: Clocks { cpu: stopped, io: stopped, adc: stopped, asy: stopped, wdt: stopped },
            timers: std::array::from_fn(|i| Timer::new(i as u8)),
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
    ports[i].ddr & mask != 0 && ports[i].port & mask == 0
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

    // ---- clocks

    fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
        let on = self.common.runs();
        let facts = Arc::clone(&self.facts);
        let r = &mut self.regs;
        let source = r.source(&facts);
        let (hz, div) = (source.map_or(1_000_000, |s| s.0), r.divider());
        let runs = |keeps: fn(Sleep) -> bool| on && r.sleep.is_none_or(keeps);
        let (adc_on, io_on, cpu_on) =
            (runs(Sleep::keeps_clock), runs(|s| s == Sleep::Idle), runs(|_| false));
        let asy_on = r.asynchronous.on && runs(Sleep::keeps_asy);
        let asy_hz = if asy_on { r.tosc_hz } else { 0 };
        r.cpu_hz = (hz / div).max(1);
        let l = &mut r.clocks;
        l.adc.retune(now, if adc_on { hz } else { 0 }, div, None);
        l.io.retune(now, if io_on { hz } else { 0 }, div, None);
        // While the CPU sleeps its line is put right at wake-up.
        if cpu_on {
            l.cpu.retune(now, hz, div, None);
        }
        l.asy.retune(now, asy_hz, 1, None);
        // Its period lies on a line through the two supplies of the table.
        let w = &facts.watchdog;
        let slope = (w.timeout_5v_ms - w.timeout_3v_ms) / 2.0;
        let timeout_s = (w.timeout_3v_ms + slope * (self.common.state.vcc_v - 3.0)) * 1e-3;
        l.wdt.retune(now, if on { (16384.0 / timeout_s).round() as u32 } else { 0 }, 1, None);
        let state = match (on, r.sleep) {
            (false, _) => accounts::OFF,
            (true, None) => accounts::ACTIVE,
            (true, Some(sleep)) => sleep.state(),
        };
        let point = OperatingPoint {
            mclk_hz: if cpu_on { hz / div } else { 0 },
            smclk_hz: if io_on { hz / div } else { 0 },
            aclk_hz: asy_hz,
            vcore: 0,
        };
        self.set_state(accounts::CPU, state, now, cycles);
        self.common.accounts.set_point(point, now, cycles, 0);
        self.book_parts(now, cycles);
        self.check_point(cpu_on, point.mclk_hz, source.err());
    }

    fn set_state(&mut self, component: ComponentId, state: StateId, now: Picos, cycles: Cycles) {
        self.common.accounts.set_state(component, state, now, cycles, 0);
    }

    /// States of what draws current beside the CPU.
    fn book_parts(&mut self, now: Picos, cycles: Cycles) {
        let on = self.common.runs();
        let r = &self.regs;
        let switch = |is_on: bool| if on && is_on { accounts::ON } else { accounts::OFF };
        let awake = matches!(r.sleep, None | Some(Sleep::Idle));
        let states = [
            (ADC, switch(r.adc.is_on() && r.sleep.is_none_or(Sleep::keeps_clock))),
            (WDT, switch(r.wdt.is_on())),
            (TIMER_OSCILLATOR, switch(r.asynchronous.on && r.sleep.is_none_or(Sleep::keeps_asy))),
            (BOD, switch(r.bod_level(&self.facts).is_some())),
            (COMPARATOR, switch(awake && r.acsr & ACD == 0)),
        ];
        for (component, state) in states {
            self.set_state(component, state, now, cycles);
        }
    }

    fn check_point(&mut self, cpu_on: bool, hz: u32, no_clock: Option<&'static str>) {
        self.common.illegal = None;
        if !cpu_on {
            return;
        }
        let speed = &self.facts.speed;
        let (vcc_v, vcc_max_v) = (self.common.state.vcc_v, self.common.dev.supply.vcc_max_v);
        let mhz = f64::from(hz) / 1e6;
        let why = if let Some(why) = no_clock {
            why.to_owned()
        } else if self.regs.fuses[2] & 2 == 0 {
            "the fuse M103C is programmed, and ATmega103 compatibility mode is not modelled; write 0xff to the extended fuses".to_owned()
        } else if mhz > speed.clock_max_mhz {
            format!(
                "a clock of {mhz:.4} MHz exceeds the {} MHz that this part allows at {vcc_v:.2} V; fit a slower crystal or divide it (XDIV)",
                speed.clock_max_mhz
            )
        } else if vcc_v < speed.vcc_min_v || vcc_v > vcc_max_v {
            format!(
                "supply of {vcc_v:.3} V is outside {} to {vcc_max_v} V, which this part needs at {mhz:.4} MHz, and no brown-out detector holds it in reset",
                speed.vcc_min_v
            )
        } else {
            return;
        };
        self.common.illegal = Some(Fault::device(FUSES_START, why));
    }

    /// The CPU slept since `mode` and is to run again: at the next edge of its clock, or when the oscillator has
    /// started.
    fn wake(&mut self, mode: Sleep, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let (hz, startup, _) = self.regs.source(&facts).unwrap_or((1_000_000, 6, 0.0));
        let freq_hz = (hz / self.regs.divider()).max(1);
        let l = &self.regs.clocks;
        let start = match mode {
            Sleep::Idle | Sleep::AdcNoiseReduction => l.adc.time_of(l.adc.tick_not_before(now)),
            Sleep::PowerDown | Sleep::PowerSave => now + Picos::of_ticks(startup, freq_hz),
            Sleep::Standby | Sleep::ExtendedStandby => {
                now + Picos::of_ticks(facts.startup.standby_ck, freq_hz)
            }
        };
        if !mode.keeps_clock() {
            // Meanwhile the oscillator runs and nothing else: standby.
            self.set_state(accounts::CPU, STANDBY, now, cycles);
            self.common.accounts.passed = Some((STANDBY, start.since(now)));
        }
        if self.regs.asynchronous.on
            && let Some((_, tick)) = &mut self.regs.asynchronous.stale
        {
            *tick = self.regs.clocks.asy.ticks_at(start);
        }
        self.common.state.now_ps = start.0;
        self.regs.sleep = None;
        let l = &mut self.regs.clocks;
        for line in [&mut l.adc, &mut l.io] {
            // One origin for all, so that their ticks fall together to the picosecond.
            line.restart(start, line.ticks_at(start));
        }
        l.cpu.restart(start, cycles);
        self.update_clocks(start, cycles);
    }

    fn fall_asleep(&mut self, now: Picos, cycles: Cycles) {
        use mcucr::{SE, SM0, SM1, SM2};
        let r = &mut self.regs;
        if r.mcucr & SE == 0 {
            return;
        }
        let bit = |b: u8| u8::from(r.mcucr & b != 0);
        let mode = match bit(SM2) << 2 | bit(SM1) << 1 | bit(SM0) {
            0 => Sleep::Idle,
            1 => Sleep::AdcNoiseReduction,
            2 => Sleep::PowerDown,
            3 => Sleep::PowerSave,
            6 => Sleep::Standby,
            7 => Sleep::ExtendedStandby,
            n => {
                let why = format!("sleep mode {n} (SM2:0 in MCUCR) is reserved");
                self.common.pending_fault =
                    Some(Fault::device(DATA_SPACE | u32::from(addr::MCUCR), why));
                return;
            }
        };
        (0..4).for_each(|i| r.advance_timer(i, now));
        if r.asynchronous.on && !mode.keeps_clock() {
            let tick = r.clocks.asy.ticks_at(now);
            r.asynchronous.stale = Some((r.timers[0].value(tick, r.prescaler_0), u64::MAX));
        }
        if mode == Sleep::AdcNoiseReduction {
            r.adc.sleep(now, &r.clocks.adc);
        } else if mode != Sleep::Idle {
            r.adc.stop();
        }
        r.sleep = Some(mode);
        self.update_clocks(now, cycles);
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
        for i in 0..4 {
            if self.regs.timer_event(i).is_some_and(|e| e <= t) {
                self.regs.advance_timer(i, t);
            }
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
            if let Some(byte) = self.regs.usarts[i].event(t, &io, clocked) {
                let start = io.time_of(io.ticks_at(t).saturating_sub(frame));
                let drives = self.common.sent(1 + i, byte, start..t, cycles);
                self.drive_all(drives, t);
                let event = [Event::Usart0Byte, Event::Usart1Byte][i];
                self.common.accounts.count(event);
                let usci = SERIALS[1 + i].to_owned();
                self.common.state.uart_log.push(UartByte { time_ps: t.0, usci, byte });
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
        let (miso, drives) = self.common.exchange(SPI, mosi, t, cycles);
        self.drive_all(drives, t);
        let place = DATA_SPACE | u32::from(addr::SPDR);
        if miso.is_none() {
            self.common.state.lints.report(LintKind::SpiNobody, place, cycles);
        } else if !self.regs.spi.is_mode_0() {
            self.common.state.lints.report(LintKind::SpiMode, place, cycles);
        }
        self.regs.spi.received(miso.unwrap_or(0xFF));
    }

    /// A part clocks a byte into the SPI slave, or has sent one to a USART.
    fn shifted_in(&mut self, serial: usize, byte: u8, t: Picos) -> u8 {
        if let Some(usart) = serial.checked_sub(1).and_then(|i| self.regs.usarts.get_mut(i)) {
            usart.uart_in(t, byte);
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
        let fault = |what: String| Some(Fault::device(DATA_SPACE | u32::from(addr::ADMUX), what));
        let Some(volts) = volts else {
            self.common.pending_fault =
                fault(format!("ADC channel {mux} has no voltage; connect one to it"));
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
            drives.extend(self.common.output(pin, levels >> bit & 1 != 0, now, at + 1));
        }
        let ports = &self.regs.ports;
        drives.extend(self.common.select(|pin| is_driven_low(ports, pin), now, at + 1));
        drives.extend(self.tell_held(i, before, now, at + 1));
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

    // ---- registers

    fn no_register(&self, addr: u16) -> Fault {
        let whole = DATA_SPACE | u32::from(addr);
        match self.common.dev.gap_at(whole) {
            Some(g) => {
                Fault::device(whole, format!("{}, which is not modelled: {}", g.name, g.why))
            }
            None => Fault::unmapped(whole),
        }
    }

    fn usart_at(addr: u16) -> Option<(usize, usart::Reg)> {
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

    fn port_at(addr: u16) -> Option<(usize, usize)> {
        PORTS.iter().enumerate().find_map(|(i, p)| Some((i, p.iter().position(|a| *a == addr)?)))
    }

    fn read_register(&mut self, addr: u16, at: Cycles) -> Result<u8, Fault> {
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

    fn read_timer(&mut self, i: usize, reg: timer::Reg, now: Picos) -> u8 {
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

    fn write_register(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
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
            addr::EEARH => {
                self.regs.eeprom.eear =
                    self.regs.eeprom.eear & 0x00FF | u16::from(value & 0x0F) << 8;
            }
            addr::SFIOR => self.write_sfior(value, io, at),
            addr::WDTCR => {
                let line = self.regs.clocks.wdt;
                self.regs.wdt.write(value, at, &line, now);
            }
            addr::ASSR => {
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
            addr::MCUCSR => {
                // Reset flags are cleared by writing zero.
                self.regs.mcucsr &= value | mcucsr::JTD;
                self.regs.mcucsr = self.regs.mcucsr & !mcucsr::JTD | value & mcucsr::JTD;
            }
            addr::MCUCR => {
                if value & mcucr::SRE != 0 {
                    return Err(cx.refuse("external memory (MCUCR.SRE) is not modelled"));
                }
                let r = &mut self.regs;
                let mut new = value & !mcucr::IVCE;
                if !r.ivce.is_open(at) || value & mcucr::IVCE != 0 {
                    new = new & !mcucr::IVSEL | r.mcucr & mcucr::IVSEL;
                }
                if value & mcucr::IVCE != 0 {
                    r.ivce.open(at, 4);
                } else {
                    r.ivce.close();
                }
                r.mcucr = new;
            }
            addr::TIFR | addr::ETIFR => {
                let r = &mut self.regs;
                (0..4).for_each(|i| r.advance_timer(i, now));
                let places = if addr == addr::TIFR { TIFR_FLAGS } else { ETIFR_FLAGS };
                for &(_, i, flag) in places.iter().filter(|p| value >> p.0 & 1 != 0) {
                    r.timers[i].flags &= !flag;
                }
            }
            addr::TIMSK | addr::ETIMSK => {
                let r = &mut self.regs;
                (0..4).for_each(|i| r.advance_timer(i, now));
                let places = if addr == addr::TIMSK { TIFR_FLAGS } else { ETIFR_FLAGS };
                for &(bit, i, flag) in places {
                    let enabled = &mut r.timers[i].enabled;
                    *enabled = *enabled & !flag | if value >> bit & 1 != 0 { flag } else { 0 };
                }
            }
            addr::EIFR => self.regs.external.clear(value),
            addr::EIMSK => self.regs.external.eimsk = value,
            addr::EICRB => self.regs.external.eicrb = value,
            addr::EICRA => self.regs.external.eicra = value,
            addr::XDIV => {
                (0..4).for_each(|i| self.regs.advance_timer(i, now));
                // XDIV6:0 cannot change while XDIVEN is set.
                let r = &mut self.regs;
                let locked = r.xdiv & value & XDIVEN != 0;
                r.xdiv = if locked { r.xdiv } else { value };
                let next = r.clocks.cpu.time_of(at + 1);
                self.update_clocks(next, at + 1);
            }
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

    fn write_sfior(&mut self, value: u8, io: u64, at: Cycles) {
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

    fn write_timer(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
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

    // ---- reset and supply

    fn reset_registers(&mut self, cause: Cause, now: Picos, cycles: Cycles) {
        self.regs.fuses.copy_from_slice(&self.fuse_bytes[..3]);
        let r = &mut self.regs;
        // A reset ends a sleep; clocks may have been at rest.
        r.sleep = None;
        r.asynchronous = Asynchronous::default();
        r.clocks.cpu.restart(now, cycles);
        for line in [&mut r.clocks.adc, &mut r.clocks.io] {
            line.restart(now, line.ticks_at(now));
        }
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
            Cause::PowerOn => mcucsr::PORF,
            Cause::BrownOut => r.mcucsr | mcucsr::BORF,
            Cause::Watchdog => r.mcucsr | mcucsr::WDRF,
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

    // ---- memory

    fn bytes(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
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

    fn bytes_mut(&mut self, addr: u32) -> Option<&mut u8> {
        match addr {
            0..0x2_0000 => self.flash.get_mut(addr as usize),
            0x80_0100..0x80_1100 => self.ram.get_mut((addr & 0xFFFF) as usize - 0x100),
            EEPROM_START..0x81_1000 => self.eeprom.get_mut((addr - EEPROM_START) as usize),
            FUSES_START..0x82_0004 => self.fuse_bytes.get_mut((addr - FUSES_START) as usize),
            _ => None,
        }
    }

    /// Why flash at `addr` cannot be read now.
    fn rww_busy(&self, addr: u32) -> Option<Fault> {
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

impl Avr {
    fn start(&mut self, cause: Cause) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        self.soc.reset_registers(cause, now, cycles);
        self.cpu.reset();
        self.cpu.pc = self.soc.regs.reset_vector();
    }
}

impl Chip for Avr {
    type Saved = SavedAvr;

    fn new(dev: Arc<Device>) -> Self {
        let cpu = Cpu::new(dev.timed(Timing::AVRE, Timing::set));
        let mut chip = Self { cpu, soc: Soc::new(dev) };
        chip.start(Cause::PowerOn);
        chip.settle();
        chip
    }

    fn common(&self) -> &Common {
        &self.soc.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.soc.common
    }

    fn cycles(&self) -> Cycles {
        self.cpu.cycles
    }

    fn set_cycles(&mut self, cycles: Cycles) {
        self.cpu.cycles = cycles;
    }

    fn cpu_clock(&self) -> &Line {
        &self.soc.regs.clocks.cpu
    }

    fn pc(&self) -> u32 {
        2 * u32::from(self.cpu.pc)
    }

    fn sp(&self) -> u32 {
        DATA_SPACE | u32::from(self.cpu.sp)
    }

    fn registers(&self) -> Vec<Register> {
        const NAMES: [&str; 32] = [
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25",
            "r26", "r27", "r28", "r29", "r30", "r31",
        ];
        let register =
            |name: &'static str, bits, value| Register { name: name.into(), bits, value };
        let mut all: Vec<Register> =
            NAMES.iter().zip(self.cpu.r).map(|(name, r)| register(name, 8, r.into())).collect();
        all.push(register("SREG", 8, self.cpu.sreg().into()));
        all.push(register("SP", 16, self.cpu.sp.into()));
        all.push(register("PC", 32, self.pc()));
        all
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        match name {
            "SREG" => self.cpu.set_sreg(value as u8),
            "SP" => self.cpu.sp = value as u16,
            "PC" => self.cpu.pc = (value / 2) as u16,
            _ => {
                let number = name.strip_prefix('r').and_then(|n| n.parse::<usize>().ok());
                let Some(slot) = number.and_then(|n| self.cpu.r.get_mut(n)) else { return false };
                *slot = value as u8;
            }
        }
        true
    }

    fn sleeping(&self) -> bool {
        self.soc.regs.sleep.is_some()
    }

    fn held_until(&mut self) -> Option<Picos> {
        self.soc.regs.spm.halts_until()
    }

    fn must_step(&self) -> bool {
        self.cpu.interrupts_enabled() && !self.cpu.accepts_interrupts()
    }

    fn set_breakpoints(&mut self, addrs: &[u32]) {
        self.cpu.set_breakpoints(addrs);
    }

    fn is_breakpoint(&self, addr: u32) -> bool {
        self.cpu.is_breakpoint(addr)
    }

    fn run_cpu<O: Observer>(
        &mut self,
        deadline: Cycles,
        once: bool,
        observer: &mut O,
    ) -> Result<Ran, Fault> {
        self.soc.deadline = deadline;
        let exit = if once {
            self.cpu.step(&mut self.soc, observer)
        } else {
            self.cpu.run(&mut self.soc, observer)
        };
        match exit {
            Exit::Deadline if self.cpu.cycles < self.soc.deadline => Ok(Ran::On),
            Exit::Deadline | Exit::Status => Ok(Ran::Look),
            Exit::Breakpoint => Ok(Ran::Breakpoint),
            Exit::Sleep => {
                let now = self.soc.regs.clocks.cpu.time_of(self.cpu.cycles);
                self.soc.common.state.now_ps = now.0;
                self.soc.fall_asleep(now, self.cpu.cycles);
                Ok(Ran::Look)
            }
            // Without a debugger it does nothing.
            Exit::Break => Ok(Ran::Look),
            Exit::Fault(fault) => Err(fault),
        }
    }

    fn after_cpu(&mut self) {
        self.soc.common.state.now_ps = self.soc.regs.clocks.cpu.time_of(self.cpu.cycles).0;
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        if !self.cpu.accepts_interrupts() {
            return Ok(false);
        }
        let Some(number) = self.soc.regs.pending() else { return Ok(false) };
        if let Some(mode) = self.soc.regs.sleep {
            let now = self.soc.common.now();
            self.soc.wake(mode, now, self.cpu.cycles);
            self.cpu.cycles += self.soc.facts.startup.wake_extra_ck;
            self.after_cpu();
            if stop_on_change && self.soc.common.accounts.changed {
                // Awake from here on: who prices states must hear of it before the entry takes its cycles.
                return Ok(true);
            }
        }
        if let Some(fault) = &self.soc.common.illegal {
            return Err(fault.clone().at_pc(self.pc()));
        }
        let first =
            if self.soc.regs.mcucr & mcucr::IVSEL != 0 { self.soc.regs.boot_start() } else { 0 };
        let vector = first + 2 * u16::from(number - 1);
        self.cpu.interrupt(&mut self.soc, observer, vector)?;
        self.soc.regs.acknowledge(number);
        self.after_cpu();
        Ok(true)
    }

    fn can_wake(&self) -> bool {
        let r = &self.soc.regs;
        r.wdt.is_on()
            || self.cpu.interrupts_enabled()
                && (r.may_interrupt()
                    || self.soc.common.next_event().is_some() && r.pins_may_interrupt())
    }

    fn pins_may_wake(&self) -> bool {
        self.cpu.interrupts_enabled() && self.soc.regs.pins_may_interrupt()
    }

    fn next_event(&self) -> Option<Picos> {
        self.soc.next_event()
    }

    const EVENTS_STAY: bool = true;

    fn process_events(&mut self, now: Picos, cycles: Cycles) -> Option<Picos> {
        loop {
            let next = self.soc.next_event();
            let Some(t) = next.filter(|t| *t <= now) else { return next };
            if self.soc.common.pending_fault.is_some() {
                return next;
            }
            self.soc.process_at(t, now, cycles);
            if self.soc.reset.is_some() {
                return None;
            }
        }
    }

    fn settle(&mut self) {
        for range in self.soc.changed.drain(..) {
            self.cpu.invalidate(range);
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.reset.is_some()
    }

    fn reset_cause(&self) -> ResetCause {
        match self.soc.reset {
            Some(Cause::Watchdog) => ResetCause::Watchdog,
            _ => ResetCause::Other,
        }
    }

    fn carry_out_reset(&mut self) {
        let Some(cause) = self.soc.reset.take() else { return };
        // The start-up time passes, booked as off.
        let cycles = self.cpu.cycles;
        self.soc.common.state.held_in_reset = true;
        self.soc.update_clocks(self.soc.common.now(), cycles);
        self.soc.common.state.held_in_reset = false;
        self.soc.common.state.now_ps += self.soc.reset_time().0;
        self.start(cause);
    }

    fn reset(&mut self) {
        self.start(Cause::PowerOn);
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        let vcc_v = self.soc.common.state.vcc_v;
        let level = self.soc.regs.bod_level(&self.soc.facts);
        if self.soc.common.state.held_in_reset {
            let released = level.map_or(0.0, |l| l + self.soc.facts.bod.hysteresis_v);
            if vcc_v >= released {
                self.soc.common.state.held_in_reset = false;
                self.soc.common.state.now_ps += self.soc.reset_time().0;
                self.start(Cause::BrownOut);
                return;
            }
        }
        self.soc.update_clocks(now, cycles);
    }

    fn too_low(&self) -> Option<Picos> {
        let (common, facts) = (&self.soc.common, &self.soc.facts);
        let level = self.soc.regs.bod_level(facts)?;
        (common.runs() && common.state.vcc_v < level).then(|| us(facts.bod.delay_us))
    }

    fn hold(&mut self) {
        self.soc.common.state.held_in_reset = true;
        self.soc.update_clocks(self.soc.common.now(), self.cpu.cycles);
    }

    fn power_off(&mut self) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        self.soc.common.state.powered = false;
        self.soc.power_off(now, cycles);
        let drives = self.soc.common.power_parts(false, now, cycles);
        self.soc.drive_all(drives, now);
        self.cpu.reset();
        self.cpu.r = [0; 32];
    }

    fn power_on(&mut self, ram_seed: u64) {
        let cycles = self.cpu.cycles;
        self.soc.scramble_ram(ram_seed);
        // The register file is as random as memory.
        for (i, r) in self.cpu.r.iter_mut().enumerate() {
            *r = splitmix64(ram_seed ^ 0x5EED_0000 ^ i as u64) as u8;
        }
        self.soc.regs.fuses.copy_from_slice(&self.soc.fuse_bytes[..3]);
        self.soc.common.state.now_ps += self.soc.reset_time().0;
        let now = self.soc.common.now();
        for component in [FLASH, EEPROM] {
            self.soc.set_state(component, accounts::IDLE, now, cycles);
        }
        let drives = self.soc.common.power_parts(true, now, cycles);
        self.soc.drive_all(drives, now);
        self.reset();
    }

    fn reclock(&mut self) {
        let (now, cycles) = (self.soc.common.now(), self.cpu.cycles);
        self.soc.update_clocks(now, cycles);
    }

    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        self.soc.bytes(addr, bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            if let Some(place) = self.soc.bytes_mut(addr + i as u32) {
                *place = *byte;
            }
        }
        if (addr as usize) < FLASH_BYTES {
            self.soc.flash_changed(addr..addr + bytes.len() as u32);
        }
        self.soc.eeprom_image = None;
        self.settle();
    }

    fn pin_level(&self, pin: Pin) -> bool {
        let (i, mask) = place(pin);
        self.soc.regs.ports[i].levels() & mask != 0
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        let now = self.soc.common.now();
        self.soc.drive_all(drives, now);
    }

    fn serials(&self) -> &'static [&'static str] {
        &SERIALS
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8) {
        if let Some(usart) = serial.checked_sub(1).and_then(|i| self.soc.regs.usarts.get_mut(i)) {
            usart.uart_in(time, byte);
        }
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        let fitted = match oscillator {
            "xtal" => &mut self.soc.regs.xtal_hz,
            "tosc" => &mut self.soc.regs.tosc_hz,
            _ => return false,
        };
        *fitted = hz;
        true
    }

    fn save(&mut self) -> SavedAvr {
        let s = self.cpu.state();
        let soc = &mut self.soc;
        let image = |bytes: &Vec<u8>| Image(Arc::new(bytes.clone()));
        let flash = soc.flash_image.get_or_insert_with(|| image(&soc.flash)).clone();
        let eeprom = soc.eeprom_image.get_or_insert_with(|| image(&soc.eeprom)).clone();
        SavedAvr {
            flash,
            eeprom,
            ram: soc.ram.to_vec(),
            fuse_bytes: soc.fuse_bytes,
            registers: soc.regs.clone(),
            r: s.r,
            pc: s.pc,
            sp: s.sp,
            sreg: s.sreg,
            rampz: s.rampz,
            cycles: s.cycles,
            interrupt_shadow: s.interrupt_shadow,
        }
    }

    fn restore(&mut self, s: SavedAvr) {
        let soc = &mut self.soc;
        let same = |kept: &Option<Image>, new: &Image| {
            kept.as_ref().is_some_and(|k| Arc::ptr_eq(&k.0, &new.0))
        };
        let rww_changed = soc.regs.spm.rww_busy != s.registers.spm.rww_busy;
        if !same(&soc.flash_image, &s.flash) {
            soc.flash.copy_from_slice(&s.flash.0);
            soc.flash_image = Some(s.flash);
            soc.changed.push(0..FLASH_BYTES as u32);
        } else if rww_changed {
            soc.changed.push(0..NRWW);
        }
        if !same(&soc.eeprom_image, &s.eeprom) {
            soc.eeprom.copy_from_slice(&s.eeprom.0);
            soc.eeprom_image = Some(s.eeprom);
        }
        soc.ram.copy_from_slice(&s.ram);
        soc.fuse_bytes = s.fuse_bytes;
        soc.regs = s.registers;
        soc.reset = None;
        soc.stall = 0;
        self.cpu.set_state(&avr::State {
            r: s.r,
            pc: s.pc,
            sp: s.sp,
            sreg: s.sreg,
            rampz: s.rampz,
            cycles: s.cycles,
            interrupt_shadow: s.interrupt_shadow,
        });
        let now = soc.common.now();
        soc.update_clocks(now, s.cycles);
    }
}
