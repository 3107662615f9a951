// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that say the same as other files.

use crate::common;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sunseal_board::Board;
use sunseal_node::{Node, Scenario, Silence};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_boards_wiring_is_the_firmwares() {
    let board = Board::load(&common::data().join("boards"), "msp430f5438a-anagear").unwrap();
    let path = root().join("firmware/boards/msp430f5438a-anagear/board.h");
    let header = std::fs::read_to_string(&path).unwrap();
    // #define BOARD_RADIO_CSN BIT0 /* port 3 */
    let pins: BTreeMap<&str, String> = header
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("#define BOARD_")?.split_once(' ')?;
            let bit = rest.trim().strip_prefix("BIT")?.get(..1)?;
            let port = rest.split_once("port ")?.1.get(..1)?;
            Some((name, format!("P{port}.{bit}")))
        })
        .collect();
    let radio = board.radio.as_ref().unwrap();
    let sense = board.storage_sense.as_ref().unwrap();
    for (name, pin) in [
        ("TRIGGER", &board.trigger.pin),
        ("RADIO_GDO2", &radio["gdo2"]),
        ("RADIO_GDO0", &radio["gdo0"]),
        ("RADIO_CSN", &radio["csn"]),
        ("RADIO_SIMO", &radio["simo"]),
        ("RADIO_SOMI", &radio["somi"]),
        ("RADIO_SCLK", &radio["clk"]),
        ("STORAGE_SENSE", &sense.pin),
        ("STORAGE_DIVIDER", &sense.enable),
    ] {
        assert_eq!(pins.get(name), Some(pin), "BOARD_{name} in {}", path.display());
    }
    let number = |name: &str| -> f64 {
        let line = header.lines().find(|l| l.contains(&format!("#define BOARD_{name} "))).unwrap();
        line.split_whitespace().nth(2).unwrap().parse().unwrap()
    };
    assert_eq!(1.0 / number("STORAGE_DIVIDER_RATIO"), sense.ratio);
    assert_eq!(number("ADC_REFERENCE_MV") * 1e-3, sense.reference_v);
}

#[test]
fn the_reference_page_names_every_key_of_a_scenario() {
    let page = std::fs::read_to_string(root().join("docs/reference/scenario.md")).unwrap();
    let text = "name = \"x\"\nboard = \"b\"\nfirmware = \"f\"\nduration_s = 1\n[gateway]\naddress = \"a:1\"\n[node]\n\
                [harvest.sunlight]\nday = \"06-21\"\n";
    let mut scenario = Scenario::parse(text, "x").unwrap();
    let step = sunseal_node::LoadStep { lasts_s: 1.0, current_a: 1e-3 };
    scenario.load = Some(sunseal_node::LoadChoice { steps: vec![step], trace: None });
    let scenario = serde_json::to_value(scenario).unwrap();
    fn keys(value: &serde_json::Value, out: &mut Vec<String>) {
        for (key, inner) in value.as_object().into_iter().flatten() {
            out.push(key.clone());
            keys(inner.get(0).unwrap_or(inner), out);
        }
    }
    let mut all = Vec::new();
    keys(&scenario, &mut all);
    assert!(all.len() > 50 && all.contains(&"enrol_retry_s".to_owned()), "{all:?}");
    // As `key`, or as a table's head, `[key]`.
    let named = |k: &str| page.contains(&format!("{k}`")) || page.contains(&format!("[{k}]`"));
    let missing: Vec<_> = all.iter().filter(|k| !named(k)).collect();
    assert!(missing.is_empty(), "docs/reference/scenario.md does not say {missing:?}");
}

#[test]
fn every_example_scenario_is_sound() {
    let folder = root().join("examples/scenarios");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let mut scenario = Scenario::load(&path).unwrap();
        if scenario.load.is_some() {
            sunseal_node::play_load(&common::data(), &scenario, None, &mut |_| true).unwrap();
            seen += 1;
            continue;
        }
        assert!(
            scenario.firmware.exists(),
            "{}; `make firmware` builds it",
            scenario.firmware.display()
        );
        // The weather is Python's; the rest must fit together.
        if scenario.harvest.sunlight.take().is_some() {
            scenario.harvest.constant_w = Some(1e-3);
        }
        Node::with_air(&common::data(), scenario, None, Box::new(Silence)).unwrap();
        seen += 1;
    }
    assert!(seen >= 2);
}
