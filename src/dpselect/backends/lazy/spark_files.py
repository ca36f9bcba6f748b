"""Parquet files read by Spark: exactly the files named, with the types in their footers.

Spark is given the types, so that it does not refuse a file because of a column that nobody asks about, such as times in
nanoseconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from dpselect.backends.columns import Column, Holds
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.schema import check_names
from dpselect.backends.lazy.spark_frame import SparkFrame
from dpselect.backends.rows import Source
from dpselect.backends.rows.arrow import pa, pq
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown

_TYPES = {
    Holds.INTEGERS: "long",
    Holds.UNSIGNED: "decimal(20,0)",
    Holds.FLOATS: "double",
    Holds.SHORT_FLOATS: "float",
    Holds.TEXT: "string",
    Holds.DATES: "date",
    Holds.BOOLEANS: "boolean",
    Holds.NOTHING: "void",
    Holds.BYTES: "binary",
}

_UNREACHABLE = re.compile(r"[\\:]|/[._][^/]*$|\._COPYING_$")
"""Names that Spark skips silently, or cannot write as a URL."""


def spark_files(files: Source, paths: Sequence[str]) -> SparkFrame:
    """The files as a data frame.

    Args:
        files: the same rows as a stream.
        paths: paths of the files.

    Raises:
        InvalidParameterError: Spark cannot start, or reads other files than these.
        InvalidDataError: it cannot read them, or two columns differ only in capitals.
    """
    found = [os.path.abspath(path) for path in paths]
    if any(map(_UNREACHABLE.search, found)):
        raise _refused("The name of a file begins with _ or ., or its path contains a : or a backslash.")
    check_names([column.name for column in files.columns], files.shown, capitals_count=False)
    types = _types_of(files.columns, found, files.shown)
    if not types:
        raise InvalidDataError("source", Shown(files.shown), "a column of a type that a question can use")
    session = _session()
    with reading(files.shown):
        from pyspark.sql.types import StructType

        fields: list[dict[str, Any]] = [
            {"name": name, "type": type_, "nullable": True, "metadata": {}} for name, type_ in types.items()
        ]
        schema = StructType.fromJson({"fields": fields})
        named = [f"file://{path}" for path in found]
        frame = session.read.schema(schema).option("__globPaths__", "false").parquet(*named)
        read = {unquote(each) for each in frame.inputFiles()}
    if read != {re.sub(r"^file:/+", "file:///", each) for each in named}:
        raise _refused("Spark would read other files: these names have a special meaning for it.")
    known = {column.name: column for column in SparkFrame.of(frame).columns}
    columns = tuple(known.get(column.name) or _unread(column) for column in files.columns)
    return SparkFrame(frame, columns, files.shown)


def _unread(column: Column) -> Column:
    return Column(column.name, Holds.WIDE_DECIMALS) if column.holds is Holds.DECIMALS else column


def _types_of(columns: Sequence[Column], paths: Sequence[str], shown: str) -> Mapping[str, str]:
    """Spark's types, without columns that no question can use."""
    types = {column.name: _TYPES[column.holds] for column in columns if column.holds in _TYPES}
    decimals = [column.name for column in columns if column.holds is Holds.DECIMALS]
    if decimals:
        with reading(shown):
            schemas = [pq.read_schema(path) for path in paths]
        for name in decimals:
            each = [schema.field(name).type for schema in schemas]
            scale = max(type_.scale for type_ in each)
            digits = max(type_.precision - type_.scale for type_ in each) + scale
            if all(map(pa.types.is_decimal, each)) and scale >= 0 and digits <= 38:
                types[name] = f"decimal({digits},{scale})"
    return {column.name: types[column.name] for column in columns if column.name in types}


def _session() -> Any:
    """The existing session, or a new one without a log, because logged errors quote rows."""
    pyspark: Any = import_module("pyspark")
    sessions: Any = import_module("pyspark.sql").SparkSession
    with TranslatedErrors(lambda _: _refused("Spark could not start; it needs a supported version of Java.")):
        is_there = sessions.getActiveSession() is not None or pyspark.SparkContext._active_spark_context is not None
        if not is_there and "SPARK_REMOTE" not in os.environ:
            launch: Any = import_module("pyspark.java_gateway").launch_gateway
            gateway = launch(popen_kwargs={"stderr": subprocess.DEVNULL})
            with _workers_like_us():
                pyspark.SparkContext(gateway=gateway)
        return sessions.builder.getOrCreate()


@contextmanager
def _workers_like_us() -> Generator[None]:
    """Run workers of a new session with this Python, unless another is set; the search path may find another."""
    if "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


def _refused(hint: str) -> InvalidParameterError:
    return InvalidParameterError("engine", Shown("'spark'"), "an engine that can read these files", hint)
