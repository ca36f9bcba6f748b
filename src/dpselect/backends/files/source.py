"""The files of a source and their columns; only headers and footers are read here."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpselect.backends.columns import Column
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.files import formats, parquet_rows
from dpselect.backends.files.formats import Format
from dpselect.backends.files.table_formats import refuse_tables_of_formats
from dpselect.backends.rows.arrow import RecordBatch, pa
from dpselect.backends.rows.direct import ParquetFiles, readable
from dpselect.errors import InvalidDataError, Shown

_PATTERN = re.compile(r"[*?\[\]{}\\:]")
"""Characters that the engine might read as a pattern or a protocol."""

_SECRETIVE = re.compile(r"@|^\s*postgres|(?:passw\w*|pwd|token|secret|key)\s*=", re.IGNORECASE)
"""Signs that a source that is no file is an address, and may contain a password."""


@dataclass(frozen=True, slots=True, repr=False)
class FileSource:
    """One table in one or more files of the same format and with the same columns.

    Attributes:
        source: the path or glob as the caller gave it.
        paths: the files, in sorted order.
        format: the format of all files.
        columns: the columns of each file.
    """

    source: str
    paths: tuple[str, ...]
    format: Format
    columns: tuple[Column, ...]

    @classmethod
    def at(cls, source: object) -> FileSource:
        """The table at a path or glob. The schema of every file is checked.

        Args:
            source: a path to a ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file, or a glob (``*``, ``?``,
                ``[...]``, ``**``). A path that exists is taken literally, whatever characters it has.

        Raises:
            InvalidDataError: a file is missing, empty, unreadable or not what its name says; the files do not belong
                together; or they are Parquet files of a table format (Delta, Iceberg, Hudi), which contain deleted
                rows. This depends on names, first lines and footers, never on a row.
        """
        if not isinstance(source, str | Path) or not str(source) or "\0" in str(source):
            raise InvalidDataError("source", source, "the path of a file, or a glob")
        text = str(source)
        paths = _matching_files(text)
        labels = [label(text, position=i, count=len(paths)) for i in range(len(paths))]
        kinds = [formats.format_of(path, shown) for path, shown in zip(paths, labels, strict=True)]
        if Format.PARQUET in kinds:
            refuse_tables_of_formats(paths, labels)
        if len(set(kinds)) > 1:
            raise InvalidDataError("source", Shown(repr(text)), "files of one format, such as all .csv or all .parquet")
        columns: list[tuple[Column, ...]] = []
        for path, shown in zip(paths, labels, strict=True):
            columns.append(formats.read_columns(path, kinds[0], shown))
            if columns[-1] != columns[0]:
                expected = "files with the same columns, in the same order"
                raise InvalidDataError("source", shown, expected, "This one's differ from those of the first file.")
        return cls(text, tuple(paths), kinds[0], columns[0])

    @property
    def shown(self) -> str:
        """The path or glob as the caller gave it."""
        return repr(self.source)

    @property
    def listed(self) -> bool:
        """Whether errors may list the columns. Not for text files: names in the first line may be a person's row."""
        return self.format is Format.PARQUET

    def size(self) -> int:
        """Rows of Parquet, bytes of text."""
        total = 0
        for position, path in enumerate(self.paths):
            with self._reading(position):
                total += formats.size(path, self.format)
        return total

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows of one file after another."""
        for position, path in enumerate(self.paths):
            with self._reading(position):
                if formats.read_columns(path, self.format, self.label(position)) != self.columns:
                    raise self._unreadable(position)
                yield from formats.rows(path, self.format, columns, among=self.columns, advance=advance)

    def parquet(self, columns: Sequence[Column]) -> ParquetFiles | None:
        """The files, if the engine can read these columns by itself; else None."""
        paths = tuple(map(os.path.abspath, self.paths))
        if self.format is not Format.PARQUET or not readable(columns, self.columns) or _PATTERN.search("".join(paths)):
            return None
        names = [column.name for column in columns]
        try:
            schemas = [parquet_rows.schema(path) for path in paths]
        except (OSError, pa.ArrowException):
            return None
        types = [[schema.field(name).type for name in names] for schema in schemas if set(names) <= set(schema.names)]
        # A file that was replaced since it was opened is left to the stream, which refuses it.
        same = all(parquet_rows.columns_of(schema) == self.columns for schema in schemas)
        return ParquetFiles(paths) if same and all(each == types[0] for each in types) else None

    def label(self, position: int) -> Shown:
        """The name of the file at `position` in errors."""
        return label(self.source, position=position, count=len(self.paths))

    def _reading(self, position: int) -> TranslatedErrors:
        return TranslatedErrors(lambda _: self._unreadable(position), OSError, pa.ArrowException)

    def _unreadable(self, position: int) -> InvalidDataError:
        hint = "It is damaged, or was changed while it was read."
        return InvalidDataError("source", self.label(position), "a file that can be read to its end", hint)


def label(source: str, *, position: int, count: int) -> Shown:
    """The name of a file in errors. The name of a file found by a glob might be a person's, and is not shown."""
    return Shown(repr(source) if count == 1 else f"{source!r} (file {position + 1} of {count} in sorted order)")


def _hint_for_folder(folder: str) -> str:
    found = [ending for ending in formats.ENDINGS if any(Path(folder).glob(f"*{ending}"))]
    if not found:
        return f"It contains no file whose name ends in {formats.ENDINGS_TEXT}."
    globs = " or ".join(repr(os.path.join(folder, f"*{ending}")) for ending in found)
    return f"For all files in it give {globs}."


def _matching_files(source: str) -> list[str]:
    if os.path.isfile(source):
        return [source]
    if os.path.isdir(source):
        refuse_tables_of_formats([source], [Shown(repr(source))])
        raise InvalidDataError("source", Shown(repr(source)), "a file, not a folder", _hint_for_folder(source))
    got = Shown("<text that may hold a password>" if _SECRETIVE.search(source) else repr(source))
    if any(wildcard in source for wildcard in "*?["):
        paths = sorted(path for path in glob.iglob(source, recursive=True) if os.path.isfile(path))
        if paths:
            return paths
        raise InvalidDataError("source", got, "a glob that matches at least one file")
    hint = "Data is read from local files only." if "://" in source else ""
    if source.startswith("~"):
        hint = "A ~ means the home folder only in a shell, without quotes; in Python use os.path.expanduser."
    raise InvalidDataError("source", got, "an existing file", hint)
