// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cycle table a device follows, and the forms whose count or effect is disputed.

use super::PC;
use super::insn::{Insn, Mnemonic, Operand, Size};

/// The three timings that MSP430 cores have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// MSP430 CPU of the 1xx devices (SLAU049).
    Cpu,
    /// First MSP430X CPU, of the 2xx and 4xx devices (SLAU144, SLAU056).
    CpuX,
    /// MSP430X CPU version 2, of the 5xx, 6xx and FR devices (SLAU208, SLAU367, SLAU445).
    CpuXV2,
}

/// A timing that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimingError {
    /// The family has no tables here.
    #[error("CPU timing family {0:?} has no cycle tables in this version; CpuXV2 has")]
    NotImplemented(Family),
}

/// What DADD leaves in V, which the manual calls undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DaddOverflow {
    /// What was there.
    Keep,
    /// Zero.
    Clear,
}

/// The timing of a device: its family, and a named switch for each form about which sources differ.
/// The defaults follow TI's tables; docs/accuracy.md says what would settle each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// The cycle tables.
    pub family: Family,
    /// ADDA, SUBA, CMPA `#imm20, Rm` take 2 cycles (measured on an FR5739 by mspdebug's author),
    /// not the 3 of SLAU445I table 4-19.
    pub address_immediate_takes_2: bool,
    /// MOV, ADD, SUB to PC without extension word take one cycle less than SLAU445I table 4-10, as
    /// table 4-18 footnote 4 says of the extended forms (mspdebug's simx counts so).
    pub pc_write_one_less: bool,
    /// `CALLA X(Rn)` takes the 7 cycles of `CALLA EDE`, not the 5 of SLAU445I table 4-17.
    pub calla_indexed_takes_7: bool,
    /// `PUSHX.A X(Rn)` takes 8 cycles (simx), not the 7 of SLAU445I table 4-17.
    pub pushx_a_indexed_takes_8: bool,
    /// `PUSH SP` stores SP as it was, not as decremented (SLAU445I figure 4-8).
    pub push_sp_stores_old: bool,
    /// SXTX with the ZC bit extends from bit 15, not bit 7 (seen on an FR5739 by mspdebug's author).
    pub sxtx_zc_extends_bit_15: bool,
    /// The V flag of DADD.
    pub dadd_overflow: DaddOverflow,
    /// Whether a word access at an odd address is a fault. Hardware clears the lowest address bit
    /// and goes on.
    pub trap_misaligned: bool,
}

impl Timing {
    /// The tables of a family, disputed forms as the manual prints them.
    #[must_use]
    pub const fn new(family: Family) -> Self {
        Self {
            family,
            address_immediate_takes_2: false,
            pc_write_one_less: false,
            calla_indexed_takes_7: false,
            pushx_a_indexed_takes_8: false,
            push_sp_stores_old: false,
            sxtx_zc_extends_bit_15: false,
            dadd_overflow: DaddOverflow::Keep,
            trap_misaligned: true,
        }
    }

    /// CPUXV2 as in the MSP430F5438A.
    pub const CPUXV2: Self = Self::new(Family::CpuXV2);

    pub(crate) fn check(&self) -> Result<(), TimingError> {
        match self.family {
            Family::CpuXV2 => Ok(()),
            family => Err(TimingError::NotImplemented(family)),
        }
    }

    /// Cycles of one run of `insn` (a repeated instruction adds [`repeat_cycles`] for each more).
    pub(crate) fn cycles(&self, insn: &Insn) -> u8 {
        use Mnemonic as M;
        let count = match insn.src {
            Operand::Constant(n) => n as u8,
            _ => 0,
        };
        match insn.mnemonic {
            M::Jump(_) => 2,
            M::Reti => 5,
            M::Rrcm | M::Rram | M::Rlam | M::Rrum => count,
            M::Pushm | M::Popm => 2 + count * if insn.size == Size::A { 2 } else { 1 },
            M::Mova | M::Cmpa | M::Adda | M::Suba => self.address(insn),
            M::Calla => self.calla(insn.dst),
            M::Call => match insn.dst {
                Operand::Absolute(_) => 6,
                Operand::Symbolic(_) | Operand::Indexed { .. } => 5,
                _ => 4,
            },
            M::Push => self.push(insn),
            M::Rra | M::Rrc | M::Swpb | M::Sxt => rotate(insn),
            _ => self.double(insn),
        }
    }

