// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points of y^2 = x^3 - 3 x + b over GF(p).

use crate::P;
use crate::limbs::{U192, mul_p};

/// b (SEC 2 version 1, 2.4.2)
const B: U192 = U192([0x81d4_d4ad_c565_fa45, 0x54bd_7a8b_65ac_f89f, 0x1c97_befc]);

/// A point other than infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    pub x: U192,
    pub y: U192,
}

impl Affine {
    /// G (SEC 2 version 1, 2.4.2)
    pub const GENERATOR: Self = Self {
        x: U192([0x68c3_8bb9_13cb_fc82, 0x8ef5_7328_4664_6989, 0x4a96_b568]),
        y: U192([0x0423_5137_7ac5_fb32, 0x3168_947d_59dc_c912, 0x23a6_2855]),
    };

    pub fn on_curve(self) -> bool {
        let x_cubed = mul_p(mul_p(self.x, self.x), self.x);
        let three_x = P.add(P.add(self.x, self.x), self.x);
        mul_p(self.y, self.y) == P.add(P.sub(x_cubed, three_x), B)
    }
}

/// (X / Z^2, Y / Z^3); Z = 0 is infinity.
#[derive(Clone, Copy, Debug)]
pub struct Jacobian {
    x: U192,
    y: U192,
    z: U192,
}

impl Jacobian {
    const INFINITY: Self = Self { x: U192::ONE, y: U192::ONE, z: U192::ZERO };

    pub fn to_affine(self) -> Option<Affine> {
        if self.z.is_zero() {
            return None;
        }
        let inverse = P.invert(self.z);
        let square = mul_p(inverse, inverse);
        Some(Affine { x: mul_p(self.x, square), y: mul_p(self.y, mul_p(square, inverse)) })
    }

    /// a G + b Q, both scalars read together from the top (Shamir's trick).
    pub fn double_mul(a: U192, g: Affine, b: U192, q: Affine) -> Self {
        let both = Self::from(g).add_affine(q).to_affine();
        let mut sum = Self::INFINITY;
        for i in (0..a.bits().max(b.bits())).rev() {
            sum = sum.double();
            sum = match (a.bit(i), b.bit(i)) {
                (true, true) => both.map_or(sum, |point| sum.add_affine(point)),
                (true, false) => sum.add_affine(g),
                (false, true) => sum.add_affine(q),
                (false, false) => sum,
            };
        }
        sum
    }

    /// Doubling with a = -3: 3 M + 5 S in the usual count.
    fn double(self) -> Self {
        let Self { x, y, z } = self;
        if z.is_zero() || y.is_zero() {
            return Self::INFINITY;
        }
        let zz = mul_p(z, z);
        let yy = mul_p(y, y);
        let xyy = mul_p(x, yy);
        // 3 x^2 - 3 z^4 = 3 (x - z^2) (x + z^2)
        let product = mul_p(P.sub(x, zz), P.add(x, zz));
        let slope = P.add(P.add(product, product), product);
        let four_xyy = twice(twice(xyy));
        let x3 = P.sub(mul_p(slope, slope), twice(four_xyy));
        let eight_y4 = twice(twice(twice(mul_p(yy, yy))));
        let y3 = P.sub(mul_p(slope, P.sub(four_xyy, x3)), eight_y4);
        Self { x: x3, y: y3, z: twice(mul_p(y, z)) }
    }

    fn add_affine(self, other: Affine) -> Self {
        if self.z.is_zero() {
            return other.into();
        }
        let zz = mul_p(self.z, self.z);
        let h = P.sub(mul_p(other.x, zz), self.x);
        let r = P.sub(mul_p(other.y, mul_p(zz, self.z)), self.y);
        if h.is_zero() {
            // The same x: the same point, or its opposite.
            return if r.is_zero() { self.double() } else { Self::INFINITY };
        }
        let hh = mul_p(h, h);
        let hhh = mul_p(hh, h);
        let v = mul_p(self.x, hh);
        let x3 = P.sub(P.sub(mul_p(r, r), hhh), twice(v));
        let y3 = P.sub(mul_p(r, P.sub(v, x3)), mul_p(self.y, hhh));
        Self { x: x3, y: y3, z: mul_p(self.z, h) }
    }
}

impl From<Affine> for Jacobian {
    fn from(point: Affine) -> Self {
        Self { x: point.x, y: point.y, z: U192::ONE }
    }
}

fn twice(a: U192) -> U192 {
    P.add(a, a)
}
