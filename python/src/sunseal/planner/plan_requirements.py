# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requirements of a node, read from a file: every key known, every figure with its unit, else one sentence.

A figure is written with its unit (`"600s"`, `"10min"`, `"64B"`) or as a bare number in the SI base unit. The keys
stand in `examples/requirements.toml`.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from sunseal import _engine
from sunseal.catalog import boards, places, units
from sunseal.errors import SunsealError, unknown
from sunseal.measurement import coupon
from sunseal.planner import radio as radios

T = TypeVar("T")
D = TypeVar("D")
MODES: tuple[str, ...] = ("periodic", "asynchronous")
NONE: tuple[str, ...] = ()
WEIGHTS = {
    "joules_per_day": "energy that the store or the battery gives in a day, J",
    "farads": "capacitance of the store, F",
    "panel_watts": "the panel's rated power (1000 W/m2), W",
    "battery_joules": "energy in the battery, J",
    "seconds": "the longest latency, s",
    "flash_bytes": "program memory of all tasks' programs, bytes",
    "prices": "the sum of [prices], in the user's currency",
}
"""Costs that a plan may be charged for."""
KINDS = ("boards", "workloads", "variants", "capacitors", "panels", "harvesters", "batteries", "converters")
ONCE = {
    "wots-sign": "one message a key",
    "ldots-sign": "one message a key",
    "lms-sign": "32 messages a key",
}
"""Signatures whose key is used up: taken only where they are named, never found by `operation`."""
STEPS = ("sign-steps", "sign-tasks", "sign-checkpoint", "produce", "use", "bare")
REPEATED = ("encrypt", "seal", "tag", "hash")
"""Operations whose longer messages are priced as runs, one behind the other."""


@dataclass(frozen=True)
class Task:
    """Something that the node does again and again."""

    name: str
    workloads: tuple[str, ...]
    every_s: float
    asked_s: float
    """From one challenge to the next, where the node answers only when asked; `every_s` if the file has none."""
    latency_s: float
    size_bytes: int
    sends_bytes: int | None
    """Bytes that go on the air besides the signature or tag; None: nothing does."""
    coupons: int | None = None
    """Number of coupons that may be kept for it (`plan_coupons`); None: it is always done whole."""


@dataclass(frozen=True)
class Link:
    """Reach of the radio: an output power, or a distance that it follows from."""

    dbm: int | None
    distance_m: float | None
    exponent: float
    margin_db: float
    retries: float
    listen_s: float | None
    """Time for which the node listens for the answer; None: as long as the link layer's takes."""


@dataclass(frozen=True)
class Uncertainty:
    """Ends of what no document of the parts bounds, as factors or decibels; assumed unless the file has them."""

    light: tuple[float, float] = (0.8, 1.2)
    charge_efficiency: tuple[float, float] = (0.9, 1.1)
    output_efficiency: tuple[float, float] = (0.95, 1.05)
    leakage: tuple[float, float] = (0.5, 2.0)
    battery_capacity: tuple[float, float] = (0.9, 1.05)
    self_discharge: tuple[float, float] = (0.5, 2.0)
    clock: tuple[float, float] = (0.97, 1.03)
    path_loss_db: tuple[float, float] = (-6.0, 6.0)


@dataclass(frozen=True)
class Requirements:
    """A requirements file, read and checked; SI base units."""

    name: str
    security_bits: int
    tasks: tuple[Task, ...]
    modes: tuple[str, ...]
    window_s: tuple[float, float]
    """Asynchronous: from one window to the next, and how long the node listens."""
    link: Link | None
    climate: dict[str, Any] | None
    survive_share: float
    safety: float
    lifetime_s: float | None
    temperature_c: float
    """Temperature of battery and store."""
    flash_bytes: int | None
    ram_bytes: int | None
    allow: dict[str, tuple[str, ...]]
    voltages_v: tuple[float, ...]
    clocks_hz: tuple[int, ...]
    weights: dict[str, float]
    prices: dict[str, float]
    uncertainty: Uncertainty
    power_set: str
    radio: str | None
    """Radio that each board carries instead of its own."""
    mass_g: float | None
    volume_cm3: float | None
    """Bounds of a supply's parts together."""
    told: dict[str, Any] = field(repr=False)
    """As it stands in the file."""
    folder: Path = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the file's tables."""
        return self.told

    def at_temperature(self, temperature_c: float | None) -> Requirements:
        """Return the same with battery and store at another temperature; None: as the file has it."""
        if temperature_c is None:
            return self
        told = {**self.told, "temperature": f"{temperature_c:g}C"}
        return replace(self, temperature_c=units.degrees(temperature_c, "temperature_c"), told=told)


