// SPDX-License-Identifier: MIT OR Apache-2.0
//! DMA1 and DMA2 (RM0351 chapter 11): seven channels, each for the request that DMA_CSELR chooses or from memory to memory.
//! One transfer at a time takes its cycles of HCLK; that it takes the bus from the CPU is not modelled.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::dma::*;
use sunseal_trace::{Picos, Width};

use super::{Block, Cx, Stm32, merge};
use crate::clock::Line;
use crate::lint::LintKind;

pub(crate) const CHANNELS: usize = 7;

/// Bytes from one channel's registers to the next one's.
const STRIDE: u32 = 0x14;
const CHANNEL_KNOWN: u32 = 0x7FFF;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Channel {
    ccr: u32,
    cndtr: u32,
    cpar: u32,
    cmar: u32,
    /// CNDTR when the channel was enabled.
    whole: u32,
    /// Addresses of the next transfer, peripheral's and memory's.
    at: [u32; 2],
}

impl Channel {
    fn is_on(&self) -> bool {
        self.ccr & DMA_CCR1_EN != 0 && self.cndtr != 0
    }

    fn copies(&self) -> bool {
        self.ccr & DMA_CCR1_MEM2MEM != 0
    }

    fn begin(&mut self) {
        (self.whole, self.at) = (self.cndtr, [self.cpar, self.cmar]);
    }

    /// Width of peripheral (0) or memory (1); a reserved size is refused where it is written.
    fn width(&self, side: usize) -> Width {
        match self.ccr >> (8 + 2 * side) & 3 {
            0 => Width::W8,
            1 => Width::W16,
            _ => Width::W32,
        }
    }

    /// The address of a side's next access, aligned to its size as the controller does.
    fn address(&self, side: usize) -> (u32, Width) {
        let width = self.width(side);
        (self.at[side] & !(width.bytes() - 1), width)
    }
}

/// One transfer: where from and where to, each with its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub channel: usize,
    pub from: (u32, Width),
    pub to: (u32, Width),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dma {
    channels: [Channel; CHANNELS],
    isr: u32,
    cselr: u32,
    /// The channel that is served, and when its transfer ends.
    serving: Option<(usize, u128)>,
    clock: Line,
}

impl Dma {
    pub fn reset(&mut self) {
        *self = Self { clock: self.clock, ..Self::default() };
    }

    pub fn is_on(&self) -> bool {
        self.channels.iter().any(Channel::is_on)
    }

    /// The request that an enabled channel waits for; none of one that copies.
    pub fn request(&self, channel: usize) -> Option<usize> {
        let c = &self.channels[channel];
        (c.is_on() && !c.copies()).then_some((self.cselr >> (4 * channel) & 0xF) as usize)
    }

    /// Serves the channel of the highest priority that copies or whose request is there; a bit each.
    pub fn start(&mut self, requests: u32, now: Picos, cycles: u64) {
        if self.serving.is_some() || !self.clock.is_running() {
            return;
        }
        let c = &self.channels;
        let ready = |i: &usize| c[*i].is_on() && (c[*i].copies() || requests >> *i & 1 != 0);
        // Of equal priorities the channel of the lower number is served.
        let urgent = |i: &usize| (c[*i].ccr >> 12 & 3, CHANNELS - i);
        if let Some(i) = (0..CHANNELS).filter(ready).max_by_key(urgent) {
            let tick = self.clock.tick_not_before(now) + cycles;
            self.serving = Some((i, self.clock.time_of(tick).0));
        }
    }

    /// The transfer whose time has come; [`transferred`](Self::transferred) tells how it went.
    pub fn transfer(&mut self, t: Picos) -> Option<Transfer> {
        let (channel, _) = self.serving.filter(|(_, end)| *end <= t.0)?;
        let c = &self.channels[channel];
        if !c.is_on() {
            self.serving = None;
            return None;
        }
        let (peripheral, memory) = (c.address(0), c.address(1));
        let out = c.ccr & DMA_CCR1_DIR != 0;
        let (from, to) = if out { (memory, peripheral) } else { (peripheral, memory) };
        Some(Transfer { channel, from, to })
    }

