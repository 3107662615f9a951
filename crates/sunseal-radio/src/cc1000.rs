// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC1000 as its pins show it: configuration over PALE, PCLK and PDATA, and data bits on DIO and
//! DCLK, either pin by pin or as the bytes that DCLK shifts through the microcontroller's SPI slave.
//!
//! Source: SWRS048A. A transmission's bits go on the air when the microcontroller has shifted a whole
//! byte of them; the receiver's come ten bits late: eight for that, two for its demodulator, and inverted where its
//! local oscillator is above the carrier. Public drivers (TinyOS, `CC1000ControlP.nc`; Chipcon's AN009) set MAIN, then
//! PLL and CURRENT, while PA_POW is 0: what they leave behind counts when the amplifier comes on.

use serde::{Deserialize, Serialize};
use sunseal_mcu::Pin;
use sunseal_trace::Picos;

use crate::chip::{
    Journal, Radio, RadioChip, RadioHandle, left, micros, named, pins, preset, restored, saved,
};
use crate::medium::{Emission, Phy, Port, SENSE_LAG, Tuning};
use crate::parts::Cc1000Part;

/// Register addresses (SWRS048A, register overview).
mod reg {
    sunseal_trace::constants! { pub u8:
        MAIN 0x00, FREQ_2A 0x01, FREQ_2B 0x04, FREQ_0B 0x06, FSEP1 0x07, FSEP0 0x08, CURRENT 0x09,
        FRONT_END 0x0A, PA_POW 0x0B, PLL 0x0C, LOCK 0x0D, CAL 0x0E, MODEM0 0x11, FSCTRL 0x13,
        PRESCALER 0x1C, TEST6 0x40, TEST5 0x41, TEST3 0x43, TEST0 0x46,
    }
}

mod main {
    sunseal_trace::constants! { pub u8:
        RXTX 0x80, F_REG 0x40, RX_PD 0x20, TX_PD 0x10, FS_PD 0x08, CORE_PD 0x04, BIAS_PD 0x02,
        RESET_N 0x01,
    }
}

/// Values after a reset. MAIN is what the chip wakes with.
const RESET: [u8; 0x47] = preset(&[
    (0x00, 0x3E),
    (0x01, 0x75),
    (0x02, 0xA0),
    (0x03, 0xCB),
    (0x04, 0x75),
    (0x05, 0xA5),
    (0x06, 0x4E),
    (0x08, 0x59),
    (0x09, 0xCA),
    (0x0B, 0x0F),
    (0x0C, 0x10),
    (0x0E, 0x05),
    (0x0F, 0x96),
    (0x10, 0x67),
    (0x11, 0x24),
    (0x13, 0x01),
    (0x40, 0x10),
    (0x41, 0x08),
    (0x42, 0x25),
    (0x43, 0x04),
]);

macro_rules! power_rows {
    ($name:ident, $band:literal, $($pa:literal $hex:literal $dbm:literal),*) => {
        /// PA_POW, output power in dBm, and the name of the state; in order of PA_POW.
        const $name: &[(u8, f64, &str)] = &[$(($pa, $dbm as f64, concat!("tx.", $band, ".pa", $hex))),*];
    };
}
power_rows!(
    POWER_433, "433mhz", 0x01 "01" -20, 0x02 "02" -18, 0x03 "03" -15, 0x04 "04" -12,
    0x05 "05" -10, 0x06 "06" -8, 0x07 "07" -7, 0x08 "08" -6, 0x09 "09" -5, 0x0A "0a" -4,
    0x0B "0b" -3, 0x0C "0c" -2, 0x0E "0e" -1, 0x0F "0f" 0, 0x40 "40" 1, 0x50 "50" 2,
    0x60 "60" 4, 0x70 "70" 5, 0x80 "80" 6, 0x90 "90" 7, 0xC0 "c0" 8, 0xE0 "e0" 9, 0xFF "ff" 10
);
power_rows!(
    POWER_868, "868mhz", 0x02 "02" -20, 0x03 "03" -18, 0x04 "04" -16, 0x05 "05" -15,
    0x06 "06" -13, 0x07 "07" -12, 0x08 "08" -11, 0x09 "09" -10, 0x0B "0b" -9, 0x0C "0c" -8,
    0x0D "0d" -7, 0x0F "0f" -6, 0x40 "40" -5, 0x50 "50" -4, 0x60 "60" -2, 0x70 "70" -1,
    0x80 "80" 0, 0x90 "90" 1, 0xB0 "b0" 2, 0xC0 "c0" 3, 0xF0 "f0" 4, 0xFF "ff" 5
);

