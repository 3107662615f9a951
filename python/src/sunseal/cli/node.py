# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal node`: the nodes of a server, as its operator sees and decides about them."""

from __future__ import annotations

import urllib.parse
from pathlib import Path
from typing import Annotated, Any

import typer

from sunseal.catalog import units
from sunseal.cli.console import Json, answer, escape, facts_table, out
from sunseal.cli.lists import (
    DEFAULT_SERVER,
    Csv,
    Group,
    Listed,
    Name,
    Server,
    Verdict,
    ago,
    before_us,
    request,
    tell_list,
)
from sunseal.errors import SunsealError

LEAST_BITS = 112

node_app = typer.Typer(
    help="Enrol, challenge and revoke the nodes of a server; the operator's token stands in SUNSEAL_TOKEN.",
    no_args_is_help=True,
)

NodeId = Annotated[str, typer.Argument(help="16 hexadecimal digits.")]
Suite = Annotated[str | None, typer.Option("--suite", help="Suite of the key that you vouch for.")]
PublicKey = Annotated[str | None, typer.Option("--public-key", help="The key that you vouch for, hexadecimal.")]
Period = Annotated[str | None, typer.Option("--period", help="Between its signs of life, such as 600s.")]
IntoGroup = Annotated[str | None, typer.Option("--group", help="Group to put it into.")]


def _path(node_id: str, what: str) -> str:
    return f"/v1/nodes/{urllib.parse.quote(node_id, safe='')}/{what}"


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _tell(node: dict[str, Any], as_json: bool) -> None:
    answer("node", as_json, lambda: node, lambda: out.print(f"node {node['node_id']} is {node['state']}"))


@node_app.command("list")
def list_command(
    server: Server = DEFAULT_SERVER,
    late: Annotated[bool | None, typer.Option("--late/--not-late", help="Only those that are late, or not.")] = None,
    state: Annotated[str | None, typer.Option("--state", help="open, enrolled or revoked.")] = None,
    group: Group = None,
    name: Name = None,
    below: Annotated[str | None, typer.Option("--below", help="Store below this, such as 2.1V.")] = None,
    verdict: Verdict = None,
    seen_before: Annotated[str | None, typer.Option("--silent-for", help="Not seen for so long, such as 2d.")] = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """List nodes, the latest opened first: what they are trusted with, and who is late."""
    below_v = None if below is None else units.voltage_v(below, "--below")
    asked = {"late": late, "state": state, "group": group, "name": name, "vcap_below_v": below_v, "verdict": verdict}
    asked["seen_before_us"] = before_us(server, seen_before, "--silent-for")
    tell_list(Listed(server, "/v1/nodes", "nodes", as_csv, as_json), asked, COLUMNS, _cells)


COLUMNS = {"node": 16, "name": 20, "group": 12, "state": 8, "security": 17, "counter": 8, "accepted": 8, "refused": 7}
COLUMNS |= {"last seen": 12, "late": 0}


def _cells(node: dict[str, Any], time_us: int) -> list[str]:
    bits = int(node["security_bits"] or 0)
    seen_us = node["last_seen_us"]
    return [
        node["node_id"],
        node["name"],
        node["group"],
        node["state"],
        f"{bits} bits, {'legacy' if bits < LEAST_BITS else 'current'}" if bits else "",
        node["counter"],
        node["accepted"],
        node["refused"],
        ago(time_us, seen_us),
        node["late_why"],
    ]


@node_app.command("show")
def show_command(node_id: NodeId, server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """Show all that the server knows of a node."""
    node = request(server, "GET", f"/v1/nodes/{urllib.parse.quote(node_id, safe='')}")

    def show() -> None:
        table = facts_table()
        for key, value in node.items():
            told = value["why"] if key == "late" and value else value
            if isinstance(told, dict):
                told = ", ".join(f"{count} {what}" for what, count in told.items())
            table.add_row(key, "" if told is None else escape(str(told)))
        out.print(table)

    answer("node", as_json, lambda: node, show)


@node_app.command("events")
def events_command(
    node_id: Annotated[str | None, typer.Argument(help="16 hexadecimal digits; all nodes without.")] = None,
    server: Server = DEFAULT_SERVER,
    kind: Annotated[str | None, typer.Option("--kind", help="Such as report, hello, revoked.")] = None,
    verdict: Verdict = None,
    gateway: Annotated[int | None, typer.Option("--gateway", help="Number of the gateway's token.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="No older than this, such as 2d.")] = None,
    newest: Annotated[bool, typer.Option("--newest/--oldest", help="Order of the list.")] = True,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """List what happened to a node, or to all."""
    asked = {"node": node_id, "kind": kind, "verdict": verdict, "gateway": gateway, "newest": newest}
    asked["from_us"] = before_us(server, since, "--since")
    columns = {"event": 9, "when": 14, "node": 16, "kind": 17, "verdict": 20, "gateway": 16, "why": 0}
    tell_list(Listed(server, "/v1/events", "events", as_csv, as_json), asked, columns, _event_cells)


def _event_cells(event: dict[str, Any], time_us: int) -> list[str]:
    import json

    why = str(json.loads(event["detail"]).get("why", ""))
    told = (event["node_id"], event["kind"], event["verdict_name"], event["gateway"])
    return [event["event_id"], ago(time_us, event["time_us"]), *told, why]


@node_app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="CSV: node_id, name, group, period_us, suite, public_key.")],
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Open thousands of nodes from a file, all of them or none."""
    try:
        text = file.read_bytes()
    except OSError as e:
        raise SunsealError(f"`{file}` cannot be read: {e.strerror or e}") from e
    told = request(server, "POST", "/v1/nodes/import", text)
    answer("node-import", as_json, lambda: told, lambda: out.print(f"{told['imported']} nodes imported"))


@node_app.command("open")
def open_command(
    node_id: NodeId,
    name: Annotated[str, typer.Option("--name", help="Name to call it by.")] = "",
    group: IntoGroup = None,
    period: Period = None,
    suite: Suite = None,
    public_key: PublicKey = None,
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Open enrolment for a node, or enrol it at once with a key that you vouch for."""
    period_us = None if period is None else round(units.time_s(period, "--period") * 1e6)
    body = _given(node_id=node_id, name=name, group=group, period_us=period_us, suite=suite, public_key=public_key)
    _tell(request(server, "POST", "/v1/nodes", body), as_json)


@node_app.command("ask")
def ask_command(node_id: NodeId, server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """Queue a challenge: the node gets it when it shows itself."""
    queued = request(server, "POST", _path(node_id, "challenges"), {})
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
    _tell(request(server, "POST", _path(node_id, "revoke"), {"why": why}), as_json)


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
    _tell(request(server, "POST", _path(node_id, "rekey"), body), as_json)


@node_app.command("change")
def change_command(
    node_id: NodeId,
    name: Annotated[str | None, typer.Option("--name", help="Name to call it by from now on.")] = None,
    group: IntoGroup = None,
    period: Period = None,
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Give a node another name, group or period."""
    period_us = None if period is None else round(units.time_s(period, "--period") * 1e6)
    body = _given(name=name, group=group, period_us=period_us)
    _tell(request(server, "POST", _path(node_id, "change"), body), as_json)
