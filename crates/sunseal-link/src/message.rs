// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bodies that frames carry, and the verdicts.

use core::fmt;

use crate::bytes::{InlineBytes, hex};
use crate::error::LinkError;
use crate::frame::Kind;
use crate::suite::Suite;

/// Bytes of the longest body: ENROL with a P-256 key.
pub const MAX_BODY_BYTES: usize = 137;
/// Bytes of the longest public key or signature.
pub const MAX_KEY_BYTES: usize = 64;
/// Bytes of data in a REPORT.
pub const MAX_DATA_BYTES: usize = 16;

/// Body of a message, up to the longest.
pub type Body = InlineBytes<MAX_BODY_BYTES>;
/// A signature, `r || s`, or a public key, `x || y`.
pub type KeyBytes = InlineBytes<MAX_KEY_BYTES>;

/// Who a node is, for life; printed as sixteen hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub [u8; 8]);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

codes! {
    /// Why a node says HELLO.
    Reason {
        /// It has just started.
        Boot = 0 "boot",
        /// Its store holds enough for a signature.
        Ready = 1 "ready",
        /// Its store runs low; it will be silent.
        Low = 2 "low",
    }
}

codes! {
    /// What the server thinks of a message.
    VerdictCode {
        /// Signature, counter and challenge are in order.
        Accepted = 0 "accepted",
        /// No node has this identifier.
        UnknownNode = 1 "unknown-node",
        /// The signature is not the enrolled key's over these bytes.
        BadSignature = 2 "bad-signature",
        /// The counter is not above the last accepted one.
        ReplayedCounter = 3 "replayed-counter",
        /// The challenge was never handed to this node, is used up or has expired.
        StaleChallenge = 4 "stale-challenge",
        /// `r` or `s` is not in 1 .. n-1.
        ScalarOutOfRange = 5 "scalar-out-of-range",
        /// The public key is not a point of the curve.
        KeyOffCurve = 6 "key-off-curve",
        /// The body is truncated, too long or otherwise not what its kind is.
        Malformed = 7 "malformed",
        /// The suite is unknown or not the one the node enrolled with.
        WrongSuite = 8 "wrong-suite",
        /// The node may not enrol: the operator has not opened it, or it already is.
        NotOpen = 9 "not-open",
    }
}

/// Set beside the reason of a HELLO that says how often the node listens.
const LISTENS: u8 = 0x80;

/// Kind 1, node to gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub node_id: NodeId,
    /// The last counter the node has burnt.
    pub counter: u32,
    /// Storage voltage in millivolts, as the node measured it.
    pub vcap_mv: u16,
    pub reason: Reason,
    /// From one look at the air to the next, until the node's next HELLO; 0: it hears nothing.
    pub listen_ms: u16,
}

/// Kind 2, gateway to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub node_id: NodeId,
    /// The server's number of the challenge.
    pub challenge_id: u32,
    /// Sixteen bytes nobody could foretell.
    pub nonce: [u8; 16],
}

/// Kind 3, node to gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    pub node_id: NodeId,
    pub challenge_id: u32,
    /// Burnt for this signature.
    pub counter: u32,
    pub suite: Suite,
    /// `r || s` over [`crate::signed::auth`].
    pub signature: KeyBytes,
}

/// Kind 4, node to gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    pub node_id: NodeId,
    /// Burnt for this signature.
    pub counter: u32,
    pub suite: Suite,
    /// What the node measured.
    pub data: InlineBytes<MAX_DATA_BYTES>,
    /// `r || s` over [`crate::signed::report`].
    pub signature: KeyBytes,
}

/// Kind 5, gateway to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub node_id: NodeId,
    /// The counter of the message judged; 0 for an ENROL or a body too short to have one.
    pub reference: u32,
    pub verdict: VerdictCode,
}

/// Kind 6, gateway to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    pub node_id: NodeId,
}

/// Kind 7, node to gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enrol {
    pub node_id: NodeId,
    pub suite: Suite,
    pub public_key: KeyBytes,
    /// `r || s` over [`crate::signed::enrol`]: the node holds the key's other half.
    pub signature: KeyBytes,
}

