// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coupons of the node's program (`firmware/node/coupons.h`): when it makes them, and what became of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_mcu::{Elf, Machine};
use sunseal_power::SupplyConfig;

use crate::config::MAX_ENERGY_UJ;

const SYMBOL: &str = "node_coupons";
const MAGIC: [u8; 4] = *b"SNCP";
const VERSION: u16 = 1;
const BYTES: usize = 28;
/// Share of the voltage at which charging stops from which on energy counts as surplus, unless a scenario says another.
pub(crate) const SURPLUS: f64 = 0.95;

/// Algorithm that a coupon is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CouponKind {
    /// A signature on the program's curve.
    Ecdsa,
}

sunseal_data::optional! {
    /// Conditions under which coupons are made, table `[node.coupons]`; what it leaves out stays as the program was
    /// built.
    pub struct CouponConfig {
        /// Algorithm that they are a part of.
        pub kind: CouponKind,
        /// With fewer, more are made from any energy that the next duty leaves.
        pub low: u16,
        /// With so many, no more are made; 0: never any. As many as the program's memory keeps if absent.
        pub high: u16,
        /// From `low` on, the store must stand at this or higher; 95 % of the voltage at which
        /// charging stops if absent.
        pub refill_above_v: f64,
        /// Energy of a signature from a coupon, out of the store.
        pub use_uj: u32,
        /// Energy that stays in the store beside the next duty and the coupon itself.
        pub reserve_uj: u32,
        /// From one wake-up for coupons to the next.
        pub every_s: u16,
        /// Coupons made in one of them at most.
        pub per_wake: u8,
    }
}

impl CouponConfig {
    /// Checks what can be known without program and supply; the reason has the key.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(v) = self.refill_above_v.filter(|v| !(*v > 0.0 && *v < 65.5)) {
            return Err(format!(
                "node.coupons.refill_above_v is {v}; it is a voltage of the store, above 0 and below 65.5"
            ));
        }
        let not_zero = [("every_s", self.every_s), ("per_wake", self.per_wake.map(u16::from))];
        if let Some((key, _)) = not_zero.iter().find(|(_, v)| *v == Some(0)) {
            return Err(format!("node.coupons.{key} is 0; it must be one or more"));
        }
        for (key, value) in [("use_uj", self.use_uj), ("reserve_uj", self.reserve_uj)] {
            if let Some(v) = value.filter(|v| *v > MAX_ENERGY_UJ) {
                return Err(format!(
                    "node.coupons.{key} is {v}; the program takes at most {MAX_ENERGY_UJ}"
                ));
            }
        }
        match (self.low, self.high) {
            (Some(low), Some(high)) if low > high => Err(format!(
                "node.coupons.low is {low} and high is {high}; low is the smaller of the two levels"
            )),
            _ => Ok(()),
        }
    }

    /// Writes what is given over a block; `supply` speaks for the store.
    fn patch(&self, block: &mut [u8; BYTES], supply: &SupplyConfig) -> Result<(), String> {
        let half = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
        let slots = half(8);
        let (low, high) = (self.low.unwrap_or(half(10)), self.high.unwrap_or(slots));
        if high > slots {
            return Err(format!(
                "node.coupons.high is {high}; the program's memory keeps {slots} coupons, so take {slots} or fewer"
            ));
        }
        if low > high {
            return Err(format!(
                "node.coupons.low is {low}; the program's memory keeps {slots} coupons, so take {high} or fewer"
            ));
        }
        let above_v = self.refill_above_v.unwrap_or(SURPLUS * supply.v_max_v);
        if above_v > supply.v_max_v {
            return Err(format!(
                "node.coupons.refill_above_v is {above_v}; charging stops at {} V, so there would never be a surplus",
                supply.v_max_v
            ));
        }
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(10, &low.to_le_bytes());
        put(12, &high.to_le_bytes());
        put(14, &((above_v * 1e3).round() as u16).to_le_bytes());
        for (at, value) in [(16, self.use_uj), (20, self.reserve_uj)] {
            if let Some(v) = value {
                put(at, &v.to_le_bytes());
            }
        }
        if let Some(v) = self.every_s {
            put(24, &v.to_le_bytes());
        }
        if let Some(v) = self.per_wake {
            put(26, &[v]);
        }
        Ok(())
    }

    /// Writes the block of a program that makes coupons.
    pub(crate) fn write(
        wishes: Option<&Self>,
        machine: &mut Machine,
        elf: &Elf,
        supply: &SupplyConfig,
    ) -> Result<(), String> {
        let Ok(symbol) = elf.symbol(SYMBOL) else {
            return match wishes {
                Some(_) => Err(format!(
                    "[node.coupons]: the program has no symbol `{SYMBOL}`, so it makes no coupons; take node-<curve>-coupons.elf, or leave out the table"
                )),
                None => Ok(()),
            };
        };
        let mut block: [u8; BYTES] = machine
            .read_mem(symbol.addr, BYTES)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| format!("`{SYMBOL}` at {:#06x} does not lie in memory", symbol.addr))?;
        let half = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
        if block[..4] != MAGIC || half(4) != VERSION || usize::from(half(6)) != BYTES {
            return Err(format!(
                "`{SYMBOL}` is of version {} with {} bytes; this engine writes version {VERSION} with {BYTES}",
                half(4),
                half(6)
            ));
        }
        wishes.unwrap_or(&Self::default()).patch(&mut block, supply)?;
        machine.write_mem(symbol.addr, &block).map_err(|e| e.to_string())
    }
}

