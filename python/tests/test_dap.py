# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal dap` under somebody else's client, debugpy's, each message held to the protocol's own schema."""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import debugpy
import pytest
from debugpy.common import messaging

from conftest import Cli, require
from sunseal import Machine, kit
from sunseal.debug import server
from sunseal.debug.source import Program
from sunseal.debug.wire import Wire
from sunseal.errors import SunsealError
from test_new import ENABLE, TICKING, built, make, tools
from validating import wrong

BOARDS = ["msp430fr5994-launchpad", "micaz", "msp432p401r-launchpad"]
SOURCE = """\
#include "board.h"

#define ROUNDS 3

struct sample {
    int16_t x;
    uint8_t tag;
    const char *name;
};

volatile struct sample last;
volatile uint16_t total;
volatile uint8_t rounds;
volatile uint8_t turns = 1; /* 0: for ever */

__attribute__((noinline)) static uint16_t twice(uint16_t value) {
    uint16_t doubled = value + value;
    total += doubled;
    return doubled;
}

__attribute__((noinline)) static void round_of(uint8_t number) {
    uint16_t got = twice(number + 20);
    last.x = -(int16_t)got;
    last.tag = number;
}

int main(void) {
    board_init();
    board_write("hello\\r\\n");
    /* no code in this line */

    while (!turns || rounds < ROUNDS) {
        round_of(rounds);
        rounds++;
    }
    board_write("ready\\r\\n");
    return 0;
}
"""


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if text in line)


@cache
def protocol() -> dict[str, Any]:
    (path,) = Path(str(debugpy.__file__)).parent.rglob("debugProtocol.json")
    definitions = json.loads(path.read_text(encoding="utf-8"))["definitions"]
    assert isinstance(definitions, dict)
    return definitions


def invalid(message: dict[str, Any]) -> list[str]:
    """Say what of a message is not as the protocol has it."""
    kind = message["type"]
    name = message["event"] if kind == "event" else message["command"]
    definition = f"{name[0].upper()}{name[1:]}{kind.title()}"
    if kind == "response" and not message["success"]:
        definition = "ErrorResponse"
    whole = {"$defs": protocol()}
    return list(wrong(message, protocol()[definition], whole, definition))


class Heard(messaging.JsonIOStream):  # type: ignore[misc]
    """Stream of debugpy's that holds what comes to the schema."""

    bad: list[str]

    def read_json(self, decoder: Any = None) -> Any:
        message = super().read_json(decoder)
        self.bad += invalid(dict(message))
        return message


