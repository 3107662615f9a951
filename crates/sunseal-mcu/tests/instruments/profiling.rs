// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles on every instruction set: inlined functions, lines covered, stack by function, a listing.

use sunseal_mcu::coverage::Coverage;
use sunseal_mcu::elf::Architecture;
use sunseal_mcu::listing::Listing;
use sunseal_mcu::profile::{Overrun, Profiler, StackProfile, StackWatch};
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Flow, Observer, Silent};

use crate::fixture::{Tool, leaks, line_of};

const MACHINES: [(Tool, &str); 4] = [
    (Tool::Msp430Clang, "msp430f5438a"),
    (Tool::AvrGcc, "atmega128l"),
    (Tool::ArmGcc, "msp432p401r"),
    (Tool::ArmClang, "msp432p401r"),
];

fn machine(tool: Tool, device: &str) -> (Elf, Machine) {
    let elf = Elf::parse(&leaks(tool)).unwrap();
    let mut m = Machine::new(&Device::named(device).unwrap());
    m.load(&elf).unwrap();
    (elf, m)
}

fn run_to<O: Observer>(m: &mut Machine, elf: &Elf, name: &str, observer: &mut O) {
    let pc = elf.symbol(name).unwrap().addr;
    assert_eq!(m.run(&Until::pc(pc), observer), Stop::Pc(pc), "{name}");
}

