// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2500 as its SPI bus shows it: registers, strobes, status byte, state machine, FIFOs.
//!
//! Source: SWRS040C. What a program may do to the chip and the model does not know (infinite packets, FEC, synchronous serial mode ...) is not passed over: it becomes a
//! [`problem`](RadioHandle::problem) that stops the run with a sentence.

mod bus;
mod map;
mod packets;
mod wor;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sunseal_mcu::Pin;
use sunseal_trace::Picos;

use crate::air::{Air, Silence};
use crate::chip::{Journal, Radio, RadioChip, RadioHandle, micros, named, pins, restored, saved};
use crate::medium::{Emission, Phy, Port, SENSE_LAG, Tuning};
use crate::parts::Cc2500Part;
use map::*;

const FIFO_BYTES: usize = 64;

/// RSSI is averaged over this.
const SENSE_SPAN: Picos = Picos(64_000_000);

/// State that the synthesizer is heading for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Target {
    /// Asleep, with wake-on-radio going on.
    Sleep,
    Idle,
    FsTxOn,
    Rx,
    Tx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Off,
    /// Crystal and regulator are starting.
    Starting {
        until: Picos,
    },
    /// Registers kept, everything else off.
    Sleep,
    Xoff,
    Idle,
    Calibrating {
        until: Picos,
        then: Target,
    },
    Settling {
        until: Picos,
        target: Target,
    },
    FsTxOn,
    Rx,
    Tx,
    RxOverflow,
    TxUnderflow,
}

/// A packet on its way out.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outgoing {
    /// Time at which the sync word has left; bytes of the packet follow.
    sync_end: Picos,
    /// Bytes taken from the FIFO so far.
    bytes: Vec<u8>,
    /// Number of bytes that there will be, once the length byte is known.
    length: Option<usize>,
}

/// A packet on its way in.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Incoming {
    start: Picos,
    packet: Vec<u8>,
    crc_ok: bool,
}

/// A packet that is being written into the RX FIFO.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Receiving {
    sync_end: Picos,
    incoming: Incoming,
    taken: usize,
    in_fifo: usize,
    /// From the medium, byte by byte, and not known beforehand.
    live: Option<Live>,
}

/// A transmission that is heard.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Live {
    id: u64,
    rssi_dbm: f64,
    snr_db: f64,
    broken: bool,
}

#[derive(Serialize, Deserialize)]
struct Chip {
    #[serde(skip)]
    part: Cc2500Part,
    #[serde(skip)]
    wired: RadioPins,
    journal: Journal,
    #[serde(skip, default = "silence")]
    air: Box<dyn Air>,
    /// The antenna, where there is a medium and no gateway.
    #[serde(skip)]
    port: Option<Port>,
    /// Transmission that it has on the air.
    sending: Option<u64>,
    searched: Picos,
    state: State,
    #[serde(with = "crate::chip::array")]
    regs: [u8; 0x2F],
    pa_table: [u8; 8],
    /// Counts PATABLE accesses since chip select went low.
    pa_index: usize,
    tx: VecDeque<u8>,
    rx: VecDeque<u8>,
    outgoing: Option<Outgoing>,
    receiving: Option<Receiving>,
    arrivals: VecDeque<Incoming>,
    /// Since when the receiver has been settled.
    listening_since: Picos,
    last_rssi: u8,
    last_lqi: u8,
    crc_pin: bool,
    selected: bool,
    sleep_asked: bool,
    wor: wor::Wor,
    /// Header of the access under way.
    access: Option<Access>,
    now: Picos,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Access {
    address: u8,
    read: bool,
    burst: bool,
}

/// CRC-16 of the packet handler: x^16 + x^15 + x^2 + 1 from all ones (15.2.2).
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |mut crc: u16, byte| {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ 0x8005 } else { crc << 1 };
        }
        crc
    })
}
impl Chip {
    fn new(part: Cc2500Part, wired: RadioPins, air: Box<dyn Air>, port: Option<Port>) -> Self {
        let mut chip = Self {
            part,
            wired,
            journal: Journal::default(),
            air,
            port,
            sending: None,
            searched: Picos(0),
            state: State::Off,
            regs: RESET,
            pa_table: [0; 8],
            pa_index: 0,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            outgoing: None,
            receiving: None,
            arrivals: VecDeque::new(),
            listening_since: Picos::MAX,
            last_rssi: 0x80,
            last_lqi: 0,
            crc_pin: false,
            selected: false,
            sleep_asked: false,
            wor: wor::Wor::default(),
            access: None,
            now: Picos(0),
        };
        chip.reset();
        chip
    }

