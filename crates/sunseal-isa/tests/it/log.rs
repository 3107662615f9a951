// SPDX-License-Identifier: MIT OR Apache-2.0
//! An observer that writes down what it is told.

use sunseal_isa::{Access, Cycles, Flow, Observer, Width};

/// All accesses, results and instructions, as text in the order they come.
#[derive(Default, Debug, PartialEq)]
pub struct Log(pub Vec<String>);

impl Observer for Log {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;
    const RESULTS: bool = true;
    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        self.0.push(format!("{pc:x} sp {sp:x} cycles {cycles} {flow:?}"));
    }
    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        self.0.push(format!("{pc:x} {kind:?} {width:?} {addr:x} {value:x} at {at}"));
    }
    fn result(&mut self, register: u8, old: u32, new: u32) {
        self.0.push(format!("R{register} {old:x} -> {new:x}"));
    }
}

/// What is written: address, width, value.
#[derive(Default)]
pub struct Writes(pub Vec<(u32, Width, u32)>);

impl Writes {
    /// Splits writes into single bytes, in their order.
    pub fn bytes(&self) -> impl Iterator<Item = (u32, u8)> {
        self.0.iter().flat_map(|&(addr, width, value)| {
            (0..width.bytes()).map(move |i| (addr + i, (value >> (8 * i)) as u8))
        })
    }
}

impl Observer for Writes {
    const INSTRUCTIONS: bool = false;
    const ACCESSES: bool = true;
    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}
    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, _: Cycles) {
        if kind == Access::Write {
            self.0.push((addr, width, value));
        }
    }
}
