# SPDX-License-Identifier: MIT OR Apache-2.0
"""Twelve questions of docs/questions.md, asked by the page's own commands: each answer is what comes out, rounded."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from conftest import Cli, put
from sunseal.catalog import boards
from sunseal.planner import lifetime, radio
from sunseal.planner.lifetime import YEAR_S

PAGE = (boards.home() / "docs" / "questions.md").read_text(encoding="utf-8")
TOLD = {int(number): answer for number, answer in re.findall(r"^\| (\d+)\. .* \| (.*) \|$", PAGE, re.M)}
SHELL = re.search(r"^## 1 to 7.*?```sh\n(.*?)```", PAGE, re.M | re.S)
FILES = re.findall(r"```toml\n(.*?)```", PAGE, re.S)


def told(question: int) -> list[tuple[float, float]]:
    """Return the figures of an answer, each with half of its last digit."""
    figures = re.findall(r"\d+(?:\.\d+)?", TOLD[question])
    return [(float(f), 0.5 / 10 ** len(f.partition(".")[2])) for f in figures]


def commands() -> list[list[str]]:
    assert SHELL is not None
    return [shlex.split(line)[1:] for line in SHELL[1].replace("\\\n", " ").splitlines()]


@pytest.mark.usefixtures("firmware")
@pytest.mark.parametrize(("question", "command"), [*zip((1, 2, 3, 5, 6, 7), commands(), strict=True)])
def test_a_life_is_what_the_page_says(sunseal: Cli, question: int, command: list[str]) -> None:
    life_s = json.loads(sunseal(*command, "--json").out)["lifetime_s"]
    if question == 5:
        assert TOLD[5] == "longer than any shelf life" and life_s > 2 * lifetime.SHELF_LIFE_S
    else:
        ((years, half),) = told(question)
        assert life_s / YEAR_S == pytest.approx(years, abs=half)


def test_a_message_costs_what_the_page_says() -> None:
    (seven, nine, twelve) = [
        1e3 * radio.prices(radio.radios()[f"sx1276-sf{sf}"], 7).exchange(20).send_j[0] for sf in (7, 9, 12)
    ]
    names = re.sub(r"SF\d+", "", TOLD[4])
    for ours, figure in zip((seven, nine, twelve), re.findall(r"\d+(?:\.\d+)?", names), strict=True):
        assert ours == pytest.approx(float(figure), abs=0.5 / 10 ** len(figure.partition(".")[2]))


def test_pulses_and_a_generator_do_what_the_page_says(sunseal: Cli, tmp_path: Path) -> None:
    def played(text: str) -> dict[str, float]:
        return dict(json.loads(sunseal("simulate", put(tmp_path / "own.toml", text), "--json").out)["load"])

    bridge, dip, generator = FILES
    assert played(bridge)["rounds"] == told(9)[0][0]
    alone = dip.replace('capacitor = "tantalum-330u"\n', "")
    assert alone != dip
    for text, (low_v, half) in zip((alone, dip), told(10), strict=True):
        assert played(text)["terminal_min_v"] == pytest.approx(low_v, abs=half)
    cold = dip.replace("\n[supply]", "temperature_c = -20.0\n\n[supply]")
    assert played(cold)["terminal_min_v"] == pytest.approx(told(11)[-1][0], abs=told(11)[-1][1])
    assert TOLD[12] == "yes" and played(generator)["rounds_cut"] == 0
