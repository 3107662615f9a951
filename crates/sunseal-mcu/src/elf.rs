// SPDX-License-Identifier: MIT OR Apache-2.0
//! Firmware images: segments, symbols, source lines.

mod debug;

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Write as _};
use std::ops::Range;

use sunseal_isa::{Fault, FaultKind};

pub use crate::device::Architecture;
use crate::device::{Device, RegionKind};

/// The most that an image may load: more than any of the devices holds.
const LOAD_BYTES_MAX: usize = 16 << 20;
/// The most pairs of program header and section that are looked at.
const PAIRS_MAX: usize = 1 << 22;
/// The most rows of line tables: a damaged image could have the same table read for ever.
const LINE_ROWS_MAX: usize = 1 << 22;
/// The most entries of the debug data's tree.
const ENTRIES_MAX: usize = 1 << 22;
/// Start of the data space in images for AVR.
pub(crate) const AVR_DATA: u32 = 0x80_0000;
/// From here on images for AVR hold fuses, lock bits and the signature.
const AVR_SETTINGS: u32 = 0x82_0000;
const PT_LOAD: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_NOBITS: u32 = 8;
const SHF_ALLOC: u32 = 2;
const SHF_EXECINSTR: u32 = 4;
const SHN_UNDEF: u16 = 0;
const HEADER_BYTES: usize = 52;

/// Why an image could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// No ELF at all.
    #[error(
        "the image does not begin with an ELF header ({bytes} bytes); give a linked ELF executable"
    )]
    NotElf {
        /// Size of what was given.
        bytes: usize,
    },
    /// ELF for a machine of another kind.
    #[error(
        "the ELF is for {found}; it must be 32-bit little-endian for the MSP430 (machine 105), AVR (83) \
         or ARM (40)"
    )]
    Foreign {
        /// What it is for.
        found: String,
    },
    #[error("the ELF is for {found}, but {device} runs {wanted}; compile it for that device")]
    WrongMachine {
        /// What it is for.
        found: String,
        device: String,
        /// What that device runs.
        wanted: String,
    },
    /// Numbers in it that no image has.
    #[error("the ELF is damaged: {what}; build it anew")]
    Damaged {
        /// Which, and what is wrong with them.
        what: String,
    },
    /// ELF that ends before what it announces.
    #[error(
        "the ELF is truncated: {what} at offset {offset:#x} needs {needed} bytes, the file has {have}"
    )]
    Truncated {
        what: String,
        offset: usize,
        needed: usize,
        /// Size of the file.
        have: usize,
    },
    #[error("the ELF has no loadable segment; link it (this looks like an object file)")]
    NothingToLoad,
    #[error("the ELF has no symbol `{name}`{hint}")]
    NoSymbol {
        /// What was asked for.
        name: String,
        /// Similar names, if any.
        hint: String,
    },
    /// A segment lies outside the device's memory.
    #[error(
        "the ELF puts {bytes} bytes at {addr:#07x}, where {device} has {place}; link it for this device"
    )]
    Outside {
        addr: u32,
        /// Size of the segment.
        bytes: u32,
        device: String,
        place: String,
    },
}

/// What ELF machine numbers that are often met by mistake mean.
fn machine_name(machine: u16) -> String {
    let name = match machine {
        3 => "x86",
        8 => "MIPS",
        20 => "PowerPC",
        62 => "x86-64",
        94 => "Xtensa",
        183 => "AArch64",
        243 => "RISC-V",
        247 => "BPF",
        _ => return format!("machine {machine}"),
    };
    format!("{name} (machine {machine})")
}

/// Bytes to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where they are stored (flash, for initialised data).
    pub load_addr: u32,
    /// Where the program sees them.
    pub addr: u32,
    /// The bytes of the file.
    pub data: Vec<u8>,
    pub mem_bytes: u32,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    Function,
    Object,
    /// Anything else, such as a label of an assembly file.
    Other,
}

