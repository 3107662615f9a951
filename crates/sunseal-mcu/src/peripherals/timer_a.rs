// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer_A (and Timer_B used as one): counter, compare, capture of ACLK. Output units move no pin.
//!
//! The counter is not stepped: its value follows from the clock line's ticks, and events are
//! scheduled where a flag that is clear will be set.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::{Ctx, merge};
use crate::clock::{Clocks, Line};
use crate::lint::LintKind;

const CTL: u32 = 0x00;
const CCTL0: u32 = 0x02;
const R: u32 = 0x10;
const CCR0: u32 = 0x12;
const EX0: u32 = 0x20;
pub(crate) const IV: u32 = 0x2E;
pub(crate) const MAX_CCRS: usize = 7;

const TASSEL: u16 = 0x0300;
const ID: u16 = 0x00C0;
const MC: u16 = 0x0030;
const TACLR: u16 = 0x0004;
const TAIE: u16 = 0x0002;
const TAIFG: u16 = 0x0001;
const B_ONLY: u16 = 0x7800;

const CM: u16 = 0xC000;
const CM_RISING: u16 = 0x4000;
const CCIS: u16 = 0x3000;
const CAP: u16 = 0x0100;
const OUTMOD: u16 = 0x00E0;
const CCIE: u16 = 0x0010;
const CCI: u16 = 0x0008;
const COV: u16 = 0x0002;
const CCIFG: u16 = 0x0001;
const TAIV_OVERFLOW: u16 = 0x0E;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimerA {
    ccrs: usize,
    is_b: bool,
    ctl: u16,
    ex0: u16,
    cctl: [u16; MAX_CCRS],
    ccr: [u16; MAX_CCRS],
    /// Position in the counting period at source tick `origin`.
    position: u32,
    origin: u64,
    /// ACLK is wired to capture inputs A and B of each block.
    pub aclk_inputs: [[bool; 2]; MAX_CCRS],
    /// ACLK ticks seen by each capture block.
    captured: [u64; MAX_CCRS],
    /// A captured value that nobody has read: the next capture sets COV.
    unread: [bool; MAX_CCRS],
}

impl TimerA {
    pub fn new(ccrs: u8, is_b: bool) -> Self {
        Self {
            ccrs: usize::from(ccrs).min(MAX_CCRS),
            is_b,
            ctl: 0,
            ex0: 0,
            cctl: [0; MAX_CCRS],
            ccr: [0; MAX_CCRS],
            position: 0,
            origin: 0,
            aclk_inputs: [[false; 2]; MAX_CCRS],
            captured: [0; MAX_CCRS],
            unread: [false; MAX_CCRS],
        }
    }

