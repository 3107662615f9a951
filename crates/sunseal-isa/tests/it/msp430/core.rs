// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the cycle tables do not say: interrupts, the shadow of EINT, SR read and written, 16-bit wrap, what
//! observers hear and when, wait states, code that stores change. Short programs with register names.

use crate::asm::{self, Arg, Arg::*, ONCE, Repeat, Size::*};
use crate::log::Log;
use sunseal_isa::msp430::{
    Bus, Cpu, Exit, Family, FlatBus, PC, PageKind, SP, SR, Timing, Width, decode, decode_for, sr,
};
use sunseal_isa::{Cycles, Fault, FaultKind, Silent};
use sunseal_trace::Pointed;

const CODE: u32 = 0x5C00;
const RAM: u32 = 0x1C00;
const STACK: u32 = 0x2000;
const HANDLER: u32 = 0x6000;
const VECTOR: u32 = 0xFFF0;

/// EINT and DINT as GNU as writes them.
fn eint() -> Vec<u16> {
    asm::double("BIS", W, Cg(8), R(2))
}

fn dint() -> Vec<u16> {
    asm::double("BIC", W, Cg(8), R(2))
}

fn nop() -> Vec<u16> {
    asm::double("MOV", W, Cg(0), R(3))
}

fn machine(timing: Timing, program: &[Vec<u16>]) -> (Cpu, FlatBus) {
    let mut bus = FlatBus::new();
    bus.map(RAM..STACK, PageKind::Ram);
    bus.map(CODE..0x1_0000, PageKind::Code);
    bus.load(CODE, &program.concat());
    bus.load(HANDLER, &[asm::RETI]);
    bus.load(VECTOR, &[HANDLER as u16]);
    let mut cpu = Cpu::new(timing);
    cpu.r[PC] = CODE;
    cpu.r[SP] = STACK;
    (cpu, bus)
}

const ALL: [Timing; 3] = [Timing::CPU, Timing::CPUX, Timing::CPUXV2];

/// What an observer is told of so many steps.
fn told(cpu: &mut Cpu, bus: &mut impl Bus, steps: usize) -> Log {
    let mut log = Log::default();
    for _ in 0..steps {
        assert_eq!(cpu.step(bus, &mut Pointed::new(&mut log)), Exit::Deadline);
    }
    log
}

#[test]
fn interrupt_entry_stores_pc_and_sr_and_clears_all_but_scg0() {
    for timing in ALL {
        let (mut cpu, mut bus) = machine(timing, &[nop()]);
        cpu.r[SR] = sr::C | sr::V | sr::GIE | sr::CPUOFF | sr::SCG0 | sr::SCG1 | sr::OSCOFF;
        let before = cpu.r[SR];
        let mut log = Log::default();
        cpu.interrupt(&mut bus, &mut Pointed::new(&mut log), VECTOR).unwrap();
        assert_eq!((cpu.r[PC], cpu.r[SP], cpu.r[SR]), (HANDLER, STACK - 4, sr::SCG0));
        let last = timing.interrupt_cycles();
        let expected = [
            format!("{CODE:x} Write W16 1ffe {CODE:x} at {}", last - 4),
            format!("{CODE:x} Write W16 1ffc {before:x} at {}", last - 3),
            format!("{CODE:x} Read W16 fff0 {HANDLER:x} at {}", last - 2),
            format!("{CODE:x} sp 1ffc cycles {last} Interrupt {{ vector: 65520 }}"),
        ];
        assert_eq!(log.0, expected);
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status, "RETI sets GIE again");
        assert_eq!((cpu.r[PC], cpu.r[SP], cpu.r[SR]), (CODE, STACK, before));
        assert!(cpu.accepts_interrupts(), "RETI casts no shadow: the next may be taken at once");
    }
}

