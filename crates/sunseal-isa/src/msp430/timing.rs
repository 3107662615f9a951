// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cycle table a device follows, and the forms whose count or effect is disputed.

use super::insn::{Insn, MASK20, Mnemonic, Operand, Size};
use super::op::mode;
use super::{PC, SP};
use crate::Switch;

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

impl Family {
    /// The bits of a register and of an address: 16, or 20 of an MSP430X.
    #[must_use]
    pub const fn mask(self) -> u32 {
        match self {
            Self::Cpu => 0xFFFF,
            Self::CpuX | Self::CpuXV2 => MASK20,
        }
    }

    /// Registers of peripherals lie below this address.
    pub(crate) const fn io_end(self) -> u32 {
        match self {
            Self::Cpu => 0x200,
            Self::CpuX | Self::CpuXV2 => 0x1000,
        }
    }
}

/// What DADD leaves in V, which the manual calls undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DaddOverflow {
    Keep,
    Clear,
}

/// The timing of a device: its family, and a named switch for each form about which sources differ.
/// The defaults follow TI's tables; docs/accuracy.md says what would settle each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    pub family: Family,
    /// CPU: MOV and others `@Rn, PC` take 3 cycles (TI's MSP Debug Stack, openMSP430), not the 2 of SLAU049
    /// table 3-16.
    pub indirect_to_pc_takes_3: bool,
    /// CPU: `PUSH @Rn+` takes 4 cycles (TI's MSP Debug Stack, openMSP430), not the 5 of SLAU049 table 3-15.
    pub push_increment_takes_4: bool,
    /// CPU, CPUX: `#N, PC` takes 4 cycles, as a comment in TI's MSP Debug Stack says of silicon, not the 3 of
    /// SLAU049 table 3-16.
    pub immediate_to_pc_takes_4: bool,
    /// CPUX: `CALLA X(Rn)` takes the 5 cycles of `CALLA @Rn`, as SLAU445I table 4-17 has it relative to its other rows,
    /// not the 6 of TI's MSP Debug Stack.
    pub calla_indexed_takes_5: bool,
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
    /// `PUSH SP` stores SP as it was, not as decremented (SLAU445I figure 4-8). So does CPUXV2: an FR5994 as Ghidra's
    /// maintainers observed it ("in conflict with documentation").
    pub push_sp_stores_old: bool,
    /// PUSH and CALL with `@SP` or `@SP+` read behind the decrement of SP (openMSP430's RTL), not before it (Ghidra's
    /// model of the FR5994). With `X(SP)` they do so always: both agree.
    pub push_call_indirect_sp_after: bool,
    /// PUSHX with `X(SP)`, `@SP` or `@SP+` reads behind the decrement of SP, as PUSH does with `X(SP)`; nobody says.
    pub pushx_indexed_sp_after: bool,
    /// `CALLA X(SP)` makes its address behind the decrement of SP by 4, not before it as SLAU445I has CALLA.
    pub calla_indexed_sp_after: bool,
    /// SXTX with the ZC bit extends from bit 15, not bit 7 (seen on an FR5739 by mspdebug's author).
    pub sxtx_zc_extends_bit_15: bool,
    /// The V flag of DADD.
    pub dadd_overflow: DaddOverflow,
    /// Whether a word access at an odd address is a fault. Hardware clears the lowest address bit
    /// and goes on.
    pub trap_misaligned: bool,
}

switches!(Timing {
    indirect_to_pc_takes_3,
    push_increment_takes_4,
    immediate_to_pc_takes_4,
    calla_indexed_takes_5,
    address_immediate_takes_2,
    pc_write_one_less,
    calla_indexed_takes_7,
    pushx_a_indexed_takes_8,
    push_sp_stores_old,
    push_call_indirect_sp_after,
    pushx_indexed_sp_after,
    calla_indexed_sp_after,
    sxtx_zc_extends_bit_15,
    dadd_overflow,
    trap_misaligned,
} family);

impl Switch for DaddOverflow {
    const VALUES: &str = "keep or clear";
    fn read(text: &str) -> Option<Self> {
        match text {
            "keep" => Some(Self::Keep),
            "clear" => Some(Self::Clear),
            _ => None,
        }
    }
    fn show(&self) -> String {
        match self {
            Self::Keep => "keep".to_owned(),
            Self::Clear => "clear".to_owned(),
        }
    }
}

