// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admission of callers by token, and their rates.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rusqlite::Connection;
use serde_json::json;

use super::{App, Reply, Time, said_time};
use crate::limits::Caller;
use crate::serve::Peer;
use crate::store;
use crate::store::origin::Origin;
use crate::tokens::{self, Bearer, Role};

/// The address that a request comes from: behind proxies that are believed the one that they name, the nearest that is
/// none of theirs. What stands further left anybody may have written.
pub(super) fn address_of(request: &Request, trusted: &[IpAddr]) -> Option<IpAddr> {
    let Peer(mut address) = *request.extensions().get()?;
    let passed = request.headers().get_all("x-forwarded-for").iter();
    let passed: Vec<&str> =
        passed.filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')).collect();
    for named in passed.iter().rev() {
        if !trusted.contains(&address.to_canonical()) {
            break;
        }
        let Ok(next) = named.trim().parse::<IpAddr>() else { break };
        address = next.to_canonical();
    }
    Some(address)
}

/// Takes a request from the caller's share; the answer if there is none left.
pub(super) fn beyond(app: &App, caller: Caller) -> Option<Response> {
    let wait = app.limits.take(caller, Instant::now()).err()?;
    let (who, rate) = match caller {
        Caller::Token(token_id) => (format!("token {token_id}"), app.limits.per_token),
        Caller::Address(address) => (format!("address {address}"), app.limits.per_address),
    };
    let wait_s = wait.as_secs_f64().ceil().max(1.0) as u64;
    let why = format!(
        "{who} asks too often: {rate} requests a second are taken, ask again in {wait_s} s"
    );
    let told = [(header::RETRY_AFTER, wait_s.to_string())];
    Some((told, Reply::error(StatusCode::TOO_MANY_REQUESTS, why)).into_response())
}

/// Lets in who carries a token of the role, or anybody where the operator said `--open`.
pub(super) async fn authorised(
    State((app, needed)): State<(Arc<App>, Role)>,
    mut request: Request,
    next: Next,
) -> Response {
    let address = request.extensions().get().map(|Peer(address)| *address);
    let mut origin = Origin { token_id: None, address };
    if app.settings.open {
        request.extensions_mut().insert(origin);
        return next.run(request).await;
    }
    let token = tokens::carried(request.headers());
    let time = Time(said_time(request.headers()).ok().flatten(), origin);
    let found = token
        .as_deref()
        .map(|token| app.look(time, |db, now_us| tokens::bearer_of(db, now_us, token)));
    let found = match found.transpose() {
        Ok(found) => found.flatten(),
        Err(fault) => return fault.into_response(),
    };
    let Some(Bearer { token_id, role, first }) = found else {
        let given = if token.is_some() {
            "this token is unknown or revoked, or its time is over"
        } else {
            "no token"
        };
        let why = format!(
            "{given}: send `Authorization: Bearer TOKEN` with a token of role {}",
            needed.name()
        );
        if let Err(fault) =
            refused(&app, asked_for(&request), origin, StatusCode::UNAUTHORIZED).await
        {
            return fault.into_response();
        }
        let asked = [(header::WWW_AUTHENTICATE, "Basic realm=\"sunseal\", charset=\"UTF-8\"")];
        return (asked, Reply::error(StatusCode::UNAUTHORIZED, why)).into_response();
    };
    origin.token_id = Some(token_id);
    if let Some(refused) = beyond(&app, Caller::Token(token_id)) {
        return refused;
    }
    if !role.covers(needed) {
        if let Err(fault) = refused(&app, asked_for(&request), origin, StatusCode::FORBIDDEN).await
        {
            return fault.into_response();
        }
        let (has, needed) = (role.name(), needed.name());
        let why = format!("this takes a token of role {needed}, not of role {has}");
        return Reply::error(StatusCode::FORBIDDEN, why).into_response();
    }
    if first {
        let time = Time(said_time(request.headers()).ok().flatten(), origin);
        let used = app.transact(time, move |tx, now_us| tokens::used(tx, now_us, token_id)).await;
        if let Err(fault) = used {
            return fault.into_response();
        }
    }
    if role == Role::Gateway {
        app.heard(origin, said_time(request.headers()).ok().flatten(), request.headers());
    }
    request.extensions_mut().insert(origin);
    next.run(request).await
}

/// Bytes of a path that a refusal keeps: what a stranger chooses.
const PATH_BYTES: usize = 48;

/// The time that a request names, if any, and the beginning of its path.
fn asked_for(request: &Request) -> (Option<u64>, String) {
    let path = request.uri().path().chars().take(PATH_BYTES).collect();
    (said_time(request.headers()).ok().flatten(), path)
}

/// Tells who was not let in: an event, 20 rows a minute.
async fn refused(
    app: &App,
    (said_us, path): (Option<u64>, String),
    origin: Origin,
    status: StatusCode,
) -> Result<(), Reply> {
    let detail = json!({"status": status.as_u16(), "path": path});
    let work = |tx: &Connection, now_us| store::audit(tx, now_us, "refused", true, detail);
    app.transact(Time(said_us, origin), work).await
}
