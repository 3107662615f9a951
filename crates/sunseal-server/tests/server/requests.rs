// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests as the server reads them: lists, pages, wrong ones, silence and nonsense.

use std::io::{Read, Write};

use serde_json::json;
use sunseal_link::{NodeId, Suite};
use sunseal_server::serve;

use crate::common::*;

#[tokio::test]
async fn lists_come_in_pages() {
    let (_server, client) = served("pages", &[]);
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
    // The latest opened first.
    let want: Vec<String> =
        (1..=5).rev().map(|n| NodeId([b'n', b'o', b'd', b'e', 0, 0, 0, n]).to_string()).collect();
    assert_eq!(seen, want);
    let page = client.get("/v1/events?after=1&limit=2").await;
    assert_eq!((&page["events"][0]["event_id"], &page["next_after"]), (&json!(2), &json!(3)));
    let page = client.get(&format!("/v1/events?node={}", want[0])).await;
    assert_eq!(page["events"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn requests_that_are_wrong_are_told_in_one_sentence() {
    let (_server, client, node) = enrolled("wrong", &[], Suite::EcdsaP256Sha256).await;
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
        ("/v1/tokens", json!({"role": "king"}), 400, "it is operator, read, challenge"),
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

/// Of two keys that somebody vouches for, neither is the one that was meant.
#[tokio::test]
async fn a_field_that_stands_twice_is_refused() {
    let (server, client) = served("twice", &[]);
    let post = |body: &str| {
        let head = format!(
            "POST /v1/nodes HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Length: {}",
            server.address,
            server.tokens.operator,
            body.len()
        );
        raw(&server, &format!("{head}\r\n\r\n{body}"))
    };
    let answer = post(r#" {"node_id":"00000000000000aa","node_id":"00000000000000ab"}"#);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("the body is wrong: field `node_id` stands twice"), "{answer}");
    let answer = post(r#"{"node_id":"00000000000000aa","\u006eode_id":"00000000000000ab"}"#);
    assert!(answer.contains("field `node_id` stands twice"), "{answer}");
    for body in ["[1", "{\"node_id\":"] {
        assert!(post(body).contains("the body is not JSON"), "{body}");
    }
    assert_eq!(client.get("/v1/nodes").await["nodes"], json!([]));
}

#[tokio::test]
async fn a_status_page_shows_the_nodes() {
    let (server, _client, node) = enrolled("page", &[], Suite::EcdsaSecp160r1Sha1).await;
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
    let empty = folder.join("token");
    std::fs::write(&empty, "\n").unwrap();
    let file = empty.to_str().unwrap();
    refused(
        &["gateway", "--listen", "127.0.0.1:0", "--server", &url, "--token-file", file],
        &["token file", "is empty"],
    );
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
pub fn raw(server: &Running, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_page_of_somebody_else_cannot_speak_for_the_operator() {
    let server = Running::server(&folder("origin").join("s.db"), &["--host", "sunseal.example"]);
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
    let server = Running::server(&folder("silent").join("s.db"), &[]);
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
    let server = Running::server(&folder("crowd").join("s.db"), &[]);
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
    let server = Running::server(&folder("nonsense").join("s.db"), &[]);
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
