// SPDX-License-Identifier: MIT OR Apache-2.0
//! The debugger's protocol, spoken by hand and by GDB itself.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use sunseal_mcu::elf::Architecture;
use sunseal_mcu::gdb::{self, End, Options};
use sunseal_mcu::{Device, Elf, Machine};
use sunseal_trace::Picos;

use crate::fixture::{Tool, image_path, leaks, program};

/// Serves a machine with a fixture loaded to `client`, which gets the address.
fn served<T>(device: &str, elf: &Elf, client: impl FnOnce(SocketAddr) -> T + Send) -> (T, End)
where
    T: Send,
{
    let mut machine = Machine::new(&Device::named(device).unwrap());
    machine.load(elf).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        let client = scope.spawn(move || client(address));
        let options = Options { off: Picos(2_000_000_000_000), ..Options::default() };
        let end = gdb::serve(&mut machine, elf, &listener, &options).unwrap();
        (client.join().unwrap(), end)
    })
}

/// A client that speaks the protocol by hand.
struct Client {
    stream: TcpStream,
    console: String,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut client = Self { stream, console: String::new() };
        assert!(client.ask("qSupported:swbreak+;hwbreak+").contains("swbreak+"));
        client
    }

    fn send(&mut self, packet: &str) {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        self.stream.write_all(format!("${packet}#{sum:02x}").as_bytes()).unwrap();
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).unwrap();
        byte[0]
    }

    /// The next packet that is not for the console.
    fn answer(&mut self) -> String {
        loop {
            while self.byte() != b'$' {}
            let mut packet = Vec::new();
            loop {
                match self.byte() {
                    b'#' => break,
                    b'*' => {
                        let count = self.byte() - 29;
                        let last = *packet.last().unwrap();
                        packet.extend(std::iter::repeat_n(last, usize::from(count)));
                    }
                    byte => packet.push(byte),
                }
            }
            let _sum = (self.byte(), self.byte());
            self.stream.write_all(b"+").unwrap();
            let text = String::from_utf8(packet).unwrap();
            match text.strip_prefix('O').filter(|t| !t.is_empty() && *t != "K") {
                Some(hex) => self.console.push_str(&String::from_utf8(unhex(hex)).unwrap()),
                None => return text,
            }
        }
    }

    fn ask(&mut self, packet: &str) -> String {
        self.send(packet);
        self.answer()
    }

    fn monitor(&mut self, command: &str) -> String {
        self.console.clear();
        let hex: String = command.bytes().map(|b| format!("{b:02x}")).collect();
        assert_eq!(self.ask(&format!("qRcmd,{hex}")), "OK");
        std::mem::take(&mut self.console)
    }

    /// Register `n` of those that have 32 bits.
    fn register(&mut self, n: usize) -> u32 {
        let all = unhex(&self.ask("g"));
        u32::from_le_bytes(all[4 * n..4 * n + 4].try_into().unwrap())
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn a_session_by_hand_stops_steps_and_survives_losses_of_supply() {
    let elf = Elf::parse(&leaks(Tool::Msp430Clang)).unwrap();
    let addr = |name: &str| elf.symbol(name).unwrap().addr;
    let (table, select, out) = (addr("leak_table"), addr("clean_select"), addr("out"));
    let initialised = addr("initialised");
    let ((), end) = served("msp430f5438a", &elf, move |address| {
        let mut c = Client::new(address);
        assert!(c.ask("?").starts_with('S') || c.ask("?").starts_with('T'));
        let xml = c.ask("qXfer:features:read:target.xml:0,fff");
        assert!(xml.contains("<reg name=\"pc\"") && xml.contains("regnum=\"15\""), "{xml}");
        // Breakpoints of both kinds; the second is met after the first.
        assert_eq!(c.ask(&format!("Z0,{table:x},2")), "OK");
        assert_eq!(c.ask(&format!("Z1,{select:x},2")), "OK");
        let stop = c.ask("c");
        assert!(stop.contains("swbreak"), "{stop}");
        assert_eq!(c.register(0), table);
        assert_eq!(c.ask(&format!("m{initialised:x},2")), "3412");
        c.ask("c");
        assert_eq!(c.register(0), select);
        // One instruction.
        c.ask("s");
        let stepped = c.register(0);
        assert!(stepped > select && stepped <= select + 6, "{stepped:#x}");
        // A store to out[2]; the program counter is behind it.
        assert_eq!(c.ask(&format!("Z2,{:x},1", out + 2)), "OK");
        let stop = c.ask("c");
        assert!(stop.contains(&format!("watch:{:x}", out + 2)), "{stop}");
        assert_ne!(c.ask(&format!("m{:x},1", out + 2)), "00");
        assert_eq!(c.ask(&format!("z2,{:x},1", out + 2)), "OK");
        // Memory and registers can be written.
        assert_eq!(c.ask(&format!("M{initialised:x},2:efbe")), "OK");
        assert_eq!(c.ask(&format!("m{initialised:x},2")), "efbe");
        let mut all = c.ask("g");
        all.replace_range(8 * 5..8 * 6, "78560000");
        assert_eq!(c.ask(&format!("G{all}")), "OK");
        assert_eq!(c.register(5), 0x5678);
        assert!(c.ask("m10,4").starts_with('E'), "peripherals are not read behind their back");
        // The supply goes away: breakpoints are still there when the program starts anew.
        assert!(c.monitor("cut").contains("gone"));
        assert!(c.monitor("vcc").contains("off"));
        c.ask("c");
        assert_eq!(c.register(0), table);
        assert_eq!(c.ask(&format!("m{initialised:x},2")), "3412", "start-up code ran again");
        let text = c.monitor("cut 0.5");
        assert!(text.contains("away for 0.5 s"), "{text}");
        c.ask("c");
        assert_eq!(c.register(0), table);
        // A voltage below the brown-out level is a loss while it runs.
        assert!(c.monitor("vcc 0.5").contains("off"));
        c.console.clear();
        assert_eq!(&c.ask("c")[1..3], "20", "SIGPWR: the level is still too low");
        assert!(c.console.contains("the supply is gone"), "{}", c.console);
        assert!(c.monitor("vcc 3.0").contains("3 V"));
        c.ask("c");
        assert_eq!(c.register(0), table);
        for (command, part) in [
            ("cycles", "cycles,"),
            ("energy-ledger", "cpu.active"),
            ("states", "cpu: active"),
            ("reset", "next is start"),
            ("vcc much", "`much` is no voltage"),
            ("nonsense", "`nonsense` is no command"),
            ("help", "energy-ledger"),
        ] {
            let text = c.monitor(command);
            assert!(text.contains(part), "monitor {command}: {text}");
        }
        // Ctrl-C ends a loop without end.
        assert_eq!(c.ask(&format!("z0,{table:x},2")), "OK");
        assert_eq!(c.ask(&format!("z1,{select:x},2")), "OK");
        c.send("c");
        std::thread::sleep(Duration::from_millis(50));
        c.stream.write_all(b"\x03").unwrap();
        let stop = c.answer();
        assert_eq!(&stop[1..3], "02", "SIGINT: {stop}");
        assert_eq!(c.ask("D"), "OK");
    });
    assert_eq!(end, End::Detached);
}

/// The program counter, by the set's layout of registers.
fn pc(c: &mut Client, elf: &Elf) -> u32 {
    let at = match elf.architecture {
        Architecture::Msp430 => 0,
        Architecture::Avr => 35,
        Architecture::Arm => 4 * 15,
    };
    u32::from_le_bytes(unhex(&c.ask("g"))[at..at + 4].try_into().unwrap())
}

#[test]
fn watchpoints_of_each_kind_hit_behind_the_access_and_outlive_losses_of_supply() {
    for (device, tool) in [
        ("msp430f5438a", Tool::Msp430Clang),
        ("atmega128l", Tool::AvrGcc),
        ("msp432p401r", Tool::ArmGcc),
    ] {
        let elf = Elf::parse(&leaks(tool)).unwrap();
        let elf = &elf;
        let ((), end) = served(device, elf, move |address| {
            let addr = |name: &str| elf.symbol(name).unwrap().addr;
            // Behind an instruction of the function, at its return at the latest.
            let inside = |pc: u32, name: &str| {
                let s = elf.symbol(name).unwrap();
                ((s.addr & !1) + 1..=(s.addr & !1) + s.size_bytes).contains(&pc)
            };
            let (secret, out) = (addr("secret") + 1, addr("out"));
            let mut c = Client::new(address);
            // Start-up code writes it; leak_table reads it.
            assert_eq!(c.ask(&format!("Z3,{secret:x},1")), "OK");
            let stop = c.ask("c");
            assert!(stop.contains(&format!("rwatch:{secret:x}")), "{device}: {stop}");
            assert!(inside(pc(&mut c, elf), "leak_table"), "{device}");
            assert_eq!(c.ask(&format!("z3,{secret:x},1")), "OK");
            // Written, read and written.
            let place = out + 3;
            assert_eq!(c.ask(&format!("Z4,{place:x},1")), "OK");
            for n in 0..3 {
                let stop = c.ask("c");
                assert!(stop.contains(&format!("awatch:{place:x}")), "{device}, {n}: {stop}");
                assert!(inside(pc(&mut c, elf), "inlined_twice"), "{device}, {n}");
            }
            assert_eq!(c.ask(&format!("z4,{place:x},1")), "OK");
            // With a breakpoint beside it, and a step onto the access.
            let place = out + 1;
            assert_eq!(c.ask(&format!("Z2,{place:x},1")), "OK");
            assert_eq!(c.ask(&format!("Z0,{:x},2", addr("leak_table") & !1)), "OK");
            assert!(c.monitor("cut 0.1").contains("away"));
            loop {
                let stop = c.ask("c");
                if stop.contains("swbreak") {
                    break;
                }
                // Start-up code clears it.
                assert!(stop.contains(&format!("watch:{place:x}")), "{device}: {stop}");
            }
            let stop = loop {
                let stop = c.ask("s");
                if stop.contains("watch") {
                    break stop;
                }
                assert!(inside(pc(&mut c, elf), "leak_table"), "{device}: {stop}");
            };
            assert!(stop.contains(&format!("watch:{place:x}")), "{device}: {stop}");
            assert_eq!(c.ask("D"), "OK");
        });
        assert_eq!(end, End::Detached);
    }
}

#[test]
fn a_fault_is_told_with_function_and_line() {
    let elf = Elf::parse(&leaks(Tool::Msp430Clang)).unwrap();
    let ((), end) = served("msp430f5438a", &elf, |address| {
        let mut c = Client::new(address);
        let mut all = c.ask("g");
        // Erased flash as a vector would have it.
        all.replace_range(0..8, "ffff0000");
        assert_eq!(c.ask(&format!("G{all}")), "OK");
        let stop = c.ask("c");
        assert_eq!(&stop[1..3], "0a", "SIGBUS: {stop}");
        assert!(c.console.contains("erased flash"), "{}", c.console);
        drop(c);
    });
    assert_eq!(end, End::Closed);
}

/// Runs GDB on a machine; its output.
fn by_gdb(gdb: &str, device: &str, tool: Tool, commands: &[&str]) -> String {
    let bytes = leaks(tool);
    let elf = Elf::parse(&bytes).unwrap();
    let image = image_path(&bytes, gdb);
    let gdb = program(gdb);
    let path = image.clone();
    let (text, end) = served(device, &elf, move |address| {
        let mut c = Command::new(gdb);
        c.args(["-nx", "-batch"]).arg(&path);
        c.args(["-ex", "set confirm off", "-ex", &format!("target remote {address}")]);
        for command in commands {
            c.args(["-ex", command]);
        }
        let out = c.output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
    });
    let _ = std::fs::remove_file(image);
    assert_ne!(end, End::Closed, "{text}");
    text
}

/// What every GDB must show of `leaks.c`.
fn check(text: &str) {
    for part in [
        "Breakpoint 1, leak_table",
        "initialised = 0x1234",
        "atchpoint 2: out[2]",
        // Where it stopped is behind the store, by an instruction more where GDB expects the stop before it.
        "New value = 1",
        "away for 0.25 s",
        "again:",
        "cpu.active",
        "last: 0x1234",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

const SCRIPT: [&str; 17] = [
    "break leak_table",
    "continue",
    "printf \"initialised = 0x%x\\n\", initialised",
    "watch out[2]",
    "continue",
    "backtrace",
    "info registers pc",
    "delete 2",
    "set var initialised = 7",
    "monitor cut 0.25",
    "stepi",
    "echo again:\\ ",
    "continue",
    "printf \"last: 0x%x\\n\", initialised",
    "finish",
    "monitor energy-ledger",
    "detach",
];

#[test]
fn gdb_debugs_an_avr() {
    let text = by_gdb("avr-gdb", "atmega128l", Tool::AvrGcc, &SCRIPT);
    check(&text);
}

#[test]
fn gdb_debugs_a_cortex_m4() {
    for tool in [Tool::ArmGcc, Tool::ArmClang] {
        let text = by_gdb("gdb-multiarch", "msp432p401r", tool, &SCRIPT);
        check(&text);
    }
}
