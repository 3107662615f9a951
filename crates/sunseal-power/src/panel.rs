// SPDX-License-Identifier: MIT OR Apache-2.0
//! A panel's law: the curve in a light and at a temperature, from what its datasheet prints.
//!
//! Two diodes of idealities 1 and `n` are fitted to the four points at standard test conditions of a
//! crystalline cell. The points leave open how much of the dark current goes through which, what `n` is, and
//! how much of the shunt is a resistor that the light does not move: the brightest and the darkest of these
//! readings bound what the panel gives in little light, and what is told is the reading in their middle. A
//! printed point at low light leaves only readings that meet it. Any other cell is told by its printed
//! points, and asked outside them it is refused.

use crate::parts::{PanelPart, PanelPoint};
use crate::{IvCurve, SingleDiode, TwoDiode};

/// Boltzmann's constant by the elementary charge, k / q.
const BOLTZMANN_V_PER_K: f64 = 1.380_649e-23 / 1.602_176_634e-19;
const STC_C: f64 = 25.0;
const STC_W_M2: f64 = 1000.0;
const ZERO_C_K: f64 = 273.15;
/// Idealities of the second diode: recombination in the junction has 2 (Sah, Noyce and Shockley 1957), and
/// the cut edges of small cells up to 3: recorded curves of KXOB25 cells lie between the two.
const SECOND: [f64; 2] = [2.0, 3.0];
/// The conductance of a shunt that the light does not move, at most, in units of i_sc / v_oc: a KXOB25-05X3F
/// (2.07 V, 19.5 mA) was recorded with 150 to 384 kOhm near its short circuit, and 150 kOhm are so much.
const OHMIC: f64 = 1.0 / 1413.0;
/// Around its maximum the power is flat: 5 % beside it in voltage it has fallen by less than 2 %, so a printed
/// voltage says no more. The printed power is met. The curves recorded of KXOB25 cells need 4.7 %.
const FLAT: [f64; 7] = [0.95, 0.967, 0.983, 1.0, 1.017, 1.033, 1.05];
/// Brighter than this all readings are alike, as they meet at the datasheet's own light.
const ALIKE_W_M2: f64 = 800.0;
/// Series resistances that a fit tries for a change of sign.
const TRIED: usize = 60;
/// Light between which the reading that is told goes straight over the light's logarithm.
const NODES: usize = 36;
const LEAST_W_M2: f64 = 1e-2;
const MOST_W_M2: f64 = 1500.0;
/// A printed power at low light that no reading meets within this share is a mistake.
const MEETS: f64 = 0.1;
/// Ideality of a cell beyond its table's points, in the range that the table names: 0 to 2.
const BEYOND: [f64; 2] = [0.0, 2.0];
/// Points of a curve through a table's three.
const SHAPE: usize = 64;

/// A panel's curve in any light.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    law: Law,
}

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Diodes(Diodes),
    Printed(Printed),
}

impl Panel {
    /// Fits a panel.
    ///
    /// # Errors
    /// A clause that says what of the part is missing or cannot be.
    pub fn new(part: &PanelPart) -> Result<Self, String> {
        let law = match part.point.as_slice() {
            [] => Law::Diodes(Diodes::new(part)?),
            points => Law::Printed(Printed::new(part, points)?),
        };
        Ok(Self { law })
    }

    /// True if its light is told in lux, and not in W/m2 of the sun's spectrum.
    #[must_use]
    pub fn in_lux(&self) -> bool {
        matches!(&self.law, Law::Printed(p) if p.in_lux)
    }

    /// Its power at standard test conditions, or in the brightest light of its table.
    #[must_use]
    pub fn rated_w(&self) -> f64 {
        let light = match &self.law {
            Law::Diodes(_) => STC_W_M2,
            Law::Printed(p) => p.range[1],
        };
        self.mp(light, STC_C).map_or(0.0, |(v, i)| v * i)
    }

    /// Two diodes in a light and at a cell's temperature; none of a panel that is told by points.
    #[must_use]
    pub fn cell(&self, light: f64, cell_c: f64) -> Option<TwoDiode> {
        match &self.law {
            Law::Diodes(d) => Some(d.cell(&d.told(light), light, cell_c)),
            Law::Printed(_) => None,
        }
    }

    /// The curve in a light and at a cell's temperature.
    ///
    /// # Errors
    /// A clause if the light is outside of a table.
    pub fn curve(&self, light: f64, cell_c: f64) -> Result<IvCurve, String> {
        match &self.law {
            Law::Diodes(d) => Ok(d.cell(&d.told(light), light, cell_c).curve()),
            Law::Printed(p) => Ok(p.at(light, cell_c, middle(BEYOND))?.curve()),
        }
    }

