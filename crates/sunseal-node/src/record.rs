// SPDX-License-Identifier: MIT OR Apache-2.0
//! Record that a run leaves behind. No wall clock in it: same scenario, same seed, same bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sunseal_link::{Frame, Kind};
use sunseal_power::{EnergyBreakdown, SupplySums};

use sunseal_radio::{AirPacket, RadioCounts};

use crate::coupons::CouponRecord;
use crate::load::{LoadRecord, Repeated};
use crate::scenario::Output;

/// Activity of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// Off: there is no supply.
    Off,
    /// CPU asleep, radio at rest.
    Sleep,
    /// CPU running, radio at rest.
    Compute,
    /// Waiting or working with the radio on.
    Radio,
}

/// A point of the time series: a stretch of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Time at which the stretch begins.
    pub time_s: f64,
    /// The store's terminal at its end.
    pub vcap_v: f64,
    /// The lowest in it.
    pub vcap_min_v: f64,
    /// The highest in it.
    pub vcap_max_v: f64,
    /// Mean power that the panel offered.
    pub panel_w: f64,
    /// Mean power of the node.
    pub load_w: f64,
    /// Share of the time without supply.
    pub off_share: f64,
    /// Share of the time with the radio on.
    pub radio_share: f64,
    /// Share of the time computing.
    pub compute_share: f64,
}

/// A stretch of one occupation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// Time at which the stretch begins.
    pub from_s: f64,
    /// Time at which the stretch ends.
    pub to_s: f64,
    /// Activity in the stretch.
    pub doing: Activity,
}

/// Something worth a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time at which it happened.
    pub time_s: f64,
    /// "on", "brown-out", "sent", "received".
    pub kind: Cow<'static, str>,
    /// Words that say what happened.
    pub text: String,
}

/// Energy that one component took while one function ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionEnergy {
    /// The function's symbol; `(asleep)`, `(off)`, `(starting)`, or `(unnamed)` where the image has none.
    pub function: String,
    /// The component; `divider` for what is taken past the converter.
    pub component: String,
    /// Energy, at the rail except for the divider's.
    pub energy_j: f64,
    /// Time for which the function itself ran.
    pub time_s: f64,
}

/// A stretch of the run in the steps that the loop took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Time at which the window begins.
    pub from_s: f64,
    /// Time at which the window ends.
    pub to_s: f64,
    /// Times at which steps begin, and the end of the last.
    pub time_s: Vec<f64>,
    /// The store's terminal there, under the load of the step that begins.
    pub vcap_v: Vec<f64>,
    /// Power of the node in the step that begins.
    pub load_w: Vec<f64>,
    /// Activity in each step.
    pub state: Vec<Activity>,
    /// True if it was cut because it has too many steps.
    pub cut: bool,
}

/// Messages on the air, counted in whole messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// Sent by the node, by kind.
    pub sent: BTreeMap<String, u64>,
    /// Received by the node with a good CRC, by kind.
    pub received: BTreeMap<String, u64>,
    /// Verdicts received, by code.
    pub verdicts: BTreeMap<u8, u64>,
}

/// The energy of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergyRecord {
    /// Energy of light, losses and load.
    pub supply: SupplySums,
    /// In the store at the beginning.
    pub stored_begin_j: f64,
    /// In the store at the end.
    pub stored_end_j: f64,
    /// In - out - lost - change of the store, over the larger of in and out.
    pub balance_rel: f64,
    /// The load by component and state, from the machine's own ledger.
    pub load: EnergyBreakdown,
    /// Energy that the closed loop delivered over that which the ledger prices, less 1: two ways to one figure.
    pub loop_over_ledger_rel: f64,
    /// Taken by the divider that shows the store's voltage.
    pub divider_j: f64,
}

