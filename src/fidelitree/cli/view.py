"""``fidelitree view``: a folder of results, or a run, in a browser on this machine, and on no other."""

from __future__ import annotations

import hmac
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import typer

from fidelitree.cli.ending import Code, note, say
from fidelitree.cli.shared_options import Threshold, interruptible
from fidelitree.cli.target_options import TargetOptions, opened

if TYPE_CHECKING:
    from fidelitree.runs.live import LiveRun
    from fidelitree.runs.viewer import Page

_MOST = 20 << 20  # bytes of a table that is sent
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
    "frame-src 'self'; frame-ancestors 'none'"
)
_FRAMED = _POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
_FOREIGN = (  # a report may be a stranger's: its scripts run in an origin of their own, and reach nothing
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'"
)
_SECONDS = 30  # that a table may take on its way, and that nothing may come
_PORTION = 1 << 16


class Pages(Protocol):
    """What is served: a page for a name and what was asked."""

    def page(self, name: str, asked: Mapping[str, str], uploaded: str | None = None) -> Page: ...


def view(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or one result.")],
    reading: TargetOptions,
    target: Annotated[
        str | None, typer.Option(metavar="TARGET", help="Its answer stands beside the tree's, on inputs that you try.")
    ] = None,
    threshold: Threshold = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port (default: any that is free).")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> int:
    """Look at a folder of results in a browser, until Ctrl-C or a request to end; both end it with 0.

    The pages are served to this machine only, and only to whoever knows the address that is printed. Nothing is fetched
    from anywhere.
    """
    from fidelitree.asking.access import asked_target
    from fidelitree.errors import ParameterError
    from fidelitree.runs.viewer import Viewer

    if target is None and threshold is not None:
        raise ParameterError("threshold needs a target, whose scores it turns into labels: give --target too")
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        found = None if target is None else stack.enter_context(opened(target, reading))
        asked = None if found is None else asked_target(found.target, threshold)
        server = serving(Viewer(folder, asked), port)
        say(f"{server.address} (Ctrl-C ends it)")
        if browser:
            import webbrowser

            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note("ended")
        finally:
            server.server_close()
    return Code.CERTIFIED


@contextmanager
def streaming(title: str) -> Iterator[LiveRun]:
    """A run as a page, from its first label on; after its end its folder, until somebody closes it or Ctrl-C comes."""
    from fidelitree.runs.live import LiveRun

    live = LiveRun(title, lambda: os.kill(os.getpid(), signal.SIGINT))
    server = serving(live)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    note(f"watch it at {server.address}live")
    try:
        yield live
    finally:
        server.shutdown()
        server.server_close()


def stay(live: LiveRun, folder: Path) -> None:
    """Serve the result of a run until somebody closes the page, or Ctrl-C comes."""
    live.ended(folder)
    note("the page stays open; its button closes it, or Ctrl-C")
    with suppress(KeyboardInterrupt):
        live.over.wait()


class ViewServer(ThreadingHTTPServer):
    """Listens on the loopback address alone; a token is part of every path."""

    daemon_threads = True

    def __init__(self, viewer: Pages, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Answer)
        self.viewer, self.token = viewer, secrets.token_urlsafe(24)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of a page is no error; anything else is told as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser of this machine calls us; anything else is a page elsewhere that found a way here."""
        return (f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}")

    @property
    def address(self) -> str:
        """Where a browser finds the list."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"


def serving(viewer: Pages, port: int = 0) -> ViewServer:
    """A server that has its port, and waits for ``serve_forever``."""
    return ViewServer(viewer, port)


class _Answer(BaseHTTPRequestHandler):
    server: ViewServer
    timeout = _SECONDS

    def do_GET(self) -> None:
        if self._known():
            self._answer(None)

    def do_POST(self) -> None:
        """Who asks is looked at first, then how much comes; only then is anything read."""
        if not self._known():
            return
        origin = self.headers.get("Origin", f"http://{self.server.hosts[0]}")
        if origin.removeprefix("http://") not in self.server.hosts:
            self._refuse(403, "another page sent this")
            return
        told = self.headers.get("Content-Length", "0")
        if not (told.isascii() and told.isdigit()):
            self._refuse(400, "Content-Length must be a number")
        elif not 0 < (length := int(told[:20])) <= _MOST:
            self._refuse(413, "a table must have at most 20 MB")
        elif len(body := self._read(length)) < length:
            self._refuse(408, f"a table must arrive within {_SECONDS} seconds")
        else:
            self._answer(body)

    def _known(self) -> bool:
        """Whether a browser of this machine asks, with the token; else it is told."""
        if self.headers.get("Host") not in self.server.hosts:
            self._refuse(403, "this page is for this machine alone")
            return False
        token, slash, _ = self.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(403, "the address lacks its token: fidelitree view prints it")
            return False
        return True

    def _read(self, length: int) -> bytes:
        """So many bytes, or fewer where they take too long."""
        found, end = bytearray(), time.monotonic() + _SECONDS
        with suppress(TimeoutError):
            while len(found) < length and time.monotonic() < end:
                if not (more := self.rfile.read1(min(_PORTION, length - len(found)))):
                    break
                found += more
        return bytes(found)

    def _answer(self, body: bytes | None) -> None:
        try:
            parts = urlsplit(self.path)
            head = f"Content-Type: {self.headers.get('Content-Type', '')}\r\n\r\n".encode()
            sent = None if body is None else _fields(head + body)
        except (ValueError, LookupError) as error:
            self._refuse(400, f"this cannot be read: {' '.join(str(error).split()):.200}")
            return
        asked = {**dict(parse_qsl(parts.query)), **(sent or {})}
        name = parts.path.split("/", 2)[-1]
        self._send(self.server.viewer.page(name, asked, None if sent is None else sent.get("table", "")))

    def _send(self, page: Page) -> None:
        body = page.body.encode(errors="replace")  # the name of a folder may be no text
        self.send_response(page.status)
        self.send_header("Content-Type", f"{page.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        ours = _FRAMED if page.framed else _POLICY
        self.send_header("Content-Security-Policy", _FOREIGN if page.foreign else ours)
        for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin")):
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-store")
        if page.file:
            self.send_header("Content-Disposition", f'attachment; filename="{page.file}"')
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, status: int, why: str) -> None:
        body = f"{why}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Nothing: the address holds the token, which belongs in no log."""


def _fields(message: bytes) -> dict[str, str]:
    """The fields of a form with a file in it."""
    found = {}
    for part in message_from_bytes(message).walk():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            found[name] = content.decode("utf-8-sig")
    return found
