# SPDX-License-Identifier: MIT OR Apache-2.0
"""`--request FILE`: a file gives what the command line would, and its schema is what the command takes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conftest import Cli
from validating import wrong

OTHER = "msp430f5438a-anagear"
REQUEST = """command = "curve"
workload = "aes128-ctr-encrypt"
board = "telosb"
vcc = ["2.2V", "3V"]
json = true
"""


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "asked.toml"
    path.write_text(REQUEST)
    return path


def test_a_file_is_what_would_be_typed(asked: Path, sunseal: Cli, firmware: None) -> None:
    typed = sunseal("curve", "aes128-ctr-encrypt", "--board", "telosb", "--vcc", "2.2V", "--vcc", "3V", "--json")
    assert typed.status == 0
    assert sunseal("curve", "--request", asked).out == typed.out
    same = asked.with_suffix(".json")
    same.write_text(json.dumps({"workload": "aes128-ctr-encrypt", "board": "telosb", "vcc": ["2.2V", "3V"]}))
    assert sunseal("curve", f"--request={same}", "--json").out == typed.out
    # What stands beside it holds, wherever it stands.
    for args in (("--board", OTHER, "--request", asked), ("--request", asked, "--board", OTHER)):
        told = json.loads(sunseal("curve", *args).out)
        assert told != json.loads(typed.out)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("command = 'measure'\n", "is a request to `measure`, and this is `curve`"),
        ("bord = 'telosb'\n", "unknown key `bord` in "),
        ("board = ['telosb']\n", "it must be one value, and no list"),
        ("json = 'yes'\n", "it must be true or false"),
        ("vcc = [true]\n", "it must be a list of texts or numbers"),
        ("workload = '--board'\n", "an argument does not begin with a dash"),
        ("board = \n", "is not valid TOML"),
        ("workload = 'aes128-ctr-encrypt'\nvcc = ['3X']\n", "--vcc `3X`"),
    ],
)
def test_a_request_that_cannot_be_is_a_sentence(asked: Path, sunseal: Cli, text: str, sentence: str) -> None:
    asked.write_text(text)
    done = sunseal("curve", "--request", asked)
    assert done.status == 2 and sentence in done.err.replace("\n", " "), done.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("curve", "--request"), "needs a file"),
        (("curve", "--request", "nowhere.toml"), "cannot be read"),
        (("curve", "--request", "nowhere.json"), "cannot be read"),
        (("curve", "--request", "a", "--request=b"), "stands twice"),
        (("boards", "--request", "a.toml"), "takes no `--request`"),
    ],
)
def test_a_file_that_is_none_is_a_sentence(sunseal: Cli, args: tuple[str, ...], sentence: str) -> None:
    done = sunseal(*args)
    assert done.status == 2 and sentence in done.err.replace("\n", " "), done.err


def test_the_schema_takes_what_the_command_takes(asked: Path, sunseal: Cli) -> None:
    schema = json.loads(sunseal("schema", "request/curve").out)
    assert list(wrong(tomllib.loads(REQUEST), schema, schema)) == []
    for told in ({"bord": "telosb"}, {"command": "measure"}, {"json": "yes"}, {"vcc": "3V"}, {"board": 1}):
        assert list(wrong(told, schema, schema)) != [], told
    size = json.loads(sunseal("schema", "request/size").out)["properties"]["sends"]
    assert (size["type"], size["minimum"]) == ("integer", 0)
    assert sunseal("schema", "request/coupon-rate").status == 0
    done = sunseal("schema", "request/coupon-rat")
    assert done.status == 2 and "did you mean `coupon-rate`" in done.err
