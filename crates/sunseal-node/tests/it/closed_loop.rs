// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop with programs of a few words.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::{
    self, FOREVER, LPM3, RELEASE_RADIO, SILENCE_RADIO, STOP_WATCHDOG, data, program, program_with,
};
use sunseal_node::{Activity, Node, NodeError, RunRecord, Scenario};
use sunseal_power::HarvestTrace;

fn busy() -> Vec<u16> {
    let mut words = STOP_WATCHDOG.to_vec();
    words.push(FOREVER);
    words
}

fn sleeper() -> Vec<u16> {
    let mut words = STOP_WATCHDOG.to_vec();
    words.extend(SILENCE_RADIO);
    words.extend(RELEASE_RADIO);
    words.extend(LPM3);
    words.push(FOREVER);
    words
}

fn scenario(name: &str, words: &[u16], more: &str) -> Scenario {
    let elf = program(name, words);
    let text =
        format!("name = \"{name}\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {elf:?}\n{more}");
    Scenario::parse(&text, "test").unwrap()
}

fn run(s: Scenario) -> RunRecord {
    Node::new(&data(), s, None).unwrap().run(&mut |_| true).unwrap()
}

#[test]
fn a_busy_node_runs_down_is_cut_off_and_comes_back_with_the_light() {
    // 1 mF: each life is short. 2 mW of light against about 1 mW of load and losses.
    let more = "duration_s = 60\n[supply]\ncapacitance_f = 1e-3\noverhead_j = 1e-4\ninitial_v = 3.0\n[harvest]\nconstant_w = 4e-4\n";
    let r = run(scenario("busy", &busy(), more));
    assert!(r.finished && (r.simulated_s - 60.0).abs() < 1e-5, "{}", r.simulated_s);
    assert!(r.brown_outs >= 2, "{}", r.brown_outs);
    assert!(r.starts == r.brown_outs || r.starts == r.brown_outs + 1);
    assert_eq!(r.brown_outs as usize, r.brown_out_cycles.len());
    assert!(r.brown_out_cycles.is_sorted());
    assert!(r.energy.balance_rel < 1e-6, "{}", r.energy.balance_rel);
    assert!(r.energy.loop_over_ledger_rel.abs() < 1e-6, "{}", r.energy.loop_over_ledger_rel);
    // Every life ends at the cut-off and begins at the restart voltage.
    let v = |kind: &str| -> Vec<f64> {
        let of = r.events.iter().filter(|e| e.kind == kind);
        of.map(|e| {
            e.text.split("store at ").nth(1).unwrap().trim_end_matches(" V").parse().unwrap()
        })
        .collect()
    };
    assert!(v("brown-out").iter().all(|v| (v - 1.9).abs() < 2e-3), "{:?}", v("brown-out"));
    // The overhead of 0.1 mJ leaves 2.6 V at once.
    let after = (2.6f64 * 2.6 - 0.2).sqrt();
    assert!(v("on")[1..].iter().all(|v| (v - after).abs() < 2e-3), "{:?}", v("on"));
    let time: f64 = r.time_by_doing_s.values().sum();
    assert!((time - r.simulated_s).abs() < 1e-6);
    assert!(r.time_by_doing_s[&Activity::Compute] > 1.0 && r.time_by_doing_s[&Activity::Off] > 1.0);
    assert_eq!(r.series.len(), 2000);
}

#[test]
fn the_cut_is_at_the_cycle_where_the_energy_ends() {
    let more = "duration_s = 30\n[supply]\ncapacitance_f = 1e-3\noverhead_j = 0\ninitial_v = 3.0\nleak_ohm = 1e9\nesr_ohm = 0.001\n";
    let r = run(scenario("cut", &busy(), more));
    assert_eq!(r.brown_outs, 1);
    // By hand: C/2 (3.0^2 - 1.9^2) less 2 ms of start, over the power drawn, times the clock.
    let clock = r.energy.load.items.iter().find(|i| i.name == "active.flash").unwrap();
    let s = &r.energy.supply;
    let drawn_w = 6e-6
        + r.energy
            .load
            .items
            .iter()
            .filter(|i| i.time_s > 0.1 && i.coefficient.typ > 0.0)
            .map(|i| i.coefficient.typ)
            .sum::<f64>()
            * 2.8
            / 0.85;
    let available_j = 0.5e-3 * (9.0 - 1.9 * 1.9) - s.leak_j;
    let expect = available_j / drawn_w * f64::from(clock.mclk_hz);
    let got = r.brown_out_cycles[0] as f64;
    assert!((got / expect - 1.0).abs() < 2e-3, "{got} cycles, by hand {expect}");
}

