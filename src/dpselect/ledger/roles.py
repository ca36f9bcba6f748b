"""Three roles on a PostgreSQL server: a user who may charge cannot raise a limit, even with their own SQL.

A role's rights on the tables say what it may do. Triggers do the rest: they check which kinds of entries a role may
write, and what it may change in an account's state. They do not know the roles by name: a user who may add accounts may
manage them, and a user who may add releases may charge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

import sqlalchemy as sa

from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.arguments import short_text
from dpselect.ledger.database import schema_of
from dpselect.ledger.schema import accounts, entries, metadata, migrations, names, releases

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
      AND becomes ->> 'entries' = ((was ->> 'entries')::bigint + 1)::text
      AND was -> 'unit' IN (becomes -> 'unit', 'null')
    ) IS NOT TRUE THEN
    RAISE EXCEPTION 'this role may not change a limit' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF (
      NEW.state = concat('{"entries":', becomes ->> 'entries', ',"epsilon":', becomes -> 'epsilon',
        ',"open":', becomes -> 'open', ',"total":[', becomes -> 'total' -> 0, ',', becomes -> 'total' -> 1,
        ',', becomes -> 'total' -> 2, '],"unit":', NEW.state::json -> 'unit', '}')
      AND becomes ->> 'entries' ~ '^[0-9]{1,18}$' AND becomes ->> 'epsilon' ~ fraction
      AND length(becomes ->> 'epsilon') <= 8000 AND length(becomes -> 'total' ->> 0) <= 4000
      AND length(becomes -> 'total' ->> 1) <= 4000 AND length(becomes -> 'total' ->> 2) <= 1000000
      AND NOT EXISTS (SELECT FROM unnest(total) AS digits WHERE length(digits) > 4000)
      AND jsonb_typeof(becomes -> 'open') = 'boolean' AND jsonb_typeof(becomes -> 'unit') IN ('string', 'null')
      AND length(coalesce(becomes ->> 'unit', '')) <= 1000
    ) IS NOT TRUE THEN
    RAISE EXCEPTION 'a state is written as the ledger writes it' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END"""

_SCHEMA = sa.text(
    "SELECT quote_ident(nspname) AS place, has_schema_privilege('public', pg_namespace.oid, 'CREATE') AS is_open,"
    " ARRAY[pg_get_userbyid(relowner), pg_get_userbyid(nspowner), pg_get_userbyid(datdba)] AS owners"
    " FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " JOIN pg_database ON datname = current_database() WHERE nspname = :place AND relname = :accounts"
)
_KNOWN = sa.text("SELECT rolname FROM pg_roles WHERE rolname = ANY(:names)")
_MEMBERS = (
    "SELECT DISTINCT granted.rolname AS role, member.rolname AS member FROM pg_auth_members"
    " JOIN pg_roles granted ON granted.oid = roleid JOIN pg_roles member ON member.oid = pg_auth_members.member"
    " WHERE granted.rolname = ANY(:roles){} ORDER BY member.rolname"
)
_HAVE_IT = " AND (inherit_option OR set_option)"
"""From PostgreSQL 16 on, the creator of a role is a member of it who may only grant it to others."""

_POWERS = (
    "pg_execute_server_program",
    "pg_write_server_files",
    "pg_read_server_files",
    "pg_write_all_data",
    "pg_create_subscription",
)
"""The server's own roles that can read its passwords, write its files, or write to tables past their triggers."""
_UNBOUND = """\
SELECT users.rolname FROM pg_roles AS users JOIN pg_roles AS every ON pg_has_role(users.oid, every.oid, 'MEMBER')
WHERE users.rolname = ANY(:users) AND (every.rolcreaterole OR every.rolreplication OR every.rolname = ANY(:powers)
 OR has_schema_privilege(every.oid, :schema, 'CREATE')
 OR EXISTS (SELECT FROM pg_roles WHERE rolname = ANY(:roles)
  AND pg_has_role(users.oid, pg_roles.oid, 'MEMBER WITH ADMIN OPTION'))
 OR EXISTS (SELECT FROM pg_class AS held JOIN pg_attribute ON attrelid = held.oid
  CROSS JOIN unnest(ARRAY['UPDATE', 'INSERT', 'REFERENCES']) AS act
  WHERE held.oid = ANY(CAST(CAST(:tables AS text[]) AS regclass[])) AND attnum > 0 AND NOT attisdropped
  AND (has_table_privilege(every.oid, held.oid, 'DELETE, TRUNCATE, TRIGGER')
   OR has_column_privilege(every.oid, held.oid, attnum, act) AND NOT EXISTS (
    SELECT FROM unnest(CAST(:holders AS text[]), CAST(:rights AS text[])) AS given (holder, granted)
    WHERE granted = concat(act, ' ', relname, '.', attname) AND pg_has_role(users.oid, holder, 'MEMBER')))){})"""
"""Finds users with more rights than their roles give, directly or by a role that they can take. A superuser is a member
of every role."""
_PARAMETERS = """
 OR has_parameter_privilege(every.oid, 'session_replication_role', 'SET')
 OR EXISTS (SELECT FROM pg_parameter_acl WHERE has_parameter_privilege(every.oid, parname, 'ALTER SYSTEM'))"""
