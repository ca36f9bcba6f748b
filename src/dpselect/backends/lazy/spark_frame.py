"""Spark data frames: rules for rows in Spark's SQL, public candidates, and one job for each question."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.engine_contract import EVERY_KIND, Frame, plain
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.lazy.spark_selection import MOST_ON_THE_DRIVER, PersistedScores, scored, unlogged, whole_numbers
from dpselect.backends.row_rules import Dialect, RowValue, Value, rules
from dpselect.backends.rows.arrow import pa
from dpselect.errors import InvalidCandidatesError, InvalidDataError, Shown
from dpselect.mechanisms.seeding import key_of_a_choice
from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates


class _Spark(Dialect):
    row_number = "monotonically_increasing_id()"
    types: ClassVar = {
        CandidateKind.INTEGER: "bigint",
        CandidateKind.NUMBER: "double",
        CandidateKind.TEXT: "string",
        CandidateKind.DATE: "date",
        CandidateKind.BOOLEAN: "boolean",
    }
    amount = "decimal(38,0)"

    def text(self, cell: str) -> str:
        return f"CAST({cell} AS string COLLATE UTF8_BINARY)"  # byte by byte, whatever the column's collation

    def valid_text(self, cell: str) -> str:
        return f"try_validate_utf8({self.text(cell)})"

    def unit_key(self, name: str, holds: Holds) -> str:
        return f"hex({name})" if holds is Holds.BYTES else name

    def is_whole(self, number: str) -> str:
        return f"{number} = rint({number})"  # floor returns 64-bit numbers, and is an error beyond

    def half_even(self, number: str) -> str:
        return f"rint({number})"


SPARK = _Spark()


def cell(F: Any, column: Column) -> Any:  # noqa: N803
    """The cell of `column`, whatever its name is.

    Args:
        F: the functions for columns of its frame, see `spark_functions`.
        column: the column.
    """
    return F.col("`" + column.name.replace("`", "``") + "`")


def read(frame: Any, values: Mapping[str, RowValue]) -> Any:
    """A data frame of the values that the rules read from `frame`, with a column for each name."""
    F = spark_functions(frame)  # noqa: N806
    names, expressions = rules(values, SPARK)
    cells = frame.select(*(cell(F, column).alias(name) for column, name in names.items()))
    return cells.select(*(F.expr(sql).alias(name) for name, sql in expressions.items()))


_TYPES = {
    Holds.INTEGERS: "^(tiny|small|big)?int$",
    Holds.FLOATS: "^double$",
    Holds.SHORT_FLOATS: "^float$",
    Holds.DECIMALS: "^decimal",
    Holds.TEXT: "^(string|char|varchar)",
    Holds.DATES: "^date$",
    Holds.BOOLEANS: "^boolean$",
    Holds.BYTES: "^binary$",
}
"""Spark's names of the types of columns that questions can use."""


def columns_in(frame: Any, shown: str) -> tuple[Column, ...]:
    """The columns of a Spark frame, from its schema."""
    empty = {name: Holds.NOTHING for name, type_ in frame.dtypes if type_ == "void"}
    return columns_of(frame, frame.columns, shown, unlike=empty.get)


def as_opened(frame: Any, asked: Iterable[Column], shown: str) -> Any:
    """`frame`, after a check that the columns asked for have the types that they had when it was opened.

    The error depends on a column's type, never on its rows. If the type changes after this check, the column has only
    nulls, so that reading it cannot fail.

    Args:
        frame: the frame.
        asked: the columns, as they were when the frame was opened.
        shown: its name in errors.

    Raises:
        InvalidDataError: a column is missing, or has another type.
    """
    if not nw.dependencies.is_pyspark_connect_dataframe(frame):
        return frame
    F = spark_functions(frame)  # noqa: N806
    then = {column.name: column for column in asked}
    now = {column.name: column for column in columns_in(frame.select("*"), shown)}  # a frame remembers its own schema
    if any(now.get(name) != column for name, column in then.items()):
        hint = "A view that it uses was replaced; open it again."
        raise InvalidDataError("source", Shown(shown), "columns of the types that they had when it was opened", hint)
    return frame.select(*(_unless_replaced(F, column) for column in then.values()))


def _unless_replaced(F: Any, column: Column) -> Any:  # noqa: N803
    value = cell(F, column)
    pattern = _TYPES.get(column.holds)
    return value if pattern is None else F.when(F.typeof(value).rlike(pattern), value).alias(column.name)


SHOWN = "<PySpark DataFrame>"

_KINDS = {
    Holds.INTEGERS: CandidateKind.INTEGER,
    Holds.FLOATS: CandidateKind.NUMBER,
    Holds.SHORT_FLOATS: CandidateKind.NUMBER,
    Holds.TEXT: CandidateKind.TEXT,
    Holds.DATES: CandidateKind.DATE,
    Holds.BOOLEANS: CandidateKind.BOOLEAN,
}

