// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer_A and Timer_B: counter, compare (with Timer_B's latches), capture of ACLK and of pins, output units.
//!
//! The counter is not stepped: its value follows from the clock line's ticks, and events are
//! scheduled where a flag that is clear will be set.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::timer_a::{
    CAP, CCI, CCIE, CCIFG, CCIS, CM, CM_1, CM_2, COV, ID, MC, OUT, OUTMOD, TACCR0, TACCTL0, TACLR,
    TACTL, TAEX0, TAIE, TAIFG, TAIV, TAR, TASSEL,
};
use sunseal_registers::msp430fr5xx::timer_b::{CLLD, CNTL, TBCLGRP};
use sunseal_trace::Picos;

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;
use crate::clock::{Clocks, Line};
use crate::lint::LintKind;

pub(crate) const MAX_CCRS: usize = 7;

const COUNTER_MAX: [u32; 4] = [0xFFFF, 0x0FFF, 0x03FF, 0x00FF];

const TAIV_OVERFLOW: u16 = 0x0E;
/// Of a Timer_A3 of the MSP430x1xx (SLAU049, TAIV).
const TAIV_OVERFLOW_A3: u16 = 0x0A;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimerA {
    ccrs: usize,
    is_b: bool,
    iv_overflow: u16,
    ctl: u16,
    ex0: u16,
    cctl: [u16; MAX_CCRS],
    ccr: [u16; MAX_CCRS],
    /// What is compared with: TBCLx, which Timer_B loads from TBCCRx; the same register in Timer_A.
    compared: [u16; MAX_CCRS],
    /// TBCCRx written and not yet loaded.
    fresh: [bool; MAX_CCRS],
    /// Position in the counting period at source tick `origin`.
    position: u32,
    /// Where the present period of up/down mode turns: TACCR0 as it was on the way up, or a count beyond it.
    peak: u32,
    /// Stopped in up/down mode while counting down, which it goes on with (SLAU367P 25.2.3.4).
    stopped_falling: bool,
    origin: u64,
    /// ACLK is wired to capture inputs A and B of each block.
    pub aclk_inputs: [[bool; 2]; MAX_CCRS],
    /// A pin is wired to them, and its level.
    pub pin_inputs: [[bool; 2]; MAX_CCRS],
    levels: [[bool; 2]; MAX_CCRS],
    /// ACLK ticks seen by each capture block.
    captured: [u64; MAX_CCRS],
    /// A captured value that nobody has read: the next capture sets COV.
    unread: [bool; MAX_CCRS],
    /// Levels of the output units.
    outs: u8,
    /// Their edges since somebody asked: when, which unit, and its level.
    #[serde(skip)]
    pub edges: Vec<(Picos, usize, bool)>,
    /// Units whose pins the device's data name.
    pub routed: u8,
    /// Somebody asks for their edges.
    pub followed: bool,
}

impl TimerA {
    pub fn new(ccrs: u8, is_b: bool) -> Self {
        Self {
            ccrs: usize::from(ccrs).min(MAX_CCRS),
            is_b,
            iv_overflow: TAIV_OVERFLOW,
            ..Self::default()
        }
    }

    /// A Timer_A3 of the MSP430x1xx, whose vector register has another code for the overflow.
    pub fn of_1xx(ccrs: u8) -> Self {
        Self { iv_overflow: TAIV_OVERFLOW_A3, ..Self::new(ccrs, false) }
    }

    pub fn reset(&mut self) {
        *self = Self {
            aclk_inputs: self.aclk_inputs,
            pin_inputs: self.pin_inputs,
            levels: self.levels,
            iv_overflow: self.iv_overflow,
            routed: self.routed,
            followed: self.followed,
            ..Self::new(self.ccrs as u8, self.is_b)
        };
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> Option<&'a Line> {
        match self.ctl & TASSEL {
            0x0100 => Some(&clocks.aclk),
            0x0200 => Some(&clocks.smclk),
            _ => None,
        }
    }

    fn divider(&self) -> u64 {
        (1 << ((self.ctl & ID) >> 6)) * u64::from(self.ex0 + 1)
    }

