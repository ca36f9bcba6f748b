"""Spark data frames, classic or through Spark Connect: a statement is one job, and its result is fetched."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from secrets import token_hex
from typing import Any, ClassVar

from dpselect.rows.columns import Column, Holds
from dpselect.rows.contract import Progress
from dpselect.rows.duckdb.embedded import candidate_table
from dpselect.rows.failures import changed, reading
from dpselect.rows.frames.streams import named_columns
from dpselect.rows.row_rules import Dialect, named_cells
from dpselect.rows.statements import Found, Statement, is_interval
from dpselect.summaries import CandidateKind
from dpselect.summaries.dates import DAY_ZERO

SHOWN = "<PySpark DataFrame>"

_TYPES = {
    "bigint": Holds.INTEGERS,
    "int": Holds.INTEGERS,
    "smallint": Holds.INTEGERS,
    "tinyint": Holds.INTEGERS,
    "double": Holds.FLOATS,
    "float": Holds.SHORT_FLOATS,
    "decimal": Holds.DECIMALS,
    "string": Holds.TEXT,
    "char": Holds.TEXT,
    "varchar": Holds.TEXT,
    "date": Holds.DATES,
    "boolean": Holds.BOOLEANS,
    "binary": Holds.BYTES,
    "void": Holds.NOTHING,
    "timestamp": Holds.TIMES,
    "timestamp_ntz": Holds.TIMES,
    "interval": Holds.TIMES,
    "array": Holds.NESTED,
    "map": Holds.NESTED,
    "struct": Holds.NESTED,
    "variant": Holds.NESTED,
}
"""By the first word of Spark's name of a type."""

_READABLE = (
    Holds.INTEGERS,
    Holds.FLOATS,
    Holds.SHORT_FLOATS,
    Holds.DECIMALS,
    Holds.TEXT,
    Holds.DATES,
    Holds.BOOLEANS,
    Holds.BYTES,
)


_NORMAL_FORM = "TRY_REFLECT('com.ibm.icu.text.Normalizer', 'compose', {}, false)"


class Spark(Dialect):
    """The words of Spark; some clusters let nobody call Java."""

    row_number = "monotonically_increasing_id()"
    materialized = ""  # it computes such a query twice; whatever is random in it depends on the rows alone
    types: ClassVar = {
        CandidateKind.INTEGER: "bigint",
        CandidateKind.NUMBER: "double",
        CandidateKind.TEXT: "string",
        CandidateKind.DATE: "date",
        CandidateKind.BOOLEAN: "boolean",
    }
    amount = "decimal(38,0)"

    def __init__(self, *, may_reflect: bool = True) -> None:
        self.may_reflect = may_reflect

    def text(self, cell: str) -> str:
        return f"CAST({cell} AS string COLLATE UTF8_BINARY)"  # byte by byte, whatever the column's collation

    def valid_text(self, cell: str) -> str:
        return f"try_validate_utf8({self.text(cell)})"

    def normal_form(self, text: str) -> str:
        """By the library of Unicode that Spark has in it, for its collations. Where it may not be called, as it is."""
        return f"COALESCE({_NORMAL_FORM.format(text)}, {text})" if self.may_reflect else text

    def matches(self, text: str, pattern: str) -> str:
        return f"REGEXP_LIKE({text}, '(?s)^({pattern})(?!.)')"  # in Java a dollar may be followed by a line break

    def unit_key(self, name: str, holds: Holds) -> str:
        return f"hex({name})" if holds is Holds.BYTES else name

    def is_whole(self, number: str) -> str:
        return f"{number} = rint({number})"  # floor returns 64-bit numbers, and is an error beyond

    def half_even(self, number: str) -> str:
        return f"rint({number})"

    def days(self, date: str) -> str:
        return f"DATEDIFF({date}, {self.day(DAY_ZERO)})"

    def lot(self, columns: Sequence[str]) -> str:
        """SHA-256 of a new key and of the columns: the same when a task is run again, or a query is computed twice.

        Each value is preceded by its length, and a missing one is a dash, so that no two rows give the same text.
        """
        texts = [f"CAST({name} AS string)" for name in columns]
        parts = [f"COALESCE(concat(octet_length({text}), ':', {text}), '-')" for text in texts]
        return f"sha2(concat('{os.urandom(32).hex()}', {', '.join(parts)}), 256)"


SPARK = Spark()


