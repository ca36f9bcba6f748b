"""Sources of rows, one pass over a source, and its cells before they reach the engine, which scans Parquet by itself.

In a declared format cells are made what the row rules read, and long ones are shortened. What a cell becomes depends on
the cell and the public format alone: with the row rules it is one rule. Nothing can fail because of a cell; one that is
not written as declared is null. Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from dpselect.errors import InvalidCandidatesError, SelectionError, Shown
from dpselect.formats import MONTHS, THOUSANDS, Format, date_pattern
from dpselect.rows import arrow
from dpselect.rows.arrow import ARROW_TYPES, Advance, Array, Batches, RecordBatch, Skipped, ignored, pa, pc, pq
from dpselect.rows.columns import LINE, Column, Holds, reading
from dpselect.rows.row_rules import BLANKS, LONGEST_NAME, NO_BREAK_BLANKS, PATTERNS, Name, Number, RowValue, Unit, Value
from dpselect.summaries import CandidateKind, PublicCandidates

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection
else:
    Connection = Any  # DuckDB is imported when rows are read

_ENGINE_TYPES = {Holds.INTEGERS: "BIGINT", Holds.UNSIGNED: "UBIGINT", Holds.DATES: "DATE", Holds.BOOLEANS: "BOOLEAN"}
"""What the engine reads by itself, and the type of each."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source(ABC):
    """Rows that can be read repeatedly, in Arrow batches; only the columns asked for are read."""

    shown: str  # this and the next two as in `dpselect.rows.statements.Engine`
    columns: tuple[Column, ...]
    listed: bool = field(default=True, kw_only=True)
    has_header: bool = field(default=True, kw_only=True)  # whether the columns are named apart from the rows
    has_lines: bool = field(default=False, kw_only=True)  # numbers of lines, in the column `LINE`
    table_name: str | None = field(default=None, kw_only=True)  # its own, without folders
    parquet: tuple[tuple[str, Any], ...] = field(default=(), kw_only=True)  # files, with the schemas at the opening
    origin: str = field(default="", kw_only=True)  # by which a ledger tells it from others, if it has one
    size: int = field(default=0, kw_only=True)  # to read, in the unit that `batches` advances by; 0: not known

    @abstractmethod
    def batches(self, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
        """The rows in batches; `LINE` is one of the columns only if the rows have lines. No error quotes a row."""

    def numbered(self, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
        """The rows in batches; `LINE` may be one of the columns, whatever the source."""
        row = 0
        for read in self.batches([each for each in columns if each != LINE or self.has_lines], advance, skipped):
            if LINE in columns and not self.has_lines:
                first, row = row, row + len(next(iter(read.values())))
                read[LINE] = arrow.of_numpy(np.arange(first, row))
            yield read

    def place(self, row: int) -> str:
        """Where a row stands, such as ``line 7``, by its number in the column `LINE`, or else counted from 0."""
        return f"row {row + 1:,}"

    def lines(self, rows: Sequence[int]) -> list[bytes]:
        """What stands on some lines of text with cells, by their numbers; nothing for other sources."""
        return []


class Cell(NamedTuple):
    """One way in which the cells of a column reach the engine: as values of a kind, or without one as units.

    No candidate is text of more than `longest` bytes.
    """

    column: Column
    kind: CandidateKind | None = None
    longest: int = 0

    @classmethod
    def of(cls, value: RowValue) -> Cell:
        """The cells that a value is read from."""
        match value:
            case Unit(column):
                return cls(column.of or column)
            case Value(column, listed):
                texts = cast("tuple[str, ...]", listed.values if listed.kind is CandidateKind.TEXT else ())
                longest = max(map(len, texts), default=0)  # no character gets more of them as it is compared
                return cls(column, listed.kind, 4 * longest)  # the most bytes of a character in UTF-8
            case Name(column, kind):
                return cls(column, kind)
            case _:
                is_date = isinstance(value, Number) and value.days
                return cls(value.column, CandidateKind.DATE if is_date else CandidateKind.NUMBER)

    def made(self, array: Array, format: Format | None) -> Array:
        """The cells as the row rules read them; null where a text is longer than every value of the kind."""
        if self.kind is None:
            is_text = self.column.holds in (Holds.ANYTHING, Holds.TEXT)
            return short_units(unit_names(array) if is_text else array)
        array = as_read(array, self.column, self.kind, format)
        if not pa.types.is_large_string(array.type):
            return array
        sure = _SURE.get(self.kind)
        if sure is not None and bytes(array.buffers()[2] or b"").translate(None, sure):
            is_number = arrow.matches(array, f"^({PATTERNS[self.kind]})$")
            array = arrow.computed("if_else", is_number, array, pa.scalar(None, array.type))
        return _replaced(array, lambda _: None, longer_than=max(LONG, self.longest))


class Scan:
    """One pass over the rows of a source, with the columns that a question needs.

    Attributes:
        cells: the source's columns, by their names in the query.
        kept: whether the engine keeps the rows, so that several queries can read them; a stream can be read once.
        paths: the files that the engine reads by itself, which are all that it can reach; none: the rows are a stream.
        failure: the error to raise if the stream failed.
        skipped: is told of lines that are left out.
        stopped: set it to end a stream at the next batch; else it is enough to interrupt the engine.
    """

    def __init__(
        self, source: Source, cells: Mapping[str, Cell], *, format: Format | None = None, kept: bool = False
    ) -> None:
        self.cells, self.kept, self.shown = dict(cells), kept, source.shown
        self._source, self._format = source, format
        self._sources = {name: each.of or each for name, (each, *_) in cells.items()}
        self._read = list(dict.fromkeys(self._sources.values()))
        self.failure: SelectionError | None = None
        self.skipped: Skipped = ignored
        self._done, self._reported, self.stopped = 0, 0.0, False
        columns = [cell.column for cell in cells.values() if cell.column != LINE]
        are_plain = all(each.of is None and each.holds in _ENGINE_TYPES for each in columns)
        are_told_apart = len({each.name.casefold() for each in source.columns}) == len(source.columns)
        paths = _read_by_the_engine(source.parquet, columns) if are_plain and are_told_apart else ()
        self.paths = paths if LINE not in self._read or len(paths) == 1 else ()  # it numbers the rows of each file

    def attach(self, connection: Connection) -> None:
        """Give the rows to the engine as the table ``rows``."""
        if self.paths:
            connection.execute(f"CREATE TEMP {'TABLE' if self.kept else 'VIEW'} rows AS {self._of_files()}")
            return
        fields = [(name, ARROW_TYPES[cell.column.holds]) for name, cell in self.cells.items()]
        stream = pa.RecordBatchReader.from_batches(pa.schema(fields), self._batches())
        connection.register("stream" if self.kept else "rows", stream)
        if self.kept:
            connection.execute("CREATE TEMP TABLE rows AS SELECT * FROM stream")

    def _of_files(self) -> str:
        selected: list[str] = []
        for name, (column, *_) in self.cells.items():
            cell = quoted("file_row_number" if column == LINE else column.name)
            selected.append(f"{cell}::{_ENGINE_TYPES[column.holds]} AS {name}")
        files, numbered = ", ".join(map(literal, self.paths)), ", file_row_number = true" if LINE in self._read else ""
        read = f"read_parquet([{files}], hive_partitioning = false, union_by_name = false{numbered})"
        return f"SELECT {', '.join(selected)} FROM {read}"

    def fraction(self, connection: Connection) -> float:
        """The fraction of the input that was read, from 0 to 1; the engine's own may decrease, this one does not."""
        done, total = (connection.query_progress(), 100) if self.paths else (self._done, self._source.size)
        self._reported = max(self._reported, min(1.0, done / total if total else 1.0))
        return self._reported

    def _batches(self) -> Iterator[RecordBatch]:
        try:
            with reading(self.shown, hint=""):
                for read in self._source.numbered(self._read, self._advance, self.skipped):
                    if self.stopped:
                        return
                    yield pa.RecordBatch.from_pydict(
                        {name: cell.made(read[self._sources[name]], self._format) for name, cell in self.cells.items()}
                    )
        except SelectionError as error:
            self.failure = error
            raise

    def _advance(self, amount: int) -> None:
        self._done += amount


def _read_by_the_engine(files: Sequence[tuple[str, Any]], columns: Sequence[Column]) -> tuple[str, ...]:
    """The absolute paths of Parquet files that the engine can read these columns of by itself; none: it cannot.

    A file that was replaced since it was opened is left to the stream, which may refuse it.
    """
    paths = tuple(os.path.abspath(path) for path, _ in files)
    if re.search(r"[*?\[\]{}\\:]", "".join(paths)):  # which the engine might read as a pattern or a protocol
        return ()
    try:
        schemas = [pq.read_schema(path) for path in paths]
        types = {tuple(schema.field(column.name).type for column in columns) for schema in schemas}
    except (OSError, pa.ArrowException, KeyError):  # fields of structs have no column: they are streamed, too
        return ()
    return paths if len(types) == 1 and schemas == [schema for _, schema in files] else ()


def literal(text: str) -> str:
    """`text` as SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """The name of a table or a column, in quotes."""
    return '"' + name.replace('"', '""') + '"'


def as_read(array: Array, column: Column, kind: CandidateKind, format: Format | None) -> Array:
    """The cells of a column as the row rules read values of a kind in them; only text can be written in a format."""
    if format is None or column.holds not in (Holds.ANYTHING, Holds.TEXT):
        return array
    if kind is CandidateKind.TEXT:
        return _compared_text(array, format)
    if column.holds is Holds.ANYTHING and kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
        return _numbers(array, format)
    is_date = column.holds is Holds.ANYTHING and kind is CandidateKind.DATE
    return _dates(array, format) if is_date and (format.date_format is not None or format.as_date) else array


def unit_names(text: Array) -> Array:
    """Cells of text as the names of units that the row rules compare: see `Dialect.unit_text`.

    Here it takes a fortieth of the engine's time, and most tables have nothing to change.
    """
    text = arrow.computed("ascii_trim_whitespace", text)
    written = bytes(text.buffers()[2] or b"")
    if not written.isascii():
        others = pc.fill_null(pc.invert(pc.string_is_ascii(text)), False)
        changed = pc.replace_substring_regex(text.filter(others), pattern=f"[{NO_BREAK_BLANKS}]", replacement=" ")
        changed = pc.utf8_normalize(pc.ascii_trim_whitespace(changed), form="NFC")
        text = pc.replace_with_mask(text, others, changed)
    if b"." in written:
        text = pc.replace_substring_regex(text, pattern="^([+-]?[0-9]+)[.]0*$", replacement="\\1")
    if b"-" in written:
        is_zero = arrow.computed("equal", text, pa.scalar("-0", text.type))
        text = arrow.computed("if_else", is_zero, pa.scalar("0", text.type), text)
    return text


def compared(candidates: PublicCandidates, format: Format, *, argument: str = "candidates") -> PublicCandidates:
    """The candidates as cells are compared with them; refused if two become the same, or one becomes empty."""
    if candidates.kind is not CandidateKind.TEXT or not (format.trim or format.ignore_case):
        return candidates
    written = pa.array(cast("tuple[str, ...]", candidates.values), pa.large_string())
    texts = cast("list[str]", _compared_text(written, format).to_pylist())
    words = " and ".join(word for word in ("ignore_case", "trim") if getattr(format, word))
    got = Shown(f"<{len(candidates):,} {candidates.kind}>")
    if "" in texts:
        hint = "One of them is only blanks, which trim takes away."
        raise InvalidCandidatesError(argument, got, f"{argument} that are not blank", hint)
    if len(set(texts)) < len(set(candidates.values)):
        hint = f"Two of them are the same after {words}."
        raise InvalidCandidatesError(argument, got, f"{argument} that differ as they are compared", hint)
    return PublicCandidates(candidates.kind, tuple(texts))


def _compared_text(array: Array, format: Format) -> Array:
    if format.trim:
        array = pc.utf8_trim(array, characters=BLANKS + NO_BREAK_BLANKS)
    return pc.utf8_lower(array) if format.ignore_case else array


def _numbers(array: Array, format: Format) -> Array:
    if format.strip:
        taken = format.strip + " \t" + NO_BREAK_BLANKS
        array = pc.utf8_trim(array, characters=taken)
        behind_sign = "^([+-])[" + "".join(f"\\x{{{ord(each):x}}}" for each in taken) + "]+"
        array = pc.replace_substring_regex(array, pattern=behind_sign, replacement="\\1")
    marks = THOUSANDS.get(format.thousands or "", "")
    if not marks and format.decimal == ".":
        return array
    grouped = (f"[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{3}})+" for mark in marks)
    whole, point = "|".join(["[0-9]+", *grouped]), re.escape(format.decimal)  # with all thousands marks, or with none
    digits = f"(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+)"
    well_written = pc.match_substring_regex(array, f"^[ \t]*[+-]?{digits}(?:[eE][+-]?[0-9]+)?[ \t]*$")
    found = pc.if_else(well_written, array, pa.scalar(None, array.type))
    for mark in marks:
        found = pc.replace_substring(found, mark, "")
    return pc.replace_substring(found, format.decimal, ".")


_ISO_DATE = "(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = (  # a time of day and a time zone behind a date, or nothing
    "(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?[AaPp][Mm])?"
    "(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)


def _dates(array: Array, format: Format) -> Array:
    """As ISO 8601 writes them; that a month has no such day is found by the row rules."""
    text, date_format = array.type, format.date_format or ""
    pattern = (date_pattern(date_format) if date_format else _ISO_DATE) + (_TIME if format.as_date else "")
    parts = pc.extract_regex(array, f"^[ \t]*{pattern}[ \t]*$")
    year, month, day = (pc.struct_field(parts, name) for name in ("year", "month", "day"))
    if "%y" in date_format:
        century = pc.if_else(pc.less_equal(year, pa.scalar("68", text)), "20", "19").cast(text)  # as POSIX has it
        year = pc.binary_join_element_wise(century, year, pa.scalar("", text))
    if "%b" in date_format:
        names = pc.index_in(pc.ascii_lower(month), value_set=pa.array(MONTHS, text))
        month = pa.array([f"{at + 1:02}" for at in range(len(MONTHS))], text).take(names)
    month, day = (pc.utf8_lpad(part, width=2, padding="0") for part in (month, day))
    return pc.binary_join_element_wise(year, month, day, pa.scalar("-", text))


LONG, LONG_UNIT = LONGEST_NAME, 64
"""Bytes; longer text, and longer names of units, do not reach the engine.

It collects 2048 rows without counting their bytes towards its limit, so texts of 1 MiB would take 2 GiB; and of units,
which it sorts and groups, it keeps more than it spills.
"""


def short_units(column: Array) -> Array:
    """Units, with a digest in place of each text or bytes longer than `LONG_UNIT`.

    A digest is padded to just more, so that it equals no unit that is not replaced. Two long units become one only if
    their 256-bit BLAKE2b digests collide. So the length of a person's name does not decide whether memory suffices.
    """

    def digest(unit: str | bytes) -> str:
        written = unit.encode() if isinstance(unit, str) else unit
        return blake2b(written, digest_size=32).hexdigest().rjust(LONG_UNIT + 1, "0")

    is_long = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    return _replaced(column, digest, longer_than=LONG_UNIT) if is_long else column


_SURE = {CandidateKind.INTEGER: b"0123456789- ", CandidateKind.NUMBER: b"0123456789-.eE "}
"""Characters of texts that the engine reads as a number exactly if they are written as the row rules say.

To match all texts would take a fifth of the time of a question, and hardly any table needs it.
"""


def _replaced(column: Array, by: Callable[[Any], object], *, longer_than: int) -> Array:
    """Replace each long value by the result of `by`."""
    if not len(column):
        return column
    taken = np.diff(np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1])
    if taken.max() <= longer_than:
        return column
    long = arrow.of_numpy(taken > longer_than)
    values = [None if value is None else by(value) for value in column.filter(long).to_pylist()]
    return pc.replace_with_mask(column, long, pa.array(values, column.type))
