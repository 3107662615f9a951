// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of the user's own: which is found, what it extends, what a room lists.

use std::path::{Path, PathBuf};

use sunseal_data::{Library, Room};
use sunseal_power::{CapacitorPart, OwnCurrents, PowerSet, load_part};

const CAP: &str = "name = \"NAME\"\ntitle = \"t\"\n[capacitor]\ncapacitance_f = 1.0\ntolerance_rel = 0.1\nesr_ohm = 1.0\n\
                   v_rated_v = 5.0\nleakage_uA = 1.0\nsource = \"s\"\n";

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

/// A folder of the test's own, removed with it.
struct Own(PathBuf);

impl Own {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("sunseal-library-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("parts")).unwrap();
        Self(path)
    }

    fn put(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).unwrap();
    }

    fn library(&self) -> Library {
        Library::new(vec![self.0.clone()], data())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_room_comes_before_what_is_loose_and_both_before_the_package() {
    let own = Own::new("order");
    let cap = CAP.replace("NAME", "capxx-hw203");
    let farads = || {
        let part: CapacitorPart =
            load_part(own.library().room("parts"), "capxx-hw203", "capacitor").unwrap();
        part.capacitance_f
    };
    let packages = farads();
    own.put("capxx-hw203.toml", &cap.replace("= 1.0\ntol", "= 7.0\ntol"));
    assert_eq!(farads(), 7.0);
    own.put("parts/capxx-hw203.toml", &cap.replace("= 1.0\ntol", "= 8.0\ntol"));
    assert_eq!(farads(), 8.0);
    assert_ne!(packages, 7.0);
}

#[test]
fn a_table_is_laid_over_its_base_and_one_of_another_part_replaces_it() {
    let own = Own::new("lay");
    own.put("parts/base.toml", &CAP.replace("NAME", "base"));
    own.put("a.toml", "name = \"a\"\nextends = \"base\"\n[capacitor]\nleakage_uA = 2.0\n");
    let parts = own.library().room("parts");
    let part: CapacitorPart = load_part(&parts, "a", "capacitor").unwrap();
    assert_eq!((part.leakage_ua, part.esr_ohm), (2.0, 1.0));
    let boards = own.library().room("boards");
    own.put("b.toml", "name = \"b\"\nextends = \"telosb\"\n[radio]\npart = \"cc2500\"\n");
    let (_, board) = boards.read("b").unwrap();
    assert_eq!(board["radio"].as_table().unwrap().len(), 1, "the wires were another radio's");
    own.put("b.toml", "name = \"b\"\nextends = \"telosb\"\n[radio]\nfifo = \"P1.7\"\n");
    let (_, board) = boards.read("b").unwrap();
    assert_eq!(board["radio"]["part"].as_str(), Some("cc2420"));
    assert_eq!(board["radio"]["fifo"].as_str(), Some("P1.7"));
}

#[test]
fn what_extends_itself_or_is_not_there_is_told_with_its_file() {
    let own = Own::new("ring");
    own.put("parts/a.toml", "name = \"a\"\nextends = \"b\"\n");
    own.put("parts/b.toml", "name = \"b\"\nextends = \"a\"\n");
    own.put("parts/c.toml", "name = \"c\"\nextends = \"gone\"\n");
    let parts = own.library().room("parts");
    let said =
        |name: &str| load_part::<CapacitorPart>(&parts, name, "capacitor").unwrap_err().to_string();
    assert!(said("a").contains("extends itself: a extends b extends a"), "{}", said("a"));
    let places = [own.0.join("parts"), own.0.clone(), data().join("parts")];
    for text in [said("c"), said("nowhere")] {
        assert!(places.iter().all(|p| text.contains(&p.display().to_string())), "{text}");
    }
    // A name is no path.
    assert!(parts.find("../boards/telosb").is_none() && parts.find("").is_none());
}

#[test]
fn a_key_that_no_part_has_and_a_wrong_name_are_refused() {
    let own = Own::new("keys");
    own.put("parts/a.toml", &format!("colour = \"red\"\n{}", CAP.replace("NAME", "a")));
    own.put("parts/b.toml", &CAP.replace("NAME", "a"));
    let parts = own.library().room("parts");
    let said =
        |name: &str| load_part::<CapacitorPart>(&parts, name, "capacitor").unwrap_err().to_string();
    assert!(said("a").contains("`colour` is no key of a part"), "{}", said("a"));
    assert!(said("b").contains("it must be the file's name, \"b\""), "{}", said("b"));
}

#[test]
fn a_room_lists_loose_files_that_belong_to_it() {
    let own = Own::new("list");
    own.put("a.toml", &CAP.replace("NAME", "a"));
    own.put("b.toml", "name = \"b\"\nextends = \"a\"\n");
    own.put("c.toml", "name = \"c\"\nextends = \"telosb\"\n");
    own.put("d.toml", "name = \"day\"\nboard = \"telosb\"\n");
    own.put("e.toml", "no toml");
    let (parts, boards) =
        (own.library().room("parts").names(), own.library().room("boards").names());
    let has = |names: &[String], name: &str| names.iter().any(|n| n == name);
    assert_eq!(
        ["a", "b", "c", "d", "e"].map(|n| has(&parts, n)),
        [true, true, false, false, false]
    );
    assert_eq!(
        ["a", "b", "c", "d", "e"].map(|n| has(&boards, n)),
        [false, false, true, false, false]
    );
    assert!(has(&parts, "cc2420") && has(&boards, "telosb"));
}

#[test]
fn a_power_set_of_one_s_own_extends_the_package_s() {
    let own = Own::new("power");
    let text = std::fs::read_to_string(data().join("power/msp430f5438a-mane2014.toml")).unwrap();
    assert!(text.contains("extends = \"msp430f5438a-datasheet\""));
    own.put("ours.toml", &text.replace("name = \"msp430f5438a-mane2014\"", "name = \"ours\""));
    let set = PowerSet::load(own.library().room("power"), "ours", "msp430f5438a").unwrap();
    assert_eq!(set.base().map(|b| b.name.as_str()), Some("msp430f5438a-datasheet"));
}

const CHARGER: &str = "mppt_percent = 80\nv_in_min_mV = 100\np_min_uW = 5\ncold_v_in_min_mV = 330\ncold_p_min_uW = 5\ncold_efficiency_percent = 5\ncold_until_V = 1.7\nv_ov_V = 4.2\nv_ok_rising_V = 2.8\nv_ok_falling_V = 2.4\nv_in_default_V = 1.2\nsource = \"s\"\nefficiency = { v_V = [1], current_mA = [1], percent = [[80]] }\n";
const CONVERTER: &str =
    "kind = \"linear\"\ndropout_mV = 20\nv_start_V = 2\nv_in_min_V = 2\nsource = \"s\"\n";

/// A folder of one's own with parts of these names.
fn halves(folder: &str, files: &[(&str, String)]) -> (Own, Room) {
    let own = Own::new(folder);
    for (name, text) in files {
        own.put(
            &format!("parts/{name}.toml"),
            &format!("name = \"{name}\"\ntitle = \"t\"\n{text}"),
        );
    }
    let room = own.library().room("parts");
    (own, room)
}

fn two_halves(whole: f64) -> String {
    format!(
        "[chip]\nquiescent_nA = {whole}\nsource = \"s\"\n[charger]\nquiescent_nA = 400\nasleep_nA = 300\n{CHARGER}[converter]\nquiescent_uA = 0.1\nshutdown_uA = 0.02\n{CONVERTER}"
    )
}

fn lone() -> [(&'static str, String); 2] {
    [
        ("lone", format!("[charger]\nquiescent_nA = 330\n{CHARGER}")),
        ("ldo", format!("[converter]\nquiescent_uA = 0.025\nshutdown_uA = 0.003\n{CONVERTER}")),
    ]
}

/// Own currents in nanoamperes, as the sheets print them.
fn own(room: &Room, charger: &str, converter: &str) -> [f64; 4] {
    let o = OwnCurrents::of(room, Some(charger), Some(converter)).unwrap();
    [o.lit_a, o.dark_a, o.on_a, o.off_a].map(|a| (a * 1e12).round() / 1e3)
}

#[test]
fn half_a_chip_costs_the_whole_of_it() {
    let [a, b] = lone();
    let (_own, room) = halves("halves", &[a, b, ("both", two_halves(500.0))]);
    assert_eq!(own(&room, "both", "both"), [400.0, 300.0, 100.0, 20.0]);
    assert_eq!(own(&room, "lone", "ldo"), [330.0, 330.0, 25.0, 3.0]);
    // The other half of each chip is there, too: its charger with nothing at its input, its converter disabled.
    assert_eq!(own(&room, "lone", "both"), [630.0, 630.0, 100.0, 20.0]);
    assert_eq!(own(&room, "both", "ldo"), [420.0, 320.0, 25.0, 3.0]);
}

#[test]
fn halves_that_are_not_the_whole_are_refused() {
    for (text, want) in [
        (two_halves(600.0), "less than the 600 nA"),
        (two_halves(480.0), "more than the 480 nA"),
        (two_halves(500.0).replacen("[chip]", "[tolerance]", 1), "no table [chip]"),
    ] {
        let (_own, room) = halves("not-whole", &[("both", text)]);
        let told = OwnCurrents::of(&room, Some("both"), Some("both")).unwrap_err().to_string();
        assert!(told.contains(want), "{told}");
    }
    let (_own, room) = halves(
        "one-half",
        &[("ldo", format!("[chip]\nquiescent_nA = 25\nsource = \"s\"\n{}", lone()[1].1))],
    );
    let told = OwnCurrents::of(&room, None, Some("ldo")).unwrap_err().to_string();
    assert!(told.contains("which is for a file with [charger] and [converter]"), "{told}");
}
