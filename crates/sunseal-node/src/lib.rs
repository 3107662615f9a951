// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop: machine, power and radio.
