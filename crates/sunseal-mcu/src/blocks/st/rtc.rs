// SPDX-License-Identifier: MIT OR Apache-2.0
//! RTC (RM0351 chapter 38): a calendar in BCD, two alarms, the wakeup timer, and registers that outlast a reset.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::rtc::*;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;
use crate::lint::LintKind;

const CR_KNOWN: u32 =
    RTC_CR_WUCKSEL | RTC_CR_BYPSHAD | RTC_CR_WUTE | RTC_CR_WUTIE | RTC_CR_BKP | (3 * ALARM_A);
/// ALRAE with ALRAIE, and ALRAF, of alarm A; those of alarm B are a bit higher.
const ALARM_A: u32 = RTC_CR_ALRAE | RTC_CR_ALRAIE;
/// Days ahead among which every date and every weekday is found.
const AHEAD_DAYS: u64 = 63;

const DAY_S: u64 = 86_400;
const MONTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rtc {
    /// RCC_BDCR.RTCEN lets the RTC run.
    on: bool,
    cr: u32,
    prer: u32,
    wutr: u32,
    init: bool,
    wutf: bool,
    /// How far the key of RTC_WPR has come: 2 is unlocked.
    key: u8,
    /// Seconds since 2000-01-01 at tick `origin` of RTCCLK.
    seconds: u64,
    origin: u64,
    /// The weekday counts on from here.
    weekday: u64,
    alarms: [Alarm; 2],
    /// The tick at which the wakeup timer next runs out.
    wakes: Option<u64>,
    backup: [u32; 32],
    clock: Line,
}

/// What an alarm compares with the calendar, and the tick at which it next finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Alarm {
    fields: u32,
    subseconds: u32,
    flag: bool,
    rings: Option<u64>,
}

impl Alarm {
    /// A second of a day that the fields of hours, minutes and seconds let through, at `from` or behind it.
    fn second_of_day(&self, from: u64) -> Option<u64> {
        let asked = |mask: u32, at: u32, bits: u32| {
            (self.fields >> mask & 1 == 0)
                .then(|| number(self.fields >> at & bits).unwrap_or(u64::MAX))
        };
        let (h, m, s) = (asked(23, 16, 0x3F), asked(15, 8, 0x7F), asked(7, 0, 0x7F));
        let fits = |asked: Option<u64>, is: u64| asked.is_none_or(|a| a == is);
        (from / 60..DAY_S / 60).find_map(|minute| {
            let there = fits(h, minute / 60) && fits(m, minute % 60);
            let least = from.saturating_sub(60 * minute);
            let second = s.filter(|s| *s >= least && *s < 60).or(s.is_none().then_some(least));
            second.filter(|_| there).map(|s| 60 * minute + s)
        })
    }
}

fn days_of(month: u64, year: u64) -> u64 {
    MONTHS[month as usize] + u64::from(month == 1 && year.is_multiple_of(4))
}

fn bcd(n: u64) -> u32 {
    ((n / 10) << 4 | (n % 10)) as u32
}

/// A number of two decimal digits.
fn number(bcd: u32) -> Option<u64> {
    let (tens, ones) = (bcd >> 4 & 0xF, bcd & 0xF);
    (tens < 10 && ones < 10).then_some(u64::from(10 * tens + ones))
}

impl Rtc {
    pub fn new() -> Self {
        Self { prer: 0x007F_00FF, wutr: 0xFFFF, weekday: 1, ..Self::default() }
    }

    /// The wakeup timer has run out and its interrupt is let through: line 20 of EXTI.
    pub fn wakeup(&self) -> bool {
        self.wutf && self.cr & RTC_CR_WUTIE != 0
    }

    /// An alarm's flag stands and its interrupt is let through: line 18 of EXTI.
    pub fn alarm(&self) -> bool {
        (0..2).any(|i| self.alarms[i].flag && self.cr & RTC_CR_ALRAIE << i != 0)
    }

    /// RTCEN lets it run.
    pub fn enable_if_changed(&mut self, on: bool, now: Picos) {
        if on != self.on {
            self.enable(on, now);
        }
    }

