"""Whatever is changed by hand is found, and said to be where it is."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from dpselect.accounting import PrivateCandidatesEvent, PureEvent
from dpselect.accounting.codec import from_json, to_json
from dpselect.accounting.filter import cost_of
from dpselect.cli import main
from dpselect.errors import LedgerDamagedError, LedgerError
from dpselect.ledger import Ledger
from tests.ledger.hashes import canonical, digest
from tests.ledger.tampering import by_hand, engine_of

TENTH = PureEvent(epsilon=0.125)


@pytest.fixture
def used(ledger: Ledger, url: str) -> str:
    """A ledger with an account of six entries, the fourth of them with a stored release, and another account."""
    ledger.open_account("clicks", epsilon=1)
    for number in range(5):
        receipt = ledger.charge("clicks", TENTH, request=f"r{number}")
        if number == 2:
            ledger.store_release(receipt, "answer")
    ledger.open_account("other", epsilon=1, delta=1e-6)
    ledger.charge("other", TENTH)
    ledger.disconnect()
    return url


TAMPERED = {
    "a charge made smaller": (
        "UPDATE dpselect_entries SET body = replace(body, '0.125', '0.0125') WHERE account = 1 AND sequence = 2",
        "entry 2 of account 'clicks' was changed",
    ),
    "a time moved": (
        'UPDATE dpselect_entries SET body = replace(body, \'"time":"2\', \'"time":"1\') WHERE account=1 AND sequence=1',
        "entry 1 of account 'clicks' was changed",
    ),
    "a hash changed": (
        "UPDATE dpselect_entries SET hash = replace(hash, substr(hash, 1, 8), 'deadbeef') WHERE sequence = 4",
        "entry 4 of account 'clicks' was changed",
    ),
    "an entry taken out": (
        "DELETE FROM dpselect_entries WHERE account = 1 AND sequence = 2",
        "entry 2 of account 'clicks' is missing",
    ),
    "the last entry cut off": (
        "DELETE FROM dpselect_entries WHERE account = 1 AND sequence = 5",
        "entry 5 of account 'clicks' is missing",
    ),
    "the opening taken out": (
        "DELETE FROM dpselect_entries WHERE account = 1 AND sequence = 0",
        "entry 0 of account 'clicks' is missing",
    ),
    "two entries swapped": (
        "UPDATE dpselect_entries SET sequence = CASE sequence WHEN 1 THEN 102 ELSE 101 END"
        " WHERE account = 1 AND sequence IN (1, 2);"
        "UPDATE dpselect_entries SET sequence = sequence - 100 WHERE sequence > 100",
        "entry 1 of account 'clicks' was changed",
    ),
    "an entry of another account put at the end": (
        "INSERT INTO dpselect_entries SELECT 1, 6, request, body, hash FROM dpselect_entries"
        " WHERE account = 2 AND sequence = 1",
        "account 'clicks' has an entry 6",
    ),
    "a request id moved": (
        "UPDATE dpselect_entries SET request = 'r9' WHERE account = 1 AND sequence = 3",
        "entry 3 of account 'clicks' belongs elsewhere",
    ),
    "a stored release changed": (
        "UPDATE dpselect_releases SET body = 'better'",
        "entry 3 of account 'clicks' has another release",
    ),
    "an account that says it has spent nothing": (
        "UPDATE dpselect_accounts SET state = replace(state, '5/8', '0') WHERE number = 1",
        "what account 'clicks' says of itself",
    ),
    "a limit raised in silence": (
        'UPDATE dpselect_accounts SET state = replace(state, \'"epsilon":"1"\', \'"epsilon":"9"\') WHERE number = 1',
        "what account 'clicks' says of itself",
    ),
    "terms that protect against less": (
        "UPDATE dpselect_accounts SET terms = replace(terms, 'add_remove', 'replace_one') WHERE number = 1",
        "what account 'clicks' says of itself",
    ),
    "the last account taken out, its entries left": (
        "DELETE FROM dpselect_accounts WHERE number = 2",
        "an account is missing: its entries are there",
    ),
    "all accounts taken out": ("DELETE FROM dpselect_accounts", "an account is missing: its entries are there"),
    "everything taken out": (
        "DELETE FROM dpselect_releases; DELETE FROM dpselect_entries; DELETE FROM dpselect_accounts",
        "there is no account in it",
    ),
    "an entry before the first": (
        "INSERT INTO dpselect_entries SELECT 1, -1, request, body, hash FROM dpselect_entries"
        " WHERE account = 1 AND sequence = 1",
        "account 'clicks' has an entry -1",
    ),
    "an entry far behind the last": (
        "INSERT INTO dpselect_entries SELECT 1, 4000, request, body, hash FROM dpselect_entries"
        " WHERE account = 1 AND sequence = 1",
        "account 'clicks' has an entry 4000",
    ),
    "a release of no charge": (
        "INSERT INTO dpselect_releases SELECT 1, 99, body, hash FROM dpselect_releases",
        "an entry is missing: the release stored for it is there",
    ),
    "an account taken out": (
        "DELETE FROM dpselect_entries WHERE account = 1; DELETE FROM dpselect_releases WHERE account = 1;"
        "DELETE FROM dpselect_accounts WHERE number = 1",
        "an account is missing",
    ),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_changed_by_hand_is_found(used: str, what: str) -> None:
    statements, text = TAMPERED[what]
    with Ledger(used) as ledger:
        assert [each.entries for each in ledger.verify()] == [6, 2]
    by_hand(used, *statements.split(";"))
    with Ledger(used) as ledger, pytest.raises(LedgerDamagedError, match=text):
        ledger.verify()


def test_an_empty_ledger_is_no_success_on_the_command_line(used: str, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand(used, *TAMPERED["everything taken out"][0].split(";"))
    for options in ([], ["--json"]):
        assert main(["ledger", "verify", used, *options]) != 0
        out, err = capsys.readouterr()
        assert not out
        assert "there is no account in it, and so nothing to verify" in err


def test_an_account_changed_by_hand_takes_no_charge(used: str) -> None:
    by_hand(used, TAMPERED["an account that says it has spent nothing"][0])
    with Ledger(used) as ledger:
        for act in (lambda: ledger.charge("clicks", TENTH), lambda: ledger.remaining("clicks")):
            with pytest.raises(LedgerDamagedError, match="says of itself"):
                act()
        ledger.charge("other", TENTH)


def test_the_database_itself_refuses_to_delete_an_account(used: str) -> None:
    with pytest.raises(sa.exc.DBAPIError, match="never deleted"):
        by_hand(used, "DELETE FROM dpselect_accounts WHERE number = 2", guarded=True)
    with Ledger(used) as ledger:
        assert len(ledger.verify()) == 2


def test_the_database_checks_what_rows_point_to(used: str) -> None:
    with Ledger(used) as ledger, pytest.raises(LedgerDamagedError), ledger._database.transaction(write=True) as held:
        held.insert("dpselect_releases", account=1, sequence=77, body="x", hash="y")


def test_an_entry_put_in_the_way_of_the_next_is_no_failure_of_the_disk(used: str) -> None:
    planted = "INSERT INTO dpselect_entries VALUES (1, 6, NULL, '{}', 'hash')"
    by_hand(used, planted)
    with Ledger(used) as ledger, pytest.raises(LedgerDamagedError, match=r"not those of a ledger|as written"):
        ledger.charge("clicks", TENTH)


@pytest.mark.parametrize("table", ["entries", "releases"])
@pytest.mark.parametrize("act", ["DELETE FROM dpselect_{}", "UPDATE dpselect_{} SET hash = ''"])
def test_the_database_itself_refuses_an_accident(used: str, table: str, act: str) -> None:
    with pytest.raises(sa.exc.DBAPIError, match="never changed"):
        by_hand(used, act.format(table), guarded=True)
    with Ledger(used) as ledger:
        assert len(ledger.verify()) == 2


def rewritten(url: str, **changes: object) -> None:
    """What somebody with the whole database at hand can do: every hash and the seal made to fit, from entry 2 on."""
    engine = engine_of(url)
    rows = []
    with engine.connect() as connection:
        account = connection.exec_driver_sql("SELECT * FROM dpselect_accounts WHERE number = 1").mappings().one()
        found = connection.exec_driver_sql("SELECT * FROM dpselect_entries WHERE account = 1 ORDER BY sequence")
        head = "0" * 64
        for row in found.mappings().all():
            body = json.loads(row["body"])
            if row["sequence"] == 2:
                body |= changes
            head = digest("entry", head, canonical(body))
            rows.append((canonical(body), head, row["sequence"]))
    seal = digest("account", "1", account["name"], account["terms"], account["state"], head)
    engine.dispose()
    statements = [
        f"UPDATE dpselect_entries SET body = '{body}', hash = '{new}' WHERE account = 1 AND sequence = {sequence}"
        for body, new, sequence in rows
    ]
    by_hand(
        url,
        "DELETE FROM dpselect_releases",
        *statements,
        f"UPDATE dpselect_accounts SET head = '{head}', seal = '{seal}' WHERE number = 1",
    )


SMALLER = PureEvent(epsilon=0.0625)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"event": to_json(SMALLER)}, "costs less than its event"),
        ({"event": to_json(SMALLER), "cost": cost_of(SMALLER, ()).to_list()}, "does not follow"),
        ({"event": to_json(PureEvent(epsilon=2)), "cost": cost_of(PureEvent(epsilon=2), ()).to_list()}, "passes"),
        ({"event": "[]"}, "cannot be read"),
        ({"kind": "gift"}, "is of an unknown kind"),
        ({"kind": "close"}, "comes after the account was closed"),
        ({"kind": "limit", "epsilon": "1/16"}, "sets a limit below"),
    ],
)
def test_hashes_that_fit_are_not_believed_alone(used: str, changes: dict[str, object], text: str) -> None:
    rewritten(used, **changes)
    with Ledger(used) as ledger, pytest.raises(LedgerError, match=text):
        ledger.verify()


def test_only_a_receipt_kept_elsewhere_shows_a_chain_written_anew(used: str) -> None:
    """The limit of what a ledger can find in itself, and the way out."""
    with Ledger(used) as ledger:
        before = ledger.find("clicks", 2)
    rewritten(used, note="never happened so")
    with Ledger(used) as ledger:
        assert ledger.verify()
        after = ledger.find("clicks", 2)
    assert before is not None and after is not None  # noqa: PT018
    assert before.hash != after.hash


def test_every_entry_can_be_read_back_as_its_event(used: str) -> None:
    with Ledger(used) as ledger:
        events = [from_json(entry.body["event"]) for entry in ledger.history("clicks") if entry.kind == "charge"]
    assert events == [TENTH] * 5


def test_another_machine_s_logarithms_are_no_damage(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may differ in their last digit, and with them the epsilon of the best of several runs."""
    event = PrivateCandidatesEvent(epsilon=0.1, eta=1.0, gamma=0.25)
    ledger.open_account("clicks", epsilon=1)
    ledger.charge("clicks", event)
    for factor, is_sound in ((1.0 + 2.0**-50, True), (1.0 - 2.0**-50, True), (1.0 + 2.0**-30, False)):
        cost_of.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(PrivateCandidatesEvent, "epsilon", event.epsilon * factor)
            if is_sound:
                assert ledger.verify()[0].entries == 2
            else:
                with pytest.raises(LedgerDamagedError, match="costs less than its event"):
                    ledger.verify()
    cost_of.cache_clear()