/// Record of a whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRecord {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the board.
    pub board: String,
    /// Names of the power sets.
    pub power_set: String,
    /// Seed of the run.
    pub seed: u64,
    /// Voltage of the regulated supply.
    pub vcc_v: f64,
    /// Time for which it was to last.
    pub duration_s: f64,
    /// Time for which it lasted.
    pub simulated_s: f64,
    /// True if it came to its end.
    pub finished: bool,
    /// Time series of the store and the rail.
    pub series: Vec<SeriesPoint>,
    /// Number of times that the trigger pin fell: operations that came to their end.
    pub operations: u64,
    /// Bytes of the symbols that were asked for, in hexadecimal, as they were at the end.
    pub symbols: BTreeMap<String, String>,
    /// Activities of the node, one stretch after the other.
    pub timeline: Vec<Stretch>,
    /// True if the timeline was cut because it grew too long.
    pub timeline_cut: bool,
    /// Times at which the long computations began: those of at least a tenth of the longest.
    pub computations_s: Vec<f64>,
    /// True if there were too many of them to keep, and later ones are missing.
    pub computations_cut: bool,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// True if the events were cut because they grew too many.
    pub events_cut: bool,
    /// Energy by cause, with its checks.
    pub energy: EnergyRecord,
    /// Times the output was switched on.
    pub starts: u64,
    /// Times it was cut off.
    pub brown_outs: u64,
    /// Time of the first cut-off.
    #[serde(default)]
    pub first_cut_s: Option<f64>,
    /// Cycles that were like the ones before them and not played one by one, if there were such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// Reason for which it never gets past what cuts it off, and what would help, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<String>,
    /// Times a supervisor of the chip found its supply too low and held it in reset, the output still on.
    #[serde(default)]
    pub supervisor_resets: u64,
    /// CPU cycles in all.
    pub cycles: u64,
    /// Seconds by the node's activity.
    pub time_by_doing_s: BTreeMap<Activity, f64>,
    /// Counts of the radio.
    pub radio: RadioCounts,
    /// Messages on the air.
    pub messages: Messages,
    /// CPU cycle at each cut-off.
    pub brown_out_cycles: Vec<u64>,
    /// Energy of the load by function and component, the most first; if asked for. All of it is what the loop gave the
    /// node: `supply.load_j` and `supply.store_load_j`.
    pub functions: Option<Vec<FunctionEnergy>>,
    /// A closer look, if asked for.
    pub window: Option<Window>,
    /// Log that the program wrote.
    pub log: String,
    /// Books of its coupons, where the program makes some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupons: Option<CouponRecord>,
    /// Outcome of a load by profile, where there is one instead of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
}

impl fmt::Display for RunRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mj = |j: f64| format!("{:>14.6} mJ", j * 1e3);
        let (e, s) = (&self.energy, &self.energy.supply);
        writeln!(
            f,
            "scenario            {} on {}, {:.0} of {:.0} s",
            self.scenario, self.board, self.simulated_s, self.duration_s
        )?;
        writeln!(f, "starts, brown-outs  {}, {}", self.starts, self.brown_outs)?;
        writeln!(f, "supervisor resets   {}", self.supervisor_resets)?;
        for (doing, time_s) in &self.time_by_doing_s {
            writeln!(f, "  {:<17} {time_s:>14.3} s", format!("{doing:?}").to_lowercase())?;
        }
        writeln!(f, "CPU cycles          {}", self.cycles)?;
        for (what, counts) in [("sent", &self.messages.sent), ("received", &self.messages.received)]
        {
            let list: Vec<_> = counts.iter().map(|(k, n)| format!("{n} {k}")).collect();
            writeln!(
                f,
                "{what:<19} {}",
                if list.is_empty() { "nothing".to_owned() } else { list.join(", ") }
            )?;
        }
        let verdicts: Vec<_> =
            self.messages.verdicts.iter().map(|(c, n)| format!("{n} of code {c}")).collect();
        writeln!(
            f,
            "verdicts            {}",
            if verdicts.is_empty() { "none".to_owned() } else { verdicts.join(", ") }
        )?;
        writeln!(f, "in: panel           {}", mj(s.panel_j))?;
        for (name, j) in [
            ("lost: unused", s.unused_j),
            ("lost: curtailed", s.curtailed_j),
            ("lost: charger", s.charger_j),
            ("lost: leakage", s.leak_j),
            ("lost: resistance", s.esr_j),
            ("lost: quiescent", s.quiescent_j),
            ("lost: overhead", s.overhead_j),
            ("lost: converter", s.converter_j),
            ("out: regulated", s.load_j),
            ("out: divider", s.store_load_j),
            ("store: begin", e.stored_begin_j),
            ("store: end", e.stored_end_j),
        ] {
            writeln!(f, "{name:<19} {}", mj(j))?;
        }
        // Only some supplies have these.
        for (name, j) in [("lost: off the MPP", s.mppt_j), ("lost: decoupling", s.decoupling_j)] {
            if j != 0.0 {
                writeln!(f, "{name:<19} {}", mj(j))?;
            }
        }
        for (name, energy) in e.load.by_state() {
            if energy.typ > 0.0 {
                writeln!(
                    f,
                    "  {name:<17} {} ({:.6} to {:.6})",
                    mj(energy.typ),
                    energy.low * 1e3,
                    energy.high * 1e3
                )?;
            }
        }
        writeln!(f, "balance             {:.1e} of the energy moved", e.balance_rel)?;
        write!(f, "loop over ledger    {:+.1e}", e.loop_over_ledger_rel)
    }
}

