// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text and tables as types; a mistake is one sentence with line and key.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Reason for which facts were not read: what is wrong, and in which file, if it came from one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", .path.as_ref().map_or(String::new(), |p| format!("{} ", p.display())))]
pub struct NotRead {
    /// The file that could not be read; none of a text, and where no folder has a file of the name.
    pub path: Option<PathBuf>,
    /// A clause that goes on behind the file's or the part's name.
    pub reason: String,
}

impl NotRead {
    /// The same, said of a file.
    #[must_use]
    pub fn at(self, path: &Path) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }
}

impl From<String> for NotRead {
    fn from(reason: String) -> Self {
        Self { path: None, reason }
    }
}

/// Reads text; a mistake is told with its line and key.
///
/// # Errors
/// If it is no TOML, or does not have the keys and kinds of values that `T` has.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, NotRead> {
    toml::from_str(text).map_err(|e| sentence(text, &e).into())
}

/// Reads tables, which have no lines any more; a mistake is told with its key.
///
/// # Errors
/// If they do not have the keys and kinds of values that `T` has.
pub fn from_table<T: DeserializeOwned>(tables: impl Into<Value>) -> Result<T, NotRead> {
    tables
        .into()
        .try_into()
        .map_err(|e: toml::de::Error| e.to_string().trim_end().to_owned().into())
}

/// Reads the tables that a file has with what it extends; a mistake is told with its line where the file is the whole.
///
/// # Errors
/// As [`from_table`].
pub fn from_file<T: DeserializeOwned>(path: &Path, table: Table) -> Result<T, NotRead> {
    let text = crate::text(path).unwrap_or_default();
    if text.parse::<Table>().is_ok_and(|own| own == table) {
        return parse(&text).map_err(|e| e.at(path));
    }
    from_table(table).map_err(|e| NotRead {
        path: Some(path.to_owned()),
        reason: format!("with what it extends: {}", e.reason),
    })
}

/// Says what `error` means in `text`: the line, the key it stands at, and what would be right.
fn sentence(text: &str, error: &toml::de::Error) -> String {
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
        let say = |text: &str| super::parse::<Outer>(text).unwrap_err().to_string();
        let text = say("\n[supply]\nv_on_v = 2.0\nv_in_v = 1.0\n");
        assert_eq!(text, "line 4, supply.v_in_v: unknown field `v_in_v`, expected `v_on_v`");
        let text = say("[supply]\nv_on_v = \"two\"\n");
        assert!(text.starts_with("line 2, supply.v_on_v: invalid type: string \"two\""), "{text}");
        assert!(!say("[supply\n").contains('\n'));
    }
}
