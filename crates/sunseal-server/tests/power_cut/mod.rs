// SPDX-License-Identifier: MIT OR Apache-2.0
//! A disk that loses whatever was not flushed: SQLite's own file layer (its VFS), watched. What a
//! file held at its latest xSync is what a power cut leaves of it.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::{Mutex, Once};
use std::time::Duration;

use rusqlite::ffi;

/// What the disk holds of a database and its write-ahead log.
pub struct Disk {
    pub database: Vec<u8>,
    pub log: Vec<u8>,
}

static FLUSHED: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
/// Open files by the address of their `sqlite3_file`.
static OPEN: Mutex<BTreeMap<usize, String>> = Mutex::new(BTreeMap::new());
/// The methods underneath, by the address of those that stand in front.
static UNDER: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
static UNDER_VFS: Mutex<usize> = Mutex::new(0);

/// From now on every database that this process opens is on such a disk.
pub fn watch() {
    static ONCE: Once = Once::new();
    // SAFETY: the default VFS lives as long as the process; the copy is leaked, and differs from
    // it in its name and in xOpen, which hands on to it.
    ONCE.call_once(|| unsafe {
        let under = ffi::sqlite3_vfs_find(std::ptr::null());
        *UNDER_VFS.lock().unwrap() = under as usize;
        let front = Box::leak(Box::new(*under));
        front.zName = c"power-cut".as_ptr();
        front.pNext = std::ptr::null_mut();
        front.xOpen = Some(open);
        assert_eq!(ffi::sqlite3_vfs_register(front, 1), ffi::SQLITE_OK);
    });
}

/// What a power cut would leave now.
pub fn disk(database: &Path) -> Disk {
    let flushed = FLUSHED.lock().unwrap();
    let of = |name: String| flushed.get(&name).cloned().unwrap_or_default();
    let name = database.display().to_string();
    Disk { log: of(format!("{name}-wal")), database: of(name) }
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let under = *UNDER_VFS.lock().unwrap() as *mut ffi::sqlite3_vfs;
    // SAFETY: the arguments are SQLite's own, handed on; `file` is at least as large as the VFS
    // underneath asks for, since szOsFile is its.
    unsafe {
        let Some(under_open) = (*under).xOpen else { return ffi::SQLITE_ERROR };
        let status = under_open(under, name, file, flags, out);
        if status == ffi::SQLITE_OK && !name.is_null() && !(*file).pMethods.is_null() {
            let methods = (*file).pMethods;
            let front = Box::leak(Box::new(*methods));
            front.xSync = Some(sync);
            UNDER.lock().unwrap().insert(std::ptr::from_ref(front) as usize, methods as usize);
            let name = CStr::from_ptr(name).to_string_lossy().into_owned();
            OPEN.lock().unwrap().insert(file as usize, name);
            (*file).pMethods = front;
        }
        status
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // A slow disk: an answer that does not wait is out long before.
    std::thread::sleep(Duration::from_millis(3));
    // SAFETY: `file` was opened by `open`, which noted the methods underneath.
    unsafe {
        let front = (*file).pMethods as usize;
        let methods = UNDER.lock().unwrap()[&front] as *const ffi::sqlite3_io_methods;
        let Some(under_sync) = (*methods).xSync else { return ffi::SQLITE_ERROR };
        let name = OPEN.lock().unwrap()[&(file as usize)].clone();
        let held = std::fs::read(&name).unwrap_or_default();
        let status = under_sync(file, flags);
        FLUSHED.lock().unwrap().insert(name, held);
        status
    }
}