macro_rules! bias_names {
    ($name:ident, $band:literal) => {
        /// States of reception by what the bias registers draw beside the recommended setting, in steps of
        /// half a milliampere from three below to three above.
        const $name: [&str; 13] = [
            concat!("rx.", $band, ".minus3000ua"),
            concat!("rx.", $band, ".minus2500ua"),
            concat!("rx.", $band, ".minus2000ua"),
            concat!("rx.", $band, ".minus1500ua"),
            concat!("rx.", $band, ".minus1000ua"),
            concat!("rx.", $band, ".minus500ua"),
            concat!("rx.", $band),
            concat!("rx.", $band, ".plus500ua"),
            concat!("rx.", $band, ".plus1000ua"),
            concat!("rx.", $band, ".plus1500ua"),
            concat!("rx.", $band, ".plus2000ua"),
            concat!("rx.", $band, ".plus2500ua"),
            concat!("rx.", $band, ".plus3000ua"),
        ];
    };
}
bias_names!(RX_433, "433mhz");
bias_names!(RX_868, "868mhz");

/// Microamperes by field (registers CURRENT and FRONT_END).
const VCO_UA: [i32; 16] =
    [150, 250, 350, 450, 950, 1050, 1150, 1250, 1450, 1550, 1650, 1750, 2250, 2350, 2450, 2550];
const LO_UA: [i32; 4] = [500, 1000, 1500, 2000];
const BUFFER_UA: [i32; 2] = [520, 690];
const LNA_UA: [i32; 4] = [800, 1400, 1800, 2200];

/// The RSSI output's range is 0 to 1.2 V (SWRS048A, section 22).
const RSSI_MAX_V: f64 = 1.2;

/// Bits by which a receiver is late.
const RX_LAG_BITS: u64 = 10;

/// Every state that the chip can be in, as the ledger names it.
pub(crate) fn states() -> Vec<&'static str> {
    let fixed = ["off", "power_down", "xosc", "xosc.bias", "synth.433mhz", "synth.868mhz"];
    let sent = POWER_433.iter().chain(POWER_868).map(|p| p.2);
    fixed.into_iter().chain(RX_433).chain(RX_868).chain(sent).collect()
}

pins! { Cc1000Pins {
    pale,
    pclk,
    pdata,
    /// DIO, where software clocks bits: with it no bytes go through the SPI slave.
    dio,
    dclk,
} }

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Down,
    Rx,
    Tx,
}

#[derive(Serialize, Deserialize)]
struct Chip {
    #[serde(skip)]
    part: Cc1000Part,
    #[serde(skip)]
    pins: Cc1000Pins,
    journal: Journal,
    #[serde(skip)]
    port: Option<Port>,
    on: bool,
    #[serde(with = "crate::chip::array")]
    regs: [u8; 0x47],
    // The configuration bus.
    pale: bool,
    pclk: bool,
    pdata: bool,
    header: u8,
    header_bits: u8,
    shift: u8,
    data_bits: u8,
    reading: Option<u8>,
    // What runs since when.
    crystal_ready: Picos,
    settled: Picos,
    amplified: Picos,
    calibrating: Option<Picos>,
    /// Word and divider that each frequency register was calibrated with.
    calibrated: [Option<(u32, u8)>; 2],
    mode: Mode,
    // Data bits: the clock's origin and how many half bits have gone.
    origin: Picos,
    halves: u64,
    dio_in: bool,
    dio_out: bool,
    collected: u8,
    shifted: Option<u8>,
    sending: Option<u64>,
    now: Picos,
}

impl Radio {
    /// A CC1000 without supply, and the handle to watch it by. Without a port nobody else is on the air.
    #[must_use]
    pub fn cc1000(part: Cc1000Part, pins: Cc1000Pins, port: Option<Port>) -> (Self, RadioHandle) {
        let listens = [pins.pale, pins.pclk, pins.pdata, pins.dio].into_iter().flatten().collect();
        Self::wrap(Chip::new(part, pins, port), listens)
    }
}

