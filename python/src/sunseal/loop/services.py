# SPDX-License-Identifier: MIT OR Apache-2.0
"""Server and gateway as child processes, and a voice on the air that is not the node's."""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any

from sunseal.errors import SunsealError
from sunseal.kit.doctor import server_path

TIMEOUT_S = 30.0
REPORT_KIND = 4


def _end_with_parent() -> None:
    """Let the kernel end a child whose parent was killed (prctl(2), PR_SET_PDEATHSIG; Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def ask(server: str, token: str | None, method: str, path: str, body: Any = None, time_us: int | None = None) -> Any:
    """Ask a server, with the token of whoever asks; a body of bytes is sent as it is."""
    _, said = fetch(server, token, method, path, body, time_us)
    try:
        return json.loads(said)
    except ValueError as e:
        raise SunsealError(f"what answers at {server} is no Sunseal server: it sends no JSON") from e


def fetch(
    server: str, token: str | None, method: str, path: str, body: Any = None, time_us: int | None = None
) -> tuple[Message, bytes]:
    """Fetch what a server answers, with its headers."""
    headers = {"Content-Type": "text/csv" if isinstance(body, bytes) else "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if time_us is not None:
        headers["Sunseal-Time-Us"] = str(time_us)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    if not server.startswith(("http://", "https://")):
        raise SunsealError(f"the server is called `{server}`; http://HOST:PORT or https://HOST:PORT is wanted")
    if not (token or "").isprintable() or not (token or "").isascii():
        raise SunsealError("the operator's token has characters that no token has: SUNSEAL_TOKEN takes it alone")
    try:
        request = urllib.request.Request(f"{server}{path}", method=method, data=data, headers=headers)
        context = _trust() if server.startswith("https://") else None
        with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as reply:
            return reply.headers, reply.read()
    except urllib.error.HTTPError as e:
        with e:
            told = _refusal(e.read()) or f"status {e.code}, without a reason that a Sunseal server would give"
        raise SunsealError(f"the server refused {method} {path}: {told}") from e
    except (ValueError, http.client.InvalidURL) as e:
        raise SunsealError(f"the server is called `{server}` ({e}); http://HOST:PORT is wanted") from e
    except (OSError, http.client.HTTPException) as e:
        why: object = e.reason if isinstance(e, urllib.error.URLError) else e
        if isinstance(why, ssl.SSLError):
            raise SunsealError(f"the server at {server} is not believed, or does not believe us: {_of_tls(why)}") from e
        raise SunsealError(f"the server at {server} does not answer: {getattr(why, 'strerror', None) or why}") from e


def _trust() -> ssl.SSLContext:
    """Say whom to believe, and who we are, as the environment has it."""
    ca, cert, key = (os.environ.get(name) or None for name in ("SUNSEAL_CA", "SUNSEAL_CERT", "SUNSEAL_KEY"))
    try:
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as e:
        raise SunsealError(f"SUNSEAL_CA is `{ca}`, which is no PEM file of an authority: {e}") from e
    try:
        if cert:
            context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as e:
        raise SunsealError(f"SUNSEAL_CERT and SUNSEAL_KEY are no PEM files of a pair: {e}") from e
    return context


def _of_tls(why: ssl.SSLError) -> str:
    """Tell a failed handshake, with what helps."""
    if isinstance(why, ssl.SSLCertVerificationError):
        return f"{why.verify_message} (SUNSEAL_CA names the file of its authority)"
    told = (why.reason or str(why)).lower().replace("_", " ")
    return f"{told} (SUNSEAL_CERT and SUNSEAL_KEY name a client certificate, where one is wanted)"


def _refusal(said: bytes) -> str | None:
    """Return the sentence of a refusal."""
    try:
        told = json.loads(said)
    except ValueError:
        return None
    return str(told["error"]) if isinstance(told, dict) and "error" in told else None


class Services:
    """The verifying server and its gateway on free loopback ports, for as long as the block lasts.

    Each speaks with the token that the server made for it, so that nobody else on this machine can interfere.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        """Keep database, capture and logs in `folder`."""
        self.folder = folder
        self.seed = seed
        self.pcap = folder / "air.pcap"
        self._database = folder / "server.sqlite"
        self._children: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Services:
        """Start both and wait until they listen."""
        try:
            told = self._start(
                "serve",
                *("--db", str(self._database)),
                *("--clock", "driven", "--seed", str(self.seed)),
            )
            self.server = told["listening"]
            first = self._first_tokens(told.get("tokens_file"))
            self._token = first.get("operator_token") or self._made("operator")
            token = first.get("gateway_token") or self._made("gateway")
            told = self._start("gateway", "--server", f"http://{self.server}", "--pcap", str(self.pcap), token=token)
            self.gateway = told["listening"]
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, where: TracebackType | None) -> None:
        """Stop both; the gateway first, so that nothing asks a server that is gone."""
        self.close()

    def close(self) -> None:
        """Ask both to end, and wait for it."""
        while self._children:
            child = self._children.pop()
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout:
                child.stdout.close()

    @staticmethod
    def _first_tokens(file: str | None) -> dict[str, str]:
        """Take the tokens of a first start out of their file: from here on they are in memory alone."""
        if file is None:
            return {}
        try:
            first: dict[str, str] = json.loads(Path(file).read_text(encoding="utf-8"))
            Path(file).unlink()
        except (OSError, ValueError) as e:
            raise SunsealError(f"the server's first tokens cannot be read from `{file}`: {e}") from e
        return first

    def _made(self, role: str) -> str:
        """Make a token in the database of an earlier start, whose own was taken then."""
        command = [str(server_path()), "token", "--db", str(self._database), "--role", role]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SunsealError(f"`sunseal-server token` makes none: {done.stderr.strip()}")
        return str(json.loads(done.stdout)["token"])

    def _start(self, role: str, *args: str, token: str = "") -> dict[str, str]:
        log = self.folder / f"{role}.log"
        with log.open("w", encoding="utf-8") as stderr:
            child = subprocess.Popen(
                [str(server_path()), role, "--listen", "127.0.0.1:0", *args],
                stdout=subprocess.PIPE,
                stderr=stderr,
                stdin=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "SUNSEAL_TOKEN": token},
                start_new_session=True,  # Ctrl-C is for us; we end the children in order
                preexec_fn=_end_with_parent,  # noqa: PLW1509  # one prctl call, no locks
            )
        self._children.append(child)
        assert child.stdout is not None
        line = child.stdout.readline()
        try:
            told = json.loads(line)
            return {"listening": str(told["listening"]), **told}
        except (ValueError, KeyError, TypeError) as e:
            said = log.read_text(encoding="utf-8").strip().splitlines()
            raise SunsealError(
                f"`sunseal-server {role}` did not start: {said[-1] if said else 'it said nothing'}"
            ) from e

    def call(self, method: str, path: str, body: Any = None, time_us: int | None = None) -> Any:
        """Ask the server, as its operator."""
        return ask(f"http://{self.server}", self._token, method, path, body, time_us)

    def events(self) -> Iterator[dict[str, Any]]:
        """Read the whole event log."""
        after = 0
        while True:
            page = self.call("GET", f"/v1/events?after={after}&limit=1000")
            yield from page["events"]
            if page["next_after"] is None:
                return
            after = page["next_after"]


