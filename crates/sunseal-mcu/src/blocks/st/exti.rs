// SPDX-License-Identifier: MIT OR Apache-2.0
//! EXTI (RM0351 chapter 14): edges of lines that interrupt, or that are events, in Stop modes too.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::exti::*;

use super::{Block, Cx, Stm32, merge};

/// The line of the RTC's alarms.
pub(crate) const RTC_ALARM: u32 = 18;
/// The line of the RTC's wakeup timer.
pub(crate) const RTC_WAKEUP: u32 = 20;
/// Lines 0 to 15 are pins.
pub(crate) const PINS: u32 = 0xFFFF;
/// The lines behind its interrupts: 0 to 4, 5 to 9, 10 to 15, the RTC's wakeup timer and alarms.
const INTERRUPTS: [u32; 9] = [1, 2, 4, 8, 0x10, 0x3E0, 0xFC00, 1 << RTC_WAKEUP, 1 << RTC_ALARM];
/// Lines that have an edge to look for, in words of 32.
const EDGES: [u32; 2] = [0x007D_FFFF, 0x0000_0078];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exti {
    imr: [u32; 2],
    emr: [u32; 2],
    rtsr: [u32; 2],
    ftsr: [u32; 2],
    pr: [u32; 2],
    /// Levels of lines 0 to 31.
    levels: u32,
    /// A line whose event is let through had its edge.
    pub event: bool,
}

impl Default for Exti {
    fn default() -> Self {
        Self {
            imr: [0xFF82_0000, 0xFFFF_FF87],
            emr: [0; 2],
            rtsr: [0; 2],
            ftsr: [0; 2],
            pr: [0; 2],
            levels: 0,
            event: false,
        }
    }
}

impl Exti {
    pub fn reset(&mut self) {
        *self = Self { levels: self.levels, ..Self::default() };
    }

    /// Levels of lines 0 to 31 now.
    pub fn set_levels(&mut self, levels: u32) {
        let changed = levels ^ self.levels;
        self.levels = levels;
        self.edges(0, changed & (levels & self.rtsr[0] | !levels & self.ftsr[0]));
    }

    fn edges(&mut self, word: usize, lines: u32) {
        self.pr[word] |= lines;
        self.event |= lines & self.emr[word] != 0;
    }

    /// Lines 0 to 31 that have had their edge and are not cleared: with one the Stop modes are not entered (RM0351 p. 156).
    pub fn pending(&self) -> u32 {
        self.pr[0]
    }

    /// Lines 0 to 31 that may end a sleep by an edge.
    pub fn armed(&self) -> u32 {
        (self.imr[0] | self.emr[0]) & (self.rtsr[0] | self.ftsr[0])
    }

    /// Whether a line lets its interrupt through in Stop modes.
    pub fn lets_through(&self, line: u32) -> bool {
        self.imr[(line / 32) as usize] >> (line % 32) & 1 != 0
    }
}

impl Block<Stm32> for Exti {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let word = (off >> 5) as usize;
        Ok(match off & 0x1F {
            _ if word > 1 => return Err(cx.no_register()),
            EXTI_IMR1 => self.imr[word],
            EXTI_EMR1 => self.emr[word],
            EXTI_RTSR1 => self.rtsr[word],
            EXTI_FTSR1 => self.ftsr[word],
            // Software's own edges are over at once.
            EXTI_SWIER1 => 0,
            EXTI_PR1 => self.pr[word],
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let word = (off >> 5) as usize;
        match off & 0x1F {
            _ if word > 1 => return Err(cx.no_register()),
            EXTI_IMR1 => self.imr[word] = merge(self.imr[word], value, mask),
            EXTI_EMR1 => self.emr[word] = merge(self.emr[word], value, mask),
            EXTI_RTSR1 => self.rtsr[word] = merge(self.rtsr[word], value, mask) & EDGES[word],
            EXTI_FTSR1 => self.ftsr[word] = merge(self.ftsr[word], value, mask) & EDGES[word],
            EXTI_SWIER1 => self.edges(word, value & mask & EDGES[word]),
            EXTI_PR1 => self.pr[word] &= !(value & mask),
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn asks(&mut self) -> u32 {
        let lines = self.pr[0] & self.imr[0];
        (0..9).fold(0, |asks, i| asks | u32::from(lines & INTERRUPTS[i] != 0) << i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_edge_that_is_chosen_pends() {
        let mut e = Exti { rtsr: [1 | 4, 0], ftsr: [2, 0], ..Exti::default() };
        e.imr[0] = 1 | 2;
        e.emr[0] = 4;
        e.set_levels(1 | 2);
        assert_eq!((e.pr[0], e.asks(), e.event), (1, 1, false));
        e.set_levels(4);
        assert_eq!((e.pr[0], e.asks(), e.event), (7, 3, true));
    }
}
