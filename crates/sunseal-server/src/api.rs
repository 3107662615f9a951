// SPDX-License-Identifier: MIT OR Apache-2.0
//! HTTP around store and judge. The normative text is `docs/reference/http.md`.

use std::error::Error;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, Version, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::LengthLimitError;
use rusqlite::Connection;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sunseal_link::{NodeId, Suite, VerdictCode};
use tokio::sync::{Semaphore, watch};

use crate::clock::{Clock, MAX_TIME_US, TIME_HEADER};
use crate::judge::duplicates::Recent;
use crate::judge::{self, Intent, Judgement, Rules, Welcome};
use crate::limits::{Caller, Limits};
use crate::seats::Seat;
use crate::serve::{Peer, READ_TIMEOUT};
use crate::store::challenges::Counts;
use crate::store::lists::{NodeFilter, latest_known, node_counts, set_group};
use crate::store::log_pages::EventFilter;
use crate::store::origin::{self, Origin};
use crate::store::pruning;
use crate::store::{self, Node};
use crate::tokens::{self, Role};
use crate::writer::Writer;
use crate::{hex, log, page};
use fields::Fields;
use messages::tell;

mod access;
mod contacts;
mod fields;
pub mod import;
pub mod lists;
mod messages;
mod metrics;
mod said;
mod waking;

/// Bytes of a request's body at most; the longest honest one has a few hundred.
pub const MAX_REQUEST_BYTES: usize = 16 * 1024;
/// Bytes of a name, or of a reason that somebody gives, at most.
pub const MAX_NAME_BYTES: usize = 100;
/// Questions that are read for at once; more wait.
const MAX_QUESTIONS: usize = 4;
/// Connections that are kept for reading.
const MAX_READERS: usize = 8;
/// `/healthz` writes if nobody has for so long.
const HEALTH_PERIOD: Duration = Duration::from_secs(10);
/// Old events are looked for so often.
const PRUNING_PERIOD: Duration = Duration::from_secs(3_600);
/// The same while nothing can be written.
const HEALTH_RETRY: Duration = Duration::from_secs(1);

/// How the operator set the server up.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Names besides addresses and `localhost` under which requests may come.
    pub hosts: Vec<String>,
    /// Whoever reaches the port is the operator.
    pub open: bool,
    /// Single requests stay out of the log.
    pub quiet: bool,
    /// Addresses of proxies that say whose request they pass on.
    pub trusted_proxies: Vec<IpAddr>,
    /// Requests a second of one token; 0: as many as come.
    pub rate_token: u32,
    /// Requests a second of one address; 0: as many as come.
    pub rate_address: u32,
}

/// All that a request needs.
pub struct App {
    path: PathBuf,
    readers: Mutex<Vec<Connection>>,
    questions: Semaphore,
    writer: Writer,
    clock: Arc<Clock>,
    rules: Rules,
    settings: Settings,
    /// Counts the times that something was queued; gateways wait for it.
    queued: watch::Sender<u64>,
    news: Mutex<waking::News>,
    waiting: Semaphore,
    recent: Arc<Recent>,
    limits: Limits,
    contacts: contacts::Contacts,
    importing: Semaphore,
    timings: metrics::Timings,
}

impl App {
    /// A server over an opened database, which lies at `path`.
    pub fn new(
        db: Connection,
        path: PathBuf,
        clock: Clock,
        rules: Rules,
        settings: Settings,
    ) -> Arc<Self> {
        let clock = Arc::new(clock);
        let writer = Writer::start(db, Arc::clone(&clock));
        let (readers, questions) = (Mutex::default(), Semaphore::new(MAX_QUESTIONS));
        let (queued, waiting) = (watch::Sender::new(0), Semaphore::new(waking::MAX_WAITING));
        let recent = Arc::default();
        let limits = Limits::new(settings.rate_token, settings.rate_address);
        Arc::new(Self {
            path,
            readers,
            questions,
            writer,
            clock,
            rules,
            settings,
            queued,
            news: Mutex::default(),
            waiting,
            recent,
            limits,
            contacts: contacts::Contacts::default(),
            importing: Semaphore::new(1),
            timings: metrics::Timings::default(),
        })
    }

