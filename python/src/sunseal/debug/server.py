# SPDX-License-Identifier: MIT OR Apache-2.0
"""A Debug Adapter Protocol server for one client, on standard input and output or on a port of this machine."""

from __future__ import annotations

import os
import queue
import socket
import threading
from collections.abc import Callable

from sunseal.debug.session import Session
from sunseal.debug.wire import Message, Wire
from sunseal.errors import SunsealError

HOST = "127.0.0.1"


def serve(wire: Wire) -> None:
    """Serve a client until it disconnects or is gone."""
    inbox: queue.Queue[Message | SunsealError | None] = queue.Queue()

    def listen() -> None:
        try:
            while (message := wire.receive()) is not None:
                inbox.put(message)
            inbox.put(None)
        except SunsealError as e:
            inbox.put(e)
        except OSError:
            inbox.put(None)

    threading.Thread(target=listen, daemon=True, name="client").start()
    session = Session(wire)
    try:
        while not session.over:
            if session.runs and inbox.empty():
                session.slice()
                continue
            message = inbox.get()
            if message is None:
                return
            if isinstance(message, SunsealError):
                raise message
            session.handle(message)
    except (BrokenPipeError, ConnectionError):
        return


def on_streams() -> None:
    """Serve the client that has started this process, at its standard streams."""
    # What anybody prints from here on would stand between messages.
    out = os.dup(1)
    os.dup2(2, 1)

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(out, data) :]

    try:
        serve(Wire(lambda size: os.read(0, size), write))
    finally:
        os.dup2(out, 1)
        os.close(out)


def on_port(port: int, listening: Callable[[str], object]) -> None:
    """Wait for one client at a port of this machine, 0 for any that is free, and serve it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as e:
            raise SunsealError(f"port {port} of {HOST} cannot be listened at: {e.strerror}; choose another") from e
        listener.listen(1)
        host, chosen = listener.getsockname()
        listening(f"{host}:{chosen}")
        client, _ = listener.accept()
    with client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        serve(Wire(client.recv, client.sendall))
