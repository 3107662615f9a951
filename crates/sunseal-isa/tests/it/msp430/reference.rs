// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction set once more, written plainly from the manual's descriptions: no tables, no
//! decoded form, flags from signed and unsigned integers. What the core is compared with.
#![allow(dead_code)]

use crate::asm::{Arg, PC, Repeat, SP, SR, Size};
use std::collections::BTreeMap;

pub const C: u32 = 1;
pub const Z: u32 = 2;
pub const N: u32 = 4;
pub const V: u32 = 256;

/// Memory as a function of the address, and what was written over it.
#[derive(Clone, Default)]
pub struct Memory {
    pub code: BTreeMap<u32, u8>,
    pub written: BTreeMap<u32, u8>,
    /// Whether a word was accessed at an odd address.
    pub odd: std::cell::Cell<bool>,
}

/// From here on for 1 KiB every word is even: the target of a call.
pub const STACK: u32 = 0x2400;

/// Pages alternate between any bytes and decimal digits.
pub fn initial(addr: u32) -> u8 {
    let byte = noise(addr);
    if (STACK..STACK + 0x400).contains(&addr) && addr.is_multiple_of(2) {
        byte & 0xFE
    } else {
        byte
    }
}

fn noise(addr: u32) -> u8 {
    let mut x = addr.wrapping_mul(0x9E37_79B9) ^ 0x5EA1;
    x ^= x >> 15;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    let byte = (x >> 7) as u8;
    if addr & 0x100 == 0 { byte } else { ((byte >> 4) % 10) << 4 | ((byte & 15) % 10) }
}

impl Memory {
    fn byte(&self, addr: u32) -> u8 {
        let known = self.written.get(&addr).or_else(|| self.code.get(&addr));
        known.copied().unwrap_or_else(|| initial(addr))
    }

    fn read(&self, addr: u32, size: Size) -> u32 {
        if size != Size::B && addr % 2 == 1 {
            self.odd.set(true);
        }
        let word =
            |a: u32| u32::from(self.byte(a)) + 256 * u32::from(self.byte((a + 1) & 0xF_FFFF));
        match size {
            Size::B => u32::from(self.byte(addr)),
            Size::W => word(addr),
            Size::A => word(addr) + 65536 * (word((addr + 2) & 0xF_FFFF) % 16),
        }
    }

    fn write(&mut self, addr: u32, size: Size, value: u32) {
        if size != Size::B && addr % 2 == 1 {
            self.odd.set(true);
        }
        let count = match size {
            Size::B => 1,
            Size::W => 2,
            Size::A => 4,
        };
        for i in 0..count {
            self.written.insert((addr + i) & 0xF_FFFF, (value >> (8 * i)) as u8);
        }
    }
}

#[derive(Clone)]
pub struct Machine {
    pub r: [u32; 16],
    pub memory: Memory,
}

pub fn bits(size: Size) -> u32 {
    match size {
        Size::B => 8,
        Size::W => 16,
        Size::A => 20,
    }
}

fn signed(value: u32, size: Size) -> i64 {
    let value = i64::from(value);
    let half = 1i64 << (bits(size) - 1);
    if value >= half { value - 2 * half } else { value }
}

fn decimal(value: u32) -> Option<u64> {
    format!("{value:x}").parse().ok()
}

/// Place of an operand: a register or memory.
#[derive(Clone, Copy)]
enum Place {
    Register(u16),
    Memory(u32),
    Value(u32),
}

impl Machine {
    fn flag(&mut self, flag: u32, on: bool) {
        if on {
            self.r[SR as usize] |= flag;
        } else {
            self.r[SR as usize] &= !flag;
        }
    }

    fn nz(&mut self, result: u32, size: Size) {
        self.flag(N, signed(result, size) < 0);
        self.flag(Z, result == 0);
    }

