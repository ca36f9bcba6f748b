"""The Arrow types in which values reach the engine, and how columns of all kinds of tables get them.

Arrow has no type stubs, so here alone it is imported, as `Any`, when something of it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpselect.on_use import ModuleOnUse
from dpselect.rows.columns import Column, Holds
from dpselect.summaries.domain import DAY_ZERO

pa: Any = ModuleOnUse("pyarrow")
pc: Any = ModuleOnUse("pyarrow.compute")
pq: Any = ModuleOnUse("pyarrow.parquet")
_kernels: Any = ModuleOnUse("pyarrow._compute")
Array = Any
RecordBatch = Any

Advance = Callable[[int], None]  # called with the amount read since the last call
Skipped = Callable[[list[int]], None]
"""Called, where `LINE` is asked for, with the numbers of lines, blank ones aside, left out since the last call."""
Batches = Iterator[dict[Column, Array]]
"""Some rows at a time, with the columns asked for, at least, each of its type in `ARROW_TYPES`."""


def ignored(_: Any) -> None:
    """Nobody asks which lines are left out, or how much was read."""


_TYPES = {  # the type in which each is read, and what Arrow calls the types that hold it; the first that fits counts
    Holds.ANYTHING: ("large_string", ""),
    Holds.UNSIGNED: ("uint64", "uint64"),
    Holds.INTEGERS: ("int64", "integer"),
    Holds.FLOATS: ("float64", "float64"),
    Holds.SHORT_FLOATS: ("float64", "floating"),
    Holds.DECIMALS: ("large_string", "decimal"),
    Holds.TEXT: ("large_string", "string large_string string_view"),
    Holds.DATES: ("date32", "date"),
    Holds.BOOLEANS: ("bool", "boolean"),
    Holds.NOTHING: ("large_string", "null"),
    Holds.TIMES: ("", "temporal"),
    Holds.BYTES: ("large_binary", "binary large_binary binary_view fixed_size_binary"),
}

ARROW_TYPES = {holds: read for holds, (read, _) in _TYPES.items() if read}

BATCH_ROWS = 1 << 17  # rows in a batch, where there is a choice


def holds_of(type_: Any) -> Holds:
    """What a column of an Arrow type holds. Nested dictionaries and decimals of negative scale are refused."""
    if isinstance(type_, pa.BaseExtensionType):
        return holds_of(type_.storage_type)
    if pa.types.is_dictionary(type_):
        inside = type_.value_type
        is_plain = not (isinstance(inside, pa.BaseExtensionType) or pa.types.is_dictionary(inside))
        return holds_of(inside) if is_plain else Holds.OTHER
    if pa.types.is_decimal(type_) and type_.scale < 0:
        return Holds.OTHER
    tests = ((holds, getattr(pa.types, f"is_{word}")) for holds, (_, words) in _TYPES.items() for word in words.split())
    return next((holds for holds, test in tests if test(type_)), Holds.NESTED)


def no_type() -> Any:
    """A type that no question takes, in place of one that Arrow has not, or that cannot be read."""
    return pa.decimal128(1, -1)


def type_of(make: Callable[[], Array]) -> Any:
    """The type of what is made of an empty column; `no_type` if Arrow has none that fits."""
    try:
        return make().type
    except Exception:  # noqa: BLE001 - a foreign type may raise anything
        return no_type()


def ways_of(schema: Any) -> dict[str, tuple[tuple[str, ...], Any]]:
    """The columns of a schema, and then the fields of structs as ``address.city``: the names on the way, and the type.

    A column comes before a field that would be called like it, and of two fields of one name neither is meant.
    """
    found: dict[str, tuple[tuple[str, ...], Any]] = {field.name: ((field.name,), field.type) for field in schema}
    inside = [*found.values()]
    while inside:
        way, type_ = inside.pop()
        fields = [type_.field(at) for at in range(type_.num_fields)] if pa.types.is_struct(type_) else []
        names = [field.name for field in fields]
        for field in fields:
            deeper = ((*way, field.name), field.type)
            if names.count(field.name) == 1 and found.setdefault(".".join(deeper[0]), deeper) is deeper:
                inside.append(deeper)
    return found


def columns_of(schema: Any, untyped: Container[str] = ()) -> tuple[Column, ...]:
    """What the columns of a schema hold, and the fields of its structs; `untyped` ones hold cells like those of CSV."""
    found: list[Column] = []
    for name, (_, type_) in ways_of(schema).items():
        holds = Holds.ANYTHING if name in untyped else holds_of(type_)
        inside = type_.value_type if pa.types.is_dictionary(type_) else type_
        wide = holds is Holds.DECIMALS and getattr(inside, "scale", 1) == 0
        found.append(Column(name, holds, wide=wide, stamp=pa.types.is_timestamp(inside)))
    return tuple(found)


def first_of(schema: Any, names: Sequence[str]) -> list[str]:
    """The columns of a schema in which some columns, or fields of structs, stand."""
    ways = ways_of(schema)
    return list(dict.fromkeys(ways[name][0][0] for name in names))


def taken(batch: RecordBatch, names: Sequence[str]) -> list[Array]:
    """Some columns of a batch, or fields of its structs; a field is null where a struct around it is."""
    ways, rows = ways_of(batch.schema), batch.to_struct_array()
    return [computed("struct_field", rows, options=_kernels.StructFieldOptions([*ways[name][0]])) for name in names]


def computed(function: str, *columns: Array, options: Any = None) -> Array:
    """The result of one of Arrow's functions, as `pc` has it, which takes a tenth of a second to import."""
    return _kernels.call_function(function, list(columns), options)


