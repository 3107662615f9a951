// SPDX-License-Identifier: MIT OR Apache-2.0
//! The node's program with coupons in the closed loop: surplus becomes signatures, which the gateway accepts as any others.

use std::sync::{Arc, Mutex};

use crate::common;
use crate::common::gateway::{Gateway, firmware};
use sunseal_link::{Message, VerdictCode};
use sunseal_node::{CouponRecord, LoopbackAir, Node, NodeError, RunRecord, Scenario, Sent};

const PROGRAM: &str = "p256-coupons";
const BRIGHT: &str = "duration_s = 900\n[supply]\ninitial_v = 4.4\n[harvest]\nconstant_w = 20e-3\n";

fn node(program: &str, more: &str, air: Box<dyn sunseal_node::Air>) -> Result<Node, NodeError> {
    let text = format!(
        "name = \"coupons\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\n{more}",
        firmware(program)
    );
    Node::with_air(&common::data(), Scenario::parse(&text, "coupons.toml")?, None, air)
}

fn play(more: &str) -> (RunRecord, CouponRecord, Gateway) {
    let gateway = Arc::new(Mutex::new(Gateway::new(2)));
    let ear = Arc::clone(&gateway);
    let air = LoopbackAir(move |sent: &Sent| ear.lock().unwrap().hear(sent));
    let mut node = node(PROGRAM, more, Box::new(air)).unwrap();
    let record = node.run(&mut |_| true).unwrap();
    drop(node);
    assert!(record.energy.balance_rel < 1e-6, "{}", record.energy.balance_rel);
    let apart = record.energy.loop_over_ledger_rel;
    assert!(apart.abs() < 2e-5, "the loop's load and the ledger's price are {apart} apart");
    let c = record.coupons.clone().expect("the program has coupons");
    assert_eq!(c.in_store_begin + c.produced, c.used + c.discarded + c.in_store_end, "{c:?}");
    let spent_j = c.produced_j + c.used_j + c.fallback_j + c.interrupted_j + c.open_j;
    assert!(spent_j > 0.0 && spent_j < record.energy.supply.load_j, "{c:?}");
    let gateway = Arc::into_inner(gateway).expect("the node is gone").into_inner().unwrap();
    let verdicts: Vec<_> = gateway.heard.iter().filter_map(|(_, _, v)| *v).collect();
    assert!(!verdicts.is_empty() && verdicts.iter().all(|v| *v == VerdictCode::Accepted));
    (record, c, gateway)
}

fn signed(gateway: &Gateway) -> u64 {
    let is =
        |m: &Message| matches!(m, Message::Report(_) | Message::Response(_) | Message::Enrol(_));
    gateway.heard.iter().filter(|(_, m, _)| is(m)).count() as u64
}

#[test]
fn surplus_becomes_signatures_that_the_gateway_accepts() {
    let (r, c, g) = play(&format!("{BRIGHT}[node]\nmode = \"both\"\nperiod_s = 60\n"));
    println!("{c:?}");
    assert_eq!((r.brown_outs, c.discarded, c.interrupted, c.in_store_begin), (0, 0, 0, 0));
    assert_eq!(c.used + c.fallbacks, signed(&g));
    // Before the first ones are made, the key is enrolled.
    assert!(c.fallbacks >= 1 && c.fallbacks <= 2 && c.used >= 8, "{c:?}");
    let (each_j, whole_j) = (c.used_j / c.used as f64, c.fallback_j / c.fallbacks as f64);
    assert!(each_j < whole_j / 10.0, "{each_j} and {whole_j} J");
    // Full again: flash keeps twelve in three of its four blocks.
    assert!((8..=12).contains(&c.in_store_end), "{c:?}");
}

#[test]
fn without_a_surplus_nothing_is_made_and_the_node_signs_whole() {
    let more = BRIGHT.replace("20e-3", "1e-3").replace("4.4", "3.5");
    let (_, c, g) = play(&format!("{more}[node]\nmode = \"periodic\"\nperiod_s = 60\n"));
    assert_eq!((c.produced, c.used, c.fallbacks), (0, 0, signed(&g)));
    // The lower level is kept from any energy that the next duty leaves.
    let (_, c, _) = play(&format!(
        "{more}[node]\nmode = \"periodic\"\nperiod_s = 60\n[node.coupons]\nlow = 2\n"
    ));
    assert!(c.produced > 8 && c.in_store_end <= 2, "{c:?}");
    // What is kept back is not spent.
    let (_, c, _) = play(&format!(
        "{more}[node]\nmode = \"periodic\"\nperiod_s = 60\n[node.coupons]\nlow = 2\nreserve_uj = 16000000\n"
    ));
    assert_eq!(c.produced, 0);
}

