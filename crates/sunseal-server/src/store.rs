// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the server keeps, in one SQLite file.
//!
//! A request is a transaction: it happens whole or not at all, whatever crashes. The event log
//! only grows; triggers refuse to change or delete a row. A challenge's expiry is not stored but
//! follows from its time, so that a refused message changes nothing but the log.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, params};
use serde_json::{Value, json};
use sunseal_link::{NodeId, Suite, VerdictCode};

use crate::hex;

/// "SUNS", in the file's header.
const APPLICATION_ID: i64 = 0x5355_4e53;
/// Raised with every change of the tables.
const SCHEMA_VERSION: i64 = 1;

const SCHEMA: &str = "
CREATE TABLE nodes (
    node_id BLOB PRIMARY KEY CHECK (length(node_id) = 8),
    name TEXT NOT NULL,
    suite INTEGER,
    public_key BLOB,
    counter INTEGER,
    period_us INTEGER,
    opened_us INTEGER NOT NULL,
    enrolled_us INTEGER,
    last_seen_us INTEGER,
    last_accepted_us INTEGER,
    vcap_mv INTEGER,
    reason TEXT,
    CHECK ((suite IS NULL) = (public_key IS NULL) AND (suite IS NULL) = (enrolled_us IS NULL))
) STRICT;
CREATE TABLE challenges (
    challenge_id INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id BLOB NOT NULL REFERENCES nodes (node_id),
    queued_us INTEGER NOT NULL,
    not_before_us INTEGER NOT NULL,
    nonce BLOB CHECK (length(nonce) = 16),
    issued_us INTEGER,
    expires_us INTEGER,
    answered_us INTEGER
) STRICT;
CREATE INDEX challenges_of_node ON challenges (node_id, answered_us, issued_us);
CREATE TABLE events (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_us INTEGER NOT NULL,
    node_id BLOB,
    kind TEXT NOT NULL,
    verdict INTEGER,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_node ON events (node_id, event_id);
CREATE INDEX events_of_kind ON events (kind, verdict, node_id) WHERE verdict IS NOT NULL;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END;
";

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or made.
    #[error(
        "the database `{path}` cannot be opened ({why}): name a file in a folder that can be written, with --db"
    )]
    Open {
        /// The file.
        path: String,
        /// What SQLite says.
        why: String,
    },
    /// The file is not a database, or a damaged one.
    #[error(
        "`{path}` is corrupt or no SQLite database ({why}): restore it from a copy, or name another file with --db; nothing was changed"
    )]
    Corrupt {
        /// The file.
        path: String,
        /// What SQLite says.
        why: String,
    },
    /// The file belongs to another program.
    #[error(
        "`{path}` is a SQLite database of another program (application id {found:#x}, ours is 0x53554e53): name another file with --db; nothing was changed"
    )]
    Foreign {
        /// The file.
        path: String,
        /// The application id in its header.
        found: i64,
    },
    /// The file is of a newer version.
    #[error(
        "`{path}` has schema version {found}, this server knows version 1: use the newer sunseal-server that made it; nothing was changed"
    )]
    Version {
        /// The file.
        path: String,
        /// The version in its header.
        found: i64,
    },
}

