"""A line to a real server that can be cut: where a test says so, as a network would."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa

Heard = Callable[[bytes], bool]
"""Told what goes over the line, in the direction it listens to; true cuts the line before that has gone on."""


class Wire:
    """Carries connections on a port of its own to a server. Nothing is cut until a test asks for it.

    Attributes:
        url: of the server at this end of the line.
        sent: told what clients send.
        answered: told what the server answers.
    """

    def __init__(self, server: sa.Engine) -> None:
        folder = server.url.query["host"]
        self._server = next(each for each in Path(str(folder)).glob(".s.PGSQL.*") if not each.name.endswith(".lock"))
        self._listening = socket.create_server(("127.0.0.1", 0))
        url = server.url.set(drivername="postgresql", host="127.0.0.1", port=self._listening.getsockname()[1], query={})
        self.url = url.render_as_string(hide_password=False)
        self.sent: Heard | None = None
        self.answered: Heard | None = None
        self.is_down = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take the line down."""
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.is_down:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                heard = self.sent if is_client else self.answered
                if heard is not None and heard(data):
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def wire_to(server: sa.Engine) -> Generator[Wire]:
    """A line that is taken down at the end."""
    line = Wire(server)
    try:
        yield line
    finally:
        line.close()
