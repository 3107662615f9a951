// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a program between its marks: counts, memory, output, call stacks.

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use sunseal_hdl::FpgaHandle;
use sunseal_mcu::profile::{Profiler, StackWatch};
use sunseal_mcu::{Device, Elf, Lint, Machine, Pin, Stop, Until};
use sunseal_trace::{Ledger, Observer, OperatingPoint, Picos, Silent, Span, SpanKey, Vocabulary};

use crate::board::{Board, BoardOrFile};
use crate::error::{EngineError, refuse};

/// Between two looks at the clock on the wall and the keyboard.
const SLICE_CYCLES: u64 = 10_000_000;
const SLICE_TIME: Picos = Picos(10_000_000_000_000);
/// A program that sleeps this long between its marks is given up: one hour.
const TIME_MAX: Picos = Picos(3_600_000_000_000_000);

type Progress = Option<Py<PyAny>>;
type Window = Option<(String, String)>;

/// What one run counted. Integers only: joules come later, at any voltage and clock.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Counts {
    pub ledger: Ledger,
    pub vocabulary: Vocabulary,
    facts: Facts,
}

impl Counts {
    /// Of a stretch of a machine's run: what the chip did, without the board's radio, as when a program is measured, and
    /// without the devices that hang on its buses.
    pub fn of_stretch(
        all: &Ledger,
        vocabulary: Vocabulary,
        cycles: u64,
        time_ps: u128,
        devices: &[String],
    ) -> Self {
        let own = |name: &str| name != "radio" && devices.iter().all(|device| device != name);
        let ledger = all.of(&vocabulary, own);
        Self { ledger, vocabulary, facts: Facts { cycles, time_ps, ..Facts::default() } }
    }

    /// What of a part, or of everything but a part, was counted: its states, and the events whose names it begins.
    pub fn split(&self, part: &str, own: bool) -> Ledger {
        self.ledger.of(&self.vocabulary, |name| (name == part) == own)
    }
}

/// Refuses a run in which the program broke the contract of a coprocessor's bus.
pub fn check_fpgas(fpgas: &[(String, FpgaHandle)]) -> PyResult<()> {
    let problem = fpgas.iter().find_map(|(n, f)| Some(format!("{n}: {}", f.problem()?)));
    problem.map_or(Ok(()), |problem| Err(EngineError::new_err(problem)))
}

