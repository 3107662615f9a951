// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was answered stays: kills at any moment, a database that cannot be used, a full disk.

use serde_json::json;
use sunseal_link::Suite;

use crate::common::*;

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
    let mut client = Client::new(&server);
    assert_eq!(client.get("/v1/events").await, before);
    assert_eq!(verdict(&client.send(&first).await), 0, "another gateway's, and known as such");
    client.time_us += 10_000_001;
    assert_eq!(verdict(&client.send(&first).await), 3, "the replay is known after the restart");
    assert_eq!(verdict(&client.send(&node.response(pending, 2)).await), 0);

    // Ctrl-C ends it in order and leaves one file.
    assert_eq!(server.signal("-INT"), Some(0));
    assert!(!db.with_extension("db-wal").exists());
    let kept = rusqlite::Connection::open(&db).unwrap();
    let change = kept.execute("DELETE FROM events", []).unwrap_err().to_string();
    assert_eq!(change, "the event log is cut at its oldest end alone");
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
        let mut client = Client::new(&server);
        let kept = client.node(&node).await["counter"].as_u64();
        // Later than another gateway would hand them in.
        client.time_us += 20_000_000 * (round + 1);
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
    let known = sunseal_server::store::SCHEMA_VERSION;
    db.pragma_update(None, "user_version", known + 1).unwrap();
    drop(db);
    let (found, known) =
        (format!("schema version {}", known + 1), format!("versions up to {known}"));
    serve(path, &[path, &found, &known]);
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
