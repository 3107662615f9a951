// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop, fault injection and the files of parts and boards. One program: each has the simulator compiled
//! into it, for every way in which it is watched.

mod attribution;
mod checkpoint;
mod closed_loop;
mod common;
mod coupons;
mod f1611;
mod files;
mod firmware_rules;
mod inject;
mod msp432;
mod node_program;
mod reference;
mod trial;
