// SPDX-License-Identifier: MIT OR Apache-2.0
//! One machine under Python's hands: run, look, change, go back.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use sunseal_mcu::{Device, Elf, Pin, Snapshot as State, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::error::{EngineError, refuse};

/// Between two looks at the keyboard.
const SLICE_CYCLES: u64 = 20_000_000;
const SLICE_TIME: Picos = Picos(10_000_000_000_000);

/// A machine of a device, with an image in it if it was given one.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Machine {
    inner: Mutex<sunseal_mcu::Machine>,
    elf: Option<Elf>,
}

/// Everything that a machine was at one moment.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Snapshot(State);

impl Machine {
    pub fn lock(&self) -> MutexGuard<'_, sunseal_mcu::Machine> {
        // A panic within a run leaves a machine that may be looked at.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn elf(&self) -> PyResult<&Elf> {
        self.elf.as_ref().ok_or_else(|| {
            EngineError::new_err("the machine was given no image, so there are no symbols")
        })
    }
}

#[pymethods]
impl Machine {
    /// A machine of the device in a file of `data/devices`.
    #[new]
    #[pyo3(signature = (device, image))]
    fn new(device: &str, image: Option<&[u8]>) -> PyResult<Self> {
        let device = Device::load(Path::new(device)).map_err(refuse)?;
        let mut inner = sunseal_mcu::Machine::new(&device);
        let elf = image.map(Elf::parse).transpose().map_err(refuse)?;
        if let Some(elf) = &elf {
            inner.load(elf).map_err(refuse)?;
        }
        Ok(Self { inner: Mutex::new(inner), elf })
    }

