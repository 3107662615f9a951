// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folders of data files, looked into in order: the user's own first, the package's last.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::{NotRead, parse};

/// Rooms of a data folder in which the user may have files of his own.
pub const ROOMS: [&str; 4] = ["parts", "boards", "power", "devices"];
/// Tables by which a part's file says what it is.
pub const PART_KINDS: [&str; 9] = [
    "capacitor",
    "cell",
    "charger",
    "converter",
    "harvester",
    "panel",
    "radio",
    "fpga",
    "peripheral",
];
/// A chain of `extends` longer than this is a mistake.
const DEPTH_MAX: usize = 8;

/// Names that a sentence still bears; of more it has the nearest.
const LISTED_MOST: usize = 16;

/// A data folder, with folders of the user's own before it.
///
/// Own folders hold files in rooms, `parts/mine.toml`, or loose, `mine.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    own: Vec<PathBuf>,
    data: PathBuf,
}

impl Library {
    /// Own folders, the first that has a file wins, and the package's.
    #[must_use]
    pub fn new(own: Vec<PathBuf>, data: PathBuf) -> Self {
        Self { own, data }
    }

    /// Data folder that the package brings along.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Folders in which files of a room are looked for.
    #[must_use]
    pub fn room(&self, room: &'static str) -> Room {
        let mut places = Vec::new();
        for own in &self.own {
            places.push((own.join(room), false));
            places.push((own.clone(), true));
        }
        places.push((self.data.join(room), false));
        Room { name: room, places, built_in: &[] }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Library {
    fn from(data: &P) -> Self {
        Self::new(Vec::new(), data.as_ref().to_owned())
    }
}

impl From<&Library> for Library {
    fn from(library: &Library) -> Self {
        library.clone()
    }
}

/// The folders of one kind of file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    name: &'static str,
    /// A loose one holds files of other kinds too.
    places: Vec<(PathBuf, bool)>,
    /// Texts by name, for what no folder has.
    built_in: &'static [(&'static str, &'static str)],
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Room {
    fn from(folder: &P) -> Self {
        let folder = folder.as_ref().to_owned();
        let is = |room: &&&str| folder.ends_with(room);
        let name = ROOMS.iter().find(is).copied().unwrap_or(ROOMS[0]);
        Self { name, places: vec![(folder, false)], built_in: &[] }
    }
}

impl From<&Room> for Room {
    fn from(room: &Room) -> Self {
        room.clone()
    }
}

impl Room {
    /// The room in one folder, and with texts for what is not there.
    #[must_use]
    pub fn with_built_in(
        name: &'static str,
        folder: &Path,
        built_in: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, places: vec![(folder.to_owned(), false)], built_in }
    }

    /// The file of a name: the first that is there.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        // A name is no path: it must not lead out of the folders.
        let plain = !name.is_empty() && !name.contains(['/', '\\']);
        let file = format!("{name}.toml");
        let mut paths = self.places.iter().map(|(folder, _)| folder.join(&file));
        plain.then(|| paths.find(|path| path.is_file())).flatten()
    }

