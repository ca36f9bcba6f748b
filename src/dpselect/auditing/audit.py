"""Draw from two neighbours, find what tells outputs apart, and prove by fresh draws how large epsilon is at least.

What tells outputs apart are sets of values of columns, which are numbers read from outputs. The draws that choose such
an event are not those that test it, so no choice can raise a false alarm.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, groupby
from numbers import Rational, Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from dpselect.checks import delta_below_one, function, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError, Shown

Column = NDArray[np.float64]
Flat = dict[str, Any]  # the parts of one output, by their places in words
Outputs = tuple[list[Flat], list[Flat]]  # for the two neighbours of a pair

_NUMBERS = (int, float, Real, Decimal)
_TAIL = np.array([0.0005, 0.001, 0.002, 0.005, 0.01])
_LEVELS = np.concatenate([_TAIL, np.linspace(0.02, 0.98, 33), 1 - _TAIL[::-1]])
_NAN = 0x7FF8_0000_0000_0000  # the bits of NaN. Larger ones are NaN, too, and stand for values that are no numbers
_FEWEST, _TESTED = 200, 4  # draws for each neighbour of an audit, and the most events that a look tests
_ROUNDING = 1e-9  # by which bounds of probabilities are widened: a thousand times the error of SciPy's quantiles


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found; print it. A bound below the claim proves nothing: see `audit`.

    Attributes:
        lower_bound: epsilon is at least this, with the stated confidence; 0 if nothing was shown.
        event: of which that was proved, in words, and how often it happened.
        looks: how many draws there were for each neighbour at each look, and the largest bound then.
        claimed_epsilon, claimed_delta, confidence: of the call.
    """

    lower_bound: float
    event: str
    looks: tuple[tuple[int, float], ...]
    claimed_epsilon: float
    claimed_delta: float
    confidence: float

    @property
    def broken(self) -> bool:
        """Whether the claim is refuted. If not, these draws did not refute it: no more."""
        return self.lower_bound > self.claimed_epsilon

    def __str__(self) -> str:
        found = "Broken" if self.broken else "Not refuted, which says nothing of other neighbours and of rarer events"
        claim = f"claimed are epsilon = {self.claimed_epsilon:g} and delta = {self.claimed_delta:g}"
        sure = f"with {100 * self.confidence:.12g}% confidence epsilon is at least {self.lower_bound:.4g} at this delta"
        return f"{found}: {claim}, and {sure}.\nEvent: {self.event}."


def audit(
    sampler: Callable[[Any], object],
    neighbours: Any,
    *,
    claimed_epsilon: float,
    claimed_delta: float = 0.0,
    draws: int,
    confidence: float = 0.999,
) -> AuditReport:
    r"""Look for an event which shows that a mechanism is less private than claimed.

    It looks up to four times, each time at twice as many draws: one half of them chooses at most four events, the other
    tests them, and the first bound above the claim ends it. Which events are tried: ``docs/auditing.md``. The bound is

    .. math:: \ln \frac{p_{\text{low}} - \delta}{q_{\text{high}}}

    with exact binomial bounds of an event's probabilities. All bounds hold together, for all looks, events, directions
    and pairs: a mechanism that keeps the claim is called broken with probability at most ``1 - confidence``. Nothing
    shows that it keeps it.

    Args:
        sampler: from a neighbour to an output, by an independent run of the mechanism. An output is a number, text,
            anything else with a `repr` of its own, or a list, array, set or dictionary of these.
        neighbours: a tuple of two, or a list of such tuples, of whatever `sampler` takes. Take extreme ones.
        claimed_epsilon: > 0.
        claimed_delta: in [0, 1).
        draws: for each neighbour of each pair, at most. So few that no event could refute the claim are refused.
        confidence: that the lower bound holds, strictly between 0 and 1.

    Raises:
        InvalidParameterError: an argument is invalid, or `sampler` raises an error at every draw.

    Proof: ``proofs/audit.md``. Source: Clopper and Pearson (1934) for the bounds, Ding et al. (2018) for the halves.

    >>> import dpselect as dps
    >>> mechanism = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
    >>> dps.audit(mechanism.draw, (0, 1), claimed_epsilon=1.0, draws=4000).broken
    False
    >>> report = dps.audit(mechanism.draw, (0, 2), claimed_epsilon=1.0, draws=8000)  # two steps: epsilon is 2
    >>> report.broken, 1 < report.lower_bound < 2
    (True, True)
    """
    function(sampler, "sampler", expected="a function from a neighbour to an output")
    pairs: list[Any] = neighbours if issubclass(type(neighbours), list) else [neighbours]
    if not pairs or any(type(each) is not tuple or len(each) != 2 for each in pairs):
        raise InvalidParameterError("neighbours", neighbours, "a tuple of two neighbours, or a list of such tuples")
    epsilon = positive_epsilon(claimed_epsilon, "claimed_epsilon")
    delta = delta_below_one(claimed_delta, "claimed_delta")
    draws = positive_count(draws, "draws", at_most=10**12)
    schedule = _schedule(draws, 1 - probability(confidence, "confidence"), epsilon, delta)

    seen: list[Outputs] = [([], []) for _ in pairs]
    best, looks = (0.0, "none that tells the neighbours apart"), list[tuple[int, float]]()
    for size, error in schedule:
        for pair, outputs in zip(pairs, seen, strict=True):
            _draw(sampler, pair, size - (looks[-1][0] if looks else 0), outputs)
        events = _chosen(seen, delta)
        fresh = [_draw(sampler, pair, size, ([], [])) for pair in pairs]
        for event in events:
            first, second = map(event.count, fresh[event.pair])
            more, less = (second, first) if event.likelier else (first, second)
            bound = lower_bound(more, less, size, error=error / len(events), delta=delta)
            if bound > best[0]:
                best = bound, f"{event}: in {first:,} and {second:,} of {size:,} draws"
        looks.append((2 * size, best[0]))
        if best[0] > epsilon:
            break
        for old, new in zip(chain(*seen), chain(*fresh), strict=True):
            old[:] = [*old, *new][-100_000:]  # events are chosen by the newest
    return AuditReport(*best, tuple(looks), epsilon, delta, float(confidence))


