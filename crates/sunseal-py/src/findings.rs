// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings of instruments as the tuples that Python gets.

use std::ops::Range;

use sunseal_mcu::Elf;
use sunseal_mcu::offline::Offline;
use sunseal_mcu::taint::{Fate, Taint};
use sunseal_mcu::war::{self, War};

/// Kind, address, times, place, source line, instruction.
pub type Leak = (&'static str, u32, u64, String, Option<String>, String);

/// Coverage of a run: whether and how each byte of each secret was met (0 not read, 1 read, 2 overwritten); blocks
/// given marked data (name, whether they are followed, the place that gave it); functions that ran with marked data;
/// stretches of code that ran (first, end); bytes of all functions.
pub type Covered =
    (Vec<Vec<u8>>, Vec<(String, bool, Option<String>)>, Vec<String>, Vec<(u32, u32)>, u32);

/// Address, function and offset, source line of an instruction.
type Place = (u32, String, Option<String>);
/// Address, bytes, object, reader, writer, times, changes.
pub type Hazard = (u32, u32, Option<String>, Place, Place, u64, u64);

/// Address, place, source line, cycles: independent, frame, dependent.
pub type Spent = (u32, String, Option<(String, u32)>, (u64, u64, u64));
/// Data bytes, control bytes, cycles saved, place.
pub type CutPoint = (u64, u64, u64, Option<String>);
/// A place where runtime input decided, and how often.
pub type Branch = (String, u64);

/// Leaks of marked bytes, and what of the program the run covered.
pub fn of_taint(taint: &Taint, elf: &Elf, secret: Vec<Range<u32>>) -> (Vec<Leak>, Covered) {
    let place = |pc| elf.describe(pc);
    let crossed = taint.crossings().into_iter();
    let crossed = crossed.map(|c| (c.block, c.followed, c.pc.map(place))).collect();
    let mut reached: Vec<String> = Vec::new();
    for pc in taint.reached() {
        let place = elf.describe(pc);
        let name = place.split_once('+').map_or(place.as_str(), |(name, _)| name);
        if reached.last().is_none_or(|last| last != name) {
            reached.push(name.to_owned());
        }
    }
    let fate = |fate| match fate {
        Fate::Unread => 0,
        Fate::Read => 1,
        Fate::Overwritten => 2,
    };
    let fates = secret.into_iter().map(|range| taint.fates(range).map(fate).collect()).collect();
    let (ran, code_bytes) = taint.ran(elf);
    let ran = ran.into_iter().map(|r| (r.start, r.end)).collect();
    let leaks = taint.findings(elf).into_iter().map(|f| {
        let line = f.line.map(|l| format!("{}:{}", l.file, l.line));
        (f.kind.name(), f.pc, f.count, f.symbol, line, f.instruction)
    });
    (leaks.collect(), (fates, crossed, reached, ran, code_bytes))
}

/// Non-volatile bytes that are read and then written between two commits.
pub fn of_war(war: &War, elf: &Elf) -> Vec<Hazard> {
    let place = |p: war::Place| (p.pc, p.symbol, p.line.map(|l| format!("{}:{}", l.file, l.line)));
    let found = war.findings(elf).into_iter();
    let found = found
        .map(|h| (h.addr, h.bytes, h.symbol, place(h.read), place(h.write), h.times, h.changes));
    found.collect()
}

/// Cycles that each instruction spent, the cuts, and the branches that runtime input decided.
pub fn of_offline(
    offline: &mut Offline,
    elf: &Elf,
    most: Option<u64>,
) -> (Vec<Spent>, Vec<CutPoint>, Vec<Branch>) {
    let spent = offline.spent().into_iter().map(|(pc, s)| {
        let line = elf.line_at(pc).map(|l| (l.file, l.line));
        (pc, elf.describe(pc), line, (s.independent, s.frame, s.dependent))
    });
    let place = |pc| elf.describe(pc);
    let cuts = offline.cuts(most).into_iter();
    let cuts = cuts.map(|c| (c.data_bytes, c.control_bytes, c.saved, c.pc.map(place)));
    let branches = offline.branches().into_iter().map(|(pc, n)| (place(pc), n));
    (spent.collect(), cuts.collect(), branches.collect())
}
