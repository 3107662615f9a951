// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a message from the air is worth.
//!
//! Each function runs inside the caller's transaction. The first fault found is the one told, in
//! the order of `docs/reference/link.md`: malformed, unknown node, not open, wrong suite, replayed
//! counter, stale challenge, scalar out of range, key off curve, bad signature. A refusal writes
//! to the log, to its counts, and to nothing else.
//!
//! A signature is checked before the transaction begins: [`foresee`] says what will have to be
//! checked as things stand, and the transaction takes the result only for the very same
//! [`Claim`]. If node or challenge have changed in between, it checks again.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use sunseal_link::message::KeyBytes;
use sunseal_link::{
    Enrol, Hello, Kind, LinkError, Message, NodeId, Reason, Report, Response, Suite, VerdictCode,
    signed,
};
use sunseal_verify::{Refusal, Verified, check_public_key, verify};

use crate::hex;
use duplicates::Frame;

pub mod duplicates;

use crate::store::challenges::{self, Counts, INTENT_US, Waiting};
use crate::store::{self, Event, Node};

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
    pub verdict: VerdictCode,
    /// The counter of the message, 0 if it has none.
    pub reference: u32,
    pub why: String,
    /// What an accepted signature is worth.
    pub verified: Option<Verified>,
    /// Accepted, and nothing was changed by it: the same once more.
    repeated: bool,
    /// Another gateway has handed in the very frame, and this is what it heard.
    pub duplicate: bool,
}

impl Judgement {
    fn refused(verdict: VerdictCode, reference: u32, why: impl Into<String>) -> Self {
        let (why, verified) = (why.into(), None);
        Self { verdict, reference, why, verified, repeated: false, duplicate: false }
    }

    fn accepted(verified: Verified, reference: u32, why: impl Into<String>) -> Self {
        let (verdict, why, verified) = (VerdictCode::Accepted, why.into(), Some(verified));
        Self { verdict, reference, why, verified, repeated: false, duplicate: false }
    }

    fn unknown(node_id: NodeId, reference: u32) -> Self {
        let why = format!("no node {node_id} is known: the operator opens enrolment first");
        Self::refused(VerdictCode::UnknownNode, reference, why)
    }

    fn revoked(node_id: NodeId, reference: u32) -> Self {
        let why = format!("the operator has revoked node {node_id}");
        Self::refused(VerdictCode::NotOpen, reference, why)
    }

    fn signature(refusal: Refusal, reference: u32) -> Self {
        Self::refused(verdict_of(&refusal), reference, refusal.to_string())
    }

    /// Returns the answer as the JSON of the HTTP interface.
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
        if self.duplicate {
            out["duplicate"] = true.into();
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

/// What a signature has to hold for: all that its check depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    suite: Suite,
    public_key: Vec<u8>,
    bytes: signed::SignedBytes,
    signature: KeyBytes,
    /// Text that an answer to the challenge's nonce of before would have signed.
    former: Option<signed::SignedBytes>,
}

/// A claim and whether it holds.
#[derive(Clone, Debug)]
pub struct Checked {
    claim: Claim,
    holds: Result<Verified, Refusal>,
    /// It answers the nonce of before, in order but too late.
    stale: bool,
}

impl Claim {
    /// Checks the signature: the slow part of a verdict.
    pub fn check(self) -> Checked {
        let holds_for = |bytes| verify(self.suite, &self.public_key, bytes, &self.signature);
        let holds = holds_for(&self.bytes);
        let stale = matches!(holds, Err(Refusal::BadSignature { .. }))
            && self.former.as_ref().is_some_and(|former| holds_for(former).is_ok());
        Checked { claim: self, holds, stale }
    }

