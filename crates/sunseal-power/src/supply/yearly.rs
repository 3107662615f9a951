// SPDX-License-Identifier: MIT OR Apache-2.0
//! A year of a harvested supply in steps of its light: what its store carries, and down to where it falls.
//!
//! Charger, output, store, leakage and resistance are those of the closed loop, asked at a few voltages of the store;
//! over its energy they are straight between them, so that each stretch of a step is an exponential. Below the cut-off
//! the store only leaks and charges, cold if it is that low. Above it the load is drawn even while the node is dark, and
//! the node counts as awake again once the store has risen to the restart voltage and holds the cost of a start besides:
//! that is not kinder than the closed loop, and it makes the answer monotone. More light, a smaller load or a smaller
//! gate never survives fewer days.

use std::sync::Arc;

use super::mode::Mode;
use super::{Load, Supply, SupplyConfig};
use crate::store::State;
use crate::{Light, Output};

/// Voltages from cut-off to full at which the laws are asked.
const KNOTS: usize = 5;
/// A rail for the current at which an output's efficiency over the store's voltage is looked up.
const RAIL_V: f64 = 2.0;
/// Voltage that a switching output needs above its rail; assumed.
const HEADROOM_V: f64 = 0.1;
/// Slowest decay that is told from none.
const LEAST_PER_S: f64 = 1e-12;
/// Halvings that find a load or a voltage.
const HALVINGS: u32 = 60;
/// Powers of a panel between which one is looked for.
const LEAST_LIGHT_W: f64 = 1e-9;
const MOST_LIGHT_W: f64 = 1e6;
const DAY_S: f64 = 86_400.0;
/// Loads to a factor of two: what a supply carries is found to 0.14 %, on one scale for all supplies and lights.
const OCTAVE: i32 = 512;
/// Least load that is tried, as a share of the light's mean.
const LEAST: f64 = 1e-6;

/// Light in steps of which none crosses the end of a day, by what of it reaches a store.
#[derive(Clone, Debug, Default)]
pub struct LitYear {
    days: Vec<Vec<Lit>>,
    mean_w: f64,
}

/// A stretch of one light.
#[derive(Clone, Copy, Debug)]
struct Lit {
    time_s: f64,
    gain_w: f64,
    /// The same of a store too low for the charger's converter.
    cold_w: f64,
}

/// A supply and its laws over the energy of its store.
#[derive(Clone, Debug)]
pub struct Yearly {
    supply: Supply,
    /// State at which loads are priced: at half of the energy that a capacitor holds between the two voltages.
    middle: State,
    knots: [State; KNOTS],
    /// Their energies, counted from empty, and what leaks there.
    knots_j: [f64; KNOTS],
    leak_w: [f64; KNOTS],
    /// Share of the energy that is lost in a second below the cut-off.
    off_per_s: f64,
    cold_j: f64,
    on_j: f64,
    begin_j: f64,
}

impl Yearly {
    /// A supply that begins at an open voltage; shares of its charge and of its leakage say how sure they are.
    #[must_use]
    pub fn of(config: &SupplyConfig, begin_v: f64, (charge, leakage): (f64, f64)) -> Self {
        let mut config = config.clone();
        config.store.scale(charge, leakage);
        let (v_cut_v, v_max_v, v_on_v) = (config.v_cut_v, config.v_max_v, config.v_on_v);
        let store = config.store.clone();
        let cold_v = config.charger.cold_until_v();
        let mut supply = Supply::unchecked(config, begin_v);
        let at = |v_v: f64| store.at_rest(v_v);
        let knots: [State; KNOTS] = std::array::from_fn(|k| {
            at(v_cut_v + (v_max_v - v_cut_v) * k as f64 / (KNOTS - 1) as f64)
        });
        let knots_j = knots.map(|x| store.energy_j(&x));
        let dark = Light::default();
        let nothing = [Load::default().always()];
        let leaves_w = |supply: &Supply, x: &State| {
            let q = supply.net(Mode::default(), &nothing, &dark).all_rates(x).1;
            (q[0], q[1] + q[4] + q[6])
        };
        let off = leaves_w(&supply, &knots[0]);
        supply.at.on = true;
        let leak_w = knots.map(|x| leaves_w(&supply, &x).0);
        let off_per_s =
            if knots_j[0] > 0.0 { (off.0 + off.1) / knots_j[0] } else { 0.0 }.max(LEAST_PER_S);
        Self {
            middle: at(((v_max_v * v_max_v + v_cut_v * v_cut_v) / 2.0).sqrt()),
            cold_j: store.energy_j(&at(cold_v)),
            on_j: store.energy_j(&at(v_on_v)),
            begin_j: store.energy_j(&supply.at.x),
            supply,
            knots,
            knots_j,
            leak_w,
            off_per_s,
        }
    }

