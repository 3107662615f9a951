// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2420 as its SPI bus and pins show it: registers, RAM, FIFOs, strobes, status byte, state
//! machine, security engine.
//!
//! Source: SWRS041B. What a program may do to the chip and the model does not know (test modes, battery
//! monitor, in-line security on frames that are not whole ...) becomes a
//! [`problem`](crate::RadioHandle::problem) that stops the run with a sentence.

mod security;

use serde::{Deserialize, Serialize};
use sunseal_mcu::Pin;
use sunseal_trace::Picos;

use crate::chip::{Journal, Radio, RadioChip, RadioHandle, left, named, pins, restored, saved};
use crate::ieee802154::Identity;
use crate::medium::Port;
use crate::modem::{Config, Filter, Note, SYMBOL, State};
use crate::modem_chip::{self, Core, ModemChip, Power, Starts};
use crate::parts::Cc2420Part;
use crate::security::Block;

/// Register addresses (SWRS041B, table 11).
mod reg {
    sunseal_trace::constants! { pub u8:
        MAIN 0x10, MDMCTRL0 0x11, MDMCTRL1 0x12, RSSI 0x13, SYNCWORD 0x14, TXCTRL 0x15,
        RXCTRL0 0x16, RXCTRL1 0x17, FSCTRL 0x18, SECCTRL0 0x19, SECCTRL1 0x1A, BATTMON 0x1B,
        IOCFG0 0x1C, IOCFG1 0x1D, MANFIDL 0x1E, MANFIDH 0x1F, FSMSTATE 0x2C, LAST 0x30, TXFIFO 0x3E,
        RXFIFO 0x3F,
    }
}

/// RAM addresses (table 6).
mod ram {
    sunseal_trace::constants! { pub u16:
        RXFIFO 0x080, KEY0 0x100, RXNONCE 0x110, SABUF 0x120, KEY1 0x130, TXNONCE 0x140,
        IEEEADR 0x160, PANID 0x168, SHORTADR 0x16A, END 0x170,
    }
}

/// Values after a reset, from MAIN (0x10) to RESERVED (0x30).
const RESET: [u16; 0x21] = [
    0xF800, 0x0AE2, 0x0500, 0xE080, 0xA70F, 0xA0FF, 0x12E5, 0x0A56, //
    0x4165, 0x03C4, 0x0000, 0x0000, 0x0040, 0x0000, 0x233D, 0x3000, //
    0x7A94, 0xFFFF, 0x0000, 0x07F0, 0x3649, 0x0860, 0x012A, 0x0200, //
    0x5002, 0x0600, 0x81DD, 0x0000, 0x0000, 0x0000, 0x0000, 0x0010, //
    0x0000,
];

/// Output power by TXCTRL.PA_LEVEL (table 9), dBm, with the name of the state.
const POWER: [(u8, f64, &str); 8] = [
    (3, -25.0, "tx.pa3"),
    (7, -15.0, "tx.pa7"),
    (11, -10.0, "tx.pa11"),
    (15, -7.0, "tx.pa15"),
    (19, -5.0, "tx.pa19"),
    (23, -3.0, "tx.pa23"),
    (27, -1.0, "tx.pa27"),
    (31, 0.0, "tx.pa31"),
];

/// Every state that the chip can be in, as the ledger names it.
pub(crate) fn states() -> Vec<&'static str> {
    let fixed = ["off", "vreg_off", "power_down", "startup", "idle", "calibrate", "rx"];
    fixed.into_iter().chain(POWER.iter().map(|p| p.2)).collect()
}

pins! { Cc2420Pins {
    fifo,
    fifop,
    sfd,
    cca,
    /// VREG_EN; without it the regulator is always on.
    vreg_en,
    resetn,
} }

/// Meaning of the bytes of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Access {
    Address,
    Register {
        address: u8,
        read: bool,
        high: Option<u8>,
    },
    TxFifo {
        read: bool,
    },
    RxFifo {
        read: bool,
    },
    /// The second address byte comes next.
    Ram {
        low: u8,
    },
    RamData {
        address: u16,
        read: bool,
    },
}

#[derive(Serialize, Deserialize)]
struct Chip {
    #[serde(skip)]
    part: Cc2420Part,
    #[serde(skip)]
    pins: Cc2420Pins,
    core: Core,
    #[serde(with = "crate::chip::array")]
    regs: [u16; 0x21],
    /// RAM from 0x100: keys, nonces, addresses.
    #[serde(with = "crate::chip::array")]
    bank: [u8; (ram::END - ram::KEY0) as usize],
    access: Access,
    busy_until: Picos,
    /// The RXFIFO is held while it is decrypted.
    rx_held: bool,
    underflow: bool,
}

