// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop: light into the store, the store into the machine, the machine's states back.
//!
//! Between two changes of state the load is constant. The loop asks the supply how long the energy
//! above the cut-off surely lasts and lets the machine run that long at full speed; close to the cut
//! it asks for the crossing itself and takes the supply away there, in the middle of an instruction too.

mod awake;
mod checkpoint;
mod coupons;
mod covered;
mod fpga;
mod functions;
mod lives;
mod prices;
mod start;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use sunseal_board::{Antenna, Board, Fitted, StorageSense, limits_of};
use sunseal_data::Library;
use sunseal_mcu::device::RegionKind;
use sunseal_mcu::{Device, Elf, Machine, Pin, Stop, Symbol, Until};
use sunseal_power::{
    Boundary, HarvestTrace, Light, Limits, Load, PowerModel, RailAhead, Supply, load_part,
};
use sunseal_radio::{
    Air, FaultyAir, GatewayAir, Medium, MediumConfig, RadioHandle, RadioPart, Silence,
};
use sunseal_trace::{Observer, Picos, Silent};

use crate::config::{write_config, write_symbols};
use crate::inputs::{self, BusDevice, Given};
use crate::record::{Activity, EnergyRecord, Recorder, RunRecord};
use crate::{NodeError, Scenario};
use checkpoint::{Identity, Keep, program_digest};
use coupons::Coupons;
use covered::Covered;
use fpga::Fpgas;
use functions::Functions;
use lives::Lives;
use prices::{Events, Price, Priced};
use start::Start;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time simulated so far.
    pub simulated_s: f64,
    /// Time to be simulated.
    pub duration_s: f64,
    /// Voltage of the store.
    pub vcap_v: f64,
    /// Number of brown-outs so far.
    pub brown_outs: u64,
    /// Packets sent so far.
    pub sent: u64,
}

/// A node ready to run.
pub struct Node {
    scenario: Scenario,
    board: Board,
    machine: Machine,
    radio: Option<RadioHandle>,
    /// Air into which a radio sends that no gateway hears.
    medium: Medium,
    model: PowerModel,
    fpgas: Fpgas,
    supply: Supply,
    harvest: HarvestTrace,
    sense: Option<Sense>,
    given: Given,
    /// Kept at the end.
    symbols: Vec<Symbol>,
    prices: Vec<Price>,
    /// The one that was last asked for.
    price: usize,
    events: Events,
    recorder: Recorder,
    stored_begin_j: f64,
    divider_j: f64,
    /// Drawn from the rail.
    charge_c: f64,
    /// The rail that the prices are for, and those of rails that were there before.
    priced_v: f64,
    priced: HashMap<u64, Priced>,
    start: Option<Start>,
    covered: Covered,
    lives: Lives,
    /// Reason for which it never gets past what cuts it off.
    stuck: Option<String>,
    starts: u64,
    /// Number of times that a start has let the trigger pin fall, which ended no operation.
    reset_falls: u64,
    brown_out_cycles: Vec<u64>,
    longest_s: f64,
    steps: u64,
    functions: Option<Functions>,
    coupons: Option<Coupons>,
    /// Digest of its file, for checkpoints.
    program: u64,
    identity: OnceLock<Identity>,
    keep: Option<Keep>,
}

/// The store's voltage as the ADC's closure sees it.
struct Sense {
    shared: Arc<AtomicU64>,
    enable: Pin,
    divider_ohm: f64,
}

/// Awake, the longest step: so that a run can be watched and stopped.
const AWAKE_STEP_S: f64 = 0.25;
/// Below this sure time the crossing itself is asked for.
const NEAR_S: f64 = 1e-3;
/// So many cycles in front of the crossing, code is taken to stay in the memory that it runs from.
const LAST_CYCLES: f64 = 256.0;
/// Stretches of light that an output which is off goes through before anybody may stop the run.
const OFF_STRETCHES: u32 = 64;
/// Horizon within which the crossing is looked for.
const LOOK_S: f64 = 10e-3;

impl Node {
    /// Puts a scenario together; `data` is the folder with devices, boards, parts and power sets, or a library.
    /// `harvest` stands for the file's light if given.
    ///
    /// # Errors
    /// If anything in it is not sound, or the gateway is not there.
    pub fn new(
        data: impl Into<Library>,
        scenario: Scenario,
        harvest: Option<HarvestTrace>,
    ) -> Result<Self, NodeError> {
        Self::with_devices(data, scenario, harvest, Vec::new())
    }

