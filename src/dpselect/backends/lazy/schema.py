"""Names and types of a frame's columns, from its schema; no row is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column, Holds
from dpselect.errors import InvalidDataError, Shown

_TYPES: dict[type, Holds] = {
    nw.UInt64: Holds.UNSIGNED,
    nw.Int128: Holds.DECIMALS,  # more digits than 64 bits, as whole decimals have
    nw.UInt128: Holds.DECIMALS,
    nw.Int64: Holds.INTEGERS,
    nw.Int32: Holds.INTEGERS,
    nw.Int16: Holds.INTEGERS,
    nw.Int8: Holds.INTEGERS,
    nw.UInt32: Holds.INTEGERS,
    nw.UInt16: Holds.INTEGERS,
    nw.UInt8: Holds.INTEGERS,
    nw.Float64: Holds.FLOATS,
    nw.Float32: Holds.SHORT_FLOATS,
    nw.Decimal: Holds.DECIMALS,
    nw.String: Holds.TEXT,
    nw.Categorical: Holds.TEXT,
    nw.Enum: Holds.TEXT,
    nw.Date: Holds.DATES,
    nw.Boolean: Holds.BOOLEANS,
    nw.Datetime: Holds.TIMES,
    nw.Duration: Holds.TIMES,
    nw.Time: Holds.TIMES,
    nw.Binary: Holds.BYTES,
}


def columns_of(
    frame: Any,
    names: Sequence[str],
    shown: str,
    *,
    unlike: Callable[[str], Holds | None] = lambda name: None,
    capitals_count: bool = False,
) -> tuple[Column, ...]:
    """The columns of a lazy frame.

    Args:
        frame: a frame of any engine that narwhals knows.
        names: names of its columns, as the engine lists them.
        shown: its name in errors.
        unlike: what a column holds if the engine's own type says more than narwhals; else None.
        capitals_count: whether names are case-sensitive in the engine.

    Raises:
        InvalidDataError: there are no columns, or two of the same name.
    """
    check_names(names, shown, capitals_count=capitals_count)
    schema = nw.from_native(frame).collect_schema()
    held = {name: unlike(name) or holds(schema[name]) for name in names}
    wide = {name for name in names if held[name] is Holds.DECIMALS and _is_wide(schema[name])}
    return tuple(Column(name, held[name], wide=name in wide) for name in names)


def check_names(names: Sequence[str], shown: str, *, capitals_count: bool = True) -> None:
    """Refuse a table without columns, or with two columns that have the same name for its engine."""
    if not names:
        raise InvalidDataError("source", Shown(shown), "a table with columns")
    if len(set(names)) < len(names):
        raise InvalidDataError("source", Shown(shown), "columns with different names")
    if not capitals_count and len({name.casefold() for name in names}) < len(names):
        hint = "Two of them differ only in capitals, and names are case-insensitive here: rename one of them."
        raise InvalidDataError("source", Shown(shown), "columns with different names", hint)


def _is_wide(type_: Any) -> bool:
    """Whether it is for whole numbers of more than 64 bits, or for decimals without a fraction."""
    return type_ == nw.Int128 or type_ == nw.UInt128 or getattr(type_, "scale", None) == 0


def holds(type_: Any) -> Holds:
    """What a column of a narwhals type holds.

    >>> str(holds(nw.Int16())), str(holds(nw.List(nw.Int16())))
    ('whole numbers', 'nested values')
    """
    unknown = Holds.NESTED if type_.is_nested() else Holds.OTHER
    return next((held for kind, held in _TYPES.items() if type_ == kind), unknown)