impl Radio {
    /// A CC2420 without supply, and the handle to watch it by. Without a port nobody else is on the air.
    #[must_use]
    pub fn cc2420(part: Cc2420Part, pins: Cc2420Pins, port: Option<Port>) -> (Self, RadioHandle) {
        let listens = [pins.vreg_en, pins.resetn].into_iter().flatten().collect();
        Self::wrap(Chip::new(part, pins, port), listens)
    }
}
impl Chip {
    fn new(part: Cc2420Part, pins: Cc2420Pins, port: Option<Port>) -> Self {
        Self {
            part,
            pins,
            core: Core::new(port),
            regs: RESET,
            bank: [0; (ram::END - ram::KEY0) as usize],
            access: Access::Address,
            busy_until: Picos(0),
            rx_held: false,
            underflow: false,
        }
    }

    fn reg(&self, address: u8) -> u16 {
        self.regs[usize::from(address - reg::MAIN)]
    }

    fn word(&self, address: u16) -> u16 {
        let i = usize::from(address - ram::KEY0);
        u16::from_le_bytes([self.bank[i], self.bank[i + 1]])
    }

    /// Bytes of the bank, the last one first: keys and nonces lie that way.
    fn reversed(&self, address: u16) -> Block {
        let i = usize::from(address - ram::KEY0);
        std::array::from_fn(|k| self.bank[i + 15 - k])
    }

    /// The printed output power at or above PA_LEVEL.
    fn output(&self) -> (u8, f64, &'static str) {
        let level = (self.reg(reg::TXCTRL) & 0x1F) as u8;
        *POWER.iter().find(|p| p.0 >= level).unwrap_or(&POWER[7])
    }

    // --- time -------------------------------------------------------------------------------------------

    fn advance(&mut self, now: Picos) {
        match self.core.power {
            Power::RegulatorStarts { until } if until <= now => self.core.power = Power::Down,
            Power::CrystalStarts { until } if until <= now => self.core.power = Power::On,
            _ => {}
        }
        if self.rx_held && self.busy_until <= now {
            self.rx_held = false;
        }
        self.run_modem(now);
    }

    // --- SPI --------------------------------------------------------------------------------------------

    fn status(&self) -> u8 {
        u8::from(self.core.on()) << 6
            | u8::from(self.underflow) << 5
            | u8::from(self.busy_until > self.core.now) << 4
            | u8::from(self.core.modem.transmitting()) << 3
            | u8::from(self.core.modem.locked()) << 2
            | u8::from(self.core.modem.rssi_valid(self.core.now)) << 1
    }

    fn address(&mut self, now: Picos, byte: u8) -> u8 {
        let status = self.status();
        let read = byte & 0x40 != 0;
        self.access = if byte & 0x80 != 0 {
            Access::Ram { low: byte & 0x7F }
        } else {
            match byte & 0x3F {
                strobe @ 0x00..=0x0E => {
                    self.strobe(now, strobe);
                    Access::Address
                }
                address @ reg::MAIN..=reg::LAST => Access::Register { address, read, high: None },
                reg::TXFIFO => Access::TxFifo { read },
                reg::RXFIFO => Access::RxFifo { read },
                address => {
                    self.misuse(&format!(
                        "SPI address {address:#04x} is no register of the CC2420"
                    ));
                    Access::Address
                }
            }
        };
        if matches!(self.access, Access::TxFifo { .. } | Access::RxFifo { .. } | Access::Ram { .. })
            && !self.core.on()
        {
            self.misuse("FIFO or RAM of the CC2420 were accessed without a running crystal; strobe SXOSCON and wait for XOSC16M_STABLE");
        }
        status
    }

