# SPDX-License-Identifier: MIT OR Apache-2.0
"""A folder for a program of one's own on a board, which builds and runs at once: `sunseal new`.

What starts a chip is copied from `firmware/runtime`, registers and memories come from `data/`; the rest are the
templates beside this file, in which `@NAME@` is a fact of the board.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, si
from sunseal.errors import SunsealError
from sunseal.kit import registers
from sunseal.kit.doctor import DEBUGGERS, find_tool, tool_folders

TEMPLATES = Path(__file__).resolve().parent / "templates"
SHARED = {
    "msp430": ("crt0.S", "memory.S", "mspabi_div.S", "mspabi_mul_mpy.S", "mspabi_shift.S"),
    "armv7em": ("crt0.S", "memory.S", "aeabi_div.S"),
    "avr": ("crt0.S", "memory.S"),
}
"""Files of firmware/runtime that each core's programs are built with."""

SLEEP = {
    "msp430": "LPM3_bits /* ACLK's timers run on; LPM0_bits: SMCLK's, too. Handlers are WAKING_ISR */",
    "avr": "(SM1 | SM0) /* power-save: Timer 0 runs on a watch crystal; 0, idle: all run on */",
    "armv7em": "0 /* sleep, all run on; SLEEPDEEP: LPM3, in which ACLK's timers run on */",
    "stm32l4": "0 /* sleep, all run on; SLEEPDEEP: what PWR_CR1.LPMS says, in which RTC and LPTIM on LSE run on */",
}
"""Each core's mode of sleeping, or each family's, and what else there is, in C."""

FILES = {name: name for name in ("main.c", "board.h", "board.c", "Makefile", "CMakeLists.txt", "toolchain.cmake")}
FILES |= {"README.md": "README.md", "pytest.ini": "pytest.ini", "test_node.py": "test_node", ".gitignore": "gitignore"}
FILES |= {".vscode/launch.json": "launch.json", ".vscode/tasks.json": "tasks.json"}
FILES |= {".github/workflows/test.yml": "workflow.yml", "Dockerfile": "Dockerfile", ".dockerignore": "dockerignore"}
"""Each file that is a template filled in."""
OURS = ("main.c", "board.c", "board.h", "test_node.py")
"""The program that says hello, which a folder for somebody else's program does without."""


