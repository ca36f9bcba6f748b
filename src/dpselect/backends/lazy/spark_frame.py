"""Spark data frames: one job for each question, run where the rows are.

If a machine dies, its tasks run again on another. So no task draws lots. Instead, the driver draws one key for each
question, and a row's lot is a hash of the key and of the row's place. A task that runs twice computes the same lots, so
that two different choices for one unit are never mixed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column
from dpselect.backends.lazy.engine_contract import EVERY_KIND, Frame, plain
from dpselect.backends.lazy.extras import spark_functions
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
        columns: the columns of its schema.
        shown: its name in errors and ``repr``.
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
        """Itself: it has no state of a query."""
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
        """The distinct rows, found by hashing; narwhals would use windows, which sort all rows."""
        return nw.from_native(frame.to_native().distinct())

    def with_lots(self, frame: Frame, by: Sequence[str]) -> Frame:
        """`frame` with a ``lot`` in each row: SHA-256 of a new key and of the columns `by`.

        Each value is preceded by its length, and a missing one is a dash, so that no two rows give the same text.
        """
        F = spark_functions(self.frame)  # noqa: N806
        texts = [F.col(name).cast("string") for name in by]
        parts = [F.coalesce(F.concat(F.octet_length(text), F.lit(":"), text), F.lit("-")) for text in texts]
        lot = F.sha2(F.concat(F.lit(os.urandom(32).hex()), *parts), 256)
        return nw.from_native(frame.to_native().withColumn("lot", lot))

    @property
    def most_fetched(self) -> int:
        """With more candidates than this, scores stay in Spark."""
        return MOST_ON_THE_DRIVER

    def listed(self, candidates: object, *, allow_many: bool) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a Spark frame; None if `candidates` is not one."""
        if not is_spark(candidates):
            return None
        with unlogged():
            return listed(candidates, self.frame, most_fetched=self.most_fetched, allow_many=allow_many)

    def scores(self, counted: Frame, candidates: PublicCandidates | DistantCandidates) -> PersistedScores:
        """The scores of all candidates, kept in Spark; candidates not in `counted` score 0."""
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
