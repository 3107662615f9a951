// SPDX-License-Identifier: MIT OR Apache-2.0
//! A load told as steps of current and time, on a supply without a machine: pulses, bursts, and the voltage that they
//! need (V_safe of Ruppel and others, Culpeo, ASPLOS 2022).

mod course;
mod repeat;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_board::Board;
use sunseal_data::Library;
use sunseal_power::{
    Boundary, EnergyBreakdown, HarvestTrace, Light, Load, Output, Supply, SupplyConfig,
};

use crate::record::{Activity, Cycles, EnergyRecord, Recorder, RunRecord};
use crate::scenario::Until;
use crate::vain::{least, told};
use crate::{Node, NodeError, Progress, Scenario};
use course::{Course, Met};
use repeat::Alike;
pub use repeat::Repeated;

/// Table `[load]` of a scenario: steps that follow each other, again and again, as long as the output is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadChoice {
    /// Each follows the one before; behind the last comes the first.
    #[serde(default)]
    pub steps: Vec<LoadStep>,
    /// A CSV file with them, from the scenario's folder: `time_s,current_a`, each row until the next.
    pub trace: Option<PathBuf>,
}

/// A current at the rail for so long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadStep {
    /// Time for which it lasts.
    pub lasts_s: f64,
    /// Current at the rail.
    pub current_a: f64,
}

/// Outcome of a load by profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadRecord {
    /// Rounds of all steps that came to their end.
    pub rounds: u64,
    /// Rounds that the cut-off ended.
    pub rounds_cut: u64,
    /// Lowest voltage at the store's terminal under load.
    pub terminal_min_v: f64,
    /// Least voltage of the store at rest, without light, from which one round runs to its end; none if a full store
    /// does not carry it.
    pub v_safe_v: Option<f64>,
}

impl LoadChoice {
    /// Checks the figures.
    ///
    /// # Errors
    /// The first that is not sound.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.steps.is_empty() == self.trace.is_none() {
            return Err("load has neither steps nor trace, or both; give one".to_owned());
        }
        for (i, s) in self.steps.iter().enumerate() {
            s.check().map_err(|e| format!("load.steps, number {}: {e}", i + 1))?;
        }
        Ok(())
    }

    fn read(&self) -> Result<Vec<LoadStep>, String> {
        let Some(path) = &self.trace else { return Ok(self.steps.clone()) };
        let at =
            |n: usize, what: String| format!("load.trace {}, line {n}: {what}", path.display());
        let text = std::fs::read_to_string(path)
            .map_err(|e| format!("load.trace {}: {e}", path.display()))?;
        let lines = text.lines().enumerate().map(|(n, l)| (n + 1, l.trim()));
        let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
        match lines.next() {
            Some((_, "time_s,current_a")) => {}
            other => {
                let n = other.map_or(1, |(n, _)| n);
                return Err(at(n, "the head is `time_s,current_a`".to_owned()));
            }
        }
        let mut steps: Vec<LoadStep> = Vec::new();
        let mut before: Option<(f64, f64)> = None;
        for (n, line) in lines {
            let row = line
                .split_once(',')
                .and_then(|(t, i)| Some((t.trim().parse().ok()?, i.trim().parse().ok()?)));
            let Some((time_s, current_a)) = row else {
                return Err(at(n, format!("`{line}` is no time and no current")));
            };
            if let Some((from_s, from_a)) = before {
                let step = LoadStep { lasts_s: time_s - from_s, current_a: from_a };
                step.check().map_err(|e| at(n, e))?;
                steps.push(step);
            }
            before = Some((time_s, current_a));
        }
        if steps.is_empty() {
            return Err(at(
                1,
                "it takes two rows and more: the last one ends the one before".into(),
            ));
        }
        Ok(steps)
    }
}

impl LoadStep {
    fn check(&self) -> Result<(), String> {
        if !(1e-9..=1e9).contains(&self.lasts_s) {
            return Err(format!("it lasts {} s; a step lasts from a nanosecond on", self.lasts_s));
        }
        if !(0.0..=100.0).contains(&self.current_a) {
            return Err(format!("its current is {} A; it lies between 0 and 100", self.current_a));
        }
        Ok(())
    }

    fn at(self, supply: &Supply) -> Load {
        Load { vcc_w: self.current_a * supply.rail_v(), store_w: 0.0 }
    }
}

/// Lets a step's current flow for so long. A current stays what it is on a rail that moves; only where a converter comes
/// to its help, or leaves it, does the power change, and then the rail is looked at again as it moves.
fn draw(supply: &mut Supply, step: LoadStep, dt_s: f64, light: &Light) -> (f64, bool) {
    let (mut gone_s, mut slow) = (0.0, false);
    while gone_s < dt_s {
        let load = step.at(supply);
        let left_s = dt_s - gone_s;
        let now_s = if slow {
            // At an edge of the rail there is no sure time; a moment behind it there is.
            supply.sure_time_up_to_s(load, light, left_s).max(1e-6).min(left_s)
        } else {
            left_s
        };
        let assisted = matches!(supply.config().output, Output::Assisted { .. });
        let before = (assisted && !slow).then(|| supply.clone());
        let advance = supply.advance(now_s, load, light);
        if let Some(before) = before.filter(|b| b.helps() != supply.helps()) {
            (*supply, slow) = (before, true);
            continue;
        }
        gone_s += advance.elapsed_s;
        // At the rail that there is now: the one before would make it another current.
        let at_cut = supply.above_cut_j(step.at(supply), light) <= 0.0;
        if advance.boundary == Some(Boundary::Cut) || at_cut {
            return (gone_s, true);
        }
    }
    (gone_s, false)
}

