"""The law of every answer to every question, computed from what an engine hands up: nothing is drawn.

A session asks its rows, and pays for, what it is told by others. Here the payer gives back the plan, or what was handed
up, instead of drawing; by the plan's own mechanism both together are the law of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa

from dpselect import ExponentialNoiseTopK, Neighbours
from dpselect.mechanisms import GeometricMechanism, NoisyOrder, TopKPlan
from dpselect.questions.counts import Count, Histogram, InBins
from dpselect.questions.moments import Mean, Variance
from dpselect.questions.quantiles import Median, Quantiles, UpperBound
from dpselect.questions.query import Query
from dpselect.questions.selection import BestDate, MostCommon, TopK
from dpselect.questions.sums import BestBy, BestPrice, Sum
from dpselect.questions.values import TopUnknown, Values
from dpselect.rows.columns import Column
from dpselect.rows.statements import Lookup
from dpselect.rows.table import Rows
from dpselect.session.answering import TableQuestion, gathered
from dpselect.session.asking import PlainQuestions
from dpselect.summaries import (
    CandidateKind,
    CandidateTotals,
    CountsOf,
    NameCounts,
    NamesOf,
    PublicCandidates,
    TotalsOf,
    UnitsOf,
    UnitValues,
    ValuesIn,
)
from tests.mechanisms import joint_law
from tests.rows import model
from tests.rows.engines import Source
from tests.rows.table_questions import DAYS, Question

Law = list[np.ndarray]
"""Probabilities of all answers, or of answers up to each of some points; of each group, of each part of an answer."""


class Questions(PlainQuestions):
    """Every question, as `Dataset` has them."""

    def __init__(
        self,
        rows: Rows,
        reply: Callable[[list[TableQuestion]], list[Any]] = list,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> None:
        self._rows, self._reply, self._neighbours, self._groups = rows, reply, neighbours, None


def planned(question: Question, neighbours: Neighbours) -> Query:
    """The question that a session would plan."""
    rows = Rows(None, origin="", unit="who")
    planned: TableQuestion = question(Questions(rows, neighbours=neighbours))
    return planned.asked


def summaries(source: Source) -> Questions:
    """Replies to each question with what the engine hands up."""
    return summaries_of(Rows(source.opened().table, origin="", unit="who"))


def summaries_of(rows: Rows, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Questions:
    """The same of rows that are read already."""
    return Questions(rows, gathered, neighbours)


def expected_summaries(rows: pa.Table) -> Questions:
    """The same by a few lines of Python."""
    return summaries_of(ModelRows(rows.to_pylist()))


def law(task: Query, found: list[list[Any]]) -> Law:
    """Of the answer to `task` when this was handed up."""
    answers = [each for part in found[0] for each in _law_of_one(task.alone, part)]
    if task.counting is None:
        return answers
    exact = [
        count
        for counts in (found[0] if isinstance(task.alone.scan, CountsOf) else found[1])
        for count in counts.totals.tolist()
    ]
    return [*answers, *(_noisy(task.counting, count) for count in exact)]


def _law_of_one(task: Any, summary: Any) -> Law:
    match task:
        case TopK(once=NoisyOrder(noise=noise)):
            return [_noisy(noise, count) for count in summary.totals.tolist()]
        case MostCommon() | BestDate():
            return [task.mechanism.pmf(task.scores(summary))]
        case TopK():
            return [_orders(task.plan, summary.totals)]
        case BestBy():
            return [task.mechanism.pmf(summary.totals)]
        case Count():
            return [_noisy(task.mechanism, summary)]
        case Histogram():
            return [_noisy(task.mechanism, count) for count in summary.totals.tolist()]
        case Values() | TopUnknown():
            return _named(task, summary)
        case Sum():
            return [_noisy(task.mechanism, int(summary.totals[0]))]
        case InBins():
            return _of_bins(task, task.bins.tally(summary.values))
        case BestPrice():
            return [task.mechanism.pmf(summary.values)]
        case Quantiles() if task.mechanism.method == "halving":
            return [np.sort(summary.values)]  # no formula; but it is a function of these
        case UpperBound():
            return [task.mechanism.pmf(summary.values)]
        case Median() if task.domain.grid is not None:
            return [task.mechanism.pmf(summary.values)]
        case Mean() | Variance():
            step = task.whole // 40  # a small part of the scale
            points = np.arange(-1_200, 3_201) * step
            return [np.cumsum(task.mechanism.pmf(each, points)) * step for each in task.exact(summary.values)]
        case Median() | Quantiles():
            points = np.linspace(task.domain.lower, task.domain.upper, 61)
            if isinstance(task, Quantiles):
                return [joint_law.cdf(task.mechanism, summary.values, points)]
            return [task.mechanism.cdf(summary.values, points)]
        case _:
            raise AssertionError(task)


def _noisy(mechanism: GeometricMechanism, exact: int) -> np.ndarray:
    """Up to each of some numbers around the sums and counts of small tables."""
    return np.cumsum(mechanism.pmf(exact, np.arange(-40_000, 400_001)))[::25]


POSSIBLE = [str(each) for each in (*range(10), *"vwxyzX", *DAYS, *(1.25 * at - 2.0 for at in range(7)))]
"""All names in small tables, and some more."""


def _named(task: Values | TopUnknown, summary: NameCounts) -> Law:
    """The chance of each possible name."""
    counts = dict(zip(map(str, summary.names.to_pylist()), summary.counts.tolist(), strict=True))
    assert counts.keys() <= set(POSSIBLE)
    chances = [task.mechanism.probability(counts.get(name, 0)) for name in POSSIBLE]
    return [np.array([chance, 1.0 - chance]) for chance in chances]


def _orders(plan: TopKPlan, scores: np.ndarray) -> np.ndarray:
    """Of each order of the first k: in each round the mechanism's law among those that are left."""
    if isinstance(plan.mechanism, ExponentialNoiseTopK):
        drawn = permutations(range(len(scores)), plan.k)
        return np.array([_chance_at_once(plan.mechanism, scores, order[: plan.mechanism.k]) for order in drawn])
    laws = []
    for order in permutations(range(len(scores)), plan.k):
        left, probability = list(range(len(scores))), 1.0
        for place in order:
            probability *= plan.mechanism.pmf(scores[left])[left.index(place)]
            left.remove(place)
        laws.append(probability)
    return np.array(laws)


