// SPDX-License-Identifier: MIT OR Apache-2.0
//! The observer that follows marks, instruction by instruction and access by access.

use super::*;

impl Taint {
    #[inline(always)]
    pub(super) fn slot(&self, addr: u32) -> usize {
        if addr & self.odd != 0 {
            return self.odd_slot(addr);
        }
        self.even_slot(addr)
    }

    /// The same for addresses without a bit of `odd`.
    #[inline(always)]
    pub(super) fn even_slot(&self, addr: u32) -> usize {
        let region = (addr >> self.region_shift) as usize & (SLOTS - REGION_BYTES);
        region | addr as usize & (REGION_BYTES - 1)
    }

    /// Addresses that are others in disguise, and those of far-off corners, which share a region.
    #[cold]
    pub(super) fn odd_slot(&self, addr: u32) -> usize {
        // SRAM seen from the code bus; bits seen as words.
        if self.architecture == Architecture::Arm && addr >> 20 == 0x010 {
            return self.slot(0x2000_0000 | addr & 0xF_FFFF);
        }
        if let Some(byte) = self.byte_of_bit(addr) {
            return self.slot(byte);
        }
        ((REGIONS - 1) * REGION_BYTES) | addr as usize & (REGION_BYTES - 1)
    }

    /// The byte that a word of a bit-band alias is a bit of (Armv7-M ARM B3.1).
    pub(super) fn byte_of_bit(&self, addr: u32) -> Option<u32> {
        const BIT_BANDS: [u32; 2] = [0x2200_0000, 0x4200_0000];
        let alias = BIT_BANDS.iter().find(|a| addr & 0xFE00_0000 == **a)?;
        let byte = alias & 0xF000_0000 | (addr & 0x01FF_FFFF) >> 5;
        (self.architecture == Architecture::Arm).then_some(byte)
    }

    /// Registers and flags in 64 bits.
    pub(super) fn set(&self, registers: Registers) -> Set {
        let first = if self.architecture == Architecture::Avr { AVR_SHIFT } else { 0 };
        let place = |n: u32| if n < 64 { (first + n) & 63 } else { n - 64 + FLAGS_SHIFT };
        registers.iter().fold(0, |set, n| set | 1 << place(n.into()))
    }

    pub(super) fn number(&self, moved: u8) -> Set {
        match moved {
            Transfer::FLAGS => self.set(Registers::FLAGS),
            Transfer::BRANCH => Moves::BRANCH,
            n if n < 64 => self.set(Registers::of(n)),
            _ => 0,
        }
    }

    /// The entry of the instruction at `pc`, which was not met yet.
    pub(super) fn new_entry(&mut self, pc: u32) -> usize {
        let mut entry = match self.code.dataflow(pc) {
            Some(flow) => self.compile(&flow),
            None => Entry { bits: entry::UNKNOWN, special: Set::MAX, ..Entry::default() },
        };
        if self.trusted.iter().any(|r| r.contains(&pc)) {
            entry.bits |= entry::TRUSTED;
        }
        if self.entry_count == ENTRIES {
            self.forget_entries();
        }
        let i = *self.known.entry(entry).or_insert_with(|| {
            self.entries[self.entry_count] = entry;
            self.entry_count += 1;
            (self.entry_count - 1) as u16
        });
        let place = self.slot(pc) / 2;
        self.index[place] = i;
        self.ran[place] = 1;
        self.reached.insert(pc);
        i.into()
    }

    pub(super) fn forget_entries(&mut self) {
        self.index.fill(0);
        self.entry_count = 1;
        self.known.clear();
    }

