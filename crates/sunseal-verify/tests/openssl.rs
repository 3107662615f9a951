// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same keys, messages and signatures before OpenSSL and before us: both accept, or both
//! refuse. Skipped, aloud, where no `openssl` with these curves is, unless
//! `SUNSEAL_REQUIRE_TOOLS=1`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sunseal_verify::{Refusal, Suite, check_public_key, verify};

struct OpenSsl {
    folder: PathBuf,
    suite: Suite,
    curve: &'static str,
    hash: &'static str,
}

fn openssl(folder: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    Command::new("openssl").current_dir(folder).args(arguments).output()
}

/// The INTEGER of DER (X.690, 8.3) that holds a big-endian scalar.
fn der_integer(scalar: &[u8]) -> Vec<u8> {
    let zeros = scalar.iter().take_while(|&&b| b == 0).count();
    let mut value = scalar[zeros..].to_vec();
    if value.first().is_none_or(|b| b & 0x80 != 0) {
        value.insert(0, 0);
    }
    [&[2, value.len() as u8][..], &value].concat()
}

fn der_of(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    let both = [der_integer(r), der_integer(s)].concat();
    [&[0x30, both.len() as u8][..], &both].concat()
}

fn of_der(der: &[u8], scalar_bytes: usize) -> Vec<u8> {
    assert_eq!((der[0], usize::from(der[1])), (0x30, der.len() - 2));
    let (mut rest, mut out) = (&der[2..], Vec::new());
    while let [2, len, tail @ ..] = rest {
        let (value, tail) = tail.split_at(usize::from(*len));
        let zeros = value.iter().take_while(|&&b| b == 0).count();
        let value = &value[zeros..];
        out.resize(out.len() + scalar_bytes - value.len(), 0);
        out.extend_from_slice(value);
        rest = tail;
    }
    assert_eq!(out.len(), 2 * scalar_bytes);
    out
}

impl OpenSsl {
    fn new(suite: Suite) -> Option<Self> {
        let (curve, hash) = match suite {
            Suite::EcdsaP256Sha256 => ("prime256v1", "-sha256"),
            Suite::EcdsaSecp160r1Sha1 => ("secp160r1", "-sha1"),
            Suite::EcdsaSecp160r1Sha256 => ("secp160r1", "-sha256"),
        };
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(suite.name());
        std::fs::create_dir_all(&folder).unwrap();
        let why = match openssl(&folder, &["ecparam", "-name", curve]) {
            Ok(out) if out.status.success() => return Some(Self { folder, suite, curve, hash }),
            Ok(_) => format!("this openssl does not know {curve}"),
            Err(e) => format!("openssl cannot be run ({e})"),
        };
        let required = std::env::var("SUNSEAL_REQUIRE_TOOLS").as_deref() == Ok("1");
        assert!(!required, "SUNSEAL_REQUIRE_TOOLS=1, but {why}");
        println!("skipped: {why}; install Debian's package openssl");
        None
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let out = openssl(&self.folder, arguments).unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "openssl {arguments:?}: {said}");
        out
    }

    /// A new key: its public half as SubjectPublicKeyInfo, which ends in `x || y`.
    fn new_key(&self) -> Vec<u8> {
        self.run(&["ecparam", "-name", self.curve, "-genkey", "-noout", "-out", "key.pem"]);
        let out = self.run(&["ec", "-in", "key.pem", "-pubout", "-outform", "DER"]);
        out.stdout
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        std::fs::write(self.folder.join("message"), message).unwrap();
        let out = self.run(&["dgst", self.hash, "-sign", "key.pem", "message"]);
        of_der(&out.stdout, self.suite.scalar_bytes())
    }

    fn accepts(&self, spki: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(self.folder.join(name), bytes).unwrap();
        };
        write("public.der", spki);
        write("message", message);
        write("signature.der", &der_of(signature));
        let mut arguments = vec!["dgst", self.hash, "-keyform", "DER", "-verify", "public.der"];
        arguments.extend(["-signature", "signature.der", "message"]);
        let out = openssl(&self.folder, &arguments).unwrap();
        // "Verified OK" on standard output; refusals end with status 1.
        let accepted = out.stdout.starts_with(b"Verified OK");
        assert_eq!(accepted, out.status.success());
        accepted
    }
}

/// Deterministic choice of bits and messages: a failure can be run again.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

fn order(suite: Suite) -> Vec<u8> {
    let hex = match suite {
        Suite::EcdsaP256Sha256 => {
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        }
        _ => "0100000000000000000001f4c8f927aed3ca752257",
    };
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn agree(suite: Suite) {
    let Some(tool) = OpenSsl::new(suite) else { return };
    let mut lcg = Lcg(u64::from(suite.code()));
    let (key_bytes, scalar_bytes) = (suite.public_key_bytes(), suite.scalar_bytes());
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..6 {
        let spki = tool.new_key();
        let key_at = spki.len() - key_bytes;
        assert_eq!(spki[key_at - 1], 4, "an uncompressed point");
        check_public_key(suite, &spki[key_at..]).unwrap();
        for length in [0, 1, 47, 300] {
            let message: Vec<u8> = (0..length).map(|_| lcg.below(256) as u8).collect();
            let signature = tool.sign(&message);
            let mut both = |spki: &[u8], message: &[u8], signature: &[u8]| {
                let ours = verify(suite, &spki[key_at..], message, signature);
                let theirs = tool.accepts(spki, message, signature);
                assert_eq!(ours.is_ok(), theirs, "{ours:?} {spki:02x?} {signature:02x?}");
                *if theirs { &mut accepted } else { &mut refused } += 1;
                ours
            };
            let verified = both(&spki, &message, &signature).unwrap();
            assert_eq!(verified.security_bits, suite.security_bits());

            let mut flipped = signature.clone();
            let bit = lcg.below(8 * flipped.len());
            flipped[bit / 8] ^= 1 << (bit % 8);
            both(&spki, &message, &flipped).unwrap_err();

            let mut other = message.clone();
            other.push(0);
            assert_eq!(both(&spki, &other, &signature), Err(Refusal::BadSignature { suite }));

            let mut off = spki.clone();
            let bit = lcg.below(8 * key_bytes);
            off[key_at + bit / 8] ^= 1 << (bit % 8);
            let found = both(&off, &message, &signature);
            assert_eq!(found, Err(Refusal::KeyOffCurve { suite }));

            for (which, at) in [('r', 0), ('s', scalar_bytes)] {
                for scalar in [vec![0; scalar_bytes], order(suite)] {
                    let mut out_of_range = signature.clone();
                    out_of_range[at..at + scalar_bytes].copy_from_slice(&scalar);
                    let found = both(&spki, &message, &out_of_range);
                    assert_eq!(found, Err(Refusal::ScalarOutOfRange { suite, which }));
                }
            }
        }
    }
    assert_eq!((accepted, refused), (24, 24 * 7));
}

#[test]
fn p256_sha256_agrees_with_openssl() {
    agree(Suite::EcdsaP256Sha256);
}

#[test]
fn secp160r1_sha1_agrees_with_openssl() {
    agree(Suite::EcdsaSecp160r1Sha1);
}

#[test]
fn secp160r1_sha256_agrees_with_openssl() {
    agree(Suite::EcdsaSecp160r1Sha256);
}
