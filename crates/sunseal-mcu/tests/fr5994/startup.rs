// SPDX-License-Identifier: MIT OR Apache-2.0
//! What SRAM holds when the supply comes back.

use proptest::prelude::*;
use sunseal_mcu::Until;
use sunseal_mcu::startup::SramStartup;
use sunseal_trace::{Picos, Silent};

use crate::support::*;

fn cut(m: &mut sunseal_mcu::Machine, off_ms: u128, noise: u64) -> Vec<u8> {
    cut_for(m, Picos(off_ms * 1_000_000_000), noise)
}

fn cut_for(m: &mut sunseal_mcu::Machine, off: Picos, noise: u64) -> Vec<u8> {
    m.set_vcc(0.0);
    let to = Picos(m.time().0 + off.0);
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
    let mut m = machine();
    let mut seed = |n| {
        m.set_unit_seed(n);
        m.read_mem(0x1A30, 16).unwrap().to_vec()
    };
    let (a, b) = (seed(1), seed(2));
    assert_ne!(a, b);
    assert_eq!(a, seed(1));
    assert_eq!(m.read_mem(0x1A04, 2).unwrap(), [0xA1, 0x82], "device identification");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn cells_lose_their_content_evenly_from_half_to_one_and_a_half_of_the_decay_time(
        unit in any::<u64>(), decay_ms in 0.5f64..500.0, ones_share in 0.2f64..0.8, offs in prop::collection::vec(0.4f64..1.6, 8),
    ) {
        let mut m = Program::new().run_halted();
        m.set_unit_seed(unit);
        m.set_sram_startup(SramStartup { ones: ones_share, noisy: 0.0, decay_ms });
        let off = |of_decay: f64| Picos((of_decay * decay_ms * 1e9) as u128);
        // The opposite of what each cell starts as: whatever is lost shows.
        let written: Vec<u8> = cut_for(&mut m, off(2.0), 1).iter().map(|own| !own).collect();
        m.write_mem(RAM, &written).unwrap();
        for noise in 0..4 {
            // Each start refreshes what is left: short cuts do not add up.
            prop_assert!(cut_for(&mut m, off(0.4999), noise) == written, "lost before half of the decay time");
        }
        let mut offs = [offs, vec![0.4999, 1.5001]].concat();
        offs.sort_by(f64::total_cmp);
        let mut lost_before = vec![0u8; written.len()];
        for of_decay in offs {
            m.write_mem(RAM, &written).unwrap();
            let held = cut_for(&mut m, off(of_decay), 7);
            let lost: Vec<u8> = held.iter().zip(&written).map(|(a, b)| a ^ b).collect();
            prop_assert!(lost_before.iter().zip(&lost).all(|(a, b)| a & !b == 0), "a cell lost it earlier and kept it later");
            let (share, law) = (ones(&lost), (of_decay - 0.5).clamp(0.0, 1.0));
            // Five deviations of 65,536 draws and a few cells at the ends; before and behind them none.
            let inside = law * (1.0 - law) > 0.0;
            let give = if inside { (5.0 * (law * (1.0 - law)).sqrt() * 256.0 + 5.0) / 65_536.0 } else { 0.0 };
            prop_assert!((share - law).abs() <= give, "{share} lost after {of_decay} of the decay time, not {law}");
            lost_before = lost;
        }
    }
}
