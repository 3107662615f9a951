// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DMA controller: Arm's PL230 with TI's channel sources and interrupts (SLAU356I chapter 11, Arm
//! DDI0417). Eight channels, control structures in SRAM.
//!
//! One arbitration (up to 2^R transfers) is one step: it takes its cycles, then its data move.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::dma::*;
use sunseal_trace::{Picos, Width};

use super::wide::{Block, Cx, Lines, P4, merge};
use crate::blocks::follow::Follow;
use crate::clock::Line;

pub(crate) const CHANNELS: usize = 8;

const MODE: u32 = 7;
const STOP: u32 = 0;
const BASIC: u32 = 1;
const AUTO: u32 = 2;
const PING_PONG: u32 = 3;
const MEMORY_PRIMARY: u32 = 4;
const MEMORY_ALTERNATE: u32 = 5;
const PERIPHERAL_PRIMARY: u32 = 6;
const PERIPHERAL_ALTERNATE: u32 = 7;
const N: u32 = 0x3FF0;

/// Memory as the controller reads and writes it.
pub(crate) trait Memory {
    fn read(&mut self, addr: u32, width: Width) -> Result<u32, Fault>;
    fn write(&mut self, addr: u32, width: Width, value: u32) -> Result<(), Fault>;
    /// Data, not a control word, went from one address to another.
    fn moved(&mut self, _from: u32, _to: u32, _width: Width) {}
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dma {
    master: bool,
    ctlbase: u32,
    source: [u8; CHANNELS],
    int_source: [u32; 3],
    /// Completed channels that DMA_INT0 has not cleared.
    done: u32,
    error: bool,
    use_burst: u32,
    masked: u32,
    enabled: u32,
    alternate: u32,
    high: u32,
    requested: u32,
    /// What the peripherals ask for, as levels.
    lines: u32,
    /// The channel that is served, and the clock tick at which its arbitration ends.
    serving: Option<(u8, u64)>,
}

impl Dma {
    /// Which source each channel listens to (0: none).
    pub fn source(&self, channel: usize) -> u8 {
        self.source[channel]
    }

    pub fn is_on(&self) -> bool {
        self.master && self.enabled != 0
    }

    /// Requests of the peripherals, by channel. A request is latched when it rises.
    pub fn set_lines(&mut self, lines: u32) {
        self.requested |= lines & !self.lines & self.enabled & !self.masked;
        self.lines = lines;
    }

    fn descriptor(&self, channel: u8, alternate: bool) -> u32 {
        self.ctlbase + 16 * u32::from(channel) + if alternate { 16 * CHANNELS as u32 } else { 0 }
    }

    fn uses_alternate(&self, channel: u8) -> bool {
        self.alternate >> channel & 1 != 0
    }

    fn next_channel(&self) -> Option<u8> {
        let ready = self.requested & self.enabled;
        if !self.master || ready == 0 {
            return None;
        }
        let urgent = ready & self.high;
        Some((if urgent != 0 { urgent } else { ready }).trailing_zeros() as u8)
    }

    /// Begins to serve a channel, if none is served: looks its control word up to know how long it takes.
    pub fn start(
        &mut self,
        clock: &Line,
        now: Picos,
        (control_cycles, transfer_cycles): (u32, u32),
        memory: &mut dyn Memory,
    ) {
        if self.serving.is_some() {
            return;
        }
        let Some(channel) = self.next_channel() else { return };
        let at = self.descriptor(channel, self.uses_alternate(channel)) + 8;
        let Ok(control) = memory.read(at, Width::W32) else {
            self.error = true;
            self.enabled &= !(1 << channel);
            return;
        };
        let n = Self::burst(control);
        let cycles = u64::from(control_cycles) + u64::from(transfer_cycles) * u64::from(n);
        self.serving = Some((channel, clock.tick_not_before(now) + cycles));
    }

    /// Transfers of one arbitration.
    fn burst(control: u32) -> u32 {
        let left = ((control & N) >> 4) + 1;
        match control & MODE {
            // The copies of a descriptor are four words.
            MEMORY_PRIMARY | PERIPHERAL_PRIMARY => left.min(4),
            _ => left.min(1 << (control >> 14 & 0xF).min(10)),
        }
    }

    pub fn next_event(&self, clock: &Line) -> Option<Picos> {
        let t = clock.time_of(self.serving?.1);
        (t != Picos::MAX).then_some(t)
    }

    /// Ends the arbitration under way.
    pub fn event(&mut self, memory: &mut dyn Memory) {
        let Some((channel, _)) = self.serving.take() else { return };
        if self.step(channel, memory).is_err() {
            // A bus error disables the channel (DDI0417 2.2.9).
            self.error = true;
            self.enabled &= !(1 << channel);
            self.requested &= !(1 << channel);
        }
    }

