// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ART accelerator between a Cortex-M4 and flash (RM0351 section 3.3.4): a buffer of what was read last, a read ahead
//! into a second one, and a cache each for instructions and data, whose least recently used line is replaced.
//!
//! A line holds several reads of the flash; a miss brings in the one that was asked for.

use serde::{Deserialize, Serialize};
use sunseal_trace::Cycles;

use crate::device::stm32l4::Art as Facts;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    tag: u32,
    /// Which of its reads it holds.
    held: u32,
    used: u64,
}

/// A cache, fully associative, of lines that hold several reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cache {
    lines: Vec<Line>,
    /// Reads of the flash in a line, as a shift.
    shift: u32,
    uses: u64,
}

impl Cache {
    fn new(lines: u32, shift: u32) -> Self {
        let empty = Line { tag: NONE, held: 0, used: 0 };
        Self { lines: vec![empty; lines as usize], shift, uses: 0 }
    }

    fn clear(&mut self) {
        *self = Self::new(self.lines.len() as u32, self.shift);
    }

    /// Whether it held read number `read`; it does from now on.
    fn take(&mut self, read: u32) -> bool {
        self.uses += 1;
        let (tag, bit) = (read >> self.shift, 1 << (read & ((1 << self.shift) - 1)));
        let oldest = |(_, l): &(usize, &Line)| l.used;
        let found = self.lines.iter().position(|l| l.tag == tag);
        let at = found.or_else(|| self.lines.iter().enumerate().min_by_key(oldest).map(|l| l.0));
        let Some(line) = at.and_then(|i| self.lines.get_mut(i)) else { return false };
        if line.tag != tag {
            (line.tag, line.held) = (tag, 0);
        }
        let hit = line.held & bit != 0;
        line.held |= bit;
        line.used = self.uses;
        hit
    }
}

/// What core and accelerator hold of the flash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Art {
    instructions: Cache,
    data: Cache,
    /// Bytes of a read, as a shift.
    shift: u32,
    /// The read that instructions come from now, and that which data came from.
    instruction: u32,
    datum: u32,
    /// The read ahead, and the cycle at which it is complete.
    ahead: u32,
    ahead_at: Cycles,
    pub waits: u32,
    pub icache: bool,
    pub dcache: bool,
    pub prefetch: bool,
}

impl Art {
    pub fn new(facts: &Facts) -> Self {
        let reads = (facts.line_bytes / facts.read_bytes).ilog2();
        Self {
            instructions: Cache::new(facts.instruction_lines, reads),
            data: Cache::new(facts.data_lines, reads),
            shift: facts.read_bytes.ilog2(),
            instruction: NONE,
            datum: NONE,
            ahead: NONE,
            ahead_at: 0,
            waits: 0,
            icache: true,
            dcache: true,
            prefetch: false,
        }
    }

    /// Wait states of fetching the instruction of `bytes` at `pc`, which begins at cycle `at`.
    pub fn fetched(&mut self, pc: u32, bytes: u32, at: Cycles) -> Cycles {
        let (first, last) = (pc >> self.shift, (pc + bytes - 1) >> self.shift);
        let mut waits = 0;
        if first != self.instruction {
            waits += self.fetch(first, at);
        }
        if last != first {
            waits += self.fetch(last, at + waits);
        }
        waits
    }

    fn fetch(&mut self, read: u32, at: Cycles) -> Cycles {
        let full = Cycles::from(self.waits);
        self.instruction = read;
        let ahead = self.prefetch && self.ahead == read;
        let hit = self.icache && self.instructions.take(read);
        let waits = match (hit, ahead) {
            (true, _) => 0,
            // The read has been under way for a while.
            (false, true) => self.ahead_at.saturating_sub(at).min(full),
            (false, false) => full,
        };
        if self.prefetch {
            // While instructions of this one run, the next is read.
            self.ahead = read + 1;
            self.ahead_at = at + waits + full + 1;
        }
        waits
    }

    /// Wait states of a read of data.
    pub fn loaded(&mut self, addr: u32) -> Cycles {
        let read = addr >> self.shift;
        if std::mem::replace(&mut self.datum, read) == read {
            return 0;
        }
        if self.dcache && self.data.take(read) { 0 } else { self.waits.into() }
    }

    pub fn clear_instructions(&mut self) {
        self.instructions.clear();
        (self.instruction, self.ahead) = (NONE, NONE);
    }

    pub fn clear_data(&mut self) {
        self.data.clear();
        self.datum = NONE;
    }

    /// The buffers forget; the caches keep what they hold (RM0351: software resets them behind an erasure).
    pub fn flash_changed(&mut self) {
        (self.instruction, self.datum, self.ahead) = (NONE, NONE, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn art(waits: u32) -> Art {
        let facts = Facts {
            line_bytes: 32,
            read_bytes: 8,
            instruction_lines: 32,
            data_lines: 8,
            source: String::new(),
            recalled: false,
            assumed: None,
        };
        Art { waits, ..Art::new(&facts) }
    }

    /// Runs halfword instructions of one cycle, and what they wait.
    fn run(a: &mut Art, from: u32, bytes: u32, start: Cycles) -> Cycles {
        let mut waited = 0;
        for (i, pc) in (from..from + bytes).step_by(2).enumerate() {
            waited += a.fetched(pc, 2, start + i as Cycles + waited);
        }
        waited
    }

    #[test]
    fn a_loop_waits_once_for_each_read_and_then_no_more() {
        let mut a = art(4);
        assert_eq!(run(&mut a, 0, 64, 0), 8 * 4);
        assert_eq!(run(&mut a, 0, 64, 64), 0, "all in the cache");
        a.icache = false;
        a.clear_instructions();
        run(&mut a, 0, 64, 0);
        assert_eq!(run(&mut a, 0, 64, 64), 8 * 4, "without it each read is made again");
    }

    #[test]
    fn a_loop_larger_than_the_cache_never_hits() {
        let mut a = art(1);
        run(&mut a, 0, 1024 + 32, 0);
        assert_eq!(run(&mut a, 0, 1024 + 32, 2000), (1024 + 32) / 8);
        let mut a = art(1);
        run(&mut a, 0, 1024, 0);
        assert_eq!(run(&mut a, 0, 1024, 2000), 0);
    }

    #[test]
    fn reading_ahead_hides_what_the_instructions_before_take() {
        let mut a = art(4);
        (a.icache, a.prefetch) = (false, true);
        // Four instructions of a cycle a read: of 5 cycles that the next one takes, 4 are hidden.
        assert_eq!(run(&mut a, 0, 64, 0), 4 + 7);
        let mut a = art(3);
        (a.icache, a.prefetch) = (false, true);
        assert_eq!(run(&mut a, 0, 64, 0), 3, "three wait states are hidden whole");
    }

    #[test]
    fn data_and_instructions_have_caches_of_their_own() {
        let mut a = art(2);
        assert_eq!((a.loaded(0x100), a.loaded(0x104), a.loaded(0x108)), (2, 0, 2));
        assert_eq!((a.loaded(0x100), a.fetched(0x100, 2, 0)), (0, 2));
        // A ninth line takes the place of the first.
        (1..9).for_each(|i| {
            a.loaded(0x100 + 32 * i);
        });
        assert_eq!(a.loaded(0x100), 2);
        a.dcache = false;
        assert_eq!((a.loaded(0x200), a.loaded(0x100)), (2, 2));
    }

    #[test]
    fn an_instruction_across_two_reads_waits_for_both() {
        let mut a = art(3);
        assert_eq!(a.fetched(6, 4, 0), 6);
        assert_eq!(a.fetched(10, 4, 10), 0);
    }
}
