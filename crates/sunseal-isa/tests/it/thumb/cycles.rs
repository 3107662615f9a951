// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles of the Cortex-M4 against the rows of its manual, and what each switch changes.

use std::collections::BTreeMap;

use crate::thumb_tools::{assemble, machine};
use serde::Deserialize;
use sunseal_isa::Silent;
use sunseal_isa::thumb::{Bus, Cpu, Exit, FlatBus, Timing};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    title: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    operation: String,
    code: String,
    cycles: u64,
    /// Which P is added.
    p: Option<String>,
    /// "ram": words of RAM are addresses in RAM.
    fill: Option<String>,
}

fn tables() -> BTreeMap<String, Table> {
    toml::from_str(include_str!("cycles.toml")).unwrap()
}

/// The bytes of each row; its end is at the second half.
const PITCH: u32 = 128;

/// All rows at once, since the assembler takes its time.
fn code_of(name: &str, rows: &[&str]) -> Vec<u8> {
    let text: String = rows
        .iter()
        .map(|row| {
            format!(".balignw {PITCH}, 0xBE00\n{row}\nbkpt #0\n.balignw {}, 0xBE00\n", PITCH / 2)
        })
        .collect();
    assemble(name, &format!("{text}\n.balignw {PITCH}, 0xBE00\n"))
}

/// Runs a row to its end: the cycles.
fn measure(code: &[u8], row: usize, timing: Timing, ram: bool) -> u64 {
    let (mut cpu, mut bus) = machine(code, timing);
    let start = row as u32 * PITCH;
    let end = start + PITCH / 2;
    let word = if ram { FlatBus::RAM + 0x200 } else { end | 1 };
    for bytes in bus.ram_mut()[..0x9000].chunks_exact_mut(4) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    for i in 0..13 {
        cpu.r[i] = FlatBus::RAM + 0x100 * (i as u32 + 1);
    }
    (cpu.r[4], cpu.r[5], cpu.r[6], cpu.r[15]) = (end | 1, 1, 0, start);
    for i in 0..32 {
        cpu.s[i] = (1.0 + i as f32).to_bits();
    }
    run_to_breakpoint(&mut cpu, &mut bus);
    cpu.cycles
}

fn run_to_breakpoint(cpu: &mut Cpu, bus: &mut impl Bus) {
    for _ in 0..100 {
        match cpu.run(bus, &mut Silent) {
            Exit::Bkpt(0) => return,
            Exit::Status | Exit::Wfi | Exit::Wfe | Exit::Sev => {}
            exit => panic!("{exit:?} at {:#x}", cpu.r[15]),
        }
    }
    panic!("no breakpoint comes");
}

#[test]
fn every_row_of_the_manual_takes_its_cycles() {
    let timing = Timing::CORTEX_M4;
    for (name, table) in tables() {
        let rows: Vec<_> = table.rows.iter().map(|row| row.code.as_str()).collect();
        let code = code_of(&format!("thumb_cycles_{name}"), &rows);
        let mut wrong = Vec::new();
        for (i, row) in table.rows.iter().enumerate() {
            let p = match row.p.as_deref() {
                None => 0,
                Some("direct") => timing.refill_direct,
                Some("register") => timing.refill_register,
                Some("load") => timing.refill_load,
                Some("barrier") => timing.refill_barrier,
                Some("special") => timing.special_register,
                Some(other) => panic!("{name}: no P is called {other}"),
            };
            let expected = row.cycles + u64::from(p);
            let got = measure(&code, i, timing, row.fill.is_some());
            if got != expected {
                wrong
                    .push(format!("{}: {:?} takes {got}, not {expected}", row.operation, row.code));
            }
        }
        assert!(wrong.is_empty(), "{name}, {}:\n{}", table.title, wrong.join("\n"));
    }
}

#[test]
fn the_refill_is_one_to_three_cycles() {
    let Timing { refill_direct, refill_register, refill_load, refill_barrier, .. } =
        Timing::CORTEX_M4;
    for p in [refill_direct, refill_register, refill_load, refill_barrier] {
        assert!((1..=3).contains(&p));
    }
}

#[test]
fn a_memory_path_is_made_of_switches() {
    let mut timing = Timing::CORTEX_M4;
    for name in Timing::MEMORY_PATH {
        let (_, value) = timing.switches().into_iter().find(|(n, _)| *n == name).unwrap();
        timing.set(name, if value == "true" { "false" } else { "true" }).unwrap();
    }
    let changed = timing.switches().into_iter().zip(Timing::CORTEX_M4.switches());
    assert_eq!(changed.filter(|(now, before)| now != before).count(), Timing::MEMORY_PATH.len());
}

