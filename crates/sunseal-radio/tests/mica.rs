// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of avr-gcc on the MICA boards: two MICAz with a CC2420 behind the SPI, two MICA2 whose CC1000
//! clocks the chip's serial slave.

mod bench;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bench::{data, data_frame, near, part};
use sunseal_mcu::{Device, Elf, Machine};
use sunseal_radio::{Antenna, Network, Position, attach};
use sunseal_trace::Picos;

/// The CC2420 as a MICAz has it.
const MICAZ: &str = include_str!("data/micaz.c");

/// The CC1000 as a MICA2 has it: PALE PD4, PCLK PD6, PDATA PD7; it drives SCK, and ADC0 by its RSSI output. 433.002
/// MHz, 19200 bits a second.
const CC1000: &str = "
#include <avr/io.h>
#include <stdint.h>
#include <util/delay.h>
volatile uint8_t got[64];
volatile uint8_t got_bytes;
static void bits(uint8_t value) {
    for (uint8_t i = 8; i--; value <<= 1) {
        if (value & 0x80)
            PORTD |= 0x80;
        else
            PORTD &= ~0x80;
        PORTD &= ~0x40;
        _delay_us(1);
        PORTD |= 0x40;
    }
}
static void set(uint8_t address, uint8_t value) {
    PORTD &= ~0x10;
    bits(address << 1 | 1);
    PORTD |= 0x10;
    bits(value);
}
static const uint8_t settings[] = {0x01, 0x58, 0x02, 0x00, 0x03, 0x00, 0x04, 0x57, 0x05, 0xF6, 0x06, 0x85,
                                   0x07, 0x03, 0x08, 0x55, 0x09, 0x44, 0x0A, 0x02, 0x0B, 0x00, 0x0C, 0x60,
                                   0x0D, 0xE0, 0x0F, 0x1C, 0x10, 0x6B, 0x11, 0x55, 0x12, 0x70};
static void calibrate(uint8_t main, uint8_t current) {
    set(0x09, current);
    set(0x00, main);
    set(0x0E, 0x26);
    set(0x0E, 0xA6);
    _delay_ms(40);
    set(0x0E, 0x26);
}
static void radio_on(void) {
    DDRD = 0xD0;
    PORTD = 0x50;
    set(0x00, 0x3A);
    set(0x00, 0x3B);
    _delay_ms(2);
    for (uint8_t i = 0; i < sizeof settings; i += 2)
        set(settings[i], settings[i + 1]);
    calibrate(0x11, 0x44);
    calibrate(0xE1, 0x81);
    set(0x09, 0x44);
    set(0x00, 0x11);
    _delay_us(500);
}
static void send(void) {
    DDRB = 0x08; /* MISO */
    set(0x0B, 0x00);
    set(0x09, 0x81);
    set(0x00, 0xE1);
    _delay_us(250);
    set(0x0B, 0x0F);
    _delay_us(20);
    const uint8_t message[] = {FRAME};
    for (uint8_t i = 0; i < sizeof message; i++) {
        SPDR = message[i];
        while (!(SPSR & _BV(SPIF))) {
        }
    }
    while (!(SPSR & _BV(SPIF))) {
    }
    set(0x0B, 0x00);
}
";

const BYTES: &str = "
int main(void) {
    radio_on();
    SPCR = _BV(SPE);
#if OWN == 1
    _delay_ms(2);
    send();
#else
    while (got_bytes < sizeof got) {
        while (!(SPSR & _BV(SPIF))) {
        }
        got[got_bytes++] = SPDR;
    }
#endif
    for (;;) {
    }
}
";

/// The second looks at its RSSI before, while and after the first sends, and with the output off.
const RSSI: &str = "
static void look(void) {
    ADCSRA |= _BV(ADSC);
    while (ADCSRA & _BV(ADSC)) {
    }
    uint16_t counts = ADC;
    got[got_bytes] = counts;
    got[got_bytes + 1] = counts >> 8;
    got_bytes += 2;
}
int main(void) {
    radio_on();
    SPCR = _BV(SPE);
#if OWN == 1
    _delay_ms(10);
    send();
#else
    ADMUX = REFERENCE;
    ADCSRA = _BV(ADEN) | _BV(ADPS2) | _BV(ADPS1);
    _delay_ms(5);
    look();
    _delay_ms(10);
    look();
    set(0x0A, 0x00);
    look();
    set(0x0A, 0x02);
    look();
    _delay_ms(30);
    look();
#endif
    for (;;) {
    }
}
";

fn build(board: &str, source: &str, own: u8, frame: &[u8]) -> Elf {
    // Each by itself: tests run at the same time.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("{board}-{}-{own}", NUMBER.fetch_add(1, Relaxed));
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mica");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |ending: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    std::fs::write(file("c"), source).unwrap();
    let list: Vec<String> = frame.iter().map(u8::to_string).collect();
    let done = Command::new("avr-gcc")
        .args(["-mmcu=atmega128", "-Os", "-std=gnu11", "-DF_CPU=7372800UL"])
        .arg(format!("-DOWN={own}"))
        .arg(format!("-DFRAME={}", list.join(",")))
        .args(["-o", &file("elf"), &file("c")])
        .output()
        .unwrap_or_else(|e| {
            panic!("avr-gcc cannot be run ({e}); `firmware/toolchain/get --for tests` brings it")
        });
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Elf::parse(&std::fs::read(file("elf")).unwrap()).unwrap()
}

