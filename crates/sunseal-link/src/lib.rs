// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames and link layer, shared by node, gateway and server; no I/O.
//!
//! From the air inwards:
//!
//! * [`pcap`]: what a capture file holds, as bytes;
//! * [`air`]: what the radio (simulated, or a serial dongle) and the gateway say to each other;
//! * [`frame`]: one radio packet, parsed and written; a body cut into frames;
//! * [`reassembly`]: frames put together again, in memory fixed at compile time;
//! * [`message`]: the eight bodies, and what a verdict may say;
//! * [`signed`]: the bytes a signature covers.
//!
//! The normative text is `docs/reference/link.md`; the fixed vectors, which the firmware checks
//! itself against as well, are `data/vectors/link.json`.
//!
//! Nothing here allocates except the sentence of an error when someone prints it. All integers
//! on the air are big-endian.

#[macro_use]
mod code;

pub mod air;
pub mod bytes;
pub mod error;
pub mod frame;
pub mod message;
pub mod pcap;
pub mod reassembly;
pub mod signed;
pub mod suite;

pub use bytes::InlineBytes;
pub use error::LinkError;
pub use frame::{BROADCAST, Fragments, Frame, GATEWAY, Kind, fragments};
pub use message::{
    Body, Challenge, Enrol, Hello, Idle, Message, NodeId, Reason, Report, Response, Verdict,
    VerdictCode, Wake,
};
pub use reassembly::{Assembled, Progress, Reassembler};
pub use suite::Suite;
