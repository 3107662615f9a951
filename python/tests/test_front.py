# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command line as a whole: help, completion, spellings, widths."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from conftest import Cli
from sunseal import requests
from sunseal.catalog import boards, units
from sunseal.cli import app, examples
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError
from sunseal.requests.asking import Fields, Option, answers, asked, request


@pytest.mark.parametrize("args", [(), ("-h",), ("--help",)])
def test_help_is_printed_where_it_is_asked_for_and_where_nothing_is(sunseal: Cli, args: tuple[str, ...]) -> None:
    done = sunseal(*args)
    assert done.status == 0
    assert done.out.startswith("Usage: sunseal ")
    assert all(f"  {name} " in done.out for name in app.COMMANDS)
    headings = [line[:-1] for line in done.out.splitlines() if line.endswith(":")]
    assert headings == ["Options", *app.GROUPS]
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("group", ["trace", "coupon", "hdl", "node", "toolchain"])
def test_a_bare_group_prints_its_help(sunseal: Cli, group: str) -> None:
    done = sunseal(group)
    assert done.status == 0, done.err
    assert done.out.startswith(f"Usage: sunseal {group} ")


@pytest.mark.parametrize("name", sorted(set(app.COMMANDS) - {"serve", "gateway", "token"}))
def test_every_command_answers_to_h(sunseal: Cli, name: str) -> None:
    done = sunseal(name, "-h")
    assert done.status == 0, done.err
    assert done.out.startswith(f"Usage: sunseal {name} ")


def options(name: str) -> dict[str, set[str]]:
    """The options of a command, by the subcommand that has them."""
    command = app.Commands(name="sunseal").get_command(None, name)
    every = getattr(command, "commands", {name: command})
    return {sub: {o for p in c.params for o in p.opts if o.startswith("--")} for sub, c in every.items()}


def test_an_option_has_one_spelling_on_all_commands() -> None:
    for name in set(app.COMMANDS) - {"serve", "gateway", "token"}:
        for sub, found in options(name).items():
            assert not found & {"--plot", "--svg", "--figure-file", "--outfile"}, f"{name} {sub}"
            if (name, sub) != ("coupon", "analyze"):  # there it is what an operation leaves
                assert "--output" not in found, f"{name} {sub}"


def test_an_earlier_spelling_is_still_understood(sunseal: Cli, firmware: None, tmp_path: Path) -> None:
    flames = tmp_path / "flames.svg"
    assert sunseal("profile", "sha256-hash", f"--svg={flames}").status == 0
    assert flames.read_text().lstrip().startswith("<svg")


