"""What all recipes have, and one of them: a decision tree of private splits and noisy counts, with three scores.

A split sends each row of a node to one of its children. The `counts` of scores have shape ``(splits, children,
classes)``: how many rows of each class go where. A further row reaches just one child of each split, and moves every
score in the same direction, or not at all. So the scores are *monotone*, and need half the noise that is published for
them (``proofs/split_scores.md``). Terms with fractions are computed in whole multiples of 1/65536, in such a way that
the sensitivities hold exactly for what is computed, not only for the formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.accounting import ComposedEvent, Event, SequenceEvent, calibrate
from dpselect.checks import divided, one_of, positive_count, positive_counts, probability
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, GeometricMechanism, PermuteAndFlip
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.planning import recommend
from dpselect.privacy import Neighbours

Counts = NDArray[np.int64]
Criterion = Literal["max", "gini", "entropy"]

UNIT = 1 << 16  # scores are whole multiples of 1 / UNIT

Selection = Literal["auto", "permute_and_flip", "exponential"]
"""Which mechanism selects; ``"auto"``: the one with the smaller error at the number of selections and the delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(MechanismValue):
    """Several selections by one mechanism, and what else is drawn, within (`epsilon`, `delta`) together."""

    epsilon: float
    selection: Selection = "auto"
    delta: float = 0.0
    selecting: PermuteAndFlip | ExponentialMechanism = field(init=False, repr=False, compare=False)

    def _select(self, epsilon: float, *, count: int, **scores: Any) -> None:
        """Make the mechanism of each of `count` selections on such `scores` that cost (`epsilon`, `delta`) together."""
        one_of(self.selection, "selection", get_args(Selection))
        kinds = {"permute_and_flip": PermuteAndFlip, "exponential": ExponentialMechanism}
        is_open = self.selection == "auto"
        kind = recommend(count, self.delta, epsilon=epsilon) if is_open else kinds[self.selection]
        self._set(selecting=calibrate(kind, count=count, epsilon=epsilon, delta=self.delta, **scores))


