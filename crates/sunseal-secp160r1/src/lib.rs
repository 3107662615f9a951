// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECDSA verification on secp160r1 (SEC 2 version 1, section 2.4.2): small, variable-time,
//! verify-only.
//!
//! Why our own: Mane 2014 signs on this curve, no well-kept Rust library has it, and
//! distributions drop it from OpenSSL. Why a crate: it has no dependency but the error macro and
//! can be read, tested and thrown away alone.
//!
//! **Every operation's time depends on its operands.** That is right for verification, where all
//! of them are public, and would be a leak anywhere else: there is no signing here, and none may
//! be added. The curve offers 80 bits of security at best; use it for legacy nodes and for
//! comparison with published figures.
//!
//! It is checked against the Wycheproof file of this curve and, through `sunseal-verify`'s tests,
//! against OpenSSL.

mod limbs;
mod point;

use limbs::{Modulus, U192};
use point::{Affine, Jacobian};

/// Bytes of a coordinate.
pub const FIELD_BYTES: usize = 20;
/// Bytes of `r`, and of `s`: the order has 161 bits.
pub const SCALAR_BYTES: usize = 21;
/// Bytes of a public key, `x || y`.
pub const PUBLIC_KEY_BYTES: usize = 2 * FIELD_BYTES;
/// Bytes of a signature, `r || s`.
pub const SIGNATURE_BYTES: usize = 2 * SCALAR_BYTES;
/// Bits of the order: a longer digest is cut to its leftmost 161 bits (SEC 1, 4.1.4).
const ORDER_BITS: usize = 161;

/// p = 2^160 - 2^31 - 1
const P: Modulus = Modulus::new([0xffff_ffff_7fff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff]);
/// The order of the group; the cofactor is 1, so every point of the curve is in it.
const N: Modulus = Modulus::new([0xf927_aed3_ca75_2257, 0x0000_0000_0001_f4c8, 0x1_0000_0000]);

/// Why a signature or key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A coordinate is not below p, or the point does not satisfy the curve's equation.
    #[error("the public key is not a point of secp160r1")]
    KeyOffCurve,
    /// `r` or `s` is zero or not below the order.
    #[error("{0} is not in 1 .. n-1 of secp160r1")]
    ScalarOutOfRange(char),
    /// Everything is well formed, and the signature is not this key's over this digest.
    #[error("the signature does not verify")]
    BadSignature,
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(Affine);

impl PublicKey {
    /// Reads `x || y`, big-endian; refuses what is not on the curve.
    pub fn from_bytes(bytes: &[u8; PUBLIC_KEY_BYTES]) -> Result<Self, Refusal> {
        let (x, y) = bytes.split_at(FIELD_BYTES);
        let point = Affine { x: U192::from_be(x), y: U192::from_be(y) };
        if P.holds(point.x) && P.holds(point.y) && point.on_curve() {
            Ok(Self(point))
        } else {
            Err(Refusal::KeyOffCurve)
        }
    }

    /// Verifies `r || s` over a digest (SEC 1, 4.1.4).
    pub fn verify_digest(
        &self,
        digest: &[u8],
        signature: &[u8; SIGNATURE_BYTES],
    ) -> Result<(), Refusal> {
        let (r, s) = scalars(signature)?;
        let e = digest_scalar(digest);
        let w = N.invert(s);
        let (u1, u2) = (N.mul(e, w), N.mul(r, w));
        let sum = Jacobian::double_mul(u1, Affine::GENERATOR, u2, self.0);
        // p < n, so the x coordinate needs no reduction.
        match sum.to_affine() {
            Some(point) if point.x == r => Ok(()),
            _ => Err(Refusal::BadSignature),
        }
    }
}

/// Refuses `r || s` of which one is not in 1 .. n-1, without looking at anything else.
pub fn check_scalars(signature: &[u8; SIGNATURE_BYTES]) -> Result<(), Refusal> {
    scalars(signature).map(|_| ())
}

fn scalars(signature: &[u8; SIGNATURE_BYTES]) -> Result<(U192, U192), Refusal> {
    let (r, s) = signature.split_at(SCALAR_BYTES);
    let scalar = |name, bytes| {
        let value = U192::from_be(bytes);
        let fits = !value.is_zero() && N.holds(value);
        fits.then_some(value).ok_or(Refusal::ScalarOutOfRange(name))
    };
    Ok((scalar('r', r)?, scalar('s', s)?))
}