#[test]
fn the_high_bits_of_pc_travel_in_the_stored_status_of_an_msp430x_only() {
    let (mut cpu, mut bus) = machine(Timing::CPUXV2, &[]);
    bus.map(0x1_0000..0x2_0000, PageKind::Code);
    bus.load(0x1_2340, &nop());
    (cpu.r[PC], cpu.r[SR]) = (0x1_2340, sr::GIE);
    cpu.interrupt(&mut bus, &mut Silent, VECTOR).unwrap();
    assert_eq!((bus.word(STACK - 2), bus.word(STACK - 4)), (0x2340, 0x1008));
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert_eq!(cpu.r[PC], 0x1_2340);
    // On the 16-bit CPU those bits of SR mean nothing to RETI.
    let (mut cpu, mut bus) = machine(Timing::CPU, &[vec![asm::RETI]]);
    cpu.r[SP] = STACK - 4;
    bus.load(STACK - 4, &[0xF001, 0x5C10]);
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    assert_eq!((cpu.r[PC], cpu.r[SR]), (0x5C10, sr::C));
}

#[test]
fn the_instruction_behind_eint_runs_before_any_interrupt() {
    for timing in ALL {
        for set in
            [eint(), asm::double("MOV", W, Imm(sr::GIE), R(2)), asm::double("MOV", W, Inc(1), R(2))]
        {
            let (mut cpu, mut bus) = machine(timing, &[set.clone(), nop()]);
            cpu.r[SP] = STACK - 2;
            bus.load(STACK - 2, &[sr::GIE as u16]);
            assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status, "{set:x?}");
            assert!(cpu.r[SR] & sr::GIE != 0 && !cpu.accepts_interrupts());
            let state = cpu.state();
            assert!(state.interrupt_shadow, "a snapshot keeps the shadow");
            assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
            assert!(cpu.accepts_interrupts());
            cpu.set_state(&state);
            assert!(!cpu.accepts_interrupts());
        }
    }
}

#[test]
fn eint_followed_by_dint_takes_no_interrupt() {
    let (mut cpu, mut bus) = machine(Timing::CPUXV2, &[eint(), dint(), nop()]);
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert!(!cpu.accepts_interrupts());
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert!(!cpu.accepts_interrupts() && cpu.r[SR] & sr::GIE == 0);
}

#[test]
fn setting_gie_that_is_set_casts_no_shadow() {
    let (mut cpu, mut bus) = machine(Timing::CPU, &[eint(), nop(), eint(), nop()]);
    for _ in 0..2 {
        cpu.step(&mut bus, &mut Silent);
    }
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    assert!(cpu.accepts_interrupts());
}

#[test]
fn gie_with_cpuoff_sleeps_at_once_and_wakes_at_once() {
    let low_power = asm::double("BIS", W, Imm(sr::GIE | sr::CPUOFF | sr::SCG1), R(2));
    let (mut cpu, mut bus) = machine(Timing::CPU, &[low_power, nop()]);
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert!(cpu.accepts_interrupts(), "no instruction runs while the CPU is off");
    cpu.interrupt(&mut bus, &mut Silent, VECTOR).unwrap();
    assert_eq!(cpu.r[SR], 0, "SCG1 and CPUOFF are cleared: the handler runs");
    assert_eq!(bus.word(STACK - 2), (CODE + 4) as u16, "it comes back behind the BIS");
}

#[test]
fn a_handler_that_clears_cpuoff_on_the_stack_wakes_the_program() {
    // BIC #CPUOFF, 0(SP); RETI
    let (mut cpu, mut bus) = machine(Timing::CPUXV2, &[nop()]);
    let handler = [asm::double("BIC", W, Imm(sr::CPUOFF), X(0, 1)), vec![asm::RETI]].concat();
    bus.load(HANDLER, &handler);
    cpu.invalidate(HANDLER..HANDLER + 8);
    cpu.r[SR] = sr::GIE | sr::CPUOFF;
    cpu.interrupt(&mut bus, &mut Silent, VECTOR).unwrap();
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert_eq!(cpu.r[SR], sr::GIE);
}

