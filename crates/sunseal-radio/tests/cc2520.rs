// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2520 against short scripts on its SPI bus.

mod bench;

use bench::{
    Bench, Strobes, US, data_frame, goes_on_from_any_part_of_a_frame, loses_the_same_whenever,
    near, part, problem, sends, sends_two_unread, survives, together, two,
};
use proptest::prelude::*;
use sunseal_mcu::{Part, Pin};
use sunseal_radio::{Cc2420Pins, Cc2520Pins, Medium, Position, Radio};
use sunseal_trace::Picos;

const GPIO: [Pin; 6] = [
    Pin::new(1, 0),
    Pin::new(1, 1),
    Pin::new(1, 2),
    Pin::new(1, 3),
    Pin::new(1, 4),
    Pin::new(1, 5),
];
const SOMI: Pin = Pin::new(3, 2);
const VREG_EN: Pin = Pin::new(4, 5);
const RESETN: Pin = Pin::new(4, 6);

sunseal_trace::constants! { u8:
    SNOP 0x00, SXOSCON 0x40, SRXON 0x42, STXON 0x43, STXONCCA 0x44, SRFOFF 0x45, SXOSCOFF 0x46,
    SFLUSHRX 0x47, SFLUSHTX 0x48,
}

/// In front of a frame stands the instruction TXBUF.
const STROBES: Strobes = Strobes { listen: SRXON, load: 0x3A, send: STXON };

fn pins() -> Cc2520Pins {
    Cc2520Pins {
        gpio: GPIO.map(Some),
        somi: Some(SOMI),
        vreg_en: Some(VREG_EN),
        resetn: Some(RESETN),
    }
}

fn chip(medium: Option<&Medium>) -> Bench {
    let p: sunseal_radio::Cc2520Part = part("cc2520");
    let port = medium.map(|m| m.join(Position::default(), p.receiver));
    Bench::new(Radio::cc2520(p, pins(), port))
}

/// Powered up as section 13 has it, with the recommended settings; PAN 0x22, this short address.
fn ready(medium: Option<&Medium>, address: u16) -> Bench {
    let mut b = chip(medium);
    b.set(RESETN, false);
    b.set(VREG_EN, true);
    b.wait_us(100);
    b.set(RESETN, true);
    b.wait_us(400);
    for (register, value) in [
        (0x36, 0xF8),
        (0x46, 0x85),
        (0x47, 0x14),
        (0x4A, 0x3F),
        (0x4C, 0x5A),
        (0x4F, 0x2B),
        (0x53, 0x11),
        (0x56, 0x10),
        (0x57, 0x0E),
        (0x58, 0x03),
        (0x30, 0x32),
    ] {
        b.mem(register, &[value]);
    }
    b.mem(0x3F2, &[0x22, 0]);
    b.mem(0x3F4, &address.to_le_bytes());
    b
}

impl Bench {
    fn mem(&mut self, address: u16, bytes: &[u8]) {
        let [high, low] = address.to_be_bytes();
        self.transaction(&[&[0x20 | high, low], bytes].concat());
    }

    fn mem_read(&mut self, address: u16, n: usize) -> Vec<u8> {
        let [high, low] = address.to_be_bytes();
        let mut bytes = vec![0x10 | high, low];
        bytes.extend(vec![0; n]);
        self.transaction(&bytes)[2..].to_vec()
    }

    fn reg(&mut self, address: u8) -> u8 {
        self.transaction(&[0x80 | address, 0])[1]
    }

    fn write(&mut self, address: u8, value: u8) {
        self.transaction(&[0xC0 | address, value]);
    }

    fn status(&mut self) -> u8 {
        self.transaction(&[SNOP])[0]
    }

    fn load(&mut self, frame: &[u8]) {
        self.transaction(&[&[0x3A], frame].concat());
    }

    fn fifo(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0x30];
        bytes.extend(vec![0; n]);
        self.transaction(&bytes)[1..].to_vec()
    }

    fn exceptions(&mut self) -> u32 {
        let out = self.transaction(&[0x90, 0, 0, 0]);
        u32::from_le_bytes([out[1], out[2], out[3], 0])
    }

    fn clear_exceptions(&mut self) {
        self.transaction(&[0xD0, 0, 0, 0]);
    }
}

