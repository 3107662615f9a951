// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules by which secrets go through a block, as the instrument that follows them asks.

use std::ops::Range;

/// A block as secrets see it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Follow {
    /// Nobody knows: that it was given a secret is told by its name.
    Hole,
    /// It moves data: what it moved is told by the machine, what its registers are given is lost.
    Mover,
    /// A hole whatever it is given: it moves data out of sight.
    Unseen,
    /// TI's multiplier, with so many bytes of registers.
    Multiplier { bytes: u32 },
    /// A mixer: all that it gives back depends on all that it was given.
    Mixers(&'static [Mix]),
}

impl Follow {
    /// True if what it gives back is known from what it was given.
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Multiplier { .. } | Self::Mixers(_))
    }
}

/// Registers that a block mixes, by offsets from its base: what goes in, what comes out, what begins anew.
#[derive(Debug)]
pub(crate) struct Mix {
    pub input: Range<u32>,
    pub output: Range<u32>,
    pub start: Range<u32>,
    pub reset: Option<(u32, u32)>,
}
