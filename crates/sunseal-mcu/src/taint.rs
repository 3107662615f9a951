// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taint: which instructions branch on marked bytes, form addresses from them or take their time by
//! them. Run over a whole computation it is the constant-time verdict on the very binary.
//!
//! A mark follows data: an instruction's results are marked if one of its operands was, and clean
//! again where everything they depend on is. Memory is marked by bytes, registers and flags whole. What
//! is loaded from a marked address is marked. What depends on a marked *branch* alone (which way was
//! taken), or on where something was stored, is not: the branch, or the address, is the finding.
//! Transfers by DMA are not followed: mark what they bring.

use std::ops::Range;

use sunseal_isa::{Dataflow, Registers, Transfer};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::device::{Device, Facts, RegionKind};
use crate::elf::{Architecture, Elf, SourceLine};
use crate::listing::Code;

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
    const COUNT: usize = 5;
    const ALL: [Self; Self::COUNT] =
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
    /// Its address.
    pub pc: u32,
    /// How.
    pub kind: FindingKind,
    /// How often.
    pub count: u64,
    /// `function+offset`.
    pub symbol: String,
    /// Its source line, where the image has debug lines.
    pub line: Option<SourceLine>,
    /// Its text.
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

/// Registers of an entry or of the state in 64 bits: general ones from 0, single precision from 32,
/// flags where the set has no registers.
type Set = u64;

/// [`Dataflow`] of one instruction as the observer wants it: one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Entry {
    reads: Set,
    writes: Set,
    /// Of `writes`, those that forget what they held.
    clears: Set,
    address: Set,
    time: Set,
    branch: Set,
    bits: u16,
    /// Of `transfers`, with [`entry::TRANSFER`].
    transfer: u16,
}

/// Bits of an entry.
mod entry {
    pub const READS_MEMORY: u16 = 1;
    pub const WRITES_MEMORY: u16 = 2;
    pub const BRANCH_MEMORY: u16 = 4;
    pub const TRANSFER: u16 = 8;
    pub const UNKNOWN: u16 = 16;
    pub const TRUSTED: u16 = 32;
}

/// Bits of a shadow byte.
mod shadow {
    pub const MARKED: u8 = 1;
    /// Never marked, whatever is written.
    pub const PUBLIC: u8 = 2;
    /// A register of a block with a rule of its own.
    pub const RULE: u8 = 4;
}

/// A data access of the instruction that runs.
#[derive(Clone, Copy, Default)]
struct Seen {
    addr: u32,
    slot: u32,
    value: u32,
    bytes: u8,
    write: bool,
    state: u8,
}

const REGIONS: usize = 8;
const REGION_BYTES: usize = 1 << 20;
const SLOTS: usize = REGIONS * REGION_BYTES;
/// The most accesses that an instruction makes, and the entry into an exception.
const SEEN: usize = 64;

/// A peripheral that gives back something made of what it was given.
#[derive(Clone, Debug)]
enum Rule {
    /// TI's multiplier, of 16 or 32 bits: the first eight registers are the same.
    Multiplier { base: u32, op1: bool, op2: bool, accumulates: bool, results: u8 },
    /// Everything read from `output` depends on everything written to `input` since the last reset: a
    /// value written to `start`, or a bit of `reset` set in a register.
    Mixer {
        input: Range<u32>,
        output: Range<u32>,
        start: Range<u32>,
        reset: Option<(u32, u32)>,
        marked: bool,
    },
    /// AVR's registers in the data space.
    Registers { base: u32 },
    /// AVR's SREG in the data space.
    Status { at: u32 },
}

/// Follows marked bytes.
pub struct Taint {
    architecture: Architecture,
    /// Address bits outside the region's 20 and its number.
    odd: u32,
    region_shift: u32,
    regs: Set,
    /// Shadow states of the accesses so far.
    busy: u8,
    count: u8,
    seen: [Seen; SEEN],
    shadow: Box<[u8]>,
    index: Box<[u32]>,
    entries: Vec<Entry>,
    counts: Vec<[u64; FindingKind::COUNT]>,
    pcs: Vec<u32>,
    transfers: Vec<Transfer>,
    code: Code,
    cached: Vec<Range<u32>>,
    trusted: Vec<Range<u32>>,
    trusted_count: u64,
    rules: Vec<Rule>,
}

