"""Real roles of a real server: who may charge cannot raise a limit, whatever SQL they write."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError, LedgerReadOnlyError
from tests.ledger.granted import EIGHTH, Granted
from tests.ledger.hashes import canonical
from tests.ledger.servers import scalar

NO_RIGHT = "this user of the server has no right to do that. Nothing was written"


def refused(act: Any, error: str = NO_RIGHT) -> None:
    with pytest.raises(LedgerReadOnlyError, match=error):
        act()


def test_each_role_may_do_what_it_is_for_and_nothing_else(granted: Granted) -> None:
    with granted.of("charge") as charger, granted.of("manage") as manager, granted.of("read") as reader:
        receipt = charger.charge("clicks", EIGHTH, request="first", question="pages")
        assert charger.store_release(receipt, "answer") == "answer"
        assert charger.look("clicks", [(EIGHTH, "first", "pages")]) != [None]
        refused(lambda: charger.set_limit("clicks", epsilon=2))
        refused(lambda: charger.set_limit("clicks", epsilon="0.5"))
        refused(lambda: charger.open_account("pets", epsilon=1))
        refused(lambda: charger.close("clicks"))
        manager.open_account("pets", epsilon=1)
        assert manager.set_limit("clicks", epsilon=2, reason="the board allowed it").epsilon == 2
        refused(lambda: manager.charge("clicks", EIGHTH))
        assert reader.verify() == manager.verify() == charger.verify()
        assert [entry.kind for entry in reader.history("clicks")] == ["open", "charge", "charge", "limit"]
        assert reader.history("clicks")[-1].note == "the board allowed it"
        refused(lambda: reader.charge("clicks", EIGHTH))
        refused(lambda: reader.set_limit("clicks", epsilon=2))
        refused(lambda: reader.open_account("mine", epsilon=1))
        manager.close("pets")
        assert granted.owner.account("clicks").spent == Fraction(1, 4)


def state_of(granted: Granted) -> dict[str, Any]:
    return json.loads(str(scalar(granted.urls["read"], "SELECT state FROM dpselect_accounts")))


def moved(granted: Granted, **changes: object) -> str:
    """SQL that sets the state of the account to what it is but for `changes`, as a next entry would."""
    state = state_of(granted)
    after = canonical({**state, "entries": state["entries"] + 1, **changes})
    return f"UPDATE dpselect_accounts SET state = $state${after}$state$"


def totals(granted: Granted) -> list[str]:
    return list(state_of(granted)["total"])


ENTRY = (
    "INSERT INTO dpselect_entries (account, sequence, body, hash)"
    " SELECT 1, 2, $body${}$body$, head FROM dpselect_accounts"
)


def test_sql_of_ones_own_raises_no_limit(granted: Granted) -> None:
    """First what the charger may write, so that it is the guard which refuses the rest."""
    pure, delta, renyi = totals(granted)
    granted.run("charge", moved(granted, total=["1/2", delta, renyi]))
    granted.owner._database.close()
    pure = "1/2"
    small = renyi.rpartition(" ")[0]
    less = small + " 0"
    for change in (
        {"epsilon": "2"},
        {"epsilon": "1/2"},
        {"open": False},
        {"entries": 2},
        {"entries": 7},
        {"entries": 4.0},
        {"unit": 3, "epsilon": "9"},
        *({"total": [each, delta, renyi]} for each in ("0", "1/4", "", "-1", "1/0", "+1", "1e3", "1_0", "NaN", None)),
        {"total": ["2/4", "-1", renyi]},
        *({"total": [pure, delta, each]} for each in ("", small, less, "NaN", renyi + " 1", f" {renyi}", None)),
        {"total": [pure, delta]},
        {"total": {}},
        {"total": None},
    ):
        with pytest.raises(sa.exc.ProgrammingError, match=r"never falls|may not change a limit"):
            granted.run("charge", moved(granted, **change))
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    for change in (
        {"more": 1},
        {"more": deep},
        {"unit": deep},
        {"unit": "x" * 1001},
        {"total": [pure, delta, renyi, "0"]},
        {"total": [f"{'9' * 4001}", delta, renyi]},
        {"total": [pure, delta, renyi.rpartition(" ")[0] + " " + "9" * 4001]},
    ):
        with pytest.raises(sa.exc.ProgrammingError, match="as the ledger writes it"):
            granted.run("charge", moved(granted, **change))
    for was, becomes in (("$state${", "$state$ {"), ("}$state$", "}\n$state$"), ('"1"', '"\\u0031"')):
        assert was in moved(granted)
        with pytest.raises(sa.exc.ProgrammingError, match="as the ledger writes it"):
            granted.run("charge", moved(granted).replace(was, becomes))
    twice = moved(granted).replace('"open":', '"epsilon": "7", "open":')
    assert twice != moved(granted)
    with pytest.raises(sa.exc.ProgrammingError, match="may not change a limit"):
        granted.run("charge", twice)
    for kind in ('{"kind":"limit","epsilon":"9"}', '{"kind":"open"}', '{"kind":"close"}', "{}", '{"kind":null}'):
        with pytest.raises(sa.exc.ProgrammingError, match="may not write entries of this kind"):
            granted.run("charge", ENTRY.format(kind))
    granted.run("charge", ENTRY.format('{"kind":"charge"}'))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dpselect_accounts SET terms = terms",
        "UPDATE dpselect_accounts SET name = 'mine'",
        "DELETE FROM dpselect_entries",
        "UPDATE dpselect_entries SET body = body",
        "INSERT INTO dpselect_entries (account, sequence, body, hash) VALUES (1, 0, '{\"kind\":\"charge\"}', '')"
        " ON CONFLICT (account, sequence) DO UPDATE SET body = '{}'",
        "TRUNCATE dpselect_entries CASCADE",
        "UPDATE dpselect_releases SET body = ''",
        "UPDATE dpselect_ledger SET version = 2",
        "INSERT INTO dpselect_ledger VALUES ('x', 1)",
        "INSERT INTO dpselect_accounts SELECT 2, 'mine', terms, state, head, seal FROM dpselect_accounts",
        "ALTER TABLE dpselect_accounts DISABLE TRIGGER ALL",
        "DROP TRIGGER dpselect_accounts_guard ON dpselect_accounts",
        "DROP TABLE dpselect_accounts CASCADE",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION dpselect_accounts_guard() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RETURN NEW; END'",
        "CREATE TABLE mine (x int)",
        "GRANT ALL ON dpselect_accounts TO CURRENT_USER; UPDATE dpselect_accounts SET terms = terms",
        "SET ROLE postgres",
    ],
)
def test_the_rest_is_refused_by_the_server(granted: Granted, statement: str) -> None:
    for may in ("charge", "read"):
        with pytest.raises(sa.exc.ProgrammingError, match=r"permission denied|must be (owner|member)"):
            granted.run(may, statement)


def test_names_of_ones_own_do_not_lead_the_guard_astray(granted: Granted, postgres: sa.Engine) -> None:
    """A charger who has a schema may put functions, operators and types there, and look them up first."""
    own = f"{granted.prefix}_own"
    with postgres.connect() as connection:
        connection.execute(sa.text(f'CREATE SCHEMA {own} AUTHORIZATION "{granted.prefix} charge %user%"'))
    lies = (
        f"CREATE FUNCTION {own}.has_table_privilege(oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        f"CREATE FUNCTION {own}.has_table_privilege(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        f"CREATE FUNCTION {own}.same(jsonb, jsonb) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        f"CREATE OPERATOR {own}.= (leftarg = jsonb, rightarg = jsonb, function = {own}.same)",
        f"SET search_path = {own}, pg_temp, {granted.schema}, pg_catalog",
    )
    with pytest.raises(sa.exc.ProgrammingError, match="may not change a limit"):
        granted.run("charge", *lies, moved(granted, epsilon="9"))
    with pytest.raises(sa.exc.ProgrammingError, match="entries of this kind"):
        granted.run("charge", *lies, ENTRY.format('{"kind":"limit"}'))


def test_nothing_spent_is_given_back_even_by_who_may_manage(granted: Granted) -> None:
    granted.run("manage", moved(granted, epsilon="9"))
    for may in ("manage", "charge"):
        with pytest.raises(sa.exc.ProgrammingError, match="never falls"):
            granted.run(may, moved(granted, total=["0", "0", totals(granted)[2]]))


def test_without_the_guards_the_same_statements_would_do_it(granted: Granted, postgres: sa.Engine) -> None:
    """The control: rights on columns alone would let a charger raise the limit."""
    with postgres.connect() as connection:
        for table in ("accounts", "entries"):
            connection.exec_driver_sql(f"DROP TRIGGER dpselect_{table}_guard ON {granted.schema}.dpselect_{table}")
    granted.run("charge", moved(granted, epsilon="9", total=["0", "0", totals(granted)[2]]))
    granted.run("charge", ENTRY.format('{"kind":"limit"}'))
    with pytest.raises(LedgerDamagedError), granted.of("read") as reader:
        reader.verify()
