// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every row of the manual's cycle tables, run: cycles, length, and where the table's footnotes lead.

use crate::asm::{self, Arg, ONCE, Repeat, SP, Size};
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::HashMap;
use sunseal_isa::Silent;
use sunseal_isa::msp430::{Cpu, Exit, PC, Timing};
use sunseal_isa::msp430::{FlatBus, PageKind};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(alias = "table_3_14")]
    table_4_8: Table8,
    #[serde(alias = "table_3_15")]
    table_4_9: Table<SingleRow>,
    #[serde(alias = "section_3_4_4")]
    section_4_5_1_5_3: Jumps,
    #[serde(alias = "table_3_16")]
    table_4_10: Table<DoubleRow>,
    // The MSP430 has no extended instructions.
    #[serde(default)]
    table_4_17: Table<SingleRow>,
    #[serde(default)]
    table_4_18: Table<DoubleRow>,
    #[serde(default)]
    table_4_19: Table<DoubleRow>,
}

#[derive(Deserialize)]
struct Table<Row> {
    rows: Vec<Row>,
}

impl<Row> Default for Table<Row> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

#[derive(Deserialize)]
struct Table8 {
    reti: Count,
    ret: Count,
    interrupt: Count,
}

#[derive(Deserialize)]
struct Jumps {
    jump: Count,
}