/// Kind 8, gateway to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The challenge it brings.
    pub challenge: Challenge,
    /// From the end of this frame until the gateway listens again.
    pub left_ms: u16,
}

/// Message of any kind, with its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    Hello(Hello),
    Challenge(Challenge),
    Response(Response),
    Report(Report),
    Verdict(Verdict),
    Idle(Idle),
    Enrol(Enrol),
    Wake(Wake),
}

impl Message {
    /// Which body this is.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Hello(_) => Kind::Hello,
            Self::Challenge(_) => Kind::Challenge,
            Self::Response(_) => Kind::Response,
            Self::Report(_) => Kind::Report,
            Self::Verdict(_) => Kind::Verdict,
            Self::Idle(_) => Kind::Idle,
            Self::Enrol(_) => Kind::Enrol,
            Self::Wake(_) => Kind::Wake,
        }
    }

    /// Whose message it is, or whom it is for.
    pub const fn node_id(&self) -> NodeId {
        match self {
            Self::Hello(m) => m.node_id,
            Self::Challenge(m) => m.node_id,
            Self::Response(m) => m.node_id,
            Self::Report(m) => m.node_id,
            Self::Verdict(m) => m.node_id,
            Self::Idle(m) => m.node_id,
            Self::Enrol(m) => m.node_id,
            Self::Wake(m) => m.challenge.node_id,
        }
    }

    /// The body as bytes.
    pub fn encode(&self) -> Body {
        let mut out = Body::new();
        out.put(&self.node_id().0);
        match self {
            Self::Hello(m) => {
                out.put(&m.counter.to_be_bytes());
                out.put(&m.vcap_mv.to_be_bytes());
                if m.listen_ms == 0 {
                    out.put(&[m.reason as u8]);
                } else {
                    out.put(&[m.reason as u8 | LISTENS]);
                    out.put(&m.listen_ms.to_be_bytes());
                }
            }
            Self::Challenge(m) => {
                out.put(&m.challenge_id.to_be_bytes());
                out.put(&m.nonce);
            }
            Self::Wake(m) => {
                out.put(&m.challenge.challenge_id.to_be_bytes());
                out.put(&m.challenge.nonce);
                out.put(&m.left_ms.to_be_bytes());
            }
            Self::Response(m) => {
                out.put(&m.challenge_id.to_be_bytes());
                out.put(&m.counter.to_be_bytes());
                out.put(&[m.suite.code()]);
                out.put(&m.signature);
            }
            Self::Report(m) => {
                out.put(&m.counter.to_be_bytes());
                out.put(&[m.suite.code(), m.data.len() as u8]);
                out.put(&m.data);
                out.put(&m.signature);
            }
            Self::Verdict(m) => {
                out.put(&m.reference.to_be_bytes());
                out.put(&[m.verdict.code()]);
            }
            Self::Idle(_) => {}
            Self::Enrol(m) => {
                out.put(&[m.suite.code()]);
                out.put(&m.public_key);
                out.put(&m.signature);
            }
        }
        out
    }

    /// Reads a body of `kind`: every byte is accounted for, or it is refused.
    pub fn decode(kind: Kind, body: &[u8]) -> Result<Self, LinkError> {
        let mut r = Reader { what: kind.name(), bytes: body, offset: 0 };
        let node_id = NodeId(r.array()?);
        let message = match kind {
            Kind::Hello => {
                let counter = r.u32()?;
                let vcap_mv = u16::from_be_bytes(r.array()?);
                let code = r.u8()?;
                let reason = Reason::from_code(code & !LISTENS).ok_or(LinkError::Value {
                    what: "reason",
                    offset: r.offset - 1,
                    value: code.into(),
                    wanted: "0 is boot, 1 ready, 2 low",
                })?;
                let listen_ms = if code & LISTENS == 0 { 0 } else { r.listen_ms(reason)? };
                Self::Hello(Hello { node_id, counter, vcap_mv, reason, listen_ms })
            }
            Kind::Challenge => {
                Self::Challenge(Challenge { node_id, challenge_id: r.u32()?, nonce: r.array()? })
            }
            Kind::Response => {
                let (challenge_id, counter) = (r.u32()?, r.u32()?);
                let suite = r.suite()?;
                let signature = r.rest_of(suite, "signature", suite.signature_bytes())?;
                Self::Response(Response { node_id, challenge_id, counter, suite, signature })
            }
            Kind::Report => {
                let counter = r.u32()?;
                let suite = r.suite()?;
                let len = r.u8()?;
                let wanted = "a report carries at most 16 bytes of data";
                let data_len = usize::from(len);
                if data_len > MAX_DATA_BYTES {
                    let (what, offset) = ("data length", r.offset - 1);
                    return Err(LinkError::Value { what, offset, value: len.into(), wanted });
                }
                let data = inline(r.take(data_len)?);
                let signature = r.rest_of(suite, "signature", suite.signature_bytes())?;
                Self::Report(Report { node_id, counter, suite, data, signature })
            }
            Kind::Verdict => {
                let reference = r.u32()?;
                let code = r.u8()?;
                let verdict = VerdictCode::from_code(code).ok_or(LinkError::Value {
                    what: "verdict",
                    offset: r.offset - 1,
                    value: code.into(),
                    wanted: "verdicts are 0 to 9",
                })?;
                Self::Verdict(Verdict { node_id, reference, verdict })
            }
            Kind::Idle => Self::Idle(Idle { node_id }),
            Kind::Wake => {
                let (challenge_id, nonce) = (r.u32()?, r.array()?);
                let challenge = Challenge { node_id, challenge_id, nonce };
                Self::Wake(Wake { challenge, left_ms: u16::from_be_bytes(r.array()?) })
            }
            Kind::Enrol => {
                let suite = r.suite()?;
                let (key_len, sig_len) = (suite.public_key_bytes(), suite.signature_bytes());
                let both: Body = r.rest_of(suite, "public key and signature", key_len + sig_len)?;
                let (public_key, signature) = both.split_at(key_len);
                Self::Enrol(Enrol {
                    node_id,
                    suite,
                    public_key: inline(public_key),
                    signature: inline(signature),
                })
            }
        };
        r.end()?;
        Ok(message)
    }
}