    /// As [`new`](Self::new), with an air of one's own.
    ///
    /// # Errors
    /// If anything in the scenario is not sound.
    pub fn with_air(
        data: impl Into<Library>,
        scenario: Scenario,
        harvest: Option<HarvestTrace>,
        air: Box<dyn Air>,
    ) -> Result<Self, NodeError> {
        Self::assembled(data.into(), scenario, harvest, air, Vec::new())
    }

    /// As [`new`](Self::new), with the devices on its buses that the scenario names.
    ///
    /// # Errors
    /// If anything in it is not sound, or the gateway is not there.
    pub fn with_devices(
        data: impl Into<Library>,
        scenario: Scenario,
        harvest: Option<HarvestTrace>,
        devices: Vec<BusDevice>,
    ) -> Result<Self, NodeError> {
        let air = Self::air_of(&scenario)?;
        Self::assembled(data.into(), scenario, harvest, air, devices)
    }

    fn air_of(scenario: &Scenario) -> Result<Box<dyn Air>, NodeError> {
        Ok(match &scenario.gateway {
            Some(g) => Box::new(GatewayAir::connect(&g.address)?),
            None => Box::new(Silence),
        })
    }

    fn assembled(
        library: Library,
        scenario: Scenario,
        harvest: Option<HarvestTrace>,
        air: Box<dyn Air>,
        devices: Vec<BusDevice>,
    ) -> Result<Self, NodeError> {
        let board = scenario.own_board(&library)?;
        let device = board.device(&library)?;
        let (parts, power) = (library.room("parts"), library.room("power"));
        let vcc_v = scenario.power.vcc_v.unwrap_or(board.power.vcc_v);
        let limits = Self::limits_at(&scenario, &device, vcc_v)?;
        let radio_part: Option<RadioPart> =
            board.radio_part().map(|part| load_part(&parts, part, "radio")).transpose()?;
        Self::check_radio(&scenario, &board, radio_part.as_ref())?;
        let chip = scenario.power.set.as_deref();
        let prices = board.prices(&power, chip, radio_part.as_ref(), inputs::prices(&devices)?)?;
        let given = Self::given_of(&scenario, &board, &devices)?;
        let (supply, harvest) = Self::supply_and_light(&library, &scenario, harvest)?;
        let (bytes, elf) = Self::program_of(&scenario)?;
        if !matches!(&radio_part, Some(part) if !matches!(part, RadioPart::Priced(_))) {
            scenario.without_radio(&board, &elf)?;
        }
        let mut machine = Self::machine_of(&scenario, &board, &device, &elf, vcc_v)?;
        write_config(&mut machine, &elf, &scenario, supply.config(), &limits)?;
        write_symbols(&mut machine, &elf, &scenario)?;
        let symbols = Self::symbols_of(&scenario, &elf)?;
        machine.count_pulses(board.trigger.pin.parse().ok());
        let medium = Medium::new(MediumConfig::default());
        let antenna = Some(Antenna::Gateway(&medium, Self::faulty(air, &scenario)));
        let Fitted { radio, fpgas } = board.fit(&mut machine, &parts, antenna)?;
        let fpgas = Fpgas::new(&library, &board, fpgas)?;
        prices.fit_residual(&mut machine)?;
        let sense = board.storage_sense.as_ref().and_then(|s| Self::connect_sense(&mut machine, s));
        inputs::connect(&mut machine, &given.adc);
        inputs::attach(&mut machine, devices)?;
        // The run begins without supply: the store decides when it comes.
        machine.power_cut();
        let recorder = Recorder::new(scenario.duration_s, &scenario.output, supply.v_v());
        let coupons = Coupons::new(&elf, &device);
        let functions =
            scenario.output.functions.then(|| Functions::new(Arc::new(elf), machine.device()));
        Ok(Self {
            stored_begin_j: supply.stored_j(),
            scenario,
            board,
            machine,
            radio,
            medium,
            model: prices.model,
            fpgas,
            supply,
            harvest,
            sense,
            given,
            symbols,
            prices: Vec::new(),
            price: 0,
            events: Events::default(),
            recorder,
            divider_j: 0.0,
            charge_c: 0.0,
            priced_v: vcc_v,
            priced: HashMap::new(),
            start: None,
            covered: Covered::default(),
            lives: Lives::default(),
            stuck: None,
            starts: 0,
            reset_falls: 0,
            brown_out_cycles: Vec::new(),
            longest_s: f64::INFINITY,
            steps: 0,
            functions,
            coupons,
            program: program_digest(&bytes),
            identity: OnceLock::new(),
            keep: None,
        })
    }

