// SPDX-License-Identifier: MIT OR Apache-2.0
//! Harvest of a source over time: powers or whole curves, from files, arrays or a law; checked.
//!
//! The file is CSV: lines that begin with `#` say where it comes from (`# key: value`), then a head
//! line, then rows. `# step_s: 60` states the spacing; without it the first one counts. Heads:
//!
//! - `time_s,power_w` or `time_s,voltage_v,current_a` (at the maximum power point): between two rows
//!   the power is the mean of both, so that a trace holds exactly the energy of its trapezoids;
//! - `time_s,0,0.1,0.2,...`: voltages in volts; each row has the current at each of them in amperes,
//!   and holds until the next. The last row says when the one before ends;
//! - `time_s,photocurrent_a,saturation_a,series_ohm,shunt_ohm,n_ns_vth_v`: the single-diode equation's
//!   five figures (pvlib, `calcparams_desoto`); each row holds until the next, the last one ends. With
//!   `,saturation_2_a,n_ns_vth_2_v` behind them a second diode stands beside the first.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::{IvCurve, Light, TwoDiode};

/// Mistake in a trace, with its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HarvestError {
    /// The file cannot be read.
    #[error("harvest trace {path}: {reason}")]
    Read {
        /// Path of the file.
        path: String,
        /// Words of the operating system.
        reason: String,
    },
    /// Line of the file that cannot be read.
    #[error("harvest trace {path}, line {line}: {reason}")]
    Line {
        /// Path of the file, or "arrays".
        path: String,
        /// Line of the file; row of the arrays, from 1.
        line: usize,
        /// Clause that tells what is wrong and what would be right.
        reason: String,
    },
}

/// Harvest that a source offers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HarvestTrace {
    kind: Kind,
    provenance: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Trapezoids; the voltage at the maximum power point where it is known.
    Rows { time_s: Vec<f64>, power_w: Vec<f64>, voltage_v: Vec<f64> },
    /// Each power holds until the next edge; one edge more than powers.
    Steps { edge_s: Vec<f64>, power_w: Vec<f64> },
    /// On for the first part of each period.
    Periodic { on_w: f64, off_w: f64, period_s: f64, on_s: f64, duration_s: f64 },
    /// Each curve holds until the next edge; one edge more than curves.
    Curves { edge_s: Vec<f64>, light: Vec<Light> },
    /// The same, as figures from which the curve is computed when it is asked for.
    Cell { edge_s: Vec<f64>, cell: Vec<TwoDiode>, last: Last },
}

/// The curve that was asked for last: the loop asks for the same one again and again.
#[derive(Debug, Default)]
struct Last(Mutex<Option<(usize, Light)>>);

impl Last {
    fn of(&self, piece: usize, compute: impl FnOnce() -> Light) -> Light {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((at, light)) if *at == piece => light.clone(),
            _ => kept.insert((piece, compute())).1.clone(),
        }
    }
}

impl Clone for Last {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Last {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Columns of a file.
#[derive(Clone, PartialEq)]
enum Head {
    Power,
    VoltageCurrent,
    Curves(Vec<f64>),
    /// With so many columns.
    Cell(usize),
}

/// Columns of a cell; the last two are its second diode's, and may be absent.
const CELL_HEAD: [&str; 8] = [
    "time_s",
    "photocurrent_a",
    "saturation_a",
    "series_ohm",
    "shunt_ohm",
    "n_ns_vth_v",
    "saturation_2_a",
    "n_ns_vth_2_v",
];

impl Head {
    fn parse(cells: &[&str]) -> Option<Self> {
        match cells {
            ["time_s", "power_w"] => Some(Self::Power),
            ["time_s", "voltage_v", "current_a"] => Some(Self::VoltageCurrent),
            all if all == CELL_HEAD || all == &CELL_HEAD[..6] => Some(Self::Cell(all.len())),
            ["time_s", grid @ ..] if grid.len() >= 2 => {
                grid.iter().map(|c| c.parse().ok()).collect::<Option<Vec<f64>>>().map(Self::Curves)
            }
            _ => None,
        }
    }