    /// Figures of the supply, as it was built.
    #[must_use]
    pub fn config(&self) -> &SupplyConfig {
        self.supply.config()
    }

    /// Energy that the full store holds above the cut-off.
    #[must_use]
    pub fn full_j(&self) -> f64 {
        self.knots_j[KNOTS - 1] - self.knots_j[0]
    }

    /// Highest rail at which it holds a node over the whole range of its store.
    #[must_use]
    pub fn rail_most_v(&self) -> f64 {
        let c = self.config();
        match &c.output {
            Output::Linear { dropout_v, .. } => c.v_cut_v - dropout_v,
            Output::Regulated { efficiency, .. } if efficiency.is_constant().is_some() => c.v_max_v,
            Output::Direct { drop_v } => c.v_cut_v - drop_v,
            _ => c.v_cut_v - HEADROOM_V,
        }
    }

    /// True if the closed loop itself keeps what a load takes in the store's resistance.
    #[must_use]
    pub fn keeps_reserve(&self) -> bool {
        self.supply.is_plain()
    }

    /// The supply of another rail.
    fn at_rail(&self, vcc_v: f64) -> Supply {
        let mut supply = self.supply.clone();
        supply.config = Arc::new(SupplyConfig { vcc_v, ..self.config().clone() });
        supply.at.rail_v = vcc_v;
        supply
    }

    /// Power that the store gives at its middle voltage for loads at rails, the electronics' own consumption included
    /// and what it leaks left out; `output` is a share of the output's efficiency.
    #[must_use]
    pub fn given_w(&self, loads: &[(f64, f64)], output: f64) -> Vec<f64> {
        let mut at_rails = Rails::default();
        let switches = matches!(self.config().output, Output::Regulated { .. });
        let given = |(rail_w, vcc_v): &(f64, f64)| {
            let supply = at_rails.get(self, *vcc_v);
            let [esr_w, drawn_w, own_w] = drawn(supply, &self.middle, *rail_w);
            let drawn_w = if switches { (drawn_w / output).max(*rail_w) } else { drawn_w };
            esr_w + drawn_w + own_w
        };
        loads.iter().map(given).collect()
    }

    /// Largest load at a rail for which the store gives no more than so much at its middle voltage.
    #[must_use]
    pub fn carried_w(&self, given_w: f64, vcc_v: f64) -> f64 {
        let within = |rail_w: f64| self.given_w(&[(rail_w, vcc_v)], 1.0)[0] <= given_w;
        largest(given_w, within)
    }

    /// Power that comes into the store of a light whose panel gives so much, the electronics' own included.
    #[must_use]
    pub fn charged_w(&self, light_w: f64) -> f64 {
        self.supply.feed(&Light::from(light_w), false).map_or(0.0, |(_, given_w)| given_w)
    }

    /// Least power of a panel of which so much comes into the store.
    #[must_use]
    pub fn light_w(&self, charged_w: f64) -> f64 {
        let mut most_w = charged_w.max(LEAST_LIGHT_W);
        while self.charged_w(most_w) < charged_w {
            most_w *= 2.0;
            if most_w > MOST_LIGHT_W {
                return f64::INFINITY;
            }
        }
        largest(most_w, |light_w| self.charged_w(light_w) < charged_w)
    }

    /// Power by which the store gains in a light while the output is off, at the restart voltage.
    #[must_use]
    pub fn gains_w(&self, light_w: f64) -> f64 {
        let c = self.config();
        self.charged_w(light_w) - c.quiescent_off_w - c.charger_quiescent_a * c.v_on_v
    }

    /// Energy that the store holds between two open voltages.
    #[must_use]
    pub fn energy_j(&self, low_v: f64, high_v: f64) -> f64 {
        let at = |v_v: f64| self.config().store.energy_j(&self.config().store.at_rest(v_v));
        at(high_v) - at(low_v)
    }

