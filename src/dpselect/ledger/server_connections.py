"""Connections to PostgreSQL that give up by their own clock.

A server that was stopped, or hangs, still has its sockets: the system goes on acknowledging what arrives, so no option
of TCP notices, and no setting of the server acts. Neither does a pooler answer while all of its connections are taken.
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
    """A connection that is closed where an answer takes too long.

    What the server has not been asked to commit by then it rolls back, even if it goes on later: all that it can still
    read is that the client has left.

    Attributes:
        deadline: by `time.monotonic`; whatever is not answered by then is given up, and nothing more is sent.
        silence: seconds that one answer may take at most, also where there is no deadline.
        was_used: whether it was used before, so that the server may have closed it since.
    """

    deadline: float = math.inf
    silence: float = math.inf
    was_used: bool = False

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """As psycopg waits for every answer, but not longer than until the deadline."""
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
                awaited = gen.send((yield awaited))  # first what has arrived, then the clock
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
    """A connection that was made before the deadline.

    It is made in a thread of its own, which may take longer, and closes it then: looking up a host's name cannot be
    interrupted, several addresses are each waited for, and psycopg waits two seconds at least.

    Raises:
        NoAnswerError: there was none in time.
    """
    made: Future[PatientConnection] = Future()

    def make() -> None:
        try:
            connection = PatientConnection.connect(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            error.__traceback__ = None  # it keeps the password, and the socket of an attempt that was given up
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
