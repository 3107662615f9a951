// SPDX-License-Identifier: MIT OR Apache-2.0
//! RTC_B and RTC_C of the FR5xx and FR6xx (SLAU367P, a chapter each): calendar with alarm, time event and
//! prescaler interrupts, clocked by LFXT. Nothing is stepped: the calendar follows from the crystal's ticks.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::rtc_c::*;
use sunseal_trace::Picos;

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;
use crate::clock::{Clocks, Line};

pub(super) const KEY_READ: u16 = 0x9600;

const ENABLED: u8 = 0x80;

/// Ticks of LFXT in a second.
const SECOND: u64 = 32_768;
const DAY: u64 = 86_400;

/// Where the control bits lie, and the order of the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Layout {
    B,
    C,
}

/// What interrupts; a chip's RTCIV has them in the order of its [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Flag(u16),
    Prescaler(usize),
}

const SOURCES_B: [Source; 6] = [
    Source::Flag(RTCRDYIFG),
    Source::Flag(RTCTEVIFG),
    Source::Flag(RTCAIFG),
    Source::Prescaler(0),
    Source::Prescaler(1),
    Source::Flag(RTCOFIFG),
];
const SOURCES_C: [Source; 6] = [
    Source::Flag(RTCOFIFG),
    Source::Flag(RTCRDYIFG),
    Source::Flag(RTCTEVIFG),
    Source::Flag(RTCAIFG),
    Source::Prescaler(0),
    Source::Prescaler(1),
];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rtc {
    layout: Layout,
    unlocked: bool,
    ctl0: u16,
    ctl13: u16,
    ocal: u16,
    tcmp: u16,
    ps_ctl: [u16; 2],
    /// Seconds of the calendar at crystal tick `origin`, from the first of March of year 0.
    seconds: u64,
    origin: u64,
    /// Ticks that the prescalers stand beyond those since `origin`: a second or none, as RT1PS counts to two.
    odd: u64,
    /// Tick of the crystal up to which flags are set.
    seen: u64,
    /// Day of the week less what the count of days gives.
    dow_shift: u8,
    /// Minute, hour, day of week, day; bit 7 enables each.
    alarm: [u8; 4],
    bin2bcd: u16,
    bcd2bin: u16,
}

/// RTCOFIE, RTCTEVIE, RTCAIE and RTCRDYIE.
const ENABLES: u16 = 0xF0;

fn to_bcd(n: u32) -> u16 {
    (0..4).fold(0, |v, i| v | ((n / 10u32.pow(i) % 10) as u16) << (4 * i))
}

fn from_bcd(v: u16) -> u32 {
    (0..4).rev().fold(0, |n, i| 10 * n + u32::from(v >> (4 * i) & 15))
}

/// Year, month and day of a count of days that begins with the first of March of year 0.
fn date(days: u64) -> (u32, u32, u32) {
    let century = (4 * days + 3) / 146_097;
    let rest = days - century * 146_097 / 4;
    let year = (4 * rest + 3) / 1461;
    let rest = rest - year * 1461 / 4;
    let month = (5 * rest + 2) / 153;
    let day = rest - (153 * month + 2) / 5 + 1;
    let year = century * 100 + year + u64::from(month > 9);
    let month = if month > 9 { month - 9 } else { month + 3 };
    (year as u32, month as u32, day as u32)
}

fn days(year: u32, month: u32, day: u32) -> u64 {
    let (year, month, day) = (u64::from(year), u64::from(month), u64::from(day.max(1)));
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1
}

