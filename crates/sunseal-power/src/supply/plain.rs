// SPDX-License-Identifier: MIT OR Apache-2.0
//! The solver of a plain capacitor between converters of constant efficiency.

use super::solver::{Heaviest, SAG, Solver, Turning};
use super::{Advance, Alternation, Boundary, Load, Supply, SupplyConfig, Turn, mean};
use crate::store::State;
use crate::{Charger, Light, Output, Storage};

/// A plain capacitor between converters of constant efficiency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    storage: Storage,
    charge_efficiency: f64,
    panel_min_w: f64,
    output_efficiency: f64,
    quiescent_on_w: f64,
}

/// A load, and what its changes lose in the series resistance beside what their mean loses there.
#[derive(Clone, Copy)]
struct Rippling {
    mean: Load,
    ripple_w: f64,
}

impl From<Load> for Rippling {
    fn from(mean: Load) -> Self {
        Self { mean, ripple_w: 0.0 }
    }
}

impl Plain {
    /// The plain capacitor that a supply is, if it is one.
    pub fn of(c: &SupplyConfig) -> Option<Self> {
        let (
            Some(storage),
            Charger::Constant { efficiency, min_w },
            Output::Regulated { efficiency: out, quiescent_w, quiescent_a: 0.0 },
        ) = (c.store.plain(), &c.charger, &c.output)
        else {
            return None;
        };
        if (c.charger_quiescent_a, c.charger_asleep_a) != (0.0, 0.0) {
            return None;
        }
        out.is_constant().map(|output_efficiency| Self {
            storage,
            charge_efficiency: *efficiency,
            panel_min_w: *min_w,
            output_efficiency,
            quiescent_on_w: *quiescent_w,
        })
    }

    fn charge_w(&self, light: &Light) -> f64 {
        if light.max_w < self.panel_min_w { 0.0 } else { light.max_w * self.charge_efficiency }
    }

    fn net_w(&self, s: &Supply, load: Load, light: &Light) -> f64 {
        let drawn = if s.at.on {
            load.vcc_w / self.output_efficiency + load.store_w + self.quiescent_on_w
        } else {
            load.store_w
        };
        self.charge_w(light) - drawn
    }

    /// The store with all that drains it by its voltage, and the harvester's share of that drain.
    fn drained(&self, s: &Supply) -> (Storage, f64) {
        if s.at.on {
            return (self.storage, 0.0);
        }
        let own_s = s.config.quiescent_off_w / (s.config.v_on_v * s.config.v_on_v);
        let all_s = own_s + 1.0 / self.storage.leak_ohm;
        (Storage { leak_ohm: 1.0 / all_s, ..self.storage }, own_s / all_s)
    }

    /// Lets the store flow and books what it lost.
    fn flow(&self, s: &mut Supply, net_w: f64, dt_s: f64, stop: impl Fn(f64) -> bool) -> f64 {
        let (store, own_share) = self.drained(s);
        let (t, flow) = store.flow(s.at.x[0], net_w, dt_s, stop);
        s.at.x[0] = flow.v_v;
        s.at.sums.leak_j += flow.leak_j * (1.0 - own_share);
        s.at.sums.quiescent_j += flow.leak_j * own_share;
        s.at.sums.esr_j += flow.esr_j;
        t
    }

    /// Loss of turns in the series resistance beyond that of their mean, as they begin.
    fn ripple_w(&self, s: &Supply, turns: &[Turn]) -> f64 {
        let mean_w = mean(turns).vcc_w;
        let spread_w2: f64 = turns.iter().map(|t| t.share * (t.load.vcc_w - mean_w).powi(2)).sum();
        self.storage.esr_ohm * spread_w2 / (self.output_efficiency * s.at.x[0]).powi(2)
    }

    fn advance_with(&self, s: &mut Supply, dt_s: f64, load: Rippling, light: &Light) -> Advance {
        let net = self.net_w(s, load.mean, light) - load.ripple_w;
        let mut gone = 0.0;
        let cut_inner = self.storage.inner_v(s.config.v_cut_v, net);
        let (v_max, v_on) = (s.config.v_max_v, s.restart_v);
        loop {
            let boundary = if s.at.on {
                (s.at.x[0] <= cut_inner).then_some(Boundary::Cut)
            } else {
                (s.at.x[0] >= v_on).then_some(Boundary::Restart)
            };
            let left = dt_s - gone;
            if boundary.is_some() || left <= 0.0 {
                return Advance { elapsed_s: gone, boundary };
            }
            // Full: the charger gives what leakage and load take, the rest of the light is curtailed.
            let hold_a = v_max / self.storage.leak_ohm;
            let hold_w = v_max * hold_a + self.storage.esr_ohm * hold_a * hold_a;
            if s.at.x[0] >= v_max && net >= hold_w {
                s.at.sums.leak_j += v_max * hold_a * left;
                s.at.sums.esr_j += self.storage.esr_ohm * hold_a * hold_a * left;
                // What is not needed is given up at the panel, in front of the charger.
                let spare = ((net - hold_w) / self.charge_efficiency).min(light.max_w);
                s.at.sums.curtailed_j += spare * left;
                self.book(s, left, load, light, spare);
                return Advance { elapsed_s: dt_s, boundary: None };
            }
            let on = s.at.on;
            let below = s.at.x[0] < v_max;
            let t = self.flow(s, net, left, |v| {
                (below && v >= v_max) || if on { v <= cut_inner } else { v >= v_on }
            });
            if below && s.at.x[0] >= v_max {
                // The crossing overshoots by less than a bit of time: what that holds is booked as leakage.
                s.at.sums.leak_j += self.storage.energy_j(s.at.x[0]) - self.storage.energy_j(v_max);
                s.at.x[0] = v_max;
            }
            self.book(s, t, load, light, 0.0);
            gone += t;
            if s.at.on && s.at.x[0] <= cut_inner {
                return Advance { elapsed_s: gone, boundary: Some(Boundary::Cut) };
            }
        }
    }

