"""Starts the server, on this machine only, and opens the browser; who may come in; and the pages as one application.

Whoever was given the one-time address may see the pages and act on them, from the pages themselves. The checks of the
`Guard` come before anything else is looked at, in this order: the ``Host`` (a name that an attacker points to this
machine is refused), the ``Origin`` and the kind of body of every request that may change something, and the cookie that
the one-time token was exchanged for. Whoever begins a request and does not send the rest of it is not waited for.
"""

from __future__ import annotations

import asyncio
import errno
import html
import ipaddress
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpselect.errors import InvalidParameterError, SelectionError, Shown
from dpselect.web import choosing, pages
from dpselect.web.forms import error_in_words
from dpselect.web.pages import BODY, Pages, Typed, route
from dpselect.web.site import Site

SENDING_SECONDS = 20.0  # from the first byte of a request, or the opening of its connection, to the last of its form

MOST_BYTES = 1 << 20  # of a body: a list of candidates that was pasted
TOKEN, FORM = "token", "application/x-www-form-urlencoded"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {  # of every response
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would make browsers hide the origin of a form, too
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

_say = partial(print, flush=True)
_SCRIPT = "text/javascript"
_FILES = {"style.css": "text/css", "page.js": _SCRIPT, "htmx.min.js": _SCRIPT, "icon.svg": "image/svg+xml"}


def serve(
    site: Site,
    *,
    host: str = "127.0.0.1",
    port: int = 0,  # any that is free
    reachable: bool = False,  # whether the host may be an address that others can reach
    browser: bool = True,
    say: Callable[[str], None] = _say,  # to the person who started it
) -> None:
    """Serve the pages until Ctrl-C. What they are about is checked before anything is opened."""
    if host not in LOOPBACK and not reachable:
        hint = "Others could then see the pages. If only those who may can reach it: --i-know-who-can-reach-this."
        raise InvalidParameterError("host", Shown(repr(host)), "127.0.0.1, which only this machine can reach", hint)
    site.check()
    with _listening(host, port) as listener:
        guard = Guard(host, listener.getsockname()[1])
        app: Any = application(site, guard)
        # An address may hold what was typed, so none is logged.
        quiet: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
        quiet |= {"server_header": False, "date_header": False, "lifespan": "on", "ws": "none"}
        quiet["timeout_graceful_shutdown"] = 2  # seconds for requests in progress
        server = uvicorn.Server(uvicorn.Config(app, http=Connection, **quiet))
        path = forwarding(guard.first_address) if browser and _can_open() else None
        opening = "Opening your browser. If no page opens, open this address in one; it works once:"
        say("Open this address in a browser; it works once:" if path is None else opening)
        say(guard.first_address)
        say("Ctrl-C ends it.")
        threading.Thread(target=_warm, daemon=True).start()
        if path is not None:
            threading.Thread(target=_open, args=(path, say), daemon=True).start()
        try:
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            if path is not None:
                path.unlink(missing_ok=True)


class Connection(H11Protocol):
    """A connection whose requests arrive whole within `SENDING_SECONDS`, or that is closed; answers have all time."""

    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on with a request, or begin to wait for the rest of the next one."""
        # A browser may open a connection long before it needs it.
        begins = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        super().data_received(data)
        self._wait(anew=begins)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; where the answer has begun already, close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _wait(self, *, anew: bool = False) -> None:
        """Wait for the rest of a request, if one is awaited, as long as is left or `anew`."""
        is_awaited = not self.transport.is_closing() and self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if self._end is not None and (anew or not is_awaited):
            self._end.cancel()
            self._end = None
        if self._end is None and is_awaited:
            self._end = self.loop.call_later(SENDING_SECONDS, self.transport.close)


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error in our words."""
    if not 0 <= port <= 65535:
        raise InvalidParameterError("port", port, "a whole number from 0 to 65535; 0 is any that is free")
    how: dict[str, Any] = {"family": socket.AF_INET6, "dualstack_ipv6": socket.has_dualstack_ipv6()}
    try:
        return socket.create_server((host, port), **how if ":" in host else {})
    except OSError as failure:
        if failure.errno in (errno.EADDRINUSE, errno.EACCES):
            hint = "Another program uses it, perhaps another dpselect serve. Without --port, a free one is taken."
            raise InvalidParameterError("port", port, "a port that is free", hint) from None
        raise InvalidParameterError("host", Shown(repr(host)), "an address of this machine") from None


def _can_open() -> bool:
    """Whether there is a browser to open; without a screen one that takes the terminal would be found."""
    with suppress(webbrowser.Error):
        found = webbrowser.get()
        return isinstance(found, webbrowser.BackgroundBrowser) or not isinstance(found, webbrowser.GenericBrowser)
    return False


def _open(path: Path, say: Callable[[str], None]) -> None:
    with suppress(OSError, webbrowser.Error):
        if webbrowser.open(path.as_uri()):
            return
    say("No browser could be opened: open the address above in one.")


def forwarding(address: str) -> Path | None:
    """A new file that only this user can read, and that leads a browser on to `address`; None if there is no room.

    The address holds the one-time token, and every user of a machine can see the arguments of a browser.
    """
    shown = html.escape(address)
    head = f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={shown}">'
    try:  # with mode 0600
        with NamedTemporaryFile("wb", prefix="dpselect-", suffix=".html", delete=False) as file:
            file.write(page(200, "dpselect", f'<a href="{shown}">Go on</a>', head=head).body)
    except OSError:
        return None
    return Path(file.name)


def _warm() -> None:
    """Load what draws before the first picture is wanted."""
    with suppress(Exception):
        from dpselect.charts import bars, svg_without_title

        svg_without_title(bars(["x"], [1.0], category="x", value="x", title="x"))


def application(site: Site, guard: Guard) -> Guard:
    """All pages about `site`, or a table of its folder, behind `guard`."""
    about = Pages(start=site, site=site)

    @asynccontextmanager
    async def until_the_end(app: Starlette) -> AsyncGenerator[None]:
        yield
        await run_in_threadpool(about.stop, 10.0)  # seconds for charges in progress

    routes = [*choosing.ROUTES, *pages.ROUTES, route("/static/{name}", _file)]
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, SelectionError, Exception), _failed)
    guard.inner = app = Starlette(routes=routes, exception_handlers=handlers, lifespan=until_the_end)
    app.state.pages = about
    return guard


