"""Opens the table behind a source, names it, and reads candidates from a public one. No unused engine is imported."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpselect import errors
from dpselect.checks import did_you_mean
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, describe, typed
from dpselect.formats import Format
from dpselect.rows.columns import LINE, Holds, TranslatedErrors, candidate_kinds, cut_off
from dpselect.rows.duckdb import Embedded
from dpselect.rows.files import OF_TYPES, FileSource, paths_of
from dpselect.rows.frame import frame_source, of_delta
from dpselect.rows.scan import Source
from dpselect.rows.statements import Engine
from dpselect.summaries import CandidateKind, candidate_kind
from dpselect.summaries.candidates import Member
from dpselect.summaries.domain import CONVERSIONS, kind_of

_LONGEST_NAME = 200


def open_table(
    source: object, *, table: object = None, memory_limit: int | None = None, format: Format | None = None
) -> Engine:
    """The table behind `source`, given as to `dpselect.Dataset`; only headers, footers and schemas are read."""
    library = type(source).__module__.partition(".")[0]
    if table is not None and not (isinstance(source, str) and "://" in source):
        raise InvalidDataError("table", typed(table), "nothing, because the source is a table itself")
    if (on_server := is_server(source)) or library == "pyspark":
        if format is not None:
            format.check((), "tables on a server" if on_server else "frames of Spark")
        if memory_limit is not None:
            expected = "nothing, because Spark and servers hold their own rows and have limits of their own"
            hint = "It applies to files, to frames in memory, and to what is counted here of lazy frames."
            raise InvalidParameterError("memory_limit", Shown(f"<{memory_limit} bytes>"), expected, hint)
        if on_server:
            from dpselect.rows.postgres import PostgresTable

            return PostgresTable(str(source), _checked_name(table))
        from dpselect.rows.spark import SparkFrame

        return SparkFrame(source)
    with cut_off:
        if isinstance(source, str | Path) and os.path.isdir(os.path.join(source, "_delta_log")):  # not inside it
            found: Source | None = of_delta(str(source))
        else:
            found = frame_source(source) if paths_of(source) is None else FileSource.at(source, format)
    if found is None:
        expected = "the path of a file, a glob, a frame, a lazy frame or the URL of a PostgreSQL server"
        is_connection = library in ("psycopg", "psycopg2", "sqlalchemy")
        hint = "Of a connection or an engine of SQLAlchemy, give the URL." if is_connection else ""
        raise InvalidDataError("source", Shown(describe(source)), expected, hint)
    if format is not None and not isinstance(found, FileSource):
        format.check(OF_TYPES, "frames, whose columns have types")
    return Embedded(found, memory_limit, format)


def _checked_name(table: object) -> str:
    if isinstance(table, str) and table and "\0" not in table:
        return table
    raise InvalidDataError("table", typed(table), "the name of a table, such as `table='clicks'`, or 'schema.clicks'")


def is_server(source: object) -> bool:
    """Whether it is the URL of a server."""
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def identity_of(
    source: object, opened: Engine | None, *, table: object = None, name: object = None
) -> tuple[str, dict[str, Any]]:
    """What a ledger and what certificates call a table, as far as it is known without reading a row.

    A ledger recognises a question that was asked before by the real path of a file or a glob; a server's URL without
    its password, and the name of the table; the id and the version of a table of deltalake or pyiceberg; otherwise the
    kind of table. None was opened if there is no such file yet.

    Certificates have the names of files without folders, or the name of a table, or the kind of a frame; and the
    columns' hash. Of a glob it is the last part of the pattern, because the name of a file that only a glob found might
    be a person's. JSON lines have no hash: their columns are the keys of the first person's line. Else it is the
    SHA-256 of a JSON list with the name of each column, and what it holds, as a pair of texts: without blanks and in
    ASCII. The caller may want it to be called by another `name`.
    """
    held = opened.source if isinstance(opened, Embedded) else None
    shown, named = "" if opened is None else opened.shown, dict[str, Any]()
    origin = held.origin or shown if held is not None else shown
    if is_server(source):
        origin, named["table"] = errors.table_name(str(source), _checked_name(table)), str(table)
    elif (paths := paths_of(source)) is not None:
        real = sorted(os.path.realpath(path) for path in paths)
        origin = real[0] if isinstance(source, str | Path) else repr(real)
        named["files"] = [_valid(os.path.basename(os.path.normpath(path))) for path in paths]
    elif held is not None and held.table_name:
        named["table"] = _valid(held.table_name)
    else:
        named["frame"] = shown.strip("<>")
    if opened is not None and (held is None or held.has_header):
        columns = [[column.name, column.holds.name.lower()] for column in opened.columns]
        named["schema"] = sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()
    if name is not None:
        if not isinstance(name, str):
            raise InvalidParameterError("source_name", name, "text")
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or errors.may_tell_password(name):
            expected = f"printable text of at most {_LONGEST_NAME} characters, and no address of a server"
            raise InvalidParameterError("source_name", Shown("<text>"), expected)
        named["name"] = name
    return origin, named


def _valid(name: str) -> str:
    """A name that UTF-8 can hold; file systems have others."""
    return name.encode("utf-8", "replace").decode()


def candidates_from(source: object, *, column: str, kind: CandidateKind | str | None = None) -> list[Member]:
    """The different values in one column of a *public* table, in the order in which they first occur.

    For a code book or a catalogue without data about people. Not for the table that is asked: which values occur there
    is private, and no check can tell such a table from a public one.

    Args:
        source: a *public* file or frame, in any form that `dpselect.Dataset` takes without a `Format`. A frame of Spark
            is fetched.
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
        if hasattr(source, "toArrow"):
            source = _fetched(source, column)
        held = FileSource.at(source) if isinstance(source, str | Path) else frame_source(source)
        if held is None:
            hint = "Candidates are public: never read them from the table that is asked."
            raise InvalidCandidatesError("source", source, "the path of a file, or a frame", hint)
        named = next((each for each in held.columns if str.__eq__(each.name, column) is True), None)  # arrays: by cell
        if named is None:
            # Only a name that is nearly the wanted one is shown: without a header, the names are somebody's row.
            near = did_you_mean(column, [each.name for each in held.columns])
            are = "is 1" if len(held.columns) == 1 else f"are {len(held.columns)}"
            expected = f"the name of one of the columns, of which there {are}"
            raise InvalidCandidatesError("column", typed(column), expected, near)
        is_untyped = named.holds is Holds.ANYTHING
        if not is_untyped and not candidate_kinds(named):
            expected = "a column of whole numbers, numbers, text, dates or booleans"
            raise InvalidCandidatesError("column", typed(column), expected, named.described())
        if not is_untyped and wanted is not None:
            expected = "None where the column has a type of its own"
            raise InvalidCandidatesError("kind", Shown(repr(str(wanted))), expected)
        missing, rows = list[int](), dict[Any, int]()  # lines or rows by their numbers; of a value the first
        for read in held.numbered([named, LINE], skipped=missing.extend):
            for value, at in zip(read[named].to_pylist(), read[LINE].to_pylist(), strict=True):
                if value is None or value != value or (is_untyped and not value.strip()):
                    missing.append(at)
                rows.setdefault(value, at)
    except InvalidDataError as refused:
        hint = refused.hint if "`" not in refused.hint else "A list needs commas and UTF-8: no option changes that."
        raise InvalidCandidatesError(refused.name, refused.got, refused.expected, hint) from None
    if missing:
        got = Shown(f"<{held.place(min(missing))}>")
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


def _fetched(frame: Any, column: str) -> Any:
    """The column of a frame of Spark, as Arrow has it; of a frame without it the names alone."""
    numbered = frame.toDF(*map(str, range(len(frame.columns))))  # a dot in a name would select a nested column
    asked = numbered.select(str(frame.columns.index(column))) if column in frame.columns else numbered.limit(0)
    unread = InvalidCandidatesError("source", Shown("<PySpark DataFrame>"), "a frame that can be read to its end")
    with TranslatedErrors(lambda _: unread):
        found = asked.toArrow()
    return found.rename_columns([column] if column in frame.columns else frame.columns)
