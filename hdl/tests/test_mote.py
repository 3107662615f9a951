# SPDX-License-Identifier: MIT OR Apache-2.0
"""The coprocessor on its buses beside a simulated MICA2 that runs the firmware's driver."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from bench import CIPHERS, ERR_ENGINE, goes_on_as_before, messages, tools_or_skip

from sunseal import Bench, Machine, _engine, curve
from sunseal.catalog import boards, coprocessor
from sunseal.errors import MissingToolError, SunsealError
from sunseal.loop import simulation
from sunseal.measurement import measuring
from sunseal.papers import base, offload, published

UP5K, SPARTAN3E, FR5994 = "mica2-fpga-up5k", "mica2-fpga-spartan3e", "msp430fr5994-fpga-up5k"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    with tools_or_skip():
        for board in (UP5K, SPARTAN3E):
            coprocessor.ready(board, ())
            program(board, "aes128", "parallel")


def program(board: str, cipher: str, bus: str) -> bytes:
    chosen = boards.variant(("aes=fpga", f"bus={bus}"), board)
    return boards.firmware_path(board, chosen, f"bench-{cipher}-encrypt").read_bytes()


def run(board: str, cipher: str, bus: str, key: bytes, data: bytes, **wires: str) -> _engine.Counts:
    """Encrypt on the mote; `wires` are keys of the board's [[part]]."""
    switches = (("coprocessor.bus", bus), *((f"coprocessor.{k}", v) for k, v in wires.items()))
    coprocessor.ready(board, switches)
    return _engine.run(
        str(boards.board_path(board)),
        str(boards.home() / "data" / "devices" / "atmega128l.toml"),
        program(board, cipher, bus),
        None,
        key + data,
        len(data),
        measuring.CYCLES_MAX,
        list(switches),
        None,
    )


@pytest.mark.parametrize("bus", ["parallel", "spi", "uart"])
@pytest.mark.parametrize("cipher", CIPHERS)
def test_mote_gets_the_vectors_over_the_bus(cipher: str, bus: str) -> None:
    checked = 0
    for key, plaintext, ciphertext in messages(cipher)[:12]:
        counts = run(UP5K, cipher, bus, key, plaintext)
        assert (counts.status, counts.output.hex()) == (0, ciphertext.hex())
        checked += 1
    assert checked >= 3


def test_mote_gets_the_vectors_from_the_spartan3e() -> None:
    for cipher in CIPHERS:
        key, plaintext, ciphertext = messages(cipher)[0]
        counts = run(SPARTAN3E, cipher, "parallel", key, plaintext)
        assert (counts.status, counts.output.hex()) == (0, ciphertext.hex())


@pytest.mark.parametrize("seed", range(24))
def test_any_phase_and_ratio_of_the_clocks_gives_the_vectors(seed: int) -> None:
    rng = random.Random(seed)
    cipher = rng.choice(sorted(CIPHERS))
    key, plaintext, ciphertext = rng.choice(messages(cipher))
    bus = rng.choice(["parallel", "spi"])
    clock = rng.uniform(14.75, 27.0)
    counts = run(UP5K, cipher, bus, key, plaintext, clock_MHz=f"{clock:.6f}", phase=f"{rng.random():.9f}")
    assert (counts.status, counts.output.hex()) == (0, ciphertext.hex()), (bus, clock)


@pytest.mark.parametrize("bus", ["parallel", "spi", "uart"])
def test_fpga_that_is_off_ends_in_a_status(bus: str) -> None:
    # Its supply hangs on a pin that nobody drives.
    key, plaintext, _ = messages("aes128")[0]
    m = Machine(UP5K, program(UP5K, "aes128", bus), timing={"coprocessor.bus": bus, "coprocessor.power": "PA7"})
    feed(m, key + plaintext)
    assert m.run().kind == "halted"
    assert int.from_bytes(m.read("bench_status", 2), "little", signed=True) == ERR_ENGINE


def test_clock_too_slow_for_the_bus_is_refused_with_the_figure() -> None:
    key, plaintext, _ = messages("aes128")[0]
    with pytest.raises(_engine.EngineError, match=r"11 MHz is too slow for the bus.*at least 14\.75 MHz"):
        run(UP5K, "aes128", "parallel", key, plaintext, clock_MHz="11")
    with pytest.raises(_engine.EngineError, match=r"is above the 27 MHz"):
        run(UP5K, "aes128", "parallel", key, plaintext, clock_MHz="33")


