// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every assembly routine does what its head says: the result, the calling convention (R4 to R10 and SP
//! kept, nothing written but the output, the stack stated and the scratch memory), the cycles, and the
//! same way for all operands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use num_bigint::{BigInt, BigUint};
use sunseal_mcu::profile::{Both, TraceHash};

use crate::target::{Arg, RAM, Random, Returned, STACK_TOP, Target, VARIANTS, Watch, root};
use crate::vectors::digest;

/// What the head of a routine promises.
struct Head {
    name: String,
    stack_bytes: u32,
    /// Cycles without and per element: a word, or four where the head says n/4.
    cycles: (u64, u64),
}

fn sources(folder: &Path, variant: &str, out: &mut Vec<PathBuf>) {
    let ends = [format!("_{}.S", variant.replace('-', "")), "_msp430.S".to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            sources(&path, variant, out);
        } else if ends.iter().any(|end| name.ends_with(end)) {
            let text = std::fs::read_to_string(&path).unwrap();
            // A variant may take over another's text.
            for line in text.lines().filter_map(|l| l.strip_prefix("#include \"")) {
                if let Some(other) = line.strip_suffix(".S\"") {
                    out.push(folder.join(format!("{other}.S")));
                }
            }
            out.push(path);
        }
    }
}

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn heads(path: &Path) -> Vec<Head> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut heads = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with("; name:") {
            continue;
        }
        let mut block = vec![line];
        while let Some(next) = lines.next_if(|l| l.starts_with(';')) {
            block.push(next);
        }
        let field = |key: &str| {
            block
                .iter()
                .find_map(|l| l.strip_prefix(&format!("; {key}:")))
                .unwrap_or_else(|| panic!("{}: a head without {key}: {block:?}", path.display()))
        };
        let stack = field("stack").trim_start().split(' ').next().unwrap();
        let cycles =
            match field("cycles").trim_end_matches("/4").trim_end_matches('n').split_once('+') {
                Some((fixed, each)) => (number(fixed), number(each)),
                None => (number(field("cycles")), 0),
            };
        for line in &block {
            let name =
                line.split_once('(').and_then(|(l, _)| l.find("sunseal_").map(|at| &l[at..]));
            if let Some(name) = name {
                heads.push(Head {
                    name: name.to_owned(),
                    stack_bytes: number(stack) as u32,
                    cycles,
                });
            }
        }
    }
    heads
}

/// One call and how to judge it.
struct Case {
    args: Vec<Arg>,
    /// Arguments that may be written.
    outputs: Vec<usize>,
    elements: u64,
    good: Box<dyn Fn(&Returned) -> bool>,
}

