// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a machine stopped: every fault names the instruction, the address and what would be right.

use std::fmt;

/// Reason for which an instruction could not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The words at the program counter are no instruction of this CPU.
    IllegalOpcode {
        word: u16,
        /// What the manual says about it.
        reason: &'static str,
    },
    /// A word access at an odd address. Hardware ignores the lowest bit; programs that need that are wrong.
    Misaligned,
    /// Nothing is mapped at the address.
    Unmapped,
    /// An instruction was fetched from an address that holds no code.
    NotCode,
    /// The program counter became odd.
    OddProgramCounter,
    /// A write to memory that cannot be written this way (flash without its controller, ROM).
    ReadOnly,
    /// A rule of the device: the sentence is the machine's.
    Device(String),
}

/// A fault at an instruction and an address. Two words wide, so that memory accesses stay cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault(Box<Detail>);

#[derive(Clone, PartialEq, Eq)]
struct Detail {
    kind: FaultKind,
    addr: u32,
    pc: Option<u32>,
    instruction: Option<String>,
}

/// Calls with one argument, so that the fast path of a memory access needs no stack for them.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $kind:ident,)*) => { $(
        $(#[$doc])*
        #[cold]
        #[inline(never)]
        #[must_use]
        pub fn $name(addr: u32) -> Self {
            Self::new(FaultKind::$kind, addr)
        }
    )* };
}

impl Fault {
    /// A fault at data or code address `addr`; the core adds the program counter.
    #[cold]
    #[must_use]
    pub fn new(kind: FaultKind, addr: u32) -> Self {
        Self(Box::new(Detail { kind, addr, pc: None, instruction: None }))
    }

    kinds! {
        /// Nothing is mapped at `addr`.
        unmapped: Unmapped,
        /// A word access at the odd address `addr`.
        misaligned: Misaligned,
        /// A store that cannot change `addr`.
        read_only: ReadOnly,
        /// A fetch from `addr`, which holds no code.
        not_code: NotCode,
        /// The program counter became the odd address `addr`.
        odd_program_counter: OddProgramCounter,
    }

    /// A fault with the machine's own sentence.
    #[cold]
    #[must_use]
    pub fn device(addr: u32, sentence: impl Into<String>) -> Self {
        Self::new(FaultKind::Device(sentence.into()), addr)
    }

    /// The same fault, at the instruction at `pc` unless it already names one.
    #[cold]
    #[must_use]
    pub fn at_pc(mut self, pc: u32) -> Self {
        self.0.pc.get_or_insert(pc);
        self
    }

    /// The same fault, naming the instruction that did it.
    #[cold]
    #[must_use]
    pub fn in_instruction(mut self, text: String) -> Self {
        self.0.instruction = Some(text);
        self
    }

    /// The same, of what was decoded there; words that are no instruction have no name.
    #[cold]
    pub(crate) fn in_decoded<E>(self, insn: Result<impl fmt::Display, E>) -> Self {
        match insn {
            Ok(insn) => self.in_instruction(insn.to_string()),
            Err(_) => self,
        }
    }

    /// Reason for which an instruction could not run.
    #[must_use]
    pub fn kind(&self) -> &FaultKind {
        &self.0.kind
    }

    /// Address of the access that failed.
    #[must_use]
    pub fn addr(&self) -> u32 {
        self.0.addr
    }

    /// The text of the instruction that did it; `None` where the words are no instruction.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.0.instruction.as_deref()
    }

    /// Where the instruction is that did it; `None` for a fault that no instruction caused.
    #[must_use]
    pub fn pc(&self) -> Option<u32> {
        self.0.pc
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("kind", &self.0.kind)
            .field("addr", &format_args!("{:#07x}", self.0.addr))
            .field("pc", &self.0.pc.map(|pc| format!("{pc:#07x}")))
            .finish()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addr = self.0.addr;
        match &self.0.kind {
            FaultKind::IllegalOpcode { word, reason } => {
                write!(f, "illegal opcode {word:#06x} at {addr:#07x}: {reason}")?;
            }
            FaultKind::Misaligned => {
                write!(f, "word access at odd address {addr:#07x}; words lie at even addresses")?;
            }
            FaultKind::Unmapped => write!(
                f,
                "access to {addr:#07x}, where this device has neither memory nor a peripheral"
            )?,
            FaultKind::NotCode => write!(
                f,
                "instruction fetch from {addr:#07x}, which is not code memory on this device"
            )?,
            FaultKind::OddProgramCounter => {
                write!(f, "jump to odd address {addr:#07x}; instructions lie at even addresses")?;
            }
            FaultKind::ReadOnly => write!(
                f,
                "write to {addr:#07x}, which a plain store cannot change; use the memory's controller"
            )?,
            FaultKind::Device(sentence) => write!(f, "{sentence} (address {addr:#07x})")?,
        }
        match (self.0.pc, &self.0.instruction) {
            (Some(pc), Some(text)) => write!(f, " [pc {pc:#07x}: {text}]"),
            (Some(pc), None) => write!(f, " [pc {pc:#07x}]"),
            (None, _) => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_sentence_with_both_addresses() {
        let fault = Fault::new(FaultKind::Misaligned, 0x1C01).at_pc(0x5C00).at_pc(0x1234);
        assert_eq!(
            fault.to_string(),
            "word access at odd address 0x01c01; words lie at even addresses [pc 0x05c00]"
        );
        assert_eq!((fault.addr(), fault.pc()), (0x1C01, Some(0x5C00)));
        let named = fault.in_instruction("MOV @R5, R6".to_owned());
        assert!(named.to_string().ends_with("[pc 0x05c00: MOV @R5, R6]"), "{named}");
    }

    #[test]
    fn a_memory_access_returns_in_two_registers() {
        assert!(size_of::<Result<u16, Fault>>() <= 16);
        assert_eq!(size_of::<Result<(), Fault>>(), 8);
    }
}