#[test]
fn it_powers_up_and_shows_on_so_that_the_crystal_runs() {
    let mut b = chip(None);
    assert_eq!(b.chip.state(), "lpm2");
    b.set(VREG_EN, true);
    b.chip.select(b.now);
    b.wait_us(299);
    assert!(!b.chip.pins().contains(&(SOMI, true)));
    b.wait_us(1);
    assert!(b.level(SOMI), "100 us regulator, 200 us crystal");
    b.chip.deselect(b.now);
    assert_eq!(b.status() & 0x80, 0x80);
    b.transaction(&[SXOSCOFF]);
    assert_eq!(b.chip.state(), "lpm1");
    // Registers are kept.
    b.write(0x2E, 0x1A);
    b.transaction(&[SXOSCON]);
    assert_eq!(b.until("active"), 199.0);
    assert_eq!(b.reg(0x2E), 0x1A);
    b.set(VREG_EN, false);
    assert_eq!(b.chip.state(), "lpm2");
    b.sound();
}

#[test]
fn registers_hold_by_every_way_to_write_them() {
    let mut b = ready(None, 1);
    assert_eq!((b.reg(0x00), b.reg(0x01), b.reg(0x0C), b.reg(0x21)), (0x0D, 0x78, 0x40, 0x27));
    assert_eq!(b.mem_read(0x40, 1), [0x84], "CHIPID");
    b.transaction(&[0xC0 | 0x2E, 0x15, 0x0F]);
    assert_eq!(b.transaction(&[0x80 | 0x2E, 0, 0])[1..], [0x15, 0x0F]);
    // BSET and BCLR of FRMCTRL0.AUTOACK, in one transaction with SNOP.
    b.transaction(&[0x59, 0x0C << 3 | 5, SNOP]);
    assert_eq!(b.reg(0x0C), 0x60);
    b.transaction(&[0x58, 0x0C << 3 | 5]);
    assert_eq!(b.reg(0x0C), 0x40);
    b.mem(0x200, &[1, 2, 3, 4]);
    // What was there comes back while it is written.
    assert_eq!(b.transaction(&[0x22, 0x01, 9, 9])[2..], [2, 3]);
    assert_eq!(b.mem_read(0x200, 4), [1, 9, 9, 4]);
    // MEMXWR.
    b.transaction(&[0x56, 0x02, 0x00, 0xFF]);
    assert_eq!(b.mem_read(0x200, 1), [0xFE]);
    b.sound();
}

#[test]
fn a_frame_goes_out_and_raises_its_exceptions() {
    let m = near();
    let mut b = ready(Some(&m), 1);
    let frame = data_frame(0x22, 2, 1, 7, false, &[1, 2, 3]);
    b.load(&frame);
    assert_eq!(b.reg(0x3F), frame.len() as u8);
    b.clear_exceptions();
    let strobed = b.now + Picos(4 * US);
    b.transaction(&[STXON]);
    b.until("tx.0dbm");
    assert_eq!(b.now.0 - strobed.0, 192 * US);
    while !b.level(GPIO[4]) {
        b.now = b.chip.next_event().unwrap();
        b.chip.event(b.now);
    }
    assert_eq!(b.now.0 - strobed.0, (192 + 160) * US, "SFD on GPIO4");
    b.until("calibrate");
    let bytes = u128::from(frame[0]) + 1;
    assert_eq!(b.now.0 - strobed.0, (192 + (5 + bytes) * 32) * US);
    // TX_FRM_DONE and SFD; RXENABLE was set, so the receiver comes back.
    assert_eq!(b.exceptions(), 1 << 1 | 1 << 13);
    assert_eq!(b.reg(0x0E), 0x40);
    b.until("rx.wait");
    assert_eq!(m.take_captured()[0].bytes[..frame.len()], frame);
    // Written 0, a flag goes; written 1, it stays.
    b.transaction(&[0xD0, 0xFD, 0xFF]);
    assert_eq!(b.exceptions(), 1 << 13);
    b.sound();
}

