// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2500 as its SPI bus shows it: registers, strobes, status byte, state machine, FIFOs.
//!
//! Source: SWRS040C. What a program may do to the chip and the model does not know (infinite packets, FEC, synchronous serial mode ...) is not passed over: it becomes a
//! [`problem`](RadioHandle::problem) that stops the run with a sentence.

mod wor;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sunseal_mcu::Pin;
use sunseal_trace::Picos;

use crate::air::{Air, Answer, Sent, Silence};
use crate::chip::{Journal, Radio, RadioChip, RadioHandle, micros, restored, saved};
use crate::medium::{Emission, Heard, Phy, Port, SENSE_LAG, Tuning};
use crate::parts::Cc2500Part;

const FIFO_BYTES: usize = 64;

/// Register addresses (SWRS040C, table 36).
mod reg {
    pub const IOCFG2: u8 = 0x00;
    pub const IOCFG0: u8 = 0x02;
    pub const FIFOTHR: u8 = 0x03;
    pub const SYNC1: u8 = 0x04;
    pub const PKTLEN: u8 = 0x06;
    pub const PKTCTRL1: u8 = 0x07;
    pub const PKTCTRL0: u8 = 0x08;
    pub const ADDR: u8 = 0x09;
    pub const CHANNR: u8 = 0x0A;
    pub const FREQ2: u8 = 0x0D;
    pub const MDMCFG4: u8 = 0x10;
    pub const MDMCFG3: u8 = 0x11;
    pub const MDMCFG2: u8 = 0x12;
    pub const MDMCFG1: u8 = 0x13;
    pub const MDMCFG0: u8 = 0x14;
    pub const MCSM2: u8 = 0x16;
    pub const MCSM1: u8 = 0x17;
    pub const MCSM0: u8 = 0x18;
    pub const AGCCTRL2: u8 = 0x1B;
    pub const AGCCTRL1: u8 = 0x1C;
    pub const WOREVT1: u8 = 0x1E;
    pub const WORCTRL: u8 = 0x20;
    pub const FREND0: u8 = 0x22;
    pub const LAST: u8 = 0x2E;
    pub const PATABLE: u8 = 0x3E;
    pub const FIFO: u8 = 0x3F;
}

/// Values after a reset, from IOCFG2 (0x00) to TEST0 (0x2E): SWRS040C, table 36. Recalled.
const RESET: [u8; 0x2F] = [
    0x29, 0x2E, 0x3F, 0x07, 0xD3, 0x91, 0xFF, 0x04, 0x45, 0x00, 0x00, 0x0F, 0x00, 0x5E, 0xC4,
    0xEC, //
    0x8C, 0x22, 0x02, 0x22, 0xF8, 0x47, 0x07, 0x30, 0x04, 0x76, 0x6C, 0x03, 0x40, 0x91, 0x87,
    0x6B, //
    0xF8, 0x56, 0x10, 0xA9, 0x0A, 0x20, 0x0D, 0x41, 0x00, 0x59, 0x7F, 0x3F, 0x88, 0x31, 0x0B,
];

/// Output power by PATABLE value (SWRS040C, table 31), dBm. Recalled.
const POWER_DBM: [(u8, i8); 18] = [
    (0x00, -55),
    (0x50, -30),
    (0x44, -28),
    (0xC0, -26),
    (0x84, -24),
    (0x81, -22),
    (0x46, -20),
    (0x93, -18),
    (0x55, -16),
    (0x8D, -14),
    (0xC6, -12),
    (0x97, -10),
    (0x6E, -8),
    (0x7F, -6),
    (0xA9, -4),
    (0xBB, -2),
    (0xFE, 0),
    (0xFF, 1),
];

/// Carrier sense at MAGN_TARGET 3 and CARRIER_SENSE_ABS_THR 0, in dBm by MAX_LNA_GAIN and MAX_DVGA_GAIN (SWRS040A,
/// tables 26 and 27), at 2.4 and at 250 kBaud.
const CARRIER_SENSE_DBM: [[[f64; 4]; 8]; 2] = [
    [
        [-99.0, -93.0, -87.0, -81.5],
        [-97.0, -90.5, -85.0, -78.5],
        [-93.5, -87.0, -82.0, -76.0],
        [-91.5, -86.0, -80.0, -74.0],
        [-90.5, -84.0, -78.0, -72.5],
        [-88.0, -82.5, -76.0, -70.0],
        [-84.5, -78.5, -73.0, -67.0],
        [-82.5, -76.0, -70.0, -64.0],
    ],
    [
        [-96.0, -90.0, -84.0, -78.5],
        [-94.5, -89.0, -83.0, -77.5],
        [-92.5, -87.0, -81.0, -75.0],
        [-91.0, -85.0, -78.5, -73.0],
        [-87.5, -82.0, -76.0, -70.0],
        [-85.0, -79.5, -73.5, -67.5],
        [-83.0, -76.5, -70.5, -65.0],
        [-78.0, -72.0, -66.0, -60.0],
    ],
];

/// MAGN_TARGET (register AGCCTRL2).
const MAGN_TARGET_DB: [f64; 8] = [24.0, 27.0, 30.0, 33.0, 36.0, 38.0, 40.0, 42.0];

/// RSSI_offset by data rate in baud (SWRS040C, page 35, table 25).
const RSSI_OFFSET_DB: [(f64, f64); 4] = [(2.4e3, 71.0), (10e3, 69.0), (250e3, 72.0), (500e3, 72.0)];

/// RSSI is averaged over this.
const SENSE_SPAN: Picos = Picos(64_000_000);

