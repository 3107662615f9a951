// SPDX-License-Identifier: MIT OR Apache-2.0
//! One radio packet: five header bytes and a piece of a body.
//!
//! ```text
//! 0 dst   1 src   2 kind   3 seq   4 index<<4 | (count-1)   5.. at most 56 bytes
//! ```
//!
//! On the radio a length byte stands in front and the CC2500 appends its CRC: 61 bytes of frame,
//! one length byte and two status bytes fill the 64 bytes of its receive FIFO.

use core::fmt;

use crate::bytes::InlineBytes;
use crate::error::LinkError;
use crate::message::Body;

/// The address that everyone hears.
pub const BROADCAST: u8 = 0x00;
/// The address of the gateway.
pub const GATEWAY: u8 = 0x01;
/// Bytes before the fragment.
pub const HEADER_BYTES: usize = 5;
/// Bytes of the longest frame: the CC2500's FIFO of 64, less length byte and two status bytes.
pub const MAX_FRAME_BYTES: usize = 61;
/// Bytes of a full fragment.
pub const MAX_FRAGMENT_BYTES: usize = MAX_FRAME_BYTES - HEADER_BYTES;

/// A frame without its length byte.
pub type FrameBytes = InlineBytes<MAX_FRAME_BYTES>;

codes! {
    /// What a frame is a piece of.
    Kind {
        /// The node shows itself.
        Hello = 1 "HELLO",
        /// The server asks the node to prove itself.
        Challenge = 2 "CHALLENGE",
        /// The node answers a challenge.
        Response = 3 "RESPONSE",
        /// The node sends signed data of its own accord.
        Report = 4 "REPORT",
        /// The server says what it thinks of a message.
        Verdict = 5 "VERDICT",
        /// Nothing is queued for the node.
        Idle = 6 "IDLE",
        /// The node shows its public key.
        Enrol = 7 "ENROL",
        /// The server asks a node that listens, over and over until it must have heard.
        Wake = 8 "WAKE",
    }
}

impl Kind {
    /// Bytes of the longest body of this kind.
    pub const fn max_body_bytes(self) -> usize {
        match self {
            Self::Hello => 17,
            Self::Challenge => 28,
            Self::Response => 81,
            Self::Report => 94,
            Self::Verdict => 13,
            Self::Idle => 8,
            Self::Enrol => 137,
            Self::Wake => 30,
        }
    }

    /// Frames that the longest body of this kind takes.
    pub const fn max_fragments(self) -> u8 {
        self.max_body_bytes().div_ceil(MAX_FRAGMENT_BYTES) as u8
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A frame, its header checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Short address of the receiver.
    pub dst: u8,
    /// Short address of the sender.
    pub src: u8,
    /// What the body is.
    pub kind: Kind,
    /// The sender's message number, modulo 256; the same in every fragment of a message.
    pub seq: u8,
    /// Which fragment, from 0.
    pub index: u8,
    /// How many fragments, 1 to 16.
    pub count: u8,
    /// The piece of the body.
    pub fragment: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a radio packet: a length byte, then the frame.
    pub fn parse_packet(packet: &'a [u8]) -> Result<Self, LinkError> {
        let (&said, frame) = packet.split_first().ok_or(LinkError::Short {
            what: "packet",
            offset: 0,
            wanted: 1,
        })?;
        if usize::from(said) != frame.len() {
            return Err(LinkError::Length { said, found: frame.len() });
        }
        Self::parse(frame)
    }

    /// Reads a frame without its length byte.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, LinkError> {
        let Some((&[dst, src, kind, seq, frag], fragment)) = bytes.split_first_chunk() else {
            return Err(LinkError::Short {
                what: "frame",
                offset: bytes.len(),
                wanted: HEADER_BYTES + 1,
            });
        };
        if bytes.len() > MAX_FRAME_BYTES {
            return Err(LinkError::Long {
                what: "frame",
                offset: MAX_FRAME_BYTES,
                extra: bytes.len() - MAX_FRAME_BYTES,
            });
        }
        let kind = Kind::from_code(kind).ok_or(LinkError::Kind(kind))?;
        let (index, count) = (frag >> 4, (frag & 0x0f) + 1);
        let most = kind.max_fragments();
        if index >= count || count > most {
            return Err(LinkError::Fragment { index, count, kind, most });
        }
        let last = index + 1 == count;
        let found = fragment.len();
        if found == 0 || (!last && found != MAX_FRAGMENT_BYTES) {
            return Err(LinkError::FragmentSize { index, count, found });
        }
        Ok(Self { dst, src, kind, seq, index, count, fragment })
    }

    /// The frame as bytes, without the length byte. `None` if the fragment is longer than 56
    /// bytes or index and count do not fit their nibbles.
    pub fn to_bytes(&self) -> Option<FrameBytes> {
        if self.index >= self.count || self.count > 16 {
            return None;
        }
        let mut out = FrameBytes::new();
        let frag = self.index << 4 | (self.count - 1);
        out.put(&[self.dst, self.src, self.kind.code(), self.seq, frag]);
        out.append(self.fragment).then_some(out)
    }
}

/// Cuts a body into frames.
pub fn fragments(dst: u8, src: u8, seq: u8, kind: Kind, body: &Body) -> Fragments {
    let count = body.len().div_ceil(MAX_FRAGMENT_BYTES).max(1) as u8;
    Fragments { dst, src, seq, kind, body: *body, index: 0, count }
}

/// The frames of one body, first to last.
#[derive(Clone, Debug)]
pub struct Fragments {
    dst: u8,
    src: u8,
    seq: u8,
    kind: Kind,
    body: Body,
    index: u8,
    count: u8,
}

impl Iterator for Fragments {
    type Item = FrameBytes;

    fn next(&mut self) -> Option<FrameBytes> {
        if self.index == self.count {
            return None;
        }
        let from = usize::from(self.index) * MAX_FRAGMENT_BYTES;
        let to = self.body.len().min(from + MAX_FRAGMENT_BYTES);
        let frame = Frame {
            dst: self.dst,
            src: self.src,
            kind: self.kind,
            seq: self.seq,
            index: self.index,
            count: self.count,
            fragment: &self.body[from..to],
        };
        self.index += 1;
        frame.to_bytes()
    }
}
