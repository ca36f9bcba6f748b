"""What fails between a charge and its answer: no answer is lost without a word, and nothing is paid for twice."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect.errors import SelectionError
from dpselect.ledger import database
from dpselect.mechanisms import PermuteAndFlip
from dpselect.release import Release
from tests.backends.tables import write_csv
from tests.ledger.broken_lines import Fault, faulty_connection, line_to

QUESTION = {"candidates": range(10_000), "epsilon": 0.01, "request": "november"}
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("table") / "t.csv", [b"1,2", b"2,2"], header=b"session,page\n")


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One for each draw: the law that a charge is drawn for at most once can be seen to fail."""
    drawn: list[object] = []
    select = PermuteAndFlip.select

    def counted(*given: object, **named: object) -> object:
        drawn.append(None)
        return select(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(PermuteAndFlip, "select", counted)
    return drawn


Ask = Callable[[], Release]


def asking(url: object, table: Path, *, wait: float) -> tuple[Ask, dps.Ledger]:
    ledger = dps.Ledger(url, wait=wait)  # type: ignore[arg-type]
    visits = dps.Dataset(table, unit="session", ledger=ledger, account="clicks")
    return lambda: visits.most_common("page", **QUESTION), ledger


def check_that_nothing_is_lost(ask: Ask, fault: Fault, truth: dps.Ledger, draws: list[object]) -> str:
    """Ask where something fails; and, when it does not any more, once more."""
    del draws[:]
    first = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            first, said = ask(), ""
        except SelectionError as error:
            said = str(error)
        fault.lift()
        told = " ".join([said, *(str(each.message) for each in warned)])
        assert "Zoe" not in told
        charged = [entry for entry in truth.history("clicks") if entry.kind == "charge"]
        if first is None and charged:
            assert f"entry {charged[0].sequence} of account 'clicks'" in said
            assert "Nothing was written" not in said
        second = ask()
    assert [entry.kind for entry in truth.history("clicks")] == ["open", "charge"]  # paid once
    assert len(draws) == 1
    assert first in (None, second)
    assert truth.verify()
    assert truth.history("clicks")[1].release == second.to_json()  # and stored after all
    return "error" if first is None else "warning" if warned else "answer"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("opened") / "budget.db"
    with dps.Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
    return path


CODES = {"locked": sqlite3.SQLITE_BUSY, "full": sqlite3.SQLITE_FULL, "broken": sqlite3.SQLITE_IOERR}


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("code", CODES)
def test_no_failure_of_a_disk_loses_an_answer(
    code: str,
    moment: str,
    lasting: bool,
    opened: Path,
    table: Path,
    draws: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes: list[str] = []
    for at in itertools.count():
        path = Path(shutil.copy(opened, tmp_path / f"{at}.db"))
        fault = Fault(at, moment, lasting)  # type: ignore[arg-type]
        ask, ledger = asking(path, table, wait=0.02)
        with monkeypatch.context() as patch, dps.Ledger(path) as truth, ledger:
            truth.account("clicks")  # by a connection that does not fail
            patch.setattr(database, "FileConnection", faulty_connection(fault, CODES[code]))
            outcomes.append(check_that_nothing_is_lost(ask, fault, truth, draws))
        if not fault.hit:
            break
    assert len(outcomes) > 20


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("moment", ["before", "amid", "after"])
def test_no_failure_of_a_network_loses_an_answer(
    moment: str, lasting: bool, postgres: sa.Engine, table: Path, draws: list[object]
) -> None:
    outcomes: list[str] = []
    for at in itertools.count():
        name = f"lost_{next(_NUMBERS)}"
        with postgres.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        server = postgres.url.update_query_dict({"options": f"-csearch_path={name}"})
        fault = Fault(at, moment, lasting)  # type: ignore[arg-type]
        with dps.Ledger(server) as truth, line_to(server, fault) as url:
            truth.open_account("clicks", epsilon=1)
            ask, ledger = asking(url, table, wait=0.1)
            with ledger:
                outcomes.append(check_that_nothing_is_lost(ask, fault, truth, draws))
        if not fault.hit:
            break
    assert len(outcomes) > 20