/// Opens the file, or makes it; refuses a corrupt or foreign one.
pub fn open(path: &Path) -> Result<Connection, StoreError> {
    let shown = path.display().to_string();
    let told = |e: rusqlite::Error| {
        let (path, why) = (shown.clone(), e.to_string());
        match e.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Corrupt { path, why }
            }
            _ => StoreError::Open { path, why },
        }
    };
    let mut db = Connection::open(path).map_err(told)?;
    db.busy_timeout(Duration::from_secs(5)).map_err(told)?;
    // Until the file is known to be ours, closing it must not move its log into it.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(told)?;
    let header = |db: &Connection, name: &str| db.pragma_query_value(None, name, |r| r.get(0));
    let application: i64 = header(&db, "application_id").map_err(told)?;
    let version: i64 = header(&db, "user_version").map_err(told)?;
    let tables: i64 =
        db.query_row("SELECT count(*) FROM sqlite_master", [], |r| r.get(0)).map_err(told)?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(StoreError::Foreign { path: shown, found: application });
    }
    if tables > 0 && version != SCHEMA_VERSION {
        return Err(StoreError::Version { path: shown, found: version });
    }
    let check: String = db.query_row("PRAGMA quick_check(1)", [], |r| r.get(0)).map_err(told)?;
    if check != "ok" {
        let why = check.lines().last().unwrap_or_default().to_owned();
        return Err(StoreError::Corrupt { path: shown, why });
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(told)?;
    // FULL: a commit that was answered survives a power cut, not only a crash.
    db.pragma_update(None, "journal_mode", "WAL").map_err(told)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(told)?;
    db.pragma_update(None, "foreign_keys", true).map_err(told)?;
    if tables == 0 {
        let tx = db.transaction().map_err(told)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(told)?;
        tx.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(told)?;
        tx.execute_batch(SCHEMA).map_err(told)?;
        tx.commit().map_err(told)?;
    } else {
        // A file that can be read but not written is found out now, not at the first node.
        db.execute_batch("BEGIN IMMEDIATE; UPDATE nodes SET name = name WHERE false; ROLLBACK;")
            .map_err(told)?;
        db.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(told)?;
    }
    Ok(db)
}

/// A second connection to an opened file, for questions: it sees what is committed, and keeps
/// nobody from writing.
pub fn reader(path: &Path) -> Result<Connection, StoreError> {
    let told = |e: rusqlite::Error| {
        let path = path.display().to_string();
        StoreError::Open { path, why: e.to_string() }
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(told)?;
    db.busy_timeout(Duration::from_secs(5)).map_err(told)?;
    Ok(db)
}

/// A node as the table has it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Who.
    pub node_id: NodeId,
    /// The operator's name for it.
    pub name: String,
    /// Suite and public key, once enrolled.
    pub key: Option<(Suite, Vec<u8>)>,
    /// The last accepted counter.
    pub counter: Option<u32>,
    /// How often the operator expects it to show itself.
    pub period_us: Option<u64>,
    /// When enrolment was opened.
    pub opened_us: u64,
    /// When it enrolled.
    pub enrolled_us: Option<u64>,
    /// When it last said HELLO or had a message accepted.
    pub last_seen_us: Option<u64>,
    /// When a message of it was last accepted.
    pub last_accepted_us: Option<u64>,
    /// Storage voltage in its last HELLO.
    pub vcap_mv: Option<u16>,
    /// The reason of its last HELLO.
    pub reason: Option<String>,
}

const NODE_COLUMNS: &str = "node_id, name, suite, public_key, counter, period_us, opened_us, \
     enrolled_us, last_seen_us, last_accepted_us, vcap_mv, reason";

fn node_of(row: &Row<'_>) -> rusqlite::Result<Node> {
    let suite: Option<u8> = row.get(2)?;
    let public_key: Option<Vec<u8>> = row.get(3)?;
    Ok(Node {
        node_id: NodeId(row.get(0)?),
        name: row.get(1)?,
        key: suite.and_then(Suite::from_code).zip(public_key),
        counter: row.get(4)?,
        period_us: row.get(5)?,
        opened_us: row.get(6)?,
        enrolled_us: row.get(7)?,
        last_seen_us: row.get(8)?,
        last_accepted_us: row.get(9)?,
        vcap_mv: row.get(10)?,
        reason: row.get(11)?,
    })
}

impl Node {
    /// The node, if it is in the table.
    pub fn find(db: &Connection, node_id: NodeId) -> rusqlite::Result<Option<Self>> {
        let sql = format!("SELECT {NODE_COLUMNS} FROM nodes WHERE node_id = ?1");
        db.prepare_cached(&sql)?.query_row([node_id.0], node_of).optional()
    }

    /// All nodes in the order of their identifiers, at most `limit` after `after`.
    pub fn page(db: &Connection, after: Option<NodeId>, limit: u32) -> rusqlite::Result<Vec<Self>> {
        let sql = format!(
            "SELECT {NODE_COLUMNS} FROM nodes WHERE {} ORDER BY node_id LIMIT ?2",
            if after.is_some() { "node_id > ?1" } else { "?1 IS NULL" }
        );
        db.prepare_cached(&sql)?.query_map(params![after.map(|n| n.0), limit], node_of)?.collect()
    }

