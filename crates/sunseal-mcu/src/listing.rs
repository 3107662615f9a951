// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code of an image: instructions by address, their text and what they depend on; a listing of
//! what ran.

use sunseal_isa::{Dataflow, Fault, avr, msp430};

use crate::elf::{Architecture, Elf};

/// The bytes of an image where the program sees them.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    architecture: Architecture,
    /// By address.
    parts: Vec<(u32, Vec<u8>)>,
}

impl Code {
    pub fn of(elf: &Elf) -> Self {
        let parts = elf.segments.iter().filter(|s| !s.data.is_empty());
        let mut parts: Vec<_> = parts.map(|s| (s.addr, s.data.clone())).collect();
        parts.sort_by_key(|p| p.0);
        Self { architecture: elf.architecture, parts }
    }

    fn half(&self, addr: u32) -> Option<u16> {
        let end = self.parts.partition_point(|(start, _)| *start <= addr);
        let (start, bytes) = self.parts[..end].last()?;
        let at = (addr - start) as usize;
        Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
    }

    fn fetch(&self, addr: u32) -> Result<u16, Fault> {
        self.half(addr).ok_or_else(|| Fault::not_code(addr))
    }

    pub fn dataflow(&self, pc: u32) -> Option<Dataflow> {
        match self.architecture {
            Architecture::Msp430 => {
                let insn = msp430::decode(pc, |addr| self.fetch(addr)).ok()?;
                Some(msp430::dataflow(&insn))
            }
            Architecture::Avr => Some(avr::dataflow(&self.avr(pc)?)),
            Architecture::Arm => None,
        }
    }

    fn avr(&self, pc: u32) -> Option<avr::Insn> {
        // The core counts words.
        avr::decode(pc / 2, |word| self.fetch(2 * word)).ok()
    }

    pub fn text(&self, pc: u32) -> Option<String> {
        match self.architecture {
            Architecture::Msp430 => {
                msp430::decode(pc, |addr| self.fetch(addr)).ok().map(|insn| insn.to_string())
            }
            Architecture::Avr => Some(self.avr(pc)?.to_string()),
            Architecture::Arm => None,
        }
    }
}