/// Books of a node's coupons. `in_store_begin + produced = used + discarded + in_store_end`; energies are at the rail,
/// the radio's and the board's share of that time included, and lie in the load's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouponRecord {
    /// Found at the first start.
    pub in_store_begin: u64,
    /// In the store at the end.
    pub in_store_end: u64,
    /// Number of coupons made and kept.
    pub produced: u64,
    /// Signatures made of them.
    pub used: u64,
    /// Signatures computed whole, as there was none.
    pub fallbacks: u64,
    /// Lost: damaged, of another key or firmware, or claimed when the supply went.
    pub discarded: u64,
    /// Begun and not kept: the supply went, or the source of entropy was not healthy.
    pub interrupted: u64,
    /// Spent on those produced.
    pub produced_j: f64,
    /// Spent on using those used, in which making them is not.
    pub used_j: f64,
    /// Spent on the signatures computed whole.
    pub fallback_j: f64,
    /// Had been spent on those discarded, and on using them until the supply went.
    pub discarded_j: f64,
    /// Spent on those interrupted.
    pub interrupted_j: f64,
    /// Spent at starts on finding them, and on ending what was half done.
    pub open_j: f64,
    /// Had been spent on those in the store at the end.
    pub in_store_end_j: f64,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sunseal_power::{Charger, Output, Store};

    /// A store straight on the rail, charged with 80 %.
    pub(crate) fn plain_supply() -> SupplyConfig {
        SupplyConfig {
            store: Store::capacitor(0.5, 0.1, 1e6),
            charger: Charger::Constant { efficiency: 0.8, min_w: 0.0 },
            output: Output::Direct { drop_v: 0.0 },
            v_max_v: 5.0,
            v_on_v: 2.6,
            v_cut_v: 1.9,
            vcc_v: 2.8,
            quiescent_off_w: 0.0,
            charger_quiescent_a: 0.0,
            charger_asleep_a: 0.0,
            start_overhead_j: 0.0,
            decoupling_f: 0.0,
            rail_end_v: 1.5,
        }
    }

    fn supply() -> SupplyConfig {
        SupplyConfig { v_max_v: 4.0, ..plain_supply() }
    }

    fn config(text: &str) -> CouponConfig {
        sunseal_data::parse(text).unwrap()
    }

    #[test]
    fn each_key_lands_at_its_offset_and_nothing_else_moves() {
        let text = "kind = \"ecdsa\"\nlow = 1\nhigh = 2\nrefill_above_v = 3.5\nuse_uj = 3\nreserve_uj = 4\nevery_s = 5\nper_wake = 6\n";
        let mut block = [0xAA; BYTES];
        block[8..10].copy_from_slice(&[7, 0]);
        config(text).patch(&mut block, &supply()).unwrap();
        let mut expect = [0xAA; BYTES];
        expect[8..27]
            .copy_from_slice(&[7, 0, 1, 0, 2, 0, 0xAC, 0x0D, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 6]);
        assert_eq!(block, expect);
        // Left out: as many as there is room for, near the voltage at which charging stops.
        let mut block = [0; BYTES];
        block[8] = 7;
        config("").patch(&mut block, &supply()).unwrap();
        assert_eq!((block[12], u16::from_le_bytes([block[14], block[15]])), (7, 3800));
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_key() {
        for (text, told) in [
            ("refill_above_v = -1.0", "refill_above_v is -1; it is a voltage"),
            ("refill_above_v = nan", "refill_above_v is NaN; it is a voltage"),
            ("every_s = 0", "every_s is 0; it must be one or more"),
            ("per_wake = 0", "per_wake is 0; it must be one or more"),
            ("use_uj = 16777216", "use_uj is 16777216; the program takes at most 16777215"),
            ("reserve_uj = 16777216", "reserve_uj is 16777216; the program takes at most"),
            ("low = 3\nhigh = 2", "low is 3 and high is 2"),
        ] {
            let reason = config(text).check().unwrap_err();
            assert!(reason.starts_with("node.coupons.") && reason.contains(told), "{reason}");
        }
        let mut block = [0; BYTES];
        block[8] = 7;
        for (text, told) in [
            ("high = 8", "high is 8; the program's memory keeps 7 coupons"),
            ("low = 8", "low is 8; the program's memory keeps 7 coupons"),
            ("refill_above_v = 4.1", "charging stops at 4 V, so there would never be a surplus"),
        ] {
            let wishes = config(text);
            assert_eq!(wishes.check(), Ok(()));
            let reason = wishes.patch(&mut block, &supply()).unwrap_err();
            assert!(reason.contains(told), "{reason}");
        }
    }
}