    /// Names that there are, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let of = |(folder, loose): &(PathBuf, bool)| {
            let mut names = names_in(folder);
            names.retain(|name| !loose || self.belongs(&folder.join(format!("{name}.toml")), 0));
            names
        };
        let mut names: Vec<String> = self.places.iter().flat_map(of).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The folders, for a message.
    #[must_use]
    pub fn places(&self) -> String {
        let there = self.places.iter().map(|(folder, _)| folder.display().to_string());
        there.collect::<Vec<_>>().join(", ")
    }

    /// True if a loose file is of this room, by what is in it or by what it extends.
    fn belongs(&self, path: &Path, depth: usize) -> bool {
        let Ok(text) = crate::text(path) else { return false };
        let Ok(file) = text.parse::<Table>() else { return false };
        let table = |key: &str| file.get(key).is_some_and(Value::is_table);
        let here = match self.name {
            "boards" => file.contains_key("device"),
            "power" => table("set"),
            "devices" => file.contains_key("family") && file.contains_key("core"),
            _ => file.contains_key("name") && PART_KINDS.into_iter().any(table) && !table("power"),
        };
        let base = file.get("extends").and_then(Value::as_str);
        let base = base.filter(|_| depth < DEPTH_MAX).and_then(|name| self.find(name));
        here || base.is_some_and(|base| {
            let in_room = base.parent().is_some_and(|folder| folder.ends_with(self.name));
            in_room || self.belongs(&base, depth + 1)
        })
    }

    /// Words for why there is no file of a name.
    #[must_use]
    pub fn missing(&self, name: &str) -> String {
        let known = self.names();
        let told = match known.len() {
            0 => format!("{} there are none", self.name),
            1..=LISTED_MOST => format!("{} there are {}", self.name, known.join(", ")),
            all => {
                let near = nearest(name, known).join(", ");
                let lists = match self.name {
                    "power" => String::new(),
                    room => format!("; `sunseal {room}` lists them"),
                };
                format!("nearest of {all} in {} are {near}{lists}", self.name)
            }
        };
        format!("there is no {name}.toml in {}; {told}", self.places())
    }

    /// Reads a file and what it extends: a table of the base is laid under its own key by key, any other value is
    /// replaced. A table that names another `part` replaces the base's whole. Of a device, a list of tables with names
    /// is laid name by name, and a table that says `absent = true` takes the base's of its name away.
    ///
    /// # Errors
    /// If a file is missing, is no TOML, or extends itself.
    pub fn read(&self, name: &str) -> Result<(PathBuf, Table), NotRead> {
        let path = self.find(name).ok_or_else(|| NotRead::from(self.missing(name)))?;
        let table = self.read_file(&path)?;
        Ok((path, table))
    }

    /// As [`read`](Self::read), of a file that may lie anywhere.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_file(&self, path: &Path) -> Result<Table, NotRead> {
        let bad = |path: &Path, reason: String| NotRead::from(reason).at(path);
        let mut chain = vec![path.to_owned()];
        let mut tables = Vec::new();
        let mut built_in = None;
        loop {
            let at = chain[chain.len() - 1].clone();
            let text = match built_in.take() {
                Some(text) => text,
                None => crate::text(&at).map_err(|e| bad(&at, format!("cannot be read ({e})")))?,
            };
            let mut table: Table = parse(&text).map_err(|e| e.at(&at))?;
            if let Some((key, figure)) = not_finite(&table) {
                return Err(bad(&at, format!("{key} is {figure}; a figure is a finite number")));
            }
            let base = table.remove("extends");
            tables.push(table);
            let Some(base) = base else { break };
            let Some(base) = base.as_str().map(str::to_owned) else {
                return Err(bad(&at, format!("extends is {base}; it is a name in quotes")));
            };
            let next = self.find(&base).or_else(|| {
                built_in = self.built_in.iter().find(|b| b.0 == base).map(|b| b.1.into());
                built_in.is_some().then(|| PathBuf::from(format!("{base}.toml")))
            });
            let Some(next) = next else {
                return Err(bad(&at, format!("extends {base:?}, and {}", self.missing(&base))));
            };
            if chain.contains(&next) || chain.len() > DEPTH_MAX {
                let names = chain.iter().chain([&next]).filter_map(|p| p.file_stem());
                let ring: Vec<_> = names.map(|n| n.to_string_lossy().into_owned()).collect();
                return Err(bad(
                    path,
                    format!(
                        "extends itself: {}; name a base that ends somewhere",
                        ring.join(" extends ")
                    ),
                ));
            }
            chain.push(next);
        }
        let mut whole = tables.pop().unwrap_or_default();
        while let Some(over) = tables.pop() {
            lay(&mut whole, over, self.name == "devices");
        }
        Ok(whole)
    }
}

/// The first figure that is none, with its key.
fn not_finite(table: &Table) -> Option<(String, f64)> {
    fn of(key: &str, value: &Value) -> Option<(String, f64)> {
        match value {
            Value::Float(f) if !f.is_finite() => Some((key.to_owned(), *f)),
            Value::Array(values) => values.iter().find_map(|v| of(key, v)),
            Value::Table(table) => {
                not_finite(table).map(|(inner, f)| (format!("{key}.{inner}"), f))
            }
            _ => None,
        }
    }
    table.iter().find_map(|(key, value)| of(key, value))
}

/// Lays a table over another; lists of tables with names name by name where `by_name` says so.
fn lay(under: &mut Table, over: Table, by_name: bool) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(own))
                if own.get("part").is_none_or(|part| base.get("part") == Some(part)) =>
            {
                lay(base, own, by_name);
            }
            (Some(Value::Array(base)), Value::Array(own))
                if by_name && [&*base, &own].into_iter().flatten().all(|v| named(v).is_some()) =>
            {
                for entry in own {
                    lay_named(base, entry);
                }
            }
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// The name of a table in a list.
fn named(value: &Value) -> Option<&str> {
    value.get("name")?.as_str()
}

