// SPDX-License-Identifier: MIT OR Apache-2.0
//! The AES accelerator through its registers, by words and bytes, and through DMA.

use sunseal_mcu::{Machine, Until};
use sunseal_trace::Silent;

use crate::asm::Arg::*;
use crate::support::*;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

const KEY: u32 = DATA;
const IN: u32 = DATA + 0x40;
const IV: u32 = DATA + 0x100;
const OUT: u32 = RAM + 0x400;

const ENCRYPT: u16 = 0;
const DECRYPT: u16 = 1;
const ROUND_KEY: u16 = 2;
const DECRYPT_ROUND_KEY: u16 = 3;

fn key_length(key: &[u8]) -> u16 {
    ((key.len() as u16 - 16) / 8) << 2
}

/// Copies `n` words from an address to a register: MOV @R4+, &to in a row.
fn feed(p: &mut Program, from: u32, n: usize, to: u32) {
    p.op("MOV", Imm(from), R(4));
    for _ in 0..n {
        p.op("MOV", Inc(4), Abs(to));
    }
}

fn feed_bytes(p: &mut Program, from: u32, n: usize, to: u32) {
    p.op("MOV", Imm(from), R(4));
    for _ in 0..n {
        p.op_b("MOV", Inc(4), Abs(to));
    }
}

fn fetch(p: &mut Program, from: u32, n: usize, to: u32) {
    for i in 0..n as u32 {
        p.op("MOV", Abs(from), Abs(to + 2 * i));
    }
}

fn machine(p: &Program, key: &[u8], input: &[u8], iv: &[u8]) -> Machine {
    let mut m = p.machine();
    m.write_mem(KEY, key).unwrap();
    m.write_mem(IN, input).unwrap();
    m.write_mem(IV, iv).unwrap();
    m
}

fn block(op: u16, key: &str, input: &str, by_bytes: bool) -> String {
    let (key, input) = (bytes(key), bytes(input));
    let mut p = Program::new();
    p.set(AESACTL0, op | key_length(&key));
    if by_bytes {
        feed_bytes(&mut p, KEY, key.len(), AESAKEY);
        feed_bytes(&mut p, IN, 16, AESADIN);
    } else {
        feed(&mut p, KEY, key.len() / 2, AESAKEY);
        feed(&mut p, IN, 8, AESADIN);
    }
    p.wait_clear(AESASTAT, 1);
    if by_bytes {
        for i in 0..16 {
            p.op_b("MOV", Abs(AESADOUT), Abs(OUT + i));
        }
    } else {
        fetch(&mut p, AESADOUT, 8, OUT);
    }
    p.keep(AESASTAT).halt();
    let mut m = machine(&p, &key, &input, &[]);
    halt(&mut m);
    assert_ne!(kept(&m, 0) & 8, 0, "AESDOUTRD");
    m.read_mem(OUT, 16).unwrap().iter().map(|b| format!("{b:02x}")).collect()
}