impl Chip {
    fn new(part: Cc1000Part, pins: Cc1000Pins, port: Option<Port>) -> Self {
        Self {
            part,
            pins,
            journal: Journal::default(),
            port,
            on: false,
            regs: RESET,
            pale: true,
            pclk: true,
            pdata: false,
            header: 0,
            header_bits: 0,
            shift: 0,
            data_bits: 0,
            reading: None,
            crystal_ready: Picos::MAX,
            settled: Picos::MAX,
            amplified: Picos::MAX,
            calibrating: None,
            calibrated: [None; 2],
            mode: Mode::Down,
            origin: Picos::MAX,
            halves: 0,
            dio_in: false,
            dio_out: false,
            collected: 0,
            shifted: None,
            sending: None,
            now: Picos(0),
        }
    }

    fn reg(&self, address: u8) -> u8 {
        self.regs[usize::from(address)]
    }

    // --- frequencies and rates ----------------------------------------------------------------------

    /// Divider of the crystal that the synthesizer compares with, REFDIV.
    fn divider(&self) -> u8 {
        (self.reg(reg::PLL) >> 3 & 0x0F).max(1)
    }

    fn reference_hz(&self) -> f64 {
        self.part.crystal_mhz * 1e6 / f64::from(self.divider())
    }

    fn word(&self, b: bool) -> u32 {
        let first = usize::from(if b { reg::FREQ_2B } else { reg::FREQ_2A });
        let r = |i: usize| u32::from(self.regs[first + i]);
        r(0) << 16 | r(1) << 8 | r(2)
    }

    fn chosen(&self) -> bool {
        self.reg(reg::MAIN) & main::F_REG != 0
    }

    /// The synthesizer's frequency; sending, in the middle between its two.
    fn carrier_hz(&self) -> u64 {
        let separation =
            f64::from(u16::from_be_bytes([self.reg(reg::FSEP1) & 0x07, self.reg(reg::FSEP0)]));
        let data = if self.reg(reg::MAIN) & main::RXTX != 0 { separation / 2.0 } else { 0.0 };
        let n = f64::from(self.word(self.chosen())) + data + 8192.0;
        (self.reference_hz() * n / 16384.0).round() as u64
    }

    fn high_band(&self) -> bool {
        self.carrier_hz() > 500_000_000
    }

    fn format(&self) -> u8 {
        self.reg(reg::MODEM0) >> 2 & 3
    }

    fn bit(&self) -> Picos {
        const NOMINAL_HZ: [f64; 4] = [3.6864e6, 7.3728e6, 11.0592e6, 14.7456e6];
        let m = self.reg(reg::MODEM0);
        let baud = 600.0
            * f64::from(1u32 << (m >> 4 & 7))
            * (self.part.crystal_mhz * 1e6 / NOMINAL_HZ[usize::from(m & 3)]);
        let bits = if self.format() == 1 { baud / 2.0 } else { baud };
        Picos((1e12 / bits).round() as u128)
    }

    fn tuning(&self) -> Tuning {
        let phy = Phy::Bits { bit_ps: self.bit().0, manchester: self.format() == 1 };
        Tuning { carrier_hz: self.carrier_hz(), phy }
    }

    fn output(&self) -> Option<(u8, f64, &'static str)> {
        let pa = self.reg(reg::PA_POW);
        let rows = if self.high_band() { POWER_868 } else { POWER_433 };
        (pa != 0).then(|| *rows.iter().find(|r| r.0 >= pa).unwrap_or(&rows[rows.len() - 1]))
    }

    // --- modes --------------------------------------------------------------------------------------

    fn wanted(&self) -> Mode {
        let m = self.reg(reg::MAIN);
        let running = m & (main::FS_PD | main::CORE_PD | main::BIAS_PD) == 0;
        match (running && m & main::RESET_N != 0, m & main::RXTX != 0) {
            (true, false) if m & main::RX_PD == 0 => Mode::Rx,
            (true, true) if m & main::TX_PD == 0 => Mode::Tx,
            _ => Mode::Down,
        }
    }

