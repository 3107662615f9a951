// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cutting the event log at its oldest end.
//!
//! First an event says up to which number and time it is cut, then the rows go, some at a time: whoever is interrupted
//! goes on the next time. Counts stay, as they stand beside the log.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

use super::insert;

/// Rows that one transaction deletes at most, so that it delays nobody for long.
const ROWS_AT_ONCE: u32 = 2_000;

/// Marks all events from before `before_us`, up to the first that is not, as to be pruned; how many there are.
pub fn mark(db: &Connection, now_us: u64, before_us: u64) -> rusqlite::Result<u64> {
    let sql = "SELECT event_id FROM events WHERE time_us >= ?1 ORDER BY event_id LIMIT 1";
    let kept: Option<i64> = db.query_row(sql, [before_us], |r| r.get(0)).optional()?;
    let last = "SELECT coalesce(max(event_id), 0) FROM events";
    let to_event = match kept {
        Some(kept) => kept - 1,
        None => db.query_row(last, [], |r| r.get(0))?,
    };
    let count = "SELECT count(*) FROM events WHERE event_id <= ?1";
    let rows: u64 = db.query_row(count, [to_event], |r| r.get(0))?;
    let risen = "UPDATE pruned SET to_event = ?1 WHERE to_event < ?1";
    if rows > 0 && db.execute(risen, params![to_event])? == 1 {
        let detail: Value = json!({"to_event": to_event, "before_us": before_us, "rows": rows});
        insert(db, now_us, None, "pruned", None, &detail.to_string())?;
    }
    Ok(rows)
}

/// Deletes some of the rows that are marked, and gives their pages back to the file system where the file allows it;
/// false when none is left.
pub fn cut(db: &Connection) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM events WHERE event_id IN (SELECT event_id FROM events
        WHERE event_id <= (SELECT to_event FROM pruned) ORDER BY event_id LIMIT ?1)";
    let rows = db.execute(sql, [ROWS_AT_ONCE])?;
    let sql = "DELETE FROM event_blocks WHERE block < (SELECT min(event_id) >> 10 FROM events)";
    db.execute(sql, [])?;
    Ok(rows > 0)
}

/// Gives free pages back, in a file that was made for it (schema version 6 or later).
pub fn shrink(db: &Connection) -> rusqlite::Result<()> {
    let mut statement = db.prepare("PRAGMA incremental_vacuum")?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
