// SPDX-License-Identifier: MIT OR Apache-2.0
//! Footprint of a run behind a cut: what it looks at of what the cut left, byte by byte and word by word of the
//! multiplier.

use sunseal_mcu::device::{Facts, RegionKind};
use sunseal_mcu::{Device, Machine};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Width};

/// The address space of an MSP430.
pub(super) const SPACE: u32 = 1 << 20;

/// The longest instruction, so far behind its address code may have been fetched.
const FETCHED_BYTES: u32 = 8;

/// Registers of the multiplier.
pub(super) const MULTIPLIER_BYTES: u32 = 0x30;

/// A bit for each address.
pub(super) struct Bits(Box<[u64]>);

impl Bits {
    fn new() -> Self {
        Self(vec![0; SPACE as usize / 64].into_boxed_slice())
    }

    /// Footprint of no address: not to be asked any more.
    fn none() -> Self {
        Self(Box::default())
    }

    fn of(device: &Device, which: impl Fn(RegionKind) -> bool) -> Self {
        let mut me = Self::new();
        for (start, end) in ranges(device, which) {
            let (first, behind) = (start.div_ceil(64), (end + 1) / 64);
            if first >= behind {
                (start..=end).for_each(|addr| me.set(addr));
                continue;
            }
            me.0[first as usize..behind as usize].fill(u64::MAX);
            (start..64 * first).chain(64 * behind..=end).for_each(|addr| me.set(addr));
        }
        me
    }

    #[inline]
    pub fn has(&self, addr: u32) -> bool {
        self.0[(addr % SPACE / 64) as usize] >> (addr % 64) & 1 != 0
    }

    #[inline]
    fn set(&mut self, addr: u32) {
        self.0[(addr % SPACE / 64) as usize] |= 1 << (addr % 64);
    }

    fn unset(&mut self, addr: u32) {
        self.0[(addr % SPACE / 64) as usize] &= !(1 << (addr % 64));
    }
}

/// Words of the hardware multiplier, a bit each. Without supply it loses them all; the control bits alone are
/// defined by the reset.
mod word {
    sunseal_trace::constants! { pub u16:
        OP1_LOW 1, OP1_HIGH 2, OP2_LOW 4, OP2_HIGH 8,
        /// RES0; RES1 to RES3 follow.
        RES0 16,
        /// Low words of the result, which 16 bits add to.
        LOW_RESULT 3 * RES0,
        RESULT 15 * RES0,
        /// Carry beyond the 64 bits of the result: SUMEXT and MPYC.
        CARRY 256,
        ALL 511,
        /// OP2L, and the result with it, as OP2H goes on from them.
        HALF 512,
    }
}

/// The multiplier as a run goes on behind a power-up (SLAU208, MPY32 registers).
#[derive(Clone, Copy, Default)]
struct Multiplier {
    /// The words that the run has set, so that they are no noise.
    set: u16,
    /// Operand 1 has 32 bits; the product is added to the result.
    wide: bool,
    adds: bool,
    /// MPY32CTL0 was written: modes may be any, results fractional or saturated.
    odd: bool,
}