impl Timing {
    /// The tables of a family, disputed forms as the manual prints them.
    #[must_use]
    pub const fn new(family: Family) -> Self {
        Self {
            family,
            indirect_to_pc_takes_3: false,
            push_increment_takes_4: false,
            immediate_to_pc_takes_4: false,
            calla_indexed_takes_5: false,
            address_immediate_takes_2: false,
            pc_write_one_less: false,
            calla_indexed_takes_7: false,
            pushx_a_indexed_takes_8: false,
            push_sp_stores_old: matches!(family, Family::CpuXV2),
            push_call_indirect_sp_after: false,
            pushx_indexed_sp_after: true,
            calla_indexed_sp_after: false,
            sxtx_zc_extends_bit_15: false,
            dadd_overflow: DaddOverflow::Keep,
            trap_misaligned: true,
        }
    }

    /// CPU as in the MSP430F1611.
    pub const CPU: Self = Self::new(Family::Cpu);
    /// CPUX as in the MSP430F2618.
    pub const CPUX: Self = Self::new(Family::CpuX);
    /// CPUXV2 as in the MSP430F5438A.
    pub const CPUXV2: Self = Self::new(Family::CpuXV2);

    /// Cycles between the acceptance of an interrupt and its handler's first instruction: SLAU049 table 3-14 and
    /// section 2.2.3, SLAU144 and SLAU445I table 4-8.
    #[must_use]
    pub const fn interrupt_cycles(&self) -> u64 {
        match self.family {
            Family::Cpu | Family::CpuXV2 => 6,
            Family::CpuX => 5,
        }
    }

    /// Whether PUSH or CALL (`extended`: PUSHX) decrements SP before it makes an operand's address of it.
    pub(crate) fn stack_operand_after(&self, mode: u32, extended: bool) -> bool {
        match (extended, mode) {
            (true, _) => self.pushx_indexed_sp_after,
            (false, mode::IND | mode::INC) => self.push_call_indirect_sp_after,
            (false, _) => true,
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
            M::Reti => match self.family {
                Family::Cpu | Family::CpuXV2 => 5,
                Family::CpuX => 3,
            },
            M::Rrcm | M::Rram | M::Rlam | M::Rrum => count,
            M::Pushm | M::Popm => 2 + count * if insn.size == Size::A { 2 } else { 1 },
            M::Mova | M::Cmpa | M::Adda | M::Suba => self.address(insn),
            M::Calla => self.calla(insn.dst),
            M::Call => self.call(insn.dst),
            M::Push => self.push(insn),
            M::Rra | M::Rrc | M::Swpb | M::Sxt => rotate(insn),
            _ => self.double(insn),
        }
    }

    /// SLAU049 table 3-16; SLAU445I tables 4-10 and 4-18 and what stands for them in SLAU144.
    fn double(&self, insn: &Insn) -> u8 {
        use Mnemonic::{Bit, Cmp, Mov};
        let source = source_column(insn.src);
        let long = insn.size == Size::A;
        match insn.dst {
            Operand::Reg(reg) if usize::from(reg) == PC => self.double_to_pc(insn, source),
            Operand::Reg(_) => match (insn.extended, long) {
                (false, _) => [1, 2, 2, 2, 3][source],
                (true, false) => [2, 3, 3, 3, 4][source],
                (true, true) => [2, 4, 4, 3, 5][source],
            },
            _ => {
                // The MSP430X leaves out the read of a destination that it does not need.
                let short = self.family != Family::Cpu && matches!(insn.mnemonic, Mov | Bit | Cmp);
                let short = u8::from(short);
                match (insn.extended, long) {
                    (false, _) => [4, 5, 5, 5, 6][source] - short,
                    (true, false) => [5, 6, 6, 6, 7][source] - short,
                    (true, true) => [7, 9, 9, 8, 10][source] - 2 * short,
                }
            }
        }
    }

    /// The rows of those tables whose destination is PC.
    fn double_to_pc(&self, insn: &Insn, source: usize) -> u8 {
        let adds = matches!(insn.mnemonic, Mnemonic::Mov | Mnemonic::Add | Mnemonic::Sub);
        let long = insn.size == Size::A;
        // Footnote 4 of the extended instructions' table.
        let less = u8::from(insn.extended && adds && source >= 3);
        let immediate = u8::from(source == 3 && self.immediate_to_pc_takes_4);
        match (self.family, insn.extended, long) {
            (Family::Cpu, ..) => {
                let indirect = u8::from(source == 1 && self.indirect_to_pc_takes_3);
                [2, 2, 3, 3, 3][source] + indirect + immediate
            }
            (Family::CpuX, false, _) => [2, 3, 3, 3, 3][source] + immediate,
            (Family::CpuX, true, false) => [3, 3, 4, 4, 5][source] - less,
            (Family::CpuX, true, true) => [3, 4, 5, 4, 6][source] - less,
            (Family::CpuXV2, false, _) => {
                [3, 4, 4, 3, 5][source] - u8::from(adds && self.pc_write_one_less)
            }
            (Family::CpuXV2, true, false) => [4, 5, 5, 4, 6][source] - less,
            (Family::CpuXV2, true, true) => [4, 6, 6, 4, 7][source] - less,
        }
    }