impl Rtc {
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            unlocked: layout == Layout::B,
            ctl0: 0,
            ctl13: RTCHOLD | RTCMODE | RTCRDY,
            ocal: 0,
            tcmp: 0x4000,
            ps_ctl: [0x0100; 2],
            seconds: days(2000, 1, 1) * DAY,
            origin: 0,
            odd: 0,
            seen: 0,
            dow_shift: 0,
            alarm: [0; 4],
            bin2bcd: 0,
            bcd2bin: 0,
        }
    }

    /// A reset stops it (RTCHOLD) and clears the control registers; the calendar keeps its values. `kept`
    /// says that the module had its supply all along (LPM3.5): then it goes on, with its interrupts disabled until the
    /// program enables them again (SLAU367P 1.4.3.2, page 61).
    pub fn reset(&mut self, kept: bool) {
        if !kept {
            let seconds = self.seconds;
            *self = Self { seconds, dow_shift: self.dow_shift, ..Self::new(self.layout) };
        } else {
            self.unlocked = self.layout == Layout::B;
            self.ctl0 &= !ENABLES;
            self.ps_ctl.iter_mut().for_each(|c| *c &= !RT0PSIE);
        }
    }

    fn running(&self) -> bool {
        self.ctl13 & RTCHOLD == 0
    }

    /// Whether it counts, with which the regulator's absence is LPM3.5 and not LPM4.5.
    pub fn is_on(&self) -> bool {
        self.running()
    }

    fn ticks(&self, line: &Line, t: Picos) -> u64 {
        if self.running() { line.ticks_at(t).saturating_sub(self.origin) } else { 0 }
    }

    fn seconds_at(&self, line: &Line, t: Picos) -> u64 {
        self.seconds + self.ticks(line, t) / SECOND
    }

    /// The first second behind `s` at which the time event of RTCTEVx happens.
    fn next_time_event(&self, s: u64) -> u64 {
        let next = |period: u64, at: u64| (s + period - at) / period * period + at;
        match self.ctl13 & RTCTEV {
            0 => next(60, 0),
            1 => next(3600, 0),
            2 => next(DAY, 0),
            _ => next(DAY, DAY / 2),
        }
    }

    fn alarm_fits(&self, s: u64) -> bool {
        let fields = self.fields(s);
        self.alarm.iter().zip(fields).all(|(a, f)| {
            let want = if self.ctl13 & RTCBCD != 0 {
                from_bcd(u16::from(a & 0x7F))
            } else {
                u32::from(a & 0x7F)
            };
            a & ENABLED == 0 || want == f
        })
    }

    /// Minute, hour, day of week and day, as the alarm compares them.
    fn fields(&self, s: u64) -> [u32; 4] {
        let of_day = s % DAY;
        let day = date(s / DAY).2;
        [(of_day / 60 % 60) as u32, (of_day / 3600) as u32, self.weekday(s), day]
    }

    fn weekday(&self, s: u64) -> u32 {
        ((s / DAY + u64::from(self.dow_shift)) % 7) as u32
    }

    /// The first minute behind second `s` at which the alarm goes, within two months.
    fn next_alarm(&self, s: u64) -> Option<u64> {
        if self.alarm.iter().all(|a| a & ENABLED == 0) {
            return None;
        }
        let first = s / 60 * 60 + 60;
        // Whole days that do not fit are passed over at once.
        let mut m = first;
        while m < first + 62 * DAY {
            let [_, _, dow, day] = self.fields(m);
            let fits = |i: usize, f: u32| {
                let a = self.alarm[i];
                let want = if self.ctl13 & RTCBCD != 0 {
                    from_bcd(u16::from(a & 0x7F))
                } else {
                    u32::from(a & 0x7F)
                };
                a & ENABLED == 0 || want == f
            };
            if !fits(2, dow) || !fits(3, day) {
                m = m / DAY * DAY + DAY;
            } else if self.alarm_fits(m) {
                return Some(m);
            } else {
                m += 60;
            }
        }
        None
    }

    /// Ticks of the interval of prescaler `n`: RT0PS divides the crystal by 2 to 256, RT1PS RT0PS by the
    /// same.
    fn interval(&self, n: usize) -> u64 {
        let bits = u64::from(self.ps_ctl[n] >> 2 & 7) + 1;
        1 << (bits + if n == 0 { 0 } else { 8 })
    }

    /// The tick, counted from the origin, of the next thing that sets a flag that is clear.
    fn next_tick(&self, line: &Line, t: Picos) -> Option<u64> {
        if !self.running() || !line.is_running() {
            return None;
        }
        let done = self.ticks(line, t);
        let s = self.seconds + done / SECOND;
        let at = |s: u64| (s - self.seconds) * SECOND;
        let mut next: Option<u64> = None;
        let mut sooner = |tick: u64| next = Some(next.map_or(tick, |n| n.min(tick)));
        if self.ctl0 & 0x10 != 0 && self.ctl0 & RTCRDYIFG == 0 {
            sooner(at(s + 1));
        }
        if self.ctl0 & 0x40 != 0 && self.ctl0 & RTCTEVIFG == 0 {
            sooner(at(self.next_time_event(s)));
        }
        if self.ctl0 & 0x20 != 0
            && self.ctl0 & RTCAIFG == 0
            && let Some(m) = self.next_alarm(s)
        {
            sooner(at(m));
        }
        for n in 0..2 {
            if self.ps_ctl[n] & (RT0PSIE | RT0PSIFG) == RT0PSIE {
                let i = self.interval(n);
                sooner(((done + self.odd) / i + 1) * i - self.odd);
            }
        }
        next
    }

    pub fn next_event(&self, line: &Line, now: Picos) -> Option<Picos> {
        let t = line.time_of(self.origin + self.next_tick(line, now)?);
        (t != Picos::MAX).then_some(t)
    }

    /// Sets the flags that fell due up to `now`, whether an interrupt waits for them or a program that polls.
    pub fn event(&mut self, line: &Line, now: Picos) {
        if !self.running() {
            return;
        }
        let ticks = line.ticks_at(now);
        let seen = std::mem::replace(&mut self.seen, ticks);
        let (before, after) = (seen.saturating_sub(self.origin), self.ticks(line, now));
        let (s, e) = (self.seconds + before / SECOND, self.seconds + after / SECOND);
        if e > s {
            self.ctl0 |= RTCRDYIFG;
            if self.next_time_event(s) <= e {
                self.ctl0 |= RTCTEVIFG;
            }
            if self.next_alarm(s).is_some_and(|m| m <= e) {
                self.ctl0 |= RTCAIFG;
            }
        }
        for n in 0..2 {
            let i = self.interval(n);
            if (after + self.odd) / i > (before + self.odd) / i {
                self.ps_ctl[n] |= RT0PSIFG;
            }
        }
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ctl0 & ENABLES != 0 || self.ps_ctl.iter().any(|c| c & RT0PSIE != 0)
    }

    /// The first source that asks, and its place in RTCIV.
    fn first(&self) -> Option<(usize, Source)> {
        let on = self.ctl0 & self.ctl0 >> 4;
        let sources = if self.layout == Layout::B { SOURCES_B } else { SOURCES_C };
        sources.into_iter().enumerate().find(|&(_, source)| match source {
            Source::Flag(flag) => on & flag != 0,
            Source::Prescaler(n) => self.ps_ctl[n] & (RT0PSIE | RT0PSIFG) == RT0PSIE | RT0PSIFG,
        })
    }

    pub fn pending(&self) -> bool {
        self.first().is_some()
    }

    fn take_vector(&mut self) -> u16 {
        let Some((place, source)) = self.first() else { return 0 };
        match source {
            Source::Flag(flag) => self.ctl0 &= !flag,
            Source::Prescaler(n) => self.ps_ctl[n] &= !RT0PSIFG,
        }
        2 * (place as u16 + 1)
    }

    fn show(&self, n: u32) -> u16 {
        if self.ctl13 & RTCBCD != 0 { to_bcd(n) } else { n as u16 }
    }

    fn pair(&self, low: u32, high: u32) -> u16 {
        self.show(low) | self.show(high) << 8
    }

    /// Takes the calendar to now, keeping the part of a second that has passed.
    fn latch(&mut self, line: &Line, now: Picos) {
        let seconds = self.ticks(line, now) / SECOND;
        self.seconds += seconds;
        self.origin += seconds * SECOND;
        self.odd = (self.odd + seconds * SECOND) % (2 * SECOND);
    }

    /// The prescalers begin anew.
    fn begin(&mut self, tick: u64) {
        (self.origin, self.odd, self.seen) = (tick, 0, tick);
    }

    fn set_calendar(&mut self, off: u32, value: u16, mask: u16, line: &Line, cx: &Ctx<'_>) {
        let old = match off {
            RTCTIM0 => self.register(RTCTIM0, line, cx),
            RTCTIM1 => self.register(RTCTIM1, line, cx),
            RTCDATE => self.register(RTCDATE, line, cx),
            _ => self.register(RTCYEAR, line, cx),
        };
        let new = merge(old.unwrap_or(0), value, mask);
        let number = |v: u16| if self.ctl13 & RTCBCD != 0 { from_bcd(v) } else { u32::from(v) };
        let (low, high) = (number(new & 0xFF), number(new >> 8));
        let (year, month, day) = date(self.seconds / DAY);
        let of_day = self.seconds % DAY;
        let (h, m, sec) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let dow = self.weekday(self.seconds);
        let time = |h: u64, m: u64, s: u64| (h % 24) * 3600 + (m % 60) * 60 + s % 60;
        let (day_count, time, dow) = match off {
            RTCTIM0 => (days(year, month, day), time(h, high.into(), low.into()), dow),
            RTCTIM1 => (days(year, month, day), time(low.into(), m, sec), high % 7),
            RTCDATE => (days(year, high.clamp(1, 12), low), time(h, m, sec), dow),
            _ => (days(number(new), month, day), time(h, m, sec), dow),
        };
        self.seconds = day_count * DAY + time;
        // The day of the week is a register of its own: it keeps its value over a change of date.
        self.dow_shift = ((u64::from(dow) + 7 - day_count % 7) % 7) as u8;
        if off == RTCTIM0 {
            self.begin(line.ticks_at(cx.now));
        }
    }

    fn register(&mut self, off: u32, line: &Line, cx: &Ctx<'_>) -> Result<u16, Fault> {
        let s = self.seconds_at(line, cx.now);
        let (year, month, day) = date(s / DAY);
        let of_day = s % DAY;
        Ok(match (self.layout, off) {
            (Layout::B, RTCCTL0) => self.ctl0 | (self.ctl13 & 0x00FF | RTCRDY) << 8,
            (Layout::B, RTCCTL13) => self.ocal & 0x00FF | self.ctl13 & 0xFF00,
            (Layout::B, RTCOCAL | RTCTCMP) => return Err(cx.no_register()),
            (Layout::C, RTCCTL0) => KEY_READ | self.ctl0,
            (Layout::C, RTCCTL13) => self.ctl13 | RTCRDY,
            (_, RTCOCAL) => self.ocal,
            (_, RTCTCMP) => self.tcmp,
            (_, RTCPS0CTL) => self.ps_ctl[0],
            (_, RTCPS1CTL) => self.ps_ctl[1],
            (_, RTCPS) => ((self.ticks(line, cx.now) + self.odd) & 0xFFFF) as u16,
            (_, RTCIV) => self.take_vector(),
            (_, RTCTIM0) => self.pair((of_day % 60) as u32, (of_day / 60 % 60) as u32),
            (_, RTCTIM1) => self.pair((of_day / 3600) as u32, self.weekday(s)),
            (_, RTCDATE) => self.pair(day, month),
            (_, RTCYEAR) => self.show(year),
            (_, RTCAMINHR) => u16::from_le_bytes([self.alarm[0], self.alarm[1]]),
            (_, RTCADOWDAY) => u16::from_le_bytes([self.alarm[2], self.alarm[3]]),
            (_, BIN2BCD) => self.bin2bcd,
            (_, BCD2BIN) => self.bcd2bin,
            _ => return Err(cx.no_register()),
        })
    }
}

