"""The numbers behind a picture, as a CSV file that is the same after every run."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIGITS = 10
"""Significant digits of a number in a file: what expected errors are accurate to."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length, of numbers or of words.

    >>> table = Table({"epsilon": [0.1, 1.0], "expected_error_records": [2 / 3, 0.0]})
    >>> print(table.csv(), end="")
    epsilon,expected_error_records
    0.1,0.6666666667
    1,0
    >>> table["epsilon"]
    array([0.1, 1. ])
    """

    columns: Mapping[str, Sequence[float] | Sequence[str] | NDArray[np.float64]]

    def __post_init__(self) -> None:
        if len({len(column) for column in self.columns.values()}) != 1:
            raise ValueError("columns of one length, and at least one of them")

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A column of numbers."""
        return np.asarray(self.columns[name], dtype=np.float64)

    def words(self, name: str) -> list[str]:
        """A column of words."""
        return [str(word) for word in self.columns[name]]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    def where(self, name: str, word: str) -> Table:
        """The rows that have `word` in the column `name`.

        >>> Table({"data": ["a", "b", "a"], "error": [1.0, 2.0, 3.0]}).where("data", "a")["error"]
        array([1., 3.])
        """
        rows = [row for row, each in enumerate(self.words(name)) if each == word]
        return Table({name: [column[row] for row in rows] for name, column in self.columns.items()})

    def csv(self) -> str:
        """The text of the file."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*([_written(each) for each in column] for column in self.columns.values()), strict=True))
        return text.getvalue()


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.{DIGITS}g}"


def read(path: Path) -> Table:
    """The table in a file: a column is one of numbers if each of its entries is one."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return Table({name: _typed(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)})


def _typed(column: Sequence[str]) -> Sequence[float] | Sequence[str]:
    try:
        return [float(each) for each in column]
    except ValueError:
        return column
