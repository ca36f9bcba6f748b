"""Ledgers with many entries: a request is found by its index, and nobody holds a whole history in memory."""

from __future__ import annotations

import json
import tracemalloc
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dpselect.accounting import PureEvent
from dpselect.cli import main
from dpselect.errors import InvalidParameterError
from dpselect.ledger import Account, Ledger
from dpselect.ledger.sqlite import Transaction
from tests.ledger.tampering import by_hand, engine_of

CHARGED = PureEvent(epsilon=2.0**-10)


def with_many(url: str, count: int) -> None:
    """So many entries after the first two: copies of the second, as nobody follows the chain here."""
    counted = f"WITH RECURSIVE more (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < {count - 1})"
    by_hand(
        url,
        "INSERT INTO dpselect_entries (account, sequence, request, body, hash)"
        f" {counted} SELECT 1, n, 'r' || n, body, hash FROM dpselect_entries, more WHERE sequence = 1",
        "ANALYZE dpselect_entries",
    )
    engine = engine_of(url)
    with engine.connect() as connection:
        row = connection.exec_driver_sql("SELECT terms, state, head FROM dpselect_accounts").one()
    engine.dispose()
    moved = replace(Account.of_texts(*row), entries=count).moving
    by_hand(url, f"UPDATE dpselect_accounts SET state = '{moved['state']}', seal = '{moved['seal']}'")


def test_a_request_is_found_by_its_index(ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the database says that it would do, of the very statements that look for a request: no clock."""
    ledger.open_account("clicks", epsilon=1)
    ledger.charge("clicks", CHARGED, request="r1")
    with_many(url, 20_000)
    if url.startswith("sqlite"):
        by_hand(url, "DROP TABLE sqlite_stat1")  # of its own accord it never counts rows
    run: list[tuple[str, Any]] = []
    execute = Transaction.execute

    def note(self: Transaction, text: str, **values: object) -> Any:
        run.append((text, values))
        return execute(self, text, **values)

    monkeypatch.setattr(Transaction, "execute", note)
    ledger.look("clicks", [(CHARGED, "r9999", "")])
    asked = [(text, values) for text, values in run if "request = " in text]
    assert asked
    engine = engine_of(url)
    with engine.connect() as connection:
        word = "EXPLAIN QUERY PLAN" if url.startswith("sqlite") else "EXPLAIN"
        plans = [
            " / ".join(str(row[-1]) for row in connection.exec_driver_sql(f"{word} {text}", values))
            for text, values in asked
        ]
    engine.dispose()
    for plan in plans:
        assert "dpselect_entries_request" in plan
        if url.startswith("sqlite"):
            assert "dpselect_entries_request (account=? AND request=? AND sequence>? AND sequence<?)" in plan
            assert "SCAN" not in plan
            assert "(account=?)" not in plan  # all entries of the account
            assert "(account=? AND sequence>" not in plan  # likewise
        else:
            assert "Seq Scan on dpselect_entries" not in plan
            assert plan.count("Index Cond: ((account = ") == plan.count("Index Cond")


def test_the_last_entries_alone(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    for number in range(4):
        ledger.charge("clicks", CHARGED, note=str(number))
    whole = ledger.history("clicks")
    assert list(ledger.entries("clicks")) == whole
    for last in (1, 2, 4, 5, 6, 10**30):
        assert ledger.history("clicks", last=last) == whole[-last:] == list(ledger.entries("clicks", last=last))
    for last in (0, -1, 1.0, True, "2"):
        with pytest.raises(InvalidParameterError, match="last="):
            ledger.history("clicks", last=last)  # type: ignore[arg-type]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
        ledger.charge("clicks", CHARGED)
    with_many(f"sqlite:///{path}", 6000)
    return path


@pytest.mark.slow
def test_a_long_history_takes_no_more_memory_than_a_short_one(long: Path) -> None:
    def peak(act: Callable[[], object]) -> int:
        tracemalloc.start()
        act()
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    with Ledger(long) as ledger:
        few = peak(lambda: deque(islice(ledger.entries("clicks"), 900), 0))
        assert peak(lambda: deque(ledger.entries("clicks"), 0)) < 3 * few
        assert peak(lambda: ledger.history("clicks")) > 3 * few  # a list: the law above can fail


def test_the_command_prints_a_history_in_pages(long: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*options: str) -> list[str]:
        assert main(["ledger", "history", str(long), "clicks", *options]) == 0
        return capsys.readouterr().out.splitlines()

    head = ["entry", "time", "kind", "what", "epsilon", "request", "note"]
    printed = told()
    assert [place for place, line in enumerate(printed) if line.split() == head] == list(range(0, 6006, 1001))
    lines = [line for line in printed if line.split() != head]
    assert [int(line.split()[0]) for line in lines] == list(range(6000))
    assert [json.loads(line)["sequence"] for line in told("--json")] == list(range(6000))
    assert main(["ledger", "history", str(long), "clicks", "--last", "0"]) == 2
    assert "--last=0: expected a whole number >= 1" in capsys.readouterr().err


def test_the_command_prints_the_last_entries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
        for number in range(3):
            ledger.charge("clicks", CHARGED, request=f"r{number}")
    assert main(["ledger", "history", str(path), "clicks", "--last", "2", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["request"] for line in lines] == ["r1", "r2"]
