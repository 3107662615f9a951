# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every shipped scenario plays by the command line, shortened; what has no program, and what never runs one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from sunseal.catalog import boards

SHIPPED = sorted((boards.home() / "examples" / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda p: p.stem)
def test_a_shipped_scenario_plays(sunseal: Cli, tmp_path: Path, firmware: None, shipped: Path) -> None:
    text = shipped.read_text().replace("../../", f"{boards.home()}/")
    duration_s = float(re.search(r"^duration_s = (\S+)", text, re.M)[1])  # type: ignore[index]
    short = tmp_path / shipped.name
    short.write_text(re.sub(r"^duration_s = .*$", f"duration_s = {min(700.0, duration_s)}", text, flags=re.M))
    told = sunseal("simulate", short, "--json")
    assert told.status == 0, told.err
    closing = json.loads(told.out)
    assert closing["simulated_s"] == pytest.approx(min(700.0, duration_s))
    assert closing["energy_balance_rel"] < 1e-6
    if "[load]" in text:
        assert closing["load"]["rounds"] > 5
    else:
        assert closing["cycles"] > 100_000
    assert ("low_light" in closing) == ("sunlight" in text)


def test_a_load_by_profile_has_its_v_safe_in_the_table(sunseal: Cli, tmp_path: Path) -> None:
    """examples/scenarios/pulse.toml, whose 75 ohm take 1.6 V under 21 mA."""
    shipped = boards.home() / "examples" / "scenarios" / "pulse.toml"
    closing = json.loads(sunseal("simulate", shipped, "--json").out)
    assert 3.4 < closing["load"]["v_safe_v"] < 3.6
    assert "V_safe" in sunseal("simulate", shipped).out
    both = tmp_path / "both.toml"
    both.write_text(shipped.read_text() + '[node]\nnode_id = "53756e7365616c02"\n')
    told = sunseal("simulate", both)
    assert told.status == 2 and "load stands for a program" in told.err


def test_a_node_that_never_executes_an_instruction_is_told(sunseal: Cli, tmp_path: Path, firmware: None) -> None:
    """An FR5994 that is switched on below its supervisor's level, where its radio draws more than the light brings."""
    board = "msp430fr5994-launchpad"
    program = boards.home() / "firmware" / "build" / board / "mpy-32" / "duty-ecdsa-secp160r1-sign.elf"
    path = tmp_path / "held.toml"
    path.write_text(
        f'name = "held"\nboard = "{board}"\nfirmware = "{program}"\nduration_s = 5\n'
        '[supply]\ncapacitor = "tantalum-330u"\ncharger = "diode"\noutput = "direct"\n'
        "initial_v = 1.7\nv_on_v = 1.7\nv_cut_v = 1.6\n[harvest]\nconstant_w = 1e-3\n"
    )
    told = sunseal("simulate", path, "--json")
    assert told.status == 1
    assert "never executed an instruction" in told.err
    closing = json.loads(told.out)
    assert closing["cycles"] == 0 and closing["brown_outs"] > 10
    assert closing["supervisor_resets"] == closing["starts"]
    assert "supervisor resets" in sunseal("simulate", path).out
