// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2520 as its SPI bus and pins show it: instructions, registers, RAM, exceptions, GPIO, state
//! machine, data processing unit.
//!
//! Source: SWRS068. What a program may do to the chip and the model does not know (exception binding,
//! slotted acknowledgments, test modes ...) becomes a [`problem`](crate::RadioHandle::problem) that
//! stops the run with a sentence. What the chip itself reports as an exception is one.

mod dpu;
mod map;
mod registers;

use serde::{Deserialize, Serialize};
use sunseal_mcu::Pin;
use sunseal_trace::Picos;

use crate::air::Chance;
use crate::chip::{Journal, Radio, RadioChip, RadioHandle, left, named, restored, saved};
use crate::ieee802154::{Header, Identity, Sources};
use crate::medium::Port;
use crate::modem::{Config, Filter, Note, SYMBOL, State};
use crate::modem_chip::{self, Core, ModemChip, Power, Starts};
use crate::parts::Cc2520Part;
use map::*;

/// Every state that the chip can be in, as the ledger names it.
pub(crate) fn states() -> Vec<&'static str> {
    let fixed = ["off", "lpm2", "lpm1", "startup", "active", "calibrate", "rx.wait", "rx"];
    fixed.into_iter().chain(POWER.iter().map(|p| p.2)).collect()
}

/// The pins that the chip is wired to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cc2520Pins {
    /// Pins of the chip, GPIO0 to GPIO5.
    pub gpio: [Option<Pin>; 6],
    /// SO, which is high while the chip is selected and the crystal runs, until the first clock.
    pub somi: Option<Pin>,
    /// VREG_EN; without it the regulator is always on.
    pub vreg_en: Option<Pin>,
    /// Pin that resets the chip, RESETn.
    pub resetn: Option<Pin>,
}

/// Number of bytes of an instruction, or of those before its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Length {
    Fixed(usize),
    Open(usize),
    Unknown,
}

fn length(op: u8) -> Length {
    use Length::{Fixed, Open, Unknown};
    match op {
        0x00 | 0x03 | 0x04 | 0x0F | 0x40..=0x4D => Fixed(1),
        0x02 | 0x58 | 0x59 | 0x7F => Fixed(2),
        0x10..=0x2F | 0x3C => Open(2),
        0x30 | 0x3A | 0x80..=0xFF => Open(1),
        0x38 | 0x56 => Open(3),
        0x4E | 0x4F | 0x78 | 0x79 => Fixed(3),
        0x32 | 0x33 | 0x3E | 0x3F | 0x72 | 0x73 | 0x76 | 0x77 => Fixed(4),
        0x50..=0x55 => Fixed(5),
        0x66 | 0x67 | 0x70 | 0x71 | 0x74 | 0x75 => Fixed(6),
        0x60 | 0x61 | 0x64 | 0x65 => Fixed(7),
        0x68..=0x6B => Fixed(9),
        _ => Unknown,
    }
}

/// An instruction of the data processing unit under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Job {
    until: Picos,
    bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Chip {
    #[serde(skip)]
    part: Cc2520Part,
    #[serde(skip)]
    pins: Cc2520Pins,
    core: Core,
    #[serde(with = "crate::chip::array")]
    regs: [u8; 0x80],
    /// RAM from address 0x200 on.
    #[serde(with = "crate::chip::array")]
    bank: [u8; (ram::END - ram::FREE) as usize],
    exceptions: u32,
    selected: bool,
    clocked: bool,
    /// The instruction under way.
    instruction: Vec<u8>,
    /// Address of the next byte.
    address: u16,
    buffered: u8,
    jobs: [Option<Job>; 2],
    authentic: [bool; 2],
    sampled_cca: bool,
    fifop: bool,
    inputs: [bool; 6],
}

