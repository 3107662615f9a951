// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer32: two down counters of 16 or 32 bits on MCLK (SLAU356I chapter 18; Arm's SP804).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::timer32::*;
use sunseal_trace::Picos;

use super::wide::{Block, Cx, Lines, P4, merge, sooner};
use crate::clock::Line;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counter {
    control: u32,
    load: u32,
    value: u32,
    /// Tick of MCLK at which `value` stood.
    origin: u64,
    raw: bool,
    /// A one-shot that has run down.
    done: bool,
}

impl Counter {
    const fn new() -> Self {
        Self { control: 0x20, load: 0, value: u32::MAX, origin: 0, raw: false, done: false }
    }

    fn running(&self) -> bool {
        self.control & T32CONTROL_ENABLE != 0 && !self.done
    }

    fn divider(&self) -> u64 {
        match (self.control & T32CONTROL_PRESCALE) >> 2 {
            0 => 1,
            1 => 16,
            _ => 256,
        }
    }

    fn mask(&self) -> u32 {
        if self.control & T32CONTROL_SIZE != 0 { u32::MAX } else { 0xFFFF }
    }

    /// Value that the counter takes after zero.
    fn reload(&self) -> u32 {
        if self.control & T32CONTROL_MODE != 0 { self.load & self.mask() } else { self.mask() }
    }

    fn counts(&self, line: &Line, t: Picos) -> u64 {
        if self.running() {
            line.ticks_at(t).saturating_sub(self.origin) / self.divider()
        } else {
            0
        }
    }

    fn value_at(&self, line: &Line, t: Picos) -> u32 {
        let n = self.counts(line, t);
        let value = self.value & self.mask();
        if n <= u64::from(value) {
            return value - n as u32;
        }
        if self.control & T32CONTROL_ONESHOT != 0 {
            return 0;
        }
        let reload = self.reload();
        let past = (n - u64::from(value) - 1) % (u64::from(reload) + 1);
        reload - past as u32
    }

    fn until_zero(&self) -> u64 {
        match self.value & self.mask() {
            0 => u64::from(self.reload()) + 1,
            v => u64::from(v),
        }
    }

    fn next_event(&self, line: &Line) -> Option<Picos> {
        if !self.running() || self.raw {
            return None;
        }
        let t = line.time_of(self.origin + self.until_zero() * self.divider());
        (t != Picos::MAX).then_some(t)
    }

    fn event(&mut self, line: &Line, t: Picos) {
        let n = self.counts(line, t);
        if n == 0 {
            return;
        }
        let zero = n >= self.until_zero();
        self.value = self.value_at(line, t);
        self.origin += n * self.divider();
        if zero {
            self.raw = true;
            self.done = self.control & T32CONTROL_ONESHOT != 0;
        }
    }

    fn pending(&self) -> bool {
        self.raw && self.control & T32CONTROL_IE != 0
    }

    fn read(&mut self, off: u32, cx: &Cx<'_>) -> Option<u32> {
        self.event(&cx.clocks.fclk, cx.now);
        Some(match off {
            T32LOAD1 | T32BGLOAD1 => self.load,
            T32VALUE1 => self.value_at(&cx.clocks.fclk, cx.now),
            T32CONTROL1 => self.control,
            T32RIS1 => u32::from(self.raw),
            T32MIS1 => u32::from(self.pending()),
            T32INTCLR1 => 0,
            _ => return None,
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &Cx<'_>) -> bool {
        let line = &cx.clocks.fclk;
        self.event(line, cx.now);
        match off {
            T32LOAD1 => {
                self.load = merge(self.load, value, mask);
                self.value = self.load;
                self.origin = line.ticks_at(cx.now);
                self.done = false;
            }
            T32BGLOAD1 => self.load = merge(self.load, value, mask),
            T32CONTROL1 => {
                let was = self.running();
                self.control = merge(self.control, value, mask) & 0xEF;
                if self.running() && !was {
                    self.origin = line.ticks_at(cx.now);
                }
            }
            T32INTCLR1 => self.raw = false,
            T32VALUE1 | T32RIS1 | T32MIS1 => {}
            _ => return false,
        }
        true
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timer32 {
    counters: [Counter; 2],
}

impl Timer32 {
    pub fn new() -> Self {
        Self { counters: [Counter::new(), Counter::new()] }
    }
}

impl Block<P4> for Timer32 {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let counter = self.counters.get_mut((off >> 5) as usize);
        counter.and_then(|c| c.read(off & 0x1F, cx)).ok_or_else(|| cx.no_register())
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let counter = self.counters.get_mut((off >> 5) as usize);
        if counter.is_some_and(|c| c.write(off & 0x1F, value, mask, cx)) {
            Ok(())
        } else {
            Err(cx.no_register())
        }
    }

    fn due(&self, lines: &Lines) -> Option<Picos> {
        let [first, second] = &self.counters;
        sooner(first.next_event(&lines.fclk), second.next_event(&lines.fclk))
    }

    fn advance(&mut self, lines: &Lines, t: Picos) {
        self.counters.iter_mut().for_each(|c| c.event(&lines.fclk, t));
    }

    /// Counter 1, counter 2, either.
    fn asks(&mut self) -> u32 {
        let [first, second] = &self.counters;
        let asks = u32::from(first.pending()) | u32::from(second.pending()) << 1;
        asks | u32::from(asks != 0) << 2
    }

    fn may_ask(&self, lines: &Lines) -> bool {
        let enabled = |c: &Counter| c.running() && c.control & T32CONTROL_IE != 0;
        self.counters.iter().any(enabled) && self.due(lines).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_down_reloads_and_stops_by_its_mode() {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        let us = |n: u128| Picos(n * 1_000_000);
        let periodic = Counter {
            control: T32CONTROL_ENABLE | T32CONTROL_MODE | T32CONTROL_SIZE,
            load: 9,
            value: 9,
            ..Counter::new()
        };
        assert_eq!(periodic.value_at(&line, us(9)), 0);
        assert_eq!(periodic.value_at(&line, us(10)), 9);
        assert_eq!(periodic.next_event(&line), Some(us(9)));
        let mut again = periodic.clone();
        again.event(&line, us(13));
        assert!(again.raw);
        assert_eq!((again.value, again.origin), (6, 13));
        // Free running: what follows zero are all ones, of 16 or 32 bits.
        let free = Counter { control: T32CONTROL_ENABLE, value: 3, ..periodic.clone() };
        assert_eq!(free.value_at(&line, us(4)), 0xFFFF);
        let mut once = Counter {
            control: T32CONTROL_ENABLE | T32CONTROL_ONESHOT | T32CONTROL_SIZE,
            value: 5,
            ..periodic
        };
        once.event(&line, us(20));
        assert_eq!(once.value_at(&line, us(20)), 0);
        assert_eq!(once.next_event(&line), None);
        assert!(once.raw && !once.running());
    }

    #[test]
    fn the_prescaler_divides_by_16_and_256() {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        let c = Counter {
            control: T32CONTROL_ENABLE | T32CONTROL_SIZE | 1 << 2,
            value: 10,
            ..Counter::new()
        };
        assert_eq!(c.value_at(&line, Picos(47_000_000)), 8);
        assert_eq!(c.next_event(&line), Some(Picos(160_000_000)));
    }
}