#[test]
fn it_talks_with_a_cc2420_and_acknowledges() {
    let m = near();
    let mut b = ready(Some(&m), 2);
    b.write(0x0C, 0x60);
    b.transaction(&[SRXON]);
    let p: sunseal_radio::Cc2420Part = part("cc2420");
    let port = Some(m.join(Position::default(), p.receiver));
    let mut a = Bench::new(Radio::cc2420(p, Cc2420Pins::default(), port));
    a.wait_us(600);
    a.transaction(&[0x01]);
    a.wait_us(1200);
    b.wait_us(2000);
    a.now = b.now;
    b.clear_exceptions();
    let frame = data_frame(0x22, 2, 1, 0x33, true, b"thirty-two bytes of one message!");
    a.transaction(&[&[0x3E][..], &frame].concat());
    a.transaction(&[0x04]);
    b.now = a.now;
    together(&mut [&mut a, &mut b], 192 + (6 + u128::from(frame[0])) * 32 + 10);
    assert!(b.level(GPIO[1]) && b.level(GPIO[2]), "FIFO and FIFOP");
    together(&mut [&mut a, &mut b], 1500);
    // SFD twice seen as one flag, accepted, done, source matched, FIFOP, acknowledged.
    let e = b.exceptions();
    for n in [0x02, 0x08, 0x09, 0x0A, 0x0C, 0x0D] {
        assert_eq!(e >> n & 1, 1, "exception {n:#x} of {e:#x}");
    }
    let got = b.fifo(usize::from(frame[0]) + 1);
    assert_eq!(got[..frame.len()], frame);
    // -60 dBm with an offset of 76.
    assert_eq!(got[frame.len()..], [16, 0x80 | 110]);
    assert_eq!(a.transaction(&[0x7F, 0, 0, 0, 0])[1..], [5, 2, 0, 0x33]);
    a.sound();
    b.sound();
}

#[test]
fn the_pending_bit_follows_the_source_table() {
    let m = near();
    let (mut a, mut b) = (ready(Some(&m), 5), ready(Some(&m), 2));
    b.write(0x0C, 0x60);
    // SRCMATCH with AUTOPEND for all frames; entry 3 is node 5 of PAN 0x22, and data wait for it.
    b.write(0x02, 0x03);
    b.mem(0x380 + 12, &[0x22, 0, 5, 0]);
    b.write(0x04, 0x08);
    b.mem(0x3E4, &[0x08]);
    b.transaction(&[SRXON]);
    b.transaction(&[SRXON]);
    let send = |a: &mut Bench, b: &mut Bench, src| {
        a.transaction(&[SFLUSHTX]);
        a.load(&data_frame(0x22, 2, src, 1, true, &[0]));
        a.now = b.now.max(a.now);
        a.transaction(&[SFLUSHRX]);
        a.transaction(&[STXON]);
        b.now = a.now;
        together(&mut [a, b], 3000);
        a.fifo(2)[1]
    };
    // The acknowledgment passes the filter of its sender: type 2, no addresses.
    assert_eq!(send(&mut a, &mut b, 5), 0x12);
    assert_eq!(b.mem_read(0x3E0, 4), [0x08, 0, 0, 3]);
    assert_eq!(send(&mut a, &mut b, 6), 0x02);
    assert_eq!(b.mem_read(0x3E0, 4), [0, 0, 0, 0x3F]);
    b.sound();
}

