"""Tables that libraries hold: a schema and a stream of Arrow. Each question asks for them again; none modifies them.

Each is recognised by the name of its type: no unused library is imported. To read one more is a function that makes a
`Frame`, and a line in `_READERS`. Polars, DuckDB's relations and tables of Ibis compute the columns that are needed. Of
tables of Delta and Iceberg their libraries say which rows are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, Shown, describe, import_extra
from dpselect.rows import arrow
from dpselect.rows.arrow import BATCH_ROWS, Advance, Array, Batches, RecordBatch, Skipped, first_of, ignored, pa, pc
from dpselect.rows.columns import ASK, Column, Holds, TranslatedErrors, changed, check_names, reading
from dpselect.rows.scan import Source, quoted

_DELTA = (
    "One of its files is damaged or gone, or its log is damaged, needs a later version of deltalake, or is in a folder"
    " whose name has a % sign."
)
_NOT_TEXT = (
    "The table has deletion vectors or mapped columns, and the reader of those stops at text that is not UTF-8."
    " Write the files anew without them, in Spark: REORG TABLE ... APPLY (PURGE)."
)
_ICEBERG = (
    "One of its files is damaged or gone, or it has equality deletes, which pyiceberg cannot apply: compact it, in"
    " Spark by rewrite_data_files."
)

Strings = list[str | None]
Now = tuple[Any, Callable[[list[str]], Iterable[RecordBatch]]]
"""The present Arrow schema of a table, and what reads some of its columns, by name; others may come with them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame(Source):
    """Rows that the caller's library holds or computes, with the columns that their schema has when it is made."""

    columns: tuple[Column, ...] = field(init=False)
    now: Callable[[], Now]  # describes the rows as they are when it is called, and reads just these; may raise anything
    hint: str = field(default="", kw_only=True)  # what to do if the library cannot answer
    expected: str = field(default="a table that can be read to its end", kw_only=True)  # in errors
    hint_of: Callable[[Column], str] = field(default=lambda _: "", kw_only=True)  # to convert a column
    untyped: frozenset[str] = field(default=frozenset(), kw_only=True)  # the columns whose text is read as cells of CSV

    def __post_init__(self) -> None:
        with self._reading():
            schema, _ = self.now()
        check_names(schema.names, shown=self.shown)
        columns = tuple(replace(each, hint=self.hint_of(each)) for each in arrow.columns_of(schema, self.untyped))
        object.__setattr__(self, "columns", columns)

    def batches(self, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
        """See `Source`. The columns have to have the types that they had when the frame was opened.

        If one has another type now, a row may decide how the others are read. Other columns may come, go and change.
        """
        with self._reading():
            schema, read = self.now()
            if not set(columns) <= set(arrow.columns_of(schema, self.untyped)):
                raise changed(self.shown)
            for batch in read(first_of(schema, [column.name for column in columns])):
                found = {(each.name, each.holds) for each in arrow.columns_of(batch.schema, self.untyped)}
                found |= {(name, Holds.DECIMALS) for name, holds in found if holds is Holds.TEXT}  # see `_short`
                if not {(each.name, each.holds) for each in columns} <= found:
                    raise changed(self.shown)
                yield from arrow.plain_batches(batch, columns)
                advance(batch.num_rows)

    def _reading(self) -> TranslatedErrors:
        return reading(self.shown, hint=self.hint, expected=self.expected)


def of_table(table: Any, shown: str, untyped: Iterable[str] = ()) -> Frame:
    """A table in memory, read without a copy of the whole."""
    now: Now = table.schema, lambda names: table.select(names).to_batches(max_chunksize=BATCH_ROWS)
    return Frame(shown, lambda: now, size=table.num_rows, untyped=frozenset(untyped))


def of_polars(frame: Any) -> Frame:
    """The rows of a ``polars.DataFrame``, or of a ``LazyFrame``, which hands over the columns asked for as a whole."""
    import polars as pl

    is_lazy, newest = isinstance(frame, pl.LazyFrame), pl.CompatLevel.newest()

    def now() -> Now:
        held = frame.clone()  # a snapshot
        empty = pl.DataFrame(schema=held.collect_schema())

        def read(names: list[str]) -> Iterator[RecordBatch]:
            # Polars takes some names for patterns, and panics at one with a zero byte.
            asked = held.select(pl.nth(empty.columns.index(name)).alias(str(at)) for at, name in enumerate(names))
            for part in (asked.collect(engine="streaming") if is_lazy else asked).iter_slices(BATCH_ROWS):
                yield from part.to_arrow(compat_level=newest).rename_columns(names).to_batches()

        return pa.schema([(column.name, type_in_arrow(column)) for column in empty.get_columns()]), read

    def type_in_arrow(empty: Any) -> Any:  # not of objects, whose Arrow type would be that of memory addresses
        is_object = empty.dtype == pl.Object
        return arrow.no_type() if is_object else arrow.type_of(lambda: empty.alias("").to_arrow(compat_level=newest))

    if is_lazy:
        return Frame("<polars LazyFrame>", now, hint=ASK)
    return Frame("<polars DataFrame>", now, size=frame.height)


def of_relation(relation: Any) -> Frame:
    """The rows of a ``duckdb.DuckDBPyRelation``, computed on its own connection."""
    import duckdb

    def now() -> Now:
        with TranslatedErrors(lambda _: changed(shown), duckdb.BinderException, duckdb.CatalogException):  # it is gone
            columns, engines_types = list(relation.columns), relation.types
            types = relation.limit(0).to_arrow_table().schema.types
        check_names(columns, shown=shown, capitals_count=False)
        for at, (type_, own) in enumerate(zip(types, engines_types, strict=True)):
            # The fields of a struct may be long, and two types of DuckDB's reach Arrow as bytes.
            if own.id in ("bit", "bignum") or arrow.holds_of(type_) is Holds.NESTED:
                types[at] = arrow.no_type()
        schema = pa.schema(list(zip(columns, types, strict=True)))

        def read(names: list[str]) -> Any:
            holds = [arrow.holds_of(schema.field(name).type) for name in names]
            is_long = Holds.TEXT in holds or Holds.BYTES in holds
            asked = relation.project(", ".join(map(_short, names, holds)))
            return asked.to_arrow_reader(1 << 10 if is_long else BATCH_ROWS)  # at most 2 GiB of text together

        return schema, read

    shown = "<DuckDB relation>"
    return Frame(shown, now, hint=ASK)


def _short(column: str, holds: Holds) -> str:
    """A column without text beyond 1 MiB, which would otherwise decide whether DuckDB can answer."""
    name = quoted(column)
    if holds is Holds.DECIMALS:  # some have more digits than Arrow's
        return f"{name}::VARCHAR AS {name}"
    length = {Holds.TEXT: f"strlen({name}::VARCHAR)", Holds.BYTES: f"octet_length({name})"}.get(holds)
    return name if length is None else f"CASE WHEN {length} <= {1 << 20} THEN {name} END AS {name}"


def of_ibis(table: Any) -> Frame:
    """The rows of an ``ibis.Table`` on any of its engines. It hands over the columns as a whole."""

    def now() -> Now:
        def read(names: list[str]) -> Any:
            return table.select(*(table[name] for name in names)).to_pyarrow().to_batches(max_chunksize=BATCH_ROWS)

        return table.schema().to_pyarrow(), read

    return Frame("<Ibis table>", now, hint=ASK)


def of_delta(given: Any) -> Frame:
    """The rows of a Delta table: of its folder in the newest version, of a ``deltalake.DeltaTable`` in its own."""
    library = import_extra("deltalake", "Delta tables", "delta")

    def now() -> Now:
        table = library.DeltaTable(Path(given).absolute()) if isinstance(given, str) else given
        features = set(table.protocol().reader_features or ()) - {"timestampNtz"}  # of the files' types alone
        # Else the files that its log lists hold exactly its rows, under the names of its columns.
        if features or table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
            schema, refused = pa.RecordBatchReader.from_stream(table.scan()).schema, (Holds.TEXT, Holds.NESTED)
            # No question takes this type for text, nor for structs, which are read as a whole.
            types = [arrow.no_type() if arrow.holds_of(each.type) in refused else each.type for each in schema]
            schema = pa.schema(list(zip(schema.names, types, strict=True)))
            return schema, lambda names: pa.RecordBatchReader.from_stream(table.scan(columns=names))
        dataset = table.to_pyarrow_dataset()

        def read(names: list[str]) -> Iterator[RecordBatch]:
            columns = {name: pc.field(name) for name in names}  # a name with a dot in it would be taken for a way
            for file in dataset.get_fragments():
                # In its own types: Arrow would convert values to the table's, and one might not fit.
                held = file.physical_schema
                types = pa.schema([(held if name in held.names else dataset.schema).field(name) for name in names])
                if not set(arrow.columns_of(types)) <= set(arrow.columns_of(dataset.schema)):
                    raise InvalidDataError("source", Shown(shown), "files with the types of the table's schema")
                yield from file.to_batches(types, columns=columns, batch_size=BATCH_ROWS, batch_readahead=2)

        return dataset.schema, read

    shown, about = repr(given), dict[str, Any](hint=_DELTA, expected="a table that deltalake can read")
    if not isinstance(given, str):  # a folder names itself
        shown, about["origin"] = "<Delta table>", f"<Delta table {given.metadata().id}, version {given.version()}>"
        about["table_name"] = unquote(str(given.table_uri).rstrip("/").rpartition("/")[2]) or None
    return Frame(shown, now, hint_of=lambda column: _NOT_TEXT if column.holds is Holds.OTHER else "", **about)


def of_iceberg(table: Any) -> Frame:
    """The rows of a ``pyiceberg.table.Table``, of the snapshot that it has when a question is asked."""

    def now() -> Now:
        tasks = list(table.scan().plan_files())  # the data files, with the deletes that apply to each

        def read(names: list[str]) -> Iterator[RecordBatch]:
            projected = table.scan(selected_fields=tuple(names)).projection()
            library = import_module("pyiceberg.io.pyarrow")
            scanned = library.ArrowScan(table.metadata, table.io, projected, table.scan().row_filter)
            for task in tasks:  # one at a time, because the library's own stream reads several as a whole at once
                yield from scanned.to_record_batches([task])

        return table.schema().as_arrow(), read

    name, expected = table.name(), "a table that pyiceberg can read"
    called = None if name[0] == "static-table" else ".".join(name)  # opened by the path of its metadata, which follows
    origin = f"<Iceberg table {table.metadata.table_uuid}, snapshot {table.metadata.current_snapshot_id}>"
    snapshot, size = table.current_snapshot(), 0
    with suppress(ValueError, TypeError, KeyError):  # which says how many rows there are, for the progress alone
        size = int(snapshot.summary["total-records"]) if snapshot and snapshot.summary else 0
    about: dict[str, Any] = {"origin": origin, "table_name": called, "hint": _ICEBERG, "expected": expected}
    return Frame("<Iceberg table>", now, size=size, **about)


def of_pandas(frame: Any) -> Frame:
    """The rows of a ``pandas.DataFrame``, whose index is ignored."""

    def now() -> Now:
        held = frame.copy(deep=False)  # a snapshot
        names = [*map(str, held.columns)]
        schema = pa.schema([(name, _way(dtype)[0]) for name, dtype in zip(names, held.dtypes, strict=True)])
        return schema, lambda asked: _batches({name: held.iloc[:, names.index(name)] for name in asked})

    shown = "<pandas DataFrame>"
    check_names(list(frame.columns), shown=shown)
    hints = dict(zip(frame.columns, map(_hint, frame.columns, frame.dtypes), strict=True))
    return Frame(shown, now, size=len(frame), hint_of=lambda column: hints.get(column.name, ""))


def of_numpy_array(values: NDArray[Any]) -> Frame:
    """A one-dimensional array of numbers, booleans or text as the column ``values``. Masked ones are missing."""

    def now() -> Now:
        starts = range(0, len(values), BATCH_ROWS)
        chunks = (from_numpy(values[start : start + BATCH_ROWS]) for start in starts)
        schema = pa.schema([("values", arrow.type_of(lambda: from_numpy(values[:0])))])
        return schema, lambda _: (pa.RecordBatch.from_arrays([each], names=["values"]) for each in chunks)

    return Frame("<array>", now, size=len(values))


def _batches(asked: Mapping[str, Any]) -> Iterator[RecordBatch]:
    """The rows of some columns, at most `PIECE_BYTES` characters of Python's strings at a time, or one row."""
    readers, names = [(series.array, _way(series.dtype)[1]) for series in asked.values()], [*asked]
    for start in range(0, len(readers[0][0]), BATCH_ROWS):
        found = [read(array[start : start + BATCH_ROWS]) for array, read in readers]
        long = [[len(value or "") for value in cast("Strings", each)] for each in found if isinstance(each, list)]
        for begin, end in arrow.cuts(np.sum(long, axis=0)) if long else [(0, len(found[0]))]:
            arrays = [_arrow(each[begin:end]) for each in found]
            yield from pa.table(arrays, names).to_batches()  # some have several chunks


def _arrow(values: Array | Strings) -> Array:
    return arrow.text_array(cast("Strings", values)) if isinstance(values, list) else values


def from_numpy(values: NDArray[Any]) -> Array:
    """The values, with nulls where they are masked."""
    if values.dtype.kind == "U":
        return arrow.text_array(cast("Strings", values.tolist()))
    return pa.array(values.astype(values.dtype.newbyteorder("="), copy=False))


def _way(dtype: Any) -> tuple[Any, Callable[[Any], Array | Strings]]:
    """The Arrow type of a dtype, or `no_type`, and what reads slices of its array into Arrow or Python's strings."""
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        type_, read = _way(dtype.categories.dtype)
        every = cache(lambda: pa.table([_arrow(read(dtype.categories.array))], [""]).column(0).combine_chunks())
        return type_, lambda chunk: pa.DictionaryArray.from_arrays(pa.array(chunk.codes, mask=chunk.codes < 0), every())
    if dtype.name == "object" or (name == "StringDtype" and dtype.storage == "python"):  # else Arrow's, maybe not UTF-8
        return pa.large_string(), lambda chunk: arrow.text_of_objects(np.asarray(chunk, object))
    if name in ("PeriodDtype", "IntervalDtype"):  # numbers and structs in Arrow
        return pa.duration("ns") if name == "PeriodDtype" else arrow.no_type(), pa.array
    if isinstance(dtype, cast("Any", np.dtype)):
        return arrow.type_of(lambda: from_numpy(np.empty(0, dtype))), lambda chunk: from_numpy(np.asarray(chunk))
    return arrow.type_of(lambda: pa.array(dtype.construct_array_type()._from_sequence([], dtype=dtype))), pa.array


def _hint(name: object, dtype: Any) -> str:
    """How to convert a column whose dtype counts as text or is refused."""
    cell = f"frame[{name!r}]"
    is_category = getattr(dtype, "categories", None) is not None
    if (dtype.categories.dtype if is_category else dtype).name == "object":
        counts = "It is a category over objects, which count" if is_category else "Its dtype is object, which counts"
        return (
            f"{counts} as text. Convert it first: {cell} = pd.to_numeric({cell}), for dates "
            f"{cell}.astype('date32[pyarrow]'), for booleans {cell}.astype('boolean')."
        )
    is_sparse = type(dtype).__name__ == "SparseDtype"
    return f"Convert it first: {cell} = {cell}.sparse.to_dense()." if is_sparse else ""


_READERS: dict[tuple[str, str], Callable[[Any], Frame]] = {  # by the library and the name of a type, what reads it
    ("deltalake", "DeltaTable"): of_delta,
    ("pyiceberg", "Table"): of_iceberg,
    ("pandas", "DataFrame"): of_pandas,
    **dict.fromkeys((("polars", "DataFrame"), ("polars", "LazyFrame")), of_polars),
    **dict.fromkeys((("_duckdb", "DuckDBPyRelation"), ("duckdb", "DuckDBPyRelation")), of_relation),
    ("ibis", "Table"): of_ibis,
}


def frame_source(frame: object) -> Source | None:
    """The rows of a frame, which each question reads again: a stream is refused. None if it is no frame."""
    if isinstance(frame, pa.Table | pa.RecordBatch):
        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
        return of_table(table, f"<pyarrow {type(frame).__name__}>")
    if isinstance(frame, dict):
        return _of_arrays(cast("dict[object, object]", frame))
    if isinstance(frame, pa.RecordBatchReader) or is_a(frame, "pyarrow", "Dataset"):
        hint = "Give the table itself, by read_all() or to_table(), or its files by their paths."
        raise InvalidDataError("source", Shown(f"<pyarrow {type(frame).__name__}>"), "files or a table", hint)
    for (library, name), reader in _READERS.items():
        if is_a(frame, library, name):
            return reader(frame)
    if not hasattr(frame, "__arrow_c_stream__"):
        return None

    def now() -> Now:  # each question takes a new stream
        stream = pa.RecordBatchReader.from_stream(frame)
        return stream.schema, lambda names: stream

    return Frame(f"<{type(frame).__name__}>", now)


def is_a(value: object, library: str, name: str) -> bool:
    """Whether `value` is an instance of the class `name` of `library`, by the names of its type's bases."""
    return any(each.__name__ == name and each.__module__.partition(".")[0] == library for each in type(value).__mro__)


def _of_arrays(given: dict[Any, Any]) -> Frame:
    """The rows of columns of one length: arrays of a type, or lists, as cells of CSV: Arrow guesses by their values."""
    shown, columns, untyped = Shown("<dict of arrays>"), dict[str, Any](), list[str]()
    check_names(list(given), shown=shown)
    for name, column in given.items():
        unreadable = InvalidDataError("source", Shown(f"<column {name!r}>"), "a list or a one-dimensional array")
        is_flat = hasattr(column, "__len__") and getattr(column, "ndim", 1) == 1
        if not is_flat or isinstance(column, str | bytes | Mapping):
            raise unreadable
        with TranslatedErrors(lambda _, said=unreadable: said, Exception):  # of any library; they may quote a value
            if str(getattr(column, "dtype", getattr(column, "type", "object"))).lower() in ("object", "category"):
                untyped.append(name)
                columns[name] = arrow.text_array(arrow.text_of_objects(column))
            else:
                columns[name] = from_numpy(cast("Any", column)) if isinstance(column, np.ndarray) else pa.array(column)
    if len({len(column) for column in columns.values()}) > 1:
        raise InvalidDataError("source", shown, "arrays of the same length")
    return of_table(pa.table(columns), str(shown), untyped)


def single_columns(given: Any, *, argument: str) -> list[Source] | Source | None:
    """The columns of a frame, each as a table of its own, or the one of a series; None if `given` is neither.

    Anything with the Arrow C interface is read once.
    """
    if any(is_a(given, "pandas", name) for name in ("Series", "Index", "ExtensionArray")):
        return frame_source(import_module("pandas").DataFrame({argument: given}))
    if is_a(given, "polars", "Series"):
        return frame_source(given.to_frame())
    names, got = list[Any](), Shown(describe(given))
    if is_a(given, "pandas", "DataFrame"):
        names = [*given.columns]
        frames = [given.iloc[:, place].to_frame(str(name)) for place, name in enumerate(names)]
    elif is_a(given, "polars", "DataFrame"):  # has no two columns of the same name
        frames = [column.to_frame() for column in given.get_columns()]
    elif not hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__arrow_c_array__"):
        return None
    else:
        from dpselect.mechanisms.scores import arrow_chunks

        if (chunks := arrow_chunks(given)) is None:
            raise InvalidDataError(argument, got, "a table that can be read as an Arrow stream")
        if not pa.types.is_struct(chunks.type):
            return frame_source(pa.table({argument: chunks}))
        table = pa.Table.from_struct_array(chunks)
        names, frames = table.column_names, [pa.table({argument: column}) for column in table.columns]
    if len(set(names)) < len(names):
        raise InvalidDataError(argument, got, "columns with different names", "Two of them have the same.")
    return [found for each in frames if (found := frame_source(each)) is not None]  # as it is for each of them