def test_toggles_that_come_too_fast_are_told_with_the_figure() -> None:
    # The board says that its driver reads late, which it does not: the toggles themselves tell.
    key, plaintext, _ = messages("aes128")[0]
    with pytest.raises(_engine.EngineError, match=r"toggled 2\.\d\d clocks .* at least 7\.37 MHz instead of 5\.00"):
        run(UP5K, "aes128", "parallel", key, plaintext, clock_MHz="5", read_cycles="100")


@pytest.mark.parametrize(
    ("wires", "sentence"),
    [
        ({"clock_MHz": "5", "read_cycles": "100"}, r"toggled 2\.\d\d clocks .* at least 7\.37 MHz instead of 5\.00"),
        (
            {"bus": "spi", "clock_MHz": "2.2", "sck_cycles": "100"},
            r"lowered SCK 0\.\d\d clocks .* SPI needs 1, so a clock of at least 3\.69 MHz instead of 2\.20",
        ),
        (
            {"bus": "spi", "clock_MHz": "1.2", "sck_cycles": "100"},
            r"raised SCK 2\.\d\d clocks .* SPI needs 4, so a clock of at least 2\.11 MHz instead of 1\.20",
        ),
        (
            {"bus": "uart", "baud": "500000"},
            r"sends at 460800 baud and the coprocessor's UART takes 500000, 8\.5 % apart; they may be 4\.6 % apart",
        ),
    ],
)
def test_every_run_is_told_of_a_broken_contract(wires: dict[str, str], sentence: str) -> None:
    key, plaintext, _ = messages("aes128")[0]
    image = program(UP5K, "aes128", wires.get("bus", "parallel"))
    m = Machine(UP5K, image, timing={f"coprocessor.{k}": v for k, v in wires.items()})
    kept = m.snapshot()
    feed(m, key + plaintext)
    with pytest.raises(_engine.EngineError, match=sentence):
        m.run()
    with pytest.raises(_engine.EngineError, match=sentence):
        m.engine.counts()
    # Back in front of it, nothing is broken yet.
    m.restore(kept)
    assert m.run(cycles=100).kind == "cycles"
    with pytest.raises(_engine.EngineError, match=sentence):
        run(UP5K, "aes128", key=key, data=plaintext, **{"bus": "parallel", **wires})


def test_a_rate_within_the_uarts_reach_is_told_nothing() -> None:
    key, plaintext, ciphertext = messages("aes128")[0]
    for baud in ("450000", "470000"):
        counts = run(UP5K, "aes128", "uart", key, plaintext, baud=baud)
        assert (counts.status, counts.output) == (0, ciphertext)


@pytest.mark.parametrize(
    ("wires", "sentence"),
    [
        ({"toggle": "PX9"}, "toggle: `PX9` is no pin"),
        ({"bus": "i2c"}, "`i2c` is none; write parallel, spi or uart"),
        ({"speed": "1"}, "speed: is no wire of a coprocessor"),
    ],
)
def test_wrong_wires_are_told(wires: dict[str, str], sentence: str) -> None:
    device = str(boards.home() / "data" / "devices" / "atmega128l.toml")
    switches = [(f"coprocessor.{k}", v) for k, v in wires.items()]
    with pytest.raises(_engine.EngineError, match=sentence):
        _engine.Machine(
            device,
            str(boards.board_path(UP5K)),
            None,
            switches,
            None,
            (0.0, 0.0),
        )


@pytest.mark.parametrize("byte", [1, 5, 17, 24, 34])
def test_next_run_starts_clean_where_a_brown_out_cut_the_bus(byte: int) -> None:
    key, plaintext, ciphertext = messages("aes128")[0]
    m = within_transfer(key + plaintext, byte)
    m.power_cut()
    m.power_on()
    feed(m, key + plaintext)
    assert finish(m, len(plaintext)) == ciphertext


@pytest.mark.parametrize("byte", [3, 18, 25])
def test_snapshot_in_a_transfer_goes_on_as_the_run_did(byte: int) -> None:
    key, plaintext, ciphertext = messages("aes128")[0]
    m = within_transfer(key + plaintext, byte)
    goes_on_as_before(m, finish, ciphertext)


