// SPDX-License-Identifier: MIT OR Apache-2.0
//! FRAM: its controller (FRCTL and FRCTL_A, SLAU367P, a chapter each) and the read cache in front of it.
//!
//! The cache has two sets of two lines of eight bytes, the less recently used line makes room, writes
//! go around it and drop the line they touch (the organisation that Fused validated on silicon;
//! SLAU367P says 64-bit lines and a 2-way set-associative cache). Reads of instructions and data go
//! through it; only a miss waits.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::frctl::{
    ACCTEIE, ACCTEIFG, AUTO, CBDIE, CBDIFG, FRCTL0, FRCTLPW, FRLPMPWR, FRPWR, GCCTL0, GCCTL1,
    UBDIE, UBDIFG, WPIE, WPIFG, WPROT,
};
use sunseal_trace::Cycles;

use super::{Block, Ctx, Effects, Reset, ResetKind, merge};
use crate::blocks::follow::Follow;

const FRCTLPW_READ: u16 = 0x9600;
const NWAITS: u16 = 0x00F0;
/// FRCTL has three bits of wait states; neither WPROT nor AUTO.
const NWAITS_PLAIN: u16 = 0x0070;

const GCCTL0_PLAIN: u16 = FRLPMPWR | FRPWR | ACCTEIE | CBDIE | UBDIE | 0x0080;
const GCCTL0_BITS: u16 = FRPWR | ACCTEIE | WPIE | CBDIE | UBDIE | 0x0080;

const LINE_BITS: u32 = 3;
const NO_LINE: u32 = u32::MAX;

/// The read cache: which lines it holds, the younger one of each set first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cache {
    sets: [[u32; 2]; 2],
    /// The line touched last, which is the younger one of its set.
    last: u32,
    pub hits: u64,
    pub misses: u64,
}

impl Cache {
    pub const fn new() -> Self {
        Self { sets: [[NO_LINE; 2]; 2], last: NO_LINE, hits: 0, misses: 0 }
    }

    /// Forgets what it holds; the counts stay.
    pub fn clear(&mut self) {
        self.sets = [[NO_LINE; 2]; 2];
        self.last = NO_LINE;
    }

    /// `accesses` reads that all lie in the line of `addr`; the answer is how many of them missed, at
    /// most one.
    #[inline(always)]
    pub fn read(&mut self, addr: u32, accesses: u64) -> u64 {
        let line = addr >> LINE_BITS;
        if line == self.last {
            self.hits += accesses;
            return 0;
        }
        self.look(line, accesses)
    }

    #[inline(always)]
    fn look(&mut self, line: u32, accesses: u64) -> u64 {
        self.last = line;
        let set = &mut self.sets[(line & 1) as usize];
        let [young, old] = *set;
        // Into the place of the younger one, which grows old; what was old is gone, unless it was this.
        *set = [line, if young == line { old } else { young }];
        let missed = u64::from(young != line && old != line);
        self.misses += missed;
        self.hits += accesses - missed;
        missed
    }

    /// Whether an instruction of `bytes` bytes at `pc` lies in the line that was touched last.
    #[inline(always)]
    pub fn has_at_hand(&self, pc: u32, bytes: u32) -> bool {
        (pc >> LINE_BITS) == self.last && (pc + bytes - 1) >> LINE_BITS == self.last
    }

    /// An instruction at `pc` is fetched, `bytes` of it (at most eight), a word at a time; the answer is the
    /// misses.
    #[inline(always)]
    pub fn fetch(&mut self, pc: u32, bytes: u32) -> u64 {
        let words = u64::from(bytes / 2);
        let (first, last) = (pc >> LINE_BITS, (pc + bytes - 1) >> LINE_BITS);
        if first == last {
            return self.read(pc, words);
        }
        let here = u64::from((last << LINE_BITS) - pc) / 2;
        self.read(pc, here) + self.look(last, words - here)
    }