    /// A transfer was made, or the bus refused it. True if it was the last of its channel.
    pub fn transferred(&mut self, channel: usize, done: bool) -> bool {
        self.serving = None;
        let c = &mut self.channels[channel];
        if !done {
            // The channel is switched off by itself (RM0351 section 11.4.5).
            c.ccr &= !DMA_CCR1_EN;
            self.flag(channel, 3);
            return false;
        }
        for (side, increments) in [(0, DMA_CCR1_PINC), (1, DMA_CCR1_MINC)] {
            if c.ccr & increments != 0 {
                c.at[side] = c.at[side].wrapping_add(c.width(side).bytes());
            }
        }
        c.cndtr -= 1;
        let (left, whole) = (c.cndtr, c.whole);
        if left == 0 && c.ccr & DMA_CCR1_CIRC != 0 && !c.copies() {
            c.cndtr = whole;
            c.begin();
        }
        if left == whole / 2 && whole > 1 {
            self.flag(channel, 2);
        }
        if left == 0 {
            self.flag(channel, 1);
        }
        left == 0 && !self.channels[channel].is_on()
    }

    /// Sets TCIF (1), HTIF (2) or TEIF (3), and GIF with it.
    fn flag(&mut self, channel: usize, which: usize) {
        self.isr |= (1 | 1 << which) << (4 * channel);
    }

    fn write_ccr(&mut self, i: usize, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let c = &mut self.channels[i];
        let new = merge(c.ccr, value, mask) & CHANNEL_KNOWN;
        let sizes = new & new << 1 & (DMA_CCR1_PSIZE | DMA_CCR1_MSIZE) & 0xA00;
        if sizes != 0 {
            return Err(
                cx.refuse("PSIZE and MSIZE of a DMA channel are 8, 16 or 32 bits; 3 is reserved")
            );
        }
        let (was_on, on) = (c.ccr & DMA_CCR1_EN != 0, new & DMA_CCR1_EN != 0);
        // Behind EN only the interrupts and EN itself are to be written (RM0351 section 11.6.3).
        if was_on && on && (c.ccr ^ new) & !0xF != 0 {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        if on && new & (DMA_CCR1_MEM2MEM | DMA_CCR1_CIRC) == DMA_CCR1_MEM2MEM | DMA_CCR1_CIRC {
            return Err(cx.refuse("MEM2MEM and CIRC of a DMA channel must not be set together"));
        }
        c.ccr = new;
        if on && !was_on {
            c.begin();
        }
        Ok(())
    }
}

/// A channel's register: the channel, and the offset in its four.
fn place(off: u32) -> Option<(usize, u32)> {
    let at = off.checked_sub(DMA_CCR1)?;
    let (i, register) = ((at / STRIDE) as usize, at % STRIDE);
    (i < CHANNELS && register < 0x10).then_some((i, register))
}

impl Block<Stm32> for Dma {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match (off, place(off)) {
            (DMA_ISR, _) => self.isr,
            (DMA_IFCR, _) => 0,
            (DMA_CSELR, _) => self.cselr,
            (_, Some((i, 0x0))) => self.channels[i].ccr,
            (_, Some((i, 0x4))) => self.channels[i].cndtr,
            (_, Some((i, 0x8))) => self.channels[i].cpar,
            (_, Some((i, _))) => self.channels[i].cmar,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match (off, place(off)) {
            (DMA_ISR, _) => {}
            (DMA_IFCR, _) => {
                // CGIF clears all of its channel; GIF stands as long as one of the others does.
                for i in 0..CHANNELS {
                    let clear = (value & mask) >> (4 * i) & 0xF;
                    let cleared = if clear & 1 != 0 { 0xF } else { clear };
                    self.isr &= !(cleared << (4 * i));
                    if self.isr >> (4 * i) & 0xE == 0 {
                        self.isr &= !(1 << (4 * i));
                    }
                }
            }
            (DMA_CSELR, _) => self.cselr = merge(self.cselr, value, mask) & 0x0FFF_FFFF,
            (_, Some((i, 0x0))) => self.write_ccr(i, value, mask, cx)?,
            (_, Some((i, _))) if self.channels[i].ccr & DMA_CCR1_EN != 0 => {
                cx.lint(LintKind::LockedBits);
            }
            (_, Some((i, register))) => {
                let c = &mut self.channels[i];
                match register {
                    0x4 => c.cndtr = merge(c.cndtr, value, mask) & 0xFFFF,
                    0x8 => c.cpar = merge(c.cpar, value, mask),
                    _ => c.cmar = merge(c.cmar, value, mask),
                }
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, _: Picos) {
        self.clock = *clock;
    }

    fn due(&self, _: &()) -> Option<Picos> {
        self.serving.map(|(_, end)| Picos(end))
    }

    fn asks(&mut self) -> u32 {
        if self.isr == 0 {
            return 0;
        }
        let asks = |i: &usize| self.isr >> (4 * i) & self.channels[*i].ccr & 0xE != 0;
        (0..CHANNELS).filter(asks).fold(0, |all, i| all | 1 << i)
    }
}