    /// Books `dt_s` of light and load; `spare_w` of the light is curtailed elsewhere.
    fn book(&self, s: &mut Supply, dt_s: f64, load: Rippling, light: &Light, spare_w: f64) {
        let Rippling { mean: load, ripple_w } = load;
        let sums = &mut s.at.sums;
        sums.esr_j += ripple_w * dt_s;
        sums.panel_j += light.max_w * dt_s;
        if light.max_w < self.panel_min_w {
            sums.unused_j += light.max_w * dt_s;
        } else {
            sums.charger_j += (light.max_w - spare_w) * (1.0 - self.charge_efficiency) * dt_s;
        }
        sums.store_load_j += load.store_w * dt_s;
        if s.at.on {
            sums.load_j += load.vcc_w * dt_s;
            sums.converter_j += load.vcc_w * (1.0 / self.output_efficiency - 1.0) * dt_s;
            sums.quiescent_j += self.quiescent_on_w * dt_s;
        }
    }

    /// True if turns may be taken on paper in a state.
    fn bears(&self, s: &Supply, x: &State, heaviest: Heaviest, light: &Light) -> bool {
        let net_w = self.net_w(s, heaviest.load, light);
        let cut_v = self.storage.inner_v(s.config.v_cut_v, net_w);
        x[0] - self.storage.terminal_v(x[0], net_w) <= SAG * x[0]
            && s.config.store.energy_j(x) - self.storage.energy_j(cut_v) + s.tail_j()
                >= heaviest.least_j
    }
}

impl Solver for Plain {
    fn open_v(&self, s: &Supply) -> f64 {
        s.at.x[0]
    }

    fn take_j(&self, s: &mut Supply, energy_j: f64) -> f64 {
        let before = s.config.store.energy_j(&s.at.x);
        let spent = energy_j.min(before);
        s.at.x[0] = self.storage.voltage_v(before - spent);
        spent
    }

    fn drawn_w(&self, s: &Supply, load: Load) -> f64 {
        -self.net_w(s, load, &Light::default())
    }

    fn terminal_v(&self, s: &Supply, load: Load, light: &Light) -> f64 {
        self.storage.terminal_v(s.at.x[0], self.net_w(s, load, light))
    }

    fn above_cut_j(&self, s: &Supply, load: Load, light: &Light) -> f64 {
        let net = self.net_w(s, load, light);
        let above = s.config.store.energy_j(&s.at.x)
            - self.storage.energy_j(self.storage.inner_v(s.config.v_cut_v, net));
        above + s.tail_j()
    }

    fn sure_time_s(&self, s: &Supply, load: Load, light: &Light, _most_s: f64) -> f64 {
        let net = self.net_w(s, load, light);
        let i_max = net.abs() / s.config.v_cut_v;
        let v_top = s.at.x[0].max(s.config.v_cut_v);
        let drain =
            -net + self.storage.esr_ohm * i_max * i_max + v_top * v_top / self.storage.leak_ohm;
        let above = self.above_cut_j(s, load, light) - s.tail_j();
        match (above > 0.0, drain > 0.0) {
            (false, _) => 0.0,
            (true, false) => f64::INFINITY,
            (true, true) => above / drain,
        }
    }

    fn advance(&self, s: &mut Supply, dt_s: f64, load: Load, light: &Light) -> Advance {
        self.advance_with(s, dt_s, load.into(), light)
    }

    fn advance_in_turns(&self, s: &mut Supply, before: &Supply, under: Turning<'_>) -> Alternation {
        let Turning { dt_s, turns, heaviest, light } = under;
        if !self.bears(before, &s.at.x, heaviest, light) {
            return Alternation::Never;
        }
        let load = Rippling { mean: mean(turns), ripple_w: self.ripple_w(s, turns) };
        let advance = self.advance_with(s, dt_s, load, light);
        let whole = advance.boundary.is_none() && advance.elapsed_s >= dt_s;
        // The voltage is monotonic: both ends speak for what lies between.
        match whole && self.bears(before, &s.at.x, heaviest, light) {
            true => Alternation::Gone,
            false => Alternation::TooLong,
        }
    }

    fn finish(&self, s: &mut Supply, dt_s: f64, load: Load, light: &Light) {
        let net = self.net_w(s, load, light);
        let t = self.flow(s, net, dt_s, |_| false);
        self.book(s, t, load.into(), light, 0.0);
        if !self.storage.gives(s.at.x[0], net) {
            // The node asked for more than the store can give: it had that much less.
            let short_j = s.at.balanced_j - s.rest_j();
            s.at.sums.load_j -= short_j * self.output_efficiency;
            s.at.sums.converter_j -= short_j * (1.0 - self.output_efficiency);
        }
    }
}
