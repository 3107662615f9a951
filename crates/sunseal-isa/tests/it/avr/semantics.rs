// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the manual says beside cycles and flags: interrupts and SEI, skips, stack order, registers in the data
//! space, what is no instruction; what observers hear.

use crate::avr_tools;
use crate::log::Log;
use sunseal_isa::avr::{Bus, Cpu, DATA_SPACE, Exit, FlatBus, Timing, dataflow, decode, sreg};
use sunseal_isa::{Cycles, Fault, Registers, Silent};
use sunseal_trace::Pointed;

fn load(program: &[u16]) -> (Cpu, FlatBus) {
    let mut bus = FlatBus::new();
    bus.load(0, program);
    let mut cpu = Cpu::new(Timing::AVRE);
    cpu.sp = 0x10FF;
    (cpu, bus)
}

fn program(name: &str, source: &str) -> (Cpu, FlatBus) {
    load(&avr_tools::assemble(&format!("avr_semantics_{name}"), source))
}

fn step(cpu: &mut Cpu, bus: &mut impl Bus, times: usize) {
    for _ in 0..times {
        let exit = cpu.step(bus, &mut Silent);
        assert!(!matches!(exit, Exit::Fault(_)), "{exit:?}");
    }
}

// ---- interrupts

#[test]
fn one_instruction_runs_behind_sei_and_a_cli_there_wins() {
    let (mut cpu, mut bus) = program("sei", "sei\n cli\n nop\n");
    assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Status);
    assert!(cpu.interrupts_enabled() && !cpu.accepts_interrupts());
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    assert!(!cpu.interrupts_enabled() && !cpu.accepts_interrupts());
}

#[test]
fn sei_where_interrupts_are_on_delays_nothing() {
    let (mut cpu, mut bus) = program("sei_again", "sei\n sei\n nop\n");
    step(&mut cpu, &mut bus, 2);
    assert!(cpu.accepts_interrupts());
}

#[test]
fn one_instruction_runs_behind_reti_even_where_interrupts_were_on() {
    let (mut cpu, mut bus) = program("reti", "rcall f\n nop\n f: sei\n nop\n reti\n");
    step(&mut cpu, &mut bus, 3);
    assert!(cpu.accepts_interrupts());
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert!(cpu.interrupts_enabled() && !cpu.accepts_interrupts());
    step(&mut cpu, &mut bus, 1);
    assert!(cpu.accepts_interrupts());
}

#[test]
fn out_to_sreg_delays_as_sei_does_unless_the_switch_says_otherwise() {
    // The stack pointer's low byte is written behind it: what avr-gcc's prologues count on.
    let source = "in r0, 0x3f\n cli\n out 0x3e, r29\n out 0x3f, r0\n out 0x3d, r28\n nop\n";
    let (mut cpu, mut bus) = program("out_sreg", source);
    cpu.set_sreg(sreg::I);
    step(&mut cpu, &mut bus, 3);
    assert!(!cpu.interrupts_enabled());
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Status);
    assert!(!cpu.accepts_interrupts());
    step(&mut cpu, &mut bus, 1);
    assert!(cpu.accepts_interrupts() && cpu.sp == 0);

    let mut other = Cpu::new(Timing { write_delays_interrupts: false, ..Timing::AVRE });
    (other.pc, other.r[0]) = (3, sreg::I);
    assert_eq!(other.step(&mut bus, &mut Silent), Exit::Status);
    assert!(other.accepts_interrupts());
}

#[test]
fn sleep_behind_sei_is_reached_before_the_interrupt() {
    let (mut cpu, mut bus) = program("sleep", "sei\n sleep\n nop\n");
    assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Status);
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Sleep);
    assert!(cpu.accepts_interrupts());
    assert_eq!((cpu.pc, cpu.cycles), (2, 2));
}