    fn bad(scenario: &Scenario, reason: String) -> NodeError {
        NodeError::Scenario { path: scenario.source.clone(), reason }
    }

    /// The chip's limits. Its slowest level must be legal; the rest is the machine's business.
    fn limits_at(scenario: &Scenario, device: &Device, vcc_v: f64) -> Result<Limits, NodeError> {
        let limits = limits_of(device);
        limits
            .level_for(vcc_v, 1e6)
            .map_err(|e| Self::bad(scenario, format!("power.vcc_v: {e}")))?;
        Ok(limits)
    }

    /// The inputs and devices that it is given.
    fn given_of(
        scenario: &Scenario,
        board: &Board,
        devices: &[BusDevice],
    ) -> Result<Given, NodeError> {
        if devices.len() != scenario.i2c.len() + scenario.spi.len() {
            let reason = "i2c and spi name devices that the engine does not have; play it by `sunseal simulate` or `sunseal.simulate`";
            return Err(Self::bad(scenario, reason.to_owned()));
        }
        Ok(Given {
            adc: inputs::read(&scenario.adc, board).map_err(|e| Self::bad(scenario, e))?,
            devices: devices.iter().map(|d| d.part.save()).collect(),
        })
    }

    /// A supply that its light can start.
    fn supply_and_light(
        library: &Library,
        scenario: &Scenario,
        harvest: Option<HarvestTrace>,
    ) -> Result<(Supply, HarvestTrace), NodeError> {
        let supply = Self::supply_of(library, scenario)?;
        let harvest = Self::light(scenario, harvest)?;
        supply
            .can_start(&harvest.peak())
            .map_err(|e| Self::bad(scenario, format!("the node can never start: {e}")))?;
        Ok((supply, harvest))
    }

    /// The variables whose values are told at the end.
    fn symbols_of(scenario: &Scenario, elf: &Elf) -> Result<Vec<Symbol>, NodeError> {
        let found = scenario.output.symbols.iter().map(|name| elf.symbol(name).cloned());
        found
            .collect::<Result<_, _>>()
            .map_err(|e| Self::bad(scenario, format!("output.symbols: {e}")))
    }

    /// Refuses a node that listens by a radio which wakes for nobody.
    fn check_radio(
        scenario: &Scenario,
        board: &Board,
        radio: Option<&RadioPart>,
    ) -> Result<(), NodeError> {
        let listens = scenario.node.as_ref().is_some_and(crate::config::NodeConfig::listens);
        if !listens || radio.is_some_and(RadioPart::wakes_to_listen) {
            return Ok(());
        }
        let radio = radio.map_or("no radio", |r| r.model());
        let reason = format!(
            "node.listen_every_s: {} has {radio}, which no timer of its own wakes to listen; leave it out, or take a board whose radio part says `wake_on_radio = true`",
            board.name
        );
        Err(Self::bad(scenario, reason))
    }

    /// The program's file, and what it says.
    fn program_of(scenario: &Scenario) -> Result<(Vec<u8>, Elf), NodeError> {
        let bytes = std::fs::read(&scenario.firmware)
            .map_err(|e| Self::bad_firmware(scenario, e.to_string()))?;
        let elf = Elf::parse(&bytes).map_err(|e| Self::bad_firmware(scenario, e.to_string()))?;
        Ok((bytes, elf))
    }

    fn bad_firmware(scenario: &Scenario, reason: String) -> NodeError {
        NodeError::Firmware { path: scenario.firmware.display().to_string(), reason }
    }

    /// The board's chip with the program in it.
    fn machine_of(
        scenario: &Scenario,
        board: &Board,
        device: &Device,
        elf: &Elf,
        vcc_v: f64,
    ) -> Result<Machine, NodeError> {
        let mut machine = board.machine(device)?;
        machine.supervise_at_once(scenario.supply.supervisors_at_once);
        machine.set_vcc(vcc_v);
        machine.set_temperature(scenario.temperature_c.unwrap_or(25.0));
        machine.set_unit_seed(scenario.seed);
        // Nobody asks for it, and a day of chip selects is long.
        machine.log_pins(false);
        machine.load(elf).map_err(|e| Self::bad_firmware(scenario, e.to_string()))?;
        Ok(machine)
    }