@dataclass(frozen=True)
class Heard:
    """A packet of the capture: when, which way, and length byte with frame."""

    time_us: int
    sent_by_gateway: bool
    packet: bytes

    @property
    def kind(self) -> int:
        """Kind that the frame says it is."""
        return self.packet[3]

    @property
    def message(self) -> tuple[int, int, int]:
        """Sender, kind and sequence number: the same in every fragment of a message."""
        return self.packet[2], self.packet[3], self.packet[4]


def capture(path: Path) -> list[Heard]:
    """Read a capture of the gateway (`docs/reference/link.md`, Captures)."""
    data = path.read_bytes()
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != 0xA1B2C3D4:
        raise SunsealError(f"`{path}` is no capture of the gateway: it lacks a pcap header")
    found, at = [], 24
    while at + 16 <= len(data):
        seconds, micros, size, _ = struct.unpack_from("<IIII", data, at)
        record = data[at + 16 : at + 16 + size]
        if len(record) < size:
            raise SunsealError(f"`{path}` ends within the packet at offset {at}")
        found.append(Heard(seconds * 1_000_000 + micros, record[1] == 1, record[8:]))
        at += 16 + size
    return found


def last_report(packets: list[Heard]) -> list[bytes]:
    """Return the packets of the last report that a node sent; none if it sent none."""
    heard = [p for p in packets if not p.sent_by_gateway and p.kind == REPORT_KIND]
    if not heard:
        return []
    return [p.packet for p in heard if p.message == heard[-1].message][-2:]


def spoilt(packets: list[bytes]) -> list[bytes]:
    """Flip one bit: the highest of the counter, so that the message does not look like a replay.

    Length byte, five bytes of frame header and eight of node_id stand before the counter.
    """
    first = bytearray(packets[0])
    first[1 + 5 + 8] ^= 0x80
    # Another sequence number: the gateway would take the same one for a repeated fragment.
    changed = [bytes(first), *packets[1:]]
    return [p[:4] + bytes([p[4] ^ 0x80]) + p[5:] for p in changed]


class Intruder:
    """A radio that speaks to the gateway and is not the node."""

    def __init__(self, gateway: str) -> None:
        """Connect to the gateway's air port."""
        host, _, port = gateway.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)

    def __enter__(self) -> Intruder:
        """Speak within a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, where: TracebackType | None) -> None:
        """Fall silent: stop answering."""
        self.socket.close()

    def send(self, time_us: int, packet: bytes) -> list[bytes]:
        """Send a packet with a good CRC and return the frames that the gateway answers with."""
        up = struct.pack(">BQbB", 0x01, time_us, -60, 100) + packet + b"\x01"
        self.socket.sendall(struct.pack(">H", len(up)) + up)
        down = self._exactly(struct.unpack(">H", self._exactly(2))[0])
        frames, at = [], 2
        for _ in range(down[1]):
            size = down[at + 4]
            frames.append(down[at + 5 : at + 5 + size])
            at += 5 + size
        return frames

    def _exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                raise SunsealError("the gateway closed the connection in the middle of a message")
            got += part
        return got
