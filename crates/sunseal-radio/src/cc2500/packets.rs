// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets on their way between the air and the FIFOs, byte by byte.

use sunseal_trace::Picos;

use super::map::*;
use super::{Chip, FIFO_BYTES, Incoming, Live, Receiving, State, crc16};
use crate::air::{Answer, Sent};
use crate::medium::Heard;

impl Chip {
    /// The next synchronisation word on the medium.
    pub(super) fn next_sync(&self) -> Option<(Picos, u64)> {
        let port = self.port.as_ref()?;
        port.next_sync(self.tuning(), self.listening_since, self.searched, self.lock_bytes())
    }

    /// True if these are all bytes of a packet from the medium.
    pub(super) fn whole(&self, packet: &[u8]) -> bool {
        match packet.first() {
            None => false,
            Some(_) if !self.variable_length() => {
                packet.len() >= usize::from(self.reg(reg::PKTLEN))
            }
            Some(length) => packet.len() > usize::from(*length),
        }
    }

    pub(super) fn miss_arrivals(&mut self, now: Picos) {
        let late = Picos(self.head_time().0 - self.lock_time().0);
        while self.arrivals.front().is_some_and(|a| a.start + late <= now) {
            self.arrivals.pop_front();
            self.journal.counts.missed += 1;
        }
    }

    pub(super) fn lock_to(&mut self, at: Picos, id: u64) {
        self.searched = at;
        let (bytes, byte) = (self.lock_bytes(), self.byte_time().0);
        let Some(port) = self.port.as_ref().filter(|p| p.locks(id, bytes)) else { return };
        let from = Picos(at.0.saturating_sub(u128::from(bytes) * byte));
        let rssi_dbm = port.energy_dbm(self.tuning(), from, at);
        self.crc_pin = false;
        self.stop_rx_timers();
        self.receiving = Some(Receiving {
            sync_end: at,
            incoming: Incoming { start: at, packet: Vec::new(), crc_ok: true },
            taken: 0,
            in_fifo: 0,
            live: Some(Live { id, rssi_dbm, snr_db: 0.0, broken: false }),
        });
    }

    /// A byte from the medium has come, or the check sequence behind the last one.
    pub(super) fn hear(&mut self, at: Picos) {
        let Some(mut r) = self.receiving.take() else { return };
        let (Some(live), Some(port)) = (&mut r.live, &self.port) else { return };
        let mut next = |k: usize| match port.byte(live.id, k) {
            Heard::Byte { value, snr_db } => {
                live.snr_db += snr_db.clamp(-20.0, 40.0);
                value
            }
            Heard::Nothing => {
                live.broken = true;
                0
            }
        };
        let have = r.incoming.packet.len();
        if !self.whole(&r.incoming.packet) {
            let byte = next(have);
            r.incoming.packet.push(byte);
            let done = self.whole(&r.incoming.packet) && self.crc_bytes() == 0;
            self.receiving = Some(r);
            self.fill_rx(at);
            if done && self.receiving.is_some() {
                self.end_reception(at);
            }
            return;
        }
        let crc = [next(have), next(have + 1)];
        r.incoming.crc_ok = !live.broken && crc16(&r.incoming.packet).to_be_bytes() == crc;
        live.snr_db /= (have + 2) as f64;
        self.receiving = Some(r);
        self.fill_rx(at);
        self.end_reception(at);
    }

    /// Takes from the TX FIFO what has gone on the air by `now`.
    pub(super) fn feed_tx(&mut self, now: Picos) {
        let byte = self.byte_time();
        let (variable, fixed) = (self.variable_length(), usize::from(self.reg(reg::PKTLEN)));
        let crc_bytes = self.crc_bytes();
        let Some(mut o) = self.outgoing.take() else { return };
        // A byte is taken when its first bit leaves.
        while o.length != Some(o.bytes.len()) && o.sync_end + byte * o.bytes.len() as u64 <= now {
            if o.bytes.is_empty() && self.tx.is_empty() {
                // Nothing to send yet: the preamble is still going.
                o.sync_end = now + byte;
                self.carrier_on(Picos(now.0.saturating_sub(self.head_time().0 - byte.0)));
                break;
            }
            let Some(b) = self.tx.pop_front() else { break };
            if o.length.is_none() {
                o.length = Some(if variable { usize::from(b) + 1 } else { fixed });
            }
            o.bytes.push(b);
            self.radiate(b);
            if o.length == Some(o.bytes.len()) && crc_bytes > 0 {
                crc16(&o.bytes).to_be_bytes().into_iter().for_each(|b| self.radiate(b));
            }
        }
        self.outgoing = Some(o);
    }

