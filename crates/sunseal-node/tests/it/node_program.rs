// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loop with the node's own program: real signatures, a gateway in this process that verifies
//! them, light that comes and goes.

use std::sync::{Arc, Mutex};

use crate::common;
use crate::common::gateway::{Gateway, firmware};
use sunseal_link::{Message, Reason, VerdictCode};
use sunseal_node::{Answer, LoopbackAir, Node, RunRecord, Scenario, Sent};
use sunseal_power::HarvestTrace;

/// Plays a scenario with the gateway that asks at every so many HELLOs.
fn play(
    name: &str,
    curve: &str,
    asks_every: u32,
    more: &str,
    light: Option<HarvestTrace>,
) -> (RunRecord, Gateway) {
    let text = format!(
        "name = \"{name}\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\n{more}",
        firmware(curve)
    );
    let gateway = Arc::new(Mutex::new(Gateway::new(asks_every)));
    let ear = Arc::clone(&gateway);
    let air = LoopbackAir(move |sent: &Sent| ear.lock().unwrap().hear(sent));
    let scenario = Scenario::parse(&text, name).unwrap();
    let mut node = Node::with_air(&common::data(), scenario, light, Box::new(air)).unwrap();
    let record = node.run(&mut |_| true).unwrap();
    drop(node);
    assert!(record.energy.balance_rel < 1e-6, "{}", record.energy.balance_rel);
    let apart = record.energy.loop_over_ledger_rel;
    assert!(apart.abs() < 2e-5, "the loop's load and the ledger's price are {apart} apart");
    (record, Arc::into_inner(gateway).expect("the node is gone").into_inner().unwrap())
}

fn count(gateway: &Gateway, is: impl Fn(&Message) -> bool) -> usize {
    gateway.heard.iter().filter(|(_, m, _)| is(m)).count()
}

fn assert_all_accepted(gateway: &Gateway) {
    let verdicts: Vec<_> = gateway.heard.iter().filter_map(|(_, _, v)| *v).collect();
    assert!(
        !verdicts.is_empty() && verdicts.iter().all(|v| *v == VerdictCode::Accepted),
        "{verdicts:?}"
    );
}

const BRIGHT: &str = "duration_s = 660\n[supply]\ninitial_v = 3.5\n[harvest]\nconstant_w = 2e-3\n";

#[test]
fn both_modes_sign_and_every_signature_verifies() {
    for (curve, suite) in [("p256", "ecdsa-p256-sha256"), ("secp160r1", "ecdsa-secp160r1-sha256")] {
        let more = format!(
            "{BRIGHT}[node]\nmode = \"both\"\nperiod_s = 60\nsuite = \"{suite}\"\nnode_id = \"0011223344556677\"\n"
        );
        let (r, g) = play(&format!("both-{curve}"), curve, 2, &more, None);
        assert_all_accepted(&g);
        let reports = count(&g, |m| matches!(m, Message::Report(_)));
        let responses = count(&g, |m| matches!(m, Message::Response(_)));
        assert!((4..=6).contains(&reports), "{reports}");
        assert!(responses >= 2 && responses as u32 == g.challenges, "{responses} {}", g.challenges);
        assert_eq!(count(&g, |m| matches!(m, Message::Enrol(_))), 1);
        for (_, m, _) in &g.heard {
            if let Message::Report(m) = m {
                assert_eq!(
                    (m.node_id.0, m.suite.name()),
                    ([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77], suite)
                );
                // What it reports of its store is what the loop says: within a step of the ADC and its divider.
                let told_v = f64::from(u16::from_be_bytes([m.data[2], m.data[3]])) * 1e-3;
                let (low, high) = r.series.iter().fold((9.0, 0.0), |(a, b): (f64, f64), p| {
                    (a.min(p.vcap_min_v), b.max(p.vcap_max_v))
                });
                assert!(told_v > low - 0.01 && told_v < high + 0.01, "{told_v} in {low} to {high}");
            }
        }
        assert_eq!(r.messages.verdicts.get(&0).copied(), Some((1 + reports + responses) as u64));
        assert_eq!((r.brown_outs, r.starts), (0, 1));
    }
}

