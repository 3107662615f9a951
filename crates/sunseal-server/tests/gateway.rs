// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the air to the verdict: a radio over TCP, the real gateway, the real server.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::radio::{ADDRESS, Radio};
use common::*;
use serde_json::json;
use sunseal_link::air::{Down, MAX_UP_BYTES, Up, airtime_us};
use sunseal_link::{Challenge, Frame, GATEWAY, Idle, Kind, Message, Suite, Verdict, VerdictCode};

impl Radio {
    fn packet(&mut self, packet: &[u8], crc_ok: bool) -> Down {
        self.time_us += 10_000;
        let up = Up { time_us: self.time_us, rssi_dbm: -70, lqi: 5, packet, crc_ok };
        Down::decode(&self.exchange(&up.encode().unwrap())).unwrap()
    }

    /// Sends every fragment and returns the message that came back after the last.
    fn say(&mut self, message: &Message) -> Option<Message> {
        let packets: Vec<_> = self.frames(message).map(|f| with_length(&f)).collect();
        let (last, before) = packets.split_last().unwrap();
        for packet in before {
            assert_eq!(self.packet(packet, true), Down::default());
        }
        heard(&self.packet(last, true))
    }
}

fn with_length(frame: &[u8]) -> Vec<u8> {
    [&[frame.len() as u8], frame].concat()
}

fn heard(down: &Down) -> Option<Message> {
    let frames: Vec<_> = down.frames().collect();
    let [only] = frames[..] else {
        assert!(frames.is_empty(), "the gateway's messages are one frame each");
        return None;
    };
    let frame = Frame::parse(&only.frame).unwrap();
    assert_eq!((frame.dst, frame.src, frame.count), (ADDRESS, GATEWAY, 1));
    assert_eq!(only.delay_us, 2_000);
    Some(Message::decode(frame.kind, frame.fragment).unwrap())
}

fn verdict_of(message: Option<Message>) -> (VerdictCode, u32) {
    match message {
        Some(Message::Verdict(Verdict { verdict, reference, .. })) => (verdict, reference),
        other => panic!("a verdict was expected, not {other:?}"),
    }
}