    fn byte(&mut self, now: Picos, byte: u8) -> u8 {
        match self.access {
            Access::Address => self.address(now, byte),
            Access::Register { address, read, high: None } => {
                self.access = Access::Register { address, read, high: Some(byte) };
                if read { (self.read_register(address) >> 8) as u8 } else { self.status() }
            }
            Access::Register { address, read, high: Some(high) } => {
                self.access = Access::Address;
                if read {
                    return self.read_register(address) as u8;
                }
                self.write_register(now, address, u16::from_be_bytes([high, byte]));
                self.status()
            }
            Access::TxFifo { read: false } => {
                let status = self.status();
                if self.underflow {
                    // Nothing is taken until the FIFO is flushed.
                } else if !self.core.modem.write_tx(byte) {
                    self.misuse("the TXFIFO was written past its 128 bytes");
                }
                status
            }
            Access::TxFifo { read: true } => {
                self.misuse("the TXFIFO of the CC2420 was read; RAM access shows what it holds");
                0
            }
            Access::RxFifo { read: true } => self.core.modem.pop_rx().unwrap_or(0),
            Access::RxFifo { read: false } => {
                if !self.core.modem.rx.push(byte) {
                    self.misuse("the RXFIFO was written past its 128 bytes");
                }
                self.status()
            }
            Access::Ram { low } => {
                let address = u16::from(byte >> 6) << 7 | u16::from(low);
                self.access = Access::RamData { address, read: byte & 0x20 != 0 };
                self.status()
            }
            Access::RamData { address, read } => {
                self.access = Access::RamData { address: address.wrapping_add(1) & 0x1FF, read };
                self.ram(address, (!read).then_some(byte))
            }
        }
    }

    /// One byte of RAM; what was there is what is read, also where it is written.
    fn ram(&mut self, address: u16, write: Option<u8>) -> u8 {
        match address {
            0..ram::RXFIFO => {
                let i = usize::from(address);
                let old = self.core.modem.tx.get(i).copied().unwrap_or(0);
                match (write, self.core.modem.tx.get_mut(i)) {
                    (Some(b), Some(slot)) => *slot = b,
                    (Some(_), None) => {
                        self.misuse("RAM was written in the TXFIFO where it holds no byte; RAM access does not count bytes in");
                    }
                    (None, _) => {}
                }
                old
            }
            ram::RXFIFO..ram::KEY0 => {
                let i = usize::from(address - ram::RXFIFO);
                let old = self.core.modem.rx.ring[i];
                if let Some(b) = write {
                    self.core.modem.rx.ring[i] = b;
                }
                old
            }
            ram::KEY0..ram::END => {
                let slot = &mut self.bank[usize::from(address - ram::KEY0)];
                let old = *slot;
                if let Some(b) = write {
                    *slot = b;
                }
                old
            }
            _ => {
                self.misuse(&format!("RAM address {address:#05x} is past the CC2420's 368 bytes"));
                0
            }
        }
    }

    fn read_register(&mut self, address: u8) -> u16 {
        let value = self.reg(address);
        match address {
            reg::RSSI => {
                let cfg = self.config();
                let rssi = self.core.modem.rssi_value(self.core.now, &cfg).unwrap_or(-128);
                value & 0xFF00 | u16::from(rssi as u8)
            }
            reg::FSCTRL => {
                let running = self.core.modem.calibrating();
                let idle = self.core.modem.state == State::Idle;
                value & 0xCBFF
                    | u16::from(!running && !idle) << 13
                    | u16::from(running) << 12
                    | u16::from(!running && !idle) << 10
            }
            reg::FSMSTATE => self.fsm_state(),
            _ => value,
        }
    }

    fn fsm_state(&self) -> u16 {
        if !self.core.on() {
            return 0;
        }
        match self.core.modem.state {
            State::Idle => 1,
            State::Receive => 16,
            State::Tx if self.core.modem.sfd() => 37,
            State::Ack if self.core.modem.sfd() => 52,
            state => state.number().into(),
        }
    }