#[test]
fn the_same_seed_gives_the_same_record_and_another_clock_granularity_the_same_cut() {
    let more = |points: u32| {
        format!(
            "duration_s = 20\n[supply]\ncapacitance_f = 1e-3\noverhead_j = 1e-4\ninitial_v = 3.0\n[harvest]\nconstant_w = 4e-4\n[output]\npoints = {points}\n"
        )
    };
    let a = run(scenario("same", &busy(), &more(500)));
    let b = run(scenario("same", &busy(), &more(500)));
    assert_eq!(a, b);
    // Other steps of the loop, the same physics: no cut moves by more than an instruction or two.
    let c = run(scenario("same", &busy(), &more(37)));
    assert_eq!(a.brown_out_cycles.len(), c.brown_out_cycles.len());
    for (x, y) in a.brown_out_cycles.iter().zip(&c.brown_out_cycles) {
        assert!(x.abs_diff(*y) <= 16, "{x} {y}");
    }
    // A life is a move of 5 cycles and jumps of 2: if cuts waited for an instruction's end, all were odd.
    let lives = [&[0][..], &a.brown_out_cycles].concat();
    let inside = lives.windows(2).any(|w| (w[1] - w[0]) % 2 == 0);
    assert!(inside, "{:?}", a.brown_out_cycles);
}

#[test]
fn a_sleeping_node_lives_on_its_store_for_a_day() {
    let more = "duration_s = 86400\n[supply]\ninitial_v = 4.0\n";
    let started = std::time::Instant::now();
    let r = run(scenario("sleeper", &sleeper(), more));
    println!("asleep: {:.0} simulated days a second", 1.0 / started.elapsed().as_secs_f64());
    assert_eq!((r.brown_outs, r.starts), (0, 1));
    assert!(r.energy.balance_rel < 1e-6, "{}", r.energy.balance_rel);
    assert!(r.energy.loop_over_ledger_rel.abs() < 1e-6, "{}", r.energy.loop_over_ledger_rel);
    assert!(r.time_by_doing_s[&Activity::Sleep] > 86_390.0);
    let end = r.series.last().unwrap();
    assert!(end.vcap_v < 3.9 && end.vcap_v > 2.0, "{}", end.vcap_v);
    assert!(r.series.windows(2).all(|w| w[1].vcap_v <= w[0].vcap_v + 1e-12), "it only falls");
}

#[test]
fn a_year_of_darkness_ends_dark() {
    let more = "duration_s = 1e7\n[supply]\ninitial_v = 2.7\n";
    let started = std::time::Instant::now();
    let r = run(scenario("dark", &sleeper(), more));
    println!(
        "dark: {:.0} simulated days a second",
        1e7 / 86_400.0 / started.elapsed().as_secs_f64()
    );
    assert_eq!((r.brown_outs, r.starts), (1, 1));
    assert!(r.energy.balance_rel < 1e-6, "{}", r.energy.balance_rel);
}

#[test]
fn the_light_of_a_trace_is_the_light_that_is_booked() {
    let time: Vec<f64> = (0..=120).map(f64::from).collect();
    let power: Vec<f64> =
        time.iter().map(|t| 1e-3 * (t / 120.0 * std::f64::consts::PI).sin().max(0.0)).collect();
    let trace = HarvestTrace::from_arrays(time, power).unwrap();
    let offered = trace.energy_j();
    let s = scenario("light", &sleeper(), "duration_s = 120\n[supply]\ninitial_v = 3.0\n");
    let r = Node::new(&data(), s, Some(trace)).unwrap().run(&mut |_| true).unwrap();
    assert!((r.energy.supply.panel_j / offered - 1.0).abs() < 1e-9);
    assert!(r.energy.balance_rel < 1e-6);
}

#[test]
fn a_run_that_starts_later_has_the_light_of_then() {
    let power = |t: f64| 1e-3 * (t / 120.0 * std::f64::consts::PI).sin().max(0.0);
    let play = |start_s: f64| {
        let time: Vec<f64> = (0..=120).map(f64::from).filter(|t| *t + start_s <= 120.0).collect();
        let light = time.iter().map(|t| power(t + start_s)).collect();
        let trace = HarvestTrace::from_arrays(time, light).unwrap();
        let more =
            format!("duration_s = 70\nstart_s = {}\n[supply]\ninitial_v = 3.0\n", 50.0 - start_s);
        let s = scenario("later", &sleeper(), &more);
        Node::new(&data(), s, Some(trace)).unwrap().run(&mut |_| true).unwrap()
    };
    let (later, moved) = (play(0.0), play(50.0));
    let (a, b) = (later.energy.supply.panel_j, moved.energy.supply.panel_j);
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}

