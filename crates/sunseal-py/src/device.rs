// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sensor, memory or other device on a serial bus, written in Python: `sunseal.machine.devices` says what it may have.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunseal_mcu::{Part, Pin, Wiring};
use sunseal_node::BusDevice;
use sunseal_trace::Picos;

use crate::error::refuse;
use crate::machine::Machine;

thread_local! {
    /// A device is being asked on this thread, within a run of its machine.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Does what reaches into a device's Python code. A panic in there, such as that of [`refuse_if_asked`], is an error of
/// the device.
fn asking<T>(ask: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let before = ASKED.replace(true);
    let answer = catch_unwind(AssertUnwindSafe(ask));
    ASKED.set(before);
    answer.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(refuse(said.unwrap_or("the device ended in a panic")))
    })
}

/// # Panics
/// If a device on a machine's bus asks a machine for something while it is told of a byte: its own is in the middle of a
/// step, and its lock is taken.
pub fn refuse_if_asked() {
    if ASKED.get() {
        // No failure of this program, whose place in it would be shown.
        resume_unwind(Box::new(
            "a device cannot use a machine while it is asked for a byte or told of one; its attribute `time_s` has the time"
                .to_owned(),
        ));
    }
}

/// Exception that a device has raised, until the run that it ended tells of it.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// The object with what the machine asks for often: its pins, its state, when it wants to be called next.
pub struct Device {
    object: Py<PyAny>,
    name: String,
    addresses: Vec<u8>,
    raised: Raised,
    problem: Option<String>,
    pins: Vec<(Pin, bool)>,
    state: String,
    next: Option<Picos>,
}

impl Device {
    pub fn new(object: Py<PyAny>, name: &str, addresses: Vec<u8>, now: Picos) -> PyResult<Self> {
        let mut device = Self {
            object,
            name: name.to_owned(),
            addresses,
            raised: Raised::default(),
            problem: None,
            pins: Vec::new(),
            state: String::new(),
            next: None,
        };
        let look = |py: Python<'_>| {
            let object = device.object.clone_ref(py).into_bound(py);
            object.setattr("time_s", now.as_seconds())?;
            device.look(&object)
        };
        asking(|| Python::attach(look))?;
        Ok(device)
    }

    pub fn raised(&self) -> Raised {
        self.raised.clone()
    }

    /// Takes over attributes `pins`, `state` and `next_s`, where the object has them.
    fn look(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let pins = object.getattr_opt("pins")?.filter(|p| !p.is_none());
        let pins: Option<BTreeMap<String, bool>> = pins.map(|p| p.extract()).transpose()?;
        self.pins.clear();
        for (pin, level) in pins.unwrap_or_default() {
            self.pins.push((pin.parse().map_err(refuse)?, level));
        }
        let state = object.getattr_opt("state")?.filter(|s| !s.is_none());
        self.state = state.map(|s| s.extract()).transpose()?.unwrap_or_else(|| "on".to_owned());
        let next_s = object.getattr_opt("next_s")?.filter(|s| !s.is_none());
        let next_s: Option<f64> = next_s.map(|s| s.extract()).transpose()?;
        if next_s.is_some_and(f64::is_nan) {
            return Err(refuse(format!("next_s of {} is no number", self.name)));
        }
        // Never, where it is infinite.
        let next_s = next_s.filter(|s| s.is_finite());
        self.next = next_s.map(|s| Picos((s.max(0.0) * 1e12).round() as u128));
        Ok(())
    }

    /// Calls a method, and looks at the object again; what it raises ends the run, which goes on with `otherwise` until
    /// then.
    fn call<T>(
        &mut self,
        now: Picos,
        method: &str,
        ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
        otherwise: T,
    ) -> T {
        let ask = |py: Python<'_>| {
            let object = self.object.clone_ref(py).into_bound(py);
            object.setattr("time_s", now.as_seconds())?;
            let answer = ask(&object)?;
            self.look(&object)?;
            Ok(answer)
        };
        asking(|| Python::attach(ask)).unwrap_or_else(|error: PyErr| {
            self.problem = Some(format!("{method} raised {error}"));
            self.raised.put(error);
            otherwise
        })
    }

    /// Calls a method that may be missing.
    fn tell(&mut self, now: Picos, method: &str) {
        let ask = |object: &Bound<'_, PyAny>| match object.getattr_opt(method)? {
            Some(method) => method.call0().map(|_| ()),
            None => Ok(()),
        };
        self.call(now, method, ask, ());
    }

    /// Calls a method that answers False where it does not acknowledge.
    fn acknowledges(
        &mut self,
        now: Picos,
        method: &'static str,
        ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>>,
    ) -> bool {
        let name = self.name.clone();
        let ask = |object: &Bound<'_, PyAny>| {
            let Some(answer) = ask(object)? else { return Ok(true) };
            let answer = answer.bind(object.py());
            if answer.is_none() {
                return Ok(true);
            }
            answer.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "{method} of {name} returned {answer}; True, False or nothing is wanted"
                ))
            })
        };
        self.call(now, method, ask, false)
    }

    /// Calls a method that answers a byte.
    fn byte(
        &mut self,
        now: Picos,
        method: &'static str,
        ask: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> u8 {
        let name = self.name.clone();
        let ask = |object: &Bound<'_, PyAny>| {
            let answer = ask(object)?;
            answer.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "{method} of {name} returned {answer}; a byte, 0 to 255, is wanted"
                ))
            })
        };
        self.call(now, method, ask, 0xFF)
    }
}

