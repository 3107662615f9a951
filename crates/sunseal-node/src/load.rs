// SPDX-License-Identifier: MIT OR Apache-2.0
//! A load told as steps of current and time, on a supply without a machine: pulses, bursts, and the voltage that they
//! need (V_safe of Ruppel and others, Culpeo, ASPLOS 2022).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_board::Board;
use sunseal_data::Library;
use sunseal_power::{Boundary, EnergyBreakdown, HarvestTrace, Light, Load, Supply};

use crate::record::{Doing, EnergyRecord, Recorder, RunRecord};
use crate::{Node, NodeError, Progress, Scenario};

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
    /// How long it lasts.
    pub lasts_s: f64,
    /// Current at the rail.
    pub current_a: f64,
}

/// What a load by profile met.
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

/// Bisections of V_safe: of 5 V less than a microvolt.
const HALVINGS: u32 = 23;
/// After a cut the output comes back without load for so long, assumed: a store that rests above its restart voltage
/// would else be cut off and come back without end in no time.
const START_S: f64 = 1e-3;

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

/// Lets a step's current flow for so long; the rail that it is told at is looked at again as it moves.
fn draw(supply: &mut Supply, step: LoadStep, dt_s: f64, light: &Light) -> (f64, bool) {
    let mut gone_s = 0.0;
    while gone_s < dt_s {
        let load = step.at(supply);
        let left_s = dt_s - gone_s;
        let now_s = if supply.rail_follows() {
            // At an edge of the rail there is no sure time; a moment behind it there is.
            supply.sure_time_up_to_s(load, light, left_s).max(1e-6).min(left_s)
        } else {
            left_s
        };
        let advance = supply.advance(now_s, load, light);
        gone_s += advance.elapsed_s;
        // At the rail that there is now: the one before would make it another current.
        let at_cut = supply.above_cut_j(step.at(supply), light) <= 0.0;
        if advance.boundary == Some(Boundary::Cut) || at_cut {
            return (gone_s, true);
        }
    }
    (gone_s, false)
}

/// Whether one round of the steps runs to its end from a store at rest, without light.
fn carries(from: &Supply, v_v: f64, steps: &[LoadStep]) -> bool {
    let config = sunseal_power::SupplyConfig { start_overhead_j: 0.0, ..from.config().clone() };
    let Ok(mut supply) = Supply::new(config, v_v) else { return false };
    supply.switch_on();
    steps.iter().all(|s| !draw(&mut supply, *s, s.lasts_s, &Light::default()).1)
}

/// The least voltage at rest that carries one round.
fn v_safe_v(supply: &Supply, steps: &[LoadStep]) -> Option<f64> {
    let (mut low_v, mut high_v) = (supply.config().v_cut_v, supply.config().v_max_v);
    if !carries(supply, high_v, steps) {
        return None;
    }
    for _ in 0..HALVINGS {
        let mid_v = (low_v + high_v) / 2.0;
        if carries(supply, mid_v, steps) { high_v = mid_v } else { low_v = mid_v }
    }
    Some(high_v)
}