#[test]
fn the_divider_draws_from_the_store_while_its_pin_is_high() {
    let mut words = STOP_WATCHDOG.to_vec();
    // mov.b #BIT7, &P6OUT ; mov.b #BIT7, &P6DIR
    words.extend([0x40F2, 0x0080, 0x0243, 0x40F2, 0x0080, 0x0245, FOREVER]);
    let more = "duration_s = 10\n[supply]\ninitial_v = 4.0\n[output]\nwindow = [5.0, 5.01]\n";
    let r = run(scenario("divider", &words, more));
    let e = &r.energy;
    let mean = r.series.iter().map(|p| p.vcap_v * p.vcap_v).sum::<f64>() / r.series.len() as f64;
    let expected_j = mean / 200e3 * 10.0;
    assert!((e.divider_j / expected_j - 1.0).abs() < 2e-3, "{} {expected_j}", e.divider_j);
    assert!((e.supply.store_load_j / e.divider_j - 1.0).abs() < 1e-6, "{:?}", e.supply);
    // The window shows what both draw.
    let mean_w = (e.supply.load_j + e.supply.store_load_j) / 10.0;
    let window = r.window.unwrap();
    assert!(!window.load_w.is_empty());
    assert!(window.load_w.iter().all(|w| (w / mean_w - 1.0).abs() < 0.01), "{window:?} {mean_w}");
}

#[test]
fn a_busy_run_is_watched_four_times_a_second() {
    let more = "duration_s = 20\n[supply]\ninitial_v = 4.0\n[output]\npoints = 4\n";
    let mut node = Node::new(&data(), scenario("watched", &busy(), more), None).unwrap();
    let mut at_s = vec![0.0];
    let s = busy_fr5994(
        1.0,
        "capacitor = \"capxx-hw203\"\nharvester = \"anagear-an1010\"\n[output]\npoints = 4",
    );
    let mut fine = Node::new(&data(), s, None).unwrap();
    fine.set_longest_step_s(1e-3);
    fine.run(&mut |_| true).unwrap();
    assert!(fine.steps() >= 1_000, "{} steps of a millisecond", fine.steps());
    node.run(&mut |p| {
        at_s.push(p.simulated_s);
        true
    })
    .unwrap();
    let longest_s = at_s.windows(2).map(|t| t[1] - t[0]).fold(0.0, f64::max);
    assert!(longest_s < 0.251 && node.steps() < 200, "{longest_s} s, {} steps", node.steps());
}

#[test]
fn events_are_drawn_when_they_come_and_meet_the_cut_at_its_cycle() {
    let supply = "harvester = \"anagear-an1010\"\ncapacitor = \"supercap-0f47-branches\"\ncapacitance_f = 2e-4\noverhead_j = 1e-5";
    let play = |duration_s: f64, initial_v: f64, points: u32| {
        let more = format!(
            "{supply}\ninitial_v = {initial_v}\n[harvest]\nconstant_w = 1e-3\n[output]\npoints = {points}"
        );
        let mut node = Node::new(&data(), busy_fr5994(duration_s, &more), None).unwrap();
        let r = node.run(&mut |_| true).unwrap();
        (r, node.steps())
    };
    // Nothing is owed at the end of a short run, and nothing is left beyond a cut.
    let ((short, _), (a, few), (b, many)) =
        (play(0.05, 3.6, 10), play(8.0, 2.7, 3), play(8.0, 2.7, 900));
    for r in [&short, &a, &b] {
        let rel = r.energy.loop_over_ledger_rel;
        assert!(rel.abs() < 1e-13, "{rel:e} with {} brown-outs", r.brown_outs);
    }
    assert!(a.brown_outs > 2 && a.brown_outs == b.brown_outs, "{} {}", a.brown_outs, b.brown_outs);
    for (x, y) in a.brown_out_cycles.iter().zip(&b.brown_out_cycles) {
        assert!(x.abs_diff(*y) <= 64, "{:?} {:?}", a.brown_out_cycles, b.brown_out_cycles);
    }
    // Far from the cut, steps are long.
    assert!(few < 200 && many > few, "{few} and {many} steps");
}

#[test]
fn flash_survives_a_cut_and_ram_does_not() {
    let more = "duration_s = 12\n[supply]\ncapacitance_f = 1e-3\noverhead_j = 1e-4\ninitial_v = 3.0\n[harvest]\nconstant_w = 1e-3\n";
    // cmp #0x1234, &0x1C00 ; jeq to the end ; mov #0x1234, &0x1C00 ; jmp $ ; br #0x0C00, which is a fault.
    let mut words = STOP_WATCHDOG.to_vec();
    words.extend([0x90B2, 0x1234, 0x1C00, 0x2404, 0x40B2, 0x1234, 0x1C00, FOREVER, 0x4030, 0x0C00]);
    let mut node = Node::new(&data(), scenario("ram", &words, more), None).unwrap();
    let flash = node.machine().read_mem(common::CODE, 26).unwrap().to_vec();
    let r = node.run(&mut |_| true).unwrap();
    assert!(r.starts >= 3, "{}", r.starts);
    assert_eq!(node.machine().read_mem(common::CODE, 26).unwrap(), flash);
}

