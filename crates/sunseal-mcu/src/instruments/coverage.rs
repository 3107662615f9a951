// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coverage: how often each instruction ran, told by source line in the format of lcov.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::elf::{Elf, SymbolKind};

const PAGE: usize = 2048;

/// Counters by half the address, wherever the code is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pages: Vec<(u32, Box<[u64; PAGE]>)>,
    directory: HashMap<u32, usize>,
    /// The page of the last address, as an index.
    last: usize,
}

impl Counts {
    #[inline]
    pub fn add(&mut self, addr: u32, count: u64) {
        let page = addr / (2 * PAGE as u32);
        if self.pages.get(self.last).is_none_or(|p| p.0 != page) {
            self.last = self.turn_to(page);
        }
        self.pages[self.last].1[(addr / 2) as usize % PAGE] += count;
    }

    #[cold]
    fn turn_to(&mut self, page: u32) -> usize {
        *self.directory.entry(page).or_insert_with(|| {
            self.pages.push((page, Box::new([0; PAGE])));
            self.pages.len() - 1
        })
    }

    pub fn get(&self, addr: u32) -> u64 {
        let page = self.directory.get(&(addr / (2 * PAGE as u32)));
        page.map_or(0, |&i| self.pages[i].1[(addr / 2) as usize % PAGE])
    }

    /// Addresses with a count that is not zero, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.pages.iter().flat_map(|(page, counts)| {
            let first = page * 2 * PAGE as u32;
            let addr = move |i: usize| first + 2 * i as u32;
            counts.iter().enumerate().filter(|(_, n)| **n != 0).map(move |(i, &n)| (addr(i), n))
        })
    }
}

/// Counts how often each instruction runs.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: Counts,
}

impl Coverage {
    /// How often the instruction at `pc` ran.
    #[must_use]
    pub fn count(&self, pc: u32) -> u64 {
        self.counts.get(pc)
    }

    /// How often each line of the source that has code ran, by file and line. A line with several
    /// instructions ran as often as the one that ran most.
    #[must_use]
    pub fn lines(&self, elf: &Elf) -> BTreeMap<String, BTreeMap<u32, u64>> {
        let mut files: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
        for (range, file, line) in elf.lines().filter(|(range, ..)| elf.has_code(range.start)) {
            // A line is shorter than 64 KB, unless the image is damaged.
            let ran =
                range.step_by(2).take(1 << 15).map(|pc| self.counts.get(pc)).max().unwrap_or(0);
            let lines = match files.get_mut(file) {
                Some(lines) => lines,
                None => files.entry(file.to_owned()).or_default(),
            };
            let count = lines.entry(line).or_default();
            *count = ran.max(*count);
        }
        files
    }

    /// All of it as an lcov tracefile, as `genhtml` reads it.
    #[must_use]
    pub fn lcov(&self, elf: &Elf) -> String {
        let mut functions: BTreeMap<String, Vec<(u32, &str, u64)>> = BTreeMap::new();
        for s in elf.symbols.iter().filter(|s| s.kind == SymbolKind::Function) {
            if let Some(line) = elf.line_at(s.addr) {
                let list = functions.entry(line.file).or_default();
                list.push((line.line, s.name.as_str(), self.counts.get(s.addr)));
            }
        }
        let mut out = String::from("TN:\n");
        for (file, lines) in self.lines(elf) {
            let mut functions = functions.remove(&file).unwrap_or_default();
            functions.sort_unstable();
            let _ = writeln!(out, "SF:{file}");
            for (line, name, _) in &functions {
                let _ = writeln!(out, "FN:{line},{name}");
            }
            for (_, name, count) in &functions {
                let _ = writeln!(out, "FNDA:{count},{name}");
            }
            let hit = functions.iter().filter(|f| f.2 != 0).count();
            let _ = writeln!(out, "FNF:{}\nFNH:{hit}", functions.len());
            for (line, count) in &lines {
                let _ = writeln!(out, "DA:{line},{count}");
            }
            let hit = lines.values().filter(|n| **n != 0).count();
            let _ = writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len());
        }
        out
    }
}

impl Observer for Coverage {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    #[inline]
    fn instruction(&mut self, pc: u32, _: u32, _: u32, flow: Flow) {
        if !matches!(flow, Flow::Interrupt { .. }) {
            self.counts.add(pc, 1);
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}
