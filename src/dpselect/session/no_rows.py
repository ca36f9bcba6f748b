"""Where the rows of a table would be, for questions that are only planned."""

from __future__ import annotations

from typing import NoReturn

from dpselect.backends.columns import Column, Holds
from dpselect.errors import InvalidDataError
from dpselect.session.rows import Rows


class NoRows(Rows):
    """Of a table that is not opened: any name is a column, and nothing can be learnt from it."""

    __slots__ = ()

    def __init__(self, source: object, *, unit: str) -> None:
        self._source, self._table, self._progress = source, _NoTable(), None
        self._unit = self._table.unit(unit)


class _NoTable:
    @property
    def shown(self) -> str:
        return "<no table>"

    def column(self, name: object, *, argument: str = "column") -> Column:
        if not isinstance(name, str):
            raise InvalidDataError(argument, name, "the name of a column, as text")
        return Column(name, Holds.ANYTHING)

    def unit(self, name: object) -> Column:
        return self.column(name, argument="unit")

    def count(self, **_: object) -> NoReturn:
        raise AssertionError("a dry run reads no rows")

    total = gather = count
