// SPDX-License-Identifier: MIT OR Apache-2.0
//! Caller for whom the present piece of work is done: named in each event, and held to a share of the log.
//!
//! The writing thread works off one request after another; while it works on one, this is whose it is. Functions that
//! judge and log need not hand it through.

use std::cell::Cell;
use std::net::IpAddr;

use serde_json::Value;

/// A caller: which token it showed, and where it called from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The token's number; none where nobody is asked for one.
    pub token_id: Option<i64>,
    /// The address of its connection: a proxy's, if there is one.
    pub address: Option<IpAddr>,
}

thread_local! {
    static PRESENT: Cell<Origin> = const { Cell::new(Origin { token_id: None, address: None }) };
}

struct Restore(Origin);

impl Drop for Restore {
    fn drop(&mut self) {
        PRESENT.set(self.0);
    }
}

/// Does `work` for `origin`; ends with it, also by a panic.
pub fn on_behalf<T>(origin: Origin, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(PRESENT.replace(origin));
    work()
}

/// Whom the present work is for.
pub fn present() -> Origin {
    PRESENT.get()
}

impl Origin {
    /// Names it in an event's detail.
    pub(super) fn sign(self, detail: &mut Value) {
        if let (Some(token_id), Some(detail)) = (self.token_id, detail.as_object_mut()) {
            detail.insert("token_id".to_owned(), token_id.into());
        }
        if let (Some(address), Some(detail)) = (self.address, detail.as_object_mut()) {
            detail.insert("address".to_owned(), address.to_string().into());
        }
    }
}