    /// What `checked` found if it was this very claim, else what checking it finds.
    fn checked(self, checked: Option<&Checked>) -> Checked {
        match checked {
            Some(checked) if checked.claim == self => checked.clone(),
            _ => self.check(),
        }
    }
}

/// A challenge on its way to a node.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Number of the challenge, which the answer repeats.
    pub challenge_id: u32,
    /// What nobody could foretell.
    pub nonce: [u8; 16],
    /// When an answer comes too late.
    pub expires_us: u64,
}

/// What a HELLO is answered with, and a gateway that would wake a node.
#[derive(Clone, Debug)]
pub enum Welcome {
    Challenge(Issued),
    Idle,
    /// Nobody knows the node, or nobody trusts it any more.
    Refused(Judgement),
}

/// Bytes of a row in the log that a sender may choose, if he is not believed.
pub const CHOSEN_BYTES: usize = 64;

fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Bytes of which the link layer could not make a message.
pub fn malformed(
    tx: &Connection,
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
    let begins = hex::encode(&body[..body.len().min(CHOSEN_BYTES / 4)]);
    let detail =
        json!({"why": cut(why, CHOSEN_BYTES / 2), "body": begins, "body_bytes": body.len()});
    told(tx, now_us, node_id, event_of(kind), &judgement, detail)?;
    Ok(judgement)
}

/// Logs a verdict. What was refused may come again and again.
fn told(
    tx: &Connection,
    time_us: u64,
    node_id: NodeId,
    kind: &str,
    judgement: &Judgement,
    detail: Value,
) -> rusqlite::Result<()> {
    let verdict = Some(judgement.verdict);
    let repeatable = judgement.verdict != VerdictCode::Accepted || judgement.repeated;
    store::append(tx, Event { time_us, node_id, kind, verdict, repeatable }, detail)
}

/// Logs what has no verdict.
fn noted(
    tx: &Connection,
    time_us: u64,
    node_id: NodeId,
    kind: &str,
    repeatable: bool,
    detail: Value,
) -> rusqlite::Result<()> {
    store::append(tx, Event { time_us, node_id, kind, verdict: None, repeatable }, detail)
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
        Kind::Wake => "wake",
    }
}

/// A node shows itself: beside [`wake`] the one moment at which a challenge is handed out.
pub fn hello(
    tx: &Connection,
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
    let listen_us = (hello.listen_ms != 0).then(|| u64::from(hello.listen_ms) * 1000);
    if let Some(listen_us) = listen_us {
        detail["listen_us"] = listen_us.into();
    }
    let Some(node) = Node::find(tx, node_id)? else {
        let judgement = Judgement::unknown(node_id, hello.counter);
        detail["why"] = judgement.why.clone().into();
        told(tx, now_us, node_id, "hello", &judgement, detail)?;
        return Ok(Welcome::Refused(judgement));
    };
    if node.revoked_us.is_some() {
        let judgement = Judgement::revoked(node_id, hello.counter);
        detail["why"] = judgement.why.clone().into();
        told(tx, now_us, node_id, "hello", &judgement, detail)?;
        return Ok(Welcome::Refused(judgement));
    }
    tx.prepare_cached(
        "UPDATE nodes SET last_seen_us = ?2, vcap_mv = ?3, reason = ?4, listen_us = ?5
         WHERE node_id = ?1",
    )?
    .execute(params![node_id.0, now_us, hello.vcap_mv, hello.reason.name(), listen_us])?;
    noted(tx, now_us, node_id, "hello", true, detail)?;
    // A node that is about to fall silent, or has no key here, could not answer.
    if hello.reason == Reason::Low || node.key.is_none() {
        return Ok(Welcome::Idle);
    }
    hand_out(tx, now_us, rules, node_id)
}

