// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameter sets: files of `data/power`, read strictly, every figure with its source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_data::Room;
use sunseal_trace::OperatingPoint;

use crate::law::{ClockRow, CurrentLaw, EventLaw, VccRow};
use crate::units::Amperes;
use crate::{Interval, LimitError};

/// Mistake in a parameter set, or with a question to it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PowerError {
    /// There is no such file, or it cannot be read.
    #[error("power set {name}: {reason}")]
    Read {
        /// The set's full name, device in front.
        name: String,
        /// Folders where it was looked for, and the names that there are.
        reason: String,
    },
    /// The file is not what it should be.
    #[error("power set {path}: {reason}")]
    Parse {
        /// Path of the file.
        path: String,
        /// Place in the file, and what is wrong there.
        reason: String,
    },
    /// No coefficient for something the machine counted.
    #[error(
        "power set {set} ({path}) has no coefficient for {what}; it knows {known}; \
         add [[{table}]] there with its source"
    )]
    Missing {
        /// Name of the set.
        set: String,
        /// Path of the file that holds the power set.
        path: String,
        /// Component and state, or event.
        what: String,
        /// Entries that are known nearby.
        known: String,
        /// Table that is short of an entry.
        table: &'static str,
    },
    /// A coefficient that does not reach the operating point.
    #[error("power set {set} ({path}): the current of {what} {reason}")]
    Reach {
        /// Name of the set.
        set: String,
        /// Path of the file that holds the power set.
        path: String,
        /// Component and state, as the file names them.
        what: String,
        /// Clause that tells what is wrong.
        reason: String,
    },
    /// Two sets for one component.
    #[error(
        "power sets {first} and {second} both speak for component {component}; use one of them"
    )]
    Twice {
        /// Component that stands in both sets.
        component: String,
        /// Name of one set.
        first: String,
        /// Name of the other set.
        second: String,
    },
    /// The operating point is not legal.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A ledger that contradicts itself.
    #[error("ledger: {0}")]
    Ledger(String),
}

/// Source of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Document that the figure is from.
    pub document: String,
    /// Page, table or section.
    pub place: String,
    /// Note on how it was read and what to mind.
    #[serde(default)]
    pub note: String,
    /// True if nobody has checked it against the document.
    #[serde(default)]
    pub recalled: bool,
    /// Reason for which it is an assumption of ours and of no document, and what would settle it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
}

