"""Candidates from a public table, such as a code book or a catalogue, as they are there."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from dpselect.errors import InvalidCandidatesError, Shown, did_you_mean, typed
from dpselect.rows.duckdb.arrow import pa, pq
from dpselect.rows.failures import TranslatedErrors
from dpselect.summaries import CandidateKind, candidate_kind
from dpselect.summaries.kinds import CONVERSIONS, Member, kind_of

_PUBLIC = "Candidates are public: never read them from the table that is asked."


def candidates_from(source: object, *, column: str, kind: CandidateKind | str | None = None) -> list[Member]:
    """The different values in one column of a *public* table, in the order in which they first occur.

    For a code book or a catalogue without data about people. Not for the table that is asked: which values occur there
    is private, and no check can tell such a table from a public one.

    Args:
        source: path of a public ``.csv`` (UTF-8, with the names of the columns in the first line) or ``.parquet`` file,
            or a frame in memory (pandas, Polars, PyArrow), or a PySpark data frame, whose column is fetched.
        column: name of the column.
        kind: how to read a CSV file: ``"integer"``, ``"number"``, ``"text"``, ``"date"`` or ``"boolean"``, or as in a
            certificate ``"whole numbers"``, ``"numbers"``, ``"dates"``, ``"booleans"``. By default whole
            numbers if all of them look like it (01067 does not), else text.

    Returns:
        Values to be given as ``candidates=``.

    Raises:
        InvalidCandidatesError: there is no such file or column, or a value is missing or not of the kind. The table is
            public, so the message names the line.

    >>> import dpselect as dps
    >>> days = dps.candidates_from("examples/data/free_days.csv", column="team")  # if the teams are publicly known
    >>> days
    ['north', 'south', 'west']
    """
    wanted = None if kind is None else candidate_kind(kind)
    if isinstance(source, str | Path) and str(source).lower().endswith(".csv"):
        return _of_csv(Path(source), column, wanted)
    values = _values(source, column)
    for place, value in enumerate(values, 1):
        if value is None or value != value:
            raise InvalidCandidatesError("source", Shown(f"<row {place}>"), f"a value in column {column!r}")
    if wanted is not None:
        raise InvalidCandidatesError("kind", Shown(repr(str(wanted))), "None where the column has a type of its own")
    return list(dict.fromkeys(values))


def _of_csv(path: Path, column: str, kind: CandidateKind | None) -> list[Member]:
    lines = dict[str, int]()  # the first line of each value
    for line, text in _csv_values(path, column):
        lines.setdefault(text, line)
    kind = kind_of(list(lines)) if kind is None else kind
    members: list[Member] = []
    for text, line in lines.items():
        try:
            members.append(CONVERSIONS[kind](text))
        except ValueError:
            raise InvalidCandidatesError("source", Shown(f"<line {line}>"), f"{kind} in column {column!r}") from None
    return list(dict.fromkeys(members))


def _csv_values(path: Path, column: str) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            place = _place(next(reader, list[str]()), column)
            for fields in reader:
                if not fields:
                    continue
                if place >= len(fields) or not fields[place].strip():
                    got = Shown(f"<line {reader.line_num}>")
                    raise InvalidCandidatesError("source", got, f"a value in column {column!r}")
                yield reader.line_num, fields[place]
    except (OSError, csv.Error, UnicodeError, ValueError) as error:
        if isinstance(error, InvalidCandidatesError):
            raise
        raise _unreadable(path) from None


def _values(source: Any, column: str) -> list[Any]:
    """Of a Parquet file or a frame."""
    if isinstance(source, str | Path):
        if not str(source).lower().endswith(".parquet"):
            expected = "a path that ends in .csv or .parquet, or a frame"
            raise InvalidCandidatesError("source", Shown(repr(str(source))), expected, _PUBLIC)
        with TranslatedErrors(lambda _: _unreadable(Path(source)), OSError, pa.ArrowException):
            file = pq.ParquetFile(source)
            _place(file.schema_arrow.names, column)
            # Selected by name once more: with a dot in the name, nested columns are read as well.
            return file.read(columns=[column]).column(column).to_pylist()
    if type(source).__module__.startswith("pyspark."):
        place = _place(source.columns, column)
        renamed = source.toDF(*map(str, range(len(source.columns))))  # a dot in a name would select a nested column
        unread = InvalidCandidatesError("source", Shown("<PySpark DataFrame>"), "a frame that can be read to its end")
        with TranslatedErrors(lambda _: unread):
            return renamed.select(str(place)).toArrow().column(0).to_pylist()
    names = getattr(source, "column_names", None)  # Arrow
    names = getattr(source, "columns", None) if names is None and not hasattr(source, "collect") else names
    if names is None:
        raise InvalidCandidatesError("source", source, "a path, or a frame in memory", _PUBLIC)
    _place(list(names), column)
    values = source[column]
    convert = getattr(values, "to_list", None) or getattr(values, "to_pylist", None)
    return cast("list[Any]", convert()) if callable(convert) else list(values)


def _place(names: Sequence[object], column: str) -> int:
    if not isinstance(cast(object, column), str) or list(names).count(column) != 1:
        # Only a name that is nearly the wanted one is shown: without a header, the names are somebody's row.
        are = "is 1" if len(names) == 1 else f"are {len(names)}"
        expected = f"the name of one of the columns, of which there {are}"
        raise InvalidCandidatesError("column", typed(column), expected, did_you_mean(column, names))
    return names.index(column)


def _unreadable(path: Path) -> InvalidCandidatesError:
    expected = "a readable file of the format its name says" if path.is_file() else "an existing file"
    return InvalidCandidatesError("source", Shown(repr(str(path))), expected)
