// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checkpoints of a long run, and going on from one: what comes out is the same, bit for bit, as of a
//! run that nobody stopped.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sunseal_mcu::Device;
use sunseal_power::{HarvestTrace, PowerModel, SupplyConfig, SupplyState};

use super::coupons;
use super::functions::{Books, Functions};
use super::{Covered, Events, Lives, Node};
use crate::inputs::Given;
use crate::record::Recorder;
use crate::{NodeError, Scenario};

/// Line that every checkpoint begins with; the number is that of its form.
const HEAD: &[u8] = b"sunseal checkpoint 8\n";

/// FNV-1a (Fowler, Noll and Vo): to tell runs apart and find damage, not to defend them.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn add(mut self, bytes: &[u8]) -> Self {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        self
    }

    /// Digest of all that a value's `Debug` shows.
    fn of(value: &dyn fmt::Debug) -> u64 {
        let mut digest = Self::new();
        write!(digest, "{value:?}").expect("a digest takes every text");
        digest.0
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        *self = Self(self.0).add(text.as_bytes());
        Ok(())
    }
}

/// Digest of a program's file.
pub(super) fn program_digest(bytes: &[u8]) -> u64 {
    Digest::new().add(bytes).0
}

/// Identity of a run: a checkpoint goes on with these only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    engine: String,
    scenario: u64,
    program: u64,
    light: u64,
    data: u64,
}

impl Identity {
    fn new(
        scenario: &Scenario,
        program: u64,
        light: &HarvestTrace,
        given: &Given,
        data: (&Device, &PowerModel, &SupplyConfig),
        fpgas: &str,
    ) -> Self {
        // Names of files may change, what is in them may not; a gateway may listen elsewhere.
        let mut told = scenario.clone();
        told.source = String::new();
        told.firmware = PathBuf::new();
        told.harvest.trace = None;
        told.gateway = None;
        told.adc.clear();
        Self {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: Digest::of(&(told, scenario.gateway.is_some(), &given.adc, &given.devices)),
            program,
            light: Digest::of(light),
            data: Digest::of(&(data, fpgas)),
        }
    }

    /// Names what is not the same in a checkpoint.
    fn differs(&self, kept: &Self) -> Option<String> {
        if self.engine != kept.engine {
            return Some(format!(
                "it was made by sunseal {} and this is {}; play the scenario from its beginning",
                kept.engine, self.engine
            ));
        }
        let what = [
            (self.scenario == kept.scenario, "scenario, or its options"),
            (self.program == kept.program, "program"),
            (self.light == kept.light, "light"),
            (self.data == kept.data, "data of device, parts or power"),
        ];
        let (_, what) = what.iter().find(|w| !w.0)?;
        Some(format!(
            "it is of another {what}; give what it was made with, or play the scenario from its beginning"
        ))
    }
}

/// Contents of a checkpoint, as they are written.
#[derive(Serialize)]
struct Written<'a> {
    identity: &'a Identity,
    machine: Vec<u8>,
    supply: SupplyState,
    recorder: &'a Recorder,
    divider_j: f64,
    charge_c: f64,
    priced_v: f64,
    covered: Covered,
    lives: Lives,
    events: &'a Events,
    starts: u64,
    reset_falls: u64,
    brown_out_cycles: &'a [u64],
    functions: Option<&'a Books>,
    coupons: Option<&'a coupons::Books>,
}

/// Contents of a checkpoint, as they are read.
#[derive(Deserialize)]
struct Kept {
    identity: Identity,
    machine: Vec<u8>,
    supply: SupplyState,
    recorder: Recorder,
    divider_j: f64,
    charge_c: f64,
    priced_v: f64,
    covered: Covered,
    lives: Lives,
    events: Events,
    starts: u64,
    reset_falls: u64,
    brown_out_cycles: Vec<u64>,
    functions: Option<Books>,
    coupons: Option<coupons::Books>,
}

/// File in which a run is kept, and how often.
pub(crate) struct Keep {
    path: PathBuf,
    every: Duration,
    last: Instant,
    trouble: Box<dyn FnMut(&str) + Send>,
}

impl Node {
    /// Keeps the run in a file from now on: each time that so much time has gone by on the clock on the wall, and
    /// when it is stopped. If the file cannot be written, as on a full disk, `trouble` is told, the last one that
    /// could stays whole, and the run goes on.
    ///
    /// # Errors
    /// If there is no going back to the air that the node was made with.
    pub fn keep(
        &mut self,
        path: &Path,
        every: Duration,
        trouble: Box<dyn FnMut(&str) + Send>,
    ) -> Result<(), NodeError> {
        if self.radio.as_ref().is_some_and(|r| !r.can_go_back()) {
            return Err(NodeError::Checkpoint {
                path: path.display().to_string(),
                reason:
                    "the air that the node was made with cannot be kept: its `save` gives nothing"
                        .to_owned(),
            });
        }
        self.keep = Some(Keep { path: path.to_owned(), every, last: Instant::now(), trouble });
        Ok(())
    }

