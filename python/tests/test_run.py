# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal run`: programs that talk, on three instruction sets, and what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal import Bench, EngineError, Machine, SunsealError
from sunseal.machine import waveforms
from sunseal.machine.series import read_levels, read_points
from sunseal.secure import constant_time_matrix as matrix

SOURCE = Path(__file__).parent / "data" / "on_the_bench.c"
Built = Callable[[str], Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    def build(board: str) -> Path:
        isa = next(s for s in matrix.SETS if s.board == board)
        compiler = next(c for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
        return matrix.build(SOURCE, isa, compiler, "-O1", tmp_path_factory.mktemp("bench"))

    return build


FR, AVR, ARM = "msp430fr5994-launchpad", "micaz", "msp432p401r-launchpad"


@pytest.mark.parametrize("board", [FR, AVR])
def test_a_program_is_talked_with(built: Built, board: str) -> None:
    node = Bench(board, built(board))
    assert node.run(until_uart="ready\n", within="1s").why == "uart"
    node.send("xyz")
    node.run(until_uart="xyz", within="1s")
    node.send("q")
    node.run(until_uart="bye", within="1s")
    assert node.text == "ready\nxyzbye\n"[: len(node.text)]
    assert node.energy_j > 0
    assert node.resets == 0


@pytest.mark.parametrize("board", [FR, AVR])
def test_a_terminal_of_another_rate_sees_garbage_and_so_does_the_program(built: Built, board: str) -> None:
    for baud, alike in ((None, True), (9600, True), (9750, True), (4800, False), (115_200, False)):
        node = Bench(board, built(board), baud=baud)
        node.run(within="50ms")
        node.send("xyz" * 10)
        node.run(within="50ms")
        uart = str(node.uart)
        assert node.machine.baud[uart] == pytest.approx(9600, rel=0.03)
        assert (node.text == "ready\n" + "xyz" * 10) == alike
        if alike:
            assert (node.machine.framing_errors[uart], node.machine.lints()) == (0, [])
        elif baud == 115_200:  # a receiver of half the rate meets stop bits by chance
            assert node.machine.framing_errors[uart] > 0
            assert any(lint.startswith("framing error of a UART") for lint in node.machine.lints())


def test_voltages_and_levels_follow_what_is_given(built: Built) -> None:
    node = Bench(AVR, built(AVR))
    node.run(until_uart="ready\n", within="1s")
    vcc_v = node.machine.vcc_v

    def answer(question: str) -> int:
        before = len(node.text)
        node.send(question)
        node.run(until_uart="\n", within="1s")
        return int(node.text[before:])

    node.adc(3, vcc_v / 4)
    assert answer("a") == 256
    now_s = node.time_s
    node.adc(3, [(now_s, 0.0), (now_s + 1.0, vcc_v)])
    node.run(within=now_s + 0.5 - node.time_s)
    assert answer("a") == pytest.approx(512, abs=12)  # the answer's own 4 to 8 ms are on the way
    for level in (True, False):
        node.pin("PD0", level)
        assert answer("p") == int(level)
    node.toggle("PD0", 5.0)
    seen = []
    for _ in range(8):
        node.run(within=0.05)
        seen.append(node.machine.pin("PD0"))
    assert seen.count(True) == 4


def test_a_program_that_reads_a_voltage_is_measured(sunseal: Cli, tmp_path: Path) -> None:
    source = tmp_path / "waits.c"
    # ATmega128: a conversion of channel 3 against AVCC; it waits as many turns as that says.
    source.write_text(
        "#define ADCSRA (*(volatile unsigned char *)0x26)\n"
        "volatile unsigned turns;\n"
        '__attribute__((noinline)) void done(void) { __asm__ volatile(""); }\n'
        "int main(void) {\n"
        "    *(volatile unsigned char *)0x27 = 0x43;\n"
        "    ADCSRA = 0xC7;\n"
        "    while (ADCSRA & 0x40) { }\n"
        "    turns = *(volatile unsigned *)0x24;\n"
        "    for (volatile unsigned i = 0; i < turns; i++) { }\n"
        "    done();\n"
        "    return 0;\n"
        "}\n",
        encoding="ascii",
    )
    isa = next(s for s in matrix.SETS if s.board == AVR)
    compiler = next(c for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
    asked = (matrix.build(source, isa, compiler, "-O1", tmp_path), "--board", AVR, "--from", "main", "--to", "done")
    done = sunseal("measure", *asked)
    assert done.status == 2 and "channel 3 has no voltage" in done.err
    cycles = [json.loads(sunseal("measure", *asked, "--adc", v, "--json").out)["cycles"] for v in ("3=1V", "ADC3=2V")]
    # 2 V and 1 V of 3 V are 341 steps of 1,024 apart.
    assert (cycles[1] - cycles[0]) % 341 == 0 and cycles[1] > cycles[0]
    folded = sunseal("profile", *asked, "--adc", "a3=1V").out
    assert sum(int(line.split()[-1]) for line in folded.splitlines()) == cycles[0]
    verdict = json.loads(sunseal("constant-time", *asked[:3], "--secret", "turns", "--adc", "3=1V", "--json").out)
    assert verdict["covered"]["runs"] == 1 and not any("voltage" in why for why in verdict["why"])
    for wrong, says in (
        (("aes128-encrypt", "--adc", "3=1V"), "`--adc` belongs to a program of yours"),
        ((*asked, "--adc", "3"), "is not CHANNEL=VOLTAGE"),
        ((*asked, "--adc", "300=1V"), "is not CHANNEL=VOLTAGE"),
        ((*asked, "--adc", "3=1V", "--adc", "A3=2V"), "names channel 3 twice"),
    ):
        done = sunseal("measure", *wrong)
        assert (done.status, done.out) == (2, "") and says in " ".join(done.err.split())


def test_an_input_that_is_given_twice_and_what_names_nothing_are_refused(built: Built, sunseal: Cli) -> None:
    for twice, says in (
        (("--adc", "3=1V", "--adc", "A3=2V"), "--adc names channel 3 twice"),
        (("--pin", "PD0=1", "--pin", "PD1=1", "--pin", "PD0=toggle@1Hz"), "--pin names PD0 twice"),
    ):
        done = sunseal("run", built(AVR), "--board", AVR, "--for", "1ms", *twice)
        assert (done.status, done.out) == (2, "") and says in " ".join(done.err.split())
    for wrong, says in (
        (("--until", "0xZZ"), "--until `0xZZ` is no address"),
        (("--power", "none"), "unknown power set `none`"),
    ):
        done = sunseal("run", built(AVR), "--board", AVR, "--for", "1ms", *wrong)
        assert (done.status, done.out) == (2, "") and says in " ".join(done.err.split())
    missed = sunseal("run", built(AVR), "--board", AVR, "--until", "0x1fffe", "--for", "1ms").err
    assert "`0x1fffe` was not reached" in missed
    done = sunseal("measure", "sha1-hash", "--variant", "mpy=16", "--variant", "mpy=32")
    assert done.status == 2 and "--variant names mpy twice: `mpy=16` and `mpy=32`" in " ".join(done.err.split())


def test_semihosting_talks_and_leaves(built: Built, sunseal: Cli) -> None:
    done = sunseal("run", built(ARM), "--board", ARM, "--json")
    answer = json.loads(done.out)
    assert (done.status, answer["ended"]) == (5, "exit")
    assert answer["semihosting"] == "ready\nbye\nby name\n"


def test_resets_too_few_to_be_a_loop_are_told_with_their_cause(sunseal: Cli, tmp_path: Path) -> None:
    source = tmp_path / "dog.c"
    # 32,768 cycles of SMCLK at 1 MHz, and never fed.
    source.write_text("int main(void) { *(volatile unsigned *)0x015C = 0x5A0C; for (;;) { } }\n", encoding="ascii")
    isa = next(s for s in matrix.SETS if s.board == FR)
    compiler = next(c for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
    elf = matrix.build(source, isa, compiler, "-O1", tmp_path)
    done = sunseal("run", elf, "--board", FR, "--for", "200ms")
    assert "6 resets" in done.err
    assert "resets: the last 6 by the watchdog's time-out, before the instruction at main" in done.err
    answer = json.loads(sunseal("run", elf, "--board", FR, "--for", "10ms", "--json").out)
    assert answer["resets"] == 0 and answer["last_reset"] is None


def test_the_command_prints_what_the_program_says(built: Built, sunseal_process: Cli, tmp_path: Path) -> None:
    typed = tmp_path / "typed"
    typed.write_text("hello\nq", encoding="ascii")
    log = tmp_path / "edges.csv"
    done = sunseal_process(
        *("run", built(FR), "--board", FR, "--input", typed, "--until-uart", "bye\n", "--for", "2s"),
        *("--exit", "status", "--pin-log", log),
    )
    assert done.out == "ready\nhello\nbye\n"
    assert log.read_text(encoding="ascii").startswith("time_s,pin,level\n")
    assert done.status == 7
    done = sunseal_process("run", built(FR), "--board", FR, "--input", typed, "--for", "300ms", "--exit", "status")
    assert (done.out, done.status) == ("ready\nhello\nbye\n", 7)


def test_a_missed_end_is_a_no(built: Built, sunseal: Cli) -> None:
    done = sunseal("run", built(FR), "--board", FR, "--until-uart", "never", "--for", "50ms")
    assert done.status == 1
    assert "no UART wrote `never`" in done.err
    assert "ready" in done.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--adc", "3=warm"], "is not a number with a unit"),
        (["--adc", "three=1V"], "is not CHANNEL=VOLTAGE"),
        (["--pin", "P1.3=maybe"], "write 0, 1, toggle@1Hz, a .csv or a .vcd file"),
        (["--pin", "P99.1=1"], "`P99.1` is no pin of the msp430fr5994, which has P1.0 to P8.7 and PJ"),
        (["--pin", "P9.1=1"], "`P9.1` is no pin of the msp430fr5994"),
        (["--pin", "PB0=1"], "`PB0` is no pin of the msp430fr5994"),
        (["--uart", "usart7"], "has no serial interface `usart7`; it has eusci_a0"),
        (["--baud", "0"], "types nothing"),
        (["--until", "nowhere", "--for", "1s"], "nowhere"),
        (["--input", "missing.txt"], "cannot be read"),
    ],
)
def test_what_makes_no_bench_is_refused(built: Built, sunseal: Cli, args: list[str], sentence: str) -> None:
    done = sunseal("run", built(FR), "--board", FR, *args)
    assert done.status == 2
    assert sentence in done.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,1\n0.5,\n", "line 2 is not a time"),
        ("time,volts\n0,1\n0,2\n", "line 3 does not come after"),
        ("0,nan\n", "no finite number"),
        ("time,volts\n", "holds no points"),
    ],
)
def test_a_file_with_a_gap_is_refused_by_its_line(
    built: Built, sunseal: Cli, tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "volts.csv"
    path.write_text(text, encoding="ascii")
    done = sunseal("run", built(AVR), "--board", AVR, "--adc", f"3={path}", "--for", "1ms")
    assert done.status == 2
    assert sentence in done.err


def test_points_are_read_from_what_a_spreadsheet_writes_too(tmp_path: Path) -> None:
    path = tmp_path / "volts.csv"
    for text in ("0,1\r\n0.5,2\r\n", "time,volts\r\n0,1\r\n0.5,2\r\n"):
        path.write_text(text, encoding="utf-8-sig", newline="")
        assert read_points(path, "--adc 3") == [(0.0, 1.0), (0.5, 2.0)]
    with pytest.raises(SunsealError, match=r"gone.csv` for --adc 3 cannot be read: No such file or directory$"):
        read_points(tmp_path / "gone.csv", "--adc 3")


DUMP = """$timescale 10 us $end
$scope module top $end
$var wire 1 ! clock $end
$var reg 1 " ready $end
$var wire 8 # bus $end
$upscope $end
$enddefinitions $end
$dumpvars
0!
x"
bz #
$end
#100
1!
1"
b101 #
#250
0"
"""


def test_a_signal_of_a_dump_drives_a_pin(built: Built, sunseal: Cli, tmp_path: Path) -> None:
    dump = tmp_path / "logic.vcd"
    dump.write_text(DUMP)
    assert read_levels(dump, "ready", "P1.3") == [
        (0.0, None),
        (pytest.approx(1e-3), True),
        (pytest.approx(2.5e-3), False),
    ]
    node = Bench(AVR, built(AVR))
    node.pin("PD0", read_levels(dump, "top.ready", "PD0"))
    node.run(until_uart="ready", within="1s")
    node.send("p")
    node.run(until_uart="0\n", within="1s")
    done = sunseal("run", built(AVR), "--board", AVR, "--pin", f"PD0={dump}:clock", "--for", "5ms")
    assert done.status == 0, done.err
    for given, sentence in (
        (f"{dump}", "has several signals, top.clock, top.ready: name one, as `logic.vcd:top.clock`"),
        (f"{dump}:bus", "has no signal `bus` of one bit; it has top.clock, top.ready"),
        (f"{tmp_path}/none.vcd:clock", "cannot be read"),
        (f"{built(AVR)}.vcd:clock", "cannot be read"),
    ):
        refused = sunseal("run", built(AVR), "--board", AVR, "--pin", f"PD0={given}", "--for", "5ms")
        assert refused.status == 2 and sentence in " ".join(refused.err.split())


def test_a_machine_has_the_lines_of_a_bench(built: Built) -> None:
    machine = Machine(AVR, built(AVR))
    line = machine.uart()
    machine.adc(3, [(0.0, 0.0), (1.0, 2.0)])
    machine.run(time_s=0.1)
    assert (line.name, line.read(), line.read()) == ("usart0", b"ready\n", b"")
    line.send("a", at_s=0.5)
    machine.run(time_s=0.6)
    # A ramp of 2 V a second against AVCC of 3 V, read half a second and a byte behind its start.
    assert int(line.read()) == pytest.approx(1024 * 1.0 / 3, abs=3)
    with pytest.raises(SunsealError, match="unknown serial interface `usart7` of atmega128l"):
        machine.uart("usart7")


@pytest.mark.parametrize("board", [FR, AVR, ARM, "nucleo-l476rg"])
def test_a_seed_makes_another_unit(board: str) -> None:
    ram = {AVR: 0x800200, FR: 0x2000}.get(board, 0x2000_0100)
    first, again, second, plain = (Machine(board, seed=seed).read(ram, 64) for seed in (1, 1, 2, 0))
    assert first == again and len({first, second, plain}) == 3
    assert plain == Machine(board).read(ram, 64)


def test_a_fault_of_the_program_ends_the_run_with_its_place(built: Built) -> None:
    node = Bench(ARM, built(ARM))
    node.run(until="main", within="1s")
    node.machine.registers["PC"] = 0x0700_0000
    with pytest.raises(EngineError, match="0x"):
        node.run(within="1s")


def test_a_terminal_program_finds_the_uart_at_a_pseudo_terminal(built: Built) -> None:
    elf = built(FR)
    command = [sys.executable, "-m", "sunseal", "run", str(elf), "--board", FR, "--pty", "--until-uart", "bye\n"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        line = run.stderr.readline()
        port = os.open(line.split("the UART is at ")[1].split(";")[0], os.O_RDWR | os.O_NOCTTY)
        try:
            said = b""
            until = time.monotonic() + 20
            while b"ready\n" not in said and time.monotonic() < until:
                said += os.read(port, 100)
            os.write(port, b"okq")
            while b"bye\n" not in said and time.monotonic() < until:
                said += os.read(port, 100)
            assert run.wait(20) == 0
        finally:
            os.close(port)
        assert said.replace(b"\r", b"") == b"ready\nokbye\n"


def test_a_terminal_program_that_closes_its_end_ends_the_run(built: Built) -> None:
    command = [sys.executable, "-m", "sunseal", "run", str(built(FR)), "--board", FR, "--pty", "--until-uart", "bye\n"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        name = run.stderr.readline().split("the UART is at ")[1].split(";")[0]
        for _ in range(2):  # it may come back within a second
            port = os.open(name, os.O_RDWR | os.O_NOCTTY)
            time.sleep(0.2)
            os.close(port)
            time.sleep(0.1)
        assert run.poll() is None
        said = run.stderr.read()
        assert run.wait(20) == 2, said
    assert said.startswith(f"error: the terminal at {name} was closed and nobody has opened it since")


def test_the_fixture_of_pytest(built: Built, tmp_path: Path) -> None:
    test = tmp_path / "test_boot.py"
    test.write_text(
        "def test_boot(node):\n    node.run(until_uart='ready', within='2s')\n    assert node.energy_j < 3e-3\n",
        encoding="ascii",
    )
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    given = ["--sunseal-elf", str(built(FR)), "--sunseal-board", FR]
    assert subprocess.run([*pytest_run, *given, str(test)], check=False, cwd=tmp_path).returncode == 0
    without = subprocess.run([*pytest_run, str(test)], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert without.returncode == 1
    assert "`node` needs elf" in without.stdout


def test_a_bench_wants_a_board(built: Built) -> None:
    with pytest.raises(SunsealError, match="is no board"):
        Bench("msp430fr5994", built(FR))


def test_a_dump_has_the_pins_and_states_of_the_whole_run(built: Built, sunseal: Cli, tmp_path: Path) -> None:
    dump = tmp_path / "run.vcd"
    typed = tmp_path / "typed"
    typed.write_bytes(b"q")
    done = sunseal(
        "run", built(FR), "--board", FR, "--input", typed, "--until-uart", "bye", "--vcd", dump, "--for", "1s"
    )
    assert done.status == 0, done.err
    text = dump.read_text()
    assert "$enddefinitions" in text and "cpu" in text
    assert waveforms.read(dump).end_ps > 0.1e12, "the run's many slices are one dump"
    refused = sunseal("run", built(FR), "--board", FR, "--vcd", tmp_path / "nowhere/run.vcd")
    assert refused.status == 2 and "nowhere" in refused.err
    assert "belongs to `--vcd`" in sunseal("run", built(FR), "--vcd-pin", "P1.0").err


def test_a_debugger_runs_the_program_on_the_bench(built: Built) -> None:
    """It kills the session by the remote protocol's `k`, without a debugger's program."""
    import socket

    command = [sys.executable, "-m", "sunseal", "run", str(built(FR)), "--board", FR, "--gdb", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        said = served.stderr.readline()
        host, _, port = said.split("waiting on ")[1].split(";")[0].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(b"$?#3f")
            answer = b""
            while not re.search(rb"#..", answer):
                answer += line.recv(64)
            line.sendall(b"+$k#6b")
            while line.recv(64):  # what is left unread when a socket is closed resets it, and the kill is lost
                pass
        told = served.stderr.read()
        assert served.wait(timeout=30) == 0
    assert "the debugger has" in told


def test_what_ends_a_run_cannot_stand_beside_a_debugger(built: Built, sunseal: Cli) -> None:
    for more in (("--for", "1s"), ("--pin", "P1.3=toggle@1Hz"), ("--pty",)):
        done = sunseal("run", built(FR), "--board", FR, "--gdb", "127.0.0.1:0", *more)
        assert done.status == 2 and "cannot stand beside `--gdb`" in done.err, done.err


STORE = """name = "fed"
board = "msp430fr5994-launchpad"
firmware = "none.elf"
duration_s = 60
radio = "none"
[supply]
capacitor = "capxx-hf-0f1"
capacitance_f = 1e-2
initial_v = 3.3
"""


def test_a_program_is_fed_from_a_scenario_s_store(built: Built, sunseal: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "store.toml"
    scenario.write_text(STORE)
    done = sunseal("run", built(FR), "--board", FR, "--supply", scenario, "--for", "20s", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["uart"].startswith("ready") and told["simulated_s"] == pytest.approx(20.0)
    assert told["energy"]["stored_delta_j"] < 0 and "radio" not in told["energy"]["by_component_j"]
    assert "untouched" not in told
    # With the board's own radio, to which the program never speaks: most of the joules are its.
    scenario.write_text(STORE.replace('radio = "none"\n', ""))
    asked = ("run", built(FR), "--board", FR, "--supply", scenario, "--for", "1s")
    idle = json.loads(sunseal(*asked, "--json").out)
    by = idle["energy"]["by_component_j"]
    assert by["radio"] > 0.5 * sum(by.values())
    (said,) = idle["untouched"]
    assert "never spoke to the radio, which stayed idle" in said and 'radio = "none"' in said
    assert "never spoke to the radio" in " ".join(sunseal(*asked).err.split())
    scenario.write_text(STORE.replace("1e-2", "1e-5"))
    cut = json.loads(sunseal("run", built(FR), "--board", FR, "--supply", scenario, "--for", "20s", "--json").out)
    assert (told["brown_outs"], cut["brown_outs"]) == (0, 1)
    for more in (("--until", "main"), ("--pin", "P1.3=1"), ("--gdb", "127.0.0.1:0")):
        refused = sunseal("run", built(FR), "--board", FR, "--supply", scenario, *more)
        assert refused.status == 2 and "is of a bench with a steady supply" in refused.err, refused.err


def test_a_bare_capacitor_needs_no_scenario(built: Built, sunseal: Cli) -> None:
    def played(supply: str) -> dict[str, Any]:
        done = sunseal("run", built(FR), "--board", FR, "--supply", supply, "--for", "100s", "--json")
        assert done.status == 0, done.err
        assert "no radio" in done.err and "loses 1 % of its charge a second" in done.err
        told: dict[str, Any] = json.loads(done.out)
        return told

    # The program never sleeps, so what it runs goes with the charge.
    small, large = played("20uF"), played("40uF")
    assert small["brown_outs"] == large["brown_outs"] == 1
    assert large["cycles"] == pytest.approx(2 * small["cycles"], rel=0.02)
    assert "first_cut_s" not in played("20uF@3mW")
    refused = sunseal("run", built(FR), "--board", FR, "--supply", "0uF")
    assert refused.status == 2 and "--supply `0uF` must be above zero" in refused.err
