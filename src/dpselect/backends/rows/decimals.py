"""Decimals as text that is the same for equal numbers, whatever the number of decimals of their columns.

Arrow writes ``0E-10`` for zero with ten decimals, and ``1.000E-7``; here such numbers are written digit by digit.
"""

from __future__ import annotations

from typing import Any

from dpselect.backends.rows.arrow import Array, pa, pc


def decimal_text(column: Array) -> Array:
    """Decimals as text without an exponent and without trailing zeros.

    Args:
        column: Arrow array of decimals of any width, with any number of decimals from 0.

    Returns:
        ``large_string`` array, null where `column` is. Two texts are equal exactly if the numbers are.

    >>> tenths = pa.array([None, "-1.50", "0", "20"], pa.string()).cast(pa.decimal128(38, 10))
    >>> decimal_text(tenths).to_pylist()
    [None, '-1.5', '0', '20']
    """
    text = column.cast(pa.large_string())
    short = pc.fill_null(pc.match_substring(text, "E"), False)
    if pc.any(short).as_py():
        text = pc.replace_with_mask(text, short, _digits(column.filter(short)))
    if not column.type.scale:
        return text
    return pc.ascii_rtrim(pc.ascii_rtrim(text, characters="0"), characters=".")


def _digits(column: Array) -> Array:
    """All decimals of the type, without an exponent."""
    places, whole = column.type.scale, _without_point(column)
    digits = pc.ascii_lpad(pc.ascii_ltrim(whole, characters="-"), width=places + 1, padding="0")
    before, after = pc.utf8_slice_codeunits(digits, 0, -places), pc.utf8_slice_codeunits(digits, -places)
    sign = pc.if_else(pc.starts_with(whole, "-"), _text("-"), _text(""))
    return pc.binary_join_element_wise(pc.binary_join_element_wise(sign, before, _text("")), after, _text("."))


def _without_point(column: Array) -> Array:
    """All digits as text of whole numbers: the same bytes, read as decimals of scale 0."""
    width = column.type.bit_width
    if width < 128:
        column, width = column.cast(pa.decimal128(38, column.type.scale)), 128
    whole = pa.decimal256(76, 0) if width == 256 else pa.decimal128(38, 0)
    buffers = column.buffers()
    return pa.Array.from_buffers(whole, len(column), buffers, offset=column.offset).cast(pa.large_string())


def _text(value: str) -> Any:
    return pa.scalar(value, pa.large_string())