    pub(super) fn compile(&mut self, flow: &Dataflow) -> Entry {
        let mut bits = 0;
        for (on, bit) in [
            (flow.reads_memory, entry::READS_MEMORY),
            (flow.writes_memory, entry::WRITES_MEMORY),
            (flow.branch_memory, entry::BRANCH_MEMORY),
            (!flow.transfer.is_empty(), entry::TRANSFER),
        ] {
            if on {
                bits |= bit;
            }
        }
        let mut moves = 0;
        if !flow.transfer.is_empty() {
            let moved = flow.transfer.as_slice();
            let new = Moves(moved.iter().map(|&m| self.number(m)).collect());
            moves = self.moves.iter().position(|m| *m == new).unwrap_or_else(|| {
                self.moves.push(new);
                self.moves.len() - 1
            });
        }
        let out = flow.address.or(flow.time).or(flow.branch);
        let special = if bits & entry::SPECIAL != 0 { Set::MAX } else { self.set(out) | met::ASK };
        let loaded = if flow.reads_memory { met::LOADED } else { 0 };
        let stored = if flow.writes_memory { met::STORED } else { 0 };
        Entry {
            reads: self.set(flow.reads) | loaded,
            writes: self.set(flow.writes) | stored,
            keeps: !(self.set(flow.writes.without(flow.keeps)) | met::LOADED),
            address: self.set(flow.address),
            time: self.set(flow.time),
            branch: self.set(flow.branch),
            special,
            bits,
            moves: moves as u16,
        }
    }

