// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `crates/sunseal-isa/src/*/likely.in`: which handlers come behind which in the library's own programs.
//!
//! They say where handlers look first, and no more: whatever they say, programs do the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use sunseal_isa::thumb::{Condition, Context};
use sunseal_isa::{Access, Cycles, Fault, Flow, Observer, Width, avr, msp430, thumb};
use sunseal_mcu::{Device, Elf, Machine, Until};

/// A board, a variant and its device.
type Build = (&'static str, &'static str, &'static str);
/// By core: its folder, and whose bench images are run.
const CORES: [(&str, &[Build]); 3] = [
    (
        "msp430",
        &[
            ("msp430f5438a-anagear", "mpy-32", "msp430f5438a"),
            ("telosb", "mpy-16", "msp430f1611"),
            ("msp430fr5994-launchpad", "mpy-32", "msp430fr5994"),
        ],
    ),
    ("avr", &[("micaz", "default", "atmega128l")]),
    ("thumb", &[("msp432p401r-launchpad", "default", "msp432p401r")]),
];
/// Cycles of each image.
const CYCLES: Cycles = 4_000_000;
const INPUT_BYTES: usize = 96;
/// How many are kept behind one handler.
const MOST: usize = 4;
/// Handlers rarer than this among all, and successors rarer than this behind their handler, are left out.
const HANDLER_LEAST: f64 = 1e-4;
const SUCCESSOR_LEAST: f64 = 0.04;

/// How often each handler came behind each.
type Pairs = BTreeMap<usize, BTreeMap<usize, u64>>;

/// Counts of which instruction came after which.
#[derive(Default)]
struct Followed {
    last: u32,
    pairs: BTreeMap<(u32, u32), u64>,
}

impl Observer for Followed {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, _: Flow) {
        *self.pairs.entry((self.last, pc)).or_default() += 1;
        self.last = pc;
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// The handler at an address; `block` is how an IT conditions it. `None` where there is no instruction.
fn handler(
    core: &str,
    timing: &msp430::Timing,
    machine: &Machine,
    pc: u32,
    block: Option<Context>,
) -> Option<usize> {
    let half = |addr: u32| {
        let bytes = machine.read_mem(addr, 2).map_err(|_| Fault::not_code(addr))?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    match core {
        "msp430" => msp430::handler(timing, pc, half).ok(),
        "avr" => avr::handler(pc / 2, |word| half(2 * word)).ok(),
        _ => {
            let context = block.unwrap_or_default();
            thumb::handler(&thumb::Timing::CORTEX_M4, pc, context, half).ok()
        }
    }
}

/// Addresses that an IT at `pc` conditions, and how.
fn conditioned(machine: &Machine, pc: u32) -> Vec<(u32, Context)> {
    let half =
        |addr: u32| machine.read_mem(addr, 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    let it = half(pc);
    if it >> 8 != 0xBF || it & 0xF == 0 {
        return Vec::new();
    }
    let mut at = pc + 2;
    let count = 4 - (it & 0xF).trailing_zeros();
    (1..=count)
        .map(|n| {
            let here = at;
            at += if half(at) >> 11 >= 0b11101 { 4 } else { 2 };
            // Which condition it is makes no difference to handlers.
            let context = if n == count {
                Context::Last(Condition::Eq)
            } else {
                Context::Inside(Condition::Eq)
            };
            (here, context)
        })
        .collect()
}

fn follow(core: &str, device: &str, image: &Path, pairs: &mut Pairs) -> Result<(), String> {
    let bad = |e: String| format!("{}: {e}", image.display());
    let bytes = std::fs::read(image).map_err(|e| bad(e.to_string()))?;
    let elf = Elf::parse(&bytes).map_err(|e| bad(e.to_string()))?;
    let device = Device::named(device).map_err(|e| bad(e.to_string()))?;
    let mut m = Machine::new(&device);
    if core == "avr" {
        m.write_mem(0x82_0000, &[0xFF, 0xD9, 0xFF]).map_err(|e| bad(e.to_string()))?;
        m.fit_crystal("xtal", 7_372_800).map_err(|e| bad(e.to_string()))?;
    }
    m.load(&elf).map_err(|e| bad(e.to_string()))?;
    let mut input: Vec<u8> = (0..INPUT_BYTES).map(|i| (17 * i + 5) as u8).collect();
    // Below every order.
    input[0] = 0;
    // Images without such an input run on what they have.
    let _ = m.write_symbol(&elf, "bench_input", &input);
    let _ = m.write_symbol(&elf, "bench_input_len", &(INPUT_BYTES as u16).to_le_bytes());
    let mut seen = Followed::default();
    let _ = m.run(&Until::cycles(m.cycles() + CYCLES), &mut seen);
    let timing =
        if device.name == "msp430f1611" { msp430::Timing::CPU } else { msp430::Timing::CPUXV2 };
    let addresses: BTreeSet<u32> = seen.pairs.keys().flat_map(|(a, b)| [*a, *b]).collect();
    let blocks: BTreeMap<u32, Context> = match core {
        "thumb" => addresses.iter().flat_map(|&pc| conditioned(&m, pc)).collect(),
        _ => BTreeMap::new(),
    };
    let kind = |pc| handler(core, &timing, &m, pc, blocks.get(&pc).copied());
    let kinds: BTreeMap<u32, Option<usize>> = addresses.iter().map(|&pc| (pc, kind(pc))).collect();
    for ((before, behind), count) in seen.pairs {
        if let (Some(mut first), Some(second)) = (kinds[&before], kinds[&behind]) {
            if blocks.contains_key(&before) {
                first = thumb::IN_BLOCK[usize::from(!blocks.contains_key(&behind))];
            }
            *pairs.entry(first).or_default().entry(second).or_default() += count;
        }
    }
    Ok(())
}

fn table(core: &str, pairs: &Pairs) -> String {
    let all: u64 = pairs.values().flat_map(|b| b.values()).sum();
    let mut text = format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n\
         // Generated by `sunseal-dev likely` from the bench images of `{core}`; do not edit.\n\
         &[\n"
    );
    for (before, behind) in pairs {
        let sum: u64 = behind.values().sum();
        if (sum as f64) < HANDLER_LEAST * all as f64 {
            continue;
        }
        let mut order: Vec<(u64, usize)> = behind.iter().map(|(k, n)| (*n, *k)).collect();
        order.sort_unstable_by_key(|(n, k)| (std::cmp::Reverse(*n), *k));
        let mut likely = [0; MOST];
        let kept = order.iter().filter(|(n, _)| *n as f64 >= SUCCESSOR_LEAST * sum as f64);
        for (slot, (_, kind)) in likely.iter_mut().zip(kept) {
            *slot = *kind;
        }
        writeln!(text, "    ({before}, {likely:?}),").expect("a string takes it");
    }
    text + "]\n"
}

/// Runs the bench images of `firmware` and writes the tables of the cores into `sources`.
///
/// # Errors
/// If an image cannot be read or run, or a table not be written.
pub fn write(firmware: &Path, sources: &Path) -> Result<(), String> {
    for (core, boards) in CORES {
        let mut pairs = Pairs::new();
        for (board, variant, device) in boards {
            let folder = firmware.join(board).join(variant);
            let entries = std::fs::read_dir(&folder)
                .map_err(|e| format!("{}: {e}; `make all-boards` builds it", folder.display()))?;
            let mut images: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
            images.retain(|p| {
                let name = p.file_name().and_then(|n| n.to_str()).unwrap_or_default();
                name.starts_with("bench-") && name.ends_with(".elf")
            });
            images.sort();
            for image in images {
                follow(core, device, &image, &mut pairs)?;
            }
        }
        let path = sources.join(core).join("likely.in");
        std::fs::write(&path, table(core, &pairs))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}: {} handlers", path.display(), pairs.len());
    }
    Ok(())
}
