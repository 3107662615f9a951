// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that enrol, answer and report, and what becomes of all else that they or others send.

use serde_json::{Value, json};
use sunseal_link::{Message, Suite};
use sunseal_server::hex;

use crate::common::*;

fn order(suite: Suite) -> Vec<u8> {
    hex::decode(match suite {
        Suite::EcdsaP256Sha256 => {
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        }
        _ => "0100000000000000000001f4c8f927aed3ca752257",
    })
    .unwrap()
}

#[tokio::test]
async fn a_node_of_every_suite_enrols_answers_and_reports() {
    let (_server, client) = served("happy", &[]);
    for suite in Suite::ALL {
        let node = Node::new(suite.code(), Signer::new(suite));
        client.enrol(&node).await;
        let id = client.ask(&node).await;
        let challenge = client.challenge(&node).await;
        assert_eq!(challenge.0, id);
        let (status, said) = client.send(&node.response(challenge, 1)).await;
        assert_eq!((status, &said["verdict"], &said["reference"]), (200, &json!(0), &json!(1)));
        assert_eq!(said["security_bits"], suite.security_bits());
        let label = if suite == Suite::EcdsaP256Sha256 { "current" } else { "legacy" };
        assert_eq!(said["security_label"], label);
        for (counter, data) in [(2, &b""[..]), (3, b"21.5 C"), (9, &[0xff; 16])] {
            let answer = client.send(&node.report(data, counter)).await;
            assert_eq!(verdict(&answer), 0, "{answer:?}");
        }
        let kept = client.node(&node).await;
        assert_eq!(kept["counter"], 9);
        assert_eq!(
            kept["challenges"],
            json!({"asked": 1, "queued": 0, "issued": 0, "answered": 1, "expired": 0})
        );
        assert_eq!(kept["verdicts"], json!({"accepted": 5}));
    }
    let summary = client.get("/v1/summary").await;
    assert_eq!(summary["accepted_by_security_bits"], json!({"80": 8, "128": 4}));
    assert_eq!(summary["responses"], json!({"accepted": 3}));
    assert_eq!(summary["reports"], json!({"accepted": 9}));
    assert_eq!(summary["enrolments"], json!({"accepted": 3}));
    let total = json!({"asked": 3, "queued": 0, "issued": 0, "answered": 3, "expired": 0});
    assert_eq!(summary["challenges"], total);
}

#[tokio::test]
async fn fields_in_json_are_judged_like_bodies_from_the_air() {
    let (_server, client) = served("fields", &[]);
    let node = Node::new(1, Signer::new(Suite::EcdsaSecp160r1Sha256));
    client.open(&node).await;
    let Message::Enrol(m) = node.enrol() else { unreachable!() };
    let body = json!({"suite": "ecdsa-secp160r1-sha256", "public_key": hex::encode(&m.public_key),
                      "signature": hex::encode(&m.signature)});
    assert_eq!(verdict(&client.post(&node.path("enrol"), body).await), 0);
    client.ask(&node).await;
    let hello = json!({"counter": 0, "vcap_mv": 2500, "reason": "ready"});
    let (_, said) = client.post(&node.path("hello"), hello).await;
    let challenge = challenge_of(&said).unwrap();
    let Message::Response(m) = node.response(challenge, 1) else { unreachable!() };
    let mut body = json!({"challenge_id": m.challenge_id, "counter": 1, "suite": 3,
                          "signature": hex::encode(&m.signature[..41])});
    let answer = client.post(&node.path("responses"), body.clone()).await;
    assert_eq!((answer.0, verdict(&answer)), (400, 7));
    body["signature"] = hex::encode(&m.signature).into();
    assert_eq!(verdict(&client.post(&node.path("responses"), body).await), 0);
    let Message::Report(m) = node.report(b"hi", 2) else { unreachable!() };
    let body = json!({"counter": 2, "suite": 3, "data": hex::encode(&m.data),
                      "signature": hex::encode(&m.signature)});
    assert_eq!(verdict(&client.post(&node.path("reports"), body).await), 0);
}

/// Everything about a node but the counts of its verdicts.
async fn state(client: &Client, node: &Node) -> Value {
    let mut kept = client.node(node).await;
    kept.as_object_mut().unwrap().remove("verdicts");
    kept
}

