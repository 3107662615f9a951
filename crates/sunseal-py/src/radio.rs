// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages over the air: sizes, packets, their energy, and signatures verified.

use pyo3::prelude::*;
use sunseal_board::Board;
use sunseal_link::{InlineBytes, Message, NodeId, Response, Suite, fragments};
use sunseal_power::{PowerSet, load_part};
use sunseal_radio::{Cc2500Part, RadioPart};
use sunseal_trace::OperatingPoint;

use crate::error::{EngineError, refuse};
use crate::library::Data;

/// Way in which a response travels.
#[pyclass(frozen, get_all, module = "sunseal._engine")]
pub struct ResponseAir {
    signature_bytes: usize,
    body_bytes: usize,
    packets: usize,
}

fn suite(name: &str) -> PyResult<Suite> {
    Suite::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Suite::ALL.iter().map(|s| s.name()).collect();
        EngineError::new_err(format!("unknown suite `{name}`; known: {}", known.join(", ")))
    })
}

/// Sizes of a response of a suite, as the link layer cuts it.
#[pyfunction]
pub fn response_air(suite_name: &str) -> PyResult<ResponseAir> {
    let suite = suite(suite_name)?;
    let blank = vec![0; suite.signature_bytes()];
    let signature = InlineBytes::copy_of(&blank).ok_or_else(|| {
        EngineError::new_err(format!("a signature of {suite_name} is longer than a response"))
    })?;
    let message = Message::Response(Response {
        node_id: NodeId([0; 8]),
        challenge_id: 0,
        counter: 0,
        suite,
        signature,
    });
    let body = message.encode();
    Ok(ResponseAir {
        signature_bytes: suite.signature_bytes(),
        body_bytes: body.len(),
        packets: fragments(0, 0, 0, message.kind(), &body).count(),
    })
}

/// Time on the air of one packet of a part's message, with a frame of so many bytes.
#[pyfunction]
pub fn airtime_s(data: Data<'_>, part: &str, message: &str, frame_bytes: u32) -> PyResult<f64> {
    let radio: RadioPart =
        load_part(data.library().room("parts"), part, "radio").map_err(refuse)?;
    let found = radio.messages().iter().find(|m| m.name == message);
    let found = found.ok_or_else(|| refuse(format!("part {part} has no message {message:?}")))?;
    found.airtime_s(frame_bytes).map_err(|e| refuse(format!("part {part}: {e}")))
}

/// Refuses a radio that a board has no pins for.
#[pyfunction]
pub fn carries(data: Data<'_>, board: std::path::PathBuf, part: &str) -> PyResult<()> {
    let library = data.library();
    let mut board = Board::read(&board, library.room("boards")).map_err(refuse)?;
    board.carry(&library.room("parts"), part).map_err(refuse)
}

/// Energy of one packet of `packet_bytes` with its length byte, sent at 0 dBm by a calibrated CC2500.
#[pyfunction]
pub fn packet_energy_j(data: Data<'_>, packet_bytes: u32, vcc_v: f64) -> PyResult<f64> {
    let library = data.library();
    let part: Cc2500Part = load_part(library.room("parts"), "cc2500", "radio").map_err(refuse)?;
    let set =
        PowerSet::load(library.room("power"), &part.power_set, &part.model).map_err(refuse)?;
    let mut charge_c = 0.0;
    for (state, time_s) in part.packet(packet_bytes) {
        let current = set.current_a("radio", state, &OperatingPoint::default(), vcc_v);
        charge_c += current.map_err(refuse)?.value.typ * time_s;
    }
    Ok(vcc_v * charge_c)
}

/// Verifies `r || s` over a message under `x || y` on the verifying side's libraries.
#[pyfunction]
pub fn verify_ecdsa(
    suite_name: &str,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> PyResult<bool> {
    Ok(sunseal_verify::verify(suite(suite_name)?, public_key, message, signature).is_ok())
}
