"""Candidates from a public table, such as a code book or a catalogue, as they are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from dpselect.errors import InvalidCandidatesError, InvalidDataError, Shown, did_you_mean, typed
from dpselect.rows.columns import Column, Holds, candidate_kinds
from dpselect.rows.duckdb.scan import LINE, Source
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.files.lines import ignored
from dpselect.rows.files.source import FileSource
from dpselect.rows.frames.frame import frame_source
from dpselect.summaries import CandidateKind, candidate_kind
from dpselect.summaries.kinds import CONVERSIONS, Member, kind_of

_PUBLIC = "Candidates are public: never read them from the table that is asked."


def candidates_from(source: object, *, column: str, kind: CandidateKind | str | None = None) -> list[Member]:
    """The different values in one column of a *public* table, in the order in which they first occur.

    For a code book or a catalogue without data about people. Not for the table that is asked: which values occur there
    is private, and no check can tell such a table from a public one.

    Args:
        source: a *public* file or frame, in any form that `dpselect.Dataset` takes without a `Format`; or a PySpark
            data frame, whose column is fetched.
        column: name of the column.
        kind: how to read a column without a type, as in a CSV file: ``"integer"``, ``"number"``, ``"text"``,
            ``"date"`` or ``"boolean"``, or a word of a certificate, such as ``"whole numbers"``. By default whole
            numbers if all of them look like it (01067 does not), else text.

    Raises:
        InvalidCandidatesError: there is no such file or column, or a value is missing or not of the kind. The table is
            public, so the message names the line.

    >>> import dpselect as dps
    >>> days = dps.candidates_from("examples/data/free_days.csv", column="team")  # if the teams are publicly known
    >>> days
    ['north', 'south', 'west']
    """
    wanted = None if kind is None else candidate_kind(kind)
    try:
        held = _opened(source, column)
        named = held.columns[_place([each.name for each in held.columns], column)]
        is_untyped = named.holds is Holds.ANYTHING
        if not is_untyped and not candidate_kinds(named):
            expected = "a column of whole numbers, numbers, text, dates or booleans"
            raise InvalidCandidatesError("column", typed(column), expected, named.described())
        if not is_untyped and wanted is not None:
            expected = "None where the column has a type of its own"
            raise InvalidCandidatesError("kind", Shown(repr(str(wanted))), expected)
        rows = _rows_of_values(held, named)
    except InvalidDataError as refused:
        raise InvalidCandidatesError(refused.name, refused.got, refused.expected, refused.hint) from None
    if None in rows:
        got = Shown(f"<{held.place(rows[None])}>")
        raise InvalidCandidatesError("source", got, f"a value in column {column!r}")
    convert: Callable[[Any], Any] = Decimal if named.holds is Holds.DECIMALS else lambda value: value
    if is_untyped:
        wanted = wanted or kind_of(list(rows))
        convert = CONVERSIONS[wanted]
    members = dict[Any, None]()
    for value, row in rows.items():
        try:
            members[convert(value)] = None
        except ValueError:
            got = Shown(f"<{held.place(row)}>")
            raise InvalidCandidatesError("source", got, f"{wanted} in column {column!r}") from None
    return list(members)


def _opened(source: Any, column: str) -> Source:
    if type(source).__module__.startswith("pyspark."):
        renamed = source.toDF(*map(str, range(len(source.columns))))  # a dot in a name would select a nested column
        unread = InvalidCandidatesError("source", Shown("<PySpark DataFrame>"), "a frame that can be read to its end")
        place = _place(source.columns, column)
        with TranslatedErrors(lambda _: unread):
            source = renamed.select(str(place)).toArrow().rename_columns([column])
    found = FileSource.at(source) if isinstance(source, str | Path) else frame_source(source)
    if found is None:
        raise InvalidCandidatesError("source", source, "the path of a file, or a frame", _PUBLIC)
    return found


def _rows_of_values(held: Source, named: Column) -> dict[Any, int]:
    """The first line or row with each value, by its number; of None: of those that have none."""
    left_out, found, row = list[int](), dict[Any, int](), 0
    for batch in held.counting(left_out.extend).batches([named, LINE] if held.has_lines else [named], ignored):
        values, *lines = (each.to_pylist() for each in batch.columns)
        for value, at in zip(values, *lines or [range(row, row + len(values))], strict=True):
            is_missing = value != value or (named.holds is Holds.ANYTHING and not (value or "").strip())
            found.setdefault(None if is_missing else value, at)
        row += len(values)
    if left_out:
        found[None] = min(*left_out, found.get(None, left_out[0]))
    return found


def _place(names: Sequence[object], column: str) -> int:
    if not isinstance(cast(object, column), str) or list(names).count(column) != 1:
        # Only a name that is nearly the wanted one is shown: without a header, the names are somebody's row.
        are = "is 1" if len(names) == 1 else f"are {len(names)}"
        expected = f"the name of one of the columns, of which there {are}"
        raise InvalidCandidatesError("column", typed(column), expected, did_you_mean(column, names))
    return names.index(column)
