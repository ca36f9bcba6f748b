"""Kinds of files: found by the end of the name, and checked against the first bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from enum import Enum

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import RecordBatch
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.files import csv_lines, lines
from dpselect.rows.files.csv_lines import LineDialect
from dpselect.rows.files.text_streams import COMPRESSIONS, uncompressed


class FileKind(Enum):
    """What a file is, with its file name endings."""

    CSV = (".csv", ".txt")
    TAB_SEPARATED = (".tsv", ".tab")
    PARQUET = (".parquet",)
    ARROW = (".arrow", ".feather", ".ipc")
    ORC = (".orc",)
    EXCEL = (".xlsx",)
    STATA = (".dta",)
    SPSS = (".sav", ".zsav")
    JSON_LINES = (".jsonl", ".ndjson")


_OF_STATISTICS = (FileKind.STATA, FileKind.SPSS)
TYPED = frozenset({FileKind.PARQUET, FileKind.ARROW, FileKind.ORC, *_OF_STATISTICS})
"""Those whose columns have types."""

_COMPRESSED_ENDINGS = {f".json{compression}": FileKind.JSON_LINES for compression in COMPRESSIONS} | {
    f"{ending}{compression}": kind
    for kind in FileKind
    if kind not in TYPED and kind is not FileKind.EXCEL
    for ending in kind.value
    for compression in COMPRESSIONS
}
ENDINGS = {ending: kind for kind in FileKind for ending in kind.value}

ENDINGS_TEXT = f"{', '.join(list(ENDINGS)[:-1])} or {list(ENDINGS)[-1]}"

_COMPRESSED_TEXT = " and ".join(COMPRESSIONS)
_SHEET = "Save the sheet as CSV."
_COMPRESSED = f"Text files may be compressed, with names in {_COMPRESSED_TEXT}, such as .csv.gz; no others."
_NUMBERS = ("thousands", "strip", "date_format", "as_date")
_TEXT = ("ignore_case", "trim")
_OF_TYPES = (*_TEXT, "as_date")
_ALL_OF_LINES = tuple(each.name for each in fields(Format) if each.name not in ("sheet", "header_row"))
_DECLARABLE = {
    FileKind.CSV: (_ALL_OF_LINES, "CSV files"),
    FileKind.TAB_SEPARATED: (_ALL_OF_LINES, "files of tab-separated values"),
    FileKind.EXCEL: (("sheet", "header_row", *_NUMBERS, *_TEXT), "Excel files, whose cells have types"),
    FileKind.JSON_LINES: ((*_NUMBERS, *_TEXT), "files of JSON lines"),
    FileKind.PARQUET: (_OF_TYPES, "Parquet files, whose columns have types"),
    FileKind.ARROW: (_OF_TYPES, "Arrow files, whose columns have types"),
    FileKind.ORC: (_OF_TYPES, "ORC files, whose columns have types"),
    FileKind.STATA: (_OF_TYPES, "Stata files, whose columns have types"),
    FileKind.SPSS: (_OF_TYPES, "SPSS files, whose columns have types"),
}
"""Which words of a declared format fit each, and what an error calls it."""

_CALLED = {
    FileKind.CSV: "a CSV file",
    FileKind.TAB_SEPARATED: "a file of tab-separated values",
    FileKind.JSON_LINES: "a file of JSON lines",
    FileKind.STATA: "a Stata file",
    FileKind.SPSS: "an SPSS file",
}
_HINTS = {
    ".json": "With one object on each line, name it .jsonl; convert a list of objects first.",
    ".xlsb": _SHEET,
    ".xlsm": _SHEET,
    ".xls": _SHEET,
    ".ods": _SHEET,
    ".gz": _COMPRESSED,
    ".zst": _COMPRESSED,
    ".zip": _COMPRESSED,
}

_SIGNATURES = {
    FileKind.PARQUET: ("a Parquet file", b"PAR1", b"PAR1"),
    FileKind.ARROW: ("an Arrow file", b"ARROW1", b"ARROW1"),
    FileKind.ORC: ("an ORC file", b"ORC", b""),
    FileKind.EXCEL: ("an Excel workbook", b"PK\x03\x04", b""),
}
"""What each is called, and the bytes that it begins and ends with."""

_UTF_16 = "UTF-16"
_DECLARE_UTF_16 = " Declare the format: encoding='utf-16'."
_OTHER_CONTENT = {
    b"PAR1": "Parquet",
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
}


def kind_of(path: str, shown: Shown, declared: Format | None = None) -> FileKind:
    """The kind by the end of the name, confirmed by the first bytes.

    Raises:
        InvalidDataError: the name has another ending; the file is empty, cannot be opened or is of another kind; or
            the declared format does not fit such a file.
    """
    kind = _named(path)
    if kind is None:
        hint = _HINTS.get(os.path.splitext(path)[1].lower(), "")
        raise InvalidDataError("source", shown, f"a file whose name ends in {ENDINGS_TEXT}", hint)
    if declared is not None:
        declared.check(*_DECLARABLE[kind])
    if kind in _SIGNATURES:
        _check_signature(path, kind, shown)
        return kind
    with _opening(shown), uncompressed(path) as file:
        start = file.read(4)
    if not start:
        raise InvalidDataError("source", shown, "a table", "The file is empty (0 bytes).")
    is_utf_16 = declared is not None and declared.encoding.startswith("utf-16")
    for signature, content in _OTHER_CONTENT.items():
        if start.startswith(signature) and not (is_utf_16 and content is _UTF_16):
            hint = f"Its content is {content}."
            if content is _UTF_16 and "encoding" in _DECLARABLE[kind][0]:
                hint += _DECLARE_UTF_16
            raise InvalidDataError("source", shown, f"{_CALLED[kind]}, as its name says", hint)
    return kind


def _named(path: str) -> FileKind | None:
    name = os.path.basename(path).lower()
    base, last = os.path.splitext(name)
    return _COMPRESSED_ENDINGS.get(os.path.splitext(base)[1] + last) if last in COMPRESSIONS else ENDINGS.get(last)


def _check_signature(path: str, kind: FileKind, shown: Shown) -> None:
    with _opening(shown), open(path, "rb") as file:
        start = file.read(6)
        file.seek(-min(6, os.fstat(file.fileno()).st_size), os.SEEK_END)
        end = file.read(6)
    if not start:
        raise InvalidDataError("source", shown, "a table", "The file is empty (0 bytes).")
    called, first, last = _SIGNATURES[kind]
    if not (start.startswith(first) and end.endswith(last)):
        hint = "It is encrypted." if end.endswith(b"PARE") else "Its content is something else, or was cut off."
        if kind is FileKind.ARROW:
            hint += " Streams and Feather of version 1 are written anew, by pyarrow.feather.write_feather."
        raise InvalidDataError("source", shown, f"{called}, as its name says", hint)


def read_columns(path: str, kind: FileKind, shown: Shown, declared: Format | None = None) -> tuple[Column, ...]:
    """The columns in the first line or the footer of one file."""
    with _opening(shown):
        match kind:
            case FileKind.PARQUET:
                from dpselect.rows.files import parquet_rows

                return parquet_rows.read_columns(path, shown)
            case FileKind.ARROW | FileKind.ORC:
                from dpselect.rows.files import arrow_files

                return arrow_files.read_columns(path, shown)
            case FileKind.STATA | FileKind.SPSS:
                from dpselect.rows.files import stat_files

                return stat_files.read_columns(path, shown)
            case FileKind.EXCEL:
                from dpselect.rows.files import excel_sheets

                return excel_sheets.read_columns(path, shown, declared or Format())
            case FileKind.JSON_LINES:
                from dpselect.rows.files import json_lines

                return json_lines.read_columns(path, shown)
            case FileKind.CSV | FileKind.TAB_SEPARATED:
                return csv_lines.read_columns(path, shown, _dialect(kind, declared))


def _dialect(kind: FileKind, declared: Format | None) -> LineDialect:
    default = "\t" if kind is FileKind.TAB_SEPARATED else ","
    if declared is None:
        return LineDialect(default)
    delimiter = declared.delimiter or default
    return LineDialect(delimiter, declared.encoding, declared.skip_lines, declared.quoted_line_breaks)


def _opening(shown: Shown) -> TranslatedErrors:
    """Hide the system's error: it quotes the whole path, which a glob may have found."""

    def say(error: BaseException) -> InvalidDataError:
        is_open = isinstance(error, OSError) and error.errno is None  # the system's own errors have a number
        whole = "a file that is what its name says, and neither cut off nor damaged"
        return InvalidDataError("source", shown, whole if is_open else "a file that can be opened")

    return TranslatedErrors(say, OSError)


