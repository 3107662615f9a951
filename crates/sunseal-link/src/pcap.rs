// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a capture file holds, as bytes; writing them is the caller's affair.
//!
//! Classic pcap, microseconds, link type USER0 (147). Each packet is eight bytes of pseudo
//! header and then the packet as on the air, length byte first:
//!
//! ```text
//! 0 version = 1   1 direction: 0 heard, 1 sent   2 rssi_dbm i8   3 lqi   4 crc_ok   5..7 zero
//! ```

use crate::bytes::InlineBytes;

/// LINKTYPE_USER0: private use. `wireshark/sunseal.lua` registers itself for it.
pub const LINKTYPE_USER0: u32 = 147;
/// LINKTYPE_IEEE802_15_4_WITHFCS: frames with their check sequence.
pub const LINKTYPE_IEEE802_15_4_WITHFCS: u32 = 195;
/// LINKTYPE_IEEE802_15_4_NOFCS: frames without it.
pub const LINKTYPE_IEEE802_15_4_NOFCS: u32 = 230;
/// Bytes in front of each packet.
pub const PSEUDO_HEADER_BYTES: usize = 8;
const MAX_RECORD_BYTES: usize = 16 + PSEUDO_HEADER_BYTES + crate::air::MAX_PACKET_BYTES;

/// Which way a packet went, from the gateway's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The gateway heard it.
    Heard,
    /// The gateway sent it.
    Sent,
}

/// The head of a capture file of this link layer.
pub fn file_header() -> [u8; 24] {
    file_header_of(LINKTYPE_USER0)
}

/// The head of a capture file whose packets are of another link type and have no pseudo header.
pub fn file_header_of(link_type: u32) -> [u8; 24] {
    let mut out = [0; 24];
    out[0..4].copy_from_slice(&0xa1b2_c3d4_u32.to_le_bytes());
    out[4..6].copy_from_slice(&2_u16.to_le_bytes());
    out[6..8].copy_from_slice(&4_u16.to_le_bytes());
    out[16..20].copy_from_slice(&65535_u32.to_le_bytes());
    out[20..24].copy_from_slice(&link_type.to_le_bytes());
    out
}

/// One record without a pseudo header; at most 256 bytes of the packet are kept.
pub fn plain_record(
    time_us: u64,
    packet: &[u8],
) -> InlineBytes<{ 16 + crate::air::MAX_PACKET_BYTES }> {
    let kept = &packet[..packet.len().min(crate::air::MAX_PACKET_BYTES)];
    let mut out = InlineBytes::new();
    out.put(&((time_us / 1_000_000) as u32).to_le_bytes());
    out.put(&((time_us % 1_000_000) as u32).to_le_bytes());
    out.put(&(kept.len() as u32).to_le_bytes());
    out.put(&(packet.len() as u32).to_le_bytes());
    out.put(kept);
    out
}

/// One record: `packet` begins with its length byte, at most 256 bytes of it are kept.
pub fn record(
    time_us: u64,
    direction: Direction,
    rssi_dbm: i8,
    lqi: u8,
    crc_ok: bool,
    packet: &[u8],
) -> InlineBytes<MAX_RECORD_BYTES> {
    let kept = &packet[..packet.len().min(crate::air::MAX_PACKET_BYTES)];
    let mut out = InlineBytes::new();
    // The format holds 32 bits of seconds: 136 years of machine time.
    out.put(&((time_us / 1_000_000) as u32).to_le_bytes());
    out.put(&((time_us % 1_000_000) as u32).to_le_bytes());
    out.put(&((PSEUDO_HEADER_BYTES + kept.len()) as u32).to_le_bytes());
    out.put(&((PSEUDO_HEADER_BYTES + packet.len()) as u32).to_le_bytes());
    let direction = u8::from(direction == Direction::Sent);
    out.put(&[1, direction, rssi_dbm as u8, lqi, u8::from(crc_ok), 0, 0, 0]);
    out.put(kept);
    out
}