/// A gateway is about to call a node that listens: it gets what the node's HELLO would.
pub fn wake(
    tx: &Connection,
    now_us: u64,
    rules: &Rules,
    node_id: NodeId,
) -> rusqlite::Result<Welcome> {
    match Node::find(tx, node_id)? {
        None => Ok(Welcome::Refused(Judgement::unknown(node_id, 0))),
        Some(node) if node.revoked_us.is_some() => {
            Ok(Welcome::Refused(Judgement::revoked(node_id, 0)))
        }
        Some(node) if node.listen_us.is_none() || node.key.is_none() => Ok(Welcome::Idle),
        Some(_) => hand_out(tx, now_us, rules, node_id),
    }
}

/// The challenge that is out already, or the next of the queue.
fn hand_out(
    tx: &Connection,
    now_us: u64,
    rules: &Rules,
    node_id: NodeId,
) -> rusqlite::Result<Welcome> {
    let issued = match again(tx, now_us, node_id)? {
        Some(issued) => Some(issued),
        None => next(tx, now_us, rules, node_id)?,
    };
    if issued.is_some() {
        let sql = "UPDATE nodes SET unanswered_since_us = ?2
            WHERE node_id = ?1 AND unanswered_since_us IS NULL";
        tx.prepare_cached(sql)?.execute(params![node_id.0, now_us])?;
    }
    Ok(issued.map_or(Welcome::Idle, Welcome::Challenge))
}

/// The challenge that was handed out, got lost with the node's energy or on the air, and can still
/// be answered: the same again, with the expiry it had. A node has one at a time, for HELLO is not
/// signed: a forged one must not draw the whole queue.
fn again(tx: &Connection, now_us: u64, node_id: NodeId) -> rusqlite::Result<Option<Issued>> {
    let Some((challenge_id, nonce, expires_us)) = challenges::out(tx, node_id, now_us)? else {
        return Ok(None);
    };
    let detail = json!({"challenge_id": challenge_id, "again": true});
    noted(tx, now_us, node_id, "challenge-issued", true, detail)?;
    Ok(Some(Issued { challenge_id, nonce, expires_us }))
}

/// The next challenge of the queue, its nonce made now. One that was out and not answered comes again, with another
/// nonce, until its intent is over: who forges a HELLO delays the answer by a nonce's freshness and no more.
fn next(
    tx: &Connection,
    now_us: u64,
    rules: &Rules,
    node_id: NodeId,
) -> rusqlite::Result<Option<Issued>> {
    let Some(waiting) = challenges::waiting(tx, node_id, now_us)? else { return Ok(None) };
    let Waiting { challenge_id, issues, intent_expires_us } = waiting;
    let nonce = nonce(rules.seed, node_id, challenge_id, issues);
    let expires_us = now_us.saturating_add(rules.freshness_us).min(intent_expires_us);
    tx.prepare_cached(
        "UPDATE challenges SET former_nonce = nonce, nonce = ?2, issued_us = ?3, expires_us = ?4,
         issues = issues + 1 WHERE challenge_id = ?1",
    )?
    .execute(params![challenge_id, nonce, now_us, expires_us])?;
    let mut detail = json!({"challenge_id": challenge_id, "nonce": hex::encode(&nonce),
                        "expires_us": expires_us});
    if issues == 0 {
        let sql = "UPDATE nodes SET challenges_issued = challenges_issued + 1 WHERE node_id = ?1";
        tx.prepare_cached(sql)?.execute([node_id.0])?;
    } else {
        detail["issues"] = (issues + 1).into();
    }
    noted(tx, now_us, node_id, "challenge-issued", issues > 0, detail)?;
    Ok(Some(Issued { challenge_id, nonce, expires_us }))
}

fn nonce(seed: Option<u64>, node_id: NodeId, challenge_id: u32, issues: u32) -> [u8; 16] {
    let mut nonce = [0; 16];
    match seed {
        None => aws_lc_rs::rand::fill(&mut nonce).expect("the system's random numbers fail"),
        Some(seed) => {
            let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
            context.update(b"sunseal-insecure-nonce-v1");
            context.update(&seed.to_be_bytes());
            context.update(&node_id.0);
            context.update(&challenge_id.to_be_bytes());
            if issues > 0 {
                context.update(&issues.to_be_bytes());
            }
            nonce.copy_from_slice(&context.finish().as_ref()[..16]);
        }
    }
    nonce
}

