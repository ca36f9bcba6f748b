"""Values of a wrong kind, put into a ledger by hand, are damage and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import LedgerDamagedError
from dpselect.ledger import Ledger
from tests.ledger.hashes import canonical, digest
from tests.ledger.tampering import by_hand, engine_of

TENTH = PureEvent(epsilon=0.125)
ACTS: dict[str, Callable[[Ledger], object]] = {
    "verify": lambda ledger: ledger.verify(),
    "history": lambda ledger: ledger.history("clicks"),
    "find": lambda ledger: ledger.find("clicks", 1),
    "asked again": lambda ledger: ledger.charge("clicks", TENTH, request="november"),
    "looked at again": lambda ledger: ledger.look("clicks", [(TENTH, "november", "")]),
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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
        receipt = ledger.charge("clicks", TENTH, request="november")
        ledger.store_release(receipt, "answer")
    return path


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> str:
    """A copy for each test to damage."""
    shutil.copy(whole, tmp_path)
    return f"sqlite:///{tmp_path}/budget.db"


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


@pytest.mark.parametrize("place", ["dpselect_ledger SET id", "dpselect_accounts SET name"])
@pytest.mark.parametrize("act", ["accounts", "open", *ACCOUNT_ACTS])
def test_an_id_or_a_name_in_another_encoding_is_damage(damaged: str, place: str, act: str) -> None:
    """No budget is opened anew beside a name that cannot be read, and nothing is charged."""
    more: dict[str, Callable[[Ledger], object]] = {
        "accounts": lambda ledger: ledger.accounts(),
        "open": lambda ledger: ledger.open_account("clicks", epsilon=1),
    }
    by_hand(damaged, f"UPDATE {place} = CAST(x'ff' AS TEXT)")
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError):
        (ACCOUNT_ACTS | more)[act](ledger)


HOSTILE = ["1e99999999", "1e-99999999", "9" * 5000, "1/0", "0.5", "inf", " 1", "1_0"]


@pytest.mark.parametrize("number", HOSTILE)
@pytest.mark.parametrize("act", ["history", "verify"])
def test_a_limit_that_no_ledger_writes_is_damage_at_once(damaged: str, number: str, act: str) -> None:
    with Ledger(damaged) as ledger:
        ledger.set_limit("clicks", epsilon=2)
        by_hand(damaged, f"""UPDATE dpselect_entries SET body = replace(body, '"2"', '"{number}"')""")
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="entry 2 of account 'clicks'"):
        ACTS[act](ledger)


def sealed_anew(url: str, column: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what an account's row says of itself, and fit its seal."""
    engine = engine_of(url)
    with engine.connect() as connection:
        row = dict(connection.exec_driver_sql("SELECT * FROM dpselect_accounts").mappings().one())
    engine.dispose()
    held = json.loads(row[column])
    change(held)
    row[column] = canonical(held)
    seal = digest("account", str(row["number"]), row["name"], row["terms"], row["state"], row["head"])
    by_hand(url, f"UPDATE dpselect_accounts SET {column} = '{row[column]}', seal = '{seal}'")


@pytest.mark.parametrize("column", ["state", "terms"])
def test_what_is_sealed_anew_without_a_change_is_sound(damaged: str, column: str) -> None:
    """Control of the tests below: what they change is the damage, and not the seal."""
    sealed_anew(damaged, column, lambda held: None)
    with Ledger(damaged) as ledger:
        assert ledger.charge("clicks", TENTH).sequence == 2
        assert ledger.verify()


@pytest.mark.parametrize("act", ACCOUNT_ACTS)
def test_an_account_that_counts_no_opening_is_damage(damaged: str, act: str) -> None:
    sealed_anew(damaged, "state", lambda held: held.update(entries=0))
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="account 'clicks'"):
        ACCOUNT_ACTS[act](ledger)


@pytest.mark.parametrize("number", HOSTILE)
@pytest.mark.parametrize("place", ["epsilon", "total"])
@pytest.mark.parametrize("act", ["remaining", "charge", "verify"])
def test_a_state_with_no_number_is_damage_at_once(damaged: str, number: str, place: str, act: str) -> None:
    value = number if place == "epsilon" else [number, "0", ""]
    sealed_anew(damaged, "state", lambda state: state.update({place: value}))
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="account 'clicks'"):
        ACCOUNT_ACTS[act](ledger)


@pytest.mark.parametrize("change", [{"entries": "2"}, {"entries": 2.0}, {"open": 1}, {"unit": 5}])
def test_a_state_of_other_types_is_damage(damaged: str, change: dict[str, Any]) -> None:
    sealed_anew(damaged, "state", lambda state: state.update(change))
    with Ledger(damaged) as ledger, pytest.raises(LedgerDamagedError, match="account 'clicks'"):
        ledger.charge("clicks", TENTH)


TERMS = [
    {"delta": "1"},
    {"delta": "-1/10"},
    {"delta": "1e-99999999"},
    {"set_aside": "1/2"},
    {"set_aside": "-1/1000000"},
    {"set_aside": "1/1000000"},
    {"orders": [["21.5", "9/10"], ["3.5", "2/10"]]},
    {"orders": [["21.5", "11/10"], ["3.5", "-1/10"]]},
    {"orders": [["21.5", "0"]]},
    {"orders": [["1.0", "1"]]},
    {"orders": [["inf", "1"]]},
    {"orders": [["nan", "1"]]},
    {"name": 5},
]


@pytest.fixture(scope="module")
def whole_with_delta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1, delta="0.000001")
    return path


@pytest.mark.parametrize("change", TERMS)
@pytest.mark.parametrize("act", ["remaining", "charge", "verify"])
def test_terms_that_prove_nothing_are_damage(
    whole_with_delta: Path, tmp_path: Path, change: dict[str, Any], act: str
) -> None:
    shutil.copy(whole_with_delta, tmp_path)
    url = f"sqlite:///{tmp_path}/budget.db"
    orders = change.get("orders")
    sealed_anew(url, "terms", lambda terms: terms.update(change))
    if orders:
        sealed_anew(url, "state", lambda state: state.update(total=["0", "0", " ".join("0" for _ in orders)]))
    with Ledger(url) as ledger, pytest.raises(LedgerDamagedError, match="what account 'clicks' says of itself"):
        ACCOUNT_ACTS[act](ledger)


@pytest.mark.parametrize("version", ["'two'", "NULL", "x'02'"])
def test_a_version_that_is_no_number_is_damage(damaged: str, version: str) -> None:
    by_hand(
        damaged,
        "DROP TABLE dpselect_ledger",
        "CREATE TABLE dpselect_ledger (id TEXT, version)",
        f"INSERT INTO dpselect_ledger VALUES ('{'0' * 32}', {version})",
    )
    with Ledger(damaged) as ledger:
        for act in (ledger.verify, lambda: ledger.charge("clicks", TENTH)):
            with pytest.raises(LedgerDamagedError, match="which version"):
                act()
