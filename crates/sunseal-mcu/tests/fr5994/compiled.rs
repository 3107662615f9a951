// SPDX-License-Identifier: MIT OR Apache-2.0
//! A C program by clang for the msp430fr5994: its results against the host's, at every optimization.

use std::path::{Path, PathBuf};
use std::process::Command;

use sunseal_mcu::{Elf, Machine, Stop, Until};
use sunseal_trace::Silent;

use crate::fixture::{program, run};
use crate::support::*;

const COUNT: usize = 64;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fr5994/program")
}

fn build(optimization: &str) -> Elf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("fr5994{optimization}-{}.elf", std::process::id()));
    let object = out.with_extension("o");
    let flags =
        ["--target=msp430", "-mmcu=msp430fr5994", "-ffreestanding", "-fno-builtin", "-Wall"];
    let mut clang = Command::new(program("clang"));
    let source = folder().join("program.c");
    run(clang.args(flags).args(["-Werror", optimization, "-c", "-o"]).arg(&object).arg(source));
    let mut lld = Command::new(program("ld.lld"));
    let script = folder().join("msp430fr5994.ld");
    run(lld.arg("-T").arg(script).arg("-o").arg(&out).arg(&object));
    let elf = Elf::parse(&std::fs::read(&out).unwrap()).unwrap();
    let _ = std::fs::remove_file(object);
    let _ = std::fs::remove_file(out);
    elf
}

fn to_done(m: &mut Machine, elf: &Elf) -> Vec<u16> {
    let done = elf.symbol("done").unwrap().addr;
    let until = Until { cycles: Some(m.cycles() + 5_000_000), ..Until::pc(done) };
    assert_eq!(m.run(&until, &mut Silent), Stop::Pc(done));
    let bytes = m.read_symbol(elf, "results").unwrap();
    bytes.chunks(2).map(|w| u16::from_le_bytes([w[0], w[1]])).collect()
}

/// `struct results` but for the count of starts, as the host has it.
fn expected() -> Vec<u16> {
    let seeds = [0xACE1u16, 0x1234, 0xBEEF, 0x0F0F];
    let mut x = seeds[0];
    let mut work = Vec::new();
    for i in 0..COUNT {
        x ^= seeds[i & 3];
        x ^= x << 7;
        x ^= x >> 9;
        x ^= x << 8;
        work.push(x);
    }
    let (mut sum, mut crc) = (0u32, 0xFFFFu16);
    for w in work.windows(2) {
        sum = sum.wrapping_add(u32::from(w[0]).wrapping_mul(u32::from(w[1])));
        crc ^= w[0];
        for _ in 0..16 {
            crc = crc << 1 ^ if crc & 0x8000 != 0 { 0x1021 } else { 0 };
        }
    }
    work.sort_unstable();
    work.extend([sum as u16, (sum >> 16) as u16, 610, 0, crc]);
    work
}

#[test]
fn a_compiled_program_computes_what_the_host_does_and_its_counter_outlives_the_supply() {
    for optimization in ["-O0", "-Os", "-O2"] {
        let elf = build(optimization);
        let mut m = machine();
        m.load(&elf).unwrap();
        for starts in 1..=3 {
            let results = to_done(&mut m, &elf);
            assert_eq!(results[..COUNT + 5], expected(), "{optimization}");
            assert_eq!(results[COUNT + 5], starts);
            m.set_vcc(0.0);
            m.set_vcc(3.0);
            m.power_on(starts.into());
        }
        assert!(m.lints().is_empty(), "{:?}", m.lints());
        assert!(events(&m, "fram.hit") > 10 * events(&m, "fram.write"));
    }
}