    fn reset(&mut self) {
        self.regs = RESET;
        self.pa_table = [0xC6, 0, 0, 0, 0, 0, 0, 0];
        self.tx.clear();
        self.rx.clear();
        self.outgoing = None;
        self.drop_reception();
        self.last_rssi = 0x80;
        self.last_lqi = 0;
        self.crc_pin = false;
        self.sleep_asked = false;
        self.wor = wor::Wor::default();
        self.access = None;
    }

    fn reg(&self, r: u8) -> u8 {
        self.regs[usize::from(r)]
    }

    /// Data rate in baud.
    fn baud(&self) -> f64 {
        let e = i32::from(self.reg(reg::MDMCFG4) & 0x0F);
        let m = f64::from(self.reg(reg::MDMCFG3));
        (256.0 + m) * 2f64.powi(e - 28) * self.part.crystal_mhz * 1e6
    }

    /// One byte on the air.
    fn byte_time(&self) -> Picos {
        Picos((8e12 / self.baud()).round() as u128)
    }

    fn sync_mode(&self) -> u8 {
        self.reg(reg::MDMCFG2) & 0x07
    }

    /// Preamble and sync word.
    fn head_time(&self) -> Picos {
        const PREAMBLE: [u64; 8] = [2, 3, 4, 6, 8, 12, 16, 24];
        let sync = match self.sync_mode() & 3 {
            0 => 0,
            3 => 4,
            _ => 2,
        };
        let preamble = PREAMBLE[usize::from(self.reg(reg::MDMCFG1) >> 4 & 7)];
        self.byte_time() * (preamble + sync)
    }

    /// Time of it that the demodulator must hear: the preamble's last byte and the sync word.
    fn lock_time(&self) -> Picos {
        Picos(self.head_time().0.min(self.byte_time().0 * 5))
    }

    fn tuning(&self) -> Tuning {
        let r = |i: u8| u32::from(self.reg(i));
        let freq = r(reg::FREQ2) << 16 | r(reg::FREQ2 + 1) << 8 | r(reg::FREQ2 + 2);
        let spacing =
            f64::from(256 + r(reg::MDMCFG0)) * 2f64.powi((self.reg(reg::MDMCFG1) & 3).into()) / 4.0;
        let word = f64::from(freq) + f64::from(r(reg::CHANNR)) * spacing;
        let phy = Phy::Packet {
            byte_ps: self.byte_time().0,
            modulation: self.reg(reg::MDMCFG2) >> 4 & 7,
            sync: u16::from_be_bytes([self.reg(reg::SYNC1), self.reg(reg::SYNC1 + 1)]),
        };
        let carrier_hz = (self.part.crystal_mhz * 1e6 / 65536.0 * word).round() as u64;
        Tuning { carrier_hz, phy }
    }

    fn output_dbm(&self) -> i8 {
        let value = self.pa_table[usize::from(self.reg(reg::FREND0) & 7)];
        POWER_DBM.iter().find(|(v, _)| *v == value).map_or(1, |(_, dbm)| *dbm)
    }

    /// Bytes that the demodulator must hear.
    fn lock_bytes(&self) -> u32 {
        (self.lock_time().0 / self.byte_time().0) as u32
    }

    fn crc_bytes(&self) -> usize {
        if self.reg(reg::PKTCTRL0) & 4 != 0 { 2 } else { 0 }
    }

