// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the server keeps, in one SQLite file.
//!
//! A request is a transaction: it happens whole or not at all, whatever crashes. The event log
//! grows at one end, and is cut at its oldest by [`pruning`] alone; triggers refuse all else. Counts are kept beside it, so that no
//! question reads it whole. A challenge's expiry is not stored but follows from its time, so that
//! a refused message changes nothing but the log and the counts.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use serde_json::{Value, json};
use sunseal_link::{NodeId, Suite, VerdictCode};

use crate::{hex, private};

pub mod challenges;
pub mod gateways;
pub mod lists;
pub mod log_pages;
pub mod origin;
pub mod pruning;
mod steps;

/// "SUNS", in the file's header.
const APPLICATION_ID: i64 = 0x5355_4e53;
/// Raised with every change of the tables.
pub const SCHEMA_VERSION: i64 = steps::STEPS.len() as i64;
/// Rows of the log a minute for what a sender may repeat at will, of one node (all unknown ones
/// together), kind and verdict. What is beyond is counted and told in one row when the minute is over.
pub const ROWS_A_MINUTE: i64 = 20;
/// Bytes of the log a minute for what one sender may repeat at will, by its token (all without one together).
pub const BYTES_A_MINUTE: usize = 1_000_000;
/// Bytes of a row beside its kind and detail: numbers, identifier and the index over it.
const ROW_BYTES: usize = 64;
/// Rows in which a minute tells what had none, node by node; the rest is told for all nodes together.
pub const MOST_TOLD: usize = 1_000;
const MINUTE_US: u64 = 60_000_000;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or made.
    #[error(
        "the database `{path}` cannot be opened ({why}): name a file in a folder that can be written, with --db"
    )]
    Open { path: String, why: String },
    /// The file is not a database, or a damaged one.
    #[error(
        "`{path}` is corrupt or no SQLite database ({why}): restore it from a copy, or name another file with --db; nothing was changed"
    )]
    Corrupt { path: String, why: String },
    /// The file belongs to another program.
    #[error(
        "`{path}` is a SQLite database of another program (application id {found:#x}, ours is 0x53554e53): name another file with --db; nothing was changed"
    )]
    Foreign {
        path: String,
        /// The application id in its header.
        found: i64,
    },
    /// The disk is full.
    #[error(
        "the disk that holds the database `{path}` is full ({why}): free some space there and start again; what was answered is kept"
    )]
    Full { path: String, why: String },
    /// The copy of a file of an older version cannot be made.
    #[error(
        "`{path}` has schema version {found} and is copied before it is changed, but the copy `{copy}` cannot be made ({why}); nothing was changed"
    )]
    Copy {
        path: String,
        /// The version in its header.
        found: i64,
        /// Where the copy goes.
        copy: String,
        /// What is in the way.
        why: String,
    },
    /// The file is of a newer version.
    #[error(
        "`{path}` has schema version {found}, this server knows versions up to {SCHEMA_VERSION}: use the newer sunseal-server that made it; nothing was changed"
    )]
    Version {
        path: String,
        /// The version in its header.
        found: i64,
    },
}

