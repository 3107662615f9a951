// SPDX-License-Identifier: MIT OR Apache-2.0
//! The signature suites of the air and the sizes that follow from them.

/// A curve with a hash, under the number it has on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Suite {
    /// ECDSA on P-256 (secp256r1) over SHA-256.
    EcdsaP256Sha256 = 1,
    /// ECDSA on secp160r1 over SHA-1, as Mane 2014 signs. Legacy: 80 bits.
    EcdsaSecp160r1Sha1 = 2,
    /// ECDSA on secp160r1 over SHA-256 cut to the order's length. Legacy: 80 bits.
    EcdsaSecp160r1Sha256 = 3,
}

impl Suite {
    /// Every suite, in the order of their numbers.
    pub const ALL: [Suite; 3] =
        [Suite::EcdsaP256Sha256, Suite::EcdsaSecp160r1Sha1, Suite::EcdsaSecp160r1Sha256];

    /// The suite of a number on the air.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::EcdsaP256Sha256),
            2 => Some(Self::EcdsaSecp160r1Sha1),
            3 => Some(Self::EcdsaSecp160r1Sha256),
            _ => None,
        }
    }

    /// The number on the air.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The name used in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EcdsaP256Sha256 => "ecdsa-p256-sha256",
            Self::EcdsaSecp160r1Sha1 => "ecdsa-secp160r1-sha1",
            Self::EcdsaSecp160r1Sha256 => "ecdsa-secp160r1-sha256",
        }
    }

    /// The suite of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }

    /// Bytes of one field element: half a public key.
    pub const fn field_bytes(self) -> usize {
        match self {
            Self::EcdsaP256Sha256 => 32,
            _ => 20,
        }
    }

    /// Bytes of `r`, and of `s`. The order of secp160r1 has 161 bits, hence 21.
    pub const fn scalar_bytes(self) -> usize {
        match self {
            Self::EcdsaP256Sha256 => 32,
            _ => 21,
        }
    }

    /// Bytes of a public key, `x || y`.
    pub const fn public_key_bytes(self) -> usize {
        2 * self.field_bytes()
    }

    /// Bytes of a signature, `r || s`.
    pub const fn signature_bytes(self) -> usize {
        2 * self.scalar_bytes()
    }

    /// The work of the best known attack on the curve, as a power of two.
    pub const fn security_bits(self) -> u16 {
        match self {
            Self::EcdsaP256Sha256 => 128,
            _ => 80,
        }
    }

    /// "legacy" below 112 bits (NIST SP 800-57 part 1, table 2), "current" otherwise.
    pub const fn security_label(self) -> &'static str {
        if self.security_bits() < 112 { "legacy" } else { "current" }
    }
}
