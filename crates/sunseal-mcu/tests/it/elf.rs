// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images: whole, truncated, foreign, flipped; where they may lie.

use std::path::PathBuf;

use proptest::prelude::*;
use sunseal_mcu::{Device, Elf, ElfError, Machine};

use crate::asm::Arg::*;
use crate::support::*;

/// A part of an image: where it runs, where it is stored, its bytes.
pub struct Part {
    pub addr: u32,
    pub load_addr: u32,
    pub bytes: Vec<u8>,
}

/// An executable of these parts with these symbols (name, address, size, function).
pub fn image(parts: &[Part], symbols: &[(&str, u32, u32, bool)]) -> Vec<u8> {
    let mut strings = vec![0u8];
    let mut table = vec![0u8; 16];
    for (name, addr, size, function) in symbols {
        table.extend((strings.len() as u32).to_le_bytes());
        table.extend(addr.to_le_bytes());
        table.extend(size.to_le_bytes());
        table.extend([if *function { 0x12 } else { 0x11 }, 0, 1, 0]);
        strings.extend(name.as_bytes());
        strings.push(0);
    }
    let data_at = 52 + 32 * parts.len();
    let mut out = b"\x7fELF\x01\x01\x01".to_vec();
    out.resize(16, 0);
    for half in [2u16, 105] {
        out.extend(half.to_le_bytes());
    }
    let data: usize = parts.iter().map(|p| p.bytes.len()).sum();
    let sections_at = data_at + data + table.len() + strings.len();
    for word in [1, CODE, 52, sections_at as u32, 0] {
        out.extend(word.to_le_bytes());
    }
    for half in [52, 32, parts.len() as u16, 40, 3 + parts.len() as u16, 0] {
        out.extend(half.to_le_bytes());
    }
    let mut at = data_at;
    for p in parts {
        let n = p.bytes.len() as u32;
        for word in [1, at as u32, p.addr, p.load_addr, n, n, 7, 2] {
            out.extend(word.to_le_bytes());
        }
        at += p.bytes.len();
    }
    for p in parts {
        out.extend(&p.bytes);
    }
    out.extend(&table);
    out.extend(&strings);
    assert_eq!(out.len(), sections_at);
    let mut section = |words: [u32; 10]| words.iter().for_each(|w| out.extend(w.to_le_bytes()));
    section([0; 10]);
    let mut at = data_at as u32;
    for p in parts {
        section([0, 1, 2, p.addr, at, p.bytes.len() as u32, 0, 0, 2, 0]);
        at += p.bytes.len() as u32;
    }
    section([0, 2, 0, 0, at, table.len() as u32, 2 + parts.len() as u32, 0, 4, 16]);
    section([0, 3, 0, 0, at + table.len() as u32, strings.len() as u32, 0, 0, 1, 0]);
    out
}

/// A whole program with a subroutine and initialised data.
fn small() -> Vec<u8> {
    let mut p = Program::new();
    p.op("MOV", Imm(0x1234), R(5)).halt();
    image(
        &[
            Part { addr: CODE, load_addr: CODE, bytes: p.bytes() },
            Part { addr: RAM, load_addr: 0x6000, bytes: vec![1, 2, 3, 4] },
            Part {
                addr: VECTOR_RESET,
                load_addr: VECTOR_RESET,
                bytes: (CODE as u16).to_le_bytes().to_vec(),
            },
        ],
        &[("main", CODE, p.bytes().len() as u32, true), ("table", RAM, 4, false)],
    )
}

#[test]
fn an_image_is_loaded_with_symbols_and_sizes() {
    let elf = Elf::parse(&small()).unwrap();
    let device = Device::msp430f5438a();
    let mut m = Machine::new(&device);
    m.load(&elf).unwrap();
    halt(&mut m);
    assert_eq!(m.reg(5), 0x1234);
    assert_eq!(m.read_mem(0x6000, 4).unwrap(), [1, 2, 3, 4], "stored where the segment says");
    assert_eq!(elf.describe(CODE + 4), "main+0x4");
    assert_eq!(elf.symbol("table").unwrap().size_bytes, 4);
    let sizes = elf.sizes(&device);
    assert_eq!(sizes.ram_bytes, 4);
    assert_eq!(sizes.flash_bytes as usize, 4 + 2 + elf.symbol("main").unwrap().size_bytes as usize);
}

