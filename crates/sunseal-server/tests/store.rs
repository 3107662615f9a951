// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept: files of older versions, counts beside the log, floods, and the promise that an
//! answer leaves after its transaction is on the disk.

mod common;
mod power_cut;

use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use common::*;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use rusqlite::Connection;
use serde_json::{Value, json};
use sunseal_link::{Hello, Kind, Message, NodeId, Reason, Report, Suite, VerdictCode};
use sunseal_server::api::{self, App, Settings};
use sunseal_server::clock::Clock;
use sunseal_server::judge::{self, Intent, MAX_QUEUED, Rules, Welcome};
use sunseal_server::store::challenges::Counts;
use sunseal_server::store::origin::{self, Origin};
use sunseal_server::store::pruning;
use sunseal_server::store::{self, BYTES_A_MINUTE, Event, ROWS_A_MINUTE};

const MINUTE_US: u64 = 60_000_000;

fn rows(db: &Connection, sql: &str) -> Vec<String> {
    let mut statement = db.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |r: &rusqlite::Row<'_>| {
        let values: Vec<String> =
            (0..columns).map(|i| format!("{:?}", r.get_ref(i).unwrap())).collect();
        Ok(values.join(" "))
    };
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// The counts as the log tells them, rows that stand for several and those still to come included.
const RECOUNT: &str = "WITH told AS (
        SELECT node_id, kind, verdict, coalesce(detail ->> 'times', 1) AS times FROM events
            WHERE verdict IS NOT NULL
        UNION ALL SELECT nullif(node_id, x''), kind, verdict, count - rows FROM bursts
            WHERE verdict >= 0 AND count > rows)
    SELECT x'' AS node_id, kind, verdict, sum(times) FROM told GROUP BY kind, verdict
    UNION ALL SELECT node_id, kind, verdict, sum(times) FROM told JOIN nodes USING (node_id)
        GROUP BY node_id, kind, verdict ORDER BY 1, 2, 3";
const COUNTS: &str = "SELECT node_id, kind, verdict, count FROM counts ORDER BY 1, 2, 3";

/// A file of version 1 with its rows. Its tables are in files that servers have made: no change may reach them.
fn of_version_1(path: &Path) -> Connection {
    let schema = include_str!("../src/store/schema_1.sql");
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, schema.as_bytes());
    let frozen = "9d2886cb1b7f4b12ac74d14340fc37dd3f61e32de5abd6694f489f4baacd1fa8";
    let digest = sunseal_server::hex::encode(digest.as_ref());
    assert_eq!(digest, frozen, "a change of the tables is a step of its own");
    let old = Connection::open(path).unwrap();
    old.execute_batch(schema).unwrap();
    old.execute_batch(include_str!("data/version_1.sql")).unwrap();
    old
}

#[tokio::test]
async fn a_file_of_version_1_is_brought_up_to_date_and_kept() {
    let folder = folder("migration");
    let path = folder.join("s.db");
    let old = of_version_1(&path);
    let everything = |db: &Connection| {
        ["nodes", "challenges", "events"].map(|table| rows(db, &format!("SELECT * FROM {table}")))
    };
    let before = everything(&old);
    drop(old);

    // Something is in the copy's way: nothing is changed.
    let copy = store::older(&path, 1);
    std::fs::write(&copy, "mine").unwrap();
    let bytes = || std::fs::read(&path).unwrap();
    let untouched = bytes();
    refused(
        &["serve", "--listen", "127.0.0.1:0", "--db", path.to_str().unwrap()],
        &["schema version 1", "s.db.schema1", "move it away", "nothing was changed"],
    );
    assert_eq!(rows(&Connection::open(&path).unwrap(), "PRAGMA user_version"), ["Integer(1)"]);
    assert_eq!(untouched.len(), bytes().len());
    std::fs::remove_file(&copy).unwrap();

    let server = Running::server(&path, &[]);
    let mut client = Client::new(&server);
    client.time_us = 10_000;
    let node = client.get("/v1/nodes/6e6f646500000001").await;
    assert_eq!(node["verdicts"], json!({"accepted": 4, "replayed-counter": 1}));
    let asked = json!({"asked": 4, "queued": 1, "issued": 1, "answered": 1, "expired": 1});
    assert_eq!((&node["challenges"], &node["counter"]), (&asked, &json!(9)));
    let summary = client.get("/v1/summary").await;
    assert_eq!(summary["reports"], json!({"accepted": 2, "unknown-node": 1}));
    assert_eq!(summary["accepted_by_security_bits"], json!({"128": 3}));
    assert_eq!(summary["challenges"]["queued"], 2);
    let said = client.get("/v1/events").await;
    // Nine of before, two tokens made and one used.
    assert_eq!(said["events"].as_array().unwrap().len(), 12);
    assert_eq!(server.signal("-INT"), Some(0));

    let kept = Connection::open(&copy).unwrap();
    assert_eq!(rows(&kept, "PRAGMA user_version"), ["Integer(1)"]);
    assert_eq!(everything(&kept), before);
    let new = Connection::open(&path).unwrap();
    let version = format!("Integer({})", store::SCHEMA_VERSION);
    assert_eq!(rows(&new, "PRAGMA user_version"), [version]);
    assert_eq!(rows(&new, RECOUNT), rows(&new, COUNTS));
}

