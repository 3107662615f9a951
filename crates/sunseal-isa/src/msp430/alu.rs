// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic and flags of the double-operand instructions, for one operand length at a time.

use super::sr::{C, N, V, Z};

/// Format I operations in the order of their opcodes, 4 to 15.
pub(crate) mod op {
    numbers! { u8: MOV, ADD, ADDC, SUBC, SUB, CMP, DADD, BIT, BIC, BIS, XOR, AND, COUNT }
}

/// C, Z, N and V as the fast handlers leave them: what they come from instead of what they are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flags {
    /// Z is set where this is zero.
    zero: u32,
    /// N is its highest bit.
    sign: u32,
    carry: bool,
    overflow: bool,
}

impl Flags {
    #[inline(always)]
    pub fn of(sr: u32) -> Self {
        Self {
            zero: !sr & Z,
            sign: (sr & N) << 29, // check: N = 1 << 2
            carry: sr & C != 0,
            overflow: sr & V != 0,
        }
    }

    /// The status register with these flags.
    #[inline(always)]
    pub fn onto(self, sr: u32) -> u32 {
        sr & !(C | Z | N | V)
            | u32::from(self.carry)
            | u32::from(self.z()) << 1
            | self.sign >> 31 << 2
            | u32::from(self.overflow) << 8
    }

    #[inline(always)]
    pub fn c(self) -> bool {
        self.carry
    }

    #[inline(always)]
    pub fn z(self) -> bool {
        self.zero == 0
    }

    #[inline(always)]
    pub fn n(self) -> bool {
        (self.sign as i32) < 0
    }

    /// N and V differ.
    #[inline(always)]
    pub fn less(self) -> bool {
        self.n() != self.overflow
    }

    /// As rotations and SXT set them: V is reset.
    #[inline(always)]
    pub fn of_result(result: u32, bits: u32, carry: bool) -> Self {
        Self { zero: result, sign: result << (32 - bits), carry, overflow: false }
    }
}

/// Bytes and words at the upper end of a machine word, so that its carry and overflow are theirs.
/// Operands have no bits outside their length.
#[inline(always)]
pub(crate) fn quick(op: u8, byte: bool, src: u32, dst: u32, flags: &mut Flags) -> u32 {
    let up = if byte { 24 } else { 16 };
    let (a, b) = (src << up, dst << up);
    match op {
        op::MOV => src,
        op::BIC => dst & !src,
        op::BIS => dst | src,
        op::ADD => {
            let (sum, carry) = b.overflowing_add(a);
            let overflow = (b as i32).overflowing_add(a as i32).1;
            *flags = Flags { zero: sum, sign: sum, carry, overflow };
            sum >> up
        }
        op::SUB | op::CMP => {
            let (difference, borrow) = b.overflowing_sub(a);
            let overflow = (b as i32).overflowing_sub(a as i32).1;
            *flags = Flags { zero: difference, sign: difference, carry: !borrow, overflow };
            difference >> up
        }
        op::ADDC | op::SUBC => {
            let a = if op == op::SUBC { (!src) << up } else { a };
            let sum = u64::from(a) + u64::from(b) + (u64::from(flags.carry) << up);
            let result = sum as u32;
            let overflow = ((a ^ result) & (b ^ result)) as i32;
            *flags =
                Flags { zero: result, sign: result, carry: sum >> 32 != 0, overflow: overflow < 0 };
            result >> up
        }
        op::XOR => {
            let result = a ^ b;
            let overflow = ((a & b) as i32) < 0;
            *flags = Flags { zero: result, sign: result, carry: result != 0, overflow };
            result >> up
        }
        _ => {
            // AND, BIT
            let result = a & b;
            *flags = Flags { zero: result, sign: result, carry: result != 0, overflow: false };
            result >> up
        }
    }
}

/// Whether an operation stores its result.
pub(crate) const fn stores(op: u8) -> bool {
    op != op::CMP && op != op::BIT
}

/// Whether an operation needs its destination's old value.
pub(crate) const fn loads(op: u8) -> bool {
    op != op::MOV
}

