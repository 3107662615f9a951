# SPDX-License-Identifier: MIT OR Apache-2.0
"""Client of the handshake whose server is a node: firmware/handshake, docs/reference/handshake.md.

Messages, transcript and keys alone; what a suite's secret and certificate are made of is the caller's.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sunseal.errors import SunsealError

CLIENT_HELLO, SERVER_HELLO, CLIENT_FINISHED, SERVER_FINISHED = 1, 2, 3, 4
RANDOM_BYTES, SESSION_BYTES, FINISHED_BYTES, KEY_BYTES, SUBJECT_BYTES = 32, 8, 12, 16, 8
KINDS = {1: "RSA-1024", 2: "secp160r1", 3: "P-224", 4: "P-256"}
"""Keys by the first byte of a certificate; suites exist of the first two."""
REFUSALS = {
    1: "wrong-curve", 2: "wrong-suite", 3: "truncated", 4: "too-long", 5: "replayed", 6: "out-of-order",
    7: "wrong-session", 8: "bad-exchange", 9: "bad-finished",
}  # fmt: skip
"""Names of the node's answers to messages that it refuses (SUNSEAL_HANDSHAKE_*), by name."""


class HandshakeRefusedError(SunsealError):
    """A message is refused: by name, and what of it would be right."""

    def __init__(self, name: str, text: str) -> None:
        """Keep the name beside the sentence."""
        super().__init__(f"{name}: {text}")
        self.name = name


@dataclass(frozen=True)
class Suite:
    """Parts of a handshake that RSA or a curve does."""

    number: int
    public_bytes: int
    signature_bytes: int
    exchange: Callable[[bytes], tuple[bytes, bytes]]
    """Give for a server's public key what is sent, and the secret behind it."""
    verify: Callable[[bytes, bytes], bool]
    """Say whether a signature under a text is the issuer's."""

    @property
    def certificate_bytes(self) -> int:
        """Bytes of its certificate: kind, subject, public key, signature."""
        return 1 + SUBJECT_BYTES + self.public_bytes + self.signature_bytes


def derive(randoms: bytes, secret: bytes) -> tuple[bytes, bytes]:
    """Derive the session's key and that of the finished messages."""
    keys = HKDF(hashes.SHA256(), KEY_BYTES + 16, randoms, b"sunseal handshake").derive(secret)
    return keys[:KEY_BYTES], keys[KEY_BYTES:]


def finished(key: bytes, side: int, transcript: bytes) -> bytes:
    """Compute a finished message's check: HMAC over the side and the hash of what both were told before."""
    return hmac.digest(key, bytes([side]) + hashlib.sha256(transcript).digest(), "sha256")[:FINISHED_BYTES]


@dataclass
class Client:
    """One session of a client, from its hello to the server's finished."""

    suite: Suite
    random: bytes
    """Thirty-two bytes, new for each session."""
    _transcript: bytes = b""
    _session: bytes = b""
    _keys: tuple[bytes, bytes] = (b"", b"")
    _due: int = field(default=CLIENT_HELLO)

    def hello(self) -> bytes:
        """Begin a session with the server."""
        self._due = SERVER_HELLO
        self._transcript = bytes([CLIENT_HELLO, self.suite.number]) + self.random
        return self._transcript

    def _held(self, message: bytes, kind: int, size: int) -> None:
        """Hold a message to its kind, suite and length."""
        if len(message) < 2:
            raise HandshakeRefusedError("truncated", f"a message has {size} bytes, this one {len(message)}")
        if message[0] != kind or self._due != kind:
            name = "replayed" if message[0] in (SERVER_HELLO, SERVER_FINISHED) and message[0] < self._due else ""
            raise HandshakeRefusedError(name or "out-of-order", f"message {self._due} is due, this is {message[0]}")
        if message[1] != self.suite.number:
            raise HandshakeRefusedError("wrong-suite", f"suite {self.suite.number} was asked for, not {message[1]}")
        if kind == SERVER_HELLO and len(message) > 2 + RANDOM_BYTES and message[2 + RANDOM_BYTES] != self.suite.number:
            have = KINDS.get(message[2 + RANDOM_BYTES], "an unknown kind")
            raise HandshakeRefusedError(
                "wrong-curve", f"the certificate is for a key of {have}, not {KINDS[self.suite.number]}"
            )
        if len(message) != size:
            name = "truncated" if len(message) < size else "too-long"
            raise HandshakeRefusedError(name, f"this message has {size} bytes, not {len(message)}")

    def answer(self, message: bytes) -> bytes:
        """Take the server's hello with its certificate; return key exchange and finished."""
        self._held(message, SERVER_HELLO, 2 + RANDOM_BYTES + self.suite.certificate_bytes)
        certificate = message[2 + RANDOM_BYTES :]
        signed, signature = certificate[: -self.suite.signature_bytes], certificate[-self.suite.signature_bytes :]
        if not self.suite.verify(signed, signature):
            raise HandshakeRefusedError("bad-signature", "the certificate is not signed by this issuer")
        server_random = message[2 : 2 + RANDOM_BYTES]
        exchange, secret = self.suite.exchange(signed[1 + SUBJECT_BYTES :])
        self._session, self._keys = server_random[:SESSION_BYTES], derive(self.random + server_random, secret)
        sent = bytes([CLIENT_FINISHED, self.suite.number]) + self._session + exchange
        self._transcript += message + sent
        self._due = SERVER_FINISHED
        return sent + finished(self._keys[1], CLIENT_FINISHED, self._transcript)

    def finish(self, message: bytes) -> bytes:
        """Take the server's finished; return the session's key."""
        self._held(message, SERVER_FINISHED, 2 + SESSION_BYTES + FINISHED_BYTES)
        if message[2 : 2 + SESSION_BYTES] != self._session:
            raise HandshakeRefusedError("wrong-session", "the answer is of another session than the server's hello")
        if not hmac.compare_digest(
            message[-FINISHED_BYTES:], finished(self._keys[1], SERVER_FINISHED, self._transcript)
        ):
            raise HandshakeRefusedError("bad-finished", "the server's finished is not that of these messages")
        self._due = SERVER_FINISHED + 1
        return self._keys[0]
