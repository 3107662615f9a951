// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every row of the manual's AVRe cycle tables, run: cycles, length, and where it leads.

use crate::avr_tools;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;
use sunseal_isa::Silent;
use sunseal_isa::avr::{Cpu, Exit, FlatBus, Timing, decode};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    row: Vec<Row>,
    interrupt: Interrupt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    section: String,
    code: String,
    #[serde(default)]
    sreg: u8,
    /// What a skip is over.
    behind: Option<String>,
    cycles: u64,
    words: u8,
    /// Words from the instruction on, or an address.
    to: Option<Place>,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Place {
    Relative(i32),
    Absolute(String),
}

#[derive(Deserialize)]
struct Interrupt {
    cycles: u64,
    source: String,
}

fn tables() -> Tables {
    toml::from_str(include_str!("cycles.toml")).unwrap()
}

/// Words between the rows' places.
const PITCH: u32 = 0x20;
const FIRST: u32 = 0x400;

/// Pointers into memory, a return address on the stack, I/O 0x12 and R7 with bit 0 set and bit 3 clear.
fn machine(program: &[u16], pc: u32, sreg: u8) -> (Cpu, FlatBus) {
    let mut bus = FlatBus::new();
    bus.load(0, program);
    bus.data_mut()[0x32] = 0x01;
    bus.data_mut()[0x1001] = 0x02;
    bus.data_mut()[0x1002] = 0x02;
    let mut cpu = Cpu::new(Timing::AVRE);
    cpu.r[5] = 0x12;
    cpu.r[6] = 0x34;
    cpu.r[7] = 0x01;
    for pointer in [26, 28, 30] {
        (cpu.r[pointer], cpu.r[pointer + 1]) = (0x80, 0x01);
    }
    cpu.sp = 0x1000;
    cpu.pc = pc as u16;
    cpu.set_sreg(sreg);
    (cpu, bus)
}

#[test]
fn every_row_of_the_manual_takes_its_cycles() {
    let tables = tables();
    let mut source = String::new();
    for (i, row) in tables.row.iter().enumerate() {
        let at = 2 * (FIRST + i as u32 * PITCH);
        let behind = row.behind.as_deref().unwrap_or("nop");
        writeln!(source, ".org {at:#x}\n{}\n{behind}\nnop", row.code).unwrap();
    }
    let program = avr_tools::assemble("avr_cycles", &source);
    let mut seen = BTreeSet::new();
    for (i, row) in tables.row.iter().enumerate() {
        let what = format!("DS40002198 {} `{}` {}", row.section, row.code, row.note);
        let pc = FIRST + i as u32 * PITCH;
        let insn = decode(pc, |addr| Ok(program[addr as usize])).unwrap();
        assert_eq!(insn.words, row.words, "words of {what}");
        seen.insert(format!("{:?}", insn.mnemonic));
        let (mut cpu, mut bus) = machine(&program, pc, row.sreg);
        let exit = cpu.step(&mut bus, &mut Silent);
        assert!(!matches!(exit, Exit::Fault(_)), "{what}: {exit:?}");
        assert_eq!(cpu.cycles, row.cycles, "cycles of {what}");
        let to = match &row.to {
            None => pc + u32::from(row.words),
            Some(Place::Relative(words)) => pc.wrapping_add_signed(*words),
            Some(Place::Absolute(text)) => {
                u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
            }
        };
        assert_eq!(u32::from(cpu.pc), to, "where {what} leads");
    }
    // 69 mnemonics, of which SPM has no figure.
    assert_eq!(seen.len(), 68, "{seen:?}");
}

#[test]
fn an_interrupt_takes_its_cycles() {
    let (mut cpu, mut bus) = machine(&[], 0x200, 0x80);
    cpu.interrupt(&mut bus, &mut Silent, 0x1A).unwrap();
    let interrupt = tables().interrupt;
    assert_eq!(cpu.cycles, interrupt.cycles, "{}", interrupt.source);
    assert_eq!((cpu.pc, cpu.sp, cpu.sreg()), (0x1A, 0x0FFE, 0));
}