/// What coprocessors have counted until a time: events by name.
pub fn fpga_events(fpgas: &[(String, FpgaHandle)], time: Picos) -> Vec<(String, u64)> {
    let counts = fpgas.iter().map(|(name, f)| (name, f.counts(time)));
    let events = counts.flat_map(|(name, c)| {
        [("clock", c.clocks), ("toggle", c.toggles), ("boot", c.boots)]
            .map(|(event, n)| (format!("{name}.{event}"), n))
    });
    events.collect()
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

/// A program on its machine, and how to hear of the world outside.
struct Run {
    machine: Machine,
    fpgas: Vec<(String, FpgaHandle)>,
    elf: Elf,
    mark: Pin,
    cycles_max: u64,
    progress: Progress,
}

impl Run {
    fn new(
        board: Board,
        device: &str,
        image: &[u8],
        fed: Option<&[u8]>,
        cycles_max: u64,
        timing: &[(String, String)],
        progress: Progress,
    ) -> PyResult<Self> {
        let board = board.timed(timing)?;
        let mark: Pin = board.trigger().parse().map_err(refuse)?;
        let device = Device::load(Path::new(device)).map_err(refuse)?;
        let elf = Elf::parse(image).map_err(refuse)?;
        let mut machine = board.machine(&device)?;
        let fpgas = board.fit_beside(&mut machine)?.fpgas;
        machine.load(&elf).map_err(refuse)?;
        if let Some(fed) = fed {
            let room = elf.symbol("bench_input").map_err(refuse)?.size_bytes as usize;
            if fed.len() > room {
                return Err(EngineError::new_err(format!(
                    "the input has {} bytes; `bench_input` holds {room}",
                    fed.len()
                )));
            }
            machine.write_symbol(&elf, "bench_input", fed).map_err(refuse)?;
            let size = u16::try_from(fed.len()).map_err(refuse)?;
            machine.write_symbol(&elf, "bench_input_len", &size.to_le_bytes()).map_err(refuse)?;
        }
        Ok(Self { machine, fpgas, elf, mark, cycles_max, progress })
    }

    /// Connects steady voltages to channels of the ADC.
    fn connect(&mut self, adc: &[(u8, f64)]) {
        for (channel, volts) in adc {
            self.machine.adc_volts(*channel, *volts);
        }
    }

    /// Runs on in slices; between them Ctrl-C is heard and progress told.
    fn advance<O: Observer>(
        &mut self,
        until: &Until,
        observer: &mut O,
        what: &str,
    ) -> PyResult<Stop> {
        loop {
            let (cycles, time) = (self.machine.cycles(), self.machine.time());
            if cycles >= self.cycles_max || time >= TIME_MAX {
                return Err(EngineError::new_err(format!(
                    "the program did not {what} within {cycles} cycles and {} s; it is at {}",
                    time.as_seconds(),
                    self.place()
                )));
            }
            let slice = Until {
                cycles: Some(self.cycles_max.min(cycles + SLICE_CYCLES)),
                time: Some(TIME_MAX.min(time + SLICE_TIME)),
                ..until.clone()
            };
            let stop = self.machine.run(&slice, observer);
            check_fpgas(&self.fpgas)?;
            match stop {
                Stop::Cycles | Stop::Time if self.machine.reset_loop().is_some() => {
                    let found = self.machine.reset_loop().expect("one was found");
                    return Err(EngineError::new_err(found.explain(Some(&self.elf))));
                }
                Stop::Cycles | Stop::Time => Python::attach(|py| {
                    py.check_signals()?;
                    self.progress
                        .as_ref()
                        .map_or(Ok(()), |p| p.call1(py, (self.machine.cycles(),)).map(|_| ()))
                })?,
                stop => return Ok(stop),
            }
        }
    }

    fn lint(&self, lint: &Lint) -> String {
        lint.sentence(|at| self.elf.describe(at))
    }

    fn place(&self) -> String {
        let pc = self.machine.reg(0);
        match self.elf.line_at(pc) {
            Some(line) => format!("{} ({}:{})", self.elf.describe(pc), line.file, line.line),
            None => self.elf.describe(pc),
        }
    }

    fn missed(&self, stop: &Stop, what: &str) -> PyErr {
        let why = match stop {
            Stop::Fault(fault) => format!("it faulted in {}: {fault}", self.place()),
            Stop::Halted => format!("it stopped for good at {}", self.place()),
            other => format!("it ended by {other:?} at {}", self.place()),
        };
        EngineError::new_err(format!("the program did not {what}: {why}"))
    }

    /// Runs to the beginning of the window, then to its end.
    fn reach_begin<O: Observer>(&mut self, window: &Window, observer: &mut O) -> PyResult<()> {
        let (until, what) = match window {
            None => (Until::pin_edge(self.mark), format!("raise its trigger pin {}", self.mark)),
            Some((from, _)) => {
                (Until::pc(self.elf.symbol(from).map_err(refuse)?.addr), format!("reach `{from}`"))
            }
        };
        // The end is looked up now, so that a missing symbol is told before the run.
        if let Some((_, to)) = window {
            self.elf.symbol(to).map_err(refuse)?;
        }
        loop {
            match self.advance(&until, observer, &what)? {
                Stop::Pin(edge) if edge.level => return Ok(()),
                Stop::Pin(_) => {}
                Stop::Pc(_) => return Ok(()),
                stop => return Err(self.missed(&stop, &what)),
            }
        }
    }

    fn reach_end<O: Observer>(&mut self, window: &Window, observer: &mut O) -> PyResult<()> {
        let (until, what) = match window {
            None => (Until::pin_edge(self.mark), format!("lower its trigger pin {}", self.mark)),
            Some((_, to)) => {
                (Until::pc(self.elf.symbol(to).map_err(refuse)?.addr), format!("reach `{to}`"))
            }
        };
        match self.advance(&until, observer, &what)? {
            Stop::Pin(_) | Stop::Pc(_) => Ok(()),
            stop => Err(self.missed(&stop, &what)),
        }
    }
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
    let board = board.board()?;
    py.detach(|| {
        let mut run = Run::new(board, device, image, fed, cycles_max, &timing, progress)?;
        run.connect(adc.as_deref().unwrap_or_default());
        let mut watch = StackWatch::above_data(&run.elf);
        run.reach_begin(&window, &mut watch)?;
        let (ledger, cycles, time) =
            (run.machine.ledger(), run.machine.cycles(), run.machine.time());
        let before = fpga_events(&run.fpgas, run.machine.time());
        run.reach_end(&window, &mut watch)?;
        let mut window_ledger = run.machine.ledger().since(&ledger).map_err(refuse)?;
        let mut vocabulary = run.machine.vocabulary().clone();
        for ((name, end), (_, begin)) in
            fpga_events(&run.fpgas, run.machine.time()).into_iter().zip(before)
        {
            window_ledger.add_event(vocabulary.event(&name), end - begin);
        }
        let mut facts = Facts {
            cycles: run.machine.cycles() - cycles,
            time_ps: run.machine.time().since(time).0,
            status: 0,
            output: Vec::new(),
            stack_bytes: watch.bytes(),
            flash_bytes: 0,
            ram_bytes: 0,
            toolchain: toolchain(&run.elf),
            lints: run.machine.lints().iter().map(|l| run.lint(l)).collect(),
            timing: run.machine.device().timing(),
        };
        facts.lints.extend(watch.overrun().map(|o| o.explain(&run.elf)));
        if fed.is_some() {
            match run.advance(&Until::halted(), &mut Silent, "stop")? {
                Stop::Halted => {}
                stop => return Err(run.missed(&stop, "stop for good after its operation")),
            }
            let status = run.machine.read_symbol(&run.elf, "bench_status").map_err(refuse)?;
            facts.status = i16::from_le_bytes([status[0], status[1]]);
            let output = run.machine.read_symbol(&run.elf, "bench_output").map_err(refuse)?;
            facts.output = output.into_iter().take(output_bytes).collect();
        }
        let sizes = run.elf.sizes(run.machine.device());
        (facts.flash_bytes, facts.ram_bytes) = (sizes.flash_bytes, sizes.ram_bytes);
        Ok(Counts { ledger: window_ledger, vocabulary, facts })
    })
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
    let board = board.board()?;
    py.detach(|| {
        let mut run = Run::new(board, device, image, fed, cycles_max, &timing, progress)?;
        run.connect(adc.as_deref().unwrap_or_default());
        run.reach_begin(&window, &mut Silent)?;
        let multiplier = run.machine.device().multiplier().unwrap_or(u32::MAX);
        let mut profiler = Profiler::new(multiplier).of_image(&run.elf);
        run.reach_end(&window, &mut profiler)?;
        let folded = profiler.folded(&run.elf);
        let row = |line: &str| {
            let (stack, cycles) = line.rsplit_once(' ')?;
            Some((stack.to_owned(), cycles.parse().ok()?))
        };
        Ok(folded.lines().filter_map(row).collect())
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

/// How fast the machine runs a program from reset to its end: instructions, cycles, seconds on the
/// wall. A figure for the record, never a result.
#[pyfunction]
pub fn speed(
    py: Python<'_>,
    board: BoardOrFile<'_>,
    device: &str,
    image: &[u8],
    fed: &[u8],
) -> PyResult<(u64, u64, f64)> {
    let board = board.board()?;
    py.detach(|| {
        let mut counted = Run::new(board.clone(), device, image, Some(fed), u64::MAX, &[], None)?;
        let mut hash = sunseal_mcu::profile::TraceHash::<false>::default();
        counted.advance(&Until::halted(), &mut hash, "stop")?;
        let mut timed = Run::new(board, device, image, Some(fed), u64::MAX, &[], None)?;
        let begin = std::time::Instant::now();
        timed.advance(&Until::halted(), &mut Silent, "stop")?;
        Ok((hash.instructions(), timed.machine.cycles(), begin.elapsed().as_secs_f64()))
    })
}