def array_of(given: object, name: str, *, kinds: str, shape: tuple[int | None, ...], expected: str) -> NDArray[Any]:
    """`given` as an array of one of the `kinds` of NumPy; None in its `shape` stands for any length.

    Raises:
        InvalidDataError: it is another, or masked, whether or not anything is hidden: that may depend on the data.
    """
    if isinstance(given, ma.MaskedArray):
        raise InvalidDataError(name, Shown("<masked array>"), "an array without a mask, such as its filled()")
    array = np.asarray(given)
    fits = array.ndim == len(shape) and all(want in (None, has) for want, has in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in kinds or not fits:
        raise InvalidDataError(name, Shown(f"<array of {array.dtype}, {array.ndim} dimensions>"), expected)
    return array


def codes_within(codes: NDArray[np.integer], sizes: Sequence[int], *, rows: int | None = None) -> NDArray[np.int64]:
    """`codes`, each moved into 0 ... size - 1 of its column, so that no row's contents make a difference to errors."""
    expected = f"whole numbers of shape ({'rows' if rows is None else rows}, {len(sizes)})"
    table = array_of(codes, "codes", kinds="iu", shape=(rows, len(sizes)), expected=expected)
    # Unsigned numbers beyond 2^63 would turn negative.
    within = np.minimum(table, np.array(sizes, np.uint64 if table.dtype == np.uint64 else np.int64) - 1)
    return np.maximum(within.astype(np.int64), 0)


@dataclass(frozen=True, slots=True)
class MostFrequentClass:
    """How many rows have the most frequent class of their child: minus the training error. Sensitivity 1.

    >>> import numpy as np
    >>> MostFrequentClass().scores(np.array([[[5, 1], [0, 4]], [[3, 3], [2, 2]]])).tolist()
    [9, 5]
    """

    sensitivity: ClassVar[int] = 1

    def scores(self, counts: Counts) -> Counts:
        # A further row never lowers it: these scores rise together, where the other two fall together.
        return counts.max(axis=2).sum(axis=1)


@dataclass(frozen=True, slots=True)
class Gini:
    r"""Minus the sum over the children of :math:`N_j - \sum_c N_{jc}^2 / N_j`. Sensitivity 2 rows.

    >>> import numpy as np
    >>> (Gini().scores(np.array([[[5, 0], [0, 4]], [[2, 2], [3, 2]]])) / 65536).round(2).tolist()
    [0.0, -4.4]
    """

    sensitivity: ClassVar[int] = 2 * UNIT

    def scores(self, counts: Counts) -> Counts:
        rows = counts.sum(axis=2)
        # From three thousand million rows on a square would wrap around, and one row move a score by any amount.
        if rows.max(initial=0) > math.isqrt((1 << 63) - 1):
            counts, rows = counts.astype(object), rows.astype(object)
        squares, some = (counts * counts).sum(axis=2), np.maximum(rows, 1)
        whole, left = squares // some, squares % some  # apart, or the product below would leave 64 bits
        pure = whole * UNIT - (-left * UNIT // some)  # rounded up: the impurity is rounded down
        return (pure - rows * UNIT).sum(axis=1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Entropy:
    r"""Minus the sum over the children of :math:`\sum_c N_{jc} \log_2(N_j / N_{jc})`, in bits.

    Args:
        most_rows: a public bound on the number of rows, which sets the sensitivity: about ``log2(most_rows) + 1.44``
            bits. If there are more, the guarantee still holds, and the score grows more slowly beyond the bound.

    Raises:
        InvalidParameterError: `most_rows` is not a whole number from 2 to 2^24.

    >>> import numpy as np
    >>> score = Entropy(most_rows=1000)
    >>> (score.scores(np.array([[[5, 0], [0, 4]], [[2, 2], [3, 3]]])) / 65536).round(2).tolist()
    [0.0, -10.0]
    >>> round(score.sensitivity / 65536, 2)
    11.41
    """

    most_rows: int
    _table: Counts = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        most = positive_count(self.most_rows, "most_rows", at_most=1 << 24)  # as many entries are kept in memory
        if most < 2:
            raise InvalidParameterError("most_rows", most, "at least 2")
        below = np.arange(1.0, most)
        # What the term N log2 N gains from N to N + 1. The proof needs only that these never fall.
        gains = np.log2(below + 1.0) + below * np.log1p(1.0 / below) / np.log(2.0)
        steps = np.maximum.accumulate(np.concatenate([[0], np.rint(gains * UNIT)]).astype(np.int64))
        object.__setattr__(self, "most_rows", most)
        object.__setattr__(self, "_table", np.concatenate([[0], np.cumsum(steps)]))

    @property
    def sensitivity(self) -> int:
        return int(self._table[-1] - self._table[-2])

    def scores(self, counts: Counts) -> Counts:
        return (self._terms(counts).sum(axis=2) - self._terms(counts.sum(axis=2))).sum(axis=1)

    def _terms(self, counts: Counts) -> Counts:
        """N log2 N of each number, and on from the bound in steps as large as the last one."""
        beyond = np.maximum(counts - self.most_rows, 0)
        return self._table[np.minimum(counts, self.most_rows)] + beyond * self.sensitivity


SplitScore = MostFrequentClass | Gini | Entropy
"""A score of splits, higher is better, in whole numbers; `sensitivity`: the most by which one row changes one score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTree(Recipe):
    """A complete binary tree of a public depth: each node tests whether a feature's bin is at most a cut.

    In each level every node selects one of all (feature, cut) pairs by the score of the split; each leaf releases a
    noisy count of each class. Nodes of a level hold different rows, so a level costs what one of its nodes costs.

    Args:
        bins: how many bins each feature has; public.
        classes: how many classes there are; public.
        depth: levels of splits, from 1 to 12; public.
        criterion: ``"max"`` (`MostFrequentClass`), ``"gini"`` (`Gini`) or ``"entropy"`` (`Entropy`).
        most_rows: a public bound on the number of rows, which only ``"entropy"`` needs.
        leaf_share: the part of epsilon that the counts in the leaves cost.
        delta: that the guarantee may fail, from 0 to below 1; pays off from about six levels on.
        neighbours: ``"add_remove"`` or, with twice the noise, ``"replace_one"``; of rows. **A row has to be everything
            that one person contributes.**

    Proof: ``proofs/split_scores.md``. Source: Friedman & Schuster (2010), with half their noise.

    >>> import numpy as np
    >>> codes = np.array([[age, age * 7 % 5] for age in range(10)] * 200)
    >>> tree = DecisionTree(epsilon=2.0, bins=(10, 5), classes=2, depth=1)
    >>> grown = tree.grow(codes, (codes[:, 0] >= 4).astype(int))
    >>> grown.features.tolist(), grown.cuts.tolist(), grown.predict(np.array([[3, 0], [4, 0]])).tolist()
    ([0], [3], [0, 1])
    """

    bins: tuple[int, ...]
    classes: int
    depth: int = 4
    criterion: Criterion = "gini"
    most_rows: int | None = None
    leaf_share: float = 0.2
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    score: SplitScore = field(init=False, repr=False, compare=False)
    counting: GeometricMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Recipe.__post_init__(self)
        share = probability(self.leaf_share, "leaf_share")
        bins = positive_counts(self.bins, "bins", at_most=1 << 20, expected="the number of bins of each feature")
        if not any(each > 1 for each in bins):
            raise InvalidParameterError("bins", Shown(f"<{len(bins)} features>"), "a feature with two bins or more")
        depth = positive_count(self.depth, "depth", at_most=12)
        one_of(self.criterion, "criterion", get_args(Criterion))
        if self.criterion == "entropy" and self.most_rows is None:
            raise InvalidParameterError("most_rows", None, "a public bound on the number of rows, for the entropy")
        kinds = {"max": MostFrequentClass, "gini": Gini, "entropy": partial(Entropy, cast("int", self.most_rows))}
        score = kinds[self.criterion]()
        relation, added = self.neighbours, self.neighbours is Neighbours.ADD_REMOVE
        # A replaced row may stay in a node, whose scores then move in both directions, or leave it for another one,
        # where they move in one each: two runs at half the epsilon.
        part, rest = divided(self.epsilon, share)
        self._select(rest, count=depth, sensitivity=score.sensitivity, monotonic=added, neighbours=relation)
        counting = GeometricMechanism(epsilon=part, sensitivity=1 if added else 2, neighbours=relation)
        classes = positive_count(self.classes, "classes", at_most=1 << 12)
        self._set(bins=bins, classes=classes, depth=depth, score=score, counting=counting)

    @property
    def event(self) -> Event:
        """What one tree costs, for accounting."""
        splits = ComposedEvent(event=self.selecting.event, count=self.depth)
        return SequenceEvent(events=(splits, self.counting.event))

    def grow(self, codes: NDArray[np.integer], labels: NDArray[np.integer]) -> GrownTree:
        """One tree, at the cost of `event`.

        Args:
            codes: shape ``(rows, features)``, the bin of each row in each feature, from 0.
            labels: shape ``(rows,)``, the class of each row, from 0; any other number: none, and the row is left out.

        Raises:
            InvalidDataError: another shape or type. Nothing is drawn then.
        """
        table = codes_within(codes, self.bins)
        expected = "whole numbers, the class of each row"
        known = array_of(labels, "labels", kinds="iu", shape=(len(table),), expected=expected)
        kept = (known >= 0) & (known < self.classes)
        known = known[kept].astype(np.int64)
        # Of each cut: its feature, the last bin below it, and the first one above it among the bins of all features.
        sizes = np.array(self.bins, np.int64)
        firsts = np.cumsum(sizes) - sizes
        features = np.repeat(np.arange(len(sizes)), sizes - 1)
        bins = np.concatenate([np.arange(size - 1) for size in self.bins])
        ends = firsts[features] + bins + 1
        cells = table[kept]  # then where each row's bin and class are among all bins and classes
        cells += firsts
        cells *= self.classes
        cells += known[:, np.newaxis]

        def sides(part: Counts) -> Counts:
            """Shape ``(cuts, 2, classes)``: how many of the rows with these cells are on each side of each cut."""
            found = np.bincount(part.ravel(), minlength=int(sizes.sum()) * self.classes).reshape(-1, self.classes)
            up_to = np.concatenate([np.zeros((1, self.classes), np.int64), found.cumsum(axis=0, dtype=np.int64)])
            below = up_to[ends] - up_to[firsts[features]]
            return np.stack([below, up_to[sizes[0]] - below], axis=1)

        nodes = np.zeros(len(known), np.int64)
        chosen = np.zeros(2**self.depth - 1, np.int64)
        for level in range(self.depth):
            first = 2**level - 1
            for place in range(2**level):
                chosen[first + place] = self.selecting.select(self.score.scores(sides(cells[nodes == place])))
            taken = chosen[first + nodes]
            nodes = 2 * nodes + (cells[np.arange(len(cells)), features[taken]] // self.classes >= ends[taken])
        leaves = np.bincount(nodes * self.classes + known, minlength=2**self.depth * self.classes).astype(np.int64)
        counts = self.counting.draw_many(leaves).reshape(2**self.depth, self.classes)
        return GrownTree(features=features[chosen], cuts=bins[chosen], counts=counts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrownTree:
    """A tree that was released: everything in it is noisy, and whatever is computed from it costs nothing.

    Attributes:
        features: shape ``(nodes,)``: what each node tests, level by level; the children of node i are 2i+1 and 2i+2.
        cuts: shape ``(nodes,)``: rows whose bin is at most this go to the first child.
        counts: shape ``(leaves, classes)``: noisy, so perhaps negative.
    """

    features: Counts
    cuts: Counts
    counts: Counts

    def apply(self, codes: NDArray[np.integer]) -> Counts:
        """The leaf of each row, from 0, shape ``(rows,)``.

        Raises:
            InvalidDataError: no table, or without a column for each feature that the tree tests.
        """
        needed = int(self.features.max()) + 1
        expected = f"rows of at least {needed} features"
        table = array_of(codes, "codes", kinds="iuf", shape=(None, None), expected=expected)
        if table.shape[1] < needed:
            raise InvalidDataError("codes", Shown(f"<{table.shape[1]} features>"), expected)
        nodes = np.zeros(len(table), np.int64)
        while nodes.size and nodes[0] < len(self.features):  # all rows are in the same level
            nodes = 2 * nodes + 1 + (table[np.arange(len(table)), self.features[nodes]] > self.cuts[nodes])
        return nodes - len(self.features) if nodes.size else nodes

    def shares(self) -> NDArray[np.float64]:
        """Shape ``(leaves, classes)``: the share of each class, from counts that are cut off at 0.

        A leaf without any count, where noise is all there is, has the shares of all leaves together.
        """
        kept = np.maximum(self.counts, 0).astype(np.float64)
        overall = kept.sum(axis=0) + 1.0 / kept.shape[1]
        kept[kept.sum(axis=1) == 0.0] = overall
        return kept / kept.sum(axis=1, keepdims=True)

    def predict(self, codes: NDArray[np.integer]) -> Counts:
        """The most frequent class of each row's leaf, shape ``(rows,)``.

        Raises:
            InvalidDataError: as for `apply`.
        """
        return self.shares().argmax(axis=1)[self.apply(codes)]
