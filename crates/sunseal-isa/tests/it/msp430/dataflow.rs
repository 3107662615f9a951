// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the MSP430's instructions depend on: rows with registers named, and every form run twice with one
//! register, flag or memory byte changed, which no result may feel that `dataflow` does not name.

use crate::asm::{self, Arg::*, ONCE, Repeat, Size::*};
use proptest::prelude::*;
use sunseal_isa::msp430::{Cpu, FlatBus, PC, PageKind, SR, Timing, dataflow, decode, sr};
use sunseal_isa::{Access, Cycles, Dataflow, Flow, Observer, Registers, Transfer, Width};
use sunseal_trace::Pointed;

const CODE: u32 = 0x8000;

fn flow(words: &[u16]) -> Dataflow {
    let fetch = |addr: u32| Ok(words.get(((addr - CODE) / 2) as usize).copied().unwrap_or(0));
    dataflow(&decode(CODE, fetch).unwrap())
}

fn r(regs: &[u8]) -> Registers {
    regs.iter().fold(Registers::NONE, |all, &reg| all | Registers::of(reg))
}

#[test]
fn addition_reads_both_and_writes_one_and_the_flags() {
    let f = flow(&asm::double("ADD", W, R(5), R(6)));
    assert_eq!((f.reads, f.writes), (r(&[5, 6]), r(&[6]) | Registers::NZCV));
    let f = flow(&asm::double("ADDC", W, Inc(5), X(4, 6)));
    assert_eq!((f.reads, f.writes, f.address), (Registers::C, Registers::NZCV, r(&[5, 6])));
    assert!(f.reads_memory && f.writes_memory);
    let f = flow(&asm::double_x("ADDC", W, R(5), R(6), Repeat { zc: true, times: Ok(1) }));
    assert_eq!(f.reads, r(&[5, 6]), "the ZC bit hides the carry");
}

#[test]
fn moves_touch_no_flag_and_forget_the_destination() {
    let f = flow(&asm::double("MOV", W, R(5), R(6)));
    assert_eq!((f.reads, f.writes), (r(&[5]), r(&[6])));
    let f = flow(&asm::double("MOV", B, Abs(0x200), X(2, 7)));
    assert_eq!((f.reads, f.writes, f.address), (Registers::NONE, Registers::NONE, r(&[7])));
    assert!(f.reads_memory && f.writes_memory);
}

#[test]
fn a_register_with_itself_forgets_its_value() {
    let f = flow(&asm::double("SUB", W, R(5), R(5)));
    assert_eq!((f.reads, f.writes), (Registers::NONE, r(&[5]) | Registers::NZCV));
    assert_eq!(flow(&asm::double("SUBC", W, R(5), R(5))).reads, Registers::C);
    // V is set where both operands are negative (SLAU208, XOR).
    assert_eq!(flow(&asm::double("XOR", B, R(10), R(10))).reads, r(&[10]));
}

#[test]
fn branches_name_what_decides() {
    assert_eq!(flow(&asm::jump("JNE", 3)).branch, Registers::Z);
    assert_eq!(flow(&asm::jump("JL", 3)).branch, Registers::N | Registers::V);
    assert_eq!(flow(&asm::jump("JMP", 3)).branch, Registers::NONE);
    let f = flow(&[asm::RET]);
    assert!(f.branch_memory && !f.reads_memory && f.writes.is_empty());
    let f = flow(&asm::single("CALL", W, R(9)));
    assert_eq!((f.branch, f.reads), (r(&[9]), Registers::NONE));
    assert!(f.writes_memory && !f.branch_memory);
    let f = flow(&asm::double("ADD", W, R(9), R(0)));
    assert_eq!((f.branch, f.writes), (r(&[9]), Registers::NZCV));
}

#[test]
fn status_bits_set_by_constants_depend_on_nothing() {
    let f = flow(&asm::double("BIS", W, Cg(8), R(2)));
    assert_eq!((f.reads, f.writes), (Registers::NONE, Registers::NONE), "EINT");
    let f = flow(&asm::double("BIC", W, Cg(1), R(2)));
    assert_eq!((f.reads, f.writes), (Registers::NONE, Registers::C), "CLRC");
    let f = flow(&asm::double("MOV", W, R(5), R(2)));
    assert_eq!((f.reads, f.writes), (r(&[5]), Registers::NZCV));
}

