// SPDX-License-Identifier: MIT OR Apache-2.0
//! TOML mistakes as one sentence with line and key path.

/// Says what `error` means in `text`: the line, the key it stands at, and what would be right.
#[must_use]
pub fn sentence(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', ", ");
    let Some(span) = error.span() else { return message };
    let before = &text[..span.start.min(text.len())];
    let line_number = before.matches('\n').count() + 1;
    let line = text.lines().nth(line_number - 1).unwrap_or("").trim();
    let table = text
        .lines()
        .take(line_number)
        .filter_map(|l| {
            l.trim().strip_prefix('[')?.split(']').next().map(|t| t.trim_matches(['[', ']']))
        })
        .last();
    let key = line.split_once('=').map(|(k, _)| k.trim()).filter(|k| !k.starts_with(['{', '#']));
    let path: Vec<&str> = table.into_iter().chain(key).filter(|p| !p.is_empty()).collect();
    match path.is_empty() {
        true => format!("line {line_number}: {message}"),
        false => format!("line {line_number}, {}: {message}", path.join(".")),
    }
}

#[cfg(test)]
mod tests {
    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[allow(dead_code)]
        supply: Inner,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)]
        v_on_v: f64,
    }

    #[test]
    fn it_names_line_key_and_what_is_known() {
        let say = |text: &str| super::sentence(text, &toml::from_str::<Outer>(text).unwrap_err());
        let text = say("\n[supply]\nv_on_v = 2.0\nv_in_v = 1.0\n");
        assert_eq!(text, "line 4, supply.v_in_v: unknown field `v_in_v`, expected `v_on_v`");
        let text = say("[supply]\nv_on_v = \"two\"\n");
        assert!(text.starts_with("line 2, supply.v_on_v: invalid type: string \"two\""), "{text}");
        assert!(!say("[supply\n").contains('\n'));
    }
}