    fn enable(&mut self, on: bool, now: Picos) {
        self.latch(now);
        self.on = on;
        self.origin = self.clock.ticks_at(now);
        self.set_alarms(now);
    }

    /// Ticks of RTCCLK in a second, and behind the first prescaler.
    fn second(&self) -> u64 {
        self.first() * (u64::from(self.prer & 0x7FFF) + 1)
    }

    fn first(&self) -> u64 {
        u64::from(self.prer >> 16 & 0x7F) + 1
    }

    fn ticks(&self, now: Picos) -> u64 {
        if self.on && !self.init { self.clock.ticks_at(now).saturating_sub(self.origin) } else { 0 }
    }

    fn seconds_at(&self, now: Picos) -> u64 {
        self.seconds + self.ticks(now) / self.second()
    }

    fn latch(&mut self, now: Picos) {
        let (whole, rest) = (self.ticks(now) / self.second(), self.ticks(now) % self.second());
        self.seconds += whole;
        self.origin = self.clock.ticks_at(now).saturating_sub(rest);
    }

    /// Ticks of RTCCLK between two counts of the wakeup timer, and its period in counts.
    fn wakeup_period(&self) -> (u64, u64) {
        let counts = u64::from(self.wutr) + 1;
        match self.cr & RTC_CR_WUCKSEL {
            slow @ 0..=3 => (16 >> slow, counts),
            4 | 5 => (self.second(), counts),
            _ => (self.second(), counts + 0x1_0000),
        }
    }

    fn start_wakeup(&mut self, now: Picos) {
        let (step, counts) = self.wakeup_period();
        // Counts come with the prescalers, which run already.
        let gone = self.clock.ticks_at(now).saturating_sub(self.origin) / step;
        self.wakes = Some(self.origin + (gone + counts) * step);
    }

    /// Whether an alarm lets a day through, counted from 2000-01-01.
    fn is_alarms_day(&self, alarm: &Alarm, days: u64) -> bool {
        let (weekday, date) = self.weekday_and_date(days);
        let asked = alarm.fields >> 24 & 0x3F;
        let by_weekday = alarm.fields >> 30 & 1 != 0;
        alarm.fields >> 31 != 0 || if by_weekday { asked & 0xF == weekday } else { asked == date }
    }

    /// The tick behind `after` at which alarm `i` finds the calendar as it is set (RM0351 section 38.3.5).
    fn next_ring(&self, i: usize, after: u64) -> Option<u64> {
        let alarm = self.alarms[i];
        let (second, first) = (self.second(), self.first());
        let last = u64::from(self.prer & 0x7FFF);
        let mask = (1u64 << (alarm.subseconds >> 24 & 0xF)) - 1;
        let wanted = u64::from(alarm.subseconds & 0x7FFF) & mask;
        // Counts of the subsecond register at which one fits: it counts down from PREDIV_S.
        let fitting = |from: u64| {
            (from..=last).find(|n| mask == 0 && *n == 0 || mask != 0 && (last - n) & mask == wanted)
        };
        let now = (after + 1).saturating_sub(self.origin);
        let (mut seconds, mut from) = (self.seconds + now / second, (now % second).div_ceil(first));
        for _ in 0..=AHEAD_DAYS {
            let day = seconds / DAY_S;
            while self.is_alarms_day(&alarm, day) {
                let Some(at) = alarm.second_of_day(seconds % DAY_S) else { break };
                let found = day * DAY_S + at;
                if let Some(n) = fitting(if found == seconds { from } else { 0 }) {
                    return Some(self.origin + (found - self.seconds) * second + n * first);
                }
                (seconds, from) = (found + 1, 0);
                if seconds / DAY_S != day {
                    break;
                }
            }
            (seconds, from) = (seconds.max((day + 1) * DAY_S), 0);
        }
        None
    }

    /// Looks anew for when the alarms ring, behind a change of them or of the calendar.
    fn set_alarms(&mut self, now: Picos) {
        let ticks = self.clock.ticks_at(now);
        for i in 0..2 {
            let on = self.cr & RTC_CR_ALRAE << i != 0 && !self.init;
            self.alarms[i].rings = if on { self.next_ring(i, ticks) } else { None };
        }
    }

