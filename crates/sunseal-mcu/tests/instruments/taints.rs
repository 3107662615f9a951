// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taint finds what is planted, on every instruction set, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sunseal_isa::{Dataflow, Registers, Transfer, avr, msp430, thumb};
use sunseal_mcu::elf::{Architecture, Symbol, SymbolKind};
use sunseal_mcu::offline::Offline;
use sunseal_mcu::taint::{Fate, FindingKind, Taint};
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Access, Flow, Observer, Silent, Width};

use crate::fixture::{Tool, leaks, line_of};

/// Functions with what was found in them.
fn found(taint: &Taint, elf: &Elf) -> BTreeSet<(String, FindingKind)> {
    taint
        .findings(elf)
        .into_iter()
        .map(|f| (f.symbol.split('+').next().unwrap().to_owned(), f.kind))
        .collect()
}

fn expected(list: &[(&str, FindingKind)]) -> BTreeSet<(String, FindingKind)> {
    list.iter().map(|(f, k)| ((*f).to_owned(), *k)).collect()
}

fn bytes_of(elf: &Elf, name: &str) -> std::ops::Range<u32> {
    let s = elf.symbol(name).unwrap();
    s.addr..s.addr + s.size_bytes
}

/// The planted leaks, their secret marked from `main` on.
fn followed(tool: Tool, device: &str) -> (Elf, Taint) {
    let elf = Elf::parse(&leaks(tool)).unwrap();
    let mut m = Machine::new(&Device::named(device).unwrap());
    m.load(&elf).unwrap();
    let main = elf.symbol("main").unwrap().addr;
    assert_eq!(m.run(&Until::pc(main), &mut Silent), Stop::Pc(main));
    let mut taint = Taint::of(m.device(), &elf);
    taint.mark(bytes_of(&elf, "secret"));
    let end = elf.symbol("finished").unwrap().addr;
    assert_eq!(m.run_tainted(&Until::pc(end), &mut taint), Stop::Pc(end));
    (elf, taint)
}

#[test]
fn planted_leaks_are_found_on_an_msp430() {
    let (elf, taint) = followed(Tool::Msp430Clang, "msp430f5438a");
    let leaks =
        expected(&[("leak_branch", FindingKind::Branch), ("leak_table", FindingKind::Address)]);
    assert_eq!(found(&taint, &elf), leaks);
    let finding = &taint.findings(&elf)[0];
    assert_eq!(finding.line.as_ref().unwrap().line, line_of("if (secret[0] & 1)"));
    assert!(finding.instruction.starts_with('J'), "{finding}");
    assert!(finding.to_string().contains("` goes where marked data leads, "), "{finding}");
    // The functions that ran, of all that are there.
    let (ran, bytes) = taint.ran(&elf);
    let functions = elf.symbols.iter().filter(|s| s.kind == SymbolKind::Function);
    assert_eq!(bytes, functions.map(|s| s.size_bytes).sum::<u32>());
    let branch = elf.symbol("leak_branch").unwrap().addr;
    assert!(ran.iter().any(|r| r.contains(&branch)), "{ran:x?}");
    let ran_bytes: u32 = ran.iter().map(|r| r.end - r.start).sum();
    assert!(ran_bytes > bytes / 2 && ran_bytes <= bytes, "{ran_bytes} of {bytes}");
    // The table's value depends on the secret, the selection's too; a constant stored under a branch does not.
    let out = bytes_of(&elf, "out").start;
    assert_eq!(taint.marked(out..out + 4), [false, true, true, false]);
}

#[test]
fn planted_leaks_are_found_on_an_avr() {
    let elf = Elf::parse(&leaks(Tool::AvrGcc)).unwrap();
    let mut m = Machine::new(&Device::named("atmega128l").unwrap());
    m.load(&elf).unwrap();
    let mut taint = Taint::of(m.device(), &elf);
    let main = elf.symbol("main").unwrap().addr;
    assert_eq!(m.run_tainted(&Until::pc(main), &mut taint), Stop::Pc(main));
    taint.mark(bytes_of(&elf, "secret"));
    let end = elf.symbol("finished").unwrap().addr;
    assert_eq!(m.run_tainted(&Until::pc(end), &mut taint), Stop::Pc(end));
    let found = found(&taint, &elf);
    let leaks =
        expected(&[("leak_branch", FindingKind::Branch), ("leak_table", FindingKind::Address)]);
    // Labels of libgcc's assembly that are no functions are names all the same.
    let (divide, others): (BTreeSet<_>, BTreeSet<_>) =
        found.into_iter().partition(|(f, _)| f.starts_with("__udiv"));
    assert_eq!(others, leaks);
    assert_eq!(divide.len(), 1, "the library divides by comparing and branching");
    let out = bytes_of(&elf, "out").start;
    assert_eq!(taint.marked(out..out + 4), [false, true, true, false]);
}

