// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done with each input: by libFuzzer, and by the test that replays the corpus and changes it.

use sunseal_mcu::gdb::{self, Options};
use sunseal_mcu::vcd::Stimulus;
use sunseal_mcu::{Device, Elf, Machine, Pin};
use sunseal_trace::Picos;

/// Loads an image and asks it everything.
pub fn elf(data: &[u8]) {
    let Ok(elf) = Elf::parse(data) else { return };
    let addresses = elf.symbols.iter().take(64).map(|s| s.addr);
    for addr in addresses.chain([0, elf.entry, 0xFFFF, u32::MAX]) {
        let _ = (elf.describe(addr), elf.line_at(addr), elf.frames_at(addr), elf.has_code(addr));
    }
    let _ = (elf.lines().take(1000).count(), elf.data_end());
    let device = Device::msp430f5438a();
    let _ = elf.sizes(&device);
    let _ = Machine::new(&device).load(&elf);
}

/// What a debugger sends to a machine that counts in a loop.
pub fn gdb(data: &[u8]) {
    const CODE: u32 = 0x5C00;
    let mut machine = Machine::new(&Device::msp430f5438a());
    // mov #0x5A80, &WDTCTL; inc &0x2000; jmp -3
    let words: [u16; 6] = [0x40B2, 0x5A80, 0x015C, 0x5392, 0x2000, 0x3FFD];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    machine.write_mem(CODE, &bytes).expect("there is flash");
    machine.write_mem(0xFFFE, &(CODE as u16).to_le_bytes()).expect("there is a vector");
    machine.reset();
    let options = Options { off: Picos(1_000_000), ..Options::default() };
    let _ = gdb::replay(&mut machine, &Elf::default(), data, &options);
}

/// A waveform as stimulus.
pub fn vcd(data: &[u8]) {
    let pin: Pin = "P1.0".parse().expect("that is a pin");
    let _ = Stimulus::read(data, &[]);
    if let Ok(mut stimulus) = Stimulus::read(data, &[("P1.0", pin)]) {
        stimulus.apply(&mut Machine::new(&Device::msp430f5438a()));
    }
}
