// SPDX-License-Identifier: MIT OR Apache-2.0
//! Classes of cuts: those that provably lead to the same run behind them, of which one is played.
//!
//! What a run behind a cut does is decided by what the cut left, as far as the run looks at it before it
//! writes it: its [`Footprint`]. Two cuts that left the same there, and the same registers and parts
//! ([`Machine::remains`]), have the same run and the same verdict. [`Survivors`] knows along a stretch when
//! what is left becomes another.

use std::collections::HashMap;

use sunseal_mcu::device::RegionKind;
use sunseal_mcu::{Machine, Snapshot, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Width};

use super::footprint::{Alone, Footprint, MULTIPLIER_BYTES, follows, ranges};

/// So many times it is asked what registers a cut leaves; from then on each touch of them begins a class.
const ASKED_MOST: u32 = 20_000;

/// Reason for which there are no classes on other chips.
pub const ELSEWHERE: Alone = "classes are made on MSP430F5xx and FR5xx only";

/// A byte that survives becomes another for cuts from `at` on.
struct Change {
    at: Cycles,
    addr: u32,
    value: u8,
}

/// Effects of an instruction that a cut may leave.
#[derive(Default)]
struct Step {
    ran: bool,
    touched: bool,
    interrupt: bool,
    stores: Vec<(u32, Width, u32, Cycles)>,
    multiplier: Option<u32>,
}

impl Observer for Step {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, _: u32, _: u32, _: u32, flow: Flow) {
        self.ran = true;
        self.interrupt |= matches!(flow, Flow::Interrupt { .. } | Flow::InterruptReturn);
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if kind == Access::Write {
            self.stores.push((addr, width, value, at));
        }
        let off = self.multiplier.and_then(|base| addr.checked_sub(base));
        self.touched |= addr < 0x1000 && off.is_none_or(|off| off >= MULTIPLIER_BYTES);
    }
}

/// Remains of cuts along a stretch, and the cycles at which they become others.
pub(super) struct Survivors {
    changes: Vec<Change>,
    /// First and last cut of stretches in which it is not known: a write or an erase under way, a DMA burst.
    loose: Vec<(Cycles, Cycles)>,
    /// From which cut on which registers are left.
    registers: Vec<(Cycles, u32)>,
    /// Memory at the beginning, and at the cut that was asked for last, behind so many changes.
    first: Vec<u8>,
    now: Vec<u8>,
    applied: usize,
    ram_held: bool,
    cycles: Cycles,
    why_not: Option<Alone>,
}

/// Follows memory and registers along a stretch.
struct Survey<'a> {
    machine: &'a mut Machine,
    kept: Vec<(u32, u32)>,
    image: Vec<u8>,
    found: HashMap<Vec<u8>, u32>,
    asked: u32,
    next: u32,
}

impl Survey<'_> {
    /// Number of the set of registers that a cut here would leave.
    fn registers(&mut self) -> u32 {
        self.asked += 1;
        let left = if self.asked > ASKED_MOST { None } else { self.machine.remains() };
        let next = self.next;
        let number = left.map_or(next, |left| *self.found.entry(left).or_insert(next));
        self.next += u32::from(number == next);
        number
    }

    fn keeps(&self, addr: u32) -> bool {
        self.kept.iter().any(|(start, end)| (*start..=*end).contains(&addr))
    }

    /// Takes over what memory holds, whoever wrote it.
    fn look(&mut self, at: Cycles, changes: &mut Vec<Change>) -> bool {
        let before = changes.len();
        for (start, end) in &self.kept {
            let bytes = (end - start + 1) as usize;
            let held = self.machine.read_mem(*start, bytes).expect("a region of the device");
            let known = &mut self.image[*start as usize..=*end as usize];
            if held != known {
                for (addr, (new, old)) in (*start..).zip(held.iter().zip(known)) {
                    if new != old {
                        changes.push(Change { at, addr, value: *new });
                        *old = *new;
                    }
                }
            }
        }
        changes.len() != before
    }

    /// Takes stores over; false where memory did not take what was stored.
    fn store(&mut self, step: &mut Step, origin: Cycles, changes: &mut Vec<Change>) -> bool {
        let mut taken = true;
        for (addr, width, value, at) in step.stores.drain(..) {
            for (addr, byte) in (addr..addr + width.bytes()).zip(value.to_le_bytes()) {
                if !self.keeps(addr) {
                    continue;
                }
                let held = self.machine.read_mem(addr, 1).expect("it is memory")[0];
                taken &= held == byte;
                if self.image[addr as usize] != held {
                    self.image[addr as usize] = held;
                    changes.push(Change { at: at + 1 - origin, addr, value: held });
                }
            }
        }
        taken
    }
}

