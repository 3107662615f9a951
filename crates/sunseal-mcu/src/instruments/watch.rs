// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watchpoints: a run ends behind the first instruction that reads or writes watched memory.
//!
//! Heard of are the accesses of the CPU, as by the debug units of the chips themselves: interrupt entries too,
//! DMA and fetches of instructions not.

use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

/// Range of memory that is watched, for reads, writes or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// First address, as observers hear it.
    pub addr: u32,
    pub bytes: u32,
    pub reads: bool,
    pub writes: bool,
}

/// Bytes of the widest access.
const WIDEST: u32 = 4;

/// Ends a run at the first access that one of them is for.
#[derive(Clone, Debug, Default)]
pub struct Watchpoints {
    watches: Vec<Watch>,
    /// An access that any of them is for begins in `first..first + span`.
    first: u32,
    span: u64,
    hit: Option<Watch>,
}

impl Watchpoints {
    /// Makes watchpoints for these ranges of memory.
    #[must_use]
    pub fn new(watches: &[Watch]) -> Self {
        let first = watches.iter().map(|w| w.addr).min().unwrap_or(0).saturating_sub(WIDEST - 1);
        let end = watches.iter().map(|w| u64::from(w.addr) + u64::from(w.bytes)).max();
        let span = end.unwrap_or(0).saturating_sub(first.into());
        Self { watches: watches.to_vec(), first, span, hit: None }
    }

    /// The watchpoint that ended the run: of several, the first of the instruction's first access.
    #[must_use]
    pub fn hit(&self) -> Option<Watch> {
        self.hit
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, addr: u32, kind: Access, width: Width) {
        let (start, end) = (u64::from(addr), u64::from(addr) + u64::from(width.bytes()));
        let meets = |w: &&Watch| {
            let counts = if kind == Access::Read { w.reads } else { w.writes };
            let (first, behind) = (u64::from(w.addr), u64::from(w.addr) + u64::from(w.bytes));
            counts && start < behind && first < end
        };
        self.hit = self.hit.or(self.watches.iter().find(meets).copied());
    }
}

impl Observer for Watchpoints {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;
    const OWN_LOOP: bool = true;
    const ENDS: bool = true;

    #[inline(always)]
    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}

    #[inline(always)]
    fn instruction_soon(&mut self, _: u32, _: u32, _: u32, _: Flow) -> bool {
        self.hit.is_some()
    }

    #[inline(always)]
    fn ends(&self) -> bool {
        self.hit.is_some()
    }

    #[inline(always)]
    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, _: u32, _: Cycles) {
        if u64::from(addr.wrapping_sub(self.first)) < self.span {
            self.look(addr, kind, width);
        }
    }
}
