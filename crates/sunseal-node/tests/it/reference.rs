// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop against a plain reference: one cycle (or five microseconds of sleep) at a time, the
//! store integrated by a classic fourth-order step in each, no jumps, nothing asked ahead.

use crate::common::{self, FOREVER, STOP_WATCHDOG, blinker, data, program_with};
use proptest::prelude::*;
use sunseal_board::Board;
use sunseal_mcu::{Device, Elf, Machine, Until};
use sunseal_node::{Node, NodeError, Radio, RadioPins, RunRecord, Scenario, Silence};
use sunseal_power::{PowerModel, PowerSet, load_part};
use sunseal_radio::Cc2500Part;
use sunseal_trace::{Picos, Silent};

/// Figures of a life, in the scenario's and the reference's words.
#[derive(Clone, Copy, Debug)]
struct Case {
    capacitance_f: f64,
    esr_ohm: f64,
    leak_ohm: f64,
    initial_v: f64,
    overhead_j: f64,
    light_w: f64,
    duration_s: f64,
    seed: u64,
    /// 0: busy; else the turns of the interrupt handler.
    turns: u16,
}

impl Case {
    fn program(&self) -> (Vec<u16>, Vec<(u32, u32)>) {
        if self.turns == 0 {
            let mut words = STOP_WATCHDOG.to_vec();
            words.push(FOREVER);
            (words, Vec::new())
        } else {
            blinker(self.turns)
        }
    }

    fn run(&self, name: &str, longest_s: Option<f64>) -> RunRecord {
        self.try_run(name, longest_s).unwrap()
    }

    /// As `run`; a node that can never start is refused.
    fn try_run(&self, name: &str, longest_s: Option<f64>) -> Result<RunRecord, NodeError> {
        let (words, vectors) = self.program();
        let elf = program_with(name, &words, &vectors);
        let head =
            format!("name = \"{name}\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {elf:?}\n");
        let numbers = [
            ("duration_s", self.duration_s),
            ("supply.capacitance_f", self.capacitance_f),
            ("supply.esr_ohm", self.esr_ohm),
            ("supply.leak_ohm", self.leak_ohm),
            ("supply.initial_v", self.initial_v),
            ("supply.overhead_j", self.overhead_j),
            ("harvest.constant_w", self.light_w),
        ];
        let lines = numbers.map(|(key, number)| format!("{key} = {number:?}\n")).concat();
        let text = format!("{head}seed = {}\n{lines}output.points = 50\n", self.seed);
        let mut node = Node::new(&data(), Scenario::parse(&text, name).unwrap(), None)?;
        if let Some(step_s) = longest_s {
            node.set_longest_step_s(step_s);
        }
        node.run(&mut |_| true)
    }

    /// CPU cycles of each life, the share of the cycle in which the supply went included, and the store's
    /// voltage at the end.
    fn reference(&self) -> (Vec<f64>, f64) {
        let mut life = Reference::of(self);
        while life.m.time().as_seconds() < self.duration_s {
            if life.m.is_powered() {
                life.step_on();
            } else {
                life.step_off();
            }
        }
        (life.lives, life.v)
    }
}

// The harvester's figures, as data/parts/anagear-an1010.toml prints them.
const V_ON_V: f64 = 2.6;
const V_CUT_V: f64 = 1.9;
const V_MAX_V: f64 = 5.0;
const QUIESCENT_W: f64 = 6e-6;

/// A node as the reference plays it.
struct Reference {
    case: Case,
    m: Machine,
    model: PowerModel,
    vcc_v: f64,
    charge_w: f64,
    /// Leakage of the store, as a conductance.
    leak: f64,
    /// The same off: the harvester takes 2 uW at 2.6 V, as a resistor would.
    leak_off: f64,
    /// Voltage of the store, V.
    v: f64,
    starts: u64,
    lives: Vec<f64>,
    /// The CPU's cycle at the last cut.
    born: u64,
}

fn seconds(from: Picos, to: Picos) -> f64 {
    (to - from).as_seconds()
}

impl Reference {
    fn of(case: &Case) -> Self {
        let board = Board::load(&data().join("boards"), "msp430f5438a-anagear").unwrap();
        let wiring = board.radio.as_ref().unwrap();
        let part: Cc2500Part = load_part(&data().join("parts"), &wiring["part"], "radio").unwrap();
        let set =
            |name: &str, device: &str| PowerSet::load(&data().join("power"), name, device).unwrap();
        let sets = vec![set("datasheet", &board.device), set(&part.power_set, &part.model)];
        let model = PowerModel::new(sets).unwrap();
        let vcc_v = board.power.vcc_v;
        let (words, vectors) = case.program();
        let mut m = Machine::new(&Device::msp430f5438a());
        m.set_vcc(vcc_v);
        m.set_unit_seed(case.seed);
        m.load(&Elf::parse(&common::elf_with(&words, &vectors)).unwrap()).unwrap();
        let pins = RadioPins { gdo0: None, gdo2: None, somi: None };
        let (chip, _handle) = Radio::cc2500(part, pins, Box::new(Silence));
        let csn = wiring["csn"].parse().unwrap();
        m.attach_spi("radio", &wiring["serial"], csn, Box::new(chip)).unwrap();
        m.power_cut();
        let leak = 1.0 / case.leak_ohm;
        Self {
            case: *case,
            m,
            model,
            vcc_v,
            charge_w: if case.light_w < 20e-6 { 0.0 } else { 0.8 * case.light_w },
            leak,
            leak_off: leak + 2e-6 / (2.6 * 2.6),
            v: case.initial_v,
            starts: 0,
            lives: Vec::new(),
            born: 0,
        }
    }

