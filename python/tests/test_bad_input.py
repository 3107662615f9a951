# SPDX-License-Identifier: MIT OR Apache-2.0
"""Wrong input: one clear sentence on stderr, exit 2, nothing on stdout, no traceback."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, refused
from sunseal.catalog import boards


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (
            ["measure", "sha256-hash", "--board", "msp430f5438"],
            ["unknown board `msp430f5438`", "did you mean"],
        ),
        (
            ["measure", "ecdsa-p265-sign"],
            ["unknown workload `ecdsa-p265-sign`", "did you mean `ecdsa-p256-sign`"],
        ),
        (["measure", "sha256-hash", "--variant", "mpy=64"], ["unknown multiplier `64`", "32"]),
        (["measure", "sha256-hash", "--variant", "aes=hw"], ["unknown variant `aes`", "mpy"]),
        (["measure", "sha256-hash", "--variant", "mpy"], ["`name=value`"]),
        (
            ["measure", "sha256-hash", "--power", "guessed"],
            ["unknown power set `guessed`", "mane2014"],
        ),
        (["measure", "sha256-hash", "--freq", "8Mhz"], ["is not in Hz"]),
        (["measure", "sha256-hash", "--freq", "26MHz", "--vcc", "3V"], ["26 MHz", "25 MHz"]),
        (["measure", "sha256-hash", "--freq", "20MHz", "--vcc", "2.0V"], ["20 MHz", "2.2 V"]),
        (["measure", "sha256-hash", "--vcc", "5V"], ["5 V", "3.6 V"]),
        (["measure", "sha256-hash", "--vcc", "1.5V"], ["1.5 V", "1.8 V"]),
        (["measure"], ["give a workload or `--elf FILE`"]),
        (["measure", "sha256-hash", "--from", "main"], ["--elf FILE"]),
        (["measure", "--elf", "nowhere.elf", "--marks"], ["nowhere.elf", "cannot be read"]),
        (["measure", "nowhere.elf"], ["nowhere.elf", "cannot be read"]),
        (["measure", "--elf", "nowhere.elf", "--from", "main"], ["add `--to SYMBOL`"]),
        (["profile", "sha256-hash", "--weight", "watts"], ["neither `cycles` nor `joules`"]),
        (["profile", "sha256-hash", "--svg", "out.png"], ["must end in .svg"]),
        (["curve", "sha256-hash", "--plot", "/nowhere/at/all.svg"], ["does not exist"]),
        (["curve", "sha256-hash", "--plot", "/proc/no.svg"], ["/proc/no.svg", "cannot be written"]),
        (["curve", "sha256-hash", "--vcc", "9V"], ["9 V", "3.6 V"]),
        (["curve", "sha256-hash", "--vcc", "1V", "--vcc", "2V"], ["1 V", "1.8 V"]),
        (["profile", "sha256-hash", "--freq", "nonsense"], ["`nonsense` is not a number"]),
        (["profile", "sha256-hash", "--diff", "/proc"], ["/proc", "Is a directory"]),
        (["reproduce"], ["mane2014/table-4.1"]),
        (["reproduce", "mane2014/table-4.9"], ["unknown table", "did you mean"]),
        (["simulate", "nowhere.toml"], ["nowhere.toml"]),
        (["plans"], ["no such command"]),
        (["mesure"], ["no such command", "did you mean `sunseal measure`"]),
        (["boards", "--jsno"], ["no such option"]),
        (["bench", "luck"], ["unknown part", "engine"]),
        (["demo", "--seed", "x"], ["invalid value"]),
        (["demo", "--seed", "-1"], ["'--seed'", "0"]),
        (["demo", "--seed", "99999999999999999999"], ["'--seed'", "9223372036854775807"]),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_a_wrong_argument_is_named(sunseal: Cli, args: list[str], says: list[str]) -> None:
    refused(sunseal(*args), *says)


def test_a_channel_that_the_adc_lacks_is_named(sunseal: Cli) -> None:
    elf = boards.firmware_path("telosb", boards.variant((), "telosb"), "bench-sha256-hash")
    refused(sunseal("run", str(elf), "--board", "telosb", "--adc", "16=1V"), "channels 0 to 15, and no 16")


@pytest.mark.parametrize("line", ["a;b nan", "a;b inf", "a;b -4", "a;b", "7"])
def test_a_stack_without_a_weight_is_named(sunseal: Cli, tmp_path: Path, line: str) -> None:
    old = tmp_path / "old.folded"
    old.write_text(f"a;b 1\n{line}\n")
    refused(sunseal("profile", "sha256-hash", "--diff", old), "old.folded", "line 2")


@pytest.mark.parametrize("option", ["--report", "--series"])
def test_a_folder_in_the_place_of_a_file_is_seen_before_the_run(sunseal: Cli, tmp_path: Path, option: str) -> None:
    folder = tmp_path / f"taken{ {'--report': '.html', '--series': '.csv'}[option] }"
    folder.mkdir()
    refused(sunseal("simulate", "nowhere.toml", option, folder), folder.name, "is a folder")


def test_an_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sunseal", "workloads"]
    for shell in ('"$@" > /dev/full', '"$@" >&-'):
        done = subprocess.run(["sh", "-c", shell, "-", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1, done.stderr


def test_a_reader_that_leaves_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "sunseal", "workloads", "--json"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_foreign_elf_is_refused(sunseal: Cli) -> None:
    refused(sunseal("measure", "--elf", "/bin/true", "--marks"), "MSP430")


def test_no_elf_at_all_is_refused(sunseal: Cli, tmp_path: Path) -> None:
    text = tmp_path / "readme.elf"
    text.write_text("not a program")
    refused(sunseal("measure", "--elf", text, "--marks"), "ELF")


def test_a_home_without_data_is_named(sunseal_process: Cli, tmp_path: Path) -> None:
    refused(sunseal_process("boards", SUNSEAL_HOME=str(tmp_path)), "SUNSEAL_HOME", "data/devices")


@pytest.mark.usefixtures("firmware")
class TestOwnProgram:
    @pytest.fixture
    def elf(self) -> Path:
        return boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, "bench-sha256-hash")

    def test_a_truncated_elf_is_refused(self, sunseal: Cli, elf: Path, tmp_path: Path) -> None:
        short = tmp_path / "short.elf"
        short.write_bytes(elf.read_bytes()[:600])
        refused(sunseal("measure", "--elf", short, "--marks"), "truncated")

    def test_a_missing_symbol_is_named(self, sunseal: Cli, elf: Path) -> None:
        refused(
            sunseal("measure", "--elf", elf, "--from", "main", "--to", "no_such_place"),
            "no_such_place",
        )

    def test_a_symbol_that_is_never_reached_is_named(self, sunseal: Cli, elf: Path) -> None:
        refused(
            sunseal("measure", "--elf", elf, "--from", "bench_status", "--to", "main"),
            "bench_status",
        )


def test_a_firmware_that_is_not_built_says_how(sunseal_process: Cli, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(boards.home() / "data")
    (tmp_path / "firmware").mkdir()
    for room in ("boards", "coupon", "crypto"):
        (tmp_path / "firmware" / room).symlink_to(boards.home() / "firmware" / room)
    outcome = sunseal_process("measure", "sha256-hash", SUNSEAL_HOME=str(tmp_path))
    refused(outcome, "is not built", "make firmware")


GOOD = """name = "x"
board = "msp430f5438a-anagear"
firmware = "{firmware}"
duration_s = 60
"""


class TestScenario:
    @pytest.fixture
    def good(self) -> str:
        return GOOD.format(firmware=boards.home() / "firmware/build/msp430f5438a-anagear/mpy-32/node-p256.elf")

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ("speed = 3\n", ["line 5", "unknown field `speed`"]),
            ("[supply]\ncapacitence_f = 0.1\n", ["line 6", "unknown field `capacitence_f`", "capacitance_f"]),
            ("[supply]\ncapacitance_f = -0.1\n", ["supply.capacitance_f is -0.1", "above zero"]),
            ('[supply]\ncapacitor = "leyden-jar"\n', ["leyden-jar"]),
            ("[power]\nvcc_v = 5.0\n", ["5 V", "3.6 V"]),
            ('[power]\nset = "guessed"\n', ["guessed"]),
            ('[node]\nmode = "often"\n', ["unknown variant `often`", "periodic"]),
            ('[node]\nnode_id = "12"\n', ["node.node_id", "16 hexadecimal digits"]),
            ('[harvest.sunlight]\nday = "21-06"\n', ["21-06", "MM-DD"]),
            ('[harvest.sunlight]\nday = "06-21"\npanel = "cc2500"\n', ["cc2500", "is not a panel"]),
            ('[harvest.sunlight]\nday = "06-21"\nshading = 2.0\n', ["shading is 2", "up to 1"]),
            ('[harvest]\ntrace = "trace.csv"\nconstant_w = 1\n', ["keep one"]),
            ('[harvest]\ntrace = "nowhere.csv"\n', ["nowhere.csv"]),
            ('[gateway]\naddress = "127.0.0.1:1"\n', ["127.0.0.1:1"]),
            ("name = \n", ["line 5"]),
            ("[supply]\nleak_ohm = 1e-9\n", ["supply.leak_ohm", "leaks empty"]),
            ('[node]\nsuite = "ecdsa-secp160r1-sha1"\n', ["node.suite", "another curve", "ecdsa-p256-sha256"]),
            ('[harvest.sunlight]\nday = "06-21"\nweather = "day.toml"\n', ["day.toml", "is not TMY3"]),
        ],
        ids=lambda v: v.splitlines()[-1] if isinstance(v, str) else None,
    )
    @pytest.mark.usefixtures("firmware")
    def test_each_mistake_is_one_sentence_with_its_place(
        self, sunseal: Cli, good: str, tmp_path: Path, more: str, says: list[str]
    ) -> None:
        path = tmp_path / "day.toml"
        path.write_text(good + more)
        report = tmp_path / "report.html"
        refused(sunseal("simulate", path, "--report", report), *says)
        assert not report.exists()

    @pytest.mark.usefixtures("firmware")
    def test_a_trace_that_goes_back_in_time_is_refused_with_its_line(
        self, sunseal: Cli, good: str, tmp_path: Path
    ) -> None:
        (tmp_path / "back.csv").write_text("time_s,power_w\n0,0.001\n30,0.001\n20,0.001\n90,0.001\n")
        path = tmp_path / "day.toml"
        path.write_text(good + '[harvest]\ntrace = "back.csv"\n')
        refused(sunseal("simulate", path), "back.csv", "4", "20", "30")

    def test_a_firmware_that_is_not_there_is_named(self, sunseal: Cli, tmp_path: Path) -> None:
        path = tmp_path / "day.toml"
        path.write_text(GOOD.format(firmware="nowhere.elf"))
        refused(sunseal("simulate", path), "nowhere.elf")

    def test_a_demo_needs_to_know_its_node(self, sunseal: Cli, good: str, tmp_path: Path) -> None:
        path = tmp_path / "day.toml"
        path.write_text(good)
        refused(sunseal("demo", "--scenario", path, "--out", tmp_path / "out"), "node.node_id")
        assert not (tmp_path / "out").exists()

    def test_a_folder_that_may_not_be_written_is_seen_before_the_day(
        self, sunseal: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # root may write everywhere
        refused(sunseal("demo", "--out", tmp_path), str(tmp_path), "cannot be written")
        assert list(tmp_path.iterdir()) == []

    def test_a_demo_does_not_write_over_a_file(self, sunseal: Cli, tmp_path: Path) -> None:
        taken = tmp_path / "out"
        taken.write_text("mine")
        refused(sunseal("demo", "--out", taken), "is a file")
        assert taken.read_text() == "mine"


class TestServer:
    def test_a_corrupt_database_is_refused(self, sunseal_process: Cli, tmp_path: Path) -> None:
        broken = tmp_path / "nodes.sqlite"
        broken.write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 40)
        kept = broken.read_bytes()
        refused(sunseal_process("serve", "--listen", "127.0.0.1:0", "--db", broken), "nodes.sqlite")
        assert broken.read_bytes() == kept

    def test_a_foreign_database_is_refused(self, sunseal_process: Cli, tmp_path: Path) -> None:
        foreign = tmp_path / "other.sqlite"
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE recipes (name TEXT)")
        db.close()
        refused(sunseal_process("serve", "--listen", "127.0.0.1:0", "--db", foreign), "other.sqlite")

    def test_a_port_in_use_is_named(self, sunseal_process: Cli, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            outcome = sunseal_process("serve", "--listen", f"127.0.0.1:{port}", "--db", tmp_path / "nodes.sqlite")
        refused(outcome, str(port))
        assert not (tmp_path / "nodes.sqlite").exists()

    def test_a_gateway_s_port_in_use_is_named(self, sunseal_process: Cli, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            outcome = sunseal_process(
                *("gateway", "--listen", f"127.0.0.1:{port}", "--server", "http://127.0.0.1:1"),
                *("--pcap", tmp_path / "air.pcap"),
            )
        refused(outcome, str(port))
