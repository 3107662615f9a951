// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DMA controller of the MSP430 families (SLAU049F, SLAU208Q and SLAU367P, DMA chapters).
//!
//! It decides which channel moves what; the chip moves it, since it owns the bus, and takes the
//! cycles: [`SYNC_CYCLES`], two for each byte or word, [`WAIT_CYCLES`], and what memory adds.

use serde::{Deserialize, Serialize};
use sunseal_isa::{Fault, FaultKind};
use sunseal_registers::msp430fr5xx::dma::{
    DMAABORT, DMADSTBYTE, DMADT, DMAEN, DMAIE, DMAIFG, DMALEVEL, DMAREQ, DMASRCBYTE, ENNMI,
    ROUNDROBIN,
};

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;

/// MCLK cycles before a single, block or burst transfer: one or two (SLAU367P 11.2.7); one here while
/// the CPU runs and two while it is off, with which the maxima of table 11-3, 4 and 5, come out.
pub(crate) const SYNC_CYCLES: u64 = 1;
pub(crate) const SYNC_CYCLES_ASLEEP: u64 = 2;
pub(crate) const MOVE_CYCLES: u64 = 2;
/// MCLK cycles behind a transfer.
pub(crate) const WAIT_CYCLES: u64 = 1;
/// Burst-block transfers give the CPU two cycles behind every four moves (SLAU367P 11.2.2.3).
const BURST_MOVES: u32 = 4;
pub(crate) const BURST_PAUSE_CYCLES: u64 = 2;

/// The software trigger: DMAREQ.
pub(crate) const TRIGGER_REQUEST: u8 = 0;

/// How its registers lie. Offsets are from DMACTL0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Layout {
    /// F1xx: DMACTL0 with four bits a channel, DMACTL1, and the channels, taken to begin at offset 10h
    /// (they lie at 01E0h), eight bytes each; 16-bit addresses, no DMAIV.
    One,
    /// F5xx, FR5xx: five bits a channel, two channels a register; DMACTL4 at 08h, DMAIV at 0Eh, a
    /// channel every 16 bytes from 10h; 20-bit addresses.
    Five,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reg {
    Select(usize),
    Control,
    Vector,
    Ctl(usize),
    Source(usize, bool),
    Destination(usize, bool),
    Size(usize),
    None,
}

/// One byte or word on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub channel: usize,
    pub from: u32,
    pub to: u32,
    pub from_byte: bool,
    pub to_byte: bool,
}

/// The fault of a move, told as the controller's: it is no instruction that does it.
#[cold]
pub(crate) fn refused(fault: &Fault, from: u32, to: u32) -> Fault {
    let what = match fault.kind() {
        FaultKind::Device(sentence) => sentence.clone(),
        _ => fault.to_string(),
    };
    Fault::device(fault.addr(), format!("DMA transfer from {from:#07x} to {to:#07x}: {what}"))
}

/// What comes behind a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another move of the same transfer.
    Move,
    /// The CPU has its two cycles, then the transfer goes on.
    Pause,
    /// The transfer is over.
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Channel {
    ctl: u16,
    select: u8,
    source: u32,
    destination: u32,
    size: u16,
    /// The temporary registers that count.
    from: u32,
    to: u32,
    left: u16,
    /// A trigger waits for its transfer.
    requested: bool,
    /// The trigger's level when it was looked at last.
    level: bool,
}

impl Channel {
    fn mode(&self) -> u16 {
        (self.ctl & DMADT) >> 12
    }

    fn is_block(&self) -> bool {
        self.mode() & 3 != 0
    }

    fn is_burst(&self) -> bool {
        self.mode() & 2 != 0
    }

    fn load(&mut self) {
        self.from = self.source;
        self.to = self.destination;
        self.left = self.size;
    }