    /// Takes over what MAIN and PA_POW say.
    fn apply(&mut self, now: Picos, old_main: u8) {
        let m = self.reg(reg::MAIN);
        let fell = |bit: u8| old_main & bit != 0 && m & bit == 0;
        if fell(main::CORE_PD) {
            self.crystal_ready = now + micros(self.part.crystal_start_us);
        }
        if m & main::CORE_PD != 0 {
            self.crystal_ready = Picos::MAX;
        }
        let switched = (old_main ^ m) & (main::RXTX | main::F_REG) != 0;
        if fell(main::FS_PD) || switched || fell(main::BIAS_PD) {
            let bias = if fell(main::BIAS_PD) { self.part.bias_start_us } else { 0.0 };
            let from = now.max(self.crystal_ready.min(now + micros(self.part.crystal_start_us)));
            self.settled = from + micros(bias + self.part.settle_us);
        }
        if m & (main::FS_PD | main::CORE_PD | main::BIAS_PD) != 0 {
            self.settled = Picos::MAX;
        }
        let mode = self.wanted();
        if mode != self.mode || switched {
            self.stop_sending(now);
            self.mode = mode;
            self.shifted = None;
            self.start_bits(now);
            if mode != Mode::Down {
                self.check_use();
            }
            if mode == Mode::Tx && self.reg(reg::PA_POW) != 0 {
                self.amplified = now + micros(self.part.pa_start_us);
            }
        }
        self.announce();
    }

    fn check_use(&mut self) {
        if self.reg(reg::FSCTRL) & 1 == 0 {
            self.misuse("the CC1000 was used with FSCTRL.FS_RESET_N low");
        }
        if self.format() == 3 {
            self.misuse("MODEM0.DATA_FORMAT is 3, which is no format of the CC1000");
        }
        if self.format() == 2 && self.pins.dio.is_none() {
            self.misuse("MODEM0.DATA_FORMAT is UART, but DIO is wired to a clocked SPI slave");
        }
    }

    /// Asked when the amplifier is on: until then a driver may still write CURRENT.
    fn check_current(&mut self) {
        let (high, c) = (self.high_band(), self.reg(reg::CURRENT));
        let printed = if high { 0xF3 } else { 0x81 };
        if c != printed {
            self.unknown(&format!(
                "CURRENT is {c:#04x} in TX (the printed output powers and currents hold for {printed:#04x})"
            ));
        }
    }

    /// True if the synthesizer was calibrated for its frequency. One that was not need not lock, and here does not.
    fn is_calibrated(&self) -> bool {
        let b = self.chosen();
        self.calibrated[usize::from(b)] == Some((self.word(b), self.divider()))
    }

    /// A transmission was sent or missed for want of a calibration, which itself runs in RX or TX.
    fn check_calibration(&mut self) {
        let b = self.chosen();
        if self.calibrating.is_none() && !self.is_calibrated() {
            self.misuse(&format!(
                "the CC1000's synthesizer was used at frequency word {:#08x} (register {}) and REFDIV {} without calibration for them",
                self.word(b),
                if b { 'B' } else { 'A' },
                self.divider()
            ));
        }
    }

    /// The synthesizer goes to another frequency.
    fn retune(&mut self, now: Picos) {
        if self.sending.is_some() {
            self.misuse("the CC1000's frequency was changed while it sent");
        }
        if self.settled != Picos::MAX {
            self.settled = self.settled.max(now + micros(self.part.settle_us));
            self.start_bits(now);
        }
    }

    /// Data bits begin when the synthesizer has settled.
    fn start_bits(&mut self, now: Picos) {
        let lag = self.bit() * if self.mode == Mode::Rx { RX_LAG_BITS } else { 0 };
        self.start_clock(if self.mode == Mode::Down || self.settled == Picos::MAX {
            Picos::MAX
        } else {
            self.settled.max(now) + lag
        });
    }

    fn start_clock(&mut self, origin: Picos) {
        self.origin = origin;
        self.halves = 0;
        self.collected = 0;
    }

    /// The carrier comes on when the synthesizer has settled and the amplifier is up.
    fn announce(&mut self) {
        let radiates = self.mode == Mode::Tx && self.settled != Picos::MAX;
        let Some((_, power_dbm, _)) = self.output().filter(|_| radiates) else {
            self.stop_sending(self.now);
            return;
        };
        if self.sending.is_some() {
            return;
        }
        self.check_calibration();
        self.check_current();
        let start = self.settled.max(self.amplified).max(self.now);
        let byte_ps = 8 * self.bit().0;
        let emission = Emission { tuning: self.tuning(), power_dbm, start, head_bytes: 0, byte_ps };
        self.sending = Some(self.port.as_ref().map_or(0, |p| p.begin(emission)));
        self.start_clock(start);
        self.journal.counts.sent += 1;
    }

