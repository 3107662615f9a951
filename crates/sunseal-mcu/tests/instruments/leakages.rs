// SPDX-License-Identifier: MIT OR Apache-2.0
//! Power traces: each sample is what the model says of the cycle.

use sunseal_mcu::leakage::{Leakage, Model};
use sunseal_mcu::{Device, Machine, Stop, Until};
use sunseal_trace::Silent;

const CODE: u32 = 0x5C00;

/// A machine at the first of these words, with the watchdog held.
fn machine(words: &[u16]) -> Machine {
    let mut m = Machine::new(&Device::msp430f5438a());
    // mov #0x5A80, &WDTCTL
    let program: Vec<u16> = [0x40B2, 0x5A80, 0x015C].iter().chain(words).copied().collect();
    let bytes: Vec<u8> = program.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.write_mem(CODE, &bytes).unwrap();
    m.write_mem(0xFFFE, &(CODE as u16).to_le_bytes()).unwrap();
    m.reset();
    assert_eq!(m.run(&Until::pc(CODE + 6), &mut Silent), Stop::Pc(CODE + 6));
    m
}

#[test]
fn a_sample_a_cycle_says_what_the_model_says() {
    // mov #0x00FF, r5; mov r5, &0x2000; xor #0x0F0F, r5; mov &0x2000, r6; nop
    let words = [0x4035, 0x00FF, 0x4582, 0x2000, 0xE035, 0x0F0F, 0x4216, 0x2000, 0x4303];
    let mut m = machine(&words);
    m.set_register("R5", 0).unwrap();
    m.set_register("R6", 0).unwrap();
    let end = CODE + 6 + 2 * words.len() as u32;
    let mut buffer = [0xAAu8; 64];
    let from = m.cycles();
    let mut leakage = Leakage::new(&mut buffer, Model::default(), from);
    assert_eq!(m.run_sampled(&Until::pc(end), &mut leakage), Stop::Pc(end));
    let samples = leakage.samples();
    assert_eq!(samples as u64, m.cycles() - from);
    assert_eq!(leakage.lost(), 0);
    // SLAU208 table 6-10: #N,Rm 2 cycles; Rn,&EDE 4 (MOV 3); #N,Rm 2; &EDE,Rn 3; NOP 1. The store is in the
    // last cycle, the load in the last of three; a register changes in the last.
    // In the load's last cycle, eight bits on the bus and eight in R6 fall together.
    let expected = [0, 8, 0, 0, 8, 0, 8, 0, 0, 16, 0];
    assert_eq!(&buffer[..samples], expected);
    assert!(buffer[samples..].iter().all(|s| *s == 0));
}
