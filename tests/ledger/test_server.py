"""A server that lets nobody in, is started anew, or keeps less safe than it should."""

from __future__ import annotations

import itertools
import socket
import warnings
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from dpselect.accounting import PureEvent
from dpselect.errors import (
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
)
from dpselect.ledger import Ledger
from dpselect.ledger import postgres as server
from dpselect.ledger.postgres import NoAnswerError, failed, refused
from dpselect.ledger.sqlite import Transaction

TENTH = PureEvent(epsilon=0.125)
NOTHING = "Nothing was written"


@pytest.mark.parametrize("committing", [False, True])
@pytest.mark.parametrize(
    ("state", "severity", "kind"),
    [
        ("53100", "ERROR", LedgerFullError),
        ("25006", "ERROR", LedgerReadOnlyError),
        ("42501", "ERROR", LedgerReadOnlyError),
        ("XX001", "ERROR", LedgerDamagedError),
        ("42P01", "ERROR", LedgerDamagedError),
        ("23505", "ERROR", LedgerDamagedError),
        ("40001", "ERROR", LedgerBusyError),
        ("55P03", "ERROR", LedgerBusyError),
        ("57014", "ERROR", LedgerBusyError),
        ("42883", "ERROR", LedgerUnavailableError),
        ("57P01", "FATAL", LedgerUnavailableError),
        ("08006", "FATAL", LedgerUnavailableError),
        ("XX000", "PANIC", LedgerUnavailableError),
        (None, None, LedgerUnavailableError),
    ],
)
def test_what_postgresql_reports_is_translated(
    state: str | None, severity: str | None, kind: type[LedgerError], committing: bool
) -> None:
    """An error is the server's word that it did not commit; whatever ends the connection is not."""
    driver = type("DriverError", (psycopg.OperationalError,), {"sqlstate": state, "diag": _Diagnosis(severity)})
    cause = driver("row of Zoe, aged 41")
    fault = failed(cause, "committing" if committing else "")
    error = fault.of("postgresql://host/x")
    assert type(error) is kind
    assert "Zoe" not in str(error)
    in_doubt = committing and severity != "ERROR"
    assert ("A charge may have been recorded; none was used." in str(error)) is in_doubt
    assert (NOTHING in str(error)) is not in_doubt


class _Diagnosis:
    def __init__(self, severity: str | None) -> None:
        self.severity_nonlocalized = severity


_AT = 'connection to server at "127.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("said", "kind", "expected"),
    [
        ('FATAL:  password authentication failed for user "zoe"', LedgerUnavailableError, "does not let this user in"),
        ('FATAL:  no pg_hba.conf entry for host "::1", user "zoe", database "x"', LedgerUnavailableError, "user in"),
        ('FATAL:  role "zoe" does not exist', LedgerUnavailableError, "does not let this user in"),
        ('FATAL:  permission denied for database "x"', LedgerUnavailableError, "does not let this user in"),
        ('FATAL:  database "x" does not exist', LedgerUnavailableError, "no such database"),
        ("FATAL:  no such database: x", LedgerUnavailableError, "no such database"),
        ("FATAL:  Datenbank »x« existiert nicht", LedgerUnavailableError, "cannot be reached, or lets nobody in"),
        ("FATAL:  sorry, too many clients already", LedgerBusyError, "as many connections as it allows"),
        ("FATAL:  remaining connection slots are reserved for roles", LedgerBusyError, "as many connections"),
        ('FATAL:  too many connections for database "x"', LedgerBusyError, "as many connections as it allows"),
        ("FATAL:  no more connections allowed (max_client_conn)", LedgerBusyError, "as many connections"),
        ("FATAL:  the database system is starting up", LedgerUnavailableError, "starting or stopping"),
        ("Connection refused", LedgerUnavailableError, "no server answers there"),
    ],
)
def test_who_is_not_let_in_is_told_why(said: str, kind: type[LedgerError], expected: str) -> None:
    error = refused(psycopg.OperationalError(_AT + said)).of("postgresql://host/x")
    assert type(error) is kind
    assert expected in str(error)
    assert NOTHING in str(error)
    assert "zoe" not in str(error)
    assert "did not answer" in str(refused(NoAnswerError(said)).of("postgresql://host/x"))


