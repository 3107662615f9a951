# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sensors, memories and one's own devices on a program's I2C and SPI buses.

>>> from sunseal import Bench
>>> node = Bench("msp430fr5994-launchpad", "log.elf")  # doctest: +SKIP
>>> node.i2c(0x48, "tmp102", temperature=21.5)  # doctest: +SKIP
>>> class Counter:
...     def write(self, byte):
...         self.count = byte
...     def read(self):
...         self.count += 1
...         return self.count & 0xFF
>>> node.i2c(0x20, Counter())  # doctest: +SKIP

A device of one's own is any object. On I2C it has `write(byte)` and `read()`, and may have `start(read)`, `stop()`:
`start` and `write` that return False do not acknowledge. On SPI it has `transfer(mosi)`, and may have `select()` and
`deselect()`. On either bus it may have `power(on)`, told when the supply comes and goes; `pins`, the levels by pin that
it drives; `state`, a name under which its time is booked, with `current_a`, what each state draws in amperes; and
`event()`, called when machine time reaches `next_s`, which it then moves on or sets to None. Before each call its
attribute `time_s` is set to the machine time in seconds. What it raises ends the run.
"""

from __future__ import annotations

import bisect
import itertools
import math
import pickle
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sunseal.catalog import boards, si
from sunseal.errors import SunsealError, unknown
from sunseal.machine.series import read_points, read_rows

if TYPE_CHECKING:
    from sunseal.machine.machine import Machine

Input = float | Sequence[tuple[float, float]]
"""A quantity: fixed, or points of machine time in seconds and value, with straight lines between them."""
ADDRESS_MAX = 0x7F
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\D*)")


def at(quantity: Input, time_s: float) -> float:
    """Return what a quantity is at a time; before the first point and behind the last it stays level."""
    if isinstance(quantity, int | float):
        return float(quantity)
    n = bisect.bisect_right(quantity, time_s, key=lambda point: point[0])
    if n in (0, len(quantity)):
        return float(quantity[max(n - 1, 0)][1])
    (t0, v0), (t1, v1) = quantity[n - 1], quantity[n]
    return float(v0 + (v1 - v0) * (time_s - t0) / (t1 - t0))


class Model:
    """Common part of the package's devices: their part's facts, and currents by state."""

    inputs: ClassVar[dict[str, str]] = {}
    """Inputs that can be connected to it, the first without its name: a unit, `pin`, `file`, `rows`."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys of [peripheral] that it cannot do without."""

    def __init__(self, name: str, facts: Mapping[str, Any]) -> None:
        """Make the device of a part."""
        self.part = name
        self.facts = facts
        self.current_a = si.currents_a(facts)
        self.time_s = 0.0
        self.next_s: float | None = None
        self.pins: dict[str, bool] = {}
        self.state = "on"

    def reset(self) -> None:
        """Take the state at power-on."""

    def power(self, on: bool) -> None:
        """Lose the supply, or come back with what power-on leaves."""
        self.reset()
        if not on:
            self.state, self.next_s, self.pins = "off", None, {}

    def refuse(self, what: str) -> SunsealError:
        """Say that a program asks for something that is not modelled."""
        return SunsealError(f"the {self.part} here has no {what}; data/parts/{self.part}.toml lists what is left out")


