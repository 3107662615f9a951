// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marks in TI's multiplier: which operands and result words depend on marked data.

/// TI's multiplier, of 16 or 32 bits: the first eight registers are the same.
#[derive(Clone, Debug)]
pub(super) struct Multiplier {
    pub(super) base: u32,
    pub(super) bytes: u32,
    pub(super) accumulates: bool,
    /// Which operands and result words are marked: [`OP1`](Self::OP1), [`OP2`](Self::OP2), [`result_bits`].
    pub(super) marked: u8,
    /// It was given marked data, by the instruction at this address.
    pub(super) crossed: Option<u32>,
}

/// What a write to a register of the multiplier does to its marks.
#[derive(Clone, Copy)]
pub(super) struct Take {
    /// These are clean behind it, unless what was written is marked.
    clears: u8,
    /// These are marked if it is.
    sets: u8,
    /// The operation, where it chooses one: whether it accumulates.
    accumulates: Option<bool>,
    starts: bool,
}

impl Multiplier {
    pub(super) const BYTES: u32 = 0x30;
    pub(super) const WORDS: usize = Self::BYTES as usize / 2;
    pub(super) const OP1: u8 = 0x20;
    pub(super) const OP2: u8 = 0x40;
    /// Of the sum, in the control register of MPY32.
    pub(super) const CARRY: u8 = 0x80;
    pub(super) const RESULTS: u8 = 0x1F | Self::CARRY;
    /// What a register gives back, by its word.
    pub(super) const GIVES: [u8; Self::WORDS] = {
        let mut gives = [0; Self::WORDS];
        let mut word = 0;
        while word < gives.len() {
            gives[word] = match 2 * word {
                0x00..0x08 | 0x10..0x20 => Self::OP1,
                0x08..0x0A | 0x20..0x24 => Self::OP2,
                off => result_bits(off as u32),
            };
            word += 1;
        }
        gives
    };
    /// What a register takes, by its word. High words join the low ones, which come first.
    pub(super) const TAKES: [Take; Self::WORDS] = {
        let mut takes =
            [Take { clears: 0, sets: 0, accumulates: None, starts: false }; Self::WORDS];
        let mut word = 0;
        while word < takes.len() {
            let (off, sets) = (2 * word, Self::GIVES[word]);
            let joins = matches!(off, 0x10..0x24) && off & 2 != 0;
            takes[word] = Take {
                clears: if joins { 0 } else { sets },
                sets,
                accumulates: match off {
                    0x00..0x08 => Some(off >= 4),
                    0x10..0x20 => Some(off >= 0x18),
                    _ => None,
                },
                starts: matches!(off, 0x08 | 0x22),
            };
            word += 1;
        }
        takes
    };
    /// The marks of the registers' bytes, by `marked`.
    pub(super) const SHOWN: [[u8; Self::BYTES as usize]; 0x100] = {
        let mut shown = [[0; Self::BYTES as usize]; 0x100];
        let mut marked = 0;
        while marked < shown.len() {
            let mut off = 0;
            while off < Self::BYTES as usize {
                shown[marked][off] = (marked as u8 & Self::GIVES[off / 2] != 0) as u8;
                off += 1;
            }
            marked += 1;
        }
        shown
    };

    /// The register at `off` was given something.
    #[inline(always)]
    pub(super) fn take(&mut self, off: u32, given: bool) {
        let take = TAKES[(off / 2) as usize];
        self.marked = self.marked & !take.clears | if given { take.sets } else { 0 };
        self.accumulates = take.accumulates.unwrap_or(self.accumulates);
        if take.starts {
            let old = if self.accumulates { Self::RESULTS } else { 0 };
            let results = self.marked & (Self::OP1 | Self::OP2 | old) != 0;
            self.marked = self.marked & !Self::RESULTS | if results { Self::RESULTS } else { 0 };
        }
    }
}

pub(super) static SHOWN: [[u8; Multiplier::BYTES as usize]; 0x100] = Multiplier::SHOWN;
pub(super) static TAKES: [Take; Multiplier::WORDS] = Multiplier::TAKES;

/// Which result words the multiplier's register at `off` is: RES0 to RES3, then SUMEXT, then the carry.
pub(super) const fn result_bits(off: u32) -> u8 {
    match off {
        0x0A..0x0C | 0x24..0x26 => 1,
        0x0C..0x0E | 0x26..0x28 => 2,
        0x28..0x2A => 4,
        0x2A..0x2C => 8,
        0x0E..0x10 => 16,
        0x2C..0x2E => Multiplier::CARRY,
        _ => 0,
    }
}
