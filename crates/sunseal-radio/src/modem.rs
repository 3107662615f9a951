// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modem that the CC2420 and the CC2520 share: a 2.4 GHz IEEE 802.15.4 modem with its FIFOs, check sequence, frame
//! filter, acknowledgments, RSSI and clear channel assessment. The chips' registers configure it; its notes become
//! their pins, flags and exceptions.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sunseal_trace::Picos;

use crate::chip::Journal;
use crate::ieee802154::{self as frame, Address, Header, Identity, Parsed, Sources};
use crate::medium::{Emission, Heard, Phy, Port, SENSE_LAG, Tuning};

pub(crate) const SYMBOL: Picos = Picos(16_000_000);
const BYTE: u128 = 32_000_000;
/// Symbols that RSSI is averaged over, and that it needs to become valid.
const RSSI_SYMBOLS: u128 = 8;
/// Bytes of the head that the demodulator must hear: the last byte of zeros and the delimiter.
const LOCK_BYTES: u32 = 2;
pub(crate) const FIFO_BYTES: usize = 128;

/// Frames that are let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    pub identity: Identity,
    /// Frame types 0 to 3.
    pub accept: [bool; 4],
    pub accept_reserved: bool,
    /// Beacons of any PAN, as long as the node has none.
    pub beacons_of_any: bool,
    pub max_version: u8,
    /// FCF bits 9:7 that must be clear.
    pub reserved_mask: u8,
    /// Least length of a frame that is no acknowledgment.
    pub least_bytes: usize,
}

impl Filter {
    fn lets_in(&self, h: &Header, length: usize) -> bool {
        let id = &self.identity;
        let kind = h.kind();
        let plain = h.bytes + 2 <= length
            && (h.fcf >> 7) as u8 & 7 & self.reserved_mask == 0
            && h.version() <= self.max_version
            && id.is_destination(h);
        let known = match kind {
            0..=3 => self.accept[usize::from(kind)],
            _ => self.accept_reserved,
        };
        let fits = match kind {
            frame::BEACON => {
                length >= self.least_bytes
                    && h.dst.is_none()
                    && h.src.is_some()
                    && (h.src_pan == Some(id.pan) || id.pan == 0xFFFF && self.beacons_of_any)
            }
            frame::DATA | frame::COMMAND => {
                length >= self.least_bytes
                    && (h.dst.is_some() || h.src.is_some() && id.is_for_coordinator(h))
            }
            frame::ACK => length == 5,
            _ => length >= self.least_bytes,
        };
        plain && known && fits
    }
}

/// Settings from the chip's registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub carrier_hz: u64,
    pub power_dbm: f64,
    /// Bytes of zeros in front of the synchronisation word.
    pub preamble_bytes: u32,
    pub sync: u16,
    pub autocrc: bool,
    pub autoack: bool,
    pub filter: Option<Filter>,
    pub tx_turnaround: Picos,
    pub rx_turnaround: Picos,
    pub rssi_offset_db: f64,
    pub cca_threshold_dbm: f64,
    pub cca_hysteresis_db: f64,
    /// 0 always clear, 1 by energy, 2 by reception, 3 by both.
    pub cca_mode: u8,
    /// Pending bit of an acknowledgment.
    pub pending: bool,
    /// Senders whose frames are acknowledged with the pending bit.
    pub sources: Option<Sources>,
    /// The receiver comes back behind a transmission.
    pub rx_after_tx: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    Idle,
    RxCalibrate { until: Picos },
    Search,
    Receive,
    RxOverflow,
    TxCalibrate { until: Picos },
    Tx,
    AckCalibrate { until: Picos },
    Ack,
    TxUnderflow,
}

impl State {
    /// Its number in FSMSTAT0 of the CC2520; the CC2420 has others for some.
    pub fn number(self) -> u8 {
        match self {
            Self::Idle => 0,
            Self::RxCalibrate { .. } => 2,
            Self::Search => 3,
            Self::Receive => 7,
            Self::RxOverflow => 17,
            Self::TxCalibrate { .. } => 32,
            Self::Tx => 34,
            Self::AckCalibrate { .. } => 48,
            Self::Ack => 49,
            Self::TxUnderflow => 56,
        }
    }
}

