"""Spark data frames: one job for a question, run where the rows are.

What a task computes may be computed again, on another machine, when that one dies. So nothing here is drawn in a task:
one key is, on this side, for each question, and a row's lot is a hash of the key and of the row's place. A task that
runs twice finds the same lots, and of no unit two different choices are mixed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column
from dpselect.backends.lazy.engine_contract import EVERY_KIND, Frame
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.lazy.matched import plain
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.spark_candidates import SHOWN, is_spark, listed
from dpselect.backends.lazy.spark_dialect import SPARK, read
from dpselect.backends.lazy.spark_logs import unlogged
from dpselect.backends.lazy.spark_selection import MOST_ON_THE_DRIVER, PersistedScores, scored, whole_numbers
from dpselect.backends.lazy.spark_views import as_opened, columns_in
from dpselect.backends.row_rules import RowValue
from dpselect.backends.rows.arrow import pa
from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates


@dataclass(frozen=True, slots=True, repr=False)
class SparkFrame:
    """A data frame of Spark, classic or through Spark Connect.

    Attributes:
        frame: the data frame.
        columns: from its schema.
        shown: how errors and ``repr`` speak of it.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown: str = SHOWN
    counts_distinct = False
    in_filters = EVERY_KIND - {CandidateKind.DATE}  # PySpark cannot write dates before the year 1000

    @classmethod
    def of(cls, frame: Any) -> SparkFrame:
        """Read the schema of `frame`."""
        with reading(SHOWN):
            return cls(frame, columns_in(frame, SHOWN))

    def query(self) -> SparkFrame:
        """Itself: it remembers nothing of a query."""
        return self

    def rows(self, values: Mapping[str, RowValue]) -> Frame:
        """The rows, with a column for each name."""
        with reading(self.shown):
            frame = as_opened(self.frame, [each.column for each in values.values()], self.shown)
            return nw.from_native(read(frame, values))

    def candidates(self, name: str, candidates: PublicCandidates) -> Frame:
        """The candidates as a frame."""
        with reading(self.shown):
            column = f"{name} {SPARK.types[candidates.kind]}"
            listed = self.frame.sparkSession.createDataFrame(pa.table({name: plain(candidates)}), column)
            return nw.from_native(listed)

    def different(self, frame: Frame) -> Frame:
        """The different rows, by hashing: narwhals would number them in windows, which sorts them all."""
        return nw.from_native(frame.to_native().distinct())

    def with_lots(self, frame: Frame, by: Sequence[str]) -> Frame:
        """`frame` with a ``lot`` in each row: SHA-256 of a fresh key and of the columns `by`.

        Each of these with its length before it, or a dash where it is missing: no two rows are written alike.
        """
        F = spark_functions(self.frame)  # noqa: N806
        texts = [F.col(name).cast("string") for name in by]
        parts = [F.coalesce(F.concat(F.octet_length(text), F.lit(":"), text), F.lit("-")) for text in texts]
        lot = F.sha2(F.concat(F.lit(os.urandom(32).hex()), *parts), 256)
        return nw.from_native(frame.to_native().withColumn("lot", lot))

    @property
    def most_fetched(self) -> int:
        """Scores of more candidates stay where they are."""
        return MOST_ON_THE_DRIVER

    def listed(self, candidates: object, *, allow_many: bool) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a frame of Spark; None if `candidates` is none."""
        if not is_spark(candidates):
            return None
        with unlogged():
            return listed(candidates, self.frame, most_fetched=self.most_fetched, allow_many=allow_many)

    def scores(self, counted: Frame, candidates: PublicCandidates | DistantCandidates) -> PersistedScores:
        """The scores of all candidates, kept in Spark; those that are not `counted` score 0."""
        with reading(self.shown):
            scores = scored(counted.to_native(), self._all_of(candidates))
        return PersistedScores(scores, self.shown)

    def _all_of(self, candidates: PublicCandidates | DistantCandidates) -> Any:
        if isinstance(candidates, DistantCandidates):
            return candidates.frame
        values = candidates.values
        whole = whole_numbers(self.frame.sparkSession, values) if isinstance(values, range) else None
        return self.candidates("what", candidates).to_native() if whole is None else whole

    def fetched(self, frame: Frame) -> Any:
        """The rows of `frame` as an Arrow table."""
        with reading(self.shown), unlogged():
            return frame.to_native().toArrow()
