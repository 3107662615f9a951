// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of data/power and data/parts, and what happens to files that are not sound.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sunseal_power::{
    CapacitorPart, CellPart, ChargerPart, Clock, ConverterPart, HarvesterPart, Level, Limits,
    PanelPart, PeripheralPart, PowerModel, PowerSet, load_part,
};
use sunseal_trace::{Ledger, OperatingPoint, Picos, SpanKey, Vocabulary};

fn data(room: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(room)
}

fn model(name: &str) -> PowerModel {
    let dir = data("power");
    let cpu = PowerSet::load(&dir, name, "msp430f5438a").unwrap();
    let radio = PowerSet::load(&dir, "cc2500-datasheet", "cc2500").unwrap();
    PowerModel::new(vec![cpu, radio]).unwrap()
}

fn point(mhz: u32, vcore: u8) -> OperatingPoint {
    OperatingPoint { mclk_hz: mhz * 1_000_000, smclk_hz: 1_000_000, aclk_hz: 32_768, vcore }
}

#[test]
fn the_datasheet_set_gives_the_printed_figures_back() {
    let m = model("datasheet");
    let a = |state: &str, mhz, vcore, v| {
        m.current_a("cpu", state, &point(mhz, vcore), v).unwrap().value.typ
    };
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} {y}");
    close(a("active.flash", 8, 0, 3.0), 1.84e-3);
    close(a("active.flash", 25, 3, 3.0), 8.90e-3);
    close(a("active.ram", 20, 2, 3.0), 2.82e-3);
    // Between 8 and 12 MHz of level 1, a quarter of the way.
    close(a("active.flash", 9, 1, 3.0), 2.08e-3 + 0.25 * (3.10e-3 - 2.08e-3));
    close(a("lpm0", 1, 0, 2.2), 69e-6);
    close(a("lpm4", 8, 3, 3.0), 1.3e-6);
    // ACLK from REFO costs IREFO more than from the VLO.
    close(a("lpm3", 8, 0, 3.0), 4.2e-6);
    let vlo = OperatingPoint { aclk_hz: 9_400, ..point(8, 0) };
    close(m.current_a("cpu", "lpm3", &vlo, 3.0).unwrap().value.typ, 1.2e-6);
    // One minimum is what the table's note says: no row is priced below its typical current.
    let i = m.current_a("cpu", "active.flash", &point(25, 3), 3.0).unwrap().value;
    close(i.high, 9.60e-3);
}

#[test]
fn without_a_regulator_the_current_grows_with_the_supply() {
    // SLAS368G: 500 uA at 1 MHz and 3 V, 330 uA at 2.2 V (front page), in proportion to the clock.
    let cpu = PowerSet::load(&data("power"), "datasheet", "msp430f1611").unwrap();
    let a = |state: &str, mhz, v| cpu.current_a("cpu", state, &point(mhz, 0), v).unwrap().value;
    let close = |x: f64, y: f64, rel: f64| assert!((x / y - 1.0).abs() < rel, "{x} {y}");
    close(a("active.flash", 1, 3.0).typ, 500e-6, 1e-9);
    close(a("active.flash", 4, 3.0).typ, 2.0e-3, 1e-9);
    close(a("active.flash", 1, 2.2).typ, 330e-6, 0.01);
    close(a("active.flash", 1, 3.6).typ, 500e-6 + 0.6 * 210e-6, 1e-9);
    close(a("lpm3", 1, 2.2).typ, 1.3e-6, 1e-9);
    close(a("lpm0", 1, 3.0).typ, 75e-6, 1e-9);
    assert!(a("active.flash", 1, 3.0).high >= 600e-6);
}

#[test]
fn the_feature_list_follows_from_the_table() {
    // Front page of SLAS655H: 230 uA/MHz from flash and 110 uA/MHz from RAM at 8 MHz, 3.0 V.
    let m = model("datasheet");
    for (state, per_mhz) in [("active.flash", 230e-6), ("active.ram", 110e-6)] {
        let i = m.current_a("cpu", state, &point(8, 0), 3.0).unwrap().value.typ;
        assert!((i / 8.0 / per_mhz - 1.0).abs() < 0.01, "{state} {i}");
    }
}