#[test]
fn a_run_that_is_stopped_says_so_and_keeps_what_it_has() {
    let more = "duration_s = 86400\n[supply]\ninitial_v = 4.0\n";
    let mut calls = 0;
    let mut node = Node::new(&data(), scenario("stopped", &sleeper(), more), None).unwrap();
    let r = node
        .run(&mut |_| {
            calls += 1;
            calls < 10
        })
        .unwrap();
    assert!(!r.finished && r.simulated_s < 86_400.0 && !r.series.is_empty());
    assert!(r.energy.balance_rel < 1e-6);
}

#[test]
fn a_bad_scenario_file_is_one_sentence_with_file_and_key() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    program("sound", &busy());
    std::fs::write(
        dir.join("back.csv"),
        "# source: a test\ntime_s,power_w\n0,0\n60,0.001\n30,0.001\n",
    )
    .unwrap();
    let told = |name: &str, more: &str| {
        let path = dir.join(format!("{name}.toml"));
        let head = "name = \"x\"\nboard = \"msp430f5438a-anagear\"\nfirmware = \"sound.elf\"\nduration_s = 60\n";
        std::fs::write(&path, format!("{head}{more}")).unwrap();
        let node = Scenario::load(&path).and_then(|s| Node::new(&data(), s, None));
        let text = node.err().expect("it was taken").to_string();
        assert!(!text.contains('\n') && text.contains(dir.to_str().unwrap()), "{text}");
        text
    };
    // Behind what ends the sentence stands a new line.
    for (name, more, said) in [
        (
            "unknown-key",
            "[supply]\ncapacitance = 1\n",
            "unknown-key.toml: line 6, supply.capacitance: unknown field `capacitance`",
        ),
        (
            "negative",
            "[supply]\ncapacitance_f = -0.5\n",
            "negative.toml: supply.capacitance_f is -0.5; it must be a number above zero\n",
        ),
        (
            "back",
            "[harvest]\ntrace = \"back.csv\"\n",
            "back.csv, line 5: time_s goes from 60 to 30; it must always grow\n",
        ),
        ("gone", "[harvest]\ntrace = \"gone.csv\"\n", "gone.csv"),
        (
            "too-full",
            "[supply]\ninitial_v = 6.0\n",
            "too-full.toml: supply.initial_v is 6; the store lies between 0 and 5 V\n",
        ),
        (
            "too-low",
            "[power]\nvcc_v = 1.5\n",
            "too-low.toml: power.vcc_v: 1.5 V is below the lowest supply voltage, 1.8 V",
        ),
        (
            "weather",
            "[harvest.sunlight]\nday = \"06-21\"\n",
            "weather.toml: harvest.sunlight is weather, which the engine does not read",
        ),
        ("not-a-node", "[node]\nperiod_s = 60\n", "sound.elf: it has no symbol `node_config`"),
        ("short", "start_s = 100\n[harvest]\ntrace = \"short.csv\"\n", "short.csv"),
    ] {
        let text = told(name, more) + "\n";
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn what_is_not_sound_is_one_sentence() {
    let text = |s: Scenario| match Node::new(&data(), s, None) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("it was taken"),
    };
    let base = "duration_s = 60\n";
    let mut s = scenario("bad", &busy(), base);
    s.board = "msp430f5438a-anagaer".into();
    let t = text(s);
    assert!(t.contains("; boards there are ") && t.contains("msp430f5438a-anagear"), "{t}");
    let mut s = scenario("bad", &busy(), base);
    s.power.set = Some("mane".into());
    assert!(text(s).contains("msp430f5438a-mane2014"));
    let mut s = scenario("bad", &busy(), base);
    s.power.vcc_v = Some(1.5);
    assert!(text(s).contains("1.5 V is below the lowest supply voltage, 1.8 V"));
    let mut s = scenario("bad", &busy(), base);
    s.supply.capacitance_f = Some(0.05);
    assert!(text(s).contains("or a larger capacitor"));
    let mut s = scenario("bad", &busy(), base);
    s.supply.capacitor = Some("cc2500".into());
    assert!(text(s).contains("is not a capacitor"));
    let mut s = scenario("bad", &busy(), base);
    s.firmware = data().join("boards/msp430f5438a-anagear.toml");
    assert!(text(s).starts_with("firmware "));
    let short = HarvestTrace::constant(1e-3, 10.0).unwrap();
    let e =
        Node::new(&data(), scenario("bad", &busy(), base), Some(short)).err().unwrap().to_string();
    assert!(e.contains("the harvest trace ends at 10 s"), "{e}");
    // A program that jumps into nothing: br #0x0C00.
    let mut node = Node::new(&data(), scenario("lost", &[0x4030, 0x0C00], base), None).unwrap();
    let e = node.run(&mut |_| true).unwrap_err();
    assert!(matches!(e, NodeError::Fault { .. }), "{e}");
    assert!(
        e.to_string().contains("0x00c00") || e.to_string().to_lowercase().contains("c00"),
        "{e}"
    );
}

