// SPDX-License-Identifier: MIT OR Apache-2.0
//! Test files of single instructions: a state, one instruction, the state behind it, its cycles and its bus
//! accesses. docs/reference/single-step.md describes the files for those who test other simulators with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sunseal_isa::{Access, Cycles, Flow, Observer, Width};

use crate::memory::Memory;
use crate::random::Random;

/// The number that files carry and readers check.
pub const FORMAT: u32 = 1;

/// The seed of the files in the repository.
pub const SEED: u64 = 1;

/// Cases of each mnemonic in the repository.
pub const CASES: usize = 8;

/// An instruction set as cases are made from it. `registers` hold one value for each name of [`registers`](Self::registers),
/// the program counter included, in a byte address.
pub trait Core {
    /// The folder of its files below `data/single-step`.
    fn name(&self) -> &'static str;

    /// What a reader has to know: the core, the manual, the switches.
    fn about(&self) -> &'static str;

    /// The names of its registers, in the order of the values.
    fn registers(&self) -> &'static [&'static str];

    /// Mnemonics; each is the name of a file (in lower case) and is understood by [`draw`](Self::draw).
    fn mnemonics(&self) -> Vec<&'static str>;

    /// Puts an instruction of that mnemonic into memory and returns registers with which it is worth running. It need not
    /// be able to run: then [`step`](Self::step) says so and another is drawn.
    fn draw(&mut self, mnemonic: &str, random: &mut Random, memory: &mut Memory) -> Vec<u32>;

    /// Runs the instruction that the program counter is at.
    ///
    /// # Errors
    /// Why it cannot run, one sentence.
    fn step(&mut self, registers: &[u32], memory: &mut Memory) -> Result<Step, String>;
}

/// What an instruction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// It, as the manual writes it.
    pub text: String,
    /// The registers behind it.
    pub registers: Vec<u32>,
    /// How long it took.
    pub cycles: u32,
    /// Its data accesses in the order they happened.
    pub accesses: Vec<BusAccess>,
}

/// One data access: the cycle of the instruction in which it happens, counted from zero; `r` or `w`; address;
/// bits; value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusAccess(pub u32, pub char, pub u32, pub u32, pub u32);

/// The data accesses of an instruction, as they happen.
#[derive(Default)]
pub(crate) struct Accesses(pub Vec<BusAccess>);

impl Observer for Accesses {
    const INSTRUCTIONS: bool = false;
    const ACCESSES: bool = true;
    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}
    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        let way = if kind == Access::Read { 'r' } else { 'w' };
        self.0.push(BusAccess(at as u32, way, addr, 8 * width.bytes(), value));
    }
}

/// One file: all cases of a mnemonic.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub format: u32,
    pub about: String,
    pub registers: Vec<String>,
    pub cases: Vec<Case>,
}

/// One instruction of a test file, with the states around it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The instruction as the manual writes it.
    pub name: String,
    pub initial: Before,
    #[serde(rename = "final")]
    pub after: After,
    /// How long it takes.
    pub cycles: u32,
    /// Its data accesses in order.
    pub accesses: Vec<BusAccess>,
}

/// State of processor and memory before an instruction.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// All of them, in the file's order.
    pub registers: Vec<u32>,
    /// Every byte that is touched, the instruction's own included.
    pub memory: Vec<(u32, u8)>,
}

/// What is different behind it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// Index and value of the registers that changed.
    pub registers: Vec<(u32, u32)>,
    /// The bytes that changed.
    pub memory: Vec<(u32, u8)>,
}

fn after(before: &[u32], step: &Step, memory: &Memory) -> After {
    let pairs = before.iter().zip(&step.registers).enumerate();
    let registers = pairs.filter(|(_, (a, b))| a != b).map(|(i, (_, &b))| (i as u32, b)).collect();
    After { registers, memory: memory.changed().into_iter().collect() }
}