#[test]
fn nested_interrupts_come_back_in_order() {
    let (mut cpu, mut bus) = machine(Timing::CPU, &[nop()]);
    let second = 0x6100;
    bus.load(HANDLER, &[eint(), nop(), vec![asm::RETI]].concat());
    bus.load(second, &[asm::RETI]);
    bus.load(0xFFF2, &[second as u16]);
    cpu.r[SR] = sr::GIE | sr::Z;
    cpu.interrupt(&mut bus, &mut Silent, VECTOR).unwrap();
    assert!(!cpu.accepts_interrupts(), "the handler starts with GIE clear");
    cpu.step(&mut bus, &mut Silent);
    cpu.step(&mut bus, &mut Silent);
    assert!(cpu.accepts_interrupts());
    cpu.interrupt(&mut bus, &mut Silent, 0xFFF2).unwrap();
    cpu.step(&mut bus, &mut Silent);
    assert_eq!((cpu.r[PC], cpu.r[SP]), (HANDLER + 4, STACK - 4));
    cpu.step(&mut bus, &mut Silent);
    assert_eq!((cpu.r[PC], cpu.r[SP], cpu.r[SR]), (CODE, STACK, sr::GIE | sr::Z));
}

#[test]
fn sr_read_modify_write_sees_the_flags_of_the_instruction_before() {
    for timing in ALL {
        let program = [
            asm::double("SUB", W, Cg(1), R(4)),      // 0 - 1: N set, C clear
            asm::double("MOV", W, R(2), R(5)),       // SR with N
            asm::double("BIS", W, Imm(0x100), R(2)), // V, behind the ALU's back
            asm::jump("JL", 1),                      // N and V: not less
            asm::double("MOV", W, Cg(1), R(6)),
            asm::double("ADD", W, R(2), R(2)), // its own flags are overwritten by the sum
        ];
        let (mut cpu, mut bus) = machine(timing, &program);
        for _ in &program {
            assert!(!matches!(cpu.step(&mut bus, &mut Silent), Exit::Fault(_)));
        }
        assert_eq!((cpu.r[5], cpu.r[6]), (sr::N, 1));
        assert_eq!(
            cpu.r[SR],
            (2 * (sr::N | sr::V)) & 0x1FF,
            "0x104 + 0x104 = 0x208, nine bits of it"
        );
    }
}

#[test]
fn reserved_bits_of_sr_read_as_zero_and_r3_forgets() {
    let program = [
        asm::double("MOV", W, Imm(0xFE00), R(2)),
        asm::double("MOV", W, R(2), R(4)),
        asm::double("MOV", W, Imm(0x1234), R(3)),
        asm::double("MOV", W, R(3), R(5)),
    ];
    let (mut cpu, mut bus) = machine(Timing::CPU, &program);
    (cpu.r[4], cpu.r[5]) = (7, 7);
    for _ in &program {
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    }
    assert_eq!((cpu.r[4], cpu.r[5]), (0, 0));
}

#[test]
fn the_16_bit_cpu_has_none_of_the_msp430x_instructions() {
    let extended = [
        asm::double_x("ADD", W, R(4), R(5), ONCE),
        asm::address("MOVA", R(4), R(5)),
        asm::rotate("RRUM", W, 1, 4),
        asm::many("PUSHM", W, 1, 4),
        asm::many("POPM", A, 1, 4),
        asm::calla(R(4)),
        vec![0x1380],
    ];
    for words in extended {
        let (mut cpu, mut bus) = machine(Timing::CPU, std::slice::from_ref(&words));
        let Exit::Fault(fault) = cpu.step(&mut bus, &mut Silent) else { panic!("{words:x?}") };
        assert!(matches!(fault.kind(), FaultKind::IllegalOpcode { word, .. } if *word == words[0]));
        assert_eq!((fault.pc(), cpu.r[PC], cpu.cycles), (Some(CODE), CODE, 0));
        assert!(fault.to_string().contains("MSP430"), "{fault}");
    }
    for first in 0u16..=0xFFFF {
        let fetch = |addr| Ok(if addr == CODE { first } else { 0x0200 });
        let (narrow, wide) = (decode_for(Family::Cpu, CODE, fetch), decode(CODE, fetch));
        if let Ok(insn) = narrow {
            assert!(!insn.extended && insn.size != sunseal_isa::msp430::Size::A, "{first:#x}");
            assert_eq!(Ok(insn), wide, "{first:#x}");
        }
    }
}

