// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the decoder says of every word, GNU as turns into the same word again.

use crate::avr_tools;
use std::fmt::Write as _;

use sunseal_isa::avr::{Insn, Mnemonic, Operand, decode};

/// In GNU's syntax: pairs by their lower register, relative targets from the word behind.
fn text(insn: &Insn, at: u32) -> String {
    let printed = insn.to_string();
    let mut words = printed.split(' ');
    let name = words.next().unwrap().to_lowercase();
    let operand = |operand| match operand {
        Operand::Pair(low) => format!("r{low}"),
        Operand::Code(addr) if insn.words == 1 => {
            format!(". + {}", i64::from(addr) - i64::from(at) - 2)
        }
        other => other.to_string(),
    };
    let operands: Vec<_> = match insn.mnemonic {
        // The flag is in the name.
        Mnemonic::Brbs | Mnemonic::Brbc => vec![operand(insn.second)],
        Mnemonic::Bset | Mnemonic::Bclr => vec![],
        _ => [insn.first, insn.second]
            .into_iter()
            .filter(|&o| o != Operand::None)
            .map(operand)
            .collect(),
    };
    format!("{name} {}", operands.join(", "))
}

#[test]
fn gnu_as_makes_the_same_words_of_the_decoders_text() {
    const SECOND: u16 = 0x0456;
    let mut source = String::new();
    let mut expected = Vec::new();
    for word in 0..=0xFFFF_u16 {
        // In the middle of the 64 K words, so that relative targets stay inside.
        let at = 0x4000;
        let insn = decode(at, |addr| Ok(if addr == at { word } else { SECOND }));
        let Ok(insn) = insn else { continue };
        // GNU as refuses what the manual leaves undefined.
        if insn.is_undefined() {
            continue;
        }
        writeln!(source, "{}", text(&insn, 2 * at)).unwrap();
        expected.push(word);
        if insn.words == 2 {
            expected.push(SECOND);
        }
    }
    let got = avr_tools::assemble("avr_disassembler", &source);
    assert_eq!(got.len(), expected.len());
    for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
        assert_eq!(got, expected, "word {i}: {got:#06x} for {expected:#06x}");
    }
}

#[test]
fn instructions_read_as_in_the_manual() {
    let read =
        |words: [u16; 2]| decode(0, |addr| Ok(words[addr as usize & 1])).unwrap().to_string();
    let cases = [
        ([0x0F3E, 0], "ADD R19, R30"),
        ([0x01C5, 0], "MOVW R25:R24, R11:R10"),
        ([0x96AD, 0], "ADIW R29:R28, 0x2d"),
        ([0xAD0F, 0], "LDD R16, Y+63"),
        ([0x8108, 0], "LD R16, Y"),
        ([0x8318, 0], "ST Y, R17"),
        ([0x930D, 0], "ST X+, R16"),
        ([0x9182, 0], "LD R24, -Z"),
        ([0x9000, 0x0105], "LDS R0, 0x0105"),
        ([0x9300, 0x0105], "STS 0x0105, R16"),
        ([0x940E, 0x1234], "CALL 0x02468"),
        ([0xCFFF, 0], "RJMP 0x00000"),
        ([0xF011, 0], "BREQ 0x00006"),
        ([0xB7CD, 0], "IN R28, 0x3d"),
        ([0x9A93, 0], "SBI 0x12, 3"),
        ([0x9478, 0], "SEI"),
        ([0x95C8, 0], "LPM"),
        ([0x9016, 0], "ELPM R1, Z"),
        ([0xFD07, 0], "SBRC R16, 7"),
        ([0x4F3F, 0], "SBCI R19, 0xff"),
    ];
    for (words, text) in cases {
        assert_eq!(read(words), text, "{words:04x?}");
    }
}
