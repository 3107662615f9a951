// SPDX-License-Identifier: MIT OR Apache-2.0
//! The node's configuration block in information memory, as `firmware/node/config.h` lays it out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_link::Suite;
use sunseal_mcu::{Elf, Machine};
use sunseal_power::{Limits, SupplyConfig};

use crate::coupons::CouponConfig;
use crate::{NodeError, Scenario, Written};

/// Side that starts the exchange (Mane 2014, section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The node: it reports every period.
    Periodic = 1,
    /// The server: the node shows itself every period and is asked, or not.
    Asynchronous = 2,
    /// The node reports and is asked, by turns.
    Both = 3,
}

sunseal_data::optional! {
    /// Changes of a scenario to the block; what it leaves out stays as the program was built. The store's capacitance
    /// and the cut-off are taken from the supply unless they stand here.
    pub struct NodeConfig {
        /// Eight bytes in hexadecimal.
        pub node_id: String,
        /// Short address on the air, 2 to 255.
        pub address: u8,
        /// Side that starts the exchange: the node, the server, or each by turns.
        pub mode: Mode,
        /// Name of the signature suite, as in the link layer; it must be of the program's curve.
        pub suite: String,
        /// Number of the radio channel, as the radio's data sheet counts them.
        pub channel: u8,
        /// PATABLE value of the radio's output power.
        pub power: u8,
        /// True if the program writes a log to its UART.
        pub log: bool,
        /// True if the node says once a period that its store is low.
        pub tell_low: bool,
        /// CPU clock to which the program sets the chip.
        pub mclk_khz: u16,
        /// From one exchange to the next.
        pub period_s: u32,
        /// Value that the gate takes for the store's capacitance.
        pub storage_uf: u32,
        /// Value that the gate takes for the harvester's cut-off.
        pub cutoff_mv: u16,
        /// The gate's margin over the energy of an operation; equation 6.1 has 200.
        pub margin_percent: u16,
        /// Energy that the gate leaves in the store besides.
        pub overhead_uj: u32,
        /// Energy of a key generation, out of the store.
        pub keygen_uj: u32,
        /// Energy of a signature, out of the store.
        pub sign_uj: u32,
        /// Energy of a message and its answer, out of the store.
        pub radio_uj: u32,
        /// Sleep between two looks at the store while energy is wanted.
        pub poll_s: u16,
        /// Time for which an answer is awaited.
        pub window_ms: u16,
        /// HELLOs, and ENROLs, before the node gives up for now.
        pub hello_tries: u8,
        /// REPORTs in one period until one is answered.
        pub report_tries: u8,
        /// Unanswered messages in a row, after which a HELLO goes first.
        pub silent_max: u8,
        /// Shortest pause before a retry.
        pub backoff_ms: u16,
        /// Pause after a vain enrolment.
        pub enrol_retry_s: u16,
        /// From one look at the air to the next by wake-on-radio, in asynchronous mode; 0: the radio sleeps.
        pub listen_every_s: f64,
        /// Calls answered from one HELLO to the next.
        pub wakes_max: u8,
        /// Conditions under which a program that has coupons makes them.
        pub coupons: CouponConfig,
    }
}

pub(crate) const SYMBOL: &str = "node_config";
const MAGIC: [u8; 4] = *b"SNDC";
const VERSION: u16 = 1;
const BYTES: usize = 72;
/// Range of periods that the driver of a CC2500 can do: `firmware/node/cc2500.c`.
const LISTEN_S: std::ops::RangeInclusive<f64> = 0.05..=60.0;
/// Function that programs have which listen.
const LISTENS: &str = "phy_listen";
/// Longest period that the program's arithmetic bears: `firmware/node/config.h`.
const MAX_PERIOD_S: u32 = i32::MAX as u32;
pub(crate) const MAX_ENERGY_UJ: u32 = 0xFF_FFFF;
const FLAG_LOG: u8 = 1;
const FLAG_TELL_LOW: u8 = 2;