/// An energy that a paper prints and that the set was fitted to, or is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Supply voltage of the chip.
    pub vcc_v: f64,
    /// CPU clock, MHz as printed.
    pub mclk_mhz: f64,
    /// CPU cycles of the operation.
    pub cycles: u64,
    /// Energy, mJ as printed.
    pub energy_mj: f64,
    /// True if the fit used it: then it judges nothing.
    pub fitted: bool,
    /// Place where it is printed.
    pub place: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawSet {
    set: RawHead,
    #[serde(default)]
    source: BTreeMap<String, Source>,
    #[serde(default)]
    current: Vec<RawCurrent>,
    #[serde(default)]
    event: Vec<RawEvent>,
    #[serde(default)]
    anchor: Vec<Anchor>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawHead {
    name: String,
    title: String,
    device: String,
    cite: String,
    extends: Option<String>,
}

/// A figure in the unit that its document prints.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawAmps {
    typ_ma: Option<f64>,
    typ_ua: Option<f64>,
    typ_na: Option<f64>,
    max_ma: Option<f64>,
    max_ua: Option<f64>,
    max_na: Option<f64>,
    uncertainty_rel: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawRow {
    vcore: u8,
    mclk_mhz: Option<f64>,
    vcc_v: Option<f64>,
    typ_ma: Option<f64>,
    typ_ua: Option<f64>,
    max_ma: Option<f64>,
    max_ua: Option<f64>,
    uncertainty_rel: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawPlus {
    typ_ua: f64,
    uncertainty_rel: f64,
    source: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawSlope {
    typ_ua_per_mhz: f64,
    uncertainty_rel: f64,
    source: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawName {
    component: String,
    state: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RawLaw {
    Table,
    Grid,
    Constant,
    #[serde(rename = "equation_2_3")]
    Equation23,
    SameAs,
    Zero,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawCurrent {
    component: String,
    state: String,
    law: RawLaw,
    source: String,
    #[serde(default)]
    rows: Vec<RawRow>,
    vcc_v: Option<f64>,
    vcc_slope_rel_per_v: Option<f64>,
    vcc_rel_per_v: Option<f64>,
    plus: Option<RawPlus>,
    smclk_above_1mhz: Option<RawSlope>,
    aclk_from_hz: Option<u32>,
    aclk_below_hz: Option<u32>,
    same_as: Option<RawName>,
    typ_ma: Option<f64>,
    typ_ua: Option<f64>,
    typ_na: Option<f64>,
    max_ma: Option<f64>,
    max_ua: Option<f64>,
    max_na: Option<f64>,
    uncertainty_rel: Option<f64>,
    alpha_c_pf: Option<f64>,
    k_ua: Option<f64>,
    vcore_v: Option<Vec<f64>>,
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawEvent {
    event: String,
    source: String,
    current: Option<RawAmps>,
    time_min_us: Option<f64>,
    time_max_us: Option<f64>,
    typ_nj: Option<f64>,
    typ_nc: Option<f64>,
    uncertainty_rel: Option<f64>,
    reason: Option<String>,
}

#[derive(Clone, Debug)]
struct CurrentEntry {
    law: CurrentLaw,
    aclk_from_hz: u32,
    aclk_below_hz: u32,
    source: String,
}

#[derive(Clone, Debug)]
struct EventEntry {
    law: EventLaw,
    source: String,
}

/// One parameter set, with the set that it falls back to if it names one.
#[derive(Clone, Debug)]
pub struct PowerSet {
    /// Its name: the file's, without `.toml`.
    pub name: String,
    /// The set in words, for lists and reports.
    pub title: String,
    /// The part that it speaks for.
    pub device: String,
    /// Reference to cite for it.
    pub cite: String,
    /// Energies that documents print, to hold the set to.
    pub anchors: Vec<Anchor>,
    /// Documents by their keys.
    pub sources: BTreeMap<String, Source>,
    path: PathBuf,
    base: Option<Box<PowerSet>>,
    currents: BTreeMap<(String, String), Vec<CurrentEntry>>,
    events: BTreeMap<String, EventEntry>,
}

/// Coefficient that a question brings, with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficient {
    /// Amperes of a state, joules of an event.
    pub value: Interval,
    /// Name of the set that holds it.
    pub set: String,
    /// Document, and the place in it.
    pub source: String,
    /// True if the figure is unchecked: from memory, not from its document.
    pub recalled: bool,
    /// True if the figure is an assumption of ours and of no document.
    pub assumed: bool,
    /// True if the set asked does not hold it and the one it extends does.
    pub fallback: bool,
}

/// JSON Schema of a power set's file.
#[must_use]
pub fn power_set_schema() -> schemars::Schema {
    schemars::schema_for!(RawSet)
}

fn one_of(pairs: &[(Option<f64>, f64)]) -> Result<Option<f64>, String> {
    let given: Vec<f64> = pairs.iter().filter_map(|(v, k)| v.map(|v| v * k)).collect();
    match given.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err("gives one figure in two units".into()),
    }
}

impl RawAmps {
    fn interval(&self) -> Result<Option<Interval>, String> {
        let unit =
            [Amperes::from_milli(1.0).0, Amperes::from_micro(1.0).0, Amperes::from_nano(1.0).0];
        let typ =
            one_of(&[(self.typ_ma, unit[0]), (self.typ_ua, unit[1]), (self.typ_na, unit[2])])?;
        let max =
            one_of(&[(self.max_ma, unit[0]), (self.max_ua, unit[1]), (self.max_na, unit[2])])?;
        let Some(typ) = typ else {
            return if max.is_some() {
                Err("has a maximum and no typical figure".into())
            } else {
                Ok(None)
            };
        };
        if typ.is_nan() || typ < 0.0 || typ.is_infinite() {
            return Err(format!("has the current {typ} A; it must be zero or more"));
        }
        match (max, self.uncertainty_rel) {
            (Some(max), None) if max >= typ => Ok(Some(Interval::typ_max(typ, max))),
            (Some(_), None) => Err("has a maximum below its typical figure".into()),
            (None, Some(rel)) if rel >= 0.0 && rel.is_finite() => {
                Ok(Some(Interval::around(typ, rel)))
            }
            (None, Some(rel)) => {
                Err(format!("has uncertainty_rel = {rel}; it must be zero or more"))
            }
            (Some(_), Some(_)) => Err("gives both a maximum and uncertainty_rel; keep one".into()),
            (None, None) => Err("has no uncertainty: give max_* or uncertainty_rel".into()),
        }
    }
}

impl RawRow {
    fn interval(&self) -> Result<Interval, String> {
        let amps = RawAmps {
            typ_ma: self.typ_ma,
            typ_ua: self.typ_ua,
            max_ma: self.max_ma,
            max_ua: self.max_ua,
            uncertainty_rel: self.uncertainty_rel,
            ..RawAmps::default()
        };
        amps.interval()?.ok_or_else(|| "has a row without a typical figure".into())
    }
}

impl RawCurrent {
    fn law(&self) -> Result<CurrentLaw, String> {
        let amps = RawAmps {
            typ_ma: self.typ_ma,
            typ_ua: self.typ_ua,
            typ_na: self.typ_na,
            max_ma: self.max_ma,
            max_ua: self.max_ua,
            max_na: self.max_na,
            uncertainty_rel: self.uncertainty_rel,
        };
        match self.law {
            RawLaw::Table => self.table(),
            RawLaw::Grid => self.grid(),
            RawLaw::Constant => {
                let current_a =
                    amps.interval()?.ok_or("has law \"constant\" and no typical figure")?;
                Ok(CurrentLaw::Constant { current_a })
            }
            RawLaw::Equation23 => Ok(CurrentLaw::Equation23 {
                alpha_c_f: self.alpha_c_pf.ok_or("needs alpha_c_pf")? * 1e-12,
                k_a: self.k_ua.ok_or("needs k_ua")? * 1e-6,
                vcore_v: self.vcore_v.clone().ok_or("needs vcore_v")?,
                rel: self.uncertainty_rel.ok_or("needs uncertainty_rel")?,
            }),
            RawLaw::Zero if self.reason.as_deref().is_some_and(|r| !r.is_empty()) => {
                Ok(CurrentLaw::Zero)
            }
            RawLaw::Zero => Err("is zero without a reason; give one".into()),
            RawLaw::SameAs => {
                Err("points at another entry by same_as and that one does not exist above it"
                    .into())
            }
        }
    }

    /// Currents by clock and core voltage.
    fn table(&self) -> Result<CurrentLaw, String> {
        let mut rows = Vec::new();
        for r in &self.rows {
            let mclk =
                r.mclk_mhz.filter(|f| *f > 0.0).ok_or("has a row without mclk_mhz above zero")?;
            rows.push(ClockRow { vcore: r.vcore, mclk_hz: mclk * 1e6, current_a: r.interval()? });
        }
        rows.sort_by(|a, b| {
            (a.vcore, a.mclk_hz).partial_cmp(&(b.vcore, b.mclk_hz)).expect("finite")
        });
        if rows.is_empty() {
            return Err("has law \"table\" and no rows".into());
        }
        if rows.windows(2).any(|w| w[0].vcore == w[1].vcore && w[0].mclk_hz == w[1].mclk_hz) {
            return Err("prints one clock of one level twice".into());
        }
        let vcc_v = self.vcc_v.ok_or("has law \"table\" and no vcc_v")?;
        Ok(CurrentLaw::Table {
            rows,
            vcc_v,
            vcc_slope_rel_per_v: self.vcc_slope_rel_per_v.unwrap_or(0.0),
            vcc_rel_per_v: self.vcc_rel_per_v.unwrap_or(0.0),
        })
    }

    /// Currents by supply and core voltage.
    fn grid(&self) -> Result<CurrentLaw, String> {
        let mut rows = Vec::new();
        for r in &self.rows {
            let vcc_v = r.vcc_v.ok_or("has a row without vcc_v")?;
            rows.push(VccRow { vcore: r.vcore, vcc_v, current_a: r.interval()? });
        }
        rows.sort_by(|a, b| (a.vcore, a.vcc_v).partial_cmp(&(b.vcore, b.vcc_v)).expect("finite"));
        if rows.is_empty() {
            return Err("has law \"grid\" and no rows".into());
        }
        let plus_a = self
            .plus
            .as_ref()
            .map_or(Interval::ZERO, |p| Interval::around(p.typ_ua * 1e-6, p.uncertainty_rel));
        let smclk_a_per_hz = self.smclk_above_1mhz.as_ref().map_or(Interval::ZERO, |s| {
            Interval::around(s.typ_ua_per_mhz * 1e-12, s.uncertainty_rel)
        });
        Ok(CurrentLaw::Grid { rows, plus_a, smclk_a_per_hz })
    }
}

impl RawEvent {
    fn law(&self) -> Result<EventLaw, String> {
        if let Some(amps) = &self.current {
            let current = amps.interval()?.ok_or("has a current without a typical figure")?;
            let min = self.time_min_us.ok_or("has a current and no time_min_us")?;
            let max = self.time_max_us.ok_or("has a current and no time_max_us")?;
            if !(0.0 <= min && min <= max) {
                return Err(format!(
                    "takes from {min} to {max} us; the first must not be the longer"
                ));
            }
            return Ok(EventLaw::pulse(current, min * 1e-6, max * 1e-6));
        }
        let rel = self.uncertainty_rel;
        match (self.typ_nj, self.typ_nc, rel) {
            (Some(nj), None, Some(rel)) => {
                Ok(EventLaw::Energy { energy_j: Interval::around(nj * 1e-9, rel) })
            }
            (None, Some(nc), Some(rel)) => {
                Ok(EventLaw::Charge { charge_c: Interval::around(nc * 1e-9, rel) })
            }
            (None, None, None) if self.reason.as_deref().is_some_and(|r| !r.is_empty()) => {
                Ok(EventLaw::Zero)
            }
            (None, None, None) => Err("is zero without a reason; give one, or a figure".into()),
            _ => Err("needs one of typ_nj and typ_nc, with uncertainty_rel".into()),
        }
    }
}

impl PowerSet {
    /// Reads a set by its name and the set it extends; `name` may leave out the device in front.
    ///
    /// # Errors
    /// If no such set is there, or it is not sound.
    pub fn load(sets: impl Into<Room>, name: &str, device: &str) -> Result<Self, PowerError> {
        let (sets, full) = (sets.into(), format!("{device}-{name}"));
        let name = if sets.find(name).is_some() { name } else { full.as_str() };
        Self::load_depth(&sets, name, 0)
    }

    fn load_depth(sets: &Room, name: &str, depth: u8) -> Result<Self, PowerError> {
        let missing = |reason: String| PowerError::Read { name: name.to_owned(), reason };
        let path = sets.find(name).ok_or_else(|| missing(sets.missing(name)))?;
        let text = sunseal_data::text(&path)
            .map_err(|e| missing(format!("{} cannot be read ({e})", path.display())))?;
        let (mut set, base) = Self::parsed(&text, &path)?;
        if let Some(base) = base {
            if depth > 4 {
                let path = path.display().to_string();
                let reason = "extends itself in a circle".to_owned();
                return Err(PowerError::Parse { path, reason });
            }
            set.base = Some(Box::new(Self::load_depth(sets, &base, depth + 1)?));
        }
        Ok(set)
    }

    /// Reads a set from text; `path` is for messages. A set that extends another gets it only by
    /// [`load`](Self::load).
    ///
    /// # Errors
    /// If it is not sound.
    pub fn parse(text: &str, path: &Path) -> Result<Self, PowerError> {
        Ok(Self::parsed(text, path)?.0)
    }

    /// A set, and the name of the one that it extends.
    fn parsed(text: &str, path: &Path) -> Result<(Self, Option<String>), PowerError> {
        let bad = |reason: String| PowerError::Parse { path: path.display().to_string(), reason };
        let raw: RawSet = sunseal_data::parse(text).map_err(|e| bad(e.reason))?;
        let mut set = Self {
            name: raw.set.name,
            title: raw.set.title,
            device: raw.set.device,
            cite: raw.set.cite,
            anchors: raw.anchor,
            sources: raw.source,
            path: path.to_owned(),
            base: None,
            currents: BTreeMap::new(),
            events: BTreeMap::new(),
        };
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(&set.name);
        if stem != set.name {
            return Err(bad(format!(
                "set.name is {:?}; it must be the file's name, {stem:?}",
                set.name
            )));
        }
        let sources: Vec<String> = set.sources.keys().cloned().collect();
        let check_source = |what: &str, source: &str| {
            if sources.iter().any(|s| s == source) {
                return Ok(());
            }
            Err(bad(format!(
                "{what} names source {source:?}; the sources there are {}",
                sources.join(", ")
            )))
        };
        for c in &raw.current {
            let what = format!("[[current]] {} {}", c.component, c.state);
            check_source(&what, &c.source)?;
            for source in
                c.plus.iter().map(|p| &p.source).chain(c.smclk_above_1mhz.iter().map(|s| &s.source))
            {
                check_source(&what, source)?;
            }
            set.add_current(c).map_err(|e| bad(format!("{what} {e}")))?;
        }
        for e in &raw.event {
            let what = format!("[[event]] {}", e.event);
            check_source(&what, &e.source)?;
            let law = e.law().map_err(|m| bad(format!("{what} {m}")))?;
            let entry = EventEntry { law, source: e.source.clone() };
            if set.events.insert(e.event.clone(), entry).is_some() {
                return Err(bad(format!("{what} stands there twice")));
            }
        }
        Ok((set, raw.set.extends))
    }

    /// Takes a current of the file; refused with a clause where it is not sound.
    fn add_current(&mut self, c: &RawCurrent) -> Result<(), String> {
        let key = (c.component.clone(), c.state.clone());
        let entries = if c.law == RawLaw::SameAs {
            let to = c.same_as.as_ref().ok_or("has law \"same_as\" and no same_as")?;
            let to = (to.component.clone(), to.state.clone());
            self.currents.get(&to).cloned().ok_or_else(|| {
                format!("is the same as {} {}, which does not stand above it", to.0, to.1)
            })?
        } else {
            let law = c.law()?;
            vec![CurrentEntry {
                law,
                aclk_from_hz: c.aclk_from_hz.unwrap_or(0),
                aclk_below_hz: c.aclk_below_hz.unwrap_or(u32::MAX),
                source: c.source.clone(),
            }]
        };
        let slot = self.currents.entry(key).or_default();
        for e in entries {
            let overlap = |o: &CurrentEntry| {
                e.aclk_from_hz < o.aclk_below_hz && o.aclk_from_hz < e.aclk_below_hz
            };
            if slot.iter().any(overlap) {
                return Err("stands there twice for the same ACLK".to_owned());
            }
            slot.push(e);
        }
        Ok(())
    }

    /// The set that this one falls back to.
    #[must_use]
    pub fn base(&self) -> Option<&PowerSet> {
        self.base.as_deref()
    }

    /// The file it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the components that it speaks for, its base's included.
    #[must_use]
    pub fn components(&self) -> Vec<String> {
        let mut all: Vec<String> = self.currents.keys().map(|(c, _)| c.clone()).collect();
        all.extend(self.events.keys().filter_map(|e| e.split('.').next()).map(str::to_owned));
        all.extend(self.base.iter().flat_map(|b| b.components()));
        all.sort();
        all.dedup();
        all
    }

    fn coefficient(&self, value: Interval, source: &str) -> Coefficient {
        let s = &self.sources[source];
        Coefficient {
            value,
            set: self.name.clone(),
            source: format!("{}, {}", s.document, s.place),
            recalled: s.recalled,
            assumed: s.assumed.is_some(),
            fallback: false,
        }
    }

    /// The current of a component's state.
    ///
    /// # Errors
    /// If the set has none, or it does not reach the operating point.
    pub fn current_a(
        &self,
        component: &str,
        state: &str,
        point: &OperatingPoint,
        vcc_v: f64,
    ) -> Result<Coefficient, PowerError> {
        let key = (component.to_owned(), state.to_owned());
        let entries = self.currents.get(&key).map_or(&[][..], Vec::as_slice);
        let fits = |e: &&CurrentEntry| (e.aclk_from_hz..e.aclk_below_hz).contains(&point.aclk_hz);
        let Some(entry) = entries.iter().find(fits) else {
            return match &self.base {
                Some(base) => base
                    .current_a(component, state, point, vcc_v)
                    .map(|c| Coefficient { fallback: true, ..c }),
                None => Err(self.missing_current(component, state)),
            };
        };
        let value = entry.law.current_a(point, vcc_v).map_err(|reason| PowerError::Reach {
            set: self.name.clone(),
            path: self.path.display().to_string(),
            what: format!("{component} in state {state}"),
            reason,
        })?;
        Ok(self.coefficient(value, &entry.source))
    }

    fn missing_current(&self, component: &str, state: &str) -> PowerError {
        let states: Vec<_> =
            self.currents.keys().filter(|(c, _)| c == component).map(|(_, s)| s.as_str()).collect();
        let known = if states.is_empty() {
            format!("the components {}", self.components().join(", "))
        } else {
            format!("the states {} of {component}", states.join(", "))
        };
        PowerError::Missing {
            set: self.name.clone(),
            path: self.path.display().to_string(),
            what: format!("component {component:?} in state {state:?}"),
            known,
            table: "current",
        }
    }

    /// The energy of one event.
    ///
    /// # Errors
    /// If the set has none.
    pub fn event_j(&self, event: &str, vcc_v: f64) -> Result<Coefficient, PowerError> {
        let Some(entry) = self.events.get(event) else {
            return match &self.base {
                Some(base) => {
                    base.event_j(event, vcc_v).map(|c| Coefficient { fallback: true, ..c })
                }
                None => Err(PowerError::Missing {
                    set: self.name.clone(),
                    path: self.path.display().to_string(),
                    what: format!("event {event:?}"),
                    known: format!(
                        "the events {}",
                        self.events.keys().cloned().collect::<Vec<_>>().join(", ")
                    ),
                    table: "event",
                }),
            };
        };
        Ok(self.coefficient(entry.law.energy_j(vcc_v), &entry.source))
    }
}

/// The sets of all parts of a board, each component in exactly one of them.
#[derive(Clone, Debug)]
pub struct PowerModel {
    sets: Vec<PowerSet>,
    owner: BTreeMap<String, usize>,
}

impl PowerModel {
    /// Joins sets.
    ///
    /// # Errors
    /// If two of them speak for one component.
    pub fn new(sets: Vec<PowerSet>) -> Result<Self, PowerError> {
        let mut owner: BTreeMap<String, usize> = BTreeMap::new();
        for (i, set) in sets.iter().enumerate() {
            for component in set.components() {
                if let Some(&first) = owner.get(&component) {
                    let (first, second) = (sets[first].name.clone(), set.name.clone());
                    return Err(PowerError::Twice { component, first, second });
                }
                owner.insert(component, i);
            }
        }
        Ok(Self { sets, owner })
    }

    /// Sets that it asks, in their order.
    #[must_use]
    pub fn sets(&self) -> &[PowerSet] {
        &self.sets
    }

    /// Names of the sets, joined.
    #[must_use]
    pub fn name(&self) -> String {
        self.sets.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(" + ")
    }

    fn set_for(&self, component: &str) -> Result<&PowerSet, PowerError> {
        // A component that no set speaks for is the first set's business: the board's device.
        match self.owner.get(component).map_or_else(|| self.sets.first(), |&i| self.sets.get(i)) {
            Some(set) => Ok(set),
            None => Err(PowerError::Ledger("there is no power set to weigh it with".into())),
        }
    }

    /// The current of a component's state.
    ///
    /// # Errors
    /// If no set has it.
    pub fn current_a(
        &self,
        component: &str,
        state: &str,
        point: &OperatingPoint,
        vcc_v: f64,
    ) -> Result<Coefficient, PowerError> {
        self.set_for(component)?.current_a(component, state, point, vcc_v)
    }

    /// The energy of one event; its component is what stands before the first dot.
    ///
    /// # Errors
    /// If no set has it.
    pub fn event_j(&self, event: &str, vcc_v: f64) -> Result<Coefficient, PowerError> {
        self.set_for(event.split('.').next().unwrap_or(event))?.event_j(event, vcc_v)
    }
}