def lower_bound(more: int, less: int, size: int, *, error: float, delta: float) -> float:
    """A lower bound of epsilon from `size` draws for each neighbour: half of `error` is for each probability."""
    p = 0.0 if more == 0 else float(betaincinv(more, size - more + 1, error / 2)) * (1 - _ROUNDING)
    q = 1.0 if less == size else float(betainccinv(less + 1, size - less, error / 2)) * (1 + _ROUNDING)
    return max(0.0, math.log((p - delta) / q)) if p > delta else 0.0


def _schedule(draws: int, error: float, epsilon: float, delta: float) -> list[tuple[int, float]]:
    """For each look, how many draws choose, and as many test, and its share of the error."""
    looks = [(draws >> 4, error / 6), (draws >> 3, error / 6), (draws >> 2, error / 6), (draws >> 1, error / 2)]
    size, last = looks[-1]
    if draws < _FEWEST or lower_bound(size, 0, size, error=last / _TESTED, delta=delta) <= epsilon:
        needed = max(_FEWEST, 2.2 * math.log(8 / last) * math.exp(min(epsilon, 700.0)) / (1 - delta))
        hint = "No event in fewer draws could refute the claim with this confidence."
        raise InvalidParameterError("draws", draws, f"at least about {needed:,.0f}", hint)
    return looks


def _draw(sampler: Any, pair: tuple[Any, Any], draws: int, outputs: Outputs) -> Outputs:
    """Draw for both neighbours in turn, so that what changes with time changes for both."""
    raised: list[str] = []
    for _ in range(draws):
        for neighbour, found in zip(pair, outputs, strict=True):
            try:
                output = sampler(neighbour)
            except Exception as error:  # noqa: BLE001 - whatever it raises, others can see it
                raised.append(type(error).__name__)
                found.append({"the error": raised[-1]} | flat(str(error), "the text of the error"))
            else:
                found.append(flat(output))
    if draws and len(raised) == 2 * draws:
        raise InvalidParameterError("sampler", Shown(f"<raises {raised[0]} at every draw>"), "a function of neighbours")
    return outputs


def flat(output: Any, place: str = "the output") -> Flat:
    """The parts of an output: members of lists, arrays, sets and dictionaries, their number, and numbers in text."""
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
        numbers = enumerate(re.findall(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", text), 1)
        return {place: output} | {f"number {at} in {place}": float(number) for at, number in numbers}
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
        for place, _ in places.most_common(1000):
            columns = [self._column(place, each) for each in seen]
            cells = _Partition.of_both(*columns)
            more, less = map(cells.counted, columns)
            told = (((more - less) ** 2 - more - less) / (more + less + 1)).sum()  # about 0 if only chance speaks
            found[place] = float(told), cells, np.log((more + 0.5) / (less + 0.5))
        best = set(sorted(found, key=lambda place: found[place][0], reverse=True)[:48])
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
        values = values[counts >= 8]
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

    def count(self, outputs: list[Flat]) -> int:
        """In how many outputs it happened, a part of them at a time: columns take memory."""
        parts = (self.reader.columns(outputs[at : at + 20_000])[self.column] for at in range(0, len(outputs), 20_000))
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


def _chosen(pairs: Sequence[Outputs], delta: float) -> list[Event]:
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
    return [event for _, event in sorted(ranked.values(), key=lambda each: -each[0])[:_TESTED]]


def _excess(more: Any, less: Any, size: int, delta: float) -> Column:
    """A cautious estimate of ln((p - delta) / q), by Wilson's intervals, which need no special functions."""
    share = 2.3**2 / size  # as many standard errors as the test needs on twice as many draws, about

    def end(count: Any, sign: float) -> Any:
        p = np.minimum(np.asarray(count) / size, 1.0)
        return (p + share / 2 + sign * np.sqrt(share * (p * (1 - p) + share / 4))) / (1 + share)

    return np.log(np.maximum(end(more, -1.0) - delta, 1e-300)) - np.log(end(less, 1.0))
