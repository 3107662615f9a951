// SPDX-License-Identifier: MIT OR Apache-2.0
//! General-purpose timers TIM2 to TIM5 (RM0351 chapter 31): counting up, down and centre-aligned by a prescaled clock,
//! update and compare interrupts, requests of DMA, a trigger by updates, outputs with their preload and combined modes.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::tim::*;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;

const CR1_KNOWN: u32 = TIM_CR1_CEN
    | TIM_CR1_UDIS
    | TIM_CR1_URS
    | TIM_CR1_OPM
    | TIM_CR1_DIR
    | TIM_CR1_CMS
    | TIM_CR1_ARPE;
const INTERRUPTS: u32 = 0x1F;
/// OCxM of combined PWM modes 1 and 2, which begin as PWM modes 1 and 2 do.
const COMBINED_1: u32 = 12;
const COMBINED_2: u32 = 13;
/// MMS of a trigger by updates.
const MMS_UPDATE: u32 = 0x20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tim {
    /// The greatest count that the counter holds.
    most: u32,
    cr1: u32,
    dier: u32,
    sr: u32,
    ccmr: [u32; 2],
    ccer: u32,
    ccr: [u32; 4],
    ccr_next: [u32; 4],
    /// CR2, of which MMS is the update or nothing.
    cr2: u32,
    /// Requests of DMA that wait, by the bits of their flags.
    pub requests: u32,
    /// An update that TRGO told of since somebody asked.
    #[serde(skip)]
    pub trgo: Option<Picos>,
    /// In force, and what takes its place with the next update.
    psc: u32,
    psc_next: u32,
    arr: u32,
    arr_next: u32,
    /// Count at tick `origin`.
    cnt: u32,
    origin: u64,
    clock: Line,
    /// OCxREF, a bit each.
    refs: u8,
    /// Edges of the outputs since somebody asked: when, the channel, its level.
    #[serde(skip)]
    pub edges: Vec<(Picos, usize, bool)>,
}

impl Tim {
    /// A timer of 16 or 32 bits.
    pub fn new(bits: u32) -> Self {
        let most = u32::MAX >> (32 - bits);
        Self { most, arr: most, arr_next: most, ..Self::default() }
    }

    pub fn reset(&mut self) {
        let bits = self.most.count_ones();
        *self = Self { clock: self.clock, ..Self::new(bits) };
    }

    fn runs(&self) -> bool {
        self.cr1 & TIM_CR1_CEN != 0 && self.arr != 0
    }

    /// Centre-aligned: up to ARR and down again.
    fn is_centred(&self) -> bool {
        self.cr1 & TIM_CR1_CMS != 0
    }

    fn falls(&self) -> bool {
        self.cr1 & TIM_CR1_DIR != 0
    }

    /// Counts until the next update event: behind ARR counting up, behind 0 counting down; centre-aligned at both turns.
    fn until_update(&self) -> u64 {
        let (cnt, arr) = (u64::from(self.cnt), u64::from(self.arr));
        match (self.is_centred(), self.falls()) {
            // A count above ARR goes on to the end of the counter.
            (false, false) if cnt <= arr => arr + 1 - cnt,
            (false, false) => u64::from(self.most) + 1 - cnt,
            (false, true) => cnt + 1,
            (true, false) => arr.saturating_sub(cnt).max(1),
            (true, true) => cnt.max(1),
        }
    }

    /// Counts up to the next update in which the counter meets compare register `i`, such that its flag is set; none
    /// if it does not. Centre-aligned, ARR belongs to the way down and 0 to the way up (RM0351 section 31.3.2).
    fn until_match(&self, i: usize) -> Option<u64> {
        let (cnt, arr, ccr) = (u64::from(self.cnt), u64::from(self.arr), u64::from(self.ccr[i]));
        let turn = self.until_update();
        let (up, down) = match (self.cr1 & TIM_CR1_CMS) >> 5 {
            0 => (true, true),
            mode => (mode & 2 != 0, mode & 1 != 0),
        };
        match (self.is_centred(), self.falls()) {
            (false, false) if ccr == 0 => Some(turn),
            (false, false) => (ccr > cnt && ccr < cnt + turn).then(|| ccr - cnt),
            (false, true) if ccr == arr => Some(turn),
            (false, true) => (ccr < cnt).then(|| cnt - ccr),
            (true, false) if ccr == arr => down.then_some(turn),
            (true, false) => (up && ccr > cnt && ccr < arr).then(|| ccr - cnt),
            (true, true) if ccr == 0 => up.then_some(turn),
            (true, true) => (down && ccr < cnt).then(|| cnt - ccr),
        }
    }

