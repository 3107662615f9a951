// SPDX-License-Identifier: MIT OR Apache-2.0
//! The signature suites of the air and the sizes that follow from them.

codes! {
    /// A curve with a hash, under the number it has on the air.
    Suite {
        /// ECDSA on P-256 (secp256r1) over SHA-256.
        EcdsaP256Sha256 = 1 "ecdsa-p256-sha256",
        /// ECDSA on secp160r1 over SHA-1, as Mane 2014 signs. Legacy: 80 bits.
        EcdsaSecp160r1Sha1 = 2 "ecdsa-secp160r1-sha1",
        /// ECDSA on secp160r1 over SHA-256 cut to the order's length. Legacy: 80 bits.
        EcdsaSecp160r1Sha256 = 3 "ecdsa-secp160r1-sha256",
    }
}

impl Suite {
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
