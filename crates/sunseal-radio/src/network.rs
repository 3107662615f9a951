// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machines on one medium, in lock-step.
//!
//! Nodes run one after the other, each as far as nothing that another does meanwhile can reach it:
//! while nobody is on the air, the shortest time from a command to a carrier; while somebody is, half
//! the time by which a receiver is late. The other half is for the instruction that a machine
//! finishes behind its limit.

use sunseal_mcu::{Machine, Stop, Until};
use sunseal_trace::{Observer, Picos, Silent};

use crate::chip::RadioHandle;
use crate::medium::Medium;

/// Reason for which a network stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A node's program broke a rule of its machine.
    #[error("node {node}: {reason}")]
    Machine {
        /// Name of the node.
        node: String,
        /// Clause that tells what happened.
        reason: String,
    },
    /// A node's program asked its radio for what it does not have.
    #[error("node {node}: {reason}")]
    Radio {
        /// Name of the node.
        node: String,
        /// Request that the chip or its model does not know.
        reason: String,
    },
    /// A node ran so far behind a step's end that another's byte came too late for it.
    #[error(
        "at {time_us} us a receiver asked for a byte that its sender had not come to; the nodes' clocks are too slow for the steps: run them at 1 MHz or more"
    )]
    Early {
        /// Time at which the byte was asked for.
        time_us: u64,
    },
}

struct Node {
    name: String,
    machine: Machine,
    radio: RadioHandle,
}

/// A machine that takes its turn with others, and its radio.
pub struct Member<'a> {
    /// For sentences about it.
    pub name: &'a str,
    /// With the radio attached.
    pub machine: &'a mut Machine,
    /// Handle of the radio.
    pub radio: &'a RadioHandle,
}

/// Runs machines on one medium one step further, none behind `time`, in steps no longer than `longest`; false once
/// all have come there.
///
/// # Errors
/// If a program breaks a rule of its machine or its radio.
pub fn step<O: Observer>(
    medium: &Medium,
    members: &mut [Member<'_>],
    time: Picos,
    longest: Picos,
    observer: &mut O,
) -> Result<bool, NetworkError> {
    let now = members.iter().map(|n| n.machine.time()).min();
    let Some(now) = now.filter(|now| *now < time) else { return Ok(false) };
    let quiet = members.iter().map(|n| n.radio.earliest_air(n.machine.time())).min();
    let busy = medium.lookahead(now).map(|step| now + step);
    let end = [quiet, busy].into_iter().flatten().min().unwrap_or(Picos::MAX);
    let half = Picos((end.0.saturating_sub(now.0) / 2).max(1));
    let end = (now + half.min(longest)).min(time);
    for node in members {
        if node.machine.time() >= end {
            continue;
        }
        // Others may have put on the air what this radio must wake for.
        node.machine.sync_parts();
        match node.machine.run(&Until::time(end), observer) {
            Stop::Time | Stop::Halted | Stop::BrownOut => {}
            Stop::Fault(fault) => {
                let (node, reason) = (node.name.to_owned(), fault.to_string());
                return Err(NetworkError::Machine { node, reason });
            }
            other => {
                let (node, reason) = (node.name.to_owned(), format!("stopped: {other:?}"));
                return Err(NetworkError::Machine { node, reason });
            }
        }
        if let Some(reason) = node.radio.problem() {
            return Err(NetworkError::Radio { node: node.name.to_owned(), reason });
        }
    }
    if medium.early_reads() > 0 {
        return Err(NetworkError::Early { time_us: end.as_micros() });
    }
    // What is older than any receiver's memory.
    medium.forget_before(Picos(end.0.saturating_sub(10_000_000_000)));
    Ok(true)
}

/// Machines on one medium.
pub struct Network {
    medium: Medium,
    nodes: Vec<Node>,
    longest: Picos,
    steps: u64,
}

impl Network {
    /// A network without nodes.
    #[must_use]
    pub fn new(medium: Medium) -> Self {
        Self { medium, nodes: Vec::new(), longest: Picos::MAX, steps: 0 }
    }

    /// Adds a machine that has its radio attached. All begin at the same time.
    pub fn add(&mut self, name: &str, machine: Machine, radio: RadioHandle) {
        self.nodes.push(Node { name: name.to_owned(), machine, radio });
    }

    /// Takes no step longer than this. Steps change nothing but the speed; this is how a test sees that.
    pub fn set_longest_step(&mut self, step: Picos) {
        self.longest = step;
    }

    /// Number of steps that it has taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A node's machine.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn machine(&self, node: usize) -> &Machine {
        &self.nodes[node].machine
    }

    /// A node's machine, to change between steps.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn machine_mut(&mut self, node: usize) -> &mut Machine {
        &mut self.nodes[node].machine
    }

    /// A node's radio.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn radio(&self, node: usize) -> &RadioHandle {
        &self.nodes[node].radio
    }

    /// Air that all nodes share.
    #[must_use]
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// Runs all nodes to `time`, or until `watch` returns false, which is asked behind each step.
    ///
    /// # Errors
    /// If a program breaks a rule of its machine or its radio.
    pub fn run(
        &mut self,
        time: Picos,
        watch: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), NetworkError> {
        self.run_with(time, &mut Silent, watch)
    }

    /// As [`run`](Self::run), with an observer that hears all nodes' instructions.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_with<O: Observer>(
        &mut self,
        time: Picos,
        observer: &mut O,
        watch: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), NetworkError> {
        loop {
            let members = self.nodes.iter_mut().map(|n| Member {
                name: n.name.as_str(),
                machine: &mut n.machine,
                radio: &n.radio,
            });
            let mut members: Vec<_> = members.collect();
            if !step(&self.medium, &mut members, time, self.longest, observer)? {
                return Ok(());
            }
            self.steps += 1;
            if !watch(self) {
                return Ok(());
            }
        }
    }
}