    /// Runs `work` in a transaction, and answers when that is on disk.
    async fn transact<T: Send + 'static>(
        &self,
        time: Time,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Reply> {
        let Time(said_us, origin) = time;
        let work = move |tx: &Connection, now_us| origin::on_behalf(origin, || work(tx, now_us));
        let done = self.writer.submit(said_us, work).await;
        done.map_err(|why| Reply::error(StatusCode::INTERNAL_SERVER_ERROR, why))
    }

    /// Has something decided about a node, and answers with what the node is then, or with why not.
    async fn decided(
        &self,
        time: Time,
        status: StatusCode,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<Result<Node, Judgement>>
        + Send
        + 'static,
    ) -> Answer {
        let shown = move |tx: &Connection, now_us| match work(tx, now_us)? {
            Ok(node) => node.to_json(tx, now_us).map(Ok),
            Err(refused) => Ok(Err(refused)),
        };
        let done = self.transact(time, shown).await?;
        Ok(done.map_or_else(|refused| Reply::judged(&refused), |node| Reply(status, node)))
    }

    /// Looks something up in what is committed: a few rows, in no time.
    fn look<T>(
        &self,
        time: Time,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<T>,
    ) -> Result<T, Reply> {
        let fault = |why: String| {
            log::warn("database", json!({"why": why}));
            let why = format!("the database cannot be read ({why})");
            Reply::error(StatusCode::INTERNAL_SERVER_ERROR, why)
        };
        let readers = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = readers().pop();
        let mut db = match kept {
            Some(db) => db,
            None => store::reader(&self.path).map_err(|e| fault(e.to_string()))?,
        };
        let now_us = self.clock.now_us(time.0);
        let done = db.transaction().and_then(|tx| work(&tx, now_us));
        let mut readers = readers();
        if readers.len() < MAX_READERS {
            readers.push(db);
        }
        drop(readers);
        done.map_err(|e| fault(e.to_string()))
    }

    /// Runs a question, which may read a lot: aside, so that it delays no node.
    async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        time: Time,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Reply> {
        let _turn = self.questions.acquire().await;
        let app = Arc::clone(&self);
        tokio::task::spawn_blocking(move || app.look(time, work)).await.unwrap_or_else(|e| {
            let why = format!("the request failed inside the server ({e})");
            Err(Reply::error(StatusCode::INTERNAL_SERVER_ERROR, why))
        })
    }

    /// Deletes events older than `keep_us`, every hour, for ever.
    pub async fn prune(self: Arc<Self>, keep_us: u64) {
        loop {
            let mark = move |tx: &Connection, now_us: u64| {
                pruning::mark(tx, now_us, now_us.saturating_sub(keep_us))
            };
            let mut done = self.writer.submit(None, mark).await.map(|rows| rows > 0);
            while let Ok(true) = done {
                done = self.writer.submit(None, |tx, _| pruning::cut(tx)).await;
                // Others write in between.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            if let Err(why) = done {
                log::warn("prune", json!({"why": why}));
            }
            tokio::time::sleep(PRUNING_PERIOD).await;
        }
    }

    /// Ends the write-ahead log, so that one file holds everything.
    pub fn close(&self) {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.writer.close();
    }
}

/// Answer of the HTTP interface: a status, and a body in JSON.
struct Reply(StatusCode, Value);

impl Reply {
    fn ok(value: Value) -> Self {
        Self(StatusCode::OK, value)
    }

    fn error(status: StatusCode, why: impl Into<String>) -> Self {
        Self(status, json!({"error": why.into()}))
    }

    fn bad(why: impl Into<String>) -> Self {
        Self::error(StatusCode::BAD_REQUEST, why)
    }

    fn welcome(welcome: &Welcome) -> Self {
        match welcome {
            Welcome::Idle => Self::ok(json!({"challenge": null})),
            Welcome::Refused(judgement) => Self::judged(judgement),
            Welcome::Challenge(issued) => Self::ok(json!({"challenge": {
                "challenge_id": issued.challenge_id,
                "nonce": hex::encode(&issued.nonce),
                "expires_us": issued.expires_us,
            }})),
        }
    }

    /// The status that fits the verdict; the body always names it.
    fn judged(judgement: &Judgement) -> Self {
        let status = match judgement.verdict {
            VerdictCode::Accepted => StatusCode::OK,
            VerdictCode::UnknownNode => StatusCode::NOT_FOUND,
            VerdictCode::Malformed => StatusCode::BAD_REQUEST,
            VerdictCode::NotOpen => StatusCode::CONFLICT,
            _ => StatusCode::FORBIDDEN,
        };
        let mut body = judgement.to_json();
        if judgement.verdict != VerdictCode::Accepted {
            body["error"] = judgement.why.clone().into();
        }
        Self(status, body)
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        (self.0, kind, self.1.to_string() + "\n").into_response()
    }
}

