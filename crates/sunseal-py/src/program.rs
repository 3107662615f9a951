// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a program between its marks: counts, memory, output, call stacks.

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use sunseal_board::{BoardError, Counted, Trial, Window};
use sunseal_mcu::profile::{Profiler, StackWatch};
use sunseal_mcu::{Device, Elf, Until};
use sunseal_trace::{Ledger, OperatingPoint, Picos, Silent, Span, SpanKey, Vocabulary};

use crate::board::{Board, BoardOrFile};
use crate::error::{EngineError, refuse};

type Progress = Option<Py<PyAny>>;

/// Counts of one run. Integers only: joules come later, at any voltage and clock.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Counts {
    pub ledger: Ledger,
    pub vocabulary: Vocabulary,
    facts: Facts,
}

impl Counts {
    /// Takes the counts of a stretch of a machine's run: what the chip did, without the board's radio, as when a
    /// program is measured, and without the devices that hang on its buses.
    pub fn of_stretch(all: Counted, devices: &[String]) -> Self {
        let own = |name: &str| name != "radio" && devices.iter().all(|device| device != name);
        let ledger = all.ledger.of(&all.vocabulary, own);
        let facts = Facts { cycles: all.cycles, time_ps: all.time.0, ..Facts::default() };
        Self { ledger, vocabulary: all.vocabulary, facts }
    }

    /// Counts of a part, or of everything but a part: its states, and the events whose names it begins.
    pub fn split(&self, part: &str, own: bool) -> Ledger {
        self.ledger.of(&self.vocabulary, |name| (name == part) == own)
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    cycles: u64,
    time_ps: u128,
    status: i16,
    output: Vec<u8>,
    stack_bytes: u32,
    flash_bytes: u32,
    ram_bytes: u32,
    toolchain: String,
    lints: Vec<String>,
    /// Switches of the timing that are not at their default, told by the machine that ran.
    timing: Vec<(String, String)>,
}

/// The form in which a run is kept in a cache: names instead of ids.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    version: u32,
    facts: Facts,
    spans: Vec<SavedSpan>,
    events: BTreeMap<String, u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSpan {
    component: String,
    state: String,
    mclk_hz: u32,
    smclk_hz: u32,
    aclk_hz: u32,
    vcore: u8,
    cycles: u64,
    time_ps: u128,
}

const SAVED_VERSION: u32 = 3;

#[pymethods]
impl Counts {
    /// Reads what `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let saved: Saved = serde_json::from_str(text).map_err(refuse)?;
        if saved.version != SAVED_VERSION {
            return Err(EngineError::new_err(format!(
                "counts of version {} cannot be read; this engine reads version {SAVED_VERSION}",
                saved.version
            )));
        }
        let (mut ledger, mut vocabulary) = (Ledger::new(), Vocabulary::new());
        for s in saved.spans {
            let key = SpanKey {
                component: vocabulary.component(&s.component),
                state: vocabulary.state(&s.state),
                point: OperatingPoint {
                    mclk_hz: s.mclk_hz,
                    smclk_hz: s.smclk_hz,
                    aclk_hz: s.aclk_hz,
                    vcore: s.vcore,
                },
            };
            ledger.add_span(key, s.cycles, Picos(s.time_ps));
        }
        for (name, count) in &saved.events {
            ledger.add_event(vocabulary.event(name), *count);
        }
        Ok(Self { ledger, vocabulary, facts: saved.facts })
    }

    /// Writes everything, the same run giving the same text.
    fn to_json(&self) -> PyResult<String> {
        let v = &self.vocabulary;
        let mut spans: Vec<SavedSpan> = self
            .ledger
            .spans()
            .map(|(key, span)| SavedSpan {
                component: v.component_name(key.component).to_owned(),
                state: v.state_name(key.state).to_owned(),
                mclk_hz: key.point.mclk_hz,
                smclk_hz: key.point.smclk_hz,
                aclk_hz: key.point.aclk_hz,
                vcore: key.point.vcore,
                cycles: span.cycles,
                time_ps: span.time.0,
            })
            .collect();
        spans.sort_by(|a, b| {
            (&a.component, &a.state, a.mclk_hz, a.vcore).cmp(&(
                &b.component,
                &b.state,
                b.mclk_hz,
                b.vcore,
            ))
        });
        let events = self.ledger.events().map(|(e, n)| (v.event_name(e).to_owned(), n)).collect();
        let saved = Saved { version: SAVED_VERSION, facts: self.facts.clone(), spans, events };
        serde_json::to_string(&saved).map_err(refuse)
    }

