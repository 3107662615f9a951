# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs on boards that share an air, from a file: who they are, where they stand, what is typed into each.

>>> from sunseal import network
>>> net = network.load("net.toml")  # doctest: +SKIP
>>> net.run(until_uart="joined", within="10s")  # doctest: +SKIP
>>> net.nodes["sensor"].text  # doctest: +SKIP
'joined'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sunseal.catalog import boards, units
from sunseal.errors import SunsealError, unknown
from sunseal.machine import machine
from sunseal.machine.air import Air, Frame, write_frames
from sunseal.machine.running import SLICE_S, Bench

NODES_MAX = 256
AIR = {"exponent": 3.0, "loss_db": None, "frame_loss": 0.0, "capture_db": None}
NODE = ("name", "board", "elf", "x_m", "y_m", "uart", "baud", "input", "input_at_s", "i2c", "spi")
LINK = ("between", "loss_db")


@dataclass
class Network:
    """Benches on one air, by name, that run in lock-step."""

    air: Air
    nodes: dict[str, Bench]
    frames: list[Frame] = field(default_factory=list)
    """Frames that were sent, in the order in which it ended."""
    on_output: Callable[[str, str, bytes], object] | None = None
    """Called with a node's name, its interface and what that has just written."""

    def run(self, *, until_uart: str | None = None, within: str | float | None = None) -> str | None:
        """Run all nodes until one has written a text from now on, or for so long; return the name of who wrote it.

        With `until_uart`, `within` is a deadline that SunsealError tells of. A node's fault raises EngineError with
        its number and board. What is typed or driven, and a text, has a grain of a millisecond.
        """
        if until_uart is None and within is None:
            raise SunsealError("programs on an air do not end by themselves: say for how long, or until which text")
        span_s = units.time_s(within, "within") if isinstance(within, str) else within
        begun_s = self.air.time_s
        wanted = None if until_uart is None else until_uart.encode()
        seen_from = {name: {u: len(d) for u, d in node.received.items()} for name, node in self.nodes.items()}
        slice_s = SLICE_S[0]
        while span_s is None or self.air.time_s < begun_s + span_s - 1e-12:
            for node in self.nodes.values():
                node.drive_due()
            most_s = slice_s if span_s is None else min(slice_s, begun_s + span_s - self.air.time_s)
            self.air.run(min(node.quiet_s(most_s) for node in self.nodes.values()))
            wrote = [name for name, node in self.nodes.items() if node.collect()]
            self.frames += self.air.frames()
            slice_s = SLICE_S[0] if wrote else min(2 * slice_s, SLICE_S[1])
            if machine.watching is not None:
                machine.watching(sum(node.machine.cycles for node in self.nodes.values()))
            for name in wrote:
                received = self.nodes[name].received
                if wanted is not None and any(
                    wanted in bytes(data[seen_from[name].get(u, 0) :]) for u, data in received.items()
                ):
                    return name
            for name, node in self.nodes.items():
                if loop := node.machine.reset_loop():
                    raise SunsealError(f"node `{name}`: {loop}")
        if until_uart is not None:
            raise SunsealError(f"no node wrote `{until_uart}` in {units.show(span_s or 0.0, 's')}")
        return None

    def write_frames(self, path: Path) -> None:
        """Write what was sent into a .csv or a .pcap, as `sunseal.machine.air.write_frames` does."""
        names = {id(node.machine): name for name, node in self.nodes.items()}
        write_frames(path, self.frames, lambda sender: names[id(sender)])