/// The simulated time that a request names, if any, and whose request it is.
#[derive(Clone, Copy, Default)]
struct Time(Option<u64>, Origin);

impl<S: Sync> FromRequestParts<S> for Time {
    type Rejection = Reply;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Reply> {
        let origin = parts.extensions.get().copied().unwrap_or_default();
        said_time(&parts.headers).map(|time| Self(time, origin))
    }
}

fn said_time(headers: &HeaderMap) -> Result<Option<u64>, Reply> {
    let Some(value) = headers.get(TIME_HEADER) else { return Ok(None) };
    let parsed = value.to_str().ok().and_then(|v| v.parse().ok()).filter(|&us| us <= MAX_TIME_US);
    parsed.map(Some).ok_or_else(|| {
        Reply::bad(format!("the header Sunseal-Time-Us takes microseconds, 0 to {MAX_TIME_US}"))
    })
}

/// A node_id in the path.
struct Who(NodeId);

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = Reply;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Reply> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|e| Reply::bad(e.body_text()))?;
        hex::node_id(&text).map(Self).map_err(Reply::bad)
    }
}

/// A JSON object in the request's body.
struct Json(Value);

impl<S: Send + Sync> FromRequest<S> for Json {
    type Rejection = Reply;

    async fn from_request(request: Request, state: &S) -> Result<Self, Reply> {
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|e| Reply::error(e.status(), e.body_text()))?;
        if bytes.is_empty() {
            return Ok(Self(json!({})));
        }
        let why = match serde_json::from_slice::<Fields>(&bytes) {
            Ok(Fields(fields)) => return Ok(Self(Value::Object(fields))),
            Err(e) if e.is_data() && bytes.trim_ascii_start().starts_with(b"{") => {
                format!("the body is wrong: {e}")
            }
            Err(_) => match serde_json::from_slice::<Value>(&bytes) {
                Ok(_) => "the body is JSON, but not an object".to_owned(),
                Err(e) => format!("the body is not JSON: {e}"),
            },
        };
        Err(Reply::bad(why))
    }
}

impl Json {
    fn read<T: DeserializeOwned>(self) -> Result<T, Reply> {
        serde_path_to_error::deserialize(self.0).map_err(|e| {
            let place = e.path().to_string();
            let at = if place == "." { String::new() } else { format!(" at `{place}`") };
            Reply::bad(format!("the body is wrong{at}: {}", e.inner()))
        })
    }
}

/// A query string, its faults told in a sentence.
fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Reply> {
    Query::try_from_uri(uri)
        .map(|Query(value)| value)
        .map_err(|e| Reply::bad(format!("the query is wrong: {}", e.body_text())))
}

type Shared = State<Arc<App>>;
type Answer = Result<Reply, Reply>;

