// SPDX-License-Identifier: MIT OR Apache-2.0
//! `data/vectors/link.json`: fixed bytes that the firmware checks itself against as well.
//!
//! `SUNSEAL_WRITE=1 cargo test -p sunseal-link --test vectors` writes the file; without it the
//! file must be what this crate makes. The layouts are checked once more here by hand-written
//! bytes, so that a changed encoder cannot bless itself.

use std::path::PathBuf;

use serde_json::{Value, json};
use sunseal_link::air::{Down, DownFrame, Listen, Train, Up, airtime_us};
use sunseal_link::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// `len` bytes counting up from `first`.
fn ramp<const N: usize>(first: u8, len: usize) -> InlineBytes<N> {
    let bytes: Vec<u8> = (0..len).map(|i| first.wrapping_add(i as u8)).collect();
    InlineBytes::copy_of(&bytes).unwrap()
}

const NODE: NodeId = NodeId([0x53, 0x55, 0x4e, 0x53, 0x45, 0x41, 0x4c, 0x01]);
const NONCE: [u8; 16] = [
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
];
const NODE_ADDRESS: u8 = 0x2a;

fn message(name: &str, seq: u8, m: Message, fields: Value) -> Value {
    let up = !matches!(m.kind(), Kind::Challenge | Kind::Verdict | Kind::Idle | Kind::Wake);
    let (dst, src) = if up { (GATEWAY, NODE_ADDRESS) } else { (NODE_ADDRESS, GATEWAY) };
    let body = m.encode();
    let packets: Vec<String> = fragments(dst, src, seq, m.kind(), &body)
        .map(|f| format!("{:02x}{}", f.len(), hex(&f)))
        .collect();
    json!({
        "name": name, "dst": dst, "src": src, "seq": seq, "kind": m.kind().code(),
        "fields": fields, "body": hex(&body), "packets": packets,
    })
}

fn messages() -> Vec<Value> {
    let node_id = NODE;
    let id = hex(&NODE.0);
    let mut out = vec![
        message(
            "hello",
            0,
            Message::Hello(Hello {
                node_id,
                counter: 0x0102_0304,
                vcap_mv: 2700,
                reason: Reason::Ready,
                listen_ms: 0,
            }),
            json!({"node_id": id, "counter": 0x0102_0304, "vcap_mv": 2700, "reason": 1}),
        ),
        message(
            "hello-listening",
            7,
            Message::Hello(Hello {
                node_id,
                counter: 0x0102_0304,
                vcap_mv: 2700,
                reason: Reason::Boot,
                listen_ms: 1000,
            }),
            json!({"node_id": id, "counter": 0x0102_0304, "vcap_mv": 2700, "reason": 0, "listen_ms": 1000}),
        ),
        message(
            "wake",
            8,
            Message::Wake(Wake {
                challenge: Challenge { node_id, challenge_id: 0x0a0b_0c0d, nonce: NONCE },
                left_ms: 1050,
            }),
            json!({"node_id": id, "challenge_id": 0x0a0b_0c0d, "nonce": hex(&NONCE), "left_ms": 1050}),
        ),
        message(
            "challenge",
            1,
            Message::Challenge(Challenge { node_id, challenge_id: 0x0a0b_0c0d, nonce: NONCE }),
            json!({"node_id": id, "challenge_id": 0x0a0b_0c0d, "nonce": hex(&NONCE)}),
        ),
        message(
            "verdict",
            2,
            Message::Verdict(Verdict {
                node_id,
                reference: 0xffff_fffe,
                verdict: VerdictCode::StaleChallenge,
            }),
            json!({"node_id": id, "reference": 0xffff_fffe_u32, "verdict": 4}),
        ),
        message("idle", 255, Message::Idle(Idle { node_id }), json!({"node_id": id})),
    ];
    out.extend(Suite::ALL.into_iter().flat_map(messages_of));
    out
}

/// The messages that depend on the suite.
fn messages_of(suite: Suite) -> Vec<Value> {
    let (node_id, id) = (NODE, hex(&NODE.0));
    let mut out = Vec::new();
    let signature = ramp(0x80, suite.signature_bytes());
    let public_key = ramp(0x10, suite.public_key_bytes());
    let name = suite.name();
    out.push(message(
        &format!("response-{name}"),
        3,
        Message::Response(Response {
            node_id,
            challenge_id: 0x0a0b_0c0d,
            counter: 7,
            suite,
            signature,
        }),
        json!({"node_id": id, "challenge_id": 0x0a0b_0c0d, "counter": 7,
               "suite": suite.code(), "signature": hex(&signature)}),
    ));
    for (len, seq) in [(0, 4), (5, 5), (16, 6)] {
        let data = ramp(0x40, len);
        out.push(message(
            &format!("report-{name}-{len}"),
            seq,
            Message::Report(Report { node_id, counter: 8, suite, data, signature }),
            json!({"node_id": id, "counter": 8, "suite": suite.code(),
                   "data": hex(&data), "signature": hex(&signature)}),
        ));
    }
    out.push(message(
        &format!("enrol-{name}"),
        9,
        Message::Enrol(Enrol { node_id, suite, public_key, signature }),
        json!({"node_id": id, "suite": suite.code(), "public_key": hex(&public_key),
               "signature": hex(&signature)}),
    ));
    out
}