    pub fn reset(&mut self) {
        *self = Self { aclk_inputs: self.aclk_inputs, ..Self::new(self.ccrs as u8, self.is_b) };
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
            _ => self.ccr[0] != 0,
        }
    }

    pub fn requests_smclk(&self) -> bool {
        self.running() && self.ctl & TASSEL == 0x0200
    }

    pub fn requests_aclk(&self) -> bool {
        (self.running() && self.ctl & TASSEL == 0x0100)
            || (0..self.ccrs).any(|i| self.captures_aclk(i))
    }

    fn period(&self) -> u32 {
        match self.ctl & MC {
            0x10 => u32::from(self.ccr[0]) + 1,
            0x30 => 2 * u32::from(self.ccr[0]),
            _ => 0x1_0000,
        }
    }

    fn value(&self, position: u32) -> u16 {
        let top = u32::from(self.ccr[0]);
        if self.ctl & MC == 0x30 && position > top {
            (2 * top - position) as u16
        } else {
            position as u16
        }
    }

    fn counts(&self, clocks: &Clocks, t: Picos) -> u64 {
        match self.line(clocks) {
            Some(line) if self.running() => {
                line.ticks_at(t).saturating_sub(self.origin) / self.divider()
            }
            _ => 0,
        }
    }

    fn position_at(&self, clocks: &Clocks, t: Picos) -> u32 {
        let n = self.counts(clocks, t);
        if n == 0 {
            return self.position;
        }
        ((u64::from(self.base()) + n) % u64::from(self.period())) as u32
    }

    /// The position that counting goes on from: in up mode a count beyond the top rolls over next.
    fn base(&self) -> u32 {
        match self.ctl & MC {
            0x10 => self.position.min(self.ccr[0].into()),
            _ => self.position,
        }
    }

    /// Takes the counter to `t`, keeping the divider's phase.
    fn latch(&mut self, clocks: &Clocks, t: Picos) {
        let n = self.counts(clocks, t);
        self.position = self.position_at(clocks, t);
        if n != 0 {
            self.origin += n * self.divider();
        }
    }

    /// After a change of mode or period: a position beyond the period's end rolls over at the next count.
    fn settle(&mut self, clocks: &Clocks, t: Picos, value: u16, was_running: bool) {
        self.position = u32::from(value);
        if self.running() {
            if self.ctl & MC == 0x30 {
                self.position = self.position.min(self.ccr[0].into());
            }
            if !was_running {
                self.origin = self.line(clocks).map_or(0, |l| l.ticks_at(t));
            }
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

    fn until_value(&self, p: u32, v: u16) -> u64 {
        let v = u32::from(v);
        let up = if self.ctl & MC == 0x30 && v > u32::from(self.ccr[0]) {
            u64::MAX
        } else {
            self.until_position(p, v)
        };
        if self.ctl & MC == 0x30 && v != 0 && v < u32::from(self.ccr[0]) {
            up.min(self.until_position(p, self.period() - v))
        } else {
            up
        }
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
            if self.ctl & TAIFG == 0 {
                sooner(self.time_of_counts(clocks, self.until_position(self.base(), 0)));
            }
            for i in 0..self.ccrs {
                if self.cctl[i] & (CAP | CCIFG) == 0 {
                    let n = self.until_value(self.base(), self.ccr[i]);
                    if n != u64::MAX {
                        sooner(self.time_of_counts(clocks, n));
                    }
                }
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
        for i in 0..self.ccrs {
            while self.captures_aclk(i) {
                let t = clocks.aclk.time_of(self.captured[i] + 1);
                if t > now {
                    break;
                }
                self.captured[i] += 1;
                let value = self.value(self.position_at(clocks, t));
                self.capture(i, value);
            }
        }
        if self.running() {
            let n = self.counts(clocks, now);
            if n != 0 {
                if self.until_position(self.base(), 0) <= n {
                    self.ctl |= TAIFG;
                }
                for i in 0..self.ccrs {
                    if self.cctl[i] & CAP == 0 && self.until_value(self.base(), self.ccr[i]) <= n {
                        self.cctl[i] |= CCIFG;
                    }
                }
                self.latch(clocks, now);
            }
        }
    }

    fn capture(&mut self, i: usize, value: u16) {
        if std::mem::replace(&mut self.unread[i], true) {
            self.cctl[i] |= COV;
        }
        self.ccr[i] = value;
        self.cctl[i] |= CCIFG;
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
                TAIV_OVERFLOW
            }
            Some(i) => {
                self.cctl[i] &= !CCIFG;
                2 * i as u16
            }
        }
    }

    pub fn read(&mut self, off: u32, cx: &Ctx<'_>) -> Result<u16, Fault> {
        self.event(cx.clocks, cx.now);
        Ok(match off {
            CTL => self.ctl,
            R => self.value(self.position_at(cx.clocks, cx.now)),
            EX0 => self.ex0,
            IV => self.clear_iv(),
            _ if (CCTL0..CCTL0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - CCTL0) as usize / 2;
                self.cctl[i] | if self.cctl[i] & CCIS == 0x3000 { CCI } else { 0 }
            }
            _ if (CCR0..CCR0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - CCR0) as usize / 2;
                self.unread[i] = false;
                self.ccr[i]
            }
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(
        &mut self,
        off: u32,
        value: u16,
        mask: u16,
        cx: &mut Ctx<'_>,
    ) -> Result<(), Fault> {
        self.event(cx.clocks, cx.now);
        self.latch(cx.clocks, cx.now);
        let count = self.value(self.position);
        let was_running = self.running();
        match off {
            CTL => {
                let new = merge(self.ctl, value, mask);
                if self.is_b && new & B_ONLY != 0 {
                    return Err(
                        cx.refuse("Timer_B counter lengths and latch groups are not modelled")
                    );
                }
                if new & MC != 0 && !matches!(new & TASSEL, 0x0100 | 0x0200) {
                    return Err(cx.refuse("timer clocked from a pin (TASSEL 0 or 3) is not modelled; use ACLK or SMCLK"));
                }
                let source_changed = (new ^ self.ctl) & (TASSEL | ID) != 0;
                self.ctl = new & !TACLR;
                let count = if new & TACLR != 0 { 0 } else { count };
                self.settle(
                    cx.clocks,
                    cx.now,
                    count,
                    was_running && !source_changed && new & TACLR == 0,
                );
            }
            EX0 => {
                self.ex0 = merge(self.ex0, value, mask) & 7;
                self.settle(cx.clocks, cx.now, count, false);
            }
            R => {
                let count = merge(count, value, mask);
                self.settle(cx.clocks, cx.now, count, was_running);
            }
            IV => {
                self.clear_iv();
            }
            _ if (CCTL0..CCTL0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - CCTL0) as usize / 2;
                let (old, new) = (self.cctl[i], merge(self.cctl[i], value, mask));
                if new & OUTMOD != 0 && new & CAP == 0 && old & OUTMOD == 0 {
                    cx.lint(LintKind::TimerOutput);
                }
                self.cctl[i] = new & !CCI;
                if new & CAP == 0 || old & !new & COV != 0 {
                    self.unread[i] = false;
                }
                if new & CAP != 0 && new & CM != 0 {
                    let software = new & CCIS >= 0x2000;
                    if self.captures_aclk(i) {
                        if new & CM != CM_RISING {
                            return Err(cx.refuse(
                                "capture of falling ACLK edges is not modelled; use CM = 1",
                            ));
                        }
                        self.captured[i] = cx.clocks.aclk.ticks_at(cx.now);
                    } else if !software {
                        cx.lint(LintKind::CaptureNobody);
                    } else if old & CAP != 0 {
                        let edge = match (old & CCIS, new & CCIS) {
                            (0x2000, 0x3000) => CM_RISING,
                            (0x3000, 0x2000) => 0x8000,
                            _ => 0,
                        };
                        if new & edge != 0 {
                            self.capture(i, count);
                        }
                    }
                }
            }
            _ if (CCR0..CCR0 + 2 * self.ccrs as u32).contains(&off) => {
                let i = (off - CCR0) as usize / 2;
                let position = self.position;
                self.ccr[i] = merge(self.ccr[i], value, mask);
                if i == 0 && self.ctl & MC & 0x10 != 0 {
                    if self.ctl & MC == 0x30 && was_running && position > count.into() {
                        // Counting down, a new period takes effect at the next turn: keep the count.
                        self.settle(cx.clocks, cx.now, count, was_running);
                        self.position = self.period().saturating_sub(u32::from(count));
                    } else {
                        self.settle(cx.clocks, cx.now, count, was_running);
                    }
                }
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
