"""Synthetic data: a histogram and a table, in rounds that each select what is most wrong; the parents of a network.

Scores are in whole multiples of a public unit, with sensitivities that hold for what is computed
(``proofs/marginal_scores.md``).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dpselect import checks
from dpselect.accounting import ComposedEvent, Event, SequenceEvent
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms import GeometricMechanism
from dpselect.privacy import Neighbours
from dpselect.recipes.decision_tree import UNIT, Counts, Recipe, array_of, codes_within

ParentScore = Literal["mutual_information", "F", "R"]

_SIZES = "the number of values of each attribute, such as (2, 3)"
_PASSES = 20  # over all measurements so far, after each new one
_MOST_COUNTED = 1 << 46  # beyond this no query counts, so that scores fit into 64 bits
_MOST_ROWS = float(1 << 40)  # a noisy number of rows beyond this is cut off, so that guesses fit into 64 bits
_MOST_CELLS = 1 << 22
_FARTHEST = 1 << 62  # what scores of marginals allow for noise is cut off here, so that they fit into 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds(Recipe):
    """Rounds that each select what is most wrong, measure it, and improve what is released."""

    rounds: int
    selection_share: float = 0.5
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    measuring: GeometricMechanism = field(init=False, repr=False, compare=False)
    totalling: GeometricMechanism | None = field(init=False, repr=False, compare=False, default=None)

    def _divide(self, epsilon: float, *, sensitivity: int, moved: int) -> None:
        """Spend `epsilon` on all rounds: scores have this sensitivity, and a measurement moves by at most `moved`."""
        rounds = checks.positive_count(self.rounds, "rounds", at_most=1 << 20)
        share, relation = checks.probability(self.selection_share, "selection_share"), self.neighbours
        part, rest = checks.divided(epsilon, share)
        self._select(part, count=rounds, sensitivity=sensitivity, neighbours=relation)
        each = checks.fraction_down(Fraction(rest) / rounds)
        measuring = GeometricMechanism(epsilon=each, sensitivity=moved, neighbours=relation)
        self._set(rounds=rounds, measuring=measuring)

    @property
    def _floor(self) -> float:
        """What is added to both sides of a ratio of numbers of rows: a noisy one may be 0 or less."""
        return min((1.0 + self.measuring.expected_error) / 8.0, _MOST_ROWS)

    @property
    def event(self) -> Event:
        """What one fit costs, for accounting."""
        rounds = [ComposedEvent(event=each.event, count=self.rounds) for each in (self.selecting, self.measuring)]
        total = [] if self.totalling is None else [self.totalling.event]
        return SequenceEvent(events=(*total, *rounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class MWEM(Rounds):
    """In each round selects the query with the largest error, measures it, and reweighs the histogram.

    Args:
        rounds: how many queries are measured; public.
        selection_share: the part of epsilon that the selections cost; the rest is for measuring.
        total_share: the part of epsilon that the number of rows costs. Under ``"replace_one"`` it is public, and the
            part goes to the rounds.
        delta: that the guarantee may fail, from 0 to below 1, for the selections.

    Proof: ``proofs/marginal_scores.md``, claim 1. Source: Hardt, Ligett & McSherry (2012).

    >>> import numpy as np
    >>> counts = np.array([0, 0, 900, 0, 0, 0, 100, 0])
    >>> queries = np.tril(np.ones((8, 8), bool))  # how many are in the first cell, the first two, ...
    >>> found = MWEM(epsilon=4.0, rounds=6).fit(counts, queries)
    >>> bool(abs(found[2] - 900) < 200)
    True
    """

    total_share: float = 0.05

    def __post_init__(self) -> None:
        Rounds.__post_init__(self)
        part, rest = checks.divided(self.epsilon, checks.probability(self.total_share, "total_share"))
        known = self.neighbours is Neighbours.REPLACE_ONE
        self._divide(self.epsilon if known else rest, sensitivity=UNIT, moved=1)
        self._set(totalling=None if known else GeometricMechanism(epsilon=part, sensitivity=1))

    def fit(self, counts: NDArray[np.integer], queries: NDArray[np.bool_]) -> NDArray[np.float64]:
        """A histogram that was never of the data, at the cost of `event`.

        Args:
            counts: shape ``(cells,)``: how many rows each cell has, >= 0. A row is in one cell.
            queries: shape ``(queries, cells)``, booleans: the cells that each query counts. Public.

        Returns:
            Shape ``(cells,)``: numbers >= 0 that sum to the (noisy) number of rows.

        Raises:
            InvalidDataError: other shapes or types, or counts below 0. Nothing is drawn then. Large counts are no
                error: a query counts 2^46 rows at most.
        """
        expected = "whole numbers >= 0, one for each cell"
        held = array_of(counts, "counts", kinds="iu", shape=(None,), expected=expected)
        if held.size == 0 or (held.dtype.kind == "i" and (held < 0).any()):
            raise InvalidDataError("counts", Shown("<a negative one among them>" if held.size else "<none>"), expected)
        expected = f"booleans of shape (queries, {held.size})"
        asked = array_of(queries, "queries", kinds="b", shape=(None, held.size), expected=expected)
        if not len(asked):
            raise InvalidDataError("queries", Shown("<none>"), expected)
        # A number that is cut off changes by no more than before, so the sensitivity stays; and no sum leaves 64 bits.
        most = np.uint64(min(_MOST_COUNTED, _FARTHEST // held.size))
        held = np.minimum(held.astype(np.uint64), most).astype(np.int64)
        total, answers = (np.minimum(cells @ held, _MOST_COUNTED) for cells in (np.ones(held.size, bool), asked))
        if self.totalling is not None:
            total = self.totalling.draw(int(total))
        rows = float(min(max(total, 1), _MOST_COUNTED))
        weights, floor = np.full(held.size, rows / held.size), self._floor
        measured: dict[int, float] = {}
        for _ in range(self.rounds):
            guesses = np.rint(asked @ weights * UNIT).astype(np.int64)
            winner = self.selecting.select(np.abs(answers * UNIT - guesses))
            found = float(self.measuring.draw(int(answers[winner])))
            # A query that is measured twice is known better; their mean is as good as any.
            measured[winner] = (measured.get(winner, found) + found) / 2.0
            # Multiplicative weights: the cells of a query grow by one factor and all others shrink by another. A full
            # step would give the query its measured answer. Half a step at a time, as noisy answers contradict each
            # other; until they are nearly met, or the next round would select a query that is known already.
            for place, answer in [*measured.items()] * _PASSES:
                cells, wanted = asked[place], min(max(answer, 0.0), rows)
                inside = float(weights[cells].sum())
                outside = max(rows - inside, 0.0)
                step = (wanted + floor) * (outside + floor) / ((inside + floor) * (rows - wanted + floor))
                weights = np.where(cells, weights * math.sqrt(step), weights)
                weights *= rows / weights.sum()
        return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveMarginals(Rounds):
    """In each round selects the marginal with the largest error, measures it, and fits the distribution to all.

    The score of a marginal is the l1 distance between the table's marginal and the fitted one, less the error that the
    noise of a measurement would have itself.

    Args:
        sizes: how many values each attribute has; public. Their product is at most 2^22.
        marginals: tuples of positions of attributes; public.
        rounds: how many marginals are measured; public.
        selection_share, delta: as for `MWEM`.

    Proof: ``proofs/marginal_scores.md``, claim 2. Source: McKenna, Mullins, Sheldon & Miklau (2022), who fit a
    graphical model and use Gaussian noise.

    >>> import numpy as np
    >>> codes = np.array([[0, 1, 0], [1, 0, 1]] * 500)
    >>> loop = AdaptiveMarginals(epsilon=4.0, sizes=(2, 2, 2), marginals=((0, 1), (1, 2), (0, 2)), rounds=3)
    >>> bool(loop.fit(codes)[1, 0, 1] > 400)
    True
    """

    sizes: tuple[int, ...]
    marginals: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        Rounds.__post_init__(self)
        sizes = checks.positive_counts(self.sizes, "sizes", at_most=_MOST_CELLS, expected=_SIZES)
        if not sizes:
            raise InvalidParameterError("sizes", Shown("<0 of them>"), _SIZES)
        if math.prod(sizes) > _MOST_CELLS:
            raise InvalidParameterError("sizes", Shown("<a large product>"), f"at most {_MOST_CELLS:,} cells in all")
        marginals = _checked_marginals(self.marginals, len(sizes))
        moved = self.neighbours.changed(1)  # a replaced row leaves one cell and enters another
        self._divide(self.epsilon, sensitivity=moved * UNIT, moved=moved)
        self._set(sizes=sizes, marginals=marginals)

    def fit(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """The fitted table, at the cost of `event`: numbers >= 0, of shape `sizes`."""
        cells = np.ravel_multi_index(tuple(codes_within(codes, self.sizes).T), self.sizes)
        table = np.bincount(cells, minlength=math.prod(self.sizes)).astype(np.int64).reshape(self.sizes)
        truths = [_summed(table, each) for each in self.marginals]
        error = self.measuring.expected_error * UNIT  # public, as the sizes are
        allowed = [round(min(error * each.size, float(_FARTHEST))) for each in truths]
        fitted = np.full(self.sizes, 1.0 / table.size)
        measured: dict[int, NDArray[np.float64]] = {}
        rows, floor = 1.0, self._floor
        for _ in range(self.rounds):
            guesses = [np.rint(_summed(fitted * rows, each) * UNIT).astype(np.int64) for each in self.marginals]
            compared = zip(truths, guesses, allowed, strict=True)
            scores = [int(np.abs(truth * UNIT - guess).sum()) - noise for truth, guess, noise in compared]
            winner = self.selecting.select(np.array(scores, np.int64))
            noisy = self.measuring.draw_many(truths[winner].ravel()).reshape(truths[winner].shape).astype(np.float64)
            measured[winner] = (measured.get(winner, noisy) + noisy) / 2.0
            # The number of rows is that of the measured marginals, the smaller ones counting for more.
            sums = np.array([each.sum() for each in measured.values()])
            sizes = np.array([each.size for each in measured.values()], np.float64)
            rows = min(max(1.0, float((sums / sizes).sum() / (1.0 / sizes).sum())), _MOST_ROWS)
            # Iterative proportional fitting, half a step at a time, as noisy marginals contradict each other.
            for place, found in [*measured.items()] * _PASSES:
                ratio = (np.maximum(found, 0.0) + floor) / (_summed(fitted, self.marginals[place]) * rows + floor)
                fitted = fitted * np.sqrt(ratio)
                fitted /= fitted.sum()
        return fitted * rows


def _checked_marginals(given: object, count: int) -> tuple[tuple[int, ...], ...]:
    expected = f"tuples of increasing positions of attributes, from 0 to {count - 1}, such as ((0, 1), (1, 2))"
    in_order = partial(checks.members_in_order, name="marginals", expected=expected)
    whole = partial(checks.whole_number, name="marginals", expected=expected)
    positions = [tuple(map(whole, marginal)) for marginal in [in_order(each) for each in in_order(given)]]
    wrong = [each for each in positions if not each or list(each) != sorted({*range(count)}.intersection(each))]
    if wrong or not positions:
        raise InvalidParameterError("marginals", Shown(repr(wrong[0]) if wrong else "<0 of them>"), expected)
    return tuple(positions)


def _summed(table: NDArray[np.int64] | NDArray[np.float64], attributes: tuple[int, ...]) -> NDArray[np.int64]:
    """The marginal of some attributes, with a side of length 1 for each of the others."""
    return table.sum(axis=tuple(each for each in range(table.ndim) if each not in attributes), keepdims=True)


def _terms(numbers: Counts) -> Counts:
    """n log2 n of each number, in multiples of 1/65536, each rounded."""
    return np.rint(numbers * np.log2(np.maximum(numbers, 1)) * UNIT).astype(np.int64)


def mutual_information(counts: Counts) -> int:
    """65536 times the rows' number times the mutual information, in bits, of the two sides of `counts`."""
    sides = _terms(counts.sum(axis=0)).sum() + _terms(counts.sum(axis=1)).sum()
    return int(_terms(counts).sum() - sides + _terms(counts.sum()))


