// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time on the air of LoRa packets, beside figures that others printed.

use sunseal_data::parse;
use sunseal_radio::{LoraPart, MessagePart};

fn lora(modem: &str, sf: u32, khz: f64, more: &str) -> LoraPart {
    parse(&format!(
        "modem = \"{modem}\"\nspreading_factor = {sf}\nbandwidth_kHz = {khz}\ncoding_rate = 5\npreamble_symbols = 8\n{more}"
    ))
    .unwrap()
}

fn airtime_us(l: &LoraPart, bytes: u32) -> f64 {
    f64::from(l.quarter_symbols(bytes)) / 4.0 * l.symbol_s() * 1e6
}

/// 38 to 41 bytes at 4/5 with 8 symbols of preamble, explicit header and CRC: The Things Network's calculator and
/// avbentem's, as the tests of the crate lora-modulation quote them.
#[test]
fn packets_last_as_long_as_two_public_calculators_say() {
    #[rustfmt::skip]
    let table = [
        (7, 250.0, [41_088, 41_088, 41_088, 43_648]),
        (7, 125.0, [82_176, 82_176, 82_176, 87_296]),
        (8, 125.0, [143_872, 154_112, 154_112, 154_112]),
        (9, 125.0, [267_264, 267_264, 287_744, 287_744]),
        (10, 125.0, [493_568, 493_568, 534_528, 534_528]),
        (11, 125.0, [1_069_056, 1_069_056, 1_069_056, 1_150_976]),
        (12, 125.0, [1_974_272, 1_974_272, 1_974_272, 2_138_112]),
    ];
    for modem in ["sx127x", "sx126x"] {
        for (sf, khz, want) in table {
            for (bytes, want) in (38..).zip(want) {
                let got = airtime_us(&lora(modem, sf, khz, ""), bytes);
                assert!((got - f64::from(want)).abs() < 1e-6, "{modem} {sf} {khz} {bytes}: {got}");
            }
        }
    }
}

/// The formula written a second time, in fractions, as AN1200.13 prints it; the low data rate counted where a symbol
/// lasts longer than 16 ms.
#[test]
fn each_setting_counts() {
    for sf in 7..=12u32 {
        for khz in [62.5, 125.0, 250.0, 500.0] {
            for (implicit, crc) in [(false, true), (true, true), (false, false), (true, false)] {
                for coding in 5..=8u32 {
                    let more = format!("implicit_header = {implicit}\ncrc = {crc}\n");
                    let l = LoraPart { coding_rate: coding, ..lora("sx127x", sf, khz, &more) };
                    let ts = f64::from(sf).exp2() / (khz * 1e3);
                    let de = f64::from(u8::from(ts > 16e-3));
                    for bytes in [0u32, 1, 5, 17, 51, 222, 255] {
                        let (f, pl) = (f64::from(sf), f64::from(bytes));
                        let (ih, c) = (f64::from(u8::from(implicit)), f64::from(u8::from(crc)));
                        let top = 8.0 * pl - 4.0 * f + 28.0 + 16.0 * c - 20.0 * ih;
                        let blocks = (top / (4.0 * (f - 2.0 * de))).ceil();
                        let symbols = 8.0 + (blocks * f64::from(coding)).max(0.0) + 8.0 + 4.25;
                        let (got, want) = (airtime_us(&l, bytes), symbols * ts * 1e6);
                        assert!(
                            (got / want - 1.0).abs() < 1e-12,
                            "{sf} {khz} {bytes}: {got} {want}"
                        );
                    }
                }
            }
        }
    }
    // SX1261/2, section 6.1.4: two symbols more of synchronisation below 7, and no 8 bits.
    assert_eq!(lora("sx126x", 5, 125.0, "").quarter_symbols(10), 4 * (8 + 8 + 5 * 5) + 25);
    assert_eq!(
        lora("sx126x", 7, 125.0, "low_data_rate = true").quarter_symbols(10),
        // 96 bits by 4 (7 - 2) a block are five blocks.
        4 * (8 + 8 + 5 * 5) + 17
    );
}

#[test]
fn what_no_modem_sends_is_a_sentence() {
    let message = |body: &str| -> MessagePart {
        parse(&format!(
            "name = \"m\"\ncarrier_MHz = 868\nwake = []\nsettle = []\nreceive = \"rx\"\nsend = [[0, \"tx\"]]\nsource = \"s\"\n{body}"
        ))
        .unwrap()
    };
    let of = |modem: &str, sf: u32, coding: u32| {
        format!(
            "lora = {{ modem = \"{modem}\", spreading_factor = {sf}, bandwidth_kHz = 125, coding_rate = {coding}, preamble_symbols = 8 }}"
        )
    };
    for (body, frame_bytes, want) in [
        (String::new(), 10, "needs rate_bit_s or a table lora"),
        (format!("rate_bit_s = 1e3\n{}", of("sx127x", 7, 5)), 10, "one of the two"),
        ("rate_bit_s = 0".to_owned(), 10, "must be above zero"),
        (of("sx127x", 13, 5), 10, "this modem has 6 to 12"),
        (of("sx127x", 6, 5), 10, "no explicit header there"),
        (of("sx127x", 7, 9), 10, "5 to 8, for 4/5 to 4/8"),
        (of("sx127x", 7, 5), 256, "at most 255 bytes"),
        ("rate_bit_s = 1e6\nframe_max_bytes = 32".to_owned(), 33, "a frame of at most 32 bytes"),
    ] {
        let told = message(&body).airtime_s(frame_bytes).unwrap_err();
        assert!(told.contains(want), "{told}");
    }
    let plain = message("rate_bit_s = 1e6\noverhead_bytes = 9.125\nframe_max_bytes = 32");
    assert!((plain.airtime_s(32).unwrap() - 329e-6).abs() < 1e-12);
}
