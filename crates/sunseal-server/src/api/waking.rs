// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a gateway needs to call nodes that listen: which have a challenge, and the challenge itself.

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, MAX_PAGE, Reply, Shared, Time, Who, query, tell};
use crate::judge;
use crate::store::challenges;
use std::sync::Arc;
use std::time::Duration;

/// Gateways that may wait for news at once.
pub(super) const MAX_WAITING: usize = 64;
/// How long at most.
const MAX_WAIT_S: u64 = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Due {
    after: Option<u64>,
    #[serde(default)]
    wait_s: u64,
}

/// Nodes to call. Whoever names the version he knows waits until something is queued, so that no gateway has to
/// ask again and again.
pub(super) async fn due(State(app): Shared, time: Time, uri: Uri) -> Answer {
    let asked: Due = query(&uri)?;
    if asked.wait_s > MAX_WAIT_S {
        return Err(Reply::bad(format!("wait_s is 0 to {MAX_WAIT_S}, not {}", asked.wait_s)));
    }
    let mut news = app.queued.subscribe();
    if asked.wait_s > 0 && asked.after == Some(*news.borrow_and_update()) {
        let Ok(_place) = app.waiting.try_acquire() else {
            let why = format!(
                "{MAX_WAITING} gateways wait already: ask again in a minute, or without wait_s"
            );
            return Err(Reply::error(StatusCode::SERVICE_UNAVAILABLE, why));
        };
        // News or none: either way the list is told.
        let _ = tokio::time::timeout(Duration::from_secs(asked.wait_s), news.changed()).await;
    }
    let version = *news.borrow_and_update();
    let work = |db: &Connection, now_us| Ok((now_us, challenges::due(db, now_us, MAX_PAGE)?));
    let clock = app.clock.name();
    let (time_us, due) = app.ask(time, work).await?;
    Ok(Reply::ok(json!({"version": version, "clock": clock, "time_us": time_us, "due": due})))
}

/// The challenge that a gateway calls a node by.
pub(super) async fn wake(State(app): Shared, Who(node_id): Who, time: Time) -> Answer {
    let rules = app.rules.clone();
    let work = move |tx: &Connection, now_us| judge::wake(tx, now_us, &rules, node_id);
    let reply = Reply::welcome(&app.transact(time, work).await?);
    tell(&Arc::clone(&app), "wake", node_id, &reply);
    Ok(reply)
}