#[test]
fn planted_leaks_are_found_on_a_cortex_m4() {
    for tool in [Tool::ArmGcc, Tool::ArmClang] {
        let (elf, taint) = followed(tool, "msp432p401r");
        // The table is in flash, behind its read buffers; the division is an instruction.
        let found = found(&taint, &elf);
        let others = expected(&[
            ("leak_table", FindingKind::CachedAddress),
            ("leak_divide", FindingKind::Time),
        ]);
        assert!(found.is_superset(&others), "{tool:?}: {found:?}");
        // Compilers may store under a condition instead of jumping: that takes its time by it, and an
        // address loaded under it depends on it.
        let rest: Vec<_> = found.difference(&others).collect();
        let planted = rest.iter().all(|(function, _)| function == "leak_branch");
        let seen = |kind| rest.iter().any(|(_, k)| *k == kind);
        let told = seen(FindingKind::Branch) || seen(FindingKind::Time);
        assert!(planted && told, "{tool:?}: {rest:?}");
        let out = bytes_of(&elf, "out").start;
        assert_eq!(taint.marked(out + 1..out + 4), [true, true, false], "{tool:?}");
    }
}

#[test]
fn trusted_code_and_declassified_memory_are_silent() {
    let elf = Elf::parse(&leaks(Tool::Msp430Clang)).unwrap();
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(&elf).unwrap();
    let mut taint = Taint::of(m.device(), &elf);
    // From the start: the start-up code copies the secret from flash.
    let segment =
        elf.segments.iter().find(|s| s.load_addr != s.addr && !s.data.is_empty()).unwrap();
    let stored = bytes_of(&elf, "secret").start - segment.addr + segment.load_addr;
    taint.mark(stored..stored + 4);
    taint.trust(bytes_of(&elf, "leak_branch"));
    taint.declassify(bytes_of(&elf, "out"));
    let end = elf.symbol("finished").unwrap().addr;
    assert_eq!(m.run_tainted(&Until::pc(end), &mut taint), Stop::Pc(end));
    assert!(taint.marked(bytes_of(&elf, "secret")).iter().all(|m| *m), "the copy is marked too");
    assert_eq!(found(&taint, &elf), expected(&[("leak_table", FindingKind::Address)]));
    assert_eq!(taint.trusted_count(), 1);
    assert!(taint.marked(bytes_of(&elf, "out")).iter().all(|m| !m));
}

/// An image of one instruction at 0x8000, for an observer that is driven by hand.
fn image(words: &[u16]) -> Elf {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut elf = Elf::default();
    elf.segments.push(sunseal_mcu::elf::Segment {
        load_addr: 0x8000,
        addr: 0x8000,
        mem_bytes: bytes.len() as u32,
        data: bytes,
    });
    elf
}

#[test]
fn the_multiplier_passes_marks_on() {
    const MPY: u32 = 0x04C0;
    // mov r12, &MPY; mov r13, &OP2; mov &RESLO, r14
    let elf = image(&[0x4C82, 0x04C0, 0x4D82, 0x04C8, 0x421E, 0x04CA]);
    for (marked, after) in [(12, true), (13, true), (11, false)] {
        let mut taint = Taint::new(&elf);
        taint.multiplier(MPY, 0x30);
        taint.mark_register(marked);
        let mut step = |pc, addr, kind| {
            taint.access(pc, addr, kind, Width::W16, 5, 0);
            taint.instruction(pc, 0x5C00, 4, Flow::Next);
        };
        step(0x8000, MPY, Access::Write);
        step(0x8004, MPY + 8, Access::Write);
        step(0x8008, MPY + 10, Access::Read);
        assert_eq!(taint.is_register_marked(14), after, "R{marked} marked");
        assert_eq!(taint.crossings().len(), usize::from(after));
    }
}

#[test]
fn the_carry_of_a_marked_product_is_marked_until_it_is_written() {
    const MPY: u32 = 0x04C0;
    // mov r12, &MACS; mov r13, &OP2; mov &MPY32CTL0, r14; mov r13, &MPY32CTL0
    let elf = image(&[0x4C82, 0x04C6, 0x4D82, 0x04C8, 0x421E, 0x04EC, 0x4D82, 0x04EC]);
    let mut taint = Taint::new(&elf);
    taint.multiplier(MPY, 0x30);
    taint.mark_register(12);
    let mut step = |pc, addr, kind| {
        taint.access(pc, addr, kind, Width::W16, 5, 0);
        taint.instruction(pc, 0x5C00, 4, Flow::Next);
        taint.is_register_marked(14)
    };
    step(0x8000, MPY + 6, Access::Write);
    assert!(!step(0x8008, MPY + 0x2C, Access::Read));
    step(0x8004, MPY + 8, Access::Write);
    assert!(step(0x8008, MPY + 0x2C, Access::Read));
    step(0x800C, MPY + 0x2C, Access::Write);
    assert!(!step(0x8008, MPY + 0x2C, Access::Read));
    assert_eq!(taint.marked(MPY + 10..MPY + 16), [true; 6], "the sum is as it was");
}

#[test]
fn a_bit_written_by_its_alias_leaves_the_marks_of_the_others() {
    const RAM: u32 = 0x2000_0010;
    let alias = |byte: u32, bit: u32| 0x2200_0000 + 32 * (RAM + byte - 0x2000_0000) + 4 * bit;
    // str r1, [r0]; ldr r2, [r0]
    let mut elf = image(&[0x6001, 0x6802]);
    elf.architecture = Architecture::Arm;
    let mut taint = Taint::new(&elf);
    taint.mark(RAM + 1..RAM + 2);
    let mut step = |marked: bool, pc, addr, kind| {
        taint.clear_registers();
        if marked {
            taint.mark_register(1);
        }
        taint.access(pc, addr, kind, Width::W32, 1, 0);
        taint.instruction(pc, 0x2000_8000, 2, Flow::Next);
        (taint.is_register_marked(2), taint.marked(RAM..RAM + 4))
    };
    for (byte, marked) in [(0, false), (1, true), (2, false)] {
        assert_eq!(step(false, 0x8002, alias(byte, 7), Access::Read).0, marked, "{byte}");
        let kept = [false, true, false, false];
        assert_eq!(step(false, 0x8000, alias(byte, 3), Access::Write).1, kept, "{byte}");
    }
    assert_eq!(step(true, 0x8000, alias(2, 3), Access::Write).1, [false, true, true, false]);
}

