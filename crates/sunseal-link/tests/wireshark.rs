// SPDX-License-Identifier: MIT OR Apache-2.0
//! A capture opens in Wireshark with our dissector. Skipped, aloud, where tshark is missing,
//! unless `SUNSEAL_REQUIRE_TOOLS=1`.

use std::path::{Path, PathBuf};
use std::process::Command;

use sunseal_link::pcap::{self, Direction};
use sunseal_link::*;

fn packets(seq: u8, message: &Message) -> Vec<Vec<u8>> {
    fragments(GATEWAY, 0x2a, seq, message.kind(), &message.encode())
        .map(|f| [&[f.len() as u8], &f[..]].concat())
        .collect()
}

#[test]
fn tshark_reads_a_capture_and_reassembles_it() {
    let node_id = NodeId(*b"SUNSEAL\x01");
    let suite = Suite::EcdsaP256Sha256;
    let hello = Message::Hello(Hello {
        node_id,
        counter: 41,
        vcap_mv: 2700,
        reason: Reason::Ready,
        listen_ms: 0,
    });
    let response = Message::Response(Response {
        node_id,
        challenge_id: 77,
        counter: 42,
        suite,
        signature: InlineBytes::copy_of(&[0x5a; 64]).unwrap(),
    });
    let mut file = pcap::file_header().to_vec();
    let mut time_us = 86_399_999_990;
    for packet in packets(1, &hello).iter().chain(&packets(2, &response)) {
        file.extend_from_slice(&pcap::record(time_us, Direction::Heard, -61, 12, true, packet));
        time_us += 20;
    }
    let mut broken = packets(3, &hello).remove(0);
    broken.truncate(12);
    file.extend_from_slice(&pcap::record(time_us, Direction::Heard, -90, 99, false, &broken));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("link.pcap");
    std::fs::write(&path, file).unwrap();

    let lua = Path::new(env!("CARGO_MANIFEST_DIR")).join("wireshark/sunseal.lua");
    let fields = ["frame.time_epoch", "_ws.col.Protocol", "_ws.col.Info", "sunseal.rssi_dbm"];
    let mut tshark = Command::new("tshark");
    tshark.arg("-X").arg(format!("lua_script:{}", lua.display())).arg("-r").arg(&path);
    tshark.args(["-T", "fields", "-E", "separator=|"]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let out = match tshark.output() {
        Ok(out) => out,
        Err(e) if std::env::var("SUNSEAL_REQUIRE_TOOLS").as_deref() != Ok("1") => {
            println!("skipped: tshark cannot be run ({e}); install the package tshark");
            return;
        }
        Err(e) => panic!("SUNSEAL_REQUIRE_TOOLS=1, but tshark cannot be run: {e}"),
    };
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(!said.contains("Lua"), "the dissector complains: {said}");
    let text = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "86399.999990000|Sunseal|HELLO counter=41 vcap_mv=2700 reason=ready|-61",
            "86400.000010000|Sunseal|RESPONSE 1/2|-61",
            "86400.000030000|Sunseal|RESPONSE 2/2 challenge=77 counter=42 suite=ecdsa-p256-sha256|-61",
            "86400.000050000|Sunseal|HELLO|-90",
        ]
    );
}