/// True if one round of the steps runs to its end from a store at rest.
fn carries(config: &SupplyConfig, v_v: f64, steps: &[LoadStep], light: &Light) -> bool {
    let config = SupplyConfig { start_overhead_j: 0.0, ..config.clone() };
    let Ok(mut supply) = Supply::new(config, v_v) else { return false };
    supply.switch_on();
    steps.iter().all(|s| !draw(&mut supply, *s, s.lasts_s, light).1)
}

/// The least voltage at rest that carries one round, without light.
fn v_safe_v(supply: &Supply, steps: &[LoadStep]) -> Option<f64> {
    let c = supply.config();
    least(c.v_cut_v, c.v_max_v, |v_v| carries(c, v_v, steps, &Light::default()))
}

/// Plays a scenario with a table `[load]`, or until `watch` returns false. Cycles that are alike go by at once.
///
/// # Errors
/// If a figure of the scenario is not sound, or the energies do not add up.
pub fn play_load(
    data: impl Into<Library>,
    scenario: &Scenario,
    harvest: Option<HarvestTrace>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<RunRecord, NodeError> {
    Play::new(data.into(), scenario, harvest)?.run(scenario, watch)
}

/// A load by profile as it is played.
struct Play {
    course: Course,
    recorder: Recorder,
    harvest: HarvestTrace,
    board: String,
    v_safe_v: Option<f64>,
    stored_begin_j: f64,
    now_s: f64,
    repeated: Repeated,
    /// The step that the last cut ended, and the light there.
    cut: Option<(usize, Light)>,
}

impl Play {
    fn new(
        library: Library,
        scenario: &Scenario,
        harvest: Option<HarvestTrace>,
    ) -> Result<Self, NodeError> {
        let bad = |reason: String| NodeError::Scenario { path: scenario.source.clone(), reason };
        let choice =
            scenario.load.as_ref().ok_or_else(|| bad("it has no table [load]".to_owned()))?;
        let steps = choice.read().map_err(bad)?;
        let board = Board::load(library.room("boards"), &scenario.board)?;
        let supply = Node::supply_of(&library, scenario)?;
        let harvest = Node::light(scenario, harvest)?;
        supply
            .can_start(&harvest.peak())
            .map_err(|e| bad(format!("the node can never start: {e}")))?;
        Ok(Self {
            v_safe_v: v_safe_v(&supply, &steps),
            stored_begin_j: supply.stored_j(),
            recorder: Recorder::new(scenario.duration_s, &scenario.output, supply.v_v()),
            course: Course::new(supply, steps.into()),
            harvest,
            board: board.name,
            now_s: 0.0,
            repeated: Repeated::default(),
            cut: None,
        })
    }

    fn run(
        mut self,
        scenario: &Scenario,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<RunRecord, NodeError> {
        let duration_s = scenario.duration_s;
        let (mut told_s, mut finished, mut steps) = (f64::NEG_INFINITY, true, 0u32);
        let mut light = (Light::default(), f64::NEG_INFINITY);
        let mut alike = Alike::default();
        while self.now_s < duration_s * (1.0 - 1e-13) {
            if self.now_s >= light.1 {
                let (now, until_s) = self.harvest.light(scenario.start_s + self.now_s);
                light = (now, until_s - scenario.start_s);
                alike.interrupted();
            }
            let met = self.step(&light.0, light.1.min(duration_s))?;
            if let (Met::Cut(_), Some(Until::FirstCut)) = (met, scenario.until) {
                break;
            }
            self.leap(&mut alike, met, &light.0, light.1.min(duration_s));
            steps = steps.wrapping_add(1);
            // A loop of starts may be far from the next thousandth.
            if self.now_s - told_s >= duration_s / 1000.0 || steps % 1024 == 0 {
                told_s = self.now_s;
                if !watch(self.progress(duration_s)) {
                    finished = false;
                    break;
                }
            }
        }
        Ok(self.record(scenario, finished))
    }

    /// Plays up to the next edge of step, light or record, `until_s` at the latest.
    fn step(&mut self, light: &Light, until_s: f64) -> Result<Met, NodeError> {
        let now_s = self.now_s;
        let edge_s = self.recorder.next_edge_s(now_s).min(until_s);
        // Time is a double: an edge that rounding has left behind is met by the next step.
        let s = self.course.step((edge_s - now_s).max(1e-12), light);
        self.recorder.step(now_s, s.gone_s, s.v_v, light.max_w, s.vcc_w, s.doing);
        self.now_s += s.gone_s;
        let v_v = self.course.supply.v_v();
        match s.met {
            Met::Start => {
                self.recorder.event(self.now_s, "on", format!("store at {v_v:.3} V"));
            }
            Met::Cut(step) => {
                let text = format!("in step {}, store at {v_v:.3} V", step + 1);
                self.recorder.cut(self.now_s, text);
                self.cut = Some((step, light.clone()));
            }
            Met::Round | Met::Nothing => {}
        }
        self.course
            .supply
            .unclosed()
            .map_or(Ok(s.met), |unclosed| Err(NodeError::Balance(unclosed)))
    }

    /// Lets as many cycles go by at once as are alike.
    fn leap(&mut self, alike: &mut Alike, met: Met, light: &Light, until_s: f64) {
        let left_s = self.recorder.alike_until_s(self.now_s).min(until_s) - self.now_s;
        let Some(leap) = alike.met(met, &mut self.course, light, self.now_s, left_s) else {
            return;
        };
        let from_s = self.now_s;
        let done = &leap.done;
        let shares = [(Activity::Off, done.time_s - done.on_s), (Activity::Compute, done.on_s)];
        let alike = Cycles {
            v_v: (done.low_v, done.high_v),
            end_v: self.course.supply.v_v(),
            panel_w: light.max_w,
            load_w: done.cycle.out_j() / done.time_s,
            shares: shares.map(|(doing, time_s)| (doing, time_s / done.time_s)),
        };
        self.now_s += leap.time_s;
        self.recorder.cycles(from_s, self.now_s, &alike);
        let text = format!("{} cycles as the one before, in {:.6} s", leap.times, leap.time_s);
        self.recorder.event(from_s, "repeated", text);
        self.repeated.cycles += leap.times;
        self.repeated.time_s += leap.time_s;
    }

    fn progress(&self, duration_s: f64) -> Progress {
        let (simulated_s, vcap_v) = (self.now_s, self.course.supply.v_v());
        let brown_outs = self.course.counts.brown_outs;
        Progress { simulated_s, duration_s, vcap_v, brown_outs, sent: 0 }
    }

    fn record(self, scenario: &Scenario, finished: bool) -> RunRecord {
        let Self { course, mut recorder, now_s, .. } = self;
        recorder.end();
        let (supply, counts) = (&course.supply, course.counts);
        let stuck = self.cut.filter(|_| counts.rounds == 0).map(|cut| never_past(&course, cut));
        RunRecord {
            scenario: scenario.name.clone(),
            board: self.board,
            power_set: "load by profile".to_owned(),
            seed: scenario.seed,
            vcc_v: supply.config().vcc_v,
            duration_s: scenario.duration_s,
            simulated_s: now_s,
            finished,
            operations: counts.rounds,
            symbols: std::collections::BTreeMap::new(),
            computations_s: recorder.computations_s(),
            computations_cut: recorder.computations_cut,
            series: std::mem::take(&mut recorder.series),
            timeline: std::mem::take(&mut recorder.timeline),
            timeline_cut: recorder.timeline_cut,
            events: std::mem::take(&mut recorder.events),
            events_cut: recorder.events_cut,
            energy: EnergyRecord {
                supply: *supply.sums(),
                stored_begin_j: self.stored_begin_j,
                stored_end_j: supply.stored_j(),
                balance_rel: supply.balance_rel(),
                load: EnergyBreakdown::default(),
                loop_over_ledger_rel: 0.0,
                divider_j: 0.0,
            },
            starts: counts.starts,
            brown_outs: counts.brown_outs,
            first_cut_s: recorder.first_cut_s,
            repeated: (self.repeated.cycles > 0).then_some(self.repeated),
            stuck,
            supervisor_resets: 0,
            cycles: 0,
            time_by_doing_s: std::mem::take(&mut recorder.by_doing),
            radio: sunseal_radio::RadioCounts::default(),
            messages: std::mem::take(&mut recorder.messages),
            brown_out_cycles: Vec::new(),
            functions: None,
            window: recorder.window.take(),
            log: String::new(),
            coupons: None,
            load: Some(LoadRecord {
                rounds: counts.rounds,
                rounds_cut: counts.brown_outs,
                terminal_min_v: course.terminal_min_v,
                v_safe_v: self.v_safe_v,
            }),
        }
    }
}

/// Reason for which no round ever came to its end, and what would help.
fn never_past(course: &Course, (step, light): (usize, Light)) -> String {
    let (config, steps) = (course.supply.config(), &course.steps);
    let LoadStep { lasts_s, current_a } = steps[step];
    // A store that is cut off without having given much comes on higher each time; what helps must help the first.
    let needs = told(config, config.v_on_v, |c, v_v| carries(c, v_v, steps, &light));
    format!(
        "the load never gets past step {} of its first round, {current_a} A for {lasts_s} s: {needs} ({} starts, {} cuts)",
        step + 1,
        course.counts.starts,
        course.counts.brown_outs
    )
}
