// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who may do what: tokens, an open server, nodes that are revoked.

use serde_json::{Value, json};
use sunseal_link::{Message, Suite};
use sunseal_server::hex;

use crate::common::*;
use crate::requests::raw;

/// Every path of the server, and what it takes to be heard there.
#[tokio::test]
async fn whoever_merely_reaches_the_port_is_refused() {
    let (server, operator, known) = enrolled("tokens", &[], Suite::EcdsaP256Sha256).await;
    let happened = async || {
        let said = operator.get("/v1/events").await["events"].clone();
        let audit = ["refused", "token-used"];
        let kept = |e: &&Value| !audit.contains(&e["kind"].as_str().unwrap());
        said.as_array().unwrap().iter().filter(kept).cloned().collect::<Vec<_>>()
    };
    let before = happened().await;
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
        (known.path("change"), json!({"name": "x"})),
        ("/v1/nodes/import".to_owned(), json!({})),
        ("/v1/tokens".to_owned(), json!({"role": "operator"})),
        ("/v1/tokens/1/revoke".to_owned(), json!({})),
    ];
    let questions = [
        "/",
        "/metrics",
        "/v1/summary",
        "/v1/events",
        "/v1/nodes",
        "/v1/nodes/6e6f646500000001",
        "/v1/queue",
        "/v1/gateways",
        "/v1/tokens",
    ];
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
        assert!(said["error"].as_str().unwrap().contains("a token of role"), "{said}");
    }
    for path in questions {
        assert_eq!(gateway.try_get(path).await.0, 403, "{path}");
    }
    assert_eq!(happened().await, before);
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
    for told in [&server.line.to_string(), &json!(server.told("tokens")).to_string()] {
        assert!(!told.contains(&first.gateway) && !told.contains(&first.operator), "{told}");
    }
    // Another, while the server runs, by whoever may write its file.
    let made = ends(&["token", "--db", path, "--role", "operator", "--name", "spare"]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let spare = Client::with_token(&server, made["token"].as_str().unwrap());
    assert_eq!(spare.get("/v1/tokens").await["tokens"].as_array().unwrap().len(), 3);
    assert_eq!(spare.post("/v1/tokens/1/revoke", json!({})).await.0, 200);
    assert_eq!(Client::new(&server).try_get("/v1/nodes").await.0, 401, "revoked");
    assert_eq!(server.signal("-INT"), Some(0));

    let server = Running::server(&db, &[]);
    assert_eq!(server.line.get("tokens_file"), None, "told a second time");
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
    refused(&["token", "--db", path, "--role", "king"], &["operator, read, challenge"]);
    for (name, why) in
        [("a\nb", "U+000A"), ("a\u{202e}b", "U+202E"), (&"n".repeat(101), "100 bytes")]
    {
        refused(&["token", "--db", path, "--role", "gateway", "--name", name], &[why]);
    }
    let listed = ends(&["token", "--db", path]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 3);
    // A slip in the path is no empty list, and no token that holds nowhere.
    let slip = db.with_file_name("no.db");
    let slipped = ["token", "--db", slip.to_str().unwrap()];
    for more in [&[][..], &["--role", "operator"], &["--revoke", "1"]] {
        refused(&[&slipped, more].concat(), &["there is no database", "no.db"]);
        assert!(!slip.exists());
    }
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
    assert_eq!(server.line.get("tokens_file"), None);
    let client = Client::without_token(&server);
    client.enrol(&Node::new(1, Signer::new(Suite::EcdsaP256Sha256))).await;
    assert_eq!(client.get("/v1/summary").await["open_to_all"], true);
    assert_eq!(server.tells("open", 1)[0]["level"], "warn");
    let page = raw(&server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(page.contains("Open: whoever reaches this port is the operator"), "{page}");
    assert_eq!(server.signal("-INT"), Some(0));
    // Without --open the next time, the tokens are made.
    let server = Running::server(&db, &[]);
    assert!(server.line["tokens_file"].is_string());
    assert_eq!(Client::new(&server).get("/v1/summary").await["open_to_all"], false);
}

#[tokio::test]
async fn a_node_is_revoked_and_given_up_to_a_new_key() {
    let (_server, mut client, node) = enrolled("revoke", &[], Suite::EcdsaP256Sha256).await;
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

/// A caller that asks too often waits; others do not.
#[tokio::test]
async fn one_caller_takes_no_more_than_its_rate() {
    let limits = ["--rate-token", "5", "--rate-address", "40"];
    let (server, operator) = served("rates", &limits);
    let gateway = Client::with_token(&server, &server.tokens.gateway);
    for _ in 0..10 {
        assert_eq!(gateway.try_get("/v1/due").await.0, 200);
    }
    let (status, said) = gateway.try_get("/v1/due").await;
    let why = said["error"].as_str().unwrap();
    assert!(status == 429 && why.contains("token 2 asks too often: 5 requests a second"), "{said}");
    assert_eq!(operator.try_get("/v1/nodes").await.0, 200, "another token");
    let token = &server.tokens.gateway;
    let head = format!(
        "GET /v1/due HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    let answer = raw(&server, &head).to_ascii_lowercase();
    assert!(answer.contains("429") && answer.contains("retry-after: 1\r\n"), "{answer}");
    // Whoever has no token at all is held back by his address.
    let nobody = Client::without_token(&server);
    let mut told = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let (status, said) = nobody.try_get("/v1/nodes").await;
        told.insert(status);
        if status == 429 {
            assert!(said["error"].as_str().unwrap().contains("address 127.0.0.1"), "{said}");
        }
    }
    assert_eq!(told, [401, 429].into());
}

/// Audit events: tokens made, used and ended, callers refused, decisions about nodes, each with token and address.
#[tokio::test]
async fn who_did_what_is_in_the_log() {
    let db = folder("audit").join("s.db");
    let server = Running::server(&db, &[]);
    let operator = Client::new(&server);
    let gateway = Client::with_token(&server, &server.tokens.gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    operator.open(&node).await;
    let (_, made) = operator.post("/v1/tokens", json!({"role": "gateway", "name": "roof"})).await;
    assert_eq!(made["token_id"], 3);
    for _ in 0..3 {
        assert_eq!(gateway.try_get("/v1/nodes").await.0, 403);
    }
    assert_eq!(Client::without_token(&server).try_get("/v1/summary").await.0, 401);
    assert_eq!(
        gateway
            .post(&node.path("hello"), json!({"counter": 0, "vcap_mv": 2500, "reason": "ready"}))
            .await
            .0,
        200
    );
    for part in ["revoke", "rekey"] {
        assert_eq!(operator.post(&node.path(part), json!({})).await.0, 200);
    }
    assert_eq!(operator.post("/v1/tokens/3/revoke", json!({})).await.0, 200);
    let ended = ends(&["token", "--db", db.to_str().unwrap(), "--revoke", "2"]);
    assert!(ended.status.success());
    let said = operator.get("/v1/events").await;
    let told: Vec<_> = said["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| {
            let detail = &e["detail"];
            let subject = [&detail["made"], &detail["used"], &detail["ended"], &detail["status"]];
            let subject = subject.into_iter().find_map(Value::as_i64);
            let address = detail["address"].as_str().unwrap_or("").to_owned();
            (e["kind"].as_str().unwrap().to_owned(), subject, detail["token_id"].as_i64(), address)
        })
        .collect();
    let here = "127.0.0.1";
    let expected = [
        ("token-made", Some(1), None, ""),
        ("token-made", Some(2), None, ""),
        ("token-used", Some(1), Some(1), here),
        ("opened", None, Some(1), here),
        ("token-made", Some(3), Some(1), here),
        ("refused", Some(403), Some(2), here),
        ("refused", Some(403), Some(2), here),
        ("refused", Some(403), Some(2), here),
        ("refused", Some(401), None, here),
        ("token-used", Some(2), Some(2), here),
        ("hello", None, Some(2), here),
        ("revoked", None, Some(1), here),
        ("rekeyed", None, Some(1), here),
        ("token-ended", Some(3), Some(1), here),
        ("token-ended", Some(2), None, ""),
    ];
    let expected = expected.map(|(k, s, t, a)| (k.to_owned(), s, t, a.to_owned()));
    assert_eq!(told, expected);
    let line = &server.tells("hello", 1)[0];
    let time = line["time"].as_str().unwrap();
    assert!(time.len() == 24 && time.starts_with("20") && time.ends_with('Z'), "{line}");
}

/// Nobody but their owner reads database, copy and tokens, whatever the umask; and files of before are closed.
#[tokio::test]
async fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("modes");
    let mode = |name: &str| {
        let found = std::fs::metadata(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        found.permissions().mode() & 0o777
    };
    let server = Running::server(&folder.join("s.db"), &[]);
    Client::new(&server).enrol(&Node::new(1, Signer::new(Suite::EcdsaP256Sha256))).await;
    for name in ["s.db", "s.db-wal", "s.db-shm", "s.db.tokens"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(server.signal("-INT"), Some(0));
    // As an older server left it.
    let old = folder.join("old.db");
    let made = rusqlite::Connection::open(&old).unwrap();
    made.execute_batch(include_str!("../../src/store/schema_1.sql")).unwrap();
    made.execute_batch(include_str!("../data/version_1.sql")).unwrap();
    drop(made);
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).unwrap();
    let server = Running::server(&old, &[]);
    for name in ["old.db", "old.db-wal", "old.db.schema1", "old.db.tokens"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    drop(server);
    // A file in the way is left alone, and no token is made that nobody could read.
    let other = folder.join("other.db");
    std::fs::write(folder.join("other.db.tokens"), "mine").unwrap();
    refused(
        &["serve", "--listen", "127.0.0.1:0", "--db", other.to_str().unwrap()],
        &["other.db.tokens", "move away what is there", "nothing was changed"],
    );
    let listed = ends(&["token", "--db", other.to_str().unwrap()]);
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "{\"tokens\":[]}\n");
}

/// Each role does what it is for, and no more; a token whose time is over is like none.
#[tokio::test]
async fn roles_reach_so_far_and_tokens_end_by_themselves() {
    let (server, client) = served("roles", &[]);
    client.post("/v1/nodes", json!({"node_id": "00000000000000aa"})).await;
    let made = |role: &'static str, expires_us: Option<u64>| {
        let client = &client;
        let server = &server;
        async move {
            let body = json!({"role": role, "name": role, "expires_us": expires_us});
            let (status, said) = client.post("/v1/tokens", body).await;
            assert_eq!(status, 201, "{said}");
            Client::with_token(server, said["token"].as_str().unwrap())
        }
    };
    let asked = [
        ("/v1/nodes/00000000000000aa/challenges", json!({}), "challenge"),
        ("/v1/nodes/00000000000000aa/change", json!({"group": "g"}), "enrol"),
        ("/v1/nodes/00000000000000aa/revoke", json!({}), "operator"),
        ("/v1/tokens", json!({"role": "read"}), "operator"),
        ("/v1/nodes/00000000000000aa/hello", json!({"body": ""}), "gateway"),
    ];
    for role in ["read", "challenge", "enrol"] {
        let holder = made(role, None).await;
        for path in ["/v1/nodes", "/v1/summary", "/metrics"] {
            assert_ne!(holder.try_status(path).await, 403, "{role}: {path}");
        }
        for (path, body, needed) in &asked {
            let (status, said) = holder.post(path, body.clone()).await;
            assert_eq!(status == 403, role != *needed, "{role}: {path}: {said}");
        }
    }
    let mut guest = made("read", Some(5_000_000)).await;
    guest.time_us = 4_999_999;
    assert_eq!(guest.try_get("/v1/nodes").await.0, 200);
    guest.time_us = 5_000_000;
    let (status, said) = guest.try_get("/v1/nodes").await;
    assert_eq!(status, 401, "{said}");
    assert!(said["error"].as_str().unwrap().contains("its time is over"), "{said}");
}

/// Behind a proxy that is believed each caller has an address, and a share, of its own; nobody else may say whose it is.
#[tokio::test]
async fn a_proxy_that_is_believed_says_whose_request_it_is() {
    let ask = |server: &Running, from: &str| {
        let request = format!(
            "GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {from}\r\nConnection: close\r\n\r\n"
        );
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        answer
    };
    let rate = ["--rate-address", "3"];
    for (more, want) in [
        (
            &["--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.9"][..],
            vec!["198.51.100.7", "2001:db8::1", "198.51.100.8"],
        ),
        (&[][..], vec!["127.0.0.1"]),
    ] {
        let (server, client) = served("proxy", &[&rate[..], more].concat());
        // The second is what the nearest proxy saw; what stands left of it the caller wrote himself.
        for from in ["198.51.100.7", "203.0.113.1, 2001:db8::1, 10.0.0.9", "198.51.100.8"] {
            ask(&server, from);
        }
        let refused = client.get("/v1/events?kind=refused").await;
        let mut found: Vec<_> = refused["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["detail"]["address"].as_str().unwrap().to_owned())
            .collect();
        found.dedup();
        assert_eq!(found, want);
        let many: Vec<String> = (0..8).map(|_| ask(&server, "198.51.100.7")).collect();
        assert!(many.iter().any(|a| a.starts_with("HTTP/1.1 429")), "{many:?}");
        let other = ask(&server, "198.51.100.9");
        assert_eq!(other.starts_with("HTTP/1.1 401"), want.len() == 3, "{other}");
    }
}