#[test]
fn an_interrupt_pushes_low_byte_first_and_clears_only_i() {
    let (mut cpu, mut bus) = load(&[]);
    cpu.pc = 0x1234;
    cpu.set_sreg(0xFF);
    cpu.interrupt(&mut bus, &mut Silent, 0x0020).unwrap();
    assert_eq!((cpu.pc, cpu.sp, cpu.sreg()), (0x0020, 0x10FD, 0x7F));
    assert_eq!(bus.data()[0x10FE..=0x10FF], [0x12, 0x34]);
}

// ---- instructions

#[test]
fn skips_know_two_word_instructions_also_when_flash_changes_behind_them() {
    let (mut cpu, mut bus) = program("skip", "sbrs r0, 0\n nop\n nop\n nop\n");
    cpu.r[0] = 1;
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.pc, cpu.cycles), (2, 2));
    bus.load(1, &[0x9300, 0x0100]); // STS 0x0100, R16
    cpu.invalidate(2..6);
    cpu.pc = 0;
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.pc, cpu.cycles), (3, 5));
}

#[test]
fn calls_and_returns_go_round_and_wrap_at_64_k_words() {
    let (mut cpu, mut bus) = load(&[]);
    bus.load(0xFFFF, &[0xD001]); // RCALL .+2
    bus.load(1, &[0x9508]); // RET
    cpu.pc = 0xFFFF;
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.pc, cpu.sp), (1, 0x10FD));
    assert_eq!(bus.data()[0x10FE..=0x10FF], [0x00, 0x00]);
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.pc, cpu.sp, cpu.cycles), (0, 0x10FF, 7));
}

#[test]
fn registers_stack_pointer_and_status_lie_in_the_data_space() {
    let source = "lds r1, 0x0010\n sts 0x0011, r1\n ldi r26, 0x5f\n ldi r27, 0\n \
                  st X, r16\n lds r2, 0x5f\n lds r4, 0x5e\n ldi r28, 3\n ldi r29, 0\n st Y+, r17\n";
    let (mut cpu, mut bus) = program("data_space", source);
    cpu.r[16] = 0x35;
    step(&mut cpu, &mut bus, 10);
    assert_eq!((cpu.r[1], cpu.r[17], cpu.r[2], cpu.r[3]), (0x35, 0x35, 0x35, 0x35));
    assert_eq!(cpu.r[4], 0x10);
    assert_eq!((cpu.sreg(), cpu.r[28]), (0x35, 4));
}

#[test]
fn z_of_a_chain_of_subtractions_is_that_of_the_whole_number() {
    let source = "sub r0, r4\n sbc r1, r5\n cp r0, r4\n cpc r1, r5\n sbci r17, 0\n";
    let (mut cpu, mut bus) = program("chain", source);
    (cpu.r[0], cpu.r[1], cpu.r[4], cpu.r[5], cpu.r[17]) = (0x00, 0x02, 0x01, 0x01, 0);
    step(&mut cpu, &mut bus, 2); // 0x0200 - 0x0101 = 0x00FF: the high byte is zero, the number not
    assert_eq!((cpu.r[0], cpu.r[1], cpu.sreg() & sreg::Z), (0xFF, 0x00, 0));
    (cpu.r[4], cpu.r[5]) = (0xFF, 0x00);
    step(&mut cpu, &mut bus, 3);
    assert_eq!(cpu.sreg() & (sreg::Z | sreg::C), sreg::Z);
}

#[test]
fn wide_additions_keep_h_and_know_their_overflow() {
    let (mut cpu, mut bus) = program("adiw", "adiw r24, 1\n sbiw r26, 1\n");
    (cpu.r[24], cpu.r[25]) = (0xFF, 0x7F);
    cpu.set_sreg(sreg::H | sreg::C | sreg::Z);
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.r[24], cpu.r[25]), (0x00, 0x80));
    assert_eq!(cpu.sreg(), sreg::H | sreg::N | sreg::V);
    step(&mut cpu, &mut bus, 1); // 0 - 1
    assert_eq!((cpu.r[26], cpu.r[27]), (0xFF, 0xFF));
    assert_eq!(cpu.sreg(), sreg::H | sreg::N | sreg::S | sreg::C);
}