    fn step(addr: u32, how: u16, byte: bool, mask: u32) -> u32 {
        let width = if byte { 1 } else { 2 };
        match how & 3 {
            2 => addr.wrapping_sub(width) & mask,
            3 => addr.wrapping_add(width) & mask,
            _ => addr,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dma {
    layout: Layout,
    channels: Vec<Channel>,
    control: u16,
    /// The channel at work and the moves left before it pauses or ends.
    active: Option<(usize, u32)>,
    /// The channel of highest priority under ROUNDROBIN.
    first: usize,
}

impl Dma {
    pub fn new(layout: Layout, channels: usize) -> Self {
        Self {
            layout,
            channels: vec![Channel::default(); channels],
            control: 0,
            active: None,
            first: 0,
        }
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.layout, self.channels.len());
    }

    fn register(&self, off: u32) -> Reg {
        let n = self.channels.len();
        let reg = match (self.layout, off) {
            (Layout::One, 0) => Reg::Select(0),
            (Layout::One, 2) => Reg::Control,
            (Layout::One, 0x10..) => match (((off - 0x10) / 8) as usize, off & 7) {
                (c, 0) => Reg::Ctl(c),
                (c, 2) => Reg::Source(c, false),
                (c, 4) => Reg::Destination(c, false),
                (c, _) => Reg::Size(c),
            },
            (Layout::Five, 0 | 2 | 4 | 6) => Reg::Select(off as usize),
            (Layout::Five, 8) => Reg::Control,
            (Layout::Five, 0xE) => Reg::Vector,
            (Layout::Five, 0x10..) => match ((off / 16 - 1) as usize, off & 15) {
                (c, 0) => Reg::Ctl(c),
                (c, 2) => Reg::Source(c, false),
                (c, 4) => Reg::Source(c, true),
                (c, 6) => Reg::Destination(c, false),
                (c, 8) => Reg::Destination(c, true),
                (c, 0xA) => Reg::Size(c),
                _ => Reg::None,
            },
            _ => Reg::None,
        };
        match reg {
            Reg::Ctl(c) | Reg::Source(c, _) | Reg::Destination(c, _) | Reg::Size(c) if c >= n => {
                Reg::None
            }
            // With fewer channels there are fewer select registers.
            Reg::Select(c) if self.layout == Layout::Five && c >= n => Reg::None,
            reg => reg,
        }
    }

    // ---- triggers

    /// The enabled channels with the trigger each waits for.
    pub fn watched(&self) -> impl Iterator<Item = (usize, u8)> + '_ {
        let on = |c: &Channel| c.ctl & DMAEN != 0 && c.select != TRIGGER_REQUEST;
        self.channels.iter().enumerate().filter(move |(_, c)| on(c)).map(|(i, c)| (i, c.select))
    }

    /// Whether any channel waits for a trigger: the chip looks at its triggers only then.
    pub fn is_watching(&self) -> bool {
        self.channels.iter().any(|c| c.ctl & DMAEN != 0)
    }

    /// The level of the trigger that enabled `channel` waits for.
    pub fn observe(&mut self, channel: usize, level: bool) {
        let c = &mut self.channels[channel];
        if c.ctl & DMALEVEL != 0 {
            c.requested = level;
        } else if level && !c.level {
            c.requested = true;
        }
        c.level = level;
    }

    /// The trigger of a channel whose transfer begins does not fall with it: it must fall before it
    /// counts again.
    pub fn keep_level(&mut self, channel: usize) {
        self.channels[channel].level = true;
    }

    /// DMAxIFG of a channel, which may trigger another.
    pub fn flag(&self, channel: usize) -> bool {
        self.channels.get(channel).is_some_and(|c| c.ctl & DMAIFG != 0)
    }

    // ---- transfers

    fn wants(c: &Channel) -> bool {
        c.ctl & DMAEN != 0 && c.requested
    }

    /// A transfer is under way or waits.
    pub fn has_work(&self) -> bool {
        self.active.is_some() || self.channels.iter().any(Self::wants)
    }

    /// The channel whose transfer begins, with the trigger that asked for it; `None` if one is under
    /// way already or none waits.
    pub fn begin(&mut self) -> Option<(usize, u8)> {
        if self.active.is_some() {
            return None;
        }
        let n = self.channels.len();
        let order = (0..n).map(|i| (i + self.first) % n);
        let channel = order.into_iter().find(|&i| Self::wants(&self.channels[i]))?;
        let c = &mut self.channels[channel];
        c.requested = false;
        c.ctl &= !DMAREQ;
        // The flag that triggered is reset as the transfer starts: it may rise anew.
        c.level = false;
        let moves = match () {
            () if c.is_burst() => BURST_MOVES.min(c.left.into()),
            () if c.is_block() => c.left.into(),
            () => 1,
        };
        let trigger = c.select;
        self.active = Some((channel, moves));
        Some((channel, trigger))
    }

    /// The move to make now, if a transfer is under way.
    pub fn current(&self) -> Option<Move> {
        let (channel, _) = self.active?;
        let c = &self.channels[channel];
        Some(Move {
            channel,
            from: c.from,
            to: c.to,
            from_byte: c.ctl & DMASRCBYTE != 0,
            to_byte: c.ctl & DMADSTBYTE != 0,
        })
    }

    /// The move is made.
    pub fn moved(&mut self) -> Next {
        let Some((channel, moves)) = self.active else { return Next::Done };
        let mask = if self.layout == Layout::One { 0xFFFF } else { 0xF_FFFF };
        let last_channel = self.channels.len() - 1;
        let c = &mut self.channels[channel];
        c.from = Channel::step(c.from, c.ctl >> 8, c.ctl & DMASRCBYTE != 0, mask);
        c.to = Channel::step(c.to, c.ctl >> 10, c.ctl & DMADSTBYTE != 0, mask);
        c.left = c.left.wrapping_sub(1);
        if c.left == 0 {
            c.ctl |= DMAIFG;
            c.load();
            // Repeated burst-block transfers go on without a trigger until they are disabled.
            let again = c.mode() >= 6;
            if c.mode() < 4 {
                c.ctl &= !DMAEN;
            }
            self.active = again.then_some((channel, BURST_MOVES.min(c.size.into())));
            if again {
                return Next::Pause;
            }
            self.done(channel, last_channel);
            return Next::Done;
        }
        if moves > 1 {
            self.active = Some((channel, moves - 1));
            return Next::Move;
        }
        if c.is_burst() {
            self.active = Some((channel, BURST_MOVES.min(c.left.into())));
            return Next::Pause;
        }
        self.active = None;
        self.done(channel, last_channel);
        Next::Done
    }

    fn done(&mut self, channel: usize, last: usize) {
        if self.control & ROUNDROBIN != 0 {
            self.first = if channel == last { 0 } else { channel + 1 };
        }
    }

    /// An NMI came: under ENNMI it ends the transfer that is under way.
    pub fn nmi(&mut self) {
        if let (true, Some((channel, _))) = (self.control & ENNMI != 0, self.active) {
            let c = &mut self.channels[channel];
            c.ctl = (c.ctl | DMAABORT) & !DMAEN;
            self.active = None;
        }
    }

    // ---- interrupts

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.channels.iter().any(|c| c.ctl & DMAIE != 0)
    }