class _Table:
    """A table of the file, of which every key is taken once or refused."""

    def __init__(self, told: Any, where: str, file: str) -> None:
        self.where, self.file = where, file
        if not isinstance(told, Mapping):
            raise SunsealError(f"`{file}`: {where or 'the file'} is {told!r}; it must be a table")
        self.told = dict(told)
        self.known: list[str] = []

    def name(self, key: str) -> str:
        return f"`{self.file}`: {self.where}{'.' * bool(self.where)}{key}"

    def take(self, key: str, read: Callable[[Any, str], T], default: D) -> T | D:
        self.known.append(key)
        return read(self.told.pop(key), self.name(key)) if key in self.told else default

    def need(self, key: str, read: Callable[[Any, str], T], why: str) -> T:
        if key not in self.told:
            raise SunsealError(f"{self.name(key)} is missing: {why}")
        self.known.append(key)
        return read(self.told.pop(key), self.name(key))

    def table(self, key: str) -> _Table:
        self.known.append(key)
        return _Table(self.told.pop(key, {}), f"{self.where}{'.' * bool(self.where)}{key}", self.file)

    def end(self) -> None:
        for key in self.told:
            place = f"in [{self.where}] of `{self.file}`" if self.where else f"in `{self.file}`"
            raise unknown("key", key, self.known, place)


def _text(told: Any, where: str) -> str:
    if not isinstance(told, str) or not told:
        raise SunsealError(f"{where} is {told!r}; it must be text")
    return told


def _texts(told: Any, where: str) -> tuple[str, ...]:
    if not isinstance(told, list) or not told or not all(isinstance(t, str) for t in told):
        raise SunsealError(f"{where} is {told!r}; it must be a list of names")
    return tuple(told)


def _number(low: float, high: float = math.inf, above: bool = False) -> Callable[[Any, str], float]:
    def read(told: Any, where: str) -> float:
        good = isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told)
        if not good or told < low or told > high or (above and told == low):
            least = f"above {low:g}" if above else f"from {low:g}"
            raise SunsealError(f"{where} is {told!r}; it must be a number {least}{f' to {high:g}' * (high < math.inf)}")
        return float(told)

    return read


def _whole(low: int) -> Callable[[Any, str], int]:
    def read(told: Any, where: str) -> int:
        if not isinstance(told, int) or isinstance(told, bool) or told < low:
            raise SunsealError(f"{where} is {told!r}; it must be a whole number from {low}")
        return told

    return read


def _quantity(unit: str) -> Callable[[Any, str], float]:
    def read(told: Any, where: str) -> float:
        if isinstance(told, str):
            return units.parse(told, unit, where)
        return _number(0.0, above=True)(told, where)

    return read


def _time(told: Any, where: str) -> float:
    return units.time_s(told, where) if isinstance(told, str) else _quantity("s")(told, where)


def _temperature(told: Any, where: str) -> float:
    if isinstance(told, str):
        return units.temperature_c(told, where)
    return units.degrees(_number(-math.inf)(told, where), where)


def _bytes(told: Any, where: str) -> int:
    size = _quantity("B")(told, where)
    if size != int(size):
        raise SunsealError(f"{where} is {told!r}; it must be a whole number of bytes")
    return int(size)


def _ends(low: float, high: float) -> Callable[[Any, str], tuple[float, float]]:
    def read(told: Any, where: str) -> tuple[float, float]:
        if not isinstance(told, list) or len(told) != 2:
            raise SunsealError(f"{where} is {told!r}; it must be its two ends, such as [{low:g}, {high:g}]")
        a, b = (_number(-math.inf)(t, where) for t in told)
        middle = 1.0 if low > 0 else 0.0
        if not a <= middle <= b or (low > 0 and a <= 0):
            raise SunsealError(f"{where} is {told!r}; its ends must enclose {middle:g}, as [{low:g}, {high:g}] do")
        return a, b

    return read


def load(path: Path) -> Requirements:
    """Read a requirements file."""
    with places.beside(path.parent):
        return read(boards.read_toml(path), path.name, path.parent)