def feed(m: Machine, data: bytes) -> None:
    m.write("bench_input", data)
    m.write("bench_input_len", len(data).to_bytes(2, "little"))


def within_transfer(data: bytes, toggles: int) -> Machine:
    """Run a mote into the encryption of a block, to one of the 35 toggles that it takes on the parallel bus."""
    m = Machine(UP5K, program(UP5K, "aes128", "parallel"))
    feed(m, data)
    m.run(pin="PE7")
    for _ in range(toggles):
        assert m.run(pin="PB4").kind == "pin"
    return m


def finish(m: Machine, size: int) -> bytes:
    assert m.run().kind == "halted"
    assert m.read("bench_status", 2) == bytes(2)
    return m.read("bench_output", size)


@pytest.mark.parametrize("bus", ["parallel", "spi"])
def test_counts_are_the_same_however_often_they_are_looked_at(bus: str) -> None:
    key, plaintext, ciphertext = messages("aes128")[0]

    def counted(step_s: float | None) -> dict[str, int]:
        m = Machine(UP5K, program(UP5K, "aes128", bus), timing={"coprocessor.bus": bus})
        feed(m, key + 8 * plaintext)
        m.run(pin="PE7")
        while step_s is not None and m.run(time_s=step_s).kind == "time":
            m.engine.counts()
        assert finish(m, len(plaintext)) == ciphertext
        return dict(m.engine.counts().of_part("coprocessor")[1])

    whole = counted(None)
    assert whole["coprocessor.toggle"] > 10_000
    for step_s in (1.1e-6, 3.7e-6, 13e-6):
        assert counted(step_s) == whole


def test_waveform_has_both_sides_in_one_file(tmp_path: Path) -> None:
    key, plaintext, ciphertext = messages("aes128")[0]
    m = Machine(UP5K, program(UP5K, "aes128", "parallel"))
    feed(m, key + plaintext)
    m.run(pin="PE7")
    m.engine.record(str(tmp_path / "both.vcd"), ["PB4"])
    assert finish(m, len(plaintext)) == ciphertext
    m.engine.recorded()
    names, changes, now = {}, {}, 0
    for line in (tmp_path / "both.vcd").read_text().splitlines():
        words = line.split()
        if line.startswith("$var"):
            names[words[3]] = words[4]
        elif line.startswith("#"):
            now = int(line[1:])
        elif len(words) == 2 and line.startswith("b"):
            changes.setdefault(names[words[1]], []).append((now, int(words[0][1:], 2)))
        elif len(line) == 2:
            changes.setdefault(names[line[1]], []).append((now, int(line[0])))
    # The mote's toggles, and behind each the coprocessor's flop that follows it, within two of its clocks.
    toggles, follows = (changes[n][1:] for n in ("PB4", "bus.toggle_q"))
    seen = [at for at, value in follows if value & 1 == 1 - (value >> 1 & 1)]
    assert len(toggles) == len(seen) == 35
    assert all(0 < after - at < 2e12 / 24e6 for (at, _), after in zip(toggles, seen, strict=True))
    # AES went through its eleven rounds, and round 0 again.
    assert [value for _, value in changes["core.aes.round_q"][1:]] == [*range(1, 12), 0]


def test_without_verilator_the_part_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if Path("/usr/bin/verilator").exists():
        pytest.skip("Verilator is installed on this machine")
    coprocessor._built.cache_clear()
    with pytest.raises(SunsealError, match=r"Verilator is not here, .* --for hdl"):
        coprocessor.ready(UP5K, ())
    assert coprocessor.tool()[0] is False
    coprocessor._built.cache_clear()
    # Without the package's help the engine says what to do.
    monkeypatch.setenv(coprocessor.MODELS, str(tmp_path))
    monkeypatch.setattr(coprocessor, "GIVEN", str(tmp_path))
    with pytest.raises(
        _engine.EngineError, match=r"`parallel-rounds-gated` is not built; run `python3 hdl/model/build"
    ):
        Machine(UP5K)


