"""What tells the outputs for two neighbours apart: columns of numbers read from outputs, and sets of their values.

The draws that choose an event are not those that test it, so no choice here can raise a false alarm.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, groupby
from numbers import Rational, Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameterError, Shown

Column = NDArray[np.float64]
Flat = dict[str, Any]
"""The parts of one output, by their places in words."""

_NUMBERS = (int, float, Real, Decimal)
_IN_TEXT = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_MOST_SCREENED, _MOST_PARTS, _REPEATED = 1000, 48, 8
"""Parts of an output, those that are looked at closely, and how often an exact value of a column has to occur."""
_TAIL = np.array([0.0005, 0.001, 0.002, 0.005, 0.01])
_LEVELS = np.concatenate([_TAIL, np.linspace(0.02, 0.98, 33), 1 - _TAIL[::-1]])
_NAN = 0x7FF8_0000_0000_0000
"""The bits of NaN. Larger ones are NaN, too, and stand for values that are no numbers."""


def flat(output: Any, place: str = "the output") -> Flat:
    """The parts of an output: members of lists, arrays, sets and dictionaries, how many there are, and numbers in text.

    >>> flat([0.5, {"a"}])
    {'the length of the output': 2, 'the output[0]': 0.5, 'the length of the output[1]': 1, "the output[1]['a']": True}
    """
    output = output.reset_index(allow_duplicates=True) if hasattr(output, "iloc") else output  # labels tell, too
    if hasattr(output, "columns") and hasattr(output, "dtypes"):
        output = [*zip(output.columns, output.to_numpy().T.tolist(), strict=True)]
    for listed in ("tolist", "to_list", "to_pylist"):  # of NumPy and pandas, Polars, Arrow
        output = getattr(output, listed)() if hasattr(output, listed) else output
    if isinstance(output, Decimal) or (isinstance(output, Rational) and _number(output) != output):
        exact = str(output) if isinstance(output, Decimal) else f"{output.numerator:#x} / {output.denominator:#x}"
        return {place: _number(output), f"the exact value of {place}": exact}
    if isinstance(output, str) or not isinstance(output, Collection):
        text = output if isinstance(output, str) else "" if isinstance(output, _NUMBERS) else repr(output)
        if text is not output and " at 0x" in text:
            expected = "numbers, text, lists and what has a repr of its own, as outputs"
            raise InvalidParameterError("sampler", Shown(f"<returns a {type(output).__name__}>"), expected)
        return {place: output} | {f"number {at} in {place}": float(n) for at, n in enumerate(_IN_TEXT.findall(text), 1)}
    # The order of a set tells how it was made, not what is in it.
    members: Any = sorted(cast("Any", output), key=repr) if isinstance(output, Set) else cast("Any", output)
    named = members.items() if isinstance(output, Mapping) else enumerate(members)
    found: Flat = {f"the length of {place}": len(members)}
    for key, each in ((each, True) for each in members) if isinstance(output, Set) else named:
        found |= flat(each, f"{place}[{key!r}]")
    if isinstance(output, Set) and (floats := [each for each in members if isinstance(each, float)]):
        found |= flat(sorted(floats), f"the floats of {place}")
    return found


class Reader:
    """Reads columns from outputs: of the parts that occur most often in those seen, those that tell most alone."""

    def __init__(self, first: Sequence[Flat], second: Sequence[Flat]) -> None:
        self._codes: dict[str, int] = {}
        found: dict[str, tuple[float, _Partition, Column]] = {}
        places = Counter(chain.from_iterable([*first, *second]))
        seen = [each[::2][-max(500, 500_000 // len(places)) :] for each in (first, second)]
        for place, _ in places.most_common(_MOST_SCREENED):
            columns = [self._column(place, each) for each in seen]
            cells = _Partition.of_both(*columns)
            more, less = map(cells.counted, columns)
            told = (((more - less) ** 2 - more - less) / (more + less + 1)).sum()  # about 0 if only chance speaks
            found[place] = float(told), cells, np.log((more + 0.5) / (less + 0.5))
        best = set(sorted(found, key=lambda place: found[place][0], reverse=True)[:_MOST_PARTS])
        self._kinds = {place: {each.get(place).__class__ for each in chain(*seen)} for place in places if place in best}
        self._weights = {place: found[place][1:] for place in self._kinds}

    def columns(self, outputs: Sequence[Flat]) -> dict[str, Column]:
        """What is read of each part and of all together, by what it is in words. All that is no number is NaN."""
        parts = {place: self._column(place, outputs) for place in self._kinds}
        numeric = [place for place, kinds in self._kinds.items() if any(issubclass(kind, Real) for kind in kinds)]
        found = dict(parts)
        for place in numeric:
            found |= _bits(place, parts[place])
        if sum(map(len, self._kinds.values())) > 1:
            found["the output as a whole"] = self._coded(map(repr, outputs))
        if len(members := [parts[place] for place in numeric if not place.startswith("the length")]) > 1:
            found |= _together(np.column_stack(members))
        if len(self._weights) > 1:  # as if the parts were independent
            weighed = [weights[cells.of(parts[place])] for place, (cells, weights) in self._weights.items()]
            found["the log-likelihood ratio of the parts, added up"] = np.sum(weighed, axis=0)
        return found

    def shown(self, bits: int) -> str:
        number = repr(np.int64(bits).view(np.float64).item()).removesuffix(".0")
        return list(self._codes)[bits - _NAN - 1] if bits > _NAN else number

    def _column(self, place: str, outputs: Sequence[Flat]) -> Column:
        values = [each.get(place, "absent") for each in outputs]
        column = np.array([_number(each) for each in values], dtype=np.float64)
        column[np.isnan(column)] = np.nan  # one of its bit patterns
        others = [at for at, each in enumerate(values) if not isinstance(each, _NUMBERS)]
        column[others] = self._coded(repr(values[at]) for at in others)
        return column

    def _coded(self, texts: Iterable[str]) -> Column:
        codes = [_NAN + 1 + self._codes.setdefault(text, len(self._codes)) for text in texts]
        return np.array(codes, dtype=np.int64).view(np.float64)


def _number(value: Any) -> float:
    try:
        return float(value) if issubclass(type(value), _NUMBERS) else math.nan
    except OverflowError:
        return math.copysign(math.inf, -1 if value < 0 else 1)
    except ValueError:  # a NaN that signals
        return math.nan


def _bits(place: str, numbers: Column) -> dict[str, Column]:
    """What arithmetic on floats leaves in the last bits, however much noise there is."""
    usable = np.isfinite(numbers) & (numbers != 0)
    mantissa, exponent = np.frexp(np.where(usable, numbers, 1.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    zeros = np.where(usable, np.log2((whole & -whole).astype(np.float64)), np.nan)
    return {
        f"the exponent of the lowest bit of {place}": exponent - 53 + zeros,
        f"the bit length of {place}": 53 - zeros,
    }


def _together(rows: Column) -> dict[str, Column]:
    filled = np.where(np.isnan(rows), -np.inf, rows)
    ordered = np.sort(filled, axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        found = {f"the gap after its number {at + 1}": gaps for at, gaps in enumerate(np.diff(rows, axis=1).T)} | {
            "the sum of its numbers": np.nansum(rows, axis=1),
            "its smallest number": ordered[:, 0],
            "its largest number": ordered[:, -1],
            "by how much its largest number is ahead": ordered[:, -1] - ordered[:, -2],
            "the place of its largest number": filled.argmax(axis=1) * 1.0,
            "how many of its numbers are repeated": (ordered[:, 1:] == ordered[:, :-1]).sum(axis=1) * 1.0,
            # In whole numbers: sums of fractions depend on how many rows there are.
            "the order of its first numbers": np.argsort(filled[:, :8]) @ 10.0 ** np.arange(min(8, rows.shape[1])),
        }
    return {name: np.where(np.isnan(each), np.nan, each) for name, each in found.items()}


@dataclass(frozen=True, slots=True, eq=False)
class _Partition:
    """A partition of a column: exact values, then intervals of the other numbers, then all that is left."""

    values: NDArray[np.int64]
    edges: Column

    @classmethod
    def of_both(cls, first: Column, second: Column) -> _Partition:
        column = np.concatenate([first, second])
        values, counts = np.unique(column.view(np.int64), return_counts=True)
        values = values[counts >= _REPEATED]
        numbers = column[~np.isnan(column) & ~np.isin(column.view(np.int64), values)]
        return cls(values, np.unique(np.quantile(numbers, _LEVELS, method="lower")) if numbers.size else numbers)

    def of(self, column: Column) -> NDArray[np.intp]:
        found = len(self.values) + np.searchsorted(self.edges, column)
        found[np.isnan(column)] = len(self.values) + len(self.edges) + 1
        at = np.searchsorted(self.values, column.view(np.int64))
        return np.where(np.append(self.values, -1)[at] == column.view(np.int64), at, found)  # -1: no column has it

    def counted(self, column: Column) -> NDArray[np.int64]:
        return np.bincount(self.of(column), minlength=len(self.values) + len(self.edges) + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Some cells of one column of a pair's outputs: likelier for its first neighbour (0) or its second (1)."""

    pair: int
    likelier: int
    reader: Reader
    column: str
    cells: _Partition
    chosen: NDArray[np.bool_]

    def count(self, outputs: list[Flat], step: int = 20_000) -> int:
        """In how many outputs it happened, a part of them at a time: columns take memory."""
        parts = (self.reader.columns(outputs[at : at + step])[self.column] for at in range(0, len(outputs), step))
        return sum(int(self.chosen[self.cells.of(part)].sum()) for part in parts)

    def __str__(self) -> str:
        pieces = list(self._pieces())
        more = [f"in {len(pieces) - 4:,} more sets"] if len(pieces) > 5 else pieces[4:]
        whom = f"the {('first', 'second')[self.likelier]} neighbour of pair {self.pair + 1}"
        return f"{self.column} is {' or '.join(pieces[:4] + more)}, likelier for {whom}"

    def _pieces(self) -> Iterator[str]:
        exact, ends = len(self.cells.values), [-math.inf, *self.cells.edges.tolist(), math.inf]
        yield from map(self.reader.shown, self.cells.values[self.chosen[:exact]].tolist())
        for inside, run in groupby(range(len(ends) - 1), key=lambda at: bool(self.chosen[exact + at])):
            places = list(run)
            low, high = ends[places[0]], ends[places[-1] + 1]
            sides = [f"above {low:.6g}"] * (low > -math.inf) + [f"at most {high:.6g}"] * (high < math.inf)
            yield from [" and ".join(sides) or "any other number"] * inside
        yield from ["anything rare that is no number"] * bool(self.chosen[-1])


