// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way of a whole key generation or signature through program and memory is the same for all secrets:
//! the hash over every instruction's address and cycles and every access's address.

use sunseal_mcu::profile::{Both, TraceHash};
use sunseal_mcu::{Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::target::{Arg, Random, STACK_TOP, Target, VARIANTS, Watch};
use crate::vectors::unhex;

type Trace = TraceHash<true>;

/// The whole way, to say where two of them part.
#[derive(Default)]
struct Way(Vec<(u32, u32)>);

impl Observer for Way {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, _: Flow) {
        self.0.push((pc, 0));
    }

    fn access(&mut self, pc: u32, addr: u32, _: Access, _: Width, _: u32, _: Cycles) {
        self.0.push((pc, addr));
    }
}

fn parting(target: &mut Target, function: &str, left: &[Arg], right: &[Arg]) -> String {
    let (mut a, mut b) = (Way::default(), Way::default());
    target.call(function, left, &mut a);
    target.call(function, right, &mut b);
    let at = a.0.iter().zip(&b.0).position(|(a, b)| a != b).unwrap_or(0);
    let before = a.0[at.saturating_sub(1)].0;
    let line =
        target.elf.line_at(before).map_or(String::new(), |l| format!(" {}:{}", l.file, l.line));
    format!(
        "{function} takes different ways for different secrets behind {before:#06x}, {}{line}",
        target.elf.describe(before)
    )
}

struct Curve {
    name: &'static str,
    private_bytes: usize,
    public_bytes: usize,
    order: &'static str,
}

const SECP160R1: Curve = Curve {
    name: "secp160r1",
    private_bytes: 21,
    public_bytes: 40,
    order: "0100000000000000000001f4c8f927aed3ca752257",
};
const P256: Curve = Curve {
    name: "p256",
    private_bytes: 32,
    public_bytes: 64,
    order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
};

impl Curve {
    /// Private keys from all over the range, the ends and sparse ones among them.
    fn keys(&self, count: usize, random: &mut Random) -> Vec<Vec<u8>> {
        let n = self.private_bytes;
        let mut one = vec![0; n];
        one[n - 1] = 1;
        let mut last = unhex(self.order);
        last[n - 1] -= 1;
        let mut sparse = vec![0; n];
        sparse[n / 2] = 0x10;
        sparse[n - 1] = 2;
        let mut dense = vec![0xFF; n];
        dense[0] = 0;
        let mut keys = vec![one, last, sparse, dense];
        while keys.len() < count {
            let mut key = random.bytes(n);
            key[0] = 0;
            keys.push(key);
        }
        keys.truncate(count);
        keys
    }

    fn keygens_take_one_way(&self, variant: &str, count: usize) {
        let mut target = Target::new(variant, &format!("bench-ecdsa-{}-all", self.name));
        let mut random = Random(0x5EED_0001);
        let function = format!("sunseal_ecdsa_{}_keygen", self.name);
        let mut first: Option<(u64, Vec<Arg>)> = None;
        for key in self.keys(count, &mut random) {
            let mut entropy = vec![0; 32 - key.len()];
            if self.private_bytes < 32 {
                entropy = random.bytes(32 - key.len());
            }
            entropy.extend(&key);
            let args =
                [Arg::room(self.private_bytes), Arg::room(self.public_bytes), Arg::Bytes(entropy)];
            let mut trace = Trace::default();
            let done = target.call(&function, &args, &mut trace);
            assert_eq!(done.status(), 0);
            let (hash, other) = first.get_or_insert((trace.hash(), args.to_vec())).clone();
            if hash != trace.hash() {
                panic!("{variant}: {}", parting(&mut target, &function, &other, &args));
            }
        }
    }

