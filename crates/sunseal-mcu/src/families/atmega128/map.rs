// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where registers and vectors lie (ATmega128, register summary and table 23), and their bits.

use crate::blocks::avr::timer;

/// Bits of registers that the chip itself keeps.
pub(super) mod mcucr {
    pub const SRE: u8 = 1 << 7;
    pub const SE: u8 = 1 << 5;
    pub const SM1: u8 = 1 << 4;
    pub const SM0: u8 = 1 << 3;
    pub const SM2: u8 = 1 << 2;
    pub const IVSEL: u8 = 1 << 1;
    pub const IVCE: u8 = 1 << 0;
}
pub(super) mod mcucsr {
    pub const JTD: u8 = 1 << 7;
    pub const WDRF: u8 = 1 << 3;
    pub const BORF: u8 = 1 << 2;
    pub const PORF: u8 = 1 << 0;
}
pub(super) mod sfior {
    pub const TSM: u8 = 1 << 7;
    pub const ACME: u8 = 1 << 3;
    pub const PUD: u8 = 1 << 2;
    pub const PSR0: u8 = 1 << 1;
    pub const PSR321: u8 = 1 << 0;
}
pub(super) const XDIVEN: u8 = 1 << 7;
pub(super) const ACD: u8 = 1 << 7;
pub(super) const AS0: u8 = 1 << 3;

/// Ports in the order of their letters: addresses of PINx, DDRx, PORTx.
pub(super) const PORTS: [[u16; 3]; 7] = [
    [0x39, 0x3A, 0x3B],
    [0x36, 0x37, 0x38],
    [0x33, 0x34, 0x35],
    [0x30, 0x31, 0x32],
    [0x21, 0x22, 0x23],
    [0x20, 0x61, 0x62],
    [0x63, 0x64, 0x65],
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