    /// The FIFO has been used up, or the packet is out.
    pub(super) fn tx_turn(&mut self, at: Picos) {
        let Some(o) = &self.outgoing else { return };
        if o.length == Some(o.bytes.len()) {
            let end = o.sync_end + self.byte_time() * (o.bytes.len() + self.crc_bytes()) as u64;
            if end <= at {
                self.send(end);
            }
        } else if self.tx.is_empty()
            && !o.bytes.is_empty()
            && at >= o.sync_end + self.byte_time() * o.bytes.len() as u64
        {
            self.journal.counts.underflows += 1;
            self.enter(State::TxUnderflow, at);
        }
    }

    pub(super) fn send(&mut self, at: Picos) {
        let Some(o) = self.outgoing.take() else { return };
        self.carrier_off(at);
        let time_us = self.journal.epoch_us + at.as_micros();
        self.journal.counts.sent += 1;
        self.journal.counts.sent_bytes += o.bytes.len() as u64;
        let sent = Sent { time_us, packet: o.bytes, crc_ok: true };
        self.journal.packet(at, true, sent.packet.clone(), true);
        match self.air.exchange(&sent) {
            Ok(answers) => answers.into_iter().for_each(|a| self.schedule(at, a)),
            Err(e) => self.journal.refuse(|| e.to_string()),
        }
        let mode = self.reg(reg::MCSM1) & 3;
        self.after(mode, false, at);
    }

    pub(super) fn schedule(&mut self, sent_at: Picos, answer: Answer) {
        let start = sent_at + Picos(u128::from(answer.delay_us) * 1_000_000);
        let mut packet = vec![answer.frame.len() as u8];
        packet.extend(answer.frame);
        let at = self.arrivals.partition_point(|a| a.start <= start);
        self.arrivals.insert(at, Incoming { start, packet, crc_ok: answer.crc_ok });
    }

    /// Writes into the RX FIFO what has come by `now`.
    pub(super) fn fill_rx(&mut self, now: Picos) {
        let byte = self.byte_time();
        let (variable, own) = (self.variable_length(), self.reg(reg::ADDR));
        let (limit, check) = (usize::from(self.reg(reg::PKTLEN)), self.reg(reg::PKTCTRL1) & 3);
        let Some(r) = &mut self.receiving else { return };
        while r.taken < r.incoming.packet.len() && r.sync_end + byte * (r.taken as u64 + 1) <= now {
            let b = r.incoming.packet[r.taken];
            let too_long = r.taken == 0 && variable && usize::from(b) > limit;
            let address_at = usize::from(variable);
            let accept = match (check, b) {
                (0, _) => true,
                (2 | 3, 0x00) | (3, 0xFF) => true,
                (_, b) => b == own,
            };
            if too_long || r.taken == address_at && !accept {
                self.journal.counts.filtered += 1;
                let in_fifo = r.in_fifo;
                self.receiving = None;
                self.rx.truncate(self.rx.len() - in_fifo);
                return;
            }
            if self.rx.len() == FIFO_BYTES {
                self.overflow(now);
                return;
            }
            self.rx.push_back(b);
            r.taken += 1;
            r.in_fifo += 1;
        }
    }

    pub(super) fn overflow(&mut self, now: Picos) {
        self.journal.counts.overflows += 1;
        self.receiving = None;
        self.enter(State::RxOverflow, now);
    }

    pub(super) fn end_reception(&mut self, at: Picos) {
        let Some(r) = self.receiving.take() else { return };
        let good = r.incoming.crc_ok || self.crc_bytes() == 0;
        // A gateway is heard at -60 dBm.
        let (rssi_dbm, lqi) = r.live.map_or((-60.0, 10), |l| {
            // Lower is better; how it falls with the ratio is assumed.
            (l.rssi_dbm, (60.0 - 2.0 * l.snr_db).clamp(0.0, 127.0) as u8)
        });
        self.last_rssi = self.rssi_register(rssi_dbm);
        self.last_lqi = lqi | u8::from(good) << 7;
        if good {
            self.journal.counts.received += 1
        } else {
            self.journal.counts.crc_failed += 1
        }
        self.journal.packet(at, false, r.incoming.packet, good);
        self.crc_pin = good;
        let ctrl1 = self.reg(reg::PKTCTRL1);
        if !good && ctrl1 & 8 != 0 {
            self.rx.clear();
        } else if ctrl1 & 4 != 0 {
            if self.rx.len() + 2 > FIFO_BYTES {
                self.overflow(at);
                return;
            }
            self.rx.extend([self.last_rssi, self.last_lqi]);
        }
        let mode = self.reg(reg::MCSM1) >> 2 & 3;
        if mode != 3 {
            self.after(mode, true, at);
        }
    }
}