#[test]
fn a_rail_that_is_the_store_is_told_to_the_chip_until_its_brown_out() {
    let more =
        "duration_s = 20\n[supply]\noutput = \"direct\"\ncapacitance_f = 1e-3\ninitial_v = 3.3\n";
    let r = run(scenario("direct", &sleeper_busy(), more));
    assert_eq!((r.starts, r.brown_outs), (1, 1));
    assert!(r.energy.balance_rel < 1e-6, "{}", r.energy.balance_rel);
    assert_eq!(r.energy.supply.converter_j, 0.0);
    // The mean of the rail by charge lies between start and end, and the ledger at it is what was drawn.
    assert!(r.vcc_v > 1.5 && r.vcc_v < 3.3, "{}", r.vcc_v);
    assert!(r.energy.loop_over_ledger_rel.abs() < 0.02, "{}", r.energy.loop_over_ledger_rel);
    let end = r.events.iter().find(|e| e.kind == "brown-out").unwrap();
    assert!(
        end.text.contains("store at 1.79") || end.text.contains("store at 1.80"),
        "{}",
        end.text
    );
    // Behind a converter the same charge ends at the cut-off.
    let more = more.replace("output = \"direct\"", "overhead_j = 0");
    let c = run(scenario("converted", &sleeper_busy(), &more));
    assert!(c.energy.supply.converter_j > 0.0 && c.cycles < r.cycles, "{} {}", c.cycles, r.cycles);
}

fn sleeper_busy() -> Vec<u16> {
    let mut words = STOP_WATCHDOG.to_vec();
    words.extend(SILENCE_RADIO);
    words.extend(RELEASE_RADIO);
    words.push(FOREVER);
    words
}

#[test]
fn batteries_light_by_chance_and_the_rails_capacitance_play_in_the_loop() {
    let cell =
        "duration_s = 600\n[supply]\ncell = \"two-aa-piotrowski2006\"\noutput = \"direct\"\n";
    let r = run(scenario("cell", &sleeper_busy(), cell));
    assert_eq!((r.starts, r.brown_outs), (1, 0));
    assert!(r.energy.balance_rel < 1e-6, "{}", r.energy.balance_rel);
    assert!(
        r.energy.stored_begin_j > 21_599.0 && r.vcc_v > 3.1,
        "{} {}",
        r.energy.stored_begin_j,
        r.vcc_v
    );
    let tail = |c: &str| {
        let more = format!(
            "duration_s = 20\n[supply]\ncapacitance_f = 1e-3\noverhead_j = 0\ninitial_v = 3.0\n{c}[harvest.markov]\non_w = 3e-3\nmean_on_s = 0.5\nmean_off_s = 1.5\n"
        );
        run(scenario("tail", &busy(), &more))
    };
    let (with, again, without) =
        (tail("decoupling_f = 2e-5\n"), tail("decoupling_f = 2e-5\n"), tail(""));
    assert_eq!(with, again);
    assert!(
        with.brown_outs >= 2 && without.brown_outs >= 2,
        "{} {}",
        with.brown_outs,
        without.brown_outs
    );
    assert!(with.energy.supply.decoupling_j > 0.0 && with.energy.balance_rel < 1e-6);
    assert!(with.energy.loop_over_ledger_rel.abs() < 0.02, "{}", with.energy.loop_over_ledger_rel);
}