    fn step(&mut self, channel: u8, memory: &mut dyn Memory) -> Result<(), Fault> {
        let bit = 1 << channel;
        let alternate = self.uses_alternate(channel);
        let at = self.descriptor(channel, alternate);
        let (source_end, target_end) =
            (memory.read(at, Width::W32)?, memory.read(at + 4, Width::W32)?);
        let mut control = memory.read(at + 8, Width::W32)?;
        let mode = control & MODE;
        if mode == STOP {
            // An invalid structure: the channel is disabled.
            self.enabled &= !bit;
            self.requested &= !bit;
            self.done |= bit;
            return Ok(());
        }
        let width = match control >> 24 & 3 {
            0 => Width::W8,
            1 => Width::W16,
            _ => Width::W32,
        };
        let increment = |code: u32| if code & 3 == 3 { 0 } else { 1 << (code & 3) };
        let (from, to) = (increment(control >> 26), increment(control >> 30));
        let copies = matches!(mode, MEMORY_PRIMARY | PERIPHERAL_PRIMARY);
        let mut left = ((control & N) >> 4) + 1;
        for _ in 0..Self::burst(control) {
            left -= 1;
            let source = source_end.wrapping_sub(from * left);
            let value = memory.read(source, width)?;
            // The copies of a descriptor all go to the same four words.
            let back = if copies { left & 3 } else { left };
            let target = target_end.wrapping_sub(to * back);
            memory.write(target, width, value)?;
            memory.moved(source, target, width);
        }
        let over = left == 0;
        control = control & !N | left.wrapping_sub(1) << 4 & N;
        if over {
            control &= !(MODE | N);
        }
        memory.write(at + 8, Width::W32, control)?;
        self.after(channel, mode, over);
        Ok(())
    }

    /// What follows an arbitration, by the kind of cycle (DDI0417 2.2).
    fn after(&mut self, channel: u8, mode: u32, over: bool) {
        let bit = 1 << channel;
        let ends = |dma: &mut Self| {
            dma.enabled &= !bit;
            dma.requested &= !bit;
            dma.done |= bit;
        };
        match (mode, over) {
            (BASIC, false) => self.ask_again(bit),
            (BASIC | AUTO, true) => ends(self),
            (AUTO | MEMORY_ALTERNATE, false) => {}
            (PING_PONG, false) => self.ask_again(bit),
            (PING_PONG, true) => {
                self.alternate ^= bit;
                self.done |= bit;
                self.ask_again(bit);
            }
            // The primary has copied a task: the task runs, at once or when the peripheral asks.
            (MEMORY_PRIMARY, _) => self.alternate |= bit,
            (PERIPHERAL_PRIMARY, _) => {
                self.alternate |= bit;
            }
            // A task is over: back to the primary for the next.
            (MEMORY_ALTERNATE, true) => self.alternate &= !bit,
            (PERIPHERAL_ALTERNATE, over) => {
                if over {
                    self.alternate &= !bit;
                } else {
                    self.ask_again(bit);
                }
            }
            _ => {}
        }
        if over && mode == AUTO && self.alternate & bit != 0 {
            // The last task of a scatter-gather list: the primary is next in line when enabled again.
            self.alternate &= !bit;
        }
    }

    /// The request is served; one that still stands when the lines are next looked at counts anew.
    fn ask_again(&mut self, bit: u32) {
        self.requested &= !bit;
        self.lines &= !bit;
    }

    // ---- interrupts

