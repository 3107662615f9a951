// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words that CPU and power share: counters, states, events, observers.
