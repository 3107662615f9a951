// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a message from the air is worth.
//!
//! Each function runs inside the caller's transaction. The first fault found is the one told, in
//! the order of `docs/reference/link.md`: malformed, unknown node, not open, wrong suite, replayed
//! counter, stale challenge, scalar out of range, key off curve, bad signature. A refusal writes
//! to the log and to nothing else.

use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::{Value, json};
use sunseal_link::{
    Enrol, Hello, Kind, LinkError, Message, NodeId, Reason, Report, Response, Suite, VerdictCode,
    signed,
};
use sunseal_verify::{Refusal, Verified, check_public_key, verify};

use crate::hex;
use crate::store::{self, Node};

/// Rules that the operator may set.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How long a challenge may be answered after it was first handed out.
    pub freshness_us: u64,
    /// For tests and demonstrations: nonces follow from this number. `None`: from the system.
    pub seed: Option<u64>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { freshness_us: 600_000_000, seed: None }
    }
}

/// A verdict and what the log and the answer say about it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The code.
    pub verdict: VerdictCode,
    /// The counter of the message, 0 if it has none.
    pub reference: u32,
    /// One sentence.
    pub why: String,
    /// What an accepted signature is worth.
    pub verified: Option<Verified>,
}

impl Judgement {
    fn refused(verdict: VerdictCode, reference: u32, why: impl Into<String>) -> Self {
        Self { verdict, reference, why: why.into(), verified: None }
    }

    fn accepted(verified: Verified, reference: u32, why: impl Into<String>) -> Self {
        let verdict = VerdictCode::Accepted;
        Self { verdict, reference, why: why.into(), verified: Some(verified) }
    }

    fn unknown(node_id: NodeId, reference: u32) -> Self {
        let why = format!("no node {node_id} is known: the operator opens enrolment first");
        Self::refused(VerdictCode::UnknownNode, reference, why)
    }

    fn signature(refusal: Refusal, reference: u32) -> Self {
        Self::refused(verdict_of(&refusal), reference, refusal.to_string())
    }

    /// The answer's JSON.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "verdict": self.verdict.code(),
            "verdict_name": self.verdict.name(),
            "reference": self.reference,
            "why": self.why,
        });
        if let Some(verified) = self.verified {
            out["suite"] = verified.suite.name().into();
            out["security_bits"] = verified.security_bits.into();
            out["security_label"] = verified.security_label.into();
        }
        out
    }
}

/// The verdict of a refusal by the cryptography.
pub const fn verdict_of(refusal: &Refusal) -> VerdictCode {
    match refusal {
        Refusal::KeyLength { .. } | Refusal::SignatureLength { .. } => VerdictCode::Malformed,
        Refusal::ScalarOutOfRange { .. } => VerdictCode::ScalarOutOfRange,
        Refusal::KeyOffCurve { .. } => VerdictCode::KeyOffCurve,
        Refusal::BadSignature { .. } => VerdictCode::BadSignature,
    }
}

/// A challenge on its way to a node.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Its number.
    pub challenge_id: u32,
    /// What nobody could foretell.
    pub nonce: [u8; 16],
    /// When an answer comes too late.
    pub expires_us: u64,
}

/// What a HELLO is answered with.
#[derive(Clone, Debug)]
pub enum Welcome {
    /// A challenge.
    Challenge(Issued),
    /// Nothing is queued.
    Idle,
    /// Nobody knows the node.
    Refused(Judgement),
}

/// Bytes of which the link layer could not make a message.
pub fn malformed(
    tx: &Transaction<'_>,
    now_us: u64,
    kind: Kind,
    node_id: NodeId,
    body: &[u8],
    verdict: VerdictCode,
    why: &str,
) -> rusqlite::Result<Judgement> {
    // Where the kind has a counter and the body reaches so far, the node hears which message it
    // was; nothing is decided by it.
    let at = match kind {
        Kind::Response => 12,
        _ => 8,
    };
    let counter = body.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
    let reference = counter.filter(|_| kind != Kind::Enrol).unwrap_or(0);
    let judgement = Judgement::refused(verdict, reference, why);
    let detail = json!({"why": why, "body": hex::encode(body)});
    store::append(tx, now_us, Some(node_id), event_of(kind), Some(verdict), &detail)?;
    Ok(judgement)
}

