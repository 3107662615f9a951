// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly and C for the AVR through the GNU tools. They are on PATH (`firmware/toolchain/get --for tests`).

#![allow(dead_code)] // each test uses its part

use std::path::PathBuf;
use std::process::Command;

/// A folder of this test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a tool, whose absence is a failure with a sentence.
pub fn run(tool: &str, args: &[&str]) -> Vec<u8> {
    let done = Command::new(tool).args(args).output().unwrap_or_else(|e| {
        panic!("{tool} cannot be run ({e}); `firmware/toolchain/get --for tests` brings it")
    });
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{tool} {args:?}: {error}");
    done.stdout
}

fn words(file: &str) -> Vec<u16> {
    let bytes = std::fs::read(file).unwrap();
    bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], *b.get(1).unwrap_or(&0)])).collect()
}

/// The words of an assembly program that starts at 0.
pub fn assemble(name: &str, source: &str) -> Vec<u16> {
    let folder = folder(name);
    let file = |ending: &str| folder.join(ending).display().to_string();
    std::fs::write(file("program.s"), source).unwrap();
    run("avr-as", &["-mmcu=atmega128", "-o", &file("program.o"), &file("program.s")]);
    run("avr-ld", &["-m", "avr51", "-Ttext", "0", "-o", &file("program.elf"), &file("program.o")]);
    run(
        "avr-objcopy",
        &["-O", "binary", "-j", ".text", &file("program.elf"), &file("program.bin")],
    );
    words(&file("program.bin"))
}

/// The flash image of a C program with the C library's start-up code.
pub fn compile(name: &str, source: &str) -> Vec<u16> {
    let folder = folder(name);
    let file = |ending: &str| folder.join(ending).display().to_string();
    std::fs::write(file("program.c"), source).unwrap();
    let flags = ["-mmcu=atmega128", "-O2", "-std=gnu99", "-Wall", "-Werror"];
    run("avr-gcc", &[&flags[..], &["-o", &file("program.elf"), &file("program.c")]].concat());
    let sections = ["-O", "binary", "-j", ".text", "-j", ".data"];
    run("avr-objcopy", &[&sections[..], &[&file("program.elf"), &file("program.bin")]].concat());
    words(&file("program.bin"))
}