def size(path: str, kind: FileKind) -> int:
    """Rows of Parquet, batches of Arrow and ORC, bytes of other files as they are stored."""
    if kind is FileKind.PARQUET:
        from dpselect.rows.files import parquet_rows

        return parquet_rows.row_count(path)
    if kind in TYPED and kind not in _OF_STATISTICS:
        from dpselect.rows.files import arrow_files

        return arrow_files.batch_count(path)
    return os.path.getsize(path)


def rows(
    path: str,
    kind: FileKind,
    columns: Sequence[Column],
    shown: Shown,
    *,
    among: tuple[Column, ...],
    advance: Callable[[int], None],
    skipped: Callable[[int], None] = lines.ignored,
    declared: Format | None = None,
) -> Iterator[RecordBatch]:
    """Rows of one file with the `columns` asked for, out of all its columns `among`; lines may be `skipped`."""
    match kind:
        case FileKind.PARQUET:
            from dpselect.rows.files import parquet_rows

            return parquet_rows.rows(path, columns, advance=advance)
        case FileKind.ARROW | FileKind.ORC:
            from dpselect.rows.files import arrow_files

            return arrow_files.rows(path, columns, advance=advance)
        case FileKind.STATA | FileKind.SPSS:
            from dpselect.rows.files import stat_files

            return stat_files.rows(path, columns, shown, advance=advance)
        case FileKind.EXCEL:
            from dpselect.rows.files import excel_sheets

            return excel_sheets.rows(path, columns, shown, declared or Format(), among=among, advance=advance)
        case FileKind.JSON_LINES:
            from dpselect.rows.files import json_lines

            return json_lines.rows(path, columns, advance=advance, skipped=skipped)
        case FileKind.CSV | FileKind.TAB_SEPARATED:
            places = [among.index(column) for column in columns]
            dialect = _dialect(kind, declared)
            reading = {"advance": advance, "skipped": skipped}
            return csv_lines.rows(path, places, width=len(among), dialect=dialect, **reading)