def write(folder: Path, board: str, programs: Sequence[Path] = ()) -> list[str]:
    """Write the folder and return the names of its files; `programs` are sources to build instead of our own.

    Raises
    ------
    SunsealError where the folder holds something already, the board is not known, or has no UART to say hello over, or
    a source is not there, or is no C.
    """
    taken = _taken(programs)
    facts = _facts(boards.board(board), board, folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SunsealError(f"`{folder}` is there already and not an empty folder: give a new name")
    files: dict[str, str | bytes] = {}
    files |= {name: _filled(template, facts) for name, template in FILES.items() if not (taken and name in OURS)}
    if taken:
        files["test_node.py"] = _filled("test_foreign", facts)
        files["README.md"] = _filled("README_foreign.md", facts | {"PROGRAMS": ", ".join(f"`{n}`" for n in taken)})
    files |= {f"include/{name}": text for name, text in registers.include(facts["DEVICE"]).items()}
    files |= {"link.ld": registers.link_script(facts["DEVICE"])}
    files |= _runtime(facts)
    for name in taken.keys() & files.keys():
        raise SunsealError(f"`{name}` is a file of the new folder itself: give the program another name")
    files |= taken
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
    return sorted(files)


def compilers_missing(board: str) -> str | None:
    """Return the command that fetches a board's compilers where neither the cache nor PATH has them, else None."""
    avr = registers.runtime(registers.device(str(boards.board(board)["device"]))) == "avr"
    folders, wanted = tool_folders(("avr",) if avr else ("firmware",)), "avr-gcc" if avr else "ld.lld"
    there = any(find_tool(name, folders) for name in (wanted, f"{wanted}-19"))
    return None if there else f"sunseal toolchain get{' --for avr' * avr}"


def _taken(programs: Sequence[Path]) -> dict[str, bytes]:
    """Read somebody else's sources as they are, whatever their encoding."""
    taken: dict[str, bytes] = {}
    for path in programs:
        if path.suffix.lower() not in (".c", ".h"):
            raise SunsealError(f"`{path}` is no source in C: --from takes files that end in .c or .h")
        if path.name in taken:
            raise SunsealError(f"`{path.name}` is given twice: the new folder has room for one file of a name")
        try:
            taken[path.name] = path.read_bytes()
        except OSError as error:
            raise SunsealError(f"{path}: {error.strerror}; --from takes a program's source") from error
    if programs and not any(re.search(rb"\bmain\s*\(", text) for text in taken.values()):
        raise SunsealError(f"no function `main` in {', '.join(taken)}: give all of the program's files, each by --from")
    return taken


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _filled(name: str, facts: dict[str, str]) -> str:
    """Put facts into a template; a line that is left empty by one is dropped."""
    text = _template(name)
    if "@CORE@" in text:
        ending = ".cmake" if name.endswith(".cmake") else ".mk"
        text = text.replace("@CORE@", _template(facts["RUNTIME_FOLDER"] + ending).rstrip())
    for empty in (key for key, value in facts.items() if not value):
        text = text.replace(f"@{empty}@\n", "")
    while found := re.search(r"@([A-Z_]+)@", text):
        text = text.replace(found[0], facts[found[1]])
    return text


def _runtime(facts: dict[str, str]) -> dict[str, str]:
    """Copy what starts the chip, and what the compiler calls, from where the firmware has it."""
    core, firmware = facts["RUNTIME_FOLDER"], boards.home() / "firmware"
    here = firmware / "runtime" / core
    files = {f"runtime/{name}": (here / name).read_text(encoding="utf-8") for name in SHARED[core]}
    for path in sorted((firmware / "runtime" / "include").iterdir()):
        files[f"runtime/include/{path.name}"] = path.read_text(encoding="utf-8")
    if core == "msp430":
        files["runtime/isa430x.awk"] = (firmware / "toolchain" / "isa430x.awk").read_text(encoding="utf-8")
        files["runtime/assemble"] = _filled("assemble", facts)
        files["runtime/compile"] = _template("compile")
    return files


def _facts(board: dict[str, Any], name: str, folder: Path) -> dict[str, str]:
    """Gather what the templates ask for."""
    device = str(board["device"])
    chip = registers.device(device)
    told = registers.family(str(chip["family"]))
    core = registers.runtime(chip)
    leds = board.get("leds", {})
    led = leds.get("red") or next(iter(leds.values()), board["trigger"]["pin"])
    out, direction, bit = _stm32_pin(led) if chip["family"] == "stm32l4" else _pin(led)
    mclk_hz, by_chip = si.mclk_hz(told["reset"], board)
    facts = {
        "NAME": folder.resolve().name,
        "PROJECT": re.sub(r"\W", "_", f"node_{folder.resolve().name}"),
        "BOARD": name,
        "TITLE": str(board["title"]),
        "DEVICE": device,
        "RUNTIME_FOLDER": core,
        "VERSION": _engine.VERSION,
        "GDB": DEBUGGERS[core],
        "DEBUG_CONFIGURATION": _template("launch_cortex.json" if core == "armv7em" else "launch_gdb.json").rstrip(),
        "LED": f"{led}, a LED" if leds else f"{led}, the trigger pin: the board has no LED",
        "LED_OUT": out,
        "LED_DIR": direction,
        "LED_BIT": bit,
        "LED_SHIFT": str(2 * int(bit.removeprefix("BIT"), 16)),
        # The power sets of chips do not price what else a board has on its pins.
        "TEST_ENERGY": "" if board.get("part") else "    assert node.energy_j < 10e-3",
        "MCLK_HZ": mclk_hz,
        "MCLK_SOURCE": "after a reset" if by_chip else "the crystal",
        "SLEEP": SLEEP.get(chip["family"], SLEEP[core]),
        "WAIT": _template(f"wait_{core}.c").rstrip(),
    }
    rates = told["reset"].get("baud_9600", {})
    facts |= {key: f"0x{value:X}" if "CTL" in key else str(value) for key, value in rates.items()}
    return facts | _uart_facts(board, name, chip, told, led) | _tool_facts(chip, core)


def _pin(name: str) -> tuple[str, str, str]:
    """Return output register, direction register and bit of `P5.4`, or of an AVR's `PA2`."""
    if "." in name:
        port, bit = name.split(".")
        return f"{port}OUT", f"{port}DIR", f"BIT{bit}"
    return f"PORT{name[1]}", f"DDR{name[1]}", f"BIT{name[2]}"


def _stm32_pin(name: str) -> tuple[str, str, str]:
    """Return output register, mode register and bit of an STM32's `PA5`."""
    return f"GPIO{name[1]}_ODR", f"GPIO{name[1]}_MODER", f"BIT{int(name[2:]):X}"


ENABLE_REGISTERS = {0x48: "AHB1ENR", 0x4C: "AHB2ENR", 0x58: "APB1ENR1", 0x5C: "APB1ENR2", 0x60: "APB2ENR"}
"""Registers of an STM32L4's RCC that let a block have its clock, by offset (RM0351, RCC registers)."""


def _stm32_pins(row: dict[str, Any], chip: dict[str, Any], led: str) -> list[str]:
    """Write what gives ports and UART their clocks, and the UART its pins."""
    pins = [str(row["txd"]), str(row["rxd"])]
    enables = {block["name"]: block.get("enable") for block in chip["block"]}
    clocks: dict[int, int] = {}
    for block in (str(row["serial"]), *(f"gpio{pin[1].lower()}" for pin in (*pins, led))):
        offset, bit = enables[block]
        clocks[offset] = clocks.get(offset, 0) | 1 << bit
    lines = [f"    RCC_{ENABLE_REGISTERS[offset]} |= 0x{bits:X};" for offset, bits in sorted(clocks.items())]
    lines += [f"    (void)RCC_{ENABLE_REGISTERS[max(clocks)]}; /* two cycles until the clocks are there */"]
    function = int(row["select"][0].removeprefix("AF"))
    for pin in pins:
        port, bit = f"GPIO{pin[1]}", int(pin[2:])
        for register, shift, width, value in (
            (f"{port}_AFR{'LH'[bit // 8]}", 4 * (bit % 8), 0xF, function),
            (f"{port}_MODER", 2 * bit, 3, 2),
        ):
            lines.append(
                f"    {register} = ({register} & ~(0x{width:X}u << {shift})) | {value}u << {shift}; /* {pin} */"
            )
    return lines


def _uart_facts(
    board: dict[str, Any], name: str, chip: dict[str, Any], told: dict[str, Any], led: str
) -> dict[str, str]:
    serial = str(board.get("log", {}).get("serial", ""))
    number = serial[-1:]
    kin = set(boards.device_kin(str(chip["name"])))
    led_out = [u for u in told["uart"] if kin & set(u["devices"])]
    row = next((u for u in led_out if u["serial"] == serial), None)
    if row is None:
        known = ", ".join(u["serial"] for u in led_out)
        if not known:
            raise SunsealError(
                f"no [[uart]] of data/registers/{chip['family']}.toml names the {chip['name']}, so the pins over "
                "which a new program says hello are not known"
            )
        leads = f"leads `{serial}` out" if serial else "leads no UART out"
        raise SunsealError(f"{name} {leads}, and a new program says hello over {known} of the {chip['name']}")
    pins = (
        _stm32_pins(row, chip, led)
        if chip["family"] == "stm32l4"
        else [
            f"    {row['txd'].split('.')[0]}{select} |= BIT{row['txd'][-1]} | BIT{row['rxd'][-1]}; /* TXD, RXD */"
            for select in row["select"]
        ]
    )
    if chip["family"] == "msp430fr5xx":
        pins.append("    PM5CTL0 &= (uint16_t)~LOCKLPM5; /* pins are held until then */")
    template = {"msp430fr5xx": "msp432p4"}.get(chip["family"], chip["family"])
    # The F1611's enable bits of USART0 lie in ME1, those of USART1 in ME2.
    facts = {"NUMBER": number, "MODULE": {"0": "1", "1": "2"}.get(number, ""), "PINS": "\n".join(pins)}
    return facts | {"UART": _template(f"uart_{template}.c")}


def _tool_facts(chip: dict[str, Any], core: str) -> dict[str, str]:
    classic = chip["core"] == "cpu"
    multiplier = 16 if "mpy16" in chip else 32
    floats = {
        "msp430": "- clang brings no floating point; `make TOOLCHAIN=gcc` with msp430-elf-gcc on PATH does.",
        "armv7em": "- The floating-point unit computes `float`; `double` needs `make TOOLCHAIN=gcc`.",
    }
    help_gcc = {
        "msp430": "#   make TOOLCHAIN=gcc     msp430-elf-gcc of PATH for all of it",
        "armv7em": "#   make TOOLCHAIN=gcc     arm-none-eabi-gcc of PATH for all of it",
    }
    return {
        "GROUP": "avr" if core == "avr" else "firmware",
        "GET_FOR": " --for avr" if core == "avr" else "",
        "PROCESSOR": {"msp430": "msp430", "avr": "avr", "armv7em": "arm"}[core],
        "CLASSIC": "-v classic=1 " if classic else "",
        "CLANG_HWMULT": "16bit" if multiplier == 16 else "f5series",
        "GCC_CPU": "-mcpu=msp430" if classic else "-mcpu=msp430x -msmall",
        "DEFINES": f"-DSUNSEAL_DEVICE_{chip['name']}=1 -DSUNSEAL_MPY={multiplier}",
        "MAKE_HELP": help_gcc.get(core, ""),
        "README_FLOATS": floats.get(core, ""),
    }
