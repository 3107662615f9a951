# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal run net.toml`: programs of several boards on one air."""

from __future__ import annotations

import csv
import json
import re
import struct
import subprocess
from pathlib import Path

import pytest

from conftest import Cli
from sunseal import SunsealError
from sunseal.catalog import boards
from sunseal.machine import network
from test_air import ACK, FRAME, PROGRAM
from test_workloads import tool

# Each says over its UART what it got; number 2 waits for a `g` before it listens.
TALK = """
static void say(const char *text) {
    UBRR0L = 47;
    UCSR0B = _BV(TXEN0) | _BV(RXEN0);
    while (*text) {
        while (!(UCSR0A & _BV(UDRE0))) {
        }
        UDR0 = *text++;
    }
}
int main(void) {
    say(OWN == 1 ? "one\\n" : "two\\n");
"""
NET = """
seed = 7

[air]
exponent = 2.5

[[node]]
name = "sensor"
board = "micaz"
elf = "frame1.elf"

[[node]]
name = "base"
board = "micaz"
elf = "frame2.elf"
x_m = 10
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("net")
    source = PROGRAM.replace("int main(void) {\n", TALK).replace(
        "    take();\n    for", '    take();\n    say("got\\n");\n    for'
    )
    (made / "frame.c").write_text(source)
    for own in (1, 2):
        frame = ",".join(map(str, FRAME))
        flags = ["-mmcu=atmega128", "-Os", "-std=gnu11", "-DF_CPU=7372800UL", f"-DOWN={own}", f"-DFRAME={frame}"]
        subprocess.run([tool("avr-gcc"), *flags, "-o", made / f"frame{own}.elf", made / "frame.c"], check=True)
    (made / "net.toml").write_text(NET)
    return made


def test_nodes_talk_each_under_its_name(sunseal: Cli, folder: Path, tmp_path: Path) -> None:
    frames = tmp_path / "frames.csv"
    done = sunseal("run", folder / "net.toml", "--for", "100ms", "--frames", frames)
    assert done.status == 0, done.err
    assert sorted(done.out.splitlines()) == ["base: got", "base: two", "sensor: got", "sensor: one"]
    assert "100 ms, 2 nodes, 2 frames on the air" in done.err
    with frames.open() as read:
        data, ack = csv.DictReader(read)
    assert (data["sender"], ack["sender"]) == ("sensor", "base")
    assert bytes.fromhex(data["data"])[: len(FRAME)] == FRAME
    assert bytes.fromhex(ack["data"])[: len(ACK)] == ACK
    assert float(ack["start_s"]) - float(data["end_s"]) == pytest.approx(192e-6, abs=1e-6)


def captured(path: Path) -> list[tuple[float, bytes]]:
    """Read a classic capture of IEEE 802.15.4 with check sequences (link type 195): seconds and frame."""
    data = path.read_bytes()
    magic, major, minor, _, _, _, link_type = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, link_type) == (0xA1B2C3D4, 2, 4, 195)
    at, found = 24, []
    while at < len(data):
        seconds, micros, kept, whole = struct.unpack_from("<4I", data, at)
        assert kept == whole
        found.append((seconds + micros * 1e-6, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return found


def test_what_was_sent_is_a_capture_for_wireshark(sunseal: Cli, folder: Path, tmp_path: Path) -> None:
    table, capture, alone = tmp_path / "air.csv", tmp_path / "air.pcap", tmp_path / "alone.pcap"
    assert sunseal("run", folder / "net.toml", "--for", "100ms", "--frames", table).status == 0
    assert sunseal("run", folder / "net.toml", "--for", "100ms", "--pcap", capture).status == 0
    with table.open() as read:
        rows = list(csv.DictReader(read))
    frames = captured(capture)
    assert [frame for _, frame in frames] == [bytes.fromhex(row["data"])[1:] for row in rows]
    assert [at_s for at_s, _ in frames] == pytest.approx([float(row["end_s"]) for row in rows], abs=1.1e-6)
    done = sunseal("run", folder / "frame1.elf", "--board", "micaz", "--for", "100ms", "--pcap", alone)
    assert done.status == 0, done.err
    assert captured(alone)[0][1] == frames[0][1], "a radio alone on its air sends the same"


def test_a_seed_decides_what_an_air_loses(sunseal: Cli, folder: Path, tmp_path: Path) -> None:
    for elf in folder.glob("*.elf"):
        (tmp_path / elf.name).write_bytes(elf.read_bytes())
    (tmp_path / "net.toml").write_text(NET.replace("exponent = 2.5", "exponent = 2.5\nframe_loss = 0.5"))

    def heard(seed: int) -> int:
        done = sunseal("run", tmp_path / "net.toml", "--for", "100ms", "--seed", str(seed), "--json")
        told = json.loads(done.out)
        return int(told["nodes"]["base"]["received"])

    assert {heard(seed) for seed in range(8)} == {0, 1}
    assert heard(3) == heard(3)


def test_a_run_ends_when_a_node_has_said_a_text(sunseal: Cli, folder: Path) -> None:
    done = sunseal("run", folder / "net.toml", "--until-uart", "got", "--for", "1s", "--json")
    told = json.loads(done.out)
    assert (done.status, told["ended_by"] in ("base", "sensor"), told["failed"]) == (0, True, None)
    assert told["time_s"] < 0.1
    assert told["nodes"]["base"]["received"] == 1
    missed = sunseal("run", folder / "net.toml", "--until-uart", "never", "--for", "50ms")
    assert missed.status == 1
    assert "failed: no node wrote `never` in 50 ms" in missed.err


def test_the_same_file_gives_the_same_run_and_a_link_decides_who_hears(folder: Path, tmp_path: Path) -> None:
    def played(more: str) -> tuple[list[str], list[int]]:
        for elf in folder.glob("*.elf"):
            (tmp_path / elf.name).write_bytes(elf.read_bytes())
        (tmp_path / "net.toml").write_text(NET + more)
        net = network.load(tmp_path / "net.toml")
        net.run(within="100ms")
        return [n.text for n in net.nodes.values()], [n.machine.cycles for n in net.nodes.values()]

    assert played("") == played("") and played("")[0] == ["one\ngot\n", "two\ngot\n"]
    deaf = '[[link]]\nbetween = ["sensor", "base"]\nloss_db = 140\n'
    assert played(deaf)[0] == ["one\n", "two\n"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("x_m = 10", "x = 10", "unknown key `x` in [[node]] 2 of"),
        ("x_m = 10", 'x_m = "far"', "`x_m` of node `base`"),
        ('name = "base"', 'name = "sensor"', "has two nodes `sensor`"),
        ('elf = "frame2.elf"', 'elf = "no.elf"', "no.elf` of node `base`"),
        ('board = "micaz"\nelf = "frame2.elf"', 'board = "moteiv"\nelf = "frame2.elf"', "`moteiv` is no board"),
        ("x_m = 10", 'x_m = 10\n[[link]]\nbetween = ["base"]\nloss_db = 3', "wants `between"),
        ("x_m = 10", 'x_m = 10\n[[link]]\nbetween = ["base", "tower"]\nloss_db = 3', "unknown node `tower`"),
        ("seed = 7", "seed = -7", "a whole number from 0"),
        ("exponent = 2.5", "frame_loss = 2", "a share from 0 to 1"),
        ("seed = 7", "seed = ", "is not valid TOML"),
        (NET, 'name = "day"\n', "has no [[node]]"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(folder: Path, tmp_path: Path, old: str, new: str, sentence: str) -> None:
    for elf in folder.glob("*.elf"):
        (tmp_path / elf.name).write_bytes(elf.read_bytes())
    head, _, tail = NET.rpartition(old)
    (tmp_path / "net.toml").write_text(head + new + tail)
    with pytest.raises(SunsealError, match=re.escape(sentence)):
        network.load(tmp_path / "net.toml").run(within=1e-3)


def test_what_does_not_go_together_is_refused(sunseal: Cli, folder: Path) -> None:
    for args, sentence in (
        (("--for", "1s", "--vcd", "x.vcd"), "`--vcd` is of one program alone"),
        ((), "say for how long, or until which text"),
    ):
        done = sunseal("run", folder / "net.toml", *args)
        assert done.status == 2
        assert sentence in " ".join(done.err.split())
    done = sunseal("run", folder / "frame1.elf", "--board", "nucleo-l476rg", "--for", "1ms", "--frames", "x.csv")
    assert done.status == 2


def test_the_shipped_example_plays_a_frame_and_its_answer(firmware: None, sunseal: Cli, tmp_path: Path) -> None:
    """It had nobody who typed anything, and so nothing on the air."""
    frames = tmp_path / "air.csv"
    done = sunseal("run", boards.home() / "examples" / "two-motes.toml", "--for", "0.2s", "--frames", frames)
    assert done.status == 0, done.err
    with frames.open(newline="") as file:
        sent = [(row["sender"], bytes.fromhex(row["data"])) for row in csv.DictReader(file)]
    assert [sender for sender, _ in sent] == ["station", "node"]
    assert b"half key" in sent[0][1]