class Client:
    """Client around debugpy's channel of messages."""

    def __init__(self, stream: Heard) -> None:
        stream.bad = []
        self.stream = stream
        self.events: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self.output: dict[str, str] = {}
        self.channel = messaging.JsonMessageChannel(stream, self)
        self.channel.start()

    def event(self, event: Any) -> None:
        body = dict(event.body or {})
        if event.event == "output":
            self.output[body["category"]] = self.output.get(body["category"], "") + body["output"]
        else:
            self.events.put((event.event, body))

    def disconnect(self) -> None:
        self.events.put(("gone", {}))

    def ask(self, command: str, **arguments: Any) -> Any:
        return self.channel.send_request(command, arguments).wait_for_response()

    def refused(self, command: str, **arguments: Any) -> str:
        with pytest.raises(messaging.MessageHandlingError) as refused:
            self.ask(command, **arguments)
        return str(refused.value)

    def until(self, name: str) -> dict[str, Any]:
        while True:
            event, body = self.events.get(timeout=30)
            if event == name:
                return body
            assert event not in ("terminated", "gone"), (name, event)

    def launch(self, **arguments: Any) -> None:
        self.ask("initialize", adapterID="sunseal", linesStartAt1=True, columnsStartAt1=True)
        self.ask("launch", **arguments)
        self.until("initialized")

    def breakpoints(self, path: Path, *lines: int) -> list[Any]:
        source = {"path": str(path), "name": path.name}
        return list(self.ask("setBreakpoints", source=source, breakpoints=[{"line": n} for n in lines])["breakpoints"])

    def go(self, command: str = "continue", **arguments: Any) -> dict[str, Any]:
        self.ask(command, threadId=1, **arguments)
        return self.until("stopped")

    def frames(self) -> list[tuple[str, int]]:
        return [(f["name"], f["line"]) for f in self.ask("stackTrace", threadId=1)["stackFrames"]]

    def scope(self, name: str) -> dict[str, Any]:
        scopes = {s["name"]: s["variablesReference"] for s in self.ask("scopes", frameId=1)["scopes"]}
        return self.below(scopes[name])

    def below(self, reference: int) -> dict[str, Any]:
        return {v["name"]: v for v in self.ask("variables", variablesReference=reference)["variables"]}

    def value(self, expression: str, context: str = "watch") -> str:
        return str(self.ask("evaluate", expression=expression, frameId=1, context=context)["result"])

    def close(self) -> None:
        assert self.stream.bad == []
        self.channel.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Build the program of a board once."""
    built: dict[str, Path] = {}

    def build(board: str) -> Path:
        if board not in built:
            tools(board)
            at = tmp_path_factory.mktemp("dap") / board
            kit.write(at, board)
            (at / "main.c").write_text(SOURCE)
            done = make(at, "OPT=-O0")
            assert done.returncode == 0, done.stderr
            built[board] = at
        return built[board]

    return build


@contextlib.contextmanager
def adapter(*args: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process of the command; it is killed where it does not end by itself."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-m", "sunseal", "dap", *args], **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def client() -> Iterator[Client]:
    """A client of a server in this process."""
    ours, theirs = socket.socketpair()
    serving = threading.Thread(target=lambda: server.serve(Wire(theirs.recv, theirs.sendall)), daemon=True)
    serving.start()
    made = Client(Heard.from_socket(ours))
    yield made
    made.close()
    serving.join(timeout=10)
    assert not serving.is_alive(), "the server ends with its client"
    theirs.close()


def joules(text: str) -> float:
    number, unit = text.split(",", maxsplit=1)[0].split()
    return float(number) * {"J": 1, "mJ": 1e-3, "µJ": 1e-6, "nJ": 1e-9, "pJ": 1e-12}[unit]


@pytest.mark.parametrize("board", BOARDS)
def test_a_session_on_each_core_through_a_loss_of_power(board: str, folder: Any) -> None:
    at = folder(board)
    elf, main = at / "build" / "node.elf", at / "main.c"
    with adapter() as process:
        client = Client(Heard.from_process(process))
        client.launch(program=str(elf), board=board, off="250ms")
        (set_at,) = client.breakpoints(main, line_of("total += doubled"))
        assert set_at["verified"] and set_at["line"] == line_of("total += doubled")
        client.ask("configurationDone")
        assert client.until("stopped")["hitBreakpointIds"] == [set_at["id"]]
        assert client.output["stdout"] == "hello\r\n"
        frames = client.frames()
        assert [name for name, _ in frames[:3]] == ["twice", "round_of", "main"]
        assert [line for _, line in frames[:3]] == [set_at["line"], line_of("= twice("), line_of("round_of(rounds)")]
        assert client.scope("Locals")["doubled"]["value"] == "40 (0x28)"
        first = client.scope("Energy")
        client.go("stepOut")
        assert client.frames()[0][0] == "round_of"
        before = client.frames()[0]
        client.go("next")
        assert client.frames()[0][0] == "round_of" and client.frames()[0] != before
        client.go("stepOut")
        assert client.frames()[0][0] == "main"
        fields = client.below(client.scope("Globals")["last"]["variablesReference"])
        assert fields["x"]["value"] == "-40 (-0x28)"
        globals_ = client.ask("scopes", frameId=1)["scopes"][1]["variablesReference"]
        client.ask("setVariable", variablesReference=globals_, name="total", value="0x100")
        assert client.value("total") == "256 (0x100)"
        client.breakpoints(main)
        client.ask("setFunctionBreakpoints", breakpoints=[{"name": "round_of"}])
        client.go()
        assert client.frames()[0][0] == "round_of" and client.value("rounds") == "1"
        for _ in range(4):
            client.go("stepIn")
            if client.frames()[0][0] != "round_of":
                break
        assert [name for name, _ in client.frames()[:3]] == ["twice", "round_of", "main"]
        # Joules of each stop add up to those since the start, within what they are rounded to.
        energy = client.scope("Energy")
        assert 0 < joules(energy["since the last stop"]["value"]) < joules(first["since the start"]["value"])
        assert joules(energy["since the start"]["value"]) > joules(first["since the start"]["value"])
        parts = client.below(energy["since the start"]["variablesReference"])
        weighed = sum(joules(v["value"]) for name, v in parts.items() if name not in ("energy", "cycles", "time"))
        assert weighed == pytest.approx(joules(parts["energy"]["value"]), rel=2e-3)
        pc = next(v["value"] for name, v in client.scope("Registers").items() if name.upper() == "PC")
        assert int(pc, 16) == int(
            client.ask("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"], 16
        )
        client.ask("evaluate", expression="cut", context="repl", frameId=1)
        assert client.until("stopped")["reason"] == "power lost"
        assert client.frames() == [("no supply", 0)]
        client.go()
        assert client.frames()[0][0] == "round_of" and client.value("rounds") == "0", "the program starts anew"
        assert client.output["stdout"] == "hello\r\nhello\r\n"
        client.ask("setFunctionBreakpoints", breakpoints=[])
        assert client.go()["reason"] == "halted"
        assert client.output["stdout"] == "hello\r\nhello\r\nready\r\n"
        client.ask("disconnect")
        client.close()
        assert process.wait(timeout=10) == 0


@pytest.mark.parametrize("board", BOARDS)
def test_registers_of_peripherals_memory_and_instructions(board: str, folder: Any, client: Client) -> None:
    elf = folder(board) / "build" / "node.elf"
    client.launch(program=str(elf), board=board, stopOnEntry=True)
    client.ask("configurationDone")
    assert client.until("stopped")["reason"] == "entry"
    machine = Machine(board, elf)
    machine.run(until="main")
    assert client.frames()[0][0] == "main"
    seen = 0
    for block in client.scope("Peripherals").values():
        for name, shown in client.below(block["variablesReference"]).items():
            if shown["value"].startswith("0x"):
                assert int(shown["value"], 16) == machine.io[name], name
                seen += 1
    assert seen > 50
    start = client.ask("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"]
    told = client.ask("disassemble", memoryReference=start, instructionOffset=-2, instructionCount=6)["instructions"]
    assert [int(i["address"], 16) for i in told][2] == machine.pc and len(told) == 6
    ours = machine.disassemble((machine.pc, 16))
    assert [i["instruction"] for i in told[2:4]] == [i.text for i in ours[:2]]
    for number in (0, 700):
        rows = client.ask("disassemble", memoryReference=start, instructionOffset=-number, instructionCount=number + 5)
        assert len(rows["instructions"]) == number + 5
        assert int(rows["instructions"][number]["address"], 16) == machine.pc
    place = machine.address("total")
    client.ask("writeMemory", memoryReference=hex(place), data=base64.b64encode(b"\x34\x12").decode())
    assert client.value("total") == "4660 (0x1234)"
    read = client.ask("readMemory", memoryReference=hex(place), count=2)
    assert base64.b64decode(read["data"]) == b"\x34\x12"
    assert client.ask("readMemory", memoryReference="0xf0000000", count=4)["unreadableBytes"] == 4


@pytest.mark.parametrize("board", BOARDS)
def test_frames_go_on_below_an_interrupts_handler(board: str, tmp_path: Path, client: Client) -> None:
    tools(board)
    source = (
        f"volatile uint8_t ticks;\n{TICKING[board]}\n"
        "__attribute__((noinline)) static void wait(void) { while (ticks < 3) {} }\n"
        f'int main(void) {{ START; __asm__ volatile("{ENABLE[board]}"); wait(); return 0; }}\n'
    )
    elf = built(tmp_path / "node", board, source)
    client.launch(program=str(elf), board=board)
    program = Program(elf.read_bytes(), elf)
    handlers = [f.name for f in program.functions if "isr" in f.name or "vector" in f.name]
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": name} for name in handlers])
    client.ask("configurationDone")
    client.until("stopped")
    names = [name for name, _ in client.frames()]
    assert names[0] in handlers and names[1:3] == ["wait", "main"], names
    # A step out of it goes on where it came, and a step of the program runs it meanwhile.
    client.ask("setFunctionBreakpoints", breakpoints=[])
    client.go("stepOut")
    assert client.frames()[0][0] == "wait"
    client.go("stepOut")
    assert client.frames()[0][0] == "main" and client.value("ticks") == "3"


def test_breakpoints_move_or_say_why_not(folder: Any, client: Client) -> None:
    at = folder(BOARDS[0])
    client.launch(program=str(at / "build" / "node.elf"), board=BOARDS[0])
    empty, past = client.breakpoints(at / "main.c", line_of("no code in this line"), 999)
    assert empty["verified"] and empty["line"] == line_of("while (")
    assert empty["message"] == f"line {line_of('no code')} has no code: moved to line {line_of('while (')}"
    assert not past["verified"] and past["message"] == "no code from this line on"
    (foreign,) = client.breakpoints(at / "nowhere.c", 3)
    assert not foreign["verified"] and foreign["message"] == "nowhere.c is no source of this program"
    # The same source under a path of another machine is told by its name.
    (moved,) = client.breakpoints(Path("/elsewhere/main.c"), line_of("rounds++"))
    assert moved["verified"]
    named = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "mian"}, {"name": "main"}])["breakpoints"]
    assert [b["verified"] for b in named] == [False, True] and "`mian`" in named[0]["message"]


def test_a_running_program_is_paused_and_takes_breakpoints(folder: Any, client: Client) -> None:
    at = folder(BOARDS[0])
    client.launch(program=str(at / "build" / "node.elf"), board=BOARDS[0], stopOnEntry=True)
    client.ask("configurationDone")
    client.until("stopped")
    assert client.value("turns = 0") == "0"
    client.ask("continue", threadId=1)
    assert "pause it" in client.refused("stackTrace", threadId=1)
    assert client.ask("threads")["threads"] == [{"id": 1, "name": BOARDS[0]}]
    client.breakpoints(at / "main.c", line_of("rounds++"))
    assert client.until("stopped")["reason"] == "breakpoint"
    client.breakpoints(at / "main.c")
    client.ask("continue", threadId=1)
    client.ask("pause", threadId=1)
    assert client.until("stopped")["reason"] == "pause"
    client.ask("terminate")
    client.until("terminated")


def test_losses_at_given_times_stop_only_where_that_is_wished(folder: Any, client: Client) -> None:
    at = folder(BOARDS[0])
    client.launch(program=str(at / "build" / "node.elf"), board=BOARDS[0], powerLoss=["2ms", 0.5], off=0.1)
    client.ask("setExceptionBreakpoints", filters=[])
    client.breakpoints(at / "main.c", line_of("rounds++"))
    client.ask("configurationDone")
    assert client.until("stopped")["reason"] == "breakpoint"
    assert re.match(r"power lost at 2\.00\d* ms: ", client.output["important"])
    client.ask("setExceptionBreakpoints", filters=["power"])
    client.breakpoints(at / "main.c")
    assert client.value("turns = 0") == "0"
    lost = client.go()
    assert lost["reason"] == "power lost" and re.search(r"at 500(\.0\d*)? ms", lost["text"])
    assert client.ask("exceptionInfo", threadId=1)["exceptionId"] == "power lost"
    assert client.value("vcc 2.5V", "repl") == "2.5 V, off"


def test_launches_that_cannot_be(folder: Any, client: Client, tmp_path: Path) -> None:
    elf = str(folder(BOARDS[0]) / "build" / "node.elf")
    (tmp_path / "text.elf").write_text("no program")
    client.ask("initialize", adapterID="sunseal")
    assert "send `launch`" in client.refused("stackTrace", threadId=1)
    for arguments, said in (
        ({}, "lacks `program`"),
        ({"program": elf}, "lacks `board`"),
        ({"program": "nothing.elf", "board": "telosb"}, "`nothing.elf` is no file"),
        ({"program": str(tmp_path / "text.elf"), "board": "telosb"}, "no ELF|ELF header"),
        ({"program": elf, "board": "nowhere"}, "`nowhere` is no board"),
        ({"program": elf, "board": "micaz"}, "micaz|atmega|ATmega"),
        ({"program": elf, "board": BOARDS[0], "vcc": "much"}, "vcc"),
        ({"program": elf, "board": BOARDS[0], "powerLoss": "2ms"}, "a list of times"),
        ({"program": elf, "board": BOARDS[0], "uart": "com1"}, "no serial interface `com1`"),
    ):
        assert re.search(said, client.refused("launch", **arguments)), said
    assert "nothing to attach to" in client.refused("attach")
    assert "`fly` is not answered" in client.refused("fly")
    client.launch(program=elf, board=BOARDS[0], bord="telosb", __restart=None, preLaunchTask="make")
    assert client.output["important"] == "`bord` of the launch request is not known here: `board`?\n"
    assert "not as the protocol has them" in client.refused("setBreakpoints")
    assert "the program has run since" in client.refused("variables", variablesReference=9)


def test_a_program_without_debug_data_stops_at_symbols(folder: Any, client: Client, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(folder(BOARDS[0]), bare)
    shutil.rmtree(bare / "build")
    assert make(bare, "CFLAGS=-g0").returncode == 0
    client.launch(program=str(bare / "build" / "node.elf"), board=BOARDS[0])
    assert "no debug data with source lines" in client.output["important"]
    (line,) = client.breakpoints(bare / "main.c", line_of("rounds++"))
    assert not line["verified"] and "compile it with `-g" in line["message"]
    (named,) = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "main"}])["breakpoints"]
    assert named["verified"]
    client.ask("configurationDone")
    assert client.until("stopped")["reason"] == "breakpoint"
    before = client.ask("stackTrace", threadId=1)["stackFrames"][0]
    assert before["name"].startswith("main")
    client.go("next")
    assert (
        client.ask("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"]
        != before["instructionPointerReference"]
    )


@pytest.mark.parametrize("way", ["streams", "port"])
def test_a_client_that_vanishes_ends_the_process(way: str, folder: Any) -> None:
    at = folder(BOARDS[0])
    with adapter(*(["--port", "0"] if way == "port" else [])) as process:
        assert process.stderr is not None
        if way == "port":
            address = process.stderr.readline().decode().split()[-1]
            host, _, port = address.partition(":")
            stream = Heard.from_socket(socket.create_connection((host, int(port)), timeout=10))
        else:
            stream = Heard.from_process(process)
        client = Client(stream)
        client.launch(program=str(at / "build" / "node.elf"), board=BOARDS[0], stopOnEntry=True)
        client.ask("configurationDone")
        client.until("stopped")
        client.value("turns = 0")
        client.ask("continue", threadId=1)
        client.stream.close()
        if way == "streams" and process.stdin is not None:
            process.stdin.close()
        assert process.wait(timeout=10) == 0
        assert b"Traceback" not in process.stderr.read()


def test_what_is_no_message_is_a_sentence(sunseal_process: Cli) -> None:
    for sent, said in (
        (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", "lacks Content-Length"),
        (b"Content-Length: 99999999999\r\n\r\n", "at most"),
        (b"Content-Length: 5\r\n\r\n{]{]{", "no JSON"),
        (b"Content-Length: 2\r\n\r\n[]", "no object"),
    ):
        command = [sys.executable, "-m", "sunseal", "dap"]
        done = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (2, b"")
        assert said in done.stderr.decode(), done.stderr


def test_two_at_one_port_are_refused() -> None:
    with socket.socket() as taken:
        taken.bind((server.HOST, 0))
        taken.listen(1)
        with pytest.raises(SunsealError, match="cannot be listened at"):
            server.on_port(taken.getsockname()[1], lambda _: None)


@pytest.mark.parametrize(("board", "name"), [("micaz", "avr-gdb"), ("msp432p401r-launchpad", "gdb-multiarch")])
def test_lines_and_prologues_are_gdbs(board: str, name: str, folder: Any) -> None:
    gdb = shutil.which(name)
    require(gdb is not None, f"{name} (firmware/toolchain/get --for tests)")
    elf = folder(board) / "build" / "node.elf"
    program = Program(elf.read_bytes(), elf)
    functions = ["main", "twice", "round_of", "board_init", "board_write"]
    commands = [f"break {f}" for f in functions] + [f"info line main.c:{line_of(t)}" for t in ("total +=", "rounds++")]
    done = subprocess.run(
        [str(gdb), "-nx", "-batch", str(elf), *(word for c in commands for word in ("-ex", c))],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    places = [int(at, 16) for at in re.findall(r"^Breakpoint \d+ at (0x[0-9a-f]+)", done.stdout, re.M)]
    if board != "micaz":  # gdb reads an AVR's prologues itself, without the lines
        assert places == [program.entries_of(f)[0] for f in functions], done.stdout
    starts = re.findall(r"starts at address (0x[0-9a-f]+)", done.stdout)
    lines = [program.line(program.named("main.c"), line_of(t)) for t in ("total +=", "rounds++")]
    assert [int(at, 16) for at in starts] == [line.addresses[0] for line in lines if line is not None], done.stdout
