// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps that make the tables. One that a release had is never changed: files of users have it.

/// A file of version `v` still needs those from index `v` on.
pub(super) const STEPS: [&str; 9] = [
    SCHEMA_1, UPGRADE_2, UPGRADE_3, UPGRADE_4, UPGRADE_5, UPGRADE_6, UPGRADE_7, UPGRADE_8,
    UPGRADE_9,
];

const SCHEMA_1: &str = include_str!("schema_1.sql");

/// `counts` has the verdicts of each known node, and of all messages under the empty node_id;
/// `bursts` what of the current minute is beyond the log's limit.
const UPGRADE_2: &str = "
ALTER TABLE nodes ADD COLUMN revoked_us INTEGER;
ALTER TABLE nodes ADD COLUMN challenges_asked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN challenges_issued INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN challenges_answered INTEGER NOT NULL DEFAULT 0;
UPDATE nodes SET (challenges_asked, challenges_issued, challenges_answered) =
    (SELECT count(*), count(issued_us), count(answered_us)
     FROM challenges WHERE challenges.node_id = nodes.node_id);
DROP INDEX challenges_of_node;
CREATE INDEX challenges_waiting ON challenges (node_id, not_before_us, challenge_id)
    WHERE issued_us IS NULL;
CREATE INDEX challenges_out ON challenges (node_id, expires_us)
    WHERE issued_us IS NOT NULL AND answered_us IS NULL;
CREATE INDEX challenges_expiring ON challenges (expires_us)
    WHERE issued_us IS NOT NULL AND answered_us IS NULL;
CREATE TABLE counts (
    node_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    verdict INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (node_id, kind, verdict)
) STRICT, WITHOUT ROWID;
INSERT INTO counts SELECT node_id, kind, verdict, count(*) FROM events JOIN nodes USING (node_id)
    WHERE verdict IS NOT NULL GROUP BY node_id, kind, verdict;
INSERT INTO counts SELECT x'', kind, verdict, count(*) FROM events
    WHERE verdict IS NOT NULL GROUP BY kind, verdict;
