"""Ways to a ledger's database that fail at a chosen step: a connection to SQLite, and a line to PostgreSQL."""

from __future__ import annotations

import contextlib
import functools
import socket
import sqlite3
import struct
import tempfile
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import pytest

Moment = Literal["before", "amid", "after"]


@dataclass
class Fault:
    """What fails, and when.

    Attributes:
        at: the step, of those that a test counts; None: none does.
        moment: before the step has any effect, when it was sent off, or after its effect and before the answer.
        lasting: whether all later steps fail as well, until it is lifted.
        armed: whether steps are counted yet.
        steps: how many there were.
        hit: whether it has struck.
    """

    at: int | None = None
    moment: Moment = "before"
    lasting: bool = False
    armed: bool = True
    steps: int = 0
    hit: bool = False

    def lift(self) -> None:
        self.at, self.lasting = None, False

    def next(self) -> Moment | None:
        """How the step that comes now fails, if it does."""
        if not self.armed:
            return None
        step, self.steps = self.steps, self.steps + 1
        if self.at is None or step < self.at or (step > self.at and not self.lasting):
            return None
        self.hit = True
        return self.moment if step == self.at else "before"


def faulty_connection(fault: Fault, code: int) -> type[sqlite3.Connection]:
    """SQLite's connection, each of whose statements, commits and ends is a step that may fail with `code`."""

    def step(act: Callable[[], Any]) -> Any:
        moment = fault.next()
        if moment == "before":
            raise failure(code)
        result = act()
        if moment is not None:
            raise failure(code)
        return result

    class Cursor(sqlite3.Cursor):
        def execute(self, *given: Any) -> sqlite3.Cursor:
            return step(lambda: super(Cursor, self).execute(*given))

    class Connection(sqlite3.Connection):
        def cursor(self, *_: Any) -> sqlite3.Cursor:  # type: ignore[override]
            return super().cursor(Cursor)

        def commit(self) -> None:
            step(super().commit)

        def close(self) -> None:
            super().close()
            if fault.next() is not None:
                raise failure(code)

    return Connection


def connecting(patch: pytest.MonkeyPatch, connection: type[sqlite3.Connection]) -> None:
    """From here on all connections to SQLite are of this class."""
    patch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=connection))


def failure(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("the driver's words, with Zoe's row in them")
    error.sqlite_errorcode = code
    return error


@contextlib.contextmanager
def line_to(server: str, fault: Fault) -> Generator[str]:
    """An address from which a PostgreSQL server is reached; each question and answer between them is a step."""
    (host,) = parse_qs(urlsplit(server).query)["host"]
    there = f"{host}/.s.PGSQL.5432"
    with tempfile.TemporaryDirectory(prefix="line-") as folder, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(Path(folder, ".s.PGSQL.5432")))
        door.listen()
        threading.Thread(target=_let_in, args=(door, there, fault), daemon=True).start()
        yield server.replace(host, folder)
        door.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits at it


def _let_in(door: socket.socket, there: str, fault: Fault) -> None:
    while True:
        try:
            here, _ = door.accept()
        except OSError:
            return
        if fault.hit and fault.lasting:
            here.close()
            continue
        threading.Thread(target=_carried, args=(here, there, fault), daemon=True).start()


def _carried(here: socket.socket, there: str, fault: Fault) -> None:
    """From one client to the server and back, in turns: a client that has asked waits for the answer."""
    with here, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError, EOFError):
        server.connect(there)
        server.sendall(_message(here, typed=False))
        _answer(server, here)
        while True:
            asked = _message(here)
            if asked[:1] not in b"QS":  # a simple query, or the end of one in parts
                server.sendall(asked)
                continue
            moment = fault.next()
            if moment == "before":
                return
            server.sendall(asked)
            if moment == "amid":
                return
            _answer(server, None if moment == "after" else here)
            if moment == "after":
                return


def _answer(server: socket.socket, here: socket.socket | None) -> None:
    """All of it, up to where the server is ready for the next question."""
    while True:
        message = _message(server)
        if here is not None:
            here.sendall(message)
        if message[:1] == b"Z":
            return


def _message(source: socket.socket, *, typed: bool = True) -> bytes:
    head = _exactly(source, 5 if typed else 4)
    (length,) = struct.unpack("!I", head[-4:])
    return head + _exactly(source, length - 4)


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts
