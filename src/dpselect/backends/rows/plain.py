"""Columns of every kind of table in the one type that their kind is read as."""

from __future__ import annotations

from dpselect.backends.columns import Holds
from dpselect.backends.rows.arrow import ARROW_TYPES, Array, pa, valid_text
from dpselect.backends.rows.decimals import decimal_text


def plain(column: Array, holds: Holds) -> Array:
    """The column in the one type its kind is read as, in every table alike; no cast here can refuse a value."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    if holds is Holds.TEXT:
        return valid_text(column)
    return decimal_text(column) if holds is Holds.DECIMALS else column.cast(ARROW_TYPES[holds], safe=False)