/// Where the synthesizer is heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Target {
    /// Wake-on-radio goes on.
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
    /// When the sync word has left; bytes of the packet follow.
    sync_end: Picos,
    /// Bytes taken from the FIFO so far.
    bytes: Vec<u8>,
    /// How many there will be, once the length byte is known.
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
    /// What it has on the air.
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

    /// Data rate.
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

    /// What of it the demodulator must hear: the preamble's last byte and the sync word.
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

    /// What the demodulator must hear, in bytes.
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

    // --- states -------------------------------------------------------------------------------------

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

    /// What comes after a packet: RXOFF_MODE or TXOFF_MODE.
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

    /// When the chip changes by itself next.
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

    /// The next synchronisation word on the medium.
    fn next_sync(&self) -> Option<(Picos, u64)> {
        let port = self.port.as_ref()?;
        port.next_sync(self.tuning(), self.listening_since, self.searched, self.lock_bytes())
    }

    /// Whether these are all bytes of a packet from the medium.
    fn whole(&self, packet: &[u8]) -> bool {
        match packet.first() {
            None => false,
            Some(_) if !self.variable_length() => {
                packet.len() >= usize::from(self.reg(reg::PKTLEN))
            }
            Some(length) => packet.len() > usize::from(*length),
        }
    }

    /// When a pin that shows carrier sense or a clear channel may change.
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

    fn miss_arrivals(&mut self, now: Picos) {
        let late = Picos(self.head_time().0 - self.lock_time().0);
        while self.arrivals.front().is_some_and(|a| a.start + late <= now) {
            self.arrivals.pop_front();
            self.journal.counts.missed += 1;
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

    fn lock_to(&mut self, at: Picos, id: u64) {
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
    fn hear(&mut self, at: Picos) {
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
    fn feed_tx(&mut self, now: Picos) {
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
    fn tx_turn(&mut self, at: Picos) {
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

    fn send(&mut self, at: Picos) {
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

    fn schedule(&mut self, sent_at: Picos, answer: Answer) {
        let start = sent_at + Picos(u128::from(answer.delay_us) * 1_000_000);
        let mut packet = vec![answer.frame.len() as u8];
        packet.extend(answer.frame);
        let at = self.arrivals.partition_point(|a| a.start <= start);
        self.arrivals.insert(at, Incoming { start, packet, crc_ok: answer.crc_ok });
    }

    /// Writes into the RX FIFO what has come by `now`.
    fn fill_rx(&mut self, now: Picos) {
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

    fn overflow(&mut self, now: Picos) {
        self.journal.counts.overflows += 1;
        self.receiving = None;
        self.enter(State::RxOverflow, now);
    }

    fn end_reception(&mut self, at: Picos) {
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

    // --- SPI ----------------------------------------------------------------------------------------

    fn status(&self, read: bool) -> u8 {
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

    fn marc_state(&self) -> u8 {
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

    fn status_register(&self, address: u8) -> u8 {
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

    fn clear_channel(&self) -> bool {
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

    fn sync_pin(&self) -> bool {
        self.receiving.is_some() || self.outgoing.as_ref().is_some_and(|o| !o.bytes.is_empty())
    }

    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
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

    fn pa_access(&mut self, read: bool, mosi: u8) -> u8 {
        let status = self.status(read);
        let slot = &mut self.pa_table[self.pa_index];
        self.pa_index = (self.pa_index + 1) & 7;
        if read {
            return *slot;
        }
        *slot = mosi;
        status
    }

    fn header(&mut self, now: Picos, header: u8) -> u8 {
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

    fn strobe(&mut self, now: Picos, strobe: u8) {
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
                State::FsTxOn => self.enter(
                    State::Settling {
                        until: now + micros(self.part.rx_to_tx_us),
                        target: Target::Rx,
                    },
                    now,
                ),
                State::Tx => self.enter(
                    State::Settling {
                        until: now + micros(self.part.tx_to_rx_us),
                        target: Target::Rx,
                    },
                    now,
                ),
                State::Rx => self.listening_since = self.listening_since.min(now),
                _ => {}
            },
            0x35 => match self.state {
                State::Idle => self.leave_idle(Target::Tx, now),
                State::FsTxOn => self.enter(
                    State::Settling {
                        until: now + micros(self.part.rx_to_tx_us),
                        target: Target::Tx,
                    },
                    now,
                ),
                State::Rx if self.reg(reg::MCSM1) >> 4 & 3 == 0 || self.clear_channel() => {
                    self.enter(
                        State::Settling {
                            until: now + micros(self.part.rx_to_tx_us),
                            target: Target::Tx,
                        },
                        now,
                    );
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

    fn select(&mut self, now: Picos) {
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

    fn deselect(&mut self, now: Picos) {
        self.run_to(now);
        self.selected = false;
        self.access = None;
        if self.wor.asked {
            self.sleep_in_wor(now);
        } else if std::mem::take(&mut self.sleep_asked) {
            self.fall_asleep(now);
        }
    }

    fn fall_asleep(&mut self, now: Picos) {
        // FIFOs and all but the first PATABLE entry are lost (10.6, 15).
        self.tx.clear();
        self.rx.clear();
        self.pa_table[1..].fill(0);
        self.enter(State::Sleep, now);
    }

    // --- pins and states ----------------------------------------------------------------------------

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

/// The pins that the chip is wired to.
#[derive(Clone, Copy, Debug, Default)]
pub struct RadioPins {
    /// GDO0.
    pub gdo0: Option<Pin>,
    /// GDO2.
    pub gdo2: Option<Pin>,
    /// SO, which shows CHIP_RDYn between chip select and the first clock.
    pub somi: Option<Pin>,
}

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
    fn name(&self) -> &'static str {
        "CC2500"
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

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
}

fn silence() -> Box<dyn Air> {
    Box::new(Silence)
}
