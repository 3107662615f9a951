// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP432P401R's datasheet set weighs every name that the machine can report, at every level.

use crate::common::{self, covers_states};
use sunseal_mcu::{Device, Machine};
use sunseal_power::PowerSet;
use sunseal_trace::OperatingPoint;

fn set() -> PowerSet {
    PowerSet::load(&common::data().join("power"), "datasheet", "msp432p401r").unwrap()
}

#[test]
fn the_set_covers_the_vocabulary_of_the_machine() {
    let set = set();
    let machine = Machine::new(&Device::named("msp432p401r").unwrap());
    let v = machine.vocabulary();
    for vcore in 0..6 {
        let mclk_hz = if vcore < 4 { 24_000_000 } else { 128_000 };
        let point = OperatingPoint { mclk_hz, smclk_hz: mclk_hz, aclk_hz: 32_768, vcore };
        covers_states(&set, &machine, &point);
    }
    assert_eq!(v.components().len(), 5);
    for (_, event) in v.events() {
        set.event_j(event, 3.0).unwrap();
    }
}

#[test]
fn the_figures_of_the_first_page_come_back() {
    let set = set();
    let typ = |state: &str, mclk_hz: u32, vcore: u8| {
        let point = OperatingPoint { mclk_hz, smclk_hz: mclk_hz, aclk_hz: 32_768, vcore };
        set.current_a("cpu", state, &point, 3.0).unwrap().value.typ
    };
    assert!((typ("lpm3", 0, 0) - 660e-9).abs() < 1e-12);
    assert!((typ("lpm4", 0, 0) - 500e-9).abs() < 1e-12);
    assert!((typ("lpm35", 0, 0) - 630e-9).abs() < 1e-12);
    assert!((typ("lpm45", 0, 0) - 25e-9).abs() < 1e-12);
    // The DC/DC regulator saves, and SRAM costs less than flash, at every clock both can.
    for mhz in [1, 8, 16, 24] {
        let f = mhz * 1_000_000;
        assert!(typ("active.flash", f, 2) < typ("active.flash", f, 0));
        assert!(typ("active.ram", f, 1) < typ("active.flash", f, 1));
        assert!(typ("lpm0", f, 0) < typ("active.ram", f, 0));
    }
}
