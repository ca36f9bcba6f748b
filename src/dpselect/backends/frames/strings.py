"""Text in Python strings, converted to Arrow piece by piece without an earlier copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.rows.arrow import Array, pa, text_array
from dpselect.backends.rows.plain import PIECE_BYTES, cuts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Strings:
    """A text for each row."""

    values: list[str | None]

    def characters(self) -> int:
        """Characters of all rows together."""
        return sum(map(len, filter(None, self.values)))

    def lengths(self) -> NDArray[np.int64]:
        """Characters of each row."""
        return np.array([len(value or "") for value in self.values], np.int64)

    def in_arrow(self, begin: int, end: int) -> Array:
        """The rows from `begin` to `end`."""
        return text_array(self.values[begin:end])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StringsOfCategories:
    """For each row the position of its text in a list, or -1 for none.

    Attributes:
        known: the list of texts.
        sizes: the characters of each text, followed by a 0.
        codes: the positions.
    """

    known: list[str | None]
    sizes: NDArray[np.int64]
    codes: NDArray[np.integer[Any]]

    def characters(self) -> int:
        """Characters of all rows together."""
        return int(self.lengths().sum())

    def lengths(self) -> NDArray[np.int64]:
        """Characters of each row."""
        return self.sizes[self.codes]

    def in_arrow(self, begin: int, end: int) -> Array:
        """The rows from `begin` to `end`, with only the texts that occur in them.

        >>> texts = StringsOfCategories(["x", "y", "z"], np.array([1, 1, 1, 0]), np.array([0, -1, 2, 2]))
        >>> texts.in_arrow(1, 4).dictionary.to_pylist(), texts.in_arrow(1, 4).to_pylist()
        ([None, 'z'], [None, 'z', 'z'])
        """
        used, places = np.unique(self.codes[begin:end], return_inverse=True)
        values = text_array([None if code < 0 else self.known[code] for code in used.tolist()])
        return pa.DictionaryArray.from_arrays(places, values)


Written = Strings | StringsOfCategories
"""A column of text."""


def spans(columns: Sequence[Written], rows: int) -> Iterator[tuple[int, int]]:
    """Starts and ends of runs of rows whose text has at most `PIECE_BYTES` characters together."""
    if sum(column.characters() for column in columns) <= PIECE_BYTES:
        yield 0, rows
    else:
        yield from cuts(np.sum([column.lengths() for column in columns], axis=0))