/// Two nodes of a board, the first with `OWN` 1, and so much lost between them; what they have got after `us`.
fn two(board: &str, source: &str, frame: &[u8], loss_db: f64, us: u128) -> (Network, [Vec<u8>; 2]) {
    let text = std::fs::read_to_string(data().join(format!("boards/{board}.toml"))).unwrap();
    let file: sunseal_data::Table = text.parse().unwrap();
    let radio = file["radio"].as_table().unwrap();
    let wiring: BTreeMap<String, String> = radio
        .iter()
        .filter(|(k, _)| *k != "part")
        .map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned()))
        .collect();
    let medium = near();
    medium.set_link(0, 1, loss_db);
    let mut network = Network::new(medium.clone());
    let mut places = Vec::new();
    for own in [1, 2] {
        let elf = build(board, source, own, frame);
        let mut m = Machine::new(&Device::named(file["device"].as_str().unwrap()).unwrap());
        // Crystal, 16K CK + 65 ms, no ATmega103.
        m.write_mem(0x82_0000, &[0xFF, 0xD9, 0xFF]).unwrap();
        m.fit_crystal("xtal", 7_372_800).unwrap();
        m.set_vcc(3.0);
        m.load(&elf).unwrap();
        m.reset();
        for pull in file.get("pull").and_then(|p| p.as_array()).into_iter().flatten() {
            let pin = pull["pin"].as_str().unwrap().parse().unwrap();
            m.set_pin(pin, pull["level"].as_bool());
        }
        let handle = attach(
            &mut m,
            part(radio["part"].as_str().unwrap()),
            &wiring,
            Antenna::On(&medium, Position::default()),
        )
        .unwrap();
        network.add(&format!("{board} {own}"), m, handle);
        places.push((elf.symbol("got").unwrap().addr, elf.symbol("got_bytes").unwrap().addr));
    }
    network.run(Picos(us * 1_000_000), &mut |_| true).unwrap();
    let got = [0, 1].map(|i| {
        let m = network.machine(i);
        let n = m.read_mem(places[i].1, 1).unwrap()[0];
        m.read_mem(places[i].0, n.into()).unwrap().to_vec()
    });
    (network, got)
}

#[test]
fn two_micaz_exchange_an_acknowledged_frame() {
    let frame = data_frame(0x22, 2, 1, 0x11, true, b"from a MICAz");
    let (network, [ack, hello]) = two("micaz", MICAZ, &frame, 60.0, 100_000);
    assert_eq!(hello[..frame.len()], frame);
    assert_eq!(hello.len(), frame.len() + 2);
    assert_eq!(hello[frame.len() + 1] & 0x80, 0x80, "CRC OK");
    assert_eq!(ack[..4], [5, 0x02, 0x00, 0x11]);
    assert_eq!(network.radio(0).counts().sent, 1);
    assert!(network.machine(1).state_of("radio").is_some_and(|s| s == "rx"));
}

#[test]
fn bytes_go_from_one_mica2_to_another() {
    let frame: Vec<u8> = [&[0xAA; 8][..], &[0x33, 0xCC], b"Manchester, bit by bit"].concat();
    let source = format!("{CC1000}{BYTES}");
    let (network, [_, stream]) = two("mica2", &source, &frame, 60.0, 400_000);
    // The slave's bytes begin anywhere in the stream of bits; the receiver's oscillator is above the carrier, so all
    // are inverted (TinyOS, CC1000ControlP.getLOStatus, which cites the data sheet's page 23).
    let bits = |bytes: &[u8]| -> Vec<bool> {
        bytes.iter().flat_map(|x| (0..8).rev().map(move |i| x >> i & 1 != 0)).collect()
    };
    let (heard, mut sent) = (bits(&stream), bits(&frame[6..]));
    sent.iter_mut().for_each(|b| *b = !*b);
    assert!(heard.windows(sent.len()).any(|w| w == sent), "{stream:02x?}");
    assert!(network.machine(1).state_of("radio").is_some_and(|s| s == "rx.433mhz"));
}

#[test]
fn a_mica2_reads_the_power_it_receives_at_its_converter() {
    // 50 bytes take 21 ms.
    let frame = [0x55; 50];
    // Sensitivity -101 dBm at a bit error rate of 1e-3 (non-coherent FSK).
    let noise_mw = 10f64.powf(-10.1) / (-2.0 * (2e-3f64).ln());
    for (reference, vref_v) in [("0x40", 3.0), ("0x00", 3.0), ("0xC0", 2.56)] {
        for loss_db in [60.0, 77.0, 95.0, 110.0] {
            let source = format!("#define REFERENCE {reference}\n{CC1000}{RSSI}");
            let (_, [_, got]) = two("mica2", &source, &frame, loss_db, 200_000);
            let counts: Vec<i32> =
                got.chunks(2).map(|b| i32::from(u16::from_le_bytes([b[0], b[1]]))).collect();
            // SWRS048A, page 33: up to 1.2 V. The first sends at 0 dBm; the receiver's own noise is in it.
            let volts = |mw: f64| ((-49.2 - 10.0 * (mw + noise_mw).log10()) / 51.3).min(1.2);
            let (quiet, heard) = (volts(0.0), volts(10f64.powf(-loss_db / 10.0)));
            for (got, v) in counts.iter().zip([quiet, heard, 0.0, heard, quiet]) {
                let ideal = (v / vref_v * 1024.0).floor() as i32;
                assert!((got - ideal).abs() <= 1, "{counts:?}: {ideal} at {loss_db} dB");
            }
            assert_eq!(counts.len(), 5);
        }
    }
}
