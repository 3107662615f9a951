// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips, and that no bytes whatever make the link layer panic.

use proptest::collection::vec;
use proptest::prelude::*;
use sunseal_link::air::{Down, DownFrame, Listen, Train, Up};
use sunseal_link::*;

fn inline<const N: usize>(bytes: Vec<u8>) -> InlineBytes<N> {
    InlineBytes::copy_of(&bytes).unwrap()
}

fn node_id() -> impl Strategy<Value = NodeId> {
    any::<[u8; 8]>().prop_map(NodeId)
}

fn suite() -> impl Strategy<Value = Suite> {
    prop::sample::select(Suite::ALL.to_vec())
}

fn message() -> impl Strategy<Value = Message> {
    let hello = (node_id(), any::<u32>(), any::<u16>(), 0..3u8, any::<u16>());
    let hello = hello.prop_map(|(n, c, v, r, listen_ms)| {
        let reason = Reason::from_code(r).unwrap();
        let listen_ms = if reason == Reason::Low { 0 } else { listen_ms };
        Message::Hello(Hello { node_id: n, counter: c, vcap_mv: v, reason, listen_ms })
    });
    let wake = (node_id(), any::<u32>(), any::<[u8; 16]>(), any::<u16>());
    let wake = wake.prop_map(|(node_id, challenge_id, nonce, left_ms)| {
        Message::Wake(Wake { challenge: Challenge { node_id, challenge_id, nonce }, left_ms })
    });
    let challenge = (node_id(), any::<u32>(), any::<[u8; 16]>()).prop_map(|(n, c, nonce)| {
        Message::Challenge(Challenge { node_id: n, challenge_id: c, nonce })
    });
    let signed = (node_id(), any::<u32>(), any::<u32>(), suite()).prop_flat_map(|(n, id, c, s)| {
        let signature = vec(any::<u8>(), s.signature_bytes());
        let data = vec(any::<u8>(), 0..=16);
        let key = vec(any::<u8>(), s.public_key_bytes());
        (signature, data, key, 0..3).prop_map(move |(signature, data, key, which)| match which {
            0 => Message::Response(Response {
                node_id: n,
                challenge_id: id,
                counter: c,
                suite: s,
                signature: inline(signature),
            }),
            1 => Message::Report(Report {
                node_id: n,
                counter: c,
                suite: s,
                data: inline(data),
                signature: inline(signature),
            }),
            _ => Message::Enrol(Enrol {
                node_id: n,
                suite: s,
                public_key: inline(key),
                signature: inline(signature),
            }),
        })
    });
    let verdict = (node_id(), any::<u32>(), 0..10u8).prop_map(|(n, reference, v)| {
        let verdict = VerdictCode::from_code(v).unwrap();
        Message::Verdict(Verdict { node_id: n, reference, verdict })
    });
    let idle = node_id().prop_map(|node_id| Message::Idle(Idle { node_id }));
    prop_oneof![hello, challenge, signed, verdict, idle, wake]
}

