"""Text of rows as Python has it: written out in Arrow a piece at a time, and nothing of it copied before."""

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
    """Each row's own text."""

    values: list[str | None]

    def characters(self) -> int:
        """Of all rows together."""
        return sum(map(len, filter(None, self.values)))

    def lengths(self) -> NDArray[np.int64]:
        """Characters of each row."""
        return np.array([len(value or "") for value in self.values], np.int64)

    def in_arrow(self, begin: int, end: int) -> Array:
        """Some of the rows."""
        return text_array(self.values[begin:end])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StringsOfCategories:
    """For each row the place of its text among some, -1 for none.

    Attributes:
        known: the texts.
        sizes: characters of each, and at the end 0.
        codes: the places.
    """

    known: list[str | None]
    sizes: NDArray[np.int64]
    codes: NDArray[np.integer[Any]]

    def characters(self) -> int:
        """Of all rows together."""
        return int(self.lengths().sum())

    def lengths(self) -> NDArray[np.int64]:
        """Characters of each row."""
        return self.sizes[self.codes]

    def in_arrow(self, begin: int, end: int) -> Array:
        """Some of the rows, and of the texts those that they have.

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
    """Beginnings and ends of runs of rows whose text does not take much together."""
    if sum(column.characters() for column in columns) <= PIECE_BYTES:
        yield 0, rows
    else:
        yield from cuts(np.sum([column.lengths() for column in columns], axis=0))
