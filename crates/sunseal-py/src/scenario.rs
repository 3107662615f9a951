// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop, played from Python.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sunseal_node::{GatewayChoice, Node, Progress, Until, play_load};
use sunseal_power::{HarvestError, HarvestTrace, TwoDiode};

use crate::device::{self, OnBus, Raised};
use crate::error::{EngineError, refuse};
use crate::library::Data;

/// Time between two moments at which progress is told and Ctrl-C heard, by the clock on the wall.
const LOOK: Duration = Duration::from_millis(50);

/// A scenario file, read and checked.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Scenario {
    pub(crate) inner: sunseal_node::Scenario,
    /// Folder from which it was read.
    folder: Option<PathBuf>,
}

impl Scenario {
    fn changed(&self, change: impl FnOnce(&mut sunseal_node::Scenario)) -> Self {
        let mut inner = self.inner.clone();
        change(&mut inner);
        Self { inner, folder: self.folder.clone() }
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file; paths in it are taken from its folder. With `program`, that is played: what the file says of a
    /// program of its own, or of a load, is left out.
    #[new]
    #[pyo3(signature = (path, program=None))]
    fn new(path: &str, program: Option<&str>) -> PyResult<Self> {
        let path = Path::new(path);
        let inner = match program {
            Some(program) => sunseal_node::Scenario::load_for(path, Path::new(program)),
            None => sunseal_node::Scenario::load(path),
        };
        let inner = inner.map_err(refuse)?;
        Ok(Self { inner, folder: path.parent().map(Path::to_owned) })
    }

    /// Reads what `to_json` has given, changed or not; paths in it are taken from the working folder.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let inner: sunseal_node::Scenario = serde_json::from_str(text).map_err(refuse)?;
        inner.check(&inner.name).map_err(refuse)?;
        Ok(Self { inner, folder: None })
    }

    /// Everything in it, defaults included, as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner).map_err(refuse)
    }

    /// The folder of its file, in which parts and boards of one's own may be; none of one that came as JSON.
    #[getter]
    fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The same with another seed.
    fn seeded(&self, seed: u64) -> Self {
        self.changed(|s| s.seed = seed)
    }

    /// The same at another temperature of chip and store, in degrees Celsius.
    fn at_temperature(&self, temperature_c: f64) -> Self {
        self.changed(|s| (s.temperature_c, s.supply.temperature_c) = (Some(temperature_c), None))
    }

    /// The same, with the energy told by function, and with a window from one time to another in seconds.
    fn observed(&self, functions: bool, window: Option<(f64, f64)>) -> PyResult<Self> {
        let changed = self.changed(|s| {
            s.output.functions |= functions;
            s.output.window = window.map(|(from_s, to_s)| [from_s, to_s]).or(s.output.window);
        });
        changed.inner.check(&changed.inner.source).map_err(refuse)?;
        Ok(changed)
    }

    /// The same, ended before its time by this: `first-cut`.
    fn ending(&self, until: &str) -> PyResult<Self> {
        let until: Until = serde_json::from_value(until.into()).map_err(|_| {
            EngineError::new_err(format!("a run ends until `{until}` by nothing; it is first-cut"))
        })?;
        Ok(self.changed(|s| s.until = Some(until)))
    }

    /// The same with a gateway at `host:port`.
    fn answered_by(&self, address: &str) -> Self {
        self.changed(|s| s.gateway = Some(GatewayChoice { address: address.to_owned() }))
    }
}

/// Times and, for each, a power or the seven figures of a cell, which hold until the next time.
#[derive(FromPyObject)]
pub enum Lit {
    Powers((Vec<f64>, Vec<f64>)),
    Cells((Vec<f64>, Vec<[f64; 7]>)),
}

