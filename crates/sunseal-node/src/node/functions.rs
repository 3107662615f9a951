// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shares of the load's energy: by the function that runs and the component that takes it.
//!
//! Each step of the loop takes a known energy. It is shared among the components by their powers, and
//! among the functions that ran in the step by their cycles; what is shared out is all of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_mcu::device::RegionKind;
use sunseal_mcu::{Device, Elf};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::record::FunctionEnergy;

/// While the CPU waits, without supply, while the chip starts, and code that no symbol names: no function
/// begins there.
const ASLEEP: u32 = u32::MAX;
const OFF: u32 = u32::MAX - 1;
const UNNAMED: u32 = u32::MAX - 2;
const STARTING: u32 = u32::MAX - 3;

/// Code below this address is looked up in a table.
const TABLE_BYTES: u32 = 1 << 19;

/// Energy and time that one function took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    /// Address at which it begins.
    function: u32,
    time_s: f64,
    /// By component, the store's divider behind them.
    energy_j: Vec<f64>,
}

/// State that a checkpoint keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Books {
    rows: Vec<Row>,
    entering: u32,
}

/// Powers of a step's components.
#[derive(Clone, Debug)]
pub(crate) struct Powers {
    /// By component; the CPU, which is the first, with code in flash.
    pub watts: Vec<f64>,
    /// The CPU with code in RAM.
    pub cpu_ram_w: f64,
    /// True if the CPU runs.
    pub awake: bool,
}

/// The books by function, and the observer that fills them.
pub(crate) struct Functions {
    elf: Arc<Elf>,
    ram: (u32, u32),
    books: Books,
    /// Row of each function.
    places: HashMap<u32, u32>,
    /// Row by address, plus 1; 0: not looked up yet.
    table: Vec<u32>,
    elsewhere: HashMap<u32, u32>,
    /// Cycles of this step by row, from flash and from RAM.
    cycles: Vec<[u64; 2]>,
    touched: Vec<u32>,
}

impl Functions {
    pub fn new(elf: Arc<Elf>, device: &Device) -> Self {
        let ram = device.region_of(RegionKind::Ram);
        Self {
            elf,
            ram: (ram.start, ram.end),
            books: Books { rows: Vec::new(), entering: 0 },
            places: HashMap::new(),
            table: vec![0; TABLE_BYTES as usize / 2],
            elsewhere: HashMap::new(),
            cycles: Vec::new(),
            touched: Vec::new(),
        }
    }

    pub fn books(&self) -> &Books {
        &self.books
    }

    pub fn set_books(&mut self, books: Books) {
        self.places = books.rows.iter().zip(0..).map(|(r, i)| (r.function, i)).collect();
        self.cycles = vec![[0; 2]; books.rows.len()];
        self.table.fill(0);
        self.elsewhere.clear();
        self.books = books;
    }

    /// The row of a function.
    fn row(&mut self, function: u32) -> u32 {
        let next = self.books.rows.len() as u32;
        let row = *self.places.entry(function).or_insert(next);
        if row == next {
            self.books.rows.push(Row { function, time_s: 0.0, energy_j: Vec::new() });
            self.cycles.push([0; 2]);
        }
        row
    }

    fn looked_up(&mut self, pc: u32) -> u32 {
        let function = self.elf.function_at(pc).map_or(UNNAMED, |s| s.addr);
        self.row(function)
    }

    /// The row of the function at an address.
    fn row_at(&mut self, pc: u32) -> u32 {
        if pc >= TABLE_BYTES {
            if let Some(row) = self.elsewhere.get(&pc) {
                return *row;
            }
            let row = self.looked_up(pc);
            self.elsewhere.insert(pc, row);
            return row;
        }
        let at = pc as usize / 2;
        if self.table[at] == 0 {
            self.table[at] = self.looked_up(pc) + 1;
        }
        self.table[at] - 1
    }

    /// Books time without supply.
    pub fn off(&mut self, time_s: f64) {
        let row = self.row(OFF);
        self.books.rows[row as usize].time_s += time_s;
    }