    /// A store to `addr`: it goes around, and a line that held the place is dropped.
    #[inline(always)]
    pub fn write(&mut self, addr: u32) {
        let line = addr >> LINE_BITS;
        let set = &mut self.sets[(line & 1) as usize];
        if set[0] == line {
            *set = [set[1], NO_LINE];
        } else if set[1] == line {
            set[1] = NO_LINE;
        } else {
            return;
        }
        self.last = NO_LINE;
    }
}

/// FRAM controller: FRCTL of the FR59xx, FRCTL_A of the FR599x.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FramController {
    frctl_a: bool,
    unlocked: bool,
    ctl0: u16,
    gcctl0: u16,
    gcctl1: u16,
}

impl FramController {
    pub fn new(frctl_a: bool) -> Self {
        let gcctl0 = if frctl_a { FRPWR } else { FRPWR | FRLPMPWR };
        Self { frctl_a, unlocked: false, ctl0: 0, gcctl0, gcctl1: 0 }
    }

    pub fn reset(&mut self) {
        // The flags tell what led to a reset: they stay.
        *self = Self { gcctl1: self.gcctl1, ..Self::new(self.frctl_a) };
    }

    /// The wait states of an access that the cache does not serve, at this clock.
    pub fn wait_states(&self, mclk_hz: u32, access_max_hz: u32) -> Cycles {
        if self.ctl0 & AUTO != 0 {
            return Self::needed(mclk_hz, access_max_hz);
        }
        Cycles::from((self.ctl0 & NWAITS) >> 4)
    }

    /// How many of them the clock needs.
    pub fn needed(mclk_hz: u32, access_max_hz: u32) -> Cycles {
        // Half a percent of grace: the DCO's nominal 16 MHz may be set up as 16.0x.
        let steps = f64::from(mclk_hz) / (f64::from(access_max_hz) * 1.005);
        (steps.ceil() as u64).saturating_sub(1)
    }

    /// Too few wait states for the clock.
    pub fn note_too_fast(&mut self) {
        self.gcctl1 |= ACCTEIFG;
    }

    /// Whether stores to FRAM are refused (WPROT); each such store sets its flag.
    pub fn write_protected(&mut self) -> bool {
        if self.ctl0 & WPROT != 0 {
            self.gcctl1 |= WPIFG;
        }
        self.ctl0 & WPROT != 0
    }

    pub fn has_write_protection(&self) -> bool {
        self.ctl0 & WPROT != 0
    }

    /// FRPWR: the memory is powered although nobody uses it.
    pub fn powered(&self) -> bool {
        self.gcctl0 & FRPWR != 0
    }

    /// An access while it was off powers it up.
    pub fn power_up(&mut self) {
        self.gcctl0 |= FRPWR;
    }

    /// SYSSNIV code of its first enabled flag.
    pub fn snmi(&self) -> Option<u16> {
        [
            (UBDIE, UBDIFG, 0x04),
            (ACCTEIE, ACCTEIFG, 0x06),
            (CBDIE, CBDIFG, 0x18),
            (WPIE, WPIFG, 0x1A),
        ]
        .into_iter()
        .find(|&(enable, flag, _)| self.gcctl0 & enable != 0 && self.gcctl1 & flag != 0)
        .map(|(_, _, code)| code)
    }

    /// SYSSNIV was read: the flag of that code is served.
    pub fn clear(&mut self, code: u16) {
        self.gcctl1 &= !match code {
            0x04 => UBDIFG,
            0x06 => ACCTEIFG,
            0x1A => WPIFG,
            _ => CBDIFG,
        };
    }

    fn violate(fx: &mut Effects) -> Result<(), Fault> {
        fx.reset = Some((ResetKind::Puc, super::cause::FRCTLPW));
        Ok(())
    }
}