    fn variable_length(&self) -> bool {
        self.reg(reg::PKTCTRL0) & 3 == 1
    }

    fn check_mode(&mut self) {
        let (ctrl, mdm2, mdm1) =
            (self.reg(reg::PKTCTRL0), self.reg(reg::MDMCFG2), self.reg(reg::MDMCFG1));
        if ctrl & 3 > 1 {
            self.unknown(&format!("PKTCTRL0.LENGTH_CONFIG is {} (infinite packets)", ctrl & 3));
        }
        if ctrl & 0x30 != 0 {
            self.unknown(&format!("PKTCTRL0.PKT_FORMAT is {} (serial modes)", ctrl >> 4 & 3));
        }
        if mdm2 & 8 != 0 || mdm1 & 0x80 != 0 {
            self.unknown("Manchester coding or FEC is on");
        }
        if self.sync_mode() & 3 == 0 {
            self.unknown("MDMCFG2.SYNC_MODE is without sync word");
        }
        if self.reg(reg::MCSM2) & 8 != 0 {
            self.unknown("MCSM2.RX_TIME_QUAL is 1 (preamble quality)");
        }
    }

    // --- states -----------------------------------------------------------------------------------------

    fn ready(&self) -> bool {
        !matches!(self.state, State::Off | State::Starting { .. } | State::Sleep | State::Xoff)
    }

    fn drop_reception(&mut self) {
        if let Some(r) = self.receiving.take() {
            self.rx.truncate(self.rx.len().saturating_sub(r.in_fifo));
            self.journal.counts.missed += 1;
        }
        self.listening_since = Picos::MAX;
    }

    fn enter(&mut self, state: State, now: Picos) {
        if state != State::Rx {
            self.drop_reception();
        }
        if state != State::Tx {
            self.outgoing = None;
        }
        let to_tx = matches!(state, State::Tx | State::Settling { target: Target::Tx, .. });
        if !to_tx {
            self.carrier_off(now);
        }
        self.state = state;
        match state {
            State::Rx => {
                self.check_mode();
                self.listening_since = now;
                self.searched = now;
                self.start_rx_timers(now);
            }
            State::Settling { until, target: Target::Tx } => self.carrier_on(until),
            State::Tx => {
                self.check_mode();
                self.outgoing = Some(Outgoing {
                    sync_end: now + self.head_time(),
                    bytes: Vec::new(),
                    length: None,
                });
            }
            _ => {}
        }
    }

    /// The carrier is going to come on.
    fn carrier_on(&mut self, start: Picos) {
        self.carrier_off(start);
        let byte = self.byte_time().0;
        self.sending = self.port.as_ref().map(|p| {
            p.begin(Emission {
                tuning: self.tuning(),
                power_dbm: self.output_dbm().into(),
                start,
                head_bytes: (self.head_time().0 / byte) as u32,
                byte_ps: byte,
            })
        });
    }

    fn carrier_off(&mut self, at: Picos) {
        if let (Some(id), Some(port)) = (self.sending.take(), &self.port) {
            port.end(id, at);
        }
    }

    fn radiate(&self, byte: u8) {
        if let (Some(id), Some(port)) = (self.sending, &self.port) {
            port.push(id, byte);
        }
    }

    fn arrive(&mut self, target: Target, now: Picos) {
        let state = match target {
            Target::Sleep => State::Sleep,
            Target::Idle => State::Idle,
            Target::FsTxOn => State::FsTxOn,
            Target::Rx => State::Rx,
            Target::Tx => State::Tx,
        };
        self.enter(state, now);
    }

    /// On the way from IDLE, by calibration if MCSM0.FS_AUTOCAL says so.
    fn leave_idle(&mut self, target: Target, now: Picos) {
        if self.reg(reg::MCSM0) >> 4 & 3 == 1 {
            self.journal.counts.calibrations += 1;
            let until = now + micros(self.part.settle_with_calibration_us - self.part.settle_us);
            self.enter(State::Calibrating { until, then: target }, now);
        } else {
            self.enter(State::Settling { until: now + micros(self.part.settle_us), target }, now);
        }
    }

