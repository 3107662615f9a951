// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a gateway calls nodes that listen: trains of WAKE, each with the node's challenge in it
//! (docs/reference/link.md, "Wake-on-radio").
//!
//! Which nodes have one is asked of the server after each message of a listening node, and otherwise waited for in
//! one request that the server answers when something is queued. While no node listens nothing is asked.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::Method;
use serde_json::Value;
use sunseal_link::air::{Listen, Train, airtime_us};
use sunseal_link::message::Body;
use sunseal_link::pcap::{self, Direction};
use sunseal_link::{Challenge, GATEWAY, Kind, Message, NodeId, Wake, fragments};

use super::{Gateway, State, Upload, answer_of};
use crate::log;

/// Trains for one challenge; then it waits for the node's HELLO.
pub const MAX_TRAINS: u32 = 3;
/// How long the server keeps a question about news.
const WAIT_S: u64 = 8;
/// Pause after a question that failed.
const RETRY: Duration = Duration::from_secs(5);
/// Bytes of preamble between the frames of a train, in which the sender's FIFO is filled.
const FILL_US: u32 = 64;
/// From the train's last frame until the gateway's receiver is on.
const TURN_MS: u64 = 1;

/// A node that listens.
struct Ear {
    node_id: NodeId,
    listen_us: u64,
    /// Nobody calls before this: the node's HELLO, or a pause after a train.
    not_before_us: u64,
    /// When its challenge is due, by the radio's clock.
    due_us: Option<u64>,
    train: Option<Train>,
    /// Trains since the node last spoke.
    trains: u32,
}

/// Who listens, by short address.
#[derive(Default)]
pub(super) struct Ears {
    by_address: BTreeMap<u8, Ear>,
    /// One transmitter: its last train ends then.
    busy_until_us: u64,
    version: Option<u64>,
    /// Questions asked so far, and the latest whose answer was taken: an older one must not undo it.
    asked: u64,
    learned: u64,
    /// The radio's clock less the server's; 0 where the radio drives that.
    apart_us: i64,
}

impl Ears {
    /// What a node has said changes whether it can be called. True if it can.
    fn hear(&mut self, time_us: u64, src: u8, kind: Kind, body: &Body) -> bool {
        if let (Kind::Hello, Ok(Message::Hello(m))) = (kind, Message::decode(kind, body)) {
            self.by_address.remove(&src);
            if m.listen_ms != 0 {
                let (node_id, listen_us) = (m.node_id, u64::from(m.listen_ms) * 1000);
                let (not_before_us, due_us) = (time_us, None);
                let ear = Ear { node_id, listen_us, not_before_us, due_us, train: None, trains: 0 };
                self.by_address.insert(src, ear);
            }
        }
        let ear = self.by_address.get_mut(&src);
        ear.map(|ear| (ear.train, ear.trains) = (None, 0)).is_some()
    }

    /// The server's list: the answer to a question that was asked at `asked_us` by the radio's clock.
    fn learn(&mut self, question: u64, answer: &Value, asked_us: Option<u64>) {
        if question < self.learned {
            return; // what is new in it comes again, as the version is not taken either
        }
        self.learned = question;
        let time_us = answer["time_us"].as_i64();
        self.apart_us = match (asked_us, time_us) {
            _ if answer["clock"] == "driven" => 0,
            (Some(asked_us), Some(time_us)) => asked_us as i64 - time_us,
            _ => self.apart_us,
        };
        let apart_us = self.apart_us;
        let due = |ear: &Ear| {
            let found = answer["due"].as_array()?.iter();
            let id = ear.node_id.to_string();
            found.filter(|d| d["node_id"] == id.as_str()).find_map(|d| d["due_us"].as_u64())
        };
        for ear in self.by_address.values_mut() {
            ear.due_us = due(ear).map(|due_us| due_us.saturating_add_signed(apart_us));
        }
        self.version = answer["version"].as_u64();
    }

