// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of IEEE Std 802.15.4: check sequence, addressing fields, acknowledgments.

use serde::{Deserialize, Serialize};

/// Frame check sequence (7.2.1.9): ITU-T CRC-16, least significant bit first, from zero.
#[must_use]
pub fn fcs(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |mut crc: u16, byte| {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0x8408 } else { crc >> 1 };
        }
        crc
    })
}

pub(crate) const BEACON: u8 = 0;
pub(crate) const DATA: u8 = 1;
pub(crate) const ACK: u8 = 2;
pub(crate) const COMMAND: u8 = 3;

/// An address: a short one, or an extended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Address {
    Short(u16),
    Extended([u8; 8]),
}

/// The addressing fields of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub fcf: u16,
    pub sequence: u8,
    pub dst_pan: Option<u16>,
    pub dst: Option<Address>,
    pub src_pan: Option<u16>,
    pub src: Option<Address>,
    /// Number of bytes of the header.
    pub bytes: usize,
}

/// Knowledge of a frame's head so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// So many bytes are needed.
    Needs(usize),
    /// An addressing mode that the standard reserves.
    Reserved,
    Header(Header),
}

impl Header {
    pub fn kind(&self) -> u8 {
        (self.fcf & 7) as u8
    }

    pub fn wants_ack(&self) -> bool {
        self.fcf & 0x20 != 0
    }

    pub fn version(&self) -> u8 {
        (self.fcf >> 12 & 3) as u8
    }

    /// Reads the head of a frame without its length byte.
    pub fn parse(frame: &[u8]) -> Parsed {
        let [low, high, sequence, ..] = *frame else { return Parsed::Needs(3) };
        let fcf = u16::from_le_bytes([low, high]);
        let (dst_mode, src_mode) = (fcf >> 10 & 3, fcf >> 14 & 3);
        if dst_mode == 1 || src_mode == 1 {
            return Parsed::Reserved;
        }
        let compressed = fcf & 0x40 != 0 && dst_mode != 0 && src_mode != 0;
        let size = |mode| match mode {
            0 => 0,
            2 => 2,
            _ => 8,
        };
        let dst_pan_bytes = if dst_mode == 0 { 0 } else { 2 };
        let src_pan_bytes = if src_mode == 0 || compressed { 0 } else { 2 };
        let bytes = 3 + dst_pan_bytes + size(dst_mode) + src_pan_bytes + size(src_mode);
        if frame.len() < bytes {
            return Parsed::Needs(bytes);
        }
        let mut rest = &frame[3..];
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at(n);
            rest = tail;
            head
        };
        let word = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
        let address = |mode, b: &[u8]| match mode {
            0 => None,
            2 => Some(Address::Short(word(b))),
            _ => Some(Address::Extended(std::array::from_fn(|i| b[i]))),
        };
        let dst_pan = (dst_pan_bytes > 0).then(|| word(take(2)));
        let dst = address(dst_mode, take(size(dst_mode)));
        let own = (src_pan_bytes > 0).then(|| word(take(2)));
        let src_pan = if compressed { dst_pan } else { own };
        let src = address(src_mode, take(size(src_mode)));
        Parsed::Header(Self { fcf, sequence, dst_pan, dst, src_pan, src, bytes })
    }
}

/// Addresses of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub pan: u16,
    pub short: u16,
    pub extended: [u8; 8],
    pub coordinator: bool,
}

impl Identity {
    /// True if destination PAN and address, where given, are this node's or everybody's (7.5.6.2).
    pub fn is_destination(&self, h: &Header) -> bool {
        let pan = h.dst_pan.is_none_or(|p| p == self.pan || p == 0xFFFF);
        pan && match h.dst {
            None => true,
            Some(Address::Short(a)) => a == self.short || a == 0xFFFF,
            Some(Address::Extended(a)) => a == self.extended,
        }
    }