    /// Writes the checkpoint if it is due, or `now`.
    pub(super) fn keep_if_due(&mut self, now: bool) {
        if !self.keep.as_ref().is_some_and(|k| now || k.last.elapsed() >= k.every) {
            return;
        }
        let bytes = self.checkpoint();
        if let Some(keep) = &mut self.keep {
            if let Err(e) = write_whole(&keep.path, &bytes) {
                (keep.trouble)(&format!("{} cannot be written: {e}", keep.path.display()));
            }
            keep.last = Instant::now();
        }
    }

    /// Identity of this run. It reads the whole light, so it is made when a checkpoint first asks for it.
    fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| {
            let data = (self.machine.device(), &self.model, self.supply.config());
            let (given, fpgas) = (&self.given, self.fpgas.told());
            Identity::new(&self.scenario, self.program, &self.harvest, given, data, &fpgas)
        })
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        let machine = self.machine.snapshot().to_bytes();
        let written = Written {
            machine,
            identity: self.identity(),
            supply: self.supply.state(),
            recorder: &self.recorder,
            divider_j: self.divider_j,
            charge_c: self.charge_c,
            priced_v: self.priced_v,
            covered: self.covered,
            lives: self.lives,
            events: &self.events,
            starts: self.starts,
            reset_falls: self.reset_falls,
            brown_out_cycles: &self.brown_out_cycles,
            functions: self.functions.as_ref().map(Functions::books),
            coupons: self.coupons.as_ref().map(|c| &c.books),
        };
        let body = postcard::to_stdvec(&written).expect("a run can always be written");
        let digest = Digest::new().add(&body).0.to_le_bytes();
        [HEAD, &digest, &body].concat()
    }

    /// Goes on from a checkpoint of the same scenario, program and light; answers how far that had come, in
    /// seconds of simulated time. What a gateway and its server remember is theirs: after a run that was stopped
    /// they stand where the node does, after one that was killed they have heard more than the node remembers.
    ///
    /// # Errors
    /// If the file is none, is damaged, or is of another run.
    pub fn resume(&mut self, path: &Path) -> Result<f64, NodeError> {
        let wrong =
            |reason: String| NodeError::Checkpoint { path: path.display().to_string(), reason };
        let bytes = std::fs::read(path).map_err(|e| wrong(format!("it cannot be read: {e}")))?;
        let kept = read(&bytes).map_err(|e| wrong(e.to_owned()))?;
        if let Some(what) = self.identity().differs(&kept.identity) {
            return Err(wrong(what));
        }
        let snapshot = self.machine.read_snapshot(&kept.machine)?;
        self.machine.restore(&snapshot)?;
        self.supply.set_state(&kept.supply);
        self.recorder = kept.recorder;
        (self.divider_j, self.charge_c) = (kept.divider_j, kept.charge_c);
        (self.priced_v, self.starts, self.events) = (kept.priced_v, kept.starts, kept.events);
        (self.reset_falls, self.brown_out_cycles) = (kept.reset_falls, kept.brown_out_cycles);
        if let (Some(functions), Some(books)) = (&mut self.functions, kept.functions) {
            functions.set_books(books);
        }
        if let (Some(coupons), Some(books)) = (&mut self.coupons, kept.coupons) {
            coupons.books = books;
        }
        (self.covered, self.lives) = (kept.covered, kept.lives);
        self.prices.clear();
        self.priced.clear();
        Ok(self.time_s())
    }
}

fn read(bytes: &[u8]) -> Result<Kept, &'static str> {
    let of_form = HEAD.len() - 2;
    if bytes.get(..of_form) != Some(&HEAD[..of_form]) {
        return Err("it is no checkpoint");
    }
    let Some(rest) = bytes.strip_prefix(HEAD) else {
        return Err("another version of sunseal made it; play the scenario from its beginning");
    };
    let damaged = "it is damaged; play the scenario from its beginning";
    let (digest, body) = rest.split_first_chunk().ok_or(damaged)?;
    if Digest::new().add(body).0 != u64::from_le_bytes(*digest) {
        return Err(damaged);
    }
    postcard::from_bytes(body).map_err(|_| damaged)
}

/// The file that was there stays whole until this one is.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    let done = write();
    if done.is_err() {
        // It may hold the very room that others lack.
        let _ = std::fs::remove_file(&part);
    }
    done
}