    fn columns(&self) -> usize {
        match self {
            Self::Power => 2,
            Self::VoltageCurrent => 3,
            Self::Curves(grid) => grid.len() + 1,
            Self::Cell(columns) => *columns,
        }
    }
}

impl HarvestTrace {
    /// Reads a file.
    ///
    /// # Errors
    /// If a line is not sound; the sentence names it.
    pub fn load(path: &Path) -> Result<Self, HarvestError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| HarvestError::Read { path: shown.clone(), reason: e.to_string() })?;
        Self::parse(&text, &shown)
    }

    /// Reads text; `path` is for messages.
    ///
    /// # Errors
    /// If a line is not sound; the sentence names it.
    pub fn parse(text: &str, path: &str) -> Result<Self, HarvestError> {
        let bad = |line: usize, reason: String| HarvestError::Line {
            path: path.to_owned(),
            line,
            reason,
        };
        let (mut provenance, mut head) = (Vec::new(), None::<Head>);
        let (mut rows, mut lines) = (Vec::<Vec<f64>>::new(), Vec::new());
        for (i, line) in text.lines().enumerate() {
            let (number, line) = (i + 1, line.trim());
            if let Some(note) = line.strip_prefix('#') {
                if let Some((k, v)) = note.split_once(':') {
                    provenance.push((k.trim().to_owned(), v.trim().to_owned()));
                }
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let Some(columns) = head.as_ref().map(Head::columns) else {
                head = Head::parse(&cells);
                if head.is_none() {
                    let want = "time_s,power_w or time_s,voltage_v,current_a, or time_s and a grid of voltages, or the five \
                                or seven figures of a cell";
                    return Err(bad(number, format!("the head is {line:?}; it must be {want}")));
                }
                continue;
            };
            if cells.len() != columns {
                return Err(bad(
                    number,
                    format!("{} cells where the head has {columns}", cells.len()),
                ));
            }
            let row: Result<Vec<f64>, _> = cells
                .iter()
                .map(|cell| {
                    cell.parse().map_err(|_| bad(number, format!("{cell:?} is not a number")))
                })
                .collect();
            rows.push(row?);
            lines.push(number);
        }
        let Some(head) = head else {
            return Err(bad(
                text.lines().count().max(1),
                "no head line; it must be time_s,power_w".into(),
            ));
        };
        let step = provenance.iter().find(|(k, _)| k == "step_s").and_then(|(_, v)| v.parse().ok());
        let place = Place { path, lines: &lines };
        let time_s: Vec<f64> = rows.iter().map(|r| r[0]).collect();
        let kind = match head {
            Head::Power => {
                Self::rows(time_s, rows.iter().map(|r| r[1]).collect(), Vec::new(), step, &place)
            }
            Head::VoltageCurrent => {
                if let Some(i) = rows.iter().position(|r| r[1] < 0.0 || r[2] < 0.0) {
                    return Err(bad(
                        lines[i],
                        "voltage or current is negative; both must be zero or more".into(),
                    ));
                }
                let power_w = rows.iter().map(|r| r[1] * r[2]).collect();
                Self::rows(time_s, power_w, rows.iter().map(|r| r[1]).collect(), step, &place)
            }
            Head::Curves(grid) => {
                let last = rows.len().saturating_sub(1);
                let currents: Vec<&[f64]> = rows[..last].iter().map(|r| &r[1..]).collect();
                Self::curves(time_s, &grid, &currents, step, &place)
            }
            Head::Cell(_) => {
                let last = rows.len().saturating_sub(1);
                let cell = rows[..last].iter().map(|r| cell_of(&r[1..])).collect();
                Self::cell(time_s, cell, step, &place)
            }
        }?;
        Ok(Self { kind, provenance })
    }

    /// Takes powers.
    ///
    /// # Errors
    /// If a row is not sound; the sentence names it, from 1.
    pub fn from_arrays(time_s: Vec<f64>, power_w: Vec<f64>) -> Result<Self, HarvestError> {
        if time_s.len() != power_w.len() {
            return Err(Place::ARRAYS.bad(
                time_s.len().min(power_w.len()),
                format!(
                    "{} times and {} powers; give one power for each time",
                    time_s.len(),
                    power_w.len()
                ),
            ));
        }
        let kind = Self::rows(time_s, power_w, Vec::new(), None, &Place::ARRAYS)?;
        Ok(Self { kind, provenance: Vec::new() })
    }

    /// Takes curves over one grid of voltages: row by row, each holds until the next time, so there is
    /// one time more than rows.
    ///
    /// # Errors
    /// If a row is not sound; the sentence names it, from 1.
    pub fn from_iv(
        time_s: Vec<f64>,
        voltage_v: &[f64],
        current_a: &[f64],
    ) -> Result<Self, HarvestError> {
        let rows = time_s.len().saturating_sub(1);
        if current_a.len() != rows * voltage_v.len() {
            return Err(Place::ARRAYS.bad(
                rows,
                format!(
                    "{} currents for {rows} curves of {} voltages; give one current for each voltage of each curve, and one \
                     time more than curves, at which the last one ends",
                    current_a.len(),
                    voltage_v.len()
                ),
            ));
        }
        let currents: Vec<&[f64]> = current_a.chunks_exact(voltage_v.len().max(1)).collect();
        let kind = Self::curves(time_s, voltage_v, &currents, None, &Place::ARRAYS)?;
        Ok(Self { kind, provenance: Vec::new() })
    }

    /// Takes the figures of a cell over time: each holds until the next time, so there is one time more
    /// than figures.
    ///
    /// # Errors
    /// If a row is not sound; the sentence names it, from 1.
    pub fn from_cell(time_s: Vec<f64>, cell: Vec<TwoDiode>) -> Result<Self, HarvestError> {
        let kind = Self::cell(time_s, cell, None, &Place::ARRAYS)?;
        Ok(Self { kind, provenance: Vec::new() })
    }

    /// A source of open-circuit voltages behind resistances, such as a thermoelectric generator, a rectified piezo or
    /// a rectenna: each holds until the next time, so there is one time more than voltages.
    ///
    /// # Errors
    /// If a figure is not sound; the sentence names its place, from 1.
    pub fn from_sources(
        edge_s: Vec<f64>,
        v_oc_v: &[f64],
        r_ohm: &[f64],
    ) -> Result<Self, HarvestError> {
        let bad = |row: usize, reason: String| Err(Place::ARRAYS.bad(row, reason));
        if v_oc_v.len() != r_ohm.len() || edge_s.len() != v_oc_v.len() + 1 || v_oc_v.is_empty() {
            return bad(
                0,
                format!(
                    "{} voltages, {} resistances and {} times; give one of each for each time, and a time at which the last ends",
                    v_oc_v.len(),
                    r_ohm.len(),
                    edge_s.len()
                ),
            );
        }
        if let Some(i) = edge_s.windows(2).position(|w| w[1] <= w[0] || !w[1].is_finite()) {
            return bad(
                i + 1,
                format!("time_s goes from {} to {}; it must grow", edge_s[i], edge_s[i + 1]),
            );
        }
        let mut light = Vec::with_capacity(v_oc_v.len());
        for (i, (&v, &r)) in v_oc_v.iter().zip(r_ohm).enumerate() {
            if !v.is_finite() || v < 0.0 || !r.is_finite() || r <= 0.0 {
                return bad(
                    i,
                    format!(
                        "{v} V behind {r} ohm; the voltage is zero or more, the resistance above zero"
                    ),
                );
            }
            light.push(match v > 0.0 {
                true => IvCurve::new(&[0.0, v], &[v / r, 0.0])
                    .map_err(|reason| Place::ARRAYS.bad(i, reason))?
                    .into(),
                false => Light::default(),
            });
        }
        Ok(Self { kind: Kind::Curves { edge_s, light }, provenance: Vec::new() })
    }

    /// The same power always.
    ///
    /// # Errors
    /// If the power or duration is not sound.
    pub fn constant(power_w: f64, duration_s: f64) -> Result<Self, HarvestError> {
        Self::from_arrays(vec![0.0, duration_s], vec![power_w; 2])
    }

    /// `on_w` for the first `on_s` of every `period_s`, else `off_w`.
    ///
    /// # Errors
    /// If a figure is not sound.
    pub fn periodic(
        on_w: f64,
        off_w: f64,
        period_s: f64,
        on_s: f64,
        duration_s: f64,
    ) -> Result<Self, HarvestError> {
        Place::LAW.zero_or_more(&[("on_w", on_w), ("off_w", off_w)])?;
        Place::LAW.positive(&[("period_s", period_s), ("duration_s", duration_s)])?;
        if !(on_s > 0.0 && on_s < period_s) {
            return Err(Place::LAW
                .bad(0, format!("on_s is {on_s}; it lies between 0 and period_s = {period_s}")));
        }
        let kind = Kind::Periodic { on_w, off_w, period_s, on_s, duration_s };
        Ok(Self { kind, provenance: Vec::new() })
    }

    /// On and off by turns, each for a time that is exponentially distributed: a Markov chain of two
    /// states. It begins off; the same seed gives the same times.
    ///
    /// # Errors
    /// If a figure is not sound, or more than ten million changes are expected.
    pub fn markov(
        on_w: f64,
        off_w: f64,
        mean_on_s: f64,
        mean_off_s: f64,
        duration_s: f64,
        seed: u64,
    ) -> Result<Self, HarvestError> {
        Place::LAW.zero_or_more(&[("on_w", on_w), ("off_w", off_w)])?;
        Place::LAW.positive(&[
            ("mean_on_s", mean_on_s),
            ("mean_off_s", mean_off_s),
            ("duration_s", duration_s),
        ])?;
        let changes = 2.0 * duration_s / (mean_on_s + mean_off_s);
        if changes > 1e7 {
            return Err(Place::LAW.bad(
                0,
                format!("mean_on_s = {mean_on_s} and mean_off_s = {mean_off_s} change {changes:.0} times in {duration_s} s; take longer ones, at most 1e7 changes"),
            ));
        }
        let (mut edge_s, mut power_w, mut random) = (vec![0.0], Vec::new(), seed);
        let (mut t, mut on) = (0.0, false);
        while t < duration_s {
            // SplitMix64 (Steele, Lea, Flood 2014); 53 bits are a share in (0, 1].
            random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = random;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^= z >> 31;
            let share = ((z >> 11) + 1) as f64 / (1u64 << 53) as f64;
            t += (-share.ln() * if on { mean_on_s } else { mean_off_s }).max(1e-9);
            edge_s.push(t.min(duration_s));
            power_w.push(if on { on_w } else { off_w });
            on = !on;
        }
        Ok(Self { kind: Kind::Steps { edge_s, power_w }, provenance: Vec::new() })
    }

    fn rows(
        time_s: Vec<f64>,
        power_w: Vec<f64>,
        voltage_v: Vec<f64>,
        step_s: Option<f64>,
        place: &Place<'_>,
    ) -> Result<Kind, HarvestError> {
        place.at_least_two(&time_s)?;
        for (i, (&t, &p)) in time_s.iter().zip(&power_w).enumerate() {
            if !t.is_finite() {
                return Err(place.bad(i, format!("time_s is {t}; it must be a number")));
            }
            if !p.is_finite() {
                return Err(place.bad(i, format!("the power is {p} W; it must be a number")));
            }
            if p < 0.0 {
                return Err(place.bad(i, format!("the power is {p} W; a panel gives zero or more")));
            }
        }
        place.grows(&time_s, step_s)?;
        Ok(Kind::Rows { time_s, power_w, voltage_v })
    }

    fn curves(
        edge_s: Vec<f64>,
        voltage_v: &[f64],
        currents: &[&[f64]],
        step_s: Option<f64>,
        place: &Place<'_>,
    ) -> Result<Kind, HarvestError> {
        place.at_least_two(&edge_s)?;
        let light: Result<Vec<Light>, HarvestError> = currents
            .iter()
            .enumerate()
            .map(|(row, i)| {
                IvCurve::new(voltage_v, i).map(Light::from).map_err(|e| place.bad(row, e))
            })
            .collect();
        let light = light?;
        place.grows(&edge_s, step_s)?;
        Ok(Kind::Curves { edge_s, light })
    }

    fn cell(
        edge_s: Vec<f64>,
        cell: Vec<TwoDiode>,
        step_s: Option<f64>,
        place: &Place<'_>,
    ) -> Result<Kind, HarvestError> {
        place.at_least_two(&edge_s)?;
        if cell.len() + 1 != edge_s.len() {
            return Err(place.bad(
                cell.len().min(edge_s.len()),
                format!(
                    "{} times and {} sets of figures; give one time more, at which the last ends",
                    edge_s.len(),
                    cell.len()
                ),
            ));
        }
        for (row, c) in cell.iter().enumerate() {
            c.check().map_err(|e| place.bad(row, e))?;
        }
        place.grows(&edge_s, step_s)?;
        Ok(Kind::Cell { edge_s, cell, last: Last::default() })
    }

    /// Head lines of the file: what it says of itself.
    #[must_use]
    pub fn provenance(&self) -> &[(String, String)] {
        &self.provenance
    }

    /// Length of the trace.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        match &self.kind {
            Kind::Rows { time_s: t, .. }
            | Kind::Steps { edge_s: t, .. }
            | Kind::Curves { edge_s: t, .. }
            | Kind::Cell { edge_s: t, .. } => t[t.len() - 1],
            Kind::Periodic { duration_s, .. } => *duration_s,
        }
    }

    /// Offer from `t_s` on, and the time until which it stays so. After the end it is nothing for ever.
    #[must_use]
    pub fn light(&self, t_s: f64) -> (Light, f64) {
        match &self.kind {
            Kind::Rows { time_s, power_w, voltage_v } => {
                let i = time_s.partition_point(|&t| t <= t_s);
                if i >= time_s.len() {
                    return (Light::default(), f64::INFINITY);
                }
                let i = i.max(1);
                let mean = |of: &[f64]| (of[i - 1] + of[i]) / 2.0;
                let v_mp_v = (!voltage_v.is_empty()).then(|| mean(voltage_v));
                (Light { max_w: mean(power_w), v_mp_v, curve: None }, time_s[i])
            }
            Kind::Steps { edge_s, power_w } => match piece(edge_s, t_s) {
                Some(i) => (power_w[i].into(), edge_s[i + 1]),
                None => (Light::default(), f64::INFINITY),
            },
            Kind::Periodic { duration_s, .. } if t_s >= *duration_s => {
                (Light::default(), f64::INFINITY)
            }
            Kind::Periodic { on_w, off_w, period_s, on_s, duration_s } => {
                let begin_s = (t_s / period_s).floor() * period_s;
                // The last bits of time must not make an interval of no length.
                let edges = [(begin_s + on_s, *on_w), (begin_s + period_s, *off_w)];
                let next = (begin_s + period_s + on_s, *on_w);
                let &(until_s, power_w) =
                    edges.iter().find(|e| e.0 > t_s * (1.0 + 1e-15)).unwrap_or(&next);
                (power_w.into(), until_s.min(*duration_s))
            }
            Kind::Curves { edge_s, light } => match piece(edge_s, t_s) {
                Some(i) => (light[i].clone(), edge_s[i + 1]),
                None => (Light::default(), f64::INFINITY),
            },
            Kind::Cell { edge_s, cell, last } => match piece(edge_s, t_s) {
                Some(i) => (last.of(i, || cell[i].curve().into()), edge_s[i + 1]),
                None => (Light::default(), f64::INFINITY),
            },
        }
    }

    /// The most power that can be taken from `t_s` on, and until when it stays so.
    #[must_use]
    pub fn at(&self, t_s: f64) -> (f64, f64) {
        let (light, until_s) = self.light(t_s);
        (light.max_w, until_s)
    }

    /// Offer at its best moment.
    #[must_use]
    pub fn peak(&self) -> Light {
        let best = |light: &mut dyn Iterator<Item = Light>| {
            light.max_by(|a, b| a.max_w.total_cmp(&b.max_w)).unwrap_or_default()
        };
        match &self.kind {
            Kind::Periodic { on_w, off_w, .. } => on_w.max(*off_w).into(),
            Kind::Steps { power_w, .. } => best(&mut power_w.iter().map(|p| Light::from(*p))),
            Kind::Rows { time_s, .. } => best(&mut time_s.iter().map(|t| self.light(*t).0)),
            Kind::Curves { light, .. } => best(&mut light.iter().cloned()),
            Kind::Cell { cell, .. } => {
                let lit = |c: &TwoDiode| c.first.photocurrent_a;
                let most = cell.iter().max_by(|a, b| lit(a).total_cmp(&lit(b)));
                most.map_or_else(Light::default, |c| c.curve().into())
            }
        }
    }

    /// The most energy that can be taken from the whole trace.
    #[must_use]
    pub fn energy_j(&self) -> f64 {
        let (mut t, mut sum) = (0.0, 0.0);
        loop {
            let (power_w, until_s) = self.at(t);
            if until_s.is_infinite() {
                return sum;
            }
            sum += power_w * (until_s - t);
            t = until_s;
        }
    }
}