fn challenge_in(message: Option<Message>) -> (u32, [u8; 16]) {
    match message {
        Some(Message::Challenge(Challenge { challenge_id, nonce, .. })) => (challenge_id, nonce),
        other => panic!("a challenge was expected, not {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_of_every_suite_is_verified_over_the_air_and_wireshark_reads_it() {
    let folder = folder("air");
    let pcap = folder.join("air.pcap");
    let server = Running::server(&folder.join("s.db"), &[]);
    let gateway = Running::gateway(&server.address, &["--pcap", pcap.to_str().unwrap()]);
    let client = Client::new(&server);
    let mut radio = Radio::new(&gateway);
    for suite in Suite::ALL {
        let node = Node::new(suite.code(), Signer::new(suite));
        assert_eq!(verdict_of(radio.say(&node.hello())), (VerdictCode::UnknownNode, 0));
        client.open(&node).await;
        assert_eq!(verdict_of(radio.say(&node.enrol())), (VerdictCode::Accepted, 0));
        let idle = Some(Message::Idle(Idle { node_id: node.id }));
        assert_eq!(radio.say(&node.hello()), idle);
        client.ask(&node).await;
        let challenge = challenge_in(radio.say(&node.hello()));
        let response = node.response(challenge, 4);
        assert_eq!(verdict_of(radio.say(&response)), (VerdictCode::Accepted, 4));
        radio.time_us += 10_000_001;
        assert_eq!(verdict_of(radio.say(&response)), (VerdictCode::ReplayedCounter, 4));
        assert_eq!(verdict_of(radio.say(&node.report(b"21 C", 5))), (VerdictCode::Accepted, 5));
    }
    // The server's time came from the air.
    assert_eq!(client.get("/v1/summary").await["time_us"], radio.time_us);
    assert_eq!(gateway.signal("-INT"), Some(0));

    let bytes = std::fs::read(&pcap).unwrap();
    assert_eq!(bytes[..4], 0xa1b2_c3d4_u32.to_le_bytes());
    if let Some(text) = wireshark(&pcap) {
        let count = |words: &str| text.lines().filter(|l| l.contains(words)).count();
        assert_eq!(count("HELLO counter=0 vcap_mv=2700 reason=ready\t0"), 9, "{text}");
        assert_eq!(count("counter=4 verdict=accepted\t1"), 3, "{text}");
        assert_eq!(count("counter=4 verdict=replayed-counter\t1"), 3, "{text}");
        assert_eq!(count("CHALLENGE challenge="), 3, "{text}");
    }
}

/// A line a packet, by our dissector: its summary, its direction, and whether it is malformed.
fn wireshark(pcap: &std::path::Path) -> Option<String> {
    let lua = concat!(env!("CARGO_MANIFEST_DIR"), "/../sunseal-link/wireshark/sunseal.lua");
    let out = std::process::Command::new("tshark")
        .args(["-X", &format!("lua_script:{lua}"), "-r", pcap.to_str().unwrap(), "-T", "fields"])
        .args(["-e", "_ws.col.Info", "-e", "sunseal.direction", "-e", "sunseal.malformed"])
        .output();
    let required = std::env::var("SUNSEAL_REQUIRE_TOOLS").as_deref() == Ok("1");
    match out {
        Ok(out) => {
            let said = String::from_utf8(out.stderr).unwrap();
            assert!(out.status.success() && !said.contains("Lua"), "{said}");
            Some(String::from_utf8(out.stdout).unwrap())
        }
        Err(e) if !required => {
            println!("skipped: tshark cannot be run ({e}); install the package tshark");
            None
        }
        Err(e) => panic!("SUNSEAL_REQUIRE_TOOLS=1, but tshark cannot be run: {e}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_flipped_bit_of_a_response_frame_is_accepted() {
    let (server, client) = served("air-flips", &["--freshness-s", "86400"]);
    let gateway = Running::gateway(&server.address, &[]);
    let mut radio = Radio::new(&gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaSecp160r1Sha1));
    client.enrol(&node).await;
    client.ask(&node).await;
    let challenge = challenge_in(radio.say(&node.hello()));
    let response = node.response(challenge, 1);
    let bits: usize = radio.frames(&response).map(|f| 8 * (1 + f.len())).sum();
    let mut seen = std::collections::BTreeMap::new();
    for flipped in 0..bits {
        // A new sequence number each time, and the old halves forgotten.
        radio.time_us += 2_000_000;
        let mut packets: Vec<_> = radio.frames(&response).map(|f| with_length(&f)).collect();
        let mut bit = flipped;
        for packet in &mut packets {
            if bit < 8 * packet.len() {
                packet[bit / 8] ^= 1 << (bit % 8);
                break;
            }
            bit -= 8 * packet.len();
        }
        for packet in &packets {
            // The radio's CRC would have caught it: say that it did not.
            if let Some(message) = heard(&radio.packet(packet, true)) {
                let (verdict, _) = verdict_of(Some(message));
                assert_ne!(verdict, VerdictCode::Accepted, "bit {flipped}");
                *seen.entry(verdict).or_insert(0) += 1;
            }
        }
    }
    assert!(seen[&VerdictCode::BadSignature] > 200, "{seen:?}");
    assert!(seen[&VerdictCode::Malformed] > 10, "{seen:?}");
    assert_eq!(client.node(&node).await["counter"], json!(null));
    assert_eq!(verdict_of(radio.say(&response)), (VerdictCode::Accepted, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_radio_condemns_or_is_for_others_is_not_answered() {
    let (server, client) = served("air-silence", &[]);
    let gateway = Running::gateway(&server.address, &[]);
    let mut radio = Radio::new(&gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
    let hello = with_length(&radio.frames(&node.hello()).next().unwrap());
    let events = client.get("/v1/events").await;
    assert_eq!(radio.packet(&hello, false), Down::default(), "the CRC failed");
    for dst in [0x00, 0x02] {
        let mut other = hello.clone();
        other[1] = dst;
        assert_eq!(radio.packet(&other, true), Down::default(), "for {dst}");
    }
    let idle = Message::Idle(Idle { node_id: node.id });
    assert_eq!(radio.say(&idle), None, "only the gateway says IDLE");
    assert_eq!(client.get("/v1/events").await, events);

    // Truncated in the first fragment, which still names the node; in the last, which does not.
    let packets: Vec<_> = radio.frames(&node.report(b"x", 1)).map(|f| with_length(&f)).collect();
    let mut short = packets[0][..40].to_vec();
    short[0] = 39;
    assert_eq!(verdict_of(heard(&radio.packet(&short, true))), (VerdictCode::Malformed, 1));
    radio.packet(&packets[0], true);
    let mut short = packets[1][..20].to_vec();
    short[0] = 19;
    assert_eq!(verdict_of(heard(&radio.packet(&short, true))), (VerdictCode::Malformed, 1));
    let last = client.get("/v1/events?after=3").await["events"].clone();
    let last = last.as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["kind"], &last["verdict_name"]), (&json!("report"), &json!("malformed")));

    // A response has its counter behind the challenge's number.
    let response = node.response((77, [5; 16]), 9);
    let mut short = with_length(&radio.frames(&response).next().unwrap())[..40].to_vec();
    short[0] = 39;
    assert_eq!(verdict_of(heard(&radio.packet(&short, true))), (VerdictCode::Malformed, 9));

    // A radio that talks nonsense is hung up on; the others go on.
    let mut noise = TcpStream::connect(&gateway.address).unwrap();
    noise.write_all(&((MAX_UP_BYTES + 1) as u16).to_be_bytes()).unwrap();
    assert_eq!(noise.read(&mut [0; 8]).unwrap(), 0);
    let mut noise = TcpStream::connect(&gateway.address).unwrap();
    noise.write_all(&[0, 3, 9, 9, 9]).unwrap();
    assert_eq!(noise.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(radio.say(&node.hello()), Some(idle));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_means_silence_and_its_return_means_answers() {
    let folder = folder("air-away");
    let db = folder.join("s.db");
    let server = Running::server(&db, &[]);
    let address = server.address.clone();
    let gateway = Running::gateway(&address, &[]);
    let client = Client::new(&server);
    let mut radio = Radio::new(&gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
    let idle = Some(Message::Idle(Idle { node_id: node.id }));
    assert_eq!(radio.say(&node.hello()), idle);
    assert_eq!(server.signal("-INT"), Some(0));
    for _ in 0..3 {
        assert_eq!(radio.say(&node.hello()), None);
    }
    let _server = Running::start(&[
        "serve",
        "--listen",
        &address,
        "--db",
        db.to_str().unwrap(),
        "--clock",
        "driven",
    ]);
    // The token is as good as it was.
    assert_eq!(radio.say(&node.hello()), idle);
    // Said once, not three times; and the return.
    let back = gateway.tells("server-back", 1);
    assert_eq!(back[0]["unanswered"], 3);
    let away = gateway.told("server");
    assert_eq!(away.len(), 1, "{away:?}");
    let why = away[0]["why"].as_str().unwrap();
    assert!(why.contains(&address) && why.contains("nodes hear nothing"), "{why}");
}

/// A gateway that carries no token, or an ended one, hands nothing in, and its log says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_without_a_token_is_told_and_hands_nothing_in() {
    let folder = folder("air-token");
    let server = Running::server(&folder.join("s.db"), &[]);
    let client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.open(&node).await;
    let file = folder.join("token");
    std::fs::write(&file, "gateway-of-somebody-else\n").unwrap();
    let stranger = Running::gateway(&server.address, &["--token-file", file.to_str().unwrap()]);
    assert_eq!(Radio::new(&stranger).say(&node.enrol()), None);
    let why = stranger.tells("server", 1)[0]["why"].to_string();
    assert!(why.contains("401") && why.contains("unknown or revoked"), "{why}");
    assert_eq!(client.node(&node).await["state"], "open");

    std::fs::write(&file, format!("{}\n", server.tokens.gateway)).unwrap();
    let gateway = Running::gateway(&server.address, &["--token-file", file.to_str().unwrap()]);
    let mut radio = Radio::new(&gateway);
    assert_eq!(verdict_of(radio.say(&node.enrol())), (VerdictCode::Accepted, 0));
    let tokens = client.get("/v1/tokens").await["tokens"].clone();
    let of_gateway = tokens.as_array().unwrap().iter().find(|t| t["role"] == "gateway").unwrap();
    let path = format!("/v1/tokens/{}/revoke", of_gateway["token_id"]);
    assert_eq!(client.post(&path, json!({})).await.0, 200);
    assert_eq!(radio.say(&node.hello()), None);
    assert_eq!(client.post(&path, json!({})).await.0, 404);
}

/// Answers that are none of our server's: not JSON, no verdict known, half a challenge, 500, no HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_talks_nonsense_means_silence() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = Running::gateway(&listener.local_addr().unwrap().to_string(), &[]);
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"verdict\":77}",
        "HTTP/1.1 200 OK\r\ncontent-length: 38\r\n\r\n{\"challenge\":{\"challenge_id\":1,\"n\":2}}",
        "HTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\n{}",
        "\0\0\0",
    ];
    let server = std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 2048];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let mut radio = Radio::new(&gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    for answer in answers {
        assert_eq!(radio.say(&node.hello()), None, "{answer}");
    }
    server.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn fragments_may_come_twice_in_any_order_and_between_others() {
    let (server, client) = served("air-order", &[]);
    let gateway = Running::gateway(&server.address, &[]);
    // Two radios on two connections, and two nodes behind one of them.
    let mut radio = Radio::new(&gateway);
    let mut other_radio = Radio::new(&gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    let other = Node::new(2, Signer::new(Suite::EcdsaSecp160r1Sha1));
    for node in [&node, &other] {
        client.open(node).await;
    }
    let nothing = Down::default();
    let accepted = |down: &Down, reference| {
        assert_eq!(verdict_of(heard(down)), (VerdictCode::Accepted, reference));
    };
    let packets = |radio: &mut Radio, message: &Message| -> Vec<Vec<u8>> {
        radio.frames(message).map(|f| with_length(&f)).collect()
    };

    // ENROL is three fragments: last first, each twice before the message is whole.
    let enrol = packets(&mut radio, &node.enrol());
    assert_eq!(enrol.len(), 3);
    for at in [2, 2, 0, 0] {
        assert_eq!(radio.packet(&enrol[at], true), nothing);
    }
    accepted(&radio.packet(&enrol[1], true), 0);
    // The fragment that came again after that waits for a rest that never comes.
    assert_eq!(radio.packet(&enrol[1], true), nothing);

    // Two nodes' messages interleaved, from two radios with addresses of their own.
    let from = |mut packet: Vec<u8>, src: u8| {
        packet[2] = src;
        packet
    };
    let ours = packets(&mut radio, &node.report(b"ours", 3));
    let theirs = packets(&mut other_radio, &other.enrol());
    assert_eq!((ours.len(), theirs.len()), (2, 2));
    assert_eq!(radio.packet(&ours[0], true), nothing);
    assert_eq!(other_radio.packet(&from(theirs[0].clone(), 0x2b), true), nothing);
    accepted(&radio.packet(&ours[1], true), 3);
    accepted_from(&other_radio.packet(&from(theirs[1].clone(), 0x2b), true), 0x2b);

    // A whole message again, byte for byte, later than another gateway would: a replay, whoever sends it, and told as one.
    radio.time_us += 11_000_000;
    other_radio.time_us += 11_000_000;
    assert_eq!(other_radio.packet(&ours[0], true), nothing);
    let again = verdict_of(heard(&other_radio.packet(&ours[1], true)));
    assert_eq!(again, (VerdictCode::ReplayedCounter, 3));

    // A lost fragment: nothing, and the halves of two messages never make one.
    let first = packets(&mut radio, &node.report(b"1st", 4));
    let second = packets(&mut radio, &node.report(b"2nd", 5));
    assert_eq!(radio.packet(&first[0], true), nothing);
    assert_eq!(radio.packet(&second[1], true), nothing);
    accepted(&radio.packet(&second[0], true), 5);
    // The rest of the first message, too late: its other half was displaced.
    assert_eq!(radio.packet(&first[1], true), nothing);

    // The same fragment with other bytes: somebody lies, the message is thrown away.
    let third = packets(&mut radio, &node.report(b"3rd", 6));
    let mut forged = third[0].clone();
    forged[20] ^= 1;
    assert_eq!(radio.packet(&forged, true), nothing);
    let told = verdict_of(heard(&radio.packet(&third[0], true)));
    assert_eq!(told.0, VerdictCode::Malformed);
    assert_eq!(radio.packet(&third[1], true), nothing);
    let kept = client.node(&node).await;
    assert_eq!(kept["counter"], 5);
    assert_eq!(kept["verdicts"], json!({"accepted": 3, "replayed-counter": 1, "malformed": 1}));
}

fn accepted_from(down: &Down, src: u8) {
    let frames: Vec<_> = down.frames().collect();
    let frame = Frame::parse(&frames[0].frame).unwrap();
    assert_eq!((frame.dst, frame.src), (src, GATEWAY));
    let said = Message::decode(frame.kind, frame.fragment).unwrap();
    assert_eq!(verdict_of(Some(said)).0, VerdictCode::Accepted);
}

/// A node that babbles: every packet gets an answer of the air protocol, nothing is accepted, and
/// an honest node beside it is served.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_speaks_garbage_is_answered_and_changes_nothing() {
    let folder = folder("air-garbage");
    let server = Running::server(&folder.join("s.db"), &[]);
    let pcap = folder.join("air.pcap");
    let gateway = Running::gateway(&server.address, &["--pcap", pcap.to_str().unwrap()]);
    let client = Client::new(&server);
    let mut radio = Radio::new(&gateway);
    let mut babbler = Radio::new(&gateway);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&node).await;
    let mut dice = 0x1234_5678_u32;
    let mut byte = || {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (dice >> 24) as u8
    };
    let mut verdicts = std::collections::BTreeSet::new();
    for round in 0..400 {
        let mut packet: Vec<u8> = (0..=usize::from(byte()) % 80).map(|_| byte()).collect();
        if round % 2 == 0 && packet.len() > 14 {
            // Garbage behind a header that holds, in the honest node's name.
            packet[0] = (packet.len() - 1) as u8;
            packet[1] = GATEWAY;
            packet[3] = [1, 3, 4, 7][round / 2 % 4];
            packet[5] = 0;
            packet[6..14].copy_from_slice(&node.id.0);
        }
        let down = babbler.packet(&packet, true);
        for frame in down.frames() {
            let frame = Frame::parse(&frame.frame).unwrap();
            if let Message::Verdict(m) = Message::decode(frame.kind, frame.fragment).unwrap() {
                verdicts.insert(m.verdict);
            }
        }
    }
    assert!(verdicts.contains(&VerdictCode::Malformed), "{verdicts:?}");
    assert!(!verdicts.contains(&VerdictCode::Accepted), "{verdicts:?}");
    let kept = client.node(&node).await;
    assert_eq!((&kept["counter"], &kept["state"]), (&json!(null), &json!("enrolled")));
    let answer = verdict_of(radio.say(&node.report(b"fine", 1)));
    assert_eq!(answer, (VerdictCode::Accepted, 1));

    // The dissector lives through it as well, and says what is wrong.
    assert_eq!(gateway.signal("-TERM"), Some(0));
    if let Some(text) = wireshark(&pcap) {
        assert!(text.lines().count() > 400);
        let column = |line: &str| line.split('\t').nth(2).is_some_and(|s| !s.is_empty());
        let condemned = text.lines().filter(|line| column(line)).count();
        assert!(condemned > 300, "{condemned} of the packets are called malformed");
        assert!(
            text.lines().last().unwrap().starts_with("VERDICT counter=1 verdict=accepted\t1\t")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn losses_follow_their_seed() {
    let (server, _client, node) = enrolled("air-losses", &[], Suite::EcdsaP256Sha256).await;
    let answered = |seed: &str| {
        let losses = ["--drop-rate", "0.4", "--drop-seed", seed];
        let gateway = Running::gateway(&server.address, &losses);
        let mut radio = Radio::new(&gateway);
        (0..40).map(|_| radio.say(&node.hello()).is_some()).collect::<Vec<_>>()
    };
    let (first, again, other) = (answered("1"), answered("1"), answered("2"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    // Both ways lose two in five, so that nine in twenty-five are answered.
    let count = first.iter().filter(|&&a| a).count();
    assert!((6..24).contains(&count), "{count} of 40");
}

#[test]
fn the_airtime_of_a_full_packet_fits_the_data_rate() {
    // 61 bytes of frame, 11 around it, 8 bits each at 250 kBd.
    assert_eq!(airtime_us(61), (61 + 11) * 8 * 4);
    assert_eq!(Kind::Enrol.max_fragments(), 3);
}

/// Two gateways hear one frame: both answer with one verdict, and the node is blamed for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_two_gateways_heard_is_judged_once() {
    let (server, mut client, node) = enrolled("two-ears", &[], Suite::EcdsaP256Sha256).await;
    let gateways = [(); 2].map(|()| Running::gateway(&server.address, &[]));
    let mut radios = gateways.each_ref().map(Radio::new);
    client.ask(&node).await;
    let challenge = challenge_in(radios[0].say(&node.hello()));
    assert_eq!(challenge_in(radios[1].say(&node.hello())), challenge);
    let mut forged = node.report(b"forged", 9);
    if let Message::Report(report) = &mut forged {
        report.counter = 10;
    }
    let heard = [
        (node.response(challenge, 1), VerdictCode::Accepted, 1),
        (node.report(b"heard twice", 2), VerdictCode::Accepted, 2),
        (forged, VerdictCode::BadSignature, 10),
        (node.report(b"heard thrice", 2), VerdictCode::ReplayedCounter, 2),
    ];
    for (message, verdict, counter) in &heard {
        for radio in &mut radios {
            assert_eq!(verdict_of(radio.say(message)), (*verdict, *counter));
        }
    }
    let counted = json!({"accepted": 3, "bad-signature": 1, "replayed-counter": 1});
    assert_eq!(client.node(&node).await["verdicts"], counted);
    let told = client.get("/v1/events").await;
    let told = told["events"].as_array().unwrap().iter().filter(|e| e["kind"] == "duplicate");
    let told: Vec<_> = told
        .map(|e| [&e["detail"]["of"], &e["detail"]["first_verdict"]].map(|v| v.as_str().unwrap()))
        .collect();
    let expected = [
        ["response", "accepted"],
        ["report", "accepted"],
        ["report", "bad-signature"],
        ["report", "replayed-counter"],
    ];
    assert_eq!(told, expected);
    // What comes later is a replay.
    client.time_us += 30_000_000;
    assert_eq!(crate::common::verdict(&client.send(&heard[1].0).await), 3);
}

/// Sockets that say nothing, more than there are places, keep nobody out; and who has spoken keeps his place before them.
#[tokio::test(flavor = "multi_thread")]
async fn silent_radios_silence_no_gateway() {
    let (server, client, node) = enrolled("silent", &[], Suite::EcdsaP256Sha256).await;
    let gateway = Running::gateway(&server.address, &[]);
    let mut early = Radio::new(&gateway);
    assert_eq!(verdict_of(early.say(&node.report(b"before", 1))), (VerdictCode::Accepted, 1));
    let silent: Vec<_> = (0..2 * sunseal_server::gateway::MAX_CONNECTIONS)
        .map(|_| TcpStream::connect(&gateway.address).unwrap())
        .collect();
    let mut late = Radio::new(&gateway);
    late.time_us = early.time_us + 1_000_000;
    assert_eq!(verdict_of(late.say(&node.report(b"behind them", 2))), (VerdictCode::Accepted, 2));
    early.time_us = late.time_us + 1_000_000;
    assert_eq!(verdict_of(early.say(&node.report(b"still there", 3))), (VerdictCode::Accepted, 3));
    let told = gateway.tells("radio", 60);
    assert!(told[0]["why"].as_str().unwrap().contains("silent for longest"), "{}", told[0]);
    drop(silent);
    assert_eq!(client.node(&node).await["counter"], 3);
}

/// Callers that begin a message and do not end it are hung up, and nobody waits for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_does_not_come_whole_ends_its_radio_alone() {
    let (server, _client, node) = enrolled("half", &[], Suite::EcdsaP256Sha256).await;
    let gateway = Running::gateway(&server.address, &[]);
    let mut half = TcpStream::connect(&gateway.address).unwrap();
    half.write_all(&[0, 40, 1]).unwrap();
    let mut radio = Radio::new(&gateway);
    assert_eq!(verdict_of(radio.say(&node.report(b"whole", 1))), (VerdictCode::Accepted, 1));
    half.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    assert_eq!(half.read(&mut [0; 1]).unwrap(), 0, "hung up");
    let why = gateway.tells("radio", 1)[0]["why"].clone();
    assert!(why.as_str().unwrap().contains("did not come whole within 10 s"), "{why}");
}
