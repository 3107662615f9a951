// SPDX-License-Identifier: MIT OR Apache-2.0
//! RTC_C in calendar mode, with its two prescalers and their interrupts (SLAU356I chapter 20).
//!
//! The calendar is not stepped: the second follows from BCLK's ticks.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::rtc_c::*;
use sunseal_trace::Picos;

use super::rtc::KEY_READ;
use super::wide::{Block, Cx, Lines, P4, merge16, sooner};
use crate::clock::Line;
use crate::lint::LintKind;

const TICKS: u64 = 32_768;
const ENABLE_ALARM: u16 = 0x80;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Time {
    second: u16,
    minute: u16,
    hour: u16,
    weekday: u16,
    day: u16,
    month: u16,
    year: u16,
}

fn days_in(year: u16, month: u16) -> u16 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Time {
    /// Moves calendar and alarms on by one second.
    fn advance(&mut self) {
        let carry = |field: &mut u16, end: u16, first: u16| {
            *field += 1;
            let over = *field >= end;
            if over {
                *field = first;
            }
            over
        };
        let (year, month) = (self.year, self.month);
        if !carry(&mut self.second, 60, 0)
            || !carry(&mut self.minute, 60, 0)
            || !carry(&mut self.hour, 24, 0)
        {
            return;
        }
        carry(&mut self.weekday, 7, 0);
        if carry(&mut self.day, days_in(year, month) + 1, 1) && carry(&mut self.month, 13, 1) {
            self.year += 1;
        }
    }

    /// The same `n` seconds on; whole days at once.
    fn after(mut self, mut n: u64) -> Self {
        while n >= 86_400 {
            let keep = (self.second, self.minute, self.hour);
            (self.second, self.minute, self.hour) = (59, 59, 23);
            self.advance();
            (self.second, self.minute, self.hour) = keep;
            n -= 86_400;
        }
        for _ in 0..n {
            self.advance();
        }
        self
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RtcC {
    unlocked: bool,
    ctl0: u16,
    ctl13: u16,
    ps0ctl: u16,
    ps1ctl: u16,
    aminhr: u16,
    adowday: u16,
    convert: [u16; 2],
    /// The calendar at BCLK tick `origin`, which is a full second; while held, the prescaler's state.
    time: Time,
    origin: u64,
    prescaler: u16,
    /// Ticks that the prescalers stand beyond those since `origin`: a second or none, as RT1PS counts to two.
    odd: u64,
    /// Ticks since `origin` up to which events are accounted for.
    seen: u64,
}

fn to_bcd(v: u16) -> u16 {
    (v % 10) | (v / 10 % 10) << 4 | (v / 100 % 10) << 8 | (v / 1000 % 10) << 12
}

fn from_bcd(v: u16) -> u16 {
    (v & 0xF) + 10 * (v >> 4 & 0xF) + 100 * (v >> 8 & 0xF) + 1000 * (v >> 12)
}

impl RtcC {
    pub fn new() -> Self {
        Self {
            ctl0: RTCOFIFG,
            ctl13: RTCHOLD | RTCMODE,
            time: Time { second: 0, minute: 0, hour: 0, weekday: 0, day: 1, month: 1, year: 2000 },
            ..Self::default()
        }
    }

    /// The interrupts that it has enabled are lost in LPM3.5; their flags and the calendar stay (SLAU356I 8.21, page 443).
    pub fn wake(&mut self) {
        self.ctl0 &= !(RTCOFIE | RTCRDYIE | RTCTEVIE | RTCAIE);
        self.ps0ctl &= !RT0PSIE;
        self.ps1ctl &= !RT0PSIE;
    }

    pub fn held(&self) -> bool {
        self.ctl13 & RTCHOLD != 0
    }

    fn ticks(&self, bclk: &Line, t: Picos) -> u64 {
        if self.held() { 0 } else { bclk.ticks_at(t).saturating_sub(self.origin) }
    }

    fn now(&self, bclk: &Line, t: Picos) -> Time {
        self.time.after(self.ticks(bclk, t) / TICKS)
    }

    /// RT0PS in the low byte, RT1PS in the high one.
    fn prescalers(&self, bclk: &Line, t: Picos) -> u16 {
        if self.held() { self.prescaler } else { (self.ticks(bclk, t) + self.odd) as u16 }
    }

    fn latch(&mut self, bclk: &Line, t: Picos) {
        let n = self.ticks(bclk, t);
        self.time = self.time.after(n / TICKS);
        if !self.held() {
            self.prescaler = (n + self.odd) as u16;
            self.origin += n / TICKS * TICKS;
            self.odd = (self.odd + n / TICKS * TICKS) % (2 * TICKS);
        }
    }

    /// The prescalers stand at `self.prescaler` at this tick of BCLK.
    fn begin(&mut self, tick: u64) {
        let ahead = u64::from(self.prescaler);
        self.origin = tick.saturating_sub(ahead % TICKS);
        (self.odd, self.seen) = (ahead / TICKS * TICKS, tick - self.origin);
    }

    /// Ticks between two events of a prescaler's interrupt.
    fn interval(ctl: u16, first: u64) -> u64 {
        first << (ctl >> 2 & 7)
    }

    fn wants_seconds(&self) -> bool {
        self.ctl0 & (RTCRDYIE | RTCTEVIE | RTCAIE) != 0
    }

    fn next_event(&self, bclk: &Line) -> Option<Picos> {
        if self.held() {
            return None;
        }
        let next = |interval: u64| {
            let next = ((self.seen + self.odd) / interval + 1) * interval - self.odd;
            let tick = next + self.origin;
            let t = bclk.time_of(tick);
            (t != Picos::MAX).then_some(t)
        };
        let mut first = None;
        if self.wants_seconds() {
            first = sooner(first, next(TICKS));
        }
        if self.ps0ctl & (RT0PSIE | RT0PSIFG) == RT0PSIE {
            first = sooner(first, next(Self::interval(self.ps0ctl, 2)));
        }
        if self.ps1ctl & (RT0PSIE | RT0PSIFG) == RT0PSIE {
            first = sooner(first, next(Self::interval(self.ps1ctl, 512)));
        }
        first
    }

    fn event(&mut self, bclk: &Line, now: Picos) {
        if self.held() {
            return;
        }
        let n = self.ticks(bclk, now);
        let (seen, odd) = (self.seen, self.odd);
        let passed = |interval: u64| (n + odd) / interval != (seen + odd) / interval;
        if passed(Self::interval(self.ps0ctl, 2)) {
            self.ps0ctl |= RT0PSIFG;
        }
        if passed(Self::interval(self.ps1ctl, 512)) {
            self.ps1ctl |= RT0PSIFG;
        }
        if passed(TICKS) {
            self.ctl0 |= RTCRDYIFG;
            let mut time = self.time.after(seen / TICKS);
            // Of many seconds at once only the last day can tell anything apart.
            for _ in 0..(n / TICKS - seen / TICKS).min(86_400) {
                let before = time;
                time.advance();
                if time.minute != before.minute {
                    self.minute(before, time);
                }
            }
        }
        self.seen = n;
        self.latch(bclk, now);
        self.seen -= n / TICKS * TICKS;
    }

    fn minute(&mut self, before: Time, t: Time) {
        let event = match self.ctl13 & RTCTEV {
            0 => true,
            1 => t.hour != before.hour,
            2 => t.minute == 0 && t.hour == 0,
            _ => t.minute == 0 && t.hour == 12,
        };
        if event {
            self.ctl0 |= RTCTEVIFG;
        }
        let fields = [
            (self.aminhr & 0xFF, t.minute),
            (self.aminhr >> 8, t.hour),
            (self.adowday & 0xFF, t.weekday),
            (self.adowday >> 8, t.day),
        ];
        let decode = |v: u16| if self.ctl13 & RTCBCD != 0 { from_bcd(v & 0x7F) } else { v & 0x7F };
        let enabled = fields.iter().any(|(a, _)| a & ENABLE_ALARM != 0);
        if enabled && fields.iter().all(|&(a, now)| a & ENABLE_ALARM == 0 || decode(a) == now) {
            self.ctl0 |= RTCAIFG;
        }
    }

    pub fn pending(&self) -> bool {
        (self.ctl0 >> 4) & self.ctl0 & 0xF != 0 || self.ps0ctl & 3 == 3 || self.ps1ctl & 3 == 3
    }

    fn vector(&mut self) -> u16 {
        for (ie, ifg, code) in [
            (RTCOFIE, RTCOFIFG, 2),
            (RTCRDYIE, RTCRDYIFG, 4),
            (RTCTEVIE, RTCTEVIFG, 6),
            (RTCAIE, RTCAIFG, 8),
        ] {
            if self.ctl0 & ie != 0 && self.ctl0 & ifg != 0 {
                self.ctl0 &= !ifg;
                return code;
            }
        }
        for (ctl, code) in [(&mut self.ps0ctl, 10), (&mut self.ps1ctl, 12)] {
            if *ctl & 3 == 3 {
                *ctl &= !RT0PSIFG;
                return code;
            }
        }
        0
    }

    /// Behind `event`, `time` and `origin` are those of the present second.
    fn set(&mut self, now: Time, change: impl FnOnce(&mut Time)) {
        self.time = now;
        change(&mut self.time);
    }
}

impl Block<P4> for RtcC {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let bclk = &cx.clocks.bclk;
        self.event(bclk, cx.now);
        let t = self.now(bclk, cx.now);
        let bcd = self.ctl13 & RTCBCD != 0;
        let e = |v: u16| if bcd { to_bcd(v) } else { v };
        let value = match off {
            RTCCTL0 => KEY_READ | self.ctl0,
            RTCCTL13 => self.ctl13 | RTCRDY,
            RTCOCAL | RTCTCMP => 0,
            RTCPS0CTL => self.ps0ctl,
            RTCPS1CTL => self.ps1ctl,
            RTCPS => self.prescalers(bclk, cx.now),
            RTCIV => self.vector(),
            RTCTIM0 => e(t.second) | e(t.minute) << 8,
            RTCTIM1 => e(t.hour) | e(t.weekday) << 8,
            RTCDATE => e(t.day) | e(t.month) << 8,
            RTCYEAR => e(t.year),
            RTCAMINHR => self.aminhr,
            RTCADOWDAY => self.adowday,
            BIN2BCD => to_bcd(self.convert[0]),
            BCD2BIN => from_bcd(self.convert[1]),
            _ => return Err(cx.no_register()),
        };
        Ok(u32::from(value))
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let bclk = &cx.clocks.bclk;
        self.event(bclk, cx.now);
        if off == RTCCTL0 {
            if mask & 0xFF00 != 0 {
                self.unlocked = value as u16 & 0xFF00 == RTCKEY;
            }
            if mask & 0xFF != 0 && self.unlocked {
                self.ctl0 = merge16(self.ctl0, value, mask & 0xFF) & 0xFF;
            }
            return Ok(());
        }
        if !self.unlocked && !matches!(off, RTCIV | RTCPS0CTL | RTCPS1CTL | BIN2BCD | BCD2BIN) {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        let bcd = self.ctl13 & RTCBCD != 0;
        let d = |v: u16| if bcd { from_bcd(v) } else { v };
        let e = |v: u16| if bcd { to_bcd(v) } else { v };
        let now = self.now(bclk, cx.now);
        let field = |old: u16| merge16(old, value, mask);
        // Each byte is a register of its own, which may be written alone.
        let pair = |low: u16, high: u16| field(e(low) | e(high) << 8);
        match off {
            RTCCTL13 => {
                let was_held = self.held();
                let new = merge16(self.ctl13, value, mask);
                if new & 0x0C != 0 || new & 0x0300 != 0 {
                    return Err(cx.refuse("RTC_C clocked from elsewhere than BCLK, or its calibration output, is not modelled"));
                }
                self.ctl13 = new & (RTCBCD | RTCHOLD | RTCTEV) | RTCMODE;
                if was_held && !self.held() {
                    self.begin(bclk.ticks_at(cx.now));
                } else if !was_held && self.held() {
                    self.time = now;
                    self.prescaler = (bclk.ticks_at(cx.now) - self.origin + self.odd) as u16;
                }
            }
            RTCOCAL | RTCTCMP if value & mask == 0 => {}
            RTCOCAL | RTCTCMP => {
                return Err(
                    cx.refuse("calibration and temperature compensation of RTC_C are not modelled")
                );
            }
            RTCPS0CTL => self.ps0ctl = field(self.ps0ctl) & 0x1F,
            RTCPS1CTL => self.ps1ctl = field(self.ps1ctl) & 0x1F,
            RTCPS => {
                self.time = now;
                self.prescaler = field(self.prescalers(bclk, cx.now));
                self.begin(bclk.ticks_at(cx.now));
            }
            RTCIV => {
                self.vector();
            }
            RTCTIM0 => {
                let v = pair(now.second, now.minute);
                self.set(now, |t| (t.second, t.minute) = (d(v & 0xFF), d(v >> 8)));
            }
            RTCTIM1 => {
                let v = pair(now.hour, now.weekday);
                self.set(now, |t| (t.hour, t.weekday) = (d(v & 0xFF), d(v >> 8)));
            }
            RTCDATE => {
                let v = pair(now.day, now.month);
                self.set(now, |t| (t.day, t.month) = (d(v & 0xFF), d(v >> 8)));
            }
            RTCYEAR => {
                let v = field(e(now.year));
                self.set(now, |t| t.year = d(v));
            }
            RTCAMINHR => self.aminhr = field(self.aminhr),
            RTCADOWDAY => self.adowday = field(self.adowday),
            BIN2BCD => self.convert[0] = field(self.convert[0]),
            BCD2BIN => self.convert[1] = field(self.convert[1]),
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn due(&self, lines: &Lines) -> Option<Picos> {
        self.next_event(&lines.bclk)
    }

    fn advance(&mut self, lines: &Lines, t: Picos) {
        self.event(&lines.bclk, t);
    }

    fn asks(&mut self) -> u32 {
        self.pending().into()
    }

    fn may_ask(&self, lines: &Lines) -> bool {
        let enabled = self.wants_seconds() || (self.ps0ctl | self.ps1ctl) & RT0PSIE != 0;
        !self.held() && enabled && self.due(lines).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_knows_leap_years_and_turns_of_the_year() {
        let t =
            Time { second: 59, minute: 59, hour: 23, weekday: 6, day: 28, month: 2, year: 2024 };
        let next = t.after(1);
        assert_eq!((next.day, next.month, next.weekday), (29, 2, 0));
        let next = t.after(1 + 86_400);
        assert_eq!((next.day, next.month), (1, 3));
        let t = Time { day: 31, month: 12, ..t };
        assert_eq!(
            t.after(1),
            Time { second: 0, minute: 0, hour: 0, weekday: 0, day: 1, month: 1, year: 2025 }
        );
    }

    #[test]
    fn bcd_there_and_back() {
        for v in [0, 9, 10, 59, 2026, 9999] {
            assert_eq!(from_bcd(to_bcd(v)), v);
        }
    }
}