#[test]
fn each_mode_sends_what_it_should() {
    let (_, g) = play(
        "periodic",
        "secp160r1",
        1,
        &format!("{BRIGHT}[node]\nmode = \"periodic\"\nperiod_s = 60\n"),
        None,
    );
    assert_all_accepted(&g);
    // The first HELLO after a start may be asked; after that the node only reports.
    assert!(count(&g, |m| matches!(m, Message::Report(_))) >= 9);
    assert!(count(&g, |m| matches!(m, Message::Response(_))) <= 1);
    let (_, g) = play(
        "asked",
        "secp160r1",
        1,
        &format!("{BRIGHT}[node]\nmode = \"asynchronous\"\nperiod_s = 60\n"),
        None,
    );
    assert_all_accepted(&g);
    assert_eq!(count(&g, |m| matches!(m, Message::Report(_))), 0);
    assert!(count(&g, |m| matches!(m, Message::Response(_))) >= 9);
}

/// A small store in weak light: the gate must hold, and the supply goes now and then.
const POOR: &str = "duration_s = 5400\n[supply]\ncapacitance_f = 0.02\noverhead_j = 0.01\ninitial_v = 2.6\nleak_ohm = 3e4\n";

fn flicker() -> HarvestTrace {
    // Light for 10 minutes, dark for 20.
    let time: Vec<f64> = (0..=90).map(|m| f64::from(m) * 60.0).collect();
    let power = (0..=90).map(|m| if m % 30 < 10 { 1e-3 } else { 0.0 }).collect();
    HarvestTrace::from_arrays(time, power).unwrap()
}

#[test]
fn the_gate_holds_and_key_and_counter_outlive_the_supply() {
    let more =
        format!("{POOR}[node]\nmode = \"both\"\nperiod_s = 20\nsign_uj = 3000\nradio_uj = 1200\n");
    let (r, g) = play("poor", "secp160r1", 3, &more, Some(flicker()));
    assert!(r.brown_outs >= 2 && r.starts >= 3, "{} {}", r.brown_outs, r.starts);
    // One key for all lives; the gateway would have refused a counter that comes again.
    assert_all_accepted(&g);
    assert_eq!(count(&g, |m| matches!(m, Message::Enrol(_))), 1);
    assert!(count(&g, |m| matches!(m, Message::Report(_))) >= 5);
    for (time_us, m, _) in &g.heard {
        if let Message::Report(m) = m {
            let v = f64::from(u16::from_be_bytes([m.data[2], m.data[3]])) * 1e-3;
            let above_j = 0.01 * (v * v - 1.9 * 1.9);
            assert!(
                above_j >= 2.0 * 4.2e-3 - 1e-9,
                "at {time_us} us it signed with {above_j} J at {v} V"
            );
        }
    }
    let low = count(&g, |m| matches!(m, Message::Hello(h) if h.reason == Reason::Low));
    assert!(low >= 1, "a node that cannot pay says so");
    let boots = count(&g, |m| matches!(m, Message::Hello(h) if h.reason == Reason::Boot));
    assert!(boots >= 3, "{boots} boots in {} starts", r.starts);
}

#[test]
fn the_same_seed_is_the_same_run_bit_for_bit() {
    let more =
        format!("seed = 5\n{POOR}[faults]\nloss = 0.2\nflip = 0.1\n[node]\nperiod_s = 120\n")
            .replace("5400", "1200");
    let run = |more: &str| {
        let (r, g) = play("same", "secp160r1", 2, more, Some(flicker()));
        (serde_json::to_string(&r).unwrap(), g.heard)
    };
    let (first, again) = (run(&more), run(&more));
    assert_eq!(first, again);
    let other = run(&more.replace("seed = 5", "seed = 6"));
    assert_ne!(first.1, other.1, "another seed wakes another RAM and another key");
}