    fn go_idle(&mut self, now: Picos) {
        self.end_wor();
        if matches!(self.state, State::Rx | State::Tx) && self.calibrates_at_the_end() {
            self.journal.counts.calibrations += 1;
            let until = now + micros(self.part.calibrate_us);
            self.enter(State::Calibrating { until, then: Target::Idle }, now);
        } else {
            self.enter(State::Idle, now);
        }
    }

    /// Goes to what comes after a packet: RXOFF_MODE or TXOFF_MODE.
    fn after(&mut self, mode: u8, was_rx: bool, now: Picos) {
        let turn = micros(if was_rx { self.part.rx_to_tx_us } else { self.part.tx_to_rx_us });
        match (mode, was_rx) {
            (0, _) => self.go_idle(now),
            (1, _) => self.enter(State::FsTxOn, now),
            (3, true) => self.enter(State::Rx, now),
            (2, true) => self.enter(State::Settling { until: now + turn, target: Target::Tx }, now),
            (3, false) => {
                self.enter(State::Settling { until: now + turn, target: Target::Rx }, now)
            }
            _ => {
                self.unknown("MCSM1.TXOFF_MODE is 2 (stay in TX)");
                self.enter(State::Idle, now);
            }
        }
    }

    /// Time at which the chip changes by itself next.
    fn next_event(&self) -> Option<Picos> {
        match self.state {
            State::Starting { until }
            | State::Calibrating { until, .. }
            | State::Settling { until, .. } => Some(until),
            State::Tx => self.outgoing.as_ref().and_then(|o| {
                if o.bytes.is_empty() && self.tx.is_empty() {
                    // Preamble goes on until a byte is there; writing one wakes us.
                    return None;
                }
                if self.port.is_some() && o.length != Some(o.bytes.len()) {
                    // Others hear every byte.
                    return Some(o.sync_end + self.byte_time() * o.bytes.len() as u64);
                }
                // What is in the FIFO lasts so long; by then there is more, or the packet ends, or it underflows.
                let more = o.length.map_or(1, |l| l - o.bytes.len().min(l));
                let have = more.min(self.tx.len());
                let bytes = o.bytes.len() + have;
                let end = o.length == Some(bytes);
                let tail = if end { self.crc_bytes() } else { 0 };
                Some(o.sync_end + self.byte_time() * (bytes + tail) as u64)
            }),
            State::Rx => {
                let frame = if let Some(r) = &self.receiving {
                    let have = r.incoming.packet.len();
                    let bytes = match r.live {
                        Some(_) if !self.whole(&r.incoming.packet) => have + 1,
                        _ => have + self.crc_bytes(),
                    };
                    Some(r.sync_end + self.byte_time() * bytes as u64)
                } else {
                    let sync = self.next_sync().map(|(at, _)| at);
                    let answer = self.arrivals.front().map(|a| a.start + self.head_time());
                    [sync, answer].into_iter().flatten().min()
                };
                [frame, self.next_sense(), self.rx_ends()].into_iter().flatten().min()
            }
            State::Idle | State::Sleep => self.wor_event(),
            _ => None,
        }
    }

    /// Time at which a pin that shows carrier sense or a clear channel may change.
    fn next_sense(&self) -> Option<Picos> {
        let shown = [reg::IOCFG2, reg::IOCFG0].map(|r| self.reg(r) & 0x3F);
        if !shown.iter().any(|v| matches!(v, 0x09 | 0x0E)) {
            return None;
        }
        let port = self.port.as_ref()?;
        let from = Picos(self.now.0.saturating_sub(SENSE_LAG.0 + SENSE_SPAN.0));
        let edge = port.next_edge(from)?;
        [edge + SENSE_LAG, edge + SENSE_LAG + SENSE_SPAN].into_iter().find(|t| *t > self.now)
    }

