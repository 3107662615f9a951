// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages of nodes that gateways hand in, and the verdicts on them.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use sunseal_link::{Kind, Message, NodeId, VerdictCode};

use super::said::{decoded, said};
use super::{Answer, App, Json, Reply, Shared, Time, Who};
use crate::judge::{self, Checked, Welcome};
use crate::log;

pub(super) async fn hello(State(app): Shared, Who(node_id): Who, time: Time, body: Json) -> Answer {
    let said = said(Kind::Hello, node_id, body)?;
    let rules = app.rules.clone();
    let welcome = app
        .transact(time, move |tx, now_us| match decoded(Kind::Hello, node_id, &said) {
            Ok(Message::Hello(m)) => judge::hello(tx, now_us, &rules, &m),
            Ok(_) => Ok(Welcome::Idle),
            Err((verdict, why)) => {
                let body = &said.body;
                judge::malformed(tx, now_us, Kind::Hello, node_id, body, verdict, &why)
                    .map(Welcome::Refused)
            }
        })
        .await?;
    let reply = Reply::welcome(&welcome);
    tell(&app, "hello", node_id, &reply);
    Ok(reply)
}

async fn judged(app: Arc<App>, kind: Kind, node_id: NodeId, time: Time, body: Json) -> Answer {
    let said = said(kind, node_id, body)?;
    let message = decoded(kind, node_id, &said);
    // The signature first, outside of the transaction: it takes ten times as long as the rest.
    let checked: Option<Checked> = match &message {
        Ok(message) => app
            .look(time, |db, now_us| judge::foresee(db, now_us, message))?
            .map(judge::Claim::check),
        Err(_) => None,
    };
    let recent = Arc::clone(&app.recent);
    let judgement = app
        .transact(time, move |tx, now_us| {
            let fault = |verdict, why: &str| {
                judge::malformed(tx, now_us, kind, node_id, &said.body, verdict, why)
            };
            let judged = || match &message {
                Ok(message) => match judge::message(tx, now_us, message, checked.as_ref())? {
                    Some(judgement) => Ok(judgement),
                    None => fault(VerdictCode::Malformed, "this kind asks for no verdict"),
                },
                Err((verdict, why)) => fault(*verdict, why),
            };
            recent.once(tx, now_us, (kind, node_id, &said.body), judged)
        })
        .await?;
    let reply = Reply::judged(&judgement);
    tell(&app, kind.name(), node_id, &reply);
    Ok(reply)
}

pub(super) fn tell(app: &App, what: &str, node_id: NodeId, reply: &Reply) {
    if !app.settings.quiet {
        let fields = json!({"node_id": node_id.to_string(), "answer": reply.1});
        log::info(&what.to_lowercase(), fields);
    }
}

pub(super) async fn enrol(State(app): Shared, Who(node_id): Who, time: Time, body: Json) -> Answer {
    judged(app, Kind::Enrol, node_id, time, body).await
}

pub(super) async fn response(
    State(app): Shared,
    Who(node_id): Who,
    time: Time,
    body: Json,
) -> Answer {
    judged(app, Kind::Response, node_id, time, body).await
}

pub(super) async fn report(
    State(app): Shared,
    Who(node_id): Who,
    time: Time,
    body: Json,
) -> Answer {
    judged(app, Kind::Report, node_id, time, body).await
}
