// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with bytes from the air, as sentences with an offset.

use crate::frame::Kind;
use crate::message::VerdictCode;
use crate::suite::Suite;

/// Why bytes are not what they should be. `offset` counts from the first byte of the thing
/// named in the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The bytes end too early.
    #[error("a {what} ends at offset {offset} where {wanted} bytes are wanted")]
    Short {
        /// What was being read.
        what: &'static str,
        /// Where the bytes end.
        offset: usize,
        /// How many bytes it takes.
        wanted: usize,
    },
    /// There are bytes after the end.
    #[error("a {what} ends at offset {offset}, but {extra} more bytes follow")]
    Long {
        /// What was being read.
        what: &'static str,
        /// Where it should have ended.
        offset: usize,
        /// How many bytes are too many.
        extra: usize,
    },
    /// The radio's length byte and the bytes behind it disagree.
    #[error("the length byte at offset 0 says {said} bytes, {found} follow it")]
    Length {
        /// The value of the byte.
        said: u8,
        /// The bytes that are there.
        found: usize,
    },
    /// A kind that no frame has.
    #[error("the frame's kind at offset 2 is {0}; kinds are 1 to 8")]
    Kind(u8),
    /// A fragment beyond the count, or a count that no body of this kind needs.
    #[error(
        "fragment {index} of {count} at offset 4 cannot be: a {kind} takes at most {most} frames"
    )]
    Fragment {
        index: u8,
        count: u8,
        /// The kind of the frame.
        kind: Kind,
        /// The most frames a body of this kind takes.
        most: u8,
    },
    /// Only the last fragment may be shorter than a full one.
    #[error(
        "fragment {index} of {count} carries {found} bytes from offset 5; all but the last carry 56, the last 1 to 56"
    )]
    FragmentSize {
        index: u8,
        count: u8,
        /// The bytes it carries.
        found: usize,
    },
    /// The same fragment came twice with different bytes: one of them is forged or damaged.
    #[error(
        "fragment {index} of message {seq} from address {src:#04x} came twice with different bytes; both are thrown away"
    )]
    Conflict {
        /// Short address of the sender.
        src: u8,
        /// The message's sequence number.
        seq: u8,
        index: u8,
    },
    /// A suite number that stands for nothing.
    #[error("the suite at offset {offset} is {code}; suites are 1 to 3")]
    Suite {
        /// Where the byte is.
        offset: usize,
        code: u8,
    },
    /// A byte out of its range.
    #[error("the {what} at offset {offset} is {value}; {wanted}")]
    Value {
        what: &'static str,
        offset: usize,
        value: u64,
        /// What would be right.
        wanted: &'static str,
    },
    /// A signature or key of the wrong size for its suite.
    #[error("a {what} of {} takes {wanted} bytes, {found} stand from offset {offset}", suite.name())]
    SuiteSize {
        /// "signature" or "public key and signature".
        what: &'static str,
        /// The suite the body names.
        suite: Suite,
        offset: usize,
        /// Bytes that suite takes.
        wanted: usize,
        /// Bytes that are there.
        found: usize,
    },
}

impl LinkError {
    /// What a VERDICT frame says of it.
    pub const fn verdict(&self) -> VerdictCode {
        match self {
            Self::Suite { .. } => VerdictCode::WrongSuite,
            _ => VerdictCode::Malformed,
        }
    }
}
