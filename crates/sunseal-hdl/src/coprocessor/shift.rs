// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that an SPI interface of the chip shifts: it tells when one begins and ends, and SCK's edges come in between.

use serde::{Deserialize, Serialize};

use super::{Inner, MOSI, OUT};

/// A byte on an SPI whose master is an interface of the chip: eight periods of SCK, each low and then high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shift {
    mosi: u8,
    miso: u8,
    begin_ps: u128,
    end_ps: u128,
    /// Steps that are done: the first bit stands, then SCK's edges.
    steps: u8,
}

impl Shift {
    const EDGES: u8 = 16;

    fn is_done(&self) -> bool {
        self.steps > Self::EDGES
    }

    /// When SCK or MOSI moves next; none behind the last edge.
    pub fn next_ps(&self) -> Option<u128> {
        let gone = u128::from(self.steps) * (self.end_ps - self.begin_ps);
        (!self.is_done()).then_some(self.begin_ps + gone / u128::from(Self::EDGES))
    }
}

impl Inner {
    /// Does what a byte that is shifted does to SCK and MOSI until then, each edge at its time.
    pub(super) fn shift_until(&mut self, now_ps: u128) {
        while let Some(mut shift) = self.s.shift
            && let Some(at_ps) = shift.next_ps().filter(|at| *at <= now_ps)
        {
            self.advance_model(at_ps);
            let rises = shift.steps % 2 != 0;
            if rises {
                shift.miso = shift.miso << 1 | u8::from(self.s.outputs & OUT != 0);
            }
            self.sck(at_ps, rises);
            if !rises && shift.steps < Shift::EDGES {
                self.input(MOSI, shift.mosi >> (7 - shift.steps / 2) & 1 != 0);
            }
            shift.steps += 1;
            self.s.shift = Some(shift);
            self.look_later(at_ps);
        }
    }

    pub(super) fn shifting(&mut self, begin_ps: u128, end_ps: u128, mosi: u8) {
        self.s.shift = Some(Shift { mosi, miso: 0, begin_ps, end_ps, steps: 0 });
    }

    /// The byte that came back while one was sent.
    pub(super) fn shifted(&mut self, now_ps: u128) -> u8 {
        self.advance(now_ps);
        self.look_later(now_ps);
        match self.s.shift.take() {
            Some(shift) if shift.is_done() => shift.miso,
            _ => {
                self.s.counts.problem.get_or_insert_with(|| {
                    "a byte went over the SPI whose edges nobody told: its clock changed or stood still, or the chip's interface is no USCI or eUSCI of an MSP430".to_owned()
                });
                0xFF
            }
        }
    }
}
