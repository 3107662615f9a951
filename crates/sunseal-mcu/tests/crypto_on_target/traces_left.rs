// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a key generation or a signature leaves in RAM: no piece of the key, of the nonce, or of what either
//! follows from.

use num_bigint::BigUint;
use sunseal_trace::Silent;

use crate::target::{Arg, RAM, Returned, Target, VARIANTS};
use crate::vectors::{bytes, digest, load, rows, unhex};

/// Bytes in a row that do not agree by chance.
const PIECE: usize = 6;

/// Where a piece of one of the secrets lies outside the call's own buffers, in either order of bytes.
fn found(target: &Target, done: &Returned, secrets: &[(&str, BigUint)]) -> Option<String> {
    let mut ram = target.machine.read_mem(RAM.start, RAM.len()).unwrap().to_vec();
    for place in done.places.iter().filter(|p| !p.is_empty()) {
        let (from, to) = (place.start - RAM.start, place.end - RAM.start);
        ram[from as usize..to as usize].fill(0);
    }
    for (name, secret) in secrets {
        for text in [secret.to_bytes_le(), secret.to_bytes_be()] {
            for piece in text.windows(PIECE) {
                if let Some(at) = ram.windows(PIECE).position(|bytes| bytes == piece) {
                    let at = RAM.start as usize + at;
                    return Some(format!("{name} at {at:#06x}"));
                }
            }
        }
    }
    None
}

fn leaves_nothing(variant: &str, curve: &str, private_bytes: usize, order: &str) {
    let mut target = Target::new(variant, &format!("bench-ecdsa-{curve}-all"));
    let n = BigUint::from_bytes_be(&unhex(order));
    let file = load(&format!("{curve}.json"));
    // The last rows are those of random keys.
    let row = rows(&file, "keygen").pop().unwrap();
    let d = BigUint::from_bytes_be(&bytes(&row, "d"));
    let args = [
        Arg::room(private_bytes),
        Arg::room(file["keygen"][0]["q"].as_str().unwrap().len() / 2),
        Arg::Bytes(bytes(&row, "entropy")),
    ];
    let function = format!("sunseal_ecdsa_{curve}_keygen");
    let done = target.call(&function, &args, &mut Silent);
    assert_eq!(done.status(), 0);
    let left = found(&target, &done, &[("d", d)]);
    assert_eq!(left, None, "{variant}: {function}");

    let row = rows(&file, "sign").pop().unwrap();
    let hash = digest(row["hash"].as_str().unwrap(), &bytes(&row, "message"));
    let added = bytes(&row, "added_entropy");
    assert_eq!(added.len(), 32);
    let args = [
        Arg::room(2 * private_bytes),
        Arg::Bytes(bytes(&row, "d")),
        Arg::Bytes(hash.clone()),
        Arg::Value(hash.len() as u16),
        Arg::Bytes(added),
    ];
    let function = format!("sunseal_ecdsa_{curve}_sign");
    let done = target.call(&function, &args, &mut Silent);
    assert_eq!((done.status(), &done.buffers[0]), (0, &bytes(&row, "signature")));
    let (r, s) = done.buffers[0].split_at(private_bytes);
    let (r, s) = (BigUint::from_bytes_be(r), BigUint::from_bytes_be(s));
    let d = BigUint::from_bytes_be(&bytes(&row, "d"));
    let surplus_bits = (8 * hash.len() as u64).saturating_sub(n.bits());
    let e = BigUint::from_bytes_be(&hash) >> surplus_bits;
    let inverse = |x: &BigUint| x.modpow(&(&n - 2u8), &n);
    let rd = &r * &d % &n;
    let sum = (e + &rd) % &n;
    let k = &sum * inverse(&s) % &n;
    let secrets = [
        ("1/k", inverse(&k)),
        ("n - k", &n - &k),
        ("k", k),
        ("d", d),
        ("r d", rd),
        ("e + r d", sum),
    ];
    let left = found(&target, &done, &secrets);
    assert_eq!(left, None, "{variant}: {function}");
    // And a piece that is there is seen.
    let (last, secret) = &secrets[secrets.len() - 1];
    target.machine.write_mem(RAM.end - 0x301, &secret.to_bytes_le()[5..5 + PIECE]).unwrap();
    assert_eq!(
        found(&target, &done, &secrets),
        Some(format!("{last} at {:#06x}", RAM.end - 0x301))
    );
}

#[test]
fn key_and_nonce_leave_no_trace_in_memory() {
    for variant in VARIANTS {
        let order = "0100000000000000000001f4c8f927aed3ca752257";
        leaves_nothing(variant, "secp160r1", 21, order);
        let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
        leaves_nothing(variant, "p256", 32, order);
    }
}