class Tmp102(Model):
    """TMP102 (SBOS397): pointer, temperature, configuration and limits; conversions take their time."""

    inputs: ClassVar[dict[str, str]] = {"temperature": "C"}
    needs: ClassVar[tuple[str, ...]] = ("convert_ms",)
    RATES_HZ = (0.25, 1.0, 4.0, 8.0)
    LSB_C = 0.0625

    def __init__(self, name: str, facts: Mapping[str, Any], temperature: Input = 25.0) -> None:
        """Make one at a temperature in degrees Celsius."""
        super().__init__(name, facts)
        self.temperature = temperature
        self._convert_s = facts["convert_ms"] * 1e-3
        self.reset()

    def reset(self) -> None:
        """Take the registers' values at power-on (SBOS397, 7.5): 0 degrees until the first conversion is done."""
        self._registers = [0, 0x60A0, 0x4B00, 0x5000]
        self._pointer, self._byte = 0, 0
        self._measured_c, self._since_s = 0.0, self.time_s
        self.next_s = None
        self._told()

    @property
    def _shut_down(self) -> bool:
        return bool(self._registers[1] & 0x0100)

    def _told(self) -> None:
        rate = self.RATES_HZ[self._registers[1] >> 6 & 3]
        resting = "convert" if self.next_s is not None else "shutdown"
        self.state = resting if self._shut_down else f"{rate:g}hz"

    def _measure(self) -> None:
        """Take over the last conversion that is complete; the first ends a conversion's time behind its start."""
        if self._shut_down:
            return
        period_s = 1 / self.RATES_HZ[self._registers[1] >> 6 & 3]
        done = math.floor((self.time_s - self._since_s - self._convert_s) / period_s + 1e-9)
        if done >= 0:
            self._measured_c = at(self.temperature, self._since_s + self._convert_s + done * period_s)

    def event(self) -> None:
        """End a one-shot conversion."""
        self.next_s = None
        self._measured_c = at(self.temperature, self.time_s)
        self._told()

    def start(self, read: bool) -> None:
        """Begin a message of the bus."""
        self._byte = 0
        if read:
            self._measure()

    def write(self, byte: int) -> None:
        """Take the pointer, then a register's bytes, the upper first."""
        if self._byte == 0:
            self._pointer = byte & 3
        elif self._byte <= 2 and self._pointer:
            self._measure()
            shift = 8 if self._byte == 1 else 0
            held = self._registers[self._pointer] & ~(0xFF << shift) | byte << shift
            if self._pointer == 1:
                self._configure(held, one_shot=shift == 8 and bool(byte & 0x80))
            else:
                self._registers[self._pointer] = held & 0xFFF0
        self._byte += 1

    def _configure(self, held: int, one_shot: bool) -> None:
        before = self._registers[1]
        # R1 and R0 read as ones, AL and the lowest bits are the chip's.
        self._registers[1] = held & 0x1FD0 | 0x6000
        if self._shut_down:
            if one_shot and self.next_s is None:
                self.next_s = self.time_s + self._convert_s
        elif (before ^ self._registers[1]) & 0x01C0:
            self._since_s, self.next_s = self.time_s, None
        self._told()

    def read(self) -> int:
        """Give the register that the pointer names, the upper byte first."""
        if self._pointer == 0:
            word = self._reading()
        elif self._pointer == 1:
            ready = 0x8000 if self._shut_down and self.next_s is None else 0
            alert = 0 if self._registers[1] & 0x0400 else 0x20
            word = self._registers[1] | ready | alert
        else:
            word = self._registers[self._pointer]
        self._byte += 1
        return word >> 8 if self._byte % 2 else word & 0xFF

    def _reading(self) -> int:
        extended = bool(self._registers[1] & 0x10)
        bits = 13 if extended else 12
        most = (1 << bits - 1) - 1
        code = max(-most - 1, min(most, math.floor(self._measured_c / self.LSB_C + 0.5)))
        return (code << 3 & 0xFFF8) | 1 if extended else code << 4 & 0xFFF0


