# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal dap`: a debug adapter for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from sunseal.cli.console import err


def dap_command(
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Wait at this port of 127.0.0.1; 0: any that is free."),
    ] = None,
) -> None:
    """Serve an editor's debugger by the Debug Adapter Protocol, at standard input and output or a port.

    An editor starts it and sends what to run: `program`, `board`, `stopOnEntry`, `vcc`, `power`, `off`, `powerLoss`,
    `adc`, `pins`, `i2c`, `spi`, `uart`, `baud`. Breakpoints, steps, variables, registers of the core and of
    peripherals, joules since the last stop; a loss of power is a stop, behind which the program starts anew.
    """
    from sunseal.cli import progress
    from sunseal.debug import server

    progress.leave()  # from here on the client tells
    if port is None:
        server.on_streams()
    else:
        server.on_port(port, lambda address: err.print(f"waiting on {address}"))