    /// The air with the faults that a scenario asks for.
    fn faulty(air: Box<dyn Air>, scenario: &Scenario) -> Box<dyn Air> {
        let f = &scenario.faults;
        if f.loss > 0.0 || f.flip > 0.0 {
            Box::new(FaultyAir::new(air, f.loss, f.flip, !f.crc_fooled, scenario.seed))
        } else {
            air
        }
    }

    /// The supply of a scenario alone, its output off.
    ///
    /// # Errors
    /// If a part is not there, or a figure cannot be.
    pub fn supply_of(data: impl Into<Library>, scenario: &Scenario) -> Result<Supply, NodeError> {
        let library = data.into();
        let board = scenario.own_board(&library)?;
        let device = board.device(&library)?;
        let vcc_v = scenario.power.vcc_v.unwrap_or(board.power.vcc_v);
        let levels = limits_of(&device).levels;
        let least_v = levels.iter().map(|l| l.vcc_min_v).fold(f64::INFINITY, f64::min);
        let (config, initial_v) =
            scenario.supply_config(&library.room("parts"), &board, &device, least_v, vcc_v)?;
        Supply::new(config, initial_v).map_err(|e| NodeError::Scenario {
            path: scenario.source.clone(),
            reason: format!("supply.{} is {}; {}", e.key, e.value, e.must),
        })
    }

    pub(crate) fn light(
        scenario: &Scenario,
        given: Option<HarvestTrace>,
    ) -> Result<HarvestTrace, NodeError> {
        let need = scenario.start_s + scenario.duration_s;
        let harvest = match (given, &scenario.harvest.trace, scenario.harvest.constant_w) {
            (Some(h), _, _) => h,
            (None, Some(path), _) => HarvestTrace::load(path)?,
            (None, None, _) if scenario.harvest.source.is_some() => {
                let source = scenario.harvest.source.as_ref();
                source.map_or_else(|| HarvestTrace::constant(0.0, need), |s| s.trace(need))?
            }
            (None, None, _) if scenario.harvest.law().is_some() => {
                scenario.harvest.play(need, scenario.seed)?
            }
            (None, None, _) if scenario.harvest.sunlight.is_some() => {
                return Err(NodeError::Scenario {
                    path: scenario.source.clone(),
                    reason: "harvest.sunlight is weather, which the engine does not read; play it by `sunseal simulate`, or name a trace".into(),
                });
            }
            (None, None, power) => HarvestTrace::constant(power.unwrap_or(0.0), need)?,
        };
        if harvest.duration_s() < need * (1.0 - 1e-12) {
            return Err(NodeError::Scenario {
                path: scenario.source.clone(),
                reason: format!(
                    "start_s + duration_s is {need} s and the harvest trace ends at {} s; shorten the run or lengthen the trace",
                    harvest.duration_s()
                ),
            });
        }
        Ok(harvest)
    }

    fn connect_sense(machine: &mut Machine, s: &StorageSense) -> Option<Sense> {
        let enable: Pin = s.enable.parse().ok()?;
        let shared = Arc::new(AtomicU64::new(0f64.to_bits()));
        let (seen, ratio) = (Arc::clone(&shared), s.ratio);
        machine.adc_input(
            s.adc_channel,
            Box::new(move |probe| {
                if probe.pin(enable) {
                    f64::from_bits(seen.load(Ordering::Relaxed)) * ratio
                } else {
                    0.0
                }
            }),
        );
        Some(Sense { shared, enable, divider_ohm: s.divider_ohm })
    }

    /// Takes no step longer than this, asleep and off too. Jumps change nothing but the speed; this is
    /// how a test sees that.
    pub fn set_longest_step_s(&mut self, step_s: f64) {
        self.longest_s = step_s;
    }

    /// Steps taken so far: what the loop itself costs.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The machine, to look at.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The supply, to look at.
    #[must_use]
    pub fn supply(&self) -> &Supply {
        &self.supply
    }

    fn time_s(&self) -> f64 {
        self.machine.time().as_seconds()
    }

