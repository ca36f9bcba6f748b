"""Requests that never end are not waited for, and forms that are not what they claim are refused."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from dpselect.web import Guard, Site, application, server
from dpselect.web.server import Connection
from tests.web.visitor import MEDIAN, visit

_LONG = 3600.0
"""Seconds after which no test waits any more."""

_OWN = b"Host: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nContent-Type: application/x-www-form-urlencoded\r\n"


@contextmanager
def _served() -> Generator[Guard]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        guard = Guard("127.0.0.1", listener.getsockname()[1])
        config: Any = uvicorn.Config(application(Site(), guard), http=Connection, log_config=None, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield guard
        finally:
            server.should_exit = True
            thread.join(60)


def _sent(guard: Guard, data: bytes) -> socket.socket:
    there = socket.create_connection(("127.0.0.1", guard.port), timeout=60)
    there.sendall(data)
    return there


def _until_closed(there: socket.socket) -> bytes:
    with there:
        parts: list[bytes] = []
        while part := there.recv(1 << 16):
            parts.append(part)
        return b"".join(parts)


def _posted(guard: Guard, *headers: bytes, body: bytes = b"") -> bytes:
    cookie = f"Cookie: {guard.cookie}={guard._cookie}\r\n".encode()  # pyright: ignore[reportPrivateUsage]
    own = _OWN % (guard.port, guard.port)
    return b"POST /ask/median/plan HTTP/1.1\r\n" + own + cookie + b"".join(headers) + b"\r\n" + body


def test_half_open_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    with _served() as guard:
        half = [
            b"",
            b"GET / HTTP/1.1\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0",
            _posted(guard, b"Content-Length: 900\r\n"),
        ]
        monkeypatch.setattr(server, "SENDING_SECONDS", 0.2)
        opened = [_sent(guard, data) for data in half for _ in range(10)]
        assert [_until_closed(each) for each in opened] == [b""] * len(opened)
        monkeypatch.setattr(server, "SENDING_SECONDS", _LONG)
        whole = _sent(guard, b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % guard.port)
        assert _until_closed(whole).startswith(b"HTTP/1.1 403")


def test_the_next_request_of_a_connection_is_not_waited_for_either(monkeypatch: pytest.MonkeyPatch) -> None:
    with _served() as guard:
        there = _sent(guard, b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % guard.port)
        came = b""
        while b"</html>" not in came:
            came += there.recv(1 << 16)
        monkeypatch.setattr(server, "SENDING_SECONDS", 0.2)
        there.sendall(b"GET / HT")
        assert _until_closed(there) == b""


def test_a_request_that_comes_byte_by_byte_has_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with _served() as guard:
        monkeypatch.setattr(server, "SENDING_SECONDS", 0.3)
        there, begun = _sent(guard, b"GET / HTTP/1.1\r\nX: "), time.monotonic()
        with there, suppress(ConnectionError):
            while time.monotonic() < begun + 20:
                there.sendall(b"x")
                time.sleep(0.05)
        assert time.monotonic() < begun + 10


@pytest.mark.parametrize(
    ("body", "is_own"),
    [
        (b"column=age", True),
        (b"zz\r\ncolumn=age\r\n0\r\n\r\n", True),
        (b"a\r\ncolumn=age\r\n0\r\n\r\n", True),
        (b"column=age\r\n", False),
    ],
)
def test_a_form_that_claims_to_be_chunked_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, body: bytes, is_own: bool, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "SENDING_SECONDS", _LONG)
    with _served() as guard:
        head = _posted(guard, b"Transfer-Encoding: chunked\r\n")
        there = _sent(guard, head if is_own else head.replace(b"Host: ", b"Host: evil."))
        assert there.recv(1 << 16).startswith(b"HTTP/1.1 411" if is_own else b"HTTP/1.1 400")
        with there, suppress(ConnectionError):  # closed while the rest is sent
            there.sendall(body)
            while there.recv(1 << 16):
                pass
    assert not [each for each in caplog.records if each.name == "asyncio"]


def test_a_form_in_chunks_reads_and_charges_nothing() -> None:
    visitor = visit("examples/data/adult.csv", "person_id")
    assert visitor.post("/ask/median/plan", MEDIAN).status == 200
    assert visitor.post("/ask/median/plan", MEDIAN, transfer_encoding="chunked").status == 411


class _Clock:
    """A loop that only writes down what it would call, and when."""

    def __init__(self) -> None:
        self.waiting: list[_Handle] = []

    def call_later(self, seconds: float, call: Any) -> _Handle:
        self.waiting.append(_Handle(self, call))
        return self.waiting[-1]

    def create_task(self, task: Any) -> Any:
        task.close()  # nobody answers here
        return _Task()


class _Handle:
    def __init__(self, clock: _Clock, call: Any) -> None:
        self.clock, self.call = clock, call

    def cancel(self) -> None:
        self.clock.waiting.remove(self)


class _Task:
    def add_done_callback(self, done: Any) -> None:
        pass


class _Transport:
    closed = False

    def get_extra_info(self, name: str) -> None:
        return None

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass


def test_an_answer_may_take_as_long_as_it_takes() -> None:
    clock, transport = _Clock(), _Transport()
    config: Any = uvicorn.Config(application(Site(), Guard("127.0.0.1", 8123)), http=Connection, log_config=None)
    config.load()
    loop: Any = clock
    state: Any = SimpleNamespace(connections=set(), tasks=set(), total_requests=0, default_headers=[])
    connection = Connection(config, state, {}, loop)
    connection.connection_made(transport)
    opening = clock.waiting[:]
    assert len(opening) == 1
    begun: list[_Handle] = []
    for part in (b"POST / HTTP/1.1\r\nHost: x\r\n", b"Content-Length: 4\r\n\r\n", b"ab"):
        connection.data_received(part)
        begun = begun or clock.waiting[:]
        assert clock.waiting == begun  # from its first byte, and not anew from each
    assert len(begun) == 1
    assert begun != opening
    connection.data_received(b"cd")
    assert clock.waiting == []
    connection.data_received(b"GET / HTTP/1.1\r\n")  # the next one, while the first is being answered
    assert clock.waiting == []
    assert not transport.closed
