// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fleets of nodes from profiles, played from Python.

use pyo3::prelude::*;
use serde::Deserialize;
use sunseal_node::{Fate, Individual, Node, NodeProfile};
use sunseal_power::{HarvestTrace, Supply};

use crate::error::{EngineError, refuse};
use crate::library::Data;
use crate::scenario::Scenario;

/// A node as Python hands it over.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    profile: usize,
    trace: usize,
    light_scale: f64,
    phase_s: f64,
    /// Another capacitance than the scenario's.
    capacitance_f: Option<f64>,
}

/// Fleet that is played.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    duration_s: f64,
    profiles: Vec<NodeProfile>,
    nodes: Vec<Member>,
}

/// Plays nodes on a scenario's supply and returns their fates as JSON. `plan` is JSON: `duration_s`,
/// `profiles`, `nodes`; `traces` are time_s and power_w, named by a node by their place. `heard` is
/// called after each node with how many are done; nothing else of Python is touched meanwhile.
#[pyfunction]
#[pyo3(signature = (data, scenario, plan, traces, heard))]
pub fn fleet(
    py: Python<'_>,
    data: Data<'_>,
    scenario: &Scenario,
    plan: &str,
    traces: Vec<(Vec<f64>, Vec<f64>)>,
    heard: Option<Py<PyAny>>,
) -> PyResult<String> {
    let Plan { duration_s, profiles, nodes } = serde_json::from_str(plan).map_err(refuse)?;
    let (library, mut scenario) = (data.library(), scenario.inner.clone());
    py.detach(|| {
        let traces: Vec<HarvestTrace> = traces
            .into_iter()
            .map(|(time_s, power_w)| HarvestTrace::from_arrays(time_s, power_w))
            .collect::<Result<_, _>>()
            .map_err(refuse)?;
        let own_f = scenario.supply.capacitance_f;
        let mut supply: Option<(Option<f64>, Supply)> = None;
        let mut fates: Vec<Fate> = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let (Some(profile), Some(trace)) = (profiles.get(node.profile), traces.get(node.trace))
            else {
                return Err(EngineError::new_err(format!(
                    "node {} names profile {} of {} and trace {} of {}",
                    fates.len(),
                    node.profile,
                    profiles.len(),
                    node.trace,
                    traces.len()
                )));
            };
            let fresh = match &supply {
                Some((capacitance_f, supply)) if *capacitance_f == node.capacitance_f => {
                    supply.clone()
                }
                _ => {
                    scenario.supply.capacitance_f = node.capacitance_f.or(own_f);
                    let made = Node::supply_of(&library, &scenario).map_err(refuse)?;
                    supply = Some((node.capacitance_f, made.clone()));
                    made
                }
            };
            let individual = Individual { light_scale: node.light_scale, phase_s: node.phase_s };
            let fate = sunseal_node::play(fresh, profile, trace, individual, duration_s);
            fates.push(fate.map_err(refuse)?);
            if let Some(heard) = &heard {
                Python::attach(|py| {
                    py.check_signals()?;
                    heard.call1(py, (fates.len(),)).map(|_| ())
                })?;
            }
        }
        serde_json::to_string(&fates).map_err(refuse)
    })
}