    /// Runs until the first of what is named; says what it was: kind, and address or pin.
    #[pyo3(signature = (cycles, time_ps, pc, pin))]
    fn run(
        &self,
        py: Python<'_>,
        cycles: Option<u64>,
        time_ps: Option<u64>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<(&'static str, String)> {
        let pin_edge: Option<Pin> = pin.map(str::parse).transpose().map_err(refuse)?;
        let time = time_ps.map(Picos);
        py.detach(|| {
            let mut m = self.lock();
            loop {
                let slice = Until {
                    cycles: Some((m.cycles() + SLICE_CYCLES).min(cycles.unwrap_or(u64::MAX))),
                    time: Some((m.time() + SLICE_TIME).min(time.unwrap_or(Picos::MAX))),
                    pc: pc.clone(),
                    pin_edge,
                    state_change: false,
                };
                let stop = m.run(&slice, &mut Silent);
                return Ok(match stop {
                    Stop::Cycles if cycles != slice.cycles => {
                        Python::attach(|py| py.check_signals())?;
                        continue;
                    }
                    Stop::Time if time != slice.time => {
                        Python::attach(|py| py.check_signals())?;
                        continue;
                    }
                    Stop::Cycles => ("cycles", m.cycles().to_string()),
                    Stop::Time => ("time", m.time().0.to_string()),
                    Stop::Pc(pc) => ("pc", pc.to_string()),
                    Stop::Pin(edge) => ("pin", format!("{}={}", edge.pin, u8::from(edge.level))),
                    Stop::Halted => ("halted", String::new()),
                    Stop::StateChange => ("state", String::new()),
                    Stop::BrownOut => ("brown-out", String::new()),
                    Stop::Fault(fault) => {
                        let place = self.elf.as_ref().map(|e| e.describe(m.pc()));
                        let place = place.map_or(String::new(), |p| format!(" in {p}"));
                        return Err(EngineError::new_err(format!("{fault}{place}")));
                    }
                });
            }
        })
    }

    /// Runs one instruction.
    fn step(&self) -> PyResult<()> {
        let mut m = self.lock();
        let until = Until::cycles(m.cycles() + 1);
        match m.run(&until, &mut Silent) {
            Stop::Fault(fault) => Err(refuse(fault)),
            _ => Ok(()),
        }
    }

    #[getter]
    fn device(&self) -> String {
        self.lock().device().name.clone()
    }

    #[getter]
    fn cycles(&self) -> u64 {
        self.lock().cycles()
    }

    #[getter]
    fn time_ps(&self) -> u64 {
        self.lock().time().0
    }

    #[getter]
    fn pc(&self) -> u32 {
        self.lock().pc()
    }

    #[getter]
    fn vcc_v(&self) -> f64 {
        self.lock().vcc()
    }

    fn set_vcc(&self, vcc_v: f64) {
        self.lock().set_vcc(vcc_v);
    }

    /// Name, width in bits and value of each register of the core.
    fn registers(&self) -> Vec<(String, u8, u32)> {
        let each = self.lock().registers().into_iter();
        each.map(|r| (r.name.into_owned(), r.bits, r.value)).collect()
    }

    fn set_register(&self, name: &str, value: u32) -> PyResult<()> {
        self.lock().set_register(name, value).map_err(refuse)
    }

    fn read(&self, addr: u32, bytes: usize) -> PyResult<Vec<u8>> {
        self.lock().read_mem(addr, bytes).map(<[u8]>::to_vec).map_err(refuse)
    }

    fn write(&self, addr: u32, bytes: &[u8]) -> PyResult<()> {
        self.lock().write_mem(addr, bytes).map_err(refuse)
    }

    /// Address and size in bytes of a symbol.
    fn symbol(&self, name: &str) -> PyResult<(u32, u32)> {
        let s = self.elf()?.symbol(name).map_err(refuse)?;
        Ok((s.addr, s.size_bytes))
    }

    /// Where an address lies: symbol and offset, with the source line where it is known.
    fn describe(&self, addr: u32) -> String {
        let Some(elf) = &self.elf else { return format!("{addr:#x}") };
        match elf.line_at(addr) {
            Some(line) => format!("{} ({}:{})", elf.describe(addr), line.file, line.line),
            None => elf.describe(addr),
        }
    }

    /// The memory map: name, first address, size in bytes; registers of peripherals are not in it.
    fn regions(&self) -> Vec<(String, u32, u32)> {
        let m = self.lock();
        let memory = m.device().memory.iter();
        memory
            .filter(|r| r.kind != sunseal_mcu::device::RegionKind::Peripheral)
            .map(|r| (r.name.clone(), r.start, r.size_bytes()))
            .collect()
    }

    /// Every component with its present state.
    fn states(&self) -> Vec<(String, String)> {
        let m = self.lock();
        m.states().into_iter().map(|(c, s)| (c.to_owned(), s.to_owned())).collect()
    }

    /// Output pins that changed: time in picoseconds, cycles, pin, level.
    fn pin_log(&self) -> Vec<(u64, u64, String, bool)> {
        let m = self.lock();
        m.pin_log().iter().map(|e| (e.time_ps, e.cycles, e.pin.to_string(), e.level)).collect()
    }

    fn set_pin(&self, pin: &str, level: Option<bool>) -> PyResult<()> {
        let pin: Pin = pin.parse().map_err(refuse)?;
        self.lock().set_pin(pin, level);
        Ok(())
    }

    fn pin(&self, pin: &str) -> PyResult<bool> {
        let pin: Pin = pin.parse().map_err(refuse)?;
        Ok(self.lock().pin(pin))
    }

    fn adc_volts(&self, channel: u8, volts: f64) {
        self.lock().adc_volts(channel, volts);
    }

    fn lints(&self) -> Vec<String> {
        let m = self.lock();
        let at = |pc| self.elf.as_ref().map_or_else(|| format!("{pc:#x}"), |e| e.describe(pc));
        m.lints()
            .iter()
            .map(|l| format!("{} before {} ({} times)", l.kind, at(l.next_pc), l.count))
            .collect()
    }

    fn reset(&self) {
        self.lock().reset();
    }

    fn power_cut(&self) {
        self.lock().power_cut();
    }

    fn power_on(&self, ram_seed: u64) {
        self.lock().power_on(ram_seed);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot(self.lock().snapshot())
    }

    fn restore(&self, snapshot: &Snapshot) -> PyResult<()> {
        self.lock().restore(&snapshot.0).map_err(refuse)
    }

    /// Memory to look at without copying it: it shows what the machine holds now.
    fn view(slf: Py<Self>, addr: u32, bytes: usize) -> PyResult<View> {
        let (at, len) = {
            let m = slf.get().lock();
            let memory = m.read_mem(addr, bytes).map_err(refuse)?;
            (memory.as_ptr() as usize, memory.len())
        };
        Ok(View { _machine: slf, at, len })
    }
}

/// A read-only window into the memory of a machine, by the buffer protocol.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct View {
    /// Keeps the memory alive.
    _machine: Py<Machine>,
    at: usize,
    len: usize,
}

#[pymethods]
impl View {
    fn __len__(&self) -> usize {
        self.len
    }

    #[allow(clippy::missing_safety_doc)]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE != 0 {
            return Err(PyBufferError::new_err("this window is read-only; use Machine.write"));
        }
        let (at, len) = (slf.get().at, slf.get().len as ffi::Py_ssize_t);
        // Safety: a machine's memory is allocated once and never moved while the machine lives, which the
        // view sees to; Python only reads it, and nothing runs the machine meanwhile but by its leave.
        let done = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at as *mut c_void, len, 1, flags)
        };
        if done == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