/// A file of version 1 whose change is cut short is still one of version 1.
#[test]
fn a_change_that_fails_half_way_changes_nothing() {
    let folder = folder("half-way");
    let path = folder.join("s.db");
    let old = of_version_1(&path);
    // The last step of the change fails: the table is there already.
    old.execute_batch("CREATE TABLE health (mine)").unwrap();
    drop(old);
    assert!(store::open(&path).is_err());
    let db = Connection::open(&path).unwrap();
    assert_eq!(rows(&db, "PRAGMA user_version"), ["Integer(1)"]);
    assert_eq!(rows(&db, "SELECT name FROM pragma_table_info('nodes')").len(), 12);
}

fn opened(name: &str) -> (Connection, std::path::PathBuf) {
    let path = folder(name).join("s.db");
    (store::open(&path).unwrap(), path)
}

fn enrolled(db: &Connection, number: u8) -> Node {
    let node = Node::new(number, Signer::new(Suite::EcdsaP256Sha256));
    let key = node.signer.public_key();
    let key = Some((Suite::EcdsaP256Sha256, &key[..]));
    judge::open(db, 1, node.id, "n", None, key).unwrap().unwrap();
    node
}

fn judged(db: &Connection, now_us: u64, message: &Message) -> VerdictCode {
    judge::message(db, now_us, message, None).unwrap().unwrap().verdict
}

#[test]
fn a_flood_of_replays_costs_twenty_rows_a_minute_and_is_counted_to_the_last() {
    let (mut db, path) = opened("flood");
    let node = enrolled(&db, 1);
    let first = node.report(b"x", 1);
    assert_eq!(judged(&db, 2, &first), VerdictCode::Accepted);
    let Message::Report(report) = first else { unreachable!() };
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let size = || std::fs::metadata(&path).unwrap().len();
    let (before, flood) = (size(), 100_000_u64);
    let tx = db.transaction().unwrap();
    for i in 0..flood {
        // Over three minutes, and every tenth from somebody who makes up identifiers.
        let now_us = MINUTE_US + i * 3 * MINUTE_US / flood;
        store::close_minutes(&tx, store::minute_of(now_us)).unwrap();
        if i % 10 == 0 {
            let stranger = Report { node_id: NodeId(i.to_be_bytes()), ..report };
            let verdict = judged(&tx, now_us, &Message::Report(stranger));
            assert_eq!(verdict, VerdictCode::UnknownNode);
        } else {
            assert_eq!(judged(&tx, now_us, &first), VerdictCode::ReplayedCounter);
        }
    }
    store::close_minutes(&tx, 4).unwrap();
    tx.commit().unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    assert!(size() - before < 100_000, "{} bytes for the flood", size() - before);
    let sql = "SELECT count(*), sum(coalesce(detail ->> 'times', 1)) FROM events
        WHERE kind = 'report' AND verdict <> 0";
    let found = db.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
    assert_eq!(found, (3 * 2 * (20 + 1), flood));
    assert_eq!(rows(&db, RECOUNT), rows(&db, COUNTS));
    let counts = store::verdict_counts(&db, Some(node.id), None).unwrap();
    assert_eq!(counts, json!({"accepted": 1, "replayed-counter": 90_000}));
    // Unknown nodes have no row of their own to fill the disk with.
    assert_eq!(rows(&db, "SELECT count(*) FROM counts"), ["Integer(5)"]);
}