impl Rtc {
    /// A write to RTCCTL1 (low byte) and RTCCTL3 (high byte).
    fn control(&mut self, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let new = merge(self.ctl13, value, mask);
        if new & RTCHOLD == 0 && new & (RTCMODE | 0x0C) != RTCMODE {
            return Err(cx.refuse("counter mode and clocks other than LFXT are not modelled in the RTC; set RTCMODE and clear RTCSSx"));
        }
        let was_running = self.running();
        self.ctl13 = new & 0x03EF;
        if self.running() && !was_running {
            self.begin(cx.clocks.lfxt.ticks_at(cx.now));
        }
        cx.fx.clocks = true;
        Ok(())
    }
}

impl Block for Rtc {
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        cx.fx.touched = true;
        self.event(&cx.clocks.lfxt, cx.now);
        self.register(off, &cx.clocks.lfxt, cx)
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let clocks = cx.clocks;
        let line = &clocks.lfxt;
        self.event(line, cx.now);
        self.latch(line, cx.now);
        if off == RTCCTL0 {
            // The flags and their enables are not protected.
            self.ctl0 = merge(self.ctl0, value, mask) & 0x00FF;
            if self.layout == Layout::B {
                self.ctl13 |= RTCMODE;
                return self.control((value >> 8) | RTCMODE, mask >> 8, cx);
            }
            if mask & 0xFF00 != 0 {
                self.unlocked = value & 0xFF00 == RTCKEY;
            }
            return Ok(());
        }
        let protected =
            matches!(off, RTCCTL13 | RTCOCAL | RTCTIM0 | RTCTIM1 | RTCDATE | RTCYEAR | RTCPS);
        if protected && !self.unlocked {
            cx.lint(crate::lint::LintKind::LockedBits);
            return Ok(());
        }
        match off {
            RTCCTL13 if self.layout == Layout::B => {
                self.ocal = merge(self.ocal, value, mask & 0x00FF);
                return self.control(value, mask & 0xFF00, cx);
            }
            RTCCTL13 => return self.control(value, mask, cx),
            RTCOCAL | RTCTCMP if self.layout == Layout::B => return Err(cx.no_register()),
            RTCOCAL => self.ocal = merge(self.ocal, value, mask),
            RTCTCMP => self.tcmp = merge(self.tcmp, value, mask),
            RTCPS0CTL => self.ps_ctl[0] = merge(self.ps_ctl[0], value, mask) & 0x391F,
            RTCPS1CTL => self.ps_ctl[1] = merge(self.ps_ctl[1], value, mask) & 0xF91F,
            RTCPS => self.begin(line.ticks_at(cx.now)),
            RTCIV => {
                self.take_vector();
            }
            RTCTIM0 | RTCTIM1 | RTCDATE | RTCYEAR => self.set_calendar(off, value, mask, line, cx),
            RTCAMINHR => {
                let old = u16::from_le_bytes([self.alarm[0], self.alarm[1]]);
                [self.alarm[0], self.alarm[1]] = merge(old, value, mask).to_le_bytes();
            }
            RTCADOWDAY => {
                let old = u16::from_le_bytes([self.alarm[2], self.alarm[3]]);
                [self.alarm[2], self.alarm[3]] = merge(old, value, mask).to_le_bytes();
            }
            BIN2BCD => self.bin2bcd = to_bcd(u32::from(merge(self.bin2bcd, value, mask)) & 0xFFF),
            BCD2BIN => self.bcd2bin = from_bcd(merge(self.bcd2bin, value, mask)) as u16,
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, how: Reset) {
        self.reset(how.rtc_kept);
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new(self.layout);
    }

