"""Files that other libraries read, batch by batch: their columns, and those of them that are asked for.

No reader here stops at a cell: then the failure and its message would depend on one row. Arrow, which reads Parquet,
Feather and ORC, does not check text during the scan. pyreadstat, which reads Stata and SPSS, does, so each byte is
asked for as a character of Latin-1, and each text is decoded by itself. Of a sheet of Excel each cell is the text of
its value, by the rules of docs/files.md.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import cache, partial
from importlib import import_module
from itertools import islice
from typing import Any
from zipfile import ZipFile

import numpy as np

from dpselect.errors import InvalidDataError, Shown, import_extra
from dpselect.rows import arrow
from dpselect.rows.arrow import BATCH_ROWS, Advance, Array, Batches, Skipped, ignored, pa, pc, plain_batches, pq
from dpselect.rows.columns import EXACT, Column, Holds, check_names
from dpselect.rows.lines import File

_STATISTICS = (".dta", ".sav", ".zsav")
_STATA_EPOCH, _SPSS_EPOCH, _DAY = -3653, -141_428, 86_400_000
"""1 January 1960 and 14 October 1582, in days from 1970; and a day in milliseconds."""
MOST_BYTES = 1 << 29  # of all parts of a workbook, uncompressed, as its directory says, beyond which no reader goes
_UNCONVERTED = (ValueError, OverflowError, TypeError, IndexError, KeyError)
"""What a cell of a sheet may raise, by its content alone."""
Row = Mapping[int, Any]  # cells of a sheet by their places, from 0

Parts = Iterator[tuple[arrow.RecordBatch, float]]  # batches, and which part of the file each is


def described(file: File) -> File:
    """With the columns of the file's schema, and the fields of its structs; or those that a row of a sheet names."""
    path, ending = file.path, _ending(file.path)
    if ending == ".xlsx":
        with _sheet(file) as (names, _):
            return replace(file, columns=tuple(Column(name, Holds.ANYTHING) for name in names))
    if ending in _STATISTICS:
        about = _statistics(path, metadataonly=True)[1]
        schema = pa.schema([(name, _type_of(name, about)) for name in about.column_names])
    else:
        with pa.OSFile(path) as read:
            schema = pq.read_schema(read) if ending == ".parquet" else _opened(read, path).schema
    check_names(schema.names, shown=str(file.shown))
    return replace(file, columns=arrow.columns_of(schema), schema=schema)


