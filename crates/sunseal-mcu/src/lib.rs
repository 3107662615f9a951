// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine: instruction set, peripherals and device data.