impl Part for Device {
    fn select(&mut self, now: Picos) {
        self.tell(now, "select");
    }
    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        self.byte(now, "transfer", |object| object.call_method1("transfer", (mosi,)))
    }
    fn deselect(&mut self, now: Picos) {
        self.tell(now, "deselect");
    }
    fn addresses(&self) -> &[u8] {
        &self.addresses
    }
    fn addressed(&mut self, now: Picos, _address: u8, read: bool) -> bool {
        self.acknowledges(now, "start", |object| {
            let start = object.getattr_opt("start")?;
            start.map(|start| start.call1((read,)).map(Bound::unbind)).transpose()
        })
    }
    fn written(&mut self, now: Picos, byte: u8) -> bool {
        self.acknowledges(now, "write", |object| {
            object.call_method1("write", (byte,)).map(|answer| Some(answer.unbind()))
        })
    }
    fn given(&mut self, now: Picos) -> u8 {
        self.byte(now, "read", |object| object.call_method0("read"))
    }
    fn stopped(&mut self, now: Picos) {
        self.tell(now, "stop");
    }
    fn problem(&mut self) -> Option<String> {
        self.problem.take()
    }
    fn next_event(&self) -> Option<Picos> {
        self.next
    }
    fn event(&mut self, now: Picos) {
        let due = self.next.take();
        self.tell(now, "event");
        if self.next == due && self.problem.is_none() {
            let what = "event left next_s where it was; move it on, or set it to None";
            self.next = None;
            self.problem = Some(what.to_owned());
        }
    }
    fn pins(&self) -> &[(Pin, bool)] {
        &self.pins
    }
    fn state(&self) -> &str {
        &self.state
    }
    fn power(&mut self, now: Picos, on: bool) {
        let ask = |object: &Bound<'_, PyAny>| match object.getattr_opt("power")? {
            Some(method) => method.call1((on,)).map(|_| ()),
            None => Ok(()),
        };
        self.call(now, "power", ask, ());
    }
    fn save(&self) -> Vec<u8> {
        let save = |py: Python<'_>| {
            let object = self.object.bind(py);
            let saved = py.import("sunseal.machine.devices")?.call_method1("save", (object,))?;
            saved.extract::<Vec<u8>>()
        };
        asking(|| Python::attach(save)).unwrap_or_else(|error: PyErr| {
            self.raised.put(error);
            Vec::new()
        })
    }
    fn restore(&mut self, saved: &[u8]) {
        let restore = |py: Python<'_>| {
            let object = self.object.clone_ref(py).into_bound(py);
            let saved = PyBytes::new(py, saved);
            py.import("sunseal.machine.devices")?.call_method1("restore", (&object, saved))?;
            self.look(&object)
        };
        if let Err(error) = asking(|| Python::attach(restore)) {
            self.raised.put(error);
        }
    }
}

/// A device of Python on a bus as Python tells it: its name, the interface, itself, its addresses on I2C, the pin that
/// selects it on SPI, and its currents by state in amperes.
pub type OnBus = (String, String, Py<PyAny>, Vec<u8>, Option<String>, BTreeMap<String, f64>);

/// Makes a node's device of it, and what hears of what it raises.
pub fn on_bus(told: OnBus) -> PyResult<(BusDevice, Raised)> {
    let (name, serial, object, addresses, select, current_a) = told;
    let device = Device::new(object, &name, addresses, Picos(0))?;
    let raised = device.raised();
    let select = select.map(|pin| pin.parse()).transpose().map_err(refuse)?;
    let part = Box::new(device);
    Ok((BusDevice { name, serial, select, part, current_a }, raised))
}

/// Puts a device of Python on a serial interface of a machine: at I2C addresses, or without any on SPI, selected while the
/// pin `select` is driven low.
#[pyfunction]
#[pyo3(signature = (machine, name, serial, device, addresses, select))]
pub fn attach_device(
    machine: &Machine,
    name: &str,
    serial: &str,
    device: Py<PyAny>,
    addresses: Vec<u8>,
    select: Option<&str>,
) -> PyResult<()> {
    let mut m = machine.lock();
    if m.states().iter().any(|(component, _)| *component == name) {
        return Err(refuse(format!("there is a {name} already; give this one another name")));
    }
    let cs = select.map(|pin| m.device().pin(pin)).transpose().map_err(refuse)?;
    let device = Device::new(device, name, addresses, m.time())?;
    let raised = device.raised();
    let wiring = Wiring { serial: Some(serial), cs };
    m.attach_part(name, wiring, Box::new(device)).map_err(refuse)?;
    drop(m);
    machine.devices().push((name.to_owned(), raised));
    Ok(())
}

/// Picoseconds that a component of a machine was in each of its states: the radio, a device of Python on a bus.
#[pyfunction]
pub fn component_states(machine: &Machine, component: &str) -> BTreeMap<String, u128> {
    let m = machine.lock();
    let (ledger, vocabulary) = (m.ledger(), m.vocabulary());
    let mut times = BTreeMap::new();
    for (key, span) in ledger.spans() {
        if vocabulary.component_name(key.component) == component {
            *times.entry(vocabulary.state_name(key.state).to_owned()).or_default() += span.time.0;
        }
    }
    times
}

/// The serial interfaces of a machine's chip that can be an I2C master.
#[pyfunction]
pub fn i2c_serials(machine: &Machine) -> Vec<&'static str> {
    machine.lock().i2c_serials()
}
