"""Targets behind an address: inputs go out as JSON, labels come back as JSON.

A server is a stranger. What it answers is bounded before it is read, redirects are not followed (they would carry the
headers elsewhere), and no error, name or file ever holds a header, a password or a query of the address.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

from fidelitree.errors import RAISED, ParameterError, TargetError, check_range, need, show
from fidelitree.targets.models.model import ModelColumns
from fidelitree.targets.models.remote import OnTerms, make_terms

Rows = list[list[Any]]
SCHEMES = ("http://", "https://")
_ANSWER, _EACH = 1 << 16, 1 << 12  # bytes that an answer may have, and as many more for each input
_SHOWN = 80  # characters of an answer that is none
_SHORT = 3  # characters of a secret that is taken out where it is a word: it is a part of too many others
_BUSY = (429, 503)
_MASK = "***"


class ServerBusyError(TargetError):
    """The server wants to be asked again, after so many seconds where it says how many."""

    def __init__(self, said: str, retry_after: str) -> None:
        super().__init__(said)
        self.retry_after = retry_after


class HttpTarget(OnTerms):
    """A server that answers ``{"inputs": [[...], ...], "features": [...]}`` with ``{"labels": [...]}``, by POST.

    Bits are 0 and 1, a missing value is null, and labels come in the order of the inputs. ``schema`` is a pair of
    functions for any other server: ``(rows, features) -> what is sent`` and ``what came back -> labels``, both JSON.
    ``headers`` are sent with every call; of a value like ``"Bearer $TOKEN"``, ``$TOKEN`` is read from the environment
    when the target is made. ``names`` names the columns of an array, which are x0, x1, ... else. ``verify`` is as
    httpx takes it: True, or a context of ssl. ``timeout`` is the longest silence in seconds. Terms (``concurrency``,
    ``rows_per_second``, ``calls_per_minute``, ``cost_per_row``, ``cost_per_call``) are those of `Remote`.
    """

    classes = None

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        schema: tuple[Callable[[Rows, list[str]], Any], Callable[[Any], Sequence[Any]]] | None = None,
        timeout: float = 60.0,
        names: Sequence[str] | None = None,
        verify: Any = True,
        **terms: Any,
    ) -> None:
        self.name = without_secrets(_checked(url))
        self.terms = make_terms(terms)
        rule = "above 0 seconds, and finite"
        self.timeout = check_range("timeout", timeout, rule, lambda seconds: 0 < seconds < math.inf, percent=False)
        self.columns = ModelColumns.named(names)
        self._headers = _headers(headers)
        self._url, self._schema, self._verify = url, schema or (_sent, _labels), verify
        self._secret = _any_of({form for secret in _secrets(url, self._headers) for form in _forms(secret)})
        self._httpx = need("httpx", "http", "HTTP targets")
        self._client: Any = None

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The features that the server was said to take."""
        return self.columns.names

    async def __call__(self, batch: Any) -> Sequence[Any]:
        columns = self.columns.plain(batch)
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        try:
            sent = json.dumps(self._schema[0](rows, list(columns)), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"inputs of {self.name} must be numbers, truth values or text: {error}") from None
        answer = self._read(await self._post(sent.encode(), len(rows)))
        try:
            found = self._schema[1](answer)
            count = len(found)
        except RAISED as error:  # a schema is somebody's code, and may quote what it could not read
            raise TargetError(
                f'{self.name} must answer {{"labels": [...]}}, or what schema reads; it answered '
                f"{self._masked(repr(answer))} ({self._masked(show(error, _ANSWER))})"
            ) from None
        if count != len(rows):
            raise TargetError(f"{self.name} must answer one label for each input; {len(rows)} got {count} labels")
        return found

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def __repr__(self) -> str:
        return f"<HttpTarget {self.name}{self.columns.phrase()}>"

    def __getstate__(self) -> Any:
        raise TypeError("an HTTP target is asked from this process: it has headers that must not be written anywhere")

    async def _post(self, sent: bytes, rows: int) -> bytes:
        """The body of the answer; our own errors for everything else that may come back."""
        if self._client is None:
            limits = self._httpx.Limits(max_connections=self.terms.concurrency)
            verify = self._verify if self._url.startswith("https") else False  # authorities take a while to load
            self._client = self._httpx.AsyncClient(timeout=self.timeout, verify=verify, limits=limits)
        plain = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        headers = {**plain, **self._headers}
        try:
            async with self._client.stream("POST", self._url, content=sent, headers=headers) as response:
                self._check_status(response)
                return await self._bounded(response, _ANSWER + _EACH * rows)
        except (self._httpx.HTTPError, self._httpx.InvalidURL, UnicodeError) as error:
            said = self._masked(str(error), most=None) or "no more is known"
            raise TargetError(f"{self.name} could not be asked: {type(error).__name__}: {said}") from None

    def _check_status(self, response: Any) -> None:
        status = response.status_code
        if status in _BUSY:
            after = response.headers.get("retry-after", "0")
            raise ServerBusyError(f"{self.name} answered {status}: it is busy", after)
        if response.has_redirect_location:
            there = self._masked(without_secrets(str(response.url.join(response.headers["location"]))), most=None)
            raise TargetError(
                f"{self.name} answered {status}: it has moved to {there} - give that address, if you trust it"
            )
        if status != 200:
            raise TargetError(f"{self.name} answered {status} {self._masked(response.reason_phrase)}, and no labels")

    async def _bounded(self, response: Any, most: int) -> bytes:
        """The body, up to a size that labels cannot exceed, once it is unpacked.

        httpx would unpack as often as a server says, and all that has come: a few hundred bytes may become gigabytes.
        """
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("identity", "gzip"):
            raise TargetError(
                f"{self.name} must answer plainly, as it was asked to; it packs by {self._masked(packed)}"
            )
        body, unpacking = bytearray(), zlib.decompressobj(31) if packed == "gzip" else None
        async for part in response.aiter_raw(1 << 16):
            try:
                body += part if unpacking is None else unpacking.decompress(part, most + 1 - len(body))
            except zlib.error as error:
                raise TargetError(f"{self.name} must answer with JSON; it answered broken gzip: {error}") from None
            if len(body) > most:
                raise TargetError(f"{self.name} must answer with labels only; it sent more than {most:,} bytes")
        return bytes(body)

    def _read(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            shown = self._masked(body.decode(errors="replace"))
            raise TargetError(f"{self.name} must answer with JSON; it answered {shown!r}") from None

    def _masked(self, text: str, most: int | None = _SHOWN) -> str:
        """The beginning of a stranger's text without anything that must not be seen: it may repeat what it was sent.

        It is cut last, because half a secret would not be found.
        """
        return self._secret.sub(_MASK, text)[:most]


def http(url: str, **options: Any) -> HttpTarget:
    """A target behind an address; the options are those of `HttpTarget`."""
    return HttpTarget(url, **options)


def without_secrets(url: str) -> str:
    """An address as it may be shown and stored: no user, no password, no query, no fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _secrets(url: str, headers: Mapping[str, str]) -> Iterator[str]:
    """All that a server is told in confidence."""
    for value in headers.values():
        yield from (value, *value.split())
    parts = urlsplit(url)
    user, password = parts.username or "", parts.password or ""
    yield from (parts.query, user, password, unquote(user), unquote(password))
    if user or password:  # as they are sent
        yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    yield from (value for _, value in parse_qsl(parts.query))
    yield from (one.partition("=")[2] for one in parts.query.split("&"))


def _forms(secret: str) -> Iterator[str]:
    """How a text, an address, or Python's or JSON's notation of a text may show it."""
    yield from (secret, quote(secret), quote(secret, safe=""), quote_plus(secret))
    yield from (repr(secret)[1:-1], repr("'\"" + secret)[4:-1], json.dumps(secret)[1:-1])


def _any_of(texts: set[str]) -> re.Pattern[str]:
    """What finds them all, in capitals or not, the longest first; short ones as whole words only."""
    longest = sorted(filter(None, texts), key=len, reverse=True)
    found = (re.escape(text) if len(text) > _SHORT else rf"(?<!\w){re.escape(text)}(?!\w)" for text in longest)
    return re.compile("|".join(found) or "(?!)", re.IGNORECASE)


def _checked(url: Any) -> str:
    try:
        named = isinstance(url, str) and url.startswith(SCHEMES) and bool(urlsplit(url).hostname)
        shown = show(url) if not isinstance(url, str) else repr(without_secrets(url))
    except ValueError:  # of an address that cannot be taken apart no part can be shown
        named, shown = False, "one that cannot be read: is a bracket missing?"
    if not named:
        raise ParameterError(f"url must begin with http:// or https://, and name a server; got {shown}")
    return str(url)


def _headers(given: Any) -> dict[str, str]:
    """Headers that can be sent."""
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(f"headers must be a mapping of name to value; got one of type {type(given).__name__}")
    found = {str(name): _filled(str(name), str(value)) for name, value in (given or {}).items()}
    for name, value in found.items():
        if not (value.isascii() and value.isprintable()):  # the value itself is not shown
            raise ParameterError(
                f"headers must hold printable ASCII characters only, and {show(name)} does not: is there a line end?"
            )
    return found


def _filled(header: str, value: str) -> str:
    """A header with what the environment has for its ``$VARIABLES``."""

    def found(match: re.Match[str]) -> str:
        variable = match[1] or match[2]
        if variable not in os.environ:
            raise ParameterError(f"headers name ${variable} for {header!r}, and there is no such environment variable")
        return os.environ[variable]

    return re.sub(r"\$(?:(\w+)|\{(\w+)\})", found, value)


def _sent(rows: Rows, features: list[str]) -> Any:
    return {"inputs": rows, "features": features}


def _labels(answer: Any) -> Sequence[Any]:
    found = answer["labels"]
    if not isinstance(found, list):
        raise TypeError("labels")
    return found
