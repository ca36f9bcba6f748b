"""Values of a wrong kind, put into a ledger by hand, are damage and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpselect.accounting.events import PureEvent
from dpselect.errors import LedgerDamagedError
from dpselect.ledger import Ledger
from tests.ledger.tampering import by_hand

TENTH = PureEvent(epsilon=0.125)
ACTS: dict[str, Callable[[Ledger], object]] = {
    "verify": lambda ledger: ledger.verify(),
    "history": lambda ledger: ledger.history("clicks"),
    "export": lambda ledger: list(ledger.export()),
    "find": lambda ledger: ledger.find("clicks", 1),
    "asked again": lambda ledger: ledger.charge("clicks", TENTH, request="november"),
    "looked at again": lambda ledger: ledger.look("clicks", TENTH, request="november"),
}
ACCOUNT_ACTS: dict[str, Callable[[Ledger], object]] = {
    **ACTS,
    "charge": lambda ledger: ledger.charge("clicks", TENTH),
    "remaining": lambda ledger: ledger.remaining("clicks"),
}
ENTRY = "UPDATE dpselect_entries SET {} WHERE sequence = 1"
RELEASE = "UPDATE dpselect_releases SET {}"
ENTRIES = [
    ENTRY.format("body = CAST(body AS BLOB)"),
    ENTRY.format("body = x'00ff'"),
    ENTRY.format("body = CAST(x'7bff7d' AS TEXT)"),
    ENTRY.format("hash = CAST(hash AS BLOB)"),
    RELEASE.format("body = CAST(body AS BLOB)"),
    RELEASE.format("body = CAST(x'c328' AS TEXT)"),
    RELEASE.format("hash = CAST(hash AS BLOB)"),
]
TEXTS = ["", "{}", "[]", "7", "null", '{"kind":"charge"}', "[" * 100_000, '{"kind":["charge"],"time":3}', "1e999"]
COLUMNS = ["name", "terms", "state", "head", "seal"]


@pytest.fixture
def damaged(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url) as ledger:
        ledger.open_account("clicks", epsilon=1)
        receipt = ledger.charge("clicks", TENTH, request="november")
        ledger.store_release(receipt, "answer")
    return url


@pytest.mark.parametrize("statement", ENTRIES)
@pytest.mark.parametrize("act", ACTS)
def test_what_is_no_text_is_named(damaged: str, statement: str, act: str) -> None:
    by_hand(damaged, statement)
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="entry 1 of account 'clicks'"):
        ACTS[act](ledger)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("act", ["verify", "history", "find", "asked again", "looked at again"])
def test_what_is_no_entry_is_named(damaged: str, text: str, act: str) -> None:
    by_hand(damaged, ENTRY.format(f"body = '{text}'"))
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="entry 1 of account 'clicks'"):
        ACTS[act](ledger)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("value", ["CAST({} AS BLOB)", "CAST(x'ff' AS TEXT)", "x''"])
@pytest.mark.parametrize("act", ACCOUNT_ACTS)
def test_an_account_that_is_no_text_is_damaged(damaged: str, column: str, value: str, act: str) -> None:
    by_hand(damaged, f"UPDATE dpselect_accounts SET {column} = {value.format(column)}")
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="account"):
        ACCOUNT_ACTS[act](ledger)


@pytest.mark.parametrize("version", ["'two'", "NULL", "x'02'"])
def test_a_version_that_is_no_number_is_damage(damaged: str, version: str) -> None:
    by_hand(
        damaged,
        "DROP TABLE dpselect_migrations",
        "CREATE TABLE dpselect_migrations (version, time TEXT)",
        f"INSERT INTO dpselect_migrations VALUES ({version}, '')",
    )
    with Ledger(damaged) as ledger:
        for act in (ledger.verify, lambda: ledger.charge("clicks", TENTH)):
            with pytest.raises(LedgerDamagedError, match="which version"):
                act()