/// Every route of the server.
pub fn router(app: Arc<App>) -> Router {
    let only = |role| middleware::from_fn_with_state((Arc::clone(&app), role), access::authorised);
    let gateway = Router::new()
        .route("/v1/nodes/{node_id}/enrol", post(messages::enrol))
        .route("/v1/nodes/{node_id}/hello", post(messages::hello))
        .route("/v1/nodes/{node_id}/responses", post(messages::response))
        .route("/v1/nodes/{node_id}/reports", post(messages::report))
        .route("/v1/nodes/{node_id}/wake", post(waking::wake))
        .route("/v1/due", get(waking::due))
        .route_layer(only(Role::Gateway));
    let read = Router::new()
        .route("/", get(status_page))
        .route("/metrics", get(metrics::metrics))
        .route("/v1/summary", get(summary))
        .route("/v1/events", get(lists::events))
        .route("/v1/queue", get(lists::queue))
        .route("/v1/gateways", get(lists::list_gateways))
        .route("/v1/nodes", get(lists::nodes))
        .route("/v1/nodes/{node_id}", get(node))
        .route_layer(only(Role::Read));
    let challenge = Router::new()
        .route("/v1/nodes/{node_id}/challenges", post(queue))
        .route_layer(only(Role::Challenge));
    let enrol = Router::new()
        .route("/v1/nodes", post(open_node))
        .route(import::IMPORT_PATH, post(import::import))
        .route("/v1/nodes/{node_id}/change", post(change))
        .route_layer(only(Role::Enrol));
    let operator = Router::new()
        .route("/v1/nodes/{node_id}/revoke", post(revoke))
        .route("/v1/nodes/{node_id}/rekey", post(rekey))
        .route("/v1/tokens", get(list_tokens).post(make_token))
        .route("/v1/tokens/{token_id}/revoke", post(revoke_token))
        .route_layer(only(Role::Operator));
    Router::new()
        .route("/healthz", get(health))
        .route("/v1/openapi.json", get(openapi))
        .merge(gateway)
        .merge(read)
        .merge(challenge)
        .merge(enrol)
        .merge(operator)
        .fallback(|uri: Uri| async move {
            Reply::error(StatusCode::NOT_FOUND, format!("there is nothing at {}", uri.path()))
        })
        .method_not_allowed_fallback(|uri: Uri| async move {
            let why = format!("{} does not take this method", uri.path());
            Reply::error(StatusCode::METHOD_NOT_ALLOWED, why)
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&app), arrive))
        .with_state(app)
}

/// Takes a request in: refuses what two readers could read in two ways, and what a page of
/// somebody else's makes the operator's browser send; reads the body within its bounds.
async fn arrive(State(app): Shared, request: Request, next: Next) -> Response {
    let (begun, part) = (Instant::now(), metrics::part_of(request.uri().path()));
    let response = taken_in(Arc::clone(&app), request, next).await;
    app.timings.note(part, response.status(), begun.elapsed());
    response
}

async fn taken_in(app: Arc<App>, mut request: Request, next: Next) -> Response {
    if let Err(refused) = admissible(&request, &app.settings.hosts) {
        return refused.into_response();
    }
    let address = access::address_of(&request, &app.settings.trusted_proxies);
    if let Some(address) = address {
        request.extensions_mut().insert(Peer(address));
    }
    if let Some(refused) = address.and_then(|a| access::beyond(&app, Caller::Address(a))) {
        return refused;
    }
    let seat = request.extensions().get::<Arc<Seat>>().cloned();
    if request.uri().path() == import::IMPORT_PATH {
        // Its long body is read when its sender is known.
        let _answering = seat.as_ref().map(|seat| seat.answer());
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // A little more than is taken, so that who sends too much hears it instead of a broken line.
    let read = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, 4 * MAX_REQUEST_BYTES)).await;
    let refused = match read {
        Ok(Ok(bytes)) if bytes.len() <= MAX_REQUEST_BYTES => Ok(bytes),
        Ok(Err(e)) if !e.source().is_some_and(|e| e.is::<LengthLimitError>()) => {
            Err(Reply::bad(format!("the body cannot be read ({e})")))
        }
        Ok(_) => {
            let why = format!("the body is too long: it may have {MAX_REQUEST_BYTES} bytes");
            Err(Reply::error(StatusCode::PAYLOAD_TOO_LARGE, why))
        }
        Err(_) => {
            let why = format!("the body did not come within {} s", READ_TIMEOUT.as_secs());
            Err(Reply::error(StatusCode::REQUEST_TIMEOUT, why))
        }
    };
    let bytes = match refused {
        Ok(bytes) => bytes,
        Err(refused) => return refused.into_response(),
    };
    // From here on the caller waits for us, not we for him.
    let _answering = seat.as_ref().map(|seat| seat.answer());
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

fn admissible(request: &Request, hosts: &[String]) -> Result<(), Reply> {
    let headers = request.headers();
    // RFC 9112, 3.2: a request that does not say once whom it is for is refused.
    let named = headers.get_all(header::HOST).iter().count();
    if named > 1 || (named == 0 && request.version() == Version::HTTP_11) {
        return Err(Reply::bad(format!("a request has one Host header, not {named}")));
    }
    // RFC 9112, 6.1: with a length beside it, it is how requests are smuggled. hyper drops the
    // length before we see it, so nobody's chunks are taken.
    if headers.contains_key(header::TRANSFER_ENCODING) {
        let why = "Transfer-Encoding is not taken: send the body whole, with Content-Length";
        return Err(Reply::error(StatusCode::LENGTH_REQUIRED, why));
    }
    let target = request.uri().authority().map(|authority| authority.as_str());
    match foreign(headers, target, hosts) {
        Some(why) => Err(Reply::error(StatusCode::FORBIDDEN, why)),
        None => Ok(()),
    }
}

