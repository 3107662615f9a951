// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flash controller: timing generator, supply, words, blocks, erasures, slips.

use sunseal_mcu::{LintKind, Machine, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

const FWKEY: u16 = 0xA500;
/// SMCLK / 2: 375 kHz of 0.75 MHz.
const SMCLK_BY_2: u16 = FWKEY | 0x81;

fn unlocked(fctl1: u16) -> Program {
    let mut p = Program::new();
    p.set(FCTL2, SMCLK_BY_2).set(FCTL3, FWKEY).set(FCTL1, FWKEY | fctl1);
    p
}

/// The time that a program spends with the flash controller in a state.
fn time_in(m: &Machine, state: &str) -> f64 {
    let v = m.vocabulary();
    let (flash, state) = (v.find_component("flash").unwrap(), v.find_state(state).unwrap());
    let ledger = m.ledger();
    let all = ledger.spans().filter(|(k, _)| (k.component, k.state) == (flash, state));
    all.map(|(_, s)| s.time).fold(Picos::ZERO, |a, b| a + b).as_seconds()
}

#[test]
fn a_word_takes_35_cycles_of_the_timing_generator() {
    let mut p = unlocked(0x40);
    p.set(FLASH_DATA, 0x1234).set(FLASH_DATA + 2, 0x5678).set_b(INFO_A, 0x9A);
    p.set(FCTL1, FWKEY).set(FCTL3, FWKEY | 0x10).keep(FCTL3).keep(FCTL1).keep(FCTL2);
    let m = p.run_halted();
    assert_eq!((word(&m, FLASH_DATA), word(&m, FLASH_DATA + 2)), (0x1234, 0x5678));
    assert_eq!(m.read_mem(INFO_A, 1).unwrap(), [0x9A]);
    let each = time_in(&m, "write") / 3.0;
    assert!((each * 375e3 - 35.0).abs() < 0.6, "{}", each * 375e3);
    assert_eq!(all_kept(&m), [0x9618, 0x9600, 0x9681]);
    assert_eq!(slips(&m), []);
}

#[test]
fn segments_and_masses_are_erased_in_their_time() {
    let mut p = unlocked(0x02);
    p.set(FLASH_DATA + 0x100, 0).keep(FLASH_DATA).keep(FLASH_DATA + 0x1FE).keep(FLASH_DATA + 0x200);
    let mut m = p.halt().machine();
    m.write_mem(FLASH_DATA, &[0; 0x400]).unwrap();
    halt(&mut m);
    assert_eq!(all_kept(&m), [0xFFFF, 0xFFFF, 0]);
    assert!((time_in(&m, "erase") * 375e3 - 4819.0).abs() < 1.0);
    // A segment of information flash is 128 bytes.
    let mut p = unlocked(0x02);
    p.set(INFO_A, 0);
    let mut m = p.halt().machine();
    m.write_mem(INFO_B, &[0; 256]).unwrap();
    halt(&mut m);
    assert_eq!(
        (word(&m, INFO_B + 0x7E), word(&m, INFO_A), word(&m, INFO_A + 0x7E)),
        (0, 0xFFFF, 0xFFFF)
    );
    // All of main flash, by code in RAM; with ERASE, information flash too.
    for (bits, info) in [(0x04, 0), (0x06, 0xFFFF)] {
        let mut body = Program::routine();
        body.op("MOV", Cg(0), Abs(FLASH_DATA)).wait_clear(FCTL3, 1).sleep(LPM4);
        let mut p = unlocked(bits);
        p.run_in_ram(&body, RAM + 0x400);
        let mut m = p.machine();
        m.write_mem(INFO_B, &[0; 2]).unwrap();
        halt(&mut m);
        assert_eq!((word(&m, CODE), word(&m, 0xFFFE), word(&m, INFO_B)), (0xFFFF, 0xFFFF, info));
        assert!((time_in(&m, "erase") * 375e3 - 5297.0).abs() < 20.0);
    }
}

#[test]
fn a_block_is_written_by_code_in_ram() {
    let mut body = Program::routine();
    body.op("MOV", Imm(FLASH_DATA), R(4)).op("MOV", Imm(32), R(5));
    let again = body.here();
    body.op("MOV", R(5), X(0, 4)).wait_set(FCTL3, 8).op("ADD", Cg(2), R(4));
    body.op("SUB", Cg(1), R(5)).back("JNE", again).set(FCTL1, FWKEY).wait_clear(FCTL3, 1);
    body.put(vec![RET]);
    let mut p = unlocked(0xC0);
    p.run_in_ram(&body, RAM + 0x400);
    let m = p.run();
    for i in 0..32 {
        assert_eq!(word(&m, FLASH_DATA + 2 * i), 32 - i as u16);
    }
    // 30 + 31 x 21 + 6 cycles, and what the loop takes between WAIT and the next store.
    let cycles = time_in(&m, "write") * 375e3;
    let least = 30.0 + 31.0 * 21.0 + 6.0;
    assert!((least..least + 32.0 * 16.0).contains(&cycles), "{cycles}");
    assert_eq!(slips(&m), []);
    // Out of its 64 bytes it must not go.
    let mut body = Program::routine();
    body.set(FLASH_DATA, 1).wait_set(FCTL3, 8).set(FLASH_DATA + 64, 1);
    let mut p = unlocked(0xC0);
    p.run_in_ram(&body, RAM + 0x400);
    assert!(fault_of(&p).contains("row of 64 bytes"), "{}", fault_of(&p));
}

#[test]
fn a_block_write_by_code_in_flash_is_refused() {
    let mut p = unlocked(0xC0);
    p.set(FLASH_DATA, 1).nops(3);
    assert!(fault_of(&p).contains("run it from RAM"), "{}", fault_of(&p));
}

#[test]
fn flash_is_not_written_below_2_7_volts() {
    let mut p = unlocked(0x40);
    p.set(FLASH_DATA, 0).halt();
    let mut m = p.machine();
    m.set_vcc(2.65);
    let what = fault_in(&mut m);
    assert!(what.contains("2.650 V") && what.contains("2.7 V"), "{what}");
}

#[test]
fn an_illegal_timing_generator_is_named_with_its_frequency() {
    // MCLK / 3 as after reset: 250 kHz of 0.75 MHz; SMCLK undivided: 750 kHz.
    for (fctl2, khz) in [(0x42, "250.0 kHz"), (0x80, "750.0 kHz"), (0x00, "32.8 kHz")] {
        let mut p = Program::new();
        p.set(FCTL2, FWKEY | fctl2).set(FCTL3, FWKEY).set(FCTL1, FWKEY | 0x40).set(FLASH_DATA, 0);
        let what = fault_of(&p);
        assert!(what.contains(khz) && what.contains("257 to 476 kHz"), "{what}");
    }
}

#[test]
fn locks_and_modes_are_checked() {
    let mut p = Program::new();
    p.set(FLASH_DATA, 0);
    assert!(fault_of(&p).contains("locked"), "{}", fault_of(&p));
    let mut p = unlocked(0);
    p.set(FLASH_DATA, 0);
    assert!(fault_of(&p).contains("neither a write nor an erase"), "{}", fault_of(&p));
    // A wrong password is a power-up clear that leaves KEYV.
    let mut p = Program::bare();
    p.set(WDTCTL, 0x5A80).keep(FCTL3);
    let again = p.here();
    p.op("BIT", Imm(2), Abs(FCTL3)).put(crate::asm::jump("JNE", 3)).set(FCTL1, 0x0040);
    p.keep(FCTL3).halt();
    assert!(again > CODE);
    let m = p.run();
    assert_eq!((kept(&m, 1) & 2, m.resets()), (2, 3));
}

#[test]
fn rewriting_and_programming_for_too_long_are_flagged() {
    let mut p = unlocked(0x40);
    p.set(FLASH_DATA, 0x00FF).set(FLASH_DATA, 0xFF00);
    let m = p.run_halted();
    assert_eq!((word(&m, FLASH_DATA), slips(&m)), (0, vec![LintKind::FlashOverwrite]));
    // 64 bytes one by one take 64 x 93 us, more than 4 ms.
    let mut p = unlocked(0x40);
    p.op("MOV", Imm(FLASH_DATA), R(4));
    let again = p.here();
    p.op_b("MOV", Cg(0), X(0, 4)).op("ADD", Cg(1), R(4)).op("CMP", Imm(FLASH_DATA + 64), R(4));
    p.back("JNE", again);
    assert_eq!(slips(&p.run_halted()), [LintKind::FlashProgramTime]);
    // As words they do not.
    let mut p = unlocked(0x40);
    p.op("MOV", Imm(FLASH_DATA), R(4));
    let again = p.here();
    p.op("MOV", Cg(0), X(0, 4)).op("ADD", Cg(2), R(4)).op("CMP", Imm(FLASH_DATA + 64), R(4));
    p.back("JNE", again);
    assert_eq!(slips(&p.run_halted()), []);
}

#[test]
fn a_cut_in_the_middle_leaves_a_segment_half_erased() {
    let mut p = unlocked(0x02);
    p.set(FLASH_DATA, 0).halt();
    let mut m = p.machine();
    m.write_mem(FLASH_DATA, &[0; 0x200]).unwrap();
    assert_eq!(m.run(&Until::time(Picos(5_000_000_000)), &mut Silent), Stop::Time);
    assert_eq!(m.state_of("flash"), Some("erase"));
    m.power_cut();
    m.power_on(1);
    let bytes = m.read_mem(FLASH_DATA, 0x200).unwrap();
    let ones: u32 = bytes.iter().map(|b| b.count_ones()).sum();
    assert!((1500..2600).contains(&ones), "{ones} of 4096 bits");
}