    /// Power at the antenna, lately.
    fn energy_dbm(&self) -> Option<f64> {
        let to = Picos(self.now.0.saturating_sub(SENSE_LAG.0).max(1));
        let from = Picos(to.0.saturating_sub(SENSE_SPAN.0));
        self.port.as_ref().map(|p| p.energy_dbm(self.tuning(), from, to))
    }

    /// THR_RSSI = MAGN_TARGET + CARRIER_SENSE_ABS_THR - GAIN_MAX (SWRS040A, section 17.4.1), by the nearer of the two
    /// data rates that are printed; none at CARRIER_SENSE_ABS_THR = -8.
    fn carrier_sense_dbm(&self) -> Option<f64> {
        let (agc2, absolute) = (self.reg(reg::AGCCTRL2), (self.reg(reg::AGCCTRL1) << 4) as i8 >> 4);
        let rate = usize::from(self.baud() > (2.4e3f64 * 250e3).sqrt());
        let gains = CARRIER_SENSE_DBM[rate][usize::from(agc2 >> 3 & 7)][usize::from(agc2 >> 6)];
        let target_db = MAGN_TARGET_DB[usize::from(agc2 & 7)] - MAGN_TARGET_DB[3];
        (absolute != -8).then_some(gains + target_db + f64::from(absolute))
    }

    fn carrier_sense(&self) -> bool {
        let from = Picos(self.now.0.saturating_sub(SENSE_LAG.0 + SENSE_SPAN.0));
        if self.port.is_none() && self.state == State::Rx && self.train_on(from, self.now) {
            return true;
        }
        match (self.carrier_sense_dbm(), self.energy_dbm()) {
            (Some(threshold_dbm), Some(dbm)) if self.state == State::Rx => dbm >= threshold_dbm,
            _ => false,
        }
    }

    /// RSSI_dec = 2 (RSSI_dBm + RSSI_offset), the offset of the nearest printed data rate.
    fn rssi_register(&self, dbm: f64) -> u8 {
        let far = |rate: f64| (self.baud() / rate).ln().abs();
        let nearest = RSSI_OFFSET_DB.iter().min_by(|a, b| far(a.0).total_cmp(&far(b.0)));
        let offset_db = nearest.map_or(0.0, |n| n.1);
        (2.0 * (dbm + offset_db)).round().clamp(-128.0, 127.0) as i8 as u8
    }

    /// Lets the chip come up to `now`.
    fn run_to(&mut self, now: Picos) {
        // Every turn handles one thing that lies at or before now; each makes progress.
        loop {
            if self.state != State::Rx {
                self.miss_arrivals(now);
            }
            let Some(at) = self.next_event() else { break };
            if at > now {
                break;
            }
            self.now = self.now.max(at);
            self.happen(at);
        }
        self.now = self.now.max(now);
        match self.state {
            State::Tx => self.feed_tx(now),
            State::Rx => self.fill_rx(now),
            _ => {}
        }
    }

    fn happen(&mut self, at: Picos) {
        match self.state {
            State::Starting { .. } => self.state = State::Idle,
            State::Calibrating { then: Target::Idle, .. } => self.enter(State::Idle, at),
            State::Calibrating { then: Target::Sleep, .. } => self.back_to_sleep(at),
            State::Idle | State::Sleep => self.wor_happens(at),
            State::Calibrating { then, .. } => {
                self.enter(
                    State::Settling { until: at + micros(self.part.settle_us), target: then },
                    at,
                );
            }
            State::Settling { target, .. } => self.arrive(target, at),
            State::Tx => {
                self.feed_tx(at);
                self.tx_turn(at);
            }
            State::Rx => {
                if self.rx_ends().is_some_and(|t| t <= at) && self.rx_timer_happens(at) {
                    // Asleep or idle again.
                } else if self.next_sense().is_some_and(|t| t <= at) {
                    // A pin changes; nothing else does.
                } else if self.receiving.as_ref().is_some_and(|r| r.live.is_some()) {
                    self.hear(at);
                } else if self.receiving.is_some() {
                    self.fill_rx(at);
                    self.end_reception(at);
                } else if let Some((_, id)) = self.next_sync().filter(|(t, _)| *t <= at) {
                    self.lock_to(at, id);
                } else if let Some(incoming) = self.arrivals.pop_front() {
                    if self.listening_since.0.saturating_add(self.lock_time().0) <= at.0 {
                        self.stop_rx_timers();
                        self.receiving = Some(Receiving {
                            sync_end: at,
                            incoming,
                            taken: 0,
                            in_fifo: 0,
                            live: None,
                        });
                        self.crc_pin = false;
                    } else {
                        self.journal.counts.missed += 1;
                    }
                }
            }
            _ => {}
        }
    }

