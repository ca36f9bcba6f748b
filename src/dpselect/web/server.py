"""Starts the server, on this machine only, and opens the browser."""

from __future__ import annotations

import errno
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn

from dpselect.errors import InvalidParameterError, Shown
from dpselect.web.app import application
from dpselect.web.guards import LOOPBACK, Guard
from dpselect.web.site import Site

_PATIENCE_SECONDS = 2
"""For requests in progress, once the server is to end."""


def serve(
    site: Site,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    reachable: bool = False,
    browser: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve the pages until Ctrl-C.

    Args:
        site: what they are about; checked before anything is opened.
        host: address to listen at.
        port: 0: any that is free.
        reachable: whether `host` may be an address that others can reach.
        browser: whether to open the browser.
        say: gets the lines for the person who started it.

    Raises:
        InvalidParameterError: others could reach the address, or it cannot be used.
        SelectionError: what every question of the site would raise.
    """
    if host not in LOOPBACK and not reachable:
        hint = "Others could then see the pages. If only those who may can reach it: --i-know-who-can-reach-this."
        raise InvalidParameterError("host", Shown(repr(host)), "127.0.0.1, which only this machine can reach", hint)
    site.check()
    with _listening(host, port) as listener:
        guard = Guard(host, listener.getsockname()[1])
        config: Any = uvicorn.Config(
            application(site, guard),
            log_config=None,
            access_log=False,  # an address may hold what was typed
            log_level="critical",
            lifespan="on",
            ws="none",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=_PATIENCE_SECONDS,
        )
        server = uvicorn.Server(config)
        opened = browser and _can_open()
        say("The page is open in your browser." if opened else "Open this address in a browser; it works once:")
        say(guard.first_address)
        say("Ctrl-C ends it.")
        if opened:
            threading.Thread(target=_open, args=(guard.first_address, say), daemon=True).start()
        threading.Thread(target=_warm, daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error in our words."""
    if not 0 <= port <= 65535:
        raise InvalidParameterError("port", port, "a whole number from 0 to 65535; 0 is any that is free")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError as failure:
        listener.close()
        if failure.errno in (errno.EADDRINUSE, errno.EACCES):
            hint = "Another program uses it, perhaps another dpselect serve. Without --port, a free one is taken."
            raise InvalidParameterError("port", port, "a port that is free", hint) from None
        raise InvalidParameterError("host", Shown(repr(host)), "an address of this machine") from None
    return listener


def _can_open() -> bool:
    """Whether there is a browser to open; without a screen one that takes the terminal would be found."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    text_only = isinstance(found, webbrowser.GenericBrowser) and not isinstance(found, webbrowser.BackgroundBrowser)
    return not text_only


def _open(address: str, say: Callable[[str], None]) -> None:
    try:
        opened = webbrowser.open(address)
    except (OSError, webbrowser.Error):
        opened = False
    if not opened:
        say("No browser could be opened: open the address above in one.")


def _warm() -> None:
    """Load what draws before the first picture is wanted."""
    with suppress(Exception):
        import numpy as np

        from dpselect.charts import Axis, Series, lines, svg_without_title

        line = Series(name="error", x=np.array([1.0, 2.0]), y=np.array([2.0, 1.0]))
        svg_without_title(lines([line], x=Axis(title="x"), y=Axis(title="y"), title="x"))
