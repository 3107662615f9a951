// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source lines, inlined functions and the compiler, from an image's debug data (DWARF).

use std::collections::{HashMap, HashSet};

use super::{ENTRIES_MAX, Elf, Inlined, LINE_ROWS_MAX};

impl Elf {
    pub(super) fn walk_lines<R: gimli::Reader<Offset = usize>>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
    ) -> gimli::Result<()> {
        let mut units = dwarf.units();
        let mut files = Files::default();
        let mut tables = HashSet::new();
        let (mut rows_left, mut entries_left) = (LINE_ROWS_MAX, ENTRIES_MAX);
        while let Some(header) = units.next()? {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let _ = self.read_producer(dwarf, &unit);
            if let Some(program) = unit.line_program.clone() {
                // Damaged images may have thousands of units share one table.
                if tables.insert(program.header().offset().0) {
                    let _ = self.read_rows(dwarf, &unit, program, &mut files, &mut rows_left);
                }
            }
            let _ = self.read_inlined(dwarf, &unit, &mut files, &mut entries_left);
        }
        self.files = files.names;
        self.inlined.sort_by_key(|i| (i.start, i.depth));
        self.inlined_bytes_max = self.inlined.iter().map(|i| i.end - i.start).max().unwrap_or(0);
        Ok(())
    }

    fn read_rows<R: gimli::Reader<Offset = usize>>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
        program: gimli::IncompleteLineProgram<R>,
        files: &mut Files,
        rows_left: &mut usize,
    ) -> gimli::Result<()> {
        let mut rows = program.rows();
        let mut sequence = Vec::new();
        while let Some((_, row)) = rows.next_row()? {
            *rows_left = rows_left.saturating_sub(1);
            if *rows_left == 0 {
                break;
            }
            let addr = row.address() as u32;
            if !row.end_sequence() {
                let line = row.line().map(|l| l.get() as u32);
                sequence.push((addr, row.file_index(), line));
                continue;
            }
            // A linker that threw a function away leaves its lines at address 0.
            if self.is_linked(sequence.first().map_or(0, |s| s.0)) {
                for (addr, file, line) in sequence.drain(..) {
                    let Some(line) = line else { continue };
                    let Some(file) = files.of(dwarf, unit, file) else { continue };
                    self.lines.insert(addr, Some((file, line)));
                }
                self.lines.entry(addr).or_insert(None);
            }
            sequence.clear();
        }
        Ok(())
    }

    /// Whether debug data of `addr` is of code that is in the image.
    fn is_linked(&self, addr: u32) -> bool {
        addr != 0 || self.code.first().is_some_and(|&(a, _)| a == 0)
    }

    fn read_inlined<R: gimli::Reader<Offset = usize>>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
        files: &mut Files,
        entries_left: &mut usize,
    ) -> gimli::Result<()> {
        let mut names: HashMap<usize, u32> = HashMap::new();
        let mut entries = unit.entries();
        let mut depth = 0i64;
        while let Some((step, entry)) = entries.next_dfs()? {
            depth += step as i64;
            *entries_left = entries_left.saturating_sub(1);
            if *entries_left == 0 {
                break;
            }
            if entry.tag() != gimli::DW_TAG_inlined_subroutine {
                continue;
            }
            let Some(gimli::AttributeValue::UnitRef(origin)) =
                entry.attr_value(gimli::DW_AT_abstract_origin)?
            else {
                continue;
            };
            let name = match names.get(&origin.0) {
                Some(&name) => name,
                None => {
                    let text = origin_name(dwarf, unit, origin).unwrap_or_else(|| "?".to_owned());
                    self.inlined_names.push(text);
                    let name = self.inlined_names.len() as u32 - 1;
                    names.insert(origin.0, name);
                    name
                }
            };
            let file = match entry.attr_value(gimli::DW_AT_call_file)? {
                Some(gimli::AttributeValue::FileIndex(file)) => Some(file),
                other => other.and_then(|v| v.udata_value()),
            };
            let line = entry.attr_value(gimli::DW_AT_call_line)?.and_then(|v| v.udata_value());
            let line = line.map(|l| l as u32);
            let call = file.and_then(|f| files.of(dwarf, unit, f)).zip(line);
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                *entries_left = entries_left.saturating_sub(1);
                let (start, end) = (range.begin as u32, range.end as u32);
                if *entries_left == 0 || start >= end || !self.is_linked(start) {
                    continue;
                }
                let depth = depth.clamp(0, 1 << 20) as u32;
                self.inlined.push(Inlined { start, end, depth, name, call });
            }
        }
        Ok(())
    }

    fn read_producer<R: gimli::Reader<Offset = usize>>(
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
}

/// The files of all units under one numbering.
#[derive(Default)]
struct Files {
    names: Vec<String>,
    known: HashMap<String, usize>,
    /// By the line table's place and the file's number in it.
    units: HashMap<(usize, u64), Option<usize>>,
}

impl Files {
    fn of<R: gimli::Reader<Offset = usize>>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
        number: u64,
    ) -> Option<usize> {
        let header = unit.line_program.as_ref()?.header();
        let key = (header.offset().0, number);
        if let Some(known) = self.units.get(&key) {
            return *known;
        }
        let found = Self::path(dwarf, unit, header, number).map(|path| {
            *self.known.entry(path).or_insert_with_key(|path| {
                self.names.push(path.clone());
                self.names.len() - 1
            })
        });
        self.units.insert(key, found);
        found
    }

    fn path<R: gimli::Reader<Offset = usize>>(
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
        header: &gimli::LineProgramHeader<R>,
        number: u64,
    ) -> Option<String> {
        let file = header.file(number)?;
        let text =
            |value| Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().ok()?.into_owned());
        let name = text(file.path_name())?;
        // A compiler that was given a full path writes it here, and its own folder beside it.
        match file.directory(header).filter(|_| !name.starts_with('/')).and_then(text) {
            Some(dir) => Some(format!("{dir}/{name}")),
            None => Some(name),
        }
    }
}

/// The name of an inlined function: at its declaration or where that was declared.
fn origin_name<R: gimli::Reader<Offset = usize>>(
    dwarf: &gimli::Dwarf<R>,
    unit: &gimli::Unit<R>,
    origin: gimli::UnitOffset<usize>,
) -> Option<String> {
    let mut at = origin;
    // A damaged image may lead in circles.
    for _ in 0..8 {
        let entry = unit.entry(at).ok()?;
        if let Some(name) = entry.attr_value(gimli::DW_AT_name).ok()? {
            return Some(dwarf.attr_string(unit, name).ok()?.to_string_lossy().ok()?.into_owned());
        }
        let next = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin];
        at = next.into_iter().find_map(|a| match entry.attr_value(a) {
            Ok(Some(gimli::AttributeValue::UnitRef(at))) => Some(at),
            _ => None,
        })?;
    }
    None
}
