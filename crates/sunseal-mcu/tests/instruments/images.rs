// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images of every compiler: where they lie, what their symbols, lines and inlined functions say.

use sunseal_mcu::elf::{Architecture, SymbolKind};
use sunseal_mcu::{Elf, ElfError};

use crate::fixture::{TOOLS, Tool, leaks, line_of};

#[test]
fn images_of_every_compiler_load() {
    for tool in TOOLS {
        let elf = Elf::parse(&leaks(tool)).unwrap_or_else(|e| panic!("{tool:?}: {e}"));
        let (architecture, ram, flash_end) = match tool {
            Tool::AvrGcc => (Architecture::Avr, 0x80_0100..0x80_1100, 0x2_0000),
            Tool::Msp430Clang => (Architecture::Msp430, 0x1C00..0x5C00, 0x1_0000),
            _ => (Architecture::Arm, 0x2000_0000..0x2001_0000, 0x4_0000),
        };
        assert_eq!(elf.architecture, architecture);
        assert_eq!(elf.entry & 1, 0, "{tool:?}: the entry point is an address");
        let data = elf.symbol("initialised").unwrap();
        assert!(ram.contains(&data.addr), "{tool:?}: {data:?}");
        assert_eq!((data.kind, data.size_bytes), (SymbolKind::Object, 2));
        let segment = elf
            .segments
            .iter()
            .find(|s| s.addr <= data.addr && data.addr < s.addr + s.mem_bytes)
            .unwrap();
        assert!(segment.load_addr < flash_end, "{tool:?}: initialised data is stored in flash");
        assert_eq!(segment.data[(data.addr - segment.addr) as usize..][..2], [0x34, 0x12]);
        let zeroed = elf.symbol("zeroed").unwrap();
        assert!(elf.data_end().unwrap() >= zeroed.addr + 16, "{tool:?}");
        let function = elf.symbol("leak_table").unwrap();
        assert_eq!(function.kind, SymbolKind::Function);
        assert_eq!(function.addr & 1, 0, "{tool:?}: code addresses are even");
        assert!(function.addr < flash_end);
        assert_eq!(elf.describe(function.addr), "leak_table");
        let line = elf.line_at(function.addr).unwrap();
        let first = line_of("void leak_table");
        let inside = (first..first + 4).contains(&line.line);
        assert!(line.file.ends_with("leaks.c") && inside, "{tool:?}: {line}");
    }
}

#[test]
fn inlined_functions_are_frames_of_their_own() {
    for tool in TOOLS {
        let elf = Elf::parse(&leaks(tool)).unwrap();
        let outer = elf.symbol("inlined_twice").unwrap();
        let mut calls = std::collections::BTreeSet::new();
        for addr in (outer.addr..outer.addr + outer.size_bytes).step_by(2) {
            let frames = elf.frames_at(addr);
            assert_eq!(frames.last().unwrap().function, "inlined_twice", "{tool:?}");
            if let [inner, caller] = &frames[..] {
                assert_eq!(inner.function, "doubled");
                assert!(inner.inlined && !caller.inlined);
                let line = inner.line.as_ref().unwrap().line;
                let first = line_of("doubled(uint8_t x)");
                assert!((first..first + 4).contains(&line), "{tool:?}: line {line}");
                calls.insert(caller.line.as_ref().unwrap().line);
            }
        }
        let lines = [line_of("doubled(other[2])"), line_of("doubled(other[3])")];
        assert_eq!(calls.into_iter().collect::<Vec<_>>(), lines, "{tool:?}");
    }
}

#[test]
fn an_image_for_another_machine_is_refused_by_name() {
    let avr = Elf::parse(&leaks(Tool::AvrGcc)).unwrap();
    let err = avr.fits("msp430f5438a", Architecture::Msp430).unwrap_err().to_string();
    assert_eq!(err, "the ELF is for AVR, but msp430f5438a runs MSP430; compile it for that device");
    assert_eq!(avr.fits("atmega128l", Architecture::Avr), Ok(()));
    let mut xmega = leaks(Tool::AvrGcc);
    xmega[36] = xmega[36] & 0x80 | 102;
    let err = Elf::parse(&xmega).unwrap().fits("atmega128l", Architecture::Avr).unwrap_err();
    assert!(
        matches!(&err, ElfError::WrongMachine { found, .. } if found == "AVR core avr102"),
        "{err}"
    );
    let host = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let err = Elf::parse(&host).unwrap_err().to_string();
    assert!(err.contains("a 64-bit little-endian "), "{err}");
}

#[test]
fn fuses_are_kept_apart_from_memory() {
    let elf = Elf::parse(&crate::fixture::with_fuses()).unwrap();
    assert_eq!(elf.settings.len(), 1);
    assert_eq!((elf.settings[0].addr, &elf.settings[0].data[..]), (0x82_0000, &[1, 2, 3][..]));
    assert!(elf.segments.iter().all(|s| s.addr < 0x82_0000));
}

#[test]
fn what_the_linker_threw_away_has_no_lines() {
    for tool in TOOLS {
        let elf = Elf::parse(&leaks(tool)).unwrap();
        for (range, file, _) in elf.lines() {
            assert!(
                elf.function_at(range.start).is_some() || range.start >= elf.entry,
                "{tool:?}: {file} has lines at {range:x?}, where no function is"
            );
        }
    }
}