/// A name in the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub addr: u32,
    /// Its size, zero if not known.
    pub size_bytes: u32,
    pub kind: SymbolKind,
    /// Visible outside its file.
    pub global: bool,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// File as the compiler was given it.
    pub file: String,
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A function that is being executed at an address, inlined ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name; the address where there is none.
    pub function: String,
    /// Where in it, if the image has debug lines.
    pub line: Option<SourceLine>,
    /// Whether it has no frame of its own because the compiler put it into the next one.
    pub inlined: bool,
}

/// A stretch of code that a compiler copied from another function.
#[derive(Clone, Copy, Debug)]
struct Inlined {
    start: u32,
    end: u32,
    depth: u32,
    name: u32,
    /// File and line of the call.
    call: Option<(usize, u32)>,
}

/// Memory that an image takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub flash_bytes: u32,
    pub ram_bytes: u32,
}

/// Firmware image: its segments, symbols and debugging tables.
#[derive(Clone, Debug, Default)]
pub struct Elf {
    /// Which instruction set it is for.
    pub architecture: Architecture,
    /// The header's flags: on AVR the core in bits 6:0.
    pub flags: u32,
    /// Entry point, without the bit that says Thumb.
    pub entry: u32,
    pub segments: Vec<Segment>,
    /// What a programmer would burn beside memory: AVR's fuses (at 0x820000), lock bits and signature.
    pub settings: Vec<Segment>,
    pub symbols: Vec<Symbol>,
    /// Compilers that its debug data names, sorted.
    pub producers: Vec<String>,
    by_name: BTreeMap<String, usize>,
    code: Vec<(u32, usize)>,
    /// Global labels of code that say neither what they are nor how long, as assembly files often have.
    labels: Vec<(u32, usize)>,
    files: Vec<String>,
    lines: BTreeMap<u32, Option<(usize, u32)>>,
    /// By start, then depth.
    inlined: Vec<Inlined>,
    /// Names of inlined functions.
    inlined_names: Vec<String>,
    /// The longest of `inlined`, in bytes: bounds the search.
    inlined_bytes_max: u32,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&self, what: &str, offset: usize, needed: usize) -> Result<&'a [u8], ElfError> {
        offset.checked_add(needed).and_then(|end| self.0.get(offset..end)).ok_or_else(|| {
            ElfError::Truncated { what: what.to_owned(), offset, needed, have: self.0.len() }
        })
    }
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn name_at(strings: &[u8], at: u32) -> String {
    let tail = strings.get(at as usize..).unwrap_or_default();
    let end = tail.iter().position(|&b| b == 0).unwrap_or(tail.len());
    String::from_utf8_lossy(&tail[..end]).into_owned()
}

struct Section {
    name: String,
    kind: u32,
    flags: u32,
    addr: u32,
    link: u32,
    offset: usize,
    bytes: usize,
}

/// A segment that is loaded, as its header has it.
struct Load {
    from: usize,
    load_addr: u32,
    addr: u32,
    file_bytes: u32,
    mem_bytes: u32,
}

/// The headers of segments that are loaded.
fn read_loads(r: &Reader<'_>, h: &[u8]) -> Result<Vec<Load>, ElfError> {
    let (offset, size, count) = (u32_at(h, 28) as usize, u16_at(h, 42) as usize, u16_at(h, 44));
    if count != 0 && size < 32 {
        return Err(damaged(format!("a program header has {size} bytes, which is less than 32")));
    }
    let mut loads = Vec::new();
    for i in 0..count as usize {
        let p = r.bytes("a program header", offset + i * size, 32)?;
        if u32_at(p, 0) != PT_LOAD || u32_at(p, 20) == 0 {
            continue;
        }
        let load = Load {
            from: u32_at(p, 4) as usize,
            load_addr: u32_at(p, 12),
            addr: u32_at(p, 8),
            file_bytes: u32_at(p, 16),
            mem_bytes: u32_at(p, 20),
        };
        r.bytes("a loadable segment", load.from, load.file_bytes as usize)?;
        loads.push(load);
    }
    Ok(loads)
}