fn signed_bytes() -> Vec<Value> {
    let id = hex(&NODE.0);
    let mut out = vec![json!({
        "name": "auth", "node_id": id, "challenge_id": 0x0a0b_0c0d, "nonce": hex(&NONCE),
        "counter": 7, "bytes": hex(&signed::auth(NODE, 0x0a0b_0c0d, &NONCE, 7)),
    })];
    for len in [0, 5, 16] {
        let data = ramp(0x40, len);
        out.push(json!({
            "name": "report", "node_id": id, "counter": 8, "data": hex(&data),
            "bytes": hex(&signed::report(NODE, 8, &data)),
        }));
    }
    for suite in Suite::ALL {
        let key: InlineBytes<64> = ramp(0x10, suite.public_key_bytes());
        out.push(json!({
            "name": "enrol", "node_id": id, "suite": suite.code(), "public_key": hex(&key),
            "bytes": hex(&signed::enrol(NODE, suite, &key).unwrap()),
        }));
    }
    out
}

fn refused_frames() -> Vec<Value> {
    let mut long = vec![1, 0x2a, 7, 0, 0x02];
    long.extend([0; 57]);
    let mut cut = vec![1, 0x2a, 3, 0, 0x01];
    cut.extend([0; 55]);
    [
        ("no bytes", vec![]),
        ("header only", vec![1, 0x2a, 1, 0, 0]),
        ("kind 0", vec![1, 0x2a, 0, 0, 0, 0]),
        ("kind 9", vec![1, 0x2a, 9, 0, 0, 0]),
        ("index at the count", vec![1, 0x2a, 3, 0, 0x21, 0]),
        ("more fragments than the kind takes", vec![1, 0x2a, 1, 0, 0x01, 0]),
        ("first fragment cut short", cut),
        ("longer than a packet", long),
    ]
    .into_iter()
    .map(|(name, bytes)| {
        let error = Frame::parse(&bytes).expect_err(name).to_string();
        json!({"name": name, "frame": hex(&bytes), "error": error})
    })
    .collect()
}

fn refused_bodies() -> Vec<Value> {
    let case = |name: &str, kind: Kind, body: &[u8]| {
        let error = Message::decode(kind, body).expect_err(name);
        json!({"name": name, "kind": kind.code(), "body": hex(body),
               "verdict": error.verdict().code(), "error": error.to_string()})
    };
    let suite = Suite::EcdsaSecp160r1Sha1;
    let response = Message::Response(Response {
        node_id: NODE,
        challenge_id: 1,
        counter: 2,
        suite,
        signature: ramp(0, 42),
    })
    .encode();
    let mut other = response.to_vec();
    other[16] = 9;
    let mut long = response.to_vec();
    long.push(0);
    vec![
        case("one byte short", Kind::Response, &response[..58]),
        case("one byte long", Kind::Response, &long),
        case("unknown suite", Kind::Response, &other),
        case("no suite", Kind::Response, &response[..16]),
        case("reason 3", Kind::Hello, &[&NODE.0[..], &[0, 0, 0, 1, 0, 0, 3]].concat()),
        case(
            "listens every 0 ms",
            Kind::Hello,
            &[&NODE.0[..], &[0, 0, 0, 1, 0, 0, 0x81, 0, 0]].concat(),
        ),
        case(
            "low and listens",
            Kind::Hello,
            &[&NODE.0[..], &[0, 0, 0, 1, 0, 0, 0x82, 0, 9]].concat(),
        ),
        case("half an identifier", Kind::Idle, &NODE.0[..4]),
    ]
}