def test_measure_prices_mote_and_coprocessor_apart() -> None:
    m = measuring.measure("aes128-encrypt", board=UP5K, variant=("aes=fpga",))
    assert m.result_valid is True
    own = m.coprocessor
    assert own is not None
    assert m.energy_j == pytest.approx(own["mote_j"] + sum(own["rails_j"].values()))
    assert own["energy_low_j"] < own["energy_j"] < own["energy_high_j"]
    # Of 24 MHz its flops get what 16 blocks take, and six clocks or so for each of the bus's 515 edges.
    assert 16 * 222 + 515 * 5 < own["clocks"] < 16 * 222 + 515 * 7 < m.time_s * 24e6 / 2
    assert own["toggles"] > own["clocks"]
    with pytest.raises(SunsealError, match="has a coprocessor with a clock of its own"):
        measuring.measure("aes128-encrypt", board=UP5K, variant=("aes=fpga",), freq_hz=4_000_000)


@pytest.mark.parametrize(
    ("cipher", "clocks", "goal_j"), [("aes128", 222, 50e-9), ("xtea", 530, 40e-9), ("present128", 112, 20e-9)]
)
def test_core_at_work_keeps_to_its_energy(cipher: str, clocks: int, goal_j: float) -> None:
    # Of 16 bytes, whoever feeds it: its clocks with the part at rest, and all toggles from the last byte to the answer.
    m = Machine(UP5K, program(UP5K, cipher, "parallel"))
    feed(m, offload.KEY + offload._text(16))
    m.run(pin="PE7")
    for _ in range(17 if CIPHERS[cipher] == 16 else 18):
        assert m.run(pin="PB4").kind == "pin"
    m.engine.set_register("PC", m.address("sunseal_halt"))
    before = coprocessor.price(UP5K, m.engine.counts())
    m.run(time_s=1e-4)
    after = coprocessor.price(UP5K, m.engine.counts())
    assert before is not None
    assert after is not None
    other_clocks = after["clocks"] - before["clocks"] - clocks
    assert 0 < other_clocks < 20
    rested_j = offload.at_rest_w(UP5K, "core") * (1e-4 - clocks / 24e6)
    whole_j = after["rails_j"]["core"] - before["rails_j"]["core"]
    assert goal_j / 6 < whole_j - rested_j - other_clocks * 42.75e-12 * 1.219 < goal_j


def test_clock_stands_still_between_the_edges_of_the_spi() -> None:
    own = measuring.measure("aes128-encrypt", board=UP5K, variant=("aes=fpga", "bus=spi")).coprocessor
    assert own is not None
    # 515 bytes of 16 edges, four clocks or so each, and 16 blocks; selected throughout, 24 MHz would be 230,000.
    edges = 515 * 16
    assert 3 * edges + 16 * 222 < own["clocks"] < 5 * edges + 16 * 222


@pytest.mark.parametrize(
    ("cipher", "board", "bus"),
    [
        ("aes128", UP5K, "parallel"),
        ("xtea", UP5K, "spi"),
        ("present128", UP5K, "uart"),
        ("aes128", SPARTAN3E, "parallel"),
    ],
)
def test_base_station_gets_its_blocks_from_the_fpga(cipher: str, board: str, bus: str) -> None:
    key, plaintext, ciphertext = messages(cipher)[0]
    place = base.Station(cipher, board, {"aes": "fpga", "bus": bus})
    for packet_bytes, window in ((8, 0), (16, 2)):
        sent = place.send(base.Text(key, plaintext[:32]), packet_bytes, window)
        assert sent.valid
        assert sent.result == ciphertext[:32]
        assert 0 < sent.node_radio_j < sent.node_j
        # It was on for this alone.
        assert place.node.pin("PB5") is False


def test_base_station_is_told_that_the_fpga_does_not_answer() -> None:
    # Its supply hangs on a pin that nobody drives.
    key, plaintext, _ = messages("aes128")[0]
    place = base.Station("aes128", UP5K, wires={"coprocessor.power": "PA7"})
    for packet_bytes, window in ((8, 0), (16, 1)):
        with pytest.raises(base.NoAnswerError, match="the node's cipher failed with status -46"):
            place.send(base.Text(key, plaintext[:16]), packet_bytes, window)


def test_report_of_2009_has_every_row_of_its_hardware() -> None:
    tables = {i: published.reproduce(i) for i in published.ids() if i.startswith("rizvi2009/")}
    rows = {(i, row.label): row for i, found in tables.items() for row in found.rows}
    assert {row.verdict for row in rows.values()} <= {"agrees", "beaten", "differs", "misprint", "not printed"}
    assert all(row.ours is not None for row in rows.values())
    shares = [row.ours or 0 for (i, _), row in rows.items() if i == "rizvi2009/figure-10"]
    assert len(shares) == 18
    for k in range(0, 18, 3):
        assert sum(shares[k : k + 3]) == pytest.approx(100)
    suspicion = [row.verdict for (_, label), row in rows.items() if label.startswith("suspicion")]
    assert suspicion == ["agrees", "differs", "differs"]