/// `count` cases of one mnemonic.
///
/// # Errors
/// If the core refuses nearly everything that it draws.
pub fn generate(
    core: &mut dyn Core,
    mnemonic: &str,
    seed: u64,
    count: usize,
) -> Result<File, String> {
    let mut random = Random::new(seed, &format!("{} {mnemonic}", core.name()));
    let mut cases = Vec::new();
    let mut refused = 0;
    while cases.len() < count {
        let mut memory = Memory::drawn(Random::new(u64::from(random.word()), "memory"));
        let registers = core.draw(mnemonic, &mut random, &mut memory);
        let step = match core.step(&registers, &mut memory) {
            Ok(step) => step,
            Err(why) => {
                refused += 1;
                if refused > 1000 * (1 + cases.len()) {
                    return Err(format!(
                        "{} {mnemonic}: nothing drawn can run, at last: {why}",
                        core.name()
                    ));
                }
                continue;
            }
        };
        cases.push(Case {
            name: step.text.clone(),
            after: after(&registers, &step, &memory),
            initial: Before {
                registers,
                memory: memory.initial().iter().map(|(&addr, &byte)| (addr, byte)).collect(),
            },
            cycles: step.cycles,
            accesses: step.accesses,
        });
    }
    Ok(File {
        format: FORMAT,
        about: core.about().to_owned(),
        registers: core.registers().iter().map(|&name| name.to_owned()).collect(),
        cases,
    })
}

/// The file as it is written: one line a case.
#[must_use]
pub fn to_text(file: &File) -> String {
    let json = |value: &dyn erased::Json| value.json();
    let lines: Vec<String> = file.cases.iter().map(|case| json(case)).collect();
    format!(
        "{{\"format\":{},\"about\":{},\"registers\":{},\"cases\":[\n{}\n]}}\n",
        file.format,
        json(&file.about),
        json(&file.registers),
        lines.join(",\n")
    )
}

mod erased {
    /// What becomes JSON and cannot fail to.
    pub trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).expect("strings and numbers are JSON")
        }
    }
}

/// Runs every case of a file.
///
/// # Errors
/// The first that does not end as the file says, in one sentence.
pub fn check(core: &mut dyn Core, text: &str) -> Result<usize, String> {
    let file: File =
        serde_json::from_str(text).map_err(|e| format!("not a single-step file: {e}"))?;
    if file.format != FORMAT {
        return Err(format!("format {} is not {FORMAT}, which this version reads", file.format));
    }
    if file.registers != core.registers() {
        return Err(format!("registers are {:?}, not {:?}", file.registers, core.registers()));
    }
    for case in &file.cases {
        let what = &case.name;
        let bytes: BTreeMap<u32, u8> = case.initial.memory.iter().copied().collect();
        let mut memory = Memory::exactly(bytes);
        let step = core
            .step(&case.initial.registers, &mut memory)
            .map_err(|why| format!("{what}: {why}"))?;
        if let Some(addr) = memory.missing() {
            return Err(format!("{what}: touches {addr:#x}, which the case does not list"));
        }
        let got = after(&case.initial.registers, &step, &memory);
        let same =
            (step.cycles, &step.accesses, &got) == (case.cycles, &case.accesses, &case.after);
        if !same {
            return Err(format!(
                "{what} from {:x?}: {} cycles, {:x?}, {got:x?}; the file has {} cycles, {:x?}, {:x?}",
                case.initial.registers,
                step.cycles,
                step.accesses,
                case.cycles,
                case.accesses,
                case.after
            ));
        }
    }
    Ok(file.cases.len())
}

/// Writes all files of a core below `folder`; returns how many bytes.
///
/// # Errors
/// A file that cannot be written, or a core that refuses everything.
pub fn write(core: &mut dyn Core, folder: &Path, seed: u64, count: usize) -> Result<usize, String> {
    let folder = folder.join(core.name());
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    let mut bytes = 0;
    for mnemonic in core.mnemonics() {
        let text = to_text(&generate(core, mnemonic, seed, count)?);
        let path = folder.join(file_name(mnemonic));
        fs::write(&path, &text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        bytes += text.len();
    }
    Ok(bytes)
}

/// Checks all files of a core below `folder`; returns how many cases ran. With `same_as`, a seed and a count, making the
/// files again must give the same bytes too.
///
/// # Errors
/// The first case or file that is wrong.
pub fn check_all(
    core: &mut dyn Core,
    folder: &Path,
    same_as: Option<(u64, usize)>,
) -> Result<usize, String> {
    let folder = folder.join(core.name());
    let mut cases = 0;
    for mnemonic in core.mnemonics() {
        let path = folder.join(file_name(mnemonic));
        let text = fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        cases += check(core, &text).map_err(|why| format!("{}: {why}", path.display()))?;
        if let Some((seed, count)) = same_as
            && to_text(&generate(core, mnemonic, seed, count)?) != text
        {
            return Err(format!(
                "{} is not what `sunseal-dev single-step generate` makes today with seed {seed} and {count} cases",
                path.display()
            ));
        }
    }
    Ok(cases)
}

/// The name of a mnemonic's file.
#[must_use]
pub fn file_name(mnemonic: &str) -> String {
    format!("{}.json", mnemonic.to_lowercase())
}