    /// A start that took `load_j` at the rail, shared as the components' `shares_j`.
    pub fn start(&mut self, time_s: f64, load_j: f64, shares_j: &[f64]) {
        let row = self.row(STARTING);
        let row = &mut self.books.rows[row as usize];
        row.time_s += time_s;
        row.energy_j.resize(shares_j.len() + 1, 0.0);
        let total_j: f64 = shares_j.iter().sum();
        if total_j > 0.0 {
            for (e, share_j) in row.energy_j.iter_mut().zip(shares_j) {
                *e += load_j * share_j / total_j;
            }
        }
    }

    /// Books a step that took `load_j` at the rail and `divider_j` past it. Where no instruction was seen, the CPU
    /// slept, or ran in the function at `pc`.
    pub fn step(&mut self, powers: &Powers, pc: u32, time_s: f64, load_j: f64, divider_j: f64) {
        if self.touched.is_empty() {
            let row = if powers.awake { self.row_at(pc) } else { self.row(ASLEEP) };
            self.cycles[row as usize] = [1, 0];
            self.touched.push(row);
        }
        let cpu_w =
            |[flash, ram]: [u64; 2]| powers.watts[0] * flash as f64 + powers.cpu_ram_w * ram as f64;
        let all = self.touched.iter().map(|r| self.cycles[*r as usize]);
        let all = all.fold([0; 2], |a, c| [a[0] + c[0], a[1] + c[1]]);
        let count = (all[0] + all[1]) as f64;
        let others_w: f64 = powers.watts[1..].iter().sum();
        let total_w = cpu_w(all) / count + others_w;
        let per_w = if total_w > 0.0 { load_j / total_w } else { 0.0 };
        for row in self.touched.drain(..) {
            let cycles = std::mem::take(&mut self.cycles[row as usize]);
            let share = (cycles[0] + cycles[1]) as f64 / count;
            let row = &mut self.books.rows[row as usize];
            row.time_s += time_s * share;
            row.energy_j.resize(powers.watts.len() + 1, 0.0);
            row.energy_j[0] += cpu_w(cycles) / count * per_w;
            for (e, w) in row.energy_j[1..].iter_mut().zip(&powers.watts[1..]) {
                *e += w * share * per_w;
            }
            row.energy_j[powers.watts.len()] += divider_j * share;
        }
    }

    /// All that took energy, the most first; the CPU's rows say how long each function ran.
    pub fn told(&self, components: &[&str]) -> Vec<FunctionEnergy> {
        let mut table: BTreeMap<(String, &str), (f64, f64)> = BTreeMap::new();
        for row in &self.books.rows {
            let name = match row.function {
                ASLEEP => "(asleep)".to_owned(),
                OFF => "(off)".to_owned(),
                STARTING => "(starting)".to_owned(),
                UNNAMED => "(unnamed)".to_owned(),
                addr => self.elf.function_at(addr).map_or_else(String::new, |s| s.name.clone()),
            };
            for (i, component) in components.iter().chain(&["divider"]).enumerate() {
                let energy_j = row.energy_j.get(i).copied().unwrap_or(0.0);
                if energy_j != 0.0 || i == 0 {
                    let sum = table.entry((name.clone(), *component)).or_default();
                    (sum.0, sum.1) = (sum.0 + energy_j, sum.1 + row.time_s);
                }
            }
        }
        let row = |((function, component), (energy_j, time_s)): ((String, &str), _)| {
            FunctionEnergy { function, component: component.to_owned(), energy_j, time_s }
        };
        let mut rows: Vec<FunctionEnergy> = table.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.energy_j.total_cmp(&a.energy_j));
        rows
    }
}

impl Observer for Functions {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}

    fn instruction(&mut self, pc: u32, _: u32, cycles: u32, flow: Flow) {
        if let Flow::Interrupt { .. } = flow {
            // Of the handler, whose first instruction comes next.
            self.books.entering += cycles;
            return;
        }
        let row = self.row_at(pc);
        let in_ram = (self.ram.0..=self.ram.1).contains(&pc);
        let of_row = &mut self.cycles[row as usize];
        let cycles = cycles + std::mem::take(&mut self.books.entering);
        if *of_row == [0; 2] && cycles != 0 {
            self.touched.push(row);
        }
        of_row[usize::from(in_ram)] += u64::from(cycles);
    }
}
