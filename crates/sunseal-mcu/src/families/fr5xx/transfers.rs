// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers by DMA: triggers, the moves of a burst, and what a cut takes back.

use super::*;

impl Fr5xx {
    // ---- DMA

    pub(super) fn trigger_level(&self, channel: usize, select: u8) -> bool {
        let b = &self.chip.blocks;
        match self.triggers[usize::from(select & 31)][channel] {
            Trigger::Never => false,
            Trigger::Block(slot, number) => b.triggers(slot, number),
            Trigger::Chain => {
                let channels = self.triggers[0].len();
                let group = if 2 * channel >= channels { channels / 2 } else { 0 };
                let n = channels.div_ceil(2);
                b.dma.flag(group + (channel - group + n - 1) % n)
            }
        }
    }

    pub(super) fn poll_dma(&mut self) {
        if !self.chip.blocks.dma.is_watching() {
            return;
        }
        let levels: Vec<_> =
            self.chip.blocks.dma.watched().map(|(c, s)| (c, self.trigger_level(c, s))).collect();
        for (channel, level) in levels {
            self.chip.blocks.dma.observe(channel, level);
        }
        self.chip.blocks.adc.done = false;
    }

    pub(super) fn served(&mut self, channel: usize, select: u8) {
        if let Trigger::Block(slot, number) = self.triggers[usize::from(select & 31)][channel] {
            self.chip.blocks.served(slot, number);
        }
    }

    /// One access of the DMA controller; what FRAM adds goes to `stalled`.
    pub(super) fn dma_read(
        &mut self,
        env: &mut Env,
        addr: u32,
        width: Width,
        at: Cycles,
    ) -> Result<u16, Fault> {
        if addr < Self::PERIPHERALS_END {
            return self.read(env, addr, width, at);
        }
        if Self::fram_region(env, addr) {
            if env.page(addr) & FRAM_READ != 0 {
                self.fram_read(addr);
            } else if let Some(word) = self.refused(env, addr) {
                return Ok(word);
            }
        } else if env.common.dev.region(addr).is_none() {
            return Err(Fault::unmapped(addr));
        }
        Ok(env.load(addr, width))
    }

    pub(super) fn dma_write(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault> {
        let Store { addr, width, value } = to;
        if addr < Self::PERIPHERALS_END {
            return self.write(env, to, at);
        }
        if Self::fram_region(env, addr) {
            if env.page(addr) & FRAM_WRITE == 0 {
                return self.store(env, to, at);
            }
            self.fram_written(addr);
            env.put(addr, width, value);
            env.code_changed(addr & !1..(addr & !1) + 2);
            return Ok(());
        }
        match env.common.dev.region(addr).map(|r| r.kind) {
            Some(RegionKind::Ram) => {
                env.put(addr, width, value);
                Ok(())
            }
            Some(_) => Err(Fault::read_only(addr)),
            None => Err(Fault::unmapped(addr)),
        }
    }

    /// Makes the moves of transfers that wait, from cycle `at` on; answers the cycles they take.
    pub(super) fn run_dma(
        &mut self,
        env: &mut Env,
        at: Cycles,
        asleep: bool,
    ) -> Result<Cycles, Fault> {
        let mut taken = 0;
        let stalled = std::mem::take(&mut self.chip.stalled);
        let mut rounds = 0;
        self.chip.dma_ahead.clear();
        loop {
            self.poll_dma();
            if let Some((channel, select)) = self.chip.blocks.dma.begin() {
                taken += if asleep { dma::SYNC_CYCLES_ASLEEP } else { dma::SYNC_CYCLES };
                self.served(channel, select);
            }
            let Some(m) = self.chip.blocks.dma.current() else { break };
            let width = |byte| if byte { Width::Byte } else { Width::Word };
            let align = |addr: u32, byte: bool| if byte { addr } else { addr & !1 };
            let from = align(m.from, m.from_byte);
            let refused = |fault: Fault| dma::refused(&fault, m.from, m.to);
            let value =
                self.dma_read(env, from, width(m.from_byte), at + taken).map_err(refused)?;
            taken += std::mem::take(&mut self.chip.stalled) + 1;
            let to = align(m.to, m.to_byte);
            if !asleep && to >= Self::PERIPHERALS_END {
                let (at, old) = (at + taken, env.load(to, width(m.to_byte)));
                self.chip.dma_ahead.push(Ahead { at, addr: to, old, byte: m.to_byte });
            }
            let store = Store { addr: to, width: width(m.to_byte), value };
            self.dma_write(env, store, at + taken).map_err(refused)?;
            taken += std::mem::take(&mut self.chip.stalled) + dma::MOVE_CYCLES - 1;
            env.common.accounts.count(Event::DmaTransfer);
            env.common.moved(from, to, 2 - u32::from(m.from_byte), 2 - u32::from(m.to_byte));
            rounds += 1;
            match self.chip.blocks.dma.moved() {
                Next::Move => {}
                Next::Pause if !asleep => {
                    let end = self.chip.clocks.mclk.time_of(at + taken + dma::BURST_PAUSE_CYCLES);
                    self.chip.dma_pause = end.0;
                    break;
                }
                Next::Pause => {}
                Next::Done => {
                    taken += dma::WAIT_CYCLES;
                    if !asleep {
                        // Between transfers the CPU gets its turn.
                        break;
                    }
                }
            }
            if rounds > 1 << 20 {
                return Err(Fault::device(
                    self.at.dma[0].base,
                    "DMA transfers follow one another without end while the CPU is off; use an edge-sensitive trigger or a single transfer",
                ));
            }
        }
        self.chip.stalled += stalled;
        self.book_fram(env);
        Ok(taken)
    }

    /// The supply goes away in `cycles`: moves that were carried out ahead of it have not happened.
    pub(super) fn undo_dma(&mut self, env: &mut Env, cycles: Cycles) {
        while let Some(a) = self.chip.dma_ahead.pop().filter(|a| a.at >= cycles) {
            env.put(a.addr, if a.byte { Width::Byte } else { Width::Word }, a.old);
            env.code_changed(a.addr & !1..(a.addr & !1) + 2);
        }
    }
}