    /// `X(Rn)`: MSP430 instructions sign-extend 16 bits and stay in the lower 64 KB when Rn is there.
    fn index(base: u32, x: i32, extended: bool) -> u32 {
        if extended {
            return (i64::from(base) + i64::from(x)).rem_euclid(1 << 20) as u32;
        }
        let sum = i64::from(base) + i64::from(x as i16);
        let space = if base < 65536 { 65536 } else { 1 << 20 };
        sum.rem_euclid(space) as u32
    }

    /// Where an operand is. `word_at` is the address of its operand word, `next` what PC reads as.
    fn place(&mut self, arg: Arg, size: Size, extended: bool, word_at: u32, next: u32) -> Place {
        let mask = (1u32 << bits(size)) - 1;
        match arg {
            Arg::R(0) => Place::Value(next & mask),
            Arg::R(3) => Place::Value(0),
            Arg::R(r) => Place::Register(r),
            Arg::X(x, 0) => Place::Memory(Self::index(word_at, x, extended)),
            Arg::X(x, r) => Place::Memory(Self::index(self.r[r as usize], x, extended)),
            Arg::Abs(a) => Place::Memory(if extended { a } else { a & 0xFFFF }),
            Arg::At(r) => Place::Memory(self.r[r as usize]),
            Arg::Inc(r) => {
                let at = self.r[r as usize];
                let step = match size {
                    Size::A => 4,
                    Size::W => 2,
                    Size::B => 1 + u32::from(r == SP),
                };
                self.r[r as usize] = (at + step) % (1 << 20);
                Place::Memory(at)
            }
            Arg::Imm(n) => Place::Value(n & mask),
            Arg::Cg(n) => Place::Value(n as u32 & mask),
        }
    }

    fn get(&self, place: Place, size: Size) -> u32 {
        match place {
            Place::Register(r) => self.r[r as usize] % (1 << bits(size)),
            Place::Memory(a) => self.memory.read(a, size),
            Place::Value(v) => v,
        }
    }

    fn set(&mut self, place: Place, size: Size, value: u32) {
        match place {
            Place::Register(1) => self.r[1] = value - value % 2,
            Place::Register(2) => self.r[2] = value % 512,
            Place::Register(r) => self.r[r as usize] = value,
            Place::Memory(a) => self.memory.write(a, size, value),
            Place::Value(_) => {}
        }
    }

    /// The double-operand operation; `None` where the manual leaves the result undefined.
    pub fn operate(&mut self, op: &str, size: Size, src: u32, dst: u32, zc: bool) -> Option<u32> {
        let n = bits(size);
        let modulus = 1i64 << n;
        let carry = i64::from(!zc && self.r[SR as usize] & C != 0);
        let (s, d) = (i64::from(src), i64::from(dst));
        let (ss, sd) = (signed(src, size), signed(dst, size));
        let fits = |v: i64| v >= -modulus / 2 && v < modulus / 2;
        let arithmetic = |m: &mut Self, unsigned: i64, signed: i64, carry_out: bool| {
            let result = unsigned.rem_euclid(modulus) as u32;
            m.nz(result, size);
            m.flag(C, carry_out);
            m.flag(V, !fits(signed));
            result
        };
        let logic = |m: &mut Self, result: u32, overflow: bool| {
            m.nz(result, size);
            m.flag(C, result != 0);
            m.flag(V, overflow);
            result
        };
        Some(match op {
            "MOV" => src,
            "ADD" => arithmetic(self, s + d, ss + sd, s + d >= modulus),
            "ADDC" => arithmetic(self, s + d + carry, ss + sd + carry, s + d + carry >= modulus),
            "SUB" | "CMP" => arithmetic(self, d - s, sd - ss, d >= s),
            "SUBC" => {
                let borrow = 1 - carry;
                arithmetic(self, d - s - borrow, sd - ss - borrow, d >= s + borrow)
            }
            "DADD" => {
                let top = 10u64.pow(n / 4);
                let sum = decimal(src)? + decimal(dst)? + carry as u64;
                let result = u32::from_str_radix(&(sum % top).to_string(), 16).unwrap();
                self.nz(result, size);
                self.flag(C, sum >= top);
                result
            }
            "BIT" | "AND" => logic(self, src & dst, false),
            "XOR" => logic(self, src ^ dst, ss < 0 && sd < 0),
            "BIC" => dst & (modulus as u32 - 1 - src),
            "BIS" => dst | src,
            _ => panic!("{op}"),
        })
    }

