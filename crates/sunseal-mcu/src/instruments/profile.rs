// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers: where cycles go, how deep the stack gets, whether two runs took the same way.

use std::collections::{BTreeMap, HashMap, HashSet};

use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

use crate::coverage::Counts;
use crate::device::{Device, RegionKind};
use crate::elf::{AVR_DATA, Architecture, Elf, SymbolKind};

/// A node of the call tree.
#[derive(Clone, Debug, Default)]
struct Node {
    function: u32,
    parent: usize,
    cycles: Cycles,
    ram_cycles: Cycles,
    instructions: u64,
    mpy: u64,
    /// Where it was called from, if inlined functions are asked for.
    called_from: u32,
    /// By function and, if inlined functions are asked for, the address of the call.
    children: BTreeMap<(u32, u32), usize>,
}

/// What one address cost under one node.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    cycles: Cycles,
    ram_cycles: Cycles,
    instructions: u64,
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// The node to go back to.
    back: usize,
    /// The stack pointer above which it is over.
    below: u32,
    /// The instruction that made it.
    from: u32,
}

/// Cycles per call stack, from a shadow of the call stack.
#[derive(Clone, Debug)]
pub struct Profiler {
    nodes: Vec<Node>,
    current: usize,
    stack: Vec<Call>,
    mpy_base: u32,
    /// First and last address of RAM; nothing, if its cycles are not told apart.
    ram: (u32, u32),
    /// Cycles by address, if asked for.
    addresses: Option<Counts>,
    /// By node and address, if inlined functions are asked for.
    spots: Option<HashMap<(usize, u32), Spot>>,
    /// A call pushes nothing (ARM): a callee that has returned has the stack pointer of its call.
    link_register: bool,
    /// Where that is so: the stack pointer behind a jump, which may be a return (`BX R3`).
    jumped: Option<u32>,
    started: bool,
    /// An interrupt was taken with this stack pointer, before this instruction, in these cycles: the next
    /// instruction is its handler's first.
    entering: Option<Entering>,
    /// AVR: first instructions of functions, told from `rcall .+0`, and interrupts by a table of jumps.
    avr: Option<HashSet<u32>>,
}

