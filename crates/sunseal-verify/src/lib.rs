// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verifying side's cryptography, independent of the firmware: other people's code for P-256
//! and the hashes (aws-lc-rs, RustCrypto), `sunseal-secp160r1` for the curve that no library
//! keeps.
//!
//! A refusal says what is wrong, because the operator needs to tell a truncated frame from a
//! forgery and a forgery from a broken node. All inputs are public, so telling leaks nothing.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use sunseal_secp160r1 as secp160r1;

pub use sunseal_link::Suite;

/// The order of P-256 (SP 800-186, 3.2.1.3), big-endian.
const P256_ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// A signature that holds, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Verified {
    pub suite: Suite,
    pub security_bits: u16,
    /// "legacy" below 112 bits, "current" otherwise.
    pub security_label: &'static str,
}

/// What is wrong; the first of these that applies, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The public key has another length than the suite's `x || y`.
    #[error("a public key of {} has {wanted} bytes, this one has {found}", suite.name())]
    KeyLength {
        /// Signature suite (curve and hash) by which the verification was asked for.
        suite: Suite,
        wanted: usize,
        found: usize,
    },
    /// The signature has another length than the suite's `r || s`.
    #[error("a signature of {} has {wanted} bytes, this one has {found}", suite.name())]
    SignatureLength {
        /// Signature suite (curve and hash) by which the verification was asked for.
        suite: Suite,
        wanted: usize,
        found: usize,
    },
    /// `r` or `s` is not in 1 .. n-1.
    #[error("{which} of the signature is not in 1 .. n-1 of {}", suite.name())]
    ScalarOutOfRange {
        /// Signature suite (curve and hash) by which the verification was asked for.
        suite: Suite,
        which: char,
    },
    /// The public key is not a point of the curve.
    #[error("the public key is not a point of the curve of {}", suite.name())]
    KeyOffCurve {
        /// Signature suite (curve and hash) by which the verification was asked for.
        suite: Suite,
    },
    /// All is well formed, and the signature is not this key's over this message.
    #[error("the {} signature does not verify under this public key", suite.name())]
    BadSignature {
        /// Signature suite (curve and hash) by which the verification was asked for.
        suite: Suite,
    },
}

impl Refusal {
    /// A word for JSON: the names of the link layer's verdicts.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::KeyLength { .. } | Self::SignatureLength { .. } => "malformed",
            Self::ScalarOutOfRange { .. } => "scalar-out-of-range",
            Self::KeyOffCurve { .. } => "key-off-curve",
            Self::BadSignature { .. } => "bad-signature",
        }
    }
}

/// Verifies `r || s` over `message`, hashed as the suite says, under `x || y`.
pub fn verify(
    suite: Suite,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<Verified, Refusal> {
    key_length(suite, public_key)?;
    let (wanted, found) = (suite.signature_bytes(), signature.len());
    let wrong_length = Refusal::SignatureLength { suite, wanted, found };
    if found != wanted {
        return Err(wrong_length);
    }
    match suite {
        Suite::EcdsaP256Sha256 => {
            p256_scalars(signature)?;
            p256_key(public_key)?
                .verify_sig(message, signature)
                .map_err(|_| Refusal::BadSignature { suite })?;
        }
        Suite::EcdsaSecp160r1Sha1 | Suite::EcdsaSecp160r1Sha256 => {
            let signature = signature.try_into().map_err(|_| wrong_length)?;
            let told = |refusal| from_secp160r1(suite, refusal);
            secp160r1::check_scalars(signature).map_err(told)?;
            let key = secp160r1_key(suite, public_key)?;
            match suite {
                Suite::EcdsaSecp160r1Sha1 => key.verify_digest(&Sha1::digest(message), signature),
                _ => key.verify_digest(&Sha256::digest(message), signature),
            }
            .map_err(told)?;
        }
    }
    let (security_bits, security_label) = (suite.security_bits(), suite.security_label());
    Ok(Verified { suite, security_bits, security_label })
}

/// Refuses a key of the wrong length or off the curve, before anything is signed with it.
pub fn check_public_key(suite: Suite, public_key: &[u8]) -> Result<(), Refusal> {
    key_length(suite, public_key)?;
    match suite {
        Suite::EcdsaP256Sha256 => p256_key(public_key).map(|_| ()),
        _ => secp160r1_key(suite, public_key).map(|_| ()),
    }
}

fn key_length(suite: Suite, public_key: &[u8]) -> Result<(), Refusal> {
    let (wanted, found) = (suite.public_key_bytes(), public_key.len());
    if found == wanted { Ok(()) } else { Err(Refusal::KeyLength { suite, wanted, found }) }
}

fn p256_key(public_key: &[u8]) -> Result<ParsedPublicKey, Refusal> {
    // SEC 1, 2.3.3: an uncompressed point. The library refuses coordinates that are not below p
    // and points off the curve.
    let mut uncompressed = [0x04; 65];
    uncompressed[1..].copy_from_slice(public_key);
    ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, uncompressed)
        .map_err(|_| Refusal::KeyOffCurve { suite: Suite::EcdsaP256Sha256 })
}

fn p256_scalars(signature: &[u8]) -> Result<(), Refusal> {
    let (r, s) = signature.split_at(32);
    for (which, scalar) in [('r', r), ('s', s)] {
        if scalar.iter().all(|&b| b == 0) || scalar >= &P256_ORDER[..] {
            return Err(Refusal::ScalarOutOfRange { suite: Suite::EcdsaP256Sha256, which });
        }
    }
    Ok(())
}

fn secp160r1_key(suite: Suite, public_key: &[u8]) -> Result<secp160r1::PublicKey, Refusal> {
    let bytes = public_key.try_into().map_err(|_| Refusal::KeyOffCurve { suite })?;
    secp160r1::PublicKey::from_bytes(bytes).map_err(|refusal| from_secp160r1(suite, refusal))
}

const fn from_secp160r1(suite: Suite, refusal: secp160r1::Refusal) -> Refusal {
    match refusal {
        secp160r1::Refusal::KeyOffCurve => Refusal::KeyOffCurve { suite },
        secp160r1::Refusal::ScalarOutOfRange(which) => Refusal::ScalarOutOfRange { suite, which },
        secp160r1::Refusal::BadSignature => Refusal::BadSignature { suite },
    }
}
