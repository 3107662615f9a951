// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flash controller: locks, times, bits that only fall, and operations cut in the middle.

use sunseal_mcu::{LintKind, Machine, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::asm::Size;
use crate::support::*;

const UNLOCK: u16 = 0xA500;
const LOCK: u16 = 0xA510;
const WRT: u16 = 0xA540;
const LONG: u16 = 0xA580;
const ERASE: u16 = 0xA502;

fn write(p: &mut Program, addr: u32, value: u16) {
    p.set(FCTL3, UNLOCK).set(FCTL1, WRT).set(addr, value).set(FCTL1, UNLOCK).set(FCTL3, LOCK);
}

fn mark(p: &mut Program, level: u8) {
    p.set_b(PAOUT, level);
}

/// Seconds between the first two marks.
fn between_marks_s(m: &Machine) -> f64 {
    let log = m.pin_log();
    (log[1].time_ps - log[0].time_ps) as f64 * 1e-12
}

#[test]
fn a_word_is_written_and_takes_its_time_with_the_cpu_held() {
    let mut p = Program::new();
    p.set_b(PADIR, 1).set(FCTL3, UNLOCK).set(FCTL1, WRT);
    mark(&mut p, 1);
    p.set(FLASH_DATA, 0x1234);
    mark(&mut p, 0);
    p.halt();
    let m = p.run();
    assert_eq!(word(&m, FLASH_DATA), 0x1234);
    // 64 us and two MOV #N, &EDE of 4 cycles at 1.048576 MHz.
    let s = between_marks_s(&m);
    assert!((s - 64e-6 - 8.0 / 1_048_576.0).abs() < 1.5e-6, "{s}");
    let v = m.vocabulary();
    assert_eq!(m.ledger().event(v.find_event("flash.word_write").unwrap()), 1);
    let (flash, busy) = (v.find_component("flash").unwrap(), v.find_state("write").unwrap());
    let ledger = m.ledger();
    let (_, span) = ledger.spans().find(|(k, _)| k.component == flash && k.state == busy).unwrap();
    assert!((span.time.as_seconds() - 64e-6).abs() < 1.5e-6, "{span:?}");
}

#[test]
fn bits_only_fall_until_the_segment_is_erased() {
    let mut p = Program::new();
    write(&mut p, FLASH_DATA, 0xFF0F);
    write(&mut p, FLASH_DATA, 0x0FFF);
    let m = p.clone().run_halted();
    assert_eq!(word(&m, FLASH_DATA), 0x0F0F);
    assert_eq!(m.lint_count(LintKind::FlashOverwrite), 1);

    p.set(FCTL3, UNLOCK)
        .set(FCTL1, ERASE)
        .set(FLASH_DATA + 0x1FE, 0)
        .set(FCTL1, UNLOCK)
        .set(FCTL3, LOCK);
    let m = p.run_halted();
    assert!(m.read_mem(FLASH_DATA, 512).unwrap().iter().all(|&b| b == 0xFF));
    assert!(m.time().as_seconds() > 23e-3);
}

#[test]
fn an_erase_touches_its_segment_only() {
    let mut p = Program::new();
    write(&mut p, FLASH_DATA - 2, 0x1111);
    write(&mut p, FLASH_DATA + 0x200, 0x2222);
    write(&mut p, INFO_D, 0x3333);
    write(&mut p, INFO_D + 0x80, 0x4444);
    p.set(FCTL3, UNLOCK).set(FCTL1, ERASE).set(FLASH_DATA + 4, 0).set(INFO_D + 6, 0);
    let m = p.run_halted();
    assert_eq!(word(&m, FLASH_DATA - 2), 0x1111);
    assert_eq!(word(&m, FLASH_DATA + 0x200), 0x2222);
    assert_eq!(word(&m, INFO_D), 0xFFFF);
    assert_eq!(word(&m, INFO_D + 0x80), 0x4444, "segments of information memory are of 128 bytes");
}

#[test]
fn a_long_word_is_written_by_two_stores() {
    let mut p = Program::new();
    p.set(FCTL3, UNLOCK).set(FCTL1, LONG).set(FLASH_DATA, 0x1234).set(FLASH_DATA + 2, 0x5678);
    let m = p.run_halted();
    assert_eq!([word(&m, FLASH_DATA), word(&m, FLASH_DATA + 2)], [0x1234, 0x5678]);
    assert_eq!(m.ledger().event(m.vocabulary().find_event("flash.word_write").unwrap()), 1);
}

#[test]
fn a_store_without_unlocking_faults_and_names_the_place() {
    let mut p = Program::new();
    let fault = fault_of(p.set(FLASH_DATA, 1));
    assert!(fault.contains("locked") && fault.contains("0x08000"), "{fault}");
    let mut p = Program::new();
    let fault = fault_of(p.set(FCTL3, UNLOCK).set(FLASH_DATA, 1));
    assert!(fault.contains("neither a write nor an erase"), "{fault}");
    let mut p = Program::new();
    let fault = fault_of(p.set(FCTL3, UNLOCK).set(FCTL1, WRT).set(0x1980, 1));
    assert!(fault.contains("LOCKA"), "{fault}");
    let mut p = Program::new();
    let fault = fault_of(p.set(FCTL3, 0xA520));
    assert!(fault.contains("EMEX"), "{fault}");
    let mut p = Program::new();
    let fault = fault_of(p.set(FCTL3, UNLOCK).set(FCTL1, LONG).set(FLASH_DATA + 2, 1));
    assert!(fault.contains("divisible by 4"), "{fault}");
}

#[test]
fn a_wrong_password_resets_and_leaves_keyv() {
    let mut p = Program::new();
    p.until_cause(0x1A, |p| p.set(FCTL3, 0x5A00)).keep(FCTL3).halt();
    let m = p.run();
    assert_eq!(m.reg(5), 0x1A);
    assert_eq!(kept(&m, 0) & 2, 2);
}

/// MOV #value, &addr as words.
fn mov(addr: u32, value: u16) -> Vec<u16> {
    crate::asm::double("MOV", Size::W, Imm(value.into()), Abs(addr))
}

#[test]
fn code_in_ram_goes_on_while_flash_is_busy_and_sees_busy() {
    let mut p = Program::new();
    p.set(FCTL3, UNLOCK).set(FCTL1, WRT);
    let mut code = mov(FLASH_DATA, 0x4321);
    code.extend(crate::asm::double("MOV", Size::W, Abs(FCTL3), R(6)));
    // ADD #1, R5; BIT #BUSY, &FCTL3; JNE back; RET
    code.extend([0x5315]);
    code.extend(crate::asm::double("BIT", Size::W, Imm(1), Abs(FCTL3)));
    code.extend(crate::asm::jump("JNE", -5));
    code.push(crate::asm::RET);
    for (i, w) in code.iter().enumerate() {
        p.set(RAM + 0x200 + 2 * i as u32, *w);
    }
    p.op("MOV", Cg(0), R(5)).call(RAM + 0x200).halt();
    let m = p.run();
    assert_eq!(word(&m, FLASH_DATA), 0x4321);
    assert_eq!(m.reg(6) & 1, 1, "BUSY");
    // 64 us at 1.048576 MHz are 67 cycles, in rounds of 7.
    assert!((8..=10).contains(&m.reg(5)), "{}", m.reg(5));
}

#[test]
fn reading_flash_from_ram_while_it_is_busy_faults() {
    let mut p = Program::new();
    p.set(FCTL3, UNLOCK).set(FCTL1, WRT);
    let mut code = mov(FLASH_DATA, 0x4321);
    code.extend(crate::asm::double("MOV", Size::W, Abs(FLASH_DATA + 0x400), R(6)));
    for (i, w) in code.iter().enumerate() {
        p.set(RAM + 0x200 + 2 * i as u32, *w);
    }
    p.call(RAM + 0x200).halt();
    let fault = fault_of(&p);
    assert!(fault.contains("BUSY") && fault.contains("0x08400"), "{fault}");
}

#[test]
fn a_cut_in_an_operation_leaves_it_half_done() {
    let mut p = Program::new();
    p.set(FCTL3, UNLOCK).set(FCTL1, WRT);
    for i in 0..4 {
        p.set(FLASH_DATA + 2 * i, 0);
    }
    p.set(FCTL1, ERASE).set(FLASH_DATA, 0).halt();
    let mut m = p.machine();
    // In the middle of the erase.
    m.run(&Until::time(Picos(10_000_000_000)), &mut Silent);
    assert_eq!(m.state_of("flash"), Some("erase"));
    m.power_cut();
    let bytes = m.read_mem(FLASH_DATA, 8).unwrap().to_vec();
    assert!(bytes.iter().any(|&b| b != 0 && b != 0xFF), "{bytes:x?}");
    m.power_on(1);
    assert_eq!(m.read_mem(FLASH_DATA, 8).unwrap(), &bytes[..]);
    assert_eq!(m.state_of("flash"), Some("idle"));
}

#[test]
fn code_that_was_rewritten_runs_anew() {
    let mut p = Program::new();
    // At 0x8000: MOV #1, R5; RET - then 0x4315 (MOV #1) becomes 0x4305 (MOV #0) by writing.
    write(&mut p, FLASH_DATA, 0x4315);
    write(&mut p, FLASH_DATA + 2, 0x4130);
    p.call(FLASH_DATA).op("MOV", R(5), R(6));
    write(&mut p, FLASH_DATA, 0x4305);
    p.call(FLASH_DATA).halt();
    let m = p.run();
    assert_eq!((m.reg(6), m.reg(5)), (1, 0));
}
