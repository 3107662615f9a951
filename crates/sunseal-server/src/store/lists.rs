// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of nodes and of challenges: filtered, newest first, in pages by key.
//!
//! A page costs a bounded time, whatever is asked of however many: it ends when it is full, when nothing is left, or after
//! [`PATIENCE`]. Then it may be short, or empty, and the key behind which to go on says that there may be more.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use serde_json::{Value, json};
use sunseal_link::{NodeId, VerdictCode};

use super::{Node, duration};
use crate::hex;

/// Time after which a page is handed out as it is.
pub const PATIENCE: Duration = Duration::from_millis(120);
/// Rows that are looked at before the clock is; eight times as many from then on, up to the most.
const FIRST_STRETCH: u32 = 2_000;
const LONGEST_STRETCH: u32 = 64_000;

/// Place of a node in the list: nodes opened later stand in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeKey {
    /// Time at which its enrolment was opened.
    pub opened_us: u64,
    /// Its identifier, for those that were opened together.
    pub node_id: NodeId,
}

impl fmt::Display for NodeKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}-{}", self.opened_us, self.node_id)
    }
}

impl FromStr for NodeKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || format!("after takes the `next_after` of the page before, not `{text}`");
        let (opened_us, node_id) = text.split_once('-').ok_or_else(wanted)?;
        let opened_us = opened_us.parse().map_err(|_| wanted())?;
        Ok(Self { opened_us, node_id: hex::node_id(node_id).map_err(|_| wanted())? })
    }
}

/// Conditions on nodes, all of which must hold.
#[derive(Clone, Debug, Default)]
pub struct NodeFilter {
    /// State that the operator's decisions have brought it to, by its name in JSON.
    pub state: Option<&'static str>,
    /// The group that the operator put it into; the empty one has no list of its own.
    pub group: Option<String>,
    /// Letters that its name has in it, in either case.
    pub name: Option<String>,
    /// Late at present, or not.
    pub late: Option<bool>,
    /// Storage voltage in its last HELLO, below this.
    pub vcap_below_mv: Option<u16>,
    /// Storage voltage in its last HELLO, this or above.
    pub vcap_from_mv: Option<u16>,
    /// A verdict that it was given at least once.
    pub verdict: Option<VerdictCode>,
    /// Last seen at this time or after.
    pub seen_from_us: Option<u64>,
    /// Last seen before this time, or never.
    pub seen_before_us: Option<u64>,
}

/// States by the number that the table's column computes.
pub const STATES: [&str; 3] = ["open", "enrolled", "revoked"];

impl NodeFilter {
    /// Conditions in SQL, and the values that stand in them.
    fn conditions(&self, now_us: u64) -> (String, Vec<Sql>) {
        let (mut sql, mut values) = (String::new(), Vec::new());
        let mut must = |condition: &str, value: Sql| {
            sql += " AND ";
            sql += condition;
            values.push(value);
        };
        let whole = |us: u64| Sql::Integer(i64::try_from(us).unwrap_or(i64::MAX));
        if let Some(state) = self.state.and_then(|s| STATES.iter().position(|&name| name == s)) {
            must("state = ?", Sql::Integer(state as i64));
        }
        match self.late {
            Some(true) => must("late_from_us < ?", whole(now_us)),
            Some(false) => must("ifnull(late_from_us >= ?, 1)", whole(now_us)),
            None => {}
        }
        if let Some(mv) = self.vcap_below_mv {
            must("vcap_mv < ?", i64::from(mv).into());
        }
        if let Some(mv) = self.vcap_from_mv {
            must("vcap_mv >= ?", i64::from(mv).into());
        }
        if let Some(verdict) = self.verdict {
            must("verdicts_seen & ?", (1_i64 << verdict.code()).into());
        }
        if let Some(us) = self.seen_from_us {
            must("last_seen_us >= ?", whole(us));
        }
        if let Some(us) = self.seen_before_us {
            must("ifnull(last_seen_us < ?, 1)", whole(us));
        }
        if let Some(name) = &self.name {
            must("name LIKE ? ESCAPE '\\'", format!("%{}%", escaped(name)).into());
        }
        (sql, values)
    }
}

