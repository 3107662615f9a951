// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers: where cycles go, how deep the stack gets, whether two runs took the same way.

use std::collections::BTreeMap;

use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::device::{Device, RegionKind};
use crate::elf::Elf;

/// A node of the call tree.
#[derive(Clone, Debug, Default)]
struct Node {
    function: u32,
    parent: usize,
    cycles: Cycles,
    ram_cycles: Cycles,
    instructions: u64,
    mpy: u64,
    children: BTreeMap<u32, usize>,
}

/// Cycles per call stack, from a shadow of the call stack.
#[derive(Clone, Debug)]
pub struct Profiler {
    nodes: Vec<Node>,
    current: usize,
    /// Return stack: the node to go back to, and the stack pointer above which the call is over.
    stack: Vec<(usize, u32)>,
    mpy_base: u32,
    /// First and last address of RAM; nothing, if its cycles are not told apart.
    ram: (u32, u32),
    /// Cycles by half the address, if asked for.
    addresses: Vec<Cycles>,
    started: bool,
    /// An interrupt was taken with this stack pointer and these cycles: the next instruction is its
    /// handler's first.
    entering: Option<(u32, u32)>,
}

/// One call stack with what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackCost {
    /// Function addresses, outermost first.
    pub stack: Vec<u32>,
    /// Cycles in the innermost function itself.
    pub cycles: Cycles,
    /// How many of them ran from RAM.
    pub ram_cycles: Cycles,
    /// Instructions.
    pub instructions: u64,
    /// Multiplications started.
    pub mpy: u64,
}

impl Profiler {
    /// A profiler for a device whose multiplier lies at `mpy_base` (`u32::MAX`: it has none).
    #[must_use]
    pub fn new(mpy_base: u32) -> Self {
        Self {
            nodes: vec![Node::default()],
            current: 0,
            stack: Vec::new(),
            mpy_base,
            ram: (1, 0),
            addresses: Vec::new(),
            started: false,
            entering: None,
        }
    }

    /// A profiler that also tells RAM's cycles apart, as an energy profile needs.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        let ram = device.region_of(RegionKind::Ram);
        Self { ram: (ram.start, ram.end), ..Self::new(device.multiplier().unwrap_or(u32::MAX)) }
    }

    /// Counts cycles by address too, for [`lines`](Self::lines).
    #[must_use]
    pub fn by_address(self) -> Self {
        Self { addresses: vec![0; 1 << 19], ..self }
    }

    /// Cycles per source line (or per function, where the image has no line), most expensive first.
    /// Empty unless counted [`by_address`](Self::by_address).
    #[must_use]
    pub fn lines(&self, elf: &Elf) -> Vec<(String, Cycles)> {
        let mut table: BTreeMap<String, Cycles> = BTreeMap::new();
        for (i, &cycles) in self.addresses.iter().enumerate().filter(|(_, c)| **c != 0) {
            let addr = 2 * i as u32;
            let place = elf
                .line_at(addr)
                .map_or_else(|| name(elf, addr), |l| format!("{}:{}", l.file, l.line));
            *table.entry(place).or_default() += cycles;
        }
        let mut list: Vec<_> = table.into_iter().collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list
    }

    fn enter(&mut self, function: u32, sp: u32) {
        let next = self.nodes.len();
        let node = *self.nodes[self.current].children.entry(function).or_insert(next);
        if node == next {
            self.nodes.push(Node { function, parent: self.current, ..Node::default() });
        }
        self.stack.push((self.current, sp));
        self.current = node;
    }

    /// Every stack that cost something.
    #[must_use]
    pub fn stacks(&self) -> Vec<StackCost> {
        let mut out = Vec::new();
        for (i, node) in self.nodes.iter().enumerate().skip(1) {
            if node.instructions == 0 {
                continue;
            }
            let mut stack = Vec::new();
            let mut at = i;
            while at != 0 {
                stack.push(self.nodes[at].function);
                at = self.nodes[at].parent;
            }
            stack.reverse();
            out.push(StackCost {
                stack,
                cycles: node.cycles,
                ram_cycles: node.ram_cycles,
                instructions: node.instructions,
                mpy: node.mpy,
            });
        }
        out.sort_by(|a, b| a.stack.cmp(&b.stack));
        out
    }

    /// Folded stacks, as flame graph tools read them: `outer;inner cycles`, one a line.
    #[must_use]
    pub fn folded(&self, elf: &Elf) -> String {
        self.folded_by(elf, |s| s.cycles)
    }

    /// Folded stacks weighed by `weight`.
    #[must_use]
    pub fn folded_by(&self, elf: &Elf, weight: impl Fn(&StackCost) -> u64) -> String {
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for s in self.stacks() {
            let names: Vec<String> = s.stack.iter().map(|&a| name(elf, a)).collect();
            *lines.entry(names.join(";")).or_default() += weight(&s);
        }
        lines.into_iter().filter(|(_, n)| *n != 0).map(|(l, n)| format!("{l} {n}\n")).collect()
    }

    /// Cycles per function, itself and with what it calls, most expensive first.
    #[must_use]
    pub fn functions(&self, elf: &Elf) -> Vec<(String, Cycles, Cycles)> {
        let mut table: BTreeMap<String, (Cycles, Cycles)> = BTreeMap::new();
        for s in self.stacks() {
            let mut seen: Vec<String> = s.stack.iter().map(|&a| name(elf, a)).collect();
            if let Some(own) = seen.last() {
                table.entry(own.clone()).or_default().0 += s.cycles;
            }
            seen.sort();
            seen.dedup();
            for f in seen {
                table.entry(f).or_default().1 += s.cycles;
            }
        }
        let mut list: Vec<_> = table.into_iter().map(|(f, (own, all))| (f, own, all)).collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list
    }
}