#[test]
fn a_missing_symbol_names_what_is_near() {
    let elf = Elf::parse(&small()).unwrap();
    let err = elf.symbol("tabl").unwrap_err().to_string();
    assert!(err.contains("`tabl`") && err.contains("table"), "{err}");
}

#[test]
fn foreign_images_are_told_apart() {
    let mut other = small();
    other[18] = 94;
    let err = Elf::parse(&other).unwrap_err().to_string();
    assert!(err.contains("Xtensa (machine 94)") && err.contains("MSP430"), "{err}");
    let mut wide = small();
    wide[4] = 2;
    assert!(Elf::parse(&wide).unwrap_err().to_string().contains("64-bit"));
    assert!(matches!(Elf::parse(b"hello"), Err(ElfError::NotElf { bytes: 5 })));
    assert!(matches!(Elf::parse(&[0; 100]), Err(ElfError::NotElf { .. })));
    assert!(matches!(
        Elf::parse(&std::fs::read(std::env::current_exe().unwrap()).unwrap()),
        Err(ElfError::Foreign { .. })
    ));
}

#[test]
fn an_image_for_another_memory_map_is_refused_by_address() {
    let bytes = image(&[Part { addr: 0x5_0000, load_addr: 0x5_0000, bytes: vec![0; 16] }], &[]);
    let mut m = Machine::new(&Device::msp430f5438a());
    let err = m.load(&Elf::parse(&bytes).unwrap()).unwrap_err().to_string();
    assert!(err.contains("0x50000") && err.contains("msp430f5438a"), "{err}");
    // Beginning inside, ending outside.
    let bytes = image(&[Part { addr: 0x4_5BF0, load_addr: 0x4_5BF0, bytes: vec![0; 64] }], &[]);
    let err = m.load(&Elf::parse(&bytes).unwrap()).unwrap_err().to_string();
    assert!(err.contains("0x45c00"), "{err}");
    let bytes =
        image(&[Part { addr: 0xFFFF_FFF0, load_addr: 0xFFFF_FFF0, bytes: vec![0; 64] }], &[]);
    let err = Elf::parse(&bytes).unwrap_err().to_string();
    assert!(err.contains("its 64 bytes at 0xfffffff0 end behind the last address"), "{err}");
}

#[test]
fn an_object_file_has_nothing_to_load() {
    let bytes = image(&[], &[("x", 0, 0, true)]);
    assert!(Elf::parse(&bytes).unwrap_err().to_string().contains("link it"));
}

/// Loading and describing whatever was parsed must not panic either.
fn use_it(bytes: &[u8]) -> Result<(), String> {
    let elf = Elf::parse(bytes).map_err(|e| e.to_string())?;
    let device = Device::msp430f5438a();
    let _ = (elf.sizes(&device), elf.describe(0x5C00), elf.line_at(0x5C00));
    Machine::new(&device).load(&elf).map_err(|e| e.to_string())
}

fn is_a_sentence(e: &str) -> bool {
    e.len() > 20 && !e.contains('\n')
}

/// An image of a real build with debug data, if there is one.
fn built() -> Option<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../firmware/build/msp430f5438a-anagear/mpy-none");
    std::fs::read(root.join("bench-sha1-hash.elf")).ok()
}

#[test]
fn every_truncation_is_a_sentence() {
    let bytes = small();
    for n in 0..bytes.len() {
        let e = use_it(&bytes[..n]).unwrap_err();
        assert!(is_a_sentence(&e), "{n}: {e}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn flipped_images_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = small();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Err(e) = use_it(&bytes) {
            prop_assert!(is_a_sentence(&e), "{}", e);
        }
    }

    #[test]
    fn noise_behind_a_header_never_panics(noise in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = small()[..52].to_vec();
        bytes.extend(noise);
        let _ = use_it(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_built_image_cut_or_flipped_never_panics(cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), value: u8) {
        if let Some(bytes) = built() {
            let n = cut.index(bytes.len());
            let e = use_it(&bytes[..n]).unwrap_err();
            prop_assert!(is_a_sentence(&e), "{}", e);
            let mut flipped = bytes;
            let at = at.index(flipped.len());
            flipped[at] ^= value;
            let _ = use_it(&flipped);
        }
    }
}

#[test]
fn a_built_image_has_source_lines() {
    if let Some(bytes) = built() {
        let elf = Elf::parse(&bytes).unwrap();
        let main = elf.symbol("main").unwrap().addr;
        let line = elf.line_at(main).expect("built with -g");
        assert!(line.file.ends_with(".c") && line.line > 0, "{line:?}");
    }
}