    /// Voltage and current at the maximum power point.
    ///
    /// # Errors
    /// A clause if the light is outside of a table.
    pub fn mp(&self, light: f64, cell_c: f64) -> Result<(f64, f64), String> {
        match &self.law {
            Law::Diodes(d) => Ok(d.cell(&d.told(light), light, cell_c).mp()),
            Law::Printed(p) => {
                let (v, w) = p.at(light, cell_c, middle(BEYOND))?.curve().mp();
                Ok((v, if v > 0.0 { w / v } else { 0.0 }))
            }
        }
    }

    /// The least and the most power that the datasheet leaves open in a light, over what is told.
    ///
    /// # Errors
    /// A clause if the light is outside of a table.
    pub fn ends(&self, light: f64) -> Result<(f64, f64), String> {
        match &self.law {
            Law::Diodes(d) => Ok(d.ends(light)),
            Law::Printed(p) => p.ends(light),
        }
    }
}

fn middle([low, high]: [f64; 2]) -> f64 {
    f64::midpoint(low, high)
}

// --- Diodes ----------------------------------------------------------------------------------

/// Figures that a datasheet prints at standard test conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sheet {
    v_oc_v: f64,
    i_sc_a: f64,
    v_mp_v: f64,
    i_mp_a: f64,
    cells: f64,
    alpha_per_k: f64,
    beta_per_k: f64,
}

/// One of the fits that a datasheet leaves open, at standard test conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    photocurrent_a: f64,
    series_ohm: f64,
    /// Conductance of the shunt that goes with the light.
    light_s: f64,
    /// That which does not.
    ohmic_s: f64,
    /// Share of the dark current at the open circuit that goes through the second diode.
    second: f64,
    /// Ideality of the second diode.
    ideality: f64,
    /// Voltage at the maximum power point.
    v_mp_v: f64,
}

impl Reading {
    fn mixed(&self, other: &Self, way: f64) -> Self {
        let mix = |a: f64, b: f64| a + (b - a) * way;
        Self {
            photocurrent_a: mix(self.photocurrent_a, other.photocurrent_a),
            series_ohm: mix(self.series_ohm, other.series_ohm),
            light_s: mix(self.light_s, other.light_s),
            ohmic_s: mix(self.ohmic_s, other.ohmic_s),
            second: mix(self.second, other.second),
            ideality: mix(self.ideality, other.ideality),
            v_mp_v: mix(self.v_mp_v, other.v_mp_v),
        }
    }
}

/// Ideality of the second diode, conductance of a shunt that the light does not move, voltage at the maximum.
type Kind = (f64, f64, f64);

