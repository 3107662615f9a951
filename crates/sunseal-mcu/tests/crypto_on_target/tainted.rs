// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taint over whole key generations and signatures: no branch, address or cycle count of the firmware's
//! cryptography depends on the secret, but for the one it must have: a candidate thrown away. The
//! differential check beside this one says the same for the secrets that it draws; this one, for all
//! that take the same way.

use sunseal_mcu::taint::{FindingKind, Taint};

use crate::target::{Arg, Random, Returned, Target, VARIANTS, root};

/// Runs `function` twice from the same state: to learn where its buffers lie, then with those of
/// `secrets` marked and those of `public` declassified.
fn taint(
    target: &mut Target,
    function: &str,
    args: &[Arg],
    secrets: &[usize],
    public: &[usize],
) -> (Taint, Returned) {
    let places = target.call(function, args, &mut sunseal_trace::Silent).places;
    let mut taint = Taint::of(target.machine.device(), &target.elf);
    for &i in secrets {
        taint.mark(places[i].clone());
    }
    for &i in public {
        taint.declassify(places[i].clone());
    }
    let returned = target.call(function, args, &mut taint);
    (taint, returned)
}

/// Everything found is a branch on whether a scalar is in the order's range: whether a key is one at all,
/// whether a candidate is thrown away.
fn check(target: &Target, taint: &Taint, function: &str) {
    let found = taint.findings(&target.elf);
    assert!(!found.is_empty(), "{function}: the check of the range is a branch and must be seen");
    for f in found {
        let line = f.line.as_ref().expect("the firmware has debug lines");
        let source = std::fs::read_to_string(root().join("firmware").join(&line.file)).unwrap();
        let text = source.lines().nth(line.line as usize - 1).unwrap();
        let allowed = f.kind == FindingKind::Branch && text.contains("order_in_range(");
        assert!(allowed, "{function}: {f}\n{text}");
    }
}

struct Curve {
    name: &'static str,
    private_bytes: usize,
    public_bytes: usize,
}

const CURVES: [Curve; 2] = [
    Curve { name: "secp160r1", private_bytes: 21, public_bytes: 40 },
    Curve { name: "p256", private_bytes: 32, public_bytes: 64 },
];

#[test]
fn key_generation_lets_nothing_out() {
    for variant in VARIANTS {
        for curve in &CURVES {
            let mut target = Target::new(variant, &format!("bench-ecdsa-{}-all", curve.name));
            let function = format!("sunseal_ecdsa_{}_keygen", curve.name);
            let mut entropy = Random(7).bytes(32);
            entropy[0] = 0;
            let args = [
                Arg::room(curve.private_bytes),
                Arg::room(curve.public_bytes),
                Arg::Bytes(entropy),
            ];
            let (taint, done) = taint(&mut target, &function, &args, &[2], &[1]);
            assert_eq!(done.status(), 0);
            check(&target, &taint, &function);
            // The private key is as secret as what it was made of; the public key is declassified.
            let key = taint.marked(done.places[0].clone());
            assert!(key[1..].iter().all(|m| *m), "{variant} {function}: {key:?}");
            assert!(taint.marked(done.places[1].clone()).iter().all(|m| !m));
        }
    }
}

#[test]
fn signing_lets_nothing_out_but_candidates_thrown_away() {
    for variant in VARIANTS {
        for curve in &CURVES {
            let mut target = Target::new(variant, &format!("bench-ecdsa-{}-all", curve.name));
            let function = format!("sunseal_ecdsa_{}_sign", curve.name);
            let mut random = Random(9);
            let mut key = random.bytes(curve.private_bytes);
            key[0] = 0;
            let args = [
                Arg::room(2 * curve.private_bytes),
                Arg::Bytes(key),
                Arg::Bytes(random.bytes(32)),
                Arg::Value(32),
                Arg::Bytes(random.bytes(32)),
            ];
            let (taint, done) = taint(&mut target, &function, &args, &[1, 4], &[0]);
            assert_eq!(done.status(), 0);
            check(&target, &taint, &function);
        }
    }
}

#[test]
fn the_check_sees_what_verification_lets_out() {
    let mut target = Target::new("mpy-32", "bench-ecdsa-secp160r1-all");
    let function = "sunseal_ecdsa_secp160r1_verify";
    let mut signature = vec![0; 42];
    signature[20] = 5;
    signature[41] = 7;
    let mut random = Random(3);
    let args = [Arg::room(21), Arg::room(40), Arg::Bytes(random.bytes(32))];
    let key = target.call("sunseal_ecdsa_secp160r1_keygen", &args, &mut sunseal_trace::Silent);
    let args = [
        Arg::Bytes(key.buffers[1].clone()),
        Arg::Bytes(signature),
        Arg::Bytes(random.bytes(20)),
        Arg::Value(20),
    ];
    let (taint, _) = taint(&mut target, function, &args, &[1], &[]);
    let found = taint.findings(&target.elf);
    let kinds = |kind| found.iter().filter(|f| f.kind == kind).count();
    assert!(kinds(FindingKind::Branch) > 3, "{found:#?}");
    assert!(
        kinds(FindingKind::Address) > 0,
        "window tables are looked up by the signature: {found:#?}"
    );
}
