# SPDX-License-Identifier: MIT OR Apache-2.0
"""The constant-time verdict of a whole program, once for each file of public inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sunseal import requests
from sunseal._engine import EngineError
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.machine import taint
from sunseal.machine.machine import Machine
from sunseal.requests.asking import answers


def read_input(path: Path) -> dict[str, int | bytes]:
    """Read a file of public inputs."""
    table = boards.read_toml(path, hint='an input has `symbol = VALUE` lines, such as `message = "00ff"`')
    values: dict[str, int | bytes] = {}
    for symbol, value in table.items():
        if isinstance(value, int) and not isinstance(value, bool):
            values[symbol] = value
        elif isinstance(value, str) and value.startswith("@"):
            file = path.parent / value[1:]
            if not file.is_file():
                raise SunsealError(f"input {path}: `{symbol}` names the file {file}, which is not there")
            values[symbol] = file.read_bytes()
        else:
            try:
                values[symbol] = bytes.fromhex(value)
            except (TypeError, ValueError) as e:
                raise SunsealError(
                    f'input {path}: `{symbol}` must be an integer, hexadecimal bytes ("00ff") or a file ("@block.bin")'
                ) from e
    if not values:
        raise SunsealError(f"input {path} sets no symbol", hint='lines such as `message = "00ff"`')
    return values


def write_input(machine: Machine, path: Path, values: Mapping[str, int | bytes]) -> None:
    """Write public inputs into a machine's memory."""
    for symbol, value in values.items():
        ((address, size),) = machine.ranges([symbol])
        if isinstance(value, int):
            try:
                data = value.to_bytes(size, "little", signed=value < 0)
            except OverflowError:
                raise SunsealError(f"input {path}: {value} does not fit into the {size} bytes of `{symbol}`") from None
        else:
            data = value
        if len(data) > size:
            raise SunsealError(f"input {path}: `{symbol}` has {size} bytes, {len(data)} are given")
        machine.write(address, data)


# --- A program -------------------------------------------------------------------------------------


@answers(requests.ConstantTime)
def program(to: requests.ConstantTime) -> taint.ConstantTime:
    """Judge a whole program, once for each file of public inputs; one on a machine has what it needs in its memory.

    The bytes of `secret` are marked where the run comes to `start`, which is `main` where there is one: start-up code
    has copied initial values by then. The places in flash that those come from are marked as well.
    """
    given = [(path, read_input(path)) for path in to.inputs]
    runs = []
    m = to.elf if isinstance(to.elf, Machine) else Machine(to.board, to.elf, adc_v=to.adc_v)
    hidden, shown = m.ranges(to.secret), m.ranges(to.public)
    if empty := [name for name, (_, size) in zip(to.secret, hidden, strict=True) if not size]:
        raise SunsealError(
            f"the symbol `{empty[0]}` has no size, so it is not known which bytes are secret",
            hint="in assembly give it `.type NAME, @object` and `.size NAME, BYTES`",
        )
    start = "main" if to.start is None and _has(m, "main") else to.start
    fresh = m.snapshot()
    for path, values in given or [(Path(), {})]:
        m.restore(fresh)
        run = _begin(m, to.secret, start, to.time_s)
        if run is None:
            write_input(m, path, values)
            run = taint.follow(m, to.secret, hidden, shown, m.goal(to.until, None, to.time_s, None))
        runs.append(run)
    return taint.judge(runs)


def _begin(m: Machine, secret: Sequence[str], start: str | None, time_s: float | None) -> taint.Run | None:
    """Run to where the marks are set; a run that says why it never came there."""
    if start is None:
        return None
    if m.pc == m.address(start):
        return None
    resets = m.resets
    try:
        stop = m.run(until=start, time_s=time_s)
    except (EngineError, SunsealError) as e:
        return taint.Run(list(secret), why=[f"the program did not come to `{start}`: {e}"])
    if stop.kind == "pc":
        return None
    return taint.Run(
        list(secret), why=[f"the program did not come to `{start}`: {taint.ENDS[stop.kind]}{taint.resets(m, resets)}"]
    )


def _has(m: Machine, symbol: str) -> bool:
    try:
        m.address(symbol)
    except (EngineError, SunsealError):
        return False
    return True
