// SPDX-License-Identifier: MIT OR Apache-2.0
//! The solver of any circuit.

use super::mode::Mode;
use super::solver::{Heaviest, SAG, Solver, Turning};
use super::{Advance, Alternation, Boundary, Load, Supply, Turn, mean};
use crate::circuit::{Converter, Draw, Feed, Gone, Net, Probe};
use crate::store::State;
use crate::{Charger, Light, Output, Store};

/// Loads take turns on paper only while one turn lowers the voltage by less than this: it follows the turns by as
/// much, and branches that even out again lose up to half of it, uncounted.
const DROOP_V: f64 = 3e-3;
/// A store without light is empty from here down.
const EMPTY_V: f64 = 1e-6;
/// Slack by which a sure time may be shorter than it could, as a share of the solver's step.
const SURE_REL: f64 = 1e-4;

/// Any circuit: its equations over the states of all branches.
pub(super) struct General;

impl Solver for General {
    fn open_v(&self, s: &Supply) -> f64 {
        s.config.store.open(&s.at.x).0
    }

    fn take_j(&self, s: &mut Supply, energy_j: f64) -> f64 {
        let store = &s.config.store;
        let before = store.energy_j(&s.at.x);
        // A pulse is carried by the branches as their conductances share it.
        let shift = |q: f64| -> State {
            let mut x = s.at.x;
            let all = store.branches.iter().zip(&x);
            let g: f64 = all.map(|(b, x)| 1.0 / b.resistance_ohm(*x)).sum();
            for (b, x) in store.branches.iter().zip(&mut x) {
                *x = (*x - q / (b.resistance_ohm(*x) * g) / b.dq_dx(*x)).max(0.0);
            }
            x
        };
        let (mut low, mut high) = (0.0, 2.0 * energy_j / s.v_v().max(1e-3));
        loop {
            let mid = (low + high) / 2.0;
            // To the last bit.
            if mid <= low || mid >= high {
                break;
            }
            if before - store.energy_j(&shift(mid)) < energy_j { low = mid } else { high = mid }
        }
        s.at.x = shift(high);
        before - s.config.store.energy_j(&s.at.x)
    }

    fn drawn_w(&self, s: &Supply, load: Load) -> f64 {
        s.net(s.at.mode, &[load.always()], &Light::default()).taken_w(&s.at.x)
    }

    fn terminal_v(&self, s: &Supply, load: Load, light: &Light) -> f64 {
        s.probe(load, light).terminal_v
    }

    fn above_cut_j(&self, s: &Supply, load: Load, light: &Light) -> f64 {
        let probe = s.probe(load, light);
        if s.cut_met(&probe) && s.tail_j() == 0.0 {
            return 0.0;
        }
        (s.config.store.energy_j(&s.at.x) - s.cut_j).max(f64::MIN_POSITIVE) + s.tail_j()
    }

    fn sure_time_s(&self, s: &Supply, load: Load, light: &Light, most_s: f64) -> f64 {
        let turns = [load.always()];
        let (mode, now) = s.settled_mode(&turns, light);
        let net = s.net(mode, &turns, light);
        let near_v = s.near_rail_v(mode, &now, 1.0);
        let fed = s.feed(light, mode.cold);
        let gone = net.flow(&s.at.x, most_s, &mut s.pace.near(SURE_REL), |x| {
            s.margin(mode, &net.probe(x), fed, near_v)
        });
        // Covered as far as was looked: the caller's own limit must not look like an end.
        if gone.time_s < most_s { gone.clear_s } else { f64::INFINITY }
    }

    fn advance(&self, s: &mut Supply, dt_s: f64, load: Load, light: &Light) -> Advance {
        s.advance_circuit(dt_s, &[load.always()], light, |_| false)
    }

    fn advance_in_turns(&self, s: &mut Supply, before: &Supply, under: Turning<'_>) -> Alternation {
        let Turning { dt_s, turns, heaviest, light } = under;
        let heavy = [heaviest.load.always()];
        // A full store is held by what light there is, which may be less than this load.
        let mode = Mode { full: false, ..before.at.mode };
        let net = before.net(mode, &heavy, light);
        let bears = |x: &State| before.bears(&net, mode, x, heaviest, light);
        if !bears(&s.at.x) {
            return Alternation::Never;
        }
        let advance = s.advance_circuit(dt_s, turns, light, |x| !bears(x));
        match advance.boundary.is_none() && advance.elapsed_s >= dt_s {
            true => Alternation::Gone,
            false => Alternation::TooLong,
        }
    }

