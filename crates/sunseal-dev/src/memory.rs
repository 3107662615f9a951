// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of which only the bytes exist that an instruction touches.

use std::collections::BTreeMap;

use crate::random::Random;

/// What the bus of a single step does alike on each core, in a struct with such a `memory`.
macro_rules! single_step {
    () => {
        fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
            Ok(self.memory.read(addr, 2) as u16)
        }
        fn cacheable(&self, _: u32) -> bool {
            false
        }
        fn deadline(&self) -> Cycles {
            Cycles::MAX
        }
    };
}
pub(crate) use single_step;

/// Bytes by address. While a case is drawn, a byte gets its value when it is first touched; when a
/// case is checked, touching any other byte is an error.
#[derive(Clone, Debug)]
pub struct Memory {
    initial: BTreeMap<u32, u8>,
    now: BTreeMap<u32, u8>,
    values: Option<Random>,
    /// A byte touched that a checked case does not have.
    missing: Option<u32>,
}

impl Memory {
    /// Every byte exists; its value comes from `values` when it is first touched.
    #[must_use]
    pub fn drawn(values: Random) -> Self {
        Self { initial: BTreeMap::new(), now: BTreeMap::new(), values: Some(values), missing: None }
    }

    /// These bytes and no others.
    #[must_use]
    pub fn exactly(initial: BTreeMap<u32, u8>) -> Self {
        Self { now: initial.clone(), initial, values: None, missing: None }
    }

    /// Puts bytes there before anything runs.
    pub fn place(&mut self, addr: u32, bytes: &[u8]) {
        for (i, &byte) in bytes.iter().enumerate() {
            self.initial.insert(addr + i as u32, byte);
            self.now.insert(addr + i as u32, byte);
        }
    }

    /// The byte at `addr`.
    pub fn byte(&mut self, addr: u32) -> u8 {
        if let Some(&byte) = self.now.get(&addr) {
            return byte;
        }
        let Some(values) = &mut self.values else {
            self.missing.get_or_insert(addr);
            return 0;
        };
        let byte = values.value(8) as u8;
        self.initial.insert(addr, byte);
        self.now.insert(addr, byte);
        byte
    }

    /// `bytes` bytes from `addr` on, the lowest first.
    pub fn read(&mut self, addr: u32, bytes: u32) -> u32 {
        (0..bytes).fold(0, |value, i| value | u32::from(self.byte(addr.wrapping_add(i))) << (8 * i))
    }

    /// Stores the lower `bytes` bytes of `value`, the lowest first.
    pub fn write(&mut self, addr: u32, bytes: u32, value: u32) {
        for i in 0..bytes {
            let addr = addr.wrapping_add(i);
            self.byte(addr);
            self.now.insert(addr, (value >> (8 * i)) as u8);
        }
    }

    /// What was there before: everything touched.
    #[must_use]
    pub fn initial(&self) -> &BTreeMap<u32, u8> {
        &self.initial
    }

    /// What is there now and was not before.
    #[must_use]
    pub fn changed(&self) -> BTreeMap<u32, u8> {
        let changed = |(addr, byte): (&u32, &u8)| {
            (self.initial.get(addr) != Some(byte)).then_some((*addr, *byte))
        };
        self.now.iter().filter_map(changed).collect()
    }

    /// The first byte touched that does not exist.
    #[must_use]
    pub fn missing(&self) -> Option<u32> {
        self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_memory_lists_what_was_touched_and_a_checked_one_has_no_more() {
        let mut memory = Memory::drawn(Random::new(1, "test"));
        memory.place(0x100, &[1, 2]);
        let old = memory.read(0x200, 2);
        memory.write(0x300, 1, 0xAB);
        memory.write(0x100, 1, 9);
        assert_eq!(memory.read(0x200, 2), old, "a byte keeps the value that was drawn");
        let touched: Vec<u32> = memory.initial().keys().copied().collect();
        assert_eq!(touched, [0x100, 0x101, 0x200, 0x201, 0x300]);
        assert_eq!(memory.changed().get(&0x100), Some(&9));
        let mut again = Memory::exactly(memory.initial().clone());
        assert_eq!(again.read(0x200, 2), old);
        assert_eq!(again.missing(), None);
        again.write(0x301, 1, 0);
        assert_eq!(again.missing(), Some(0x301));
    }
}