    /// Energy that must be left in the store above the cut-off so that its terminal does not fall to that under loads
    /// at rails; infinite where a full one does not carry them.
    #[must_use]
    pub fn reserve_j(&self, loads: &[(f64, f64)]) -> Vec<f64> {
        let mut at_rails = Rails::default();
        let (c, dark) = (self.config(), Light::default());
        let reserve = |(rail_w, vcc_v): &(f64, f64)| {
            let supply = at_rails.get(self, *vcc_v);
            let turns = [load(*rail_w).always()];
            let net = supply.net(Mode::default(), &turns, &dark);
            let bears = |v_v: f64| {
                let p = net.probe(&c.store.at_rest(v_v));
                p.able && p.terminal_v > c.v_cut_v
            };
            if !bears(c.v_max_v) {
                return f64::INFINITY;
            }
            let (mut low, mut high) = (c.v_cut_v, c.v_max_v);
            for _ in 0..HALVINGS / 2 {
                let mid = (low + high) / 2.0;
                if bears(mid) { high = mid } else { low = mid }
            }
            c.store.energy_j(&c.store.at_rest(high)) - self.knots_j[0]
        };
        loads.iter().map(reserve).collect()
    }

    /// Light in steps, by what of it reaches the store; `charger` is a share of its efficiency. Steps of one light are
    /// one: within it the energy only rises or only falls.
    #[must_use]
    pub fn lit(&self, edges_s: &[f64], light_w: &[f64], charger: f64) -> LitYear {
        let c = self.config();
        // The dark's own current is in the outflow.
        let awake_w = (c.charger_quiescent_a - c.charger_asleep_a) * c.v_on_v;
        let fed = |w: f64, cold: bool| {
            let fed = self.supply.feed(&Light::from(w), cold);
            fed.map_or(0.0, |(taken_w, given_w)| {
                (given_w * if cold { 1.0 } else { charger }).min(taken_w) - awake_w
            })
        };
        let mut year = LitYear::default();
        let mut all_j = 0.0;
        for (span, w) in edges_s.windows(2).zip(light_w) {
            let lit = Lit {
                time_s: span[1] - span[0],
                gain_w: fed(*w, false),
                cold_w: fed(*w, self.cold_j > 0.0),
            };
            all_j += lit.gain_w * lit.time_s;
            let day = ((span[0] + 1e-3) / DAY_S) as usize;
            year.days.resize_with(year.days.len().max(day + 1), Vec::new);
            match year.days[day].last_mut() {
                Some(last) if last.gain_w == lit.gain_w && last.cold_w == lit.cold_w => {
                    last.time_s += lit.time_s;
                }
                _ => year.days[day].push(lit),
            }
        }
        let whole_s = edges_s.last().unwrap_or(&0.0) - edges_s.first().unwrap_or(&0.0);
        year.mean_w = all_j / whole_s.max(1e-9);
        year
    }

    /// Each day's lowest energy above the cut-off under a load, told by what the store gives for it at its middle
    /// voltage; less than none on a day without output.
    #[must_use]
    pub fn lows(&self, year: &LitYear, given_w: f64) -> Vec<f64> {
        let c = self.config();
        let (cut, top) = (self.knots_j[0], self.knots_j[KNOTS - 1]);
        let full = top - cut;
        let back = cut + (self.on_j - cut + c.start_overhead_j).min(full);
        let begin = cut + (self.begin_j - cut - c.start_overhead_j).max(0.0);
        let mut flow = Flow::new(self, given_w, begin);
        let (mut awake, mut owed) = (flow.energy > cut, 0.0);
        let day_low = |day: &Vec<Lit>| {
            let mut low = if awake { flow.energy - cut - owed } else { -full };
            for lit in day {
                let keep = flow.step(*lit);
                owed = if awake { owed * keep } else { owed };
                owed = (owed - (flow.energy - top).max(0.0)).max(0.0);
                flow.energy = flow.energy.min(top);
                let alive = awake && flow.energy > cut;
                if awake && !alive {
                    owed = c.start_overhead_j;
                }
                awake = alive || flow.energy >= back;
                low = low.min(if awake { flow.energy - cut - owed } else { -full });
            }
            low
        };
        year.days.iter().map(day_low).collect()
    }

    /// Time for which the full store lasts without light under a load, down to an energy above the cut-off.
    #[must_use]
    pub fn dark_s(&self, given_w: f64, down_to_j: f64) -> f64 {
        let out_w = self.outflows_w(given_w);
        let low_j = self.knots_j[0] + down_to_j;
        let mut time_s = 0.0;
        for k in (0..KNOTS - 1).filter(|k| self.knots_j[k + 1] > low_j) {
            let (from_j, to_j) = (self.knots_j[k], self.knots_j[k + 1]);
            let grows = (out_w[k + 1] - out_w[k]) / (to_j - from_j);
            let begins_j = from_j.max(low_j);
            let (least_w, span_j) = (out_w[k] + grows * (begins_j - from_j), to_j - begins_j);
            let bend = grows * span_j / least_w;
            time_s += span_j / least_w * if bend.abs() < 1e-9 { 1.0 } else { bend.ln_1p() / bend };
        }
        time_s
    }