#[test]
fn a_lossy_air_costs_messages_and_nothing_else() {
    let more = "seed = 3\nduration_s = 3600\n[supply]\ninitial_v = 3.5\n[harvest]\nconstant_w = 2e-3\n[faults]\nloss = 0.2\nflip = 0.05\n\
                [node]\nmode = \"both\"\nperiod_s = 60\n";
    let (r, g) = play("lossy", "secp160r1", 2, more, None);
    // What arrives is sound: a damaged packet fails the CRC, a repeated counter never comes.
    assert_all_accepted(&g);
    let reports = count(&g, |m| matches!(m, Message::Report(_)));
    let sent = r.messages.sent["REPORT"];
    assert!(sent > reports as u64 && reports > 15, "{reports} of {sent} arrived");
    assert!(r.radio.crc_failed > 0, "{:?}", r.radio);
}

#[test]
fn a_gateway_that_goes_away_ends_the_run_with_one_sentence() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let text = format!(
        "name = \"gone\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\n{BRIGHT}[gateway]\naddress = \"{address}\"\n",
        firmware("secp160r1")
    );
    let mut node =
        Node::new(&common::data(), Scenario::parse(&text, "gone").unwrap(), None).unwrap();
    // It takes the connection and hangs up.
    drop(listener.accept().unwrap());
    let told = node.run(&mut |_| true).unwrap_err().to_string();
    assert!(told.starts_with("at ") && told.contains(&format!("gateway {address}: ")), "{told}");
    assert!(!told.contains('\n'), "{told}");
    // And one that was never there says how to start one.
    drop(listener);
    let never = Node::new(&common::data(), Scenario::parse(&text, "gone").unwrap(), None)
        .err()
        .unwrap()
        .to_string();
    assert!(never.contains("start one with `sunseal gateway`"), "{never}");
}

#[test]
fn a_node_that_dies_in_the_middle_of_everything_never_uses_a_number_twice() {
    // The gate is told that all is free, and a life lasts for little more than one signature.
    let more = "seed = 9\nduration_s = 900\n[supply]\ncapacitance_f = 0.002\noverhead_j = 5e-4\ninitial_v = 2.6\n[harvest]\nconstant_w = 5e-4\n\
                [node]\nmode = \"both\"\nperiod_s = 1\nsign_uj = 1\nkeygen_uj = 1\nradio_uj = 1\nmargin_percent = 0\n";
    let (r, g) = play("torture", "secp160r1", 2, more, None);
    println!("{} lives, {} messages, counter {}", r.starts, g.heard.len(), g.counter);
    assert!(r.brown_outs > 50, "{}", r.brown_outs);
    assert_all_accepted(&g);
    let keys: std::collections::BTreeSet<_> = g
        .heard
        .iter()
        .filter_map(
            |(_, m, _)| if let Message::Enrol(m) = m { Some(m.public_key.to_vec()) } else { None },
        )
        .collect();
    assert_eq!(keys.len(), 1, "the key is made once");
    assert!(g.counter > 50, "{}", g.counter);
}

