// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses to registers, what they lead to outside their block, resets.

use sunseal_registers::msp430x1xx::usart::U0TXBUF;
use sunseal_registers::msp430x5xx::adc12_a::{ADC12IFG, ADC12MCTL0, ADC12MEM0};

use super::*;

impl F1xx {
    // ---- special function registers

    pub(super) fn read_sfr(&self, addr: u32) -> u8 {
        let c = &self.chip;
        let u = usize::from(addr & 1 != 0);
        let (usart, bit) = (&c.blocks.usarts[u], USART_BIT[u]);
        let wdt = &c.blocks.wdt;
        let pair = |rx: bool, tx: bool| u8::from(rx) << bit | u8::from(tx) << (bit + 1);
        match addr {
            at::IE1 => c.ie1 | u8::from(wdt.ie) | pair(usart.rx_ie, usart.tx_ie),
            at::IE2 => pair(usart.rx_ie, usart.tx_ie),
            at::IFG1 => c.ifg1 | u8::from(wdt.ifg) | pair(usart.rx_ifg, usart.tx_ifg),
            at::IFG2 => pair(usart.rx_ifg, usart.tx_ifg),
            _ => pair(usart.rx_on, usart.tx_on),
        }
    }

    pub(super) fn write_sfr(
        &mut self,
        addr: u32,
        value: u8,
        cx_at: (Cycles, Picos),
        env: &mut Env,
    ) -> Result<(), Fault> {
        let u = usize::from(addr & 1 != 0);
        let bit = USART_BIT[u];
        let (rx, tx) = (value >> bit & 1 != 0, value >> (bit + 1) & 1 != 0);
        match addr {
            at::IE1 => {
                self.chip.ie1 = value & IE1_OWN;
                self.chip.blocks.wdt.ie = value & WDTIFG != 0;
            }
            at::IFG1 => {
                self.chip.ifg1 = value & IFG1_OWN;
                self.chip.blocks.wdt.ifg = value & WDTIFG != 0;
            }
            _ => {}
        }
        let mut usart = self.chip.blocks.usarts[u].clone();
        match addr {
            at::IE1 | at::IE2 => (usart.rx_ie, usart.tx_ie) = (rx, tx),
            at::IFG1 | at::IFG2 => (usart.rx_ifg, usart.tx_ifg) = (rx, tx),
            _ => {
                (usart.rx_on, usart.tx_on) = (rx, tx);
                usart.enabled_changed(&cx!(self, env, addr, cx_at.0, cx_at.1))?;
            }
        }
        self.chip.blocks.usarts[u] = usart;
        Ok(())
    }

    // ---- registers

    /// The block of a register, the offset there, and how much higher the bits of a byte lie.
    pub(super) fn place_of(addr: u32) -> (Slot, u32, u32) {
        if let Some((i, half, off)) = port_register(addr) {
            return (Slot::ports(i as u8), off, 8 * half);
        }
        let (slot, off) = match addr {
            at::SVSCTL => (Slot::svs(0), 0),
            at::DCOCTL..=at::BCSCTL2 => (Slot::clock(0), addr - at::DCOCTL),
            at::U0CTL..=at::U0TXBUF => (Slot::usarts(0), addr - at::U0CTL),
            at::U1CTL..=at::U1TXBUF => (Slot::usarts(1), addr - at::U1CTL),
            // The converter has its registers at the offsets of the ADC12_A.
            at::ADC12MCTL0..=at::ADC12MCTL15 => {
                let off = ADC12MCTL0 + ((addr - at::ADC12MCTL0) & !1);
                return (Slot::adc(0), off, 8 * (addr & 1));
            }
            at::ADC12MEM0..=at::ADC12MEM15 => (Slot::adc(0), ADC12MEM0 + (addr - at::ADC12MEM0)),
            at::ADC12CTL0 | at::ADC12CTL1 => (Slot::adc(0), addr - at::ADC12CTL0),
            at::ADC12IFG..=at::ADC12IV => (Slot::adc(0), ADC12IFG + (addr - at::ADC12IFG)),
            at::TBIV => (Slot::timers(1), TAIV),
            at::TAIV => (Slot::timers(0), TAIV),
            at::TACTL..at::TBCTL => (Slot::timers(0), addr - at::TACTL),
            at::TBCTL..at::ADC12CTL0 => (Slot::timers(1), addr - at::TBCTL),
            at::WDTCTL => (Slot::wdt(0), 0),
            at::DMACTL0 | at::DMACTL1 => (Slot::dma(0), addr - at::DMACTL0),
            at::DMA0CTL..=at::DMA2SZ => (Slot::dma(0), 0x10 + (addr - at::DMA0CTL)),
            at::FCTL1..=at::FCTL3 => (Slot::flash(0), addr - at::FCTL1),
            at::MPY..=at::SUMEXT => (Slot::mpy(0), addr - at::MPY),
            _ => (Slot::none, 0),
        };
        (slot, off, 0)
    }

