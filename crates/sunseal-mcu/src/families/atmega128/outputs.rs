// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins that the timers drive, and those at which they capture.

use super::*;
use crate::lint::LintKind;

/// Output pins of the timers: timer, channel, port, bit (2467X, alternate functions of the ports).
pub(super) const OUTPUTS: [(usize, usize, usize, u8); 8] = [
    (0, 0, PORT_B, 1 << 4),
    (1, 0, PORT_B, 1 << 5),
    (1, 1, PORT_B, 1 << 6),
    (1, 2, PORT_B, 1 << 7),
    (2, 0, PORT_B, 1 << 7),
    (3, 0, PORT_E, 1 << 3),
    (3, 1, PORT_E, 1 << 4),
    (3, 2, PORT_E, 1 << 5),
];

impl Soc {
    /// Has edges of output units reach their pins, in the order of their times.
    pub(super) fn follow_outputs(&mut self, cycles: Cycles) {
        if self.regs.timers.iter().all(|t| t.edges.is_empty()) {
            return;
        }
        let mut edges: Vec<(Picos, usize, usize, bool)> = Vec::new();
        for i in 0..4 {
            let line = *self.regs.timer_line(i);
            let own = self.regs.timers[i].edges.drain(..);
            edges.extend(own.map(|(tick, channel, level)| (line.time_of(tick), i, channel, level)));
        }
        edges.sort_by_key(|e| e.0);
        for (at, timer, channel, level) in edges {
            let bit = 1 << channel;
            let shown = &mut self.regs.shown[timer];
            *shown = if level { *shown | bit } else { *shown & !bit };
            self.give_pins(at, cycles);
        }
    }

    /// Gives pins to the output units that are connected, with the levels that these have come to.
    pub(super) fn give_pins(&mut self, now: Picos, cycles: Cycles) {
        for port in [PORT_B, PORT_E] {
            let (r, mut given) = (&self.regs, (0u8, 0u8));
            for &(timer, channel, _, mask) in OUTPUTS.iter().filter(|o| o.2 == port) {
                if !r.timers[timer].connected(channel) {
                    continue;
                }
                let mut level = r.shown[timer] >> channel & 1 != 0;
                if given.0 & mask != 0 {
                    // OC1C and OC2 share PB7, by its PORT bit: both of them, or either (2467X, output compare modulator).
                    let other = given.1 & mask != 0;
                    level = if r.ports[port].port & mask != 0 {
                        level || other
                    } else {
                        level && other
                    };
                    given.1 &= !mask;
                }
                given.0 |= mask;
                given.1 |= if level { mask } else { 0 };
            }
            if r.ports[port].given != given {
                self.port_changed_at(port, now, cycles, |p| p.given = given);
            }
        }
    }

    /// A capture that interrupts at a pin that the program drives itself.
    pub(super) fn check_captures(&mut self, cycles: Cycles) {
        for (timer, port, bit) in [(1, PORT_D, 4), (3, PORT_E, 7)] {
            let armed = self.regs.timers[timer].enabled & timer::ICF != 0;
            if armed
                && !self.regs.timers[timer].top_is_icr()
                && self.regs.ports[port].ddr >> bit & 1 != 0
            {
                let pin = Pin { port: b'A' + port as u8, bit };
                let addr = DATA_SPACE | u32::from(at::ICR1L);
                self.common.state.lints.note(LintKind::CaptureOutput { pin }, addr, cycles);
            }
        }
    }
}
