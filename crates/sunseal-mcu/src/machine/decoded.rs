// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions as they lie in a machine's memory.

use sunseal_isa::{Fault, avr, msp430, thumb};

use super::Machine;
use crate::device::Architecture;
use crate::listing::Instruction;

impl Machine {
    /// The instruction at an address of memory as it is now; none where the bytes there are none, or no memory.
    /// `it` is the state of the IT block in front of it: 0 but on Thumb.
    #[must_use]
    pub fn instruction(&self, pc: u32, it: u8) -> Option<Instruction> {
        let half = |addr: u32| match self.read_mem(addr, 2) {
            Ok(bytes) => Ok(u16::from_le_bytes([bytes[0], bytes[1]])),
            Err(_) => Err(Fault::not_code(addr)),
        };
        let (bytes, text, it_behind) = match self.device().architecture() {
            Architecture::Msp430 => {
                let family = match self.device().core.as_str() {
                    "cpu" => msp430::Family::Cpu,
                    _ => msp430::Family::CpuXV2,
                };
                let insn = msp430::decode_for(family, pc, half).ok()?;
                (2 * u32::from(insn.words), insn.to_string(), 0)
            }
            Architecture::Avr => {
                let insn = avr::decode(pc / 2, |word| half(2 * word)).ok()?;
                (2 * u32::from(insn.words), insn.to_string(), 0)
            }
            Architecture::Arm => {
                let insn = thumb::decode(pc, thumb::Context::of(it), half).ok()?;
                let behind = match insn.kind {
                    thumb::Kind::It { first, mask } => first << 4 | mask,
                    _ => thumb::it_behind(it),
                };
                (u32::from(insn.bytes), insn.to_string(), behind)
            }
        };
        Some(Instruction { bytes, text, it_behind })
    }
}