#[inline(always)]
const fn flags(sr: u32, mask: u32, result: u32, carry: u32, overflow: u32) -> u32 {
    let sign = mask.count_ones() - 1;
    sr & !(C | Z | N | V)
        | carry
        | ((result == 0) as u32) << 1
        | (result >> sign & 1) << 2
        | (overflow >> sign & 1) << 8
}

/// `dst op src` under `mask`: the result and the new status register. Operands have no bits outside the mask.
#[inline(always)]
pub(crate) const fn alu(op: u8, mask: u32, src: u32, dst: u32, sr: u32) -> (u32, u32) {
    match op {
        op::MOV => (src, sr),
        op::ADD => add(mask, src, dst, 0, sr),
        op::ADDC => add(mask, src, dst, sr & C, sr),
        // dst + .not.src + 1: C is "no borrow"
        op::SUB | op::CMP => add(mask, !src & mask, dst, 1, sr),
        op::SUBC => add(mask, !src & mask, dst, sr & C, sr),
        op::DADD => dadd(mask, src, dst, sr),
        op::BIC => (dst & !src, sr),
        op::BIS => (dst | src, sr),
        op::XOR => {
            let result = dst ^ src;
            (result, flags(sr, mask, result, (result != 0) as u32, src & dst))
        }
        _ => {
            // AND, BIT
            let result = dst & src;
            (result, flags(sr, mask, result, (result != 0) as u32, 0))
        }
    }
}

#[inline(always)]
const fn add(mask: u32, src: u32, dst: u32, carry: u32, sr: u32) -> (u32, u32) {
    let sum = src + dst + carry;
    let result = sum & mask;
    let carry = (sum > mask) as u32;
    (result, flags(sr, mask, result, carry, (src ^ result) & (dst ^ result)))
}

/// Decimal addition digit by digit; V stays (the caller applies the device's rule). For digits above
/// nine, which the manual leaves undefined, a digit sum above nine loses ten and carries one.
const fn dadd(mask: u32, src: u32, dst: u32, sr: u32) -> (u32, u32) {
    let mut carry = sr & C;
    let mut result = 0;
    let mut shift = 0;
    while mask >> shift != 0 {
        let mut digit = (src >> shift & 0xF) + (dst >> shift & 0xF) + carry;
        carry = 0;
        if digit > 9 {
            digit = (digit - 10) & 0xF;
            carry = 1;
        }
        result |= digit << shift;
        shift += 4;
    }
    (result, flags(sr, mask, result, carry, 0) | sr & V)
}

/// N and Z from the result, C = .not.Z, V reset: SXT.
#[inline(always)]
pub(crate) const fn test_flags(mask: u32, result: u32, sr: u32) -> u32 {
    flags(sr, mask, result, (result != 0) as u32, 0)
}

/// N and Z from the result, the given carry, V reset: rotations to the right.
#[inline(always)]
pub(crate) const fn rotate_flags(mask: u32, result: u32, carry: u32, sr: u32) -> u32 {
    flags(sr, mask, result, carry, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operands at the edges of a byte and a word, with every state of the flags.
    #[test]
    fn the_fast_and_the_general_arithmetic_agree() {
        const EDGES: [u32; 12] =
            [0, 1, 2, 0x7E, 0x7F, 0x80, 0x81, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF];
        for byte in [false, true] {
            let mask = if byte { 0xFF } else { 0xFFFF };
            for op in (0..op::COUNT).filter(|&op| op != op::DADD) {
                for flags in 0..16 {
                    let sr = flags & (C | Z | N) | (flags & 8) << 5; // check: V = 8 << 5
                    for (src, dst) in
                        EDGES.iter().flat_map(|&s| EDGES.map(|d| (s & mask, d & mask)))
                    {
                        let mut fast = Flags::of(sr);
                        let result = quick(op, byte, src, dst, &mut fast);
                        let expected = alu(op, mask, src, dst, sr);
                        let got = (result, fast.onto(0));
                        assert_eq!(
                            got, expected,
                            "op {op}, byte {byte}, {src:#x}, {dst:#x}, SR {sr:#x}"
                        );
                    }
                }
            }
        }
    }
}