def read(told: Mapping[str, Any], file: str = "requirements", folder: Path | None = None) -> Requirements:
    """Read the tables of a requirements file; every mistake is a `SunsealError` of one sentence."""
    whole = _Table(told, "", file)
    name = whole.take("name", _text, Path(file).stem)
    power_set = whole.take("power_set", _text, "datasheet")
    temperature_c = whole.take("temperature", _temperature, 25.0)
    security = whole.table("security")
    bits = security.need("bits", _whole(1), "the security level in bits, such as 128")
    security.end()
    allow = _allow(whole.table("allow"))
    radio = _radio(whole.table("radio"), allow, file)
    link_told = whole.told.get("link") is not None
    tasks = _tasks(whole, file, bits, allow, link_told)
    link = _link(whole.table("link")) if link_told else None
    if sum(t.coupons is not None for t in tasks) > 1:
        raise SunsealError(f"`{file}`: more than one task has `coupons`; a plan keeps them for one")
    if link is not None and all(t.sends_bytes is None for t in tasks):
        raise SunsealError(f"`{file}`: there is a [link], and no task says what it `sends`")
    modes, window_s = _protocol(whole.table("protocol"), file)
    climate, survive_share, safety = None, 1.0, 2.0
    if "climate" in whole.told:
        climate, survive_share, safety = _climate(whole.table("climate"))
    lifetime_s = None
    if "battery" in whole.told:
        battery = whole.table("battery")
        lifetime_s = battery.need("lifetime", _time, "how long it shall last, such as `2years`")
        battery.end()
    if climate is None and lifetime_s is None:
        raise SunsealError(
            f"`{file}`: nothing says what feeds the node: give [climate] for a harvester, or [battery] with `lifetime`"
        )
    mass_g, volume_cm3 = _pair(whole.table("bounds"), "mass_g", "volume_cm3", _number(0.0))
    flash_bytes, ram_bytes = _pair(whole.table("memory"), "flash", "ram", _bytes)
    weighed = whole.table("weights")
    weights = {key: weighed.take(key, _number(0.0), 0.0) for key in WEIGHTS}
    weighed.end()
    priced = whole.table("prices")
    known = {*boards.names("parts"), *boards.names("boards")}
    for part in priced.told:
        if part not in known:
            raise unknown("part or board", part, known, f"in [prices] of `{file}`")
    prices = {part: _number(0.0)(p, priced.name(part)) for part, p in priced.told.items()}
    spreads = whole.table("uncertainty")
    default = Uncertainty()
    ends = {key: spreads.take(key, _ends(*getattr(default, key)), getattr(default, key)) for key in vars(default)}
    spreads.end()
    voltages = allow.pop("voltages", ())
    clocks = allow.pop("clocks", ())
    whole.end()
    if not any(weights.values()):
        weights["prices" if prices else "joules_per_day"] = 1.0
    if weights["prices"] and not prices:
        raise SunsealError(f"`{file}`: weights.prices weighs the sum of [prices], and there are none")
    return Requirements(
        name=name,
        security_bits=bits,
        tasks=tasks,
        modes=modes,
        window_s=window_s,
        link=link,
        climate=climate,
        survive_share=survive_share,
        safety=safety,
        lifetime_s=lifetime_s,
        temperature_c=temperature_c,
        flash_bytes=flash_bytes,
        ram_bytes=ram_bytes,
        allow=allow,
        voltages_v=tuple(units.parse(v, "V", f"`{file}`: allow.voltages") for v in voltages),
        clocks_hz=tuple(units.freq_hz(c, f"`{file}`: allow.clocks") for c in clocks),
        weights=weights,
        prices=prices,
        uncertainty=Uncertainty(**ends),
        power_set=power_set,
        radio=radio,
        mass_g=mass_g,
        volume_cm3=volume_cm3,
        told=dict(told),
        folder=folder or Path(),
    )


def _pair(table: _Table, first: str, second: str, read: Callable[[Any, str], T]) -> tuple[T | None, T | None]:
    """Read a table of two bounds, each of which may be absent."""
    found = table.take(first, read, None), table.take(second, read, None)
    table.end()
    return found


