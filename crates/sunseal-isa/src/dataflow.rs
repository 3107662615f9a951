// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the results of an instruction depend on, in the same words for every instruction set: what an
//! observer needs to follow marked bytes through registers, flags and memory.
//!
//! Each set has `dataflow(&Insn) -> Dataflow`. An observer asks once for each address and keeps the
//! answer: with one mark, following an instruction is then a few operations on [`Registers`].

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of registers and flags. General registers have the numbers of their core (0 to 31), single-precision
/// ones are 32 to 63, both as in `Observer::result`; flags have names.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Registers(u128);

impl Registers {
    /// Set without any register or flag.
    pub const NONE: Self = Self(0);
    bits! { Self, Self;
        C 64 "Carry.",
        Z 65 "Zero.",
        N 66 "Negative.",
        V 67 "Overflow.",
        S 68 "Sign (AVR).",
        H 69 "Half carry (AVR).",
        T 70 "The bit that BST and BLD copy (AVR).",
        Q 71 "Saturation (Armv7E-M).",
        GE 72 "Greater or equal, of parallel arithmetic (Armv7E-M).",
        FP 73 "N, Z, C and V of FPSCR.",
    }
    /// C, Z, N and V.
    pub const NZCV: Self = Self(0xF << 64);
    /// Set of all flags.
    pub const FLAGS: Self = Self(0x3FF << 64);

    /// One register: 0 to 31, or 32 to 63 for s0 to s31.
    #[must_use]
    pub const fn of(register: u8) -> Self {
        assert!(register < 64, "registers are 0 to 63");
        Self(1 << register)
    }

    /// Union of two sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// In this one and not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether nothing is in it.
    #[must_use]
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether something is in both.
    #[must_use]
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The numbers in it, flags from 64 on, in order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = left.trailing_zeros() as u8;
            left &= left.wrapping_sub(1);
            (number < 128).then_some(number)
        })
    }
}

impl BitOr for Registers {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Registers {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Registers {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Registers {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for Registers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FLAGS: [&str; 10] = ["C", "Z", "N", "V", "S", "H", "T", "Q", "GE", "FP"];
        let mut set = f.debug_set();
        for number in self.iter() {
            match number {
                0..32 => set.entry(&format_args!("r{number}")),
                32..64 => set.entry(&format_args!("s{}", number - 32)),
                flag => set
                    .entry(&format_args!("{}", FLAGS.get(usize::from(flag) - 64).unwrap_or(&"?"))),
            };
        }
        set.finish()
    }
}

/// What each data access of a multi-register transfer moves, in the order of the accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    moved: [u8; Self::MOST],
    len: u8,
}

impl Transfer {
    /// The most accesses: PUSHM.A of 16 registers, VLDM of 32.
    pub const MOST: usize = 32;
    /// Mark, in place of a register's number, of an access that moves the CPU's flags to or from memory.
    pub const FLAGS: u8 = 0xFE;
    /// This access reads where the program goes on.
    pub const BRANCH: u8 = 0xFF;
    /// This access moves nothing that depends on data: a return address stored, a register that does not exist.
    pub const NOTHING: u8 = 0xFD;
    /// The instruction is no such transfer.
    pub const NONE: Self = Self { moved: [0; Self::MOST], len: 0 };

    /// One more access, of a register by its number or one of the constants.
    ///
    /// # Panics
    /// If there are [`MOST`](Self::MOST) already.
    pub const fn push(&mut self, moved: u8) {
        self.moved[self.len as usize] = moved;
        self.len += 1;
    }

    /// Accesses that the instruction makes, as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.moved[..usize::from(self.len)]
    }

    /// Whether the instruction is no such transfer.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Default for Transfer {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// What an instruction's results depend on.
///
/// Without a [`transfer`](Self::transfer) each result (every register of `writes`, every store if
/// `writes_memory`) depends on every register of `reads` and, if `reads_memory`, on every load; it is free
/// of what it depended on before, but for registers in `keeps`. With a transfer, access `i` connects memory
/// with `transfer[i]` alone, loads if `reads_memory` and stores if `writes_memory`; results that are not
/// part of it follow the rule above without the loads.
///
/// A pointer that the instruction itself steps by a constant (`@Rn+`, push, `LDM Rn!`) keeps what it depends on and
/// is in neither set. `XOR Rn, Rn` and its like, whose result is the same for every operand, read nothing.
/// A data access may happen though neither `reads_memory` nor `writes_memory` says so: then nothing flows
/// (`CALL` stores a return address: `writes_memory` with empty `reads`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dataflow {
    /// Registers and flags that flow into the results.
    pub reads: Registers,
    /// Registers and flags that get results.
    pub writes: Registers,
    /// Those of `writes` that also depend on what they held: partly written, or written only under a condition.
    pub keeps: Registers,
    /// Registers that addresses of data accesses are made of.
    pub address: Registers,
    /// Registers and flags that decide how many cycles it takes (division, a repeat count in a register,
    /// a load that a condition skips).
    pub time: Registers,
    /// Registers and flags that decide where the program goes.
    pub branch: Registers,
    /// Whether what is loaded decides where the program goes (return, jump through memory, skip on a bit of it).
    pub branch_memory: bool,
    /// Whether what is loaded flows into the results.
    pub reads_memory: bool,
    /// Whether results are stored.
    pub writes_memory: bool,
    /// For transfers of several registers, what each access moves.
    pub transfer: Transfer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_lists_registers_then_flags() {
        let set = Registers::of(33) | Registers::C | Registers::of(4);
        assert_eq!(set.iter().collect::<Vec<_>>(), [4, 33, 64]);
        assert_eq!(format!("{set:?}"), "{r4, s1, C}");
        assert!(set.meets(Registers::FLAGS) && !set.meets(Registers::Z));
        assert!(set.without(set).is_empty() && Registers::NONE.is_empty());
        assert_eq!(set & !Registers::FLAGS, Registers::of(4).or(Registers::of(33)));
    }

    #[test]
    fn a_transfer_keeps_the_order_of_its_accesses() {
        let mut transfer = Transfer::NONE;
        assert!(transfer.is_empty());
        for moved in [9, 8, Transfer::BRANCH] {
            transfer.push(moved);
        }
        assert_eq!(transfer.as_slice(), [9, 8, 0xFF]);
    }
}