/// A text of which LIKE takes every letter for itself.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

/// Hands nodes behind `after` to `take` until it takes no more; the key behind which the next page begins, if there may
/// be one.
pub fn nodes(
    db: &Connection,
    now_us: u64,
    filter: &NodeFilter,
    after: Option<NodeKey>,
    mut take: impl FnMut(&Node) -> rusqlite::Result<bool>,
) -> rusqlite::Result<Option<NodeKey>> {
    let begun = Instant::now();
    let first = NodeKey { opened_us: i64::MAX as u64, node_id: NodeId([0xff; 8]) };
    let mut behind = after.unwrap_or(first);
    let mut stretch = FIRST_STRETCH;
    let (conditions, values) = filter.conditions(now_us);
    let of_group = of_group(filter);
    let sql = format!(
        "SELECT opened_us, node_id FROM nodes {of_group}
         AND (opened_us, node_id) < (?, ?) AND (opened_us, node_id) >= (?, ?) {conditions}
         ORDER BY opened_us DESC, node_id DESC"
    );
    let group = Sql::Text(filter.group.clone().unwrap_or_default());
    let mut last = None;
    loop {
        let end = stretch_end(db, filter, behind, stretch)?;
        let to = end.unwrap_or(NodeKey { opened_us: 0, node_id: NodeId([0; 8]) });
        let bounds = [behind, to];
        let bounds = bounds.iter().flat_map(|key| {
            [Sql::Integer(key.opened_us as i64), Sql::Blob(key.node_id.0.to_vec())]
        });
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(
            std::iter::once(group.clone()).chain(bounds).chain(values.iter().cloned()),
        ))?;
        while let Some(row) = rows.next()? {
            let key = NodeKey { opened_us: row.get(0)?, node_id: NodeId(row.get(1)?) };
            let Some(node) = Node::find(db, key.node_id)? else { continue };
            if !take(&node)? {
                return Ok(last);
            }
            last = Some(key);
        }
        if end.is_none() || begun.elapsed() > PATIENCE {
            return Ok(end);
        }
        behind = to;
        last = Some(to);
        stretch = (stretch * 8).min(LONGEST_STRETCH);
    }
}

/// The last node of a stretch of so many; none if fewer are left.
fn stretch_end(
    db: &Connection,
    filter: &NodeFilter,
    behind: NodeKey,
    rows: u32,
) -> rusqlite::Result<Option<NodeKey>> {
    let sql = format!(
        "SELECT opened_us, node_id FROM nodes {} AND (opened_us, node_id) < (?, ?)
         ORDER BY opened_us DESC, node_id DESC LIMIT 1 OFFSET ?",
        of_group(filter)
    );
    let group = filter.group.as_deref().unwrap_or_default();
    db.prepare_cached(&sql)?
        .query_row(params![group, behind.opened_us, behind.node_id.0, rows - 1], |r| {
            Ok(NodeKey { opened_us: r.get(0)?, node_id: NodeId(r.get(1)?) })
        })
        .optional()
}

/// Index that has the order and all that conditions read: of one group, or of all nodes. Its first value is the group.
const fn of_group(filter: &NodeFilter) -> &'static str {
    match filter.group {
        Some(_) => "INDEXED BY nodes_of_group WHERE group_name <> '' AND group_name = ?",
        None => "INDEXED BY nodes_newest WHERE ? = ''",
    }
}

/// Numbers of nodes in each state, and of those that are late.
pub fn node_counts(db: &Connection, now_us: u64) -> rusqlite::Result<Value> {
    let mut counts = json!({"open": 0, "enrolled": 0, "revoked": 0});
    let mut statement = db.prepare_cached("SELECT state, count FROM node_states")?;
    let rows = statement.query_map([], |r| Ok((r.get::<_, usize>(0)?, r.get::<_, i64>(1)?)))?;
    for row in rows {
        let (state, count) = row?;
        if let Some(name) = STATES.get(state) {
            counts[name] = count.into();
        }
    }
    counts["late"] = late_count(db, now_us)?.into();
    Ok(counts)
}