/// Lays a table with a name over the one of that name in a list, takes that one away, or puts it at the end.
fn lay_named(list: &mut Vec<Value>, entry: Value) {
    let at = list.iter().position(|other| named(other) == named(&entry));
    let absent = entry.get("absent").and_then(Value::as_bool) == Some(true);
    match (at, entry) {
        (Some(at), _) if absent => _ = list.remove(at),
        (Some(at), Value::Table(own)) => {
            if let Value::Table(base) = &mut list[at] {
                lay(base, own, true);
            }
        }
        (_, entry) => list.push(entry),
    }
}

/// The three names that are nearest to another: by letters to be changed until they hold it, then by length.
#[must_use]
pub fn nearest(name: &str, mut known: Vec<String>) -> Vec<String> {
    known.sort_by_cached_key(|other| (changes(name, other), other.len().abs_diff(name.len())));
    known.truncate(3);
    known
}

/// Letters put in, left out or replaced until a name stands somewhere in another: Levenshtein's distance to the part of
/// it that is nearest (Sellers 1980), a row of its table at a time.
fn changes(a: &str, b: &str) -> usize {
    let mut row = vec![0; b.len() + 1];
    for (i, x) in a.bytes().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let least = (before + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            before = std::mem::replace(&mut row[j + 1], least);
        }
    }
    row.into_iter().min().unwrap_or(a.len())
}

/// The data files of a folder by name, without `.toml`, sorted; none where it cannot be read.
fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|e| {
            e.ok()?.path().file_name()?.to_str()?.strip_suffix(".toml").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_its_difference_from_another() {
        let folder = std::env::temp_dir().join(format!("sunseal-devices-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let base = "name = \"a\"\n[[block]]\nname = \"t0\"\nbase = 1\nirq = 7\n[[block]]\nname = \"t1\"\nbase = 2\n";
        let built_in: &[(&str, &str)] = Box::leak(Box::new([("a", base)]));
        let own = "extends = \"a\"\nname = \"b\"\n[[block]]\nname = \"t0\"\nbase = 3\n[[block]]\nname = \"t1\"\n\
                   absent = true\n[[block]]\nname = \"t2\"\nbase = 4\n";
        let path = folder.join("b.toml");
        std::fs::write(&path, own).unwrap();
        let read = |built_in| Room::with_built_in("devices", &folder, built_in).read_file(&path);
        let (whole, alone) = (read(built_in), read(&[]));
        std::fs::write(&path, "extends = \"b\"\n").unwrap();
        let ring = read(built_in);
        std::fs::remove_dir_all(&folder).unwrap();
        let wanted = "name = \"b\"\n[[block]]\nname = \"t0\"\nbase = 3\nirq = 7\n[[block]]\nname = \"t2\"\nbase = 4\n";
        assert_eq!(whole.unwrap(), wanted.parse::<Table>().unwrap());
        assert!(alone.unwrap_err().to_string().contains("extends \"a\", and there is no a.toml"));
        assert!(ring.unwrap_err().to_string().contains("extends itself: b extends b"));
    }

    #[test]
    fn of_many_names_the_nearest_three_are_told_and_of_few_all() {
        let folder = std::env::temp_dir().join(format!("sunseal-names-{}", std::process::id()));
        let parts = folder.join("parts");
        std::fs::create_dir_all(&parts).unwrap();
        let put = |name: &str| std::fs::write(parts.join(format!("{name}.toml")), "").unwrap();
        ["cr2032", "capxx-hw203", "capxx-hw209"].into_iter().for_each(put);
        let room = Library::from(&folder).room("parts");
        assert!(room.missing("cr").ends_with("; parts there are capxx-hw203, capxx-hw209, cr2032"));
        (0..LISTED_MOST).for_each(|k| put(&format!("other-{k}")));
        let (slip, share) = (room.missing("capxx-hw230"), room.missing("2032"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(slip.contains("nearest of 19 in parts are capxx-hw203, capxx-hw209, "), "{slip}");
        assert!(
            slip.ends_with("; `sunseal parts` lists them") && slip.matches(", ").count() == 2,
            "{slip}"
        );
        assert!(share.contains("are cr2032, "), "{share}");
        assert_eq!((changes("kitten", "sitting"), changes("hw204", "capxx-hw203")), (2, 1));
    }
}