def test_all_supplies_take_more_than_the_core_and_a_pause_pays_for_a_boot() -> None:
    for board in (UP5K, SPARTAN3E):
        cost = offload.message("aes128", 64, board, "parallel")
        assert cost.mote_j < cost.energy_j("core") < cost.energy_j()
        phases = offload.phases("aes128", board)
        whole = offload.message("aes128", 16, board, "parallel")
        assert sum(c.cycles for c in phases.values()) == pytest.approx(whole.cycles, abs=8)
        assert sum(c.rails_j["core"] for c in phases.values()) == pytest.approx(whole.rails_j["core"], rel=0.02)
        # Where its clock runs while it waits, that is priced; the UP5K's stands still.
        if board == SPARTAN3E:
            assert offload.idle_w(board) > offload.at_rest_w(board)
        else:
            assert offload.idle_w(board) == pytest.approx(offload.at_rest_w(board))
        # A start is the boot, and the mote that waits for it.
        assert offload.pause_s(board) > offload.boot_j(board) / offload.idle_w(board)


@pytest.mark.parametrize("switched_off", [False, True])
@pytest.mark.parametrize("board", [UP5K, FR5994])
def test_a_period_is_as_long_as_it_was_asked_whatever_the_fpga_does_in_it(board: str, switched_off: bool) -> None:
    supply = {"cell": "two-aa-energizer-e91", "output": "ti-tps7a02"}
    scenario = simulation.duty_scenario(
        "aes128-encrypt", board=board, period_s=30, duration_s=105, switched_off=switched_off, supply=supply
    )
    assert simulation.duty(simulation.play(scenario)).operations == 4  # at 0, 30, 60 and 90 s


def test_curve_and_bench_count_the_coprocessor() -> None:
    variant = ("aes=fpga",)
    points = curve("aes128-encrypt", board=UP5K, variant=variant, voltages_v=(2.7, 3.0))
    assert [(p["vcc_v"], p["freq_hz"]) for p in points] == [(2.7, 7_372_800), (3.0, 7_372_800)]
    m = measuring.measure("aes128-encrypt", board=UP5K, variant=variant, vcc_v=3.0)
    own = m.coprocessor
    assert own is not None
    assert own["energy_j"] > 0
    assert points[1]["energy_j"] == pytest.approx(own["mote_j"] + own["energy_j"])
    assert points[1]["energy_high_j"] == pytest.approx(m.uncertainty["energy_high_j"])
    with pytest.raises(_engine.EngineError, match="below the lowest supply voltage"):
        curve("aes128-encrypt", board=UP5K, variant=variant, voltages_v=(2.0,))
    elf = boards.firmware_path(UP5K, {"aes": "fpga", "bus": "parallel"}, "bench-aes128-encrypt")
    bench = Bench(UP5K, elf)
    key, plaintext, _ = messages("aes128")[0]
    feed(bench.machine, key + plaintext)
    assert bench.run().why == "halted"
    price = coprocessor.price(UP5K, bench.machine.engine.counts())
    assert price is not None
    # From reset on: its boot too.
    assert price["energy_j"] > offload.boot_j(UP5K) > 0
    assert bench.energy_j > price["energy_j"]
    window = ("main", "sunseal_halt")
    (own_point,) = curve(board=UP5K, elf=elf, window=window, voltages_v=(3.0,))
    assert own_point["energy_j"] == pytest.approx(
        measuring.measure(board=UP5K, elf=elf, window=window, vcc_v=3.0).energy_j
    )


def test_without_verilator_a_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload, "missing", lambda: "Verilator is not here")
    offload.message.cache_clear()
    found = published.reproduce("rizvi2009/figure-11")
    assert {row.verdict for row in found.rows} == {published.NO_TOOLS}
    assert {row.note.rpartition("; ")[2] for row in found.rows} == {"Verilator is not here"}
    with pytest.raises(MissingToolError):
        offload.message("xtea", 16, UP5K, "spi")