#[tokio::test]
async fn every_refusal_has_its_own_verdict_and_changes_nothing_but_the_log() {
    for suite in Suite::ALL {
        let (_server, mut client) = served("refusals", &[]);
        let node = Node::new(1, Signer::new(suite));
        let thief = Node::new(1, Signer::new(suite));
        let other_suite = Suite::ALL[usize::from(suite.code()) % 3];
        client.enrol(&node).await;
        client.ask(&node).await;
        client.ask(&node).await;
        let used = client.challenge(&node).await;
        let first = node.response(used, 5);
        assert_eq!(verdict(&client.send(&first).await), 0);
        let open = client.challenge(&node).await;
        // No other gateway's any more.
        client.time_us += 10_000_001;

        let good = node.response(open, 6).encode().to_vec();
        let with_scalar = |at: usize, scalar: Vec<u8>| {
            let mut body = good.clone();
            let from = 17 + at * suite.scalar_bytes();
            body[from..from + scalar.len()].copy_from_slice(&scalar);
            body
        };
        let zero = vec![0; suite.scalar_bytes()];
        let mut stranger = good.clone();
        stranger[7] = 99;
        let mut foretold = good.clone();
        foretold[8..12].copy_from_slice(&77_u32.to_be_bytes());
        let mut unknown_suite = good.clone();
        unknown_suite[16] = 200;
        let mut long = good.clone();
        long.push(0);
        let cases: Vec<(&str, Vec<u8>, u64, u16)> = vec![
            ("the accepted response again", first.encode().to_vec(), 3, 403),
            ("an old counter", node.response(open, 5).encode().to_vec(), 3, 403),
            ("another key", thief.response(open, 6).encode().to_vec(), 2, 403),
            ("another nonce", node.response((open.0, used.1), 6).encode().to_vec(), 2, 403),
            ("r = 0", with_scalar(0, zero.clone()), 5, 403),
            ("s = 0", with_scalar(1, zero), 5, 403),
            ("r = n", with_scalar(0, order(suite)), 5, 403),
            ("s = n", with_scalar(1, order(suite)), 5, 403),
            ("a used challenge", node.response(used, 6).encode().to_vec(), 4, 403),
            ("a challenge never handed out", foretold, 4, 403),
            ("an unknown node", stranger, 1, 404),
            ("a suite that is not", unknown_suite, 8, 403),
            ("one byte short", good[..good.len() - 1].to_vec(), 7, 400),
            ("an identifier alone", good[..8].to_vec(), 7, 400),
            ("one byte long", long, 7, 400),
        ];
        let before = state(&client, &node).await;
        for (what, body, code, status) in cases {
            let answer = client.send_body("responses", &body).await;
            assert_eq!((verdict(&answer), answer.0), (code, status), "{what}: {answer:?}");
            assert_eq!(state(&client, &node).await, before, "{what}");
        }
        // A suite that this node did not enrol with, its sizes right.
        let other = Node::new(1, Signer::new(other_suite)).response(open, 6);
        assert_eq!(verdict(&client.send(&other).await), 8);
        // Enrolment is over for this node, and was never open for another.
        assert_eq!(verdict(&client.send(&thief.enrol()).await), 9);
        assert_eq!(verdict(&client.send(&Node::new(2, Signer::new(suite)).enrol()).await), 1);
        assert_eq!(state(&client, &node).await, before);

        // After all that the honest answer still counts, and the next comes too late.
        assert_eq!(verdict(&client.send_body("responses", &good).await), 0);
        client.ask(&node).await;
        let late = client.challenge(&node).await;
        client.time_us += 690_000_000;
        let answer = client.send(&node.response(late, 7)).await;
        assert_eq!(verdict(&answer), 4, "{answer:?}");
        let why = answer.1["why"].as_str().unwrap();
        assert!(why.ends_with("expired 90.0 s ago"), "{why}");
        let counts = client.node(&node).await["challenges"].clone();
        assert_eq!((&counts["expired"], &counts["queued"]), (&json!(0), &json!(1)));
    }
}

#[tokio::test]
async fn a_key_is_enrolled_only_with_proof_and_on_the_curve() {
    let (_server, client) = served("enrol", &[]);
    for suite in Suite::ALL {
        let node = Node::new(suite.code(), Signer::new(suite));
        client.open(&node).await;
        let Message::Enrol(good) = node.enrol() else { unreachable!() };
        let open = state(&client, &node).await;

        let mut off = good;
        let mut key = good.public_key.to_vec();
        key[3] ^= 1;
        off.public_key = sunseal_link::InlineBytes::copy_of(&key).unwrap();
        assert_eq!(verdict(&client.send(&Message::Enrol(off)).await), 6);

        // The node's key, presented by who has not its other half.
        let mut borrowed = good;
        borrowed.signature = Signer::new(suite).sign(b"anything");
        assert_eq!(verdict(&client.send(&Message::Enrol(borrowed)).await), 2);

        let short = &Message::Enrol(good).encode()[..60];
        assert_eq!(verdict(&client.send_body("enrol", short).await), 7);
        assert_eq!(state(&client, &node).await, open);

        // A message from a node that has shown no key yet.
        assert_eq!(verdict(&client.send(&node.report(b"x", 1)).await), 1);

        for _ in 0..2 {
            // The second time as if the verdict had been lost.
            let (status, said) = client.send(&Message::Enrol(good)).await;
            assert_eq!((status, &said["verdict"]), (200, &json!(0)), "{said}");
        }
        assert_eq!(client.node(&node).await["state"], "enrolled");
    }
    // The operator's own word is checked as well.
    let key = "00".repeat(64);
    let body = json!({"node_id": "00000000000000aa", "suite": 1, "public_key": key});
    assert_eq!(verdict(&client.post("/v1/nodes", body).await), 6);
    let node = Node::new(77, Signer::new(Suite::EcdsaP256Sha256));
    let key = hex::encode(&node.signer.public_key());
    let body =
        json!({"node_id": node.id.to_string(), "suite": "ecdsa-p256-sha256", "public_key": key});
    assert_eq!(client.post("/v1/nodes", body.clone()).await.0, 201);
    assert_eq!(verdict(&client.send(&node.report(b"x", 1)).await), 0);
    assert_eq!(client.post("/v1/nodes", body).await.0, 409);
}