    /// Counts on, to the next update if it `turns` there: ARR may be another by then.
    fn step(&mut self, counts: u64, turns: bool) {
        self.cnt = match (self.is_centred(), self.falls(), turns) {
            (false, false, true) => 0,
            (false, true, true) => self.arr,
            (true, false, true) => self.arr,
            (true, true, true) => 0,
            (_, false, false) => self.cnt + counts as u32,
            (_, true, false) => self.cnt - counts as u32,
        };
        if turns && self.is_centred() {
            self.cr1 ^= TIM_CR1_DIR;
        }
    }

    // ---- outputs (RM0351 section 31.3.9 and the description of OCxM)

    /// Mode of a channel's output, OCxM.
    fn mode(&self, i: usize) -> u32 {
        let own = self.ccmr[i / 2] >> (8 * (i % 2));
        own >> 4 & 7 | (own >> 16 & 1) << 3
    }

    /// CCxE, by which a channel drives its pin.
    pub fn drives(&self, i: usize) -> bool {
        self.ccer >> (4 * i) & 1 != 0
    }

    /// OCxREFC by the references that there are: combined modes join a channel's with its neighbour's.
    fn joined(&self, i: usize) -> bool {
        let at = |i: usize| self.refs >> i & 1 != 0;
        match self.mode(i) {
            COMBINED_1 => at(i) || at(i ^ 1),
            COMBINED_2 => at(i) && at(i ^ 1),
            _ => at(i),
        }
    }

    /// Level of a channel's output: OCxREFC by CCxP.
    pub fn out(&self, i: usize) -> bool {
        self.joined(i) != (self.ccer >> (4 * i + 1) & 1 != 0)
    }

    /// The channel's reference is what its pin has, or a combined mode of the neighbour has it.
    fn shows(&self, i: usize) -> bool {
        self.drives(i) || self.drives(i ^ 1) && matches!(self.mode(i ^ 1), COMBINED_1 | COMBINED_2)
    }

    /// Tells if a channel that drives its pin goes on moving it by itself.
    pub fn swings(&self, i: usize) -> bool {
        self.runs() && self.drives(i) && matches!(self.mode(i), 3 | 6 | 7 | COMBINED_1 | COMBINED_2)
    }

    /// Counts until the counter comes to compare register `i` on the way that it is on.
    fn until_pass(&self, i: usize) -> Option<u64> {
        let (cnt, arr, ccr) = (u64::from(self.cnt), u64::from(self.arr), u64::from(self.ccr[i]));
        let turn = self.until_update();
        match (self.is_centred(), self.falls()) {
            (false, false) if ccr == 0 => Some(turn),
            (false, false) => (ccr > cnt && ccr < cnt + turn).then(|| ccr - cnt),
            (false, true) if ccr == arr => Some(turn),
            (true, false) => (ccr > cnt && ccr <= arr).then(|| ccr - cnt),
            (_, true) => (ccr < cnt).then(|| cnt - ccr),
        }
    }

    /// Counts until an output may move.
    fn next_output(&self) -> Option<u64> {
        let moving = |i: &usize| {
            self.shows(*i) && matches!(self.mode(*i), 1..=3 | 6 | 7 | COMBINED_1 | COMBINED_2)
        };
        let passes = (0..4).filter(moving).map(|i| self.until_pass(i).unwrap_or(u64::MAX));
        passes.min().map(|n| n.min(self.until_update()))
    }

