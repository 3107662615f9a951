// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part on an I2C bus for tests: 256 registers behind a pointer, and what went over the bus.

use std::sync::{Arc, Mutex};

use sunseal_mcu::Part;
use sunseal_trace::Picos;

/// A step on the bus, and when its last bit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Address(bool),
    Write(u8),
    Read(u8),
    Stop,
}

/// A byte written to register 0x20, and read back behind a repeated START.
#[allow(dead_code, reason = "not every chip's tests take it")]
pub const WRITTEN_AND_READ: [Step; 7] = [
    Step::Address(false),
    Step::Write(0x20),
    Step::Write(0xA5),
    Step::Address(false),
    Step::Write(0x20),
    Step::Address(true),
    Step::Read(0xA5),
];

#[derive(Clone)]
pub struct Registers {
    pub address: [u8; 1],
    /// Data bytes of a message that it acknowledges, the pointer among them.
    pub takes: usize,
    pub shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
pub struct Shared {
    pub memory: Vec<u8>,
    pub log: Vec<(u128, Step)>,
    pointer: u8,
    taken: usize,
}

impl Registers {
    pub fn at(address: u8) -> Self {
        let memory = (0..=255u8).map(|i| i.wrapping_mul(7)).collect();
        let shared = Shared { memory, ..Shared::default() };
        Self { address: [address], takes: usize::MAX, shared: Arc::new(Mutex::new(shared)) }
    }

    pub fn steps(&self) -> Vec<Step> {
        self.shared.lock().unwrap().log.iter().map(|(_, step)| *step).collect()
    }

    pub fn times_ps(&self) -> Vec<u128> {
        self.shared.lock().unwrap().log.iter().map(|(time, _)| *time).collect()
    }

    fn log(&self, now: Picos, step: Step) {
        self.shared.lock().unwrap().log.push((now.0, step));
    }
}

impl Part for Registers {
    fn addresses(&self) -> &[u8] {
        &self.address
    }
    fn addressed(&mut self, now: Picos, address: u8, read: bool) -> bool {
        assert_eq!(address, self.address[0]);
        self.shared.lock().unwrap().taken = 0;
        self.log(now, Step::Address(read));
        true
    }
    fn written(&mut self, now: Picos, byte: u8) -> bool {
        self.log(now, Step::Write(byte));
        let mut s = self.shared.lock().unwrap();
        s.taken += 1;
        if s.taken > self.takes {
            return false;
        }
        if s.taken == 1 {
            s.pointer = byte;
        } else {
            let at = usize::from(s.pointer);
            s.memory[at] = byte;
            s.pointer = s.pointer.wrapping_add(1);
        }
        true
    }
    fn given(&mut self, now: Picos) -> u8 {
        let byte = {
            let mut s = self.shared.lock().unwrap();
            let byte = s.memory[usize::from(s.pointer)];
            s.pointer = s.pointer.wrapping_add(1);
            byte
        };
        self.log(now, Step::Read(byte));
        byte
    }
    fn stopped(&mut self, now: Picos) {
        self.log(now, Step::Stop);
    }
    fn state(&self) -> &str {
        "idle"
    }
}
