// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library that `hdl/model/build` makes of a design, opened when a board asks for it.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::HdlError;

/// Names the folder with the libraries.
pub const MODELS: &str = "SUNSEAL_HDL_MODELS";
const VERSION: u32 = 3;
const RTLD_NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

type Node = *mut c_void;
type New = unsafe extern "C" fn() -> Node;
type Act = unsafe extern "C" fn(Node);
type Run = unsafe extern "C" fn(Node, u32, u64, *mut u32, *mut u64, *mut u64) -> u32;
type Signal = unsafe extern "C" fn(Node, u32, *mut *const c_char, *mut u32) -> u64;
type Save = unsafe extern "C" fn(Node, *mut u8, usize) -> usize;
type Restore = unsafe extern "C" fn(Node, *const u8, usize);
type Version = unsafe extern "C" fn() -> u32;

/// The functions of `hdl/model/shim.cpp`. A library stays open until the process ends.
#[derive(Clone, Copy)]
struct Functions {
    new: New,
    delete: Act,
    run: Run,
    signal: Signal,
    keep: Act,
    back: Act,
    save: Save,
    restore: Restore,
}

/// What a model has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    /// Clocks that came to its flops.
    pub clocks: u64,
    /// Changes of its flops.
    pub toggles: u64,
}

/// What a model is about to do, as `sunseal_hdl_run` tells it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told(u32);

impl Told {
    /// Nothing changes any more until an input does.
    pub fn rests(self) -> bool {
        self.0 & 1 != 0
    }

    /// The clock comes to the flops of one that rests.
    pub fn is_clocked(self) -> bool {
        self.0 & 2 != 0
    }

    /// Its outputs may change by themselves: it computes, or has something to say.
    pub fn by_itself(self) -> bool {
        self.0 & 4 != 0
    }

    /// It wants the slow clock.
    pub fn is_ticked(self) -> bool {
        self.0 & 8 != 0
    }

    /// The same with another input, which may end its rest.
    pub fn woken(self) -> Self {
        Self(self.0 & !3)
    }
}

/// A Verilated coprocessor with its state.
pub(crate) struct Model {
    functions: Arc<Functions>,
    node: Node,
}

// Safety: a node is used by whoever holds the model alone, and its library keeps no state beside it.
unsafe impl Send for Model {}

