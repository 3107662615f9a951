// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taint: which instructions branch on marked bytes, form addresses from them or take their time by
//! them. Run over a whole computation it is the constant-time verdict on the very binary.
//!
//! A mark follows data: an instruction's results are marked if one of its operands was, and clean
//! again where everything they depend on is. Memory is marked by bytes, registers and flags whole. What
//! is loaded from a marked address is marked. What depends on a marked *branch* alone (which way was
//! taken), or on where something was stored, is not: the branch, or the address, is the finding. Nor is
//! what goes to the bits of an MSP430's SR that are no flags (sleep, interrupts).
//!
//! Peripheral blocks: each says how secrets go through it (`Follow`); what multipliers, CRCs and ciphers give back is
//! followed, and so are transfers by DMA. Every other block is a hole: that it was given marked data is told by its name ([`Taint::crossings`]), and then
//! a run without findings has not shown that nothing depends on it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use sunseal_isa::{Dataflow, Registers, Transfer};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::device::{Device, RegionKind};
use crate::elf::{Architecture, Elf, SourceLine, SymbolKind};
use crate::families;
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
    /// It was read.
    Read,
    /// It was not read so far.
    Unread,
    /// Something else was written over it before it was read.
    Overwritten,
}

/// How secrets go through a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Follow {
    /// Nobody knows: that it was given a secret is told by its name.
    Hole,
    /// It moves data: what it moved is told by the machine, what its registers are given is lost.
    Mover,
    /// A hole whatever it is given: it moves data out of sight.
    Unseen,
    /// TI's multiplier, with so many bytes of registers.
    Multiplier { bytes: u32 },
    /// What it gives back depends on all that it was given.
    Mixers(&'static [Mix]),
}

impl Follow {
    /// Whether what it gives back is known from what it was given.
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Multiplier { .. } | Self::Mixers(_))
    }
}

/// A [`Rule::Mixer`] by offsets from the block's base.
#[derive(Debug)]
pub(crate) struct Mix {
    pub input: Range<u32>,
    pub output: Range<u32>,
    pub start: Range<u32>,
    pub reset: Option<(u32, u32)>,
}

/// Registers of an entry or of the state in 64 bits: general ones from 0 (AVR's from 32), flags from 16, single
/// precision from 32. What the accesses of the instruction that runs have met is among them: see [`met`].
type Set = u64;

const FLAGS_SHIFT: u32 = 16;
const AVR_SHIFT: u32 = 32;

/// What the accesses so far have met, in the bits of a [`Set`] that no register has: a [`shadow`] byte's, moved.
mod met {
    use super::{Set, shadow};

    pub const READ_SHIFT: u32 = 26;
    pub const WRITE_SHIFT: u32 = 27;
    /// Something marked was read.
    pub const LOADED: Set = (shadow::MARKED as Set) << READ_SHIFT;
    /// It must be asked whether what was read is marked.
    pub const ASK: Set = (shadow::ASK as Set) << READ_SHIFT;
    /// Something must be marked, or a mark taken away.
    pub const STORED: Set = (shadow::MARKED as Set) << WRITE_SHIFT;
    /// A block must be told what it was given.
    pub const TELL: Set = (shadow::TELL as Set) << WRITE_SHIFT;
    pub const ALL: Set = LOADED | ASK | STORED | TELL;
    const _: () = assert!(ALL.count_ones() == 4 && ALL & !0xFC00_0000 == 0);
}

/// [`Dataflow`] as the observer wants it, once for all instructions that have the same: one cache line.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(align(64))]
struct Entry {
    /// What flows into the results, [`met::LOADED`] included.
    reads: Set,
    /// Where it flows, [`met::STORED`] included.
    writes: Set,
    /// All but those of `writes` that forget what they held.
    keeps: Set,
    address: Set,
    time: Set,
    branch: Set,
    /// What [`Taint::follow_special`] is for: any of these three, what must be asked; all, if `bits` say so.
    special: Set,
    bits: u16,
    /// Of `moves`, with [`entry::TRANSFER`].
    moves: u16,
}

/// A [`Transfer`] as the observer wants it: what each access moves.
#[derive(PartialEq, Eq)]
struct Moves(Vec<Set>);