impl Taint {
    /// Nothing marked, for programs of `elf`. Instructions are read from the image: what a program writes
    /// into its own code is not seen.
    #[must_use]
    pub fn new(elf: &Elf) -> Self {
        let architecture = elf.architecture;
        let (odd, region_shift) = match architecture {
            Architecture::Msp430 => (0xFFF0_0000, 20),
            Architecture::Avr => (0xFF70_0000, 23),
            Architecture::Arm => (0x1FF0_0000, 29),
        };
        let mut taint = Self {
            architecture,
            odd,
            region_shift,
            regs: 0,
            busy: 0,
            count: 0,
            seen: [Seen::default(); SEEN],
            // A few more, so that four bytes can be read at the last.
            shadow: vec![0; SLOTS + 4].into_boxed_slice(),
            index: vec![0; SLOTS / 2].into_boxed_slice(),
            entries: vec![Entry { bits: entry::UNKNOWN, ..Entry::default() }],
            counts: vec![[0; FindingKind::COUNT]],
            pcs: vec![0],
            transfers: Vec::new(),
            code: Code::of(elf),
            cached: Vec::new(),
            trusted: Vec::new(),
            trusted_count: 0,
            rules: Vec::new(),
        };
        if architecture == Architecture::Avr {
            taint.add_rule(Rule::Registers { base: AVR_DATA }, AVR_DATA..AVR_DATA + 32);
            let at = AVR_DATA + 0x5F;
            taint.add_rule(Rule::Status { at }, at..at + 1);
        }
        taint
    }

    /// Nothing marked, for programs of `elf` on `device`, whose blocks and memories are known.
    #[must_use]
    pub fn of(device: &Device, elf: &Elf) -> Self {
        let mut taint = Self::new(elf);
        if let Some(base) = device.multiplier() {
            taint.multiplier(base, 0x30);
        }
        let (crc16, aes256) = match &device.facts {
            Facts::F5xx(f) => (Some(f.peripherals.crc16), None),
            Facts::Fr5xx(f) => (Some(f.peripherals.crc16), Some(f.peripherals.aes256)),
            Facts::Msp432(f) => (None, Some(f.peripherals.aes256)),
            _ => (None, None),
        };
        if let Some(base) = crc16 {
            // CRCDI, CRCDIRB; CRCINIRES, whose value starts it anew, CRCRESR.
            taint.mixer(base..base + 4, base + 4..base + 8, base + 4..base + 6, None);
        }
        if let Some(base) = aes256 {
            // AESAKEY to AESAXIN; AESADOUT; AESSWRST in AESACTL0.
            taint.mixer(base + 6..base + 16, base + 10..base + 12, 0..0, Some((base, 0x80)));
        }
        // Wait states and what hides them; the flash of the others answers at once.
        let waits = |kind| match kind {
            RegionKind::Fram => true,
            RegionKind::Flash | RegionKind::InfoFlash => elf.architecture == Architecture::Arm,
            _ => false,
        };
        for r in device.memory.iter().filter(|r| waits(r.kind)) {
            taint.cached(r.start..r.end.saturating_add(1));
        }
        taint
    }

    /// Marks bytes of memory.
    pub fn mark(&mut self, range: Range<u32>) {
        for addr in range {
            let slot = self.slot(addr);
            self.shadow[slot] |= shadow::MARKED;
        }
    }

    /// Marks a register (numbers as in [`Observer::result`]).
    pub fn mark_register(&mut self, register: u8) {
        self.regs |= self.set(Registers::of(register & 63));
    }

    /// Takes the marks off bytes of memory.
    pub fn clear(&mut self, range: Range<u32>) {
        for addr in range {
            let slot = self.slot(addr);
            self.shadow[slot] &= !shadow::MARKED;
        }
    }

    /// Takes the marks off all registers and flags, as a loss of supply does.
    pub fn clear_registers(&mut self) {
        self.regs = 0;
    }

    /// Declassifies memory: what the program writes there is public from then on, such as a signature.
    pub fn declassify(&mut self, range: Range<u32>) {
        for addr in range {
            let slot = self.slot(addr);
            self.shadow[slot] = self.shadow[slot] & !shadow::MARKED | shadow::PUBLIC;
        }
    }

