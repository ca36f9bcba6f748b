"""Small tables as files, what a few lines of Python get from them, and open tables that are asked in plain words."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from dpselect import ROWS
from dpselect.rows.columns import Column, check_match, check_numeric
from dpselect.rows.opening import open_table
from dpselect.rows.row_rules import Condition, Value, Within
from dpselect.rows.statements import Lookup
from dpselect.rows.table import Rows
from dpselect.summaries import (
    CandidateKind,
    CountsOf,
    NamesOf,
    PublicCandidates,
    PublicClip,
    PublicDomain,
    PublicGroups,
    TotalsOf,
    UnitsOf,
    ValuesIn,
)

Row = tuple[Any, Any]
Groups = tuple[str | list[str], Any, int]
"""The column of groups, or those of a cross table; the public list; and in how many of them a unit counts."""

NAMES = ("unit", "value", "part", "amount")
EVERYTHING = (-1e18, 1e18)
SCANS = {"count": CountsOf, "total": TotalsOf, "gather": ValuesIn, "names": NamesOf, "units": UnitsOf}


class Opened:
    """An open table, which is asked in plain words: names of columns, and public lists as callers write them.

    Each answer is a list with an entry for each group, or with one if there are no groups.
    """

    def __init__(self, table: Any, conditions: tuple[Condition, ...] = ()) -> None:
        self.table, self.conditions = table, conditions

    def rows(self, unit: Any = ROWS, progress: Any = None) -> Rows:
        """The table with the column of its units."""
        if isinstance(self.table, Rows):
            return self.table
        format = getattr(self.table, "format", None)
        rows = Rows(self.table, origin="", unit=unit, progress=progress, format=format)
        rows.conditions = self.conditions
        return rows

    def column(self, name: str) -> Column:
        """One of its columns."""
        return self.rows().check(name)

    def asked(
        self,
        name: str,
        *,
        unit: Any,
        column: str | None = None,
        number: str | None = None,
        groups: Groups | None = None,
        **scanned: Any,
    ) -> Lookup:
        """What is asked with `found`."""
        rows, about = self.rows(unit), dict[str, Any]()
        about["column"] = rows.unit_column if column is None else self.column(column)
        about["number"] = None if number is None else self.column(number)
        if scanned.get("candidates") is not None:
            scanned["candidates"] = self._listed(about["column"], scanned["candidates"]).listed
        if about["number"] is not None or name == "gather":
            check_numeric(about["number"] or about["column"])
        if groups is not None:
            names, given, most = groups
            found = PublicGroups.given(names, given, most)
            parts = zip(found.columns, found.listed, strict=True)
            about["part"] = tuple(self._listed(self.column(name), listed) for name, listed in parts)
            about["max_groups_per_unit"] = most
        return Lookup(SCANS[name](**scanned), rows.unit_column, **about)

    def found(self, asked: Sequence[Lookup], progress: Any = None) -> list[list[Any]]:
        """The summaries of all that is asked, from the same rows."""
        return self.rows(progress=progress).answers(asked)

    def counts(
        self,
        column: str,
        candidates: Any,
        *,
        unit: Any = "unit",
        groups: Groups | None = None,
        most: int | None = None,
        progress: Any = None,
    ) -> list[list[int]]:
        """How many units have each candidate, if each counts for `most` of them."""
        asked = self.asked(
            "count", unit=unit, column=column, candidates=candidates, groups=groups, max_values_per_unit=most
        )
        return [each.totals.tolist() for each in self.found([asked], progress)[0]]

    def totals(
        self,
        amount: str,
        bounds: tuple[int, int],
        *,
        scale: float | Fraction = 1,
        column: str | None = None,
        candidates: Any = None,
        unit: Any = "unit",
        groups: Groups | None = None,
    ) -> list[list[int]]:
        """What the amounts of units add up to; for each candidate in `column`, if there is one."""
        clip = PublicClip(amount, Fraction(scale), *bounds)
        listed = {"column": column, "candidates": candidates}
        asked = self.asked("total", unit=unit, number=amount, groups=groups, clip=clip, **listed)
        return [each.totals.tolist() for each in self.found([asked])[0]]

    def numbers(
        self,
        column: str,
        bounds: tuple[float, float] = EVERYTHING,
        *,
        unit: Any = "unit",
        groups: Groups | None = None,
        most: int = 1,
    ) -> list[list[float]]:
        """The numbers that are kept, `most` of each unit, in increasing order."""
        asked = self.kept(column, bounds, unit=unit, groups=groups, most=most)
        return [sorted(each.values.tolist()) for each in self.found([asked])[0]]

    def kept(
        self,
        column: str,
        bounds: tuple[float, float],
        *,
        unit: Any = "unit",
        groups: Groups | None = None,
        most: int = 1,
        step: float | None = None,
    ) -> Lookup:
        """What `numbers` asks."""
        domain = PublicDomain.given(bounds, step=step)
        return self.asked("gather", unit=unit, column=column, groups=groups, domain=domain, max_rows_per_unit=most)

    def values(
        self, column: str, kind: str, *, unit: Any = "unit", groups: Groups | None = None, most: int = 1
    ) -> list[dict[Any, int]]:
        """The values that rows have, read as numbers, text and so on, `most` of each unit, and how many units each."""
        asked = self.asked(
            "names", unit=unit, column=column, groups=groups, kind=CandidateKind(kind), max_values_per_unit=most
        )
        pairs = [
            list(zip(each.names.to_pylist(), each.counts.tolist(), strict=True)) for each in self.found([asked])[0]
        ]
        found = [dict(each) for each in pairs]
        assert [len(each) for each in found] == [len(each) for each in pairs], "a value was handed up twice"
        return found

    def units(
        self,
        *,
        unit: Any = "unit",
        matched: tuple[str, Any] | None = None,
        number: str | None = None,
        between: tuple[float, float] | None = None,
        groups: Groups | None = None,
    ) -> list[int]:
        """How many units have a row with a candidate, with a number, or with both in one row."""
        column, candidates = (None, None) if matched is None else matched
        needed: dict[str, Any] = {"column": column, "number": number, "between": between}
        if column is not None:
            listed = cast("PublicCandidates", self._listed(self.column(column), candidates).listed)
            clip = PublicClip(number or "", Fraction(1), 0, 0)
            needed["scan"] = CountsOf(listed) if number is None else TotalsOf(clip, listed)
        elif number is not None and between is None:
            needed["between"] = None, None
        return self.found([self.asked("units", unit=unit, groups=groups, **needed)])[0]

    def where(self, conditions: Sequence[tuple[str, Any]]) -> Opened:
        """Those rows alone that meet all conditions: of each column the two ends, or a list."""
        met = [
            Within(self.column(column), *given)
            if isinstance(given, tuple)
            else self._listed(self.column(column), given)
            for column, given in conditions
        ]
        return Opened(self.table, (*self.conditions, *met))

    def holds(self, column: str) -> str:
        """What the type of a column is called in errors."""
        return str(self.column(column).holds)

    def _listed(self, column: Column, given: Any) -> Value:
        listed = given if isinstance(given, PublicCandidates) else PublicCandidates.given(given)
        check_match(column, listed.kind)
        return Value(column, listed)


def opened(source: object, **how: Any) -> Opened:
    """The table behind a source, as `dpselect.Dataset` opens it."""
    return source if isinstance(source, Opened) else Opened(open_table(source, **how))


def count(source: object, candidates: object, *, unit: str = "unit", column: str = "value", **how: Any) -> list[int]:
    """What the backend counts."""
    (found,) = opened(source, **how).counts(column, candidates, unit=unit)
    return found


def gather(
    source: object,
    *,
    bounds: tuple[float, float] = EVERYTHING,
    most: int = 1,
    unit: str = "unit",
    column: str = "value",
    **how: Any,
) -> list[float]:
    """The values that the backend keeps, in increasing order."""
    (found,) = opened(source, **how).numbers(column, bounds, unit=unit, most=most)
    return found


def count_groups(
    source: object, candidates: object, groups: object, *, most: int = 1, names: Sequence[str] = NAMES, **how: Any
) -> list[list[int]]:
    """What the backend counts in each group."""
    return opened(source, **how).counts(names[1], candidates, unit=names[0], groups=(names[2], groups, most))


def usable_units(
    source: object, candidates: object, *, number: str | None = None, groups: object = None, most: int = 1
) -> list[int]:
    """How many units in ``unit`` have a candidate in ``value``, and a number; for each group in ``part``."""
    of = None if groups is None else ("part", groups, most)
    return opened(source).units(matched=("value", candidates), number=number, groups=of)


def total(
    source: object,
    candidates: object,
    *,
    bounds: tuple[int, int],
    scale: int | Fraction = 1,
    groups: object = None,
    most: int = 1,
    names: Sequence[str] = NAMES,
) -> list[list[int]]:
    """What the backend adds up in each group."""
    of = None if groups is None else (names[2], groups, most)
    asked: dict[str, Any] = {"column": names[1], "candidates": candidates, "groups": of}
    return opened(source).totals(names[3], bounds, scale=scale, unit=names[0], **asked)


def gather_groups(
    source: object,
    groups: object,
    *,
    most: int = 1,
    rows: int = 1,
    bounds: tuple[float, float] = EVERYTHING,
    names: Sequence[str] = NAMES,
) -> list[list[float]]:
    """The values that the backend keeps in each group, in increasing order."""
    return opened(source).numbers(names[1], bounds, unit=names[0], most=rows, groups=(names[2], groups, most))


def brute_force(rows: Sequence[Row], candidates: Sequence[Any]) -> list[int]:
    """Distinct units per candidate of rows in which a missing unit is None."""
    return [len({unit for unit, value in rows if unit is not None and value == each}) for each in candidates]


def write_rows(folder: Path, rows: Sequence[Sequence[Any]], *, kind: str, types: Sequence[Any] = ()) -> Path:
    """Rows with up to four cells, a unit, a value, a group and an amount, as a table of either kind of file."""
    names = NAMES[: len(rows[0]) if rows else 4]
    if kind == "csv":
        lines = [",".join("" if cell is None else str(cell) for cell in row).encode() for row in rows]
        return write_csv(folder / "t.csv", lines, header=",".join(names).encode() + b"\n")
    kinds = types or (None,) * len(names)
    columns = {name: pa.array([row[i] for row in rows], kinds[i]) for i, name in enumerate(names)}
    pq.write_table(pa.table(columns), folder / "t.parquet", row_group_size=max(1, len(rows) // 2))
    return folder / "t.parquet"


def write_parquet(path: Path, rows: Sequence[Row], *, types: tuple[Any, Any] = (None, None), groups: int = 2) -> Path:
    """`rows` as a Parquet file of several row groups."""
    units, values = ([row[i] for row in rows] for i in (0, 1))
    if types[1] == pa.string_view():
        table = pa.table({"unit": pa.array(units, types[0]), "value": pa.array(values)})
        return _write_as_if(table, pa.schema([("unit", types[0]), ("value", types[1])]), path)
    table = pa.table({"unit": pa.array(units, types[0]), "value": pa.array(values, types[1])})
    pq.write_table(table, path, row_group_size=max(1, len(rows) // groups))
    return path


def _write_as_if(table: pa.Table, schema: pa.Schema, path: Path) -> Path:
    """The file that newer versions of Arrow write of a table with the types of `schema`, also by older ones."""
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes())})
        writer.write_table(table)
    return path


def write_csv(path: Path, lines: Sequence[bytes], *, header: bytes = b"unit,value\n") -> Path:
    """`lines` (without line breaks) under `header`."""
    path.write_bytes(header + b"".join(line + b"\n" for line in lines))
    return path