    /// The largest loads of the scale above each of rising gates, shares of the full store, that it keeps on all but so
    /// many days; 0 where even the least does not.
    #[must_use]
    pub fn largest_w(&self, year: &LitYear, fails: usize, gates: &[f64]) -> Vec<f64> {
        let mean_w = year.mean_w.max(LEAST_PER_S);
        let scale = |share: f64| (share * mean_w).log2().floor() as i32 * OCTAVE;
        let (first, last) = (scale(LEAST), scale(2.1));
        let load_w = |step: i32| (f64::from(step) / f64::from(OCTAVE)).exp2();
        let mut known: std::collections::BTreeMap<i32, f64> = std::collections::BTreeMap::new();
        let mut low_j = |step: i32| {
            *known.entry(step).or_insert_with(|| {
                let mut lows = self.lows(year, load_w(step));
                lows.sort_by(f64::total_cmp);
                lows[fails.min(lows.len() - 1)]
            })
        };
        let mut most = last;
        let mut found = Vec::with_capacity(gates.len());
        for gate in gates {
            let need_j = gate * self.full_j();
            if low_j(first) < need_j {
                found.push(0.0);
                continue;
            }
            let (mut holds, mut fails_at) = (first, most + 1);
            while fails_at - holds > 1 {
                let mid = holds + (fails_at - holds) / 2;
                if low_j(mid) >= need_j { holds = mid } else { fails_at = mid }
            }
            most = holds;
            found.push(load_w(holds));
        }
        found
    }
}

fn load(vcc_w: f64) -> Load {
    Load { vcc_w, store_w: 0.0 }
}

/// Powers that leave the terminal for a load: in the resistance, into the output, to the electronics.
fn drawn(supply: &Supply, x: &State, rail_w: f64) -> [f64; 3] {
    let q = supply.net(Mode::default(), &[load(rail_w).always()], &Light::default()).all_rates(x).1;
    [q[1], q[4], q[6]]
}

/// The supplies of rails that were asked for.
#[derive(Default)]
struct Rails {
    known: Vec<(f64, Supply)>,
}

impl Rails {
    fn get(&mut self, of: &Yearly, vcc_v: f64) -> &Supply {
        let place = self.known.iter().position(|(v, _)| *v == vcc_v).unwrap_or_else(|| {
            self.known.push((vcc_v, of.at_rail(vcc_v)));
            self.known.len() - 1
        });
        &self.known[place].1
    }
}

/// The largest figure up to `most` for which something holds that does so of small ones; 0 if of none.
fn largest(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let mid = (low + high) / 2.0;
        if holds(mid) { low = mid } else { high = mid }
    }
    low
}

/// A store under a load: its outflow is a broken line over the energy, so each piece is an exponential. The exact flow
/// of one state: two stores never overtake each other.
struct Flow {
    /// Bounds of the pieces: where each begins, and the last ends.
    edges: Vec<f64>,
    /// Outflow where it begins, and how that grows.
    outflow: Vec<f64>,
    slope: Vec<f64>,
    /// So many pieces are those of a cold start: above the cut-off, too, where a charger leaves it only there.
    cold: usize,
    energy: f64,
    at: usize,
}

impl Flow {
    fn new(of: &Yearly, given_w: f64, energy: f64) -> Self {
        let (out, cut, cold_j) = (of.outflows_w(given_w), of.knots_j[0], of.cold_j);
        let off = of.off_per_s;
        let mut pieces = vec![(-1.0, -off, off)];
        if cold_j < cut {
            pieces.push((cold_j, off * cold_j, off));
        }
        for k in 0..KNOTS - 1 {
            let (from, to) = (of.knots_j[k], of.knots_j[k + 1]);
            let grows = (out[k + 1] - out[k]) / (to - from);
            let grows = if grows.abs() < LEAST_PER_S { LEAST_PER_S } else { grows };
            pieces.push((from, out[k], grows));
            if from < cold_j && cold_j < to {
                pieces.push((cold_j, out[k] + grows * (cold_j - from), grows));
            }
        }
        let edges: Vec<f64> =
            pieces.iter().map(|p| p.0).chain(std::iter::once(f64::INFINITY)).collect();
        let at = edges[1..pieces.len()].iter().filter(|edge| **edge <= energy).count();
        Self {
            edges,
            outflow: pieces.iter().map(|p| p.1).collect(),
            slope: pieces.iter().map(|p| p.2).collect(),
            cold: pieces.iter().filter(|p| p.0 < cold_j.max(0.0)).count().max(1),
            energy,
            at,
        }
    }

