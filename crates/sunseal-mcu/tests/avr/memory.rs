// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::{Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::support::*;

const WRITE: &str =
    "ldi r16, 0x12\n out EEARL, r16\n clr r16\n out EEARH, r16\n ldi r16, 0xA5\n out EEDR, r16\n";

#[test]
fn an_eeprom_byte_is_written_in_its_time_and_read_with_the_cpu_halted() {
    let elf = assemble(&format!(
        "{WRITE} sbi DDRB, 0\n sbi EECR, 2\n sbi EECR, 1\n sbi PORTB, 0\n w: sbic EECR, 1\n rjmp w\n clr r17\n out EEDR, r17\n \
         cbi PORTB, 0\n sbi EECR, 0\n sbi PORTB, 0\n in r18, EEDR\n done: rjmp done"
    ));
    let mut m = load(&elf);
    finish(&mut m, &elf);
    assert_eq!(r(&m, 18), 0xA5);
    assert_eq!(m.read_mem(EEPROM + 0x12, 1).unwrap(), [0xA5]);
    let [begin, end, read] = &edges(&m)[..] else { panic!("{:?}", edges(&m)) };
    // SBI EEWE: 2 cycles, halted 2; its write and the pin's lie 4 cycles apart.
    let write = micros(Picos::of_ticks(end.1 - begin.1 + 4, HZ));
    assert!((write - 8500.0).abs() < 1.5, "{write}");
    // CBI, then SBI EERE of 2 cycles with 4 of halt, then SBI.
    assert_eq!(read.1 - end.1, 2 + 4 + 2);
    let written = m.vocabulary().find_event("eeprom.write").unwrap();
    assert_eq!(m.ledger().event(written), 1);
}

#[test]
fn a_write_needs_its_master_enable_within_four_cycles() {
    for (between, busy) in [("", 2), ("nop\n nop", 2), ("nop\n nop\n nop", 0)] {
        let m = run(&format!(
            "{WRITE} sbi EECR, 2\n {between}\n sbi EECR, 1\n in r18, EECR\n done: rjmp done"
        ));
        assert_eq!(r(&m, 18) & 2, busy, "{between}");
    }
    let said = fault(&format!("{WRITE} sbi EECR, 2\n sbi EECR, 1\n sbi EECR, 0"));
    assert!(said.contains("EEWE"), "{said}");
}

#[test]
fn a_supply_cut_leaves_one_byte_half_written_and_the_others_whole() {
    let elf = assemble(&format!("{WRITE} sbi EECR, 2\n sbi EECR, 1\n l: rjmp l"));
    let mut m = load(&elf);
    m.write_mem(EEPROM + 0x10, &[1, 2, 3, 4]).unwrap();
    assert_eq!(m.run(&Until::cycles(1000), &mut Silent), Stop::Cycles);
    assert_eq!(m.state_of("eeprom"), Some("write"));
    m.power_cut();
    m.power_on(7);
    let bytes = m.read_mem(EEPROM + 0x10, 4).unwrap();
    assert_eq!((bytes[0], bytes[1], bytes[3]), (1, 2, 4));
}

#[test]
fn a_boot_program_erases_fills_and_writes_a_page() {
    // In the boot section: page 0x0200, filled with 0x1234 in its first word.
    let elf = assemble(
        "jmp boot\n .org 0x200\n .word 0xBEEF, 0xDEAD\n .org 0x1e000\n boot: ldi r30, 0\n ldi r31, 2\n ldi r16, 0x03\n \
         rcall do\n ldi r16, 0x11\n rcall do\n ldi r16, 0x34\n mov r0, r16\n ldi r16, 0x12\n mov r1, r16\n ldi r16, 0x01\n rcall do\n clr r1\n \
         ldi r16, 0x05\n rcall do\n lds r20, SPMCSR\n ldi r16, 0x11\n rcall do\n lpm r18, Z+\n lpm r19, Z+\n lpm r21, Z\n \
         done: rjmp done\n do: sts SPMCSR, r16\n spm\n w: lds r17, SPMCSR\n sbrc r17, 0\n rjmp w\n ret",
    );
    let mut m = load(&elf);
    m.set_register("SP", 0x10FF).unwrap();
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19), r(&m, 21)), (0x34, 0x12, 0xFF));
    // RWWSB is set until RWWSRE.
    assert_eq!(r(&m, 20) & 0x40, 0x40);
    assert_eq!(m.read_mem(0x200, 4).unwrap(), [0x34, 0x12, 0xFF, 0xFF]);
    let time = micros(m.time());
    assert!((time - 9000.0).abs() < 50.0, "two times 4.5 ms: {time}");
}