def _radio(table: _Table, allow: dict[str, tuple[str, ...]], file: str) -> str | None:
    """Read the radio that each board is to carry, and leave out the boards that have no pins for it."""
    part = table.take("part", _text, None)
    table.end()
    if part is None:
        return None
    named, fit, why = allow.get("boards", ()), [], ""
    for board in named or boards.of_nodes():
        try:
            radios.of_board(board, part)
            fit.append(board)
        except (SunsealError, _engine.EngineError) as e:
            if named or part not in (*radios.radios(), *boards.names("parts")):
                raise SunsealError(f"`{file}`: radio.part: {e}") from e
            why = str(e)
    if not fit:
        raise SunsealError(f"`{file}`: radio.part: no board has pins for it: {why}")
    allow["boards"] = tuple(fit)
    return part


def _protocol(table: _Table, file: str) -> tuple[tuple[str, ...], tuple[float, float]]:
    modes: tuple[str, ...] = table.take("modes", _texts, MODES[:1])
    for mode in modes:
        if mode not in MODES:
            raise unknown("mode", mode, MODES, f"in `{file}`: protocol.modes")
    window_s = (table.take("listen_every", _time, 15.0), table.take("listen_for", _time, 0.02))
    table.end()
    if window_s[1] > window_s[0]:
        raise SunsealError(f"`{file}`: protocol.listen_for is longer than protocol.listen_every")
    return modes, window_s


def _allow(table: _Table) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {key: table.take(key, _texts, NONE) for key in (*KINDS, "voltages", "clocks")}
    table.end()
    parts = boards.names("parts")
    for key in ("capacitors", "panels", "harvesters", "batteries", "converters"):
        for part in found[key]:
            if part not in parts and not (key == "batteries" and part == "own"):
                raise unknown("part", part, parts, f"in {table.name(key)}")
    for board in found["boards"]:
        if board not in boards.names("boards"):
            raise unknown("board", board, boards.names("boards"), f"in {table.name('boards')}")
    for pattern in found["workloads"]:
        matching([pattern], table.name("workloads"))
    return {key: value for key, value in found.items() if value}


def matching(patterns: Iterable[str], where: str) -> list[str]:
    """Return the workloads that names or patterns such as `ecdsa-*-sign` mean."""
    found: list[str] = []
    for pattern in patterns:
        hits = [w for w in boards.WORKLOADS if fnmatch.fnmatchcase(w, pattern)]
        if not hits:
            raise unknown("workload", pattern, boards.WORKLOADS, f"in {where}")
        found += [h for h in hits if h not in found]
    return found


def _tasks(whole: _Table, file: str, bits: int, allow: Mapping[str, tuple[str, ...]], linked: bool) -> tuple[Task, ...]:
    whole.known.append("task")
    told = whole.told.pop("task", None)
    if not isinstance(told, list) or not told:
        raise SunsealError(f"`{file}` has no [[task]]: say what the node does and how often")
    named = bool(allow.get("workloads"))
    allowed = set(matching(allow["workloads"], file)) if named else None
    return tuple(_task(_Table(t, f"task[{i}]", file), bits, allowed, linked) for i, t in enumerate(told))


def _task(table: _Table, bits: int, allowed: set[str] | None, linked: bool) -> Task:
    operation = table.take("operation", _text, None)
    patterns = table.take("workloads", _texts, None)
    if (operation is None) == (patterns is None):
        raise SunsealError(f"{table.name('operation')}: give either an operation or `workloads`")
    if patterns is not None:
        works = matching(patterns, table.name("workloads"))
    else:
        works = [w.name for w in boards.WORKLOADS.values() if w.operation == operation]
        if not works:
            known = sorted({w.operation for w in boards.WORKLOADS.values()})
            raise unknown("operation", str(operation), known, f"in {table.name('operation')}")
        works = [w for w in works if w not in ONCE or (allowed is not None and w in allowed)]
    if allowed is not None:
        works = [w for w in works if w in allowed]
        if not works:
            raise SunsealError(f"{table.name('operation')}: allow.workloads leaves none that does it")
    every_s = table.need("every", _time, "from one time to the next, such as `600s`")
    asked_s = table.take("asked_every", _time, every_s)
    latency_s = table.take("latency", _time, math.inf)
    first = boards.WORKLOADS[works[0]]
    size_bytes = table.take("bytes", _bytes, 64)
    if first.operation not in REPEATED and size_bytes > 64:
        raise SunsealError(
            f"{table.name('bytes')} is {size_bytes}: `{first.operation}` is measured on a message of 64 bytes; add a "
            "task `hash` for what is longer"
        )
    sends_bytes = table.take("sends", _bytes, None)
    coupons = table.take("coupons", _whole(1), None)
    if coupons is not None and not any(w in coupon.OF_WORKLOAD for w in works):
        raise SunsealError(
            f"{table.name('coupons')}: none of {', '.join(works[:4])} has a part that is done ahead; "
            f"{', '.join(coupon.OF_WORKLOAD)} have"
        )
    name = table.take("name", _text, operation or first.operation)
    table.end()
    if sends_bytes is not None and not linked:
        raise SunsealError(f"{table.name('sends')}: there is no [link] that says where to")
    if latency_s > every_s:
        latency_s = min(latency_s, every_s) if math.isinf(latency_s) else latency_s
    return Task(name, tuple(works), every_s, asked_s, latency_s, size_bytes, sends_bytes, coupons)