#[test]
fn fractional_products_lose_their_top_bit_to_the_carry() {
    let (mut cpu, mut bus) = program("fmul", "fmul r16, r17\n fmuls r16, r17\n fmulsu r16, r17\n");
    (cpu.r[16], cpu.r[17]) = (0xC0, 0xC0); // 1.5 * 1.5, -0.5 * -0.5, -0.5 * 1.5
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.r[1], cpu.r[0], cpu.sreg() & sreg::C), (0x20, 0x00, sreg::C));
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.r[1], cpu.r[0], cpu.sreg() & sreg::C), (0x20, 0x00, 0));
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.r[1], cpu.r[0], cpu.sreg() & sreg::C), (0xA0, 0x00, sreg::C));
}

#[test]
fn elpm_reaches_the_upper_half_and_carries_into_rampz() {
    let (mut cpu, mut bus) = program("elpm", "elpm r5, Z+\n elpm r6, Z\n lpm r7, Z\n");
    bus.load(0x7FFF, &[0xAB12, 0x34CD]);
    (cpu.r[30], cpu.r[31]) = (0xFF, 0xFF);
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.r[5], cpu.rampz, cpu.r[30], cpu.r[31]), (0xAB, 1, 0, 0));
    step(&mut cpu, &mut bus, 2);
    assert_eq!((cpu.r[6], cpu.r[7]), (0xCD, bus.flash()[0].to_le_bytes()[0]));
}

#[test]
fn spm_and_wdr_reach_the_machine() {
    let (mut cpu, mut bus) = program("spm", "wdr\n spm\n");
    (cpu.r[0], cpu.r[1], cpu.r[30], cpu.r[31], cpu.rampz) = (0x34, 0x12, 0x02, 0x80, 1);
    step(&mut cpu, &mut bus, 2);
    assert_eq!((bus.watchdog_resets, &bus.spm[..]), (1, &[(0x1_8002, 0x1234)][..]));
}

// ---- what is no instruction

