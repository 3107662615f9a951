// SPDX-License-Identifier: MIT OR Apache-2.0
//! A gateway on a medium: frames of the link layer inside those of the air, and back.
//!
//! On IEEE 802.15.4 a link-layer frame is the payload of a data frame with short addresses in one PAN, not
//! acknowledged. On a CC1000's bare bits it stands behind the synchronisation word 0x33CC as length, frame and a
//! CRC-16 of both (polynomial 0x1021 from all ones, as `firmware/node/crc16.c`).

use sunseal_trace::Picos;

use crate::air::{Air, Answer, Sent};
use crate::chip::AirPacket;
use crate::ieee802154::fcs;
use crate::medium::{Emission, Phy};

/// Data frame, PAN identifier compressed, short addresses.
const DATA: [u8; 2] = [0x41, 0x88];
const MAC_BYTES: usize = 9;
const SYNC: [u8; 2] = [0x33, 0xCC];
/// In front of the first byte of a frame: on 802.15.4, four bytes of preamble and the delimiter.
const OQPSK_HEAD_BYTES: u32 = 5;
const BITS_PREAMBLE: [u8; 12] = [0xAA; 12];
/// The gateway's own output power.
const POWER_DBM: f64 = 0.0;

/// A gateway's antenna, heard by all with the same loss.
pub(crate) struct Gateway {
    pub air: Box<dyn Air>,
    pub loss_db: f64,
    pub seq: u64,
    pub log: Vec<AirPacket>,
    pub problem: Option<String>,
}

/// Answer that the gateway sends, and the time at which its carrier goes off.
pub(crate) struct Reply {
    pub emission: Emission,
    pub bytes: Vec<u8>,
    pub end: Picos,
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |c, _| {
            if c & 0x8000 != 0 { c << 1 ^ 0x1021 } else { c << 1 }
        })
    })
}

/// The link-layer packet in what was on the air, its length byte first, and whether its check held. None where there
/// is none.
fn unwrap(phy: Phy, bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    match phy {
        Phy::Oqpsk { .. } => {
            let (length, frame) = bytes.split_first()?;
            let frame = frame.get(..usize::from(*length))?;
            let payload = frame.get(MAC_BYTES..frame.len().checked_sub(2)?)?;
            let packet = [&[payload.len() as u8], payload].concat();
            (frame[..2] == DATA).then(|| (packet, fcs(frame) == 0))
        }
        Phy::Bits { .. } => {
            let at = bytes.windows(2).position(|w| w == SYNC)? + 2;
            let end = at + 1 + usize::from(*bytes.get(at)?);
            let packet = bytes.get(at..end)?;
            let check = bytes.get(end..end + 2)?;
            Some((packet.to_vec(), crc16(packet).to_be_bytes() == *check))
        }
        Phy::Packet { .. } => None,
    }
}

/// Packet that carries a link-layer frame as an answer to `heard`.
fn wrap(phy: Phy, heard: &[u8], seq: u64, answer: &Answer) -> (u32, Vec<u8>) {
    let (head_bytes, mut bytes) = match phy {
        Phy::Oqpsk { .. } => {
            // Back to where it came from: PAN, then its source, then whom it was sent to.
            let (pan, to, from) = (&heard[4..6], &heard[8..10], &heard[6..8]);
            let mut frame = [&DATA[..], &[seq as u8], pan, to, from, &answer.frame].concat();
            frame.extend(fcs(&frame).to_le_bytes());
            (OQPSK_HEAD_BYTES, [&[frame.len() as u8], &frame[..]].concat())
        }
        _ => {
            let packet = [&[answer.frame.len() as u8], &answer.frame[..]].concat();
            let check = crc16(&packet).to_be_bytes();
            (0, [&BITS_PREAMBLE[..], &SYNC, &packet, &check, &[0]].concat())
        }
    };
    if !answer.crc_ok {
        // The frame is as the air made it; a check that fails says so.
        let last = bytes.len() - if head_bytes == 0 { 2 } else { 1 };
        bytes[last] ^= 0xFF;
    }
    (head_bytes, bytes)
}

impl Gateway {
    /// Packets that it sends when a transmission has ended.
    pub fn hears(&mut self, emission: &Emission, heard: &[u8], end: Picos) -> Vec<Reply> {
        let phy = emission.tuning.phy;
        let Some((packet, crc_ok)) = unwrap(phy, heard) else { return Vec::new() };
        let time_us = end.as_micros();
        self.log.push(AirPacket { time_us, sent: true, packet: packet.clone(), crc_ok });
        let answers = match self.air.exchange(&Sent { time_us, packet, crc_ok }) {
            Ok(answers) => answers,
            Err(e) => {
                self.problem.get_or_insert(e.to_string());
                return Vec::new();
            }
        };
        let reply = |answer: Answer| {
            self.seq += 1;
            let (head_bytes, bytes) = wrap(phy, heard, self.seq, &answer);
            let start = end + Picos(u128::from(answer.delay_us) * 1_000_000);
            let on_air = u128::from(head_bytes) + bytes.len() as u128;
            let end = start + Picos(on_air * emission.byte_ps);
            let packet = [&[answer.frame.len() as u8], &answer.frame[..]].concat();
            let crc_ok = answer.crc_ok;
            self.log.push(AirPacket { time_us: end.as_micros(), sent: false, packet, crc_ok });
            let emission = Emission { power_dbm: POWER_DBM, start, head_bytes, ..*emission };
            Reply { emission, bytes, end }
        };
        answers.into_iter().map(reply).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_out_as_it_went_in() {
        let answer = Answer { delay_us: 0, frame: b"a frame".to_vec(), crc_ok: true };
        let heard = [25, 0x41, 0x88, 9, 0x53, 0x53, 0x01, 0x00, 0x10, 0x00];
        for phy in [Phy::Oqpsk { sync: 0xA70F }, Phy::Bits { bit_ps: 1, manchester: true }] {
            let (_, bytes) = wrap(phy, &heard, 1, &answer);
            assert_eq!(unwrap(phy, &bytes), Some((b"\x07a frame".to_vec(), true)));
            let (_, bytes) = wrap(phy, &heard, 1, &Answer { crc_ok: false, ..answer.clone() });
            assert_eq!(unwrap(phy, &bytes), Some((b"\x07a frame".to_vec(), false)));
            assert_eq!(unwrap(phy, &bytes[..6]), None);
        }
        let (_, back) = wrap(Phy::Oqpsk { sync: 0xA70F }, &heard, 3, &answer);
        assert_eq!(back[..10], [18, 0x41, 0x88, 3, 0x53, 0x53, 0x10, 0x00, 0x01, 0x00]);
        // binascii.crc_hqx(b"123456789", 0xFFFF)
        assert_eq!(crc16(b"123456789"), 0x29B1);
    }
}
