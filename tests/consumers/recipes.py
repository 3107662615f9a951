# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ways in which firmware is built: the user's own lines and commands for each, against the package alone.

A recipe runs in a folder with the unpacked package, the user's `main.c`, and his board's start-up code and linker
script. `{S}` is the package's folder; compilers are found on PATH.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

LINES_MAX = 6
COMMANDS_MAX = 2
ALL = "$(find {S}/src -name '*.[cS]')"
RUNTIME = "$(find {S}/runtime -name '*.S')"
ARM = "-mcpu=cortex-m4 -mthumb -O2 -ffunction-sections -fdata-sections -I{S}/src"
ARM_LINK = "-nostartfiles -Wl,--gc-sections -T arm.ld"
MSP430 = "clang --target=msp430-elf -fno-integrated-as -Wa,-mcpu=430 -Os -ffunction-sections -isystem libc -I{S}/src"

Board = Literal["msp432p401r-launchpad", "micaz", "msp430f5438a-anagear", "telosb", "host"]


@dataclass(frozen=True)
class Recipe:
    """Commands that make `node.elf` and the files, by name, that the user wrote for them."""

    board: Board
    support: tuple[str, ...]
    """The board's own files."""
    commands: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    main: str = "main.c"
    made: str = "node.elf"
    tools: tuple[str, ...] = ()
    """Programs that it needs besides the compilers."""

    @property
    def lines(self) -> int:
        """Number of the user's lines."""
        return sum(len(text.strip().splitlines()) for text in self.files.values())


def arm(flags: str, main: str = "main.c", link: str = ARM_LINK, more: str = "") -> Recipe:
    """Build by one command of GCC's: sources, and what the linker drops of them."""
    return Recipe(
        "msp432p401r-launchpad",
        ("arm.c", "arm.ld"),
        (f"arm-none-eabi-gcc {ARM} {flags} {link} {main} arm.c {ALL} {more} -o node.elf",),
        main=main,
    )


CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(node C)
find_package(sunseal-crypto 0.1 REQUIRED)
add_executable(node.elf main.c {board})
target_link_libraries(node.elf sunseal::crypto)
"""
MESON = """\
project('node', 'c')
crypto = dependency('sunseal-crypto', fallback: 'sunseal-crypto')
executable('node.elf', 'main.c', '{board}', dependencies: crypto)
"""
CROSS = (
    "-DCMAKE_SYSTEM_NAME=Generic -DCMAKE_C_COMPILER=arm-none-eabi-gcc -DCMAKE_ASM_COMPILER=arm-none-eabi-gcc"
    " -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DCMAKE_AR=$(command -v arm-none-eabi-ar)"
    " -DCMAKE_RANLIB=$(command -v arm-none-eabi-ranlib)"
    " '-DCMAKE_C_FLAGS=-mcpu=cortex-m4 -mthumb' '-DCMAKE_ASM_FLAGS=-mcpu=cortex-m4 -mthumb'"
    " '-DCMAKE_EXE_LINKER_FLAGS=-nostartfiles -Wl,--gc-sections -T {here}/arm.ld' -DCMAKE_BUILD_TYPE=Release"
)

RECIPES = {
    "gcc, Cortex-M4, soft": arm("-mfloat-abi=soft"),
    "gcc, Cortex-M4, softfp": arm("-mfloat-abi=softfp -mfpu=fpv4-sp-d16"),
    "gcc, Cortex-M4, hard": arm("-mfloat-abi=hard -mfpu=fpv4-sp-d16"),
    "gcc, C sources on a core without assembly": arm("-mcpu=cortex-m3 -DSUNSEAL_PORTABLE=1"),
    "gcc, C++17, Cortex-M4": Recipe(
        "msp432p401r-launchpad",
        ("arm.c", "arm.ld"),
        (
            f"arm-none-eabi-gcc {ARM} -c arm.c {ALL}",
            f"arm-none-eabi-gcc -std=c++17 -fno-exceptions -fno-rtti {ARM} {ARM_LINK} main.cpp *.o -o node.elf",
        ),
        main="main.cpp",
    ),
    "avr-gcc 5.4": Recipe(
        "micaz",
        ("avr.c",),
        (f"avr-gcc -mmcu=atmega128 -Os -ffunction-sections -Wl,--gc-sections -I{{S}}/src *.c {ALL} -o node.elf",),
    ),
    "clang, lld, MSP432P401R with its AES module": Recipe(
        "msp432p401r-launchpad",
        ("arm.c", "arm.ld", "libc/string.h"),
        (
            f"clang --target=thumbv7em-none-eabi {ARM} -mfloat-abi=soft -DSUNSEAL_MSP432=1 -isystem libc -c"
            f" main.c arm.c {ALL} {RUNTIME}",
            "ld.lld --gc-sections -T arm.ld *.o -o node.elf",
        ),
    ),
    "clang, GNU as, lld, MSP430F5438A": Recipe(
        "msp430f5438a-anagear",
        ("msp430.S", "msp430f5438a.ld", "libc/string.h"),
        (
            f"{MSP430} -mmcu=msp430f5438a -c main.c msp430.S {ALL} {RUNTIME}",
            "ld.lld --gc-sections -T msp430f5438a.ld *.o -o node.elf",
        ),
    ),
    "clang, GNU as, lld, an MSP430X told by defines": Recipe(
        "msp430f5438a-anagear",
        ("msp430.S", "msp430f5438a.ld", "libc/string.h"),
        (
            f"{MSP430} -mhwmult=16bit -DSUNSEAL_MSP430X=1 -DSUNSEAL_MPY=16 -DSUNSEAL_MPY_AT=0x04C0 -c"
            f" main.c msp430.S {ALL} {RUNTIME}",
            "ld.lld --gc-sections -T msp430f5438a.ld *.o -o node.elf",
        ),
    ),
    "clang, GNU as, lld, MSP430F1611": Recipe(
        "telosb",
        ("msp430.S", "msp430f1611.ld", "libc/string.h"),
        (
            f"{MSP430} -mmcu=msp430f1611 -c main.c msp430.S {ALL} {RUNTIME}",
            "ld.lld --gc-sections -T msp430f1611.ld *.o -o node.elf",
        ),
    ),
    "cmake, find_package from the folder, Cortex-M4": Recipe(
        "msp432p401r-launchpad",
        ("arm.c", "arm.ld"),
        (
            f"cmake -S . -B build -G Ninja -Dsunseal-crypto_DIR={{here}}/{{S}} {CROSS}",
            "cmake --build build",
        ),
        {"CMakeLists.txt": CMAKE.format(board="arm.c")},
        made="build/node.elf",
        tools=("cmake", "ninja"),
    ),
    "cmake, find_package after install, host": Recipe(
        "host",
        ("host.c",),
        (
            "cmake -S {S} -B library -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX={here}/usr"
            " && cmake --build library --target install",
            "cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH={here}/usr && cmake --build build",
        ),
        {"CMakeLists.txt": CMAKE.format(board="host.c")},
        made="build/node.elf",
        tools=("cmake", "ninja"),
    ),
    "meson, host": Recipe(
        "host",
        ("host.c",),
        ("mkdir subprojects && mv {S} subprojects/sunseal-crypto", "meson setup build && ninja -C build"),
        {"meson.build": MESON.format(board="host.c")},
        made="build/node.elf",
        tools=("meson", "ninja"),
    ),
    "a tree as Arduino's builder compiles it, ATmega128": Recipe(
        "micaz",
        ("avr.c",),
        (
            "mkdir libraries && mv {S} libraries/Sunseal_Crypto",
            # Options of Arduino's platform.txt; the sketch stands for what its builder makes of it.
            "avr-gcc -mmcu=atmega128 -Os -flto -fuse-linker-plugin -ffunction-sections -Wl,--gc-sections"
            " -w -Ilibraries/Sunseal_Crypto/src main.cpp avr.c"
            " $(find libraries/Sunseal_Crypto/src -name '*.[cS]') -o node.elf",
        ),
        main="main.cpp",
    ),
    "C++17, host": Recipe(
        "host",
        ("host.c",),
        (f"cc -O2 -I{{S}}/src -c host.c {ALL}", "c++ -std=c++17 -I{S}/src main.cpp *.o -o node.elf"),
        main="main.cpp",
    ),
}