#[test]
fn functions_without_size_or_code_do_not_count_as_run() {
    // nop; nop; nop; nop
    let mut elf = image(&[0x4303; 4]);
    let (kind, global) = (SymbolKind::Function, true);
    for (name, addr, size_bytes) in
        [("a", 0x8000, 4), ("b", 0x8004, 4), ("c", 0x8002, 0), ("d", 0x9000, 4)]
    {
        elf.symbols.push(Symbol { name: name.to_owned(), addr, size_bytes, kind, global });
    }
    let mut taint = Taint::new(&elf);
    taint.instruction(0x8000, 0x5C00, 1, Flow::Next);
    taint.mark_register(5);
    taint.instruction(0x8002, 0x5C00, 1, Flow::Next);
    let (ran, bytes) = taint.ran(&elf);
    assert_eq!((ran.len(), ran[0].clone(), bytes), (1, 0x8000..0x8004, 8));
}

/// Marks of a word, and of words at the same place of other regions.
#[test]
fn a_mark_is_of_its_own_region() {
    let msp430 = [0x8010, 0x1_8010, 0x8020];
    let avr = [0x110, 0x80_0110, 0x81_0110, 0x80_0120];
    let arm = [0x17, 0x0030_0017, 0x0030_0027, 0x2000_0017, 0x4000_0017];
    for (architecture, places) in [
        (Architecture::Msp430, &msp430[..]),
        (Architecture::Avr, &avr[..]),
        (Architecture::Arm, &arm[..]),
    ] {
        let mut elf = image(&[0x4303]);
        elf.architecture = architecture;
        for place in places {
            let mut taint = Taint::new(&elf);
            taint.mark(*place..place + 1);
            let marked: Vec<_> = places.iter().filter(|p| taint.is_marked(**p)).collect();
            assert_eq!(marked, [place], "{architecture:?}");
            taint.clear(*place..place + 1);
            assert!(!taint.is_marked(*place), "{architecture:?}");
        }
    }
}

#[test]
fn both_words_of_an_address_that_is_stored_are_marked() {
    // mova r12, 0(r4)
    let elf = image(&[0x0C74, 0x0000]);
    let mut taint = Taint::new(&elf);
    taint.mark_register(12);
    // The second time it is known.
    for to in [DATA, DATA + 8] {
        taint.access(0x8000, to, Access::Write, Width::W16, 5, 0);
        taint.access(0x8000, to + 2, Access::Write, Width::W16, 1, 0);
        taint.instruction(0x8000, 0x5C00, 4, Flow::Next);
        assert_eq!(taint.marked(to..to + 5), [true, true, true, true, false]);
    }
    assert!(taint.crossings().is_empty(), "RAM is no block");
}

#[test]
fn a_transfer_from_an_alias_of_marked_memory_marks_its_registers() {
    // ldm r0!, {r1, r2}
    let mut elf = image(&[0xC806]);
    elf.architecture = Architecture::Arm;
    let mut taint = Taint::new(&elf);
    taint.mark(0x2000_0010..0x2000_0014);
    taint.access(0x8000, 0x0100_0010, Access::Read, Width::W32, 0, 0);
    taint.access(0x8000, 0x0100_0014, Access::Read, Width::W32, 0, 0);
    taint.instruction(0x8000, 0x2000_8000, 3, Flow::Next);
    assert!(taint.is_register_marked(1) && !taint.is_register_marked(2));
}

#[test]
fn what_is_read_and_given_to_a_block_by_one_instruction_is_followed() {
    const MPY: u32 = 0x04C0;
    // mov &DATA, &MPY; mov r13, &OP2; mov &RESLO, r14
    let elf = image(&[0x4292, DATA as u16, 0x04C0, 0x4D82, 0x04C8, 0x421E, 0x04CA]);
    let mut taint = Taint::new(&elf);
    taint.multiplier(MPY, 0x30);
    assert!(taint.is_constant_time());
    taint.mark_secret(DATA..DATA + 2);
    taint.access(0x8000, DATA, Access::Read, Width::W16, 5, 0);
    for (pc, addr, kind) in [
        (0x8000, MPY, Access::Write),
        (0x8006, MPY + 8, Access::Write),
        (0x800A, MPY + 10, Access::Read),
    ] {
        taint.access(pc, addr, kind, Width::W16, 5, 0);
        taint.instruction(pc, 0x5C00, 4, Flow::Next);
    }
    assert!(taint.is_register_marked(14) && taint.is_constant_time());
    assert_eq!(taint.crossings().len(), 1);
}

