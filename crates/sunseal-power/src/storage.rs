// SPDX-License-Identifier: MIT OR Apache-2.0
//! A capacitor with series resistance and leakage, driven by constant power at its terminal.
//!
//! C dv/dt = i - v / R_leak, (v + r i) i = P. There is no closed form with both r and R_leak, so the
//! store and both losses are integrated together by an adaptive fifth-order step (Dormand and Prince
//! 1980): the voltage of a store that is nearly empty, else the energy, which goes nearly straight
//! where the voltage bends, so that most stretches are one step. The balance of the energy closes by
//! construction then; tests hold it to the voltage's steps and to the circuit's solver.

use std::ops::Range;

use crate::dormand_prince::{A, LOW};
use crate::quadrature::{AGREE, integrals};

/// Capacitor with series resistance and leakage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage {
    /// Capacitance at every voltage.
    pub capacitance_f: f64,
    /// Resistance in series with it.
    pub esr_ohm: f64,
    /// Leakage, as a resistor across the capacitance.
    pub leak_ohm: f64,
}

/// Outcome of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Voltage of the capacitance at the end.
    pub v_v: f64,
    /// Energy lost in leakage.
    pub leak_j: f64,
    /// Lost in the series resistance.
    pub esr_j: f64,
}

/// Largest local error: volts against a volt, joules against the joules moved.
const TOLERANCE: f64 = 1e-11;
/// The energy is followed where the square of the voltage is so many times what the series resistance makes of the power.
const MOSTLY_STORED: f64 = 100.0;
/// The first step is no longer than this share of the time in which its rate would empty the store.
const FIRST: f64 = 0.5;

/// Variable whose rate is integrated.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Energy,
    Voltage,
}

impl Storage {
    /// Energy above empty at `v_v`.
    #[must_use]
    pub fn energy_j(&self, v_v: f64) -> f64 {
        self.capacitance_f * v_v * v_v / 2.0
    }

    /// Voltage at an energy.
    #[must_use]
    pub fn voltage_v(&self, energy_j: f64) -> f64 {
        (2.0 * energy_j.max(0.0) / self.capacitance_f).sqrt()
    }

    /// Current into the terminal for a power into the terminal: the smaller root, written so that
    /// small resistances cancel nothing. A power that cannot be drawn gives the largest current.
    #[must_use]
    pub fn current_a(&self, v_v: f64, power_w: f64) -> f64 {
        if power_w == 0.0 {
            return 0.0; // at zero volts too, where the formula below is 0 / 0
        }
        if !self.gives(v_v, power_w) {
            return -v_v / (2.0 * self.esr_ohm);
        }
        let root = (v_v * v_v + 4.0 * self.esr_ohm * power_w).sqrt();
        2.0 * power_w / (v_v + root)
    }

    /// True if a power (into the terminal, negative out of it) can flow at all: at most v^2 / 4 R can be drawn.
    #[must_use]
    pub fn gives(&self, v_v: f64, power_w: f64) -> bool {
        v_v * v_v + 4.0 * self.esr_ohm * power_w >= 0.0
    }

    /// Voltage at the terminal.
    #[must_use]
    pub fn terminal_v(&self, v_v: f64, power_w: f64) -> f64 {
        if !self.gives(v_v, power_w) {
            return v_v / 2.0;
        }
        v_v + self.esr_ohm * self.current_a(v_v, power_w)
    }

    /// Inner voltage at which the terminal stands at `terminal_v` while `power_w` flows in. If the
    /// terminal never falls so low before the power cannot be drawn any more, the voltage of that.
    #[must_use]
    pub fn inner_v(&self, terminal_v: f64, power_w: f64) -> f64 {
        let half_v = (self.esr_ohm * -power_w).max(0.0).sqrt();
        if terminal_v < half_v {
            2.0 * half_v
        } else {
            terminal_v - self.esr_ohm * power_w / terminal_v
        }
    }

    /// Rates of the energy held, or of the voltage, and of both losses.
    fn slope(&self, by: By, at: f64, power_w: f64) -> [f64; 3] {
        let v_v = match by {
            By::Energy => self.voltage_v(at),
            By::Voltage => at.max(0.0),
        };
        let i = self.current_a(v_v, power_w);
        let leak_a = v_v / self.leak_ohm;
        let moves = match by {
            By::Energy => v_v * (i - leak_a),
            By::Voltage => (i - leak_a) / self.capacitance_f,
        };
        [moves, v_v * leak_a, self.esr_ohm * i * i]
    }

