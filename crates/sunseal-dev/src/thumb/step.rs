// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single-step files of Armv7E-M: the core's instructions, and those of the floating-point unit with its registers.

use sunseal_isa::thumb::{Bus, Cpu, Exit, Kind, Scb, State, Timing, control, decode, fpscr, psr};
use sunseal_isa::{Cycles, Fault, Width};

use super::draw::{aim, choose, is_float, name};
use crate::memory::{Memory, single_step};
use crate::random::Random;
use crate::single_step::{Accesses, Core, Step};

const PC: usize = 15;
const XPSR: usize = 16;
const FPSCR: usize = 17;
const S: usize = 18;

/// The names of the chapters of A7.7 that have files. Those that lead out of the core have none: BKPT, CPS, MRS and MSR of
/// other registers than APSR, SVC, UDF, WFE, WFI, SEV.
#[rustfmt::skip]
const INTEGER: &[&str] = &[
    "ADC", "ADD", "ADDW", "ADR", "AND", "ASR", "B", "BFC", "BFI", "BIC", "BL", "BLX", "BX", "CBNZ", "CBZ", "CLREX", "CLZ",
    "CMN", "CMP", "DBG", "DMB", "DSB", "EOR", "IT", "ISB", "LDM", "LDMDB", "LDR", "LDRB", "LDRBT", "LDRD", "LDREX", "LDREXB",
    "LDREXH", "LDRH", "LDRHT", "LDRSB", "LDRSBT", "LDRSH", "LDRSHT", "LDRT", "LSL", "LSR", "MLA", "MLS", "MOV", "MOVT",
    "MOVW", "MRS", "MSR", "MUL", "MVN", "NOP", "ORN", "ORR", "PKHBT", "PKHTB", "PLD", "PLI", "POP", "PUSH", "QADD", "QADD16",
    "QADD8", "QASX", "QDADD", "QDSUB", "QSAX", "QSUB", "QSUB16", "QSUB8", "RBIT", "REV", "REV16", "REVSH", "ROR", "RRX",
    "RSB", "SADD16", "SADD8", "SASX", "SBC", "SBFX", "SDIV", "SEL", "SHADD16", "SHADD8", "SHASX", "SHSAX", "SHSUB16",
    "SHSUB8", "SMLABB", "SMLABT", "SMLATB", "SMLATT", "SMLAD", "SMLADX", "SMLAL", "SMLALBB", "SMLALBT", "SMLALTB", "SMLALTT",
    "SMLALD", "SMLALDX", "SMLAWB", "SMLAWT", "SMLSD", "SMLSDX", "SMLSLD", "SMLSLDX", "SMMLA", "SMMLAR", "SMMLS", "SMMLSR",
    "SMMUL", "SMMULR", "SMUAD", "SMUADX", "SMULBB", "SMULBT", "SMULTB", "SMULTT", "SMULL", "SMULWB", "SMULWT", "SMUSD",
    "SMUSDX", "SSAT", "SSAT16", "SSAX", "SSUB16", "SSUB8", "STM", "STMDB", "STR", "STRB", "STRBT", "STRD", "STREX", "STREXB",
    "STREXH", "STRH", "STRHT", "STRT", "SUB", "SUBW", "SXTAB", "SXTAB16", "SXTAH", "SXTB", "SXTB16", "SXTH", "TBB", "TBH",
    "TEQ", "TST", "UADD16", "UADD8", "UASX", "UBFX", "UDIV", "UHADD16", "UHADD8", "UHASX", "UHSAX", "UHSUB16", "UHSUB8",
    "UMAAL", "UMLAL", "UMULL", "UQADD16", "UQADD8", "UQASX", "UQSAX", "UQSUB16", "UQSUB8", "USAD8", "USADA8", "USAT",
    "USAT16", "USAX", "USUB16", "USUB8", "UXTAB", "UXTAB16", "UXTAH", "UXTB", "UXTB16", "UXTH", "YIELD",
];

#[rustfmt::skip]
const FLOAT: &[&str] = &[
    "VABS", "VADD", "VCMP", "VCMPE", "VCVT", "VCVTB", "VCVTR", "VCVTT", "VDIV", "VFMA", "VFMS", "VFNMA", "VFNMS", "VLDMDB",
    "VLDMIA", "VLDR", "VMLA", "VMLS", "VMOV", "VMRS", "VMSR", "VMUL", "VNEG", "VNMLA", "VNMLS", "VNMUL", "VPOP", "VPUSH",
    "VSQRT", "VSTMDB", "VSTMIA", "VSTR", "VSUB",
];

#[rustfmt::skip]
const REGISTERS: &[&str] = &[
    "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "xPSR", "FPSCR",
    "S0", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13", "S14", "S15", "S16", "S17",
    "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S27", "S28", "S29", "S30", "S31",
];

/// Armv7E-M as single-step files are made from it.
pub struct Thumb {
    cpu: Cpu,
    float: bool,
}

impl Thumb {
    /// The instructions of the core.
    #[must_use]
    pub fn integer() -> Self {
        Self { cpu: Cpu::new(Timing::CORTEX_M4), float: false }
    }

    /// Those of the floating-point unit.
    #[must_use]
    pub fn float() -> Self {
        Self { float: true, ..Self::integer() }
    }
}

struct StepBus<'a> {
    memory: &'a mut Memory,
    scb: Scb,
}