/// Index of the piece that holds at `t_s`.
fn piece(edge_s: &[f64], t_s: f64) -> Option<usize> {
    let i = edge_s.partition_point(|&t| t <= t_s);
    (i < edge_s.len()).then(|| i.max(1) - 1)
}

/// Five figures, or seven: without a second diode none flows through one.
fn cell_of(figures: &[f64]) -> TwoDiode {
    let second = [0.0, figures[4]];
    let mut all = figures.iter().copied().chain(second);
    TwoDiode::from(std::array::from_fn(|_| all.next().unwrap_or_default()))
}

/// Place of a mistake in a file.
struct Place<'a> {
    path: &'a str,
    /// Line of each row; none for arrays.
    lines: &'a [usize],
}

impl Place<'_> {
    const ARRAYS: Place<'static> = Place { path: "arrays", lines: &[] };
    const LAW: Place<'static> = Place { path: "by a law", lines: &[] };

    fn bad(&self, row: usize, reason: String) -> HarvestError {
        let line =
            if self.lines.is_empty() { row + 1 } else { self.lines.get(row).copied().unwrap_or(0) };
        HarvestError::Line { path: self.path.to_owned(), line, reason }
    }

    fn zero_or_more(&self, figures: &[(&str, f64)]) -> Result<(), HarvestError> {
        match figures.iter().find(|(_, v)| !v.is_finite() || *v < 0.0) {
            Some((k, v)) => {
                Err(self.bad(0, format!("{k} is {v}; it must be a number, zero or more")))
            }
            None => Ok(()),
        }
    }

    fn positive(&self, figures: &[(&str, f64)]) -> Result<(), HarvestError> {
        match figures.iter().find(|(_, v)| !v.is_finite() || *v <= 0.0) {
            Some((k, v)) => Err(self.bad(0, format!("{k} is {v}; it must be a number above zero"))),
            None => Ok(()),
        }
    }

    fn at_least_two(&self, time_s: &[f64]) -> Result<(), HarvestError> {
        match time_s.len() {
            0 | 1 => Err(self.bad(0, format!("{} rows; a trace has at least two", time_s.len()))),
            _ => Ok(()),
        }
    }

    fn grows(&self, time_s: &[f64], step_s: Option<f64>) -> Result<(), HarvestError> {
        if let Some(i) = time_s.iter().position(|t| !t.is_finite()) {
            return Err(self.bad(i, format!("time_s is {}; it must be a number", time_s[i])));
        }
        let step = step_s.unwrap_or(time_s[1] - time_s[0]);
        for i in 1..time_s.len() {
            let (before, now) = (time_s[i - 1], time_s[i]);
            if now <= before {
                return Err(
                    self.bad(i, format!("time_s goes from {before} to {now}; it must always grow"))
                );
            }
            if now - before > 1.5 * step {
                let gap = now - before;
                return Err(self.bad(
                    i,
                    format!(
                        "a gap of {gap} s where the rows are {step} s apart; fill it with rows"
                    ),
                ));
            }
        }
        match time_s[0] == 0.0 {
            true => Ok(()),
            false => {
                Err(self.bad(0, format!("the trace begins at {} s; it must begin at 0", time_s[0])))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        HarvestTrace::parse(text, "day.csv").unwrap_err().to_string()
    }

    #[test]
    fn a_sound_trace_keeps_its_trapezoids_and_its_provenance() {
        let t = HarvestTrace::parse(
            "# source: roof, June\ntime_s,power_w\n0,0\n60,0.1\n120,0.3\n",
            "x",
        )
        .unwrap();
        assert_eq!(t.provenance(), [("source".to_owned(), "roof, June".to_owned())]);
        assert!((t.energy_j() - (3.0 + 12.0)).abs() < 1e-12);
        assert_eq!(t.at(0.0), (0.05, 60.0));
        assert_eq!(t.at(59.999), (0.05, 60.0));
        assert_eq!(t.at(60.0), (0.2, 120.0));
        assert_eq!(t.at(120.0), (0.0, f64::INFINITY));
        let vi =
            HarvestTrace::parse("time_s,voltage_v,current_a\n0,2,0.5\n1,2,0.5\n", "x").unwrap();
        assert_eq!(vi.at(0.5).0, 1.0);
    }

    #[test]
    fn each_mistake_is_named_with_its_line() {
        let head = "time_s,power_w\n";
        let back = error(&format!("{head}0,0\n60,1\n30,1\n"));
        assert_eq!(
            back,
            "harvest trace day.csv, line 4: time_s goes from 60 to 30; it must always grow"
        );
        assert!(error(&format!("{head}0,0\n60,1\n300,1\n")).contains("line 4: a gap of 240 s"));
        assert!(error(&format!("{head}0,0\n60,-1\n")).contains("line 3: the power is -1 W"));
        assert!(error(&format!("{head}0,0\n60,NaN\n")).contains("line 3: the power is NaN W"));
        assert!(error(&format!("{head}0,0\ninf,1\n")).contains("line 3: time_s is inf"));
        assert!(error(&format!("{head}0,0\n60,x\n")).contains("line 3: \"x\" is not a number"));
        assert!(
            error(&format!("{head}0,0\n60\n")).contains("line 3: 1 cells where the head has 2")
        );
        assert!(error(&format!("{head}5,0\n60,1\n")).contains("line 2: the trace begins at 5 s"));
        assert!(error("seconds,watts\n0,0\n").contains("line 1: the head is"));
        assert!(error("# nothing\n").contains("no head line"));
        assert!(error(&format!("{head}0,0\n")).contains("1 rows"));
        let vi = error("time_s,voltage_v,current_a\n0,2,0\n1,-2,-1\n");
        assert!(vi.contains("line 3: voltage or current is negative"), "{vi}");
        let arrays = HarvestTrace::from_arrays(vec![0.0, 1.0], vec![1.0]).unwrap_err();
        assert!(arrays.to_string().contains("2 times and 1 powers"));
    }

    #[test]
    fn a_periodic_source_is_on_for_its_share_whatever_the_steps() {
        let p = HarvestTrace::periodic(3e-3, 1e-3, 0.7, 0.2, 1e4).unwrap();
        // 14285 whole periods and half a second that begins on.
        let expect = 14_285.0 * (0.2 * 3e-3 + 0.5 * 1e-3) + 0.2 * 3e-3 + 0.3 * 1e-3;
        assert!((p.energy_j() / expect - 1.0).abs() < 1e-9, "{} {expect}", p.energy_j());
        assert_eq!(p.at(0.1), (3e-3, 0.2));
        assert_eq!(p.at(2e4), (0.0, f64::INFINITY));
        assert!(
            HarvestTrace::periodic(1.0, 0.0, 1.0, 2.0, 9.0)
                .unwrap_err()
                .to_string()
                .contains("on_s is 2")
        );
    }

    #[test]
    fn a_markov_source_has_its_means_and_its_seed() {
        let make = |seed| HarvestTrace::markov(2e-3, 0.0, 3.0, 9.0, 1e5, seed).unwrap();
        let a = make(7);
        assert_eq!(a, make(7));
        assert_ne!(a, make(8));
        // A quarter of the time at 2 mW; the deviation of the mean of some 8300 turns is about 2 %.
        assert!((a.energy_j() / 50.0 - 1.0).abs() < 0.06, "{}", a.energy_j());
        let many = HarvestTrace::markov(1.0, 0.0, 1e-6, 1e-6, 1e5, 1).unwrap_err().to_string();
        assert!(many.contains("at most 1e7 changes"), "{many}");
    }

    #[test]
    fn curves_and_cells_come_from_arrays_and_files_alike() {
        let file = "# source: bench\ntime_s,0,1,2\n0,0.02,0.01,0\n1,0.04,0.02,0\n2,0,0,0\n";
        let t = HarvestTrace::parse(file, "x").unwrap();
        let arrays = HarvestTrace::from_iv(
            vec![0.0, 1.0, 2.0],
            &[0.0, 1.0, 2.0],
            &[0.02, 0.01, 0.0, 0.04, 0.02, 0.0],
        )
        .unwrap();
        assert_eq!(t.light(0.5), arrays.light(0.5));
        assert!((t.energy_j() - 30e-3).abs() < 1e-12, "{}", t.energy_j());
        let (light, until_s) = t.light(1.0);
        assert_eq!((until_s, light.v_mp_v), (2.0, Some(1.0)));
        let cell = "time_s,photocurrent_a,saturation_a,series_ohm,shunt_ohm,n_ns_vth_v\n0,0.025,2e-10,8,2e4,0.34\n60,0,2e-10,8,2e4,0.34\n";
        let c = HarvestTrace::parse(cell, "x").unwrap();
        assert!(c.at(30.0).0 > 0.09 && c.at(60.0).0 == 0.0);
        let e = HarvestTrace::from_iv(vec![0.0, 1.0], &[0.0, 1.0], &[1.0]).unwrap_err().to_string();
        assert!(e.contains("1 currents for 1 curves of 2 voltages"), "{e}");
        let e = error("time_s,0,1,2\n0,0.02,nan,0\n1,0,0,0\n");
        assert!(e.contains("line 2: the curve has the point 1 V, NaN A"), "{e}");
        let e = error(&cell.replace("2e-10", "0"));
        assert!(e.contains("line 2: saturation_a is 0"), "{e}");
    }
}
