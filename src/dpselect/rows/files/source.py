"""One table in files of one kind; nothing but headers and footers is read to open it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import RecordBatch, columns_of, pa
from dpselect.rows.duckdb.scan import ParquetFiles, readable
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.files import formats, lines
from dpselect.rows.files.finding import Found, found, refuse_tables_of_formats
from dpselect.rows.files.formats import FileKind

_PATTERN = re.compile(r"[*?\[\]{}\\:]")
"""Characters that the engine might read as a pattern or a protocol."""


@dataclass(frozen=True, slots=True, repr=False)
class FileSource:
    """One table in one or more files of the same format.

    Their columns may differ: a question needs those alike that it asks for.

    Attributes:
        files: where they are, and which columns their folders name.
        kind: the kind of all files.
        held: the columns of each file.
        inside: the columns of all files together.
        declared: how their cells are written, if the caller said so.
        skipped: called with the numbers of lines that cannot be read.
    """

    files: Found
    kind: FileKind
    held: tuple[tuple[Column, ...], ...]
    inside: tuple[Column, ...]
    declared: Format | None = None
    skipped: Callable[[int], None] = lines.ignored

    @classmethod
    def at(cls, source: object, declared: Format | None = None) -> FileSource:
        """The table at a path, a glob, a list or a folder. The schema of every file is checked.

        Args:
            source: a path to a ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``, ``.feather``, ``.orc``, ``.xlsx``,
                ``.jsonl`` or ``.ndjson`` file, text files also with ``.gz`` or ``.zst`` behind it; a glob (``*``,
                ``?``, ``[...]``, ``**``); a list of paths; or a folder with folders such as ``year=2026`` in it. A path
                that exists is taken literally, whatever characters it has.
            declared: how their cells are written.

        Raises:
            InvalidDataError: a file is missing, empty, unreadable or not what its name says; the files do not belong
                together; or they are files of a table format (Delta, Iceberg, Hudi), which contain deleted rows. This
                depends on names, first lines and footers, never on a row.
        """
        files = found(source)
        opened = list(zip(files.paths, files.labels, strict=True))
        kinds = [formats.kind_of(path, shown, declared) for path, shown in opened]
        if {FileKind.PARQUET, FileKind.ORC} & set(kinds):
            refuse_tables_of_formats(files.paths, files.labels)
        if len(set(kinds)) > 1:
            expected = "files of one format, such as all .csv or all .parquet"
            raise InvalidDataError("source", Shown(files.shown), expected)
        held = tuple(formats.read_columns(path, kinds[0], shown, declared) for path, shown in opened)
        inside = _together(held, files.labels)
        if all(column.holds is Holds.UNLIKE for column in inside):
            expected = "files with columns, one of them in common"
            raise InvalidDataError("source", Shown(files.shown), expected)
        names = [*files.partition, *(column.name for column in inside)]
        if files.partition and len(set(names)) < len(names):
            hint = "The names of the folders and the files have a column in common."
            raise InvalidDataError("source", Shown(files.shown), "columns with different names", hint)
        return cls(files, kinds[0], held, inside, declared)

    @property
    def alike(self) -> bool:
        """Whether all files have the same columns, in the same order."""
        return all(each == self.held[0] for each in self.held)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those in the files, and then those that their folders name, whose values are text."""
        return (*self.inside, *self.partition)

    @property
    def partition(self) -> tuple[Column, ...]:
        """The columns that folders name."""
        return tuple(Column(name, Holds.ANYTHING) for name in self.files.partition)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the files."""
        return self.files.paths

    @property
    def shown(self) -> str:
        """The path or glob as the caller gave it; of a list, how many files there are."""
        return self.files.shown

    @property
    def listed(self) -> bool:
        """Whether errors may list the columns. Not for text files: names in the first line may be a person's row."""
        return self.kind in formats.TYPED

    @property
    def has_header(self) -> bool:
        """Whether the columns are named apart from the rows."""
        return self.kind is not FileKind.JSON_LINES

    def size(self) -> int:
        """Rows of Parquet, batches of Arrow and ORC, bytes of text."""
        total = 0
        for position, path in enumerate(self.paths):
            with self._reading(position):
                total += formats.size(path, self.kind)
        return total

    def counting(self, skipped: Callable[[int], None]) -> FileSource:
        """The same rows; `skipped` is called with the numbers of lines that are left out, blank ones aside."""
        return replace(self, skipped=skipped)

    def places(self, rows: Sequence[int], others: int) -> tuple[dict[int, tuple[str, bytes]], list[tuple[str, bytes]]]:
        """See `Lines.places`. Lines of JSON are read in another order."""
        words = {} if self.declared is None else self.declared.words
        if self.kind in formats.TYPED:
            return {row: (f"row {row + 1:,}", b"") for row in rows}, []
        if self.kind not in (FileKind.CSV, FileKind.TAB_SEPARATED) or words.get("quoted_line_breaks"):
            return {}, []
        from dpselect.rows.files.places import places

        return places(
            list(zip(self.paths, self.files.labels, strict=True)),
            rows,
            others,
            width=len(self.inside),
            delimiter=words.get("delimiter", "\t" if self.kind is FileKind.TAB_SEPARATED else ","),
            encoding=words.get("encoding", "utf-8"),
            above=words.get("skip_lines", 0),
        )

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows of one file after another."""
        partition = self.partition
        asked = [column for column in columns if column not in partition]
        for position, path in enumerate(self.paths):
            asked = asked or [self.held[position][0]]  # or nothing would say how many rows there are
            with self._reading(position):
                shown = self.files.labels[position]
                changed = self.kind is not FileKind.EXCEL and self.held[position] != formats.read_columns(
                    path, self.kind, shown, self.declared
                )
                if changed:  # of a workbook it is found while the rows are read
                    raise self._unreadable(position)
                reading = formats.rows(
                    path,
                    self.kind,
                    asked,
                    shown,
                    among=self.held[position],
                    advance=advance,
                    skipped=self.skipped,
                    declared=self.declared,
                )
                for batch in reading:
                    yield self._with_partition(batch, asked, columns, position) if partition else batch

    def parquet(self, columns: Sequence[Column]) -> ParquetFiles | None:
        """The files, if the engine can read these columns by itself; else None."""
        paths = tuple(map(os.path.abspath, self.files.paths))
        if self.kind is not FileKind.PARQUET or not readable(columns, self.columns) or _PATTERN.search("".join(paths)):
            return None
        from dpselect.rows.files import parquet_rows

        names = [column.name for column in columns]
        try:
            schemas = [parquet_rows.schema(path) for path in paths]
        except (OSError, pa.ArrowException):
            return None
        if not all(set(names) <= set(schema.names) for schema in schemas):  # fields of structs, too, are streamed
            return None
        types = [[schema.field(name).type for name in names] for schema in schemas]
        # A file that was replaced since it was opened is left to the stream, which refuses it.
        same = all(columns_of(schema) == held for schema, held in zip(schemas, self.held, strict=True))
        return ParquetFiles(paths) if same and all(each == types[0] for each in types) else None

    def _with_partition(
        self, batch: RecordBatch, asked: Sequence[Column], columns: Sequence[Column], position: int
    ) -> RecordBatch:
        arrays = dict(zip(asked, batch.columns, strict=True))
        for column, value in zip(self.partition, self.files.values[position], strict=True):
            arrays[column] = pa.repeat(pa.scalar(value, pa.large_string()), batch.num_rows)
        return pa.RecordBatch.from_arrays([arrays[column] for column in columns], list(map(str, range(len(columns)))))

    def _reading(self, position: int) -> TranslatedErrors:
        return TranslatedErrors(lambda _: self._unreadable(position), OSError, pa.ArrowException)

    def _unreadable(self, position: int) -> InvalidDataError:
        hint = "It is damaged, or was changed while it was read."
        return InvalidDataError("source", self.files.labels[position], "a file that can be read to its end", hint)


def _together(held: Sequence[tuple[Column, ...]], labels: Sequence[Shown]) -> tuple[Column, ...]:
    """The columns of all files, in the order in which they are met; a question can use those that are alike in all."""
    if all(each == held[0] for each in held):
        return held[0]
    by_name = [{column.name: column for column in each} for each in held]
    return tuple(_in_all(name, by_name, labels) for name in dict.fromkeys(name for each in by_name for name in each))


def _in_all(name: str, held: Sequence[dict[str, Column]], labels: Sequence[Shown]) -> Column:
    found = [each.get(name) for each in held]
    first = found[0]
    for column, label in zip(found, labels, strict=True):
        if column != first:
            said = [
                f"{'is missing' if each is None else f'holds {each.holds}'} in {where}"
                for each, where in ((first, labels[0]), (column, label))
            ]
            return Column(name, Holds.UNLIKE, hint=f"It {' and '.join(said)}.")
    alike = [column for column in found if column is not None]
    return replace(alike[0], wide=all(each.wide for each in alike), stamp=all(each.stamp for each in alike))
