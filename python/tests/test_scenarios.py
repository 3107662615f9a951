# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every scenario that is shipped plays by the command line, shortened."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from sunseal import boards

SHIPPED = sorted((boards.home() / "examples" / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda p: p.stem)
def test_a_shipped_scenario_plays_keeps_and_resumes(
    sunseal: Cli, tmp_path: Path, firmware: None, shipped: Path
) -> None:
    text = shipped.read_text().replace("../../", f"{boards.home()}/")
    duration_s = float(re.search(r"^duration_s = (\S+)", text, re.M)[1])  # type: ignore[index]
    short = tmp_path / shipped.name
    short.write_text(re.sub(r"^duration_s = .*$", f"duration_s = {min(700.0, duration_s)}", text, flags=re.M))
    told = sunseal("simulate", short, "--json")
    assert told.status == 0, told.err
    closing = json.loads(told.out)
    assert closing["energy_balance_rel"] < 1e-6
    if shipped.stem == "pulse":
        assert closing["load"]["rounds"] > 5
        assert 3.4 < closing["load"]["v_safe_v"] < 3.6
        assert "V_safe" in sunseal("simulate", short).out
    else:
        assert closing["cycles"] > 100_000
    assert ("low_light" in closing) == ("sunlight" in text)


def test_a_node_that_never_executes_an_instruction_is_told(sunseal: Cli, tmp_path: Path, firmware: None) -> None:
    """A capacitor so small that start-up empties it: starts and brown-outs, and no instruction between them."""
    program = boards.home() / "firmware" / "build" / boards.DEFAULT_BOARD / "mpy-32" / "node-secp160r1.elf"
    path = tmp_path / "small.toml"
    path.write_text(
        f'name = "small"\nboard = "{boards.DEFAULT_BOARD}"\nfirmware = "{program}"\nduration_s = 20\n'
        "[supply]\ncapacitance_f = 1e-8\noverhead_j = 0\n[harvest]\nconstant_w = 1e-3\n"
    )
    told = sunseal("simulate", path, "--json")
    assert told.status == 1
    assert "never executed an instruction" in told.err
    assert json.loads(told.out)["cycles"] == 0