#[test]
fn a_supply_that_cannot_be_is_one_sentence() {
    let told = |more: &str| {
        let s = scenario("cannot", &busy(), &format!("duration_s = 60\n{more}"));
        let text = Node::new(&data(), s, None).err().expect("it was taken").to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    let t = told("[supply]\ninitial_v = 2.0\n[harvest]\nconstant_w = 1e-5\n");
    assert!(t.contains("the node can never start: the store stands at 2.000 V and the output switches on at 2.6 V, but the charger starts from 2.000e-5 W and the source gives at most 1.000e-5 W"), "{t}");
    let t = told("[supply]\nv_cut_v = 5.2\n");
    assert!(t.contains("supply.v_cut_v is 5.2; the cut-off must lie below the voltage that the store is charged to, v_max_v = 5 V"), "{t}");
    let t = told(
        "[supply]\ncell = \"panasonic-cr2354\"\noutput = \"direct\"\n[harvest]\nconstant_w = 1\n",
    );
    assert!(t.contains("panasonic-cr2354, which must not be charged"), "{t}");
    let t = told("[supply]\ncell = \"li-ion-lir2450\"\noutput = \"direct\"\n");
    assert!(t.contains("up to 4.2 V and the chip behind it bears 3.6 V"), "{t}");
    let t = told("[supply]\ncell = \"two-aa-piotrowski2006\"\noutput = \"ti-tps61000\"\n");
    assert!(t.contains("say below which voltage by supply.below_v"), "{t}");
    let t = told("[supply]\ncharger = \"ti-tps61000\"\n");
    assert!(t.contains("is not a charger"), "{t}");
    let t = told("[harvest]\nperiodic = { on_w = 1, period_s = 1, on_s = 2 }\n");
    assert!(t.contains("on_s is 2"), "{t}");
}

#[test]
fn every_part_of_a_supply_plays_a_day_asleep() {
    for (name, supply) in [
        (
            "bq25570",
            "charger = \"ti-bq25570\"\noutput = \"ti-bq25570\"\ncapacitor = \"supercap-0f47-branches\"\n",
        ),
        ("bq25504", "charger = \"ti-bq25504\"\noutput = \"direct\"\ncapacitor = \"capxx-hw203\"\n"),
        (
            "ldo",
            "charger = \"ti-bq25570\"\noutput = \"ti-tps7a02\"\ncell = \"cymbet-cbc050\"\ncapacitor = \"ceramic-100u-x5r\"\n",
        ),
        ("diode", "charger = \"diode\"\noutput = \"direct\"\ncapacitor = \"avx-scmr14d474\"\n"),
        ("liion", "cell = \"li-ion-lir2450\"\noutput = \"ti-bq25570\"\ntemperature_c = -5\n"),
    ] {
        let more = format!(
            "duration_s = 86400\n[power]\nvcc_v = 1.8\n[supply]\n{supply}[harvest.periodic]\non_w = 2e-4\nperiod_s = 600\non_s = 200\n"
        );
        let started = std::time::Instant::now();
        let r = run(scenario(name, &sleeper(), &more));
        println!("{name}: {:.0} x real time", 86_400.0 / started.elapsed().as_secs_f64());
        assert!(r.finished && r.energy.balance_rel < 1e-6, "{name}: {}", r.energy.balance_rel);
        assert_eq!(r.brown_outs, 0, "{name}");
        assert!(r.energy.supply.load_j > 0.0, "{name}");
    }
}

mod nonsense {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn any_program_ends_or_is_told_what_it_broke(words in prop::collection::vec(any::<u16>(), 1..60)) {
            let more = "duration_s = 0.05\n[supply]\ncapacitance_f = 1e-4\noverhead_j = 1e-6\ninitial_v = 2.7\n[harvest]\nconstant_w = 1e-3\n";
            let mut node = Node::new(&data(), scenario("nonsense", &words, more), None).unwrap();
            match node.run(&mut |_| true) {
                Ok(r) => prop_assert!(r.finished && r.energy.balance_rel < 1e-6),
                Err(e) => {
                    prop_assert!(matches!(e, NodeError::Fault { .. } | NodeError::Radio { .. }), "{e}");
                    prop_assert!(!e.to_string().contains('\n'), "{e}");
                }
            }
        }
    }
}

#[test]
fn on_a_rail_that_follows_a_supervisor_lets_code_run_on_for_its_delay() {
    // SVSH at its highest level, 2.10 V, with the slow response that a reset leaves (20 us).
    let mut words = STOP_WATCHDOG.to_vec();
    words.extend([0x40F2, 0x00A5, 0x0121]); // mov.b #PMMPW_H, &PMMCTL0_H
    words.extend([0x40B2, 0x4703, 0x0124, FOREVER]); // mov #SVMHE|SVSHE|SVSHRVL_3|SVSMHRRL_3, &SVSMHCTL
    let more =
        "duration_s = 0.02\n[supply]\noutput = \"direct\"\ncapacitance_f = 1e-5\ninitial_v = 2.6\n";
    let cycles = |switch: &str, longest_s: f64| {
        let s = scenario("supervised", &words, &format!("{more}{switch}"));
        let mut node = Node::new(&data(), s, None).unwrap();
        node.set_longest_step_s(longest_s);
        let r = node.run(&mut |_| true).unwrap();
        // Held in reset above the cut-off, and cut there.
        assert_eq!((r.starts, r.brown_outs), (1, 1));
        r.cycles
    };
    let at_once = "supervisors_at_once = true\n";
    let (with, without) = (cycles("", 5e-6), cycles(at_once, 5e-6));
    // The rail is told within a long step too.
    let long = cycles(at_once, 1.0);
    assert!(long.abs_diff(without) <= 4, "a turn of the loop: {long} {without}");
    // A little above a megahertz, to the end of a jump.
    assert!(without > 100 && (20..=24).contains(&(with - without)), "{with} {without}");
}