@dataclass(frozen=True, slots=True, repr=False)
class SparkFrame:
    """A data frame of Spark; see `dpselect.rows.table.Engine`.

    Attributes:
        frame: the data frame.
        columns: the columns of its schema.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown = SHOWN
    listed = True
    format = None

    @classmethod
    def of(cls, frame: Any) -> SparkFrame:
        """Read the schema of `frame`."""
        with reading(SHOWN):
            return cls(frame, _columns_in(frame))

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, each from a job of its own."""
        found: list[Found] = []
        with reading(self.shown), _unlogged():
            for statement in asked:
                found.append(self._answer(statement))
                if progress is not None:
                    progress(len(found) / len(asked))
        return found

    def _answer(self, statement: Statement) -> Found:
        columns, cells = named_cells(statement.reads)
        session = self.frame.sparkSession
        read = self._as_opened(columns).select(*(_cell(self.frame, each).alias(name) for each, name in columns.items()))
        views = {f"{name}_list": listed for name, listed in statement.lists.items() if not is_interval(listed)}
        mark = f"dpselect_{token_hex(8)}"  # others in this session may ask at the same time
        try:
            read.createOrReplaceTempView(f"{mark}_cells")
            front: list[str] = []
            for name, listed in views.items():
                types = f"place bigint, candidate {SPARK.types[listed.kind]}"
                session.createDataFrame(candidate_table(listed), types).createOrReplaceTempView(f"{mark}_{name}")
                front.append(f"{name} AS (SELECT * FROM {mark}_{name})")
            named = statement.reads["who"].column.holds is Holds.TEXT
            dialect = Spark(may_reflect=named and _may_reflect(session))
            sql = f"SELECT * FROM ({statement.sql(dialect, cells, f'{mark}_cells')}) AS answer"
            found = session.sql(f"WITH {', '.join(front)} {sql}" if front else sql).toArrow()
        finally:
            for name in ("cells", *views):
                session.catalog.dropTempView(f"{mark}_{name}")
        return {
            name: column if name == "what" and statement.named is not None else column.to_numpy()
            for name, column in zip(found.column_names, found.columns, strict=True)
        }

    def _as_opened(self, asked: Iterable[Column]) -> Any:
        """The frame, after a check that the columns asked for have the types that they had when it was opened.

        The error depends on a column's type, never on its rows. If the type changes after this check, the column has
        only nulls, so that reading it cannot fail. A classic frame never changes.
        """
        if not _is_remote(self.frame):
            return self.frame
        then = {column.name: column for column in asked}
        now = {column.name: column for column in _columns_in(self.frame.select("*"))}  # a frame remembers its schema
        if any(now.get(name) != column for name, column in then.items()):
            raise changed(self.shown)
        return self.frame.select(*(_unless_replaced(self.frame, column) for column in then.values()))


def _may_reflect(session: Any) -> bool:
    """Whether the session would normalize a text. It is asked about a constant, and runs nothing."""
    from pyspark.errors import AnalysisException

    try:
        return bool(session.sql(f"SELECT {_NORMAL_FORM.format(repr('e'))}").schema)
    except AnalysisException:
        return False


def _columns_in(frame: Any) -> tuple[Column, ...]:
    """The columns of a Spark frame, from its schema; names differ in more than capitals."""
    types = dict(frame.dtypes)
    names = list(frame.columns)
    named_columns(names, (), shown=SHOWN, capitals_count=False)
    found: list[Column] = []
    for name in names:
        kind = types[name].partition("(")[0].partition("<")[0].partition(" ")[0]
        held = _TYPES.get(kind, Holds.OTHER)
        found.append(Column(name, held, wide=held is Holds.DECIMALS and types[name].endswith(",0)")))
    return tuple(found)


def _cell(frame: Any, column: Column) -> Any:
    """The cell of `column`, whatever its name is."""
    return _functions(frame).col("`" + column.name.replace("`", "``") + "`")


def _unless_replaced(frame: Any, column: Column) -> Any:
    value = _cell(frame, column)
    if column.holds not in _READABLE:
        return value
    names = "|".join(name for name, holds in _TYPES.items() if holds is column.holds)
    functions = _functions(frame)
    return functions.when(functions.typeof(value).rlike(f"^({names})([^a-z_]|$)"), value).alias(column.name)


def _is_remote(frame: Any) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.connect.")


def _functions(frame: Any) -> Any:
    """The functions for columns of `frame`. Spark Connect has its own, and one process may use both."""
    return import_module("pyspark.sql.connect.functions" if _is_remote(frame) else "pyspark.sql.functions")


_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""The loggers to which PySpark writes its errors."""


@contextmanager
def _unlogged() -> Generator[None]:
    """Suppress PySpark's log of its errors on the driver: their messages quote values."""
    from pyspark.logger import PySparkLogger

    # Made by PySpark: plain loggers of these names would stay, and would fail when PySpark logs.
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    nothing = _Nothing()
    for logger in loggers:
        logger.addFilter(nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(nothing)


class _Nothing(logging.Filter):
    """Blocks all records. Each question has its own filter, because the first to end would remove a shared one."""

    def filter(self, record: logging.LogRecord) -> bool:
        return False
