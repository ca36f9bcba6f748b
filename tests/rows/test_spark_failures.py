"""Spark's workers die: rows are read again, and an account pays once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows.engines import spark_frame
from tests.slow import SLOW

Batches = Iterator[pa.RecordBatch]

ROWS = pa.table({"who": list(range(40)), "page": [7] * 30 + [11] * 10})


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


def test_an_answer_from_workers_that_are_killed_is_charged_once(tmp_path: Path, ledger: dps.Ledger) -> None:
    died = tmp_path / "died"

    def killed_once(_: int, attempt: int, batch: pa.RecordBatch) -> None:
        if attempt == 0 and batch.num_rows:
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    clicks = dps.Dataset(after_each(spark_frame(ROWS), killed_once), unit="who", ledger=ledger, account="pages")
    assert clicks.most_common("page", candidates=range(20), epsilon=0.75).value in range(20)
    assert died.exists()
    assert ledger.remaining("pages") == 1.25


def test_a_table_that_cannot_be_read_costs_nothing(tmp_path: Path, ledger: dps.Ledger) -> None:
    """Rows are read before it is charged."""
    broken = tmp_path / "broken"
    broken.touch()

    def dies(*_: object) -> None:
        if broken.exists():
            raise RuntimeError("a machine went away, and with it secret rows")

    clicks = dps.Dataset(after_each(spark_frame(ROWS), dies), unit="who", ledger=ledger, account="pages")
    for k in (1, 2) if SLOW else (2,):
        with pytest.raises(InvalidDataError) as caught:
            clicks.top_k("page", k, candidates=range(20), epsilon=0.75, request="november")
        assert "secret" not in str(caught.value)
    assert ledger.remaining("pages") == 2
    broken.unlink()
    answered = clicks.top_k("page", 2, candidates=range(20), epsilon=0.75, request="november")
    assert clicks.top_k("page", 2, candidates=range(20), epsilon=0.75, request="november") == answered
    assert ledger.remaining("pages") == 1.25
