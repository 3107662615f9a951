// SPDX-License-Identifier: MIT OR Apache-2.0
//! Write after read: what keeps a region of code from being run again after a loss of power.
//!
//! Code between two commits is run again from its beginning when the power was lost within. It comes to
//! the same end only if it writes no non-volatile byte that it has read before without having written it
//! first (Ransford and Lucia 2014; "idempotent" in Van Der Woude and Hicks 2016, Ratchet).

use std::collections::BTreeMap;

use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::device::{Device, RegionKind};
use crate::elf::{Architecture, Elf, SourceLine};

/// Why such hazards cannot be looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} has no non-volatile memory that plain loads and stores reach, so there is no write after read to \
     look for; take a device with FRAM or memory-mapped flash"
)]
pub struct NothingToWatch(String);

/// What a region has done to a byte first.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The region that did it; another one is as good as nothing.
    region: u32,
    written: bool,
    /// What the CPU last read or wrote there; at first what memory held.
    value: u8,
    pc: u32,
}

/// A range of addresses, and the place of its first byte among the cells.
struct Memory {
    start: u32,
    end: u32,
    cells: usize,
    /// Written words can only clear bits.
    flash: bool,
}

/// Where a byte was read, where written, which one.
type Key = (u32, u32, u32);

#[derive(Clone, Copy, Default)]
struct Counts {
    times: u64,
    changes: u64,
}

/// Looks for non-volatile bytes that are read and then written between two commits.
pub struct War {
    memories: Vec<Memory>,
    cells: Vec<Cell>,
    ignored: Vec<(u32, u32)>,
    commits: Vec<u32>,
    /// Of the commits, which were met.
    met: Vec<bool>,
    region: u32,
    /// The commit at the present instruction has been told.
    told: bool,
    found: BTreeMap<Key, Counts>,
    /// A byte that was read and was not what the CPU had left there.
    by_others: Option<u32>,
}

/// A hazard: bytes of one object, one reader, one writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    pub addr: u32,
    /// How many bytes from there to the highest.
    pub bytes: u32,
    /// The object they are in.
    pub symbol: Option<String>,
    /// Address of the instruction that reads, where it is, and its source line.
    pub read: Place,
    /// The same of the one that writes.
    pub write: Place,
    /// How often bytes were so written.
    pub times: u64,
    /// How often they became another value than the one read: else it did no harm this time.
    pub changes: u64,
}

/// Place of an instruction, by address and function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub pc: u32,
    pub symbol: String,
    pub line: Option<SourceLine>,
}

impl Place {
    fn of(elf: &Elf, pc: u32) -> Self {
        Self { pc, symbol: elf.describe(pc), line: elf.line_at(pc) }
    }
}

impl War {
    /// Watches the memory of a device that survives; an instruction at one of `commits` begins a new region.
    ///
    /// # Errors
    /// If the device has no such memory where loads and stores reach it.
    pub fn of(device: &Device, commits: &[u32]) -> Result<Self, NothingToWatch> {
        use RegionKind::{Flash, Fram, InfoFlash};
        let mut cells = 0;
        let kept = device.memory.iter().filter(|r| matches!(r.kind, Fram | Flash | InfoFlash));
        let memories: Vec<_> = kept
            .filter(|_| device.architecture() != Architecture::Avr)
            .map(|r| {
                let first = cells;
                cells += r.size_bytes() as usize;
                Memory { start: r.start, end: r.end, cells: first, flash: r.kind != Fram }
            })
            .collect();
        if memories.is_empty() {
            return Err(NothingToWatch(device.name.clone()));
        }
        let mut commits = commits.to_vec();
        commits.sort_unstable();
        Ok(Self {
            memories,
            cells: vec![Cell::default(); cells],
            ignored: Vec::new(),
            met: vec![false; commits.len()],
            commits,
            region: 1,
            told: false,
            found: BTreeMap::new(),
            by_others: None,
        })
    }

    /// Leaves bytes out that keep themselves consistent, such as double buffers.
    pub fn ignore(&mut self, addr: u32, bytes: u32) {
        self.ignored.push((addr, addr + bytes));
    }

