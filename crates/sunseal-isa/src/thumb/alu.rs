// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integer arithmetic: flags, shifts, multiplication, parallel and saturating operations (Armv7-M ARM A2.2
//! and A7.7).

use super::insn::{
    Alu, Condition, Extended, Lanes, Mul, MulLong, Parallel, Saturating, Shift, Unary,
};
use super::psr;

/// The flags while instructions run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// Z is whether the low half is zero, N whether anything from bit 31 up is set: a result, mostly.
    pub nz: u64,
    pub c: bool,
    pub v: bool,
    pub q: bool,
    pub ge: u8,
}

impl Flags {
    pub fn of(psr: u32) -> Self {
        let nz = match (psr & psr::N != 0, psr & psr::Z != 0) {
            (false, false) => 1,
            (false, true) => 0,
            (true, false) => 1 << 31,
            (true, true) => 1 << 32,
        };
        Self {
            nz,
            c: psr & psr::C != 0,
            v: psr & psr::V != 0,
            q: psr & psr::Q != 0,
            ge: (psr >> 16 & 0xF) as u8,
        }
    }

    #[inline(always)]
    pub fn n(&self) -> bool {
        self.nz >> 31 != 0
    }

    #[inline(always)]
    pub fn z(&self) -> bool {
        self.nz as u32 == 0
    }

    /// The bits of APSR.
    pub fn apsr(&self) -> u32 {
        u32::from(self.n()) << 31
            | u32::from(self.z()) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
            | u32::from(self.q) << 27
            | u32::from(self.ge) << 16
    }

    #[inline(always)]
    pub fn set_nz(&mut self, result: u32) {
        self.nz = result.into();
    }

    /// [`holds`](Self::holds) for a condition that is not known at compile time, without a branch.
    #[inline(always)]
    pub fn holds_any(&self, condition: u32) -> bool {
        /// For each N, Z, C, V the conditions that hold, a bit each.
        const HOLD: [u16; 16] = {
            let mut all = [0; 16];
            let mut i = 0;
            while i < 16 {
                let (n, z, c, v) = (i & 8 != 0, i & 4 != 0, i & 2 != 0, i & 1 != 0);
                let pairs = [z, c, n, v, c && !z, n == v, !z && n == v, true];
                let mut k = 0;
                while k < 8 {
                    all[i] |= (pairs[k] as u16) << (2 * k) | (!pairs[k] as u16) << (2 * k + 1);
                    k += 1;
                }
                // The sixteenth is taken as "always", too.
                all[i] |= 1 << 15;
                i += 1;
            }
            all
        };
        let i = usize::from(self.n()) << 3
            | usize::from(self.z()) << 2
            | usize::from(self.c) << 1
            | usize::from(self.v);
        HOLD[i] >> (condition & 15) & 1 != 0
    }

    #[inline(always)]
    pub fn holds(&self, condition: Condition) -> bool {
        match condition {
            Condition::Eq => self.z(),
            Condition::Ne => !self.z(),
            Condition::Cs => self.c,
            Condition::Cc => !self.c,
            Condition::Mi => self.n(),
            Condition::Pl => !self.n(),
            Condition::Vs => self.v,
            Condition::Vc => !self.v,
            Condition::Hi => self.c && !self.z(),
            Condition::Ls => !self.c || self.z(),
            Condition::Ge => self.n() == self.v,
            Condition::Lt => self.n() != self.v,
            Condition::Gt => !self.z() && self.n() == self.v,
            Condition::Le => self.z() || self.n() != self.v,
            Condition::Al => true,
        }
    }
}

/// The sum, its carry and its overflow.
#[inline(always)]
pub(crate) fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    let result = sum as u32;
    (result, sum >> 32 != 0, (a ^ result) & (b ^ result) & 1 << 31 != 0)
}

