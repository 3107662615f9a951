// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions as text: the manual's mnemonics, in the syntax that GNU as reads.

use std::fmt;

use super::insn::{Condition, Insn, Mnemonic, Operand, Repeat, Size};

impl Mnemonic {
    /// As the manual spells it, without suffixes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mov => "MOV",
            Self::Add => "ADD",
            Self::Addc => "ADDC",
            Self::Subc => "SUBC",
            Self::Sub => "SUB",
            Self::Cmp => "CMP",
            Self::Dadd => "DADD",
            Self::Bit => "BIT",
            Self::Bic => "BIC",
            Self::Bis => "BIS",
            Self::Xor => "XOR",
            Self::And => "AND",
            Self::Rrc => "RRC",
            Self::Swpb => "SWPB",
            Self::Rra => "RRA",
            Self::Sxt => "SXT",
            Self::Push => "PUSH",
            Self::Call => "CALL",
            Self::Reti => "RETI",
            Self::Jump(Condition::Ne) => "JNE",
            Self::Jump(Condition::Eq) => "JEQ",
            Self::Jump(Condition::Nc) => "JNC",
            Self::Jump(Condition::C) => "JC",
            Self::Jump(Condition::N) => "JN",
            Self::Jump(Condition::Ge) => "JGE",
            Self::Jump(Condition::L) => "JL",
            Self::Jump(Condition::Always) => "JMP",
            Self::Mova => "MOVA",
            Self::Cmpa => "CMPA",
            Self::Adda => "ADDA",
            Self::Suba => "SUBA",
            Self::Rrcm => "RRCM",
            Self::Rram => "RRAM",
            Self::Rlam => "RLAM",
            Self::Rrum => "RRUM",
            Self::Calla => "CALLA",
            Self::Pushm => "PUSHM",
            Self::Popm => "POPM",
        }
    }

    /// Whether its operands have 20 bits without a suffix saying so.
    const fn is_address(self) -> bool {
        matches!(self, Self::Mova | Self::Cmpa | Self::Adda | Self::Suba | Self::Calla)
    }
}

struct Register(u8);

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("PC"),
            1 => f.write_str("SP"),
            2 => f.write_str("SR"),
            n => write!(f, "R{n}"),
        }
    }
}

/// An operand of an instruction of this length.
struct Shown(Operand, Size);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::None => Ok(()),
            Operand::Reg(reg) => Register(reg).fmt(f),
            Operand::Constant(value) if value == self.1.mask() => f.write_str("#-1"),
            Operand::Constant(value) => write!(f, "#{value}"),
            Operand::Immediate(value) => write!(f, "#{value:#x}"),
            Operand::Indexed { reg, index, .. } => write!(f, "{index}({})", Register(reg)),
            Operand::Symbolic(addr) => write!(f, "{addr:#x}"),
            Operand::Absolute(addr) => write!(f, "&{addr:#x}"),
            Operand::Indirect(reg) => write!(f, "@{}", Register(reg)),
            Operand::Increment(reg) => write!(f, "@{}+", Register(reg)),
        }
    }
}

impl fmt::Display for Insn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.repeat {
            Repeat::Times(1) => {}
            Repeat::Times(n) => write!(f, "RPT #{n} {{ ")?,
            Repeat::Register(reg) => write!(f, "RPT {} {{ ", Register(reg))?,
        }
        // RRC with carry taken as zero has a name of its own.
        let name = match (self.mnemonic, self.zero_carry) {
            (Mnemonic::Rrc, true) => "RRU",
            (mnemonic, _) => mnemonic.name(),
        };
        f.write_str(name)?;
        if self.extended {
            f.write_str("X")?;
        }
        match self.size {
            _ if self.mnemonic.is_address() => {}
            Size::B => f.write_str(".B")?,
            Size::A => f.write_str(".A")?,
            Size::W => {}
        }
        if let Mnemonic::Jump(_) = self.mnemonic {
            let Operand::Immediate(target) = self.dst else { return Err(fmt::Error) };
            return write!(f, " {target:#x}");
        }
        // The assembler writes the constants of address instructions as the registers that make them.
        let named = match (self.mnemonic, self.src) {
            (Mnemonic::Cmpa | Mnemonic::Adda | Mnemonic::Suba, Operand::Constant(4)) => {
                Operand::Reg(2)
            }
            (Mnemonic::Cmpa | Mnemonic::Adda | Mnemonic::Suba, Operand::Constant(_)) => {
                Operand::Reg(3)
            }
            (_, src) => src,
        };
        let (src, dst) = (Shown(named, self.size), Shown(self.dst, self.size));
        match (self.src, self.dst) {
            (Operand::None, Operand::None) => Ok(()),
            (Operand::None, _) => write!(f, " {dst}"),
            _ => write!(f, " {src}, {dst}"),
        }
    }
}