#[test]
fn addresses_and_registers_of_the_16_bit_cpu_wrap() {
    let mut bus = FlatBus::new();
    bus.map(0..0x400, PageKind::Ram);
    bus.map(0xFE00..0x1_0000, PageKind::Code);
    bus.map(0x1_0000..0x1_0400, PageKind::Ram);
    bus.load(0x1_0000, &[0xDEAD; 8]);
    bus.load(0x10, &[0x5555]);
    let mut cpu = Cpu::new(Timing::CPU);
    let mut one = |words: Vec<u16>, set: &[(usize, u32)]| {
        bus.load(0xFE00, &words);
        cpu.invalidate(0xFE00..0xFE10);
        cpu.r[PC] = 0xFE00;
        for &(reg, value) in set {
            cpu.r[reg] = value;
        }
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline, "{words:x?}");
        cpu.r
    };
    assert_eq!(one(asm::double("MOV", W, X(0x20, 4), R(5)), &[(4, 0xFFF0)])[5], 0x5555);
    assert_eq!(one(asm::double("MOV", W, Inc(4), R(5)), &[(4, 0xFFFE)])[4], 0);
    assert_eq!(one(asm::double("ADD", W, R(4), R(5)), &[(4, 0xFFFF), (5, 2)])[5], 1);
    assert_eq!(one(asm::single("SXT", W, R(4)), &[(4, 0x0080)])[4], 0xFF80);
    assert_eq!(one(asm::single("PUSH", W, R(4)), &[(SP, 2)])[SP], 0);
    assert_eq!(one(asm::double("ADD", W, Cg(2), R(1)), &[(SP, 0xFFFE)])[SP], 0);
    assert_eq!(one(asm::jump("JMP", 0x1FF), &[])[PC], 0x0200);
    // An instruction at the top: the next is at the bottom.
    bus.load(0xFFFE, &[0x4303]);
    bus.load(0, &nop());
    cpu.r[PC] = 0xFFFE;
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    assert_eq!(cpu.r[PC], 0);
    // A stack that wraps below zero is at the top, where this device has no RAM.
    cpu.r[SP] = 0;
    bus.load(0, &asm::single("PUSH", W, R(4)));
    let Exit::Fault(fault) = cpu.step(&mut bus, &mut Silent) else { panic!() };
    assert_eq!(fault.addr(), 0xFFFE);
}

#[test]
fn an_observer_hears_accesses_then_results_then_the_instruction() {
    let program = [
        asm::double("ADD", W, Inc(4), X(2, 5)),
        asm::double("MOV", B, Inc(4), R(6)),
        asm::single("RRC", W, R(6)),
        asm::single("PUSH", W, R(6)),
        asm::double("MOV", W, Inc(1), R(7)),
        asm::many("PUSHM", W, 2, 5),
        asm::many("POPM", W, 2, 9),
        asm::double_x("ADD", A, R(6), R(7), Repeat { zc: false, times: Ok(2) }),
        asm::address("MOVA", Inc(5), R(10)),
        asm::double("SUB", W, Imm(4), R(1)),
    ];
    let (mut cpu, mut bus) = machine(Timing::CPUXV2, &program);
    bus.load(RAM, &[0x1111, 0x22F3, 0x0003, 0x0004]);
    bus.load(RAM + 0x12, &[0x8000]);
    (cpu.r[4], cpu.r[5]) = (RAM, RAM + 0x10);
    let log = told(&mut cpu, &mut bus, program.len());
    let expected = [
        "5c00 Read W16 1c00 1111 at 1",
        "5c00 Read W16 1c12 8000 at 3",
        "5c00 Write W16 1c12 9111 at 4",
        "R4 1c00 -> 1c02",
        "5c00 sp 2000 cycles 5 Next",
        "5c04 Read W8 1c02 f3 at 6",
        "R4 1c02 -> 1c03",
        "R6 0 -> f3",
        "5c04 sp 2000 cycles 2 Next",
        "R6 f3 -> 79",
        "5c06 sp 2000 cycles 1 Next",
        "5c08 Write W16 1ffe 79 at 10",
        "5c08 sp 1ffe cycles 3 Next",
        "5c0a Read W16 1ffe 79 at 12",
        "R7 0 -> 79",
        "5c0a sp 2000 cycles 2 Next",
        "5c0c Write W16 1ffe 1c10 at 15",
        "5c0c Write W16 1ffc 1c03 at 16",
        "5c0c sp 1ffc cycles 4 Next",
        "5c0e Read W16 1ffc 1c03 at 19",
        "5c0e Read W16 1ffe 1c10 at 20",
        "R8 0 -> 1c03",
        "R9 0 -> 1c10",
        "5c0e sp 2000 cycles 4 Next",
        "R7 79 -> f2",
        "R7 f2 -> 16b",
        "5c10 sp 2000 cycles 3 Next",
        "5c14 Read W16 1c10 0 at 25",
        "5c14 Read W16 1c12 9111 at 26",
        "R5 1c10 -> 1c14",
        "R10 0 -> 10000",
        "5c14 sp 2000 cycles 3 Next",
        "R1 2000 -> 1ffc",
        "5c16 sp 1ffc cycles 2 Next",
    ];
    assert_eq!(log.0, expected);
}

