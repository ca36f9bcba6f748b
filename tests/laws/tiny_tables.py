"""All tables over a tiny universe, neighbours among them, and the law of an answer to a question about each.

A table is a list of units, and a unit a list of rows. Few plain units make up what neighbours have in common; the one
unit in which they differ has anything: more rows than it may have, missing cells, values that are no candidates,
infinities, rows without a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any, cast

import numpy as np
import polars as pl

from dpselect import Neighbours
from dpselect.questions.query import Query
from dpselect.rows.opening import open_table
from dpselect.rows.statements import Engine, Lookup
from dpselect.rows.table import Rows
from dpselect.summaries import PublicCandidates
from tests.laws.fed import Branches, Fed, laws_of, log_law
from tests.rows.laws import Questions, planned, summaries_of
from tests.rows.table_questions import Question
from tests.slow import SLOW

Row = tuple[Any, ...]
"""The cells of one row, without the unit."""


@dataclass(frozen=True)
class Unit:
    """All rows of one unit, and rows that name nobody, which a person may have all the same."""

    rows: tuple[Row, ...] = ()
    nameless: tuple[Row, ...] = ()


Table = tuple[Unit, ...]
Frame = Callable[[pl.DataFrame], pl.DataFrame]

NAMELESS = (None, "", "NA")


@dataclass(frozen=True, eq=False)
class Universe:
    """What units may be like.

    Attributes:
        schema: of the cells of a row.
        plain: units that neighbours have in common: any so many of them.
        odd: units in which neighbours differ.
        always: units in all tables.
        most: how many of the plain ones.
        cuts: all numbers that matter, for laws on the line.
        broken: what becomes of the rows before they are read: for controls.
    """

    schema: dict[str, Any]
    plain: tuple[Unit, ...]
    odd: tuple[Unit, ...]
    always: Table = ()
    most: int = 2
    cuts: tuple[Fraction, ...] = ()
    broken: Frame | None = None
    _opened: dict[Table, Rows] = field(default_factory=dict[Table, Any], init=False, repr=False)

    def common(self) -> Iterator[Table]:
        """What neighbours have in common: by day at most one plain unit, which shows what one unit changes."""
        for size in range((self.most if SLOW else min(self.most, 1)) + 1):
            for chosen in combinations_with_replacement(self.plain, size):
                yield self.always + chosen

    @property
    def moving(self) -> tuple[Unit, ...]:
        """What they differ in."""
        return tuple(dict.fromkeys((*self.odd, *self.plain)))

    def frame(self, table: Table) -> pl.DataFrame:
        """The rows, in an order that keeps no unit together."""
        rows = [(f"unit {place}", *row) for place, unit in enumerate(table) for row in unit.rows]
        rows += [(NAMELESS[place % 3], *row) for unit in table for place, row in enumerate(unit.nameless)]
        frame = pl.DataFrame(rows[::2] + rows[1::2], schema={"who": pl.String, **self.schema}, orient="row")
        return frame if self.broken is None else self.broken(frame)

    def asked(self, table: Table, neighbours: Neighbours) -> Questions:
        """Replies with summaries of the table, for questions planned under this relation."""
        if table not in self._opened:
            self._opened[table] = _Remembering(open_table(self.frame(table).lazy()), origin="", unit="who")
        return summaries_of(self._opened[table], neighbours)


class _Remembering(Rows):
    """A table that reads once what it is asked twice."""

    def __init__(self, engine: Engine, **about: Any) -> None:
        super().__init__(engine, **about)
        self.known = dict[Any, Any]()

    def answers(self, asked: Sequence[Lookup]) -> list[Any]:
        return [self._read(each) for each in asked]

    def _read(self, asked: Lookup) -> Any:
        key = _key(asked)
        if key not in self.known:
            (self.known[key],) = super().answers([asked])
        return self.known[key]


def _key(asked: Any) -> Any:
    if isinstance(asked, PublicCandidates):
        return tuple(asked)
    if isinstance(asked, tuple):
        return tuple(map(_key, cast("tuple[Any, ...]", asked)))
    if is_dataclass(asked):
        return type(asked).__name__, *(_key(getattr(asked, each.name)) for each in fields(asked))
    return asked


@dataclass(frozen=True)
class Limits:
    """What chance leaves of a unit's rows.

    Attributes:
        rows: of each group so many at most; 0: any number.
        groups: the public groups, if there are any.
        most_groups: in how many of them a unit takes part.
        counts: whether a row has what the question looks at.
        group_of: a row's group.
    """

    rows: int = 0
    groups: tuple[Any, ...] = (None,)
    most_groups: int = 1
    counts: Callable[[Row], bool] = lambda row: True
    group_of: Callable[[Row], Any] = lambda row: None

    def choices(self, unit: Unit) -> list[tuple[Fraction, Unit]]:
        """All that may be left of a unit, and how likely it is."""
        parts = [
            [row for row in unit.rows if self.counts(row) and self.group_of(row) == group] for group in self.groups
        ]
        own = [part for part in parts if part]
        if len(own) <= self.most_groups and all(len(part) <= (self.rows or len(part)) for part in own):
            return [(Fraction(1), unit)]
        sets = list(combinations(own, min(self.most_groups, len(own))))
        found: list[tuple[Fraction, Unit]] = []
        for chosen in sets:
            wholes = list(product(*(combinations(part, min(self.rows or len(part), len(part))) for part in chosen)))
            chance = Fraction(1, len(sets) * len(wholes))
            found += [(chance, Unit(tuple(row for part in whole for row in part))) for whole in wholes]
        return found


@cache
def summary_of(ask: Question, universe: Universe, table: Table, neighbours: Neighbours) -> Any:
    """What the product makes of the rows."""
    return ask(universe.asked(table, neighbours))


UNLIMITED = Limits()


class Handed(dict[Table, tuple[Fed | Branches, ...]]):
    """What the product hands to its mechanisms, by table."""

    def __init__(self, task: Query, ask: Question, universe: Universe) -> None:
        super().__init__()
        self._task, self._ask, self.universe = task, ask, universe

    def __missing__(self, table: Table) -> tuple[Fed | Branches, ...]:
        relation = self._task.terms.neighbours
        self[table] = laws_of(self._task, summary_of(self._ask, self.universe, table, relation))
        return self[table]


def log_law_of(handed: Handed, limits: Limits, common: Table, unit: Unit) -> np.ndarray:
    """The law of the answer, chance in the choice of rows included; the product has to choose one of these."""
    chances: dict[tuple[Fed | Branches, ...], Fraction] = {}
    for chance, left in limits.choices(unit):
        each = handed[*common, left]
        chances[each] = chances.get(each, Fraction()) + chance
    assert handed[*common, unit] in chances, "more is left of a unit than its limits allow"
    return log_law(tuple((chance, each) for each, chance in chances.items()), handed.universe.cuts)


def neighbouring_laws(
    ask: Question, task: Query, universe: Universe, limits: Limits, neighbours: Neighbours
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of all pairs of neighbours, each pair once: laws with one unit more and without, or with one and with another."""
    handed = Handed(task, ask, universe)
    for common in universe.common():
        laws = [log_law_of(handed, limits, common, unit) for unit in universe.moving]
        if neighbours is Neighbours.ADD_REMOVE:
            without = log_law(((Fraction(1), handed[common]),), universe.cuts)
            yield from ((without, each) for each in laws)
        else:
            yield from combinations(laws, 2)


