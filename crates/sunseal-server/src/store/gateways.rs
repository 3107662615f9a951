// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gateways as the server has met them: one for each token of that role.

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::duration;

/// Latest word of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Time of its latest request.
    pub last_us: u64,
    /// Address of that request's connection.
    pub address: Option<String>,
    /// Messages that it has heard and the server has not answered, as it says itself.
    pub backlog: Option<u32>,
}

/// Keeps a gateway's latest word; an older one changes nothing.
pub fn keep(db: &Connection, token_id: i64, contact: &Contact) -> rusqlite::Result<()> {
    let sql = "INSERT INTO gateways SELECT ?1, ?2, ?3, ?4
            WHERE EXISTS (SELECT 1 FROM tokens WHERE token_id = ?1 AND role = 'gateway')
        ON CONFLICT DO UPDATE SET last_us = ?2, address = ?3, backlog = ?4 WHERE last_us <= ?2";
    let values = params![token_id, contact.last_us, contact.address, contact.backlog];
    db.prepare_cached(sql)?.execute(values).map(|_| ())
}

/// Name of the token of that number, for events that it signed.
pub fn name_of(db: &Connection, token_id: i64) -> rusqlite::Result<Option<(String, String)>> {
    let sql = "SELECT role, name FROM tokens WHERE token_id = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([token_id])?;
    rows.next()?.map(|row| Ok((row.get(0)?, row.get(1)?))).transpose()
}

/// Conditions on gateways, all of which must hold.
#[derive(Clone, Debug, Default)]
pub struct GatewayFilter {
    /// State of its token, `active` or `ended`.
    pub state: Option<&'static str>,
    /// Letters that its name has in it, in either case.
    pub name: Option<String>,
    /// Silent since before this time, or never heard of.
    pub seen_before_us: Option<u64>,
}

/// Hands gateways behind `after` to `take`, the latest made first, until it takes no more; the number behind which the next
/// page begins, if there may be one. `latest` knows words that are not on disk yet.
pub fn gateways(
    db: &Connection,
    now_us: u64,
    filter: &GatewayFilter,
    after: Option<i64>,
    latest: impl Fn(i64) -> Option<Contact>,
    mut take: impl FnMut(&Value) -> bool,
) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT tokens.token_id, name, made_us, first_used_us, revoked_us, last_us, address, backlog
        FROM tokens LEFT JOIN gateways USING (token_id)
        WHERE role = 'gateway' AND tokens.token_id < ?1 ORDER BY tokens.token_id DESC";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([after.unwrap_or(i64::MAX)])?;
    let mut last = after;
    while let Some(row) = rows.next()? {
        let (token_id, name): (i64, String) = (row.get(0)?, row.get(1)?);
        let kept: Option<u64> = row.get(5)?;
        let kept = match kept {
            Some(last_us) => Some(Contact { last_us, address: row.get(6)?, backlog: row.get(7)? }),
            None => None,
        };
        let contact = latest(token_id).or(kept);
        let state = if row.get::<_, Option<u64>>(4)?.is_some() { "ended" } else { "active" };
        let last_us = contact.as_ref().map(|c| c.last_us);
        let wanted = filter.state.is_none_or(|s| s == state)
            && filter
                .name
                .as_ref()
                .is_none_or(|part| name.to_ascii_lowercase().contains(&part.to_ascii_lowercase()))
            && filter.seen_before_us.is_none_or(|us| last_us.is_none_or(|last| last < us));
        let shown = json!({
            "token_id": token_id, "name": name, "state": state,
            "made_us": row.get::<_, u64>(2)?, "first_used_us": row.get::<_, Option<u64>>(3)?,
            "revoked_us": row.get::<_, Option<u64>>(4)?, "last_contact_us": last_us,
            "silent_for": last_us.map(|us| duration(now_us.saturating_sub(us))),
            "address": contact.as_ref().and_then(|c| c.address.clone()),
            "backlog": contact.as_ref().and_then(|c| c.backlog),
        });
        if wanted && !take(&shown) {
            return Ok(last);
        }
        last = Some(token_id);
    }
    Ok(None)
}