    fn first_flag(&self) -> Option<usize> {
        self.channels.iter().position(|c| c.ctl & (DMAIE | DMAIFG) == DMAIE | DMAIFG)
    }

    pub fn pending(&self) -> bool {
        self.first_flag().is_some()
    }

    fn take_vector(&mut self) -> u16 {
        match self.first_flag() {
            Some(i) => {
                self.channels[i].ctl &= !DMAIFG;
                2 * (i as u16 + 1)
            }
            None => 0,
        }
    }

    // ---- registers

    fn write_ctl(&mut self, i: usize, value: u16, mask: u16) {
        let c = &mut self.channels[i];
        let before = c.ctl;
        c.ctl = merge(c.ctl, value, mask) & 0x7FFF;
        if c.size == 0 {
            // Nothing to transfer: it cannot be enabled.
            c.ctl &= !DMAEN;
        }
        if c.ctl & DMAEN != 0 && before & DMAEN == 0 {
            c.load();
            // Only a trigger that comes now counts, unless the level does.
            c.level = true;
            c.requested = false;
            c.ctl &= !DMAABORT;
        }
        if c.ctl & DMAEN == 0 {
            c.requested = false;
            // A single or block transfer that began is completed; bursts stop where they are.
            if c.is_burst() && self.active.is_some_and(|(a, _)| a == i) {
                self.active = None;
            }
        } else if c.ctl & DMAREQ != 0 && c.select == TRIGGER_REQUEST {
            c.requested = true;
        }
    }
}