    /// PC steps over an instruction: where its opcode lies, the next one, and how often it runs.
    fn fetched(&mut self, extension: Option<Repeat>, length: usize) -> (u32, u32, Repeat, u32) {
        let pc = self.r[PC as usize];
        let opcode = pc + 2 * u32::from(extension.is_some());
        let next = pc + 2 * length as u32;
        self.r[PC as usize] = next;
        let repeat = extension.unwrap_or(crate::asm::ONCE);
        let times = match repeat.times {
            Ok(n) => u32::from(n),
            Err(reg) => self.r[reg as usize] % 16 + 1,
        };
        (opcode, next, repeat, times)
    }

    /// A double-operand instruction at PC; `None` where its result is undefined.
    pub fn double(
        &mut self,
        op: &str,
        size: Size,
        extension: Option<Repeat>,
        src: Arg,
        dst: Arg,
        length: usize,
    ) -> Option<()> {
        let extended = extension.is_some();
        let (opcode, next, repeat, times) = self.fetched(extension, length);
        let in_registers = src.in_register() && dst.in_register();
        let zc = in_registers && repeat.zc;
        for _ in 0..if in_registers { times } else { 1 } {
            let from = self.place(src, size, extended, opcode + 2, next);
            let value = self.get(from, size);
            let has_word = matches!(src, Arg::X(..) | Arg::Abs(_) | Arg::Imm(_));
            let word_at = opcode + 2 + 2 * u32::from(has_word);
            let to = self.place(dst, size, extended, word_at, next);
            let to_pc = dst == Arg::R(PC);
            let old =
                if to_pc { self.r[PC as usize] % (1 << bits(size)) } else { self.get(to, size) };
            let result = self.operate(op, size, value, old, zc)?;
            if op == "CMP" || op == "BIT" {
            } else if to_pc {
                self.r[PC as usize] = result;
            } else {
                self.set(to, size, result);
            }
        }
        Some(())
    }

    fn rotate_right(&mut self, value: u32, size: Size, fill: u32) -> u32 {
        let result = value / 2 + fill * (1 << (bits(size) - 1));
        self.nz(result, size);
        self.flag(C, value % 2 == 1);
        self.flag(V, false);
        result
    }

    pub fn single(
        &mut self,
        op: &str,
        size: Size,
        extension: Option<Repeat>,
        arg: Arg,
        length: usize,
    ) {
        let extended = extension.is_some();
        let (opcode, next, repeat, times) = self.fetched(extension, length);
        let zc = arg.in_register() && repeat.zc;
        for _ in 0..if arg.in_register() { times } else { 1 } {
            if matches!(op, "PUSH" | "CALL") {
                // What silicon does, where that is known: X(SP) behind the decrement, @SP in front of it, @SP+
                // steps last; PUSHX as PUSH X(SP). PUSH SP stores what SP was.
                let step = if size == Size::A { 4 } else { 2 };
                let (old, new) = (self.r[1], (self.r[1] + (1 << 20) - step) % (1 << 20));
                if matches!(arg, Arg::X(_, SP))
                    || extended && matches!(arg, Arg::At(SP) | Arg::Inc(SP))
                {
                    self.r[1] = new;
                }
                let before = self.r[1];
                let place = self.place(arg, size, extended, opcode + 2, next);
                let value = self.get(place, size);
                let stepped = self.r[1].wrapping_sub(before);
                self.r[1] = old;
                if op == "CALL" {
                    self.memory.write(new, Size::W, next);
                    self.r[PC as usize] = value;
                } else {
                    self.memory.write(new, size, value);
                }
                self.r[1] = new.wrapping_add(stepped) % (1 << 20);
                continue;
            }
            let place = self.place(arg, size, extended, opcode + 2, next);
            let value = self.get(place, size);
            match op {
                "RRC" => {
                    let fill = u32::from(self.r[SR as usize] & C != 0 && !zc);
                    let result = self.rotate_right(value, size, fill);
                    self.set(place, size, result);
                }
                "RRA" => {
                    let fill = value >> (bits(size) - 1);
                    let result = self.rotate_right(value, size, fill);
                    self.set(place, size, result);
                }
                "SWPB" => {
                    let low = value % 65536;
                    let swapped = low / 256 + low % 256 * 256;
                    self.set(place, size, value - low + swapped);
                }
                "SXT" => {
                    let low = value % 256;
                    let wide = if matches!(place, Place::Memory(_)) { size } else { Size::A };
                    let modulus = 1 << bits(wide);
                    let result = if low >= 128 { modulus - 256 + low } else { low };
                    self.nz(result, wide);
                    self.flag(C, result != 0);
                    self.flag(V, false);
                    self.set(place, size, result);
                }
                _ => panic!("{op}"),
            }
        }
    }

