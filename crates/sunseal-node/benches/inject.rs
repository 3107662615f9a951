// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supply lost at every cycle of an AES-128 block, each time with a reboot, the whole program again and a
//! comparison of its output, in CPU time of one core; Criterion's elements are cuts. `make firmware all-boards`
//! builds the images.

#[path = "../tests/it/common/mod.rs"]
mod common;
#[path = "../../sunseal-isa/benches/shared/mod.rs"]
mod shared;

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{CpuTime, cpu_time};
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_node::inject::{Stretch, reboot};
use sunseal_trace::{Picos, Silent};

const INPUT: [u8; 32] = *b"sixteen byte key, sixteen bytes.";
const SECOND: Picos = Picos(1_000_000_000_000);

struct Block {
    machine: Machine,
    elf: Elf,
    back: u32,
    golden: Vec<u8>,
    stretch: Stretch,
}

fn set_up(m: &mut Machine, elf: &Elf) {
    m.write_symbol(elf, "bench_input", &INPUT).expect("a bench image has its input");
    let length = (INPUT.len() as u16).to_le_bytes();
    m.write_symbol(elf, "bench_input_len", &length).expect("and its length");
}

fn to(m: &mut Machine, addr: u32) {
    let until = Until { cycles: Some(m.cycles() + 10_000_000), ..Until::pc(addr) };
    assert_eq!(m.run(&until, &mut Silent), Stop::Pc(addr));
}

impl Block {
    /// From the first instruction of the operation to its return.
    fn new(board: &str, image: &str, device: &str) -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../firmware/build")
            .join(board)
            .join(image);
        let Ok(bytes) = std::fs::read(&path) else {
            eprintln!("{} is not built", path.display());
            return None;
        };
        let elf = Elf::parse(&bytes).expect("a bench image is an ELF");
        let mut m = Machine::new(&Device::named(device).expect("the repository has it"));
        m.load(&elf).expect("it fits its device");
        set_up(&mut m, &elf);
        to(&mut m, elf.symbol("bench_operation").expect("a bench image has it").addr);
        let back = m.read_mem(m.sp(), 2).expect("the stack lies in RAM");
        let back = u32::from(u16::from_le_bytes([back[0], back[1]]));
        let stretch = Stretch::walk(&mut m, &[back], 1_000_000).expect("the operation returns");
        let golden = Self::output(&m, &elf);
        Some(Self { machine: m, elf, back, golden, stretch })
    }

    fn output(m: &Machine, elf: &Elf) -> Vec<u8> {
        m.read_symbol(elf, "bench_output").expect("a bench image has its output")[..16].to_vec()
    }

    fn every_cycle(&mut self) -> u64 {
        for at in 0..=self.stretch.cycles() {
            let m = &mut self.machine;
            self.stretch.cut(m, at).expect("it is in the stretch");
            reboot(m, SECOND, at);
            set_up(m, &self.elf);
            to(m, self.back);
            assert_eq!(Self::output(m, &self.elf), self.golden, "cut in cycle {at}");
        }
        self.stretch.cycles() + 1
    }
}

fn blocks(c: &mut Criterion<CpuTime>) {
    for (board, image, device) in [
        ("telosb", "mpy-16/bench-aes128-encrypt.elf", "msp430f1611"),
        ("msp430fr5994-launchpad", "mpy-32/bench-aes128-tbox-encrypt.elf", "msp430fr5994"),
    ] {
        let Some(mut block) = Block::new(board, image, device) else { continue };
        let mut group = c.benchmark_group("inject");
        group.sample_size(10).throughput(Throughput::Elements(block.stretch.cycles() + 1));
        group.bench_function(format!("{device}-aes128-every-cycle"), |b| {
            b.iter(|| block.every_cycle());
        });
        group.bench_function(format!("{device}-snapshot"), |b| b.iter(|| block.machine.snapshot()));
        let kept = block.machine.snapshot();
        group.bench_function(format!("{device}-restore"), |b| {
            b.iter(|| block.machine.restore(&kept).expect("its own"));
        });
        group.bench_function(format!("{device}-reboot"), |b| {
            b.iter(|| {
                block.machine.restore(&kept).expect("its own");
                block.machine.power_cut();
                reboot(&mut block.machine, SECOND, 1);
            });
        });
        group.finish();
    }
}

criterion_group!(name = benches; config = cpu_time(); targets = blocks);
criterion_main!(benches);