impl Block for FramController {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            FRCTL0 => FRCTLPW_READ | self.ctl0,
            GCCTL0 => self.gcctl0,
            GCCTL1 => self.gcctl1,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off == FRCTL0 && mask & 0xFF00 != 0 {
            self.unlocked = value & 0xFF00 == FRCTLPW;
            if !self.unlocked && mask == 0xFFFF {
                return Self::violate(cx.fx);
            }
            if mask == 0xFF00 {
                return Ok(());
            }
        }
        if !self.unlocked {
            return Self::violate(cx.fx);
        }
        match off {
            FRCTL0 => {
                let bits = if self.frctl_a { WPROT | AUTO | NWAITS } else { NWAITS_PLAIN };
                self.ctl0 = merge(self.ctl0, value, mask) & bits;
                cx.fx.clocks = true;
            }
            GCCTL0 => {
                let bits = if self.frctl_a { GCCTL0_BITS } else { GCCTL0_PLAIN };
                self.gcctl0 = merge(self.gcctl0, value, mask) & bits;
                cx.fx.clocks = true;
            }
            GCCTL1 => {
                let bits = if self.frctl_a { 0x001E } else { 0x000E };
                self.gcctl1 = merge(self.gcctl1, value, mask) & bits;
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new(self.frctl_a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same cache, told as a list of what was touched when.
    struct Brute {
        lines: Vec<(u32, u64)>,
        time: u64,
    }

    impl Brute {
        fn read(&mut self, addr: u32) -> bool {
            self.time += 1;
            let line = addr / 8;
            if let Some(l) = self.lines.iter_mut().find(|l| l.0 == line) {
                l.1 = self.time;
                return true;
            }
            let set: Vec<_> = self.lines.iter().filter(|l| l.0 % 2 == line % 2).copied().collect();
            if set.len() == 2 {
                let oldest = set.iter().min_by_key(|l| l.1).unwrap().0;
                self.lines.retain(|l| l.0 != oldest);
            }
            self.lines.push((line, self.time));
            false
        }

        fn write(&mut self, addr: u32) {
            self.lines.retain(|l| l.0 != addr / 8);
        }
    }

    #[test]
    fn hits_and_misses_are_those_of_a_brute_force_model_on_random_accesses() {
        let mut seed = 1;
        let mut random = |n: u32| {
            seed = crate::clock::splitmix64(seed);
            (seed >> 33) as u32 % n
        };
        for span in [24, 40, 64, 200, 4000] {
            let mut cache = Cache::new();
            let mut brute = Brute { lines: Vec::new(), time: 0 };
            let (mut hits, mut misses) = (0, 0);
            let mut count = |hit: bool| *if hit { &mut hits } else { &mut misses } += 1;
            for _ in 0..20_000 {
                let addr = 0x4000 + 2 * random(span);
                match random(8) {
                    0 => {
                        cache.write(addr);
                        brute.write(addr);
                    }
                    // What waits is what the call answers, which the counts do not show.
                    1..4 => {
                        let hit = brute.read(addr);
                        assert_eq!(cache.read(addr, 1), u64::from(!hit));
                        count(hit);
                    }
                    _ => {
                        let bytes = 2 * (1 + random(4));
                        let hits: Vec<_> =
                            (addr..addr + bytes).step_by(2).map(|a| brute.read(a)).collect();
                        let missed = hits.iter().filter(|&&hit| !hit).count() as u64;
                        assert_eq!(cache.fetch(addr, bytes), missed, "{bytes} bytes at {addr:#x}");
                        hits.into_iter().for_each(&mut count);
                    }
                }
            }
            assert_eq!((cache.hits, cache.misses), (hits, misses), "span {span}");
        }
    }

    #[test]
    fn straight_code_misses_once_in_four_words() {
        let mut cache = Cache::new();
        (0x4400..0x4C00).step_by(2).for_each(|pc| {
            cache.fetch(pc, 2);
        });
        assert_eq!((cache.hits, cache.misses), (768, 256));
    }

    #[test]
    fn wait_states_are_needed_above_the_speed_of_the_memory() {
        let needed = |mhz: u32| FramController::needed(mhz * 1_000_000, 8_000_000);
        assert_eq!([1, 8, 9, 16].map(needed), [0, 0, 1, 1]);
    }
}
