// SPDX-License-Identifier: MIT OR Apache-2.0
//! The real server on a free port with a database of its own, and what it must refuse.

mod common;

use std::io::{Read, Write};

use common::*;
use serde_json::{Value, json};
use sunseal_link::{Message, NodeId, Suite};
use sunseal_server::{hex, serve};

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
    let server = Running::server(&folder("happy").join("s.db"), &[]);
    let client = Client::new(&server);
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
    let server = Running::server(&folder("fields").join("s.db"), &[]);
    let client = Client::new(&server);
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
        let server = Running::server(&folder("refusals").join("s.db"), &[]);
        let mut client = Client::new(&server);
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
        assert_eq!(counts["expired"], 1);
    }
}

#[tokio::test]
async fn a_key_is_enrolled_only_with_proof_and_on_the_curve() {
    let server = Running::server(&folder("enrol").join("s.db"), &[]);
    let client = Client::new(&server);
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
    let server = Running::server(&folder("flips").join("s.db"), &[]);
    let client = Client::new(&server);
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
    let server = Running::server(&folder("concurrent").join("s.db"), &[]);
    let mut client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
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
    // The real node answers it; then, and after an expiry, comes the next.
    assert_eq!(verdict(&client.send(&node.response(handed[0], 1)).await), 0);
    let second = client.challenge(&node).await;
    assert_ne!(second.0, handed[0].0);
    assert_ne!(second.1, handed[0].1);
    client.time_us += 600_000_001;
    let third = client.challenge(&node).await;
    assert_ne!(third.0, second.0);
    let told = counts(client.node(&node).await);
    assert_eq!(told, json!({"asked": 3, "queued": 0, "issued": 1, "answered": 1, "expired": 1}));
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
            let mut told =
                [&answers.0, &answers.1, &answers.2, &answers.3, &answers.4].map(verdict);
            told.sort_unstable();
            assert_eq!(told[0], 0, "{answers:?}");
            assert!(told[1..].iter().all(|v| [3, 4].contains(v)), "{answers:?}");
        }
        let kept = clients[1].node(&node).await;
        assert_eq!(kept["challenges"]["answered"], 4);
        assert_eq!(kept["verdicts"]["accepted"], 5, "four answers and the enrolment");
    }
}

#[tokio::test]
async fn a_challenge_waits_for_its_time_and_for_a_node_that_can_answer() {
    let server = Running::server(&folder("wait").join("s.db"), &[]);
    let mut client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
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
async fn what_was_answered_survives_a_kill() {
    let db = folder("kill").join("s.db");
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    let server = Running::server(&db, &[]);
    let client = Client::new(&server);
    client.enrol(&node).await;
    client.ask(&node).await;
    client.ask(&node).await;
    let first = node.response(client.challenge(&node).await, 1);
    assert_eq!(verdict(&client.send(&first).await), 0);
    let pending = client.challenge(&node).await;
    let before = client.get("/v1/events").await;
    assert_eq!(server.signal("-KILL"), None);

    let server = Running::server(&db, &[]);
    let client = Client::new(&server);
    assert_eq!(client.get("/v1/events").await, before);
    assert_eq!(verdict(&client.send(&first).await), 3, "the replay is known after the restart");
    assert_eq!(verdict(&client.send(&node.response(pending, 2)).await), 0);

    // Ctrl-C ends it in order and leaves one file.
    assert_eq!(server.signal("-INT"), Some(0));
    assert!(!db.with_extension("db-wal").exists());
    let kept = rusqlite::Connection::open(&db).unwrap();
    let change = kept.execute("DELETE FROM events", []).unwrap_err().to_string();
    assert_eq!(change, "the event log only grows");
    let change = kept.execute("UPDATE events SET verdict = 0", []).unwrap_err().to_string();
    assert_eq!(change, "the event log only grows");
}

/// Killed at any moment, between commit and answer included: what was answered is kept, what was
/// not is either whole or absent, and no counter goes back.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_takes_nothing_back() {
    let db = folder("kill-busy").join("s.db");
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    let mut server = Running::server(&db, &[]);
    Client::new(&server).enrol(&node).await;
    let mut reports = Vec::new();
    let mut next: u32 = 0;
    let mut answered = None;
    for round in 0..6_u64 {
        let client = Client::new(&server);
        let (begun, kill) = std::sync::mpsc::channel();
        let victim = tokio::task::spawn_blocking(move || {
            kill.recv().unwrap();
            std::thread::sleep(std::time::Duration::from_micros(1_000 + 777 * round));
            server.signal("-KILL")
        });
        loop {
            if reports.len() == next as usize {
                reports.push(node.report(b"x", next));
            }
            let Some((_, said)) = client.try_send(&reports[next as usize]).await else { break };
            assert_eq!(said["verdict"], 0, "{said}");
            answered = Some(u64::from(next));
            next += 1;
            let _ = begun.send(());
        }
        assert_eq!(victim.await.unwrap(), None);
        server = Running::server(&db, &[]);
        let client = Client::new(&server);
        let kept = client.node(&node).await["counter"].as_u64();
        // Everything answered, and at most the one that was on its way.
        assert!(kept == answered || kept == Some(u64::from(next)), "{kept:?} {answered:?} {next}");
        if let Some(last) = kept {
            for old in last.saturating_sub(20)..=last {
                let answer = client.send(&reports[old as usize]).await;
                assert_eq!(verdict(&answer), 3, "{answer:?}");
            }
            next = last as u32 + 1;
        }
        answered = kept;
    }
    let kept = rusqlite::Connection::open(&db).unwrap();
    let sql = "SELECT count(*), count(DISTINCT detail ->> 'counter') FROM events
        WHERE kind = 'report' AND verdict = 0";
    let counts: (u32, u32) = kept.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
    assert_eq!(counts, (next, next));
}

