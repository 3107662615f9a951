# SPDX-License-Identifier: MIT OR Apache-2.0
"""The server as an operator runs it: TLS, lists from the command line, metrics, backup; judged by others' clients."""

from __future__ import annotations

import csv
import io
import json
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal.errors import SunsealError
from sunseal.kit.doctor import server_path
from sunseal.loop.services import Services

NODE = "53756e7365616c01"
openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


def run(*words: str, ok: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode == 0) == ok, done.stderr
    return done.stdout if ok else done.stderr.strip()


def certificate(folder: Path, name: str, ca: str | None, days: int = 30, of: str = "IP:127.0.0.1") -> tuple[str, str]:
    """Make a key and a certificate that `ca` signs, or its own."""
    key, request, cert = folder / f"{name}.key", folder / f"{name}.csr", folder / f"{name}.pem"
    run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key))
    if ca is None:
        run("openssl", "req", "-x509", "-key", str(key), "-subj", f"/CN={name}", "-days", "30", "-out", str(cert))
        return str(cert), str(key)
    run("openssl", "req", "-new", "-key", str(key), "-subj", f"/CN={name}", "-out", str(request))
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={of}\nextendedKeyUsage=serverAuth,clientAuth\n")
    signing = ("-CA", str(folder / f"{ca}.pem"), "-CAkey", str(folder / f"{ca}.key"), "-CAcreateserial")
    # A certificate of a negative number of days has expired.
    span = ("-days", str(days), "-extfile", str(extensions))
    run("openssl", "x509", "-req", "-in", str(request), *signing, *span, "-out", str(cert))
    return str(cert), str(key)


@contextmanager
def served(db: Path, *more: str) -> Iterator[tuple[str, dict[str, str], subprocess.Popen[str]]]:
    """Run a server of its own; its address and its first tokens."""
    command = [str(server_path()), "serve", "--listen", "127.0.0.1:0", "--db", str(db), *more]
    log = db.with_suffix(".log").open("a")
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert child.stdout is not None
    try:
        told = json.loads(child.stdout.readline())
        tokens = Path(f"{db}.tokens")
        yield told["listening"], json.loads(tokens.read_text()) if tokens.exists() else {}, child
    finally:
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
        child.stdout.close()
        log.close()


def fetched(url: str, token: str, context: ssl.SSLContext | None = None) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30, context=context) as reply:
        return bytes(reply.read())


