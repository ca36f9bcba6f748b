"""The same tests on SQLite and on a real PostgreSQL server, which they start themselves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpselect.ledger import Ledger
from tests.ledger.granted import Granted, granting

_NUMBERS = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a ledger that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/budget.db"
    return schema_of(request.getfixturevalue("postgres"))


@pytest.fixture
def server_url(postgres: sa.Engine) -> str:
    """Of a ledger that is not there yet, on the server."""
    return schema_of(postgres)


def schema_of(engine: sa.Engine) -> str:
    """The URL of a new schema."""
    name = f"ledger_{next(_NUMBERS)}"
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    url = engine.url.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
    return url.render_as_string(hide_password=False)


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    with Ledger(url, wait=20) as ledger:
        yield ledger


@pytest.fixture
def granted(postgres: sa.Engine, server_url: str) -> Iterator[Granted]:
    """A ledger whose owner has given three users a role each."""
    with granting(postgres, server_url) as granted:
        yield granted