_PUBLIC = (
    "Candidates are public: a list made from the table that is asked reveals what only one person has. values() and"
    " top_k() without candidates, with a delta, name what enough units have."
)


def listed(given: Any, rows: Any, *, most_fetched: int) -> PublicCandidates | DistantCandidates:
    """The candidates in a Spark frame, which has to contain each of them once.

    They are public, so errors may say what is wrong with them; it is found before anything is charged. A frame may
    give other rows when it is read again, and so other candidates. That is no loss of privacy if these are public too.

    Args:
        given: the frame of the candidates, with one column.
        rows: the frame that will be asked, of the same Spark.
        most_fetched: a longer list stays in Spark.

    Raises:
        InvalidCandidatesError: it is not such a frame, it is made of the same files as `rows`, or values are missing or
            duplicated.
        InvalidDataError: Spark could not answer.
    """
    if type(given) is not type(rows):
        raise _refused("a frame of the same Spark as the table's", "One of the two uses Spark Connect.")
    with reading(SHOWN):
        columns = columns_of(given, given.columns, SHOWN)
    if len(columns) != 1:
        raise _refused("a frame of one column", "Select it: frame.select('page').")
    kind = _KINDS.get(columns[0].holds)
    if kind is None:
        expected = "a column of whole numbers, floats, text, dates or booleans"
        raise _refused(expected, f"This one holds {columns[0].holds}.")
    with reading(SHOWN):
        if not set(given.inputFiles()).isdisjoint(rows.inputFiles()):
            raise _refused("a public list from elsewhere, not from the files of the table that is asked", _PUBLIC)
        frame, found = _looked_at(given, columns[0], kind)
        if found["bad"]:
            missing = "missing values, NaN, infinities, empty text and dates outside the years 1 to 9999"
            raise _refused(f"candidates without {missing}")
        if found["different"] != found["number"]:
            raise _refused("candidates without duplicates", _PUBLIC)
        if found["number"] <= most_fetched:
            fetched = frame.toArrow().column(0)
            few = fetched.to_numpy() if kind is CandidateKind.INTEGER else fetched
            return PublicCandidates.given(few)
    return DistantCandidates(kind, frame, found["number"], f"{found['mixed']} {found['added']}")


def is_spark(given: object) -> bool:
    """Whether `given` is a Spark frame, classic or through Spark Connect."""
    return nw.dependencies.is_pyspark_dataframe(given) or nw.dependencies.is_pyspark_connect_dataframe(given)


def _looked_at(given: Any, column: Column, kind: CandidateKind) -> tuple[Any, dict[str, Any]]:
    """The candidates in the type that rows are compared in, and all facts about them that are checked, in one job."""
    F = spark_functions(given)  # noqa: N806
    frame = read(given, {"what": Value(column, kind)})
    what = F.col("what")
    bad = what.isNull()
    if kind is CandidateKind.NUMBER:
        bad = bad | (F.abs(what) == float("inf"))
    if kind is CandidateKind.TEXT:
        bad = bad | ~F.is_valid_utf8(what) | (what == "")
    if kind is CandidateKind.DATE:
        bad = bad | ~F.year(what).between(date.min.year, date.max.year)  # Python has no other dates
    hashed = F.xxhash64(what)
    found = frame.agg(
        F.count(F.lit(1)).alias("number"),
        F.count_distinct(what).alias("different"),
        F.count_if(bad).alias("bad"),
        F.bit_xor(hashed).alias("mixed"),
        F.sum(F.shiftright(hashed, 24)).alias("added"),
    )
    return frame, found.collect()[0].asDict()


def _refused(expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError("candidates", Shown(SHOWN), expected, hint)


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
            frame = as_opened(self.frame, [each.column.source for each in values.values()], self.shown)
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

    def one_of_each(self, rows: Frame, whose: Sequence[str], column: str, kind: CandidateKind) -> Frame:
        """The value with the smallest lot, a hash of 64 bits of a new key, of `whose` and of the value.

        Spark aggregates numbers by hashing. That hash is one-to-one on a number, a date or a boolean; of texts with the
        same hash, the smaller one is chosen, for which Spark has to sort.
        """
        F = spark_functions(self.frame)  # noqa: N806
        key = F.lit(int.from_bytes(key_of_a_choice(), signed=True))
        lot = F.xxhash64(key, *(F.col(name) for name in (*whose, column)))
        order = F.struct(lot, F.col(column)) if kind is CandidateKind.TEXT else lot
        return nw.from_native(rows.to_native().groupBy(*whose).agg(F.min_by(column, order).alias(column)))

    @property
    def most_fetched(self) -> int:
        """With more candidates than this, scores stay in Spark."""
        return MOST_ON_THE_DRIVER

    def listed(self, candidates: object) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a Spark frame; None if `candidates` is not one."""
        if not is_spark(candidates):
            return None
        with unlogged():
            return listed(candidates, self.frame, most_fetched=self.most_fetched)

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