impl Lit {
    fn trace(self) -> Result<HarvestTrace, HarvestError> {
        match self {
            Self::Powers((time_s, power_w)) => HarvestTrace::from_arrays(time_s, power_w),
            Self::Cells((time_s, cells)) => {
                HarvestTrace::from_cell(time_s, cells.into_iter().map(TwoDiode::from).collect())
            }
        }
    }
}

/// Plays a scenario and returns its record as JSON. `light` is time_s with powers or cells of the panel, and
/// stands for the file's own; `progress` hears simulated_s, vcap_v, brown_outs, packets sent. With `keep`, a
/// file and seconds of the clock on the wall, the run is kept there so often and when it is stopped; with
/// `resume` it goes on from there. `told` hears sentences: where it goes on, what could not be kept. `devices` are those
/// that the scenario names on its buses.
#[pyfunction]
#[pyo3(signature = (data, scenario, light, progress, keep, resume, told, devices=None))]
#[expect(clippy::too_many_arguments, reason = "one function of Python, by name")]
pub fn simulate(
    py: Python<'_>,
    data: Data<'_>,
    scenario: &Scenario,
    light: Option<Lit>,
    progress: Option<Py<PyAny>>,
    keep: Option<(String, f64)>,
    resume: bool,
    told: Option<Py<PyAny>>,
    devices: Option<Vec<OnBus>>,
) -> PyResult<String> {
    let devices: Vec<_> =
        devices.unwrap_or_default().into_iter().map(device::on_bus).collect::<PyResult<_>>()?;
    let (devices, raised): (Vec<_>, Vec<_>) = devices.into_iter().unzip();
    let told = move |sentence: &str| {
        // A listener that fails must not end the run; Ctrl-C is heard at the next look.
        Python::attach(|py| told.as_ref().map(|f| f.call1(py, (sentence,)).map(|_| ())));
    };
    let (library, scenario) = (data.library(), scenario.inner.clone());
    py.detach(|| {
        let light = light.map(Lit::trace).transpose().map_err(refuse)?;
        // A load by profile takes no machine, and no checkpoint.
        let (mut node, of_load) = match scenario.load {
            Some(_) if resume => {
                return Err(EngineError::new_err(
                    "a load by profile is not kept in checkpoints; play it again without `resume`",
                ));
            }
            Some(_) => (None, Some((scenario, light))),
            None => {
                let node = Node::with_devices(&library, scenario, light, devices);
                (Some(node.map_err(refuse)?), None)
            }
        };
        if let (Some(node), Some((file, every_s))) = (&mut node, keep) {
            let file = Path::new(&file);
            if resume {
                let from_s = node.resume(file).map_err(refuse)?;
                told(&format!("{} goes on at {from_s:.3} s", file.display()));
            }
            let every = Duration::try_from_secs_f64(every_s).map_err(refuse)?;
            node.keep(file, every, Box::new(told)).map_err(refuse)?;
        }
        let mut stopped: Option<PyErr> = None;
        let mut looked = Instant::now();
        let mut watch = |p: Progress| {
            if looked.elapsed() < LOOK {
                return true;
            }
            looked = Instant::now();
            let heard = Python::attach(|py| {
                py.check_signals()?;
                let told = (p.simulated_s, p.vcap_v, p.brown_outs, p.sent);
                progress.as_ref().map_or(Ok(()), |f| f.call1(py, told).map(|_| ()))
            });
            stopped = heard.err();
            stopped.is_none()
        };
        let record = match (node, of_load) {
            (Some(mut node), _) => node.run(&mut watch),
            (None, Some((scenario, light))) => play_load(&library, &scenario, light, &mut watch),
            (None, None) => unreachable!("one of them is played"),
        };
        // What a device has raised is why the machine stopped.
        if let Some(e) = stopped.or_else(|| raised.iter().find_map(Raised::take)) {
            return Err(e);
        }
        let record = record.map_err(refuse)?;
        serde_json::to_string(&record)
            .map_err(|e| EngineError::new_err(format!("the record is not JSON: {e}")))
    })
}
