// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only crate that knows Python. It converts types and holds no physics.
//!
//! Long runs release the interpreter's lock and take it again now and then, to report progress and
//! to hear Ctrl-C.

use pyo3::prelude::*;

mod air;
mod battery;
mod board;
mod device;
mod error;
mod findings;
mod fleet;
mod inject;
mod instructions;
mod library;
mod machine;
mod panel;
mod power;
mod program;
mod radio;
mod scenario;
mod view;
mod yardstick;
mod yearly;

#[pymodule]
mod _engine {
    use super::*;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use air::{Air, Sent, capture};
    #[pymodule_export]
    use battery::Battery;
    #[pymodule_export]
    use board::{Board, levels};
    #[pymodule_export]
    use device::{attach_device, component_states, i2c_serials};
    #[pymodule_export]
    use error::EngineError;
    #[pymodule_export]
    use fleet::fleet;
    #[pymodule_export]
    use inject::{Differing, Footprint, Left, Stretch};
    #[pymodule_export]
    use instructions::{disassemble, trace};
    #[pymodule_export]
    use library::{Library, schema, text};
    #[pymodule_export]
    use machine::{Machine, Moment, Snapshot};
    #[pymodule_export]
    use panel::Panel;
    #[pymodule_export]
    use power::{PowerSet, UnitReading, Weighed, own_currents_a, rail_energy_j, state_current_a};
    #[pymodule_export]
    use program::{Counts, length, profile, run, symbols_bytes, yardstick};
    #[pymodule_export]
    use radio::{ResponseAir, airtime_s, carries, packet_energy_j, response_air, verify_ecdsa};
    #[pymodule_export]
    use scenario::{Scenario, simulate};
    #[pymodule_export]
    use view::View;
    #[pymodule_export]
    use yearly::Supply;
}
