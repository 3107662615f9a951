// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole machines with radios on one air: what they say to each other, when, and what a listener with
//! Wireshark sees of it.

#[path = "../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
mod bench;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use asm::{Arg::*, Size::*, double, jump};
use bench::{CC2500_AS_THE_NODE, data, data_frame};
use sunseal_mcu::{Device, Machine};
use sunseal_radio::{
    Antenna, Captured, LinkLoss, Medium, MediumConfig, Network, Position, RadioHandle, RadioPart,
    attach, capture_file,
};
use sunseal_trace::Picos;

/// Pins at which a microcontroller has what a program needs to speak to a chip.
#[derive(Clone, Copy)]
struct Mcu {
    device: &'static str,
    code: u32,
    ram: u32,
    stack: u32,
    watchdog: u32,
    /// Buffers, and the flag that a byte has come in.
    txbuf: u32,
    rxbuf: u32,
    flag: (u32, u32),
    /// MCLK after a reset, in cycles of a microsecond, rounded up.
    mhz: u32,
}

const F5438A: Mcu = Mcu {
    device: "msp430f5438a",
    code: 0x5C00,
    ram: 0x1C00,
    stack: 0x5C00,
    watchdog: 0x15C,
    txbuf: 0x5EE,
    rxbuf: 0x5EC,
    flag: (0x5FD, 1),
    mhz: 1,
};

const F1611: Mcu = Mcu {
    device: "msp430f1611",
    code: 0x4000,
    ram: 0x1100,
    stack: 0x3900,
    watchdog: 0x120,
    txbuf: 0x77,
    rxbuf: 0x76,
    flag: (0x02, 0x40),
    mhz: 1,
};

/// A program, word by word.
struct Program {
    mcu: Mcu,
    words: Vec<u16>,
    kept: u32,
    cs: (u32, u32),
}

impl Program {
    /// Stops the watchdog; the serial interface is an SPI master in mode 0 at half of SMCLK.
    fn new(mcu: Mcu, cs: (u32, u32)) -> Self {
        let mut p = Self { mcu, words: Vec::new(), kept: 0, cs };
        p.op(double("MOV", W, Imm(mcu.stack), R(1)));
        p.op(double("MOV", W, Imm(0x5A80), Abs(mcu.watchdog)));
        if mcu.device == "msp430f5438a" {
            p.set(0x22A, 0x0E).set(0x222, 0x01).set(0x224, 0x01);
            p.set(0x5E0, 0x81).set(0x5E1, 0xA9).set(0x5E6, 2).set(0x5E7, 0).set(0x5E0, 0x80);
        } else {
            // P3SEL; P4: chip select high, regulator and RESETn as outputs; USART0 as SPI.
            p.set(0x1B, 0x0E).set(0x1D, 0x04).set(0x1E, 0x64);
            p.set(0x70, 0x17).set(0x71, 0xA2).set(0x74, 2).set(0x75, 0).set(0x73, 0);
            p.set(0x04, 0x40).set(0x70, 0x16);
        }
        p
    }

    fn op(&mut self, words: Vec<u16>) -> &mut Self {
        self.words.extend(words);
        self
    }

    fn set(&mut self, addr: u32, value: u8) -> &mut Self {
        self.op(double("MOV", B, Imm(value.into()), Abs(addr)))
    }

    /// Waits while the bits are clear.
    fn wait_set(&mut self, addr: u32, mask: u32) -> &mut Self {
        let test = double("BIT", B, Imm(mask), Abs(addr));
        let back = -(test.len() as i16) - 1;
        self.op(test).op(jump("JEQ", back))
    }

    fn delay_us(&mut self, us: u32) -> &mut Self {
        // Three cycles a turn; at least so long.
        let mut turns = us * self.mcu.mhz / 3 + 1;
        while turns > 0 {
            let n = turns.min(60_000);
            turns -= n;
            self.op(double("MOV", W, Imm(n), R(15)));
            self.op(double("SUB", W, Cg(1), R(15))).op(jump("JNE", -2));
        }
        self
    }

    fn byte(&mut self, value: u8) -> &mut Self {
        let (flag, mask) = self.mcu.flag;
        let rxbuf = self.mcu.rxbuf;
        self.set(self.mcu.txbuf, value).wait_set(flag, mask);
        self.op(double("MOV", B, Abs(rxbuf), R(14)))
    }

    /// A byte whose answer goes into the next place of RAM.
    fn keep(&mut self) -> &mut Self {
        let at = self.mcu.ram + self.kept;
        self.kept += 1;
        self.byte(0).op(double("MOV", B, R(14), Abs(at)))
    }

    fn select(&mut self) -> &mut Self {
        let (addr, mask) = self.cs;
        self.op(double("BIC", B, Imm(mask), Abs(addr)))
    }