#[test]
fn the_paper_names_the_set_it_falls_back_to() {
    let m = model("mane2014");
    let own = m.current_a("cpu", "active.flash", &point(8, 0), 2.7).unwrap();
    assert_eq!((own.set.as_str(), own.fallback), ("msp430f5438a-mane2014", false));
    let lent = m.current_a("cpu", "lpm3", &point(8, 0), 2.7).unwrap();
    assert_eq!((lent.set.as_str(), lent.fallback), ("msp430f5438a-datasheet", true));
    assert!(lent.source.contains("SLAS655H"));
}

/// Each figure's distance from its typical value to its upper end, as a share of it.
fn spreads(at: &sunseal_data::Value, found: &mut Vec<f64>) {
    let number = |v: &sunseal_data::Value| v.as_float().or(v.as_integer().map(|i| i as f64));
    match at {
        sunseal_data::Value::Array(all) => all.iter().for_each(|v| spreads(v, found)),
        sunseal_data::Value::Table(t) => {
            for (key, value) in t {
                let Some(typ) = number(value).filter(|typ| key.starts_with("typ_") && *typ > 0.0)
                else {
                    spreads(value, found);
                    continue;
                };
                let most = t.get(&key.replace("typ_", "max_")).and_then(number);
                let rel = t.get("uncertainty_rel").and_then(number);
                found.push(most.map_or(0.0, |most| most / typ - 1.0).max(rel.unwrap_or(0.0)));
            }
        }
        _ => {}
    }
}

#[test]
fn a_figure_recalled_or_assumed_is_never_sure() {
    let mut seen = [0; 2];
    for file in std::fs::read_dir(data("power")).unwrap() {
        let path = file.unwrap().path();
        let set: sunseal_data::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        for list in ["current", "event"].map(|k| set.get(k).and_then(|l| l.as_array())) {
            for row in list.into_iter().flatten() {
                let source = &set["source"][row["source"].as_str().unwrap()];
                let Some(mark) =
                    ["recalled", "assumed"].iter().position(|m| source.get(m).is_some())
                else {
                    continue;
                };
                let mut found = Vec::new();
                spreads(row, &mut found);
                assert!(
                    found.iter().all(|rel| *rel >= 0.05),
                    "{}: {found:?} of {row}",
                    path.display()
                );
                seen[mark] += found.len();
            }
        }
    }
    assert!(seen[0] > 100 && seen[1] > 10, "{seen:?}");
}

#[test]
fn assumptions_and_recalled_figures_are_told_apart() {
    let at = point(3, 0);
    let set = PowerSet::load(&data("power"), "msp432p401r-datasheet", "msp432p401r").unwrap();
    let aes = set.current_a("aes256", "on", &at, 3.0).unwrap();
    assert!(aes.assumed && !aes.recalled);
    let cpu = set.current_a("cpu", "active.flash", &at, 3.0).unwrap();
    assert!(cpu.recalled && !cpu.assumed);
    let (mut l, mut v) = (Ledger::new(), Vocabulary::new());
    for (component, state) in [("cpu", "active.flash"), ("aes256", "on")] {
        let (component, state) = (v.component(component), v.state(state));
        let time = Picos::of_ticks(3_000, 3_000_000);
        l.add_span(SpanKey { component, state, point: at }, 3_000, time);
    }
    let b = PowerModel::new(vec![set]).unwrap().weigh(&l, &v, 3.0, Clock::AsRun).unwrap();
    assert_eq!(
        (b.unchecked, b.assumed),
        (vec!["cpu.active.flash".into()], vec!["aes256.on".into()])
    );
}