    /// Brings the outputs in step with the counter at `t`, which has come to the compare registers in `passed`.
    fn move_outputs(&mut self, passed: u8, t: Picos) {
        let was: [bool; 4] = std::array::from_fn(|i| self.out(i));
        for i in 0..4 {
            let bit = 1 << i;
            // Downwards a PWM is active from its compare value on, upwards below it.
            let (cnt, ccr) = (self.cnt, self.ccr[i]);
            let active = if self.falls() { cnt <= ccr } else { cnt < ccr };
            let level = match self.mode(i) {
                1 if passed & bit != 0 => true,
                2 if passed & bit != 0 => false,
                3 if passed & bit != 0 => self.refs & bit == 0,
                4 => false,
                5 => true,
                6 | COMBINED_1 => active,
                7 | COMBINED_2 => !active,
                _ => self.refs & bit != 0,
            };
            self.refs = if level { self.refs | bit } else { self.refs & !bit };
        }
        self.tell_edges(was, t);
    }

    fn tell_edges(&mut self, was: [bool; 4], t: Picos) {
        for (i, was) in was.into_iter().enumerate() {
            if self.out(i) != was {
                self.edges.push((t, i, !was));
            }
        }
    }

    /// Something waits for the next update.
    fn preloads(&self) -> bool {
        (self.psc, self.arr, self.ccr) != (self.psc_next, self.arr_next, self.ccr_next)
    }

    /// Events that somebody waits for, by the bits of their flags: interrupts, DMA, TRGO.
    fn awaited(&self) -> u32 {
        let trigger = u32::from(self.cr2 & TIM_CR2_MMS == MMS_UPDATE);
        self.dier & INTERRUPTS & !self.sr | self.dier >> 8 & INTERRUPTS | trigger
    }

    /// An event: its flag, and the request that DIER lets through.
    fn flag(&mut self, bit: u32) {
        self.sr |= bit;
        self.requests |= bit & self.dier >> 8;
    }

    /// What an update tells outside.
    fn trigger(&mut self, t: Picos) {
        if self.cr2 & TIM_CR2_MMS == MMS_UPDATE {
            self.trgo = Some(t);
        }
    }

    fn time_of(&self, counts: u64) -> Option<Picos> {
        let tick = self.origin.checked_add(counts.checked_mul(u64::from(self.psc) + 1)?)?;
        let t = self.clock.time_of(tick);
        (t != Picos::MAX).then_some(t)
    }

    /// Takes over what waits for an update.
    fn update(&mut self) {
        (self.psc, self.arr, self.ccr) = (self.psc_next, self.arr_next, self.ccr_next);
    }

    /// Takes counter and flags to `t`.
    fn sync(&mut self, t: Picos) {
        loop {
            let prescaler = u64::from(self.psc) + 1;
            let ticks = self.clock.ticks_at(t);
            if !self.runs() {
                self.origin = ticks;
                return;
            }
            let mut counts = ticks.saturating_sub(self.origin) / prescaler;
            let steady = self.cr1 & TIM_CR1_OPM == 0 && !self.preloads() && self.cnt <= self.arr;
            let whole = u64::from(self.arr) + 1;
            let whole = if self.is_centred() { 2 * (whole - 1) } else { whole };
            if steady && counts > 3 * whole {
                // Two whole periods set every flag that there is to set.
                let passed = (counts / whole - 2) * whole;
                self.origin += passed * prescaler;
                counts -= passed;
            }
            let turn = self.until_update();
            let now = counts.min(turn);
            for i in 0..self.ccr.len() {
                if self.until_match(i).is_some_and(|n| n <= now) {
                    self.flag(2 << i);
                }
            }
            let passes = |i: &usize| self.until_pass(*i).is_some_and(|n| n <= now);
            let passed = (0..4).filter(passes).fold(0, |all, i| all | 1 << i);
            let updated = now == turn;
            if updated && self.cr1 & TIM_CR1_UDIS == 0 {
                self.flag(TIM_SR_UIF);
                // Before the counter is loaded with ARR, counting down.
                self.arr = self.arr_next;
            }
            if now != 0 {
                self.step(now, updated);
            }
            self.origin += now * prescaler;
            if updated && self.cr1 & TIM_CR1_UDIS == 0 {
                self.update();
                self.trigger(self.clock.time_of(self.origin).min(t));
            }
            if updated && self.cr1 & TIM_CR1_OPM != 0 {
                self.cr1 &= !TIM_CR1_CEN;
            }
            if self.ccmr != [0; 2] {
                self.move_outputs(passed, self.clock.time_of(self.origin).min(t));
            }
            if now == counts {
                return;
            }
        }
    }