    /// Declassifies code: what instructions there let out is known and allowed (a candidate thrown away, a
    /// check of a public value). It is counted in [`trusted_count`](Self::trusted_count) alone.
    pub fn trust(&mut self, code: Range<u32>) {
        for (entry, pc) in self.entries.iter_mut().zip(&self.pcs).skip(1) {
            if code.contains(pc) {
                entry.bits |= entry::TRUSTED;
            }
        }
        self.trusted.push(code);
    }

    /// Memory whose accesses take their time by what was accessed before, or where it is fetched from.
    pub fn cached(&mut self, range: Range<u32>) {
        self.cached.push(range);
    }

    /// TI's hardware multiplier with its registers from `base` on: its results are marked if an operand
    /// was. `bytes` is 0x10 for the 16-bit one and 0x30 for MPY32.
    pub fn multiplier(&mut self, base: u32, bytes: u32) {
        let rule =
            Rule::Multiplier { base, op1: false, op2: false, accumulates: false, results: 0 };
        self.add_rule(rule, base..base + bytes);
    }

    /// A block whose `output` depends on everything written to `input`, until a value is written to `start`
    /// or a bit of `reset` (address, bits) is set: a CRC, a cipher.
    pub fn mixer(
        &mut self,
        input: Range<u32>,
        output: Range<u32>,
        start: Range<u32>,
        reset: Option<(u32, u32)>,
    ) {
        let ranges = [input.clone(), output.clone(), start.clone()];
        let rule = Rule::Mixer { input, output, start, reset, marked: false };
        for range in ranges {
            self.heed(range);
        }
        if let Some((addr, _)) = reset {
            self.heed(addr..addr + 2);
        }
        self.rules.push(rule);
    }

    fn add_rule(&mut self, rule: Rule, range: Range<u32>) {
        self.heed(range);
        self.rules.push(rule);
    }

