// SPDX-License-Identifier: MIT OR Apache-2.0
//! The known answers of `data/vectors`.

use std::collections::BTreeMap;

use serde_json::Value;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::target::root;

pub fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "odd number of digits: {text}");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

pub fn load(name: &str) -> Value {
    let path = root().join("data/vectors").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

pub fn rows(value: &Value, key: &str) -> Vec<Value> {
    let rows = value[key].as_array().unwrap().clone();
    assert!(!rows.is_empty());
    rows
}

pub fn bytes(row: &Value, key: &str) -> Vec<u8> {
    unhex(row[key].as_str().unwrap_or_else(|| panic!("no string {key} in {row}")))
}

pub fn digest(hash: &str, message: &[u8]) -> Vec<u8> {
    match hash {
        "sha1" => Sha1::digest(message).to_vec(),
        "sha256" => Sha256::digest(message).to_vec(),
        _ => panic!("no hash {hash}"),
    }
}

/// A signature to judge.
pub struct Verify {
    pub name: String,
    pub key: Vec<u8>,
    pub signature: Vec<u8>,
    pub hash: Vec<u8>,
    pub valid: bool,
}

/// Wycheproof's rows, at most `each` of every combination of flags and verdict.
pub fn wycheproof(file: &str, signature_bytes: usize, each: usize) -> Vec<Verify> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for group in rows(&load(&format!("wycheproof/{file}")), "testGroups") {
        let key = bytes(&group["publicKey"], "uncompressed");
        for test in rows(&group, "tests") {
            let signature = bytes(&test, "sig");
            // Other lengths never reach the library: its callers hold arrays of fixed size.
            if signature.len() != signature_bytes {
                assert_eq!(test["result"], "invalid");
                continue;
            }
            let count = seen.entry(format!("{} {}", test["flags"], test["result"])).or_default();
            *count += 1;
            if *count <= each {
                out.push(Verify {
                    name: format!("{file} {} {}", test["tcId"], test["comment"]),
                    key: key[1..].to_vec(),
                    signature,
                    hash: digest("sha256", &bytes(&test, "msg")),
                    valid: test["result"] == "valid",
                });
            }
        }
    }
    assert!(out.len() > 10);
    out
}
