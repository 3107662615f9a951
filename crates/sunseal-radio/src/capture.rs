// SPDX-License-Identifier: MIT OR Apache-2.0
//! Capture file of what was on a medium, for Wireshark and its kin.

use sunseal_link::pcap::{
    self, Direction, LINKTYPE_IEEE802_15_4_NOFCS, LINKTYPE_IEEE802_15_4_WITHFCS, LINKTYPE_USER0,
};

use crate::medium::{Captured, Phy};

/// The bytes of a capture file with the transmissions of one link type, each at the time of its end:
/// 195 or 230 are frames of IEEE 802.15.4 with or without their check sequence, 147 the packets of a
/// CC2500 as this project's dissector reads them. `None` for other link types.
#[must_use]
pub fn capture_file(captured: &[Captured], link_type: u32) -> Option<Vec<u8>> {
    let mut file = pcap::file_header_of(link_type).to_vec();
    for c in captured {
        let time_us = c.end.as_micros();
        match (link_type, c.phy) {
            (LINKTYPE_IEEE802_15_4_WITHFCS | LINKTYPE_IEEE802_15_4_NOFCS, Phy::Oqpsk { .. }) => {
                let keep = if link_type == LINKTYPE_IEEE802_15_4_NOFCS { 2 } else { 0 };
                let frame = c.bytes.get(1..c.bytes.len().saturating_sub(keep)).unwrap_or(&[]);
                file.extend_from_slice(&pcap::plain_record(time_us, frame));
            }
            (LINKTYPE_USER0, Phy::Packet { .. }) => {
                // Beside the sender's antenna: neither strength nor quality mean anything.
                let packet = &c.bytes[..c.bytes.len().saturating_sub(2)];
                file.extend_from_slice(&pcap::record(
                    time_us,
                    Direction::Heard,
                    0,
                    0,
                    true,
                    packet,
                ));
            }
            (LINKTYPE_IEEE802_15_4_WITHFCS | LINKTYPE_IEEE802_15_4_NOFCS | LINKTYPE_USER0, _) => {}
            _ => return None,
        }
    }
    Some(file)
}