impl Moves {
    /// What is loaded decides where the program goes.
    const BRANCH: Set = Set::MAX;
}

/// What an instruction has left to do.
#[derive(Clone, Copy)]
enum Late {
    Nothing,
    /// The instruction at this address may let something out, or is not met yet.
    Special(u32),
    /// All that it wrote is marked, or clean.
    Stores(u32, bool),
}

/// Bits of an entry.
mod entry {
    pub const READS_MEMORY: u16 = 1;
    pub const WRITES_MEMORY: u16 = 2;
    pub const BRANCH_MEMORY: u16 = 4;
    pub const TRANSFER: u16 = 8;
    pub const UNKNOWN: u16 = 16;
    pub const TRUSTED: u16 = 32;
    /// Always special.
    pub const SPECIAL: u16 = BRANCH_MEMORY | TRANSFER | UNKNOWN;
}

/// Bits of a shadow byte.
mod shadow {
    pub const MARKED: u8 = 1;
    /// Never marked, whatever is written.
    pub const PUBLIC: u8 = 2;
    /// A rule knows whether what is read here is marked.
    pub const ASK: u8 = 4;
    /// A rule must be told what is written here.
    pub const TELL: u8 = 8;
    /// A secret that was not read yet.
    pub const UNREAD: u8 = 16;
}

/// A data access of the instruction that runs, in one word.
#[derive(Clone, Copy, Default)]
struct Seen(u64);

impl Seen {
    const WRITE: u64 = 1 << 40;

    #[inline(always)]
    fn new(addr: u32, bytes: u32, write: bool, state: u8) -> Self {
        let write = if write { Self::WRITE } else { 0 };
        Self(u64::from(addr) | u64::from(bytes) << 32 | write | u64::from(state) << 48)
    }
    #[inline(always)]
    fn addr(self) -> u32 {
        self.0 as u32
    }
    #[inline(always)]
    fn bytes(self) -> u32 {
        (self.0 >> 32) as u32 & 7
    }
    #[inline(always)]
    fn write(self) -> bool {
        self.0 & Self::WRITE != 0
    }
    #[inline(always)]
    fn state(self) -> u8 {
        (self.0 >> 48) as u8
    }
    fn set_marked(&mut self) {
        self.0 |= u64::from(shadow::MARKED) << 48;
    }
    #[inline(always)]
    fn marked(self) -> bool {
        self.state() & shadow::MARKED != 0
    }
}

const REGIONS: usize = 8;
const REGION_BYTES: usize = 1 << 20;
const SLOTS: usize = REGIONS * REGION_BYTES;
/// Different entries that are kept before all are forgotten: more than a program has.
const ENTRIES: usize = 1 << 12;
/// The shadow of addresses that are others in disguise: all is to be asked and told.
const ODD: usize = SLOTS + 4;
/// A few more, so that four bytes can be read at the last and at [`ODD`].
const SHADOW: usize = ODD + 4;
/// Instructions of which it is known at once where their counts are.
const RECENT: usize = 64;
/// More accesses than an instruction makes, or the entry into an exception: as many as `Taint::count` can say.
const SEEN: usize = 1 << u8::BITS;

/// A peripheral that gives back something made of what it was given.
#[derive(Clone, Debug)]
enum Rule {
    /// Everything read from `output` depends on everything written to `input` since the last reset: a
    /// value written to `start`, or a bit of `reset` set in a register.
    Mixer {
        input: Range<u32>,
        output: Range<u32>,
        start: Range<u32>,
        reset: Option<(u32, u32)>,
        /// A bit for each byte of `start`, at least one.
        marked: u8,
        /// It was given marked data, by the instruction at this address.
        crossed: Option<u32>,
    },
    /// AVR's registers in the data space.
    Registers { base: u32 },
    /// AVR's SREG in the data space.
    Status { at: u32 },
}

/// TI's multiplier, of 16 or 32 bits: the first eight registers are the same.
#[derive(Clone, Debug)]
struct Multiplier {
    base: u32,
    bytes: u32,
    accumulates: bool,
    /// Which operands and result words are marked: [`OP1`](Self::OP1), [`OP2`](Self::OP2), [`result_bits`].
    marked: u8,
    /// It was given marked data, by the instruction at this address.
    crossed: Option<u32>,
}

