// SPDX-License-Identifier: MIT OR Apache-2.0
//! Precomputable work: what of a run does not depend on bytes that come at run time, and what a coupon would carry
//! from the one part to the other.
//!
//! Each instruction makes values of values. One that takes runtime input, or what was made of it, is *dependent*. A
//! straight stretch of code (up to a jump, call or return) in which one is dependent runs when the input is there: its
//! other instructions, pointers and counters mostly, are its *frame*, which runs in both parts. All other stretches
//! are *independent*: they can run before. What they make and the rest takes is what a coupon carries: *data*, which
//! flows into dependent results, and *control*, which addresses and counts and could be made anew.
//!
//! Loads, stores and moves copy: they make no value. A cut is a moment of the independent work: what comes before is
//! done ahead, and the bytes made so far that are still wanted are carried.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use sunseal_isa::Dataflow;
use sunseal_isa::Transfer;
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::blocks::follow::Follow;
use crate::device::{Device, RegionKind};
use crate::elf::{AVR_DATA, Architecture, Elf};
use crate::families;
use crate::listing::Code;

/// Values that a run may make; a longer run is refused, as its sums would be wrong.
const VALUES_MAX: usize = 1 << 25;
/// Registers and flags (`sunseal_isa::Registers`).
const PLACES: usize = 128;
/// More accesses than an instruction makes.
const ACCESSES: usize = 64;

/// A byte of a value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Byte {
    value: u32,
    byte: u8,
}

/// What was there before the run: constants, tables, keys.
const BEFORE: u32 = 0;
/// Number of the value that stands for the runtime input.
const INPUT: u32 = 1;

/// A value that an instruction made.
#[derive(Clone, Copy, Default)]
struct Value {
    /// The independent cycles in front of the stretch that made it, or [`Value::HERE`].
    made: u64,
    /// The independent cycles in front of the independent stretch that took it last.
    last: u64,
    pc: u32,
    /// Its bytes by use: of independent work, as data, as control.
    ahead: u8,
    data: u8,
    control: u8,
    dependent: bool,
    /// What a value of a frame was made of, as far as it was made ahead.
    from: [u32; 2],
}

impl Value {
    /// Made in a part that runs when the input is there: nobody carries it.
    const HERE: u64 = u64::MAX;
}

/// What an instruction takes and makes, by its address.
struct Form {
    flow: Dataflow,
    reads: Vec<u8>,
    writes: Vec<u8>,
    keeps: Vec<u8>,
    address: Vec<u8>,
    decides: Vec<u8>,
    copies: bool,
}

/// What an instruction of the present stretch took.
#[derive(Clone, Copy)]
struct Taken {
    byte: Byte,
    /// By a dependent instruction, into its result.
    data: bool,
}

/// Cycles of one instruction's address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub independent: Cycles,
    /// Of instructions that take no input, in stretches where another does.
    pub frame: Cycles,
    pub dependent: Cycles,
}

/// A moment up to which independent work is done ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Bytes that flow into later results.
    pub data_bytes: u64,
    /// Bytes that address and count.
    pub control_bytes: u64,
    /// Independent cycles before it.
    pub saved: Cycles,
    /// The first instruction behind it that makes something; none at the end.
    pub pc: Option<u32>,
}