    fn running(&self) -> bool {
        match self.ctl & MC {
            0x00 => false,
            0x20 => true,
            _ => self.compared[0] != 0,
        }
    }

    fn period(&self) -> u32 {
        match self.ctl & MC {
            0x10 => self.top() + 1,
            0x30 => 2 * self.peak,
            _ => self.counter_max() + 1,
        }
    }

    fn counter_max(&self) -> u32 {
        if self.is_b { COUNTER_MAX[usize::from(self.ctl & CNTL) >> 11] } else { 0xFFFF }
    }

    /// Where up mode rolls over and up/down mode turns.
    fn top(&self) -> u32 {
        u32::from(self.compared[0]).min(self.counter_max())
    }

    fn shown(&self, (position, peak): (u32, u32)) -> u16 {
        if self.ctl & MC == 0x30 && position > peak {
            (2 * peak - position) as u16
        } else {
            position as u16
        }
    }

    /// TAxR as it was latched.
    fn value(&self) -> u16 {
        self.shown((self.position, self.peak))
    }

    fn counts(&self, clocks: &Clocks, t: Picos) -> u64 {
        match self.line(clocks) {
            Some(line) if self.running() => {
                line.ticks_at(t).saturating_sub(self.origin) / self.divider()
            }
            _ => 0,
        }
    }

    /// Position and peak so many counts on.
    fn after(&self, n: u64) -> (u32, u32) {
        if n == 0 {
            return (self.position, self.peak);
        }
        let (ahead, period) = (u64::from(self.base()) + n, u64::from(self.period()));
        match ahead.checked_sub(period) {
            // At zero a new TACCR0 takes effect.
            Some(over) if self.ctl & MC == 0x30 => {
                ((over % u64::from(2 * self.top())) as u32, self.top())
            }
            _ => ((ahead % period) as u32, self.peak),
        }
    }

    fn value_at(&self, clocks: &Clocks, t: Picos) -> u16 {
        self.shown(self.after(self.counts(clocks, t)))
    }

    /// On the way down in up/down mode, or stopped there.
    fn falls(&self) -> bool {
        match self.ctl & MC {
            0 => self.stopped_falling,
            0x30 => self.position > self.peak,
            _ => false,
        }
    }

    /// The position that counting goes on from: in up mode a count beyond the top rolls over next.
    fn base(&self) -> u32 {
        match self.ctl & MC {
            0x10 => self.position.min(self.top()),
            _ => self.position,
        }
    }

    /// Takes the counter to `t`, keeping the divider's phase.
    fn latch(&mut self, clocks: &Clocks, t: Picos) {
        let n = self.counts(clocks, t);
        (self.position, self.peak) = self.after(n);
        if n != 0 {
            self.origin += n * self.divider();
        }
    }

    /// After a change of mode or period: a position beyond the period's end rolls over at the next count, in up/down mode
    /// it turns there. `falls` is the direction kept from before.
    fn settle(&mut self, clocks: &Clocks, t: Picos, value: u16, falls: bool, was_running: bool) {
        // TAxCCR0 of 0 stops the timer at zero, from where it starts again (SLAU356I 19.2.2).
        let cleared = self.ctl & MC & 0x10 != 0 && self.compared[0] == 0;
        let count = if cleared { 0 } else { u32::from(value).min(self.counter_max()) };
        let falls = falls && count != 0;
        (self.position, self.peak) = match self.ctl & MC {
            // One behind a peak one above it: the way up to there is over.
            0x30 if falls => (count + 2, count + 1),
            _ => (count, count.max(self.top())),
        };
        self.stopped_falling = falls;
        if self.running() && !was_running {
            self.origin = self.line(clocks).map_or(0, |l| l.ticks_at(t));
        }
    }

    /// A write has started the timer or set its count: it counts from some cycles of MCLK on, where a switch has it so.
    fn count_later(&mut self, cx: &Ctx<'_>) {
        let cycles = cx.dev.timer_write_cycles();
        if let (Some(line), Some(wait), true) =
            (self.line(cx.clocks), cx.clocks.mclk.lasting(cycles), cycles != 0)
        {
            let from = Picos(cx.now.0 + wait);
            self.origin += line.ticks_at(from) - line.ticks_at(cx.now);
        }
    }