class Adxl345(Model):
    """ADXL345 (revision D): identity, rates, ranges, three axes, data ready on its flag and its pins."""

    inputs: ClassVar[dict[str, str]] = {"axes": "rows", "x": "g", "y": "g", "z": "g", "int1": "pin", "int2": "pin"}
    needs: ClassVar[tuple[str, ...]] = ("id",)
    BW_RATE, POWER_CTL, INT_ENABLE, INT_MAP, INT_SOURCE, DATA_FORMAT = range(0x2C, 0x32)
    DATAX0, FIFO_CTL, FIFO_STATUS = 0x32, 0x38, 0x39
    READ_ONLY = (0x00, 0x2B, INT_SOURCE, *range(DATAX0, DATAX0 + 6), FIFO_STATUS)
    READY, OVERRUN = 0x80, 0x01

    def __init__(
        self,
        name: str,
        facts: Mapping[str, Any],
        axes: Sequence[Sequence[float]] | None = None,
        x: Input = 0.0,
        y: Input = 0.0,
        z: Input = 1.0,
        int1: str | None = None,
        int2: str | None = None,
    ) -> None:
        """Make one that feels accelerations in g: each axis its own, or rows of seconds, x, y and z."""
        super().__init__(name, facts)
        self.axes: tuple[Input, ...] = (x, y, z)
        if axes is not None:
            self.axes = tuple([(row[0], row[1 + i]) for row in axes] for i in range(3))
        self._wired = [int1, int2]
        self.reset()

    def reset(self) -> None:
        """Take the registers' values at power-on (table 19)."""
        self._registers = bytearray(0x3A)
        self._registers[0x00] = self.facts["id"][0]
        self._registers[self.BW_RATE] = 0x0A
        self._registers[self.INT_SOURCE] = 0x02
        self._pointer, self._first = 0, True
        self._samples, self._since_s = 0, self.time_s
        self._told()

    @property
    def _period_s(self) -> float:
        return 2.0 ** (15 - (self._registers[self.BW_RATE] & 0x0F)) / 3200

    @property
    def _measures(self) -> bool:
        return bool(self._registers[self.POWER_CTL] & 0x08)

    def _sample_s(self, number: int) -> float:
        """Return when sample `number` is ready: the first a period and 1.1 ms behind the start (figure 4)."""
        return self._since_s + 1.1e-3 + number * self._period_s

    def _told(self) -> None:
        """Set state, pins and the next call to what the registers say."""
        rate_hz = 1 / self._period_s
        low = ".low" if self._registers[self.BW_RATE] & 0x10 else ""
        shown = f"{rate_hz:g}" if rate_hz >= 6 else f"{rate_hz:.2f}"
        self.state = f"{shown}hz{low}" if self._measures else "standby"
        interrupts = self._registers[self.INT_SOURCE] & self._registers[self.INT_ENABLE]
        inverted = bool(self._registers[self.DATA_FORMAT] & 0x20)
        for number, pin in enumerate(self._wired):
            if pin is not None:
                mapped = self._registers[self.INT_MAP] if number else ~self._registers[self.INT_MAP]
                self.pins[pin] = bool(interrupts & mapped) != inverted
        awaited = self._measures and self._registers[self.INT_ENABLE] & self.READY and any(self._wired)
        self.next_s = self._sample_s(self._samples + 1) if awaited else None

    def _advance(self) -> None:
        """Take over the samples that are ready by now."""
        if not self._measures:
            return
        ready = math.floor((self.time_s - self._since_s - 1.1e-3) / self._period_s + 1e-9)
        new = ready - self._samples
        if new <= 0:
            return
        self._samples = ready
        source = self._registers[self.INT_SOURCE]
        overrun = self.OVERRUN if source & self.READY or new > 1 else 0
        self._registers[self.INT_SOURCE] = source | self.READY | overrun
        for i, axis in enumerate(self.axes):
            code = self._code(at(axis, self._sample_s(ready)), i)
            self._registers[self.DATAX0 + 2 * i : self.DATAX0 + 2 * i + 2] = code.to_bytes(2, "little", signed=True)

    def _code(self, acceleration: float, axis: int) -> int:
        form = self._registers[self.DATA_FORMAT]
        span, full = form & 3, bool(form & 8)
        bits = 10 + span if full else 10
        per_g = 256 if full else 256 >> span
        offset = int.from_bytes(self._registers[0x1E + axis : 0x1F + axis], "little", signed=True)
        most = (1 << bits - 1) - 1
        felt = acceleration + offset * 15.6e-3
        code = max(-most - 1, min(most, math.floor(felt * per_g + 0.5)))
        return code << 16 - bits if form & 4 else code

    def event(self) -> None:
        """Have a sample ready."""
        # The clock of the machine has picoseconds: a sample is not missed by rounding.
        self.time_s += 1e-9
        self._advance()
        self._told()

    def start(self, read: bool) -> None:
        """Begin a message of the bus."""
        self._first = not read
        self._advance()

    def write(self, byte: int) -> None:
        """Take the register's address, then the contents of it and those behind it."""
        if self._first:
            self._pointer, self._first = byte, False
            return
        register, self._pointer = self._pointer, self._pointer + 1
        if register >= len(self._registers):
            raise self.refuse(f"register {register:#04x}")
        if register in self.READ_ONLY:
            return
        self._check(register, byte)
        begins = register == self.POWER_CTL and byte & 8 and not self._measures
        self._registers[register] = byte
        if begins or register == self.BW_RATE:
            self._samples, self._since_s = 0, self.time_s
        self._told()

    def _check(self, register: int, byte: int) -> None:
        if register == self.INT_ENABLE and byte & ~self.READY:
            raise self.refuse("interrupt but data ready (INT_ENABLE 80h)")
        if register == self.POWER_CTL and byte & 0x37:
            raise self.refuse("link, auto sleep or sleep (POWER_CTL 08h measures, 0 stands by)")
        if register == self.FIFO_CTL and byte & 0xC0:
            raise self.refuse("FIFO (FIFO_CTL 0 bypasses it)")
        if register == self.DATA_FORMAT and byte & 0xC0:
            raise self.refuse("self test and three-wire SPI (bits 7 and 6 of DATA_FORMAT)")

    def read(self) -> int:
        """Give the register at the address, and go on to the next."""
        register, self._pointer = self._pointer, self._pointer + 1
        if register >= len(self._registers):
            return 0
        byte = self._registers[register]
        if self.DATAX0 <= register < self.DATAX0 + 6:
            self._registers[self.INT_SOURCE] &= ~(self.READY | self.OVERRUN)
            self._told()
        return byte


