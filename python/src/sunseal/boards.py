# SPDX-License-Identifier: MIT OR Apache-2.0
"""What there is: boards, workloads, variants, power sets, and where their files lie."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine, places
from sunseal.errors import SunsealError, unknown

DEFAULT_BOARD = "msp430f5438a-anagear"
ROOMS = ("parts", "boards", "power")
"""Rooms of `data/` in which the user may have files of his own."""
MULTIPLIERS = ("none", "16", "32")
CARRIED = Path(__file__).resolve().parent / "home"
"""What a wheel brings along (packaging/wheel)."""
PLAIN_VARIANT = "default"
"""The folder of a board whose firmware has no variants."""


@cache
def home() -> Path:
    """Find the tree that holds `data/` and `firmware/`: SUNSEAL_HOME, above the package, in an installed wheel, or
    above the working directory."""
    named = os.environ.get("SUNSEAL_HOME")
    if named:
        root = Path(named)
        if not (root / "data" / "devices").is_dir():
            raise SunsealError(f"SUNSEAL_HOME is `{named}`, which holds no `data/devices`")
        return root
    # The tree comes first: while a wheel is built, what it will carry lies half done in the package.
    for folder in (*Path(__file__).resolve().parents, CARRIED, Path.cwd(), *Path.cwd().parents):
        if (folder / "data" / "devices").is_dir() and (folder / "firmware").is_dir():
            return folder
    raise SunsealError(
        "the folders `data/` and `firmware/` are in no directory above the package or here",
        hint="set SUNSEAL_HOME to a clone of the repository",
    )


def read_toml(path: Path) -> dict[str, object]:
    """Read a data file; a broken one is named with its line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be read: {e.strerror or e}") from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise SunsealError(f"`{path}` is not valid TOML: {e}") from e


@cache
def _library(folders: tuple[Path, ...], data: Path) -> _engine.Library:
    return _engine.Library(list(folders), data)


def library() -> _engine.Library:
    """Return where the engine, and this module through it, look for parts, boards and power sets."""
    return _library(places.own_folders(), home() / "data")


def names(folder: str) -> list[str]:
    """List the entries of one room of `data/`, the user's own with them, by file name without its ending."""
    if folder in ROOMS:
        return library().names(folder)
    return sorted(p.stem for p in (home() / "data" / folder).glob("*.toml"))


def _path(room: str, kind: str, name: str) -> Path:
    """Return the file of a part, board or power set that exists; else say where it was looked for."""
    path = library().find(room, name)
    if path is None:
        wrong = unknown(kind, name, names(room))
        looked = ", ".join(f"`{folder}`" for folder in (*places.own_folders(), home() / "data"))
        hint = f"looked in {looked}"
        raise SunsealError(str(wrong), hint=f"{wrong.hint}; {hint}" if wrong.hint else hint)
    return path


def board_path(name: str) -> Path:
    """Return the file of a board that exists."""
    return _path("boards", "board", name)


def part_path(name: str) -> Path:
    """Return the file of a part that exists."""
    return _path("parts", "part", name)