def mutual_information_sensitivity(rows: int, *, binary: bool) -> int:
    """Of `mutual_information`, if one of `rows` rows is replaced; smaller if all tables have a `binary` side."""
    if binary or rows == 1:
        bits = math.log2(rows) + (rows - 1) * math.log2(rows / (rows - 1)) if rows > 1 else 0.0
    else:
        bits = 2.0 * math.log2((rows + 1) / 2.0) + (rows - 1) * math.log2((rows + 1) / (rows - 1))
    return math.ceil(bits * (1.0 + 1e-12) * UNIT) + 7  # 12 rounded terms may change, each known within 0.51


def nearness_to_certainty(counts: Counts) -> int:
    """F of PrivBayes times twice the number of rows, for a `counts` whose first side is binary.

    Minus the l1 distance to the nearest table in which the parents determine the child and both its values are as
    frequent; found exactly, by a recursion over the parents' values.
    """
    rows = int(counts.sum())
    enough = (rows + 1) // 2
    best = np.full(enough + 1, -1, np.int64)  # by rows of value 0 that are right, at most `enough`: those of value 1
    best[0] = 0
    for zero, one in counts.T.tolist():
        kept = np.where(best >= 0, best + one, -1)
        moved = np.full_like(best, -1)
        step = min(zero, enough)
        moved[step:] = best[: enough + 1 - step]
        moved[enough] = max(moved[enough], best[enough - step :].max())
        best = np.maximum(kept, moved)
    reached = np.flatnonzero(best >= 0)
    missing = np.maximum(rows - 2 * reached, 0) + np.maximum(rows - 2 * best[reached], 0)
    return -int(missing.min())