/// What has to be checked for this message as things stand; `None` if it is refused without.
pub fn foresee(db: &Connection, now_us: u64, message: &Message) -> rusqlite::Result<Option<Claim>> {
    Ok(match message {
        Message::Response(m) => weigh_response(db, now_us, m)?.ok(),
        Message::Report(m) => weigh_report(db, m)?.ok(),
        Message::Enrol(m) => weigh_enrol(db, m)?.ok().map(|(claim, _)| claim),
        Message::Hello(_)
        | Message::Challenge(_)
        | Message::Verdict(_)
        | Message::Idle(_)
        | Message::Wake(_) => None,
    })
}

/// What becomes of a claim: where it is in order and its signature holds, what `accepted` makes of it.
fn weighed(
    claim: Result<Claim, Judgement>,
    checked: Option<&Checked>,
    reference: u32,
    accepted: impl FnOnce(Verified) -> rusqlite::Result<Judgement>,
) -> rusqlite::Result<Judgement> {
    let checked = match claim {
        Err(judgement) => return Ok(judgement),
        Ok(claim) => claim.checked(checked),
    };
    match checked.holds {
        Err(_) if checked.stale => {
            let why = "it answers a nonce that was fresh before; the challenge was handed out anew";
            Ok(Judgement::refused(VerdictCode::StaleChallenge, reference, why))
        }
        Err(refusal) => Ok(Judgement::signature(refusal, reference)),
        Ok(verified) => accepted(verified),
    }
}

/// A node answers a challenge.
pub fn response(
    tx: &Connection,
    now_us: u64,
    response: &Response,
    checked: Option<&Checked>,
) -> rusqlite::Result<Judgement> {
    let (node_id, counter, id) = (response.node_id, response.counter, response.challenge_id);
    let judgement = weighed(weigh_response(tx, now_us, response)?, checked, counter, |verified| {
        let frame = Frame::of_message(&Message::Response(*response));
        accept(tx, now_us, node_id, verified.suite, counter, frame)?;
        let sql = "UPDATE challenges SET answered_us = ?2 WHERE challenge_id = ?1";
        tx.prepare_cached(sql)?.execute(params![id, now_us])?;
        let sql = "UPDATE nodes SET challenges_answered = challenges_answered + 1
            WHERE node_id = ?1";
        tx.prepare_cached(sql)?.execute([node_id.0])?;
        let why = format!("node {node_id} answered challenge {id}");
        Ok(Judgement::accepted(verified, counter, why))
    })?;
    let mut detail = logged(&judgement, &Message::Response(*response), counter, response.suite);
    detail["challenge_id"] = id.into();
    told(tx, now_us, node_id, "response", &judgement, detail)?;
    Ok(judgement)
}

/// A challenge that was handed out: its nonce, when that is too old, when it was answered, the nonce of before.
type Handed = ([u8; 16], u64, Option<u64>, Option<[u8; 16]>);

fn weigh_response(
    db: &Connection,
    now_us: u64,
    message: &Response,
) -> rusqlite::Result<Result<Claim, Judgement>> {
    let (node_id, counter, suite) = (message.node_id, message.counter, message.suite);
    let public_key = match enrolled(db, node_id, suite, counter)? {
        Ok(public_key) => public_key,
        Err(judgement) => return Ok(Err(judgement)),
    };
    let sql = "SELECT nonce, expires_us, answered_us, former_nonce FROM challenges
        WHERE challenge_id = ?1 AND node_id = ?2 AND issued_us IS NOT NULL";
    let found: Option<Handed> = db
        .prepare_cached(sql)?
        .query_row(params![message.challenge_id, node_id.0], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?))
        })
        .optional()?;
    let id = message.challenge_id;
    let stale = |why| Ok(Err(Judgement::refused(VerdictCode::StaleChallenge, counter, why)));
    let Some((nonce, expires_us, answered_us, former)) = found else {
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
    let former = former.map(|former| signed::auth(node_id, id, &former, counter));
    Ok(Ok(Claim { suite, public_key, bytes, signature: message.signature, former }))
}