impl Block for Dma {
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Mover;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        cx.fx.touched = true;
        let c = |i: usize| &self.channels[i];
        Ok(match self.register(off) {
            Reg::Select(first) => match self.layout {
                Layout::One => {
                    (0..self.channels.len()).fold(0, |v, i| v | u16::from(c(i).select) << (4 * i))
                }
                Layout::Five => {
                    let high = self.channels.get(first + 1).map_or(0, |c| c.select);
                    u16::from(c(first).select) | u16::from(high) << 8
                }
            },
            Reg::Control => self.control,
            Reg::Vector => self.take_vector(),
            Reg::Ctl(i) => c(i).ctl,
            Reg::Source(i, high) => (c(i).source >> if high { 16 } else { 0 }) as u16,
            Reg::Destination(i, high) => (c(i).destination >> if high { 16 } else { 0 }) as u16,
            Reg::Size(i) => {
                if c(i).ctl & DMAEN != 0 {
                    c(i).left
                } else {
                    c(i).size
                }
            }
            Reg::None => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let word = |old: u32, high: bool| {
            let shift = if high { 16 } else { 0 };
            let new = merge((old >> shift) as u16, value, mask);
            // A word access of the low half clears the high one; address instructions write it behind.
            if high { (old & 0xFFFF) | u32::from(new & 0xF) << 16 } else { u32::from(new) }
        };
        match self.register(off) {
            Reg::Select(first) => {
                let (bits, from, to) = match self.layout {
                    Layout::One => (4, 0, self.channels.len()),
                    Layout::Five => (8, first, (first + 2).min(self.channels.len())),
                };
                for (i, c) in self.channels[from..to].iter_mut().enumerate() {
                    let shift = bits * i;
                    if mask >> shift & 0xF != 0 {
                        let select = (value >> shift) as u8 & if bits == 4 { 0xF } else { 0x1F };
                        if select != c.select {
                            c.requested = false;
                            c.level = true;
                        }
                        c.select = select;
                    }
                }
            }
            Reg::Control => self.control = merge(self.control, value, mask) & 7,
            Reg::Vector => {
                self.take_vector();
            }
            Reg::Ctl(i) => self.write_ctl(i, value, mask),
            Reg::Source(i, high) => self.channels[i].source = word(self.channels[i].source, high),
            Reg::Destination(i, high) => {
                self.channels[i].destination = word(self.channels[i].destination, high);
            }
            Reg::Size(i) => {
                let c = &mut self.channels[i];
                c.size = merge(c.size, value, mask);
                c.left = c.size;
            }
            Reg::None => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn asks(&self, _: usize) -> bool {
        self.pending()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enabled(mode: u16, size: u16) -> Dma {
        let mut d = Dma::new(Layout::Five, 6);
        d.channels[0] = Channel { source: 0x1C00, destination: 0x1D00, size, ..Channel::default() };
        d.write_ctl(0, mode << 12 | 0x0F00 | DMAEN | DMAREQ, 0xFFFF);
        d
    }

    fn moves(d: &mut Dma) -> Vec<(u32, u32, Next)> {
        let mut all = Vec::new();
        assert_eq!(d.begin(), Some((0, TRIGGER_REQUEST)));
        while let Some(m) = d.current() {
            all.push((m.from, m.to, d.moved()));
        }
        all
    }

    #[test]
    fn a_single_transfer_moves_one_word_a_trigger_and_ends_with_its_size() {
        let mut d = enabled(0, 2);
        assert_eq!(moves(&mut d), [(0x1C00, 0x1D00, Next::Done)]);
        assert!(!d.flag(0) && d.begin().is_none());
        d.write_ctl(0, DMAREQ, DMAREQ);
        assert_eq!(moves(&mut d), [(0x1C02, 0x1D02, Next::Done)]);
        assert!(d.flag(0) && d.channels[0].ctl & DMAEN == 0);
    }

    #[test]
    fn a_block_goes_through_and_a_burst_pauses_behind_every_fourth() {
        let mut d = enabled(1, 3);
        let all = moves(&mut d);
        assert_eq!(
            all.iter().map(|m| m.2).collect::<Vec<_>>(),
            [Next::Move, Next::Move, Next::Done]
        );
        let mut d = enabled(2, 6);
        let all = moves(&mut d);
        let pauses: Vec<_> = all.iter().map(|m| m.2 == Next::Pause).collect();
        assert_eq!(pauses, [false, false, false, true, false, false]);
        assert!(d.flag(0));
    }

    #[test]
    fn repeated_transfers_stay_enabled_and_begin_at_the_addresses_again() {
        let mut d = enabled(4, 1);
        assert_eq!(moves(&mut d), [(0x1C00, 0x1D00, Next::Done)]);
        d.write_ctl(0, DMAREQ, DMAREQ);
        assert_eq!(moves(&mut d), [(0x1C00, 0x1D00, Next::Done)]);
    }

    #[test]
    fn the_lower_channel_goes_first_and_under_round_robin_they_take_turns() {
        let mut d = Dma::new(Layout::Five, 3);
        for i in 0..3 {
            d.channels[i].size = 100;
            d.write_ctl(i, DMAEN, 0xFFFF);
        }
        let ask = |d: &mut Dma| {
            (0..3).for_each(|i| d.channels[i].requested = true);
            let channel = d.begin().unwrap().0;
            assert_eq!(d.moved(), Next::Done);
            channel
        };
        assert_eq!([ask(&mut d), ask(&mut d)], [0, 0]);
        d.control = ROUNDROBIN;
        assert_eq!([ask(&mut d), ask(&mut d), ask(&mut d), ask(&mut d)], [0, 1, 2, 0]);
    }

    #[test]
    fn an_edge_counts_once_and_a_level_as_long_as_it_lasts() {
        let mut d = Dma::new(Layout::Five, 1);
        d.channels[0].size = 9;
        d.channels[0].select = 14;
        d.write_ctl(0, DMAEN, 0xFFFF);
        d.observe(0, true);
        assert!(!d.has_work(), "a level that stood there is no edge");
        d.observe(0, false);
        d.observe(0, true);
        d.observe(0, true);
        assert_eq!(d.begin(), Some((0, 14)));
        d.moved();
        assert!(!d.has_work());
        d.write_ctl(0, DMALEVEL, DMALEVEL);
        d.observe(0, true);
        assert!(d.has_work());
        d.observe(0, false);
        assert!(!d.has_work());
    }

    #[test]
    fn the_layouts_find_their_registers() {
        let one = Dma::new(Layout::One, 3);
        assert_eq!(one.register(0x10 + 8 * 2 + 6), Reg::Size(2));
        assert_eq!(one.register(0x10 + 8 * 3), Reg::None);
        let five = Dma::new(Layout::Five, 6);
        assert_eq!(five.register(0x4), Reg::Select(4));
        assert_eq!(five.register(0x68), Reg::Destination(5, true));
        assert_eq!(five.register(0xE), Reg::Vector);
        assert_eq!(Dma::new(Layout::Five, 3).register(0x40), Reg::None);
        assert_eq!(Dma::new(Layout::Five, 3).register(4), Reg::None);
    }
}
