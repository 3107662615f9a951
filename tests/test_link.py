# SPDX-License-Identifier: MIT OR Apache-2.0
"""The node's link layer in C, on this machine, against the vectors that Rust passes too."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
VECTORS: dict[str, Any] = json.loads((ROOT / "data/vectors/link.json").read_text(encoding="utf-8"))
GATEWAY = 1
TO_GATEWAY = [m for m in VECTORS["messages"] if m["dst"] == GATEWAY]
TO_NODE = [m for m in VECTORS["messages"] if m["src"] == GATEWAY]
PACKET_BYTES = 62


class Message(ctypes.Structure):
    """`struct link_message` of firmware/node/link.h."""

    _fields_ = [
        ("kind", ctypes.c_int),
        ("sequence", ctypes.c_uint8),
        ("reference", ctypes.c_uint32),
        ("verdict", ctypes.c_uint8),
        ("nonce", ctypes.c_uint8 * 16),
        ("left_ms", ctypes.c_uint16),
    ]


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """firmware/node/link.c as a shared library of this machine."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    assert compiler, "no C compiler: Rust's linker needs one as well, install the package gcc"
    library = tmp_path_factory.mktemp("link") / "liblink.so"
    source = ROOT / "firmware/node/link.c"
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-DNODE_LISTENS"]
    subprocess.run([compiler, *flags, "-o", str(library), str(source)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.link_read.restype = ctypes.c_bool
    loaded.link_fragments.restype = ctypes.c_uint8
    loaded.link_packet.restype = ctypes.c_uint8
    for name in ("auth", "report", "enrol"):
        getattr(loaded, f"link_signed_{name}").restype = ctypes.c_uint16
    return loaded


def packets(link: ctypes.CDLL, message: dict[str, Any]) -> list[str]:
    """Every packet of a message, as the firmware cuts it."""
    body = bytes.fromhex(message["body"])
    out = []
    for index in range(link.link_fragments(len(body))):
        packet = ctypes.create_string_buffer(b"\xaa" * (PACKET_BYTES + 1), PACKET_BYTES + 1)
        size = link.link_packet(packet, message["src"], message["kind"], message["seq"], body, len(body), index)
        assert size <= PACKET_BYTES
        assert set(packet.raw[size:]) == {0xAA}, "written behind the packet"
        out.append(packet.raw[:size].hex())
    return out


def read(link: ctypes.CDLL, frame: bytes, own: int, node_id: bytes) -> Message | None:
    """Read a frame as the firmware does."""
    message = Message()
    taken = link.link_read(ctypes.byref(message), frame, len(frame), own, node_id)
    return message if taken else None


@pytest.mark.parametrize("message", TO_GATEWAY, ids=lambda m: m["name"])
def test_packets_to_the_gateway_are_those_of_the_vectors(link: ctypes.CDLL, message: dict[str, Any]) -> None:
    assert packets(link, message) == message["packets"]


@pytest.mark.parametrize("message", TO_NODE, ids=lambda m: m["name"])
def test_packets_to_the_node_are_read(link: ctypes.CDLL, message: dict[str, Any]) -> None:
    fields = message["fields"]
    node_id = bytes.fromhex(fields["node_id"])
    (packet,) = message["packets"]
    frame = bytes.fromhex(packet)[1:]
    got = read(link, frame, message["dst"], node_id)
    assert got is not None
    assert (got.kind, got.sequence) == (message["kind"], message["seq"])
    if message["name"] in ("challenge", "wake"):
        assert got.reference == fields["challenge_id"]
        assert bytes(got.nonce).hex() == fields["nonce"]
        if message["name"] == "wake":
            assert got.left_ms == fields["left_ms"]
    if message["name"] == "verdict":
        assert (got.reference, got.verdict) == (fields["reference"], fields["verdict"])

    assert read(link, frame, message["dst"] ^ 1, node_id) is None, "for another address"
    assert read(link, frame, message["dst"], bytes(8)) is None, "for another node"
    assert read(link, frame + b"\0", message["dst"], node_id) is None, "a byte long"
    for size in range(len(frame)):
        assert read(link, frame[:size], message["dst"], node_id) is None, f"cut at {size}"


def test_a_node_takes_nothing_that_only_nodes_send(link: ctypes.CDLL) -> None:
    for message in TO_GATEWAY:
        node_id = bytes.fromhex(message["fields"]["node_id"])
        for packet in message["packets"]:
            frame = bytearray.fromhex(packet)[1:]
            frame[0], frame[1] = 0x2A, GATEWAY
            assert read(link, bytes(frame), 0x2A, node_id) is None, message["name"]


def test_broken_frames_are_refused(link: ctypes.CDLL) -> None:
    for case in VECTORS["refused_frames"]:
        frame = bytearray.fromhex(case["frame"])
        if len(frame) > 1:
            frame[0], frame[1] = 0x2A, GATEWAY
        assert read(link, bytes(frame), 0x2A, bytes(8)) is None, case["name"]


@pytest.mark.parametrize("case", VECTORS["signed_bytes"], ids=lambda c: c["name"])
def test_the_signed_bytes_are_those_of_the_vectors(link: ctypes.CDLL, case: dict[str, Any]) -> None:
    out = ctypes.create_string_buffer(128)
    node_id = bytes.fromhex(case["node_id"])
    if case["name"] == "auth":
        nonce = bytes.fromhex(case["nonce"])
        number = ctypes.c_uint32(case["challenge_id"])
        counter = ctypes.c_uint32(case["counter"])
        size = link.link_signed_auth(out, node_id, number, nonce, counter)
    elif case["name"] == "report":
        data = bytes.fromhex(case["data"])
        counter = ctypes.c_uint32(case["counter"])
        size = link.link_signed_report(out, node_id, counter, data, len(data))
    else:
        key = bytes.fromhex(case["public_key"])
        size = link.link_signed_enrol(out, node_id, case["suite"], key, len(key))
    assert out.raw[:size].hex() == case["bytes"]
