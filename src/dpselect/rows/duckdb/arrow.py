"""The Arrow types in which values reach the engine. Text is validated row by row, so that no row affects another.

Arrow has no type stubs, so here alone it is imported, as `Any`, when something of it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect.on_use import ModuleOnUse
from dpselect.rows.columns import Column, Holds

if TYPE_CHECKING:
    pass  # pyright: ignore
pa: Any = ModuleOnUse("pyarrow")
pc: Any = ModuleOnUse("pyarrow.compute")
pq: Any = ModuleOnUse("pyarrow.parquet")
_kernels: Any = ModuleOnUse("pyarrow._compute")
Array = Any
RecordBatch = Any

ARROW_TYPES = {
    Holds.ANYTHING: "large_string",
    Holds.TEXT: "large_string",
    Holds.DECIMALS: "large_string",
    Holds.NOTHING: "large_string",
    Holds.INTEGERS: "int64",
    Holds.UNSIGNED: "uint64",
    Holds.FLOATS: "float64",
    Holds.SHORT_FLOATS: "float64",
    Holds.DATES: "date32",
    Holds.BOOLEANS: "bool",
    Holds.BYTES: "large_binary",
}
"""What Arrow calls the type in which each readable type of column is read."""

BATCH_ROWS = 1 << 17
"""Rows in a batch, where there is a choice."""

_TESTS = (
    ("is_uint64", Holds.UNSIGNED),
    ("is_integer", Holds.INTEGERS),
    ("is_float64", Holds.FLOATS),
    ("is_floating", Holds.SHORT_FLOATS),
    ("is_decimal", Holds.DECIMALS),
    ("is_string", Holds.TEXT),
    ("is_large_string", Holds.TEXT),
    ("is_string_view", Holds.TEXT),
    ("is_date", Holds.DATES),
    ("is_boolean", Holds.BOOLEANS),
    ("is_null", Holds.NOTHING),
    ("is_temporal", Holds.TIMES),
    ("is_binary", Holds.BYTES),
    ("is_large_binary", Holds.BYTES),
    ("is_binary_view", Holds.BYTES),
    ("is_fixed_size_binary", Holds.BYTES),
)


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
    return next((holds for test, holds in _TESTS if getattr(pa.types, test)(type_)), Holds.NESTED)


def column_of(name: str, type_: Any) -> Column:
    """A column of an Arrow type.

    >>> column_of("number", pa.decimal128(38, 0)).is_whole
    True
    """
    holds = holds_of(type_)
    inside = type_.value_type if pa.types.is_dictionary(type_) else type_
    wide = holds is Holds.DECIMALS and getattr(inside, "scale", 1) == 0
    return Column(name, holds, wide=wide, stamp=pa.types.is_timestamp(inside))


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


def columns_of(schema: Any) -> tuple[Column, ...]:
    """What the columns of a schema hold, and the fields of its structs.

    >>> [each.name for each in columns_of(pa.schema([("address", pa.struct([("city", "string")]))]))]
    ['address', 'address.city']
    """
    return tuple(column_of(name, type_) for name, (_, type_) in ways_of(schema).items())


def taken(rows: Any, names: Sequence[str]) -> list[Any]:
    """Some columns of a table or a batch, or fields of its structs; a field is null where a struct around it is."""
    ways = ways_of(rows.schema)
    found: list[Any] = []
    for first, *inside in (ways[name][0] for name in names):
        column = rows.column(rows.schema.get_field_index(first))
        found.append(pc.struct_field(column, inside) if inside else column)
    return found


def computed(function: str, *columns: Array, options: Any = None) -> Array:
    """The result of one of Arrow's functions, as `pc` has it, which takes a tenth of a second to import.

    >>> computed("ascii_trim_whitespace", pa.array([" ann "])).to_pylist()
    ['ann']
    """
    return _kernels.call_function(function, list(columns), options)


def matches(text: Array, pattern: str) -> Array:
    """Whether a regular expression is found in each text; null where there is none.

    >>> matches(pa.array(["ann", "bob", None]), "^a").to_pylist()
    [True, False, None]
    """
    return computed("match_substring_regex", text, options=_kernels.MatchSubstringOptions(pattern))


def cast(column: Array, type_: Any) -> Array:
    """`column` as another type; `pa.ArrowInvalid` if a value is lost."""
    return computed("cast", column, options=_kernels.CastOptions.safe(type_))


def valid_text(column: Array) -> Array:
    """`column` as Arrow strings, with nulls for bytes that are not UTF-8.

    Args:
        column: Arrow binary or string array of any width, possibly with nulls; strings may be invalid.

    Returns:
        Array of type ``large_string`` (no total length can overflow it), as long as `column`.

    >>> valid_text(pa.array([b"ok", bytes([255]), None])).to_pylist()
    ['ok', None, None]
    """
    column = cast(column, pa.large_binary())
    try:
        return cast(column, pa.large_string())
    except pa.ArrowInvalid:  # at least one row is not UTF-8: find out which ones
        return pa.array([_decoded(value) for value in column.to_pylist()], pa.large_string())


def of_numpy(values: NDArray[Any]) -> Array:
    """Numbers or booleans as Arrow. Arrow's own conversion would import pandas, to look for its types.

    >>> of_numpy(np.array([True, False])).to_pylist(), of_numpy(np.array([2, 3])).to_pylist()
    ([True, False], [2, 3])
    """
    held = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(held)])


def true_at(booleans: Array) -> NDArray[np.bool_]:
    """Which are true, and not null; Arrow's own conversion would import pandas.

    >>> true_at(pa.array([True, None, False, True])).tolist()
    [True, False, False, True]
    """
    held, end = booleans.buffers(), booleans.offset + len(booleans)
    both = [np.frombuffer(each, np.uint8)[: -(-end // 8)] for each in held if each is not None]
    return np.unpackbits(np.bitwise_and.reduce(both, axis=0), count=end, bitorder="little")[booleans.offset :] == 1


def text_array(values: list[str | None]) -> Array:
    """Python strings as Arrow text, with nulls for strings that UTF-8 cannot hold.

    >>> text_array(["ok", chr(0xD800), None]).to_pylist()
    ['ok', None, None]
    """
    try:
        return pa.array(values, pa.large_string())
    except UnicodeError:  # at least one has half of a surrogate pair: find out which ones
        return pa.array([None if value is None else _encodable(value) for value in values], pa.large_string())


def _encodable(value: str) -> str | None:
    try:
        str.encode(value)
    except UnicodeError:
        return None
    return value


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
