# SPDX-License-Identifier: MIT OR Apache-2.0
"""The machine under Python's hands, on the firmware that this tree builds."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sunseal
from conftest import ONE_OF_EACH_CHIP, Cli, bench
from sunseal import Machine, SunsealError
from sunseal.catalog import boards

SHA = "bench-sha256-hash"


@pytest.fixture
def machine() -> Machine:
    path = boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, SHA)
    m = Machine("msp430f5438a", path)
    message = bytes(range(64))
    m.write("bench_input", message)
    m.write("bench_input_len", len(message).to_bytes(2, "little"))
    return m


def test_runs_to_a_symbol_a_limit_and_the_end(machine: Machine) -> None:
    assert machine.run(until="main") == sunseal.Stop("pc", machine.address("main"))
    rise = machine.run(pin="P1.0")
    assert (rise.kind, rise.pin) == ("pin", ("P1.0", True))
    before = machine.cycles
    assert machine.run(cycles=1000).kind == "cycles"
    assert 1000 <= machine.cycles - before < 1010
    assert machine.run(pin="P1.0").pin == ("P1.0", False)
    assert machine.run().kind == "halted"
    assert machine.time_s < 0.1
    assert machine.read("bench_output")[:32] == hashlib.sha256(bytes(range(64))).digest()


def test_memory_is_a_window_and_not_a_copy(machine: Machine) -> None:
    ram = machine.memory("ram")
    digest = machine.memory("bench_output")[:32]
    before = digest.copy()
    machine.run()
    assert not np.array_equal(digest, before)
    start = machine.address("bench_output") - 0x1C00
    assert np.array_equal(ram[start : start + 32], digest)
    with pytest.raises(ValueError, match="read-only"):
        ram[0] = 1


def test_what_would_be_cut_or_mean_nothing_is_refused(machine: Machine) -> None:
    with pytest.raises(SunsealError, match=r"0x112345 does not fit register R12, which holds 0 to 0xfffff"):
        machine.registers["R12"] = 0x11_2345
    with pytest.raises(SunsealError, match="does not fit register R12"):
        machine.registers["R12"] = -1
    with pytest.raises(SunsealError, match="align_bytes is 0; it must be 1 or more"):
        machine.place(4, align_bytes=0)
    for wrong in (float("nan"), float("inf"), -1.0):
        with pytest.raises(SunsealError, match=r"channel 3 is .* zero or more and finite"):
            machine.adc(3, wrong)
        with pytest.raises(SunsealError, match="vcc_v is"):
            machine.vcc_v = wrong
        with pytest.raises(SunsealError, match="time_s is"):
            machine.run(time_s=wrong)
    with pytest.raises(SunsealError, match="cycles is -5; it must be zero or more"):
        machine.run(cycles=-5)
    machine.run(until="main")
    with pytest.raises(SunsealError, match="'text' is neither an integer nor a NumPy number"):
        machine.call("main", "text")  # type: ignore[arg-type]


def test_registers_by_name(machine: Machine) -> None:
    machine.registers["R12"] = 0xF_FFFF
    assert machine.registers["R12"] == 0xF_FFFF
    assert list(machine.registers)[:3] == ["PC", "SP", "SR"]
    assert machine.registers.array()[12] == 0xF_FFFF
    with pytest.raises(SunsealError, match="unknown register `R16`"):
        machine.registers["R16"]


def test_a_hook_is_called_within_a_function_that_is_called(machine: Machine) -> None:
    machine.run(until="main")
    seen: list[int] = []
    machine.hook("sunseal_sha256_compress", lambda m: seen.append(m.pc))
    context, digest = machine.place(112), machine.place(32)
    machine.call("sunseal_sha256_init", context)
    machine.call("sunseal_sha256_final", context, digest)
    assert seen == [machine.address("sunseal_sha256_compress")]
    assert machine.read(digest, 32) == hashlib.sha256().digest()


def test_a_hook_is_called_each_time_and_takes_no_part_of_the_count(machine: Machine) -> None:
    plain = machine.snapshot()
    machine.run()
    cycles = machine.cycles
    machine.restore(plain)
    seen: list[int] = []
    machine.hook("main", lambda m: seen.append(m.pc))
    assert machine.run().kind == "halted"
    assert seen == [machine.address("main")]
    assert machine.cycles == cycles


def test_a_power_trace_has_a_sample_a_cycle_and_depends_on_the_data(machine: Machine) -> None:
    machine.run(pin="P1.0")
    kept, cycles = machine.snapshot(), machine.cycles
    first = machine.power_trace(pin="P1.0")
    assert first.dtype == np.uint8
    assert len(first) == machine.cycles - cycles
    machine.restore(kept)
    mine = np.empty(len(first) + 10, dtype=np.uint8)
    again = machine.power_trace(pin="P1.0", out=mine)
    assert np.shares_memory(again, mine)
    assert np.array_equal(again, first)
    machine.restore(kept)
    machine.write("bench_input", bytes(64))
    other = machine.power_trace(pin="P1.0")
    assert len(other) == len(first)
    assert not np.array_equal(other, first)
    machine.restore(kept)
    with pytest.raises(SunsealError, match="more than the array holds"):
        machine.power_trace(pin="P1.0", out=np.empty(10, dtype=np.uint8))


def test_secrets_are_followed_to_what_they_decide(machine: Machine) -> None:
    assert machine.leaks(["bench_input"]) == []


def test_lines_are_covered(machine: Machine) -> None:
    report = machine.coverage()
    assert "SF:" in report
    assert "bench.c" in report


def test_goes_back_in_time(machine: Machine) -> None:
    machine.run(cycles=20_000)
    kept, cycles, ram = machine.snapshot(), machine.cycles, machine.read("ram")
    machine.run()
    assert machine.cycles > cycles
    machine.restore(kept)
    assert (machine.cycles, machine.read("ram")) == (cycles, ram)


def test_a_cut_loses_ram_and_keeps_flash(machine: Machine) -> None:
    machine.run(cycles=20_000)
    flash, ram = machine.read("flash"), machine.read("ram")
    machine.power_cut()
    assert machine.run().kind == "brown-out"
    machine.power_on(ram_seed=7)
    assert machine.read("flash") == flash
    assert machine.read("ram") != ram
    assert machine.run(until="main").kind == "pc"


@pytest.mark.parametrize("board", ONE_OF_EACH_CHIP)
def test_a_cut_of_no_length_is_a_long_one_for_ram(board: str) -> None:
    m = bench(board)
    ram = next(region["start"] for region in boards.device(m.device)["memory"] if region["kind"] == "ram")
    m.write(ram, b"\xaa" * 64)
    m.power_cut()
    m.power_on(5)
    assert m.read(ram, 64) != b"\xaa" * 64


def test_what_is_wrong_is_named(machine: Machine) -> None:
    with pytest.raises(SunsealError, match="unknown device or board `msp430f5438`"):
        Machine("msp430f5438")
    with pytest.raises(SunsealError, match="cannot be read"):
        Machine("msp430f5438a", "nowhere.elf")
    with pytest.raises(sunseal.EngineError, match="nosuchsymbol"):
        machine.run(until="nosuchsymbol")
    with pytest.raises(sunseal.EngineError, match="not all memory"):
        machine.memory(0x9_0000, 4)
    machine.registers["PC"] = 0x1_0001
    with pytest.raises(sunseal.EngineError, match="odd address"):
        machine.run()


@pytest.mark.parametrize("device", boards.names("devices"))
def test_every_device_is_a_machine(device: str) -> None:
    m = Machine(device)
    assert m.device == device
    assert m.states()["cpu"].startswith("active")
    for name, start, size in m.engine.regions():
        assert m.memory(start, size).size == size, name
    assert m.registers["PC"] == m.pc or m.pc % 2 == 0
    kept = m.snapshot()
    m.restore(kept)


def test_the_notebook_of_the_machine_runs(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads((boards.home() / "examples" / "machine.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        assert not cell.get("outputs"), "outputs are not kept"
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert "the first that depends on the message" in capsys.readouterr().out


IMAGE = boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, SHA)


def test_the_command_follows_secrets_and_answers_by_its_exit_status(sunseal_process: Cli, tmp_path: Path) -> None:
    # Without a length nothing is hashed, and nothing is shown.
    assert sunseal_process("constant-time", IMAGE, "--secret", "bench_input").status == 3
    length = tmp_path / "length.toml"
    length.write_text("bench_input_len = 64\n")
    kept = sunseal_process("constant-time", IMAGE, "--secret", "bench_input", "--input", length, "--json")
    judged = json.loads(kept.out)
    assert (kept.status, judged["verdict"], judged["findings"], judged["why"]) == (0, "clean", [], [])
    told = sunseal_process("constant-time", IMAGE, "--secret", "bench_input_len")
    assert told.status == 1
    assert "branch" in told.out
    assert "sha.c:" in told.out


def test_a_waveform_that_was_written_drives_another_run(sunseal_process: Cli, own_elf: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.vcd", tmp_path / "b.vcd"
    for dump in (first, second):
        assert sunseal_process("waveform", own_elf, "--out", dump, "--pin", "P1.0").status == 0
    assert first.read_bytes() == second.read_bytes()
    driven = sunseal_process(
        "waveform", own_elf, "--out", second, "--pin", "P2.1", "--stimulus", first, "--drive", "P1.0=P2.1"
    )
    assert driven.status == 0, driven.err
    edges = [line for line in first.read_text().splitlines() if line in ("0!", "1!")]
    assert [line for line in second.read_text().splitlines() if line in ("0!", "1!")] == edges
    assert len(edges) >= 3


AVR_PROGRAM = """
#include <stdint.h>
volatile uint16_t kept = 0x1234;
__attribute__((noinline)) uint16_t twice(uint16_t x) { return kept = x + x; }
int main(void) { for (uint16_t i = 1;; i++) twice(i); }
"""


def test_the_command_serves_a_debugger_through_a_loss_of_supply(tmp_path: Path) -> None:
    source, elf = tmp_path / "twice.c", tmp_path / "twice.elf"
    source.write_text(AVR_PROGRAM)
    subprocess.run(
        ["avr-gcc", "-mmcu=atmega128", "-Os", "-gdwarf-4", "-o", str(elf), str(source)], check=True, timeout=60
    )
    command = [sys.executable, "-m", "sunseal", "gdb", str(elf), "--board", "micaz", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            place = re.search(r"127\.0\.0\.1:\d+", server.stderr.readline())
            assert place
            before = ["break twice", "continue", "continue", "continue", "print x", "finish", "print kept"]
            after = ["monitor cut", "continue", "print x", "detach"]
            words = [word for line in [f"target remote {place[0]}", *before, *after] for word in ("-ex", line)]
            done = subprocess.run(
                ["avr-gdb", "-nx", "-batch", *words, str(elf)], capture_output=True, text=True, timeout=120, check=False
            )
            # The third call's argument; its result; the first call's argument behind the loss.
            values = re.findall(r"^\$\d+ = (\d+)$", done.stdout, re.MULTILINE)
            assert values == ["3", "6", "1"], done.stdout + done.stderr
            assert server.wait(timeout=30) == 0
        finally:
            server.kill()


def test_what_is_not_modelled_is_listed_for_every_device_and_radio(sunseal_process: Cli) -> None:
    rows = json.loads(sunseal_process("boards", "--gaps", "--json").out)
    parts = {row["part"] for row in rows}
    assert {*boards.names("devices"), "cc1000", "cc2420", "cc2500", "cc2520"} <= parts
    assert all(row["block"] and row["what"] for row in rows)
