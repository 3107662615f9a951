# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lists of a server, printed while they come: of nodes, events, the queue, gateways."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sunseal.answers import outputs
from sunseal.catalog import units
from sunseal.cli.console import Json, out

DEFAULT_SERVER = "http://127.0.0.1:8437"
Server = Annotated[str, typer.Option("--server", help="The server, as http://HOST:PORT.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV, with all columns.")]
Group = Annotated[str | None, typer.Option("--group", help="Only nodes of this group.")]
Name = Annotated[str | None, typer.Option("--name", help="Letters that its name has.")]
Verdict = Annotated[str | None, typer.Option("--verdict", help="Such as bad-signature.")]

Row = dict[str, Any]


def request(server: str, method: str, path: str, body: Any = None) -> Any:
    """Ask a server with the token of the environment."""
    from sunseal.loop.services import ask

    return ask(server.rstrip("/"), os.environ.get("SUNSEAL_TOKEN"), method, path, body)


def ago(time_us: int, then_us: str | int | None) -> str:
    """Say how long ago something was."""
    return f"{units.duration((time_us - int(then_us)) / 1e6)} ago" if then_us not in ("", None) else "never"


def before_us(server: str, span: str | None, option: str) -> int | None:
    """Return the server's time less a span."""
    if span is None:
        return None
    span_us = round(units.time_s(span, option) * 1e6)
    return max(0, int(request(server, "GET", "/v1/nodes?limit=1")["time_us"]) - span_us)


@dataclass(frozen=True)
class Listed:
    """A list of a server: where it is, what its rows are called, and how it is printed."""

    server: str
    path: str
    of: str
    as_csv: bool
    as_json: bool


def tell_list(listed: Listed, filters: Row, columns: dict[str, int], cells: Callable[[Row, int], list[str]]) -> None:
    """Print a list page by page: for a person in columns of fixed widths, the last as wide as it is."""
    from sunseal.catalog.revision import made_by
    from sunseal.loop.lists import pages, query

    token, server = os.environ.get("SUNSEAL_TOKEN"), listed.server.rstrip("/")
    found = pages(server, token, listed.path, query(**filters), of=listed.of, as_csv=not listed.as_json)
    out.use()
    count = 0
    for page in found:
        if listed.as_json:
            for row in page.rows:
                sys.stdout.write("[\n" if count == 0 else ",\n")
                stamped = outputs.stamped(listed.of, row, made_by())
                sys.stdout.write(textwrap.indent(json.dumps(stamped, indent=2, allow_nan=False), "  "))
                count += 1
        elif listed.as_csv:
            # Each page has the names of its columns; one line of them is enough.
            text = page.text if count == 0 else page.text.partition("\r\n")[2]
            sys.stdout.write(text.replace("\r\n", "\n"))
            count += 1
        else:
            lines = [cells(row, page.time_us) for row in page.rows]
            head = [list(columns)] if count == 0 else []
            for line in [*head, *lines]:
                sys.stdout.write(_line(line, list(columns.values())) + "\n")
            count += 1
    if listed.as_json:
        sys.stdout.write("\n]\n" if count else "[]\n")


def _line(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def queue_command(
    server: Server = DEFAULT_SERVER,
    state: Annotated[
        str | None, typer.Option("--state", help="queued, issued, answered, expired; open ones without.")
    ] = None,
    node: Annotated[str | None, typer.Option("--node", help="Only those of this node.")] = None,
    group: Group = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """List challenges that wait, and why; the latest asked first."""
    asked = {"state": state, "node": node, "group": group}
    columns = {"challenge": 9, "node": 16, "name": 20, "state": 8, "asked": 14, "why": 0}

    def cells(row: Row, time_us: int) -> list[str]:
        return [
            row["challenge_id"],
            row["node_id"],
            row["name"],
            row["state"],
            ago(time_us, row["queued_us"]),
            row["why"],
        ]

    tell_list(Listed(server, "/v1/queue", "queue", as_csv, as_json), asked, columns, cells)


gateway_list = typer.Typer(add_completion=False)


@gateway_list.command()
def gateways_command(
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    state: Annotated[str | None, typer.Option("--state", help="active or ended.")] = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """List gateways: last contact, address, messages not answered yet."""
    columns = {"token": 6, "name": 20, "state": 7, "last contact": 14, "address": 20, "backlog": 7}

    def cells(row: Row, time_us: int) -> list[str]:
        heard = ago(time_us, row["last_contact_us"])
        return [row["token_id"], row["name"], row["state"], heard, row["address"], row["backlog"]]

    tell_list(
        Listed(server, "/v1/gateways", "gateways", as_csv, as_json), {"name": name, "state": state}, columns, cells
    )
