// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads and writes of memory and registers, and what a write leads to.

use sunseal_trace::Picos;

use super::map::*;
use super::{Chip, State};
use crate::chip::RadioChip;
use crate::modem_chip::ModemChip;

impl Chip {
    pub(super) fn read(&mut self, address: u16) -> u8 {
        match address {
            0..0x80 => self.read_register(address),
            ram::TXFIFO..ram::RXFIFO => {
                self.core.modem.tx.get(usize::from(address - ram::TXFIFO)).copied().unwrap_or(0)
            }
            ram::RXFIFO..ram::FREE => self.core.modem.rx.ring[usize::from(address - ram::RXFIFO)],
            ram::FREE..ram::END => self.bank[usize::from(address - ram::FREE)],
            _ => {
                self.raise(exception::MEMADDR_ERROR);
                0
            }
        }
    }

    pub(super) fn write(&mut self, now: Picos, address: u16, byte: u8) {
        match address {
            0..0x80 => self.write_register(now, address, byte),
            ram::TXFIFO..ram::RXFIFO => {
                let i = usize::from(address - ram::TXFIFO);
                match self.core.modem.tx.get_mut(i) {
                    Some(slot) => *slot = byte,
                    None => {
                        self.unknown("memory was written in the TX FIFO where it holds no byte")
                    }
                }
            }
            ram::RXFIFO..ram::FREE => {
                self.core.modem.rx.ring[usize::from(address - ram::RXFIFO)] = byte;
            }
            ram::FREE..ram::END => self.bank[usize::from(address - ram::FREE)] = byte,
            _ => self.raise(exception::MEMADDR_ERROR),
        }
    }

    pub(super) fn read_register(&mut self, address: u16) -> u8 {
        let cfg = self.config();
        match address {
            reg::EXCFLAG0..=reg::EXCFLAG2 => {
                (self.exceptions >> (8 * (address - reg::EXCFLAG0))) as u8
            }
            reg::DPUSTAT => {
                u8::from(self.authentic[1]) << 3
                    | u8::from(self.authentic[0]) << 2
                    | u8::from(self.jobs[1].is_some()) << 1
                    | u8::from(self.jobs[0].is_some())
            }
            reg::FSMSTAT0 => {
                let running = self.core.modem.calibrating();
                u8::from(!running && self.core.modem.state != State::Idle) << 7
                    | u8::from(running) << 6
                    | self.core.modem.state.number()
            }
            reg::FSMSTAT1 => {
                let (fifo, fifop) = self.fifo_pins();
                u8::from(fifo) << 7
                    | u8::from(fifop) << 6
                    | u8::from(self.core.modem.sfd()) << 5
                    | u8::from(self.core.modem.clear_channel(self.core.now, &cfg)) << 4
                    | u8::from(self.sampled_cca) << 3
                    | u8::from(self.core.modem.locked()) << 2
                    | u8::from(self.core.modem.transmitting()) << 1
                    | u8::from(self.receiver_on())
            }
            reg::RSSI => self.core.modem.rssi_value(self.core.now, &cfg).unwrap_or(-128) as u8,
            reg::RSSISTAT => u8::from(self.core.modem.rssi_valid(self.core.now)),
            reg::RXFIRST => self.core.modem.rx.ring[self.core.modem.rx.first()],
            reg::RXFIFOCNT => self.core.modem.rx.len() as u8,
            reg::TXFIFOCNT => self.core.modem.tx.len() as u8,
            _ => self.reg(address),
        }
    }

    pub(super) fn write_register(&mut self, now: Picos, address: u16, value: u8) {
        let reset = RESET[usize::from(address)];
        match address {
            reg::EXCFLAG0..=reg::EXCFLAG2 => {
                // A flag goes by writing 0.
                let shift = 8 * (address - reg::EXCFLAG0);
                self.exceptions &= !(u32::from(!value) << shift);
                return;
            }
            reg::RXENABLE0 | reg::RXENABLE1 => {
                let mut mask = self.rx_mask().to_le_bytes();
                mask[usize::from(address - reg::RXENABLE0)] = value;
                self.set_rx_mask(now, u16::from_le_bytes(mask));
                return;
            }
            reg::DPUSTAT
            | reg::FSMSTAT0
            | reg::FSMSTAT1
            | reg::RSSI
            | reg::RSSISTAT
            | reg::RXFIRST
            | reg::RXFIFOCNT
            | reg::TXFIFOCNT
            | reg::CHIPID
            | reg::VERSION => {
                self.misuse(&format!("register {address:#05x} of the CC2520 can only be read"));
                return;
            }
            reg::FRMFILT1 if value & 6 != 0 => self.unknown("FRMFILT1.MODIFY_FT_FILTER is set"),
            reg::FRMCTRL0 if value & 0x9F != 0 => self.unknown(&format!(
                "FRMCTRL0 is {value:#04x} (APPEND_DATA_MODE, ENERGY_SCAN, test modes)"
            )),
            reg::FRMCTRL1 if value & 2 != 0 => self.unknown("FRMCTRL1.IGNORE_TX_UNDERF is set"),
            reg::EXCBINDX0..=reg::EXCBINDY1 if value != 0 => {
                self.unknown("an exception is bound to an instruction");
            }
            reg::FSMCTRL if value != reset => {
                self.unknown(&format!(
                    "FSMCTRL is {value:#04x} (slotted acknowledgments, RX2RX time)"
                ));
            }
            reg::GPIOCTRL0..=reg::GPIOCTRL5 if !known_gpio(value) => {
                self.unknown(&format!("GPIOCTRL{} is {value:#04x}", address - reg::GPIOCTRL0));
            }
            reg::TXPOWER if value != reset && !POWER.iter().any(|p| p.0 == value) => {
                self.unknown(&format!("TXPOWER is {value:#04x}; the printed ones are 0xF7, 0xF2, 0xAB, 0x13, 0x32, 0x81, 0x88, 0x2C and 0x03; another"));
            }
            reg::FRMFILT0..=reg::TXPOWER
            | reg::FIFOPCTRL
            | reg::FSMCTRL
            | reg::CCACTRL0
            | reg::CCACTRL1
            | reg::EXTCLOCK
            | reg::MDMCTRL0
            | reg::MDMCTRL1 => {}
            _ if value != reset && !RECOMMENDED.contains(&(address, value)) => {
                self.unknown(&format!(
                    "register {address:#05x} is {value:#04x}, neither its reset value nor the recommended one"
                ));
            }
            _ => {}
        }
        self.regs[usize::from(address)] = value;
        let cfg = self.config();
        self.core.modem.assess(now, &cfg);
    }

    pub(super) fn set_rx_mask(&mut self, now: Picos, mask: u16) {
        let before = self.rx_mask();
        let [low, high] = mask.to_le_bytes();
        self.regs[usize::from(reg::RXENABLE0)] = low;
        self.regs[usize::from(reg::RXENABLE1)] = high;
        if before != 0 && mask == 0 {
            self.raise(exception::RXENABLE_ZERO);
            if self.receiver_on() {
                if self.core.modem.receiving() {
                    self.raise(exception::RX_FRM_ABORTED);
                }
                self.core.modem.rf_off(now);
                self.raise(exception::RF_IDLE);
            }
        } else if before == 0 && mask != 0 && self.core.modem.state == State::Idle && self.core.on()
        {
            self.core.journal.counts.calibrations += 1;
            let cfg = self.config();
            self.core.modem.rx_on(now, &cfg);
        }
    }
}