class Fram(Model):
    """A FRAM: on I2C two bytes of address and then data (DS501-00017), on SPI by op-codes (001-84494)."""

    inputs: ClassVar[dict[str, str]] = {"image": "file"}
    needs: ClassVar[tuple[str, ...]] = ("bytes",)
    WRSR, WRITE, READ, WRDI, RDSR, WREN, FSTRD, RDID, SLEEP = 1, 2, 3, 4, 5, 6, 0x0B, 0x9F, 0xB9

    def __init__(self, name: str, facts: Mapping[str, Any], image: bytes = b"") -> None:
        """Make one that holds an image from address 0 on, and zeros behind it."""
        super().__init__(name, facts)
        if len(image) > facts["bytes"]:
            raise SunsealError(f"an image of {len(image)} bytes does not fit into the {name}'s {facts['bytes']}")
        self.memory = bytearray(image.ljust(facts["bytes"], b"\0"))
        self.reset()

    def reset(self) -> None:
        """Forget everything but the memory."""
        self._address, self._bytes, self._op = 0, 0, 0
        self._enabled = False
        self.state = "standby"

    def _next(self) -> int:
        at = self._address
        self._address = (at + 1) % len(self.memory)
        return at

    # On I2C.

    def start(self, read: bool) -> None:
        """Begin a message of the bus."""
        self._bytes = 0
        self.state = "active"

    def write(self, byte: int) -> None:
        """Take two bytes of address, the upper first, then data."""
        if self._bytes < 2:
            kept = self._address & 0xFF if self._bytes else 0
            self._address = (kept << 8 | byte) % len(self.memory) if self._bytes else byte
        else:
            self.memory[self._next()] = byte
        self._bytes += 1

    def read(self) -> int:
        """Give the byte at the address, and go on to the next."""
        return self.memory[self._next()]

    def stop(self) -> None:
        """End a message of the bus."""
        self.state = "standby"

    # On SPI.

    def select(self) -> None:
        """Begin a command; asleep, this wakes it."""
        self._bytes, self._op = 0, 0
        self.state = "active"

    def deselect(self) -> None:
        """End a command of the bus."""
        if self._op == self.WREN:
            self._enabled = True
        elif self._op in (self.WRDI, self.WRITE, self.WRSR):
            self._enabled = False
        self.state = "sleep" if self._op == self.SLEEP else "standby"

    def transfer(self, mosi: int) -> int:
        """Take the op-code, two bytes of address where it has one, and data; give what it asks for."""
        number, self._bytes = self._bytes, self._bytes + 1
        if number == 0:
            self._op = mosi
            known = (
                self.WRSR,
                self.WRITE,
                self.READ,
                self.WRDI,
                self.RDSR,
                self.WREN,
                self.FSTRD,
                self.RDID,
                self.SLEEP,
            )
            if mosi not in known:
                raise self.refuse(f"op-code {mosi:#04x}")
            return 0xFF
        if self._op == self.RDSR:
            return 2 if self._enabled else 0
        if self._op == self.RDID:
            who = bytes(self.facts.get("id", ()))
            return who[number - 1] if number <= len(who) else 0xFF
        if self._op == self.WRSR and mosi & 0x8C and self._enabled:
            raise self.refuse("block protection (BP1, BP0 and WPEN of its status)")
        if self._op in (self.READ, self.WRITE, self.FSTRD):
            return self._reached(number - (1 if self._op == self.FSTRD and number > 3 else 0), mosi)
        return 0xFF

    def _reached(self, number: int, mosi: int) -> int:
        if number == 1:
            self._address = mosi << 8
        elif number == 2:
            self._address = (self._address | mosi) % len(self.memory)
        elif self._op == self.FSTRD and self._bytes == 4:
            return 0xFF  # the dummy byte
        elif self._op == self.WRITE:
            place = self._next()
            if self._enabled:
                self.memory[place] = mosi
        else:
            return self.memory[self._next()]
        return 0xFF


