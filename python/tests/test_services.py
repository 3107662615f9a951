# SPDX-License-Identifier: MIT OR Apache-2.0
"""The server as Python starts it and speaks to it: with the tokens that it made, and not without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli
from sunseal.errors import SunsealError
from sunseal.loop.services import Services, ask

NODE = "53756e7365616c01"


def test_services_carry_their_tokens_also_over_a_database_of_before(tmp_path: Path) -> None:
    for _ in range(2):
        with Services(tmp_path, seed=1) as served:
            assert served.call("GET", "/v1/tokens")["tokens"]
            with pytest.raises(SunsealError, match="no token"):
                ask(f"http://{served.server}", None, "GET", "/v1/nodes")
            with pytest.raises(SunsealError, match="unknown or revoked"):
                ask(f"http://{served.server}", "operator-0", "POST", "/v1/nodes", {"node_id": NODE})
            assert served.call("GET", "/v1/nodes")["nodes"] == []


def test_the_operator_enrols_asks_and_revokes_from_the_command_line(
    sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Services(tmp_path, seed=1) as served:
        to = ("--server", f"http://{served.server}", "--json")
        refused = sunseal("node", "list", *to)
        assert (refused.status, "no token" in refused.err) == (2, True)
        monkeypatch.setenv("SUNSEAL_TOKEN", served._token)
        opened = json.loads(sunseal("node", "open", NODE, "--name", "roof", "--period", "60s", *to).out)
        assert (opened["state"], opened["name"], opened["period_us"]) == ("open", "roof", 60_000_000)
        assert json.loads(sunseal("node", "ask", NODE, *to).out)["state"] == "queued"
        assert json.loads(sunseal("node", "revoke", NODE, "--why", "stolen", *to).out)["state"] == "revoked"
        again = sunseal("node", "revoke", NODE, *to)
        assert (again.status, "revoked" in again.err) == (2, True)
        assert json.loads(sunseal("node", "rekey", NODE, *to).out)["state"] == "open"
        listed = sunseal("node", "list", "--server", f"http://{served.server}")
        assert "roof" in listed.out and "never" in listed.out, listed.err


def test_what_the_operator_is_told_is_a_sentence(sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No JSON of the server's, no exception of Python's, and not the token itself."""

    def told(*words: str) -> str:
        done = sunseal("node", *words)
        assert (done.status, done.out) == (2, "")
        return " ".join(done.err.split())

    with Services(tmp_path, seed=1) as served:
        url = f"http://{served.server}"
        monkeypatch.setenv("SUNSEAL_TOKEN", served._token)
        refused = told("ask", "5/x?y", "--server", url)
        assert refused.endswith("/challenges: a node_id is 16 hexadecimal digits, not `5/x?y`"), refused
        assert told("list", "--server", served.server) == (
            f"error: the server is called `{served.server}`; http://HOST:PORT or https://HOST:PORT is wanted"
        )
        assert "nonnumeric port" in told("list", "--server", "http://localhost:x")
        monkeypatch.setenv("SUNSEAL_TOKEN", f"{served._token}\nsecret")
        wrong = told("list", "--server", url)
        assert "SUNSEAL_TOKEN" in wrong and "secret" not in wrong and served._token not in wrong, wrong
    monkeypatch.setenv("SUNSEAL_TOKEN", served._token)
    assert told("list", "--server", url) == f"error: the server at {url} does not answer: Connection refused"
