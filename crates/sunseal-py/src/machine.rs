// SPDX-License-Identifier: MIT OR Apache-2.0
//! One machine under Python's hands: run, look, change, go back.

mod driving;

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use sunseal_board::{Antenna, Fitted, Fpgas};
use sunseal_mcu::coverage::Coverage;
use sunseal_mcu::gdb;
use sunseal_mcu::leakage::{Leakage, Model};
use sunseal_mcu::offline::Offline;
use sunseal_mcu::profile::StackWatch;
use sunseal_mcu::taint::Taint;
use sunseal_mcu::vcd::{Dump, Probes, Recorder, Stimulus};
use sunseal_mcu::war::War;
use sunseal_mcu::{Device, Elf, Pin, Snapshot as State, Stop, UartByte, Until, heard};
use sunseal_node::inject::{self, Footprint};
use sunseal_node::{check_points, voltage_at};
use sunseal_radio::{Captured, Medium, MediumConfig, Position, RadioHandle};
use sunseal_trace::{Observer, Picos, Silent};

use crate::air::{Air, Sent};
use crate::board::{Board, BoardOrFile};
use crate::device::{self, Raised};
use crate::error::{EngineError, refuse, refuse_at};
use crate::findings::{self, Branch, Covered, CutPoint, Hazard, Leak, Spent};
use crate::program::Counts;
use crate::view::View;

/// Between two looks at the keyboard.
const SLICE_CYCLES: u64 = 20_000_000;

/// Counts of a machine at a moment.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Moment(sunseal_board::Moment);

/// A machine of a device, with an image in it if it was given one.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Machine {
    inner: Mutex<sunseal_mcu::Machine>,
    elf: Option<Elf>,
    /// Told the cycles while a run goes on.
    progress: Mutex<Option<Py<PyAny>>>,
    /// The board's radio and the air that it sends to.
    radio: Option<(RadioHandle, Medium)>,
    /// Packets that the radio of a machine alone on its air has sent, where somebody asked to keep it.
    sent: Mutex<Option<Vec<Captured>>>,
    /// The board's coprocessors by name.
    fpgas: Fpgas,
    /// Devices of Python on its serial buses, by name, and what they have raised.
    devices: Mutex<Vec<(String, Raised)>>,
    /// Waveform that every run is written to, if one is.
    dump: Mutex<Option<(String, Recorder)>>,
    /// Footprint of the run since a reboot, if that is followed.
    footprint: Mutex<Option<Footprint>>,
}

/// End of a run under the watch for write-after-read: hazards, where tasks committed, and what was not followed.
type WarFound = (Ended, Vec<Hazard>, Vec<u32>, Option<String>);

/// Everything that a machine was at one moment.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Snapshot(State);

