// SPDX-License-Identifier: MIT OR Apache-2.0
//! SREG as the handlers leave it: what the flags come from instead of what they are.

use super::op::alu;
use super::sreg;

/// C, Z, N, V, S and H.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flags {
    /// Carries out of each bit: C is bit 7, H is bit 3.
    pub carries: u8,
    /// Four bytes, written at once: Z is set where the lowest is zero; N, V and S are the highest bits of the others.
    signs: u32,
}

/// A result into the bytes of Z, N and S; where V is set, it and S.
const RESULT: u32 = 0x0100_0101;
const OVERFLOW: u32 = 0x0101_0000;
const N: u32 = 0x8000;
const V: u32 = 0x80_0000;
const S: u32 = 0x8000_0000;

impl Flags {
    pub fn of(value: u8) -> Self {
        let top = |flag: u8| if value & flag != 0 { 0x80 } else { 0 };
        Self {
            carries: top(sreg::C) | top(sreg::H) >> 4,
            signs: u32::from_le_bytes([!value & sreg::Z, top(sreg::N), top(sreg::V), top(sreg::S)]),
        }
    }

    /// Bits 5 to 0 of SREG.
    #[inline(always)]
    pub fn bits(self) -> u8 {
        self.carries >> 7
            | u8::from(self.signs as u8 == 0) << 1
            | u8::from(self.signs & N != 0) << 2
            | u8::from(self.signs & V != 0) << 3
            | u8::from(self.signs & S != 0) << 4
            | (self.carries & 8) << 2
    }

    #[inline(always)]
    pub fn carry(self) -> u8 {
        self.carries >> 7
    }

    /// Whether flag number `FLAG` (0 C to 5 H) is set.
    #[inline(always)]
    pub fn is_set<const FLAG: u8>(self) -> bool {
        match FLAG {
            0 => self.carries & 0x80 != 0,
            1 => self.signs as u8 == 0,
            2 => self.signs & N != 0,
            3 => self.signs & V != 0,
            4 => self.signs & S != 0,
            _ => self.carries & 8 != 0,
        }
    }

    /// Changes flag number `FLAG` (0 C to 5 H).
    #[inline(always)]
    pub fn set<const FLAG: u8>(&mut self, on: bool) {
        let top = u8::from(on) << 7;
        let mut put = |bit: u32| self.signs = if on { self.signs | bit } else { self.signs & !bit };
        match FLAG {
            0 => self.carries = self.carries & 0x7F | top,
            1 => self.signs = self.signs & !0xFF | u32::from(!on),
            2 => put(N),
            3 => put(V),
            4 => put(S),
            _ => self.carries = self.carries & !8 | top >> 4,
        }
    }

    /// Z, N, V and S of a result; V is the highest bit of `overflow`.
    #[inline(always)]
    fn signed(&mut self, result: u8, overflow: u8) {
        self.signs = (u32::from(result) * RESULT) ^ (u32::from(overflow) * OVERFLOW);
    }

    #[inline(always)]
    pub fn add(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let sum = d.wrapping_add(r).wrapping_add(carry);
        self.carries = d & r | (d | r) & !sum;
        self.signed(sum, (d ^ sum) & (r ^ sum));
        sum
    }

    #[inline(always)]
    pub fn sub(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let difference = d.wrapping_sub(r).wrapping_sub(carry);
        self.carries = !d & r | (!d | r) & difference;
        self.signed(difference, (d ^ r) & (d ^ difference));
        difference
    }

    /// As `sub`, with the rule of CPC, SBC and SBCI: Z can only be cleared.
    #[inline(always)]
    pub fn sub_chained(&mut self, d: u8, r: u8) -> u8 {
        let zero = self.signs & 0xFF;
        let difference = self.sub(d, r, self.carry());
        self.signs |= zero;
        difference
    }

    /// Sets the flags as AND, OR and EOR do.
    #[inline(always)]
    pub fn logic(&mut self, result: u8) -> u8 {
        self.signed(result, 0);
        result
    }

    #[inline(always)]
    pub fn com(&mut self, d: u8) -> u8 {
        self.carries |= 0x80;
        self.logic(!d)
    }

    #[inline(always)]
    pub fn inc(&mut self, d: u8) -> u8 {
        let result = d.wrapping_add(1);
        self.signed(result, result & !d);
        result
    }

    #[inline(always)]
    pub fn dec(&mut self, d: u8) -> u8 {
        let result = d.wrapping_sub(1);
        self.signed(result, !result & d);
        result
    }