impl Bus for StepBus<'_> {
    fn read(&mut self, addr: u32, width: Width, _: Cycles) -> Result<u32, Fault> {
        if addr > 0xFFFF_FF00 {
            return Err(Fault::unmapped(addr));
        }
        Ok(self.memory.read(addr, width.bytes()))
    }
    fn write(&mut self, addr: u32, width: Width, value: u32, _: Cycles) -> Result<(), Fault> {
        if addr > 0xFFFF_FF00 {
            return Err(Fault::unmapped(addr));
        }
        self.memory.write(addr, width.bytes(), value);
        Ok(())
    }
    single_step!();
    fn scb(&self) -> &Scb {
        &self.scb
    }
    fn scb_mut(&mut self) -> &mut Scb {
        &mut self.scb
    }
}

/// ITSTATE for one instruction with this condition, as xPSR has it.
fn last_of_block(condition: u32) -> u32 {
    let it = condition << 4 | 8;
    (it & 3) << 25 | (it & 0xFC) << 8
}

impl Core for Thumb {
    fn name(&self) -> &'static str {
        if self.float { "thumb-float" } else { "thumb" }
    }

    fn about(&self) -> &'static str {
        "Armv7E-M as the Cortex-M4F has it (DDI 0403E; cycles of TRM r0p1 with zero wait states and the switches of `Timing::CORTEX_M4` in sunseal-isa), privileged Thread mode on the main stack, CCR 0x200. Nothing is in the pipeline before: no load to pair with, no address that was just computed. xPSR may have ITSTATE for this one instruction. R15 is the address of the instruction, and of the next. FPCCR.ASPEN is clear. A load accesses memory in its last cycle, a store of one cycle in that, transfers of several words in their last cycles, one after the other; unaligned accesses are several."
    }

    fn registers(&self) -> &'static [&'static str] {
        if self.float { REGISTERS } else { &REGISTERS[..FPSCR] }
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        if self.float { FLOAT.to_vec() } else { INTEGER.to_vec() }
    }

    fn draw(&mut self, mnemonic: &str, random: &mut Random, memory: &mut Memory) -> Vec<u32> {
        let mut registers: Vec<u32> = (0..PC).map(|_| random.value(32)).collect();
        registers[13] &= !3;
        registers.push(random.word() & 0x0FFF_FFFE);
        let mut xpsr = random.word() & psr::APSR | psr::T;
        if random.one_in(6) {
            xpsr |= last_of_block(random.below(14));
        }
        // These are in no IT block.
        if matches!(mnemonic, "CBZ" | "CBNZ" | "IT") {
            xpsr &= !psr::IT;
        }
        registers.push(xpsr);
        self.cpu.psr = xpsr;
        let context = self.cpu.context();
        let float = self.float;
        let words = choose(random, context, |insn| {
            let other = matches!(
                insn.kind,
                Kind::Mrs { special: 4.., .. } | Kind::Msr { special: 4.., .. }
            );
            is_float(insn) == float && !other && name(insn) == mnemonic
        });
        if self.float {
            registers.push(random.word() & fpscr::ALL);
            registers.extend((0..32).map(|_| super::unicorn::float(random)));
        }
        if !random.one_in(8) {
            aim(&words, context, &mut registers, random);
        }
        for (i, word) in words.iter().enumerate() {
            memory.place(registers[PC] + 2 * i as u32, &word.to_le_bytes());
        }
        registers
    }

    fn step(&mut self, registers: &[u32], memory: &mut Memory) -> Result<Step, String> {
        let mut state = State { psr: registers[XPSR], ..State::default() };
        state.r.copy_from_slice(&registers[..XPSR]);
        if self.float {
            state.fpscr = registers[FPSCR];
            state.s.copy_from_slice(&registers[S..]);
            state.control = control::FPCA;
        }
        self.cpu.set_state(&state);
        let mut bus = StepBus { memory, scb: Scb::default() };
        (bus.scb.cpacr, bus.scb.fpccr) = (0xF << 20, 0);
        let pc = registers[PC];
        let text = decode(pc, self.cpu.context(), |addr| bus.fetch(addr))
            .map_err(|why| format!("no instruction at {pc:#x}: {why:?}"))?
            .to_string();
        let mut accesses = Accesses::default();
        match self.cpu.step(&mut bus, &mut accesses) {
            Exit::Deadline | Exit::Status => {}
            exit => return Err(format!("{text} at {pc:#x} ends with {exit:?}")),
        }
        let mut after = self.cpu.r.to_vec();
        after.push(self.cpu.psr);
        if self.float {
            after.push(self.cpu.fpscr);
            after.extend(self.cpu.s);
        }
        Ok(Step { text, registers: after, cycles: self.cpu.cycles as u32, accesses: accesses.0 })
    }
}

#[cfg(test)]
mod tests {
    use sunseal_isa::thumb::Context;

    use super::*;

    #[test]
    fn every_instruction_that_can_be_drawn_has_a_file() {
        let mut random = Random::new(1, "names");
        let mut missing = std::collections::BTreeSet::new();
        let mut found = std::collections::BTreeSet::new();
        for _ in 0..200_000 {
            let words = choose(&mut random, Context::Outside, |_| true);
            let insn = super::super::draw::decoded(&words, Context::Outside).unwrap();
            let name = name(&insn);
            if !INTEGER.contains(&name.as_str()) && !FLOAT.contains(&name.as_str()) {
                missing.insert(name.clone());
            }
            found.insert(name);
        }
        let without = ["BKPT", "CPS", "SEV", "SVC", "UDF", "WFE", "WFI"];
        missing.retain(|name| !without.contains(&name.as_str()));
        assert!(missing.is_empty(), "{missing:?}");
        let never: Vec<_> =
            INTEGER.iter().chain(FLOAT).filter(|name| !found.contains(**name)).collect();
        assert!(never.is_empty(), "{never:?}");
    }
}