/// Event that chips show by pins, flags and exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Note {
    RxSfd,
    /// The filter let the frame in.
    RxAccepted {
        header: Option<Header>,
    },
    /// A whole frame is in the FIFO.
    RxDone {
        good: bool,
        header: Option<Header>,
    },
    RxRejected,
    RxOverflow,
    TxSfd,
    TxDone,
    AckDone,
    TxUnderflow,
}

/// The receive FIFO: a ring, so that its memory can be shown as RAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RxFifo {
    #[serde(with = "crate::chip::array")]
    pub ring: [u8; FIFO_BYTES],
    written: u64,
    read: u64,
    /// Position at which the frame under way begins.
    open: u64,
    /// Whole frames that are not read out: first byte and end.
    frames: VecDeque<(u64, u64)>,
}

impl RxFifo {
    fn new() -> Self {
        Self { ring: [0; FIFO_BYTES], written: 0, read: 0, open: 0, frames: VecDeque::new() }
    }

    pub fn len(&self) -> usize {
        (self.written - self.read) as usize
    }

    pub fn push(&mut self, byte: u8) -> bool {
        if self.len() == FIFO_BYTES {
            return false;
        }
        self.ring[self.written as usize % FIFO_BYTES] = byte;
        self.written += 1;
        true
    }

    pub fn pop(&mut self) -> Option<u8> {
        if self.len() == 0 {
            return None;
        }
        let byte = self.ring[self.read as usize % FIFO_BYTES];
        self.read += 1;
        while self.frames.front().is_some_and(|f| f.1 <= self.read) {
            self.frames.pop_front();
        }
        Some(byte)
    }

    /// The first whole frame: its first byte (which may have been read out) and its end.
    pub fn frame(&self) -> Option<(u64, u64)> {
        self.frames.front().copied()
    }

    pub fn at(&self, position: u64) -> u8 {
        self.ring[position as usize % FIFO_BYTES]
    }

    pub fn set(&mut self, position: u64, byte: u8) {
        self.ring[position as usize % FIFO_BYTES] = byte;
    }

    fn unwind(&mut self, bytes: usize) {
        self.written -= bytes.min(self.len()) as u64;
    }

    /// Marks what has been written since the last one as a whole frame.
    pub fn close_frame(&mut self) {
        self.frames.push_back((self.open, self.written));
        self.open = self.written;
    }

