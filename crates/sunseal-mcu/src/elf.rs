// SPDX-License-Identifier: MIT OR Apache-2.0
//! Firmware images: segments, symbols, source lines.

use std::collections::BTreeMap;

use crate::device::{Device, RegionKind};

const EM_MSP430: u16 = 105;
const PT_LOAD: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_NOBITS: u32 = 8;
const SHF_ALLOC: u32 = 2;
const SHN_UNDEF: u16 = 0;
const HEADER_BYTES: usize = 52;

/// Why an image could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// No ELF at all.
    #[error(
        "the image does not begin with an ELF header ({bytes} bytes); give an ELF executable for the MSP430"
    )]
    NotElf {
        /// Size of what was given.
        bytes: usize,
    },
    /// Another machine's ELF.
    #[error("the ELF is for {found}; it must be 32-bit little-endian for the MSP430 (machine 105)")]
    Foreign {
        /// What it is for.
        found: String,
    },
    /// It ends early.
    #[error(
        "the ELF is truncated: {what} at offset {offset:#x} needs {needed} bytes, the file has {have}"
    )]
    Truncated {
        /// Which part.
        what: String,
        /// Where it begins.
        offset: usize,
        /// Its size.
        needed: usize,
        /// Size of the file.
        have: usize,
    },
    /// Not linked.
    #[error("the ELF has no loadable segment; link it (this looks like an object file)")]
    NothingToLoad,
    /// No such symbol.
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
        /// First address outside.
        addr: u32,
        /// Size of the segment.
        bytes: u32,
        /// The device.
        device: String,
        /// What lies there.
        place: String,
    },
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
    /// Size in memory.
    pub mem_bytes: u32,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data.
    Object,
    /// Anything else, such as a label of an assembly file.
    Other,
}

/// A name in the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Its address.
    pub addr: u32,
    /// Its size, zero if not known.
    pub size_bytes: u32,
    /// What it names.
    pub kind: SymbolKind,
    /// Visible outside its file.
    pub global: bool,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// File as the compiler was given it.
    pub file: String,
    /// Line, 1 first.
    pub line: u32,
}

/// Memory that an image takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Flash.
    pub flash_bytes: u32,
    /// RAM without stack.
    pub ram_bytes: u32,
}

/// A firmware image.
#[derive(Clone, Debug, Default)]
pub struct Elf {
    /// Entry point.
    pub entry: u32,
    /// What to load.
    pub segments: Vec<Segment>,
    /// Names, by address.
    pub symbols: Vec<Symbol>,
    /// Compilers that its debug data names, sorted.
    pub producers: Vec<String>,
    by_name: BTreeMap<String, usize>,
    code: Vec<(u32, usize)>,
    files: Vec<String>,
    lines: BTreeMap<u32, Option<(usize, u32)>>,
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

impl Elf {
    /// Reads an image.
    ///
    /// # Errors
    /// If the bytes are not a whole, linked ELF for the MSP430.
    pub fn parse(bytes: &[u8]) -> Result<Self, ElfError> {
        if bytes.len() < 20 || bytes[..4] != *b"\x7fELF" {
            return Err(ElfError::NotElf { bytes: bytes.len() });
        }
        let foreign = |found: String| Err(ElfError::Foreign { found });
        if bytes[4] != 1 || bytes[5] != 1 {
            let bits = if bytes[4] == 2 { 64 } else { 32 };
            let end = if bytes[5] == 2 { "big" } else { "little" };
            return foreign(format!("a {bits}-bit {end}-endian machine ({})", u16_at(bytes, 18)));
        }
        if u16_at(bytes, 18) != EM_MSP430 {
            return foreign(format!("machine {}", u16_at(bytes, 18)));
        }
        let r = Reader(bytes);
        let h = r.bytes("the ELF header", 0, HEADER_BYTES)?;
        let mut elf = Self { entry: u32_at(h, 24), ..Self::default() };
        let sections = read_sections(&r, h)?;
        elf.read_segments(&r, h, &sections)?;
        elf.read_symbols(&r, &sections)?;
        elf.read_lines(&r, &sections)?;
        Ok(elf)
    }

    /// Linkers may put the ELF's own headers into a segment: where there are sections, they say what
    /// belongs to the program, and the segments where it is stored.
    fn read_segments(
        &mut self,
        r: &Reader<'_>,
        h: &[u8],
        sections: &[Section],
    ) -> Result<(), ElfError> {
        let (offset, size, count) = (u32_at(h, 28) as usize, u16_at(h, 42) as usize, u16_at(h, 44));
        for i in 0..count as usize {
            let p = r.bytes("a program header", offset + i * size, 32)?;
            if u32_at(p, 0) != PT_LOAD || u32_at(p, 20) == 0 {
                continue;
            }
            let (from, load_addr, addr) = (u32_at(p, 4) as usize, u32_at(p, 12), u32_at(p, 8));
            let (file_bytes, mem_bytes) = (u32_at(p, 16), u32_at(p, 20));
            r.bytes("a loadable segment", from, file_bytes as usize)?;
            let whole = Section {
                name: String::new(),
                kind: 1,
                flags: SHF_ALLOC,
                addr,
                link: 0,
                offset: from,
                bytes: file_bytes as usize,
            };
            let inside = |s: &&Section| {
                s.flags & SHF_ALLOC != 0
                    && s.bytes != 0
                    && s.addr >= addr
                    && s.addr - addr < mem_bytes
            };
            let parts: Vec<&Section> = if sections.is_empty() {
                vec![&whole]
            } else {
                sections.iter().filter(inside).collect()
            };
            for s in parts {
                let data = match s.kind {
                    SHT_NOBITS => Vec::new(),
                    _ => r.bytes(&s.name, s.offset, s.bytes)?.to_vec(),
                };
                let load_addr = load_addr + (s.addr - addr);
                self.segments.push(Segment {
                    load_addr,
                    addr: s.addr,
                    data,
                    mem_bytes: s.bytes as u32,
                });
            }
        }
        if self.segments.iter().all(|s| s.data.is_empty()) {
            return Err(ElfError::NothingToLoad);
        }
        Ok(())
    }

