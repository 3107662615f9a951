// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run in pieces, each by a node of its own that goes on from the last one's file, leaves the bytes of a run that
//! nobody stopped.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common;
use crate::common::gateway::{Gateway, firmware};
use common::{DUTIES, FOREVER, STOP_WATCHDOG, blinker, data, duty, program, program_with};
use proptest::prelude::*;
use sunseal_node::{Air, AirError, Answer, Node, NodeError, RunRecord, Scenario, Sent, Silence};
use sunseal_power::HarvestTrace;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.checkpoint"))
}

/// Stops at each of these times, in order; answers the last piece's record.
fn in_pieces(name: &str, stops_s: &[f64], node: &dyn Fn() -> Node) -> RunRecord {
    let file = file(name);
    let _ = std::fs::remove_file(&file);
    for (piece, stop_s) in stops_s.iter().chain([&f64::INFINITY]).enumerate() {
        let mut node = node();
        if piece > 0 {
            assert!(node.resume(&file).unwrap() > 0.0);
        }
        node.keep(&file, Duration::MAX, Box::new(|e| panic!("{e}"))).unwrap();
        let record = node.run(&mut |p| p.simulated_s < *stop_s).unwrap();
        if record.finished {
            assert!(stop_s.is_infinite(), "{stop_s}");
            return record;
        }
    }
    unreachable!("the last piece has no stop")
}

fn bytes(record: &RunRecord) -> String {
    serde_json::to_string(record).unwrap()
}

/// A light that changes, a store that the program empties again and again, RAM that wakes with noise.
fn dying(rail: &str) -> Scenario {
    let (words, vectors) = blinker(300);
    let elf = program_with("dying", &words, &vectors);
    let text = format!(
        "name = \"dying\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {elf:?}\nduration_s = 20\nseed = 7\n\
         [supply]\ncapacitance_f = 2e-4\noverhead_j = 1e-5\ninitial_v = 2.7\n{rail}\n\
         [harvest]\nmarkov = {{ on_w = 2e-3, mean_on_s = 1, mean_off_s = 0.5 }}\n[output]\npoints = 300\n"
    );
    Scenario::parse(&text, "dying").unwrap()
}

/// The node's own program, whose radio calls and mostly is not heard.
fn calling() -> Scenario {
    let text = format!(
        "name = \"node\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\nduration_s = 60\n[supply]\ninitial_v = 4.0\n\
         [faults]\nloss = 0.3\nflip = 0.1\n[node]\nmode = \"periodic\"\nperiod_s = 5\n",
        firmware("secp160r1")
    );
    Scenario::parse(&text, "node").unwrap()
}

