// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is told of a run: findings, blocks that were given marked data, what became of secrets, what ran.

use super::*;

/// What is wrong at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// Marked data decides where the program goes.
    Branch,
    /// An address is made of marked data, and the memory there takes its time by what was accessed before
    /// (a cache, a read buffer, wait states).
    CachedAddress,
    /// An address is made of marked data; the memory takes the same time everywhere.
    Address,
    /// Marked data decides how many cycles the instruction takes: a division, a repeat count.
    Time,
    /// The instruction is not in the image: what it does to the marks is not known.
    Unknown,
}

impl FindingKind {
    pub(super) const COUNT: usize = 5;
    pub(super) const ALL: [Self; Self::COUNT] =
        [Self::Branch, Self::CachedAddress, Self::Address, Self::Time, Self::Unknown];

    /// A word for a table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::CachedAddress => "cached-address",
            Self::Address => "address",
            Self::Time => "time",
            Self::Unknown => "unknown",
        }
    }
}

/// An instruction that lets marked data out by the way it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub pc: u32,
    pub kind: FindingKind,
    pub count: u64,
    pub symbol: String,
    /// Its source line, where the image has debug lines.
    pub line: Option<SourceLine>,
    pub instruction: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            FindingKind::Branch => "goes where marked data leads",
            FindingKind::CachedAddress => {
                "has an address from marked data in memory with wait states"
            }
            FindingKind::Address => "has an address from marked data",
            FindingKind::Time => "takes time by marked data",
            FindingKind::Unknown => "is not in the image, so marks end here",
        };
        write!(f, "{:#07x} {}", self.pc, self.symbol)?;
        if let Some(line) = &self.line {
            write!(f, " ({line})")?;
        }
        write!(f, ": `{}` {what}, {} times", self.instruction, self.count)
    }
}

/// A peripheral block that was given marked data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Its name in the device's data.
    pub block: String,
    /// Whether marks go through it; if not, they end there.
    pub followed: bool,
    /// The instruction that gave it marked data first, where that is known.
    pub pc: Option<u32>,
}

/// What became of a byte that was marked as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Read,
    /// It was not read so far.
    Unread,
    /// Something else was written over it before it was read.
    Overwritten,
}

impl Taint {
    /// What became of the bytes of `range`, marked by [`mark_secret`](Self::mark_secret).
    pub fn fates(&self, range: Range<u32>) -> impl Iterator<Item = Fate> {
        range.map(|addr| match self.shadow[self.slot(addr)] {
            state if state & shadow::UNREAD == 0 => Fate::Read,
            state if state & shadow::MARKED != 0 => Fate::Unread,
            _ => Fate::Overwritten,
        })
    }

    /// The blocks that were given marked data, by name.
    #[must_use]
    pub fn crossings(&self) -> Vec<Crossing> {
        let name = |addr: u32| {
            let block = self.device.as_ref().and_then(|d| d.block_at(addr));
            block.map_or_else(|| format!("register {addr:#06x}"), str::to_owned)
        };
        let crossing = |addr, pc, followed| Crossing { block: name(addr), followed, pc };
        let mut found: BTreeMap<(String, bool), Crossing> = BTreeMap::new();
        let through =
            self.multipliers.iter().filter_map(|m| Some((m.base, Some(m.crossed?), true)));
        let mixed = self.rules.iter().filter_map(|rule| match rule {
            Rule::Mixer { input, crossed, .. } => Some((input.start, Some((*crossed)?), true)),
            _ => None,
        });
        let holes = self.holes.iter().map(|(&addr, &pc)| (addr, pc, false));
        for (addr, pc, followed) in through.chain(mixed).chain(holes) {
            let c = crossing(addr, pc.filter(|pc| *pc != NO_PC), followed);
            found.entry((c.block.clone(), followed)).or_insert(c);
        }
        found.into_values().collect()
    }

    /// Instructions that ran while something was marked in a register or what they read was.
    #[must_use]
    pub fn reached(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.reached.iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// The stretches of the image's functions that ran, and how many bytes all functions have. What lies between two
    /// functions, such as vectors and labels of assembly without a type, does not count.
    #[must_use]
    pub fn ran(&self, elf: &Elf) -> (Vec<Range<u32>>, u32) {
        let (mut ran, mut bytes): (Vec<Range<u32>>, u32) = (Vec::new(), 0);
        let mut end = 0;
        let functions = elf.symbols.iter().filter(|s| s.kind == SymbolKind::Function);
        for f in functions.filter(|f| f.size_bytes != 0 && elf.has_code(f.addr)) {
            let from = f.addr.max(end);
            end = end.max(f.addr.saturating_add(f.size_bytes.min(REGION_BYTES as u32)));
            bytes += end.saturating_sub(from);
            for pc in (from..end).step_by(2) {
                let place = self.slot(pc) / 2;
                if self.ran[place] == 0 && self.index[place] == 0 {
                    continue;
                }
                let next = pc + self.code.bytes(pc).unwrap_or(2);
                match ran.last_mut().filter(|last| last.end == pc) {
                    Some(last) => last.end = next,
                    None => ran.push(pc..next),
                }
            }
        }
        (ran, bytes)
    }

    /// Whether a byte of memory is marked.
    #[must_use]
    pub fn is_marked(&self, addr: u32) -> bool {
        self.shadow[self.slot(addr)] & shadow::MARKED != 0
    }

    /// Which bytes of `range` are marked.
    #[must_use]
    pub fn marked(&self, range: Range<u32>) -> Vec<bool> {
        range.map(|addr| self.is_marked(addr)).collect()
    }

    /// Whether a register is marked (numbers as in [`Observer::result`]).
    #[must_use]
    pub fn is_register_marked(&self, register: u8) -> bool {
        self.regs & self.set(Registers::of(register & 63)) != 0
    }

    /// Whether no marked data came out by the way the program ran.
    #[must_use]
    pub fn is_constant_time(&self) -> bool {
        self.counts.is_empty()
    }

    /// How often trusted code let marked data out.
    #[must_use]
    pub fn trusted_count(&self) -> u64 {
        self.trusted_count
    }

    /// What came out, by address.
    #[must_use]
    pub fn findings(&self, elf: &Elf) -> Vec<Finding> {
        let mut list = Vec::new();
        for &(pc, counts) in &self.counts {
            for kind in FindingKind::ALL {
                let count = counts[kind as usize];
                if count == 0 {
                    continue;
                }
                list.push(Finding {
                    pc,
                    kind,
                    count,
                    symbol: elf.describe(pc),
                    line: elf.line_at(pc),
                    instruction: self.code.text(pc).unwrap_or_else(|| "?".to_owned()),
                });
            }
        }
        list.sort_by_key(|f| (f.pc, f.kind));
        list
    }

    /// Forgets the findings, not the marks.
    pub fn clear_findings(&mut self) {
        self.counts.clear();
        self.counted.clear();
        self.recent.fill(0);
        self.trusted_count = 0;
    }
}