/// The readings that are told over the logarithm of the light, and what the others give.
#[derive(Clone, Debug, PartialEq)]
struct Diodes {
    sheet: Sheet,
    ln_light: Vec<f64>,
    told: Vec<Reading>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Diodes {
    fn new(part: &PanelPart) -> Result<Self, String> {
        let sheet = Sheet::of(part)?;
        let point = match (part.low_light_w_m2, part.low_light_p_mp_mw) {
            (Some(light), Some(mw)) if light > 0.0 && light < STC_W_M2 && mw > 0.0 => {
                Some((light, mw * 1e-3))
            }
            (None, None) => None,
            (light, mw) => {
                let said = [light, mw].map(|x| x.map_or("nothing".to_owned(), |x| x.to_string()));
                return Err(format!(
                    "low_light_W_m2 is {} and low_light_p_mp_mW {}; a point at low light has both, above zero and below 1000 W/m2",
                    said[0], said[1]
                ));
            }
        };
        let open = sheet.open(point)?;
        let mut light: Vec<f64> = (0..NODES)
            .map(|k| LEAST_W_M2 * (MOST_W_M2 / LEAST_W_M2).powf(k as f64 / (NODES - 1) as f64))
            .chain([STC_W_M2])
            .chain(point.map(|p| p.0))
            .collect();
        light.sort_by(f64::total_cmp);
        let mut made = Self {
            sheet,
            ln_light: Vec::new(),
            told: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
        };
        for at in light {
            let told = match made.told.last() {
                Some(same) if at > ALIKE_W_M2 => *same,
                _ => sheet.middle(&open, point.is_some(), at),
            };
            let told_w = sheet.power_w(&told, at);
            let (low_w, high_w) = extremes(open.iter().map(|r| sheet.power_w(r, at)));
            made.ln_light.push(at.ln());
            made.told.push(told);
            made.low.push((low_w / told_w).min(1.0));
            made.high.push((high_w / told_w).max(1.0));
        }
        Ok(made)
    }

    /// Node below a light and the way to the next, held at the ends.
    fn place(&self, light: f64) -> (usize, usize, f64) {
        let x = light.max(LEAST_W_M2).ln();
        let last = self.ln_light.len() - 1;
        let i = self.ln_light.partition_point(|&n| n <= x).clamp(1, last) - 1;
        let way = (x - self.ln_light[i]) / (self.ln_light[i + 1] - self.ln_light[i]);
        (i, i + 1, way.clamp(0.0, 1.0))
    }

    fn told(&self, light: f64) -> Reading {
        let (i, j, way) = self.place(light);
        self.told[i].mixed(&self.told[j], way)
    }

    fn ends(&self, light: f64) -> (f64, f64) {
        let (i, j, way) = self.place(light);
        let at = |of: &[f64]| of[i] + (of[j] - of[i]) * way;
        (at(&self.low), at(&self.high))
    }

    fn cell(&self, reading: &Reading, light_w_m2: f64, cell_c: f64) -> TwoDiode {
        self.sheet.cell(reading, light_w_m2, cell_c)
    }
}

impl Sheet {
    fn of(part: &PanelPart) -> Result<Self, String> {
        let figure = |name: &str, value: Option<f64>| {
            value.filter(|x| x.is_finite() && *x > 0.0).ok_or_else(|| match value {
                None => format!(
                    "lacks {name}; a panel has its figures at standard test conditions, or printed points [[panel.point]]"
                ),
                Some(x) => format!("{name} is {x}; it must be above zero"),
            })
        };
        let per_k = |name: &str, value: Option<f64>| {
            value
                .map(|p| p / 100.0)
                .ok_or_else(|| format!("lacks {name}, by which its cell's temperature counts"))
        };
        let sheet = Self {
            v_oc_v: figure("v_oc_v", part.v_oc_v)?,
            i_sc_a: figure("i_sc_mA", part.i_sc_ma)? * 1e-3,
            v_mp_v: figure("v_mp_v", part.v_mp_v)?,
            i_mp_a: figure("i_mp_mA", part.i_mp_ma)? * 1e-3,
            cells: f64::from(part.cells_in_series),
            alpha_per_k: per_k("alpha_sc_percent_per_k", part.alpha_sc_percent_per_k)?,
            beta_per_k: per_k("beta_oc_percent_per_k", part.beta_oc_percent_per_k)?,
        };
        if part.light_range.is_some() {
            return Err(
                "light_range is of a table of points [[panel.point]], and there is none".to_owned()
            );
        }
        if part.cells_in_series == 0 || sheet.v_mp_v >= sheet.v_oc_v || sheet.i_mp_a >= sheet.i_sc_a
        {
            return Err(format!(
                "{} cells, v_mp_v {} of v_oc_v {} and i_mp_mA {} of i_sc_mA {} are no panel; the maximum power lies below both",
                part.cells_in_series,
                sheet.v_mp_v,
                sheet.v_oc_v,
                sheet.i_mp_a * 1e3,
                sheet.i_sc_a * 1e3
            ));
        }
        Ok(sheet)
    }

    fn thermal_v(&self, cell_c: f64) -> f64 {
        self.cells * BOLTZMANN_V_PER_K * (cell_c + ZERO_C_K)
    }

    /// Two diodes of a reading. The photocurrent and a part of the shunt go with the light (De Soto 2006); the
    /// saturation currents are those that give the open-circuit voltage of the datasheet's temperature
    /// coefficient (Villalva, Gazoli and Filho 2009).
    fn cell(&self, r: &Reading, light_w_m2: f64, cell_c: f64) -> TwoDiode {
        let warmer_k = cell_c - STC_C;
        let a = self.thermal_v(cell_c);
        let i_l = r.photocurrent_a * (1.0 + self.alpha_per_k * warmer_k);
        let v_oc = self.v_oc_v * (1.0 + self.beta_per_k * warmer_k);
        let dark_a = i_l - v_oc * (r.light_s + r.ohmic_s);
        let saturation = |share: f64, a: f64| share * dark_a / (v_oc / a).exp_m1();
        let share = light_w_m2 / STC_W_M2;
        TwoDiode {
            first: SingleDiode {
                photocurrent_a: i_l * share,
                saturation_a: saturation(1.0 - r.second, a),
                series_ohm: r.series_ohm,
                shunt_ohm: 1.0 / (r.light_s * share + r.ohmic_s),
                n_ns_vth_v: a,
            },
            saturation_2_a: saturation(r.second, a * r.ideality),
            n_ns_vth_2_v: a * r.ideality,
        }
    }