#[test]
fn transfers_are_in_the_order_of_their_accesses() {
    let f = flow(&asm::many("PUSHM", W, 3, 10));
    assert_eq!((f.transfer.as_slice(), f.reads), (&[10, 9, 8][..], r(&[8, 9, 10])));
    let f = flow(&asm::many("POPM", A, 2, 5));
    assert_eq!((f.transfer.as_slice(), f.writes), (&[4, 4, 5, 5][..], r(&[4, 5])));
    let f = flow(&[asm::RETI]);
    assert_eq!(f.transfer.as_slice(), [Transfer::FLAGS, Transfer::BRANCH]);
}

#[test]
fn a_repeat_count_decides_the_time() {
    let repeat = Repeat { zc: false, times: Err(7) };
    let f = flow(&asm::double_x("ADD", W, R(5), R(6), repeat));
    assert_eq!((f.time, f.reads), (r(&[7]), r(&[5, 6, 7])));
    assert!(flow(&asm::double_x("ADD", W, R(5), R(6), ONCE)).time.is_empty());
}

/// Accesses and results as they come.
#[derive(Default, Debug, PartialEq)]
struct Heard {
    accesses: Vec<(Access, u32, u32)>,
    results: Vec<(u8, u32)>,
}

impl Observer for Heard {
    const INSTRUCTIONS: bool = false;
    const ACCESSES: bool = true;
    const RESULTS: bool = true;
    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}
    fn access(&mut self, _: u32, addr: u32, kind: Access, _: Width, value: u32, _: Cycles) {
        self.accesses.push((kind, addr, value));
    }
    fn result(&mut self, register: u8, _: u32, new: u32) {
        self.results.push((register, new));
    }
}

struct Ran {
    r: [u32; 16],
    cycles: u64,
    heard: Heard,
}

/// Runs one instruction in memory filled from `memory`, with the byte at `flip` turned.
fn run(words: &[u16], r: [u32; 16], flip: Option<u32>) -> Option<Ran> {
    let mut bus = FlatBus::new();
    bus.map(0..0x8000, PageKind::Ram);
    bus.map(CODE..0x1_0000, PageKind::Code);
    for (i, byte) in bus.bytes_mut()[..0x8000].iter_mut().enumerate() {
        *byte = (i.wrapping_mul(0x9E37) >> 7) as u8 & 0x7E;
    }
    if let Some(addr) = flip {
        bus.bytes_mut()[addr as usize] ^= 0x12;
    }
    bus.load(CODE, words);
    let mut cpu = Cpu::new(Timing::CPUXV2);
    cpu.r = r;
    cpu.r[PC] = CODE;
    let mut heard = Heard::default();
    let exit = cpu.step(&mut bus, &mut Pointed::new(&mut heard));
    let ran = !matches!(exit, sunseal_isa::msp430::Exit::Fault(_));
    ran.then_some(Ran { r: cpu.r, cycles: cpu.cycles, heard })
}

fn arg(memory: bool) -> impl Strategy<Value = asm::Arg> {
    let reg = || 4u16..16;
    prop_oneof![
        4 => reg().prop_map(R),
        if memory { 2 } else { 0 } => (0i32..64, reg()).prop_map(|(x, r)| X(2 * x, r)),
        if memory { 1 } else { 0 } => (0x1000u32..0x1100).prop_map(|a| Abs(a & !1)),
    ]
}

fn words() -> impl Strategy<Value = Vec<u16>> {
    let size = prop::sample::select(vec![B, W, A]);
    let source = prop_oneof![
        4 => arg(true),
        1 => (4u16..16).prop_map(At),
        1 => (4u16..16).prop_map(Inc),
        1 => (0u32..0x1_0000).prop_map(Imm),
        1 => prop::sample::select(vec![0, 1, 2, 4, 8, -1]).prop_map(Cg),
    ];
    let repeat = (any::<bool>(), prop_oneof![(1u16..=16).prop_map(Ok), (4u16..16).prop_map(Err)])
        .prop_map(|(zc, times)| Repeat { zc, times });
    prop_oneof![
        6 => (prop::sample::select(asm::DOUBLE.to_vec()), size.clone(), source, arg(true), repeat.clone())
            .prop_map(|(op, size, s, d, rpt)| match size {
                A => asm::double_x(op, A, s, d, rpt),
                size => asm::double(op, size, s, d),
            }),
        3 => (prop::sample::select(asm::SINGLE[..5].to_vec()), arg(true), repeat)
            .prop_map(|(op, a, rpt)| if rpt.zc { asm::single_x(op, W, a, rpt) } else { asm::single(op, W, a) }),
        1 => (prop::sample::select(vec!["PUSHM", "POPM"]), 1u16..=8, 11u16..16)
            .prop_map(|(op, n, reg)| asm::many(op, W, n, reg)),
        1 => (prop::sample::select(vec!["RRCM", "RRAM", "RLAM", "RRUM"]), 1u16..=4, 4u16..16)
            .prop_map(|(op, n, reg)| asm::rotate(op, A, n, reg)),
        1 => (prop::sample::select(vec!["MOVA", "CMPA", "ADDA", "SUBA"]), 4u16..16, 4u16..16)
            .prop_map(|(op, s, d)| asm::address(op, R(s), R(d))),
    ]
}

