// SPDX-License-Identifier: MIT OR Apache-2.0
//! What SRAM holds when the supply comes back.

use sunseal_mcu::Until;
use sunseal_mcu::startup::SramStartup;
use sunseal_trace::{Picos, Silent};

use crate::support::*;

fn cut(m: &mut sunseal_mcu::Machine, off_ms: u128, noise: u64) -> Vec<u8> {
    m.set_vcc(0.0);
    let to = Picos(m.time().0 + off_ms * 1_000_000_000);
    m.run(&Until::time(to), &mut Silent);
    m.set_vcc(3.0);
    m.power_on(noise);
    m.read_mem(RAM, 8192).unwrap().to_vec()
}

fn ones(bytes: &[u8]) -> f64 {
    f64::from(bytes.iter().map(|b| b.count_ones()).sum::<u32>()) / (8 * bytes.len()) as f64
}

fn distance(a: &[u8], b: &[u8]) -> f64 {
    ones(&a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<_>>())
}

#[test]
fn the_unit_decides_most_cells_and_noise_the_rest() {
    let mut m = Program::new().run_halted();
    m.set_unit_seed(11);
    let a = cut(&mut m, 1000, 1);
    let b = cut(&mut m, 1000, 2);
    let mut other = Program::new().run_halted();
    other.set_unit_seed(12);
    let c = cut(&mut other, 1000, 1);
    // Data: a tenth of the cells are noisy, a third of those differ from one start to the next.
    assert!((distance(&a, &b) - 0.1 / 3.0).abs() < 0.004, "{}", distance(&a, &b));
    assert!((distance(&a, &c) - 0.5).abs() < 0.01);
    assert!((ones(&a) - 0.5).abs() < 0.01);
}

#[test]
fn bias_noise_and_decay_can_be_set_and_a_short_cut_loses_nothing() {
    let mut p = Program::new();
    p.set(RAM + 0x300, 0x5AA5);
    let mut m = p.run_halted();
    let held = cut(&mut m, 40, 1);
    assert_eq!(held[0x300..0x302], [0xA5, 0x5A], "40 ms of 100 ms");
    m.set_sram_startup(SramStartup { ones: 0.7, noisy: 0.0, decay_ms: 1.0 });
    let a = cut(&mut m, 40, 2);
    assert!((ones(&a) - 0.7).abs() < 0.01);
    assert_eq!(a, cut(&mut m, 40, 3), "nothing is noisy");
}

#[test]
fn the_random_seed_of_the_tlv_is_the_unit_s() {
    let mut m = fr5994();
    let mut seed = |n| {
        m.set_unit_seed(n);
        m.read_mem(0x1A30, 16).unwrap().to_vec()
    };
    let (a, b) = (seed(1), seed(2));
    assert_ne!(a, b);
    assert_eq!(a, seed(1));
    assert_eq!(m.read_mem(0x1A04, 2).unwrap(), [0xA1, 0x82], "device identification");
}