/// Opens the file, or makes it; refuses a corrupt or foreign one. A file of an older version is
/// brought up to date in one transaction, after a copy of it was put beside it.
pub fn open(path: &Path) -> Result<Connection, StoreError> {
    let shown = path.display().to_string();
    let told = |e: rusqlite::Error| {
        let (path_shown, why) = (shown.clone(), e.to_string());
        match e.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Corrupt { path: path_shown, why }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path: path_shown, why },
            _ if disk_is_full(path) => StoreError::Full { path: path_shown, why },
            _ => StoreError::Open { path: path_shown, why },
        }
    };
    // What is in the way, SQLite finds as well and tells better.
    let _ = private::make(path);
    let mut db = Connection::open(path).map_err(told)?;
    db.busy_timeout(Duration::from_secs(5)).map_err(told)?;
    db.set_prepared_statement_cache_capacity(64);
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
    if tables > 0 && !(1..=SCHEMA_VERSION).contains(&version) {
        return Err(StoreError::Version { path: shown, found: version });
    }
    let check: String = db.query_row("PRAGMA quick_check(1)", [], |r| r.get(0)).map_err(told)?;
    if check != "ok" {
        let why = check.lines().last().unwrap_or_default().to_owned();
        return Err(StoreError::Corrupt { path: shown, why });
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(told)?;
    for suffix in ["", "-wal", "-shm"] {
        // A file of somebody else's that we may write is his to close.
        let _ = private::close(&with_suffix(path, suffix));
    }
    if tables == 0 {
        // What is pruned leaves the file, not only the tables.
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(told)?;
    }
    // FULL: a commit that was answered survives a power cut, not only a crash.
    db.pragma_update(None, "journal_mode", "WAL").map_err(told)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(told)?;
    db.pragma_update(None, "foreign_keys", true).map_err(told)?;
    if tables > 0 && version < SCHEMA_VERSION {
        let copy = older(path, version);
        copy_into(&db, &copy).map_err(|why| {
            let copy = copy.display().to_string();
            StoreError::Copy { path: shown.clone(), found: version, copy, why }
        })?;
    }
    // A file that can be read but not written is found out now, not at the first node.
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
    // Another process may have been first.
    let version: i64 = header(&tx, "user_version").map_err(told)?;
    for step in steps::STEPS.iter().skip(version as usize) {
        tx.execute_batch(step).map_err(told)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(told)?;
    tx.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(told)?;
    tx.execute("UPDATE health SET tried_us = tried_us", []).map_err(told)?;
    tx.commit().map_err(told)?;
    Ok(db)
}

/// Where the copy of a file of an older version goes.
pub fn older(path: &Path, version: i64) -> PathBuf {
    with_suffix(path, &format!(".schema{version}"))
}

/// The path of a file beside another: `s.db` and `s.db.tokens`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Copies the database, whole or not at all, while others read and write it.
pub fn copy_into(db: &Connection, copy: &Path) -> Result<(), String> {
    if copy.exists() {
        return Err("there is a file of that name already: move it away".to_owned());
    }
    let part = with_suffix(copy, ".part");
    let _ = std::fs::remove_file(&part);
    let name = part.to_str().ok_or("its name is not UTF-8")?;
    // SQLite takes an empty file for none, and keeps its mode.
    private::make(&part).map_err(|e| e.to_string())?;
    db.execute("VACUUM INTO ?1", [name]).map_err(|e| e.to_string())?;
    let synced = std::fs::File::open(&part).and_then(|file| file.sync_all());
    synced.and_then(|()| std::fs::rename(&part, copy)).map_err(|e| e.to_string())
}

/// Writes what changes nothing and takes more room than a request: a disk that has place for a
/// page, and none for a report, is full.
pub fn try_to_write(db: &Connection, now_us: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE health SET tried_us = ?1, room = randomblob(65536)";
    db.prepare_cached(sql)?.execute([now_us]).map(|_| ())
}

/// Tries to write beside the database: SQLite calls a full disk by many names.
fn disk_is_full(path: &Path) -> bool {
    let probe = with_suffix(path, ".probe");
    let file = OpenOptions::new().write(true).create_new(true).open(&probe);
    let tried = file.and_then(|mut file| {
        let tried = file.write_all(&[0; 65_536]).and_then(|()| file.sync_all());
        let _ = std::fs::remove_file(&probe);
        tried
    });
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
    tried.is_err_and(|e| full.contains(&e.kind()))
}

/// Opens a backup to read it; refuses what is corrupt, foreign, newer or not there.
pub fn reader_of_ours(path: &Path) -> Result<Connection, StoreError> {
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
    let db = reader(path)?;
    let header = |name: &str| db.pragma_query_value(None, name, |r| r.get::<_, i64>(0));
    let application = header("application_id").map_err(told)?;
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign { path: shown, found: application });
    }
    let version = header("user_version").map_err(told)?;
    if !(1..=SCHEMA_VERSION).contains(&version) {
        return Err(StoreError::Version { path: shown, found: version });
    }
    let check: String = db.query_row("PRAGMA quick_check(1)", [], |r| r.get(0)).map_err(told)?;
    if check != "ok" {
        let why = check.lines().last().unwrap_or_default().to_owned();
        return Err(StoreError::Corrupt { path: shown, why });
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
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// A node as the table has it.
#[derive(Clone, Debug)]
pub struct Node {
    pub node_id: NodeId,
    /// The operator's name for it.
    pub name: String,
    /// The operator's group for it; empty for none.
    pub group_name: String,
    /// Suite and public key, once enrolled.
    pub key: Option<(Suite, Vec<u8>)>,
    /// The last accepted counter.
    pub counter: Option<u32>,
    /// How often the operator expects it to show itself.
    pub period_us: Option<u64>,
    /// When enrolment was opened.
    pub opened_us: u64,
    pub enrolled_us: Option<u64>,
    /// When it last said HELLO or had a message accepted.
    pub last_seen_us: Option<u64>,
    /// When a message of it was last accepted.
    pub last_accepted_us: Option<u64>,
    /// Storage voltage in its last HELLO.
    pub vcap_mv: Option<u16>,
    /// The reason of its last HELLO.
    pub reason: Option<String>,
    /// From one look at the air to the next, if it listens.
    pub listen_us: Option<u64>,
    /// When the operator stopped trusting its key.
    pub revoked_us: Option<u64>,
    /// Challenges queued so far.
    pub challenges_asked: i64,
    /// Challenges handed out so far, each counted once.
    pub challenges_issued: i64,
    /// Challenges answered so far.
    pub challenges_answered: i64,
    /// Challenges whose intent is over, as far as they were swept.
    pub challenges_expired: i64,
    /// Time at which it was handed a challenge first after it last proved itself.
    pub unanswered_since_us: Option<u64>,
}

/// The columns of a node that its fields are named after, beside those of its key.
macro_rules! columns {
    ($($column:ident)*) => {
        const NODE_COLUMNS: &str =
            concat!("node_id, suite, public_key", $(", ", stringify!($column)),*);

        fn node_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Node> {
            let suite: Option<u8> = row.get("suite")?;
            let public_key: Option<Vec<u8>> = row.get("public_key")?;
            Ok(Node {
                node_id: NodeId(row.get("node_id")?),
                key: suite.and_then(Suite::from_code).zip(public_key),
                $($column: row.get(stringify!($column))?,)*
            })
        }
    };
}
columns!(
    name group_name counter period_us opened_us enrolled_us last_seen_us last_accepted_us vcap_mv reason revoked_us
    challenges_asked challenges_issued challenges_answered challenges_expired unanswered_since_us listen_us
);

impl Node {
    /// The node, if it is in the table.
    pub fn find(db: &Connection, node_id: NodeId) -> rusqlite::Result<Option<Self>> {
        let sql = format!("SELECT {NODE_COLUMNS} FROM nodes WHERE node_id = ?1");
        db.prepare_cached(&sql)?.query_row([node_id.0], node_of).optional()
    }

    /// What the operator has decided about it, and what it has done.
    pub const fn state(&self) -> &'static str {
        match (self.revoked_us, &self.key) {
            (Some(_), _) => "revoked",
            (None, Some(_)) => "enrolled",
            (None, None) => "open",
        }
    }

    /// Reason for which the node is late at `now_us`, if it is: a whole expected period and a half went by since it showed itself,
    /// or since it was first handed a challenge that it has not answered. HELLO is not signed: that something says it
    /// in the node's name is no proof that the node lives.
    pub fn late(&self, now_us: u64) -> Option<Value> {
        // A node that was revoked is expected by nobody.
        let period_us = self.period_us.filter(|_| self.revoked_us.is_none())?;
        let allowed_us = period_us.saturating_add(period_us / 2);
        let since_us = self.last_seen_us.or(self.enrolled_us).unwrap_or(self.opened_us);
        let mut silent_us = now_us.saturating_sub(since_us);
        let mut why = self.why_silent(silent_us);
        if silent_us <= allowed_us {
            silent_us = now_us.saturating_sub(self.unanswered_since_us?);
            if silent_us <= allowed_us {
                return None;
            }
            why = format!(
                "it shows itself, or somebody does in its name, and has answered no challenge for {}",
                duration(silent_us)
            );
        }
        let expected = format!("it is expected every {}", duration(period_us));
        Some(json!({
            "node_id": self.node_id.to_string(),
            "name": self.name,
            "last_seen_us": self.last_seen_us,
            "period_us": period_us,
            "late_by_us": silent_us - period_us,
            "why": format!("{why}; {expected}"),
        }))
    }

    fn why_silent(&self, silent_us: u64) -> String {
        let silent = duration(silent_us);
        match (&self.key, self.last_seen_us, self.reason.as_deref()) {
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
        }
    }

    /// The node as JSON, with the counts of its challenges and verdicts.
    pub fn to_json(&self, db: &Connection, now_us: u64) -> rusqlite::Result<Value> {
        let suite = self.key.as_ref().map(|(suite, _)| *suite);
        Ok(json!({
            "node_id": self.node_id.to_string(),
            "name": self.name,
            "group": self.group_name,
            "state": self.state(),
            "suite": suite.map(Suite::name),
            "public_key": self.key.as_ref().map(|(_, key)| hex::encode(key)),
            "security_bits": suite.map(Suite::security_bits),
            "security_label": suite.map(Suite::security_label),
            "counter": self.counter,
            "period_us": self.period_us,
            "opened_us": self.opened_us,
            "enrolled_us": self.enrolled_us,
            "revoked_us": self.revoked_us,
            "last_seen_us": self.last_seen_us,
            "last_accepted_us": self.last_accepted_us,
            "vcap_v": self.vcap_mv.map(|mv| f64::from(mv) / 1e3),
            "reason": self.reason,
            "listen_us": self.listen_us,
            "unanswered_since_us": self.unanswered_since_us,
            "challenges": challenges::Counts::of(db, self, now_us)?.to_json(),
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

/// How often each verdict was given, by its name: to one node, or to all; `kind` is an event's.
pub fn verdict_counts(
    db: &Connection,
    node_id: Option<NodeId>,
    kind: Option<&str>,
) -> rusqlite::Result<Value> {
    let of_kind = if kind.is_some() { "kind = ?2" } else { "?2 IS NULL" };
    let sql = format!(
        "SELECT verdict, sum(count) FROM counts WHERE node_id = ?1 AND {of_kind} GROUP BY verdict"
    );
    let mut counts = json!({});
    let mut statement = db.prepare_cached(&sql)?;
    let whose = node_id.as_ref().map_or(&[][..], |n| &n.0);
    let rows = statement
        .query_map(params![whose, kind], |r| Ok((r.get::<_, u8>(0)?, r.get::<_, i64>(1)?)))?;
    for row in rows {
        let (code, count) = row?;
        let name = VerdictCode::from_code(code).map_or("unknown", VerdictCode::name);
        counts[name] = count.into();
    }
    Ok(counts)
}

/// How many responses and reports were accepted, by the security level of the suite that signed.
pub fn accepted_by_security(db: &Connection) -> rusqlite::Result<Value> {
    let mut sums = std::collections::BTreeMap::new();
    let mut statement = db.prepare_cached("SELECT suite, count FROM accepted")?;
    let rows = statement.query_map([], |r| Ok((r.get::<_, u8>(0)?, r.get::<_, i64>(1)?)))?;
    for row in rows {
        let (code, count) = row?;
        let bits = Suite::from_code(code).map_or(0, Suite::security_bits);
        *sums.entry(bits.to_string()).or_insert(0) += count;
    }
    Ok(json!(sums))
}

/// Counts a response or report that was accepted.
pub fn count_accepted(db: &Connection, suite: Suite) -> rusqlite::Result<()> {
    let sql = "INSERT INTO accepted VALUES (?1, 1) ON CONFLICT DO UPDATE SET count = count + 1";
    db.prepare_cached(sql)?.execute([suite.code()]).map(|_| ())
}

/// An event on its way into the log.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub time_us: u64,
    pub node_id: NodeId,
    pub kind: &'a str,
    /// The verdict on it, if it asked for one.
    pub verdict: Option<VerdictCode>,
    /// Whoever reaches the air or the port can make it happen again and again: it gets
    /// [`ROWS_A_MINUTE`], not a row each.
    pub repeatable: bool,
}

/// Adds to the log and to the counts.
pub fn append(db: &Connection, event: Event<'_>, detail: Value) -> rusqlite::Result<()> {
    let Event { time_us, node_id, kind, verdict, repeatable } = event;
    let verdict = verdict.map(VerdictCode::code);
    // Unknown nodes share their counts: who invents identifiers must not fill a table with them.
    let whose: &[u8] = if verdict.is_none() || is_known(db, node_id)? { &node_id.0 } else { &[] };
    if let Some(verdict) = verdict {
        let sql = "INSERT INTO counts VALUES (?1, ?2, ?3, 1)
            ON CONFLICT DO UPDATE SET count = count + 1";
        let mut count = db.prepare_cached(sql)?;
        count.execute(params![&[][..], kind, verdict])?;
        if !whose.is_empty() {
            count.execute(params![whose, kind, verdict])?;
        }
    }
    let row = Row { time_us, node_id: Some(&node_id.0), kind, verdict };
    if repeatable { sometimes(db, row, whose, detail) } else { always(db, row, detail) }
}

/// Adds what concerns no node: who did what to tokens, and who was refused.
pub fn audit(
    db: &Connection,
    time_us: u64,
    kind: &str,
    repeatable: bool,
    detail: Value,
) -> rusqlite::Result<()> {
    let row = Row { time_us, node_id: None, kind, verdict: None };
    if repeatable { sometimes(db, row, &[], detail) } else { always(db, row, detail) }
}

/// A row of the log, but for its detail.
#[derive(Clone, Copy)]
struct Row<'a> {
    time_us: u64,
    node_id: Option<&'a [u8]>,
    kind: &'a str,
    verdict: Option<u8>,
}

fn always(db: &Connection, row: Row<'_>, mut detail: Value) -> rusqlite::Result<()> {
    origin::present().sign(&mut detail);
    insert(db, row.time_us, row.node_id, row.kind, row.verdict, &detail.to_string())
}

/// A row if the minute has room for it; in any case it is counted.
fn sometimes(
    db: &Connection,
    row: Row<'_>,
    whose: &[u8],
    mut detail: Value,
) -> rusqlite::Result<()> {
    let Row { time_us, node_id, kind, verdict } = row;
    let origin = origin::present();
    origin.sign(&mut detail);
    let detail = detail.to_string();
    let minute = time_us / MINUTE_US;
    {
        let sql = "INSERT INTO bursts VALUES (?1, ?2, ?3, ?4, 1, ?5, 0)
            ON CONFLICT DO UPDATE SET count = count + 1, last_us = max(last_us, ?5)
            RETURNING rows";
        let key = params![minute, whose, kind, verdict.map_or(-1, i64::from), time_us];
        let rows: i64 = db.prepare_cached(sql)?.query_row(key, |r| r.get(0))?;
        let bytes = detail.len() + kind.len() + ROW_BYTES;
        if rows >= ROWS_A_MINUTE || !spend(db, minute, origin.token_id.unwrap_or(0), bytes)? {
            return Ok(());
        }
        let sql = "UPDATE bursts SET rows = rows + 1
            WHERE minute = ?1 AND node_id = ?2 AND kind = ?3 AND verdict = ?4";
        db.prepare_cached(sql)?.execute(&key[..4])?;
    }
    insert(db, time_us, node_id, kind, verdict, &detail)
}

/// Takes a row from a sender's share of the minute; false if nothing is left of it.
fn spend(db: &Connection, minute: u64, token_id: i64, bytes: usize) -> rusqlite::Result<bool> {
    let sql = "INSERT INTO spent VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET bytes = bytes + ?3 WHERE bytes + ?3 <= ?4";
    let spent =
        db.prepare_cached(sql)?.execute(params![minute, token_id, bytes, BYTES_A_MINUTE])?;
    Ok(spent == 1)
}

fn is_known(db: &Connection, node_id: NodeId) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM nodes WHERE node_id = ?1")?.exists([node_id.0])
}

fn insert(
    db: &Connection,
    time_us: u64,
    node_id: Option<&[u8]>,
    kind: &str,
    verdict: Option<u8>,
    detail: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO events (time_us, node_id, kind, verdict, detail)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![time_us, node_id, kind, verdict, detail];
    let event_id = db.prepare_cached(sql)?.insert(values)?;
    log_pages::mark(db, event_id, time_us, kind, verdict)
}

/// The minute that a time falls in.
pub const fn minute_of(time_us: u64) -> u64 {
    time_us / MINUTE_US
}

/// Tells of the minutes before `minute` what the log did not take row by row: in a row for each node, kind and verdict,
/// and beyond [`MOST_TOLD`] of them in one for all nodes of a kind and verdict.
pub fn close_minutes(db: &Connection, minute: u64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM spent WHERE minute < ?1")?.execute([minute])?;
    let sql = "DELETE FROM bursts WHERE minute < ?1
        RETURNING node_id, kind, verdict, count - rows, last_us, minute";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([minute], |r| {
        let node_id: Vec<u8> = r.get(0)?;
        let (kind, verdict): (String, i64) = (r.get(1)?, r.get(2)?);
        let (times, last_us, minute): (i64, u64, u64) = (r.get(3)?, r.get(4)?, r.get(5)?);
        Ok((node_id, kind, verdict, times, last_us, minute))
    })?;
    let mut merged = BTreeMap::<(u64, String, i64), (i64, u64)>::new();
    let mut told = 0;
    for row in rows {
        let (node_id, kind, verdict, times, last_us, minute) = row?;
        if times == 0 {
            continue;
        }
        told += 1;
        if told > MOST_TOLD {
            let all = merged.entry((minute, kind, verdict)).or_default();
            *all = (all.0 + times, all.1.max(last_us));
            continue;
        }
        let node_id = Some(&node_id[..]).filter(|id| !id.is_empty());
        tell_times(db, node_id, &kind, verdict, (times, minute, last_us))?;
    }
    for ((minute, kind, verdict), (times, last_us)) in merged {
        tell_times(db, None, &kind, verdict, (times, minute, last_us))?;
    }
    Ok(())
}