/// What a write to a register of the multiplier does to its marks.
#[derive(Clone, Copy)]
struct Take {
    /// These are clean behind it, unless what was written is marked.
    clears: u8,
    /// These are marked if it is.
    sets: u8,
    /// The operation, where it chooses one: whether it accumulates.
    accumulates: Option<bool>,
    starts: bool,
}

impl Multiplier {
    const BYTES: u32 = 0x30;
    const WORDS: usize = Self::BYTES as usize / 2;
    const OP1: u8 = 0x20;
    const OP2: u8 = 0x40;
    /// Of the sum, in the control register of MPY32.
    const CARRY: u8 = 0x80;
    const RESULTS: u8 = 0x1F | Self::CARRY;
    /// What a register gives back, by its word.
    const GIVES: [u8; Self::WORDS] = {
        let mut gives = [0; Self::WORDS];
        let mut word = 0;
        while word < gives.len() {
            gives[word] = match 2 * word {
                0x00..0x08 | 0x10..0x20 => Self::OP1,
                0x08..0x0A | 0x20..0x24 => Self::OP2,
                off => result_bits(off as u32),
            };
            word += 1;
        }
        gives
    };
    /// What a register takes, by its word. High words join the low ones, which come first.
    const TAKES: [Take; Self::WORDS] = {
        let mut takes =
            [Take { clears: 0, sets: 0, accumulates: None, starts: false }; Self::WORDS];
        let mut word = 0;
        while word < takes.len() {
            let (off, sets) = (2 * word, Self::GIVES[word]);
            let joins = matches!(off, 0x10..0x24) && off & 2 != 0;
            takes[word] = Take {
                clears: if joins { 0 } else { sets },
                sets,
                accumulates: match off {
                    0x00..0x08 => Some(off >= 4),
                    0x10..0x20 => Some(off >= 0x18),
                    _ => None,
                },
                starts: matches!(off, 0x08 | 0x22),
            };
            word += 1;
        }
        takes
    };
    /// The marks of the registers' bytes, by `marked`.
    const SHOWN: [[u8; Self::BYTES as usize]; 0x100] = {
        let mut shown = [[0; Self::BYTES as usize]; 0x100];
        let mut marked = 0;
        while marked < shown.len() {
            let mut off = 0;
            while off < Self::BYTES as usize {
                shown[marked][off] = (marked as u8 & Self::GIVES[off / 2] != 0) as u8;
                off += 1;
            }
            marked += 1;
        }
        shown
    };

    /// The register at `off` was given something.
    #[inline(always)]
    fn take(&mut self, off: u32, given: bool) {
        let take = TAKES[(off / 2) as usize];
        self.marked = self.marked & !take.clears | if given { take.sets } else { 0 };
        self.accumulates = take.accumulates.unwrap_or(self.accumulates);
        if take.starts {
            let old = if self.accumulates { Self::RESULTS } else { 0 };
            let results = self.marked & (Self::OP1 | Self::OP2 | old) != 0;
            self.marked = self.marked & !Self::RESULTS | if results { Self::RESULTS } else { 0 };
        }
    }
}

static SHOWN: [[u8; Multiplier::BYTES as usize]; 0x100] = Multiplier::SHOWN;
static TAKES: [Take; Multiplier::WORDS] = Multiplier::TAKES;

