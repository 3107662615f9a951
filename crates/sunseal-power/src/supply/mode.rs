// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mode of a supply's electronics: what they are doing, with their hysteresis, and how far that is from changing.

use serde::{Deserialize, Serialize};

use super::{Supply, Turn};
use crate::circuit::Probe;
use crate::{Charger, Light, Output};

/// A charger that has left its cold start begins another one so far below.
const COLD_HYSTERESIS_V: f64 = 0.05;
/// A linear regulator that had too little regulates again so far above that.
const DROPOUT_HYSTERESIS_V: f64 = 1e-3;

/// Activity of the electronics, with their hysteresis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Mode {
    /// The charger is in cold start.
    pub cold: bool,
    /// The store is full: the charger only holds it.
    pub full: bool,
    /// The helping converter is on.
    pub boost: bool,
    /// The linear regulator has too little above its rail.
    pub dropped: bool,
}

impl Supply {
    pub(super) fn cut_met(&self, p: &Probe) -> bool {
        self.cut_margin_v(p) <= 0.0
    }

    /// Distance that the terminal stands above the cut-off.
    pub(super) fn cut_margin_v(&self, p: &Probe) -> f64 {
        match (self.at.on, p.able) {
            (false, _) => f64::INFINITY,
            (true, false) => -1.0,
            (true, true) => p.terminal_v - self.config.v_cut_v,
        }
    }

    /// Distance of a state from the next change of mode, in volts or in watts; zero or negative where
    /// [`next_mode`](Self::next_mode) gives another. `fed` is what the charger takes and gives in this mode.
    pub(super) fn mode_margin(&self, now: Mode, p: &Probe, fed: Option<(f64, f64)>) -> f64 {
        let c = &self.config;
        let cold_v = match &c.charger {
            Charger::Tracking { cold, .. } if now.cold => cold.until_v - p.open_v,
            Charger::Tracking { cold, .. } => p.open_v - (cold.until_v - COLD_HYSTERESIS_V),
            _ => f64::INFINITY,
        };
        let full = match (now.full, fed) {
            (true, None) => -1.0,
            (true, Some((_, w))) => w * (1.0 + 1e-9) - p.charge_w,
            (false, Some((_, w))) if w > 0.0 => c.v_max_v - p.terminal_v,
            (false, _) => f64::INFINITY,
        };
        let output_v = match &c.output {
            Output::Assisted { below_v, hysteresis_v, .. } if self.at.on => match now.boost {
                true => (below_v + hysteresis_v - p.open_v).max(below_v - p.terminal_v),
                false => p.terminal_v - below_v,
            },
            Output::Linear { dropout_v, .. } if self.at.on => {
                let least_v = c.vcc_v + dropout_v;
                match now.dropped {
                    true => least_v + DROPOUT_HYSTERESIS_V - p.terminal_v,
                    false => p.terminal_v - least_v,
                }
            }
            _ => f64::INFINITY,
        };
        cold_v.min(full).min(output_v)
    }

    pub(super) fn next_mode(&self, now: Mode, p: &Probe, light: &Light) -> Mode {
        let c = &self.config;
        let mut mode = now;
        if let Charger::Tracking { cold, .. } = &c.charger {
            mode.cold = match now.cold {
                true => p.open_v < cold.until_v,
                false => p.open_v <= cold.until_v - COLD_HYSTERESIS_V,
            };
        }
        mode.full = match (now.full, self.feed(light, mode.cold)) {
            (_, None) => false,
            (false, Some((_, w))) => w > 0.0 && p.terminal_v >= c.v_max_v,
            (true, Some((_, w))) => p.charge_w < w * (1.0 + 1e-9),
        };
        match &c.output {
            Output::Assisted { below_v, hysteresis_v, .. } if self.at.on => {
                mode.boost = if now.boost {
                    // Behind a resistance the load alone may pull it down again: then it stays on.
                    p.open_v < below_v + hysteresis_v || p.terminal_v < *below_v
                } else {
                    p.terminal_v <= *below_v
                };
            }
            Output::Linear { dropout_v, .. } if self.at.on => {
                let least = c.vcc_v + dropout_v;
                mode.dropped = match now.dropped {
                    true => p.terminal_v < least + DROPOUT_HYSTERESIS_V,
                    false => p.terminal_v <= least,
                };
            }
            _ => {}
        }
        mode
    }

    /// The mode that stays as it is, and the terminal in it.
    pub(super) fn settled_mode(&self, turns: &[Turn], light: &Light) -> (Mode, Probe) {
        let mut mode = self.at.mode;
        for _ in 0..4 {
            let p = self.net(mode, turns, light).probe(&self.at.x);
            let next = self.next_mode(mode, &p, light);
            if next == mode {
                return (mode, p);
            }
            mode = next;
        }
        (mode, self.net(mode, turns, light).probe(&self.at.x))
    }
}
