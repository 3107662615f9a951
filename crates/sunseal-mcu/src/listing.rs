// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code of an image: instructions by address, their text and what they depend on; a listing of
//! what ran.

use std::collections::VecDeque;
use std::fmt::Write as _;

use sunseal_isa::{Dataflow, Fault, avr, msp430, thumb};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::elf::{Architecture, Elf, SymbolKind};

/// The longest function that is decoded from its start to find its IT blocks.
const FUNCTION_BYTES_MAX: u32 = 1 << 16;

/// The bytes of an image where the program sees them.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    architecture: Architecture,
    parts: Vec<(u32, Vec<u8>)>,
    /// Where functions begin: there, no Thumb instruction is conditional.
    starts: Vec<u32>,
}

impl Code {
    pub fn of(elf: &Elf) -> Self {
        let parts = elf.segments.iter().filter(|s| !s.data.is_empty());
        let mut parts: Vec<_> = parts.map(|s| (s.addr, s.data.clone())).collect();
        parts.sort_by_key(|p| p.0);
        let functions = elf.symbols.iter().filter(|s| s.kind == SymbolKind::Function);
        let mut starts: Vec<u32> = functions.map(|s| s.addr).collect();
        starts.sort_unstable();
        Self { architecture: elf.architecture, parts, starts }
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
            Architecture::Arm => Some(thumb::dataflow(&self.thumb(pc)?)),
        }
    }

    /// Length in bytes of the instruction at `pc`.
    pub fn bytes(&self, pc: u32) -> Option<u32> {
        Some(match self.architecture {
            Architecture::Msp430 => {
                2 * u32::from(msp430::decode(pc, |addr| self.fetch(addr)).ok()?.words)
            }
            Architecture::Avr => 2 * u32::from(self.avr(pc)?.words),
            Architecture::Arm => {
                if self.half(pc)? >> 11 >= 0x1D {
                    4
                } else {
                    2
                }
            }
        })
    }

    /// Decodes from the start of the function on: whether an IT block conditions an instruction is not
    /// written in it.
    fn thumb(&self, pc: u32) -> Option<thumb::Insn> {
        let end = self.starts.partition_point(|start| *start <= pc);
        let mut at = self.starts[..end].last().copied().unwrap_or(pc);
        if pc - at > FUNCTION_BYTES_MAX {
            at = pc;
        }
        let mut it = 0u8;
        loop {
            let insn = thumb::decode(at, thumb::Context::of(it), |addr| self.fetch(addr)).ok();
            if at >= pc {
                return insn.filter(|_| at == pc);
            }
            it = thumb::it_behind(it);
            if let Some(thumb::Insn { kind: thumb::Kind::It { first, mask }, .. }) = insn {
                it = first << 4 | mask;
            }
            // Constants between functions decode to anything.
            at += insn.map_or(2, |i| u32::from(i.bytes));
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
            Architecture::Arm => Some(self.thumb(pc)?.to_string()),
        }
    }
}

/// An instruction as it lies in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// How many bytes it has.
    pub bytes: u32,
    pub text: String,
    /// The state of the IT block (Thumb) behind it, where it runs in the order of addresses.
    pub it_behind: u8,
}

/// An instruction that ran, with its first accesses.
#[derive(Clone, Copy)]
struct Ran {
    at: Cycles,
    pc: u32,
    interrupt: Option<u32>,
    accesses: [Option<(Access, u32, Width, u32)>; 2],
    more: bool,
}

/// A listing of the last instructions that ran: for the window before something went wrong, or all of a
/// run that is shorter.
pub struct Listing {
    code: Code,
    ran: VecDeque<Ran>,
    keep: usize,
    now: Cycles,
    accesses: [Option<(Access, u32, Width, u32)>; 2],
    more: bool,
}

impl Listing {
    /// Keeps the last `instructions` of a run that begins in cycle `origin` (`Machine::cycles`).
    #[must_use]
    pub fn last(elf: &Elf, instructions: usize, origin: Cycles) -> Self {
        Self {
            code: Code::of(elf),
            ran: VecDeque::with_capacity(instructions.min(1 << 20)),
            keep: instructions,
            now: origin,
            accesses: [None; 2],
            more: false,
        }
    }

    /// A line for each instruction: the cycle in which it began, its address and place, its text, what it read
    /// and wrote.
    #[must_use]
    pub fn text(&self, elf: &Elf) -> String {
        let mut out = String::new();
        for r in &self.ran {
            let text = match r.interrupt {
                Some(vector) => format!("(interrupt by the vector at {vector:#06x})"),
                None => self.code.text(r.pc).unwrap_or_else(|| "?".to_owned()),
            };
            let place = elf.describe(r.pc);
            let _ = write!(out, "{:>10} {:#07x} {place:<28} {text}", r.at, r.pc);
            for (kind, addr, width, value) in r.accesses.into_iter().flatten() {
                let way = if kind == Access::Read { "->" } else { "<-" };
                let digits = 2 * width.bytes() as usize;
                let _ = write!(out, "  [{addr:#07x}]{way}{value:0digits$x}");
            }
            out.push_str(if r.more { " ...\n" } else { "\n" });
        }
        out
    }
}

impl Observer for Listing {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, cycles: u32, flow: Flow) {
        let interrupt = match flow {
            Flow::Interrupt { vector } => Some(vector),
            _ => None,
        };
        if self.ran.len() >= self.keep {
            self.ran.pop_front();
        }
        let accesses = std::mem::take(&mut self.accesses);
        let more = std::mem::take(&mut self.more);
        self.ran.push_back(Ran { at: self.now, pc, interrupt, accesses, more });
        self.now += Cycles::from(cycles);
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, _: Cycles) {
        match self.accesses.iter_mut().find(|a| a.is_none()) {
            Some(free) => *free = Some((kind, addr, width, value)),
            None => self.more = true,
        }
    }
}
