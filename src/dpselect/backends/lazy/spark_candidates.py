"""Public candidates in a Spark data frame: they are checked in Spark, and long lists stay there."""

from __future__ import annotations

from datetime import date
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.lazy.spark_dialect import read
from dpselect.backends.row_rules import Value
from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.summaries import MANY_CANDIDATES, CandidateKind, DistantCandidates, PublicCandidates

SHOWN = "<PySpark DataFrame>"

_KINDS = {
    Holds.INTEGERS: CandidateKind.INTEGER,
    Holds.FLOATS: CandidateKind.NUMBER,
    Holds.SHORT_FLOATS: CandidateKind.NUMBER,
    Holds.TEXT: CandidateKind.TEXT,
    Holds.DATES: CandidateKind.DATE,
    Holds.BOOLEANS: CandidateKind.BOOLEAN,
}

_PUBLIC = "Candidates are public: a list made from the table that is asked reveals what only one person has."


def listed(given: Any, rows: Any, *, most_fetched: int, allow_many: bool) -> PublicCandidates | DistantCandidates:
    """The candidates in a Spark frame, which has to contain each of them once.

    They are public, so errors may say what is wrong with them; it is found before anything is charged. A frame may
    give other rows when it is read again, and so other candidates. That is no loss of privacy if these are public too.

    Args:
        given: the frame of the candidates, with one column.
        rows: the frame that will be asked, of the same Spark.
        most_fetched: a longer list stays in Spark.
        allow_many: whether more than `MANY_CANDIDATES` are allowed.

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
            return PublicCandidates.given(few, allow_many=allow_many)
    if found["number"] > MANY_CANDIDATES and not allow_many:
        raise _refused(f"at most {MANY_CANDIDATES:,} candidates", "To allow more, use allow_many=True.")
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