    /// Lets a stretch of light go by; what is left of a small difference between two stores at its end.
    fn step(&mut self, lit: Lit) -> f64 {
        let (mut left_s, mut keep) = (lit.time_s, 1.0);
        loop {
            let at = self.at;
            let (rate, lower, upper) = (self.slope[at], self.edges[at], self.edges[at + 1]);
            let gain_w = if at < self.cold { lit.cold_w } else { lit.gain_w };
            let net_w = gain_w - self.outflow[at] - rate * (self.energy - lower);
            let span_s = -(-rate * left_s).exp_m1() / rate;
            let moved = self.energy + net_w * span_s;
            if (lower..=upper).contains(&moved) {
                self.energy = moved;
                return keep * (1.0 - rate * span_s);
            }
            let up = net_w > 0.0;
            let edge = if up { upper } else { lower };
            let spent_s = -(-(rate * (edge - self.energy) / net_w).min(1.0 - 1e-15)).ln_1p() / rate;
            left_s = (left_s - spent_s).max(0.0);
            keep *= (-rate * spent_s).exp();
            self.energy = edge;
            if !up && at == 0 {
                return keep; // empty
            }
            let there = if up { at + 1 } else { at - 1 };
            let gain_w = if there < self.cold { lit.cold_w } else { lit.gain_w };
            let rate = self.slope[there];
            let net_w = gain_w - self.outflow[there] - rate * (edge - self.edges[there]);
            let goes = (net_w > 0.0) == up;
            if goes || up {
                self.at = there;
            }
            if !goes {
                // Pushed back from both sides it stays at the edge.
                return keep * (-rate * left_s).exp();
            }
        }
    }
}

impl Yearly {
    /// Power that leaves the store at each knot under a load for which it gives so much at its middle voltage, its
    /// leakage included. Less than the electronics' own is drawn by nothing, but the scale of loads has it.
    fn outflows_w(&self, given_w: f64) -> [f64; KNOTS] {
        let supply = self.at_rail(RAIL_V);
        let sum = |x: &State, rail_w: f64| drawn(&supply, x, rail_w).iter().sum::<f64>();
        let own_w = sum(&self.middle, 0.0);
        let (mut low, mut high) = (0.0, given_w);
        if given_w > own_w {
            for _ in 0..HALVINGS {
                let mid = (low + high) / 2.0;
                if sum(&self.middle, mid) < given_w { low = mid } else { high = mid }
            }
        }
        let share = if given_w < own_w { given_w / own_w } else { 1.0 };
        std::array::from_fn(|k| sum(&self.knots[k], low) * share + self.leak_w[k])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Charger, Efficiency, Store};

    fn plain(leak_ohm: f64) -> Yearly {
        let config = SupplyConfig {
            store: Store::capacitor(0.5, 0.1, leak_ohm),
            charger: Charger::Constant { efficiency: 0.8, min_w: 5e-6 },
            output: Output::Regulated {
                efficiency: Efficiency::constant(0.85),
                quiescent_w: 1e-6,
                quiescent_a: 0.0,
            },
            v_max_v: 5.0,
            v_on_v: 2.6,
            v_cut_v: 1.9,
            vcc_v: 2.8,
            quiescent_off_w: 1e-6,
            charger_quiescent_a: 0.0,
            charger_asleep_a: 0.0,
            start_overhead_j: 0.125,
            decoupling_f: 0.0,
            rail_end_v: 1.5,
        };
        config.check().unwrap();
        Yearly::of(&config, 4.0, (1.0, 1.0))
    }

    /// Days of twelve hours of light by the hour.
    fn half_days(yearly: &Yearly, days: usize, light_w: f64) -> LitYear {
        let edges_s: Vec<f64> = (0..=24 * days).map(|h| h as f64 * 3600.0).collect();
        let light: Vec<f64> =
            (0..24 * days).map(|h| if h % 24 < 12 { light_w } else { 0.0 }).collect();
        yearly.lit(&edges_s, &light, 1.0)
    }

