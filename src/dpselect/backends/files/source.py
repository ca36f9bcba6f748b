"""Which files a source names and what their columns are; nothing but headers and footers is read here."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dpselect.backends.columns import Column
from dpselect.backends.files import csv_lines, parquet_rows
from dpselect.backends.rows.arrow import RecordBatch, pa
from dpselect.errors import InvalidDataError, Shown


class Format(StrEnum):
    """File formats, told by the end of the name and checked against the first bytes."""

    CSV = ".csv"
    PARQUET = ".parquet"


_NOT_CSV = {
    b"PAR1": "Parquet",
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


@dataclass(frozen=True, slots=True)
class FileSource:
    """One table in one or more files of the same format and with the same columns.

    Attributes:
        source: as the caller gave it.
        paths: the files, in sorted order.
        format: of all of them.
        columns: of each of them.
    """

    source: str
    paths: tuple[str, ...]
    format: Format
    columns: tuple[Column, ...]

    @classmethod
    def at(cls, source: object) -> FileSource:
        """The table at a path or glob, once every file has been looked at from the outside.

        Args:
            source: a path to a ``.csv`` or ``.parquet`` file, or a glob (``*``, ``?``, ``[...]``, ``**``). A path
                that exists is taken literally, whatever characters it has.

        Raises:
            InvalidDataError: no such file, empty, unreadable, not what its name says, or files that do not belong
                together. Decided by names, headers and footers, never by a row.
        """
        if not isinstance(source, str | Path) or not str(source) or "\0" in str(source):
            raise InvalidDataError("source", source, "the path of a CSV or Parquet file, or a glob")
        text = str(source)
        paths = _matching_files(text)
        labels = [label(text, position=i, count=len(paths)) for i in range(len(paths))]
        formats = [_format_of(path, shown) for path, shown in zip(paths, labels, strict=True)]
        if len(set(formats)) > 1:
            raise InvalidDataError("source", Shown(repr(text)), "files of one format, all .csv or all .parquet")
        columns: list[tuple[Column, ...]] = []
        for path, shown in zip(paths, labels, strict=True):
            columns.append(read_columns(path, formats[0], shown))
            if columns[-1] != columns[0]:
                expected = "files with the same columns, in the same order"
                raise InvalidDataError("source", shown, expected, "This one's differ from those of the first file.")
        return cls(text, tuple(paths), formats[0], columns[0])

    @property
    def shown(self) -> str:
        """The path or glob as the caller gave it."""
        return repr(self.source)

    @property
    def listed(self) -> bool:
        """Not those of a CSV file: should it have no header line, they are the first person's row."""
        return self.format is not Format.CSV

    def size(self) -> int:
        """Bytes of CSV, rows of Parquet."""
        measure = os.path.getsize if self.format is Format.CSV else parquet_rows.row_count
        total = 0
        for position, path in enumerate(self.paths):
            try:
                total += measure(path)
            except (OSError, pa.ArrowException):
                raise self._unreadable(position) from None
        return total

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows of one file after another."""
        for position, path in enumerate(self.paths):
            try:
                yield from self._batches_of(path, position, columns, advance)
            except (OSError, pa.ArrowException):
                raise self._unreadable(position) from None

    def _batches_of(
        self, path: str, position: int, columns: Sequence[Column], advance: Callable[[int], None]
    ) -> Iterator[RecordBatch]:
        if read_columns(path, self.format, self.label(position)) != self.columns:
            raise self._unreadable(position)
        if self.format is Format.PARQUET:
            return parquet_rows.rows(path, columns, advance=advance)
        places = [self.columns.index(column) for column in columns]
        return csv_lines.rows(path, places, width=len(self.columns), advance=advance)

    def label(self, position: int) -> Shown:
        """How errors speak of the file at `position`."""
        return label(self.source, position=position, count=len(self.paths))

    def _unreadable(self, position: int) -> InvalidDataError:
        hint = "It is damaged, or changed while it was read."
        return InvalidDataError("source", self.label(position), "a file that can be read to its end", hint)


def label(source: str, *, position: int, count: int) -> Shown:
    """How errors speak of one file: the name of a file that only a glob found might be a person's."""
    return Shown(repr(source) if count == 1 else f"{source!r} (file {position + 1} of {count} in sorted order)")


def _matching_files(source: str) -> list[str]:
    if os.path.isfile(source):
        return [source]
    if os.path.isdir(source):
        hint = f"For all Parquet files inside it give {os.path.join(source, '*.parquet')!r}."
        raise InvalidDataError("source", Shown(repr(source)), "a file, not a folder", hint)
    if any(wildcard in source for wildcard in "*?["):
        paths = sorted(path for path in glob.iglob(source, recursive=True) if os.path.isfile(path))
        if paths:
            return paths
        raise InvalidDataError("source", Shown(repr(source)), "a glob that matches at least one file")
    hint = "Data is read from local files only." if "://" in source else ""
    raise InvalidDataError("source", Shown(repr(source)), "an existing file", hint)


def _format_of(path: str, shown: Shown) -> Format:
    """By the end of the name, confirmed by the first bytes."""
    try:
        format = Format(os.path.splitext(path)[1].lower())
    except ValueError:
        raise InvalidDataError("source", shown, "a file whose name ends in .csv or .parquet") from None
    try:
        with open(path, "rb") as file:
            start = file.read(4)
            file.seek(-min(4, os.fstat(file.fileno()).st_size), os.SEEK_END)
            end = file.read(4)
    except OSError:
        raise InvalidDataError("source", shown, "a file that can be opened") from None
    if not start:
        raise InvalidDataError("source", shown, "a table", "The file is empty (0 bytes).")
    if format is Format.PARQUET and not start == end == b"PAR1":
        hint = "It is encrypted." if end == b"PARE" else "Its content is something else, or was cut off."
        raise InvalidDataError("source", shown, "a Parquet file, as its name says", hint)
    if format is Format.CSV:
        for signature, content in _NOT_CSV.items():
            if start.startswith(signature):
                raise InvalidDataError("source", shown, "a CSV file, as its name says", f"Its content is {content}.")
    return format


def read_columns(path: str, format: Format, shown: Shown) -> tuple[Column, ...]:
    """What the header or footer of one file says."""
    try:
        return (csv_lines if format is Format.CSV else parquet_rows).read_columns(path, shown)
    except OSError:
        raise InvalidDataError("source", shown, "a file that can be opened") from None
