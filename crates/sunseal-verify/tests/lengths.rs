// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths are told before anything else, and no bytes panic.

use proptest::collection::vec;
use proptest::prelude::*;
use sunseal_verify::{Refusal, Suite, check_public_key, verify};

#[test]
fn a_key_or_signature_of_the_other_suite_is_told_by_length() {
    let suite = Suite::EcdsaSecp160r1Sha1;
    let told = |key: &[u8], signature: &[u8]| verify(suite, key, b"m", signature).unwrap_err();
    assert_eq!(
        told(&[1; 64], &[1; 42]).to_string(),
        "a public key of ecdsa-secp160r1-sha1 has 40 bytes, this one has 64"
    );
    assert_eq!(
        told(&[1; 40], &[1; 41]).to_string(),
        "a signature of ecdsa-secp160r1-sha1 has 42 bytes, this one has 41"
    );
    let refusal = Refusal::KeyLength { suite, wanted: 40, found: 0 };
    assert_eq!(check_public_key(suite, &[]), Err(refusal));
    assert_eq!(refusal.name(), "malformed");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused(
        which in 0..3usize, message in vec(any::<u8>(), 0..80), bytes in vec(any::<u8>(), 128),
        key_slack in -1..2isize, signature_slack in -1..2isize,
    ) {
        let suite = Suite::ALL[which];
        let cut = |n: usize, slack: isize| &bytes[..n.saturating_add_signed(slack)];
        let key = cut(suite.public_key_bytes(), key_slack);
        let signature = cut(suite.signature_bytes(), signature_slack);
        let refusal = verify(suite, key, &message, signature).unwrap_err();
        let wrong_key = matches!(refusal, Refusal::KeyLength { .. });
        let wrong_signature = matches!(refusal, Refusal::SignatureLength { .. });
        prop_assert_eq!(wrong_key, key_slack != 0);
        prop_assert_eq!(wrong_signature, key_slack == 0 && signature_slack != 0);
    }
}