    /// Cycles by component and state, and events by name.
    fn counts(&self) -> BTreeMap<String, u64> {
        let v = &self.vocabulary;
        let mut out = BTreeMap::new();
        for (key, Span { cycles, .. }) in self.ledger.spans() {
            let (component, state) = (v.component_name(key.component), v.state_name(key.state));
            if component == "cpu" && *cycles > 0 {
                *out.entry(format!("{component}.{state}.cycles")).or_insert(0) += cycles;
            }
        }
        out.extend(self.ledger.events().map(|(e, n)| (v.event_name(e).to_owned(), n)));
        out
    }

    /// CPU cycles between the marks.
    #[getter]
    fn cycles(&self) -> u64 {
        self.facts.cycles
    }

    /// The same run without a part, as the chip alone is priced.
    fn without(&self, part: &str) -> Self {
        let (vocabulary, facts) = (self.vocabulary.clone(), self.facts.clone());
        Self { ledger: self.split(part, false), vocabulary, facts }
    }

    /// Seconds of a part's states, and its events.
    fn of_part(&self, part: &str) -> (BTreeMap<String, f64>, BTreeMap<String, u64>) {
        let (own, v) = (self.split(part, true), &self.vocabulary);
        let mut states = BTreeMap::new();
        for (key, span) in own.spans() {
            *states.entry(v.state_name(key.state).to_owned()).or_insert(0.0) +=
                span.time.as_seconds();
        }
        (states, own.events().map(|(e, n)| (v.event_name(e).to_owned(), n)).collect())
    }

    /// Clocks that the CPU ran at between the marks: hertz, core voltage level, cycles; most cycles first.
    pub fn clocks(&self) -> Vec<(u32, u8, u64)> {
        let v = &self.vocabulary;
        let mut cycles: BTreeMap<(u32, u8), u64> = BTreeMap::new();
        for (key, span) in self.ledger.spans() {
            if v.component_name(key.component) == "cpu" && span.cycles > 0 {
                *cycles.entry((key.point.mclk_hz, key.point.vcore)).or_default() += span.cycles;
            }
        }
        let mut all: Vec<_> = cycles.into_iter().map(|((hz, vcore), n)| (hz, vcore, n)).collect();
        all.sort_by_key(|&(hz, _, n)| (std::cmp::Reverse(n), hz));
        all
    }

    /// Switches of the core's timing that were set otherwise than by default.
    #[getter]
    fn timing(&self) -> Vec<(String, String)> {
        self.facts.timing.clone()
    }

    /// Time between the marks at the clock of the run.
    #[getter]
    fn time_s(&self) -> f64 {
        Picos(self.facts.time_ps).as_seconds()
    }

    /// `bench_status`, 0 for a program of the user's own.
    #[getter]
    fn status(&self) -> i16 {
        self.facts.status
    }

    /// The first bytes of `bench_output`.
    #[getter]
    fn output(&self) -> Vec<u8> {
        self.facts.output.clone()
    }

    /// The deepest stack from reset to the second mark, the program's own use in front of the first
    /// mark included.
    #[getter]
    fn stack_bytes(&self) -> u32 {
        self.facts.stack_bytes
    }

    /// Flash that the image takes.
    #[getter]
    fn flash_bytes(&self) -> u32 {
        self.facts.flash_bytes
    }

    /// Static RAM that the image takes.
    #[getter]
    fn ram_bytes(&self) -> u32 {
        self.facts.ram_bytes
    }

    /// The compilers that the image's debug data names.
    #[getter]
    fn toolchain(&self) -> String {
        self.facts.toolchain.clone()
    }

    /// Slips that a chip would punish, a sentence each.
    #[getter]
    fn lints(&self) -> Vec<String> {
        self.facts.lints.clone()
    }
}

/// Puts a program on its board, gives it its input and has `work` run it; meanwhile Ctrl-C is heard and progress told.
fn tried<T>(
    (board, device): (&Board, &str),
    (image, fed): (&[u8], Option<&[u8]>),
    window: Window,
    cycles_max: u64,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut Trial<'_>) -> Result<T, BoardError>,
) -> PyResult<T> {
    let mut heard = Ok(());
    let mut told = |cycles| {
        heard = Python::attach(|py| {
            py.check_signals()?;
            progress.map_or(Ok(()), |p| p.call1(py, (cycles,)).map(|_| ()))
        });
        heard.is_ok()
    };
    let device = Device::load(Path::new(device)).map_err(refuse)?;
    let elf = Elf::parse(image).map_err(refuse)?;
    let trial = Trial::new(&board.inner, &board.parts, &device, elf, window, cycles_max, &mut told);
    let done = trial.and_then(|mut trial| {
        fed.map_or(Ok(()), |fed| trial.feed(fed))?;
        work(&mut trial)
    });
    heard?;
    done.map_err(refuse)
}

/// Assembled parts name their assembler's command line; the compilers say it all.
fn toolchain(elf: &Elf) -> String {
    match elf.producers.as_slice() {
        [] => "unknown (no debug data)".to_owned(),
        list => list.join("; "),
    }
}