    fn power_w(&self, r: &Reading, light_w_m2: f64) -> f64 {
        let (v, i) = self.cell(r, light_w_m2, STC_C).mp();
        v * i
    }

    /// Fits photocurrent, saturation current, series resistance and shunt, so that all four points are met, the
    /// maximum at the voltage of a kind.
    ///
    /// For a series resistance the equations at short circuit, open circuit and maximum power point are linear in
    /// the other three; the series resistance is the one at which the power has its maximum there.
    fn fit(&self, second: f64, (ideality, ohmic_s, v_mp_v): Kind) -> Option<Reading> {
        let i_mp_a = self.v_mp_v * self.i_mp_a / v_mp_v;
        let a = [self.thermal_v(STC_C), self.thermal_v(STC_C) * ideality];
        let share = [1.0 - second, second];
        let scale = a.map(|a| (self.v_oc_v / a).exp_m1());
        let dark = |x: f64| (0..2).map(|k| share[k] * (x / a[k]).exp_m1() / scale[k]).sum::<f64>();
        let bend =
            |x: f64| (0..2).map(|k| share[k] / a[k] * (x / a[k]).exp() / scale[k]).sum::<f64>();
        let linear = |r: f64| {
            let (x, y) = (self.i_sc_a * r, v_mp_v + i_mp_a * r);
            let (p, q) = (1.0 - dark(x), self.v_oc_v - x);
            let (s, t) = (1.0 - dark(y), self.v_oc_v - y);
            let whole = p * t - q * s;
            let i_0 = (self.i_sc_a * t - q * i_mp_a) / whole;
            (i_0, (p * i_mp_a - self.i_sc_a * s) / whole)
        };
        let slope = |r: f64| {
            let (i_0, g) = linear(r);
            let s = i_0 * bend(v_mp_v + i_mp_a * r) + g;
            i_mp_a - v_mp_v * s / (1.0 + s * r)
        };
        let most = (self.v_oc_v - v_mp_v) / i_mp_a * 0.999;
        let tried = |k: usize| most * k as f64 / TRIED as f64;
        for k in 0..TRIED {
            let (mut low, mut high) = (tried(k), tried(k + 1));
            if slope(low) * slope(high) >= 0.0 {
                continue;
            }
            let falls = slope(low) > 0.0;
            for _ in 0..50 {
                let mid = f64::midpoint(low, high);
                if (slope(mid) > 0.0) == falls { low = mid } else { high = mid }
            }
            let (i_0, g) = linear(high);
            if g >= ohmic_s && i_0 > 0.0 {
                return Some(Reading {
                    photocurrent_a: i_0 + g * self.v_oc_v,
                    series_ohm: high,
                    light_s: g - ohmic_s,
                    ohmic_s,
                    second,
                    ideality,
                    v_mp_v,
                });
            }
        }
        None
    }

    /// The fit whose second diode takes the most, with which the curve still passes.
    fn darkest(&self, kind: Kind) -> Option<Reading> {
        let mut best = self.fit(0.0, kind)?;
        let (mut low, mut high) = (0.0, 1.0);
        if let Some(whole) = self.fit(1.0, kind) {
            return Some(whole);
        }
        while high - low > 1e-4 {
            let mid = f64::midpoint(low, high);
            match self.fit(mid, kind) {
                Some(fit) => (best, low) = (fit, mid),
                None => high = mid,
            }
        }
        Some(best)
    }

    /// The readings that the datasheet leaves open: with a printed point, those that meet it.
    fn open(&self, point: Option<(f64, f64)>) -> Result<Vec<Reading>, String> {
        let ohmic_s = OHMIC * self.i_sc_a / self.v_oc_v;
        let volts = FLAT.map(|share| share * self.v_mp_v);
        let bright: Vec<Reading> =
            volts.iter().filter_map(|&v| self.fit(0.0, (1.0, 0.0, v))).collect();
        let kinds = volts
            .iter()
            .flat_map(|&v| SECOND.iter().flat_map(move |&n| [0.0, ohmic_s].map(|g| (n, g, v))));
        let dark: Vec<Reading> = kinds.filter_map(|kind| self.darkest(kind)).collect();
        if bright.is_empty() || dark.is_empty() {
            return Err(format!(
                "no curve of diodes passes through v_oc_v {}, i_sc_mA {}, v_mp_v {}, i_mp_mA {} of {} cells in series, as it does through a crystalline cell's; of another cell give the printed points [[panel.point]]",
                self.v_oc_v,
                self.i_sc_a * 1e3,
                self.v_mp_v,
                self.i_mp_a * 1e3,
                self.cells
            ));
        }
        let Some((light, stated_w)) = point else {
            return Ok(bright.into_iter().chain(dark).collect());
        };
        let meets: Vec<Reading> = dark.iter().map(|d| self.meeting(d, light, stated_w)).collect();
        let power = |r: &Reading| self.power_w(r, light);
        let off = |r: &Reading| (power(r) / stated_w - 1.0).abs();
        let kept: Vec<Reading> = meets.iter().copied().filter(|r| off(r) < 1e-3).collect();
        if !kept.is_empty() {
            return Ok(kept);
        }
        // Printed figures are rounded: what comes nearest may be a little off.
        let nearest = meets.iter().copied().min_by(|a, b| off(a).total_cmp(&off(b)));
        match nearest {
            Some(r) if off(&r) < MEETS => Ok(vec![r]),
            _ => {
                let (low, high) = extremes(dark.iter().chain(&bright).map(power));
                Err(format!(
                    "low_light_p_mp_mW is {:.4} at {light} W/m2, where curves through its other points give {:.4} to {:.4}; is it in these units?",
                    stated_w * 1e3,
                    low * 1e3,
                    high * 1e3
                ))
            }
        }
    }

