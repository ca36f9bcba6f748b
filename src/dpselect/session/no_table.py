"""The stand-in for a table when questions are only planned."""

from __future__ import annotations

from typing import NoReturn

from dpselect.backends.columns import Column, Holds
from dpselect.errors import InvalidDataError


class NoTable:
    """A table that is not opened: any name is a column, and nothing is read."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """Its text in a ``repr``."""
        return "<no table>"

    def column(self, name: object, *, argument: str = "column") -> Column:
        """A column of that name, of any type."""
        if not isinstance(name, str):
            raise InvalidDataError(argument, name, "the name of a column, as text")
        return Column(name, Holds.ANYTHING)

    def unit(self, name: object) -> Column:
        """As `column`."""
        return self.column(name, argument="unit")

    def count(self, **_: object) -> NoReturn:
        """Never called: a dry run reads no rows."""
        raise AssertionError("a dry run reads no rows")

    total = gather = count
