// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ADC12_A and ADC12_B have in common: clock, sampling and conversion, sequences, codes.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::adc12_b::*;
use sunseal_trace::Picos;

use super::Ctx;
use crate::clock::{Clocks, Line};
use crate::lint::LintKind;

/// A conversion under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conversion {
    pub mem: u8,
    pub sample_end: u128,
    done: u128,
}

/// The conversion under way, and the memory that the next one fills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sequence {
    running: Option<Conversion>,
    pub next: u8,
    /// ENC has risen since the last conversion, or sequence, that a mode does not repeat.
    armed: bool,
}

impl Sequence {
    pub fn busy(&self) -> bool {
        self.running.is_some()
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.running.map(|c| Picos(c.done)).filter(|t| *t != Picos::MAX)
    }

    /// Follows a write of CTL0, where `first` is the memory that a sequence begins with; true if it starts a conversion.
    pub fn controlled(&mut self, before: u16, new: u16, ctl1: u16, first: u8) -> bool {
        if new & ADC12ENC == 0 && before & ADC12ENC != 0 && ctl1 & ADC12CONSEQ == 0 {
            self.running = None;
        }
        if new & ADC12ENC != 0 && before & ADC12ENC == 0 {
            self.next = first;
            self.armed = true;
        }
        new & (ADC12SC | ADC12ENC) == ADC12SC | ADC12ENC
    }

    /// Refuses what no conversion can start with.
    pub fn may_start(ctl0: u16, ctl1: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if ctl0 & ADC12ON == 0 {
            return Err(cx.refuse("conversion started while ADC12ON is clear"));
        }
        if ctl1 & ADC12SHP == 0 {
            return Err(cx.refuse("extended sample mode (ADC12SHP = 0) is not modelled"));
        }
        Ok(())
    }

    /// Samples and converts for so many cycles of ADC12CLK, which a predivider makes `predivider` times longer.
    pub fn start(
        &mut self,
        from: Picos,
        ctl1: u16,
        predivider: u64,
        (sample, convert): (u64, u64),
        clocks: &Clocks,
    ) {
        let divider = (u64::from((ctl1 & ADC12DIV) >> 5) + 1) * predivider;
        let line = line(ctl1, clocks);
        let first = line.tick_not_before(from);
        self.running = Some(Conversion {
            mem: self.next,
            sample_end: line.time_of(first + sample * divider).0,
            done: line.time_of(first + (sample + convert) * divider).0,
        });
    }

    /// The conversion that is over, if one is.
    pub fn take(&mut self, now: Picos) -> Option<Conversion> {
        self.running.take_if(|c| c.done <= now.0)
    }

    /// Goes on behind the conversion of memory `mem`, where `ends` is its EOS and `last` the last memory there is; true
    /// if the next conversion begins at once.
    pub fn go_on(
        &mut self,
        (ctl0, ctl1): (u16, u16),
        mem: u8,
        ends: bool,
        first: u8,
        last: u8,
    ) -> bool {
        let conseq = (ctl1 & ADC12CONSEQ) >> 1;
        let end = conseq & 1 == 0 || ends;
        let again = match (conseq, end) {
            (0, _) | (1, true) => false,
            // Repeated modes stop at the end once ENC is clear.
            (2.., true) => ctl0 & ADC12ENC != 0,
            (_, false) => true,
        };
        self.next = if end { first } else { (mem + 1) & last };
        // Without repetition ENC must fall and rise again (SLAU049, section 17.2.7).
        self.armed &= conseq >= 2 || !end;
        again && ctl0 & ADC12MSC != 0
    }

    /// True if a trigger starts a conversion, or would if none were under way.
    pub fn is_armed(&self, ctl0: u16) -> bool {
        self.armed && ctl0 & ADC12ENC != 0
    }

    pub fn requests_smclk(&self, ctl1: u16) -> bool {
        self.busy() && ctl1 & ADC12SSEL == 0x18
    }

    pub fn requests_aclk(&self, ctl1: u16) -> bool {
        self.busy() && ctl1 & ADC12SSEL == 0x08
    }
}

/// ADC12CLK before its dividers.
fn line(ctl1: u16, clocks: &Clocks) -> &Line {
    match ctl1 & ADC12SSEL {
        0x00 => &clocks.modosc,
        0x08 => &clocks.aclk,
        0x10 => &clocks.mclk,
        _ => &clocks.smclk,
    }
}

/// A register's new value: while ENC is set, only its `free` bits change.
pub(super) fn locked(enabled: bool, old: u16, new: u16, free: u16, cx: &mut Ctx<'_>) -> u16 {
    if !enabled || (old ^ new) & !free == 0 {
        return new;
    }
    cx.lint(LintKind::LockedBits);
    (old & !free) | (new & free)
}

/// The voltage of the greatest code: the supply, or the internal reference `vref` with its soundness, if it is on.
pub(super) fn top_v(
    select: u16,
    vref: Option<(f64, bool)>,
    cx: &mut Ctx<'_>,
) -> Result<f64, Fault> {
    match select {
        0 => Ok(cx.vcc_v),
        1 => {
            if vref.is_none_or(|(_, settled)| !settled) {
                cx.lint(LintKind::ReferenceNotReady);
            }
            Ok(vref.map_or(0.0, |(v, _)| v))
        }
        _ => Err(cx.refuse("conversion against an external reference, which nothing is wired to")),
    }
}

/// The code of a voltage: with ADC12DF signed, its sign at the top.
pub(super) fn code(input_v: f64, top_v: f64, bits: u32, ctl2: u16) -> u16 {
    let full = f64::from((1u32 << bits) - 1);
    let ratio = if top_v > 0.0 { (input_v / top_v).clamp(0.0, 1.0) } else { 1.0 };
    let plain = (ratio * full).round() as u16;
    if ctl2 & ADC12DF == 0 {
        return plain;
    }
    plain.wrapping_sub(1 << (bits - 1)) << (16 - bits)
}

/// Follows ENC and SC: true if software starts a conversion. Refuses a trigger that nothing here gives.
pub(super) fn by_software(
    (before, new): (u16, u16),
    started: bool,
    source: usize,
    cx: &Ctx<'_>,
) -> Result<bool, Fault> {
    if source == 0 || new & ADC12ENC == 0 {
        return Ok(started);
    }
    let block = ["adc12", "adc12_a", "adc12_b"].iter().find_map(|name| cx.dev.block(name));
    let known = block.and_then(|b| b.triggers.get(source)).is_some_and(|name| !name.is_empty());
    if before & ADC12ENC == 0 && !known {
        return Err(cx.refuse(format!(
            "ADC12 trigger {source} (ADC12SHS) is not modelled; choose ADC12SC or a timer's output"
        )));
    }
    Ok(false)
}

/// What both say of themselves as blocks.
macro_rules! block {
    () => {
        const LINES: usize = 1;
        const TAINT: Follow = Follow::Hole;

        fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
            self.sequence.next_event()
        }
        fn asks(&self, _: usize) -> bool {
            self.pending()
        }
        fn may_ask(&self, _: &Clocks, _: Picos, _: bool) -> bool {
            self.enabled() && self.busy()
        }
        fn restart(&mut self, _: Reset) {
            // Conversion memory keeps its contents.
            *self = Self { mem: self.mem, ..self.fresh() };
        }
        fn forget(&mut self, _: u64) {
            *self = self.fresh();
        }
    };
}
pub(super) use block;