#[test]
fn jumps_change_nothing_for_the_node_either() {
    let text = format!(
        "name = \"jumps\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\nduration_s = 200\n[supply]\ninitial_v = 3.5\n\
         [harvest]\nconstant_w = 2e-3\n[node]\nmode = \"both\"\nperiod_s = 60\n",
        firmware("secp160r1")
    );
    let run = |longest_s: f64| {
        let mut gateway = Gateway::new(2);
        let air = LoopbackAir(move |s: &Sent| gateway.hear(s));
        let scenario = Scenario::parse(&text, "jumps").unwrap();
        let mut node = Node::with_air(&common::data(), scenario, None, Box::new(air)).unwrap();
        node.set_longest_step_s(longest_s);
        node.run(&mut |_| true).unwrap()
    };
    let (jumps, steps) = (run(f64::INFINITY), run(1e-3));
    assert_eq!(
        (jumps.cycles, &jumps.messages, &jumps.radio),
        (steps.cycles, &steps.messages, &steps.radio)
    );
    assert_eq!(jumps.events, steps.events);
    let (a, b) = (&jumps.energy, &steps.energy);
    assert!(
        (a.stored_end_j - b.stored_end_j).abs() < 1e-12,
        "{} {}",
        a.stored_end_j,
        b.stored_end_j
    );
    assert!((a.divider_j - b.divider_j).abs() < 1e-12, "{} {}", a.divider_j, b.divider_j);
}

/// Times at which each packet was heard, in seconds, and the record; what is said back is the caller's.
fn listen(
    more: &str,
    answer: impl Fn(&Sent) -> Vec<Answer> + Send + 'static,
) -> (Vec<f64>, RunRecord) {
    let text = format!(
        "name = \"alone\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\nduration_s = 300\n\
         [supply]\ninitial_v = 4.0\n[harvest]\nconstant_w = 0.2\n[node]\nlog = true\n{more}",
        firmware("secp160r1")
    );
    let times = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&times);
    let air = LoopbackAir(move |sent: &Sent| {
        // The first of ENROL's three fragments stands for the message.
        if sent.packet[5] >> 4 == 0 {
            ear.lock().unwrap().push(sent.time_us as f64 * 1e-6);
        }
        answer(sent)
    });
    let scenario = Scenario::parse(&text, "alone").unwrap();
    let mut node = Node::with_air(&common::data(), scenario, None, Box::new(air)).unwrap();
    let record = node.run(&mut |_| true).unwrap();
    let times = times.lock().unwrap().clone();
    (times, record)
}

#[test]
fn long_pauses_are_drawn_by_lot_and_no_watchdog_ends_them() {
    // ENROL twelve times at one go, with pauses of 8 to 30 s in between.
    let more = "hello_tries = 12\nbackoff_ms = 4000\n";
    let (times, record) = listen(more, |_| Vec::new());
    let boots: Vec<_> = record.log.lines().filter(|l| l.starts_with("boot")).collect();
    assert_eq!(boots.len(), 1, "{boots:?}");
    assert!(times.len() >= 12, "{times:?}");
    // The VLO's own second is 3 % off at most.
    let pauses: Vec<_> = times[..12].windows(2).map(|w| w[1] - w[0]).collect();
    let in_span = |(i, pause): (usize, &f64)| {
        let least = if i == 0 { 8.0 } else { 15.0 };
        (0.95 * least..2.1 * least).contains(pause)
    };
    assert!(pauses.iter().enumerate().all(in_span), "{pauses:?}");
    let (least, most) =
        pauses[1..].iter().fold((99.0_f64, 0.0_f64), |(a, b), p| (a.min(*p), b.max(*p)));
    assert!(most - least > 1.0, "{pauses:?}");
}

#[test]
fn an_answer_is_awaited_for_the_whole_window() {
    let accepted = |sent: &Sent| {
        let whole = sent.packet[5] >> 4 == sent.packet[5] & 15;
        // VERDICT 0 of ENROL, later than 65535 periods of the VLO.
        let frame = [&[0x10, 1, 5, 0, 0][..], b"Sunseal\x01", &[0; 5]].concat();
        whole.then_some(Answer { delay_us: 8_500_000, frame, crc_ok: true }).into_iter().collect()
    };
    let (_, record) = listen("hello_tries = 1\nwindow_ms = 9000\n", accepted);
    assert!(record.messages.verdicts.get(&0).is_some_and(|n| *n >= 1), "{:?}", record.messages);
    assert!(record.log.contains("enrol answered=1"), "{}", record.log);
}
