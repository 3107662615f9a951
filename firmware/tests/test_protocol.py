# SPDX-License-Identifier: MIT OR Apache-2.0
"""The coupon store's protocol as a model that Spin checks, and the code's states beside the model's.

protocol/coupon_*.pml are the models, one a medium. Each is checked whole, with every loss of power, and prints
the graph of its non-volatile states; protocol/graph.c makes the graph of the code's for a store of the same size,
compiled for the host. Both must be the same, edge for edge, and differ or fail where either has a fault.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import prove
import pytest

import test_coupon

FIRMWARE = Path(__file__).resolve().parents[1]
PROTOCOL = FIRMWARE / "tests" / "protocol"
MEDIA = ("fram", "flash")
MODEL_FAULTS = range(1, 7)


def spin() -> str:
    """Where Spin is; a skip where it is nowhere."""
    try:
        return prove.tool("spin", "spin")
    except SystemExit as missing:
        if os.environ.get("SUNSEAL_REQUIRE_TOOLS"):
            raise
        pytest.skip(str(missing))


def edges(text: str) -> set[str]:
    """Lines that tell a change of the non-volatile state."""
    return {line for line in text.splitlines() if line.startswith(("edge ", "wedged"))}


@dataclass(frozen=True)
class Checked:
    """What Spin's verifier said of a model."""

    errors: int
    states: int
    edges: frozenset[str]
    violated: str


def model(medium: str, folder: Path, *flags: str) -> Checked:
    """Check a model, all its states."""
    translate = [spin(), *flags, "-a", str(PROTOCOL / f"coupon_{medium}.pml")]
    made = subprocess.run(translate, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout
    options = ["-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", "-DMEMLIM=2000"]
    subprocess.run(["cc", *options, "-o", "pan", "pan.c"], cwd=folder, check=True)
    done = subprocess.run(["./pan", "-m100000"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    told = done.stdout
    found = re.search(r"errors: (\d+)", told)
    states = re.search(r"(\d+) states, stored", told)
    assert found is not None and states is not None, told[-2000:]
    assert "max search depth too small" not in told, "part of the model was not looked at"
    violated = re.search(r"assertion violated (.*)", told)
    return Checked(int(found[1]), int(states[1]), frozenset(edges(told)), violated[1] if violated else "")


def code(medium: str, folder: Path, sources: Path | None = None) -> set[str]:
    """Explore the code, whose sources lie in a folder of their own if they are changed."""
    where = sources or FIRMWARE / "coupon" / "src"
    flags = ["-std=c11", "-O2", "-w", "-ffunction-sections", "-Wl,--gc-sections"]
    includes = ("coupon/src", *test_coupon.INCLUDES)
    files = [PROTOCOL / "graph.c", *(where / s for s in test_coupon.SOURCES), FIRMWARE / "crypto/src/mp/mp.c"]
    command = ["cc", *flags, *(f"-I{FIRMWARE / i}" for i in includes), "-o", str(folder / "graph")]
    subprocess.run([*command, *map(str, files)], check=True)
    command = [str(folder / "graph"), *(["flash"] if medium == "flash" else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    # A fault may lead the store to states without end, or astray.
    return edges(done.stdout) | ({f"edge ended with {done.returncode}"} if done.returncode else set())


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, frozenset[str]]:
    """The models' graphs, where the models are right."""
    found = {}
    for medium in MEDIA:
        checked = model(medium, tmp_path_factory.mktemp(medium), "-DGRAPH")
        assert checked.errors == 0, checked.violated
        print(f"{medium}: {checked.states:,} states of the model, {len(checked.edges):,} changes of what is kept")
        found[medium] = checked.edges
    return found


@pytest.mark.parametrize(("medium", "least"), [("fram", 100), ("flash", 1_000)])
def test_the_code_makes_the_changes_that_the_model_makes_and_no_others(
    medium: str, least: int, graphs: dict[str, frozenset[str]], tmp_path: Path
) -> None:
    ours = code(medium, tmp_path)
    assert len(ours) > least
    assert sorted(ours - graphs[medium]) == [], "the code does what the model does not"
    assert sorted(graphs[medium] - ours) == [], "the model does what the code does not"


@pytest.mark.parametrize("fault", MODEL_FAULTS)
@pytest.mark.parametrize("medium", MEDIA)
def test_a_fault_of_the_model_is_found_by_its_assertions(medium: str, fault: int, tmp_path: Path) -> None:
    checked = model(medium, tmp_path, f"-DFAULT={fault}")
    assert checked.errors == 1
    assert checked.violated


# Those that a loss of power between whole words shows, in the record of numbers, the slots or the blocks; what
# the model knows nothing of (CRC, other firmware, words that read now so, now so) is test_coupon.py's.
SEEDED = {
    "fram: ready before the payload is written",
    "fram: a slot that was being written is taken for free",
    "fram: what was claimed is not wiped by open",
    "fram: free before it is wiped",
    "fram: numbers are not burnt",
    "fram: the newer record is written",
    "fram: the older record is preferred",
    "fram: one record lost is not made good",
    "flash: used without a claim",
    "flash: not wiped",
    "flash: the kind goes before the payload is wiped",
    "flash: committed before the payload is there",
    "flash: the stale block is preferred",
    "flash: a block is erased with coupons in it",
    "flash: a lost header's numbers come again",
}


def test_the_seeded_faults_are_those_of_the_campaign() -> None:
    assert {f.name for f in test_coupon.FAULTS} >= SEEDED


@pytest.mark.parametrize("fault", [f for f in test_coupon.FAULTS if f.name in SEEDED], ids=lambda f: f.name)
def test_a_fault_of_the_code_makes_another_graph(
    fault: test_coupon.Fault, graphs: dict[str, frozenset[str]], tmp_path: Path
) -> None:
    medium = fault.source.removesuffix(".c")
    changed = tmp_path / "src"
    shutil.copytree(FIRMWARE / "coupon" / "src", changed)
    text = (changed / fault.source).read_text(encoding="utf-8")
    assert text.count(fault.right) == 1
    text = text.replace(fault.right, fault.wrong)
    if fault.also is not None:
        text = text.replace(*fault.also)
    (changed / fault.source).write_text(text, encoding="utf-8")
    assert code(medium, tmp_path, changed) != graphs[medium]
