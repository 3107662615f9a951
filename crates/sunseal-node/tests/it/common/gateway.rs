// SPDX-License-Identifier: MIT OR Apache-2.0
//! The node's own program, and a gateway in this process that verifies what it signs.

use std::path::{Path, PathBuf};

use sunseal_link::message::KeyBytes;
use sunseal_link::{
    Challenge, Frame, GATEWAY, Idle, Message, NodeId, Progress, Reason, Reassembler, Suite,
    Verdict, VerdictCode, fragments, signed,
};
use sunseal_node::{Answer, Sent};
use sunseal_verify::verify;

/// The program, built by the firmware's Makefile.
pub fn firmware(curve: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../firmware/build/msp430f5438a-anagear/mpy-32")
        .join(format!("node-{curve}.elf"));
    assert!(path.exists(), "{} is not there; `make firmware` builds it", path.display());
    path
}

/// Other side of the air: what it heard, and what it thinks of it.
pub struct Gateway {
    reassembler: Reassembler,
    seq: u8,
    key: Option<(Suite, KeyBytes)>,
    challenge: Option<Challenge>,
    pub challenges: u32,
    pub counter: u32,
    /// Asks at every so many HELLOs; 0: never.
    asks_every: u32,
    hellos: u32,
    pub heard: Vec<(u64, Message, Option<VerdictCode>)>,
}

impl Gateway {
    pub fn new(asks_every: u32) -> Self {
        Self {
            reassembler: Reassembler::new(1_000_000),
            seq: 0,
            key: None,
            challenge: None,
            challenges: 0,
            counter: 0,
            asks_every,
            hellos: 0,
            heard: Vec::new(),
        }
    }

    fn signed(
        &mut self,
        counter: u32,
        suite: Suite,
        bytes: &[u8],
        signature: &[u8],
    ) -> VerdictCode {
        let Some((enrolled, key)) = &self.key else { return VerdictCode::UnknownNode };
        if *enrolled != suite {
            return VerdictCode::WrongSuite;
        }
        if counter <= self.counter {
            return VerdictCode::ReplayedCounter;
        }
        if verify(suite, key, bytes, signature).is_err() {
            return VerdictCode::BadSignature;
        }
        self.counter = counter;
        VerdictCode::Accepted
    }

    fn judge(&mut self, message: &Message) -> (Message, Option<VerdictCode>) {
        let said = |node_id: NodeId, reference: u32, verdict: VerdictCode| {
            (Message::Verdict(Verdict { node_id, reference, verdict }), Some(verdict))
        };
        match message {
            Message::Enrol(m) => {
                let bytes = signed::enrol(m.node_id, m.suite, &m.public_key).unwrap();
                let good = verify(m.suite, &m.public_key, &bytes, &m.signature).is_ok();
                self.key = good.then_some((m.suite, m.public_key));
                said(
                    m.node_id,
                    0,
                    if good { VerdictCode::Accepted } else { VerdictCode::BadSignature },
                )
            }
            Message::Hello(m) => {
                if self.key.is_none() {
                    return said(m.node_id, 0, VerdictCode::UnknownNode);
                }
                self.hellos += 1;
                if m.reason == Reason::Low || !self.hellos.is_multiple_of(self.asks_every) {
                    return (Message::Idle(Idle { node_id: m.node_id }), None);
                }
                self.challenges += 1;
                let nonce = [self.challenges as u8; 16];
                let challenge =
                    Challenge { node_id: m.node_id, challenge_id: self.challenges, nonce };
                self.challenge = Some(challenge);
                (Message::Challenge(challenge), None)
            }
            Message::Response(m) => {
                let Some(c) = self.challenge.take().filter(|c| c.challenge_id == m.challenge_id)
                else {
                    return said(m.node_id, m.counter, VerdictCode::StaleChallenge);
                };
                let bytes = signed::auth(m.node_id, c.challenge_id, &c.nonce, m.counter);
                let verdict = self.signed(m.counter, m.suite, &bytes, &m.signature);
                said(m.node_id, m.counter, verdict)
            }
            Message::Report(m) => {
                let bytes = signed::report(m.node_id, m.counter, &m.data);
                let verdict = self.signed(m.counter, m.suite, &bytes, &m.signature);
                said(m.node_id, m.counter, verdict)
            }
            other => panic!("a node does not send {other:?}"),
        }
    }

    /// Takes a packet; the answer to what it completed.
    pub fn hear(&mut self, sent: &Sent) -> Vec<Answer> {
        if !sent.crc_ok {
            return Vec::new();
        }
        let frame = Frame::parse_packet(&sent.packet).expect("the node sends sound frames");
        let Ok(Progress::Complete(whole)) = self.reassembler.push(sent.time_us, &frame) else {
            return Vec::new();
        };
        let message =
            Message::decode(whole.kind, &whole.body).expect("the node sends sound messages");
        let (answer, verdict) = self.judge(&message);
        self.heard.push((sent.time_us, message, verdict));
        self.seq = self.seq.wrapping_add(1);
        fragments(whole.src, GATEWAY, self.seq, answer.kind(), &answer.encode())
            .map(|frame| Answer { delay_us: 2000, frame: frame.to_vec(), crc_ok: true })
            .collect()
    }
}
