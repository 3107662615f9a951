# SPDX-License-Identifier: MIT OR Apache-2.0
"""Handshake of a client on the host with a node on its simulated board; what each refuses, by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sunseal import Machine
from sunseal.catalog import boards
from sunseal.measurement import handshake, oracle
from sunseal.measurement.handshake import Client, HandshakeRefusedError

BOARDS = ["mica2dot", "mica2", "micaz", "telosb"]
SUITES = ["rsa1024", "secp160r1"]
QUICK = ("telosb", "secp160r1")
WRONG = {name: number for number, name in handshake.REFUSALS.items()}


def program(board: str, name: str) -> Path:
    """The bench's program, in which the library's functions are."""
    variant = "mpy-16" if board == "telosb" else "default"
    return boards.home() / "firmware" / "build" / board / variant / f"bench-handshake-{name}-serve.elf"


class Node:
    """A node's session, by calls of its own binary."""

    def __init__(self, board: str, name: str, certificate: bytes = b"") -> None:
        """Begin with the suite's key and certificate."""
        elf = program(board, name)
        self.machine = Machine(board, elf)
        self.machine.run(until="main", cycles=10_000_000)
        self.suite, key, own = oracle.handshake_parties(name)
        self.session, self.answer = self.machine.address("session"), self.machine.address("bench_output")
        self.key = self.answer + 56
        self.certificate = certificate or own
        # An ATmega128's RAM has no room but the bench's input, where all lies as its workload has it.
        key_at = self.machine.address("bench_input")
        kept = key_at + len(key)
        self.random = kept + len(own)
        self.message = self.random + 32 + 24
        self.machine.write(key_at, key + self.certificate)
        self.begun = (self.machine.address(f"sunseal_handshake_{name}"), kept, len(self.certificate), key_at)

    def begin(self) -> int:
        """Begin with key and certificate."""
        return self.call("begin", *self.begun)

    def call(self, function: str, *args: int) -> int:
        """Call a function of the session."""
        return int(self.machine.call(f"sunseal_handshake_{function}", self.session, *args).value or 0)

    def hello(self, message: bytes, random: bytes) -> int:
        """Take a client's hello."""
        self.machine.write(self.random, random)
        self.machine.write(self.message, message)
        return self.call("hello", self.answer, self.message, len(message), self.random)

    def finish(self, message: bytes) -> int:
        """Take a client's finished."""
        self.machine.write(self.message, message)
        return self.call("finish", self.answer, self.key, self.message, len(message), self.random + 32)

    def said(self, count: int) -> bytes:
        """Read the answer."""
        return self.machine.read(self.answer, count)


def client(name: str, session: int = 0) -> Client:
    """A client, other bytes for each session."""
    return Client(oracle.handshake_parties(name, session)[0], bytes([session]) * 32)


def opened(name: str, board: str = QUICK[0]) -> tuple[Node, Client, bytes]:
    """A node and a client up to the client's finished."""
    node, peer = Node(board, name), client(name)
    assert node.begin() == 0
    assert node.hello(peer.hello(), bytes(range(32))) == 0
    return node, peer, peer.answer(node.said(34) + node.certificate)


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("board", BOARDS)
def test_node_and_host_come_to_the_same_key(board: str, name: str) -> None:
    node, peer, message = opened(name, board)
    assert node.finish(message) == 0
    assert peer.finish(node.said(22)) == node.machine.read(node.key, 16)


def test_a_node_refuses_by_name() -> None:
    node, peer, message = opened(QUICK[1])
    name, hello, later = QUICK[1], peer.hello(), client(QUICK[1], 1)
    for cut in range(len(message)):
        assert node.finish(message[:cut]) == WRONG["truncated"], cut
    assert node.finish(message + b"\0") == WRONG["too-long"]
    assert node.finish(message[:1] + b"\1" + message[2:]) == WRONG["wrong-suite"]
    assert node.finish(hello) == node.hello(hello, bytes(32)) == WRONG["replayed"]
    assert node.finish(b"\x07" + message[1:]) == WRONG["out-of-order"]
    assert node.finish(message) == 0
    assert node.finish(message) == node.hello(hello, bytes(32)) == WRONG["replayed"]
    # The node's next session; what the client said in the first is no answer there.
    for cut in range(34):
        assert node.hello(later.hello()[:cut], bytes(32)) == WRONG["truncated"], cut
    assert node.hello(later.hello(), b"\x55" * 32) == 0
    assert node.finish(message) == WRONG["wrong-session"]
    rebound = message[:2] + b"\x55" * 8 + message[10:]
    assert node.finish(rebound) == WRONG["bad-finished"]
    assert node.hello(client(name, 2).hello(), b"\x66" * 32) == 0
    off_curve = message[:2] + b"\x66" * 8 + bytes([message[10] ^ 1]) + message[11:]
    assert node.finish(off_curve) == WRONG["bad-exchange"]