/// An interrupt that was taken.
#[derive(Clone, Copy, Debug)]
struct Entering {
    sp: u32,
    /// The instruction that it came before.
    from: u32,
    cycles: u32,
    /// The jump in the vector table has run.
    jumped: bool,
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
    pub instructions: u64,
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
            addresses: None,
            spots: None,
            link_register: false,
            jumped: None,
            started: false,
            entering: None,
            avr: None,
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
        Self { addresses: Some(Counts::default()), ..self }
    }

    /// Follows calls the way `elf`'s instruction set makes them.
    #[must_use]
    pub fn of_image(self, elf: &Elf) -> Self {
        let functions =
            elf.symbols.iter().filter(|s| s.kind == SymbolKind::Function).map(|s| s.addr);
        let avr = (elf.architecture == Architecture::Avr).then(|| functions.collect());
        Self { link_register: elf.architecture == Architecture::Arm, avr, ..self }
    }

    /// Keeps what [`folded_inlined`](Self::folded_inlined) needs.
    #[must_use]
    pub fn with_inlined(self) -> Self {
        Self { spots: Some(HashMap::new()), ..self }
    }

    /// Cycles per source line (or per function, where the image has no line), most expensive first.
    /// Empty unless counted [`by_address`](Self::by_address).
    #[must_use]
    pub fn lines(&self, elf: &Elf) -> Vec<(String, Cycles)> {
        let mut table: BTreeMap<String, Cycles> = BTreeMap::new();
        for (addr, cycles) in self.addresses.iter().flat_map(Counts::iter) {
            let place = elf
                .line_at(addr)
                .map_or_else(|| name(elf, addr), |l| format!("{}:{}", l.file, l.line));
            *table.entry(place).or_default() += cycles;
        }
        let mut list: Vec<_> = table.into_iter().collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list
    }

    fn enter(&mut self, function: u32, sp: u32, call: u32) {
        let next = self.nodes.len();
        let called_from = if self.spots.is_some() { call } else { 0 };
        let key = (function, called_from);
        let node = *self.nodes[self.current].children.entry(key).or_insert(next);
        if node == next {
            let parent = self.current;
            self.nodes.push(Node { function, parent, called_from, ..Node::default() });
        }
        self.stack.push(Call { back: self.current, below: sp, from: call });
        self.current = node;
    }

    /// Whether a call to the instruction behind it is AVR GCC's way to take bytes of stack (`rcall .+0`).
    fn makes_room(&self, pc: u32, target: u32) -> bool {
        self.avr.as_ref().is_some_and(|functions| target == pc + 2 && !functions.contains(&target))
    }

    /// A jump with this stack pointer behind it went to `pc`: a return, if that lies behind the last call (of two or
    /// four bytes) and nothing is on the stack that was not there.
    fn return_by_jump(&mut self, pc: u32, sp: u32) {
        if let Some(&Call { back, below, from }) = self.stack.last()
            && below == sp
            && matches!(pc.wrapping_sub(from), 2 | 4)
        {
            self.stack.pop();
            self.current = back;
        }
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

    /// Folded stacks in which functions that the compiler put into others have frames of their own, weighed
    /// by `weight` (of [`StackCost`], `stack` and `mpy` are empty). Empty unless kept
    /// [`with_inlined`](Self::with_inlined).
    #[must_use]
    pub fn folded_inlined(&self, elf: &Elf, weight: impl Fn(&StackCost) -> u64) -> String {
        let mut costs: BTreeMap<String, StackCost> = BTreeMap::new();
        let mut callers: HashMap<usize, String> = HashMap::new();
        for (&(node, pc), spot) in self.spots.iter().flatten() {
            let above = callers.entry(node).or_insert_with(|| self.callers(elf, node));
            let line = format!("{above}{}", frames(elf, pc));
            let cost = costs.entry(line).or_insert_with(StackCost::none);
            cost.cycles += spot.cycles;
            cost.ram_cycles += spot.ram_cycles;
            cost.instructions += spot.instructions;
        }
        let lines = costs.iter().map(|(line, cost)| (line, weight(cost)));
        lines.filter(|(_, n)| *n != 0).map(|(line, n)| format!("{line} {n}\n")).collect()
    }

    /// The frames above a node, each with its semicolon.
    fn callers(&self, elf: &Elf, node: usize) -> String {
        let mut calls = Vec::new();
        let mut at = node;
        while self.nodes[at].parent != 0 {
            calls.push(self.nodes[at].called_from);
            at = self.nodes[at].parent;
        }
        calls.iter().rev().map(|&pc| frames(elf, pc) + ";").collect()
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

impl StackCost {
    fn none() -> Self {
        Self { stack: Vec::new(), cycles: 0, ram_cycles: 0, instructions: 0, mpy: 0 }
    }
}

/// The functions at an address, outermost first.
fn frames(elf: &Elf, pc: u32) -> String {
    let frames = elf.frames_at(pc);
    let names: Vec<&str> = frames.iter().rev().map(|f| f.function.as_str()).collect();
    names.join(";")
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
            self.enter(pc, u32::MAX, pc);
        }
        if let Flow::Interrupt { .. } = flow {
            self.entering = Some(Entering { sp, from: pc, cycles, jumped: false });
            return;
        }
        if let Some(sp) = self.jumped.take() {
            self.return_by_jump(self.entering.map_or(pc, |e| e.from), sp);
        }
        let mut cycles = cycles;
        if let Some(entering) = self.entering.take() {
            cycles += entering.cycles;
            if self.avr.is_some() && flow == Flow::Jump && !entering.jumped {
                // The vector's own jump: the handler is where it goes.
                self.entering = Some(Entering { cycles, jumped: true, ..entering });
                return;
            }
            self.enter(pc, entering.sp, entering.from);
        }
        let node = &mut self.nodes[self.current];
        node.cycles += Cycles::from(cycles);
        node.instructions += 1;
        let in_ram = (self.ram.0..=self.ram.1).contains(&pc);
        if in_ram {
            node.ram_cycles += Cycles::from(cycles);
        }
        if let Some(addresses) = &mut self.addresses {
            addresses.add(pc, cycles.into());
        }
        if let Some(spots) = &mut self.spots {
            let spot = spots.entry((self.current, pc)).or_default();
            spot.cycles += Cycles::from(cycles);
            spot.ram_cycles += if in_ram { Cycles::from(cycles) } else { 0 };
            spot.instructions += 1;
        }
        match flow {
            Flow::Next | Flow::Interrupt { .. } => {}
            Flow::Jump => self.jumped = self.link_register.then_some(sp),
            Flow::Call { target } if self.makes_room(pc, target) => {}
            Flow::Call { target } => self.enter(target, sp, pc),
            Flow::Return | Flow::InterruptReturn => {
                // A return takes every frame with it whose return address it has passed.
                while let Some(&Call { back, below, .. }) = self.stack.last() {
                    if below == u32::MAX || !is_over(sp, below, self.link_register) {
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

/// Whether a call that was made with `below` as the stack pointer behind it has returned.
fn is_over(sp: u32, below: u32, link_register: bool) -> bool {
    if link_register { sp >= below } else { sp > below }
}

/// A stack that ran into data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// The first instruction that left the stack pointer too low.
    pub pc: u32,
    /// The stack pointer behind it.
    pub sp: u32,
    pub data_end: u32,
}

impl Overrun {
    /// A sentence for whoever wrote the program.
    #[must_use]
    pub fn explain(&self, elf: &Elf) -> String {
        let line = elf.line_at(self.pc).map_or(String::new(), |l| format!(" ({l})"));
        format!(
            "the stack runs into data: {}{line} leaves the stack pointer at {:#07x}, {} bytes below the end \
             of data ({:#07x}); give the stack more room or the program less data",
            elf.describe(self.pc),
            self.sp,
            self.data_end - self.sp,
            self.data_end,
        )
    }
}

/// The deepest stack, at every instruction.
#[derive(Clone, Copy, Debug)]
pub struct StackWatch {
    top: Option<u32>,
    low: u32,
    data_end: u32,
    overrun: Option<Overrun>,
    /// The stack pointer is written in two halves, and stands elsewhere between them.
    halves: bool,
    last: u32,
    /// Instructions that are left until it is believed again.
    settling: u8,
}

impl Default for StackWatch {
    fn default() -> Self {
        Self {
            top: None,
            low: u32::MAX,
            data_end: 0,
            overrun: None,
            halves: false,
            last: 0,
            settling: 0,
        }
    }
}

impl StackWatch {
    /// Also watches that the stack stays above `elf`'s data.
    #[must_use]
    pub fn above_data(elf: &Elf) -> Self {
        // AVR's stack pointer counts from the start of the data space.
        let end = elf.data_end().unwrap_or(0);
        let halves = elf.architecture == Architecture::Avr;
        let data_end = if halves { end & 0xFFFF } else { end };
        Self { data_end, halves, ..Self::default() }
    }

    /// From a call on that finds the stack at `sp`: the lowest stack pointer behind it, also watched to stay above
    /// `floor`, an address as a debugger has it. [`bytes`](Self::bytes) means nothing then.
    #[must_use]
    pub fn of_call(mut self, floor: Option<u32>, sp: u32) -> Self {
        let floor = floor.map_or(0, |at| if at >= AVR_DATA { at - AVR_DATA } else { at });
        // A stack that lies below data from its beginning is none that grows into it.
        self.data_end = if sp >= self.data_end { self.data_end.max(floor) } else { 0 };
        // The return goes above where the call began, and forgets nothing.
        (self.top, self.low, self.last) = (Some(u32::MAX), sp, sp);
        self
    }

    /// The first instruction that took the stack into data.
    #[must_use]
    pub fn overrun(&self) -> Option<Overrun> {
        self.overrun
    }

    /// Stack bytes between the highest stack pointer and the lowest behind it.
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

    fn instruction(&mut self, pc: u32, sp: u32, _: u32, _: Flow) {
        if self.halves {
            // A call moves it by three at most; avr-gcc writes SPH, SREG, SPL.
            self.settling =
                if self.last.abs_diff(sp) > 3 { 2 } else { self.settling.saturating_sub(1) };
            self.last = sp;
            if self.settling > 0 {
                return;
            }
        }
        if sp != 0 {
            if self.top.is_none_or(|top| sp > top) {
                (self.top, self.low) = (Some(sp), sp);
            }
            if sp < self.low {
                self.low = sp;
                // A stack that lies below data from its beginning is none that grows into it.
                let above = self.top.is_some_and(|top| top >= self.data_end);
                if above && sp < self.data_end && self.overrun.is_none() {
                    self.overrun = Some(Overrun { pc, sp, data_end: self.data_end });
                }
            }
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// A call on the shadow stack.
#[derive(Clone, Copy, Debug)]
struct Open {
    function: u32,
    /// The stack pointer behind the call.
    below: u32,
    /// The stack pointer that the function found.
    top: u32,
    /// The lowest while it ran itself, and with what it called.
    own: u32,
    all: u32,
}

/// Stack bytes of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackUse {
    pub function: String,
    /// At most used by itself, return address included.
    pub own_bytes: u32,
    /// At most used with everything it called.
    pub total_bytes: u32,
}

/// The stack that each function takes, interrupts as functions of their own.
#[derive(Clone, Debug, Default)]
pub struct StackProfile {
    open: Vec<Open>,
    /// Own and total bytes by function address.
    high: BTreeMap<u32, (u32, u32)>,
    entering: Option<u32>,
    sp: u32,
    link_register: bool,
}

impl StackProfile {
    /// For programs of `elf`'s instruction set.
    #[must_use]
    pub fn new(elf: &Elf) -> Self {
        Self { link_register: elf.architecture == Architecture::Arm, ..Self::default() }
    }

    /// The most that each function took, deepest first.
    #[must_use]
    pub fn functions(&self, elf: &Elf) -> Vec<StackUse> {
        let mut done = self.clone();
        while done.close() {}
        let mut list: Vec<StackUse> = done
            .high
            .iter()
            .map(|(&function, &(own_bytes, total_bytes))| StackUse {
                function: name(elf, function),
                own_bytes,
                total_bytes,
            })
            .collect();
        list.sort_by(|a, b| b.total_bytes.cmp(&a.total_bytes).then(a.function.cmp(&b.function)));
        list
    }

    fn close(&mut self) -> bool {
        let Some(o) = self.open.pop() else { return false };
        let high = self.high.entry(o.function).or_default();
        high.0 = high.0.max(o.top.saturating_sub(o.own));
        high.1 = high.1.max(o.top.saturating_sub(o.all));
        if let Some(caller) = self.open.last_mut() {
            caller.all = caller.all.min(o.all);
        }
        true
    }

    fn enter(&mut self, function: u32, top: u32, sp: u32) {
        self.open.push(Open { function, below: sp, top, own: sp, all: sp });
    }
}

impl Observer for StackProfile {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, pc: u32, sp: u32, _: u32, flow: Flow) {
        if sp == 0 {
            // Start-up code has not set it.
            return;
        }
        if self.open.is_empty() {
            self.enter(pc, sp, sp);
            self.open[0].below = u32::MAX;
        }
        let before = std::mem::replace(&mut self.sp, sp);
        if let Flow::Interrupt { .. } = flow {
            self.entering = Some(before);
            return;
        }
        if let Some(top) = self.entering.take() {
            self.enter(pc, top, before);
        }
        let leaves = matches!(flow, Flow::Call { .. });
        if let (Some(o), false) = (self.open.last_mut(), leaves) {
            if o.below == u32::MAX {
                // The outermost begins wherever the stack pointer was highest.
                o.top = o.top.max(sp);
            }
            o.own = o.own.min(sp);
            o.all = o.all.min(sp);
        }
        match flow {
            Flow::Call { target } => self.enter(target, before, sp),
            Flow::Return | Flow::InterruptReturn => {
                while let Some(o) = self.open.last_mut() {
                    if o.below == u32::MAX || !is_over(sp, o.below, self.link_register) {
                        break;
                    }
                    // Back where the call was made.
                    o.top = o.top.max(sp);
                    self.close();
                }
                if let Some(o) = self.open.last_mut().filter(|o| o.below == u32::MAX) {
                    o.top = o.top.max(sp);
                }
            }
            _ => {}
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
    /// Hash of the path that the program took.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Number of instructions that have run.
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
    /// Observer that hears of everything first.
    pub A,
    /// Observer that hears of everything after the other.
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