#[test]
fn a_missing_coefficient_is_an_error_with_an_address() {
    let m = model("datasheet");
    let text = m.current_a("cpu", "lpm7", &point(8, 0), 3.0).unwrap_err().to_string();
    assert!(
        text.contains("msp430f5438a-datasheet.toml")
            && text.contains("\"lpm7\"")
            && text.contains("lpm3"),
        "{text}"
    );
    let text = m.current_a("dma", "on", &point(8, 0), 3.0).unwrap_err().to_string();
    assert!(text.contains("component \"dma\"") && text.contains("[[current]]"), "{text}");
    let text = m.event_j("flash.polish", 3.0).unwrap_err().to_string();
    assert!(text.contains("event \"flash.polish\"") && text.contains("[[event]]"), "{text}");
    let text = m.current_a("cpu", "active.flash", &point(12, 0), 3.0).unwrap_err().to_string();
    assert!(text.contains("ends at 8 MHz for core voltage level 0, and 12 MHz"), "{text}");
    let text = PowerSet::load(&data("power"), "mane2015", "msp430f5438a").unwrap_err().to_string();
    assert!(text.contains("nearest of") && text.contains("msp430f5438a-mane2014"), "{text}");
}

#[test]
fn two_sets_for_one_component_are_refused() {
    let dir = data("power");
    let a = PowerSet::load(&dir, "datasheet", "msp430f5438a").unwrap();
    let b = PowerSet::load(&dir, "mane2014", "msp430f5438a").unwrap();
    let text = PowerModel::new(vec![a, b]).unwrap_err().to_string();
    assert!(text.contains("both speak for component"), "{text}");
}

#[test]
fn files_that_are_not_sound_say_where() {
    let head = "[set]\nname = \"x\"\ntitle = \"\"\ndevice = \"d\"\ncite = \"\"\n[source.s]\ndocument = \"D\"\nplace = \"P\"\n";
    let cases = [
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"constant\"\nsource = \"s\"\ntyp_ma = 1.0\n",
            "no uncertainty",
        ),
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"zero\"\nsource = \"s\"\n",
            "zero without a reason",
        ),
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"constant\"\nsource = \"t\"\ntyp_ma = 1.0\nmax_ma = 2.0\n",
            "source \"t\"",
        ),
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"constant\"\nsource = \"s\"\ntyp_ma = 1.0\ntyp_ua = 2.0\nmax_ma = 2.0\n",
            "two units",
        ),
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"constant\"\nsource = \"s\"\ntyp_ma = 3.0\nmax_ma = 2.0\n",
            "maximum below",
        ),
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"table\"\nsource = \"s\"\nvcc_v = 3.0\n",
            "no rows",
        ),
        (
            "[[current]]\ncomponent = \"cpu\"\nstate = \"on\"\nlaw = \"constant\"\nsource = \"s\"\ntyp_mw = 3.0\n",
            "unknown field `typ_mw`",
        ),
        ("[[event]]\nevent = \"e\"\nsource = \"s\"\ntyp_nj = 3.0\n", "with uncertainty_rel"),
    ];
    for (body, want) in cases {
        let text =
            PowerSet::parse(&format!("{head}{body}"), Path::new("x.toml")).unwrap_err().to_string();
        assert!(text.contains("x.toml") && text.contains(want), "{text} should say {want}");
    }
    let twice = "[[current]]\ncomponent = \"cpu\"\nstate = \"off\"\nlaw = \"zero\"\nsource = \"s\"\nreason = \"r\"\n";
    let text = PowerSet::parse(&format!("{head}{twice}{twice}"), Path::new("x.toml"))
        .unwrap_err()
        .to_string();
    assert!(text.contains("twice"), "{text}");
    let text = PowerSet::parse(head, Path::new("y.toml")).unwrap_err().to_string();
    assert!(text.contains("it must be the file's name"), "{text}");
}

