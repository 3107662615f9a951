-- SPDX-License-Identifier: MIT OR Apache-2.0
-- What a server with schema version 1 left in its tables. Never changed: what it made must open for ever.
PRAGMA application_id = 0x53554e53;
PRAGMA user_version = 1;
INSERT INTO nodes VALUES
    (x'6e6f646500000001', 'enrolled', 1,
     x'60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
     9, 3600000000, 1000, 2000, 9000, 9000, 2700, 'ready'),
    (x'6e6f646500000002', 'open', NULL, NULL, NULL, NULL, 3000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO challenges (node_id, queued_us, not_before_us, nonce, issued_us, expires_us, answered_us) VALUES
    (x'6e6f646500000001', 1, 1, zeroblob(16), 10, 600000010, 20),
    (x'6e6f646500000001', 2, 2, zeroblob(16), 30, 40, NULL),
    (x'6e6f646500000001', 3, 3, zeroblob(16), 50, 600000050, NULL),
    (x'6e6f646500000001', 4, 4, NULL, NULL, NULL, NULL),
    (x'6e6f646500000002', 5, 5, NULL, NULL, NULL, NULL);
INSERT INTO events (time_us, node_id, kind, verdict, detail) VALUES
    (1000, x'6e6f646500000001', 'opened', NULL, '{"name":"enrolled"}'),
    (2000, x'6e6f646500000001', 'enrol', 0, '{}'),
    (3000, x'6e6f646500000002', 'opened', NULL, '{"name":"open"}'),
    (4000, x'6e6f646500000001', 'response', 0, '{"counter":5}'),
    (5000, x'6e6f646500000001', 'response', 3, '{"counter":5}'),
    (6000, x'6e6f646500000001', 'report', 0, '{"counter":8}'),
    (7000, x'6e6f646500000001', 'report', 0, '{"counter":9}'),
    (8000, x'00000000000000ff', 'report', 1, '{"counter":1}'),
    (9000, x'6e6f646500000001', 'hello', NULL, '{}');