#[test]
fn each_switch_changes_the_rows_it_is_about() {
    let m4 = Timing::CORTEX_M4;
    let cases: &[(&str, u64, Timing)] = &[
        ("b 1f\nnop\n1:", 4, Timing { refill_direct: 3, ..m4 }),
        ("bx r4", 4, Timing { refill_register: 3, ..m4 }),
        ("ldr pc, [r1]", 3, Timing { refill_load: 1, ..m4 }),
        ("isb", 2, Timing { refill_barrier: 1, ..m4 }),
        ("mrs r0, primask", 1, Timing { special_register: 1, ..m4 }),
        ("b 1f\nnop\nnop\n1:\nadd.w r0, r0, r1", 3, Timing { refill_unaligned_wide: false, ..m4 }),
        (
            "push {r0}\nadd.w r0, r0, r1\nadd.w r0, r0, r1\nadd.w r0, r0, r1",
            5,
            Timing { unaligned_wide_run: false, ..m4 },
        ),
        (
            "nop\nadd.w r0, r0, r1\nadd.w r0, r0, r1\nadd.w r0, r0, r1",
            5,
            Timing { unaligned_wide_run_anywhere: true, ..m4 },
        ),
        (
            "push {r0}\nstr.w r0, [r1]\nstr.w r0, [r1]\nstr.w r0, [r1]",
            6,
            Timing { unaligned_wide_run_of_stores: false, ..m4 },
        ),
        ("cmp r5, r6\nit ne\nmovne r0, r1", 3, Timing { it_folds: false, ..m4 }),
        ("ldr r0, [r1]\nldr r2, [r3]", 4, Timing { pairs: false, ..m4 }),
        ("ldr r0, [r1]\nstr r2, [r3]", 2, Timing { stores_pair: true, ..m4 }),
        ("ldr r0, [r1], #4\nldr r2, [r3], #4", 4, Timing { indexed_pairs: false, ..m4 }),
        ("str r0, [r1]\nldr r2, [r3]", 3, Timing { load_waits_for_store: false, ..m4 }),
        ("ldr r0, [r1]\nnop", 3, Timing { nop_folds: false, ..m4 }),
        ("add r0, r1, #4\nldr r2, [r0]", 3, Timing { address_stall: false, ..m4 }),
        ("ldr r0, [pc, #4]", 3, Timing { literal_contention: true, ..m4 }),
        ("vadd.f32 s0, s1, s2\nvmul.f32 s3, s0, s4", 2, Timing { float_result_stall: false, ..m4 }),
        ("vmov r0, s0", 1, Timing { float_move_takes_2: false, ..m4 }),
        ("vdiv.f32 s0, s1, s2\nnop", 15, Timing { float_divide_overlaps: false, ..m4 }),
    ];
    let rows: Vec<_> = cases.iter().map(|case| case.0).collect();
    let code = code_of("thumb_cycles_switches", &rows);
    for (i, &(row, cycles, timing)) in cases.iter().enumerate() {
        assert_eq!(measure(&code, i, timing, false), cycles, "{row:?} with {timing:?}");
        assert_ne!(measure(&code, i, m4, false), cycles, "{row:?} as the Cortex-M4 has it");
    }
}

/// Division takes 2 to 12 cycles, no less for a longer quotient.
#[test]
fn a_division_takes_as_long_as_its_quotient_may_be() {
    let code = code_of("thumb_cycles_divide", &["udiv r0, r1, r2", "sdiv r0, r1, r2"]);
    let divide = |row: usize, n: u32, m: u32| {
        let (mut cpu, mut bus) = machine(&code, Timing::CORTEX_M4);
        (cpu.r[1], cpu.r[2], cpu.r[15]) = (n, m, row as u32 * PITCH);
        run_to_breakpoint(&mut cpu, &mut bus);
        cpu.cycles
    };
    assert_eq!(divide(0, 0, 5), 2);
    assert_eq!(divide(0, 5, 0), 2);
    assert_eq!(divide(0, u32::MAX, 1), 12);
    assert_eq!(divide(0, 100, 10), divide(1, -100i32 as u32, 10));
    let mut last = 0;
    for bits in 0..32 {
        let cycles = divide(0, 1 << bits, 1);
        assert!((2..=12).contains(&cycles) && cycles >= last, "1 << {bits}: {cycles}");
        last = cycles;
    }
}

/// A bus with wait states: the core asks for each instruction and each data access.
#[test]
fn wait_states_of_fetches_and_data_are_added() {
    struct Waiting(FlatBus, Vec<(u32, u32)>, u64);
    impl Bus for Waiting {
        const WAITS: bool = true;
        fn read(
            &mut self,
            a: u32,
            w: sunseal_isa::Width,
            at: u64,
        ) -> Result<u32, sunseal_isa::Fault> {
            self.2 += 5;
            self.0.read(a, w, at)
        }
        fn write(
            &mut self,
            a: u32,
            w: sunseal_isa::Width,
            v: u32,
            at: u64,
        ) -> Result<(), sunseal_isa::Fault> {
            self.0.write(a, w, v, at)
        }
        fn fetch(&mut self, addr: u32) -> Result<u16, sunseal_isa::Fault> {
            self.0.fetch(addr)
        }
        fn cacheable(&self, addr: u32) -> bool {
            self.0.cacheable(addr)
        }
        fn deadline(&self) -> u64 {
            self.0.deadline
        }
        fn scb(&self) -> &sunseal_isa::thumb::Scb {
            self.0.scb()
        }
        fn scb_mut(&mut self) -> &mut sunseal_isa::thumb::Scb {
            self.0.scb_mut()
        }
        fn fetched(&mut self, pc: u32, bytes: u32) -> u64 {
            self.1.push((pc, bytes));
            2
        }
        fn stall(&mut self) -> u64 {
            std::mem::take(&mut self.2)
        }
    }
    let code = code_of("thumb_cycles_waits", &["nop\nldr.w r0, [r1]\nit eq\nmoveq r0, r1"]);
    let (mut cpu, bus) = machine(&code, Timing::CORTEX_M4);
    cpu.r[1] = FlatBus::RAM;
    let mut bus = Waiting(bus, Vec::new(), 0);
    run_to_breakpoint(&mut cpu, &mut bus);
    assert_eq!(bus.1, [(0, 2), (2, 4), (6, 2), (8, 2)]);
    assert_eq!(cpu.cycles, (1 + 2) + (2 + 2 + 5) + (1 + 2) + (1 + 2));
}