fn assemble(frames: &[sunseal_link::frame::FrameBytes]) -> Option<Assembled> {
    let mut reassembler = Reassembler::<4>::new(1_000_000);
    let mut whole = None;
    for (i, bytes) in frames.iter().enumerate() {
        let frame = Frame::parse(bytes).unwrap();
        match reassembler.push(i as u64, &frame).unwrap() {
            Progress::Complete(assembled) => whole = Some(assembled),
            Progress::Partial { have, count } => assert!(have < count),
            Progress::Duplicate => {}
        }
    }
    whole
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_survives_encoding(message in message()) {
        let body = message.encode();
        prop_assert!(body.len() <= message.kind().max_body_bytes());
        prop_assert_eq!(Message::decode(message.kind(), &body), Ok(message));
    }

    #[test]
    fn a_message_survives_fragments_in_any_order(
        message in message(), dst: u8, src: u8, seq: u8, order in any::<[prop::sample::Index; 6]>(),
    ) {
        let mut frames: Vec<_> =
            fragments(dst, src, seq, message.kind(), &message.encode()).collect();
        prop_assert!(frames.iter().all(|f| f.len() <= frame::MAX_FRAME_BYTES));
        let ends = order.iter().map(|i| i.index(frames.len())).collect::<Vec<_>>();
        for pair in ends.chunks(2) {
            frames.swap(pair[0], pair[1]);
        }
        let whole = assemble(&frames).unwrap();
        prop_assert_eq!((whole.dst, whole.src, whole.seq), (dst, src, seq));
        prop_assert_eq!(Message::decode(whole.kind, &whole.body), Ok(message));
    }

    #[test]
    fn a_missing_fragment_never_completes(message in message(), lost in any::<prop::sample::Index>()) {
        let mut frames: Vec<_> = fragments(1, 2, 3, message.kind(), &message.encode()).collect();
        frames.remove(lost.index(frames.len()));
        prop_assert_eq!(assemble(&frames), None);
    }

    #[test]
    fn a_shortened_body_is_refused(message in message(), keep in any::<prop::sample::Index>()) {
        let body = message.encode();
        let short = &body[..keep.index(body.len())];
        prop_assert!(Message::decode(message.kind(), short).is_err());
    }

    #[test]
    fn a_lengthened_body_is_refused(message in message(), extra in vec(any::<u8>(), 1..20)) {
        let mut body = message.encode().to_vec();
        body.extend(extra);
        prop_assert!(Message::decode(message.kind(), &body).is_err());
    }

    #[test]
    fn what_decodes_encodes_to_the_same_bytes(code in 1..9u8, bytes in vec(any::<u8>(), 0..200)) {
        let kind = Kind::from_code(code).unwrap();
        if let Ok(message) = Message::decode(kind, &bytes) {
            prop_assert_eq!(&*message.encode(), &bytes[..]);
        }
    }

    #[test]
    fn no_bytes_panic(frames in vec(vec(any::<u8>(), 0..80), 0..20), step in 0..100_000u64) {
        let mut reassembler = Reassembler::<3>::new(200_000);
        for (i, bytes) in frames.iter().enumerate() {
            let _ = Up::decode(bytes).map(|up| Frame::parse_packet(up.packet).map_err(|e| e.to_string()));
            let _ = Down::decode(bytes).map_err(|e| e.to_string());
            let _ = Listen::decode(bytes).map_err(|e| e.to_string());
            let _ = Train::decode(bytes).map_err(|e| e.to_string());
            if let Ok(frame) = Frame::parse(bytes) {
                let again = frame.to_bytes().unwrap();
                prop_assert_eq!(&*again, &bytes[..]);
                let _ = reassembler.push(step * i as u64, &frame).map_err(|e| e.to_string());
            }
            prop_assert!(reassembler.unfinished() <= 3);
        }
    }

    #[test]
    fn no_plausible_frames_panic(
        frames in vec((0..4u8, 1..8u8, 0..2u8, any::<u8>(), vec(any::<u8>(), 0..57)), 0..40),
    ) {
        let mut reassembler = Reassembler::<2>::new(1_000);
        for (i, (src, kind, seq, frag, fragment)) in frames.iter().enumerate() {
            let mut bytes = vec![1, *src, *kind, *seq, *frag];
            bytes.extend(fragment);
            if let Ok(frame) = Frame::parse(&bytes)
                && let Ok(Progress::Complete(whole)) = reassembler.push(i as u64, &frame) {
                    let _ = Message::decode(whole.kind, &whole.body).map_err(|e| e.to_string());
                }
        }
    }

    #[test]
    fn the_air_protocol_survives(
        time_us: u64, rssi_dbm: i8, lqi: u8, packet in vec(any::<u8>(), 1..257), crc_ok: bool,
        down in vec((any::<u32>(), vec(any::<u8>(), 0..62)), 0..5),
    ) {
        let up = Up { time_us, rssi_dbm, lqi, packet: &packet, crc_ok };
        let bytes = up.encode().unwrap();
        let len = u16::from_be_bytes([bytes[0], bytes[1]]);
        prop_assert_eq!(usize::from(len), bytes.len() - 2);
        prop_assert_eq!(Up::decode(&bytes[2..]), Ok(up));

        let mut answer = Down::default();
        for (delay_us, frame) in down {
            let pushed = answer.push(DownFrame { delay_us, frame: inline(frame) });
            prop_assert!(pushed);
        }
        let bytes = answer.encode();
        let len = u16::from_be_bytes([bytes[0], bytes[1]]);
        prop_assert_eq!(usize::from(len), bytes.len() - 2);
        prop_assert_eq!(Down::decode(&bytes[2..]), Ok(answer));
        for cut in 2..bytes.len() {
            prop_assert!(Down::decode(&bytes[2..cut]).is_err());
        }
    }
}

fn response_frames(seq: u8, fill: u8) -> Vec<frame::FrameBytes> {
    let signature = inline(vec![fill; 64]);
    let suite = Suite::EcdsaP256Sha256;
    let node_id = NodeId([fill; 8]);
    let message =
        Message::Response(Response { node_id, challenge_id: 1, counter: 2, suite, signature });
    fragments(GATEWAY, 9, seq, Kind::Response, &message.encode()).collect()
}