impl Radio {
    /// A CC2520 without supply, and the handle to watch it by. Without a port nobody else is on the air.
    #[must_use]
    pub fn cc2520(part: Cc2520Part, pins: Cc2520Pins, port: Option<Port>) -> (Self, RadioHandle) {
        let wired = [pins.vreg_en, pins.resetn].into_iter().chain(pins.gpio);
        let listens = wired.flatten().collect();
        Self::wrap(Chip::new(part, pins, port), listens)
    }
}
impl Chip {
    fn new(part: Cc2520Part, pins: Cc2520Pins, port: Option<Port>) -> Self {
        Self {
            part,
            pins,
            core: Core::new(port),
            regs: RESET,
            bank: [0; (ram::END - ram::FREE) as usize],
            exceptions: 0,
            selected: false,
            clocked: false,
            instruction: Vec::new(),
            address: 0,
            buffered: 0,
            jobs: [None, None],
            authentic: [false; 2],
            sampled_cca: false,
            fifop: false,
            inputs: [false; 6],
        }
    }

    fn reg(&self, address: u16) -> u8 {
        self.regs[usize::from(address)]
    }

    fn raise(&mut self, exception: u8) {
        self.exceptions |= 1 << exception;
    }

    fn long(&self, address: u16) -> u32 {
        let i = usize::from(address - ram::FREE);
        u32::from_le_bytes([self.bank[i], self.bank[i + 1], self.bank[i + 2], 0])
    }

    fn word(&self, address: u16) -> u16 {
        self.long(address) as u16
    }

    fn bits(&self, register: u16) -> u32 {
        let r = |i| u32::from(self.reg(register + i));
        r(0) | r(1) << 8 | r(2) << 16
    }

    fn sources(&self) -> Sources {
        let (i, m) = (usize::from(ram::SOURCES - ram::FREE), self.reg(reg::SRCMATCH));
        Sources {
            table: std::array::from_fn(|k| self.bank[i + k]),
            short_on: self.bits(reg::SRCSHORTEN0),
            extended_on: self.bits(reg::SRCEXTEN0),
            short_pends: self.long(ram::SRCSHORTPENDEN),
            extended_pends: self.long(ram::SRCEXTPENDEN),
            autopend: m & 2 != 0,
            requests_only: m & 4 != 0,
        }
    }

