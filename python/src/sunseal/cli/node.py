# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal node`: the nodes of a server, as its operator sees and decides about them."""

from __future__ import annotations

import os
import urllib.parse
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sunseal.catalog import units
from sunseal.cli.console import Json, answer, out, print_json

node_app = typer.Typer(
    help="Enrol, challenge and revoke the nodes of a server; the operator's token stands in SUNSEAL_TOKEN.",
    no_args_is_help=True,
)

Server = Annotated[str, typer.Option("--server", help="The server, as http://HOST:PORT.")]
NodeId = Annotated[str, typer.Argument(help="16 hexadecimal digits.")]
Suite = Annotated[str | None, typer.Option("--suite", help="Suite of the key that you vouch for.")]
PublicKey = Annotated[str | None, typer.Option("--public-key", help="The key that you vouch for, hexadecimal.")]
DEFAULT_SERVER = "http://127.0.0.1:8437"
PAGE_ROWS = 1000


def _ask(server: str, method: str, path: str, body: Any = None) -> Any:
    from sunseal.loop.services import ask

    return ask(server.rstrip("/"), os.environ.get("SUNSEAL_TOKEN"), method, path, body)


def _path(node_id: str, what: str) -> str:
    return f"/v1/nodes/{urllib.parse.quote(node_id, safe='')}/{what}"


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _tell(node: dict[str, Any], as_json: bool) -> None:
    answer("node", as_json, lambda: node, lambda: out.print(f"node {node['node_id']} is {node['state']}"))


@node_app.command("list")
def list_command(
    server: Server = DEFAULT_SERVER,
    late: Annotated[bool, typer.Option("--late", help="Only those that are late.")] = False,
    as_json: Json = False,
) -> None:
    """List the nodes, what they are trusted with, and who is late."""
    nodes: list[dict[str, Any]] = []
    after = ""
    while True:
        page = _ask(server, "GET", f"/v1/nodes?limit={PAGE_ROWS}&late={str(late).lower()}{after}")
        nodes += page["nodes"]
        if page["next_after"] is None:
            break
        after = f"&after={page['next_after']}"
    if as_json:
        print_json("nodes", nodes)
        return
    table = Table(box=None, pad_edge=False)
    for column in ("node", "name", "state", "security", "counter", "accepted", "refused", "last seen", "late"):
        table.add_column(column)
    for node in nodes:
        verdicts = node["verdicts"]
        seen_us = node["last_seen_us"]
        table.add_row(
            node["node_id"],
            escape(node["name"]),
            node["state"],
            f"{node['security_bits']} bits, {node['security_label']}" if node["security_bits"] else "",
            "" if node["counter"] is None else str(node["counter"]),
            str(verdicts.get("accepted", 0)),
            str(sum(verdicts.values()) - verdicts.get("accepted", 0)),
            "never" if seen_us is None else f"{units.duration((page['time_us'] - seen_us) / 1e6)} ago",
            escape(node["late"]["why"]) if node["late"] else "",
        )
    out.print(table)


@node_app.command("open")
def open_command(
    node_id: NodeId,
    name: Annotated[str, typer.Option("--name", help="What to call it.")] = "",
    period: Annotated[str | None, typer.Option("--period", help="Between its signs of life, such as 600s.")] = None,
    suite: Suite = None,
    public_key: PublicKey = None,
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Open enrolment for a node, or enrol it at once with a key that you vouch for."""
    period_us = None if period is None else round(units.time_s(period, "--period") * 1e6)
    body = _given(node_id=node_id, name=name, period_us=period_us, suite=suite, public_key=public_key)
    _tell(_ask(server, "POST", "/v1/nodes", body), as_json)


@node_app.command("ask")
def ask_command(node_id: NodeId, server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """Queue a challenge: the node gets it when it shows itself."""
    queued = _ask(server, "POST", _path(node_id, "challenges"), {})
    told = f"challenge {queued['challenge_id']} waits for node {node_id}"
    answer("challenge", as_json, lambda: queued, lambda: out.print(told))


@node_app.command("revoke")
def revoke_command(
    node_id: NodeId,
    why: Annotated[str, typer.Option("--why", help="For the event log.")] = "",
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Trust a node no more: whatever it says is refused."""
    _tell(_ask(server, "POST", _path(node_id, "revoke"), {"why": why}), as_json)


@node_app.command("rekey")
def rekey_command(
    node_id: NodeId,
    suite: Suite = None,
    public_key: PublicKey = None,
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Give a node up to a new key; the old one is never taken again."""
    body = _given(suite=suite, public_key=public_key)
    _tell(_ask(server, "POST", _path(node_id, "rekey"), body), as_json)