    fn stop_sending(&mut self, now: Picos) {
        if let (Some(id), Some(port)) = (self.sending.take(), &self.port) {
            port.end(id, now);
        }
    }

    // --- registers ----------------------------------------------------------------------------------

    fn write_register(&mut self, now: Picos, address: u8, value: u8) {
        self.run(now);
        match address {
            0x14..=0x1B if value != 0 => {
                self.unknown("a shaping register (FSHAPE, FSDELAY) was written")
            }
            0x00..=reg::PRESCALER | reg::TEST6..=reg::TEST0 => {}
            _ => {
                self.misuse(&format!("{address:#04x} is no register of the CC1000"));
                return;
            }
        }
        match address {
            reg::FSCTRL if value & 2 != 0 => self.unknown("FSCTRL.SHAPE is set (spectrum shaping)"),
            reg::FRONT_END if value & 1 != 0 => self.unknown("FRONT_END.XOSC_BYPASS is set"),
            reg::TEST6 if value & 0x20 != 0 => self.unknown("TEST6.CHP_OVERRIDE is set"),
            reg::TEST5 if value & 0x30 != 0 => {
                self.unknown("TEST5 has VCO_OVERRIDE or CHP_DISABLE set");
            }
            reg::TEST3 if value & 0x10 != 0 => self.unknown("TEST3.BREAK_LOOP is set"),
            _ => {}
        }
        let old = self.reg(address);
        if address == reg::MAIN && value & main::RESET_N == 0 {
            self.regs = RESET;
            self.calibrated = [None; 2];
            self.calibrating = None;
        }
        self.regs[usize::from(address)] = value;
        match address {
            reg::MAIN => self.apply(now, old),
            reg::PA_POW => {
                if old == 0 && value != 0 {
                    self.amplified = now + micros(self.part.pa_start_us);
                }
                self.announce();
            }
            reg::CURRENT if self.sending.is_some() => self.check_current(),
            reg::FREQ_2A..=reg::FREQ_0B | reg::PLL => {
                let used = address == reg::PLL || self.chosen() == (address >= reg::FREQ_2B);
                if old != value && used && self.mode != Mode::Down {
                    self.retune(now);
                }
            }
            reg::CAL if value & 0x80 != 0 && old & 0x80 == 0 => self.calibrate(now),
            _ => {}
        }
    }

    fn calibrate(&mut self, now: Picos) {
        let m = self.reg(reg::MAIN);
        if m & (main::FS_PD | main::CORE_PD | main::BIAS_PD) != 0 {
            self.misuse("CAL_START was set while crystal, bias or synthesizer were off");
            return;
        }
        if m & main::RXTX != 0 && self.reg(reg::PA_POW) != 0 {
            self.misuse("CAL_START was set in TX while PA_POW was not 0");
        }
        let c = self.reg(reg::CAL);
        if c & 7 != 6 || c & 0x20 == 0 {
            self.unknown(&format!("CAL is {c:#04x} (other than CAL_WAIT = 1, CAL_ITERATE = 6)"));
        }
        let us = self.part.calibrate_at_1mhz_us * 1e6 / self.reference_hz();
        self.journal.counts.calibrations += 1;
        self.regs[usize::from(reg::CAL)] &= !0x08;
        self.calibrating = Some(now + micros(us));
    }

    fn read_register(&mut self, now: Picos, address: u8) -> u8 {
        self.run(now);
        match address {
            0x00..=reg::PRESCALER | reg::TEST6..=reg::TEST0 => {
                let value = self.reg(address);
                match address {
                    reg::LOCK => {
                        let locked = self.settled <= now && self.is_calibrated();
                        value & !3 | if locked { 3 } else { 0 }
                    }
                    _ => value,
                }
            }
            _ => {
                self.misuse(&format!("{address:#04x} is no register of the CC1000"));
                0
            }
        }
    }

    /// Bits go in when PCLK falls: address and direction while PALE is low, data while it is high.
    fn clock_fell(&mut self, now: Picos) {
        if !self.pale {
            self.header = self.header << 1 | u8::from(self.pdata);
            self.header_bits += 1;
            if self.header_bits == 8 {
                self.data_bits = 0;
                self.shift = 0;
                if self.header & 1 == 0 {
                    self.reading = Some(self.read_register(now, self.header >> 1));
                }
            }
            return;
        }
        if self.header_bits < 8 || self.data_bits == 8 {
            return;
        }
        self.data_bits += 1;
        if self.reading.is_none() {
            self.shift = self.shift << 1 | u8::from(self.pdata);
            if self.data_bits == 8 {
                self.write_register(now, self.header >> 1, self.shift);
            }
        }
    }

