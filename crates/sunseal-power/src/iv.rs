// SPDX-License-Identifier: MIT OR Apache-2.0
//! Current-voltage curves: what a source gives at each voltage, and where on that curve a charger takes it.

use std::sync::Arc;

/// Current over voltage: straight lines between points. Below the first voltage its current holds,
/// beyond the last there is none: a source takes nothing back.
#[derive(Clone, Debug, PartialEq)]
pub struct IvCurve {
    points: Vec<(f64, f64)>,
    v_mp_v: f64,
    p_mp_w: f64,
}

/// The five figures of the single-diode equation at one light and temperature, as pvlib's
/// `calcparams_desoto` returns them: I = IL - I0 (exp((V + I Rs) / a) - 1) - (V + I Rs) / Rsh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleDiode {
    /// Photocurrent, IL of the one-diode model.
    pub photocurrent_a: f64,
    /// Saturation current, I0 of the model.
    pub saturation_a: f64,
    /// Series resistance, Rs of the model.
    pub series_ohm: f64,
    /// Rsh; may be infinite.
    pub shunt_ohm: f64,
    /// a = n Ns Vth.
    pub n_ns_vth_v: f64,
}

/// A cell of two diodes: the single-diode equation with a second diode, of an ideality of its own,
/// beside the first. What of the dark current goes through it decides over low light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoDiode {
    /// All of it but the second diode.
    pub first: SingleDiode,
    /// Saturation current of the second diode; 0 where there is none.
    pub saturation_2_a: f64,
    /// Its n Ns Vth.
    pub n_ns_vth_2_v: f64,
}

impl From<SingleDiode> for TwoDiode {
    fn from(first: SingleDiode) -> Self {
        Self { first, saturation_2_a: 0.0, n_ns_vth_2_v: first.n_ns_vth_v }
    }
}

impl From<[f64; 7]> for TwoDiode {
    /// The five figures of the first diode, saturation current and n Ns Vth of the second.
    fn from(f: [f64; 7]) -> Self {
        let first = SingleDiode {
            photocurrent_a: f[0],
            saturation_a: f[1],
            series_ohm: f[2],
            shunt_ohm: f[3],
            n_ns_vth_v: f[4],
        };
        Self { first, saturation_2_a: f[5], n_ns_vth_2_v: f[6] }
    }
}

/// Points of a curve that is computed: the power at the maximum errs by less than 1e-4 of itself.
const POINTS: usize = 128;
/// Halvings of an interval of voltages, after which it is as short as doubles can tell.
const HALVINGS: usize = 52;

impl SingleDiode {
    /// The curve, as of a cell without a second diode.
    #[must_use]
    pub fn curve(&self) -> IvCurve {
        TwoDiode::from(*self).curve()
    }
}

impl TwoDiode {
    pub(crate) fn check(&self) -> Result<(), String> {
        let one = &self.first;
        for (name, value) in [
            ("photocurrent_a", one.photocurrent_a),
            ("series_ohm", one.series_ohm),
            ("saturation_2_a", self.saturation_2_a),
        ] {
            if !value.is_finite() || value < 0.0 {
                return Err(format!("{name} is {value}; it must be a number, zero or more"));
            }
        }
        for (name, value) in [
            ("saturation_a", one.saturation_a + self.saturation_2_a),
            ("n_ns_vth_v", one.n_ns_vth_v),
            ("n_ns_vth_2_v", self.n_ns_vth_2_v),
        ] {
            if !value.is_finite() || value <= 0.0 {
                return Err(format!("{name} is {value}; it must be a number above zero"));
            }
        }
        match one.shunt_ohm > 0.0 {
            true => Ok(()),
            false => Err(format!("shunt_ohm is {}; it must be above zero", one.shunt_ohm)),
        }
    }

    /// Current through diodes and shunt for the voltage across them, taken from the photocurrent.
    fn out_a(&self, diode_v: f64) -> f64 {
        let one = &self.first;
        let diodes_a = one.saturation_a * (diode_v / one.n_ns_vth_v).exp_m1()
            + self.saturation_2_a * (diode_v / self.n_ns_vth_2_v).exp_m1();
        one.photocurrent_a - diodes_a - diode_v / one.shunt_ohm
    }

