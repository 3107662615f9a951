# SPDX-License-Identifier: MIT OR Apache-2.0
"""One contract of all that judges: no command passes that compared nothing, and CI sees what it found."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

import sunseal
from conftest import Cli, Outcome
from sunseal.answers import verdict_files
from sunseal.answers.verdicts import NOTHING, Finding, Verdict
from sunseal.catalog import boards
from sunseal.cli import app
from sunseal.cli import plan as plan_command
from sunseal.errors import STATUS
from sunseal.kit import doctor
from sunseal.measurement import oracle
from sunseal.papers import hdl, published
from sunseal.papers.evidence import Evidence
from sunseal.planner.plan_confirm import Confirmed
from sunseal.planner.plan_confirm import Row as Played
from sunseal.secure import leakage, precomputable, randomness
from sunseal.secure.lasting import Least
from sunseal.trace import comparing
from test_injecting import BOARD, IDLE, NAIVE, SOUND, Build, build  # noqa: F401  # a fixture

QUICK = settings(max_examples=40, deadline=None)
BY_RULE = Evidence("independent", "", "", "", (), "")
texts = st.sampled_from(["a", "b <&>", "\x1f\ufffe", "sum.c:3", "é"])
findings = st.builds(Finding, texts, texts, texts)
verdicts = st.builds(
    Verdict,
    texts,
    st.integers(0, 3),
    st.lists(findings, max_size=2).map(tuple),
    st.lists(texts, max_size=2).map(tuple),
)


@QUICK
@given(verdicts)
def test_a_verdict_passes_only_where_something_was_compared_and_nothing_is_open(one: Verdict) -> None:
    assert one.passed == (one.compared > 0 and not one.findings and not one.open)
    assert one.exit_status == STATUS[one.word] == (0 if one.passed else 1 if one.findings else 3)
    assert one.passed or one.findings or one.why, "an undecided one says why"


@QUICK
@given(st.lists(verdicts, max_size=4))
def test_verdicts_that_are_joined_pass_only_together(parts: list[Verdict]) -> None:
    whole = Verdict.joined("all", parts)
    assert whole.passed == (bool(parts) and all(part.passed for part in parts))
    assert bool(whole.findings) == any(part.findings for part in parts)
    suites = ElementTree.fromstring(verdict_files.junit(whole))
    (suite,) = suites
    cases = list(suite)
    assert suite.get("tests") == str(len(cases)) != "0"
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    assert bool(bad) != whole.passed, "what has not passed is green in no system"
    results = json.loads(verdict_files.sarif(whole))["runs"][0]["results"]
    assert {r["kind"] for r in results} == {"pass"} if whole.passed else not any(r["kind"] == "pass" for r in results)
    assert all((r["level"] == "none") == (r["kind"] != "fail") for r in results)


# --- Each judging command with an empty question -----------------------------------------------------


def losing(*words: str) -> Callable[[Cli, Build], Outcome]:
    def ask(sunseal: Cli, build: Build) -> Outcome:  # noqa: F811
        elf = build("idle", IDLE, count=0)
        return sunseal(words[0], elf, "--board", BOARD, "--from", "task", "--to", "done", *words[1:])

    return ask


def judged(verdict: Verdict) -> Callable[[Cli, Build], Outcome]:
    return lambda *_: Outcome(verdict.exit_status, " ".join(verdict.why), "")


def secret_that_is_never_read(sunseal: Cli, _: Build) -> Outcome:
    return sunseal("constant-time", "sha256-hash", "--board", BOARD, "--secret", "bench_output")


def undrawn() -> Verdict:
    row = published.Row("drawn", None, 1.0, "J", published.NOT_PRINTED, BY_RULE)
    return published.judged([published.Reproduction("a/b", "", "", [row], "")])


def unseen() -> Verdict:
    asked = leakage.Asked(traces=4, noise=1.0, seed=1)
    return leakage.Leakage("ctr", "sbox", BOARD, asked, ()).judged


def unfollowed() -> Verdict:
    fields: dict[str, Any] = dict.fromkeys((f.name for f in dataclasses.fields(precomputable.Analysis)), 0)
    return precomputable.Analysis(**{**fields, "function": "f", "not_followed": ("DMA",)}).judged


def uncut() -> Verdict:
    fields: dict[str, Any] = dict.fromkeys((f.name for f in dataclasses.fields(Least)), 0)
    return Least(**{**fields, "program": "a.elf", "cuts": 10, "uncut": 1}).judged


def unconfirmed() -> Verdict:
    class Planned:
        best = considered = 1

    return plan_command._judged(cast(Any, Planned), Confirmed(()))


class NoWindow:
    expanded_j = energy_j = energy_low_j = energy_high_j = 0.0
    workload = power_set = ""


NO_GOAL: hdl.Row = {"design": "d", "target": "t", "value": 1, "unit": "u", "estimate": None, "goal": None}
EMPTY: dict[str, tuple[Callable[[Cli, Build], Outcome], str]] = {
    "constant-time": (secret_that_is_never_read, "of bench_output"),
    "coupon analyze": (judged(unfollowed()), "DMA is not followed"),
    "coupon leakage": (judged(unseen()), NOTHING),
    "coupon randomness": (judged(randomness.Randomness(None, 0, 0.0, (), ()).judged), NOTHING),
    "doctor": (judged(doctor.judged([])), NOTHING),
    "hdl size": (judged(hdl.judged([NO_GOAL])), NOTHING),
    "inject": (losing("inject"), "nothing was compared"),
    "least-capacitor": (judged(uncut()), "were not looked at"),
    "plan": (
        judged(plan_command._judged(cast(Any, type("", (), {"best": 1, "considered": 1})), Confirmed(()))),
        NOTHING,
    ),
    "reproduce": (judged(undrawn()), NOTHING),
    "trace compare": (judged(comparing.Comparison(cast(Any, NoWindow), cast(Any, NoWindow), ()).judged), NOTHING),
    "war": (losing("war"), "no write to look at"),
}
ASKED_BY_ITSELF = {"part check", "trace capacitor"}
"""Commands whose question cannot be empty: the engine reads the whole file; one reading is held to one ledger."""


@pytest.mark.parametrize("command", list(EMPTY))
def test_an_empty_question_is_undecided(sunseal: Cli, build: Build, firmware: None, command: str) -> None:  # noqa: F811
    ask, says = EMPTY[command]
    done = ask(sunseal, build)
    assert (done.status, says in " ".join(f"{done.out} {done.err}".split())) == (3, True), done


def test_every_command_that_judges_has_an_empty_question() -> None:
    def judging(command: Any, path: str) -> list[str]:
        if below := getattr(command, "commands", None):
            return [name for key, inner in below.items() for name in judging(inner, f"{path} {key}")]
        return [path] if any("--junit" in p.opts for p in command.params) else []

    group: Any = typer.main.get_command(app.app)
    found = [path for name in app.COMMANDS for path in judging(group.get_command(None, name), name)]
    assert set(found) == {*EMPTY, *ASKED_BY_ITSELF}


def test_what_is_made_for_later_is_not_called_right(sunseal: Cli, firmware: None) -> None:
    later = boards.WORKLOADS["coupon-p256-produce"]
    assert oracle.trial(later).right(b"") is None
    told = json.loads(sunseal("measure", later.name, "--board", BOARD, "--json").out)
    assert told["result_valid"] is None


# --- What each finds ---------------------------------------------------------------------------------


def test_the_question_decides_what_inject_says(build: Build, sunseal: Cli, tmp_path: Path) -> None:  # noqa: F811
    """A wrong program: unasked it is undecided, asked it has findings, and a right one passes."""
    elf, checks = build("naive", NAIVE, count=7, flag=0), tmp_path / "checks.py"
    where = ("--board", BOARD, "--from", "task", "--to", "done")
    checks.write_text("def check_count(m):\n    assert m.read_int('count') <= 8\n")
    unasked = sunseal("inject", elf, *where)
    assert unasked.status == 3 and "not survived" not in unasked.out
    assert all(option in unasked.out for option in ("--golden", "--check", "--assert"))
    for question in (("--golden", "count"), ("--check", checks)):
        assert sunseal("inject", elf, *where, *question).status == 1
    right = build("sound", SOUND, count=7, flag=0, shadow=0)
    assert sunseal("inject", right, *where, "--golden", "count").status == 0
    idle = sunseal("inject", build("idle", IDLE, count=0), *where)
    assert "keeps nothing that survives" in " ".join(idle.out.split())


def test_a_finding_stands_in_both_files_at_its_line(build: Build, sunseal: Cli, tmp_path: Path) -> None:  # noqa: F811
    elf, junit, sarif = build("naive", NAIVE, count=7, flag=0), tmp_path / "a.xml", tmp_path / "a.sarif"
    where = ("--board", BOARD, "--from", "task", "--to", "done", "--junit", junit, "--sarif", sarif)
    assert sunseal("inject", elf, *where, "--golden", "count").status == 1
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    (run,) = json.loads(sarif.read_text())["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("naive.S") and place["region"] == {"startLine": 15}
    assert (
        {r["ruleId"] for r in run["results"]} == {"not-survived"} == {r["id"] for r in run["tool"]["driver"]["rules"]}
    )
    # One that ends in an exception is written as well.
    assert sunseal("war", build("idle", IDLE, count=0), *where).status == 3
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    assert json.loads(sarif.read_text())["runs"][0]["results"][0]["kind"] == "open"


def test_the_least_capacitor_needs_no_option(build: Build, sunseal: Cli) -> None:  # noqa: F811
    elf = build("sound", SOUND, count=7, flag=0, shadow=0)
    told = json.loads(sunseal("least-capacitor", elf, "--board", BOARD, "--json").out)
    # The board's supply; SLASE54D, the least supply of the chip at the 1 MHz with which it starts.
    assert (told["voltage_on_v"], told["voltage_off_v"]) == (3.0, 1.8)
    said = " ".join(told["assumptions"])
    for word in (
        "the supply of",
        "the least supply of",
        "where it stays for good",
        "was not compared",
        "nothing is harvested",
    ):
        assert word in said, word
    asked = sunseal("least-capacitor", elf, "--board", BOARD, "--to", "done", "--volts", "3.0-1.8", "--json")
    same = json.loads(asked.out)
    assert same["capacitance_f"] == told["capacitance_f"]
    assert not any("--volts" in sentence or "--to" in sentence for sentence in same["assumptions"])
    wrong = sunseal("least-capacitor", build("naive", NAIVE, count=7, flag=0), "--board", BOARD, "--golden", "count")
    assert wrong.status == 1 and "no capacitor helps" in wrong.err


def test_findings_of_the_other_commands() -> None:
    met, missed = ({**NO_GOAL, "goal": goal} for goal in (2, 0.5))
    assert [hdl.judged([row]).word for row in (met, missed)] == ["passed", "findings"]
    rows = [Played("t", "energy", "J", 1.0, 0.9, 1.1, played) for played in (1.0, 2.0)]
    assert [Confirmed((row,)).judged.word for row in rows] == ["passed", "findings"]
    assert not Confirmed(()).holds
    named = ("python", "engine", "data", "firmware", doctor.SERVER, doctor.PACKAGES)
    there = [doctor.Finding(name, True, "", "", "", "") for name in named]
    assert doctor.judged(there).passed
    assert doctor.judged([*there, dataclasses.replace(there[1], ok=False)]).exit_status == 1
    verdicts = {published.NOT_MET: 1, published.NOT_COMPUTED: 3, published.NO_TOOLS: 3, published.AGREES: 0}
    for word, status in verdicts.items():
        row = published.Row("r", 1.0, 1.0, "J", word, BY_RULE)
        right = dataclasses.replace(row, verdict=published.AGREES)
        assert published.judged([published.Reproduction("a/b", "", "", [row, right], "")]).exit_status == status


def test_the_public_names_of_a_verdict() -> None:
    assert issubclass(sunseal.UndecidedError, sunseal.SunsealError)
    assert issubclass(sunseal.FindingsError, sunseal.SunsealError)
    assert (sunseal.UndecidedError.status, sunseal.FindingsError.status, sunseal.SunsealError.status) == (3, 1, 2)
    assert sunseal.Verdict is Verdict
