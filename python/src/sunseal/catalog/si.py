# SPDX-License-Identifier: MIT OR Apache-2.0
"""Facts of chips, radios and rails in SI units, out of tables whose keys name other ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Table = Mapping[str, Any]


def crystal_hz(board: Table) -> float:
    """Frequency of a board's crystal, by its table `crystal`, Hz."""
    return float(board["crystal"]["xtal_Hz"])


def mclk_hz(reset: Table, board: Table) -> tuple[str, bool]:
    """CPU clock after a reset as a file has it, Hz; true if the chip says it, false if it is the board's crystal."""
    own = reset.get("mclk_Hz")
    return str(own or board["crystal"]["xtal_Hz"]), "mclk_Hz" in reset


def vcc_max_v(device: Table) -> float:
    """Highest supply of a chip, V."""
    return float(device["supply"]["vcc_max_V"])


def rail_v(rail: Table) -> float:
    """Voltage of an FPGA's supply, V."""
    return float(rail["voltage_V"])


def carrier_hz(message: Table) -> float:
    """Frequency that a radio's message is sent on, Hz."""
    return float(message["carrier_MHz"] * 1e6)


def sensitivity_dbm(message: Table, radio: Table) -> float:
    """Weakest signal that a message is received at, or else the radio's own, dBm; NaN where no file says it."""
    return float(message.get("sensitivity_dBm", radio.get("receiver", {}).get("sensitivity_dBm", math.nan)))


def currents_a(peripheral: Table) -> dict[str, float]:
    """Current of a device on a bus by the state it is in, A; off it draws none."""
    return {"off": 0.0} | {state: micro * 1e-6 for state, micro in peripheral.get("current_uA", {}).items()}