    fn by(&self, v_v: f64, power_w: f64) -> By {
        match v_v * v_v > MOSTLY_STORED * self.esr_ohm * power_w {
            true => By::Energy,
            false => By::Voltage,
        }
    }

    /// The voltage as what is integrated, and back.
    fn told(&self, by: By, v_v: f64) -> f64 {
        if by == By::Energy { self.energy_j(v_v) } else { v_v }
    }

    fn voltage_of(&self, by: By, at: f64) -> f64 {
        if by == By::Energy { self.voltage_v(at) } else { at.max(0.0) }
    }

    /// One step of `h_s`: end state and error estimate.
    fn step(&self, y: [f64; 3], power_w: f64, h_s: f64) -> ([f64; 3], [f64; 3]) {
        self.step_by(self.by(y[0], power_w), y, power_w, h_s)
    }

    fn step_by(&self, by: By, y: [f64; 3], power_w: f64, h_s: f64) -> ([f64; 3], [f64; 3]) {
        let begun = self.told(by, y[0]);
        // The right side depends on the voltage alone, so the stages need only its column.
        let mut k = [[0.0; 3]; 7];
        let mut end = y;
        for stage in 0..7 {
            let moved: f64 = A[stage][..stage].iter().zip(&k).map(|(a, k)| a * k[0]).sum();
            k[stage] = self.slope(by, begun + h_s * moved, power_w);
        }
        let mut error = [0.0; 3];
        for c in 0..3 {
            let high: f64 = A[6].iter().zip(&k).map(|(a, k)| a * k[c]).sum();
            let low: f64 = LOW.iter().zip(&k).map(|(a, k)| a * k[c]).sum();
            end[c] = y[c] + h_s * high;
            error[c] = (h_s * (high - low)).abs();
            if c == 0 {
                end[0] = self.voltage_of(by, begun + h_s * high);
                error[0] = (self.voltage_of(by, begun + h_s * low) - end[0]).abs();
            }
        }
        (end, error)
    }

    /// Flows for `dt_s` from `v_v` with `power_w` into the terminal, or until `stop` says that the
    /// inner voltage has crossed something; the crossing is found to the last bit of time. The inner
    /// voltage is monotonic, as the equation has no time in it. Returns the time gone by.
    pub fn flow(
        &self,
        v_v: f64,
        power_w: f64,
        dt_s: f64,
        stop: impl Fn(f64) -> bool,
    ) -> (f64, Flow) {
        self.flow_with(v_v, power_w, dt_s, TOLERANCE, stop)
    }

    /// As [`flow`](Self::flow), with a tolerance of one's own.
    pub fn flow_with(
        &self,
        v_v: f64,
        power_w: f64,
        dt_s: f64,
        tolerance: f64,
        stop: impl Fn(f64) -> bool,
    ) -> (f64, Flow) {
        if power_w == 0.0 {
            return self.decays(v_v, dt_s, stop);
        }
        let mut y = [v_v, 0.0, 0.0];
        let (held_j, gains_w) =
            (self.energy_j(v_v), self.slope(By::Energy, self.energy_j(v_v), power_w)[0]);
        // A step that would empty the store is one too long.
        let first_s = if gains_w < 0.0 { dt_s.min(FIRST * held_j / -gains_w) } else { dt_s };
        let (mut t, mut h) = (0.0, first_s);
        while t < dt_s {
            let h_now = h.min(dt_s - t);
            let (end, error) = self.step(y, power_w, h_now);
            let moved = (power_w.abs() + y[0] * y[0] / self.leak_ohm) * h_now + f64::MIN_POSITIVE;
            let bad = (error[0] / (tolerance * y[0].max(0.1)))
                + (error[1] + error[2]) / (tolerance * moved);
            let last = h_now <= first_s * 1e-9 || h_now < 1e-12;
            // Beyond the voltage from which the power can be drawn the estimate is no number: step back.
            if (bad.is_nan() || bad > 1.0) && !last {
                let shrink =
                    if bad.is_nan() { 0.1 } else { (0.9 * bad.powf(-0.2)).clamp(0.1, 0.9) };
                h = h_now * shrink;
                continue;
            }
            if stop(end[0]) {
                let over = y[0]..end[0];
                let (gone_s, end) = self
                    .up_to_by_quadrature(over, power_w, &stop)
                    .filter(|(gone_s, _)| *gone_s <= h_now * (1.0 + AGREE))
                    .unwrap_or_else(|| self.up_to_by_steps(y, power_w, h_now, &stop));
                let (leak_j, esr_j) = (y[1] + end.leak_j, y[2] + end.esr_j);
                return ((t + gone_s).min(dt_s), Flow { leak_j, esr_j, ..end });
            }
            y = end;
            t += h_now;
            h = h_now * (0.9 * bad.max(1e-10).powf(-0.2)).clamp(1.0, 8.0);
        }
        (dt_s, Flow { v_v: y[0], leak_j: y[1], esr_j: y[2] })
    }

