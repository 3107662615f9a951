// SPDX-License-Identifier: MIT OR Apache-2.0
//! Challenges as the table has them: waiting, out, answered, expired.
//!
//! A challenge stands for what the operator wants to know, its intent. It waits, is out from the HELLO that it answers
//! until its nonce is no longer fresh, and waits again unless it was answered or its intent is over.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use sunseal_link::NodeId;

use super::Node;

/// Validity of an intent from its `not_before_us`, unless the operator says otherwise: 30 days.
pub const INTENT_US: u64 = 30 * 86_400_000_000;
/// Intents that one sweep ends at most, so that it delays nobody.
const MAX_SWEPT: u32 = 1_000;

/// Numbers of challenges in each state, of one node or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Asked for by the operator so far.
    pub asked: i64,
    /// Waiting for a HELLO, also once more.
    pub queued: i64,
    /// Out, their nonce fresh.
    pub issued: i64,
    /// Challenges that were answered in time.
    pub answered: i64,
    /// Not answered before their intent was over.
    pub expired: i64,
}

impl Counts {
    /// Counts those of one node.
    pub fn of(db: &Connection, node: &Node, now_us: u64) -> rusqlite::Result<Self> {
        // By their nodes: few are open.
        let sql = "SELECT count(*) FILTER (WHERE intent_expires_us < ?1),
                count(*) FILTER (WHERE intent_expires_us >= ?1 AND expires_us >= ?1)
            FROM challenges WHERE answered_us IS NULL AND ended_us IS NULL AND node_id = ?2";
        let (over, out) = db
            .prepare_cached(sql)?
            .query_row(params![now_us, node.node_id.0], |r| Ok((r.get(0)?, r.get(1)?)))?;
        let (asked, answered) = (node.challenges_asked, node.challenges_answered);
        Ok(Self::from(asked, answered, node.challenges_expired, over, out))
    }

    /// Counts those of all nodes.
    pub fn of_all(db: &Connection, now_us: u64) -> rusqlite::Result<Self> {
        let count = |sql: &str| db.prepare_cached(sql)?.query_row([now_us], |r| r.get::<_, i64>(0));
        let over = count(
            "SELECT count(*) FROM challenges
            WHERE answered_us IS NULL AND ended_us IS NULL AND intent_expires_us < ?1",
        )?;
        let out = count(
            "SELECT count(*) FROM challenges WHERE issued_us IS NOT NULL AND answered_us IS NULL
            AND ended_us IS NULL AND expires_us >= ?1",
        )?;
        let sql = "SELECT asked, answered, expired FROM challenge_sums";
        db.prepare_cached(sql)?
            .query_row([], |r| Ok(Self::from(r.get(0)?, r.get(1)?, r.get(2)?, over, out)))
    }

    /// `over`: intents that have ended since the last sweep.
    fn from(asked: i64, answered: i64, swept: i64, over: i64, out: i64) -> Self {
        let expired = swept + over;
        Self { asked, queued: asked - answered - expired - out, issued: out, answered, expired }
    }

    /// As the API tells them.
    pub fn to_json(self) -> Value {
        json!({"asked": self.asked, "queued": self.queued, "issued": self.issued,
               "answered": self.answered, "expired": self.expired})
    }
}

/// A challenge that is out: its number, its nonce, and when that is no longer fresh. A node has one at a time.
pub fn out(
    db: &Connection,
    node_id: NodeId,
    now_us: u64,
) -> rusqlite::Result<Option<(u32, [u8; 16], u64)>> {
    let sql = "SELECT challenge_id, nonce, expires_us FROM challenges
        WHERE node_id = ?1 AND issued_us IS NOT NULL AND answered_us IS NULL AND ended_us IS NULL
        AND expires_us >= ?2 ORDER BY challenge_id LIMIT 1";
    db.prepare_cached(sql)?
        .query_row(params![node_id.0, now_us], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        .optional()
}

/// A challenge that waits and may be handed out now.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Number of the challenge, which its answers repeat.
    pub challenge_id: u32,
    /// Number of times that it was handed out.
    pub issues: u32,
    /// Time at which its intent is over.
    pub intent_expires_us: u64,
}

/// The next of a node's queue: one that came back has its old place.
pub fn waiting(db: &Connection, node_id: NodeId, now_us: u64) -> rusqlite::Result<Option<Waiting>> {
    let sql = "SELECT challenge_id, issues, intent_expires_us FROM challenges
        WHERE node_id = ?1 AND answered_us IS NULL AND ended_us IS NULL AND not_before_us <= ?2
        AND intent_expires_us >= ?2 AND (issued_us IS NULL OR expires_us < ?2)
        ORDER BY not_before_us, challenge_id LIMIT 1";
    db.prepare_cached(sql)?
        .query_row(params![node_id.0, now_us], |r| {
            let (challenge_id, issues) = (r.get(0)?, r.get(1)?);
            Ok(Waiting { challenge_id, issues, intent_expires_us: r.get(2)? })
        })
        .optional()
}

