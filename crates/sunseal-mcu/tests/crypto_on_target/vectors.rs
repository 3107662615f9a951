// SPDX-License-Identifier: MIT OR Apache-2.0
//! The known answers of `data/vectors`.

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