/// Reason for which a run ended, and the address, pin or count that goes with it.
pub type Ended = (&'static str, String);
/// Reading of a run: whether input was read; what was used and is not followed; the way.
type Split = (bool, Vec<String>, Vec<u8>);
/// Account of a run's runtime input; branches are place and times.
type Followed = (Ended, Counts, Vec<Spent>, Vec<CutPoint>, Vec<Branch>, Split);

/// Until when to run.
pub struct Goal {
    cycles: Option<u64>,
    time: Option<Picos>,
    pc: Vec<u32>,
    pin: Option<Pin>,
}

impl Goal {
    /// True if it is a place or a pin, and not only so many cycles or so much time.
    fn reaches(&self) -> bool {
        !self.pc.is_empty() || self.pin.is_some()
    }
}

#[pymethods]
impl Machine {
    /// A machine of the device in a file of `data/devices`, as it sits on a board if one is named: with its radio on an
    /// air at a place (metres), or one of its own; `unit` is the seed of what differs between chips of a kind.
    #[new]
    #[pyo3(signature = (device, board, image, timing, air, place, unit=0))]
    fn new(
        device: &str,
        board: Option<BoardOrFile<'_>>,
        image: Option<&[u8]>,
        timing: Vec<(String, String)>,
        air: Option<&Air>,
        place: (f64, f64),
        unit: u64,
    ) -> PyResult<Self> {
        let mut device = Device::load(Path::new(device)).map_err(refuse)?;
        let board = board.map(|b| b.board()?.timed(&timing)).transpose()?;
        let mut inner = match &board {
            Some(board) => board.machine(&device)?,
            None => {
                for (switch, value) in &timing {
                    device.set_timing(switch, value).map_err(refuse)?;
                }
                sunseal_mcu::Machine::new(&device)
            }
        };
        if unit != 0 {
            inner.set_unit(unit);
        }
        let elf = image.map(Elf::parse).transpose().map_err(refuse)?;
        if let Some(elf) = &elf {
            inner.load(elf).map_err(refuse)?;
        }
        let medium = air.map_or_else(|| Medium::new(MediumConfig::default()), |a| a.medium.clone());
        let place = Position { x_m: place.0, y_m: place.1 };
        let fit = |b: &Board| b.fit(&mut inner, Some(Antenna::On(&medium, place)));
        let Fitted { radio, fpgas } = board.as_ref().map(fit).transpose()?.unwrap_or_default();
        if radio.is_none() && air.is_some() {
            return Err(refuse("only a machine of a board with a radio can be on an air"));
        }
        let radio = radio.map(|radio| (radio, medium));
        let (progress, dump) = (Mutex::new(None), Mutex::new(None));
        let (footprint, devices) = (Mutex::new(None), Mutex::new(Vec::new()));
        let (inner, sent) = (Mutex::new(inner), Mutex::new(None));
        Ok(Self { inner, elf, progress, radio, sent, fpgas, devices, dump, footprint })
    }

    /// Keeps what the radio sends from now on, for `take_sent`; an air of several machines keeps it by itself.
    fn keep_sent(&self) {
        self.sent().get_or_insert_default();
    }

    /// Packets that the radio has sent since the last call, once `keep_sent` was called.
    fn take_sent(&self) -> Vec<Sent> {
        let mut sent = self.sent();
        sent.as_mut().map(std::mem::take).unwrap_or_default().into_iter().map(Sent).collect()
    }

    /// Has `progress` called with the machine's cycles every now and then while it runs.
    fn set_progress(&self, progress: Option<Py<PyAny>>) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// The loop of resets that the program is in, a sentence; none if it is in none.
    fn reset_loop(&self) -> Option<String> {
        self.lock().reset_loop().map(|found| found.explain(self.elf.as_ref()))
    }

    /// Reason for which the sleep that the CPU is in cannot end, a clause; none where it is awake, or something may wake it.
    fn asleep_for_good(&self) -> Option<String> {
        self.lock().asleep_for_good()
    }

    /// The last reset that the chip made itself, a sentence's end; none if it made none.
    fn last_reset(&self) -> Option<String> {
        self.lock().last_reset().map(|last| last.explain_last(self.elf.as_ref()))
    }

    /// Counts of the radio: sent, sent bytes, received, failed its CRC, filtered, missed, calibrations.
    fn radio_counts(&self) -> Option<[u64; 7]> {
        let c = self.radio()?.counts();
        Some([c.sent, c.sent_bytes, c.received, c.crc_failed, c.filtered, c.missed, c.calibrations])
    }

    /// Runs until the first of what is named; says what it was: kind, and address or pin.
    #[pyo3(signature = (cycles, time_ps, pc, pin))]
    fn run(
        &self,
        py: Python<'_>,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<Ended> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        py.detach(|| {
            let mut dump = self.dump.lock().unwrap_or_else(PoisonError::into_inner);
            let mut footprint = self.footprint();
            self.slices(&mut self.lock(), &goal, |machine, until| match dump.as_mut() {
                None => Ok(match footprint.as_mut() {
                    None => machine.run(until, &mut Silent),
                    Some(footprint) => machine.run(until, footprint),
                }),
                Some((_, recorder)) => recorder.run(machine, until, &mut Silent).map_err(refuse),
            })
        })
    }

    /// Has all that `run` does from now on taken down for a waveform in a file: these pins, or all that move, and
    /// components' states.
    fn record(&self, path: &str, pins: Vec<String>, states: bool, exact: bool) -> PyResult<()> {
        let named = |pin: &String| self.lock().device().pin(pin).map_err(refuse);
        let pins = pins.iter().map(named).collect::<PyResult<_>>()?;
        let probes = Probes { states, pins, exact, ..Probes::default() };
        let recorder = Recorder::new(&self.lock(), probes).map_err(refuse_at(path))?;
        *self.dump.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((path.to_owned(), recorder));
        Ok(())
    }

    /// Ends the waveform of a run and writes it, as FST or VCD; says the states' names by their numbers.
    fn recorded(&self, fst: bool) -> PyResult<Vec<String>> {
        let recorder = self.dump.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((path, recorder)) = recorder else { return Ok(Vec::new()) };
        let dump = recorder.finish(&self.lock()).map_err(refuse_at(&path))?;
        written(&dump, &path, fst)
    }

    /// Runs to one of the instructions at `pc` and says the lowest stack pointer on the way, and in a sentence where the
    /// stack first ran below the image's data or below `floor`.
    fn run_to(
        &self,
        py: Python<'_>,
        pc: Vec<u32>,
        floor: Option<u32>,
    ) -> PyResult<(u32, Option<String>)> {
        let goal = self.goal(None, None, pc, None)?;
        let elf = self.elf()?;
        py.detach(|| {
            let mut machine = self.lock();
            let mut watch = StackWatch::above_data(elf).of_call(floor, machine.sp());
            self.drive(&mut machine, &goal, &mut watch)?;
            let low = watch.low().unwrap_or_else(|| machine.sp());
            Ok((low, watch.overrun().map(|o| o.explain(elf))))
        })
    }

    /// The first address behind the image's data, where its ELF says so by a symbol or by its segments.
    fn data_end(&self) -> PyResult<Option<u32>> {
        Ok(self.elf()?.data_end())
    }

    /// Switches of the core's timing that were set otherwise than by default.
    fn timing(&self) -> Vec<(String, String)> {
        self.lock().device().timing()
    }

    /// Runs and writes a sample of activity for each CPU cycle into `buffer`: Hamming weights and
    /// distances by `weights` (bus weight, bus distance, register distance). Says how it ended, the
    /// samples written and the cycles that found the buffer full.
    #[pyo3(signature = (buffer, weights, cycles, time_ps, pc, pin))]
    #[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
    fn power_trace(
        &self,
        py: Python<'_>,
        buffer: PyBuffer<u8>,
        weights: (u8, u8, u8),
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<(Ended, usize, u64)> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(refuse("samples go into a writable, contiguous array of uint8"));
        }
        let (at, len) = (buffer.buf_ptr() as usize, buffer.len_bytes());
        let model =
            Model { bus_weight: weights.0, bus_distance: weights.1, register_distance: weights.2 };
        py.detach(|| {
            // Safety: the array is locked by `buffer` for the whole run, and nothing else writes it.
            let samples = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, len) };
            let mut machine = self.lock();
            let mut leakage = Leakage::new(samples, model, machine.cycles());
            let ended = self.slices(&mut machine, &goal, |machine, until| {
                Ok(machine.run_sampled(until, &mut leakage))
            })?;
            Ok((ended, leakage.samples(), leakage.lost()))
        })
    }

    /// Runs with the bytes of `secret` marked (address, size) and says what the marks decide: kind,
    /// address, times, place, source line, instruction; and what the run covered. Bytes of `public` are clean again
    /// when written. A fault ends the run as `fault` with its sentence.
    #[pyo3(signature = (secret, public, cycles, time_ps, pc, pin))]
    #[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
    fn taint(
        &self,
        py: Python<'_>,
        secret: Vec<(u32, u32)>,
        public: Vec<(u32, u32)>,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<(Ended, Vec<Leak>, Covered)> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        let elf = self.elf()?;
        py.detach(|| {
            let mut machine = self.lock();
            let mut taint = Taint::of(machine.device(), elf);
            let secret: Vec<_> = secret.into_iter().map(|(at, bytes)| at..at + bytes).collect();
            for range in &secret {
                taint.mark_secret(range.clone());
                taint.mark_initial(elf, range.clone());
            }
            for (addr, bytes) in public {
                taint.declassify(addr..addr + bytes);
            }
            let mut fault = None;
            let ended = self.slices(&mut machine, &goal, |machine, until| {
                Ok(match machine.run_tainted(until, &mut taint) {
                    Stop::Fault(f) => {
                        fault = Some(format!("{f} in {}", elf.describe(machine.pc())));
                        Stop::Halted
                    }
                    Stop::Cycles | Stop::Time if machine.is_at_rest() => Stop::Halted,
                    stop => stop,
                })
            })?;
            let ended = fault.map_or(ended, |text| ("fault", text));
            let (leaks, covered) = findings::of_taint(&taint, elf, secret);
            Ok((ended, leaks, covered))
        })
    }

    /// Runs with the bytes of `input` (address, size) given at run time only, and says what did not depend on them:
    /// what the run counted; each instruction's place, source line and cycles (independent, frame, dependent); the cuts (data bytes, control
    /// bytes, cycles saved, place); the branches that input decided (place, times). What the run leaves in `output` is
    /// wanted of it. Last: whether input was read, what is not followed, and the independent work as bytes (cycles so
    /// far and a digest of the way, 8 each, behind each stretch). Cuts are those up to `most` independent cycles.
    #[pyo3(signature = (input, output, cycles, time_ps, pc, pin, most))]
    #[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
    fn offline(
        &self,
        py: Python<'_>,
        input: Vec<(u32, u32)>,
        output: Vec<(u32, u32)>,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
        most: Option<u64>,
    ) -> PyResult<Followed> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        let elf = self.elf()?;
        py.detach(|| {
            let mut machine = self.lock();
            let mut offline = Offline::new(machine.device(), elf);
            let none = Fpgas::new();
            let begin = sunseal_board::Moment::of(&machine, &none);
            input.into_iter().for_each(|(at, bytes)| offline.input(at..at + bytes));
            let ended = self.slices(&mut machine, &goal, |machine, until| {
                Ok(match machine.run(until, &mut offline) {
                    Stop::Cycles | Stop::Time if machine.is_at_rest() => Stop::Halted,
                    stop => stop,
                })
            })?;
            output.into_iter().for_each(|(at, bytes)| offline.output(at..at + bytes));
            if offline.has_overflowed() {
                return Err(EngineError::new_err(
                    "the run makes more than 33 million values: give a shorter stretch",
                ));
            }
            let counted =
                sunseal_board::Moment::of(&machine, &none).counted(&machine, Some(&begin));
            let counts = Counts::of_stretch(counted.map_err(refuse)?, &self.device_names());
            let (spent, cuts, branches) = findings::of_offline(&mut offline, elf, most);
            let path = offline.path().iter().flat_map(|&(cycles, digest)| [cycles, digest]);
            let path = path.flat_map(u64::to_le_bytes).collect();
            let split = (offline.has_read_input(), offline.holes(), path);
            Ok((ended, counts, spent, cuts, branches, split))
        })
    }

    /// Runs and returns the non-volatile bytes that are read and then written between two commits: address,
    /// bytes, object, the reading instruction, the writing one, times, changes; the commits that were not reached;
    /// and what touched memory and was not followed.
    /// Bytes of `ignored` (address, size) are left out.
    #[pyo3(signature = (commits, ignored, cycles, time_ps, pc, pin))]
    #[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
    fn war(
        &self,
        py: Python<'_>,
        commits: Vec<u32>,
        ignored: Vec<(u32, u32)>,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<WarFound> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        let elf = self.elf()?;
        py.detach(|| {
            let mut machine = self.lock();
            let mut war = War::of(machine.device(), &commits).map_err(refuse)?;
            for (addr, bytes) in ignored {
                war.ignore(addr, bytes);
            }
            war.begin(|addr, bytes| machine.read_mem(addr, bytes).ok());
            let before = machine.dma_moves();
            let ended = self.drive(&mut machine, &goal, &mut war)?;
            let moves = machine.dma_moves() - before;
            let others = war.written_by_others(|addr, bytes| machine.read_mem(addr, bytes).ok());
            let unfollowed = match (moves, others) {
                (0, None) => None,
                (0, Some(addr)) => Some(format!(
                    "{addr:#07x} was changed by something else than a store of the CPU, such as the erase of a \
                     flash segment"
                )),
                (n, _) => Some(format!("the DMA controller made {n} transfers")),
            };
            let found = findings::of_war(&war, elf);
            Ok((ended, found, war.commits_unmet(), unfollowed))
        })
    }

    /// Runs and says how often each source line ran, in the form of lcov.
    #[pyo3(signature = (cycles, time_ps, pc, pin))]
    fn coverage(
        &self,
        py: Python<'_>,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<(Ended, String)> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        let elf = self.elf()?;
        py.detach(|| {
            let mut coverage = Coverage::default();
            if elf.lines().next().is_none() {
                return Err(EngineError::new_err(
                    "the image has no line numbers that are read here, so there is no line to cover: compile it \
                     with `-g -gdwarf-2` (avr-gcc's `-g` alone writes stabs)",
                ));
            }
            let ended = self.drive(&mut self.lock(), &goal, &mut coverage)?;
            Ok((ended, coverage.lcov(elf)))
        })
    }

    /// Runs and writes a waveform of pins (or all that move), states and symbols to `path`, as FST or VCD, driving
    /// pins from the signals of another dump (signal, pin) if one is named. Says the states' names by their numbers,
    /// too. What ran before a fault is written.
    #[pyo3(signature = (path, fst, exact, pins, states, symbols, stimulus, signals, cycles, time_ps, pc, pin))]
    #[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
    fn waveform(
        &self,
        py: Python<'_>,
        path: &str,
        fst: bool,
        exact: bool,
        pins: Vec<String>,
        states: bool,
        symbols: Vec<String>,
        stimulus: Option<&str>,
        signals: Vec<(String, String)>,
        cycles: Option<u64>,
        time_ps: Option<u128>,
        pc: Vec<u32>,
        pin: Option<&str>,
    ) -> PyResult<(Ended, Vec<String>)> {
        let goal = self.goal(cycles, time_ps, pc, pin)?;
        let mut probes = Probes { states, exact, ..Probes::default() };
        for pin in pins {
            probes.pins.push(self.lock().device().pin(&pin).map_err(refuse)?);
        }
        for symbol in symbols {
            probes.symbol(self.elf()?, &symbol).map_err(refuse)?;
        }
        let parsed: Vec<(&str, Pin)> = signals
            .iter()
            .map(|(signal, pin)| {
                Ok((signal.as_str(), self.lock().device().pin(pin).map_err(refuse)?))
            })
            .collect::<PyResult<_>>()?;
        let mut stimulus = match stimulus {
            None => Stimulus::new(Vec::new()),
            Some(file) => {
                let dump = File::open(file).map_err(refuse_at(file))?;
                Stimulus::read(BufReader::new(dump), &parsed).map_err(refuse_at(file))?
            }
        };
        py.detach(|| {
            let mut machine = self.lock();
            let mut recorder = Recorder::new(&machine, probes).map_err(refuse_at(path))?;
            let ended = self.slices(&mut machine, &goal, |machine, until| {
                stimulus
                    .run_recorded(machine, until, &mut Silent, &mut recorder)
                    .map_err(refuse_at(path))
            });
            let dump = recorder.finish(&machine).map_err(refuse_at(path))?;
            let states = written(&dump, path, fst)?;
            Ok((ended?, states))
        })
    }

    /// Serves one debugger at `listen` (host:port), telling `listening` the address once it can come.
    /// `off_ps` is how long the supply stays away after a loss. Says how the session ended.
    fn gdb(
        &self,
        py: Python<'_>,
        listen: &str,
        off_ps: u128,
        listening: &Bound<'_, PyAny>,
    ) -> PyResult<&'static str> {
        let elf = self.elf()?;
        let listener = TcpListener::bind(listen).map_err(refuse_at(listen))?;
        listening.call1((listener.local_addr()?.to_string(),))?;
        listener.set_nonblocking(true)?;
        let options = gdb::Options { off: Picos(off_ps), ..gdb::Options::default() };
        py.detach(|| {
            let mut machine = self.lock();
            loop {
                match gdb::serve(&mut machine, elf, &listener, &options) {
                    Ok(gdb::End::Detached) => return Ok("detached"),
                    Ok(gdb::End::Killed) => return Ok("killed"),
                    Ok(gdb::End::Closed) => return Ok("closed"),
                    Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                        // Nobody there yet.
                        Python::attach(|py| py.check_signals())?;
                        std::thread::sleep(std::time::Duration::from_millis(30));
                    }
                    Err(e) => return Err(refuse_at(listen)(e)),
                }
            }
        })
    }

    /// Runs one instruction to its end.
    fn step(&self) -> PyResult<()> {
        self.alone()?;
        let mut m = self.lock();
        let until = Until::cycles(m.cycles() + 1);
        let stop = m.run(&until, &mut Silent);
        self.check_parts()?;
        match stop {
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
    fn time_ps(&self) -> u128 {
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
        self.footprint().iter_mut().for_each(|f| f.looked(addr, bytes as u32));
        self.lock().read_mem(addr, bytes).map(<[u8]>::to_vec).map_err(refuse)
    }

    /// Value that the CPU would read from a peripheral's register of 1, 2 or 4 bytes.
    fn register_value(&self, addr: u32, bytes: u32) -> PyResult<u32> {
        self.lock().register_value(addr, bytes).map_err(refuse)
    }

    fn write(&self, addr: u32, bytes: &[u8]) -> PyResult<()> {
        self.footprint().iter_mut().for_each(|f| f.wrote(addr, bytes.len() as u32));
        self.lock().write_mem(addr, bytes).map_err(refuse)
    }

    /// Address and size in bytes of a symbol.
    fn symbol(&self, name: &str) -> PyResult<(u32, u32)> {
        let s = self.elf()?.symbol(name).map_err(refuse)?;
        Ok((s.addr, s.size_bytes))
    }

    /// The object that an address of data lies in: name, address, size in bytes.
    fn object_at(&self, addr: u32) -> Option<(String, u32, u32)> {
        let object = self.elf.as_ref()?.object_at(addr)?;
        Some((object.name.clone(), object.addr, object.size_bytes))
    }

    /// Place of an address: symbol and offset, with the source line where it is known.
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
    fn pin_log(&self) -> Vec<(u128, u64, String, bool)> {
        let m = self.lock();
        m.pin_log().iter().map(|e| (e.time_ps, e.cycles, e.pin.to_string(), e.level)).collect()
    }

    fn set_pin(&self, pin: &str, level: Option<bool>) -> PyResult<()> {
        let mut machine = self.lock();
        let pin = machine.device().pin(pin).map_err(refuse)?;
        machine.set_pin(pin, level);
        Ok(())
    }

    fn pin(&self, pin: &str) -> PyResult<bool> {
        let machine = self.lock();
        Ok(machine.pin(machine.device().pin(pin).map_err(refuse)?))
    }

    fn adc_volts(&self, channel: u8, volts: f64) -> PyResult<()> {
        let mut machine = self.lock();
        machine.device().check_adc_channel(channel).map_err(refuse)?;
        machine.adc_volts(channel, volts);
        Ok(())
    }

    /// Connects a voltage that follows points (time in seconds, volts), straight between them, to a channel of the ADC.
    fn adc_points(&self, channel: u8, points: Vec<(f64, f64)>) -> PyResult<()> {
        check_points(&points).map_err(refuse)?;
        let mut machine = self.lock();
        machine.device().check_adc_channel(channel).map_err(refuse)?;
        machine.adc_input(channel, Box::new(move |probe| voltage_at(&points, probe.time)));
        Ok(())
    }

    /// The chip's serial interfaces by name.
    fn serials(&self) -> Vec<&'static str> {
        self.lock().serials().to_vec()
    }

    /// Takes away the bytes that left the UARTs: picoseconds at which the last bit ended, interface, byte, picoseconds
    /// that a bit took.
    fn take_uart(&self) -> Vec<(u128, String, u8, u128)> {
        let log = self.lock().take_uart_log();
        log.into_iter().map(|b| (b.time_ps, b.usci, b.byte, b.bit_ps)).collect()
    }

    /// Bytes that a terminal whose bits take `bit_ps` makes of those of one interface, as `take_uart` has them: each
    /// byte, and whether its stop bit was low.
    #[staticmethod]
    fn uart_heard(sent: Vec<(u128, String, u8, u128)>, bit_ps: u128) -> Vec<(u8, bool)> {
        let sent: Vec<UartByte> = sent
            .into_iter()
            .map(|(time_ps, usci, byte, bit_ps)| UartByte { time_ps, usci, byte, bit_ps })
            .collect();
        heard(&sent, bit_ps)
    }

    /// A byte that a UART receives, its last bit ending at `time_ps`, from a sender whose bits take `bit_ps`; 0 is the
    /// rate that the UART has.
    #[pyo3(signature = (serial, time_ps, byte, bit_ps = 0))]
    fn uart_in(&self, serial: &str, time_ps: u128, byte: u8, bit_ps: u128) -> PyResult<()> {
        self.lock().uart_in_at(serial, Picos(time_ps), byte, bit_ps).map_err(refuse)
    }

    /// Resets so far, the one at power-on among them, and how many came from a supervisor of the supply.
    fn resets(&self) -> (u64, u64) {
        let m = self.lock();
        (m.resets(), m.supervisor_resets())
    }

    /// The books as they stand now, for `counts` of what comes.
    fn moment(&self) -> Moment {
        Moment(sunseal_board::Moment::of(&self.lock(), &self.fpgas))
    }

    /// Counts of the chip and its coprocessors since a moment, or since power-on, to be weighed.
    #[pyo3(signature = (since=None))]
    fn counts(&self, since: Option<&Moment>) -> PyResult<Counts> {
        self.check_parts()?;
        let m = self.lock();
        let now = sunseal_board::Moment::of(&m, &self.fpgas);
        let counted = now.counted(&m, since.map(|s| &s.0)).map_err(refuse)?;
        Ok(Counts::of_stretch(counted, &self.device_names()))
    }

    fn lints(&self) -> Vec<String> {
        let m = self.lock();
        let at = |pc: u32| self.elf.as_ref().map_or_else(|| format!("{pc:#x}"), |e| e.describe(pc));
        m.lints().iter().map(|l| l.sentence(at)).collect()
    }

    fn reset(&self) {
        self.lock().reset();
    }

    fn power_cut(&self) {
        self.lock().power_cut();
    }

    /// Runs to exactly cycle `cycles`, in the middle of an instruction too, and takes the supply away there;
    /// false if the program came to its end, or to one of `pc`, before.
    fn power_cut_in(&self, py: Python<'_>, cycles: u64, pc: Vec<u32>) -> PyResult<bool> {
        let until = Until { cycles: Some(cycles), pc, ..Until::default() };
        py.detach(|| {
            let (mut footprint, mut machine) = (self.footprint(), self.lock());
            if let Some(footprint) = footprint.as_mut() {
                // Followed up to behind the cut, then cut.
                let here = machine.snapshot();
                footprint.ends_at(cycles);
                let _ = machine.run(&until, footprint);
                machine.restore(&here).map_err(refuse)?;
            }
            match machine.run_to_cut(&until) {
                Stop::Fault(fault) => Err(refuse(fault)),
                stop => Ok(stop == Stop::BrownOut),
            }
        })
    }

    /// Follows what is looked at from here on, just behind a power-up, until `followed` asks for it.
    fn follow(&self) {
        let mut footprint = self.footprint();
        *footprint = Footprint::of(&self.lock());
    }

    /// Footprint since `follow`, none on chips where that cannot be followed; from here on nothing is.
    fn followed(&self) -> Option<crate::inject::Footprint> {
        let mut footprint = self.footprint().take()?;
        footprint.ended(&self.lock());
        Some(crate::inject::Footprint::new(footprint))
    }

    /// Remains of a loss of power for so long, on a machine about to boot; none where that is not known. It shares with
    /// `like` what is the same there.
    #[pyo3(signature = (off_ps, like))]
    fn left(
        &self,
        off_ps: u128,
        like: Option<&crate::inject::Left>,
    ) -> Option<crate::inject::Left> {
        let like = like.map(|like| &like.0);
        inject::Left::of(&mut self.lock(), Picos(off_ps), like).map(crate::inject::Left)
    }

    /// Lets the supply stay away for so long and brings it back; RAM wakes with noise made from the seed.
    fn reboot(&self, off_ps: u128, seed: u64) {
        let (mut footprint, mut machine) = (self.footprint(), self.lock());
        sunseal_node::inject::reboot(&mut machine, Picos(off_ps), seed);
        footprint.iter_mut().for_each(|f| f.rebooted(&machine, Picos(off_ps)));
    }

    fn power_on(&self, ram_seed: u64) {
        self.lock().power_on(ram_seed);
    }

    fn snapshot(&self) -> PyResult<Snapshot> {
        let mut machine = self.lock();
        if self.radio().is_some_and(|r| !r.can_go_back()) {
            return Err(refuse(
                "the machine shares its air with others, whom a snapshot of it cannot take back; keep one of a machine on an air of its own",
            ));
        }
        let snapshot = Snapshot(machine.snapshot());
        self.check_parts()?;
        Ok(snapshot)
    }

    fn restore(&self, snapshot: &Snapshot) -> PyResult<()> {
        self.alone()?;
        self.lock().restore(&snapshot.0).map_err(refuse)?;
        self.check_parts()
    }

    /// Memory to look at without copying it: it shows what the machine holds now.
    fn view(slf: Py<Self>, addr: u32, bytes: usize) -> PyResult<View> {
        let (at, len) = {
            slf.get().footprint().iter_mut().for_each(|f| f.looked(addr, bytes as u32));
            let m = slf.get().lock();
            let memory = m.read_mem(addr, bytes).map_err(refuse)?;
            (memory.as_ptr() as usize, memory.len())
        };
        Ok(View::new(slf, at, len))
    }
}

/// Writes a waveform into a file and says the states' names by their numbers.
fn written(dump: &Dump, path: &str, fst: bool) -> PyResult<Vec<String>> {
    let out = BufWriter::new(File::create(path).map_err(refuse_at(path))?);
    let done = if fst { dump.write_fst(out) } else { dump.write_vcd(out) };
    done.map_err(refuse_at(path))?;
    Ok(dump.states().to_vec())
}