"""From PostgreSQL 15 on: rights to turn triggers off."""

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
    """Create the roles, grant them exactly their rights, add the triggers, and grant each user their role.

    Args:
        connection: a connection of the tables' owner, in a transaction that has locked the setup of roles.
        users: the users for each role.
        prefix: prefix of the roles' names.

    Raises:
        InvalidParameterError: a user does not exist, or has rights that no role can restrict.

    Proof: ``proofs/ledger.md``.
    """
    held = {"place": schema_of(connection), "accounts": accounts.name}
    place, is_open, owners = connection.execute(_SCHEMA, held).one()
    if is_open:
        hint = f"As its owner or an administrator: REVOKE CREATE ON SCHEMA {place} FROM PUBLIC."
        raise InvalidParameterError(
            "ledger", Shown(f"<schema {place}>"), "a schema where only its owner may create", hint
        )
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
            if user in roles.values():
                raise InvalidParameterError(may, Shown(repr(user)), "users, not a role of the ledger")
            if user not in known:
                hint = "The server's administrator makes one: CREATE ROLE name LOGIN."
                raise InvalidParameterError(may, Shown(repr(user)), "users that the server knows", hint)
            connection.exec_driver_sql(f"GRANT {quoted(role)} TO {quoted(user)}")
    for may, role in roles.items():
        _refuse_unbound(connection, may, [role, *given.get(may, ())], roles, place, owners)
    members_now = sa.text(_MEMBERS.format(_HAVE_IT if _version(connection) >= 16 else ""))
    members = connection.execute(members_now, {"roles": list(roles.values())}).all()
    return [Role(name, may, tuple(row.member for row in members if row.role == name)) for may, name in roles.items()]


def _version(connection: sa.Connection) -> int:
    return cast(tuple[int, ...], connection.dialect.server_version_info)[0]


def _name(given: object, argument: str) -> str:
    name = short_text(given, argument)
    if argument == "roles" and name.startswith("pg_"):
        raise InvalidParameterError(argument, name, "a name that does not begin with pg_, as the server's own do")
    if len(name.encode()) > _LONGEST - len("_manage"):
        raise InvalidParameterError(argument, Shown("<a long name>"), f"a name of at most {_LONGEST} bytes")
    return name


def _names(given: object, argument: str) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameterError(argument, given, "a list of names of users")
    return [_name(each, argument) for each in cast(Iterable[object], given)]


def _give_rights(connection: sa.Connection, role: str, may: str, place: str, *, is_new: bool) -> None:
    """Grant a role the rights of its kind, and take away all others."""
    if is_new:
        connection.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
    connection.exec_driver_sql(f"REVOKE ALL ON {', '.join(f'{place}.{table}' for table, _ in _READS)} FROM {role}")
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {place} TO {role}")
    for table, right in _RIGHTS[may]:
        connection.exec_driver_sql(f"GRANT {right} ON {place}.{table} TO {role}")


def _guard(connection: sa.Connection, place: str) -> None:
    """Create the triggers. Their functions look names up only in schemas that the server's administrator controls."""
    for table, body, act in ((entries.name, _GUARD_ENTRIES, "INSERT"), (accounts.name, _GUARD_ACCOUNTS, "UPDATE")):
        function = f"{place}.{table}_guard"
        head = f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql"
        connection.exec_driver_sql(f"{head} SET search_path = pg_catalog, pg_temp AS $guard${body}$guard$")
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_guard ON {place}.{table}")
        head = f"CREATE TRIGGER {table}_guard BEFORE {act} ON {place}.{table}"
        connection.exec_driver_sql(f"{head} FOR EACH ROW EXECUTE FUNCTION {function}()")


def _refuse_unbound(
    connection: sa.Connection, may: str, users: list[str], roles: Mapping[str, str], place: str, owners: list[str]
) -> None:
    """Refuse users who have more rights than their roles grant, or can give themselves more."""
    given = [(roles[each], right) for each, rights in _RIGHTS.items() for right in _by_column(rights)]
    limits = {
        "users": users,
        "roles": list(roles.values()),
        "powers": [*_POWERS, *owners],
        "schema": schema_of(connection),
        "tables": [f"{place}.{table}" for table, _ in _READS],
        "holders": [holder for holder, _ in given],
        "rights": [right for _, right in given],
    }
    found = connection.scalars(
        sa.text(_UNBOUND.format(_PARAMETERS if _version(connection) >= 15 else "")), limits
    ).first()
    if found is not None:
        hint = (
            "Roles cannot limit a superuser, the owner of the tables, schema or database, or a user who may create"
            " roles or create objects in the schema, or has other rights on the tables or the server, even as PUBLIC."
        )
        raise InvalidParameterError(may, Shown(repr(found)), "users whose rights their roles can limit", hint)


def _by_column(rights: Iterable[tuple[str, str]]) -> list[str]:
    """The rights to write, by column, such as ``UPDATE dpselect_accounts.state``."""
    found: list[str] = []
    for table, right in rights:
        act, _, columns = right.rstrip(")").partition(" (")
        named = columns.split(", ") if columns else [column.name for column in metadata.tables[table].columns]
        found += [f"{act} {table}.{column}" for column in named if act != "SELECT"]
    return found