    fn release(&mut self) -> &mut Self {
        let (addr, mask) = self.cs;
        self.op(double("BIS", B, Imm(mask), Abs(addr)))
    }

    fn send(&mut self, bytes: &[u8]) -> &mut Self {
        self.select();
        for b in bytes {
            self.byte(*b);
        }
        self.release()
    }

    /// Sends `head` and keeps `n` answers behind it.
    fn fetch(&mut self, head: &[u8], n: usize) -> &mut Self {
        self.select();
        for b in head {
            self.byte(*b);
        }
        for _ in 0..n {
            self.keep();
        }
        self.release()
    }

    fn machine(&self) -> Machine {
        let device =
            Device::load(&data().join(format!("devices/{}.toml", self.mcu.device))).unwrap();
        let mut m = Machine::new(&device);
        m.set_vcc(3.0);
        let mut words = self.words.clone();
        words.extend(jump("JMP", -1));
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        m.write_mem(self.mcu.code, &bytes).unwrap();
        m.write_mem(0xFFFE, &(self.mcu.code as u16).to_le_bytes()).unwrap();
        m.reset();
        m
    }
}

fn wiring(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn board(name: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(data().join(format!("boards/{name}.toml"))).unwrap();
    let file: sunseal_data::Table = text.parse().unwrap();
    let radio = file["radio"].as_table().unwrap();
    let pairs = radio.iter().filter(|(k, _)| *k != "part");
    pairs.map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).collect()
}

/// An antenna at the origin of a medium.
fn at_home(medium: &Medium) -> Antenna<'_> {
    Antenna::On(medium, Position::default())
}

fn radio(name: &str) -> RadioPart {
    bench::part(name)
}

/// A CC2500 as the F5438A board has it.
fn anagear_radio(m: &mut Machine, medium: &Medium) -> RadioHandle {
    let wires = board("msp430f5438a-anagear");
    attach(m, radio("cc2500"), &wires, at_home(medium)).unwrap()
}

fn near(seed: u64) -> Medium {
    Medium::new(MediumConfig {
        seed,
        loss: LinkLoss::Fixed { loss_db: 60.0 },
        ..MediumConfig::default()
    })
}

// --- a CC2500 on the node's board ------------------------------------------------------------------

const CS_5438: (u32, u32) = (0x222, 1);

/// As the node's driver sets it, but RX behind TX.
fn cc2500_program(p: &mut Program) {
    p.delay_us(400);
    for (register, value) in CC2500_AS_THE_NODE.into_iter().chain([(0x17, 0x3F)]) {
        p.send(&[register, value]);
    }
    p.send(&[0x3E, 0xFE]);
}

fn ping_pong(seed: u64, longest: Option<Picos>) -> (Network, Vec<Captured>) {
    let medium = near(seed);
    let mut network = Network::new(medium.clone());
    let (ping, pong) = ([5, b'p', b'i', b'n', b'g', b'!'], [4, b'p', b'o', b'n', b'g']);
    for first in [true, false] {
        let mut p = Program::new(F5438A, CS_5438);
        cc2500_program(&mut p);
        if first {
            p.delay_us(3000);
            p.send(&[&[0x7F][..], &ping].concat()).send(&[0x35]);
            // GDO0 (P1.7) up and down: sent; again: the answer is there.
            p.wait_set(0x200, 0x80).delay_us(1500).wait_set(0x200, 0x80).delay_us(1000);
            p.fetch(&[0xFF], pong.len() + 2);
        } else {
            p.send(&[0x34]).wait_set(0x200, 0x80).delay_us(1000);
            p.fetch(&[0xFF], ping.len() + 2);
            p.send(&[&[0x7F][..], &pong].concat()).send(&[0x35]);
        }
        let mut m = p.machine();
        let handle = anagear_radio(&mut m, &medium);
        network.add(if first { "ping" } else { "pong" }, m, handle);
    }
    if let Some(step) = longest {
        network.set_longest_step(step);
    }
    network.run(Picos(30_000_000_000), &mut |_| true).unwrap();
    let captured = medium.take_captured();
    (network, captured)
}

