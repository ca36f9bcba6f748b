"""Starts the server, on this machine only, and opens the browser; and the pages as one application.

Whoever begins a request and does not send the rest of it is not waited for.
"""

from __future__ import annotations

import asyncio
import errno
import html
import socket
import threading
import webbrowser
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpselect.errors import InvalidParameterError, SelectionError, Shown
from dpselect.web import answering, choosing
from dpselect.web.forms import error_in_words
from dpselect.web.guards import LOOPBACK, Guard, Guarded, page
from dpselect.web.pages import Pages, Typed, led_to, route
from dpselect.web.site import Folder, Site

SENDING_SECONDS = 20.0
"""From the first byte of a request, or from the opening of its connection, to the last byte of its form."""

_say = partial(print, flush=True)
_SCRIPT = "text/javascript"
_FILES = {"style.css": "text/css", "page.js": _SCRIPT, "htmx.min.js": _SCRIPT, "icon.svg": "image/svg+xml"}


def serve(
    site: Site,
    *,
    folder: Folder | None = None,  # whose tables can be chosen; None: that of `site` alone
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
        app: Any = application(site, guard, folder)
        # An address may hold what was typed, so none is logged.
        quiet: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
        bare: dict[str, Any] = {"server_header": False, "date_header": False}
        bare["timeout_graceful_shutdown"] = 2  # seconds for requests in progress
        config = uvicorn.Config(app, http=Connection, lifespan="on", ws="none", **quiet, **bare)
        server = uvicorn.Server(config)
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
    _is_begun = False

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on with a request, or begin to wait for the rest of the next one."""
        if not self._is_begun:  # a browser may open a connection long before it needs it
            self._stop_waiting()
            self._is_begun = True
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; where the answer has begun already, close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _wait(self) -> None:
        if self.transport.is_closing() or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
            self._is_begun = False
        elif self._end is None:
            self._end = self.loop.call_later(SENDING_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


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
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    return isinstance(found, webbrowser.BackgroundBrowser) or not isinstance(found, webbrowser.GenericBrowser)


def _open(path: Path, say: Callable[[str], None]) -> None:
    """Open the file in the browser."""
    try:
        if not webbrowser.open(path.as_uri()):
            raise webbrowser.Error
    except (OSError, webbrowser.Error):
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
        import numpy as np

        from dpselect.charts import Axis, Series, lines, svg_without_title

        line = Series(name="error", x=np.array([1.0, 2.0]), y=np.array([2.0, 1.0]))
        svg_without_title(lines([line], x=Axis(title="x"), y=Axis(title="y"), title="x"))


def application(site: Site, guard: Guard, folder: Folder | None = None) -> Guarded:
    """All pages about `site`, or a table of `folder`, behind `guard`."""
    pages = Pages(site, folder)

    @asynccontextmanager
    async def until_the_end(app: Starlette) -> AsyncGenerator[None]:
        yield
        await run_in_threadpool(pages.stop, 10.0)  # seconds for charges in progress

    routes = [*choosing.ROUTES, *answering.ROUTES, route("/static/{name}", _file)]
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, SelectionError, Exception), _failed)
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=until_the_end)
    app.state.pages = pages
    return Guarded(app, guard)


def _file(pages: Pages, typed: Typed, name: str) -> Response:
    """One of the files that the pages use; no other one has a name here."""
    if name not in _FILES:
        raise HTTPException(404)
    return Response(files("dpselect.web").joinpath("static", name).read_bytes(), media_type=_FILES[name])


async def _failed(request: Request, error: Exception) -> Response:
    """The page that says what went wrong; of what was not foreseen it says the type alone."""
    pages: Pages = request.app.state.pages
    if isinstance(error, SelectionError):
        return pages.error(400, "That did not work", error_in_words(error))
    if not isinstance(error, HTTPException):
        return pages.error(500, "A fault", f"unexpected {type(error).__name__}; nothing was shown. Please report it.")
    if error.status_code == 405 and request.method in ("GET", "HEAD"):  # a form was sent there: its page is above
        above = request.url.path.rpartition("/")[0]
        return led_to("/" if above.startswith("/looked") else above)
    if error.status_code == 404:
        return pages.error(404, "No such page", "There is no page of this name.")
    return pages.error(error.status_code, "Not understood", "There is no such form or page.")