    /// The reading of a kind whose second diode takes as much as a printed power says, or an end of its kind.
    fn meeting(&self, dark: &Reading, light_w_m2: f64, stated_w: f64) -> Reading {
        let kind = (dark.ideality, dark.ohmic_s, dark.v_mp_v);
        let fit = |second: f64| self.fit(second, kind).unwrap_or(*dark);
        let (mut low, mut high) = (0.0, dark.second);
        if self.power_w(dark, light_w_m2) >= stated_w {
            return *dark;
        }
        for _ in 0..28 {
            let mid = f64::midpoint(low, high);
            if self.power_w(&fit(mid), light_w_m2) > stated_w { low = mid } else { high = mid }
        }
        fit(low)
    }

    /// A dark reading with a power: what of its shunt the light does not move becomes less, then its second diode.
    fn brightened(&self, dark: &Reading, light_w_m2: f64, whole_w: f64) -> Reading {
        let at = |way: f64| {
            let ohmic_s = dark.ohmic_s * (1.0 - way).max(0.0);
            let second = dark.second * (2.0 - way).min(1.0);
            self.fit(second, (dark.ideality, ohmic_s, dark.v_mp_v)).unwrap_or(*dark)
        };
        let (mut low, mut high) = (0.0, 2.0);
        for _ in 0..28 {
            let mid = f64::midpoint(low, high);
            if self.power_w(&at(mid), light_w_m2) < whole_w { low = mid } else { high = mid }
        }
        at(f64::midpoint(low, high))
    }

    /// The reading in the middle of what is open at a light.
    fn middle(&self, open: &[Reading], met: bool, light_w_m2: f64) -> Reading {
        let power = |r: &Reading| self.power_w(r, light_w_m2);
        let by = |a: &&Reading, b: &&Reading| power(a).total_cmp(&power(b));
        let (Some(dark), Some(bright)) = (open.iter().min_by(by), open.iter().max_by(by)) else {
            unreachable!("a panel without a reading is refused")
        };
        let whole_w = f64::midpoint(power(dark), power(bright));
        let off = |r: &Reading| (power(r) - whole_w).abs();
        let mut tried = open.to_vec();
        if met {
            // Between two that meet the printed point: what is between them does, too, within little.
            let mix = |way: f64| {
                let r = dark.mixed(bright, way);
                self.fit(r.second, (r.ideality, r.ohmic_s, r.v_mp_v))
            };
            let (mut a, mut b) = (0.0, 1.0);
            for _ in 0..24 {
                let way = f64::midpoint(a, b);
                match mix(way) {
                    Some(r) if power(&r) < whole_w => (a, _) = (way, tried.push(r)),
                    Some(r) => (b, _) = (way, tried.push(r)),
                    None => break,
                }
            }
        } else {
            tried.push(self.brightened(dark, light_w_m2, whole_w));
        }
        tried.iter().copied().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(*dark)
    }
}

fn extremes(of: impl Iterator<Item = f64>) -> (f64, f64) {
    of.fold((f64::INFINITY, 0.0), |(low, high), x| (x.min(low), x.max(high)))
}

// --- Printed points --------------------------------------------------------------------------

/// Points of a datasheet over the light.
#[derive(Clone, Debug, PartialEq)]
struct Printed {
    in_lux: bool,
    /// Points by growing light, with their shapes.
    points: Vec<(f64, Shape)>,
    range: [f64; 2],
    cells: f64,
    /// Temperature coefficients of current and voltage.
    per_k: Option<(f64, f64)>,
}

/// Three points of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    v_oc_v: f64,
    i_sc_a: f64,
    v_mp_v: f64,
    i_mp_a: f64,
}

