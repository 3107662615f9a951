# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal serve`, `sunseal gateway` and `sunseal token`: the server's own program."""

from __future__ import annotations

import os
import subprocess
import sys

import typer

from sunseal.cli import examples


def serve_command(ctx: typer.Context) -> None:
    """Run the verifying server (`sunseal serve --help` lists its options)."""
    _exec_server("serve", ctx.args)


def gateway_command(ctx: typer.Context) -> None:
    """Run the gateway between the radio and the server (`--help` lists its options); `list` lists a server's."""
    if ctx.args[:1] == ["list"]:
        from sunseal.cli.lists import gateway_list

        gateway_list(ctx.args[1:], prog_name="sunseal gateway list", standalone_mode=False)
        return
    _exec_server("gateway", ctx.args)


def token_command(ctx: typer.Context) -> None:
    """Make, list or end tokens in the server's database (`--help` lists its options)."""
    _exec_server("token", ctx.args)


def _exec_server(role: str, args: list[str]) -> None:
    from sunseal.cli import progress
    from sunseal.kit.doctor import server_path

    sys.stdout.flush()
    program = str(server_path())
    # `--json` holds on every command; the server's one line of output is JSON in any case.
    command = [program, role, *(a for a in args if a != "--json")]
    if {"-h", "--help"} & set(args):
        told = subprocess.run(command, check=False)
        sys.stdout.write(examples.text(role))
        raise typer.Exit(told.returncode)
    progress.leave()
    os.execv(program, command)