    fn output(&self) -> Option<&'static (u8, f64, &'static str)> {
        POWER.iter().find(|p| p.0 == self.reg(reg::TXPOWER))
    }

    fn rx_mask(&self) -> u16 {
        u16::from_le_bytes([self.reg(reg::RXENABLE0), self.reg(reg::RXENABLE1)])
    }

    // --- time -------------------------------------------------------------------------------------------

    fn advance(&mut self, now: Picos) {
        loop {
            match self.core.power {
                Power::RegulatorStarts { until } if until <= now => {
                    // Out of reset the crystal starts by itself.
                    self.start_crystal(until);
                    continue;
                }
                Power::CrystalStarts { until } if until <= now => self.core.power = Power::On,
                _ => {}
            }
            break;
        }
        for priority in 0..2 {
            if let Some(job) = self.jobs[priority].take_if(|j| j.until <= now) {
                self.perform(priority, &job.bytes);
                self.raise(exception::DPU_DONE_L + priority as u8);
            }
        }
        self.run_modem(now);
        self.watch_fifop();
    }

    fn watch_fifop(&mut self) {
        let fifop = self.fifo_pins().1;
        if fifop && !self.fifop {
            self.raise(exception::FIFOP);
        }
        self.fifop = fifop;
    }

    fn match_source(&mut self, h: &Header) {
        if self.reg(reg::SRCMATCH) & 1 == 0 || self.reg(reg::FRMFILT0) & 1 == 0 {
            return;
        }
        let found = self.sources().find(h);
        let mask: u32 = match found {
            None => 0,
            Some(n) if n & Sources::EXTENDED != 0 => 3 << (2 * (n & 0x1F)),
            Some(n) => 1 << n,
        };
        let i = usize::from(ram::SRCRESMASK - ram::FREE);
        self.bank[i..i + 3].copy_from_slice(&mask.to_le_bytes()[..3]);
        self.bank[usize::from(ram::SRCRESINDEX - ram::FREE)] = found.unwrap_or(0x3F);
        self.raise(exception::SRC_MATCH_DONE);
        if found.is_some() {
            self.raise(exception::SRC_MATCH_FOUND);
        }
    }

    // --- SPI --------------------------------------------------------------------------------------------

    fn channel(&self, mask: u16) -> bool {
        self.exceptions & self.bits(mask) != 0
    }

    fn status(&self) -> u8 {
        u8::from(self.core.on()) << 7
            | u8::from(self.core.modem.rssi_valid(self.core.now)) << 6
            | u8::from(self.channel(reg::EXCMASKA0)) << 5
            | u8::from(self.channel(reg::EXCMASKB0)) << 4
            | u8::from(self.jobs[1].is_some()) << 3
            | u8::from(self.jobs[0].is_some()) << 2
            | u8::from(self.core.modem.transmitting()) << 1
            | u8::from(self.receiver_on())
    }

    fn receiver_on(&self) -> bool {
        matches!(self.core.modem.state, State::RxCalibrate { .. } | State::Search | State::Receive)
    }

    fn byte(&mut self, now: Picos, mosi: u8) -> u8 {
        self.instruction.push(mosi);
        let (op, n) = (self.instruction[0], self.instruction.len());
        let status = self.status();
        if !self.core.on() && n == 1 && !matches!(op, 0x00 | 0x0F | 0x40 | 0x80..=0xFF) {
            self.misuse(&format!(
                "instruction {op:#04x} was given to the CC2520 without a running crystal; wait until SO is high behind SXOSCON"
            ));
        }
        match length(op) {
            Length::Unknown => {
                self.misuse(&format!("{op:#04x} is no instruction of the CC2520"));
                self.instruction.clear();
                status
            }
            Length::Fixed(bytes) if n >= bytes => {
                let whole = std::mem::take(&mut self.instruction);
                self.execute(now, &whole);
                status
            }
            Length::Open(head) if n >= head => {
                if n == head {
                    self.address = match op {
                        0x10..=0x2F => u16::from(op & 0x0F) << 8 | u16::from(mosi),
                        0x38 | 0x56 => u16::from(self.instruction[1] & 0x0F) << 8 | u16::from(mosi),
                        _ => u16::from(op & 0x3F),
                    };
                    return status;
                }
                // Only the head is needed again.
                self.instruction.truncate(head);
                self.stream(now, op, mosi)
            }
            _ => status,
        }
    }

    /// One byte behind the head of an instruction of open length.
    fn stream(&mut self, now: Picos, op: u8, mosi: u8) -> u8 {
        let address = self.address;
        self.address = address.wrapping_add(1);
        match op {
            0x10..=0x1F => self.read(address),
            0x20..=0x2F => {
                let old = self.read(address);
                self.write(now, address, mosi);
                old
            }
            0x30 => self.take_rx(),
            0x38 => {
                let byte = self.take_rx();
                self.write(now, address, byte);
                byte
            }
            0x3A => {
                self.put_tx(mosi);
                self.core.modem.tx.len() as u8
            }
            0x3C => Chance::new(now.0 as u64 ^ 0x2520).bits() as u8,
            0x56 => {
                let old = self.read(address);
                self.write(now, address, old ^ mosi);
                old
            }
            0x80..=0xBF => self.read(address & 0x7F),
            _ => {
                let old = self.read(address & 0x7F);
                self.write(now, address & 0x7F, mosi);
                old
            }
        }
    }

    fn take_rx(&mut self) -> u8 {
        let byte = self.core.modem.pop_rx();
        if byte.is_none() {
            self.raise(exception::RX_UNDERFLOW);
        }
        self.watch_fifop();
        byte.unwrap_or(0)
    }

    fn put_tx(&mut self, byte: u8) {
        if !self.core.modem.write_tx(byte) {
            self.raise(exception::TX_OVERFLOW);
        }
    }

    fn execute(&mut self, now: Picos, i: &[u8]) {
        match i[0] {
            0x02 => self.buffered = i[1],
            0x4E | 0x4F => {
                let data = u16::from_be_bytes([i[1], i[2]]);
                let mask = self.rx_mask();
                self.set_rx_mask(now, if i[0] == 0x4E { mask & data } else { mask | data });
            }
            0x58 | 0x59 => {
                let (address, bit) = (u16::from(i[1] >> 3), 1 << (i[1] & 7));
                if (reg::EXCFLAG0..=reg::EXCFLAG2).contains(&address) {
                    // Clearing one flag leaves those that come at the same time.
                    let value = if i[0] == 0x58 { !bit } else { 0xFF };
                    self.write_register(now, address, value);
                } else {
                    let old = self.read_register(address);
                    let value = if i[0] == 0x58 { old & !bit } else { old | bit };
                    self.write_register(now, address, value);
                }
            }
            0x32 | 0x33 | 0x3E | 0x3F | 0x50..=0x55 | 0x60..=0x79 => self.start_job(now, i),
            0x7F => {
                for (priority, bit) in [(0, 1), (1, 2)] {
                    if i[1] & bit != 0 {
                        self.jobs[priority] = None;
                    }
                }
            }
            strobe => self.strobe(now, strobe),
        }
    }

    fn strobe(&mut self, now: Picos, strobe: u8) {
        let cfg = self.config();
        match strobe {
            0x03 => {
                let buffered = std::mem::take(&mut self.buffered);
                if length(buffered) == Length::Fixed(1) && buffered != 0x03 {
                    self.strobe(now, buffered);
                } else {
                    self.raise(exception::USAGE_ERROR);
                }
            }
            0x04 => {
                self.core.modem.assess(now, &cfg);
                self.sampled_cca = self.core.modem.clear_channel(now, &cfg);
            }
            0x0F => {
                self.reset(now);
                self.start_crystal(now);
            }
            0x40 if self.core.power == Power::Down => {
                self.start_crystal(now);
            }
            0x41 => self.unknown("STXCAL was strobed (synthesizer without transmission)"),
            0x42 => {
                self.core.journal.counts.calibrations += 1;
                self.regs[usize::from(reg::RXENABLE0)] |= 0x80;
                if self.core.modem.receiving() {
                    self.raise(exception::RX_FRM_ABORTED);
                }
                self.core.modem.rx_on(now, &cfg);
            }
            0x43 => self.transmit(now),
            0x44 => {
                self.core.modem.assess(now, &cfg);
                self.sampled_cca = self.core.modem.clear_channel(now, &cfg);
                if self.sampled_cca {
                    self.transmit(now);
                }
            }
            0x45 => {
                self.regs[usize::from(reg::RXENABLE0)] = 0;
                self.regs[usize::from(reg::RXENABLE1)] = 0;
                if self.core.modem.receiving() {
                    self.raise(exception::RX_FRM_ABORTED);
                }
                if self.core.modem.state != State::Idle {
                    self.raise(exception::RF_IDLE);
                }
                self.core.modem.rf_off(now);
            }
            0x46 => {
                if self.core.modem.state != State::Idle {
                    self.raise(exception::USAGE_ERROR);
                    return;
                }
                self.core.power = Power::Down;
            }
            0x47 => {
                self.core.modem.flush_rx(now);
                self.watch_fifop();
            }
            0x48 => self.core.modem.flush_tx(now, &cfg),
            0x49 | 0x4A => {
                self.core.acknowledge(strobe == 0x4A, cfg.autoack);
            }
            0x4B => self.core.modem.no_ack = self.core.modem.receiving(),
            0x4C => self.set_rx_mask(now, self.rx_mask() | 0x20),
            0x4D => self.set_rx_mask(now, self.rx_mask() & !0x20),
            _ => {}
        }
    }

    fn transmit(&mut self, now: Picos) {
        if self.output().is_none() {
            self.unknown("a transmission at the TXPOWER after reset, which has no printed power");
        }
        if self.core.modem.state == State::TxUnderflow {
            // Only flushing leaves an underflow.
            return;
        }
        self.core.journal.counts.calibrations += 1;
        if self.reg(reg::FRMCTRL1) & 1 != 0 {
            self.regs[usize::from(reg::RXENABLE0)] |= 0x40;
        }
        let cfg = self.config();
        self.core.modem.tx_on(now, &cfg);
    }

    // --- pins -------------------------------------------------------------------------------------------

    fn fifo_pins(&self) -> (bool, bool) {
        if !self.core.on() {
            return (false, false);
        }
        self.core.modem.fifo_pins(usize::from(self.reg(reg::FIFOPCTRL) & 0x7F))
    }

    /// Level that a GPIO pin shows, if it is an output.
    fn gpio(&self, n: usize) -> Option<bool> {
        let control = self.regs[usize::from(reg::GPIOCTRL0) + n];
        if control & 0x80 != 0 {
            return None;
        }
        let (fifo, fifop) = self.fifo_pins();
        let level = match control & 0x7F {
            n @ 0x01..=0x18 => self.exceptions >> (n - 1) & 1 != 0,
            0x21 => self.channel(reg::EXCMASKA0),
            0x22 => self.channel(reg::EXCMASKB0),
            0x27 => fifo,
            0x28 => fifop,
            0x29 => self.core.on() && self.core.modem.clear_channel(self.core.now, &self.config()),
            0x2A => self.core.modem.sfd(),
            0x2B => self.core.on() && self.core.modem.locked(),
            0x2C => self.core.modem.rssi_valid(self.core.now),
            0x2D => self.sampled_cca,
            0x7F => true,
            _ => false,
        };
        Some(level == (self.reg(reg::GPIOPOLARITY) >> n & 1 != 0))
    }
}