#[test]
fn the_lower_section_cannot_run_while_it_is_written_and_spm_there_does_nothing() {
    let elf = assemble(
        "jmp boot\n .org 0x200\n nop\n ret\n .org 0x1e000\n boot: ldi r30, 0\n ldi r31, 3\n ldi r16, 0x03\n sts SPMCSR, r16\n spm\n call 0x200\n l: rjmp l",
    );
    let mut m = load(&elf);
    m.set_register("SP", 0x10FF).unwrap();
    let Stop::Fault(fault) = m.run(&Until::cycles(10_000), &mut Silent) else { panic!("no fault") };
    assert!(fault.to_string().contains("read-while-write"), "{fault}");
    let m = run(
        "ldi r30, 0\n ldi r31, 3\n ldi r16, 3\n sts SPMCSR, r16\n spm\n lds r18, SPMCSR\n done: rjmp done",
    );
    assert_eq!(r(&m, 18) & 0x40, 0);
    assert_eq!(m.time(), Picos::of_ticks(m.cycles(), HZ));
}

#[test]
fn fuses_are_read_by_lpm_behind_blbset() {
    let m = run(
        "clr r31\n ldi r30, 0\n ldi r16, 0x09\n sts SPMCSR, r16\n lpm r18, Z\n ldi r30, 3\n sts SPMCSR, r16\n lpm r19, Z\n \
         ldi r30, 0\n lpm r20, Z\n done: rjmp done",
    );
    assert_eq!((r(&m, 18), r(&m, 19)), (0xFF, 0xD9));
    assert_eq!(r(&m, 20), u32::from(m.read_mem(0, 1).unwrap()[0]));
}

#[test]
fn what_is_not_there_is_named_with_its_address() {
    for (source, what) in [
        ("lds r16, 0x1100", "0x801100"),
        ("in r16, OCDR", "debug"),
        ("ldi r16, 0x80\n out MCUCR, r16", "SRE"),
        ("ldi r16, 2\n sts XMCRA, r16", "XMCRA"),
        ("lds r16, 0x9E", "0x80009e"),
        ("push r16", "0x80"),
        (".word 0x9003", "illegal opcode"),
        ("jmp 0x8000", "erased flash"),
    ] {
        let source =
            if source == "push r16" { "ldi r16, 0x20\n out SPH, r16\n push r16" } else { source };
        let said = fault(source);
        assert!(said.contains(what) && said.contains("[pc 0x"), "{source}: {said}");
    }
}

#[test]
fn snapshots_go_back_and_are_quick() {
    let elf = assemble(&format!(
        "{WRITE} sbi EECR, 2\n sbi EECR, 1\n l: inc r20\n sts 0x200, r20\n rjmp l"
    ));
    let mut m = load(&elf);
    assert_eq!(m.run(&Until::cycles(5000), &mut Silent), Stop::Cycles);
    let snapshot = m.snapshot();
    let later = Until::cycles(m.cycles() + 100_000);
    assert_eq!(m.run(&later, &mut Silent), Stop::Cycles);
    let end = m.snapshot().to_bytes();
    m.restore(&snapshot).unwrap();
    assert_eq!(m.cycles(), 5000);
    assert_eq!(m.run(&later, &mut Silent), Stop::Cycles);
    assert_eq!(m.snapshot().to_bytes(), end);
    let read = m.read_snapshot(&snapshot.to_bytes()).unwrap();
    m.restore(&read).unwrap();
    assert_eq!(m.run(&later, &mut Silent), Stop::Cycles);
    assert_eq!(m.snapshot().to_bytes(), end);
}