    /// The train that is on the air in the stretch.
    fn on_air(&mut self, from_us: u64, to_us: u64) -> Option<Train> {
        for ear in self.by_address.values_mut() {
            if let Some(over) = ear.train.take_if(|t| t.end_us() <= from_us) {
                let pause_us = ear.listen_us << (ear.trains.max(1) - 1);
                ear.not_before_us = over.end_us().saturating_add(pause_us);
            }
        }
        let mut trains = self.by_address.values().filter_map(|ear| ear.train);
        trains.find(|t| t.start_us < to_us)
    }

    /// Whether a train is being sent, so that nothing is heard.
    pub(super) fn sends_at(&self, time_us: u64) -> bool {
        let mut trains = self.by_address.values().filter_map(|ear| ear.train);
        trains.any(|t| (t.start_us..t.end_us()).contains(&time_us))
    }

    /// Whose challenge is to be called out next, and from when: not before `after_us`, which is over.
    fn next(&self, after_us: u64, to_us: u64) -> Option<(u8, NodeId, u64)> {
        self.by_address.iter().find_map(|(src, ear)| {
            let start_us = ear.due_us?.max(ear.not_before_us).max(self.busy_until_us).max(after_us);
            let free = ear.train.is_none() && ear.trains < MAX_TRAINS && start_us < to_us;
            free.then_some((*src, ear.node_id, start_us))
        })
    }

    /// Puts a challenge on the air.
    fn call(&mut self, src: u8, seq: u8, start_us: u64, challenge: Challenge) -> Option<Train> {
        let ear = self.by_address.get_mut(&src).filter(|e| e.node_id == challenge.node_id)?;
        let wake = |left_ms| Message::Wake(Wake { challenge, left_ms }).encode();
        let first = |body| fragments(src, GATEWAY, seq, Kind::Wake, &body).next();
        let period_us = airtime_us(first(wake(0))?.len()) + FILL_US;
        let reach_us = ear.listen_us + ear.listen_us / 20;
        let count = reach_us.div_ceil(period_us.into()) as u32 + 2;
        let left_ms = (u64::from(count - 1) * u64::from(period_us)).div_ceil(1000) + TURN_MS;
        let frame = first(wake(u16::try_from(left_ms).unwrap_or(u16::MAX)))?;
        let train = Train { start_us, period_us, count, frame };
        ear.train = Some(train);
        ear.trains += 1;
        self.busy_until_us = train.end_us();
        Some(train)
    }
}

impl Gateway {
    /// After a message that the server has answered: may its sender be called, and is there something to ask it?
    pub(super) async fn listens(&self, time_us: u64, upload: &Upload, refused: bool) {
        let (can_be_called, is_new) = {
            let mut state = self.state();
            let ears = &mut state.ears;
            let known = ears.by_address.get(&upload.src).map(|ear| ear.node_id);
            if refused && upload.kind == Kind::Hello {
                ears.by_address.remove(&upload.src);
            }
            let can = !refused && ears.hear(time_us, upload.src, upload.kind, &upload.body);
            (can, known != ears.by_address.get(&upload.src).map(|ear| ear.node_id))
        };
        if can_be_called {
            if is_new {
                self.news.notify_one();
            }
            self.ask("", Some(time_us)).await;
        }
    }

    /// Asks the server for its list; false if that failed.
    async fn ask(&self, wait: &str, time_us: Option<u64>) -> bool {
        let (question, path) = {
            let ears = &mut self.state().ears;
            ears.asked += 1;
            // Those that can be called from here, and no others: the server may have a million.
            let ids: Vec<_> = ears.by_address.values().map(|ear| ear.node_id.to_string()).collect();
            if ids.is_empty() {
                return true;
            }
            (ears.asked, format!("/v1/due?{wait}nodes={}", ids.join(",")))
        };
        let path = path.as_str();
        match self.options.server.request(Method::GET, path, time_us, None).await {
            Ok((200, answer)) => {
                self.state().ears.learn(question, &answer, time_us);
                true
            }
            Ok((status, answer)) => {
                self.state().server_failed(format!("{path}: status {status}: {answer}"), time_us);
                false
            }
            Err(why) => {
                self.state().server_failed(why, time_us);
                false
            }
        }
    }

