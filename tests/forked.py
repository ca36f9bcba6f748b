"""Processes that begin at once: forked from one that has imported what they need, and has no thread and no ledger open.

Run as a module with the number of a socket, this is that process. It never runs a test, so that a test's own process is
never forked; and what a child opens, nobody had open before.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from subprocess import DEVNULL, Popen
from typing import IO

_NEEDED = ("dpselect.ledger", "dpselect.cli.budgets", "psycopg")
PATIENCE = 120.0
"""Seconds after which a process hangs."""


class Forked:
    """A process that runs a function, with pipes to its standard input and output."""

    def __init__(self, server: socket.socket, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._server, self.stdin, self.stdout = server, stdin, stdout

    def result(self) -> str:
        """What it still has to say, once it has ended well."""
        self.stdin.close()
        with self.stdout:
            said = self.stdout.read().decode()
        status = json.loads(self._server.recv(99))
        assert status == 0, f"the process ended with status {status}"
        return said


class Forks:
    """Starts processes, one after another: each has ended before the next one starts."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(PATIENCE)
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        self._process = Popen(command, pass_fds=[theirs.fileno()], stdin=DEVNULL)
        theirs.close()

    def start(self, function: Callable[..., object], *arguments: object) -> Forked:
        """`function` is one of a module; it gets its arguments as JSON brings them."""
        given, stdin = os.pipe()
        stdout, taken = os.pipe()
        asked = json.dumps([function.__module__, function.__name__, arguments])
        socket.send_fds(self._socket, [asked.encode()], [given, taken])
        os.close(given)
        os.close(taken)
        return Forked(self._socket, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"))

    def run(self, function: Callable[..., object], *arguments: object) -> str:
        return self.start(function, *arguments).result()

    def end(self) -> None:
        self._socket.close()
        self._process.wait(PATIENCE)


def serve(connection: socket.socket) -> None:
    for needed in _NEEDED:
        import_module(needed)
    while True:
        asked, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 2)
        if not asked:
            return
        child = os.fork()
        if not child:
            _run(*json.loads(asked), descriptors)
        for each in descriptors:
            os.close(each)
        connection.send(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _run(module: str, function: str, arguments: list[object], descriptors: list[int]) -> None:
    status = 1
    try:
        for number, each in enumerate(descriptors):
            os.dup2(each, number)
            os.close(each)
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
        getattr(import_module(module), function)(*arguments)
        sys.stdout.flush()
        status = 0
    except BaseException:  # noqa: BLE001 - nothing may go on in this process
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
