// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer/Counters 0 and 2 (8 bits) and 1 and 3 (16 bits), with their prescalers. The counter is not stepped: it follows
//! from ticks. Clocks from pins are refused.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::Cx;

/// Flags and interrupt enables, in an order of our own.
pub(crate) const TOV: u8 = 1 << 0;
pub(crate) const OCFA: u8 = 1 << 1;
pub(crate) const OCFB: u8 = 1 << 2;
pub(crate) const OCFC: u8 = 1 << 3;
pub(crate) const ICF: u8 = 1 << 4;

/// Registers, in an order of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reg {
    Tccra,
    Tccrb,
    Tccrc,
    TcntL,
    TcntH,
    OcrL(usize),
    OcrH(usize),
    IcrL,
    IcrH,
}

/// Prescalers: tap of each value of CSn2:0. Zero is stopped.
const TAPS_0: [u64; 8] = [0, 1, 8, 32, 64, 128, 256, 1024];
const TAPS_321: [u64; 8] = [0, 1, 8, 64, 256, 1024, 0, 0];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Normal,
    /// Clear on compare match, the top in OCRnA or ICRn.
    Ctc,
    FastPwm,
    /// Up to the top and down again; new compare values are taken over at the top.
    PhaseCorrect,
    /// The same, but they are taken over at the bottom.
    PhaseAndFrequencyCorrect,
}

impl Mode {
    fn turns(self) -> bool {
        matches!(self, Self::PhaseCorrect | Self::PhaseAndFrequencyCorrect)
    }

    fn buffers(self) -> bool {
        self == Self::FastPwm || self.turns()
    }
}

/// A prescaler: its ten bits count from `origin`; held by TSM it and its timers stand still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prescaler {
    pub origin: u64,
    pub held: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timer {
    wide: bool,
    /// Timer 0 has a prescaler with other taps.
    is_0: bool,
    tccra: u8,
    tccrb: u8,
    ocr: [u16; 3],
    /// What a PWM mode puts into OCRnx at the bottom.
    buffer: [Option<u16>; 3],
    icr: u16,
    temp: u8,
    count: u16,
    /// On the way down in a mode that turns.
    falling: bool,
    /// The tick at which the counter held `count`.
    at: u64,
    /// TCNTn was written: the compare match of the next timer clock is blocked.
    blocked: bool,
    pub flags: u8,
    pub enabled: u8,
    /// The tick in which a pin's edge is captured.
    capture: Option<u64>,
    /// OCnx, the registers behind the output pins, a bit each.
    outs: u8,
    /// Their edges since somebody asked: the tick, the channel, its level.
    #[serde(skip)]
    pub edges: Vec<(u64, usize, bool)>,
}

impl Timer {
    pub fn new(number: u8) -> Self {
        Self { wide: number % 2 == 1, is_0: number == 0, ..Self::default() }
    }

