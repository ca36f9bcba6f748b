"""Three roles on a PostgreSQL server, so that whoever may charge cannot raise a limit, even with SQL of their own.

A role's rights on the tables say what it may do. What rights on tables cannot say, triggers do: which kinds of entries
it may write, and what of an account's state it may change. They do not know the roles by name. Whoever may add accounts
may manage them; whoever may add releases may charge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

import sqlalchemy as sa

from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.arguments import short_text
from dpselect.ledger.database import schema_of
from dpselect.ledger.schema import accounts, entries, migrations, names, releases

CHARGE, MANAGE, READ = "charge", "manage", "read"

_READS = tuple((table.name, "SELECT") for table in (migrations, names, accounts, entries, releases))
_WRITES = ((entries.name, "INSERT"), (accounts.name, "UPDATE (state, head, seal)"))
_RIGHTS = {
    CHARGE: (*_READS, *_WRITES, (releases.name, "INSERT")),
    MANAGE: (*_READS, *_WRITES, (accounts.name, "INSERT"), (names.name, "UPDATE (id)")),  # see `lock_accounts`
    READ: _READS,
}

_GUARD_ENTRIES = """\
DECLARE
  is_charge boolean := (NEW.body::jsonb ->> 'kind' = 'charge') IS TRUE;
  needed text := CASE WHEN is_charge THEN '.dpselect_releases' ELSE '.dpselect_accounts' END;
BEGIN
  IF NOT has_table_privilege(quote_ident(TG_TABLE_SCHEMA) || needed, 'INSERT') THEN
    RAISE EXCEPTION 'this role may not write entries of this kind' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END"""

_GUARD_ACCOUNTS = """\
DECLARE
  was jsonb := OLD.state;
  becomes jsonb := NEW.state;
  fraction text := '^([0-9]+)(?:/([1-9][0-9]*))?$';
  spent text[];
  total text[];
