// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses before which a run ends.
//!
//! Each core marks them in its cache of decoded instructions, in slots that read as "not decoded": the loop
//! does not look for them, and only the decoder meets them.

use std::ops::Range;

/// What else a slot that reads as "not decoded" says where a breakpoint is.
pub(crate) const MARK: u32 = 1;

/// A set of addresses.
#[derive(Default)]
pub(crate) struct Breakpoints {
    /// As they were asked for.
    asked: Vec<u32>,
    sorted: Vec<u32>,
}

impl Breakpoints {
    /// Makes it those addresses; the old ones, unless they are the same.
    pub fn replace(&mut self, addrs: &[u32]) -> Option<Vec<u32>> {
        if self.asked == addrs {
            return None;
        }
        self.asked = addrs.to_vec();
        let mut sorted = addrs.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        Some(std::mem::replace(&mut self.sorted, sorted))
    }

    pub fn contains(&self, addr: u32) -> bool {
        self.sorted.binary_search(&addr).is_ok()
    }

    /// Those in a range.
    pub fn within(&self, range: Range<u32>) -> &[u32] {
        let place = |addr| self.sorted.partition_point(|&a| a < addr);
        let (first, end) = (place(range.start), place(range.end));
        &self.sorted[first..end.max(first)]
    }
}