/// Follows what is made of what.
pub struct Offline {
    code: Code,
    forms: HashMap<u32, Form>,
    /// Bytes of a register.
    width: usize,
    avr: bool,
    places: Vec<[Byte; 4]>,
    memory: HashMap<u32, Byte>,
    peripherals: Vec<Range<u32>>,
    /// A peripheral block by its base: what it was given last (multiplier's operands), or ever.
    blocks: Vec<(Range<u32>, Rule)>,
    /// The names of those of which nobody knows what they make of what they are given.
    unknown: Vec<Option<String>>,
    values: Vec<Value>,
    seen: Vec<(u32, u32, bool)>,
    independent: Cycles,
    /// The stretch that runs: what it took and made, its cycles by instruction.
    taken: Vec<Taken>,
    made: Vec<u32>,
    /// Whether the instruction has made a block mix the input into what it gives.
    mixed: bool,
    ran: Vec<(u32, u32, bool)>,
    /// Digest of the addresses so far, of dependent stretches too: they decide what independent ones work on.
    way: u64,
    path: Vec<(Cycles, u64)>,
    spent: HashMap<u32, Spent>,
    input_read: bool,
    overflow: bool,
    branches: HashMap<u32, u64>,
    /// Blocks that move data out of sight, which the run has used.
    holes: BTreeSet<String>,
    /// Registers of transfers by DMA.
    movers: Vec<Range<u32>>,
}

/// How a block makes what it gives of what it was given.
#[derive(Clone, Copy)]
enum Rule {
    /// TI's: the first operand, the words of results up to SUMEXT; whether results add up.
    Multiplier { op1: [Byte; 4], result: [Byte; 8], adds: bool },
    /// All it was given.
    All { state: u32 },
}

/// Bytes of a block's state that work behind a cut wants: a checksum's; of a cipher's key there are more.
const STATE_BYTES: u8 = 2;

/// Where in the results a register of TI's multiplier lies: RESLO to SUMEXT, RES0 to RES3.
fn result_at(offset: u32) -> Option<usize> {
    match offset {
        0x0A..0x10 => Some(offset as usize - 0x0A),
        0x24..0x2C => Some(offset as usize - 0x24),
        _ => None,
    }
}