/// FRAM as a device has it: one wait for each instruction in it and each data access to it, code that stores may
/// change, pages that lose their plain stores once code was fetched from them.
struct Fram {
    flat: FlatBus,
    decoded: Vec<u32>,
    waits: Cycles,
    slow_stores: u32,
}

impl Fram {
    fn holds(addr: u32) -> bool {
        (0x4000..0x1_0000).contains(&addr)
    }
}

impl Bus for Fram {
    const WAITS: bool = true;
    const STORES_CHANGE_CODE: bool = true;

    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        assert!((2..=8).contains(&bytes));
        Cycles::from(Self::holds(pc)) * Cycles::from(bytes / 2)
    }
    fn stall(&mut self) -> Cycles {
        std::mem::take(&mut self.waits)
    }
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        self.waits += Cycles::from(Self::holds(addr));
        self.flat.read(addr, width, at)
    }
    fn write(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault> {
        self.waits += Cycles::from(Self::holds(addr));
        self.slow_stores += 1;
        self.flat.write(addr, width, value, at)
    }
    fn read_plain(&self, addr: u32, width: Width, at: Cycles) -> Option<u16> {
        if Self::holds(addr) { None } else { self.flat.read_plain(addr, width, at) }
    }
    fn write_plain(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> bool {
        !self.decoded.contains(&(addr >> 8)) && self.flat.write_plain(addr, width, value, at)
    }
    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        self.decoded.push(addr >> 8);
        self.flat.fetch(addr)
    }
    fn cacheable(&self, addr: u32) -> bool {
        Self::holds(addr)
    }
    fn deadline(&self) -> Cycles {
        self.flat.deadline
    }
}

fn fram(program: &[Vec<u16>]) -> (Cpu, Fram) {
    let (cpu, mut flat) = machine(Timing::CPUXV2, program);
    flat.map(0x4000..0x1_0000, PageKind::Ram);
    (cpu, Fram { flat, decoded: Vec::new(), waits: 0, slow_stores: 0 })
}

#[test]
fn wait_states_lengthen_instructions_and_delay_their_accesses() {
    let program = [
        asm::double("MOV", W, Abs(0x5000), R(4)), // 3 cycles, 2 words, 1 read
        asm::double("MOV", W, R(4), Abs(RAM)),    // 3 cycles, 2 words, none
        asm::single("CALL", W, Imm(HANDLER)),     // 4 cycles, 2 words, none
    ];
    let (mut cpu, mut bus) = fram(&program);
    let log = told(&mut cpu, &mut bus, program.len());
    let expected = [
        "5c00 Read W16 5000 0 at 4",
        "R4 0 -> 0",
        "5c00 sp 2000 cycles 6 Next",
        "5c04 Write W16 1c00 0 at 10",
        "5c04 sp 2000 cycles 5 Next",
        "5c08 Write W16 1ffe 5c0c at 16",
        "5c08 sp 1ffe cycles 6 Call { target: 24576 }",
    ];
    assert_eq!(log.0, expected);
    assert_eq!(cpu.cycles, 17);
    // The second time nothing is decoded anew, and everything takes as long.
    (cpu.r[PC], cpu.r[SP]) = (CODE, STACK);
    bus.flat.deadline = cpu.cycles + 17;
    assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Deadline);
    assert_eq!((cpu.cycles, cpu.r[PC]), (34, HANDLER));
}

