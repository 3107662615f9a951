// SPDX-License-Identifier: MIT OR Apache-2.0
//! Project Wycheproof's files of fixed-length (P1363) signatures: every test, both curves.

use serde_json::Value;
use sunseal_verify::{Refusal, Suite, verify};

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

/// Runs the file and returns how many signatures were valid and how many of each refusal.
fn run(file: &str, suite: Suite) -> [usize; 4] {
    let path = format!("{}/../../data/vectors/wycheproof/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    let document: Value = serde_json::from_str(&text).unwrap();
    let (mut ran, mut told) = (0, [0; 4]);
    for group in document["testGroups"].as_array().unwrap() {
        assert_eq!(group["sha"], "SHA-256");
        let key = bytes(group["publicKey"]["uncompressed"].as_str().unwrap());
        for test in group["tests"].as_array().unwrap() {
            let message = bytes(test["msg"].as_str().unwrap());
            let signature = bytes(test["sig"].as_str().unwrap());
            let found = verify(suite, &key[1..], &message, &signature);
            let valid = test["result"] == "valid";
            assert_eq!(found.is_ok(), valid, "{file} test {}: {found:?}", test["tcId"]);
            told[match found {
                Ok(_) => 0,
                Err(Refusal::SignatureLength { .. }) => 1,
                Err(Refusal::ScalarOutOfRange { .. }) => 2,
                Err(Refusal::BadSignature { .. }) => 3,
                Err(other) => panic!("{file} has no such keys: {other}"),
            }] += 1;
            ran += 1;
        }
    }
    assert_eq!(Some(ran), document["numberOfTests"].as_u64());
    told
}

/// Holds us to a file that has so many valid signatures, and so many of another length.
fn agrees(file: &str, suite: Suite, valid: usize, lengths: usize) {
    let told = run(file, suite);
    let bytes = suite.signature_bytes();
    assert_eq!(told[0], valid, "valid signatures");
    assert_eq!(told[1], lengths, "signatures of another length than {bytes} bytes");
    assert!(told[2] > 0 && told[3] > 0, "both other refusals occur: {told:?}");
}

#[test]
fn secp160r1_agrees_with_wycheproof() {
    agrees("ecdsa_secp160r1_sha256_p1363_test.json", Suite::EcdsaSecp160r1Sha256, 140, 16);
}

#[test]
fn p256_agrees_with_wycheproof() {
    agrees("ecdsa_secp256r1_sha256_p1363_test.json", Suite::EcdsaP256Sha256, 173, 21);
}