#[test]
fn fifos_overflow_and_underflow_as_exceptions() {
    let (_m, mut a, mut b) = two(ready);
    b.clear_exceptions();
    b.load(&[1; 129]);
    assert_eq!(b.exceptions(), 1 << 4, "TX_OVERFLOW");
    b.transaction(&[SFLUSHTX]);
    b.clear_exceptions();
    b.fifo(1);
    assert_eq!(b.exceptions(), 1 << 5, "RX_UNDERFLOW");
    b.clear_exceptions();
    b.load(&[20, 1, 2]);
    b.transaction(&[STXON]);
    b.wait_us(1000);
    assert_eq!(b.exceptions() & 0x0A, 1 << 3, "TX_UNDERFLOW");
    assert_eq!(b.reg(0x32) & 0x3F, 56);
    b.transaction(&[SFLUSHTX]);
    b.transaction(&[SRXON]);
    a.now = b.now;
    sends_two_unread(&mut a, &mut b, &STROBES);
    assert_eq!(b.exceptions() >> 6 & 1, 1, "RX_OVERFLOW");
    assert!(!b.level(GPIO[1]) && b.level(GPIO[2]));
    b.transaction(&[SFLUSHRX]);
    assert_eq!(b.reg(0x3E), 0);
    assert_eq!(b.reg(0x32) & 0x3F, 3);
    b.sound();
}

#[test]
fn exceptions_reach_a_pin_by_their_mask() {
    let mut b = ready(None, 1);
    b.clear_exceptions();
    // GPIO0: channel A, which is TX_FRM_DONE; GPIO5 a constant, low active.
    b.write(0x14, 0x02);
    b.write(0x20, 0x21);
    b.transaction(&[0xC0 | 0x25, 0x7F, 0x1F]);
    assert!(!b.level(GPIO[0]) && !b.level(GPIO[5]));
    b.load(&[5, 1, 2, 3]);
    b.transaction(&[STXON]);
    b.wait_us(1000);
    assert!(b.level(GPIO[0]));
    assert_eq!(b.status() & 0x30, 0x20, "EXCEPTION channel A");
    b.clear_exceptions();
    assert!(!b.level(GPIO[0]));
    // GPIO3 as an input gives STXON.
    b.write(0x23, 0x88);
    b.set(GPIO[3], true);
    assert_eq!(b.status() & 2, 2);
    b.sound();
}

#[test]
fn a_busy_channel_is_seen() {
    let (_m, mut a, mut b) = two(ready);
    b.transaction(&[SRXON]);
    together(&mut [&mut a, &mut b], 1000);
    assert_eq!((b.reg(0x39), b.level(GPIO[3])), (1, true));
    sends(&mut a, &mut b, &STROBES, &data_frame(0x22, 9, 1, 1, false, &[0; 100]), 400);
    assert!(!b.level(GPIO[3]));
    b.load(&[5, 1, 2, 3]);
    b.transaction(&[STXONCCA]);
    assert_eq!((b.status() & 2, b.reg(0x33) & 0x08), (0, 0));
    b.transaction(&[SRFOFF]);
    assert_eq!(b.chip.state(), "active");
    assert_eq!(b.reg(0x39), 0, "RSSI is not valid any more");
    b.sound();
}

#[test]
fn the_data_sheets_ccm_example() {
    // SWRS068, 26.9.1: the beacon of IEEE 802.15.4-2006, C.2.1, authenticated.
    let mut b = ready(None, 1);
    b.mem(
        0x200,
        &[
            0x08, 0xD0, 0x84, 0x21, 0x43, 0x01, 0, 0, 0, 0, 0x48, 0xDE, 0xAC, 0x02, 0x05, 0, 0, 0,
            0x55, 0xCF, 0, 0, 0x51, 0x52, 0x53, 0x54,
        ],
    );
    b.mem(0x230, &(0xC0..=0xCF).rev().collect::<Vec<u8>>());
    b.mem(0x240, &[0, 0, 2, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x48, 0xDE, 0xAC, 0x09]);
    b.clear_exceptions();
    // CCM(P=1, K=23, C=0, N=24, A=200, E=000, F=1A, M=2).
    b.transaction(&[0x69, 0x23, 0, 0x24, 0x20, 0x00, 0x00, 0x1A, 0x02]);
    b.wait_us(100);
    assert_eq!(b.exceptions() >> 15 & 1, 1, "DPU_DONE_H");
    assert_eq!(b.mem_read(0x21A, 8), [0x22, 0x3B, 0xC1, 0xEC, 0x84, 0x1A, 0xB5, 0x53]);
    // UCCM says that it holds, and that it does not when a bit is wrong.
    let uccm = [0x6A, 0x23, 0, 0x24, 0x22, 0x00, 0xC0, 0x1A, 0x02];
    b.transaction(&uccm);
    b.wait_us(100);
    assert_eq!(b.reg(0x2C) & 0x04, 0x04, "AUTHSTAT_L");
    b.mem(0x205, &[0x00]);
    b.transaction(&uccm);
    b.wait_us(100);
    assert_eq!(b.reg(0x2C) & 0x04, 0);
    b.sound();
}