def worst_loss(
    ask: Question, universe: Universe, limits: Limits, neighbours: Neighbours, *, noise_for: Question | None = None
) -> float:
    """The largest logarithm of a ratio of probabilities between neighbours.

    Args:
        noise_for: the question whose noise is used instead, for controls.
    """
    task = planned(noise_for or ask, neighbours)
    pairs = neighbouring_laws(ask, task, universe, limits, neighbours)
    return max(float(np.abs(first - second).max()) for first, second in pairs)


def worst_delta(
    ask: Question, universe: Universe, limits: Limits, neighbours: Neighbours, *, noise_for: Question | None = None
) -> float:
    """The largest probability by which what is stated of epsilon fails: of all answers, so the law has to sum to 1."""
    task = planned(noise_for or ask, neighbours)
    stated = planned(ask, neighbours).terms.epsilon
    pairs = neighbouring_laws(ask, task, universe, limits, neighbours)
    both = (pair for one, other in pairs for pair in ((one, other), (other, one)))
    return max(float(np.maximum(np.exp(one) - np.exp(stated + other), 0.0).sum()) for one, other in both)


def stated(ask: Question, neighbours: Neighbours) -> float:
    """The epsilon that the certificate will state."""
    return planned(ask, neighbours).terms.epsilon


def each_row_a_unit(frame: pl.DataFrame) -> pl.DataFrame:
    """As if contributions were not bounded."""
    return frame.with_columns(who=pl.when(nameless()).then("who").otherwise(pl.format("row {}", pl.row_index())))


def nameless_rows_counted(frame: pl.DataFrame) -> pl.DataFrame:
    """As if rows without a unit were somebody's, each of them somebody else's."""
    return frame.with_columns(who=pl.when(nameless()).then(pl.format("row {}", pl.row_index())).otherwise("who"))


def nameless() -> pl.Expr:
    """Whether a row names nobody."""
    return pl.col("who").is_null() | pl.col("who").is_in([name for name in NAMELESS if name is not None])


def singles(rows: Sequence[Row]) -> tuple[Unit, ...]:
    """Units of one row each."""
    return tuple(Unit((row,)) for row in rows)