def choose(pairs: Sequence[tuple[list[Flat], list[Flat]]], *, delta: float, most: int) -> list[Event]:
    """Events that seem to need the largest epsilon: found on every second output, ranked on the others."""
    ranked: dict[tuple[int, int, str], tuple[float, Event]] = {}
    for pair, outputs in enumerate(pairs):
        size, reader = len(outputs[0]) // 2, Reader(*outputs)
        finding, ranking = ([reader.columns(each[at::2]) for each in outputs] for at in (0, 1))
        for name in finding[0]:
            cells = _Partition.of_both(finding[0][name], finding[1][name])
            counts = [cells.counted(each[name]) for each in finding]
            ends = np.concatenate([cells.values.view(np.float64), cells.edges, [np.inf, np.nan]])
            for likelier in (0, 1):
                ratios = (counts[likelier] + 0.5) / (counts[1 - likelier] + 0.5)
                for order in (np.argsort(-ratios, kind="stable"), np.argsort(ends), np.argsort(-ends)):
                    more, less = (counts[at][order].cumsum() for at in (likelier, 1 - likelier))
                    best = order[: 1 + int(_excess(more, less, size, delta).argmax())]
                    chosen = np.isin(np.arange(len(order)), best)
                    p, q = (chosen[cells.of(ranking[at][name])].sum() for at in (likelier, 1 - likelier))
                    event, score = Event(pair, likelier, reader, name, cells, chosen), float(_excess(p, q, size, delta))
                    if score > ranked.get((pair, likelier, name), (-math.inf,))[0]:
                        ranked[pair, likelier, name] = score, event
    return [event for _, event in sorted(ranked.values(), key=lambda each: -each[0])[:most]]


def _excess(more: Any, less: Any, size: int, delta: float) -> Column:
    """A cautious estimate of ln((p - delta) / q), by Wilson's intervals, which need no special functions."""
    share = 2.3**2 / size  # as many standard errors as the test needs on twice as many draws, about

    def end(count: Any, sign: float) -> Any:
        p = np.minimum(np.asarray(count) / size, 1.0)
        return (p + share / 2 + sign * np.sqrt(share * (p * (1 - p) + share / 4))) / (1 + share)

    return np.log(np.maximum(end(more, -1.0) - delta, 1e-300)) - np.log(end(less, 1.0))