    /// Counts until a flag among `fresh` is set, or until an update that changes how it counts on.
    fn until_flag(&self, fresh: u32) -> Option<u64> {
        let changes = self.preloads();
        let (mut ahead, mut passed) = (self.clone(), 0);
        // Up, down, and up again from a place between.
        for _ in 0..3 {
            let turn = ahead.until_update();
            let matches = (0..4).filter(|i| fresh & 2 << i != 0);
            let matches = matches.filter_map(|i| ahead.until_match(i));
            let update = (fresh & TIM_SR_UIF != 0 || changes && fresh & 0x1E != 0).then_some(turn);
            if let Some(n) = matches.chain(update).min() {
                return Some(passed + n);
            }
            passed += turn;
            ahead.step(turn, true);
        }
        None
    }

    fn write_cr1(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let new = merge(self.cr1, value, mask);
        only(new, CR1_KNOWN, "clock division and the remap of UIF are not modelled", cx)?;
        if new & TIM_CR1_CEN != 0 && !self.clock.is_running() {
            return Err(cx.refuse("the timer's clock is off"));
        }
        // Centre-aligned the direction is the counter's own, and cannot be written (RM0351, TIMx_CR1).
        let own = if new & self.cr1 & TIM_CR1_CMS != 0 { TIM_CR1_DIR } else { 0 };
        self.cr1 = new & !own | self.cr1 & own;
        self.sync(cx.now);
        Ok(())
    }

    /// TIMx_EGR: events by software.
    fn generate(&mut self, bits: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        only(bits, INTERRUPTS, "of TIMx_EGR only UG and CCxG are modelled", cx)?;
        self.flag(bits & 0x1E);
        if bits & 1 != 0 {
            self.update();
            let edge_down = self.falls() && !self.is_centred();
            self.cnt = if edge_down { self.arr } else { 0 };
            if self.is_centred() {
                self.cr1 &= !TIM_CR1_DIR;
            }
            self.origin = self.clock.ticks_at(cx.now);
            if self.cr1 & (TIM_CR1_URS | TIM_CR1_UDIS) == 0 {
                self.flag(TIM_SR_UIF);
            }
            self.trigger(cx.now);
        }
        Ok(())
    }

    fn write_ccmr(&mut self, off: u32, value: u32, mask: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        let kept = &mut self.ccmr[usize::from(off == TIM_CCMR2)];
        *kept = merge(*kept, value, mask);
        let captures = *kept & 0x0303;
        only(captures, 0, "input capture of the timers is not modelled", cx)?;
        if (0..4).any(|i| matches!(self.mode(i), 8..=11 | 14 | 15)) {
            return Err(cx.refuse("retriggerable and asymmetric modes of the timers (OCxM 8, 9, 14, 15) are not modelled"));
        }
        Ok(())
    }
}

