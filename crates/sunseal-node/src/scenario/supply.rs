// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supply that a scenario and its board make: harvester, store, charger, output, and the voltages between which
//! the node is on.

use super::*;

/// The parts of a supply, as scenario or board name them.
struct Chain<'a> {
    scenario: &'a Scenario,
    parts: &'a Room,
    board: &'a Board,
    device: &'a Device,
    harvester: Option<HarvesterPart>,
    cell: Option<(&'a String, CellPart)>,
    charger: Option<(&'a str, ChargerPart)>,
    converter: Option<(&'a str, ConverterPart)>,
    /// The chip is off below.
    stop_v: f64,
    /// It surely starts from here.
    go_v: f64,
}

impl Scenario {
    fn bad(&self, reason: String) -> NodeError {
        NodeError::Scenario { path: self.source.clone(), reason }
    }

    fn bad_part(&self, part: &str, clause: String) -> NodeError {
        self.bad(format!("part {part} {clause}"))
    }

    /// The supply that board and scenario make, and the voltage that its store begins at.
    pub(crate) fn supply_config(
        &self,
        parts: &Room,
        board: &Board,
        device: &Device,
        least_v: f64,
        vcc_v: f64,
    ) -> Result<(SupplyConfig, f64), NodeError> {
        let s = &self.supply;
        let mut chain = Chain::begin(self, parts, board, device, least_v)?;
        let (store, v_rated_v) = chain.store()?;
        let charger = chain.charger()?;
        let output = chain.output(vcc_v)?;
        let (v_on_v, mut v_cut_v) = chain.thresholds(&output);
        let v_max_v = chain.most_v(&output, v_rated_v)?;
        let start_overhead_j = chain.overhead_j(&store, v_max_v, &mut v_cut_v);
        chain.starts(&output, vcc_v)?;
        let own = chain.own_currents(v_on_v)?;
        let full_v = chain.cell.as_ref().map(|(_, c)| c.v_full_v().min(v_max_v));
        let config = SupplyConfig {
            store,
            charger,
            output,
            v_max_v,
            v_on_v,
            v_cut_v,
            vcc_v,
            quiescent_off_w: own.off_a * v_on_v,
            charger_quiescent_a: own.lit_a,
            charger_asleep_a: own.dark_a,
            start_overhead_j,
            decoupling_f: s.decoupling_f.unwrap_or(0.0),
            rail_end_v: chain.stop_v,
        };
        Ok((config, s.initial_v.or(full_v).unwrap_or(v_on_v)))
    }
}

impl<'a> Chain<'a> {
    /// The chip's voltages and the harvester; the other parts come with their stage.
    fn begin(
        scenario: &'a Scenario,
        parts: &'a Room,
        board: &'a Board,
        device: &'a Device,
        least_v: f64,
    ) -> Result<Self, NodeError> {
        let s = &scenario.supply;
        // Below the least supply of its datasheet no model says what the chip does: it is off there.
        let chip = &device.supply;
        let stop_v = chip.bor_falling_v.max(least_v);
        let margin_v = (chip.bor_rising_v - chip.bor_falling_v).max(0.05);
        let go_v = (stop_v + margin_v).max(device.starts_from_v());
        let name = s.harvester.as_ref().or(board.supply.as_ref().map(|o| &o.harvester));
        let harvester = match name {
            Some(name) => Some(load_part::<HarvesterPart>(parts, name, "harvester")?),
            None => None,
        };
        let lit = scenario.harvest != HarvestChoice::default();
        if harvester.is_none() && s.charger.is_none() && lit {
            return Err(scenario.bad(format!(
                "there is a table [harvest], and {} has no harvester; name supply.harvester or supply.charger, or leave the light out",
                board.name
            )));
        }
        let (cell, charger, converter) = (None, None, None);
        Ok(Self {
            scenario,
            parts,
            board,
            device,
            harvester,
            cell,
            charger,
            converter,
            stop_v,
            go_v,
        })
    }

    /// Cells and capacitor, and the voltage that they bear.
    fn store(&mut self) -> Result<(Store, f64), NodeError> {
        let (scenario, s) = (self.scenario, &self.scenario.supply);
        let temperature_c = s.temperature_c.or(scenario.temperature_c).unwrap_or(25.0);
        let battery = self.board.battery.as_ref().filter(|_| s.capacitor.is_none());
        self.cell = match s.cell.as_ref().or(battery.map(|b| &b.part)) {
            Some(name) => Some((name, load_part::<CellPart>(self.parts, name, "cell")?)),
            None => None,
        };
        let mut store = Store { branches: Vec::new() };
        let mut v_rated_v = f64::INFINITY;
        if let Some((name, c)) = &self.cell {
            let made = c.store(temperature_c).map_err(|e| scenario.bad_part(name, e))?;
            store.branches.extend(made.branches);
            v_rated_v = c.v_charge_v.unwrap_or_else(|| c.v_full_v());
            if !c.rechargeable && scenario.harvest != HarvestChoice::default() {
                return Err(scenario.bad(format!(
                    "supply.cell is {name}, which must not be charged, and there is a table [harvest]; leave one out"
                )));
            }
        }
        if self.cell.is_none() || s.capacitor.is_some() {
            let (made, rated_v) = self.capacitor(temperature_c)?;
            store.branches.extend(made.branches);
            v_rated_v = v_rated_v.min(rated_v);
        }
        Ok((store, v_rated_v))
    }

    fn capacitor(&self, temperature_c: f64) -> Result<(Store, f64), NodeError> {
        let (scenario, s) = (self.scenario, &self.scenario.supply);
        let own = self.board.supply.as_ref().map(|o| &o.capacitor);
        let name = s.capacitor.as_ref().or(own).ok_or_else(|| {
            scenario.bad(format!(
                "{} has neither battery nor capacitor of its own; name supply.cell or supply.capacitor",
                self.board.name
            ))
        })?;
        let mut c: CapacitorPart = load_part(self.parts, name, "capacitor")?;
        // One figure changed makes it another capacitor, of which only that is known.
        let other = [s.capacitance_f, s.esr_ohm, s.leak_ohm].iter().any(Option::is_some);
        c.capacitance_f = s.capacitance_f.unwrap_or(c.capacitance_f);
        c.esr_ohm = s.esr_ohm.unwrap_or(c.esr_ohm);
        let mut made =
            c.store(temperature_c, s.plain || other).map_err(|e| scenario.bad_part(name, e))?;
        if let Some(leak_ohm) = s.leak_ohm {
            made.branches[0].leak_ohm = leak_ohm;
        }
        Ok((made, c.v_rated_v))
    }

    fn diode_v(&self) -> f64 {
        self.scenario.supply.diode_v.unwrap_or(0.3)
    }

    /// From the source to the store.
    fn charger(&mut self) -> Result<Charger, NodeError> {
        let s = &self.scenario.supply;
        self.charger = match s.charger.as_deref() {
            None | Some("diode") => None,
            Some(name) => Some((name, load_part::<ChargerPart>(self.parts, name, "charger")?)),
        };
        Ok(match (&s.charger, &self.charger) {
            (_, Some((name, c))) => c.charger().map_err(|e| self.scenario.bad_part(name, e))?,
            (Some(_), None) => Charger::Diode { drop_v: self.diode_v() },
            (None, None) => match &self.harvester {
                Some(h) => Charger::Constant {
                    efficiency: h.charge_efficiency,
                    min_w: h.panel_min_uw * 1e-6,
                },
                // Nothing comes that it could charge with.
                None => Charger::Constant { efficiency: 1.0, min_w: 0.0 },
            },
        })
    }

    /// The harvester's own output, unless another is named; a battery's board without one has the cells straight on the
    /// rail.
    fn own_output(&self) -> Option<&HarvesterPart> {
        self.harvester.as_ref().filter(|_| self.scenario.supply.output.is_none())
    }

    /// From the store to the rail.
    fn output(&mut self, vcc_v: f64) -> Result<Rail, NodeError> {
        let s = &self.scenario.supply;
        self.converter = match s.output.as_deref() {
            None | Some("direct" | "diode") => None,
            Some(name) => Some((name, load_part::<ConverterPart>(self.parts, name, "converter")?)),
        };
        Ok(match (self.own_output(), &self.converter) {
            (_, Some((name, c))) => {
                c.output(vcc_v, s.below_v).map_err(|e| self.scenario.bad_part(name, e))?
            }
            (Some(h), None) => Rail::Regulated {
                efficiency: Efficiency::constant(h.output_efficiency),
                quiescent_w: h.quiescent_on_uw * 1e-6,
                quiescent_a: 0.0,
            },
            (None, None) => {
                let diode = s.output.as_deref() == Some("diode");
                Rail::Direct { drop_v: if diode { self.diode_v() } else { 0.0 } }
            }
        })
    }

    /// Own currents of the chips; a harvester's power, at the restart voltage. Its half alone costs the whole.
    fn own_currents(&self, v_on_v: f64) -> Result<OwnCurrents, NodeError> {
        let charger = self.charger.as_ref().map(|(name, _)| *name);
        let converter = self.converter.as_ref().map(|(name, _)| *name);
        let mut own = OwnCurrents::of(self.parts, charger, converter)?;
        let charges = self.scenario.supply.charger.is_none();
        if let Some(h) = self.harvester.as_ref() {
            let off_a = h.quiescent_off_uw * 1e-6 / v_on_v;
            if self.own_output().is_some() {
                own.off_a += off_a;
            } else if charges {
                own.lit_a += off_a;
                own.dark_a += off_a;
            }
        }
        Ok(own)
    }

    /// The store's voltages at which the node is switched on, and cut off.
    fn thresholds(&self, output: &Rail) -> (f64, f64) {
        let drop_v = drop_v(output);
        let (mut v_on_v, mut v_cut_v) = match (&self.charger, &self.converter) {
            (Some((_, c)), None) => (c.v_ok_rising_v, c.v_ok_falling_v),
            // An output of its own needs its input, whatever the charger says of the store.
            (Some((_, c)), Some((_, o))) => {
                (c.v_ok_rising_v.max(o.v_start_v), c.v_ok_falling_v.max(o.v_in_min_v))
            }
            (None, Some((_, c))) => (c.v_start_v, c.v_in_min_v),
            (None, None) => match self.own_output() {
                Some(h) => (h.v_on_v, h.v_cut_v),
                None => (self.go_v + drop_v, self.stop_v + drop_v),
            },
        };
        if let Rail::Linear { dropout_v, .. } = output {
            v_cut_v = v_cut_v.max(self.stop_v + dropout_v);
            v_on_v = v_on_v.max(self.go_v + dropout_v);
        }
        if let Some((_, c)) = &self.cell {
            v_cut_v = v_cut_v.max(c.v_end_v);
            v_on_v = v_on_v.max(v_cut_v * 1.01);
            // Nothing flows from a cell at the lowest voltage that it has.
            if v_on_v <= c.v_empty_v() {
                v_on_v = c.v_empty_v() * 1.01;
            }
        }
        let s = &self.scenario.supply;
        (s.v_on_v.unwrap_or(v_on_v), s.v_cut_v.unwrap_or(v_cut_v))
    }

    /// The voltage up to which the store is charged.
    fn most_v(&self, output: &Rail, v_rated_v: f64) -> Result<f64, NodeError> {
        let vcc_max_v = self.device.supply.vcc_max_v;
        let charged_v = match (&self.charger, &self.harvester) {
            (Some((_, c)), _) => c.v_ov_v,
            (None, Some(h)) => h.v_max_v,
            (None, None) => vcc_max_v,
        };
        let v_max_v = self.scenario.supply.v_max_v.unwrap_or(charged_v).min(v_rated_v);
        if !follows(output) {
            return Ok(v_max_v);
        }
        let bears_v = vcc_max_v + drop_v(output);
        if self.cell.is_some() && v_max_v > bears_v {
            return Err(self.scenario.bad(format!(
                "the store stands at up to {v_max_v} V and the chip behind it bears {vcc_max_v} V; take an output that regulates"
            )));
        }
        Ok(v_max_v.min(bears_v))
    }

    /// Energy that each start costs; an overhead that is read as a reserve raises the cut-off instead.
    fn overhead_j(&self, store: &Store, v_max_v: f64, v_cut_v: &mut f64) -> f64 {
        let own_j = self.own_output().map_or(0.0, |h| h.overhead_mj * 1e-3);
        let overhead_j = self.scenario.supply.overhead_j.unwrap_or(own_j);
        let reading = self.harvester.as_ref().map(|h| h.overhead_reading);
        match reading.unwrap_or(OverheadReading::PerStart) {
            OverheadReading::PerStart => overhead_j,
            OverheadReading::Reserve => {
                let c = store.mean_capacitance_f(*v_cut_v, v_max_v);
                *v_cut_v = v_cut_v.max((2.0 * overhead_j / c).sqrt());
                0.0
            }
        }
    }

    /// Refuses a regulated rail from which the chip's supervisor never lets it start.
    fn starts(&self, output: &Rail, vcc_v: f64) -> Result<(), NodeError> {
        let start_v = self.device.starts_from_v();
        if follows(output) || vcc_v >= start_v {
            return Ok(());
        }
        Err(self.scenario.bad(format!(
            "power.vcc_v is {vcc_v} V, and the supervisor of {} holds it in reset until its supply has risen to {start_v} V, so it never starts; take {start_v} V or more",
            self.device.name
        )))
    }
}

/// True if the rail follows the store's voltage.
fn follows(output: &Rail) -> bool {
    matches!(output, Rail::Direct { .. } | Rail::Assisted { .. })
}

/// Voltage that a diode between store and rail takes.
fn drop_v(output: &Rail) -> f64 {
    if let Rail::Direct { drop_v } = output { *drop_v } else { 0.0 }
}