    // --- data bits ----------------------------------------------------------------------------------

    fn by_pins(&self) -> bool {
        self.pins.dio.is_some()
    }

    /// Time at which the data clock next does something.
    fn next_clock(&self) -> Option<Picos> {
        if self.mode == Mode::Down || self.origin == Picos::MAX {
            return None;
        }
        let half = Picos(self.bit().0 / 2);
        let halves = if self.by_pins() { self.halves + 1 } else { (self.halves / 16 + 1) * 16 };
        // Whole bits are exact; halves may be half a picosecond short.
        Some(self.origin + self.bit() * (halves / 2) + half * (halves % 2))
    }

    fn heard(&mut self, at: Picos, bits_ago: u64) -> bool {
        let bit = self.bit().0;
        let sample = Picos(at.0.saturating_sub(u128::from(bits_ago) * bit - bit / 2));
        let Some(port) = &self.port else { return false };
        let (bit, signal) = port.bit(self.tuning(), sample);
        if signal {
            self.check_calibration();
        }
        bit
    }

    fn clock(&mut self, at: Picos) {
        if !self.by_pins() {
            self.halves = (self.halves / 16 + 1) * 16;
            self.shifted = Some(match self.mode {
                Mode::Rx => (0..8)
                    .fold(0, |byte, k| byte << 1 | u8::from(self.heard(at, RX_LAG_BITS + 8 - k))),
                _ => 0,
            });
            return;
        }
        self.halves += 1;
        if self.halves.is_multiple_of(2) {
            if self.mode == Mode::Rx {
                self.dio_out = self.heard(at, RX_LAG_BITS + 1);
            }
            return;
        }
        if self.mode == Mode::Tx {
            self.collected = self.collected << 1 | u8::from(self.dio_in);
            if self.halves % 16 == 15 {
                let byte = self.collected;
                self.radiate(byte);
            }
        }
    }

    fn radiate(&mut self, byte: u8) {
        if let (Some(id), Some(port)) = (self.sending, &self.port) {
            port.push(id, byte);
        }
        if self.sending.is_some() {
            self.journal.counts.sent_bytes += 1;
        }
    }

    fn run(&mut self, now: Picos) {
        if let Some(at) = self.calibrating.filter(|at| *at <= now) {
            self.calibrating = None;
            self.regs[usize::from(reg::CAL)] |= 0x08;
            let (b, dual) = (self.chosen(), self.reg(reg::CAL) & 0x40 != 0);
            for (i, register) in [false, true].into_iter().enumerate() {
                if dual || register == b {
                    self.calibrated[i] = Some((self.word(register), self.divider()));
                }
            }
            self.now = self.now.max(at);
        }
        while let Some(at) = self.next_clock().filter(|at| *at <= now) {
            if self.shifted.is_some() {
                // The last byte was not taken: the machine does so behind each event.
                self.shifted = None;
            }
            self.clock(at);
        }
        self.now = self.now.max(now);
    }

    fn rx_delta_ua(&self) -> i32 {
        let (c, f) = (self.reg(reg::CURRENT), self.reg(reg::FRONT_END));
        let sum = |c: u8, f: u8| {
            VCO_UA[usize::from(c >> 4)]
                + LO_UA[usize::from(c >> 2 & 3)]
                + BUFFER_UA[usize::from(f >> 5 & 1)]
                + LNA_UA[usize::from(f >> 3 & 3)]
        };
        let (rc, rf) = if self.high_band() { (0x8C, 0x32) } else { (0x44, 0x02) };
        sum(c, f) - sum(rc, rf)
    }
}

impl RadioChip for Chip {
    named!("CC1000", journal);

    fn pin(&mut self, now: Picos, pin: Pin, level: bool) {
        self.run(now);
        if !self.on {
            return;
        }
        if Some(pin) == self.pins.pdata {
            self.pdata = level;
        }
        if Some(pin) == self.pins.dio {
            self.dio_in = level;
        }
        if Some(pin) == self.pins.pale {
            if self.pale && !level {
                self.header = 0;
                self.header_bits = 0;
                self.reading = None;
            }
            self.pale = level;
        }
        if Some(pin) == self.pins.pclk && self.pclk != level {
            self.pclk = level;
            if !level {
                self.clock_fell(now);
            } else if self.data_bits > 0 {
                self.reading = self.reading.map(|byte| byte << 1);
            }
        }
    }