    /// Counts from position `p` until position `q`, at least one.
    fn until_position(&self, p: u32, q: u32) -> u64 {
        let period = self.period();
        if q >= period {
            return u64::MAX;
        }
        let d = (q + period - p % period) % period;
        u64::from(if d == 0 { period } else { d })
    }

    /// Counts until the count is `v`, on the way up or, where it `falls_to` that too, down.
    fn until_value(&self, v: u16, falls_to: bool) -> u64 {
        let (p, v) = (self.base(), u32::from(v));
        if self.ctl & MC != 0x30 {
            return self.until_position(p, v);
        }
        let zero = self.period() - p;
        if v == 0 {
            return zero.into();
        }
        let down = 2 * self.peak.max(v) - v;
        if v > p && v <= self.peak {
            u64::from(v - p)
        } else if v < self.peak && falls_to && down > p {
            u64::from(down - p)
        } else if v <= self.top() {
            u64::from(zero) + u64::from(v)
        } else {
            u64::MAX
        }
    }

    fn until_zero(&self) -> u64 {
        self.until_value(0, true)
    }

    /// Counts until TACCR`i`, to which TACCR0 alone comes on the way up only (SLAU367P 25.2.3.4).
    fn until_compared(&self, i: usize) -> u64 {
        self.until_value(self.compared[i], i != 0)
    }

    /// Counts until the top.
    fn until_top(&self) -> u64 {
        self.until_value(self.top() as u16, false)
    }

    fn captures_aclk(&self, i: usize) -> bool {
        let c = self.cctl[i];
        c & CAP != 0
            && c & CM != 0
            && matches!(c & CCIS, 0 | 0x1000)
            && self.aclk_inputs[i][usize::from(c >> 12 & 1)]
    }

    fn time_of_counts(&self, clocks: &Clocks, n: u64) -> Option<Picos> {
        let line = self.line(clocks)?;
        let ticks = n.checked_mul(self.divider())?.checked_add(self.origin)?;
        let t = line.time_of(ticks);
        (t != Picos::MAX).then_some(t)
    }

    pub fn next_event(&self, clocks: &Clocks) -> Option<Picos> {
        let mut next: Option<Picos> = None;
        let mut sooner = |t: Option<Picos>| {
            if let Some(t) = t {
                next = Some(next.map_or(t, |n: Picos| n.min(t)));
            }
        };
        if self.running() {
            // The fewest counts come first, so only their time is computed.
            let mut fewest = u64::MAX;
            if self.ctl & TAIFG == 0 {
                fewest = self.until_zero();
            }
            for i in 0..self.ccrs {
                if self.cctl[i] & (CAP | CCIFG) == 0 {
                    fewest = fewest.min(self.until_compared(i));
                }
            }
            if let Some((n, _)) = self.next_load() {
                fewest = fewest.min(n);
            }
            if let Some(n) = self.next_output() {
                fewest = fewest.min(n);
            }
            if fewest != u64::MAX {
                sooner(self.time_of_counts(clocks, fewest));
            }
        }
        for i in 0..self.ccrs {
            if self.captures_aclk(i) {
                let t = clocks.aclk.time_of(self.captured[i] + 1);
                sooner((t != Picos::MAX).then_some(t));
            }
        }
        next
    }

    /// Sets the flags that fell due up to `now`.
    pub fn event(&mut self, clocks: &Clocks, now: Picos) {
        while let Some((n, group)) = self.next_load().filter(|l| l.0 <= self.counts(clocks, now)) {
            let t = self.time_of_counts(clocks, n).map_or(now, |t| t.min(now));
            self.flags(clocks, t);
            let (count, falls) = (self.value(), self.falls());
            let was_running = self.running();
            self.load(group);
            self.settle(clocks, t, count, falls, was_running);
        }
        self.flags(clocks, now);
    }