/// Bytes whose length has been checked against the capacity.
fn inline<const N: usize>(bytes: &[u8]) -> InlineBytes<N> {
    let mut out = InlineBytes::new();
    out.put(bytes);
    out
}

/// Reads forward and knows where it stands.
struct Reader<'a> {
    what: &'static str,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], LinkError> {
        let wanted = self.offset + count;
        let taken = self.bytes.get(self.offset..wanted).ok_or(LinkError::Short {
            what: self.what,
            offset: self.bytes.len(),
            wanted,
        })?;
        self.offset = wanted;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LinkError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn u8(&mut self) -> Result<u8, LinkError> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Result<u32, LinkError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// One way to say each thing: a node that does not listen says nothing of it.
    fn listen_ms(&mut self, reason: Reason) -> Result<u16, LinkError> {
        let listen_ms = u16::from_be_bytes(self.array()?);
        let offset = self.offset - 2;
        let bad = |what, value: u64, wanted| Err(LinkError::Value { what, offset, value, wanted });
        match (reason, listen_ms) {
            (_, 0) => bad("listening interval", 0, "a node that does not listen leaves it out"),
            (Reason::Low, _) => bad(
                "listening interval",
                listen_ms.into(),
                "a node whose store is low listens to nothing",
            ),
            _ => Ok(listen_ms),
        }
    }

    fn suite(&mut self) -> Result<Suite, LinkError> {
        let code = self.u8()?;
        Suite::from_code(code).ok_or(LinkError::Suite { offset: self.offset - 1, code })
    }

    fn rest_of<const N: usize>(
        &mut self,
        suite: Suite,
        what: &'static str,
        wanted: usize,
    ) -> Result<InlineBytes<N>, LinkError> {
        let (offset, found) = (self.offset, self.bytes.len() - self.offset);
        if found != wanted {
            return Err(LinkError::SuiteSize { what, suite, offset, wanted, found });
        }
        Ok(inline(self.take(wanted)?))
    }

    fn end(&self) -> Result<(), LinkError> {
        match self.bytes.len() - self.offset {
            0 => Ok(()),
            extra => Err(LinkError::Long { what: self.what, offset: self.offset, extra }),
        }
    }
}