    fn next_event(&self) -> Option<Picos> {
        [self.calibrating, self.next_clock()].into_iter().flatten().min()
    }

    fn run_to(&mut self, now: Picos) {
        self.run(now);
    }

    fn power(&mut self, now: Picos, on: bool) {
        if on == self.on {
            return;
        }
        self.stop_sending(now);
        let (part, pins, port) = (self.part.clone(), self.pins, self.port.take());
        let journal = std::mem::take(&mut self.journal);
        *self = Self { journal, on, now, ..Self::new(part, pins, port) };
    }

    fn levels(&self, out: &mut Vec<(Pin, bool)>) {
        if !self.on {
            return;
        }
        if let (Some(pin), Some(byte), true) = (self.pins.pdata, self.reading, self.pale) {
            out.push((pin, byte & 0x80 != 0));
        }
        let uart = self.format() == 2;
        if self.mode != Mode::Down {
            let clock = if uart { self.dio_out } else { self.halves % 2 == 1 };
            out.extend(self.pins.dclk.map(|p| (p, clock)));
        }
        if self.mode == Mode::Rx && !uart {
            out.extend(self.pins.dio.map(|p| (p, self.dio_out)));
        }
    }

    fn state(&self) -> &'static str {
        let m = self.reg(reg::MAIN);
        let high = self.high_band();
        if !self.on {
            "off"
        } else if m & main::CORE_PD != 0 {
            "power_down"
        } else if m & main::BIAS_PD != 0 {
            "xosc"
        } else if m & main::FS_PD != 0 {
            "xosc.bias"
        } else {
            match (self.mode, self.output()) {
                (Mode::Rx, _) => {
                    let steps = (f64::from(self.rx_delta_ua()) / 500.0).round().clamp(-6.0, 6.0);
                    let i = (steps + 6.0) as usize;
                    if high { RX_868[i] } else { RX_433[i] }
                }
                (Mode::Tx, Some((_, _, name))) => name,
                _ if high => "synth.868mhz",
                _ => "synth.433mhz",
            }
        }
    }

    fn shifted_in(&mut self) -> Option<u8> {
        self.shifted.take()
    }

    fn shifted_out(&mut self, _now: Picos, byte: u8) {
        if self.mode == Mode::Tx {
            self.radiate(byte);
        }
    }

    fn earliest_air(&self, now: Picos) -> Picos {
        now + micros(if self.mode == Mode::Tx {
            self.part.pa_start_us
        } else {
            self.part.settle_us.min(self.part.pa_start_us)
        })
    }

    /// Voltage at the RSSI pin, which falls as the signal grows: its current through 27 kOhm to ground (SWRS048A, section
    /// 22); 0 V unless it receives, settled, with IF_RSSI 1.
    fn rssi_v(&self, now: Picos) -> f64 {
        if self.mode != Mode::Rx || self.settled > now || self.reg(reg::FRONT_END) >> 1 & 3 != 1 {
            return 0.0;
        }
        // Over one bit, as old as the air is sensed.
        let to = Picos(now.0.saturating_sub(SENSE_LAG.0).max(1));
        let from = Picos(to.0.saturating_sub(self.bit().0));
        let tuning = self.tuning();
        let dbm = match &self.port {
            Some(port) => port.energy_dbm(tuning, from, to),
            None => tuning.phy.noise_dbm(&self.part.receiver),
        };
        let (slope, zero) = if self.high_band() { (50.0, -45.5) } else { (51.3, -49.2) };
        ((zero - dbm) / slope).clamp(0.0, RSSI_MAX_V)
    }

    fn save(&self) -> Vec<u8> {
        saved(self, self.port.as_ref().map_or_else(|| Some(Vec::new()), Port::save))
    }

    fn restore(&mut self, saved: &[u8]) {
        let Some((was, air)) = restored::<Self>(saved) else { return };
        if let Some(port) = &self.port {
            port.restore(&air);
        }
        *self = Self { part: self.part.clone(), pins: self.pins, port: self.port.take(), ..was };
    }

    fn remains(&self) -> Vec<u8> {
        if self.journal.has_traffic() {
            return self.save();
        }
        left(self, |chip| &mut chip.journal)
    }
}