/// Microseconds of a stretch whose nodes are counted together, as a power of two: 4.5 minutes.
const LATE_SHIFT: u32 = 28;

/// Number of nodes that are late: whole stretches by their counts, the one that is not over node by node.
fn late_count(db: &Connection, now_us: u64) -> rusqlite::Result<i64> {
    let stretch = now_us >> LATE_SHIFT;
    let whole: i64 = db
        .prepare_cached("SELECT coalesce(sum(count), 0) FROM late_stretches WHERE stretch < ?1")?
        .query_row([stretch], |r| r.get(0))?;
    let part: i64 = db
        .prepare_cached(
            "SELECT count(*) FROM nodes INDEXED BY nodes_late
             WHERE late_from_us >= ?1 AND late_from_us < ?2",
        )?
        .query_row([stretch << LATE_SHIFT, now_us], |r| r.get(0))?;
    Ok(whole + part)
}

/// Nodes that have been late for longest, at most so many.
pub fn latest_known(db: &Connection, now_us: u64, most: u32) -> rusqlite::Result<Vec<Value>> {
    let sql = "SELECT node_id FROM nodes INDEXED BY nodes_late WHERE late_from_us < ?1
        ORDER BY late_from_us LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let ids = statement.query_map(params![now_us, most], |r| Ok(NodeId(r.get(0)?)))?;
    let ids: Vec<NodeId> = ids.collect::<rusqlite::Result<_>>()?;
    let late = ids.into_iter().map(|id| Ok(Node::find(db, id)?.and_then(|n| n.late(now_us))));
    late.filter_map(rusqlite::Result::transpose).collect()
}

/// Conditions on challenges, all of which must hold.
#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    /// `queued`, `issued`, `answered` or `expired`; those that are open, unless told.
    pub state: Option<&'static str>,
    /// The node that is asked.
    pub node_id: Option<NodeId>,
    /// The group of the node that is asked.
    pub group: Option<String>,
    /// Asked for at this time or after.
    pub queued_from_us: Option<u64>,
    /// Asked for before this time.
    pub queued_before_us: Option<u64>,
}

/// States of a challenge.
pub const QUEUE_STATES: [&str; 4] = ["queued", "issued", "answered", "expired"];

struct Challenge {
    challenge_id: i64,
    node_id: NodeId,
    queued_us: u64,
    not_before_us: u64,
    intent_expires_us: u64,
    issued_us: Option<u64>,
    expires_us: Option<u64>,
    issues: u32,
    answered_us: Option<u64>,
    ended_us: Option<u64>,
}

