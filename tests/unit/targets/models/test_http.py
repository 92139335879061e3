"""HTTP targets: what is sent, what is refused, and what is never written down."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import fidelitree as ft
from commandline import run
from endpoints import Endpoint, Rows, serving, write
from fidelitree.targets.models.http import without_secrets

pytest.importorskip("httpx")
BITS = ft.ProductSpace.bernoulli(6)
MIXED = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Categorical("job", {"nurse": 0.5, "pilot": 0.5})])
SECRET = "s3cr3t-k3y"


def test_a_server_is_distilled() -> None:
    with serving(Endpoint(lambda rows: [row[0] & row[1] for row in rows])) as endpoint:
        result = ft.distill(ft.targets.http(endpoint.url), BITS)
    assert result.tree.size == 3
    assert endpoint.rows == int(result.queries.paid)


def test_a_server_of_its_own_schema_sees_names_and_values() -> None:
    seen: list[Any] = []

    def sent(rows: Rows, features: list[str]) -> Any:
        seen.append((rows[0], features))
        return {"inputs": rows}

    with serving(Endpoint(lambda rows: [{"class": row[1]} for row in rows])) as endpoint:
        target = ft.targets.http(endpoint.url, schema=(sent, lambda answer: [one["class"] for one in answer["labels"]]))
        result = ft.distill(target, MIXED, max_queries=200)
    assert result.tree.size == 2
    assert seen[0][1] == ["age", "job"]
    assert isinstance(seen[0][0][0], float)


def raw(status: int, body: bytes, **headers: str) -> Any:
    return lambda handler, rows: write(
        handler, status, body, {name.replace("_", "-"): v for name, v in headers.items()}
    )


def half_a_line(handler: BaseHTTPRequestHandler, rows: Rows) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"labels": [1, ')
    handler.close_connection = True


def endless(handler: BaseHTTPRequestHandler, rows: Rows) -> None:
    handler.send_response(200)
    handler.send_header("content-length", str(10**9))
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b" " * 10**6)


def packed(times: int) -> bytes:
    """So many layers of gzip around 50 megabytes of nothing: some hundred bytes."""
    body = b" " * 50_000_000
    for _ in range(times):
        body = gzip.compress(body)
    return body


BAD = [
    (raw(200, packed(1), content_encoding="gzip"), "must answer with labels only; it sent more than 73,728 bytes"),
    (
        raw(200, packed(2), content_encoding="gzip, gzip"),
        "as it was asked to; it packs by gzip, gzip",
    ),
    (raw(200, b"not packed", content_encoding="gzip"), "must answer with JSON; it answered broken gzip"),
    (raw(200, b"<html>Sign in</html>", content_type="text/html"), "must answer with JSON; it answered '<html>Sign"),
    (half_a_line, "could not be asked: RemoteProtocolError"),
    (raw(200, b'{"labels": [1, '), "must answer with JSON; it answered"),
    (raw(200, b'{"labels": [1]}'), r"must answer one label for each input; 2 got 1 labels"),
    (raw(200, b'{"labels": 1}'), "or what schema reads; it answered {'labels': 1}"),
    (raw(200, b"[]"), "or what schema reads; it answered"),
    (raw(200, b'{"labels": [0.5, 1]}'), "labels must be bool, int or str"),
    (raw(200, b'{"labels": [[1], [2, 3]]}'), "labels must be one per input"),
    (raw(200, b"[" * 70_000), "must answer with JSON"),
    (
        raw(302, b"", location="http://elsewhere.test/x?key=" + SECRET),
        "has moved to http://elsewhere.test/x - give",
    ),
    (raw(401, b"who?"), "answered 401 Unauthorized, and no labels"),
    (raw(204, b""), "answered 204 No Content, and no labels"),
    (endless, "must answer with labels only; it sent more than 73,728 bytes"),
]


def test_an_answer_may_be_packed_once() -> None:
    def answer(handler: BaseHTTPRequestHandler, rows: Rows) -> None:
        write(
            handler,
            200,
            gzip.compress(json.dumps({"labels": [row[0] for row in rows]}).encode()),
            {"content-encoding": "gzip"},
        )

    with serving(Endpoint(raw=answer)) as endpoint:
        assert ft.distill(ft.targets.http(endpoint.url), BITS, epsilon=0.1).certificate.holds
        assert endpoint.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize(("answer", "said"), BAD)
def test_bad_answers_are_our_errors_and_show_no_secret(answer: Any, said: str) -> None:
    with serving(Endpoint(raw=answer)) as endpoint:
        address = endpoint.url.replace("http://", f"http://me:{SECRET}@") + f"?key={SECRET}"
        target = ft.targets.http(address, headers={"authorization": f"Bearer {SECRET}"})
        with pytest.raises(ft.TargetError, match=said) as caught:
            ft.distill(target, BITS, batch_size=2)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("answer", "said"), BAD)
def test_where_a_server_turns_bad_nothing_is_lost_and_no_file_has_a_secret(
    answer: Any, said: str, tmp_path: Path
) -> None:
    good = Endpoint(lambda rows: [row[0] & row[1] for row in rows])

    def turning(handler: BaseHTTPRequestHandler, rows: Rows) -> None:
        if len(good.headers) > 20:
            answer(handler, rows)
        else:
            write(handler, 200, json.dumps({"labels": good.answer(rows)}).encode())

    def ask() -> ft.Distillation:
        address = good.url.replace("http://", f"http://me:{SECRET}@") + f"?key={SECRET}"
        target = ft.targets.http(address, headers={"authorization": f"Bearer {SECRET}"}, concurrency=1)
        return ft.distill(target, ft.ProductSpace.bernoulli(8), batch_size=2, journal=tmp_path / "run.db", seed=1)

    good.raw = turning
    with serving(good):
        with pytest.raises(ft.TargetError, match=said):
            ask()
        kept, good.raw, good.rows = ft.journal.info(tmp_path / "run.db").answers, None, 0
        result = ask()
    assert 0 < kept < result.queries.paid
    assert good.rows == result.queries.paid - kept + min(16, kept)  # 16 see that it is the same target
    no_secret_in(tmp_path)


def no_secret_in(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path


def test_a_server_that_repeats_the_key_does_not_show_it() -> None:
    def echo(handler: BaseHTTPRequestHandler, rows: Rows) -> None:
        write(handler, 200, f"no such key: {handler.headers['authorization']}".encode())

    with serving(Endpoint(raw=echo)) as endpoint:
        target = ft.targets.http(endpoint.url, headers={"authorization": f"Bearer {SECRET}"})
        with pytest.raises(ft.TargetError, match=r"it answered 'no such key: \*\*\*'"):
            ft.distill(target, BITS)


def told(answer: Any, url: str = "", headers: dict[str, str] | None = None, **options: Any) -> str:
    """What a user reads when a server answers so; ``url`` has the user in front of the server, and the query."""
    user, _, query = url.partition("?")
    with serving(Endpoint(raw=answer)) as endpoint:
        address = endpoint.url.replace("http://", f"http://{user}") + (f"?{query}" if query else "")
        with pytest.raises(ft.TargetError) as caught:
            ft.distill(ft.targets.http(address, headers=headers, **options), BITS)
    return str(caught.value)


def reason(said: str) -> Any:
    def answer(handler: BaseHTTPRequestHandler, rows: Rows) -> None:
        handler.send_response(401, said)
        handler.send_header("content-length", "0")
        handler.end_headers()

    return answer


@pytest.mark.parametrize(
    ("answer", "url", "header", "shown"),
    [
        (raw(200, b'{"error": "bad", "got": "Bearer S3CRET"}'), "", "Bearer S3CRET", "'got': '***'"),
        (raw(200, b"invalid key S3CRET"), "?api_key=S3CRET&v=2", "", "invalid key ***"),
        (reason("no key S3CRET"), "?api_key=S3CRET&v=2", "", "401 no key ***"),
        (raw(200, b"invalid key a/S3CRET+"), "?api_key=a%2FS3CRET%2B", "", "invalid key ***"),
        (raw(307, b"", location="/login/S3CRET/x"), "?api_key=S3CRET", "", "/login/***/x"),
        (raw(200, b"nobody is called S3CRET"), "S3CRET:pass@", "", "called ***"),
        (raw(200, b"Basic UzNDUkVUOnBhc3M="), "S3CRET:pass@", "", "Basic ***"),
        (raw(200, b"your key is s3cret"), "", "Bearer S3CRET", "key is ***"),
        (raw(200, b'{"got": "a\\\\S3CRET"}'), "", "a\\S3CRET", "'got': '***'"),
        (raw(200, b"0" * 76 + b"S3CRET"), "", "Bearer S3CRET", "0" * 76 + "***"),
        (raw(200, b"it is K3Y, not K3YS"), "?v=K3Y", "", "it is ***, not K3YS"),
    ],
)
def test_no_way_of_repeating_a_secret_shows_it(answer: Any, url: str, header: str, shown: str) -> None:
    said = told(answer, url, {"authorization": header} if header else None)
    assert shown in said
    assert not any(secret in said.lower() for secret in ("s3c", "uznd"))


def test_a_header_that_cannot_be_sent_and_a_schema_that_quotes_show_no_secret() -> None:
    assert "S3C" not in told(raw(200, b""), headers={"bad name": "a\\S3CRET", "x": "a\\S3CRET "})
    schema = (lambda rows, names: {"inputs": rows}, lambda answer: [int(answer)])
    assert "(ValueError(" in (said := told(raw(200, b'"S3CRET"'), "?key=S3CRET", schema=schema))
    assert "S3CRET" not in said


def test_tls_and_dead_servers() -> None:
    with serving(Endpoint()) as endpoint:
        with pytest.raises(ft.TargetError, match=r"could not be asked: ConnectError: .*SSL"):
            ft.distill(ft.targets.http(endpoint.url.replace("http:", "https:")), BITS)
        gone = endpoint.url
    with pytest.raises(ft.TargetError, match="could not be asked: ConnectError"):
        ft.distill(ft.targets.http(gone), BITS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate with its key that nobody has signed, for another host."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=elsewhere.test", "-addext", "subjectAltName=DNS:elsewhere.test"]
    subprocess.run([*words, "-keyout", str(path), "-out", str(path) + ".crt"], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


def test_certificates_that_do_not_fit(certificate: Path) -> None:
    tls, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=f"{certificate}.crt")
    tls.load_cert_chain(certificate)
    with serving(Endpoint(), tls) as endpoint:
        address = f"{endpoint.url}?key={SECRET}"
        for verify, said in ((True, "self-signed certificate"), (trusting, "mismatch, certificate is not valid for")):
            with pytest.raises(ft.TargetError, match=rf"could not be asked: ConnectError: .*{said}") as caught:
                ft.distill(ft.targets.http(address, verify=verify), BITS)
            assert SECRET not in str(caught.value)
        assert endpoint.calls == 0
        trusting.check_hostname = False
        assert ft.distill(ft.targets.http(address, verify=trusting), BITS).tree.size == 2


def test_what_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    for url, options, said in (
        ("ftp://x", {}, "url must begin with http:// or https://"),
        (f"http://:{SECRET}@", {}, "url must begin with"),
        (7, {}, "url must begin with"),
        ("http://x", {"timeout": 0}, "timeout must be above 0 seconds"),
        ("http://x", {"headers": {"key": "$NO_SUCH_KEY"}}, "headers name .NO_SUCH_KEY for 'key', and there is no such"),
        ("http://x", {"speed": 3}, "terms of a target are"),
        (f"http://u:{SECRET}@[::1", {}, "url must begin with .* got one that cannot be read"),
        ("http://x", {"headers": SECRET}, "headers must be a mapping of name to value; got one of type str"),
        ("http://x", {"headers": {"key": f"{SECRET}\n"}}, "headers must hold printable ASCII .* and 'key' does not"),
        ("http://x", {"headers": {"key": f"{SECRET}\xe9"}}, "headers must hold printable ASCII"),
    ):
        with pytest.raises(ft.ParameterError, match=said) as caught:
            ft.targets.http(url, **options)  # type: ignore[arg-type]
        assert SECRET not in str(caught.value)
    assert without_secrets("https://a:b@c.test:8/d?e=f#g") == "https://c.test:8/d"
    assert repr(ft.targets.http("http://a:b@c.test/d?e", names=["one"])) == "<HttpTarget http://c.test/d of 1 feature>"


def test_a_slow_and_shaky_server_with_a_limit_is_not_overrun() -> None:
    space, tree = ft.ProductSpace.bernoulli(6), ft.Tree.constant(BITS, 1)
    with serving(Endpoint(latency=0.05, fails_every=20, rows_per_second=200)) as endpoint:
        target, began = ft.targets.http(endpoint.url, rows_per_second=200), time.monotonic()
        certificate = ft.certify(
            tree, target, space, max_queries=300, within=0.001, seed=1, retries=5, batch_size=4, deterministic=False
        )
    assert certificate.samples == endpoint.rows == 300
    # A fifth of a second may be sent at the start; benchmarks.reach measures how close it comes. A busy machine may let
    # the first call arrive late and the others catch up: time is counted from when it could be sent.
    assert (endpoint.rows - 0.2 * 200) / (endpoint.last - began) < 1.05 * 200
    assert endpoint.at_once <= 16


def test_cost_is_counted_and_limited() -> None:
    with serving(Endpoint(lambda rows: [row[0] & row[1] for row in rows])) as endpoint:
        target = ft.targets.http(endpoint.url, cost_per_row=0.01)
        result = ft.distill(target, BITS)
        assert result.queries.cost == pytest.approx(0.01 * result.queries.paid)
        assert result.certificate.cost == result.queries.cost
        assert f"All answers cost {result.queries.cost:g}" in str(result.certificate)
        assert f"They cost {result.queries.cost:g}." in result._page()
        assert ft.Certificate.from_json(result.certificate.to_json()) == result.certificate
        short = ft.distill(target, ft.ProductSpace.bernoulli(30), max_cost=0.4)
        assert short.reason == "max_cost = 0.4"
        assert short.queries.cost == 0.4
        by_call = ft.targets.http(endpoint.url, cost_per_call=1)
        few = ft.distill(by_call, ft.ProductSpace.bernoulli(30), epsilon=0.01, max_cost=5)
        assert (few.reason, few.queries.cost) == ("max_cost = 5", 5)
    with pytest.raises(ft.ParameterError, match="max_cost must be None where nothing has a price; got 1"):
        ft.distill(lambda batch: batch[:, 0], BITS, max_cost=1)
    with pytest.raises(ft.ParameterError, match="max_cost must be at least 0, and finite; got -1"):
        ft.distill(target, BITS, max_cost=-1)


def test_a_run_that_money_ended_is_verified(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(30)
    with serving(Endpoint()) as endpoint:
        target = ft.targets.http(endpoint.url, cost_per_row=0.01)
        result = ft.distill(target, space, epsilon=0.01, max_cost=1.5, journal=tmp_path / "run.db")
    result.save(tmp_path / "out")
    assert result.reason == "max_cost = 1.5"
    assert all(check.passed is not False for check in ft.verify(tmp_path / "out").checks)
    checked = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", "."],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 3, checked.stdout + checked.stderr
    assert "confirmed: the error asked for was not reached" in checked.stdout


def test_the_command_line_stores_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABEL_KEY", SECRET)
    with serving(Endpoint(lambda rows: [row[0] & row[1] for row in rows])) as endpoint:
        address = endpoint.url.replace("http://", f"http://me:{SECRET}@") + f"?key={SECRET}"
        words = ["distill", address, "--bernoulli", "0.5", "--features", "6", "--out", str(tmp_path / "out")]
        words += ["--header", "x-key=LABEL_KEY", "--cost-per-row", "0.5", "--concurrency", "3"]
        words += ["--journal", str(tmp_path / "run.db")]
        ended = run(*words)
    assert ended.code == 0, ended.err
    assert endpoint.headers[0]["x-key"] == SECRET
    assert "at a cost of" in ended.out
    no_secret_in(tmp_path)
    assert SECRET not in ended.out


def test_a_killed_run_pays_nothing_twice(tmp_path: Path) -> None:
    script = (
        "import sys, fidelitree as ft\n"
        "target = ft.targets.http(sys.argv[1], concurrency=4)\n"
        "ft.distill(target, ft.ProductSpace.bernoulli(12), epsilon=0.02, journal=sys.argv[2], batch_size=2)\n"
    )
    with serving(Endpoint(lambda rows: [row[0] & row[1] | row[2] for row in rows], latency=0.02)) as endpoint:
        words = [sys.executable, "-c", script, endpoint.url, str(tmp_path / "run.db")]
        child = subprocess.Popen(words, env=os.environ)
        while endpoint.rows < 60:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        time.sleep(0.1)
        again = ft.distill(
            ft.targets.http(endpoint.url), ft.ProductSpace.bernoulli(12), epsilon=0.02, journal=tmp_path / "run.db"
        )
    assert again.certificate.holds
    assert endpoint.rows <= int(again.queries.paid) + 16 + 4 * 2  # 16 see that it is the same target; 4 calls in flight
