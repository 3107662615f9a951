// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taint finds what is planted, on every instruction set, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sunseal_isa::{Dataflow, Registers, Transfer, avr, msp430, thumb};
use sunseal_mcu::elf::Architecture;
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
fn decoded(architecture: Architecture, words: &[u16], pc: u32) -> Option<Dataflow> {
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
