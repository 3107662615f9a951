// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the radio (a simulation, or a serial dongle) and the gateway say to each other.
//!
//! Each message is preceded by its length, u16 big-endian. For every packet that the gateway's
//! antenna hears there is exactly one answer, so that simulated time can wait for it:
//!
//! ```text
//! up    0x01  time_us u64  rssi_dbm i8  lqi u8  packet (length byte, frame)  crc_ok u8
//! down  0x81  n u8  n x ( delay_us u32  len u8  frame )
//! ```
//!
//! `time_us` is the end of the packet on the air; `delay_us` counts from there to the start of
//! the gateway's transmission.
//!
//! A radio that is about to listen asks what the gateway has on the air meanwhile:
//!
//! ```text
//! up    0x02  from_us u64  span_us u32
//! down  0x82  n u8  n x ( start_us u64  period_us u32  count u32  len u8  frame )
//! ```

use crate::bytes::InlineBytes;
use crate::error::LinkError;
use crate::frame::{FrameBytes, Kind, MAX_FRAME_BYTES};

/// Opens an up message.
pub const UP: u8 = 0x01;
/// Opens a down message.
pub const DOWN: u8 = 0x81;
/// Opens an up message of a radio that is about to listen.
pub const LISTEN: u8 = 0x02;
/// Opens the answer to it.
pub const TRAIN: u8 = 0x82;
/// Bytes of an up message around its packet.
const UP_FIXED_BYTES: usize = 12;
/// Bytes of the longest packet that an up message carries: all that a length byte can announce.
pub const MAX_PACKET_BYTES: usize = 256;
/// Frames in a down message at most: more than the longest body takes.
pub const MAX_DOWN_FRAMES: usize = 4;
/// Bytes of the longest up message, without its length.
pub const MAX_UP_BYTES: usize = UP_FIXED_BYTES + MAX_PACKET_BYTES;
/// Bytes of the longest down message, without its length.
pub const MAX_DOWN_BYTES: usize = 2 + MAX_DOWN_FRAMES * (5 + MAX_FRAME_BYTES);

/// A packet that the gateway's antenna heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Up<'a> {
    /// Machine time at the end of the packet.
    pub time_us: u64,
    pub rssi_dbm: i8,
    /// Link quality, 0 to 127, lower is better (CC2500, 17.10.4).
    pub lqi: u8,
    /// Length byte and frame, as they came.
    pub packet: &'a [u8],
    /// The radio's CRC held.
    pub crc_ok: bool,
}

impl<'a> Up<'a> {
    /// The message with its length in front. `None` if the packet is empty or longer than 256
    /// bytes.
    pub fn encode(&self) -> Option<InlineBytes<{ 2 + MAX_UP_BYTES }>> {
        if self.packet.is_empty() || self.packet.len() > MAX_PACKET_BYTES {
            return None;
        }
        let mut out = InlineBytes::new();
        out.put(&((UP_FIXED_BYTES + self.packet.len()) as u16).to_be_bytes());
        out.put(&[UP]);
        out.put(&self.time_us.to_be_bytes());
        out.put(&[self.rssi_dbm as u8, self.lqi]);
        out.put(self.packet);
        out.put(&[u8::from(self.crc_ok)]);
        Some(out)
    }

    /// Reads a message whose length has been taken off.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, LinkError> {
        let short = LinkError::Short {
            what: "up message",
            offset: bytes.len(),
            wanted: UP_FIXED_BYTES + 1,
        };
        if bytes.len() <= UP_FIXED_BYTES {
            return Err(short);
        }
        if bytes.len() > MAX_UP_BYTES {
            return Err(LinkError::Long {
                what: "up message",
                offset: MAX_UP_BYTES,
                extra: bytes.len() - MAX_UP_BYTES,
            });
        }
        let (&kind, rest) = bytes.split_first().ok_or(short)?;
        if kind != UP {
            return Err(wrong("message type", 0, kind, "an up message begins with 1"));
        }
        let (time, rest) = rest.split_first_chunk::<8>().ok_or(short)?;
        let (&[rssi, lqi], rest) = rest.split_first_chunk::<2>().ok_or(short)?;
        let (&crc, packet) = rest.split_last().ok_or(short)?;
        let crc_ok = match crc {
            0 => false,
            1 => true,
            _ => return Err(wrong("CRC flag", bytes.len() - 1, crc, "0 is broken, 1 is good")),
        };
        let time_us = u64::from_be_bytes(*time);
        Ok(Self { time_us, rssi_dbm: rssi as i8, lqi, packet, crc_ok })
    }
}

