"""A ledger on a server whose owner has given three users a role each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

import dpselect as dps
from dpselect.ledger import Ledger
from tests.ledger.tampering import engine_of

EIGHTH = dps.PermuteAndFlip(epsilon=0.125, sensitivity=1).event
_NUMBERS = itertools.count()


class Granted(NamedTuple):
    """A ledger whose owner has given three users a role each."""

    owner: Ledger
    schema: str
    prefix: str
    urls: dict[str, str]

    def of(self, may: str) -> Ledger:
        return Ledger(self.urls[may], wait=20)

    def run(self, may: str, *statements: str) -> None:
        """As that user, past the ledger."""
        run_at(self.urls[may], *statements)


def run_at(url: str, *statements: str) -> None:
    """In one transaction."""
    engine = engine_of(url)
    try:
        with engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


def roles_of_the_page(schema: str, prefix: str, users: Mapping[str, str]) -> str:
    """The SQL that docs/ledger.md shows, for a ledger in this schema, and for these roles and users."""
    page = Path("docs/ledger.md").read_text(encoding="utf-8")
    sql = page.partition("<!-- roles:start -->\n```postgresql\n")[2].partition("\n```\n<!-- roles:end -->")[0]
    assert "CREATE TRIGGER" in sql
    for shown, may in (("ann, bob", "charge"), ("steward", "manage"), ("auditor", "read")):
        assert f"GRANT dpselect_{may} TO {shown};" in sql
        sql = sql.replace(f" TO {shown};", f' TO "{users[may]}";')
    sql = re.sub(r"\bdpselect_(charge|manage|read)\b", rf"{prefix}_\1", sql)
    sql = re.sub(r"\bSCHEMA public\b", f"SCHEMA {schema}", sql).replace("public.", f"{schema}.")
    return re.sub(r"(BEGIN|COMMIT);\n?$", "", sql, flags=re.MULTILINE).replace("%", "%%")


@contextmanager
def granting(postgres: sa.Engine, server_url: str) -> Generator[Granted]:
    """Until the block ends."""
    prefix = f"ours{next(_NUMBERS)}"
    users = {may: f"{prefix} {may} %user%" for may in ("charge", "manage", "read")}
    quoted = [f'"{user}"' for user in users.values()]
    with postgres.connect() as connection:
        for user in quoted:
            connection.execute(sa.text(f"CREATE ROLE {user} LOGIN"))
    url = sa.make_url(server_url)
    urls = {
        may: url.set(username=user).render_as_string(hide_password=False).replace(" ", "%20")
        for may, user in users.items()
    }
    schema = server_url.partition("search_path%3D")[2]
    with Ledger(server_url, wait=20) as owner:
        owner.open_account("clicks", epsilon=1, delta=1e-6)
        owner.charge("clicks", EIGHTH)
        run_at(server_url, roles_of_the_page(schema, prefix, users))
        yield Granted(owner, schema, prefix, urls)
    with postgres.connect() as connection:
        for user in (*quoted, *(f"{prefix}_{may}" for may in users)):
            connection.execute(sa.text(f"DROP OWNED BY {user}"))
            connection.execute(sa.text(f"DROP ROLE {user}"))