impl Multiplier {
    /// An access; true if it uses what the run has not set.
    fn access(&mut self, off: u32, kind: Access, width: Width) -> bool {
        use word::{
            ALL, CARRY, HALF, LOW_RESULT, OP1_HIGH, OP1_LOW, OP2_HIGH, OP2_LOW, RES0, RESULT,
        };
        let write = kind == Access::Write;
        let lacks = |set: u16, needed: u16| set & needed != needed;
        match off {
            // MPY to MACS; MPY32L to MACS32H, of which either half sets the mode. Bytes are extended.
            0x00..=0x07 | 0x10..=0x1F => {
                let wide = off >= 0x10;
                let half = if wide && off & 2 != 0 { OP1_HIGH } else { OP1_LOW };
                if !write {
                    return lacks(self.set, half);
                }
                self.set |= half;
                (self.wide, self.adds) = (wide, matches!(off, 0x04..=0x07 | 0x18..));
                false
            }
            0x08 | 0x20 | 0x22 => {
                let half = if off == 0x22 { OP2_HIGH } else { OP2_LOW };
                if !write {
                    return lacks(self.set, half);
                }
                self.set |= half | if off == 0x20 { HALF } else { 0 };
                let op1 = if self.wide { OP1_LOW | OP1_HIGH } else { OP1_LOW };
                let op2 = if off == 0x22 { HALF | OP2_HIGH } else { OP2_LOW };
                let sum = match (self.adds, off == 0x08 && !self.wide) {
                    (false, _) => 0,
                    (true, true) => LOW_RESULT,
                    (true, false) => RESULT,
                };
                let needed = if self.odd { ALL & !OP2_HIGH | op2 } else { op1 | op2 | sum };
                let lacks = lacks(self.set, needed);
                self.set |= RESULT | CARRY;
                lacks
            }
            // RESLO and RESHI, RES0 to RES3.
            0x0A..=0x0D | 0x24..=0x2B => {
                let word = RES0 << ((if off < 0x24 { off - 0x0A } else { off - 0x24 }) / 2);
                let needed = if !write && self.odd { RESULT | CARRY } else { word };
                if !write || width != Width::W16 {
                    return lacks(self.set, needed);
                }
                self.set |= word;
                false
            }
            0x0E | 0x0F => lacks(self.set, CARRY),
            // MPY32CTL0, with the modes of operands and the carry in it.
            0x2C | 0x2D if write => {
                self.odd = true;
                false
            }
            0x2C | 0x2D => lacks(self.set, OP1_LOW | OP2_LOW | CARRY),
            _ => true,
        }
    }
}

/// True if accesses tell all that programs of this chip look at: the F1xx has a mirror of its RAM, other cores have
/// other ways.
pub(super) fn follows(device: &Device) -> bool {
    matches!(device.facts, Facts::F5xx(_) | Facts::Fr5xx(_))
}

/// Reason for which a cut is in no class.
pub type Alone = &'static str;

/// Footprint of a run behind a reboot: what it looks at of what the cut left.
pub struct Footprint {
    memory: Bits,
    pub(super) ram: Vec<(u32, u32)>,
    /// A store adds to what was there: programming clears bits.
    flash: Bits,
    /// A store may be refused there, by MPU or write protection.
    fram: Bits,
    pub(super) read: Bits,
    written: Bits,
    /// Cycles at which each byte was written first.
    firsts: Vec<(Cycles, u32)>,
    /// Bytes that the CPU stored last, where `fram` says so.
    stored: Vec<u8>,
    fetched: Bits,
    multiplier: Multiplier,
    multiplier_at: Option<u32>,
    /// Writes from this cycle on do not happen: the supply goes.
    cut_at: Cycles,
    dma_moves: u64,
    pub(super) alone: Option<Alone>,
}

impl Footprint {
    /// Takes the footprint of the run that begins where the machine stands, just powered on; none for other cores than
    /// MSP430s.
    #[must_use]
    pub fn of(machine: &Machine) -> Option<Self> {
        let device = machine.device();
        if !follows(device) {
            return None;
        }
        let mut me = Self {
            memory: Bits::of(device, |kind| kind != RegionKind::Peripheral),
            ram: ranges(device, |kind| kind == RegionKind::Ram),
            flash: Bits::of(device, |kind| {
                matches!(kind, RegionKind::Flash | RegionKind::InfoFlash)
            }),
            fram: Bits::of(device, |kind| kind == RegionKind::Fram),
            read: Bits::new(),
            written: Bits::new(),
            firsts: Vec::new(),
            stored: vec![0; SPACE as usize],
            fetched: Bits::new(),
            multiplier: Multiplier::default(),
            multiplier_at: device.multiplier(),
            cut_at: Cycles::MAX,
            dma_moves: machine.dma_moves(),
            alone: None,
        };
        me.start();
        Some(me)
    }

    fn start(&mut self) {
        self.multiplier = Multiplier::default();
        self.looked(0xFFFE, 2);
    }

    /// These bytes were looked at, by the CPU or by who checks the run.
    pub fn looked(&mut self, addr: u32, bytes: u32) {
        for addr in addr..addr.saturating_add(bytes) {
            if self.memory.has(addr) && !self.written.has(addr) {
                self.read.set(addr);
            }
        }
    }

    /// These bytes were written.
    pub fn wrote(&mut self, addr: u32, bytes: u32) {
        for addr in addr..addr.saturating_add(bytes) {
            self.write(addr, 0);
            self.fram.unset(addr);
        }
    }