/// A node reports of its own accord.
pub fn report(
    tx: &Connection,
    now_us: u64,
    report: &Report,
    checked: Option<&Checked>,
) -> rusqlite::Result<Judgement> {
    let (node_id, counter) = (report.node_id, report.counter);
    let judgement = weighed(weigh_report(tx, report)?, checked, counter, |verified| {
        let frame = Frame::of_message(&Message::Report(*report));
        accept(tx, now_us, node_id, verified.suite, counter, frame)?;
        let why = format!("node {node_id} reported {} bytes", report.data.len());
        Ok(Judgement::accepted(verified, counter, why))
    })?;
    let mut detail = logged(&judgement, &Message::Report(*report), counter, report.suite);
    detail["data"] = hex::encode(&report.data).into();
    told(tx, now_us, node_id, "report", &judgement, detail)?;
    Ok(judgement)
}

fn weigh_report(db: &Connection, message: &Report) -> rusqlite::Result<Result<Claim, Judgement>> {
    let (node_id, counter, suite) = (message.node_id, message.counter, message.suite);
    let bytes = signed::report(node_id, counter, &message.data);
    let key = enrolled(db, node_id, suite, counter)?;
    Ok(key.map(|public_key| Claim {
        suite,
        public_key,
        bytes,
        signature: message.signature,
        former: None,
    }))
}

/// The key to verify with, if node, suite and counter are in order.
fn enrolled(
    tx: &Connection,
    node_id: NodeId,
    suite: Suite,
    counter: u32,
) -> rusqlite::Result<Result<Vec<u8>, Judgement>> {
    let Some(node) = Node::find(tx, node_id)? else {
        return Ok(Err(Judgement::unknown(node_id, counter)));
    };
    if node.revoked_us.is_some() {
        return Ok(Err(Judgement::revoked(node_id, counter)));
    }
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
    tx: &Connection,
    now_us: u64,
    node_id: NodeId,
    suite: Suite,
    counter: u32,
    frame: Frame,
) -> rusqlite::Result<()> {
    store::count_accepted(tx, suite)?;
    let sql = "UPDATE nodes SET counter = ?2, last_seen_us = ?3, last_accepted_us = ?3,
        unanswered_since_us = NULL, last_frame = ?4 WHERE node_id = ?1";
    tx.prepare_cached(sql)?.execute(params![node_id.0, counter, now_us, frame.0]).map(|_| ())
}

/// Log entry of a signed message: of one that was accepted enough to verify it again, of another half of the
/// hash of its kind and body, by which whoever has the frame finds it.
fn logged(judgement: &Judgement, message: &Message, counter: u32, suite: Suite) -> Value {
    let mut detail = json!({
        "why": judgement.why,
        "counter": counter,
        "suite": suite.name(),
        "security_bits": suite.security_bits(),
        "security_label": suite.security_label(),
    });
    match message {
        _ if judgement.verdict != VerdictCode::Accepted => {
            detail["frame"] = hex::encode(&Frame::of_message(message).0).into();
        }
        Message::Response(Response { signature, .. })
        | Message::Report(Report { signature, .. })
        | Message::Enrol(Enrol { signature, .. }) => {
            detail["signature"] = hex::encode(signature).into();
        }
        _ => {}
    }
    detail
}