    /// `mask` is 0xFF in a byte module.
    pub(super) fn read_register(
        &mut self,
        env: &mut Env,
        addr: u32,
        mask: u16,
        at: Cycles,
    ) -> Result<u16, Fault> {
        if addr <= at::ME2 {
            return Ok(self.read_sfr(addr).into());
        }
        let now = self.chip.clocks.mclk.time_of(at);
        let (slot, off, shift) = Self::place_of(addr);
        let mut cx = cx!(self, env, addr, at, now);
        let word = self.chip.blocks.read(slot, off, mask << shift, &mut cx)?;
        if std::mem::take(&mut self.fx.touched) {
            env.deadline = 0;
        }
        if let Slot::timers(_) = slot {
            self.follow_outputs(env, at);
        }
        Ok(word >> shift & mask)
    }

    pub(super) fn write_register(
        &mut self,
        env: &mut Env,
        to: Masked,
        at: Cycles,
    ) -> Result<(), Fault> {
        let Masked { addr, value, mask } = to;
        let now = self.chip.clocks.mclk.time_of(at);
        if addr <= at::ME2 {
            return self.write_sfr(addr, value as u8, (at, now), env);
        }
        let (slot, off, shift) = Self::place_of(addr);
        if let Slot::mpy(_) = slot {
            // Only the fast way counts operations; a second one too early comes here first.
            if off == OP2 && self.chip.blocks.mpy.abandon(at) {
                env.common.state.lints.report(LintKind::MpyOverlap, addr, at);
            }
            if self.write_plain_register(env, addr, value, at) {
                return Ok(());
            }
        }
        let mut cx = cx!(self, env, addr, at, now);
        let trigger = |i: u16| value >> (4 * i) & 0xF;
        if addr == at::DMACTL0 && (0..3).any(|i| matches!(trigger(i), 5 | 11..=13 | 15)) {
            return Err(cx.refuse(
                "DMA triggers from DAC12, the multiplier and the pin DMAE0 are not modelled",
            ));
        }
        self.chip.blocks.write(slot, off, value << shift, mask << shift, &mut cx)?;
        match slot {
            Slot::ports(i) => self.port_written(env, usize::from(i), now, at),
            Slot::svs(_) => self.supervise(env, now),
            Slot::timers(_) => {
                self.follow_outputs(env, at);
                self.feed_captures(now);
            }
            Slot::flash(_) => self.book_flash(env, now, at),
            // UTXIFGx falls with the write; where the shift register is free it rises again at once.
            Slot::usarts(i) if off == U0TXBUF => self.see_fall([4, 10][usize::from(i)]),
            Slot::clock(_) => {
                let (surroundings, speed) = (dco_at(env), &self.facts.speed);
                let fastest_hz = self.chip.blocks.clock.mclk_fastest_hz(&self.facts, surroundings);
                if fastest_hz > speed.mclk_max_hz(env.common.state.vcc_v) {
                    env.common.state.lints.report(LintKind::DcoTooFast, addr, at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    // ---- resets

    pub(super) fn reset_as(
        &mut self,
        env: &mut Env,
        kind: ResetKind,
        by_svs: bool,
        now: Picos,
        cycles: Cycles,
    ) {
        self.fx = Effects::default();
        // MCLK may have been at rest.
        self.chip.clocks.restart(now, cycles);
        env.mode = 0;
        // A reset aborts what the flash controller was doing.
        let aborted = self.chip.blocks.flash.cut(&mut env.memory[..], now.0 as u64 ^ cycles);
        self.flash_changed(env, aborted);
        let power_on = kind != ResetKind::Puc;
        let how = Reset::of(kind);
        let c = &mut self.chip;
        let b = &mut c.blocks;
        b.clock.restart(how);
        b.flash.restart(how);
        c.ie1 = 0;
        c.ifg1 = c.ifg1 & NMIIFG | OFIFG;
        b.ports.iter_mut().for_each(|p| p.restart(how));
        b.usarts.iter_mut().for_each(|u| u.restart(how));
        // Registers marked (0) in the guide know the power-on reset only: timers and converter go on.
        if power_on {
            c.ifg1 = OFIFG;
            b.wdt.ifg = false;
            b.mpy.restart(how);
            b.timers.iter_mut().for_each(|t| t.restart(how));
            b.adc.restart(how);
            b.dma.restart(how);
            c.dma_phase = DmaPhase::Idle;
            c.reference = None;
        }
        if kind == ResetKind::Bor || by_svs {
            b.svs.reset(by_svs);
        }
        env.common.pending_fault = None;
        self.update_clocks(env, now, cycles);
        self.chip.blocks.wdt.reset(&self.chip.clocks, now);
        for i in 0..3 {
            self.port_written(env, i, now, cycles);
        }
        if env.common.state.powered {
            self.book_flash(env, now, cycles);
        }
        self.settle_effects(env, now, cycles);
        env.deadline = 0;
    }
}
