// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins that the timers drive.

use super::*;

/// Levels of all channels of all timers.
type Levels = [[bool; 4]; 4];

/// A channel of a timer at a pin that has this alternate function.
pub(super) struct Route {
    pin: Pin,
    function: u8,
    timer: usize,
    channel: usize,
}

/// The routes of a device: "tim2.1" is channel 1 of TIM2.
pub(super) fn routes(facts: &device::Stm32l4) -> Vec<Route> {
    let route = |pin: &str, function: u8, signal: &str| {
        let (timer, channel) = signal.strip_prefix("tim")?.split_once('.')?;
        let (timer, channel) = (timer.parse::<usize>().ok()?, channel.parse::<usize>().ok()?);
        let pin = pin.parse().ok()?;
        Some(Route {
            pin,
            function,
            timer: timer.checked_sub(2)?,
            channel: channel.checked_sub(1)?,
        })
    };
    let all = facts.pins.iter().flat_map(|p| &p.functions);
    all.flat_map(|(pin, f)| (1..).zip(f).filter_map(move |(n, signal)| route(pin, n, signal)))
        .filter(|r| r.timer < 4 && r.channel < 4)
        .collect()
}

impl Soc {
    /// Tells if a timer goes on moving a pin.
    pub(super) fn timers_move_pins(&self) -> bool {
        self.routes.iter().any(|r| self.r.blocks.tim[r.timer].swings(r.channel) && self.is_given(r))
    }

    fn is_given(&self, r: &Route) -> bool {
        let port = &self.r.blocks.gpio[usize::from(r.pin.port - b'A') % 8];
        port.alternate(r.pin.bit) == Some(r.function)
    }

    /// Gives pins to the channels that drive them, with the levels that these have come to.
    pub(super) fn give_pins(&mut self, levels: Option<&Levels>) {
        let mut given = [(0u16, 0u16); 8];
        for r in &self.routes {
            let timer = &self.r.blocks.tim[r.timer];
            if timer.drives(r.channel) && self.is_given(r) {
                let level = levels.map_or(timer.out(r.channel), |l| l[r.timer][r.channel]);
                let (pins, high) = &mut given[usize::from(r.pin.port - b'A') % 8];
                *pins |= 1 << r.pin.bit;
                *high |= u16::from(level) << r.pin.bit;
            }
        }
        for (port, given) in self.r.blocks.gpio.iter_mut().zip(given) {
            port.given = given;
        }
    }

    /// Has edges of the channels reach their pins, in the order of their times.
    pub(super) fn follow_outputs(&mut self, cycles: Cycles) {
        let tim = &mut self.r.blocks.tim;
        if tim.iter().all(|t| t.edges.is_empty()) {
            return;
        }
        let mut levels: Levels =
            std::array::from_fn(|t| std::array::from_fn(|channel| tim[t].out(channel)));
        let mut edges: Vec<(Picos, usize, usize, bool)> = Vec::new();
        for (timer, t) in tim.iter_mut().enumerate() {
            edges.extend(t.edges.drain(..).map(|(at, channel, level)| (at, timer, channel, level)));
        }
        edges.sort_by_key(|e| e.0);
        for &(_, timer, channel, level) in edges.iter().rev() {
            levels[timer][channel] = !level;
        }
        for (at, timer, channel, level) in edges {
            levels[timer][channel] = level;
            self.give_pins(Some(&levels));
            self.tell_ports(at, cycles);
        }
    }
}