fn tell_times(
    db: &Connection,
    node_id: Option<&[u8]>,
    kind: &str,
    verdict: i64,
    (times, minute, last_us): (i64, u64, u64),
) -> rusqlite::Result<()> {
    let detail = json!({
        "why": format!("{times} more of this kind within a minute, told in one row"),
        "times": times, "from_us": minute * MINUTE_US, "to_us": last_us,
    });
    insert(db, last_us, node_id, kind, u8::try_from(verdict).ok(), &detail.to_string())
}

/// Ends and tells the intents that are over at `now_us`, a thousand at a time.
pub fn end_intents(db: &Connection, now_us: u64) -> rusqlite::Result<()> {
    for (node_id, challenge_id, expires_us, issues) in challenges::end(db, now_us)? {
        let why = match issues {
            0 => "the node did not show itself before the intent was over".to_owned(),
            n => format!("handed out {n} times and not answered before the intent was over"),
        };
        let detail =
            json!({"challenge_id": challenge_id, "intent_expires_us": expires_us, "why": why});
        insert(db, now_us, Some(&node_id.0), "challenge-expired", None, &detail.to_string())?;
    }
    Ok(())
}

/// The time of the latest event: where a driven clock goes on.
pub fn latest_us(db: &Connection) -> rusqlite::Result<u64> {
    db.query_row("SELECT coalesce(max(to_us), 0) FROM event_blocks", [], |r| r.get(0))
}
