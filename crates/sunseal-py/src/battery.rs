// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lives of batteries, for as many nodes as an array has rows.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunseal_power::Use;

use crate::error::{EngineError, refuse};
use crate::library::Data;

/// A cell of the library with a converter behind it or none, at a temperature.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Battery {
    inner: sunseal_power::Battery,
}

/// Columns of a node, and of what it is told.
const ASKED: usize = 6;
const TOLD: usize = 8;

#[pymethods]
impl Battery {
    /// `charge` and `self_discharge` are shares of what its file says.
    #[new]
    #[pyo3(signature = (data, cell, converter=None, temperature_c=25.0, charge=1.0, self_discharge=1.0))]
    fn new(
        data: Data<'_>,
        cell: &str,
        converter: Option<&str>,
        temperature_c: f64,
        charge: f64,
        self_discharge: f64,
    ) -> PyResult<Self> {
        let parts = data.library().room("parts");
        let shares = (charge, self_discharge);
        let made = sunseal_power::Battery::of(&parts, cell, converter, temperature_c, shares);
        Ok(Self { inner: made.map_err(refuse)? })
    }

    /// Open voltage of the empty cell.
    #[getter]
    fn empty_v(&self) -> f64 {
        self.inner.cell().v_empty_v()
    }

    /// Open voltage of the full cell.
    #[getter]
    fn full_v(&self) -> f64 {
        self.inner.cell().v_full_v()
    }

    /// Voltage at which its discharge ends.
    #[getter]
    fn end_v(&self) -> f64 {
        self.inner.cell().v_end_v
    }

    /// Charge of its file, whatever the temperature.
    #[getter]
    fn capacity_c(&self) -> f64 {
        self.inner.cell().capacity_mah * 3.6
    }

    /// Share of the charge lost in a year at 25 degrees.
    #[getter]
    fn self_discharge_per_year(&self) -> f64 {
        self.inner.cell().self_discharge_percent_per_year / 100.0
    }

    /// Least input voltage of its converter.
    #[getter]
    fn input_min_v(&self) -> Option<f64> {
        self.inner.input_min_v()
    }

    /// Energy between two open voltages.
    fn energy_j(&self, low_v: f64, high_v: f64) -> f64 {
        self.inner.energy_j(low_v, high_v)
    }

    /// Mean open voltage over the charge above another; nothing if there is none.
    fn mean_v(&self, above_v: f64) -> Option<f64> {
        self.inner.mean_v(above_v)
    }

    /// Lives under nodes, rows of doubles: `vcc_v`, `asleep_w`, `awake_w`, `busy`, `peak_w`, `needs_v`. Of each comes
    /// back `lasts_s`, `end_v`, `used_j`, `left_j`, `leak_j`, `esr_j`, `output_j`, `rail_j`.
    fn lasts<'py>(&self, py: Python<'py>, nodes: PyBuffer<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let asked = nodes.to_vec(py)?;
        if asked.len() % ASKED != 0 {
            return Err(EngineError::new_err(format!("a node has {ASKED} figures")));
        }
        let told = py.detach(|| {
            let mut told = Vec::with_capacity(asked.len() / ASKED * TOLD * 8);
            for row in asked.chunks_exact(ASKED) {
                let of = Use {
                    vcc_v: row[0],
                    asleep_w: row[1],
                    awake_w: row[2],
                    busy: row[3],
                    peak_w: row[4],
                    needs_v: row[5],
                };
                let l = self.inner.lasts(&of).map_err(refuse)?;
                let row: [f64; TOLD] = [
                    l.lasts_s, l.end_v, l.used_j, l.left_j, l.leak_j, l.esr_j, l.output_j, l.rail_j,
                ];
                told.extend(row.iter().flat_map(|f| f.to_ne_bytes()));
            }
            Ok::<_, PyErr>(told)
        })?;
        Ok(PyBytes::new(py, &told))
    }
}
