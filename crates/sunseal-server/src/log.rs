// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structured log: one JSON object a line on standard error.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// Writes one line. A closed standard error is nobody's fault and stops nothing.
pub fn line(level: &str, what: &str, fields: Value) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut object = json!({"time": rfc3339(since), "level": level, "what": what});
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
    // One write a line: standard error has no buffer, and several writers.
    let _ = std::io::stderr().lock().write_all(format!("{object}\n").as_bytes());
}

/// Something went as it should.
pub fn info(what: &str, fields: Value) {
    line("info", what, fields);
}

/// Something is wrong outside this process, which goes on.
pub fn warn(what: &str, fields: Value) {
    line("warn", what, fields);
}

/// A time since 1970 as RFC 3339 has it, in UTC, with milliseconds.
fn rfc3339(since: Duration) -> String {
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Civil date from a count of days: years begin in March, eras have 400 of them (146,097 days).
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `date -u -d @SECONDS --iso-8601=seconds` prints them.
    #[test]
    fn times_are_those_of_date() {
        for (millis, shown) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(Duration::from_millis(millis)), shown);
        }
    }
}