    fn heed(&mut self, range: Range<u32>) {
        for addr in range {
            let slot = self.slot(addr);
            self.shadow[slot] |= shadow::RULE;
        }
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
        self.counts.iter().flatten().all(|&n| n == 0)
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
        for (&pc, counts) in self.pcs.iter().zip(&self.counts) {
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
        self.counts.fill([0; FindingKind::COUNT]);
        self.trusted_count = 0;
    }

    #[inline(always)]
    fn slot(&self, addr: u32) -> usize {
        if addr & self.odd != 0 {
            return self.odd_slot(addr);
        }
        let region = (addr >> self.region_shift) as usize & (REGIONS - 1);
        (region * REGION_BYTES) | addr as usize & (REGION_BYTES - 1)
    }

    /// Addresses that are others in disguise, and those of far-off corners, which share a region.
    #[cold]
    fn odd_slot(&self, addr: u32) -> usize {
        const BIT_BANDS: [u32; 2] = [0x2200_0000, 0x4200_0000];
        if self.architecture == Architecture::Arm {
            // SRAM seen from the code bus; bits seen as words.
            if addr >> 20 == 0x010 {
                return self.slot(0x2000_0000 | addr & 0xF_FFFF);
            }
            if let Some(alias) = BIT_BANDS.iter().find(|a| addr & 0xFE00_0000 == **a) {
                return self.slot((alias & 0xF000_0000) | (addr & 0x01FF_FFFF) >> 5);
            }
        }
        ((REGIONS - 1) * REGION_BYTES) | addr as usize & (REGION_BYTES - 1)
    }

    /// Registers and flags in 64 bits.
    fn set(&self, registers: Registers) -> Set {
        let flags = if self.architecture == Architecture::Arm { 16 } else { 32 };
        registers
            .iter()
            .map(|n| 1 << if n < 64 { u32::from(n) } else { u32::from(n) - 64 + flags })
            .fold(0, |set: Set, bit: Set| set | bit)
    }

    fn number(&self, moved: u8) -> Set {
        match moved {
            Transfer::FLAGS => self.set(Registers::FLAGS),
            n if n < 64 => self.set(Registers::of(n)),
            _ => 0,
        }
    }

    #[inline(always)]
    fn entry(&mut self, pc: u32) -> usize {
        let at = self.slot(pc) >> 1;
        match self.index[at & (SLOTS / 2 - 1)] {
            0 => self.new_entry(pc, at),
            i => i as usize,
        }
    }

    #[cold]
    #[inline(never)]
    fn new_entry(&mut self, pc: u32, at: usize) -> usize {
        let mut entry = match self.code.dataflow(pc) {
            Some(flow) => self.compile(&flow),
            None => Entry { bits: entry::UNKNOWN, ..Entry::default() },
        };
        if self.trusted.iter().any(|r| r.contains(&pc)) {
            entry.bits |= entry::TRUSTED;
        }
        let i = self.entries.len();
        self.entries.push(entry);
        self.counts.push([0; FindingKind::COUNT]);
        self.pcs.push(pc);
        self.index[at] = i as u32;
        i
    }

    fn compile(&mut self, flow: &Dataflow) -> Entry {
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
        let mut transfer = 0;
        if !flow.transfer.is_empty() {
            transfer = match self.transfers.iter().position(|t| *t == flow.transfer) {
                Some(i) => i,
                None => {
                    self.transfers.push(flow.transfer);
                    self.transfers.len() - 1
                }
            };
        }
        Entry {
            reads: self.set(flow.reads),
            writes: self.set(flow.writes),
            clears: self.set(flow.writes.without(flow.keeps)),
            address: self.set(flow.address),
            time: self.set(flow.time),
            branch: self.set(flow.branch),
            bits,
            transfer: transfer as u16,
        }
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self, i: usize, kind: FindingKind) {
        if self.entries[i].bits & entry::TRUSTED != 0 {
            self.trusted_count += 1;
        } else {
            self.counts[i][kind as usize] += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn report_address(&mut self, i: usize) {
        let accesses = &self.seen[..usize::from(self.count)];
        let slow = |s: &Seen| self.cached.iter().any(|r| r.contains(&s.addr));
        let kind = if accesses.iter().any(slow) {
            FindingKind::CachedAddress
        } else {
            FindingKind::Address
        };
        self.report(i, kind);
    }

    /// The instruction at `pc` has run, and something it touched may be marked.
    #[inline(never)]
    fn follow(&mut self, pc: u32, sp: u32, flow: Flow) {
        if !matches!(flow, Flow::Next | Flow::Jump | Flow::Call { .. } | Flow::Return)
            && self.exception(sp, flow)
        {
            return;
        }
        let i = self.entry(pc);
        let e = self.entries[i];
        let regs = self.regs;
        let count = usize::from(self.count);
        let mut loaded = false;
        if self.busy != 0 {
            if self.busy & shadow::RULE != 0 {
                self.ask_rules();
            }
            loaded = self.seen[..count].iter().any(|s| !s.write && s.state & shadow::MARKED != 0);
        }
        if regs & (e.address | e.time | e.branch) != 0 {
            if regs & e.address != 0 {
                self.report_address(i);
            }
            if regs & e.time != 0 {
                self.report(i, FindingKind::Time);
            }
            if regs & e.branch != 0 {
                self.report(i, FindingKind::Branch);
            }
        }
        if e.bits & (entry::TRANSFER | entry::UNKNOWN | entry::BRANCH_MEMORY) != 0 {
            if e.bits & entry::UNKNOWN != 0 {
                self.report(i, FindingKind::Unknown);
            }
            if e.bits & entry::BRANCH_MEMORY != 0 && loaded && e.bits & entry::TRANSFER == 0 {
                self.report(i, FindingKind::Branch);
            }
            if e.bits & entry::TRANSFER != 0 {
                self.transfer(i, e);
                return;
            }
        }
        // What is found at a marked place depends on the mark, whatever it is.
        let found = loaded || regs & e.address != 0;
        let marked = regs & e.reads != 0 || found && e.bits & entry::READS_MEMORY != 0;
        self.regs = if marked { regs | e.writes } else { regs & !e.clears };
        let stored = marked && e.bits & entry::WRITES_MEMORY != 0;
        for n in 0..count {
            let s = self.seen[n];
            if s.write && (stored || s.state != 0) {
                self.store(&s, stored);
            }
        }
    }

    /// A transfer of several registers: each access by itself.
    #[inline(never)]
    fn transfer(&mut self, i: usize, e: Entry) {
        let transfer = self.transfers[usize::from(e.transfer)];
        let before = self.regs;
        // What the rule for all others says of results that are no part of the transfer.
        if before & e.reads != 0 {
            self.regs |= e.writes;
        } else {
            self.regs &= !e.clears;
        }
        for (n, &moved) in transfer.as_slice().iter().enumerate().take(usize::from(self.count)) {
            let s = self.seen[n];
            let set = self.number(moved);
            if s.write {
                let marked = e.bits & entry::WRITES_MEMORY != 0 && before & set != 0;
                if marked || s.state != 0 {
                    self.store(&s, marked);
                }
            } else if e.bits & entry::READS_MEMORY != 0 || moved == Transfer::BRANCH {
                let marked = s.state & shadow::MARKED != 0 || before & e.address != 0;
                if moved == Transfer::BRANCH {
                    if marked {
                        self.report(i, FindingKind::Branch);
                    }
                } else if marked {
                    self.regs |= set;
                } else if !self.first_half_marked(n, &transfer) {
                    self.regs &= !set;
                }
            }
        }
    }

    /// Whether access `n` is the clean second half of a register whose first half is marked.
    fn first_half_marked(&self, n: usize, transfer: &Transfer) -> bool {
        let moved = transfer.as_slice();
        n > 0 && moved[n - 1] == moved[n] && self.seen[n - 1].state & shadow::MARKED != 0
    }

    fn store(&mut self, s: &Seen, marked: bool) {
        if s.state & shadow::RULE != 0 {
            self.tell_rules(s, marked);
            return;
        }
        let slot = s.slot as usize;
        for byte in &mut self.shadow[slot..slot + usize::from(s.bytes)] {
            *byte &= !shadow::MARKED;
            if marked && *byte & shadow::PUBLIC == 0 {
                *byte |= shadow::MARKED;
            }
        }
    }

    /// Registers go to the stack or come from it by themselves; true if nothing is left to do.
    fn exception(&mut self, sp: u32, flow: Flow) -> bool {
        let flags = self.set(Registers::FLAGS);
        match (self.architecture, flow) {
            (Architecture::Msp430, Flow::Interrupt { .. }) => {
                // The program counter, then the status register.
                let mut writes = 0;
                for n in 0..usize::from(self.count) {
                    let s = self.seen[n];
                    if s.write {
                        let marked = writes == 1 && self.regs & flags != 0;
                        self.store(&s, marked);
                        writes += 1;
                    }
                }
                self.regs &= !flags;
                true
            }
            (Architecture::Avr, Flow::Interrupt { .. }) => {
                for n in 0..usize::from(self.count) {
                    let s = self.seen[n];
                    if s.write {
                        self.store(&s, false);
                    }
                }
                true
            }
            (Architecture::Arm, Flow::Interrupt { .. } | Flow::InterruptReturn) => {
                let entry = matches!(flow, Flow::Interrupt { .. });
                let count = usize::from(self.count);
                let frame = |s: &&Seen| s.write == entry && s.bytes == 4;
                let lowest = self.seen[..count].iter().filter(frame).map(|s| s.addr).min();
                let base = if entry { sp } else { lowest.unwrap_or(sp) };
                for n in 0..count {
                    let s = self.seen[n];
                    let set = self.frame_register(s.addr.wrapping_sub(base));
                    if s.write && entry {
                        self.store(&s, self.regs & set != 0);
                    } else if !s.write && !entry {
                        let marked = s.state & shadow::MARKED != 0;
                        self.regs = if marked { self.regs | set } else { self.regs & !set };
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// What lies at `offset` of an exception frame (Armv7-M ARM B1.5.6).
    fn frame_register(&self, offset: u32) -> Set {
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

    /// Whether what was read from a block is marked.
    #[inline(never)]
    fn ask_rules(&mut self) {
        for n in 0..usize::from(self.count) {
            let s = self.seen[n];
            if s.write || s.state & shadow::RULE == 0 {
                continue;
            }
            let mut marked = false;
            for rule in &self.rules {
                match rule {
                    Rule::Multiplier { base, op1, op2, results, .. } => {
                        let off = s.addr.wrapping_sub(*base);
                        marked |= match off {
                            0x00..0x08 | 0x10..0x20 => *op1,
                            0x08..0x0A | 0x20..0x24 => *op2,
                            _ => result_bits(off) & results != 0,
                        };
                    }
                    Rule::Mixer { output, marked: state, .. } => {
                        marked |= *state && output.contains(&s.addr);
                    }
                    Rule::Registers { base } => {
                        let register = s.addr.wrapping_sub(*base);
                        marked |= register < 32 && self.regs >> register & 1 != 0;
                    }
                    Rule::Status { at } => {
                        let flags = self.set(Registers::FLAGS);
                        marked |= s.addr == *at && self.regs & flags != 0;
                    }
                }
            }
            if marked {
                self.seen[n].state |= shadow::MARKED;
            }
        }
    }

    /// A block was given something.
    #[inline(never)]
    fn tell_rules(&mut self, s: &Seen, given: bool) {
        let flags = self.set(Registers::FLAGS);
        for rule in &mut self.rules {
            match rule {
                Rule::Multiplier { base, op1, op2, accumulates, results } => {
                    let off = s.addr.wrapping_sub(*base);
                    match off {
                        0x00..0x08 => {
                            *op1 = given;
                            *accumulates = off >= 4;
                        }
                        0x10..0x20 => {
                            // Low words first; a high word joins it.
                            *op1 = given || off & 2 != 0 && *op1;
                            *accumulates = off >= 0x18;
                        }
                        0x20..0x22 => *op2 = given,
                        0x08..0x0A | 0x22..0x24 => {
                            *op2 = given || off >= 0x22 && *op2;
                            let old = if *accumulates { *results } else { 0 };
                            *results = if *op1 || *op2 || old != 0 { 0xFF } else { 0 };
                        }
                        0x0A..0x10 | 0x24..0x2C => {
                            *results &= !result_bits(off);
                            if given {
                                *results |= result_bits(off);
                            }
                        }
                        _ => {}
                    }
                }
                Rule::Mixer { input, start, reset, marked, .. } => {
                    if reset.is_some_and(|(addr, bits)| {
                        s.addr.wrapping_sub(addr) < 2 && s.value & bits != 0
                    }) {
                        *marked = false;
                    }
                    if start.contains(&s.addr) {
                        *marked = given;
                    } else if input.contains(&s.addr) {
                        *marked |= given;
                    }
                }
                Rule::Registers { base } => {
                    let register = s.addr.wrapping_sub(*base);
                    if register < 32 {
                        self.regs &= !(1 << register);
                        self.regs |= u64::from(given) << register;
                    }
                }
                Rule::Status { at } => {
                    if s.addr == *at {
                        self.regs = if given { self.regs | flags } else { self.regs & !flags };
                    }
                }
            }
        }
    }
}

/// Start of AVR's data space in an image.
const AVR_DATA: u32 = 0x80_0000;

/// Which result words the multiplier's register at `off` is: RES0 to RES3, then SUMEXT.
const fn result_bits(off: u32) -> u8 {
    match off {
        0x0A..0x0C | 0x24..0x26 => 1,
        0x0C..0x0E | 0x26..0x28 => 2,
        0x28..0x2A => 4,
        0x2A..0x2C => 8,
        0x0E..0x10 => 16,
        _ => 0,
    }
}

impl Observer for Taint {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;
    const OWN_LOOP: bool = true;

    #[inline(always)]
    fn instruction(&mut self, pc: u32, sp: u32, _: u32, flow: Flow) {
        if self.regs != 0 || self.busy != 0 {
            self.follow(pc, sp, flow);
            self.busy = 0;
        }
        self.count = 0;
    }

    #[inline(always)]
    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, _: Cycles) {
        let slot = self.slot(addr) & (SLOTS - 1);
        let bytes = width.bytes();
        let states = u32::from_le_bytes(
            self.shadow[slot..slot + 4].try_into().expect("a slice of four bytes"),
        );
        let states = states & (u32::MAX >> (32 - 8 * bytes));
        let state = (states | states >> 16) as u16;
        let state = (state | state >> 8) as u8;
        self.busy |= state & (shadow::MARKED | shadow::RULE);
        self.seen[usize::from(self.count) & (SEEN - 1)] = Seen {
            addr,
            slot: slot as u32,
            value,
            bytes: bytes as u8,
            write: kind == Access::Write,
            state,
        };
        self.count = (self.count + 1).min(SEEN as u8);
    }
}
