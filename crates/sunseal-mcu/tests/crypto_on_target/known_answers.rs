// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys, signatures and verdicts against Wycheproof, RFC 6979, GEC 2, FIPS 180-4 and our own model. What
//! all variants share runs whole where a multiplier makes it quick, by samples of each kind elsewhere.

use sunseal_trace::Silent;

use crate::target::{Arg, Target, VARIANTS};
use crate::vectors::{Verify, bytes, digest, load, rows, unhex, wycheproof};

const OK: i16 = 0;
const ERR_SIGNATURE: i16 = -1;
const ERR_PRIVATE_KEY: i16 = -2;
const ERR_PUBLIC_KEY: i16 = -3;
const ERR_ENTROPY: i16 = -4;

struct Curve {
    name: &'static str,
    target: Target,
    private_bytes: usize,
    public_bytes: usize,
}

impl Curve {
    fn secp160r1(variant: &str) -> Self {
        let target = Target::new(variant, "bench-ecdsa-secp160r1-all");
        Self { name: "secp160r1", target, private_bytes: 21, public_bytes: 40 }
    }

    fn p256(variant: &str) -> Self {
        let target = Target::new(variant, "bench-ecdsa-p256-all");
        Self { name: "p256", target, private_bytes: 32, public_bytes: 64 }
    }

    fn function(&self, operation: &str) -> String {
        format!("sunseal_ecdsa_{}_{operation}", self.name)
    }

    fn keygen(&mut self, entropy: &[u8]) -> (i16, Vec<u8>) {
        let args = [
            Arg::room(self.private_bytes),
            Arg::room(self.public_bytes),
            Arg::Bytes(entropy.to_vec()),
        ];
        let done = self.target.call(&self.function("keygen"), &args, &mut Silent);
        (done.status(), done.buffers[..2].concat())
    }

    fn sign(&mut self, d: &[u8], hash: &[u8], added: &[u8]) -> (i16, Vec<u8>) {
        let args = [
            Arg::room(2 * self.private_bytes),
            Arg::Bytes(d.to_vec()),
            Arg::Bytes(hash.to_vec()),
            Arg::Value(hash.len() as u16),
            Arg::Bytes(added.to_vec()),
            Arg::Value(added.len() as u16),
        ];
        let done = self.target.call(&self.function("sign_added"), &args, &mut Silent);
        (done.status(), done.buffers[0].clone())
    }

    fn verify(&mut self, key: &[u8], signature: &[u8], hash: &[u8]) -> i16 {
        let args = [
            Arg::Bytes(key.to_vec()),
            Arg::Bytes(signature.to_vec()),
            Arg::Bytes(hash.to_vec()),
            Arg::Value(hash.len() as u16),
        ];
        self.target.call(&self.function("verify"), &args, &mut Silent).status()
    }

    fn judge(&mut self, rows: &[Verify]) {
        for row in rows {
            let status = self.verify(&row.key, &row.signature, &row.hash);
            let wanted = if row.valid { OK } else { ERR_SIGNATURE };
            assert_eq!(status, wanted, "{}", row.name);
        }
    }

    /// Every bad input is refused by its name, and nothing but zeros comes out.
    fn refuse(&mut self) {
        let (n, ones) = (self.private_bytes, [0xFF; 64]);
        let (status, out) = self.keygen(&[0; 32]);
        assert_eq!((status, out.iter().any(|&b| b != 0)), (ERR_ENTROPY, false));
        let hash = [1; 32];
        for d in [&[0; 32][..n], &ones[..n]] {
            let (status, out) = self.sign(d, &hash, &[]);
            assert_eq!((status, out.iter().any(|&b| b != 0)), (ERR_PRIVATE_KEY, false));
        }
        let public = self.public_bytes;
        assert_eq!(self.verify(&ones[..public], &vec![1; 2 * n], &hash), ERR_PUBLIC_KEY);
        assert_eq!(self.verify(&vec![1; public], &vec![1; 2 * n], &hash), ERR_PUBLIC_KEY);
    }
}

/// Rows that a variant has time for: of `all`, `count` spread evenly.
fn spread<T>(all: Vec<T>, count: usize) -> Vec<T> {
    let step = all.len().div_ceil(count).max(1);
    all.into_iter().step_by(step).collect()
}

/// The rows of our own model, which OpenSSL has judged.
fn model_agrees(curve: &mut Curve, count: usize) {
    let file = load(&format!("{}.json", curve.name));
    for row in spread(rows(&file, "keygen"), count) {
        let wanted = [bytes(&row, "d"), bytes(&row, "q")].concat();
        assert_eq!(curve.keygen(&bytes(&row, "entropy")), (OK, wanted), "{row}");
    }
    for row in spread(rows(&file, "sign"), count) {
        let hash = digest(row["hash"].as_str().unwrap(), &bytes(&row, "message"));
        let (d, q) = (bytes(&row, "d"), bytes(&row, "q"));
        let mut signature = bytes(&row, "signature");
        let made = curve.sign(&d, &hash, &bytes(&row, "added_entropy"));
        assert_eq!(made, (OK, signature.clone()), "{row}");
        assert_eq!(curve.verify(&q, &signature, &hash), OK, "{row}");
        signature[30] ^= 4;
        assert_eq!(curve.verify(&q, &signature, &hash), ERR_SIGNATURE, "{row}, a bit turned");
    }
}

