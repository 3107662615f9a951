// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists as pages of JSON or CSV, at most [`MAX_PAGE_BYTES`] each.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};
use sunseal_link::VerdictCode;

use super::{Reply, Shared, TIME_HEADER, Time, query};
use crate::hex;
use crate::store::gateways::{self, GatewayFilter};
use crate::store::lists::{self, NodeFilter, NodeKey, QUEUE_STATES, QueueFilter, STATES};
use crate::store::log_pages::{self, EventFilter};

/// Bytes of a page at most, its frame of a few hundred included; one row has always room.
pub const MAX_PAGE_BYTES: usize = 50_000;
/// Rows of one page at most.
pub const MAX_ROWS: u32 = 1_000;
/// Bytes for what stands around the rows.
const FRAME_BYTES: usize = 300;
/// Header of a page of CSV that says what `next_after` of JSON does.
pub const NEXT_HEADER: &str = "sunseal-next-after";

/// Column of a list in CSV: its name, and where a row has its value.
type Column = (&'static str, fn(&Value) -> Value);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Csv,
}

/// A page while it is filled.
struct Page {
    format: Format,
    columns: &'static [Column],
    rows: u32,
    limit: u32,
    body: Vec<u8>,
}

impl Page {
    fn new(
        format: Option<Format>,
        limit: Option<u32>,
        columns: &'static [Column],
    ) -> Result<Self, Reply> {
        let limit = limit.unwrap_or(MAX_ROWS);
        if !(1..=MAX_ROWS).contains(&limit) {
            return Err(Reply::bad(format!("limit is 1 to {MAX_ROWS}, not {limit}")));
        }
        let mut page =
            Self { format: format.unwrap_or_default(), columns, rows: 0, limit, body: Vec::new() };
        if page.format == Format::Csv {
            page.body = record(columns.iter().map(|(name, _)| Value::from(*name)));
        }
        Ok(page)
    }

    /// Takes a row in, unless the page is full.
    fn take(&mut self, row: &Value) -> bool {
        let line = match self.format {
            Format::Json => row.to_string().into_bytes(),
            Format::Csv => record(self.columns.iter().map(|(_, value)| value(row))),
        };
        let room = self.body.len() + line.len() + FRAME_BYTES <= MAX_PAGE_BYTES;
        if self.rows == self.limit || (!room && self.rows > 0) {
            return false;
        }
        if self.format == Format::Json && self.rows > 0 {
            self.body.push(b',');
        }
        self.body.extend(line);
        self.rows += 1;
        true
    }

    fn answer(self, what: &str, time_us: u64, next: Option<Value>) -> Response {
        let (kind, body) = match self.format {
            Format::Json => {
                let head = format!("{{\"time_us\":{time_us},\"{what}\":[");
                let tail = format!("],\"next_after\":{}}}\n", json!(next));
                ("application/json", [head.as_bytes(), &self.body, tail.as_bytes()].concat())
            }
            Format::Csv => ("text/csv; charset=utf-8; header=present", self.body),
        };
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(kind))];
        let mut response = (kind, body).into_response();
        response.headers_mut().insert(TIME_HEADER, time_us.into());
        let next = next.map(|next| next.as_str().map_or_else(|| next.to_string(), str::to_owned));
        if let Some(next) = next.and_then(|next| HeaderValue::try_from(next).ok()) {
            response.headers_mut().insert(NEXT_HEADER, next);
        }
        response
    }
}

/// A line of CSV as RFC 4180 has it. A text that a spreadsheet would take for a formula begins with an apostrophe.
fn record(values: impl Iterator<Item = Value>) -> Vec<u8> {
    let mut line = String::new();
    for (at, value) in values.enumerate() {
        if at > 0 {
            line.push(',');
        }
        match value {
            Value::Null => {}
            Value::String(text) => {
                let formula = text.starts_with(['=', '+', '-', '@']);
                let text = if formula { format!("'{text}") } else { text };
                if text.contains([',', '"', '\r', '\n']) {
                    line += &format!("\"{}\"", text.replace('"', "\"\""));
                } else {
                    line += &text;
                }
            }
            Value::Object(_) | Value::Array(_) => {
                line += &format!("\"{}\"", value.to_string().replace('"', "\"\""));
            }
            other => line += &other.to_string(),
        }
    }
    line += "\r\n";
    line.into_bytes()
}

macro_rules! column {
    ($name:literal) => {
        ($name, |row| row[$name].clone())
    };
}

