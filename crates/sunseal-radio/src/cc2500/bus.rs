// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2500's SPI bus: header, registers, FIFOs, strobes, status.

use sunseal_trace::Picos;

use super::map::*;
use super::{Access, Chip, FIFO_BYTES, State, Target};
use crate::chip::{RadioChip, micros};

impl Chip {
    pub(super) fn status(&self, read: bool) -> u8 {
        let state = match self.state {
            State::Rx => 1,
            State::Tx => 2,
            State::FsTxOn => 3,
            State::Calibrating { .. } => 4,
            State::Settling { .. } => 5,
            State::RxOverflow => 6,
            State::TxUnderflow => 7,
            _ => 0,
        };
        let bytes = if read { self.rx.len() } else { FIFO_BYTES - self.tx.len() };
        u8::from(!self.ready()) << 7 | state << 4 | bytes.min(15) as u8
    }

    pub(super) fn marc_state(&self) -> u8 {
        match self.state {
            State::Off | State::Sleep | State::Starting { .. } => 0x00,
            State::Idle => 0x01,
            State::Xoff => 0x02,
            State::Calibrating { then: Target::Idle | Target::Sleep, .. } => 0x05,
            State::Calibrating { .. } => 0x08,
            State::Settling { .. } => 0x0A,
            State::Rx => 0x0D,
            State::RxOverflow => 0x11,
            State::FsTxOn => 0x12,
            State::Tx => 0x13,
            State::TxUnderflow => 0x16,
        }
    }

    pub(super) fn status_register(&self, address: u8) -> u8 {
        match address {
            0x30 => 0x80,
            0x31 => 0x03,
            0x33 => self.last_lqi,
            0x34 => match self.energy_dbm() {
                Some(dbm) if self.state == State::Rx => self.rssi_register(dbm),
                _ => self.last_rssi,
            },
            0x35 => self.marc_state(),
            0x36 => (self.wor_time() >> 8) as u8,
            0x37 => self.wor_time() as u8,
            0x38 => {
                let sync = self.sync_pin();
                u8::from(self.last_lqi & 0x80 != 0) << 7
                    | u8::from(self.carrier_sense()) << 6
                    | u8::from(self.clear_channel()) << 4
                    | u8::from(sync) << 3
                    | u8::from(self.gdo(reg::IOCFG2)) << 2
                    | u8::from(self.gdo(reg::IOCFG0))
            }
            0x3A => u8::from(self.state == State::TxUnderflow) << 7 | self.tx.len() as u8,
            0x3B => u8::from(self.state == State::RxOverflow) << 7 | self.rx.len() as u8,
            _ => 0,
        }
    }

    pub(super) fn clear_channel(&self) -> bool {
        if self.port.is_none() {
            return self.state == State::Rx && self.receiving.is_none();
        }
        self.state == State::Rx
            && match self.reg(reg::MCSM1) >> 4 & 3 {
                0 => true,
                1 => !self.carrier_sense(),
                2 => self.receiving.is_none(),
                _ => !self.carrier_sense() && self.receiving.is_none(),
            }
    }

    pub(super) fn sync_pin(&self) -> bool {
        self.receiving.is_some() || self.outgoing.as_ref().is_some_and(|o| !o.bytes.is_empty())
    }

