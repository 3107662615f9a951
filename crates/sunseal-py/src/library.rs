// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data files under Python's hands: the same search, and the same reading, as the engine's own.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use schemars::schema_for;
use sunseal_board::{Board, PartFile};
use sunseal_data::{NotRead, ROOMS, Room};

use crate::error::refuse;

/// The user's own folders of parts, boards and power sets, the first that has a file wins, and the package's.
#[pyclass(frozen, module = "sunseal._engine")]
#[derive(Clone)]
pub struct Library {
    pub inner: sunseal_data::Library,
}

/// A library, or the package's folder alone.
#[derive(FromPyObject)]
pub enum Data<'py> {
    Library(PyRef<'py, Library>),
    Folder(PathBuf),
}

impl Data<'_> {
    pub fn library(&self) -> sunseal_data::Library {
        match self {
            Self::Library(library) => library.inner.clone(),
            Self::Folder(folder) => folder.into(),
        }
    }
}

impl Library {
    fn room_of(&self, room: &str) -> PyResult<Room> {
        let found = ROOMS.iter().find(|known| **known == room);
        let found = found.ok_or_else(|| {
            refuse(format!(
                "there is no room {room:?} of one's own; there are {}",
                ROOMS.join(", ")
            ))
        })?;
        Ok(self.inner.room(found))
    }
}

#[pymethods]
impl Library {
    #[new]
    fn new(own: Vec<PathBuf>, data: PathBuf) -> Self {
        Self { inner: sunseal_data::Library::new(own, data) }
    }

    /// The file of a name in a room: "parts", "boards", "power" or "devices".
    fn find(&self, room: &str, name: &str) -> PyResult<Option<PathBuf>> {
        Ok(self.room_of(room)?.find(name))
    }

    /// Names in a room.
    fn names(&self, room: &str) -> PyResult<Vec<String>> {
        Ok(self.room_of(room)?.names())
    }

    /// Reason for which there is no file of a name, a clause with the places looked in.
    fn missing(&self, room: &str, name: &str) -> PyResult<String> {
        Ok(self.room_of(room)?.missing(name))
    }

    /// A file's tables with what it extends, as JSON.
    fn table(&self, room: &str, path: PathBuf) -> PyResult<String> {
        let room = self.room_of(room)?;
        let is_board = room == self.inner.room("boards");
        let table = if is_board { Board::table(&path, &room) } else { room.read_file(&path) };
        let table = table.map_err(refuse)?;
        serde_json::to_string(&table).map_err(refuse)
    }

    /// Refuses a part's file that the engine would refuse.
    fn check_part(&self, path: PathBuf) -> PyResult<()> {
        let shown = |reason: String| refuse(format!("{}: {reason}", path.display()));
        let told = |e: NotRead| match e.path.as_deref() {
            Some(other) if other != Path::new(&path) => {
                shown(format!("{} {}", other.display(), e.reason))
            }
            _ => shown(e.reason),
        };
        let table = self.inner.room("parts").read_file(&path).map_err(told)?;
        PartFile::of(table).map(|_| ()).map_err(shown)
    }

    /// Figures of a store's part that its file does not have over the temperature; none of another part.
    fn deaf_to_temperature(&self, part: &str) -> PyResult<Option<&'static str>> {
        sunseal_power::deaf_to_temperature(&self.inner.room("parts"), part).map_err(refuse)
    }
}

/// Text of a data file, opened once a process.
#[pyfunction]
pub fn text(path: PathBuf) -> PyResult<String> {
    Ok(sunseal_data::text(&path)?.to_string())
}

/// JSON Schema of a kind of file: "part", "board", "power-set" or "scenario".
#[pyfunction]
pub fn schema(kind: &str) -> PyResult<String> {
    let found = match kind {
        "part" => schema_for!(PartFile),
        "board" => schema_for!(Board),
        "power-set" => sunseal_power::power_set_schema(),
        "scenario" => schema_for!(sunseal_node::Scenario),
        _ => {
            let known = "part, board, power-set, scenario";
            return Err(refuse(format!("there is no schema of {kind:?}; there are {known}")));
        }
    };
    serde_json::to_string(&found).map_err(refuse)
}