fn fault(cpu: &mut Cpu, bus: &mut FlatBus) -> Fault {
    match cpu.step(bus, &mut Silent) {
        Exit::Fault(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn illegal_words_name_themselves_and_their_address() {
    let illegal = [
        0x0001, 0x00FF, 0x9003, 0x9008, 0x900B, 0x9204, 0x9205, 0x9206, 0x9207, 0x9404, 0x9419,
        0x9519, 0x940B, 0x950B, 0x9528, 0x95B8, 0x95F8, 0xF808, 0xFA08, 0xFC08, 0xFFFF, 0x940D,
    ];
    for word in illegal {
        let (mut cpu, mut bus) = load(&[]);
        bus.load(0x0810, &[word]);
        cpu.pc = 0x0810;
        let fault = fault(&mut cpu, &mut bus);
        assert_eq!((fault.pc(), fault.addr()), (Some(0x1020), 0x1020), "{word:#06x}: {fault}");
        assert!(fault.to_string().contains(&format!("{word:#06x}")), "{fault}");
        assert_eq!((cpu.pc, cpu.cycles), (0x0810, 0));
    }
}

#[test]
fn every_word_is_an_instruction_or_an_illegal_one_and_prints() {
    let legal = (0..=0xFFFF_u16)
        .filter(|&word| {
            let decoded = decode(0x100, |addr| Ok(if addr == 0x100 { word } else { 0x0123 }));
            decoded.is_ok_and(|insn| {
                assert!(!insn.to_string().is_empty());
                assert_eq!(insn.words == 2, {
                    let long = [0x9000, 0x9200].contains(&(word & 0xFE0F));
                    long || word & 0xFE0C == 0x940C
                });
                true
            })
        })
        .count();
    // What the opcode table leaves over: 255 of 0x00xx, and so on, counted by hand from the patterns.
    let illegal = 0x1_0000 - legal;
    let expected = 255 // 0x00xx but NOP
        + 3 * 32 // 1001 000d dddd 0011, 1000, 1011
        + (3 + 4) * 32 // 1001 001d dddd likewise, and XCH, LAS, LAC, LAT
        + 32 // 1001 010d dddd 0100
        + 32 - 16 - 8 // 1001 010s ssss 1000: flags and eight others are there
        + 32 - 2 // 1001 010x xxxx 1001: IJMP and ICALL are
        + 32 // 1001 010x xxxx 1011
        + 4 * 32 - 2 // JMP and CALL beyond 64 K words: k21..k16 = 0 is there
        + 4 * 32 * 8; // BLD, BST, SBRC, SBRS with bit 3
    assert_eq!(illegal, expected);
}

#[test]
fn a_pointer_that_is_stepped_and_loaded_is_undefined_and_runs_only_by_a_switch() {
    let words = [0x91AD]; // LD R26, X+
    let (mut cpu, mut bus) = load(&words);
    assert!(decode(0, |_| Ok(0x91AD)).unwrap().is_undefined());
    assert!(fault(&mut cpu, &mut bus).to_string().contains("undefined"));
    let mut cpu = Cpu::new(Timing { trap_undefined: false, ..Timing::AVRE });
    (cpu.r[26], cpu.r[27]) = (0x34, 0x02);
    bus.data_mut()[0x234] = 0x77;
    step(&mut cpu, &mut bus, 1);
    assert_eq!((cpu.r[26], cpu.r[27]), (0x77, 0x02));
}

#[test]
fn accesses_beyond_memory_are_faults_with_the_address_and_change_nothing() {
    let (mut cpu, mut bus) = program("beyond", "st X+, r0\n");
    (cpu.r[26], cpu.r[27]) = (0x00, 0x11);
    let fault = fault(&mut cpu, &mut bus);
    assert_eq!((fault.addr(), fault.pc()), (DATA_SPACE + 0x1100, Some(0)));
    assert_eq!(fault.instruction(), Some("ST X+, R0"));
    assert_eq!((cpu.r[26], cpu.cycles, cpu.pc), (0x00, 0, 0));
}

// ---- the loop

#[test]
fn the_limit_is_looked_at_before_every_instruction() {
    let (mut cpu, mut bus) = program("limit", "l: mul r0, r1\n nop\n rjmp l\n");
    for limit in 1..60 {
        bus.deadline = limit;
        assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Deadline);
        // Instructions of 2, 1 and 2 cycles.
        let expected = limit + u64::from([1, 4].contains(&(limit % 5)));
        assert_eq!(cpu.cycles, expected, "limit {limit}");
    }
}

/// A register at 0x3C in the I/O space that halts the CPU for four cycles when written.
struct Stalling(FlatBus);

impl Bus for Stalling {
    fn read(&mut self, addr: u16, at: Cycles) -> Result<u8, Fault> {
        self.0.read(addr, at)
    }
    fn write(&mut self, addr: u16, value: u8, at: Cycles) -> Result<(), Fault> {
        self.0.write(addr, value, at)
    }
    fn fetch(&mut self, word_addr: u32) -> Result<u16, Fault> {
        self.0.fetch(word_addr)
    }
    fn program_byte(&mut self, byte_addr: u32, at: Cycles) -> Result<u8, Fault> {
        self.0.program_byte(byte_addr, at)
    }
    fn spm(&mut self, pc: u32, byte_addr: u32, word: u16, at: Cycles) -> Result<(), Fault> {
        self.0.spm(pc, byte_addr, word, at)
    }
    fn watchdog_reset(&mut self, at: Cycles) {
        self.0.watchdog_reset(at);
    }
    fn stall(&mut self) -> u32 {
        4
    }
    fn deadline(&self) -> Cycles {
        Cycles::MAX
    }
}

#[test]
fn a_write_may_halt_the_cpu_behind_its_instruction() {
    let (mut cpu, bus) = program("stall", "sbi 0x1c, 0\n out 0x1c, r0\n sts 0x3c, r0\n nop\n");
    let mut bus = Stalling(bus);
    let ends: Vec<_> = (0..4)
        .map(|_| {
            step(&mut cpu, &mut bus, 1);
            cpu.cycles
        })
        .collect();
    assert_eq!(ends, [6, 11, 17, 18]);
}

// ---- observers

#[test]
fn observers_hear_accesses_then_results_then_the_instruction() {
    let source = "ld r5, X+\n in r6, 0x3f\n push r5\n lpm r7, Z\n rcall f\n f: ret\n";
    let (mut cpu, mut bus) = program("observer", source);
    bus.data_mut()[0x1FF] = 0x42;
    (cpu.r[26], cpu.r[27]) = (0xFF, 0x01);
    let mut log = Log::default();
    for _ in 0..6 {
        cpu.step(&mut bus, &mut Pointed::new(&mut log));
    }
    let lpm = bus.flash()[0] & 0xFF;
    assert_eq!(
        log.0,
        [
            "0 Read W8 8001ff 42 at 1",
            "R26 ff -> 0",
            "R27 1 -> 2",
            "R5 0 -> 42",
            "0 sp 8010ff cycles 2 Next",
            "R6 0 -> 0",
            "2 sp 8010ff cycles 1 Next",
            "4 Write W8 8010ff 42 at 4",
            "4 sp 8010fe cycles 2 Next",
            &format!("6 Read W8 0 {lpm:x} at 7"),
            &format!("R7 0 -> {lpm:x}"),
            "6 sp 8010fe cycles 3 Next",
            "8 Write W8 8010fe 5 at 9",
            "8 Write W8 8010fd 0 at 10",
            "8 sp 8010fc cycles 3 Call { target: 10 }",
            "a Read W8 8010fd 0 at 12",
            "a Read W8 8010fe 5 at 13",
            "a sp 8010fe cycles 4 Return",
        ]
    );
}

#[test]
fn dataflow_says_what_each_result_comes_from() {
    let of = |source: &str| {
        let words = avr_tools::assemble("avr_semantics_dataflow", source);
        dataflow(&decode(0, |addr| Ok(words[addr as usize])).unwrap())
    };
    let r = Registers::of;
    let adc = of("adc r3, r4");
    assert_eq!(adc.reads, r(3) | r(4) | Registers::C);
    assert!(adc.writes.meets(Registers::H) && !adc.writes.meets(Registers::T));
    assert!(of("eor r3, r3").reads.is_empty() && of("sub r3, r3").reads.is_empty());
    assert_eq!(of("sbc r3, r3").reads, Registers::C);
    assert_eq!(of("sbc r3, r4").keeps, Registers::Z);
    let ld = of("ld r5, -Y");
    assert!(ld.reads_memory && ld.address == r(28) | r(29) && ld.writes == r(5));
    assert_eq!(of("brlt . + 4").branch, Registers::S);
    assert_eq!(of("cpse r1, r2").branch, r(1) | r(2));
    assert_eq!(of("ijmp").branch, r(30) | r(31));
    assert!(of("sbis 0x10, 3").branch_memory && of("ret").branch_memory);
    assert!(of("in r0, 0x3f").reads.meets(Registers::T));
    assert_eq!(of("mul r3, r4").writes, r(0) | r(1) | Registers::C | Registers::Z);
    assert_eq!(of("bld r3, 1").keeps, r(3));
    // No instruction of this core takes longer for one operand than for another.
    assert!((0..=0xFFFF_u16).all(|word| match decode(0, |a| Ok(if a == 0 { word } else { 0 })) {
        Ok(insn) => dataflow(&insn).time.is_empty(),
        Err(_) => true,
    }));
}