/// Why a request is for another server (DNS rebinding shows in `Host`), or from a page of another
/// one (a POST carries the page's `Origin`).
fn foreign(headers: &HeaderMap, target: Option<&str>, hosts: &[String]) -> Option<String> {
    let header = |name| headers.get(name).map(|v| v.to_str().unwrap_or("unreadable"));
    let host = header(header::HOST);
    if let Some(host) = [target, host].into_iter().flatten().find(|host| !is_ours(host, hosts)) {
        return Some(format!(
            "this server is not `{}`: call it by its address or as localhost, or start it with --host",
            host.escape_debug()
        ));
    }
    let origin = header(header::ORIGIN)?;
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    (authority.is_none() || authority != host)
        .then(|| format!("a page of `{}` may not speak for its reader", origin.escape_debug()))
}

/// An address, `localhost`, or a name that the operator gave; with or without a port.
fn is_ours(host: &str, hosts: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
}

/// Tells whether the server can keep what it is told: by the latest write, or by one of its own
/// if that is too long ago, so that probes cost nothing.
async fn health(State(app): Shared) -> Answer {
    let due = {
        let mut last = app.writer.last();
        let period = if last.fault.is_some() { HEALTH_RETRY } else { HEALTH_PERIOD };
        let due = last.tried.elapsed() >= period;
        if due {
            // One caller tries; who comes meanwhile hears what was known before.
            last.tried = Instant::now();
        }
        due
    };
    if due {
        // What comes of it is the latest write.
        let _ = app.writer.submit(None, store::try_to_write).await;
    }
    let fault = app.writer.last().fault.clone();
    Ok(match fault {
        None => Reply::ok(json!({"status": "ok"})),
        Some(why) => {
            let why = format!("the latest write failed: {why}");
            let told = json!({"status": "failing", "error": why});
            Reply(StatusCode::SERVICE_UNAVAILABLE, told)
        }
    })
}

