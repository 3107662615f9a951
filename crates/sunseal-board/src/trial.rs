// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a program on its board, from the beginning of what is measured to its end.

use sunseal_data::Room;
use sunseal_hdl::FpgaCounts;
use sunseal_mcu::{Device, Elf, Lint, Machine, Pin, Stop, Until};
use sunseal_trace::{Ledger, Observer, Picos, Silent, Vocabulary};

use crate::{Board, BoardError, Fpgas, broken_contract};

/// Between two looks at the clock on the wall and the keyboard.
const SLICE_CYCLES: u64 = 10_000_000;
const SLICE_TIME: Picos = Picos(10_000_000_000_000);
/// A program that sleeps this long between its marks is given up: one hour.
const TIME_MAX: Picos = Picos(3_600_000_000_000_000);

/// The symbols between which a program is measured; none: its trigger pin's rise and fall.
pub type Window = Option<(String, String)>;

/// The books of a machine and its coprocessors at a time.
pub struct Moment {
    ledger: Ledger,
    cycles: u64,
    time: Picos,
    /// The coprocessors' events, in their order.
    events: Vec<(String, u64)>,
}

/// Counts of a machine and its coprocessors in a stretch of a run.
pub struct Counted {
    /// The books of the stretch alone.
    pub ledger: Ledger,
    /// Names of what is in them.
    pub vocabulary: Vocabulary,
    /// Cycles of the CPU in it.
    pub cycles: u64,
    /// Time that it took.
    pub time: Picos,
}

impl Moment {
    /// The books as they stand.
    #[must_use]
    pub fn of(machine: &Machine, fpgas: &Fpgas) -> Self {
        let (cycles, time) = (machine.cycles(), machine.time());
        let events = fpgas.iter().flat_map(|(name, fpga)| {
            let counts = FpgaCounts::EVENTS.into_iter().zip(fpga.counts(time).by_event());
            counts.map(move |(event, n)| (format!("{name}.{event}"), n))
        });
        Self { ledger: machine.ledger(), cycles, time, events: events.collect() }
    }

    /// Counts from `begin`, or from power-on, to here.
    ///
    /// # Errors
    /// If `begin` is no earlier moment of the same machine.
    pub fn counted(self, machine: &Machine, begin: Option<&Self>) -> Result<Counted, BoardError> {
        let mut vocabulary = machine.vocabulary().clone();
        let (mut ledger, mut cycles, mut time) = (self.ledger, self.cycles, self.time);
        if let Some(begin) = begin {
            let since = ledger.since(&begin.ledger);
            ledger = since.map_err(|e| BoardError::Trial(e.to_string()))?;
            (cycles, time) = (cycles - begin.cycles, time.since(begin.time));
        }
        for (i, (name, count)) in self.events.iter().enumerate() {
            let before = begin.and_then(|b| b.events.get(i)).map_or(0, |e| e.1);
            ledger.add_event(vocabulary.event(name), count - before);
        }
        Ok(Counted { ledger, vocabulary, cycles, time })
    }
}

/// A program on its board's machine, and who is told of its cycles meanwhile.
pub struct Trial<'a> {
    /// The machine, with the program in it.
    pub machine: Machine,
    /// The program, for its symbols.
    pub elf: Elf,
    fpgas: Fpgas,
    mark: Pin,
    window: Window,
    cycles_max: u64,
    /// Told the cycles now and then; false ends the run.
    told: &'a mut dyn FnMut(u64) -> bool,
}

impl<'a> Trial<'a> {
    /// Puts a program on a board, whose parts are those of a room; radios are left out.
    ///
    /// # Errors
    /// If the board cannot be put together, or the program does not fit its device.
    pub fn new(
        board: &Board,
        parts: &Room,
        device: &Device,
        elf: Elf,
        window: Window,
        cycles_max: u64,
        told: &'a mut dyn FnMut(u64) -> bool,
    ) -> Result<Self, BoardError> {
        let mark = device.pin(&board.trigger.pin)?;
        let mut machine = board.machine(device)?;
        let fpgas = board.fit(&mut machine, parts, None)?.fpgas;
        machine.load(&elf)?;
        Ok(Self { machine, elf, fpgas, mark, window, cycles_max, told })
    }

    /// Gives a bench program its input.
    ///
    /// # Errors
    /// If the program takes none, or not so much.
    pub fn feed(&mut self, input: &[u8]) -> Result<(), BoardError> {
        let room = self.elf.symbol("bench_input")?.size_bytes as usize;
        let size = u16::try_from(input.len()).ok().filter(|_| input.len() <= room);
        let size = size.ok_or_else(|| {
            let bytes = input.len();
            failed(format!("the input has {bytes} bytes; `bench_input` holds {room}"))
        })?;
        self.machine.write_symbol(&self.elf, "bench_input", input)?;
        Ok(self.machine.write_symbol(&self.elf, "bench_input_len", &size.to_le_bytes())?)
    }

