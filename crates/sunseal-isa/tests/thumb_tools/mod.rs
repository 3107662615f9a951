// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly and C for the Cortex-M4 through the GNU tools.

#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};
use std::process::Command;

use sunseal_isa::thumb::{Cpu, FlatBus, Timing};

/// A folder of this test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Where a program of the toolchain is: on PATH or where `firmware/toolchain/get` puts it.
pub fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |folder: PathBuf| Some(folder.join(name)).filter(|program| program.is_file());
    if let Some(found) = std::env::split_paths(&path).find_map(is_there) {
        return found;
    }
    let get = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware/toolchain/get");
    let printed = Command::new("python3").arg(get).args(["--for", "tests", "--print-bin"]).output();
    let fetched = printed.ok().map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    fetched.and_then(|folder| is_there(PathBuf::from(folder))).unwrap_or_else(|| {
        panic!(
            "{name} is neither on PATH nor fetched; `firmware/toolchain/get --for tests` fetches what tests compare with"
        )
    })
}

/// Runs a tool, whose failure is the test's.
pub fn run(tool: &str, args: &[&str]) -> Vec<u8> {
    let done = Command::new(program(tool)).args(args).output().unwrap();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{tool} {args:?}: {error}");
    done.stdout
}

/// The bytes of an assembly program that starts at 0.
pub fn assemble(name: &str, source: &str) -> Vec<u8> {
    let folder = folder(name);
    let file = |ending: &str| folder.join(ending).display().to_string();
    let head = ".syntax unified\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.thumb\n";
    std::fs::write(file("program.s"), format!("{head}{source}\n")).unwrap();
    run("arm-none-eabi-as", &["-o", &file("program.o"), &file("program.s")]);
    link(&folder, &["program.o"])
}

/// The bytes of a C program whose first function, `main`, lies at 0; variables are zero and in RAM.
pub fn compile(name: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let folder = folder(name);
    let file = |ending: &str| folder.join(ending).display().to_string();
    std::fs::write(file("program.c"), source).unwrap();
    let all =
        ["-mcpu=cortex-m4", "-mthumb", "-std=gnu11", "-Wall", "-Werror", "-ffreestanding", "-c"];
    let files = ["-o", &file("program.o"), &file("program.c")];
    run("arm-none-eabi-gcc", &[&all[..], flags, &files].concat());
    link(&folder, &["program.o"])
}

/// The bytes of these objects, of which the section `.start` lies at 0.
pub fn link(folder: &Path, objects: &[&str]) -> Vec<u8> {
    let file = |ending: &str| folder.join(ending).display().to_string();
    let libgcc =
        run("arm-none-eabi-gcc", &["-mcpu=cortex-m4", "-mthumb", "-print-libgcc-file-name"]);
    let script = "SECTIONS { .text 0 : { *(.start) *(.text*) *(.rodata*) } \
                  .bss 0x20000000 (NOLOAD) : { *(.bss* .data* COMMON) } /DISCARD/ : { *(.ARM.*) } }";
    let script_file = file("program.ld");
    std::fs::write(&script_file, script).unwrap();
    let libgcc = String::from_utf8_lossy(&libgcc).trim().to_owned();
    let (elf, bin) = (file("program.elf"), file("program.bin"));
    let objects: Vec<_> = objects.iter().map(|name| file(name)).collect();
    let mut args = vec!["-T", &script_file, "-o", &elf];
    args.extend(objects.iter().map(String::as_str));
    args.push(&libgcc);
    run("arm-none-eabi-ld", &args);
    run("arm-none-eabi-objcopy", &["-O", "binary", "-j", ".text", &elf, &bin]);
    std::fs::read(bin).unwrap()
}

/// A machine with this code at 0, a stack and the floating-point unit on.
pub fn machine(code: &[u8], timing: Timing) -> (Cpu, FlatBus) {
    let mut bus = FlatBus::new();
    bus.code_mut()[..code.len()].copy_from_slice(code);
    bus.scb.cpacr = 0xF << 20;
    let mut cpu = Cpu::new(timing);
    cpu.r[13] = FlatBus::RAM + 0x8000;
    (cpu, bus)
}