    fn write_register(&mut self, now: Picos, address: u8, value: u16) {
        let i = usize::from(address - reg::MAIN);
        match address {
            reg::MAIN => {
                if value & 0x8000 == 0 {
                    self.reset(now);
                    self.core.power = Power::Down;
                } else if value != RESET[0] {
                    self.unknown(&format!("MAIN is {value:#06x} (single resets, crystal bypass)"));
                }
                self.regs[0] = value;
                return;
            }
            reg::MDMCTRL1 if value & 0xF81F != 0 => self
                .unknown(&format!("MDMCTRL1 is {value:#06x} (test modes of modulation, TX or RX)")),
            reg::TXCTRL if value & 0xDFE0 != RESET[5] & 0xDFE0 => self.unknown(&format!(
                "TXCTRL is {value:#06x} (the printed output powers hold for the bias after reset)"
            )),
            reg::BATTMON if value & 0x20 != 0 => {
                self.unknown("BATTMON_EN is set (battery monitor)")
            }
            reg::IOCFG1 if value & 0x1C00 != 0 || value >> 5 & 0x1F != 0 => {
                self.unknown(&format!("IOCFG1 is {value:#06x} (test signals on SFD, HSSD)"));
            }
            reg::IOCFG1 if !matches!(value & 0x1F, 0 | 24) => self.unknown(&format!(
                "IOCFG1.CCAMUX is {} (signals other than CCA and XOSC16M_STABLE)",
                value & 0x1F
            )),
            reg::MANFIDL | reg::MANFIDH | reg::FSMSTATE => {
                self.misuse(&format!("register {address:#04x} of the CC2420 can only be read"));
                return;
            }
            reg::MDMCTRL0
            | reg::MDMCTRL1
            | reg::RSSI
            | reg::SYNCWORD
            | reg::TXCTRL
            | reg::RXCTRL0
            | reg::RXCTRL1
            | reg::FSCTRL
            | reg::SECCTRL0
            | reg::SECCTRL1
            | reg::BATTMON
            | reg::IOCFG0
            | reg::IOCFG1 => {}
            _ if value != RESET[i] => self.unknown(&format!(
                "test register {address:#04x} is {value:#06x} and not {:#06x}",
                RESET[i]
            )),
            _ => {}
        }
        self.regs[i] = value;
        let cfg = self.config();
        self.core.modem.assess(now, &cfg);
    }

    fn strobe(&mut self, now: Picos, strobe: u8) {
        if matches!(strobe, 0x02..=0x06 | 0x0A..=0x0E) && !self.core.on() {
            self.misuse(&format!(
                "strobe {strobe:#04x} was given without a running crystal; strobe SXOSCON and wait for XOSC16M_STABLE"
            ));
            return;
        }
        let cfg = self.config();
        match strobe {
            0x01 if self.core.power == Power::Down => {
                self.start_crystal(now);
            }
            0x02 => self.unknown("STXCAL was strobed (synthesizer without receiver)"),
            0x03 if !matches!(
                self.core.modem.state,
                State::RxCalibrate { .. } | State::Search | State::Receive | State::RxOverflow
            ) =>
            {
                self.core.journal.counts.calibrations += 1;
                self.core.modem.rx_on(now, &cfg);
            }
            0x04 => self.transmit(now, &cfg),
            0x05 => {
                self.core.modem.assess(now, &cfg);
                if self.core.modem.clear_channel(now, &cfg) {
                    self.transmit(now, &cfg);
                }
            }
            0x06 => self.core.modem.rf_off(now),
            0x07 => {
                self.core.modem.rf_off(now);
                if matches!(self.core.power, Power::On | Power::CrystalStarts { .. }) {
                    self.core.power = Power::Down;
                }
            }
            0x08 => self.core.modem.flush_rx(now),
            0x09 => {
                self.underflow = false;
                self.core.modem.flush_tx(now, &cfg);
            }
            0x0A | 0x0B => {
                self.core.acknowledge(strobe == 0x0B, cfg.autoack);
            }
            0x0C => self.decrypt(now),
            0x0D => self.encrypt(now),
            0x0E => self.stand_alone(now),
            _ => {}
        }
    }

    fn transmit(&mut self, now: Picos, cfg: &Config) {
        if self.underflow {
            // Only flushing leaves an underflow.
            return;
        }
        self.core.journal.counts.calibrations += 1;
        if self.reg(reg::SECCTRL0) & 3 != 0 && !self.core.modem.tx_sent {
            self.encrypt(now);
        }
        self.core.modem.tx_on(now, cfg);
    }

    // --- pins -------------------------------------------------------------------------------------------

    fn fifo_pins(&self) -> (bool, bool) {
        if self.rx_held || !self.core.on() {
            return (false, false);
        }
        self.core.modem.fifo_pins(usize::from(self.reg(reg::IOCFG0) & 0x7F))
    }
}

impl ModemChip for Chip {
    modem_chip::reaches!(modem);

    fn released(&mut self, _now: Picos) {
        self.core.power = Power::Down;
    }

    fn reset(&mut self, now: Picos) {
        self.core.modem.reset(now);
        self.regs = RESET;
        self.access = Access::Address;
        self.busy_until = Picos(0);
        self.rx_held = false;
        self.core.pending = false;
        self.underflow = false;
    }

