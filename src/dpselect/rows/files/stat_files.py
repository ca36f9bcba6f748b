"""Stata (``.dta``) and SPSS (``.sav``) files, through the library pyreadstat, some rows at a time.

The library stops at the first text that is not in the encoding of the file. Whether reading succeeds must not depend on
a cell, so each byte is asked for as a character of Latin-1, and each text is then read in the right encoding by itself.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from dpselect.errors import MissingExtraError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import EXACT, Column, Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, Array, RecordBatch, decoded, pa, plain_batches
from dpselect.rows.files.lines import Reading

_STATA_EPOCH, _SPSS_EPOCH = -3653, -141_428
"""1 January 1960 and 14 October 1582, in days from 1970."""
_DAY = 86_400
_SPSS_DATES = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE")
_SPSS_STAMPS = ("DATETIME", "YMDHMS")


def read_columns(path: str, shown: Shown, declared: Format) -> tuple[Column, ...]:
    """The variables, as the file describes them."""
    about = _read(path, metadataonly=True)[1]
    return tuple(_column(name, about) for name in about.column_names)


def rows(asked: Reading) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches."""
    path, columns = asked.path, asked.columns
    about = _read(path, metadataonly=True)[1]
    encoding, is_stata = _encoding(path, about), path.lower().endswith(".dta")
    names = [column.name.encode(encoding).decode("latin-1") for column in columns]
    read, start = BATCH_ROWS, 0
    while read == BATCH_ROWS:
        part = {"usecols": names, "row_offset": start, "row_limit": BATCH_ROWS}
        cells, _ = _read(path, encoding="LATIN1", disable_datetime_conversion=True, **part)
        found = [_in_arrow(cells[name], each, encoding, is_stata) for name, each in zip(names, columns, strict=True)]
        read, start = len(found[0]), start + BATCH_ROWS
        yield from plain_batches(found, columns, names)
    asked.advance(os.path.getsize(path))


def _read(path: str, **how: Any) -> tuple[Any, Any]:
    try:
        library = import_module("pyreadstat")
    except ImportError:
        raise MissingExtraError("Stata and SPSS files", "stata") from None
    return (library.read_dta if path.lower().endswith(".dta") else library.read_sav)(path, output_format="dict", **how)


def _column(name: str, about: Any) -> Column:
    written = str(about.original_variable_types[name]).upper()
    if about.readstat_variable_types[name] == "string":
        return Column(name, Holds.TEXT)
    word = written.rstrip("0123456789.")
    if word in _SPSS_DATES or written.startswith(("%TD", "%D", "%-TD", "%-D")):
        return Column(name, Holds.DATES)
    is_stamp = word in _SPSS_STAMPS or about.original_variable_types[name].startswith(("%tc", "%-tc"))
    return Column(name, Holds.TIMES, stamp=True) if is_stamp else Column(name, Holds.FLOATS)


def _encoding(path: str, about: Any) -> str:
    """Of the text in the file. Stata has none that is said: it is UTF-8 from version 14 on, and Windows' before."""
    encoding = about.file_encoding
    if path.lower().endswith(".dta"):
        with open(path, "rb") as file:
            start = file.read(31)
        encoding = "utf-8" if start[:11] == b"<stata_dta>" and start[28:31] >= b"118" else "cp1252"
    return codecs.lookup(encoding).name


def _in_arrow(cells: list[Any], column: Column, encoding: str, is_stata: bool) -> Array:
    if column.holds is Holds.TEXT:
        texts = [None if cell is None else str(cell).encode("latin-1") for cell in cells]
        return pa.array([decoded(text, encoding) for text in texts], pa.large_string())
    numbers = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
    if column.holds is Holds.FLOATS:
        return pa.array(numbers, mask=np.isnan(numbers))
    if column.holds is Holds.DATES:
        days = numbers + _STATA_EPOCH if is_stata else numbers / _DAY + _SPSS_EPOCH
        return _whole(days, 2.0**31 - 1).cast(pa.int32(), safe=False).cast(pa.date32())
    first = (_STATA_EPOCH if is_stata else _SPSS_EPOCH) * _DAY * 1000
    return _whole(numbers * (1 if is_stata else 1000) + first, EXACT).cast(pa.timestamp("ms"))


def _whole(numbers: Any, largest: float) -> Array:
    """Numbers rounded down, as 64-bit whole numbers; null where they are too large."""
    known = np.abs(numbers) < largest  # false for NaN
    return pa.array(np.where(known, np.floor(numbers), 0).astype(np.int64), mask=~known)
