# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command line. Exit 0: done or passed; 1: findings; 2: the question or its input is wrong; 3: undecided.

A command's module is imported when the command is run: `--help` imports none of them.
"""

from __future__ import annotations

import contextvars
import difflib
import importlib
import os
import re
import sys
import threading
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer._click.exceptions import NoArgsIsHelpError
from typer._click.shell_completion import CompletionItem
from typer._completion_classes import completion_init
from typer.core import TyperGroup
from typer.exceptions import TyperException

from sunseal.cli import examples, requesting
from sunseal.cli.console import err, escape, out
from sunseal.errors import WRONG, Stopped, SunsealError, absent

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Settings of a command whose arguments another program reads."""

COMPLETING = "_SUNSEAL_COMPLETE"
"""Set by a shell's function when it asks what to offer."""

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Measure": {
        "measure": ("measure:measure_command", "Measure one operation: cycles, time, joules, memory."),
        "curve": ("measure:curve_command", "Weigh one run over every voltage and clock."),
        "profile": ("profile:profile_command", "Tell where cycles and joules go; draw a flame graph."),
        "run": ("run:run_command", "Run a program as on a bench, its UART on the terminal."),
        "gdb": ("debug:gdb_command", "Serve a debugger, through losses of supply."),
        "dap": ("dap:dap_command", "Serve an editor's debugger (Debug Adapter Protocol)."),
        "waveform": ("debug:waveform_command", "Record pins, states, variables as a VCD file."),
        "trace": ("trace:trace_app", "Read what an instrument or a harvester recorded."),
        "hdl": ("hdl:hdl_app", "The coprocessor and the energy meter in hardware."),
    },
    "Secure": {
        "constant-time": ("constant_time:constant_time_command", "Follow secret bytes through runs of a binary."),
    },
    "Cut the power": {
        "inject": ("losses:inject_command", "Cut the power at every cycle of a stretch."),
        "war": ("losses:war_command", "Find non-volatile bytes written after they were read."),
        "least-capacitor": (
            "losses:least_command",
            "Find the smallest capacitor on which a program progresses.",
        ),
        "coupon": ("coupon:coupon_app", "Precomputed work: what can be done ahead, at what cost."),
    },
    "Plan": {
        "plan": ("plan:plan_command", "Find the cheapest node that meets requirements."),
        "tune": ("tune:tune_command", "Find voltage, clock, board, algorithm within bounds."),
        "size": ("supply:size_command", "Size capacitor and panel, play a typical year."),
        "lifetime": ("supply:lifetime_command", "Tell how long a battery lasts."),
        "sweep": ("sweep:sweep_command", "Run a scenario or a plan at many points, into a table."),
    },
    "Play": {
        "demo": ("simulate:demo_command", "Run one day of a node against the real server."),
        "simulate": ("simulate:simulate_command", "Play a scenario in the closed loop."),
        "fleet": ("fleet:fleet_command", "Play thousands of nodes over years."),
        "send": ("send:send_command", "Have blocks encrypted by a node over the air."),
    },
    "Serve": {
        "serve": ("services:serve_command", "Run the verifying server."),
        "gateway": ("services:gateway_command", "Run the gateway between radio and server."),
        "token": ("services:token_command", "Make, list or end tokens of the server."),
        "node": ("node:node_app", "Enrol, list, challenge and revoke the nodes of a server."),
        "queue": ("lists:queue_command", "List challenges that wait at a server, and why."),
    },
    "Look up": {
        "boards": ("inventory:boards_command", "List boards, devices, their limits of clock and voltage."),
        "workloads": ("inventory:workloads_command", "List the operations that can be measured."),
        "parts": ("parts:parts_command", "List parts, yours and the package's."),
        "schema": ("schema:schema_command", "Print the JSON Schema of a kind of file, for your editor."),
        "doctor": ("tools:doctor_command", "Say which tools are there and how to get the others."),
    },
    "Make": {
        "examples": ("carried:examples_command", "List the examples that came along, or copy some."),
        "new": ("new:new_command", "Write a program for a board that builds and runs at once."),
        "part": ("parts:part_app", "Write, check or fit a part of your own."),
        "toolchain": ("toolchain:toolchain_app", "Fetch cross compilers into your cache, without root."),
        "completion": ("completion:completion_command", "Print the completion script of bash, zsh or fish."),
        "man": ("manual:man_command", "Write a manual page for each command."),
    },
    "Papers": {
        "reproduce": ("reproduce:reproduce_command", "Print published figures beside ours."),
        "bench": ("tools:bench_command", "Measure the simulator's own speed."),
    },
}
"""Each command under the heading of the help: where it is defined, and what `--help` says of it on one line."""

COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}
"""All of them, in the order of the help."""


FORMER = {
    ("curve", "--plot"): "--figure",
    ("tune", "--plot"): "--figure",
    ("profile", "--svg"): "--figure",
    ("trace", "--plot"): "--figure",
    ("trace", "--output"): "--out",
}
"""Earlier spellings of options, by command: they are still understood."""


