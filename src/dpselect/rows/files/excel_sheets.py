"""One sheet of an Excel workbook (``.xlsx``): each cell as the text of its value, by the rules of docs/files.md.

The sheet is read row by row. The texts of a workbook are stored together and are held in memory, so a workbook whose
parts take more than `MOST_BYTES` is refused; that is known from its directory, which no reader goes beyond.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from functools import cache, partial
from importlib import import_module
from itertools import islice
from typing import Any
from zipfile import ZipFile

from dpselect.errors import InvalidDataError, Shown, optional
from dpselect.formats import Format
from dpselect.rows.columns import EXACT, Column, Holds
from dpselect.rows.duckdb.arrow import Array, text_array
from dpselect.rows.files.lines import Reading

MOST_BYTES = 1 << 29
"""Of all parts of a workbook together, uncompressed."""
_ROWS = 1 << 12
"""In a batch."""
_UNCONVERTED = (ValueError, OverflowError, TypeError, IndexError, KeyError)
"""What a cell may raise, by its content alone."""
Row = Mapping[int, Any]
"""Cells by their places, from 0."""


def read_columns(path: str, shown: Shown, declared: Format) -> tuple[Column, ...]:
    """The columns named in the header row of the sheet; those without a name are left out."""
    with _opened(path, shown, declared) as (names, _):
        return tuple(Column(name, Holds.ANYTHING) for name in names)


def rows(asked: Reading) -> Iterator[list[Array]]:
    """Some columns of every row that is not blank, as nullable text."""
    with _opened(asked.path, asked.shown, asked.declared) as (names, cells):
        if tuple(names) != tuple(column.name for column in asked.among):
            raise EOFError
        places = [names[column.name] for column in asked.columns]
        while block := list(islice(cells, _ROWS)):
            filled = [row for row in block if any(cell.value is not None for cell in row.values())]
            yield [text_array([_text(row[at]) if at in row else None for row in filled]) for at in places]
    asked.advance(os.path.getsize(asked.path))


def _names(header: Row, shown: Shown, number: int) -> dict[str, int]:
    """Where the columns are, by their names, which are in the row of this number."""
    which = f"row {number:,}" if number > 1 else "its first row"
    found = [(name, at) for at, cell in sorted(header.items()) if (name := _text(cell))]
    if len(found) < 2:
        expected = f"a sheet with the names of at least two columns in {which}, a unit and a value"
        hint = "If rows such as titles stand above the names, say in which row they are: `header_row=2`."
        hint = hint if number == 1 else "Rows are counted from 1, with those that are empty."
        raise InvalidDataError("source", shown, expected, hint)
    if len(dict(found)) < len(found):
        raise InvalidDataError("source", shown, "columns with different names", f"Two have the same in {which}.")
    return dict(found)


@contextmanager
def _opened(path: str, shown: Shown, declared: Format) -> Generator[tuple[dict[str, int], Iterator[Row]]]:
    """Where the columns of the sheet are, by their names; and the rows below these."""
    library = optional("openpyxl", "Excel files", "excel")
    with ZipFile(path) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > MOST_BYTES:
        expected = f"a workbook whose parts take at most {MOST_BYTES >> 20} MiB uncompressed"
        raise InvalidDataError("source", shown, expected, "Save the sheet as CSV, which is read in pieces.")
    warnings.filterwarnings("ignore", "Workbook contains no default style", module="openpyxl")
    reader = library.reader.excel.ExcelReader(path, read_only=True, data_only=True, keep_links=False)
    for part in ("properties", "custom", "theme", "chartsheet"):  # it stops at some of them, and none has rows
        setattr(reader, f"read_{part}", lambda *_: None)  # pyright: ignore[reportUnknownLambdaType]
    reader.read()
    with closing(reader.wb) as book:
        book._date_formats = book._timedelta_formats = frozenset()  # or it would warn, and quote a cell
        rows = _rows_of(book, _chosen(book, shown, declared.sheet))
        wanted, nothing = declared.header_row, dict[int, Any]()
        number, header = next((row for row in rows if row[0] >= wanted), (0, nothing))
        yield _names(header if number == wanted else nothing, shown, wanted), (row for _, row in rows)


def _rows_of(book: Any, sheet: Any) -> Iterator[tuple[int, Row]]:
    """The rows of a sheet that have cells, with their numbers.

    openpyxl's own loop goes through all rows that are missing, warns of what stands beside the rows, or stops there.
    """
    library, cells_of = import_module("openpyxl.worksheet._reader"), import_module("openpyxl.cell.read_only")
    with sheet._get_source() as source:
        parser = library.WorkSheetParser(source, sheet._shared_strings, data_only=True, epoch=book.epoch)
        parser.parse_cell = partial(_cell, parser.parse_cell)
        for element in (each for _, each in library.iterparse(source) if each.tag == library.ROW_TAG):
            number, cells = parser.parse_row(element)
            element.clear()
            yield number, {cell["column"] - 1: cells_of.ReadOnlyCell(sheet, **cell) for cell in cells}


def _cell(read: Callable[[Any], Any], element: Any) -> Any:
    """A cell, empty if it cannot be converted: whether a sheet is read must not depend on a cell."""
    try:
        return read(element)
    except _UNCONVERTED:
        return {"row": 0, "column": 0, "value": None, "data_type": "n", "style_id": 0}


def _chosen(book: Any, shown: Shown, sheet: str | None) -> Any:
    visible = [each for each in book.worksheets if each.sheet_state == "visible"]
    named = [each for each in book.worksheets if each.title == sheet]
    if sheet is not None and not named:
        hint = "Capitals and blanks in the name count."
        raise InvalidDataError("sheet", Shown(repr(sheet)), "the name of a sheet of the workbook", hint)
    if sheet is None and len(visible) != 1:
        hint = f"It has {len(visible)} sheets that are visible. Declare the name of one: `sheet='NAME'`."
        raise InvalidDataError("source", shown, "a workbook with one sheet, or the name of one", hint)
    return (named or visible)[0]


def _text(cell: Any) -> str | None:
    """The text of a cell's value; None for nothing, for errors, and for what cannot be converted."""
    with suppress(*_UNCONVERTED):
        value = cell.value
        if value is None or cell.data_type == "e":
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            if value >= 1 and _shows_dates(cell.number_format):
                with suppress(*_UNCONVERTED):  # there may be no such date
                    found = import_module("openpyxl.utils.datetime").from_excel(value, cell.parent.parent.epoch)
                    rounded = found + timedelta(microseconds=500_000)  # a part of a second may reach the next year
                    return _moment(rounded.replace(microsecond=0))
            return str(int(value)) if abs(value) < EXACT and value == int(value) else repr(value)
        return _moment(value) if isinstance(value, datetime) else str(value)  # some programs write dates as text
    return None


def _moment(value: datetime) -> str:
    return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")


@cache
def _shows_dates(number_format: str) -> bool:
    styles = import_module("openpyxl.styles.numbers")
    return bool(styles.is_date_format(number_format) and not styles.is_timedelta_format(number_format))