def _facts(room: str, path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(library().table(room, path))
    return told


def board(name: str) -> dict[str, Any]:
    """Return what a board's file says, with what it extends; a radio `"none"` is none."""
    return _facts("boards", board_path(name))


def part(name: str) -> dict[str, Any]:
    """Return what a part's file says, with what it extends."""
    return _facts("parts", part_path(name))


def called(kind: str, name: str) -> str:
    """Return what a board or a part is called: its title up to the first comma or colon."""
    title: str = (board(name) if kind == "boards" else part(name)).get("title", name)
    return re.split("[,:]", title, maxsplit=1)[0]


def load(name: str) -> _engine.Board:
    """Return a board as the engine reads it."""
    return _engine.Board(board_path(name), library())


def origin(path: Path) -> str:
    """Say where a file is from: the package, or which folder of the user's own."""
    if path.is_relative_to(home() / "data"):
        return "package"
    cwd = Path.cwd()
    return str(path.parent.relative_to(cwd)) if path.is_relative_to(cwd) else str(path.parent)


def scenario_path(given: Path) -> Path:
    """Return a scenario's file: a path, or a name that is looked for in the user's folders and then in the package."""
    if given.is_file() or given.parent != Path() or given.suffix not in ("", ".toml"):
        return given
    file = f"{given.stem}.toml"
    folders = [f for own in (Path.cwd(), *places.own_folders()) for f in (own, own / "scenarios")]
    looked = [*folders, home() / "examples" / "scenarios"]
    found = next((folder / file for folder in looked if (folder / file).is_file()), None)
    if found is None:
        raise SunsealError(
            f"there is no scenario `{given}`, neither as a file nor by name",
            hint=f"looked for {file} in {', '.join(f'`{folder}`' for folder in dict.fromkeys(looked))}",
        )
    return found


def residual_known(name: str) -> bool:
    """Say whether a board's residual current, beside chip and radio, was measured by anybody."""
    power = board(name).get("power")
    return isinstance(power, dict) and "residual" in power


def power_set_path(name: str, device: str) -> Path:
    """Return the file of a power set, by its full name or without the device in front."""
    for candidate in (name, f"{device}-{name}"):
        found = library().find("power", candidate)
        if found is not None:
            return found
    fitting = [k for k in names("power") if k.startswith(f"{device}-")]
    raise unknown("power set", name, fitting, f"for {device}")


def gaps(part: str) -> list[tuple[str, str, str]]:
    """List what of a device or another part is not modelled: block, what of it, why or what happens."""
    for folder in ("devices", "parts"):
        if part in names(folder):
            path = home() / "data" / folder / f"{part}.toml"
            facts = read_toml(path) if folder == "devices" else _facts(folder, part_path(part))
            break
    else:
        raise unknown("device or part", part, [*names("devices"), *names("parts")])
    whole, some = (_tables(facts.get(key)) for key in ("gap", "partial"))
    return [
        *((g["name"], _span(g), f"traps: {g['why']}") for g in whole),
        *((p["name"], "", f"missing: {p['missing']}") for p in some),
    ]


def _tables(value: object) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else []


def _span(gap: dict[str, Any]) -> str:
    return f"{gap['start']:#06x} to {gap['end']:#06x}" if "start" in gap else ""


@dataclass(frozen=True)
class Workload:
    """`<algorithm>[-<parameter>]-<operation>`, one bench program each: a WORKLOAD in firmware/bench."""

    name: str
    algorithm: str
    parameter: str | None
    operation: str
    hash: str
    security_bits: int
    summary: str
    own_clock: bool = False
    """Its program sets the clocks, and an oscillator says how long it takes: it is priced as it runs."""

    @property
    def program(self) -> str:
        """Name of its ELF behind `bench-`: C has no `-`, the Makefile writes each `_` so."""
        return self.name.replace("_", "-")


def _ecdsa(parameter: str, bits: int, hash_name: str) -> Iterator[Workload]:
    text = {
        "keygen": "private scalar from entropy, public point Q = dG",
        "sign": f"{hash_name} of the message, hedged nonce, r and s",
        "sign-offline": "nonce k, r = x(kG) and 1/k, for a signature to come",
        "sign-online": "s of a hash from what sign-offline has left",
        "verify": f"{hash_name} of the message, u1 G + u2 Q, comparison with r",
    }
    for op, summary in text.items():
        yield Workload(f"ecdsa-{parameter}-{op}", "ecdsa", parameter, op, hash_name, bits, summary)
    agreed = "checked point times private scalar"
    yield Workload(f"ecdh-{parameter}-agree", "ecdh", parameter, "agree", hash_name, bits, agreed)


def _all_workloads() -> Iterator[Workload]:
    yield from _ecdsa("secp160r1", 80, "sha1")
    for w in _ecdsa("secp160r1", 80, "sha256"):
        if w.operation in ("sign", "verify"):
            yield replace(w, name=f"{w.name}-sha256")
    yield from _ecdsa("p224", 112, "sha256")
    yield from _ecdsa("p256", 128, "sha256")
    yield from _intermittent("secp160r1", 80, "sha1")
    yield from _intermittent("p256", 128, "sha256")
    yield Workload("x25519-agree", "x25519", None, "agree", "", 128, "Montgomery ladder on Curve25519")
    for op, summary in (
        ("keygen", "private key from entropy, public point"),
        ("sign", "deterministic nonce over SHA-512, R and S of a message of 64 bytes"),
        ("verify", "S B = R + k A over SHA-512"),
    ):
        yield Workload(f"ed25519-{op}", "ed25519", None, op, "sha512", 128, summary)
    for size, bits in (("1024", 80), ("2048", 112)):
        yield Workload(f"rsa-{size}-sign", "rsa", size, "sign", "sha256", bits, "PKCS#1 v1.5, CRT, blinded, checked")
        yield Workload(f"rsa-{size}-verify", "rsa", size, "verify", "sha256", bits, "PKCS#1 v1.5, e = 65537")
    for h, bits in (("sha1", 80), ("sha256", 128), ("sha512", 256)):
        yield Workload(f"{h}-hash", h, None, "hash", h, bits, f"{h} of a message of 64 bytes")
    yield Workload("hmac-sha256-tag", "hmac", "sha256", "tag", "sha256", 128, "tag of a message of 64 bytes")
    yield Workload("hkdf-sha256-derive", "hkdf", "sha256", "derive", "sha256", 128, "42 bytes from 32 of key material")
    yield from _symmetric()
    yield from _one_time()
    yield from _random()
    yield from _coupons()


def _intermittent(parameter: str, bits: int, hash_name: str) -> Iterator[Workload]:
    for op, summary in (
        ("sign-steps", "sign in steps between which it may be left"),
        ("sign-tasks", "the same, every fourth step committed to FRAM"),
        ("sign-checkpoint", "sign, with a checkpoint in FRAM if the supply falls"),
    ):
        yield Workload(f"ecdsa-{parameter}-{op}", "ecdsa", parameter, op, hash_name, bits, summary)


def _symmetric() -> Iterator[Workload]:
    behind = {
        None: "the board's choice",
        "sbox": "S-box",
        "tbox": "T-box",
        "fixslice": "no tables",
        "hw": "accelerator",
    }
    for way, how in behind.items():
        name = "-".join(filter(None, ("aes128", way, "encrypt")))
        yield Workload(name, "aes128", way, "encrypt", "", 128, f"16 blocks, key schedule before: {how}")
    for mode, op, what in (
        ("ctr", "encrypt", "64 bytes in counter mode"),
        ("ccm", "seal", "64 bytes sealed, 19 besides, tag of 16"),
        ("cmac", "tag", "tag of a message of 64 bytes"),
    ):
        yield Workload(f"aes128-{mode}-{op}", "aes128", mode, op, "", 128, what)
    for size, way, how in ((80, None, "bitsliced"), (80, "table", "tables"), (128, None, "bitsliced")):
        name = "-".join(filter(None, (f"present{size}", way, "encrypt")))
        yield Workload(name, f"present{size}", way, "encrypt", "", size, f"32 blocks, key schedule before: {how}")
    yield Workload("xtea-encrypt", "xtea", None, "encrypt", "", 126, "32 blocks, round keys before")
    yield Workload("ascon-aead128-seal", "ascon", "aead128", "seal", "", 128, "64 bytes sealed, 16 besides")
    yield Workload("ascon-hash256-hash", "ascon", "hash256", "hash", "", 128, "hash of a message of 64 bytes")


def _one_time() -> Iterator[Workload]:
    for name, op, what in (
        ("wots", "keygen", "public key of 67 chains of 16 values"),
        ("wots", "sign", "index burnt, signature of 2144 bytes"),
        ("wots", "verify", "chains to their ends"),
        ("ldots", "sign", "index burnt, one value a bit, 8192 bytes"),
        ("lms", "sign", "SHA-256/192, 32 keys, chains of 16 values; index burnt, 1380 bytes"),
        ("lms", "verify", "SHA-256/192, chains to their ends, path to the root"),
    ):
        yield Workload(f"{name}-{op}", name, None, op, "sha256", 96 if name == "lms" else 128, what)


def _random() -> Iterator[Workload]:
    for name, parameter, op, what in (
        ("trng-sram-256bit", "sram", "256bit", "2560 bytes of SRAM at start-up, each tested, to 256 bits"),
        ("trng-sha256-condition", "sha256", "condition", "512 samples to 256 bits by SHA-256"),
        ("trng-aes-condition", "aes", "condition", "512 samples to 128 bits by CBC-MAC, key schedule included"),
        ("trng-xor16-condition", "xor16", "condition", "512 samples folded 16 to 1, Von Neumann, to 48 bits"),
        ("trng-xor32-condition", "xor32", "condition", "512 samples folded 32 to 1, Von Neumann, to 24 bits"),
    ):
        yield Workload(name, "trng", parameter, op, "", 128, what)
    for generator, what in (
        ("osc_clksft", "VLO against a DCO that shifts, 16 low bits to 1, Von Neumann"),
        ("osc_noclksft", "VLO against DCO, 32 low bits to 1, Von Neumann"),
        ("sram_aes", "3072 bytes of SRAM at start-up by CBC-MAC on the accelerator"),
        ("sram_swaes", "the same by the S-box in software"),
        ("sram_sha256", "2560 bytes of SRAM at start-up by SHA-256"),
        ("sram_xor16cvn", "SRAM at start-up folded 16 to 1, Von Neumann"),
        ("sram_xor32cvn", "SRAM at start-up folded 32 to 1, Von Neumann"),
    ):
        osc = generator.startswith("osc")
        made = f"256 random bits, each sample tested: {what}"
        yield Workload(f"trng-{generator}-256bit", "trng", generator, "256bit", "", 128, made, osc)
    yield Workload("hmac-drbg-generate", "drbg", "hmac", "generate", "sha256", 128, "32 bytes from a seeded generator")


def _coupons() -> Iterator[Workload]:
    for parameter, hash_name, bits, made, used in (
        ("ctr", "", 128, "keystream of 128 bytes", "128 bytes encrypted"),
        ("ccm", "", 128, "keystream and MAC blocks for 64 bytes", "64 bytes sealed, 16 besides"),
        ("schedule", "", 128, "a key with its AES-128 schedule", "the schedule fetched"),
        ("random", "", 128, "256 bits from a source that costs nothing", "256 bits fetched"),
        ("sealed", "", 128, "the same, sealed under a device's key", "256 bits fetched and opened"),
        ("secp160r1", "sha1", 80, "r and 1/k", "s of a hash"),
        ("p224", "sha256", 112, "r and 1/k", "s of a hash"),
        ("p256", "sha256", 128, "r and 1/k", "s of a hash"),
        ("ecdh-p256", "", 128, "an ephemeral key pair", "secret shared with a peer"),
    ):
        for op, what in (("produce", f"{made}, into the store"), ("use", f"{used}: claim, check and wipe included")):
            yield Workload(f"coupon-{parameter}-{op}", "coupon", parameter, op, hash_name, bits, what)
    for parameter, hash_name, bits, kept in (
        ("wots-sha1", "sha1", 80, "fourth"),
        ("wots-sha256", "sha256", 128, "eighth"),
    ):
        for op, what in (
            ("produce", f"each {kept} value of a key's chains, into the store"),
            ("use", "Winternitz signature of a hash: claim, check and wipe included"),
            ("whole", "the same without a coupon, its number burnt"),
        ):
            yield Workload(f"coupon-{parameter}-{op}", "coupon", parameter, op, hash_name, bits, what)
    for curve, hash_name, bits in (("secp160r1", "sha1", 80), ("p224", "sha256", 112), ("p256", "sha256", 128)):
        for way, how in (("steps", "in steps"), ("pool", "of 16 of a pool's 64 pairs, for comparison alone")):
            for op, what in (("produce", f"r and 1/k {how}, into the store"), ("use", "s of a hash: guard included")):
                yield Workload(f"coupon-{curve}-{way}-{op}", "coupon", f"{curve}-{way}", op, hash_name, bits, what)
    for parameter, what in (("ctr", "128 bytes of XOR"), ("random", "256 bits copied")):
        yield Workload(f"coupon-{parameter}-bare", "coupon", parameter, "bare", "", 128, f"{what}, without any guard")


WORKLOADS: dict[str, Workload] = {w.name: w for w in _all_workloads()}


def whole_program(parameter: str) -> Workload:
    """Return the bench program that holds key generation, signing and verification of a curve."""
    signing = WORKLOADS[f"ecdsa-{parameter}-sign"]
    return replace(signing, name=f"ecdsa-{parameter}-all", operation="all", summary="all three operations")


def workload(name: str) -> Workload:
    """Return a workload that exists."""
    try:
        return WORKLOADS[name]
    except KeyError:
        raise unknown("workload", name, WORKLOADS) from None


def _board_mk(board: str) -> dict[str, list[str]]:
    return _made(_firmware_board(board))


@cache
def _made(board: str) -> dict[str, list[str]]:
    """Read what the firmware says of a board: `NAME := words` in board.mk, and in what it includes of `boards`."""
    folder = home() / "firmware" / "boards"
    text = (folder / board / "board.mk").read_text(encoding="utf-8")
    for shared in re.findall(r"^include \$\(HERE\)/boards/(\S+)$", text, re.MULTILINE):
        text += (folder / shared).read_text(encoding="utf-8")
    return {k: v.split() for k, v in re.findall(r"^(\w+)\s*:=(.*)$", text, re.MULTILINE)}


def variants(board: str) -> dict[str, tuple[str, ...]]:
    """Return each hardware fact that a board's firmware is built for, with its values, slowest first."""
    values: dict[str, list[str]] = {}
    if has_firmware(board):
        for folder in _board_mk(board)["VARIANTS_ALL"]:
            words = folder.split("-") if folder != PLAIN_VARIANT else []
            for key, value in zip(words[::2], words[1::2], strict=True):
                values.setdefault(key, []).append(value)
    return {key: tuple(dict.fromkeys(found)) for key, found in values.items()}


def variant(pairs: list[str] | tuple[str, ...], board: str = DEFAULT_BOARD) -> dict[str, str]:
    """Read `mpy=32` pairs over the board's fastest; what no firmware has is refused by name.

    Every variant of the firmware is constant-time, so the fastest is what `measure` takes.
    """
    known = variants(board)
    chosen = {key: values[-1] for key, values in known.items()}
    for pair in pairs:
        key, eq, value = pair.partition("=")
        if not eq or not key or not value:
            raise SunsealError(f"--variant `{pair}` is not written `name=value`, such as `mpy=32`")
        if key not in known:
            raise unknown("variant", key, known or ["none"], f"of {board}")
        if value not in known[key]:
            raise unknown("multiplier", value, known[key], f"of {board} in --variant `{pair}`")
        chosen[key] = value
    return chosen


def variant_text(chosen: dict[str, str]) -> str:
    """Write a variant the way it is typed."""
    return ",".join(f"{k}={v}" for k, v in sorted(chosen.items()))


def _firmware_board(name: str) -> str:
    """Return the board whose firmware a board runs: its own, or that of the board which it extends.

    That is the same program where chip and trigger pin are the same.
    """
    own, seen = name, {name}
    while not (home() / "firmware" / "boards" / own).is_dir():
        path = library().find("boards", own)
        base = read_toml(path).get("extends") if path is not None else None
        if not isinstance(base, str) or base in seen or library().find("boards", base) is None:
            return name
        seen.add(base)
        own = base
    if own != name and any(board(own)[key] != board(name)[key] for key in ("device", "trigger")):
        return name
    return own


def has_firmware(board: str) -> bool:
    """Say whether this tree holds firmware for a board."""
    return (home() / "firmware" / "boards" / _firmware_board(board)).is_dir()


def of_nodes() -> list[str]:
    """List the boards whose firmware here makes a node: the others are benches, as a mote with a coprocessor is."""
    return [
        name
        for name in names("boards")
        if has_firmware(name) and _board_mk(name).get("NODES") and "radio" in board(name)
    ]


def base_programs(board: str) -> list[str]:
    """List the programs of firmware/base that a board has: the base station, and its nodes, one a cipher."""
    return _board_mk(board).get("BASES", []) if has_firmware(board) else []


def has_workload(board: str, name: str) -> bool:
    """Say whether a board's firmware has a workload: not where it does not fit or lacks the hardware."""
    name = name.replace("_", "-")
    made = _board_mk(board) if has_firmware(board) else {"BENCH_SKIP": [name]}
    if name not in made.get("BENCH_ONLY", [name]):
        return False
    skipped = made.get("BENCH_SKIP", [])
    return not any(fnmatch.fnmatchcase(name, pattern.replace("%", "*")) for pattern in skipped)


def firmware_path(board: str, chosen: dict[str, str], program: str) -> Path:
    """Return a program that `make firmware` has built."""
    if not has_firmware(board):
        raise SunsealError(
            f"there is no firmware for {board} here, so `{program}` cannot be run on it",
            hint="measure a program of yours with `--elf FILE`",
        )
    part = program.removeprefix("bench-").removeprefix("duty-")
    work = next((name for name, known in WORKLOADS.items() if known.program == part), None)
    if work is not None and not has_workload(board, work):
        raise SunsealError(
            f"{board} has no `{work}`: it lacks the hardware or the memory",
            hint=f"firmware/boards/{board}/board.mk says which",
        )
    build = home() / "firmware" / "build"
    folder = "-".join(f"{k}-{v}" for k, v in sorted(chosen.items())) or PLAIN_VARIANT
    path = build / _firmware_board(board) / folder / f"{program}.elf"
    if not path.is_file():
        raise SunsealError(
            f"the firmware `{program}` for {board}{', ' * bool(chosen)}{variant_text(chosen)}, is not built: "
            f"`{path.relative_to(home())}` is missing",
            hint=f"run `make firmware{'' if board == DEFAULT_BOARD else f' BOARD={board}'}` in the repository",
        )
    return path


def cache_dir() -> Path:
    """Return the user's cache folder for operation profiles (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "sunseal"


def slug(text: str) -> str:
    """Make a file name of a label."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