    /// Conductance of diodes and shunt together.
    fn conductance_s(&self, diode_v: f64) -> f64 {
        let one = &self.first;
        one.saturation_a / one.n_ns_vth_v * (diode_v / one.n_ns_vth_v).exp()
            + self.saturation_2_a / self.n_ns_vth_2_v * (diode_v / self.n_ns_vth_2_v).exp()
            + 1.0 / one.shunt_ohm
    }

    /// Voltage at which no current flows.
    #[must_use]
    pub fn v_oc_v(&self) -> f64 {
        let one = &self.first;
        if one.photocurrent_a <= 0.0 {
            return 0.0;
        }
        // Below the voltage at which either diode alone takes the photocurrent.
        let alone = |i_0: f64, a: f64| {
            if i_0 > 0.0 { a * (one.photocurrent_a / i_0).ln_1p() } else { f64::INFINITY }
        };
        let most_v = alone(one.saturation_a, one.n_ns_vth_v)
            .min(alone(self.saturation_2_a, self.n_ns_vth_2_v));
        let (mut low, mut high) = (0.0, most_v);
        for _ in 0..60 {
            let mid = (low + high) / 2.0;
            if self.out_a(mid) > 0.0 { low = mid } else { high = mid }
        }
        high
    }

    /// Voltage and current at the maximum power point.
    #[must_use]
    pub fn mp(&self) -> (f64, f64) {
        let r = self.first.series_ohm;
        let (mut low, mut high) = (0.0, self.v_oc_v());
        if high <= 0.0 {
            return (0.0, 0.0);
        }
        let at = |x: f64| (x - self.out_a(x) * r, self.out_a(x));
        for _ in 0..HALVINGS {
            let x = (low + high) / 2.0;
            let ((v, i), s) = (at(x), self.conductance_s(x));
            // d(v i)/dx, with di/dx = -s and dv/dx = 1 + s r.
            if i * (1.0 + s * r) - v * s > 0.0 { low = x } else { high = x }
        }
        at((low + high) / 2.0)
    }

    /// The curve. The voltage across the diodes is its parameter, so no equation is solved but for
    /// the open circuit.
    #[must_use]
    pub fn curve(&self) -> IvCurve {
        let one = &self.first;
        if one.photocurrent_a <= 0.0 {
            return IvCurve::of(vec![(0.0, 0.0)]);
        }
        let v_oc_v = self.v_oc_v();
        // Dense where the curve bends: the last few thermal voltages hold three quarters of the points.
        let bend_v = (v_oc_v - 5.0 * one.n_ns_vth_v).max(v_oc_v * 0.3);
        let flat = POINTS / 4;
        let mut points = Vec::with_capacity(POINTS + 1);
        // The voltage at the terminals of a short circuit is zero, which is IL Rs across the diode.
        for k in 0..=POINTS {
            let x = if k < flat {
                bend_v * k as f64 / flat as f64
            } else {
                bend_v + (v_oc_v - bend_v) * (k - flat) as f64 / (POINTS - flat) as f64
            };
            let i = self.out_a(x).max(0.0);
            let v = x - i * one.series_ohm;
            if v >= 0.0 {
                points.push((v, i));
            }
        }
        if let Some(last) = points.last_mut() {
            *last = (v_oc_v, 0.0);
        }
        IvCurve::of(points)
    }
}

