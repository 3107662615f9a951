// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wake-on-radio and the RX termination timer, which count periods of the RC oscillator: 750 periods of the crystal
//! each, since a calibration of every wake-up holds them to it.
//!
//! Sources: SWRS040C, page 43 (section 19.7, RX termination; read). WORCTRL, WOREVT and MCSM2 bit by bit, the two
//! events and the 11.08 ms that a sleep must last: SWRS061I (the CC1101, the like-built sister at other frequencies),
//! pages 53, 80 and 88, read; SWRA126B (AN047), which is for both chips, read in part.

use serde::{Deserialize, Serialize};
use sunseal_link::air::Train;
use sunseal_trace::Picos;

use super::map::reg;
use super::{Chip, Incoming, State, Target};
use crate::chip::{RadioChip, micros};

/// Crystal periods of one period of the RC oscillator.
const RC_DIVIDER: f64 = 750.0;
/// EVENT1: periods from Event 0 to Event 1 (SWRS061I, page 88).
const EVENT1: [u64; 8] = [4, 6, 8, 12, 16, 24, 32, 48];
/// Periods that a sleep must last, so that the oscillator's calibration is over (SWRS061I, page 53).
const SLEEP_MIN: u64 = 385;
/// RX_TIME: the timer never ends reception.
const FOR_EVER: u8 = 7;

/// State of the two timers.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Wor {
    /// SWOR was strobed; it counts from the end of the access on.
    pub asked: bool,
    /// Wake-on-radio is on: when the timer began, and its next Event 0.
    timer: Option<(Picos, Picos)>,
    /// Event 1 is to come.
    event1: Option<Picos>,
    /// Since the last sleep there was an Event 0, an Event 1.
    seen: (bool, bool),
    /// Time at which RX ends without synchronisation word.
    deadline: Option<Picos>,
    /// Time at which the first carrier sense is valid that may end RX.
    sense: Option<Picos>,
    /// From the end of the last RX or TX on, of four.
    calibrated: u8,
    /// A gateway's carrier is on: from, to.
    carrier: Option<(Picos, Picos)>,
}

impl Chip {
    fn rc_periods(&self, count: u64) -> Picos {
        micros(count as f64 * RC_DIVIDER / self.part.crystal_mhz)
    }

    fn wor_res(&self) -> u64 {
        u64::from(self.reg(reg::WORCTRL) & 3)
    }

    fn event0_count(&self) -> u64 {
        u64::from(self.reg(reg::WOREVT1)) << 8 | u64::from(self.reg(reg::WOREVT1 + 1))
    }

    /// RC_PD: the oscillator is off.
    pub(super) fn rc_running(&self) -> bool {
        self.reg(reg::WORCTRL) & 0x80 == 0
    }

    pub(super) fn wor_on(&self) -> bool {
        self.wor.timer.is_some()
    }

    /// t_Event0 = 750 / f_XOSC x EVENT0 x 2^(5 WOR_RES).
    fn event0(&self) -> Picos {
        self.rc_periods(self.event0_count() << (5 * self.wor_res()))
    }

    /// The timeout of RX: the upper 13 - RX_TIME bits of EVENT0 in periods, 1, 5, 9 or 13 times by WOR_RES. That
    /// gives the printed factors: 3.6058, 18.0288, 32.4519 and 46.8750 us for RX_TIME 0.
    fn rx_time(&self) -> Option<Picos> {
        let rx_time = self.reg(reg::MCSM2) & 7;
        let count = self.event0_count() >> (3 + rx_time);
        (rx_time != FOR_EVER).then(|| self.rc_periods(count * (1 + 4 * self.wor_res())))
    }