/// A node shows its public key and proves that it holds the other half.
pub fn enrol(
    tx: &Connection,
    now_us: u64,
    enrol: &Enrol,
    checked: Option<&Checked>,
) -> rusqlite::Result<Judgement> {
    let (node_id, suite) = (enrol.node_id, enrol.suite);
    let weighable = weigh_enrol(tx, enrol)?;
    let repeated = weighable.as_ref().is_ok_and(|(_, repeated)| *repeated);
    let judgement = weighed(weighable.map(|(claim, _)| claim), checked, 0, |verified| {
        if repeated {
            let why = format!("node {node_id} was enrolled already");
            return Ok(Judgement { repeated, ..Judgement::accepted(verified, 0, why) });
        }
        set_key(tx, now_us, node_id, suite, &enrol.public_key)?;
        Ok(Judgement::accepted(verified, 0, format!("node {node_id} enrolled")))
    })?;
    let mut detail = logged(&judgement, &Message::Enrol(*enrol), 0, suite);
    if judgement.verdict == VerdictCode::Accepted {
        detail["public_key"] = hex::encode(&enrol.public_key).into();
    }
    told(tx, now_us, node_id, "enrol", &judgement, detail)?;
    Ok(judgement)
}

/// The claim, and whether the node has this key already.
fn weigh_enrol(
    db: &Connection,
    message: &Enrol,
) -> rusqlite::Result<Result<(Claim, bool), Judgement>> {
    let (node_id, suite) = (message.node_id, message.suite);
    let Some(node) = Node::find(db, node_id)? else {
        return Ok(Err(Judgement::unknown(node_id, 0)));
    };
    if node.revoked_us.is_some() {
        return Ok(Err(Judgement::revoked(node_id, 0)));
    }
    // The same key once more: its VERDICT was lost. Nothing changes, so nothing is at risk.
    let repeated = node.key.as_ref() == Some(&(suite, message.public_key.to_vec()));
    if node.key.is_some() && !repeated {
        let why = format!("node {node_id} is enrolled with another key; enrolment is not open");
        return Ok(Err(Judgement::refused(VerdictCode::NotOpen, 0, why)));
    }
    if let Some(refused) = retired(db, node_id, &message.public_key)? {
        return Ok(Err(refused));
    }
    let Some(bytes) = signed::enrol(node_id, suite, &message.public_key) else {
        let why = format!("the public key has not the length of {}", suite.name());
        return Ok(Err(Judgement::refused(VerdictCode::Malformed, 0, why)));
    };
    let public_key = message.public_key.to_vec();
    let signature = message.signature;
    Ok(Ok((Claim { suite, public_key, bytes, signature, former: None }, repeated)))
}

/// Why a key that this node had before is not taken again: its counter would begin anew, and what
/// was accepted once could be accepted once more.
fn retired(
    db: &Connection,
    node_id: NodeId,
    public_key: &[u8],
) -> rusqlite::Result<Option<Judgement>> {
    let sql = "SELECT 1 FROM retired_keys WHERE node_id = ?1 AND public_key = ?2";
    let known = db.prepare_cached(sql)?.exists(params![node_id.0, public_key])?;
    let why = || format!("node {node_id} had this key before and was given up with it");
    Ok(known.then(|| Judgement::refused(VerdictCode::NotOpen, 0, why())))
}

fn set_key(
    tx: &Connection,
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
    tx: &Connection,
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
    noted(tx, now_us, node_id, "opened", false, json!({"name": name}))?;
    vouch(tx, now_us, node_id, key)?;
    Ok(Node::find(tx, node_id)?.ok_or_else(|| Judgement::unknown(node_id, 0)))
}

/// Enrols on the operator's word.
fn vouch(
    tx: &Connection,
    now_us: u64,
    node_id: NodeId,
    key: Option<(Suite, &[u8])>,
) -> rusqlite::Result<()> {
    let Some((suite, public_key)) = key else { return Ok(()) };
    set_key(tx, now_us, node_id, suite, public_key)?;
    let detail = json!({"suite": suite.name(), "public_key": hex::encode(public_key),
                        "vouched": true});
    noted(tx, now_us, node_id, "enrolled", false, detail)
}