#[test]
fn a_node_that_is_off_goes_through_changes_of_the_light_as_through_none() {
    let supply = "charger = \"ti-bq25570\"\noutput = \"ti-tps7a02\"\ncapacitor = \"tantalum-330u\"\ninitial_v = 2.3";
    let play = |pieces: u32| {
        let time_s: Vec<f64> =
            (0..=pieces).map(|k| 4.0 * f64::from(k) / f64::from(pieces)).collect();
        let power_w = vec![1e-3; time_s.len()];
        let light = HarvestTrace::from_arrays(time_s, power_w).unwrap();
        let mut node = Node::new(&data(), busy_fr5994(4.0, supply), Some(light)).unwrap();
        let r = node.run(&mut |_| true).unwrap();
        (r, node.steps())
    };
    // A light that is told each millisecond and is always the same one; off most of the time.
    let ((whole, _), (told, steps)) = (play(1), play(4_000));
    assert!(whole.starts > 3 && whole.time_by_doing_s[&Activity::Off] > 1.5, "{whole:?}");
    assert_eq!((whole.starts, whole.brown_outs), (told.starts, told.brown_outs));
    assert!(steps < 3_000, "{steps} steps: no step of the loop for each change");
    for (a, b) in [
        (whole.energy.supply.load_j, told.energy.supply.load_j),
        (whole.energy.supply.panel_j, told.energy.supply.panel_j),
        (whole.cycles as f64, told.cycles as f64),
        (whole.time_by_doing_s[&Activity::Off], told.time_by_doing_s[&Activity::Off]),
    ] {
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
}

/// An FR5994 that computes all the time, on such a supply.
fn busy_fr5994(duration_s: f64, supply: &str) -> Scenario {
    static BUSY: LazyLock<PathBuf> =
        LazyLock::new(|| program_with("busy-fram", &common::busy_fram().0, &[]));
    let elf = &*BUSY;
    let text = format!(
        "name = \"busy\"\nboard = \"msp430fr5994-launchpad\"\nfirmware = {elf:?}\nduration_s = {duration_s}\n[supply]\n{supply}\n"
    );
    Scenario::parse(&text, "busy").unwrap()
}

#[test]
fn steps_do_not_multiply_where_the_rail_follows_a_store_of_75_ohm() {
    for (supply, light_w) in [
        ("charger = \"diode\"\noutput = \"direct\"\ninitial_v = 2.0", 1e-3),
        ("charger = \"ti-bq25504\"\noutput = \"ti-tps7a02\"\ninitial_v = 3.0", 1e-3),
        ("charger = \"ti-bq25570\"\noutput = \"ti-tps7a02\"\ninitial_v = 3.3", 1e-4),
    ] {
        let more =
            format!("capacitor = \"capxx-hf-0f1\"\n{supply}\n[harvest]\nconstant_w = {light_w}");
        let mut node = Node::new(&data(), busy_fr5994(4.0, &more), None).unwrap();
        let r = node.run(&mut |_| true).unwrap();
        assert!(r.cycles > 500_000, "{supply}: {} cycles", r.cycles);
        // A step of a millisecond each where the heaviest load might be cut off, longer elsewhere.
        assert!(node.steps() < 6_000, "{supply}: {} steps", node.steps());
    }
}

#[test]
fn resets_by_the_supervisor_are_counted_and_hold_until_its_rising_level() {
    // 60 ms of light fill 330 uF to 2.0 V; in 60 ms of dark chip and idle radio (3 mW) take it below SVSH's 1.80 V, not
    // to the cut-off.
    let more = "capacitor = \"tantalum-330u\"\ncharger = \"diode\"\noutput = \"direct\"\ninitial_v = 2.0\nv_max_v = 2.0\nv_on_v = 1.9\nv_cut_v = 1.6";
    let edges = (0..20).map(|k| f64::from(k) * 0.06);
    let time_s = edges.flat_map(|t| [t, t + 0.0599]).collect();
    let power_w = (0..40).map(|k| if k % 4 < 2 { 0.02 } else { 0.0 }).collect();
    let light = HarvestTrace::from_arrays(time_s, power_w).unwrap();
    let mut node = Node::new(&data(), busy_fr5994(1.19, more), Some(light)).unwrap();
    let r = node.run(&mut |_| true).unwrap();
    assert_eq!((r.starts, r.brown_outs), (1, 0));
    assert!((9..=10).contains(&r.supervisor_resets), "{}", r.supervisor_resets);
    // On the way up nothing runs below 1.88 V.
    let more = format!(
        "{}\n[harvest]\nconstant_w = 8e-3",
        more.replace("initial_v = 2.0", "initial_v = 1.7").replace("v_on_v = 1.9", "v_on_v = 1.7")
    );
    let mut node = Node::new(&data(), busy_fr5994(0.1, &more), None).unwrap();
    node.set_longest_step_s(1e-4);
    let mut seen = Vec::new();
    let r = node.run(&mut |p| {
        seen.push((p.simulated_s, p.vcap_v));
        true
    });
    let r = r.unwrap();
    assert!(node.steps() >= 1_000, "{} steps of 0.1 ms", node.steps());
    let ran = r.timeline.iter().find(|w| w.doing == Activity::Compute).unwrap();
    let at = seen.iter().rfind(|(t, _)| *t <= ran.from_s).unwrap().1;
    assert!((1.87..1.90).contains(&at), "{at}");
    assert_eq!((r.starts, r.supervisor_resets), (1, 1));
    // A regulated rail below that level never starts it.
    let more = "capacitor = \"capxx-hw203\"\nharvester = \"anagear-an1010\"\n[power]\nvcc_v = 1.8";
    let told = Node::new(&data(), busy_fr5994(3.0, more), None).err().unwrap().to_string();
    assert!(told.contains("until its supply has risen to 1.88 V"), "{told}");
}

#[test]
fn a_load_by_profile_meets_its_v_safe() {
    // 20 mA for 100 ms and 1 uA between, from 0.1 F behind 10 ohm, cut off at 2 V: the current alone pulls the terminal
    // down by 0.2 V, and its charge by 20 mV.
    let text = |initial_v: f64| {
        format!(
            "name = \"pulse\"\nboard = \"msp430fr5994-launchpad\"\nduration_s = 0.5\n[supply]\ncapacitor = \"capxx-hf-0f1\"\n\
             capacitance_f = 0.1\nesr_ohm = 10\nleak_ohm = 1e9\ncharger = \"diode\"\noutput = \"direct\"\nv_cut_v = 2.0\nv_on_v = 2.1\ninitial_v = {initial_v}\n\
             [load]\nsteps = [{{ lasts_s = 0.1, current_a = 0.02 }}, {{ lasts_s = 0.5, current_a = 1e-6 }}]\n[harvest]\nconstant_w = 1e-6\n"
        )
    };
    let play = |initial_v: f64| {
        let s = Scenario::parse(&text(initial_v), "pulse").unwrap();
        sunseal_node::play_load(&data(), &s, None, &mut |_| true).unwrap()
    };
    let r = play(2.5);
    let load = r.load.clone().unwrap();
    let v_safe = load.v_safe_v.unwrap();
    assert!((v_safe - 2.22).abs() < 2e-3, "{v_safe}");
    assert!((load.terminal_min_v - 2.28).abs() < 2e-3, "{}", load.terminal_min_v);
    assert!((r.energy.supply.load_j - 0.1 * 0.02 * 2.29).abs() < 2e-5, "{:?}", r.energy.supply);
    assert_eq!((r.brown_outs, r.starts), (0, 1));
    assert!(r.energy.balance_rel < 1e-9);
    // A little above it the pulse is carried, a little below it is not: then the store rests above its restart voltage, and
    // the output comes and goes a millisecond apart.
    assert_eq!(play(v_safe + 2e-3).brown_outs, 0);
    let cut = play(v_safe - 2e-3);
    assert!((2..=500).contains(&cut.brown_outs), "{}", cut.brown_outs);
    assert_eq!(cut.load.unwrap().rounds, 0);
    let wrong = text(2.5).replace("board", "firmware = \"a.elf\"\nboard");
    assert!(
        Scenario::parse(&wrong, "pulse")
            .unwrap_err()
            .to_string()
            .contains("load stands for a program")
    );
    let wrong = text(2.5).replace("current_a = 0.02", "current_a = -1");
    assert!(
        Scenario::parse(&wrong, "pulse")
            .unwrap_err()
            .to_string()
            .contains("load.steps, number 1: its current is -1")
    );
}