    fn flags(&mut self, clocks: &Clocks, now: Picos) {
        for i in 0..self.ccrs {
            while self.captures_aclk(i) {
                let t = clocks.aclk.time_of(self.captured[i] + 1);
                if t > now {
                    break;
                }
                self.captured[i] += 1;
                let value = self.value_at(clocks, t);
                self.capture(i, value);
            }
        }
        while self.running() {
            let n = self.counts(clocks, now);
            match self.next_output().filter(|step| *step <= n) {
                Some(step) => self.output_at(step, clocks, now),
                None if n == 0 => break,
                None => {
                    self.pass(n);
                    break;
                }
            }
        }
    }

    /// Counts `n` on, with the flags that this sets.
    fn pass(&mut self, n: u64) {
        if self.until_zero() <= n {
            self.ctl |= TAIFG;
        }
        for i in 0..self.ccrs {
            if self.cctl[i] & CAP == 0 && self.until_compared(i) <= n {
                self.cctl[i] |= CCIFG;
            }
        }
        (self.position, self.peak) = self.after(n);
        self.origin += n * self.divider();
    }

    // ---- output units (SLAU049, section 11.2.5)

    /// Block `i` compares, and its output follows: OUTMODx is not 0, which has OUT itself.
    fn moves(&self, i: usize) -> bool {
        self.cctl[i] & CAP == 0 && self.cctl[i] & OUTMOD != 0
    }

    /// Counts until EQU0 moves outputs. In up mode that is the count to zero: a period of TACCR0 + 1 counts is high for
    /// TACCRx of them in reset/set mode, and a TACCRx of 0 gives no pulse.
    fn until_equ0(&self) -> u64 {
        match self.ctl & MC {
            0x10 => self.until_zero(),
            _ => self.until_top(),
        }
    }

    fn until_equ(&self, i: usize) -> u64 {
        if i == 0 { self.until_equ0() } else { self.until_compared(i) }
    }

    /// Counts until an output moves.
    fn next_output(&self) -> Option<u64> {
        if !self.running() {
            return None;
        }
        let due = (0..self.ccrs).filter(|i| self.moves(*i)).map(|i| {
            let own = self.until_equ(i);
            // Set, toggle and reset alone know no EQU0.
            let alone = matches!((self.cctl[i] & OUTMOD) >> 5, 1 | 4 | 5);
            if alone { own } else { own.min(self.until_equ0()) }
        });
        due.min().filter(|n| *n != u64::MAX)
    }

    /// Counts `step` on, to where outputs move.
    fn output_at(&mut self, step: u64, clocks: &Clocks, now: Picos) {
        let t = self.time_of_counts(clocks, step).map_or(now, |t| t.min(now));
        let equ0 = self.until_equ0() == step;
        let mut levels = self.outs;
        for i in (0..self.ccrs).filter(|i| self.moves(*i)) {
            let (bit, equ) = (1 << i, self.until_equ(i) == step);
            let mode = (self.cctl[i] & OUTMOD) >> 5;
            // Where both come at once the block's own counts.
            match (mode, equ, equ0) {
                (1 | 3, true, _) | (6 | 7, false, true) => levels |= bit,
                (2 | 4 | 6, true, _) => levels ^= bit,
                (5 | 7, true, _) | (2 | 3, false, true) => levels &= !bit,
                _ => {}
            }
        }
        self.pass(step);
        self.set_outs(levels, t);
    }

    fn set_outs(&mut self, levels: u8, t: Picos) {
        let changed = std::mem::replace(&mut self.outs, levels) ^ levels;
        if !self.followed {
            return;
        }
        let units = (0..MAX_CCRS).filter(|i| changed >> i & 1 != 0);
        self.edges.extend(units.map(|i| (t, i, levels >> i & 1 != 0)));
    }

    /// Level of an output unit.
    pub fn out(&self, i: usize) -> bool {
        self.outs >> i & 1 != 0
    }

    /// True if an output unit goes on moving by itself.
    pub fn swings(&self, i: usize) -> bool {
        self.running() && self.moves(i) && self.requests_some()
    }

