// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's end of the air protocol, as the simulated CC2500 has it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sunseal_link::air::MAX_DOWN_BYTES;
use sunseal_link::{Fragments, GATEWAY, Message, fragments};

use super::Running;

/// The node's address on the air.
pub const ADDRESS: u8 = 0x2a;

pub struct Radio {
    pub stream: TcpStream,
    pub time_us: u64,
    pub seq: u8,
}

impl Radio {
    pub fn new(gateway: &Running) -> Self {
        let stream = TcpStream::connect(&gateway.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { stream, time_us: 1_000_000, seq: 0 }
    }

    /// What the gateway answers to one thing that went up.
    pub fn exchange(&mut self, up: &[u8]) -> Vec<u8> {
        self.stream.write_all(up).unwrap();
        let mut len = [0; 2];
        self.stream.read_exact(&mut len).unwrap();
        let len = usize::from(u16::from_be_bytes(len));
        assert!(len <= MAX_DOWN_BYTES);
        let mut bytes = vec![0; len];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The frames of the next message.
    pub fn frames(&mut self, message: &Message) -> Fragments {
        self.seq = self.seq.wrapping_add(1);
        fragments(GATEWAY, ADDRESS, self.seq, message.kind(), &message.encode())
    }
}
