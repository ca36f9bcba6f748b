"""File formats: found by the end of the name, and checked against the first bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from dpselect.backends.columns import Column
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.files import csv_lines, json_lines, parquet_rows
from dpselect.backends.rows.arrow import RecordBatch
from dpselect.errors import InvalidDataError, Shown


class Format(Enum):
    """A file format, with its file name endings."""

    CSV = (".csv",)
    PARQUET = (".parquet",)
    JSON_LINES = (".jsonl", ".ndjson")


ENDINGS = {ending: format for format in Format for ending in format.value}

ENDINGS_TEXT = f"{', '.join(list(ENDINGS)[:-1])} or {list(ENDINGS)[-1]}"

_SHEET = "Save the sheet as CSV, in UTF-8 and with commas."
_COMPRESSED = "Decompress it first; Parquet is compressed as it is."
_HINTS = {
    ".tsv": csv_lines.convert_hint("\t"),
    ".tab": csv_lines.convert_hint("\t"),
    ".json": "With one object on each line, name it .jsonl; convert a list of objects first.",
    ".xlsx": _SHEET,
    ".xls": _SHEET,
    ".ods": _SHEET,
    ".gz": _COMPRESSED,
    ".zip": _COMPRESSED,
}

_OTHER_CONTENT = {
    b"PAR1": "Parquet",
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def format_of(path: str, shown: Shown) -> Format:
    """The format by the end of the name, confirmed by the first bytes.

    Raises:
        InvalidDataError: the name has another ending, or the file is empty, cannot be opened or has another format.
    """
    format = ENDINGS.get(os.path.splitext(path)[1].lower())
    if format is None:
        hint = _HINTS.get(os.path.splitext(path)[1].lower(), "")
        raise InvalidDataError("source", shown, f"a file whose name ends in {ENDINGS_TEXT}", hint)
    with _opening(shown), open(path, "rb") as file:
        start = file.read(4)
        file.seek(-min(4, os.fstat(file.fileno()).st_size), os.SEEK_END)
        end = file.read(4)
    if not start:
        raise InvalidDataError("source", shown, "a table", "The file is empty (0 bytes).")
    if format is Format.PARQUET:
        if not start == end == b"PAR1":
            hint = "It is encrypted." if end == b"PARE" else "Its content is something else, or was cut off."
            raise InvalidDataError("source", shown, "a Parquet file, as its name says", hint)
        return format
    for signature, content in _OTHER_CONTENT.items():
        if start.startswith(signature):
            name = "a CSV file" if format is Format.CSV else "a file of JSON lines"
            raise InvalidDataError("source", shown, f"{name}, as its name says", f"Its content is {content}.")
    return format


def read_columns(path: str, format: Format, shown: Shown) -> tuple[Column, ...]:
    """The columns in the first line or the footer of one file."""
    readers = {Format.CSV: csv_lines, Format.PARQUET: parquet_rows, Format.JSON_LINES: json_lines}
    with _opening(shown):
        return readers[format].read_columns(path, shown)


def _opening(shown: Shown) -> TranslatedErrors:
    """Hide the system's error: it quotes the whole path, which a glob may have found."""
    return TranslatedErrors(lambda _: InvalidDataError("source", shown, "a file that can be opened"), OSError)


def size(path: str, format: Format) -> int:
    """Rows of Parquet, bytes of text."""
    return parquet_rows.row_count(path) if format is Format.PARQUET else os.path.getsize(path)


def rows(
    path: str,
    format: Format,
    columns: Sequence[Column],
    *,
    among: tuple[Column, ...],
    advance: Callable[[int], None],
) -> Iterator[RecordBatch]:
    """Rows of one file with the `columns` asked for, out of all its columns `among`."""
    match format:
        case Format.PARQUET:
            return parquet_rows.rows(path, columns, advance=advance)
        case Format.JSON_LINES:
            return json_lines.rows(path, columns, advance=advance)
        case Format.CSV:
            places = [among.index(column) for column in columns]
            return csv_lines.rows(path, places, width=len(among), advance=advance)