impl NodeConfig {
    /// Checks what can be known without the program; the reason has the key.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(text) = &self.node_id {
            node_id(text)?;
        }
        if let Some(name) = &self.suite {
            suite(name)?;
        }
        if self.address.is_some_and(|a| a < 2) {
            return Err(format!(
                "node.address is {}; 0 is everyone and 1 the gateway, so take 2 to 255",
                self.address.unwrap_or(0)
            ));
        }
        let clock = self.mclk_khz.unwrap_or(16_000);
        if !(1000..=25_000).contains(&clock) {
            return Err(format!("node.mclk_khz is {clock}; the program takes 1000 to 25000"));
        }
        if let Some(s) = self.listen_every_s.filter(|s| *s != 0.0 && !LISTEN_S.contains(s)) {
            return Err(format!(
                "node.listen_every_s is {s}; a CC2500 looks at the air every {} to {} s, and 0 is never",
                LISTEN_S.start(),
                LISTEN_S.end()
            ));
        }
        if self.listens() && self.mode == Some(Mode::Periodic) {
            return Err("node.listen_every_s stands beside mode \"periodic\", in which nobody asks the node; take \"asynchronous\" or \"both\"".to_owned());
        }
        let not_zero = [
            ("wakes_max", self.wakes_max.map(u32::from)),
            ("period_s", self.period_s),
            ("storage_uf", self.storage_uf),
            ("poll_s", self.poll_s.map(u32::from)),
            ("window_ms", self.window_ms.map(u32::from)),
            ("hello_tries", self.hello_tries.map(u32::from)),
            ("report_tries", self.report_tries.map(u32::from)),
            ("enrol_retry_s", self.enrol_retry_s.map(u32::from)),
        ];
        if let Some((key, _)) = not_zero.iter().find(|(_, v)| *v == Some(0)) {
            return Err(format!("node.{key} is 0; it must be one or more"));
        }
        let at_most = [
            ("period_s", self.period_s, MAX_PERIOD_S),
            ("keygen_uj", self.keygen_uj, MAX_ENERGY_UJ),
            ("sign_uj", self.sign_uj, MAX_ENERGY_UJ),
            ("radio_uj", self.radio_uj, MAX_ENERGY_UJ),
        ];
        match at_most.iter().find(|(_, v, most)| v.is_some_and(|v| v > *most)) {
            Some((key, v, most)) => {
                Err(format!("node.{key} is {}; the program takes at most {most}", v.unwrap_or(0)))
            }
            None => self.coupons.as_ref().map_or(Ok(()), CouponConfig::check),
        }
    }

    /// True if the node can be woken.
    pub(crate) fn listens(&self) -> bool {
        self.listen_every_s.is_some_and(|s| s != 0.0)
    }

    /// Writes what is given over a block; `supply` speaks for the store.
    fn patch(&self, block: &mut [u8; BYTES], supply: &SupplyConfig) -> Result<(), String> {
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        let storage_uf = self.storage_uf.unwrap_or_else(|| {
            let c = supply.store.mean_capacitance_f(supply.v_cut_v, supply.v_max_v);
            (c * 1e6).round().max(1.0) as u32
        });
        let cutoff_mv = self.cutoff_mv.unwrap_or_else(|| (supply.v_cut_v * 1e3).round() as u16);
        put(28, &storage_uf.to_le_bytes());
        put(32, &cutoff_mv.to_le_bytes());
        if let Some(text) = &self.node_id {
            put(8, &node_id(text)?);
        }
        if let Some(name) = &self.suite {
            put(18, &[suite(name)?.code()]);
        }
        macro_rules! little_endian {
            ($($at:literal $value:expr,)*) => {
                $(if let Some(value) = $value {
                    put($at, &value.to_le_bytes());
                })*
            };
        }
        little_endian! {
            16 self.address,
            17 self.mode.map(|mode| mode as u8),
            19 self.channel,
            20 self.power,
            22 self.mclk_khz,
            24 self.period_s,
            34 self.margin_percent,
            36 self.overhead_uj,
            40 self.keygen_uj,
            44 self.sign_uj,
            48 self.radio_uj,
            52 self.poll_s,
            54 self.window_ms,
            56 self.hello_tries,
            57 self.report_tries,
            58 self.silent_max,
            60 self.backoff_ms,
            62 self.enrol_retry_s,
            64 self.listen_every_s.map(|s| (s * 1e3).round() as u16),
            66 self.wakes_max,
        }
        for (flag, wish) in [(FLAG_LOG, self.log), (FLAG_TELL_LOW, self.tell_low)] {
            if let Some(on) = wish {
                block[21] = block[21] & !flag | if on { flag } else { 0 };
            }
        }
        Ok(())
    }
}

