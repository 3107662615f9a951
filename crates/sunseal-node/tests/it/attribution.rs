// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy by function and component, and the window: both beside a run that neither was asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use crate::common;
use crate::common::gateway::{Gateway, firmware};
use common::{DUTIES, FOREVER, STOP_WATCHDOG, blinker, data, duty, program, program_with};
use sunseal_node::{Activity, LoopbackAir, Node, RunRecord, Scenario, Sent};

fn signing(output: &str) -> Scenario {
    let text = format!(
        "name = \"node\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\nduration_s = 40\n[supply]\ninitial_v = 4.0\n\
         [node]\nmode = \"periodic\"\nperiod_s = 5\n[output]\n{output}\n",
        firmware("secp160r1")
    );
    Scenario::parse(&text, "node").unwrap()
}

fn alone(s: Scenario) -> RunRecord {
    Node::new(&data(), s, None).unwrap().run(&mut |_| true).unwrap()
}

fn run(s: Scenario) -> RunRecord {
    let mut gateway = Gateway::new(20);
    let air = LoopbackAir(move |sent: &Sent| gateway.hear(sent));
    let mut node = Node::with_air(&data(), s, None, Box::new(air)).unwrap();
    node.run(&mut |_| true).unwrap()
}

/// Written once: tests run side by side.
static BLINKER: LazyLock<PathBuf> = LazyLock::new(|| {
    let (words, vectors) = blinker(300);
    program_with("attributed", &words, &vectors)
});

/// Cut off and started again, on a rail that follows the store or not.
fn dying(more: &str) -> Scenario {
    let elf = &*BLINKER;
    let text = format!(
        "name = \"dying\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {elf:?}\nduration_s = 8\n\
         [supply]\ncapacitance_f = 2e-4\noverhead_j = 1e-5\ninitial_v = 2.7\n{more}"
    );
    Scenario::parse(&text, "dying").unwrap()
}

type Sums<'a> = BTreeMap<&'a str, f64>;

/// Joules by component and by function, and how long each function ran.
fn sums(r: &RunRecord) -> (Sums<'_>, Sums<'_>, Sums<'_>) {
    let (mut parts, mut functions, mut time_s) = (Sums::new(), Sums::new(), Sums::new());
    let add = |map: &mut BTreeMap<_, f64>, key, x| *map.entry(key).or_default() += x;
    for row in r.functions.as_ref().unwrap() {
        add(&mut parts, row.component.as_str(), row.energy_j);
        add(&mut functions, row.function.as_str(), row.energy_j);
        if row.component == "cpu" {
            add(&mut time_s, row.function.as_str(), row.time_s);
        }
    }
    (parts, functions, time_s)
}

fn all_is_shared_out(r: &RunRecord) {
    let told: f64 = r.functions.as_ref().unwrap().iter().map(|f| f.energy_j).sum();
    let gave = r.energy.supply.load_j + r.energy.supply.store_load_j;
    assert!((told / gave - 1.0).abs() < 1e-9, "{told} of {gave} J");
    let time_s: f64 = sums(r).2.values().sum();
    assert!((time_s - r.simulated_s).abs() < 1e-6, "{time_s} of {} s", r.simulated_s);
}

/// The machine's ledger counts by state, on its own: component for component it says the same, but for what changes
/// within an instruction (flash that holds the CPU), which the loop prices to the instruction's end.
fn as_the_ledger_says(r: &RunRecord) {
    let told = sums(r).0;
    let mut ledger = Sums::new();
    for item in &r.energy.load.items {
        *ledger.entry(item.component.as_str()).or_default() += item.energy_j.typ;
    }
    let all: f64 = ledger.values().sum();
    for (component, joules) in &ledger {
        let told = told.get(component).copied().unwrap_or(0.0);
        assert!((told - joules).abs() < 1e-5 * all, "{component}: {told} {joules} of {all}");
    }
}

#[test]
fn the_stacks_by_function_hold_all_that_the_ledger_has() {
    let asked = run(signing("functions = true"));
    all_is_shared_out(&asked);
    let (_, functions, time_s) = sums(&asked);
    as_the_ledger_says(&asked);
    // It signs, and sleeps in between.
    assert!(functions.keys().any(|f| f.contains("mul")), "{:?}", functions.keys());
    assert!(time_s["(asleep)"] > 20.0 && functions["(asleep)"] > 0.0, "{time_s:?}");
    // Who asks changes nothing but what was asked for.
    let plain = run(signing(""));
    assert_eq!(plain, RunRecord { functions: None, ..asked });
}