/// The leftmost 161 bits of the digest, reduced modulo n.
fn digest_scalar(digest: &[u8]) -> U192 {
    let kept = &digest[..digest.len().min(ORDER_BITS.div_ceil(8))];
    let mut e = U192::from_be(kept);
    let surplus_bits = (8 * kept.len()).saturating_sub(ORDER_BITS);
    for _ in 0..surplus_bits {
        e = e.half();
    }
    if N.holds(e) { e } else { e.minus(N.value()).0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: [u8; 40] = [
        0x4a, 0x96, 0xb5, 0x68, 0x8e, 0xf5, 0x73, 0x28, 0x46, 0x64, 0x69, 0x89, 0x68, 0xc3, 0x8b,
        0xb9, 0x13, 0xcb, 0xfc, 0x82, 0x23, 0xa6, 0x28, 0x55, 0x31, 0x68, 0x94, 0x7d, 0x59, 0xdc,
        0xc9, 0x12, 0x04, 0x23, 0x51, 0x37, 0x7a, 0xc5, 0xfb, 0x32,
    ];

    #[test]
    fn the_generator_is_on_the_curve_and_has_order_n() {
        let g = PublicKey::from_bytes(&G).unwrap().0;
        assert_eq!(g, Affine::GENERATOR);
        let zero = U192::from_be(&[0]);
        assert_eq!(Jacobian::double_mul(N.value(), g, zero, g).to_affine(), None);
        let less = N.value().minus(U192::from_be(&[1])).0;
        let minus_g = Jacobian::double_mul(less, g, zero, g).to_affine().unwrap();
        assert_eq!((minus_g.x, P.add(minus_g.y, g.y)), (g.x, zero));
    }

    #[test]
    fn equal_and_opposite_points_add_rightly() {
        // u1 G + u2 G for small u1, u2 passes through every special case of the addition.
        let g = Affine::GENERATOR;
        let times = |a: u8, b: u8| {
            let (a, b) = (U192::from_be(&[a]), U192::from_be(&[b]));
            Jacobian::double_mul(a, g, b, g).to_affine()
        };
        for a in 0..12 {
            for b in 0..12 {
                assert_eq!(times(a, b), times(a + b, 0), "{a} G + {b} G");
            }
        }
        assert_eq!(times(0, 0), None);
        let minus_g = Affine { x: g.x, y: P.sub(U192::from_be(&[0]), g.y) };
        let one = U192::from_be(&[1]);
        assert_eq!(Jacobian::double_mul(one, g, one, minus_g).to_affine(), None);
    }

    #[test]
    fn keys_off_the_curve_are_refused() {
        let off = |bytes: [u8; 40]| {
            assert_eq!(PublicKey::from_bytes(&bytes), Err(Refusal::KeyOffCurve), "{bytes:02x?}");
        };
        for bit in 0..320 {
            let mut flipped = G;
            flipped[bit / 8] ^= 1 << (bit % 8);
            off(flipped);
        }
        off([0; 40]);
        off([0xff; 40]);
        // x + p is the same point to whoever reduces silently; it does not fit 20 bytes here,
        // so take a small coordinate: x = 0 has the root y of b, and p stands for x = 0.
        let mut p_for_zero = [0; 40];
        p_for_zero[..20].fill(0xff);
        p_for_zero[16] = 0x7f;
        off(p_for_zero);
    }

    #[test]
    fn scalars_out_of_range_are_told_by_name() {
        let n = {
            let mut n = [0; 21];
            n[0] = 1;
            n[11..].copy_from_slice(&[0xf4, 0xc8, 0xf9, 0x27, 0xae, 0xd3, 0xca, 0x75, 0x22, 0x57]);
            n[10] = 1;
            n
        };
        let mut one = [0; 21];
        one[20] = 1;
        let mut last = n;
        last[20] -= 1;
        let check = |r: [u8; 21], s: [u8; 21]| {
            let mut signature = [0; 42];
            signature[..21].copy_from_slice(&r);
            signature[21..].copy_from_slice(&s);
            check_scalars(&signature)
        };
        let refused = |which| Err(Refusal::ScalarOutOfRange(which));
        assert_eq!(check(one, one), Ok(()));
        assert_eq!(check(last, last), Ok(()));
        assert_eq!(check([0; 21], one), refused('r'));
        assert_eq!(check(one, [0; 21]), refused('s'));
        assert_eq!(check(n, one), refused('r'));
        assert_eq!(check(one, n), refused('s'));
        assert_eq!(check([0xff; 21], one), refused('r'));
    }
}
