// SPDX-License-Identifier: MIT OR Apache-2.0
//! SREG as the handlers leave it: what the flags come from instead of what they are.

use super::sreg;

/// C, Z, N, V, S and H.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flags {
    /// Carries out of each bit: C is bit 7, H is bit 3.
    pub carries: u8,
    /// Z is set where this is zero.
    pub zero: u8,
    /// N is bit 7.
    pub negative: u8,
    /// V is bit 7.
    pub overflow: u8,
    /// S is bit 7.
    pub sign: u8,
}

impl Flags {
    pub fn of(value: u8) -> Self {
        let top = |flag: u8| if value & flag != 0 { 0x80 } else { 0 };
        Self {
            carries: top(sreg::C) | top(sreg::H) >> 4,
            zero: !value & sreg::Z,
            negative: top(sreg::N),
            overflow: top(sreg::V),
            sign: top(sreg::S),
        }
    }

    /// Bits 5 to 0 of SREG.
    #[inline(always)]
    pub fn bits(self) -> u8 {
        self.carries >> 7
            | u8::from(self.zero == 0) << 1
            | self.negative >> 7 << 2
            | self.overflow >> 7 << 3
            | self.sign >> 7 << 4
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
            1 => self.zero == 0,
            2 => self.negative & 0x80 != 0,
            3 => self.overflow & 0x80 != 0,
            4 => self.sign & 0x80 != 0,
            _ => self.carries & 8 != 0,
        }
    }

    /// Changes flag number `FLAG` (0 C to 5 H).
    #[inline(always)]
    pub fn set<const FLAG: u8>(&mut self, on: bool) {
        let top = u8::from(on) << 7;
        match FLAG {
            0 => self.carries = self.carries & 0x7F | top,
            1 => self.zero = u8::from(!on),
            2 => self.negative = top,
            3 => self.overflow = top,
            4 => self.sign = top,
            _ => self.carries = self.carries & !8 | top >> 4,
        }
    }

    /// N, V and S of a result.
    #[inline(always)]
    fn signed(&mut self, result: u8, overflow: u8) {
        self.negative = result;
        self.overflow = overflow;
        self.sign = result ^ overflow;
    }

    #[inline(always)]
    pub fn add(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let sum = d.wrapping_add(r).wrapping_add(carry);
        self.carries = d & r | (d | r) & !sum;
        self.zero = sum;
        self.signed(sum, (d ^ sum) & (r ^ sum));
        sum
    }

    #[inline(always)]
    pub fn sub(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let difference = d.wrapping_sub(r).wrapping_sub(carry);
        self.carries = !d & r | (!d | r) & difference;
        self.zero = difference;
        self.signed(difference, (d ^ r) & (d ^ difference));
        difference
    }

    /// As `sub`, with the rule of CPC, SBC and SBCI: Z can only be cleared.
    #[inline(always)]
    pub fn sub_chained(&mut self, d: u8, r: u8) -> u8 {
        let zero = self.zero;
        let difference = self.sub(d, r, self.carry());
        self.zero |= zero;
        difference
    }

    /// AND, OR, EOR.
    #[inline(always)]
    pub fn logic(&mut self, result: u8) -> u8 {
        self.zero = result;
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
        self.zero = result;
        self.signed(result, result & !d);
        result
    }

    #[inline(always)]
    pub fn dec(&mut self, d: u8) -> u8 {
        let result = d.wrapping_sub(1);
        self.zero = result;
        self.signed(result, !result & d);
        result
    }

    /// ASR, LSR, ROR: `d` moved to the right, with `top` in bit 7. V is N xor C.
    #[inline(always)]
    pub fn shift(&mut self, d: u8, top: u8) -> u8 {
        let result = d >> 1 | top;
        let carry = d << 7;
        self.carries = self.carries & 0x7F | carry;
        self.zero = result;
        self.signed(result, result ^ carry);
        result
    }

    /// ADIW and SBIW: H stays.
    #[inline(always)]
    pub fn wide(&mut self, old: u16, result: u16, subtract: bool) {
        let (d, r) = ((old >> 8) as u8, (result >> 8) as u8);
        let (overflow, carry) = if subtract { (d & !r, r & !d) } else { (r & !d, d & !r) };
        self.carries = self.carries & 0x7F | carry & 0x80;
        self.zero = (result | result >> 8) as u8;
        self.signed(r, overflow);
    }

    /// The multiplications: C is bit 15 of the product, Z is of what is stored.
    #[inline(always)]
    pub fn product(&mut self, product: u16, stored: u16) {
        self.carries = self.carries & 0x7F | (product >> 8) as u8 & 0x80;
        self.zero = (stored | stored >> 8) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Boolean formulae of DS40002198 sections 6.1 (ADC) and 6.93 (SBC), bit by bit.
    #[test]
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