    pub(super) fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        self.run_to(now);
        if !self.ready() {
            // SO is high until the crystal runs; what is clocked in before is lost.
            return 0xFF;
        }
        let Some(a) = self.access else { return self.header(now, mosi) };
        if !a.burst {
            self.access = None;
        }
        match (a.address, a.read) {
            (reg::FIFO, true) => {
                if self.rx.is_empty() {
                    return 0;
                }
                self.crc_pin = false;
                if let Some(r) = &mut self.receiving {
                    // Bytes of the packet under way count only while it is being written.
                    r.in_fifo = r.in_fifo.min(self.rx.len() - 1);
                }
                self.rx.pop_front().unwrap_or(0)
            }
            (reg::FIFO, false) => {
                let status = self.status(false);
                if self.tx.len() < FIFO_BYTES {
                    self.tx.push_back(mosi);
                } else {
                    self.unknown("the TX FIFO was written past its 64 bytes");
                }
                status
            }
            (reg::PATABLE, read) => self.pa_access(read, mosi),
            (address @ 0x30..=0x3D, true) => self.status_register(address),
            (address, read) => {
                let status = self.status(read);
                if a.burst {
                    self.access = Some(Access { address: (address + 1).min(reg::LAST), ..a });
                }
                let slot = &mut self.regs[usize::from(address.min(reg::LAST))];
                if read {
                    return *slot;
                }
                *slot = mosi;
                status
            }
        }
    }

    pub(super) fn pa_access(&mut self, read: bool, mosi: u8) -> u8 {
        let status = self.status(read);
        let slot = &mut self.pa_table[self.pa_index];
        self.pa_index = (self.pa_index + 1) & 7;
        if read {
            return *slot;
        }
        *slot = mosi;
        status
    }

    pub(super) fn header(&mut self, now: Picos, header: u8) -> u8 {
        let (read, burst, address) = (header & 0x80 != 0, header & 0x40 != 0, header & 0x3F);
        let status = self.status(read);
        match address {
            0x30..=0x3D if !burst => self.strobe(now, address),
            0x30..=0x3D if !read => {
                self.unknown(&format!("a burst write to status register {address:#04x}"))
            }
            _ => {
                self.access = Some(Access {
                    address,
                    read,
                    burst: burst && !(0x30..=0x3D).contains(&address),
                })
            }
        }
        status
    }

    /// Turns from sending to receiving, or back.
    fn turn(&mut self, now: Picos, takes_us: f64, target: Target) {
        self.enter(State::Settling { until: now + micros(takes_us), target }, now);
    }

    pub(super) fn strobe(&mut self, now: Picos, strobe: u8) {
        match strobe {
            0x30 => {
                self.reset();
                self.state = State::Starting { until: now + micros(self.part.crystal_start_us) };
            }
            0x31 => match self.state {
                State::Idle => self.leave_idle(Target::FsTxOn, now),
                State::Rx | State::Tx => self.enter(State::FsTxOn, now),
                _ => {}
            },
            0x32 if self.state == State::Idle => self.enter(State::Xoff, now),
            0x33 if self.state == State::Idle => {
                self.journal.counts.calibrations += 1;
                let until = now + micros(self.part.calibrate_us);
                self.enter(State::Calibrating { until, then: Target::Idle }, now);
            }
            0x34 => match self.state {
                State::Idle => self.leave_idle(Target::Rx, now),
                State::FsTxOn => self.turn(now, self.part.rx_to_tx_us, Target::Rx),
                State::Tx => self.turn(now, self.part.tx_to_rx_us, Target::Rx),
                State::Rx => self.listening_since = self.listening_since.min(now),
                _ => {}
            },
            0x35 => match self.state {
                State::Idle => self.leave_idle(Target::Tx, now),
                State::FsTxOn => self.turn(now, self.part.rx_to_tx_us, Target::Tx),
                State::Rx if self.reg(reg::MCSM1) >> 4 & 3 == 0 || self.clear_channel() => {
                    self.turn(now, self.part.rx_to_tx_us, Target::Tx);
                }
                _ => {}
            },
            0x36 => match self.state {
                // FIFO errors are left by flushing.
                State::RxOverflow | State::TxUnderflow => {}
                _ => {
                    self.end_wor();
                    self.enter(State::Idle, now);
                }
            },
            0x38 => self.begin_wor(),
            0x39 if self.state == State::Idle => self.sleep_asked = true,
            0x39 => self.unknown("SPWD was strobed outside IDLE"),
            0x3A if matches!(self.state, State::Idle | State::RxOverflow) => {
                self.rx.clear();
                self.enter(State::Idle, now);
            }
            0x3B if matches!(self.state, State::Idle | State::TxUnderflow) => {
                self.tx.clear();
                self.enter(State::Idle, now);
            }
            0x3C => self.reset_wor_timer(now),
            _ => {}
        }
    }

    pub(super) fn select(&mut self, now: Picos) {
        self.run_to(now);
        self.selected = true;
        self.pa_index = 0;
        self.access = None;
        if matches!(self.state, State::Sleep | State::Xoff) {
            // Chip select wakes the crystal, and the program has the chip again.
            self.end_wor();
            self.state = State::Starting { until: now + micros(self.part.crystal_start_us) };
        }
    }

    pub(super) fn deselect(&mut self, now: Picos) {
        self.run_to(now);
        self.selected = false;
        self.access = None;
        if self.wor.asked {
            self.sleep_in_wor(now);
        } else if std::mem::take(&mut self.sleep_asked) {
            self.fall_asleep(now);
        }
    }

    pub(super) fn fall_asleep(&mut self, now: Picos) {
        // FIFOs and all but the first PATABLE entry are lost (10.6, 15).
        self.tx.clear();
        self.rx.clear();
        self.pa_table[1..].fill(0);
        self.enter(State::Sleep, now);
    }
}
