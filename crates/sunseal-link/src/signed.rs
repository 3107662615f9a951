// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes a signature covers. Each begins with a text of its own, so that no signature made
//! for one purpose fits another.

use crate::bytes::InlineBytes;
use crate::message::{MAX_DATA_BYTES, NodeId};
use crate::suite::Suite;

/// Opens what a RESPONSE signs.
pub const AUTH_CONTEXT: &[u8; 15] = b"sunseal-auth-v1";
/// Opens what a REPORT signs.
pub const REPORT_CONTEXT: &[u8; 17] = b"sunseal-report-v1";
/// Opens what an ENROL signs.
pub const ENROL_CONTEXT: &[u8; 16] = b"sunseal-enrol-v1";

/// Room for the longest: an ENROL with a P-256 key, 16 + 8 + 1 + 64.
pub type SignedBytes = InlineBytes<89>;

/// What a RESPONSE signs.
pub fn auth(node_id: NodeId, challenge_id: u32, nonce: &[u8; 16], counter: u32) -> SignedBytes {
    let mut out = SignedBytes::new();
    out.put(AUTH_CONTEXT);
    out.put(&node_id.0);
    out.put(&challenge_id.to_be_bytes());
    out.put(nonce);
    out.put(&counter.to_be_bytes());
    out
}

/// What a REPORT signs.
pub fn report(node_id: NodeId, counter: u32, data: &InlineBytes<MAX_DATA_BYTES>) -> SignedBytes {
    let mut out = SignedBytes::new();
    out.put(REPORT_CONTEXT);
    out.put(&node_id.0);
    out.put(&counter.to_be_bytes());
    out.put(&[data.len() as u8]);
    out.put(data);
    out
}

/// What an ENROL signs; `None` if the key has not the size of its suite.
pub fn enrol(node_id: NodeId, suite: Suite, public_key: &[u8]) -> Option<SignedBytes> {
    if public_key.len() != suite.public_key_bytes() {
        return None;
    }
    let mut out = SignedBytes::new();
    out.put(ENROL_CONTEXT);
    out.put(&node_id.0);
    out.put(&[suite.code()]);
    out.put(public_key);
    Some(out)
}
