// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames put together again, in memory fixed at compile time.
//!
//! One place per sender: a sender's newer message displaces its unfinished older one, and when
//! all places are taken the one untouched longest gives way. So a flood of half messages costs
//! the flooded their half messages, never memory.

use crate::error::LinkError;
use crate::frame::{Frame, Kind, MAX_FRAGMENT_BYTES};
use crate::message::{Body, MAX_BODY_BYTES};

/// Room for whole fragments, since a third fragment may claim more than a body can have.
const ROOM_BYTES: usize = MAX_BODY_BYTES.div_ceil(MAX_FRAGMENT_BYTES) * MAX_FRAGMENT_BYTES;

/// A whole body and where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Short address of the receiver.
    pub dst: u8,
    /// Short address of the sender.
    pub src: u8,
    /// What the body is.
    pub kind: Kind,
    /// The sender's message number.
    pub seq: u8,
    pub body: Body,
}

/// What a frame did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It completed a message.
    Complete(Assembled),
    /// More fragments are wanted.
    Partial {
        /// Number of the message's fragments that have come so far.
        have: u8,
        count: u8,
    },
    /// This fragment was already here, with the same bytes.
    Duplicate,
}

#[derive(Clone, Copy)]
struct Place {
    dst: u8,
    src: u8,
    kind: Kind,
    seq: u8,
    count: u8,
    have: u16,
    last_len: usize,
    touched_us: u64,
    bytes: [u8; ROOM_BYTES],
}

/// Holds the unfinished messages of up to `PLACES` senders.
pub struct Reassembler<const PLACES: usize = 16> {
    places: [Option<Place>; PLACES],
    timeout_us: u64,
}

impl<const PLACES: usize> Reassembler<PLACES> {
    /// An unfinished message is forgotten when no fragment of it came for `timeout_us`.
    pub const fn new(timeout_us: u64) -> Self {
        assert!(PLACES > 0, "a reassembler needs a place");
        Self { places: [None; PLACES], timeout_us }
    }

    /// How many messages are unfinished.
    pub fn unfinished(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Takes one frame at `now_us`. A [`LinkError::Conflict`] throws the unfinished message away.
    pub fn push(&mut self, now_us: u64, frame: &Frame<'_>) -> Result<Progress, LinkError> {
        let timeout_us = self.timeout_us;
        for place in &mut self.places {
            place.take_if(|p| now_us.saturating_sub(p.touched_us) > timeout_us);
        }
        let at = self.place_for(frame);
        let fresh = Place {
            dst: frame.dst,
            src: frame.src,
            kind: frame.kind,
            seq: frame.seq,
            count: frame.count,
            have: 0,
            last_len: 0,
            touched_us: now_us,
            bytes: [0; ROOM_BYTES],
        };
        let same = |p: &Place| {
            (p.dst, p.src, p.kind, p.seq, p.count)
                == (frame.dst, frame.src, frame.kind, frame.seq, frame.count)
        };
        self.places[at].take_if(|p| !same(p));
        let place = self.places[at].get_or_insert(fresh);

        let from = usize::from(frame.index) * MAX_FRAGMENT_BYTES;
        let room = place.bytes.get_mut(from..from + frame.fragment.len());
        let Some(room) = room else {
            // A hand-made frame beyond what Frame::parse lets through.
            self.places[at] = None;
            let most = frame.kind.max_fragments();
            let (index, count, kind) = (frame.index, frame.count, frame.kind);
            return Err(LinkError::Fragment { index, count, kind, most });
        };
        let last = frame.index + 1 == frame.count;
        if place.have & 1 << frame.index != 0 {
            let same_bytes =
                room == frame.fragment && (!last || place.last_len == frame.fragment.len());
            if same_bytes {
                return Ok(Progress::Duplicate);
            }
            self.places[at] = None;
            return Err(LinkError::Conflict { src: frame.src, seq: frame.seq, index: frame.index });
        }
        room.copy_from_slice(frame.fragment);
        place.have |= 1 << frame.index;
        place.touched_us = now_us;
        if last {
            place.last_len = frame.fragment.len();
        }
        let have = place.have.count_ones() as u8;
        if have < frame.count {
            return Ok(Progress::Partial { have, count: frame.count });
        }
        let len = (usize::from(frame.count) - 1) * MAX_FRAGMENT_BYTES + place.last_len;
        let body = Body::copy_of(&place.bytes[..len]).ok_or_else(|| LinkError::Long {
            what: frame.kind.name(),
            offset: MAX_BODY_BYTES,
            extra: len - MAX_BODY_BYTES,
        });
        self.places[at] = None;
        let body = body?;
        let (dst, src, kind, seq) = (frame.dst, frame.src, frame.kind, frame.seq);
        Ok(Progress::Complete(Assembled { dst, src, kind, seq, body }))
    }

    /// The sender's own place, else an empty one, else the one untouched longest.
    fn place_for(&self, frame: &Frame<'_>) -> usize {
        let own = |p: &Option<Place>| p.is_some_and(|p| p.src == frame.src);
        let oldest = || {
            let touched = |p: &Option<Place>| p.map_or(0, |p| p.touched_us);
            (0..PLACES).min_by_key(|&i| touched(&self.places[i])).unwrap_or(0)
        };
        self.places
            .iter()
            .position(own)
            .or_else(|| self.places.iter().position(Option::is_none))
            .unwrap_or_else(oldest)
    }
}