def matches(text: Array, pattern: str) -> Array:
    """Whether a regular expression is found in each text; null where there is none."""
    return computed("match_substring_regex", text, options=_kernels.MatchSubstringOptions(pattern))


def true_at(booleans: Array) -> NDArray[np.bool_]:
    """Which are true, and not null; Arrow's own conversion would import pandas."""
    held, end = booleans.buffers(), booleans.offset + len(booleans)
    both = [np.frombuffer(each, np.uint8)[: -(-end // 8)] for each in held if each is not None]
    return np.unpackbits(np.bitwise_and.reduce(both, axis=0), count=end, bitorder="little")[booleans.offset :] == 1


def valid_text(column: Array) -> Array:
    """Bytes or strings, which may be invalid, as ``large_string``, with nulls for what is not UTF-8.

    It is validated row by row, so that no row affects another.
    """
    safe = _kernels.CastOptions.safe
    column = computed("cast", column, options=safe(pa.large_binary()))
    try:
        return computed("cast", column, options=safe(pa.large_string()))
    except pa.ArrowInvalid:  # at least one row is not UTF-8: find out which ones
        return pa.array([decoded(value) for value in column.to_pylist()], pa.large_string())


def of_numpy(values: NDArray[Any]) -> Array:
    """Numbers or booleans as Arrow. Arrow's own conversion would import pandas, to look for its types."""
    held = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(held)])


def between(block: bytes, places: NDArray[np.int64]) -> Array:
    """The parts of a block, each from one place to the next, not copied."""
    held = [None, pa.py_buffer(places), pa.py_buffer(block)]
    return pa.Array.from_buffers(pa.large_binary(), max(0, places.size - 1), held)


def parts_of(block: bytes, places: NDArray[np.int64]) -> Array:
    """Copies of parts of a block in their order, as bytes; `places` has a row for each, with its begin and its end."""
    alternating = between(block, np.append(places, len(block)))  # parts, and the gaps between them
    every_second = pa.py_buffer(np.full(places.size // 8 + 1, 0b01010101, np.uint8))
    kept = pa.Array.from_buffers(pa.bool_(), places.size, [None, every_second])
    return _kernels.call_function("array_filter", [alternating, kept])


def text_array(values: list[str | None]) -> Array:
    """Python strings as Arrow text, with nulls for strings that UTF-8 cannot hold."""
    try:
        return pa.array(values, pa.large_string())
    except UnicodeError:  # at least one has half of a surrogate pair: find out which ones
        held = [None if value is None else str.encode(value, errors="surrogatepass") for value in values]
        return valid_text(pa.array(held, pa.large_binary()))


def decoded(value: bytes | None, encoding: str = "utf-8") -> str | None:
    """What bytes say in an encoding; None if they say nothing in it."""
    try:
        return None if value is None else value.decode(encoding)
    except UnicodeDecodeError:
        return None


def decimal_text(column: Array) -> Array:
    """Decimals as text without an exponent and without trailing zeros: equal exactly if the numbers are."""
    text = column.cast(pa.large_string())
    short = pc.fill_null(pc.match_substring(text, "E"), False)
    if pc.any(short).as_py():
        digits = [format(each, "f") for each in column.filter(short).to_pylist()]
        text = pc.replace_with_mask(text, short, pa.array(digits, text.type))
    if not column.type.scale:
        return text
    return pc.ascii_rtrim(pc.ascii_rtrim(text, characters="0"), characters=".")


PIECE_BYTES = 1 << 24  # the most bytes of text written out at once, unless one row has more


def plain_batches(batch: RecordBatch, columns: Sequence[Column]) -> Batches:
    """Some columns of a batch, as `taken` has them, converted; at most `BATCH_ROWS` rows at a time.

    The text of these takes at most `PIECE_BYTES`. One that is stored once, for very many rows, could exceed all memory.
    """
    found = taken(batch, [column.name for column in columns])
    found = [each.storage if isinstance(each, pa.ExtensionArray) else each for each in found]
    for first in range(0, batch.num_rows, BATCH_ROWS):
        arrays = [each.slice(first, BATCH_ROWS) for each in found]
        for start, end in cuts(np.sum([_lengths(each) for each in arrays], axis=0)):
            both = zip(arrays, columns, strict=True)
            yield {column: plain(array.slice(start, end - start), column.holds) for array, column in both}


def cuts(taken: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Starts and ends of runs of rows that take at most `PIECE_BYTES` together, or are a single row."""
    ends, start = np.cumsum(taken), 0
    while start < len(taken):
        before = int(ends[start - 1]) if start else 0
        end = max(int(np.searchsorted(ends, before + PIECE_BYTES, side="right")), start + 1)
        yield start, end
        start = end


def _lengths(array: Array) -> NDArray[np.int64]:
    """Bytes of the text in each row, when it is written out."""
    if not len(array):  # Arrow knows no lengths of views
        return np.zeros(0, np.int64)
    if isinstance(array, pa.DictionaryArray):
        at = array.indices.cast(pa.int64()).fill_null(len(array.dictionary)).to_numpy(zero_copy_only=False)
        return np.append(_lengths(array.dictionary), 0)[at]
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        views = np.frombuffer(array.buffers()[1], np.int32).reshape(-1, 4)[array.offset : array.offset + len(array), 0]
        return np.where(array.is_valid().to_numpy(zero_copy_only=False), views, 0).astype(np.int64)
    if holds_of(array.type) in (Holds.TEXT, Holds.BYTES):
        return pc.binary_length(array).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return np.zeros(len(array), np.int64)


def plain(column: Array, holds: Holds) -> Array:
    """The column in the Arrow type of `holds`, the same for every table. No cast here can fail for a value."""
    if isinstance(column, pa.DictionaryArray):
        values = column.dictionary  # Arrow cannot decode dictionaries of views
        is_view = pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type)
        column = values.cast(ARROW_TYPES[holds]).take(column.indices) if is_view else column.dictionary_decode()
    if holds is Holds.TEXT:
        return valid_text(column)
    if holds is Holds.TIMES:
        return dates_of(column)
    return decimal_text(column) if pa.types.is_decimal(column.type) else column.cast(ARROW_TYPES[holds], safe=False)


def dates_of(stamps: Array) -> Array:
    """The dates of timestamps, in their time zone if they have one; null where UTC is before year 1 or after 9999."""
    a_day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[stamps.type.unit]
    first, end = (date.min - DAY_ZERO).days, (date.max - DAY_ZERO).days + 1
    # In a time zone the last whole numbers of 64 bits would overflow.
    low, high = max(a_day * first, a_day - 2**63), min(a_day * end, 2**63 - a_day)
    at = stamps.cast(pa.int64())
    inside = pc.and_(pc.greater_equal(at, low), pc.less(at, high))
    return pc.if_else(inside, stamps, pa.scalar(None, stamps.type)).cast(pa.date32(), safe=False)


_READERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((object, datetime, np.timedelta64, np.longdouble, np.complexfloating), lambda _: None),
    **dict.fromkeys((np.bool_, np.number), np.generic.item),
    **{kind: kind for kind in (bool, Decimal, Fraction)},
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    UUID: UUID.__str__,
    date: date.isoformat,
}
"""What reads Python objects, by the nearest type that they inherit from.

Their own attributes and methods are not trusted (``__class__``, ``__float__``, ``__eq__``, ...): they may do anything,
and none can make reading fail.
"""
_IN_PYTHON = (Fraction, UUID)  # they read themselves by attributes, so that none may inherit from them


def value_of_object(value: Any) -> str | bool | int | float | None:
    """A string or a boolean; a whole number of any type; of another number the nearest double. Equal ones are equal.

    Of dates and UUIDs it is the text. All else is None: NaN, numbers beyond all doubles, timestamps, bytes, lists,
    objects of other types.
    """
    kind = cast("type[Any]", type(value))
    try:
        known = kind if kind in _READERS else next(base for base in type.mro(kind) if base in _READERS)
        read = None if known in _IN_PYTHON and kind is not known else _READERS[known](value)
        if read is None or type(read) in (str, bool):
            return read
        double = float(read)
        if not isfinite(double):  # writing the digits of a number beyond all doubles may take very long
            return double if double == read else None
        whole = int(read)
        return whole if whole == read else double
    except Exception:  # noqa: BLE001 - an object that was never initialised, or a decimal that signals, for example
        return None


def text_of_objects(values: Iterable[Any]) -> list[str | None]:
    """Strings as they are, other values as in a CSV file."""
    return [value if value is None or type(value) is str else _text(value) for value in values]


def _text(value: Any) -> str | None:
    read = value_of_object(value)
    return read if read is None or isinstance(read, str) else str(read).lower()