impl Shape {
    /// A curve through the three points: i_sc (1 - (v / v_oc)^m).
    fn curve(&self) -> IvCurve {
        let m = (1.0 - self.i_mp_a / self.i_sc_a).ln() / (self.v_mp_v / self.v_oc_v).ln();
        let at = |k: usize| k as f64 / SHAPE as f64;
        let v: Vec<f64> = (0..=SHAPE).map(|k| self.v_oc_v * at(k)).collect();
        let i: Vec<f64> = (0..=SHAPE).map(|k| self.i_sc_a * (1.0 - at(k).powf(m))).collect();
        self.through(&v, &i)
    }

    /// The least that a curve through the points can give: it nowhere lies below the lines between them.
    fn chords(&self) -> IvCurve {
        self.through(&[0.0, self.v_mp_v, self.v_oc_v], &[self.i_sc_a, self.i_mp_a, 0.0])
    }

    fn through(&self, v: &[f64], i: &[f64]) -> IvCurve {
        IvCurve::new(v, i).unwrap_or_else(|e| unreachable!("{self:?} was checked: {e}"))
    }
}

impl Printed {
    fn new(part: &PanelPart, points: &[PanelPoint]) -> Result<Self, String> {
        let figures = [
            ("v_oc_v", part.v_oc_v),
            ("i_sc_mA", part.i_sc_ma),
            ("v_mp_v", part.v_mp_v),
            ("i_mp_mA", part.i_mp_ma),
            ("low_light_W_m2", part.low_light_w_m2),
            ("low_light_p_mp_mW", part.low_light_p_mp_mw),
        ];
        if let Some((name, _)) = figures.iter().find(|(_, x)| x.is_some()) {
            return Err(format!(
                "{name} stands beside [[panel.point]], which takes its place; one of the two is enough"
            ));
        }
        let in_lux = points.iter().all(|p| p.lux.is_some() && p.w_m2.is_none());
        if !in_lux && points.iter().any(|p| p.w_m2.is_none() || p.lux.is_some()) {
            return Err("each [[panel.point]] has its light in lux, or each in W_m2, and not both"
                .to_owned());
        }
        let mut made: Vec<(f64, Shape)> = Vec::new();
        for p in points {
            let light = p.lux.or(p.w_m2).unwrap_or(0.0);
            let ordered =
                0.0 < p.v_mp_v && p.v_mp_v < p.v_oc_v && 0.0 < p.i_mp_ua && p.i_mp_ua < p.i_sc_ua;
            if !(ordered && p.v_oc_v.is_finite() && p.i_sc_ua.is_finite()) {
                return Err(format!(
                    "the point at {light} has v_mp_v {} of v_oc_v {} and i_mp_uA {} of i_sc_uA {}; both lie between zero and the other",
                    p.v_mp_v, p.v_oc_v, p.i_mp_ua, p.i_sc_ua
                ));
            }
            if !(light > made.last().map_or(0.0, |m| m.0) && light.is_finite()) {
                return Err(format!(
                    "the light of a [[panel.point]] is {light}; it is above zero and grows from point to point"
                ));
            }
            let (i_sc_a, i_mp_a) = (p.i_sc_ua * 1e-6, p.i_mp_ua * 1e-6);
            made.push((light, Shape { v_oc_v: p.v_oc_v, i_sc_a, v_mp_v: p.v_mp_v, i_mp_a }));
        }
        let own = [made[0].0, made[made.len() - 1].0];
        let range = part.light_range.unwrap_or(own);
        if !(0.0 < range[0] && range[0] <= own[0] && own[1] <= range[1] && range[1].is_finite()) {
            return Err(format!(
                "light_range is {range:?}; it holds the points, which go from {} to {}",
                own[0], own[1]
            ));
        }
        let per_k = part
            .alpha_sc_percent_per_k
            .zip(part.beta_oc_percent_per_k)
            .map(|(a, b)| (a / 100.0, b / 100.0));
        if !in_lux && per_k.is_none() {
            return Err("lacks alpha_sc_percent_per_k and beta_oc_percent_per_k, by which the temperature of a cell in the sun counts".to_owned());
        }
        Ok(Self { in_lux, points: made, range, cells: f64::from(part.cells_in_series), per_k })
    }

