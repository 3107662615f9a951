// SPDX-License-Identifier: MIT OR Apache-2.0
//! Driving of a machine's runs: goals, slices between which Python is asked, and what was to be looked at behind.

use super::*;

impl Machine {
    pub fn lock(&self) -> MutexGuard<'_, sunseal_mcu::Machine> {
        device::refuse_if_asked();
        // A panic within a run leaves a machine that may be looked at.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn goal(
        &self,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<Goal> {
        let pin = pin.map(|name| self.lock().device().pin(name)).transpose().map_err(refuse)?;
        Ok(Goal { cycles, time: time_ps.map(Picos), pc, pin })
    }

    pub(super) fn drive<O: Observer>(
        &self,
        machine: &mut sunseal_mcu::Machine,
        goal: &Goal,
        observer: &mut O,
    ) -> PyResult<Ended> {
        self.slices(machine, goal, |machine, until| Ok(machine.run(until, observer)))
    }

    /// Runs in slices; between them Ctrl-C is heard and progress told. A run that is to reach a place, a pin or
    /// the program's end fails at once where the program is reset again and again.
    pub fn slices(
        &self,
        m: &mut sunseal_mcu::Machine,
        goal: &Goal,
        mut run: impl FnMut(&mut sunseal_mcu::Machine, &Until) -> PyResult<Stop>,
    ) -> PyResult<Ended> {
        self.alone()?;
        loop {
            let slice = Until {
                cycles: Some((m.cycles() + SLICE_CYCLES).min(goal.cycles.unwrap_or(u64::MAX))),
                // No slices of time: a program that has stopped for good must stop there and then.
                time: goal.time,
                pc: goal.pc.clone(),
                pin_edge: goal.pin,
                state_change: false,
            };
            let stop = run(m, &slice)?;
            self.check_parts()?;
            if let Some((_, medium)) = &self.radio {
                // Nobody hears what it sent.
                medium.forget_before(m.time());
                let sent = medium.take_captured();
                if let Some(kept) = self.sent().as_mut() {
                    kept.extend(sent);
                }
            }
            return Ok(match stop {
                Stop::Cycles if goal.cycles != slice.cycles => {
                    if let Some(found) = m.reset_loop()
                        && (goal.reaches() || goal.cycles.is_none() && goal.time.is_none())
                    {
                        return Err(EngineError::new_err(found.explain(self.elf.as_ref())));
                    }
                    self.tell(m.cycles())?;
                    continue;
                }
                Stop::Cycles => ("cycles", m.cycles().to_string()),
                Stop::Time => ("time", m.time().0.to_string()),
                Stop::Pc(pc) => ("pc", pc.to_string()),
                Stop::Pin(edge) => ("pin", format!("{}={}", edge.pin, u8::from(edge.level))),
                Stop::Halted => ("halted", String::new()),
                Stop::StateChange => ("state", String::new()),
                Stop::BrownOut => ("brown-out", String::new()),
                Stop::Observer => unreachable!("nobody who looks on here ends runs"),
                Stop::Fault(fault) => {
                    let place = self.elf.as_ref().map(|e| e.describe(m.pc()));
                    let place = place.map_or(String::new(), |p| format!(" in {p}"));
                    return Err(EngineError::new_err(format!("{fault}{place}")));
                }
            });
        }
    }

    /// Lets Ctrl-C be heard and tells progress.
    pub fn tell(&self, cycles: u64) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            let progress = progress.as_ref().map(|p| p.clone_ref(py));
            progress.map_or(Ok(()), |p| p.call1(py, (cycles,)).map(|_| ()))
        })
    }

    pub fn radio(&self) -> Option<&RadioHandle> {
        self.radio.as_ref().map(|(radio, _)| radio)
    }

    /// A machine on a shared air runs in step with the others.
    pub(super) fn alone(&self) -> PyResult<()> {
        match self.radio.as_ref().map_or(1, |(_, medium)| medium.antennas()) {
            0 | 1 => Ok(()),
            n => Err(refuse(format!(
                "the machine shares its air with {} more; run all of them by Air.run",
                n - 1
            ))),
        }
    }

    /// Refuses what the program asked of its radio or its coprocessors that cannot be.
    pub(super) fn check_parts(&self) -> PyResult<()> {
        let problem = self.radio().and_then(RadioHandle::problem);
        problem.map_or(Ok(()), |reason| Err(refuse(reason)))?;
        let raised = self.devices().iter().find_map(|(_, raised)| raised.take());
        raised.map_or(Ok(()), Err)?;
        sunseal_board::broken_contract(&self.fpgas).map_or(Ok(()), |problem| Err(refuse(problem)))
    }

    pub(super) fn device_names(&self) -> Vec<String> {
        self.devices().iter().map(|(name, _)| name.clone()).collect()
    }

    pub fn devices(&self) -> MutexGuard<'_, Vec<(String, Raised)>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn footprint(&self) -> MutexGuard<'_, Option<Footprint>> {
        self.footprint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sent(&self) -> MutexGuard<'_, Option<Vec<Captured>>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn elf(&self) -> PyResult<&Elf> {
        self.elf.as_ref().ok_or_else(|| {
            EngineError::new_err("the machine was given no image, so there are no symbols")
        })
    }
}