impl IvCurve {
    /// From measured points.
    ///
    /// # Errors
    /// If they are no curve; the clause says why.
    pub fn new(voltage_v: &[f64], current_a: &[f64]) -> Result<Self, String> {
        if voltage_v.len() != current_a.len() {
            return Err(format!(
                "the curve has {} voltages and {} currents; give one current for each voltage",
                voltage_v.len(),
                current_a.len()
            ));
        }
        if voltage_v.len() < 2 {
            return Err(format!("the curve has {} points; it needs at least two", voltage_v.len()));
        }
        for (&v, &i) in voltage_v.iter().zip(current_a) {
            if !v.is_finite() || v < 0.0 || !i.is_finite() {
                return Err(format!(
                    "the curve has the point {v} V, {i} A; voltages are zero or more, currents numbers"
                ));
            }
        }
        if let Some(w) = voltage_v.windows(2).find(|w| w[1] <= w[0]) {
            return Err(format!(
                "the curve's voltage goes from {} to {}; it must always grow",
                w[0], w[1]
            ));
        }
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(voltage_v.len() + 1);
        for (&v, &i) in voltage_v.iter().zip(current_a) {
            match points.last() {
                // Where the current changes its sign the curve ends.
                Some(&(v0, i0)) if i <= 0.0 => {
                    if i0 > 0.0 {
                        points.push((v0 + (v - v0) * i0 / (i0 - i), 0.0));
                    }
                    break;
                }
                _ => points.push((v, i.max(0.0))),
            }
        }
        // A sweep that stops short of the open circuit is carried on along its last line.
        if let [.., (v0, i0), (v1, i1)] = points[..]
            && i1 > 0.0
        {
            let slope = (i1 - i0) / (v1 - v0);
            let open_v = if slope < 0.0 { v1 - i1 / slope } else { v1 * (1.0 + 1e-6) };
            points.push((open_v, 0.0));
        }
        Ok(Self::of(points))
    }

    fn of(points: Vec<(f64, f64)>) -> Self {
        let mut best = (0.0, 0.0);
        for w in points.windows(2) {
            let ((v0, i0), (v1, i1)) = (w[0], w[1]);
            let slope = (i1 - i0) / (v1 - v0);
            // The top of v (i0 + slope (v - v0)), if it lies on the line.
            let top =
                if slope < 0.0 { ((v0 * slope - i0) / (2.0 * slope)).clamp(v0, v1) } else { v1 };
            for v in [v0, top, v1] {
                let p = v * (i0 + slope * (v - v0));
                if p > best.1 {
                    best = (v, p);
                }
            }
        }
        Self { points, v_mp_v: best.0, p_mp_w: best.1 }
    }

    /// Current at a voltage.
    #[must_use]
    pub fn current_a(&self, v_v: f64) -> f64 {
        let k = self.points.partition_point(|p| p.0 <= v_v);
        match (k.checked_sub(1).map(|k| self.points[k]), self.points.get(k)) {
            (Some((v0, i0)), Some(&(v1, i1))) => i0 + (i1 - i0) * (v_v - v0) / (v1 - v0),
            (None, Some(&(_, i))) => i,
            _ => 0.0,
        }
    }

    /// Number of lines: the held one in front, and those between the points.
    pub(crate) fn lines(&self) -> usize {
        self.points.len()
    }

    /// Line `k` as it is seen behind a drop of `drop_v`: the voltage at its end, current at 0 V and
    /// slope. The line after the last is no current.
    pub(crate) fn line(&self, k: usize, drop_v: f64) -> (f64, (f64, f64)) {
        match (k.checked_sub(1).and_then(|k| self.points.get(k)), self.points.get(k)) {
            (Some(&(v0, i0)), Some(&(v1, i1))) => {
                let slope = (i1 - i0) / (v1 - v0);
                (v1 - drop_v, (i0 - slope * (v0 - drop_v), slope))
            }
            (None, Some(&(v, i))) => (v - drop_v, (i, 0.0)),
            _ => (f64::INFINITY, (0.0, 0.0)),
        }
    }

    /// Voltage at which no current flows.
    #[must_use]
    pub fn v_oc_v(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.0)
    }

    /// Voltage and power at the maximum power point.
    #[must_use]
    pub fn mp(&self) -> (f64, f64) {
        (self.v_mp_v, self.p_mp_w)
    }
}

/// Light, power or curve that a source offers for a while.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Light {
    /// The most that can be taken, at the maximum power point.
    pub max_w: f64,
    /// Voltage there, if it is known.
    pub v_mp_v: Option<f64>,
    /// The curve, if it is known.
    pub curve: Option<Arc<IvCurve>>,
}

impl From<f64> for Light {
    /// A power, taken whole by any charger.
    fn from(max_w: f64) -> Self {
        Self { max_w, v_mp_v: None, curve: None }
    }
}

impl From<&Light> for Light {
    fn from(light: &Light) -> Self {
        light.clone()
    }
}

impl From<IvCurve> for Light {
    fn from(curve: IvCurve) -> Self {
        let (v, p) = curve.mp();
        Self { max_w: p, v_mp_v: Some(v), curve: Some(Arc::new(curve)) }
    }
}