#[test]
fn a_register_of_an_avr_that_was_a_secret_byte_is_followed_by_its_address_on() {
    // lds r16, 5
    let mut elf = image(&[0x9100, 0x0005]);
    elf.architecture = Architecture::Avr;
    let mut taint = Taint::new(&elf);
    let load = |taint: &mut Taint| {
        taint.access(0x8000, 0x80_0005, Access::Read, Width::W8, 0, 0);
        taint.instruction(0x8000, 0x10FF, 2, Flow::Next);
        taint.is_register_marked(16)
    };
    taint.mark_secret(0x80_0005..0x80_0006);
    assert!(load(&mut taint));
    assert!(taint.fates(0x80_0005..0x80_0006).all(|fate| fate == Fate::Read));
    taint.clear(0x80_0005..0x80_0006);
    assert!(!load(&mut taint));
    taint.mark_register(5);
    assert!(load(&mut taint));
}

#[test]
fn stores_to_an_avrs_registers_by_address_mark_and_clean_them() {
    // sts 5, r16; sts SREG, r16; in r0, SREG
    let mut elf = image(&[0x9300, 0x0005, 0x9300, 0x005F, 0xB60F]);
    elf.architecture = Architecture::Avr;
    let mut taint = Taint::new(&elf);
    for marked in [true, false, true, false] {
        // r0 stays as it is until it is written.
        taint.clear_registers();
        taint.mark_register(if marked { 16 } else { 5 });
        taint.mark_register(0);
        for (pc, addr) in [(0x8000, 0x80_0005), (0x8004, 0x80_005F)] {
            taint.access(pc, addr, Access::Write, Width::W8, 0, 0);
            taint.instruction(pc, 0x10FF, 2, Flow::Next);
        }
        taint.instruction(0x8008, 0x10FF, 1, Flow::Next);
        let of: Vec<u8> = (0..32).filter(|r| taint.is_register_marked(*r)).collect();
        assert_eq!(of, if marked { vec![0, 5, 16] } else { vec![] });
    }
}

#[test]
fn an_msp430s_interrupt_saves_marked_flags() {
    // add r12, r5; mov SR, r15
    let elf = image(&[0x5C05, 0x420F]);
    let mut taint = Taint::new(&elf);
    taint.mark_register(12);
    taint.instruction(0x8000, 0x5C00, 1, Flow::Next);
    taint.mark(DATA..DATA + 4);
    taint.access(0x8002, DATA + 2, Access::Write, Width::W16, 0x8002, 0);
    taint.access(0x8002, DATA, Access::Write, Width::W16, 3, 0);
    taint.instruction(0x8002, DATA, 6, Flow::Interrupt { vector: 0xFFF4 });
    assert_eq!(taint.marked(DATA..DATA + 4), [true, true, false, false]);
    taint.instruction(0x8002, DATA, 1, Flow::Next);
    assert!(!taint.is_register_marked(15) && taint.is_register_marked(12));
}

#[test]
fn an_exceptions_frame_takes_marks_and_gives_them_back() {
    const SP: u32 = 0x2000_0100;
    // adds r3, r1, r2; vcmp.f32 s0, s1
    let mut elf = image(&[0x188B, 0xEEB4, 0x0A60]);
    elf.architecture = Architecture::Arm;
    let mut taint = Taint::new(&elf);
    taint.mark_register(1);
    taint.mark_register(12);
    taint.mark_register(33);
    taint.instruction(0x8000, SP, 1, Flow::Next);
    taint.instruction(0x8002, SP, 1, Flow::Next);
    for n in 0..26 {
        taint.access(0x8006, SP + 4 * n, Access::Write, Width::W32, 0, 0);
    }
    taint.instruction(0x8006, SP, 12, Flow::Interrupt { vector: 0x3C });
    // R1, R3, R12, the flags, S1, the flags of floating point.
    let marked: Vec<u32> = (0..26).filter(|n| taint.is_marked(SP + 4 * n)).collect();
    assert_eq!(marked, [1, 3, 4, 7, 9, 24]);
    taint.clear_registers();
    taint.mark_register(0);
    for n in 0..26 {
        taint.access(0x8100, SP + 4 * n, Access::Read, Width::W32, 0, 0);
    }
    taint.instruction(0x8100, SP + 0x68, 12, Flow::InterruptReturn);
    let registers: Vec<u8> = (0..64).filter(|r| taint.is_register_marked(*r)).collect();
    assert_eq!(
        registers.iter().filter(|r| **r < 16 || **r >= 32).copied().collect::<Vec<_>>(),
        [1, 3, 12, 33]
    );
}

#[test]
fn a_block_starts_anew_word_by_word() {
    const BLOCK: u32 = 0x0980;
    // mov r12, &BLOCK; mov &BLOCK+8, r14; mov r13, &BLOCK+2; mov r13, &BLOCK+4; mov r12, &BLOCK+4
    let elf =
        image(&[0x4C82, 0x0980, 0x421E, 0x0988, 0x4D82, 0x0982, 0x4D82, 0x0984, 0x4C82, 0x0984]);
    let mut taint = Taint::new(&elf);
    taint.mixer(BLOCK..BLOCK + 2, BLOCK + 8..BLOCK + 10, BLOCK + 2..BLOCK + 6, None);
    taint.mark_register(12);
    let mut step = |pc: u32, off| {
        taint.access(pc, BLOCK + off, Access::Write, Width::W16, 0, 0);
        taint.instruction(pc, 0x5C00, 4, Flow::Next);
        taint.access(0x8004, BLOCK + 8, Access::Read, Width::W16, 0, 0);
        taint.instruction(0x8004, 0x5C00, 4, Flow::Next);
        taint.is_register_marked(14)
    };
    // The whole of it by its input, its upper word alone by what it starts with.
    assert!(step(0x8000, 0) && step(0x8008, 2) && !step(0x800C, 4));
    assert!(step(0x8010, 4) && step(0x8008, 2) && step(0x8008, 2) && !step(0x800C, 4));
}

