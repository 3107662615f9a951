// SPDX-License-Identifier: MIT OR Apache-2.0
//! One frame that several gateways heard: judged once, the verdict told to each.
//!
//! Known by its bytes, before counters are looked at, within [`WINDOW_US`] of the server's clock. A frame that was
//! accepted is kept with its node, so that it is known after a restart and in another process; one that was refused is
//! kept in memory, as to judge it again changes nothing but counts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::digest::{Context, SHA256};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;
use sunseal_link::{Kind, Message, NodeId, Suite, VerdictCode};
use sunseal_verify::Verified;

use super::{Judgement, event_of, noted};

/// A gateway gives its server ten seconds: what comes later is no other gateway's.
pub const WINDOW_US: u64 = 10_000_000;
/// Refused frames that are remembered at most; what is pushed out is judged and counted again.
const MAX_RECENT: usize = 4_096;

/// Half of the SHA-256 over a message's kind and body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame(pub(super) [u8; 16]);

impl Frame {
    /// Makes it of a body as it came over the air.
    pub fn of(kind: Kind, body: &[u8]) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(&[kind.code()]);
        context.update(body);
        let mut half = [0; 16];
        half.copy_from_slice(&context.finish().as_ref()[..16]);
        Self(half)
    }

    /// Makes it of a message that was read.
    pub fn of_message(message: &Message) -> Self {
        Self::of(message.kind(), &message.encode())
    }
}

/// The verdict on a RESPONSE or REPORT if it is the frame that was accepted of its node a moment ago.
pub(super) fn accepted(
    tx: &Connection,
    now_us: u64,
    message: &Message,
) -> rusqlite::Result<Option<Judgement>> {
    let (node_id, counter) = match message {
        Message::Response(m) => (m.node_id, m.counter),
        Message::Report(m) => (m.node_id, m.counter),
        _ => return Ok(None),
    };
    let sql = "SELECT suite FROM nodes WHERE node_id = ?1 AND counter = ?2 AND last_frame = ?3
        AND last_accepted_us + ?4 >= ?5 AND revoked_us IS NULL AND suite IS NOT NULL";
    let frame = Frame::of_message(message);
    let suite: Option<u8> = tx
        .prepare_cached(sql)?
        .query_row(params![node_id.0, counter, frame.0, WINDOW_US, now_us], |r| r.get(0))
        .optional()?;
    let Some(suite) = suite.and_then(Suite::from_code) else { return Ok(None) };
    let (security_bits, security_label) = (suite.security_bits(), suite.security_label());
    let verified = Verified { suite, security_bits, security_label };
    let why = format!("this frame of node {node_id} was accepted already, from another gateway");
    let judgement = Judgement { duplicate: true, ..Judgement::accepted(verified, counter, why) };
    told(tx, now_us, message.kind(), node_id, &judgement)?;
    Ok(Some(judgement))
}

fn told(
    tx: &Connection,
    now_us: u64,
    kind: Kind,
    node_id: NodeId,
    judgement: &Judgement,
) -> rusqlite::Result<()> {
    let detail = json!({"of": event_of(kind), "counter": judgement.reference,
                        "first_verdict": judgement.verdict.name()});
    noted(tx, now_us, node_id, "duplicate", true, detail)
}

#[derive(Debug, Default)]
struct Refused {
    by_frame: BTreeMap<Frame, (u64, VerdictCode)>,
    order: VecDeque<Frame>,
}

/// Frames that were refused a moment ago.
#[derive(Debug, Default)]
pub struct Recent(Mutex<Refused>);

impl Recent {
    /// Has a frame judged; if it was refused the same way within the window, that is a duplicate, and the node's counts
    /// do not tell it twice.
    pub fn once(
        &self,
        tx: &Connection,
        now_us: u64,
        (kind, node_id, body): (Kind, NodeId, &[u8]),
        judged: impl FnOnce() -> rusqlite::Result<Judgement>,
    ) -> rusqlite::Result<Judgement> {
        let frame = Frame::of(kind, body);
        let before = self.find(frame, now_us);
        if before.is_none() {
            let judgement = judged()?;
            if judgement.verdict != VerdictCode::Accepted {
                self.keep(frame, now_us, judgement.verdict);
            }
            return Ok(judgement);
        }
        tx.prepare_cached("SAVEPOINT duplicate")?.execute([])?;
        let mut judgement = judged()?;
        if before == Some(judgement.verdict) {
            tx.prepare_cached("ROLLBACK TO duplicate")?.execute([])?;
            judgement.duplicate = true;
            told(tx, now_us, kind, node_id, &judgement)?;
        }
        tx.prepare_cached("RELEASE duplicate")?.execute([])?;
        Ok(judgement)
    }

    fn find(&self, frame: Frame, now_us: u64) -> Option<VerdictCode> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let &(time_us, verdict) = refused.by_frame.get(&frame)?;
        (now_us <= time_us.saturating_add(WINDOW_US)).then_some(verdict)
    }

    fn keep(&self, frame: Frame, now_us: u64, verdict: VerdictCode) {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.by_frame.insert(frame, (now_us, verdict)).is_none() {
            refused.order.push_back(frame);
        }
        if refused.order.len() > MAX_RECENT
            && let Some(oldest) = refused.order.pop_front()
        {
            refused.by_frame.remove(&oldest);
        }
    }
}
