// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where registers and vectors lie (ATmega128, register summary and table 23).

use sunseal_registers::atmega128 as at;

use crate::blocks::avr::timer;

/// Ports in the order of their letters: addresses of PINx, DDRx, PORTx.
pub(super) const PORTS: [[u16; 3]; 7] = [
    [at::PINA, at::DDRA, at::PORTA],
    [at::PINB, at::DDRB, at::PORTB],
    [at::PINC, at::DDRC, at::PORTC],
    [at::PIND, at::DDRD, at::PORTD],
    [at::PINE, at::DDRE, at::PORTE],
    [at::PINF, at::DDRF, at::PORTF],
    [at::PING, at::DDRG, at::PORTG],
];
pub(super) const PORT_B: usize = 1;
pub(super) const PORT_D: usize = 3;
pub(super) const PORT_E: usize = 4;
/// Port G has five pins.
pub(super) const PORT_MASKS: [u8; 7] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F];

/// A timer and its register at an address.
pub(super) fn timer_at(addr: u16) -> Option<(usize, timer::Reg)> {
    use timer::Reg::{IcrH, IcrL, OcrH, OcrL, Tccra, Tccrb, Tccrc, TcntH, TcntL};
    Some(match addr {
        at::OCR0 => (0, OcrL(0)),
        at::TCNT0 => (0, TcntL),
        at::TCCR0 => (0, Tccrb),
        at::OCR2 => (2, OcrL(0)),
        at::TCNT2 => (2, TcntL),
        at::TCCR2 => (2, Tccrb),
        at::ICR1L => (1, IcrL),
        at::ICR1H => (1, IcrH),
        at::OCR1BL => (1, OcrL(1)),
        at::OCR1BH => (1, OcrH(1)),
        at::OCR1AL => (1, OcrL(0)),
        at::OCR1AH => (1, OcrH(0)),
        at::TCNT1L => (1, TcntL),
        at::TCNT1H => (1, TcntH),
        at::TCCR1B => (1, Tccrb),
        at::TCCR1A => (1, Tccra),
        at::OCR1CL => (1, OcrL(2)),
        at::OCR1CH => (1, OcrH(2)),
        at::TCCR1C => (1, Tccrc),
        at::ICR3L => (3, IcrL),
        at::ICR3H => (3, IcrH),
        at::OCR3CL => (3, OcrL(2)),
        at::OCR3CH => (3, OcrH(2)),
        at::OCR3BL => (3, OcrL(1)),
        at::OCR3BH => (3, OcrH(1)),
        at::OCR3AL => (3, OcrL(0)),
        at::OCR3AH => (3, OcrH(0)),
        at::TCNT3L => (3, TcntL),
        at::TCNT3H => (3, TcntH),
        at::TCCR3B => (3, Tccrb),
        at::TCCR3A => (3, Tccra),
        at::TCCR3C => (3, Tccrc),
        _ => return None,
    })
}

/// Flags of TIFR and TIMSK (or ETIFR and ETIMSK): bit, timer, the timer's own flag.
pub(super) type FlagPlaces = [(u8, usize, u8)];
pub(super) const TIFR_FLAGS: &FlagPlaces = &[
    (7, 2, timer::OCFA),
    (6, 2, timer::TOV),
    (5, 1, timer::ICF),
    (4, 1, timer::OCFA),
    (3, 1, timer::OCFB),
    (2, 1, timer::TOV),
    (1, 0, timer::OCFA),
    (0, 0, timer::TOV),
];
pub(super) const ETIFR_FLAGS: &FlagPlaces = &[
    (5, 3, timer::ICF),
    (4, 3, timer::OCFA),
    (3, 3, timer::OCFB),
    (2, 3, timer::TOV),
    (1, 3, timer::OCFC),
    (0, 1, timer::OCFC),
];

/// Interrupts of the timers: vector number, timer, flag.
pub(super) const TIMER_VECTORS: [(u8, usize, u8); 14] = [
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
/// The interrupts in the order of their numbers, from 1 on.
pub(super) const VECTORS: [&str; 35] = [
    "reset",
    "int0",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "timer2_comp",
    "timer2_ovf",
    "timer1_capt",
    "timer1_compa",
    "timer1_compb",
    "timer1_ovf",
    "timer0_comp",
    "timer0_ovf",
    "spi_stc",
    "usart0_rx",
    "usart0_udre",
    "usart0_tx",
    "adc",
    "ee_ready",
    "analog_comp",
    "timer1_compc",
    "timer3_capt",
    "timer3_compa",
    "timer3_compb",
    "timer3_compc",
    "timer3_ovf",
    "usart1_rx",
    "usart1_udre",
    "usart1_tx",
    "twi",
    "spm_ready",
];
pub(super) const INT0: u8 = 2;
pub(super) const SPI_STC: u8 = 18;
pub(super) const USART0_RX: u8 = 19;
pub(super) const ADC_DONE: u8 = 22;
pub(super) const EE_READY: u8 = 23;
pub(super) const USART1_RX: u8 = 31;
pub(super) const TWI_DONE: u8 = 34;
pub(super) const SPM_READY: u8 = 35;