def load(path: str | Path, seed: int | None = None) -> Network:
    """Put the nodes of a file on an air; programs and typed bytes are looked for beside it.

    `seed`, of what the air leaves to chance, goes before the file's.

    Raises
    ------
    SunsealError names the key, the node or the file that is wrong.
    """
    path = Path(path)
    told = boards.read_toml(path)
    if "node" not in told:
        raise SunsealError(
            f"`{path}` has no [[node]], so it names no program to run on an air",
            hint="`sunseal simulate` plays a scenario, `sunseal fleet` a fleet",
        )
    _known(told, ("seed", "air", "node", "link"), f"in `{path}`")
    air_told = _table(told.get("air", {}), f"[air] of `{path}`")
    _known(air_told, AIR, f"in [air] of `{path}`")
    how = {key: _number(air_told, key, f"[air] of `{path}`", default) for key, default in AIR.items()}
    drawn: Any = told.get("seed", 1) if seed is None else seed
    if not isinstance(drawn, int) or isinstance(drawn, bool) or not 0 <= drawn < 1 << 64:
        raise SunsealError(f"`seed` of `{path}` is {drawn!r}; a whole number from 0 to 2^64 - 1 is wanted")
    air = Air(drawn, **how)  # type: ignore[arg-type]
    nodes: dict[str, Bench] = {}
    listed = _tables(told, "node", path)
    if not 1 <= len(listed) <= NODES_MAX:
        raise SunsealError(f"`{path}` has {len(listed)} nodes; a [[node]] each for 1 to {NODES_MAX} is wanted")
    for number, node in enumerate(listed, 1):
        where = f"[[node]] {number} of `{path}`"
        _known(node, NODE, f"in {where}")
        name = _text(node, "name", where)
        if name in nodes:
            raise SunsealError(f"`{path}` has two nodes `{name}`; a name is one node's")
        nodes[name] = _bench(node, air, path.parent, f"node `{name}` of `{path}`")
    net = Network(air, nodes)
    for number, link in enumerate(_tables(told, "link", path), 1):
        _connect(net, link, f"[[link]] {number} of `{path}`")
    for name, bench in nodes.items():
        bench.on_output = partial(_tell, net, name)
    return net


def _tell(net: Network, name: str, serial: str, data: bytes) -> None:
    if net.on_output is not None:
        net.on_output(name, serial, data)


def _bench(node: dict[str, Any], air: Air, folder: Path, where: str) -> Bench:
    elf = folder / _text(node, "elf", where)
    if not elf.is_file():
        raise SunsealError(f"the program `{elf}` of {where} is not there; it is looked for beside the file")
    at = tuple(_number(node, key, where, 0.0) or 0.0 for key in ("x_m", "y_m"))
    baud = node.get("baud")
    if isinstance(baud, bool) or not isinstance(baud, int | None):
        raise SunsealError(f"`baud` of {where} is {baud!r}; a whole number such as 9600 is wanted")
    uart = None if "uart" not in node else _text(node, "uart", where)
    bench = Bench(_text(node, "board", where), elf, uart=uart, baud=baud, air=air, x_m=at[0], y_m=at[1])
    for bus in ("i2c", "spi"):
        listed = node.get(bus, [])
        if not isinstance(listed, list) or not all(isinstance(given, str) for given in listed):
            raise SunsealError(f'`{bus}` of {where} is a list of texts, such as `["0x48=tmp102:21.5C"]`')
        for given in listed:
            bench.put(bus, given, folder)
    if "input" in node:
        typed = folder / _text(node, "input", where)
        try:
            bench.send(typed.read_bytes(), _number(node, "input_at_s", where, 0.1))
        except OSError as e:
            raise SunsealError(f"the input `{typed}` of {where} cannot be read: {e.strerror or e}") from e
    return bench


def _connect(net: Network, link: dict[str, Any], where: str) -> None:
    _known(link, LINK, f"in {where}")
    between, loss_db = link.get("between"), _number(link, "loss_db", where, None)
    if not isinstance(between, list) or len(between) != 2 or between[0] == between[1] or loss_db is None:
        raise SunsealError(f'{where} wants `between = ["one", "another"]` and `loss_db`')
    for name in between:
        if name not in net.nodes:
            raise unknown("node", str(name), net.nodes, f"in {where}")
    net.air.link(net.nodes[between[0]].machine, net.nodes[between[1]].machine, loss_db)


def _known(told: dict[str, Any], keys: Iterable[str], where: str) -> None:
    for key in told:
        if key not in keys:
            raise unknown("key", key, keys, where)


def _table(told: object, what: str) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise SunsealError(f"{what} is no table of keys")
    return told


def _tables(told: dict[str, Any], key: str, path: Path) -> list[dict[str, Any]]:
    rows = told.get(key, [])
    if not isinstance(rows, list):
        raise SunsealError(f"`{key}` of `{path}` is written as [[{key}]], once for each")
    return [_table(row, f"[[{key}]] of `{path}`") for row in rows]


def _text(told: dict[str, Any], key: str, where: str) -> str:
    value = told.get(key)
    if not isinstance(value, str) or not value:
        raise SunsealError(f"{where} wants `{key}`, a text" + ("" if value is None else f", not {value!r}"))
    return value


def _number(told: dict[str, Any], key: str, where: str, default: float | None) -> float | None:
    value = told.get(key, default)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise SunsealError(f"`{key}` of {where} is {value!r}; a number is wanted")
    return value
