// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers: the deepest stack, and cycles by call stack.

use std::collections::{BTreeMap, HashMap};

use sunseal_mcu::Elf;
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

/// How far down the stack pointer went.
pub struct Depth {
    pub lowest: u32,
}

impl Observer for Depth {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, _pc: u32, sp: u32, _cycles: u32, _flow: Flow) {
        self.lowest = self.lowest.min(sp);
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

struct Node {
    function: u32,
    parent: usize,
    cycles: u64,
    children: HashMap<u32, usize>,
}

const ROOT: usize = 0;
/// Stands for code that no symbol covers.
const NOWHERE: u32 = u32::MAX;

/// Cycles by call stack, functions told apart by the symbols of the image.
pub struct Stacks<'a> {
    elf: &'a Elf,
    nodes: Vec<Node>,
    at: usize,
    functions: HashMap<u32, u32>,
}

impl<'a> Stacks<'a> {
    pub fn new(elf: &'a Elf) -> Self {
        let root = Node { function: NOWHERE, parent: ROOT, cycles: 0, children: HashMap::new() };
        Self { elf, nodes: vec![root], at: ROOT, functions: HashMap::new() }
    }

    fn function(&mut self, pc: u32) -> u32 {
        let elf = self.elf;
        *self.functions.entry(pc).or_insert_with(|| elf.function_at(pc).map_or(NOWHERE, |s| s.addr))
    }

    fn child(&mut self, parent: usize, function: u32) -> usize {
        if let Some(&child) = self.nodes[parent].children.get(&function) {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node { function, parent, cycles: 0, children: HashMap::new() });
        self.nodes[parent].children.insert(function, child);
        child
    }

    /// `outer;inner` and the cycles spent in `inner` itself.
    pub fn folded(&self) -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for node in self.nodes.iter().filter(|n| n.cycles > 0) {
            let mut names = vec![self.name(node.function)];
            let mut up = node.parent;
            while up != ROOT {
                names.push(self.name(self.nodes[up].function));
                up = self.nodes[up].parent;
            }
            names.reverse();
            *out.entry(names.join(";")).or_insert(0) += node.cycles;
        }
        out
    }

    fn name(&self, function: u32) -> String {
        match self.elf.function_at(function) {
            Some(symbol) => symbol.name.clone(),
            None => "(no symbol)".to_owned(),
        }
    }
}

impl Observer for Stacks<'_> {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, pc: u32, _sp: u32, cycles: u32, flow: Flow) {
        let function = self.function(pc);
        if self.at == ROOT || self.nodes[self.at].function != function {
            // A first instruction, a tail call, or a fall into the next label: same depth, other name.
            let parent = self.nodes[self.at].parent;
            self.at = self.child(parent, function);
        }
        self.nodes[self.at].cycles += u64::from(cycles);
        match flow {
            Flow::Call { target } => {
                let callee = self.function(target);
                self.at = self.child(self.at, callee);
            }
            // The handler's first instruction names the frame.
            Flow::Interrupt { .. } => self.at = self.child(self.at, NOWHERE),
            Flow::Return | Flow::InterruptReturn => self.at = self.nodes[self.at].parent,
            Flow::Next | Flow::Jump => {}
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}
