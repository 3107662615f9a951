# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices on I2C and SPI: sensors and memories of the package, ones of one's own, on chips of every family."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal import Bench, EngineError, Machine, SunsealError, _engine, simulate
from sunseal.catalog import boards
from sunseal.loop import simulation
from sunseal.machine import devices, network
from sunseal.secure import constant_time_matrix as matrix

DATA = Path(__file__).parent / "data"
FR, AVR, ARM, F5 = "msp430fr5994-launchpad", "micaz", "msp432p401r-launchpad", "msp430f5438a-anagear"
BUS = {
    FR: ("eusci_b2", ("-DBUS=0x06C0", "-DDIVIDER=10")),
    ARM: ("eusci_b1", ("-DBUS=0x40002400", "-DDIVIDER=30")),
    F5: ("usci_b1", ("-DBUS=0x0620", "-DUSCI", "-DDIVIDER=10")),
    AVR: ("twi", ("-DDIVIDER=29",)),
}
SPI = {
    FR: ("eusci_b3", "P6.7", ("-DSPI=0x0700", "-DPORT=0x0243", "-DSELECT=0x80")),
    ARM: ("eusci_b2", "P5.2", ("-DSPI=0x40002800", "-DPORT=0x40004C42", "-DSELECT=0x04")),
    F5: ("usci_b1", "P5.3", ("-DSPI=0x0620", "-DUSCI", "-DPORT=0x0242", "-DSELECT=0x08")),
    AVR: ("spi", "PC0", ()),
}
Message = tuple[int, bytes, int]
"""Address, bytes to write, how many to read."""
Built = Callable[..., Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    made: dict[tuple[str, str], Path] = {}

    def build(board: str, source: str = "on_a_bus.c") -> Path:
        if (board, source) not in made:
            isa = next(s for s in matrix.SETS if s.board == (FR if board == F5 else board))
            if board == F5:
                runtime = "msp430f5438a/mpy-32/runtime/msp430"
                isa = dataclasses.replace(isa, board=F5, script=f"build/{F5}/link.ld", runtime=runtime)
            compiler = next(c for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
            switches = BUS[board][1] if source == "on_a_bus.c" else SPI[board][2]
            folder = tmp_path_factory.mktemp("bus")
            made[board, source] = matrix.build(DATA / source, isa, compiler, "-O1", folder, switches)
        return made[board, source]

    return build


def play(node: Bench, messages: Sequence[Message]) -> list[tuple[bool, bytes]]:
    """Have the program play messages; return of each whether it was acknowledged, and what was read."""
    if node.machine.pc != node.machine.address("ready"):
        node.run("ready", within="1s")
    script = b"".join(bytes([to, len(sent), reads]) + sent for to, sent, reads in messages)
    node.machine.write("script", script)
    node.machine.write("count", bytes([len(messages)]))
    node.run(within=2e-3 + 4e-3 * len(messages) + 1e-3 * sum(len(sent) + reads for _, sent, reads in messages))
    assert node.machine.read_int("played") == 1
    answer, found = node.machine.read("answer"), []
    for _, _, reads in messages:
        found.append((answer[0] == 0, answer[1 : 1 + reads]))
        answer = answer[1 + reads :]
    return found


class Notes:
    """A device of 16 bytes that notes what it is told: the first byte written is a pointer."""

    def __init__(self, most: int = 1000) -> None:
        self.memory = bytearray(range(16))
        self.heard: list[str] = []
        self.most, self.pointer, self.bytes = most, 0, 0

    def start(self, read: bool) -> None:
        self.heard.append("read" if read else "write")
        self.bytes = 0

    def write(self, byte: int) -> bool:
        self.bytes += 1
        if self.bytes > self.most:
            return False
        if self.bytes == 1:
            self.pointer = byte % 16
        else:
            self.memory[self.pointer] = byte
            self.pointer = (self.pointer + 1) % 16
        return True

    def read(self) -> int:
        self.pointer = (self.pointer + 1) % 16
        return self.memory[self.pointer - 1]

    def stop(self) -> None:
        self.heard.append("stop")


@pytest.mark.parametrize("board", BUS)
def test_random_messages_do_on_a_bus_what_they_do_by_hand(built: Built, board: str) -> None:
    rng = random.Random(board)
    for most in (1000, 3):
        messages: list[Message] = []
        while sum(4 + len(sent) + reads for _, sent, reads in messages) < 400:
            to = rng.choice((0x20, 0x20, 0x31, 0x7))
            messages.append((to, rng.randbytes(rng.randrange(6)), rng.randrange(5)))
        there = {0x20: Notes(most), 0x31: Notes(most)}
        by_hand = {0x20: Notes(most), 0x31: Notes(most)}
        node = Bench(board, built(board))
        for address, device in there.items():
            node.i2c(address, device, serial=BUS[board][0], name=f"notes {address}")
        expected = []
        for to, sent, reads in messages:
            called = by_hand.get(to)
            got, refused = b"", called is None
            if called is not None:
                if sent or not reads:
                    called.start(False)
                    refused = not all(called.write(byte) for byte in sent)
                if reads and not refused:
                    called.start(True)
                    got = bytes(called.read() for _ in range(reads))
                called.stop()
            expected.append((not refused, got.ljust(reads, b"\0")))
        assert play(node, messages) == expected
        for address, device in there.items():
            assert device.memory == by_hand[address].memory
            assert device.heard == by_hand[address].heard
        assert not node.machine.lints()


@pytest.mark.parametrize("board", [FR, AVR])
def test_a_thermometer_is_read_where_its_address_answers(built: Built, board: str) -> None:
    node = Bench(board, built(board))
    node.i2c(0x48, "tmp102", temperature=21.5)
    begun_s = node.time_s
    *readings, absent = play(node, [(0x48, b"\0", 2)] * 80 + [(0x49, b"\0", 2)])
    # The first conversion takes 26 ms, a message half a millisecond.
    assert readings[0] == (True, b"\0\0")
    assert readings[-1] == (True, b"\x15\x80")
    assert absent[0] is False
    drawn = node.machine.device_energy_j["tmp102@0x48"]
    assert drawn == pytest.approx(7e-6 * node.machine.vcc_v * (node.time_s - begun_s), rel=1e-6)
    # The chip's joules are the chip's alone.
    alone = Bench(board, built(board))
    alone.run(within=node.time_s)
    assert node.energy_j == pytest.approx(alone.energy_j, rel=0.05)


def test_a_thermometer_follows_points_converts_in_its_time_and_shuts_down() -> None:
    facts = boards.part("tmp102")["peripheral"]
    t = devices.Tmp102("tmp102", facts, [(0.0, -10.0), (10.0, 90.0)])

    def read(time_s: float, register: int = 0) -> int:
        t.time_s = time_s
        t.start(False)
        t.write(register)
        t.start(True)
        return t.read() << 8 | t.read()

    def set_to(register: int, word: int) -> None:
        t.start(False)
        for byte in (register, word >> 8, word & 0xFF):
            t.write(byte)

    assert read(0.02) == 0
    # Conversions end 26 ms behind the start and each quarter of a second.
    assert read(0.03) == round((-10 + 0.26) / 0.0625) % 4096 << 4
    assert read(0.27) == read(0.03)
    assert read(0.28) == round((-10 + 2.76) / 0.0625) % 4096 << 4
    assert read(0.3, 1) == 0x60A0
    set_to(1, 0x61B0)
    assert (t.state, read(0.4, 1)) == ("shutdown", 0xE1B0)
    held = read(5.0)
    assert held & 1 == 1
    set_to(1, 0xE1B0)
    assert t.next_s == pytest.approx(5.026)
    assert (t.state, read(5.0, 1)) == ("convert", 0x61B0)
    t.time_s = 5.026
    t.event()
    assert read(5.1) == round((-10 + 50.26) / 0.0625) << 3 | 1


@pytest.mark.parametrize("board", [FR, F5])
def test_an_accelerometer_says_who_it_is_and_where_down_is(built: Built, board: str) -> None:
    node = Bench(board, built(board))
    node.i2c(0x53, "adxl345", serial=BUS[board][0], x=0.5, y=-0.25, z=1.0, int1="P1.3")
    assert not node.machine.pin("P1.3")
    who, *_ = play(node, [(0x53, b"\0", 1), (0x53, b"\x2e\x80", 0), (0x53, b"\x2d\x08", 0)])
    assert who == (True, b"\xe5")
    # The first sample at 100 Hz comes 11.1 ms behind the start; the pin goes up with it.
    node.run(within=0.012)
    assert node.machine.pin("P1.3")
    device = next(iter(node.machine.devices.values()))
    assert isinstance(device, devices.Adxl345)
    device.start(False)
    device.write(0x32)
    axes = [int.from_bytes([device.read(), device.read()], "little", signed=True) for _ in range(3)]
    assert axes == [128, -64, 256]
    assert not device.pins["P1.3"]
    with pytest.raises(SunsealError, match="FIFO"):
        device.start(False)
        for byte in (0x38, 0x80):
            device.write(byte)


@pytest.mark.parametrize("board", [ARM, AVR])
def test_a_fram_keeps_what_is_written_over_a_power_cut(built: Built, board: str) -> None:
    node = Bench(board, built(board))
    fram = node.i2c(0x50, "mb85rc256v", serial=BUS[board][0], image=b"\xaa" * 8)
    begun_s = node.time_s
    messages: list[Message] = [(0x50, b"\x7f\xfe\x01\x02\x03", 0), (0x50, b"\x7f\xff", 3)]
    assert play(node, messages) == [(True, b""), (True, b"\x02\x03\xaa")]

    def drawn() -> float:
        drawn_j = node.machine.device_energy_j["mb85rc256v@0x50"]
        assert drawn_j is not None
        return drawn_j

    assert drawn() > 27e-6 * node.machine.vcc_v * (node.time_s - begun_s)
    node.machine.power_cut()
    assert fram.state == "off"
    until_cut_j, cut_s = drawn(), node.time_s
    node.machine.power_on()
    # An ATmega starts for 4 or 69 ms, in which what hangs on its bus draws its current already.
    if board == AVR:
        assert node.time_s - cut_s > 4e-3
        assert drawn() - until_cut_j == pytest.approx(27e-6 * node.machine.vcc_v * (node.time_s - cut_s), rel=1e-6)
    assert (fram.state, fram.memory[0x7FFE], fram.memory[0x7FFF], fram.memory[0]) == ("standby", 1, 2, 3)


def test_a_spi_fram_by_its_op_codes() -> None:
    f = devices.Fram("fm25v02", boards.part("fm25v02")["peripheral"])

    def command(*out: int) -> list[int]:
        f.select()
        back = [f.transfer(byte) for byte in out]
        f.deselect()
        return back

    command(2, 0, 0x10, 0x55)
    assert f.memory[0x10] == 0
    command(6)
    assert command(5, 0)[1] == 2
    command(2, 0, 0x10, 0x55, 0x66)
    assert command(5, 0)[1] == 0
    assert command(3, 0, 0x10, 0, 0)[3:] == [0x55, 0x66]
    assert command(0x0B, 0, 0x10, 0, 0, 0)[4:] == [0x55, 0x66]
    assert command(0x9F, *[0] * 9)[1:] == boards.part("fm25v02")["peripheral"]["id"]
    command(0xB9)
    assert f.state == "sleep"
    with pytest.raises(SunsealError, match="op-code 0x42"):
        command(0x42)


def exchange(node: Bench, *sent: int) -> list[int]:
    """Have the program clock bytes over SPI; return what came back."""
    if node.machine.pc != node.machine.address("ready"):
        node.run("ready", within="1s")
    node.machine.write("out", bytes(sent))
    node.machine.write("length", bytes([len(sent)]))
    node.run("ready", within="100ms")
    return list(node.machine.read("in")[: len(sent)])


@pytest.mark.parametrize("board", SPI)
def test_programs_reach_devices_on_spi(built: Built, board: str) -> None:
    class Inverts:
        """Gives the complement of the byte before; counts selections."""

        def __init__(self) -> None:
            self.last, self.selected, self.deselected = 0, 0, 0

        def select(self) -> None:
            self.last, self.selected = 0, self.selected + 1

        def deselect(self) -> None:
            self.deselected += 1

        def transfer(self, mosi: int) -> int:
            back, self.last = ~self.last & 0xFF, mosi
            return back

    serial, pin, _ = SPI[board]
    node = Bench(board, built(board, "on_spi.c"))
    mine = node.spi(pin, Inverts(), serial=serial)
    assert exchange(node, 0x12, 0x80, 0xFF) == [0xFF, 0xED, 0x7F]
    assert exchange(node, 0x01) == [0xFF]
    assert (mine.selected, mine.deselected) == (2, 2)

    node = Bench(board, built(board, "on_spi.c"))
    fram = node.spi(pin, "fm25v02", serial=serial, image=b"\x5a")
    exchange(node, 6)
    exchange(node, 2, 0x12, 0x34, 0xAB, 0xCD)
    assert fram.memory[0x1234:0x1236] == b"\xab\xcd"
    assert exchange(node, 3, 0x12, 0x35, 0, 0)[3:] == [0xCD, 0]
    assert exchange(node, 3, 0, 0, 0)[3:] == [0x5A]
    assert not node.machine.lints()


def test_snapshots_take_devices_along(built: Built) -> None:
    node = Bench(FR, built(FR))
    mine = node.i2c(0x20, Notes())
    node.run("ready", within="1s")
    before = node.machine.snapshot()
    play(node, [(0x20, b"\x03\x99", 0)])
    assert mine.memory[3] == 0x99
    node.machine.restore(before)
    assert (mine.memory[3], mine.heard) == (3, [])

    class Unkept:
        def __init__(self) -> None:
            self.held = lambda: None

    node.i2c(0x21, Unkept())
    with pytest.raises(SunsealError, match="give it `save"):
        node.machine.snapshot()


def test_what_ones_own_device_does_wrong_ends_the_run(built: Built) -> None:
    class Wrong(Notes):
        def read(self) -> int:
            return 256

    class Raises(Notes):
        def write(self, byte: int) -> bool:
            raise ValueError(f"no {byte} here")

    class Asks(Notes):
        machine: Machine

        def start(self, read: bool) -> None:
            self.machine.read_int("count")

    for device, kind, sentence in (
        (Wrong(), TypeError, "read of wrong@0x20 returned 256; a byte, 0 to 255"),
        (Raises(), ValueError, "no 7 here"),
        (Asks(), EngineError, "cannot use a machine"),
    ):
        node = Bench(FR, built(FR))
        node.i2c(0x20, device)
        if isinstance(device, Asks):
            device.machine = node.machine
        with pytest.raises(kind, match=sentence):
            play(node, [(0x20, b"\x07", 1)])


def test_the_command_connects_devices_and_prices_them(built: Built, sunseal: Cli, tmp_path: Path) -> None:
    warm = tmp_path / "warm.csv"
    warm.write_text("time_s,temperature_c\n0,20\n10,30\n", encoding="ascii")
    more = ("--i2c", f"0x48=tmp102:{warm}", "--i2c", "eusci_b0:0x48=tmp102:-5C", "--spi", "eusci_b3:P6.7=fm25v02")
    done = sunseal("run", built(FR), "--board", FR, "--for", "20ms", *more, "--json")
    answer = json.loads(done.out)
    assert done.status == 0
    assert set(answer["device_energy_j"]) == {"tmp102@0x48", "tmp102@0x48 on eusci_b0", "fm25v02@P6.7"}
    assert answer["device_energy_j"]["fm25v02@P6.7"] == pytest.approx(90e-6 * 3.0 * 0.02, rel=1e-3)
    done = sunseal("run", built(FR), "--board", FR, "--for", "20ms", "--i2c", "0x48=tmp102")
    assert "tmp102@0x48: 420 nJ" in done.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--i2c", "0x48=tmp102", "--i2c", "0x48=tmp102"], "cannot have I2C address 0x48"),
        (["--i2c", "0x50=tmp102"], "a tmp102 answers at 0x48, 0x49, 0x4a, 0x4b, not at 0x50"),
        (["--i2c", "eusci_a0:0x48=tmp102"], "`eusci_a0` speaks no I2C"),
        (["--i2c", "0x48=tmp103"], "tmp102"),
        (["--i2c", "0x48"], "is not [SERIAL:]ADDRESS=DEVICE"),
        (["--i2c", "hot=tmp102"], "is no I2C address"),
        (["--i2c", "0x48=tmp102:warm"], "is not a number in C"),
        (["--i2c", "0x48=tmp102:height=1"], "height"),
        (["--i2c", "0x48=fm25v02"], "`fm25v02` speaks SPI, not I2C"),
        (["--i2c", "0x53=adxl345:int1=P99.1"], "P99.1"),
        (["--i2c", "0x50=mb85rc256v", "--vcc", "2.2V"], "takes a supply of 2.7 to 5.5 V"),
        (["--spi", "P6.7=fm25v02"], "name the interface"),
        (["--spi", "eusci_b1:P5.3=fm25v02"], "P5.3 selects the radio already"),
        (["--spi", "eusci_b3:P6.7=fm25v02", "--spi", "eusci_b1:P6.7=fm25v02"], "P6.7 selects fm25v02@P6.7 already"),
        (["--spi", "eusci_b1:P5.99=fm25v02"], "P5.99"),
        (["--i2c", "0x48=tmp102:gone.csv"], "gone.csv"),
    ],
)
def test_what_cannot_be_on_a_bus_is_refused(built: Built, sunseal: Cli, args: list[str], sentence: str) -> None:
    done = sunseal("run", built(FR), "--board", FR, "--for", "1ms", *args)
    assert done.status == 2
    assert sentence in " ".join(done.err.split())