/// Runs a program and counts what happens between its marks, or between two symbols.
#[pyfunction]
#[pyo3(signature = (board, device, image, window, fed, output_bytes, cycles_max, timing, progress, adc=None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
pub fn run(
    py: Python<'_>,
    board: BoardOrFile<'_>,
    device: &str,
    image: &[u8],
    window: Window,
    fed: Option<&[u8]>,
    output_bytes: usize,
    cycles_max: u64,
    timing: Vec<(String, String)>,
    progress: Progress,
    adc: Option<Vec<(u8, f64)>>,
) -> PyResult<Counts> {
    let board = board.board()?.timed(&timing)?;
    py.detach(|| {
        tried((&board, device), (image, fed), window, cycles_max, progress.as_ref(), |trial| {
            connect(trial, adc.as_deref().unwrap_or_default());
            let mut watch = StackWatch::above_data(&trial.elf);
            let counted = trial.measure(&mut watch)?;
            let sizes = trial.elf.sizes(trial.machine.device());
            let mut facts = Facts {
                cycles: counted.cycles,
                time_ps: counted.time.0,
                status: 0,
                output: Vec::new(),
                stack_bytes: watch.bytes(),
                flash_bytes: sizes.flash_bytes,
                ram_bytes: sizes.ram_bytes,
                toolchain: toolchain(&trial.elf),
                lints: trial.machine.lints().iter().map(|l| trial.lint(l)).collect(),
                timing: trial.machine.device().timing(),
            };
            facts.lints.extend(watch.overrun().map(|o| o.explain(&trial.elf)));
            if fed.is_some() {
                (facts.status, facts.output) = trial.finish(output_bytes)?;
            }
            Ok(Counts { ledger: counted.ledger, vocabulary: counted.vocabulary, facts })
        })
    })
}

/// Connects steady voltages to channels of the ADC.
fn connect(trial: &mut Trial<'_>, adc: &[(u8, f64)]) {
    for (channel, volts) in adc {
        trial.machine.adc_volts(*channel, *volts);
    }
}

/// Cycles between the marks by call stack, `outer;inner`.
#[pyfunction]
#[pyo3(signature = (board, device, image, window, fed, cycles_max, timing, progress, adc=None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, by name there")]
pub fn profile(
    py: Python<'_>,
    board: BoardOrFile<'_>,
    device: &str,
    image: &[u8],
    window: Window,
    fed: Option<&[u8]>,
    cycles_max: u64,
    timing: Vec<(String, String)>,
    progress: Progress,
    adc: Option<Vec<(u8, f64)>>,
) -> PyResult<BTreeMap<String, u64>> {
    let board = board.board()?.timed(&timing)?;
    py.detach(|| {
        tried((&board, device), (image, fed), window, cycles_max, progress.as_ref(), |trial| {
            connect(trial, adc.as_deref().unwrap_or_default());
            trial.reach_begin(&mut Silent)?;
            let multiplier = trial.machine.device().multiplier().unwrap_or(u32::MAX);
            let mut profiler = Profiler::new(multiplier).of_image(&trial.elf);
            trial.reach_end(&mut profiler)?;
            let folded = profiler.folded(&trial.elf);
            let row = |line: &str| {
                let (stack, cycles) = line.rsplit_once(' ')?;
                Some((stack.to_owned(), cycles.parse().ok()?))
            };
            Ok(folded.lines().filter_map(row).collect())
        })
    })
}

/// Bytes that the named objects of a program take.
#[pyfunction]
pub fn symbols_bytes(image: &[u8], names: Vec<String>) -> PyResult<u32> {
    let elf = Elf::parse(image).map_err(refuse)?;
    names
        .iter()
        .map(|n| elf.symbol(n).map(|s| s.size_bytes))
        .sum::<Result<u32, _>>()
        .map_err(refuse)
}

/// Instructions and cycles of a program with its input, from reset to its end.
#[pyfunction]
pub fn length(
    py: Python<'_>,
    board: BoardOrFile<'_>,
    device: &str,
    image: &[u8],
    fed: &[u8],
) -> PyResult<(u64, u64)> {
    let board = board.board()?;
    py.detach(|| {
        let mut hash = sunseal_mcu::profile::TraceHash::<false>::default();
        tried((&board, device), (image, Some(fed)), None, u64::MAX, None, |counted| {
            counted.advance(&Until::halted(), &mut hash, "stop")?;
            Ok((hash.instructions(), counted.machine.cycles()))
        })
    })
}

/// One turn of the yardstick: instructions executed, and a sum of what it computed, which is always the same.
#[pyfunction]
pub fn yardstick(py: Python<'_>) -> (u64, u32) {
    py.detach(crate::yardstick::run)
}