    /// Another nonce is drawn by odds that no run meets (2^-32 at most), so that all signatures take one way.
    fn signs_take_one_way(&self, variant: &str, count: usize) {
        let mut target = Target::new(variant, &format!("bench-ecdsa-{}-all", self.name));
        let mut random = Random(0x5EED_0002);
        let candidate = target.elf.symbol("nonce_candidate").unwrap().addr;
        let function = format!("sunseal_ecdsa_{}_sign", self.name);
        let mut first: Option<(u64, Vec<Arg>)> = None;
        for key in self.keys(count, &mut random) {
            let args = [
                Arg::room(2 * self.private_bytes),
                Arg::Bytes(key),
                Arg::Bytes(random.bytes(32)),
                Arg::Value(32),
                Arg::Bytes(random.bytes(32)),
            ];
            let watch = Watch { count_at: Some(candidate), ..Watch::default() };
            let mut both = Both(Trace::default(), watch);
            let done = target.call(&function, &args, &mut both);
            assert_eq!(done.status(), 0);
            assert_eq!(both.1.entries, 1, "{variant}: a nonce was thrown away");
            let (hash, other) = first.get_or_insert((both.0.hash(), args.to_vec())).clone();
            if hash != both.0.hash() {
                panic!("{variant}: {}", parting(&mut target, &function, &other, &args));
            }
        }
    }
}

#[test]
fn key_generation_takes_one_way_for_all_secrets() {
    for (variant, small, large) in [("mpy-none", 5, 5), ("mpy-16", 12, 6), ("mpy-32", 24, 12)] {
        SECP160R1.keygens_take_one_way(variant, small);
        P256.keygens_take_one_way(variant, large);
    }
}

#[test]
fn signing_takes_one_way_for_all_secrets() {
    for (variant, small, large) in [("mpy-none", 6, 4), ("mpy-16", 12, 6), ("mpy-32", 24, 12)] {
        SECP160R1.signs_take_one_way(variant, small);
        P256.signs_take_one_way(variant, large);
    }
}

/// Runs machine words from RAM with R12 = secret.
fn trace_of(words: &[u16], secret: u16) -> u64 {
    const CODE: u32 = 0x4000;
    let mut target = Target::new("mpy-32", "bench-sha1-hash");
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    target.machine.write_mem(CODE, &bytes).unwrap();
    let end = target.elf.symbol("main").unwrap().addr;
    target.machine.write_mem(STACK_TOP - 2, &(end as u16).to_le_bytes()).unwrap();
    for (reg, value) in [(0, CODE), (1, STACK_TOP - 2), (12, u32::from(secret))] {
        target.machine.set_reg(reg, value);
    }
    let mut trace = Trace::default();
    assert_eq!(target.machine.run(&Until::pc(end), &mut trace), Stop::Pc(end));
    trace.hash()
}

#[test]
fn the_check_sees_a_branch_on_a_secret() {
    // bit #1, r12; jz +1; nop; ret
    let leaky = [0xB31C, 0x2401, 0x4303, 0x4130];
    assert_ne!(trace_of(&leaky, 2), trace_of(&leaky, 3));
    assert_eq!(trace_of(&leaky, 2), trace_of(&leaky, 4));
}

#[test]
fn the_check_sees_an_address_made_from_a_secret() {
    // mov 0x4100(r12), r13; ret
    let leaky = [0x4C1D, 0x4100, 0x4130];
    assert_ne!(trace_of(&leaky, 0), trace_of(&leaky, 2));
    // mov r12, &0x4100; ret
    let tight = [0x4C82, 0x4100, 0x4130];
    assert_eq!(trace_of(&tight, 0), trace_of(&tight, 2));
}

#[test]
fn the_check_sees_that_verification_takes_time_by_its_inputs() {
    for variant in VARIANTS.iter().skip(1) {
        let mut target = Target::new(variant, "bench-ecdsa-secp160r1-all");
        let (mut random, mut ways) = (Random(3), Vec::new());
        let mut key = Vec::new();
        for _ in 0..2 {
            let args = [Arg::room(21), Arg::room(40), Arg::Bytes(random.bytes(32))];
            let done =
                target.call("sunseal_ecdsa_secp160r1_keygen", &args, &mut sunseal_trace::Silent);
            key.push(done.buffers[1].clone());
        }
        for q in key {
            let mut signature = vec![0; 42];
            signature[20] = 5;
            signature[41] = 7;
            let args = [
                Arg::Bytes(q),
                Arg::Bytes(signature),
                Arg::Bytes(random.bytes(20)),
                Arg::Value(20),
            ];
            let mut trace = Trace::default();
            target.call("sunseal_ecdsa_secp160r1_verify", &args, &mut trace);
            ways.push(trace.hash());
        }
        assert_ne!(ways[0], ways[1]);
    }
}
