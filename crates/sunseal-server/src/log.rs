// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structured log: one JSON object a line on standard error.

use std::io::Write;

use serde_json::{Value, json};

/// Writes one line. A closed standard error is nobody's fault and stops nothing.
pub fn line(level: &str, what: &str, fields: Value) {
    let mut object = json!({"level": level, "what": what});
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
