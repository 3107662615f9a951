// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verifications a second, one core, on vectors that Wycheproof calls valid.

use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use sunseal_verify::{Suite, verify};

/// The first valid case of a file: key, message, signature.
fn case(file: &str) -> [Vec<u8>; 3] {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/vectors/wycheproof").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let bytes = |value: &serde_json::Value| -> Vec<u8> {
        let text = value.as_str().unwrap();
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    };
    let group = &all["testGroups"][0];
    let valid = group["tests"].as_array().unwrap().iter().find(|t| t["result"] == "valid").unwrap();
    // SEC 1 2.3.3: 04, x, y.
    let key = bytes(&group["publicKey"]["uncompressed"]).split_off(1);
    [key, bytes(&valid["msg"]), bytes(&valid["sig"])]
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let mut group = criterion.benchmark_group("verify");
    group.throughput(Throughput::Elements(1));
    for (suite, file) in [
        (Suite::EcdsaP256Sha256, "ecdsa_secp256r1_sha256_p1363_test.json"),
        (Suite::EcdsaSecp160r1Sha256, "ecdsa_secp160r1_sha256_p1363_test.json"),
    ] {
        let [key, message, signature] = case(file);
        assert!(verify(suite, &key, &message, &signature).is_ok());
        group.bench_function(suite.name(), |b| {
            b.iter(|| verify(suite, &key, &message, &signature).is_ok());
        });
    }
    group.finish();
    criterion.final_summary();
}