#[test]
fn a_repeated_fragment_is_a_duplicate_and_a_changed_one_a_conflict() {
    let frames = response_frames(7, 0xaa);
    let mut reassembler = Reassembler::<2>::new(1_000);
    let first = Frame::parse(&frames[0]).unwrap();
    assert_eq!(reassembler.push(0, &first), Ok(Progress::Partial { have: 1, count: 2 }));
    assert_eq!(reassembler.push(1, &first), Ok(Progress::Duplicate));
    let mut changed = frames[0].to_vec();
    changed[20] ^= 1;
    let changed = Frame::parse(&changed).unwrap();
    let conflict = LinkError::Conflict { src: 9, seq: 7, index: 0 };
    assert_eq!(reassembler.push(2, &changed), Err(conflict));
    assert_eq!(reassembler.unfinished(), 0);
}

#[test]
fn fragments_of_two_messages_never_mix() {
    let (old, new) = (response_frames(7, 0xaa), response_frames(8, 0xbb));
    let mut reassembler = Reassembler::<2>::new(1_000);
    let mut push = |bytes: &[u8]| reassembler.push(0, &Frame::parse(bytes).unwrap()).unwrap();
    push(&old[0]);
    assert_eq!(push(&new[1]), Progress::Partial { have: 1, count: 2 });
    let Progress::Complete(whole) = push(&new[0]) else { panic!("the new message is complete") };
    assert!(whole.body.iter().take(8).all(|&b| b == 0xbb));
}

#[test]
fn an_unfinished_message_is_forgotten_after_its_time() {
    let frames = response_frames(7, 0xaa);
    let mut reassembler = Reassembler::<2>::new(1_000);
    let mut push = |now, bytes: &[u8]| reassembler.push(now, &Frame::parse(bytes).unwrap());
    push(0, &frames[0]).unwrap();
    assert_eq!(push(1_001, &frames[1]), Ok(Progress::Partial { have: 1, count: 2 }));
    // At the last moment of its time it is still there, and a repeat does not buy it more.
    assert_eq!(push(1_500, &frames[1]), Ok(Progress::Duplicate));
    assert!(matches!(push(2_001, &frames[0]), Ok(Progress::Complete(_))));
}

#[test]
fn a_full_reassembler_forgets_the_message_untouched_longest() {
    let frames = response_frames(7, 0xaa);
    let mut reassembler = Reassembler::<2>::new(1_000_000);
    for (now, src) in [(5, 1), (1, 2), (9, 3)] {
        let mut bytes = frames[0].to_vec();
        bytes[1] = src;
        reassembler.push(now, &Frame::parse(&bytes).unwrap()).unwrap();
    }
    assert_eq!(reassembler.unfinished(), 2);
    let mut second = frames[1].to_vec();
    second[1] = 1;
    let done = reassembler.push(10, &Frame::parse(&second).unwrap()).unwrap();
    assert!(matches!(done, Progress::Complete(_)), "sender 1 was not the oldest: {done:?}");
}

#[test]
fn errors_name_the_place_and_what_would_be_right() {
    let text = |bytes: &[u8]| Frame::parse_packet(bytes).unwrap_err().to_string();
    assert_eq!(text(&[]), "a packet ends at offset 0 where 1 bytes are wanted");
    assert_eq!(text(&[9, 1, 2]), "the length byte at offset 0 says 9 bytes, 2 follow it");
    assert_eq!(text(&[2, 1, 2]), "a frame ends at offset 2 where 6 bytes are wanted");
    assert_eq!(text(&[6, 1, 2, 9, 0, 0, 0]), "the frame's kind at offset 2 is 9; kinds are 1 to 8");
    assert_eq!(
        text(&[6, 1, 2, 1, 0, 1, 0]),
        "fragment 0 of 2 at offset 4 cannot be: a HELLO takes at most 1 frames"
    );
    assert_eq!(
        text(&[6, 1, 2, 3, 0, 1, 0]),
        "fragment 0 of 2 carries 1 bytes from offset 5; all but the last carry 56, the last 1 to 56"
    );
    let mut body = [0; 20];
    body[16] = 4;
    assert_eq!(
        Message::decode(Kind::Response, &body).unwrap_err().to_string(),
        "the suite at offset 16 is 4; suites are 1 to 3"
    );
    body[16] = 2;
    assert_eq!(
        Message::decode(Kind::Response, &body).unwrap_err().to_string(),
        "a signature of ecdsa-secp160r1-sha1 takes 42 bytes, 3 stand from offset 17"
    );
}
