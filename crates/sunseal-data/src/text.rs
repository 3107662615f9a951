// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts of data files, each opened once a process.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A file this young may be written again within the same tick of the file system's clock, which nobody would see.
const YOUNG: Duration = Duration::from_secs(2);

/// A text as it was when its file had this size and was last written then.
struct Kept {
    written: SystemTime,
    bytes: u64,
    text: Arc<str>,
}

static KEPT: Mutex<BTreeMap<PathBuf, Kept>> = Mutex::new(BTreeMap::new());

/// Reads a text file; a second time from memory, unless the file has changed or is too young to tell.
///
/// # Errors
/// If the file cannot be read, or is no UTF-8.
pub fn text(path: &Path) -> io::Result<Arc<str>> {
    let about = std::fs::metadata(path)?;
    let (written, bytes) = (about.modified()?, about.len());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(path).filter(|k| k.written == written && k.bytes == bytes) {
        return Ok(Arc::clone(&known.text));
    }
    let text: Arc<str> = std::fs::read_to_string(path)?.into();
    if written.elapsed().is_ok_and(|age| age > YOUNG) && text.len() as u64 == bytes {
        kept.insert(path.to_owned(), Kept { written, bytes, text: Arc::clone(&text) });
    } else {
        kept.remove(path);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::text;

    #[test]
    fn a_file_that_was_written_again_is_read_again() {
        let path = std::env::temp_dir().join(format!("sunseal-text-{}.toml", std::process::id()));
        let old = SystemTime::now() - Duration::from_secs(60);
        let write = |said: &str, at: SystemTime| {
            std::fs::write(&path, said).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        };
        write("a = 1", old);
        assert_eq!(&*text(&path).unwrap(), "a = 1");
        // The same size and time stand for the same text, from memory.
        write("a = 2", old);
        assert_eq!(&*text(&path).unwrap(), "a = 1");
        write("a = 3", old + Duration::from_millis(1));
        assert_eq!(&*text(&path).unwrap(), "a = 3");
        write("a = 44", old + Duration::from_millis(1));
        assert_eq!(&*text(&path).unwrap(), "a = 44");
        // A young file is read each time.
        let now = SystemTime::now();
        write("a = 55", now);
        assert_eq!(&*text(&path).unwrap(), "a = 55");
        write("a = 66", now);
        assert_eq!(&*text(&path).unwrap(), "a = 66");
        std::fs::remove_file(&path).unwrap();
        assert!(text(&path).is_err());
    }
}