    /// Why the node is late at `now_us`, if it is: a whole expected period and a half went by.
    pub fn late(&self, now_us: u64) -> Option<Value> {
        let period_us = self.period_us?;
        let since_us = self.last_seen_us.or(self.enrolled_us).unwrap_or(self.opened_us);
        let silent_us = now_us.saturating_sub(since_us);
        if silent_us <= period_us.saturating_add(period_us / 2) {
            return None;
        }
        let expected = format!("it is expected every {}", duration(period_us));
        let silent = duration(silent_us);
        let why = match (&self.key, self.last_seen_us, self.reason.as_deref()) {
            (None, ..) => format!("enrolment is open for {silent} and it has not enrolled"),
            (_, None, _) => format!("it has never shown itself since it was enrolled {silent} ago"),
            (_, _, Some("low")) => {
                let volts = f64::from(self.vcap_mv.unwrap_or(0)) / 1e3;
                format!("its last word, {silent} ago, was that its store is low ({volts:.2} V)")
            }
            (_, _, Some("boot")) => {
                format!("it restarted {silent} ago and has not been ready since")
            }
            _ => format!("it has been silent for {silent} after it last was in order"),
        };
        Some(json!({
            "node_id": self.node_id.to_string(),
            "name": self.name,
            "last_seen_us": self.last_seen_us,
            "period_us": period_us,
            "late_by_us": silent_us - period_us,
            "why": format!("{why}; {expected}"),
        }))
    }

    /// The node as JSON, with the counts of its challenges and verdicts.
    pub fn to_json(&self, db: &Connection, now_us: u64) -> rusqlite::Result<Value> {
        let suite = self.key.as_ref().map(|(suite, _)| *suite);
        Ok(json!({
            "node_id": self.node_id.to_string(),
            "name": self.name,
            "state": if self.key.is_some() { "enrolled" } else { "open" },
            "suite": suite.map(Suite::name),
            "public_key": self.key.as_ref().map(|(_, key)| hex::encode(key)),
            "security_bits": suite.map(Suite::security_bits),
            "security_label": suite.map(Suite::security_label),
            "counter": self.counter,
            "period_us": self.period_us,
            "opened_us": self.opened_us,
            "enrolled_us": self.enrolled_us,
            "last_seen_us": self.last_seen_us,
            "last_accepted_us": self.last_accepted_us,
            "vcap_v": self.vcap_mv.map(|mv| f64::from(mv) / 1e3),
            "reason": self.reason,
            "challenges": challenge_counts(db, Some(self.node_id), now_us)?,
            "verdicts": verdict_counts(db, Some(self.node_id), None)?,
            "late": self.late(now_us),
        }))
    }
}

/// "2.5 h": for sentences, not for arithmetic.
pub fn duration(us: u64) -> String {
    let s = us as f64 / 1e6;
    match s {
        _ if s < 120.0 => format!("{s:.1} s"),
        _ if s < 7200.0 => format!("{:.1} min", s / 60.0),
        _ if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        _ => format!("{:.1} d", s / 86_400.0),
    }
}

/// A condition on ?1: of one node by its index, of all where it is NULL.
const fn of_node(node_id: Option<NodeId>) -> &'static str {
    if node_id.is_some() { "node_id = ?1" } else { "?1 IS NULL" }
}

/// How many challenges there are in each state.
pub fn challenge_counts(
    db: &Connection,
    node_id: Option<NodeId>,
    now_us: u64,
) -> rusqlite::Result<Value> {
    let of_node = of_node(node_id);
    let sql = format!(
        "SELECT count(*),
            count(*) FILTER (WHERE issued_us IS NULL),
            count(*) FILTER (WHERE issued_us IS NOT NULL AND answered_us IS NULL AND expires_us >= ?2),
            count(*) FILTER (WHERE answered_us IS NOT NULL),
            count(*) FILTER (WHERE answered_us IS NULL AND expires_us < ?2)
        FROM challenges WHERE {of_node}"
    );
    db.prepare_cached(&sql)?.query_row(params![node_id.map(|n| n.0), now_us], |r| {
        let count = |i| r.get::<_, i64>(i);
        Ok(json!({"asked": count(0)?, "queued": count(1)?, "issued": count(2)?,
                  "answered": count(3)?, "expired": count(4)?}))
    })
}