/// Follows marked bytes.
pub struct Taint {
    architecture: Architecture,
    /// Address bits outside the region's 20 and its number, and how far that is to be moved to stand behind
    /// them.
    odd: u32,
    region_shift: u32,
    regs: Set,
    /// How many accesses the instruction made so far.
    count: u8,
    late: Late,
    seen: [Seen; SEEN],
    /// Values of those that write, which a rule may need.
    values: [u32; SEEN],
    shadow: Box<[u8; SHADOW]>,
    /// The entry of each instruction; zero is one not met yet.
    index: Box<[u16; SLOTS / 2]>,
    entries: Box<[Entry; ENTRIES]>,
    /// How many there are.
    entry_count: usize,
    known: HashMap<Entry, u16>,
    /// What came out, by the order of instructions' first time, and where an instruction's is.
    counts: Vec<(u32, [u64; FindingKind::COUNT])>,
    counted: HashMap<u32, usize>,
    /// The same of the last few, by [`recent_place`].
    recent: [u32; RECENT],
    moves: Vec<Moves>,
    code: Code,
    cached: Vec<Range<u32>>,
    trusted: Vec<Range<u32>>,
    trusted_count: u64,
    multipliers: Vec<Multiplier>,
    rules: Vec<Rule>,
    /// Registers that no rule knows and that were given marked data, with the first instruction that did.
    holes: BTreeMap<u32, Option<u32>>,
    /// Registers whose use is a hole, whatever is written: what moves data out of sight.
    unseen: Vec<Range<u32>>,
    /// The instruction whose accesses are dealt with; none for a transfer by DMA.
    at: Option<u32>,
    /// Instructions that ran while nothing was marked in a register, by half the slot.
    ran: Box<[u8; SLOTS / 2]>,
    /// Instructions that ran while something was.
    reached: HashSet<u32>,
    device: Option<Device>,
}

impl Taint {
    /// Nothing marked, for programs of `elf`. Instructions are read from the image: what a program writes
    /// into its own code is not seen.
    #[must_use]
    pub fn new(elf: &Elf) -> Self {
        let architecture = elf.architecture;
        let (odd, region_shift) = match architecture {
            Architecture::Msp430 => (0xFFF0_0000, 0),
            Architecture::Avr => (0xFF70_0000, 3),
            Architecture::Arm => (0x1FF0_0000, 9),
        };
        let mut taint = Self {
            architecture,
            odd,
            region_shift,
            regs: 0,
            count: 0,
            late: Late::Nothing,
            seen: [Seen::default(); SEEN],
            values: [0; SEEN],
            shadow: zeroed(),
            index: zeroed(),
            entries: zeroed(),
            entry_count: 1,
            known: HashMap::new(),
            counts: Vec::new(),
            counted: HashMap::new(),
            recent: [0; RECENT],
            moves: Vec::new(),
            code: Code::of(elf),
            cached: Vec::new(),
            trusted: Vec::new(),
            trusted_count: 0,
            multipliers: Vec::new(),
            rules: Vec::new(),
            holes: BTreeMap::new(),
            unseen: Vec::new(),
            at: None,
            ran: zeroed(),
            reached: HashSet::new(),
            device: None,
        };
        taint.entries[0].bits = entry::UNKNOWN;
        taint.entries[0].special = Set::MAX;
        taint.shadow[ODD..].fill(shadow::ASK | shadow::TELL);
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
        for r in device.memory.iter().filter(|r| r.kind == RegionKind::Peripheral) {
            taint.heed(r.start..r.end.saturating_add(1), shadow::TELL);
        }
        for (base, name) in device.blocks() {
            let at = |r: &Range<u32>| base + r.start..base + r.end;
            match families::follow(device, name) {
                Follow::Multiplier { bytes } => taint.multiplier(base, bytes),
                Follow::Mixers(mixers) => {
                    for m in mixers {
                        let reset = m.reset.map(|(off, bits)| (base + off, bits));
                        taint.mixer(at(&m.input), at(&m.output), at(&m.start), reset);
                    }
                }
                Follow::Unseen => taint.unseen.push(base..base + 1),
                Follow::Hole | Follow::Mover => {}
            }
        }
        taint.device = Some(device.clone());
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

    /// Marks bytes of memory whose [`fates`](Self::fates) are asked for later.
    pub fn mark_secret(&mut self, range: Range<u32>) {
        for addr in range {
            let slot = self.slot(addr);
            self.shadow[slot] |= shadow::MARKED | shadow::ASK | shadow::UNREAD;
        }
    }

    /// Marks where the initial value of a secret is stored, for start-up code to copy.
    pub fn mark_initial(&mut self, elf: &Elf, secret: Range<u32>) {
        for s in elf.segments.iter().filter(|s| s.load_addr != s.addr) {
            let from = secret.start.max(s.addr);
            let to = secret.end.min(s.addr + s.data.len() as u32);
            if from < to {
                self.mark(from - s.addr + s.load_addr..to - s.addr + s.load_addr);
            }
        }
    }

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
        self.forget_entries();
        self.trusted.push(code);
    }

