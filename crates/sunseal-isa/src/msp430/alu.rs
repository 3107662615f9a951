// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic and flags of the double-operand instructions, for one operand length at a time.

use super::sr::{C, N, V, Z};

/// Format I operations in the order of their opcodes, 4 to 15.
pub(crate) mod op {
    pub const MOV: u8 = 0;
    pub const ADD: u8 = 1;
    pub const ADDC: u8 = 2;
    pub const SUBC: u8 = 3;
    pub const SUB: u8 = 4;
    pub const CMP: u8 = 5;
    pub const DADD: u8 = 6;
    pub const BIT: u8 = 7;
    pub const BIC: u8 = 8;
    pub const BIS: u8 = 9;
    pub const XOR: u8 = 10;
    pub const AND: u8 = 11;
    pub const COUNT: u8 = 12;
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