def _link(table: _Table) -> Link:
    dbm, distance_m = table.take("dbm", _dbm, None), table.take("distance", _quantity("m"), None)
    if (dbm is None) == (distance_m is None):
        raise SunsealError(f"{table.name('distance')}: give either a distance or the output power `dbm`")
    link = Link(
        dbm=dbm,
        distance_m=distance_m,
        exponent=table.take("exponent", _number(1.0, 8.0), 3.0),
        margin_db=table.take("margin_dB", _number(0.0), 10.0),
        retries=table.take("retries", _number(0.0), 0.0),
        listen_s=table.take("listen", _time, None),
    )
    table.end()
    return link


def _dbm(told: Any, where: str) -> int:
    if not isinstance(told, int) or isinstance(told, bool):
        raise SunsealError(f"{where} is {told!r}; it must be a whole number of dBm, such as 0 or -5")
    return told


def climate(told: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Read a [climate] that stands elsewhere than in a requirements file."""
    return _climate(_Table(told, "climate", file))[0]


def _climate(table: _Table) -> tuple[dict[str, Any], float, float]:
    survive = table.take("survive", _number(0.0, 1.0, above=True), 0.99)
    safety = table.take("safety", _number(1.0), 2.0)
    found: dict[str, Any] = {}
    readers: tuple[tuple[str, Callable[[Any, str], Any]], ...] = (
        ("weather", _text),
        ("trace", _text),
        ("lux", _text),
        ("light", _text),
        ("constant_w", _number(0.0, above=True)),
        ("latitude_deg", _number(-90.0, 90.0)),
        ("clearness", _number(0.0, 1.0, above=True)),
        ("air_c", _number(-60.0, 60.0)),
        ("tilt_deg", _number(0.0, 90.0)),
        ("azimuth_deg", _number(0.0, 360.0)),
        ("shading", _number(0.0, 1.0, above=True)),
    )
    for key, read_it in readers:
        value = table.take(key, read_it, None)
        if value is not None:
            found[key] = value
    table.end()
    kinds = [k for k in ("weather", "trace", "lux", "constant_w", "latitude_deg") if k in found]
    if len(kinds) > 1:
        raise SunsealError(f"{table.name(kinds[1])} stands beside `{kinds[0]}`; a node has one climate")
    if "latitude_deg" in found and "clearness" not in found:
        raise SunsealError(
            f"{table.name('clearness')} is missing: a latitude knows no clouds; give the share of a clear day's light "
            "that arrives, such as 0.5, or a `weather` file"
        )
    for key in ("clearness", "air_c"):
        if key in found and "latitude_deg" not in found:
            raise SunsealError(f"{table.name(key)} belongs to `latitude_deg`")
    if "light" in found and "lux" not in found:
        raise SunsealError(f"{table.name('light')} belongs to `lux`, a profile of indoor light")
    if "lux" in found and (own := [k for k in ("tilt_deg", "azimuth_deg") if k in found]):
        raise SunsealError(f"{table.name(own[0])} stands beside `lux`, the light on the panel itself")
    if kinds and kinds[0] in ("trace", "constant_w"):
        for key in ("tilt_deg", "azimuth_deg", "shading"):
            if key in found:
                raise SunsealError(
                    f"{table.name(key)} stands beside `{kinds[0]}`, the panel's own power, which no sun changes"
                )
    return found, survive, safety