impl Challenge {
    fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            challenge_id: row.get("challenge_id")?,
            node_id: NodeId(row.get("node_id")?),
            queued_us: row.get("queued_us")?,
            not_before_us: row.get("not_before_us")?,
            intent_expires_us: row.get("intent_expires_us")?,
            issued_us: row.get("issued_us")?,
            expires_us: row.get("expires_us")?,
            issues: row.get("issues")?,
            answered_us: row.get("answered_us")?,
            ended_us: row.get("ended_us")?,
        })
    }

    fn state(&self, now_us: u64) -> &'static str {
        match () {
            () if self.answered_us.is_some() => "answered",
            () if self.ended_us.is_some() || self.intent_expires_us < now_us => "expired",
            () if self.expires_us.is_some_and(|us| us >= now_us) => "issued",
            () => "queued",
        }
    }

    /// Reason for which it has no answer yet.
    fn why(&self, node: &Node, now_us: u64) -> Option<String> {
        let seen = || match node.last_seen_us {
            None => "it has never shown itself".to_owned(),
            Some(us) => format!("it was last seen {} ago", duration(now_us.saturating_sub(us))),
        };
        Some(match self.state(now_us) {
            "issued" => {
                let issued_us = self.issued_us.unwrap_or(now_us);
                let ago = duration(now_us.saturating_sub(issued_us));
                format!("the node was handed it {ago} ago and has not answered")
            }
            "queued" if node.revoked_us.is_some() => "the node is revoked".to_owned(),
            "queued" if node.key.is_none() => "the node has not enrolled".to_owned(),
            "queued" if self.not_before_us > now_us => {
                let wait = duration(self.not_before_us - now_us);
                format!("it may not be handed out for another {wait}")
            }
            "queued" if node.reason.as_deref() == Some("low") => {
                let volts = f64::from(node.vcap_mv.unwrap_or(0)) / 1e3;
                format!("the node's store is low ({volts:.2} V); {}", seen())
            }
            "queued" => format!("it waits until the node shows itself; {}", seen()),
            _ => return None,
        })
    }

    fn to_json(&self, node: &Node, now_us: u64) -> Value {
        json!({
            "challenge_id": self.challenge_id, "node_id": self.node_id.to_string(), "name": node.name,
            "group": node.group_name, "state": self.state(now_us), "queued_us": self.queued_us,
            "not_before_us": self.not_before_us, "intent_expires_us": self.intent_expires_us,
            "issued_us": self.issued_us, "expires_us": self.expires_us, "issues": self.issues,
            "answered_us": self.answered_us, "why": self.why(node, now_us),
        })
    }
}

/// Hands challenges behind `after` to `take` until it takes no more; the number behind which the next page begins, if
/// there may be one.
pub fn queue(
    db: &Connection,
    now_us: u64,
    filter: &QueueFilter,
    after: Option<i64>,
    mut take: impl FnMut(&Value) -> bool,
) -> rusqlite::Result<Option<i64>> {
    let begun = Instant::now();
    let open = filter.state.is_none_or(|state| matches!(state, "queued" | "issued"));
    let by = match (&filter.node_id, open) {
        (Some(_), true) => {
            "challenges INDEXED BY challenges_open WHERE node_id = ?2 AND answered_us IS NULL AND ended_us IS NULL AND"
        }
        (Some(_), false) => "challenges INDEXED BY challenges_of_node WHERE node_id = ?2 AND",
        (None, true) => {
            "challenges INDEXED BY challenges_newest WHERE ?2 IS NULL AND answered_us IS NULL AND ended_us IS NULL AND"
        }
        (None, false) => "challenges WHERE ?2 IS NULL AND",
    };
    let sql = format!("SELECT * FROM {by} challenge_id < ?1 ORDER BY challenge_id DESC");
    let mut statement = db.prepare_cached(&sql)?;
    let whose = filter.node_id.map(|id| id.0);
    let mut rows = statement.query(params![after.unwrap_or(i64::MAX), whose])?;
    let (mut last, mut looked) = (after, 0_u32);
    while let Some(row) = rows.next()? {
        let found = Challenge::of(row)?;
        looked += 1;
        if looked.is_multiple_of(1_000) && begun.elapsed() > PATIENCE {
            return Ok(last);
        }
        let key = Some(found.challenge_id);
        let state = found.state(now_us);
        let wanted = filter.state.map_or(matches!(state, "queued" | "issued"), |s| s == state)
            && filter.queued_from_us.is_none_or(|us| found.queued_us >= us)
            && filter.queued_before_us.is_none_or(|us| found.queued_us < us);
        let node = if wanted { Node::find(db, found.node_id)? } else { None };
        let node = node.filter(|n| filter.group.as_ref().is_none_or(|g| *g == n.group_name));
        if let Some(node) = node
            && !take(&found.to_json(&node, now_us))
        {
            return Ok(last);
        }
        last = key;
    }
    Ok(None)
}

/// Puts a node into a group; the empty name is none.
pub fn set_group(db: &Connection, node_id: NodeId, group: &str) -> rusqlite::Result<()> {
    if group.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE nodes SET group_name = ?2 WHERE node_id = ?1";
    db.prepare_cached(sql)?.execute(params![node_id.0, group]).map(|_| ())
}