/// How often each verdict was given, by its name; `kind` is an event's.
pub fn verdict_counts(
    db: &Connection,
    node_id: Option<NodeId>,
    kind: Option<&str>,
) -> rusqlite::Result<Value> {
    let of_node = of_node(node_id);
    let of_kind = if kind.is_some() { "kind = ?2" } else { "?2 IS NULL" };
    let sql = format!(
        "SELECT verdict, count(*) FROM events
         WHERE verdict IS NOT NULL AND {of_node} AND {of_kind} GROUP BY verdict"
    );
    let mut counts = json!({});
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(params![node_id.map(|n| n.0), kind], |r| {
        Ok((r.get::<_, u8>(0)?, r.get::<_, i64>(1)?))
    })?;
    for row in rows {
        let (code, count) = row?;
        let name = VerdictCode::from_code(code).map_or("unknown", VerdictCode::name);
        counts[name] = count.into();
    }
    Ok(counts)
}

/// How many signatures were accepted, by security level; a node keeps its suite for life.
pub fn accepted_by_security(db: &Connection) -> rusqlite::Result<Value> {
    let sql = "SELECT nodes.suite, count(*) FROM events JOIN nodes USING (node_id)
        WHERE events.kind IN ('response', 'report') AND events.verdict = 0 GROUP BY nodes.suite";
    let mut sums = std::collections::BTreeMap::new();
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |r| Ok((r.get::<_, u8>(0)?, r.get::<_, i64>(1)?)))?;
    for row in rows {
        let (code, count) = row?;
        let bits = Suite::from_code(code).map_or(0, Suite::security_bits);
        *sums.entry(bits.to_string()).or_insert(0) += count;
    }
    Ok(json!(sums))
}

/// Adds to the log.
pub fn append(
    tx: &Transaction<'_>,
    time_us: u64,
    node_id: Option<NodeId>,
    kind: &str,
    verdict: Option<VerdictCode>,
    detail: &Value,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO events (time_us, node_id, kind, verdict, detail)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    let verdict = verdict.map(VerdictCode::code);
    let values = params![time_us, node_id.map(|n| n.0), kind, verdict, detail.to_string()];
    tx.prepare_cached(sql)?.execute(values).map(|_| ())
}

/// At most `limit` events after number `after`, oldest first.
pub fn events(
    db: &Connection,
    after: i64,
    node_id: Option<NodeId>,
    limit: u32,
) -> rusqlite::Result<Vec<Value>> {
    let of_node = of_node(node_id);
    let sql = format!(
        "SELECT event_id, time_us, node_id, kind, verdict, detail FROM events
         WHERE event_id > ?2 AND {of_node} ORDER BY event_id LIMIT ?3"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(params![node_id.map(|n| n.0), after, limit], |r| {
        let node_id: Option<[u8; 8]> = r.get(2)?;
        let verdict: Option<u8> = r.get(4)?;
        let detail: String = r.get(5)?;
        Ok(json!({
            "event_id": r.get::<_, i64>(0)?,
            "time_us": r.get::<_, u64>(1)?,
            "node_id": node_id.map(|id| NodeId(id).to_string()),
            "kind": r.get::<_, String>(3)?,
            "verdict": verdict,
            "verdict_name": verdict.and_then(VerdictCode::from_code).map(VerdictCode::name),
            "detail": serde_json::from_str::<Value>(&detail).unwrap_or(Value::String(detail)),
        }))
    })?;
    rows.collect()
}

/// The time of the latest event: where a driven clock goes on.
pub fn latest_us(db: &Connection) -> rusqlite::Result<u64> {
    db.query_row("SELECT coalesce(max(time_us), 0) FROM events", [], |r| r.get(0))
}