    pub fn reset(&mut self, tick: u64) {
        let number = match (self.is_0, self.wide) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        };
        *self = Self { at: tick, ..Self::new(number) };
    }

    fn max(&self) -> u16 {
        if self.wide { 0xFFFF } else { 0xFF }
    }

    fn channels(&self) -> usize {
        if self.wide { 3 } else { 1 }
    }

    /// Waveform generation bits: WGMn3:0 (16 bits), or WGMn1:0 with WGMn0 lowest.
    fn wgm(&self) -> u8 {
        if self.wide {
            self.tccra & 3 | self.tccrb >> 1 & 0xC
        } else {
            self.tccrb >> 6 & 1 | self.tccrb >> 2 & 2
        }
    }

    /// `None` for modes that are not modelled or reserved.
    fn mode(&self) -> Option<(Mode, u16)> {
        let max = self.max();
        Some(match (self.wide, self.wgm()) {
            (_, 0) => (Mode::Normal, max),
            (false, 1) => (Mode::PhaseCorrect, max),
            (false, 2) => (Mode::Ctc, self.ocr[0]),
            (false, 3) => (Mode::FastPwm, max),
            (true, 1) => (Mode::PhaseCorrect, 0x00FF),
            (true, 2) => (Mode::PhaseCorrect, 0x01FF),
            (true, 3) => (Mode::PhaseCorrect, 0x03FF),
            (true, 8) => (Mode::PhaseAndFrequencyCorrect, self.icr),
            (true, 9) => (Mode::PhaseAndFrequencyCorrect, self.ocr[0]),
            (true, 10) => (Mode::PhaseCorrect, self.icr),
            (true, 11) => (Mode::PhaseCorrect, self.ocr[0]),
            (true, 4) => (Mode::Ctc, self.ocr[0]),
            (true, 12) => (Mode::Ctc, self.icr),
            (true, 5) => (Mode::FastPwm, 0x00FF),
            (true, 6) => (Mode::FastPwm, 0x01FF),
            (true, 7) => (Mode::FastPwm, 0x03FF),
            (true, 14) => (Mode::FastPwm, self.icr),
            (true, 15) => (Mode::FastPwm, self.ocr[0]),
            _ => return None,
        })
    }

    pub fn top_is_icr(&self) -> bool {
        self.wide && matches!(self.wgm(), 8 | 10 | 12 | 14)
    }

    fn divider(&self, prescaler: Prescaler) -> u64 {
        if prescaler.held {
            return 0;
        }
        let taps = if self.is_0 { &TAPS_0 } else { &TAPS_321 };
        taps[usize::from(self.tccrb & 7)]
    }

    /// Timer clocks from tick `a` (excluded) to tick `b`.
    fn clocks(a: u64, b: u64, origin: u64, divider: u64) -> u64 {
        let taps = |tick: u64| tick.saturating_sub(origin) / divider;
        taps(b) - taps(a)
    }

    // ---- output units (2467X, tables of the COM bits)

    /// COMnx1:0 of a channel; 0 where the pin is its port's.
    pub fn com(&self, i: usize) -> u8 {
        if self.wide { self.tccra >> (6 - 2 * i) & 3 } else { self.tccrb >> 4 & 3 }
    }

    /// Tells if a channel drives its pin: the PWM modes toggle OCnA alone, and that where OCRnA is the top.
    pub fn connected(&self, i: usize) -> bool {
        let pwm = self.mode().is_some_and(|m| m.0.buffers());
        match self.com(i) {
            0 => false,
            1 if pwm => self.wide && i == 0 && matches!(self.wgm(), 9 | 11 | 15),
            _ => true,
        }
    }

    /// Level of a channel's OCnx, which its pin has once it is given to it.
    pub fn out(&self, i: usize) -> bool {
        self.outs >> i & 1 != 0
    }

    fn set_out(&mut self, i: usize, level: bool) {
        if self.out(i) == level {
            return;
        }
        self.outs ^= 1 << i;
        // A match and the bottom in one tick leave the pin as it was.
        match self.edges.iter().position(|e| (e.0, e.1) == (self.at, i)) {
            Some(back) => drop(self.edges.remove(back)),
            None => self.edges.push((self.at, i, level)),
        }
    }

    /// The counter has left the value of channel `i`, on its way down or not.
    fn matched(&mut self, i: usize, falling: bool) {
        match self.com(i) {
            _ if !self.connected(i) => {}
            1 => self.set_out(i, !self.out(i)),
            com => self.set_out(i, (com == 3) != falling),
        }
    }

    /// The counter of a fast PWM begins anew.
    fn at_bottom(&mut self) {
        for i in 0..self.channels() {
            if self.com(i) > 1 {
                self.set_out(i, self.com(i) == 2);
            }
        }
    }

    /// FOCnx: what a match does to the output, without its flag.
    fn force(&mut self, i: usize) {
        if self.mode().is_some_and(|m| !m.0.buffers()) {
            self.matched(i, false);
        }
    }

    /// Flags that an output goes by, whether they are set or not.
    fn moving(&self) -> u8 {
        let channels = (0..self.channels()).filter(|i| self.connected(*i));
        let matches = channels.fold(0, |all, i| all | OCFA << i);
        let fast = self.mode().is_some_and(|m| m.0 == Mode::FastPwm);
        matches | if matches != 0 && fast { TOV } else { 0 }
    }

    /// Tells if a channel goes on moving its pin by itself.
    pub fn swings(&self, i: usize, prescaler: Prescaler) -> bool {
        self.connected(i) && self.divider(prescaler) != 0
    }

    /// The end of the ramp that the counter is on.
    fn end(&self, mode: Mode, top: u16) -> u16 {
        // A top that is passed already, or whose match is blocked, is not met before the maximum.
        let missed = self.count > top || mode == Mode::Ctc && self.blocked && self.count == top;
        if missed { self.max() } else { top }
    }

    /// Brings counter and flags to `tick`.
    pub fn advance(&mut self, tick: u64, prescaler: Prescaler) {
        let divider = self.divider(prescaler);
        let before = self.at;
        self.at = tick.max(before);
        if divider == 0 || tick <= before {
            return;
        }
        let mut left = Self::clocks(before, tick, prescaler.origin, divider);
        let mut ramps = 0;
        while left > 0 {
            let Some((mode, top)) = self.mode() else { return };
            if mode.turns() && top == 0 {
                self.count = 0;
                return;
            }
            if mode.turns() {
                left -= self.turn(left, mode, top);
                ramps += 1;
                if ramps > 5 {
                    left %= 2 * u64::from(top).max(1);
                }
                continue;
            }
            let end = self.end(mode, top);
            let whole = u64::from(end - self.count) + 1;
            let part = left.min(whole);
            for i in 0..self.channels() {
                let ahead = u64::from(self.ocr[i]).wrapping_sub(u64::from(self.count));
                let is_blocked = self.blocked && ahead == 0;
                if ahead < part && !is_blocked {
                    self.flags |= OCFA << i;
                    self.matched(i, false);
                }
            }
            self.blocked = false;
            left -= part;
            if part < whole {
                self.count += part as u16;
                return;
            }
            if mode == Mode::FastPwm || end == self.max() {
                self.flags |= TOV;
            }
            if self.top_is_icr() && end == top {
                self.flags |= ICF;
            }
            if mode == Mode::FastPwm {
                self.update_buffers();
                self.at_bottom();
            }
            self.count = 0;
            ramps += 1;
            if ramps > 2 {
                // Every flag of a whole ramp is set by now.
                left %= u64::from(self.mode().map_or(0, |m| m.1)) + 1;
            }
        }
    }

    /// Counts on in a mode that turns, at most to where it turns next; answers by how much. A flag comes with the clock
    /// that leaves the value it stands for (2467X, timing diagrams of the timers).
    fn turn(&mut self, left: u64, mode: Mode, top: u16) -> u64 {
        let (taken, flags) = self.leaves(left, mode, top);
        self.flags |= flags;
        for i in (0..self.channels()).filter(|i| flags & OCFA << i != 0) {
            self.matched(i, self.falling);
        }
        self.blocked = false;
        if self.falling {
            self.count -= taken as u16;
            if self.count == 0 {
                self.falling = false;
                if mode == Mode::PhaseAndFrequencyCorrect {
                    self.update_buffers();
                }
            }
        } else {
            self.count += taken as u16;
            if self.count >= top {
                self.falling = true;
                if mode == Mode::PhaseCorrect {
                    self.update_buffers();
                }
            }
        }
        taken
    }

    /// Clocks of `left` up to the next turn, and the flags of the values that the counter leaves by them.
    fn leaves(&self, left: u64, mode: Mode, top: u16) -> (u64, u8) {
        debug_assert!(mode.turns());
        // A top that is passed already is turned at.
        let whole = if self.falling { self.count } else { top.saturating_sub(self.count) };
        if whole == 0 {
            return (0, 0);
        }
        let taken = left.min(whole.into()) as u16;
        let mut flags = 0;
        for i in 0..self.channels() {
            let ahead = if self.falling {
                self.count.checked_sub(self.ocr[i])
            } else {
                self.ocr[i].checked_sub(self.count)
            };
            let is_blocked = self.blocked && ahead == Some(0);
            if ahead.is_some_and(|n| n < taken) && !is_blocked {
                flags |= OCFA << i;
            }
        }
        if !self.falling && self.count == 0 {
            flags |= TOV;
        }
        if self.falling && self.count >= top && self.top_is_icr() {
            flags |= ICF;
        }
        (taken.into(), flags)
    }

    /// Clocks until a flag among `wanted` is set in a mode that turns.
    fn until_flag(&self, wanted: u8) -> Option<u64> {
        let (mut then, mut passed) = (self.clone(), 0);
        // A ramp, and both of a whole period behind it, with the turns between.
        for _ in 0..8 {
            let (mode, top) = then.mode()?;
            let (whole, flags) = then.leaves(u64::MAX, mode, top);
            if flags & wanted != 0 {
                let sets = |n: u64| then.leaves(n, mode, top).1 & wanted != 0;
                let (mut least, mut most) = (1, whole);
                while least < most {
                    let middle = (least + most) / 2;
                    if sets(middle) { most = middle } else { least = middle + 1 }
                }
                return Some(passed + least);
            }
            passed += then.turn(u64::MAX, mode, top);
        }
        None
    }

    fn update_buffers(&mut self) {
        for (ocr, buffer) in self.ocr.iter_mut().zip(&mut self.buffer) {
            *ocr = buffer.take().unwrap_or(*ocr);
        }
    }

    /// TCNTn at `tick`, flags untouched.
    pub fn value(&self, tick: u64, prescaler: Prescaler) -> u16 {
        let mut then = self.clone();
        then.advance(tick, prescaler);
        then.count
    }

    /// The tick at which a flag that is enabled and not yet set is next set.
    pub fn next_flag(&self, prescaler: Prescaler) -> Option<u64> {
        let capture = self.capture;
        let divider = self.divider(prescaler);
        let wanted = self.enabled & !self.flags | self.moving();
        if divider == 0 || wanted == 0 {
            return capture;
        }
        let (mode, top) = self.mode()?;
        let at = |clocks: u64| {
            let taps = self.at.saturating_sub(prescaler.origin) / divider;
            let tick = prescaler.origin + (taps + clocks) * divider;
            Some(capture.map_or(tick, |c| c.min(tick)))
        };
        if mode.turns() {
            return self.until_flag(wanted).map_or(capture, at);
        }
        let end = self.end(mode, top);
        let left = u64::from(end - self.count) + 1;
        let mut next = u64::MAX;
        for i in 0..self.channels() {
            if wanted & OCFA << i == 0 {
                continue;
            }
            // A new value in the buffer counts from the bottom on.
            let later = self.buffer[i].unwrap_or(self.ocr[i]);
            let ocr = self.ocr[i];
            let blocked = self.blocked && ocr == self.count;
            if ocr >= self.count && ocr <= end && !blocked {
                next = next.min(u64::from(ocr - self.count) + 1);
            } else if later <= top {
                next = next.min(left + u64::from(later) + 1);
            }
        }
        if wanted & TOV != 0 && (mode == Mode::FastPwm || end == self.max()) {
            next = next.min(left);
        } else if wanted & TOV != 0 && top == self.max() {
            next = next.min(left + u64::from(top) + 1);
        }
        if wanted & ICF != 0 && self.top_is_icr() {
            next = next.min(if end == top { left } else { left + u64::from(top) + 1 });
        }
        if next == u64::MAX {
            return capture;
        }
        at(next)
    }

    /// The counter goes on from tick `tick` of another clock, or of the same behind a pause.
    pub fn move_to(&mut self, tick: u64) {
        self.at = tick;
    }

    /// A write that is known to be allowed, taken over late.
    pub fn write_checked(&mut self, reg: Reg, value: u8) {
        match reg {
            Reg::Tccrb => self.tccrb = value & 0x7F,
            Reg::TcntL => {
                self.count = value.into();
                self.blocked = true;
            }
            _ => self.ocr[0] = value.into(),
        }
    }

    /// Whether it may yet set a flag that is enabled.
    pub fn may_interrupt(&self, prescaler: Prescaler) -> bool {
        self.enabled & self.flags != 0 || self.next_flag(prescaler).is_some()
    }

    /// An edge at the capture pin; `tick` is the next tick of clk_I/O.
    pub fn capture_edge(&mut self, rising: bool, tick: u64) {
        if self.wide && (self.tccrb & 0x40 != 0) == rising && !self.top_is_icr() {
            // The synchronizer and the edge detector (2.5 to 3.5 ticks), four more with the noise canceler.
            self.capture = Some(tick + if self.tccrb & 0x80 != 0 { 6 } else { 2 });
        }
    }

    /// Carries out a capture that is due.
    pub fn event(&mut self, tick: u64, prescaler: Prescaler) {
        if let Some(at) = self.capture.filter(|at| *at <= tick) {
            self.advance(at, prescaler);
            self.icr = self.count;
            self.flags |= ICF;
            self.capture = None;
        }
        self.advance(tick, prescaler);
    }

    /// `tick` is the one of the access; the counter is there already.
    pub fn read(&mut self, reg: Reg) -> u8 {
        match reg {
            Reg::Tccra => self.tccra,
            Reg::Tccrb => self.tccrb,
            Reg::Tccrc => 0,
            Reg::TcntL => {
                self.temp = (self.count >> 8) as u8;
                self.count as u8
            }
            // High bytes of the counter and the capture register come from TEMP, of OCRnx from itself.
            Reg::TcntH | Reg::IcrH => self.temp,
            Reg::OcrL(i) => self.buffer[i].unwrap_or(self.ocr[i]) as u8,
            Reg::OcrH(i) => (self.buffer[i].unwrap_or(self.ocr[i]) >> 8) as u8,
            Reg::IcrL => {
                self.temp = (self.icr >> 8) as u8;
                self.icr as u8
            }
        }
    }

    /// `tick` is the one from which on the write shows; the counter is there already.
    pub fn write(&mut self, reg: Reg, value: u8, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let whole = if self.wide { u16::from(self.temp) << 8 } else { 0 } | u16::from(value);
        match reg {
            Reg::Tccra => {
                self.tccra = value;
                self.check_mode(cx)?;
            }
            Reg::Tccrb => {
                if !self.is_0 && value & 7 >= 6 {
                    return Err(cx.refuse(
                        "a timer clocked from its pin Tn (CSn2:0 6 or 7) is not modelled; use a tap of the prescaler",
                    ));
                }
                // FOC bits are strobes that read as zero.
                self.tccrb = if self.wide { value & 0xDF } else { value & 0x7F };
                self.check_mode(cx)?;
                if !self.wide && value & 0x80 != 0 {
                    self.force(0);
                }
            }
            Reg::Tccrc => {
                (0..3).filter(|i| value & 0x80 >> i != 0).for_each(|i| self.force(i));
            }
            Reg::TcntL => {
                self.count = whole;
                self.blocked = true;
            }
            Reg::TcntH | Reg::OcrH(_) | Reg::IcrH => self.temp = value,
            Reg::OcrL(i) => match self.mode() {
                Some((mode, _)) if mode.buffers() => self.buffer[i] = Some(whole),
                _ => self.ocr[i] = whole,
            },
            Reg::IcrL => {
                if !self.top_is_icr() {
                    return Err(cx.refuse(
                        "ICRn can be written only in a mode that has its top there (WGMn3:0 8, 10, 12, 14)",
                    ));
                }
                self.icr = whole;
            }
        }
        Ok(())
    }

    fn check_mode(&mut self, cx: &Cx<'_>) -> Result<(), Fault> {
        match self.mode() {
            Some((mode, _)) => {
                if !mode.buffers() {
                    self.update_buffers();
                }
                self.falling &= mode.turns();
                Ok(())
            }
            // The bits of a 16-bit timer come in two registers: what is reserved in between must not run.
            None if self.tccrb & 7 == 0 => Ok(()),
            None => Err(cx.refuse("waveform generation mode 13 (WGMn3:0) is reserved")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Prescaler = Prescaler { origin: 0, held: false };

    fn timer(number: u8, tccrb: u8, ocr: u16) -> Timer {
        Timer { tccrb, ocr: [ocr, 0xFFFF, 0xFFFF], ..Timer::new(number) }
    }

    #[test]
    fn flags_come_with_the_tick_behind_the_match_and_the_overflow() {
        let mut t = timer(2, 1, 5);
        t.advance(5, FREE);
        assert_eq!((t.count, t.flags), (5, 0));
        t.advance(6, FREE);
        assert_eq!((t.count, t.flags), (6, OCFA));
        t.advance(255, FREE);
        assert_eq!((t.count, t.flags), (255, OCFA));
        t.advance(256, FREE);
        assert_eq!((t.count, t.flags), (0, OCFA | TOV));
    }

    #[test]
    fn ctc_clears_at_the_top_and_a_top_that_is_passed_is_met_behind_the_maximum() {
        let mut t = timer(2, 0x09, 3); // WGM21, CS20
        t.advance(4, FREE);
        assert_eq!((t.count, t.flags), (0, OCFA));
        t.flags = 0;
        t.ocr[0] = 1;
        t.count = 2;
        t.advance(4 + 254, FREE);
        assert_eq!((t.count, t.flags), (0, TOV));
    }

    /// Timer 2 phase correct, by 2467X, phase correct PWM mode: up to 0xFF and down, 510 clocks a period; compare values are taken
    /// over at the top, TOV comes at the bottom.
    #[test]
    fn phase_correct_it_counts_up_and_down() {
        let mut t = timer(2, 0x41, 100);
        let mut counts = Vec::new();
        let mut set = Vec::new();
        for tick in 1..=1020 {
            t.flags = 0;
            t.advance(tick, FREE);
            counts.push(t.count);
            if t.flags != 0 {
                set.push((tick, t.flags));
            }
            if tick == 120 {
                t.buffer[0] = Some(50);
            }
        }
        assert_eq!(counts[253..258], [254, 255, 254, 253, 252]);
        assert_eq!(counts[507..513], [2, 1, 0, 1, 2, 3]);
        // From a start at 0, which is a bottom: 100 on the way up, then 50 down, up and down.
        let (down, up) = (255 + 205 + 1, 510 + 50 + 1);
        assert_eq!(
            set,
            [(1, TOV), (101, OCFA), (down, OCFA), (511, TOV), (up, OCFA), (down + 510, OCFA)]
        );
    }

    /// next_flag against advance, tick by tick, over modes, taps, values and writes of the counter.
    #[test]
    fn the_next_flag_is_the_one_that_advancing_finds() {
        for (number, tccra, tccrb) in [
            (2, 0, 0x01),
            (2, 0, 0x0A),
            (2, 0, 0x49),
            (2, 0, 0x41),
            (1, 1, 0x02),
            (1, 3, 0x11),
            (1, 0, 0x01),
            (1, 0, 0x09),
            (1, 1, 0x0A),
            (0, 0, 0x0B),
        ] {
            for (count, ocr, at, blocked) in [
                (0, 0, 3, false),
                (5, 5, 9, true),
                (5, 5, 9, false),
                (200, 7, 1, false),
                (250, 255, 70, false),
            ] {
                for enabled in [TOV, OCFA, TOV | OCFA] {
                    let mut t = timer(number, tccrb, ocr);
                    (t.tccra, t.count, t.at, t.enabled, t.blocked) =
                        (tccra, count, at, enabled, blocked);
                    let prescaler = Prescaler { origin: 2, held: false };
                    let next = t.next_flag(prescaler);
                    let found = (at + 1..at + 70_000 * 8).find(|&tick| {
                        let mut then = t.clone();
                        then.advance(tick, prescaler);
                        then.flags & enabled != 0
                    });
                    // Advancing in one go and tick by tick agree.
                    let mut steps = t.clone();
                    (at + 1..=at + 3000).for_each(|tick| steps.advance(tick, prescaler));
                    let mut leap = t.clone();
                    leap.advance(at + 3000, prescaler);
                    assert_eq!(steps, leap);
                    let what =
                        format!("timer {number} {tccrb:#x} from {count} to {ocr}, {enabled}");
                    match next {
                        Some(_) => assert_eq!(next, found, "{what}"),
                        None => assert_eq!(found, None, "{what}"),
                    }
                }
            }
        }
    }
}