    fn weekday_and_date(&self, days: u64) -> (u32, u32) {
        let dr = self.date(days);
        (dr >> 13 & 7, dr & 0x3F)
    }

    fn tr(&self, now: Picos) -> u32 {
        let s = self.seconds_at(now) % DAY_S;
        bcd(s / 3600) << 16 | bcd(s / 60 % 60) << 8 | bcd(s % 60)
    }

    fn dr(&self, now: Picos) -> u32 {
        self.date(self.seconds_at(now) / DAY_S)
    }

    /// The date of a day counted from 2000-01-01, as RTC_DR has it.
    fn date(&self, days: u64) -> u32 {
        let (mut rest, mut year, mut month) = (days % 36_525, 0, 0);
        while rest >= days_of(month, year) {
            rest -= days_of(month, year);
            (month, year) = if month == 11 { (0, year + 1) } else { (month + 1, year) };
        }
        let weekday = ((self.weekday + days - 1) % 7 + 1) as u32;
        bcd(year) << 16 | weekday << 13 | bcd(month + 1) << 8 | bcd(rest + 1)
    }

    fn set_time(&mut self, tr: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        only(tr, 0x003F_7F7F, "the RTC's twelve-hour notation (RTC_TR.PM) is not modelled", cx)?;
        let (h, m, s) = (number(tr >> 16 & 0x3F), number(tr >> 8 & 0x7F), number(tr & 0x7F));
        let time = match (h, m, s) {
            (Some(h @ 0..24), Some(m @ 0..60), Some(s @ 0..60)) => 3600 * h + 60 * m + s,
            _ => return Err(cx.refuse(format!("RTC_TR of {tr:#010x} is no time in BCD"))),
        };
        self.seconds = self.seconds / DAY_S * DAY_S + time;
        Ok(())
    }

    fn set_date(&mut self, dr: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        let (year, month, day) =
            (number(dr >> 16 & 0xFF), number(dr >> 8 & 0x1F), number(dr & 0x3F));
        let weekday = u64::from(dr >> 13 & 7);
        let (Some(year), Some(month @ 1..=12), Some(day @ 1..), 1..) = (year, month, day, weekday)
        else {
            return Err(cx.refuse(format!("RTC_DR of {dr:#010x} is no date in BCD")));
        };
        if day > days_of(month - 1, year) {
            return Err(cx.refuse(format!("RTC_DR of {dr:#010x} is a day that the month lacks")));
        }
        let before = 365 * year + year.div_ceil(4);
        let days = before + (0..month - 1).map(|m| days_of(m, year)).sum::<u64>() + day - 1;
        self.seconds = days * DAY_S + self.seconds % DAY_S;
        self.weekday = (weekday + 6 + 7 - days % 7) % 7 + 1;
        Ok(())
    }

    fn isr(&self) -> u32 {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        3 | flag(self.cr & RTC_CR_WUTE == 0, RTC_ISR_WUTWF)
            | flag(self.seconds / DAY_S >= 366, RTC_ISR_INITS)
            | flag(!self.init, RTC_ISR_RSF)
            | flag(self.init, RTC_ISR_INITF | RTC_ISR_INIT)
            | flag(self.alarms[0].flag, RTC_ISR_ALRAF)
            | flag(self.alarms[1].flag, RTC_ISR_ALRBF)
            | flag(self.wutf, RTC_ISR_WUTF)
    }