    /// The three points in a light; beyond those that are printed the voltage goes by an ideality.
    fn at(&self, light: f64, cell_c: f64, ideality: f64) -> Result<Shape, String> {
        let unit = if self.in_lux { "lux" } else { "W/m2" };
        if !(self.range[0] <= light && light <= self.range[1]) {
            let table = match self.range {
                [low, high] if low == high => format!("has the one light of {low} {unit}"),
                [low, high] => format!("goes from {low} to {high} {unit}"),
            };
            return Err(format!("is asked for {light:.4} {unit}, and its table {table}"));
        }
        let above = self.points.partition_point(|p| p.0 <= light);
        let mut shape = match (above.checked_sub(1).map(|k| self.points[k]), self.points.get(above))
        {
            (Some((a, low)), Some(&(b, high))) => {
                let way = (light / a).ln() / (b / a).ln();
                let mix = |x: f64, y: f64| x + (y - x) * way;
                let by_ln = |x: f64, y: f64| mix(x.ln(), y.ln()).exp();
                Shape {
                    v_oc_v: mix(low.v_oc_v, high.v_oc_v),
                    i_sc_a: by_ln(low.i_sc_a, high.i_sc_a),
                    v_mp_v: mix(low.v_mp_v, high.v_mp_v),
                    i_mp_a: by_ln(low.i_mp_a, high.i_mp_a),
                }
            }
            (Some((a, s)), None) | (None, Some(&(a, s))) => {
                let more = light / a;
                let lift_v =
                    ideality * self.cells * BOLTZMANN_V_PER_K * (STC_C + ZERO_C_K) * more.ln();
                let v_oc_v = (s.v_oc_v + lift_v).max(0.5 * s.v_oc_v);
                // The fill factor stays.
                Shape {
                    v_oc_v,
                    i_sc_a: s.i_sc_a * more,
                    v_mp_v: s.v_mp_v * v_oc_v / s.v_oc_v,
                    i_mp_a: s.i_mp_a * more,
                }
            }
            (None, None) => unreachable!("a table has points"),
        };
        if let Some((alpha, beta)) = self.per_k {
            let (i, v) = (1.0 + alpha * (cell_c - STC_C), 1.0 + beta * (cell_c - STC_C));
            shape = Shape {
                v_oc_v: shape.v_oc_v * v,
                i_sc_a: shape.i_sc_a * i,
                v_mp_v: shape.v_mp_v * v,
                i_mp_a: shape.i_mp_a * i,
            };
        }
        Ok(shape)
    }