/// What [`malformed`] is told of a link layer's error.
pub fn fault(error: &LinkError) -> (VerdictCode, String) {
    (error.verdict(), error.to_string())
}

const fn event_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Hello => "hello",
        Kind::Response => "response",
        Kind::Report => "report",
        Kind::Enrol => "enrol",
        Kind::Challenge => "challenge",
        Kind::Verdict => "verdict",
        Kind::Idle => "idle",
    }
}

/// A node shows itself: the one moment at which a challenge is handed out.
pub fn hello(
    tx: &Transaction<'_>,
    now_us: u64,
    rules: &Rules,
    hello: &Hello,
) -> rusqlite::Result<Welcome> {
    let node_id = hello.node_id;
    let mut detail = json!({
        "counter": hello.counter,
        "vcap_v": f64::from(hello.vcap_mv) / 1e3,
        "reason": hello.reason.name(),
    });
    let Some(node) = Node::find(tx, node_id)? else {
        let judgement = Judgement::unknown(node_id, hello.counter);
        detail["why"] = judgement.why.clone().into();
        store::append(tx, now_us, Some(node_id), "hello", Some(judgement.verdict), &detail)?;
        return Ok(Welcome::Refused(judgement));
    };
    tx.prepare_cached(
        "UPDATE nodes SET last_seen_us = ?2, vcap_mv = ?3, reason = ?4 WHERE node_id = ?1",
    )?
    .execute(params![node_id.0, now_us, hello.vcap_mv, hello.reason.name()])?;
    store::append(tx, now_us, Some(node_id), "hello", None, &detail)?;
    // A node that is about to fall silent, or has no key here, could not answer.
    if hello.reason == Reason::Low || node.key.is_none() {
        return Ok(Welcome::Idle);
    }
    let issued = match again(tx, now_us, node_id)? {
        Some(issued) => Some(issued),
        None => next(tx, now_us, rules, node_id)?,
    };
    Ok(issued.map_or(Welcome::Idle, Welcome::Challenge))
}

/// The challenge that was handed out, got lost with the node's energy or on the air, and can still
/// be answered: the same again, with the expiry it had. A node has one at a time, for HELLO is not
/// signed: a forged one must not draw the whole queue and let it expire.
fn again(tx: &Transaction<'_>, now_us: u64, node_id: NodeId) -> rusqlite::Result<Option<Issued>> {
    let sql = "SELECT challenge_id, nonce, expires_us FROM challenges
        WHERE node_id = ?1 AND issued_us IS NOT NULL AND answered_us IS NULL
        AND expires_us >= ?2 ORDER BY challenge_id LIMIT 1";
    let found = tx
        .prepare_cached(sql)?
        .query_row(params![node_id.0, now_us], |r| {
            Ok(Issued { challenge_id: r.get(0)?, nonce: r.get(1)?, expires_us: r.get(2)? })
        })
        .optional()?;
    if let Some(issued) = &found {
        let detail = json!({"challenge_id": issued.challenge_id, "again": true});
        store::append(tx, now_us, Some(node_id), "challenge-issued", None, &detail)?;
    }
    Ok(found)
}

/// The next challenge of the queue, its nonce made now.
fn next(
    tx: &Transaction<'_>,
    now_us: u64,
    rules: &Rules,
    node_id: NodeId,
) -> rusqlite::Result<Option<Issued>> {
    let sql = "SELECT challenge_id FROM challenges
        WHERE node_id = ?1 AND issued_us IS NULL AND not_before_us <= ?2
        ORDER BY not_before_us, challenge_id LIMIT 1";
    let queued: Option<u32> =
        tx.prepare_cached(sql)?.query_row(params![node_id.0, now_us], |r| r.get(0)).optional()?;
    let Some(challenge_id) = queued else { return Ok(None) };
    let nonce = nonce(rules.seed, node_id, challenge_id);
    let expires_us = now_us.saturating_add(rules.freshness_us);
    tx.prepare_cached(
        "UPDATE challenges SET nonce = ?2, issued_us = ?3, expires_us = ?4
         WHERE challenge_id = ?1",
    )?
    .execute(params![challenge_id, nonce, now_us, expires_us])?;
    let detail = json!({"challenge_id": challenge_id, "nonce": hex::encode(&nonce),
                        "expires_us": expires_us});
    store::append(tx, now_us, Some(node_id), "challenge-issued", None, &detail)?;
    Ok(Some(Issued { challenge_id, nonce, expires_us }))
}