    fn requests_some(&self) -> bool {
        matches!(self.ctl & TASSEL, 0x0100 | 0x0200)
    }

    // ---- Timer_B's compare latches (SLAU049, section 12.2.4.2)

    /// The blocks that are loaded together with block `i`, and the one whose CLLD says when.
    fn group(&self, i: usize) -> (std::ops::Range<usize>, usize) {
        let size = match (self.ctl & TBCLGRP) >> 13 {
            3 => return (0..self.ccrs, 1),
            0 => return (i..i + 1, i),
            n => usize::from(n) + 1,
        };
        if i == 0 {
            return (0..1, 0);
        }
        let first = (i - 1) / size * size + 1;
        (first..(first + size).min(self.ccrs), first)
    }

    fn load_mode(&self, i: usize) -> u16 {
        if self.is_b { (self.cctl[self.group(i).1] & CLLD) >> 9 } else { 0 }
    }

    /// Counts until the next load of a group that is complete, and a block of it.
    fn next_load(&self) -> Option<(u64, usize)> {
        if !self.running() || !self.fresh.contains(&true) {
            return None;
        }
        let due = |i: usize| {
            let (members, leader) = self.group(i);
            let zero = self.until_zero();
            (self.fresh[i] && self.fresh[members].iter().all(|f| *f)).then(|| {
                match self.load_mode(i) {
                    3 => self.until_compared(leader),
                    2 if self.ctl & MC == 0x30 => zero.min(self.until_top()),
                    _ => zero,
                }
            })
        };
        (0..self.ccrs).filter_map(|i| Some((due(i)?, i))).filter(|l| l.0 != u64::MAX).min()
    }

    fn load(&mut self, i: usize) {
        for k in self.group(i).0 {
            self.compared[k] = self.ccr[k];
            self.fresh[k] = false;
        }
    }

    /// TACCRx or TBCCRx was written.
    fn loaded_at_once(&mut self, i: usize) -> bool {
        if !self.is_b {
            self.compared[i] = self.ccr[i];
            return true;
        }
        self.fresh[i] = true;
        let now = self.load_mode(i) == 0 && self.fresh[self.group(i).0].iter().all(|f| *f);
        if now {
            self.load(i);
        }
        now
    }

    // ---- captures

    /// Tells if block `i` captures edges of its input A (0) or B (1), or those towards `level` alone.
    pub fn captures(&self, i: usize, side: usize, level: Option<bool>) -> bool {
        let c = self.cctl[i];
        let wanted = level.map_or(CM, |high| if high { CM_1 } else { CM_2 });
        c & CAP != 0 && c & wanted != 0 && c & CCIS == (side as u16) << 12
    }

    /// Level of capture input A (0) or B (1) of a block, which a pin feeds.
    pub fn input(&mut self, i: usize, side: usize, level: bool, clocks: &Clocks, now: Picos) {
        if std::mem::replace(&mut self.levels[i][side], level) == level {
            return;
        }
        if self.captures(i, side, Some(level)) {
            self.event(clocks, now);
            self.latch(clocks, now);
            let count = self.value();
            self.capture(i, count);
        }
    }

    /// CCI: the level of the input that a block selects.
    fn input_level(&self, i: usize) -> bool {
        match (self.cctl[i] & CCIS) >> 12 {
            3 => true,
            2 => false,
            side => self.levels[i][usize::from(side)],
        }
    }

    /// Whether a level from outside may raise an enabled interrupt.
    pub fn pins_may_wake(&self) -> bool {
        (0..self.ccrs).any(|i| {
            let c = self.cctl[i];
            c & CAP != 0
                && c & CM != 0
                && c & CCIE != 0
                && c & CCIS < 0x2000
                && self.pin_inputs[i][usize::from(c >> 12 & 1)]
        })
    }

    fn capture(&mut self, i: usize, value: u16) {
        if std::mem::replace(&mut self.unread[i], true) {
            self.cctl[i] |= COV;
        }
        self.ccr[i] = value;
        if !self.is_b {
            self.compared[i] = value;
        }
        self.cctl[i] |= CCIFG;
    }