/// Its VERDICT was lost: the same key once more is accepted, changes nothing, and does not fill the disk.
#[test]
fn an_enrolment_that_comes_again_changes_nothing() {
    let (db, _) = opened("enrolled-again");
    let node = enrolled(&db, 1);
    assert_eq!(judged(&db, 2, &node.report(b"x", 7)), VerdictCode::Accepted);
    let kept = "SELECT suite, public_key, enrolled_us, counter FROM nodes";
    let before = rows(&db, kept);
    for again in 0..3 * ROWS_A_MINUTE as u64 {
        assert_eq!(judged(&db, 3 + again, &node.enrol()), VerdictCode::Accepted);
    }
    assert_eq!(rows(&db, kept), before);
    store::close_minutes(&db, 1).unwrap();
    let sql =
        "SELECT count(*), sum(coalesce(detail ->> 'times', 1)) FROM events WHERE kind = 'enrol'";
    let told: (u64, u64) = db.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
    assert_eq!(told, (ROWS_A_MINUTE as u64 + 1, 3 * ROWS_A_MINUTE as u64));
}

/// No challenge is spent on who could not hear or not answer it.
#[test]
fn who_does_not_listen_or_has_no_key_is_not_called() {
    let (db, _) = opened("called");
    let (node, bare) = (enrolled(&db, 1), Node::new(2, Signer::new(Suite::EcdsaP256Sha256)));
    judge::open(&db, 1, bare.id, "no key yet", None, None).unwrap().unwrap();
    let called = |id| judge::wake(&db, 9, &Rules::default(), id).unwrap();
    let listens = |node_id| {
        // Low: it gets nothing for the HELLO itself.
        let (reason, listen_ms) = (Reason::Low, 1000);
        let said = Hello { node_id, counter: 0, vcap_mv: 2_700, reason, listen_ms };
        assert!(matches!(judge::hello(&db, 2, &Rules::default(), &said).unwrap(), Welcome::Idle));
    };
    for id in [node.id, bare.id] {
        judge::queue(&db, 1, id, Intent::default()).unwrap().unwrap();
        assert!(matches!(called(id), Welcome::Idle));
        listens(id);
    }
    assert!(matches!(called(bare.id), Welcome::Idle));
    assert!(matches!(called(node.id), Welcome::Challenge(_)));
}

/// What happens rarely, or is signed, has its row however often it comes.
#[test]
fn what_is_accepted_has_a_row_each() {
    let (db, _) = opened("accepted");
    let node = enrolled(&db, 1);
    for counter in 1..=2 * ROWS_A_MINUTE as u32 {
        assert_eq!(judged(&db, 1, &node.report(b"", counter)), VerdictCode::Accepted);
        judge::queue(&db, 1, node.id, Intent::default()).unwrap().unwrap();
    }
    let sql = "SELECT kind, count(*) FROM events GROUP BY kind ORDER BY kind";
    let each = 2 * ROWS_A_MINUTE;
    assert_eq!(
        rows(&db, sql)[..2],
        [
            format!("Text({:?}) Integer({each})", b"challenge-queued".as_slice()),
            format!("Text({:?}) Integer(1)", b"enrolled".as_slice())
        ]
    );
    // HELLO is not signed: whoever reaches the air can say it all day.
    let Message::Hello(hello) = node.hello() else { unreachable!() };
    for _ in 0..100 {
        let welcome = judge::hello(&db, 1, &Rules::default(), &hello).unwrap();
        assert!(matches!(welcome, Welcome::Challenge(_)));
    }
    assert_eq!(rows(&db, "SELECT count(*) FROM events WHERE kind = 'hello'"), ["Integer(20)"]);
    let sql = "SELECT count(*) FROM events WHERE kind = 'challenge-issued'";
    assert_eq!(rows(&db, sql), ["Integer(21)"]);
}

