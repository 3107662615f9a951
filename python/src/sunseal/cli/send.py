# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal send`: the base station of Rizvi et al. 2009."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from sunseal.catalog import units
from sunseal.cli.console import Json, answer, out
from sunseal.cli.spread import spread
from sunseal.requests.asking import BOARD, VARIANT


@spread
def send_command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The key on the first line, then blocks, in hex.")],
    cipher: Annotated[str, typer.Option("--cipher", help="aes128, xtea or present128.")] = "aes128",
    board: Annotated[str, BOARD] = "mica2",
    variant: Annotated[list[str] | None, VARIANT] = None,
    loss: Annotated[float, typer.Option("--loss", help="Share of the frames that are lost, 0 to 1.")] = 0.0,
    distance_m: Annotated[float, typer.Option("--distance", help="Between the motes, in metres.")] = 10.0,
    packet_bytes: Annotated[
        int, typer.Option("--packet", help="Bytes of a packet, 8 to 48 in eights; more than 8 with --window.")
    ] = 8,
    window: Annotated[
        int,
        typer.Option("--window", help="Packets that go before an ACK is asked for; 0 is the report's stop-and-wait."),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the losses.")] = 1,
    as_json: Json = False,
) -> None:
    """Send a key and blocks over the air to a node, which encrypts them and returns them; check the results.

    The mote at the serial port and the node run their firmware on one air; the node encrypts in software, or by its
    FPGA (`--board mica2-fpga-up5k`). Exit 1: a result is wrong, or the node does not answer.
    """
    from sunseal.papers import base

    sent = base.send(
        path,
        cipher,
        board,
        tuple(variant or ()),
        seed=seed,
        frame_loss=loss,
        distance_m=distance_m,
        packet_bytes=packet_bytes,
        window=window,
    )
    answer("send", as_json, sent.to_dict, lambda: _show(sent), int(not sent.valid))


def _show(sent: object) -> None:
    from sunseal.papers import base

    assert isinstance(sent, base.Sent)
    table = Table("block", "in", "out", "", box=None)
    for number, (plain, result, right) in enumerate(sent.blocks()):
        table.add_row(str(number), plain.hex(), result.hex(), "" if right else "[bold red]wrong[/]")
    out.print(table)
    agree = sum(ok for _, _, ok in sent.blocks())
    place = " ".join(filter(None, (sent.board, sent.variant)))
    out.print(
        f"{agree} of {len(sent.blocks())} blocks agree with an independent implementation of {sent.cipher}; "
        f"encrypted by {place} in {units.show(sent.encrypting_s, 's')}, all in {units.show(sent.time_s, 's')}, "
        f"{sent.packets} packets from the host, {sent.retries} of them sent again; the node took "
        f"{units.show(sent.node_j, 'J')}, {units.show(sent.node_radio_j, 'J')} of it its radio"
    )
