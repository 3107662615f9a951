// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions in the syntax of the manual (UAL).

use std::fmt;

use super::insn::Insn;

impl fmt::Display for Insn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}