#[test]
fn a_fault_takes_back_the_wait_for_its_instruction() {
    let (mut cpu, mut bus) = fram(&[nop(), asm::double("MOV", W, Abs(0x0), R(4))]);
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    let before = cpu.cycles;
    assert!(matches!(cpu.step(&mut bus, &mut Silent), Exit::Fault(_)));
    assert_eq!((cpu.cycles, cpu.r[PC]), (before, CODE + 2));
}

#[test]
fn interrupt_entry_waits_for_the_vector() {
    let (mut cpu, mut bus) = fram(&[nop()]);
    cpu.interrupt(&mut bus, &mut Silent, VECTOR).unwrap();
    assert_eq!(cpu.cycles, 7);
}

#[test]
fn a_store_into_decoded_code_runs_as_the_new_code() {
    // Loop: ADD #1, R4 becomes ADD #2, R4 while it runs.
    let [old, new] = [1, 2].map(|n| asm::double("ADD", W, Cg(n), R(4))[0]);
    let program = [vec![old], asm::double("MOV", W, R(5), Abs(CODE)), asm::jump("JMP", -4)];
    for observed in [false, true] {
        let (mut cpu, mut bus) = fram(&program);
        cpu.r[5] = u32::from(new);
        bus.flat.deadline = 60;
        let exit = if observed {
            cpu.run(&mut bus, &mut Pointed::new(&mut Log::default()))
        } else {
            cpu.run(&mut bus, &mut Silent)
        };
        assert_eq!(exit, Exit::Deadline);
        let rounds = bus.slow_stores;
        assert!(rounds >= 4);
        assert!(
            [2 * rounds - 1, 2 * rounds + 1].contains(&cpu.r[4]),
            "{} in {rounds} rounds",
            cpu.r[4]
        );
        assert_eq!(cpu.cycles_uncached, 0, "changed code is kept decoded, too");
    }
}

#[test]
fn a_store_beside_code_stays_plain_until_the_page_is_fetched_from() {
    let program =
        [asm::double("MOV", W, R(4), Abs(0x5000)), asm::double("MOV", W, R(4), Abs(0x5CF0))];
    let (mut cpu, mut bus) = fram(&program);
    cpu.step(&mut bus, &mut Silent);
    assert_eq!(bus.slow_stores, 0);
    cpu.step(&mut bus, &mut Silent);
    assert_eq!(bus.slow_stores, 1);
}

#[test]
fn push_of_a_byte_stores_a_byte() {
    let (mut cpu, mut bus) = machine(Timing::CPU, &[asm::single("PUSH", B, R(4))]);
    bus.load(STACK - 2, &[0xAAAA]);
    cpu.r[4] = 0x1234;
    cpu.step(&mut bus, &mut Silent);
    assert_eq!(bus.word(STACK - 2), 0xAA34);
}

#[test]
fn constants_need_no_word() {
    for n in [0, 1, 2, 4, 8, -1] {
        assert_eq!(asm::double("MOV", W, Arg::Cg(n), R(4)).len(), 1);
        let (mut cpu, mut bus) = machine(Timing::CPU, &[asm::double("MOV", W, Cg(n), R(4))]);
        cpu.step(&mut bus, &mut Silent);
        assert_eq!((cpu.r[4], cpu.r[PC], cpu.cycles), (n as u16 as u32, CODE + 2, 1));
    }
}

/// What a device leaves at one address, for rows whose numbers are printed.
fn stored(words: &[u16], timing: Timing, sp: u32, at: u32) -> (u32, u32) {
    let mut bus = FlatBus::new();
    bus.map(0..0x4000, PageKind::Ram);
    bus.map(0x4400..0x8000, PageKind::Code);
    bus.load(0x4400, words);
    for (i, word) in [0x5A00u16, 0x5A02, 0x5A04, 0x5A06].into_iter().enumerate() {
        bus.load(0x3000 + 2 * i as u32, &[word]);
    }
    let mut cpu = Cpu::new(timing);
    cpu.r[PC] = 0x4400;
    cpu.r[SP] = sp;
    cpu.r[4] = 0x10;
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    let b = bus.bytes();
    (u32::from(b[at as usize]) | u32::from(b[at as usize + 1]) << 8, cpu.r[PC])
}