/// The second time and later, a finding takes a shorter way.
#[test]
fn findings_are_counted_each_time_by_what_they_are() {
    // udiv r2, r0, r1; beq; nop
    let mut elf = image(&[0xFBB0, 0xF2F1, 0xD000, 0xBF00]);
    elf.architecture = Architecture::Arm;
    let mut taint = Taint::new(&elf);
    taint.mark_register(0);
    for _ in 0..5 {
        taint.instruction(0x8000, 0x2000_8000, 4, Flow::Next);
        taint.instruction(0x8006, 0x2000_8000, 1, Flow::Next);
    }
    let told = |taint: &Taint| -> Vec<_> {
        taint.findings(&elf).iter().map(|f| (f.pc, f.kind, f.count)).collect()
    };
    assert_eq!(told(&taint), [(0x8000, FindingKind::Time, 5)]);
    // What is trusted later is counted as such from then on.
    taint.trust(0x8000..0x8004);
    taint.instruction(0x8000, 0x2000_8000, 4, Flow::Next);
    assert_eq!((told(&taint).len(), taint.trusted_count()), (1, 1));
    assert_eq!(told(&taint)[0].2, 5);
}

#[test]
fn a_block_keeps_what_it_was_given_until_its_reset() {
    const AES: u32 = 0x09C0;
    // mov r12, &AESAKEY; mov &AESADOUT, r14; mov #0x80, &AESACTL0
    let elf = image(&[0x4C82, 0x09C6, 0x421E, 0x09CA, 0x40B2, 0x0080, 0x09C0]);
    let mut taint = Taint::new(&elf);
    taint.mixer(AES + 6..AES + 10, AES + 10..AES + 12, 0..0, Some((AES, 0x80)));
    taint.mark_register(12);
    let mut step = |pc, addr, kind, value| {
        taint.access(pc, addr, kind, Width::W16, value, 0);
        taint.instruction(pc, 0x5C00, 4, Flow::Next);
        taint.is_register_marked(14)
    };
    assert!(!step(0x8004, AES + 10, Access::Read, 0));
    step(0x8000, AES + 6, Access::Write, 1);
    assert!(step(0x8004, AES + 10, Access::Read, 0));
    step(0x8008, AES, Access::Write, 0x80);
    assert!(!step(0x8004, AES + 10, Access::Read, 0));
    // The bit of the reset in what is no control register is data.
    step(0x8000, AES + 6, Access::Write, 1);
    taint.clear_registers();
    let mut step = |pc, addr, kind, value| {
        taint.access(pc, addr, kind, Width::W16, value, 0);
        taint.instruction(pc, 0x5C00, 4, Flow::Next);
        taint.is_register_marked(14)
    };
    step(0x8000, AES + 8, Access::Write, 0x80);
    assert!(step(0x8004, AES + 10, Access::Read, 0), "the key is still in it");
}

#[test]
fn the_crc_of_a_secret_is_secret_until_both_words_are_new() {
    const CRC32: u32 = 0x0980;
    // mov r12, &CRC32DIRBW0; mov &CRC32RESRW0, r14; mov #0, &CRC32INIRESW0; mov #0, &CRC32INIRESW1
    let elf = image(&[0x4C82, 0x0986, 0x421E, 0x098E, 0x4382, 0x0988, 0x4382, 0x098A]);
    let device = Device::named("msp430fr5994").unwrap();
    let mut taint = Taint::of(&device, &elf);
    taint.mark_register(12);
    let mut step = |pc, addr, kind| {
        taint.access(pc, addr, kind, Width::W16, 0, 0);
        taint.instruction(pc, 0x2C00, 4, Flow::Next);
        taint.is_register_marked(14)
    };
    assert!(!step(0x8004, CRC32 + 14, Access::Read));
    step(0x8000, CRC32 + 6, Access::Write);
    assert!(step(0x8004, CRC32 + 14, Access::Read));
    step(0x8008, CRC32 + 8, Access::Write);
    assert!(step(0x8004, CRC32 + 14, Access::Read), "the upper word is as it was");
    step(0x800C, CRC32 + 10, Access::Write);
    assert!(!step(0x8004, CRC32 + 14, Access::Read));
    let crossed = taint.crossings();
    assert_eq!((crossed.len(), crossed[0].block.as_str()), (1, "crc32"));
    assert!(crossed[0].followed && crossed[0].pc == Some(0x8000));
}

/// Every peripheral of every device: a block that no rule knows is named.
#[test]
fn no_block_takes_a_secret_silently() {
    const FOLLOWED: [&str; 4] = ["mpy", "mpy32", "crc16", "crc32"];
    for name in Device::names() {
        let device = Device::named(name).unwrap();
        let mut elf = image(&[0x4303]);
        elf.architecture = device.architecture();
        let ram = device.region_of(sunseal_mcu::device::RegionKind::Ram).start;
        let blocks = device.blocks().filter(|b| !matches!(b.1, "registers" | "sreg"));
        let blocks: Vec<_> = blocks.collect();
        assert!(blocks.len() > 15, "{name}");
        for (addr, block) in blocks {
            let mut taint = Taint::of(&device, &elf);
            taint.mark(ram..ram + 1);
            taint.transfer(ram..ram + 1, addr..addr + 1);
            let crossed = taint.crossings();
            assert_eq!(crossed.len(), 1, "{name} {addr:#x}");
            assert_eq!((crossed[0].block.as_str(), crossed[0].pc), (block, None));
            assert_eq!(crossed[0].followed, FOLLOWED.contains(&block), "{name} {block}");
        }
    }
}

