"""`dpselect serve` as a process of its own, as a user starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
_PATIENCE = 180.0
"""Seconds for the server to say where it is; far more than it needs on a loaded machine."""


@dataclass(slots=True)
class Served:
    """A running server.

    Attributes:
        opening: the address that it printed, with its one-time token.
        process: the server.
        log: everything that it has printed so far, on both streams.
    """

    opening: str
    process: subprocess.Popen[str]
    log: list[str]

    @property
    def origin(self) -> str:
        """The address without a path, such as ``http://127.0.0.1:8000``."""
        return self.opening[: self.opening.index("/", len("http://"))]

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.origin.rpartition(":")[2])

    def stop(self) -> None:
        """End it, as Ctrl-C does; then it cannot be reached any more."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def serving(*arguments: str | Path, folder: Path, port: int = 0) -> Iterator[Served]:
    """The server of ``dpselect serve`` with these arguments, on a free port unless one is given; ended afterwards."""
    command = [sys.executable, "-m", "dpselect", "serve", *map(str, arguments), "--port", str(port), "--no-browser"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    log: list[str] = []
    lines = Queue[str | None]()
    reader = threading.Thread(target=_read, args=(process, log, lines), daemon=True)
    reader.start()
    server = Served(opening="", process=process, log=log)
    try:
        server.opening = _address(lines, log)
        yield server
    finally:
        server.stop()
        reader.join(10)


def _read(process: subprocess.Popen[str], log: list[str], lines: Queue[str | None]) -> None:
    assert process.stdout is not None
    with process.stdout as output:
        for line in output:
            log.append(line)
            lines.put(line)
    lines.put(None)


def _address(lines: Queue[str | None], log: list[str]) -> str:
    try:
        while (line := lines.get(timeout=_PATIENCE)) is not None:
            if found := _ADDRESS.search(line):
                return found.group()
    except Empty:
        pass
    raise RuntimeError(f"the server did not say where it is: {''.join(log)}")
