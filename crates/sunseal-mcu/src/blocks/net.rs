// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wires from the output units of TI's timers to pins and to a converter, and from clocks to pins.

use std::borrow::{Borrow, BorrowMut};

use sunseal_trace::{Cycles, Picos};

use super::port::PortPair;
use super::timer_a::TimerA;
use crate::device::{Device, Pins};
use crate::lint::{ClockOutput, LintKind, Lints};
use crate::pin::{PORT_J, Pin};

/// A timer of the chip, and a unit of it.
pub(crate) type Unit = (usize, usize);

/// A function select by which a pin is given to a signal.
#[derive(Clone, Copy, Debug)]
struct Route {
    /// Pair of ports, and the bit there.
    pair: usize,
    mask: u16,
    function: u8,
    /// Value that the port mapper must hold for the pin, where it has one.
    mapped: Option<u8>,
    to: Carried,
}

/// A signal that a pin then carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    /// Output unit of a timer.
    Out(Unit),
    Clock(Pin, ClockOutput),
}

/// All wires of a chip between these.
#[derive(Default)]
pub(crate) struct Net {
    routes: Vec<Route>,
    /// Output units that start conversions, by ADC12SHS.
    starts: Vec<Option<Unit>>,
}

/// The pair of ports that a pin belongs to, and its bit there.
pub(crate) fn pair(pin: Pin, pairs: usize) -> Option<(usize, u16)> {
    if pin.port == PORT_J {
        return Some((pairs, u16::from(pin.mask())));
    }
    let n = pin.port.checked_sub(1).filter(|n| usize::from(n / 2) < pairs)?;
    Some((usize::from(n / 2), u16::from(pin.mask()) << (8 * (n % 2))))
}

/// Lookup of what a port mapper holds for a pin, by its pair of ports and its bit there; chips without one have 0.
pub(crate) type Mapper<'a> = &'a dyn Fn(usize, u16) -> u8;

/// The mapper of a chip that has none.
pub(crate) const UNMAPPED: Mapper<'static> = &|_, _| 0;

impl Net {
    /// Wires output units of timers to pins and to the start of `converter`: `unit` finds a unit by its name in the
    /// device's data, `pairs` is the number of numbered pairs of ports.
    pub fn new(
        dev: &Device,
        pins: Option<&Pins>,
        converter: &str,
        pairs: usize,
        unit: impl Fn(&str) -> Option<Unit>,
    ) -> Self {
        let triggers = dev.block(converter).map_or(&[][..], |b| &b.triggers[..]);
        let starts = triggers.iter().map(|name| unit(name)).collect();
        let mut net = Self { routes: Vec::new(), starts };
        for (name, functions) in pins.iter().flat_map(|p| &p.functions) {
            for (function, signal) in (1..).zip(functions) {
                net.lead(name.parse::<Pin>(), pairs, (function, None), signal, &unit);
            }
        }
        net
    }

    /// Leads a signal to pins that are given to it by a function select, and by what a port mapper holds.
    pub fn lead(
        &mut self,
        pins: impl IntoIterator<Item = Pin>,
        pairs: usize,
        (function, mapped): (u8, Option<u8>),
        signal: &str,
        unit: impl Fn(&str) -> Option<Unit>,
    ) {
        // The name is looked at once for all pins, of which a port mapper has dozens.
        let (out, clock) = (unit(signal).map(Carried::Out), ClockOutput::parse(signal));
        self.routes.extend(pins.into_iter().filter_map(|pin| {
            let (pair, mask) = pair(pin, pairs)?;
            let to = out.or(clock.map(|c| Carried::Clock(pin, c)))?;
            Some(Route { pair, mask, function, mapped, to })
        }));
    }

    /// Tells the timers which of their units have pins, and that their edges are asked for.
    pub fn tell<T: BorrowMut<TimerA>>(&self, timers: &mut [T]) {
        timers.iter_mut().for_each(|t| t.borrow_mut().followed = true);
        for route in &self.routes {
            if let Carried::Out((timer, ccr)) = route.to {
                timers[timer].borrow_mut().routed |= 1 << ccr;
            }
        }
    }

    fn given(route: &Route, port: &PortPair, mapper: Mapper<'_>) -> bool {
        let mapped = route.mapped.is_none_or(|code| code == mapper(route.pair, route.mask));
        port.function(route.mask) == route.function && mapped
    }

    /// The ports of pair `i` or their mapper were written, by a store to the register `at` names: pins that are given to
    /// an output unit have its level.
    pub fn written<T: Borrow<TimerA>>(
        &self,
        i: usize,
        port: &mut PortPair,
        timers: &[T],
        mapper: Mapper<'_>,
        (lints, at, cycles): (&mut Lints, u32, Cycles),
    ) {
        let mut driven = 0;
        for route in self.routes.iter().filter(|r| r.pair == i) {
            if !Self::given(route, port, mapper) {
                continue;
            }
            match route.to {
                Carried::Out((timer, ccr)) => {
                    driven |= route.mask;
                    port.module_drives(route.mask, Some(timers[timer].borrow().out(ccr)));
                }
                Carried::Clock(pin, clock) if port.is_output(route.mask) => {
                    lints.note(LintKind::ClockOutput { pin, clock }, at, cycles);
                }
                Carried::Clock(..) => {}
            }
        }
        port.module_drives(!driven, None);
    }

    /// Tells if a pin follows an output unit that goes on by itself.
    pub fn works_on<'a, T: Borrow<TimerA>>(
        &self,
        ports: impl Fn(usize) -> &'a PortPair,
        timers: &[T],
        mapper: Mapper<'_>,
    ) -> bool {
        self.routes.iter().any(|r| match r.to {
            Carried::Out((timer, ccr)) => {
                let port = ports(r.pair);
                timers[timer].borrow().swings(ccr)
                    && Self::given(r, port, mapper)
                    && port.is_output(r.mask)
            }
            Carried::Clock(..) => false,
        })
    }

    /// An output unit has moved: the pairs of ports whose pins follow it.
    pub fn moved<P: BorrowMut<PortPair>>(
        &self,
        ports: &mut [P],
        unit: Unit,
        level: bool,
        mapper: Mapper<'_>,
    ) -> Vec<usize> {
        let mut pairs = Vec::new();
        for route in self.routes.iter().filter(|r| r.to == Carried::Out(unit)) {
            let port = ports[route.pair].borrow_mut();
            if Self::given(route, port, mapper) {
                port.module_drives(route.mask, Some(level));
                pairs.push(route.pair);
            }
        }
        pairs
    }

    /// Tells if an output unit is what ADC12SHS chooses.
    pub fn starts(&self, source: usize, unit: Unit) -> bool {
        self.starts.get(source) == Some(&Some(unit))
    }
}

/// Edges of the output units since they were last asked for, in the order of their times: when, the unit, its level.
pub(crate) fn edges<T: BorrowMut<TimerA>>(timers: &mut [T]) -> Vec<(Picos, Unit, bool)> {
    let mut edges = Vec::new();
    for (timer, t) in timers.iter_mut().enumerate() {
        edges.extend(
            t.borrow_mut().edges.drain(..).map(|(at, ccr, level)| (at, (timer, ccr), level)),
        );
    }
    edges.sort_by_key(|e| e.0);
    edges
}