    /// Runs its window, watched from reset on, and counts what is in it.
    ///
    /// # Errors
    /// If the program does not come to its beginning, or not to its end.
    pub fn measure<O: Observer>(&mut self, observer: &mut O) -> Result<Counted, BoardError> {
        self.reach_begin(observer)?;
        let begin = Moment::of(&self.machine, &self.fpgas);
        self.reach_end(observer)?;
        Moment::of(&self.machine, &self.fpgas).counted(&self.machine, Some(&begin))
    }

    /// Runs a bench program to its halt: its status, and the first bytes of its output.
    ///
    /// # Errors
    /// If it does not stop for good, or has no such symbols.
    pub fn finish(&mut self, output_bytes: usize) -> Result<(i16, Vec<u8>), BoardError> {
        match self.advance(&Until::halted(), &mut Silent, "stop")? {
            Stop::Halted => {}
            stop => return Err(self.missed(&stop, "stop for good after its operation")),
        }
        let status = self.machine.read_symbol(&self.elf, "bench_status")?;
        let mut output = self.machine.read_symbol(&self.elf, "bench_output")?;
        output.truncate(output_bytes);
        Ok((i16::from_le_bytes([status[0], status[1]]), output))
    }

    /// Runs on in slices; between them who is told may end it.
    ///
    /// # Errors
    /// If it ends by none of what it was to run until: by its limits, in a loop of resets, or by a coprocessor's bus.
    pub fn advance<O: Observer>(
        &mut self,
        until: &Until,
        observer: &mut O,
        what: &str,
    ) -> Result<Stop, BoardError> {
        loop {
            let (cycles, time) = (self.machine.cycles(), self.machine.time());
            if cycles >= self.cycles_max || time >= TIME_MAX {
                return Err(failed(format!(
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
            if let Some(problem) = broken_contract(&self.fpgas) {
                return Err(failed(problem));
            }
            if !matches!(stop, Stop::Cycles | Stop::Time) {
                return Ok(stop);
            }
            if let Some(found) = self.machine.reset_loop() {
                return Err(failed(found.explain(Some(&self.elf))));
            }
            if !(self.told)(self.machine.cycles()) {
                return Err(BoardError::Stopped);
            }
        }
    }

    /// A slip that a chip would punish, as a sentence with its place.
    #[must_use]
    pub fn lint(&self, lint: &Lint) -> String {
        lint.sentence(|at| self.elf.describe(at))
    }

    fn place(&self) -> String {
        let pc = self.machine.reg(0);
        match self.elf.line_at(pc) {
            Some(line) => format!("{} ({}:{})", self.elf.describe(pc), line.file, line.line),
            None => self.elf.describe(pc),
        }
    }

    fn missed(&self, stop: &Stop, what: &str) -> BoardError {
        let why = match stop {
            Stop::Fault(fault) => format!("it faulted in {}: {fault}", self.place()),
            Stop::Halted => format!("it stopped for good at {}", self.place()),
            other => format!("it ended by {other:?} at {}", self.place()),
        };
        failed(format!("the program did not {what}: {why}"))
    }

    /// One end of the window, and that in words.
    fn end_of(&self, symbol: Option<&String>, verb: &str) -> Result<(Until, String), BoardError> {
        Ok(match symbol {
            None => (Until::pin_edge(self.mark), format!("{verb} its trigger pin {}", self.mark)),
            Some(name) => (Until::pc(self.elf.symbol(name)?.addr), format!("reach `{name}`")),
        })
    }

    /// Runs to the beginning of the window.
    ///
    /// # Errors
    /// If the program does not come there, or has no symbol of the window.
    pub fn reach_begin<O: Observer>(&mut self, observer: &mut O) -> Result<(), BoardError> {
        let (until, what) = self.end_of(self.window.as_ref().map(|w| &w.0), "raise")?;
        // The end is looked up now, so that a missing symbol is told before the run.
        self.end_of(self.window.as_ref().map(|w| &w.1), "lower")?;
        loop {
            match self.advance(&until, observer, &what)? {
                Stop::Pin(edge) if edge.level => return Ok(()),
                Stop::Pin(_) => {}
                Stop::Pc(_) => return Ok(()),
                stop => return Err(self.missed(&stop, &what)),
            }
        }
    }

    /// Runs from the beginning of the window to its end.
    ///
    /// # Errors
    /// If the program does not come there.
    pub fn reach_end<O: Observer>(&mut self, observer: &mut O) -> Result<(), BoardError> {
        let (until, what) = self.end_of(self.window.as_ref().map(|w| &w.1), "lower")?;
        match self.advance(&until, observer, &what)? {
            Stop::Pin(_) | Stop::Pc(_) => Ok(()),
            stop => Err(self.missed(&stop, &what)),
        }
    }
}

fn failed(reason: String) -> BoardError {
    BoardError::Trial(reason)
}
