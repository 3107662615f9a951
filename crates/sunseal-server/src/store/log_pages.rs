// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of the event log, filtered, from either end.
//!
//! Beside the log stands what each block of 1,024 events has in it: times from and to, kinds, verdicts, callers. A question
//! reads the blocks that may answer it, and no others.

use std::time::Instant;

use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};
use sunseal_link::{NodeId, VerdictCode};

use super::lists::PATIENCE;
use super::origin;

/// Events of a block, as a power of two.
const BLOCK_SHIFT: u32 = 10;
/// Kinds of events in the order of their bits in a block's mask; the last bit stands for any other.
const KINDS: [&str; 19] = [
    "opened",
    "enrolled",
    "enrol",
    "revoked",
    "rekeyed",
    "challenge-queued",
    "challenge-issued",
    "challenge-expired",
    "hello",
    "response",
    "report",
    "duplicate",
    "pruned",
    "token-made",
    "token-used",
    "token-ended",
    "refused",
    "changed",
    "imported",
];
const ANY_OTHER: u32 = 62;

fn kind_mask(kind: &str) -> i64 {
    1 << KINDS.iter().position(|&k| k == kind).map_or(ANY_OTHER, |at| at as u32)
}

fn caller_mask(token_id: i64) -> i64 {
    1 << token_id.rem_euclid(62)
}

/// Says of an event's block that it has such an event.
pub(super) fn mark(
    db: &Connection,
    event_id: i64,
    time_us: u64,
    kind: &str,
    verdict: Option<u8>,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO event_blocks VALUES (?1, ?2, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET
        from_us = min(from_us, ?2), to_us = max(to_us, ?2), kinds = kinds | ?3,
        verdicts = verdicts | ?4, callers = callers | ?5";
    let verdicts = verdict.map_or(0, |code| 1_i64 << code);
    let callers = origin::present().token_id.map_or(0, caller_mask);
    let values = params![event_id >> BLOCK_SHIFT, time_us, kind_mask(kind), verdicts, callers];
    db.prepare_cached(sql)?.execute(values).map(|_| ())
}

/// Conditions on events, all of which must hold.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// The node that it tells of.
    pub node_id: Option<NodeId>,
    /// Kind of event, by its name in JSON.
    pub kind: Option<String>,
    /// The verdict on it.
    pub verdict: Option<VerdictCode>,
    /// The number of the token by which it came.
    pub token_id: Option<i64>,
    /// At this time or after.
    pub from_us: Option<u64>,
    /// Times before this one alone.
    pub before_us: Option<u64>,
    /// True for the latest event first.
    pub newest: bool,
}

impl EventFilter {
    fn wants(&self, row: &Row<'_>) -> rusqlite::Result<bool> {
        let time_us: u64 = row.get(1)?;
        let kind = row.get_ref(3)?.as_str()?;
        let verdict: Option<u8> = row.get(4)?;
        let plain = self.from_us.is_none_or(|us| time_us >= us)
            && self.before_us.is_none_or(|us| time_us < us)
            && self.kind.as_ref().is_none_or(|k| k == kind)
            && self.verdict.is_none_or(|v| verdict == Some(v.code()));
        let Some(token_id) = self.token_id.filter(|_| plain) else { return Ok(plain) };
        let detail: Value = serde_json::from_str(row.get_ref(5)?.as_str()?).unwrap_or_default();
        Ok(detail["token_id"] == token_id)
    }