/// Cycles that are alike and go by at once.
pub(crate) struct Cycles {
    /// Lowest and highest terminal.
    pub v_v: (f64, f64),
    /// The store at the end of the last.
    pub end_v: f64,
    pub panel_w: f64,
    /// Mean power of the node.
    pub load_w: f64,
    /// Share of the time for which it is at each activity.
    pub shares: [(Activity, f64); 2],
}

const MAX_STRETCHES: usize = 20_000;
/// A year of a node that sends every ten minutes and is answered, three times over.
const MAX_EVENTS: usize = 400_000;
const MAX_COMPUTATIONS: usize = 200_000;
const MAX_WINDOW: usize = 200_000;
/// A window has at least so many steps.
const WINDOW_STEPS: f64 = 2000.0;

/// Collects a run while it goes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Recorder {
    width_s: f64,
    bucket: usize,
    sums: BucketSums,
    v_last: f64,
    pub series: Vec<SeriesPoint>,
    /// The stretch that is not over.
    present: Option<Stretch>,
    pub timeline: Vec<Stretch>,
    pub timeline_cut: bool,
    computations: Vec<Stretch>,
    longest_s: f64,
    pub computations_cut: bool,
    pub events: Vec<Event>,
    pub events_cut: bool,
    pub messages: Messages,
    pub by_doing: BTreeMap<Activity, f64>,
    pub window: Option<Window>,
    pub first_cut_s: Option<f64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct BucketSums {
    low: f64,
    high: f64,
    time: f64,
    panel: f64,
    load: f64,
    share: [f64; 4],
}

const EMPTY: BucketSums = BucketSums {
    low: f64::INFINITY,
    high: f64::NEG_INFINITY,
    time: 0.0,
    panel: 0.0,
    load: 0.0,
    share: [0.0; 4],
};

impl Window {
    fn step(&mut self, from_s: f64, to_s: f64, v: (f64, f64), load_w: f64, doing: Activity) {
        if from_s < self.from_s || from_s >= self.to_s || to_s <= from_s {
            return;
        }
        if self.time_s.len() >= MAX_WINDOW {
            self.cut = true;
            return;
        }
        // The end of the step before is where this one begins.
        self.drop_end();
        for (time_s, v_v) in [(from_s, v.0), (to_s, v.1)] {
            self.time_s.push(time_s);
            self.vcap_v.push(v_v);
            self.load_w.push(load_w);
            self.state.push(doing);
        }
    }

    fn drop_end(&mut self) {
        self.time_s.pop();
        self.vcap_v.pop();
        self.load_w.pop();
        self.state.pop();
    }
}

impl Recorder {
    pub fn new(duration_s: f64, output: &Output, v_v: f64) -> Self {
        let points = output.points(duration_s);
        let window = output.window.map(|[from_s, to_s]| Window {
            from_s,
            to_s,
            time_s: Vec::new(),
            vcap_v: Vec::new(),
            load_w: Vec::new(),
            state: Vec::new(),
            cut: false,
        });
        Self {
            window,
            width_s: duration_s / points as f64,
            bucket: 0,
            sums: EMPTY,
            v_last: v_v,
            series: Vec::with_capacity(points),
            present: None,
            timeline: Vec::new(),
            timeline_cut: false,
            computations: Vec::new(),
            longest_s: 0.0,
            computations_cut: false,
            events: Vec::new(),
            events_cut: false,
            messages: Messages::default(),
            by_doing: BTreeMap::new(),
            first_cut_s: None,
        }
    }

