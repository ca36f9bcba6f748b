"""A server that is down or drops the connection, of the table or of the ledger: what is charged, what a retry costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa

import dpselect as dps
from tests.attacks.test_messages import everything_said
from tests.rows import engines
from tests.rows.wire import Wire, wire_to
from tests.watched import before_drawing, forbid_reading

pytestmark = engines.deprecations
MANY = 60_000
SECRET = "SENTINEL"


@pytest.fixture(scope="module")
def table(postgres: sa.Engine) -> tuple[str, str]:
    rows = pa.table({"unit": [f"{SECRET}{i}" for i in range(MANY)], "value": np.arange(MANY) * 1.5})
    return engines.postgres_table(rows, postgres)


@pytest.fixture
def wire(postgres: sa.Engine) -> Iterator[Wire]:
    with wire_to(postgres) as line:
        yield line


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=10, unit="unit")
    return ledger


def median(data: dps.Dataset) -> dps.Release:
    return data.median("value", bounds=(0, 1.5 * MANY), continuous=True, epsilon=1.0, request="r")


def test_a_table_whose_server_drops_half_way_costs_nothing_until_it_answers(
    table: tuple[str, str], wire: Wire, ledger: dps.Ledger
) -> None:
    """Some of the values are here when the line is cut: about a third of half a megabyte."""
    people = dps.Dataset(wire.url, table=table[1], unit="unit", ledger=ledger, account="people")
    received = 0

    def cut(data: bytes) -> bool:
        nonlocal received
        received += len(data)
        return received > 200_000

    wire.answered = cut
    with pytest.raises(
        dps.errors.TableUnavailableError, match="the connection broke before the answer arrived"
    ) as caught:
        median(people)
    assert 200_000 < received < 400_000
    assert SECRET not in everything_said(caught.value)
    assert caught.value.__context__ is None
    assert ledger.account("people").entries == 1
    wire.answered, wire.is_down = None, True
    with pytest.raises(dps.errors.TableUnavailableError, match="the server cannot be reached"):
        median(people)
    assert ledger.account("people").entries == 1
    wire.is_down = False
    first = median(people)
    assert ledger.account("people").spent == 1.0
    wire.is_down = True
    assert median(people) == first  # stored: neither the table nor epsilon is needed
    assert ledger.account("people").spent == 1.0
    with pytest.raises(dps.errors.TableUnavailableError, match="the server cannot be reached"):
        dps.Dataset(wire.url, table=table[1], unit="unit")


class Cut:
    """Cuts where the transaction with `statement` is committed: before the server hears it, or its answer to it."""

    def __init__(self, wire: Wire, statement: bytes, *, is_heard: bool) -> None:
        self.statement, self.is_heard = statement, is_heard
        self.is_written = self.is_committed = self.is_over = False
        wire.sent, wire.answered = self.sent, self.answered

    def sent(self, data: bytes) -> bool:
        self.is_written |= self.statement in data
        self.is_committed |= self.is_written and b"COMMIT" in data
        return self.is_committed and not self.is_heard and self.over()

    def answered(self, data: bytes) -> bool:
        return self.is_committed and self.over()

    def over(self) -> bool:
        """Once only."""
        first, self.is_over = not self.is_over, True
        return first


CHARGE, STORE = b"INSERT INTO dpselect_entries", b"INSERT INTO dpselect_releases"


@pytest.mark.parametrize("statement", [CHARGE, STORE])
@pytest.mark.parametrize("is_heard", [False, True])
def test_a_ledger_whose_server_drops(
    postgres: sa.Engine, wire: Wire, monkeypatch: pytest.MonkeyPatch, statement: bytes, is_heard: bool
) -> None:
    """Whether the statement was carried out or not: one charge, one draw, and the answer."""
    name = f"{statement.split()[-1].decode()}_{is_heard}".lower()
    with postgres.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    options = f"options=-csearch_path%3D{name}"
    near = postgres.url.set(drivername="postgresql").render_as_string(hide_password=False)
    direct = dps.Ledger(f"{near}{'&' if '?' in near else '?'}{options}")
    direct.open_account("people", epsilon=10, unit="unit")
    frame = pa.table({"unit": [f"{SECRET}{i}" for i in range(9)], "value": [SECRET] * 9})
    draws: list[object] = []
    before_drawing(monkeypatch, lambda: draws.append("one more"))

    def ask() -> dps.Release:
        with dps.Ledger(f"{wire.url}?{options}", wait=5) as ledger:
            people = dps.Dataset(frame, unit="unit", ledger=ledger, account="people")
            return people.most_common("value", candidates=["a", "b"], epsilon=1.0, request="r")

    cut = Cut(wire, statement.replace(b"INTO ", f'INTO "{name}".'.encode()), is_heard=is_heard)
    answer = ask()
    assert cut.is_over
    assert (direct.account("people").spent, len(draws)) == (1, 1)
    assert ask() == answer
    assert (direct.account("people").spent, len(draws)) == (1, 1)
    assert direct.verify()
    direct.disconnect()


def test_a_ledger_whose_server_is_down_reads_nothing(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_reading(monkeypatch)
    wire.is_down = True
    frame: Any = pa.table({"unit": [1], "value": [1]})
    people = dps.Dataset(frame, unit="unit", ledger=dps.Ledger(wire.url, wait=5), account="people")
    with pytest.raises(dps.errors.LedgerUnavailableError):
        people.most_common("value", candidates=[1], epsilon=1.0)
