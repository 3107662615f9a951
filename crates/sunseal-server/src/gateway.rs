// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gateway: the air protocol on one side, HTTP on the other, a capture of both directions.
//!
//! It trusts nobody and decides nothing: it drops what the radio's CRC or the frame's own rules
//! condemn, puts bodies together and hands them on. If the server cannot be reached, the node
//! hears nothing, and the log says so. Memory is bounded by the number of connections.

mod waking;

use std::convert::Infallible;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use sunseal_link::air::{Down, DownFrame, LISTEN, Listen, MAX_UP_BYTES, Train, Up, airtime_us};
use sunseal_link::frame::{Frame, HEADER_BYTES};
use sunseal_link::message::Body;
use sunseal_link::pcap::{self, Direction};
use sunseal_link::{
    Challenge, GATEWAY, Idle, Kind, Message, NodeId, Progress, Reassembler, Verdict, VerdictCode,
    fragments,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::Server;
use crate::seats::{Seat, Seats};
use crate::serve::accept;
use crate::{hex, log};

/// Radios that may be connected at once. One more takes the place of the one that never said anything for longest, and
/// only where all have spoken that of the one that has been silent for longest.
pub const MAX_CONNECTIONS: usize = 64;
/// A radio's message has come whole within this, and its answer been read.
pub const MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);
/// A radio that has said nothing yet is hung up after this.
pub const FIRST_WORD_TIMEOUT: Duration = Duration::from_secs(300);
/// An unfinished message is forgotten this long after its latest fragment.
pub const REASSEMBLY_TIMEOUT_US: u64 = 1_000_000;

/// How the gateway is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where answers come from.
    pub server: Server,
    /// Where the capture goes.
    pub pcap: Option<PathBuf>,
    /// From the end of a packet heard, or of one sent, to the start of the next sent.
    pub turnaround_us: u32,
    /// Share of packets lost on the air, each way: 0 to 1.
    pub drop_rate: f64,
    /// Which packets those are.
    pub drop_seed: u64,
    /// Keep single messages out of the log.
    pub quiet: bool,
}

/// What has passed, for the log's last line.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    heard: u64,
    sent: u64,
    lost: u64,
    crc_failed: u64,
    refused: u64,
    forwarded: u64,
    server_failed: u64,
    trains: u64,
}

struct State {
    pcap: Option<File>,
    reassembler: Reassembler<16>,
    /// The next sequence number, by receiver.
    seq: [u8; 256],
    /// Who last spoke from an address: names the node of a frame too broken to name itself.
    known: [Option<NodeId>; 256],
    dice: u64,
    counts: Counts,
    /// Messages that are on their way to the server.
    waiting: u32,
    /// Messages that the server has not answered since it last did.
    unanswered: u64,
    ears: waking::Ears,
}

/// The gateway between its two sides.
pub struct Gateway {
    options: Options,
    state: Mutex<State>,
    /// A node listens that did not before.
    news: Notify,
}

/// A body to hand to the server, and what is already known to be wrong with it.
struct Upload {
    src: u8,
    kind: Kind,
    node_id: NodeId,
    body: Body,
    fault: Option<String>,
}