#[tokio::test]
async fn no_single_flipped_bit_of_a_response_is_accepted() {
    let (_server, client) = served("flips", &[]);
    for suite in [Suite::EcdsaP256Sha256, Suite::EcdsaSecp160r1Sha1] {
        let node = Node::new(suite.code(), Signer::new(suite));
        client.enrol(&node).await;
        client.ask(&node).await;
        let challenge = client.challenge(&node).await;
        let good = node.response(challenge, 1).encode();
        let before = state(&client, &node).await;
        let mut told = std::collections::BTreeMap::new();
        for bit in 0..8 * good.len() {
            let mut body = good.to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            let answer = client.send_body("responses", &body).await;
            assert_ne!(verdict(&answer), 0, "bit {bit}");
            *told.entry(verdict(&answer)).or_insert(0) += 1;
        }
        // 64 bits name the node, 32 the challenge; the counter's bit 0 makes it 0, others raise it.
        assert_eq!((told[&1], told[&4]), (64, 32), "{told:?}");
        assert!(told[&2] > 300, "{told:?}");
        assert_eq!(state(&client, &node).await, before);
        assert_eq!(verdict(&client.send_body("responses", &good).await), 0);
    }
}

#[tokio::test]
async fn forged_hellos_draw_one_challenge_and_leave_the_queue() {
    let (_server, mut client, node) = enrolled("concurrent", &[], Suite::EcdsaP256Sha256).await;
    for _ in 0..3 {
        client.ask(&node).await;
    }
    let hello = node.hello();
    let answers = tokio::join!(client.send(&hello), client.send(&hello), client.send(&hello));
    let handed = [answers.0, answers.1, answers.2].map(|(_, said)| challenge_of(&said).unwrap());
    assert!(handed.iter().all(|c| *c == handed[0]), "{handed:?}");
    let counts = |node: Value| node["challenges"].clone();
    let told = counts(client.node(&node).await);
    assert_eq!(told, json!({"asked": 3, "queued": 2, "issued": 1, "answered": 0, "expired": 0}));
    // The real node answers it; then comes the next, and when that is too old it comes with another nonce.
    assert_eq!(verdict(&client.send(&node.response(handed[0], 1)).await), 0);
    let second = client.challenge(&node).await;
    assert_ne!(second.0, handed[0].0);
    assert_ne!(second.1, handed[0].1);
    client.time_us += 600_000_001;
    let third = client.challenge(&node).await;
    assert_eq!(third.0, second.0);
    assert_ne!(third.1, second.1);
    let told = counts(client.node(&node).await);
    assert_eq!(told, json!({"asked": 3, "queued": 1, "issued": 1, "answered": 1, "expired": 0}));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_answers_that_race_exactly_one_is_accepted() {
    let db = folder("race").join("s.db");
    // Two processes on one file: the transaction decides, not a lock in memory.
    let servers = [Running::server(&db, &[]), Running::server(&db, &[])];
    let clients = [Client::new(&servers[0]), Client::new(&servers[1])];
    for suite in Suite::ALL {
        let node = Node::new(suite.code(), Signer::new(suite));
        clients[0].enrol(&node).await;
        for round in 0..4 {
            clients[0].ask(&node).await;
            let challenge = clients[0].challenge(&node).await;
            // Different counters, so that the challenge is what they race for.
            let [a, b, c, d] =
                std::array::from_fn(|i| node.response(challenge, 10 * round + 1 + i as u32));
            let answers = tokio::join!(
                clients[0].send(&d),
                clients[1].send(&d),
                clients[0].send(&c),
                clients[1].send(&b),
                clients[0].send(&a),
            );
            let told = [&answers.0, &answers.1, &answers.2, &answers.3, &answers.4];
            let first = |answer: &&&(u16, Value)| answer.1["duplicate"].is_null();
            let accepted = |answer: &&&(u16, Value)| verdict(answer) == 0;
            assert_eq!(told.iter().filter(first).filter(accepted).count(), 1, "{answers:?}");
            // The same answer twice may be two gateways'.
            let others = told.iter().filter(first).filter(|answer| !accepted(answer));
            assert!(others.clone().all(|answer| [3, 4].contains(&verdict(answer))), "{answers:?}");
            assert!(others.count() >= 3, "{answers:?}");
        }
        let kept = clients[1].node(&node).await;
        assert_eq!(kept["challenges"]["answered"], 4);
        assert_eq!(kept["verdicts"]["accepted"], 5, "four answers and the enrolment");
    }
}

#[tokio::test]
async fn a_challenge_waits_for_its_time_and_for_a_node_that_can_answer() {
    let (_server, mut client, node) = enrolled("wait", &[], Suite::EcdsaP256Sha256).await;
    let body = json!({"not_before_us": 50_000_000});
    assert_eq!(client.post(&node.path("challenges"), body).await.0, 201);
    assert_eq!(client.send(&node.hello()).await.1["challenge"], Value::Null);
    client.time_us = 50_000_000;
    let low = json!({"counter": 0, "vcap_mv": 1900, "reason": "low"});
    assert_eq!(client.post(&node.path("hello"), low).await.1["challenge"], Value::Null);
    let challenge = client.challenge(&node).await;

    // Lost on the way: the same comes again, and once it is answered there is nothing else.
    assert_eq!(client.challenge(&node).await, challenge);
    client.time_us += 599_000_000;
    assert_eq!(client.challenge(&node).await, challenge);
    assert_eq!(verdict(&client.send(&node.response(challenge, 1)).await), 0);
    assert_eq!(client.send(&node.hello()).await.1["challenge"], Value::Null);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_challenges_and_is_said_to_be_insecure() {
    let mut all = Vec::new();
    for more in [&["--seed", "7"][..], &["--seed", "7"], &["--seed", "8"], &[]] {
        let (_server, client, node) = enrolled("seed", more, Suite::EcdsaP256Sha256).await;
        client.ask(&node).await;
        let summary = client.get("/v1/summary").await;
        assert_eq!(summary["insecure_seed"], !more.is_empty());
        all.push(client.challenge(&node).await.1);
    }
    assert_eq!(all[0], all[1]);
    assert!(all[1] != all[2] && all[2] != all[3] && all[1] != all[3]);
}

#[tokio::test]
async fn a_late_node_is_told_with_its_reason() {
    let (_server, mut client) = served("late", &[]);
    let hour_us = 3_600_000_000_u64;
    for number in 1..=3 {
        let node = Node::new(number, Signer::new(Suite::EcdsaSecp160r1Sha1));
        let body = json!({"node_id": node.id.to_string(), "name": format!("<n{number}>"),
                          "period_us": hour_us});
        assert_eq!(client.post("/v1/nodes", body).await.0, 201);
        if number > 1 {
            assert_eq!(verdict(&client.send(&node.enrol()).await), 0);
        }
        if number > 2 {
            let low = json!({"counter": 0, "vcap_mv": 1950, "reason": "low"});
            client.post(&node.path("hello"), low).await;
        }
    }
    assert_eq!(client.get("/v1/summary").await["late"], json!([]));
    client.time_us += 2 * hour_us;
    let late = client.get("/v1/summary").await["late"].clone();
    let why: Vec<&str> = (0..3).map(|i| late[i]["why"].as_str().unwrap()).collect();
    assert!(why[0].starts_with("enrolment is open for 2.0 h"), "{why:?}");
    assert!(why[1].starts_with("it has never shown itself"), "{why:?}");
    assert!(why[2].contains("its store is low (1.95 V)"), "{why:?}");
    assert_eq!(late[2]["late_by_us"], hour_us);
    let shown = client.get("/v1/nodes?late=true").await;
    assert_eq!(shown["nodes"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_challenge_is_fresh_up_to_its_last_microsecond() {
    for (late_us, code) in [(0, 0), (1, 4)] {
        let (_server, mut client, node) =
            enrolled("expiry", &["--freshness-s", "5"], Suite::EcdsaP256Sha256).await;
        client.ask(&node).await;
        client.ask(&node).await;
        let first = client.challenge(&node).await;
        client.time_us += 5_000_000 + late_us;
        let counts = client.node(&node).await["challenges"].clone();
        let told = [&counts["issued"], &counts["queued"], &counts["expired"]];
        assert_eq!(told, [&json!(1 - late_us), &json!(1 + late_us), &json!(0)]);
        assert_eq!(client.get("/v1/summary").await["challenges"], counts);
        // The same again as long as it can be answered, then with another nonce.
        assert_eq!(client.challenge(&node).await == first, late_us == 0);
        assert_eq!(verdict(&client.send(&node.response(first, 1)).await), code);
    }
}