fn big(words: &[u16]) -> BigUint {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

fn signed(words: &[u16]) -> BigInt {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    BigInt::from_signed_bytes_le(&bytes)
}

fn low(value: &BigUint, words: usize) -> BigUint {
    value & ((BigUint::from(1u8) << (16 * words)) - 1u8)
}

fn prime(words: usize) -> BigUint {
    let two = |n: u32| BigUint::from(1u8) << n;
    if words == 10 {
        two(160) - two(31) - 1u8
    } else {
        two(256) - two(224) + two(192) + two(96) - 1u8
    }
}

fn field(name: &str, words: usize, random: &mut Random) -> Case {
    let (a, b) = (random.edgy_words(words), random.edgy_words(words));
    let operation = name.rsplit('_').next().unwrap().to_owned();
    let square = operation == "sqr";
    // The result may overwrite an operand.
    let (mut args, result) = match random.word() % 3 {
        0 => (vec![Arg::words(&a), Arg::Same(0), Arg::words(&b)], 0),
        1 if !square => (vec![Arg::words(&b), Arg::words(&a), Arg::Same(0)], 0),
        _ => (vec![Arg::room(2 * words), Arg::words(&a), Arg::words(&b)], 0),
    };
    if square {
        args.truncate(2);
    }
    let good = move |done: &Returned| {
        let p = prime(words);
        let (a, b) = (big(&a), big(&b));
        let r = big(&done.words(result));
        let wanted = match operation.as_str() {
            "add" => a + b,
            "sub" => a + &p * 2u8 - b,
            "sqr" => &a * &a,
            _ => a * b,
        };
        let montgomery = words == 16 && (operation == "mul" || operation == "sqr");
        let factor = if montgomery { BigUint::from(1u8) << 256 } else { BigUint::from(1u8) };
        r * factor % &p == wanted % &p
    };
    Case { args, outputs: vec![result], elements: 0, good: Box::new(good) }
}

fn case(name: &str, random: &mut Random) -> Case {
    let n = [10, 11, 16, 17][usize::from(random.word() % 4)];
    let count = Arg::Value(n as u16);
    let (a, b) = (random.edgy_words(n), random.edgy_words(n));
    match name.strip_prefix("sunseal_").unwrap() {
        field_name if field_name.starts_with("fe160") => field(name, 10, random),
        field_name if field_name.starts_with("fe256") => field(name, 16, random),
        "mp_add" | "mp_sub" => {
            let add = name.ends_with("add");
            Case {
                args: vec![Arg::room(2 * n), Arg::words(&a), Arg::words(&b), count],
                outputs: vec![0],
                elements: n as u64,
                good: Box::new(move |done| {
                    let range = BigUint::from(1u8) << (16 * n);
                    let sum = if add { big(&a) + big(&b) } else { &range + big(&a) - big(&b) };
                    let carry = if add { sum >= range } else { sum < range };
                    big(&done.words(0)) == low(&sum, n) && done.r12 == u16::from(carry)
                }),
            }
        }
        "mp_select" => {
            let mask = if random.word() & 1 == 0 { 0 } else { 0xFFFF };
            Case {
                args: vec![Arg::words(&a), Arg::words(&b), Arg::Value(mask), count],
                outputs: vec![0],
                elements: n as u64,
                good: Box::new(move |done| {
                    done.words(0) == if mask == 0 { a.clone() } else { b.clone() }
                }),
            }
        }
        "mp_pick" => {
            let n = [20, 32][usize::from(random.word() & 1)];
            let table: Vec<u16> = (0..32 * n).map(|_| random.word()).collect();
            let index = random.word() % 32;
            Case {
                args: vec![
                    Arg::room(2 * n),
                    Arg::words(&table),
                    Arg::Value(index),
                    Arg::Value(n as u16),
                ],
                outputs: vec![0],
                elements: n as u64 / 4,
                good: Box::new(move |done| done.words(0) == table[usize::from(index) * n..][..n]),
            }
        }
        "mp_addmul1" => {
            let factor = random.edgy_words(1)[0];
            Case {
                args: vec![Arg::words(&a), Arg::words(&b), Arg::Value(factor), count],
                outputs: vec![0],
                elements: n as u64,
                good: Box::new(move |done| {
                    let sum = big(&a) + big(&b) * factor;
                    let mut words = done.words(0);
                    words.push(done.r12);
                    big(&words) == sum
                }),
            }
        }
        "mp_combine" => combine(n, random),
        "mp_divsteps" => divsteps(random),
        "sha1_compress" => compress("sha1", &SHA1_INITIAL, random),
        "sha256_compress" => compress("sha256", &SHA256_INITIAL, random),
        _ => panic!("{name} has a head, but this test does not know how to call it"),
    }
}

/// Three products whose sum is a multiple of 2^14.
fn combine(n: usize, random: &mut Random) -> Case {
    let mut words: Vec<Vec<u16>> = (0..3).map(|_| random.edgy_words(n)).collect();
    for list in &mut words {
        list[n - 1] = if random.word() & 1 == 0 { 0 } else { 0xFFFF };
    }
    words[2][0] |= 1;
    let factor = |random: &mut Random| {
        let magnitude = random.edgy_words(1)[0] & 0x3FFF;
        if random.word() & 1 == 0 { magnitude } else { magnitude.wrapping_neg() }
    };
    let (first, second) = (factor(random), factor(random));
    // The inverse modulo 2^14, by Newton's iteration.
    let odd = words[2][0];
    let mut inverse = odd;
    for _ in 0..4 {
        inverse = inverse.wrapping_mul(2u16.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    let low = first.wrapping_mul(words[0][0]).wrapping_add(second.wrapping_mul(words[1][0]));
    let mut third = low.wrapping_neg().wrapping_mul(inverse) & 0x3FFF;
    if random.word() & 1 == 0 {
        third = third.wrapping_sub(0x4000);
    }
    let factors = [first, second, third];
    let mut args: Vec<Arg> = Vec::new();
    for list in &words {
        let Arg::Bytes(bytes) = Arg::words(list) else { unreachable!() };
        args.push(Arg::Hidden(bytes));
    }
    args.push(Arg::room(2 * n));
    args.push(Arg::Terms((0..3).map(|i| (factors[i], i)).collect()));
    args.push(Arg::Value(n as u16));
    Case {
        args,
        outputs: vec![3],
        elements: n as u64,
        good: Box::new(move |done| {
            let sum: BigInt =
                factors.iter().zip(&words).map(|(&f, w)| signed(w) * BigInt::from(f as i16)).sum();
            signed(&done.words(3)) << 14u8 == sum
        }),
    }
}

fn divsteps(random: &mut Random) -> Case {
    let (f, g) = (random.word() | 1, random.word());
    let half = if random.word() & 1 == 0 { 0 } else { 0xFFFF };
    let eta = (random.word() % 40).wrapping_sub(20);
    let matrix = [0, 0, 0, 0, eta, half];
    Case {
        args: vec![Arg::words(&matrix), Arg::Value(f), Arg::Value(g)],
        outputs: vec![0],
        elements: 0,
        good: Box::new(move |done| {
            let m: Vec<i64> = done.words(0)[..4].iter().map(|&w| i64::from(w as i16)).collect();
            // Plain division steps of Bernstein and Yang; eta is -delta, or 1/2 - delta.
            let (mut a, mut b) = (i64::from(f as i16), i64::from(g as i16));
            let mut e = i64::from(eta as i16);
            for _ in 0..14 {
                let odd = b & 1 != 0;
                if odd && e < 0 {
                    (a, b) = (b, (b - a) >> 1);
                    e = if half == 0 { -e - 2 } else { -e - 1 };
                } else {
                    b = (b + if odd { a } else { 0 }) >> 1;
                    e -= 1;
                }
            }
            let (x, y) = (i64::from(f as i16), i64::from(g as i16));
            // u f + v g = 2^14 f', q f + r g = 2^14 g'
            m[0] * x + m[1] * y == a << 14
                && m[2] * x + m[3] * y == b << 14
                && e == i64::from(done.words(0)[4] as i16)
        }),
    }
}

// FIPS 180-4, sections 5.3.1 and 5.3.3.
const SHA1_INITIAL: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
const SHA256_INITIAL: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];

/// A message of one block from the initial state. Longer ones are among the known answers.
fn compress(hash: &'static str, initial: &[u32], random: &mut Random) -> Case {
    let message = random.bytes(55);
    let mut block = message.clone();
    block.push(0x80);
    block.extend((8 * message.len() as u64).to_be_bytes());
    let state: Vec<u8> = initial.iter().flat_map(|w| w.to_le_bytes()).collect();
    Case {
        args: vec![Arg::Bytes(state), Arg::Bytes(block)],
        outputs: vec![0],
        elements: 0,
        good: Box::new(move |done| {
            let big_endian: Vec<u8> =
                done.buffers[0].chunks(4).flat_map(|w| [w[3], w[2], w[1], w[0]]).collect();
            big_endian == digest(hash, &message)
        }),
    }
}

const KEPT: std::ops::Range<usize> = 4..11;

/// Panics where the routine is wrong; answers where only its head is.
fn hold_to_its_head(
    target: &mut Target,
    variant: &str,
    head: &Head,
    rounds: usize,
) -> BTreeSet<String> {
    let mut stale = BTreeSet::new();
    let mut random = Random(0x5EED_0004);
    let mut ways: BTreeMap<(u64, Vec<u32>), u64> = BTreeMap::new();
    let scratch = ["sunseal_fe160_product", "sunseal_fe256_product"]
        .iter()
        .filter_map(|name| target.elf.symbol(name).ok())
        .map(|s| s.addr..s.addr + s.size_bytes)
        .collect::<Vec<_>>();
    for _ in 0..rounds {
        let case = case(&head.name, &mut random);
        let kept: Vec<u32> = KEPT.map(|_| u32::from(random.word())).collect();
        for (reg, value) in KEPT.zip(&kept) {
            target.machine.set_reg(reg, *value);
        }
        // Whatever memory held before, it must hold after.
        let noise = random.bytes(0x600);
        target.machine.write_mem(STACK_TOP - 0x600, &noise).unwrap();
        let before_call = target.machine.read_mem(RAM.start, RAM.len()).unwrap().to_vec();
        let mut both = Both(TraceHash::<true>::default(), Watch::default());
        let done = target.call(&head.name, &case.args, &mut both);
        let what = format!("{variant} {}", head.name);
        assert!((case.good)(&done), "{what}: wrong result");

        assert_eq!(done.regs[KEPT], kept, "{what} does not keep R4 to R10");
        let words = case.args.iter().filter(|a| !matches!(a, Arg::Hidden(_))).count();
        let sp = STACK_TOP - 2 * words.saturating_sub(4) as u32;
        assert_eq!(done.regs[1], sp, "{what} does not keep SP");
        let stack = sp - both.1.low.unwrap();
        if stack != head.stack_bytes {
            stale.insert(format!(
                "{what} takes {stack} bytes of stack, its head says {}",
                head.stack_bytes
            ));
        }

        let cycles = head.cycles.0 + head.cycles.1 * case.elements;
        if done.cycles != cycles {
            stale.insert(format!(
                "{what} takes {} cycles for n = {}, its head says {cycles}",
                done.cycles, case.elements
            ));
        }

        let after = target.machine.read_mem(RAM.start, RAM.len()).unwrap();
        let mut allowed = scratch.clone();
        allowed.push(sp - stack..sp);
        allowed.extend(case.outputs.iter().map(|&i| done.places[i].clone()));
        // What the call itself placed.
        allowed.extend(done.places.iter().cloned());
        for (offset, (old, new)) in before_call.iter().zip(after).enumerate() {
            let at = RAM.start + offset as u32;
            let given = done.places.iter().any(|p| p.contains(&at));
            let expected = old == new || allowed.iter().any(|r| r.contains(&at));
            assert!(expected || given, "{what} writes to {at:#06x}");
        }
        for (i, arg) in case.args.iter().enumerate() {
            if let (Arg::Bytes(bytes) | Arg::Hidden(bytes), false) =
                (arg, case.outputs.contains(&i))
            {
                assert_eq!(&done.buffers[i], bytes, "{what} writes to its argument {i}");
            }
        }
        let places: Vec<u32> = done.places.iter().map(|p| p.start).collect();
        let hash = *ways.entry((case.elements, places)).or_insert(both.0.hash());
        assert_eq!(hash, both.0.hash(), "{what} takes different ways for different operands");
    }
    stale
}

#[test]
fn every_routine_does_what_its_head_says() {
    let mut stale = BTreeSet::new();
    for variant in VARIANTS {
        let mut small = Target::new(variant, "bench-ecdsa-secp160r1-all");
        let mut large = Target::new(variant, "bench-ecdsa-p256-all");
        let mut files = Vec::new();
        sources(&root().join("firmware/crypto/src"), variant, &mut files);
        files.sort();
        let mut names = Vec::new();
        for head in files.iter().flat_map(|f| heads(f)) {
            let target = if head.name.contains("160") || head.name.contains("sha1_") {
                &mut small
            } else {
                &mut large
            };
            let rounds = if variant == "mpy-none" { 60 } else { 200 };
            stale.extend(hold_to_its_head(target, variant, &head, rounds));
            names.push(head.name);
        }
        names.sort();
        for field in ["fe160", "fe256"] {
            for operation in ["add", "mul", "sqr", "sub"] {
                assert!(
                    names.contains(&format!("sunseal_{field}_{operation}")),
                    "{variant}: {names:?}"
                );
            }
        }
    }
    let stale: Vec<String> = stale.into_iter().collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}
