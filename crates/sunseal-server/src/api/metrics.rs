// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures for Prometheus, in its text format: counters, gauges, a histogram in seconds; no label for each node.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rusqlite::Connection;
use serde_json::Value;

use super::{Reply, Shared, Time, summarise};
use crate::api::waking::MAX_WAITING;

/// Upper ends of the histogram's buckets.
const BOUNDS_S: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Parts of the interface that are told apart; the last is any other.
const PARTS: [&str; 14] = [
    "hello",
    "responses",
    "reports",
    "enrol",
    "wake",
    "nodes",
    "events",
    "queue",
    "gateways",
    "summary",
    "challenges",
    "import",
    "metrics",
    "other",
];

/// Part of the interface that a path belongs to; none for questions that wait for news.
pub(super) fn part_of(path: &str) -> Option<usize> {
    let last = path.rsplit('/').next().unwrap_or_default();
    let known = PARTS.iter().position(|&part| part == last);
    (last != "due").then_some(known.unwrap_or(PARTS.len() - 1))
}

#[derive(Debug, Default)]
struct Histogram {
    buckets: [AtomicU64; BOUNDS_S.len()],
    count: AtomicU64,
    sum_us: AtomicU64,
}

/// Times that requests took, by part.
#[derive(Debug, Default)]
pub(super) struct Timings {
    parts: [Histogram; PARTS.len()],
    by_class: [AtomicU64; 6],
}

impl Timings {
    /// Takes note of a request that was answered.
    pub(super) fn note(&self, part: Option<usize>, status: StatusCode, took: Duration) {
        let one = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        one(&self.by_class[usize::from(status.as_u16() / 100).min(5)]);
        let Some(histogram) = part.and_then(|part| self.parts.get(part)) else { return };
        let within = |bound: &f64| took.as_secs_f64() <= *bound;
        if let Some(at) = BOUNDS_S.iter().position(within) {
            one(&histogram.buckets[at]);
        }
        one(&histogram.count);
        histogram.sum_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        family(
            out,
            "sunseal_http_requests_total",
            "counter",
            "Requests answered, by class of status.",
        )?;
        for (class, counter) in self.by_class.iter().enumerate().skip(1) {
            writeln!(out, "sunseal_http_requests_total{{status=\"{class}xx\"}} {}", read(counter))?;
        }
        let name = "sunseal_http_request_duration_seconds";
        family(
            out,
            name,
            "histogram",
            "Time from a request's head to its answer, by part of the interface.",
        )?;
        for (part, histogram) in PARTS.iter().zip(&self.parts) {
            // The count is read first: whoever adds meanwhile makes no bucket larger than the last.
            let mut below = 0;
            let count = read(&histogram.count);
            for (bound, bucket) in BOUNDS_S.iter().zip(&histogram.buckets) {
                below = (below + read(bucket)).min(count);
                writeln!(out, "{name}_bucket{{part=\"{part}\",le=\"{bound}\"}} {below}")?;
            }
            writeln!(out, "{name}_bucket{{part=\"{part}\",le=\"+Inf\"}} {count}")?;
            let sum_s = read(&histogram.sum_us) as f64 / 1e6;
            writeln!(out, "{name}_sum{{part=\"{part}\"}} {sum_s}")?;
            writeln!(out, "{name}_count{{part=\"{part}\"}} {count}")?;
        }
        Ok(())
    }
}

fn family(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

/// A family with one label, of an object's numbers.
fn labelled(
    out: &mut String,
    (name, kind, help): (&str, &str, &str),
    label: &str,
    counts: &Value,
) -> std::fmt::Result {
    family(out, name, kind, help)?;
    for (key, count) in counts.as_object().into_iter().flatten() {
        if count.is_number() {
            writeln!(out, "{name}{{{label}=\"{key}\"}} {count}")?;
        }
    }
    Ok(())
}

fn text(summary: &Value, timings: &Timings, waiting: usize) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    for (what, name) in
        [("reports", "reports"), ("responses", "responses"), ("enrolments", "enrolments")]
    {
        let help = format!("Messages of this kind, by the verdict on them: {name}.");
        let family = format!("sunseal_{name}_total");
        labelled(&mut out, (&family, "counter", &help), "verdict", &summary[what])?;
    }
    let mut nodes = summary["nodes"].clone();
    let late = nodes.as_object_mut().and_then(|nodes| nodes.remove("late")).unwrap_or(0.into());
    labelled(&mut out, ("sunseal_nodes", "gauge", "Nodes, by state."), "state", &nodes)?;
    family(
        &mut out,
        "sunseal_nodes_late",
        "gauge",
        "Nodes that have not shown or proved themselves in time.",
    )?;
    writeln!(out, "sunseal_nodes_late {late}")?;
    let challenges = &summary["challenges"];
    for (key, kind, help) in [
        ("asked", "counter", "Challenges asked for."),
        ("answered", "counter", "Challenges answered in time."),
        ("expired", "counter", "Challenges whose intent was over before an answer came."),
        ("queued", "gauge", "Challenges that wait."),
        ("issued", "gauge", "Challenges that are out, their nonce fresh."),
    ] {
        let name =
            format!("sunseal_challenges_{key}{}", if kind == "counter" { "_total" } else { "" });
        family(&mut out, &name, kind, help)?;
        writeln!(out, "{name} {}", challenges[key])?;
    }
    family(&mut out, "sunseal_gateways_waiting", "gauge", "Gateways that wait for news.")?;
    writeln!(out, "sunseal_gateways_waiting {waiting}")?;
    family(&mut out, "sunseal_build_info", "gauge", "Version of the server.")?;
    writeln!(out, "sunseal_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"))?;
    timings.write(&mut out)?;
    Ok(out)
}

pub(super) async fn metrics(State(app): Shared, time: Time) -> Result<Response, Reply> {
    let asked = app.clone();
    let work = move |tx: &Connection, now_us| summarise(&asked, tx, now_us);
    let summary = app.clone().ask(time, work).await?;
    let waiting = MAX_WAITING - app.waiting.available_permits();
    let text = text(&summary, &app.timings, waiting)
        .map_err(|e| Reply::error(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, text).into_response())
}
