// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions about a fleet of a million nodes, most of them late: times and memory of the real server, its database made by
//! the code that opens and hears nodes. `cargo bench -p sunseal-server --bench fleet -- [NODES]`; docs/reference/http.md has results.

#[path = "../tests/common/mod.rs"]
mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use common::*;
use sunseal_link::{Hello, NodeId, Reason, Suite};
use sunseal_server::judge::{self, Intent, Rules};
use sunseal_server::store::{self, lists};

const HOUR_US: u64 = 3_600_000_000;

/// Opens, names and hears the nodes; every fifth has enrolled, each tenth has a challenge waiting.
fn fill(path: &std::path::Path, nodes: u64) {
    let db = store::open(path).unwrap();
    db.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    let signer = Signer::new(Suite::EcdsaP256Sha256);
    let key = signer.public_key();
    for number in 0..nodes {
        let opened_us = 1_000_000 + number * 1_000;
        let node_id = NodeId(number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        let name = format!("site {} mote {number}", number % 97);
        let key = (number % 5 == 0).then_some((Suite::EcdsaP256Sha256, &key[..]));
        judge::open(&db, opened_us, node_id, &name, Some(HOUR_US), key).unwrap().unwrap();
        lists::set_group(&db, node_id, &format!("group {}", number % 20)).unwrap();
        if number % 2 == 0 {
            let vcap_mv = 1_800 + (number % 1_500) as u16;
            let hello = Hello { node_id, counter: 0, vcap_mv, reason: Reason::Ready, listen_ms: 0 };
            judge::hello(&db, opened_us + number * 4_000, &Rules::default(), &hello).unwrap();
        }
        if number % 10 == 0 {
            judge::queue(&db, opened_us, node_id, Intent::default()).unwrap().unwrap();
        }
        if number % 50_000 == 49_999 {
            db.execute_batch("COMMIT; BEGIN").unwrap();
        }
    }
    db.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

fn asked(server: &Running, path: &str) -> usize {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let token = &server.tokens.operator;
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nSunseal-Time-Us: {}\r\nConnection: close\r\n\r\n",
        3 * HOUR_US
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    answer.len()
}

fn main() {
    let nodes = std::env::args().filter_map(|a| a.parse().ok()).next().unwrap_or(1_000_000);
    let path = folder("fleet").join("s.db");
    let begun = Instant::now();
    fill(&path, nodes);
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!(
        "{nodes} nodes opened and heard in {:.1} s, {} MB",
        begun.elapsed().as_secs_f64(),
        bytes / 1_000_000
    );
    let begun = Instant::now();
    let server = Running::server(&path, &["--quiet"]);
    println!("start {:.2} s", begun.elapsed().as_secs_f64());
    let filters = "state=enrolled&group=group%205&late=true&vcap_below_v=1.9&name=9";
    for path in [
        "/v1/summary".to_owned(),
        "/metrics".to_owned(),
        "/v1/nodes".to_owned(),
        "/v1/nodes?format=csv".to_owned(),
        "/v1/nodes?late=true".to_owned(),
        format!("/v1/nodes?{filters}"),
        format!("/v1/nodes?{filters}&verdict=bad-signature&seen_before_us=9"),
        "/v1/nodes?state=revoked&name=nobody&late=true&vcap_from_v=2&verdict=accepted".to_owned(),
        "/v1/queue".to_owned(),
        "/v1/events?newest=true&kind=revoked".to_owned(),
        "/".to_owned(),
    ] {
        let mut times: Vec<f64> = (0..11)
            .map(|_| {
                let begun = Instant::now();
                asked(&server, &path);
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let size = asked(&server, &path);
        println!("{:>8.1} ms median {:>8.1} ms worst {size:>7} bytes  {path}", times[5], times[10]);
    }
    println!("memory at most {} kB", server.peak_kilobytes());
}