#[test]
fn what_the_papers_print_of_cells_follows_from_their_curves() {
    let dir = data("parts");
    let above = |part: &str, v: f64| {
        let c: CellPart = load_part(&dir, part, "cell").unwrap();
        let s = c.store(25.0).unwrap();
        let e = |v: f64| s.energy_j(&s.at_rest(v));
        (e(c.v_full_v()), e(c.v_full_v()) - e(v))
    };
    // Piotrowski 2006, section 4: 21600 Ws, 6750 above 2.8 V; CR2354: 5500 and 4400 Ws.
    let (all, top) = above("two-aa-piotrowski2006", 2.8);
    assert!((all - 21_600.0).abs() < 1e-6 && (top - 6750.0).abs() < 1e-3, "{all} {top}");
    let (all, top) = above("panasonic-cr2354", 2.8);
    assert!((all / 5500.0 - 1.0).abs() < 0.04 && (top / 4400.0 - 1.0).abs() < 0.06, "{all} {top}");
    // The datasheet's curve is not the straight line: less lies above 2.8 V.
    let (all, top) = above("two-aa-energizer-e91", 2.8);
    assert!(top / all < 0.3125, "{all} {top}");
}

#[test]
fn zubietas_capacitor_keeps_a_part_of_its_charge_in_slow_branches() {
    let c: CapacitorPart = load_part(&data("parts"), "maxwell-boostcap-470", "capacitor").unwrap();
    let s = c.store(25.0, false).unwrap();
    // The rated 470 F are the immediate branch at some 1.1 V: 270 + 190 V.
    assert_eq!(s.branches.len(), 3);
    let full = s.energy_j(&s.at_rest(2.3));
    let slow = 0.5 * 320.0 * 2.3 * 2.3;
    assert!((slow / full - 0.35).abs() < 0.02, "{}", slow / full);
    let ceramic: CapacitorPart =
        load_part(&data("parts"), "ceramic-100u-x5r", "capacitor").unwrap();
    let at = |plain| ceramic.store(25.0, plain).unwrap().mean_capacitance_f(1.8, 3.6);
    assert!(at(false) < 0.8 * at(true), "{} {}", at(false), at(true));
}

/// The energy of a capacitor at a voltage: the integral of C(v) v dv over what its data sheet prints.
fn energy_by_hand(c: &CapacitorPart, v: f64) -> f64 {
    let at = |u: f64| {
        if let [first, ..] = c.derating[..] {
            let after = c.derating.iter().position(|p| p[0] >= u).unwrap_or(c.derating.len() - 1);
            let (b, a) = (c.derating[after], c.derating[after.saturating_sub(1)]);
            let share =
                if b[0] > a[0] { ((u - a[0]) / (b[0] - a[0])).clamp(0.0, 1.0) } else { 0.0 };
            let percent = if u <= first[0] { first[1] } else { a[1] + share * (b[1] - a[1]) };
            return c.capacitance_f * percent / 100.0;
        }
        match &c.branch[..] {
            [] => c.capacitance_f,
            all => all.iter().map(|b| b.capacitance_f + b.capacitance_f_per_v * u).sum(),
        }
    };
    const STEPS: u32 = 20_000;
    let h = v / f64::from(STEPS);
    (0..STEPS).map(|n| (f64::from(n) + 0.5) * h).map(|u| at(u) * u * h).sum()
}

fn check_cell(c: &CellPart, part: &str) {
    let store = c.store(25.0).unwrap();
    let full = store.energy_j(&store.at_rest(c.v_full_v()));
    // Between 2 and 3.9 V a cell, or 1 and 1.6 for an alkaline one.
    let mean_v = full / (c.capacity_mah * 3.6);
    assert!(mean_v > c.v_end_v && mean_v < c.v_full_v(), "{part} {mean_v}");
    let cold = c.store(-10.0).unwrap();
    let most = |s: &sunseal_power::Store| s.energy_j(&s.at_rest(c.v_full_v()));
    assert!(
        most(&cold) <= full && cold.open(&cold.at_rest(3.0)).1 >= store.open(&store.at_rest(3.0)).1
    );
}