def _file(about: Pages, typed: Typed, name: str) -> Response:
    """One of the files that the pages use; no other one has a name here."""
    if name not in _FILES:
        raise HTTPException(404)
    return Response(files("dpselect.web").joinpath("static", name).read_bytes(), media_type=_FILES[name])


async def _failed(request: Request, error: Exception) -> Response:
    """The page that says what went wrong; of what was not foreseen it says the type alone."""
    about: Pages = request.app.state.pages
    if isinstance(error, SelectionError):
        return about.error(400, "That did not work", error_in_words(error))
    if not isinstance(error, HTTPException):
        return about.error(500, "A fault", f"unexpected {type(error).__name__}; nothing was shown. Please report it.")
    if error.status_code == 405 and request.method in ("GET", "HEAD"):  # a form was sent there: its page is above
        above = request.url.path.rpartition("/")[0]
        return RedirectResponse("/" if above.startswith("/looked") else above, 303)
    if error.status_code == 404:
        return about.error(404, "No such page", "There is no page of this name.")
    return about.error(error.status_code, "Not understood", "There is no such form or page.")


class Guard:
    """What stands before the pages of one server: its secrets, the addresses it answers to, and what it refuses.

    What the pages raise goes no further: they have a page of their own for that.
    """

    inner: ASGIApp  # see `application`

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.cookie = f"dpselect-{port}"  # by name: browsers send cookies to all ports of an address
        self._token: str | None = secrets.token_urlsafe(32)
        place = f"[{host}]" if ":" in host else host
        self.first_address = f"http://{place}:{port}/?{TOKEN}={self._token}"  # opens the pages once
        self._cookie = secrets.token_urlsafe(32)
        self._lock = Lock()

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
        with suppress(ValueError):
            return self.host not in LOOPBACK and bool(ipaddress.ip_address(name))
        return False

    def redeemed(self, token: str) -> bool:
        """Whether this is the one-time token, which is void from now on."""
        with self._lock:
            if self._token is None or not secrets.compare_digest(token.encode(), self._token.encode()):
                return False
            self._token = None
            return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
        if scope["type"] != "http":  # a web socket: there is none
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        request = Request(scope, receive)
        body = self._answered_at_once(request) or await _body(request)
        if isinstance(body, Response):
            await body(scope, receive, send_guarded)
            return
        with suppress(Exception):  # the page that says so was sent, and a log would quote what it says
            await self.inner({**scope, BODY: body}, receive, send_guarded)

    def _answered_at_once(self, request: Request) -> Response | None:
        """A refusal, or the exchange of the token; None: the request may go on."""
        if not self.is_own(request.headers.get("host", "")):
            return page(400, "Not this address", "Open the address that dpselect serve printed.")
        if request.method not in ("GET", "HEAD", "POST"):
            return page(405, "Not understood", "Pages are read or forms are sent, nothing else.")
        site, mode = request.headers.get("sec-fetch-site", ""), request.headers.get("sec-fetch-mode", "")
        if site in ("cross-site", "same-site") and (mode != "navigate" or request.method == "POST"):
            return _FOREIGN
        if request.method == "POST":
            # Every browser says from which page a form was sent.
            origin, own = request.headers.get("origin"), f"http://{request.headers['host']}"
            if site != "same-origin" if origin is None else origin != own:
                return _FOREIGN
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
                return page(415, "Not understood", "Nothing can be uploaded: the table is named in the command.")
            if "transfer-encoding" in request.headers:  # no browser does, and what follows may not be what it claims
                return page(411, "Not understood", "A form says how long it is.", close=True)
        if request.method == "GET" and request.url.path == "/" and TOKEN in request.url.query:
            given = parse_qs(request.url.query).get(TOKEN, [""])[0]
            if self.redeemed(given):  # no redirection: if another page led here, browsers would leave out the cookie
                on = '<meta http-equiv="refresh" content="0; url=/"><link rel="icon" href="/static/icon.svg">'
                entry = page(200, "dpselect", '<a href="/">Go on</a>', head=on)
                entry.set_cookie(self.cookie, self._cookie, httponly=True, samesite="strict", path="/")
                return entry
        held = request.cookies.get(self.cookie, "")
        return None if secrets.compare_digest(held.encode(), self._cookie.encode()) else _STRANGER


async def _body(request: Request) -> bytes | Response:
    """The whole body of a form, unless it is too long."""
    if request.method != "POST":
        return b""
    length, read = request.headers.get("content-length", "0"), b""
    too_long = page(413, "Too long", f"A form has at most {MOST_BYTES:,} bytes.")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        return too_long
    with suppress(ClientDisconnect):  # the browser has gone
        async for part in request.stream():
            read += part
            if len(read) > MOST_BYTES:
                return too_long
        return read
    return page(400, "Not understood", "The form did not arrive.")


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