    /// Memory whose accesses take their time by what was accessed before, or where it is fetched from.
    pub fn cached(&mut self, range: Range<u32>) {
        self.cached.push(range);
    }

    /// TI's hardware multiplier with its registers from `base` on: its results are marked if an operand
    /// was. `bytes` is 0x10 for the 16-bit one and 0x30 for MPY32.
    pub fn multiplier(&mut self, base: u32, bytes: u32) {
        self.heed(base..base + bytes, shadow::TELL);
        let (accumulates, marked, crossed) = (false, 0, None);
        self.multipliers.push(Multiplier { base, bytes, accumulates, marked, crossed });
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
        let rule = Rule::Mixer { input, output, start, reset, marked: 0, crossed: None };
        for range in ranges {
            self.heed(range, shadow::ASK | shadow::TELL);
        }
        if let Some((addr, _)) = reset {
            self.heed(addr..addr + 2, shadow::TELL);
        }
        self.rules.push(rule);
    }

    fn add_rule(&mut self, rule: Rule, range: Range<u32>) {
        self.heed(range, shadow::ASK | shadow::TELL);
        self.rules.push(rule);
    }

    fn heed(&mut self, range: Range<u32>, how: u8) {
        for addr in range {
            let slot = self.slot(addr);
            self.shadow[slot] |= how;
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

    #[inline(always)]
    fn slot(&self, addr: u32) -> usize {
        if addr & self.odd != 0 {
            return self.odd_slot(addr);
        }
        self.even_slot(addr)
    }

    /// The same for addresses without a bit of `odd`.
    #[inline(always)]
    fn even_slot(&self, addr: u32) -> usize {
        let region = (addr >> self.region_shift) as usize & (SLOTS - REGION_BYTES);
        region | addr as usize & (REGION_BYTES - 1)
    }

    /// Addresses that are others in disguise, and those of far-off corners, which share a region.
    #[cold]
    fn odd_slot(&self, addr: u32) -> usize {
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
    fn byte_of_bit(&self, addr: u32) -> Option<u32> {
        const BIT_BANDS: [u32; 2] = [0x2200_0000, 0x4200_0000];
        let alias = BIT_BANDS.iter().find(|a| addr & 0xFE00_0000 == **a)?;
        let byte = alias & 0xF000_0000 | (addr & 0x01FF_FFFF) >> 5;
        (self.architecture == Architecture::Arm).then_some(byte)
    }

    /// Registers and flags in 64 bits.
    fn set(&self, registers: Registers) -> Set {
        let first = if self.architecture == Architecture::Avr { AVR_SHIFT } else { 0 };
        let place = |n: u32| if n < 64 { (first + n) & 63 } else { n - 64 + FLAGS_SHIFT };
        registers.iter().fold(0, |set, n| set | 1 << place(n.into()))
    }

    fn number(&self, moved: u8) -> Set {
        match moved {
            Transfer::FLAGS => self.set(Registers::FLAGS),
            Transfer::BRANCH => Moves::BRANCH,
            n if n < 64 => self.set(Registers::of(n)),
            _ => 0,
        }
    }

    /// The entry of the instruction at `pc`, which was not met yet.
    fn new_entry(&mut self, pc: u32) -> usize {
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

    fn forget_entries(&mut self) {
        self.index.fill(0);
        self.entry_count = 1;
        self.known.clear();
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
    fn report(&mut self, pc: u32, bits: u16, kind: FindingKind) {
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
    fn report_other(&mut self, pc: u32, kind: FindingKind) {
        let i = *self.counted.entry(pc).or_insert_with(|| {
            self.counts.push((pc, [0; FindingKind::COUNT]));
            self.counts.len() - 1
        });
        self.counts[i].1[kind as usize] += 1;
        self.recent[recent_place(pc)] = i as u32;
    }

    #[cold]
    #[inline(never)]
    fn report_address(&mut self, pc: u32, bits: u16) {
        let accesses = &self.seen[..self.accesses()];
        let slow = |s: &Seen| self.cached.iter().any(|r| r.contains(&s.addr()));
        let kind = if accesses.iter().any(slow) {
            FindingKind::CachedAddress
        } else {
            FindingKind::Address
        };
        self.report(pc, bits, kind);
    }

    fn accesses(&self) -> usize {
        usize::from(self.count)
    }

    /// The instruction at `pc` has run, and something it touched may be marked. What is left for later.
    #[inline(always)]
    fn follow<const ACCESSES: bool>(&mut self, pc: u32) -> Late {
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
    fn is_known(&mut self, pc: u32, i: usize) -> bool {
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
    fn paint(&mut self, slot: usize, bytes: u32, marked: bool) {
        let (lanes, states) = (lanes(bytes) & MARKS, self.states(slot));
        let public = states >> 1 & MARKS;
        let new = states & !lanes | if marked { lanes & !public } else { 0 };
        self.shadow[slot..slot + 4].copy_from_slice(&new.to_le_bytes());
    }

    /// The instruction at `pc` has run, with data accesses or surely without: whether something is left for later.
    #[inline(always)]
    fn run_past<const ACCESSES: bool>(&mut self, pc: u32, sp: u32, flow: Flow) -> bool {
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
    fn follow_special(&mut self, pc: u32) {
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
    fn ask(&mut self) {
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
    fn note_read(&mut self, range: Range<u32>) {
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
    fn store_all(&mut self, marked: bool) {
        self.regs &= !met::ALL;
        for n in 0..self.accesses() {
            if self.seen[n].write() {
                self.store(n, marked);
            }
        }
    }

    /// A transfer of several registers: each access by itself.
    fn transfer(
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
    fn store(&mut self, n: usize, marked: bool) {
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
    fn states(&self, slot: usize) -> u32 {
        let bytes = &self.shadow[slot..slot + 4];
        u32::from_le_bytes(bytes.try_into().expect("a slice of four bytes"))
    }

    /// What is set in any of the bytes of an access.
    #[inline(always)]
    fn state(&self, slot: usize, bytes: u32) -> u8 {
        let states = self.states(slot) & lanes(bytes);
        let state = (states | states >> 16) as u16;
        (state | state >> 8) as u8
    }

    /// Registers go to the stack or come from it by themselves; true if nothing is left to do.
    #[cold]
    #[inline(never)]
    fn exception(&mut self, pc: u32, sp: u32, flow: Flow) -> bool {
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

    /// Whether a rule says that what is read at `addr` is marked.
    fn is_asked(&self, addr: u32, state: u8) -> bool {
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
    fn show_multiplier(&mut self, i: usize) {
        let m = &self.multipliers[i];
        let (base, shown) = (self.slot(m.base), &SHOWN[usize::from(m.marked)]);
        let shadow = &mut self.shadow[base..base + m.bytes as usize];
        for (state, mark) in shadow.iter_mut().zip(shown) {
            *state = *state & !shadow::MARKED | mark;
        }
    }

    /// A block was given something.
    #[inline(never)]
    fn tell_rules(&mut self, n: usize, given: bool) {
        let s = self.seen[n];
        self.tell(s.addr(), s.bytes(), self.values[n], given);
    }

    fn tell(&mut self, addr: u32, bytes: u32, value: u32, given: bool) {
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

/// No instruction: a DMA controller.
const NO_PC: u32 = u32::MAX;

/// Start of AVR's data space in an image.
const AVR_DATA: u32 = 0x80_0000;

/// Which result words the multiplier's register at `off` is: RES0 to RES3, then SUMEXT, then the carry.
const fn result_bits(off: u32) -> u8 {
    match off {
        0x0A..0x0C | 0x24..0x26 => 1,
        0x0C..0x0E | 0x26..0x28 => 2,
        0x28..0x2A => 4,
        0x2A..0x2C => 8,
        0x0E..0x10 => 16,
        0x2C..0x2E => Multiplier::CARRY,
        _ => 0,
    }
}

/// The lowest bit of four bytes.
const MARKS: u32 = 0x0101_0101;

/// The bytes that an access of so many touches.
#[inline(always)]
fn lanes(bytes: u32) -> u32 {
    u32::MAX >> ((32 - 8 * bytes) & 31)
}

fn zeroed<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    let Ok(all) = vec![T::default(); N].into_boxed_slice().try_into() else {
        unreachable!("the vector has as many")
    };
    all
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