#[derive(Deserialize)]
struct Count {
    cycles: u64,
    #[serde(default)]
    words: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SingleRow {
    ops: Vec<String>,
    dst: String,
    cycles: u64,
    #[serde(default)]
    each: u64,
    words: usize,
    #[serde(default)]
    sp_more: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DoubleRow {
    #[serde(default)]
    ops: Vec<String>,
    src: String,
    dst: String,
    #[serde(default)]
    sizes: Vec<String>,
    cycles: u64,
    words: usize,
    #[serde(default)]
    less: u64,
    #[serde(default)]
    less_ops: Vec<String>,
    #[serde(default)]
    repeat_each: u64,
}

/// Each family with its tables.
fn families() -> [(Timing, Tables); 3] {
    [
        (Timing::CPU, include_str!("slau049_cycles.toml")),
        (Timing::CPUX, include_str!("slau144_cycles.toml")),
        (Timing::CPUXV2, include_str!("slau445_cycles.toml")),
    ]
    .map(|(timing, text)| (timing, toml::from_str(text).unwrap()))
}

/// The rows of a table, each with its family's timing.
macro_rules! rows {
    ($table:ident) => {
        families()
            .into_iter()
            .flat_map(|(t, all)| all.$table.rows.into_iter().map(move |row| (t, row)))
    };
}

const CODE: u32 = 0x5C00;
const DATA: u32 = 0x1C00;
/// A word in memory that, read as an address, is code.
const POINTER: u32 = 0x6000;

/// Memory in which every form can run: data words are pointers to code.
fn memory() -> FlatBus {
    let mut bus = FlatBus::new();
    bus.map(DATA..CODE, PageKind::Ram);
    bus.map(CODE..0x1_0000, PageKind::Code);
    for addr in (DATA..CODE).step_by(4) {
        bus.load(addr, &[POINTER as u16, 0]);
    }
    bus.load(0xFFF0, &[POINTER as u16]);
    bus
}

/// Registers in which every form can run: pointers are valid, and so are jump targets.
fn start(cpu: &mut Cpu) {
    cpu.cycles = 0;
    cpu.r = [DATA + 0x100; 16];
    cpu.r[PC] = CODE;
    cpu.r[SP as usize] = DATA + 0x200;
    cpu.r[2] = 0;
}

thread_local! {
    static MEMORY: RefCell<(FlatBus, Vec<u8>)> = RefCell::new({
        let bus = memory();
        let data = bus.bytes()[DATA as usize..CODE as usize].to_vec();
        (bus, data)
    });
    static CPUS: RefCell<HashMap<Timing, Cpu>> = RefCell::default();
}

/// Runs one instruction: its cycles.
fn run(timing: Timing, words: &[u16]) -> u64 {
    MEMORY.with_borrow_mut(|(bus, data)| {
        CPUS.with_borrow_mut(|cpus| {
            let cpu = cpus.entry(timing).or_insert_with(|| Cpu::new(timing));
            bus.bytes_mut()[DATA as usize..CODE as usize].copy_from_slice(data);
            bus.load(CODE, words);
            cpu.invalidate(CODE..CODE + 8);
            start(cpu);
            assert_eq!(cpu.step(bus, &mut Silent), Exit::Deadline, "{words:04x?}");
            cpu.cycles
        })
    })
}

fn source(mode: &str, with: u32) -> Vec<Arg> {
    let near = (DATA + 0x180) as i32 - (CODE as i32 + 2);
    match mode {
        // Constant generators count as registers.
        "Rn" => vec![Arg::R(5), Arg::Cg(4), Arg::Cg(2)],
        "@Rn" => vec![Arg::At(5), Arg::At(9), Arg::At(SP)],
        "@Rn+" => vec![Arg::Inc(5), Arg::Inc(9)],
        "#N" => vec![Arg::Imm(with)],
        "x(Rn)" | "X(Rn)" => vec![Arg::X(4, 5), Arg::X(-8, 9)],
        "EDE" => vec![Arg::X(near, 0)],
        "&EDE" => vec![Arg::Abs(DATA + 0x40)],
        _ => panic!("{mode}"),
    }
}

fn destination(mode: &str) -> Vec<Arg> {
    let near = (DATA + 0x180) as i32 - (CODE as i32 + 2);
    match mode {
        "Rm" => vec![Arg::R(6), Arg::R(15)],
        "PC" => vec![Arg::R(0)],
        "x(Rm)" => vec![Arg::X(4, 6), Arg::X(0, SP)],
        "EDE" => vec![Arg::X(near, 0)],
        "&EDE" => vec![Arg::Abs(DATA + 0x50)],
        _ => panic!("{mode}"),
    }
}

fn size(name: &str) -> Size {
    match name {
        "B" => Size::B,
        "W" => Size::W,
        "A" => Size::A,
        _ => panic!("{name}"),
    }
}

fn expect(timing: Timing, what: &str, words: &[u16], length: usize, cycles: u64) {
    assert_eq!(words.len(), length, "length of {what}");
    let family = timing.family;
    assert_eq!(run(timing, words), cycles, "{family:?}: cycles of {what}: {words:04x?}");
}

#[test]
fn interrupt_and_returns() {
    for (timing, tables) in families() {
        let t = tables.table_4_8;
        expect(timing, "RETI", &[asm::RETI], t.reti.words, t.reti.cycles);
        expect(timing, "RET", &[asm::RET], t.ret.words, t.ret.cycles);
        let (mut cpu, mut bus) = (Cpu::new(timing), memory());
        start(&mut cpu);
        cpu.interrupt(&mut bus, &mut Silent, 0xFFF0).unwrap();
        assert_eq!((cpu.cycles, cpu.r[PC]), (t.interrupt.cycles, POINTER));
    }
}

#[test]
fn jumps_take_two_cycles_taken_or_not() {
    for (timing, tables) in families() {
        let t = tables.section_4_5_1_5_3.jump;
        for condition in ["JNE", "JEQ", "JNC", "JC", "JN", "JGE", "JL", "JMP"] {
            expect(timing, condition, &asm::jump(condition, 5), t.words, t.cycles);
            expect(timing, condition, &asm::jump(condition, -5), t.words, t.cycles);
        }
    }
}

#[test]
fn format_ii() {
    let mut forms = 0;
    for (timing, row) in rows!(table_4_9) {
        for op in &row.ops {
            for arg in source(&row.dst, POINTER) {
                if matches!(arg, Arg::Cg(_)) && op != "PUSH" {
                    continue;
                }
                let mut arg = arg;
                if op == "CALL" && arg == Arg::R(5) {
                    arg = Arg::R(7);
                }
                let sizes: &[Size] = if matches!(op.as_str(), "RRA" | "RRC" | "PUSH") {
                    &[Size::W, Size::B]
                } else {
                    &[Size::W]
                };
                for &size in sizes {
                    let words = asm::single(op, size, arg);
                    let length = if matches!(arg, Arg::Cg(_)) { 1 } else { row.words };
                    expect(timing, &format!("{op} {arg:?}"), &words, length, row.cycles);
                    forms += 1;
                }
            }
            if row.sp_more > 0 {
                let words = asm::single(op, Size::W, Arg::X(4, SP));
                let cycles = row.cycles + row.sp_more;
                expect(timing, &format!("{op} 4(SP)"), &words, row.words, cycles);
            }
        }
    }
    assert!(forms > 200, "{forms} forms ran");
}

#[test]
fn format_i() {
    let mut forms = 0;
    for (timing, row) in rows!(table_4_10) {
        for op in asm::DOUBLE {
            for src in source(&row.src, POINTER) {
                for dst in destination(&row.dst) {
                    for size in [Size::W, Size::B] {
                        if dst == Arg::R(0) && !reaches_code(op, size, src) {
                            continue;
                        }
                        let less = if row.less_ops.iter().any(|l| l == op) { row.less } else { 0 };
                        let words = asm::double(op, size, src, dst);
                        let what = format!("{op}.{size:?} {src:?}, {dst:?}");
                        expect(timing, &what, &words, row.words, row.cycles - less);
                        forms += 1;
                    }
                }
            }
        }
    }
    assert!(forms > 5000, "{forms} forms ran");
}

/// Whether an operation on PC in the machine above leads to an even address.
fn reaches_code(op: &str, size: Size, src: Arg) -> bool {
    let carry_in = matches!(op, "ADDC" | "SUBC" | "DADD");
    let borrow_odd = op == "SUBC";
    let even_source = !matches!(src, Arg::Cg(1 | -1));
    let _ = (size, carry_in);
    even_source && !borrow_odd
}

#[test]
fn format_i_extended() {
    let mut forms = 0;
    for (timing, row) in rows!(table_4_18) {
        for op in asm::DOUBLE {
            for src in source(&row.src, POINTER) {
                for dst in destination(&row.dst) {
                    for name in &row.sizes {
                        let size = size(name);
                        if dst == Arg::R(0) && !reaches_code(op, size, src) {
                            continue;
                        }
                        // The data words hold POINTER; a 20-bit read of them is POINTER too.
                        let less = if row.less_ops.iter().any(|l| l == op) { row.less } else { 0 };
                        let words = asm::double_x(op, size, src, dst, ONCE);
                        let what = format!("{op}X.{name} {src:?}, {dst:?}");
                        expect(timing, &what, &words, row.words, row.cycles - less);
                        forms += 1;
                        if row.repeat_each > 0 && dst != Arg::R(0) {
                            for n in 2..=16 {
                                let repeat = Repeat { zc: false, times: Ok(n) };
                                let words = asm::double_x(op, size, src, dst, repeat);
                                // Footnote 1: n + 1 cycles.
                                expect(
                                    timing,
                                    &what,
                                    &words,
                                    row.words,
                                    u64::from(n) + row.repeat_each,
                                );
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(forms > 5000, "{forms} forms ran");
}

/// Holds one form to its cycles: what it is called, its words, and how long it takes.
type Check<'a> = &'a mut dyn FnMut(String, Vec<u16>, u64);

fn calla(row: &SingleRow, check: Check<'_>) {
    for arg in source(&row.dst, POINTER) {
        if !matches!(arg, Arg::Cg(_)) && arg != Arg::At(SP) {
            check(format!("CALLA {arg:?}"), asm::calla(arg), row.cycles);
        }
    }
    if row.sp_more > 0 {
        let words = asm::calla(Arg::X(4, SP));
        check("CALLA 4(SP)".into(), words, row.cycles + row.sp_more);
    }
}

/// RRAX, RRCX and PUSHX, once and repeated.
fn single_extended(op: &str, row: &SingleRow, check: Check<'_>) {
    let (name, size_name) = op.split_once('.').unwrap_or((op, "A"));
    let size = size(size_name);
    let base = &name[..name.len() - 1];
    for arg in source(&row.dst, POINTER) {
        if matches!(arg, Arg::Cg(_)) && base != "PUSH" {
            continue;
        }
        let cycles = row.cycles + row.each;
        check(format!("{op} {arg:?}"), asm::single_x(base, size, arg, ONCE), cycles);
        if row.each > 0 {
            for n in 2..=16 {
                let repeat = Repeat { zc: false, times: Ok(n) };
                let words = asm::single_x(base, size, arg, repeat);
                let cycles = row.cycles + row.each * u64::from(n);
                check(format!("RPT #{n} {op} {arg:?}"), words, cycles);
            }
        }
    }
    if row.sp_more > 0 {
        let words = asm::single_x(base, size, Arg::X(4, SP), ONCE);
        check(format!("{op} 4(SP)"), words, row.cycles + row.sp_more);
    }
}

#[test]
fn format_ii_extended() {
    let mut forms = 0;
    for (timing, row) in rows!(table_4_17) {
        for op in &row.ops {
            let (name, size_name) = op.split_once('.').unwrap_or((op, "A"));
            let size = size(size_name);
            let mut check = |what: String, words: Vec<u16>, cycles: u64| {
                expect(timing, &what, &words, row.words, cycles);
                forms += 1;
            };
            match name {
                "RRAM" | "RRCM" | "RRUM" | "RLAM" => {
                    for n in 1..=4 {
                        let words = asm::rotate(name, size, n, 7);
                        check(
                            format!("{op} #{n}, R7"),
                            words,
                            row.cycles + row.each * u64::from(n),
                        );
                    }
                }
                "PUSHM" | "POPM" => {
                    for n in 1..=12 {
                        let words = asm::many(name, size, n, 15);
                        check(
                            format!("{op} #{n}, R15"),
                            words,
                            row.cycles + row.each * u64::from(n),
                        );
                    }
                }
                "CALLA" => calla(&row, &mut check),
                "POPX" if row.dst == "Rn" => {
                    let words = asm::double_x("MOV", size, Arg::Inc(SP), Arg::R(7), ONCE);
                    check(format!("{op} R7"), words, row.cycles);
                }
                "POPX" => {
                    for dst in destination(&row.dst.replace("X(Rn)", "x(Rm)")) {
                        let words = asm::double_x("MOV", size, Arg::Inc(SP), dst, ONCE);
                        check(format!("{op} {dst:?}"), words, row.cycles);
                    }
                }
                "RRAX" | "RRCX" | "PUSHX" => single_extended(op, &row, &mut check),
                _ => panic!("{op}"),
            }
        }
    }
    assert!(forms > 550, "{forms} forms ran");
}

#[test]
fn address_instructions() {
    let mut forms = 0;
    for (timing, row) in rows!(table_4_19) {
        for op in &row.ops {
            for src in source(&row.src, POINTER) {
                for dst in destination(&row.dst) {
                    if matches!(src, Arg::Cg(_)) || dst == Arg::X(0, SP) {
                        continue;
                    }
                    // Symbolic modes of address instructions reach 32 KB from the index word.
                    let words = asm::address(op, src, dst);
                    expect(
                        timing,
                        &format!("{op} {src:?}, {dst:?}"),
                        &words,
                        row.words,
                        row.cycles,
                    );
                    forms += 1;
                }
            }
        }
    }
    assert!(forms > 100, "{forms} forms ran");
}

#[test]
fn each_disputed_form_has_a_switch_that_changes_only_it() {
    type Change = fn(&mut Timing);
    type Case = (Timing, Change, Vec<u16>, [u64; 2], Vec<u16>);
    let branch = |arg| asm::double("MOV", Size::W, arg, Arg::R(0));
    let add = |arg| asm::double("ADD", Size::W, arg, Arg::R(6));
    // The family, the switch, the form with its cycles without and with it, a form that stays.
    let cases: [Case; 9] = [
        (
            Timing::CPU,
            |t| t.indirect_to_pc_takes_3 = true,
            branch(Arg::At(5)),
            [2, 3],
            branch(Arg::Inc(5)),
        ),
        (
            Timing::CPU,
            |t| t.push_increment_takes_4 = true,
            asm::single("PUSH", Size::W, Arg::Inc(5)),
            [5, 4],
            asm::single("CALL", Size::W, Arg::Inc(5)),
        ),
        (
            Timing::CPU,
            |t| t.immediate_to_pc_takes_4 = true,
            branch(Arg::Imm(POINTER)),
            [3, 4],
            add(Arg::Imm(POINTER)),
        ),
        (
            Timing::CPUX,
            |t| t.immediate_to_pc_takes_4 = true,
            branch(Arg::Imm(POINTER)),
            [3, 4],
            branch(Arg::Inc(5)),
        ),
        (
            Timing::CPUX,
            |t| t.calla_indexed_takes_5 = true,
            asm::calla(Arg::X(4, 5)),
            [6, 5],
            asm::calla(Arg::Abs(DATA + 4)),
        ),
        (
            Timing::CPUXV2,
            |t| t.address_immediate_takes_2 = true,
            asm::address("ADDA", Arg::Imm(4), Arg::R(6)),
            [3, 2],
            asm::address("MOVA", Arg::Imm(4), Arg::R(6)),
        ),
        (
            Timing::CPUXV2,
            |t| t.pc_write_one_less = true,
            branch(Arg::Imm(POINTER)),
            [3, 2],
            add(Arg::Imm(POINTER)),
        ),
        (
            Timing::CPUXV2,
            |t| t.calla_indexed_takes_7 = true,
            asm::calla(Arg::X(4, 5)),
            [5, 7],
            asm::calla(Arg::At(5)),
        ),
        (
            Timing::CPUXV2,
            |t| t.pushx_a_indexed_takes_8 = true,
            asm::single_x("PUSH", Size::A, Arg::X(4, 5), ONCE),
            [7, 8],
            asm::single_x("PUSH", Size::A, Arg::Abs(DATA + 4), ONCE),
        ),
    ];
    for (timing, change, form, cycles, other) in cases {
        let mut changed = timing;
        change(&mut changed);
        assert_eq!([run(timing, &form), run(changed, &form)], cycles, "{changed:?}");
        assert_eq!(run(timing, &other), run(changed, &other), "{changed:?}");
    }
}