    /// CCIFG of a block whose interrupt is off, which then is a DMA trigger.
    pub fn dma_flag(&self, i: usize) -> bool {
        self.cctl[i] & (CCIE | CCIFG) == CCIFG
    }

    /// The DMA transfer that the flag asked for begins.
    pub fn clear_flag(&mut self, i: usize) {
        self.cctl[i] &= !CCIFG;
    }

    /// Feeds a capture input, A or B, from ACLK; false if there is no such block.
    pub fn wire_aclk(&mut self, ccr: u8, b: bool) -> bool {
        let block = self.aclk_inputs.get_mut(usize::from(ccr));
        block.is_some_and(|sides| {
            sides[usize::from(b)] = true;
            true
        })
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ctl & TAIE != 0 || self.cctl[..self.ccrs].iter().any(|c| c & CCIE != 0)
    }

    pub fn pending_ccr0(&self) -> bool {
        self.cctl[0] & (CCIE | CCIFG) == CCIE | CCIFG
    }

    pub fn acknowledge_ccr0(&mut self) {
        self.cctl[0] &= !CCIFG;
    }

    pub fn pending(&self) -> bool {
        self.iv().is_some()
    }

    fn iv(&self) -> Option<usize> {
        (1..self.ccrs)
            .find(|&i| self.cctl[i] & (CCIE | CCIFG) == CCIE | CCIFG)
            .or((self.ctl & (TAIE | TAIFG) == TAIE | TAIFG).then_some(MAX_CCRS))
    }

    fn clear_iv(&mut self) -> u16 {
        match self.iv() {
            None => 0,
            Some(MAX_CCRS) => {
                self.ctl &= !TAIFG;
                self.iv_overflow
            }
            Some(i) => {
                self.cctl[i] &= !CCIFG;
                2 * i as u16
            }
        }
    }

    /// TAxCTL is written, with `count` in TAxR.
    fn write_ctl(&mut self, new: u16, count: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        let (falls, was_running) = (self.falls() && new & TACLR == 0, self.running());
        if new & MC != 0 && !matches!(new & TASSEL, 0x0100 | 0x0200) {
            return Err(cx.refuse(
                "timer clocked from a pin (TASSEL 0 or 3) is not modelled; use ACLK or SMCLK",
            ));
        }
        let source_changed = (new ^ self.ctl) & (TASSEL | ID) != 0;
        self.ctl = new & !TACLR;
        let count = if new & TACLR != 0 { 0 } else { count };
        // Only up/down mode has a direction; stopped, it is kept.
        let falls = falls && matches!(new & MC, 0 | 0x30);
        let goes_on = was_running && !source_changed && new & TACLR == 0;
        self.settle(cx.clocks, cx.now, count, falls, goes_on);
        Ok(())
    }

    /// TAxCCTLn is written, with `count` in TAxR.
    fn write_cctl(
        &mut self,
        i: usize,
        value: u16,
        mask: u16,
        count: u16,
        cx: &mut Ctx<'_>,
    ) -> Result<(), Fault> {
        let (old, new) = (self.cctl[i], merge(self.cctl[i], value, mask));
        if new & OUTMOD != 0 && new & CAP == 0 && old & OUTMOD == 0 && self.routed >> i & 1 == 0 {
            cx.lint(LintKind::TimerOutput);
        }
        self.cctl[i] = new & !CCI;
        if new & OUTMOD == 0 {
            let bit = 1 << i;
            let levels = if new & OUT != 0 { self.outs | bit } else { self.outs & !bit };
            self.set_outs(levels, cx.now);
        }
        if new & CAP == 0 || old & !new & COV != 0 {
            self.unread[i] = false;
        }
        if new & CAP != 0 && new & CM != 0 {
            let software = new & CCIS >= 0x2000;
            if self.captures_aclk(i) {
                if new & CM != CM_1 {
                    return Err(
                        cx.refuse("capture of falling ACLK edges is not modelled; use CM = 1")
                    );
                }
                self.captured[i] = cx.clocks.aclk.ticks_at(cx.now);
            } else if !software {
                if !self.pin_inputs[i][usize::from(new >> 12 & 1)] {
                    cx.lint(LintKind::CaptureNobody);
                }
            } else if old & CAP != 0 {
                let edge = match (old & CCIS, new & CCIS) {
                    (0x2000, 0x3000) => CM_1,
                    (0x3000, 0x2000) => CM_2,
                    _ => 0,
                };
                if new & edge != 0 {
                    self.capture(i, count);
                }
            }
        }
        Ok(())
    }