const NODE_COLUMNS: &[Column] = &[
    column!("node_id"),
    column!("name"),
    column!("group"),
    column!("state"),
    column!("suite"),
    column!("security_bits"),
    column!("public_key"),
    column!("counter"),
    column!("period_us"),
    column!("opened_us"),
    column!("enrolled_us"),
    column!("revoked_us"),
    column!("last_seen_us"),
    column!("last_accepted_us"),
    column!("vcap_v"),
    column!("reason"),
    ("accepted", |row| accepted(row).into()),
    ("refused", |row| (verdicts(row) - accepted(row)).into()),
    ("late_by_us", |row| row["late"]["late_by_us"].clone()),
    ("late_why", |row| row["late"]["why"].clone()),
];

fn accepted(node: &Value) -> u64 {
    node["verdicts"]["accepted"].as_u64().unwrap_or(0)
}

fn verdicts(node: &Value) -> u64 {
    node["verdicts"].as_object().map_or(0, |v| v.values().filter_map(Value::as_u64).sum())
}

const EVENT_COLUMNS: &[Column] = &[
    column!("event_id"),
    column!("time_us"),
    column!("node_id"),
    column!("kind"),
    column!("verdict"),
    column!("verdict_name"),
    column!("gateway"),
    column!("detail"),
];

const QUEUE_COLUMNS: &[Column] = &[
    column!("challenge_id"),
    column!("node_id"),
    column!("name"),
    column!("group"),
    column!("state"),
    column!("queued_us"),
    column!("not_before_us"),
    column!("intent_expires_us"),
    column!("issued_us"),
    column!("expires_us"),
    column!("issues"),
    column!("answered_us"),
    column!("why"),
];

const GATEWAY_COLUMNS: &[Column] = &[
    column!("token_id"),
    column!("name"),
    column!("state"),
    column!("made_us"),
    column!("first_used_us"),
    column!("revoked_us"),
    column!("last_contact_us"),
    column!("address"),
    column!("backlog"),
];

/// One of a few words.
fn one_of(
    field: &str,
    said: Option<&str>,
    words: &[&'static str],
) -> Result<Option<&'static str>, Reply> {
    let Some(said) = said else { return Ok(None) };
    let found = words.iter().copied().find(|&word| word == said);
    found.map(Some).ok_or_else(|| {
        Reply::bad(format!("{field} is {}, not `{}`", words.join(", "), said.escape_debug()))
    })
}

fn verdict_of(said: Option<&str>) -> Result<Option<VerdictCode>, Reply> {
    let Some(said) = said else { return Ok(None) };
    let all: Vec<VerdictCode> = (0..=u8::MAX).map_while(VerdictCode::from_code).collect();
    let found = all.iter().find(|v| v.name() == said || v.code().to_string() == said);
    found.copied().map(Some).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|v| v.name()).collect();
        Reply::bad(format!("verdict is {}, not `{}`", names.join(", "), said.escape_debug()))
    })
}

fn millivolts(field: &str, said: Option<f64>) -> Result<Option<u16>, Reply> {
    let Some(volts) = said else { return Ok(None) };
    if !(0.0..=65.535).contains(&volts) {
        return Err(Reply::bad(format!("{field} is 0 to 65.535 V, not {volts}")));
    }
    Ok(Some((volts * 1e3).round() as u16))
}

