# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal examples`: copies that work where no tree is, and that cost nobody his work."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, refused
from sunseal.catalog import boards
from sunseal.kit import carried
from sunseal.loop import simulation


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_each_example_is_listed_with_a_sentence(sunseal: Cli) -> None:
    told = json.loads(sunseal("examples", "--json").out)
    there = subprocess.run(
        ["git", "ls-files", "examples"], cwd=boards.home(), check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert {f"examples/{name}" for example in told for name in example["files"]} >= set(there)
    assert all(len(example["about"].split()) >= 4 for example in told)
    shown = sunseal("examples").out
    assert all(example["name"] in shown for example in told)
    assert sunseal("examples", "--where").out.strip() == str(boards.home() / "examples")


def test_a_copy_plays_and_names_nothing_outside(sunseal: Cli, firmware: None, here: Path) -> None:
    done = sunseal("examples", "all", "--json")
    assert done.status == 0, done.err
    files = json.loads(done.out)["files"]
    assert set(files) == set(tree(here / "examples"))
    shutil.move(here / "examples", here / "elsewhere")
    for path in sorted((here / "elsewhere" / "scenarios").glob("*.toml")):
        told = simulation.facts(simulation.load(path))
        if told["firmware"]:
            program = Path(told["firmware"]).resolve()
            assert program.is_relative_to(here / "elsewhere" / "programs") and program.is_file()
    played = sunseal("simulate", here / "elsewhere" / "scenarios" / "minutes.toml", "--json")
    original = sunseal("simulate", boards.home() / "examples" / "scenarios" / "minutes.toml", "--json")
    assert played.status == 0 and json.loads(played.out)["cycles"] == json.loads(original.out)["cycles"]


def test_one_that_is_asked_for_brings_what_it_names(sunseal: Cli, firmware: None, here: Path) -> None:
    assert sunseal("examples", "fleet.toml", "--to", "mine").status == 0
    copied = set(tree(here / "mine"))
    assert {"fleet.toml", "scenarios/day.toml"} <= copied and any(name.endswith("node-p256.elf") for name in copied)


def test_somebodys_work_is_never_written_over(sunseal: Cli, firmware: None, here: Path) -> None:
    assert sunseal("examples", "scenarios", "requirements").status == 0
    before = tree(here)
    assert sunseal("examples", "scenarios", "requirements").status == 0, "the same again is no harm"
    (here / "examples" / "requirements.toml").write_text("mine")
    refused(sunseal("examples", "all"), "requirements.toml` is there and differs", "nothing was copied")
    assert tree(here) == {**before, "examples/requirements.toml": b"mine"}
    (here / "examples" / "requirements.toml").unlink()
    (here / "examples" / "requirements.toml").symlink_to("/dev/null")
    refused(sunseal("examples", "requirements"), "nothing was copied")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("scenario",), "unknown example `scenario`"),
        (("all", "--to", "file"), "`file` is a file"),
        (("all", "--to", "/proc/examples"), "cannot be written into `/proc/examples`"),
        (("all", "--where"), "leave out the names"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    sunseal: Cli, firmware: None, here: Path, args: tuple[str, ...], says: str
) -> None:
    (here / "file").write_text("a file")
    refused(sunseal("examples", *args), says)
    assert tree(here) == {"file": b"a file"}


def test_a_disk_without_room_leaves_nothing_half_written(firmware: None, here: Path) -> None:
    """Each file may have 8 kB here, which the programs go beyond."""

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    command = [sys.executable, "-m", "sunseal", "examples", "all", "--to", "deep/er"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False, preexec_fn=little)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the examples cannot be written into `deep/er`: ")
    assert list(here.iterdir()) == []


def test_a_failure_on_the_way_takes_back_what_was_moved(
    firmware: None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = 0
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        nonlocal moved
        moved += 1
        if moved == 5:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    (here / "examples").mkdir()
    with pytest.raises(KeyboardInterrupt):
        carried.copy(["all"], here / "examples")
    assert list((here / "examples").iterdir()) == []
