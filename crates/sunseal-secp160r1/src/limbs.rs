// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integers of 192 bits and arithmetic modulo p and n. Variable time throughout.

/// An integer below 2^192, least significant limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct U192(pub [u64; 3]);

impl U192 {
    pub const ZERO: Self = Self([0; 3]);
    pub const ONE: Self = Self([1, 0, 0]);

    /// Reads at most 24 bytes, big-endian.
    pub fn from_be(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= 24, "at most 24 bytes fit, not {}", bytes.len());
        let mut limbs = [0; 3];
        for (i, &byte) in bytes.iter().rev().enumerate() {
            limbs[i / 8] |= u64::from(byte) << (8 * (i % 8));
        }
        Self(limbs)
    }

    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    pub fn is_odd(self) -> bool {
        self.0[0] & 1 == 1
    }

    pub fn bit(self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    /// The number of bits up to the highest that is set.
    pub fn bits(self) -> usize {
        (0..192).rev().find(|&i| self.bit(i)).map_or(0, |i| i + 1)
    }

    pub fn less(self, other: Self) -> bool {
        self.minus(other).1
    }

    /// The sum modulo 2^192 and whether it wrapped.
    pub fn plus(self, other: Self) -> (Self, bool) {
        self.limbs(other, u64::overflowing_add)
    }

    /// The difference modulo 2^192 and whether it wrapped.
    pub fn minus(self, other: Self) -> (Self, bool) {
        self.limbs(other, u64::overflowing_sub)
    }

    /// Limb by limb, the lowest first, each with the carry of the one before; and the last carry.
    fn limbs(self, other: Self, step: impl Fn(u64, u64) -> (u64, bool)) -> (Self, bool) {
        let (mut out, mut carry) = ([0; 3], false);
        for (i, limb) in out.iter_mut().enumerate() {
            let (part, a) = step(self.0[i], other.0[i]);
            let (part, b) = step(part, u64::from(carry));
            (*limb, carry) = (part, a | b);
        }
        (Self(out), carry)
    }

    /// Floor of a half.
    pub fn half(self) -> Self {
        let [a, b, c] = self.0;
        Self([a >> 1 | b << 63, b >> 1 | c << 63, c >> 1])
    }
}

/// A modulus below 2^191, so that sums of two residues do not wrap.
#[derive(Clone, Copy, Debug)]
pub struct Modulus(U192);

impl Modulus {
    pub const fn new(limbs: [u64; 3]) -> Self {
        assert!(limbs[2] >> 63 == 0 && limbs[0] & 1 == 1);
        Self(U192(limbs))
    }

    pub const fn value(self) -> U192 {
        self.0
    }

    /// `a` is a residue as it stands.
    pub fn holds(self, a: U192) -> bool {
        a.less(self.0)
    }

    pub fn add(self, a: U192, b: U192) -> U192 {
        let sum = a.plus(b).0;
        match sum.minus(self.0) {
            (reduced, false) => reduced,
            _ => sum,
        }
    }

    pub fn sub(self, a: U192, b: U192) -> U192 {
        match a.minus(b) {
            (difference, false) => difference,
            (wrapped, true) => wrapped.plus(self.0).0,
        }
    }

    /// The product by doubling and adding, for any modulus: twice a verification.
    pub fn mul(self, a: U192, b: U192) -> U192 {
        let mut product = U192::ZERO;
        for i in (0..b.bits()).rev() {
            product = self.add(product, product);
            if b.bit(i) {
                product = self.add(product, a);
            }
        }
        product
    }

    /// The inverse of a residue that is not zero, by the binary extended Euclidean algorithm.
    /// Invariant: `a u == x` and `a v == y` modulo the modulus.
    pub fn invert(self, a: U192) -> U192 {
        let (mut x, mut y) = (a, self.0);
        let (mut u, mut v) = (U192::ONE, U192::ZERO);
        while !x.is_zero() {
            while !x.is_odd() {
                (x, u) = (x.half(), self.halve(u));
            }
            if x.less(y) {
                (x, y, u, v) = (y, x, v, u);
            }
            (x, u) = (x.minus(y).0, self.sub(u, v));
        }
        v
    }

