"""Selection in Spark: tasks draw partial selections where the scores are, and each returns one row.

If a machine dies, its tasks run again on another, and draw again from that machine's randomness; nobody has seen the
first draw. Which of the two is used depends on machines, not on what was drawn. So the draw of each part has its exact
distribution, and the merged draw that of the mechanism (proof: ``proofs/partial_selection.md``). One action reads the
drawn rows once, and they are not cached: no draw of a part is seen twice, or together with another draw of this part.
(Scores are cached, because they are not random.)
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from typing import Any

from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.lazy.reading import reading
from dpselect.backends.rows.arrow import RecordBatch, pa, pc
from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.mechanisms import CandidateSelection, ExponentialNoiseTopK, Mechanism, PartialSelection, PartialTopK

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""The loggers to which PySpark writes its errors."""


@contextmanager
def unlogged() -> Generator[None]:
    """Suppress PySpark's log of its errors on the driver: their messages quote values."""
    from pyspark.logger import PySparkLogger

    # Made by PySpark: plain loggers of these names would stay, and would fail when PySpark logs.
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    nothing = _Nothing()
    for logger in loggers:
        logger.addFilter(nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(nothing)


class _Nothing(logging.Filter):
    """Blocks all records. Each question has its own filter, because the first to end would remove a shared one."""

    def filter(self, record: logging.LogRecord) -> bool:
        return False


MOST_ON_THE_DRIVER = 1_000_000
"""With more candidates than this, scores stay in Spark."""

_WIDEST = 2**61


def scored(counted: Any, listed: Any) -> Any:
    """Every candidate with its score; candidates that do not occur score 0.

    Args:
        counted: Spark data frame of ``what`` and ``number``, with each candidate at most once.
        listed: the candidates, in a column ``what``.
    """
    F = spark_functions(counted)  # noqa: N806
    number = F.coalesce(F.col("number"), F.lit(0)).cast("bigint").alias("number")
    return listed.join(counted, on="what", how="left").select("what", number)


def whole_numbers(spark: Any, values: range) -> Any:
    """A range as a data frame that Spark generates itself; None if Spark's arithmetic could overflow.

    It overflows silently: a range nearly as wide as 64 bits becomes an empty one.
    """
    low, high = min(values[0], values[-1]), max(values[0], values[-1])
    if not -_WIDEST <= low <= high <= _WIDEST:
        return None
    return spark.range(low, high + 1, abs(values.step)).withColumnRenamed("id", "what")


class PersistedScores:
    """Scores that Spark has computed and keeps, in memory or on disk, until they are closed.

    Computing them reads the table. A draw reads only the scores, so that an unreadable table fails before the charge.
    No other question shares them, not even an equal one: Spark would drop them for both when the first of the two ends.

    Args:
        scores: Spark data frame of the candidates ``what`` and their scores ``number``, numeric and without nulls.
        shown: the table's name in errors.

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

    def drawn(self, mechanism: Mechanism | ExponentialNoiseTopK, rounds: int) -> Iterator[Any]:
        """Draw `rounds` different candidates: with a job and fresh randomness for each, or all of them in one job.

        Args:
            mechanism: a mechanism whose draws can be merged.
            rounds: at most the number of candidates.

        Raises:
            InvalidDataError: Spark could not answer.

        Proof: ``proofs/top_k.md``, claim 1, for the rounds.
        """
        if isinstance(mechanism, ExponentialNoiseTopK):
            with unlogged(), TranslatedErrors(lambda _: _undrawn(self._shown), Exception):
                all_winners = selected_at_once(self._scores, mechanism, rounds)
            yield from all_winners
            return
        winners: list[Any] = []
        for _ in range(rounds):
            with unlogged(), TranslatedErrors(lambda _: _undrawn(self._shown), Exception):
                winners.append(selected(self._scores, mechanism, without=winners).winner())
            yield winners[-1]

    def close(self) -> None:
        """Let Spark drop the scores. If Spark is gone, so are they, and that must not cost an answer."""
        with suppress(SelectionError), reading(self._shown), unlogged():
            self._scores.unpersist()


def _nobody_elses(scores: Any) -> Any:
    """The same rows by a unique plan, because Spark keeps one copy for all frames with the same plan.

    The plan has an additional condition that always holds. Spark removes it when it optimizes the plan, after it has
    looked for a copy.
    """
    F = spark_functions(scores)  # noqa: N806
    return scores.where(F.lit(os.urandom(16).hex()).isNotNull())


def check_workers(session: Any, shown: str) -> None:
    """Run an empty task on a Spark worker, so that workers that cannot draw are found before the charge.

    Args:
        session: the session of the workers.
        shown: the table's name in errors.

    Raises:
        InvalidDataError: the workers have no Python, or one in which this package is not installed.
    """
    with TranslatedErrors(lambda _: _without_us(shown)), unlogged():
        session.range(1).mapInArrow(_as_they_are, "id bigint").toArrow()


def _as_they_are(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """A function of this package, so that a worker needs the package to run it."""
    yield from batches


def _without_us(shown: str) -> InvalidDataError:
    hint = "Install it where Spark's workers run, or set PYSPARK_PYTHON to a Python that has it before Spark starts."
    return InvalidDataError("source", Shown(shown), "a table of a Spark whose Python workers have dpselect", hint)


def _undrawn(shown: str) -> InvalidDataError:
    hint = "Its rows were read, but then the draw failed, in Spark or here. If it was charged, it stays charged."
    return InvalidDataError("source", Shown(shown), "a table whose scores Spark can draw from", hint)


def selected(scores: Any, mechanism: Mechanism, *, without: Sequence[Any] = ()) -> CandidateSelection:
    """Draw one of the rows of `scores` by `mechanism`, in one job.

    Args:
        scores: see `PersistedScores`.
        mechanism: a mechanism whose draws can be merged.
        without: candidates that are left out.

    Spark's errors quote values, so the caller has to replace them.
    """
    what = dict(scores.dtypes)["what"]
    task = _task(mechanism, tuple(without))
    return merged(scores.mapInArrow(task, f"part bigint, what {what}, state binary").toArrow(), mechanism)


def merged(sent: Any, mechanism: Mechanism) -> CandidateSelection:
    """The merged selection of what the tasks returned in an Arrow table."""
    parts, states = (sent.column(name).to_pylist() for name in ("part", "state"))
    drawn = [PartialSelection.from_bytes(mechanism, state) for state in states]
    first = reduce(PartialSelection.merged, drawn, PartialSelection.of(mechanism, []))
    return CandidateSelection(first, _Names(dict(zip(parts, sent.column("what"), strict=True))))


def selected_at_once(scores: Any, mechanism: ExponentialNoiseTopK, count: int) -> list[Any]:
    """Draw `count` of the rows of `scores` in one job, best first.

    Spark's errors quote values, so the caller has to replace them.
    """
    what = dict(scores.dtypes)["what"]
    task = _task_at_once(mechanism, count)
    columns = f"part bigint, place bigint, what {what}, state binary"
    return merged_at_once(scores.mapInArrow(task, columns).toArrow(), mechanism, count)


def merged_at_once(sent: Any, mechanism: ExponentialNoiseTopK, count: int) -> list[Any]:
    """The winners of what the tasks returned in an Arrow table, best first."""
    parts, places, states = (sent.column(name).to_pylist() for name in ("part", "place", "state"))
    drawn = [PartialTopK.from_bytes(mechanism, state, count=count) for state in states if state is not None]
    first = reduce(PartialTopK.merged, drawn, PartialTopK.of(mechanism, [], count=count))
    names = dict(zip(zip(parts, places, strict=True), sent.column("what"), strict=True))
    return [names[winner.partition, winner.index].as_py() for winner in first.winners()]


def drawn_at_once(
    batches: Iterator[RecordBatch], part: int, mechanism: ExponentialNoiseTopK, count: int
) -> Iterator[RecordBatch]:
    """The work of a task: one pass over its rows. Returns a row for each of its winners, the first with the state."""
    selection = PartialTopK.of(mechanism, [], count=count)
    names: dict[tuple[int, int], Any] = {}
    for number, batch in enumerate(batches, start=part << 32):
        selection = selection.merged(PartialTopK.of(mechanism, batch.column(1), partition=number, count=count))
        first = {(winner.partition, winner.index) for winner in selection.so_far()}
        names = {key: name for key, name in names.items() if key in first}
        names |= {key: batch.column(0).slice(key[1], 1) for key in first if key[0] == number}
    if names:
        state = [selection.to_bytes(), *[None] * (len(names) - 1)]
        columns = [
            pa.array([number for number, _ in names], pa.int64()),
            pa.array([place for _, place in names], pa.int64()),
            pa.concat_arrays(list(names.values())),
            pa.array(state, pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["part", "place", "what", "state"])


class _Names(Mapping[int, Any]):
    """Candidates in Arrow, each converted to Python when it is accessed.

    Python cannot represent every value of Spark. Candidates of parts that lost are never accessed, so whether there is
    an answer does not depend on them.
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
    """The work of a task: one pass over its rows of ``what`` and ``number``. Returns one row, or none if it has none.

    Rows of candidates in `without` are ignored. These candidates are sent to the tasks as values, not as text in the
    query, because Spark's SQL cannot express every date.
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


def _task_at_once(
    mechanism: ExponentialNoiseTopK, count: int
) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    def draw(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        return drawn_at_once(batches, context.partitionId(), mechanism, count)

    return draw