fn nonce(seed: Option<u64>, node_id: NodeId, challenge_id: u32) -> [u8; 16] {
    let mut nonce = [0; 16];
    match seed {
        None => aws_lc_rs::rand::fill(&mut nonce).expect("the system's random numbers fail"),
        Some(seed) => {
            let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
            context.update(b"sunseal-insecure-nonce-v1");
            context.update(&seed.to_be_bytes());
            context.update(&node_id.0);
            context.update(&challenge_id.to_be_bytes());
            nonce.copy_from_slice(&context.finish().as_ref()[..16]);
        }
    }
    nonce
}

/// A node answers a challenge.
pub fn response(
    tx: &Transaction<'_>,
    now_us: u64,
    response: &Response,
) -> rusqlite::Result<Judgement> {
    let judgement = weigh_response(tx, now_us, response)?;
    if judgement.verdict == VerdictCode::Accepted {
        accept(tx, now_us, response.node_id, response.counter)?;
        tx.prepare_cached("UPDATE challenges SET answered_us = ?2 WHERE challenge_id = ?1")?
            .execute(params![response.challenge_id, now_us])?;
    }
    let mut detail = logged(&judgement, response.counter, response.suite, &response.signature);
    detail["challenge_id"] = response.challenge_id.into();
    let verdict = Some(judgement.verdict);
    store::append(tx, now_us, Some(response.node_id), "response", verdict, &detail)?;
    Ok(judgement)
}

fn weigh_response(
    tx: &Transaction<'_>,
    now_us: u64,
    message: &Response,
) -> rusqlite::Result<Judgement> {
    let (node_id, counter) = (message.node_id, message.counter);
    let public_key = match enrolled(tx, node_id, message.suite, counter)? {
        Ok(public_key) => public_key,
        Err(judgement) => return Ok(judgement),
    };
    let sql = "SELECT nonce, expires_us, answered_us FROM challenges
        WHERE challenge_id = ?1 AND node_id = ?2 AND issued_us IS NOT NULL";
    let found: Option<([u8; 16], u64, Option<u64>)> = tx
        .prepare_cached(sql)?
        .query_row(params![message.challenge_id, node_id.0], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?))
        })
        .optional()?;
    let id = message.challenge_id;
    let stale = |why| Ok(Judgement::refused(VerdictCode::StaleChallenge, counter, why));
    let Some((nonce, expires_us, answered_us)) = found else {
        return stale(format!("challenge {id} was never handed to node {node_id}"));
    };
    if answered_us.is_some() {
        return stale(format!("challenge {id} has been answered already"));
    }
    if expires_us < now_us {
        let ago = store::duration(now_us - expires_us);
        return stale(format!("challenge {id} expired {ago} ago"));
    }
    let bytes = signed::auth(node_id, id, &nonce, counter);
    Ok(match verify(message.suite, &public_key, &bytes, &message.signature) {
        Ok(verified) => Judgement::accepted(
            verified,
            counter,
            format!("node {node_id} answered challenge {id}"),
        ),
        Err(refusal) => Judgement::signature(refusal, counter),
    })
}

/// A node reports of its own accord.
pub fn report(tx: &Transaction<'_>, now_us: u64, report: &Report) -> rusqlite::Result<Judgement> {
    let (node_id, counter) = (report.node_id, report.counter);
    let judgement = match enrolled(tx, node_id, report.suite, counter)? {
        Err(judgement) => judgement,
        Ok(public_key) => {
            let bytes = signed::report(node_id, counter, &report.data);
            match verify(report.suite, &public_key, &bytes, &report.signature) {
                Ok(verified) => {
                    accept(tx, now_us, node_id, counter)?;
                    let why = format!("node {node_id} reported {} bytes", report.data.len());
                    Judgement::accepted(verified, counter, why)
                }
                Err(refusal) => Judgement::signature(refusal, counter),
            }
        }
    };
    let mut detail = logged(&judgement, counter, report.suite, &report.signature);
    detail["data"] = hex::encode(&report.data).into();
    store::append(tx, now_us, Some(node_id), "report", Some(judgement.verdict), &detail)?;
    Ok(judgement)
}

