"""`view`: pages for this machine alone, behind a token, about results inside the folder and nothing else."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
import fidelitree.cli.view
from commandline import refused, run
from fidelitree.cli.view import ViewServer, serving
from fidelitree.runs.viewer import Viewer
from journals import MIXED, on_mixed

Answer = tuple[int, str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results about one target with their journals, and one that lies elsewhere."""
    folder = tmp_path_factory.mktemp("view")
    for name, leaves in (("few", 2), ("more", None)):
        kept = folder / "inside" / name
        kept.mkdir(parents=True)
        ft.distill(on_mixed, MIXED, 0.2, max_leaves=leaves, max_queries=200, journal=kept / "journal.db").save(kept)
    ft.distill(on_mixed, MIXED, 0.2).save(folder / "outside")
    return folder


@pytest.fixture
def server(results: Path) -> Iterator[ViewServer]:
    found = serving(Viewer(results / "inside"))
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def ask(server: ViewServer, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
    with closing(HTTPConnection("127.0.0.1", server.server_port, timeout=120)) as line:
        line.request(method, path, body, headers)
        answer = line.getresponse()
        return answer.status, answer.read().decode(), answer.headers


def test_the_list_leads_to_every_page(server: ViewServer) -> None:
    status, text, headers = ask(server, f"/{server.token}/")
    assert status == 200
    for name in ("few", "more"):
        for page in ("report", "verify", "differ", "rows"):
            assert f'href="{page}?of={name}"' in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "same-origin", "the token goes nowhere else"


def test_it_listens_to_this_machine_alone(server: ViewServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    status, text, _ = ask(server, f"/{server.token}/", Host="evil.example")
    assert (status, text) == (403, "this page is for this machine alone\n")
    status, _, _ = ask(server, f"/{server.token}/", Host=f"localhost:{server.server_port}")
    assert status == 200


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/report?of=few", "//", "/{token}", "/{token}x/"])
def test_a_wrong_token_is_refused(server: ViewServer, path: str) -> None:
    status, text, _ = ask(server, path.replace("{token}", server.token))
    assert (status, "lacks its token" in text) == (403, True)


@pytest.mark.parametrize("name", ["../outside", "..%2Foutside", "/etc", "few/../../outside", "few/tree.json", "", "."])
@pytest.mark.parametrize("page", ["report", "verify", "differ", "rows"])
def test_nothing_outside_the_folder_can_be_named(server: ViewServer, page: str, name: str) -> None:
    status, text, _ = ask(server, f"/{server.token}/{page}?of={name}")
    assert status == 400
    assert "of must be one of few, more; got" in text


def test_a_link_out_of_the_folder_is_no_result(results: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(results / "outside", target_is_directory=True)
    with pytest.raises(ft.ParameterError, match="there is none in"):
        Viewer(tmp_path)


def test_pages_that_do_not_exist(server: ViewServer) -> None:
    for path in ("nothing", "../", "report/../../x", "tree.json"):
        assert ask(server, f"/{server.token}/{path}")[0] == 404


def test_the_report_is_the_stored_one(server: ViewServer, results: Path) -> None:
    status, text, headers = ask(server, f"/{server.token}/report?of=more")
    assert (status, text) == (200, (results / "inside" / "more" / "report.html").read_text(encoding="utf-8"))
    policy = headers["Content-Security-Policy"].split("; ")
    assert policy[0] == "sandbox allow-scripts allow-downloads", "an origin of its own: it can read no other page"
    assert {"default-src 'none'", "script-src 'unsafe-inline'", "frame-ancestors 'none'"} <= set(policy)


def test_two_trees_are_compared_exactly(server: ViewServer) -> None:
    _, text, _ = ask(server, f"/{server.token}/compare?old=few&new=more")
    assert "Exactly, " in text
    assert "few against more" in text
    _, same, _ = ask(server, f"/{server.token}/compare?old=few&new=few")
    assert "Exactly, 0% of inputs" in same


def test_verify_ticks_each_line(server: ViewServer, results: Path) -> None:
    _, text, _ = ask(server, f"/{server.token}/verify?of=more")
    checks = ft.verify(results / "inside" / "more", answers=True).checks
    assert text.count("<li>") == len(checks)
    assert text.count("✓") == sum(check.passed is True for check in checks) > 3


def test_disagreements_filter_and_csv(server: ViewServer, results: Path) -> None:
    stored = ft.Tree.load(results / "inside" / "few" / "tree.json")
    _, text, _ = ask(server, f"/{server.token}/differ?of=few")
    assert "stored test answers of the run" in text
    status, table, headers = ask(server, f"/{server.token}/differ.csv?of=few")
    assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="disagreements.csv"')
    assert table.splitlines()[0] == ",".join([*stored.names, "tree", "target"])
    rows = table.splitlines()[1:]
    _, none, _ = ask(server, f"/{server.token}/differ.csv?of=few&text=nowhere-at-all")
    assert none.splitlines()[1:] == []
    assert len(rows) > 0


def form(**fields: str) -> tuple[bytes, str]:
    parts = (
        f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n' for name, text in fields.items()
    )
    return ("".join(parts) + "--edge--\r\n").encode(), "multipart/form-data; boundary=edge"


def test_rows_of_ones_own_get_an_interval(server: ViewServer, results: Path) -> None:
    tree = ft.Tree.load(results / "inside" / "more" / "tree.json")
    batch = MIXED.draw(60, seed=3)
    names, said = list(MIXED.names), tree.predict(batch)
    said[:6] = "other"
    lines = [",".join([*names, "answer"])]
    lines += [",".join([*(str(batch[name][k]) for name in names), str(said[k])]) for k in range(60)]
    body, kind = form(table="\n".join(lines), label="answer")
    status, text, _ = ask(server, f"/{server.token}/rows?of=more", "POST", body, **{"Content-Type": kind})
    assert status == 200
    assert "They agree on 54 of 60 rows, 90%." in text
    assert "With 95% confidence, on 79.4% to 96.3% of rows like these" in text
    body, kind = form(table="a,b\n1,2\n")
    _, text, _ = ask(server, f"/{server.token}/rows?of=more", "POST", body, **{"Content-Type": kind})
    assert "the table must have the columns" in text


def test_forms_of_other_pages_and_large_ones_are_refused(server: ViewServer) -> None:
    body, kind = form(table="a\n1\n")
    path = f"/{server.token}/rows?of=more"
    assert ask(server, path, "POST", body, Origin="http://evil.example", **{"Content-Type": kind})[0] == 403
    assert ask(server, path, "POST", b"", **{"Content-Type": kind})[0] == 413


def sent(server: ViewServer, request: str) -> str:
    """What is answered to a request as it stands, which may be none: the first line, and the last."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=120) as line:
        line.sendall(request.encode())
        with line.makefile("rb") as answer:
            told = answer.read().decode().splitlines()
    return f"{told[0]} {told[-1]}"


def test_who_asks_and_how_much_comes_is_looked_at_before_anything_is_read(server: ViewServer) -> None:
    """None of these bodies ever arrives: whoever waits for one gets no answer."""
    host, path = f"Host: 127.0.0.1:{server.server_port}", f"POST /{server.token}/rows?of=more HTTP/1.0"
    promised = "Content-Length: 1000\r\n\r\n"
    assert " 403 " in sent(server, f"{path}\r\nHost: evil.example\r\n{promised}")
    assert " 403 " in sent(server, f"POST /wrong/rows?of=more HTTP/1.0\r\n{host}\r\n{promised}")
    assert " 403 " in sent(server, f"{path}\r\n{host}\r\nOrigin: http://evil.example\r\n{promised}")
    for length in ("abc", "-1", "+5", "1_0", "\u00b2"):
        told = sent(server, f"{path}\r\n{host}\r\nContent-Length: {length}\r\n\r\n")
        assert told.endswith("Content-Length must be a number"), told
    assert " 413 " in sent(server, f"{path}\r\n{host}\r\nContent-Length: {21 << 20}\r\n\r\n")
    assert " 403 " in sent(server, f"GET nothing HTTP/1.0\r\n{host}\r\n\r\n")


def test_a_table_that_never_arrives_is_given_up(server: ViewServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fidelitree.cli.view, "_SECONDS", 0.2)
    monkeypatch.setattr(fidelitree.cli.view._Answer, "timeout", 0.2)
    host, path = f"Host: 127.0.0.1:{server.server_port}", f"POST /{server.token}/rows?of=more HTTP/1.0"
    assert " 408 " in sent(server, f"{path}\r\n{host}\r\nContent-Length: 1000\r\n\r\nonly this")


def test_a_table_that_is_no_text_is_refused(server: ViewServer) -> None:
    body, kind = form(table="a,label\nXX,1\n")
    path = f"/{server.token}/rows?of=more"
    status, text, _ = ask(server, path, "POST", body.replace(b"XX", b"\xff\xfe"), **{"Content-Type": kind})
    assert (status, text.count("\n")) == (400, 1)
    assert "this cannot be read: 'utf-8' codec" in text


def test_the_command_refuses_what_holds_no_results(folder: Path) -> None:
    assert refused("view", "nowhere") == "DIR must be a folder of results; there is no folder 'nowhere'"
    assert refused("view", ".") == "DIR must hold results, each in a folder of its own; there is none in '.'"


def test_a_threshold_turns_the_targets_scores_into_labels(
    monkeypatch: pytest.MonkeyPatch, folder: Path, results: Path
) -> None:
    """There was no such option."""
    (folder / "scores.py").write_text("def score(rows):\n    return 1.0 * rows[:, 0] - rows[:, 1]\n", encoding="utf-8")
    opened = []

    class Served:
        address = "http://127.0.0.1/"

        def serve_forever(self) -> None:
            signal.raise_signal(signal.SIGTERM)

        def server_close(self) -> None:
            opened.append("closed")

    def serving_here(viewer: Any, port: int = 0) -> Served:
        opened.append(viewer.target(np.array([[0.6, 0.0], [0.2, 0.0], [0.9, 0.8]])).tolist())
        return Served()

    monkeypatch.setattr(fidelitree.cli.view, "serving", serving_here)
    asked = ("view", results / "inside", "--target", "scores:score", "--no-browser")
    done = run(*asked, "--threshold", 0.3)
    assert (done.code, done.err) == (0, "ended\n"), "a request to end it is what Ctrl-C is"
    assert opened == [[1, 0, 0], "closed"]
    assert refused("view", results / "inside", "--threshold", 0.3) == (
        "--threshold needs a target, whose scores it turns into labels: give --target too"
    )


def test_a_run_streams_into_a_page_whose_button_ends_it(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Nobody waits for a clock: the page is asked until it says what the run has done."""
    begun, told = threading.Event(), []

    def serving_here(live: Any, port: int = 0) -> ViewServer:
        server = ViewServer(live, port)
        threading.Thread(target=_press_until_closed, args=(server, told, begun), daemon=True).start()
        return server

    monkeypatch.setattr(fidelitree.cli.view, "serving", serving_here)
    done = run("distill", "aims:alarm", "--bernoulli", 0.5, "--features", 20, "--out", "kept", "--view")
    assert done.code == 0
    assert "watch it at http://127.0.0.1:" in done.err
    assert "Ended: " in told[-1]
    assert (folder / "kept" / "tree.json").is_file()


def _press_until_closed(server: ViewServer, told: list[str], begun: threading.Event) -> None:
    """Look until the run has ended, then press the button, which closes the page."""
    while "Ended: " not in (told[-1] if told else ""):
        told.append(ask(server, f"/{server.token}/state")[1])
        begun.wait(0.05)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    ask(server, f"/{server.token}/stop", "POST", b"stop=1", **headers)


def test_the_target_answers_beside_the_tree(results: Path) -> None:
    server = serving(Viewer(results / "inside", on_mixed))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    status, text, _ = ask(server, f"/{server.token}/ask?of=few&f0=1&f1=nurse&f2=50&f3=2")
    server.shutdown()
    server.server_close()
    assert (status, "The target" in text) == (200, True)


@pytest.mark.parametrize(("error", "told"), [(BrokenPipeError(), False), (ValueError("odd"), True)])
def test_a_browser_that_goes_away_is_no_error(
    server: ViewServer, capsys: pytest.CaptureFixture[str], error: Exception, told: bool
) -> None:
    try:
        raise error
    except Exception:  # noqa: BLE001 - the server looks at the exception that is being handled
        server.handle_error(None, ("127.0.0.1", 1))
    assert ("odd" in capsys.readouterr().err) is told