fn node_id(text: &str) -> Result<[u8; 8], String> {
    let parsed =
        (text.len() == 16 && text.is_ascii()).then(|| u64::from_str_radix(text, 16).ok()).flatten();
    parsed.map(u64::to_be_bytes).ok_or_else(|| {
        format!("node.node_id is {text:?}; it is eight bytes, 16 hexadecimal digits")
    })
}

fn suite(name: &str) -> Result<Suite, String> {
    Suite::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Suite::ALL.iter().map(|s| s.name()).collect();
        format!("node.suite is {name:?}; the suites are {}", known.join(", "))
    })
}

/// The program holds one curve; a suite of another would stop it at its first instructions.
fn same_curve(own: Option<Suite>, wished: Option<Suite>) -> Result<(), String> {
    match (own, wished) {
        (Some(own), Some(wished)) if own.public_key_bytes() != wished.public_key_bytes() => {
            let fit: Vec<_> = Suite::ALL
                .iter()
                .filter(|s| s.public_key_bytes() == own.public_key_bytes())
                .map(|s| s.name())
                .collect();
            Err(format!(
                "node.suite is {:?} and the program signs on another curve; take {}, or another node-<curve>.elf",
                wished.name(),
                fit.join(" or ")
            ))
        }
        _ => Ok(()),
    }
}

/// Writes the block that the node's program reads, as a programmer would, if the image is the node's.
pub(crate) fn write_config(
    machine: &mut Machine,
    elf: &Elf,
    scenario: &Scenario,
    supply: &SupplyConfig,
    limits: &Limits,
) -> Result<(), NodeError> {
    let firmware = |reason: String| NodeError::Firmware {
        path: scenario.firmware.display().to_string(),
        reason,
    };
    let Ok(symbol) = elf.symbol(SYMBOL) else {
        return match &scenario.node {
            Some(_) => Err(firmware(format!(
                "it has no symbol `{SYMBOL}`, so it is not the node's program; take node-<curve>.elf, or leave out the table [node]"
            ))),
            None => Ok(()),
        };
    };
    let addr = symbol.addr;
    let mut block: [u8; BYTES] = machine
        .read_mem(addr, BYTES)
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| firmware(format!("`{SYMBOL}` at {addr:#06x} does not lie in memory")))?;
    let half = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
    if block[..4] != MAGIC || half(4) != VERSION || usize::from(half(6)) != BYTES {
        return Err(firmware(format!(
            "`{SYMBOL}` is of version {} with {} bytes; this engine writes version {VERSION} with {BYTES}",
            half(4),
            half(6)
        )));
    }
    let wishes = scenario.node.clone().unwrap_or_default();
    let bad = |reason: String| NodeError::Scenario { path: scenario.source.clone(), reason };
    if wishes.listens() && elf.symbol(LISTENS).is_err() {
        let program = scenario.firmware.display();
        return Err(bad(format!(
            "node.listen_every_s: {program} has no wake-on-radio; take a program for a CC2500 that has room for it (docs/reference/node.md)"
        )));
    }
    let own = Suite::from_code(block[18]);
    wishes.patch(&mut block, supply).map_err(bad)?;
    same_curve(own, Suite::from_code(block[18])).map_err(bad)?;
    let clock_hz = f64::from(u16::from_le_bytes([block[22], block[23]])) * 1e3;
    limits.level_for(supply.vcc_v, clock_hz).map_err(|e| bad(format!("node.mclk_khz: {e}")))?;
    machine.write_mem(addr, &block)?;
    CouponConfig::write(wishes.coupons.as_ref(), machine, elf, supply).map_err(bad)
}