impl Survivors {
    /// Walks the stretch of `cycles` cycles that begins at `first` once more; cuts are to last for `off`.
    pub fn survey(machine: &mut Machine, first: &Snapshot, cycles: Cycles, off: Picos) -> Self {
        let mut me = Self {
            changes: Vec::new(),
            loose: Vec::new(),
            registers: Vec::new(),
            first: Vec::new(),
            now: Vec::new(),
            applied: 0,
            ram_held: off <= machine.ram_holds(),
            cycles,
            why_not: None,
        };
        if !follows(machine.device()) {
            me.why_not = Some(ELSEWHERE);
            return me;
        }
        machine.restore(first).expect("the stretch began there");
        let origin = machine.cycles();
        let held = me.ram_held;
        let kept = ranges(machine.device(), |kind| match kind {
            RegionKind::Fram | RegionKind::Flash | RegionKind::InfoFlash => true,
            RegionKind::Ram => held,
            _ => false,
        });
        let top = kept.iter().map(|(_, end)| *end as usize + 1).max().unwrap_or(0);
        me.first = vec![0; top];
        let mut step = Step { multiplier: machine.device().multiplier(), ..Step::default() };
        let (image, found) = (me.first.clone(), HashMap::new());
        let mut survey = Survey { machine, kept, image, found, asked: 0, next: 0 };
        survey.look(0, &mut Vec::new());
        me.first.clone_from(&survey.image);
        me.registers.push((0, survey.registers()));
        let mut writing = super::writers(survey.machine);
        let idle = |writing: &[String]| writing.iter().all(|state| state == "idle");
        let mut until = Until { state_change: true, ..Until::default() };
        let mut unclean = !idle(&writing);
        loop {
            let before = survey.machine.cycles() - origin;
            if unclean {
                survey.look(before, &mut me.changes);
            }
            (step.ran, step.touched, step.interrupt) = (false, false, false);
            let was_busy = !idle(&writing);
            let (due, moves) = (survey.machine.next_event(), survey.machine.dma_moves());
            let resets = survey.machine.resets();
            until.cycles = Some(origin + before + 1);
            let stop = survey.machine.run(&until, &mut step);
            let cycle = survey.machine.cycles() - origin;
            if stop == Stop::StateChange {
                writing = super::writers(survey.machine);
            }
            let taken = survey.store(&mut step, origin, &mut me.changes);
            let by_itself = due.is_some_and(|due| due <= survey.machine.time());
            let moved = moves != survey.machine.dma_moves();
            let busy = was_busy || !idle(&writing) || moved;
            unclean = busy || !taken || step.interrupt || !step.ran;
            if busy {
                // Its beginning and its end are no better known.
                me.note_loose((before, cycle));
            } else if unclean || by_itself {
                me.note_loose((before + 1, cycle.saturating_sub(1)));
            }
            if step.touched || step.interrupt || by_itself || resets != survey.machine.resets() {
                let now = survey.registers();
                if me.registers.last().is_none_or(|(_, last)| *last != now) {
                    me.registers.push((cycle, now));
                }
            }
            if stop == Stop::Halted || cycle >= cycles {
                break;
            }
        }
        if !unclean && survey.look(cycles, &mut me.changes) {
            me.why_not = Some("memory was changed by something that is not followed");
        }
        me.changes.sort_by_key(|c| c.at);
        me.changes.shrink_to_fit();
        me.now.clone_from(&me.first);
        me
    }

    fn note_loose(&mut self, (from, to): (Cycles, Cycles)) {
        if from > to {
            return;
        }
        match self.loose.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => self.loose.push((from, to)),
        }
    }

    /// The last cut that has the same run behind it as the one at `at`, whose footprint is `run`.
    ///
    /// # Errors
    /// Why it is in no class.
    pub fn covers(&mut self, at: Cycles, run: &Footprint) -> Result<Cycles, Alone> {
        if let Some(why) = self.why_not.or(run.alone) {
            return Err(why);
        }
        let loose = self.loose.partition_point(|(_, to)| *to < at);
        let mut last = self.cycles;
        if let Some((from, _)) = self.loose.get(loose) {
            if *from <= at {
                return Err("a write, an erase, a DMA burst or an interrupt's entry is under way");
            }
            last = last.min(from - 1);
        }
        if !self.ram_held && run.reads_ram() {
            return Err("RAM is read that woke with noise");
        }
        let behind = self.registers.partition_point(|(from, _)| *from <= at);
        if let Some((from, _)) = self.registers.get(behind) {
            last = last.min(from - 1);
        }
        if self.changes.get(self.applied.wrapping_sub(1)).is_some_and(|c| c.at > at) {
            self.now.clone_from(&self.first);
            self.applied = 0;
        }
        while let Some(change) = self.changes.get(self.applied).filter(|c| c.at <= at) {
            self.now[change.addr as usize] = change.value;
            self.applied += 1;
        }
        let seen = |c: &&Change| run.read.has(c.addr) && c.value != self.now[c.addr as usize];
        let ahead = self.changes[self.applied..].iter().take_while(|c| c.at <= last).find(seen);
        Ok(ahead.map_or(last, |c| c.at - 1))
    }
}
