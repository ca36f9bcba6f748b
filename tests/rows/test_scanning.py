"""What can happen while rows are read: progress, Ctrl-C, damage, a full disk; nothing is left behind."""

from __future__ import annotations

import concurrent.futures
import ctypes
import inspect
import signal
import tempfile
import threading
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from dpselect import SelectionError
from dpselect.errors import InvalidDataError
from dpselect.rows import duckdb as engine
from dpselect.rows import scan
from dpselect.rows.scan import Scan
from tests.attacks.reachable import reachable
from tests.rows.tables import Opened, count, opened, write_csv, write_parquet


def run(table: Opened, **options: Any) -> list[int]:
    (found,) = table.counts("value", range(100), **options)
    return found


@pytest.fixture(scope="module", params=["csv", "streamed", "parquet"])
def large_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    units, values = np.arange(1_000_000), np.arange(1_000_000) % 100
    path = tmp_path_factory.mktemp("large") / ("t.csv" if request.param == "csv" else "t.parquet")
    if request.param == "csv":
        csv.write_csv(pa.table({"unit": units, "value": values}), path, csv.WriteOptions(quoting_style="none"))
    else:
        units = pa.array(units).cast(pa.string()) if request.param == "streamed" else units
        pq.write_table(pa.table({"unit": units, "value": values}), path)
    return path


@pytest.fixture
def large(large_file: Path) -> Opened:
    return opened(large_file)