/// Writes what table [write] has into the program's symbols, as a programmer would.
pub(crate) fn write_symbols(
    machine: &mut Machine,
    elf: &Elf,
    scenario: &Scenario,
) -> Result<(), NodeError> {
    for (name, value) in &scenario.write {
        let bad = |reason: String| NodeError::Scenario {
            path: scenario.source.clone(),
            reason: format!("write.{name}: {reason}"),
        };
        let symbol = elf.symbol(name).map_err(|e| bad(e.to_string()))?;
        let size = symbol.size_bytes as usize;
        let bytes = match value {
            Written::Number(n) => {
                let wide = n.to_le_bytes();
                let fits = (1..=8).contains(&size)
                    && (size == 8 || (-1..=1).contains(&(n >> (8 * size - 1))));
                if !fits {
                    return Err(bad(format!("{n} does not fit the symbol's {size} bytes")));
                }
                wide[..size].to_vec()
            }
            Written::Bytes(text) => {
                let bytes = from_hex(text)
                    .ok_or_else(|| bad("it is no row of bytes in hexadecimal".to_owned()))?;
                if bytes.len() > size {
                    return Err(bad(format!(
                        "{} bytes do not fit the symbol's {size}",
                        bytes.len()
                    )));
                }
                bytes
            }
        };
        machine.write_mem(symbol.addr, &bytes).map_err(|e| bad(e.to_string()))?;
    }
    Ok(())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let whole = text.is_ascii() && text.len().is_multiple_of(2);
    let pairs =
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok());
    whole.then(|| pairs.collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupons::tests::plain_supply;

    #[test]
    fn a_suite_of_another_curve_is_refused() {
        let [p256, sha1, sha256] = Suite::ALL.map(Some);
        assert_eq!(same_curve(sha1, sha256), Ok(()));
        let text = same_curve(sha1, p256).unwrap_err();
        assert!(text.contains("take ecdsa-secp160r1-sha1 or ecdsa-secp160r1-sha256"), "{text}");
        assert!(same_curve(p256, sha1).is_err());
    }

    #[test]
    fn what_would_overflow_in_the_program_is_refused() {
        for (key, most) in [
            ("period_s", 0x7FFF_FFFF_u32),
            ("keygen_uj", 0xFF_FFFF),
            ("sign_uj", 0xFF_FFFF),
            ("radio_uj", 0xFF_FFFF),
        ] {
            let check = |value: u32| {
                sunseal_data::parse::<NodeConfig>(&format!("{key} = {value}")).unwrap().check()
            };
            assert_eq!(check(most), Ok(()));
            let told = check(most + 1).unwrap_err();
            assert_eq!(
                told,
                format!("node.{key} is {}; the program takes at most {most}", most + 1)
            );
        }
    }

    #[test]
    fn each_key_lands_at_its_offset_and_nothing_else_moves() {
        let supply = plain_supply();
        let text = "node_id = \"0102030405060708\"\naddress = 9\nmode = \"asynchronous\"\nsuite = \"ecdsa-secp160r1-sha256\"\n\
                    channel = 3\npower = 0xFE\nlog = true\ntell_low = false\nmclk_khz = 8000\nperiod_s = 300\n\
                    margin_percent = 150\noverhead_uj = 7\nkeygen_uj = 8\nsign_uj = 9\nradio_uj = 10\npoll_s = 11\n\
                    window_ms = 12\nhello_tries = 13\nreport_tries = 14\nsilent_max = 15\nbackoff_ms = 16\nenrol_retry_s = 17\n\
                    listen_every_s = 1.5\nwakes_max = 18\n";
        let mut block = [0xAA; BYTES];
        block[21] = 0xF2;
        sunseal_data::parse::<NodeConfig>(text).unwrap().patch(&mut block, &supply).unwrap();
        let mut expect = [0xAA; BYTES];
        expect[8..16].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        expect[16..22].copy_from_slice(&[9, 2, 3, 3, 0xFE, 0xF1]);
        expect[22..24].copy_from_slice(&8000u16.to_le_bytes());
        expect[24..28].copy_from_slice(&300u32.to_le_bytes());
        expect[28..32].copy_from_slice(&500_000u32.to_le_bytes());
        expect[32..34].copy_from_slice(&1900u16.to_le_bytes());
        expect[34..36].copy_from_slice(&150u16.to_le_bytes());
        for (i, v) in [7u32, 8, 9, 10].into_iter().enumerate() {
            expect[36 + 4 * i..40 + 4 * i].copy_from_slice(&v.to_le_bytes());
        }
        expect[52..59].copy_from_slice(&[11, 0, 12, 0, 13, 14, 15]);
        expect[60..67].copy_from_slice(&[16, 0, 17, 0, 0xDC, 5, 18]);
        assert_eq!(block, expect);
        // Left out, only what the supply says is written.
        let mut block = [0xAA; BYTES];
        NodeConfig::default().patch(&mut block, &supply).unwrap();
        assert_eq!(block.iter().filter(|b| **b != 0xAA).count(), 6);
    }
}