#[test]
fn ccm_and_ctr_are_rfc_3610() {
    // Packet vector 1: eight bytes in the clear, 23 sealed, eight of code.
    let sealed = [
        0x58, 0x8C, 0x97, 0x9A, 0x61, 0xC6, 0x63, 0xD2, 0xF0, 0x66, 0xD0, 0xC2, 0xC0, 0xF9, 0x89,
        0x80, 0x6D, 0x5F, 0x6B, 0x61, 0xDA, 0xC3, 0x84,
    ];
    let tag = [0x17, 0xE8, 0xD1, 0x2C, 0xFD, 0xF9, 0x26, 0xE0];
    let mut b = ready(None, 1);
    b.mem(0x230, &(0xC0..=0xCF).rev().collect::<Vec<u8>>());
    let nonce = [0x09, 0, 0, 0, 3, 2, 1, 0, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0, 1];
    b.mem(0x240, &nonce.iter().rev().copied().collect::<Vec<u8>>());
    let plain: Vec<u8> = (0..31).collect();
    b.mem(0x200, &plain);
    b.transaction(&[0x68, 0x23, 23, 0x24, 0x20, 0x00, 0x00, 8, 2]);
    let began = b.now.0 - 5 * US + 4 * US;
    while b.status() & 4 != 0 {}
    // 1 + 1 + 2 blocks for the code, 2 + 1 for the stream, at 6.9 us; a SNOP takes 5.
    assert!((b.now.0 - began) / US >= 40, "{}", (b.now.0 - began) / US);
    assert_eq!(b.mem_read(0x200, 8), plain[..8]);
    assert_eq!(b.mem_read(0x208, 23), sealed);
    assert_eq!(b.mem_read(0x21F, 8), tag);
    // UCTR of the sealed bytes, to another place; then UCCM in place.
    b.transaction(&[0x60, 0x23, 23, 0x24, 0x22, 0x08, 0x80]);
    b.wait_us(60);
    assert_eq!(b.mem_read(0x280, 23), plain[8..]);
    b.transaction(&[0x6B, 0x23, 23, 0x24, 0x20, 0x00, 0x00, 8, 2]);
    b.wait_us(100);
    assert_eq!(b.mem_read(0x200, 31), plain);
    assert_eq!(b.reg(0x2C) & 8, 8, "AUTHSTAT_H");
    b.sound();
}

#[test]
fn blocks_streams_and_copies() {
    let mut b = ready(None, 1);
    let key: Vec<u8> = (0..16).rev().collect();
    let plain: Vec<u8> = (0..16).map(|i| i * 0x11).collect();
    b.mem(0x230, &key);
    b.mem(0x240, &plain);
    // ECB(P=0, K=23, C=0, A=240, E=250): FIPS 197, appendix C.
    b.transaction(&[0x70, 0x23, 0x02, 0x40, 0x02, 0x50]);
    assert_eq!(b.status() & 4, 4, "the data processing unit is busy");
    b.wait_us(20);
    let cipher = b.mem_read(0x250, 16);
    assert_eq!(cipher[..4], [0x69, 0xC4, 0xE0, 0xD8]);
    assert_eq!(b.mem_read(0x240, 16), plain);
    // CBCMAC of one block is its encryption.
    b.transaction(&[0x64, 0x23, 16, 0x22, 0x40, 0x90, 3]);
    b.wait_us(50);
    assert_eq!(b.mem_read(0x290, 16), cipher);
    // MEMCP, MEMCPR, MEMXCP, INC.
    b.transaction(&[0x50, 4, 0x22, 0x40, 0xA0]);
    b.wait_us(10);
    assert_eq!(b.mem_read(0x2A0, 4), plain[..4]);
    b.transaction(&[0x52, 4, 0x22, 0x40, 0xA0]);
    b.wait_us(10);
    assert_eq!(b.mem_read(0x2A0, 4), [0x33, 0x22, 0x11, 0x00]);
    b.transaction(&[0x54, 4, 0x22, 0x40, 0xA0]);
    b.wait_us(10);
    assert_eq!(b.mem_read(0x2A0, 4), [0x33, 0x33, 0x33, 0x33]);
    b.mem(0x2B0, &[0xFF, 0xFF, 0x01, 0x07]);
    b.transaction(&[0x78, 0x12, 0xB0]);
    b.wait_us(10);
    assert_eq!(b.mem_read(0x2B0, 4), [0, 0, 1, 7], "two bytes count");
    // TXBUFCP and RXBUFCP.
    b.transaction(&[0x3E, 4, 0x02, 0xA0]);
    b.wait_us(10);
    assert_eq!((b.reg(0x3F), b.mem_read(0x100, 4)), (4, vec![0x33; 4]));
    b.sound();
}