    fn finish(&self, s: &mut Supply, dt_s: f64, load: Load, light: &Light) {
        let turns = [load.always()];
        let net = s.net(s.at.mode, &turns, light);
        let gone = net.flow(&s.at.x, dt_s, &mut s.pace.clone(), |_| f64::INFINITY);
        s.book(gone, load, light);
    }
}

impl Supply {
    /// The circuit in a mode, under turns and light.
    pub(super) fn net<'a>(&'a self, mode: Mode, turns: &'a [Turn], light: &'a Light) -> Net<'a> {
        let c = &self.config;
        let fed = self.feed(light, mode.cold);
        let feed = match (fed, &c.charger, &light.curve) {
            (Some(_), _, _) if mode.full => Feed::Hold(c.v_max_v),
            (_, Charger::Diode { drop_v }, Some(curve)) => Feed::Curve { curve, drop_v: *drop_v },
            (Some((_, w)), _, _) => Feed::Power(w),
            (None, _, _) => Feed::Power(0.0),
        };
        let load = mean(turns);
        let mut net = Net {
            store: &c.store,
            feed,
            draw: Draw::default(),
            store_w: load.store_w,
            own_w: 0.0,
            own_a: 0.0,
            own_s: if fed.is_some() { c.charger_quiescent_a } else { c.charger_asleep_a }
                / c.v_on_v,
        };
        if !self.at.on {
            net.own_s += c.quiescent_off_w / (c.v_on_v * c.v_on_v);
            return net;
        }
        match &c.output {
            Output::Regulated { efficiency, quiescent_w, quiescent_a } => {
                net.draw.converter = Some(Converter::new(efficiency, c.vcc_v, turns));
                (net.own_w, net.own_a) = (*quiescent_w, *quiescent_a);
            }
            Output::Linear { dropout_v, quiescent_a } => {
                net.draw = self.current(turns);
                net.draw.rail_drop_v = *dropout_v;
                net.draw.rail_v = (!mode.dropped).then_some(c.vcc_v);
                net.own_a = *quiescent_a;
            }
            Output::Direct { drop_v } => {
                net.draw = self.current(turns);
                net.draw.rail_drop_v = *drop_v;
            }
            Output::Assisted { efficiency, quiescent_a, boost_v, .. } if mode.boost => {
                net.draw.converter = Some(Converter::new(efficiency, *boost_v, turns));
                net.own_a = *quiescent_a;
            }
            Output::Assisted { shutdown_a, .. } => {
                net.draw = self.current(turns);
                net.own_a = *shutdown_a;
            }
        }
        net
    }

    /// Draw of turns at the present rail, as a current.
    fn current(&self, turns: &[Turn]) -> Draw<'static> {
        let current_a = mean(turns).vcc_w / self.at.rail_v;
        let off_a2 = |t: &Turn| t.share * (t.load.vcc_w / self.at.rail_v - current_a).powi(2);
        let spread_a2 = if turns.len() > 1 { turns.iter().map(off_a2).sum() } else { 0.0 };
        Draw { current_a, spread_a2, ..Draw::default() }
    }

    pub(super) fn probe(&self, load: Load, light: &Light) -> Probe {
        self.net(self.at.mode, &[load.always()], light).probe(&self.at.x)
    }

    /// True if turns may be taken on paper in a state; `net` is a circuit with the heaviest of them.
    fn bears(
        &self,
        net: &Net<'_>,
        mode: Mode,
        x: &State,
        heaviest: Heaviest,
        light: &Light,
    ) -> bool {
        let store = &self.config.store;
        let p = net.probe(x);
        let next = self.next_mode(mode, &p, light);
        !self.cut_met(&p)
            && (next.boost, next.dropped) == (mode.boost, mode.dropped)
            && p.open_v - p.terminal_v <= SAG * p.open_v
            && store.droop_v(x, heaviest.most_j / p.open_v) <= DROOP_V
            && store.energy_j(x) - self.cut_j >= heaviest.least_j
    }

    /// Until `stop` says of a state that it must end, or a boundary.
    fn advance_circuit(
        &mut self,
        dt_s: f64,
        turns: &[Turn],
        light: &Light,
        stop: impl Fn(&State) -> bool,
    ) -> Advance {
        let (mut gone, mut vain) = (0.0, 0);
        let spared = [Load { store_w: 0.0, ..mean(turns) }.always()];
        let mut turns = turns;
        let mut p;
        (self.at.mode, p) = self.settled_mode(turns, light);
        loop {
            let load = mean(turns);
            if !self.at.on && load.store_w > 0.0 && !p.able {
                // Nothing is left for what is taken past the converter.
                turns = &spared;
                p = self.net(self.at.mode, turns, light).probe(&self.at.x);
                continue;
            }
            let boundary = if self.at.on {
                self.cut_met(&p).then_some(Boundary::Cut)
            } else {
                (p.open_v >= self.restart_v).then_some(Boundary::Restart)
            };
            let left = dt_s - gone;
            if boundary.is_some() || left <= 0.0 || stop(&self.at.x) {
                return Advance { elapsed_s: gone, boundary };
            }
            if self.runs_out(load, light) && self.is_empty() {
                self.rest_empty(left, light);
                return Advance { elapsed_s: dt_s, boundary: None };
            }
            let mode = self.at.mode;
            let runs_out = self.runs_out(load, light);
            // Modes that change back at once are let be for a moment.
            let patient = vain > 6;
            let span = if patient { left.min(1e-3) } else { left };
            let net = self.net(mode, turns, light);
            let mut pace = self.pace;
            let fed = self.feed(light, mode.cold);
            let flown = net.flow(&self.at.x, span, &mut pace, |x| {
                let p = net.probe(x);
                let lacks = !self.at.on && load.store_w > 0.0 && !p.able;
                if lacks || stop(x) {
                    return -1.0;
                }
                let restart_v = if self.at.on { f64::INFINITY } else { self.restart_v - p.open_v };
                let empty_v = if runs_out { p.open_v - EMPTY_V } else { f64::INFINITY };
                let changes = if patient { f64::INFINITY } else { self.mode_margin(mode, &p, fed) };
                self.cut_margin_v(&p).min(restart_v).min(empty_v).min(changes)
            });
            vain = if flown.time_s > 1e-9 { 0 } else { vain + 1 };
            gone += flown.time_s;
            self.pace = pace;
            self.book(flown, load, light);
            p = self.net(mode, turns, light).probe(&self.at.x);
            self.at.mode = self.next_mode(mode, &p, light);
            if self.at.mode != mode {
                p = self.net(self.at.mode, turns, light).probe(&self.at.x);
            }
        }
    }

    /// True if the store only loses: then it ends empty, and no solver need follow it there.
    pub(super) fn runs_out(&self, load: Load, light: &Light) -> bool {
        !self.at.on
            && load.store_w == 0.0
            && self.feed(light, self.at.mode.cold).is_none_or(|(taken_w, _)| taken_w == 0.0)
            && (light.curve.is_none() || !matches!(self.config.charger, Charger::Diode { .. }))
    }

    fn is_empty(&self) -> bool {
        self.config.store.branches.iter().zip(&self.at.x).all(|(b, x)| b.open_v(*x) <= EMPTY_V)
    }

    /// Time with an empty store in the dark; the picojoules that were left are the leakage's.
    fn rest_empty(&mut self, dt_s: f64, light: &Light) {
        self.at.sums.leak_j += self.config.store.energy_j(&self.at.x);
        self.at.x = [0.0; Store::MOST];
        self.at.rest = [0.0; Store::MOST];
        self.at.sums.panel_j += light.max_w * dt_s;
        self.at.sums.unused_j += light.max_w * dt_s;
    }

    fn book(&mut self, g: Gone, load: Load, light: &Light) {
        let t = g.time_s;
        let fed = self.feed(light, self.at.mode.cold);
        let (on, full) = (self.at.on, self.at.mode.full);
        let s = &mut self.at.sums;
        s.panel_j += light.max_w * t;
        match (fed, &self.config.charger, &light.curve) {
            (Some((taken_w, w)), _, _) if full => {
                let needed_j = g.charged_j * if w > 0.0 { taken_w / w } else { 1.0 };
                s.mppt_j += (light.max_w - taken_w) * t;
                s.curtailed_j += taken_w * t - needed_j;
                s.charger_j += needed_j - g.charged_j;
            }
            (_, Charger::Diode { .. }, Some(_)) => {
                s.mppt_j += light.max_w * t - g.source_j;
                s.charger_j += g.source_j - g.charged_j;
            }
            (Some((taken_w, w)), _, _) => {
                s.mppt_j += (light.max_w - taken_w) * t;
                s.charger_j += (taken_w - w) * t;
            }
            (None, _, _) => s.unused_j += light.max_w * t,
        }
        s.leak_j += g.leak_j;
        s.esr_j += g.esr_j;
        s.quiescent_j += g.own_j;
        s.store_load_j += load.store_w * t;
        if on {
            s.load_j += g.rail_j;
            s.converter_j += g.drawn_j - g.rail_j;
        }
        for k in 0..self.config.store.branches.len() {
            // Kahan's sum: a cell of kilocoulombs gives nanocoulombs a step.
            let dx = g.dx[k] + self.at.rest[k];
            let x = self.at.x[k] + dx;
            self.at.rest[k] = dx - (x - self.at.x[k]);
            self.at.x[k] = x;
        }
    }
}