    /// SWOR: wake-on-radio begins when chip select is released.
    pub(super) fn begin_wor(&mut self) {
        if self.state != State::Idle {
            return self.unknown("SWOR was strobed outside IDLE");
        }
        if !self.rc_running() {
            return self
                .unknown("SWOR was strobed while WORCTRL.RC_PD holds the RC oscillator off");
        }
        if self.reg(reg::WORCTRL) & 8 == 0 {
            return self
                .unknown("SWOR was strobed with WORCTRL.RC_CAL 0 (RC oscillator not calibrated)");
        }
        let windows = self.rx_time().map_or(0, |t| t.0);
        if self.event0().0 < self.rc_periods(SLEEP_MIN).0 + windows {
            let (at, least) =
                (self.event0().0 / 1_000_000, self.rc_periods(SLEEP_MIN).0 / 1_000_000);
            return self.unknown(&format!(
                "wake-on-radio every {at} us leaves less than {least} us of sleep for the RC oscillator's calibration"
            ));
        }
        if self.rx_time().is_none() && self.reg(reg::MCSM2) & 0x10 == 0 {
            return self.unknown("wake-on-radio with MCSM2.RX_TIME 7, which never sleeps again");
        }
        self.wor.asked = true;
    }

    /// SWORRST: the timer stands at Event 1 again.
    pub(super) fn reset_wor_timer(&mut self, now: Picos) {
        if self.wor_on() {
            self.wor.timer = Some((now, now + self.event0()));
        }
    }

    /// Chip select is released after SWOR.
    pub(super) fn sleep_in_wor(&mut self, now: Picos) {
        self.wor.asked = false;
        self.wor.timer = Some((now, now + self.event0()));
        self.doze(now);
    }

    /// To sleep until Event 0.
    fn doze(&mut self, now: Picos) {
        self.fall_asleep(now);
        (self.wor.event1, self.wor.seen) = (None, (false, false));
    }

    /// SIDLE, a packet, or chip select while asleep: the program has the chip again.
    pub(super) fn end_wor(&mut self) {
        if self.wor_on() {
            // What a train still brings is not heard.
            self.arrivals.clear();
        }
        (self.wor.timer, self.wor.event1) = (None, None);
    }

    /// Time of what wake-on-radio does next where nothing else is under way.
    pub(super) fn wor_event(&self) -> Option<Picos> {
        match self.state {
            State::Sleep if !self.selected => self.wor.timer.map(|(_, event0)| event0),
            State::Idle => self.wor.event1,
            _ => None,
        }
    }

    /// Event 0 or Event 1.
    pub(super) fn wor_happens(&mut self, at: Picos) {
        if self.state == State::Idle {
            (self.wor.event1, self.wor.seen.1) = (None, true);
            return self.leave_idle(Target::Rx, at);
        }
        let Some((began, event0)) = self.wor.timer else { return };
        self.wor.timer = Some((began, event0 + self.event0()));
        let setting = usize::from(self.reg(reg::WORCTRL) >> 4 & 7);
        let crystal = micros(self.part.crystal_start_us);
        self.wor.seen.0 = true;
        self.wor.event1 = Some(at + crystal.max(self.rc_periods(EVENT1[setting])));
        self.state = State::Starting { until: at + crystal };
    }

    /// Reception begins: its timers, and what a gateway has on the air meanwhile.
    pub(super) fn start_rx_timers(&mut self, now: Picos) {
        let timeout = self.rx_time();
        if timeout.is_some() && !self.rc_running() {
            self.unknown("MCSM2.RX_TIME counts the RC oscillator, which WORCTRL.RC_PD holds off");
        }
        self.wor.deadline = timeout.map(|t| now + t);
        let by_rssi = self.reg(reg::MCSM2) & 0x10 != 0;
        self.wor.sense = by_rssi.then(|| now + micros(self.part.carrier_sense_us));
        self.wor.carrier = None;
        let until = self.wor.deadline.or(self.wor.sense);
        let (Some(until), None, true) = (until, &self.port, self.wor_on()) else { return };
        let (from_us, span_us) =
            (self.journal.epoch_us + now.as_micros(), (until.0 - now.0).div_ceil(1_000_000));
        match self.air.listen(from_us, span_us as u32) {
            Ok(None) => {}
            Ok(Some((train, crc_ok))) => {
                self.hear_train(&train, from_us, span_us as u64, now, crc_ok)
            }
            Err(e) => self.journal.refuse(|| e.to_string()),
        }
    }

