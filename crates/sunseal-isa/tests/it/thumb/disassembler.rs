// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoding and text of Thumb instructions against GNU as: what the disassembler prints assembles to the
//! same instruction, and to nothing else; every word is tried, or enough of them at random.

use super::dataflow::Random;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::thumb_tools::program;
use sunseal_isa::thumb::{Address, Context, Insn, Kind, Undecoded, decode};
use sunseal_isa::{Fault, FaultKind};

fn at_zero(words: &[u16]) -> Result<Insn, Undecoded> {
    decode(0, Context::Outside, |addr| {
        let word = words.get(addr as usize / 2).copied();
        word.ok_or_else(|| Fault::new(FaultKind::NotCode, addr))
    })
}

/// Addresses in the text need labels, and tables of branches no assembler makes of a number.
fn needs_label(kind: Kind) -> bool {
    match kind {
        Kind::Branch { .. }
        | Kind::BranchLink { .. }
        | Kind::CompareBranch { .. }
        | Kind::Adr { .. }
        | Kind::It { .. } => true,
        Kind::Load { addr, .. }
        | Kind::Store { addr, .. }
        | Kind::LoadDual { addr, .. }
        | Kind::Preload { addr, .. } => matches!(addr, Address::Literal(_)),
        _ => false,
    }
}

/// Assembles lines, each to its own section, so that one that is refused is known by its number. Their
/// words, or as's complaint.
fn assemble(name: &str, lines: &[String]) -> (Vec<u16>, BTreeMap<usize, String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, object) = (folder.join(format!("{name}.s")), folder.join(format!("{name}.o")));
    let binary = folder.join(format!("{name}.bin"));
    let head = ".syntax unified\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.thumb\n";
    let mut refused = BTreeMap::new();
    loop {
        // A refused line stays as an instruction of the right place, so that numbers keep their meaning.
        let kept: Vec<_> = lines
            .iter()
            .enumerate()
            .map(|(i, line)| if refused.contains_key(&i) { "" } else { line.as_str() })
            .collect();
        let text: String = kept.iter().map(|line| format!("{line}\n.balign 8, 0xFF\n")).collect();
        std::fs::write(&source, format!("{head}{text}")).unwrap();
        let out = Command::new(program("arm-none-eabi-as"))
            .args(["-o".as_ref(), object.as_os_str(), source.as_os_str()])
            .output()
            .unwrap();
        let complaints = String::from_utf8_lossy(&out.stderr);
        let before = refused.len();
        for complaint in complaints.lines().filter(|line| line.contains("Error")) {
            let number = complaint.split(':').nth(1).and_then(|n| n.trim().parse::<usize>().ok());
            if let Some(number) = number.filter(|&n| n > 4) {
                let i = (number - 5) / 2;
                refused.insert(i, format!("{}: {complaint}", lines[i]));
            }
        }
        if refused.len() > before {
            continue;
        }
        assert!(out.status.success(), "{complaints}");
        break;
    }
    let done = Command::new(program("arm-none-eabi-objcopy"))
        .args(["-O", "binary", "-j", ".text"])
        .args([&object, &binary])
        .status()
        .unwrap();
    assert!(done.success());
    let bytes = std::fs::read(&binary).unwrap();
    let words = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    (words, refused)
}

/// The texts of `encodings` assemble to what was decoded.
fn round_trip(name: &str, encodings: &[Vec<u16>]) -> usize {
    let mut insns = Vec::new();
    for words in encodings {
        if let Ok(insn) = at_zero(words)
            && !needs_label(insn.kind)
        {
            insns.push((words, insn));
        }
    }
    let lines: Vec<String> = insns.iter().map(|(_, insn)| insn.to_string()).collect();
    let (words, refused) = assemble(name, &lines);
    let mut wrong = Vec::new();
    for (i, complaint) in &refused {
        wrong.push(format!("{:04x?} {complaint}", insns[*i].0));
    }
    // Each line begins at a multiple of eight; a refused one takes nothing.
    let mut at = 0;
    for (i, (encoding, insn)) in insns.iter().enumerate() {
        if refused.contains_key(&i) {
            continue;
        }
        match at_zero(&words[at..]) {
            Ok(again) if again == *insn => {}
            other => wrong.push(format!(
                "{encoding:04x?} {insn}: as makes {:04x?}, {other:?}",
                &words[at..at + 2]
            )),
        }
        at += 4;
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
    insns.len()
}

#[test]
fn every_narrow_instruction_assembles_to_itself() {
    let encodings: Vec<_> = (0..0xE800u32).map(|word| vec![word as u16]).collect();
    assert!(round_trip("thumb-narrow", &encodings) > 40_000);
}

#[test]
fn wide_instructions_assemble_to_themselves() {
    let mut random = Random(3);
    let mut encodings = Vec::new();
    for first in 0xE800..=0xFFFFu32 {
        if first >> 11 == 0b11110 && first & 0x200 == 0 && first & 0x1F0 > 0x1E0 {
            continue;
        }
        for _ in 0..12 {
            encodings.push(vec![first as u16, random.word() as u16]);
            // Operands of fixed fields, more often than by chance.
            let second = random.word();
            for (fixed, free) in [
                (0xF000, 0x0FFF),
                (0x0F00, 0xF0FF),
                (0xF080, 0x0F3F),
                (0x0A00, 0xF1FF),
                (0x8000, 0x0FFF),
            ] {
                encodings.push(vec![first as u16, (fixed | second & free) as u16]);
            }
        }
    }
    let tried = round_trip("thumb-wide", &encodings);
    assert!(tried > 30_000, "{tried}");
}
