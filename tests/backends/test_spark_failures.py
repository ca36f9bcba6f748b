"""Spark's workers die: what they drew is drawn again and used once, and an account pays once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.backends.lazy import spark_frame as spark_frames
from dpselect.backends.lazy import spark_selection
from dpselect.backends.lazy.spark_selection import PersistedScores, _task, merged  # pyright: ignore[reportPrivateUsage]
from dpselect.errors import InvalidDataError
from tests.backends.engines import spark, spark_frame
from tests.slow import SLOW

Batches = Iterator[pa.RecordBatch]

ROWS = pa.table({"who": list(range(40)), "page": [7] * 30 + [11] * 10})
SHARP = dps.PermuteAndFlip(epsilon=50.0, sensitivity=1.0)


def after_each(frame: Any, happens: Callable[[int, int, pa.RecordBatch], None]) -> Any:
    """`frame`, where `happens` sees the part, the attempt and each batch after it was handed on."""

    def rows(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            yield batch
            happens(context.partitionId(), context.attemptNumber(), batch)

    return frame.mapInArrow(rows, frame.schema)


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("pages", epsilon=2, unit="who")
    return ledger


def test_a_killed_worker_draws_again_and_one_of_its_draws_is_used(tmp_path: Path) -> None:
    scores = pa.table({"what": [0, 1, 2, 3], "number": pa.array([0, 60, 0, 0], pa.int64())})
    listed = spark().createDataFrame(scores).repartition(2)
    drawn = listed.mapInArrow(_task(SHARP), "part bigint, what bigint, state binary")

    def killed_once(part: int, attempt: int, batch: pa.RecordBatch) -> None:
        (tmp_path / f"{part}-{attempt}").write_bytes(batch.column("state")[0].as_py())
        if attempt == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sent = after_each(drawn, killed_once).toArrow()
    drawings = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    parts = sent.column("part").to_pylist()
    assert sorted(drawings) == sorted(f"{part}-{attempt}" for part in parts for attempt in (0, 1))
    assert len(set(drawings.values())) == len(drawings)  # drawn anew, and not copied
    assert set(sent.column("state").to_pylist()) <= set(drawings.values())
    assert len(set(parts)) == len(parts)
    assert merged(sent, SHARP).winner() == 1


def test_an_answer_from_workers_that_are_killed_is_charged_once(
    tmp_path: Path, ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 19)
    died = tmp_path / "died"

    def killed_once(_: int, attempt: int, batch: pa.RecordBatch) -> None:
        if attempt == 0 and batch.num_rows:
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    clicks = dps.Dataset(after_each(spark_frame(ROWS), killed_once), unit="who", ledger=ledger, account="pages")
    assert clicks.most_common("page", candidates=range(20), epsilon=0.75).value in range(20)
    assert died.exists()
    assert ledger.remaining("pages") == 1.25


def test_a_draw_that_never_succeeds_stays_charged(ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 19)
    clicks = dps.Dataset(spark_frame(ROWS), unit="who", ledger=ledger, account="pages")

    def dies(*_: object) -> Callable[[Batches], Batches]:
        def draw(batches: Batches) -> Batches:
            raise RuntimeError("a machine went away, and with it secret rows")

        return draw

    with monkeypatch.context() as broken:
        broken.setattr(spark_selection, "_task", dies)
        with pytest.raises(dps.errors.AnswerLostError, match="charged as entry 1 of account 'pages'") as caught:
            clicks.most_common("page", candidates=range(20), epsilon=0.75, request="november")
    assert isinstance(caught.value.__cause__, InvalidDataError)
    assert "secret" not in str(caught.value)
    assert ledger.remaining("pages") == 1.25
    answered = clicks.most_common("page", candidates=range(20), epsilon=0.75, request="november")
    assert clicks.most_common("page", candidates=range(20), epsilon=0.75, request="november") == answered
    assert ledger.remaining("pages") == 0.5  # it was seen that the first draw failed, so the second one is another


@pytest.mark.parametrize("most_on_the_driver", [19, 20])
def test_a_table_that_cannot_be_read_costs_nothing(
    tmp_path: Path, ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch, most_on_the_driver: int
) -> None:
    """Wherever the draw is made: rows are read before it is charged."""
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", most_on_the_driver)
    broken = tmp_path / "broken"
    broken.touch()

    def dies(*_: object) -> None:
        if broken.exists():
            raise RuntimeError("a machine went away, and with it secret rows")

    clicks = dps.Dataset(after_each(spark_frame(ROWS), dies), unit="who", ledger=ledger, account="pages")
    for k in (1, 2) if SLOW else (most_on_the_driver - 18,):
        with pytest.raises(InvalidDataError) as caught:
            clicks.top_k("page", k, candidates=range(20), epsilon=0.75, request="november")
        assert "secret" not in str(caught.value)
    assert ledger.remaining("pages") == 2
    broken.unlink()
    answered = clicks.top_k("page", 2, candidates=range(20), epsilon=0.75, request="november")
    assert clicks.top_k("page", 2, candidates=range(20), epsilon=0.75, request="november") == answered
    assert ledger.remaining("pages") == 1.25


@pytest.mark.slow
def test_scores_are_forgotten_whatever_comes_of_them(ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 19)
    closed: list[object] = []
    close = PersistedScores.close

    def noted(kept: PersistedScores) -> None:
        closed.append(kept)
        close(kept)

    monkeypatch.setattr(PersistedScores, "close", noted)
    unpaid = dps.Dataset(spark_frame(ROWS), unit="who")
    assert unpaid.top_k("page", 2, candidates=range(20), epsilon=30.0).value == [7, 11]
    clicks = dps.Dataset(spark_frame(ROWS), unit="who", ledger=ledger, account="pages")

    def refused(*_: object, **__: object) -> None:
        raise dps.SelectionError("Another process was faster.")

    with monkeypatch.context() as late:
        late.setattr(dps.Ledger, "charge", refused)
        with pytest.raises(dps.SelectionError, match="faster"):
            clicks.most_common("page", candidates=range(20), epsilon=0.75)
    assert clicks.most_common("page", candidates=range(20), epsilon=0.75).value in range(20)
    assert len(closed) == 3


def test_workers_that_cannot_draw_cost_nothing(ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 19)
    clicks = dps.Dataset(spark_frame(ROWS), unit="who", ledger=ledger, account="pages")

    def without_us(batches: Batches) -> Batches:
        raise ModuleNotFoundError("No module named 'dpselect'")

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(spark_selection, "_as_they_are", without_us)
        with pytest.raises(InvalidDataError, match="workers have dpselect"):
            clicks.most_common("page", candidates=range(20), epsilon=0.75, request="november")
    assert ledger.remaining("pages") == 2
    assert clicks.most_common("page", candidates=range(20), epsilon=0.75, request="november").value in range(20)
    assert ledger.remaining("pages") == 1.25