    /// Without a power only the leakage empties the capacitance, which has a closed form.
    fn decays(&self, v_v: f64, dt_s: f64, stop: impl Fn(f64) -> bool) -> (f64, Flow) {
        let tau_s = self.leak_ohm * self.capacitance_f;
        let after = |gone_s: f64, end_v: f64| {
            let leak_j = self.energy_j(v_v) * -(-2.0 * gone_s / tau_s).exp_m1();
            (gone_s, Flow { v_v: end_v, leak_j, esr_j: 0.0 })
        };
        let end_v = v_v * (-dt_s / tau_s).exp();
        if dt_s <= 0.0 || !stop(end_v) {
            return after(dt_s.max(0.0), end_v);
        }
        let at_v = |share: f64| v_v + share * (end_v - v_v);
        let there_v = at_v(first(1.0, |share| stop(at_v(share))));
        let gone_s = if there_v < v_v { tau_s * (v_v / there_v).ln() } else { 0.0 };
        after(gone_s.min(dt_s), there_v)
    }

    /// Time from a voltage to the first behind it at which `stop` holds, and what was lost on the way: the voltage alone
    /// says how fast it moves, so both are integrals over it. None where those do not agree.
    fn up_to_by_quadrature(
        &self,
        over: Range<f64>,
        power_w: f64,
        stop: impl Fn(f64) -> bool,
    ) -> Option<(f64, Flow)> {
        let by = self.by(over.start, power_w);
        let (from, to) = (self.told(by, over.start), self.told(by, over.end));
        let at = |share: f64| from + share * (to - from);
        let end = at(first(1.0, |share| stop(self.voltage_of(by, at(share)))));
        let mut moves = true;
        let of = |at: f64| {
            let [per_s, leak_w, esr_w] = self.slope(by, at, power_w);
            moves &= per_s * (to - from) > 0.0;
            [1.0 / per_s, leak_w / per_s, esr_w / per_s]
        };
        let moved_j = |all: &[f64; 3]| power_w.abs() * all[0] + all[1] + all[2];
        let scale = |all: &[f64; 3], i: usize| if i == 0 { all[0] } else { moved_j(all) };
        let [time_s, leak_j, esr_j] = integrals((from, end - from), of, scale)?;
        moves.then(|| (time_s, Flow { v_v: self.voltage_of(by, end), leak_j, esr_j }))
    }

    /// The same within `h_s` from a state, by steps of other lengths.
    fn up_to_by_steps(
        &self,
        y: [f64; 3],
        power_w: f64,
        h_s: f64,
        stop: impl Fn(f64) -> bool,
    ) -> (f64, Flow) {
        let gone_s = first(h_s, |t_s| stop(self.step(y, power_w, t_s).0[0]));
        let (end, _) = self.step(y, power_w, gone_s);
        let (leak_j, esr_j) = (end[1] - y[1], end[2] - y[2]);
        (gone_s, Flow { v_v: end[0], leak_j, esr_j })
    }
}