CREATE TABLE accepted (suite INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;
INSERT INTO accepted SELECT nodes.suite, count(*) FROM events JOIN nodes USING (node_id)
    WHERE events.kind IN ('response', 'report') AND events.verdict = 0 GROUP BY nodes.suite;
DROP INDEX events_of_kind;
CREATE TABLE bursts (
    minute INTEGER NOT NULL,
    node_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    verdict INTEGER NOT NULL,
    count INTEGER NOT NULL,
    last_us INTEGER NOT NULL,
    PRIMARY KEY (minute, node_id, kind, verdict)
) STRICT, WITHOUT ROWID;
CREATE TABLE retired_keys (
    node_id BLOB NOT NULL REFERENCES nodes (node_id),
    public_key BLOB NOT NULL,
    suite INTEGER NOT NULL,
    counter INTEGER,
    retired_us INTEGER NOT NULL,
    PRIMARY KEY (node_id, public_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
    token_id INTEGER PRIMARY KEY AUTOINCREMENT,
    role TEXT NOT NULL CHECK (role IN ('operator', 'gateway')),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    made_us INTEGER NOT NULL,
    revoked_us INTEGER
) STRICT;
CREATE TABLE health (tried_us INTEGER NOT NULL, room BLOB NOT NULL) STRICT;
INSERT INTO health VALUES (0, x'');
";

/// Period with which a node that can be woken looks at the air, by its latest HELLO.
const UPGRADE_3: &str = "
ALTER TABLE nodes ADD COLUMN listen_us INTEGER;
CREATE INDEX nodes_listening ON nodes (node_id) WHERE listen_us IS NOT NULL;
";

/// Intents (what the operator wants to know) outlive the nonce that they were handed out with. Before this step a
/// challenge ended with its nonce; those that wait get the default life.
const UPGRADE_4: &str = "
ALTER TABLE challenges ADD COLUMN intent_expires_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE challenges ADD COLUMN issues INTEGER NOT NULL DEFAULT 0;
ALTER TABLE challenges ADD COLUMN former_nonce BLOB CHECK (length(former_nonce) = 16);
ALTER TABLE challenges ADD COLUMN ended_us INTEGER;
UPDATE challenges SET issues = (issued_us IS NOT NULL),
    intent_expires_us = coalesce(expires_us, max(queued_us, not_before_us) + 2592000000000);
ALTER TABLE nodes ADD COLUMN challenges_expired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN unanswered_since_us INTEGER;
DROP INDEX challenges_waiting;
DROP INDEX challenges_out;
DROP INDEX challenges_expiring;
CREATE INDEX challenges_open ON challenges (node_id, not_before_us, challenge_id)
    WHERE answered_us IS NULL AND ended_us IS NULL;
CREATE INDEX challenges_ending ON challenges (intent_expires_us)
    WHERE answered_us IS NULL AND ended_us IS NULL;
CREATE INDEX challenges_out ON challenges (expires_us)
    WHERE issued_us IS NOT NULL AND answered_us IS NULL AND ended_us IS NULL;
";

/// The frame that was last accepted of a node, by half of its SHA-256: another gateway may have heard it, too.
const UPGRADE_5: &str = "
ALTER TABLE nodes ADD COLUMN last_frame BLOB CHECK (length(last_frame) = 16);
";

/// Shares that each sender has taken of a minute's log, and how far the log has been cut at its oldest end.
const UPGRADE_6: &str = "
ALTER TABLE bursts ADD COLUMN rows INTEGER NOT NULL DEFAULT 0;
UPDATE bursts SET rows = min(count, 20);
CREATE TABLE spent (
    minute INTEGER NOT NULL,
    token_id INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (minute, token_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE pruned (to_event INTEGER NOT NULL) STRICT;
INSERT INTO pruned VALUES (0);
DROP TRIGGER events_are_never_deleted;
CREATE TRIGGER events_are_only_pruned BEFORE DELETE ON events
    WHEN old.event_id > (SELECT to_event FROM pruned)
    BEGIN SELECT RAISE(ABORT, 'the event log is cut at its oldest end alone'); END;
CREATE TRIGGER pruning_is_never_taken_back BEFORE UPDATE ON pruned
    WHEN new.to_event < old.to_event
    BEGIN SELECT RAISE(ABORT, 'what was pruned is gone'); END;
";

/// Nodes that a gateway could call, and no others.
const UPGRADE_7: &str = "
DROP INDEX nodes_listening;
CREATE INDEX nodes_due ON nodes (node_id)
    WHERE listen_us IS NOT NULL AND suite IS NOT NULL AND revoked_us IS NULL
    AND challenges_asked > challenges_answered + challenges_expired;
";

/// Time at which a token was used first.
const UPGRADE_8: &str = "
ALTER TABLE tokens ADD COLUMN first_used_us INTEGER;
";

/// Columns and counts that lists are filtered and counted by: a node's group, its state and the time from which it is
/// late (both follow from other columns), the verdicts it was ever given (a bit each), and counts that triggers keep; of
/// the log the contents of each block of 1,024 events; of gateways the last contact.
const UPGRADE_9: &str = "
ALTER TABLE nodes ADD COLUMN group_name TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN verdicts_seen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN state INTEGER GENERATED ALWAYS AS (CASE
    WHEN revoked_us IS NOT NULL THEN 2 WHEN suite IS NOT NULL THEN 1 ELSE 0 END) VIRTUAL;
ALTER TABLE nodes ADD COLUMN late_from_us INTEGER GENERATED ALWAYS AS (CASE
    WHEN revoked_us IS NULL AND period_us IS NOT NULL THEN
    min(coalesce(last_seen_us, enrolled_us, opened_us),
        coalesce(unanswered_since_us, last_seen_us, enrolled_us, opened_us))
    + min(period_us + period_us / 2, 4611686018427387903) END) VIRTUAL;
UPDATE nodes SET verdicts_seen = (SELECT coalesce(sum(DISTINCT 1 << verdict), 0) FROM counts
    WHERE counts.node_id = nodes.node_id);
CREATE INDEX nodes_newest ON nodes (opened_us, node_id, state, group_name, late_from_us, vcap_mv,
    last_seen_us, verdicts_seen, name);
CREATE INDEX nodes_of_group ON nodes (group_name, opened_us, node_id, state, late_from_us, vcap_mv,
    last_seen_us, verdicts_seen, name) WHERE group_name <> '';
CREATE INDEX nodes_late ON nodes (late_from_us, node_id) WHERE late_from_us IS NOT NULL;
CREATE TABLE node_states (state INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;
INSERT INTO node_states SELECT state, count(*) FROM nodes GROUP BY state;
CREATE TABLE late_stretches (stretch INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;
INSERT INTO late_stretches SELECT late_from_us >> 28, count(*) FROM nodes
    WHERE late_from_us IS NOT NULL GROUP BY 1;
CREATE TABLE challenge_sums (asked INTEGER NOT NULL, answered INTEGER NOT NULL,
    expired INTEGER NOT NULL) STRICT;
INSERT INTO challenge_sums SELECT coalesce(sum(challenges_asked), 0),
    coalesce(sum(challenges_answered), 0), coalesce(sum(challenges_expired), 0) FROM nodes;
CREATE TRIGGER nodes_are_counted AFTER INSERT ON nodes BEGIN
    INSERT INTO node_states VALUES (new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO late_stretches SELECT new.late_from_us >> 28, 1 WHERE new.late_from_us IS NOT NULL
        ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER states_are_counted AFTER UPDATE OF suite, revoked_us ON nodes
    WHEN new.state <> old.state BEGIN
    UPDATE node_states SET count = count - 1 WHERE state = old.state;
    INSERT INTO node_states VALUES (new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER late_ones_are_counted AFTER UPDATE OF period_us, opened_us, enrolled_us,
    last_seen_us, unanswered_since_us, revoked_us ON nodes
    WHEN (new.late_from_us >> 28) IS NOT (old.late_from_us >> 28) BEGIN
    UPDATE late_stretches SET count = count - 1 WHERE stretch = old.late_from_us >> 28;
    DELETE FROM late_stretches WHERE stretch = old.late_from_us >> 28 AND count = 0;
    INSERT INTO late_stretches SELECT new.late_from_us >> 28, 1 WHERE new.late_from_us IS NOT NULL
        ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER challenges_are_summed AFTER UPDATE OF challenges_asked, challenges_answered,
    challenges_expired ON nodes BEGIN
    UPDATE challenge_sums SET asked = asked + new.challenges_asked - old.challenges_asked,
        answered = answered + new.challenges_answered - old.challenges_answered,
        expired = expired + new.challenges_expired - old.challenges_expired;
END;
CREATE TRIGGER verdicts_are_noted AFTER INSERT ON counts WHEN new.node_id <> x'' BEGIN
    UPDATE nodes SET verdicts_seen = verdicts_seen | (1 << new.verdict) WHERE node_id = new.node_id;
END;
CREATE INDEX challenges_newest ON challenges (challenge_id)
    WHERE answered_us IS NULL AND ended_us IS NULL;
CREATE INDEX challenges_of_node ON challenges (node_id, challenge_id);
CREATE TABLE event_blocks (
    block INTEGER PRIMARY KEY,
    from_us INTEGER NOT NULL,
    to_us INTEGER NOT NULL,
    kinds INTEGER NOT NULL,
    verdicts INTEGER NOT NULL,
    callers INTEGER NOT NULL
) STRICT;
INSERT INTO event_blocks SELECT event_id >> 10, min(time_us), max(time_us), -1, -1, -1 FROM events
    GROUP BY 1;
CREATE TABLE tokens_9 (
    token_id INTEGER PRIMARY KEY AUTOINCREMENT,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    made_us INTEGER NOT NULL,
    revoked_us INTEGER,
    first_used_us INTEGER,
    expires_us INTEGER
) STRICT;
INSERT INTO tokens_9 SELECT token_id, role, name, hash, made_us, revoked_us, first_used_us, NULL FROM tokens;
DROP TABLE tokens;
ALTER TABLE tokens_9 RENAME TO tokens;
CREATE TABLE gateways (
    token_id INTEGER PRIMARY KEY REFERENCES tokens (token_id),
    last_us INTEGER NOT NULL,
    address TEXT,
    backlog INTEGER
) STRICT;
";
