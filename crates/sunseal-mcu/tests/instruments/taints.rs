// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taint finds what is planted, on every instruction set, and nothing else.

use std::collections::BTreeSet;

use sunseal_isa::avr;
use sunseal_mcu::taint::{FindingKind, Taint};
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

#[test]
fn planted_leaks_are_found_on_an_msp430() {
    let elf = Elf::parse(&leaks(Tool::Msp430Clang)).unwrap();
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(&elf).unwrap();
    let main = elf.symbol("main").unwrap().addr;
    assert_eq!(m.run(&Until::pc(main), &mut Silent), Stop::Pc(main));
    let mut taint = Taint::of(m.device(), &elf);
    taint.mark(bytes_of(&elf, "secret"));
    let end = elf.symbol("finished").unwrap().addr;
    assert_eq!(m.run(&Until::pc(end), &mut taint), Stop::Pc(end));
    let leaks =
        expected(&[("leak_branch", FindingKind::Branch), ("leak_table", FindingKind::Address)]);
    assert_eq!(found(&taint, &elf), leaks);
    let finding = &taint.findings(&elf)[0];
    assert_eq!(finding.line.as_ref().unwrap().line, line_of("if (secret[0] & 1)"));
    assert!(finding.instruction.starts_with('J'), "{finding}");
    // The table's value depends on the secret, the selection's too; a constant stored under a branch does not.
    let out = bytes_of(&elf, "out").start;
    assert_eq!(taint.marked(out..out + 4), [false, true, true, false]);
}

#[test]
fn planted_leaks_are_found_on_an_avr() {
    let elf = Elf::parse(&leaks(Tool::AvrGcc)).unwrap();
    let mut cpu = avr::Cpu::new(avr::Timing::AVRE);
    let mut bus = avr::FlatBus::new();
    for s in elf.segments.iter().filter(|s| !s.data.is_empty()) {
        let mut bytes = s.data.clone();
        bytes.resize(bytes.len().next_multiple_of(2), 0xFF);
        let words: Vec<u16> = bytes.chunks(2).map(|w| u16::from_le_bytes([w[0], w[1]])).collect();
        bus.load(s.load_addr / 2, &words);
    }
    let mut run_to = |name: &str, taint: &mut Taint| {
        let pc = elf.symbol(name).unwrap().addr / 2;
        while u32::from(cpu.pc) != pc {
            let exit = cpu.step(&mut bus, taint);
            assert!(!matches!(exit, avr::Exit::Fault(_)), "{exit:?}");
        }
    };
    let mut taint = Taint::new(&elf);
    run_to("main", &mut taint);
    taint.mark(bytes_of(&elf, "secret"));
    run_to("finished", &mut taint);
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
        let elf = Elf::parse(&leaks(tool)).unwrap();
        let mut m = Machine::new(&Device::named("msp432p401r").unwrap());
        m.load(&elf).unwrap();
        let main = elf.symbol("main").unwrap().addr;
        assert_eq!(m.run(&Until::pc(main), &mut Silent), Stop::Pc(main));
        let mut taint = Taint::of(m.device(), &elf);
        taint.mark(bytes_of(&elf, "secret"));
        let end = elf.symbol("finished").unwrap().addr;
        assert_eq!(m.run(&Until::pc(end), &mut taint), Stop::Pc(end));
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
    assert_eq!(m.run(&Until::pc(end), &mut taint), Stop::Pc(end));
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
    }
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