    fn doing(&self) -> Activity {
        let at_rest = [
            "off",
            "sleep",
            "sleep.wor",
            "idle",
            "xoff",
            "startup",
            "vreg_off",
            "power_down",
            "lpm1",
            "lpm2",
            "xosc",
            "xosc.bias",
            "active",
        ];
        let mut awake = false;
        for (component, state) in self.machine.states() {
            match component {
                "radio" if !at_rest.contains(&state) => return Activity::Radio,
                "cpu" => awake = state.starts_with("active"),
                _ => {}
            }
        }
        if awake { Activity::Compute } else { Activity::Sleep }
    }

    /// Plays the scenario to its end, or until `watch` returns false.
    ///
    /// # Errors
    /// If the program breaks a rule of the machine, a coefficient is missing, or the gateway fails.
    pub fn run(&mut self, watch: &mut dyn FnMut(Progress) -> bool) -> Result<RunRecord, NodeError> {
        let mut finished = true;
        let mut told_s = f64::NEG_INFINITY;
        self.price_events()?;
        while !self.is_over(self.time_s()) {
            self.steps += 1;
            if self.supply.is_on() {
                self.step_on()?
            } else {
                self.step_off()?
            }
            self.drain_radio()?;
            let ended = self.scenario.until.is_some() && self.recorder.first_cut_s.is_some();
            if ended || self.stuck.is_some() {
                break;
            }
            if let Some(unclosed) = self.supply.unclosed() {
                return Err(NodeError::Balance(unclosed));
            }
            let now_s = self.time_s();
            if now_s - told_s >= (self.scenario.duration_s / 1000.0).min(AWAKE_STEP_S) {
                told_s = now_s;
                // Nobody listens to what has been sent.
                self.medium.forget_before(self.machine.time());
                let _ = self.medium.take_captured();
                let stop = !watch(self.progress());
                self.keep_if_due(stop);
                if stop {
                    finished = false;
                    break;
                }
            }
        }
        self.recorder.end();
        self.finish(finished)
    }

    fn progress(&self) -> Progress {
        Progress {
            simulated_s: self.time_s(),
            duration_s: self.scenario.duration_s,
            vcap_v: self.supply.v_v(),
            brown_outs: self.brown_out_cycles.len() as u64,
            sent: self.radio.as_ref().map_or(0, |r| r.counts().sent),
        }
    }

    /// Light now, and until when it stays.
    fn light_now(&self) -> (Light, f64) {
        self.light_at(self.time_s())
    }

    fn light_at(&self, time_s: f64) -> (Light, f64) {
        let offset = self.scenario.start_s;
        let (light, until_s) = self.harvest.light(offset + time_s);
        (light, until_s - offset)
    }

    /// True at the end of what is to be played.
    fn is_over(&self, time_s: f64) -> bool {
        time_s >= self.scenario.duration_s * (1.0 - 1e-13)
    }

    /// The next time at which something outside the machine changes.
    fn horizon_s(&self, now_s: f64, light_until_s: f64) -> f64 {
        let step_s = now_s + self.longest_s;
        let edge_s = self.recorder.next_edge_s(now_s);
        light_until_s.min(edge_s).min(self.scenario.duration_s).min(step_s)
    }

    /// Power past the converter: the divider that shows the store's voltage, while it is connected.
    fn divider_w(&self) -> f64 {
        let v = self.supply.v_v();
        self.sense
            .as_ref()
            .filter(|s| self.machine.pin(s.enable))
            .map_or(0.0, |s| v * v / s.divider_ohm)
    }

    /// Books a step of time on supply and record.
    fn book(
        &mut self,
        from_s: f64,
        dt_s: f64,
        load: Load,
        light: &Light,
        doing: Activity,
    ) -> Option<Boundary> {
        let before = self.supply.terminal_v(load, light);
        let on_j = self.supply.sums().load_j;
        let rail_v = self.supply.rail_v();
        let advance = self.supply.advance(dt_s, load, light);
        let mut boundary = advance.boundary;
        let left = dt_s - advance.elapsed_s;
        if left > 0.0 && boundary == Some(Boundary::Cut) {
            // The cut lies inside an instruction: the converter carries it to its end.
            self.supply.finish_beyond_cut(left, load, light);
        } else if left > 0.0 {
            boundary = boundary.or(Some(Boundary::Restart));
        }
        self.divider_j += load.store_w * dt_s;
        if self.supply.sums().load_j > on_j {
            let fpga_w = self.events.fpga_w;
            self.charge_c += (load.vcc_w - fpga_w) / rail_v * dt_s;
            self.events.fpga_j += fpga_w * dt_s;
        }
        let after = self.supply.terminal_v(load, light);
        let load_w = if self.supply.is_on() { load.vcc_w + load.store_w } else { 0.0 };
        self.recorder.step(from_s, dt_s, (before, after), light.max_w, load_w, doing);
        boundary
    }