/// The operator trusts a node no more: whatever it says is refused from now on.
pub fn revoke(
    tx: &Connection,
    now_us: u64,
    node_id: NodeId,
    why: &str,
) -> rusqlite::Result<Result<Node, Judgement>> {
    match Node::find(tx, node_id)? {
        None => return Ok(Err(Judgement::unknown(node_id, 0))),
        Some(node) if node.revoked_us.is_some() => {
            return Ok(Err(Judgement::revoked(node_id, 0)));
        }
        Some(_) => {}
    }
    tx.prepare_cached("UPDATE nodes SET revoked_us = ?2 WHERE node_id = ?1")?
        .execute(params![node_id.0, now_us])?;
    noted(tx, now_us, node_id, "revoked", false, json!({"why": why}))?;
    Ok(Node::find(tx, node_id)?.ok_or_else(|| Judgement::unknown(node_id, 0)))
}

/// The operator calls a node otherwise, puts it into another group, or expects it at another period.
pub fn change(
    tx: &Connection,
    now_us: u64,
    node_id: NodeId,
    (name, group): (Option<&str>, Option<&str>),
    period_us: Option<u64>,
) -> rusqlite::Result<Result<Node, Judgement>> {
    let sql = "UPDATE nodes SET name = coalesce(?2, name), group_name = coalesce(?3, group_name),
        period_us = coalesce(?4, period_us) WHERE node_id = ?1";
    let changed = tx.prepare_cached(sql)?.execute(params![node_id.0, name, group, period_us])?;
    if changed > 0 {
        let detail = json!({"name": name, "group": group, "period_us": period_us});
        noted(tx, now_us, node_id, "changed", false, detail)?;
    }
    Ok(Node::find(tx, node_id)?.ok_or_else(|| Judgement::unknown(node_id, 0)))
}

/// The operator gives a node up to a new key: the old one is never taken again, enrolment is open,
/// or over at once with a key that he vouches for. The counter is the key's, and begins anew.
pub fn rekey(
    tx: &Connection,
    now_us: u64,
    node_id: NodeId,
    key: Option<(Suite, &[u8])>,
) -> rusqlite::Result<Result<Node, Judgement>> {
    let Some(node) = Node::find(tx, node_id)? else {
        return Ok(Err(Judgement::unknown(node_id, 0)));
    };
    if let Some((suite, public_key)) = key {
        let refused = match check_public_key(suite, public_key) {
            Err(refusal) => Some(Judgement::signature(refusal, 0)),
            Ok(()) if node.key.as_ref().is_some_and(|(_, old)| old == public_key) => {
                let why = format!("node {node_id} has this key: a new one is wanted");
                Some(Judgement::refused(VerdictCode::NotOpen, 0, why))
            }
            Ok(()) => retired(tx, node_id, public_key)?,
        };
        if let Some(refused) = refused {
            return Ok(Err(refused));
        }
    }
    if let Some((suite, public_key)) = &node.key {
        let sql = "INSERT INTO retired_keys (node_id, public_key, suite, counter, retired_us)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![node_id.0, public_key, suite.code(), node.counter, now_us];
        tx.prepare_cached(sql)?.execute(values)?;
    }
    let sql = "UPDATE nodes SET suite = NULL, public_key = NULL, enrolled_us = NULL,
        counter = NULL, revoked_us = NULL, last_frame = NULL, unanswered_since_us = NULL
        WHERE node_id = ?1";
    tx.prepare_cached(sql)?.execute([node_id.0])?;
    let old = node.key.as_ref().map(|(_, public_key)| hex::encode(public_key));
    let detail = json!({"retired_public_key": old, "retired_counter": node.counter});
    noted(tx, now_us, node_id, "rekeyed", false, detail)?;
    vouch(tx, now_us, node_id, key)?;
    Ok(Node::find(tx, node_id)?.ok_or_else(|| Judgement::unknown(node_id, 0)))
}