    pub fn has_frame(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Index in the ring of the next byte to be read.
    pub fn first(&self) -> usize {
        self.read as usize % FIFO_BYTES
    }

    pub fn clear(&mut self) {
        self.read = self.written;
        self.open = self.written;
        self.frames.clear();
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Incoming {
    id: u64,
    sync: Picos,
    length: usize,
    frame: Vec<u8>,
    in_fifo: usize,
    /// Bytes that have come, the length byte included.
    bytes: usize,
    header: Option<Header>,
    decided: bool,
    rejected: bool,
    broken: bool,
    snr_db: f64,
    rssi_dbm: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outgoing {
    id: Option<u64>,
    start: Picos,
    head: u32,
    /// Bytes on the air so far, the length byte first.
    bytes: Vec<u8>,
    length: usize,
    ack: Option<[u8; 6]>,
}

impl Outgoing {
    fn byte_start(&self, k: usize) -> Picos {
        self.start + Picos(BYTE * (u128::from(self.head) + k as u128))
    }

    fn whole(&self) -> bool {
        !self.bytes.is_empty() && self.bytes.len() == self.length + 1
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Modem {
    #[serde(skip)]
    port: Option<Port>,
    pub state: State,
    pub rx: RxFifo,
    /// Bytes that have been written into the transmit FIFO, kept behind a transmission.
    pub tx: Vec<u8>,
    /// The frame in the transmit FIFO has been sent; the next byte written begins another.
    pub tx_sent: bool,
    /// Since when the receiver has been settled.
    rx_since: Option<Picos>,
    searched: Picos,
    ticked: Picos,
    incoming: Option<Incoming>,
    outgoing: Option<Outgoing>,
    tuned: Tuning,
    energy_busy: bool,
    pub last_rssi_dbm: f64,
    /// An acknowledgment by strobe for the frame under way, with its pending bit.
    pub manual_ack: Option<bool>,
    /// No acknowledgment for the frame under way.
    pub no_ack: bool,
    /// The packet that went out, or came in whole, last.
    pub last_packet: Vec<u8>,
}

impl Modem {
    pub fn new(port: Option<Port>) -> Self {
        Self {
            port,
            state: State::Idle,
            rx: RxFifo::new(),
            tx: Vec::new(),
            tx_sent: false,
            rx_since: None,
            searched: Picos(0),
            ticked: Picos(0),
            incoming: None,
            outgoing: None,
            tuned: Tuning { carrier_hz: 0, phy: Phy::Oqpsk { sync: 0 } },
            energy_busy: false,
            last_rssi_dbm: f64::NEG_INFINITY,
            manual_ack: None,
            no_ack: false,
            last_packet: Vec::new(),
        }
    }

    /// The air of its side, for a snapshot; none where others share it.
    pub fn save_air(&self) -> Option<Vec<u8>> {
        self.port.as_ref().map_or_else(|| Some(Vec::new()), Port::save)
    }

    /// Takes over another's antenna, which no snapshot holds, and takes its air back.
    pub fn rejoin(&mut self, other: &mut Self, air: &[u8]) {
        self.port = other.port.take();
        if let Some(port) = &self.port {
            port.restore(air);
        }
    }

    fn tune(&mut self, cfg: &Config) {
        self.tuned = Tuning { carrier_hz: cfg.carrier_hz, phy: Phy::Oqpsk { sync: cfg.sync } };
    }

    // --- commands -----------------------------------------------------------------------------------

    /// Everything stops and is forgotten.
    pub fn reset(&mut self, now: Picos) {
        self.stop(now);
        self.state = State::Idle;
        self.rx = RxFifo::new();
        self.tx.clear();
        self.tx_sent = false;
    }

    /// Nothing is left behind a reset without supply, which times are not either.
    pub fn lose_supply(&mut self) {
        *self = Self::new(self.port.take());
    }

    /// Leaves transmission or reception.
    fn stop(&mut self, now: Picos) {
        if let Some(o) = self.outgoing.take() {
            // A modulator finishes the byte that it is at.
            let done = now.0.saturating_sub(o.start.0).div_ceil(BYTE) * BYTE;
            let at = if now <= o.start { now } else { o.start + Picos(done) };
            if let (Some(port), Some(id)) = (&self.port, o.id) {
                port.end(id, at);
            }
        }
        if let Some(i) = self.incoming.take() {
            self.rx.unwind(i.in_fifo);
        }
        self.rx_since = None;
        self.energy_busy = false;
    }

    pub fn rf_off(&mut self, now: Picos) {
        self.stop(now);
        self.state = State::Idle;
    }

    pub fn rx_on(&mut self, now: Picos, cfg: &Config) {
        self.stop(now);
        self.tune(cfg);
        self.state = State::RxCalibrate { until: now + cfg.rx_turnaround };
    }

    pub fn tx_on(&mut self, now: Picos, cfg: &Config) {
        self.stop(now);
        let start = now + cfg.tx_turnaround;
        self.begin(start, cfg, None);
        self.state = State::TxCalibrate { until: start };
    }

    /// Acknowledges the frame whose end is now.
    fn ack(&mut self, now: Picos, cfg: &Config, sequence: u8, pending: bool) {
        self.stop(now);
        let start = now + cfg.rx_turnaround;
        self.begin(start, cfg, Some(frame::ack(sequence, pending)));
        self.state = State::AckCalibrate { until: start };
    }

    fn begin(&mut self, start: Picos, cfg: &Config, ack: Option<[u8; 6]>) {
        self.tune(cfg);
        let head = cfg.preamble_bytes + 2;
        let id = self.port.as_ref().map(|p| {
            p.begin(Emission {
                tuning: self.tuned,
                power_dbm: cfg.power_dbm,
                start,
                head_bytes: head,
                byte_ps: BYTE,
            })
        });
        self.outgoing = Some(Outgoing { id, start, head, bytes: Vec::new(), length: 0, ack });
    }

    pub fn write_tx(&mut self, byte: u8) -> bool {
        if self.tx_sent {
            self.tx.clear();
            self.tx_sent = false;
        }
        if self.tx.len() == FIFO_BYTES {
            return false;
        }
        self.tx.push(byte);
        true
    }

    pub fn flush_tx(&mut self, now: Picos, cfg: &Config) {
        self.tx.clear();
        self.tx_sent = false;
        if self.state == State::TxUnderflow {
            self.back(now, cfg);
        }
    }

    pub fn flush_rx(&mut self, now: Picos) {
        if let Some(i) = &mut self.incoming {
            // The rest of the frame under way is not kept.
            i.rejected = true;
            i.in_fifo = 0;
        }
        self.rx.clear();
        if self.state == State::RxOverflow {
            self.search(now);
        }
    }

    pub fn pop_rx(&mut self) -> Option<u8> {
        let byte = self.rx.pop()?;
        let len = self.rx.len();
        if let Some(i) = &mut self.incoming {
            i.in_fifo = i.in_fifo.min(len);
        }
        Some(byte)
    }

    // --- what can be seen ---------------------------------------------------------------------------

    pub fn receiving(&self) -> bool {
        self.incoming.is_some()
    }

    /// The frame under way has passed the filter.
    pub fn accepted(&self) -> bool {
        self.incoming.as_ref().is_none_or(|i| i.decided && !i.rejected)
    }

    /// The SFD pin: from the delimiter to the end of the frame.
    pub fn sfd(&self) -> bool {
        self.incoming.as_ref().is_some_and(|i| !i.rejected)
            || matches!(self.state, State::Tx | State::Ack)
                && self.outgoing.as_ref().is_some_and(|o| !o.bytes.is_empty())
    }

    pub fn rssi_valid(&self, now: Picos) -> bool {
        self.rx_since.is_some_and(|s| now.0 >= s.0 + RSSI_SYMBOLS * SYMBOL.0)
    }

    /// Mean power of the last eight symbols.
    pub fn rssi_dbm(&self, now: Picos) -> Option<f64> {
        let since = self.rx_since?;
        if !self.rssi_valid(now) {
            return None;
        }
        let tick = since.0 + (now.0 - since.0) / SYMBOL.0 * SYMBOL.0;
        let to = Picos((tick - SENSE_LAG.0).max(since.0 + 1));
        let from = Picos(tick.saturating_sub(SENSE_LAG.0 + RSSI_SYMBOLS * SYMBOL.0).max(since.0));
        Some(self.port.as_ref().map_or(-100.0, |p| p.energy_dbm(self.tuned, from, to)))
    }

    pub fn rssi_value(&self, now: Picos, cfg: &Config) -> Option<i8> {
        self.rssi_dbm(now).map(|dbm| (dbm + cfg.rssi_offset_db).round().clamp(-127.0, 127.0) as i8)
    }

    /// True if the channel is clear, as its rule has it; not before RSSI is valid.
    pub fn clear_channel(&self, now: Picos, cfg: &Config) -> bool {
        self.rssi_valid(now)
            && match cfg.cca_mode {
                0 => true,
                1 => !self.energy_busy,
                2 => self.incoming.is_none(),
                _ => !self.energy_busy && self.incoming.is_none(),
            }
    }

    /// The synthesizer is on its frequency.
    pub fn locked(&self) -> bool {
        matches!(self.state, State::Search | State::Receive | State::Tx | State::Ack)
    }

    /// The synthesizer is on its way there.
    pub fn calibrating(&self) -> bool {
        matches!(
            self.state,
            State::RxCalibrate { .. } | State::TxCalibrate { .. } | State::AckCalibrate { .. }
        )
    }

    /// FIFO and FIFOP: bytes wait; a whole frame does, or more bytes than the threshold.
    pub fn fifo_pins(&self, threshold: usize) -> (bool, bool) {
        if self.state == State::RxOverflow {
            return (false, true);
        }
        let len = self.rx.len();
        (len > 0, self.rx.has_frame() || self.accepted() && len > threshold)
    }

    /// Enters what happened in the journal: counts, and packets with their times.
    pub fn book(&self, journal: &mut Journal, at: Picos, note: &Note) {
        let counts = &mut journal.counts;
        match note {
            Note::RxDone { good, .. } => {
                counts.received += u64::from(*good);
                counts.crc_failed += u64::from(!good);
                journal.packet(at, false, self.last_packet.clone(), *good);
            }
            Note::RxRejected => counts.filtered += 1,
            Note::RxOverflow => counts.overflows += 1,
            Note::TxDone | Note::AckDone => {
                counts.sent += 1;
                counts.sent_bytes += self.last_packet.len() as u64;
                journal.packet(at, true, self.last_packet.clone(), true);
            }
            Note::TxUnderflow => counts.underflows += 1,
            Note::RxSfd | Note::RxAccepted { .. } | Note::TxSfd => {}
        }
    }

    pub fn transmitting(&self) -> bool {
        matches!(
            self.state,
            State::TxCalibrate { .. } | State::Tx | State::AckCalibrate { .. } | State::Ack
        )
    }

    // --- time ---------------------------------------------------------------------------------------

    pub fn next_event(&self) -> Option<Picos> {
        let state = match self.state {
            State::RxCalibrate { until }
            | State::TxCalibrate { until }
            | State::AckCalibrate { until } => Some(until),
            State::Tx | State::Ack => self.outgoing.as_ref().map(|o| o.byte_start(o.bytes.len())),
            State::Receive => {
                self.incoming.as_ref().map(|i| i.sync + Picos(BYTE * (i.bytes as u128 + 1)))
            }
            State::Search => self.next_sync().map(|(at, _)| at),
            State::Idle | State::RxOverflow | State::TxUnderflow => None,
        };
        [state, self.next_tick()].into_iter().flatten().min()
    }

    fn next_sync(&self) -> Option<(Picos, u64)> {
        let since = self.rx_since?;
        self.port.as_ref()?.next_sync(self.tuned, since, self.searched, LOCK_BYTES)
    }

    /// Time at which RSSI may change next.
    fn next_tick(&self) -> Option<Picos> {
        let since = self.rx_since?;
        let valid = since + Picos(RSSI_SYMBOLS * SYMBOL.0);
        if self.ticked < valid {
            return Some(valid);
        }
        let port = self.port.as_ref()?;
        let span = SENSE_LAG.0 + RSSI_SYMBOLS * SYMBOL.0;
        if port.edge_between(Picos(self.ticked.0.saturating_sub(span)), self.ticked) {
            return Some(self.ticked + SYMBOL);
        }
        // On the first symbol behind the change.
        port.next_edge(self.ticked).map(|e| {
            let n = e.0.saturating_sub(since.0).div_ceil(SYMBOL.0);
            Picos(since.0 + n * SYMBOL.0).max(self.ticked + SYMBOL)
        })
    }

    pub fn run_to(&mut self, now: Picos, cfg: &Config, notes: &mut Vec<(Picos, Note)>) {
        // Every turn handles what is due at one time; each moves on.
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            if self.next_tick() == Some(at) {
                self.tick(at, cfg);
                continue;
            }
            match self.state {
                State::RxCalibrate { .. } => {
                    self.rx_since = Some(at);
                    self.ticked = at;
                    self.search(at);
                }
                State::Search => self.synchronise(at, notes),
                State::Receive => self.receive(at, cfg, notes),
                State::TxCalibrate { .. } => self.state = State::Tx,
                State::AckCalibrate { .. } => self.state = State::Ack,
                State::Tx | State::Ack => self.send(at, cfg, notes),
                State::Idle | State::RxOverflow | State::TxUnderflow => break,
            }
        }
    }

    fn tick(&mut self, at: Picos, cfg: &Config) {
        self.ticked = at;
        if let Some(dbm) = self.rssi_dbm(at) {
            // The register and its threshold hold whole decibels.
            let dbm = dbm.round();
            self.last_rssi_dbm = dbm;
            if dbm >= cfg.cca_threshold_dbm {
                self.energy_busy = true;
            } else if dbm < cfg.cca_threshold_dbm - cfg.cca_hysteresis_db {
                self.energy_busy = false;
            }
        }
    }

    /// Brings the clear channel assessment up to now.
    pub fn assess(&mut self, now: Picos, cfg: &Config) {
        let Some(since) = self.rx_since.filter(|_| self.rssi_valid(now)) else { return };
        self.tick(Picos(since.0 + (now.0 - since.0) / SYMBOL.0 * SYMBOL.0), cfg);
    }

    fn search(&mut self, at: Picos) {
        self.searched = at;
        self.state = State::Search;
    }

    /// Goes back to what follows a transmission.
    fn back(&mut self, at: Picos, cfg: &Config) {
        if cfg.rx_after_tx {
            self.tune(cfg);
            self.state = State::RxCalibrate { until: at + cfg.rx_turnaround };
        } else {
            self.state = State::Idle;
        }
    }

    fn synchronise(&mut self, at: Picos, notes: &mut Vec<(Picos, Note)>) {
        let Some((_, id)) = self.next_sync() else { return };
        self.searched = at;
        if !self.port.as_ref().is_some_and(|p| p.locks(id, LOCK_BYTES)) {
            return;
        }
        self.state = State::Receive;
        self.rx.open = self.rx.written;
        self.incoming = Some(Incoming {
            id,
            sync: at,
            length: 0,
            frame: Vec::new(),
            in_fifo: 0,
            bytes: 0,
            header: None,
            decided: false,
            rejected: false,
            broken: false,
            snr_db: 0.0,
            rssi_dbm: -100.0,
        });
        notes.push((at, Note::RxSfd));
    }

    fn receive(&mut self, at: Picos, cfg: &Config, notes: &mut Vec<(Picos, Note)>) {
        let Some(mut i) = self.incoming.take() else { return };
        let heard = self.port.as_ref().map_or(Heard::Nothing, |p| p.byte(i.id, i.bytes));
        let byte = match heard {
            Heard::Byte { value, snr_db } => {
                i.snr_db += snr_db.clamp(-20.0, 40.0);
                value
            }
            Heard::Nothing => {
                i.broken = true;
                0
            }
        };
        if i.bytes == 0 {
            i.length = usize::from(byte & 0x7F);
        } else {
            i.frame.push(byte);
        }
        i.bytes += 1;
        if i.bytes == 5 {
            // Eight symbols behind the delimiter.
            let from = Picos(at.0 - RSSI_SYMBOLS * SYMBOL.0);
            i.rssi_dbm = self.port.as_ref().map_or(-100.0, |p| p.energy_dbm(self.tuned, from, at));
        }
        let body = i.frame.len();
        let is_fcs = cfg.autocrc && i.bytes > 1 && body + 2 > i.length;
        if !i.rejected && !is_fcs {
            if !self.rx.push(byte) {
                self.overflow(at, notes);
                return;
            }
            i.in_fifo += 1;
        }
        self.filter(&mut i, at, cfg, notes);
        if i.bytes > i.length {
            self.finish(i, at, cfg, notes);
        } else {
            self.incoming = Some(i);
        }
    }

    fn overflow(&mut self, at: Picos, notes: &mut Vec<(Picos, Note)>) {
        self.incoming = None;
        self.state = State::RxOverflow;
        notes.push((at, Note::RxOverflow));
    }

    fn filter(
        &mut self,
        i: &mut Incoming,
        at: Picos,
        cfg: &Config,
        notes: &mut Vec<(Picos, Note)>,
    ) {
        if i.decided {
            return;
        }
        let passes = match (&cfg.filter, Header::parse(&i.frame)) {
            (None, parsed) => {
                if let Parsed::Header(h) = parsed {
                    i.header = Some(h);
                }
                // Nothing to wait for but the length; the header is read on the way.
                (i.length >= 1).then_some(true).filter(|_| i.header.is_some() || i.bytes > i.length)
            }
            (Some(_), Parsed::Needs(n)) => (n > i.length).then_some(false),
            (Some(_), Parsed::Reserved) => Some(false),
            (Some(f), Parsed::Header(h)) => {
                i.header = Some(h);
                Some(f.lets_in(&h, i.length))
            }
        };
        match passes {
            Some(true) => {
                i.decided = true;
                notes.push((at, Note::RxAccepted { header: i.header }));
            }
            Some(false) => {
                i.decided = true;
                i.rejected = true;
                self.rx.unwind(i.in_fifo);
                i.in_fifo = 0;
                notes.push((at, Note::RxRejected));
            }
            None => {}
        }
    }

    fn finish(&mut self, i: Incoming, at: Picos, cfg: &Config, notes: &mut Vec<(Picos, Note)>) {
        self.search(at);
        if i.rejected {
            return;
        }
        if i.length == 0 {
            self.rx.unwind(i.in_fifo);
            notes.push((at, Note::RxRejected));
            return;
        }
        let good = !i.broken && i.frame.len() >= 2 && frame::fcs(&i.frame) == 0;
        if cfg.autocrc && i.length >= 2 {
            let rssi = (i.rssi_dbm + cfg.rssi_offset_db).round().clamp(-127.0, 127.0) as i8;
            if !(self.rx.push(rssi as u8)
                && self.rx.push(u8::from(good) << 7 | correlation(i.snr_db / i.bytes as f64)))
            {
                self.overflow(at, notes);
                return;
            }
        }
        self.rx.close_frame();
        self.last_packet = vec![i.length as u8];
        self.last_packet.extend(&i.frame);
        notes.push((at, Note::RxDone { good, header: i.header }));
        let manual = self.manual_ack.take();
        let refused = std::mem::take(&mut self.no_ack);
        if let (true, Some(pending), Some(h)) = (good, manual, i.header) {
            self.ack(at, cfg, h.sequence, pending);
        } else if let (true, true, Some(h)) = (good, cfg.autoack && cfg.filter.is_some(), i.header)
        {
            let own = match h.dst {
                Some(Address::Short(a)) => a != 0xFFFF,
                Some(Address::Extended(_)) => true,
                None => true,
            };
            if h.wants_ack() && own && !refused && matches!(h.kind(), frame::DATA | frame::COMMAND)
            {
                let match_pends = cfg.sources.is_some_and(|s| s.pends(&h, &i.frame));
                self.ack(at, cfg, h.sequence, cfg.pending || match_pends);
            }
        }
    }

    fn send(&mut self, at: Picos, cfg: &Config, notes: &mut Vec<(Picos, Note)>) {
        let Some(mut o) = self.outgoing.take() else { return };
        let is_ack = o.ack.is_some();
        if o.whole() {
            if let (Some(port), Some(id)) = (&self.port, o.id) {
                port.end(id, at);
            }
            self.tx_sent |= !is_ack;
            self.last_packet = o.bytes;
            self.back(at, cfg);
            notes.push((at, if is_ack { Note::AckDone } else { Note::TxDone }));
            return;
        }
        let k = o.bytes.len();
        if k == 0 {
            notes.push((at, Note::TxSfd));
        }
        let byte = match &o.ack {
            Some(ack) => Some(ack[k]),
            None if cfg.autocrc && k > 0 && k + 1 >= o.length && o.length >= 2 => {
                // The last two bytes: the sequence over all but themselves.
                let body = &o.bytes[1..o.length - 1];
                Some(frame::fcs(body).to_le_bytes()[k + 1 - o.length])
            }
            None => self.tx.get(k).copied(),
        };
        let Some(byte) = byte else {
            self.outgoing = Some(o);
            self.stop(at);
            self.state = State::TxUnderflow;
            notes.push((at, Note::TxUnderflow));
            return;
        };
        if k == 0 {
            o.length = usize::from(byte & 0x7F);
        }
        o.bytes.push(byte);
        if let (Some(port), Some(id)) = (&self.port, o.id) {
            port.push(id, byte);
        }
        self.outgoing = Some(o);
    }
}

/// Mean correlation of a frame: about 110 for the best, 50 for the weakest that are received (SWRS041,
/// section 24). Between them along the ratio; assumed.
fn correlation(snr_db: f64) -> u8 {
    (80.0 + 5.0 * snr_db).clamp(40.0, 110.0) as u8
}
