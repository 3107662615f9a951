// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latest words of gateways: kept in memory at each request, and on disk once a minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;

use super::App;
use crate::client::BACKLOG_HEADER;
use crate::store::gateways::{self, Contact};
use crate::store::origin::Origin;

const ON_DISK_US: u64 = 60_000_000;

/// Latest words, and when each was written last.
#[derive(Debug, Default)]
pub(super) struct Contacts(Mutex<HashMap<i64, (Contact, Option<u64>)>>);

impl Contacts {
    /// All that were heard since the start.
    pub(super) fn all(&self) -> HashMap<i64, Contact> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().map(|(id, (contact, _))| (*id, contact.clone())).collect()
    }

    /// Keeps a word; true if it is time to write it down.
    fn hear(&self, token_id: i64, contact: Contact) -> bool {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (latest, written_us) = heard.entry(token_id).or_insert((contact.clone(), None));
        let backlog = contact.backlog.or(latest.backlog);
        let last_us = contact.last_us.max(latest.last_us);
        *latest = Contact { last_us, backlog, ..contact };
        let due = written_us.is_none_or(|us| last_us >= us.saturating_add(ON_DISK_US));
        if due {
            *written_us = Some(last_us);
        }
        due
    }
}

impl App {
    /// Takes note of a gateway's request.
    pub(super) fn heard(
        self: &Arc<Self>,
        origin: Origin,
        said_us: Option<u64>,
        headers: &HeaderMap,
    ) {
        let Some(token_id) = origin.token_id else { return };
        let backlog = headers.get(BACKLOG_HEADER).and_then(|v| v.to_str().ok()?.parse().ok());
        let address = origin.address.map(|address| address.to_string());
        let contact = Contact { last_us: self.clock.now_us(said_us), address, backlog };
        if !self.contacts.hear(token_id, contact.clone()) {
            return;
        }
        // Whoever asked does not wait for this.
        let app = Arc::clone(self);
        tokio::spawn(async move {
            let keep = move |tx: &rusqlite::Connection, _| gateways::keep(tx, token_id, &contact);
            app.writer.submit(said_us, keep).await
        });
    }
}