def _chance_at_once(mechanism: ExponentialNoiseTopK, scores: np.ndarray, order: tuple[int, ...]) -> float:
    """That noisy scores are the largest in this order: by sums over small cells, from the last one to the first."""
    edges = np.linspace(scores.min(), scores.max() + 40.0 * mechanism.scale, 4001)
    below = -np.expm1(-np.maximum(edges - scores[:, np.newaxis], 0.0) / mechanism.scale)
    middle, cells = (below[:, 1:] + below[:, :-1]) / 2.0, np.diff(below, axis=1)
    later = np.prod([middle[place] for place in range(len(scores)) if place not in order], axis=0)
    for place in reversed(order):
        mass = cells[place] * later
        later = np.cumsum(mass) - mass / 2.0  # of two in one cell either may be the larger
    return float(mass.sum())


def _of_bins(task: InBins, counts: np.ndarray) -> Law:
    noise = GeometricMechanism(epsilon=task.mechanism.epsilon, sensitivity=task.mechanism.sensitivity)
    return [noise.pmf(int(count), np.arange(-60, 100)) for count in counts]


class ModelRows(Rows):
    """What `dpselect.rows.table.Rows` says, by the model; of rows among which chance need not choose."""

    def __init__(self, rows: model.Rows) -> None:
        super().__init__(None, origin="", unit="who")
        self.rows = rows

    def answers(self, asked: Sequence[Lookup]) -> list[list[Any]]:
        return [self._found(each) for each in asked]

    def _found(self, asked: Lookup) -> list[Any]:
        match asked.scan:
            case CountsOf() as scan:
                return self._count(scan, asked)
            case TotalsOf() as scan:
                return self._total(scan, asked)
            case ValuesIn() as scan:
                return self._gather(scan, asked)
            case UnitsOf() as scan:
                return self._units(scan, asked)
            case NamesOf() as scan:
                return self._names(scan, asked)

    def _count(self, scan: CountsOf, asked: Lookup) -> list[CandidateTotals]:
        assert scan.max_values_per_unit is None or scan.max_values_per_unit >= len(scan.candidates)
        found = model.counts(self.rows, asked.unit.name, asked.column.name, _listed(scan.candidates), **_groups(asked))
        return [CandidateTotals(np.array(each)) for each in found]

    def _total(self, scan: TotalsOf, asked: Lookup) -> list[CandidateTotals]:
        clip = scan.clip
        amount = (asked.number or asked.column).name
        about = {"amount": amount, "scale": clip.scale, "lower": clip.lower, "upper": clip.upper}
        listed = [None] if scan.candidates is None else _listed(scan.candidates)
        name = "" if scan.candidates is None else asked.column.name
        found = model.totals(self.rows, asked.unit.name, name, listed, **about, **_groups(asked))
        return [CandidateTotals(np.array(each)) for each in found]

    def _gather(self, scan: ValuesIn, asked: Lookup) -> list[UnitValues]:
        domain, most = scan.domain, scan.max_rows_per_unit
        parts = _groups(asked) or {"group": "", "groups": [None]}
        kept = [
            [row for row in self.rows if not parts["group"] or model.candidate_of(row[parts["group"]], [part]) == 0]
            for part in parts["groups"]
        ]
        kept = [_as_numbers(part, asked.column, is_date=domain.dated) for part in kept]
        bounds = (domain.lower, domain.upper)
        found = [model.numbers(part, asked.unit.name, asked.column.name, bounds=bounds).values() for part in kept]
        return [
            UnitValues(
                np.array([number for own in part for number in _so_many(own, most)]),
                domain=domain,
                max_rows_per_unit=most,
            )
            for part in found
        ]

    def _units(self, scan: UnitsOf, asked: Lookup) -> list[int]:
        used, number = scan.scan, asked.number
        if isinstance(used, NamesOf):  # each unit counts for one
            return [int(each.counts.sum()) for each in self._names(used, asked)]
        matched = None
        if isinstance(used, CountsOf | TotalsOf) and used.candidates is not None:
            matched = asked.column.name, _listed(used.candidates)
        about = dict[str, Any](matched=matched, between=None if scan.between == (None, None) else scan.between)
        about["number"] = None if number is None else number.name
        is_date = isinstance(used, ValuesIn) and used.domain.dated
        rows = self.rows if number is None else _as_numbers(self.rows, number, is_date=is_date)
        return model.usable_units(rows, asked.unit.name, **about, **_groups(asked))

    def _names(self, scan: NamesOf, asked: Lookup) -> list[NameCounts]:
        kind = scan.kind
        if kind is CandidateKind.TEXT and any(isinstance(row[asked.column.name], int) for row in self.rows):
            kind = CandidateKind.INTEGER  # where whole numbers are text, their names look the same
        found = model.names(
            self.rows, asked.unit.name, asked.column.name, kind, most=scan.max_values_per_unit, **_groups(asked)
        )
        return [NameCounts(pa.array([*each]), np.array([*each.values()], np.int64)) for each in found]


def _as_numbers(rows: model.Rows, column: Column, *, is_date: bool) -> model.Rows:
    """The rows, with dates as days since 1970 where they are read so."""
    if not is_date:
        return rows
    return [
        {**row, column.name: (cell - date(1970, 1, 1)).days if isinstance(cell := row[column.name], date) else None}
        for row in rows
    ]


def _so_many(own: list[float], most: int) -> list[float]:
    """Those of a unit that are kept: all of them, or as many as may be if they are all the same."""
    assert len(own) <= most or len(set(own)) == 1
    return own[:most]


def _groups(asked: Lookup) -> dict[str, Any]:
    if not asked.part:
        return {}
    (part,) = asked.part
    return {"group": part.column.name, "groups": _listed(part.listed)}


def _listed(candidates: PublicCandidates) -> Sequence[Any]:
    return np.asarray(candidates.values).tolist() if candidates.kind == "whole numbers" else candidates.values