@pytest.mark.parametrize(("kind", "said"), [(1, "wrong-curve"), (4, "wrong-curve"), (2, "truncated")])
def test_a_node_refuses_its_own_certificate_by_name(kind: int, said: str) -> None:
    own = oracle.handshake_parties("secp160r1")[2]
    node = Node(*QUICK, certificate=bytes([kind]) + own[1 : -1 if kind == 2 else None])
    assert node.begin() == WRONG[said]
    assert node.hello(client("secp160r1").hello(), bytes(32)) == -40  # SUNSEAL_ERR_NULL: no session has begun


def refused(act: Client, step: str, message: bytes) -> str:
    """Which name a client refuses a message by; it stays as it was."""
    with pytest.raises(HandshakeRefusedError) as caught:
        getattr(replace(act), step)(message)
    assert str(caught.value).startswith(f"{caught.value.name}: ")
    return caught.value.name


def test_a_host_refuses_by_name() -> None:
    name = QUICK[1]
    _, _, certificate = oracle.handshake_parties(name)
    peer = client(name)
    assert refused(peer, "answer", bytes(125)) == "out-of-order"
    peer.hello()
    hello = b"\x02\x02" + bytes(range(32)) + certificate
    for cut in range(len(hello)):
        assert refused(peer, "answer", hello[:cut]) == "truncated", cut
    assert refused(peer, "answer", hello + b"\0") == "too-long"
    assert refused(peer, "answer", b"\x02\x01" + hello[2:]) == "wrong-suite"
    assert refused(peer, "answer", hello[:34] + b"\x04" + hello[35:]) == "wrong-curve"
    assert refused(peer, "answer", hello[:-1] + bytes([hello[-1] ^ 1])) == "bad-signature"
    assert refused(peer, "answer", hello[:40] + bytes([hello[40] ^ 1]) + hello[41:]) == "bad-signature"
    node, _, _ = opened(name)
    message = peer.answer(hello)
    assert node.finish(message) == 0
    answer = node.said(22)
    assert refused(peer, "answer", hello) == "replayed"
    for cut in range(len(answer)):
        assert refused(peer, "finish", answer[:cut]) == "truncated", cut
    assert refused(peer, "finish", answer[:2] + b"\xee" * 8 + answer[10:]) == "wrong-session"
    assert refused(peer, "finish", answer[:-1] + bytes([answer[-1] ^ 1])) == "bad-finished"
    peer.finish(answer)
    assert refused(peer, "finish", answer) == "replayed"


@pytest.mark.parametrize("name", SUITES)
def test_the_key_decides_whether_an_answer_is_given_and_nothing_else(name: str) -> None:
    work = boards.WORKLOADS[f"handshake-{name}-serve"]
    trial = oracle.trial(work)
    machine = Machine(QUICK[0], program(QUICK[0], name))
    machine.write("bench_input", trial.fed)
    machine.write("bench_input_len", len(trial.fed).to_bytes(2, "little"))
    # Messages are sent; whether a ciphertext was genuine goes out by this byte (sunseal/rsa.h).
    public = [(machine.address("bench_output"), 56)]
    public += [(machine.address("sunseal_rsa_verdict"), 1)] if name == "rsa1024" else []
    judged = machine.constant_time([(machine.address("bench_input"), work.input[0].size)], public=public)
    assert machine.read("bench_status", 2) == b"\0\0"
    genuine = {"answer = nonzero(wrong)", "second = nonzero(wrong)"}  # both passes of the verdict on a ciphertext
    told = {"rsa1024": genuine, "secp160r1": {"order_in_range("}}[name] | {"if (!differ(expected"}
    found = [f"{leak.kind}: {line(leak.line)}" for leak in judged.findings]
    assert len(found) == len(told), found
    assert all(place.startswith("branch") and any(text in place for text in told) for place in found), found


def line(place: str | None) -> str:
    """Source of `file:line`."""
    file, _, number = (place or "").rpartition(":")
    return (boards.home() / "firmware" / file).read_text(encoding="utf-8").splitlines()[int(number) - 1].strip()