def rows(file: File, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
    """Some columns of every row: see `lines.rows`."""
    names, path, ending = [column.name for column in columns], file.path, _ending(file.path)
    size = os.path.getsize(path)
    if ending == ".xlsx":
        yield from _of_sheet(file, columns)
        return advance(size)
    if ending == ".parquet":
        batches = _of_parquet(path, columns)
    else:
        batches = _of_statistics(file, names) if ending in _STATISTICS else _of_others(file, names)
    for batch, share in batches:
        advance(int(share * size))
        yield from plain_batches(batch, columns)


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _opened(file: Any, path: str, options: Any = None) -> Any:
    """A reader of an Arrow or an ORC file."""
    is_orc = _ending(path) == ".orc"
    return import_module("pyarrow.orc").ORCFile(file) if is_orc else pa.ipc.open_file(file, options=options)


def _of_others(file: File, names: Sequence[str]) -> Parts:
    first = arrow.first_of(file.schema, names)
    places = sorted(file.schema.get_field_index(name) for name in first)
    with pa.OSFile(file.path) as opened:
        held = _opened(opened, file.path, pa.ipc.IpcReadOptions(included_fields=places))
        if _ending(file.path) == ".orc":
            # A name with a point in it would be taken for a path into a nested column.
            wanted = None if any("." in name for name in first) else first
            number, read = held.nstripes, partial(held.read_stripe, columns=wanted)
        else:
            number, read = held.num_record_batches, held.get_batch
        for at in range(number):
            batch = read(at)
            batch.validate()
            yield batch, 1 / number


def _of_parquet(path: str, columns: Sequence[Column]) -> Parts:
    """With a limited amount of text at a time, so fewer rows if they are long."""
    names = [column.name for column in columns]
    texts = [column.name for column in columns if column.holds in (Holds.TEXT, Holds.BYTES)]
    metadata = pq.read_metadata(path)
    for position in range(metadata.num_row_groups):
        group = metadata.row_group(position)
        chunks = [each for each in map(group.column, range(group.num_columns)) if each.path_in_schema in texts]
        sizes = {
            each.path_in_schema: each.total_uncompressed_size for each in chunks if each.physical_type == "BYTE_ARRAY"
        }
        # 256 KiB if all rows were equally long; a small number, because they are not.
        batch_rows = max(1, min(BATCH_ROWS, group.num_rows * (1 << 18) // max(1, sum(sizes.values()))))
        most = arrow.PIECE_BYTES // batch_rows
        repeated = [name for name in sizes if _longest_repeated(path, metadata, position, name) > most]
        with _parquet(path, metadata, repeated) as file:
            for batch in file.iter_batches(batch_size=batch_rows, row_groups=[position], columns=names):
                yield batch, batch.num_rows / metadata.num_rows


def _parquet(path: str, metadata: Any, repeated: Sequence[str]) -> Any:
    # Of each column 1 MiB is read from disk at a time; without this limit it would be a whole row group.
    how = {"read_dictionary": list(repeated), "pre_buffer": False, "buffer_size": 1 << 20}
    return pq.ParquetFile(path, metadata=metadata, **how)


def _longest_repeated(path: str, metadata: Any, position: int, name: str) -> int:
    """Bytes of the longest text in the dictionary of a row group."""
    with _parquet(path, metadata, [name]) as file:
        # The first row comes with the whole dictionary.
        batches = file.iter_batches(batch_size=1, row_groups=[position], columns=[name])
        column: Any = next((arrow.taken(batch, [name])[0] for batch in batches), None)
    is_repeated = isinstance(column, pa.DictionaryArray)
    return (pc.max(pc.binary_length(column.dictionary)).as_py() or 0) if is_repeated else 0


def _statistics(path: str, **how: Any) -> tuple[Any, Any]:
    library = import_extra("pyreadstat", "Stata and SPSS files", "stata")
    return (library.read_dta if _ending(path) == ".dta" else library.read_sav)(path, output_format="dict", **how)


def _type_of(name: str, about: Any) -> Any:
    """The Arrow type of a variable, as the file describes it."""
    written = str(about.original_variable_types[name])
    if about.readstat_variable_types[name] == "string":
        return pa.large_string()
    if re.match(r"%-?t?d|[AESJ]?DATE[0-9.]*$", written, re.IGNORECASE):
        return pa.date32()
    return pa.timestamp("ms") if re.match(r"%-?tc|(DATETIME|YMDHMS)[0-9.]*$", written) else pa.float64()


def _of_statistics(file: File, names: Sequence[str]) -> Parts:
    path, about = file.path, _statistics(file.path, metadataonly=True)[1]
    encoding, types, read, start = _encoding(path, about), file.schema, BATCH_ROWS, 0
    asked = {name: name.encode(encoding).decode("latin-1") for name in names}
    while read == BATCH_ROWS:
        part = {"usecols": [*asked.values()], "row_offset": start, "row_limit": BATCH_ROWS}
        cells, _ = _statistics(path, encoding="LATIN1", disable_datetime_conversion=True, **part)
        arrays = [_in_arrow(cells[each], types.field(name).type, encoding, path) for name, each in asked.items()]
        read, start = len(arrays[0]), start + BATCH_ROWS
        yield pa.RecordBatch.from_arrays(arrays, list(names)), read / (about.number_rows or np.inf)


def _encoding(path: str, about: Any) -> str:
    """Of the text in the file. Stata has none that is said: it is UTF-8 from version 14 on, and Windows' before."""
    if _ending(path) != ".dta":
        return about.file_encoding
    with open(path, "rb") as file:
        start = file.read(31)
    return "utf-8" if start[:11] == b"<stata_dta>" and start[28:31] >= b"118" else "cp1252"


def _in_arrow(cells: list[Any], type_: Any, encoding: str, path: str) -> Array:
    if pa.types.is_large_string(type_):
        texts = (None if cell is None else str(cell).encode("latin-1") for cell in cells)
        return pa.array([arrow.decoded(text, encoding) for text in texts], type_)
    numbers = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
    if pa.types.is_floating(type_):
        return pa.array(numbers, mask=np.isnan(numbers))
    # Stata counts days or milliseconds, SPSS seconds.
    of_stata, unit = _ending(path) == ".dta", _DAY if pa.types.is_date(type_) else 1
    moments = numbers * (unit if of_stata else 1000) + (_STATA_EPOCH if of_stata else _SPSS_EPOCH) * _DAY
    known = np.abs(moments) < EXACT  # false for NaN
    moments = pa.array(np.where(known, np.floor(moments), 0).astype(np.int64), mask=~known)
    return moments.cast(pa.timestamp("ms")).cast(type_, safe=False)


def _of_sheet(file: File, columns: Sequence[Column]) -> Batches:
    """Some columns of every row that is not blank, as nullable text."""
    with _sheet(file) as (names, cells):
        if tuple(names) != tuple(column.name for column in file.columns):
            raise EOFError
        places, filled = {column: names[column.name] for column in columns}, filter(None, cells)
        while block := list(islice(filled, 1 << 12)):
            texts = {each: [_text(row[at]) if at in row else None for row in block] for each, at in places.items()}
            yield {column: arrow.text_array(found) for column, found in texts.items()}


@contextmanager
def _sheet(file: File) -> Generator[tuple[dict[str, int], Iterator[Row]]]:
    """Where the columns of the sheet of a workbook are, by their names; and the rows below these."""
    library = import_extra("openpyxl", "Excel files", "excel")
    with ZipFile(file.path) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > MOST_BYTES:
        expected = f"a workbook whose parts take at most {MOST_BYTES >> 20} MiB uncompressed"
        raise InvalidDataError("source", file.shown, expected, "Save the sheet as CSV, which is read in pieces.")
    warnings.filterwarnings("ignore", "Workbook contains no default style", module="openpyxl")
    reader = library.reader.excel.ExcelReader(file.path, read_only=True, data_only=True, keep_links=False)
    for part in ("properties", "custom", "theme", "chartsheet"):  # it stops at some of them, and none has rows
        setattr(reader, f"read_{part}", lambda *_: None)  # pyright: ignore[reportUnknownLambdaType]
    reader.read()
    with closing(reader.wb) as book:
        book._date_formats = book._timedelta_formats = frozenset()  # or it would warn, and quote a cell
        sheet, number = file.declared.sheet, file.declared.header_row
        visible = [each for each in book.worksheets if each.sheet_state == "visible"]
        meant = visible if sheet is None else [each for each in book.worksheets if each.title == sheet]
        if sheet is not None and not meant:
            hint = "Capitals and blanks in the name count."
            raise InvalidDataError("sheet", Shown(repr(sheet)), "the name of a sheet of the workbook", hint)
        if sheet is None and len(meant) != 1:
            hint = f"It has {len(meant)} sheets that are visible. Declare the name of one: `sheet='NAME'`."
            raise InvalidDataError("source", file.shown, "a workbook with one sheet, or the name of one", hint)
        rows = _rows_of(book, meant[0])
        at, header = next((row for row in rows if row[0] >= number), (0, dict[int, Any]()))
        yield _names(header if at == number else {}, file.shown, number), (row for _, row in rows)


def _names(header: Row, shown: Shown, number: int) -> dict[str, int]:
    """Where the columns are, by their names, which are in the row of this number."""
    which = f"row {number:,}" if number > 1 else "its first row"
    found = [(name, at) for at, cell in sorted(header.items()) if (name := _text(cell))]
    if len(found) < 2:
        expected = f"a sheet with the names of at least two columns in {which}, a unit and a value"
        hint = "If rows such as titles stand above the names, say in which row they are: `header_row=2`."
        hint = hint if number == 1 else "Rows are counted from 1, with those that are empty."
        raise InvalidDataError("source", shown, expected, hint)
    check_names([name for name, _ in found], shown=str(shown))
    return dict(found)


def _rows_of(book: Any, sheet: Any) -> Iterator[tuple[int, Row]]:
    """The rows of a sheet that have cells, with their numbers: all cells that hold something.

    openpyxl's own loop goes through all rows that are missing, warns of what stands beside the rows, or stops there.
    """
    library, cells_of = import_module("openpyxl.worksheet._reader"), import_module("openpyxl.cell.read_only")
    with sheet._get_source() as source:
        parser = library.WorkSheetParser(source, sheet._shared_strings, data_only=True, epoch=book.epoch)
        parser.parse_cell = partial(_cell, parser.parse_cell)
        for element in (each for _, each in library.iterparse(source) if each.tag == library.ROW_TAG):
            number, cells = parser.parse_row(element)
            element.clear()
            held = (cell for cell in cells if cell["value"] is not None)
            yield number, {cell["column"] - 1: cells_of.ReadOnlyCell(sheet, **cell) for cell in held}


def _cell(read: Callable[[Any], Any], element: Any) -> Any:
    """A cell, empty if it cannot be converted: whether a sheet is read must not depend on a cell."""
    try:
        return read(element)
    except _UNCONVERTED:
        return {"row": 0, "column": 0, "value": None, "data_type": "n", "style_id": 0}


def _text(cell: Any) -> str | None:
    """The text of a cell's value, as of a Python object; None for errors, and for what cannot be converted."""
    with suppress(*_UNCONVERTED):
        value: Any = None if cell.data_type == "e" else cell.value
        if cell.data_type == "n" and value >= 1 and _shows_dates(cell.number_format):
            with suppress(*_UNCONVERTED):  # there may be no such date
                found = import_module("openpyxl.utils.datetime").from_excel(value, cell.parent.parent.epoch)
                # A part of a second may reach the next year.
                value = (found + timedelta(microseconds=500_000)).replace(microsecond=0)
        if isinstance(value, datetime):  # some programs write dates as text
            value = value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
        elif isinstance(value, time | timedelta):  # likewise
            value = str(value)
        return arrow.text_of_objects([value])[0]
    return None


@cache
def _shows_dates(number_format: str) -> bool:
    styles = import_module("openpyxl.styles.numbers")
    return bool(styles.is_date_format(number_format) and not styles.is_timedelta_format(number_format))