impl ModemChip for Chip {
    modem_chip::reaches!(modem);

    fn released(&mut self, now: Picos) {
        self.start_crystal(now);
    }

    fn reset(&mut self, now: Picos) {
        self.core.modem.reset(now);
        self.regs = RESET;
        self.exceptions = 0;
        self.instruction.clear();
        self.buffered = 0;
        self.jobs = [None, None];
        self.authentic = [false; 2];
        self.sampled_cca = false;
        self.fifop = false;
        self.core.pending = false;
    }

    fn config(&self) -> Config {
        let (f0, f1) = (self.reg(reg::FRMFILT0), self.reg(reg::FRMFILT1));
        let (c0, m) = (self.reg(reg::FRMCTRL0), self.reg(reg::SRCMATCH));
        let i = usize::from(ram::EXTADDR - ram::FREE);
        let filter = (f0 & 1 != 0).then(|| Filter {
            identity: Identity {
                pan: self.word(ram::PANID),
                short: self.word(ram::SHORTADDR),
                extended: std::array::from_fn(|k| self.bank[i + k]),
                coordinator: f0 & 2 != 0,
            },
            accept: std::array::from_fn(|k| f1 >> (3 + k) & 1 != 0),
            accept_reserved: f1 & 0x80 != 0,
            beacons_of_any: true,
            max_version: f0 >> 2 & 3,
            reserved_mask: f0 >> 4 & 7,
            least_bytes: 9,
        });
        let sources = (f0 & 1 != 0 && m & 1 != 0).then(|| self.sources());
        Config {
            carrier_hz: (2394 + u64::from(self.reg(reg::FREQCTRL) & 0x7F)) * 1_000_000,
            power_dbm: self.output().map_or(0.0, |p| p.1),
            preamble_bytes: u32::from(self.reg(reg::MDMCTRL0) >> 1 & 0x0F) + 1,
            sync: 0xA70F,
            autocrc: c0 & 0x40 != 0,
            autoack: c0 & 0x20 != 0,
            filter,
            tx_turnaround: Picos(12 * SYMBOL.0),
            rx_turnaround: Picos(12 * SYMBOL.0),
            rssi_offset_db: self.part.rssi_offset_dbm,
            cca_threshold_dbm: f64::from(self.reg(reg::CCACTRL0) as i8) - self.part.rssi_offset_dbm,
            cca_hysteresis_db: f64::from(self.reg(reg::CCACTRL1) & 7),
            cca_mode: self.reg(reg::CCACTRL1) >> 3 & 3,
            pending: self.core.pending || self.reg(reg::FRMCTRL1) & 4 != 0,
            sources,
            rx_after_tx: self.rx_mask() != 0,
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::RxSfd | Note::TxSfd => self.raise(exception::SFD),
            Note::RxAccepted { header } => {
                self.raise(exception::RX_FRM_ACCEPTED);
                if let Some(h) = header {
                    self.match_source(&h);
                }
            }
            Note::RxDone { .. } => {
                self.raise(exception::RX_FRM_DONE);
                self.core.pending = false;
            }
            Note::RxRejected => {}
            Note::RxOverflow => self.raise(exception::RX_OVERFLOW),
            Note::TxDone | Note::AckDone => {
                let done = note == Note::TxDone;
                self.raise(if done { exception::TX_FRM_DONE } else { exception::TX_ACK_DONE });
                if self.core.modem.state == State::Idle {
                    self.raise(exception::RF_IDLE);
                }
            }
            Note::TxUnderflow => self.raise(exception::TX_UNDERFLOW),
        }
    }
}