fn check_capacitor(c: &CapacitorPart, part: &str) {
    assert!(c.capacitance_f > 0.0 && c.esr_ohm > 0.0 && c.leak_ohm() > 5e3, "{part}");
    let (own, plain) = (c.store(25.0, false).unwrap(), c.store(25.0, true).unwrap());
    let held = |s: &sunseal_power::Store| s.energy_j(&s.at_rest(c.v_rated_v));
    let expected = energy_by_hand(c, c.v_rated_v);
    assert!((held(&own) / expected - 1.0).abs() < 1e-5, "{part} {} {expected}", held(&own));
    let half_cv2 = c.capacitance_f * c.v_rated_v * c.v_rated_v / 2.0;
    assert!((held(&plain) / half_cv2 - 1.0).abs() < 1e-12, "{part}");
    let warm = c.store(45.0, false).unwrap().branches[0].leak_ohm;
    assert_eq!(warm < own.branches[0].leak_ohm, c.leakage_doubles_k.is_some(), "{part}");
}

#[test]
fn every_part_loads_as_what_it_is() {
    let dir = data("parts");
    let mut kinds = [0; 9];
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let part = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let has = |kind: &str| text.contains(&format!("[{kind}]"));
        if has("charger") {
            let c: ChargerPart = load_part(&dir, &part, "charger").unwrap();
            c.charger().unwrap();
            assert!(c.v_ok_falling_v < c.v_ok_rising_v && c.v_ok_rising_v < c.v_ov_v, "{part}");
            kinds[4] += 1;
        }
        if has("converter") {
            let c: ConverterPart = load_part(&dir, &part, "converter").unwrap();
            c.output(3.0, Some(2.8)).unwrap();
            kinds[5] += 1;
        }
        if has("cell") {
            check_cell(&load_part(&dir, &part, "cell").unwrap(), &part);
            kinds[6] += 1;
        } else if has("capacitor") {
            check_capacitor(&load_part(&dir, &part, "capacitor").unwrap(), &part);
            kinds[0] += 1;
        } else if has("harvester") {
            let h: HarvesterPart = load_part(&dir, &part, "harvester").unwrap();
            assert!(h.v_cut_v < h.v_on_v && h.v_on_v < h.v_max_v, "{part}");
            kinds[1] += 1;
        } else if has("panel") {
            let p: PanelPart = load_part(&dir, &part, "panel").unwrap();
            // By its figures at the standard light, or by points.
            let whole = p.v_mp_v < p.v_oc_v && p.i_mp_ma < p.i_sc_ma;
            assert!(whole || !p.point.is_empty(), "{part}");
            assert!(p.point.iter().all(|q| q.v_mp_v < q.v_oc_v && q.i_mp_ua < q.i_sc_ua), "{part}");
            kinds[2] += 1;
        } else if has("fpga") {
            // Its wires are sunseal-hdl's; each of its supplies has a power set, made for it.
            let f: sunseal_data::Table = load_part(&dir, &part, "fpga").unwrap();
            for rail in f["rail"].as_array().unwrap() {
                let set = rail["power_set"].as_str().unwrap();
                let set = PowerSet::load(&data("power"), set, &part).unwrap();
                let on = set.current_a("coprocessor", "on", &point(8, 0), 3.0).unwrap();
                assert!(on.value.low > 0.0 && set.event_j("coprocessor.toggle", 1.2).is_ok());
            }
            kinds[7] += 1;
        } else if has("peripheral") {
            let p: PeripheralPart = load_part(&dir, &part, "peripheral").unwrap();
            assert!(p.vcc_min_v < p.vcc_max_v && p.current_ua.values().all(|i| *i > 0.0), "{part}");
            assert_eq!(p.buses.iter().any(|b| b == "i2c"), !p.addresses.is_empty(), "{part}");
            kinds[8] += 1;
        } else if !has("charger") && !has("converter") {
            // What is in it is read by sunseal-radio.
            let r: sunseal_data::Table = load_part(&dir, &part, "radio").unwrap();
            let chip = r.get("device").unwrap_or(&r["model"]);
            assert_eq!(chip.as_str(), Some(part.as_str()));
            kinds[3] += 1;
        }
    }
    assert!(kinds.iter().all(|k| *k > 0), "{kinds:?}");
    let text = load_part::<CapacitorPart>(&dir, "cc2500", "capacitor").unwrap_err().to_string();
    assert!(text.contains("is not a capacitor: it has no table [capacitor] but radio"), "{text}");
    let text = load_part::<CapacitorPart>(&dir, "hw204", "capacitor").unwrap_err().to_string();
    assert!(text.contains("capxx-hw203"), "{text}");
}

