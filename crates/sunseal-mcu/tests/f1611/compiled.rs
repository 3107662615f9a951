// SPDX-License-Identifier: MIT OR Apache-2.0
//! A C program by clang: its results against the host's, and the whole state beside mspdebug's
//! simulator with its hardware multiplier.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sunseal_mcu::{Elf, Machine, Stop, Until};
use sunseal_trace::Silent;

use crate::fixture::{program, run};
use crate::support::*;

const COUNT: usize = 64;
const RAM_BYTES: usize = 10 * 1024;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/f1611/program")
}

/// The image, as a file of this name that is gone afterwards.
fn build(name: &str, optimization: &str) -> (PathBuf, Elf) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "{name}-{}-{}.elf",
        optimization,
        std::process::id()
    ));
    let object = out.with_extension("o");
    let flags = ["--target=msp430", "-mmcu=msp430f1611", "-ffreestanding", "-fno-builtin", "-Wall"];
    let mut clang = Command::new(program("clang"));
    let source = folder().join("program.c");
    run(clang.args(flags).args(["-Werror", optimization, "-c", "-o"]).arg(&object).arg(source));
    let mut lld = Command::new(program("ld.lld"));
    let script = folder().join("msp430f1611.ld");
    run(lld.arg("-T").arg(script).arg("-o").arg(&out).arg(&object));
    let _ = std::fs::remove_file(object);
    let elf = Elf::parse(&std::fs::read(&out).unwrap()).unwrap();
    (out, elf)
}

/// The machine at `done`, its RAM cleared before the start.
fn at_done(elf: &Elf) -> Machine {
    let mut m = Machine::new(&device());
    m.load(elf).unwrap();
    m.write_mem(RAM, &[0; RAM_BYTES]).unwrap();
    let done = elf.symbol("done").unwrap().addr;
    let until = Until { cycles: Some(m.cycles() + 5_000_000), ..Until::pc(done) };
    assert_eq!(m.run(&until, &mut Silent), Stop::Pc(done));
    assert_eq!(slips(&m), []);
    m
}

fn next(mut x: u16) -> u16 {
    x ^= x << 7;
    x ^= x >> 9;
    x ^ x << 8
}

/// `struct results`, as the host has it.
fn expected() -> Vec<u16> {
    let words: Vec<u16> =
        std::iter::successors(Some(next(0xACE1)), |x| Some(next(*x))).take(COUNT).collect();
    let mut all = words.clone();
    all.sort_unstable();
    let bytes = words.iter().flat_map(|w| w.to_le_bytes());
    all.push(bytes.fold(0xFFFF, |crc: u16, byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| {
            crc << 1 ^ if crc & 0x8000 != 0 { 0x1021 } else { 0 }
        })
    }));
    let pairs = || words.iter().zip(&words[1..]);
    let push32 = |all: &mut Vec<u16>, sum: u32| all.extend([sum as u16, (sum >> 16) as u16]);
    let (mut dot, mut carry) = (0u32, false);
    for (a, b) in pairs() {
        (dot, carry) = dot.overflowing_add(u32::from(a >> 3) * u32::from(b >> 3));
    }
    push32(&mut all, dot);
    all.push(carry.into());
    let signed = pairs()
        .fold(0i32, |sum, (a, b)| sum.wrapping_add(i32::from(*a as i16) * i32::from(*b as i16)));
    push32(&mut all, signed as u32);
    all.push((signed >> 31) as u16);
    let wide = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 16;
    let product = wide(0) * wide(2);
    all.extend((0..4).map(|i| (product >> (16 * i)) as u16));
    all
}

#[test]
fn a_compiled_program_computes_what_the_host_does() {
    for optimization in ["-O0", "-Os", "-O2"] {
        let (path, elf) = build("host", optimization);
        let m = at_done(&elf);
        let bytes = m.read_symbol(&elf, "results").unwrap();
        let words: Vec<u16> = bytes.chunks(2).map(|w| u16::from_le_bytes([w[0], w[1]])).collect();
        assert_eq!(words, expected(), "{optimization}");
        let _ = std::fs::remove_file(path);
    }
}

/// Registers and RAM of mspdebug's simulator at `done`.
fn mspdebug(image: &Path) -> ([u16; 16], Vec<u8>) {
    let ram = image.with_extension("ram");
    let commands = [
        "simio add hwmult mult".to_owned(),
        format!("prog {}", image.display()),
        format!("fill {RAM:#x} {RAM_BYTES} 0"),
        "reset".to_owned(),
        "setbreak done".to_owned(),
        "run".to_owned(),
        "regs".to_owned(),
        format!("save_raw {RAM:#x} {RAM_BYTES} {}", ram.display()),
    ];
    let out = Command::new(program("mspdebug"))
        .args(["-q", "sim"])
        .args(&commands)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let hex = |after: &str| {
        let at =
            text.rfind(after).unwrap_or_else(|| panic!("no {after} in:\n{text}")) + after.len();
        let digits: String =
            text[at..].trim_start().chars().take_while(char::is_ascii_hexdigit).collect();
        u16::from_str_radix(&digits, 16).unwrap_or_else(|_| panic!("{after}{digits} in:\n{text}"))
    };
    let names = [
        "PC:", "SP:", "SR:", "R3:", "R4:", "R5:", "R6:", "R7:", "R8:", "R9:", "R10:", "R11:",
        "R12:", "R13:", "R14:", "R15:",
    ];
    let bytes = std::fs::read(&ram).unwrap_or_else(|e| panic!("{}: {e}\n{text}", ram.display()));
    let _ = std::fs::remove_file(ram);
    (names.map(hex), bytes)
}

#[test]
fn registers_and_memory_are_mspdebugs_behind_a_compiled_program() {
    for optimization in ["-O0", "-Os", "-O2"] {
        let (path, elf) = build("mspdebug", optimization);
        let m = at_done(&elf);
        let (registers, ram) = mspdebug(&path);
        let ours: Vec<u16> = m.registers().iter().map(|r| r.value as u16).collect();
        assert_eq!(ours, registers, "{optimization}");
        assert!(m.read_mem(RAM, RAM_BYTES).unwrap() == ram, "{optimization}");
        let _ = std::fs::remove_file(path);
    }
}