/// What a block made of the input is known where the block says how; else its name is told.
#[test]
fn a_block_that_gives_back_what_nobody_follows_is_named() {
    for (block, register) in [("crc16", 0x0150), ("ta0", 0x0352), ("adc12_b", 0x0820)] {
        // mov &0x1C00, r12; mov r12, &register; mov &register, r13
        let elf = image(&[0x421C, 0x1C00, 0x4C82, register, 0x421D, register]);
        let device = Device::named("msp430fr5994").unwrap();
        for input in [0x1C00..0x1C02, 0x1D00..0x1D02] {
            let given = input.start == 0x1C00;
            let mut offline = Offline::new(&device, &elf);
            offline.input(input);
            let mut step = |pc, addr, kind| {
                offline.access(pc, addr, kind, Width::W16, 0, 0);
                offline.instruction(pc, 0x2C00, 3, Flow::Next);
            };
            step(0x8000, 0x1C00, Access::Read);
            step(0x8004, u32::from(register), Access::Write);
            step(0x8008, u32::from(register), Access::Read);
            let known = block == "crc16" || !given;
            let expected = if known { vec![] } else { vec![block.to_owned()] };
            assert_eq!(offline.holes(), expected, "{block}");
        }
    }
}

/// A cut lies in front of a stretch: what that makes is not carried, and not saved. Two runs are alike up to where
/// their ways part, in stretches that take the input, too.
#[test]
fn cuts_are_told_up_to_a_moment_and_ways_up_to_where_they_part() {
    // add r10, r11; jmp $+2; add r11, r12; jmp $+2; add &0x1C00, r12; jmp $+2; inc r5; jmp $+2
    let code = [0x5A0B, 0x3C00, 0x5B0C, 0x3C00, 0x521C, 0x1C00, 0x3C00, 0x5315, 0x3C00];
    let elf = image(&code);
    let device = Device::named("msp430fr5994").unwrap();
    let run = |stretches: &[u32]| {
        let mut offline = Offline::new(&device, &elf);
        offline.input(0x1C00..0x1C02);
        for &pc in stretches {
            let reads = pc == 0x8008;
            if reads {
                offline.access(pc, 0x1C00, Access::Read, Width::W16, 0, 0);
            }
            offline.instruction(pc, 0x2C00, 3, Flow::Next);
            offline.instruction(pc + if reads { 4 } else { 2 }, 0x2C00, 2, Flow::Jump);
        }
        offline
    };
    let mut whole = run(&[0x8000, 0x8004, 0x8008, 0x800E]);
    let told = |cuts: Vec<sunseal_mcu::offline::Cut>| {
        cuts.iter().map(|c| (c.data_bytes, c.saved, c.pc)).collect::<Vec<_>>()
    };
    assert_eq!(told(whole.cuts(None)), [(2, 15, None)]);
    assert_eq!(told(whole.cuts(Some(5))), [(2, 5, Some(0x8004))]);
    assert_eq!(told(whole.cuts(Some(0))), [(0, 0, Some(0x8000))]);
    let path = whole.path().to_vec();
    assert_eq!(path.iter().map(|p| p.0).collect::<Vec<_>>(), [5, 10, 15]);
    assert_eq!(run(&[0x8000, 0x8004, 0x8008, 0x800E]).path(), path);
    // The same independent stretches, and the input's twice before the last.
    let other = run(&[0x8000, 0x8004, 0x8008, 0x8008, 0x800E]).path().to_vec();
    assert_eq!(other[..2], path[..2]);
    assert_eq!(other[2].0, 15);
    assert_ne!(other[2].1, path[2].1);
}

/// An instruction that reads and writes, and the jump behind it.
type Stretch<'a> = (u32, u32, &'a [(u32, Access)]);