/// Challenges that may wait for one node.
pub const MAX_QUEUED: i64 = 10_000;

/// Times between which a challenge is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intent {
    /// Not before this; now, unless told.
    pub not_before_us: Option<u64>,
    /// No longer than this; [`INTENT_US`] from then on, unless told.
    pub expires_us: Option<u64>,
}

/// The operator asks: queues a challenge for the node's next HELLO at or after `not_before_us`. Gives its number and
/// when the intent is over.
pub fn queue(
    tx: &Connection,
    now_us: u64,
    node_id: NodeId,
    intent: Intent,
) -> rusqlite::Result<Result<(u32, u64), Judgement>> {
    let Some(node) = Node::find(tx, node_id)? else {
        return Ok(Err(Judgement::unknown(node_id, 0)));
    };
    if node.revoked_us.is_some() {
        return Ok(Err(Judgement::revoked(node_id, 0)));
    }
    let not_before_us = intent.not_before_us.unwrap_or(now_us);
    let from_us = not_before_us.max(now_us);
    let intent_expires_us = intent.expires_us.unwrap_or(from_us.saturating_add(INTENT_US));
    if intent_expires_us <= from_us {
        let why = format!(
            "the intent would be over at {intent_expires_us} us before it could be handed out: intent_expires_us is above {from_us}"
        );
        return Ok(Err(Judgement::refused(VerdictCode::Malformed, 0, why)));
    }
    // What a sweep has not ended yet still counts, until somebody writes in another minute.
    let mut queued = node.challenges_asked - node.challenges_answered - node.challenges_expired;
    if queued >= MAX_QUEUED {
        queued = Counts::of(tx, &node, now_us)?.queued;
    }
    if queued >= MAX_QUEUED {
        let why = format!("{queued} challenges wait for node {node_id}; at most {MAX_QUEUED} may");
        return Ok(Err(Judgement::refused(VerdictCode::NotOpen, 0, why)));
    }
    tx.prepare_cached(
        "INSERT INTO challenges (node_id, queued_us, not_before_us, intent_expires_us)
         VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![node_id.0, now_us, not_before_us, intent_expires_us])?;
    // u32 on the air: after 2^32 challenges SQLite's number no longer fits and this is an error,
    // never a second challenge under an old number.
    let challenge_id = tx.query_row("SELECT last_insert_rowid()", [], |r| r.get::<_, u32>(0))?;
    let sql = "UPDATE nodes SET challenges_asked = challenges_asked + 1 WHERE node_id = ?1";
    tx.prepare_cached(sql)?.execute([node_id.0])?;
    let detail = json!({"challenge_id": challenge_id, "not_before_us": not_before_us,
                        "intent_expires_us": intent_expires_us});
    noted(tx, now_us, node_id, "challenge-queued", false, detail)?;
    Ok(Ok((challenge_id, intent_expires_us)))
}

/// Judges a decoded message that asks for a verdict; `None` for kinds that only the gateway sends
/// and for HELLO, which [`hello`] answers.
pub fn message(
    tx: &Connection,
    now_us: u64,
    message: &Message,
    checked: Option<&Checked>,
) -> rusqlite::Result<Option<Judgement>> {
    if let Some(judgement) = duplicates::accepted(tx, now_us, message)? {
        return Ok(Some(judgement));
    }
    Ok(match message {
        Message::Response(m) => Some(response(tx, now_us, m, checked)?),
        Message::Report(m) => Some(report(tx, now_us, m, checked)?),
        Message::Enrol(m) => Some(enrol(tx, now_us, m, checked)?),
        Message::Hello(_)
        | Message::Challenge(_)
        | Message::Verdict(_)
        | Message::Idle(_)
        | Message::Wake(_) => None,
    })
}