    // --- pins and states --------------------------------------------------------------------------------

    fn gdo(&self, iocfg: u8) -> bool {
        let value = self.reg(iocfg);
        let threshold = usize::from(self.reg(reg::FIFOTHR) & 0x0F);
        let rx_at = 4 * (threshold + 1);
        let tx_at = 61 - 4 * threshold;
        let level = match value & 0x3F {
            0x00 => self.rx.len() >= rx_at,
            0x01 => self.rx.len() >= rx_at || !self.rx.is_empty() && self.receiving.is_none(),
            0x02 => self.tx.len() >= tx_at,
            0x03 => self.tx.len() == FIFO_BYTES,
            0x04 => self.state == State::RxOverflow,
            0x05 => self.state == State::TxUnderflow,
            0x06 => self.sync_pin(),
            0x07 => self.crc_pin,
            0x09 => self.clear_channel(),
            0x0E => self.receiving.is_some() || self.carrier_sense(),
            0x24 => self.wor_pins().0,
            0x25 => self.wor_pins().1,
            0x29 => !self.ready(),
            _ => false,
        };
        level != (value & 0x40 != 0)
    }

    fn unknown_gdo(&self) -> Option<u8> {
        const KNOWN: [u8; 17] =
            [0, 1, 2, 3, 4, 5, 6, 7, 9, 0x0E, 0x24, 0x25, 0x29, 0x2E, 0x2F, 0x30, 0x3F];
        [reg::IOCFG2, reg::IOCFG0]
            .into_iter()
            .map(|r| self.reg(r) & 0x3F)
            .find(|v| !KNOWN.contains(v))
    }

    fn state_name(&self) -> &'static str {
        let sensitive = self.reg(reg::MDMCFG2) & 0x80 == 0;
        match self.state {
            State::Off => "off",
            State::Starting { .. } => "startup",
            State::Sleep if self.rc_running() => "sleep.wor",
            State::Sleep => "sleep",
            State::Xoff => "xoff",
            State::Idle | State::RxOverflow | State::TxUnderflow => "idle",
            State::Calibrating { .. } => "calibrate",
            State::Settling { .. } => "settle",
            State::FsTxOn => "fstxon",
            State::Rx => match (sensitive, self.receiving.is_some()) {
                (true, true) => "rx.sensitive.strong",
                (true, false) => "rx.sensitive",
                (false, true) => "rx.strong",
                (false, false) => "rx",
            },
            State::Tx => match self.output_dbm() {
                i8::MIN..=-12 => "tx.minus12dbm",
                -11..=-6 => "tx.minus6dbm",
                -5..=0 => "tx.0dbm",
                _ => "tx.plus1dbm",
            },
        }
    }
}

/// Every state that the chip can be in, as the ledger names it.
pub(crate) fn states() -> Vec<&'static str> {
    let fixed =
        ["off", "startup", "sleep", "sleep.wor", "xoff", "idle", "calibrate", "settle", "fstxon"];
    let rx = ["rx", "rx.strong", "rx.sensitive", "rx.sensitive.strong"];
    let tx = ["tx.minus12dbm", "tx.minus6dbm", "tx.0dbm", "tx.plus1dbm"];
    fixed.into_iter().chain(rx).chain(tx).collect()
}

pins! { RadioPins {
    /// SO, which shows CHIP_RDYn between chip select and the first clock.
    somi,
    gdo0,
    gdo2,
} }