/// One frame that the gateway transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownFrame {
    /// From the end of the heard packet to the start of this transmission.
    pub delay_us: u32,
    /// The frame, without its length byte.
    pub frame: FrameBytes,
}

/// What the gateway transmits after a packet: nothing, or a few frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Down {
    frames: [Option<DownFrame>; MAX_DOWN_FRAMES],
}

impl Down {
    /// Adds a frame; false if there are four already.
    #[must_use]
    pub fn push(&mut self, frame: DownFrame) -> bool {
        match self.frames.iter_mut().find(|f| f.is_none()) {
            Some(place) => {
                *place = Some(frame);
                true
            }
            None => false,
        }
    }

    /// The frames, in the order they were added.
    pub fn frames(&self) -> impl Iterator<Item = &DownFrame> {
        self.frames.iter().flatten()
    }

    /// The message with its length in front.
    pub fn encode(&self) -> InlineBytes<{ 2 + MAX_DOWN_BYTES }> {
        let len: usize = 2 + self.frames().map(|f| 5 + f.frame.len()).sum::<usize>();
        let mut out = InlineBytes::new();
        out.put(&(len as u16).to_be_bytes());
        out.put(&[DOWN, self.frames().count() as u8]);
        for f in self.frames() {
            out.put(&f.delay_us.to_be_bytes());
            out.put(&[f.frame.len() as u8]);
            out.put(&f.frame);
        }
        out
    }

    /// Reads a message whose length has been taken off.
    pub fn decode(bytes: &[u8]) -> Result<Self, LinkError> {
        let what = "down message";
        let short = |wanted| LinkError::Short { what, offset: bytes.len(), wanted };
        let (&[kind, count], mut rest) = bytes.split_first_chunk::<2>().ok_or(short(2))?;
        if kind != DOWN {
            return Err(wrong("message type", 0, kind, "a down message begins with 129"));
        }
        if usize::from(count) > MAX_DOWN_FRAMES {
            return Err(wrong("frame count", 1, count, "a down message has at most 4 frames"));
        }
        let mut down = Self::default();
        for _ in 0..count {
            let at = bytes.len() - rest.len();
            let (delay, tail) = rest.split_first_chunk::<4>().ok_or(short(at + 5))?;
            let (&len, tail) = tail.split_first().ok_or(short(at + 5))?;
            let size = usize::from(len);
            let Some((frame, tail)) = tail.split_at_checked(size) else {
                return Err(short(at + 5 + size));
            };
            let frame = FrameBytes::copy_of(frame).ok_or(wrong(
                "frame length",
                at + 4,
                len,
                "a frame has at most 61 bytes",
            ))?;
            let delay_us = u32::from_be_bytes(*delay);
            // Cannot be full: the count was checked.
            let _ = down.push(DownFrame { delay_us, frame });
            rest = tail;
        }
        match rest.len() {
            0 => Ok(down),
            extra => Err(LinkError::Long { what, offset: bytes.len() - extra, extra }),
        }
    }
}

/// A radio is about to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Machine time at which its receiver is ready.
    pub from_us: u64,
    pub span_us: u32,
}

impl Listen {
    const BYTES: usize = 13;

    /// The message with its length in front.
    pub fn encode(&self) -> [u8; 2 + Self::BYTES] {
        let mut out = [0; 2 + Self::BYTES];
        out[1] = Self::BYTES as u8;
        out[2] = LISTEN;
        out[3..11].copy_from_slice(&self.from_us.to_be_bytes());
        out[11..].copy_from_slice(&self.span_us.to_be_bytes());
        out
    }

    /// Reads a message whose length has been taken off.
    pub fn decode(bytes: &[u8]) -> Result<Self, LinkError> {
        let what = "listen message";
        let short = LinkError::Short { what, offset: bytes.len(), wanted: Self::BYTES };
        let (&kind, rest) = bytes.split_first().ok_or(short)?;
        if kind != LISTEN {
            return Err(wrong("message type", 0, kind, "a listen message begins with 2"));
        }
        let (from, rest) = rest.split_first_chunk().ok_or(short)?;
        let (span, rest) = rest.split_first_chunk().ok_or(short)?;
        match rest.len() {
            0 => {
                let from_us = u64::from_be_bytes(*from);
                Ok(Self { from_us, span_us: u32::from_be_bytes(*span) })
            }
            extra => Err(LinkError::Long { what, offset: Self::BYTES, extra }),
        }
    }
}