def distance_from_independence(counts: Counts) -> int:
    """R of PrivBayes times twice the square of the number of rows: ``sum |N N_ab - N_a N_b|``."""
    rows = int(counts.sum())
    return int(np.abs(counts * rows - np.outer(counts.sum(axis=1), counts.sum(axis=0))).sum())


_SCORES = {"mutual_information": mutual_information, "F": nearness_to_certainty, "R": distance_from_independence}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentChoice(Recipe):
    """Chooses, one after another, an attribute and its parents among those chosen before.

    Args:
        sizes: how many values each attribute has; public.
        rows: the number of rows; public.
        degree: how many parents an attribute has at most, fewer than there are attributes; public. Default: 2, or 1
            for two attributes.
        score: ``"mutual_information"``, ``"F"`` (all attributes binary) or ``"R"``.
        delta: that the guarantee may fail, from 0 to below 1.

    Proof: ``proofs/marginal_scores.md``, claims 3 to 5. Source: Zhang, Cormode, Procopiuc, Srivastava & Xiao (2017),
    with a smaller sensitivity of R.

    >>> import numpy as np
    >>> codes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]] * 250)
    >>> choice = ParentChoice(epsilon=20.0, sizes=(2, 2, 2), rows=1000, degree=1)
    >>> choice.choose(codes)[1]
    (1, (0,))
    """

    sizes: tuple[int, ...]
    rows: int
    degree: int | None = None
    score: ParentScore = "R"

    def __post_init__(self) -> None:
        Recipe.__post_init__(self)
        sizes = checks.positive_counts(self.sizes, "sizes", at_most=1 << 16, expected=_SIZES)
        if len(sizes) < 2:
            raise InvalidParameterError("sizes", Shown(f"<{len(sizes)} attributes>"), "at least two attributes")
        rows = checks.positive_count(self.rows, "rows", at_most=1 << 24)
        checks.one_of(self.score, "score", get_args(ParentScore))
        if self.score == "F" and set(sizes) != {2}:
            raise InvalidParameterError("score", Shown("'F'"), "another score, as F is for attributes with two values")
        moved = {"F": 2, "R": max(1, 6 * (rows - 1))}
        moved["mutual_information"] = mutual_information_sensitivity(rows, binary=max(sizes) <= 2)
        relation = Neighbours.REPLACE_ONE  # as the number of rows is public
        self._select(self.epsilon, count=len(sizes) - 1, sensitivity=moved[self.score], neighbours=relation)
        most = min(16, len(sizes) - 1)
        degree = min(2, most) if self.degree is None else checks.positive_count(self.degree, "degree", at_most=most)
        self._set(sizes=sizes, rows=rows, degree=degree)

    @property
    def event(self) -> ComposedEvent:
        """What one structure costs, for accounting."""
        return ComposedEvent(event=self.selecting.event, count=len(self.sizes) - 1)

    def choose(self, codes: NDArray[np.integer]) -> list[tuple[int, tuple[int, ...]]]:
        """Attributes with their parents, in an order in which parents come first, at the cost of `event`.

        The first attribute is attribute 0, without parents.
        """
        table, score = codes_within(codes, self.sizes, rows=self.rows), _SCORES[self.score]
        chosen: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while len(chosen) < len(self.sizes):
            known = sorted(attribute for attribute, _ in chosen)
            others = [each for each in range(len(self.sizes)) if each not in known]
            parents = list(itertools.combinations(known, min(cast(int, self.degree), len(known))))
            options = [(child, each) for child in others for each in parents]
            scores = np.empty(len(options), np.int64)
            for place, (child, each) in enumerate(options):
                sides = [self.sizes[attribute] for attribute in (child, *each)]
                cells = np.ravel_multi_index(tuple(table[:, [child, *each]].T), sides)
                counts = np.bincount(cells, minlength=math.prod(sides)).astype(np.int64)
                scores[place] = score(counts.reshape(sides[0], -1))  # by the child, and by all its parents together
            chosen.append(options[self.selecting.select(scores)])
        return chosen