const PLAIN: &str = "00112233445566778899aabbccddeeff";
/// FIPS 197, appendix C.
const FIPS: [(&str, &str); 3] = [
    ("000102030405060708090a0b0c0d0e0f", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("000102030405060708090a0b0c0d0e0f1011121314151617", "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
];

#[test]
fn the_standard_s_examples_by_words_and_by_bytes() {
    for (key, cipher) in FIPS {
        for by_bytes in [false, true] {
            assert_eq!(block(ENCRYPT, key, PLAIN, by_bytes), cipher);
            assert_eq!(block(DECRYPT, key, cipher, by_bytes), PLAIN);
        }
    }
}

/// Cycles that AESBUSY is set, from the write of the last word of data.
fn busy_cycles(op: u16, key: &str) -> u64 {
    let key = bytes(key);
    let mut p = Program::new();
    p.set(AESACTL0, op | key_length(&key));
    feed(&mut p, KEY, key.len() / 2, AESAKEY);
    if op != ROUND_KEY {
        feed(&mut p, IN, 8, AESADIN);
    }
    let start = p.here();
    // AESRDYIE wakes a loop of NOPs: its handler takes the place.
    p.halt();
    let mut m = machine(&p, &key, &[0; 16], &[]);
    m.run(&Until::pc(start), &mut Silent);
    let before = m.time();
    assert_eq!(m.state_of("aes256"), Some("on"));
    let until = Until { state_change: true, ..Until::default() };
    // MCLK's source runs on for the module while the CPU is off.
    while m.state_of("aes256") == Some("on") {
        m.run(
            &Until { time: Some(m.time() + sunseal_trace::Picos(1_000_000)), ..until.clone() },
            &mut Silent,
        );
    }
    ((m.time().0 - before.0 + 500_000) / 1_000_000) as u64
}

#[test]
fn a_block_takes_the_cycles_of_its_key_length_and_operation() {
    for (op, cycles) in
        [(ENCRYPT, [168, 206, 234]), (DECRYPT, [215, 255, 292]), (ROUND_KEY, [53, 57, 68])]
    {
        for ((key, _), cycles) in FIPS.into_iter().zip(cycles) {
            let is = busy_cycles(op, key);
            assert!(is.abs_diff(cycles) <= 1, "{op} {cycles}: {is}");
        }
    }
}

#[test]
fn decryption_from_the_last_round_key() {
    for (key, cipher) in FIPS {
        let (key, input) = (bytes(key), bytes(cipher));
        let mut p = Program::new();
        p.set(AESACTL0, ROUND_KEY | key_length(&key));
        feed(&mut p, KEY, key.len() / 2, AESAKEY);
        p.wait_clear(AESASTAT, 1).set(AESACTL0, DECRYPT_ROUND_KEY | key_length(&key));
        p.set(AESASTAT, 2);
        feed(&mut p, IN, 8, AESADIN);
        p.wait_clear(AESASTAT, 1);
        fetch(&mut p, AESADOUT, 8, OUT);
        p.halt();
        let mut m = machine(&p, &key, &input, &[]);
        halt(&mut m);
        assert_eq!(m.read_mem(OUT, 16).unwrap(), bytes(PLAIN));
    }
}

#[test]
fn ready_interrupts_and_touching_a_busy_module_is_an_error() {
    let key = bytes(FIPS[0].0);
    let mut p = Program::new();
    p.set(AESACTL0, 0x1000);
    feed(&mut p, KEY, 8, AESAKEY);
    feed(&mut p, IN, 8, AESADIN);
    p.set(AESADIN, 1).keep(AESACTL0).sleep(LPM0 | GIE).keep(AESACTL0).halt();
    p.handler(VECTOR_AES).op("BIC", Imm(0x1000), Abs(AESACTL0)).wake_and_return();
    let mut m = machine(&p, &key, &bytes(PLAIN), &[]);
    halt(&mut m);
    assert_eq!(kept(&m, 0), 0x1800, "AESRDYIE, AESERRFG");
    assert_eq!(kept(&m, 1) & 0x0900, 0x0900, "AESRDYIFG");
    assert_eq!(events(&m, "aes256.encrypt"), 1);
}

/// NIST SP 800-38A, appendix F: four blocks with AES-128.
const NIST_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const NIST_IV: &str = "000102030405060708090a0b0c0d0e0f";
const NIST_PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                          30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const ECB: &str = "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf\
                   43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4";
const CBC: &str = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
                   73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7";
const OFB: &str = "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825\
                   9740051e9c5fecf64344f7a82260edcc304c6528f659c77866a510d9c1d6ae5e";
const CFB: &str = "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b\
                   26751f67a3cbb140b1808cf187a4f4dfc04b05357c5d1c0eeac4c66f9ff7f2e6";

/// DMA channel `n`: source, destination, size, control.
fn channel(p: &mut Program, n: u32, from: u32, to: u32, size: u16, ctl: u16) {
    let at = 0x10 * n;
    p.set(DMA0SA + at, from as u16)
        .set(DMA0SA + 2 + at, (from >> 16) as u16)
        .set(DMA0DA + at, to as u16)
        .set(DMA0DA + 2 + at, (to >> 16) as u16)
        .set(DMA0SZ + at, size)
        .set(DMA0CTL + at, ctl);
}

/// Level-sensitive single transfers of words; the source or the destination counts up.
const FROM_MEMORY: u16 = 0x0330;
const TO_MEMORY: u16 = 0x0C30;
const TO_MEMORY_IE: u16 = TO_MEMORY | 0x0004;

/// Four blocks through DMA as the user's guide lays the channels out (SLAU367P, AES256 chapter).
fn mode(cm: u16, op: u16, input: &str) -> (Vec<u8>, Machine) {
    let mut p = Program::new();
    let words = 32;
    let decrypts_cbc = cm == 1 && op != ENCRYPT;
    if decrypts_cbc {
        p.set(AESACTL0, ROUND_KEY);
        feed(&mut p, KEY, 8, AESAKEY);
        p.wait_clear(AESASTAT, 1);
        p.set(AESACTL0, 0x8000 | cm << 5 | DECRYPT_ROUND_KEY).set(AESASTAT, 2);
    } else {
        p.set(AESACTL0, 0x8000 | cm << 5 | op);
        feed(&mut p, KEY, 8, AESAKEY);
    }
    // AES triggers 0, 1 and 2 are DMA triggers 11, 12 and 13.
    p.set(DMACTL0, 12 << 8 | 11).set(DMACTL1, 13);
    let starts_by_write = match (cm, op) {
        (0, _) | (1, ENCRYPT) => {
            if cm == 1 {
                feed(&mut p, IV, 8, AESAXIN);
            }
            channel(&mut p, 0, AESADOUT, OUT, words, TO_MEMORY_IE);
            channel(&mut p, 1, IN, if cm == 0 { AESADIN } else { AESAXDIN }, words, FROM_MEMORY);
            false
        }
        (1, _) => {
            // The initialisation vector lies in front of the ciphertext.
            channel(&mut p, 0, IN - 16, AESAXIN, words, FROM_MEMORY);
            channel(&mut p, 1, AESADOUT, OUT, words, TO_MEMORY_IE);
            channel(&mut p, 2, IN, AESADIN, words, FROM_MEMORY);
            false
        }
        (2, _) => {
            feed(&mut p, IV, 8, AESAXIN);
            channel(&mut p, 0, IN, AESAXIN, words, FROM_MEMORY);
            channel(&mut p, 1, AESADOUT, OUT, words, TO_MEMORY_IE);
            channel(&mut p, 2, IN, AESAXDIN, words - 8, FROM_MEMORY);
            true
        }
        _ => {
            feed(&mut p, IV, 8, AESAXIN);
            channel(&mut p, 0, IN, AESAXIN, words, FROM_MEMORY);
            channel(&mut p, 1, AESADOUT, OUT, words, TO_MEMORY_IE);
            if op != ENCRYPT {
                channel(&mut p, 2, IN, AESADIN, words - 8, FROM_MEMORY);
            }
            true
        }
    };
    p.set(AESACTL1, 4);
    if starts_by_write {
        p.op("BIS", Imm(4), Abs(AESASTAT));
    }
    p.sleep(LPM0 | GIE).keep(AESACTL0).halt();
    p.handler(VECTOR_DMA).keep(DMAIV).wake_and_return();
    let mut m = machine(&p, &bytes(NIST_KEY), &bytes(input), &bytes(NIST_IV));
    m.write_mem(IN - 16, &bytes(NIST_IV)).unwrap();
    halt(&mut m);
    (m.read_mem(OUT, 64).unwrap().to_vec(), m)
}

#[test]
fn the_modes_of_sp_800_38a_through_dma() {
    for (cm, cipher) in [(0, ECB), (1, CBC), (2, OFB), (3, CFB)] {
        let (out, m) = mode(cm, ENCRYPT, NIST_PLAIN);
        assert_eq!(out, bytes(cipher), "encryption in mode {cm}");
        assert_eq!(events(&m, "aes256.encrypt"), 4);
        let (out, _) = mode(cm, DECRYPT, cipher);
        assert_eq!(out, bytes(NIST_PLAIN), "decryption in mode {cm}");
    }
}