/// The first of the numbers up to `most` at which something holds that holds from there on, by halving to the last bit.
fn first(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..200 {
        let mid = low + (high - low) / 2.0;
        if mid <= low || mid >= high {
            break;
        }
        if holds(mid) { high = mid } else { low = mid }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn storages() -> impl Strategy<Value = Storage> {
        (0.01f64..5.0, 0.01f64..80.0, 1e4f64..1e7).prop_map(|(capacitance_f, esr_ohm, leak_ohm)| {
            Storage { capacitance_f, esr_ohm, leak_ohm }
        })
    }

    proptest! {
        #[test]
        fn in_the_dark_the_closed_form_ends_where_the_next_to_no_power_does(
            s in storages(), v_v in 0.0f64..4.0, share in 0.0f64..2.0, there in 0.2f64..1.2,
        ) {
            let dt_s = share * s.leak_ohm * s.capacitance_f;
            let stop = |v: f64| v <= there * v_v && v_v > 0.0 && there < 1.0;
            let (dark_s, dark) = s.flow(v_v, 0.0, dt_s, stop);
            let (dim_s, dim) = s.flow(v_v, 1e-22, dt_s, stop);
            prop_assert!((dark_s - dim_s).abs() <= 1e-8 * dt_s, "{dark_s} {dim_s}");
            prop_assert!((dark.v_v - dim.v_v).abs() < 1e-8, "{dark:?} {dim:?}");
            let off_j = dark.leak_j - (s.energy_j(v_v) - s.energy_j(dark.v_v));
            prop_assert!(off_j.abs() <= 1e-9 * s.energy_j(v_v), "{dark:?}");
        }

        #[test]
        fn steps_of_the_energy_end_where_short_ones_of_the_voltage_do(
            s in storages(), v_v in 0.5f64..4.0, power_w in -0.02f64..0.02, share in 0.01f64..0.6,
        ) {
            let gains_w = s.slope(By::Energy, s.energy_j(v_v), power_w)[0];
            prop_assume!(gains_w.abs() > 1e-6 && v_v * v_v > 20.0 * s.esr_ohm * power_w.abs());
            let dt_s = share * s.energy_j(v_v) / gains_w.abs();
            let (_, fast) = s.flow(v_v, power_w, dt_s, |_| false);
            let mut y = [v_v, 0.0, 0.0];
            for _ in 0..500 {
                y = s.step_by(By::Voltage, y, power_w, dt_s / 500.0).0;
            }
            prop_assert!((fast.v_v / y[0] - 1.0).abs() < 1e-9, "{fast:?} {y:?}");
            let moved_j = power_w.abs() * dt_s + y[1];
            prop_assert!((fast.leak_j - y[1]).abs() < 1e-9 * moved_j, "{fast:?} {y:?}");
            prop_assert!((fast.esr_j - y[2]).abs() < 1e-9 * moved_j, "{fast:?} {y:?}");
        }

        #[test]
        fn a_crossing_by_integrals_is_the_one_by_steps(
            s in storages(), v_v in 1.0f64..4.0, power_w in -0.02f64..0.02, share in 0.05f64..0.95,
        ) {
            let y = [v_v, 0.0, 0.0];
            let held_j = s.energy_j(v_v);
            let gains_w = s.slope(By::Energy, held_j, power_w)[0];
            prop_assume!(gains_w.abs() > 1e-6 && v_v * v_v > 20.0 * s.esr_ohm * power_w.abs());
            let h_s = 0.05 * held_j / gains_w.abs();
            let (end, _) = s.step(y, power_w, h_s);
            let there_v = v_v + share * (end[0] - v_v);
            let stop = |v: f64| if gains_w < 0.0 { v <= there_v } else { v >= there_v };
            let (slow_s, slow) = s.up_to_by_steps(y, power_w, h_s, stop);
            let (fast_s, fast) = s.up_to_by_quadrature(v_v..end[0], power_w, stop).unwrap();
            prop_assert!(stop(fast.v_v) && stop(slow.v_v));
            prop_assert!((fast_s / slow_s - 1.0).abs() < 1e-9, "{fast_s} {slow_s}");
            let moved_j = power_w.abs() * slow_s + 1e-12;
            prop_assert!((fast.leak_j - slow.leak_j).abs() < 1e-9 * (moved_j + slow.leak_j));
            prop_assert!((fast.esr_j - slow.esr_j).abs() < 1e-9 * (moved_j + slow.esr_j));
        }
    }

    #[test]
    fn without_leakage_and_resistance_it_is_the_closed_form() {
        let s = Storage { capacitance_f: 0.5, esr_ohm: 1e-12, leak_ohm: 1e18 };
        let (_, f) = s.flow(2.0, 0.01, 100.0, |_| false);
        assert!((f.v_v - (4.0f64 + 2.0 * 1.0 / 0.5).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn an_empty_store_in_the_dark_stays_empty_and_charges_in_the_light() {
        let s = Storage { capacitance_f: 0.47, esr_ohm: 0.075, leak_ohm: 1e6 };
        let (t, f) = s.flow(0.0, 0.0, 3600.0, |_| false);
        assert_eq!((t, f), (3600.0, Flow::default()));
        let (_, f) = s.flow(0.0, 1e-3, 3600.0, |_| false);
        assert!((s.energy_j(f.v_v) + f.leak_j + f.esr_j - 3.6).abs() < 1e-6, "{f:?}");
    }

    #[test]
    fn without_resistance_it_is_the_exponential() {
        // d(v^2)/dt = 2P/C - 2 v^2/(RC)
        let s = Storage { capacitance_f: 0.5, esr_ohm: 1e-12, leak_ohm: 1e5 };
        let (p, t) = (-1e-5, 20_000.0);
        let (_, f) = s.flow(3.0, p, t, |_| false);
        let k = (-2.0 * t / (s.leak_ohm * s.capacitance_f)).exp();
        let v2 = 9.0 * k + p * s.leak_ohm * (1.0 - k);
        assert!((f.v_v - v2.sqrt()).abs() < 1e-8, "{} {}", f.v_v, v2.sqrt());
    }

    #[test]
    fn a_day_does_not_move_by_a_millivolt_when_the_steps_are_halved() {
        let s = Storage { capacitance_f: 0.47, esr_ohm: 30.0, leak_ohm: 1e6 };
        let day = |pieces: u32, tolerance: f64| {
            let mut v = 1.9;
            for piece in 0..pieces {
                let hour = f64::from(piece) * 24.0 / f64::from(pieces);
                // Constant over whole hours, so that pieces of any length see the same light.
                let sun =
                    (3e-3 * (std::f64::consts::PI * (hour.floor() - 6.0) / 12.0).sin()).max(0.0);
                let (_, f) =
                    s.flow_with(v, sun - 2e-5, 86_400.0 / f64::from(pieces), tolerance, |_| false);
                v = f.v_v;
            }
            v
        };
        let coarse = day(24, 1e-4);
        for (pieces, tolerance) in
            [(48, 1e-4), (96, 1e-6), (240, 1e-8), (24, TOLERANCE), (2400, TOLERANCE)]
        {
            let other = day(pieces, tolerance);
            assert!(
                (other - coarse).abs() < 1e-3,
                "{pieces} pieces, {tolerance}: {other} against {coarse}"
            );
        }
    }

    proptest! {
        #[test]
        fn energy_is_conserved(s in storages(), v in 1.5f64..5.0, p in -1e-2f64..5e-2, dt in 1e-6f64..1e4) {
            // Stop before the voltage from which the power cannot be drawn any more.
            let floor = 0.2 + 2.0 * (s.esr_ohm * 1e-2).sqrt();
            let (t, f) = s.flow(v.max(floor), p, dt, |v| v < floor || v > 20.0);
            let v = v.max(floor);
            let rest = p * t - f.leak_j - f.esr_j - (s.energy_j(f.v_v) - s.energy_j(v));
            // What moved, and the last bits of what is stored.
            let allowed = 1e-7 * (p.abs() * t + f.leak_j) + 4.0 * f64::EPSILON * s.energy_j(v.max(f.v_v));
            prop_assert!(rest.abs() <= allowed, "{rest} over {allowed}");
        }

        #[test]
        fn more_power_never_ends_lower(s in storages(), v in 1.0f64..5.0, p in 0.0f64..1e-2, q in 0.0f64..1e-2, dt in 1e-3f64..1e3) {
            let (_, a) = s.flow(v, p, dt, |_| false);
            let (_, b) = s.flow(v, p + q, dt, |_| false);
            prop_assert!(b.v_v >= a.v_v - 1e-9);
        }

        #[test]
        fn a_crossing_is_found_where_it_is(s in storages(), dv in 0.01f64..0.5) {
            let (v, p) = (4.0, -1e-3);
            let (t, f) = s.flow(v, p, 1e9, |x| x < v - dv);
            prop_assert!(f.v_v <= v - dv && f.v_v > v - dv - 1e-6);
            let (_, before) = s.flow(v, p, t * (1.0 - 1e-6), |_| false);
            prop_assert!(before.v_v > v - dv);
        }

        #[test]
        fn the_terminal_relation_inverts(s in storages(), vt in 1.0f64..5.0, p in -1e-3f64..1e-2) {
            let v = s.inner_v(vt, p);
            prop_assume!(v > s.esr_ohm * 1e-3 / vt + 0.05);
            prop_assert!((s.terminal_v(v, p) - vt).abs() < 1e-6 || vt * vt < s.esr_ohm * p.abs());
        }
    }
}
