// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed amount of work that speeds are divided by: an interpreter of ten instructions, which no change of the
//! simulator touches. It takes of a processor what the cores take: loads of decoded instructions, jumps that depend on
//! them, arithmetic, data in the first cache.

use std::hint::black_box;

const BYTES: usize = 4096;

/// Instruction of the yardstick; registers and constants are its numbers.
#[derive(Clone, Copy)]
enum Op {
    Set(u8, u32),
    Add(u8, u8),
    Xor(u8, u8),
    Multiply(u8, u8),
    Shift(u8, u32),
    Load(u8, u8),
    Store(u8, u8),
    /// Leads past the next instruction if the register is odd.
    SkipOdd(u8),
    /// Counts the register down and jumps unless it has come to 0.
    Loop(u8, u32),
    Halt,
}

/// Generator of pseudo-random numbers that mixes what it draws into memory.
const PROGRAM: [Op; 18] = [
    Op::Set(0, 1_664_525),
    Op::Set(1, 1_013_904_223),
    Op::Set(2, 1),
    Op::Set(7, 4096),
    Op::Multiply(2, 0), // 4: draw
    Op::Add(2, 1),
    Op::Xor(3, 2),
    Op::Shift(3, 7),
    Op::Load(4, 3),
    Op::Add(4, 2),
    Op::Shift(4, 3),
    Op::SkipOdd(4),
    Op::Xor(5, 4),
    Op::Store(4, 3),
    Op::SkipOdd(5),
    Op::Add(5, 3),
    Op::Loop(7, 4),
    Op::Halt,
];

/// Runs the program; instructions executed, and what its memory and registers came to.
pub fn run() -> (u64, u32) {
    let program = black_box(&PROGRAM);
    let (mut r, mut memory) = ([0u32; 8], [0u8; BYTES]);
    let (mut pc, mut executed) = (0usize, 0u64);
    loop {
        executed += 1;
        let op = program[pc];
        pc += 1;
        let place = |address: u32| address as usize % (BYTES - 4);
        match op {
            Op::Set(d, value) => r[usize::from(d & 7)] = value,
            Op::Add(d, s) => {
                r[usize::from(d & 7)] = r[usize::from(d & 7)].wrapping_add(r[usize::from(s & 7)]);
            }
            Op::Xor(d, s) => r[usize::from(d & 7)] ^= r[usize::from(s & 7)],
            Op::Multiply(d, s) => {
                r[usize::from(d & 7)] = r[usize::from(d & 7)].wrapping_mul(r[usize::from(s & 7)]);
            }
            Op::Shift(d, bits) => {
                r[usize::from(d & 7)] = r[usize::from(d & 7)].rotate_right(bits);
            }
            Op::Load(d, a) => {
                let at = place(r[usize::from(a & 7)]);
                let bytes = [memory[at], memory[at + 1], memory[at + 2], memory[at + 3]];
                r[usize::from(d & 7)] = u32::from_le_bytes(bytes);
            }
            Op::Store(s, a) => {
                let at = place(r[usize::from(a & 7)]);
                memory[at..at + 4].copy_from_slice(&r[usize::from(s & 7)].to_le_bytes());
            }
            Op::SkipOdd(s) => pc += (r[usize::from(s & 7)] & 1) as usize,
            Op::Loop(d, to) => {
                let left = &mut r[usize::from(d & 7)];
                *left -= 1;
                pc = if *left == 0 { pc } else { to as usize };
            }
            Op::Halt => break,
        }
    }
    let sum = memory.iter().fold(r[5], |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
    (executed, black_box(sum))
}
