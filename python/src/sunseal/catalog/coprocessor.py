# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coprocessors in FPGAs on boards: their models, their wires by variant, their price on each supply."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, places
from sunseal.errors import SunsealError

MODELS = "SUNSEAL_HDL_MODELS"
"""Names the folder with the models to the engine."""
GIVEN = os.environ.get(MODELS)
"""Models that were built elsewhere are used as they are."""
Wires = tuple[tuple[str, str], ...]


@places.cached
def fitted(board: str) -> dict[str, dict[str, Any]]:
    """Return the FPGAs on a board by name: the board's wires, and under `fpga` the facts of the part."""
    tables: Any = boards.board(board).get("part", [])
    found = {}
    for wires in tables:
        facts: Any = boards.part(wires["part"])
        if "fpga" in facts:
            found[wires["name"]] = {**wires, "fpga": facts["fpga"]}
    return found


def wires(board: str, variant: Mapping[str, str]) -> Wires:
    """Return what a firmware's variant says of the FPGAs' wires, as the engine reads it."""
    return tuple((f"{name}.bus", variant["bus"]) for name in fitted(board) if "bus" in variant)


def _model(fpga: Mapping[str, Any]) -> str:
    """Name the model of hdl/model/build that stands for an FPGA with its wires."""
    bus = fpga["bus"] if fpga["bus"] in ("parallel", "spi", "uart") else "parallel"  # the engine refuses others
    clock_hz = float(fpga.get("clock_MHz", fpga["fpga"]["clock_MHz"])) * 1e6
    divider = str(round(clock_hz / float(fpga["baud"]))) if bus == "uart" else ""
    rounds, gated = fpga["fpga"].get("present_by_rounds"), fpga["fpga"].get("tick_kHz") and bus != "uart"
    return f"{bus}{divider}{'-rounds' if rounds else ''}{'-gated' if gated else ''}"


def _builder() -> Path:
    return boards.home() / "hdl" / "model" / "build"


def ready(board: str, switches: Wires) -> None:
    """See to it that the models of a board's FPGAs are built, which takes Verilator and half a minute each once."""
    if GIVEN:
        return
    chosen = dict(switches)
    for name, fpga in fitted(board).items():
        own = {key.partition(".")[2]: value for key, value in chosen.items() if key.startswith(f"{name}.")}
        os.environ[MODELS] = str(_built(board, _model({**fpga, **own})))


@cache
def _folder() -> str:
    done = subprocess.run([sys.executable, str(_builder()), "--folder"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def models_id(board: str) -> str:
    """Tell one state of hdl/ from another for what is kept of runs beside a board's FPGAs; empty without any."""
    return (GIVEN or _folder()) if fitted(board) else ""


@cache
def _built(board: str, model: str) -> Path:
    """Build a model where it is missing; return the folder of all."""
    done = subprocess.run([sys.executable, str(_builder()), model], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SunsealError(f"{board} has a coprocessor, whose model cannot be built: {done.stderr.strip()}")
    return Path(done.stdout.strip()).parent


def tool() -> tuple[bool, str]:
    """Say whether models can be built: the tools, or what is missing and how to get it."""
    done = subprocess.run([sys.executable, str(_builder()), "--check"], capture_output=True, text=True, check=False)
    text = (done.stdout if done.returncode == 0 else done.stderr).strip()
    return done.returncode == 0, text.removeprefix("hdl/model/build: ")


def without(board: str, counts: _engine.Counts) -> _engine.Counts:
    """Return what a board's chip did: its FPGAs have coefficients and supplies of their own."""
    for name in fitted(board):
        counts = counts.without(name)
    return counts


def price(board: str, counts: _engine.Counts) -> dict[str, Any] | None:
    """Price what a board's coprocessor did, on each of its supplies; None where there is none.

    `energy_low_j` and `energy_high_j` are the bracket of the coefficients, mostly of a toggle's price.
    """
    found = fitted(board)
    if not found:
        return None
    if len(found) > 1:
        raise SunsealError(f"{board} has {len(found)} FPGAs; one is priced")
    ((name, fpga),) = found.items()
    states, events = counts.of_part(name)
    rails, low, high = {}, 0.0, 0.0
    unread: dict[str, list[str]] = {"unchecked": [], "assumed": []}
    for rail in fpga["fpga"]["rail"]:
        typ_j, low_j, high_j, *names = _engine.rail_energy_j(
            boards.library(), rail["power_set"], fpga["part"], counts, name, float(rail["voltage_V"])
        )
        rails[rail["name"]] = typ_j
        low, high = low + low_j, high + high_j
        for told, found_names in zip(unread.values(), names, strict=True):
            told += [f"{n} ({rail['name']})" for n in found_names]
    return {
        "part": fpga["part"],
        "rails_j": rails,
        "energy_j": sum(rails.values()),
        "energy_low_j": low,
        "energy_high_j": high,
        "time_s": states,
        "clocks": events.get(f"{name}.clock", 0),
        "toggles": events.get(f"{name}.toggle", 0),
        **unread,
    }
