// SPDX-License-Identifier: MIT OR Apache-2.0
//! Firmware with mistakes: each is named with address, function and line.

use sunseal_mcu::{Device, Elf, ElfError, Machine, Stop, Until};
use sunseal_trace::Silent;

use crate::fixture::{Tool, leaks};

const CODE: u32 = 0x5C00;

/// A machine that begins with these words, its stack below them.
fn machine(words: &[u16]) -> Machine {
    let mut m = Machine::new(&Device::msp430f5438a());
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.write_mem(CODE, &bytes).unwrap();
    m.write_mem(0xFFFE, &(CODE as u16).to_le_bytes()).unwrap();
    m.reset();
    m.set_register("SP", CODE).unwrap();
    m
}

#[test]
fn an_image_for_another_machine_is_not_loaded() {
    for (tool, device, found) in [
        (Tool::ArmGcc, "msp430f5438a", "ARM"),
        (Tool::AvrGcc, "msp432p401r", "AVR"),
        (Tool::Msp430Clang, "atmega128l", "MSP430"),
    ] {
        let elf = Elf::parse(&leaks(tool)).unwrap();
        let err = Machine::new(&Device::named(device).unwrap()).load(&elf).unwrap_err();
        assert!(matches!(&err, ElfError::WrongMachine { .. }), "{err}");
        let text = err.to_string();
        assert!(text.contains(&format!("is for {found}, but {device} runs")), "{text}");
    }
}

#[test]
fn an_interrupt_without_a_handler_is_named_by_its_vector() {
    let words: [u16; 14] = [
        0x40B2, 0x5A80, 0x015C, // mov #0x5A80, &WDTCTL
        0x40B2, 0x003C, 0x0352, // mov #60, &TA0CCR0
        0x40B2, 0x0010, 0x0342, // mov #CCIE, &TA0CCTL0
        0x40B2, 0x0214, 0x0340, // mov #TASSEL_2+MC_1+TACLR, &TA0CTL
        0xD232, // eint
        0x3FFF, // jmp $
    ];
    let mut m = machine(&words);
    let Stop::Fault(fault) = m.run(&Until::halted(), &mut Silent) else { panic!("no fault") };
    let text = fault.to_string();
    assert!(
        text.contains("an interrupt has no handler: its vector at 0xffec reads 0xffff"),
        "{text}"
    );
    assert_eq!(fault.pc(), Some(CODE + 26));
}

#[test]
fn a_jump_into_nothing_is_told_with_function_line_and_what_it_often_means() {
    let elf = Elf::parse(&leaks(Tool::Msp430Clang)).unwrap();
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(&elf).unwrap();
    let main = elf.symbol("main").unwrap().addr;
    assert_eq!(m.run(&Until::pc(main), &mut Silent), Stop::Pc(main));
    // A return address that was overwritten.
    let sp = m.sp();
    let table = elf.symbol("leak_table").unwrap().addr;
    assert_eq!(m.run(&Until::pc(table), &mut Silent), Stop::Pc(table));
    m.write_mem(m.sp(), &0x1801u16.to_le_bytes()).unwrap();
    assert!(m.sp() <= sp);
    let Stop::Fault(fault) = m.run(&Until::halted(), &mut Silent) else { panic!("no fault") };
    let text = elf.explain(&fault);
    assert!(text.contains("jump to odd address 0x01801"), "{text}");
    assert!(text.contains("in leak_table+") && text.contains("leaks.c:"), "{text}");
    assert!(text.contains("a return address or a function pointer was overwritten"), "{text}");
}

#[test]
fn erased_flash_as_reset_vector_is_explained() {
    let elf = Elf::parse(&leaks(Tool::Msp430Clang)).unwrap();
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(&elf).unwrap();
    m.write_mem(0xFFFE, &[0xFF, 0xFF]).unwrap();
    m.reset();
    let Stop::Fault(fault) = m.run(&Until::halted(), &mut Silent) else { panic!("no fault") };
    let text = elf.explain(&fault);
    assert!(text.contains("that is what erased flash reads as"), "{text}");
}

#[test]
fn a_call_by_an_index_on_sp_is_flagged_where_it_stands() {
    // Silicon takes the word that was pushed last, a simulator that decrements SP behind takes the one above it.
    let words: [u16; 12] = [
        0x40B2, 0x5A80, 0x015C, // mov #0x5A80, &WDTCTL
        0x1230, 0x5C14, // push #wrong
        0x1230, 0x5C16, // push #right
        0x1291, 0x0002, // call 2(sp)
        0x3FFF, // jmp $
        0x3FFF, // wrong: jmp $
        0x4130, // right: ret
    ];
    let mut m = machine(&words);
    assert_eq!(m.run(&Until::pc(CODE + 18), &mut Silent), Stop::Pc(CODE + 18));
    let lints = m.lints();
    assert_eq!(lints.len(), 1, "{lints:?}");
    let text = lints[0].sentence(|at| format!("{at:#06x}"));
    assert!(text.starts_with("PUSH or CALL with an operand by SP"), "{text}");
    assert!(text.ends_with("at 0x5c0e (1 times)"), "{text}");
}

#[test]
fn a_device_takes_switches_of_its_core_and_refuses_others() {
    let mut device = Device::msp430f5438a();
    device.set_timing("pc_write_one_less", "true").unwrap();
    let cycles = |device: &Device| {
        let mut m = Machine::new(device);
        m.write_mem(0x5C00, &[0x30, 0x40, 0x00, 0x60]).unwrap(); // br #0x6000
        m.write_mem(0xFFFE, &[0x00, 0x5C]).unwrap();
        m.reset();
        let before = m.cycles();
        assert_eq!(m.run(&Until::pc(0x6000), &mut Silent), Stop::Pc(0x6000));
        m.cycles() - before
    };
    assert_eq!((cycles(&Device::msp430f5438a()), cycles(&device)), (3, 2));
    let why = device.set_timing("it_folds", "true").unwrap_err().to_string();
    assert!(why.contains("no switch `it_folds`; it has"), "{why}");
    Device::named("msp432p401r").unwrap().set_timing("it_folds", "false").unwrap();
    Device::named("atmega128l").unwrap().set_timing("trap_undefined", "false").unwrap();
}