class Commands(TyperGroup):
    """A group that knows its commands' names and imports one when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and build a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        found = getattr(importlib.import_module(f"sunseal.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            found.rich_markup_mode = None
            command: Any = typer.main.get_group(found)
        else:
            one = typer.Typer(add_completion=False, rich_markup_mode=None)
            one.command(cmd_name, context_settings=PASSED_ON if module == "services" else None)(found)
            command = typer.main.get_command(one)
        command.name = cmd_name
        examples.attach(command, cmd_name)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write name and first sentence of each command under the heading of its group, all in one column."""
        widest = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), sentence) for name, (_, sentence) in commands.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command without importing any."""
        names = [n for n in COMMANDS if n.startswith(incomplete)]
        return [CompletionItem(n, help=COMMANDS[n][1]) for n in names] or super().shell_complete(ctx, incomplete)


app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        from sunseal.catalog.revision import made_by

        by = made_by()
        out.print(f"sunseal {by['version']}, data {by['data']}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version, and the data's revision."),
    ] = False,
) -> None:
    """Run a sensor node's real firmware on a cycle-exact simulated board; account for every joule."""


def _one_line(text: str) -> str:
    """Drop the excerpt that a TOML parser draws under its message."""
    return " ".join(line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*\d*\s*\|", line))


def _fail(sentence: str, hint: str | None = None, status: int = WRONG, word: str = "error") -> int:
    sentence = _one_line(sentence)
    err.print(f"[bold red]{word}:[/] {escape(sentence)}")
    if hint:
        err.print(f"[bold]hint:[/] {escape(hint)}")
    if _AS_JSON.get():
        from sunseal.cli.console import print_json

        print_json("error", {"kind": word, "error": sentence, "hint": hint, "exit_status": status})
    return status


_AS_JSON: contextvars.ContextVar[bool] = contextvars.ContextVar("as_json", default=False)
"""Set where an answer in JSON was asked for, so that an error is one, too."""

AGAIN = "nothing was written; run the same command again"
INTERRUPTED = 130
"""128 and the number of SIGINT; Typer returns it for a Ctrl-C that nobody caught."""


def _stopped(told: str) -> int:
    err.print(f"stopped; {escape(told)}")
    return INTERRUPTED


def _usage(e: TyperException, args: Sequence[str]) -> int:
    if isinstance(e, NoArgsIsHelpError) and e.ctx is not None:
        sys.stdout.write(e.ctx.get_help() + "\n")
        return 0
    sentence = getattr(e, "format_message", lambda: str(e))()
    sentence = sentence[:1].lower() + sentence[1:].rstrip(".")
    hint = "`sunseal --help` lists the commands"
    if args and args[0] in COMMANDS:
        # Of a command below another, `sunseal coupon rate`, its own.
        ctx = getattr(e, "ctx", None)
        path = f"sunseal {args[0]}" if ctx is None or ctx.parent is None else ctx.command_path
        below = isinstance(getattr(ctx, "command", None), TyperGroup)
        hint = f"`{path} --help` lists its {'commands' if below else 'options'}"
    elif args and (near := difflib.get_close_matches(args[0], COMMANDS, n=1)):
        hint = f"did you mean `sunseal {near[0]}`?"
    return _fail(sentence, hint)


def run(args: Sequence[str]) -> int:
    """Run a command and return its exit status."""
    # What a command sets for itself, as where it looks for files, ends with it.
    return contextvars.copy_context().run(_watched, args)


def _watched(args: Sequence[str]) -> int:
    if not args or {"--help", "-h"} & set(args):
        return _run(args or ["--help"])
    _AS_JSON.set("--json" in args)
    from sunseal.cli.progress import alive

    with alive("--json" in args):
        return _run(args)


def _respelled(arg: str, command: str) -> str:
    option, equals, value = arg.partition("=")
    return FORMER.get((command, option), option) + equals + value


def _run(args: Sequence[str]) -> int:
    command = typer.main.get_command(app)
    try:
        told = requesting.expanded([_respelled(arg, args[0]) for arg in args], command)
        status = command(args=told, prog_name="sunseal", standalone_mode=False)
    except SunsealError as e:
        return _fail(str(e), e.hint, e.status, e.word)
    except ModuleNotFoundError as e:
        missing = absent(e)
        return _fail(str(missing), missing.hint)
    except Stopped as e:
        return _stopped(str(e))
    except (typer.Abort, KeyboardInterrupt):
        return _stopped(AGAIN)
    except TyperException as e:
        return _usage(e, args)
    except SystemExit:
        # Typer ends like this when nobody reads the output any more, as behind `| head -1`.
        return 0
    except OSError as e:
        place = f"`{os.fsdecode(e.filename)}`" if e.filename else "the output"
        return _fail(f"{place} cannot be read or written: {e.strerror or e}")
    except Exception as e:
        from sunseal._engine import EngineError

        if not isinstance(e, EngineError):
            raise
        return _fail(str(e))
    if status == INTERRUPTED:
        return _stopped(AGAIN)
    return status if isinstance(status, int) else 0


def main() -> None:
    """Enter from the console script."""
    # The arrays here are small: threads of BLAS would cost more to start than they bring.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if COMPLETING in os.environ:
        completion_init()
    if sys.stdout is None:
        sys.exit(_fail("standard output is closed, so there is nowhere to write the answer: open it, or name a file"))
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # what is left has no reader
    except OSError as e:
        # Some Pythons keep what they could not write and say so again.
        status = status if status == WRONG else _fail(f"standard output cannot be written: {e.strerror or e}")
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if status == INTERRUPTED and threading.active_count() > 1:
        # Python would wait for what threads still do in the engine.
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