SHELL = """
sunseal() { "$PYTHON" -m sunseal "$@"; }
PATH="$SHIM:$PATH"
eval "$(sunseal completion bash)"
COMP_WORDS=($LINE); COMP_CWORD=$AT
_sunseal_completion sunseal
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "at", "offered"),
    [
        ("sunseal mea", 1, ["measure"]),
        ("sunseal coupon ana", 2, ["analyze"]),
        ("sunseal measure --board msp432", 3, ["msp432p401r-launchpad"]),
        ("sunseal measure aes128-ctr", 2, ["aes128-ctr-encrypt"]),
        ("sunseal simulate --ser", 2, ["--series"]),
    ],
)
def test_bash_completes(tmp_path: Path, line: str, at: int, offered: list[str]) -> None:
    shim = tmp_path / "sunseal"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sunseal "$@"\n')
    shim.chmod(0o755)
    env = os.environ | {"PYTHON": sys.executable, "SHIM": str(tmp_path), "LINE": line, "AT": str(at)}
    done = subprocess.run(["bash", "-c", SHELL], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered, done.stderr


@pytest.mark.parametrize(
    ("shell", "env", "offered"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "sunseal mea"}, '"measure"'),
        ("fish", {"_TYPER_COMPLETE_ARGS": "sunseal mea", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "measure\t"),
    ],
)
def test_zsh_and_fish_are_answered(sunseal_process: Cli, shell: str, env: dict[str, str], offered: str) -> None:
    script = sunseal_process("completion", shell)
    assert script.status == 0
    assert f"_SUNSEAL_COMPLETE=complete_{shell}" in script.out
    assert offered in sunseal_process(_SUNSEAL_COMPLETE=f"complete_{shell}", **env).out


ROFF = {".TH", ".SH", ".SS", ".PP", ".TP"}


def test_each_command_has_a_manual_page(sunseal: Cli, tmp_path: Path) -> None:
    assert sunseal("man", tmp_path / "man1").status == 0
    pages = {path.stem: path.read_text() for path in (tmp_path / "man1").iterdir()}
    assert set(pages) == {"sunseal", *(f"sunseal-{name}" for name in app.COMMANDS)}
    for name, page in pages.items():
        lines = page.splitlines()
        assert lines[0].startswith(".TH") and ".SH SYNOPSIS" in lines and ".SH EXIT STATUS" in lines, name
        # What begins with a dot or an apostrophe is read as a request, and a line that is lost says nothing.
        assert {line.split()[0] for line in lines if line.startswith((".", "'"))} <= ROFF, name
        assert (".SH EXAMPLES" in lines) == any(path.split()[0] == name[8:] for path in examples.EXAMPLES), name
    sweep = pages["sunseal-sweep"].replace("\\-", "-")
    assert "\\fB--over\\fR \\fIKEY=VALUES\\fR" in sweep and "Default: grid." in sweep
    assert "COUPON ANALYZE" in pages["sunseal-coupon"] and "\\-\\-runtime\\-input" in pages["sunseal-coupon"]
    (tmp_path / "file").write_text("")
    refused = sunseal("man", tmp_path / "file" / "man1")
    assert refused.status == 2 and "cannot be written" in refused.err and "Traceback" not in refused.err


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield path, command
    for name, one in inner.items():
        yield from _commands(one, f"{path} {name}")


def _all_commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app.app)
    return {p: c for name in app.COMMANDS for p, c in _commands(group.get_command(None, name), name)}


def test_each_command_has_examples_that_it_understands(sunseal: Cli) -> None:
    commands = _all_commands()
    assert set(examples.EXAMPLES) == set(commands)
    for path, command in commands.items():
        for question, line in examples.lines(path):
            words = shlex.split(line)[1 + len(path.split()) :]
            command.make_context(path, words)
            assert question[0].isupper() and question[-1] not in ".:", question
    told = sunseal("coupon", "analyze", "--help").out
    assert told.endswith("--function seal --runtime-input message:64\n") and "\nExamples:\n" in told


def test_help_has_one_form() -> None:
    """A sentence that commands; options that open with a noun or a verb, with their defaults in brackets behind."""
    asks = re.compile(r"(What|Whether|How|Which|When|Where|Of|Who|Whose|Why|By|If)\b|.*; else ")
    for path, command in _all_commands().items():
        first = " ".join((command.help or "").strip().split("\n\n")[0].split())
        assert re.match(r"[A-Z][a-z]+[ ,]", first) and not asks.match(first), f"{path}: {first}"
        texts = {p.name: getattr(p, "help", None) or "" for p in command.params}
        assert [f"{path} {name}: {text}" for name, text in texts.items() if not text or asks.match(text)] == []


def test_a_default_that_is_no_value_is_told_in_the_place_of_defaults(sunseal: Cli) -> None:
    told = " ".join(sunseal("lifetime", "--help").out.split())
    assert "--vcc VOLTAGE Supply voltage, such as 2.2V. [default: (the board's)]" in told
    assert "--cutoff VOLTAGE Supply voltage below which the node stops. [default: 2.8V]" in told


def test_a_shell_without_completion_is_named(sunseal: Cli) -> None:
    done = sunseal("completion", "tcsh")
    assert done.status == 2
    assert "unknown shell `tcsh`; known: bash, fish, zsh" in done.err


def test_names_are_whole_in_a_pipe_and_at_80_columns(sunseal_process: Cli) -> None:
    def lies_in(text: str) -> None:
        assert "…" not in text
        for name in [*boards.names("boards"), "suslowicz2017", "piotrowski2006", "two-aa-piotrowski2006"]:
            assert name in text

    lies_in(sunseal_process("boards").out)
    outer, inner = pty.openpty()
    env = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    with subprocess.Popen([sys.executable, "-m", "sunseal", "boards"], stdout=inner, stderr=inner, env=env) as process:
        os.close(inner)
        seen = b""
        while True:
            try:
                piece = os.read(outer, 65536)
            except OSError:  # Linux says so where the other end is closed
                break
            seen += piece
            if not piece:
                break
        assert process.wait() == 0
    os.close(outer)
    lies_in(seen.decode())


def test_json_knows_no_colour(sunseal_process: Cli) -> None:
    done = sunseal_process("boards", "--json", FORCE_COLOR="1", CLICOLOR_FORCE="1")
    assert "\x1b" not in done.out
    assert json.loads(done.out)


def test_the_fields_of_a_request_become_options() -> None:
    seen: list[object] = []

    @request
    class Asked:
        times: int = asked("--times", "How often.", int, default=2)

    def command(asked: Asked, loud: Annotated[bool, typer.Option("--loud")] = False) -> None:
        seen.append((asked, loud))

    command.__annotations__["asked"] = Asked  # local to this function, which no string names
    spreading = spread(command)
    # `--request FILE` is read before the command line is (test_request_files.py).
    assert list(inspect.signature(spreading).parameters) == ["times", "loud", "request"]
    spreading(times=3, loud=True)
    assert seen == [(Asked(3), True)]


@request
class Lasting:
    """A request, as the tests here need it."""

    name: str = asked("", "A name.")
    _: KW_ONLY
    time_s: float = asked("--time", "A time.", read=units.time_s, typed="2s", default=2.0)
    limit: int | None = asked("--limit", "A number.", int, min=1, default=None)
    table: Mapping[str, float] | None = asked(
        {"low_v": Option("--low", "Volts.", read=units.voltage_v), "share": Option("--share", "A share.", float)},
        default=None,
    )
    heard: object = None


def test_a_request_is_the_signature_of_its_function_and_the_options_of_its_command() -> None:
    @answers(Lasting)
    def lasting(to: Lasting) -> list[object]:
        return [to.name, to.time_s, to.limit, to.table, to.heard]

    assert lasting("a", time_s=1.5, heard=all) == ["a", 1.5, None, None, all]
    assert list(inspect.signature(lasting).parameters) == ["name", "time_s", "limit", "table", "heard"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'times'"):
        lasting("a", times=2)  # type: ignore[call-overload]
    told: list[object] = []

    def command(asked: Lasting) -> None:
        told.append(lasting(**vars(asked)))

    command.__annotations__["asked"] = Lasting
    app = typer.Typer()
    app.command()(spread(command))
    run = CliRunner()
    assert run.invoke(app, ["a"]).exit_code == 0
    assert run.invoke(app, ["b", "--time", "1min", "--limit", "3", "--low", "1.8V"]).exit_code == 0
    assert told == [["a", 2.0, None, None, None], ["b", 60.0, 3, {"low_v": 1.8}, None]]
    assert run.invoke(app, ["a", "--limit", "0"]).exit_code == 2
    assert isinstance(run.invoke(app, ["a", "--time", "soon"]).exception, SunsealError)


def test_what_the_help_shows_as_default_is_the_default_of_the_function() -> None:
    shown = 0
    for name, kind in vars(requests).items():
        for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
            option = field.metadata.get("option")
            if isinstance(option, Option) and option.read and option.typed is not None:
                value = option.read(option.typed, option.name)
                value = value[field.name] if isinstance(value, Fields) else value
                assert value == field.default, f"{name}.{field.name}"
                shown += 1
    assert shown >= 5