/// Event by event on the FR5994 (FRAM misses, multiplications, wake-ups), state by state on the ATmega128L: the loop
/// draws what the ledger prices, once.
#[test]
fn on_every_board_the_loop_draws_what_the_ledger_prices() {
    let regulated = ("msp430fr5994-launchpad", "duty-fr5994", "");
    for board in DUTIES.into_iter().chain([regulated]) {
        let r = alone(duty(board, 300, "functions = true\n"));
        assert!(r.operations >= 5, "{board:?}: {}", r.operations);
        all_is_shared_out(&r);
        // A rail that follows the store is weighed at its mean.
        let allowed = if board == regulated { 1e-5 } else { 2e-3 };
        assert!(
            r.energy.loop_over_ledger_rel.abs() < allowed,
            "{board:?}: {:e}",
            r.energy.loop_over_ledger_rel
        );
    }
}

#[test]
fn brown_outs_and_rails_that_follow_are_shared_out_too() {
    for more in ["", "output = \"direct\"\n", "decoupling_f = 1e-5\noutput = \"diode\"\n"] {
        let light = "[harvest]\nconstant_w = 1.5e-3\n[output]\nfunctions = true\n";
        let r = run(dying(&format!("{more}{light}")));
        assert!(r.brown_outs > 1, "{more}: {}", r.brown_outs);
        all_is_shared_out(&r);
        let time_s = sums(&r).2;
        assert!(time_s["(off)"] > 0.01);
        // 2 ms each, for which the power set has no current.
        assert!((time_s["(starting)"] / r.starts as f64 - 2e-3).abs() < 1e-9, "{time_s:?}");
        assert_eq!(sums(&r).1["(starting)"], 0.0);
    }
}

#[test]
fn starts_that_take_energy_have_it_in_a_row_of_their_own() {
    let words = [&STOP_WATCHDOG[..], &[FOREVER]].concat();
    let mut s = dying(
        "harvester = \"anagear-an1010\"\ncapacitor = \"supercap-0f47-branches\"\n[harvest]\nconstant_w = 1.5e-3\n[output]\nfunctions = true\n",
    );
    s.board = "msp430fr5994-launchpad".to_owned();
    s.firmware = program("started", &words);
    let r = run(s);
    assert!(r.brown_outs > 1 && r.starts > 1, "{} {}", r.brown_outs, r.starts);
    all_is_shared_out(&r);
    // The ledger counts each start's charge as an event.
    let charge = r.energy.load.items.iter().find(|i| i.name == "pmm.wake_reset").unwrap();
    assert_eq!(charge.count, r.starts);
    let told_j = sums(&r).1["(starting)"];
    assert!((told_j / charge.energy_j.typ - 1.0).abs() < 1e-9, "{told_j} {charge:?}");
}

#[test]
fn a_window_shows_what_the_run_without_it_did() {
    let light = "[harvest]\nconstant_w = 1.5e-3\n";
    let plain = run(dying(light));
    let cut_s = plain.events.iter().find(|e| e.kind == "brown-out").unwrap().time_s;
    let (from_s, to_s) = (cut_s - 1e-4, cut_s + 1e-4);
    let r = run(dying(&format!("{light}[output]\nwindow = [{from_s:?}, {to_s:?}]\n")));
    // Other steps, the same physics.
    assert_eq!(r.brown_outs, plain.brown_outs);
    assert!(r.brown_out_cycles[0].abs_diff(plain.brown_out_cycles[0]) <= 16);
    let w = r.window.unwrap();
    assert!(w.time_s.len() > 100 && !w.cut, "{}", w.time_s.len());
    let length = w.time_s.len();
    assert_eq!((w.vcap_v.len(), w.load_w.len(), w.state.len()), (length, length, length));
    assert!(w.time_s.is_sorted());
    assert!((w.time_s[0] - from_s).abs() < 2e-5 && w.time_s[length - 1] >= to_s - 1e-12);
    // Off from the cut on, and at the cut at the cut-off voltage.
    let at = w.state.iter().position(|s| *s == Activity::Off).unwrap();
    assert!((w.time_s[at] - cut_s).abs() < 2e-5, "{} {cut_s}", w.time_s[at]);
    assert!(w.state[..at].iter().all(|s| *s != Activity::Off));
    assert!((w.vcap_v[at] - 1.9).abs() < 5e-3, "{}", w.vcap_v[at]);
    // About a megahertz: steps of some cycles.
    let longest_s = w.time_s.windows(2).map(|t| t[1] - t[0]).fold(0.0, f64::max);
    assert!(longest_s < 2e-5, "{longest_s}");
}

#[test]
fn a_window_outside_the_run_is_refused() {
    let text = "name = \"x\"\nboard = \"b\"\nfirmware = \"f\"\nduration_s = 10\n[output]\nwindow = [5, 11]\n";
    let told = Scenario::parse(text, "x.toml").unwrap_err().to_string();
    assert!(told.contains("output.window is from 5 s to 11 s"), "{told}");
}