    #[test]
    fn what_a_store_gives_is_what_the_closed_loop_draws() {
        let y = plain(1e12);
        assert!((y.given_w(&[(85e-6, 2.8)], 1.0)[0] / 101e-6 - 1.0).abs() < 1e-4);
        assert!((y.given_w(&[(85e-6, 2.8)], 0.5)[0] / 201e-6 - 1.0).abs() < 1e-4);
        assert!((y.full_j() - 0.25 * (25.0 - 3.61)).abs() < 1e-9);
        // 0.1 W at the terminal behind 0.1 ohm: 1.9 V there are 1.9 + 0.1 * 0.1 / 1.9 V inside.
        let inner_v = 1.9 + 0.1 * (0.085 / 0.85 + 1e-6) / 1.9;
        let told = y.reserve_j(&[(0.085, 2.8)])[0];
        assert!((told - 0.25 * (inner_v * inner_v - 3.61)).abs() < 1e-6, "{told}");
        assert_eq!(y.reserve_j(&[(1e3, 2.8)])[0], f64::INFINITY);
    }

    #[test]
    fn without_leakage_days_are_straight_lines() {
        let y = plain(1e15);
        // By day 80 uW come in, and 50 uW go out always.
        let lows = y.lows(&half_days(&y, 3, 1e-4), 5e-5);
        let begin_j = 0.25 * (16.0 - 3.61) - 0.125;
        let a_day_j = 43_200.0 * (80e-6 - 2.0 * 50e-6);
        assert!(lows[0] < begin_j && lows.windows(2).all(|w| w[1] <= w[0]), "{lows:?}");
        assert!((y.dark_s(1e-3, 0.0) / (y.full_j() / 1e-3) - 1.0).abs() < 1e-3);
        assert!(a_day_j < 0.0);
    }

    #[test]
    fn the_largest_load_is_one_that_is_kept_and_the_next_is_not() {
        let y = plain(2.75e6);
        let year = half_days(&y, 365, 2e-3);
        let gates = [0.0, 0.03, 0.1, 0.5];
        let found = y.largest_w(&year, 3, &gates);
        assert!(found.windows(2).all(|w| w[1] <= w[0]) && found[0] > 0.0, "{found:?}");
        for (gate, most_w) in gates.iter().zip(&found).filter(|(_, w)| **w > 0.0) {
            let bad_days =
                |w: f64| y.lows(&year, w).iter().filter(|low| **low < gate * y.full_j()).count();
            assert!(bad_days(*most_w) <= 3 && bad_days(most_w * 1.002) > 3, "{gate} {most_w}");
        }
        // Half of the store, or three times its leakage, never carries more.
        let small = Yearly::of(y.config(), 2.6, (0.5, 3.0));
        let less = small.largest_w(&half_days(&small, 365, 2e-3), 3, &gates);
        assert!(less.iter().zip(&found).all(|(a, b)| a <= b), "{less:?} {found:?}");
    }

    #[test]
    fn the_closed_loop_plays_the_same_days() {
        // A load of 25 uW on a store that falls on a dark day and rises again.
        for leak_ohm in [1e12, 1e6] {
            let y = plain(leak_ohm);
            let rail_w = 25e-6;
            let edges_s: Vec<f64> = (0..=24 * 8).map(|h| f64::from(h) * 3600.0).collect();
            let light: Vec<f64> =
                (0..24 * 8)
                    .map(|h| {
                        if h / 24 % 5 != 0 || h < 24 {
                            3e-4 * f64::from(h % 24) / 24.0
                        } else {
                            0.0
                        }
                    })
                    .collect();
            let given_w = y.given_w(&[(rail_w, 2.8)], 1.0)[0];
            let lows = y.lows(&y.lit(&edges_s, &light, 1.0), given_w);
            let mut s = Supply::new(y.config().clone(), 4.0).unwrap();
            s.switch_on();
            let cut_j = y.knots_j[0];
            for (day, low) in lows.iter().enumerate() {
                let mut least_j = s.stored_j() - cut_j;
                for w in &light[day * 24..(day + 1) * 24] {
                    let _ = s.advance(3600.0, load(rail_w), *w);
                    least_j = least_j.min(s.stored_j() - cut_j);
                }
                // A start is owed to the hour after it has decayed: the year is the darker by that at most.
                assert!((least_j - low).abs() <= 0.02 * y.full_j(), "{day}: {least_j} {low}");
            }
        }
    }
}