BEGIN
  FOR place IN 0..1 LOOP  -- epsilon and delta
    spent := regexp_match(was -> 'total' ->> place, fraction);
    total := regexp_match(becomes -> 'total' ->> place, fraction);
    IF (spent[1]::numeric * coalesce(total[2], '1')::numeric <= total[1]::numeric * coalesce(spent[2], '1')::numeric)
        IS NOT TRUE THEN
      RAISE EXCEPTION 'what is spent never falls' USING ERRCODE = 'insufficient_privilege';
    END IF;
  END LOOP;
  spent := string_to_array(was -> 'total' ->> 2, ' ');  -- divergences
  total := string_to_array(becomes -> 'total' ->> 2, ' ');
  IF (becomes -> 'total' ->> 2 ~ '^([0-9]+( [0-9]+)*)?$' AND cardinality(spent) = cardinality(total)) IS NOT TRUE
      OR EXISTS (SELECT FROM unnest(spent, total) AS units (before, after) WHERE before::numeric > after::numeric) THEN
    RAISE EXCEPTION 'what is spent never falls' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT has_table_privilege(TG_RELID, 'INSERT') AND (
      becomes -> 'epsilon' = was -> 'epsilon'
      AND was -> 'open' = 'true' AND becomes -> 'open' = 'true'
      AND becomes -> 'entries' = to_jsonb((was ->> 'entries')::bigint + 1)
      AND was -> 'unit' IN (becomes -> 'unit', 'null')
    ) IS NOT TRUE THEN
    RAISE EXCEPTION 'this role may not change a limit' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END"""

_OWNER = sa.text(
    "SELECT quote_ident(nspname) AS place, pg_get_userbyid(relowner) AS owner"
    " FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = :place AND relname = :accounts"
)
_KNOWN = sa.text("SELECT rolname FROM pg_roles WHERE rolname = ANY(:names)")
_MEMBERS = sa.text(
    "SELECT granted.rolname AS role, member.rolname AS member FROM pg_auth_members"
    " JOIN pg_roles granted ON granted.oid = roleid JOIN pg_roles member ON member.oid = pg_auth_members.member"
    " WHERE granted.rolname = ANY(:roles) ORDER BY member.rolname"
)
_UNBOUND = sa.text(
    "SELECT rolname FROM pg_roles WHERE rolname = ANY(:users) AND (rolcreaterole OR pg_has_role(oid, :owner, 'MEMBER')"
    " OR EXISTS (SELECT FROM unnest(CAST(:tables AS text[])) AS place WHERE"
    "  has_table_privilege(pg_roles.oid, place, 'UPDATE, DELETE, TRUNCATE, TRIGGER'))"
    " OR has_table_privilege(oid, :migrations, 'INSERT')"
    " OR has_table_privilege(oid, :accounts, 'INSERT') AND NOT pg_has_role(oid, :manage, 'MEMBER')"
    " OR has_table_privilege(oid, :releases, 'INSERT') AND NOT pg_has_role(oid, :charge, 'MEMBER'))"
)
"""Of users, those with more rights than their roles give. A superuser is a member of every role."""

_LONGEST = 63
"""Bytes of a name, which the server would cut off there."""


class Role(NamedTuple):
    """A role on the server.

    Attributes:
        name: its name.
        may: ``"charge"``, ``"manage"`` (open accounts, change their limits, close them, write off) or ``"read"``.
        users: the users who have it, by name.
    """

    name: str
    may: str
    users: tuple[str, ...]


def set_up_roles(connection: sa.Connection, users: Mapping[str, Iterable[str]], *, prefix: str) -> list[Role]:
    """Make the roles, give them exactly their rights and the guards, and give each user theirs.

    Args:
        connection: of whoever owns the tables, in a transaction that nobody else sets up roles beside.
        users: who gets which role.
        prefix: what the roles' names begin with.

    Raises:
        InvalidParameterError: a user is not there, or is bound by no role.

    Proof: ``proofs/ledger.md``.
    """
    held = {"place": schema_of(connection), "accounts": accounts.name}
    place, owner = connection.execute(_OWNER, held).one()
    roles = {may: f"{_name(prefix, 'roles')}_{may}" for may in _RIGHTS}
    given = {may: _names(each, may) for may, each in users.items()}
    known = set(
        connection.scalars(_KNOWN, {"names": [*roles.values(), *(user for each in given.values() for user in each)]})
    )
    quoted = connection.dialect.identifier_preparer.quote_identifier
    written = place.replace("%", "%%")
    _guard(connection, written)
    for may, role in roles.items():
        _give_rights(connection, quoted(role), may, written, is_new=role not in known)
        for user in given.get(may, ()):
            if user not in known:
                hint = "The server's administrator makes one: CREATE ROLE name LOGIN."
                raise InvalidParameterError(may, Shown(repr(user)), "users that the server knows", hint)
            connection.exec_driver_sql(f"GRANT {quoted(role)} TO {quoted(user)}")
    for may, role in roles.items():
        _refuse_unbound(connection, may, [role, *given.get(may, ())], roles, place, owner)
    members = connection.execute(_MEMBERS, {"roles": list(roles.values())}).all()
    return [Role(name, may, tuple(row.member for row in members if row.role == name)) for may, name in roles.items()]


def _name(given: object, argument: str) -> str:
    name = short_text(given, argument)
    if len(name.encode()) > _LONGEST - len("_manage"):
        raise InvalidParameterError(argument, Shown("<a long name>"), f"a name of at most {_LONGEST} bytes")
    return name


def _names(given: object, argument: str) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameterError(argument, given, "a list of names of users")
    return [_name(each, argument) for each in cast(Iterable[object], given)]


def _give_rights(connection: sa.Connection, role: str, may: str, place: str, *, is_new: bool) -> None:
    """Those of its kind, and no other ones."""
    if is_new:
        connection.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
    connection.exec_driver_sql(f"REVOKE ALL ON {', '.join(f'{place}.{table}' for table, _ in _READS)} FROM {role}")
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {place} TO {role}")
    for table, right in _RIGHTS[may]:
        connection.exec_driver_sql(f"GRANT {right} ON {place}.{table} TO {role}")


def _guard(connection: sa.Connection, place: str) -> None:
    """The functions look names up where nobody but the server's administrator puts any."""
    for table, body, act in ((entries.name, _GUARD_ENTRIES, "INSERT"), (accounts.name, _GUARD_ACCOUNTS, "UPDATE")):
        function = f"{place}.{table}_guard"
        head = f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql"
        connection.exec_driver_sql(f"{head} SET search_path = pg_catalog, pg_temp AS $guard${body}$guard$")
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_guard ON {place}.{table}")
        head = f"CREATE TRIGGER {table}_guard BEFORE {act} ON {place}.{table}"
        connection.exec_driver_sql(f"{head} FOR EACH ROW EXECUTE FUNCTION {function}()")


def _refuse_unbound(
    connection: sa.Connection, may: str, users: list[str], roles: Mapping[str, str], place: str, owner: str
) -> None:
    """Roles bind nobody who has more rights from elsewhere, or can take them."""
    tables = {table.key: f"{place}.{table.name}" for table in (migrations, names, accounts, entries, releases)}
    known = {name.removeprefix("dpselect_"): table for name, table in tables.items()}
    limits = {"users": users, "owner": owner, "tables": list(tables.values()), **roles, **known}
    found = connection.scalars(_UNBOUND, limits).first()
    if found is not None:
        hint = (
            "A superuser, the owner of the tables, and users who may create roles or have other rights are not bound."
        )
        raise InvalidParameterError(may, Shown(repr(found)), "users whom their roles can bind", hint)