    /// The residue whose double is `a`.
    fn halve(self, a: U192) -> U192 {
        if a.is_odd() { a.plus(self.0).0.half() } else { a.half() }
    }
}

/// The product of two residues modulo p = 2^160 - 2^31 - 1.
pub fn mul_p(a: U192, b: U192) -> U192 {
    // Residues have 160 bits, so the product has 320: five limbs.
    let mut t = [0_u64; 6];
    for i in 0..3 {
        let mut carry = 0;
        for j in 0..3 {
            let sum = u128::from(a.0[i]) * u128::from(b.0[j]) + u128::from(t[i + j]) + carry;
            t[i + j] = sum as u64;
            carry = sum >> 64;
        }
        t[i + 3] = carry as u64;
    }
    // 2^160 == 2^31 + 1: low + high + high 2^31 is below 2^160 + 2^160 + 2^191, so it fits.
    let low = U192([t[0], t[1], t[2] & 0xffff_ffff]);
    let high = U192([t[2] >> 32 | t[3] << 32, t[3] >> 32 | t[4] << 32, t[4] >> 32]);
    let folded = low.plus(high).0.plus(shift_31(high)).0;
    // Once more: what is above bit 160 now has at most 32 bits.
    let low = U192([folded.0[0], folded.0[1], folded.0[2] & 0xffff_ffff]);
    let high = U192([folded.0[2] >> 32, 0, 0]);
    let mut out = low.plus(high).0.plus(shift_31(high)).0;
    while let (reduced, false) = out.minus(super::P.value()) {
        out = reduced;
    }
    out
}

fn shift_31(a: U192) -> U192 {
    let [x, y, z] = a.0;
    U192([x << 31, y << 31 | x >> 33, z << 31 | y >> 33])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{N, P};

    /// Values that sit at limb boundaries and next to the modulus, and some that do not.
    fn samples(m: Modulus) -> Vec<U192> {
        let mut out = vec![U192::ZERO, U192::ONE, U192([u64::MAX, 0, 0]), U192([0, 1, 0])];
        out.extend([U192([u64::MAX, u64::MAX, 0]), U192([0, 0, 1]), U192([0, 0, 0xffff_ffff])]);
        out.extend((1..4).map(|i| m.value().minus(U192([i, 0, 0])).0));
        let mut x = U192([0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb]);
        for _ in 0..40 {
            x = m.add(m.add(x, x), U192([0x1234_5678_9abc_def1, 7, 0]));
            out.push(x);
        }
        out.retain(|&a| m.holds(a));
        out
    }

    #[test]
    fn the_constants_are_what_the_standard_says() {
        // p = 2^160 - 2^31 - 1
        let (sum, _) = P.value().plus(U192([1 << 31, 0, 0]));
        assert_eq!(sum.plus(U192::ONE).0, U192([0, 0, 1 << 32]));
        assert_eq!(N.value().bits(), 161);
    }

    #[test]
    fn folding_agrees_with_doubling_and_adding() {
        for &a in &samples(P) {
            for &b in &samples(P) {
                assert_eq!(mul_p(a, b), P.mul(a, b), "{a:x?} {b:x?}");
            }
        }
    }

    #[test]
    fn an_inverse_times_its_number_is_one() {
        for m in [P, N] {
            for a in samples(m).into_iter().filter(|a| !a.is_zero()) {
                assert_eq!(m.mul(a, m.invert(a)), U192::ONE, "{a:x?}");
            }
        }
    }

    #[test]
    fn subtraction_undoes_addition() {
        for m in [P, N] {
            for &a in &samples(m) {
                for &b in &samples(m) {
                    assert_eq!(m.sub(m.add(a, b), b), a);
                    assert!(m.holds(m.add(a, b)) && m.holds(m.sub(a, b)));
                }
            }
        }
    }
}