MODELS: dict[str, type[Model]] = {"tmp102": Tmp102, "adxl345": Adxl345, "fram": Fram}
"""Models that a part's `peripheral.model` names."""


def known(bus: str | None = None) -> list[str]:
    """Name the parts of kind peripheral, those on a bus or all."""
    facts = {name: boards.part(name).get("peripheral") for name in boards.names("parts")}
    return [name for name, f in facts.items() if f is not None and (bus is None or bus in f["buses"])]


def _check_input(given: object, unit: str, what: str) -> None:
    if unit == "pin":
        right, wanted = given is None or isinstance(given, str), "a pin's name such as `P1.3`"
    elif unit == "file":
        right, wanted = isinstance(given, bytes | bytearray), "bytes"
    elif unit == "rows":
        right = isinstance(given, list | tuple) and bool(given) and all(len(row) == 4 for row in given)
        wanted = "rows of seconds, x, y and z"
    elif isinstance(given, list | tuple):
        pairs = [p for p in given if isinstance(p, list | tuple) and len(p) == 2]
        right = bool(given) and len(pairs) == len(given) and all(a[0] < b[0] for a, b in itertools.pairwise(pairs))
        wanted = "points of seconds, which rise, and value"
    else:
        right = isinstance(given, int | float) and math.isfinite(given)
        wanted = f"a number in {unit}, or points of seconds and value"
    if not right:
        raise SunsealError(f"{what} is {given!r}; {wanted} is wanted")


def make(bus: str, name: str, vcc_v: float, inputs: Mapping[str, Any]) -> tuple[Model, list[int]]:
    """Make the device of a part for a bus; return it with the I2C addresses that it can have.

    Raises
    ------
    SunsealError where there is no such part, on no such bus, or what is to be connected to it has no place.
    """
    if name not in boards.names("parts") or "peripheral" not in boards.part(name):
        raise unknown("device", name, known(bus), f"on {bus.upper()}")
    facts = boards.part(name)["peripheral"]
    if bus not in facts["buses"]:
        raise SunsealError(f"`{name}` speaks {' and '.join(facts['buses']).upper()}, not {bus.upper()}")
    if not facts["vcc_min_v"] <= vcc_v <= facts["vcc_max_v"]:
        lowest, highest = facts["vcc_min_v"], facts["vcc_max_v"]
        raise SunsealError(f"`{name}` takes a supply of {lowest:g} to {highest:g} V, and the machine has {vcc_v:g} V")
    model = MODELS.get(facts["model"])
    if model is None:
        raise unknown("model", facts["model"], MODELS, f"of part {name}")
    if missing := [key for key in model.needs if not facts.get(key)]:
        raise SunsealError(f"part `{name}` lacks `{missing[0]}` in [peripheral], which model {facts['model']} needs")
    for key, given in inputs.items():
        if key not in model.inputs:
            raise unknown("input", key, model.inputs, f"of {name}")
        _check_input(given, model.inputs[key], f"`{key}` of {name}")
    return model(name, facts, **inputs), list(facts.get("addresses", ()))


# --- As text: on the command line and in files ----------------------------------------------------


