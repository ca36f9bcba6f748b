"""Spark data frames, classic or through Spark Connect: a statement is one job, and its result is fetched."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, ClassVar

from dpselect.rows.columns import Column, Holds, Progress, changed, check_names, reading
from dpselect.rows.duckdb import candidate_table
from dpselect.rows.row_rules import Dialect, column_of
from dpselect.rows.statements import Engine, Found, Statement
from dpselect.summaries import CandidateKind

_TYPES = {  # the first words of Spark's names of types
    Holds.INTEGERS: "bigint int smallint tinyint",
    Holds.FLOATS: "double",
    Holds.SHORT_FLOATS: "float",
    Holds.DECIMALS: "decimal",
    Holds.TEXT: "string char varchar",
    Holds.DATES: "date",
    Holds.BOOLEANS: "boolean",
    Holds.BYTES: "binary",
    Holds.NOTHING: "void",
    Holds.TIMES: "timestamp timestamp_ntz interval",
    Holds.NESTED: "array map struct variant",
}

_NORMAL_FORM = "TRY_REFLECT('com.ibm.icu.text.Normalizer', 'compose', {0}, false)"


class Spark(Dialect):
    """The words of Spark; some clusters let nobody call Java."""

    row_number = "monotonically_increasing_id()"
    materialized = ""  # it computes such a query twice; whatever is random in it depends on the rows alone
    types: ClassVar = {**Dialect.types, CandidateKind.TEXT: "STRING"}
    amount = "decimal(38,0)"
    matches = "REGEXP_LIKE({}, '(?s)^({})(?!.)')"  # in Java a dollar may be followed by a line break
    key_of_bytes = "hex({})"
    is_whole = "{0} = rint({0})"  # floor returns 64-bit numbers, and is an error beyond
    half_even = "rint({})"
    days = "DATEDIFF({}, {})"
    bit = "shiftleft({}, CAST({} AS integer))"

    def __init__(self, *, may_reflect: bool = True) -> None:
        """With the library of Unicode that Spark has in it, for its collations; without, text stays as it is."""
        self.normal_form = f"COALESCE({_NORMAL_FORM}, {{0}})" if may_reflect else "{}"

    def text(self, cell: str) -> str:
        return f"CAST({cell} AS string COLLATE UTF8_BINARY)"  # byte by byte, whatever the column's collation

    def valid_text(self, cell: str) -> str:
        return f"try_validate_utf8({self.text(cell)})"

    def first(self, keys: Sequence[str], value: str, kind: CandidateKind) -> str:
        """Whole numbers draw lots by XXH64. Its steps can be undone, so different ones of a unit have different lots.

        Spark groups numbers without sorting them, so this takes half of the time of digests.
        """
        if kind is not CandidateKind.INTEGER:
            return super().first(keys, value, kind)
        key = self.whole(int.from_bytes(os.urandom(8), signed=True))
        lot = f"xxhash64({', '.join([key, *keys, value])})"
        return f"MIN_BY({value}, CASE WHEN {value} IS NOT NULL THEN {lot} END)"


class SparkFrame(Engine):
    """A data frame of Spark, whose schema is read."""

    shown = "<PySpark DataFrame>"

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        with reading(self.shown):
            self.columns = _columns_in(frame)

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, each from a job of its own."""
        with reading(self.shown), _unlogged():
            return [self._answer(each) for each in asked]

    def _answer(self, statement: Statement) -> Found:
        columns = dict[Column, str]()
        cells = statement.cells(column_of, columns)
        session, read = self.frame.sparkSession, self._as_opened(columns)
        frames = {"cells": read}
        for name, listed in statement.tables.items():
            types = [f"{column} {Spark.types[each.kind]}" for column, each in listed.items()]
            frames[name] = session.createDataFrame(candidate_table(listed), ", ".join([*types, "place bigint"]))
        (unit,) = statement.reads["who"]
        dialect = Spark(may_reflect=unit.column.holds is Holds.TEXT and _may_reflect(session))
        front = ", ".join(f"{name} AS (SELECT * FROM {{{name}}})" for name in frames)  # Spark puts a frame there
        sql = f"SELECT * FROM ({statement.sql(dialect, cells, 'cells')}) AS answer"
        sql = sql.replace("{", "{{").replace("}", "}}")
        found = session.sql(f"WITH {front} {sql}", **frames).toArrow()
        return dict(zip(found.column_names, found.columns, strict=True))

    def _as_opened(self, names: Mapping[Column, str]) -> Any:
        """Some columns under other names, if they have the types that they had when the frame was opened."""
        module = type(self.frame).__module__
        may_change = module.startswith("pyspark.sql.connect.")  # a classic frame never changes
        if may_change and not set(names) <= set(_columns_in(self.frame.select("*"))):  # a frame remembers its schema
            raise changed(self.shown)
        # Spark Connect has its own functions, and one process may use both.
        functions = import_module(f"{module.rpartition('.')[0].removesuffix('.classic')}.functions")
        kept = list[Any]()
        for column, name in names.items():
            cell = functions.col("`" + column.name.replace("`", "``") + "`")
            if may_change and column.holds in _TYPES:  # a type that changes later leaves only nulls: no row decides
                same = f"^({_TYPES[column.holds].replace(' ', '|')})([^a-z_]|$)"
                cell = functions.when(functions.typeof(cell).rlike(same), cell)
            kept.append(cell.alias(name))
        return self.frame.select(*kept)


def _may_reflect(session: Any) -> bool:
    """Whether the session would normalize a text. It is asked about a constant, and runs nothing."""
    from pyspark.errors import AnalysisException

    try:
        return bool(session.sql(f"SELECT {_NORMAL_FORM.format(repr('e'))}").schema)
    except AnalysisException:
        return False


def _columns_in(frame: Any) -> tuple[Column, ...]:
    """The columns of a Spark frame, whose names differ in more than capitals."""
    check_names(frame.columns, shown=SparkFrame.shown, capitals_count=False)
    known = {word: holds for holds, words in _TYPES.items() for word in words.split()}
    found: list[Column] = []
    for name, type_ in frame.dtypes:
        held = known.get(re.split("[(< ]", type_)[0], Holds.OTHER)
        found.append(Column(name, held, wide=held is Holds.DECIMALS and type_.endswith(",0)")))
    return tuple(found)


@contextmanager
def _unlogged() -> Generator[None]:
    """Suppress PySpark's log of its errors on the driver: their messages quote values."""
    from pyspark.logger import PySparkLogger

    # Made by PySpark: plain loggers of these names would stay, and would fail when PySpark logs.
    loggers = [PySparkLogger.getLogger(f"{name}QueryContextLogger") for name in ("SQL", "DataFrame")]

    def nothing(record: logging.LogRecord) -> bool:  # one for each question: the first to end would remove a shared one
        return False

    with ExitStack() as ended:
        for logger in loggers:
            logger.addFilter(nothing)
            ended.callback(logger.removeFilter, nothing)
        yield
