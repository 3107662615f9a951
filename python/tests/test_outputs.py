# SPDX-License-Identifier: MIT OR Apache-2.0
"""Answers in JSON: each has a name, a version and a published schema, to which the fixtures hold every test."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import __version__
from sunseal.answers import outputs, shapes
from sunseal.answers.verdicts import Finding
from sunseal.catalog import boards, revision
from sunseal.catalog.revision import made_by
from sunseal.papers import asic, hdl
from sunseal.schemas import files as schemas
from sunseal.schemas import outputs as output_schemas
from test_injecting import BOARD, NAIVE, Build, build  # noqa: F401  # a fixture
from validating import closed, wrong, wrong_output

HOME = boards.home()
PULSE = HOME / "examples/scenarios/pulse.toml"
CHEAP: dict[str, list[str]] = {
    "boards": ["boards"],
    "curve": ["curve", "sha256-hash"],
    "doctor": ["doctor"],
    "error": ["measure", "nowhere.elf"],
    "gaps": ["boards", "--gaps"],
    "lifetime": ["lifetime"],
    "measure": ["measure", "sha256-hash"],
    "part-check": ["part", "check", str(HOME / "data/parts/supercap-0f47-branches.toml")],
    "parts": ["parts"],
    "profile": ["profile", "sha256-hash"],
    "reproduce": ["reproduce", "mane2014/table-3.1"],
    "run": ["run", str(boards.firmware_path(BOARD, boards.variant((), BOARD), "bench-sha256-hash")), "--board", BOARD],
    "simulate": ["simulate", str(PULSE)],
    "size": ["size", "--no-year"],
    "sweep": ["sweep", str(PULSE), "--over", "harvest.constant_w=1e-3,2e-3"],
    "trace-capacitor": ["trace", "capacitor", "-C", "1mF", "--v1", "3.3V", "--v2", "3.2V"],
    "trace-capacitor-virtual": ["trace", "capacitor", "sha256-hash", "-C", "1mF", "--v1", "3.3V"],
    "tune": ["tune", "aes128-encrypt", "--board", BOARD],
    "workloads": ["workloads"],
}


@dataclasses.dataclass
class Odd:
    """Object for which JSON has no word."""

    odd: complex


@pytest.mark.parametrize("name", list(CHEAP))
def test_an_answer_is_as_its_schema_says(sunseal: Cli, firmware: None, name: str) -> None:
    done = sunseal(*CHEAP[name], "--json")
    told = json.loads(done.out)
    first = told[0] if isinstance(told, list) else told
    assert first["schema"] == {"name": name, "version": outputs.VERSIONS[name]}
    assert first["sunseal"] == {"version": __version__, "data": revision.data_revision()}
    assert wrong_output(done.out) == []


def test_the_version_names_the_data_as_sha256sum_does(sunseal: Cli) -> None:
    """The page of stability tells how anybody finds the revision of the data again."""
    page = (HOME / "docs" / "reference" / "stability.md").read_text(encoding="utf-8")
    (command,) = (line for line in page.splitlines() if line.startswith("find . "))
    done = subprocess.run(["sh", "-c", command], cwd=HOME / "data", check=True, capture_output=True, text=True)
    told = sunseal("--version")
    assert (told.status, told.out) == (0, f"sunseal {__version__}, data {done.stdout[:12]}\n")


def test_another_fact_is_another_revision(tmp_path: Path) -> None:
    shutil.copytree(HOME / "data" / "parts", tmp_path / "parts")
    before = revision.digest(tmp_path)
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "a.json").write_text("{}")
    assert revision.digest(tmp_path) == before, "known answers are for tests"
    part = next((tmp_path / "parts").glob("*.toml"))
    part.write_bytes(part.read_bytes() + b"\n")
    after = revision.digest(tmp_path)
    part.rename(part.with_name("another.toml"))
    assert len({before, after, revision.digest(tmp_path)}) == 3


def test_losses_are_told_as_published(build: Build, sunseal: Cli) -> None:  # noqa: F811
    elf = build("naive", NAIVE, count=7, flag=0)
    where = (elf, "--board", BOARD, "--to", "done", "--json")
    for command in (("inject", *where, "--from", "task"), ("war", *where), ("least-capacitor", *where)):
        assert wrong_output(sunseal(*command).out) == []


def test_every_output_has_a_schema_and_a_command() -> None:
    assert set(output_schemas.OUTPUTS) == set(outputs.VERSIONS)
    source = "".join(path.read_text() for path in (HOME / "python/src/sunseal/cli").glob("*.py"))
    assert not [name for name in outputs.VERSIONS if f'"{name}"' not in source]
    assert not [name for name in schemas.kinds() if shapes.OPTIONAL in schemas.text(name)]


def test_hardware_is_told_as_published() -> None:
    """Rows that take yosys to make, as `hdl size` and `hdl energy` have them."""
    row = {"design": "xtea", "target": "gates", "value": 1.0, "unit": "gates", "estimate": None, "goal": 100.0}
    energy = asic.Energy("xtea", "osu018", 16, 100, 10, {"switching": 1e-12}, 1e-13, 1e-13, 1e-11).to_dict()
    assert hdl.judged([row]).passed
    for name, told in (("hdl-size", [row]), ("hdl-energy", [energy])):
        assert wrong_output(json.dumps(outputs.stamped(name, told, made_by()))) == []


def test_a_key_too_many_a_key_too_few_and_a_wrong_one_are_found(sunseal: Cli, firmware: None) -> None:
    told = json.loads(sunseal("measure", "sha256-hash", "--json").out)
    for bad in ({**told, "more": 1}, {k: v for k, v in told.items() if k != "cycles"}, {**told, "cycles": "many"}):
        assert wrong_output(json.dumps(bad))
    other = {**told, "schema": {"name": "measure", "version": 99}}
    assert wrong_output(json.dumps(other)), "another version has another schema"
    assert wrong_output(json.dumps({k: v for k, v in told.items() if k != "schema"}))
    # As published it takes a key that a later version may bring.
    whole = schemas.schema("output/measure")
    assert list(wrong({**told, "more": 1}, whole, whole)) == [] and whole != closed(whole)


def test_a_dataclass_is_told_with_what_its_source_says() -> None:
    told = shapes.of(Finding)
    assert told["required"] == [field.name for field in dataclasses.fields(Finding)]
    assert told["properties"]["line"] == {"type": ["integer", "null"]}
    assert told["properties"]["told"]["description"] == "Sentence for a person."
    with pytest.raises(TypeError, match="has no JSON Schema here"):
        shapes.of(Odd)


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["measure", "nowhere.elf"], 2),
        (["mesure"], 2),
        (["boards", "--nothing"], 2),
        (["reproduce", "mane2014/table-9"], 2),
        (["simulate", "nowhere.toml"], 2),
    ],
)
def test_an_error_is_json_where_json_was_asked_for(sunseal: Cli, args: list[str], status: int) -> None:
    done = sunseal(*args, "--json")
    told = json.loads(done.out)
    assert (done.status, told["exit_status"], told["kind"]) == (status, status, "error")
    assert told["error"] and told["error"] in " ".join(done.err.split()), "the sentence stands on standard error, too"
    assert sunseal(*args).out == ""


def test_a_matrix_is_told_as_published(sunseal: Cli, tmp_path: Path) -> None:
    from sunseal.machine.taint import Run, judge
    from sunseal.secure import constant_time_matrix as matrices

    require(shutil.which("clang") is not None, "clang")
    undecided = judge([Run(["key"], why=["it did not run"])])
    matrix = matrices.Matrix([matrices.Cell("avr", "clang 19", "-O2", undecided)], ["clang 13"])
    told = outputs.stamped("constant-time-matrix", matrices.as_json(tmp_path / "a.c", matrix), made_by())
    assert wrong_output(json.dumps(told)) == []
    assert (told["verdict"], matrix.judged.exit_status) == ("undecided", 3)
    assert matrices.Matrix([], []).judged.exit_status == 3, "no binary is no pass"
