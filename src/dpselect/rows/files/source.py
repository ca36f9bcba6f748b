"""One table in files of one kind; nothing but headers and footers is read to open it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import RecordBatch, columns_of, computed, pa
from dpselect.rows.duckdb.scan import LINE, Source, readable
from dpselect.rows.files.finding import FileKind, Found, found, kind_of, reading_file, refuse_tables_of_formats
from dpselect.rows.files.lines import Reading, ignored, numbered_lines

_PATTERN = re.compile(r"[*?\[\]{}\\:]")
"""Characters that the engine might read as a pattern or a protocol."""
_LINES = 1 << 40
"""More than a file has: the lines of the next one are counted from there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileSource(Source):
    """One table in files of the same format, whose columns may differ; those that a question asks for have to be alike.

    Attributes:
        files, kind: where they are, and the kind of all of them.
        held: the columns of each file.
        partition: the columns that folders name, whose values are text.
        declared: how their cells are written.
        skipped: called with the numbers of lines that cannot be read.
    """

    files: Found
    kind: FileKind
    held: tuple[tuple[Column, ...], ...]
    partition: tuple[Column, ...]
    declared: Format
    skipped: Callable[[list[int]], None] = ignored

    @classmethod
    def at(cls, source: object, declared: Format | None = None) -> FileSource:
        """The table at a path, a glob, a list or a folder. The schema of every file is checked.

        Raises:
            InvalidDataError: a file is missing, empty, unreadable or not what its name says; the files do not belong
                together; or they are files of a table format (Delta, Iceberg, Hudi), which contain deleted rows. This
                depends on names, first lines and footers, never on a row.
        """
        files = found(source)
        opened = list(zip(files.paths, files.labels, strict=True))
        kinds = [kind_of(path, shown, declared) for path, shown in opened]
        if {FileKind.PARQUET, FileKind.ORC} & set(kinds):
            refuse_tables_of_formats(files.paths, files.labels)
        refused = partial(InvalidDataError, "source", Shown(files.shown))
        if len(set(kinds)) > 1:
            raise refused("files of one format, such as all .csv or all .parquet")
        declared = declared or Format()
        if kinds[0] is FileKind.TAB_SEPARATED:
            declared = replace(declared, delimiter=declared.delimiter or "\t")
        held = tuple(_columns_in(path, kinds[0], shown, declared) for path, shown in opened)
        inside = _together(held, files.labels)
        if all(column.holds is Holds.UNLIKE for column in inside):
            raise refused("files with columns, one of them in common")
        partition = tuple(Column(name, Holds.ANYTHING) for name in files.partition)
        if {column.name for column in inside} & set(files.partition) or len(set(files.partition)) < len(partition):
            hint = "The names of the folders and the files have a column in common."
            raise refused("columns with different names", hint)
        return cls(
            files.shown,
            (*inside, *partition),
            listed=kinds[0].has_types,  # names in the first line of a text file may be a person's row
            has_header=kinds[0] is not FileKind.JSON_LINES,
            has_lines=kinds[0].has_cells or kinds[0] is FileKind.JSON_LINES,
            files=files,
            kind=kinds[0],
            held=held,
            partition=partition,
            declared=declared,
        )

    def size(self) -> int:
        """Bytes, as they are stored."""
        total = 0
        for position, path in enumerate(self.files.paths):
            with reading_file(self.kind, self.files.labels[position]):
                total += os.path.getsize(path)
        return total

    def counting(self, skipped: Callable[[list[int]], None]) -> FileSource:
        """See `Source`."""
        return replace(self, skipped=skipped)

    def place(self, row: int) -> str:
        """See `Source`. Rows of a workbook have no place: those that are blank are not counted."""
        if not self.has_lines:
            return Source.place(self, row) if self.kind.has_types else ""
        position, number = divmod(row, _LINES)
        return f"line {number:,}" + (f" of {self.files.labels[position]}" if len(self.files.paths) > 1 else "")

    def lines(self, rows: Sequence[int]) -> list[bytes]:
        """See `Source`."""
        wanted = dict[int, list[int]]()
        for row in rows if self.kind.has_cells else ():
            wanted.setdefault(row // _LINES, []).append(row % _LINES)
        read = {
            (position, number): line
            for position, numbers in wanted.items()
            for number, line in numbered_lines(self.files.paths[position], self.declared.encoding, numbers).items()
        }
        return [read.get(divmod(row, _LINES), b"") for row in rows if read]

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows of one file after another."""
        for position, (path, shown) in enumerate(zip(self.files.paths, self.files.labels, strict=True)):
            held, first = self.held[position], position * _LINES

            def skipped(numbers: list[int], first: int = first) -> None:
                self.skipped([first + number for number in numbers])

            # Or nothing would say how many rows there are.
            asked = [column for column in columns if column not in (*self.partition, LINE)] or [held[0]]
            with reading_file(self.kind, shown):
                # Of a workbook a change is found while the rows are read.
                if self.kind is not FileKind.EXCEL and held != _columns_in(path, self.kind, shown, self.declared):
                    raise EOFError
                reading = Reading(path, asked, held, self.declared, shown, advance, LINE in columns, skipped)
                for batch in self.kind.reader.rows(reading):
                    yield self._with_more(batch, asked, columns, position) if [*columns] != asked else batch

    def parquet(self, columns: Sequence[Column]) -> tuple[str, ...] | None:
        """See `Source`."""
        paths = tuple(map(os.path.abspath, self.files.paths))
        if self.kind is not FileKind.PARQUET or not readable(columns, self.columns) or _PATTERN.search("".join(paths)):
            return None
        names = [column.name for column in columns]
        try:
            schemas = [self.kind.reader.schema(path) for path in paths]
        except (OSError, pa.ArrowException):
            return None
        if not all(set(names) <= set(schema.names) for schema in schemas):  # fields of structs, too, are streamed
            return None
        types = [[schema.field(name).type for name in names] for schema in schemas]
        # A file that was replaced since it was opened is left to the stream, which refuses it.
        same = all(columns_of(schema) == held for schema, held in zip(schemas, self.held, strict=True))
        return paths if same and all(each == types[0] for each in types) else None

    def _with_more(
        self, batch: RecordBatch, asked: Sequence[Column], columns: Sequence[Column], position: int
    ) -> RecordBatch:
        """With the columns that folders name, and numbers of lines that tell the files apart."""
        arrays = dict(zip(asked, batch.columns, strict=False))
        if LINE in columns:
            arrays[LINE] = computed("add", batch.columns[-1], pa.scalar(position * _LINES))
        for column, value in zip(self.partition, self.files.values[position] if self.partition else (), strict=True):
            arrays[column] = pa.repeat(pa.scalar(value, pa.large_string()), batch.num_rows)
        return pa.RecordBatch.from_arrays([arrays[column] for column in columns], list(map(str, range(len(columns)))))


def _columns_in(path: str, kind: FileKind, shown: Shown, declared: Format) -> tuple[Column, ...]:
    with reading_file(kind, shown):
        return kind.reader.read_columns(path, shown, declared)


def _together(held: Sequence[tuple[Column, ...]], labels: Sequence[Shown]) -> tuple[Column, ...]:
    """The columns of all files, in the order in which they are met; a question can use those that are alike in all."""
    if all(each == held[0] for each in held):
        return held[0]
    by_name = [{column.name: column for column in each} for each in held]
    return tuple(_in_all(name, by_name, labels) for name in dict.fromkeys(name for each in by_name for name in each))


def _in_all(name: str, held: Sequence[dict[str, Column]], labels: Sequence[Shown]) -> Column:
    found = [each.get(name) for each in held]
    for column, label in zip(found, labels, strict=True):
        if column != found[0]:
            both = (found[0], labels[0]), (column, label)
            said = [f"{f'holds {each.holds}' if each else 'is missing'} in {where}" for each, where in both]
            return Column(name, Holds.UNLIKE, hint=f"It {' and '.join(said)}.")
    alike = [column for column in found if column is not None]
    return replace(alike[0], wide=all(each.wide for each in alike), stamp=all(each.stamp for each in alike))