/// Ends the intents that are over, some at a time; which ones, for the log.
pub fn end(db: &Connection, now_us: u64) -> rusqlite::Result<Vec<(NodeId, u32, u64, u32)>> {
    let sql = "UPDATE challenges SET ended_us = intent_expires_us WHERE challenge_id IN (
            SELECT challenge_id FROM challenges WHERE answered_us IS NULL AND ended_us IS NULL
            AND intent_expires_us < ?1 ORDER BY intent_expires_us LIMIT ?2)
        RETURNING node_id, challenge_id, intent_expires_us, issues";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![now_us, MAX_SWEPT], |r| {
        Ok((NodeId(r.get(0)?), r.get(1)?, r.get(2)?, r.get(3)?))
    })?;
    let ended: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    let sql = "UPDATE nodes SET challenges_expired = challenges_expired + 1 WHERE node_id = ?1";
    let mut count = db.prepare_cached(sql)?;
    for (node_id, ..) in &ended {
        count.execute([node_id.0])?;
    }
    Ok(ended)
}

/// Page of the nodes that are due.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Those behind this one, in the order of their identifiers.
    Behind(Option<NodeId>),
    /// Nodes of a list, in any order.
    Of(Vec<NodeId>),
}

/// Some of the nodes that are due, and behind which the rest of them stand.
#[derive(Clone, Debug, Default)]
pub struct Due {
    /// The node, how often it listens, and from when on its challenge may be handed out.
    pub nodes: Vec<Value>,
    /// The last one looked at, if there may be more.
    pub next_page: Option<NodeId>,
}

/// A node that listens, can answer and has a challenge open; as the index `nodes_due` has it.
const DUE: &str = "listen_us IS NOT NULL AND suite IS NOT NULL AND revoked_us IS NULL
    AND challenges_asked > challenges_answered + challenges_expired";

/// Nodes that listen and have a challenge out or waiting, at most `limit`. In the order of their identifiers, so that none
/// stands in front of others for having waited long.
pub fn due(db: &Connection, now_us: u64, asked: &Asked, limit: u32) -> rusqlite::Result<Due> {
    let select = "SELECT node_id, listen_us, coalesce(
            (SELECT min(issued_us) FROM challenges WHERE challenges.node_id = nodes.node_id
             AND issued_us IS NOT NULL AND answered_us IS NULL AND ended_us IS NULL
             AND expires_us >= ?1),
            (SELECT min(not_before_us) FROM challenges WHERE challenges.node_id = nodes.node_id
             AND answered_us IS NULL AND ended_us IS NULL AND intent_expires_us >= ?1)) AS due_us
        FROM nodes";
    let read = |r: &rusqlite::Row<'_>| {
        let (listen_us, due_us): (u64, Option<u64>) = (r.get(1)?, r.get(2)?);
        Ok((NodeId(r.get(0)?), listen_us, due_us))
    };
    let rows: Vec<(NodeId, u64, Option<u64>)> = match asked {
        Asked::Behind(after) => {
            let after = after.as_ref().map_or(&[][..], |id| &id.0);
            let sql = format!("{select} WHERE {DUE} AND node_id > ?2 ORDER BY node_id LIMIT ?3");
            let mut statement = db.prepare_cached(&sql)?;
            let rows = statement.query_map(params![now_us, after, limit], read)?;
            rows.collect::<rusqlite::Result<_>>()?
        }
        Asked::Of(ids) => {
            let sql = format!("{select} WHERE {DUE} AND node_id = ?2");
            let mut statement = db.prepare_cached(&sql)?;
            let rows =
                ids.iter().map(|id| statement.query_row(params![now_us, id.0], read).optional());
            rows.filter_map(rusqlite::Result::transpose).collect::<rusqlite::Result<_>>()?
        }
    };
    let full = matches!(asked, Asked::Behind(_)) && rows.len() == limit as usize;
    let next_page = rows.last().filter(|_| full).map(|row| row.0);
    let due = rows.into_iter().filter_map(|(id, listen_us, due_us)| {
        Some(json!({"node_id": id.to_string(), "listen_us": listen_us, "due_us": due_us?}))
    });
    Ok(Due { nodes: due.collect(), next_page })
}