/// The key to verify with, if node, suite and counter are in order.
fn enrolled(
    tx: &Transaction<'_>,
    node_id: NodeId,
    suite: Suite,
    counter: u32,
) -> rusqlite::Result<Result<Vec<u8>, Judgement>> {
    let Some(node) = Node::find(tx, node_id)? else {
        return Ok(Err(Judgement::unknown(node_id, counter)));
    };
    let Some((enrolled, public_key)) = node.key else {
        let why = format!("node {node_id} has not enrolled: it must show its public key first");
        return Ok(Err(Judgement::refused(VerdictCode::UnknownNode, counter, why)));
    };
    if enrolled != suite {
        let (said, has) = (suite.name(), enrolled.name());
        let why = format!("node {node_id} enrolled with {has}, the message says {said}");
        return Ok(Err(Judgement::refused(VerdictCode::WrongSuite, counter, why)));
    }
    if let Some(last) = node.counter.filter(|&last| counter <= last) {
        let why = format!("counter {counter} is not above {last}, the last accepted one");
        return Ok(Err(Judgement::refused(VerdictCode::ReplayedCounter, counter, why)));
    }
    Ok(Ok(public_key))
}

fn accept(
    tx: &Transaction<'_>,
    now_us: u64,
    node_id: NodeId,
    counter: u32,
) -> rusqlite::Result<()> {
    let sql = "UPDATE nodes SET counter = ?2, last_seen_us = ?3, last_accepted_us = ?3
        WHERE node_id = ?1";
    tx.prepare_cached(sql)?.execute(params![node_id.0, counter, now_us]).map(|_| ())
}

/// What the log keeps of a signed message: enough to verify it again.
fn logged(judgement: &Judgement, counter: u32, suite: Suite, signature: &[u8]) -> Value {
    json!({
        "why": judgement.why,
        "counter": counter,
        "suite": suite.name(),
        "security_bits": suite.security_bits(),
        "security_label": suite.security_label(),
        "signature": hex::encode(signature),
    })
}

/// A node shows its public key and proves that it holds the other half.
pub fn enrol(tx: &Transaction<'_>, now_us: u64, enrol: &Enrol) -> rusqlite::Result<Judgement> {
    let judgement = weigh_enrol(tx, now_us, enrol)?;
    let mut detail = logged(&judgement, 0, enrol.suite, &enrol.signature);
    detail["public_key"] = hex::encode(&enrol.public_key).into();
    let verdict = Some(judgement.verdict);
    store::append(tx, now_us, Some(enrol.node_id), "enrol", verdict, &detail)?;
    Ok(judgement)
}

fn weigh_enrol(tx: &Transaction<'_>, now_us: u64, message: &Enrol) -> rusqlite::Result<Judgement> {
    let (node_id, suite) = (message.node_id, message.suite);
    let Some(node) = Node::find(tx, node_id)? else {
        return Ok(Judgement::unknown(node_id, 0));
    };
    // The same key once more: its VERDICT was lost. Nothing changes, so nothing is at risk.
    let repeated = node.key.as_ref() == Some(&(suite, message.public_key.to_vec()));
    if node.key.is_some() && !repeated {
        let why = format!("node {node_id} is enrolled with another key; enrolment is not open");
        return Ok(Judgement::refused(VerdictCode::NotOpen, 0, why));
    }
    let Some(bytes) = signed::enrol(node_id, suite, &message.public_key) else {
        let why = format!("the public key has not the length of {}", suite.name());
        return Ok(Judgement::refused(VerdictCode::Malformed, 0, why));
    };
    match verify(suite, &message.public_key, &bytes, &message.signature) {
        Err(refusal) => Ok(Judgement::signature(refusal, 0)),
        Ok(verified) if repeated => {
            Ok(Judgement::accepted(verified, 0, format!("node {node_id} was enrolled already")))
        }
        Ok(verified) => {
            set_key(tx, now_us, node_id, suite, &message.public_key)?;
            Ok(Judgement::accepted(verified, 0, format!("node {node_id} enrolled")))
        }
    }
}