fn secp160r1_agrees(variant: &str, wycheproof_each: usize, ours: usize) {
    let mut curve = Curve::secp160r1(variant);
    model_agrees(&mut curve, ours);
    let gec = load("gec2.json");
    for row in rows(&gec, "verify") {
        let hash = digest("sha1", &bytes(&row, "message"));
        assert_eq!(curve.verify(&bytes(&gec, "q"), &bytes(&row, "signature"), &hash), OK, "GEC 2");
    }
    curve.judge(&wycheproof("ecdsa_secp160r1_sha256_p1363_test.json", 42, wycheproof_each));
    curve.refuse();
}

fn p256_agrees(variant: &str, wycheproof_each: usize, ours: usize) {
    let mut curve = Curve::p256(variant);
    let rfc = load("rfc6979.json");
    let (d, q) = (bytes(&rfc, "d"), bytes(&rfc, "q"));
    assert_eq!(curve.keygen(&d), (OK, [d.clone(), q.clone()].concat()), "RFC 6979 key");
    for row in spread(rows(&rfc, "sign"), ours) {
        let signature = bytes(&row, "signature");
        let hash = digest(row["hash"].as_str().unwrap(), &bytes(&row, "message"));
        if row["hash"] == "sha256" {
            assert_eq!(curve.sign(&d, &hash, &[]), (OK, signature.clone()), "{row}");
        }
        assert_eq!(curve.verify(&q, &signature, &hash), OK, "{row}");
    }
    model_agrees(&mut curve, ours);
    curve.judge(&wycheproof("ecdsa_secp256r1_sha256_p1363_test.json", 64, wycheproof_each));
    curve.refuse();
}

#[test]
fn secp160r1_without_multiplier_gives_the_known_answers() {
    secp160r1_agrees("mpy-none", 1, 3);
}

#[test]
fn secp160r1_with_16_bit_multiplier_gives_the_known_answers() {
    secp160r1_agrees("mpy-16", 4, 12);
}

#[test]
fn secp160r1_with_mpy32_gives_the_known_answers() {
    secp160r1_agrees("mpy-32", usize::MAX, usize::MAX);
}

#[test]
fn p256_without_multiplier_gives_the_known_answers() {
    p256_agrees("mpy-none", 1, 2);
}

#[test]
fn p256_with_16_bit_multiplier_gives_the_known_answers() {
    p256_agrees("mpy-16", 2, 6);
}

#[test]
fn p256_with_mpy32_gives_the_known_answers() {
    p256_agrees("mpy-32", 6, 18);
}

#[test]
fn hashes_give_the_known_answers() {
    for variant in VARIANTS {
        for (hash, program, context) in
            [("sha1", "bench-ecdsa-secp160r1-all", 88), ("sha256", "bench-ecdsa-p256-all", 100)]
        {
            let mut target = Target::new(variant, program);
            let mut known: Vec<(Vec<u8>, Vec<u8>)> = rows(&load("fips180.json"), "digest")
                .iter()
                .filter(|row| row["hash"] == hash && row["repeat"] == 1)
                .map(|row| (bytes(row, "message"), bytes(row, "digest")))
                .collect();
            assert!(known.len() >= 3);
            // Every place of the padding.
            known.extend((50..70).map(|length| {
                let message = vec![0x61; length];
                let answer = digest(hash, &message);
                (message, answer)
            }));
            for (message, answer) in known {
                let state = target
                    .call(&format!("sunseal_{hash}_init"), &[Arg::room(context)], &mut Silent)
                    .buffers[0]
                    .clone();
                let args = [
                    Arg::Bytes(state),
                    Arg::Bytes(message.clone()),
                    Arg::Value(message.len() as u16),
                ];
                let state =
                    target.call(&format!("sunseal_{hash}_update"), &args, &mut Silent).buffers[0]
                        .clone();
                let args = [Arg::Bytes(state), Arg::room(answer.len())];
                let done = target.call(&format!("sunseal_{hash}_final"), &args, &mut Silent);
                assert_eq!(done.buffers[1], answer, "{variant} {hash} of {} bytes", message.len());
                assert!(done.buffers[0].iter().all(|&b| b == 0), "the context is wiped");
            }
        }
    }
}

#[test]
fn bench_programs_agree_with_the_vectors_through_their_own_main() {
    use sunseal_mcu::{Device, Machine, Stop, Until};
    let row = &rows(&load("secp160r1.json"), "keygen")[0];
    for variant in VARIANTS {
        let elf = crate::target::program(variant, "bench-ecdsa-secp160r1-keygen");
        let mut machine = Machine::new(&Device::msp430f5438a());
        machine.fault_on_lints(true);
        machine.load(&elf).unwrap();
        machine.write_symbol(&elf, "bench_input", &bytes(row, "entropy")).unwrap();
        machine.write_symbol(&elf, "bench_input_len", &unhex("2000")).unwrap();
        assert_eq!(machine.run(&Until::halted(), &mut Silent), Stop::Halted);
        let out = machine.read_symbol(&elf, "bench_output").unwrap();
        assert_eq!(out[..21], bytes(row, "d"));
        assert_eq!(out[21..61], bytes(row, "q"));
    }
}
