// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers by DMA: triggers, and the moves between instructions.

use super::*;

impl F1xx {
    // ---- DMA

    /// The level of a trigger (SLAU049 table 8-2).
    pub(super) fn trigger(&self, channel: usize, select: u8) -> bool {
        let c = &self.chip.blocks;
        let [ta, tb] = &c.timers;
        match select {
            1 => ta.dma_flag(2),
            2 => tb.dma_flag(2),
            3 => c.usarts[0].rx_ifg && !c.usarts[0].rx_ie,
            4 => c.usarts[0].tx_ifg && !c.usarts[0].tx_ie,
            ADC12_TRIGGER => c.adc.dma_flag(),
            7 => ta.dma_flag(0),
            8 => tb.dma_flag(0),
            9 => c.usarts[1].rx_ifg && !c.usarts[1].rx_ie,
            10 => c.usarts[1].tx_ifg && !c.usarts[1].tx_ie,
            14 => c.dma.flag((channel + 2) % 3),
            _ => false,
        }
    }

    /// The transfer that a flag asked for begins: the flag falls, except the converter's.
    pub(super) fn triggered(&mut self, select: u8) {
        let c = &mut self.chip.blocks;
        match select {
            1 => c.timers[0].clear_flag(2),
            2 => c.timers[1].clear_flag(2),
            3 => c.usarts[0].rx_ifg = false,
            4 => c.usarts[0].tx_ifg = false,
            7 => c.timers[0].clear_flag(0),
            8 => c.timers[1].clear_flag(0),
            9 => c.usarts[1].rx_ifg = false,
            10 => c.usarts[1].tx_ifg = false,
            _ => {}
        }
    }

    pub(super) fn look_at_triggers(&mut self) {
        if self.chip.blocks.dma.is_watching() {
            let watched: Vec<_> = self.chip.blocks.dma.watched().collect();
            for (channel, select) in watched {
                let level = self.trigger(channel, select);
                self.chip.blocks.dma.observe(channel, level);
            }
        }
    }

    /// A trigger fell; whether it rose again shows when triggers are looked at next.
    pub(super) fn see_fall(&mut self, select: u8) {
        let watched: Vec<_> = self.chip.blocks.dma.watched().filter(|w| w.1 == select).collect();
        for (channel, _) in watched {
            self.chip.blocks.dma.observe(channel, false);
        }
    }

    /// `cycles` of MCLK behind `t`.
    pub(super) fn after_cycles(&self, t: Picos, cycles: u64) -> u128 {
        let mclk = &self.chip.clocks.mclk;
        mclk.time_of(mclk.ticks_at(t) + cycles).0
    }

    /// A transfer that waits begins, between instructions or while the CPU sleeps.
    pub(super) fn begin_dma(&mut self, env: &Env, sleeping: bool) {
        if self.chip.dma_phase != DmaPhase::Idle || !self.chip.blocks.dma.has_work() {
            return;
        }
        if let Some((channel, select)) = self.chip.blocks.dma.begin() {
            self.triggered(select);
            if select == ADC12_TRIGGER {
                // Its flag falls when the result is read.
                self.chip.blocks.dma.keep_level(channel);
            }
        }
        let mut from = env.common.now();
        let mut sync = dma::SYNC_CYCLES;
        if sleeping {
            sync = dma::SYNC_CYCLES_ASLEEP;
            let dco = self.chip.blocks.clock.mclk(&self.facts, dco_at(env)).source == Source::Dco;
            if dco && !self.smclk_on(env.mode) {
                from += us(self.facts.wake.dco_us);
            }
        }
        self.chip.dma_phase = DmaPhase::Moving(self.after_cycles(from, sync + dma::MOVE_CYCLES));
    }

    pub(super) fn dma_event(&mut self, env: &mut Env, t: Picos) {
        // Idle while it moves: the accesses it makes look at events, too.
        self.chip.dma_phase = match std::mem::replace(&mut self.chip.dma_phase, DmaPhase::Idle) {
            DmaPhase::Moving(_) => match self.chip.blocks.dma.current() {
                Some(m) => {
                    if let Err(fault) = self.carry(env, m, t) {
                        env.common.pending_fault = Some(dma::refused(&fault, m.from, m.to));
                    }
                    match self.chip.blocks.dma.moved() {
                        Next::Move => DmaPhase::Moving(self.after_cycles(t, dma::MOVE_CYCLES)),
                        Next::Pause => {
                            DmaPhase::Paused(self.after_cycles(t, dma::BURST_PAUSE_CYCLES))
                        }
                        Next::Done => DmaPhase::Ending(self.after_cycles(t, dma::WAIT_CYCLES)),
                    }
                }
                // Disabled under way.
                None => DmaPhase::Idle,
            },
            _ => DmaPhase::Idle,
        };
    }

    pub(super) fn carry(&mut self, env: &mut Env, m: Move, t: Picos) -> Result<(), Fault> {
        let at = self.chip.clocks.mclk.ticks_at(t);
        let width = |byte: bool| if byte { Width::Byte } else { Width::Word };
        let place = |addr: u32, byte: bool| if byte { addr } else { addr & !1 };
        let (from, to) = (place(m.from, m.from_byte), place(m.to, m.to_byte));
        let value = if env.page(from) & READ != 0 {
            match m.from_byte {
                true => u16::from(env.memory[from as usize]),
                false => env.word(from),
            }
        } else if from < <Self as Peripherals>::PERIPHERALS_END {
            self.read(env, from, width(m.from_byte), at)?
        } else {
            return Err(self.unreadable(env, from).unwrap_or_else(|| Fault::unmapped(from)));
        };
        let value = if m.to_byte || m.from_byte { value & 0xFF } else { value };
        env.common.moved(from, to, 2 - u32::from(m.from_byte), 2 - u32::from(m.to_byte));
        if to < <Self as Peripherals>::PERIPHERALS_END {
            self.write(env, Store { addr: to, width: width(m.to_byte), value }, at)
        } else if env.is_ram(to) {
            let [low, high] = value.to_le_bytes();
            env.memory[to as usize] = low;
            if !m.to_byte {
                env.memory[to as usize + 1] = high;
            }
            Ok(())
        } else {
            self.store(env, Store { addr: to, width: width(m.to_byte), value }, at)
        }
    }

    /// Events that fall due inside an instruction show to its later accesses.
    pub(super) fn catch_up(&mut self, env: &mut Env, at: Cycles) {
        let now = self.chip.clocks.mclk.time_of(at);
        while let Some(t) = self.next_event().filter(|t| *t <= now) {
            self.process_at(env, t, now, at);
            env.deadline = 0;
            if self.fx.reset.is_some() || env.common.pending_fault.is_some() {
                break;
            }
        }
    }
}