impl Offline {
    /// A follower of runs of `elf` on `device`. Instructions are read from the image.
    #[must_use]
    pub fn new(device: &Device, elf: &Elf) -> Self {
        let width = match elf.architecture {
            Architecture::Msp430 => 2,
            Architecture::Avr => 1,
            Architecture::Arm => 4,
        };
        let regions = device.memory.iter().filter(|r| r.kind == RegionKind::Peripheral);
        let peripherals = regions.map(|r| r.start..r.end.saturating_add(1)).collect();
        let mut starts: Vec<(u32, &str)> = device.blocks().collect();
        starts.sort_unstable();
        // A block ends where the next begins, and with its stretch of registers at the latest: memory follows the last.
        let limit = |base| device.region(base).map_or(base, |r| r.end.saturating_add(1));
        let next = starts.iter().skip(1).map(|b| b.0).chain([u32::MAX]);
        let ends: Vec<u32> = starts.iter().zip(next).map(|(b, n)| n.min(limit(b.0))).collect();
        let (mut movers, mut blocks, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for (&(base, name), end) in starts.iter().zip(ends) {
            let follow = families::follow(device, name);
            let rule = match follow {
                Follow::Multiplier { .. } => Rule::Multiplier {
                    op1: Default::default(),
                    result: Default::default(),
                    adds: false,
                },
                _ => Rule::All { state: BEFORE },
            };
            if matches!(follow, Follow::Mover) {
                movers.push(base..end);
            }
            blocks.push((base..end, rule));
            unknown.push((!follow.is_known()).then(|| name.to_owned()));
        }
        let input = Value { made: Value::HERE, dependent: true, ..Value::default() };
        let before = Value { made: Value::HERE, ..Value::default() };
        Self {
            code: Code::of(elf),
            forms: HashMap::new(),
            width,
            avr: elf.architecture == Architecture::Avr,
            places: vec![[Byte::default(); 4]; PLACES],
            memory: HashMap::new(),
            peripherals,
            blocks,
            unknown,
            values: vec![before, input],
            seen: Vec::with_capacity(ACCESSES),
            independent: 0,
            taken: Vec::new(),
            made: Vec::new(),
            mixed: false,
            ran: Vec::new(),
            way: 0,
            path: Vec::new(),
            spent: HashMap::new(),
            input_read: false,
            overflow: false,
            branches: HashMap::new(),
            holes: BTreeSet::new(),
            movers,
        }
    }

    /// Bytes that are there at run time only.
    pub fn input(&mut self, range: Range<u32>) {
        for addr in range {
            self.memory.insert(addr, Byte { value: INPUT, byte: 0 });
        }
    }

    /// Bytes that the run leaves as its result: what was made ahead of them is carried too.
    pub fn output(&mut self, range: Range<u32>) {
        self.stretch_ends();
        for addr in range {
            let byte = self.memory.get(&addr).copied().unwrap_or_default();
            self.carry(byte, true);
        }
    }

    /// Whether input was read at all.
    #[must_use]
    pub fn has_read_input(&self) -> bool {
        self.input_read
    }

    /// Whether the run was too long to be followed.
    #[must_use]
    pub fn has_overflowed(&self) -> bool {
        self.overflow
    }

    /// What the run has used and what is not followed: values behind it are taken for those of before.
    #[must_use]
    pub fn holes(&self) -> Vec<String> {
        self.holes.iter().cloned().collect()
    }

    /// Branches that input decided, by address: the run shows one of their ways.
    #[must_use]
    pub fn branches(&self) -> Vec<(u32, u64)> {
        let mut all: Vec<_> = self.branches.iter().map(|(&pc, &n)| (pc, n)).collect();
        all.sort_unstable();
        all
    }

    /// Cycles by the instruction's address. Ends the stretch that runs.
    pub fn spent(&mut self) -> Vec<(u32, Spent)> {
        self.stretch_ends();
        let mut all: Vec<_> = self.spent.iter().map(|(&pc, &s)| (pc, s)).collect();
        all.sort_unstable_by_key(|s| s.0);
        all
    }

    /// Independent cycles behind each independent stretch, with a digest of the way up to there: runs of one program whose
    /// digests agree have made the same values ahead. Ends the stretch that runs.
    pub fn path(&mut self) -> &[(Cycles, u64)] {
        self.stretch_ends();
        &self.path
    }

    /// The cuts of which none carries fewer bytes and saves as much, from the least saving on, of the first independent
    /// cycles up to `most`, where that is the end of a stretch. Ends the stretch that runs.
    pub fn cuts(&mut self, most: Option<Cycles>) -> Vec<Cut> {
        self.stretch_ends();
        let total = most.map_or(self.independent, |most| most.min(self.independent));
        // Changes of the bytes that are wanted, by the moment.
        let mut changes: Vec<(u64, i64, i64, u32)> = Vec::new();
        for v in self.values.iter().filter(|v| v.made != Value::HERE) {
            let (data, control) = (v.data.count_ones(), (v.control & !v.data).count_ones());
            if data + control > 0 {
                changes.push((v.made, data.into(), control.into(), v.pc));
            }
            // Bytes that only independent work wants, until it has had them last.
            let ahead = i64::from((v.ahead & !v.data & !v.control).count_ones());
            if ahead > 0 && v.last > v.made {
                changes.push((v.made, ahead, 0, v.pc));
                changes.push((v.last, -ahead, 0, u32::MAX));
            }
        }
        changes.sort_unstable_by_key(|c| c.0);
        let (mut data, mut control) = (0, 0);
        let mut all: Vec<Cut> = Vec::new();
        let mut i = 0;
        while i < changes.len() && changes[i].0 < total {
            let saved = changes[i].0;
            let pc = changes[i..].iter().take_while(|c| c.0 == saved).map(|c| c.3).min();
            if saved > 0 {
                let (data_bytes, control_bytes) = (data as u64, control as u64);
                let pc = pc.filter(|&pc| pc != u32::MAX);
                all.push(Cut { data_bytes, control_bytes, saved, pc });
            }
            while i < changes.len() && changes[i].0 == saved {
                data += changes[i].1;
                control += changes[i].2;
                i += 1;
            }
        }
        all.push(Cut {
            data_bytes: data as u64,
            control_bytes: control as u64,
            saved: total,
            pc: changes[i..].iter().map(|c| c.3).find(|&pc| pc != u32::MAX),
        });
        front(all)
    }

    fn form(&mut self, pc: u32) {
        if self.forms.contains_key(&pc) {
            return;
        }
        let flow = self.code.dataflow(pc).unwrap_or_default();
        let text = self.code.text(pc).unwrap_or_default().to_lowercase();
        let copies = ["mov", "ld", "st", "push", "pop", "lpm", "elpm", "vldr", "vstr", "vmov"];
        let copies = copies.iter().any(|c| text.starts_with(c)) && !text.starts_with("movt");
        let list = |set: sunseal_isa::Registers| set.iter().collect::<Vec<u8>>();
        let form = Form {
            reads: list(flow.reads),
            writes: list(flow.writes),
            keeps: list(flow.keeps),
            address: list(flow.address),
            decides: list(flow.branch.or(flow.time)),
            copies,
            flow,
        };
        self.forms.insert(pc, form);
    }

    fn is_dependent(&self, byte: Byte) -> bool {
        self.values[byte.value as usize].dependent
    }

    fn make(&mut self, pc: u32, dependent: bool, from: [u32; 2]) -> u32 {
        if self.values.len() >= VALUES_MAX {
            self.overflow = true;
            return BEFORE;
        }
        let made = if dependent { Value::HERE } else { self.independent };
        self.values.push(Value { made, last: made, pc, dependent, from, ..Value::default() });
        let value = (self.values.len() - 1) as u32;
        self.made.push(value);
        value
    }

    /// The block that an address belongs to, if it is a peripheral's.
    fn block(&self, addr: u32) -> Option<usize> {
        if !self.peripherals.iter().any(|r| r.contains(&addr)) {
            return None;
        }
        let end = self.blocks.partition_point(|(r, _)| r.start <= addr);
        end.checked_sub(1).filter(|&i| self.blocks[i].0.contains(&addr))
    }

    /// The byte that an instruction at `pc` loads. What a block gives is made by the load.
    fn loaded(&mut self, pc: u32, addr: u32) -> Byte {
        if self.avr && (AVR_DATA..AVR_DATA + 32).contains(&addr) {
            return self.places[(addr - AVR_DATA) as usize][0];
        }
        if let Some(i) = self.block(addr) {
            return match self.blocks[i].1 {
                Rule::Multiplier { result, .. } => {
                    result[result_at(addr - self.blocks[i].0.start).unwrap_or(0)]
                }
                Rule::All { state } => {
                    if let Some(name) =
                        self.unknown[i].as_ref().filter(|n| !self.holes.contains(*n))
                        && self.values[state as usize].dependent
                    {
                        self.holes.insert(name.clone());
                    }
                    Byte { value: self.given_back(pc, state), byte: 0 }
                }
            };
        }
        let byte = self.memory.get(&addr).copied().unwrap_or_default();
        self.input_read |= byte.value == INPUT;
        byte
    }

    /// What a block gives was made when the block had its input, whenever it is read; what was given nothing makes
    /// it by itself (a sample, a time).
    fn given_back(&mut self, pc: u32, state: u32) -> u32 {
        let Value { made, dependent, .. } = self.values[state as usize];
        let value = self.make(pc, dependent, [state, 0]);
        if state > INPUT && self.made.first().is_none_or(|&first| state < first) {
            self.made.pop();
            let v = &mut self.values[value as usize];
            (v.made, v.last) = (made, made);
        }
        value
    }

    fn stored(&mut self, pc: u32, addr: u32, bytes: &[Byte]) {
        if self.avr && (AVR_DATA..AVR_DATA + 32).contains(&addr) {
            self.places[(addr - AVR_DATA) as usize][0] = bytes[0];
            return;
        }
        if let Some(i) = self.block(addr) {
            return self.given(pc, i, addr, bytes);
        }
        for (at, byte) in (addr..).zip(bytes) {
            self.memory.insert(at, *byte);
        }
    }

    /// A block takes bytes, and what it gives is another from now on. What a result is made of is wanted here.
    fn given(&mut self, pc: u32, i: usize, addr: u32, bytes: &[Byte]) {
        let (range, rule) = self.blocks[i].clone();
        let offset = addr - range.start;
        self.blocks[i].1 = match rule {
            Rule::Multiplier { op1, result, adds } => {
                self.multiplier_given(pc, offset, bytes, (op1, result, adds))
            }
            Rule::All { state } => {
                let held = (0..STATE_BYTES).map(|byte| Byte { value: state, byte });
                let all: Vec<Byte> = bytes.iter().copied().chain(held).collect();
                Rule::All { state: self.made_of(pc, &all, [state, bytes[0].value]) }
            }
        };
    }

    fn multiplier_given(
        &mut self,
        pc: u32,
        offset: u32,
        bytes: &[Byte],
        (mut op1, mut result, adds): ([Byte; 4], [Byte; 8], bool),
    ) -> Rule {
        match offset {
            0x00..0x08 | 0x10..0x20 => {
                let adds = if offset < 0x08 { offset >= 0x04 } else { offset >= 0x18 };
                // The second word of a 32-bit operand joins the first.
                let high = offset >= 0x10 && offset & 2 != 0;
                if !high {
                    op1 = Default::default();
                }
                let words = &mut op1[if high { 2 } else { 0 }..];
                words.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                Rule::Multiplier { op1, result, adds }
            }
            0x08 | 0x20 | 0x22 => {
                // The second word of OP2 adds to what the first has begun.
                let sum = if adds || offset == 0x22 { &result[..] } else { &[] };
                let all: Vec<Byte> = op1.iter().chain(bytes).chain(sum).copied().collect();
                let value = self.made_of(pc, &all, [op1[0].value, bytes[0].value]);
                let result = std::array::from_fn(|byte| Byte { value, byte: byte as u8 });
                Rule::Multiplier { op1, result, adds }
            }
            _ => {
                if let Some(at) = result_at(offset) {
                    result[at..].iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                }
                Rule::Multiplier { op1, result, adds }
            }
        }
    }

    /// A block makes a value of bytes, which are taken here, where they may have been given before.
    fn made_of(&mut self, pc: u32, all: &[Byte], from: [u32; 2]) -> u32 {
        let dependent = all.iter().any(|&byte| self.is_dependent(byte));
        self.mixed |= dependent;
        self.taken.extend(all.iter().map(|&byte| Taken { byte, data: dependent }));
        self.make(pc, dependent, from)
    }

    /// The instruction at `pc` has run.
    fn follow(&mut self, pc: u32) -> bool {
        let form = self.forms.remove(&pc).expect("it was met");
        let dependent = if form.flow.transfer.is_empty() {
            self.follow_form(pc, &form)
        } else {
            self.follow_transfer(pc, &form)
        };
        self.forms.insert(pc, form);
        dependent
    }

    fn follow_transfer(&mut self, pc: u32, form: &Form) -> bool {
        let seen = std::mem::take(&mut self.seen);
        let mut dependent = false;
        for (&(addr, bytes, write), &moved) in seen.iter().zip(form.flow.transfer.as_slice()) {
            let place = match moved {
                Transfer::FLAGS => 64,
                n if n < 64 => usize::from(n),
                _ => continue,
            };
            if write {
                let held = self.places[place];
                dependent |= held.iter().take(self.width).any(|&b| self.is_dependent(b));
                let bytes: Vec<Byte> =
                    held.into_iter().chain([Byte::default(); 4]).take(bytes as usize).collect();
                self.stored(pc, addr, &bytes);
            } else {
                let mut held = [Byte::default(); 4];
                for (at, to) in (addr..addr + bytes).zip(&mut held) {
                    *to = self.loaded(pc, at);
                }
                dependent |= held.iter().any(|&b| self.is_dependent(b));
                self.places[place] = held;
            }
        }
        self.seen = seen;
        dependent
    }

    fn follow_form(&mut self, pc: u32, form: &Form) -> bool {
        let seen = std::mem::take(&mut self.seen);
        let mut data: Vec<Byte> = Vec::new();
        let mut control: Vec<Byte> = Vec::new();
        let mut from_memory = [Byte::default(); 4];
        for &(addr, bytes, write) in &seen {
            if !write && (form.flow.reads_memory || form.flow.branch_memory) {
                for (i, at) in (addr..addr + bytes).enumerate() {
                    let byte = self.loaded(pc, at);
                    from_memory[i & 3] = byte;
                    data.push(byte);
                }
            }
        }
        let flag = |n: u8| n >= 64;
        let held = |places: &[[Byte; 4]], n: u8, width: usize| {
            places[usize::from(n)]
                .into_iter()
                .take(if flag(n) { 1 } else { width })
                .collect::<Vec<_>>()
        };
        for &n in form.reads.iter().chain(&form.keeps) {
            data.extend(held(&self.places, n, self.width));
        }
        for &n in form.address.iter().chain(&form.decides) {
            control.extend(held(&self.places, n, self.width));
        }
        let decided = form
            .decides
            .iter()
            .any(|&n| held(&self.places, n, self.width).iter().any(|&b| self.is_dependent(b)));
        if decided {
            *self.branches.entry(pc).or_default() += 1;
        }
        let dependent = data.iter().chain(&control).any(|&b| self.is_dependent(b));
        // What is found at a place that depends on the input depends on it, whatever it is.
        let found = form.flow.reads_memory
            && form
                .address
                .iter()
                .any(|&n| held(&self.places, n, self.width).iter().any(|&b| self.is_dependent(b)));
        let copied = self.copied(form, &from_memory).filter(|_| !found);
        if let Some(bytes) = copied {
            // The address is wanted, what is copied is not yet.
            self.taken.extend(control.iter().map(|&byte| Taken { byte, data: false }));
            self.write(pc, form, &seen, bytes);
            self.seen = seen;
            return dependent;
        }
        self.taken.extend(data.iter().map(|&byte| Taken { byte, data: dependent }));
        self.taken.extend(control.iter().map(|&byte| Taken { byte, data: false }));
        let ahead: Vec<u32> = data.iter().map(|b| b.value).filter(|&v| v > INPUT).collect();
        let from = [ahead.first().copied().unwrap_or(0), ahead.last().copied().unwrap_or(0)];
        if !form.writes.is_empty() || form.flow.writes_memory {
            let constant = data.is_empty();
            let value = if constant { BEFORE } else { self.make(pc, dependent, from) };
            let bytes = std::array::from_fn(|i| Byte { value, byte: i as u8 });
            self.write(pc, form, &seen, bytes);
        }
        self.seen = seen;
        dependent
    }

    /// An instruction's results are `bytes`.
    fn write(&mut self, pc: u32, form: &Form, seen: &[(u32, u32, bool)], bytes: [Byte; 4]) {
        for &n in &form.writes {
            self.places[usize::from(n)] = bytes;
        }
        for &(addr, count, write) in seen {
            if write && form.flow.writes_memory {
                self.stored(pc, addr, &bytes[..(count as usize).min(4)]);
            }
        }
    }

    /// What a load, store or move copies; none if the instruction makes something.
    fn copied(&self, form: &Form, from_memory: &[Byte; 4]) -> Option<[Byte; 4]> {
        if !form.copies || !form.keeps.is_empty() {
            return None;
        }
        match (form.flow.reads_memory, form.reads.as_slice()) {
            (true, []) => Some(*from_memory),
            (false, []) => Some([Byte::default(); 4]),
            (false, &[one]) if one < 64 => Some(self.places[usize::from(one)]),
            _ => None,
        }
    }

    /// What a part that runs later takes of what was made ahead.
    fn carry(&mut self, byte: Byte, data: bool) {
        let mut left = vec![byte];
        while let Some(Byte { value, byte }) = left.pop() {
            if value <= INPUT {
                continue;
            }
            let v = &mut self.values[value as usize];
            let bit = 1 << (byte & 7);
            let uses = if data { &mut v.data } else { &mut v.control };
            let known = *uses & bit != 0;
            *uses |= bit;
            // Made by a frame: of what was made ahead.
            if v.made == Value::HERE && !v.dependent && !known {
                left.extend(v.from.map(|value| Byte { value, byte }));
            }
        }
    }

    fn stretch_ends(&mut self) {
        let dependent = self.ran.iter().any(|r| r.2);
        let cycles: Cycles = self.ran.iter().map(|r| Cycles::from(r.1)).sum();
        if !self.ran.is_empty() {
            let mut digest = DefaultHasher::new();
            self.way.hash(&mut digest);
            self.ran.iter().for_each(|r| r.0.hash(&mut digest));
            self.way = digest.finish();
            if !dependent {
                self.path.push((self.independent + cycles, self.way));
            }
        }
        for (pc, cycles, alone) in self.ran.drain(..) {
            let spent = self.spent.entry(pc).or_default();
            *match (dependent, alone) {
                (false, _) => &mut spent.independent,
                (true, false) => &mut spent.frame,
                (true, true) => &mut spent.dependent,
            } += Cycles::from(cycles);
        }
        let made = std::mem::take(&mut self.made);
        let taken = std::mem::take(&mut self.taken);
        if dependent {
            for &value in &made {
                self.values[value as usize].made = Value::HERE;
            }
            for &Taken { byte, data } in &taken {
                self.carry(byte, data);
            }
        } else {
            for &Taken { byte, .. } in &taken {
                let v = &mut self.values[byte.value as usize];
                v.ahead |= 1 << (byte.byte & 7);
                v.last = self.independent;
            }
            for &value in &made {
                self.values[value as usize].made = self.independent;
            }
            self.independent += cycles;
        }
        self.made = made;
        self.made.clear();
        self.taken = taken;
        self.taken.clear();
    }
}

/// The cuts that no other beats in bytes and saving.
fn front(mut all: Vec<Cut>) -> Vec<Cut> {
    let bytes = |c: &Cut| c.data_bytes + c.control_bytes;
    all.sort_by_key(|c| (std::cmp::Reverse(c.saved), bytes(c)));
    let mut best: Vec<Cut> = Vec::new();
    for cut in all {
        if best.last().is_none_or(|last| bytes(&cut) < bytes(last) && cut.saved < last.saved) {
            best.push(cut);
        }
    }
    best.reverse();
    best
}

impl Observer for Offline {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, cycles: u32, flow: Flow) {
        if matches!(flow, Flow::Interrupt { .. } | Flow::InterruptReturn) {
            // Interrupts belong to no part: their cycles are the stretch's.
            self.seen.clear();
            self.ran.push((pc, cycles, false));
            return;
        }
        self.form(pc);
        let dependent = self.follow(pc) | std::mem::take(&mut self.mixed);
        self.seen.clear();
        self.ran.push((pc, cycles, dependent));
        let ends =
            self.forms.get(&pc).is_some_and(|f| !f.flow.branch.is_empty() || f.flow.branch_memory);
        if flow != Flow::Next || ends {
            self.stretch_ends();
        }
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, _: u32, _: Cycles) {
        // A Cortex-M4's bits as words (ARMv7-M, B3.1).
        if self.width == 4 && matches!(addr >> 24, 0x22 | 0x23 | 0x42 | 0x43) {
            self.holes.insert("bit-band".to_owned());
        } else if kind == Access::Write && self.movers.iter().any(|r| r.contains(&addr)) {
            self.holes.insert("dma".to_owned());
        }
        if self.seen.len() < ACCESSES {
            self.seen.push((addr, width.bytes(), kind == Access::Write));
        }
    }
}