impl RadioChip for Chip {
    modem_chip::reaches!(radio "CC2520");

    fn select(&mut self, now: Picos) {
        self.advance(now);
        self.selected = true;
        self.clocked = false;
        self.instruction.clear();
    }

    fn deselect(&mut self, now: Picos) {
        self.advance(now);
        self.selected = false;
        if self.instruction.first().is_some_and(|op| matches!(length(*op), Length::Fixed(_))) {
            // Broken off: nothing is done.
            self.raise(exception::SPI_ERROR);
        }
        self.instruction.clear();
    }

    fn pin(&mut self, now: Picos, pin: Pin, level: bool) {
        self.advance(now);
        if self.core.power == Power::Off {
            return;
        }
        self.control(now, pin, level);
        for n in 0..6 {
            if Some(pin) != self.pins.gpio[n] {
                continue;
            }
            let rising = level && !std::mem::replace(&mut self.inputs[n], level);
            let control = self.regs[usize::from(reg::GPIOCTRL0) + n];
            let strobe = GPIO_STROBES.iter().find(|s| s.0 | 0x80 == control);
            if let (true, true, Some((_, strobe))) = (rising, self.core.on(), strobe) {
                self.strobe(now, *strobe);
            }
        }
    }

    fn next_event(&self) -> Option<Picos> {
        let jobs = self.jobs.iter().flatten().map(|j| j.until).min();
        [self.core.next_event(), jobs].into_iter().flatten().min()
    }

