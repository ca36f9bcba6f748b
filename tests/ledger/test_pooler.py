"""A pooler gives each transaction any session of the server: what a ledger relies on is said in the transaction."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpselect.accounting import PureEvent
from dpselect.ledger import Ledger
from tests.forked import Forks
from tests.ledger import children
from tests.ledger.servers import PGBOUNCER, pooled, scalar
from tests.ledger.test_processes import receipts_in
from tests.rows.wire import wire_to

SMALL = PureEvent(epsilon=2.0**-9)


@pytest.fixture
def pooler(postgres: sa.Engine) -> Iterator[str]:
    with postgres.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS pooled")
        connection.exec_driver_sql("CREATE DATABASE pooled")
    with tempfile.TemporaryDirectory(prefix="dpselect-pooler-") as folder:
        os.chmod(folder, 0o755)
        with pooled(postgres, Path(folder), "pooled") as url:
            yield url


@pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is no Python package: apt-get install pgbouncer")
@pytest.mark.parametrize("isolation", ["read committed", "serializable"])
def test_of_32_writers_behind_a_pooler_each_charges_and_none_too_much(
    postgres: sa.Engine, pooler: str, isolation: str, forks: Forks
) -> None:
    with postgres.connect() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE pooled SET default_transaction_isolation = '{isolation}'")
    with Ledger(pooler, wait=60) as ledger:
        ledger.open_account("clicks", epsilon=1)
        receipts = receipts_in(forks.run(children.race, pooler, 32, SMALL.epsilon))
        # a child that meets any other error fails the command
        assert sorted(sequence for sequence, _ in receipts) == list(range(1, 513))
        account = ledger.account("clicks")
        assert (account.spent, account.left, account.entries) == (1, 0.0, 513)
        assert ledger.verify()


def test_nothing_is_left_in_a_session(postgres: sa.Engine, server_url: str) -> None:
    """Neither prepared statements nor settings nor locks, whoever gets the session next."""
    said = bytearray()
    with wire_to(postgres) as line:

        def hear(data: bytes) -> bool:
            said.extend(data)
            return False

        line.sent = hear
        options = server_url.partition("options=")[2]
        with Ledger(f"{line.url}?options={options}", wait=20) as ledger:
            ledger.open_account("clicks", epsilon=1)
            for number in range(10):
                receipt = ledger.charge("clicks", SMALL, request=f"r{number}")
                ledger.store_release(receipt, "answer")
            assert len(ledger.history("clicks")) == 11
            assert ledger.verify()
    sent = re.sub(rb'"LEDGER_[0-9]+"\.', b"", bytes(said).upper())
    assert sent.count(b"INSERT INTO DPSELECT_ENTRIES") == 11
    for stateful in (b"_PG3_", b"DEALLOCATE", b"SET ", b"LISTEN", b"PG_ADVISORY_LOCK", b"TEMP TABLE", b"DECLARE "):
        place = sent.replace(b"UPDATE DPSELECT_ACCOUNTS SET ", b"").find(stateful)
        assert place < 0, sent[max(0, place - 60) : place + 60]
    assert sent.count(b"SELECT PG_CATALOG.CURRENT_SETTING('FSYNC')") >= 22  # made in each transaction, for itself


def test_settings_reach_nobody_else_who_gets_the_session(server_url: str) -> None:
    with Ledger(server_url, wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
        ledger.charge("clicks", SMALL)
        session = ledger._database._connected()
        with session:  # as a pooler hands it on
            for name in ("lock_timeout", "statement_timeout"):
                assert session.execute(f"SHOW {name}".encode()).fetchone() == ("0",)


HOSTILE = {
    "default_transaction_isolation": "serializable",
    "synchronous_commit": "off",
    "client_encoding": "latin1",
    "lock_timeout": "1ms",
    "statement_timeout": "10s",
}


def test_no_setting_of_a_role_reaches_a_transaction(
    postgres: sa.Engine, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "latin1")
    with postgres.connect() as connection:
        connection.exec_driver_sql("DROP ROLE IF EXISTS strange")
        connection.exec_driver_sql("CREATE ROLE strange SUPERUSER LOGIN")
        for name, value in HOSTILE.items():
            connection.exec_driver_sql(f"ALTER ROLE strange SET {name} = '{value}'")
    url = server_url.replace("postgresql://postgres", "postgresql://strange", 1) + "&client_encoding=latin1"
    assert scalar(url, "SHOW transaction_isolation") == "serializable"
    with Ledger(url, wait=20) as ledger:
        ledger.open_account("\u6f22\u5b57", epsilon=1)  # of no Latin alphabet
        for isolation, write in (("read committed", True), ("repeatable read", False)):
            with ledger._database.transaction(write=write) as connection:
                shown = {
                    name: connection.scalar(f"SHOW {name}")
                    for name in ("transaction_isolation", "statement_timeout", "synchronous_commit", "client_encoding")
                }
                lock = connection.scalar("SELECT CAST(setting AS int) FROM pg_settings WHERE name = 'lock_timeout'")
            assert shown == {
                "transaction_isolation": isolation,
                "statement_timeout": "20500ms",
                "synchronous_commit": "on",
                "client_encoding": "UTF8",
            }
            assert 0 < lock <= 20_000
            assert lock != 1
        assert ledger.account("\u6f22\u5b57").left == 1


def test_a_standby_that_must_have_applied_a_commit_still_must(server_url: str) -> None:
    with Ledger(server_url.replace("options=", "options=-csynchronous_commit%3Dremote_apply%20"), wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
        with ledger._database.transaction(write=True) as connection:
            assert connection.scalar("SHOW synchronous_commit") == "remote_apply"


def test_a_serializable_server_makes_nobody_busy(server_url: str, forks: Forks) -> None:
    """Under that isolation each writer but one would have to give up; so would whoever opens an account."""
    url = server_url.replace("options=", "options=-cdefault_transaction_isolation%3Dserializable%20")
    with Ledger(url, wait=60) as ledger:
        ledger.open_account("clicks", epsilon=1)
        receipts = receipts_in(forks.run(children.race, url, 8, 2.0**-6))
        assert sorted(sequence for sequence, _ in receipts) == list(range(1, 65))
        assert ledger.verify()