impl Elf {
    /// Reads an image.
    ///
    /// # Errors
    /// If the bytes are not a whole, linked ELF for the MSP430, AVR or ARM.
    pub fn parse(bytes: &[u8]) -> Result<Self, ElfError> {
        if bytes.len() < 20 || bytes[..4] != *b"\x7fELF" {
            return Err(ElfError::NotElf { bytes: bytes.len() });
        }
        let foreign = |found: String| Err(ElfError::Foreign { found });
        if bytes[4] != 1 || bytes[5] != 1 {
            let bits = if bytes[4] == 2 { 64 } else { 32 };
            let end = if bytes[5] == 2 { "big" } else { "little" };
            let machine = match bytes[5] {
                2 => u16::from_be_bytes([bytes[18], bytes[19]]),
                _ => u16_at(bytes, 18),
            };
            return foreign(format!("a {bits}-bit {end}-endian {}", machine_name(machine)));
        }
        let Some(architecture) = Architecture::of_machine(u16_at(bytes, 18)) else {
            return foreign(machine_name(u16_at(bytes, 18)));
        };
        let r = Reader(bytes);
        let h = r.bytes("the ELF header", 0, HEADER_BYTES)?;
        let mut elf = Self { architecture, flags: u32_at(h, 36), ..Self::default() };
        elf.entry = elf.code_address(u32_at(h, 24));
        let sections = read_sections(&r, h)?;
        elf.read_segments(&r, h, &sections)?;
        elf.read_symbols(&r, &sections)?;
        elf.read_lines(&r, &sections)?;
        Ok(elf)
    }

    /// A code address without the bit that says Thumb.
    fn code_address(&self, addr: u32) -> u32 {
        if self.architecture == Architecture::Arm { addr & !1 } else { addr }
    }

    /// Linkers may put the ELF's own headers into a segment: where there are sections, they say what
    /// belongs to the program, and the segments where it is stored.
    fn read_segments(
        &mut self,
        r: &Reader<'_>,
        h: &[u8],
        sections: &[Section],
    ) -> Result<(), ElfError> {
        let loads = read_loads(r, h)?;
        let parts: Vec<&Section> =
            sections.iter().filter(|s| s.flags & SHF_ALLOC != 0 && s.bytes != 0).collect();
        if loads.len().saturating_mul(parts.len()) > PAIRS_MAX {
            let (segments, parts) = (loads.len(), parts.len());
            return Err(damaged(format!(
                "it has {segments} segments and {parts} sections to load"
            )));
        }
        let mut found = Vec::new();
        if sections.is_empty() {
            for l in &loads {
                let data = r.bytes("a loadable segment", l.from, l.file_bytes as usize)?;
                found.push((l.load_addr, l.addr, data, l.mem_bytes));
            }
        }
        for s in parts {
            let inside = |l: &&Load| s.addr >= l.addr && s.addr - l.addr < l.mem_bytes;
            let Some(l) = loads.iter().find(inside) else { continue };
            let data = match s.kind {
                SHT_NOBITS => &[],
                _ => r.bytes(&s.name, s.offset, s.bytes)?,
            };
            found.push((l.load_addr.wrapping_add(s.addr - l.addr), s.addr, data, s.bytes as u32));
        }
        let mut total = 0;
        for (load_addr, addr, data, mem_bytes) in found {
            total += data.len();
            if total > LOAD_BYTES_MAX {
                return Err(damaged(format!("it loads more than {LOAD_BYTES_MAX} bytes")));
            }
            self.add_segment(load_addr, addr, data, mem_bytes)?;
        }
        if self.segments.iter().all(|s| s.data.is_empty()) {
            return Err(ElfError::NothingToLoad);
        }
        Ok(())
    }

    /// Keeps a segment: of the program, or of the AVR's fuses and signature.
    fn add_segment(
        &mut self,
        load_addr: u32,
        addr: u32,
        data: &[u8],
        mem_bytes: u32,
    ) -> Result<(), ElfError> {
        for at in [addr, load_addr] {
            if u64::from(at) + u64::from(mem_bytes) > 1 << 32 {
                return Err(damaged(format!(
                    "its {mem_bytes} bytes at {at:#x} end behind the last address"
                )));
            }
        }
        let segment = Segment { load_addr, addr, data: data.to_vec(), mem_bytes };
        if self.architecture == Architecture::Avr && addr >= AVR_SETTINGS {
            self.settings.push(segment);
        } else {
            self.segments.push(segment);
        }
        Ok(())
    }

