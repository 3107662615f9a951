# SPDX-License-Identifier: MIT OR Apache-2.0
"""`simulate` and `run_fleet` as functions."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal import requests
from sunseal.catalog import places
from sunseal.requests.asking import answers

if TYPE_CHECKING:
    from sunseal.loop.fleet import FleetRun
    from sunseal.loop.simulation import Played, Watch


def simulate(
    scenario: str | Path | Mapping[str, Any],
    watch: Watch | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
) -> Played:
    """Play a scenario in the closed loop; `.frame()` is the storage voltage over time, `.closing()` the ledger.

    `scenario` is a file, the name of one, or its tables, in which files are named from the working directory.
    `overrides` sets other values at key paths: `{"supply.capacitance_f": 0.1}`; None takes a key away.
    """
    from sunseal.loop import simulation
    from sunseal.schemas import keypaths

    if not isinstance(scenario, Mapping) and not overrides:
        return simulation.play(simulation.load(Path(scenario)), watch)
    tables, folder, _ = keypaths.read(scenario)
    values = {path: keypaths.plain(v, path, keypaths.check(path, "scenario")) for path, v in (overrides or {}).items()}
    told = keypaths.from_folder(keypaths.changed(tables, values), "scenario", folder)
    return simulation.play_tables(told, folder, watch)


@answers(requests.Fleet)
def run_fleet(to: requests.Fleet) -> FleetRun:
    """Play a fleet file; with a `folder` its pieces are kept there and an interrupted run goes on.

    `seed`, of what the nodes draw, goes before the file's, and so does `temperature_c` of their stores.
    """
    from sunseal.loop import fleet as fleets

    fleet = fleets.load(Path(to.path), seed=to.seed)
    if to.temperature_c is not None:
        fleet = replace(fleet, scenario=fleet.scenario.at_temperature(to.temperature_c))
    kept = tempfile.TemporaryDirectory(prefix="sunseal-") if to.folder is None else nullcontext(to.folder)
    with kept as folder, places.beside(fleet.scenario.folder):
        rows = fleets.run(fleet, Path(folder), jobs=to.jobs, dask=to.dask, heard=to.heard)
    return fleets.FleetRun(fleet, rows)
