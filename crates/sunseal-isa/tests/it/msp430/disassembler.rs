// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the decoder says of random words, GNU as turns into the same instructions again.

use std::path::Path;
use std::process::Command;
use sunseal_isa::Silent;
use sunseal_isa::msp430::{Cpu, Exit, Insn, Mnemonic, Operand, PC, Size, Timing, decode};
use sunseal_isa::msp430::{FlatBus, PageKind};

const INSTRUCTIONS: usize = 4000;

/// The same instruction whichever of two encodings it has.
fn normal(insn: &Insn) -> Insn {
    let mut insn = *insn;
    insn.words = 0;
    let constants = [0, 1, 2, 4, 8, insn.size.mask()];
    for operand in [&mut insn.src, &mut insn.dst] {
        *operand = match *operand {
            // A constant generator's value or a word behind the opcode.
            Operand::Immediate(n) if constants.contains(&n) => Operand::Constant(n),
            other => other,
        };
    }
    let single = insn.src == Operand::None;
    let source = if single { &mut insn.dst } else { &mut insn.src };
    if let Operand::Indexed { reg, index: 0, .. } = *source {
        *source = Operand::Indirect(reg);
    }
    insn
}

/// What the assembler cannot be given, by name.
fn without_syntax(insn: &Insn) -> Option<&'static str> {
    let operands = [insn.src, insn.dst];
    let of = |regs: std::ops::Range<u8>| {
        operands.iter().any(|o| match *o {
            Operand::Reg(r) | Operand::Indirect(r) | Operand::Increment(r) => regs.contains(&r),
            Operand::Indexed { reg, .. } => regs.contains(&reg),
            _ => false,
        })
    };
    if matches!(insn.mnemonic, Mnemonic::Jump(_))
        || operands.iter().any(|o| matches!(o, Operand::Symbolic(_)))
    {
        Some("relative to its place: needs a label")
    } else if insn.zero_carry && insn.mnemonic != Mnemonic::Rrc {
        Some("ZC is written for RRUX only")
    } else if of(0..4) {
        Some("PC, SR and R3 have rules of their own, SP odd ones in assemblers")
    } else {
        match (insn.mnemonic, insn.src, insn.dst) {
            (Mnemonic::Popm, Operand::Constant(n), Operand::Reg(reg)) if u32::from(reg) < n + 3 => {
                Some("GNU as refuses POPM of SR")
            }
            (Mnemonic::Calla, _, dst)
                if !matches!(
                    dst,
                    Operand::Reg(_) | Operand::Indirect(_) | Operand::Increment(_)
                ) =>
            {
                Some("GNU as leaves what CALLA needs a word for to the linker")
            }
            _ => None,
        }
    }
}

fn random_words(seed: &mut u64) -> [u16; 4] {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mut words = [0, 16, 32, 48].map(|shift| (*seed >> shift) as u16);
    match *seed >> 60 {
        0..4 => words[3] = 0x1800 | words[3] & 0x07CF,
        4 => words[3] &= 0x0FFF,
        5 => words[3] = 0x1000 | words[3] & 0x07FF,
        _ => {}
    }
    words.reverse();
    words
}

#[test]
fn gnu_as_makes_the_same_instructions_of_the_decoders_text() {
    let required = std::env::var("SUNSEAL_REQUIRE_TOOLS").as_deref() == Ok("1");
    for tool in ["msp430-elf-as", "llvm-objcopy"] {
        if let Err(e) = Command::new(tool).arg("--version").output() {
            assert!(!required, "SUNSEAL_REQUIRE_TOOLS=1, but {tool} cannot be run: {e}");
            println!("skipped: {tool} cannot be run ({e}); `firmware/toolchain/get` brings it");
            return;
        }
    }
    let mut seed = 430;
    let mut insns = Vec::new();
    while insns.len() < INSTRUCTIONS {
        let words = random_words(&mut seed);
        let at = |addr: u32| Ok(words[(addr as usize / 2) & 3]);
        if let Ok(insn) = decode(0, at)
            && without_syntax(&insn).is_none()
        {
            insns.push(insn);
        }
    }
    let extended = insns.iter().filter(|i| i.extended).count();
    let of_20_bits = insns.iter().filter(|i| i.size == Size::A).count();
    assert!(extended > INSTRUCTIONS / 10 && of_20_bits > INSTRUCTIONS / 10);

    let names: std::collections::BTreeSet<_> = insns.iter().map(|i| i.mnemonic.name()).collect();
    assert_eq!(names.len(), 29, "all but RETI and the jumps: {names:?}");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disassembler");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name);
    let text: String =
        insns.iter().map(|i| format!("\t{}\n", i.to_string().to_lowercase())).collect();
    std::fs::write(file("all.s"), text).unwrap();
    let run = |command: &mut Command| {
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    // Neither interrupt nor hardware-bug advice: the text is no program.
    let flags = ["-mcpu=430xv2", "-mn", "-mY"];
    run(Command::new("msp430-elf-as").args(flags).arg("-o").args([file("all.o"), file("all.s")]));
    let copy = ["-O", "binary", "--only-section=.text"];
    run(Command::new("llvm-objcopy").args(copy).args([file("all.o"), file("all.bin")]));
    let bytes = std::fs::read(file("all.bin")).unwrap();
    let mut pc = 0;
    for expected in &insns {
        let word = |addr: u32| {
            let i = addr as usize;
            Ok(u16::from_le_bytes([bytes[i], bytes[i + 1]]))
        };
        let got = decode(pc, word).unwrap_or_else(|e| panic!("{expected} became {e}"));
        assert_eq!(normal(&got), normal(expected), "`{expected}` became `{got}` at {pc:#x}");
        pc += 2 * u32::from(got.words);
    }
    assert_eq!(pc as usize, bytes.len());
}

#[test]
fn a_fault_of_the_cpu_names_its_instruction() {
    let mut bus = FlatBus::new();
    bus.map(0x5C00..0x5D00, PageKind::Code);
    bus.load(0x5C00, &[0x4596, 0x0002, 0x0004]); // MOV 2(R5), 4(R6)
    let mut cpu = Cpu::new(Timing::CPUXV2);
    (cpu.r[PC], cpu.r[5]) = (0x5C00, 0x1BFF);
    let Exit::Fault(fault) = cpu.step(&mut bus, &mut Silent) else { panic!("no fault") };
    assert_eq!(
        fault.to_string(),
        "word access at odd address 0x01c01; words lie at even addresses \
         [pc 0x05c00: MOV 2(R5), 4(R6)]"
    );
    assert_eq!(fault.instruction(), Some("MOV 2(R5), 4(R6)"));
}
