"""Who may see the pages and act on them: whoever was given the one-time address, from the pages themselves.

The checks come before anything else is looked at, in this order: the ``Host`` (a name that an attacker points to this
machine is refused), the ``Origin`` and the kind of body of every request that may change something, and the cookie that
the one-time token was exchanged for.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from contextlib import suppress
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1 << 20  # of a body: a list of candidates that was pasted
TOKEN, FORM = "token", "application/x-www-form-urlencoded"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would make browsers hide the origin of a form, too
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""Of every response."""


class Guard:
    """The secrets of one server, and the addresses it answers to.

    >>> guard = Guard("127.0.0.1", 8123)
    >>> guard.is_own("127.0.0.1:8123"), guard.is_own("evil.example:8123"), guard.is_own("127.0.0.1:80")
    (True, False, False)
    """

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.address = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        self.cookie = f"dpselect-{port}"  # by name: browsers send cookies to all ports of an address
        self._token: str | None = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._lock = Lock()

    @property
    def first_address(self) -> str:
        """The address that opens the pages once."""
        return f"{self.address}?{TOKEN}={self._token}"

    def is_own(self, host: str) -> bool:
        """Whether a ``Host`` header names this server: by its address, never by a name that others may point to it."""
        name, _, port = host.rpartition(":")
        if port.endswith("]") or not name:
            name, port = host, "80"
        if port != str(self.port):
            return False
        name = name.removeprefix("[").removesuffix("]").lower()
        if name in LOOPBACK or name == self.host.lower():
            return True
        return self.host not in LOOPBACK and _is_address(name)

    def redeemed(self, token: str) -> bool:
        """Whether this is the one-time token, which is void from now on."""
        with self._lock:
            if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
                return False
            self._token = None
            return True

    def knows(self, request: Request) -> bool:
        """Whether the request carries the cookie."""
        held = request.cookies.get(self.cookie, "")
        return hmac.compare_digest(held.encode(), self._cookie.encode())

    def let_in(self, response: Response) -> Response:
        """The response with the cookie."""
        response.set_cookie(self.cookie, self._cookie, httponly=True, samesite="strict", path="/")
        return response


class Guarded:
    """An application behind a `Guard`. What it raises goes no further: the application has its own page for that."""

    def __init__(self, inner: ASGIApp, guard: Guard) -> None:
        self.inner, self.guard = inner, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
        if scope["type"] != "http":  # a web socket: there is none
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                added = ((name.encode(), value.encode()) for name, value in HEADERS.items())
                message["headers"] = [*message["headers"], *(each for each in added if each[0] not in names)]
            await send(message)

        request = Request(scope)
        refusal = self._answered_at_once(request)
        body = refusal if refusal is not None else await _body(request, receive)
        if isinstance(body, Response):
            await body(scope, receive, send_guarded)
            return
        started = False

        async def receive_again() -> Message:
            nonlocal started
            if started:
                return await receive()
            started = True
            return {"type": "http.request", "body": body, "more_body": False}

        with suppress(Exception):  # the page that says so was sent, and a log would quote what it says
            await self.inner(scope, receive_again, send_guarded)

    def _answered_at_once(self, request: Request) -> Response | None:
        """A refusal, or the exchange of the token; None: the request may go on."""
        guard = self.guard
        if not guard.is_own(request.headers.get("host", "")):
            return page(400, "Not this address", "Open the address that dpselect serve printed.")
        if request.method not in ("GET", "HEAD", "POST"):
            return page(405, "Not understood", "Pages are read or forms are sent, nothing else.")
        site, mode = request.headers.get("sec-fetch-site", ""), request.headers.get("sec-fetch-mode", "")
        if site in ("cross-site", "same-site") and (mode != "navigate" or request.method == "POST"):
            return _FOREIGN
        if request.method == "POST":
            if not self._comes_from_here(request):
                return _FOREIGN
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
                return page(415, "Not understood", "Nothing can be uploaded: the table is named in the command.")
            if "transfer-encoding" in request.headers:  # no browser does, and what follows may not be what it claims
                return page(411, "Not understood", "A form says how long it is.", close=True)
        if request.method == "GET" and request.url.path == "/" and TOKEN in request.url.query:
            given = parse_qs(request.url.query).get(TOKEN, [""])[0]
            if guard.redeemed(given):  # no redirection: if another page led here, browsers would leave out the cookie
                on = '<meta http-equiv="refresh" content="0; url=/"><link rel="icon" href="/static/icon.svg">'
                return guard.let_in(page(200, "dpselect", '<a href="/">Go on</a>', head=on))
        return None if guard.knows(request) else _STRANGER

    def _comes_from_here(self, request: Request) -> bool:
        """Whether a form was sent from a page of this server, as every browser says."""
        origin = request.headers.get("origin")
        if origin is not None:
            return origin == f"http://{request.headers['host']}"
        return request.headers.get("sec-fetch-site") == "same-origin"


async def _body(request: Request, receive: Receive) -> bytes | Response:
    """The whole body of a form, unless it is too long."""
    if request.method != "POST":
        return b""
    length = request.headers.get("content-length", "0")
    read, more = b"", True
    too_long = page(413, "Too long", f"A form has at most {MOST_BYTES:,} bytes.")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        return too_long
    while more:
        message: Any = await receive()
        if message["type"] != "http.request":  # the browser has gone
            return page(400, "Not understood", "The form did not arrive.")
        read += message.get("body", b"")
        more = message.get("more_body", False)
        if len(read) > MOST_BYTES:
            return too_long
    return read


def page(status: int, title: str, text: str, *, head: str = "", close: bool = False) -> HTMLResponse:
    """A page that needs nothing else: it is also shown to those who may see nothing else. Its texts are our own."""
    about = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">{head}'
    body = f"<body><main><h1>{title}</h1><p>{text}</p></main></body>"
    whole = f'<!doctype html><html lang="en"><head>{about}<title>{title}</title></head>{body}</html>'
    return HTMLResponse(whole, status, {"connection": "close"} if close else None)


_STRANGER = page(
    403,
    "Not open here",
    "The address that dpselect serve prints works once, in one browser. Start dpselect serve again for another one.",
)
_FOREIGN = page(403, "Refused", "This request did not come from a page of dpselect. Nothing was read or charged.")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
