// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panels: what they give of light, for many moments at once.

use pyo3::prelude::*;
use sunseal_power::PanelPart;

use crate::error::{refuse, refuse_at};

/// A panel's law, out of the table `[panel]` of its part as JSON.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Panel {
    name: String,
    inner: sunseal_power::Panel,
}

#[pymethods]
impl Panel {
    #[new]
    fn new(name: String, table: &str) -> PyResult<Self> {
        let place = || format!("panel {name}");
        let part: PanelPart = serde_json::from_str(table).map_err(refuse_at(place()))?;
        let inner =
            sunseal_power::Panel::new(&part).map_err(|e| refuse(format!("{} {e}", place())))?;
        Ok(Self { name, inner })
    }

    /// True if its light is told in lux, and not in W/m2.
    #[getter]
    fn in_lux(&self) -> bool {
        self.inner.in_lux()
    }

    /// Power at standard test conditions, or in the brightest light of its table.
    #[getter]
    fn rated_w(&self) -> f64 {
        self.inner.rated_w()
    }

    /// Voltages and currents at the maximum power point, in a light and at a cell's temperature.
    fn mp(&self, light: Vec<f64>, cell_c: Vec<f64>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let both = light.iter().zip(&cell_c);
        let points: Result<Vec<_>, _> = both.map(|(l, c)| self.inner.mp(*l, *c)).collect();
        Ok(points.map_err(|e| self.refuse(e))?.into_iter().unzip())
    }

    /// Shares of that power by the darkest and the brightest reading of the datasheet, at 25 degrees.
    fn ends(&self, light: Vec<f64>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let ends: Result<Vec<_>, _> = light.iter().map(|l| self.inner.ends(*l)).collect();
        Ok(ends.map_err(|e| self.refuse(e))?.into_iter().unzip())
    }

    /// Seven figures of two diodes for each moment, as a trace has them; None of a panel that is told by points.
    fn cells(&self, light: Vec<f64>, cell_c: Vec<f64>) -> Option<Vec<[f64; 7]>> {
        let of = |(l, c): (&f64, &f64)| {
            let cell = self.inner.cell(*l, *c)?;
            let one = cell.first;
            Some([
                one.photocurrent_a,
                one.saturation_a,
                one.series_ohm,
                one.shunt_ohm,
                one.n_ns_vth_v,
                cell.saturation_2_a,
                cell.n_ns_vth_2_v,
            ])
        };
        light.iter().zip(&cell_c).map(of).collect()
    }

    /// Currents at voltages, for each moment.
    fn curves(
        &self,
        light: Vec<f64>,
        cell_c: Vec<f64>,
        voltage_v: Vec<f64>,
    ) -> PyResult<Vec<Vec<f64>>> {
        let of = |(l, c): (&f64, &f64)| {
            let curve = self.inner.curve(*l, *c).map_err(|e| self.refuse(e))?;
            Ok(voltage_v.iter().map(|v| curve.current_a(*v)).collect())
        };
        light.iter().zip(&cell_c).map(of).collect()
    }

    /// Open-circuit voltages, for each moment.
    fn v_oc(&self, light: Vec<f64>, cell_c: Vec<f64>) -> PyResult<Vec<f64>> {
        let of = |(l, c): (&f64, &f64)| self.inner.curve(*l, *c).map(|curve| curve.v_oc_v());
        light.iter().zip(&cell_c).map(of).collect::<Result<_, _>>().map_err(|e| self.refuse(e))
    }
}

impl Panel {
    fn refuse(&self, clause: String) -> PyErr {
        refuse(format!("panel {} {clause}", self.name))
    }
}
