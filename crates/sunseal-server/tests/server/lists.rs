// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists as operators ask for them: filtered, in pages of 50 KB, as JSON and CSV; nodes from a file.

use std::io::{Read, Write};

use serde_json::{Value, json};
use sunseal_link::Suite;

use crate::common::*;

const PAGE_BYTES: usize = 50_000;

fn asked(server: &Running, request: &str, body: &str) -> (String, String) {
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    let (host, token, length) = (&server.address, &server.tokens.operator, body.len());
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    // Who is refused early may hang up before all is said.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.to_ascii_lowercase(), body.to_owned())
}

fn import(server: &Running, file: &str) -> (bool, String) {
    let (head, body) = asked(server, "POST /v1/nodes/import", file);
    let said: Value = serde_json::from_str(&body).unwrap();
    let why = said["error"].as_str().map_or(said["imported"].to_string(), str::to_owned);
    (head.starts_with("http/1.1 201"), why)
}

/// All rows of a list, page by page; no page is longer than it may be.
async fn all(client: &Client, path: &str, what: &str) -> Vec<Value> {
    let (mut rows, mut after) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}{after}")).await;
        assert!(page.to_string().len() <= PAGE_BYTES, "{path}");
        rows.extend(page[what].as_array().unwrap().iter().cloned());
        match &page["next_after"] {
            Value::Null => return rows,
            Value::String(next) => after = format!("&after={next}"),
            next => after = format!("&after={next}"),
        }
    }
}

/// 3,000 nodes in groups, of which some show themselves, some are late, some were refused.
async fn fleet(name: &str) -> (Running, Client) {
    let (server, mut client) = served(name, &[]);
    let mut file = "name,node_id,group,period_us\r\n".to_owned();
    for number in 0..3_000 {
        let (group, period_us) = (["north", "south", ""][number % 3], 1_000_000 * (1 + number % 7));
        file += &format!("\"roof, {number}\",{number:016x},{group},{period_us}\r\n");
    }
    assert_eq!(import(&server, &file), (true, "3000".to_owned()));
    for number in 0..60_u64 {
        let path = format!("/v1/nodes/{:016x}", number * 7);
        let key = Signer::new(Suite::EcdsaP256Sha256).public_key();
        let key = json!({"suite": 1, "public_key": sunseal_server::hex::encode(&key)});
        assert_eq!(client.post(&format!("{path}/rekey"), key).await.0, 200);
        client.time_us += 30_000;
        let hello = json!({"counter": 0, "vcap_mv": 1_800 + 20 * number, "reason": "ready"});
        client.post(&format!("{path}/hello"), hello).await;
        if number % 4 == 0 {
            let report =
                json!({"counter": 1, "suite": 1, "data": "00", "signature": "01".repeat(64)});
            assert_eq!(
                client.post(&format!("{path}/reports"), report).await.1["verdict_name"],
                "bad-signature"
            );
        }
        if number % 10 == 0 {
            client.post(&format!("{path}/revoke"), json!({})).await;
        }
    }
    (server, client)
}