    /// The current into the store that a power brings.
    fn current(&self, v: f64, net_w: f64) -> f64 {
        let esr_ohm = self.case.esr_ohm;
        ((v * v + 4.0 * esr_ohm * net_w).sqrt() - v) / (2.0 * esr_ohm)
    }

    fn integrated(&self, v: f64, (net_w, drain_s): (f64, f64), dt: f64) -> f64 {
        let slope = |v: f64| (self.current(v, net_w) - v * drain_s) / self.case.capacitance_f;
        let a = slope(v);
        let b = slope(v + dt / 2.0 * a);
        let c = slope(v + dt / 2.0 * b);
        let d = slope(v + dt * c);
        (v + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)).min(V_MAX_V)
    }

    fn price_w(&self) -> f64 {
        let point = self.m.operating_point();
        let current_a =
            |c: &str, s: &str| self.model.current_a(c, s, &point, self.vcc_v).unwrap().value.typ;
        let amps = self.m.states().iter().map(|(c, s)| current_a(c, s)).sum::<f64>();
        amps * self.vcc_v / 0.85
    }

    fn step_off(&mut self) {
        let (now, net) = (self.m.time(), (self.charge_w, self.leak_off));
        if self.v < V_ON_V {
            let after = self.integrated(self.v, net, 5e-6);
            // Where in the step it is reached; the line bends by nothing in five microseconds.
            let share = if after >= V_ON_V { (V_ON_V - self.v) / (after - self.v) } else { 1.0 };
            let until = Until::time(Picos(now.0 + (5e6 * share).ceil() as u128));
            let _ = self.m.run(&until, &mut Silent);
            self.v = self.integrated(self.v, net, seconds(now, self.m.time()));
            if share == 1.0 {
                return;
            }
        }
        self.v = (self.v * self.v - 2.0 * self.case.overhead_j / self.case.capacitance_f).sqrt();
        self.starts += 1;
        let before = self.m.time();
        let seed = self.case.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(self.starts);
        self.m.power_on(seed);
        let net = (self.charge_w - QUIESCENT_W, self.leak);
        self.v = self.integrated(self.v, net, seconds(before, self.m.time()));
    }

    fn step_on(&mut self) {
        let now = self.m.time();
        // What became due within the last instruction is in its state before the next one is priced.
        let _ = self.m.run(&Until::time(now), &mut Silent);
        let net = self.charge_w - QUIESCENT_W - self.price_w();
        let awake = self.m.state_of("cpu").unwrap().starts_with("active");
        let until = Until {
            cycles: awake.then(|| self.m.cycles() + 1),
            time: (!awake).then(|| Picos(now.0 + 5_000_000)),
            state_change: true,
            ..Until::default()
        };
        let begun = self.m.cycles();
        let _ = self.m.run(&until, &mut Silent);
        // Cycle by cycle: the supply may go in the middle of an instruction. The machine here ends it,
        // which is no part of this life or of the next.
        let (ran, dt) = (self.m.cycles() - begun, seconds(now, self.m.time()));
        let cycle_s = dt / ran.max(1) as f64;
        for gone in 1..=ran.max(1) {
            let after = self.integrated(self.v, (net, self.leak), cycle_s);
            let above_v = |v: f64| v + self.case.esr_ohm * self.current(v, net) - V_CUT_V;
            if above_v(after) > 0.0 {
                self.v = after;
                continue;
            }
            let share = above_v(self.v) / (above_v(self.v) - above_v(after));
            let in_it = if ran == 0 { 0.5 } else { (gone - 1) as f64 + share };
            self.lives.push((begun - self.born) as f64 + in_it);
            self.m.power_cut();
            self.born = self.m.cycles();
            self.v = self.integrated(self.v, (net, self.leak), share * cycle_s);
            let rest_s = dt - ((gone - 1) as f64 + share) * cycle_s;
            self.v = self.integrated(self.v, (self.charge_w, self.leak_off), rest_s);
            break;
        }
    }
}

const BUSY: Case = Case {
    capacitance_f: 2e-4,
    esr_ohm: 0.5,
    leak_ohm: 1e6,
    initial_v: 2.7,
    overhead_j: 1e-5,
    light_w: 1.5e-3,
    duration_s: 1.0,
    seed: 7,
    turns: 0,
};

