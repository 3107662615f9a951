// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of facts: the only crate that reads TOML.
//!
//! - [`Library`] and [`Room`]: folders of devices, boards, parts and power sets, the user's own first, and what a file
//!   extends;
//! - [`parse`], [`from_table`] and [`from_file`]: text or tables as a type of the crate that knows what the facts mean;
//! - [`text`](text()): a file's text, each opened once a process;
//! - [`NotRead`]: why that failed, with file and key;
//! - [`sourced!`]: the fields by which a table says where its figures come from;
//! - [`optional!`]: tables of which every key may be absent.

mod library;
mod reading;
mod text;

pub use library::{Library, PART_KINDS, ROOMS, Room, nearest};
pub use reading::{NotRead, from_file, from_table, parse};
pub use text::text;
pub use toml::{Table, Value};

/// Declares a table of which a file may leave out every key, as a strict type: what is absent stays as it is elsewhere.
#[macro_export]
macro_rules! optional {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field:meta])* pub $key:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field])* pub $key: Option<$type>,)*
        }
    };
}

/// Declares a table of facts as a strict type: the given fields, and those that say where its figures come from.
#[macro_export]
macro_rules! sourced {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field:meta])* pub $key:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field])* pub $key: $type,)*
            /// Document, and the place in it.
            pub source: String,
            /// Remark that whoever uses the figures should mind.
            #[serde(default)]
            pub note: String,
            /// True if a figure is unchecked: from memory, not from its document.
            #[serde(default)]
            pub recalled: bool,
            /// Reason for which a figure is an assumption of ours and of no document, and what would settle it.
            pub assumed: Option<String>,
        }
    };
}