#[test]
fn ten_thousand_challenges_wait_for_a_node_and_no_more() {
    let (db, _) = opened("queue");
    let node = enrolled(&db, 1);
    db.execute_batch("BEGIN").unwrap();
    for i in 0..MAX_QUEUED {
        assert!(judge::queue(&db, 1, node.id, Intent::default()).unwrap().is_ok(), "number {i}");
    }
    assert_eq!(MAX_QUEUED, 10_000);
    let refused = judge::queue(&db, 1, node.id, Intent::default()).unwrap().unwrap_err();
    assert_eq!(refused.verdict, VerdictCode::NotOpen);
    // One is handed out, and there is room for one.
    let Message::Hello(hello) = node.hello() else { unreachable!() };
    judge::hello(&db, 1, &Rules::default(), &hello).unwrap();
    assert!(judge::queue(&db, 1, node.id, Intent::default()).unwrap().is_ok());
    assert!(judge::queue(&db, 1, node.id, Intent::default()).unwrap().is_err());
}

/// Lists and counts never read the log: they are the same without it, however long it is.
#[test]
fn no_question_about_nodes_reads_the_log() {
    let (db, _) = opened("long");
    let node = enrolled(&db, 1);
    for counter in 1..4 {
        let report = node.report(b"", counter);
        judged(&db, 1, &report);
        judged(&db, MINUTE_US, &report);
    }
    let asked = |db: &Connection| {
        let node = store::Node::find(db, node.id).unwrap().unwrap().to_json(db, 2).unwrap();
        let kinds = [None, Some("report")].map(|k| store::verdict_counts(db, None, k).unwrap());
        let bits = store::accepted_by_security(db).unwrap();
        json!([node, kinds, Counts::of_all(db, 2).unwrap().to_json(), bits])
    };
    let before = asked(&db);
    assert_eq!(before[0]["verdicts"], json!({"accepted": 3, "replayed-counter": 3}));
    db.execute_batch("DROP TABLE events").unwrap();
    assert_eq!(asked(&db), before);
}

/// A verdict found before the transaction holds for the very claim that it was found for, and for
/// no other.
#[test]
fn a_signature_checked_beforehand_does_not_vouch_for_another() {
    let (db, _) = opened("claims");
    let node = enrolled(&db, 1);
    let good = node.report(b"good", 1);
    let checked = judge::foresee(&db, 1, &good).unwrap().unwrap().check();
    let Message::Report(forged) = &good else { unreachable!() };
    let mut forged = *forged;
    forged.data = sunseal_link::InlineBytes::copy_of(b"evil").unwrap();
    let judged = |message: &Message| {
        judge::message(&db, 2, message, Some(&checked)).unwrap().unwrap().verdict
    };
    assert_eq!(judged(&Message::Report(forged)), VerdictCode::BadSignature);
    forged.data = sunseal_link::InlineBytes::copy_of(b"good").unwrap();
    forged.counter = 2;
    assert_eq!(judged(&Message::Report(forged)), VerdictCode::BadSignature);
    assert_eq!(judged(&good), VerdictCode::Accepted);
    let replay = judge::message(&db, MINUTE_US, &good, Some(&checked)).unwrap().unwrap().verdict;
    assert_eq!(replay, VerdictCode::ReplayedCounter);
    // The key changes between check and transaction.
    let late = node.report(b"late", 3);
    let checked = judge::foresee(&db, 1, &late).unwrap().unwrap().check();
    let other = Signer::new(Suite::EcdsaP256Sha256);
    let key = Some((Suite::EcdsaP256Sha256, &other.public_key()[..]));
    judge::rekey(&db, 2, node.id, key).unwrap().unwrap();
    let verdict = judge::message(&db, 3, &late, Some(&checked)).unwrap().unwrap().verdict;
    assert_eq!(verdict, VerdictCode::BadSignature);
}

