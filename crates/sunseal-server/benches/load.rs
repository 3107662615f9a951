// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests a second of the real server: its own process, a file on disk, callers that keep their
//! connections. `cargo bench -p sunseal-server`; results and machine: docs/reference/http.md.

#[path = "../tests/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::*;
use serde_json::json;
use sunseal_link::{Message, Suite};
use sunseal_server::hex;

/// How long each figure is measured.
const SPAN: Duration = Duration::from_secs(3);

/// A caller with a connection of its own.
struct Caller {
    stream: BufReader<TcpStream>,
    latencies_us: Vec<u64>,
}

impl Caller {
    fn new(server: &Running) -> Self {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), latencies_us: Vec::new() }
    }

    fn call(&mut self, request: &str) {
        let begun = Instant::now();
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length) = (String::new(), 0);
        self.stream.read_line(&mut status).unwrap();
        assert!(status.contains(" 200 "), "{status}");
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        self.stream.read_exact(&mut vec![0; length]).unwrap();
        self.latencies_us.push(begun.elapsed().as_micros() as u64);
    }
}

fn get(server: &Running, path: &str) -> String {
    let token = &server.tokens.operator;
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n")
}

fn post(server: &Running, message: &Message) -> String {
    let token = &server.tokens.gateway;
    let path = format!("/v1/nodes/{}/{}", message.node_id(), path_of(message));
    let body = json!({"body": hex::encode(&message.encode())}).to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Each caller sends its requests, round and round or once, until the span is over.
fn measure(what: &str, server: &Running, requests: Vec<Vec<String>>, again: bool) {
    let begun = Instant::now();
    let callers: Vec<_> = requests
        .into_iter()
        .map(|requests| {
            let mut caller = Caller::new(server);
            std::thread::spawn(move || {
                let mut rounds = 0;
                while begun.elapsed() < SPAN && (again || rounds == 0) {
                    for request in &requests {
                        if begun.elapsed() >= SPAN {
                            break;
                        }
                        caller.call(request);
                    }
                    rounds += 1;
                }
                caller.latencies_us
            })
        })
        .collect();
    let count = callers.len();
    let mut all: Vec<u64> = callers.into_iter().flat_map(|c| c.join().unwrap()).collect();
    let rate = all.len() as f64 / begun.elapsed().as_secs_f64();
    all.sort_unstable();
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize] as f64 / 1e3;
    println!(
        "{what:<44} {count:>3} callers {rate:>9.0} requests/s   median {:>7.2} ms   99 % {:>7.2} ms",
        at(0.5),
        at(0.99)
    );
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = Running::server(&folder("load").join("s.db"), &["--quiet"]);
    let client = Client::new(&server);
    let nodes = |suite: Suite, count: u8| -> Vec<Node> {
        let from = 64 * (suite.code() - 1);
        let nodes: Vec<Node> =
            (0..count).map(|i| Node::new(from + i, Signer::new(suite))).collect();
        nodes.iter().for_each(|node| runtime.block_on(client.enrol(node)));
        nodes
    };
    let callers = |request: String, count| vec![vec![request]; count];

    measure("GET /healthz", &server, callers(get(&server, "/healthz"), 1), true);
    measure("GET /healthz", &server, callers(get(&server, "/healthz"), 16), true);
    for (suite, total) in [(Suite::EcdsaP256Sha256, 24_000), (Suite::EcdsaSecp160r1Sha1, 6_400)] {
        let nodes = nodes(suite, 64);
        let hello = |n: &Node| vec![post(&server, &n.hello())];
        let name = suite.name();
        if suite == Suite::EcdsaP256Sha256 {
            measure("POST hello", &server, nodes[..1].iter().map(hello).collect(), true);
            measure("POST hello", &server, nodes[..16].iter().map(hello).collect(), true);
        }
        // Signed beforehand: the signers of the tests are slow.
        for (count, from) in [(1, 1), (16, 30_000), (64, 60_000)] {
            let each = total / count as u32;
            let reports = |n: &Node| -> Vec<String> {
                (from..from + each).map(|c| post(&server, &n.report(b"21.5 C", c))).collect()
            };
            let all = nodes[..count].iter().map(reports).collect();
            measure(&format!("POST reports {name}"), &server, all, false);
        }
    }
    let events = runtime.block_on(client.get("/v1/summary"))["verdicts"].clone();
    println!("the log now holds, by verdict: {events}");
    measure("GET /v1/summary", &server, callers(get(&server, "/v1/summary"), 1), true);
    measure(
        "GET /v1/events?limit=100",
        &server,
        callers(get(&server, "/v1/events?limit=100"), 1),
        true,
    );
}