impl Radio {
    /// A CC2500 without supply, answered by a gateway, and the handle to watch it by.
    #[must_use]
    pub fn cc2500(part: Cc2500Part, wired: RadioPins, air: Box<dyn Air>) -> (Self, RadioHandle) {
        Self::wrap(Chip::new(part, wired, air, None), Vec::new())
    }

    /// A CC2500 without supply on a medium, and the handle to watch it by.
    #[must_use]
    pub fn cc2500_on(part: Cc2500Part, wired: RadioPins, port: Port) -> (Self, RadioHandle) {
        Self::wrap(Chip::new(part, wired, silence(), Some(port)), Vec::new())
    }
}

impl RadioChip for Chip {
    named!("CC2500", journal);

    fn select(&mut self, now: Picos) {
        Chip::select(self, now);
    }

    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        let miso = Chip::transfer(self, now, mosi);
        if let Some(v) = self.unknown_gdo() {
            self.unknown(&format!("a GDO pin is set to signal {v:#04x}"));
        }
        miso
    }

    fn deselect(&mut self, now: Picos) {
        Chip::deselect(self, now);
    }

    fn next_event(&self) -> Option<Picos> {
        Chip::next_event(self)
    }

    fn run_to(&mut self, now: Picos) {
        Chip::run_to(self, now);
    }

    fn power(&mut self, now: Picos, on: bool) {
        if on == (self.state != State::Off) {
            return;
        }
        self.reset();
        self.carrier_off(now);
        self.arrivals.clear();
        self.selected = false;
        self.state = if on {
            State::Starting { until: now + micros(self.part.crystal_start_us) }
        } else {
            State::Off
        };
    }

    fn levels(&self, out: &mut Vec<(Pin, bool)>) {
        let on = self.state != State::Off;
        let levels = [
            (self.wired.gdo0, self.gdo(reg::IOCFG0)),
            (self.wired.gdo2, self.gdo(reg::IOCFG2)),
            (self.wired.somi, self.selected && !self.ready()),
        ];
        out.extend(levels.into_iter().filter_map(|(pin, level)| Some((pin?, on && level))));
    }

    fn state(&self) -> &'static str {
        self.state_name()
    }

    fn earliest_air(&self, now: Picos) -> Picos {
        now + micros(match self.state {
            State::Off | State::Starting { .. } | State::Sleep | State::Xoff => {
                self.part.crystal_start_us
            }
            State::Rx | State::FsTxOn => self.part.rx_to_tx_us,
            _ => self.part.settle_us.min(self.part.rx_to_tx_us),
        })
    }

    fn save(&self) -> Vec<u8> {
        saved(self, self.port.as_ref().map_or_else(|| self.air.save(), Port::save))
    }

    fn restore(&mut self, saved: &[u8]) {
        let Some((was, air)) = restored::<Self>(saved) else { return };
        match &self.port {
            Some(port) => port.restore(&air),
            None => self.air.restore(&air),
        }
        *self = Self {
            part: self.part.clone(),
            wired: self.wired,
            air: std::mem::replace(&mut self.air, silence()),
            port: self.port.take(),
            ..was
        };
    }

    fn remains(&self) -> Vec<u8> {
        // What it put on the air, or heard, is there still; else nothing is left but times that nobody reads again.
        if self.journal.has_traffic() || self.listening_since != Picos::MAX {
            return self.save();
        }
        let registers = (self.state, &self.regs[..], self.pa_table, self.pa_index, self.selected);
        let received = (self.last_rssi, self.last_lqi, self.crc_pin, self.sleep_asked);
        let queues = (&self.tx, &self.rx, &self.arrivals, self.access, &self.wor);
        let under_way = (self.sending, &self.outgoing, &self.receiving, &self.journal.problem);
        let left = (registers, received, queues, under_way);
        postcard::to_stdvec(&left).expect("registers can always be written")
    }
}

fn silence() -> Box<dyn Air> {
    Box::new(Silence)
}