    fn config(&self) -> Config {
        let (m0, tx, io) = (self.reg(reg::MDMCTRL0), self.reg(reg::TXCTRL), self.reg(reg::IOCFG0));
        let i = usize::from(ram::IEEEADR - ram::KEY0);
        let filter = (m0 & 0x0800 != 0).then(|| Filter {
            identity: Identity {
                pan: self.word(ram::PANID),
                short: self.word(ram::SHORTADR),
                extended: std::array::from_fn(|k| self.bank[i + k]),
                coordinator: m0 & 0x1000 != 0,
            },
            accept: [true; 4],
            accept_reserved: m0 & 0x2000 != 0,
            beacons_of_any: io & 0x0800 != 0,
            max_version: 3,
            reserved_mask: 0,
            least_bytes: 5,
        });
        let threshold = f64::from((self.reg(reg::RSSI) >> 8) as i8);
        let symbols = if tx & 0x2000 != 0 { 12 } else { 8 };
        Config {
            carrier_hz: (2048 + u64::from(self.reg(reg::FSCTRL) & 0x3FF)) * 1_000_000,
            power_dbm: self.output().1,
            preamble_bytes: u32::from(m0 & 0x0F) + 1,
            sync: self.reg(reg::SYNCWORD),
            autocrc: m0 & 0x20 != 0,
            autoack: m0 & 0x10 != 0,
            filter,
            tx_turnaround: Picos(symbols * SYMBOL.0),
            rx_turnaround: Picos(12 * SYMBOL.0),
            rssi_offset_db: self.part.rssi_offset_dbm,
            cca_threshold_dbm: threshold - self.part.rssi_offset_dbm,
            cca_hysteresis_db: f64::from(m0 >> 8 & 7),
            cca_mode: (m0 >> 6 & 3) as u8,
            pending: self.core.pending,
            sources: None,
            rx_after_tx: true,
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::RxDone { .. } => self.core.pending = false,
            Note::TxUnderflow => self.underflow = true,
            _ => {}
        }
    }
}

impl RadioChip for Chip {
    modem_chip::reaches!(radio "CC2420");

    fn select(&mut self, now: Picos) {
        self.advance(now);
        self.access = Access::Address;
    }

    fn deselect(&mut self, now: Picos) {
        self.advance(now);
        self.access = Access::Address;
    }

    fn pin(&mut self, now: Picos, pin: Pin, level: bool) {
        self.advance(now);
        if self.core.power == Power::Off {
            return;
        }
        self.control(now, pin, level);
    }

    fn next_event(&self) -> Option<Picos> {
        let held = self.rx_held.then_some(self.busy_until);
        [self.core.next_event(), held].into_iter().flatten().min()
    }

    fn levels(&self, out: &mut Vec<(Pin, bool)>) {
        let alive = self.core.regulated();
        let io = self.reg(reg::IOCFG0);
        let (fifo, fifop) = self.fifo_pins();
        let cca = match self.reg(reg::IOCFG1) & 0x1F {
            24 => self.core.on(),
            _ => self.core.on() && self.core.modem.clear_channel(self.core.now, &self.config()),
        };
        let mut drive = |pin: Option<Pin>, level: bool, inverted: u16| {
            out.extend(pin.map(|p| (p, alive && level != (io & inverted != 0))));
        };
        drive(self.pins.fifo, fifo, 0x400);
        drive(self.pins.fifop, fifop, 0x200);
        drive(self.pins.sfd, self.core.modem.sfd(), 0x100);
        drive(self.pins.cca, cca, 0x080);
    }

    fn state(&self) -> &'static str {
        match self.core.power {
            Power::Off => "off",
            Power::RegulatorOff => "vreg_off",
            Power::RegulatorStarts { .. } | Power::Reset | Power::Down => "power_down",
            Power::CrystalStarts { .. } => "startup",
            Power::On => match self.core.modem.state {
                State::Idle | State::TxUnderflow => "idle",
                State::RxCalibrate { .. }
                | State::TxCalibrate { .. }
                | State::AckCalibrate { .. } => "calibrate",
                State::Search | State::Receive | State::RxOverflow => "rx",
                State::Tx | State::Ack => self.output().2,
            },
        }
    }

    fn earliest_air(&self, now: Picos) -> Picos {
        self.earliest(now, Picos(8 * SYMBOL.0))
    }
}
