"""Questions of tables that are streamed use one database, one after another, and leave nothing in it."""

from __future__ import annotations

import gc
import inspect
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dpselect import Dataset
from dpselect.errors import InvalidDataError
from dpselect.rows import duckdb as engine
from dpselect.rows.duckdb import end_idle

SURE = 1e6
"""So large an epsilon that no noise is left."""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The databases that were opened since, none of which is left for other tests."""
    found: list[Any] = []
    connect = duckdb.connect

    def counted(*arguments: Any, **options: Any) -> Any:
        found.append(connect(*arguments, **options))
        return found[-1]

    end_idle()
    monkeypatch.setattr(duckdb, "connect", counted)
    monkeypatch.setattr(engine, "_POLL_SECONDS", 60)  # no question takes long, whatever else the machine does
    yield found
    end_idle()


def people(count: int) -> pa.Table:
    return pa.table({"id": range(count), "age": [20 + each % 3 for each in range(count)]})


def ages(table: Any, **options: Any) -> list[int]:
    return Dataset(table, unit="id", **options).histogram("age", candidates=[20, 21, 22, 23], epsilon=SURE).value


class Stream:
    """Three people, and then what `end` does."""

    def __init__(self, end: Callable[[], object]) -> None:
        self.end = end

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(people(3).schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)

    def batches(self) -> Iterator[Any]:
        yield from people(3).to_batches()
        self.end()


def test_one_is_opened_for_many_questions(opened: list[Any], tmp_path: Path) -> None:
    text = tmp_path / "people.csv"
    text.write_text("id,age\n1,20\n2,20\n3,22\n")
    assert ages(people(7)) == [3, 2, 2, 0]
    assert ages(people(3)) == [1, 1, 1, 0]
    assert ages(text) == [2, 0, 1, 0]
    assert len(opened) == 1


def test_after_many_questions_it_closes_like_after_one(opened: list[Any]) -> None:
    for _ in range(50):
        ages(people(3))
    assert len(opened) == 1
    deepest = len(inspect.stack()) + 40
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(deepest)
    try:
        end_idle()
    finally:
        sys.setrecursionlimit(limit)


def test_a_limit_or_a_file_of_its_own_has_its_own_database(opened: list[Any]) -> None:
    ages(people(3))
    ages(people(3), memory_limit=100_000_000)
    Dataset("examples/data/clicks.parquet", unit="session", memory_limit=10**9).count(epsilon=1.0)
    ages(people(3))
    assert len(opened) == 3
    for each in opened[1:]:
        with pytest.raises(duckdb.ConnectionException):
            each.execute("SELECT 1")


def test_nothing_of_a_question_stays(opened: list[Any]) -> None:
    table = people(5)
    kept = weakref.ref(table)
    data = Dataset(table, unit="id")
    data.values("age", epsilon=1.0, delta=1e-6)
    data.ask([{"ask": "count", "epsilon": 1.0}, {"ask": "median", "column": "age", "bounds": [0, 120], "epsilon": 1.0}])
    del table, data
    gc.collect()
    assert kept() is None
    (waiting,) = opened
    for things in ("duckdb_tables()", "duckdb_views() WHERE NOT internal"):
        assert waiting.execute(f"SELECT count(*) FROM {things}").fetchone() == (0,)


def test_a_question_that_fails_closes_it(opened: list[Any]) -> None:
    def fail() -> None:
        raise OSError

    ages(people(3))
    with pytest.raises(InvalidDataError):
        ages(Stream(fail))
    assert ages(people(4)) == [2, 1, 1, 0]
    assert len(opened) == 2


def test_a_question_that_takes_long_closes_it(opened: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As it may have taken much memory, which the engine would keep."""
    monkeypatch.setattr(engine, "_POLL_SECONDS", 0.01)
    ages(Stream(lambda: threading.Event().wait(0.05)))
    ages(people(3))
    assert len(opened) == 2


def test_questions_at_once_have_one_each(opened: list[Any]) -> None:
    """Each waits amid its rows until the other is there, too."""
    both = threading.Barrier(2, timeout=60)

    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda: found.append(ages(Stream(both.wait)))) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [[1, 1, 1, 0]] * 2
    assert len(opened) == 2
    ages(people(3))
    assert len(opened) == 2


FORKS = """\
import os, sys
import pyarrow as pa
from dpselect import Dataset
from dpselect.rows import duckdb as engine
engine._POLL_SECONDS = 60
def count():
    return Dataset(pa.table({"id": range(90_000)}), unit="id").count(epsilon=1e6).value
assert count() == 90_000
child = os.fork()
if child == 0:
    sys.exit(0 if count() == 90_000 else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert count() == 90_000
print(*os.listdir(os.environ["TMPDIR"]))
"""


def test_a_forked_process_opens_its_own_and_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FORKS],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    assert len(ended.stdout.split()) == 1
    assert list(tmp_path.iterdir()) == []