impl Gateway {
    /// Opens the capture file; the error is a sentence.
    pub fn new(options: Options) -> Result<Arc<Self>, String> {
        let pcap = options.pcap.as_deref().map(open_capture).transpose()?;
        let state = State {
            pcap,
            reassembler: Reassembler::new(REASSEMBLY_TIMEOUT_US),
            seq: [0; 256],
            known: [None; 256],
            dice: options.drop_seed,
            counts: Counts::default(),
            waiting: 0,
            unanswered: 0,
            ears: waking::Ears::default(),
        };
        Ok(Arc::new(Self { options, state: Mutex::new(state), news: Notify::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves radios for ever.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> Infallible {
        let seats = Arc::new(Seats::new(MAX_CONNECTIONS, true));
        let gateway = Arc::clone(&self);
        tokio::spawn(async move { gateway.wait_for_news().await });
        loop {
            let (stream, peer) = accept(&listener).await;
            let seat = seats.take().await;
            let (gateway, seats) = (Arc::clone(&self), Arc::clone(&seats));
            tokio::spawn(async move {
                let ended = tokio::select! {
                    ended = gateway.radio(stream, &seat) => ended,
                    () = seat.asked_to_leave() => Err(format!(
                        "{MAX_CONNECTIONS} radios are connected and this one was silent for longest; the connection is closed"
                    )),
                };
                if let Err(why) = ended {
                    log::warn("radio", json!({"peer": peer.to_string(), "why": why}));
                }
                seats.leave(&seat);
            });
        }
    }

    /// One radio until it hangs up or talks nonsense.
    async fn radio(&self, mut stream: TcpStream, seat: &Seat) -> Result<(), String> {
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        let mut buffer = [0; MAX_UP_BYTES];
        let mut told_us = 0;
        let mut spoken = false;
        loop {
            let mut first = [0; 1];
            // One that has spoken may be silent for days: its nodes sleep.
            let said = if spoken {
                stream.read(&mut first).await
            } else {
                let word = timeout(FIRST_WORD_TIMEOUT, stream.read(&mut first)).await;
                word.map_err(|_| {
                    let waited = FIRST_WORD_TIMEOUT.as_secs();
                    format!("it has said nothing for {waited} s; the connection is closed")
                })?
            };
            if said.map_err(|e| e.to_string())? == 0 {
                return Ok(());
            }
            let whole = timeout(MESSAGE_TIMEOUT, read_message(&mut stream, first[0], &mut buffer));
            let message = whole.await.map_err(|_| {
                let waited = MESSAGE_TIMEOUT.as_secs();
                format!(
                    "an up message did not come whole within {waited} s; the connection is closed"
                )
            })??;
            let _answering = seat.answer();
            spoken = true;
            let closed = |e| format!("{e}; the connection is closed");
            let answer = if message.first() == Some(&LISTEN) {
                let listen = Listen::decode(message).map_err(closed)?;
                let train = self.train(&listen, told_us).await;
                told_us = listen.from_us.saturating_add(listen.span_us.into());
                Train::encode(train.as_ref()).to_vec()
            } else {
                self.exchange(&Up::decode(message).map_err(closed)?).await.encode().to_vec()
            };
            let written = timeout(MESSAGE_TIMEOUT, stream.write_all(&answer)).await;
            written
                .map_err(|_| "it reads no answers; the connection is closed".to_owned())?
                .map_err(|e| e.to_string())?;
        }
    }

    /// From a packet heard to the frames sent in answer.
    pub async fn exchange(&self, up: &Up<'_>) -> Down {
        let Some(upload) = self.hear(up) else { return Down::default() };
        let part = match upload.kind {
            Kind::Hello => "hello",
            Kind::Response => "responses",
            Kind::Report => "reports",
            _ => "enrol",
        };
        let path = format!("/v1/nodes/{}/{part}", upload.node_id);
        let mut body = json!({
            "body": hex::encode(&upload.body),
            "rssi_dbm": up.rssi_dbm,
            "lqi": up.lqi,
        });
        if let Some(fault) = &upload.fault {
            body["fault"] = fault.clone().into();
        }
        let server = &self.options.server;
        {
            let mut state = self.state();
            server.tell_backlog(state.waiting.saturating_add(state.unanswered as u32));
            state.waiting += 1;
        }
        let answer = server.request(Method::POST, &path, Some(up.time_us), Some(&body)).await;
        self.state().waiting -= 1;
        let message = match answer {
            Ok((status, answer)) => answer_of(&upload, &answer)
                .ok_or_else(|| format!("{path}: status {status}, no answer for the air: {answer}")),
            Err(why) => Err(why),
        };
        match message {
            Ok(message) => {
                let missed = std::mem::take(&mut self.state().unanswered);
                if missed > 0 {
                    log::info("server-back", json!({"time_us": up.time_us, "unanswered": missed}));
                }
                let refused =
                    matches!(message, Message::Verdict(v) if v.verdict != VerdictCode::Accepted);
                self.listens(up.time_us, &upload, refused).await;
                self.send(up.time_us, upload.src, &message)
            }
            Err(why) => {
                self.state().server_failed(why, Some(up.time_us));
                Down::default()
            }
        }
    }

    /// Takes a packet apart; `Some` if that calls for the server.
    fn hear(&self, up: &Up<'_>) -> Option<Upload> {
        let mut state = self.state();
        if state.loses(self.options.drop_rate) {
            return None;
        }
        if state.ears.sends_at(up.time_us) {
            state.counts.lost += 1;
            return None;
        }
        state.counts.heard += 1;
        state.capture(pcap::record(
            up.time_us,
            Direction::Heard,
            up.rssi_dbm,
            up.lqi,
            up.crc_ok,
            up.packet,
        ));
        if !up.crc_ok {
            state.counts.crc_failed += 1;
            return None;
        }
        let upload = match Frame::parse_packet(up.packet) {
            Ok(frame) if frame.dst != GATEWAY || !from_node(frame.kind) => return None,
            Ok(frame) => match state.reassembler.push(up.time_us, &frame) {
                Ok(Progress::Complete(whole)) => Some(Upload {
                    src: whole.src,
                    kind: whole.kind,
                    node_id: node_id_of(&whole.body).or(state.known[usize::from(whole.src)])?,
                    body: whole.body,
                    fault: None,
                }),
                Ok(Progress::Partial { .. } | Progress::Duplicate) => return None,
                Err(e) => state.broken(up.packet, &e.to_string()),
            },
            Err(e) => state.broken(up.packet, &e.to_string()),
        }?;
        if upload.fault.is_none() {
            state.known[usize::from(upload.src)] = Some(upload.node_id);
        }
        state.counts.forwarded += 1;
        if !self.options.quiet {
            let fields = json!({
                "time_us": up.time_us, "node_id": upload.node_id.to_string(),
                "kind": upload.kind.name(), "rssi_dbm": up.rssi_dbm, "fault": upload.fault,
            });
            log::info("heard", fields);
        }
        Some(upload)
    }

    /// The frames of a message, one turnaround apart, into the capture and to the radio.
    fn send(&self, time_us: u64, dst: u8, message: &Message) -> Down {
        let mut state = self.state();
        let seq = state.seq[usize::from(dst)];
        state.seq[usize::from(dst)] = seq.wrapping_add(1);
        let mut down = Down::default();
        let mut delay_us = self.options.turnaround_us;
        for frame in fragments(dst, GATEWAY, seq, message.kind(), &message.encode()) {
            let mut packet = vec![frame.len() as u8];
            packet.extend_from_slice(&frame);
            let at_us = time_us.saturating_add(u64::from(delay_us));
            state.capture(pcap::record(at_us, Direction::Sent, 0, 0, true, &packet));
            state.counts.sent += 1;
            if !state.loses(self.options.drop_rate) {
                // The gateway's messages are one frame each, so there is room.
                let _ = down.push(DownFrame { delay_us, frame });
            }
            let next_us = airtime_us(frame.len()).saturating_add(self.options.turnaround_us);
            delay_us = delay_us.saturating_add(next_us);
        }
        down
    }

    /// Ends the connection, the reason told to the other side.
    pub fn close(&self) {
        let c = self.state().counts;
        let fields = json!({
            "heard": c.heard, "sent": c.sent, "lost": c.lost, "crc_failed": c.crc_failed,
            "refused": c.refused, "forwarded": c.forwarded, "server_failed": c.server_failed,
            "trains": c.trains,
        });
        log::info("gateway-ends", fields);
    }
}

/// Rest of an up message, after the first byte of its length.
async fn read_message<'a>(
    stream: &mut TcpStream,
    first: u8,
    buffer: &'a mut [u8; MAX_UP_BYTES],
) -> Result<&'a [u8], String> {
    let mut second = [0; 1];
    let cut = |e| format!("the connection ended within the length of an up message ({e})");
    stream.read_exact(&mut second).await.map_err(cut)?;
    let len = usize::from(u16::from_be_bytes([first, second[0]]));
    let message = buffer.get_mut(..len).ok_or_else(|| {
        format!("an up message of {len} bytes was announced; at most {MAX_UP_BYTES} are taken; the connection is closed")
    })?;
    let cut = |e| format!("the connection ended within an up message of {len} bytes ({e})");
    stream.read_exact(message).await.map_err(cut)?;
    Ok(message)
}

impl State {
    /// A frame that breaks the rules: the server hears of it if it can be said whose it was.
    fn broken(&mut self, packet: &[u8], fault: &str) -> Option<Upload> {
        self.counts.refused += 1;
        log::warn("frame", json!({"why": fault, "packet": hex::encode(packet)}));
        let (_, frame) = packet.split_first()?;
        let (header, fragment) = frame.split_at_checked(HEADER_BYTES)?;
        let (dst, src, frag) = (header[0], header[1], header[4]);
        let kind = Kind::from_code(header[2]).filter(|&kind| from_node(kind))?;
        if dst != GATEWAY {
            return None;
        }
        let first = frag >> 4 == 0;
        let named = node_id_of(fragment).filter(|_| first);
        let node_id = named.or(self.known[usize::from(src)])?;
        let kept = if first { &fragment[..fragment.len().min(56)] } else { &[] };
        let body = Body::copy_of(kept)?;
        Some(Upload { src, kind, node_id, body, fault: Some(fault.to_owned()) })
    }

    fn server_failed(&mut self, why: String, time_us: Option<u64>) {
        self.counts.server_failed += 1;
        self.unanswered += 1;
        // Once, not for each of a day's messages.
        if self.unanswered == 1 {
            let why = format!("{why}; nodes hear nothing until it answers again");
            log::warn("server", json!({"time_us": time_us, "why": why}));
        }
    }

    fn capture(&mut self, record: impl AsRef<[u8]>) {
        let Some(file) = &mut self.pcap else { return };
        // One write a record, so that an interrupted capture ends with a whole one.
        if let Err(e) = file.write_all(record.as_ref()) {
            log::warn("capture", json!({"why": format!("the capture ends here: {e}")}));
            self.pcap = None;
        }
    }

    /// Throws the dice for one packet (SplitMix64).
    fn loses(&mut self, rate: f64) -> bool {
        if rate <= 0.0 {
            return false;
        }
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.dice;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64;
        let lost = unit < rate;
        self.counts.lost += u64::from(lost);
        lost
    }
}

fn open_capture(path: &Path) -> Result<File, String> {
    let told = |e: std::io::Error| {
        format!(
            "the capture `{}` cannot be written ({e}): name a file in a folder that can be written, with --pcap",
            path.display()
        )
    };
    let mut file = File::create(path).map_err(told)?;
    file.write_all(&pcap::file_header()).map_err(told)?;
    Ok(file)
}

const fn from_node(kind: Kind) -> bool {
    matches!(kind, Kind::Hello | Kind::Response | Kind::Report | Kind::Enrol)
}

fn node_id_of(body: &[u8]) -> Option<NodeId> {
    body.first_chunk().copied().map(NodeId)
}

/// The server's JSON as a message for the air.
fn answer_of(upload: &Upload, answer: &Value) -> Option<Message> {
    let node_id = upload.node_id;
    if let Some(code) = answer.get("verdict") {
        let verdict = VerdictCode::from_code(u8::try_from(code.as_u64()?).ok()?)?;
        let reference = u32::try_from(answer["reference"].as_u64()?).ok()?;
        return Some(Message::Verdict(Verdict { node_id, reference, verdict }));
    }
    let challenge = answer.get("challenge")?;
    if challenge.is_null() {
        return Some(Message::Idle(Idle { node_id }));
    }
    let challenge_id = u32::try_from(challenge["challenge_id"].as_u64()?).ok()?;
    let nonce = hex::decode(challenge["nonce"].as_str()?).ok()?.try_into().ok()?;
    Some(Message::Challenge(Challenge { node_id, challenge_id, nonce }))
}
