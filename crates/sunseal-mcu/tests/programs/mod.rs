// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for an MSP430: words from the core's test assembler, put where the chip's `support.rs` says.

use sunseal_mcu::{Machine, Stop, Until};
use sunseal_trace::Silent;

use super::{CODE, HELD, RAM, STACK, machine};
use crate::asm::{self, Arg, Arg::*, Size::*, double, single};

pub const GIE: u16 = 0x08;
pub const SCG0: u16 = 0x40;
pub const LPM0: u16 = 0x10;
pub const LPM1: u16 = 0x50;
pub const LPM2: u16 = 0x90;
pub const LPM3: u16 = 0xD0;
pub const LPM4: u16 = 0xF0;

pub const VECTOR_RESET: u32 = 0xFFFE;

/// Word addresses of kept values, one behind the other.
pub const KEPT: u32 = RAM + 0x100;

#[derive(Clone)]
pub struct Program {
    pub words: Vec<u16>,
    pub vectors: Vec<(u32, u32)>,
    pub kept: u32,
}

/// A forward jump that waits for its target.
#[must_use]
pub struct Ahead(usize, &'static str);

impl Program {
    /// Begins at the reset vector with a stack and the watchdog still on.
    pub fn bare() -> Self {
        let mut p = Self { words: Vec::new(), vectors: vec![(VECTOR_RESET, CODE)], kept: 0 };
        p.put(double("MOV", W, Imm(STACK), R(1)));
        p
    }

    /// The same with what would stop it held: the watchdog, the lock of pins.
    pub fn new() -> Self {
        let mut p = Self::bare();
        for &(register, value) in HELD {
            p.set(register, value);
        }
        p
    }

    pub fn here(&self) -> u32 {
        CODE + 2 * self.words.len() as u32
    }

    pub fn put(&mut self, words: Vec<u16>) -> &mut Self {
        self.words.extend(words);
        self
    }

    pub fn op(&mut self, op: &str, src: Arg, dst: Arg) -> &mut Self {
        self.put(double(op, W, src, dst))
    }

    pub fn op_b(&mut self, op: &str, src: Arg, dst: Arg) -> &mut Self {
        self.put(double(op, B, src, dst))
    }

    /// Appends MOV.W #value, &addr.
    pub fn set(&mut self, addr: u32, value: u16) -> &mut Self {
        self.op("MOV", Imm(value.into()), Abs(addr))
    }

    /// Appends MOV.B #value, &addr.
    pub fn set_b(&mut self, addr: u32, value: u8) -> &mut Self {
        self.op_b("MOV", Imm(value.into()), Abs(addr))
    }

    /// MOV.W &addr, to the next kept word
    pub fn keep(&mut self, addr: u32) -> &mut Self {
        let to = self.next_kept();
        self.op("MOV", Abs(addr), Abs(to))
    }

    pub fn next_kept(&mut self) -> u32 {
        self.kept += 2;
        KEPT + self.kept - 2
    }

    pub fn nops(&mut self, n: usize) -> &mut Self {
        self.put(vec![0x4303; n])
    }

    pub fn back(&mut self, condition: &str, target: u32) -> &mut Self {
        let words = (target as i32 - self.here() as i32 - 2) / 2;
        self.put(asm::jump(condition, words as i16))
    }

    pub fn ahead(&mut self, condition: &'static str) -> Ahead {
        self.words.push(0);
        Ahead(self.words.len() - 1, condition)
    }

    pub fn land(&mut self, from: Ahead) -> &mut Self {
        let distance = self.words.len() - from.0 - 1;
        self.words[from.0] = asm::jump(from.1, distance as i16)[0];
        self
    }

    /// Waits until bits of a word are set.
    pub fn wait_set(&mut self, addr: u32, bits: u16) -> &mut Self {
        let again = self.here();
        self.op("BIT", Imm(bits.into()), Abs(addr)).back("JEQ", again)
    }

    /// Waits until bits of a word are clear.
    pub fn wait_clear(&mut self, addr: u32, bits: u16) -> &mut Self {
        let again = self.here();
        self.op("BIT", Imm(bits.into()), Abs(addr)).back("JNE", again)
    }

    /// Appends BIS #bits, SR.
    pub fn sleep(&mut self, bits: u16) -> &mut Self {
        self.op("BIS", Imm(bits.into()), R(2))
    }

    /// MOV #LPM4, SR: no interrupts either, the machine halts.
    pub fn halt(&mut self) -> &mut Self {
        self.op("MOV", Imm(LPM4.into()), R(2))
    }

    /// From here on, the handler of `vector`.
    pub fn handler(&mut self, vector: u32) -> &mut Self {
        self.vectors.push((vector, self.here()));
        self
    }

    pub fn reti(&mut self) -> &mut Self {
        self.put(vec![asm::RETI])
    }

    /// Leaves a handler with the CPU awake: BIC #LPM4, 0(SP); RETI
    pub fn wake_and_return(&mut self) -> &mut Self {
        self.op("BIC", Imm(LPM4.into()), X(0, 1)).reti()
    }

    pub fn call(&mut self, addr: u32) -> &mut Self {
        self.put(single("CALL", W, Imm(addr)))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    pub fn store_in(&self, m: &mut Machine) {
        m.write_mem(CODE, &self.bytes()).unwrap();
        for &(vector, handler) in &self.vectors {
            m.write_mem(vector, &(handler as u16).to_le_bytes()).unwrap();
        }
        m.reset();
    }

    pub fn machine(&self) -> Machine {
        let mut m = machine();
        self.store_in(&mut m);
        m
    }

    /// Ends it in a halt and runs it there.
    pub fn run_halted(&mut self) -> Machine {
        self.halt().run()
    }

    /// Runs it to its halt.
    pub fn run(&self) -> Machine {
        let mut m = self.machine();
        halt(&mut m);
        m
    }
}

pub fn halt(m: &mut Machine) {
    let until = Until { cycles: Some(m.cycles() + 50_000_000), ..Until::default() };
    assert_eq!(m.run(&until, &mut Silent), Stop::Halted, "at {:#07x}", m.pc());
}

pub fn word(m: &Machine, addr: u32) -> u16 {
    let b = m.read_mem(addr, 2).unwrap();
    u16::from_le_bytes([b[0], b[1]])
}

/// The n-th kept word.
pub fn kept(m: &Machine, n: u32) -> u16 {
    word(m, KEPT + 2 * n)
}

/// The fault that a program ends in, as its sentence.
pub fn fault_of(p: &Program) -> String {
    fault_in(&mut p.machine())
}

pub fn fault_in(m: &mut Machine) -> String {
    let until = Until { cycles: Some(m.cycles() + 10_000_000), ..Until::default() };
    match m.run(&until, &mut Silent) {
        Stop::Fault(f) => f.to_string(),
        other => panic!("no fault but {other:?} at {:#07x}", m.pc()),
    }
}

/// Counts of a timer, which runs by the CPU's own source and wakes it each 1,000 counts, as its handler finds them;
/// `at` has TAxCCR0, TAxCCTL0, TAxCTL and TAxR. None where the chip refuses the clock that was set up.
pub fn counts_on_entry(
    mut p: Program,
    at: [u32; 4],
    vector: u32,
    wakes: usize,
) -> Option<Vec<u16>> {
    let [ccr0, cctl0, ctl, tar] = at;
    p.set(ccr0, 999).set(cctl0, 0x10).set(ctl, 0x0214);
    let again = p.here();
    p.sleep(LPM0 | GIE).back("JMP", again);
    p.handler(vector).op("MOV", Abs(tar), R(4));
    let end = p.here();
    p.reti();
    let mut m = p.machine();
    let mut counts = Vec::new();
    for _ in 0..wakes {
        match m.run(&Until::pc(end), &mut Silent) {
            Stop::Pc(_) => counts.push(m.register("R4").unwrap() as u16),
            Stop::Fault(_) if counts.is_empty() => return None,
            other => panic!("{other:?} at {:#07x}", m.pc()),
        }
    }
    Some(counts)
}

/// Edges of a pin: the time of each and the level behind it.
pub fn edges(m: &Machine, pin: sunseal_mcu::Pin) -> Vec<(u128, bool)> {
    m.pin_log().iter().filter(|e| e.pin == pin).map(|e| (e.time_ps, e.level)).collect()
}

/// Times between edges of a pin in ticks, rounded, from its first rising edge on.
pub fn spans(m: &Machine, pin: sunseal_mcu::Pin, tick_ps: f64) -> Vec<u64> {
    let edges = edges(m, pin);
    let first = edges.iter().position(|e| e.1).unwrap_or(edges.len());
    let span = |w: &[(u128, bool)]| ((w[1].0 - w[0].0) as f64 / tick_ps).round() as u64;
    edges[first..].windows(2).map(span).collect()
}
