// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every call costs, beside the tables of Mane 2014, and that `firmware/crypto/COSTS.md` says so.
//!
//! `SUNSEAL_COSTS=write` in the environment writes that file instead of checking it.

use std::fmt::Write as _;

use sunseal_mcu::{Device, Machine, Pin, Stop, Until};
use sunseal_trace::Silent;

use crate::target::{Arg, Target, VARIANTS, Watch, program, program_path, root};
use crate::vectors::unhex;

const ENTROPY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
/// So many signatures that their mean holds the mean number of nonces thrown away.
const MESSAGES: u8 = 16;

struct Curve {
    name: &'static str,
    title: &'static str,
    hash: &'static str,
    digest_bytes: usize,
    private_bytes: usize,
    public_bytes: usize,
}

const CURVES: [Curve; 2] = [
    Curve {
        name: "secp160r1",
        title: "secp160r1",
        hash: "sha1",
        digest_bytes: 20,
        private_bytes: 21,
        public_bytes: 40,
    },
    Curve {
        name: "p256",
        title: "P-256",
        hash: "sha256",
        digest_bytes: 32,
        private_bytes: 32,
        public_bytes: 64,
    },
];

/// A published figure for a curve or workload and a multiplier.
fn published(
    table: &str,
    key: &str,
    value: &str,
    quantity: Option<&str>,
    variant: &str,
) -> Option<u64> {
    let path = root().join("data/published/mane2014.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let file: toml::Value = text.parse::<toml::Table>().unwrap().into();
    let tables = file["table"].as_array().unwrap();
    let table = tables.iter().find(|t| t["id"].as_str() == Some(table)).unwrap();
    let mpy = variant.strip_prefix("mpy-").unwrap();
    table["row"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| {
            r.get(key).and_then(toml::Value::as_str) == Some(value)
                && r["mpy"].as_str() == Some(mpy)
                && quantity.is_none_or(|q| r["quantity"].as_str() == Some(q))
        })
        .map(|r| r["published"].as_integer().unwrap() as u64)
}

/// Cycles between the marks of one run, and its output.
fn bench(variant: &str, workload: &str, input: &[u8]) -> (u64, Vec<u8>) {
    let elf = program(variant, &format!("bench-{workload}"));
    let mut machine = Machine::new(&Device::msp430f5438a());
    machine.fault_on_lints(true);
    machine.load(&elf).unwrap();
    machine.write_symbol(&elf, "bench_input", input).unwrap();
    let length = (input.len() as u16).to_le_bytes();
    machine.write_symbol(&elf, "bench_input_len", &length).unwrap();
    let stop = machine.run(&Until::halted(), &mut Silent);
    assert_eq!(stop, Stop::Halted, "{variant} {workload}: {stop:?}");
    let status = machine.read_symbol(&elf, "bench_status").unwrap();
    assert_eq!(status, [0, 0], "{variant} {workload}");
    let marks: Vec<u64> =
        machine.pin_log().iter().filter(|e| e.pin == Pin::new(1, 0)).map(|e| e.cycles).collect();
    let [up, down] = marks[..] else { panic!("{variant} {workload}: {} marks", marks.len()) };
    (down - up, machine.read_symbol(&elf, "bench_output").unwrap())
}

/// Means of keygen, sign and verify over some messages.
fn cycles(variant: &str, curve: &Curve) -> [u64; 3] {
    let workload = |operation: &str| format!("ecdsa-{}-{operation}", curve.name);
    let entropy = unhex(ENTROPY);
    let (keygen, key) = bench(variant, &workload("keygen"), &entropy);
    let (d, rest) = key.split_at(curve.private_bytes);
    let q = &rest[..curve.public_bytes];
    let (mut sign, mut verify) = (0, 0);
    let verifies = if variant == "mpy-none" { 2 } else { 4 };
    for i in 0..MESSAGES {
        let message = [b'0' + i; 20];
        let (cost, out) = bench(variant, &workload("sign"), &[d, &entropy, &message].concat());
        sign += cost;
        if i < verifies {
            let signature = &out[..2 * curve.private_bytes];
            verify += bench(variant, &workload("verify"), &[q, signature, &message].concat()).0;
        }
    }
    [keygen, sign / u64::from(MESSAGES), verify / u64::from(verifies)]
}

/// Stack of a call with its return address.
fn stack(target: &mut Target, name: &str, args: &[Arg]) -> u32 {
    let mut watch = Watch::default();
    target.call(name, args, &mut watch);
    crate::target::STACK_TOP - 2 * args.len().saturating_sub(4) as u32 - watch.low.unwrap()
}

/// Of keygen, sign, verify, and of the hash's init, update and final.
fn stacks(variant: &str, curve: &Curve) -> [u32; 6] {
    let mut target = Target::new(variant, &format!("bench-ecdsa-{}-all", curve.name));
    let call = |operation: &str| format!("sunseal_ecdsa_{}_{operation}", curve.name);
    let hash = |operation: &str| format!("sunseal_{}_{operation}", curve.hash);
    let entropy = Arg::Bytes(unhex(ENTROPY));
    let digest = Arg::room(curve.digest_bytes);
    let length = Arg::Value(curve.digest_bytes as u16);
    let args = [Arg::room(curve.private_bytes), Arg::room(curve.public_bytes), entropy.clone()];
    let key = target.call(&call("keygen"), &args, &mut Silent).buffers;
    let keygen = stack(&mut target, &call("keygen"), &args);
    let (d, q) = (Arg::Bytes(key[0].clone()), Arg::Bytes(key[1].clone()));
    let args = [Arg::room(2 * curve.private_bytes), d, digest.clone(), length.clone(), entropy];
    let signature = target.call(&call("sign"), &args, &mut Silent).buffers[0].clone();
    let sign = stack(&mut target, &call("sign"), &args);
    let args = [q, Arg::Bytes(signature), digest, length];
    let verify = stack(&mut target, &call("verify"), &args);
    let context = target.call(&hash("init"), &[Arg::room(100)], &mut Silent).buffers[0].clone();
    let context = Arg::Bytes(context);
    let init = stack(&mut target, &hash("init"), std::slice::from_ref(&context));
    let args = [context.clone(), Arg::room(150), Arg::Value(150)];
    let update = stack(&mut target, &hash("update"), &args);
    let last = stack(&mut target, &hash("final"), &[context, Arg::room(curve.digest_bytes)]);
    [keygen, sign, verify, init, update, last]
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// The compilers, as the programs and the toolchain's recipe name them.
fn compilers() -> String {
    let bytes = std::fs::read(program_path("mpy-32", "bench-ecdsa-p256-all")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let clang = text.split('\0').find_map(|s| s.find("clang version").map(|at| &s[at..]));
    let recipe = std::fs::read_to_string(root().join("firmware/toolchain/get")).unwrap();
    let gas = recipe.lines().find_map(|l| l.strip_prefix("BINUTILS_VERSION = ")).unwrap();
    let clang = clang.map_or("an unnamed compiler", |c| c.split(" (").next().unwrap());
    format!("{clang} at -Os, GNU as {}", gas.trim_matches('"'))
}

fn beside(text: &mut String, ours: u64, theirs: Option<u64>) {
    match theirs {
        Some(theirs) => {
            let ratio = ours as f64 / theirs as f64;
            let _ = write!(text, " {} | {} | {ratio:.2} |", grouped(ours), grouped(theirs));
        }
        None => {
            let _ = write!(text, " {} |", grouped(ours));
        }
    }
}

fn document() -> String {
    let mut text = format!(
        "# What the cryptography costs

Generated from runs on the simulated MSP430F5438A by `make -C firmware costs`; the same test checks it.
Built with {}. Cycles do not depend on the clock: flash has no wait states.
Published: D. Mane, 2014, tables 4.1 and 4.2 (`data/published/mane2014.toml`),
measured on the same part. Ratio: ours by published.

## Cycles between the trigger marks

Hashing a 20-byte message and making the nonce are part of sign (mean of {MESSAGES} messages: RFC 6979 on
secp160r1 throws away every second nonce), hashing is part of verify (mean of a few messages).
keygen and sign are constant-time.

| operation | no multiplier | published | ratio | 16-bit | MPY32 | published | ratio |
|---|---|---|---|---|---|---|---|
",
        compilers()
    );
    let mut beaten = true;
    for curve in &CURVES {
        let measured: Vec<[u64; 3]> = VARIANTS.iter().map(|v| cycles(v, curve)).collect();
        for (i, operation) in ["keygen", "sign", "verify"].iter().enumerate() {
            let workload = format!("ecdsa-{}-{operation}", curve.name);
            let _ = write!(text, "| {} {operation} |", curve.title);
            for (variant, ours) in VARIANTS.iter().zip(&measured) {
                let theirs = published("mane2014/table-4.1", "workload", &workload, None, variant);
                assert!(theirs.is_some() || *variant == "mpy-16");
                beaten &= theirs.is_none_or(|t| ours[i] < t);
                beside(&mut text, ours[i], theirs);
            }
            text.push('\n');
        }
    }
    for (hash, message) in [("sha1", 20), ("sha256", 20)] {
        let _ = write!(text, "| {hash} of {message} bytes |");
        for variant in VARIANTS {
            let cost = bench(variant, &format!("{hash}-hash"), &vec![0x61; message]).0;
            let _ = write!(text, " {} |", grouped(cost));
            if variant != "mpy-16" {
                text.push_str(" | |");
            }
        }
        text.push('\n');
    }
    text.push_str(
        "
## Flash and RAM of a program with keygen, sign and verify

`bench-ecdsa-<curve>-all`, start-up and test bench included. RAM: static memory of the library and the
deepest stack; the bench's own input and output arrays stand in no product and are left out.

| curve, multiplier | flash in bytes | published | ratio | static | stack | RAM in bytes | published | ratio |
|---|---|---|---|---|---|---|---|---|
",
    );
    let device = Device::msp430f5438a();
    for curve in &CURVES {
        for variant in VARIANTS {
            let elf = program(variant, &format!("bench-ecdsa-{}-all", curve.name));
            let sizes = elf.sizes(&device);
            let harness: u32 = ["bench_input", "bench_output", "bench_input_len", "bench_status"]
                .iter()
                .map(|name| elf.symbol(name).unwrap().size_bytes)
                .sum();
            let mut machine = Machine::new(&device);
            machine.load(&elf).unwrap();
            machine.write_symbol(&elf, "bench_input", &[7; 72]).unwrap();
            machine.write_symbol(&elf, "bench_input_len", &[72, 0]).unwrap();
            let mut watch = Watch::default();
            assert_eq!(machine.run(&Until::halted(), &mut watch), Stop::Halted);
            let top = elf.symbol("__stack_top").unwrap().addr;
            let stack = top - watch.lowest_below(top);
            let statics = sizes.ram_bytes - harness;
            let table = "mane2014/table-4.2";
            // The thesis has no 16-bit multiplier: its row with one is the nearest.
            let row = if variant == "mpy-16" { "mpy-32" } else { variant };
            let theirs = |quantity| published(table, "parameter", curve.name, Some(quantity), row);
            let (flash, ram) = (theirs("flash_bytes").unwrap(), theirs("ram_bytes").unwrap());
            let ours = u64::from(statics + stack);
            beaten &= u64::from(sizes.flash_bytes) <= flash && ours <= ram;
            let _ = write!(text, "| {}, {variant} |", curve.title);
            beside(&mut text, sizes.flash_bytes.into(), Some(flash));
            let _ = write!(text, " {statics} | {stack} |");
            beside(&mut text, ours, Some(ram));
            text.push('\n');
        }
    }
    text.push_str(
        "
## Stack of each public call, in bytes with its return address

| call | no multiplier | 16-bit | MPY32 |
|---|---|---|---|
",
    );
    for curve in &CURVES {
        let all: Vec<[u32; 6]> = VARIANTS.iter().map(|v| stacks(v, curve)).collect();
        let ecdsa =
            ["keygen", "sign", "verify"].map(|o| format!("sunseal_ecdsa_{}_{o}", curve.name));
        let hash = ["init", "update", "final"].map(|o| format!("sunseal_{}_{o}", curve.hash));
        for (i, name) in ecdsa.iter().chain(&hash).enumerate() {
            let _ = writeln!(text, "| `{name}` | {} | {} | {} |", all[0][i], all[1][i], all[2][i]);
        }
    }
    assert!(beaten, "a figure is not better than the published one:\n{text}");
    text
}

#[test]
fn costs_beat_the_published_tables_and_are_written_down() {
    let path = root().join("firmware/crypto/COSTS.md");
    let text = document();
    if std::env::var("SUNSEAL_COSTS").is_ok_and(|v| v == "write") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    // Another release of the compiler makes other code; then the file speaks of its own.
    if written.contains(&compilers()) || !written.contains("Built with") {
        assert!(
            written == text,
            "firmware/crypto/COSTS.md is stale: run `make -C firmware costs`; it would say\n{text}"
        );
    }
}

/// The two figures that a public header gives for a call.
fn promised(header: &str, call: &str) -> [u32; 2] {
    let path = root().join("firmware/crypto/include/sunseal").join(header);
    let text = std::fs::read_to_string(&path).unwrap();
    let table = text.split("Stack in bytes").nth(1).unwrap();
    let line = table.lines().find_map(|l| l.strip_prefix(&format!(" *   {call} "))).unwrap();
    let figures: Vec<u32> = line.split_whitespace().map(|f| f.parse().unwrap()).collect();
    figures.try_into().unwrap()
}

#[test]
fn headers_state_the_stack_that_calls_take() {
    for variant in VARIANTS {
        for (i, curve) in CURVES.iter().enumerate() {
            let calls = [
                ("ecdsa.h", "keygen"),
                ("ecdsa.h", "sign"),
                ("ecdsa.h", "verify"),
                ("sha.h", "init"),
                ("sha.h", "update"),
                ("sha.h", "final"),
            ];
            for ((header, call), taken) in calls.iter().zip(stacks(variant, curve)) {
                let most = promised(header, call)[i];
                assert!(
                    taken <= most && most <= taken + 32,
                    "{variant} {}: {call} takes {taken} bytes of stack, {header} says {most}",
                    curve.title
                );
            }
        }
    }
}