@openssl
def test_server_gateway_and_command_line_speak_tls(
    sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca, _ = certificate(tmp_path, "ca", None)
    cert, key = certificate(tmp_path, "server", "ca")
    with served(tmp_path / "s.db", "--tls-cert", cert, "--tls-key", key) as (address, tokens, _):
        token = tokens["operator_token"]
        trust = ssl.create_default_context(cafile=ca)
        assert json.loads(fetched(f"https://{address}/v1/nodes", token, trust))["nodes"] == []
        plain = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])))
        with plain, trust.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
            assert wrapped.version() == "TLSv1.3"
        shown = subprocess.run(
            ["openssl", "s_client", "-connect", address, "-CAfile", ca, "-verify_return_error", "-brief"],
            input="", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Verification: OK" in shown.stderr, shown.stderr
        monkeypatch.setenv("SUNSEAL_TOKEN", token)
        refused = sunseal("node", "list", "--server", f"https://{address}")
        assert refused.status == 2 and "SUNSEAL_CA" in refused.err, refused.err
        monkeypatch.setenv("SUNSEAL_CA", ca)
        assert sunseal("node", "open", NODE, "--server", f"https://{address}").status == 0
        assert NODE in sunseal("node", "list", "--server", f"https://{address}").out
        # Nobody speaks plainly to it.
        plainly = sunseal("node", "list", "--server", f"http://{address}")
        assert plainly.status == 2 and "does not answer" in plainly.err, plainly.err


def told_by_gateway(tmp_path: Path, url: str, token: str, *more: str) -> str:
    """Have a gateway hand in a message of nobody's, and return what it says of the server."""
    file = tmp_path / "gateway.token"
    file.write_text(token)
    command = [str(server_path()), "gateway", "--listen", "127.0.0.1:0", "--server", url, "--token-file", str(file)]
    child = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    host, _, port = json.loads(child.stdout.readline())["listening"].rpartition(":")
    # docs/reference/link.md: an up message with a HELLO in one frame, its CRC said to be good.
    body = bytes.fromhex(NODE) + (0).to_bytes(4, "big") + (2500).to_bytes(2, "big") + b"\x01"
    frame = bytes([1, 2, 1, 0, 0]) + body
    return _say(child, host, int(port), frame)


def _say(child: subprocess.Popen[str], host: str, port: int, frame: bytes) -> str:
    from sunseal.loop.services import Intruder

    with Intruder(f"{host}:{port}") as radio:
        radio.send(5_000_000, bytes([len(frame)]) + frame)
    child.send_signal(signal.SIGTERM)
    _, said = child.communicate(timeout=30)
    return said


@openssl
def test_a_certificate_that_does_not_hold_is_told_in_a_sentence(tmp_path: Path) -> None:
    ca, _ = certificate(tmp_path, "ca", None)
    other, _ = certificate(tmp_path, "other", None)
    good = certificate(tmp_path, "good", "ca")
    pairs = {
        "holds": (good, ca, ""),
        "foreign": (good, other, "signed by no authority that is trusted here"),
        "expired": (certificate(tmp_path, "old", "ca", days=-1), ca, "has expired"),
        "misnamed": (certificate(tmp_path, "else", "ca", of="DNS:else.example"), ca, "is for another name"),
    }
    for name, ((cert, key), trusted, words) in pairs.items():
        with served(tmp_path / f"{name}.db", "--tls-cert", cert, "--tls-key", key) as (address, tokens, _):
            said = told_by_gateway(tmp_path, f"https://{address}", tokens["gateway_token"], "--ca", trusted)
            lines = [json.loads(line) for line in said.splitlines()]
            failures = [line["why"] for line in lines if line["what"] == "server"]
            assert (len(failures) == 1 and words in failures[0]) if words else not failures, (name, said)
    # Mutual: without a certificate of its own the gateway is not heard, with one it is.
    mutual = ("--tls-cert", good[0], "--tls-key", good[1], "--tls-client-ca", ca)
    mine = certificate(tmp_path, "roof", "ca")
    foreign = certificate(tmp_path, "stranger", "other")
    with served(tmp_path / "mutual.db", *mutual) as (address, tokens, _):
        to = (tmp_path, f"https://{address}", tokens["gateway_token"], "--ca", ca)
        assert "--cert, --key" in told_by_gateway(*to)
        assert "ended the TLS handshake" in told_by_gateway(*to, "--cert", foreign[0], "--key", foreign[1])
        assert '"what":"server"' not in told_by_gateway(*to, "--cert", mine[0], "--key", mine[1])
        context = ssl.create_default_context(cafile=ca)
        context.load_cert_chain(*mine)
        events = json.loads(fetched(f"https://{address}/v1/events?kind=hello", tokens["operator_token"], context))
        assert len(events["events"]) == 1
    program = str(server_path())
    start = (program, "serve", "--listen", "127.0.0.1:0", "--db", str(tmp_path / "no.db"))
    for more, words in [
        (("--tls-cert", str(tmp_path / "none.pem"), "--tls-key", good[1]), "cannot be read"),
        (("--tls-cert", good[1], "--tls-key", good[1]), "has no certificate in it"),
        (("--tls-cert", good[0], "--tls-key", good[0]), "has no private key"),
        (("--tls-cert", good[0], "--tls-key", mine[1]), "do not go together"),
        (("--tls-cert", good[0]), "--tls-key"),
    ]:
        said = run(*start, *more, ok=False)
        assert words in said and len(said.splitlines()) == 1, said


def test_lists_from_the_command_line(sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Services(tmp_path, seed=1) as server:
        monkeypatch.setenv("SUNSEAL_TOKEN", server._token)
        to = ("--server", f"http://{server.server}")
        lines = [f"{i:016x},field {i},{'north' if i % 2 else 'south'}" for i in range(2_500)]
        file = tmp_path / "nodes.csv"
        file.write_text("\n".join(["node_id,name,group", *lines, "12,bad,north"]))
        bad = sunseal("node", "import", str(file), *to)
        assert bad.status == 2 and "line 2502" in bad.err and "nothing was imported" in bad.err, bad.err
        assert json.loads(sunseal("node", "list", "--json", *to).out) == []
        file.write_text("\n".join(["node_id,name,group", *lines]))
        assert sunseal("node", "import", str(file), *to).out == "2500 nodes imported\n"
        listed = json.loads(sunseal("node", "list", "--json", *to).out)
        assert {n["node_id"] for n in listed} == {line[:16] for line in lines} and len(listed) == 2_500
        assert listed[0]["schema"]["name"] == "nodes"
        table = list(csv.DictReader(io.StringIO(sunseal("node", "list", "--csv", "--group", "north", *to).out)))
        assert len(table) == 1_250 and {row["group"] for row in table} == {"north"}
        shown = sunseal("node", "list", "--name", "FIELD 249", *to).out.splitlines()
        assert len(shown) == 12 and shown[0].split()[:4] == ["node", "name", "group", "state"], shown
        node = f"{77:016x}"
        assert "field 77" in sunseal("node", "show", node, *to).out
        assert json.loads(sunseal("node", "change", node, "--group", "west", "--json", *to).out)["group"] == "west"
        assert sunseal("node", "ask", node, *to).status == 0
        assert "has not enrolled" in sunseal("queue", *to).out
        assert json.loads(sunseal("queue", "--state", "answered", "--json", *to).out) == []
        kinds = [e["kind"] for e in json.loads(sunseal("node", "events", node, "--json", *to).out)]
        assert kinds == ["challenge-queued", "changed", "opened"]
        assert "first start" in sunseal("gateway", "list", *to).out
        wrong = sunseal("gateway", "list", "--colour")
        assert wrong.status == 2 and "no such option: --colour" in wrong.err, wrong.err
        assert json.loads(sunseal("gateway", "list", "--json", *to).out)[0]["backlog"] is None
        refused = sunseal("node", "list", "--state", "lost", *to)
        assert refused.status == 2 and "state is open, enrolled, revoked" in refused.err


def test_metrics_are_read_by_prometheus(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    with Services(tmp_path, seed=1) as server:
        server.call("POST", "/v1/nodes", {"node_id": NODE})
        with pytest.raises(SunsealError, match="no node"):
            server.call(
                "POST", f"/v1/nodes/{'0' * 16}/reports", {"counter": 1, "suite": 1, "data": "", "signature": "00" * 64}
            )
        text = fetched(f"http://{server.server}/metrics", server._token).decode()
    families: dict[str, Any] = {f.name: f for f in parser.text_string_to_metric_families(text)}
    samples = {(s.name, *sorted(s.labels.items())): s.value for f in families.values() for s in f.samples}
    assert samples["sunseal_nodes", ("state", "open")] == 1
    assert samples["sunseal_reports_total", ("verdict", "unknown-node")] == 1
    assert families["sunseal_http_request_duration_seconds"].type == "histogram"
    name = "sunseal_http_request_duration_seconds"
    part = ("part", "reports")
    buckets = [v for (n, *labels), v in samples.items() if n == f"{name}_bucket" and part in labels]
    assert buckets == sorted(buckets) and samples[f"{name}_count", part] == 1 == buckets[-1]
    assert NODE not in text, "no label for each node"


def test_a_backup_is_taken_while_the_server_runs_and_restored(tmp_path: Path) -> None:
    program, db, copy = str(server_path()), tmp_path / "s.db", tmp_path / "copy.db"
    with served(db) as (address, tokens, _):
        token = tokens["operator_token"]
        post = urllib.request.Request(
            f"http://{address}/v1/nodes", b'{"node_id":"%s"}' % NODE.encode(), {"Authorization": f"Bearer {token}"}
        )
        urllib.request.urlopen(post, timeout=30).close()
        assert json.loads(run(program, "backup", "--db", str(db), "--to", str(copy)))["bytes"] == copy.stat().st_size
        assert copy.stat().st_mode & 0o777 == 0o600
        assert "there is a file of that name" in run(program, "backup", "--db", str(db), "--to", str(copy), ok=False)
        assert "is there: stop the server" in run(program, "restore", "--from", str(copy), "--db", str(db), ok=False)
    new = tmp_path / "new.db"
    for broken, words in [(b"", "another program"), (b"x" * 4096, "corrupt"), (copy.read_bytes()[:8192], "corrupt")]:
        (tmp_path / "broken.db").write_bytes(broken)
        said = run(program, "restore", "--from", str(tmp_path / "broken.db"), "--db", str(new), ok=False)
        assert words in said and not new.exists(), said
    assert "cannot be opened" in run(program, "restore", "--from", str(tmp_path / "none"), "--db", str(new), ok=False)
    run(program, "restore", "--from", str(copy), "--db", str(new))
    with served(new) as (address, _, _):
        assert json.loads(fetched(f"http://{address}/v1/nodes", token))["nodes"][0]["node_id"] == NODE
        kinds = [e["kind"] for e in json.loads(fetched(f"http://{address}/v1/events?newest=true", token))["events"]]
        assert "restored" in kinds
