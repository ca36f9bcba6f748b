"""A server that is stopped goes on holding its sockets, and answers nothing: a call ends by the client's own clock."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from dpselect.accounting import PureEvent
from dpselect.errors import LedgerBusyError, LedgerUnavailableError
from dpselect.ledger import Ledger
from dpselect.ledger.postgres import PatientConnection
from tests.ledger.servers import settled, stopped
from tests.ledger.tampering import engine_of

HALF = PureEvent(epsilon=0.5)
WAIT = 1.0
NO_ANSWER = r"the server did not answer within the time to wait\. Nothing was written"
IN_DOUBT = r"while entry 2 of account 'clicks' was being recorded"


@pytest.fixture
def url(server_url: str) -> str:
    """Of a ledger with an account."""
    with Ledger(server_url, wait=60) as ledger:
        ledger.open_account("clicks", epsilon=1)
    return server_url


def ends_in_time(acts: list[Callable[[], object]], expected: str) -> None:
    """The machine may be busy at the wrong moment: what is late by itself is late each time."""
    took: list[float] = []
    for act in acts:
        start = monotonic()
        with pytest.raises(LedgerUnavailableError, match=expected):
            act()
        took.append(monotonic() - start)
        if took[-1] < WAIT + 1:
            break
    assert WAIT <= min(took) < WAIT + 1


def test_a_call_to_a_stopped_server_ends_in_time(postgres: sa.Engine, url: str) -> None:
    kept = [Ledger(url, wait=WAIT) for _ in range(6)]
    fresh = [Ledger(url, wait=WAIT) for _ in range(3)]
    for ledger in kept:
        ledger.charge("clicks", PureEvent(epsilon=2.0**-6))
    with stopped(postgres):
        ends_in_time([lambda ledger=ledger: ledger.charge("clicks", HALF) for ledger in kept[:3]], NO_ANSWER)
        ends_in_time([lambda ledger=ledger: ledger.remaining("clicks") for ledger in kept[3:]], NO_ANSWER)
        ends_in_time([lambda ledger=ledger: ledger.charge("clicks", HALF) for ledger in fresh], NO_ANSWER)
    for ledger in (*kept, *fresh):
        ledger.disconnect()
    settled(postgres, kept[0])
    assert kept[0].account("clicks").entries == 7
    for ledger in (*kept, *fresh):
        ledger.charge("clicks", PureEvent(epsilon=2.0**-6))  # and goes on
        ledger.disconnect()


def test_threads_that_meet_a_stopped_server_do_not_wait_in_turn(postgres: sa.Engine, url: str) -> None:
    failed: list[BaseException] = []

    def charge(ledger: Ledger) -> None:
        try:
            ledger.charge("clicks", HALF)
        except (LedgerUnavailableError, LedgerBusyError) as error:
            failed.append(error)

    with Ledger(url, wait=WAIT) as ledger, stopped(postgres):
        threads = [threading.Thread(target=charge, args=[ledger]) for _ in range(40)]
        start = monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = monotonic() - start
    assert len(failed) == 40
    assert took < 10 * WAIT  # one after the other they would take forty times as long


class Halt:
    """Stops the server just before a statement, or the commit, is sent; once, and until the block ends."""

    def __init__(self, server: sa.Engine, statement: str) -> None:
        self._server, self._statement = server, statement
        self._over, self._is_due = ExitStack(), True

    def __enter__(self) -> Halt:
        patch = self._over.enter_context(pytest.MonkeyPatch.context())
        execute, commit = psycopg.Cursor.execute, PatientConnection.commit

        def executed(cursor: Any, statement: Any, *given: Any, **named: Any) -> Any:
            if str(statement).startswith(self._statement):
                self._stop()
            return execute(cursor, statement, *given, **named)

        def committed(session: PatientConnection) -> None:
            if self._statement == "COMMIT":
                self._stop()
            commit(session)

        patch.setattr(psycopg.Cursor, "execute", executed)
        patch.setattr(PatientConnection, "commit", committed)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.close()

    def _stop(self) -> None:
        if self._is_due:
            self._is_due = False
            self._over.enter_context(stopped(self._server))


@pytest.mark.parametrize("statement", ['SELECT * FROM "ledger_', 'INSERT INTO "ledger_', "UPDATE"])
def test_a_server_stopped_before_the_commit_has_written_nothing(postgres: sa.Engine, url: str, statement: str) -> None:
    with Ledger(url, wait=WAIT) as ledger:
        ledger.charge("clicks", PureEvent(epsilon=0.125))
        with Halt(postgres, statement), pytest.raises(LedgerUnavailableError, match=NO_ANSWER):
            ledger.charge("clicks", HALF)
        settled(postgres, ledger)
        assert ledger.account("clicks").entries == 2


def test_a_server_stopped_at_the_commit_leaves_a_doubt_that_is_said(postgres: sa.Engine, url: str) -> None:
    with Ledger(url, wait=WAIT) as ledger:
        ledger.charge("clicks", PureEvent(epsilon=0.125))
        with Halt(postgres, "COMMIT"), pytest.raises(LedgerUnavailableError, match=IN_DOUBT):
            ledger.charge("clicks", HALF)
        settled(postgres, ledger)
        assert ledger.account("clicks").entries == 3  # the server had it in its hands, and found it when it went on
        assert ledger.charge("clicks", HALF).sequence == 2  # so it is used, and nothing more is charged
        assert ledger.verify()


def test_whoever_waits_for_a_lock_when_the_server_stops_has_waited_already(postgres: sa.Engine, url: str) -> None:
    """The time to wait is that of the call, not of each thing it waits for."""
    engine = engine_of(url)
    with Ledger(url, wait=WAIT) as ledger, engine.connect() as holder:
        ledger.look("clicks", [(HALF, None, "")])
        holder.exec_driver_sql("SELECT * FROM dpselect_accounts FOR UPDATE")
        with pytest.raises(LedgerBusyError, match="another process holds its lock"):
            ledger.charge("clicks", HALF)
        took: list[float] = []
        while not took or (len(took) < 3 and took[-1] >= WAIT + 1):
            with ExitStack() as over:
                timer = threading.Timer(0.6 * WAIT, lambda over=over: over.enter_context(stopped(postgres)))
                start = monotonic()
                timer.start()
                with pytest.raises((LedgerUnavailableError, LedgerBusyError)):
                    ledger.charge("clicks", HALF)
                took.append(monotonic() - start)
                timer.join()
        assert min(took) < WAIT + 1
    engine.dispose()


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be interrupted."""
    answered = threading.Event()

    def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
        answered.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with Ledger("postgresql://postgres@db.example/x", wait=WAIT) as ledger:
        ends_in_time([lambda: ledger.charge("clicks", HALF)] * 3, NO_ANSWER)
    answered.set()


def test_nothing_is_sent_after_the_time_is_over(url: str) -> None:
    """Who has not asked the server to commit by then knows that nothing was written, and so leaves it at that."""
    with Ledger(url, wait=WAIT) as ledger:
        ledger.look("clicks", [(HALF, None, "")])

        def write_late() -> None:
            with ledger._database.transaction(write=True) as connection:
                connection.execute("UPDATE dpselect_accounts SET state = ''")
                connection.raw.deadline = monotonic()

        with pytest.raises(LedgerUnavailableError, match=NO_ANSWER):
            write_late()
        assert ledger.remaining("clicks") == 1