    /// A data or command frame that names its source only is for the PAN's coordinator.
    pub fn is_for_coordinator(&self, h: &Header) -> bool {
        self.coordinator && h.src_pan == Some(self.pan)
    }
}

/// The source address table of a CC2520: 24 short or 12 extended addresses in the same 96 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sources {
    pub table: [u8; 96],
    pub short_on: u32,
    pub extended_on: u32,
    pub short_pends: u32,
    pub extended_pends: u32,
    /// The pending bit is set by a match at all.
    pub autopend: bool,
    /// And only for data requests.
    pub requests_only: bool,
}

impl Sources {
    /// Bit of SRCRESINDEX for an extended address.
    pub const EXTENDED: u8 = 0x20;

    /// Entry of the frame's source address.
    pub fn find(&self, h: &Header) -> Option<u8> {
        let entry = |n: usize, size: usize| &self.table[n * size..(n + 1) * size];
        match h.src? {
            Address::Short(a) => {
                let [p0, p1] = h.src_pan?.to_le_bytes();
                let [a0, a1] = a.to_le_bytes();
                (0..24u8).find(|n| {
                    self.short_on >> n & 1 != 0 && entry(usize::from(*n), 4) == [p0, p1, a0, a1]
                })
            }
            Address::Extended(a) => (0..12u8)
                .find(|n| self.extended_on >> (2 * n) & 1 != 0 && entry(usize::from(*n), 8) == a)
                .map(|n| n | Self::EXTENDED),
        }
    }

    /// True if its acknowledgment says that data are waiting.
    pub fn pends(&self, h: &Header, frame: &[u8]) -> bool {
        let request = h.kind() == COMMAND && frame.get(h.bytes) == Some(&4);
        self.autopend
            && (request || !self.requests_only)
            && self.find(h).is_some_and(|n| match n & Self::EXTENDED {
                0 => self.short_pends >> n & 1 != 0,
                _ => self.extended_pends >> (2 * (n & 0x1F)) & 1 != 0,
            })
    }
}

/// An acknowledgment, length byte first.
pub(crate) fn ack(sequence: u8, pending: bool) -> [u8; 6] {
    let frame = [ACK | u8::from(pending) << 4, 0, sequence];
    let [low, high] = fcs(&frame).to_le_bytes();
    [5, frame[0], frame[1], frame[2], low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_example_has_its_check_sequence() {
        // 7.2.1.9: an acknowledgment, 0100 0000 0000 0000 0101 0110 as sent; its FCS 0010 0111 1001 1110.
        let frame = [0x02, 0x00, 0x6A];
        let crc = fcs(&frame);
        let sent: String =
            crc.to_le_bytes().iter().map(|b| format!("{:08b}", b.reverse_bits())).collect();
        assert_eq!(sent, "0010011110011110");
        let whole = [&frame[..], &crc.to_le_bytes()].concat();
        assert_eq!(fcs(&whole), 0);
    }

    #[test]
    fn addressing_fields_are_found() {
        let data = [0x61, 0x88, 7, 0x22, 0x00, 0x01, 0x00, 0x02, 0x00, 0xAA];
        let Parsed::Header(h) = Header::parse(&data) else { panic!() };
        assert_eq!((h.kind(), h.sequence, h.wants_ack(), h.bytes), (DATA, 7, true, 9));
        assert_eq!((h.dst_pan, h.dst), (Some(0x22), Some(Address::Short(1))));
        assert_eq!((h.src_pan, h.src), (Some(0x22), Some(Address::Short(2))));
        assert_eq!(Header::parse(&data[..5]), Parsed::Needs(9));
        assert_eq!(Header::parse(&[0x41, 0x80, 0]), Parsed::Needs(7));
        assert_eq!(Header::parse(&[0x01, 0x04, 0]), Parsed::Reserved);
        let me = Identity { pan: 0x22, short: 1, ..Identity::default() };
        assert!(me.is_destination(&h));
        assert!(!Identity { short: 3, ..me }.is_destination(&h));
    }
}
