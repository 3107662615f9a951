// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's state for people: one page, plain HTML, no script.

use std::fmt::Write;

use serde_json::Value;

use crate::store::duration;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>Sunseal server</title><style>\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222;background:#fff}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #ddd}\
th{font-weight:600}td.n{text-align:right}.late,.refused{color:#a40000}.legacy{color:#8a5a00}code{font-size:.9em}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}th,td{border-color:#444}.late,.refused{color:#ff8a80}.legacy{color:#ffcc66}}\
</style><h1>Sunseal server</h1>";

/// Renders the page of nodes and events as HTML.
pub fn render(summary: &Value, nodes: &[Value], events: &[Value]) -> String {
    let mut out = String::from(HEAD);
    let now_us = summary["time_us"].as_u64().unwrap_or(0);
    // Writing to a String cannot fail.
    let _ = write_page(&mut out, now_us, summary, nodes, events);
    out
}

fn write_page(
    out: &mut String,
    now_us: u64,
    summary: &Value,
    nodes: &[Value],
    events: &[Value],
) -> std::fmt::Result {
    let challenges = &summary["challenges"];
    write!(
        out,
        "<p>{} nodes enrolled, {} open for enrolment, {} late. Authentications: {} asked, \
         {} waiting, {} answered, {} expired.",
        summary["nodes"]["enrolled"],
        summary["nodes"]["open"],
        summary["nodes"]["late"],
        challenges["asked"],
        challenges["queued"],
        challenges["answered"],
        challenges["expired"],
    )?;
    if summary["insecure_seed"] == true {
        out.push_str(" <b class=\"refused\">Insecure: challenges follow from a seed.</b>");
    }
    if summary["open_to_all"] == true {
        out.push_str(" <b class=\"refused\">Open: whoever reaches this port is the operator.</b>");
    }
    out.push_str("</p><h2>Nodes</h2><table><tr><th>node<th>name<th>security<th>last seen<th>store<th>accepted<th>refused<th>late</tr>");
    for node in nodes {
        let accepted = node["verdicts"]["accepted"].as_u64().unwrap_or(0);
        let all: u64 =
            node["verdicts"].as_object().map_or(0, |v| v.values().filter_map(Value::as_u64).sum());
        let security = match node["security_bits"].as_u64() {
            Some(bits) => {
                let label = text(&node["security_label"]);
                format!("<span class=\"{label}\">{bits} bits, {label}</span>")
            }
            None => "not enrolled".to_owned(),
        };
        let security = match node["state"].as_str() {
            Some("revoked") => format!("<b class=\"refused\">revoked</b>, {security}"),
            _ => security,
        };
        let seen = node["last_seen_us"].as_u64().map_or("never".to_owned(), |us| {
            format!("{} ago", duration(now_us.saturating_sub(us)))
        });
        let store = node["vcap_v"].as_f64().map_or(String::new(), |v| format!("{v:.2} V"));
        write!(
            out,
            "<tr><td><code>{}</code><td>{}<td>{security}<td>{seen}<td class=\"n\">{store}\
             <td class=\"n\">{accepted}<td class=\"n\">{}<td class=\"late\">{}</tr>",
            text(&node["node_id"]),
            text(&node["name"]),
            all - accepted,
            text(&node["late"]["why"]),
        )?;
    }
    out.push_str("</table><h2>Latest events</h2><table><tr><th>event<th>time<th>node<th>what<th>verdict<th>why</tr>");
    for event in events.iter().rev() {
        let verdict = text(&event["verdict_name"]);
        let class = if matches!(verdict.as_str(), "" | "accepted") { "" } else { "refused" };
        let ago = duration(now_us.saturating_sub(event["time_us"].as_u64().unwrap_or(0)));
        write!(
            out,
            "<tr><td class=\"n\">{}<td>{ago} ago<td><code>{}</code><td>{}<td class=\"{class}\">{verdict}<td>{}</tr>",
            event["event_id"],
            text(&event["node_id"]),
            text(&event["kind"]),
            text(&event["detail"]["why"]),
        )?;
    }
    out.push_str("</table><p><a href=\"/v1/summary\">summary</a>, <a href=\"/v1/nodes\">nodes</a> and <a href=\"/v1/events\">events</a> as JSON.</p></html>");
    Ok(())
}

/// Control characters, line and paragraph separators, and what turns the direction of writing.
pub const fn is_unprintable(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A string for HTML; anything else is nothing.
fn text(value: &Value) -> String {
    value.as_str().map_or(String::new(), |s| {
        let s: String = s.chars().map(|c| if is_unprintable(c) { '\u{fffd}' } else { c }).collect();
        s.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_cannot_become_markup() {
        let node = json!({"node_id": "00", "name": "<script>alert(\"1\")</script>\u{1b}\u{202e}"});
        let html = render(&json!({}), &[node], &[]);
        assert!(html.contains("&lt;script&gt;alert(&quot;1&quot;)"));
        assert!(!html.contains("<script") && !html.contains(is_unprintable));
    }
}