/// The flag bits of a set.
fn bits(flags: Registers) -> u32 {
    [(Registers::C, sr::C), (Registers::Z, sr::Z), (Registers::N, sr::N), (Registers::V, sr::V)]
        .into_iter()
        .filter(|(flag, _)| flags.meets(*flag))
        .fold(0, |all, (_, bit)| all | bit)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// One input changes; only what `dataflow` says may change with it.
    #[test]
    fn nothing_flows_that_is_not_named(
        words in words(),
        regs in prop::array::uniform16(0x1000u32..0x7000),
        flags in 0u32..16,
        which in 1usize..17,
        change in 1u32..0x1000,
    ) {
        let flow = flow(&words);
        let mut before = regs.map(|value| value & !1);
        before[SR] = flags & 7 | (flags & 8) << 5;
        before[3] = 0;
        let Some(first) = run(&words, before, None) else { return Ok(()) };
        for (reg, held) in before.iter().enumerate().skip(4) {
            let told = first.heard.results.iter().rfind(|(register, _)| usize::from(*register) == reg);
            let expected = told.map_or(*held, |&(_, new)| new);
            prop_assert_eq!(first.r[reg], expected, "R{} told by {:04x?}", reg, &words);
        }
        let (after, input, memory) = match which {
            16 => match first.heard.accesses.iter().find(|(kind, ..)| *kind == Access::Read) {
                Some(&(_, addr, _)) => (before, Registers::NONE, Some(addr)),
                None => return Ok(()),
            },
            3 => return Ok(()),
            SR => {
                let flag = [(sr::C, Registers::C), (sr::Z, Registers::Z), (sr::N, Registers::N),
                    (sr::V, Registers::V)][change as usize % 4];
                let mut after = before;
                after[SR] ^= flag.0;
                (after, flag.1, None)
            }
            reg => {
                let mut after = before;
                after[reg] ^= change & !1;
                (after, Registers::of(reg as u8), None)
            }
        };
        if input.meets(flow.address) {
            return Ok(()); // another place: anything may follow
        }
        let Some(second) = run(&words, after, memory) else { return Ok(()) };
        let what = format!("{words:04x?} after {input:?} {memory:x?}: {flow:?}");
        let reaches = flow.reads.meets(input) || memory.is_some() && flow.reads_memory;
        if !flow.time.meets(input) {
            prop_assert_eq!(first.cycles, second.cycles, "time of {}", &what);
        }
        if !(flow.branch.meets(input) || memory.is_some() && flow.branch_memory) {
            prop_assert_eq!(first.r[PC], second.r[PC], "branch of {}", &what);
        }
        for reg in (1..16).filter(|&reg| reg != SR && reg != 3) {
            let this = Registers::of(reg as u8);
            let moved = flow.transfer.as_slice().first() == Some(&(reg as u8)) && memory.is_some();
            let mut may = this.meets(flow.writes) && (reaches || this.meets(flow.keeps) && this == input);
            may &= flow.transfer.is_empty() || moved;
            let untouched = this == input && !this.meets(flow.writes);
            prop_assert!(may || untouched || first.r[reg] == second.r[reg], "R{} of {}", reg, &what);
        }
        let changed = first.r[SR] ^ second.r[SR];
        let allowed = if reaches { bits(flow.writes) } else { 0 }
            | bits(input) & (!bits(flow.writes) | bits(flow.keeps));
        prop_assert_eq!(changed & !allowed, 0, "flags of {}", &what);
        let stores = |ran: &Ran| -> Vec<_> {
            ran.heard.accesses.iter().filter(|(kind, ..)| *kind == Access::Write).copied().collect()
        };
        if !(flow.writes_memory && reaches) {
            prop_assert_eq!(stores(&first), stores(&second), "stores of {}", &what);
        }
    }
}
