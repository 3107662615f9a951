// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes by the thousand, from a file of CSV: all of them or none.

use std::collections::BTreeSet;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::StatusCode;
use rusqlite::Connection;
use serde_json::json;
use sunseal_link::{NodeId, Suite};
use sunseal_verify::check_public_key;

use super::{Answer, MAX_TIME_US, Reply, Shared, Time, plain};
use crate::serve::READ_TIMEOUT;
use crate::store::lists::set_group;
use crate::{hex, judge, store};

/// Path of the one request whose body may be long, which is read when its sender is known.
pub(super) const IMPORT_PATH: &str = "/v1/nodes/import";
/// Bytes of a file at most.
pub const MAX_IMPORT_BYTES: usize = 4 << 20;
/// Nodes of a file at most.
pub const MAX_IMPORT_NODES: usize = 20_000;
/// Columns that are read; the first is the only one that must be there.
const COLUMNS: [&str; 6] = ["node_id", "name", "group", "period_us", "suite", "public_key"];

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the line in the file, from 1.
    pub line: u64,
    /// The node to open.
    pub node_id: NodeId,
    /// Its name, or nothing.
    pub name: String,
    /// Its group, or nothing.
    pub group: String,
    /// Time between its signs of life, if that is known.
    pub period_us: Option<u64>,
    /// The key that the operator vouches for, if he does.
    pub key: Option<(Suite, Vec<u8>)>,
}

/// Reads a file of nodes; the error is a sentence that names the line.
pub fn read(file: &[u8]) -> Result<Vec<Line>, String> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(file);
    let mut columns = Vec::new();
    let (mut lines, mut known) = (Vec::new(), BTreeSet::new());
    for record in reader.records() {
        let record = record.map_err(|e| match e.position() {
            Some(at) => format!("line {}: it is not UTF-8 text", at.line()),
            None => format!("it cannot be read ({e})"),
        })?;
        let line = record.position().map_or(0, |at| line_of(file, at));
        let at = |why: String| format!("line {line}: {why}");
        if columns.is_empty() {
            columns = head(&record).map_err(at)?;
            continue;
        }
        if lines.len() == MAX_IMPORT_NODES {
            return Err(at(format!("a file has at most {MAX_IMPORT_NODES} nodes: split it")));
        }
        let node = node(line, &columns, &record).map_err(at)?;
        if !known.insert(node.node_id) {
            return Err(at(format!("node {} stands twice in the file", node.node_id)));
        }
        lines.push(node);
    }
    if lines.is_empty() {
        return Err(format!(
            "it has no node: a line of column names ({}) and a line for each node are wanted",
            COLUMNS.join(", ")
        ));
    }
    Ok(lines)
}

/// Number of a record's line: its position is in front of the empty lines before it.
fn line_of(file: &[u8], at: &csv::Position) -> u64 {
    let rest = file.iter().skip(at.byte() as usize);
    let empty = rest.take_while(|&&b| matches!(b, b'\r' | b'\n')).filter(|&&b| b == b'\n');
    at.line() + empty.count() as u64
}

fn head(record: &csv::StringRecord) -> Result<Vec<&'static str>, String> {
    let mut columns = Vec::new();
    for name in record {
        let Some(known) = COLUMNS.into_iter().find(|&column| column == name) else {
            let name = name.escape_debug();
            return Err(format!("the column `{name}` is unknown: {} are read", COLUMNS.join(", ")));
        };
        if columns.contains(&known) {
            return Err(format!("the column `{known}` stands twice"));
        }
        columns.push(known);
    }
    if !columns.contains(&"node_id") {
        return Err("the column `node_id` is missing".to_owned());
    }
    Ok(columns)
}