    #[inline(always)]
    pub(super) fn report(&mut self, pc: u32, bits: u16, kind: FindingKind) {
        if bits & entry::TRUSTED != 0 {
            self.trusted_count += 1;
            return;
        }
        let recent = self.recent[recent_place(pc)] as usize;
        match self.counts.get_mut(recent) {
            Some((known, counts)) if *known == pc => counts[kind as usize] += 1,
            _ => self.report_other(pc, kind),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn report_other(&mut self, pc: u32, kind: FindingKind) {
        let i = *self.counted.entry(pc).or_insert_with(|| {
            self.counts.push((pc, [0; FindingKind::COUNT]));
            self.counts.len() - 1
        });
        self.counts[i].1[kind as usize] += 1;
        self.recent[recent_place(pc)] = i as u32;
    }

    #[cold]
    #[inline(never)]
    pub(super) fn report_address(&mut self, pc: u32, bits: u16) {
        let accesses = &self.seen[..self.accesses()];
        let slow = |s: &Seen| self.cached.iter().any(|r| r.contains(&s.addr()));
        let kind = if accesses.iter().any(slow) {
            FindingKind::CachedAddress
        } else {
            FindingKind::Address
        };
        self.report(pc, bits, kind);
    }

    pub(super) fn accesses(&self) -> usize {
        usize::from(self.count)
    }

    /// The instruction at `pc` has run, and something it touched may be marked. What is left for later.
    #[inline(always)]
    pub(super) fn follow<const ACCESSES: bool>(&mut self, pc: u32) -> Late {
        // Most code lies in the first region.
        if pc as usize >= REGION_BYTES {
            return Late::Special(pc);
        }
        let i = usize::from(self.index[pc as usize / 2]);
        let e = &self.entries[i & (ENTRIES - 1)];
        let regs = self.regs;
        let results = if regs & e.reads != 0 { e.writes } else { 0 };
        if regs & e.special != 0 && !self.is_known(pc, i) {
            return Late::Special(pc);
        }
        let regs = regs & self.entries[i & (ENTRIES - 1)].keeps | results;
        if !ACCESSES {
            self.regs = regs & !met::ALL;
            return Late::Nothing;
        }
        self.regs = regs;
        if regs & (met::STORED | met::TELL) == 0 {
            return Late::Nothing;
        }
        let marked = results & met::STORED != 0;
        let s = self.seen[0];
        if regs & met::TELL != 0 || self.count != 1 || !s.write() || s.addr() & self.odd != 0 {
            return Late::Stores(pc, marked);
        }
        self.regs = regs & !met::ALL;
        self.paint(self.even_slot(s.addr()) & (SLOTS - 1), s.bytes(), marked);
        Late::Nothing
    }

    /// Counts a branch on marked data, or time by it, that was found before, and is nothing else.
    #[inline(always)]
    pub(super) fn is_known(&mut self, pc: u32, i: usize) -> bool {
        let e = &self.entries[i & (ENTRIES - 1)];
        let regs = self.regs;
        if e.bits & (entry::SPECIAL | entry::TRUSTED) != 0 || regs & (e.address | met::ASK) != 0 {
            return false;
        }
        match self.counts.get_mut(self.recent[recent_place(pc)] as usize) {
            Some((known, counts)) if *known == pc => {
                counts[FindingKind::Branch as usize] += u64::from(regs & e.branch != 0);
                counts[FindingKind::Time as usize] += u64::from(regs & e.time != 0);
                true
            }
            _ => false,
        }
    }

    /// Marks what an access touched, or makes it clean.
    #[inline(always)]
    pub(super) fn paint(&mut self, slot: usize, bytes: u32, marked: bool) {
        let (lanes, states) = (lanes(bytes) & MARKS, self.states(slot));
        let public = states >> 1 & MARKS;
        let new = states & !lanes | if marked { lanes & !public } else { 0 };
        self.shadow[slot..slot + 4].copy_from_slice(&new.to_le_bytes());
    }

    /// The instruction at `pc` has run, with data accesses or surely without: whether something is left for later.
    #[inline(always)]
    pub(super) fn run_past<const ACCESSES: bool>(&mut self, pc: u32, sp: u32, flow: Flow) -> bool {
        if self.regs != 0 {
            let special = matches!(flow, Flow::Interrupt { .. } | Flow::InterruptReturn);
            if special && self.exception(pc, sp, flow) {
                self.regs &= !met::ALL;
            } else {
                let late = self.follow::<ACCESSES>(pc);
                if !matches!(late, Late::Nothing) {
                    self.late = late;
                    return true;
                }
            }
        } else {
            let slot = if (pc as usize) < REGION_BYTES { pc as usize } else { self.slot(pc) };
            self.ran[slot / 2] = 1;
        }
        if ACCESSES {
            self.count = 0;
        }
        false
    }

    /// The same where something may come out, or more is to do.
    #[inline(never)]
    pub(super) fn follow_special(&mut self, pc: u32) {
        let slot = self.slot(pc);
        if self.regs & met::ASK != 0 {
            self.ask();
            if self.regs == 0 {
                self.ran[slot / 2] = 1;
                return;
            }
        }
        let i = match self.index[slot / 2] {
            0 => self.new_entry(pc),
            known => known.into(),
        };
        let Entry { reads, writes, keeps, address, time, branch, bits, moves, .. } =
            self.entries[i & (ENTRIES - 1)];
        let regs = self.regs;
        let loaded = regs & met::LOADED != 0;
        if regs & branch != 0 {
            self.report(pc, bits, FindingKind::Branch);
        }
        if regs & address != 0 {
            self.report_address(pc, bits);
        }
        if regs & time != 0 {
            self.report(pc, bits, FindingKind::Time);
        }
        if bits & entry::SPECIAL != 0 {
            if bits & entry::UNKNOWN != 0 {
                self.report(pc, bits, FindingKind::Unknown);
            }
            if bits & entry::TRANSFER != 0 {
                self.transfer(pc, bits, moves, [reads, writes, keeps, address]);
                self.regs &= !met::ALL;
                return;
            }
            if loaded {
                self.report(pc, bits, FindingKind::Branch);
            }
        }
        // What is found at a marked place depends on the mark, whatever it is.
        let found = regs & address != 0 && bits & entry::READS_MEMORY != 0;
        let marked = regs & reads != 0 || found;
        let results = if marked { writes } else { 0 };
        self.regs = regs & keeps | results;
        if self.regs & (met::STORED | met::TELL) != 0 {
            self.store_all(results & met::STORED != 0);
        }
    }

    /// Asks the rules about what was read.
    #[cold]
    #[inline(never)]
    pub(super) fn ask(&mut self) {
        let mut met = 0;
        for n in 0..self.accesses() {
            let s = self.seen[n];
            let slot = self.slot(s.addr());
            let bytes = if self.byte_of_bit(s.addr()).is_some() { 1 } else { s.bytes() };
            let state = self.state(slot, bytes);
            if s.write() {
                met |= Set::from(state & (shadow::MARKED | shadow::TELL)) << met::WRITE_SHIFT;
            } else if state & shadow::MARKED != 0 || self.is_asked(s.addr(), state) {
                self.seen[n].set_marked();
                met |= met::LOADED;
                if state & shadow::UNREAD != 0 {
                    self.note_read(s.addr()..s.addr() + s.bytes());
                }
            }
        }
        self.regs = self.regs & !met::ALL | met;
    }

    /// Secret bytes that are read for the first time.
    #[cold]
    pub(super) fn note_read(&mut self, range: Range<u32>) {
        const SECRET: u8 = shadow::MARKED | shadow::UNREAD;
        for addr in range {
            let slot = self.slot(addr);
            if self.shadow[slot] & SECRET == SECRET {
                let ruled = self.rules.iter().any(|rule| match rule {
                    Rule::Mixer { output, .. } => output.contains(&addr),
                    Rule::Registers { base } => addr.wrapping_sub(*base) < 32,
                    Rule::Status { at } => addr == *at,
                });
                let ask = if ruled { 0 } else { shadow::ASK };
                self.shadow[slot] &= !(shadow::UNREAD | ask);
            }
        }
    }

    /// All that the instruction wrote is marked, or clean.
    #[inline(never)]
    pub(super) fn store_all(&mut self, marked: bool) {
        self.regs &= !met::ALL;
        for n in 0..self.accesses() {
            if self.seen[n].write() {
                self.store(n, marked);
            }
        }
    }

    /// A transfer of several registers: each access by itself.
    pub(super) fn transfer(
        &mut self,
        pc: u32,
        bits: u16,
        moves: u16,
        [reads, writes, keeps, address]: [Set; 4],
    ) {
        let before = self.regs & !met::ALL;
        // What the rule for all others says of results that are no part of the transfer.
        if before & reads != 0 {
            self.regs |= writes;
        } else {
            self.regs &= keeps;
        }
        let moves = usize::from(moves);
        let count = self.accesses().min(self.moves[moves].0.len());
        let mut first = None;
        for n in 0..count {
            let s = self.seen[n];
            let set = self.moves[moves].0[n];
            if s.write() {
                let marked = bits & entry::WRITES_MEMORY != 0 && before & set != 0;
                if marked || s.state() != 0 {
                    self.store(n, marked);
                }
            } else if bits & entry::READS_MEMORY != 0 || set == Moves::BRANCH {
                let marked = s.marked() || before & address != 0;
                if set == Moves::BRANCH {
                    if marked {
                        self.report(pc, bits, FindingKind::Branch);
                    }
                } else if marked {
                    self.regs |= set;
                } else if first != Some(set) {
                    self.regs &= !set;
                }
            }
            // The clean second half of a register leaves the mark of its first.
            first = s.marked().then_some(set);
        }
    }

    #[inline(always)]
    pub(super) fn store(&mut self, n: usize, marked: bool) {
        let (mut s, mut marked) = (self.seen[n], marked);
        if s.addr() & self.odd != 0
            && let Some(byte) = self.byte_of_bit(s.addr())
        {
            // The byte's other bits stay.
            marked |= self.is_marked(byte);
            s = Seen::new(byte, 1, true, s.state());
            self.seen[n] = s;
        }
        let slot = self.slot(s.addr()) & (SLOTS - 1);
        let lanes = lanes(s.bytes()) & MARKS;
        let states = self.states(slot);
        if states & (lanes * u32::from(shadow::TELL)) != 0 {
            self.tell_rules(n, marked);
            return;
        }
        self.paint(slot, s.bytes(), marked);
    }

    /// The shadow of four bytes.
    #[inline(always)]
    pub(super) fn states(&self, slot: usize) -> u32 {
        let bytes = &self.shadow[slot..slot + 4];
        u32::from_le_bytes(bytes.try_into().expect("a slice of four bytes"))
    }

    /// What is set in any of the bytes of an access.
    #[inline(always)]
    pub(super) fn state(&self, slot: usize, bytes: u32) -> u8 {
        let states = self.states(slot) & lanes(bytes);
        let state = (states | states >> 16) as u16;
        (state | state >> 8) as u8
    }

    /// Registers go to the stack or come from it by themselves; true if nothing is left to do.
    #[cold]
    #[inline(never)]
    pub(super) fn exception(&mut self, pc: u32, sp: u32, flow: Flow) -> bool {
        self.at = Some(pc);
        if self.regs & met::ASK != 0 {
            self.ask();
        }
        let flags = self.set(Registers::FLAGS);
        match (self.architecture, flow) {
            (Architecture::Msp430, Flow::Interrupt { .. }) => {
                // The program counter, then the status register.
                let mut writes = 0;
                for n in 0..self.accesses() {
                    if self.seen[n].write() {
                        let marked = writes == 1 && self.regs & flags != 0;
                        self.store(n, marked);
                        writes += 1;
                    }
                }
                self.regs &= !flags;
                true
            }
            (Architecture::Avr, Flow::Interrupt { .. }) => {
                for n in 0..self.accesses() {
                    if self.seen[n].write() {
                        self.store(n, false);
                    }
                }
                true
            }
            (Architecture::Arm, Flow::Interrupt { .. } | Flow::InterruptReturn) => {
                let entry = matches!(flow, Flow::Interrupt { .. });
                let count = self.accesses();
                let frame = |s: &&Seen| s.write() == entry && s.bytes() == 4;
                let lowest = self.seen[..count].iter().filter(frame).map(|s| s.addr()).min();
                let base = if entry { sp } else { lowest.unwrap_or(sp) };
                for n in 0..count {
                    let s = self.seen[n];
                    let set = self.frame_register(s.addr().wrapping_sub(base));
                    if s.write() && entry {
                        self.store(n, self.regs & set != 0);
                    } else if !s.write() && !entry {
                        self.regs = if s.marked() { self.regs | set } else { self.regs & !set };
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// What lies at `offset` of an exception frame (Armv7-M ARM B1.5.6).
    pub(super) fn frame_register(&self, offset: u32) -> Set {
        let register = match offset {
            0x00..0x10 => Registers::of((offset / 4) as u8),
            0x10 => Registers::of(12),
            0x14 => Registers::of(14),
            0x1C => Registers::FLAGS.without(Registers::FP),
            0x20..0x60 => Registers::of(32 + ((offset - 0x20) / 4) as u8),
            0x60 => Registers::FP,
            _ => Registers::NONE,
        };
        self.set(register)
    }

    /// Whether a rule says that what is read at `addr` is marked.
    pub(super) fn is_asked(&self, addr: u32, state: u8) -> bool {
        state & shadow::ASK != 0
            && self.rules.iter().any(|rule| match rule {
                Rule::Mixer { output, marked, .. } => *marked != 0 && output.contains(&addr),
                Rule::Registers { base } => {
                    let register = addr.wrapping_sub(*base);
                    register < 32 && self.regs >> (AVR_SHIFT + register) & 1 != 0
                }
                Rule::Status { at } => addr == *at && self.regs & self.set(Registers::FLAGS) != 0,
            })
    }

    /// Marks the registers of a multiplier that give back something marked.
    #[inline(always)]
    pub(super) fn show_multiplier(&mut self, i: usize) {
        let m = &self.multipliers[i];
        let (base, shown) = (self.slot(m.base), &SHOWN[usize::from(m.marked)]);
        let shadow = &mut self.shadow[base..base + m.bytes as usize];
        for (state, mark) in shadow.iter_mut().zip(shown) {
            *state = *state & !shadow::MARKED | mark;
        }
    }

    /// A block was given something.
    #[inline(never)]
    pub(super) fn tell_rules(&mut self, n: usize, given: bool) {
        let s = self.seen[n];
        self.tell(s.addr(), s.bytes(), self.values[n], given);
    }

    pub(super) fn tell(&mut self, addr: u32, bytes: u32, value: u32, given: bool) {
        let at = self.at.unwrap_or(NO_PC);
        for i in 0..self.multipliers.len() {
            let m = &mut self.multipliers[i];
            let (off, before) = (addr.wrapping_sub(m.base), m.marked);
            if off < m.bytes {
                m.take(off, given);
                if given && m.crossed.is_none() {
                    m.crossed = Some(at);
                }
                if m.marked != before {
                    self.show_multiplier(i);
                }
                return;
            }
        }
        let flags = self.set(Registers::FLAGS);
        let mut known = false;
        for rule in &mut self.rules {
            match rule {
                Rule::Mixer { input, output, start, reset, marked, crossed } => {
                    if reset.is_some_and(|(register, bits)| {
                        addr.wrapping_sub(register) < 2 && value & bits != 0
                    }) {
                        *marked = 0;
                    }
                    if start.contains(&addr) {
                        let bits = (1u8 << bytes.min(start.end - addr)).wrapping_sub(1)
                            << (addr - start.start);
                        *marked = *marked & !bits | if given { bits } else { 0 };
                    } else if input.contains(&addr) && (given || *marked != 0) {
                        *marked = u8::MAX >> (8 - (start.end - start.start).clamp(1, 8));
                    } else if !input.contains(&addr) && !output.contains(&addr) {
                        continue;
                    }
                    known = true;
                    if given && crossed.is_none() {
                        *crossed = Some(at);
                    }
                }
                Rule::Registers { base } => {
                    let register = addr.wrapping_sub(*base);
                    if register < 32 {
                        known = true;
                        let register = AVR_SHIFT + register;
                        self.regs &= !(1 << register);
                        self.regs |= u64::from(given) << register;
                    }
                }
                Rule::Status { at } => {
                    if addr == *at {
                        known = true;
                        self.regs = if given { self.regs | flags } else { self.regs & !flags };
                    }
                }
            }
        }
        if !known {
            if given || self.unseen.iter().any(|r| r.contains(&addr)) {
                self.holes.entry(addr).or_insert(self.at);
            }
            // A register that is read back gives what it was given.
            let slot = self.slot(addr) & (SLOTS - 1);
            self.paint(slot, bytes, given);
        }
    }
}

/// Where [`Taint::recent`] has the instruction at `pc`.
#[inline(always)]
fn recent_place(pc: u32) -> usize {
    (pc >> 1) as usize & (RECENT - 1)
}

/// The lowest bit of four bytes.
const MARKS: u32 = 0x0101_0101;

/// The bytes that an access of so many touches.
#[inline(always)]
fn lanes(bytes: u32) -> u32 {
    u32::MAX >> ((32 - 8 * bytes) & 31)
}

impl Observer for Taint {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;
    const OWN_LOOP: bool = true;

    const LATE: bool = true;
    const TRANSFERS: bool = true;

    fn instruction(&mut self, pc: u32, sp: u32, _: u32, flow: Flow) {
        if self.run_past::<true>(pc, sp, flow) {
            self.catch_up();
        }
    }

    #[inline(always)]
    fn instruction_soon(&mut self, pc: u32, sp: u32, _: u32, flow: Flow) -> bool {
        self.run_past::<true>(pc, sp, flow)
    }

    #[inline(always)]
    fn instruction_inside(&mut self, pc: u32, sp: u32, _: u32, flow: Flow) -> bool {
        self.run_past::<false>(pc, sp, flow)
    }

    #[inline]
    fn catch_up(&mut self) {
        match std::mem::replace(&mut self.late, Late::Nothing) {
            Late::Nothing => return,
            Late::Special(pc) => {
                self.at = Some(pc);
                self.follow_special(pc);
            }
            Late::Stores(pc, marked) => {
                self.at = Some(pc);
                self.store_all(marked);
            }
        }
        self.count = 0;
    }

    fn transfer(&mut self, from: Range<u32>, to: Range<u32>) {
        let marks: Vec<bool> = from
            .clone()
            .map(|addr| {
                let state = self.shadow[self.slot(addr)];
                state & shadow::MARKED != 0 || self.is_asked(addr, state)
            })
            .collect();
        self.note_read(from);
        self.at = None;
        let given = marks.contains(&true);
        for (n, addr) in to.clone().enumerate() {
            let slot = self.slot(addr);
            if self.shadow[slot] & shadow::TELL == 0 {
                self.paint(slot, 1, marks.get(n).copied().unwrap_or(false));
            } else if n == 0 {
                self.tell(addr, to.end - to.start, 0, given);
            }
        }
    }

    // Without calls: handlers of loads and stores stay without a stack of their own.
    #[inline(always)]
    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, _: Cycles) {
        let slot = if addr & self.odd != 0 { ODD } else { self.even_slot(addr) };
        let state = match width {
            Width::W8 => self.shadow[slot],
            Width::W16 => self.shadow[slot] | self.shadow[slot + 1],
            Width::W32 => self.state(slot, 4),
        };
        let write = kind == Access::Write;
        let met = if write {
            Set::from(state & (shadow::MARKED | shadow::TELL)) << met::WRITE_SHIFT
        } else {
            Set::from(state & (shadow::MARKED | shadow::ASK)) << met::READ_SHIFT
        };
        self.regs |= met;
        let n = usize::from(self.count);
        self.seen[n] = Seen::new(addr, width.bytes(), write, state);
        if write {
            self.values[n] = value;
        }
        self.count = self.count.wrapping_add(1);
    }
}