#[test]
fn each_wake_up_makes_no_more_than_it_may() {
    let made = |per_wake: u32, every_s: u32| {
        let more = BRIGHT.replace("900", "100").replace("4.4", "4.9");
        let (_, c, _) = play(&format!(
            "{more}[node]\nmode = \"periodic\"\nperiod_s = 600\n[node.coupons]\nper_wake = {per_wake}\nevery_s = {every_s}\n"
        ));
        c.produced
    };
    let (slow, fast) = (made(1, 30), made(3, 30));
    assert!((2..=5).contains(&slow) && fast >= 2 * slow, "{slow} {fast}");
    assert_eq!(made(1, 300), 1);
}

#[test]
fn a_node_that_dies_in_the_middle_of_everything_uses_no_coupon_twice_and_its_books_close() {
    // The gate is told that all is free, and a life lasts for little more than one coupon.
    let more = "seed = 9\nduration_s = 1500\n[supply]\ncapacitance_f = 0.0045\noverhead_j = 5e-4\ninitial_v = 2.6\n[harvest]\nconstant_w = 5e-4\n\
                [node]\nmode = \"both\"\nperiod_s = 1\nsign_uj = 1\nkeygen_uj = 1\nradio_uj = 1\nmargin_percent = 0\n\
                [node.coupons]\nlow = 3\nuse_uj = 1\nevery_s = 1\n";
    let (r, c, g) = play(more);
    println!("{} lives, {c:?}, counter {}", r.starts, g.counter);
    assert!(r.brown_outs > 50 && c.interrupted > 0 && c.used > 10, "{} {c:?}", r.brown_outs);
    let mut nonces: Vec<_> = g
        .heard
        .iter()
        .filter_map(|(_, m, _)| match m {
            Message::Report(m) => Some(m.signature[..32].to_vec()),
            Message::Response(m) => Some(m.signature[..32].to_vec()),
            _ => None,
        })
        .collect();
    let all = nonces.len();
    nonces.sort();
    nonces.dedup();
    assert!(all == nonces.len() && all > 10, "{} of {all}", nonces.len());
}

#[test]
fn a_checkpointed_run_keeps_its_books() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("coupons.checkpoint");
    let more = format!("{BRIGHT}[node]\nperiod_s = 60\n").replace("900", "200");
    let run = |stop_s: f64, resume: bool| {
        let mut node = node(PROGRAM, &more, Box::new(sunseal_node::Silence)).unwrap();
        node.keep(&path, std::time::Duration::from_secs(3600), Box::new(|_| ())).unwrap();
        if resume {
            node.resume(&path).unwrap();
        }
        node.run(&mut |p| p.simulated_s < stop_s).unwrap()
    };
    let whole = run(f64::INFINITY, false);
    let half = run(100.0, false);
    assert!(half.coupons.as_ref().unwrap().produced < whole.coupons.as_ref().unwrap().produced);
    assert_eq!(run(f64::INFINITY, true).coupons, whole.coupons);
}

#[test]
fn what_a_program_cannot_do_is_refused_in_a_sentence() {
    let told = |program: &str, table: &str| {
        let more = format!("{BRIGHT}[node.coupons]\n{table}");
        node(program, &more, Box::new(sunseal_node::Silence)).err().unwrap().to_string()
    };
    let none = told("p256", "low = 1\n");
    assert!(none.contains("it makes no coupons; take node-<curve>-coupons.elf"), "{none}");
    let many = told(PROGRAM, "high = 13\n");
    assert!(many.contains("node.coupons.high is 13; the program's memory keeps 12"), "{many}");
    let full = told(PROGRAM, "refill_above_v = 5.5\n");
    assert!(full.contains("charging stops at 5 V, so there would never be a surplus"), "{full}");
    let kind = told(PROGRAM, "kind = \"rsa\"\n");
    assert!(kind.contains("node.coupons.kind: unknown variant `rsa`, expected `ecdsa`"), "{kind}");
    let key = told(PROGRAM, "levels = 3\n");
    assert!(key.contains("node.coupons.levels: unknown field `levels`"), "{key}");
}