    /// SLAU049 table 3-15, SLAU445I table 4-9.
    fn call(&self, dst: Operand) -> u8 {
        let place = source_column(dst);
        match self.family {
            Family::Cpu => [4, 4, 5, 5, 5][place],
            Family::CpuX => [3, 4, 4, 4, 4][place] + u8::from(by_stack(dst)),
            Family::CpuXV2 => {
                [4, 4, 4, 4, 5][place] + u8::from(matches!(dst, Operand::Absolute(_)))
            }
        }
    }

    /// Cycles of an address instruction (SLAU208, table 4-19).
    fn address(&self, insn: &Insn) -> u8 {
        let to_pc = insn.dst == Operand::Reg(PC as u8);
        // What fetching from the new place adds: CPUXV2 by the table, CPUX by TI's MSP Debug Stack.
        let (register, memory) = match self.family {
            Family::CpuXV2 => (2, 2),
            Family::Cpu | Family::CpuX => (1, 0),
        };
        let (register, memory) = if to_pc { (register, memory) } else { (0, 0) };
        match (insn.src, insn.dst) {
            (_, Operand::Absolute(_) | Operand::Indexed { .. } | Operand::Symbolic(_)) => 4,
            (Operand::Reg(_) | Operand::Constant(_), _) => 1 + register,
            (Operand::Immediate(_), _) => match (insn.mnemonic, to_pc) {
                (Mnemonic::Mova, false) => 2,
                (Mnemonic::Mova, true) | (_, true) => 3,
                (_, false) => 3 - u8::from(self.address_immediate_takes_2),
            },
            (Operand::Indirect(_) | Operand::Increment(_), _) => 3 + memory,
            _ => 4 + memory,
        }
    }

    /// Cycles of CALLA (SLAU208, table 4-17).
    fn calla(&self, dst: Operand) -> u8 {
        let first = self.family != Family::CpuXV2;
        let stack = u8::from(by_stack(dst));
        match dst {
            Operand::Reg(_) | Operand::Immediate(_) => 5 - u8::from(first),
            Operand::Indirect(_) | Operand::Increment(_) => 6 - u8::from(first),
            Operand::Indexed { .. } if first => 6 - u8::from(self.calla_indexed_takes_5) + stack,
            Operand::Indexed { .. } => 5 + 2 * u8::from(self.calla_indexed_takes_7) + stack,
            _ => 7 - u8::from(first),
        }
    }

    /// SLAU049 table 3-15, SLAU445I tables 4-9 and 4-17, PUSH.
    fn push(&self, insn: &Insn) -> u8 {
        let place = source_column(insn.dst);
        let stack = u8::from(by_stack(insn.dst)); // footnote 1
        match (self.family, insn.extended, insn.size) {
            (Family::Cpu, ..) => {
                [3, 4, 5, 4, 5][place] - u8::from(place == 2 && self.push_increment_takes_4)
            }
            (Family::CpuX, false, _) => [3, 3, 3, 3, 4][place] + stack,
            (Family::CpuXV2, false, _) => [3, 3, 3, 3, 4][place],
            (_, true, Size::A) => {
                let indexed = matches!(insn.dst, Operand::Indexed { .. });
                let more = u8::from(indexed && self.pushx_a_indexed_takes_8);
                [5, 6, 6, 5, 7][place] + stack + more
            }
            (_, true, _) => [4, 4, 4, 4, 5][place] + stack,
        }
    }
}

/// Where a source stands in the tables: register or constant, `@Rn`, `@Rn+`, `#N`, memory.
fn source_column(operand: Operand) -> usize {
    match operand {
        Operand::Indirect(_) => 1,
        Operand::Increment(_) => 2,
        Operand::Immediate(_) => 3,
        Operand::Indexed { .. } | Operand::Symbolic(_) | Operand::Absolute(_) => 4,
        _ => 0,
    }
}

/// `X(SP)`, which some instructions that use the stack take longer for.
fn by_stack(operand: Operand) -> bool {
    matches!(operand, Operand::Indexed { reg, .. } if usize::from(reg) == SP)
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