    /// Tables 4-10 and 4-18.
    fn double(&self, insn: &Insn) -> u8 {
        use Mnemonic::{Add, Bit, Cmp, Mov, Sub};
        let source = match insn.src {
            Operand::Indirect(_) | Operand::Increment(_) => 1,
            Operand::Immediate(_) => 2,
            Operand::Indexed { .. } | Operand::Symbolic(_) | Operand::Absolute(_) => 3,
            _ => 0,
        };
        let long = insn.size == Size::A;
        match insn.dst {
            Operand::Reg(reg) if usize::from(reg) == PC => {
                let adds = matches!(insn.mnemonic, Mov | Add | Sub);
                let less = match (insn.extended, source) {
                    (true, 2 | 3) => adds,
                    (true, _) => false,
                    (false, _) => adds && self.pc_write_one_less,
                };
                let full = match (insn.extended, long) {
                    (false, _) => [3, 4, 3, 5][source],
                    (true, false) => [4, 5, 4, 6][source],
                    (true, true) => [4, 6, 4, 7][source],
                };
                full - u8::from(less)
            }
            Operand::Reg(_) => match (insn.extended, long) {
                (false, _) => [1, 2, 2, 3][source],
                (true, false) => [2, 3, 3, 4][source],
                (true, true) => [2, 4, 3, 5][source],
            },
            _ => {
                let short = u8::from(matches!(insn.mnemonic, Mov | Bit | Cmp));
                match (insn.extended, long) {
                    (false, _) => [4, 5, 5, 6][source] - short,
                    (true, false) => [5, 6, 6, 7][source] - short,
                    (true, true) => [7, 9, 8, 10][source] - 2 * short,
                }
            }
        }
    }

    /// Table 4-19.
    fn address(&self, insn: &Insn) -> u8 {
        let to_pc = insn.dst == Operand::Reg(PC as u8);
        match (insn.src, insn.dst) {
            (_, Operand::Absolute(_) | Operand::Indexed { .. } | Operand::Symbolic(_)) => 4,
            (Operand::Reg(_), _) => 1 + 2 * u8::from(to_pc),
            (Operand::Immediate(_), _) => match (insn.mnemonic, to_pc) {
                (Mnemonic::Mova, false) => 2,
                (Mnemonic::Mova, true) | (_, true) => 3,
                (_, false) => 3 - u8::from(self.address_immediate_takes_2),
            },
            (Operand::Indirect(_) | Operand::Increment(_), _) => 3 + 2 * u8::from(to_pc),
            _ => 4 + 2 * u8::from(to_pc),
        }
    }

    /// Table 4-17, CALLA.
    fn calla(&self, dst: Operand) -> u8 {
        match dst {
            Operand::Reg(_) | Operand::Immediate(_) => 5,
            Operand::Indirect(_) | Operand::Increment(_) => 6,
            Operand::Indexed { reg, .. } => {
                let base = if self.calla_indexed_takes_7 { 7 } else { 5 };
                base + u8::from(reg == 1)
            }
            _ => 7,
        }
    }

    /// Tables 4-9 and 4-17, PUSH.
    fn push(&self, insn: &Insn) -> u8 {
        let in_memory = matches!(
            insn.dst,
            Operand::Indexed { .. } | Operand::Symbolic(_) | Operand::Absolute(_)
        );
        let pointed = matches!(insn.dst, Operand::Indirect(_) | Operand::Increment(_));
        if !insn.extended {
            return 3 + u8::from(in_memory);
        }
        let by_stack = match insn.dst {
            Operand::Indexed { reg: 1, .. } => 1, // footnote 1
            _ => 0,
        };
        let indexed_a = match insn.dst {
            Operand::Indexed { .. } => u8::from(self.pushx_a_indexed_takes_8),
            _ => 0,
        };
        match (insn.size, in_memory, pointed) {
            (Size::A, true, _) => 7 + by_stack + indexed_a,
            (Size::A, _, true) => 6,
            (Size::A, ..) => 5,
            (_, true, _) => 5 + by_stack,
            _ => 4,
        }
    }
}

/// Tables 4-9 and 4-17: RRA, RRC, and SWPB and SXT, whose extended forms table 4-17 leaves out.
fn rotate(insn: &Insn) -> u8 {
    let place = match insn.dst {
        Operand::Reg(_) => 0,
        Operand::Indirect(_) | Operand::Increment(_) => 1,
        _ => 2,
    };
    match (insn.extended, insn.size) {
        (false, _) => [1, 3, 4][place],
        (true, Size::A) => [2, 6, 7][place],
        (true, _) => [2, 4, 5][place],
    }
}

/// What each run of a repeated instruction beyond the first costs: table 4-18 footnote 1 gives n + 1
/// cycles for n runs; for PUSHX, which no table repeats, what PUSHM costs a register.
pub(crate) fn repeat_cycles(push: bool, size: Size) -> u32 {
    if push && size == Size::A { 2 } else { 1 }
}

/// Cycles between the acceptance of an interrupt and its handler's first instruction, table 4-8.
pub(crate) const INTERRUPT_CYCLES: u64 = 6;
