// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens: who may speak to the server as its operator, and who as a gateway.
//!
//! A token is 192 random bits, shown once, when it is made. The database keeps its SHA-256, which
//! nobody can turn back: there is nothing to guess in a random number of that length.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::{HeaderMap, header};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

use crate::{hex, store};

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Operator,
    /// To look: lists, events, summary, metrics.
    Read,
    /// To look, and to queue challenges.
    Challenge,
    /// To look, and to open, import and change nodes.
    Enrol,
    /// To hand in what nodes said.
    Gateway,
}

impl Role {
    /// All roles, as they are told to people.
    pub const ALL: [Self; 5] =
        [Self::Operator, Self::Read, Self::Challenge, Self::Enrol, Self::Gateway];

    /// Its name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Read => "read",
            Self::Challenge => "challenge",
            Self::Enrol => "enrol",
            Self::Gateway => "gateway",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// An operator may do what every other role does; who may challenge or enrol may look as well.
    pub fn covers(self, needed: Self) -> bool {
        let looks = matches!(self, Self::Challenge | Self::Enrol) && needed == Self::Read;
        self == Self::Operator || self == needed || looks
    }
}

fn hash(token: &str) -> [u8; 32] {
    digest(&SHA256, token.as_bytes()).as_ref().try_into().unwrap_or([0; 32])
}

/// Makes a token. The answer is the only place where it ever stands.
pub fn make(db: &Connection, now_us: u64, role: Role, name: &str) -> rusqlite::Result<Value> {
    make_until(db, now_us, role, name, None)
}

/// Makes a token that ends by itself at `expires_us`, if that is given.
pub fn make_until(
    db: &Connection,
    now_us: u64,
    role: Role,
    name: &str,
    expires_us: Option<u64>,
) -> rusqlite::Result<Value> {
    let mut bytes = [0; 24];
    aws_lc_rs::rand::fill(&mut bytes).expect("the system's random numbers fail");
    let token = format!("{}-{}", role.name(), hex::encode(&bytes));
    db.execute(
        "INSERT INTO tokens (role, name, hash, made_us, expires_us) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![role.name(), name, hash(&token), now_us, expires_us],
    )?;
    let token_id = db.last_insert_rowid();
    let detail =
        json!({"made": token_id, "role": role.name(), "name": name, "expires_us": expires_us});
    store::audit(db, now_us, "token-made", false, detail)?;
    Ok(json!({"token_id": token_id, "role": role.name(), "name": name, "token": token,
              "expires_us": expires_us}))
}

/// Holder of a token that was shown.
#[derive(Clone, Copy, Debug)]
pub struct Bearer {
    /// Number of the token in its table.
    pub token_id: i64,
    /// Role that the token gives its holder.
    pub role: Role,
    /// It was never used before.
    pub first: bool,
}

/// Finds the holder of a token, unless it is unknown, revoked or over.
pub fn bearer_of(db: &Connection, now_us: u64, token: &str) -> rusqlite::Result<Option<Bearer>> {
    let sql = "SELECT token_id, role, first_used_us IS NULL FROM tokens
        WHERE hash = ?1 AND revoked_us IS NULL AND ifnull(expires_us > ?2, 1)";
    let found: Option<(i64, String, bool)> = db
        .prepare_cached(sql)?
        .query_row(params![hash(token), now_us], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        .optional()?;
    Ok(found.and_then(|(token_id, role, first)| {
        Some(Bearer { token_id, role: Role::from_name(&role)?, first })
    }))
}

/// Keeps when a token was used first.
pub fn used(db: &Connection, now_us: u64, token_id: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE tokens SET first_used_us = ?2 WHERE token_id = ?1 AND first_used_us IS NULL";
    if db.execute(sql, params![token_id, now_us])? == 1 {
        store::audit(db, now_us, "token-used", false, json!({"used": token_id}))?;
    }
    Ok(())
}

/// Whether there is a token of this role that holds.
pub fn any(db: &Connection, role: Role) -> rusqlite::Result<bool> {
    db.prepare("SELECT 1 FROM tokens WHERE role = ?1 AND revoked_us IS NULL")?.exists([role.name()])
}

/// All tokens ever made, without the tokens.
pub fn list(db: &Connection) -> rusqlite::Result<Vec<Value>> {
    let sql = "SELECT token_id, role, name, made_us, revoked_us, first_used_us, expires_us
        FROM tokens ORDER BY token_id";
    db.prepare(sql)?
        .query_map([], |r| {
            Ok(json!({"token_id": r.get::<_, i64>(0)?, "role": r.get::<_, String>(1)?,
                      "name": r.get::<_, String>(2)?, "made_us": r.get::<_, u64>(3)?,
                      "revoked_us": r.get::<_, Option<u64>>(4)?,
                      "first_used_us": r.get::<_, Option<u64>>(5)?,
                      "expires_us": r.get::<_, Option<u64>>(6)?}))
        })?
        .collect()
}

/// Ends a token; false if there is none of that number that still holds.
pub fn revoke(db: &Connection, now_us: u64, token_id: i64) -> rusqlite::Result<bool> {
    let sql = "UPDATE tokens SET revoked_us = ?2 WHERE token_id = ?1 AND revoked_us IS NULL";
    let ended = db.execute(sql, params![token_id, now_us])? == 1;
    if ended {
        store::audit(db, now_us, "token-ended", false, json!({"ended": token_id}))?;
    }
    Ok(ended)
}

/// The token that a request carries: `Bearer`, or the password of `Basic`, which browsers ask for.
pub fn carried(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    let pair = scheme.eq_ignore_ascii_case("basic").then(|| base64(rest.trim()))??;
    let (_user, password) = std::str::from_utf8(&pair).ok()?.split_once(':')?;
    Some(password.to_owned())
}

/// RFC 4648, section 4.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_are_read() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(base64("Zm9*"), None);
    }

    #[test]
    fn a_token_comes_as_bearer_or_as_password() {
        let carried_by = |value: &str| {
            carried(&HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]))
        };
        assert_eq!(carried_by("bearer t-1").as_deref(), Some("t-1"));
        // RFC 7617, section 2: Aladdin:open sesame
        assert_eq!(
            carried_by("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==").as_deref(),
            Some("open sesame")
        );
        for wrong in ["t-1", "Digest t-1", "Basic QWxhZGRpbg=="] {
            assert_eq!(carried_by(wrong), None, "{wrong}");
        }
    }
}