    /// Blocks that may hold what is wanted, from the number behind `after` on.
    fn blocks(&self, db: &Connection, after: i64) -> rusqlite::Result<Vec<i64>> {
        let (side, order) = if self.newest { ("<=", "DESC") } else { (">=", "") };
        let sql = format!(
            "SELECT block FROM event_blocks WHERE block {side} ?1 AND to_us >= ?2 AND from_us < ?3
             AND (?4 IS NULL OR kinds & ?4) AND (?5 IS NULL OR verdicts & ?5)
             AND (?6 IS NULL OR callers & ?6) ORDER BY block {order} LIMIT 1000"
        );
        let values = params![
            after >> BLOCK_SHIFT,
            self.from_us.unwrap_or(0),
            self.before_us.unwrap_or(i64::MAX as u64),
            self.kind.as_deref().map(kind_mask),
            self.verdict.map(|v| 1_i64 << v.code()),
            self.token_id.map(caller_mask),
        ];
        db.prepare_cached(&sql)?.query_map(values, |r| r.get(0))?.collect()
    }
}

const SELECT: &str = "SELECT event_id, time_us, node_id, kind, verdict, detail FROM events";

fn told(row: &Row<'_>) -> rusqlite::Result<Value> {
    let node_id: Option<[u8; 8]> = row.get(2)?;
    let verdict: Option<u8> = row.get(4)?;
    let detail: String = row.get(5)?;
    Ok(json!({
        "event_id": row.get::<_, i64>(0)?,
        "time_us": row.get::<_, u64>(1)?,
        "node_id": node_id.map(|id| NodeId(id).to_string()),
        "kind": row.get::<_, String>(3)?,
        "verdict": verdict,
        "verdict_name": verdict.and_then(VerdictCode::from_code).map(VerdictCode::name),
        "detail": serde_json::from_str::<Value>(&detail).unwrap_or(Value::String(detail)),
    }))
}

/// A walk through the log: how far it has come, and how long it may go on.
struct Walk<'a, T> {
    filter: &'a EventFilter,
    begun: Instant,
    last: i64,
    looked: u32,
    take: T,
}

impl<T: FnMut(Value) -> bool> Walk<'_, T> {
    /// False when the page is full, or time is up.
    fn go(&mut self, mut rows: rusqlite::Rows<'_>) -> rusqlite::Result<bool> {
        while let Some(row) = rows.next()? {
            self.looked += 1;
            if self.looked.is_multiple_of(1_000) && self.begun.elapsed() > PATIENCE {
                return Ok(false);
            }
            if self.filter.wants(row)? && !(self.take)(told(row)?) {
                return Ok(false);
            }
            self.last = row.get(0)?;
        }
        Ok(true)
    }
}

/// Hands events behind number `after` to `take` until it takes no more; the number behind which the next page begins, if
/// there may be one.
pub fn events(
    db: &Connection,
    filter: &EventFilter,
    after: Option<i64>,
    take: impl FnMut(Value) -> bool,
) -> rusqlite::Result<Option<i64>> {
    let (side, order) = if filter.newest { ("<", "DESC") } else { (">", "") };
    let start = after.unwrap_or(if filter.newest { i64::MAX } else { 0 });
    let mut walk = Walk { filter, begun: Instant::now(), last: start, looked: 0, take };
    if let Some(node_id) = filter.node_id {
        let sql =
            format!("{SELECT} WHERE node_id = ?1 AND event_id {side} ?2 ORDER BY event_id {order}");
        let mut statement = db.prepare_cached(&sql)?;
        let ended = walk.go(statement.query(params![node_id.0, start])?)?;
        return Ok((!ended).then_some(walk.last));
    }
    let sql = format!(
        "{SELECT} WHERE event_id {side} ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id {order}"
    );
    let mut statement = db.prepare_cached(&sql)?;
    loop {
        let blocks = filter.blocks(db, walk.last)?;
        for &block in &blocks {
            let (from, to) = (block << BLOCK_SHIFT, ((block + 1) << BLOCK_SHIFT) - 1);
            if !walk.go(statement.query(params![walk.last, from, to])?)? {
                return Ok(Some(walk.last));
            }
            // Of this block nothing is left, whether or not its last events were there.
            walk.last = if filter.newest { from } else { to };
        }
        if blocks.len() < 1_000 {
            return Ok(None);
        }
    }
}