    /// DMA_INT1 to DMA_INT3: their own channel is done; the rest goes to DMA_INT0.
    fn mapped(&self, i: usize) -> Option<u32> {
        let s = self.int_source[i];
        (s & 0x20 != 0).then_some(s & 0x1F)
    }
}

impl Block<P4> for Dma {
    const TAINT: Follow = Follow::Mover;

    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            DMA_DEVICE_CFG => 0x0708,
            DMA_SW_CHTRIG => 0,
            DMA_CH_SRCCFG0..=DMA_CH_SRCCFG7 => {
                u32::from(self.source[((off - DMA_CH_SRCCFG0) / 4) as usize])
            }
            DMA_INT1_SRCCFG..=DMA_INT3_SRCCFG => {
                self.int_source[((off - DMA_INT1_SRCCFG) / 4) as usize]
            }
            DMA_INT0_SRCFLG => self.done,
            DMA_INT0_CLRFLG => 0,
            DMA_STAT => {
                let state = if self.serving.is_some() { 4 << 4 } else { 0 };
                u32::from(self.master) | state | (CHANNELS as u32 - 1) << 16
            }
            DMA_CFG => 0,
            DMA_CTLBASE => self.ctlbase,
            DMA_ALTBASE => self.ctlbase + 16 * CHANNELS as u32,
            DMA_WAITSTAT => 0,
            DMA_SWREQ => 0,
            DMA_USEBURSTSET => self.use_burst,
            DMA_REQMASKSET => self.masked,
            DMA_ENASET => self.enabled,
            DMA_ALTSET => self.alternate,
            DMA_PRIOSET => self.high,
            DMA_ERRCLR => u32::from(self.error),
            DMA_USEBURSTCLR | DMA_REQMASKCLR | DMA_ENACLR | DMA_ALTCLR | DMA_PRIOCLR => 0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        const ALL: u32 = (1 << CHANNELS) - 1;
        let v = value & mask;
        let bits = v & ALL;
        match off {
            DMA_DEVICE_CFG | DMA_INT0_SRCFLG | DMA_STAT | DMA_ALTBASE | DMA_WAITSTAT => {}
            DMA_CH_SRCCFG0..=DMA_CH_SRCCFG7 => {
                let i = ((off - DMA_CH_SRCCFG0) / 4) as usize;
                self.source[i] = merge(u32::from(self.source[i]), value, mask) as u8;
                if self.source[i] > 7 {
                    return Err(cx.refuse("DMA_CHn_SRCCFG above 7; channels have eight sources"));
                }
                // Another source: what stands there counts as rising.
                self.lines &= !(1 << i);
            }
            DMA_INT1_SRCCFG..=DMA_INT3_SRCCFG => {
                self.int_source[((off - DMA_INT1_SRCCFG) / 4) as usize] = v & 0x3F
            }
            DMA_INT0_CLRFLG => self.done &= !bits,
            DMA_CFG => self.master = v & 1 != 0,
            DMA_CTLBASE => {
                if v & 0xFF != 0 {
                    return Err(cx.refuse("DMA_CTLBASE must be a multiple of 256: two structures for each of eight channels"));
                }
                self.ctlbase = merge(self.ctlbase, value, mask);
            }
            DMA_SW_CHTRIG | DMA_SWREQ => self.requested |= bits & self.enabled,
            DMA_USEBURSTSET => self.use_burst |= bits,
            DMA_USEBURSTCLR => self.use_burst &= !bits,
            DMA_REQMASKSET => self.masked |= bits,
            DMA_REQMASKCLR => self.masked &= !bits,
            DMA_ENASET => {
                self.enabled |= bits;
                self.lines &= !bits;
            }
            DMA_ENACLR => {
                self.enabled &= !bits;
                self.requested &= !bits;
            }
            DMA_ALTSET => self.alternate |= bits,
            DMA_ALTCLR => self.alternate &= !bits,
            DMA_PRIOSET => self.high |= bits,
            DMA_PRIOCLR => self.high &= !bits,
            DMA_ERRCLR => {
                if v & 1 != 0 {
                    self.error = false;
                }
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn due(&self, lines: &Lines) -> Option<Picos> {
        self.next_event(&lines.fclk)
    }

    /// DMA_INT0 to DMA_INT3 and DMA_ERR. That a mapped channel is done is a pulse.
    fn asks(&mut self) -> u32 {
        let mut out = u32::from(self.error) << 4;
        for i in 0..3 {
            if let Some(c) = self.mapped(i).filter(|c| self.done >> c & 1 != 0) {
                self.done &= !(1 << c);
                out |= 2 << i;
            }
        }
        out | u32::from(self.done != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct Bytes(BTreeMap<u32, u8>);

    impl Memory for Bytes {
        fn read(&mut self, addr: u32, width: Width) -> Result<u32, Fault> {
            Ok((0..width.bytes())
                .fold(0, |v, i| v | u32::from(*self.0.get(&(addr + i)).unwrap_or(&0)) << (8 * i)))
        }

        fn write(&mut self, addr: u32, width: Width, value: u32) -> Result<(), Fault> {
            for i in 0..width.bytes() {
                self.0.insert(addr + i, (value >> (8 * i)) as u8);
            }
            Ok(())
        }
    }

    fn clock() -> Line {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        line
    }

    fn control(mode: u32, n: u32, r: u32, size: u32) -> u32 {
        size << 30 | size << 28 | size << 26 | size << 24 | r << 14 | (n - 1) << 4 | mode
    }

    fn drain(dma: &mut Dma, memory: &mut Bytes) -> u32 {
        let clock = clock();
        let mut steps = 0;
        loop {
            dma.start(&clock, Picos(0), (5, 2), memory);
            if dma.next_event(&clock).is_none() {
                return steps;
            }
            dma.event(memory);
            steps += 1;
            assert!(steps < 1000);
        }
    }

    fn on(channel: u32) -> Dma {
        Dma { master: true, ctlbase: 0x1000, enabled: 1 << channel, ..Dma::default() }
    }

    #[test]
    fn basic_moves_a_burst_for_each_request() {
        let mut m = Bytes::default();
        for i in 0..8 {
            m.write(0x2000 + i, Width::W8, 0x10 + i).unwrap();
        }
        let mut dma = on(1);
        m.write(0x1010, Width::W32, 0x2007).unwrap();
        m.write(0x1014, Width::W32, 0x3007).unwrap();
        m.write(0x1018, Width::W32, control(BASIC, 8, 2, 0)).unwrap();
        dma.set_lines(2);
        assert_eq!(dma.next_channel(), Some(1));
        dma.set_lines(0);
        assert_eq!(drain(&mut dma, &mut m), 1);
        assert_eq!(m.read(0x3000, Width::W32).unwrap(), 0x1312_1110);
        assert_eq!(m.read(0x3004, Width::W32).unwrap(), 0);
        dma.set_lines(2);
        dma.set_lines(0);
        drain(&mut dma, &mut m);
        assert_eq!(m.read(0x3004, Width::W32).unwrap(), 0x1716_1514);
        assert_eq!((dma.enabled, dma.done), (0, 2));
        assert_eq!(m.read(0x1018, Width::W32).unwrap() & (MODE | N), 0);
    }

    #[test]
    fn auto_runs_on_from_one_request() {
        let mut m = Bytes::default();
        m.write(0x2000, Width::W32, 0xCAFE_F00D).unwrap();
        m.write(0x1000, Width::W32, 0x2000 + 4 * 15).unwrap();
        m.write(0x1004, Width::W32, 0x3000 + 4 * 15).unwrap();
        m.write(0x1008, Width::W32, control(AUTO, 16, 2, 2)).unwrap();
        let mut dma = on(0);
        dma.requested = 1;
        assert_eq!(drain(&mut dma, &mut m), 4, "arbitrations of four");
        assert_eq!(m.read(0x3000, Width::W32).unwrap(), 0xCAFE_F00D);
        assert_eq!(dma.done, 1);
    }

    #[test]
    fn ping_pong_changes_sides_and_goes_on() {
        let mut m = Bytes::default();
        for (base, from, to) in [(0x1000, 0x2000, 0x3000), (0x1080, 0x2100, 0x3100)] {
            m.write(from, Width::W8, from >> 8).unwrap();
            m.write(base, Width::W32, from).unwrap();
            m.write(base + 4, Width::W32, to).unwrap();
            m.write(base + 8, Width::W32, control(PING_PONG, 1, 0, 0)).unwrap();
        }
        let mut dma = on(0);
        dma.requested = 1;
        drain(&mut dma, &mut m);
        assert_eq!((dma.alternate, dma.enabled, dma.done), (1, 1, 1));
        assert_eq!(m.read(0x3000, Width::W8).unwrap(), 0x20);
        dma.requested = 1;
        drain(&mut dma, &mut m);
        assert_eq!(m.read(0x3100, Width::W8).unwrap(), 0x21);
        assert_eq!(dma.alternate, 0);
        // Neither side is filled again: the channel stops.
        dma.requested = 1;
        drain(&mut dma, &mut m);
        assert_eq!(dma.enabled, 0);
    }

    #[test]
    fn memory_scatter_gather_runs_its_list_of_tasks() {
        let mut m = Bytes::default();
        let alternate = 0x1080;
        // Two tasks of one word each at 0x4000, the last of kind auto.
        for (i, mode) in [(0, MEMORY_ALTERNATE), (1, AUTO)] {
            let task = 0x4000 + 16 * i;
            m.write(0x2000 + 0x100 * i, Width::W32, 0xA0 + i).unwrap();
            m.write(task, Width::W32, 0x2000 + 0x100 * i).unwrap();
            m.write(task + 4, Width::W32, 0x3000 + 4 * i).unwrap();
            m.write(task + 8, Width::W32, control(mode, 1, 0, 2)).unwrap();
        }
        m.write(0x1000, Width::W32, 0x401C).unwrap();
        m.write(0x1004, Width::W32, alternate + 12).unwrap();
        m.write(0x1008, Width::W32, control(MEMORY_PRIMARY, 8, 2, 2)).unwrap();
        let mut dma = on(0);
        dma.requested = 1;
        drain(&mut dma, &mut m);
        assert_eq!(m.read(0x3000, Width::W32).unwrap(), 0xA0);
        assert_eq!(m.read(0x3004, Width::W32).unwrap(), 0xA1);
        assert_eq!((dma.enabled, dma.done), (0, 1));
    }
}
