// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames between the chip's USART and the coprocessor's UART: the chip's are told behind their end.

use super::{Inner, OUT, PICOS, RX};

impl Inner {
    /// So many half bits of its UART.
    pub(super) fn bits_ps(&self, halves: u64) -> u128 {
        let clocks = u128::from(self.facts.bus.divider() * halves);
        clocks * PICOS / u128::from(2 * self.facts.clock_hz)
    }

    /// The mote's frame of ten bits took so long: its USART's rate is to be the UART's.
    pub(super) fn hold_to_rate(&mut self, frame_ps: u128) {
        let own_ps = self.bits_ps(20);
        let off = (frame_ps as f64 / own_ps as f64 - 1.0).abs();
        // An edge may be half a bit off less a clock, and another clock for its phase: hdl/proofs/uart_proof.sv.
        let divider = self.facts.bus.divider() as f64;
        let off_max = (divider / 2.0 - 2.0) / (10.0 * divider);
        if self.origin().is_some() && off > off_max {
            let baud = |ps: u128| 10.0 * PICOS as f64 / ps as f64;
            self.s.counts.problem.get_or_insert_with(|| {
                format!(
                    "the mote's USART sends at {:.0} baud and the coprocessor's UART takes {:.0}, {:.1} % apart; they may be {:.1} % apart",
                    baud(frame_ps),
                    baud(own_ps),
                    off * 100.0,
                    off_max * 100.0
                )
            });
        }
    }

    /// The mote sent a byte: its bits, at the moments they had on the line.
    pub(super) fn uart(&mut self, start_ps: u128, end_ps: u128, byte: u8) {
        self.hold_to_rate(end_ps - start_ps);
        let bits = u32::from(byte) << 1 | 1 << 9;
        for i in 0..10 {
            self.advance(start_ps + (end_ps - start_ps) * u128::from(i as u8) / 10);
            self.input(RX, bits >> i & 1 != 0);
        }
        self.advance(end_ps);
        self.look_later(end_ps);
    }

    /// Its outputs have changed at that moment: the line of its UART may carry a frame.
    pub(super) fn transmitted(&mut self, at_ps: u128) {
        if !self.facts.bus.is_uart() {
            return;
        }
        let high = self.s.outputs & OUT != 0;
        match &mut self.s.frame {
            Some((_, levels)) => levels.push((at_ps, high)),
            None if !high => self.s.frame = Some((at_ps, vec![(at_ps, false)])),
            None => {}
        }
    }

    /// The frame that has ended by now, if one has, is a byte for the mote.
    pub(super) fn framed(&mut self, now_ps: u128) {
        let Some((begin, levels)) = &self.s.frame else { return };
        if begin + self.bits_ps(20) > now_ps {
            return;
        }
        let level = |at: u128| levels.iter().rev().find(|l| l.0 <= at).is_none_or(|l| l.1);
        let byte =
            (0..8).fold(0, |byte, i| byte | u8::from(level(begin + self.bits_ps(2 * i + 3))) << i);
        if level(begin + self.bits_ps(19)) {
            self.s.received.push(byte);
        }
        // A start bit of the next frame is in the list already where it followed at once.
        let (end, last) = (begin + self.bits_ps(20), *levels.last().unwrap_or(&(0, true)));
        self.s.frame = (!last.1 && last.0 + 1 >= end).then(|| (last.0, vec![last]));
    }
}
