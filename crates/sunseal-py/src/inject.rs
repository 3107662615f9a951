// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fault injection under Python's hands: a stretch of a run, to be cut wherever one likes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use sunseal_node::inject;
use sunseal_trace::Picos;

use crate::error::refuse;
use crate::machine::Machine;

/// Text of the last instructions, address of the cut one, registers in front of it.
type Trace = (String, u32, Vec<(String, u8, u32)>);

/// A stretch of a machine's uninterrupted run.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Stretch {
    inner: Mutex<inject::Stretch>,
    machine: Py<Machine>,
}

impl Stretch {
    fn lock(&self) -> MutexGuard<'_, inject::Stretch> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Footprint of a run behind a reboot: what it looked at of what the cut had left.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Footprint(Mutex<inject::Footprint>);

impl Footprint {
    pub fn new(inner: inject::Footprint) -> Self {
        Self(Mutex::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, inject::Footprint> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Footprint {
    /// The power went once more in this run, in cycle `at` of the machine and for `off_ps`: what `behind`, the
    /// run from there on, looked at. True if that is more than was known.
    fn join(&self, machine: &Machine, at: u64, off_ps: u128, behind: &Self) -> bool {
        if std::ptr::eq(self, behind) {
            return false;
        }
        self.lock().join(&machine.lock(), at, Picos(off_ps), &behind.lock())
    }

    /// Reason for which the cut in front of it is in no class, if so.
    #[getter]
    fn alone(&self) -> Option<&'static str> {
        self.lock().alone()
    }
}

/// Remains of a loss of power.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Left(pub inject::Left);

#[pymethods]
impl Left {
    /// Addresses at which it differs from another one of the same machine; none where registers or parts do.
    fn differing(&self, other: &Self) -> Option<Differing> {
        self.0.differing(&other.0).map(Differing)
    }

    /// The bytes from `addr` on; none where they do not survive.
    fn bytes(&self, addr: u32, bytes: u32) -> Option<Vec<u8>> {
        self.0.bytes(addr, bytes)
    }
}

/// Addresses at which two losses of power left different bytes.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Differing(inject::Differing);

#[pymethods]
impl Differing {
    /// True if a run, or one behind further losses, tells the two apart, or may.
    fn read_by(&self, run: &Footprint) -> bool {
        self.0.read_by(&run.lock())
    }

    /// Those that it reads.
    fn seen_by(&self, run: &Footprint) -> Vec<u32> {
        self.0.seen_by(&run.lock())
    }
}

#[pymethods]
impl Stretch {
    /// Walks from where the machine stands to the first of `ends` (or to its halt), in at most `limit` cycles.
    #[new]
    fn new(py: Python<'_>, machine: Py<Machine>, ends: Vec<u32>, limit: u64) -> PyResult<Self> {
        let owner = machine.get();
        let mut heard = Ok(());
        let walked = py.detach(|| {
            inject::Stretch::walk_told(
                &mut owner.lock(),
                owner.elf().ok(),
                &ends,
                limit,
                |cycles| {
                    heard = owner.tell(cycles);
                    heard.is_ok()
                },
            )
        });
        heard?;
        Ok(Self { inner: Mutex::new(walked.map_err(refuse)?), machine })
    }

    /// Number of its cycles.
    #[getter]
    fn cycles(&self) -> u64 {
        self.lock().cycles()
    }

    /// The cycles at which what survives has just become another.
    #[getter]
    fn writes(&self) -> Vec<u64> {
        self.lock().writes().to_vec()
    }

    /// Cuts the supply in cycle `at` and brings it back after `off_ps`; the machine is about to boot.
    fn cut(&self, py: Python<'_>, at: u64, off_ps: u128, seed: u64) -> PyResult<()> {
        py.detach(|| {
            let mut machine = self.machine.get().lock();
            self.lock().cut(&mut machine, at).map_err(refuse)?;
            inject::reboot(&mut machine, Picos(off_ps), seed);
            Ok(())
        })
    }

    /// The last cut that provably has the same run behind it as the one at `at`, whose footprint is `run`, none
    /// where no run is followed; or why that one stands alone.
    #[pyo3(signature = (at, off_ps, run))]
    fn covers(
        &self,
        py: Python<'_>,
        at: u64,
        off_ps: u128,
        run: Option<Py<Footprint>>,
    ) -> PyResult<(Option<u64>, Option<&'static str>)> {
        let owner = self.machine.get();
        let Some(run) = run else {
            return Ok((None, Some(inject::ELSEWHERE)));
        };
        py.detach(|| {
            let run = run.get().lock();
            let found = self.lock().covers(&mut owner.lock(), at, Picos(off_ps), &run);
            Ok(match found.map_err(refuse)? {
                Ok(last) => (Some(last), None),
                Err(why) => (None, Some(why)),
            })
        })
    }

    /// Instructions that led to cycle `at`: text of the last instructions, address of the cut one, registers in front
    /// of it.
    fn trace(&self, at: u64, instructions: usize) -> PyResult<Trace> {
        let owner = self.machine.get();
        let mut machine = owner.lock();
        let trace = self.lock().trace(&mut machine, owner.elf()?, at, instructions);
        let trace = trace.map_err(refuse)?;
        let registers = trace.registers.into_iter();
        let registers = registers.map(|r| (r.name.into_owned(), r.bits, r.value)).collect();
        Ok((trace.text, trace.pc, registers))
    }
}