@pytest.mark.sampled(2)
def test_progress_goes_up_to_the_end_on_the_callers_thread(
    large: Opened, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(engine, "_POLL_SECONDS", 0.001)
    short_units = scan.short_units
    looked = threading.Semaphore(0)

    def slowly(*arguments: Any) -> Any:
        assert looked.acquire(timeout=60)  # once a batch, or all could be read before the caller's thread looks
        return short_units(*arguments)

    monkeypatch.setattr(scan, "short_units", slowly)
    seen: list[float] = []
    threads: set[int] = set()

    def progress(fraction: float) -> None:
        seen.append(fraction)
        threads.add(threading.get_ident())
        looked.release()

    assert run(large, progress=progress) == [10_000] * 100
    assert seen == sorted(seen)
    assert 0.0 <= seen[0] <= seen[-1] <= 1.0
    assert seen[0] < seen[-1] or "[parquet]" in request.node.name  # the engine says little if it is quick
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
def test_a_scan_can_be_interrupted(
    large: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    monkeypatch.setattr(engine, "_POLL_SECONDS", 0.001)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = threading.active_count()
    calls, stopped, query = list[float](), threading.Event(), engine.Embedded._found

    def not_before(*arguments: Any, **about: Any) -> Any:
        answer = query(*arguments, **about)
        assert stopped.wait(60)  # on a loaded machine all may be read before the caller's thread has looked so often
        return answer

    monkeypatch.setattr(engine.Embedded, "_found", not_before)

    def progress(fraction: float) -> None:
        calls.append(fraction)
        if len(calls) > 3:
            stopped.set()
            raise stop

    with pytest.raises(stop):
        run(large, progress=progress)
    assert threading.active_count() == before
    assert list(tmp_path.iterdir()) == []


def test_more_interrupts_leave_no_thread_behind(large: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_POLL_SECONDS", 0.001)
    before, presses = threading.active_count(), iter(range(5))

    def interrupt(fraction: float) -> None:
        raise KeyboardInterrupt

    def wait(futures: Any, timeout: float) -> None:
        if next(presses, None) is not None:
            raise KeyboardInterrupt
        concurrent.futures.wait(futures, timeout)

    monkeypatch.setattr(engine, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        run(large, progress=interrupt)
    assert threading.active_count() == before


def test_control_c_while_the_other_thread_starts_leaves_nothing_behind(
    large: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, start = threading.active_count(), threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(engine.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(large)
    assert threading.active_count() == before


def test_a_damaged_parquet_is_refused_in_fixed_words(tmp_path: Path) -> None:
    rows = [(i, f"SENTINEL-{i}") for i in range(20_000)]
    path = write_parquet(tmp_path / "t.parquet", rows)
    content = bytearray(path.read_bytes())
    content[50:5000] = bytes(4950)
    path.write_bytes(content)
    with pytest.raises(InvalidDataError) as caught:
        count(path, ["a"])
    cut = "It is cut off, damaged or encrypted, or was changed while it was read."
    said = f"expected a Parquet file that can be read to its end. {cut}"
    assert str(caught.value) == f"source={str(path)!r}: {said}"
    assert caught.value.__context__ is None
    assert "SENTINEL" not in reachable(caught.value)


def test_a_file_that_changed_since_it_was_described(tmp_path: Path) -> None:
    for path, other in (
        (write_csv(tmp_path / "t.csv", [b"1,2"]), b"unit,value,more\n1,2,3\n"),
        (
            write_parquet(tmp_path / "t.parquet", [(1, 2)]),
            write_parquet(tmp_path / "o.parquet", [(1, "2")]).read_bytes(),
        ),
    ):
        table = opened(path)
        path.write_bytes(other)
        with pytest.raises(InvalidDataError, match="changed while it was read"):
            run(table)
        path.unlink()
        with pytest.raises(InvalidDataError, match=r"read to its end|can be opened"):
            run(table)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (duckdb.OutOfMemoryException, "more memory or temporary disk space"),
        (duckdb.IOException, "more memory or temporary disk space"),
        (MemoryError, "more memory or temporary disk space"),
        (duckdb.ConversionException, "a table that can be read to its end"),
        (RuntimeError, "a table that can be read to its end"),
    ],
)
def test_engine_errors_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], text: str
) -> None:
    def fail(*_: object) -> None:
        raise error("SENTINEL")

    table = opened(write_csv(tmp_path / "t.csv", [b"1,2"]))
    monkeypatch.setattr(Scan, "attach", fail)
    with pytest.raises(SelectionError, match=text) as caught:
        run(table)
    assert "SENTINEL" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_engine_reaches_nothing_and_spills_where_only_the_user_can_read() -> None:
    with engine.connected() as database:
        settings = dict(database.execute("SELECT name, value FROM duckdb_settings()").fetchall())
        folder = Path(settings["temp_directory"])
        assert folder.stat().st_mode & 0o777 == 0o700
        assert settings["enable_external_access"] == "false"
        with pytest.raises(duckdb.Error):
            database.execute("SELECT * FROM 'examples/data/clicks.parquet'")
        with pytest.raises(duckdb.Error):
            database.execute("SET enable_external_access = true")
    engine.end_idle()
    assert not folder.exists()


class InterruptedConnection:
    """Ctrl-C is pressed within the first statement; no other thread has to come in time to press it."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self.database = database

    def __enter__(self) -> InterruptedConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def execute(self, commands: str) -> None:
        press: Any = ctypes.CDLL(None)["raise"]  # which is no Python, where the signal would be noticed first
        press.__signature__ = inspect.Signature([inspect.Parameter("signal", inspect.Parameter.POSITIONAL_ONLY)])
        self.database.create_function("press", press, ["INTEGER"], "INTEGER", side_effects=True)
        self.database.execute(f"SELECT press({int(signal.SIGINT)}); {commands}")


def test_control_c_while_the_engine_is_set_up_is_control_c(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = duckdb.connect
    engine.end_idle()
    monkeypatch.setattr(duckdb, "connect", lambda *_, **__: InterruptedConnection(connect(":memory:")))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever ran before
    try:
        with pytest.raises(KeyboardInterrupt), engine.connected():
            pytest.fail("nothing was heard of it")
    finally:
        signal.signal(signal.SIGINT, before)


def test_counting_more_than_memory_holds_spills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine.SETTINGS, "threads", "1")
    path = tmp_path / "t.parquet"
    units = np.arange(1_500_000) * 2**33
    pq.write_table(pa.table({"unit": units, "value": units % 7}), path)
    text = tmp_path / "text.parquet"
    names = pa.array(units[:800_000]).cast(pa.string())
    pq.write_table(pa.table({"unit": names, "value": units[:800_000] % 7}), text)
    tables = [opened(each, memory_limit=32_000_000) for each in (path, text)]
    assert [sum(run(table)) for table in tables] == [1_500_000, 800_000]
    monkeypatch.setitem(engine.SETTINGS, "max_temp_directory_size", "0KB")
    for table in tables:
        with pytest.raises(SelectionError, match="more memory or temporary disk space"):
            run(table)
