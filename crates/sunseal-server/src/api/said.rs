// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages of nodes as gateways post them, and the bytes of the air that they stand for.

use serde::Deserialize;
use serde_json::Value;
use sunseal_link::{Kind, Message, NodeId, VerdictCode};

use super::{Json, Reply, suite_of, wrong};
use crate::{hex, judge};

/// What a node said: the body as it came over the air, or its fields.
///
/// Both become the air's bytes and are read by the same decoder, so that a fault is told in the
/// same words whichever way it came.
pub(super) struct Said {
    pub(super) body: Vec<u8>,
    /// What the gateway already found wrong with it.
    fault: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBody {
    body: String,
    fault: Option<String>,
    #[serde(rename = "rssi_dbm")]
    _rssi_dbm: Option<i8>,
    #[serde(rename = "lqi")]
    _lqi: Option<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloFields {
    counter: u32,
    vcap_mv: u16,
    reason: String,
    #[serde(default)]
    listen_ms: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseFields {
    challenge_id: u32,
    counter: u32,
    suite: Value,
    signature: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportFields {
    counter: u32,
    suite: Value,
    data: String,
    signature: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnrolFields {
    suite: Value,
    public_key: String,
    signature: String,
}

pub(super) fn said(kind: Kind, node_id: NodeId, json: Json) -> Result<Said, Reply> {
    let bytes = |field, text: &str| hex::decode(text).map_err(|e| wrong(field, &e));
    if json.0.get("body").is_some() {
        let raw: RawBody = json.read()?;
        return Ok(Said { body: bytes("body", &raw.body)?, fault: raw.fault });
    }
    let mut body = node_id.0.to_vec();
    match kind {
        Kind::Hello => {
            let m: HelloFields = json.read()?;
            let code = (0..3).find(|&c| {
                sunseal_link::Reason::from_code(c).is_some_and(|r| r.name() == m.reason)
            });
            let code = code.ok_or_else(|| wrong("reason", "it is boot, ready or low"))?;
            body.extend(m.counter.to_be_bytes());
            body.extend(m.vcap_mv.to_be_bytes());
            body.push(code | if m.listen_ms == 0 { 0 } else { 0x80 });
            if m.listen_ms != 0 {
                body.extend(m.listen_ms.to_be_bytes());
            }
        }
        Kind::Response => {
            let m: ResponseFields = json.read()?;
            body.extend(m.challenge_id.to_be_bytes());
            body.extend(m.counter.to_be_bytes());
            body.push(suite_of(&m.suite)?.code());
            body.extend(bytes("signature", &m.signature)?);
        }
        Kind::Report => {
            let m: ReportFields = json.read()?;
            let data = bytes("data", &m.data)?;
            let data_len = u8::try_from(data.len())
                .map_err(|_| wrong("data", "a report carries at most 16 bytes of data"))?;
            body.extend(m.counter.to_be_bytes());
            body.extend([suite_of(&m.suite)?.code(), data_len]);
            body.extend(data);
            body.extend(bytes("signature", &m.signature)?);
        }
        Kind::Enrol => {
            let m: EnrolFields = json.read()?;
            body.push(suite_of(&m.suite)?.code());
            body.extend(bytes("public_key", &m.public_key)?);
            body.extend(bytes("signature", &m.signature)?);
        }
        Kind::Challenge | Kind::Verdict | Kind::Idle | Kind::Wake => {
            return Err(Reply::bad("only the gateway sends this kind"));
        }
    }
    Ok(Said { body, fault: None })
}

/// Decodes what a node said, or says what is wrong with it.
pub(super) fn decoded(
    kind: Kind,
    node_id: NodeId,
    said: &Said,
) -> Result<Message, (VerdictCode, String)> {
    if let Some(fault) = &said.fault {
        return Err((VerdictCode::Malformed, fault.clone()));
    }
    let message = Message::decode(kind, &said.body).map_err(|e| judge::fault(&e))?;
    if message.node_id() != node_id {
        let why = format!("the body is of node {}, the path of {node_id}", message.node_id());
        return Err((VerdictCode::Malformed, why));
    }
    Ok(message)
}
