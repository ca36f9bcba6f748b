"""Selection where the scores are: Spark's tasks draw partial selections, and one row of each comes back.

What a task computes may be computed again, on another machine, when that one dies. Drawing is no exception: the task
that is tried again draws anew, from its own machine's randomness, and what the first one drew has been seen by nobody.
Which of the two is used depends on machines, not on what they drew; so each part's draw has its law, and the merged one
the mechanism's. (Proof: ``proofs/partial_selection.md``.) One action reads the drawn rows, once, and they are not
cached: no draw of a part is seen twice, or beside another of the same part. (Scores are: they are not random.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.spark_logs import unlogged
from dpselect.backends.rows.arrow import RecordBatch, pa, pc
from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.mechanisms import CandidateSelection, Mechanism, PartialSelection

MOST_ON_THE_DRIVER = 1_000_000
"""Scores of more candidates stay in Spark."""

_WIDEST = 2**61


def scored(counted: Any, listed: Any) -> Any:
    """Every candidate with its score, those that do not occur with 0.

    Args:
        counted: Spark data frame of ``what`` and ``number``, each candidate at most once.
        listed: the candidates, in a column ``what``.
    """
    F = spark_functions(counted)  # noqa: N806
    number = F.coalesce(F.col("number"), F.lit(0)).cast("bigint").alias("number")
    return listed.join(counted, on="what", how="left").select("what", number)


def whole_numbers(spark: Any, values: range) -> Any:
    """A range as a data frame that no process lists; None where Spark's own arithmetic could overflow.

    It does so without a word: of a range nearly as wide as 64 bits, Spark makes an empty one.
    """
    low, high = min(values[0], values[-1]), max(values[0], values[-1])
    if not -_WIDEST <= low <= high <= _WIDEST:
        return None
    return spark.range(low, high + 1, abs(values.step)).withColumnRenamed("id", "what")


class PersistedScores:
    """Scores that Spark has made and keeps, in its memory or on its disks, until they are closed.

    Making them reads the table. A draw reads them alone, so that a table that cannot be read fails before anyone pays.
    No other question shares them, not even the same one: Spark would drop them for both when the first of the two ends.

    Args:
        scores: Spark data frame of ``what``, the candidates, and ``number``, of a numeric type without nulls.
        shown: how errors speak of the table.

    Raises:
        InvalidDataError: Spark could not answer, or its workers could not draw.
    """

    __slots__ = ("_scores", "_shown")

    def __init__(self, scores: Any, shown: str) -> None:
        self._shown = shown
        check_workers(scores.sparkSession, shown)
        with reading(shown):
            self._scores = _nobody_elses(scores).persist()
        try:
            with reading(shown), unlogged():
                self._scores.count()
        except BaseException:
            self.close()
            raise

    def drawn(self, mechanism: Mechanism, rounds: int) -> Iterator[Any]:
        """Draw so many of the candidates, one job for each: of those that are left, with fresh randomness.

        Args:
            mechanism: one whose draws can be merged.
            rounds: at most as many as there are candidates.

        Raises:
            InvalidDataError: Spark could not answer.

        Proof: ``proofs/top_k.md``, claim 1, for the rounds.
        """
        winners: list[Any] = []
        for _ in range(rounds):
            with unlogged(), TranslatedErrors(lambda _: _undrawn(self._shown), Exception):
                winners.append(selected(self._scores, mechanism, without=winners).winner())
            yield winners[-1]

    def close(self) -> None:
        """Let Spark forget them. Where it cannot be asked any more, it has; that must not cost an answer."""
        with suppress(SelectionError), reading(self._shown), unlogged():
            self._scores.unpersist()


def _nobody_elses(scores: Any) -> Any:
    """The same rows by a plan that no other frame has, as Spark keeps one copy for all frames of one plan.

    What differs is a condition that always holds; when Spark optimizes a plan, after it has looked for a copy, it is
    left out.
    """
    F = spark_functions(scores)  # noqa: N806
    return scores.where(F.lit(os.urandom(16).hex()).isNotNull())


def check_workers(session: Any, shown: str) -> None:
    """Have a worker of Spark do nothing, so that one that cannot draw is found before anyone pays.

    Args:
        session: whose workers.
        shown: how errors speak of the table.

    Raises:
        InvalidDataError: they run a Python in which this package is not installed, or none at all.
    """
    with TranslatedErrors(lambda _: _without_us(shown)), unlogged():
        session.range(1).mapInArrow(_as_they_are, "id bigint").toArrow()


def _as_they_are(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """Of this package, so that a worker needs the package to do it."""
    yield from batches


def _without_us(shown: str) -> InvalidDataError:
    hint = "Install it where Spark's workers run; or set PYSPARK_PYTHON to a Python that has it, before Spark starts."
    return InvalidDataError("source", Shown(shown), "a table of a Spark whose Python workers have dpselect", hint)


def _undrawn(shown: str) -> InvalidDataError:
    hint = "Its rows were read, but then the draw failed, in Spark or here. If it was charged, it stays charged."
    return InvalidDataError("source", Shown(shown), "a table whose scores Spark can draw from", hint)


def selected(scores: Any, mechanism: Mechanism, *, without: Sequence[Any] = ()) -> CandidateSelection:
    """Draw one of the rows of `scores` by `mechanism`, in one job.

    Args:
        scores: see `PersistedScores`.
        mechanism: one whose draws can be merged.
        without: candidates that are left out.

    What Spark raises quotes values: who calls it says it in other words.
    """
    what = dict(scores.dtypes)["what"]
    task = _task(mechanism, tuple(without))
    return merged(scores.mapInArrow(task, f"part bigint, what {what}, state binary").toArrow(), mechanism)


def merged(sent: Any, mechanism: Mechanism) -> CandidateSelection:
    """What the tasks sent, as an Arrow table, together."""
    parts, states = (sent.column(name).to_pylist() for name in ("part", "state"))
    drawn = [PartialSelection.from_bytes(mechanism, state) for state in states]
    first = reduce(PartialSelection.merged, drawn, PartialSelection.of(mechanism, []))
    return CandidateSelection(first, _Names(dict(zip(parts, sent.column("what"), strict=True))))


class _Names(Mapping[int, Any]):
    """Candidates as Arrow holds them, each made a value of Python when it is looked at.

    Python does not have every value of Spark. Those of parts that lost are never looked at, so whether there is an
    answer does not depend on them.
    """

    def __init__(self, scalars: Mapping[int, Any]) -> None:
        self._scalars = scalars

    def __getitem__(self, part: int) -> Any:
        return self._scalars[part].as_py()

    def __iter__(self) -> Iterator[int]:
        return iter(self._scalars)

    def __len__(self) -> int:
        return len(self._scalars)


def drawn(
    batches: Iterator[RecordBatch], part: int, mechanism: Mechanism, without: Sequence[Any] = ()
) -> Iterator[RecordBatch]:
    """What a task does: one pass over its rows of ``what`` and ``number``, one row out, or none if it has no rows.

    Rows `without` which the draw is made are no rows. They go to the tasks as values, and not into the query as text:
    Spark's language cannot write every date.
    """
    selection, name = PartialSelection.of(mechanism, []), None
    for number, each in enumerate(batches, start=part << 32):
        batch = _left(each, without)
        selection = selection.merged(PartialSelection.of(mechanism, batch.column(1), partition=number))
        winner = selection.so_far()
        if winner is not None and winner.partition == number:
            name = batch.column(0).slice(winner.index, 1)
    if name is not None:
        state = pa.array([selection.to_bytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([pa.array([part], pa.int64()), name, state], ["part", "what", "state"])


def _left(batch: RecordBatch, without: Sequence[Any]) -> RecordBatch:
    if not without:
        return batch
    what = batch.column(0)
    return batch.filter(pc.invert(pc.is_in(what, pa.array(without, what.type))))


def _task(
    mechanism: Mechanism, without: Sequence[Any] = ()
) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    def draw(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        return drawn(batches, context.partitionId(), mechanism, without)

    return draw
