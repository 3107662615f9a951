# SPDX-License-Identifier: MIT OR Apache-2.0
"""The wheel in an environment of its own, outside the tree: what a person with Python alone gets."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time
import venv
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and install it, with what it depends on at the pinned versions."""
    folder = tmp_path_factory.mktemp("wheel")
    if given := os.environ.get("SUNSEAL_WHEEL"):
        shutil.copy(given, folder)
    else:
        subprocess.run([sys.executable, str(ROOT / "packaging" / "wheel"), "--out", str(folder)], check=True, cwd=ROOT)
    (wheel,) = folder.glob("sunseal-*.whl")
    pins = folder / "pins.txt"
    lines = (ROOT / "requirements.txt").read_text(encoding="ascii").splitlines()
    pins.write_text("\n".join(re.sub(r" *\\$", "", line) for line in lines if re.match(r"\w", line)), encoding="ascii")
    venv.create(folder / "venv", with_pip=False)
    install(folder, str(wheel))
    return folder


def install(folder: Path, what: str) -> None:
    """Install something into the environment, at the pinned versions."""
    python, pins = folder / "venv" / "bin" / "python", folder / "pins.txt"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", str(pins), what], check=True, cwd=folder)


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    outside = {k: v for k, v in os.environ.items() if k not in ("SUNSEAL_HOME", "PYTHONPATH", "VIRTUAL_ENV")}

    def sunseal(*args: str | Path) -> subprocess.CompletedProcess[str]:
        command = [str(installed / "venv" / "bin" / "sunseal"), *map(str, args)]
        env = outside | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path / "home")}
        return subprocess.run(command, check=False, cwd=tmp_path, env=env, capture_output=True, text=True)

    return sunseal


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A user's own program, of another place than the package's."""
    (built,) = (ROOT / "firmware/build/telosb").glob("*/bench-sha256-hash.elf")
    return Path(shutil.copy(built, tmp_path / "own.elf"))


def answer(done: subprocess.CompletedProcess[str]) -> object:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_person_with_python_alone(run: Run, own: Path, installed: Path, tmp_path: Path) -> None:
    """One test, as each worker of a parallel run would build a wheel of its own."""
    boards = answer(run("boards", "--json"))
    assert isinstance(boards, list) and len(boards) >= 7
    for board in ("telosb", "micaz", "msp430fr5994-launchpad", "msp432p401r-launchpad"):
        measured = answer(run("measure", "aes128-encrypt", "--board", board, "--json"))
        assert isinstance(measured, dict)
        assert measured["result_valid"] is True and measured["energy_j"] > 0
    an_own_program(run, own)
    a_new_program(run, tmp_path)
    the_size(installed)
    first_answers(run, tmp_path)
    examples_copied(run, tmp_path)
    done = run("lifetime", "ecdsa-p256-sign", "--board", "telosb", "--every", "600s", "--json")
    assert done.returncode == 0, done.stderr
    done = run("plan", ROOT / "examples" / "requirements-battery.toml", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)
    done = run("lifetime", "ecdsa-p256-sign", "--board", "telosb", "--every", "600s", "--report", tmp_path / "r.html")
    assert done.returncode == 2
    assert "pip install 'sunseal[plots]'" in done.stderr
    the_server(run, installed, tmp_path)
    tutorials(installed, tmp_path)
    a_source_distribution(tmp_path)


def an_own_program(run: Run, own: Path) -> None:
    measured = answer(
        run("measure", "--elf", own, "--board", "telosb", "--from", "main", "--to", "bench_sha256_hash", "--json")
    )
    assert isinstance(measured, dict) and measured["cycles"] > 0
    played = answer(run("run", own, "--board", "telosb", "--for", "100ms", "--json"))
    assert isinstance(played, dict) and played["cycles"] > 0


def a_new_program(run: Run, tmp_path: Path) -> None:
    assert run("new", "node", "--board", "telosb").returncode == 0
    get = [sys.executable, str(ROOT / "firmware" / "toolchain" / "get"), "--print-bin"]
    tools = subprocess.run(get, check=True, capture_output=True, text=True).stdout.strip()
    done = subprocess.run(
        ["make", "-s", f"TOOLS={tools}"], cwd=tmp_path / "node", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = run("run", "node/build/node.elf", "--board", "telosb")
    assert (said.returncode, said.stdout) == (0, "hello from telosb\nready\n"), said.stderr


def the_server(run: Run, installed: Path, tmp_path: Path) -> None:
    doctor = run("doctor", "--json")
    found = {told["name"]: told for told in json.loads(doctor.stdout)}
    assert doctor.returncode == 0, "the demo has all that it needs"
    assert found["Python packages"]["get"].endswith("`pip install 'sunseal[climate,plots]'`")
    assert not found.keys() & {"cargo", "mspdebug"} and not any("`make " in told["get"] for told in found.values())
    command = [str(installed / "venv" / "bin" / "sunseal"), "serve", "--db", str(tmp_path / "s.sqlite")]
    with subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, text=True
    ) as server:
        assert server.stdout is not None
        said, until = "", time.monotonic() + 20
        while "listening" not in said and time.monotonic() < until and server.poll() is None:
            said += server.stdout.readline()
        server.terminate()
    assert "listening" in said


INSTALLED_MB_MOST = 300.0


def the_size(installed: Path) -> None:
    """Hold all that `pip install` of the wheel writes, bytecode too, to a bound."""
    files = [p for p in (installed / "venv" / "lib").rglob("*") if p.is_file() and not p.is_symlink()]
    size_mb = sum(p.stat().st_size for p in files) / 1e6
    print(f"base install: {size_mb:.0f} MB")
    assert 50 < size_mb < INSTALLED_MB_MOST
    names = {p.relative_to(installed / "venv" / "lib").parts[2] for p in files}
    assert "sunseal" in names and not names & {"scipy", "pvlib", "matplotlib", "h5py"}


def first_answers(run: Run, tmp_path: Path) -> None:
    """Ask what is asked first: nothing is counted that the wheel has counted, and the version names the data."""
    from sunseal.catalog import revision

    kept = tmp_path / "cache" / "sunseal" / "profiles"
    already = set(kept.glob("*"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for args in (("tune", "--operation", "sign"), ("size",), ("plan", ROOT / "examples" / "requirements.toml")):
        done = run(*args, "--json")
        assert done.returncode in (0, 1), done.stderr
        told = json.loads(done.stdout)
        first = told[0] if isinstance(told, list) else told
        assert first["sunseal"] == {"version": version("sunseal"), "data": revision.data_revision()}
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"first {args[0]}: {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s of CPU")
        before = after
    assert set(kept.glob("*")) == already, "the wheel had counted all of these"
    done = run("demo", "--out", "day")
    assert done.returncode == 0, done.stderr
    assert "no report was drawn: `pip install 'sunseal[plots]'`" in done.stderr
    assert not (tmp_path / "day" / "report.html").exists() and (tmp_path / "day" / "demo.json").is_file()


def examples_copied(run: Run, tmp_path: Path) -> None:
    """Play a copy of an example, which names nothing outside."""
    assert run("examples", "all", "--to", "copies").returncode == 0
    assert (tmp_path / "copies" / "programs").is_dir()
    played = answer(run("simulate", tmp_path / "copies" / "scenarios" / "minutes.toml", "--json"))
    assert isinstance(played, dict) and played["cycles"] > 0


def tutorials(installed: Path, tmp_path: Path) -> None:
    """Follow each tutorial word by word, in an empty home but for the fetched compilers, which take minutes."""
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    from following import follow

    (wheel,) = installed.glob("sunseal-*.whl")
    install(installed, f"{wheel}[plots,climate,statistics,leakage]")
    get = ROOT / "firmware" / "toolchain" / "get"
    folders = [
        subprocess.run([sys.executable, str(get), *group, "--print-bin"], check=True, capture_output=True, text=True)
        for group in ((), ("--for", "tests"))
    ]
    tools = [folder.stdout.strip() for folder in folders]
    for page in [
        ROOT / "README.md",
        ROOT / "docs" / "tutorial.md",
        *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    ]:
        home = tmp_path / f"home-{page.stem}"
        (home / ".cache" / "sunseal").mkdir(parents=True)
        (home / ".cache" / "sunseal" / "toolchain").symlink_to(Path(tools[0]).parent.parent)
        path = os.pathsep.join([str(installed / "venv" / "bin"), *tools, "/usr/bin", "/bin"])
        work = home / "work"
        work.mkdir()
        assert follow(page, work, {"HOME": str(home), "PATH": path, "COLUMNS": "160", "LANG": "C.UTF-8"}) > 0


INCLUDED = re.compile(r"include_(?:str|bytes)!\(\s*\"([^\"]+)\"")


def a_source_distribution(folder: Path) -> None:
    """Sources of the engine are in it, and what the package reads; pip's build of it takes minutes."""
    build = [sys.executable, str(ROOT / "packaging" / "wheel"), "--source", "--out", str(folder)]
    subprocess.run(build, check=True, cwd=ROOT)
    (archive,) = folder.glob("sunseal-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    sources = list(unpacked.glob("crates/*/src/**/*.rs"))
    named = [(s.parent / name).resolve() for s in sources for name in INCLUDED.findall(s.read_text(encoding="utf-8"))]
    assert len(named) > 6 and all(p.is_file() for p in named), [p for p in named if not p.is_file()]
    home = unpacked / "python" / "src" / "sunseal" / "home"
    for board in (ROOT / "firmware" / "boards").glob("*/board.mk"):
        assert any((home / "firmware" / "build" / board.parent.name).glob("*/bench-*.elf")), board
    assert (home / "data" / "parts").is_dir() and not (home / "bin").exists()
    assert (unpacked / "Cargo.lock").is_file()