fn name(elf: &Elf, addr: u32) -> String {
    elf.function_at(addr).map_or_else(|| format!("{addr:#07x}"), |s| s.name.clone())
}

impl Observer for Profiler {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        if !self.started {
            self.started = true;
            self.enter(pc, u32::MAX);
        }
        if let Flow::Interrupt { .. } = flow {
            self.entering = Some((sp, cycles));
            return;
        }
        let mut cycles = cycles;
        if let Some((sp, entry)) = self.entering.take() {
            self.enter(pc, sp);
            cycles += entry;
        }
        let node = &mut self.nodes[self.current];
        node.cycles += Cycles::from(cycles);
        node.instructions += 1;
        if (self.ram.0..=self.ram.1).contains(&pc) {
            node.ram_cycles += Cycles::from(cycles);
        }
        if let Some(own) = self.addresses.get_mut((pc >> 1) as usize) {
            *own += Cycles::from(cycles);
        }
        match flow {
            Flow::Next | Flow::Jump | Flow::Interrupt { .. } => {}
            Flow::Call { target } => self.enter(target, sp),
            Flow::Return | Flow::InterruptReturn => {
                // A return takes every frame with it whose return address it has passed.
                while let Some(&(back, below)) = self.stack.last() {
                    if below == u32::MAX || sp <= below {
                        break;
                    }
                    self.stack.pop();
                    self.current = back;
                }
            }
        }
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, _: Width, _: u32, _: Cycles) {
        // OP2 and OP2H start a multiplication.
        if kind == Access::Write && matches!(addr.wrapping_sub(self.mpy_base), 0x08 | 0x22) {
            self.nodes[self.current].mpy += 1;
        }
    }
}

/// The deepest stack, at every instruction.
#[derive(Clone, Copy, Debug)]
pub struct StackWatch {
    top: Option<u32>,
    low: u32,
}

impl Default for StackWatch {
    fn default() -> Self {
        Self { top: None, low: u32::MAX }
    }
}

impl StackWatch {
    /// Stack bytes between the first stack pointer that was not zero and the lowest.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.top.map_or(0, |top| top.saturating_sub(self.low))
    }

    /// The lowest stack pointer.
    #[must_use]
    pub fn low(&self) -> Option<u32> {
        self.top.map(|_| self.low)
    }
}

impl Observer for StackWatch {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, _: u32, sp: u32, _: u32, _: Flow) {
        if sp != 0 {
            self.top.get_or_insert(sp);
            self.low = self.low.min(sp);
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// A hash over the addresses of the instructions run, and with `ADDRESSES` of the data accessed: two
/// runs of constant-time code with different secrets give the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceHash<const ADDRESSES: bool> {
    hash: u64,
    instructions: u64,
    cycles: Cycles,
}

impl<const ADDRESSES: bool> Default for TraceHash<ADDRESSES> {
    fn default() -> Self {
        Self { hash: 0xCBF2_9CE4_8422_2325, instructions: 0, cycles: 0 }
    }
}

impl<const ADDRESSES: bool> TraceHash<ADDRESSES> {
    /// The hash.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Instructions run.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
    }
}

impl<const ADDRESSES: bool> Observer for TraceHash<ADDRESSES> {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = ADDRESSES;

    fn instruction(&mut self, pc: u32, _: u32, cycles: u32, _: Flow) {
        self.mix(u64::from(pc) | u64::from(cycles) << 32);
        self.instructions += 1;
        self.cycles += Cycles::from(cycles);
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, _: u32, _: Cycles) {
        let kind = u64::from(kind == Access::Write);
        self.mix(u64::from(addr) | kind << 32 | u64::from(width.bytes()) << 40);
    }
}

/// Two observers at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both<A, B>(
    /// The first.
    pub A,
    /// The second.
    pub B,
);

impl<A: Observer, B: Observer> Observer for Both<A, B> {
    const INSTRUCTIONS: bool = A::INSTRUCTIONS || B::INSTRUCTIONS;
    const ACCESSES: bool = A::ACCESSES || B::ACCESSES;

    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        if A::INSTRUCTIONS {
            self.0.instruction(pc, sp, cycles, flow);
        }
        if B::INSTRUCTIONS {
            self.1.instruction(pc, sp, cycles, flow);
        }
    }

    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if A::ACCESSES {
            self.0.access(pc, addr, kind, width, value, at);
        }
        if B::ACCESSES {
            self.1.access(pc, addr, kind, width, value, at);
        }
    }
}