impl Light {
    /// Voltage and power where a charger takes it that holds the source at a share of its
    /// open-circuit voltage; without a curve, the maximum power point.
    #[must_use]
    pub fn at_share(&self, share: f64) -> (Option<f64>, f64) {
        match &self.curve {
            Some(c) => {
                let v = share * c.v_oc_v();
                (Some(v), v * c.current_a(v))
            }
            None => (self.v_mp_v, self.max_w),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small cell: 10 in series, at 1 sun about 22 mA at 5 V.
    const CELL: SingleDiode = SingleDiode {
        photocurrent_a: 25e-3,
        saturation_a: 2e-10,
        series_ohm: 8.0,
        shunt_ohm: 200e3,
        n_ns_vth_v: 0.34,
    };

    #[test]
    fn the_curve_solves_the_single_diode_equation() {
        let c = CELL.curve();
        for k in 0..40 {
            let v = c.v_oc_v() * f64::from(k) / 40.0;
            // Newton on the implicit equation, from the photocurrent.
            let mut i = 0.0;
            for _ in 0..200 {
                let x = v + i * CELL.series_ohm;
                let f = TwoDiode::from(CELL).out_a(x) - i;
                let g = -CELL.series_ohm
                    * (CELL.saturation_a / CELL.n_ns_vth_v * (x / CELL.n_ns_vth_v).exp()
                        + 1.0 / CELL.shunt_ohm)
                    - 1.0;
                i -= f / g;
            }
            // Straight lines between the points: half a thousandth of the photocurrent at most.
            let off = (c.current_a(v) - i).abs() / CELL.photocurrent_a;
            assert!(off < 5e-4, "{v}: {} {i}", c.current_a(v));
        }
    }

    #[test]
    fn less_light_is_less_current_and_hardly_less_voltage() {
        let dim = SingleDiode { photocurrent_a: 2.5e-4, ..CELL }.curve();
        let sun = CELL.curve();
        assert!(dim.mp().1 < sun.mp().1 / 80.0 && dim.v_oc_v() > 0.7 * sun.v_oc_v());
        let dark = SingleDiode { photocurrent_a: 0.0, ..CELL }.curve();
        assert_eq!((dark.mp(), dark.v_oc_v(), dark.current_a(0.1)), ((0.0, 0.0), 0.0, 0.0));
    }

    #[test]
    fn a_share_of_the_open_circuit_takes_no_more_than_the_maximum() {
        let light = Light::from(CELL.curve());
        let at = |share: f64| light.at_share(share).1 / light.max_w;
        assert!(
            at(0.8) > 0.97 && at(0.8) <= 1.0 && at(0.3) < 0.5 && at(0.98) < 0.5,
            "{} {} {}",
            at(0.8),
            at(0.3),
            at(0.98)
        );
        assert_eq!(Light::from(1e-3).at_share(0.5), (None, 1e-3));
    }

    #[test]
    fn measured_points_are_checked_and_ended() {
        // A resistor of 100 ohm behind 2 V: the maximum is 10 mW at 1 V.
        let c = IvCurve::new(&[0.0, 0.5, 1.5], &[20e-3, 15e-3, 5e-3]).unwrap();
        assert!((c.v_oc_v() - 2.0).abs() < 1e-12 && (c.mp().0 - 1.0).abs() < 1e-12);
        assert!((c.mp().1 - 10e-3).abs() < 1e-15 && (c.current_a(1.9) - 1e-3).abs() < 1e-15);
        let crossing = IvCurve::new(&[0.0, 1.0, 3.0], &[20e-3, 10e-3, -10e-3]).unwrap();
        assert!((crossing.v_oc_v() - 2.0).abs() < 1e-12);
        let told = |v: &[f64], i: &[f64]| IvCurve::new(v, i).unwrap_err();
        assert!(told(&[0.0, 1.0], &[1.0]).contains("2 voltages and 1 currents"));
        assert!(told(&[0.0, 0.0], &[1.0, 0.0]).contains("from 0 to 0"));
        assert!(told(&[0.0, f64::NAN], &[1.0, 0.0]).contains("NaN V"));
        assert!(told(&[0.0], &[1.0]).contains("1 points"));
    }
}
