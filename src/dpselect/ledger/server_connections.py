"""Connections to PostgreSQL that give up by their own clock.

A server that is stopped, or hangs, still has its sockets: the system goes on acknowledging what arrives. So no option
of TCP notices it, and no setting of the server takes effect. A pooler does not answer either while all of its
connections are in use.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait
from time import monotonic
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.rows import TupleRow

_TOO_LATE = "no answer in time"


class NoAnswerError(psycopg.OperationalError):
    """The server said nothing until the deadline."""


class PatientConnection(psycopg.Connection[TupleRow]):
    """A connection that is closed if an answer takes too long.

    A server that resumes later rolls back what it was not asked to commit by then: all that it can still read is that
    the client has left.

    Attributes:
        deadline: time by `time.monotonic` after which no answer is awaited and nothing more is sent.
        silence: the most seconds that one answer may take, also without a deadline.
        was_used: whether it was used before, so that the server may have closed it since.
    """

    deadline: float = math.inf
    silence: float = math.inf
    was_used: bool = False

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Wait for an answer as psycopg does, but only until the deadline."""
        return super().wait(self._in_time(gen, min(self.deadline, monotonic() + self.silence)), *args, **kwargs)

    def refuse_late(self) -> None:
        """Raise if the deadline has passed."""
        if monotonic() >= self.deadline:
            self._give_up()

    def _in_time(self, gen: PQGen[RV], due: float) -> PQGen[RV]:
        self.refuse_late()
        try:
            awaited = next(gen)
            while True:
                awaited = gen.send((yield awaited))  # read what has arrived before looking at the clock
                if monotonic() >= due:
                    self._give_up()
        except StopIteration as done:
            return done.value

    def _give_up(self) -> None:
        self.pgconn.finish()
        raise NoAnswerError(_TOO_LATE)


def connected(
    arguments: Iterable[Any], options: Mapping[str, Any], *, deadline: float, silence: float
) -> PatientConnection:
    """A new connection, made before the deadline.

    It is made in a thread of its own, which closes a connection that comes too late: looking up a host's name cannot be
    interrupted, several addresses are waited for one after the other, and psycopg waits at least two seconds.

    Raises:
        NoAnswerError: there was no connection in time.
    """
    made: Future[PatientConnection] = Future()

    def make() -> None:
        try:
            connection = PatientConnection.connect(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            error.__traceback__ = None  # it holds the password, and the socket of an abandoned attempt
            if made.set_running_or_notify_cancel():
                made.set_exception(error)
            return
        connection.deadline, connection.silence = deadline, silence
        if made.set_running_or_notify_cancel():
            made.set_result(connection)
        else:
            connection.close()

    threading.Thread(target=make, name="dpselect-connecting", daemon=True).start()
    try:
        wait([made], deadline - monotonic())
    finally:
        is_late = made.cancel()
    if is_late:
        raise NoAnswerError(_TOO_LATE)
    return made.result()
