// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signing for tests: P-256 by aws-lc-rs; secp160r1 with big integers and affine points, written
//! apart from the verifier and good for nothing but tests.

use aws_lc_rs::digest;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use num_bigint::BigUint;
use sunseal_link::Suite;
use sunseal_link::message::KeyBytes;

pub enum Signer {
    P256(Box<EcdsaKeyPair>),
    Secp160r1 { suite: Suite, d: BigUint },
}

fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).unwrap()
}

/// SEC 2 version 1, 2.4.2.
struct Curve {
    p: BigUint,
    n: BigUint,
    g: (BigUint, BigUint),
}

fn curve() -> Curve {
    Curve {
        p: number("ffffffffffffffffffffffffffffffff7fffffff"),
        n: number("0100000000000000000001f4c8f927aed3ca752257"),
        g: (
            number("4a96b5688ef573284664698968c38bb913cbfc82"),
            number("23a628553168947d59dcc912042351377ac5fb32"),
        ),
    }
}

type Point = Option<(BigUint, BigUint)>;

impl Curve {
    /// By Fermat: the moduli are primes.
    fn inverse(a: &BigUint, prime: &BigUint) -> BigUint {
        a.modpow(&(prime - 2_u8), prime)
    }

    fn minus(&self, a: &BigUint, b: &BigUint) -> BigUint {
        (a + &self.p - b % &self.p) % &self.p
    }

    fn add(&self, a: &Point, b: &Point) -> Point {
        let (Some((ax, ay)), Some((bx, by))) = (a, b) else { return a.clone().or(b.clone()) };
        let p = &self.p;
        let slope = if ax == bx {
            if ay != by || *ay == BigUint::ZERO {
                return None;
            }
            // (3 x^2 - 3) / (2 y)
            let top = self.minus(&(3_u8 * ax * ax), &BigUint::from(3_u8));
            top * Self::inverse(&(2_u8 * ay % p), p) % p
        } else {
            self.minus(by, ay) * Self::inverse(&self.minus(bx, ax), p) % p
        };
        let x = self.minus(&self.minus(&(&slope * &slope), ax), bx);
        let y = self.minus(&(slope * self.minus(ax, &x)), ay);
        Some((x, y))
    }

    fn mul(&self, k: &BigUint) -> (BigUint, BigUint) {
        let g = Some(self.g.clone());
        let sum = (0..k.bits()).rev().fold(None, |sum, i| {
            let twice = self.add(&sum, &sum);
            if k.bit(i) { self.add(&twice, &g) } else { twice }
        });
        sum.expect("the scalar is not a multiple of n")
    }
}

fn fixed(value: &BigUint, len: usize) -> Vec<u8> {
    let bytes = value.to_bytes_be();
    [vec![0; len - bytes.len()], bytes].concat()
}

impl Signer {
    pub fn new(suite: Suite) -> Self {
        match suite {
            Suite::EcdsaP256Sha256 => {
                let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
                Self::P256(Box::new(key))
            }
            _ => {
                let mut bytes = [0; 20];
                aws_lc_rs::rand::fill(&mut bytes).unwrap();
                Self::Secp160r1 { suite, d: BigUint::from_bytes_be(&bytes) + 1_u8 }
            }
        }
    }

    pub fn suite(&self) -> Suite {
        match self {
            Self::P256(_) => Suite::EcdsaP256Sha256,
            Self::Secp160r1 { suite, .. } => *suite,
        }
    }

    pub fn public_key(&self) -> KeyBytes {
        let bytes = match self {
            // After the 4 of an uncompressed point.
            Self::P256(key) => key.public_key().as_ref()[1..].to_vec(),
            Self::Secp160r1 { d, .. } => {
                let (x, y) = curve().mul(d);
                [fixed(&x, 20), fixed(&y, 20)].concat()
            }
        };
        KeyBytes::copy_of(&bytes).unwrap()
    }

    pub fn sign(&self, message: &[u8]) -> KeyBytes {
        let bytes = match self {
            Self::P256(key) => key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Self::Secp160r1 { suite, d } => {
                let hash = match suite {
                    Suite::EcdsaSecp160r1Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
                    _ => &digest::SHA256,
                };
                let digest = digest::digest(hash, message);
                let bits = 8 * digest.as_ref().len();
                let e = BigUint::from_bytes_be(digest.as_ref()) >> bits.saturating_sub(161);
                let c = curve();
                let mut bytes = [0; 20];
                aws_lc_rs::rand::fill(&mut bytes).unwrap();
                let k = BigUint::from_bytes_be(&bytes) + 1_u8;
                let r = c.mul(&k).0 % &c.n;
                let s = Curve::inverse(&k, &c.n) * (e + &r * d) % &c.n;
                [fixed(&r, 21), fixed(&s, 21)].concat()
            }
        };
        KeyBytes::copy_of(&bytes).unwrap()
    }
}
