// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430F1611's datasheet set weighs every name that the machine can report.

use crate::common::{self, covers_states};
use sunseal_mcu::{Device, Machine};
use sunseal_power::PowerSet;
use sunseal_trace::OperatingPoint;

#[test]
fn the_set_covers_the_vocabulary_of_the_machine() {
    let set = PowerSet::load(&common::data().join("power"), "datasheet", "msp430f1611").unwrap();
    let machine = Machine::new(&Device::named("msp430f1611").unwrap());
    let v = machine.vocabulary();
    let point =
        OperatingPoint { mclk_hz: 4_000_000, smclk_hz: 1_000_000, aclk_hz: 32_768, vcore: 0 };
    covers_states(&set, &machine, &point);
    assert_eq!((v.components().len(), v.events().len()), (5, 7));
    for (_, event) in v.events() {
        set.event_j(event, 3.0).unwrap();
    }
}