fn why() -> String {
    // Safety: dlerror answers a text that lives until the next call, or null.
    unsafe {
        let text = dlerror();
        if text.is_null() {
            "unknown".to_owned()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

/// The library of a model in the folder that [`MODELS`] names.
pub(crate) fn find(name: &str) -> Result<PathBuf, HdlError> {
    let missing = || HdlError::Missing { name: name.to_owned() };
    let folder = std::env::var_os(MODELS).ok_or_else(missing)?;
    let path = Path::new(&folder).join(format!("{name}.so"));
    if path.is_file() { Ok(path) } else { Err(missing()) }
}

impl Functions {
    fn open(path: &Path) -> Result<Self, HdlError> {
        let shown = path.display().to_string();
        let bad = |reason: String| HdlError::Library { path: shown.clone(), reason };
        let name = CString::new(shown.as_bytes()).map_err(|e| bad(e.to_string()))?;
        // Safety: the library is one that hdl/model/build made, whose loading runs no code but C++'s own set-up; each
        // function has the type that the version stands for.
        unsafe {
            let library = dlopen(name.as_ptr(), RTLD_NOW);
            if library.is_null() {
                return Err(bad(why()));
            }
            let symbol = |name: &CStr| {
                let found = dlsym(library, name.as_ptr());
                if found.is_null() { Err(bad(why())) } else { Ok(found) }
            };
            macro_rules! function {
                ($name:literal, $function:ty) => {
                    std::mem::transmute::<*mut c_void, $function>(symbol($name)?)
                };
            }
            let found = function!(c"sunseal_hdl_version", Version)();
            if found != VERSION {
                return Err(bad(format!(
                    "is of version {found}; this engine needs {VERSION}: make it anew by hdl/model/build"
                )));
            }
            Ok(Self {
                new: function!(c"sunseal_hdl_new", New),
                delete: function!(c"sunseal_hdl_delete", Act),
                run: function!(c"sunseal_hdl_run", Run),
                signal: function!(c"sunseal_hdl_signal", Signal),
                keep: function!(c"sunseal_hdl_keep", Act),
                back: function!(c"sunseal_hdl_back", Act),
                save: function!(c"sunseal_hdl_save", Save),
                restore: function!(c"sunseal_hdl_restore", Restore),
            })
        }
    }
}

impl Model {
    pub fn open(path: &Path) -> Result<Self, HdlError> {
        let functions = Arc::new(Functions::open(path)?);
        Ok(Self::of(functions))
    }

    fn of(functions: Arc<Functions>) -> Self {
        // Safety: the function takes nothing and answers a node of its own.
        let node = unsafe { (functions.new)() };
        Self { functions, node }
    }

    /// A coprocessor that was just configured.
    pub fn fresh(&self) -> Self {
        Self::of(Arc::clone(&self.functions))
    }

    /// Runs for so many periods, until the outputs are others than `out`, or until it rests. Adds to `moved`; answers the
    /// periods, and what comes next.
    pub fn run(&mut self, inputs: u32, most: u64, out: &mut u32, moved: &mut Moved) -> (u64, Told) {
        let mut periods = 0;
        // Safety: node and numbers live here.
        let told = unsafe {
            (self.functions.run)(self.node, inputs, most, out, &raw mut periods, &mut moved.toggles)
        };
        moved.clocks += periods;
        (periods, Told(told))
    }

    /// A register's value; its name and width once for all: [`signals`](Self::signals).
    pub fn signal(&self, i: usize) -> u64 {
        let (mut name, mut bits) = (std::ptr::null(), 0);
        // Safety: the model is only looked at; both pointers live here.
        unsafe { (self.functions.signal)(self.node, i as u32, &raw mut name, &raw mut bits) }
    }

    /// Names and widths of its registers.
    pub fn signals(&self) -> Vec<(String, u32)> {
        let mut found = Vec::new();
        loop {
            let (mut name, mut bits) = (std::ptr::null(), 0);
            let i = found.len() as u32;
            // Safety: as above; where there is a width, the name is a text of the library, which stays open.
            let text = unsafe {
                (self.functions.signal)(self.node, i, &raw mut name, &raw mut bits);
                if bits == 0 {
                    return found;
                }
                CStr::from_ptr(name).to_string_lossy()
            };
            // Without the top module: core.commands.state_q.
            let below = text.split("__DOT__").skip(1).collect::<Vec<_>>().join(".");
            found.push((if below.is_empty() { text.into_owned() } else { below }, bits));
        }
    }

    /// Keeps what it is, for [`back`](Self::back).
    pub fn keep(&mut self) {
        // Safety: as above.
        unsafe { (self.functions.keep)(self.node) }
    }

    /// Goes back to what was kept.
    pub fn back(&mut self) {
        // Safety: as above; only called behind `keep`.
        unsafe { (self.functions.back)(self.node) }
    }

    pub fn save(&self) -> Vec<u8> {
        let mut bytes = vec![0; 0x1_0000];
        // Safety: the length is the vector's; the model is only looked at.
        let size = unsafe { (self.functions.save)(self.node, bytes.as_mut_ptr(), bytes.len()) };
        assert!(size <= bytes.len(), "a coprocessor's state is a few kilobytes");
        bytes.truncate(size);
        bytes
    }

    pub fn restore(&mut self, bytes: &[u8]) {
        // Safety: the bytes are `save`'s, of the same library: the design's hash is in its path.
        unsafe { (self.functions.restore)(self.node, bytes.as_ptr(), bytes.len()) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // Safety: nobody else has the node.
        unsafe { (self.functions.delete)(self.node) }
    }
}