#[test]
fn two_nodes_with_a_cc2500_exchange_packets() {
    let (network, captured) = ping_pong(1, None);
    let got =
        |node: usize, n: usize| network.machine(node).read_mem(F5438A.ram, n).unwrap().to_vec();
    // -60 dBm are 24 in the RSSI byte; CRC_OK.
    assert_eq!(got(1, 8)[..7], [5, b'p', b'i', b'n', b'g', b'!', 24]);
    assert_eq!(got(0, 7)[..6], [4, b'p', b'o', b'n', b'g', 24]);
    assert_eq!((got(1, 8)[7] & 0x80, got(0, 7)[6] & 0x80), (0x80, 0x80));
    assert_eq!(captured.len(), 2);
    assert!(captured[1].start > captured[0].end);
    // 4 bytes of preamble, 4 of sync word, 6, 2 of CRC, at 249.94 kBaud.
    let us = (captured[0].end.0 - captured[0].start.0) as f64 / 1e6;
    assert!((us - 16.0 * 8.0 / 0.249_939).abs() < 0.1, "{us}");
    assert_eq!(network.radio(0).counts().sent, 1);
    let file = capture_file(&captured, 147).unwrap();
    let rows = tshark("cc2500", &file, &["frame.time_epoch", "frame.len"], &[]);
    let end_us = captured[0].end.0 / 1_000_000;
    assert_eq!(rows[0], format!("0.{end_us:06}000|{}", 8 + 6));
    assert_eq!(rows.len(), 2);
}

#[test]
fn steps_and_runs_change_nothing() {
    let memory = |n: &Network| {
        (0..2).map(|i| n.machine(i).read_mem(F5438A.ram, 16).unwrap().to_vec()).collect::<Vec<_>>()
    };
    let (a, captured) = ping_pong(7, None);
    for step in [None, Some(3), Some(1)] {
        let (b, again) = ping_pong(7, step.map(|us| Picos(us * 1_000_000)));
        assert_eq!((memory(&a), &captured), (memory(&b), &again), "{step:?}");
        assert_eq!(a.machine(0).cycles(), b.machine(0).cycles());
        assert!(step.is_none() || b.steps() > a.steps());
    }
}

// --- IEEE 802.15.4: a TelosB and a node with a CC2520 ----------------------------------------------

/// The board's pins for the CC2520 on an MSP430F5438A are this test's own.
fn cc2520_wiring() -> BTreeMap<String, String> {
    wiring(&[
        ("serial", "usci_b0"),
        ("csn", "P3.0"),
        ("gpio1", "P1.1"),
        ("gpio2", "P1.2"),
        ("gpio4", "P1.4"),
    ])
}

fn telosb(address: u16) -> Program {
    let mut p = Program::new(F1611, (0x1D, 0x04));
    // Regulator on, reset.
    p.op(double("BIS", B, Imm(0x20), Abs(0x1D))).delay_us(700);
    p.op(double("BIS", B, Imm(0x40), Abs(0x1D))).delay_us(10);
    p.send(&[0x01]).delay_us(1300);
    let [low, high] = address.to_le_bytes();
    // PAN 0x22, address; AUTOACK; FIFOP for whole frames.
    p.send(&[0xE8, 0x80, 0x22, 0x00, low, high])
        .send(&[0x11, 0x0A, 0xF2])
        .send(&[0x1C, 0x00, 0x7F]);
    p
}

