// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions as they lie in memory, and as they ran, with the registers behind each.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunseal_mcu::{Register, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::error::EngineError;
use crate::machine::{Ended, Machine};

/// Bytes that are no instruction are told two by two.
const HALF: u32 = 2;

/// Address, bytes and text of the instructions from `start` to before `end`; no text where there is none.
#[pyfunction]
pub fn disassemble(
    machine: PyRef<'_, Machine>,
    start: u32,
    end: u32,
) -> Vec<(u32, u32, Option<String>)> {
    let m = machine.lock();
    let (mut at, mut it, mut found) = (start, 0, Vec::new());
    while at < end {
        let instruction = m.instruction(at, it);
        it = instruction.as_ref().map_or(0, |i| i.it_behind);
        let bytes = instruction.as_ref().map_or(HALF, |i| i.bytes);
        found.push((at, bytes, instruction.map(|i| i.text)));
        let Some(next) = at.checked_add(bytes) else { break };
        at = next;
    }
    found
}

/// Step of the machine: an instruction or the way into an interrupt.
#[derive(Default)]
struct Steps(Vec<(u32, u32, Option<u32>)>);

impl Observer for Steps {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, pc: u32, _: u32, cycles: u32, flow: Flow) {
        let interrupt = match flow {
            Flow::Interrupt { vector } => Some(vector),
            _ => None,
        };
        self.0.push((pc, cycles, interrupt));
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// Rows of a trace.
struct Rows {
    most: usize,
    count: usize,
    /// CPU cycle in which each began.
    cycle: Vec<u8>,
    /// Address, cycles, number of the text, registers, 32 bits each.
    words: Vec<u8>,
    texts: Vec<String>,
    /// Text and IT state behind the bytes at an address, in an IT block's state.
    known: HashMap<(u32, u8, Vec<u8>), (u32, u8)>,
    numbers: HashMap<String, u32>,
}

impl Rows {
    fn text(&mut self, text: String) -> u32 {
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() as u32 - 1
        })
    }

    fn instruction(&mut self, m: &sunseal_mcu::Machine, pc: u32, it: u8) -> (u32, u8) {
        let bytes = m.read_mem(pc, 4).or_else(|_| m.read_mem(pc, 2)).unwrap_or(&[]).to_vec();
        let key = (pc, it, bytes);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = m.instruction(pc, it);
        let behind = found.as_ref().map_or(0, |i| i.it_behind);
        let number = self.text(found.map_or_else(|| "?".to_owned(), |i| i.text));
        self.known.insert(key, (number, behind));
        (number, behind)
    }

    fn row(&mut self, cycle: Cycles, pc: u32, cycles: u32, text: u32, registers: &[Register]) {
        self.count += 1;
        self.cycle.extend(cycle.to_le_bytes());
        let words = [pc, cycles, text].into_iter().chain(registers.iter().map(|r| r.value));
        words.for_each(|word| self.words.extend(word.to_le_bytes()));
    }

    /// Runs one instruction after the other to the end of a slice, or until there are enough.
    fn run(&mut self, m: &mut sunseal_mcu::Machine, slice: &Until) -> Stop {
        let mut one = slice.clone();
        let mut before = m.registers();
        loop {
            let (start, it) = (m.cycles(), it_state(&before));
            if self.count >= self.most || slice.cycles.is_some_and(|end| start >= end) {
                return Stop::Cycles;
            }
            one.cycles = Some(start + 1);
            let mut steps = Steps::default();
            let stop = m.run(&one, &mut steps);
            let behind = m.registers();
            let (mut cycle, mut it, last) = (start, it, steps.0.len());
            for (i, (pc, cycles, interrupt)) in steps.0.into_iter().enumerate() {
                let text = match interrupt {
                    Some(vector) => {
                        self.text(format!("(interrupt by the vector at {vector:#06x})"))
                    }
                    None => {
                        let (text, after) = self.instruction(m, pc, it);
                        it = after;
                        text
                    }
                };
                // Two instructions run in one step where the first took no cycle, an IT: it changes no register.
                self.row(cycle, pc, cycles, text, if i + 1 == last { &behind } else { &before });
                cycle += Cycles::from(cycles);
            }
            before = behind;
            match stop {
                Stop::Cycles => {}
                other => return other,
            }
        }
    }
}

fn it_state(registers: &[Register]) -> u8 {
    registers.iter().find(|r| r.name == "xPSR").map_or(0, |r| sunseal_mcu::it_state(r.value))
}

/// Reason for which the run ended, names of the registers, cycles of the rows, their words, texts by number.
type Traced<'py> = (Ended, Vec<String>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<String>);

/// Runs as `Machine.run` does and takes down at most so many instructions, after which it stops.
#[pyfunction]
#[pyo3(signature = (machine, most, cycles, time_ps, pc, pin))]
pub fn trace<'py>(
    py: Python<'py>,
    machine: Py<Machine>,
    most: usize,
    cycles: Option<u64>,
    time_ps: Option<u128>,
    pc: Vec<u32>,
    pin: Option<&str>,
) -> PyResult<Traced<'py>> {
    let machine = machine.get();
    let goal = machine.goal(cycles, time_ps, pc, pin)?;
    let mut rows = Rows {
        most,
        count: 0,
        cycle: Vec::new(),
        words: Vec::new(),
        texts: Vec::new(),
        known: HashMap::new(),
        numbers: HashMap::new(),
    };
    let (ended, names) = py.detach(|| {
        let mut m = machine.lock();
        let names = m.registers().into_iter().map(|r| r.name.into_owned()).collect();
        let run = machine.slices(&mut m, &goal, |m, slice| {
            let stop = rows.run(m, slice);
            let full = rows.count >= rows.most && matches!(stop, Stop::Cycles);
            Ok(if full { Stop::StateChange } else { stop })
        });
        // What ran before a fault is what one wants to see.
        let faulted = |e: PyErr| {
            Python::attach(|py| {
                let told = e.is_instance_of::<EngineError>(py);
                if told { Ok(("fault", e.value(py).to_string())) } else { Err(e) }
            })
        };
        PyResult::Ok((run.or_else(faulted)?, names))
    })?;
    let (cycle, words) = (PyBytes::new(py, &rows.cycle), PyBytes::new(py, &rows.words));
    Ok((ended, names, cycle, words, rows.texts))
}