    /// Learns what the memory holds before the run; `memory` reads it.
    pub fn begin<'a>(&mut self, memory: impl Fn(u32, usize) -> Option<&'a [u8]>) {
        for m in &self.memories {
            let cells = &mut self.cells[m.cells..];
            let bytes = memory(m.start, (m.end - m.start + 1) as usize).unwrap_or_default();
            cells.iter_mut().zip(bytes).for_each(|(cell, byte)| cell.value = *byte);
        }
    }

    /// The first byte that survives and is not what the CPU made of it: something wrote it that is not followed, a
    /// DMA controller or the erase of a flash segment. `memory` reads it behind the run.
    #[must_use]
    pub fn written_by_others<'a>(
        &self,
        memory: impl Fn(u32, usize) -> Option<&'a [u8]>,
    ) -> Option<u32> {
        self.by_others.or_else(|| {
            self.memories.iter().find_map(|m| {
                let size = (m.end - m.start + 1) as usize;
                let cells = &self.cells[m.cells..m.cells + size];
                let mut both = cells.iter().zip(memory(m.start, size).unwrap_or_default());
                let changed = both.position(|(cell, byte)| cell.value != *byte);
                changed.map(|i| m.start + i as u32)
            })
        })
    }

    /// How many regions ran.
    #[must_use]
    pub fn regions(&self) -> u32 {
        self.region
    }

    /// Commits at which no instruction ran.
    #[must_use]
    pub fn commits_unmet(&self) -> Vec<u32> {
        let each = self.commits.iter().zip(&self.met);
        each.filter(|(_, met)| !**met).map(|(pc, _)| *pc).collect()
    }

    fn commit_at(&mut self, pc: u32) {
        if let (false, Ok(i)) = (self.told, self.commits.binary_search(&pc)) {
            self.told = true;
            self.met[i] = true;
            self.region += 1;
        }
    }

    fn byte(&mut self, pc: u32, addr: u32, kind: Access, value: u8) {
        let Some(m) = self.memories.iter().find(|m| (m.start..=m.end).contains(&addr)) else {
            return;
        };
        let cell = &mut self.cells[m.cells + (addr - m.start) as usize];
        let fresh = cell.region != self.region;
        if kind == Access::Read && cell.value != value {
            self.by_others.get_or_insert(addr);
        }
        match kind {
            Access::Read if fresh => {
                *cell = Cell { region: self.region, written: false, value, pc };
            }
            Access::Read => cell.value = value,
            Access::Write => {
                let hazard = !fresh && !cell.written;
                let (read, changes) = (cell.pc, cell.value != value);
                let value = if m.flash { cell.value & value } else { value };
                *cell = Cell { region: self.region, written: true, value, pc };
                let ignored = || self.ignored.iter().any(|(a, b)| (*a..*b).contains(&addr));
                if hazard && !ignored() {
                    let counts = self.found.entry((read, pc, addr)).or_default();
                    counts.times += 1;
                    counts.changes += u64::from(changes);
                }
            }
        }
    }

    /// What was found, by where it is written.
    #[must_use]
    pub fn findings(&self, elf: &Elf) -> Vec<Hazard> {
        let object = |addr: u32| elf.object_at(addr).map(|s| s.name.clone());
        let mut by: BTreeMap<(u32, u32, Option<String>), Hazard> = BTreeMap::new();
        for (&(read, write, addr), counts) in &self.found {
            let symbol = object(addr);
            let hazard = by.entry((write, read, symbol.clone())).or_insert_with(|| Hazard {
                addr,
                bytes: 0,
                symbol,
                read: Place::of(elf, read),
                write: Place::of(elf, write),
                times: 0,
                changes: 0,
            });
            hazard.bytes = addr + 1 - hazard.addr;
            hazard.times += counts.times;
            hazard.changes += counts.changes;
        }
        by.into_values().collect()
    }
}

impl Observer for War {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, _: Flow) {
        self.commit_at(pc);
        self.told = false;
    }

    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, _: Cycles) {
        self.commit_at(pc);
        for (i, byte) in value.to_le_bytes().into_iter().enumerate().take(width.bytes() as usize) {
            self.byte(pc, addr + i as u32, kind, byte);
        }
    }
}