fn limits() -> Limits {
    let level =
        |vcore, mhz: u32, vcc_min_v| Level { vcore, mclk_max_hz: mhz * 1_000_000, vcc_min_v };
    let levels = vec![level(0, 8, 1.8), level(1, 12, 2.0), level(2, 20, 2.2), level(3, 25, 2.4)];
    Limits { levels, vcc_max_v: 3.6 }
}

/// Some work at 8 MHz, some sleep.
fn ledger(busy: u64, asleep_us: u64) -> (Ledger, Vocabulary) {
    let (mut l, mut v) = (Ledger::new(), Vocabulary::new());
    let cpu = v.component("cpu");
    let mut add = |state, cycles, time| {
        l.add_span(SpanKey { component: cpu, state, point: point(8, 0) }, cycles, time);
    };
    add(v.state("active.flash"), busy, Picos::of_ticks(busy, 8_000_000));
    add(v.state("lpm3"), 0, Picos(1_000_000) * asleep_us);
    (l, v)
}

#[test]
fn a_curve_leaves_out_what_is_not_legal() {
    let (l, v) = ledger(2_000_000, 0);
    let curve = model("mane2014")
        .curve(&l, &v, &limits(), &[2.0, 2.7], &[3_000_000, 12_000_000, 14_000_000])
        .unwrap();
    let pairs: Vec<_> = curve.iter().map(|p| (p.vcc_v, p.mclk_hz / 1_000_000, p.vcore)).collect();
    assert_eq!(pairs, [(2.0, 3, 0), (2.0, 12, 1), (2.7, 3, 0), (2.7, 12, 1), (2.7, 14, 2)]);
    assert!((curve[4].time_s - 2.0 / 14.0).abs() < 1e-12);
    let err =
        model("mane2014").reweigh(&l, &v, &limits(), 2.0, 14_000_000).unwrap_err().to_string();
    assert!(err.contains("needs at least 2.2 V"), "{err}");
}

#[test]
fn the_same_counts_at_the_same_point_cost_the_same() {
    let (l, v) = ledger(2_000_000, 5_000_000);
    let m = model("datasheet");
    let as_run = m.weigh(&l, &v, 3.0, Clock::AsRun).unwrap();
    let again = m.reweigh(&l, &v, &limits(), 3.0, 8_000_000).unwrap();
    assert!((as_run.total_j.typ / again.total_j.typ - 1.0).abs() < 1e-9);
    assert_eq!(as_run.cycles, 2_000_000);
    assert!((as_run.time_s - 5.25).abs() < 1e-9);
    assert_eq!(as_run.by_component().len(), 1);
    assert_eq!(as_run.by_state().keys().collect::<Vec<_>>(), ["cpu.active.flash", "cpu.lpm3"]);
}

proptest! {
    #[test]
    fn weighing_is_linear_in_the_ledger(a in 1u64..10_000_000, b in 1u64..10_000_000, sleep in 0u64..10_000_000) {
        let m = model("datasheet");
        let ((mut l, v), (r, _)) = (ledger(a, sleep), ledger(b, sleep));
        let e = |l: &Ledger| m.weigh(l, &v, 3.0, Clock::AsRun).unwrap().total_j.typ;
        let sum = e(&l) + e(&r);
        l.merge(&r);
        prop_assert!((e(&l) / sum - 1.0).abs() < 1e-9);
    }

    #[test]
    fn intervals_hold_their_typical_value_at_every_legal_point(mhz in 1u32..=25, v in 1.8f64..3.6) {
        let (l, vocabulary) = ledger(1000, 1000);
        for name in ["datasheet", "mane2014"] {
            if let Ok(b) = model(name).reweigh(&l, &vocabulary, &limits(), v, mhz * 1_000_000) {
                prop_assert!(b.total_j.low <= b.total_j.typ && b.total_j.typ <= b.total_j.high);
                prop_assert!(b.total_j.low > 0.0);
            }
        }
    }
}