    /// ASR, LSR, ROR: `d` moved to the right, with `top` in bit 7. V is N xor C.
    #[inline(always)]
    pub fn shift(&mut self, d: u8, top: u8) -> u8 {
        let result = d >> 1 | top;
        let carry = d << 7;
        self.carries = self.carries & 0x7F | carry;
        self.signed(result, result ^ carry);
        result
    }

    /// ADIW and SBIW: H stays.
    #[inline(always)]
    pub fn wide(&mut self, old: u16, result: u16, subtract: bool) {
        let (d, r) = ((old >> 8) as u8, (result >> 8) as u8);
        let (overflow, carry) = if subtract { (d & !r, r & !d) } else { (r & !d, d & !r) };
        self.carries = self.carries & 0x7F | carry & 0x80;
        self.signed(r, overflow);
        self.signs |= u32::from(result & 0xFF);
    }

    /// The multiplications: C is bit 15 of the product, Z is of what is stored.
    #[inline(always)]
    pub fn product(&mut self, product: u16, stored: u16) {
        self.carries = self.carries & 0x7F | (product >> 8) as u8 & 0x80;
        self.signs = self.signs & !0xFF | u32::from((stored | stored >> 8) as u8);
    }

    /// The result of `d OP r`; [`None`] where nothing is stored.
    #[inline(always)]
    pub fn operate<const OP: u8>(&mut self, d: u8, r: u8) -> Option<u8> {
        match OP {
            alu::ADD => Some(self.add(d, r, 0)),
            alu::ADC => Some(self.add(d, r, self.carry())),
            alu::SUB => Some(self.sub(d, r, 0)),
            alu::SBC => Some(self.sub_chained(d, r)),
            alu::AND => Some(self.logic(d & r)),
            alu::OR => Some(self.logic(d | r)),
            alu::EOR => Some(self.logic(d ^ r)),
            alu::CP => {
                self.sub(d, r, 0);
                None
            }
            alu::CPC => {
                self.sub_chained(d, r);
                None
            }
            _ => Some(r),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Boolean formulae of DS40002198 sections 6.1 (ADC) and 6.93 (SBC), bit by bit.
    #[test]
    #[expect(clippy::nonminimal_bool, reason = "the formulae as the manual prints them")]
    fn sums_and_differences_have_the_flags_of_the_manuals_formulae() {
        let bit = |value: u8, n: u8| value >> n & 1 != 0;
        for (d, r) in (0..=255).flat_map(|d: u8| (0..=255).map(move |r: u8| (d, r))) {
            for before in [0, sreg::C, sreg::Z, sreg::C | sreg::Z] {
                let carry = before & sreg::C;
                let mut flags = Flags::of(before);
                let sum = flags.add(d, r, carry);
                let of = |value: u8, n: u8| (bit(d, n), bit(r, n), bit(value, n));
                let carried = |n| {
                    let (d, r, s) = of(sum, n);
                    d && r || r && !s || !s && d
                };
                let (d7, r7, s7) = of(sum, 7);
                let overflow = d7 && r7 && !s7 || !d7 && !r7 && s7;
                let expected = u8::from(carried(7))
                    | u8::from(sum == 0) << 1
                    | u8::from(s7) << 2
                    | u8::from(overflow) << 3
                    | u8::from(s7 ^ overflow) << 4
                    | u8::from(carried(3)) << 5;
                assert_eq!(flags.bits(), expected, "{d:#x} + {r:#x} + {carry}");

                let mut flags = Flags::of(before);
                let difference = flags.sub_chained(d, r);
                assert_eq!(difference, d.wrapping_sub(r).wrapping_sub(carry));
                let borrowed = |n| {
                    let (d, r, s) = of(difference, n);
                    !d && r || r && s || s && !d
                };
                let (d7, r7, s7) = of(difference, 7);
                let overflow = d7 && !r7 && !s7 || !d7 && r7 && s7;
                let expected = u8::from(borrowed(7))
                    | u8::from(difference == 0 && before & sreg::Z != 0) << 1
                    | u8::from(s7) << 2
                    | u8::from(overflow) << 3
                    | u8::from(s7 ^ overflow) << 4
                    | u8::from(borrowed(3)) << 5;
                assert_eq!(flags.bits(), expected, "{d:#x} - {r:#x} - {carry}");
            }
        }
    }

    #[test]
    fn every_value_of_the_status_register_goes_in_and_comes_out() {
        for value in 0..0x40 {
            assert_eq!(Flags::of(value).bits(), value);
        }
    }
}
