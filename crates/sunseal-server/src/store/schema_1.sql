-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The tables of schema version 1. Never changed: files of users have them.
CREATE TABLE nodes (
    node_id BLOB PRIMARY KEY CHECK (length(node_id) = 8),
    name TEXT NOT NULL,
    suite INTEGER,
    public_key BLOB,
    counter INTEGER,
    period_us INTEGER,
    opened_us INTEGER NOT NULL,
    enrolled_us INTEGER,
    last_seen_us INTEGER,
    last_accepted_us INTEGER,
    vcap_mv INTEGER,
    reason TEXT,
    CHECK ((suite IS NULL) = (public_key IS NULL) AND (suite IS NULL) = (enrolled_us IS NULL))
) STRICT;
CREATE TABLE challenges (
    challenge_id INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id BLOB NOT NULL REFERENCES nodes (node_id),
    queued_us INTEGER NOT NULL,
    not_before_us INTEGER NOT NULL,
    nonce BLOB CHECK (length(nonce) = 16),
    issued_us INTEGER,
    expires_us INTEGER,
    answered_us INTEGER
) STRICT;
CREATE INDEX challenges_of_node ON challenges (node_id, answered_us, issued_us);
CREATE TABLE events (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_us INTEGER NOT NULL,
    node_id BLOB,
    kind TEXT NOT NULL,
    verdict INTEGER,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_node ON events (node_id, event_id);
CREATE INDEX events_of_kind ON events (kind, verdict, node_id) WHERE verdict IS NOT NULL;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END;