/// Holds what each filter lets through to the whole list, row by row.
#[tokio::test]
async fn filters_give_what_the_whole_list_has() {
    let (_server, mut client) = fleet("filters").await;
    client.time_us += 1_500_000;
    let whole = all(&client, "/v1/nodes?limit=1000", "nodes").await;
    assert_eq!(whole.len(), 3_000);
    let seen = client.time_us - 2_000_000;
    let number = |row: &Value, key: &str| row[key].as_f64();
    type Holds<'a> = Box<dyn Fn(&Value) -> bool + 'a>;
    let filters: Vec<(String, Holds<'_>)> = vec![
        ("state=enrolled".into(), Box::new(|n| n["state"] == "enrolled")),
        ("group=north".into(), Box::new(|n| n["group"] == "north")),
        ("name=OF,%201".into(), Box::new(|n| n["name"].as_str().unwrap().contains("of, 1"))),
        ("late=true".into(), Box::new(|n| !n["late"].is_null())),
        ("vcap_below_v=2.4".into(), Box::new(|n| number(n, "vcap_v").is_some_and(|v| v < 2.4))),
        ("vcap_from_v=2.0".into(), Box::new(|n| number(n, "vcap_v").is_some_and(|v| v >= 2.0))),
        ("verdict=bad-signature".into(), Box::new(|n| !n["verdicts"]["bad-signature"].is_null())),
        (
            format!("seen_from_us={seen}"),
            Box::new(move |n| n["last_seen_us"].as_u64().is_some_and(|us| us >= seen)),
        ),
        (
            format!("seen_before_us={seen}"),
            Box::new(move |n| n["last_seen_us"].as_u64().is_none_or(|us| us < seen)),
        ),
    ];
    let ids = |rows: &[Value]| rows.iter().map(|n| n["node_id"].clone()).collect::<Vec<_>>();
    let mut found_something = 0;
    for chosen in 0..1_u32 << filters.len() {
        if chosen.count_ones() > 2 && chosen % 41 != 0 {
            continue;
        }
        let chosen: Vec<_> =
            filters.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).collect();
        let query: Vec<_> = chosen.iter().map(|(_, (query, _))| query.as_str()).collect();
        let want: Vec<Value> = whole
            .iter()
            .filter(|n| chosen.iter().all(|(_, (_, holds))| holds(n)))
            .cloned()
            .collect();
        let found = all(&client, &format!("/v1/nodes?{}", query.join("&")), "nodes").await;
        assert_eq!(ids(&found), ids(&want), "{query:?}");
        found_something += usize::from(!found.is_empty());
    }
    assert!(found_something > 30, "{found_something}");
    let summary = client.get("/v1/summary").await;
    let late = whole.iter().filter(|n| !n["late"].is_null()).count();
    assert_eq!(summary["nodes"]["late"], late);
    assert!(late > 500 && late < 3_000 && summary["late"].as_array().unwrap().len() == 100);
    for (state, want) in [("open", 2_940), ("enrolled", 54), ("revoked", 6)] {
        assert_eq!(summary["nodes"][state], want, "{state}");
    }
}

#[tokio::test]
async fn a_list_as_csv_says_the_same() {
    let (server, client) = fleet("csv").await;
    let whole = all(&client, "/v1/nodes?limit=1000", "nodes").await;
    let (mut rows, mut after) = (Vec::new(), String::new());
    loop {
        let (head, body) = asked(&server, &format!("GET /v1/nodes?format=csv{after}"), "");
        assert!(head.contains("content-type: text/csv") && body.len() <= PAGE_BYTES, "{head}");
        let mut reader = csv::Reader::from_reader(body.as_bytes());
        let names = reader.headers().unwrap().clone();
        assert_eq!((&names[0], &names[1]), ("node_id", "name"));
        rows.extend(
            reader.records().map(|r| (r.as_ref().unwrap()[0].to_owned(), r.unwrap()[1].to_owned())),
        );
        match head.split("sunseal-next-after: ").nth(1) {
            Some(rest) => after = format!("&after={}", rest.lines().next().unwrap()),
            None => break,
        }
    }
    let want = whole.iter().map(|n| {
        (n["node_id"].as_str().unwrap().to_owned(), n["name"].as_str().unwrap().to_owned())
    });
    assert_eq!(rows, want.collect::<Vec<_>>());
}

#[tokio::test]
async fn events_are_filtered_from_either_end() {
    let (_server, client) = fleet("events").await;
    let whole = all(&client, "/v1/events?limit=1000", "events").await;
    assert!(whole.len() > 3_100, "several blocks of the log: {}", whole.len());
    let (from, to) = (1_500_000_u64, 2_200_000_u64);
    type Holds = Box<dyn Fn(&Value) -> bool>;
    let filters: Vec<(String, Holds)> = vec![
        ("kind=revoked".into(), Box::new(|e| e["kind"] == "revoked")),
        ("kind=nonsense".into(), Box::new(|e| e["kind"] == "nonsense")),
        ("verdict=bad-signature".into(), Box::new(|e| e["verdict_name"] == "bad-signature")),
        (
            format!("from_us={from}&before_us={to}"),
            Box::new(move |e| (from..to).contains(&e["time_us"].as_u64().unwrap())),
        ),
        ("gateway=1".into(), Box::new(|e| e["detail"]["token_id"] == 1)),
        ("node=0000000000000007".into(), Box::new(|e| e["node_id"] == "0000000000000007")),
        ("limit=900".into(), Box::new(|_| true)),
    ];
    for (query, holds) in filters {
        let want: Vec<Value> = whole.iter().filter(|e| holds(e)).cloned().collect();
        let found = all(&client, &format!("/v1/events?{query}"), "events").await;
        assert_eq!(found, want, "{query}");
        let mut found = all(&client, &format!("/v1/events?newest=true&{query}"), "events").await;
        found.reverse();
        assert_eq!(found, want, "{query}, newest first");
    }
}