/// A number behind which a list goes on.
fn number(after: Option<&str>) -> Result<Option<i64>, Reply> {
    let parsed = after.map(|text| text.parse().map_err(|_| text)).transpose();
    parsed.map_err(|text| {
        let why = format!("after takes a number, not `{}`", text.escape_debug());
        Reply::bad(why)
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesAsked {
    after: Option<String>,
    limit: Option<u32>,
    format: Option<Format>,
    state: Option<String>,
    group: Option<String>,
    name: Option<String>,
    late: Option<bool>,
    vcap_below_v: Option<f64>,
    vcap_from_v: Option<f64>,
    verdict: Option<String>,
    seen_from_us: Option<u64>,
    seen_before_us: Option<u64>,
}

pub(super) async fn nodes(State(app): Shared, time: Time, uri: Uri) -> Result<Response, Reply> {
    let asked: NodesAsked = query(&uri)?;
    let after = asked.after.as_deref().map(str::parse::<NodeKey>).transpose();
    let after = after.map_err(Reply::bad)?;
    if asked.group.as_deref() == Some("") {
        return Err(Reply::bad("group names a group: nodes without one have no list of their own"));
    }
    let filter = NodeFilter {
        state: one_of("state", asked.state.as_deref(), &STATES)?,
        group: asked.group,
        name: asked.name,
        late: asked.late,
        vcap_below_mv: millivolts("vcap_below_v", asked.vcap_below_v)?,
        vcap_from_mv: millivolts("vcap_from_v", asked.vcap_from_v)?,
        verdict: verdict_of(asked.verdict.as_deref())?,
        seen_from_us: asked.seen_from_us,
        seen_before_us: asked.seen_before_us,
    };
    let mut page = Page::new(asked.format, asked.limit, NODE_COLUMNS)?;
    let work = move |db: &Connection, now_us| {
        let next = lists::nodes(db, now_us, &filter, after, |node| {
            Ok(page.take(&node.to_json(db, now_us)?))
        })?;
        Ok(page.answer("nodes", now_us, next.map(|key| key.to_string().into())))
    };
    app.ask(time, work).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsAsked {
    after: Option<String>,
    limit: Option<u32>,
    format: Option<Format>,
    node: Option<String>,
    kind: Option<String>,
    verdict: Option<String>,
    gateway: Option<i64>,
    from_us: Option<u64>,
    before_us: Option<u64>,
    #[serde(default)]
    newest: bool,
}

pub(super) async fn events(State(app): Shared, uri: Uri) -> Result<Response, Reply> {
    let asked: EventsAsked = query(&uri)?;
    let filter = EventFilter {
        node_id: asked.node.as_deref().map(hex::node_id).transpose().map_err(Reply::bad)?,
        kind: asked.kind,
        verdict: verdict_of(asked.verdict.as_deref())?,
        token_id: asked.gateway,
        from_us: asked.from_us,
        before_us: asked.before_us,
        newest: asked.newest,
    };
    let after = number(asked.after.as_deref())?;
    let mut page = Page::new(asked.format, asked.limit, EVENT_COLUMNS)?;
    let work = move |db: &Connection, now_us| {
        let mut names = HashMap::new();
        let next = log_pages::events(db, &filter, after, |mut event| {
            event["gateway"] = named(db, &event, &mut names);
            page.take(&event)
        })?;
        Ok(page.answer("events", now_us, next.map(Value::from)))
    };
    app.ask(Time::default(), work).await
}

/// Name of the gateway that an event came by, if one did.
fn named(db: &Connection, event: &Value, names: &mut HashMap<i64, Value>) -> Value {
    let Some(token_id) = event["detail"]["token_id"].as_i64() else { return Value::Null };
    let found = names.entry(token_id).or_insert_with(|| match gateways::name_of(db, token_id) {
        Ok(Some((role, name))) if role == "gateway" && name.is_empty() => {
            format!("token {token_id}").into()
        }
        Ok(Some((role, name))) if role == "gateway" => name.into(),
        _ => Value::Null,
    });
    found.clone()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueAsked {
    after: Option<String>,
    limit: Option<u32>,
    format: Option<Format>,
    state: Option<String>,
    node: Option<String>,
    group: Option<String>,
    queued_from_us: Option<u64>,
    queued_before_us: Option<u64>,
}

pub(super) async fn queue(State(app): Shared, time: Time, uri: Uri) -> Result<Response, Reply> {
    let asked: QueueAsked = query(&uri)?;
    let filter = QueueFilter {
        state: one_of("state", asked.state.as_deref(), &QUEUE_STATES)?,
        node_id: asked.node.as_deref().map(hex::node_id).transpose().map_err(Reply::bad)?,
        group: asked.group,
        queued_from_us: asked.queued_from_us,
        queued_before_us: asked.queued_before_us,
    };
    let after = number(asked.after.as_deref())?;
    let mut page = Page::new(asked.format, asked.limit, QUEUE_COLUMNS)?;
    let work = move |db: &Connection, now_us| {
        let next = lists::queue(db, now_us, &filter, after, |row| page.take(row))?;
        Ok(page.answer("queue", now_us, next.map(Value::from)))
    };
    app.ask(time, work).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GatewaysAsked {
    after: Option<String>,
    limit: Option<u32>,
    format: Option<Format>,
    state: Option<String>,
    name: Option<String>,
    seen_before_us: Option<u64>,
}

pub(super) async fn list_gateways(
    State(app): Shared,
    time: Time,
    uri: Uri,
) -> Result<Response, Reply> {
    let asked: GatewaysAsked = query(&uri)?;
    let filter = GatewayFilter {
        state: one_of("state", asked.state.as_deref(), &["active", "ended"])?,
        name: asked.name,
        seen_before_us: asked.seen_before_us,
    };
    let after = number(asked.after.as_deref())?;
    let mut page = Page::new(asked.format, asked.limit, GATEWAY_COLUMNS)?;
    let contacts = app.contacts.all();
    let work = move |db: &Connection, now_us| {
        let latest = |token_id| contacts.get(&token_id).cloned();
        let next = gateways::gateways(db, now_us, &filter, after, latest, |row| page.take(row))?;
        Ok(page.answer("gateways", now_us, next.map(Value::from)))
    };
    app.ask(time, work).await
}