fn alone(s: &Scenario) -> Node {
    Node::new(&data(), s.clone(), None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn brown_outs_in_pieces(mut at in prop::collection::vec(0.05f64..19.9, 1..4), direct: bool) {
        at.sort_by(f64::total_cmp);
        let s = dying(if direct { "output = \"direct\"" } else { "" });
        let whole = alone(&s).run(&mut |_| true).unwrap();
        prop_assert!(whole.brown_outs > 3, "{}", whole.brown_outs);
        prop_assert_eq!(bytes(&in_pieces(&format!("dying-{direct}"), &at, &|| alone(&s))), bytes(&whole));
    }
}

#[test]
fn every_boards_duty_in_pieces() {
    for board in DUTIES {
        let s = duty(board, 300, "");
        let whole = alone(&s).run(&mut |_| true).unwrap();
        let busy = whole.timeline.iter().filter(|t| format!("{:?}", t.doing) == "Compute");
        let at: Vec<f64> = busy.step_by(2).take(3).map(|t| (t.from_s + t.to_s) / 2.0).collect();
        assert!(at.len() == 3, "{:?}: {:?}", s.board, whole.timeline);
        let kept = in_pieces(&format!("duty-{}", s.board), &at, &|| alone(&s));
        assert_eq!(bytes(&kept), bytes(&whole), "{} stopped at {at:?}", s.board);
    }
}

/// The in-process gateway, which stays while node and engine are stopped.
struct Staying(Arc<Mutex<Gateway>>);

impl Air for Staying {
    fn exchange(&mut self, sent: &Sent) -> Result<Vec<Answer>, AirError> {
        Ok(self.0.lock().unwrap().hear(sent))
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

#[test]
fn radio_and_gateway_in_pieces() {
    let s = calling();
    let run = |at: &[f64]| {
        let gateway = Arc::new(Mutex::new(Gateway::new(3)));
        in_pieces("calling", at, &|| {
            let air = Box::new(Staying(Arc::clone(&gateway)));
            Node::with_air(&data(), s.clone(), None, air).unwrap()
        })
    };
    let whole = run(&[]);
    assert!(whole.radio.sent > 5 && whole.radio.received > 2, "{:?}", whole.radio);
    // Stops while it receives, sends, computes and sleeps: by the timeline of the whole run.
    let busy = whole.timeline.iter().filter(|t| format!("{:?}", t.doing) == "Radio");
    let at: Vec<f64> =
        busy.step_by(5).take(12).map(|t| t.from_s + (t.to_s - t.from_s) / 2.0).collect();
    assert!(at.len() >= 6, "{at:?}");
    for at in at.chunks(3) {
        assert_eq!(bytes(&run(at)), bytes(&whole), "stopped at {at:?}");
    }
}

fn busy(seed: u64, more: &str) -> Scenario {
    let words = [&STOP_WATCHDOG[..], &[FOREVER]].concat();
    let elf = program("kept", &words);
    let text = format!(
        "name = \"kept\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {elf:?}\nseed = {seed}\nduration_s = 10\n[supply]\ninitial_v = 4.0\n{more}"
    );
    Scenario::parse(&text, "kept").unwrap()
}

#[test]
fn a_checkpoint_of_another_run_or_a_damaged_one_is_refused() {
    let file = file("other");
    let mut node = alone(&busy(1, ""));
    node.keep(&file, Duration::ZERO, Box::new(|e| panic!("{e}"))).unwrap();
    assert!(!node.run(&mut |p| p.simulated_s < 3.0).unwrap().finished);
    let told = |mut node: Node, file: &Path| match node.resume(file) {
        Err(e @ NodeError::Checkpoint { .. }) => e.to_string(),
        other => panic!("{other:?}"),
    };
    assert!((3.0..3.3).contains(&alone(&busy(1, "")).resume(&file).unwrap()));
    assert!(told(alone(&busy(2, "")), &file).contains("of another scenario"));
    let light = HarvestTrace::constant(1e-3, 10.0).unwrap();
    let lit = Node::new(&data(), busy(1, ""), Some(light)).unwrap();
    assert!(told(lit, &file).contains("of another light"));
    let whole = std::fs::read(&file).unwrap();
    let mut other = busy(1, "");
    other.firmware = program("other", &[&STOP_WATCHDOG[..], &[0x4303, FOREVER]].concat());
    assert!(told(alone(&other), &file).contains("of another program"));
    // Cut short anywhere, or with any byte changed, it is not taken for a whole one.
    let broken = file.with_extension("broken");
    for n in [0, 5, 40, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&broken, &whole[..n]).unwrap();
        let sentence = told(alone(&busy(1, "")), &broken);
        assert!(sentence.contains("damaged") || sentence.contains("no checkpoint"), "{sentence}");
        let mut changed = whole.clone();
        changed[n] ^= 0x10;
        std::fs::write(&broken, changed).unwrap();
        told(alone(&busy(1, "")), &broken);
    }
    assert!(told(alone(&busy(1, "")), &file.with_extension("gone")).contains("cannot be read"));
}

#[test]
fn a_full_disk_is_told_and_the_run_goes_on_with_the_last_checkpoint_whole() {
    // On Linux this device is always full; what a run keeps beside it cannot be made at all.
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let mut node = alone(&busy(1, ""));
    let hear = Box::new(move |e: &str| heard.lock().unwrap().push(e.to_owned()));
    node.keep(Path::new("/proc/none/kept.checkpoint"), Duration::ZERO, hear).unwrap();
    assert!(node.run(&mut |_| true).unwrap().finished);
    let told = told.lock().unwrap();
    assert!(told.len() > 3 && told[0].contains("/proc/none/kept.checkpoint cannot be written"));
}

#[test]
fn an_air_that_cannot_be_gone_back_to_is_refused() {
    let air = sunseal_node::LoopbackAir(|_: &Sent| Vec::new());
    let mut node = Node::with_air(&data(), busy(1, ""), None, Box::new(air)).unwrap();
    let told = node.keep(&file("loopback"), Duration::ZERO, Box::new(|_| {})).unwrap_err();
    assert!(told.to_string().contains("cannot be kept"), "{told}");
    let mut node = Node::with_air(&data(), busy(1, ""), None, Box::new(Silence)).unwrap();
    assert!(node.keep(&file("silence"), Duration::ZERO, Box::new(|_| {})).is_ok());
}