/// The power goes as soon as an answer is out, at any moment: what the disk holds then, by what
/// was flushed to it and nothing else, is opened, and the answered report is in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_leaves_after_its_transaction_is_on_disk() {
    power_cut::watch();
    let path = folder("power").join("s.db");
    let db = store::open(&path).unwrap();
    let nodes: Vec<Node> = (1..=8).map(|number| enrolled(&db, number)).collect();
    let settings = Settings { open: true, quiet: true, ..Settings::default() };
    let app = App::new(db, path.clone(), Clock::driven(2), Rules::default(), settings);
    let router = api::router(Arc::clone(&app));
    let callers = nodes.into_iter().map(|node| {
        let (router, path) = (router.clone(), path.clone());
        tokio::spawn(async move {
            for counter in 1..=10 {
                let body = json!({"body": hex(&node.report(b"x", counter))}).to_string();
                let request = Request::post(node.path("reports")).header("host", "localhost");
                let request = request.body(Body::from(body)).unwrap();
                let answer = TowerToHyperService::new(router.clone()).call(request).await.unwrap();
                let disk = power_cut::disk(&path);
                assert_eq!(answer.status(), 200);
                let kept = counter_on(&disk, &path, &node, counter);
                assert!(kept >= u64::from(counter), "{counter} was answered, {kept} is on disk");
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    app.close();
}

fn hex(message: &Message) -> String {
    sunseal_server::hex::encode(&message.encode())
}

/// The counter that a server finds after the power cut.
fn counter_on(disk: &power_cut::Disk, path: &Path, node: &Node, counter: u32) -> u64 {
    let name = format!("after-{}-{counter}.db", node.id);
    let after = path.with_file_name(name);
    std::fs::write(&after, &disk.database).unwrap();
    let wal = format!("{}-wal", after.display());
    std::fs::write(wal, &disk.log).unwrap();
    let db = Connection::open(&after).unwrap();
    let node = store::Node::find(&db, node.id).unwrap().unwrap();
    let _: Value = node.to_json(&db, 2).unwrap();
    node.counter.map_or(0, u64::from)
}

/// HELLO is not signed. Who says one each time that a nonce is over delays answers, and ends no challenge.
#[test]
fn forged_hellos_delay_a_queue_and_end_none_of_it() {
    let (db, _) = opened("forger");
    let node = enrolled(&db, 1);
    db.execute("UPDATE nodes SET period_us = 3600000000", []).unwrap();
    for _ in 0..5 {
        judge::queue(&db, 1, node.id, Intent::default()).unwrap().unwrap();
    }
    let Message::Hello(hello) = node.hello() else { unreachable!() };
    let said = |now_us| match judge::hello(&db, now_us, &Rules::default(), &hello).unwrap() {
        Welcome::Challenge(issued) => issued,
        other => panic!("{other:?}"),
    };
    let now = |db: &Connection| store::Node::find(db, node.id).unwrap().unwrap();
    let mut nonces = std::collections::BTreeSet::new();
    for forged in 1..=20 {
        nonces.insert(said(forged * 601_000_000).nonce);
    }
    assert_eq!(nonces.len(), 20, "a nonce came twice");
    let day_us = 86_400_000_000;
    let late = now(&db).late(20 * 601_000_000).expect("shows itself and answers nothing");
    assert!(late["why"].as_str().unwrap().contains("has answered no challenge"), "{late}");
    // The node's own HELLOs, with a forged one before each: the challenge is out already.
    for (counter, at_us) in (1..).zip((1..=5).map(|day| day * day_us)) {
        said(at_us - 601_000_000);
        let issued = said(at_us);
        let old = node.response((issued.challenge_id, *nonces.first().unwrap()), counter);
        let wrong = judged(&db, at_us, &old);
        assert!(matches!(wrong, VerdictCode::BadSignature | VerdictCode::StaleChallenge));
        let answer = node.response((issued.challenge_id, issued.nonce), counter);
        assert_eq!(judged(&db, at_us, &answer), VerdictCode::Accepted);
        assert_eq!(now(&db).late(at_us), None);
    }
    let counts = Counts::of(&db, &now(&db), 5 * day_us).unwrap();
    assert_eq!(counts, Counts { asked: 5, queued: 0, issued: 0, answered: 5, expired: 0 });
}

/// An answer to the nonce of before is stale, not badly signed; and an intent that is over is told and counted.
#[test]
fn a_challenge_comes_back_with_a_fresh_nonce_until_its_intent_is_over() {
    let (db, _) = opened("intent");
    let node = enrolled(&db, 1);
    let fresh_us = Rules::default().freshness_us;
    let intent = Intent { not_before_us: Some(10), expires_us: Some(3 * fresh_us) };
    let (id, expires_us) = judge::queue(&db, 1, node.id, intent).unwrap().unwrap();
    assert_eq!(expires_us, 3 * fresh_us);
    let refused = Intent { not_before_us: Some(10), expires_us: Some(10) };
    assert!(judge::queue(&db, 1, node.id, refused).unwrap().is_err());
    let Message::Hello(hello) = node.hello() else { unreachable!() };
    let said = |now_us| judge::hello(&db, now_us, &Rules::default(), &hello).unwrap();
    let Welcome::Challenge(first) = said(20) else { panic!() };
    let Welcome::Challenge(again) = said(20 + fresh_us) else { panic!() };
    assert_eq!((first.nonce, first.expires_us), (again.nonce, again.expires_us));
    let Welcome::Challenge(second) = said(21 + fresh_us) else { panic!() };
    assert_eq!((second.challenge_id, first.challenge_id), (id, id));
    assert_ne!(second.nonce, first.nonce);
    let stale = node.response((id, first.nonce), 1);
    assert_eq!(judged(&db, 22 + fresh_us, &stale), VerdictCode::StaleChallenge);
    let checked = judge::foresee(&db, 22 + fresh_us, &stale).unwrap().unwrap().check();
    let verdict = judge::message(&db, 22 + fresh_us, &stale, Some(&checked)).unwrap().unwrap();
    assert_eq!(verdict.verdict, VerdictCode::StaleChallenge);
    let Welcome::Challenge(third) = said(22 + 2 * fresh_us) else { panic!() };
    assert_eq!(third.expires_us, 3 * fresh_us, "no nonce outlives its intent");
    assert!(matches!(said(3 * fresh_us + 1), Welcome::Idle));
    let counts = || {
        let node = store::Node::find(&db, node.id).unwrap().unwrap();
        let counts = Counts::of(&db, &node, 3 * fresh_us + 1).unwrap();
        assert_eq!(counts, Counts::of_all(&db, 3 * fresh_us + 1).unwrap());
        counts
    };
    let over = Counts { asked: 1, queued: 0, issued: 0, answered: 0, expired: 1 };
    assert_eq!(counts(), over, "before it is swept");
    store::end_intents(&db, 3 * fresh_us + 1).unwrap();
    store::end_intents(&db, 3 * fresh_us + 2).unwrap();
    assert_eq!(counts(), over);
    let sql = "SELECT detail ->> 'why' FROM events WHERE kind = 'challenge-expired'";
    let told: Vec<String> =
        db.prepare(sql).unwrap().query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(told, ["handed out 3 times and not answered before the intent was over"]);
}

/// Whoever has a gateway's token says what he likes: his share of the log is a megabyte a minute, and his own words in a
/// row are 64 bytes. Nobody else's rows are missing for it.
#[test]
fn a_stolen_gateway_token_fills_no_disk() {
    let (mut db, path) = opened("stolen");
    let nodes: Vec<Node> = (1..=100).map(|number| enrolled(&db, number)).collect();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let size = || std::fs::metadata(&path).unwrap().len();
    let before = size();
    let thief = Origin { token_id: Some(2), address: Some([192, 0, 2, 1].into()) };
    let (body, why) = ([0xab; 8_000], "x".repeat(5_000));
    let tx = db.transaction().unwrap();
    let mut said = 0_u64;
    for node in &nodes {
        for kind in [Kind::Hello, Kind::Response, Kind::Report, Kind::Enrol] {
            for _ in 0..2 * ROWS_A_MINUTE {
                let body = [&node.id.0[..], &body].concat();
                let malformed = || {
                    let verdict = VerdictCode::Malformed;
                    judge::malformed(&tx, 2, kind, node.id, &body, verdict, &why).unwrap()
                };
                origin::on_behalf(thief, malformed);
                said += 1;
            }
        }
    }
    let honest = Origin { token_id: Some(3), address: None };
    let strange = Node::new(200, Signer::new(Suite::EcdsaP256Sha256));
    let report = strange.report(b"0123456789abcdef", 1);
    assert_eq!(origin::on_behalf(honest, || judged(&tx, 3, &report)), VerdictCode::UnknownNode);
    tx.commit().unwrap();
    let told = "SELECT count(*) FROM events WHERE detail ->> 'token_id' = ";
    let sum = "SELECT sum(length(detail) + length(kind) + 64) FROM events WHERE detail ->> 'token_id' = 2";
    let share: usize = db.query_row(sum, [], |r| r.get(0)).unwrap();
    assert!((BYTES_A_MINUTE - 400..=BYTES_A_MINUTE).contains(&share), "{share} bytes");
    assert_eq!(rows(&db, &format!("{told} 3")), ["Integer(1)"]);
    let row = "SELECT max(length(detail ->> 'why') + length(detail ->> 'body')) FROM events
        WHERE detail ->> 'token_id' = 2";
    assert_eq!(rows(&db, row), ["Integer(64)"]);
    store::close_minutes(&db, 1).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    assert!(size() - before < 1_700_000, "{} bytes for the flood", size() - before);
    // To the last: what had no row is told in one.
    let sql = "SELECT sum(coalesce(detail ->> 'times', 1)) FROM events WHERE verdict = 7";
    assert_eq!(db.query_row(sql, [], |r| r.get::<_, u64>(0)).unwrap(), said);
    assert_eq!(rows(&db, RECOUNT), rows(&db, COUNTS));
    assert_eq!(rows(&db, "SELECT count(*) FROM spent"), ["Integer(0)"]);
}

#[test]
fn the_log_is_cut_at_its_oldest_end_and_nowhere_else() {
    let (db, path) = opened("pruned");
    let node = enrolled(&db, 1);
    db.execute_batch("BEGIN").unwrap();
    for counter in 1..=5_000_u64 {
        let event = Event {
            time_us: counter * 1_000,
            node_id: node.id,
            kind: "report",
            verdict: Some(VerdictCode::Accepted),
            repeatable: false,
        };
        store::append(&db, event, json!({"counter": counter, "data": "00".repeat(100)})).unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    let refused = |sql: &str| db.execute(sql, []).unwrap_err().to_string();
    assert!(refused("DELETE FROM events WHERE event_id = 9").contains("oldest end alone"));
    assert!(refused("UPDATE events SET detail = ''").contains("only grows"));
    assert_eq!(
        pruning::mark(&db, 9_000_000, 4_000_000).unwrap(),
        4_001,
        "reports, and who enrolled"
    );
    assert!(refused("DELETE FROM events WHERE time_us >= 4000000").contains("oldest end alone"));
    assert!(refused("UPDATE pruned SET to_event = 0").contains("gone"));
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let size = || std::fs::metadata(&path).unwrap().len();
    let before = size();
    let mut transactions = 0;
    while pruning::cut(&db).unwrap() {
        transactions += 1;
    }
    assert_eq!(transactions, 3);
    pruning::shrink(&db).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    assert!(size() < before / 2, "{} of {before} bytes are left", size());
    let left = "SELECT min(time_us), count(*) FROM events WHERE kind = 'report'";
    assert_eq!(rows(&db, left), ["Integer(4000000) Integer(1001)"]);
    let told = "SELECT detail ->> 'rows' FROM events WHERE kind = 'pruned'";
    assert_eq!(rows(&db, told), ["Integer(4001)"]);
    assert_eq!(pruning::mark(&db, 9_000_000, 4_000_000).unwrap(), 0);
    // Counts stand beside the log.
    assert_eq!(rows(&db, "SELECT count FROM counts WHERE node_id <> x''"), ["Integer(5000)"]);
    drop(db);
    let pruned = ends(&["prune", "--db", path.to_str().unwrap(), "--keep-days", "1"]);
    assert_eq!(String::from_utf8(pruned.stdout).unwrap(), "{\"pruned\":1002}\n");
    refused_program(&path);
}

fn refused_program(path: &Path) {
    let other = path.with_file_name("none.db");
    let arguments = ["prune", "--db", other.to_str().unwrap(), "--keep-days", "1"];
    refused(&arguments, &["there is no database", "none.db"]);
    assert!(!other.exists());
}

/// Forty nodes to which chance has happened 1,500 times; when the last was.
fn tried(db: &Connection) -> u64 {
    let mut dice = 1_u64;
    let mut throw = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    let rules = Rules::default();
    let mut now_us = 1_u64;
    for number in 0..40 {
        let period_us =
            [None, Some(1), Some(700_000_000), Some(i64::MAX as u64 / 2)][throw(4) as usize];
        let node = Node::new(number, Signer::new(Suite::EcdsaP256Sha256));
        let key = node.signer.public_key();
        let key = (throw(2) == 0).then_some((Suite::EcdsaP256Sha256, &key[..]));
        judge::open(db, now_us, node.id, "n", period_us, key).unwrap().unwrap();
    }
    for _ in 0..1_500 {
        now_us += throw(400_000_000);
        let id = NodeId([b'n', b'o', b'd', b'e', 0, 0, 0, throw(40) as u8]);
        let hello =
            Hello { node_id: id, counter: 0, vcap_mv: 1, reason: Reason::Ready, listen_ms: 0 };
        match throw(8) {
            0 => drop(judge::revoke(db, now_us, id, "").unwrap()),
            1 => drop(judge::rekey(db, now_us, id, None).unwrap()),
            2 => drop(judge::queue(db, now_us, id, Intent::default()).unwrap()),
            3 => drop(
                judge::change(db, now_us, id, (None, Some("g")), Some(1 + throw(1 << 30))).unwrap(),
            ),
            4 => {
                let data = sunseal_link::InlineBytes::copy_of(b"x").unwrap();
                let suite = Suite::EcdsaP256Sha256;
                let report = Report {
                    node_id: id,
                    counter: 1,
                    suite,
                    data,
                    signature: sunseal_link::message::KeyBytes::copy_of(&[1; 64]).unwrap(),
                };
                judge::report(db, now_us, &report, None).unwrap();
            }
            _ => drop(judge::hello(db, now_us, &rules, &hello).unwrap()),
        }
        store::end_intents(db, now_us).unwrap();
    }
    now_us
}

/// Each node is late from where its column says, and not before.
fn late_from_where_the_column_says(db: &Connection) {
    let mut late = 0;
    for number in 0..40 {
        let node = store::Node::find(db, NodeId([b'n', b'o', b'd', b'e', 0, 0, 0, number]))
            .unwrap()
            .unwrap();
        let sql = "SELECT late_from_us FROM nodes WHERE node_id = ?1";
        let from_us: Option<u64> = db.query_row(sql, [node.node_id.0], |r| r.get(0)).unwrap();
        let Some(from_us) = from_us else { continue };
        late += 1;
        assert!(node.late(from_us).is_none() && node.late(from_us + 1).is_some(), "{node:?}");
    }
    assert!(late > 5, "{late}");
}

/// The columns and counts by which lists are asked are what their nodes say, whatever has happened to these.
#[test]
fn counts_of_lists_are_what_their_nodes_say() {
    let (db, _) = opened("lists");
    let now_us = tried(&db);
    assert_eq!(
        rows(&db, "SELECT state, count FROM node_states WHERE count <> 0 ORDER BY 1"),
        rows(&db, "SELECT state, count(*) FROM nodes GROUP BY 1 ORDER BY 1")
    );
    assert_eq!(
        rows(&db, "SELECT stretch, count FROM late_stretches ORDER BY 1"),
        rows(
            &db,
            "SELECT late_from_us >> 28, count(*) FROM nodes WHERE late_from_us IS NOT NULL GROUP BY 1 ORDER BY 1"
        )
    );
    assert_eq!(
        rows(&db, "SELECT asked, answered, expired FROM challenge_sums"),
        rows(
            &db,
            "SELECT sum(challenges_asked), sum(challenges_answered), sum(challenges_expired) FROM nodes"
        )
    );
    assert_eq!(
        rows(&db, "SELECT node_id, verdicts_seen FROM nodes ORDER BY 1"),
        rows(
            &db,
            "SELECT node_id, coalesce((SELECT sum(DISTINCT 1 << verdict) FROM counts WHERE counts.node_id = nodes.node_id), 0) FROM nodes ORDER BY 1"
        )
    );
    late_from_where_the_column_says(&db);
    let counted = store::lists::node_counts(&db, now_us).unwrap();
    let want = rows(&db, &format!("SELECT count(*) FROM nodes WHERE late_from_us < {now_us}"));
    assert_eq!(format!("Integer({})", counted["late"]), want[0]);
}