    /// Until when a step that begins now may last so that it stays in one point, and in one of the window's.
    pub fn next_edge_s(&self, now_s: f64) -> f64 {
        let edge_s = self.point_end_s();
        match &self.window {
            Some(w) if now_s < w.from_s => edge_s.min(w.from_s),
            Some(w) if now_s < w.to_s => {
                edge_s.min(w.to_s).min(now_s + (w.to_s - w.from_s) / WINDOW_STEPS)
            }
            _ => edge_s,
        }
    }

    fn point_end_s(&self) -> f64 {
        (self.bucket + 1) as f64 * self.width_s
    }

    /// A step of the loop: it lies in the present point.
    pub fn step(
        &mut self,
        from_s: f64,
        dt_s: f64,
        v: (f64, f64),
        panel_w: f64,
        load_w: f64,
        doing: Activity,
    ) {
        let s = &mut self.sums;
        s.low = s.low.min(v.0).min(v.1);
        s.high = s.high.max(v.0).max(v.1);
        s.time += dt_s;
        s.panel += panel_w * dt_s;
        s.load += load_w * dt_s;
        s.share[doing as usize] += dt_s;
        self.v_last = v.1;
        *self.by_doing.entry(doing).or_default() += dt_s;
        let to_s = from_s + dt_s;
        if let Some(w) = &mut self.window {
            w.step(from_s, to_s, v, load_w, doing);
        }
        match &mut self.present {
            Some(present) if present.doing == doing => present.to_s = to_s,
            _ if dt_s == 0.0 => {}
            _ => {
                self.stretch_ends();
                self.present = Some(Stretch { from_s, to_s, doing });
            }
        }
        // The last bits of time must not open a point of their own.
        while to_s >= self.point_end_s() * (1.0 - 1e-12) {
            self.close();
        }
    }

    /// Until when cycles may go by at once: not into a stretch that is told step by step.
    pub fn alike_until_s(&self, now_s: f64) -> f64 {
        match &self.window {
            Some(w) if now_s < w.from_s => w.from_s,
            Some(w) if now_s < w.to_s => now_s,
            _ => f64::INFINITY,
        }
    }

    /// Cycles that are alike, over as many points as they take; of the timeline they are one stretch.
    pub fn cycles(&mut self, from_s: f64, to_s: f64, c: &Cycles) {
        let mut now_s = from_s;
        let begins_v = self.v_last;
        self.stretch_ends();
        while now_s < to_s {
            let end_s = self.point_end_s().min(to_s).max(now_s);
            let dt_s = end_s - now_s;
            let s = &mut self.sums;
            (s.low, s.high) = (s.low.min(c.v_v.0), s.high.max(c.v_v.1));
            s.time += dt_s;
            s.panel += c.panel_w * dt_s;
            s.load += c.load_w * dt_s;
            for (doing, share) in c.shares {
                s.share[doing as usize] += share * dt_s;
            }
            self.v_last = begins_v + (c.end_v - begins_v) * (end_s - from_s) / (to_s - from_s);
            while end_s >= self.point_end_s() * (1.0 - 1e-12) {
                self.close();
            }
            now_s = end_s;
        }
        for (doing, share) in c.shares.into_iter().filter(|s| s.1 > 0.0) {
            *self.by_doing.entry(doing).or_default() += share * (to_s - from_s);
        }
        let most = if c.shares[0].1 > c.shares[1].1 { c.shares[0].0 } else { c.shares[1].0 };
        self.present = Some(Stretch { from_s, to_s, doing: most });
        self.stretch_ends();
    }

    fn close(&mut self) {
        let s = std::mem::replace(&mut self.sums, EMPTY);
        let time = if s.time > 0.0 { s.time } else { 1.0 };
        self.series.push(SeriesPoint {
            time_s: self.bucket as f64 * self.width_s,
            vcap_v: self.v_last,
            vcap_min_v: s.low.min(self.v_last),
            vcap_max_v: s.high.max(self.v_last),
            panel_w: s.panel / time,
            load_w: s.load / time,
            off_share: s.share[Activity::Off as usize] / time,
            radio_share: s.share[Activity::Radio as usize] / time,
            compute_share: s.share[Activity::Compute as usize] / time,
        });
        self.bucket += 1;
    }