/// A text that people will read in a terminal or on a page: short, and nothing in it moves the
/// cursor, ends a line or turns the direction of writing.
pub fn plain(field: &str, text: &str) -> Result<(), String> {
    if text.len() > MAX_NAME_BYTES {
        return Err(format!("a {field} has at most {MAX_NAME_BYTES} bytes"));
    }
    match text.chars().find(|&c| page::is_unprintable(c)) {
        None => Ok(()),
        Some(c) => {
            let code = u32::from(c);
            Err(format!(
                "a {field} has no control characters or changes of direction; this one has U+{code:04X}"
            ))
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewNode {
    node_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    group: String,
    period_us: Option<u64>,
    suite: Option<Value>,
    public_key: Option<String>,
}

async fn open_node(State(app): Shared, time: Time, body: Json) -> Answer {
    let new: NewNode = body.read()?;
    let node_id = hex::node_id(&new.node_id).map_err(Reply::bad)?;
    plain("name", &new.name).map_err(Reply::bad)?;
    plain("group", &new.group).map_err(Reply::bad)?;
    period(new.period_us)?;
    let key = vouched(new.suite.as_ref(), new.public_key.as_deref())?;
    app.decided(time, StatusCode::CREATED, move |tx, now_us| {
        let key = key.as_ref().map(|(suite, key)| (*suite, key.as_slice()));
        let mut opened = judge::open(tx, now_us, node_id, &new.name, new.period_us, key)?;
        if let Ok(node) = &mut opened {
            set_group(tx, node_id, &new.group)?;
            node.group_name = new.group;
        }
        Ok(opened)
    })
    .await
}

fn period(us: Option<u64>) -> Result<(), Reply> {
    if us.is_some_and(|us| us == 0 || us > MAX_TIME_US) {
        return Err(Reply::bad(format!("period_us is 1 to {MAX_TIME_US} microseconds")));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    name: Option<String>,
    group: Option<String>,
    period_us: Option<u64>,
}

/// Calls a node otherwise, puts it into another group, or expects it at another period.
async fn change(State(app): Shared, Who(node_id): Who, time: Time, body: Json) -> Answer {
    let Change { name, group, period_us } = body.read()?;
    for (field, text) in [("name", &name), ("group", &group)] {
        plain(field, text.as_deref().unwrap_or_default()).map_err(Reply::bad)?;
    }
    period(period_us)?;
    let change = move |tx: &Connection, now_us| {
        let labels = (name.as_deref(), group.as_deref());
        judge::change(tx, now_us, node_id, labels, period_us)
    };
    app.decided(time, StatusCode::OK, change).await
}

/// The key that the operator vouches for, if he gives one.
fn vouched(
    suite: Option<&Value>,
    public_key: Option<&str>,
) -> Result<Option<(Suite, Vec<u8>)>, Reply> {
    match (suite, public_key) {
        (None, None) => Ok(None),
        (Some(suite), Some(key)) => {
            let key = hex::decode(key).map_err(|e| wrong("public_key", &e))?;
            Ok(Some((suite_of(suite)?, key)))
        }
        _ => Err(Reply::bad("suite and public_key belong together: give both or none")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Revocation {
    #[serde(default)]
    why: String,
}

async fn revoke(State(app): Shared, Who(node_id): Who, time: Time, body: Json) -> Answer {
    let Revocation { why } = body.read()?;
    plain("reason", &why).map_err(Reply::bad)?;
    let revoke = move |tx: &Connection, now_us| judge::revoke(tx, now_us, node_id, &why);
    app.decided(time, StatusCode::OK, revoke).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    suite: Option<Value>,
    public_key: Option<String>,
}

async fn rekey(State(app): Shared, Who(node_id): Who, time: Time, body: Json) -> Answer {
    let new: NewKey = body.read()?;
    let key = vouched(new.suite.as_ref(), new.public_key.as_deref())?;
    let rekey = move |tx: &Connection, now_us| {
        let key = key.as_ref().map(|(suite, key)| (*suite, key.as_slice()));
        judge::rekey(tx, now_us, node_id, key)
    };
    app.decided(time, StatusCode::OK, rekey).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    role: String,
    #[serde(default)]
    name: String,
    expires_us: Option<u64>,
}

async fn make_token(State(app): Shared, time: Time, body: Json) -> Answer {
    let new: NewToken = body.read()?;
    let roles = || format!("it is {}", Role::ALL.map(Role::name).join(", "));
    let role = Role::from_name(&new.role).ok_or_else(|| wrong("role", &roles()))?;
    plain("name", &new.name).map_err(Reply::bad)?;
    if new.expires_us.is_some_and(|us| us > MAX_TIME_US) {
        return Err(Reply::bad(format!("expires_us is 0 to {MAX_TIME_US} microseconds")));
    }
    let work = move |tx: &Connection, now_us| {
        tokens::make_until(tx, now_us, role, &new.name, new.expires_us)
    };
    Ok(Reply(StatusCode::CREATED, app.transact(time, work).await?))
}

async fn list_tokens(State(app): Shared, time: Time) -> Answer {
    let tokens = app.ask(time, |tx, _| tokens::list(tx)).await?;
    Ok(Reply::ok(json!({"tokens": tokens})))
}

async fn revoke_token(State(app): Shared, Path(token_id): Path<i64>, time: Time) -> Answer {
    let work = move |tx: &Connection, now_us| tokens::revoke(tx, now_us, token_id);
    if app.transact(time, work).await? {
        return Ok(Reply::ok(json!({"token_id": token_id, "state": "revoked"})));
    }
    let why = format!("no token {token_id} holds");
    Err(Reply::error(StatusCode::NOT_FOUND, why))
}

fn wrong(field: &str, why: &str) -> Reply {
    Reply::bad(format!("{field} is wrong: {why}"))
}

/// A suite by name or by its number on the air.
fn suite_of(value: &Value) -> Result<Suite, Reply> {
    let by_code = value.as_u64().and_then(|c| u8::try_from(c).ok()).and_then(Suite::from_code);
    by_code.or_else(|| value.as_str().and_then(Suite::from_name)).ok_or_else(|| {
        let names = Suite::ALL.map(|s| format!("{} {}", s.code(), s.name())).join(", ");
        Reply::bad(format!("suite {value} is unknown: suites are {names}"))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    not_before_us: Option<u64>,
    intent_expires_us: Option<u64>,
}

async fn queue(State(app): Shared, Who(node_id): Who, time: Time, body: Json) -> Answer {
    let Ask { not_before_us, intent_expires_us } = body.read()?;
    for (field, us) in [("not_before_us", not_before_us), ("intent_expires_us", intent_expires_us)]
    {
        if us.is_some_and(|us| us > MAX_TIME_US) {
            return Err(Reply::bad(format!("{field} is 0 to {MAX_TIME_US} microseconds")));
        }
    }
    let intent = Intent { not_before_us, expires_us: intent_expires_us };
    let done = app.transact(time, move |tx, now_us| judge::queue(tx, now_us, node_id, intent));
    Ok(match done.await? {
        Ok((id, expires_us)) => {
            app.tell_queued(node_id);
            let body =
                json!({"challenge_id": id, "state": "queued", "intent_expires_us": expires_us});
            Reply(StatusCode::CREATED, body)
        }
        Err(refused) => Reply::judged(&refused),
    })
}

async fn node(State(app): Shared, Who(node_id): Who, time: Time) -> Answer {
    let found = app
        .ask(time, move |tx, now_us| {
            Node::find(tx, node_id)?.map(|node| node.to_json(tx, now_us)).transpose()
        })
        .await?;
    let unknown = || Reply::error(StatusCode::NOT_FOUND, format!("no node {node_id} is known"));
    found.map(Reply::ok).ok_or_else(unknown)
}

/// Late nodes that the summary names; `nodes.late` counts all.
const MAX_LATE: u32 = 100;
/// Nodes and events on the page for people.
const PAGE_NODES: usize = 200;
const PAGE_EVENTS: usize = 20;

/// The whole state in one object; the page for people is made of it as well.
fn summarise(app: &App, tx: &Connection, now_us: u64) -> rusqlite::Result<Value> {
    Ok(json!({
        "time_us": now_us,
        "clock": app.clock.name(),
        "insecure_seed": app.rules.seed.is_some(),
        "open_to_all": app.settings.open,
        "nodes": node_counts(tx, now_us)?,
        "challenges": Counts::of_all(tx, now_us)?.to_json(),
        "responses": store::verdict_counts(tx, None, Some("response"))?,
        "reports": store::verdict_counts(tx, None, Some("report"))?,
        "enrolments": store::verdict_counts(tx, None, Some("enrol"))?,
        "verdicts": store::verdict_counts(tx, None, None)?,
        "accepted_by_security_bits": store::accepted_by_security(tx)?,
        "late": latest_known(tx, now_us, MAX_LATE)?,
    }))
}

async fn summary(State(app): Shared, time: Time) -> Answer {
    let asked = Arc::clone(&app);
    let work = move |tx: &Connection, now_us| summarise(&asked, tx, now_us);
    Ok(Reply::ok(app.ask(time, work).await?))
}

/// The description of this interface for programs, the same for everybody.
async fn openapi() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, include_str!("../openapi.json")).into_response()
}

async fn status_page(State(app): Shared) -> Result<Response, Reply> {
    let asked = Arc::clone(&app);
    let html = app
        .ask(Time::default(), move |tx, now_us| {
            let summary = summarise(&asked, tx, now_us)?;
            let (mut nodes, mut events) = (Vec::new(), Vec::new());
            store::lists::nodes(tx, now_us, &NodeFilter::default(), None, |node| {
                nodes.push(node.to_json(tx, now_us)?);
                Ok(nodes.len() < PAGE_NODES)
            })?;
            let latest = EventFilter { newest: true, ..EventFilter::default() };
            store::log_pages::events(tx, &latest, None, |event| {
                events.push(event);
                events.len() < PAGE_EVENTS
            })?;
            events.reverse();
            Ok(page::render(&summary, &nodes, &events))
        })
        .await?;
    // Nothing is loaded from anywhere, and nothing on the page runs.
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(html)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_localhost_and_given_names_are_ours() {
        let hosts = ["sunseal.example".to_owned()];
        for host in ["127.0.0.1:80", "[::1]:8437", "[::1]", "10.0.0.7", "LocalHost:1"] {
            assert!(is_ours(host, &[]), "{host}");
        }
        assert!(is_ours("Sunseal.example:443", &hosts));
        for host in
            ["sunseal.example.org", "evil.example:8437", "localhost.evil", "127.0.0.1.nip", ""]
        {
            assert!(!is_ours(host, &hosts), "{host}");
        }
    }
}