fn air() -> Value {
    let packet = [&[6][..], &[1, 0x2a, 1, 0, 0, 0x99]].concat();
    let up =
        Up { time_us: 1_234_567_890_123, rssi_dbm: -61, lqi: 12, packet: &packet, crc_ok: true };
    let mut down = Down::default();
    let frame = InlineBytes::copy_of(&[0x2a, 1, 6, 0, 0, 0x99]).unwrap();
    assert!(down.push(DownFrame { delay_us: 2_000, frame }));
    let listen = Listen { from_us: 1_234_567_890_123, span_us: 1953 };
    let challenge = Challenge { node_id: NODE, challenge_id: 1, nonce: NONCE };
    let wake = Message::Wake(Wake { challenge, left_ms: 1050 });
    let frame_of = fragments(NODE_ADDRESS, GATEWAY, 8, Kind::Wake, &wake.encode()).next();
    let train = Train {
        start_us: 1_234_567_000_000,
        period_us: 1536,
        count: 683,
        frame: frame_of.unwrap(),
    };
    assert_eq!(airtime_us(train.frame.len()), 1472);
    assert_eq!(Listen::decode(&listen.encode()[2..]), Ok(listen));
    assert_eq!(Train::decode(&Train::encode(Some(&train))[2..]), Ok(Some(train)));
    assert_eq!(Train::decode(&Train::encode(None)[2..]), Ok(None));
    assert_eq!(hex(&train.frame(2)[33..]), "0417", "1050 ms less 2 x 1536 us, rounded up");
    let hurried = Train { period_us: 1471, ..train };
    let said = Train::decode(&Train::encode(Some(&hurried))[2..]).unwrap_err().to_string();
    assert!(said.contains("a frame lasts longer than the period of its train"), "{said}");
    json!({
        "up": {"time_us": up.time_us, "rssi_dbm": up.rssi_dbm, "lqi": up.lqi,
               "packet": hex(&packet), "crc_ok": true, "bytes": hex(&up.encode().unwrap())},
        "down": {"frames": [{"delay_us": 2_000, "frame": hex(&frame)}],
                 "bytes": hex(&down.encode())},
        "down_nothing": {"frames": [], "bytes": hex(&Down::default().encode())},
        "listen": {"from_us": listen.from_us, "span_us": listen.span_us, "bytes": hex(&listen.encode())},
        "train": {"start_us": train.start_us, "period_us": train.period_us, "count": train.count,
                  "frame": hex(&train.frame), "third_frame": hex(&train.frame(2)),
                  "bytes": hex(&Train::encode(Some(&train)))},
        "silence": {"bytes": hex(&Train::encode(None))},
    })
}

#[test]
fn the_vector_file_is_what_this_crate_makes() {
    let document = json!({
        "generated_by": "SUNSEAL_WRITE=1 cargo test -p sunseal-link --test vectors",
        "reference": "docs/reference/link.md",
        "messages": messages(),
        "signed_bytes": signed_bytes(),
        "refused_frames": refused_frames(),
        "refused_bodies": refused_bodies(),
        "air": air(),
    });
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data/vectors/link.json");
    if std::env::var_os("SUNSEAL_WRITE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == text,
        "data/vectors/link.json is not current: run {}",
        document["generated_by"]
    );
}

#[test]
fn layouts_by_hand() {
    let all = messages();
    let packets = |name: &str| -> Vec<String> {
        let m = all.iter().find(|m| m["name"] == name).unwrap();
        m["packets"].as_array().unwrap().iter().map(|p| p.as_str().unwrap().to_owned()).collect()
    };
    // length, dst, src, kind, seq, frag | node_id | counter | vcap_mv | reason
    assert_eq!(
        packets("hello"),
        ["14012a010000".to_owned() + "53554e5345414c01" + "01020304" + "0a8c" + "01"]
    );
    assert_eq!(
        packets("hello-listening"),
        ["16012a010700".to_owned() + "53554e5345414c01" + "01020304" + "0a8c" + "80" + "03e8"]
    );
    let challenge = "212a01020100".to_owned()
        + "53554e5345414c01"
        + "0a0b0c0d"
        + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    assert_eq!(packets("challenge"), [challenge]);
    let response = packets("response-ecdsa-secp160r1-sha1");
    assert_eq!(response.len(), 2);
    assert!(response[0].starts_with(
        &("3d012a030301".to_owned() + "53554e5345414c01" + "0a0b0c0d" + "00000007" + "02" + "8081")
    ));
    assert_eq!(response[1], "08012a030311".to_owned() + "a7a8a9");
    let all = signed_bytes();
    let auth = all[0]["bytes"].as_str().unwrap();
    let want = hex(b"sunseal-auth-v1")
        + "53554e5345414c01"
        + "0a0b0c0d"
        + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
        + "00000007";
    assert_eq!(auth, want);
    assert_eq!(
        all[2]["bytes"].as_str().unwrap(),
        hex(b"sunseal-report-v1") + "53554e5345414c01" + "00000008" + "05" + "4041424344"
    );
    let air = air();
    // length, type, time_us, rssi, lqi, packet, crc_ok
    assert_eq!(
        air["up"]["bytes"],
        "0013".to_owned() + "01" + "0000011f71fb04cb" + "c3" + "0c" + "06012a01000099" + "01"
    );
    assert_eq!(
        air["down"]["bytes"],
        "000d".to_owned() + "8101" + "000007d0" + "06" + "2a0106000099"
    );
    assert_eq!(air["down_nothing"]["bytes"], "00028100");
}
