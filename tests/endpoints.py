"""A server in this process that answers as well, or as badly, as a test wants."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rows = list[list[Any]]


@dataclass
class Endpoint:
    """``answer`` makes labels of rows. Every so-many-th call fails; more rows a second than the limit get a 429."""

    answer: Callable[[Rows], list[Any]] = lambda rows: [int(row[0]) for row in rows]
    latency: float = 0.0
    fails_every: int = 0
    rows_per_second: float = 0.0
    raw: Callable[[BaseHTTPRequestHandler, Rows], None] | None = None
    """Writes the whole answer, in place of labels."""
    url: str = ""
    calls: int = 0
    rows: int = 0
    refused: int = 0
    at_once: int = 0
    """The most calls that were inside at a time."""
    busiest: int = 0
    """The most rows that it took in a second."""
    headers: list[dict[str, str]] = field(default_factory=list)
    first: float = 0.0
    last: float = 0.0
    _inside: int = 0
    _sent: list[tuple[float, int]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, rows: int) -> int:
        """The status of a call."""
        with self._lock:
            now = time.monotonic()
            self.first, self.calls = self.first or now, self.calls + 1
            self._inside += 1
            self.at_once = max(self.at_once, self._inside)
            self._sent = [(at, count) for at, count in self._sent if at > now - 1]
            if self.rows_per_second and sum(count for _, count in self._sent) + rows > self.rows_per_second * 1.1 + 1:
                self.refused += 1
                return 429
            self._sent.append((now, rows))
            self.busiest = max(self.busiest, sum(count for _, count in self._sent))
            if self.fails_every and self.calls % self.fails_every == 0:
                return 500
            self.rows += rows
            return 200

    def leave(self) -> None:
        """A call is over."""
        with self._lock:
            self._inside -= 1
            self.last = time.monotonic()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.endpoint.headers.append(dict(self.headers))
        status = self.endpoint.take(len(sent["inputs"]))
        try:
            time.sleep(self.endpoint.latency)
            if status == 200 and self.endpoint.raw is not None:
                self.endpoint.raw(self, sent["inputs"])
                return
            body = json.dumps({"labels": self.endpoint.answer(sent["inputs"])}).encode() if status == 200 else b"no"
            write(self, status, body, {"retry-after": "0.05"} if status == 429 else {})
        finally:
            self.endpoint.leave()

    def log_message(self, *arguments: Any) -> None:
        pass


def write(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    handler.send_response(status)
    for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that hang up are part of the tests


@contextmanager
def serving(endpoint: Endpoint, tls: ssl.SSLContext | None = None) -> Iterator[Endpoint]:
    """The endpoint at its ``url`` while the block lasts."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"endpoint": endpoint}))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    endpoint.url = f"http{'' if tls is None else 's'}://127.0.0.1:{server.server_address[1]}/label"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
