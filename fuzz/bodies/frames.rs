// SPDX-License-Identifier: MIT OR Apache-2.0
//! What anybody may put on the air, or a gateway's antenna may say: read by libFuzzer's target and by the replay.

use sunseal_link::air::{Down, Up};
use sunseal_link::{Frame, Kind, Message, Progress, Reassembler};

/// Reads the bytes as everything that comes from outside. What is read is written as it was.
pub fn frames(data: &[u8]) {
    if let Ok(up) = Up::decode(data) {
        assert_eq!(&up.encode().expect("it was read")[2..], data);
        let _ = Frame::parse_packet(up.packet);
    }
    if let Ok(down) = Down::decode(data) {
        assert_eq!(&down.encode()[2..], data);
    }
    for kind in Kind::ALL {
        body(kind, data);
    }
    // A stream of packets, and after each how many tens of milliseconds pass: fewer places than senders.
    let mut places = Reassembler::<2>::new(100_000);
    let (mut now_us, mut rest) = (0, data);
    while let Some((&said, tail)) = rest.split_first() {
        let (packet, tail) = tail.split_at(usize::from(said).min(tail.len()));
        let _ = Frame::parse_packet(&rest[..=packet.len()]);
        if let Ok(frame) = Frame::parse(packet) {
            assert_eq!(frame.to_bytes().as_deref(), Some(packet));
            if let Ok(Progress::Complete(whole)) = places.push(now_us, &frame) {
                body(whole.kind, &whole.body);
            }
            assert!(places.unfinished() <= 2);
        }
        let Some((&pause, tail)) = tail.split_first() else { break };
        now_us += u64::from(pause) * 10_000;
        rest = tail;
    }
}

fn body(kind: Kind, bytes: &[u8]) {
    if let Ok(message) = Message::decode(kind, bytes) {
        assert_eq!(*message.encode(), *bytes, "{message:?}");
    }
}