    /// The lines between the points at the lower end, and as much above what is told.
    fn ends(&self, light: f64) -> Result<(f64, f64), String> {
        let told_w = self.at(light, STC_C, middle(BEYOND))?.curve().mp().1;
        let low_w = BEYOND
            .iter()
            .map(|&n| self.at(light, STC_C, n).map(|s| s.chords().mp().1))
            .try_fold(f64::INFINITY, |least, w| w.map(|w| least.min(w)))?;
        Ok((low_w / told_w, 2.0 - low_w / told_w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(figures: [f64; 4], cells: u32) -> PanelPart {
        PanelPart {
            v_oc_v: Some(figures[0]),
            i_sc_ma: Some(figures[1]),
            v_mp_v: Some(figures[2]),
            i_mp_ma: Some(figures[3]),
            cells_in_series: cells,
            alpha_sc_percent_per_k: Some(0.05),
            beta_oc_percent_per_k: Some(-0.33),
            low_light_w_m2: None,
            low_light_p_mp_mw: None,
            point: Vec::new(),
            light_range: None,
            source: String::new(),
            note: String::new(),
            recalled: false,
            assumed: None,
        }
    }

    const SLMD600: [f64; 4] = [6.3, 25.0, 5.01, 22.3];
    const KXOB25: [f64; 4] = [2.07, 19.5, 1.67, 18.4];

    #[test]
    fn at_full_light_a_panel_is_its_datasheet() {
        for (figures, cells) in [(SLMD600, 10), ([2.52, 50.0, 2.0, 44.6], 4), (KXOB25, 3)] {
            let panel = Panel::new(&part(figures, cells)).unwrap();
            let cell = panel.cell(1000.0, 25.0).unwrap();
            let (v, i) = cell.mp();
            let got = [cell.v_oc_v(), cell.curve().current_a(0.0) * 1e3, v, i * 1e3];
            for ((got, want), most) in got.iter().zip(figures).zip([1e-6, 3e-3, 0.051, 0.053]) {
                assert!((got / want - 1.0).abs() < most, "{got} {want}");
            }
            assert!((v * i / (figures[2] * figures[3] * 1e-3) - 1.0).abs() < 1e-6);
            let (low, high) = panel.ends(1000.0).unwrap();
            assert!(low > 0.999 && high < 1.001, "{low} {high}");
        }
    }

    #[test]
    fn what_is_told_stands_in_the_middle_and_never_falls_with_the_light() {
        let panel = Panel::new(&part(SLMD600, 10)).unwrap();
        let mut before = 0.0;
        for k in 0..60 {
            let light = 0.02 * 10f64.powf(f64::from(k) / 12.5);
            let (low, high) = panel.ends(light).unwrap();
            assert!((low + high - 2.0).abs() < 0.03, "{light}: {low} {high}");
            let (v, i) = panel.mp(light, 25.0).unwrap();
            assert!(v * i > before, "{light}");
            before = v * i;
        }
    }

    /// Recorded on three cells at a wrist outdoors (jogging_10m.iv of nes-lab/shepherd-tools at c5078eb2): medians of
    /// 30,818 curves with a short-circuit current of 0.611 mA, which is 31.3 W/m2, are 1.550 V open and 0.570 mW.
    #[test]
    fn recorded_curves_lie_within_what_the_datasheet_leaves_open() {
        let panel = Panel::new(&part(KXOB25, 3)).unwrap();
        let (v, i) = panel.mp(31.3, 25.0).unwrap();
        let (low, high) = panel.ends(31.3).unwrap();
        assert!(low * v * i < 0.57e-3 && 0.57e-3 < high * v * i);
    }

    #[test]
    fn a_printed_point_at_low_light_is_met_and_narrows_what_is_open() {
        let open = Panel::new(&part(KXOB25, 3)).unwrap();
        let mut told = part(KXOB25, 3);
        (told.low_light_w_m2, told.low_light_p_mp_mw) = (Some(31.3), Some(0.57));
        let panel = Panel::new(&told).unwrap();
        let (v, i) = panel.mp(31.3, 25.0).unwrap();
        assert!((v * i / 0.57e-3 - 1.0).abs() < 5e-3, "{}", v * i);
        for light in [0.7, 3.5, 10.0, 100.0] {
            let ((low, high), (open_low, open_high)) =
                (panel.ends(light).unwrap(), open.ends(light).unwrap());
            assert!(
                high - low < 0.7 * (open_high - open_low),
                "{light}: {low} {high} of {open_low} {open_high}"
            );
        }
        told.low_light_p_mp_mw = Some(5.7);
        let refused = Panel::new(&told).unwrap_err();
        assert!(refused.starts_with("low_light_p_mp_mW is 5.7"), "{refused}");
    }

    fn amorphous() -> PanelPart {
        let point = PanelPoint {
            lux: Some(200.0),
            w_m2: None,
            v_oc_v: 5.0,
            i_sc_ua: 48.2,
            v_mp_v: 3.0,
            i_mp_ua: 45.7,
        };
        let mut part = part([0.0; 4], 8);
        (part.v_oc_v, part.i_sc_ma, part.v_mp_v, part.i_mp_ma) = (None, None, None, None);
        (part.point, part.light_range) = (vec![point], Some([50.0, 1000.0]));
        part
    }

    #[test]
    fn a_table_passes_through_its_points_and_ends_where_it_ends() {
        let mut told = amorphous();
        let panel = Panel::new(&told).unwrap();
        assert!(panel.in_lux() && panel.cell(200.0, 25.0).is_none());
        let curve = panel.curve(200.0, 25.0).unwrap();
        assert!(
            (curve.current_a(3.0) / 45.7e-6 - 1.0).abs() < 2e-3
                && (curve.v_oc_v() - 5.0).abs() < 1e-9
        );
        let (low, high) = panel.ends(200.0).unwrap();
        assert!(low > 0.9 && (low + high - 2.0).abs() < 1e-9);
        let (v, i) = panel.mp(1000.0, 25.0).unwrap();
        assert!(v > curve.mp().0 && i > 4.5 * curve.mp().1 / curve.mp().0);
        for light in [200.0, 500.0, 1000.0] {
            assert!(panel.ends(light).unwrap().0 > 0.7, "{light}");
        }
        let refused = panel.mp(2000.0, 25.0).unwrap_err();
        assert_eq!(refused, "is asked for 2000.0000 lux, and its table goes from 50 to 1000 lux");
        told.light_range = None;
        assert!(
            Panel::new(&told)
                .unwrap()
                .mp(201.0, 25.0)
                .unwrap_err()
                .contains("has the one light of 200 lux")
        );
        told.light_range = Some([300.0, 1000.0]);
        assert!(Panel::new(&told).unwrap_err().contains("it holds the points"));
        told.v_oc_v = Some(5.0);
        assert!(Panel::new(&told).unwrap_err().contains("v_oc_v stands beside [[panel.point]]"));
    }
}