impl Block<Stm32> for Tim {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        self.sync(cx.now);
        Ok(match off {
            TIM_CR1 => self.cr1,
            TIM_CR2 => self.cr2,
            TIM_SMCR | TIM_EGR => 0,
            TIM_DIER => self.dier,
            TIM_SR => self.sr,
            TIM_CCMR1 => self.ccmr[0],
            TIM_CCMR2 => self.ccmr[1],
            TIM_CCER => self.ccer,
            TIM_CNT => self.cnt,
            TIM_PSC => self.psc_next,
            TIM_ARR => self.arr_next,
            TIM_CCR1..=TIM_CCR4 => self.ccr_next[((off - TIM_CCR1) / 4) as usize],
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        self.sync(cx.now);
        let bits = value & mask;
        cx.fx.pins = true;
        match off {
            TIM_CR1 => self.write_cr1(value, mask, cx)?,
            TIM_CR2 => {
                let new = merge(self.cr2, value, mask);
                if new & !MMS_UPDATE != 0 {
                    return Err(
                        cx.refuse("of TIMx_CR2 only MMS = 2 (TRGO by updates) and 0 are modelled")
                    );
                }
                self.cr2 = new;
            }
            TIM_SMCR => {
                only(
                    bits,
                    0,
                    "slave modes and external clocks of the timers are not modelled",
                    cx,
                )?;
            }
            TIM_DIER => {
                self.dier = merge(self.dier, value, mask);
                let what = "interrupts and requests by triggers of the timers are not modelled";
                only(self.dier, INTERRUPTS | INTERRUPTS << 8, what, cx)?;
            }
            // A flag is cleared by writing 0.
            TIM_SR => self.sr &= !mask | value,
            TIM_EGR => self.generate(bits, cx)?,
            TIM_CCMR1 | TIM_CCMR2 => self.write_ccmr(off, value, mask, cx)?,
            TIM_CCER => {
                let was: [bool; 4] = std::array::from_fn(|i| self.out(i));
                self.ccer = merge(self.ccer, value, mask) & 0xBBBB;
                self.tell_edges(was, cx.now);
            }
            TIM_CNT => self.cnt = merge(self.cnt, value, mask) & self.most,
            TIM_PSC => self.psc_next = merge(self.psc_next, value, mask) & 0xFFFF,
            TIM_ARR => {
                self.arr_next = merge(self.arr_next, value, mask) & self.most;
                if self.cr1 & TIM_CR1_ARPE == 0 {
                    self.arr = self.arr_next;
                }
            }
            TIM_CCR1..=TIM_CCR4 => {
                let i = ((off - TIM_CCR1) / 4) as usize;
                self.ccr_next[i] = merge(self.ccr_next[i], value, mask) & self.most;
                // OCxPE keeps it for the next update.
                if self.ccmr[i / 2] >> (8 * (i % 2)) & TIM_CCMR1_OC1PE == 0 {
                    self.ccr[i] = self.ccr_next[i];
                }
            }
            _ => return Err(cx.no_register()),
        }
        if self.ccmr != [0; 2] {
            self.move_outputs(0, cx.now);
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, now: Picos) {
        self.sync(now);
        // The prescaler keeps its place.
        let rest = self.clock.ticks_at(now).saturating_sub(self.origin);
        self.clock = *clock;
        self.origin = self.clock.ticks_at(now).saturating_sub(rest);
    }

    fn due(&self, _: &()) -> Option<Picos> {
        if !self.runs() {
            return None;
        }
        let flag = self.until_flag(self.awaited());
        self.time_of(flag.into_iter().chain(self.next_output()).min()?)
    }

    fn advance(&mut self, _: &(), t: Picos) {
        self.sync(t);
    }

    fn asks(&mut self) -> u32 {
        u32::from(self.dier & self.sr & INTERRUPTS != 0)
    }

    fn may_ask(&self, _: &()) -> bool {
        self.runs() && self.until_flag(self.dier & INTERRUPTS & !self.sr).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(arr: u32, psc: u32) -> Tim {
        let mut t =
            Tim { cr1: TIM_CR1_CEN, arr, arr_next: arr, psc, psc_next: psc, ..Tim::new(16) };
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        t.clocked(&line, Picos(0));
        t
    }

    fn us(n: u128) -> Picos {
        Picos(n * 1_000_000)
    }

    #[test]
    fn it_counts_prescaled_and_wraps_behind_arr() {
        let mut t = timer(9, 3);
        t.dier = 1 | 4;
        t.ccr[1] = 6;
        assert_eq!(t.due(&()), Some(us(4 * 6)));
        t.sync(us(25));
        assert_eq!((t.cnt, t.sr & 5, t.due(&())), (6, 4, Some(us(40))));
        t.sync(us(40 + 4 * 23));
        assert_eq!((t.cnt, t.sr & 1), (3, 1));
        t.cr1 |= TIM_CR1_OPM;
        t.sync(us(1000));
        assert_eq!((t.cnt, t.cr1 & TIM_CR1_CEN), (0, 0), "one pulse, and it stands");
    }

    /// Counts and flags by tick, as figures 325 (down) and 331 (centre-aligned, ARR = 6) of RM0351 draw them.
    #[test]
    fn it_counts_down_and_up_and_down() {
        let shown = |cr1: u32, arr: u32, ticks: u128| -> Vec<u32> {
            let mut t = timer(arr, 0);
            (t.cr1, t.cnt) = (TIM_CR1_CEN | cr1, 4);
            (0..ticks)
                .map(|n| {
                    t.sync(us(n));
                    t.cnt
                })
                .collect()
        };
        assert_eq!(shown(TIM_CR1_DIR, 9, 9), [4, 3, 2, 1, 0, 9, 8, 7, 6]);
        let centred = [4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3];
        assert_eq!(shown(TIM_CR1_CMS | TIM_CR1_DIR, 6, 14), centred);
        // When each flag comes: update at each turn, a match on the ways that CMS says.
        let due = |cms: u32, flag: u32, sought: usize| -> Vec<u128> {
            let mut t = timer(6, 0);
            (t.cr1, t.dier, t.ccr[0], t.ccr_next[0]) = (TIM_CR1_CEN | cms << 5, flag, 2, 2);
            let mut at = Vec::new();
            while at.len() < sought {
                let next = t.due(&()).unwrap();
                at.push(next.0 / 1_000_000);
                t.sync(next);
                assert_eq!(t.sr & flag, flag);
                t.sr = 0;
            }
            at
        };
        assert_eq!(due(3, TIM_SR_UIF, 4), [6, 12, 18, 24]);
        assert_eq!(due(1, 2, 3), [10, 22, 34], "on the way down");
        assert_eq!(due(2, 2, 3), [2, 14, 26], "on the way up");
        assert_eq!(due(3, 2, 4), [2, 10, 14, 22], "on both");
        // A long look away ends where short ones do.
        let mut far = timer(6, 0);
        (far.cr1, far.ccr[1], far.ccr_next[1]) = (TIM_CR1_CEN | TIM_CR1_CMS, 5, 5);
        let mut near = far.clone();
        far.sync(us(12_345));
        (0..=12_345).for_each(|n| near.sync(us(n)));
        assert_eq!((far.cnt, far.falls(), far.sr), (near.cnt, near.falls(), near.sr));
    }

    #[test]
    fn a_new_prescaler_waits_for_the_update() {
        let mut t = timer(9, 0);
        t.psc_next = 9;
        t.sync(us(10 + 20));
        assert_eq!((t.cnt, t.psc), (2, 9));
    }

    #[test]
    fn a_match_behind_the_update_is_due_by_the_new_prescaler() {
        let mut t = timer(9, 99);
        (t.psc_next, t.dier, t.ccr[0], t.ccr_next[0], t.cnt) = (0, 2, 2, 2, 5);
        assert_eq!(t.due(&()), Some(us(500)));
        t.sync(us(500));
        assert_eq!((t.sr & 2, t.due(&())), (0, Some(us(502))));
    }

    #[test]
    fn a_clock_that_changes_keeps_the_count() {
        let mut t = timer(999, 1);
        let mut line = t.clock;
        line.retune(us(101), 2_000_000, 1, None);
        t.clocked(&line, us(101));
        assert_eq!(t.cnt, 50);
        // A tick of the old clock is left over: the next count comes after one of the new one.
        t.sync(Picos(us(101).0 + 500_000));
        assert_eq!(t.cnt, 51);
    }
}
