// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a gateway needs to call nodes that listen: which have a challenge, and the challenge itself.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::json;
use sunseal_link::NodeId;

use super::{Answer, App, Reply, Shared, Time, Who, query, tell};
use crate::seats::Seat;
use crate::store::challenges::{self, Asked};
use crate::{hex, judge};

/// Gateways that may wait for news at once: a connection each, and no thread.
pub(super) const MAX_WAITING: usize = 10_000;
/// How long at most.
const MAX_WAIT_S: u64 = 30;
/// Nodes that one question may name: as many as a gateway has addresses.
const MAX_NAMED: usize = 256;
/// Nodes of one answer, which so has at most 50 KB.
const MAX_DUE: u32 = 500;
/// Queued challenges whose nodes are remembered, so that only those wake up who ask for one of them.
const MAX_NEWS: usize = 4_096;

/// Nodes for which something was queued lately.
#[derive(Debug, Default)]
pub(super) struct News {
    latest: VecDeque<(u64, NodeId)>,
}

impl App {
    /// Tells those who wait that a challenge is queued.
    pub(super) fn tell_queued(&self, node_id: NodeId) {
        self.queued.send_modify(|version| {
            *version += 1;
            let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
            news.latest.push_back((*version, node_id));
            if news.latest.len() > MAX_NEWS {
                news.latest.pop_front();
            }
        });
    }

    /// True if something was queued for one of these after `known`, or if nobody can say any more.
    fn is_news(&self, known: u64, version: u64, asked: &Asked) -> bool {
        let Asked::Of(ids) = asked else { return known != version };
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        let since = version.checked_sub(known);
        let Some(since) = since.filter(|&n| n <= news.latest.len() as u64) else { return true };
        news.latest.iter().rev().take(since as usize).any(|(_, id)| ids.contains(id))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    after: Option<u64>,
    #[serde(default)]
    wait_s: u64,
    nodes: Option<String>,
    page: Option<String>,
    limit: Option<u32>,
}

impl Question {
    fn asked(&self) -> Result<Asked, Reply> {
        let id = |text: &str| hex::node_id(text).map_err(Reply::bad);
        match (&self.nodes, &self.page) {
            (Some(_), Some(_)) => {
                Err(Reply::bad("nodes names all that are asked for: it has no page"))
            }
            (Some(nodes), None) => {
                let ids: Vec<_> = nodes.split(',').map(id).collect::<Result<_, _>>()?;
                if ids.len() > MAX_NAMED {
                    let why = format!("nodes names at most {MAX_NAMED} nodes, not {}", ids.len());
                    return Err(Reply::bad(why));
                }
                Ok(Asked::Of(ids))
            }
            (None, page) => Ok(Asked::Behind(page.as_deref().map(id).transpose()?)),
        }
    }
}

/// Nodes to call. Whoever names the version he knows waits until something is queued, for one of the nodes that he names
/// if he does, so that no gateway has to ask again and again.
pub(super) async fn due(
    State(app): Shared,
    seat: Option<Extension<Arc<Seat>>>,
    time: Time,
    uri: Uri,
) -> Answer {
    let question: Question = query(&uri)?;
    let asked = question.asked()?;
    let limit = question.limit.unwrap_or(MAX_DUE);
    if !(1..=MAX_DUE).contains(&limit) {
        return Err(Reply::bad(format!("limit is 1 to {MAX_DUE}, not {limit}")));
    }
    if question.wait_s > MAX_WAIT_S {
        return Err(Reply::bad(format!("wait_s is 0 to {MAX_WAIT_S}, not {}", question.wait_s)));
    }
    let mut queued = app.queued.subscribe();
    if let (Some(known), 1..) = (question.after, question.wait_s) {
        let Ok(_place) = app.waiting.try_acquire() else {
            let why = format!(
                "{MAX_WAITING} gateways wait already: ask again in a minute, or without wait_s"
            );
            return Err(Reply::error(StatusCode::SERVICE_UNAVAILABLE, why));
        };
        // Who waits takes nobody's place.
        let _parked = seat.as_ref().map(|Extension(seat)| seat.park());
        let news = async {
            loop {
                let version = *queued.borrow_and_update();
                if app.is_news(known, version, &asked) || queued.changed().await.is_err() {
                    return;
                }
            }
        };
        // News or none: either way the list is told.
        let _ = tokio::time::timeout(Duration::from_secs(question.wait_s), news).await;
    }
    let version = *queued.borrow_and_update();
    let work =
        move |db: &Connection, now_us| Ok((now_us, challenges::due(db, now_us, &asked, limit)?));
    let clock = app.clock.name();
    let (time_us, due) = app.ask(time, work).await?;
    let next_page = due.next_page.map(|id| id.to_string());
    Ok(Reply::ok(json!({"version": version, "clock": clock, "time_us": time_us,
                        "due": due.nodes, "next_page": next_page})))
}

/// The challenge that a gateway calls a node by.
pub(super) async fn wake(State(app): Shared, Who(node_id): Who, time: Time) -> Answer {
    let rules = app.rules.clone();
    let work = move |tx: &Connection, now_us| judge::wake(tx, now_us, &rules, node_id);
    let reply = Reply::welcome(&app.transact(time, work).await?);
    tell(&Arc::clone(&app), "wake", node_id, &reply);
    Ok(reply)
}
