# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of firmware: the fixture `node` is a board with your program, just powered on.

>>> def test_boot(node):  # doctest: +SKIP
...     node.run(until_uart="ready", within="2s")
...     assert node.energy_j < 3e-3

The program and its board are options of pytest, settings of pytest.ini, or a mark of one test:
`@pytest.mark.sunseal(elf="build/node.elf", board="telosb")`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sunseal.machine.running import Bench

ELF = "the program that `node` runs, an ELF file"
BOARD = "the board that `node` is, one of `sunseal boards`"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--sunseal-elf` and `--sunseal-board`, and the settings of the same names."""
    group = parser.getgroup("sunseal")
    for name, text in (("elf", ELF), ("board", BOARD)):
        group.addoption(f"--sunseal-{name}", help=text)
        parser.addini(f"sunseal_{name}", text)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "sunseal(elf, board, **bench): the program and board of the fixture `node`")


@pytest.fixture
def node(request: pytest.FixtureRequest) -> Bench:
    """Return a board with your program, just powered on; see `sunseal.Bench`."""
    from sunseal.machine.running import Bench

    mark = request.node.get_closest_marker("sunseal")
    given: dict[str, Any] = dict(mark.kwargs) if mark is not None else {}
    for name in ("elf", "board"):
        ini, option = request.config.getini(f"sunseal_{name}"), request.config.getoption(f"--sunseal-{name}")
        # A path of pytest.ini is meant from where pytest.ini lies.
        from_ini = str(request.config.rootpath / ini) if ini and name == "elf" else ini
        given.setdefault(name, option or from_ini)
        if not given[name]:
            raise pytest.UsageError(
                f"`node` needs {name}: give --sunseal-{name}, `sunseal_{name}` in pytest.ini, "
                f"or @pytest.mark.sunseal({name}=...)"
            )
    return Bench(given.pop("board"), Path(given.pop("elf")), **given)