/// A shift by 0 to 255 and its carry; by zero it changes nothing.
#[inline]
pub(crate) fn shift(value: u32, kind: Shift, amount: u32, carry: bool) -> (u32, bool) {
    if amount == 0 {
        return (value, carry);
    }
    match kind {
        Shift::Lsl => {
            let wide = u64::from(value) << amount.min(33);
            (wide as u32, wide >> 32 & 1 != 0)
        }
        Shift::Lsr => {
            let wide = (u64::from(value) << 1) >> amount.min(33);
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        Shift::Asr => {
            let wide = (i64::from(value as i32) << 1) >> amount.min(33);
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        Shift::Ror => {
            let result = value.rotate_right(amount);
            (result, result >> 31 != 0)
        }
        Shift::Rrx => (value >> 1 | u32::from(carry) << 31, value & 1 != 0),
    }
}

/// As [`shift`], by 1 to 31 to the left, by 1 to 32 to the right, or around by 1 to 31: without a jump, which would go
/// elsewhere with each instruction.
#[inline(always)]
pub(crate) fn shift_by_constant(value: u32, kind: Shift, amount: u32) -> (u32, bool) {
    let left = kind == Shift::Lsl;
    let sign = (value as i32 >> 31) as u32;
    let above = if left || kind == Shift::Ror {
        value
    } else {
        sign & u32::from(kind == Shift::Asr).wrapping_neg()
    };
    let below = if left { 0 } else { value };
    let right = if left { 32 - amount } else { amount };
    let wide = u64::from(above) << 32 | u64::from(below);
    let last = if left { right } else { right.wrapping_sub(1) };
    ((wide >> (right & 63)) as u32, value >> (last & 31) & 1 != 0)
}

/// The result of data processing and the flags that it would set; `shifted` is the carry of the second operand.
#[inline(always)]
pub(crate) fn alu(op: Alu, a: u32, b: u32, shifted: bool, flags: &Flags) -> (u32, Flags) {
    let logical = |result: u32| (result, Flags { nz: result.into(), c: shifted, ..*flags });
    let sum = |a: u32, b: u32, carry: bool| {
        let (result, c, v) = add_with_carry(a, b, carry);
        (result, Flags { nz: result.into(), c, v, ..*flags })
    };
    match op {
        Alu::And | Alu::Tst => logical(a & b),
        Alu::Bic => logical(a & !b),
        Alu::Orr => logical(a | b),
        Alu::Orn => logical(a | !b),
        Alu::Eor | Alu::Teq => logical(a ^ b),
        Alu::Mov => logical(b),
        Alu::Mvn => logical(!b),
        Alu::Add | Alu::Cmn => sum(a, b, false),
        Alu::Adc => sum(a, b, flags.c),
        Alu::Sbc => sum(a, !b, flags.c),
        Alu::Sub | Alu::Cmp => sum(a, !b, true),
        Alu::Rsb => sum(!a, b, true),
    }
}

fn half(value: u32, top: bool) -> i64 {
    i64::from((value >> (16 * u32::from(top))) as i16)
}

/// The two halves, those of Rm exchanged by X.
fn products(n: u32, m: u32, exchange: bool) -> (i64, i64) {
    (half(n, false) * half(m, exchange), half(n, true) * half(m, !exchange))
}

/// A 32-bit product, and whether Q is set.
#[inline(always)]
pub(crate) fn mul(op: Mul, n: u32, m: u32, a: u32) -> (u32, bool) {
    let wide = i64::from(n as i32) * i64::from(m as i32);
    let acc = i64::from(a as i32);
    let checked = |sum: i64| (sum as u32, i64::from(sum as i32) != sum);
    match op {
        Mul::Mul => (n.wrapping_mul(m), false),
        Mul::Mla => (n.wrapping_mul(m).wrapping_add(a), false),
        Mul::Mls => (a.wrapping_sub(n.wrapping_mul(m)), false),
        Mul::Smul(x, y) => ((half(n, x) * half(m, y)) as u32, false),
        Mul::Smla(x, y) => checked(half(n, x) * half(m, y) + acc),
        Mul::Smulw(y) => (((i64::from(n as i32) * half(m, y)) >> 16) as u32, false),
        Mul::Smlaw(y) => checked(((i64::from(n as i32) * half(m, y)) >> 16) + acc),
        Mul::Smuad(x) => {
            let (low, high) = products(n, m, x);
            checked(low + high)
        }
        Mul::Smusd(x) => {
            let (low, high) = products(n, m, x);
            ((low - high) as u32, false)
        }
        Mul::Smlad(x) => {
            let (low, high) = products(n, m, x);
            checked(low + high + acc)
        }
        Mul::Smlsd(x) => {
            let (low, high) = products(n, m, x);
            checked(low - high + acc)
        }
        Mul::Smmul(round) => (((wide + (i64::from(round) << 31)) >> 32) as u32, false),
        Mul::Smmla(round) => {
            let sum = (acc << 32).wrapping_add(wide).wrapping_add(i64::from(round) << 31);
            ((sum >> 32) as u32, false)
        }
        Mul::Smmls(round) => {
            let sum = (acc << 32).wrapping_sub(wide).wrapping_add(i64::from(round) << 31);
            ((sum >> 32) as u32, false)
        }
        Mul::Usad8 | Mul::Usada8 => {
            let (n, m) = (n.to_le_bytes(), m.to_le_bytes());
            let sum: u32 = n.iter().zip(m).map(|(&n, m)| u32::from(n.abs_diff(m))).sum();
            (sum.wrapping_add(if op == Mul::Usada8 { a } else { 0 }), false)
        }
        Mul::Udiv => (n.checked_div(m).unwrap_or(0), false),
        Mul::Sdiv if m == 0 => (0, false),
        Mul::Sdiv => ((n as i32).wrapping_div(m as i32) as u32, false),
    }
}

/// A 64-bit product of Rn and Rm; `old` is RdHi:RdLo.
#[inline(always)]
pub(crate) fn mul_long(op: MulLong, n: u32, m: u32, old: u64) -> u64 {
    let signed = (i64::from(n as i32) * i64::from(m as i32)) as u64;
    let unsigned = u64::from(n) * u64::from(m);
    match op {
        MulLong::Smull => signed,
        MulLong::Umull => unsigned,
        MulLong::Smlal => old.wrapping_add(signed),
        MulLong::Umlal => old.wrapping_add(unsigned),
        MulLong::Umaal => unsigned + (old & 0xFFFF_FFFF) + (old >> 32),
        MulLong::SmlalHalves(x, y) => old.wrapping_add((half(n, x) * half(m, y)) as u64),
        MulLong::Smlald(x) => {
            let (low, high) = products(n, m, x);
            old.wrapping_add((low + high) as u64)
        }
        MulLong::Smlsld(x) => {
            let (low, high) = products(n, m, x);
            old.wrapping_add((low - high) as u64)
        }
    }
}

/// Saturates to `width` bits: the result and whether it is another number.
pub(crate) fn saturate(value: i64, width: u32, signed: bool) -> (u32, bool) {
    let (min, max) = if signed {
        (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1)
    } else {
        (0, (1i64 << width) - 1)
    };
    let limited = value.clamp(min, max);
    (limited as u32, limited != value)
}

/// A parallel addition or subtraction; the GE flags where the lanes set them.
pub(crate) fn parallel(op: Parallel, lanes: Lanes, n: u32, m: u32) -> (u32, Option<u8>) {
    use Parallel as P;
    let signed = matches!(lanes, Lanes::Signed | Lanes::SignedSaturated | Lanes::SignedHalved);
    let width = if matches!(op, P::Add8 | P::Sub8) { 8 } else { 16 };
    let part = |word: u32, i: u32| {
        let bits = word >> (i * width) & ((1 << width) - 1);
        if signed {
            i64::from((bits << (32 - width)) as i32 >> (32 - width))
        } else {
            i64::from(bits)
        }
    };
    let (mut result, mut ge) = (0, 0);
    for i in 0..32 / width {
        let exchanged = matches!(op, P::Asx | P::Sax);
        let (x, y) = (part(n, i), part(m, if exchanged { 1 - i } else { i }));
        let adds = match op {
            P::Add16 | P::Add8 => true,
            P::Sub16 | P::Sub8 => false,
            P::Asx => i == 1,
            P::Sax => i == 0,
        };
        let sum = if adds { x + y } else { x - y };
        let kept = match lanes {
            Lanes::Signed | Lanes::Unsigned => sum as u32,
            Lanes::SignedSaturated => saturate(sum, width, true).0,
            Lanes::UnsignedSaturated => saturate(sum, width, false).0,
            Lanes::SignedHalved | Lanes::UnsignedHalved => (sum >> 1) as u32,
        };
        result |= (kept & ((1 << width) - 1)) << (i * width);
        let set = match (signed, adds) {
            (false, true) => sum >> width != 0,
            _ => sum >= 0,
        };
        let bits = if width == 8 { 1 } else { 3 };
        ge |= (u8::from(set) * bits) << (i * width / 8);
    }
    (result, matches!(lanes, Lanes::Signed | Lanes::Unsigned).then_some(ge))
}

/// QADD and its like: the result and whether Q is set.
pub(crate) fn saturating(op: Saturating, m: u32, n: u32) -> (u32, bool) {
    let (m, n) = (i64::from(m as i32), i64::from(n as i32));
    let doubled = |n: i64| {
        let (value, q) = saturate(2 * n, 32, true);
        (i64::from(value as i32), q)
    };
    let ((n, first), subtract) = match op {
        Saturating::Qadd => ((n, false), false),
        Saturating::Qsub => ((n, false), true),
        Saturating::Qdadd => (doubled(n), false),
        Saturating::Qdsub => (doubled(n), true),
    };
    let (value, second) = saturate(if subtract { m - n } else { m + n }, 32, true);
    (value, first || second)
}

/// An extension: the part of `m` rotated right, added to `n` part by part.
pub(crate) fn extend(signed: bool, part: Extended, n: u32, m: u32, rotate: u32) -> u32 {
    let m = m.rotate_right(rotate);
    match (part, signed) {
        (Extended::Byte, true) => n.wrapping_add(m as i8 as u32),
        (Extended::Byte, false) => n.wrapping_add(m & 0xFF),
        (Extended::Half, true) => n.wrapping_add(m as i16 as u32),
        (Extended::Half, false) => n.wrapping_add(m & 0xFFFF),
        (Extended::TwoBytes, signed) => {
            let byte = |shift: u32| {
                let byte = (m >> shift) as u8;
                if signed { byte as i8 as u32 } else { byte.into() }
            };
            let low = n.wrapping_add(byte(0)) & 0xFFFF;
            let high = (n >> 16).wrapping_add(byte(16)) << 16;
            high | low
        }
    }
}

pub(crate) fn unary(op: Unary, m: u32) -> u32 {
    match op {
        Unary::Clz => m.leading_zeros(),
        Unary::Rbit => m.reverse_bits(),
        Unary::Rev => m.swap_bytes(),
        Unary::Rev16 => m.swap_bytes().rotate_left(16),
        Unary::Revsh => (m as u16).swap_bytes() as i16 as u32,
    }
}

/// SEL
pub(crate) fn select(ge: u8, n: u32, m: u32) -> u32 {
    let mask = (0..4).fold(0, |mask, i| mask | (u32::from(ge >> i & 1) * 0xFF) << (8 * i));
    n & mask | m & !mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_shift_agree() {
        for (kind, most) in [(Shift::Lsl, 31), (Shift::Lsr, 32), (Shift::Asr, 32), (Shift::Ror, 31)]
        {
            for n in 1..=most {
                for value in [0, 1, 0x8000_0000, 0x1234_5678, 0xEDCB_A987, u32::MAX] {
                    let one = shift(value, kind, n, false);
                    assert_eq!(shift_by_constant(value, kind, n), one, "{value:#x} {kind:?} {n}");
                }
            }
        }
    }

    #[test]
    fn both_ways_to_test_a_condition_agree() {
        for bits in 0..16u32 {
            let flags = Flags::of(bits << 28);
            assert_eq!(flags.apsr(), bits << 28);
            for condition in 0..16 {
                let one = flags.holds(Condition::of(condition));
                assert_eq!(one, flags.holds_any(condition), "{bits:#x} {condition}");
            }
        }
    }
}