    /// TAxCCRn is written, with `count` in TAxR.
    fn write_ccr(&mut self, i: usize, new: u16, count: u16, cx: &Ctx<'_>) {
        let (falls, was_running) = (self.falls(), self.running());
        self.ccr[i] = new;
        let loaded = self.loaded_at_once(i) && self.group(i).0.contains(&0);
        if loaded && self.ctl & MC & 0x10 != 0 {
            self.settle(cx.clocks, cx.now, count, falls, was_running);
        }
    }
}

impl Block for TimerA {
    /// That of CCR0, and that of all others.
    const LINES: usize = 2;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        // Reading an interrupt vector clears a flag, and with it the next event is another one.
        cx.fx.touched |= off == TAIV;
        self.event(cx.clocks, cx.now);
        Ok(match off {
            TACTL => self.ctl,
            TAR => self.value_at(cx.clocks, cx.now),
            TAEX0 => self.ex0,
            TAIV => self.clear_iv(),
            _ if (TACCTL0..TACCTL0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - TACCTL0) as usize / 2;
                self.cctl[i] | if self.input_level(i) { CCI } else { 0 }
            }
            _ if (TACCR0..TACCR0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - TACCR0) as usize / 2;
                self.unread[i] = false;
                self.ccr[i]
            }
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        self.event(cx.clocks, cx.now);
        self.latch(cx.clocks, cx.now);
        let count = self.value();
        let (falls, was_running) = (self.falls(), self.running());
        match off {
            TACTL => {
                self.write_ctl(merge(self.ctl, value, mask), count, cx)?;
                if self.running() && (!was_running || value & mask & TACLR != 0) {
                    self.count_later(cx);
                }
            }
            TAEX0 => {
                self.ex0 = merge(self.ex0, value, mask) & 7;
                self.settle(cx.clocks, cx.now, count, falls, false);
            }
            TAR => {
                let count = merge(count, value, mask);
                self.settle(cx.clocks, cx.now, count, falls, was_running);
                self.count_later(cx);
            }
            TAIV => {
                self.clear_iv();
            }
            _ if (TACCTL0..TACCTL0 + 2 * self.ccrs as u32).contains(&off) => {
                self.write_cctl((off - TACCTL0) as usize / 2, value, mask, count, cx)?;
            }
            _ if (TACCR0..TACCR0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - TACCR0) as usize / 2;
                self.write_ccr(i, merge(self.ccr[i], value, mask), count, cx);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        self.running() && self.ctl & TASSEL == 0x0200
    }

    fn requests_aclk(&self) -> bool {
        (self.running() && self.ctl & TASSEL == 0x0100)
            || (0..self.ccrs).any(|i| self.captures_aclk(i))
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn due(&self, clocks: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event(clocks)
    }

    fn advance(&mut self, clocks: &Clocks, t: Picos) {
        self.event(clocks, t);
    }

    fn asks(&self, line: usize) -> bool {
        if line == 0 { self.pending_ccr0() } else { self.pending() }
    }

    fn taken(&mut self, line: usize) {
        if line == 0 {
            self.acknowledge_ccr0();
        }
    }

    fn may_ask(&self, clocks: &Clocks, _: Picos, _: bool) -> bool {
        self.enabled() && self.next_event(clocks).is_some()
    }

    fn trigger(name: &str) -> Option<u8> {
        name.parse().ok()
    }

    fn triggers(&self, number: u8) -> bool {
        self.dma_flag(number.into())
    }

    fn served(&mut self, number: u8) {
        self.clear_flag(number.into());
    }
}