#[tokio::test]
async fn the_queue_tells_why_each_waits() {
    let (_server, mut client, node) = enrolled("queue", &[], Suite::EcdsaP256Sha256).await;
    let later = json!({"not_before_us": client.time_us + 3_600_000_000_u64});
    client.post(&node.path("challenges"), later).await;
    client.ask(&node).await;
    client.ask(&node).await;
    let why = |row: &Value| row["why"].as_str().unwrap_or_default().to_owned();
    let waiting = all(&client, "/v1/queue?limit=2", "queue").await;
    let ids: Vec<_> = waiting.iter().map(|c| c["challenge_id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [3, 2, 1], "the latest first");
    assert!(why(&waiting[0]).contains("waits until the node shows itself"), "{waiting:?}");
    assert!(why(&waiting[2]).contains("may not be handed out for another 60.0 min"), "{waiting:?}");
    let challenge = client.challenge(&node).await;
    let out = all(&client, "/v1/queue?state=issued", "queue").await;
    assert_eq!((out.len(), &out[0]["challenge_id"]), (1, &json!(challenge.0)));
    assert_eq!(verdict(&client.send(&node.response(challenge, 1)).await), 0);
    for (state, count) in [("queued", 2), ("issued", 0), ("answered", 1), ("expired", 0)] {
        for query in [format!("state={state}"), format!("state={state}&node={}", node.id)] {
            assert_eq!(
                all(&client, &format!("/v1/queue?{query}"), "queue").await.len(),
                count,
                "{query}"
            );
        }
    }
    client.time_us += 31 * 86_400_000_000;
    assert_eq!(all(&client, "/v1/queue?state=expired", "queue").await.len(), 2);
    assert_eq!(all(&client, "/v1/queue?group=none", "queue").await.len(), 0);
}

#[tokio::test]
async fn gateways_are_listed_with_their_latest_word() {
    let (server, client, node) = enrolled("gateways", &[], Suite::EcdsaP256Sha256).await;
    let (_, made) = client.post("/v1/tokens", json!({"role": "gateway", "name": "roof"})).await;
    let mut gateway = Client::with_token(&server, made["token"].as_str().unwrap());
    gateway.time_us = 77_000_000;
    assert_eq!(verdict(&gateway.send(&node.report(b"1", 1)).await), 0);
    let listed = all(&client, "/v1/gateways?limit=1", "gateways").await;
    assert_eq!(listed.len(), 2, "the first start's, too");
    assert_eq!(listed[0]["name"], "roof");
    assert_eq!(
        (&listed[0]["last_contact_us"], &listed[0]["address"]),
        (&json!(77_000_000), &json!("127.0.0.1"))
    );
    assert_eq!(listed[1]["last_contact_us"], Value::Null);
    let events = all(&client, "/v1/events?kind=report", "events").await;
    assert_eq!((events.len(), &events[0]["gateway"]), (1, &json!("roof")));
    let silent = all(&client, "/v1/gateways?seen_before_us=77000000", "gateways").await;
    assert_eq!(silent.len(), 1);
    client.post(&format!("/v1/tokens/{}/revoke", made["token_id"]), json!({})).await;
    assert_eq!(all(&client, "/v1/gateways?state=active", "gateways").await.len(), 1);
}

/// All or nothing, and the bad line named.
#[tokio::test]
async fn a_file_of_nodes_is_taken_whole_or_not_at_all() {
    let (server, client) = served("import", &[]);
    let good = "node_id,name\n00000000000000aa,a\n";
    let cases = [
        ("", "it has no node"),
        ("node_id\n", "it has no node"),
        ("name\nx\n", "line 1: the column `node_id` is missing"),
        ("node_id,colour\n", "line 1: the column `colour` is unknown"),
        ("node_id,node_id\n", "line 1: the column `node_id` stands twice"),
        (
            "node_id,name\n00000000000000aa,a\n12,b\n",
            "line 3: a node_id is 16 hexadecimal digits, not `12`",
        ),
        (
            "node_id,name\n00000000000000aa\n",
            "line 2: it has 1 fields where the first line names 2",
        ),
        (
            "node_id,name\n00000000000000aa,\"a\u{1b}b\"\n",
            "line 2: a name has no control characters",
        ),
        (
            "node_id\n00000000000000aa\n\n00000000000000AA\n",
            "line 4: node 00000000000000aa stands twice",
        ),
        ("node_id,period_us\n00000000000000aa,0\n", "line 2: period_us is 1 to"),
        ("node_id,suite\n00000000000000aa,1\n", "line 2: suite and public_key belong together"),
        ("node_id,suite,public_key\n00000000000000aa,1,0g\n", "line 2: public_key is wrong"),
    ];
    for (file, words) in cases {
        let (taken, why) = import(&server, file);
        assert!(
            !taken && why.contains(words) && why.ends_with("nothing was imported"),
            "{words}: {why}"
        );
    }
    let off = format!("node_id,suite,public_key\n00000000000000aa,1,{}\n", "01".repeat(64));
    let (taken, why) = import(&server, &off);
    assert!(!taken && why.starts_with("line 2: "), "{why}");
    assert_eq!(client.get("/v1/nodes").await["nodes"], json!([]));
    assert_eq!(import(&server, good), (true, "1".to_owned()));
    // The last line is bad: the thousand before it are not kept.
    let mut file = "node_id\n".to_owned();
    (0..1_000).for_each(|n| file += &format!("{:016x}\n", 0x1000 + n));
    file += "00000000000000aa\n";
    let (taken, why) = import(&server, &file);
    assert!(!taken && why.contains("line 1002: node 00000000000000aa is known already"), "{why}");
    assert_eq!(client.get("/v1/nodes").await["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(client.get("/v1/summary").await["nodes"]["open"], 1);
    let long = format!("node_id\n{}", "0".repeat(5 << 20));
    let (head, _) = asked(&server, "POST /v1/nodes/import", &long);
    assert!(head.is_empty() || head.starts_with("http/1.1 413"), "{head}");
}

#[tokio::test]
async fn a_question_that_is_wrong_is_told_in_a_sentence() {
    let (_server, client) = served("wrong-lists", &[]);
    for (path, words) in [
        ("/v1/nodes?state=lost", "state is open, enrolled, revoked, not `lost`"),
        ("/v1/nodes?after=12", "after takes the `next_after` of the page before"),
        ("/v1/nodes?vcap_below_v=-1", "vcap_below_v is 0 to 65.535 V"),
        ("/v1/nodes?vcap_below_v=NaN", "vcap_below_v is 0 to 65.535 V"),
        ("/v1/nodes?verdict=perhaps", "verdict is accepted, "),
        ("/v1/nodes?late=maybe", "the query is wrong"),
        ("/v1/nodes?colour=red", "unknown field `colour`"),
        ("/v1/nodes?group=", "group names a group"),
        ("/v1/nodes?limit=0", "limit is 1 to 1000"),
        ("/v1/nodes?format=xml", "the query is wrong"),
        ("/v1/events?after=x", "after takes a number"),
        ("/v1/queue?state=lost", "state is queued, issued, answered, expired"),
        ("/v1/gateways?state=open", "state is active, ended"),
    ] {
        let (status, said) = client.try_get(path).await;
        assert_eq!(status, 400, "{path}: {said}");
        assert!(said["error"].as_str().unwrap().contains(words), "{path}: {said}");
    }
}
