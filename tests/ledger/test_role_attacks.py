"""What users of a server tried against their roles: names that the ledger would look up, rights from elsewhere."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError
from dpselect.ledger import Ledger
from tests.ledger.granted import EIGHTH, Granted, run_at
from tests.ledger.hashes import canonical
from tests.ledger.hashes import digest as hashed
from tests.ledger.servers import scalar
from tests.ledger.tampering import engine_of


def trojan(granted: Granted) -> tuple[str, ...]:
    """An operator that fits `name = $1::VARCHAR` exactly, and gives its maker a right when the owner comes by."""
    user = f'"{granted.prefix} charge %%user%%"'
    right = f"GRANT INSERT ON {granted.schema}.dpselect_accounts TO {user}"
    body = f"""BEGIN
      IF current_user = 'postgres' AND current_setting('transaction_read_only') = 'off' THEN
        EXECUTE $grant${right}$grant$;
      END IF;
      RETURN a OPERATOR(pg_catalog.=) b::text;
    END"""
    place = granted.schema
    return (
        f"CREATE FUNCTION {place}.same(a text, b varchar) RETURNS boolean LANGUAGE plpgsql AS $$ {body} $$",
        f"CREATE OPERATOR {place}.= (leftarg = text, rightarg = varchar, function = {place}.same)",
    )


def may_open(granted: Granted) -> object:
    question = f"SELECT has_table_privilege('{granted.schema}.dpselect_accounts', 'INSERT')"
    return scalar(granted.urls["charge"], question)


def test_no_operator_of_a_users_own_is_called_by_who_owns_the_ledger(
    granted: Granted, postgres: sa.Engine, server_url: str
) -> None:
    """On PostgreSQL 14 and before, everybody may create them in `public`, where a ledger lies unless told otherwise."""
    owner = granted.owner
    with postgres.connect() as connection:
        connection.exec_driver_sql(f"GRANT CREATE ON SCHEMA {granted.schema} TO PUBLIC")
    granted.run("charge", *trojan(granted))
    owner.charge("clicks", EIGHTH)
    assert may_open(granted) is False
    receipt = owner.charge("clicks", EIGHTH, request="first")
    owner.store_release(receipt, "answer")
    assert owner.charge("clicks", EIGHTH, request="first").release == "answer"
    owner.set_limit("clicks", epsilon=2)
    owner.open_account("pets", epsilon=1)
    owner.close("pets")
    assert len(owner.history("clicks")) == 5
    assert owner.verify()
    assert may_open(granted) is False
    run_at(server_url, "SELECT number FROM dpselect_accounts WHERE name = 'clicks'::varchar")
    assert may_open(granted) is True  # the same, looked up as anybody would


def test_a_lock_that_any_user_may_hold_stops_no_opening(granted: Granted) -> None:
    """Advisory locks need no right at all."""
    engine = engine_of(granted.urls["read"])
    with engine.connect() as holder, Ledger(granted.urls["manage"], wait=2) as manager:
        holder.exec_driver_sql("SELECT pg_advisory_lock(7234117045221903)")
        manager.open_account("pets", epsilon=1)
        manager.close("pets")
    engine.dispose()
    for may in ("charge", "read"):
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            granted.run(may, "SELECT id FROM dpselect_ledger FOR UPDATE")
    with pytest.raises(sa.exc.DBAPIError, match="never changed"):
        granted.run("manage", "UPDATE dpselect_ledger SET id = 'another'")


def entry_of(granted: Granted, sequence: int, head: str, **changes: object) -> tuple[str, str]:
    """A charge as it is in the ledger but for `changes`, and its hash."""
    known = "SELECT body FROM dpselect_entries WHERE account = 1 AND sequence = 1"
    body = canonical({**json.loads(str(scalar(granted.urls["read"], known))), "sequence": sequence, **changes})
    return body, hashed("entry", head, body)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [3, 999, -5])
def test_an_entry_that_the_account_does_not_count_answers_no_request(granted: Granted, number: int) -> None:
    with granted.of("charge") as charger:
        charger.store_release(charger.charge("clicks", EIGHTH, request="mon", question="pages"), "answer")
    known = "SELECT body FROM dpselect_entries WHERE account = 1 AND sequence = 2"
    asked = json.loads(str(scalar(granted.urls["read"], known)))["asked"]
    body, digest = entry_of(granted, number, "0" * 64, request="tue", asked=asked)
    granted.run(
        "charge",
        f"INSERT INTO dpselect_entries VALUES (1, {number}, 'tue', $body${body}$body$, '{digest}')",
        f"INSERT INTO dpselect_releases VALUES (1, {number}, 'forged', '{hashed('release', digest, 'forged')}')",
    )
    with granted.of("charge") as charger:
        assert charger.look("clicks", [(EIGHTH, "mon", "pages")]) != [None]
        assert charger.look("clicks", [(EIGHTH, "tue", "pages")]) == [None]
        if number == 3:  # it stands where the next charge has to
            with pytest.raises(LedgerDamagedError):
                charger.charge("clicks", EIGHTH, request="tue", question="pages")
        else:
            receipt = charger.charge("clicks", EIGHTH, request="tue", question="pages")
            assert (receipt.sequence, receipt.release) == (3, None)
        with pytest.raises(LedgerDamagedError):
            charger.verify()