/// Plays a scenario with a table `[load]`, or until `watch` returns false.
///
/// # Errors
/// If a figure of the scenario is not sound, or the energies do not add up.
pub fn play_load(
    data: impl Into<Library>,
    scenario: &Scenario,
    harvest: Option<HarvestTrace>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<RunRecord, NodeError> {
    let bad = |reason: String| NodeError::Scenario { path: scenario.source.clone(), reason };
    let choice = scenario.load.as_ref().ok_or_else(|| bad("it has no table [load]".to_owned()))?;
    let steps = choice.read().map_err(bad)?;
    let library = data.into();
    let board = Board::load(library.room("boards"), &scenario.board)?;
    let supply = Node::supply_of(&library, scenario)?;
    let harvest = Node::light(scenario, harvest)?;
    supply.can_start(&harvest.peak()).map_err(|e| bad(format!("the node can never start: {e}")))?;
    let v_safe_v = v_safe_v(&supply, &steps);
    let stored_begin_j = supply.stored_j();
    let duration_s = scenario.duration_s;
    let recorder = Recorder::new(duration_s, &scenario.output, supply.v_v());
    let mut play = Play {
        supply,
        recorder,
        steps,
        now_s: 0.0,
        starts: 0,
        brown_outs: 0,
        rounds: 0,
        at: 0,
        left_s: 0.0,
        start_s: 0.0,
        terminal_min_v: f64::INFINITY,
    };
    let (mut told_s, mut finished) = (f64::NEG_INFINITY, true);
    while play.now_s < duration_s * (1.0 - 1e-13) {
        let (light, until_s) = harvest.light(scenario.start_s + play.now_s);
        play.step(&light, (until_s - scenario.start_s).min(duration_s))?;
        if play.now_s - told_s >= duration_s / 1000.0 {
            told_s = play.now_s;
            if !watch(play.progress(duration_s)) {
                finished = false;
                break;
            }
        }
    }
    Ok(play.record(scenario, board.name, stored_begin_j, v_safe_v, finished))
}

/// A load by profile as it is played.
struct Play {
    supply: Supply,
    recorder: Recorder,
    steps: Vec<LoadStep>,
    now_s: f64,
    starts: u64,
    brown_outs: u64,
    rounds: u64,
    /// The step under way, and what is left of it.
    at: usize,
    left_s: f64,
    /// What is left of a start.
    start_s: f64,
    terminal_min_v: f64,
}

impl Play {
    /// Plays up to the next edge of step, light or record, `until_s` at the latest.
    fn step(&mut self, light: &Light, until_s: f64) -> Result<(), NodeError> {
        let now_s = self.now_s;
        let edge_s = self.recorder.next_edge_s(now_s).min(until_s);
        // Time is a double: an edge that rounding has left behind is met by the next step.
        let dt_s = (edge_s - now_s).max(1e-12);
        let was_on = self.supply.is_on();
        let (gone_s, load, before_v) =
            if was_on { self.step_on(dt_s, light) } else { self.step_off(dt_s, light) };
        let supply = &self.supply;
        let after_v = supply.terminal_v(if supply.is_on() { load } else { Load::default() }, light);
        let doing = if was_on { Doing::Compute } else { Doing::Off };
        self.recorder.step(now_s, gone_s, (before_v, after_v), light.max_w, load.vcc_w, doing);
        self.now_s += gone_s;
        self.supply.unclosed().map_or(Ok(()), |unclosed| Err(NodeError::Balance(unclosed)))
    }

    /// The time that passed, the load, and the terminal's voltage before it.
    fn step_on(&mut self, dt_s: f64, light: &Light) -> (f64, Load, f64) {
        let supply = &mut self.supply;
        let starting = self.start_s > 0.0;
        let step = if starting {
            LoadStep { lasts_s: self.start_s, current_a: 0.0 }
        } else {
            self.steps[self.at]
        };
        let dt_s = dt_s.min(if starting { self.start_s } else { self.left_s });
        let load = step.at(supply);
        let before_v = supply.terminal_v(load, light);
        let (gone_s, cut) = draw(supply, step, dt_s, light);
        let after_v = supply.terminal_v(step.at(supply), light);
        self.terminal_min_v = self.terminal_min_v.min(before_v).min(after_v);
        if starting {
            let left_s = self.start_s - gone_s;
            self.start_s = if left_s > 1e-12 { left_s } else { 0.0 };
        } else {
            self.left_s -= gone_s;
        }
        if cut {
            supply.switch_off();
            self.brown_outs += 1;
            let text = format!("in step {}, store at {:.3} V", self.at + 1, supply.v_v());
            self.recorder.event(self.now_s + gone_s, "brown-out", text);
        } else if self.left_s <= 1e-12 {
            self.at = (self.at + 1) % self.steps.len();
            self.left_s = self.steps[self.at].lasts_s;
            self.rounds += u64::from(self.at == 0);
        }
        (gone_s, load, before_v)
    }

    fn step_off(&mut self, dt_s: f64, light: &Light) -> (f64, Load, f64) {
        let supply = &mut self.supply;
        let before_v = supply.v_v();
        let advance = supply.advance(dt_s, Load::default(), light);
        if advance.boundary == Some(Boundary::Restart) {
            supply.switch_on();
            self.starts += 1;
            (self.at, self.left_s) = (0, self.steps[0].lasts_s);
            self.start_s = if self.brown_outs > 0 { START_S } else { 0.0 };
            let text = format!("store at {:.3} V", supply.v_v());
            self.recorder.event(self.now_s + advance.elapsed_s, "on", text);
        }
        (advance.elapsed_s, Load::default(), before_v)
    }

    fn progress(&self, duration_s: f64) -> Progress {
        let (simulated_s, vcap_v) = (self.now_s, self.supply.v_v());
        Progress { simulated_s, duration_s, vcap_v, brown_outs: self.brown_outs, sent: 0 }
    }

    fn record(
        self,
        scenario: &Scenario,
        board: String,
        stored_begin_j: f64,
        v_safe_v: Option<f64>,
        finished: bool,
    ) -> RunRecord {
        let Self {
            supply, mut recorder, now_s, starts, brown_outs, rounds, terminal_min_v, ..
        } = self;
        recorder.end();
        let sums = *supply.sums();
        RunRecord {
            scenario: scenario.name.clone(),
            board,
            power_set: "load by profile".to_owned(),
            seed: scenario.seed,
            vcc_v: supply.config().vcc_v,
            duration_s: scenario.duration_s,
            simulated_s: now_s,
            finished,
            operations: rounds,
            symbols: std::collections::BTreeMap::new(),
            computations_s: recorder.computations_s(),
            computations_cut: recorder.computations_cut,
            series: std::mem::take(&mut recorder.series),
            timeline: std::mem::take(&mut recorder.timeline),
            timeline_cut: recorder.timeline_cut,
            events: std::mem::take(&mut recorder.events),
            events_cut: recorder.events_cut,
            energy: EnergyRecord {
                supply: sums,
                stored_begin_j,
                stored_end_j: supply.stored_j(),
                balance_rel: supply.balance_rel(),
                load: EnergyBreakdown::default(),
                loop_over_ledger_rel: 0.0,
                divider_j: 0.0,
            },
            starts,
            brown_outs,
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
            load: Some(LoadRecord { rounds, rounds_cut: brown_outs, terminal_min_v, v_safe_v }),
        }
    }
}