/// Operands of the multiplier are carried from where they were made to where the product needs them; the words of an
/// operand and of a result are told apart.
#[test]
fn a_product_takes_its_operands_with_it() {
    // 0 add r10, r11; jmp; 4 mov r11, &MPY; jmp; A mov &0x1C00, &OP2; jmp; 12 mov r11, &OP2; jmp; 18 mov &RESLO, r12; inc r12; jmp
    let code = [
        0x5A0B, 0x3C00, 0x4B82, 0x04C0, 0x3C00, 0x4292, 0x1C00, 0x04C8, 0x3C00, 0x4B82, 0x04C8,
        0x3C00, 0x421C, 0x04CA, 0x531C, 0x3C00,
    ];
    let elf = image(&code);
    let device = Device::named("msp430fr5994").unwrap();
    let run = |stretches: &[Stretch<'_>]| {
        let mut offline = Offline::new(&device, &elf);
        offline.input(0x1C00..0x1C02);
        for &(pc, jump, accesses) in stretches {
            for &(addr, kind) in accesses {
                offline.access(pc, addr, kind, Width::W16, 0, 0);
            }
            offline.instruction(pc, 0x2C00, 3, Flow::Next);
            if jump == 0x801E {
                offline.instruction(0x801C, 0x2C00, 1, Flow::Next);
            }
            offline.instruction(jump, 0x2C00, 2, Flow::Jump);
        }
        let last = offline.cuts(None).pop().unwrap();
        let dependent: u64 = offline.spent().iter().map(|s| s.1.dependent).sum();
        (last.data_bytes, last.saved, dependent)
    };
    let made = (0x8000, 0x8002, &[][..]);
    let op1 = (0x8004, 0x8008, &[(0x4C0, Access::Write)][..]);
    let input = (0x800A, 0x8010, &[(0x1C00, Access::Read), (0x4C8, Access::Write)][..]);
    let op2 = (0x8012, 0x8016, &[(0x4C8, Access::Write)][..]);
    let product = (0x8018, 0x801E, &[(0x4CA, Access::Read)][..]);
    // r11 is wanted for the product with the input, and the product's reader takes the input.
    assert_eq!(run(&[made, op1, input, product]), (2, 10, 3 + 3 + 1));
    // Of two words made ahead nothing depends.
    assert_eq!(run(&[made, op1, op2, product]).2, 0);
    // The product before is no part of a new one.
    assert_eq!(run(&[made, op1, input, op2, product]).2, 3);
}

#[test]
fn what_dma_moves_keeps_its_marks() {
    let elf = image(&[0x4303]);
    let device = Device::named("msp430fr5994").unwrap();
    let mut taint = Taint::of(&device, &elf);
    taint.mark_secret(0x1C00..0x1C02);
    taint.mark(0x1D00..0x1D04);
    taint.transfer(0x1C00..0x1C02, 0x1D00..0x1D02);
    taint.transfer(0x1C02..0x1C04, 0x1D02..0x1D04);
    assert_eq!(taint.marked(0x1D00..0x1D04), [true, true, false, false]);
    assert!(taint.fates(0x1C00..0x1C02).all(|fate| fate == Fate::Read));
    // Into the CRC and out of it.
    taint.transfer(0x1D00..0x1D02, 0x0980..0x0982);
    taint.transfer(0x098C..0x098E, 0x1E00..0x1E02);
    assert_eq!(taint.marked(0x1E00..0x1E02), [true, true]);
}

#[test]
fn a_secret_is_read_unread_or_overwritten() {
    // mov.b @r12, r13; mov.b r13, 0(r11)
    let elf = image(&[0x4C6D, 0x4DCB, 0x0000]);
    let mut taint = Taint::new(&elf);
    taint.mark_secret(DATA..DATA + 3);
    taint.access(0x8000, DATA, Access::Read, Width::W8, 0, 0);
    taint.instruction(0x8000, 0x5C00, 2, Flow::Next);
    assert!(taint.is_register_marked(13));
    taint.clear_registers();
    taint.access(0x8002, DATA + 1, Access::Write, Width::W8, 0, 0);
    taint.instruction(0x8002, 0x5C00, 2, Flow::Next);
    let fates: Vec<Fate> = taint.fates(DATA..DATA + 3).collect();
    assert_eq!(fates, [Fate::Read, Fate::Overwritten, Fate::Unread]);
    assert_eq!(taint.reached(), [0x8000, 0x8002]);
    assert!(taint.crossings().is_empty());
}

#[test]
fn code_outside_the_image_ends_the_marks_with_a_finding() {
    let elf = image(&[0x4303]);
    let mut taint = Taint::new(&elf);
    taint.mark_register(5);
    taint.instruction(0x9000, 0x5C00, 1, Flow::Next);
    let findings = taint.findings(&elf);
    assert_eq!((findings.len(), findings[0].kind), (1, FindingKind::Unknown));
    assert!(!taint.is_constant_time());
}

/// The rules of `taint`'s head as they are written there, for instructions one by one.
#[derive(Default)]
struct Plain {
    registers: Registers,
    bytes: BTreeSet<u32>,
    found: BTreeMap<(u32, FindingKind), u64>,
}

/// A data access: address, bytes, whether it is a write.
type Moved = (u32, Width, bool);

impl Plain {
    fn report(&mut self, pc: u32, kind: FindingKind) {
        *self.found.entry((pc, kind)).or_default() += 1;
    }

    fn holds(&self, (addr, width, _): Moved) -> bool {
        (addr..addr + width.bytes()).any(|a| self.bytes.contains(&a))
    }

    fn store(&mut self, (addr, width, _): Moved, marked: bool) {
        for a in addr..addr + width.bytes() {
            if marked {
                self.bytes.insert(a);
            } else {
                self.bytes.remove(&a);
            }
        }
    }

    fn write(&mut self, registers: Registers, forgotten: Registers, marked: bool) {
        self.registers =
            if marked { self.registers | registers } else { self.registers.without(forgotten) };
    }

