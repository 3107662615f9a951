// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of DMA1 and DMA2, their transfers, and triggers of the ADCs.

use super::*;
use crate::blocks::st::dma::{CHANNELS, Dma, Transfer};

/// What a channel can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Adc(usize),
    /// An interface's byte, to receive or to send.
    Usart(usize, bool),
    Spi(usize, bool),
    I2c(usize, bool),
    /// Flags of a timer, by their bits.
    Tim(usize, u32),
}

/// What each value of CSELR makes each channel wait for, by controller.
pub(super) type Requests = [Vec<[Option<Request>; CHANNELS]>; 2];

/// EXTSEL of what TRGO of TIM2 to TIM5 triggers (RM0351, external triggers of the regular channels); TIM5 triggers none.
const TRGO: [Option<u32>; 4] = [Some(11), Some(4), Some(12), None];

/// A request by its name in the device's data, "usart1_rx"; none of a block that is not modelled.
fn request(name: &str) -> Option<Request> {
    if let Some(n) = name.strip_prefix("adc") {
        return Some(Request::Adc(n.parse::<usize>().ok()?.checked_sub(1)?));
    }
    if let Some(timer) = name.strip_prefix("tim") {
        // Several events of a timer may share a channel: "tim3_ch4+up".
        let (n, events) = timer.split_once('_')?;
        let bit = |event: &str| match event.strip_prefix("ch") {
            Some(n) => n.parse::<u32>().ok().map(|n| 1 << n),
            None => (event == "up").then_some(1),
        };
        let bits = events.split('+').filter_map(bit).sum();
        let timer = n.parse::<usize>().ok()?.checked_sub(2).filter(|n| *n < 4)?;
        return Some(Request::Tim(timer, bits));
    }
    let (serial, way) = name.split_once('_')?;
    let (i, receive) = (SERIALS.iter().position(|s| *s == serial)?, way == "rx");
    Some(match i {
        0..USARTS => Request::Usart(i, receive),
        _ if i < USARTS + SPIS => Request::Spi(i - USARTS, receive),
        _ => Request::I2c(i - USARTS - SPIS, receive),
    })
}

pub(super) fn requests(dev: &Device) -> Requests {
    ["dma1", "dma2"].map(|unit| {
        let selects = dev.block(unit).map_or(&[][..], |b| &b.triggers);
        let of_select = |names: &String| {
            let mut names = names.split('|');
            std::array::from_fn(|_| names.next().and_then(request))
        };
        selects.iter().map(of_select).collect()
    })
}

impl Soc {
    pub(super) fn dma_is_on(&self) -> bool {
        self.r.blocks.dma.iter().any(Dma::is_on)
    }

    fn asks_for(&self, request: Request) -> bool {
        let b = &self.r.blocks;
        match request {
            Request::Adc(i) => b.adc[i].requests(),
            Request::Usart(i, receive) => b.usart[i].requests(receive),
            Request::Spi(i, receive) => b.spi[i].requests(receive),
            Request::I2c(i, receive) => b.i2c[i].requests(receive),
            Request::Tim(i, bits) => b.tim[i].requests & bits != 0,
        }
    }

    fn request_of(&self, unit: usize, channel: usize) -> Option<Request> {
        let select = self.r.blocks.dma[unit].request(channel)?;
        self.requests[unit].get(select)?[channel]
    }

    /// Triggers reach the ADCs, and requests the DMA controllers.
    pub(super) fn serve(&mut self, now: Picos) {
        let blocks = &mut self.r.blocks;
        for (tim, select) in blocks.tim.iter_mut().zip(TRGO) {
            if let (Some(at), Some(select)) = (tim.trgo.take(), select) {
                blocks.adc.iter_mut().for_each(|adc| adc.trigger(select, at));
            }
        }
        for unit in 0..2 {
            if !self.r.blocks.dma[unit].is_on() {
                continue;
            }
            let mut there = 0;
            for channel in 0..CHANNELS {
                match (self.r.blocks.dma[unit].request(channel), self.request_of(unit, channel)) {
                    (Some(_), Some(request)) => {
                        there |= u32::from(self.asks_for(request)) << channel;
                    }
                    (Some(select), None) => self.no_request(unit, channel, select),
                    (None, _) => {}
                }
            }
            let cycles = self.facts.dma.transfer_cycles;
            self.r.blocks.dma[unit].start(there, now, cycles);
        }
    }

    #[cold]
    fn no_request(&mut self, unit: usize, channel: usize, select: usize) {
        let (base, dma, channel) = (self.map.base(Slot::dma(unit)), unit + 1, channel + 1);
        self.side.deadline = 0;
        self.common.pending_fault.get_or_insert_with(|| {
            Fault::device(
                base,
                format!(
                    "channel {channel} of DMA{dma} waits for request {select}, which no modelled block makes; DMA{dma}_CSELR.C{channel}S chooses it (RM0351, DMA{dma} requests for each channel)"
                ),
            )
        });
    }

    pub(super) fn dma_event(&mut self, unit: usize, t: Picos, cycles: Cycles) {
        let Some(transfer) = self.r.blocks.dma[unit].transfer(t) else { return };
        let request = self.request_of(unit, transfer.channel);
        if let Some(Request::Tim(i, bits)) = request {
            self.r.blocks.tim[i].requests &= !bits;
        }
        let done = self.carry_out_transfer(&transfer, t, cycles);
        self.common.accounts.count(Event::DmaTransfer);
        if self.r.blocks.dma[unit].transferred(transfer.channel, done)
            && let Some(Request::Adc(i)) = request
        {
            self.r.blocks.adc[i].served();
        }
    }

    fn carry_out_transfer(&mut self, transfer: &Transfer, t: Picos, cycles: Cycles) -> bool {
        // The CPU's clock may stand: a cycle number at which it is now.
        let at = self.r.lines.hclk.ticks_at(t).max(cycles);
        let ((from, from_width), (to, to_width)) = (transfer.from, transfer.to);
        // The core's own registers are not on the bus of DMA.
        let refused = [from, to].into_iter().find(|addr| *addr >= 0xE000_0000);
        let moved = match refused {
            Some(addr) => Err(addr),
            None => self
                .read(from, from_width, at)
                .map_err(|_| from)
                .and_then(|value| self.write(to, to_width, value, at).map_err(|_| to)),
        };
        self.side.stall = 0;
        match moved {
            Ok(()) => self.common.moved(from, to, from_width.bytes(), to_width.bytes()),
            Err(addr) => {
                self.common.state.lints.note(LintKind::DmaRefused, addr, at);
                self.side.deadline = 0;
            }
        }
        moved.is_ok()
    }
}
