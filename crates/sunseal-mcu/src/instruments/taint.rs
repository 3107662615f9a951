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

mod findings;
mod following;
mod multiplier;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use sunseal_isa::{Dataflow, Registers, Transfer};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::blocks::follow::Follow;
use crate::device::{Device, RegionKind};
use crate::elf::{Architecture, Elf, SourceLine, SymbolKind};
use crate::families;
use crate::listing::Code;

use multiplier::{Multiplier, SHOWN};

pub use findings::{Crossing, Fate, Finding, FindingKind};

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
    /// Kinds of finding that no rule of a block can lift.
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

/// Observer that follows marked bytes through registers, memory and blocks.
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
        // A megabyte at once: its slots are neighbours. Of far-off corners, which share theirs, one is enough.
        let (mut addr, mut done) = (u64::from(range.start), 0..0);
        while addr < range.end.into() {
            let next = (addr | (REGION_BYTES as u64 - 1)) + 1;
            let last = next.min(range.end.into()) - 1;
            let slots = self.slot(addr as u32)..self.slot(last as u32) + 1;
            if slots != done {
                self.shadow[slots.clone()].iter_mut().for_each(|s| *s |= how);
            }
            (addr, done) = (next, slots);
        }
    }
}

/// No instruction: a DMA controller.
const NO_PC: u32 = u32::MAX;

/// Start of AVR's data space in an image.
const AVR_DATA: u32 = 0x80_0000;

fn zeroed<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    let Ok(all) = vec![T::default(); N].into_boxed_slice().try_into() else {
        unreachable!("the vector has as many")
    };
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Across a region's end, of bits seen as words, of SRAM seen from the code bus, and far off.
    #[test]
    fn whole_stretches_are_heeded_as_each_of_their_addresses() {
        let arm = [
            0x3FFF_FFF0..0x4010_0010,
            0x4200_0410..0x4200_0450,
            0x0100_0000..0x0100_0020,
            0x5FFF_FFF0..0x6000_0010,
        ];
        let all = arm.map(|range| (Architecture::Arm, range)).into_iter().chain([
            (Architecture::Msp430, 0x0000..0x1000),
            (Architecture::Avr, 0x7F_FFF0..0x80_0100),
        ]);
        for (architecture, range) in all {
            let mut elf = Elf::default();
            elf.architecture = architecture;
            let (mut whole, mut each) = (Taint::new(&elf), Taint::new(&elf));
            whole.heed(range.clone(), shadow::MARKED);
            for addr in range.clone() {
                let slot = each.slot(addr);
                each.shadow[slot] |= shadow::MARKED;
            }
            assert!(whole.shadow == each.shadow, "{architecture:?} {range:x?}");
        }
    }
}
