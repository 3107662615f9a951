// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ATmega128L's sets give the printed figures back and know every name that its machine counts by.

use std::path::{Path, PathBuf};

use sunseal_power::PowerSet;
use sunseal_trace::OperatingPoint;

fn load(name: &str) -> PowerSet {
    let dir: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/power");
    PowerSet::load(&dir, name, "atmega128l").unwrap()
}

fn awake(hz: u32) -> OperatingPoint {
    OperatingPoint { mclk_hz: hz, smclk_hz: hz, aclk_hz: 0, vcore: 0 }
}

fn close(x: f64, y: f64, rel: f64) {
    assert!((x / y - 1.0).abs() < rel, "{x} {y}");
}

#[test]
fn the_dc_characteristics_come_back() {
    // 2467X page 319.
    let set = load("datasheet");
    let a = |state: &str, point: &OperatingPoint, v| {
        set.current_a("cpu", state, point, v).unwrap().value
    };
    close(a("active.flash", &awake(4_000_000), 3.0).typ, 5e-3, 1e-9);
    close(a("active.flash", &awake(4_000_000), 3.0).high, 5.5e-3, 1e-9);
    close(a("active.flash", &awake(8_000_000), 5.0).typ, 17e-3, 1e-6);
    let idle = |hz| OperatingPoint { mclk_hz: 0, ..awake(hz) };
    close(a("idle", &idle(4_000_000), 3.0).typ, 2e-3, 1e-9);
    // The slope over the clock is that of 3 V; the table has 8 mA.
    close(a("idle", &idle(8_000_000), 5.0).typ, 4.5e-3, 1e-9);
    close(a("power_down", &idle(0), 3.0).typ, 5e-6, 1e-9);
    let dog = set.current_a("wdt", "on", &idle(0), 3.0).unwrap().value;
    close(dog.typ + 5e-6, 15e-6, 1e-9);
}

#[test]
fn the_measured_mica2_speaks_for_what_it_measured() {
    let set = load("shnayder2004");
    let own = set.current_a("cpu", "active.flash", &awake(7_372_800), 3.0).unwrap();
    close(own.value.typ, 8.0e-3, 0.001);
    assert!(!own.fallback && !own.recalled);
    let idle = OperatingPoint { mclk_hz: 0, ..awake(7_372_800) };
    close(set.current_a("cpu", "idle", &idle, 3.0).unwrap().value.typ, 3.2e-3, 0.001);
    assert!(set.current_a("adc", "on", &idle, 3.0).unwrap().fallback);
}

#[test]
fn every_name_of_the_machine_is_covered() {
    const CPU: [&str; 9] = [
        "active.flash",
        "active.ram",
        "off",
        "idle",
        "adc_noise_reduction",
        "power_down",
        "power_save",
        "standby",
        "extended_standby",
    ];
    for name in ["datasheet", "shnayder2004"] {
        let set = load(name);
        let point = awake(4_000_000);
        for state in CPU {
            set.current_a("cpu", state, &point, 3.0).unwrap();
        }
        for (component, states) in [
            ("flash", &["idle", "off", "write", "erase"][..]),
            ("eeprom", &["idle", "off", "write"]),
            ("adc", &["off", "on"]),
            ("wdt", &["off", "on"]),
            ("timer_oscillator", &["off", "on"]),
            ("bod", &["off", "on"]),
            ("comparator", &["off", "on"]),
        ] {
            for state in states {
                set.current_a(component, state, &point, 3.0).unwrap();
            }
        }
        for event in [
            "eeprom.write",
            "eeprom.read",
            "flash.page_erase",
            "flash.page_write",
            "adc.conversion",
            "spi.byte",
            "usart0.byte",
            "usart1.byte",
        ] {
            set.event_j(event, 3.0).unwrap();
        }
    }
}