    /// Waits for what operators queue, as long as there is a node to call.
    pub(super) async fn wait_for_news(&self) {
        loop {
            let (anyone, version) = {
                let ears = &self.state().ears;
                (!ears.by_address.is_empty(), ears.version)
            };
            if !anyone {
                self.news.notified().await;
                continue;
            }
            let after = version.map_or(String::new(), |v| format!("after={v}&"));
            // A node that begins to listen meanwhile has news of its own: the question is asked anew.
            let wait = format!("{after}wait_s={WAIT_S}&");
            let asked = tokio::select! {
                asked = self.ask(&wait, None) => asked,
                () = self.news.notified() => true,
            };
            if !asked {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// What is on the air while a radio listens that has been told of all up to `after_us`.
    pub async fn train(&self, listen: &Listen, after_us: u64) -> Option<Train> {
        let Listen { from_us, span_us } = *listen;
        let to_us = from_us.saturating_add(span_us.into());
        let next = {
            let mut state = self.state();
            if let Some(train) = state.ears.on_air(from_us, to_us) {
                return (!state.loses(self.options.drop_rate)).then_some(train);
            }
            state.ears.next(after_us, to_us)
        };
        let (src, node_id, start_us) = next?;
        let Some(challenge) = self.challenge(src, node_id, from_us).await else {
            // Answered or expired meanwhile, or the server is away: what is due now?
            if let Some(ear) = self.state().ears.by_address.get_mut(&src) {
                (ear.due_us, ear.not_before_us) = (None, to_us);
            }
            self.ask("", Some(from_us)).await;
            return None;
        };
        let mut state = self.state();
        let train = state.begin(src, start_us, challenge)?;
        if !self.options.quiet {
            let fields = serde_json::json!({
                "time_us": start_us, "node_id": node_id.to_string(), "frames": train.count,
                "challenge_id": challenge.challenge_id, "until_us": train.end_us(),
            });
            log::info("calls", fields);
        }
        let heard = train.start_us < to_us && train.end_us() > from_us;
        (heard && !state.loses(self.options.drop_rate)).then_some(train)
    }
}

impl Gateway {
    /// The challenge that the server hands out for a node, if there is one now.
    async fn challenge(&self, src: u8, node_id: NodeId, time_us: u64) -> Option<Challenge> {
        let path = format!("/v1/nodes/{node_id}/wake");
        let why = match self.options.server.request(Method::POST, &path, Some(time_us), None).await
        {
            Ok((200 | 404 | 409, answer)) => {
                let upload =
                    Upload { src, kind: Kind::Wake, node_id, body: Body::new(), fault: None };
                return match answer_of(&upload, &answer) {
                    Some(Message::Challenge(challenge)) => Some(challenge),
                    _ => None,
                };
            }
            Ok((status, answer)) => format!("{path}: status {status}: {answer}"),
            Err(why) => why,
        };
        self.state().server_failed(why, Some(time_us));
        None
    }
}

impl State {
    fn begin(&mut self, src: u8, start_us: u64, challenge: Challenge) -> Option<Train> {
        let seq = self.seq[usize::from(src)];
        let train = self.ears.call(src, seq, start_us, challenge)?;
        self.seq[usize::from(src)] = seq.wrapping_add(1);
        let packet = [&[train.frame.len() as u8], &train.frame[..]].concat();
        self.capture(pcap::record(start_us, Direction::Sent, 0, 0, true, &packet));
        self.counts.trains += 1;
        Some(train)
    }
}
