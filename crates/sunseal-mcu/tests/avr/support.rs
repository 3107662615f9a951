// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs for the machine. The GNU tools are on PATH (`firmware/toolchain/get --for tests`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Picos, Silent};

/// Frequency of the crystal of a MICA2.
pub const HZ: u32 = 7_372_800;
pub const DATA: u32 = 0x80_0000;
pub const EEPROM: u32 = 0x81_0000;
pub const FUSES: u32 = 0x82_0000;
/// Crystal, 16K CK + 65 ms; no JTAG; boot section of 4096 words; no ATmega103.
pub const MICA2_FUSES: [u8; 3] = [0xFF, 0xD9, 0xFF];

/// Compiles `source`, a C file or an assembly one with avr-libc's names.
pub fn build(ending: &str, source: &str, flags: &[&str]) -> Elf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("avr");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |ending: &str| folder.join(format!("{n}.{ending}")).display().to_string();
    std::fs::write(file(ending), source).unwrap();
    let done = Command::new("avr-gcc")
        .args(["-mmcu=atmega128", "-g", "-o", &file("elf"), &file(ending)])
        .args(flags)
        .output()
        .unwrap_or_else(|e| {
            panic!("avr-gcc cannot be run ({e}); `firmware/toolchain/get --for tests` brings it")
        });
    assert!(done.status.success(), "{}\n{source}", String::from_utf8_lossy(&done.stderr));
    Elf::parse(&std::fs::read(file("elf")).unwrap()).unwrap()
}

/// Assembly from address 0 on. I/O addresses are those of IN and OUT; memory addresses are `NAME + 0x20`, of extended
/// registers just `NAME`.
pub fn assemble(source: &str) -> Elf {
    let head = "#define __SFR_OFFSET 0\n#include <avr/io.h>\n.global main\nmain:\n";
    build("S", &format!("{head}{source}\n"), &["-nostartfiles", "-Wl,-Ttext=0"])
}

/// A machine with MICA2's crystal and fuses.
pub fn mica2() -> Machine {
    let mut machine = Machine::new(&Device::named("atmega128l").unwrap());
    machine.write_mem(FUSES, &MICA2_FUSES).unwrap();
    machine.fit_crystal("xtal", HZ).unwrap();
    machine.reset();
    machine
}

pub fn load(elf: &Elf) -> Machine {
    let mut machine = mica2();
    machine.load(elf).unwrap();
    machine
}

/// Runs a program that ends at its label `done` within a million cycles.
pub fn run(source: &str) -> Machine {
    let elf = assemble(source);
    let mut machine = load(&elf);
    finish(&mut machine, &elf);
    machine
}

pub fn finish(machine: &mut Machine, elf: &Elf) {
    let done = elf.symbol("done").unwrap().addr;
    let limit = machine.cycles() + 1_000_000;
    let until = Until { cycles: Some(limit), ..Until::pc(done) };
    assert_eq!(machine.run(&until, &mut Silent), Stop::Pc(done), "pc {:#x}", machine.pc());
}

pub fn r(machine: &Machine, number: usize) -> u32 {
    machine.reg(number)
}

/// The fault that a program ends with.
pub fn fault(source: &str) -> String {
    let mut machine = load(&assemble(source));
    let limit = machine.cycles() + 1_000_000;
    match machine.run(&Until::cycles(limit), &mut Silent) {
        Stop::Fault(fault) => fault.to_string(),
        other => panic!("{other:?} at {:#x}", machine.pc()),
    }
}

/// Cycles since the machine was made at which pins changed.
pub fn edges(machine: &Machine) -> Vec<(String, u64, bool)> {
    machine.pin_log().iter().map(|e| (e.pin.to_string(), e.cycles, e.level)).collect()
}

pub fn micros(time: Picos) -> f64 {
    time.as_seconds() * 1e6
}