fn node(line: u64, columns: &[&str], record: &csv::StringRecord) -> Result<Line, String> {
    if record.len() != columns.len() {
        let (has, wanted) = (record.len(), columns.len());
        return Err(format!("it has {has} fields where the first line names {wanted}"));
    }
    let field = |name: &str| {
        let at = columns.iter().position(|&column| column == name);
        at.and_then(|at| record.get(at)).filter(|text| !text.is_empty())
    };
    let node_id = hex::node_id(field("node_id").unwrap_or_default())?;
    let (name, group) = (field("name").unwrap_or_default(), field("group").unwrap_or_default());
    plain("name", name)?;
    plain("group", group)?;
    let period_us = field("period_us").map(|text| {
        let us = text.parse().ok().filter(|us| (1..=MAX_TIME_US).contains(us));
        us.ok_or_else(|| {
            format!("period_us is 1 to {MAX_TIME_US} microseconds, not `{}`", text.escape_debug())
        })
    });
    let key = match (field("suite"), field("public_key")) {
        (None, None) => None,
        (Some(suite), Some(key)) => {
            let by_code = suite.parse().ok().and_then(Suite::from_code);
            let suite = by_code.or_else(|| Suite::from_name(suite)).ok_or_else(|| {
                let names = Suite::ALL.map(|s| format!("{} {}", s.code(), s.name())).join(", ");
                format!("suite `{}` is unknown: suites are {names}", suite.escape_debug())
            })?;
            let key = hex::decode(key).map_err(|e| format!("public_key is wrong: {e}"))?;
            check_public_key(suite, &key).map_err(|refusal| refusal.to_string())?;
            Some((suite, key))
        }
        _ => return Err("suite and public_key belong together: give both or none".to_owned()),
    };
    let (name, group) = (name.to_owned(), group.to_owned());
    Ok(Line { line, node_id, name, group, period_us: period_us.transpose()?, key })
}

/// Opens all nodes of a file, or none of them.
pub(super) async fn import(State(app): Shared, time: Time, body: Body) -> Answer {
    // Long bodies one at a time: they are the only ones that take memory worth counting.
    let _turn = app.importing.acquire().await;
    let read_whole = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, MAX_IMPORT_BYTES)).await;
    let file = match read_whole {
        Ok(Ok(file)) => file,
        Ok(Err(_)) => {
            let why =
                format!("the file is too long, or was cut: it may have {MAX_IMPORT_BYTES} bytes");
            return Err(Reply::error(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        Err(_) => {
            let why = format!("the file did not come within {} s", READ_TIMEOUT.as_secs());
            return Err(Reply::error(StatusCode::REQUEST_TIMEOUT, why));
        }
    };
    let wrong = |why: String| Reply::bad(format!("{why}; nothing was imported"));
    // Keys are checked before the transaction begins, aside.
    let lines = tokio::task::spawn_blocking(move || read(&file)).await;
    let lines = lines.map_err(|e| {
        let why = format!("the request failed inside the server ({e})");
        Reply::error(StatusCode::INTERNAL_SERVER_ERROR, why)
    })?;
    let lines = lines.map_err(wrong)?;
    let done = app.transact(time, move |tx, now_us| open_all(tx, now_us, &lines)).await?;
    match done {
        Ok(nodes) => Ok(Reply(StatusCode::CREATED, json!({"imported": nodes}))),
        Err(why) => {
            let why = format!("{why}; nothing was imported");
            Err(Reply::error(StatusCode::CONFLICT, why))
        }
    }
}

fn open_all(
    tx: &Connection,
    now_us: u64,
    lines: &[Line],
) -> rusqlite::Result<Result<usize, String>> {
    tx.prepare_cached("SAVEPOINT import")?.execute([])?;
    let mut refused = None;
    for line in lines {
        let Line { node_id, name, group, period_us, key, .. } = line;
        let key = key.as_ref().map(|(suite, key)| (*suite, &key[..]));
        if let Err(judgement) = judge::open(tx, now_us, *node_id, name, *period_us, key)? {
            refused = Some(format!("line {}: node {node_id} is known already", line.line));
            debug_assert_ne!(judgement.verdict, sunseal_link::VerdictCode::Accepted);
            break;
        }
        set_group(tx, *node_id, group)?;
    }
    if refused.is_some() {
        tx.prepare_cached("ROLLBACK TO import")?.execute([])?;
    }
    tx.prepare_cached("RELEASE import")?.execute([])?;
    if let Some(why) = refused {
        return Ok(Err(why));
    }
    store::audit(tx, now_us, "imported", false, json!({"nodes": lines.len()}))?;
    Ok(Ok(lines.len()))
}