    /// The frames of a train that fall into the window become arrivals.
    fn hear_train(&mut self, train: &Train, from_us: u64, span_us: u64, now: Picos, crc_ok: bool) {
        let local = |us: u64| {
            Picos(
                (now.0 + u128::from(us) * 1_000_000)
                    .saturating_sub(u128::from(from_us) * 1_000_000),
            )
        };
        self.wor.carrier = Some((local(train.start_us), local(train.end_us())));
        let period_us = u64::from(train.period_us.max(1));
        let first = from_us.saturating_sub(train.start_us) / period_us;
        let last = (from_us + span_us).saturating_sub(train.start_us) / period_us;
        for index in first..=last.min(u64::from(train.count).saturating_sub(1)) {
            let start_us = train.start_us + index * period_us;
            if local(start_us) + Picos(self.head_time().0 - self.lock_time().0) < now {
                continue; // too much of its beginning has gone by
            }
            let frame = train.frame(index as u32);
            let packet = [&[frame.len() as u8], &frame[..]].concat();
            self.arrivals.push_back(Incoming { start: local(start_us), packet, crc_ok });
        }
    }

    /// A gateway's carrier has been on for as long as carrier sense looks back.
    pub(super) fn train_on(&self, from: Picos, to: Picos) -> bool {
        self.wor.carrier.is_some_and(|(on, off)| on <= from && to <= off)
    }

    /// Time at which RX may end by itself.
    pub(super) fn rx_ends(&self) -> Option<Picos> {
        let waiting = self.receiving.is_none();
        [self.wor.deadline, self.wor.sense].into_iter().flatten().min().filter(|_| waiting)
    }

    /// A synchronisation word was found: the chip stays awake until the program says otherwise.
    pub(super) fn stop_rx_timers(&mut self) {
        (self.wor.deadline, self.wor.sense) = (None, None);
    }

    /// The timer of RX, or its first carrier sense: true if that ends it.
    pub(super) fn rx_timer_happens(&mut self, at: Picos) -> bool {
        if self.wor.sense.is_some_and(|t| t <= at) {
            self.wor.sense = None;
            if self.carrier_sense() {
                return false;
            }
        } else if self.wor.deadline.is_none_or(|t| t > at) {
            return false;
        }
        self.stop_rx_timers();
        let calibrate = self.calibrates_at_the_end();
        if calibrate {
            self.journal.counts.calibrations += 1;
        }
        let then = if self.wor_on() { Target::Sleep } else { Target::Idle };
        if self.wor_on() {
            self.arrivals.clear();
        }
        match (calibrate, then) {
            (true, then) => {
                let until = at + micros(self.part.calibrate_us);
                self.enter(State::Calibrating { until, then }, at);
            }
            (false, Target::Sleep) => self.doze(at),
            (false, _) => self.enter(State::Idle, at),
        }
        true
    }

    /// After the calibration at the end of a window.
    pub(super) fn back_to_sleep(&mut self, at: Picos) {
        self.doze(at);
    }

    /// FS_AUTOCAL 2: whenever RX or TX ends in IDLE; 3: every fourth time.
    pub(super) fn calibrates_at_the_end(&mut self) -> bool {
        match self.reg(reg::MCSM0) >> 4 & 3 {
            2 => true,
            3 => {
                self.wor.calibrated = (self.wor.calibrated + 1) & 3;
                self.wor.calibrated == 0
            }
            _ => false,
        }
    }

    /// WOR_EVNT0 and WOR_EVNT1 at a GDO pin, from the event to the next sleep. How long the pulses of the real chip
    /// last is recalled to be less; their edges are the events.
    pub(super) fn wor_pins(&self) -> (bool, bool) {
        self.wor.seen
    }

    /// WORTIME: what the timer has counted, in steps of WOR_RES.
    pub(super) fn wor_time(&self) -> u16 {
        let Some((began, _)) = self.wor.timer else { return 0 };
        let step = self.rc_periods(1 << (5 * self.wor_res()));
        let gone = self.now.0.saturating_sub(began.0) / step.0.max(1);
        (gone % u128::from(self.event0_count().max(1))) as u16
    }
}