fn agree(case: Case, name: &str) {
    let ours = case.run(name, None);
    let (lives, v) = case.reference();
    assert!(!lives.is_empty(), "the case must have a cut to compare: {case:?}");
    assert_eq!(ours.brown_out_cycles.len(), lives.len(), "{case:?}");
    let mut born = 0;
    for (cut, life) in ours.brown_out_cycles.iter().zip(&lives) {
        // The whole cycles that were run. Where the supply goes at the very end of one, a twentieth of a
        // cycle is what the two integrations may differ by.
        let ran = (cut - born) as f64;
        assert!(ran <= life + 0.05 && life - 0.05 < ran + 1.0, "{ran} {life} {case:?}");
        born = *cut;
    }
    let end_v = (2.0 * ours.energy.stored_end_j / case.capacitance_f).sqrt();
    assert!((end_v - v).abs() < 1e-4, "{end_v} {v}");
}

#[test]
fn every_cut_of_a_busy_node_is_at_the_very_cycle_of_the_reference() {
    agree(BUSY, "ref-busy");
    agree(Case { initial_v: 3.3, light_w: 0.0, capacitance_f: 5e-4, ..BUSY }, "ref-dark");
    agree(Case { esr_ohm: 20.0, ..BUSY }, "ref-esr");
    agree(Case { leak_ohm: 2e3, light_w: 8e-3, ..BUSY }, "ref-leak");
}

#[test]
fn every_cut_of_a_node_that_sleeps_and_wakes_is_at_the_cycle_of_the_reference() {
    agree(Case { turns: 900, ..BUSY }, "ref-blink");
    agree(Case { turns: 3000, esr_ohm: 5.0, ..BUSY }, "ref-blink-long");
}

#[test]
fn jumps_change_nothing() {
    for (turns, name) in [(0, "jump-busy"), (700, "jump-blink")] {
        let case = Case { turns, ..BUSY };
        let (jumps, steps) = (case.run(name, None), case.run(name, Some(2e-4)));
        assert_eq!(jumps.brown_out_cycles, steps.brown_out_cycles);
        assert_eq!(
            (jumps.cycles, jumps.starts, jumps.brown_outs, &jumps.radio),
            (steps.cycles, steps.starts, steps.brown_outs, &steps.radio)
        );
        let counts = |r: &RunRecord| -> Vec<(String, String, u64, u64)> {
            let items = r.energy.load.items.iter();
            items.map(|i| (i.component.clone(), i.name.clone(), i.cycles, i.count)).collect()
        };
        assert_eq!(counts(&jumps), counts(&steps));
        assert!((jumps.energy.stored_end_j - steps.energy.stored_end_j).abs() < 1e-12);
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let turns = prop_oneof![Just(0u16), 1u16..3000];
    let store = (5e-5f64..2e-3, 0.01f64..30.0, 1e3f64..1e7, 2.0f64..5.0);
    (
        store,
        0.0f64..2e-5,
        prop_oneof![Just(0.0), 0.0f64..2e-5, 1e-4f64..2e-2],
        0.01f64..1.5,
        any::<u32>(),
        turns,
    )
        .prop_map(
            |(
                (capacitance_f, esr_ohm, leak_ohm, initial_v),
                overhead_j,
                light_w,
                duration_s,
                seed,
                turns,
            )| Case {
                capacitance_f,
                esr_ohm,
                leak_ohm,
                initial_v,
                overhead_j,
                light_w,
                duration_s,
                seed: u64::from(seed),
                turns,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn the_energy_of_any_small_scenario_balances(case in cases()) {
        let r = match case.try_run("balance", None) {
            Err(e) if e.to_string().contains("can never start") => return Err(TestCaseError::reject("it never starts")),
            r => r.unwrap(),
        };
        let (e, s) = (&r.energy, &r.energy.supply);
        // Added up here again, from the terms that the supply booked one by one.
        let lost = s.unused_j + s.curtailed_j + s.mppt_j + s.charger_j + s.leak_j + s.esr_j + s.quiescent_j + s.overhead_j
            + s.converter_j + s.decoupling_j;
        let rest = s.panel_j - lost - s.load_j - s.store_load_j - (e.stored_end_j - e.stored_begin_j);
        // In the dark nothing comes in: then it is measured against what went out.
        let scale = s.panel_j.max(lost + s.load_j + s.store_load_j);
        prop_assert!(rest.abs() < 1e-6 * scale, "{rest} of {scale}: {case:?}");
        prop_assert!((s.panel_j - case.light_w * r.simulated_s).abs() <= 1e-9 * s.panel_j);
        // The load was booked step by step; the machine's ledger was priced once at the end.
        prop_assert!((s.load_j - e.load.total_j.typ).abs() <= 1e-6 * s.load_j, "{} {}", s.load_j, e.load.total_j.typ);
        for j in [s.unused_j, s.curtailed_j, s.charger_j, s.leak_j, s.esr_j, s.quiescent_j, s.overhead_j, s.converter_j] {
            prop_assert!(j >= 0.0);
        }
        prop_assert!(r.starts == r.brown_outs || r.starts == r.brown_outs + 1);
    }
}
