// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that only their owner may read: the database, its copies, tokens.

use std::fs::{OpenOptions, Permissions};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

const OWNER_ONLY: u32 = 0o600;

/// Makes an empty file of mode 0600, unless there is one of that name.
pub fn make(path: &Path) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path);
    match made {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Writes a file of mode 0600 to the disk; one of that name is an error.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Takes a file from everybody but its owner.
pub fn close(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            std::fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY))
        }
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