#[test]
fn a_telosb_and_a_cc2520_exchange_acknowledged_frames() {
    let medium = near(3);
    let mut network = Network::new(medium.clone());
    let hello = data_frame(0x22, 2, 1, 0x11, true, b"from a TelosB");
    let reply = data_frame(0x22, 1, 2, 0x77, true, b"from a CC2520");

    let mut a = telosb(1);
    a.delay_us(2000).send(&[&[0x3E][..], &hello].concat()).send(&[0x04]);
    // FIFOP (P1.0): the acknowledgment, then the reply.
    a.wait_set(0x20, 0x01).fetch(&[0x7F], 6);
    a.wait_set(0x20, 0x01).fetch(&[0x7F], reply.len() + 2);
    let mut m = a.machine();
    let handle = attach(&mut m, radio("cc2420"), &board("telosb"), at_home(&medium)).unwrap();
    network.add("telosb", m, handle);

    let mut b = Program::new(F5438A, CS_5438);
    b.delay_us(600);
    b.send(&[0x20, 0x36, 0xF8]).send(&[0x20, 0x30, 0x32]).send(&[0xCC, 0x60]);
    b.send(&[0x23, 0xF2, 0x22, 0x00, 0x02, 0x00]).send(&[0x42]);
    // FIFOP on GPIO2 (P1.2).
    b.wait_set(0x200, 0x04).delay_us(1500).fetch(&[0x30], hello.len() + 2);
    b.send(&[&[0x3A][..], &reply].concat()).send(&[0x43]);
    b.wait_set(0x200, 0x04).fetch(&[0x30], 6);
    let mut m = b.machine();
    let handle = attach(&mut m, radio("cc2520"), &cc2520_wiring(), at_home(&medium)).unwrap();
    network.add("cc2520", m, handle);

    // A third node, 120 dB away from both: it hears nothing.
    let mut c = telosb(9);
    c.send(&[0x03]);
    let mut m = c.machine();
    let handle = attach(&mut m, radio("cc2420"), &board("telosb"), at_home(&medium)).unwrap();
    network.add("far", m, handle);
    medium.set_link(0, 2, 120.0);
    medium.set_link(1, 2, 120.0);

    network.run(Picos(40_000_000_000), &mut |_| true).unwrap();
    let got =
        |node: usize, ram: u32, n: usize| network.machine(node).read_mem(ram, n).unwrap().to_vec();
    let at_b = got(1, F5438A.ram, hello.len() + 8);
    assert_eq!(at_b[..hello.len()], hello);
    let at_a = got(0, F1611.ram, reply.len() + 8);
    assert_eq!(at_a[..4], [5, 0x02, 0x00, 0x11], "the acknowledgment of the CC2520");
    assert_eq!(at_a[6..6 + reply.len()], reply);
    assert_eq!(at_b[hello.len() + 2..hello.len() + 6], [5, 0x02, 0x00, 0x77], "and of the CC2420");
    let far = network.radio(2).counts();
    assert_eq!((far.received, far.crc_failed, far.filtered, far.calibrations), (0, 0, 0, 1));
    assert!(network.machine(0).state_of("radio").is_some_and(|s| s == "rx"));

    let captured = medium.take_captured();
    let file = capture_file(&captured, 195).unwrap();
    let fields =
        ["wpan.frame_type", "wpan.seq_no", "wpan.dst16", "wpan.src16", "wpan.fcs_ok", "frame.len"];
    let rows = tshark("ieee802154", &file, &fields, &["-o", "wpan.fcs_format:ITU-T CRC-16"]);
    let norm: Vec<String> = rows.iter().map(|r| r.replace("True", "1").to_lowercase()).collect();
    assert_eq!(norm.len(), 4, "{rows:?}");
    assert!(
        norm[0].starts_with("0x0001|17|0x0002|0x0001|1|")
            || norm[0].starts_with("0x01|17|0x0002|0x0001|1|"),
        "{rows:?}"
    );
    assert!(norm[1].contains("|17|||1|5"), "{rows:?}");
    assert!(norm[2].contains("|119|0x0001|0x0002|1|"), "{rows:?}");
    // Without check sequences the frames are two bytes shorter.
    let bare =
        tshark("bare", &capture_file(&captured, 230).unwrap(), &["wpan.seq_no", "frame.len"], &[]);
    assert_eq!(bare[1], "17|3");
    assert_eq!(capture_file(&captured, 1), None);
}

/// Fields of each packet of a capture, as tshark reads them.
fn tshark(name: &str, file: &[u8], fields: &[&str], options: &[&str]) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcap"));
    std::fs::write(&path, file).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(options).args(["-T", "fields", "-E", "separator=|"]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let out = tshark
        .output()
        .unwrap_or_else(|e| panic!("tshark cannot be run ({e}); install the package tshark"));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_board_that_wires_a_radio_wrongly_is_told() {
    let medium = near(1);
    let mut m = Program::new(F5438A, CS_5438).machine();
    let mut fails = |part: &str, pairs: &[(&str, &str)]| {
        attach(&mut m, radio(part), &wiring(pairs), at_home(&medium)).err().unwrap().to_string()
    };
    assert!(
        fails("cc2420", &[("serial", "usci_b0"), ("csn", "P3.0"), ("gdo0", "P1.1")])
            .contains("gdo0 is no connection of a cc2420")
    );
    assert!(fails("cc2520", &[("serial", "usci_b0")]).contains("csn is missing"));
    assert!(fails("cc2500", &[("csn", "P3.0")]).contains("serial is missing"));
    assert!(
        fails("cc1000", &[("pale", "P1.9"), ("pclk", "P1.1"), ("pdata", "P1.2")]).contains("P1.9")
    );
    assert!(fails("cc2500", &[("serial", "spi"), ("csn", "P3.0")]).contains("usci_b0"));
    let wires = [("pale", "P1.0"), ("pclk", "P1.1"), ("pdata", "P1.2"), ("rssi", "PF0")];
    assert!(fails("cc1000", &wires).contains("`PF0` is no channel"));
}

#[test]
fn a_node_that_breaks_a_rule_is_named() {
    let medium = near(1);
    let mut network = Network::new(medium.clone());
    let mut p = Program::new(F5438A, CS_5438);
    p.delay_us(400).send(&[0x38]);
    let mut m = p.machine();
    let handle = anagear_radio(&mut m, &medium);
    network.add("sleeper", m, handle);
    let text = network.run(Picos(5_000_000_000), &mut |_| true).unwrap_err().to_string();
    assert!(text.starts_with("node sleeper: radio: SWOR"), "{text}");
}