def read_text(
    bus: str, given: str, what: str, folder: Path | None = None
) -> tuple[str | None, str, str, dict[str, Any]]:
    """Read `[SERIAL:]PLACE=DEVICE[:INPUT,...]`: serial interface or None, place, device, inputs.

    `PLACE` is an address on I2C, a select pin on SPI. Files are looked for in `folder`.
    """
    place, eq, rest = given.partition("=")
    serial, colon, at_place = place.rpartition(":")
    name, _, told = rest.partition(":")
    if not (eq and at_place and name) or (colon and not serial):
        example = "0x48=tmp102:21.5C" if bus == "i2c" else "eusci_b3:P6.7=fm25v02"
        raise SunsealError(f"{what} `{given}` is not [SERIAL:]{_PLACES[bus]}=DEVICE[:INPUTS], such as `{example}`")
    if name not in boards.names("parts") or "peripheral" not in boards.part(name):
        raise unknown("device", name, known(bus), f"of {what} `{given}`")
    model = MODELS.get(boards.part(name)["peripheral"]["model"])
    allowed: dict[str, str] = getattr(model, "inputs", {})
    inputs: dict[str, Any] = {}
    for item in told.split(",") if told else ():
        key, eq, value = item.partition("=")
        if not eq:
            key, value = next(iter(allowed), ""), item
        if key not in allowed:
            raise unknown("input", key, allowed, f"of {name} in {what}")
        inputs[key] = _quantity(value, allowed[key], f"{what} {name} {key}", folder or Path())
    return serial or None, at_place, name, inputs


_PLACES = {"i2c": "ADDRESS", "spi": "SELECT_PIN"}


def from_folder(given: str, folder: Path) -> str:
    """Write a device's text with its files named from the working directory and not from a folder."""
    head, colon, told = given.partition("=")[2].partition(":")
    part = boards.part(head).get("peripheral", {}) if head in boards.names("parts") else {}
    allowed: dict[str, str] = getattr(MODELS.get(part.get("model", "")), "inputs", {})
    items = []
    for item in told.split(",") if colon else ():
        key, eq, value = item.partition("=")
        if not eq:
            key, value = next(iter(allowed), ""), item
        named = allowed.get(key) in ("rows", "file") or value.endswith(".csv")
        items.append(f"{key}={folder / value}" if named else item)
    return f"{given.partition('=')[0]}={head}{colon}{','.join(items)}"


def put(machine: Machine, bus: str, given: str, folder: Path | None = None, what: str | None = None) -> Any:
    """Put a device of the package on a machine's bus as text: `[SERIAL:]ADDRESS=DEVICE:INPUTS`, a pin on `spi`."""
    what = what or f"--{bus}"
    serial, place, device, inputs = read_text(bus, given, what, folder)
    if bus == "i2c":
        return machine.i2c(address(place, f"{what} {given}:"), device, serial=serial, **inputs)
    return machine.spi(place, device, serial=serial, **inputs)


def address(text: str, what: str) -> int:
    """Read an I2C address of seven bits, `0x48` or `72`."""
    try:
        value = int(text, 0)
    except ValueError:
        raise SunsealError(f"{what} `{text}` is no I2C address: write one such as 0x48") from None
    return value


def _quantity(text: str, unit: str, what: str, folder: Path) -> Any:
    if unit == "pin":
        return text
    if unit == "rows":
        return read_rows(folder / text, what, 3)
    if unit == "file":
        path = folder / text
        try:
            return path.read_bytes()
        except OSError as e:
            raise SunsealError(f"the file `{path}` for {what} cannot be read: {e.strerror or e}") from e
    if text.endswith(".csv"):
        return read_points(folder / text, what)
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match.group(2).strip() not in ("", unit):
        raise SunsealError(
            f"{what} `{text}` is not a number in {unit} or a .csv file: write `21.5{unit}` or `file.csv`"
        )
    return float(match.group(1))


# --- Snapshots ------------------------------------------------------------------------------------


def save(device: object) -> bytes:
    """Return what a snapshot keeps of a device: what its method `save` returns, or else all its attributes."""
    own = getattr(device, "save", None)
    if own is not None:
        return bytes(own())
    try:
        return pickle.dumps(vars(device))
    except (TypeError, AttributeError, pickle.PicklingError) as e:
        kind = type(device).__name__
        raise SunsealError(f"a {kind} cannot be kept in a snapshot ({e}): give it `save()` and `restore(data)`") from e


def restore(device: object, saved: bytes) -> None:
    """Bring a device back to what `save` returned."""
    own = getattr(device, "restore", None)
    if own is not None:
        own(saved)
        return
    vars(device).clear()
    vars(device).update(pickle.loads(saved))
