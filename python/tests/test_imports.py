# SPDX-License-Identifier: MIT OR Apache-2.0
"""Modules that are loaded, and when, told by `sys.modules`, and names that must not collide."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import sunseal
from sunseal.catalog import boards
from sunseal.cli import app

HEAVY = {"cryptography", "matplotlib", "numpy", "pandas", "pvlib", "pyarrow", "rich", "scipy", "h5py"}


def loaded_by(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded after a program."""
    told = f"{program}\nimport sys; print('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


def run(*args: str, ends: tuple[int, ...] = (0,)) -> str:
    """A program that runs a command and looks at its exit status."""
    return f"from sunseal.cli.app import run\nassert run({list(args)!r}) in {ends}"


def test_the_package_alone_loads_neither_heavy_modules_nor_the_engine() -> None:
    assert not loaded_by("import sunseal") & {*HEAVY, "typer", "sunseal._engine"}


@pytest.mark.parametrize("args", [("--help",), ("-h",), (), ("--version",)])
def test_help_loads_no_heavy_module_and_no_command(args: tuple[str, ...]) -> None:
    loaded = loaded_by(run(*args))
    assert not loaded & (HEAVY - {"rich"} if args == ("--version",) else HEAVY)
    assert "sunseal.cli.measure" not in loaded


@pytest.mark.parametrize("command", ["measure", "profile", "constant-time"])
def test_an_operation_is_measured_without_numpy_and_its_friends(command: str, firmware: None) -> None:
    elf = boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, "bench-sha256-hash")
    what = [str(elf), "--secret", "bench_input"] if command == "constant-time" else ["sha256-hash"]
    # Nobody feeds the bench program here, so that constant-time is undecided.
    loaded = loaded_by(run(command, *what, "--json", ends=(3,) if command == "constant-time" else (0,)))
    assert "sunseal._engine" in loaded
    assert not loaded & (HEAVY - {"cryptography", "rich"})


def test_whether_coupons_pay_is_told_without_what_draws_pages(firmware: None) -> None:
    """The extra `plots` is for --report and --figure."""
    asked = ("coupon", "breakeven", "--constant", "1mW", "--days", "1", "--axis", "slots")
    loaded = loaded_by(run(*asked, ends=(0, 1)))
    assert not loaded & {"jinja2", "markupsafe", "matplotlib"}


def test_every_public_name_is_there_and_none_is_a_module() -> None:
    modules = {m.name for m in pkgutil.iter_modules(sunseal.__path__)}
    assert not modules & set(sunseal.__all__), "the module would take the place of the function once it is imported"
    for name in sunseal.__all__:
        assert getattr(sunseal, name) is not None
    assert set(sunseal.__all__) <= set(dir(sunseal))


def test_every_command_of_the_help_is_there_and_told_in_one_line() -> None:
    for name, (where, sentence) in app.COMMANDS.items():
        module, _, attribute = where.partition(":")
        assert hasattr(import_module(f"sunseal.cli.{module}"), attribute), name
        assert sentence.endswith(".")
        assert len(sentence) <= 62, f"{name}: {sentence} does not fit a terminal of 80 columns"
