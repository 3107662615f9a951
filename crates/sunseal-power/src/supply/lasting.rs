// SPDX-License-Identifier: MIT OR Apache-2.0
//! The life of a store that nothing charges: up to the first time that the heaviest pulse pulls the rail below what
//! the node needs.
//!
//! The circuit is that of the closed loop, with its resistance at that state of charge, its output and its
//! self-discharge; only its time is not played but integrated over the charge, which falls as long as it lasts.

use super::mode::Mode;
use super::{Load, Supply, Turn};
use crate::circuit::Probe;
use crate::store::State;
use crate::{Light, Output, Store};

/// Nodes and weights of Gauss and Legendre on a stretch from -1 to 1.
const GAUSS: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
    (-0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];
/// Pieces between two knots of a store's laws, and where a converter's mode changes on the way.
const PIECES: usize = 2;
const PIECES_OF_MODES: usize = 16;
/// Halvings of a piece in which the end lies.
const HALVINGS: u32 = 50;

/// Time that a store lasts without charge, its voltage at that end, and the joules taken out by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lasting {
    /// Time up to the end; infinite where nothing is drawn, 0 where it carries the pulse not even full.
    pub lasts_s: f64,
    /// Open voltage at the end.
    pub end_v: f64,
    /// Taken out of the store until then.
    pub used_j: f64,
    /// Energy left in it.
    pub left_j: f64,
    /// Energy leaked or lost by self-discharge, as a part of what was taken.
    pub leak_j: f64,
    /// Lost in the series resistance.
    pub esr_j: f64,
    /// Lost between terminal and rail, the electronics' own consumption included.
    pub output_j: f64,
    /// Delivered at the rail.
    pub rail_j: f64,
}

impl Supply {
    /// Plays the store down from where it stands, without light, under loads that take turns, until `heaviest` pulls the
    /// rail below `needs_v`, or the terminal below the cut-off. A rail that follows the store is given currents: those
    /// of the loads' powers at the rail of the figures.
    #[must_use]
    pub fn lasts(&self, turns: &[Turn], heaviest: Load, needs_v: f64) -> Lasting {
        self.at_work().runs_down(turns, &[heaviest.always()], needs_v)
    }

    /// Mean current that loads take of a store at half its charge, what it loses by itself left out.
    #[must_use]
    pub fn mean_a(&self, turns: &[Turn]) -> f64 {
        let (s, dark) = (self.at_work(), Light::default());
        let branch = &s.config.store.branches[0];
        let mut x = s.at.x;
        x[0] /= 2.0;
        let falls = |turn: &Turn| {
            let alone = [turn.load.always()];
            let (mode, _) = s.mode_in(Mode::default(), &x, &alone, &dark);
            -turn.share * s.net(mode, &alone, &dark).state_rates(&x)[0] * branch.dq_dx(x[0])
        };
        let fall: f64 = turns.iter().filter(|t| t.share > 0.0).map(falls).sum();
        fall - branch.open_v(x[0]) / branch.leak_ohm - branch.self_discharge_per_s * x[0]
    }

    /// The same with its output on, and a rail of its own figures.
    fn at_work(&self) -> Self {
        let mut s = self.clone();
        s.at.on = true;
        s.at.rail_v = s.config.vcc_v;
        s
    }

    fn runs_down(&self, turns: &[Turn], heavy: &[Turn], needs_v: f64) -> Lasting {
        let (store, full) = (&self.config.store, self.at.x[0]);
        debug_assert_eq!(store.branches.len(), 1, "one state tells it all");
        let state = |x: f64| -> State {
            let mut all = [0.0; Store::MOST];
            all[0] = x;
            all
        };
        let dark = Light::default();
        let margin_v = |x: f64| {
            let (mode, p) = self.mode_in(Mode::default(), &state(x), heavy, &dark);
            let rail_v = self.rail_of_v(mode, &p).unwrap_or(f64::INFINITY);
            self.cut_margin_v(&p).min(rail_v - needs_v)
        };
        let modes = matches!(self.config.output, Output::Assisted { .. });
        let pieces = if modes { PIECES_OF_MODES } else { PIECES };
        let mut found = Lasting::default();
        let mut high = full;
        let mut end = full;
        if margin_v(full) >= 0.0 {
            end = 0.0;
            let knots = store.branches[0].knots(full);
            for low in knots.iter().rev().skip(1).copied() {
                let last = margin_v(low) < 0.0;
                end = if last { ends_at(low, high, &margin_v) } else { low };
                for k in 0..pieces {
                    let at = |k: usize| high + (end - high) * k as f64 / pieces as f64;
                    self.takes(&mut found, (at(k), at(k + 1)), turns, heavy);
                }
                if last {
                    break;
                }
                high = low;
            }
        }
        let end = state(end);
        found.end_v = store.open(&end).0;
        found.left_j = store.energy_j(&end);
        found.used_j = store.energy_j(&self.at.x) - found.left_j;
        found
    }

    /// Adds what happens while the state falls from `high` to `low`.
    fn takes(&self, found: &mut Lasting, (high, low): (f64, f64), turns: &[Turn], heavy: &[Turn]) {
        let (half, dark) = ((high - low) / 2.0, Light::default());
        for (node, weight) in GAUSS {
            let mut x = [0.0; Store::MOST];
            x[0] = low + half * (1.0 + node);
            // A converter that a pulse has switched on stays so as long as it is wanted.
            let (pulsed, _) = self.mode_in(Mode::default(), &x, heavy, &dark);
            let (mut fall, mut q) = (0.0, [0.0; 7]);
            // Each turn by itself: it alone sags, and a current is the same whatever the others are.
            for turn in turns.iter().filter(|t| t.share > 0.0) {
                let alone = [turn.load.always()];
                let (mode, _) = self.mode_in(pulsed, &x, &alone, &dark);
                let (dx, q_w) = self.net(mode, &alone, &dark).all_rates(&x);
                fall -= turn.share * dx[0];
                q.iter_mut().zip(q_w).for_each(|(sum, w)| *sum += turn.share * w);
            }
            let [leak_w, esr_w, _, _, drawn_w, rail_w, own_w] = q;
            let time_s = if half == 0.0 { 0.0 } else { weight * half / fall.max(0.0) };
            found.lasts_s += time_s;
            found.leak_j += leak_w * time_s;
            found.esr_j += esr_w * time_s;
            found.output_j += (drawn_w - rail_w + own_w) * time_s;
            found.rail_j += rail_w * time_s;
        }
    }

    /// The mode that stays as it is in a state of the store.
    fn mode_in(&self, from: Mode, x: &State, turns: &[Turn], light: &Light) -> (Mode, Probe) {
        let mut mode = from;
        for _ in 0..4 {
            let p = self.net(mode, turns, light).probe(x);
            let next = self.next_mode(mode, &p, light);
            if next == mode {
                return (mode, p);
            }
            mode = next;
        }
        (mode, self.net(mode, turns, light).probe(x))
    }
}

/// The state between two at which a margin falls below zero.
fn ends_at(mut low: f64, mut high: f64, margin: &impl Fn(f64) -> f64) -> f64 {
    for _ in 0..HALVINGS {
        let mid = (low + high) / 2.0;
        if margin(mid) < 0.0 { low = mid } else { high = mid }
    }
    high
}