    fn read_symbols(&mut self, r: &Reader<'_>, sections: &[Section]) -> Result<(), ElfError> {
        let Some(table) = sections.iter().find(|s| s.kind == SHT_SYMTAB) else { return Ok(()) };
        let strings = match sections.get(table.link as usize) {
            Some(s) => r.bytes("the symbol names", s.offset, s.bytes)?,
            None => &[],
        };
        let mut labels = HashSet::new();
        for s in r.bytes("the symbol table", table.offset, table.bytes)?.chunks_exact(16) {
            let (name, info, section) = (name_at(strings, u32_at(s, 0)), s[12], u16_at(s, 14));
            // `$t` and the like tell code from data, `.L` and `.Ltmp` are the compiler's own.
            if name.is_empty()
                || name.starts_with('$')
                || name.starts_with(".L")
                || section == SHN_UNDEF
                || info & 15 > 2
            {
                continue;
            }
            let kind = match info & 15 {
                1 => SymbolKind::Object,
                2 => SymbolKind::Function,
                _ => SymbolKind::Other,
            };
            let place = sections.get(usize::from(section)).map_or(0, |s| s.flags);
            if kind == SymbolKind::Other && info >> 4 != 0 && place & SHF_EXECINSTR != 0 {
                labels.insert(u32_at(s, 4));
            }
            self.symbols.push(Symbol {
                name,
                addr: match kind {
                    SymbolKind::Function => self.code_address(u32_at(s, 4)),
                    _ => u32_at(s, 4),
                },
                size_bytes: u32_at(s, 8),
                kind,
                global: info >> 4 != 0,
            });
        }
        self.symbols.sort_by(|a, b| (a.addr, &a.name).cmp(&(b.addr, &b.name)));
        for (i, s) in self.symbols.iter().enumerate() {
            // A global name wins over a local one of another file.
            if s.global || !self.by_name.contains_key(&s.name) {
                self.by_name.insert(s.name.clone(), i);
            }
        }
        self.labels = self
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, s)| s.kind == SymbolKind::Other && s.global && labels.contains(&s.addr))
            .map(|(i, s)| (s.addr, i))
            .collect();
        let any_function = self.symbols.iter().any(|s| s.kind == SymbolKind::Function);
        self.code = self
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, s)| s.kind == SymbolKind::Function || (!any_function && s.global))
            .map(|(i, s)| (s.addr, i))
            .collect();
        Ok(())
    }

    fn read_lines(&mut self, r: &Reader<'_>, sections: &[Section]) -> Result<(), ElfError> {
        let mut missing = None;
        let mut load = |id: gimli::SectionId| {
            let bytes = match sections.iter().find(|s| s.name == id.name()) {
                Some(s) => r.bytes(id.name(), s.offset, s.bytes).unwrap_or_else(|e| {
                    missing = Some(e);
                    &[]
                }),
                None => &[],
            };
            Ok::<_, gimli::Error>(gimli::EndianSlice::new(bytes, gimli::LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(&mut load);
        if let Some(e) = missing {
            return Err(e);
        }
        // Debug data that gimli cannot follow leaves addresses without lines; the code still runs.
        if let Ok(dwarf) = dwarf {
            let _ = self.walk_lines(&dwarf);
        }
        Ok(())
    }

    /// The symbol of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn symbol(&self, name: &str) -> Result<&Symbol, ElfError> {
        if let Some(&i) = self.by_name.get(name) {
            return Ok(&self.symbols[i]);
        }
        let near: Vec<&str> = self
            .by_name
            .keys()
            .filter(|n| n.contains(name) || (n.len() > 3 && name.contains(n.as_str())))
            .take(3)
            .map(String::as_str)
            .collect();
        let hint = if near.is_empty() {
            let near = sunseal_data::nearest(name, self.by_name.keys().cloned().collect());
            if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) }
        } else {
            format!("; it has {}", near.join(", "))
        };
        Err(ElfError::NoSymbol { name: name.to_owned(), hint })
    }

    /// The function that holds `addr`.
    #[must_use]
    pub fn function_at(&self, addr: u32) -> Option<&Symbol> {
        let before = |list: &[(u32, usize)]| {
            let end = list.partition_point(|&(a, _)| a <= addr);
            list[..end].last().map(|&(_, i)| &self.symbols[i])
        };
        let function = before(&self.code);
        let holds = |s: &&Symbol| s.size_bytes == 0 || addr - s.addr < s.size_bytes;
        let behind = function.map_or(0, |f| f.addr);
        function
            .filter(holds)
            .or_else(|| before(&self.labels).filter(|s| s.addr > behind && self.has_code(addr)))
    }

    /// The object that an address of data lies in.
    #[must_use]
    pub fn object_at(&self, addr: u32) -> Option<&Symbol> {
        let holds = |s: &&Symbol| {
            (s.addr..s.addr.saturating_add(s.size_bytes.max(1))).contains(&addr)
                && s.kind == SymbolKind::Object
        };
        self.symbols.iter().find(holds)
    }

    /// `function` or `function+offset`, or the bare address.
    #[must_use]
    pub fn describe(&self, addr: u32) -> String {
        match self.function_at(addr) {
            Some(s) if s.addr == addr => s.name.clone(),
            Some(s) => format!("{}+{:#x}", s.name, addr - s.addr),
            None => format!("{addr:#07x}"),
        }
    }

    /// The source line of the instruction at `addr`, if the image has debug lines.
    #[must_use]
    pub fn line_at(&self, addr: u32) -> Option<SourceLine> {
        let (file, line) = (*self.lines.range(..=addr).next_back()?.1)?;
        Some(SourceLine { file: self.files[file].clone(), line })
    }

    /// The functions executed at `addr`, innermost first: those that the compiler put into others, then the
    /// one that has the code.
    #[must_use]
    pub fn frames_at(&self, addr: u32) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut line = self.line_at(addr);
        for i in self.inlined_at(addr) {
            let function = self.inlined_names[i.name as usize].clone();
            let call =
                i.call.map(|(file, line)| SourceLine { file: self.files[file].clone(), line });
            frames.push(Frame { function, line: line.take(), inlined: true });
            line = call;
        }
        let function =
            self.function_at(addr).map_or_else(|| format!("{addr:#07x}"), |s| s.name.clone());
        frames.push(Frame { function, line, inlined: false });
        frames
    }

    /// Inlined calls around an address, the innermost first.
    fn inlined_at(&self, addr: u32) -> Vec<&Inlined> {
        let end = self.inlined.partition_point(|i| i.start <= addr);
        let first = addr.saturating_sub(self.inlined_bytes_max);
        let mut list: Vec<&Inlined> = self.inlined[..end]
            .iter()
            .rev()
            .take_while(|i| i.start >= first)
            .filter(|i| addr < i.end)
            .collect();
        list.sort_by_key(|i| std::cmp::Reverse(i.depth));
        list
    }

    /// Every address that begins a line of the source, with its line, in order.
    pub fn lines(&self) -> impl Iterator<Item = (Range<u32>, &str, u32)> {
        let ends = self.lines.keys().skip(1).copied().map(Some).chain([None]);
        self.lines.iter().zip(ends).filter_map(|((&start, place), end)| {
            let (file, line) = (*place)?;
            Some((start..end.unwrap_or(start.saturating_add(2)), self.files[file].as_str(), line))
        })
    }

    /// A fault with the function and the source line where it happened, and what such a fault often means.
    #[must_use]
    pub fn explain(&self, fault: &Fault) -> String {
        let mut text = fault.to_string();
        let at = fault.pc();
        if let Some(pc) = at {
            let _ = write!(text, " in {}", self.describe(pc));
            if let Some(line) = self.line_at(pc) {
                let _ = write!(text, " ({line})");
            }
        }
        let erased = matches!(fault.addr(), 0xFFFF | 0xF_FFFE | 0xF_FFFF | 0xFFFF_FFFE | u32::MAX);
        let hint = match fault.kind() {
            FaultKind::OddProgramCounter | FaultKind::NotCode | FaultKind::Unmapped if erased => {
                "; that is what erased flash reads as: a vector or a function pointer that nobody set"
            }
            FaultKind::NotCode if fault.addr() == 0 => {
                "; a null function pointer, or a vector that is zero"
            }
            FaultKind::OddProgramCounter | FaultKind::NotCode => {
                "; a return address or a function pointer was overwritten, or the stack ran into data"
            }
            FaultKind::IllegalOpcode { .. } if at.is_some_and(|pc| !self.has_code(pc)) => {
                "; the image has no code there: a jump went astray"
            }
            _ => "",
        };
        text.push_str(hint);
        text
    }

    /// Whether the image has bytes to run at `addr`.
    #[must_use]
    pub fn has_code(&self, addr: u32) -> bool {
        self.segments.iter().any(|s| addr.wrapping_sub(s.addr) < s.data.len() as u32)
    }

    /// Whether it is for `device`.
    ///
    /// # Errors
    /// If it is for another instruction set, or for a core of the same family that has others.
    pub fn fits(&self, device: &str, wanted: Architecture) -> Result<(), ElfError> {
        let wrong = |found: String| {
            let (device, wanted) = (device.to_owned(), wanted.name().to_owned());
            Err(ElfError::WrongMachine { found, device, wanted })
        };
        if self.architecture != wanted {
            return wrong(self.architecture.name().to_owned());
        }
        // Cores as in the flags of `avr-gcc -mmcu`: avr6 has a longer program counter, tiny (100) and xmega
        // (101 to 107) another data space.
        match (wanted, self.flags & 0x7F) {
            (Architecture::Avr, core @ (6 | 100..)) => wrong(format!("AVR core avr{core}")),
            _ => Ok(()),
        }
    }

    /// The first address behind initialised and zeroed data: where a stack must not come.
    #[must_use]
    pub fn data_end(&self) -> Option<u32> {
        for name in ["_end", "end", "__bss_end", "__bss_end__"] {
            if let Some(&i) = self.by_name.get(name) {
                return Some(self.symbols[i].addr);
            }
        }
        let entry = self.entry;
        let code = |s: &&Segment| s.addr != s.load_addr || s.data.is_empty() || s.addr >= AVR_DATA;
        let data = self.segments.iter().filter(code).filter(|s| s.addr != entry);
        data.map(|s| s.addr.saturating_add(s.mem_bytes)).max()
    }

    /// What the image takes of `device`'s memory.
    #[must_use]
    pub fn sizes(&self, device: &Device) -> Sizes {
        let mut sizes = Sizes::default();
        for s in &self.segments {
            let kind = |addr| device.region(addr).map(|r| r.kind);
            let kept = [RegionKind::Flash, RegionKind::InfoFlash, RegionKind::Fram];
            if kind(s.load_addr).is_some_and(|k| kept.contains(&k)) {
                sizes.flash_bytes += s.data.len() as u32;
            }
            if kind(s.addr) == Some(RegionKind::Ram) {
                sizes.ram_bytes = sizes.ram_bytes.saturating_add(s.mem_bytes);
            }
        }
        sizes
    }
}

fn damaged(what: String) -> ElfError {
    ElfError::Damaged { what }
}

fn read_sections(r: &Reader<'_>, h: &[u8]) -> Result<Vec<Section>, ElfError> {
    let (offset, size, count) =
        (u32_at(h, 32) as usize, u16_at(h, 46) as usize, u16_at(h, 48) as usize);
    if count != 0 && size < 40 {
        return Err(damaged(format!("a section header has {size} bytes, which is less than 40")));
    }
    let mut sections = Vec::with_capacity(count);
    for i in 0..count {
        let s = r.bytes("a section header", offset + i * size, 40)?;
        sections.push((
            u32_at(s, 0),
            Section {
                name: String::new(),
                kind: u32_at(s, 4),
                flags: u32_at(s, 8),
                addr: u32_at(s, 12),
                link: u32_at(s, 24),
                offset: u32_at(s, 16) as usize,
                bytes: u32_at(s, 20) as usize,
            },
        ));
    }
    let names = match sections.get(u16_at(h, 50) as usize) {
        Some((_, s)) => r.bytes("the section names", s.offset, s.bytes)?,
        None => &[],
    };
    Ok(sections.into_iter().map(|(n, s)| Section { name: name_at(names, n), ..s }).collect())
}