#[test]
fn a_second_instruction_of_the_same_priority_is_a_usage_error() {
    let mut b = ready(None, 1);
    b.clear_exceptions();
    b.chip.select(b.now);
    for byte in [0x50, 255, 0x22, 0x00, 0x00, 0x50, 255, 0x22, 0x00, 0x00] {
        b.chip.transfer(b.now, byte);
    }
    b.chip.deselect(b.now);
    assert_eq!(b.exceptions() >> 0x11 & 1, 1);
    b.mem_read(0x3FF, 2);
    assert_eq!(b.exceptions() >> 0x10 & 1, 1, "MEMADDR_ERROR");
    b.transaction(&[0x50, 1]);
    assert_eq!(b.exceptions() >> 0x13 & 1, 1, "SPI_ERROR: broken off");
    b.sound();
}

#[test]
fn what_the_model_cannot_do_has_a_name() {
    let problem = |f: fn(&mut Bench)| problem(ready(None, 1), f);
    assert!(problem(|b| b.write(0x1C, 0x80)).contains("bound"));
    assert!(problem(|b| b.write(0x35, 0x03)).contains("FSMCTRL"));
    assert!(problem(|b| b.write(0x0C, 0xC0)).contains("APPEND_DATA_MODE"));
    assert!(problem(|b| b.write(0x30, 0x55)).contains("TXPOWER is 0x55"));
    assert!(problem(|b| b.write(0x20, 0x46)).contains("GPIOCTRL0 is 0x46"));
    assert!(problem(|b| b.mem(0x5A, &[0x77])).contains("0x05a"));
    assert!(problem(|b| b.mem(0x54, &[0x77])).contains("0x054"));
    assert!(problem(|b| b.write(0x38, 0)).contains("can only be read"));
    assert!(problem(|b| drop(b.transaction(&[0x6E]))).contains("0x6e is no instruction"));
    assert!(problem(|b| drop(b.transaction(&[0x41]))).contains("STXCAL"));
    // AGCCTRL2 as Contiki's driver has it.
    let mut b = ready(None, 1);
    b.mem(0x54, &[0xEB]);
    b.sound();
    let mut b = chip(None);
    b.set(VREG_EN, true);
    b.wait_us(120);
    b.transaction(&[STXON]);
    assert!(b.radio.problem().unwrap().contains("without a running crystal"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_bytes_are_survived(seed in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 1..400)) {
        let m = near();
        survives(ready(Some(&m), 1), seed, &bytes, 9, |b, x| {
            b.set(GPIO[(x >> 40) as usize % 6], x >> 59 & 1 != 0);
        });
    }
}

#[test]
fn a_snapshot_in_the_middle_of_a_frame_goes_on_as_the_chip_did() {
    goes_on_from_any_part_of_a_frame(ready, chip, &STROBES, |b| {
        format!("{:?} {}", b.mem_read(0x3F2, 4), b.status())
    });
}

#[test]
fn a_loss_of_power_leaves_the_same_whenever_it_comes() {
    loses_the_same_whenever(ready, &STROBES);
}
