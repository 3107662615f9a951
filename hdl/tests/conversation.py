# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scripts for coprocessor_tb: commands and the answers that are right, from vectors and from independent ciphers."""

from __future__ import annotations

import json
import random

from bench import VECTORS, vectors
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

BYTES = bytes.fromhex


class Script:
    """Lines for the bench, and how many bytes of answers it will compare."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.answers = 0

    def command(self, data: bytes) -> None:
        self.lines.append(f"c {len(data):x} {data.hex(' ')}")

    def answer(self, data: bytes, status: int = 0x80) -> None:
        self.answers += 1 + len(data)
        self.lines.append(f"r {1 + len(data):x} {bytes([status, *data]).hex(' ')}")

    def give_up(self) -> None:
        self.lines.append("z")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def aes_ecb(key: bytes, data: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(data)


def aes_ctr(key: bytes, counter: bytes, data: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(data)


def from_vectors(most_bytes: int = 64) -> Script:
    """A block of each cipher's vectors, and AES in counter mode over so many bytes at most."""
    script = Script()
    for key, block, result in vectors("aes128")[:3]:
        script.command(b"\x00" + BYTES(key) + BYTES(block))
        script.answer(BYTES(result))
    for key, block, result in vectors("xtea")[:3]:
        script.command(b"\x10" + BYTES(key) + BYTES(block))
        script.answer(BYTES(result))
    for key, block, result in vectors("present128"):
        script.command(b"\x20" + BYTES(key) + BYTES(block))
        script.answer(BYTES(result))
    row = json.loads((VECTORS / "aes128.json").read_text())["ctr"][0]
    data = BYTES(row["plaintext"])[:most_bytes]
    script.command(bytes([0x06, len(data) // 8]) + BYTES(row["key"]) + BYTES(row["counter"]) + data)
    script.answer(BYTES(row["ciphertext"])[:most_bytes])
    return script


def random_messages(seed: int) -> Script:
    """Several blocks a command, a counter that carries through all bytes, CBC-MAC, data only, and refusals."""
    rng = random.Random(seed)
    script = Script()
    key = rng.randbytes(16)
    data = rng.randbytes(64)
    script.command(bytes([0x02, 8]) + key + data)
    script.answer(aes_ecb(key, data))
    counter = b"\xff" * 15 + b"\xfe"
    script.command(bytes([0x46, 8]) + counter + data)
    script.answer(aes_ctr(key, counter, data))
    tag = bytes(16)
    for i in range(0, 64, 16):
        tag = aes_ecb(key, bytes(a ^ b for a, b in zip(tag, data[i : i + 16], strict=True)))
    script.command(bytes([0x4A, 8]) + data)
    script.answer(tag)
    for bad, status in (
        (b"\x42\x03", 0x82),
        (b"\x42\x00", 0x82),
        (b"\x42\x81", 0x82),
        (b"\x70", 0x81),
        (b"\x01", 0x81),
    ):
        script.command(bad)
        script.give_up()
        script.command(b"\xc0")
        script.answer(b"", status)
    # Cut in the middle: the next command starts clean, with the key that is there.
    script.command(b"\x40" + data[:5])
    script.give_up()
    script.command(b"\xc0")
    script.answer(b"", 0x83)
    script.command(b"\x40" + data[:16])
    script.answer(aes_ecb(key, data[:16]))
    # Cleared: no key, no answer.
    script.command(b"\xff")
    script.command(b"\x40" + data[:16])
    script.give_up()
    script.command(b"\xc0")
    script.answer(b"", 0x81)
    return script