    fn levels(&self, out: &mut Vec<(Pin, bool)>) {
        if !self.core.regulated() {
            return;
        }
        for (n, pin) in self.pins.gpio.iter().enumerate() {
            if let (Some(pin), Some(level)) = (pin, self.gpio(n)) {
                out.push((*pin, level));
            }
        }
        if let (Some(pin), true) = (self.pins.somi, self.selected && !self.clocked) {
            out.push((pin, self.core.on()));
        }
    }

    fn state(&self) -> &'static str {
        match self.core.power {
            Power::Off => "off",
            Power::RegulatorOff => "lpm2",
            Power::RegulatorStarts { .. } | Power::CrystalStarts { .. } | Power::Reset => "startup",
            Power::Down => "lpm1",
            Power::On => match self.core.modem.state {
                State::Idle | State::TxUnderflow => "active",
                State::RxCalibrate { .. }
                | State::TxCalibrate { .. }
                | State::AckCalibrate { .. } => "calibrate",
                State::Search | State::RxOverflow => "rx.wait",
                State::Receive => "rx",
                State::Tx | State::Ack => self.output().map_or("tx.0dbm", |p| p.2),
            },
        }
    }

    fn earliest_air(&self, now: Picos) -> Picos {
        self.earliest(now, Picos(12 * SYMBOL.0))
    }
}