    fn write_cr(&mut self, new: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let what = "time stamps, outputs, daylight saving and twelve-hour notation of the RTC are not modelled";
        only(new, CR_KNOWN, what, cx)?;
        if self.cr & RTC_CR_WUTE != 0 && (new ^ self.cr) & RTC_CR_WUCKSEL != 0 {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        let begins = new & !self.cr & RTC_CR_WUTE != 0;
        self.cr = new;
        if begins {
            self.start_wakeup(cx.now);
        } else if new & RTC_CR_WUTE == 0 {
            self.wakes = None;
        }
        self.set_alarms(cx.now);
        Ok(())
    }

    fn write_isr(&mut self, value: u32, mask: u32, cx: &Cx<'_>) {
        self.clear_flags(value, mask);
        let init = merge(u32::from(self.init) << 7, value, mask) & RTC_ISR_INIT != 0;
        if init && !self.init {
            self.latch(cx.now);
        } else if !init && self.init {
            // The prescalers start anew.
            self.origin = self.clock.ticks_at(cx.now);
        }
        self.init = init;
        self.set_alarms(cx.now);
    }

    /// Flags are cleared by writing 0.
    fn clear_flags(&mut self, value: u32, mask: u32) {
        let kept = |bit: u32| mask & bit == 0 || value & bit != 0;
        self.wutf &= kept(RTC_ISR_WUTF);
        self.alarms[0].flag &= kept(RTC_ISR_ALRAF);
        self.alarms[1].flag &= kept(RTC_ISR_ALRBF);
    }

    /// An alarm's register: which alarm, and whether it is that of the subseconds.
    fn alarm_at(off: u32) -> Option<(usize, bool)> {
        match off {
            RTC_ALRMAR => Some((0, false)),
            RTC_ALRMBR => Some((1, false)),
            RTC_ALRMASSR => Some((0, true)),
            RTC_ALRMBSSR => Some((1, true)),
            _ => None,
        }
    }

    fn write_alarm(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        cx: &mut Cx<'_>,
    ) -> Result<(), Fault> {
        let Some((i, subseconds)) = Self::alarm_at(off) else {
            return Err(
                cx.refuse("time stamps, tampers and calibration of the RTC are not modelled")
            );
        };
        // It is written while the alarm is off (RM0351 section 38.6.8).
        if self.key != 2 || self.cr & RTC_CR_ALRAE << i != 0 && !self.init {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        let alarm = &mut self.alarms[i];
        let kept = if subseconds { &mut alarm.subseconds } else { &mut alarm.fields };
        *kept = merge(*kept, value, mask);
        let pm = alarm.fields & 1 << 22;
        only(pm, 0, "the RTC's twelve-hour notation (RTC_ALRMxR.PM) is not modelled", cx)?;
        self.set_alarms(cx.now);
        Ok(())
    }
}

impl Block<Stm32> for Rtc {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        // A program may poll WUTF without its interrupt.
        self.advance(&(), cx.now);
        Ok(match off {
            RTC_TR => self.tr(cx.now),
            RTC_DR => self.dr(cx.now),
            RTC_CR => self.cr,
            RTC_ISR => self.isr(),
            RTC_PRER => self.prer,
            RTC_WUTR => self.wutr,
            RTC_WPR => 0,
            RTC_SSR => {
                let into = self.ticks(cx.now) % self.second() / self.first();
                (self.prer & 0x7FFF) - into as u32
            }
            RTC_BKP0R..=RTC_BKP31R => self.backup[((off - RTC_BKP0R) / 4) as usize],
            _ => match Self::alarm_at(off) {
                Some((i, true)) => self.alarms[i].subseconds,
                Some((i, false)) => self.alarms[i].fields,
                None => {
                    return Err(cx.refuse(
                        "time stamps, tampers and calibration of the RTC are not modelled",
                    ));
                }
            },
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        self.advance(&(), cx.now);
        let bits = value & mask;
        if !cx.beside.backup_writable && off != RTC_WPR {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        match off {
            RTC_WPR => {
                self.key = match (self.key, bits & 0xFF) {
                    (0, 0xCA) => 1,
                    (1, 0x53) => 2,
                    _ => 0,
                };
            }
            RTC_BKP0R..=RTC_BKP31R => {
                let kept = &mut self.backup[((off - RTC_BKP0R) / 4) as usize];
                *kept = merge(*kept, value, mask);
            }
            // The flags are not protected.
            RTC_ISR if self.key != 2 => {
                self.clear_flags(value, mask);
                if (bits & RTC_ISR_INIT != 0) != self.init {
                    cx.lint(LintKind::LockedBits);
                }
            }
            RTC_TR | RTC_DR | RTC_PRER if self.key != 2 || !self.init => {
                cx.lint(LintKind::LockedBits)
            }
            RTC_CR | RTC_WUTR if self.key != 2 => cx.lint(LintKind::LockedBits),
            RTC_TR => self.set_time(bits, cx)?,
            RTC_DR => self.set_date(bits, cx)?,
            RTC_PRER => self.prer = merge(self.prer, value, mask) & 0x007F_7FFF,
            RTC_CR => self.write_cr(merge(self.cr, value, mask), cx)?,
            RTC_ISR => self.write_isr(value, mask, cx),
            RTC_WUTR if self.cr & RTC_CR_WUTE != 0 => cx.lint(LintKind::LockedBits),
            RTC_WUTR => self.wutr = merge(self.wutr, value, mask) & 0xFFFF,
            _ => self.write_alarm(off, value, mask, cx)?,
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, now: Picos) {
        let old = self.clock.ticks_at(now);
        self.clock = *clock;
        let new = self.clock.ticks_at(now);
        self.origin = (self.origin + new).saturating_sub(old);
        let moved = |tick: u64| (tick + new).saturating_sub(old);
        self.wakes = self.wakes.map(moved);
        self.alarms.iter_mut().for_each(|a| a.rings = a.rings.map(moved));
    }

    fn due(&self, _: &()) -> Option<Picos> {
        let waited_for = self.cr & RTC_CR_WUTIE != 0 && !self.wutf;
        let rings = |i: usize| {
            let waited_for = self.cr & RTC_CR_ALRAIE << i != 0 && !self.alarms[i].flag;
            self.alarms[i].rings.filter(|_| waited_for)
        };
        let wakes = self.wakes.filter(|_| waited_for);
        let next = [wakes, rings(0), rings(1)].into_iter().flatten().min().filter(|_| self.on)?;
        let t = self.clock.time_of(next);
        (t != Picos::MAX).then_some(t)
    }

    fn advance(&mut self, _: &(), t: Picos) {
        let ticks = self.clock.ticks_at(t);
        let (step, counts) = self.wakeup_period();
        if let Some(tick) = self.wakes.filter(|tick| self.on && *tick <= ticks) {
            self.wutf = true;
            let periods = (ticks - tick) / (step * counts) + 1;
            self.wakes = Some(tick + periods * step * counts);
        }
        for i in 0..2 {
            if self.on && self.alarms[i].rings.is_some_and(|tick| tick <= ticks) {
                self.alarms[i].flag = true;
                self.alarms[i].rings = self.next_ring(i, ticks);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtc() -> Rtc {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 32_768, 1, None);
        let mut r = Rtc::new();
        r.clocked(&line, Picos(0));
        r.enable(true, Picos(0));
        r
    }

    fn s(n: u128) -> Picos {
        Picos(n * 1_000_000_000_000)
    }

    #[test]
    fn the_calendar_knows_leap_years_and_weekdays() {
        let r = rtc();
        assert_eq!((r.tr(s(0)), r.dr(s(0))), (0, 0x2101));
        assert_eq!(r.tr(s(86_399)), 0x0023_5959);
        // 2000-02-29 was 59 days on, a Thursday where the first day counts as Monday.
        assert_eq!(r.dr(s(59 * 86_400)), 4 << 13 | 0x0229);
        assert_eq!(r.dr(s(366 * 86_400)) & 0xFF_1FFF, 0x01_0101);
    }

    #[test]
    fn the_wakeup_timer_counts_seconds_on_their_edges() {
        let mut r = rtc();
        (r.cr, r.wutr) = (4 | RTC_CR_WUTE | RTC_CR_WUTIE, 9);
        r.start_wakeup(Picos(s(5).0 + 300_000_000_000));
        assert_eq!(r.due(&()), Some(s(15)));
        r.advance(&(), s(15));
        assert!(r.wakeup() && r.due(&()).is_none());
        r.wutf = false;
        assert_eq!(r.due(&()), Some(s(25)));
    }
}