#[test]
fn folded_stacks_have_frames_for_inlined_functions() {
    for (tool, device) in MACHINES {
        let (elf, mut m) = machine(tool, device);
        let mut profiler = Profiler::new(u32::MAX).of_image(&elf).with_inlined();
        run_to(&mut m, &elf, "finished", &mut profiler);
        let folded = profiler.folded_inlined(&elf, |cost| cost.cycles);
        let total = |folded: &str| -> u64 {
            folded.lines().map(|l| l.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
        };
        assert_eq!(total(&folded), total(&profiler.folded(&elf)), "{tool:?}");
        let has =
            |stack: &str| folded.lines().any(|l| l.rsplit_once(' ').unwrap().0.ends_with(stack));
        assert!(has("main;inlined_twice;doubled"), "{tool:?}:\n{folded}");
        assert!(
            has("main;leak_table"),
            "{tool:?}: a function that returned is not above:\n{folded}"
        );
        let weighed = profiler.folded_inlined(&elf, |cost| 3 * cost.instructions);
        assert!(total(&weighed) > 0 && total(&weighed).is_multiple_of(3));
    }
}

#[test]
fn a_call_by_link_register_returns_by_whatever_jump_goes_behind_it() {
    let mut elf = Elf::default();
    elf.architecture = Architecture::Arm;
    let mut profiler = Profiler::new(u32::MAX).of_image(&elf);
    let (main, outer, leaf, top) = (0x100, 0x200, 0x300, 0x2000_1000);
    let mut ran = |pc, sp, flow| profiler.instruction(pc, sp, 1, flow);
    for _ in 0..2 {
        ran(main, top, Flow::Call { target: outer });
        ran(outer, top - 8, Flow::Next); // push {r4, lr}
        ran(outer + 2, top - 8, Flow::Call { target: leaf });
        ran(leaf, top - 8, Flow::Return); // bx lr
        ran(outer + 6, top, Flow::Next); // pop {r4, lr}
        ran(outer + 8, top, Flow::Jump); // b.w to another function, whose last call this is
        ran(0x400, top, Flow::Jump); // a jump within that function
        ran(0x404, top, Flow::Jump); // bx r3
        ran(main + 4, top, Flow::Jump);
    }
    let cost = |stack: &[u32]| {
        let stacks = profiler.stacks();
        stacks.iter().find(|s| s.stack == stack).map(|s| s.cycles)
    };
    assert_eq!(cost(&[main]), Some(4));
    assert_eq!(cost(&[main, outer]), Some(12), "with what it jumps to as its last act");
    assert_eq!(cost(&[main, outer, leaf]), Some(2));
    assert_eq!(profiler.stacks().len(), 3);
}

#[test]
fn lines_are_covered_as_often_as_they_ran() {
    for (tool, device) in MACHINES {
        for (secret, times) in [(1, 1), (0, 0)] {
            let (elf, mut m) = machine(tool, device);
            run_to(&mut m, &elf, "main", &mut Silent);
            m.write_symbol(&elf, "secret", &[secret]).unwrap();
            let mut coverage = Coverage::default();
            run_to(&mut m, &elf, "finished", &mut coverage);
            let lcov = coverage.lcov(&elf);
            let has =
                |text: String| assert!(lcov.lines().any(|l| l == text), "{tool:?} {text}\n{lcov}");
            has(format!("DA:{},1", line_of("if (secret[0] & 1)")));
            // The other compilers begin with the line before they know, or make a condition of the store.
            if tool == Tool::Msp430Clang {
                has(format!("DA:{},{times}", line_of("out[0] = 1;")));
            }
            has("FNDA:1,leak_table".to_owned());
            has("FNDA:0,finished".to_owned());
            assert!(lcov.contains("leaks.c\n") && lcov.ends_with("end_of_record\n"));
        }
    }
}

#[test]
fn each_function_has_its_stack() {
    for (tool, device) in MACHINES {
        let (elf, mut m) = machine(tool, device);
        let mut both = (StackProfile::new(&elf), StackWatch::above_data(&elf));
        run_to(&mut m, &elf, "main", &mut Silent);
        run_to(&mut m, &elf, "finished", &mut both);
        let (stack, watch) = both;
        let list = stack.functions(&elf);
        let main = list.iter().find(|f| f.function == "main").unwrap();
        let leaf = list.iter().find(|f| f.function == "leak_table").unwrap();
        assert!(main.total_bytes >= main.own_bytes.max(leaf.total_bytes), "{tool:?}: {list:?}");
        assert_eq!(leaf.own_bytes, leaf.total_bytes, "{tool:?}: it calls nothing");
        if tool == Tool::AvrGcc || tool == Tool::Msp430Clang {
            assert_eq!(leaf.own_bytes, 2, "{tool:?}: a return address of two bytes");
        }
        assert_eq!(watch.overrun(), None);
    }
}

#[test]
fn a_stack_in_data_is_told_with_function_and_line() {
    let (elf, _) = machine(Tool::Msp430Clang, "msp430f5438a");
    let mut watch = StackWatch::above_data(&elf);
    let end = elf.data_end().unwrap();
    let pc = elf.symbol("leak_table").unwrap().addr;
    watch.instruction(pc, end + 2, 3, Flow::Next);
    watch.instruction(pc, end, 3, Flow::Next);
    assert_eq!(watch.overrun(), None);
    watch.instruction(pc, end - 4, 3, Flow::Next);
    watch.instruction(pc + 2, end - 6, 3, Flow::Next);
    let overrun = watch.overrun().unwrap();
    assert_eq!(overrun, Overrun { pc, sp: end - 4, data_end: end });
    let text = overrun.explain(&elf);
    assert!(text.starts_with("the stack runs into data: leak_table ("), "{text}");
    assert!(text.contains("leaks.c:") && text.contains("4 bytes below"), "{text}");
}

#[test]
fn a_listing_shows_what_ran_last() {
    for (tool, device) in MACHINES {
        let (elf, mut m) = machine(tool, device);
        let mut listing = Listing::last(&elf, 6, m.cycles());
        run_to(&mut m, &elf, "finished", &mut listing);
        let text = listing.text(&elf);
        assert_eq!(text.lines().count(), 6);
        assert!(!text.contains(" ?"), "{tool:?}: every instruction is in the image:\n{text}");
        assert!(text.lines().last().unwrap().contains(" main+"), "{tool:?}:\n{text}");
    }
}