    fn write(&mut self, addr: u32, at: Cycles) {
        if !self.written.has(addr) {
            self.written.set(addr);
            self.firsts.push((at, addr));
        }
    }

    /// The power went once more in this run, in cycle `at` and for `off`: it also looks at what `behind`, the run
    /// from there on, looked at, but for what it had written by then. True if that is more than was known.
    pub fn join(&mut self, machine: &Machine, at: Cycles, off: Picos, behind: &Self) -> bool {
        let mut written = Bits::new();
        self.firsts
            .iter()
            .filter(|(first, _)| *first < at)
            .for_each(|(_, addr)| written.set(*addr));
        if off > machine.ram_holds() {
            self.ram.iter().flat_map(|(start, end)| *start..=*end).for_each(|a| written.unset(a));
        }
        let before = self.alone;
        let mut grown = 0;
        for (read, (more, written)) in
            self.read.0.iter_mut().zip(behind.read.0.iter().zip(&written.0))
        {
            grown |= more & !written & !*read;
            *read |= more & !written;
        }
        self.alone = self.alone.or(behind.alone);
        grown != 0 || self.alone != before
    }

    /// True if it, or a run behind a further loss, reads RAM before writing it.
    pub(super) fn reads_ram(&self) -> bool {
        self.ram.iter().flat_map(|(start, end)| *start..=*end).any(|addr| self.read.has(addr))
    }

    /// Reason for which the cut in front of this run is in no class, if so.
    #[must_use]
    pub fn alone(&self) -> Option<Alone> {
        self.alone
    }

    /// The supply goes at this cycle.
    pub fn ends_at(&mut self, cycle: Cycles) {
        self.cut_at = cycle;
    }

    /// It has gone and comes back after `off`.
    pub fn rebooted(&mut self, machine: &Machine, off: Picos) {
        self.cut_at = Cycles::MAX;
        if off > machine.ram_holds() {
            for (start, end) in self.ram.clone() {
                (start..=end).for_each(|addr| self.written.unset(addr));
            }
        }
        self.fetched = Bits::new();
        self.start();
    }

    /// The run has come to its end: whether something moved memory that is not followed.
    pub fn ended(&mut self, machine: &Machine) {
        if machine.dma_moves() != self.dma_moves {
            self.alone = Some("a DMA controller moves data behind the reboot");
        }
        let refused = |addr: &u32| {
            let held = machine.read_mem(*addr, 1);
            self.fram.has(*addr) && held.is_ok_and(|held| held[0] != self.stored[*addr as usize])
        };
        if self.firsts.iter().any(|(_, addr)| refused(addr)) {
            self.alone = Some("FRAM holds something else than what was stored there");
        }
        // What only following needs: a campaign keeps thousands of them.
        let following = [&mut self.memory, &mut self.flash, &mut self.fram];
        following.into_iter().for_each(|bits| *bits = Bits::none());
        (self.written, self.fetched) = (Bits::none(), Bits::none());
        self.stored = Vec::new();
        self.firsts.shrink_to_fit();
    }

    fn register(&mut self, addr: u32, kind: Access, width: Width) {
        let off = self.multiplier_at.and_then(|base| addr.checked_sub(base));
        if let Some(off) = off.filter(|off| *off < MULTIPLIER_BYTES)
            && self.multiplier.access(off, kind, width)
        {
            self.alone = Some("the multiplier is used as it woke, with noise");
        }
    }
}

impl Observer for Footprint {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, flow: Flow) {
        if let Flow::Interrupt { vector } = flow {
            self.looked(vector, 2);
        } else if !self.fetched.has(pc) {
            self.fetched.set(pc);
            self.looked(pc, FETCHED_BYTES);
        }
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if !self.memory.has(addr) {
            return self.register(addr, kind, width);
        }
        for (addr, byte) in (addr..addr + width.bytes()).zip(value.to_le_bytes()) {
            if (kind == Access::Read || self.flash.has(addr)) && !self.written.has(addr) {
                self.read.set(addr);
            }
            if kind == Access::Write && at < self.cut_at {
                self.write(addr, at);
                self.stored[addr as usize] = byte;
            }
        }
    }
}

/// The memories of some kinds.
pub(super) fn ranges(device: &Device, which: impl Fn(RegionKind) -> bool) -> Vec<(u32, u32)> {
    device.memory.iter().filter(|r| which(r.kind)).map(|r| (r.start, r.end)).collect()
}