    fn read_symbols(&mut self, r: &Reader<'_>, sections: &[Section]) -> Result<(), ElfError> {
        let Some(table) = sections.iter().find(|s| s.kind == SHT_SYMTAB) else { return Ok(()) };
        let strings = match sections.get(table.link as usize) {
            Some(s) => r.bytes("the symbol names", s.offset, s.bytes)?,
            None => &[],
        };
        for s in r.bytes("the symbol table", table.offset, table.bytes)?.chunks_exact(16) {
            let (name, info, section) = (name_at(strings, u32_at(s, 0)), s[12], u16_at(s, 14));
            if name.is_empty() || section == SHN_UNDEF || info & 15 > 2 {
                continue;
            }
            let kind = match info & 15 {
                1 => SymbolKind::Object,
                2 => SymbolKind::Function,
                _ => SymbolKind::Other,
            };
            self.symbols.push(Symbol {
                name,
                addr: u32_at(s, 4),
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

    fn walk_lines<R: gimli::Reader>(&mut self, dwarf: &gimli::Dwarf<R>) -> gimli::Result<()> {
        let mut units = dwarf.units();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            self.read_producer(dwarf, &unit)?;
            let Some(program) = unit.line_program.clone() else { continue };
            let mut rows = program.rows();
            while let Some((header, row)) = rows.next_row()? {
                let addr = row.address() as u32;
                if row.end_sequence() {
                    self.lines.entry(addr).or_insert(None);
                    continue;
                }
                let (Some(file), Some(line)) = (row.file(header), row.line()) else { continue };
                let name = dwarf.attr_string(&unit, file.path_name())?;
                let name = name.to_string_lossy()?;
                let mut path = String::new();
                // A compiler that was given a full path writes it here, and its own folder beside it.
                if let Some(dir) = file.directory(header).filter(|_| !name.starts_with('/')) {
                    let dir = dwarf.attr_string(&unit, dir)?;
                    path.push_str(&dir.to_string_lossy()?);
                    path.push('/');
                }
                path.push_str(&name);
                let next = known.len();
                let index = *known.entry(path.clone()).or_insert(next);
                if index == self.files.len() {
                    self.files.push(path);
                }
                self.lines.insert(addr, Some((index, line.get() as u32)));
            }
        }
        Ok(())
    }

    fn read_producer<R: gimli::Reader>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
    ) -> gimli::Result<()> {
        let mut entries = unit.entries();
        let Some((_, root)) = entries.next_dfs()? else { return Ok(()) };
        if let Some(value) = root.attr_value(gimli::DW_AT_producer)? {
            let producer = dwarf.attr_string(unit, value)?.to_string_lossy()?.into_owned();
            if let Err(at) = self.producers.binary_search(&producer) {
                self.producers.insert(at, producer);
            }
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
        let hint =
            if near.is_empty() { String::new() } else { format!("; it has {}", near.join(", ")) };
        Err(ElfError::NoSymbol { name: name.to_owned(), hint })
    }

    /// The function that holds `addr`.
    #[must_use]
    pub fn function_at(&self, addr: u32) -> Option<&Symbol> {
        let end = self.code.partition_point(|&(a, _)| a <= addr);
        let (start, i) = *self.code[..end].last()?;
        let s = &self.symbols[i];
        (s.size_bytes == 0 || addr < start + s.size_bytes).then_some(s)
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

    /// What the image takes of `device`'s memory.
    #[must_use]
    pub fn sizes(&self, device: &Device) -> Sizes {
        let mut sizes = Sizes::default();
        for s in &self.segments {
            let kind = |addr| device.region(addr).map(|r| r.kind);
            if matches!(kind(s.load_addr), Some(RegionKind::Flash | RegionKind::InfoFlash)) {
                sizes.flash_bytes += s.data.len() as u32;
            }
            if kind(s.addr) == Some(RegionKind::Ram) {
                sizes.ram_bytes += s.mem_bytes;
            }
        }
        sizes
    }
}

fn read_sections(r: &Reader<'_>, h: &[u8]) -> Result<Vec<Section>, ElfError> {
    let (offset, size, count) =
        (u32_at(h, 32) as usize, u16_at(h, 46) as usize, u16_at(h, 48) as usize);
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