    fn due(&self, clocks: &Clocks, seen: Picos) -> Option<Picos> {
        self.next_event(&clocks.lfxt, seen)
    }

    fn asks(&self, _: usize) -> bool {
        self.pending()
    }

    fn may_ask(&self, clocks: &Clocks, now: Picos, _: bool) -> bool {
        self.enabled() && self.next_event(&clocks.lfxt, now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_back_and_leap_years_are_leap_years() {
        for (y, m, d) in
            [(2000, 2, 29), (1999, 12, 31), (2026, 11, 21), (2100, 3, 1), (2024, 2, 29)]
        {
            assert_eq!(date(days(y, m, d)), (y, m, d));
        }
        assert_eq!(days(2100, 3, 1) - days(2100, 2, 28), 1);
        assert_eq!(days(2000, 3, 1) - days(2000, 2, 28), 2);
        assert_eq!(days(1970, 1, 1), 719_468);
    }

    #[test]
    fn the_alarm_is_found_weeks_ahead_and_time_events_are_strictly_behind() {
        let mut r = Rtc::new(Layout::C);
        r.seconds = days(2026, 11, 21) * DAY + 12 * 3600;
        r.alarm = [0x80 | 30, 0x80 | 6, 0, 0x80 | 3];
        let at = r.next_alarm(r.seconds).unwrap();
        assert_eq!(at, days(2026, 12, 3) * DAY + 6 * 3600 + 30 * 60);
        assert_eq!(r.next_time_event(r.seconds) - r.seconds, 60);
        r.ctl13 = RTCTEV;
        assert_eq!(r.next_time_event(r.seconds) - r.seconds, DAY, "noon, at noon: tomorrow's");
        assert_eq!(r.next_time_event(r.seconds - 1), r.seconds);
    }

    #[test]
    fn bcd_there_and_back() {
        assert_eq!(to_bcd(2026), 0x2026);
        assert_eq!(from_bcd(0x0959), 959);
    }
}