#[tokio::test]
async fn the_same_seed_gives_the_same_challenges_and_is_said_to_be_insecure() {
    let mut all = Vec::new();
    for more in [&["--seed", "7"][..], &["--seed", "7"], &["--seed", "8"], &[]] {
        let server = Running::server(&folder("seed").join("s.db"), more);
        let client = Client::new(&server);
        let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
        client.enrol(&node).await;
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
    let server = Running::server(&folder("late").join("s.db"), &[]);
    let mut client = Client::new(&server);
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
async fn lists_come_in_pages() {
    let server = Running::server(&folder("pages").join("s.db"), &[]);
    let client = Client::new(&server);
    for number in 1..=5 {
        client.open(&Node::new(number, Signer::new(Suite::EcdsaP256Sha256))).await;
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/v1/nodes?limit=2{after}")).await;
        let nodes = page["nodes"].as_array().unwrap();
        seen.extend(nodes.iter().map(|n| n["node_id"].as_str().unwrap().to_owned()));
        match page["next_after"].as_str() {
            Some(id) => after = format!("&after={id}"),
            None => break,
        }
    }
    let want: Vec<String> =
        (1..=5).map(|n| NodeId([b'n', b'o', b'd', b'e', 0, 0, 0, n]).to_string()).collect();
    assert_eq!(seen, want);
    let page = client.get("/v1/events?after=1&limit=2").await;
    assert_eq!((&page["events"][0]["event_id"], &page["next_after"]), (&json!(2), &json!(3)));
    let page = client.get(&format!("/v1/events?node={}", want[4])).await;
    assert_eq!(page["events"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn requests_that_are_wrong_are_told_in_one_sentence() {
    let server = Running::server(&folder("wrong").join("s.db"), &[]);
    let client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
    let (hello, revoke) = (node.path("hello"), node.path("revoke"));
    let cases = [
        ("/v1/nodes", json!({"node_id": "12"}), 400, "16 hexadecimal digits, not `12`"),
        ("/v1/nodes", json!({"node": "12"}), 400, "unknown field `node`"),
        ("/v1/nodes", json!([]), 400, "not an object"),
        ("/v1/nodes", json!({"node_id": "00000000000000bb", "suite": 1}), 400, "belong together"),
        (
            "/v1/nodes",
            json!({"node_id": "00000000000000bb", "suite": 9, "public_key": ""}),
            400,
            "suites are 1 ecdsa",
        ),
        (
            "/v1/nodes",
            json!({"node_id": "00000000000000bb", "period_us": 0}),
            400,
            "period_us is 1",
        ),
        (
            "/v1/nodes",
            json!({"node_id": "00000000000000bb", "name": "n".repeat(101)}),
            400,
            "at most 100 bytes",
        ),
        (
            "/v1/nodes",
            json!({"node_id": "00000000000000bb", "name": "a\u{1b}[2J"}),
            400,
            "this one has U+001B",
        ),
        ("/v1/nodes", json!({"node_id": "00000000000000bb", "name": "\0"}), 400, "U+0000"),
        ("/v1/nodes", json!({"node_id": "00000000000000bb", "name": "a\u{85}"}), 400, "U+0085"),
        ("/v1/nodes", json!({"node_id": "00000000000000bb", "name": "a\u{202e}b"}), 400, "U+202E"),
        ("/v1/nodes", json!({"node_id": "00000000000000bb", "name": "a\u{2066}b"}), 400, "U+2066"),
        ("/v1/tokens", json!({"role": "gateway", "name": "a\nb"}), 400, "U+000A"),
        ("/v1/tokens", json!({"role": "king"}), 400, "operator or gateway"),
        (&revoke, json!({"why": "\u{7f}"}), 400, "U+007F"),
        ("/v1/nodes/0/hello", json!({}), 400, "16 hexadecimal digits"),
        ("/v1/nodes/00000000000000bb/challenges", json!({}), 404, "no node 00000000000000bb"),
        (&hello, json!({"body": "0g"}), 400, "`g` at offset 1"),
        (&hello, json!({"body": "00".repeat(15)}), 400, "the body is of node 0000000000000000"),
        (&hello, json!({"counter": -1}), 400, "at `counter`: invalid value"),
        (&hello, json!({"counter": 1, "vcap_mv": 1, "reason": "bored"}), 400, "boot, ready or low"),
        ("/v1/nodes", json!({"name": "n".repeat(20_000)}), 413, "16384 bytes"),
    ];
    for (path, body, status, words) in cases {
        let (found, said) = client.post(path, body).await;
        let why = said["error"].as_str().unwrap_or_else(|| panic!("{path}: {said}"));
        assert_eq!(found, status, "{path}: {why}");
        assert!(why.contains(words), "`{words}` is not in: {why}");
    }
}

#[tokio::test]
async fn a_status_page_shows_the_nodes() {
    let server = Running::server(&folder("page").join("s.db"), &[]);
    let client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaSecp160r1Sha1));
    client.enrol(&node).await;
    let mut page = std::net::TcpStream::connect(&server.address).unwrap();
    let asked = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        server.address, server.tokens.operator
    );
    page.write_all(asked.as_bytes()).unwrap();
    let mut text = String::new();
    page.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert!(text.contains("content-security-policy: default-src 'none'"), "{text}");
    assert!(text.contains(&node.id.to_string()) && text.contains("80 bits, legacy"), "{text}");
}

#[test]
fn a_database_that_cannot_be_used_is_told_and_left_alone() {
    let folder = folder("databases");
    let serve = |db: &str, words: &[&str]| {
        refused(&["serve", "--listen", "127.0.0.1:0", "--db", db], words);
    };
    let text = folder.join("text.db");
    std::fs::write(&text, "this is no database, it only looks like a file of some length").unwrap();
    let path = text.to_str().unwrap();
    serve(path, &[path, "corrupt or no SQLite database", "--db", "nothing was changed"]);
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("this is no database"));

    let foreign = folder.join("foreign.db");
    let path = foreign.to_str().unwrap();
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    serve(path, &[path, "another program", "nothing was changed"]);

    // The same with a log that its owner has not moved into the file yet: it stays where it is.
    let busy = folder.join("busy.db");
    let path = busy.to_str().unwrap();
    let owner = rusqlite::Connection::open(&busy).unwrap();
    owner.pragma_update(None, "journal_mode", "WAL").unwrap();
    owner.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    let files = || ["busy.db", "busy.db-wal"].map(|name| std::fs::read(folder.join(name)).unwrap());
    let before = files();
    assert!(before[1].len() > 4096);
    serve(path, &[path, "another program", "nothing was changed"]);
    assert_eq!(files(), before);
    // As if its owner had been killed.
    let killed = folder.join("killed.db");
    std::fs::write(&killed, &before[0]).unwrap();
    std::fs::write(folder.join("killed.db-wal"), &before[1]).unwrap();
    serve(killed.to_str().unwrap(), &["another program", "nothing was changed"]);
    assert_eq!(std::fs::read(&killed).unwrap(), before[0]);
    assert_eq!(std::fs::read(folder.join("killed.db-wal")).unwrap(), before[1]);

    let missing = folder.join("no-such-folder/s.db");
    serve(missing.to_str().unwrap(), &["no-such-folder/s.db", "cannot be opened"]);
    serve(folder.to_str().unwrap(), &["cannot be opened"]);

    // A database of ours, pages of which were overwritten.
    let torn = folder.join("torn.db");
    let path = torn.to_str().unwrap();
    assert_eq!(Running::server(&torn, &[]).signal("-INT"), Some(0));
    let mut bytes = std::fs::read(&torn).unwrap();
    let from = bytes.len() / 3;
    for byte in &mut bytes[from..] {
        *byte = 0xa5;
    }
    std::fs::write(&torn, &bytes).unwrap();
    serve(path, &[path, "corrupt", "nothing was changed"]);
    assert_eq!(std::fs::read(&torn).unwrap(), bytes);

    let newer = folder.join("newer.db");
    let path = newer.to_str().unwrap();
    assert_eq!(Running::server(&newer, &[]).signal("-INT"), Some(0));
    let db = rusqlite::Connection::open(&newer).unwrap();
    db.pragma_update(None, "user_version", 4).unwrap();
    drop(db);
    serve(path, &[path, "schema version 4", "versions up to 3"]);
}

#[test]
fn a_port_in_use_and_wrong_arguments_are_told() {
    let folder = folder("ports");
    let db = folder.join("s.db");
    let server = Running::server(&db, &[]);
    let other = folder.join("other.db");
    let path = other.to_str().unwrap();
    let taken = &server.address;
    refused(&["serve", "--listen", taken, "--db", path], &[taken, "in use", "--listen"]);
    assert!(!other.exists(), "a start that failed left a file");
    refused(
        &["serve", "--listen", "127.0.0.1:0", "--db", path, "--seed", "1"],
        &["--seed", "--clock driven"],
    );
    let url = format!("http://{taken}");
    refused(&["gateway", "--listen", taken, "--server", &url], &[taken, "in use"]);
    let listen = ["gateway", "--listen", "127.0.0.1:0", "--server"];
    let with = |more: &[&'static str]| [&listen[..], more].concat();
    refused(&with(&["ftp://x"]), &["ftp://x", "http://HOST:PORT"]);
    refused(&with(&["http://127.0.0.1:1", "--drop-rate", "2"]), &["--drop-rate 2", "0 .. 1"]);
    refused(
        &with(&["http://127.0.0.1:1", "--pcap", "/no-such-folder/a.pcap"]),
        &["/no-such-folder/a.pcap", "--pcap"],
    );
    refused(&["serve", "--db"], &["a value is required for '--db <DB>'", "--help"]);
    refused(&["serve"], &["required arguments were not provided", "--db <DB>"]);
    refused(&["serve", "--db", path, "--freshness-s", "0"], &["--freshness-s", "0 is not in"]);
    refused(&["serve", "--db", path, "--listen", "here"], &["'here'", "--listen"]);
    refused(&["serve", "--db", path, "--clock", "sundial"], &["sundial", "system, driven"]);
    refused(&["server"], &["unrecognized subcommand 'server'", "--help"]);
    assert!(!other.exists(), "a start that failed left a file");
    assert_eq!(ends(&["--version"]).status.code(), Some(0));
}

/// Sends bytes as they are and reads until the server hangs up.
fn raw(server: &Running, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_page_of_somebody_else_cannot_speak_for_the_operator() {
    let folder = folder("origin");
    let server = Running::server(&folder.join("s.db"), &["--host", "sunseal.example"]);
    let (address, port) = (&server.address, server.address.rsplit_once(':').unwrap().1);
    let body = r#"{"node_id":"00000000000000aa"}"#;
    let post = |headers: &str| {
        let length = body.len();
        raw(
            &server,
            &format!(
                "POST /v1/nodes HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{headers}\r\n{body}",
                server.tokens.operator
            ),
        )
    };
    for headers in [
        format!("Host: {address}\r\nOrigin: https://evil.example\r\n"),
        format!("Host: {address}\r\nOrigin: null\r\n"),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\n"),
        format!("Host: user@{address}\r\n"),
    ] {
        let answer = post(&headers);
        assert!(answer.starts_with("HTTP/1.1 403"), "{headers}{answer}");
    }
    for headers in [
        format!("Host: {address}\r\nOrigin: http://{address}\r\n"),
        format!("Host: localhost:{port}\r\n"),
        "Host: sunseal.example\r\nOrigin: https://sunseal.example\r\n".to_owned(),
    ] {
        // Created, then known already: neither is 403.
        let answer = post(&headers);
        let taken = answer.starts_with("HTTP/1.1 201") || answer.starts_with("HTTP/1.1 409");
        assert!(taken, "{headers}{answer}");
    }
}

#[test]
fn callers_that_say_nothing_keep_nobody_from_working_or_ending_it() {
    use std::io::Write;
    let folder = folder("silent");
    let server = Running::server(&folder.join("s.db"), &[]);
    let mut silent: Vec<_> =
        (0..40).map(|_| std::net::TcpStream::connect(&server.address).unwrap()).collect();
    for stream in &mut silent[..20] {
        stream.write_all(b"POST /v1/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Le").unwrap();
    }
    for stream in &mut silent[20..] {
        stream
            .write_all(b"POST /v1/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
            .unwrap();
    }
    let health =
        raw(&server, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    let asked = std::time::Instant::now();
    assert_eq!(server.signal("-INT"), Some(0));
    assert!(asked.elapsed().as_secs() < 6, "{:?}", asked.elapsed());
}

/// More silent callers than places: whoever has something to say takes the place of one of them.
#[test]
fn a_crowd_that_says_nothing_keeps_nobody_waiting() {
    let folder = folder("crowd");
    let server = Running::server(&folder.join("s.db"), &[]);
    let begun = std::time::Instant::now();
    let starts: [&[u8]; 3] = [
        b"",
        b"GET /healthz HT",
        b"POST /v1/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
    ];
    let crowd: Vec<_> = (0..2 * serve::MAX_CONNECTIONS)
        .map(|i| {
            let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
            stream.set_read_timeout(Some(std::time::Duration::from_secs(40))).unwrap();
            // Whoever was sent away already cannot write.
            let _ = stream.write_all(starts[i % 3]);
            stream
        })
        .collect();
    for _ in 0..3 {
        let health =
            raw(&server, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    }
    assert!(begun.elapsed() < serve::READ_TIMEOUT, "the crowd was waited for");
    // The first of the crowd lost their places, without a word; a late one with half a body keeps
    // his until his time is over, and hears why.
    let mut first = &crowd[0];
    assert_eq!(first.read(&mut [0; 12]).unwrap_or(0), 0);
    let mut told = [0; 12];
    let mut late = &crowd[500];
    late.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 408");
}

#[test]
fn nonsense_instead_of_http_is_survived() {
    let folder = folder("nonsense");
    let server = Running::server(&folder.join("s.db"), &[]);
    for nonsense in [
        "\0\u{1}\u{2}\r\n\r\n",
        "GET\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let answer = raw(&server, &format!("{nonsense}\r\n\r\n"));
        assert!(!answer.contains(" 200 "), "{nonsense:?}: {answer}");
    }
    let long = "x".repeat(1 << 20);
    let _ = std::panic::catch_unwind(|| raw(&server, &format!("GET /{long} HTTP/1.1\r\n\r\n")));
    let health = raw(&server, "GET /healthz HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
}

/// A file that may not grow stands for a full disk; `trap` turns the system's signal into an error.
#[tokio::test]
async fn a_full_disk_is_told_and_loses_nothing() {
    let db = folder("full").join("s.db");
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    let server = Running::server(&db, &[]);
    Client::new(&server).enrol(&node).await;
    assert_eq!(server.signal("-INT"), Some(0));

    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"]);
    shell.arg(env!("CARGO_BIN_EXE_sunseal-server"));
    shell.args(["serve", "--listen", "127.0.0.1:0", "--clock", "driven", "--db"]).arg(&db);
    let server = Running::spawn(shell).over(&db);
    let client = Client::new(&server);
    let mut accepted = None;
    let full = loop {
        let counter = accepted.map_or(0, |c| c + 1);
        let (status, said) = client.send(&node.report(&[0xff; 16], counter)).await;
        if status != 200 {
            break (status, said);
        }
        accepted = Some(counter);
        assert!(counter < 2_000, "the limit did not bite");
    };
    assert_eq!(full.0, 500);
    assert!(full.1["error"].as_str().unwrap().ends_with("nothing was changed"), "{full:?}");
    assert_eq!(client.node(&node).await["counter"].as_u64(), accepted.map(u64::from));
    let (status, health) = client.try_get("/healthz").await;
    assert_eq!((status, &health["status"]), (503, &json!("failing")), "{health}");
    assert!(health["error"].as_str().unwrap().contains("the latest write failed"), "{health}");
    // It goes on trying: a second later it is still told, and by a write of its own.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert_eq!(client.try_get("/healthz").await.0, 503);
    drop(server);

    // A start while it is full tells that, and not that the folder is wrong.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    shell.arg(env!("CARGO_BIN_EXE_sunseal-server"));
    shell.args(["serve", "--listen", "127.0.0.1:0", "--db"]).arg(&db);
    let out = shell.output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(
        said.contains("is full") && !said.contains("in a folder that can be written"),
        "{said}"
    );

    let server = Running::server(&db, &[]);
    let client = Client::new(&server);
    assert_eq!(client.node(&node).await["counter"].as_u64(), accepted.map(u64::from));
    let next = node.report(b"", accepted.unwrap() + 1);
    assert_eq!(verdict(&client.send(&next).await), 0);
    assert_eq!(client.get("/healthz").await["status"], "ok");
}

/// Every path of the server, and what it takes to be heard there.
#[tokio::test]
async fn whoever_merely_reaches_the_port_is_refused() {
    let server = Running::server(&folder("tokens").join("s.db"), &[]);
    let operator = Client::new(&server);
    let known = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    operator.enrol(&known).await;
    let before = operator.get("/v1/events").await;
    let strangers = [
        Client::without_token(&server),
        Client::with_token(&server, "operator-0"),
        Client::with_token(&server, &server.tokens.operator.to_uppercase()),
        Client::with_token(&server, ""),
    ];
    let gateway = Client::with_token(&server, &server.tokens.gateway);
    let id = json!({"node_id": "00000000000000aa"});
    let of_operator = [
        ("/v1/nodes".to_owned(), id),
        (known.path("challenges"), json!({})),
        (known.path("revoke"), json!({})),
        (known.path("rekey"), json!({})),
        ("/v1/tokens".to_owned(), json!({"role": "operator"})),
        ("/v1/tokens/1/revoke".to_owned(), json!({})),
    ];
    let questions =
        ["/", "/v1/summary", "/v1/events", "/v1/nodes", "/v1/nodes/6e6f646500000001", "/v1/tokens"];
    let Message::Enrol(m) = known.enrol() else { unreachable!() };
    let of_gateway = [
        (
            known.path("enrol"),
            json!({"suite": 1, "public_key": hex::encode(&m.public_key),
                                     "signature": hex::encode(&m.signature)}),
        ),
        (known.path("hello"), json!({"counter": 0, "vcap_mv": 2500, "reason": "ready"})),
        (known.path("responses"), json!({"body": hex::encode(&known.id.0)})),
        (known.path("reports"), json!({"body": hex::encode(&known.id.0)})),
    ];
    for stranger in &strangers {
        for (path, body) in of_operator.iter().chain(&of_gateway) {
            let (status, said) = stranger.post(path, body.clone()).await;
            assert_eq!(status, 401, "{path}: {said}");
            assert!(said["error"].as_str().unwrap().contains("Bearer TOKEN"), "{said}");
        }
        for path in questions {
            assert_eq!(stranger.try_get(path).await.0, 401, "{path}");
        }
        assert_eq!(stranger.try_get("/healthz").await.0, 200);
    }
    for (path, body) in &of_operator {
        let (status, said) = gateway.post(path, body.clone()).await;
        assert_eq!(status, 403, "{path}: {said}");
        assert!(said["error"].as_str().unwrap().contains("token of an operator"), "{said}");
    }
    for path in questions {
        assert_eq!(gateway.try_get(path).await.0, 403, "{path}");
    }
    assert_eq!(operator.get("/v1/events").await, before);
    let judged = [200, 200, 400, 400];
    for ((path, body), status) in of_gateway.iter().zip(judged) {
        assert_eq!(gateway.post(path, body.clone()).await.0, status, "{path}");
    }
}

#[tokio::test]
async fn tokens_are_told_once_kept_as_hashes_and_can_be_ended() {
    let db = folder("token-file").join("s.db");
    let path = db.to_str().unwrap();
    let server = Running::server(&db, &[]);
    let first = server.tokens.clone();
    assert!(first.operator.starts_with("operator-") && first.operator.len() == 9 + 48);
    assert_eq!(server.line["gateway_token"], *first.gateway);
    // Another, while the server runs, by whoever may write its file.
    let made = ends(&["token", "--db", path, "--role", "operator", "--name", "spare"]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let spare = Client::with_token(&server, made["token"].as_str().unwrap());
    assert_eq!(spare.get("/v1/tokens").await["tokens"].as_array().unwrap().len(), 3);
    assert_eq!(spare.post("/v1/tokens/1/revoke", json!({})).await.0, 200);
    assert_eq!(Client::new(&server).try_get("/v1/nodes").await.0, 401, "revoked");
    assert_eq!(server.signal("-INT"), Some(0));

    let server = Running::server(&db, &[]);
    assert_eq!(server.line.get("operator_token"), None, "told a second time");
    assert_eq!(server.signal("-INT"), Some(0));
    let bytes = std::fs::read(&db).unwrap();
    for token in [&first.operator, &first.gateway] {
        let secret = &token.as_bytes()[token.len() - 48..];
        assert!(!bytes.windows(48).any(|window| window == secret), "a token stands in the file");
    }
    let listed = ends(&["token", "--db", path]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(listed["tokens"][0]["revoked_us"].is_u64() && listed["tokens"][2]["name"] == "spare");
    refused(&["token", "--db", path, "--revoke", "1"], &["no token 1 holds"]);
    refused(&["token", "--db", path, "--role", "king"], &["operator or gateway"]);
}

#[tokio::test]
async fn an_open_server_says_so_and_is_only_for_loopback() {
    let folder = folder("open");
    let db = folder.join("s.db");
    let path = db.to_str().unwrap();
    refused(
        &["serve", "--listen", "0.0.0.0:0", "--db", path, "--open"],
        &["--open", "loopback", "0.0.0.0:0"],
    );
    assert!(!db.exists());
    let server = Running::server(&db, &["--open"]);
    assert_eq!(server.line.get("operator_token"), None);
    let client = Client::without_token(&server);
    client.enrol(&Node::new(1, Signer::new(Suite::EcdsaP256Sha256))).await;
    assert_eq!(client.get("/v1/summary").await["open_to_all"], true);
    assert_eq!(server.tells("open", 1)[0]["level"], "warn");
    let page = raw(&server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(page.contains("Open: whoever reaches this port is the operator"), "{page}");
    assert_eq!(server.signal("-INT"), Some(0));
    // Without --open the next time, the tokens are made.
    let server = Running::server(&db, &[]);
    assert!(server.line["operator_token"].is_string());
    assert_eq!(Client::new(&server).get("/v1/summary").await["open_to_all"], false);
}

#[tokio::test]
async fn a_node_is_revoked_and_given_up_to_a_new_key() {
    let server = Running::server(&folder("revoke").join("s.db"), &[]);
    let mut client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
    client.ask(&node).await;
    client.ask(&node).await;
    let challenge = client.challenge(&node).await;
    let old = node.report(b"old", 7);
    assert_eq!(verdict(&client.send(&old).await), 0);
    let body = json!({"why": "stolen"});
    let (status, said) = client.post(&node.path("revoke"), body.clone()).await;
    assert_eq!((status, &said["state"]), (200, &json!("revoked")), "{said}");
    for message in [node.report(b"x", 8), node.response(challenge, 9), node.enrol(), node.hello()] {
        let answer = client.send(&message).await;
        assert_eq!(verdict(&answer), 9, "{answer:?}");
        assert!(answer.1["why"].as_str().unwrap().contains("revoked"), "{answer:?}");
    }
    assert_eq!(client.post(&node.path("challenges"), json!({})).await.0, 409);
    assert_eq!(client.post(&node.path("revoke"), body).await.0, 409);
    assert_eq!(client.node(&node).await["counter"], 7);

    // A new key under the old name: the old one never again, and not what it has signed.
    let (status, said) = client.post(&node.path("rekey"), json!({})).await;
    assert_eq!((status, &said["state"], &said["counter"]), (200, &json!("open"), &Value::Null));
    assert_eq!(verdict(&client.send(&node.enrol()).await), 9);
    assert_eq!(verdict(&client.send(&old).await), 1);
    let renewed = Node::new(1, Signer::new(Suite::EcdsaSecp160r1Sha256));
    assert_eq!(verdict(&client.send(&renewed.enrol()).await), 0);
    assert_eq!(verdict(&client.send(&old).await), 8);
    assert_eq!(verdict(&client.send(&renewed.report(b"new", 1)).await), 0);
    client.time_us += 600_000_001;
    let challenge = client.challenge(&renewed).await;
    assert_eq!(verdict(&client.send(&renewed.response(challenge, 2)).await), 0);
    let summary = client.get("/v1/summary").await;
    assert_eq!(summary["accepted_by_security_bits"], json!({"80": 2, "128": 1}));

    // On the operator's word: not a key that the node has or had, nor one off the curve.
    for (key, status) in [
        (&node.signer.public_key()[..], 409),
        (&[0; 64][..], 403),
        (&Signer::new(Suite::EcdsaP256Sha256).public_key()[..], 200),
    ] {
        let body = json!({"suite": 1, "public_key": hex::encode(key)});
        assert_eq!(client.post(&node.path("rekey"), body).await.0, status);
    }
    let same = client.node(&node).await["public_key"].clone();
    let body = json!({"suite": 1, "public_key": same});
    assert_eq!(client.post(&node.path("rekey"), body).await.0, 409);
    assert_eq!(client.node(&node).await["state"], "enrolled");
    assert_eq!(client.post("/v1/nodes/00000000000000aa/rekey", json!({})).await.0, 404);
}

#[test]
fn a_request_that_two_could_read_in_two_ways_is_refused() {
    let server = Running::server(&folder("smuggled").join("s.db"), &[]);
    let (address, token) = (&server.address, &server.tokens.operator);
    let body = r#"{"node_id":"00000000000000aa"}"#;
    let length = body.len();
    let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
    let cases = [
        ("/v1/nodes", "HTTP/1.1", format!("Host: {address}\r\nHost: {address}"), "400"),
        ("/v1/nodes", "HTTP/1.1", format!("Host: {address}\r\nHost: evil.example"), "400"),
        ("/v1/nodes", "HTTP/1.1", String::new(), "400"),
        ("http://evil.example/v1/nodes", "HTTP/1.1", format!("Host: {address}"), "403"),
        ("http://evil.example/v1/nodes", "HTTP/1.0", String::new(), "403"),
    ];
    for (target, version, headers, status) in cases {
        let headers = if headers.is_empty() { headers } else { headers + "\r\n" };
        let answer = raw(
            &server,
            &format!(
                "POST {target} {version}\r\n{headers}Authorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            ),
        );
        assert!(answer.starts_with(&format!("{version} {status}")), "{target} {answer}");
    }
    for lengths in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}"),
        "Transfer-Encoding: chunked".to_owned(),
        format!("Content-Length: {length}\r\nContent-Length: 0"),
    ] {
        let answer = raw(
            &server,
            &format!(
                "POST /v1/nodes HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{lengths}\r\n\r\n{chunked}"
            ),
        );
        assert!(answer.starts_with("HTTP/1.1 4"), "{lengths}: {answer}");
    }
    let get = |target: &str| {
        let asked = format!(
            "GET {target} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        raw(&server, &asked)
    };
    let kept = get(&format!("http://{address}/v1/nodes"));
    assert!(kept.starts_with("HTTP/1.1 200") && kept.contains("\"nodes\":[]"), "{kept}");
}

#[tokio::test]
async fn a_challenge_is_fresh_up_to_its_last_microsecond() {
    for (late_us, code) in [(0, 0), (1, 4)] {
        let server = Running::server(&folder("expiry").join("s.db"), &["--freshness-s", "5"]);
        let mut client = Client::new(&server);
        let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
        client.enrol(&node).await;
        client.ask(&node).await;
        client.ask(&node).await;
        let first = client.challenge(&node).await;
        client.time_us += 5_000_000 + late_us;
        let counts = client.node(&node).await["challenges"].clone();
        assert_eq!((&counts["issued"], &counts["expired"]), (&json!(1 - late_us), &json!(late_us)));
        assert_eq!(client.get("/v1/summary").await["challenges"], counts);
        // The same again as long as it can be answered, then the next.
        assert_eq!(client.challenge(&node).await == first, late_us == 0);
        assert_eq!(verdict(&client.send(&node.response(first, 1)).await), code);
    }
}