def test_a_file_of_nodes_has_devices_too(built: Built, tmp_path: Path) -> None:
    elf = built(FR)
    text = f'[[node]]\nname = "one"\nboard = "{FR}"\nelf = "{elf}"\ni2c = ["0x48=tmp102:30C"]\n'
    (tmp_path / "net.toml").write_text(text, encoding="ascii")
    net = network.load(tmp_path / "net.toml")
    assert list(net.nodes["one"].machine.devices) == ["tmp102@0x48"]
    (tmp_path / "net.toml").write_text(text.replace("0x48=tmp102:30C", "0x48"), encoding="ascii")
    with pytest.raises(SunsealError, match="ADDRESS=DEVICE"):
        network.load(tmp_path / "net.toml")


def test_a_memory_of_ones_own_extends_one_of_the_package(built: Built, tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "sunseal" / "parts"
    folder.mkdir(parents=True)
    own = 'name = "small"\nextends = "mb85rc256v"\ntitle = "ours"\n[peripheral]\nbytes = 256\naddresses = [0x51]\n'
    (folder / "small.toml").write_text(own, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    node = Bench(FR, built(FR))
    assert len(node.i2c(0x51, "small").memory) == 256


def test_a_device_drives_pins_in_its_own_time(built: Built) -> None:
    class Clock:
        def __init__(self) -> None:
            self.next_s: float | None = 1e-3
            self.pins = {"P1.3": False}
            self.state, self.current_a = "low", {"low": 1e-3, "high": 2e-3}

        def event(self) -> None:
            assert self.next_s is not None
            self.next_s = self.next_s + 1e-3 if self.next_s < 9.5e-3 else None
            self.pins = {"P1.3": not self.pins["P1.3"]}
            self.state = "high" if self.pins["P1.3"] else "low"

    node = Bench(FR, built(FR))
    node.i2c(0x20, Clock())
    seen = []
    for _ in range(9):
        node.run(within=1e-3)
        seen.append(node.machine.pin("P1.3"))
    assert seen[:8] == [i % 2 == 1 for i in range(8)] or seen[:8] == [i % 2 == 0 for i in range(8)]
    assert node.machine.device_energy_j["clock@0x20"] == pytest.approx(1.5e-3 * 3.0 * node.time_s, rel=0.15)

    class Stuck(Clock):
        def event(self) -> None:
            pass

    node = Bench(FR, built(FR))
    node.i2c(0x20, Stuck())
    with pytest.raises(EngineError, match="event left next_s where it was"):
        node.run(within=5e-3)


FED: dict[str, Any] = {
    "name": "fed",
    "board": FR,
    "radio": "none",
    "duration_s": 1.0,
    "supply": {"capacitor": "capxx-hf-0f1", "initial_v": 3.0, "output": "direct"},
    "output": {"symbols": ["sampled", "sensed"]},
}


def last(played: Any) -> tuple[int, float]:
    """Return what the program has sampled and sensed last, in steps and in degrees Celsius."""
    bytes_ = {name: bytes.fromhex(held) for name, held in played.record["symbols"].items()}
    return (
        int.from_bytes(bytes_["sampled"], "little"),
        int.from_bytes(bytes_["sensed"], "little", signed=True) / 256,
    )


def test_a_scenario_has_voltages_and_devices(built: Built, tmp_path: Path) -> None:
    firmware = str(built(FR, "at_its_inputs.c"))
    tables = {**FED, "firmware": firmware, "adc": {"4": 1.5}, "i2c": ["0x48=tmp102:21.5C"]}
    played = simulate(tables)
    sampled, sensed_c = last(played)
    assert sampled == pytest.approx(1.5 / 3.0 * 4096, rel=0.02) and sensed_c == 21.5
    # At 4 Hz it draws 7 uA, from the rail of 3 V.
    own_j = played.energy()["by_component_j"]["tmp102@0x48"]
    assert own_j == pytest.approx(7e-6 * 3.0 * 1.0, rel=0.05)
    alone = simulate({**tables, "i2c": [], "duration_s": 0.01}, overrides={"i2c": None})
    assert "tmp102@0x48" not in alone.energy()["by_component_j"]
    assert "SBOS397" not in str(played.cite()) and str(played.cite())

    (tmp_path / "volts.csv").write_text("time_s,volts\n0,0\n2,3\n", encoding="ascii")
    (tmp_path / "warm.csv").write_text("0,10\n2,30\n", encoding="ascii")
    lines = [f"{key} = {json.dumps(FED[key])}" for key in ("name", "board", "radio", "duration_s")]
    lines += [f'firmware = "{firmware}"', 'i2c = ["0x48=tmp102:warm.csv"]', '[adc]\n4 = "volts.csv"']
    lines += ['[supply]\ncapacitor = "capxx-hf-0f1"\ninitial_v = 3.0\noutput = "direct"']
    lines += ['[output]\nsymbols = ["sampled", "sensed"]']
    (tmp_path / "day.toml").write_text("\n".join(lines), encoding="ascii")
    for overrides in ({}, {"seed": 2}):
        sampled, sensed_c = last(simulate(tmp_path / "day.toml", overrides=overrides))
        # Of its conversions, four a second and 26 ms behind, the fourth was the last.
        assert sampled == pytest.approx(1.5 / 3.0 * 4096, rel=0.02) and sensed_c == pytest.approx(17.8, abs=0.15)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "A4 has no voltage; connect one to it: `--adc 4=1.2V`, `4 = 1.2` in [adc] of a scenario"),
        ({"adc": {"3": 1.0}}, "adc.3 stands at the store's voltage on msp430fr5994-launchpad"),
        ({"adc": {"4": "gone.csv"}}, "adc.4: gone.csv cannot be read"),
        ({"adc": {"4": "1.2V"}}, 'adc.4 is "1.2V"; write volts as a number'),
        ({"adc": {"4": 1.0}, "i2c": ["0x48=tmp102", "0x48=tmp102"]}, "tmp102@0x48 has it"),
        ({"adc": {"4": 1.0}, "i2c": ["0x48=tmp10"]}, "unknown device `tmp10`"),
        ({"adc": {"4": 1.0}, "i2c": ["0x48=tmp102"], "power": {"vcc_v": 3.7}}, "3.6 V"),
    ],
)
def test_what_a_scenario_cannot_have_at_its_inputs_is_a_sentence(
    built: Built, changed: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((SunsealError, EngineError)) as raised:
        simulate({**FED, "firmware": str(built(FR, "at_its_inputs.c")), **changed})
    assert sentence in str(raised.value)


def test_a_run_goes_on_with_its_devices_as_they_were(built: Built, tmp_path: Path) -> None:
    tables = {**FED, "firmware": str(built(FR, "at_its_inputs.c")), "adc": {"4": 1.5}, "i2c": ["0x48=tmp102:21.5C"]}
    kept = simulation.Checkpoint(tmp_path / "kept", every_s=0.0)
    scenario = _engine.Scenario.from_json(json.dumps(tables))
    whole = simulation.play(scenario)

    def stop(at_s: float, *_: object) -> None:
        if at_s > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation.play(scenario, stop, kept)
    again = simulation.play(scenario, None, dataclasses.replace(kept, resume=True))
    assert again.record == whole.record
    other = _engine.Scenario.from_json(json.dumps({**tables, "adc": {"4": 1.6}}))
    with pytest.raises(EngineError, match="it is of another scenario"):
        simulation.play(other, None, dataclasses.replace(kept, resume=True))


def test_a_program_is_fed_with_devices_and_voltages(built: Built, sunseal: Cli, tmp_path: Path) -> None:
    (tmp_path / "store.toml").write_text(
        f'name = "fed"\nboard = "{FR}"\nradio = "none"\nduration_s = 0.2\n[supply]\ncapacitor = "capxx-hf-0f1"\n'
        'initial_v = 3.0\noutput = "direct"\n',
        encoding="ascii",
    )
    asked = ("run", built(FR, "at_its_inputs.c"), "--supply", tmp_path / "store.toml")
    # Neither `firmware` in the scenario nor `--board` is needed.
    done = sunseal(*asked, "--adc", "4=1.5V", "--i2c", "0x48=tmp102:21.5C", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["board"] == FR and told["energy"]["by_component_j"]["tmp102@0x48"] > 0
    without = sunseal(*asked)
    assert without.status == 2 and "A4 has no voltage" in without.err


def test_a_chip_without_a_master_says_so() -> None:
    with pytest.raises(SunsealError, match="msp430f1611 has no I2C master here, so tmp102 has no bus to be on"):
        Machine("telosb").i2c(0x48, "tmp102")
