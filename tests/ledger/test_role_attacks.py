"""What users of a server tried against their roles: names that the ledger would look up, rights from elsewhere."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from dpselect.errors import InvalidParameterError, LedgerDamagedError
from dpselect.ledger import Ledger
from dpselect.ledger.chain import canonical, entry_hash, release_hash
from tests.ledger.granted import EIGHTH, Granted, run_at
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
    return body, entry_hash(head, body)


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
        f"INSERT INTO dpselect_releases VALUES (1, {number}, 'forged', '{release_hash(digest, 'forged')}')",
    )
    with granted.of("charge") as charger:
        assert charger.look("clicks", EIGHTH, request="mon", question="pages") is not None
        assert charger.look("clicks", EIGHTH, request="tue", question="pages") is None
        if number == 3:  # it stands where the next charge has to
            with pytest.raises(LedgerDamagedError):
                charger.charge("clicks", EIGHTH, request="tue", question="pages")
        else:
            receipt = charger.charge("clicks", EIGHTH, request="tue", question="pages")
            assert (receipt.sequence, receipt.release) == (3, None)
        with pytest.raises(LedgerDamagedError):
            charger.verify()


POWERS = (
    "GRANT UPDATE (terms) ON {place}.dpselect_accounts TO {user}",
    "GRANT INSERT (name) ON {place}.dpselect_accounts TO {user}",
    "GRANT UPDATE (body) ON {place}.dpselect_entries TO {user}",
    "GRANT UPDATE (hash) ON {place}.dpselect_releases TO {user}",
    "GRANT UPDATE (id) ON {place}.dpselect_ledger TO {user}",
    "GRANT INSERT (id) ON {place}.dpselect_ledger TO {user}",
    "GRANT INSERT (version) ON {place}.dpselect_migrations TO {user}",
    "GRANT UPDATE (time) ON {place}.dpselect_migrations TO {user}",
    "GRANT DELETE ON {place}.dpselect_entries TO {user}",
    "GRANT REFERENCES (number) ON {place}.dpselect_accounts TO {user}",
    "GRANT TRIGGER ON {place}.dpselect_accounts TO {user}",
    "GRANT CREATE ON SCHEMA {place} TO {user}",
)
OF_ONE = (
    "GRANT SET ON PARAMETER session_replication_role TO {user}",
    "GRANT ALTER SYSTEM ON PARAMETER search_path TO {user}",
    "GRANT pg_execute_server_program TO {user}",
    "GRANT pg_write_server_files TO {user}",
    "GRANT pg_read_server_files TO {user}",
    "GRANT pg_write_all_data TO {user}",
    "ALTER ROLE {user} NOINHERIT; GRANT pg_write_all_data TO {user}",
    "ALTER ROLE {user} REPLICATION",
    "ALTER SCHEMA {place} OWNER TO {user}",
    "GRANT {prefix}_manage TO {user} WITH ADMIN OPTION",
    "CREATE ROLE {user}_group; GRANT UPDATE (terms) ON {place}.dpselect_accounts TO {user}_group;"
    " ALTER ROLE {user} NOINHERIT; GRANT {user}_group TO {user}",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("power", "has_all"), [*((each, True) for each in POWERS), *((each, False) for each in POWERS + OF_ONE)]
)
def test_rights_from_elsewhere_are_found(granted: Granted, postgres: sa.Engine, power: str, has_all: bool) -> None:
    user = f"{granted.prefix}_other"
    words = {"place": granted.schema, "user": "PUBLIC" if has_all else user, "prefix": granted.prefix}
    with postgres.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {user} LOGIN")
        granted.owner.grant(charge=[user], roles=granted.prefix)
        connection.exec_driver_sql(power.format(**words))
    try:
        with pytest.raises(
            InvalidParameterError, match=r"users whose rights their roles can limit|only its owner may create"
        ):
            granted.owner.grant(charge=[user], roles=granted.prefix)
    finally:
        with postgres.connect() as connection:
            connection.exec_driver_sql(f"ALTER SCHEMA {granted.schema} OWNER TO postgres")
            for role in (user, *([f"{user}_group"] if "_group" in power else [])):
                connection.exec_driver_sql(f"DROP OWNED BY {role}; DROP ROLE {role}")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["dpselect_manage", "{prefix}_manage", "{prefix}_charge"])
def test_a_role_of_the_ledgers_is_no_user(granted: Granted, name: str) -> None:
    role = name.format(prefix=granted.prefix)
    with pytest.raises(InvalidParameterError, match=r"charge=.*(users that the server knows|not a role of the ledger)"):
        granted.owner.grant(charge=[role], roles=granted.prefix)


def test_names_of_roles_that_the_server_keeps_for_itself_are_refused(granted: Granted) -> None:
    with pytest.raises(InvalidParameterError, match=r"roles=.*pg_"):
        granted.owner.grant(roles="pg_x")


def test_whoever_made_the_roles_is_no_user_of_theirs(granted: Granted, postgres: sa.Engine) -> None:
    """PostgreSQL 16 and later make them a member, who may give the role to others and has none of its rights."""
    prefix = f"{granted.prefix}_theirs"
    place, owner, user = f"{prefix}_place", f"{prefix}_owner", f"{prefix}_user"
    with postgres.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {owner} LOGIN CREATEROLE; CREATE ROLE {user} LOGIN")
        connection.exec_driver_sql(f"CREATE SCHEMA {place} AUTHORIZATION {owner}")
    url = sa.make_url(granted.urls["read"]).set(username=owner)
    with Ledger(url.update_query_dict({"options": f"-csearch_path={place}"}), wait=20) as ledger:
        ledger.open_account("clicks", epsilon=1)
        for _ in range(2):
            roles = ledger.grant(charge=[user], roles=prefix)
        with postgres.connect() as connection:  # by another grantor: the server holds two rows of it
            connection.exec_driver_sql(f"GRANT {prefix}_charge TO {user}")
        assert [role.users for role in ledger.grant(charge=[user], roles=prefix)] == [(user,), (), ()]
        assert [role.users for role in roles] == [(user,), (), ()]
    with postgres.connect() as connection:
        names = ", ".join([owner, user, *(f"{prefix}_{may}" for may in ("charge", "manage", "read"))])
        connection.exec_driver_sql(f"DROP SCHEMA {place} CASCADE; DROP OWNED BY {names}; DROP ROLE {names}")
