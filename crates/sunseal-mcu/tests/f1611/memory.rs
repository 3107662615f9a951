// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address map: mirrored RAM, byte and word modules, gaps, the boot ROM.

use sunseal_mcu::{LintKind, Machine};

use crate::asm::Arg::*;
use crate::support::*;

#[test]
fn ram_shows_at_0200_too() {
    let mut p = Program::new();
    p.set(0x1100, 0x1234).keep(0x0200).set(0x0202, 0x5678).keep(0x1102);
    p.set_b(0x09FF, 0xAB).keep_b(0x18FF).keep_b(0x0201);
    assert_eq!(all_kept(&p.run_halted()), [0x1234, 0x5678, 0xAB, 0x12]);
    // The mirror is 2 KB long; behind it is nothing.
    let mut p = Program::new();
    p.keep(0x0A00);
    assert!(fault_of(&p).contains("0x00a00"), "{}", fault_of(&p));
    // A stack there works as well.
    let mut p = Program::new();
    p.op("MOV", Imm(0x0A00), R(1)).put(crate::asm::single("PUSH", crate::asm::Size::W, Imm(77)));
    p.keep(0x18FE);
    assert_eq!(kept(&p.run_halted(), 0), 77);
}

#[test]
fn the_boot_rom_names_the_device_and_is_not_written() {
    let mut p = Program::new();
    p.keep(0x0FF0);
    assert_eq!(kept(&p.run_halted(), 0), 0x6CF1, "F1 6C");
    let mut p = Program::new();
    p.set(0x0C00, 0);
    assert!(fault_of(&p).contains("0x00c00"), "{}", fault_of(&p));
}

#[test]
fn words_and_bytes_at_modules_of_the_other_width() {
    // A word to a byte module leaves its high byte behind; the neighbour keeps its value.
    let mut p = Program::new();
    p.set_b(P1DIR, 0x11).set(P1OUT - 1, 0).halt();
    assert!(fault_of(&p).contains("read-only"), "P1IN: {}", fault_of(&p));
    let mut p = Program::new();
    p.set_b(P1IES, 0x55).set_b(P1IE, 0xAA).set(P1IES, 0x1203).keep_b(P1IES).keep_b(P1IE);
    let m = p.run_halted();
    assert_eq!(all_kept(&m), [0x03, 0xAA]);
    assert_eq!(slips(&m), [LintKind::ByteModule]);
    let mut p = Program::new();
    p.op("MOV", Abs(P1IES), R(5));
    assert_eq!(slips(&p.run_halted()), [LintKind::ByteModule], "its high byte is unpredictable");
    // A byte to a word module clears the high byte; odd addresses are not for bytes.
    let mut p = Program::new();
    p.set(TACCR0, 0x1234).set_b(TACCR0, 0x56).keep(TACCR0).keep_b(TACCR0);
    let m = p.run_halted();
    assert_eq!(all_kept(&m), [0x56, 0x56]);
    let mut p = Program::new();
    p.set_b(TACCR0 + 1, 1);
    assert!(fault_of(&p).contains("odd address"), "{}", fault_of(&p));
}

#[test]
fn gaps_trap_with_their_address_and_reason() {
    for (addr, name) in [(CACTL1, "Comparator_A"), (0x50, "I2C"), (0x118, "I2C")] {
        let mut p = Program::new();
        if addr < 0x100 {
            p.set_b(addr, 0);
        } else {
            p.set(addr, 0);
        }
        let what = fault_of(&p);
        assert!(what.contains(name) && what.contains(&format!("{addr:#07x}")), "{what}");
    }
    let mut p = Program::new();
    p.set(DAC12_0CTL, 0);
    assert!(fault_of(&p).contains("DAC12"), "{}", fault_of(&p));
}

#[test]
fn every_register_of_the_file_map_is_modelled_or_a_gap() {
    // SLAS368 'peripheral file map': all addresses with a register of the F1611.
    let bytes = [0x00..=0x05, 0x18..=0x26, 0x28..=0x2E, 0x30..=0x37, 0x50..=0x52, 0x55..=0x5B];
    let more = [0x70..=0x7F, 0x80..=0x8F];
    let words: [(u32, u32); 14] = [
        (0x118, 0x11E),
        (0x120, 0x124),
        (0x128, 0x12E),
        (0x130, 0x13E),
        (0x140, 0x15E),
        (0x160, 0x166),
        (0x170, 0x176),
        (0x180, 0x18E),
        (0x190, 0x19E),
        (0x1A0, 0x1A8),
        (0x1C0, 0x1C2),
        (0x1C8, 0x1CA),
        (0x1E0, 0x1EE),
        (0x1F0, 0x1F6),
    ];
    let device = device();
    let check = |addr: u32, p: &Program| {
        let mut m = p.machine();
        match m.run(&sunseal_mcu::Until::cycles(m.cycles() + 40), &mut sunseal_trace::Silent) {
            sunseal_mcu::Stop::Fault(f) => {
                assert!(device.gap_at(addr).is_some(), "{addr:#x}: {f}");
            }
            _ => assert!(device.gap_at(addr).is_none(), "{addr:#x} is a gap and does not trap"),
        }
    };
    for addr in bytes.into_iter().chain(more).flatten().filter(|a| *a != 0x27) {
        let mut p = Program::new();
        check(addr, p.keep_b(addr));
    }
    for addr in words.iter().flat_map(|(a, b)| (*a..=*b).step_by(2)) {
        let mut p = Program::new();
        check(addr, p.keep(addr));
    }
}

#[test]
fn the_device_is_loaded_by_name_and_holds_what_it_says() {
    let d = device();
    let bytes =
        |kind| d.memory.iter().filter(|r| r.kind == kind).map(|r| r.size_bytes()).sum::<u32>();
    use sunseal_mcu::device::RegionKind::{Flash, InfoFlash, Ram};
    assert_eq!((bytes(Flash), bytes(InfoFlash), bytes(Ram)), (48 * 1024, 256, 10 * 1024));
    assert_eq!(d.level_for(4_150_000, 1.8), Some(0));
    assert_eq!(d.level_for(4_200_000, 1.8), None);
    assert_eq!(d.level_for(8_000_000, 3.6), Some(0));
    assert_eq!(d.level_for(8_000_000, 3.3), None);
}

#[test]
fn memory_that_is_not_there_is_named_with_the_device() {
    let what = Machine::new(&device()).write_mem(0x38FF, &[0; 2]).unwrap_err().to_string();
    assert!(what.contains("0x038ff") && what.contains("msp430f1611"), "{what}");
}