def test_each_way_to_no_ledger_has_its_own_error(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    for url, expected in {
        "postgresql://postgres@nosuch.example/x": "there is no such host",
        "postgresql://postgres@127.0.0.1:1/x": "no server answers there",
        server_url.replace("/postgres?", "/nosuch?"): "the server has no such database",
        server_url.replace("//postgres:", "//nosuch:"): "does not let this user in",
        f"{server_url}&sslmode=nonsense": "cannot be reached, or lets nobody in",
    }.items():
        with Ledger(url, wait=20) as ledger:
            for act in (lambda: ledger.charge("clicks", TENTH), ledger.accounts):
                with pytest.raises(LedgerUnavailableError, match=rf"{expected}.*{NOTHING}"):
                    act()


def test_room_for_a_connection_is_waited_for_as_for_a_lock(
    postgres: sa.Engine, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.connect() as connection:
        for statement in (
            "DROP ROLE IF EXISTS crowd",
            "CREATE ROLE crowd LOGIN CONNECTION LIMIT 0",
            f"GRANT ALL ON SCHEMA {server_url.partition('search_path%3D')[2]} TO crowd",
        ):
            connection.exec_driver_sql(statement)
    crowded = server_url.replace("//postgres:", "//crowd:")
    with Ledger(crowded, wait=0.3) as hasty:
        with pytest.raises(LedgerBusyError, match=rf"as many connections as it allows\. {NOTHING}"):
            hasty.open_account("clicks", epsilon=1)
        pauses = itertools.count()

        def pause(_: float) -> None:
            if next(pauses) == 2:
                with postgres.connect() as connection:
                    connection.exec_driver_sql("ALTER ROLE crowd CONNECTION LIMIT 9")

        monkeypatch.setattr(server, "sleep", pause)
        with Ledger(crowded, wait=60) as patient:
            assert patient.open_account("clicks", epsilon=1).left == 1
    with postgres.connect() as connection:
        connection.exec_driver_sql("DROP OWNED BY crowd")


def test_a_server_that_was_started_anew_between_two_charges_is_not_noticed(
    postgres: sa.Engine, server_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever kept a connection finds it closed. Nothing was sent through it yet, so another one serves."""
    with Ledger(server_url, wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
        for number in range(1, 4):
            with postgres.connect() as connection:
                connection.exec_driver_sql(
                    "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity"
                    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
            assert ledger.charge("clicks", TENTH).sequence == number
        assert ledger.verify()
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def terminate(server: sa.Engine, connection: Transaction) -> None:
    """End the session that `connection` is."""
    own = connection.scalar("SELECT pg_backend_pid()")
    with server.connect() as other:
        other.exec_driver_sql(f"SELECT pg_terminate_backend({own}, 20000)")


def test_a_connection_lost_before_the_commit_has_written_nothing(postgres: sa.Engine, server_url: str) -> None:
    def lose(ledger: Ledger) -> None:
        with ledger._database.transaction(write=True) as connection:
            connection.execute("UPDATE dpselect_accounts SET state = ''")
            terminate(postgres, connection)
            connection.execute("SELECT 1")

    with Ledger(server_url, wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
        with pytest.raises(LedgerUnavailableError, match=rf"the connection to the server broke\. {NOTHING}"):
            lose(ledger)
        assert ledger.charge("clicks", TENTH).sequence == 1


def test_a_refusal_is_told_although_its_connection_is_lost(postgres: sa.Engine, server_url: str) -> None:
    """What a caller raised, or had read, is not exchanged for a failure to let go of the transaction."""

    def refuse(ledger: Ledger, *, writes: bool) -> None:
        with ledger._database.transaction(write=writes) as connection:
            terminate(postgres, connection)
            raise KeyError("refused")

    with Ledger(server_url, wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
        for writes in (False, True):
            with pytest.raises(KeyError, match="refused"):
                refuse(ledger, writes=writes)
        with ledger._database.transaction() as connection:
            terminate(postgres, connection)
        assert ledger.remaining("clicks") == 1


def test_a_server_that_does_not_wait_for_its_disk_is_warned_of_once(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the tests has fsync off."""
    with Ledger(server_url, wait=20) as ledger:
        with pytest.warns(RuntimeWarning, match="its server has fsync off: a power cut can undo charges"):
            ledger.open_account("clicks", epsilon=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ledger.charge("clicks", TENTH)
    with Ledger(server_url, wait=20) as strict, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            strict.charge("clicks", TENTH)
        assert strict.charge("clicks", TENTH).sequence == 2  # whoever makes an error of it loses no connection
    monkeypatch.setattr(server, "_PIN", server._PIN.replace("pg_catalog.current_setting('fsync')", "'on'"))
    with Ledger(server_url, wait=20) as ledger, warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.charge("clicks", TENTH)


def test_the_search_path_says_where_each_table_is(postgres: sa.Engine, server_url: str) -> None:
    """The URL's or the role's, however the schemas are called; and a schema without them may come first."""
    first, odd = server_url.partition("search_path%3D")[2], 'Odd %s "name"'
    quoted = odd.replace('"', '""').replace("%", "%%")
    with postgres.connect() as connection:
        connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{quoted}" CASCADE; CREATE SCHEMA "{quoted}"')
        connection.exec_driver_sql("DROP ROLE IF EXISTS elsewhere; CREATE ROLE elsewhere SUPERUSER LOGIN")
        connection.exec_driver_sql(f'ALTER ROLE elsewhere SET search_path = "{quoted}", {first}')
    options = {"options": '-csearch_path="{}"'.format(odd.replace('"', '""').replace(" ", "\\ "))}
    there = sa.make_url(server_url).update_query_dict(options).render_as_string(hide_password=False).replace("+", "%20")
    both = f"postgresql://elsewhere@/postgres?host={postgres.url.query['host']}"
    with Ledger(server_url, wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
    with Ledger(both, wait=20) as ledger:
        ledger.charge("clicks", TENTH, request="first")
        assert ledger.verify()[0].entries == 2
    with Ledger(there, wait=20) as ledger:
        ledger.open_account("pets", epsilon=1)
        ledger.charge("pets", TENTH)
        assert [account.name for account in ledger.accounts()] == ["pets"]
    with postgres.connect() as connection:
        connection.exec_driver_sql(f'DROP SCHEMA "{quoted}" CASCADE; DROP ROLE elsewhere')