#[test]
fn call_and_push_by_sp_make_their_address_behind_the_decrement() {
    for timing in [Timing::CPU, Timing::CPUX, Timing::CPUXV2] {
        // call 2(r1) at SP = 0x3002 goes where 0x3002 points, not 0x3004; push 4(r1) takes 0x3004.
        assert_eq!(stored(&[0x1291, 2], timing, 0x3002, 0x3000), (0x4404, 0x5A02), "{timing:?}");
        assert_eq!(stored(&[0x1211, 4], timing, 0x3002, 0x3000).0, 0x5A04, "{timing:?}");
    }
    // @SP is disputed: in front of the decrement by default, behind it with the switch.
    let mut behind = Timing::CPUXV2;
    behind.set("push_call_indirect_sp_after", "true").unwrap();
    assert_eq!(stored(&[0x12A1], Timing::CPUXV2, 0x3002, 0x3000).1, 0x5A02);
    assert_eq!(stored(&[0x12A1], behind, 0x3002, 0x3000).1, 0x5A00);
    // calla 4(r1): 0x3006 or, behind the decrement by four, 0x3002.
    let mut behind = Timing::CPUXV2;
    behind.set("calla_indexed_sp_after", "true").unwrap();
    assert_eq!(stored(&[0x1351, 0], Timing::CPUXV2, 0x3004, 0x3000).1 & 0xFFFF, 0x5A04);
    assert_eq!(stored(&[0x1351, 4], behind, 0x3004, 0x3000).1 & 0xFFFF, 0x5A04);
    // pushx.w 2(r1)
    let mut before = Timing::CPUXV2;
    before.set("pushx_indexed_sp_after", "false").unwrap();
    assert_eq!(stored(&[0x1840, 0x1211, 2], Timing::CPUXV2, 0x3002, 0x3000).0, 0x5A02);
    assert_eq!(stored(&[0x1840, 0x1211, 2], before, 0x3002, 0x3000).0, 0x5A04);
}

#[test]
fn what_the_manual_leaves_out_is_as_observed() {
    // push sp: the old value by CPUXV2, the decremented one by the others.
    assert_eq!(stored(&[0x1201], Timing::CPUXV2, 0x3002, 0x3000).0, 0x3002);
    assert_eq!(stored(&[0x1201], Timing::CPU, 0x3002, 0x3000).0, 0x3000);
    // mov pc, &0x2000 at 0x4400
    assert_eq!(stored(&[0x4082, 0x2000], Timing::CPUXV2, 0x3002, 0x2000).0, 0x4404);
    assert_eq!(stored(&[0x4082, 0x2000], Timing::CPU, 0x3002, 0x2000).0, 0x4404);
    // adda r3, r4; adda r2, r4; suba r3, r4 with R4 = 0x10
    for (word, expected) in [(0x03E4, 0x12), (0x02E4, 0x14), (0x03F4, 0x0E), (0x02F4, 0x0C)] {
        let mut bus = FlatBus::new();
        bus.map(0x4400..0x8000, PageKind::Code);
        bus.load(0x4400, &[word]);
        let mut cpu = Cpu::new(Timing::CPUXV2);
        cpu.r[PC] = 0x4400;
        cpu.r[4] = 0x10;
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
        assert_eq!((cpu.r[4], cpu.cycles), (expected, 1), "{word:#06x}");
    }
}

#[test]
fn switches_are_set_by_name() {
    let mut timing = Timing::CPUXV2;
    timing.set("trap_misaligned", "false").unwrap();
    timing.set("dadd_overflow", "clear").unwrap();
    assert!(!timing.trap_misaligned);
    let shown = timing.switches();
    assert!(shown.contains(&("dadd_overflow", "clear".to_owned())), "{shown:?}");
    let why = timing.set("trap_misalign", "false").unwrap_err();
    assert!(why.contains("no switch `trap_misalign`; it has indirect_to_pc_takes_3,"), "{why}");
    let why = timing.set("pc_write_one_less", "1").unwrap_err();
    assert_eq!(why, "timing switch `pc_write_one_less` takes true or false, not `1`");
}
