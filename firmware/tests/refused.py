# SPDX-License-Identifier: MIT OR Apache-2.0
"""What every public function refuses: a known answer's call with a null pointer, or with two buffers that overlap.

Nothing may be written then: outputs hold what they held.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from calls import ERRORS, Argument, Call, Function, In, InOut, Into, Out, Struct, Symbol

REFUSED = "refused"
"""What the names of these calls begin with."""
INTERNAL = re.compile(
    r"sunseal_(ecdsa_\w+_sign_added|aes|ascon_permute|(mp|fe)\w*_|rsa_)|_(compress|p12|blocks|set_key|encrypt|decrypt)$"
)
"""Functions behind the public ones, which check nothing; the modes over ciphers are none of these."""
PUBLIC = re.compile(r"sunseal_(ecb_\w+|rsa\d+_\w+)")

MAY_BE_NULL = {r"lms_sign": {4, 7}}
"""Arguments that may be left out."""
MAY_OVERLAP = {
    r"sha\d+|ascon_hash256|condition_sha256": {(0, 1)},
    r"hmac_sha\d+": {(0, 1), (0, 3)},
    r"hkdf_sha256_extract": {(0, 1), (0, 3)},
    r"ecdsa_\w+_sign_online": {(1, 2), (1, 3)},
    r"x25519": {(0, 1), (0, 2)},
    r"x25519_keygen": {(0, 1), (0, 2), (1, 0), (1, 2)},
    r"ed25519_keygen": {(0, 2), (1, 2)},
    r"ecb_(en|de)crypt": {(3, 1)},
    r"ctr": {(4, 1), (4, 3)},
    r"cmac": {(5, 1), (5, 3)},
    r"ccm_(seal|open)_once": {(7, 1), (7, 3), (7, 5), (10, 1), (10, 3), (10, 5)},
    r"ascon_aead128_(seal|open)": {(4, 0), (4, 1), (4, 2), (7, 0), (7, 1), (7, 2)},
}
"""An output and an argument that is read before it is written, by the function's name behind `sunseal_`."""


TYPES_IN_THE_WAY = re.compile(r"sunseal_lms_keygen(_finish)?")
"""How long the output is stands in the argument that it overlaps: it may be refused for that, too."""


def of(rules: dict[str, set], function: str) -> set:
    """What a rule says of a function."""
    return next((what for name, what in rules.items() if re.fullmatch(f"sunseal_({name})", function)), set())


def size(arg: object) -> int:
    """Of the buffer behind a pointer."""
    return arg.size if isinstance(arg, Out) else len(arg.data) if isinstance(arg, In | InOut) else 0


def refusal(call: Call, at: int, instead: Argument, what: str, error: str) -> Call:
    """The call with one argument replaced."""
    args = tuple(instead if i == at else arg for i, arg in enumerate(call.args))
    name = f"{REFUSED} {call.function.removeprefix('sunseal_')}: {what}"
    return replace(call, name=name, args=args, expected=ERRORS[error], outputs=tuple(held(args)), slow=False)


def held(args: Iterable[object]) -> Iterator[bytes]:
    """What the outputs hold before the call."""
    for arg in args:
        if isinstance(arg, InOut | Out):
            yield arg.data if isinstance(arg, InOut) else b"\xa5" * arg.size
        elif isinstance(arg, Struct):
            yield from held(arg.members)


def good(known: Iterable[Call]) -> Iterator[Call]:
    """For each public function the first call that succeeds and has bytes behind every pointer."""
    met = set()
    for call in known:
        public = PUBLIC.match(call.function) or not INTERNAL.search(call.function)
        buffers = [arg for arg in call.args if isinstance(arg, In | InOut | Out)]
        if public and call.function not in met and call.expected in (0, None) and all(size(b) > 1 for b in buffers):
            met.add(call.function)
            yield call


CONTEXT_BYTES = {"sha1": 88, "sha256": 100, "sha512": 200, "hmac_sha1": 128, "hmac_sha256": 164, "ascon_hash256": 52}
BYTES = In(bytes(range(1, 65)))


def in_parts() -> Iterator[Call]:
    """Calls of functions that have no known answer of their own, being steps of others."""

    def call(group: str, function: str, *args: Argument) -> Call:
        return Call("a step", group, f"sunseal_{function}", args, 0, ())

    for name, size in CONTEXT_BYTES.items():
        group, digest = "cipher" if "ascon" in name else "hash", Out(20 if "sha1" in name else 32)
        verbs = ("begin", "update", "end") if "hmac" in name else ("init", "update", "final")
        held = InOut(bytes(size))
        yield call(group, f"{name}_{verbs[0]}", held)
        yield call(group, f"{name}_{verbs[1]}", held, BYTES, 64)
        if "hmac" in name:
            yield call(group, f"{name}_key", Out(size), BYTES, 64)
            yield call(group, f"{name}_{verbs[2]}", held, digest)
        else:
            yield call(group, f"{name}_{verbs[2]}", held, Out(64) if name == "sha512" else digest)
    memory = Struct((InOut(bytes(32)), np.uint32(32)))
    store = Struct((Function("sunseal_store_memory_read"), Function("sunseal_store_memory_write"), memory))
    key, nodes = In(bytes([10, 7]) + bytes(48)), Out(64)
    chains = Struct((nodes, np.uint32(64), *map(np.uint8, (2, 0, 2)), *([np.uint8(0)] * 16), *([np.uint32(0)] * 3)))
    yield call("ots", "lms_chains_fill", chains, key, store)
    sram = Struct((In(bytes(64)), np.uint16(64)))
    yield call("random", "sram_read", sram, Out(32), 32)
    yield call("random", "health_init", Out(14), np.uint16(41), np.uint16(410))


def cases(known: Iterable[Call]) -> Iterator[Call]:
    """All of them."""
    for call in good([*known, *in_parts()]):
        outputs = [i for i, arg in enumerate(call.args) if isinstance(arg, InOut | Out)]
        for i, arg in enumerate(call.args):
            if isinstance(arg, In | InOut | Out | Symbol | Struct) and i not in of(MAY_BE_NULL, call.function):
                yield refusal(call, i, 0, f"no argument {i}", "NULL")
            if not size(arg):
                continue
            for o in outputs:
                if o != i and (o, i) not in of(MAY_OVERLAP, call.function):
                    # In its middle: a structure may be shorter on a target than its buffer here.
                    over = Into(o, size(call.args[o]) // 2)
                    refused = refusal(call, i, over, f"argument {i} begins in {o}", "OVERLAP")
                    if TYPES_IN_THE_WAY.fullmatch(call.function):
                        refused = replace(refused, expected=(ERRORS["OVERLAP"], ERRORS["PARAMETERS"]))
                    yield refused
