// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions in the manual's syntax.

use std::fmt;

use super::insn::{Insn, Mnemonic, Operand, Step};

/// BRBS and BRBC by the flag they ask for.
const SET: [&str; 8] = ["BRCS", "BREQ", "BRMI", "BRVS", "BRLT", "BRHS", "BRTS", "BRIE"];
const CLEAR: [&str; 8] = ["BRCC", "BRNE", "BRPL", "BRVC", "BRGE", "BRHC", "BRTC", "BRID"];
/// BSET and BCLR by the flag they change.
const BSET: [&str; 8] = ["SEC", "SEZ", "SEN", "SEV", "SES", "SEH", "SET", "SEI"];
const BCLR: [&str; 8] = ["CLC", "CLZ", "CLN", "CLV", "CLS", "CLH", "CLT", "CLI"];

impl Mnemonic {
    fn text(self) -> &'static str {
        match self {
            Self::Adc => "ADC",
            Self::Add => "ADD",
            Self::Adiw => "ADIW",
            Self::And => "AND",
            Self::Andi => "ANDI",
            Self::Asr => "ASR",
            Self::Bclr => "BCLR",
            Self::Bld => "BLD",
            Self::Brbc => "BRBC",
            Self::Brbs => "BRBS",
            Self::Break => "BREAK",
            Self::Bset => "BSET",
            Self::Bst => "BST",
            Self::Call => "CALL",
            Self::Cbi => "CBI",
            Self::Com => "COM",
            Self::Cp => "CP",
            Self::Cpc => "CPC",
            Self::Cpi => "CPI",
            Self::Cpse => "CPSE",
            Self::Dec => "DEC",
            Self::Elpm => "ELPM",
            Self::Eor => "EOR",
            Self::Fmul => "FMUL",
            Self::Fmuls => "FMULS",
            Self::Fmulsu => "FMULSU",
            Self::Icall => "ICALL",
            Self::Ijmp => "IJMP",
            Self::In => "IN",
            Self::Inc => "INC",
            Self::Jmp => "JMP",
            Self::Ld => "LD",
            Self::Ldi => "LDI",
            Self::Lds => "LDS",
            Self::Lpm => "LPM",
            Self::Lsr => "LSR",
            Self::Mov => "MOV",
            Self::Movw => "MOVW",
            Self::Mul => "MUL",
            Self::Muls => "MULS",
            Self::Mulsu => "MULSU",
            Self::Neg => "NEG",
            Self::Nop => "NOP",
            Self::Or => "OR",
            Self::Ori => "ORI",
            Self::Out => "OUT",
            Self::Pop => "POP",
            Self::Push => "PUSH",
            Self::Rcall => "RCALL",
            Self::Ret => "RET",
            Self::Reti => "RETI",
            Self::Rjmp => "RJMP",
            Self::Ror => "ROR",
            Self::Sbc => "SBC",
            Self::Sbci => "SBCI",
            Self::Sbi => "SBI",
            Self::Sbic => "SBIC",
            Self::Sbis => "SBIS",
            Self::Sbiw => "SBIW",
            Self::Sbrc => "SBRC",
            Self::Sbrs => "SBRS",
            Self::Sleep => "SLEEP",
            Self::Spm => "SPM",
            Self::St => "ST",
            Self::Sts => "STS",
            Self::Sub => "SUB",
            Self::Subi => "SUBI",
            Self::Swap => "SWAP",
            Self::Wdr => "WDR",
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => Ok(()),
            Self::Reg(reg) => write!(f, "R{reg}"),
            Self::Pair(low) => write!(f, "R{}:R{low}", low + 1),
            Self::Immediate(k) => write!(f, "{k:#04x}"),
            Self::Io(addr) => write!(f, "{addr:#04x}"),
            Self::Bit(bit) => write!(f, "{bit}"),
            Self::Data(addr) => write!(f, "{addr:#06x}"),
            Self::Code(addr) => write!(f, "{addr:#07x}"),
            Self::Pointer(pointer, step) => {
                let name = ["X", "Y", "Z"][usize::from(pointer - 26) / 2];
                match step {
                    Step::Stay(0) => f.write_str(name),
                    Step::Stay(q) => write!(f, "{name}+{q}"),
                    Step::Increment => write!(f, "{name}+"),
                    Step::Decrement => write!(f, "-{name}"),
                }
            }
        }
    }
}

impl fmt::Display for Insn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let displaced = |operand| matches!(operand, Operand::Pointer(_, Step::Stay(1..)));
        match (self.mnemonic, self.first, self.second) {
            (Mnemonic::Brbs, Operand::Bit(s), to) => {
                write!(f, "{} {to}", SET[usize::from(s & 7)])
            }
            (Mnemonic::Brbc, Operand::Bit(s), to) => {
                write!(f, "{} {to}", CLEAR[usize::from(s & 7)])
            }
            (Mnemonic::Bset, Operand::Bit(s), _) => f.write_str(BSET[usize::from(s & 7)]),
            (Mnemonic::Bclr, Operand::Bit(s), _) => f.write_str(BCLR[usize::from(s & 7)]),
            (Mnemonic::Ld, to, from) if displaced(from) => write!(f, "LDD {to}, {from}"),
            (Mnemonic::St, to, from) if displaced(to) => write!(f, "STD {to}, {from}"),
            (mnemonic, Operand::None, _) => f.write_str(mnemonic.text()),
            (mnemonic, first, Operand::None) => write!(f, "{} {first}", mnemonic.text()),
            (mnemonic, first, second) => write!(f, "{} {first}, {second}", mnemonic.text()),
        }
    }
}