    fn step(&mut self, pc: u32, flow: &Dataflow, accesses: &[Moved]) {
        let before = self.registers;
        let loaded = accesses.iter().any(|a| !a.2 && self.holds(*a));
        let by_address = before.meets(flow.address);
        for (marked, kind) in [
            (by_address, FindingKind::Address),
            (before.meets(flow.time), FindingKind::Time),
            (before.meets(flow.branch), FindingKind::Branch),
        ] {
            if marked {
                self.report(pc, kind);
            }
        }
        let forgotten = flow.writes.without(flow.keeps);
        if flow.transfer.is_empty() {
            if flow.branch_memory && loaded {
                self.report(pc, FindingKind::Branch);
            }
            let found = flow.reads_memory && (loaded || by_address);
            let marked = before.meets(flow.reads) || found;
            self.write(flow.writes, forgotten, marked);
            for &a in accesses.iter().filter(|a| a.2) {
                self.store(a, marked && flow.writes_memory);
            }
            return;
        }
        self.write(flow.writes, forgotten, before.meets(flow.reads));
        let marks: Vec<bool> = accesses.iter().map(|a| self.holds(*a)).collect();
        let moves = flow.transfer.as_slice();
        for (n, (&a, &moved)) in accesses.iter().zip(moves).enumerate() {
            let marked = marks[n] || by_address;
            if moved == Transfer::BRANCH {
                if marked && !a.2 {
                    self.report(pc, FindingKind::Branch);
                } else if a.2 {
                    self.store(a, false);
                }
                continue;
            }
            let set = match moved {
                Transfer::FLAGS => Registers::FLAGS,
                Transfer::NOTHING => Registers::NONE,
                register => Registers::of(register),
            };
            // The other half of the register, which has come already.
            let half = n > 0 && moves[n - 1] == moved && marks[n - 1];
            if a.2 {
                self.store(a, flow.writes_memory && before.meets(set));
            } else if flow.reads_memory {
                self.write(set, if half { Registers::NONE } else { set }, marked);
            }
        }
    }
}

const DATA: u32 = 0x2000;

/// What the instruction at `pc` of `words`, which begin at 0x8000, does to marks, if it is one.
pub fn decoded(architecture: Architecture, words: &[u16], pc: u32) -> Option<Dataflow> {
    let fetch = |addr: u32| {
        let word = words.get((addr.wrapping_sub(0x8000) / 2) as usize);
        word.copied().ok_or_else(|| sunseal_isa::Fault::not_code(addr))
    };
    Some(match architecture {
        Architecture::Msp430 => msp430::dataflow(&msp430::decode(pc, fetch).ok()?),
        Architecture::Avr => avr::dataflow(&avr::decode(pc / 2, |word| fetch(2 * word)).ok()?),
        Architecture::Arm => {
            thumb::dataflow(&thumb::decode(pc, thumb::Context::Outside, fetch).ok()?)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Random instructions with random accesses: marks and findings are those of the rules as they are written.
    #[test]
    fn marks_go_where_the_rules_say(
        architecture in prop::sample::select(vec![
            Architecture::Msp430, Architecture::Avr, Architecture::Arm,
        ]),
        words in prop::collection::vec(any::<u16>(), 400),
        steps in prop::collection::vec((0u32..130, 0u32..48, 0u32..48), 300),
        marked in (0u8..16, 0u32..48),
    ) {
        let mut elf = image(&words);
        elf.architecture = architecture;
        let (mut taint, mut plain) = (Taint::new(&elf), Plain::default());
        let data = if architecture == Architecture::Arm { 0x2000_0000 } else { DATA };
        let mark = |taint: &mut Taint, plain: &mut Plain| {
            taint.mark_register(marked.0);
            taint.mark(data + marked.1..data + marked.1 + 3);
            plain.registers |= Registers::of(marked.0);
            plain.bytes.extend(data + marked.1..data + marked.1 + 3);
        };
        for (n, (at, from, to)) in steps.into_iter().enumerate() {
            if n % 20 == 0 {
                mark(&mut taint, &mut plain);
            }
            let pc = 0x8000 + 6 * at;
            let Some(flow) = decoded(architecture, &words, pc) else { continue };
            let width = [Width::W8, Width::W16, Width::W32][(from % 3) as usize];
            let mut accesses: Vec<Moved> = Vec::new();
            if flow.transfer.is_empty() {
                if flow.reads_memory || flow.branch_memory {
                    accesses.push((data + from, width, false));
                }
                if flow.writes_memory {
                    accesses.push((data + to, width, true));
                }
            } else {
                let step = width.bytes();
                let count = flow.transfer.as_slice().len() as u32;
                let list = (0..count).map(|i| (data + from + step * i, width, flow.writes_memory));
                accesses.extend(list);
            }
            for &(addr, width, write) in &accesses {
                let kind = if write { Access::Write } else { Access::Read };
                taint.access(pc, addr, kind, width, 0, 0);
            }
            taint.instruction(pc, 0x5C00, 1, Flow::Next);
            plain.step(pc, &flow, &accesses);
            let (general, single) = match architecture {
                Architecture::Msp430 => (0..16, 0..0),
                Architecture::Avr => (0..32, 0..0),
                Architecture::Arm => (0..16, 32..64),
            };
            for register in general.chain(single) {
                let expected = plain.registers.meets(Registers::of(register));
                prop_assert_eq!(taint.is_register_marked(register), expected, "R{} at {:#x}", register, pc);
            }
            for addr in data..data + 128 {
                prop_assert_eq!(taint.is_marked(addr), plain.bytes.contains(&addr), "{:#x} at {:#x}", addr, pc);
            }
        }
        let found: BTreeMap<_, _> =
            taint.findings(&elf).into_iter().map(|f| ((f.pc, f.kind), f.count)).collect();
        prop_assert_eq!(found, plain.found);
    }
}