fn set_key(
    tx: &Transaction<'_>,
    now_us: u64,
    node_id: NodeId,
    suite: Suite,
    public_key: &[u8],
) -> rusqlite::Result<()> {
    let sql = "UPDATE nodes SET suite = ?2, public_key = ?3, enrolled_us = ?4 WHERE node_id = ?1";
    tx.prepare_cached(sql)?
        .execute(params![node_id.0, suite.code(), public_key, now_us])
        .map(|_| ())
}

/// The operator opens enrolment, or enrols a key that he vouches for.
pub fn open(
    tx: &Transaction<'_>,
    now_us: u64,
    node_id: NodeId,
    name: &str,
    period_us: Option<u64>,
    key: Option<(Suite, &[u8])>,
) -> rusqlite::Result<Result<Node, Judgement>> {
    if Node::find(tx, node_id)?.is_some() {
        let why = format!("node {node_id} is known already; nothing was changed");
        return Ok(Err(Judgement::refused(VerdictCode::NotOpen, 0, why)));
    }
    if let Some(Err(refusal)) = key.map(|(suite, public_key)| check_public_key(suite, public_key)) {
        return Ok(Err(Judgement::signature(refusal, 0)));
    }
    tx.prepare_cached(
        "INSERT INTO nodes (node_id, name, period_us, opened_us) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![node_id.0, name, period_us, now_us])?;
    store::append(tx, now_us, Some(node_id), "opened", None, &json!({"name": name}))?;
    if let Some((suite, public_key)) = key {
        set_key(tx, now_us, node_id, suite, public_key)?;
        let detail = json!({"suite": suite.name(), "public_key": hex::encode(public_key),
                            "vouched": true});
        store::append(tx, now_us, Some(node_id), "enrolled", None, &detail)?;
    }
    Ok(Node::find(tx, node_id)?.ok_or_else(|| Judgement::unknown(node_id, 0)))
}

/// Challenges that may wait for one node.
pub const MAX_QUEUED: i64 = 10_000;

/// The operator asks: queues a challenge for the node's next HELLO at or after `not_before_us`.
pub fn queue(
    tx: &Transaction<'_>,
    now_us: u64,
    node_id: NodeId,
    not_before_us: Option<u64>,
) -> rusqlite::Result<Result<u32, Judgement>> {
    if Node::find(tx, node_id)?.is_none() {
        return Ok(Err(Judgement::unknown(node_id, 0)));
    }
    let sql = "SELECT count(*) FROM challenges WHERE node_id = ?1 AND issued_us IS NULL";
    let queued: i64 = tx.prepare_cached(sql)?.query_row([node_id.0], |r| r.get(0))?;
    if queued >= MAX_QUEUED {
        let why = format!("{queued} challenges wait for node {node_id}; at most {MAX_QUEUED} may");
        return Ok(Err(Judgement::refused(VerdictCode::NotOpen, 0, why)));
    }
    let not_before_us = not_before_us.unwrap_or(now_us);
    tx.prepare_cached(
        "INSERT INTO challenges (node_id, queued_us, not_before_us) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![node_id.0, now_us, not_before_us])?;
    // u32 on the air: after 2^32 challenges SQLite's number no longer fits and this is an error,
    // never a second challenge under an old number.
    let challenge_id = tx.query_row("SELECT last_insert_rowid()", [], |r| r.get::<_, u32>(0))?;
    let detail = json!({"challenge_id": challenge_id, "not_before_us": not_before_us});
    store::append(tx, now_us, Some(node_id), "challenge-queued", None, &detail)?;
    Ok(Ok(challenge_id))
}

/// Judges a decoded message that asks for a verdict; `None` for kinds that only the gateway sends
/// and for HELLO, which [`hello`] answers.
pub fn message(
    tx: &Transaction<'_>,
    now_us: u64,
    message: &Message,
) -> rusqlite::Result<Option<Judgement>> {
    Ok(match message {
        Message::Response(m) => Some(response(tx, now_us, m)?),
        Message::Report(m) => Some(report(tx, now_us, m)?),
        Message::Enrol(m) => Some(enrol(tx, now_us, m)?),
        Message::Hello(_) | Message::Challenge(_) | Message::Verdict(_) | Message::Idle(_) => None,
    })
}