    fn stretch_ends(&mut self) {
        let Some(s) = self.present.take() else { return };
        if self.timeline.len() < MAX_STRETCHES {
            self.timeline.push(s);
        } else {
            self.timeline_cut = true;
        }
        if s.doing == Activity::Compute && self.is_long(&s) && !self.computations_cut {
            self.longest_s = self.longest_s.max(s.to_s - s.from_s);
            self.computations.push(s);
            if self.computations.len() > MAX_COMPUTATIONS {
                self.forget_short();
                self.computations_cut = self.computations.len() > MAX_COMPUTATIONS / 2;
            }
        }
    }

    fn is_long(&self, s: &Stretch) -> bool {
        s.to_s - s.from_s >= self.longest_s / 10.0
    }

    /// Forgets computations that were long till a longer one came.
    fn forget_short(&mut self) {
        let mut kept = std::mem::take(&mut self.computations);
        kept.retain(|s| self.is_long(s));
        self.computations = kept;
    }

    /// Times at which the long computations began.
    pub fn computations_s(&mut self) -> Vec<f64> {
        self.forget_short();
        self.computations.iter().map(|s| s.from_s).collect()
    }

    /// The last point and the last stretch, if they were begun.
    pub fn end(&mut self) {
        self.stretch_ends();
        if self.sums.time > 0.0 {
            self.close();
        }
    }

    pub fn event(&mut self, time_s: f64, kind: &'static str, text: String) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(Event { time_s, kind: Cow::Borrowed(kind), text });
        } else {
            self.events_cut = true;
        }
    }

    /// The output was cut off.
    pub fn cut(&mut self, time_s: f64, text: String) {
        self.first_cut_s.get_or_insert(time_s);
        self.event(time_s, "brown-out", text);
    }

    pub fn packet(&mut self, p: &AirPacket) {
        let time_s = p.time_us as f64 * 1e-6;
        let way = if p.sent { "sent" } else { "received" };
        let Ok(frame) = Frame::parse_packet(&p.packet) else {
            self.event(time_s, way, format!("{} bytes that are no frame", p.packet.len()));
            return;
        };
        let name = frame.kind.name();
        let good = if p.crc_ok { "" } else { ", CRC broken" };
        let last = frame.index + 1 == frame.count;
        let part = if frame.count == 1 {
            String::new()
        } else {
            format!(" {} of {}", frame.index + 1, frame.count)
        };
        self.event(time_s, way, format!("{name}{part}, {} bytes{good}", p.packet.len()));
        if !p.crc_ok || !last {
            return;
        }
        let counts = if p.sent { &mut self.messages.sent } else { &mut self.messages.received };
        *counts.entry(name.to_owned()).or_default() += 1;
        if frame.kind == Kind::Verdict
            && !p.sent
            && let Some(code) = frame.fragment.last()
        {
            *self.messages.verdicts.entry(*code).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_known_to_the_end_of_a_run_that_is_too_long_for_its_timeline() {
        const ROUNDS: u32 = 30_000;
        let mut r = Recorder::new(f64::from(ROUNDS), &Output::default(), 3.0);
        let mut now_s = 0.0;
        let mut step = |r: &mut Recorder, dt_s: f64, doing| {
            r.step(now_s, dt_s, (3.0, 3.0), 0.0, 0.0, doing);
            now_s += dt_s;
        };
        for round in 0..ROUNDS {
            // A wake-up that is short beside an operation, and was not beside the first one.
            let operation_s = if round == 0 { 0.03 } else { 0.2 };
            for (dt_s, doing) in [
                (0.5, Activity::Sleep),
                (0.01, Activity::Compute),
                (0.29, Activity::Radio),
                (operation_s / 2.0, Activity::Compute),
                (operation_s / 2.0, Activity::Compute),
            ] {
                step(&mut r, dt_s, doing);
            }
        }
        r.end();
        assert!(r.timeline_cut && r.timeline.len() == MAX_STRETCHES);
        let begun = r.computations_s();
        assert!(!r.computations_cut);
        assert_eq!(begun.len(), ROUNDS as usize, "the first is more than a tenth of the others");
        assert!(begun.windows(2).all(|w| w[1] - w[0] > 0.8));
    }
}
