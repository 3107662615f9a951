// SPDX-License-Identifier: MIT OR Apache-2.0
//! Years of harvested supplies, for as many loads as an array has rows.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunseal_node::Node;
use sunseal_power::Yearly;

use crate::error::refuse;
use crate::library::Data;
use crate::scenario::Scenario;

/// The supply of a scenario, to be played through a year of light under any load.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Supply {
    inner: Yearly,
}

fn bytes<'py>(py: Python<'py>, figures: &[f64]) -> Bound<'py, PyBytes> {
    let raw: Vec<u8> = figures.iter().flat_map(|f| f.to_ne_bytes()).collect();
    PyBytes::new(py, &raw)
}

/// Loads at rails, two doubles each.
fn pairs(py: Python<'_>, loads: &PyBuffer<f64>) -> PyResult<Vec<(f64, f64)>> {
    Ok(loads.to_vec(py)?.chunks_exact(2).map(|row| (row[0], row[1])).collect())
}

#[pymethods]
impl Supply {
    /// `charge` and `leakage` are shares of what its store's file says.
    #[new]
    #[pyo3(signature = (data, scenario, charge=1.0, leakage=1.0))]
    fn new(data: Data<'_>, scenario: &Scenario, charge: f64, leakage: f64) -> PyResult<Self> {
        let made = Node::supply_of(data.library(), &scenario.inner).map_err(refuse)?;
        Ok(Self { inner: Yearly::of(made.config(), made.v_v(), (charge, leakage)) })
    }

    /// The output switches on here.
    #[getter]
    fn v_on_v(&self) -> f64 {
        self.inner.config().v_on_v
    }

    /// The output switches off here.
    #[getter]
    fn v_cut_v(&self) -> f64 {
        self.inner.config().v_cut_v
    }

    /// The store is charged to this.
    #[getter]
    fn v_max_v(&self) -> f64 {
        self.inner.config().v_max_v
    }

    /// Energy that a start costs the store.
    #[getter]
    fn start_j(&self) -> f64 {
        self.inner.config().start_overhead_j
    }

    /// Energy that the full store holds above the cut-off.
    #[getter]
    fn full_j(&self) -> f64 {
        self.inner.full_j()
    }

    /// Highest rail at which it holds a node over the whole range of its store.
    #[getter]
    fn rail_most_v(&self) -> f64 {
        self.inner.rail_most_v()
    }

    /// True if the closed loop itself keeps what a load takes in the store's resistance.
    #[getter]
    fn keeps_reserve(&self) -> bool {
        self.inner.keeps_reserve()
    }

    /// Power that the store gives at its middle voltage for loads at rails, rows of power and voltage; `output` is a
    /// share of the output's efficiency.
    #[pyo3(signature = (loads, output=1.0))]
    fn given_w<'py>(
        &self,
        py: Python<'py>,
        loads: PyBuffer<f64>,
        output: f64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let loads = pairs(py, &loads)?;
        Ok(bytes(py, &py.detach(|| self.inner.given_w(&loads, output))))
    }

    /// Largest load at a rail for which the store gives no more than so much at its middle voltage.
    fn carried_w(&self, given_w: f64, vcc_v: f64) -> f64 {
        self.inner.carried_w(given_w, vcc_v)
    }

    /// Power that comes into the store of a light whose panel gives so much.
    fn charged_w(&self, light_w: f64) -> f64 {
        self.inner.charged_w(light_w)
    }

    /// Least power of a panel of which so much comes into the store; infinite where none does.
    fn light_w(&self, charged_w: f64) -> f64 {
        self.inner.light_w(charged_w)
    }

    /// Power by which the store gains in a light while the output is off, at the restart voltage.
    fn gains_w(&self, light_w: f64) -> f64 {
        self.inner.gains_w(light_w)
    }

    /// Energy that the store holds between two open voltages.
    fn energy_j(&self, low_v: f64, high_v: f64) -> f64 {
        self.inner.energy_j(low_v, high_v)
    }

    /// Energy that must be left above the cut-off so that the terminal does not fall to it under such loads.
    fn reserve_j<'py>(
        &self,
        py: Python<'py>,
        loads: PyBuffer<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let loads = pairs(py, &loads)?;
        Ok(bytes(py, &py.detach(|| self.inner.reserve_j(&loads))))
    }

    /// The largest loads that it keeps above each of rising gates, shares of its full store, on all but so many days of
    /// a light in steps; `charger` is a share of the charger's efficiency.
    #[pyo3(signature = (edges_s, light_w, fails, gates, charger=1.0))]
    fn largest_w(
        &self,
        py: Python<'_>,
        edges_s: PyBuffer<f64>,
        light_w: PyBuffer<f64>,
        fails: usize,
        gates: Vec<f64>,
        charger: f64,
    ) -> PyResult<Vec<f64>> {
        let (edges_s, light_w) = (edges_s.to_vec(py)?, light_w.to_vec(py)?);
        Ok(py.detach(|| {
            let lit = self.inner.lit(&edges_s, &light_w, charger);
            self.inner.largest_w(&lit, fails, &gates)
        }))
    }

    /// Time for which the full store lasts without light under a load, told by what it gives for it, down to an energy
    /// above the cut-off.
    fn dark_s(&self, given_w: f64, down_to_j: f64) -> f64 {
        self.inner.dark_s(given_w, down_to_j)
    }

    /// Each day's lowest energy above the cut-off under a load, told by what the store gives for it.
    #[pyo3(signature = (edges_s, light_w, given_w, charger=1.0))]
    fn lows<'py>(
        &self,
        py: Python<'py>,
        edges_s: PyBuffer<f64>,
        light_w: PyBuffer<f64>,
        given_w: f64,
        charger: f64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (edges_s, light_w) = (edges_s.to_vec(py)?, light_w.to_vec(py)?);
        let lows = py.detach(|| {
            let lit = self.inner.lit(&edges_s, &light_w, charger);
            self.inner.lows(&lit, given_w)
        });
        Ok(bytes(py, &lows))
    }
}