    fn step_off(&mut self) -> Result<(), NodeError> {
        // The supply goes ahead, to the restart or over some stretches of its light; the machine, which is off, follows to
        // the picosecond behind it.
        let (begun_s, off) = (self.time_s(), Load::default());
        let mut now = self.machine.time();
        for _ in 0..OFF_STRETCHES {
            let now_s = now.as_seconds();
            let (light, until_s) = self.light_at(now_s);
            let dt = Picos(to_picos(self.horizon_s(now_s, until_s) - now_s).max(1));
            let before = self.supply.terminal_v(off, &light);
            let ahead = self.supply.advance(dt.as_seconds(), off, &light);
            let gone = ahead.boundary.map_or(dt, |_| Picos(to_picos(ahead.elapsed_s)));
            let dt_s = gone.as_seconds();
            let after = self.supply.terminal_v(off, &light);
            self.recorder.step(now_s, dt_s, (before, after), light.max_w, 0.0, Activity::Off);
            if let Some(functions) = &mut self.functions {
                functions.off(dt_s);
            }
            now.0 += gone.0;
            if ahead.boundary == Some(Boundary::Restart) {
                let _ = self.machine.run(&Until::time(now), &mut Silent);
                return self.switch_on(&light);
            }
            let gone_s = now.as_seconds() - begun_s;
            if gone_s >= AWAKE_STEP_S || self.is_over(now.as_seconds()) {
                break;
            }
        }
        let _ = self.machine.run(&Until::time(now), &mut Silent);
        Ok(())
    }

    /// Forecast of the rail until the next step, under the likely load; shorter where the heaviest would meet the
    /// cut-off. A load that turns heavier meets the cut late by a millisecond at most.
    fn rail_ahead(
        &mut self,
        heaviest: Load,
        likely: Load,
        light: &Light,
        light_until_s: f64,
        most_s: f64,
    ) -> RailAhead {
        let now_s = self.time_s();
        let mut rail = self.supply.rail_ahead(likely, light, most_s);
        if rail.time_s <= NEAR_S {
            // The heaviest load shortens nothing below that.
            return rail;
        }
        let until_s = self.covered.until_s(
            &self.supply,
            heaviest,
            (light, light_until_s),
            now_s,
            rail.time_s,
        );
        let sure_s = (until_s - now_s).max(NEAR_S).min(rail.time_s);
        rail.to_v = rail.from_v + (rail.to_v - rail.from_v) * sure_s / rail.time_s.max(1e-12);
        rail.time_s = sure_s;
        rail
    }

    /// The load by the memory that code runs from here, with such events as there were of late.
    fn likely(&self, flash_w: f64, ram_w: f64, store_w: f64) -> Load {
        let vcc_w = if self.runs_from_ram() { ram_w } else { flash_w };
        Load { vcc_w: vcc_w + self.events.recent_w, store_w }
    }

    fn runs_from_ram(&self) -> bool {
        let region = self.machine.device().region(self.machine.pc());
        region.is_some_and(|r| r.kind == RegionKind::Ram)
    }

    /// The output is cut off under a load.
    fn cut(&mut self, load: Load, doing: Activity) {
        self.life_ends(load, doing);
        self.supply.switch_off();
        if let Some(coupons) = &mut self.coupons {
            coupons.cut(self.supply.sums().load_j);
        }
        self.covered = Covered::default();
        let cycles = self.machine.cycles();
        self.brown_out_cycles.push(cycles);
        let text = format!("at cycle {cycles}, store at {:.3} V", self.supply.v_v());
        self.recorder.cut(self.time_s(), text);
        self.machine.power_cut();
    }

