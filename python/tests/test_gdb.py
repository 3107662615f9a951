# SPDX-License-Identifier: MIT OR Apache-2.0
"""A session with the real debugger on each instruction set, begun by the line that `sunseal gdb` prints."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys

import pytest

from conftest import require
from sunseal.catalog import boards
from sunseal.kit import doctor

SESSION = (
    "set confirm off",
    "break main",
    "continue",
    'printf "pc is %x\\n", $pc',
    "stepi",
    "info registers",
    "watch bench_status",
    "continue",
    'printf "status is %d\\n", bench_status',
    "backtrace",
    "delete 2",
    "monitor cut 0.25",
    "continue",
    'printf "again at %x\\n", $pc',
    "detach",
)


@pytest.mark.parametrize(
    ("board", "variant", "name", "register"),
    [
        ("micaz", {}, "avr-gdb", r"^SREG\s+0x"),
        ("msp432p401r-launchpad", {}, "gdb-multiarch", r"^xpsr\s+0x|^xPSR\s+0x"),
        ("msp430fr5994-launchpad", {"mpy": "32"}, "msp430-elf-gdb", r"^r15\s+0x"),
    ],
)
def test_a_session_through_a_loss_of_supply(board: str, variant: dict[str, str], name: str, register: str) -> None:
    elf = boards.firmware_path(board, variant, "bench-aes128-encrypt")
    gdb = doctor.find_tool(name, doctor.tool_folders())
    if name == "msp430-elf-gdb" and gdb is None:
        # Its build takes some minutes of each new machine, so `--for tests` leaves it out.
        pytest.skip("msp430-elf-gdb is not there; `firmware/toolchain/get --for gdb` builds it")
    require(gdb is not None, f"{name} (firmware/toolchain/get --for tests)")
    serve = [sys.executable, "-m", "sunseal", "gdb", str(elf), "--board", board, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        told = ""
        while "target remote" not in told or told.count("'") < 2:
            line = served.stderr.readline()
            assert line, told
            told += line
        program, image, option, remote = shlex.split(" ".join(told.split()).partition("terminal: ")[2])
        assert (shutil.which(program) or program) == shutil.which(str(gdb))
        commands = [word for command in (remote, *SESSION) for word in (option, command)]
        done = subprocess.run(
            [program, "-nx", "-batch", image, *commands], capture_output=True, text=True, check=False, timeout=120
        )
        ended = served.stderr.read()
    text = done.stdout + done.stderr
    assert "the debugger has detached" in ended, text
    assert text.count("Breakpoint 1, ") == 2, text
    stopped, again = re.findall(r"(?:pc is|again at) ([0-9a-f]+)", text)
    assert stopped == again, "the program starts anew behind the loss"
    assert re.search(register, text, re.MULTILINE), text
    assert "atchpoint 2: bench_status" in text and "New value = " in text, text
    assert re.search(r"^#0 .* (in )?main \(|^#0 +main \(", text, re.MULTILINE), text
    assert "the supply was away for 0.25 s" in text