    pub fn address(&mut self, op: &str, src: Arg, dst: Arg, length: usize) {
        let pc = self.r[PC as usize];
        self.r[PC as usize] = pc + 2 * length as u32;
        let from = self.place(src, Size::A, true, pc + 2, self.r[PC as usize]);
        let value = match (op, src) {
            ("ADDA" | "SUBA" | "CMPA", Arg::R(SR)) => 4,
            ("ADDA" | "SUBA" | "CMPA", Arg::R(3)) => 2,
            _ => self.get(from, Size::A),
        };
        let to = self.place(dst, Size::A, true, pc + 2, self.r[PC as usize]);
        let old = if op == "MOVA" { 0 } else { self.get(to, Size::A) };
        let result = match op {
            "MOVA" => value,
            "ADDA" => self.operate("ADD", Size::A, value, old, false).unwrap(),
            _ => self.operate("SUB", Size::A, value, old, false).unwrap(),
        };
        if op == "CMPA" {
        } else if dst == Arg::R(PC) {
            self.r[PC as usize] = result;
        } else {
            self.set(to, Size::A, result);
        }
    }

    pub fn rotate(&mut self, op: &str, size: Size, n: u16, reg: u16) {
        self.r[PC as usize] += 2;
        let mut value = self.r[reg as usize] % (1 << bits(size));
        for _ in 0..n {
            value = match op {
                "RRCM" => {
                    let fill = self.r[SR as usize] & C;
                    self.rotate_right(value, size, fill)
                }
                "RRAM" => self.rotate_right(value, size, value >> (bits(size) - 1)),
                "RRUM" => self.rotate_right(value, size, 0),
                _ => self.operate("ADD", size, value, value, false).unwrap(),
            };
        }
        self.set(Place::Register(reg), size, value);
    }

    pub fn many(&mut self, op: &str, size: Size, n: u16, reg: u16) {
        self.r[PC as usize] += 2;
        let step = if size == Size::A { 4 } else { 2 };
        for i in 0..n {
            if op == "PUSHM" {
                let value = self.r[(reg - i) as usize] % (1 << bits(size));
                self.r[1] = (self.r[1] + (1 << 20) - step) % (1 << 20);
                self.memory.write(self.r[1], size, value);
            } else {
                let value = self.memory.read(self.r[1], size);
                self.r[1] = (self.r[1] + step) % (1 << 20);
                self.set(Place::Register(reg + 1 - n + i), size, value);
            }
        }
    }

    pub fn calla(&mut self, arg: Arg, length: usize) {
        let pc = self.r[PC as usize];
        let back = pc + 2 * length as u32;
        let place = self.place(arg, Size::A, true, pc + 2, pc + 2);
        let target = self.get(place, Size::A);
        self.r[1] = (self.r[1] + (1 << 20) - 4) % (1 << 20);
        self.memory.write(self.r[1], Size::A, back);
        self.r[PC as usize] = target;
    }
}