    fn drain_radio(&mut self) -> Result<(), NodeError> {
        let Some(radio) = &self.radio else { return Ok(()) };
        // A radio whose packets carry those of the link layer tells of both; the gateway unwraps them.
        let (own, heard) = (radio.take_log(), self.medium.take_log());
        for packet in if self.medium.has_gateway() { heard } else { own } {
            self.recorder.packet(&packet);
        }
        match radio.problem().or_else(|| self.medium.problem()) {
            Some(what) => Err(NodeError::Radio { time_s: self.time_s(), what }),
            None => Ok(()),
        }
    }

    fn finish(&mut self, finished: bool) -> Result<RunRecord, NodeError> {
        let ledger = self.machine.ledger();
        let sums = *self.supply.sums();
        // A rail that followed the store is weighed at its mean by charge, but for FPGAs, which draw power.
        let vcc_v = match self.supply.config().output.is_regulated() || self.charge_c == 0.0 {
            true => self.supply.config().vcc_v,
            false => (sums.load_j - self.events.fpga_j) / self.charge_c,
        };
        let load = self.weigh(&ledger, vcc_v, &self.events.fpgas)?;
        let log = self.machine.uart_log().iter().map(|b| char::from(b.byte)).collect();
        let ratio = if load.total_j.typ > 0.0 { sums.load_j / load.total_j.typ - 1.0 } else { 0.0 };
        let components: Vec<&str> = self.machine.states().into_iter().map(|s| s.0).collect();
        let functions = self.functions.as_ref().map(|f| f.told(&components));
        let mut symbols = BTreeMap::new();
        for s in &self.symbols {
            let bytes = self.machine.read_mem(s.addr, s.size_bytes as usize)?;
            let hex = bytes.iter().map(|b| format!("{b:02x}")).collect();
            symbols.insert(s.name.clone(), hex);
        }
        let r = &mut self.recorder;
        Ok(RunRecord {
            scenario: self.scenario.name.clone(),
            board: self.board.name.clone(),
            power_set: self.fpgas.sets(&self.model.name()),
            seed: self.scenario.seed,
            vcc_v,
            duration_s: self.scenario.duration_s,
            simulated_s: self.machine.time().as_seconds(),
            finished,
            operations: self.machine.pulses() - self.reset_falls,
            symbols,
            series: std::mem::take(&mut r.series),
            timeline: std::mem::take(&mut r.timeline),
            timeline_cut: r.timeline_cut,
            computations_s: r.computations_s(),
            computations_cut: r.computations_cut,
            events: std::mem::take(&mut r.events),
            events_cut: r.events_cut,
            energy: EnergyRecord {
                supply: sums,
                stored_begin_j: self.stored_begin_j,
                stored_end_j: self.supply.stored_j(),
                balance_rel: self.supply.balance_rel(),
                load,
                loop_over_ledger_rel: ratio,
                divider_j: self.divider_j,
            },
            starts: self.starts,
            brown_outs: self.brown_out_cycles.len() as u64,
            first_cut_s: r.first_cut_s,
            repeated: None,
            stuck: self.stuck.take(),
            supervisor_resets: self.machine.supervisor_resets(),
            cycles: self.machine.cycles(),
            time_by_doing_s: std::mem::take(&mut r.by_doing),
            radio: self.radio.as_ref().map(RadioHandle::counts).unwrap_or_default(),
            messages: std::mem::take(&mut r.messages),
            brown_out_cycles: std::mem::take(&mut self.brown_out_cycles),
            functions,
            window: r.window.take(),
            log,
            coupons: self.coupons.as_ref().map(Coupons::told),
            load: None,
        })
    }
}

/// Runs the machine, telling it the rail in steps as that moves.
fn run(
    machine: &mut Machine,
    until: &Until,
    ahead: Option<RailAhead>,
    observer: &mut impl Observer,
) -> Stop {
    let (Some(rail), Some(end)) = (ahead, until.time) else { return machine.run(until, observer) };
    let (begin, steps) = (machine.time().0, rail.steps());
    let mut stop = Stop::Time;
    for k in 0..steps {
        machine.set_vcc(rail.at_v((f64::from(k) + 0.5) / f64::from(steps)));
        let share = (end.0 - begin) * u128::from(k + 1) / u128::from(steps);
        let step = Until { time: Some(Picos(begin + share)), ..until.clone() };
        stop = machine.run(&step, observer);
        if stop != Stop::Time {
            break;
        }
    }
    stop
}

fn to_picos(time_s: f64) -> u128 {
    // Rounded up: a boundary that lies within a picosecond is behind us then.
    (time_s * 1e12).ceil() as u128
}