/// A WAKE over and over, its carrier never off: each begins where the one before ends, or its preamble lasts so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// Machine time at which the first begins.
    pub start_us: u64,
    /// From one to the next.
    pub period_us: u32,
    pub count: u32,
    /// The first one. Of the others, only `left_ms` is less.
    pub frame: FrameBytes,
}

impl Train {
    /// Bytes of the longest answer, without its length.
    pub const MAX_BYTES: usize = 2 + 17 + MAX_FRAME_BYTES;

    /// When the last one has ended.
    pub fn end_us(&self) -> u64 {
        self.start_us.saturating_add(u64::from(self.period_us) * u64::from(self.count))
    }

    /// The frame that begins `index` periods after the first: of a WAKE, with what is left then.
    pub fn frame(&self, index: u32) -> FrameBytes {
        let Some((head, tail)) = self.frame.split_last_chunk::<2>() else { return self.frame };
        if self.frame.get(2) != Some(&Kind::Wake.code()) {
            return self.frame;
        }
        let gone_us = u64::from(index) * u64::from(self.period_us);
        let left_us = u64::from(u16::from_be_bytes(*tail)) * 1000;
        // Up, so that nobody speaks too early.
        let left_ms = left_us.saturating_sub(gone_us).div_ceil(1000) as u16;
        let mut out = FrameBytes::new();
        out.put(head);
        out.put(&left_ms.to_be_bytes());
        out
    }

    /// The answer with its length in front; without a train, that the air is silent.
    pub fn encode(train: Option<&Self>) -> InlineBytes<{ 2 + Self::MAX_BYTES }> {
        let mut out = InlineBytes::new();
        let len = train.map_or(2, |t| 2 + 17 + t.frame.len());
        out.put(&(len as u16).to_be_bytes());
        out.put(&[TRAIN, u8::from(train.is_some())]);
        if let Some(t) = train {
            out.put(&t.start_us.to_be_bytes());
            out.put(&t.period_us.to_be_bytes());
            out.put(&t.count.to_be_bytes());
            out.put(&[t.frame.len() as u8]);
            out.put(&t.frame);
        }
        out
    }

    /// Reads an answer whose length has been taken off.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, LinkError> {
        let what = "train";
        let short = |wanted| LinkError::Short { what, offset: bytes.len(), wanted };
        let (&[kind, count], rest) = bytes.split_first_chunk::<2>().ok_or(short(2))?;
        if kind != TRAIN {
            return Err(wrong(
                "message type",
                0,
                kind,
                "what answers a listen message begins with 130",
            ));
        }
        if count > 1 {
            return Err(wrong("train count", 1, count, "one train at most is on the air"));
        }
        if count == 0 {
            let extra = rest.len();
            let long = LinkError::Long { what, offset: 2, extra };
            return if extra == 0 { Ok(None) } else { Err(long) };
        }
        let (start, rest) = rest.split_first_chunk().ok_or(short(20))?;
        let (period, rest) = rest.split_first_chunk().ok_or(short(20))?;
        let (count, rest) = rest.split_first_chunk().ok_or(short(20))?;
        let (&len, frame) = rest.split_first().ok_or(short(20))?;
        let size = usize::from(len);
        if frame.len() < size {
            return Err(short(19 + size));
        }
        if frame.len() > size {
            let extra = frame.len() - size;
            return Err(LinkError::Long { what, offset: 19 + size, extra });
        }
        let too_long = wrong("frame length", 18, len, "a frame has at most 61 bytes");
        let frame = FrameBytes::copy_of(frame).ok_or(too_long)?;
        let (start_us, period_us) = (u64::from_be_bytes(*start), u32::from_be_bytes(*period));
        if period_us < airtime_us(size) {
            let wanted = "a frame lasts longer than the period of its train";
            return Err(LinkError::Value { what, offset: 10, value: period_us.into(), wanted });
        }
        Ok(Some(Self { start_us, period_us, count: u32::from_be_bytes(*count), frame }))
    }
}

const fn wrong(what: &'static str, offset: usize, value: u8, wanted: &'static str) -> LinkError {
    LinkError::Value { what, offset, value: value as u64, wanted }
}

/// Microseconds that a frame is on the air at 250 kBd: 4 bytes of preamble, 4 of sync word, the
/// length byte, the frame and 2 bytes of CRC, 32 microseconds a byte (CC2500 data sheet, section
/// 15, packet format with the default MDMCFG1 preamble of four bytes and a 32 bit sync word).
pub const fn airtime_us(frame_bytes: usize) -> u32 {
    (4 + 4 + 1 + frame_bytes as u32 + 2) * 32
}
